//! One connection of the pool, and how it moves between exchanges.

use super::{ConnectionId, ExchangeId, IDLE, News, Pool, Waiting};
use crate::time::{Instant, Wake, WakeReason, earliest};
use crate::wire::http1::client::ClientConnection;
use crate::wire::http1::timer::Timer;

/// A connection that is being opened, or is open.
#[derive(Debug, Default)]
pub(super) struct Slot {
    /// Absent while the connection is being opened.
    machine: Option<ClientConnection>,
    exchange: Option<ExchangeId>,
    /// Counts while the connection is free.
    pub(super) idle: Timer,
    /// The running exchange has given out its last word.
    pub(super) is_over: bool,
    /// Has carried an exchange before the present one.
    was_used: bool,
}

impl Slot {
    pub(super) fn is_connecting(&self) -> bool {
        self.machine.is_none()
    }

    /// False when it was open already.
    pub(super) fn open(&mut self, machine: ClientConnection) -> bool {
        let was_connecting = self.is_connecting();
        self.machine.get_or_insert(machine);
        was_connecting
    }

    pub(super) fn machine(&mut self) -> Option<&mut ClientConnection> {
        self.machine.as_mut()
    }

    pub(super) fn open_machine(&self) -> Option<&ClientConnection> {
        self.machine.as_ref()
    }

    pub(super) fn running(&mut self) -> Option<(&mut ClientConnection, ExchangeId)> {
        self.machine.as_mut().zip(self.exchange)
    }

    pub(super) fn is_finished(&self) -> bool {
        self.open_machine().is_some_and(ClientConnection::is_finished)
    }

    pub(super) fn next_wake(&self, seen: Instant) -> Option<Wake> {
        let machine = self.open_machine().and_then(ClientConnection::next_wake);
        earliest([self.idle.wake(seen, WakeReason::Idle), machine])
    }

    fn begin(&mut self, waiting: Waiting) {
        if let Some(machine) = &mut self.machine {
            machine.begin(waiting.request);
            self.exchange = Some(waiting.exchange);
            self.idle = Timer::Off;
            self.is_over = false;
        }
    }
}

impl Pool {
    /// Looks at a connection after an input.
    pub(super) fn attend(&mut self, connection: ConnectionId) {
        let Some(slot) = self.connections.get_mut(&connection) else { return };
        let (was_used, is_over) = (slot.was_used, slot.is_over);
        let Some((machine, exchange)) = slot.running() else {
            if slot.is_finished() {
                self.close_connection(connection);
                self.dispatch();
            }
            return;
        };
        if was_used && !is_over && machine.has_failed_unsent() {
            let request = machine.take_unsent();
            self.running.remove(&exchange);
            self.waiting.push_front(Waiting { exchange, request, needs_fresh: true });
            self.close_connection(connection);
            self.dispatch();
        } else if machine.has_output() && !self.ready.contains(&connection) {
            self.ready.push_back(connection);
        }
    }

    /// Moves connections on whose exchange is told to its end, until one with output is in front.
    pub(super) fn settle(&mut self) {
        while let Some(connection) = self.ready.front().copied() {
            let slot = self.connections.get_mut(&connection);
            let is_over = slot.as_ref().is_some_and(|slot| slot.is_over);
            if !is_over && slot.and_then(Slot::running).is_some_and(|(machine, _)| machine.has_output()) {
                return;
            }
            self.ready.pop_front();
            if is_over {
                self.release(connection);
            }
            if !self.news.is_empty() {
                return;
            }
        }
    }

    /// The connection carries nothing now: free for the next exchange, or closed.
    pub(super) fn release(&mut self, connection: ConnectionId) {
        let Some(slot) = self.connections.get_mut(&connection) else { return };
        slot.was_used |= slot.exchange.take().is_some();
        slot.is_over = false;
        if slot.open_machine().is_some_and(ClientConnection::can_reuse) {
            slot.idle = Timer::Starting(IDLE.min(self.limits.keep_alive));
            self.free.push(connection);
        } else {
            self.close_connection(connection);
        }
        self.dispatch();
    }

    /// Brings waiting exchanges and connections together, opening what is missing.
    pub(super) fn dispatch(&mut self) {
        while let Some((place, connection)) = self.next_match() {
            self.free.retain(|free| *free != connection);
            let Some(waiting) = self.waiting.remove(place) else { return };
            let Some(slot) = self.connections.get_mut(&connection) else { return };
            self.running.insert(waiting.exchange, connection);
            slot.begin(waiting);
        }
        let mut connecting = self.connections.values().filter(|slot| slot.is_connecting()).count();
        while connecting < self.waiting.len() {
            if self.connections.len() >= self.limits.connections.max(1) {
                // What still waits beside a free connection needs a fresh one.
                let Some(oldest) = self.free.first().copied() else { return };
                self.close_connection(oldest);
            }
            let connection = ConnectionId(self.next_id());
            self.connections.insert(connection, Slot::default());
            self.news.push_back(News::Connect(connection));
            connecting += 1;
        }
    }

    /// The first exchange that can run now, by its place, and the connection for it.
    fn next_match(&self) -> Option<(usize, ConnectionId)> {
        self.waiting.iter().enumerate().find_map(|(place, waiting)| {
            let is_fit = |id: &&ConnectionId| {
                !waiting.needs_fresh || self.connections.get(id).is_some_and(|slot| !slot.was_used)
            };
            self.free.iter().rev().find(is_fit).map(|connection| (place, *connection))
        })
    }

    /// Forgets a connection and has it closed.
    pub(super) fn close_connection(&mut self, connection: ConnectionId) {
        if self.connections.remove(&connection).is_some() {
            self.free.retain(|free| *free != connection);
            self.ready.retain(|ready| *ready != connection);
            self.news.push_back(News::Close(connection));
        }
    }
}
