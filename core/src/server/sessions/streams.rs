//! The event streams of sessions: who carries them, and what they missed.
//!
//! Each message goes out on one stream (HTTPL-35). A stream of a session stays the same one however often its
//! client connects; that of a request begins with the exchange of that request, and goes on in the exchange
//! that takes it up again.
//!
//! <https://modelcontextprotocol.io/specification/2025-11-25/basic/transports#listening-for-messages-from-the-server>

#[cfg(test)]
mod tests;

use alloc::sync::Arc;
use alloc::vec::Vec;

use super::{Session, SessionAnswer, SessionId, SessionOutput, Sessions};
use crate::server::events::{Event, EventId, StreamId};
use crate::server::exchange::ExchangeId;
use crate::server::notify;
use crate::server::session::SessionState;
use crate::time::Now;

/// GET streams of one session at a time. The newest carries what there is to say, the others stay silent: to
/// refuse a further one would lock out a client whose connection was cut on the way, for as long as nobody
/// here notices, and to end the one before sets clients that keep several against each other, each
/// taking the stream from the other again and again.
const CARRIERS: usize = 4;

/// The streams of one session.
#[derive(Debug, Default)]
pub(super) struct Streams {
    /// The session's own, once there is one.
    own: Option<Own>,
    /// Streams of requests that went on in other exchanges.
    resumed: Vec<(StreamId, ExchangeId)>,
}

#[derive(Debug)]
struct Own {
    stream: StreamId,
    /// Its last event.
    last: u64,
    /// The last event that was given to an exchange.
    given: u64,
    /// Who carries it, the newest at the end.
    carriers: Vec<ExchangeId>,
}

impl Streams {
    /// Whether a client listens on any of them.
    pub(super) fn are_open(&self) -> bool {
        !self.resumed.is_empty() || self.own.as_ref().is_some_and(|own| !own.carriers.is_empty())
    }

    /// All that carry one.
    pub(super) fn carriers(self) -> impl Iterator<Item = ExchangeId> {
        let own = self.own.into_iter().flat_map(|own| own.carriers);
        own.chain(self.resumed.into_iter().map(|(_, exchange)| exchange))
    }

    fn leave(&mut self, exchange: ExchangeId) {
        self.resumed.retain(|(_, other)| *other != exchange);
        if let Some(own) = &mut self.own {
            own.carriers.retain(|other| *other != exchange);
        }
    }

    fn carrier_of(&mut self, stream: StreamId) -> Option<&mut ExchangeId> {
        self.resumed.iter_mut().find(|(other, _)| *other == stream).map(|(_, exchange)| exchange)
    }
}

/// What an exchange is told that wants to carry a stream.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Listening {
    /// The state of the session.
    pub state: SessionState,
    /// The event before the first one that is sent.
    pub after: EventId,
    /// What the client has missed, in order.
    pub missed: Vec<Event>,
    /// What becomes of the stream after that.
    pub then: Then,
}

/// What becomes of a stream after what was missed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Then {
    /// It goes on here.
    GoesOn,
    /// It is complete.
    Ends,
    /// It goes on in another table that shares the store, so the client is to ask again.
    AskAgain,
}

impl Sessions {
    /// An exchange wants to carry the session's own stream, or one that broke off after an event.
    pub(super) fn listen(
        &mut self,
        now: Now,
        session: &SessionId,
        exchange: ExchangeId,
        after: Option<&str>,
    ) -> SessionAnswer {
        if self.touch(now.mono, session).is_none() {
            return SessionAnswer::Missing;
        }
        let after = after.map(EventId::parse);
        let Some(own) = self.own_stream(session) else { return SessionAnswer::Missing };
        let listening = match after {
            None => self.listen_to_own(session, exchange, own),
            Some(Some(id)) if id.stream == own.stream => self.listen_to_own(session, exchange, id),
            Some(Some(id)) => self.resume(session, exchange, id),
            Some(None) => None,
        };
        listening.map_or(SessionAnswer::UnknownEvent, SessionAnswer::Listening)
    }

    /// The last event of the session's own stream that its client was given; the stream begins here if it
    /// has not.
    fn own_stream(&mut self, session: &SessionId) -> Option<EventId> {
        let entry = self.open.get_mut(session)?;
        let serial = &mut self.streams;
        let table = self.table;
        let own = entry.streams.own.get_or_insert_with(|| {
            *serial += 1;
            let stream = StreamId::of_session(table, *serial);
            Own { stream, last: 0, given: 0, carriers: Vec::new() }
        });
        Some(EventId::new(own.stream, own.given))
    }

    fn listen_to_own(
        &mut self,
        session: &SessionId,
        exchange: ExchangeId,
        after: EventId,
    ) -> Option<Listening> {
        let entry = self.open.get_mut(session)?;
        let own = entry.streams.own.as_mut().filter(|own| after.number <= own.last)?;
        own.given = own.last;
        own.carriers.push(exchange);
        if own.carriers.len() > CARRIERS {
            self.outputs.push_back(SessionOutput::Close { exchange: own.carriers.remove(0) });
        }
        let state = entry.state.clone();
        let missed = self.store.after(session, after.stream, after.number).unwrap_or_default();
        Some(Listening { state, after, missed, then: Then::GoesOn })
    }

    fn resume(&mut self, session: &SessionId, exchange: ExchangeId, after: EventId) -> Option<Listening> {
        let stream = after.stream;
        let entry = self.open.get_mut(session)?;
        let origin = stream.exchange(self.table);
        let runs = origin.filter(|origin| entry.running.iter().any(|(_, carrier)| carrier == origin));
        let stored = self.store.after(session, stream, after.number);
        // Of a running request nothing need be stored yet.
        let missed = stored.or(runs.map(|_| Vec::new()))?;
        let complete = missed.last().is_some_and(|event| event.last);
        let then = match runs {
            _ if complete => Then::Ends,
            Some(origin) => {
                // Whoever has carried it is to let go: its client is here now.
                let before = match entry.streams.carrier_of(stream) {
                    Some(carrier) => core::mem::replace(carrier, exchange),
                    None => {
                        entry.streams.resumed.push((stream, exchange));
                        origin
                    }
                };
                self.outputs.push_back(SessionOutput::Close { exchange: before });
                Then::GoesOn
            }
            // Whatever was last is known to the client, or was forgotten.
            None if origin.is_some() || !self.shares_events => Then::Ends,
            None => Then::AskAgain,
        };
        Some(Listening { state: entry.state.clone(), after, missed, then })
    }

    /// Keeps an event of the stream of a request, and passes it on to who carries that stream now, if that
    /// is not the exchange that speaks.
    pub(super) fn record(&mut self, now: Now, session: &SessionId, event: Event) {
        let Some(entry) = self.touch(now.mono, session) else { return };
        let carrier = entry.streams.carrier_of(event.id.stream).copied();
        if event.last {
            entry.streams.resumed.retain(|(stream, _)| *stream != event.id.stream);
        }
        self.store.append(session, &event);
        if let Some(exchange) = carrier {
            self.outputs.push_back(SessionOutput::Deliver { exchange, event });
        }
    }

    /// An exchange carries nothing of the session any more.
    pub(super) fn detach(&mut self, now: Now, session: &SessionId, exchange: ExchangeId) {
        if let Some(entry) = self.touch(now.mono, session) {
            entry.running.retain(|(_, by)| *by != exchange);
            entry.streams.leave(exchange);
        }
    }

    /// Sends a message, one JSON-RPC notification, to the client of a session: on the stream of the session,
    /// and when none is open, as soon as one is. What is waiting already is not sent twice; the oldest of too
    /// many gives way (see [`Limits::events`](crate::limits::Limits::events)).
    pub fn send(&mut self, _now: Now, session: &SessionId, message: &[u8]) {
        self.send_shared(session, &Arc::from(message));
    }

    /// What the client of a session was sent to a page for is done: tells it so, as [`send`](Self::send) does, unless
    /// its revision has no names for elicitations or it cannot be asked for any by URL. Nothing happens where there is
    /// no such session.
    ///
    /// <https://modelcontextprotocol.io/specification/2025-11-25/client/elicitation#completion-notifications-for-url-mode-elicitation>
    pub fn complete_elicitation(&mut self, now: Now, session: &SessionId, elicitation: &str) {
        let Some(state) = self.state(session).filter(|state| state.knows_elicitations()) else { return };
        let mut message = Vec::new();
        if notify::elicitation_complete(elicitation, state.revision, &mut message).is_ok() {
            self.send(now, session, &message);
        }
    }

    pub(super) fn send_shared(&mut self, session: &SessionId, message: &Arc<[u8]>) {
        let Some(given) = self.own_stream(session) else { return };
        let Some(own) = self.open.get_mut(session).and_then(|entry| entry.streams.own.as_mut()) else {
            return;
        };
        let carrier = own.carriers.last().copied();
        if carrier.is_none() && self.store.repeats(session, given.stream, given.number, message) {
            return;
        }
        own.last += 1;
        let event = Event::new(EventId::new(own.stream, own.last), Arc::clone(message), false);
        self.store.append(session, &event);
        if let Some(exchange) = carrier {
            own.given = own.last;
            self.outputs.push_back(SessionOutput::Deliver { exchange, event });
        }
    }
}

impl Session {
    /// Whether it is being used without a request coming in.
    pub(super) fn is_busy(&self) -> bool {
        !self.running.is_empty() || self.streams.are_open()
    }
}
