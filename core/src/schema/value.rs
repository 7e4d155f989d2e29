//! JSON as a tree over its text, for checks that have to look at a value more than once. Members are sorted, so
//! that values can be compared; numbers keep their text, so that none is rounded.

use alloc::borrow::{Cow, ToOwned};
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use core::cmp::Ordering;

use super::decimal::Decimal;
use crate::text::excerpt;

/// Deeper than any message that is read.
const DEPTH: usize = 128;

/// A JSON value.
#[derive(Clone, Debug)]
pub(super) enum Value<'a> {
    Null,
    Bool(bool),
    Number(Cow<'a, str>),
    Text(Cow<'a, str>),
    List(Vec<Value<'a>>),
    /// Sorted by name, each name once.
    Object(Vec<(Cow<'a, str>, Value<'a>)>),
}

impl<'a> Value<'a> {
    /// Reads JSON text. The error says what is wrong with it.
    pub(super) fn parse(text: &'a str) -> Result<Self, String> {
        let mut reader = Reader { text, at: 0 };
        let value = reader.value(DEPTH)?;
        reader.space();
        if reader.peek().is_none() { Ok(value) } else { Err(broken()) }
    }

    pub(super) fn into_owned(self) -> Value<'static> {
        match self {
            Self::Null => Value::Null,
            Self::Bool(value) => Value::Bool(value),
            Self::Number(text) => Value::Number(Cow::Owned(text.into_owned())),
            Self::Text(text) => Value::Text(Cow::Owned(text.into_owned())),
            Self::List(list) => Value::List(list.into_iter().map(Value::into_owned).collect()),
            Self::Object(members) => Value::Object(
                members
                    .into_iter()
                    .map(|(name, value)| (Cow::Owned(name.into_owned()), value.into_owned()))
                    .collect(),
            ),
        }
    }

    /// A member of an object.
    pub(super) fn get(&self, name: &str) -> Option<&Self> {
        let Self::Object(members) = self else { return None };
        let found = members.binary_search_by(|(known, _)| (**known).cmp(name)).ok()?;
        members.get(found).map(|(_, value)| value)
    }

    /// The value at a JSON pointer.
    pub(super) fn at(&self, pointer: &str) -> Option<&Self> {
        pointer.split('/').skip(1).try_fold(self, |value, step| match value {
            Self::Object(_) => value.get(&step.replace("~1", "/").replace("~0", "~")),
            Self::List(list) => list.get(step.parse::<usize>().ok()?),
            _ => None,
        })
    }

    /// What kind of value it is, for people.
    pub(super) fn kind(&self) -> &'static str {
        match self {
            Self::Null => "null",
            Self::Bool(_) => "a boolean",
            Self::Number(_) => "a number",
            Self::Text(_) => "a string",
            Self::List(_) => "an array",
            Self::Object(_) => "an object",
        }
    }

    fn rank(&self) -> u8 {
        match self {
            Self::Null => 0,
            Self::Bool(_) => 1,
            Self::Number(_) => 2,
            Self::Text(_) => 3,
            Self::List(_) => 4,
            Self::Object(_) => 5,
        }
    }
}

/// Equal are values that JSON Schema calls equal: `1.0` and `1`, objects whatever the order of their members.
impl Ord for Value<'_> {
    fn cmp(&self, other: &Self) -> Ordering {
        match (self, other) {
            (Self::Bool(a), Self::Bool(b)) => a.cmp(b),
            (Self::Number(a), Self::Number(b)) => Decimal::read(a).cmp(&Decimal::read(b)),
            (Self::Text(a), Self::Text(b)) => a.cmp(b),
            (Self::List(a), Self::List(b)) => a.cmp(b),
            (Self::Object(a), Self::Object(b)) => a.cmp(b),
            _ => self.rank().cmp(&other.rank()),
        }
    }
}

impl PartialOrd for Value<'_> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Value<'_> {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Value<'_> {}

fn broken() -> String {
    "not readable as JSON".to_owned()
}

/// Reads text that was found to be JSON before, so it looks no closer than it has to.
struct Reader<'a> {
    text: &'a str,
    at: usize,
}

impl<'a> Reader<'a> {
    fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    fn space(&mut self) {
        while matches!(self.peek(), Some(b' ' | b'\t' | b'\n' | b'\r')) {
            self.at += 1;
        }
    }

    /// Skips `byte`, if it comes next.
    fn take(&mut self, byte: u8) -> bool {
        self.space();
        let taken = self.peek() == Some(byte);
        self.at += usize::from(taken);
        taken
    }

    /// The characters up to the first that `accept` does not want; all of them are ASCII.
    fn run(&mut self, accept: fn(u8) -> bool) -> &'a str {
        let start = self.at;
        while self.peek().is_some_and(accept) {
            self.at += 1;
        }
        self.text.get(start..self.at).unwrap_or_default()
    }

    fn value(&mut self, depth: usize) -> Result<Value<'a>, String> {
        self.space();
        match self.peek() {
            Some(b'{') => self.object(depth),
            Some(b'[') => self.list(depth),
            Some(b'"') => self.string().map(Value::Text),
            Some(b'-' | b'0'..=b'9') => {
                let text = self
                    .run(|byte| byte.is_ascii_digit() || matches!(byte, b'+' | b'-' | b'.' | b'e' | b'E'));
                Ok(Value::Number(Cow::Borrowed(text)))
            }
            Some(_) => match self.run(|byte| byte.is_ascii_lowercase()) {
                "null" => Ok(Value::Null),
                "true" => Ok(Value::Bool(true)),
                "false" => Ok(Value::Bool(false)),
                _ => Err(broken()),
            },
            None => Err(broken()),
        }
    }

    fn list(&mut self, depth: usize) -> Result<Value<'a>, String> {
        let depth = deeper(depth)?;
        self.take(b'[');
        let mut list = Vec::new();
        if self.take(b']') {
            return Ok(Value::List(list));
        }
        loop {
            list.push(self.value(depth)?);
            if self.take(b']') {
                return Ok(Value::List(list));
            }
            if !self.take(b',') {
                return Err(broken());
            }
        }
    }

    fn object(&mut self, depth: usize) -> Result<Value<'a>, String> {
        let depth = deeper(depth)?;
        self.take(b'{');
        let mut members = Vec::new();
        if self.take(b'}') {
            return Ok(Value::Object(members));
        }
        loop {
            self.space();
            let name = self.string()?;
            if !self.take(b':') {
                return Err(broken());
            }
            members.push((name, self.value(depth)?));
            if self.take(b'}') {
                break;
            }
            if !self.take(b',') {
                return Err(broken());
            }
        }
        members.sort_by(|(a, _), (b, _)| a.cmp(b));
        // Who reads it later might look at the other one than the one that was checked.
        let twice = members.windows(2).find_map(|pair| match pair {
            [(a, _), (b, _)] if a == b => Some(a),
            _ => None,
        });
        match twice {
            Some(name) => Err(format!("the member `{}` occurs twice in an object", excerpt(name))),
            None => Ok(Value::Object(members)),
        }
    }

    fn string(&mut self) -> Result<Cow<'a, str>, String> {
        let start = self.at;
        if self.peek() != Some(b'"') {
            return Err(broken());
        }
        self.at += 1;
        let mut escapes = false;
        loop {
            match self.peek().ok_or_else(broken)? {
                b'"' => break,
                b'\\' => {
                    escapes = true;
                    self.at += 2;
                }
                _ => self.at += 1,
            }
        }
        self.at += 1;
        if escapes {
            let quoted = self.text.get(start..self.at).ok_or_else(broken)?;
            let text = serde_json::from_str::<String>(quoted);
            return text.map(Cow::Owned).map_err(|_| "a string holds half a character".to_owned());
        }
        self.text.get(start + 1..self.at - 1).map(Cow::Borrowed).ok_or_else(broken)
    }
}

fn deeper(depth: usize) -> Result<usize, String> {
    depth.checked_sub(1).ok_or_else(|| format!("nested deeper than {DEPTH} levels"))
}
