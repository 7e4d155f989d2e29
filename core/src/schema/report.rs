//! What does not fit, in words that tell a model what to mend. Names of members are cut short, values are never
//! repeated.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use core::fmt::{self, Write};

use super::value::Value;
use crate::text::Excerpt;

/// As many faults as are told at once.
const FAULTS: usize = 10;
/// As much of a list or text of the schema as one fault repeats, in bytes.
const REPEATED: usize = 200;
/// As many steps of a path as are told.
const STEPS: usize = 16;

/// Why a value does not fit its schema.
///
/// Prints one line for each fault, at most ten: `arguments.name: expected a string, found a number`. Tells paths,
/// types and what the schema says, and no value of whoever sent it.
#[derive(Clone, PartialEq, Eq)]
pub struct Mismatch {
    pub(super) faults: Vec<String>,
    /// There were more.
    pub(super) cut: bool,
}

impl Mismatch {
    pub(crate) fn new(fault: &str) -> Self {
        Self { faults: alloc::vec![fault.into()], cut: false }
    }

    /// The faults by path, in the order in which they were found.
    pub fn faults(&self) -> impl Iterator<Item = &str> {
        self.faults.iter().map(String::as_str)
    }
}

impl fmt::Display for Mismatch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, fault) in self.faults.iter().enumerate() {
            if index > 0 {
                f.write_char('\n')?;
            }
            f.write_str(fault)?;
        }
        if self.cut { f.write_str("\n… and more") } else { Ok(()) }
    }
}

impl core::error::Error for Mismatch {}

crate::text::debug_like_display!(Mismatch);

/// A step from a value to one inside of it.
#[derive(Clone, Copy)]
pub(super) enum Step<'v> {
    Member(&'v str),
    Element(usize),
}

/// Where a check is, and what it has found there.
pub(super) struct Findings<'v> {
    root: &'v str,
    pub(super) path: Vec<Step<'v>>,
    faults: Vec<String>,
    cut: bool,
}

impl<'v> Findings<'v> {
    pub(super) fn new(root: &'v str) -> Self {
        Self { root, path: Vec::new(), faults: Vec::new(), cut: false }
    }

    /// Something is wrong here.
    pub(super) fn add(&mut self, problem: fmt::Arguments<'_>) {
        if self.faults.len() == FAULTS {
            self.cut = true;
            return;
        }
        let mut text = String::from(self.root);
        for step in self.path.iter().take(STEPS) {
            // Writing to a string does not fail.
            let _ = match step {
                Step::Member(name) => write!(text, ".{}", Excerpt(name)),
                Step::Element(index) => write!(text, "[{index}]"),
            };
        }
        if self.path.len() > STEPS {
            text.push('…');
        }
        let _ = write!(text, ": {problem}");
        // Several ways to the same place say the same.
        if !self.faults.contains(&text) {
            self.faults.push(text);
        }
    }

    /// Something is wrong one step further in.
    pub(super) fn add_at(&mut self, step: Step<'v>, problem: fmt::Arguments<'_>) {
        self.path.push(step);
        self.add(problem);
        self.path.pop();
    }

    pub(super) fn is_empty(&self) -> bool {
        self.faults.is_empty()
    }

    pub(super) fn is_full(&self) -> bool {
        self.cut
    }

    pub(super) fn into_mismatch(self) -> Mismatch {
        Mismatch { faults: self.faults, cut: self.cut }
    }
}

/// `"a", "b" or 3`: what the schema allows, as far as it is short.
pub(super) fn alternatives<'a>(values: impl ExactSizeIterator<Item = &'a Value<'a>>) -> String {
    let last = values.len().saturating_sub(1);
    let mut text = String::new();
    for (index, value) in values.enumerate() {
        match index {
            0 => {}
            index if index == last => text.push_str(" or "),
            _ => text.push_str(", "),
        }
        if text.len() > REPEATED {
            text.push('…');
            break;
        }
        let _ = match value {
            Value::Null => write!(text, "null"),
            Value::Bool(value) => write!(text, "{value}"),
            Value::Number(number) => write!(text, "{}", Excerpt(number)),
            Value::Text(string) => write!(text, "\"{}\"", Excerpt(string)),
            Value::List(_) => write!(text, "a certain array"),
            Value::Object(_) => write!(text, "a certain object"),
        };
    }
    text
}

/// `3 characters`.
pub(super) fn counted(count: u64, one: &str, many: &str) -> String {
    if count == 1 { format!("1 {one}") } else { format!("{count} {many}") }
}
