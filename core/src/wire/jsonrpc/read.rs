//! Bytes to messages.

use super::id::RequestId;
use super::message::{Message, Notification, Request, Response};
use super::note::{self, Note};
use super::raw;
use super::scan::{Broken, Cursor, Text};
use crate::error::{ErrorObject, PeerError, code};
use alloc::borrow::Cow;
use alloc::boxed::Box;
use alloc::format;
use alloc::string::String;
use core::fmt;
use serde::Deserialize;
use serde_json::value::RawValue;

/// Reads one message, or a batch of them.
///
/// `depth` bounds how deep arrays and objects nest, the message itself counted
/// ([`Limits::depth`](crate::limits::Limits::depth)).
///
/// Members that JSON-RPC does not know are ignored. A member that it does know may come once: of two,
/// different readers believe different ones. `params` is an object or absent: MCP has no positional
/// parameters, and JSON-RPC has no `null` there, so anything else is no request.
///
/// # Errors
///
/// - [`PARSE`](code::PARSE): the bytes are not UTF-8, not JSON, or nest deeper than `depth`. Carries the id of
///   what began as a response.
/// - [`INVALID_REQUEST`](code::INVALID_REQUEST): they are JSON but no message of JSON-RPC 2.0 as MCP has it.
///   Carries the id where one was readable.
///
/// <https://modelcontextprotocol.io/specification/2026-07-28/basic/index#messages>
pub fn read(bytes: &[u8], depth: usize) -> Result<Incoming<'_>, Malformed> {
    read_noting(bytes, depth, &mut ())
}

/// The same for what is known to be UTF-8, such as the data of an SSE event.
///
/// # Errors
///
/// As for [`read`].
pub fn read_text(text: &str, depth: usize) -> Result<Incoming<'_>, Malformed> {
    read_text_noting(text, depth, &mut ())
}

/// The same as [`read`] for whoever looks at the members of `params`, so that nobody has to go through them twice.
/// Members of what turns out to be no message, or one of a batch, mean nothing.
pub(crate) fn read_noting<'a>(
    bytes: &'a [u8],
    depth: usize,
    note: &mut impl Note<'a>,
) -> Result<Incoming<'a>, Malformed> {
    let text = core::str::from_utf8(bytes).map_err(|error| {
        let detail = format!("expected UTF-8, found another byte at offset {}", error.valid_up_to());
        Malformed::unreadable("the message is not UTF-8", detail, bytes)
    })?;
    read_text_noting(text, depth, note)
}

/// The same for text.
pub(crate) fn read_text_noting<'a>(
    text: &'a str,
    depth: usize,
    note: &mut impl Note<'a>,
) -> Result<Incoming<'a>, Malformed> {
    let mut cursor = Cursor::new(text, depth);
    let found = match cursor.peek() {
        Some(b'{') => Envelope::scan(&mut cursor, note).and_then(|envelope| {
            cursor.end()?;
            Ok(envelope.message().map(Incoming::Message))
        }),
        Some(b'[') => Batch::scan(cursor),
        _ => cursor.value().and_then(|scalar| {
            cursor.end()?;
            Ok(Err(no_object(scalar)))
        }),
    };
    found.unwrap_or_else(|broken| Err(Malformed::broken(broken, text)))
}

/// The id of a response of which only the beginning can be read, so that whoever waits for it can be told.
/// `None` if that is no response, or its id comes behind what is unreadable.
pub(crate) fn begun_response(bytes: &[u8]) -> Option<RequestId> {
    let valid = core::str::from_utf8(bytes).map_or_else(|error| error.valid_up_to(), |text| text.len());
    let text = core::str::from_utf8(bytes.get(..valid)?).ok()?;
    // What is in front of the id is hardly ever more than the version.
    let mut cursor = Cursor::new(text, 16);
    let (mut id, mut responds) = (None, false);
    cursor.open(b'{').ok()?;
    while let Ok(name) = cursor.name() {
        let member = Member::named(name);
        match member {
            Some(Member::Method) => return None,
            Some(Member::Id) if id.is_some() => return None,
            Some(Member::Result | Member::Error) => responds = true,
            _ => {}
        }
        let Ok(value) = cursor.value() else { break };
        if member == Some(Member::Id) {
            id = RequestId::from_json(value);
        }
        if !cursor.eat(b',') {
            break;
        }
    }
    id.filter(|_| responds)
}

/// What [`read`] found.
#[derive(Clone, Debug)]
pub enum Incoming<'a> {
    /// One message.
    Message(Message<'a>),
    /// An array of messages. Only revision 2025-03-26 has batches; on all others the whole is one
    /// [`INVALID_REQUEST`](code::INVALID_REQUEST).
    Batch(Batch<'a>),
}

/// What arrived is no message.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Malformed {
    /// The id, where one was readable.
    pub id: Option<RequestId>,
    /// What is wrong.
    pub error: PeerError,
    /// Whether it was meant as a response: it has a `result` or `error` and no `method`, as far as it can be
    /// read. Such a message ends the wait of the request with this id; answering it would start an exchange of errors without end.
    pub response: bool,
}

impl Malformed {
    fn new(
        id: Option<RequestId>,
        code: i32,
        message: impl Into<Cow<'static, str>>,
        detail: impl Into<String>,
    ) -> Self {
        Self { id, error: PeerError::new(code, message, detail), response: false }
    }

    fn unreadable(message: &'static str, detail: impl Into<String>, bytes: &[u8]) -> Self {
        let id = begun_response(bytes);
        Self { response: id.is_some(), ..Self::new(id, code::PARSE, message, detail) }
    }

    fn broken(broken: Broken, text: &str) -> Self {
        let bytes = text.as_bytes();
        match broken {
            Broken::Syntax { at } => {
                let detail = format!("expected JSON, found something else at byte {at}");
                Self::unreadable("the message is not JSON", detail, bytes)
            }
            Broken::Deep => {
                let detail = "arrays and objects nest deeper than `Limits::depth`";
                Self::unreadable("the message nests too deep", detail, bytes)
            }
        }
    }
}

fn no_object(json: &str) -> Malformed {
    let detail = format!("expected a JSON-RPC object, found {}", raw::kind_name(json));
    Malformed::new(None, code::INVALID_REQUEST, "the message is not a JSON-RPC object", detail)
}

/// The messages of a batch, in order; those that are none are errors of their own.
///
/// Read while iterating, so a batch costs no memory however many elements it has. It has at least one.
#[derive(Clone)]
pub struct Batch<'a> {
    cursor: Cursor<'a>,
    left: usize,
}

impl<'a> Batch<'a> {
    /// Checks the array as a whole: an error of syntax anywhere makes all of it unreadable.
    fn scan(mut cursor: Cursor<'a>) -> Result<Result<Incoming<'a>, Malformed>, Broken> {
        cursor.open(b'[')?;
        let first = cursor.clone();
        if cursor.close(b']') {
            cursor.end()?;
            let detail = "expected at least one message in a batch, found none";
            return Ok(Err(Malformed::new(None, code::INVALID_REQUEST, "the batch is empty", detail)));
        }
        let mut left = 1;
        cursor.value()?;
        while !cursor.close(b']') {
            cursor.expect(b',')?;
            cursor.value()?;
            left += 1;
        }
        cursor.end()?;
        Ok(Ok(Incoming::Batch(Self { cursor: first, left })))
    }
}

impl<'a> Iterator for Batch<'a> {
    type Item = Result<Message<'a>, Malformed>;

    fn next(&mut self) -> Option<Self::Item> {
        self.left = self.left.checked_sub(1)?;
        // Nothing is broken: the array was read as a whole before.
        let broken = |broken| Malformed::broken(broken, "");
        let message = if self.cursor.peek() == Some(b'{') {
            Envelope::scan(&mut self.cursor, &mut ()).map_err(broken).and_then(Envelope::message)
        } else {
            self.cursor.value().map_err(broken).and_then(|json| Err(no_object(json)))
        };
        self.cursor.eat(b',');
        Some(message)
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        (self.left, Some(self.left))
    }
}

impl ExactSizeIterator for Batch<'_> {}

impl fmt::Debug for Batch<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Batch({} messages)", self.left)
    }
}

/// The members of a message, as JSON text.
#[derive(Default)]
struct Envelope<'a> {
    members: [Option<&'a str>; 6],
    /// Whether a member came twice, and whether the id did.
    repeated: bool,
    repeated_id: bool,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Member {
    Jsonrpc,
    Id,
    Method,
    Params,
    Result,
    Error,
}

impl Member {
    fn named(name: Text<'_>) -> Option<Self> {
        Some(match &*name.decode()? {
            "jsonrpc" => Self::Jsonrpc,
            "id" => Self::Id,
            "method" => Self::Method,
            "params" => Self::Params,
            "result" => Self::Result,
            "error" => Self::Error,
            _ => return None,
        })
    }
}

impl<'a> Envelope<'a> {
    fn scan(cursor: &mut Cursor<'a>, note: &mut impl Note<'a>) -> Result<Self, Broken> {
        let mut envelope = Self::default();
        cursor.object(|cursor, name| {
            let member = Member::named(name);
            let value = match member {
                Some(Member::Params) => note::params(cursor, note)?,
                _ => cursor.value()?,
            };
            if let Some(member) = member
                && let Some(slot) = envelope.members.get_mut(member as usize)
                && slot.replace(value).is_some()
            {
                envelope.repeated = true;
                envelope.repeated_id |= member == Member::Id;
            }
            Ok(())
        })?;
        Ok(envelope)
    }

    fn get(&self, member: Member) -> Option<&'a str> {
        self.members.get(member as usize).copied().flatten()
    }

    fn has(&self, member: Member) -> bool {
        self.get(member).is_some()
    }

    fn message(self) -> Result<Message<'a>, Malformed> {
        let id = self.get(Member::Id).filter(|_| !self.repeated_id).and_then(RequestId::from_json);
        self.classify(id.clone()).map_err(|Flaw { message, detail }| Malformed {
            response: !self.has(Member::Method) && (self.has(Member::Result) || self.has(Member::Error)),
            ..Malformed::new(id, code::INVALID_REQUEST, message, detail)
        })
    }

    fn classify(&self, id: Option<RequestId>) -> Result<Message<'a>, Flaw> {
        if self.repeated {
            return Err(Flaw::new("a member of the message occurs twice"));
        }
        let version = self.get(Member::Jsonrpc);
        // As everybody writes it, or with escapes.
        if version != Some("\"2.0\"") && version.and_then(raw::string).as_deref() != Some("2.0") {
            return Err(Flaw::found("`jsonrpc` must be \"2.0\"", version));
        }
        let json = self.get(Member::Id);
        if id.is_none() && json.is_some_and(|json| json != "null" || self.has(Member::Method)) {
            return Err(Flaw::found("`id` must be a string or an integer", json));
        }
        match (self.get(Member::Method), self.get(Member::Result), self.get(Member::Error)) {
            (Some(method), None, None) => self.call(id, method),
            (None, Some(result), None) => match (id, raw::lend(result)) {
                (Some(id), Some(result)) => {
                    Ok(Message::Response(Response { id: Some(id), outcome: Ok(result) }))
                }
                _ => Err(Flaw::found("a `result` must have an `id`", json)),
            },
            (None, None, Some(error)) => {
                let Ok(WireError { code, message, data }) = serde_json::from_str(error) else {
                    return Err(Flaw::new("`error` must have an integer `code` and a string `message`"));
                };
                let mut outcome = ErrorObject::new(code, message);
                outcome.data = data;
                Ok(Message::Response(Response { id, outcome: Err(outcome) }))
            }
            _ => Err(Flaw::new("the message must have one of `method`, `result` and `error`")),
        }
    }

    fn call(&self, id: Option<RequestId>, method: &'a str) -> Result<Message<'a>, Flaw> {
        let Some(name) = raw::string(method) else {
            return Err(Flaw::found("`method` must be a string", Some(method)));
        };
        let params = match self.get(Member::Params) {
            None => None,
            Some(json) => match raw::lend(json) {
                Some(params) if json.starts_with('{') => Some(params),
                _ => return Err(Flaw::found("`params` must be an object", Some(json))),
            },
        };
        Ok(match id {
            Some(id) => Message::Request(Request { id, method: name, params }),
            None => Message::Notification(Notification { method: name, params }),
        })
    }
}

/// What is wrong with an envelope: for the peer, and for us.
struct Flaw {
    message: &'static str,
    detail: String,
}

impl Flaw {
    fn new(message: &'static str) -> Self {
        Self { message, detail: message.into() }
    }

    fn found(message: &'static str, json: Option<&str>) -> Self {
        Self { message, detail: format!("{message}, found {}", json.map_or("nothing", raw::kind_name)) }
    }
}

#[derive(Deserialize)]
struct WireError {
    code: i64,
    message: String,
    #[serde(default)]
    data: Option<Box<RawValue>>,
}

#[cfg(test)]
mod tests;
