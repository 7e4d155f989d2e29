//! Events in memory: so many and so much for each session, and so much for all.

#[cfg(test)]
mod tests;

use alloc::collections::{BTreeMap, VecDeque};
use alloc::sync::Arc;
use alloc::vec::Vec;
use core::fmt;

use super::{Event, EventStore, StreamId};
use crate::limits::Limits;
use crate::server::sessions::SessionId;

/// What an event costs besides its message, about.
const EACH: usize = 160;

/// Keeps the newest events of each session within [`Limits::events`] and [`Limits::event_bytes`], and of all
/// sessions together within [`Limits::all_event_bytes`]. The oldest give way.
#[derive(Debug)]
pub struct MemoryEvents {
    /// All events by age.
    events: BTreeMap<u64, (SessionId, Event)>,
    sessions: BTreeMap<SessionId, Held>,
    serial: u64,
    bytes: usize,
    most: usize,
    most_bytes: usize,
    all_bytes: usize,
}

/// What a session holds.
#[derive(Default)]
struct Held {
    /// Its events by age.
    serials: VecDeque<u64>,
    /// The last event with each message on the stream of the session.
    said: BTreeMap<Arc<[u8]>, u64>,
    bytes: usize,
}

/// Prints no message.
impl fmt::Debug for Held {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Held({} events, {} bytes)", self.serials.len(), self.bytes)
    }
}

impl MemoryEvents {
    /// An empty store.
    pub fn new(limits: &Limits) -> Self {
        Self {
            events: BTreeMap::new(),
            sessions: BTreeMap::new(),
            serial: 0,
            bytes: 0,
            most: limits.events,
            most_bytes: limits.event_bytes,
            all_bytes: limits.all_event_bytes,
        }
    }

    /// Bytes that are held.
    pub fn bytes(&self) -> usize {
        self.bytes
    }

    fn drop_event(&mut self, serial: u64) {
        let Some((session, event)) = self.events.remove(&serial) else { return };
        let size = size(&event);
        self.bytes -= size;
        if let Some(held) = self.sessions.get_mut(&session) {
            // The oldest of all is also the oldest of its session.
            held.serials.pop_front();
            if held.said.get(&event.message) == Some(&serial) {
                held.said.remove(&event.message);
            }
            held.bytes -= size;
            if held.serials.is_empty() {
                self.sessions.remove(&session);
            }
        }
    }
}

impl EventStore for MemoryEvents {
    fn append(&mut self, session: &SessionId, event: &Event) {
        let size = size(event);
        if size > self.most_bytes.min(self.all_bytes) || self.most == 0 {
            return;
        }
        while let Some(held) = self.sessions.get(session)
            && (held.serials.len() >= self.most || held.bytes + size > self.most_bytes)
            && let Some(&oldest) = held.serials.front()
        {
            self.drop_event(oldest);
        }
        while self.bytes + size > self.all_bytes
            && let Some((&oldest, _)) = self.events.first_key_value()
        {
            self.drop_event(oldest);
        }
        self.serial += 1;
        self.bytes += size;
        let held = self.sessions.entry(session.clone()).or_default();
        held.serials.push_back(self.serial);
        held.bytes += size;
        if event.id.stream.is_of_session() {
            held.said.insert(Arc::clone(&event.message), self.serial);
        }
        self.events.insert(self.serial, (session.clone(), event.clone()));
    }

    fn after(&mut self, session: &SessionId, stream: StreamId, number: u64) -> Option<Vec<Event>> {
        let held = self.sessions.get(session)?;
        let of_stream = held
            .serials
            .iter()
            .filter_map(|serial| self.events.get(serial))
            .map(|(_, event)| event)
            .filter(|event| event.id.stream == stream);
        let mut known = false;
        let after = of_stream.inspect(|_| known = true).filter(|event| event.id.number > number);
        let after = after.cloned().collect();
        known.then_some(after)
    }

    fn repeats(&mut self, session: &SessionId, stream: StreamId, number: u64, message: &[u8]) -> bool {
        let said = self.sessions.get(session).and_then(|held| held.said.get(message));
        let said = said.and_then(|serial| self.events.get(serial));
        said.is_some_and(|(_, event)| event.id.stream == stream && event.id.number > number)
    }

    fn forget(&mut self, session: &SessionId) {
        let Some(held) = self.sessions.remove(session) else { return };
        self.bytes -= held.bytes;
        for serial in held.serials {
            self.events.remove(&serial);
        }
    }
}

fn size(event: &Event) -> usize {
    event.message.len() + EACH
}
