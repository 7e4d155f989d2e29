//! Why a value did not fit, in the words of JSON.

use super::super::scan::Broken;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use core::fmt;
use core::fmt::Write;
use serde::de::{Error, Expected, Unexpected};

/// How much of a member's name goes into a path: names may be the peer's choice, and of any length.
const NAME: usize = 64;
/// How many steps of a path are told.
const STEPS: usize = 16;

/// What is wrong, and where. Holds no value that the peer sent.
#[derive(Debug)]
pub(in super::super) struct Fault {
    /// From the inside out.
    path: Vec<Step>,
    problem: String,
}

#[derive(Debug)]
pub(super) enum Step {
    Member(String),
    Element(usize),
}

impl Step {
    pub(super) fn member(name: &str) -> Self {
        let mut short: String =
            name.chars().take(NAME).map(|char| if char.is_control() { '\u{fffd}' } else { char }).collect();
        if short.len() < name.len() {
            short.push('…');
        }
        Self::Member(short)
    }
}

impl Fault {
    /// For what only serde_json found wrong.
    pub(in super::super) fn unknown() -> Self {
        Self::new("not a valid value")
    }

    pub(super) fn found(expected: impl fmt::Display, found: impl fmt::Display) -> Self {
        Self::new(format!("expected {expected}, found {found}"))
    }

    pub(super) fn surplus() -> Self {
        Self::new("expected fewer elements, found more")
    }

    fn new(problem: impl Into<String>) -> Self {
        Self { path: Vec::new(), problem: problem.into() }
    }

    /// The same, seen from the value around it.
    pub(super) fn inside(mut self, step: Step) -> Self {
        self.path.push(step);
        self
    }

    /// The text for the peer, where `root` is the whole.
    pub(in super::super) fn describe(&self, root: &str) -> String {
        let mut text = String::from(root);
        for step in self.path.iter().rev().take(STEPS) {
            // Writing to a string does not fail.
            let _ = match step {
                Step::Member(name) => write!(text, ".{name}"),
                Step::Element(index) => write!(text, "[{index}]"),
            };
        }
        if self.path.len() > STEPS {
            text.push('…');
        }
        text.push_str(": ");
        text.push_str(&self.problem);
        text
    }
}

impl From<Broken> for Fault {
    fn from(broken: Broken) -> Self {
        match broken {
            Broken::Syntax { .. } => Self::new("not JSON"),
            Broken::Deep => Self::new("nests too deep"),
        }
    }
}

/// serde's errors are made of the peer's values and of Rust's names for types; these are not.
impl Error for Fault {
    fn custom<T: fmt::Display>(_: T) -> Self {
        // The text is the application's own, and may quote the value.
        Self::unknown()
    }

    fn invalid_type(unexpected: Unexpected<'_>, expected: &dyn Expected) -> Self {
        let expected = expected.to_string();
        let expected = in_json(&expected);
        let found = match unexpected {
            Unexpected::Float(_)
                if expected.starts_with("an integer") || expected.starts_with("a non-neg") =>
            {
                "a number with a fraction or exponent"
            }
            other => name(other),
        };
        Self::found(expected, found)
    }

    fn invalid_value(unexpected: Unexpected<'_>, expected: &dyn Expected) -> Self {
        let found = match name(unexpected) {
            "a number" => "another number",
            "a string" => "another string",
            "a boolean" => "the other boolean",
            other => other,
        };
        Self::found(in_json(&expected.to_string()), found)
    }

    fn invalid_length(len: usize, expected: &dyn Expected) -> Self {
        Self::found(in_json(&expected.to_string()), format_args!("{len} elements"))
    }

    fn unknown_variant(_: &str, expected: &'static [&'static str]) -> Self {
        Self::found(one_of(expected), "another string")
    }

    fn unknown_field(field: &str, expected: &'static [&'static str]) -> Self {
        Self::new(format!("unknown member, expected {}", one_of(expected))).inside(Step::member(field))
    }

    fn missing_field(field: &'static str) -> Self {
        Self::new("missing").inside(Step::member(field))
    }

    fn duplicate_field(field: &'static str) -> Self {
        Self::new("occurs twice").inside(Step::member(field))
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.problem)
    }
}

impl core::error::Error for Fault {}

/// `one of "a", "b"`.
pub(super) fn one_of(names: &[&str]) -> String {
    match names {
        [] => "nothing".into(),
        [name] => format!("{name:?}"),
        [first, rest @ ..] => {
            rest.iter().fold(format!("one of {first:?}"), |list, name| format!("{list}, {name:?}"))
        }
    }
}

fn name(unexpected: Unexpected<'_>) -> &'static str {
    match unexpected {
        Unexpected::Bool(_) => "a boolean",
        Unexpected::Unsigned(_) | Unexpected::Signed(_) | Unexpected::Float(_) => "a number",
        Unexpected::Other("number") => "a number",
        Unexpected::Char(_) | Unexpected::Str(_) | Unexpected::Bytes(_) => "a string",
        Unexpected::Unit | Unexpected::Option => "null",
        Unexpected::Seq => "an array",
        Unexpected::Map => "an object",
        _ => "another value",
    }
}

/// What serde's visitors say they expect, without Rust's type names.
fn in_json(expected: &str) -> &str {
    match expected {
        "i64" | "i128" | "isize" => "an integer",
        "u64" | "u128" | "usize" => "a non-negative integer",
        "i8" => "an integer from -128 to 127",
        "i16" => "an integer from -32768 to 32767",
        "i32" => "an integer from -2147483648 to 2147483647",
        "u8" => "an integer from 0 to 255",
        "u16" => "an integer from 0 to 65535",
        "u32" => "an integer from 0 to 4294967295",
        "f32" | "f64" => "a number",
        "a borrowed string" | "string" => "a string",
        "unit" => "null",
        "a sequence" => "an array",
        "a map" => "an object",
        _ if expected.starts_with("a nonzero ") => "a nonzero integer",
        _ if expected.starts_with("unit struct ") => "null",
        _ if expected.starts_with("tuple struct ") => "an array",
        _ if expected.starts_with("struct ") || expected.starts_with("internally tagged enum ") => {
            "an object"
        }
        _ => expected,
    }
}
