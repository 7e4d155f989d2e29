//! What is demanded of arrays.

use alloc::vec::Vec;

use super::{Check, Marks};
use crate::schema::node::Keyword;
use crate::schema::report::{Step, counted};
use crate::schema::value::Value;

impl<'s, 'v> Check<'s, 'v> {
    pub(super) fn array(
        &mut self,
        keyword: &'s Keyword,
        list: &'v [Value<'v>],
        mut marks: Option<&mut Marks>,
    ) -> bool {
        match keyword {
            Keyword::Items { prefix, rest } => {
                let mut fits = true;
                for (index, element) in list.iter().enumerate() {
                    let Some(id) = prefix.get(index).copied().or(*rest) else { break };
                    if let Some(marks) = &mut marks {
                        marks.set(index);
                    }
                    fits &= self.inside(Step::Element(index), id, element);
                    if !fits && !self.report {
                        break;
                    }
                }
                fits
            }
            Keyword::Contains { schema, min, max, evaluates } => {
                let mut count = 0_u64;
                for (index, element) in list.iter().enumerate() {
                    if self.quietly(|check| check.fits(*schema, element, None)) {
                        count += 1;
                        if let (true, Some(marks)) = (*evaluates, &mut marks) {
                            marks.set(index);
                        }
                    }
                }
                if count < *min {
                    let min = counted(*min, "element", "elements");
                    return self
                        .fault(format_args!("expected at least {min} of a certain form, found {count}"));
                }
                if let Some(max) = max.filter(|max| count > *max) {
                    let max = counted(max, "element", "elements");
                    return self
                        .fault(format_args!("expected at most {max} of a certain form, found {count}"));
                }
                true
            }
            Keyword::MinItems(least) => {
                let count = list.len() as u64;
                count >= *least || self.too_few(*least, count, "element", "elements")
            }
            Keyword::MaxItems(most) => {
                let count = list.len() as u64;
                count <= *most || self.too_many(*most, count, "element", "elements")
            }
            Keyword::UniqueItems => {
                // Sorted, what is alike stands side by side.
                self.spend(list.len().saturating_mul(4));
                let mut sorted: Vec<&Value<'_>> = list.iter().collect();
                sorted.sort_unstable();
                let twice = sorted.windows(2).any(|pair| matches!(pair, [a, b] if a == b));
                !twice || self.fault(format_args!("expected no element twice"))
            }
            Keyword::UnevaluatedItems(id) => {
                let mut fits = true;
                for (index, element) in list.iter().enumerate() {
                    if marks.as_ref().is_some_and(|marks| marks.has(index)) {
                        continue;
                    }
                    if let Some(marks) = &mut marks {
                        marks.set(index);
                    }
                    fits &= self.inside(Step::Element(index), *id, element);
                    if !fits && !self.report {
                        break;
                    }
                }
                fits
            }
            _ => true,
        }
    }
}
