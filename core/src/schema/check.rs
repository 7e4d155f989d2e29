//! Whether a value fits.

mod array;
mod object;

use alloc::string::String;
use alloc::vec::Vec;

use super::Schema;
use super::decimal::Decimal;
use super::node::{Bound, Id, Keyword, Kinds, Node};
use super::report::{Findings, Mismatch, Step, alternatives, counted};
use super::value::Value;

/// Steps that each byte of a value allows.
const STEPS_A_BYTE: u64 = 16;
/// Subschemas that may be applied inside of each other. A value has at most 128 levels, so this is a few for
/// each; the stack of a thread holds it.
const NESTING: usize = 512;

pub(super) fn check(schema: &Schema, text: &str, root: &str) -> Result<(), Mismatch> {
    let broken = |problem: &str| {
        let mut findings = Findings::new(root);
        findings.add(format_args!("{problem}"));
        Err(findings.into_mismatch())
    };
    let value = match Value::parse(text) {
        Ok(value) => value,
        Err(problem) => return broken(&problem),
    };
    // First whether at all, which is quick; what is wrong is looked for only where something is.
    let mut check = Check::new(schema, text, root);
    // What was given up counts as not fitting, which may be just what a keyword around it wants.
    if check.fits(schema.root, &value, None) && check.spent.is_none() {
        return Ok(());
    }
    if check.spent.is_none() {
        check = Check { report: true, ..Check::new(schema, text, root) };
        check.fits(schema.root, &value, None);
    }
    match check.spent {
        Some(problem) if check.findings.is_empty() => broken(problem),
        _ if check.findings.is_empty() => broken("not of the form that is expected"),
        _ => Err(check.findings.into_mismatch()),
    }
}

/// Which members or elements of a value some keyword has looked at, by position.
struct Marks(Vec<bool>);

impl Marks {
    fn set(&mut self, index: usize) {
        if let Some(mark) = self.0.get_mut(index) {
            *mark = true;
        }
    }

    fn has(&self, index: usize) -> bool {
        self.0.get(index) == Some(&true)
    }

    fn add(&mut self, other: &Self) {
        self.0.iter_mut().zip(&other.0).for_each(|(mark, other)| *mark |= other);
    }
}

struct Check<'s, 'v> {
    schema: &'s Schema,
    steps: u64,
    depth: usize,
    /// Why the check was given up.
    spent: Option<&'static str>,
    /// The resources that were entered, the outermost first, for dynamic references.
    scope: Vec<usize>,
    report: bool,
    findings: Findings<'v>,
}

impl<'s, 'v> Check<'s, 'v> {
    fn new(schema: &'s Schema, text: &str, root: &'v str) -> Self {
        let steps = schema.steps.saturating_add((text.len() as u64).saturating_mul(STEPS_A_BYTE));
        let (scope, findings) = (Vec::new(), Findings::new(root));
        Self { schema, steps, depth: 0, spent: None, scope, report: false, findings }
    }

    /// Counts steps; past the last one nothing fits any more.
    fn spend(&mut self, steps: usize) -> bool {
        self.steps = self.steps.saturating_sub(steps as u64);
        if self.steps == 0 {
            self.spent.get_or_insert("this takes more steps to check than are allowed");
        }
        self.spent.is_none()
    }

    /// Marks for a value, none of them set. They cost more the longer it is, to make and to add to others.
    fn marks(&mut self, value: &Value<'_>) -> Option<Marks> {
        const MARKS_A_STEP: usize = 32;
        let length = match value {
            Value::List(list) => list.len(),
            Value::Object(members) => members.len(),
            _ => 0,
        };
        self.spend(length / MARKS_A_STEP).then(|| Marks(alloc::vec![false; length]))
    }

    /// Whether `value` fits a subschema. `marks` notes what of it was looked at, as far as it fits.
    fn fits(&mut self, id: Id, value: &'v Value<'v>, marks: Option<&mut Marks>) -> bool {
        let schema = self.schema;
        let Some(node) = schema.nodes.get(id) else { return false };
        if !self.spend(1) {
            return false;
        }
        if node.keywords.is_empty() {
            return true;
        }
        if self.depth == NESTING {
            self.spent.get_or_insert("this is nested too deeply to be checked");
            return false;
        }
        self.depth += 1;
        let entered = self.scope.last() != Some(&node.resource);
        if entered {
            self.scope.push(node.resource);
        }
        let fits = self.fits_node(node, value, marks);
        if entered {
            self.scope.pop();
        }
        self.depth -= 1;
        fits
    }

    fn fits_node(&mut self, node: &'s Node, value: &'v Value<'v>, marks: Option<&mut Marks>) -> bool {
        if !node.has_unevaluated() {
            return self.fits_all(node, value, marks);
        }
        let Some(mut own) = self.marks(value) else { return false };
        let fits = self.fits_all(node, value, Some(&mut own));
        if let (true, Some(marks)) = (fits, marks) {
            marks.add(&own);
        }
        fits
    }

    fn fits_all(&mut self, node: &'s Node, value: &'v Value<'v>, mut marks: Option<&mut Marks>) -> bool {
        let mut fits = true;
        for keyword in &node.keywords {
            if !self.satisfies(keyword, value, marks.as_deref_mut()) {
                fits = false;
                // One fault is enough to know, and ten to tell.
                if !self.report || self.spent.is_some() || self.findings.is_full() {
                    break;
                }
            }
        }
        fits
    }

    fn satisfies(
        &mut self,
        keyword: &'s Keyword,
        value: &'v Value<'v>,
        mut marks: Option<&mut Marks>,
    ) -> bool {
        match (keyword, value) {
            (Keyword::Never, _) => self.fault(format_args!("not allowed")),
            (Keyword::Type(kinds), _) => kinds.admit(value) || self.wrong_type(*kinds, value),
            (Keyword::OneOfValues(allowed), _) => self.one_of_values(allowed, value),
            (Keyword::Minimum(bound), Value::Number(number)) => self.minimum(*bound, Decimal::read(number)),
            (Keyword::Maximum(bound), Value::Number(number)) => self.maximum(*bound, Decimal::read(number)),
            (Keyword::MultipleOf(unit), Value::Number(number)) => {
                // Ten is about what a division costs.
                self.spend(10);
                Decimal::read(number).is_multiple_of(*unit)
                    || self.fault(format_args!("expected a multiple of {unit}"))
            }
            (Keyword::MinLength(least), Value::Text(text)) => {
                let length = self.length(text);
                length >= *least || self.too_few(*least, length, "character", "characters")
            }
            (Keyword::MaxLength(most), Value::Text(text)) => {
                let length = self.length(text);
                length <= *most || self.too_many(*most, length, "character", "characters")
            }
            (Keyword::Pattern(pattern), Value::Text(text)) => {
                let source = &pattern.source;
                self.spend(text.len()) && pattern.matches(text)
                    || self.fault(format_args!(
                        "expected a string that matches the pattern {}",
                        crate::text::Excerpt(source)
                    ))
            }
            (Keyword::AllOf(ids), _) => {
                let mut fits = true;
                for id in ids {
                    fits &= self.fits(*id, value, marks.as_deref_mut());
                    if !fits && !self.report {
                        break;
                    }
                }
                fits
            }
            (Keyword::AnyOf(ids), _) => self.any_of(ids, value, marks),
            (Keyword::OneOf(ids), _) => self.one_of(ids, value, marks),
            (Keyword::Not(id), _) => {
                let fits = self.quietly(|check| check.fits(*id, value, None));
                !fits && self.spent.is_none() || self.fault(format_args!("of a form that is excluded"))
            }
            (Keyword::If { condition, then, otherwise }, _) => {
                let branch =
                    if self.tries(*condition, value, marks.as_deref_mut()) { then } else { otherwise };
                branch.is_none_or(|branch| self.fits(branch, value, marks))
            }
            (Keyword::Ref(id), _) => self.fits(*id, value, marks),
            (Keyword::DynamicRef { target, name }, _) => {
                let outermost = name.as_ref().and_then(|name| {
                    self.resources().find_map(|resource| resource.dynamic.get(name).copied())
                });
                self.fits(outermost.unwrap_or(*target), value, marks)
            }
            (Keyword::RecursiveRef(target), _) => {
                let schema = self.schema;
                let own = schema.nodes.get(*target).and_then(|node| schema.resources.get(node.resource));
                let outermost = match own {
                    Some(own) if own.recursive && own.root == *target => {
                        self.resources().find(|resource| resource.recursive).map(|resource| resource.root)
                    }
                    _ => None,
                };
                self.fits(outermost.unwrap_or(*target), value, marks)
            }
            (keyword, Value::Object(members)) => self.object(keyword, value, members, marks),
            (keyword, Value::List(list)) => self.array(keyword, list, marks),
            // About values of another type.
            _ => true,
        }
    }

    /// The resources that were entered.
    fn resources(&self) -> impl Iterator<Item = &'s super::node::Resource> {
        let schema = self.schema;
        self.scope.iter().filter_map(|index| schema.resources.get(*index))
    }

    /// The same one step further in.
    fn inside(&mut self, step: Step<'v>, id: Id, value: &'v Value<'v>) -> bool {
        self.findings.path.push(step);
        let fits = self.fits(id, value, None);
        self.findings.path.pop();
        fits
    }

    /// Without telling what is wrong.
    fn quietly<T>(&mut self, check: impl FnOnce(&mut Self) -> T) -> T {
        let report = core::mem::replace(&mut self.report, false);
        let result = check(self);
        self.report = report;
        result
    }

    /// Whether it fits a form of which others may fit as well.
    fn tries(&mut self, id: Id, value: &'v Value<'v>, marks: Option<&mut Marks>) -> bool {
        let Some(marks) = marks else { return self.quietly(|check| check.fits(id, value, None)) };
        let Some(mut own) = self.marks(value) else { return false };
        let fits = self.quietly(|check| check.fits(id, value, Some(&mut own)));
        if fits {
            marks.add(&own);
        }
        fits
    }

    fn any_of(&mut self, ids: &'s [Id], value: &'v Value<'v>, mut marks: Option<&mut Marks>) -> bool {
        let mut fits = false;
        for id in ids {
            fits |= self.tries(*id, value, marks.as_deref_mut());
            if fits && marks.is_none() {
                break;
            }
        }
        fits || self.none_of(ids, value)
    }

    fn one_of(&mut self, ids: &'s [Id], value: &'v Value<'v>, mut marks: Option<&mut Marks>) -> bool {
        let mut fitting = 0;
        for id in ids {
            fitting += usize::from(self.tries(*id, value, marks.as_deref_mut()));
            if fitting > 1 {
                return self.fault(format_args!("fits several of the forms of which it may fit only one"));
            }
        }
        fitting == 1 || self.none_of(ids, value)
    }

    /// Tells what is wrong with a value that fits none of several forms. Where its type leaves only one of them,
    /// that one is what was meant.
    fn none_of(&mut self, ids: &'s [Id], value: &'v Value<'v>) -> bool {
        if !self.report {
            return false;
        }
        let meant = only(ids.iter().filter(|id| self.may_be_meant(**id, value)))
            // Of an enum in the usual notation, the one member names the variant.
            .or_else(|| only(ids.iter().filter(|id| self.has_required(**id, value))));
        if let Some(id) = meant {
            self.fits(*id, value, None);
            return false;
        }
        match self.kinds(ids) {
            Some(kinds) if !kinds.admit(value) => self.wrong_type(kinds, value),
            _ => self.fault(format_args!("fits none of the {} forms that are allowed", ids.len())),
        }
    }

    /// The types of all these forms together, if each of them names some.
    fn kinds(&self, ids: &[Id]) -> Option<Kinds> {
        ids.iter().try_fold(Kinds::NONE, |kinds, id| Some(kinds.and(self.kinds_of(*id)?)))
    }

    fn kinds_of(&self, id: Id) -> Option<Kinds> {
        self.schema.nodes.get(id)?.keywords.iter().find_map(|keyword| match keyword {
            Keyword::Type(kinds) => Some(*kinds),
            _ => None,
        })
    }

    /// Whether neither its type nor a tag, a member with one possible value, speaks against a form.
    fn may_be_meant(&self, id: Id, value: &Value<'_>) -> bool {
        let Some(node) = self.schema.nodes.get(id) else { return false };
        node.keywords.iter().all(|keyword| match keyword {
            Keyword::Never => false,
            Keyword::Type(kinds) => kinds.admit(value),
            Keyword::Ref(target) => self.kinds_of(*target).is_none_or(|kinds| kinds.admit(value)),
            Keyword::OneOfValues(allowed) => allowed.iter().any(|allowed| allowed.kind() == value.kind()),
            Keyword::Properties { named, .. } => named.iter().all(|(name, id)| {
                let tag = self.schema.nodes.get(*id).and_then(|node| {
                    node.keywords.iter().find_map(|keyword| match keyword {
                        Keyword::OneOfValues(allowed) if allowed.len() == 1 => allowed.first(),
                        _ => None,
                    })
                });
                match (tag, value.get(name)) {
                    (Some(tag), Some(found)) => tag == found,
                    _ => true,
                }
            }),
            _ => true,
        })
    }

    /// Whether a form asks for members, all of which are there.
    fn has_required(&self, id: Id, value: &Value<'_>) -> bool {
        let node = self.schema.nodes.get(id);
        node.into_iter().flat_map(|node| &node.keywords).any(|keyword| match keyword {
            Keyword::Required(names) => names.iter().all(|name| value.get(name).is_some()),
            _ => false,
        })
    }

    fn one_of_values(&mut self, allowed: &'s [Value<'static>], value: &Value<'_>) -> bool {
        if self.spend(allowed.len()) && allowed.iter().any(|allowed| allowed == value) {
            return true;
        }
        if !self.report {
            return false;
        }
        let same_kind = allowed.iter().any(|allowed| allowed.kind() == value.kind());
        let found = match (value, same_kind) {
            (Value::Text(_), true) => "another string",
            (Value::Number(_), true) => "another number",
            (Value::Bool(_), true) => "the other boolean",
            (Value::List(_), true) => "another array",
            (Value::Object(_), true) => "another object",
            (value, _) => value.kind(),
        };
        self.fault(format_args!("expected {}, found {found}", alternatives(allowed.iter())))
    }

    fn minimum(&mut self, bound: Bound, number: Decimal) -> bool {
        let Bound { value, exclusive } = bound;
        match (number > value, number == value, exclusive) {
            (true, _, _) | (_, true, false) => true,
            (_, _, true) => self.fault(format_args!("expected more than {value}")),
            _ => self.fault(format_args!("expected at least {value}, found less")),
        }
    }

    fn maximum(&mut self, bound: Bound, number: Decimal) -> bool {
        let Bound { value, exclusive } = bound;
        match (number < value, number == value, exclusive) {
            (true, _, _) | (_, true, false) => true,
            (_, _, true) => self.fault(format_args!("expected less than {value}")),
            _ => self.fault(format_args!("expected at most {value}, found more")),
        }
    }

    /// In characters.
    fn length(&mut self, text: &str) -> u64 {
        self.spend(text.len() / 64);
        text.chars().count() as u64
    }

    fn wrong_type(&mut self, kinds: Kinds, value: &Value<'_>) -> bool {
        if !self.report {
            return false;
        }
        let found = match value {
            Value::Number(_) if kinds.has("integer") => "a number with a fraction",
            value => value.kind(),
        };
        self.fault(format_args!("expected {}, found {found}", kinds.describe()))
    }

    fn too_few(&mut self, least: u64, found: u64, one: &str, many: &str) -> bool {
        if !self.report {
            return false;
        }
        let least: String = counted(least, one, many);
        self.fault(format_args!("expected at least {least}, found {found}"))
    }

    fn too_many(&mut self, most: u64, found: u64, one: &str, many: &str) -> bool {
        if !self.report {
            return false;
        }
        let most: String = counted(most, one, many);
        self.fault(format_args!("expected at most {most}, found {found}"))
    }

    fn fault(&mut self, problem: core::fmt::Arguments<'_>) -> bool {
        if self.report && self.spent.is_none() {
            self.findings.add(problem);
        }
        false
    }

    fn fault_at(&mut self, step: Step<'v>, problem: core::fmt::Arguments<'_>) -> bool {
        if self.report && self.spent.is_none() {
            self.findings.add_at(step, problem);
        }
        false
    }
}

/// The one item that there is.
fn only<T>(mut items: impl Iterator<Item = T>) -> Option<T> {
    let item = items.next()?;
    items.next().is_none().then_some(item)
}
