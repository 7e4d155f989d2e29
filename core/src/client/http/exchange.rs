//! One HTTP exchange: what it is for, and how far its response has been read.

use super::coded::{ACCEPTED, foreign_coding};
use super::{ExchangeId, HttpRequest};
use crate::client::asks::AskId;
use crate::client::calls::CallId;
use crate::client::config::Config;
use crate::dialect::Revision;
use crate::head::{Headers, ResponseHead};
use crate::time::{Duration, Instant};
use crate::wire::sse::Decoder;
use alloc::format;
use alloc::string::String;
use alloc::sync::Arc;
use alloc::vec::Vec;
use core::fmt;

/// As much as is kept of a body that explains a refusal.
const REFUSAL: usize = 64 << 10;

#[derive(Debug)]
pub(super) struct Exchange {
    pub(super) purpose: Purpose,
    pub(super) request: Arc<HttpRequest>,
    /// The revision in its `MCP-Protocol-Version` header.
    pub(super) revision: Option<Revision>,
    /// The first of those that it goes on for.
    pub(super) origin: ExchangeId,
    /// Which session it belongs to.
    pub(super) generation: u32,
    /// Counts authorizations: the one that there was when it began.
    pub(super) authorization: u64,
    pub(super) redirects: usize,
    /// What its request went out with besides its own fields.
    pub(super) credentials: Headers,
    /// Something in its stream was skipped, and that was said.
    pub(super) skipped: bool,
    /// How long the server that refuses it wants to be left alone.
    pub(super) retry_after: Option<Duration>,
    pub(super) reading: Reading,
    /// Of a response that is compressed.
    #[cfg(feature = "gzip")]
    pub(super) inflater: Option<alloc::boxed::Box<crate::wire::inflate::Inflater>>,
    /// What it came to, since the last message.
    #[cfg(feature = "gzip")]
    pub(super) inflated: usize,
    /// When it is cut off although it has not ended.
    pub(super) cut: Option<Instant>,
}

/// What is to become of the response.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Purpose {
    /// It answers the probe or the handshake.
    Opening,
    /// It confirms the end of the handshake.
    Initialized,
    /// It answers a call.
    Call(CallId),
    /// It goes on where the response to a call broke off.
    Resume(CallId),
    /// It carries what the server says of itself.
    Listen,
    /// It carries whatever the server says (HTTP with SSE).
    Stream,
    /// It carries a subscription, which the request with this id asked for.
    Subscription(i64),
    /// Nothing, but a request of the server waits for what it brings there; the request came on the stream of this call.
    Answer(AskId, Option<CallId>),
    /// Nothing.
    Notice,
    /// It confirms the end of the session.
    Delete,
}

impl Purpose {
    /// The call that waits for it.
    pub(super) fn call(self) -> Option<CallId> {
        match self {
            Self::Call(id) | Self::Resume(id) => Some(id),
            _ => None,
        }
    }

    /// The call whose time stands still while it is held.
    pub(super) fn waiting(self) -> Option<CallId> {
        match self {
            Self::Answer(_, call) => call,
            purpose => purpose.call(),
        }
    }

    /// Whether the message is not answered, so that only the status counts.
    pub(super) fn is_unanswered(self) -> bool {
        matches!(self, Self::Initialized | Self::Answer(..) | Self::Notice | Self::Delete)
    }
}

/// A response as it is read.
pub(super) enum Reading {
    /// Its head has not come.
    Head,
    /// One message.
    Body(Vec<u8>),
    /// An event stream.
    Events(Decoder),
    /// A status other than success, and why.
    Refusal { status: u16, body: Vec<u8> },
    /// Nothing more of it is wanted.
    Nothing,
}

/// Prints the length of what has come only.
impl fmt::Debug for Reading {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Head => f.write_str("Head"),
            Self::Body(bytes) => write!(f, "Body({} bytes)", bytes.len()),
            Self::Events(decoder) => f.debug_tuple("Events").field(decoder).finish(),
            Self::Refusal { status, body } => write!(f, "Refusal({status}, {} bytes)", body.len()),
            Self::Nothing => f.write_str("Nothing"),
        }
    }
}

/// What a head says is wrong with a response.
#[derive(Debug)]
pub(super) struct Unusable(pub(super) String);

impl Reading {
    /// How to read the body behind this head.
    pub(super) fn behind(head: &ResponseHead, config: &Config) -> Result<Self, Unusable> {
        // Its status says enough, whatever the body is.
        if !(200..300).contains(&head.status) {
            return Ok(Self::Refusal { status: head.status, body: Vec::new() });
        }
        if let Some(coding) = foreign_coding(head) {
            return Err(Unusable(format!(
                "the response has the content coding `{coding}`, which was not asked for; asked for was `{ACCEPTED}`"
            )));
        }
        let kind = head.headers.text("content-type").map(media_type);
        match kind.as_deref() {
            Some("text/event-stream") => {
                Ok(Self::Events(Decoder::new(config.limits.message, config.limits.event_id)))
            }
            _ if matches!(head.status, 202 | 204 | 205) => Err(Unusable(format!(
                "the server accepted the request (HTTP {}) and does not answer it",
                head.status
            ))),
            Some("application/json") => Ok(Self::Body(Vec::new())),
            // Without a type, the body is what it turns out to be.
            None if config.leniency.untyped_body => Ok(Self::Body(Vec::new())),
            other => Err(Unusable(format!(
                "expected a response of type `application/json` or `text/event-stream`, found {}",
                other.map_or("none".into(), |other| format!("`{}`", crate::text::excerpt(other)))
            ))),
        }
    }

    /// Takes a part of a body that is read as a whole. The error is the bound that it passed.
    pub(super) fn collect(&mut self, bytes: &[u8], limit: usize) -> Result<(), usize> {
        match self {
            Self::Body(body) => {
                if bytes.len() > limit.saturating_sub(body.len()) {
                    return Err(limit);
                }
                body.extend_from_slice(bytes);
            }
            Self::Refusal { body, .. } => {
                let room = REFUSAL.min(limit).saturating_sub(body.len());
                body.extend_from_slice(bytes.get(..room).unwrap_or(bytes));
            }
            Self::Head | Self::Events(_) | Self::Nothing => {}
        }
        Ok(())
    }
}

/// A media type without its parameters, in lower case.
fn media_type(value: &str) -> String {
    value.split(';').next().unwrap_or_default().trim().to_ascii_lowercase()
}

/// What else the machine is to be woken for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Wake {
    /// An exchange that has served its purpose goes on for too long.
    Cut(ExchangeId),
    /// A broken response may be resumed now.
    Resume(CallId),
    /// A request that was not carried out may be sent again now.
    Repeat(CallId),
    /// The handshake of a new session may be made again.
    Greet,
    /// The stream for messages of the server may be opened again.
    Listen,
    /// It was waited for long enough.
    Hear,
    /// An exchange waits for authorization for too long.
    Held(ExchangeId),
}
