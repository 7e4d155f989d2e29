//! The fields of a head.

#[cfg(test)]
mod tests;

use alloc::borrow::Cow;
use alloc::string::String;
use alloc::vec::Vec;
use core::fmt;
use core::ops::Range;

use super::Field;

/// The fields of a head, in order, names compared without regard to case.
///
/// One text buffer and spans into it: reading a head costs two allocations however many fields it has, and
/// none when the value is reused after [`clear`](Self::clear). Where the first of each field is that machines look for
/// is noted when it is added.
#[derive(Clone, Default)]
pub struct Headers {
    text: Cow<'static, str>,
    /// Values that are no UTF-8.
    other: Vec<u8>,
    spans: Cow<'static, [Span]>,
    first: First,
}

/// Where a field stands.
#[derive(Clone, Copy)]
pub(crate) struct Span {
    name: Place,
    value: Place,
    field: Option<Field>,
    /// Whether the value is in the text.
    is_text: bool,
}

#[derive(Clone, Copy)]
struct Place {
    start: u32,
    end: u32,
}

impl Place {
    /// `None` past four gigabytes.
    fn new(place: Range<usize>) -> Option<Self> {
        Some(Self { start: u32::try_from(place.start).ok()?, end: u32::try_from(place.end).ok()? })
    }

    fn range(self) -> Range<usize> {
        self.start as usize..self.end as usize
    }
}

#[cfg(any(test, feature = "http1"))]
impl Span {
    /// Where a field stands in a text; `None` if it does not lie within it.
    pub(crate) fn within(text: &[u8], name: &str, value: &[u8]) -> Option<Self> {
        let place = |part: &[u8]| {
            let start = (part.as_ptr() as usize).checked_sub(text.as_ptr() as usize)?;
            let place = start..start + part.len();
            text.get(place.clone())?;
            Place::new(place)
        };
        let (field, name) = (Field::named(name), place(name.as_bytes())?);
        Some(Self { name, value: place(value)?, field, is_text: true })
    }
}

/// For each field, how many there are before the first one, plus one; 0 where there is none. What does not fit is at
/// least as far as that.
#[derive(Clone, Copy, Default)]
struct First([u8; Field::COUNT]);

impl First {
    fn note(&mut self, field: Option<Field>, before: usize) {
        if let Some(first) =
            field.and_then(|field| self.0.get_mut(field as usize)).filter(|first| **first == 0)
        {
            *first = u8::try_from(before + 1).unwrap_or(u8::MAX);
        }
    }

    /// How many there are before it at least, if there is one.
    fn before(&self, field: Field) -> Option<usize> {
        self.0.get(field as usize).and_then(|first| first.checked_sub(1)).map(usize::from)
    }
}

impl Headers {
    /// No fields.
    pub const fn new() -> Self {
        Self {
            text: Cow::Borrowed(""),
            other: Vec::new(),
            spans: Cow::Borrowed(&[]),
            first: First([0; Field::COUNT]),
        }
    }

    /// `Content-Type: application/json` and nothing else, as most responses have it, without an allocation.
    pub(crate) const fn of_json() -> Self {
        const SPANS: &[Span] = &[Span {
            name: Place { start: 0, end: 12 },
            value: Place { start: 12, end: 28 },
            field: Some(Field::ContentType),
            is_text: true,
        }];
        let mut first = First([0; Field::COUNT]);
        first.0[Field::ContentType as usize] = 1;
        Self {
            text: Cow::Borrowed("Content-Typeapplication/json"),
            other: Vec::new(),
            spans: Cow::Borrowed(SPANS),
            first,
        }
    }

    /// No fields, and room for so many with so much text.
    pub(crate) fn with_capacity(fields: usize, text: usize) -> Self {
        let (text, spans) = (String::with_capacity(text), Vec::with_capacity(fields));
        Self { text: Cow::Owned(text), spans: Cow::Owned(spans), ..Self::new() }
    }

    /// Fields where they stand in a text, without a copy.
    #[cfg(any(test, feature = "http1"))]
    pub(crate) fn over(text: Vec<u8>, spans: Vec<Span>) -> Self {
        match String::from_utf8(text) {
            Ok(text) => {
                let mut first = First::default();
                spans.iter().enumerate().for_each(|(before, span)| first.note(span.field, before));
                Self { text: Cow::Owned(text), other: Vec::new(), spans: Cow::Owned(spans), first }
            }
            Err(error) => {
                let part = |place: Place| error.as_bytes().get(place.range()).unwrap_or_default();
                let mut headers = Self::with_capacity(spans.len(), error.as_bytes().len());
                for span in &spans {
                    headers.push(core::str::from_utf8(part(span.name)).unwrap_or_default(), part(span.value));
                }
                headers
            }
        }
    }

    /// Adds a field at the end. The caller vouches that the name is a token and the value holds no control
    /// character but the tab. Where that is false, the HTTP/1.1 writer leaves the field out of a response,
    /// and refuses to send a request.
    pub fn push(&mut self, name: &str, value: impl AsRef<[u8]>) {
        let (text, other) = (self.text.to_mut(), self.other.len());
        let start = text.len();
        text.push_str(name);
        let end = text.len();
        let (is_text, value) = match core::str::from_utf8(value.as_ref()) {
            Ok(value) => {
                text.push_str(value);
                (true, end..text.len())
            }
            Err(_) => {
                self.other.extend_from_slice(value.as_ref());
                (false, other..self.other.len())
            }
        };
        match (Place::new(start..end), Place::new(value)) {
            (Some(name_place), Some(value)) => {
                let field = Field::named(name);
                self.first.note(field, self.spans.len());
                self.spans.to_mut().push(Span { name: name_place, value, field, is_text });
            }
            // Four gigabytes of fields: past every limit, so the field is not added.
            _ => {
                text.truncate(start);
                self.other.truncate(other);
            }
        }
    }

    /// The same, for building a head in one expression.
    #[must_use]
    pub fn with(mut self, name: &str, value: impl AsRef<[u8]>) -> Self {
        self.push(name, value);
        self
    }

    /// The value of the first field with this name.
    pub fn get(&self, name: &str) -> Option<&[u8]> {
        self.all(name).next()
    }

    /// The value of the first field with this name, if it is ASCII or UTF-8 text, without surrounding
    /// spaces and tabs.
    pub fn text(&self, name: &str) -> Option<&str> {
        match Field::named(name) {
            Some(field) => self.text_of(field),
            None => self.get(name).and_then(|value| core::str::from_utf8(value).ok()).map(trim),
        }
    }

    /// The same of a field that is known.
    pub(crate) fn text_of(&self, field: Field) -> Option<&str> {
        self.spans_of(field).next().and_then(|span| self.value_text(span)).map(trim)
    }

    /// The same of a field that may come once: where there are several, nobody can tell which one the parts of
    /// a network in between have acted on.
    pub(crate) fn sole_text_of(&self, field: Field) -> Option<&str> {
        self.text_of(field).filter(|_| self.spans_of(field).nth(1).is_none())
    }

    /// The values of all fields with this name, in order.
    pub fn all<'a>(&'a self, name: &str) -> impl Iterator<Item = &'a [u8]> {
        let field = Field::named(name);
        // Lengths first, and bytes: most names are others.
        let is_named = move |span: &&Span| {
            span.field == field
                && (field.is_some() || {
                    let own = self.name(span);
                    own.len() == name.len() && own.eq_ignore_ascii_case(name)
                })
        };
        self.spans.iter().filter(is_named).map(|span| self.value(span))
    }

    /// The same of a field that is known.
    pub(crate) fn all_of(&self, field: Field) -> impl DoubleEndedIterator<Item = &[u8]> + Clone {
        self.spans_of(field).map(|span| self.value(span))
    }

    /// Whether there is one.
    pub(crate) fn has(&self, field: Field) -> bool {
        self.first.before(field).is_some()
    }

    fn spans_of(&self, field: Field) -> impl DoubleEndedIterator<Item = &Span> + Clone {
        let from = self.first.before(field).and_then(|before| self.spans.get(before..));
        from.unwrap_or_default().iter().filter(move |span| span.field == Some(field))
    }

    fn name(&self, span: &Span) -> &str {
        self.text.get(span.name.range()).unwrap_or_default()
    }

    fn value(&self, span: &Span) -> &[u8] {
        let text = if span.is_text { self.text.as_bytes() } else { &self.other };
        text.get(span.value.range()).unwrap_or_default()
    }

    fn value_text(&self, span: &Span) -> Option<&str> {
        self.text.get(span.value.range()).filter(|_| span.is_text)
    }

    /// All fields, in order.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &[u8])> {
        self.spans.iter().map(|span| (self.name(span), self.value(span)))
    }

    /// The same, with what is known of each name.
    #[cfg(feature = "http1")]
    pub(crate) fn known(&self) -> impl Iterator<Item = (Option<Field>, &str, &[u8])> {
        self.spans.iter().map(|span| (span.field, self.name(span), self.value(span)))
    }

    /// Takes all fields with this name out, and overwrites their values.
    pub fn remove(&mut self, name: &str) {
        let mut left = Vec::with_capacity(self.spans.len());
        let mut first = First::default();
        for span in core::mem::take(&mut self.spans).iter() {
            if !self.name(span).eq_ignore_ascii_case(name) {
                first.note(span.field, left.len());
                left.push(*span);
            } else if span.is_text {
                let zeros = "\0".repeat(span.value.range().len());
                self.text.to_mut().replace_range(span.value.range(), &zeros);
            } else if let Some(value) = self.other.get_mut(span.value.range()) {
                value.fill(0);
            }
        }
        (self.spans, self.first) = (Cow::Owned(left), first);
    }

    /// Adds all fields of another head at the end.
    pub fn append(&mut self, other: &Self) {
        for (name, value) in other.iter() {
            self.push(name, value);
        }
    }

    /// How many fields there are.
    pub fn len(&self) -> usize {
        self.spans.len()
    }

    /// Whether there is no field.
    pub fn is_empty(&self) -> bool {
        self.spans.is_empty()
    }

    /// Forgets the fields and keeps the memory.
    pub fn clear(&mut self) {
        self.text.to_mut().clear();
        self.other.clear();
        self.spans.to_mut().clear();
        self.first = First::default();
    }
}

fn trim(value: &str) -> &str {
    let is_space = |byte: Option<&u8>| matches!(byte, Some(b' ' | b'\t'));
    let bytes = value.as_bytes();
    // Mostly there is none.
    let has_space = is_space(bytes.first()) || is_space(bytes.last());
    if has_space { value.trim_matches([' ', '\t']) } else { value }
}

/// Equal when the same fields are written in the same way, in the same order.
impl PartialEq for Headers {
    fn eq(&self, other: &Self) -> bool {
        self.iter().eq(other.iter())
    }
}

impl Eq for Headers {}

/// Prints names only: values may be secrets.
impl fmt::Debug for Headers {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.iter().map(|(name, _)| name)).finish()
    }
}
