//! Connections of our own: the pool, and what each of its connections goes through until it can be used.

use std::collections::BTreeMap;
use std::net::IpAddr;
use std::sync::{Arc, OnceLock};
use std::task::Waker;

use mcp_proto::client::ExchangeId;
use mcp_proto::head::{End, RequestHead};
use mcp_proto::limits::Limits;
use mcp_proto::time::Now;
use mcp_proto::wire::http1::{ConnectionId, ExchangeId as PoolId, Pool, PoolOutput};

use super::super::Hooks;
use super::super::desk::Link;
use super::guarded::Guarded;
use super::route::Route;
use super::{HttpClient, Step};
use crate::endpoint::{Endpoint, Status};
use crate::runtime::Runtime;
use crate::wake::WakerSlot;

/// The pool, and which of its exchanges is which of the machine's.
pub(super) struct Pooled {
    pub(super) pool: Pool,
    route: Arc<Route>,
    /// Exchanges by the pool's number for them, and the other way round.
    exchanges: BTreeMap<PoolId, ExchangeId>,
    carriers: BTreeMap<ExchangeId, PoolId>,
    pub(super) connections: BTreeMap<ConnectionId, Arc<WakerSlot>>,
}

impl Pooled {
    pub(super) fn new(limits: &Limits, route: Arc<Route>) -> Self {
        Self {
            pool: Pool::new(limits),
            route,
            exchanges: BTreeMap::new(),
            carriers: BTreeMap::new(),
            connections: BTreeMap::new(),
        }
    }

    /// Tells the machine what has come, up to something that needs the lock to be free.
    pub(super) fn hear(&mut self, guarded: &mut Guarded, hooks: &Hooks, now: Now) -> Option<Step> {
        loop {
            match self.pool.poll_output()? {
                PoolOutput::Connect(connection) => {
                    self.connections.insert(connection, Arc::default());
                    return Some(Step::Connect(connection));
                }
                PoolOutput::Close(connection) => {
                    if let Some(waker) = self.connections.remove(&connection) {
                        return Some(Step::Wake(waker));
                    }
                }
                PoolOutput::Head(carrier, head) => {
                    if let Some(exchange) = self.exchanges.get(&carrier) {
                        guarded.head(now, *exchange, head);
                    }
                }
                PoolOutput::Body(carrier, bytes) => {
                    if let Some(exchange) = self.exchanges.get(&carrier) {
                        let copy = hooks.copy(bytes);
                        guarded.http.handle_body(now, *exchange, bytes);
                        if let Some(bytes) = copy {
                            return Some(Step::Received(bytes));
                        }
                    }
                }
                PoolOutput::End(carrier) => {
                    if let Some(exchange) = self.finish(carrier) {
                        guarded.end(now, exchange, End::Complete);
                    }
                }
                PoolOutput::Failed { exchange: carrier, reason, unsent } => {
                    if let Some(exchange) = self.finish(carrier) {
                        guarded.failed(now, exchange, &reason, unsent);
                    }
                }
                _ => {}
            }
        }
    }

    pub(super) fn send(
        &mut self,
        guarded: &mut Guarded,
        now: Now,
        exchange: ExchangeId,
        head: &RequestHead,
        body: &[u8],
    ) {
        match self.pool.submit(now, &self.route.head(head), body) {
            Ok(carrier) => {
                self.exchanges.insert(carrier, exchange);
                self.carriers.insert(exchange, carrier);
            }
            Err(full) => guarded.failed(now, exchange, &full.to_string(), true),
        }
    }

    pub(super) fn abort(&mut self, guarded: &mut Guarded, now: Now, exchange: ExchangeId) {
        if let Some(carrier) = self.carriers.remove(&exchange) {
            self.exchanges.remove(&carrier);
            self.pool.abort(now, carrier);
            guarded.forget(exchange);
        }
    }

    /// Takes back what has not left yet with another token than the one there is, or after that was taken back: it begins
    /// anew.
    #[cfg(feature = "auth")]
    pub(super) fn recall(&mut self, guarded: &mut Guarded, now: Now) {
        let stale = |(exchange, carrier): (&ExchangeId, &PoolId)| {
            (self.pool.is_unsent(*carrier) && !guarded.is_current(*exchange)).then_some(*exchange)
        };
        let stale: Vec<ExchangeId> = self.carriers.iter().filter_map(stale).collect();
        for exchange in stale {
            self.abort(guarded, now, exchange);
            guarded.begin_anew(now, exchange);
        }
    }

    pub(super) fn close(&mut self, now: Now) {
        self.pool.close(now);
    }

    /// Has timers that were set going begin to count.
    pub(super) fn count(&mut self, now: Now) {
        self.pool.handle_timeout(now);
    }

    fn finish(&mut self, carrier: PoolId) -> Option<ExchangeId> {
        let exchange = self.exchanges.remove(&carrier)?;
        self.carriers.remove(&exchange);
        Some(exchange)
    }
}

/// A machine behind a stream that is not ready at once: there are others in between, which have to come to terms with their
/// peers first.
pub(super) trait Channel: Endpoint {
    /// Everything below is ready.
    fn established(&self, now: Now);

    /// Something below has failed, for this reason.
    fn refused(&self, now: Now, reason: &str);
}

impl<R: Runtime> HttpClient<R> {
    /// Opens a connection.
    pub(super) fn connect(&self, id: ConnectionId) {
        let (Some(client), Some(route)) = (self.this.upgrade(), self.route.clone()) else { return };
        let waker = client.lock().machine.pooled().and_then(|pooled| pooled.connections.get(&id).cloned());
        // Gone when the pool gave it up before it was begun.
        let Some(waker) = waker else { return };
        let runtime = self.runtime.clone();
        let address = OnceLock::new();
        let opening = Opening(Arc::new(Connection { client, id, waker, address }));
        self.runtime.spawn(Box::pin(async move {
            let connection = opening.0.clone();
            match route.open(&runtime).await {
                Ok((address, stream)) => {
                    let _ = connection.address.set(address.ip());
                    let channel = route.layers(connection.clone());
                    channel.established(runtime.now());
                    let endpoint: Arc<dyn Endpoint> = channel;
                    runtime.drive(stream, endpoint).await;
                }
                Err(reason) => connection.refused(runtime.now(), &reason),
            }
        }));
    }
}

/// A connection on its way. One that comes to nothing, also because the runtime has no place for its task or
/// shuts down, must not be waited for.
struct Opening<R: Runtime>(Arc<Connection<R>>);

impl<R: Runtime> Drop for Opening<R> {
    fn drop(&mut self) {
        self.0.refused(self.0.client.runtime.now(), "the connection was given up");
    }
}

/// One connection of the pool, for whoever pumps it.
struct Connection<R: Runtime> {
    client: Arc<HttpClient<R>>,
    id: ConnectionId,
    waker: Arc<WakerSlot>,
    /// What it is connected to.
    address: OnceLock<IpAddr>,
}

impl<R: Runtime> Connection<R> {
    fn input(&self, input: impl FnOnce(&mut Pool)) {
        self.with(|pooled| input(&mut pooled.pool));
        self.client.advance(Some(self.id));
    }

    fn with<T>(&self, work: impl FnOnce(&mut Pooled) -> T) -> Option<T> {
        self.client.lock().machine.pooled().map(work)
    }
}

impl<R: Runtime> Channel for Connection<R> {
    fn established(&self, now: Now) {
        #[cfg(feature = "auth")]
        if let (Some(route), Some(address)) = (&self.client.route, self.address.get()) {
            route.arrive(*address);
        }
        self.input(|pool| pool.handle_connected(now, self.id));
    }

    fn refused(&self, now: Now, reason: &str) {
        self.with(|pooled| {
            // One that was open already fails as a connection that broke.
            pooled.pool.handle_connect_failed(now, self.id, reason);
            pooled.pool.handle_end(now, self.id, End::Broken);
            pooled.connections.remove(&self.id);
        });
        self.client.advance(None);
    }
}

impl<R: Runtime> Endpoint for Connection<R> {
    fn handle_bytes(&self, now: Now, bytes: &[u8]) {
        self.input(|pool| pool.handle_bytes(now, self.id, bytes));
    }

    fn handle_end(&self, now: Now, end: End) {
        self.input(|pool| pool.handle_end(now, self.id, end));
    }

    /// The response may have arrived before the server stopped reading the request, such as one that it finds
    /// too large. Reading ends with the connection.
    fn handle_write_failed(&self, _: Now) {}

    /// The timekeeper has the timers of the whole pool.
    fn handle_timeout(&self, _: Now) {}

    fn transmit(&self, _: Now, write: &mut dyn FnMut(&[u8]) -> usize) {
        self.with(|Pooled { pool, .. }| {
            let taken = write(pool.transmit(self.id));
            pool.advance(self.id, taken);
        });
    }

    fn status(&self) -> Status {
        let known = self.with(|Pooled { pool, .. }| {
            let finished = pool.is_finished(self.id) && pool.transmit(self.id).is_empty();
            (pool.wants_read(self.id), finished)
        });
        let (wants_read, finished) = known.unwrap_or((false, true));
        Status { timeout: None, wants_read, write_closed: false, finished }
    }

    fn register(&self, waker: &Waker) {
        self.waker.register(waker);
    }
}
