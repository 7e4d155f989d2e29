//! Events that are kept, so that a client which lost its connection can be given what it missed.
//!
//! <https://modelcontextprotocol.io/specification/2025-11-25/basic/transports#resumability-and-redelivery>

mod memory;

use alloc::sync::Arc;
use alloc::vec::Vec;
use core::fmt;

pub use self::memory::MemoryEvents;
use super::exchange::ExchangeId;
use super::sessions::SessionId;

/// Names an event stream: that of one request, or that of a whole session. Prints as it stands in event ids.
///
/// No two streams of a table of sessions have the same name, whichever sessions they belong to, and names of
/// different tables differ by chance, so that servers that share an [`EventStore`] do not get in each other's
/// way.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct StreamId {
    table: u32,
    /// The exchange that carries the request; `None` for the stream of a session.
    exchange: Option<ExchangeId>,
    /// Tells the streams of sessions apart; 0 for the one of a request.
    serial: u64,
}

impl StreamId {
    /// The stream of the request that this exchange carries.
    pub(super) const fn of_exchange(table: u32, exchange: ExchangeId) -> Self {
        Self { table, exchange: Some(exchange), serial: 0 }
    }

    /// The stream of a session.
    pub(super) const fn of_session(table: u32, serial: u64) -> Self {
        Self { table, exchange: None, serial }
    }

    /// The name as it prints, and in no other way: neither a sign nor an upper-case digit.
    pub(super) fn parse(text: &str) -> Option<Self> {
        let (table, stream) = text.split_once('.')?;
        let table = u32::from_str_radix(table, 16).ok()?;
        let id = match stream.strip_prefix('s') {
            Some(serial) => Self::of_session(table, serial.parse().ok()?),
            None => Self::of_exchange(table, ExchangeId::new(stream.parse().ok()?)),
        };
        (alloc::format!("{id}") == text).then_some(id)
    }

    /// Whether it is the stream of a session, and not that of a request.
    pub(super) const fn is_of_session(self) -> bool {
        self.exchange.is_none()
    }

    /// The exchange that carries the request, for a stream of this table.
    pub(super) fn exchange(self, table: u32) -> Option<ExchangeId> {
        self.exchange.filter(|_| self.table == table)
    }
}

impl fmt::Display for StreamId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.exchange {
            Some(exchange) => write!(f, "{:08x}.{}", self.table, exchange.number()),
            None => write!(f, "{:08x}.s{}", self.table, self.serial),
        }
    }
}

/// Names an event, as it stands in `id` and comes back in `Last-Event-ID`: its stream, then its place there, so
/// that the stream can be found again (HTTPL-38). Visible ASCII, at most 50 bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub struct EventId {
    /// The stream.
    pub stream: StreamId,
    /// The place of the event there; larger for later ones, not without gaps.
    pub number: u64,
}

impl EventId {
    pub(super) const fn new(stream: StreamId, number: u64) -> Self {
        Self { stream, number }
    }

    /// The name that a client sent. `None` when it is not one that was given out here.
    pub fn parse(text: &str) -> Option<Self> {
        let (stream, number) = text.rsplit_once('.')?;
        let id = Self { stream: StreamId::parse(stream)?, number: number.parse().ok()? };
        // Only the way in which it was written.
        (alloc::format!("{id}") == text).then_some(id)
    }
}

impl fmt::Display for EventId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.stream, self.number)
    }
}

/// An event of a stream. Cheap to clone. Prints without its message.
#[derive(Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Event {
    /// Its name.
    pub id: EventId,
    /// One JSON-RPC message; empty when the stream ends without one.
    pub message: Arc<[u8]>,
    /// Whether the stream ends with it.
    pub last: bool,
}

impl Event {
    /// An event, as a store reads it back.
    pub fn new(id: EventId, message: impl Into<Arc<[u8]>>, last: bool) -> Self {
        Self { id, message: message.into(), last }
    }
}

impl fmt::Debug for Event {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Event").field("id", &self.id).field("last", &self.last).finish_non_exhaustive()
    }
}

/// Where events are kept. [`MemoryEvents`] is the default.
///
/// A store is part of the table of sessions and called with the table held, so it must not wait: one that keeps
/// events elsewhere answers from memory and writes behind. It may forget whatever it likes: who comes
/// back for a stream gets what is left of it, and is refused when nothing is.
pub trait EventStore: fmt::Debug + Send {
    /// Keeps an event. Those of one stream come in rising order, and nothing comes after the last one.
    fn append(&mut self, session: &SessionId, event: &Event);

    /// The events of a stream after the one with this number, in order. `None` when no event of this stream
    /// is kept for this session: another session's events are never to be given out (HTTPL-41).
    fn after(&mut self, session: &SessionId, stream: StreamId, number: u64) -> Option<Vec<Event>>;

    /// Whether an event of the stream of a session, after the one with this number, has this message. Asked before
    /// something is kept for a client that does not listen, so that it is not kept twice, and for all of them when
    /// something is published: a store that can tell without reading them all does well to say so itself.
    fn repeats(&mut self, session: &SessionId, stream: StreamId, number: u64, message: &[u8]) -> bool {
        let after = self.after(session, stream, number).unwrap_or_default();
        after.iter().any(|event| *event.message == *message)
    }

    /// The session has ended.
    fn forget(&mut self, session: &SessionId);
}
