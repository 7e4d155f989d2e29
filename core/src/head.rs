//! The heads of HTTP messages, as the exchange machines speak of them.
//!
//! Small on purpose: hyper, axum, a Worker or a browser's fetch can sit underneath, and core stays free of
//! the `http` crate. `wire::http1` (feature `http1`) reads and writes them as HTTP/1.1.

#[cfg(feature = "http")]
mod convert;
mod field;
mod headers;
mod whole;

use alloc::string::String;
use core::fmt;

pub(crate) use self::field::Field;
pub use self::headers::Headers;
#[cfg(feature = "http1")]
pub(crate) use self::headers::Span;
pub use self::whole::WholeBody;

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

    pub(crate) const fn none() -> Self {
        Self { method: String::new(), target: String::new(), headers: Headers::new() }
    }

    /// The target without its query.
    pub fn path(&self) -> &str {
        let end = self.target.bytes().position(|byte| matches!(byte, b'?' | b'#'));
        end.and_then(|end| self.target.get(..end)).unwrap_or(&self.target)
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
    headers.text_of(Field::ContentLength).and_then(|value| value.parse().ok())
}

/// How a stream of bytes ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// In order: end of file, last chunk, `FIN`.
    Complete,
    /// By an error: reset, failed read or write, abort.
    Broken,
}
