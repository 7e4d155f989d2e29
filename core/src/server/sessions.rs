//! The table of legacy HTTP sessions: bounded, with an idle time, and the only thing that exchanges share.
//!
//! An [`Exchange`](super::Exchange) asks for it as an effect, so the table may stand behind a lock, in
//! another thread, or somewhere else entirely. Modern exchanges never ask.
//!
//! <https://modelcontextprotocol.io/specification/2025-11-25/basic/transports#session-management>

mod caller;
mod change;
mod publish;
mod query;
mod streams;
#[cfg(test)]
mod tests;

use alloc::boxed::Box;
use alloc::collections::{BTreeMap, VecDeque};
use alloc::string::String;
use alloc::sync::Arc;
use alloc::vec::Vec;
use core::fmt;

pub use self::caller::Caller;
pub use self::query::{SessionAnswer, SessionOutput, SessionQuery};
use self::streams::Streams;
pub use self::streams::{Listening, Then};
use super::asks;
use super::events::{EventStore, MemoryEvents, StreamId};
use super::exchange::ExchangeId;
use super::session::SessionState;
use crate::entropy::{Entropy, Seed};
use crate::limits::Limits;
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

    /// 128 bits of chance in hexadecimal.
    pub(super) fn random(entropy: &mut Entropy) -> Self {
        let digits = entropy.next().into_iter().take(16).flat_map(|byte| [byte >> 4, byte & 15]);
        let name: String = digits.filter_map(|digit| char::from_digit(u32::from(digit), 16)).collect();
        Self::new(name)
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

/// How long it takes at least until a session that is in use is looked at again.
const SHORTEST: Duration = Duration::from_secs(1);

/// The legacy sessions of one HTTP server.
#[derive(Debug)]
pub struct Sessions {
    open: BTreeMap<SessionId, Session>,
    /// When to look at a session again, and a serial number that tells moments apart. A session that is used
    /// keeps its place; it is moved when its moment comes, so that using one costs nothing.
    checks: BTreeMap<(Instant, u64), SessionId>,
    serial: u64,
    outputs: VecDeque<SessionOutput>,
    store: Box<dyn EventStore>,
    shares_events: bool,
    /// Streams of sessions that there were.
    streams: u64,
    /// Tells the streams of this table from those of others.
    table: u32,
    entropy: Entropy,
    most: usize,
    idle: Duration,
    in_flight: usize,
    limits: Limits,
}

#[derive(Debug)]
struct Session {
    state: SessionState,
    used: Instant,
    /// Its place in `checks`.
    check: (Instant, u64),
    running: Vec<(RequestId, ExchangeId)>,
    streams: Streams,
}

impl Session {
    /// Notes that these requests run, all or none.
    fn begin(
        &mut self,
        requests: impl IntoIterator<Item = RequestId> + AsRef<[RequestId]>,
        exchange: ExchangeId,
        most: usize,
        table: u32,
    ) -> SessionAnswer {
        if self.running.iter().any(|(running, _)| requests.as_ref().contains(running)) {
            return SessionAnswer::InUse;
        }
        if self.running.len() + requests.as_ref().len() > most {
            return SessionAnswer::Busy;
        }
        self.running.extend(requests.into_iter().map(|request| (request, exchange)));
        SessionAnswer::Begun { state: self.state.clone(), stream: StreamId::of_exchange(table, exchange) }
    }
}

impl Sessions {
    /// An empty table. The seed makes the names; nobody may be able to guess it (SEC-12).
    pub fn new(limits: &Limits, seed: Seed) -> Self {
        let mut entropy = Entropy::new(seed);
        let [a, b, c, d, ..] = entropy.next();
        Self {
            open: BTreeMap::new(),
            checks: BTreeMap::new(),
            serial: 0,
            outputs: VecDeque::new(),
            store: Box::new(MemoryEvents::new(limits)),
            shares_events: false,
            streams: 0,
            table: u32::from_be_bytes([a, b, c, d]),
            entropy,
            most: limits.sessions,
            idle: limits.session_idle,
            in_flight: limits.in_flight,
            limits: limits.clone(),
        }
    }

    /// Keeps events elsewhere than in memory. Where tables share a store, a client finds in one of them what its
    /// request has said in another.
    #[must_use]
    pub fn events(mut self, store: Box<dyn EventStore>) -> Self {
        self.store = store;
        self.shares_events = true;
        self
    }

    /// Answers an exchange. Each query counts as use of its session.
    pub fn handle_query(&mut self, now: Now, query: SessionQuery) -> SessionAnswer {
        self.reclaim(now.mono);
        let (caller, query) = match query {
            SessionQuery::As { caller, query } => (caller, *query),
            query => (Caller::default(), query),
        };
        let asked = query.session().and_then(|session| self.open.get(session));
        if asked.is_some_and(|entry| !caller.may_use(&entry.state)) {
            return SessionAnswer::Missing;
        }
        match query {
            SessionQuery::Open { state } => self.open(now.mono, caller.own(state)),
            SessionQuery::Load { session } => match self.touch(now.mono, &session) {
                Some(entry) => SessionAnswer::Loaded { state: entry.state.clone() },
                None => SessionAnswer::Missing,
            },
            SessionQuery::Begin { session, request, exchange } => {
                let (most, table) = (self.in_flight, self.table);
                match self.touch(now.mono, &session) {
                    Some(entry) => entry.begin([request], exchange, most, table),
                    None => SessionAnswer::Missing,
                }
            }
            SessionQuery::BeginBatch { session, mut requests, exchange } => {
                let (most, table) = (self.in_flight, self.table);
                let Some(entry) = self.touch(now.mono, &session) else { return SessionAnswer::Missing };
                if !entry.state.revision.dialect().batching {
                    requests.clear();
                }
                entry.begin(requests, exchange, most, table)
            }
            SessionQuery::Finish { session, request, exchange } => {
                if let Some(entry) = self.open.get_mut(&session) {
                    entry.running.retain(|(other, by)| (other, *by) != (&request, exchange));
                    entry.used = entry.used.max(now.mono);
                }
                SessionAnswer::Done
            }
            SessionQuery::Cancel { session, request } => self.cancel(now.mono, &session, &request),
            SessionQuery::Answer { session, response } => {
                let asked = asks::exchange_of(&response.request, self.table);
                let Some(entry) = self.touch(now.mono, &session) else { return SessionAnswer::Missing };
                // Only an exchange of this very session: others can guess the id of what it asks.
                let asked =
                    asked.filter(|exchange| entry.running.iter().any(|(_, running)| running == exchange));
                let Some(exchange) = asked else { return SessionAnswer::Done };
                self.outputs.push_back(SessionOutput::Answer { exchange, response });
                SessionAnswer::Delivered
            }
            SessionQuery::Initialized { ref session }
            | SessionQuery::SetLevel { ref session, .. }
            | SessionQuery::Watch { ref session, .. }
            | SessionQuery::Unwatch { ref session, .. } => self.change(now.mono, session, &query),
            SessionQuery::End { session } => {
                let there = self.open.contains_key(&session);
                self.forget(&session);
                if there { SessionAnswer::Done } else { SessionAnswer::Missing }
            }
            SessionQuery::Listen { session, exchange, after } => {
                self.listen(now, &session, exchange, after.as_deref())
            }
            SessionQuery::Record { session, event } => {
                self.record(now, &session, event);
                SessionAnswer::Done
            }
            SessionQuery::Detach { session, exchange } => {
                self.detach(now, &session, exchange);
                SessionAnswer::Done
            }
            // Nobody speaks for somebody who speaks for somebody.
            SessionQuery::As { .. } => SessionAnswer::Missing,
        }
    }

    /// A session was opened elsewhere, or has changed there: from now on it is in this state here, unless it has
    /// changed more often here. What runs in it here goes on. Returns whether there is room for it.
    pub fn restore(&mut self, now: Now, session: &SessionId, state: SessionState) -> bool {
        self.reclaim(now.mono);
        if let Some(entry) = self.touch(now.mono, session) {
            if entry.state.changes <= state.changes {
                entry.state = state;
            }
            return true;
        }
        let room = self.open.len() < self.most;
        if room {
            self.insert(now.mono, session.clone(), state);
        }
        room
    }

    /// A session has ended elsewhere: what runs in it here is cancelled.
    pub fn forget(&mut self, session: &SessionId) {
        if let Some(entry) = self.open.remove(session) {
            self.checks.remove(&entry.check);
            self.stop(session, entry);
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

    /// The state of a session.
    pub fn state(&self, session: &SessionId) -> Option<&SessionState> {
        self.open.get(session).map(|entry| &entry.state)
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
        let session = SessionId::random(&mut self.entropy);
        self.insert(now, session.clone(), state);
        SessionAnswer::Opened { session }
    }

    fn insert(&mut self, now: Instant, session: SessionId, state: SessionState) {
        let check = self.check_at(now + self.idle / 2, session.clone());
        let entry = Session { state, used: now, check, running: Vec::new(), streams: Streams::default() };
        self.open.insert(session, entry);
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
            let Some(entry) = self.open.get_mut(&session) else { continue };
            // Half of the time, so that one which is kept elsewhere is still there when that is told of it.
            let half = (self.idle / 2).max(SHORTEST);
            let next = if entry.is_busy() {
                // It is in use, however long that takes.
                entry.used = entry.used.max(now);
                self.outputs.push_back(SessionOutput::Refresh { session: session.clone() });
                Some(now + half)
            } else {
                let end = entry.used + self.idle;
                (end > now).then(|| end.min(now + half))
            };
            if let Some(next) = next {
                let check = self.check_at(next, session.clone());
                if let Some(entry) = self.open.get_mut(&session) {
                    entry.check = check;
                }
            } else if let Some(entry) = self.open.remove(&session) {
                self.stop(&session, entry);
            }
        }
    }

    fn check_at(&mut self, moment: Instant, session: SessionId) -> (Instant, u64) {
        self.serial += 1;
        self.checks.insert((moment, self.serial), session);
        (moment, self.serial)
    }

    fn stop(&mut self, name: &SessionId, session: Session) {
        self.store.forget(name);
        let cancels = session.running.into_iter();
        self.outputs.extend(cancels.map(|(request, exchange)| SessionOutput::Cancel { exchange, request }));
        let closes = session.streams.carriers();
        self.outputs.extend(closes.map(|exchange| SessionOutput::Close { exchange }));
    }
}
