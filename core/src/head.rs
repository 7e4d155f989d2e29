//! The heads of HTTP messages, as the exchange machines speak of them.
//!
//! Small on purpose: hyper, axum, a Worker or a browser's fetch can sit underneath, and core stays free of
//! the `http` crate. `wire::http1` (feature `http1`) reads and writes them as HTTP/1.1.

#[cfg(feature = "http")]
mod convert;

use alloc::string::String;
use alloc::vec::Vec;
use core::fmt;
use core::ops::Range;

/// The fields of a head, in order, names compared without regard to case.
///
/// One text buffer and spans into it: reading a head costs two allocations however many fields it has, and
/// none when the value is reused after [`clear`](Self::clear).
#[derive(Clone, Default, PartialEq, Eq)]
pub struct Headers {
    text: Vec<u8>,
    spans: Vec<Span>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
struct Span {
    start: u32,
    name: u32,
    value: u32,
}

impl Span {
    fn name(self) -> Range<usize> {
        self.start as usize..self.name as usize
    }

    fn value(self) -> Range<usize> {
        self.name as usize..self.value as usize
    }
}

impl Headers {
    /// No fields.
    pub const fn new() -> Self {
        Self { text: Vec::new(), spans: Vec::new() }
    }

    /// No fields, and room for so many with so much text.
    pub(crate) fn with_capacity(fields: usize, text: usize) -> Self {
        Self { text: Vec::with_capacity(text), spans: Vec::with_capacity(fields) }
    }

    /// Adds a field at the end. The caller vouches that the name is a token and the value holds no control
    /// character but the tab. Where that is false, the HTTP/1.1 writer leaves the field out of a response,
    /// and refuses to send a request.
    pub fn push(&mut self, name: &str, value: impl AsRef<[u8]>) {
        let start = self.text.len();
        self.text.extend_from_slice(name.as_bytes());
        let name = self.text.len();
        self.text.extend_from_slice(value.as_ref());
        let ends = (u32::try_from(start), u32::try_from(name), u32::try_from(self.text.len()));
        match ends {
            (Ok(start), Ok(name), Ok(value)) => self.spans.push(Span { start, name, value }),
            // Four gigabytes of fields: past every limit, so the field is not added.
            _ => self.text.truncate(start),
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
        self.get(name).and_then(|value| core::str::from_utf8(value).ok()).map(trim)
    }

    /// The same of a field that may come once: where there are several, nobody can tell which one the parts of
    /// a network in between have acted on.
    pub(crate) fn sole_text(&self, name: &str) -> Option<&str> {
        self.text(name).filter(|_| self.all(name).nth(1).is_none())
    }

    /// The values of all fields with this name, in order.
    pub fn all<'a>(&'a self, name: &str) -> impl Iterator<Item = &'a [u8]> {
        // Lengths first, and bytes: a request is looked at some twenty times, and each time most names are others.
        let is_named = move |span: &&Span| {
            span.name().len() == name.len()
                && self.text.get(span.name()).is_some_and(|field| field.eq_ignore_ascii_case(name.as_bytes()))
        };
        self.spans.iter().filter(is_named).map(|span| self.text.get(span.value()).unwrap_or_default())
    }

    /// All fields, in order.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &[u8])> {
        self.spans.iter().map(|span| {
            // `push` took the name as a `str`, so the bytes are UTF-8.
            (core::str::from_utf8(&self.text[span.name()]).unwrap_or_default(), &self.text[span.value()])
        })
    }

    /// Takes all fields with this name out, and overwrites their values.
    pub fn remove(&mut self, name: &str) {
        let Self { text, spans } = self;
        spans.retain(|span| {
            let named =
                text.get(span.name()).is_some_and(|bytes| bytes.eq_ignore_ascii_case(name.as_bytes()));
            if named && let Some(value) = text.get_mut(span.value()) {
                value.fill(0);
            }
            !named
        });
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
        self.text.clear();
        self.spans.clear();
    }
}

fn trim(value: &str) -> &str {
    value.trim_matches([' ', '\t'])
}

/// Prints names only: values may be secrets.
impl fmt::Debug for Headers {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.iter().map(|(name, _)| name)).finish()
    }
}

/// The head of an HTTP request.
#[derive(Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct RequestHead {
    /// The method, as sent: `POST`, `GET`, `DELETE`, `OPTIONS`, ...
    pub method: String,
    /// The target: path and query, as sent.
    pub target: String,
    /// The fields. `Host` (or the `:authority` of HTTP/2, which the adapter puts here) is among them.
    pub headers: Headers,
}

/// Prints neither the query nor the value of a field: they may be secrets.
impl fmt::Debug for RequestHead {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RequestHead")
            .field("method", &self.method)
            .field("path", &self.path())
            .field("headers", &self.headers)
            .finish()
    }
}

impl RequestHead {
    /// A request head without fields.
    pub fn new(method: impl Into<String>, target: impl Into<String>) -> Self {
        Self { method: method.into(), target: target.into(), headers: Headers::new() }
    }

    /// The target without its query.
    pub fn path(&self) -> &str {
        self.target.split(['?', '#']).next().unwrap_or_default()
    }
}

/// The head of an HTTP response.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ResponseHead {
    /// The status code.
    pub status: u16,
    /// The fields.
    pub headers: Headers,
}

impl ResponseHead {
    /// A response head without fields.
    pub const fn new(status: u16) -> Self {
        Self { status, headers: Headers::new() }
    }
}

/// How the end of a body that is going to be sent can be told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BodyLength {
    /// There is no body; the message is complete with its head.
    Empty,
    /// So many bytes. What is sent beyond them is dropped; a body that stays shorter is cut off, and the
    /// connection closed so that the peer can tell.
    Known(u64),
    /// Unknown: chunked, or, in a response to an HTTP/1.0 client, until the connection is closed.
    Stream,
}

/// The declared length of the body, where there is a readable one.
pub(crate) fn declared_length(headers: &Headers) -> Option<u64> {
    headers.text("content-length").and_then(|value| value.parse().ok())
}

/// How a stream of bytes ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// In order: end of file, last chunk, `FIN`.
    Complete,
    /// By an error: reset, failed read or write, abort.
    Broken,
}
