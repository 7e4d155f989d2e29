//! HTTP with SSE, the transport of 2024-11-05, which revision 2025-03-26 replaced: a client opens an event stream,
//! is told where to POST its messages, and whatever the server has to say, answers included, comes on the stream.
//!
//! The stream is an [`Exchange`](super::Exchange) with a [`Connection`](super::Connection) inside; each message
//! comes in an exchange of its own, and finds the stream through this table.
//!
//! <https://modelcontextprotocol.io/specification/2024-11-05/basic/transports#http-with-sse>

use alloc::collections::{BTreeMap, VecDeque};
use alloc::string::String;
use alloc::sync::Arc;
use core::fmt;

use super::exchange::ExchangeId;
use super::policy::HttpPolicy;
use super::principal::Principal;
use super::sessions::{Caller, SessionId};
use crate::entropy::{Entropy, Seed};
use crate::error::ApiMisuse;
use crate::limits::Limits;

/// Where HTTP with SSE is served, beside the MCP endpoint (SSEL-11).
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct HttpSse {
    /// The path of the event stream; SDKs of the time use `/sse`.
    pub sse: String,
    /// The path that clients POST messages to; SDKs of the time use `/messages`.
    pub messages: String,
}

impl HttpSse {
    /// Served at these paths.
    pub fn new(sse: impl Into<String>, messages: impl Into<String>) -> Self {
        Self { sse: sse.into(), messages: messages.into() }
    }

    /// Whether a server with this policy can be told which path is which.
    ///
    /// # Errors
    /// When a path is none, or two are the same.
    pub fn check(&self, policy: &HttpPolicy) -> Result<(), ApiMisuse> {
        let [sse, messages] = [&*self.sse, &*self.messages];
        let of_a_path = |path: &str| path.starts_with('/') && !path.contains(['?', '#', ' ', '\r', '\n']);
        if !of_a_path(sse) || !of_a_path(messages) {
            return Err(ApiMisuse::new("the paths of HTTP with SSE must begin with `/`, and have no query"));
        }
        let mcp = policy.path.as_deref();
        if sse == messages || [sse, messages].iter().any(|path| mcp == Some(path)) {
            return Err(ApiMisuse::new(
                "the paths of HTTP with SSE must differ, also from the MCP endpoint's",
            ));
        }
        Ok(())
    }

    /// What a client is told to POST to: the path with the name of its session.
    pub(super) fn endpoint(&self, session: &SessionId) -> String {
        alloc::format!("{}?{SESSION}={}", self.messages, session.as_str())
    }
}

/// The parameter of the query that names the session.
const SESSION: &str = "sessionId";

/// The session that the target of a request names in its query.
pub(super) fn session(target: &str) -> Option<SessionId> {
    let (_, query) = target.split_once('?')?;
    let value = query.split('&').find_map(|pair| pair.strip_prefix(SESSION)?.strip_prefix('='))?;
    Some(SessionId::new(value))
}

/// The open event streams of one server, each a session. Bounded by
/// [`Limits::sessions`](crate::limits::Limits::sessions).
#[derive(Debug)]
pub struct SseSessions {
    open: BTreeMap<SessionId, Stream>,
    outputs: VecDeque<SseOutput>,
    entropy: Entropy,
    most: usize,
}

#[derive(Debug)]
struct Stream {
    exchange: ExchangeId,
    /// Who opened it.
    caller: Caller,
    /// Whether it takes messages: a client that does not read what it is sent is to send no more.
    takes: bool,
}

impl Stream {
    /// Whether somebody may send on it. A client from which no origin came may be a page that reads from where it
    /// came from; that says its origin only when it sends.
    fn is_of(&self, caller: &Caller) -> bool {
        let opened = &self.caller;
        opened.owner == caller.owner && (opened.origin.is_none() || opened.origin == caller.origin)
    }
}

impl SseSessions {
    /// An empty table. The seed makes the names; nobody may be able to guess it (SEC-12).
    pub fn new(limits: &Limits, seed: Seed) -> Self {
        Self {
            open: BTreeMap::new(),
            outputs: VecDeque::new(),
            entropy: Entropy::new(seed),
            most: limits.sessions,
        }
    }

    /// Answers an exchange.
    pub fn handle_query(&mut self, query: SseQuery) -> SseAnswer {
        match query {
            SseQuery::Open { exchange, caller } => {
                if self.open.len() >= self.most {
                    return SseAnswer::Full;
                }
                let session = SessionId::random(&mut self.entropy);
                self.open.insert(session.clone(), Stream { exchange, caller, takes: true });
                SseAnswer::Opened { session }
            }
            SseQuery::Send { session, message, caller, sender } => {
                match self.open.get(&session).filter(|stream| stream.is_of(&caller)) {
                    None => SseAnswer::Missing,
                    Some(stream) if !stream.takes => SseAnswer::Stalled,
                    Some(stream) => {
                        let exchange = stream.exchange;
                        self.outputs.push_back(SseOutput { exchange, message, sender });
                        SseAnswer::Done
                    }
                }
            }
            SseQuery::Takes { session, takes } => {
                if let Some(stream) = self.open.get_mut(&session) {
                    stream.takes = takes;
                }
                SseAnswer::Done
            }
            SseQuery::Close { session } => {
                self.open.remove(&session);
                SseAnswer::Done
            }
        }
    }

    /// A message for a stream; `None` when there is nothing more.
    pub fn poll_output(&mut self) -> Option<SseOutput> {
        self.outputs.pop_front()
    }

    /// The exchanges that carry the open streams.
    pub fn exchanges(&self) -> impl Iterator<Item = ExchangeId> + '_ {
        self.open.values().map(|stream| stream.exchange)
    }

    /// How many streams are open.
    pub fn len(&self) -> usize {
        self.open.len()
    }

    /// Whether no stream is open.
    pub fn is_empty(&self) -> bool {
        self.open.is_empty()
    }
}

/// What an exchange asks of the table. Prints without the message.
#[derive(Clone)]
#[non_exhaustive]
pub enum SseQuery {
    /// A client wants a stream.
    Open {
        /// The exchange that is to carry it, and has to be found by its id from now on.
        exchange: ExchangeId,
        /// Who it is.
        caller: Caller,
    },
    /// A client sends a message.
    Send {
        /// The session that it names.
        session: SessionId,
        /// The message, without a line end in it.
        message: String,
        /// Who sends it.
        caller: Caller,
        /// The same as the application has recognised it, with the scopes of the token that came with the message.
        sender: Option<Arc<Principal>>,
    },
    /// Whether a stream takes further messages has changed.
    Takes {
        /// Its session.
        session: SessionId,
        /// Whether it does.
        takes: bool,
    },
    /// A stream is over, and with it its session.
    Close {
        /// The session.
        session: SessionId,
    },
}

impl SseQuery {
    /// The query as of this owner, where the application binds sessions to something else than the subject of a
    /// principal.
    #[must_use]
    pub fn owned_by(mut self, owner: Option<Arc<str>>) -> Self {
        if let Self::Open { caller, .. } | Self::Send { caller, .. } = &mut self {
            caller.owner = owner;
        }
        self
    }

    /// Whether a client asks, and not an exchange that was let in before.
    pub fn is_of_client(&self) -> bool {
        matches!(self, Self::Open { .. } | Self::Send { .. })
    }
}

impl fmt::Debug for SseQuery {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Open { .. } => "SseQuery::Open(..)",
            Self::Send { .. } => "SseQuery::Send(..)",
            Self::Takes { .. } => "SseQuery::Takes(..)",
            Self::Close { .. } => "SseQuery::Close(..)",
        })
    }
}

/// What the table says.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum SseAnswer {
    /// The stream is open.
    Opened {
        /// Its session.
        session: SessionId,
    },
    /// Done; a message goes to its stream.
    Done,
    /// There is no such session, for this client.
    Missing,
    /// As many are open as may be.
    Full,
    /// The stream takes no message for now: its client does not read what it is sent, or the server is busy.
    Stalled,
}

/// A message that goes to [`Exchange::handle_message`](super::Exchange::handle_message). Prints without it.
#[derive(Clone)]
#[non_exhaustive]
pub struct SseOutput {
    /// The exchange that it is for.
    pub exchange: ExchangeId,
    /// The message.
    pub message: String,
    /// Who sent it, as far as that was recognised.
    pub sender: Option<Arc<Principal>>,
}

impl fmt::Debug for SseOutput {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SseOutput").field("exchange", &self.exchange).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests;
