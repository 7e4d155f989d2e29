//! What exchanges and the table of sessions say to each other.

use alloc::boxed::Box;
use alloc::string::String;
use alloc::sync::Arc;
use alloc::vec::Vec;
use core::fmt;

use super::SessionId;
use super::caller::Caller;
use super::streams::Listening;
use crate::model::logging::LoggingLevel;
use crate::server::asks::ClientResponse;
use crate::server::dispatch::Plan;
use crate::server::events::{Event, StreamId};
use crate::server::exchange::ExchangeId;
use crate::server::session::SessionState;
use crate::wire::jsonrpc::RequestId;

/// What an exchange asks of the table.
#[derive(Clone)]
#[non_exhaustive]
pub enum SessionQuery {
    /// A handshake succeeded: open a session.
    Open {
        /// What was agreed.
        state: SessionState,
    },
    /// What is the state of this session?
    Load {
        /// The session.
        session: SessionId,
    },
    /// A request begins that may be cancelled from another exchange.
    Begin {
        /// The session.
        session: SessionId,
        /// The request.
        request: RequestId,
        /// The exchange that carries it.
        exchange: ExchangeId,
    },
    /// The calls of a batch begin, all or none of them; where the revision has no batches, none.
    BeginBatch {
        /// The session.
        session: SessionId,
        /// Their requests, each once.
        requests: Vec<RequestId>,
        /// The exchange that carries them.
        exchange: ExchangeId,
    },
    /// That request is over.
    Finish {
        /// The session.
        session: SessionId,
        /// The request.
        request: RequestId,
        /// The exchange that carried it. A request of another exchange with the same id is another one.
        exchange: ExchangeId,
    },
    /// The client cancels a request that another exchange carries.
    Cancel {
        /// The session.
        session: SessionId,
        /// The request.
        request: RequestId,
    },
    /// The client has answered what another exchange asked; answered [`SessionAnswer::Delivered`] when that one
    /// carries a call of this session, [`SessionAnswer::Done`] when nobody waits.
    Answer {
        /// The session.
        session: SessionId,
        /// The response.
        response: ClientResponse,
    },
    /// The client has said that it is ready; answered [`SessionAnswer::Done`] when it had said so before.
    Initialized {
        /// The session.
        session: SessionId,
    },
    /// The client wants log messages from this level on.
    SetLevel {
        /// The session.
        session: SessionId,
        /// The least severe level.
        level: LoggingLevel,
    },
    /// The client wants to be told of updates of this resource.
    Watch {
        /// The session.
        session: SessionId,
        /// The resource.
        uri: Arc<str>,
    },
    /// It no longer wants that.
    Unwatch {
        /// The session.
        session: SessionId,
        /// The resource.
        uri: Arc<str>,
    },
    /// The client is done with the session.
    End {
        /// The session.
        session: SessionId,
    },
    /// A client wants to listen: on the stream of its session, or on one that broke off.
    Listen {
        /// The session.
        session: SessionId,
        /// The exchange that is to carry the stream.
        exchange: ExchangeId,
        /// The event that the stream broke off after.
        after: Option<String>,
    },
    /// A request has said something on a stream that can be taken up again.
    Record {
        /// The session.
        session: SessionId,
        /// What it said.
        event: Event,
    },
    /// An exchange carries nothing of the session any more: no stream, and no request.
    Detach {
        /// The session.
        session: SessionId,
        /// The exchange.
        exchange: ExchangeId,
    },
    /// A query of somebody who is known, or of a web page. Whose session it is not, for him it is not there.
    As {
        /// Who asks.
        caller: Caller,
        /// The query.
        query: Box<SessionQuery>,
    },
}

/// Prints what is asked, and for which request and exchange.
impl fmt::Debug for SessionQuery {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Open { state } => f.debug_tuple("Open").field(state).finish(),
            Self::Load { .. } => f.write_str("Load"),
            Self::Begin { request, exchange, .. } => {
                f.debug_tuple("Begin").field(request).field(exchange).finish()
            }
            Self::BeginBatch { requests, exchange, .. } => {
                f.debug_tuple("BeginBatch").field(requests).field(exchange).finish()
            }
            Self::Finish { request, exchange, .. } => {
                f.debug_tuple("Finish").field(request).field(exchange).finish()
            }
            Self::Cancel { request, .. } => f.debug_tuple("Cancel").field(request).finish(),
            Self::Answer { response, .. } => f.debug_tuple("Answer").field(response).finish(),
            Self::Initialized { .. } => f.write_str("Initialized"),
            Self::SetLevel { level, .. } => f.debug_tuple("SetLevel").field(level).finish(),
            Self::Watch { .. } => f.write_str("Watch"),
            Self::Unwatch { .. } => f.write_str("Unwatch"),
            Self::End { .. } => f.write_str("End"),
            Self::Listen { exchange, after, .. } => {
                f.debug_tuple("Listen").field(exchange).field(&after.is_some()).finish()
            }
            Self::Record { event, .. } => f.debug_tuple("Record").field(event).finish(),
            Self::Detach { exchange, .. } => f.debug_tuple("Detach").field(exchange).finish(),
            Self::As { caller, query } => f.debug_tuple("As").field(caller).field(query).finish(),
        }
    }
}

impl SessionQuery {
    /// The session that a client asks for. `None` when it asks for none, and when it is not the client who
    /// asks but an exchange that was let in before.
    pub fn session(&self) -> Option<&SessionId> {
        match self {
            Self::Load { session }
            | Self::Begin { session, .. }
            | Self::BeginBatch { session, .. }
            | Self::Cancel { session, .. }
            | Self::Answer { session, .. }
            | Self::Initialized { session }
            | Self::SetLevel { session, .. }
            | Self::Watch { session, .. }
            | Self::Unwatch { session, .. }
            | Self::End { session }
            | Self::Listen { session, .. } => Some(session),
            Self::As { query, .. } => query.session(),
            Self::Open { .. } | Self::Finish { .. } | Self::Record { .. } | Self::Detach { .. } => None,
        }
    }

    /// The query as of this owner: the application binds sessions to something else than the subject of a
    /// principal, such as a tenant or a certificate.
    #[must_use]
    pub fn owned_by(self, owner: Option<Arc<str>>) -> Self {
        let (mut caller, query) = match self {
            Self::As { caller, query } => (caller, query),
            query => (Caller::default(), Box::new(query)),
        };
        caller.owner = owner;
        Self::As { caller, query }
    }

    /// Whether the state of a session is another one after it: one that begins, or changes. What ends a session is
    /// [`End`](Self::End).
    pub fn changes_state(&self) -> bool {
        match self {
            Self::Open { .. }
            | Self::Initialized { .. }
            | Self::SetLevel { .. }
            | Self::Watch { .. }
            | Self::Unwatch { .. } => true,
            Self::As { query, .. } => query.changes_state(),
            _ => false,
        }
    }

    /// The session that the client is done with.
    pub fn ends(&self) -> Option<&SessionId> {
        match self {
            Self::End { session } => Some(session),
            Self::As { query, .. } => query.ends(),
            _ => None,
        }
    }

    /// Whether it is for a stream that its client keeps open, of which there are so many at one time
    /// ([`Limits::listens`](crate::limits::Limits::listens)).
    pub fn keeps_stream(&self) -> bool {
        match self {
            Self::Listen { .. } => true,
            Self::As { query, .. } => query.keeps_stream(),
            _ => false,
        }
    }

    /// Whether outputs for the exchange that asks may follow, so that it has to be found by its id.
    pub fn is_followed(&self) -> bool {
        match self {
            Self::Begin { .. } | Self::BeginBatch { .. } | Self::Listen { .. } => true,
            Self::As { query, .. } => query.is_followed(),
            _ => false,
        }
    }
}

impl SessionQuery {
    /// What a request changes about its session, if it does.
    pub(in crate::server) fn of(plan: &Plan, session: SessionId) -> Option<Self> {
        match plan {
            Plan::SetLevel(level) => Some(Self::SetLevel { session, level: *level }),
            Plan::Watch(uri) => Some(Self::Watch { session, uri: Arc::clone(uri) }),
            Plan::Unwatch(uri) => Some(Self::Unwatch { session, uri: Arc::clone(uri) }),
            _ => None,
        }
    }
}

/// What the table says.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum SessionAnswer {
    /// The session is open.
    Opened {
        /// Its name.
        session: SessionId,
    },
    /// The session is there, in this state.
    Loaded {
        /// Its state, after what was asked.
        state: SessionState,
    },
    /// The request begins; its session is in this state.
    Begun {
        /// The state.
        state: SessionState,
        /// The name of the stream that answers the request, if that is one.
        stream: StreamId,
    },
    /// The exchange carries a stream now.
    Listening(Listening),
    /// The session is there, and no such event of it that a stream could be taken up after.
    UnknownEvent,
    /// There is no such session; perhaps it has ended (HTTPL-49).
    Missing,
    /// Whoever keeps the sessions cannot be reached.
    Unavailable,
    /// As many sessions are open as [`Limits::sessions`](crate::limits::Limits::sessions) allows.
    Full,
    /// As many requests of this session are in flight as [`Limits::in_flight`](crate::limits::Limits::in_flight) allows.
    Busy,
    /// A request with this id is in flight in this session already.
    InUse,
    /// As many resources are watched as [`Limits::watched`](crate::limits::Limits::watched) and [`Limits::watched_bytes`](crate::limits::Limits::watched_bytes) allow.
    TooManyWatched,
    /// As many streams are open as [`Limits::listens`](crate::limits::Limits::listens) allows, which whoever answers
    /// counts.
    TooManyListen,
    /// Done.
    Done,
    /// It goes to another exchange.
    Delivered,
}

/// What follows for other exchanges.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum SessionOutput {
    /// Hand it to [`Exchange::handle_delivery`](crate::server::Exchange::handle_delivery) of that exchange.
    Deliver {
        /// The exchange.
        exchange: ExchangeId,
        /// What is to be sent.
        event: Event,
    },
    /// Tell it to [`Exchange::handle_close`](crate::server::Exchange::handle_close) of that exchange.
    Close {
        /// The exchange.
        exchange: ExchangeId,
    },
    /// Hand it to [`Exchange::handle_cancel`](crate::server::Exchange::handle_cancel) of that exchange.
    Cancel {
        /// The exchange.
        exchange: ExchangeId,
        /// The request that it carries.
        request: RequestId,
    },
    /// For whoever keeps sessions elsewhere: this one is in use, although its client says nothing, and must not be
    /// forgotten there. Comes twice in [`Limits::session_idle`](crate::limits::Limits::session_idle).
    Refresh {
        /// The session.
        session: SessionId,
    },
    /// Hand it to [`Exchange::handle_answer`](crate::server::Exchange::handle_answer) of that exchange.
    Answer {
        /// The exchange.
        exchange: ExchangeId,
        /// The response of the client.
        response: ClientResponse,
    },
}

impl SessionOutput {
    /// The exchange that it is for, if it is for one.
    pub fn exchange(&self) -> Option<ExchangeId> {
        match self {
            Self::Deliver { exchange, .. }
            | Self::Close { exchange }
            | Self::Cancel { exchange, .. }
            | Self::Answer { exchange, .. } => Some(*exchange),
            Self::Refresh { .. } => None,
        }
    }
}
