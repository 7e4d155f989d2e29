//! The table of legacy HTTP sessions: bounded, with an idle time, and the only thing that exchanges share.
//!
//! An [`Exchange`](super::Exchange) asks for it as an effect, so the table may stand behind a lock, in
//! another thread, or somewhere else entirely. Modern exchanges never ask.
//!
//! <https://modelcontextprotocol.io/specification/2025-11-25/basic/transports#session-management>

#[cfg(test)]
mod tests;

use alloc::collections::{BTreeMap, VecDeque};
use alloc::string::String;
use alloc::sync::Arc;
use alloc::vec::Vec;
use core::fmt;

use super::asks::{self, ClientResponse};
use super::exchange::ExchangeId;
use super::session::SessionState;
use crate::entropy::{Entropy, Seed};
use crate::limits::Limits;
use crate::model::logging::LoggingLevel;
use crate::time::{Duration, Instant, Now, WakeReason};
use crate::wire::jsonrpc::RequestId;

/// The name of a session, as it travels in `Mcp-Session-Id`. Prints as `SessionId(..)`: whoever knows it can
/// speak for the session, although it is no proof of identity (SEC-11). Cheap to clone.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct SessionId(Arc<str>);

impl SessionId {
    /// The name that a client sent, whether there is such a session or not.
    pub fn new(name: impl Into<Arc<str>>) -> Self {
        Self(name.into())
    }

    /// The name as it travels: visible ASCII (HTTPL-44).
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for SessionId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("SessionId(..)")
    }
}

/// What an exchange asks of the table.
#[derive(Clone, Debug)]
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
    /// The client is done with the session.
    End {
        /// The session.
        session: SessionId,
    },
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
    /// There is no such session; perhaps it has ended (HTTPL-49).
    Missing,
    /// As many sessions are open as [`Limits::sessions`] allows.
    Full,
    /// As many requests of this session are in flight as [`Limits::in_flight`] allows.
    Busy,
    /// A request with this id is in flight in this session already.
    InUse,
    /// Done.
    Done,
    /// It goes to another exchange.
    Delivered,
}

/// What follows for other exchanges.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum SessionOutput {
    /// Hand it to [`Exchange::handle_cancel`](super::Exchange::handle_cancel) of that exchange.
    Cancel {
        /// The exchange.
        exchange: ExchangeId,
        /// The request that it carries.
        request: RequestId,
    },
    /// Hand it to [`Exchange::handle_answer`](super::Exchange::handle_answer) of that exchange.
    Answer {
        /// The exchange.
        exchange: ExchangeId,
        /// The response of the client.
        response: ClientResponse,
    },
}

/// The legacy sessions of one HTTP server.
#[derive(Debug)]
pub struct Sessions {
    open: BTreeMap<SessionId, Session>,
    /// When to look at a session again, and a serial number that tells moments apart. A session that is used
    /// keeps its place; it is moved when its moment comes, so that using one costs nothing.
    checks: BTreeMap<(Instant, u64), SessionId>,
    serial: u64,
    outputs: VecDeque<SessionOutput>,
    entropy: Entropy,
    most: usize,
    idle: Duration,
    in_flight: usize,
}

#[derive(Debug)]
struct Session {
    state: SessionState,
    used: Instant,
    /// Its place in `checks`.
    check: (Instant, u64),
    running: Vec<(RequestId, ExchangeId)>,
}

impl Session {
    /// Notes that these requests run, all or none.
    fn begin(
        &mut self,
        requests: impl IntoIterator<Item = RequestId> + AsRef<[RequestId]>,
        exchange: ExchangeId,
        most: usize,
    ) -> SessionAnswer {
        if self.running.iter().any(|(running, _)| requests.as_ref().contains(running)) {
            return SessionAnswer::InUse;
        }
        if self.running.len() + requests.as_ref().len() > most {
            return SessionAnswer::Busy;
        }
        self.running.extend(requests.into_iter().map(|request| (request, exchange)));
        SessionAnswer::Loaded { state: self.state.clone() }
    }
}

impl Sessions {
    /// An empty table. The seed makes the names; nobody may be able to guess it (SEC-12).
    pub fn new(limits: &Limits, seed: Seed) -> Self {
        Self {
            open: BTreeMap::new(),
            checks: BTreeMap::new(),
            serial: 0,
            outputs: VecDeque::new(),
            entropy: Entropy::new(seed),
            most: limits.sessions,
            idle: limits.session_idle,
            in_flight: limits.in_flight,
        }
    }

    /// Answers an exchange. Every query but [`SessionQuery::Finish`] counts as use of its session.
    pub fn handle_query(&mut self, now: Now, query: SessionQuery) -> SessionAnswer {
        self.reclaim(now.mono);
        match query {
            SessionQuery::Open { state } => self.open(now.mono, state),
            SessionQuery::Load { session } => match self.touch(now.mono, &session) {
                Some(entry) => SessionAnswer::Loaded { state: entry.state.clone() },
                None => SessionAnswer::Missing,
            },
            SessionQuery::Begin { session, request, exchange } => {
                let most = self.in_flight;
                match self.touch(now.mono, &session) {
                    Some(entry) => entry.begin([request], exchange, most),
                    None => SessionAnswer::Missing,
                }
            }
            SessionQuery::BeginBatch { session, mut requests, exchange } => {
                let most = self.in_flight;
                let Some(entry) = self.touch(now.mono, &session) else { return SessionAnswer::Missing };
                if !entry.state.revision.dialect().batching {
                    requests.clear();
                }
                entry.begin(requests, exchange, most)
            }
            SessionQuery::Finish { session, request } => {
                if let Some(entry) = self.open.get_mut(&session) {
                    entry.running.retain(|(other, _)| *other != request);
                    entry.used = entry.used.max(now.mono);
                }
                SessionAnswer::Done
            }
            SessionQuery::Cancel { session, request } => self.cancel(now.mono, &session, &request),
            SessionQuery::Answer { session, response } => {
                let Some(entry) = self.touch(now.mono, &session) else { return SessionAnswer::Missing };
                // Only an exchange of this very session: others can guess the id of what it asks.
                let asked = asks::exchange_of(&response.request)
                    .filter(|exchange| entry.running.iter().any(|(_, running)| running == exchange));
                let Some(exchange) = asked else { return SessionAnswer::Done };
                self.outputs.push_back(SessionOutput::Answer { exchange, response });
                SessionAnswer::Delivered
            }
            SessionQuery::Initialized { session } => match self.touch(now.mono, &session) {
                Some(entry) if !entry.state.initialized => {
                    entry.state.initialized = true;
                    SessionAnswer::Loaded { state: entry.state.clone() }
                }
                Some(_) => SessionAnswer::Done,
                None => SessionAnswer::Missing,
            },
            SessionQuery::SetLevel { session, level } => match self.touch(now.mono, &session) {
                Some(entry) => {
                    entry.state.level = level;
                    SessionAnswer::Loaded { state: entry.state.clone() }
                }
                None => SessionAnswer::Missing,
            },
            SessionQuery::End { session } => match self.open.remove(&session) {
                Some(entry) => {
                    self.checks.remove(&entry.check);
                    self.stop(entry);
                    SessionAnswer::Done
                }
                None => SessionAnswer::Missing,
            },
        }
    }

    /// What follows for other exchanges; `None` when there is nothing more.
    pub fn poll_output(&mut self) -> Option<SessionOutput> {
        self.outputs.pop_front()
    }

    /// When the next session may have been idle for too long.
    pub fn poll_timeout(&self) -> Option<Instant> {
        self.checks.keys().next().map(|(moment, _)| *moment)
    }

    /// What [`poll_timeout`](Self::poll_timeout) is for.
    pub fn wake_reason(&self) -> Option<WakeReason> {
        self.poll_timeout().map(|_| WakeReason::Session)
    }

    /// Reclaims sessions that were idle for too long.
    pub fn handle_timeout(&mut self, now: Now) {
        self.reclaim(now.mono);
    }

    /// How many sessions are open.
    pub fn len(&self) -> usize {
        self.open.len()
    }

    /// Whether no session is open.
    pub fn is_empty(&self) -> bool {
        self.open.is_empty()
    }

    fn open(&mut self, now: Instant, state: SessionState) -> SessionAnswer {
        if self.open.len() >= self.most {
            return SessionAnswer::Full;
        }
        let session = self.name();
        let check = self.check_at(now + self.idle, session.clone());
        self.open.insert(session.clone(), Session { state, used: now, check, running: Vec::new() });
        SessionAnswer::Opened { session }
    }

    fn cancel(&mut self, now: Instant, session: &SessionId, request: &RequestId) -> SessionAnswer {
        let Some(entry) = self.touch(now, session) else { return SessionAnswer::Missing };
        // Unknown and finished requests are ignored without a word (CAN-12).
        if let Some(place) = entry.running.iter().position(|(other, _)| other == request) {
            let (request, exchange) = entry.running.remove(place);
            self.outputs.push_back(SessionOutput::Cancel { exchange, request });
        }
        SessionAnswer::Done
    }

    fn touch(&mut self, now: Instant, session: &SessionId) -> Option<&mut Session> {
        let entry = self.open.get_mut(session)?;
        entry.used = entry.used.max(now);
        Some(entry)
    }

    fn reclaim(&mut self, now: Instant) {
        while let Some(first) = self.checks.first_entry() {
            if first.key().0 > now {
                break;
            }
            let session = first.remove();
            let Some(entry) = self.open.get(&session) else { continue };
            // A session with a running request is in use, however long that takes.
            let used = if entry.running.is_empty() { entry.used } else { now };
            if used + self.idle > now {
                let check = self.check_at(used + self.idle, session.clone());
                if let Some(entry) = self.open.get_mut(&session) {
                    entry.check = check;
                }
            } else if let Some(entry) = self.open.remove(&session) {
                self.stop(entry);
            }
        }
    }

    fn check_at(&mut self, moment: Instant, session: SessionId) -> (Instant, u64) {
        self.serial += 1;
        self.checks.insert((moment, self.serial), session);
        (moment, self.serial)
    }

    fn stop(&mut self, session: Session) {
        let cancels = session.running.into_iter();
        self.outputs.extend(cancels.map(|(request, exchange)| SessionOutput::Cancel { exchange, request }));
    }

    /// 128 bits of chance in hexadecimal.
    fn name(&mut self) -> SessionId {
        let digits = self.entropy.next().into_iter().take(16).flat_map(|byte| [byte >> 4, byte & 15]);
        let name: String = digits.filter_map(|digit| char::from_digit(u32::from(digit), 16)).collect();
        SessionId::new(name)
    }
}
