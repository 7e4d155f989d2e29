//! The connections of one client to one origin.

mod slot;
#[cfg(test)]
mod tests;

use super::client::{ClientConnection, ClientOutput, Encoded};
use crate::error::Full;
use crate::head::{End, RequestHead, ResponseHead};
use crate::limits::Limits;
use crate::time::{Duration, Instant, Now, Wake, WakeReason, earliest};
use alloc::collections::{BTreeMap, VecDeque};
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use core::fmt;
use slot::Slot;

/// How long a connection is kept without an exchange, if `Limits::keep_alive` is not shorter. Well below what
/// servers wait before they close, so that a request seldom meets a connection that is just being closed.
const IDLE: Duration = Duration::from_secs(30);

/// One connection of a [`Pool`]; never reused.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ConnectionId(u64);

/// One request of a [`Pool`] and its response; never reused.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ExchangeId(u64);

/// What [`Pool::poll_output`] gives out.
///
/// Each exchange is a `Head`, any number of `Body`, then `End`; or `Failed` instead of what is missing.
#[derive(PartialEq, Eq)]
#[non_exhaustive]
pub enum PoolOutput<'a> {
    /// Open a connection to the origin, then say [`Pool::handle_connected`] or
    /// [`Pool::handle_connect_failed`].
    Connect(ConnectionId),
    /// Close this connection, or stop opening it.
    Close(ConnectionId),
    /// The head of a response.
    Head(ExchangeId, ResponseHead),
    /// Bytes of its body.
    Body(ExchangeId, &'a [u8]),
    /// The response is complete.
    End(ExchangeId),
    /// There is no response, or no more of it.
    Failed {
        /// Which exchange.
        exchange: ExchangeId,
        /// What happened, for people.
        reason: String,
        /// Whether surely no byte of the request has left, so that it may be sent again whatever it does.
        unsent: bool,
    },
}

/// Prints the length of a part of a body only.
impl fmt::Debug for PoolOutput<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Connect(id) => f.debug_tuple("Connect").field(id).finish(),
            Self::Close(id) => f.debug_tuple("Close").field(id).finish(),
            Self::Head(id, head) => f.debug_tuple("Head").field(id).field(head).finish(),
            Self::Body(id, bytes) => write!(f, "Body({id:?}, {} bytes)", bytes.len()),
            Self::End(id) => f.debug_tuple("End").field(id).finish(),
            Self::Failed { exchange, reason, unsent } => f
                .debug_struct("Failed")
                .field("exchange", exchange)
                .field("reason", reason)
                .field("unsent", unsent)
                .finish(),
        }
    }
}

/// Connections to one origin, opened when needed and kept for what comes next.
///
/// The connection that was used last is used next, so that those not needed grow old and are closed after
/// 30 s, or `Limits::keep_alive` if that is less. `Limits::connections` are open at most; further exchanges
/// wait in order, and with them and the running ones together `Limits::in_flight` is never passed.
///
/// # Repeating
///
/// A POST must not be carried out twice, so an exchange is repeated in one case only: its connection had
/// served another one before and turns out closed while no byte of the request was written. It is then sent
/// once more, on a fresh connection. A request of which any byte was written fails instead, with `unsent`
/// false, even if the server most likely never saw it.
#[derive(Debug)]
pub struct Pool {
    limits: Limits,
    seen: Instant,
    last_id: u64,
    connections: BTreeMap<ConnectionId, Slot>,
    /// Free connections, the one used last at the back.
    free: Vec<ConnectionId>,
    waiting: VecDeque<Waiting>,
    running: BTreeMap<ExchangeId, ConnectionId>,
    /// Connections that have something to tell, in the order in which it came.
    ready: VecDeque<ConnectionId>,
    news: VecDeque<News>,
}

#[derive(Debug)]
struct Waiting {
    exchange: ExchangeId,
    request: Encoded,
    /// Not on a connection that was used before.
    needs_fresh: bool,
}

/// What the pool itself has to tell.
#[derive(Debug)]
enum News {
    Connect(ConnectionId),
    Close(ConnectionId),
    Failed { exchange: ExchangeId, reason: String, unsent: bool },
}

impl Pool {
    /// No connections yet.
    pub fn new(limits: &Limits) -> Self {
        Self {
            limits: limits.clone(),
            seen: Instant::ZERO,
            last_id: 0,
            connections: BTreeMap::new(),
            free: Vec::new(),
            waiting: VecDeque::new(),
            running: BTreeMap::new(),
            ready: VecDeque::new(),
            news: VecDeque::new(),
        }
    }

    /// Sends a request as soon as a connection is free. A head that cannot be sent safely (see
    /// [`ClientConnection::request`]) makes the exchange fail.
    ///
    /// # Errors
    ///
    /// `Limits::in_flight` exchanges are under way.
    pub fn submit(&mut self, now: Now, head: &RequestHead, body: &[u8]) -> Result<ExchangeId, Full> {
        if self.in_flight() >= self.limits.in_flight {
            return Err(Full::new("in_flight", self.limits.in_flight));
        }
        let exchange = ExchangeId(self.next_id());
        match Encoded::whole(head, body) {
            Ok(request) => self.waiting.push_back(Waiting { exchange, request, needs_fresh: false }),
            Err(misuse) => {
                self.news.push_back(News::Failed { exchange, reason: misuse.message, unsent: true });
            }
        }
        self.dispatch();
        self.tick(now);
        Ok(exchange)
    }

    /// Whether no byte of a request has left, so that it can be taken back: it waits for a connection, or for that to be
    /// written to.
    pub fn is_unsent(&self, exchange: ExchangeId) -> bool {
        let connection = self.running.get(&exchange);
        self.waiting.iter().any(|waiting| waiting.exchange == exchange)
            || connection.and_then(|it| self.open_machine(*it)).is_some_and(ClientConnection::is_unsent)
    }

    /// Exchanges that wait or run.
    pub fn in_flight(&self) -> usize {
        self.waiting.len() + self.running.len()
    }

    /// Gives up an exchange; nothing more is said of it. If it has begun, its connection is closed, as
    /// HTTP/1.1 knows no other way.
    pub fn abort(&mut self, now: Now, exchange: ExchangeId) {
        self.waiting.retain(|waiting| waiting.exchange != exchange);
        if let Some(connection) = self.running.remove(&exchange) {
            self.close_connection(connection);
        }
        self.news
            .retain(|news| !matches!(news, News::Failed { exchange: failed, .. } if *failed == exchange));
        self.dispatch();
        self.tick(now);
    }

    /// Closes every connection. Exchanges that wait or run fail; ones that are submitted later open new
    /// connections.
    pub fn close(&mut self, now: Now) {
        let all: Vec<ConnectionId> = self.connections.keys().copied().collect();
        for (&exchange, connection) in &self.running {
            let over = self.connections.get(connection).is_some_and(|slot| slot.is_over);
            if !over {
                let reason = "the connection was closed on this side".to_string();
                self.news.push_back(News::Failed { exchange, reason, unsent: false });
            }
        }
        self.running.clear();
        for Waiting { exchange, .. } in self.waiting.drain(..) {
            let reason = "the connections were closed on this side".to_string();
            self.news.push_back(News::Failed { exchange, reason, unsent: true });
        }
        all.into_iter().for_each(|connection| self.close_connection(connection));
        self.tick(now);
    }

    /// The connection is open.
    pub fn handle_connected(&mut self, now: Now, connection: ConnectionId) {
        let machine = ClientConnection::new(now, &self.limits);
        if let Some(slot) = self.connections.get_mut(&connection)
            && slot.open(machine)
        {
            self.release(connection);
        }
        self.tick(now);
    }

    /// The connection could not be opened. The exchange that has waited longest fails for it.
    pub fn handle_connect_failed(&mut self, now: Now, connection: ConnectionId, reason: &str) {
        if self.connections.get(&connection).is_some_and(Slot::is_connecting) {
            self.connections.remove(&connection);
            if let Some(Waiting { exchange, .. }) = self.waiting.pop_front() {
                self.news.push_back(News::Failed { exchange, reason: reason.to_string(), unsent: true });
            }
            self.dispatch();
        }
        self.tick(now);
    }

    /// Bytes have arrived.
    pub fn handle_bytes(&mut self, now: Now, connection: ConnectionId, bytes: &[u8]) {
        if let Some(machine) = self.machine(connection) {
            machine.handle_bytes(now, bytes);
            self.attend(connection);
        }
        self.tick(now);
    }

    /// The server has ended its side, reading has failed, or a write has failed.
    pub fn handle_end(&mut self, now: Now, connection: ConnectionId, end: End) {
        if let Some(machine) = self.machine(connection) {
            machine.handle_end(now, end);
            self.attend(connection);
        } else {
            self.handle_connect_failed(now, connection, "the connection ended while it was being opened");
        }
        self.tick(now);
    }

    /// What there is to do or to tell.
    pub fn poll_output(&mut self) -> Option<PoolOutput<'_>> {
        if self.news.is_empty() {
            self.settle();
        }
        if let Some(news) = self.news.pop_front() {
            return Some(match news {
                News::Connect(connection) => PoolOutput::Connect(connection),
                News::Close(connection) => PoolOutput::Close(connection),
                News::Failed { exchange, reason, unsent } => PoolOutput::Failed { exchange, reason, unsent },
            });
        }
        // `settle` left a connection with output in front, if there is any.
        let connection = *self.ready.front()?;
        let slot = self.connections.get_mut(&connection)?;
        slot.is_over = slot.machine().is_some_and(|machine| machine.is_at_last_output());
        let is_over = slot.is_over;
        let (machine, exchange) = slot.running()?;
        if is_over {
            self.running.remove(&exchange);
        }
        Some(match machine.poll_output()? {
            ClientOutput::Head(head) => PoolOutput::Head(exchange, head),
            ClientOutput::Body(bytes) => PoolOutput::Body(exchange, bytes),
            ClientOutput::End => PoolOutput::End(exchange),
            ClientOutput::Failed { reason, unsent } => PoolOutput::Failed { exchange, reason, unsent },
        })
    }

    /// When to call [`handle_timeout`](Self::handle_timeout) at the latest.
    pub fn poll_timeout(&self) -> Option<Instant> {
        self.next_wake().map(|(at, _)| at)
    }

    /// What [`poll_timeout`](Self::poll_timeout) is for.
    pub fn wake_reason(&self) -> Option<WakeReason> {
        self.next_wake().map(|(_, reason)| reason)
    }

    fn next_wake(&self) -> Option<Wake> {
        earliest(self.connections.values().map(|slot| slot.next_wake(self.seen)))
    }

    /// Time has passed.
    pub fn handle_timeout(&mut self, now: Now) {
        self.tick(now);
        let due = |slot: &Slot| slot.next_wake(now.mono).is_some_and(|(at, _)| at <= now.mono);
        let due: Vec<ConnectionId> =
            self.connections.iter().filter(|(_, slot)| due(slot)).map(|(id, _)| *id).collect();
        for connection in due {
            let Some(slot) = self.connections.get_mut(&connection) else { continue };
            if slot.idle.is_due(now.mono) {
                self.close_connection(connection);
            } else if let Some(machine) = self.machine(connection) {
                machine.handle_timeout(now);
                self.attend(connection);
            }
        }
        self.dispatch();
        self.tick(now);
    }

    /// Bytes to write on a connection.
    pub fn transmit(&self, connection: ConnectionId) -> &[u8] {
        self.open_machine(connection).map(ClientConnection::transmit).unwrap_or_default()
    }

    /// So many bytes of [`transmit`](Self::transmit) were written.
    pub fn advance(&mut self, connection: ConnectionId, n: usize) {
        if let Some(machine) = self.machine(connection) {
            machine.advance(n);
        }
    }

    /// Whether to read from a connection now.
    pub fn wants_read(&self, connection: ConnectionId) -> bool {
        self.open_machine(connection).is_some_and(ClientConnection::wants_read)
    }

    /// Whether a connection is over, or unknown. A `Close` is or was given out for it.
    pub fn is_finished(&self, connection: ConnectionId) -> bool {
        match self.connections.get(&connection) {
            Some(slot) => slot.is_finished(),
            None => true,
        }
    }

    fn machine(&mut self, connection: ConnectionId) -> Option<&mut ClientConnection> {
        self.connections.get_mut(&connection).and_then(Slot::machine)
    }

    fn open_machine(&self, connection: ConnectionId) -> Option<&ClientConnection> {
        self.connections.get(&connection).and_then(Slot::open_machine)
    }

    fn next_id(&mut self) -> u64 {
        self.last_id += 1;
        self.last_id
    }

    fn tick(&mut self, now: Now) {
        self.seen = self.seen.max(now.mono);
        for slot in self.connections.values_mut() {
            slot.idle.arm(self.seen);
            // What `submit` began on a free connection knows the time, so it need not ask for it.
            if let Some(machine) = slot.machine() {
                machine.tick(now);
            }
        }
    }
}
