//! Finds where JSON values end, and that they are JSON, in one pass without recursion or allocation.

use crate::wire::bytes;
use alloc::borrow::Cow;
use alloc::vec::Vec;

/// A place in a text, from where JSON is read on.
#[derive(Clone)]
pub(super) struct Cursor<'a> {
    text: &'a str,
    at: usize,
    /// How many more arrays and objects may open.
    depth: usize,
}

/// Why a text is not JSON that we take.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Broken {
    /// It does not follow the grammar of RFC 8259.
    Syntax {
        /// The byte where that shows.
        at: usize,
    },
    /// Arrays and objects nest deeper than allowed.
    Deep,
}

impl<'a> Cursor<'a> {
    pub(super) const fn new(text: &'a str, depth: usize) -> Self {
        Self { text, at: 0, depth }
    }

    /// The next byte that is not whitespace.
    #[inline]
    pub(super) fn peek(&mut self) -> Option<u8> {
        while let Some(byte) = self.byte() {
            match byte {
                b' ' | b'\t' | b'\n' | b'\r' => self.at += 1,
                _ => return Some(byte),
            }
        }
        None
    }

    /// Takes this byte, after whitespace.
    pub(super) fn eat(&mut self, byte: u8) -> bool {
        let found = self.peek() == Some(byte);
        self.at += usize::from(found);
        found
    }

    pub(super) fn expect(&mut self, byte: u8) -> Result<(), Broken> {
        if self.eat(byte) { Ok(()) } else { Err(self.broken()) }
    }

    /// Nothing may follow but whitespace.
    pub(super) fn end(&mut self) -> Result<(), Broken> {
        if self.peek().is_none() { Ok(()) } else { Err(self.broken()) }
    }

    /// Enters an array or object.
    pub(super) fn open(&mut self, bracket: u8) -> Result<(), Broken> {
        self.expect(bracket)?;
        self.depth = self.depth.checked_sub(1).ok_or(Broken::Deep)?;
        Ok(())
    }

    /// Leaves it, if this is its end.
    pub(super) fn close(&mut self, bracket: u8) -> bool {
        let closed = self.eat(bracket);
        self.depth += usize::from(closed);
        closed
    }

    /// Takes the name of a member and the colon after it.
    pub(super) fn name(&mut self) -> Result<Text<'a>, Broken> {
        if self.peek() != Some(b'"') {
            return Err(self.broken());
        }
        let name = self.string()?;
        self.expect(b':')?;
        Ok(name)
    }

    /// Takes an object, whole. `member` takes the value of each member.
    pub(super) fn object(
        &mut self,
        mut member: impl FnMut(&mut Self, Text<'a>) -> Result<(), Broken>,
    ) -> Result<&'a str, Broken> {
        self.peek();
        let start = self.at;
        self.open(b'{')?;
        let mut closed = self.close(b'}');
        while !closed {
            let name = self.name()?;
            member(self, name)?;
            closed = self.close(b'}');
            if !closed {
                self.expect(b',')?;
            }
        }
        self.text.get(start..self.at).ok_or(self.broken())
    }

    /// Takes one value, whole.
    pub(super) fn value(&mut self) -> Result<&'a str, Broken> {
        let first = self.peek();
        let start = self.at;
        match first {
            Some(b'{' | b'[') => self.nested()?,
            Some(_) => self.scalar()?,
            None => return Err(self.broken()),
        }
        self.text.get(start..self.at).ok_or(self.broken())
    }

    /// Takes an array or object, whole.
    fn nested(&mut self) -> Result<(), Broken> {
        let mut nesting = Nesting::default();
        'value: loop {
            match self.peek() {
                Some(bracket @ (b'{' | b'[')) => {
                    let is_object = bracket == b'{';
                    self.open(bracket)?;
                    nesting.push(is_object);
                    // The closing bracket of an empty one is found below.
                    let is_empty = self.peek() == Some(if is_object { b'}' } else { b']' });
                    if !is_empty {
                        if is_object {
                            self.name()?;
                        }
                        continue 'value;
                    }
                }
                Some(_) => self.scalar()?,
                None => return Err(self.broken()),
            }
            loop {
                let Some(is_object) = nesting.last() else { return Ok(()) };
                match self.peek() {
                    Some(b',') => {
                        self.at += 1;
                        if is_object {
                            self.name()?;
                        }
                        continue 'value;
                    }
                    Some(b'}') if is_object => {}
                    Some(b']') if !is_object => {}
                    _ => return Err(self.broken()),
                }
                self.at += 1;
                self.depth += 1;
                nesting.pop();
            }
        }
    }

    /// Takes a string; its opening quote is known to be next.
    pub(super) fn string(&mut self) -> Result<Text<'a>, Broken> {
        let start = self.at;
        let mut escaped = false;
        self.at += 1;
        loop {
            let rest = self.text.as_bytes().get(self.at..).unwrap_or_default();
            let Some(stop) = bytes::find_special(rest) else {
                self.at = self.text.len();
                return Err(self.broken());
            };
            self.at += stop;
            match self.byte() {
                Some(b'"') => {
                    self.at += 1;
                    let json = self.text.get(start..self.at).ok_or(self.broken())?;
                    return Ok(Text { json, escaped });
                }
                Some(b'\\') => {
                    escaped = true;
                    self.escape()?;
                }
                _ => return Err(self.broken()),
            }
        }
    }

    fn escape(&mut self) -> Result<(), Broken> {
        self.at += 1;
        match self.byte() {
            Some(b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't') => self.at += 1,
            Some(b'u') => {
                self.at += 1;
                for _ in 0..4 {
                    self.one(|byte| byte.is_ascii_hexdigit())?;
                }
            }
            _ => return Err(self.broken()),
        }
        Ok(())
    }

    fn scalar(&mut self) -> Result<(), Broken> {
        match self.byte() {
            Some(b'"') => self.string().map(|_| ()),
            Some(b't') => self.literal("true"),
            Some(b'f') => self.literal("false"),
            Some(b'n') => self.literal("null"),
            _ => self.number(),
        }
    }

    fn literal(&mut self, word: &str) -> Result<(), Broken> {
        for expected in word.bytes() {
            self.one(|byte| byte == expected)?;
        }
        Ok(())
    }

    fn number(&mut self) -> Result<(), Broken> {
        if self.byte() == Some(b'-') {
            self.at += 1;
        }
        if self.byte() == Some(b'0') {
            self.at += 1;
        } else {
            self.digits()?;
        }
        if self.byte() == Some(b'.') {
            self.at += 1;
            self.digits()?;
        }
        if matches!(self.byte(), Some(b'e' | b'E')) {
            self.at += 1;
            if matches!(self.byte(), Some(b'+' | b'-')) {
                self.at += 1;
            }
            self.digits()?;
        }
        Ok(())
    }

    fn digits(&mut self) -> Result<(), Broken> {
        self.one(|byte| byte.is_ascii_digit())?;
        while self.byte().is_some_and(|byte| byte.is_ascii_digit()) {
            self.at += 1;
        }
        Ok(())
    }

    fn one(&mut self, test: impl Fn(u8) -> bool) -> Result<(), Broken> {
        if !self.byte().is_some_and(test) {
            return Err(self.broken());
        }
        self.at += 1;
        Ok(())
    }

    fn byte(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    fn broken(&self) -> Broken {
        Broken::Syntax { at: self.at }
    }
}

/// A string of a JSON text.
#[derive(Clone, Copy)]
pub(super) struct Text<'a> {
    /// With its quotes.
    json: &'a str,
    escaped: bool,
}

impl<'a> Text<'a> {
    /// The string that this JSON value is.
    pub(super) fn of(json: &'a str) -> Option<Self> {
        json.starts_with('"').then(|| Self { json, escaped: bytes::find(json.as_bytes(), [b'\\']).is_some() })
    }

    /// The text meant; `None` if an escape is half of a surrogate pair.
    pub(super) fn decode(self) -> Option<Cow<'a, str>> {
        if self.escaped {
            return serde_json::from_str(self.json).ok().map(Cow::Owned);
        }
        self.json.get(1..self.json.len().checked_sub(1)?).map(Cow::Borrowed)
    }
}

/// The arrays and objects that are open, one bit each; the innermost 64 need no allocation.
#[derive(Default)]
struct Nesting {
    len: usize,
    inner: u64,
    outer: Vec<u64>,
}

impl Nesting {
    fn push(&mut self, is_object: bool) {
        if self.len > 0 && self.len.is_multiple_of(64) {
            self.outer.push(self.inner);
        }
        self.inner = self.inner << 1 | u64::from(is_object);
        self.len += 1;
    }

    fn pop(&mut self) {
        self.inner >>= 1;
        self.len = self.len.saturating_sub(1);
        if self.len > 0 && self.len.is_multiple_of(64) {
            self.inner = self.outer.pop().unwrap_or_default();
        }
    }

    fn last(&self) -> Option<bool> {
        (self.len > 0).then_some(self.inner & 1 == 1)
    }
}

#[cfg(test)]
mod tests;
