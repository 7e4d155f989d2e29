//! What is demanded of objects.

use alloc::borrow::Cow;
use alloc::string::String;

use super::{Check, Marks};
use crate::schema::node::{Id, Keyword};
use crate::schema::pattern::Pattern;
use crate::schema::report::Step;
use crate::schema::value::Value;
use crate::text;

type Members<'v> = [(Cow<'v, str>, Value<'v>)];

impl<'s, 'v> Check<'s, 'v> {
    pub(super) fn object(
        &mut self,
        keyword: &'s Keyword,
        value: &'v Value<'v>,
        members: &'v Members<'v>,
        mut marks: Option<&mut Marks>,
    ) -> bool {
        match keyword {
            Keyword::Properties { named, patterns, rest } => {
                self.properties(named, patterns, *rest, members, marks)
            }
            Keyword::Required(names) => {
                self.every(names, |check, name| value.get(name).is_some() || check.missing(name, None))
            }
            Keyword::DependentRequired(dependent) => self.every(dependent, |check, (name, names)| {
                value.get(name).is_none()
                    || check.every(names, |check, other| {
                        value.get(other).is_some() || check.missing(other, Some(name))
                    })
            }),
            Keyword::DependentSchemas(dependent) => self.every(dependent, |check, (name, id)| {
                value.get(name).is_none() || check.fits(*id, value, marks.as_deref_mut())
            }),
            Keyword::PropertyNames(id) => self.every(members, |check, (name, _)| check.name(*id, name)),
            Keyword::MinProperties(least) => {
                let count = members.len() as u64;
                count >= *least || self.too_few(*least, count, "member", "members")
            }
            Keyword::MaxProperties(most) => {
                let count = members.len() as u64;
                count <= *most || self.too_many(*most, count, "member", "members")
            }
            Keyword::UnevaluatedProperties(id) => {
                let mut fits = true;
                for (index, (name, member)) in members.iter().enumerate() {
                    if marks.as_ref().is_some_and(|marks| marks.has(index)) {
                        continue;
                    }
                    if let Some(marks) = &mut marks {
                        marks.set(index);
                    }
                    fits &= self.inside(Step::Member(name), *id, member);
                    if !fits && !self.report {
                        break;
                    }
                }
                fits
            }
            _ => true,
        }
    }

    fn properties(
        &mut self,
        named: &'s [(String, Id)],
        patterns: &'s [(Pattern, Id)],
        rest: Option<Id>,
        members: &'v Members<'v>,
        mut marks: Option<&mut Marks>,
    ) -> bool {
        let mut fits = true;
        for (index, (name, member)) in members.iter().enumerate() {
            let mut known = false;
            if let Ok(found) = named.binary_search_by(|(known, _)| (**known).cmp(name))
                && let Some((_, id)) = named.get(found)
            {
                known = true;
                fits &= self.inside(Step::Member(name), *id, member);
            }
            for (pattern, id) in patterns {
                if self.spend(name.len()) && pattern.matches(name) {
                    known = true;
                    fits &= self.inside(Step::Member(name), *id, member);
                }
            }
            if let (false, Some(rest)) = (known, rest) {
                known = true;
                fits &= match self.is_never(rest) {
                    true => self.unknown_member(name, named, patterns),
                    false => self.inside(Step::Member(name), rest, member),
                };
            }
            if let (true, Some(marks)) = (known, &mut marks) {
                marks.set(index);
            }
            if !self.spend(1) || !fits && !self.report {
                return false;
            }
        }
        fits
    }

    fn unknown_member(&mut self, name: &'v str, named: &[(String, Id)], patterns: &[(Pattern, Id)]) -> bool {
        if !self.report {
            return false;
        }
        let step = Step::Member(name);
        if named.is_empty() || !patterns.is_empty() {
            return self.fault_at(step, format_args!("unknown member"));
        }
        let known = text::list(named.iter().map(|(name, _)| &**name));
        self.fault_at(step, format_args!("unknown member; known are {known}"))
    }

    fn name(&mut self, id: Id, name: &'v str) -> bool {
        // The name as a value lives no longer than this, so what is wrong with it cannot be told in detail.
        let value = Value::Text(Cow::Borrowed(name));
        let mut check = Check { scope: core::mem::take(&mut self.scope), ..Check::new(self.schema, "", "") };
        (check.steps, check.depth, check.spent) = (self.steps, self.depth, self.spent);
        let fits = check.fits(id, &value, None);
        (self.steps, self.spent) = (check.steps, check.spent);
        self.scope = check.scope;
        fits || self.fault_at(Step::Member(name), format_args!("the name of this member is not allowed"))
    }

    fn missing(&mut self, name: &str, because: Option<&str>) -> bool {
        if !self.report {
            return false;
        }
        let name = text::Excerpt(name);
        match because {
            None => self.fault(format_args!("the member `{name}` is missing")),
            Some(other) => {
                let other = text::Excerpt(other);
                self.fault(format_args!("the member `{name}` is missing, which `{other}` needs"))
            }
        }
    }

    fn is_never(&self, id: Id) -> bool {
        let node = self.schema.nodes.get(id);
        node.is_some_and(|node| matches!(node.keywords.first(), Some(Keyword::Never)))
    }

    /// Whether all items pass; where something is to be told, all are looked at.
    fn every<'a, T>(&mut self, items: &'a [T], mut passes: impl FnMut(&mut Self, &'a T) -> bool) -> bool {
        let mut all = true;
        for item in items {
            all &= self.spend(1) && passes(self, item);
            if !all && !self.report {
                break;
            }
        }
        all
    }
}
