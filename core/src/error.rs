//! Errors by blame: the peer's, the call's, the embedding application's.

use crate::client::{Continuation, TaskHandle, ToolReply, Unfinished, Unmet};
use crate::model::capabilities::ClientCapabilities;
use crate::model::error_data::{MissingRequiredClientCapabilityData, UnsupportedProtocolVersionData};
use crate::model::tasks::TASKS_EXTENSION;
use crate::text::{Excerpt, debug_like_display};
use alloc::borrow::Cow;
use alloc::boxed::Box;
use alloc::string::String;
use alloc::vec::Vec;
use core::fmt;

/// JSON-RPC and MCP error codes.
///
/// <https://modelcontextprotocol.io/specification/2026-07-28/basic/index#error-codes>
pub mod code {
    /// The bytes are not JSON.
    pub const PARSE: i32 = -32700;
    /// The JSON is not a request.
    pub const INVALID_REQUEST: i32 = -32600;
    /// No such method, or one behind a capability that was not advertised.
    pub const METHOD_NOT_FOUND: i32 = -32601;
    /// The parameters do not fit.
    pub const INVALID_PARAMS: i32 = -32602;
    /// The receiver failed.
    pub const INTERNAL: i32 = -32603;
    /// A resource was not found; legacy revisions only.
    pub const RESOURCE_NOT_FOUND: i32 = -32002;
    /// An HTTP header contradicts the body.
    pub const HEADER_MISMATCH: i32 = -32020;
    /// The request needs a capability that the client did not declare.
    pub const MISSING_CLIENT_CAPABILITY: i32 = -32021;
    /// The protocol version is not served.
    pub const UNSUPPORTED_PROTOCOL_VERSION: i32 = -32022;
    /// A URL has to be visited first; revision 2025-11-25 only.
    pub const URL_ELICITATION_REQUIRED: i32 = -32042;
}

/// The other side broke a rule.
///
/// Knows what to tell it: a code, a text and an HTTP status. The detail is for people on this side and never
/// leaves it.
#[derive(Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct PeerError {
    /// The JSON-RPC code that the peer is told.
    pub code: i32,
    /// The text that the peer is told. Constant, or made of member names and JSON types
    /// (`params.name: expected a string, found a number`); values that the peer sent are never in it.
    pub message: Cow<'static, str>,
    /// What happened, for people on this side: what was expected, what came. Holds no payload.
    pub detail: String,
}

impl PeerError {
    /// An error with the given code, public text and private detail.
    pub fn new(code: i32, message: impl Into<Cow<'static, str>>, detail: impl Into<String>) -> Self {
        Self { code, message: message.into(), detail: detail.into() }
    }

    /// The HTTP status that an error with this code travels with when it answers a POST.
    pub const fn status(&self) -> u16 {
        status_of(self.code)
    }
}

/// The HTTP status that a JSON-RPC error travels with: 400 for what makes the whole request unreadable or
/// inadmissible, 404 for an unknown method, 200 for ordinary errors.
pub const fn status_of(code: i32) -> u16 {
    match code {
        code::PARSE
        | code::INVALID_REQUEST
        | code::HEADER_MISMATCH
        | code::MISSING_CLIENT_CAPABILITY
        | code::UNSUPPORTED_PROTOCOL_VERSION => 400,
        code::METHOD_NOT_FOUND => 404,
        _ => 200,
    }
}

impl fmt::Display for PeerError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ({}): {}", self.message, self.code, self.detail)
    }
}

impl core::error::Error for PeerError {}

/// A JSON-RPC error object as it travels: what a server answered, or what ours answers.
#[derive(Clone)]
#[non_exhaustive]
pub struct ErrorObject {
    /// What kind of error; see [`code`] for the defined ones.
    pub code: i64,
    /// One sentence.
    pub message: String,
    /// Anything more, as JSON text.
    pub data: Option<Box<serde_json::value::RawValue>>,
}

/// Prints the beginning of the message, as `Display` does, and the length of the data.
impl fmt::Debug for ErrorObject {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let data = self.data.as_ref().map_or(0, |data| data.get().len());
        f.debug_struct("ErrorObject")
            .field("code", &self.code)
            .field("message", &format_args!("{}", Excerpt(&self.message)))
            .field("data", &format_args!("{data} bytes"))
            .finish()
    }
}

impl ErrorObject {
    /// An error without data.
    pub fn new(code: impl Into<i64>, message: impl Into<String>) -> Self {
        Self { code: code.into(), message: message.into(), data: None }
    }

    /// With JSON text as data.
    #[must_use]
    pub fn data(mut self, data: Box<serde_json::value::RawValue>) -> Self {
        self.data = Some(data);
        self
    }
}

impl PartialEq for ErrorObject {
    fn eq(&self, other: &Self) -> bool {
        fn text(error: &ErrorObject) -> Option<&str> {
            error.data.as_ref().map(|data| data.get())
        }
        self.code == other.code && self.message == other.message && text(self) == text(other)
    }
}

impl From<PeerError> for ErrorObject {
    fn from(error: PeerError) -> Self {
        Self::new(error.code, error.message)
    }
}

/// Shows the beginning of a long message; the whole is in the field.
impl fmt::Display for ErrorObject {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ({})", Excerpt(&self.message), self.code)
    }
}

/// How a call ended when it did not end with a result. For the application that made the call.
#[derive(Clone, PartialEq)]
#[non_exhaustive]
pub enum CallError {
    /// The server answered with an error. `status` is the HTTP status it came with, where there was one.
    Server {
        /// The error as the server sent it.
        error: ErrorObject,
        /// The HTTP status, when it was not 200.
        status: Option<HttpStatus>,
    },
    /// The server, or somebody on the way to it, refused the request with an HTTP status and no error of the protocol.
    Refused {
        /// The HTTP status.
        status: HttpStatus,
        /// What it said: the beginning of the body, or what is wrong with that. May be empty.
        reason: String,
    },
    /// No answer in time; the server was told that the call is abandoned.
    TimedOut {
        /// How long the call waited.
        after: core::time::Duration,
    },
    /// The application cancelled the call.
    Cancelled,
    /// The reply is larger than [`Limits`](crate::limits::Limits) allow.
    TooLarge {
        /// The bound that was passed, in bytes.
        limit: usize,
    },
    /// The server does not offer what the call needs; nothing was sent.
    Unsupported {
        /// What is missing, in the words of the specification.
        what: String,
        /// The capability that the server did not declare; `None` when its revision has no such method.
        capability: Option<&'static str>,
    },
    /// A schema of the tool is written in a dialect that is not supported; nothing was sent. Not with
    /// [`OutputCheck::Off`](crate::schema::OutputCheck::Off).
    UnsupportedDialect {
        /// Which tool, schema and dialect, and which dialects are supported.
        reason: String,
    },
    /// The tool has run, and its structured content does not fit the output schema under which it was called, or is
    /// missing. Only with [`OutputCheck::Strict`](crate::schema::OutputCheck::Strict).
    Misfit {
        /// The result; its `misfit` says what does not fit.
        reply: Box<ToolReply>,
    },
    /// The connection ended, or could not be made; says why, from whom, and what was seen last.
    Broken {
        /// What happened.
        reason: String,
        /// Whether the request surely was not carried out, so that it may be sent again.
        unsent: bool,
    },
    /// The server and this client have no revision in common.
    NoCommonRevision {
        /// What was asked, which revisions the server named, and which are spoken here.
        reason: String,
        /// The revisions that the server named.
        supported: Vec<String>,
    },
    /// A modern server ended the response stream without the response, and did so again when the request was made for
    /// the second time (HTTP-28). Whether it was carried out is unknown.
    ResponseStreamClosed,
    /// The server answered, but not as the protocol demands.
    Invalid {
        /// What was expected and what came.
        reason: String,
    },
    /// The server wants to be told more before it goes on (`input_required`), and was not.
    InputRequired {
        /// Why not.
        why: Unmet,
        /// What is needed to go on with the call after all.
        continuation: Box<Continuation>,
    },
    /// The call went on as a task, and that brought no outcome. With the handle it can be waited for again, answered or
    /// taken back, where it still goes on.
    Unfinished {
        /// Why not.
        why: Box<Unfinished>,
        /// The task.
        task: Box<TaskHandle>,
    },
    /// The call failed after the server had asked for input (`input_required`): in a later round, or while it waited for
    /// an answer. What people have answered till then is not lost. See [`cause`](Self::cause) and
    /// [`continuation`](Self::continuation), which look into this as well.
    Interrupted {
        /// How the call ended. Never one of these two.
        cause: Box<CallError>,
        /// What is needed to go on with it by [`Resume`](crate::client::Resume). If the server has carried out the last
        /// round, although its answer was not heard, that is done twice.
        continuation: Box<Continuation>,
    },
    /// The server wants authorization: HTTP status 401, or 403 with a challenge. Any other 403 is
    /// [`Server`](Self::Server) or [`Refused`](Self::Refused).
    Unauthorized {
        /// The HTTP status.
        status: HttpStatus,
        /// Why the client is not authorized, or not enough; empty when nobody tried.
        reason: String,
        /// What was tried, a line each.
        record: String,
    },
    /// Too much is under way already; see the named bound in [`Limits`](crate::limits::Limits).
    Full(Full),
    /// The call was made in a way that cannot be; nothing was sent.
    Misuse(ApiMisuse),
}

impl CallError {
    /// The task that the call went on as, when it is not known what came of that.
    pub fn task(&self) -> Option<&TaskHandle> {
        match self {
            Self::Unfinished { task, .. } => Some(task),
            _ => None,
        }
    }

    /// How the call ended, whether or not the server had asked for input before: the cause of
    /// [`Interrupted`](Self::Interrupted), or the error itself.
    pub fn cause(&self) -> &Self {
        match self {
            Self::Interrupted { cause, .. } => cause,
            error => error,
        }
    }

    /// What is needed to go on with the call, with the answers that were given till then: there whenever a modern
    /// server had asked for input before the call ended.
    ///
    /// A call that goes on by [`Resume`](crate::client::Resume) and fails before the server asks anything more has none:
    /// whoever made it can make it again.
    pub fn continuation(&self) -> Option<&Continuation> {
        match self {
            Self::InputRequired { continuation, .. } | Self::Interrupted { continuation, .. } => {
                Some(continuation)
            }
            _ => None,
        }
    }

    /// Whether the server found that a header of the request contradicts its body (-32020). A call of a tool is made
    /// again by itself, once the tool has been listed anew; so somebody on the way may have changed the header, or the
    /// server is wrong.
    pub fn is_header_mismatch(&self) -> bool {
        self.server_error(code::HEADER_MISMATCH).is_some()
    }

    /// The capabilities that the request needs and this client did not declare (-32021); empty when the server does not
    /// say which. `None` for every other error.
    ///
    /// ```
    /// # use mcp_proto::error::{CallError, ErrorObject};
    /// # let data = serde_json::value::RawValue::from_string(r#"{"requiredCapabilities":{"roots":{}}}"#.into()).unwrap();
    /// # let error = CallError::Server { error: ErrorObject::new(-32021, "no roots").data(data), status: None };
    /// if let Some(missing) = error.missing_capabilities() {
    ///     assert!(missing.roots.is_some());
    /// }
    /// ```
    pub fn missing_capabilities(&self) -> Option<ClientCapabilities> {
        let error = self.server_error(code::MISSING_CLIENT_CAPABILITY)?;
        let data = MissingRequiredClientCapabilityData::of(error);
        Some(data.map(|data| data.required_capabilities).unwrap_or_default())
    }

    /// The revisions that the server speaks, when it does not speak the one that it was asked for (-32022), or none that
    /// this client speaks; empty when it does not say which. `None` for every other error.
    pub fn supported_versions(&self) -> Option<Vec<String>> {
        if let Self::NoCommonRevision { supported, .. } = self.cause() {
            return Some(supported.clone());
        }
        let error = self.server_error(code::UNSUPPORTED_PROTOCOL_VERSION)?;
        Some(UnsupportedProtocolVersionData::of(error).map(|data| data.supported).unwrap_or_default())
    }

    /// What the server answered, if it was an error with this code.
    fn server_error(&self, code: i32) -> Option<&ErrorObject> {
        match self.cause() {
            Self::Server { error, .. } if error.code == i64::from(code) => Some(error),
            _ => None,
        }
    }

    /// Whether the server answered a [`ReadResource`](crate::client::ReadResource) that there is no such
    /// resource (RES-17).
    ///
    /// Legacy servers have a code for this; modern ones say that the parameters are wrong, which on a read is
    /// the URI. The error of another call can look the same and mean something else.
    pub fn is_resource_not_found(&self) -> bool {
        [code::RESOURCE_NOT_FOUND, code::INVALID_PARAMS]
            .into_iter()
            .any(|code| self.server_error(code).is_some())
    }
}

impl fmt::Display for CallError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Server { error, status } => {
                write!(f, "the server answered with an error: {error}")?;
                if let Some(status) = status {
                    write!(f, ", {status}")?;
                }
                for (count, method) in declared_by(error).into_iter().enumerate() {
                    let before = if count == 0 { "; a client declares that by" } else { " and" };
                    write!(f, "{before} `ClientBuilder::{method}`")?;
                }
                Ok(())
            }
            Self::Refused { status, reason } => {
                let meaning = match status.code {
                    413 => " (the request is larger than the server accepts)",
                    431 => " (the request has more or longer fields than the server accepts)",
                    _ => "",
                };
                write!(f, "the server refused the request: {status}{meaning}")?;
                if reason.is_empty() { Ok(()) } else { write!(f, ": {reason}") }
            }
            Self::TimedOut { after } => write!(f, "no answer within {after:?}; the call was cancelled"),
            Self::Cancelled => f.write_str("the call was cancelled"),
            Self::TooLarge { limit } => {
                write!(f, "the reply is longer than {limit} bytes; raise `Limits::message` to accept it")
            }
            Self::Unsupported { what, .. } => write!(f, "the server does not offer {what}; nothing was sent"),
            Self::UnsupportedDialect { reason } => write!(f, "{reason}; nothing was sent"),
            Self::Misfit { reply } => {
                f.write_str("the result of the tool does not fit its output schema")?;
                reply.misfit.as_ref().map_or(Ok(()), |mismatch| write!(f, ": {mismatch}"))
            }
            Self::Broken { reason, .. } | Self::NoCommonRevision { reason, .. } => f.write_str(reason),
            Self::ResponseStreamClosed => f.write_str(
                "the server ended the response stream without the response, and again when the request was made for \
                 the second time; whether it was carried out is unknown",
            ),
            Self::Invalid { reason } => write!(f, "the server broke the protocol: {reason}"),
            Self::InputRequired { why, .. } => write!(f, "the server needs input before it can go on: {why}"),
            Self::Unfinished { why, .. } => write!(f, "the call went on as a task, which {why}"),
            Self::Interrupted { cause, .. } => {
                write!(f, "{cause}; what was answered before is in `CallError::continuation`")
            }
            Self::Unauthorized { status, reason, .. } if reason.is_empty() => write!(
                f,
                "the server wants authorization ({status}): give it a token as a header (`ClientBuilder::header`), or \
                 let the client get one (`ClientBuilder::authorize`, of the feature `auth`)"
            ),
            Self::Unauthorized { status, reason, .. } => {
                write!(f, "the server wants authorization ({status}): {reason}")
            }
            Self::Full(full) => full.fmt(f),
            Self::Misuse(misuse) => misuse.fmt(f),
        }
    }
}

impl core::error::Error for CallError {}

impl From<Full> for CallError {
    fn from(full: Full) -> Self {
        Self::Full(full)
    }
}

/// What an application does to declare the capabilities that an error says are missing (META-16).
fn declared_by(error: &ErrorObject) -> Vec<&'static str> {
    let Some(MissingRequiredClientCapabilityData { required_capabilities: needed, .. }) =
        MissingRequiredClientCapabilityData::of(error)
    else {
        return Vec::new();
    };
    let method = |name: &String| match name.as_str() {
        "elicitation" | "elicitation.form" => Some("on_elicit"),
        "elicitation.url" => Some("on_elicit_url"),
        "sampling" => Some("on_sample"),
        "sampling.tools" => Some("on_sample_with_tools"),
        "sampling.context" => Some("sample_context"),
        "roots" => Some("roots"),
        TASKS_EXTENSION => Some("tasks"),
        _ => None,
    };
    needed.names().iter().filter_map(method).collect()
}

/// The HTTP status of a response other than success, and where it came from.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct HttpStatus {
    /// The status, such as 404.
    pub code: u16,
    /// The URL that was asked, as far as it may be told: without its query, and without the path where that names a
    /// session.
    pub url: String,
}

impl HttpStatus {
    /// A status of a response from this URL.
    pub fn new(code: u16, url: impl Into<String>) -> Self {
        Self { code, url: url.into() }
    }
}

impl fmt::Display for HttpStatus {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "HTTP status {} from {}", self.code, self.url)
    }
}

/// A bound of [`Limits`](crate::limits::Limits) is reached; try again when something has finished.
#[derive(Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Full {
    /// The field of `Limits`.
    pub limit: &'static str,
    /// Its value.
    pub value: usize,
}

impl Full {
    /// The bound called `limit`, which stands at `value`, is reached.
    pub const fn new(limit: &'static str, value: usize) -> Self {
        Self { limit, value }
    }
}

impl fmt::Display for Full {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "`Limits::{}` is reached ({}); wait for something to finish, or raise it",
            self.limit, self.value
        )
    }
}

impl core::error::Error for Full {}

/// A mistake of the program that uses this library, not of its peer.
#[derive(Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct ApiMisuse {
    /// What was done and what to do instead.
    pub message: String,
}

impl ApiMisuse {
    /// A misuse, described.
    pub fn new(message: impl Into<String>) -> Self {
        Self { message: message.into() }
    }
}

impl fmt::Display for ApiMisuse {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl core::error::Error for ApiMisuse {}

debug_like_display!(PeerError, CallError, Full, ApiMisuse);
