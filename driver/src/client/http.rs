//! A client on HTTP: the exchange machine, and the pool of connections that carries its exchanges.

#[cfg(feature = "auth")]
mod authorized;

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::task::Waker;

use mcp_proto::client::{
    AskId, CacheEntry, Call, CallId, CallOptions, Config, Endpoint as Url, ExchangeId, Http, HttpOutput,
    InputResponse, Pending, Refusal, Verdict,
};
use mcp_proto::error::{ApiMisuse, CallError};
use mcp_proto::head::End;
use mcp_proto::model::Tool;
use mcp_proto::time::{Instant, Now};
use mcp_proto::wire::http1::{ConnectionId, ExchangeId as PoolId, Pool, PoolOutput};

#[cfg(feature = "auth")]
use super::authorize::{Guard, Job};
use super::desk::{self, Desk, Effect, Link, Machine};
use super::{Hooks, Traffic};
use crate::endpoint::{Endpoint, Status};
use crate::error::Error;
use crate::runtime::Runtime;
use crate::timekeeper::keep_time;
use crate::turn::{Done, Turn};
use crate::wake::WakerSlot;

/// How the machine begins: with Streamable HTTP or with HTTP with SSE.
pub(super) type Begin = fn(Now, Arc<Config>, Url) -> Http;

pub(super) struct HttpClient<R: Runtime> {
    runtime: R,
    hooks: Hooks,
    host: String,
    port: u16,
    inner: Mutex<desk::Inner<Carried>>,
    turn: Turn,
    /// Wakes whoever keeps the time.
    time: WakerSlot,
    this: Weak<Self>,
}

/// The exchange machine together with what carries it.
pub(super) struct Carried {
    http: Http,
    pool: Pool,
    /// Exchanges by the pool's number for them, and the other way round.
    exchanges: BTreeMap<PoolId, ExchangeId>,
    carriers: BTreeMap<ExchangeId, PoolId>,
    connections: BTreeMap<ConnectionId, Arc<WakerSlot>>,
    #[cfg(feature = "auth")]
    guard: Option<Guard>,
    /// When whoever keeps the time will wake by itself.
    armed: Option<Instant>,
}

impl Machine for Carried {
    fn start<C: Call>(
        &mut self,
        now: Now,
        call: &C,
        options: CallOptions,
    ) -> Result<Pending<C::Reply>, CallError> {
        self.http.start(now, call, options)
    }

    fn take<T>(&mut self, pending: &Pending<T>) -> Option<Result<T, CallError>> {
        self.http.take(pending)
    }

    fn cancel(&mut self, now: Now, call: CallId) {
        self.http.cancel(now, call);
    }

    fn forget(&mut self, call: CallId) {
        self.http.forget(call);
    }

    fn answer(
        &mut self,
        now: Now,
        ask: AskId,
        answer: Result<InputResponse, Refusal>,
    ) -> Result<(), ApiMisuse> {
        self.http.answer(now, ask, answer)
    }

    fn retry(&mut self, now: Now, call: CallId) {
        self.http.retry(now, call);
    }

    fn stop(&mut self, now: Now, call: CallId) {
        self.http.stop(now, call);
    }

    fn roots_changed(&mut self, now: Now) {
        self.http.roots_changed(now);
    }

    fn cache(&self, now: Now) -> Vec<CacheEntry> {
        self.http.cache(now)
    }

    fn clear_cache(&mut self) {
        self.http.clear_cache();
    }

    fn learn_tool(&mut self, tool: &Tool) -> Result<(), String> {
        self.http.learn_tool(tool)
    }

    fn has_output(&self) -> bool {
        self.http.has_output()
    }
}

/// What is to be done once the lock is free.
enum Step {
    Effect(Effect),
    Connect(ConnectionId),
    Wake(Arc<WakerSlot>),
    Sent(Vec<u8>),
    Received(Vec<u8>),
    #[cfg(feature = "auth")]
    Authorize(Box<Job>),
}

impl Carried {
    /// Lets machine and pool talk to each other, up to something that needs the lock to be free.
    fn step(&mut self, desk: &mut Desk, hooks: &Hooks, now: Now) -> Option<Step> {
        let mut counting = false;
        loop {
            // What has come goes first: a connection whose response is complete is free again before anybody
            // hears of the response and makes the next call.
            match self.pool.poll_output() {
                Some(PoolOutput::Connect(connection)) => {
                    self.connections.insert(connection, Arc::default());
                    return Some(Step::Connect(connection));
                }
                Some(PoolOutput::Close(connection)) => {
                    if let Some(waker) = self.connections.remove(&connection) {
                        return Some(Step::Wake(waker));
                    }
                }
                Some(PoolOutput::Head(carrier, head)) => {
                    if let Some(exchange) = self.exchanges.get(&carrier).copied() {
                        #[cfg(feature = "auth")]
                        self.note_head(exchange, &head);
                        self.http.handle_head(now, exchange, head);
                    }
                }
                Some(PoolOutput::Body(carrier, bytes)) => {
                    if let Some(exchange) = self.exchanges.get(&carrier) {
                        let copy = hooks.copy(bytes);
                        self.http.handle_body(now, *exchange, bytes);
                        if let Some(bytes) = copy {
                            return Some(Step::Received(bytes));
                        }
                    }
                }
                Some(PoolOutput::End(carrier)) => {
                    if let Some(exchange) = self.finish(carrier) {
                        self.http.handle_end(now, exchange, End::Complete);
                    }
                }
                Some(PoolOutput::Failed { exchange: carrier, reason, unsent }) => {
                    if let Some(exchange) = self.finish(carrier) {
                        self.http.handle_failed(now, exchange, &reason, unsent);
                    }
                }
                Some(_) => {}
                None => match self.http.poll_output() {
                    Some(HttpOutput::Event(event)) => {
                        let effect = desk.note(event);
                        if desk.is_closed() {
                            self.pool.close(now);
                        }
                        return Some(Step::Effect(effect));
                    }
                    Some(HttpOutput::Send { exchange, request }) => {
                        #[cfg(feature = "auth")]
                        let head = match self.admit(now, exchange, &request) {
                            Ok(head) => head,
                            Err(Some(step)) => return Some(step),
                            Err(None) => continue,
                        };
                        #[cfg(not(feature = "auth"))]
                        let head = std::borrow::Cow::Borrowed(&request.head);
                        match self.pool.submit(now, &head, &request.body) {
                            Ok(carrier) => {
                                self.exchanges.insert(carrier, exchange);
                                self.carriers.insert(exchange, carrier);
                            }
                            Err(full) => {
                                self.http.handle_failed(now, exchange, &full.to_string(), true);
                                #[cfg(feature = "auth")]
                                self.forget(exchange);
                            }
                        }
                        if let Some(body) = hooks.copy(&request.body) {
                            return Some(Step::Sent(body));
                        }
                    }
                    Some(HttpOutput::Abort(exchange)) => {
                        if let Some(carrier) = self.carriers.remove(&exchange) {
                            self.exchanges.remove(&carrier);
                            self.pool.abort(now, carrier);
                            #[cfg(feature = "auth")]
                            self.forget(exchange);
                        }
                    }
                    #[cfg(feature = "auth")]
                    Some(HttpOutput::Refused { exchange, head }) => {
                        if let Some(step) = self.refused(now, exchange, &head) {
                            return Some(step);
                        }
                    }
                    Some(_) => {}
                    None if counting => return None,
                    None => {
                        // Timers that were set going begin to count, so that nobody has to be woken for that.
                        self.pool.handle_timeout(now);
                        counting = true;
                    }
                },
            }
        }
    }

    fn finish(&mut self, carrier: PoolId) -> Option<ExchangeId> {
        let exchange = self.exchanges.remove(&carrier)?;
        self.carriers.remove(&exchange);
        #[cfg(feature = "auth")]
        self.forget(exchange);
        Some(exchange)
    }

    fn timeout(&self) -> Option<Instant> {
        self.http.poll_timeout().into_iter().chain(self.pool.poll_timeout()).min()
    }
}

impl<R: Runtime> HttpClient<R> {
    /// A client of the server at a URL. Connections are opened as they are needed.
    pub(super) fn open(
        runtime: &R,
        config: Arc<Config>,
        hooks: Hooks,
        server: &str,
        begin: Begin,
    ) -> Result<Arc<Self>, Error> {
        let url = Url::parse(server)?;
        if url.secure {
            return Err(ApiMisuse::new(
                "https is not built in yet: put a proxy that speaks TLS in between, or use http on loopback",
            )
            .into());
        }
        let (host, port) = (url.host().to_owned(), url.port());
        let now = runtime.now();
        let pool = Pool::new(&config.limits);
        #[cfg(feature = "auth")]
        let guard = match hooks.authorize.clone() {
            Some(options) => Some(Guard::new(runtime, options, &config.limits, server)?),
            None => None,
        };
        let client = Arc::new_cyclic(|this| Self {
            runtime: runtime.clone(),
            hooks,
            host,
            port,
            inner: Mutex::new(desk::Inner {
                machine: Carried {
                    http: begin(now, config, url),
                    pool,
                    exchanges: BTreeMap::new(),
                    carriers: BTreeMap::new(),
                    connections: BTreeMap::new(),
                    #[cfg(feature = "auth")]
                    guard,
                    armed: None,
                },
                desk: Desk::default(),
            }),
            turn: Turn::default(),
            time: WakerSlot::default(),
            this: this.clone(),
        });
        runtime.spawn(Box::pin(keep_time(runtime.clone(), Arc::new(Timekeeper(client.clone())))));
        client.turn();
        Ok(client)
    }

    /// Sets a field of all requests from now on.
    pub(super) fn set_header(&self, name: &str, value: &[u8]) {
        self.lock().machine.http.set_header(name, value);
    }

    pub(super) fn verdict(&self) -> Option<Verdict> {
        self.lock().machine.http.verdict()
    }

    /// Ends the connection, and with it a legacy session.
    pub(super) fn close(&self) {
        let now = self.runtime.now();
        self.lock().machine.http.close(now);
        self.turn();
    }

    /// Does what machine and pool say; `except` names a connection that looks for output by itself.
    fn advance(&self, except: Option<ConnectionId>) {
        let Some(this) = self.this.upgrade() else { return };
        let done = self.turn.run(|| {
            loop {
                let mut inner = self.lock();
                let desk::Inner { machine, desk } = &mut *inner;
                let step = machine.step(desk, &self.hooks, self.runtime.now());
                drop(inner);
                match step {
                    Some(Step::Effect(effect)) => effect.perform(&this),
                    Some(Step::Connect(connection)) => self.connect(connection),
                    Some(Step::Wake(waker)) => waker.wake(),
                    #[cfg(feature = "auth")]
                    Some(Step::Authorize(job)) => self.authorize(job),
                    Some(Step::Sent(bytes)) => self.hooks.traffic(Traffic::Sent(&bytes)),
                    Some(Step::Received(bytes)) => self.hooks.traffic(Traffic::Received(&bytes)),
                    None => return,
                }
            }
        });
        match done {
            Done::ByAnother => {}
            Done::Alone => self.wake(|machine, connection| {
                Some(connection) != except && !machine.pool.transmit(connection).is_empty()
            }),
            // What the others gave in may be read on, now that it is worked off.
            Done::ForOthers => self.wake(|_, connection| Some(connection) != except),
        }
    }

    /// Wakes connections, and the timekeeper when it sleeps too long.
    fn wake(&self, which: impl Fn(&Carried, ConnectionId) -> bool) {
        let inner = self.lock();
        let machine = &inner.machine;
        let connections = machine.connections.iter().filter(|(id, _)| which(machine, **id));
        let wakers: Vec<_> = connections.map(|(_, waker)| waker.clone()).collect();
        let sooner = match (machine.timeout(), machine.armed) {
            (Some(timeout), Some(armed)) => timeout < armed,
            (Some(_), None) => true,
            (None, _) => false,
        };
        let over = inner.desk.is_closed();
        drop(inner);
        wakers.iter().for_each(|waker| waker.wake());
        if sooner || over {
            self.time.wake();
        }
    }

    fn connect(&self, connection: ConnectionId) {
        let Some(client) = self.this.upgrade() else {
            return;
        };
        let runtime = self.runtime.clone();
        let opening = Opening { client, connection };
        self.runtime.spawn(Box::pin(async move {
            let client = opening.client.clone();
            let stream = match runtime.connect(client.host.clone(), client.port).await {
                Ok(stream) => stream,
                Err(error) => {
                    let reason = format!("cannot connect to {}, port {}: {error}", client.host, client.port);
                    return opening.failed(&reason);
                }
            };
            let waker = {
                let machine = &mut client.lock().machine;
                machine.pool.handle_connected(runtime.now(), connection);
                // Gone when the pool closed the connection before it was there.
                machine.connections.get(&connection).cloned()
            };
            if let Some(waker) = waker {
                client.advance(Some(connection));
                let end = Connection { client: client.clone(), id: connection, waker };
                runtime.drive(stream, Arc::new(end)).await;
            }
        }));
    }
}

/// A connection on its way. One that comes to nothing, also because the runtime has no place for its task or
/// shuts down, must not be waited for.
struct Opening<R: Runtime> {
    client: Arc<HttpClient<R>>,
    connection: ConnectionId,
}

impl<R: Runtime> Opening<R> {
    fn failed(&self, reason: &str) {
        {
            let machine = &mut self.client.lock().machine;
            let now = self.client.runtime.now();
            // One that was open already fails as a connection that broke.
            machine.pool.handle_connect_failed(now, self.connection, reason);
            machine.pool.handle_end(now, self.connection, End::Broken);
            machine.connections.remove(&self.connection);
        }
        self.client.advance(None);
    }
}

impl<R: Runtime> Drop for Opening<R> {
    fn drop(&mut self) {
        self.failed("the connection was given up");
    }
}

impl<R: Runtime> Link for HttpClient<R> {
    type Machine = Carried;
    type Runtime = R;

    fn runtime(&self) -> &R {
        &self.runtime
    }

    fn hooks(&self) -> &Hooks {
        &self.hooks
    }

    fn lock(&self) -> MutexGuard<'_, desk::Inner<Carried>> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn turn(&self) {
        self.advance(None);
    }
}

/// One connection of the pool, for whoever pumps it.
struct Connection<R: Runtime> {
    client: Arc<HttpClient<R>>,
    id: ConnectionId,
    waker: Arc<WakerSlot>,
}

impl<R: Runtime> Connection<R> {
    fn input(&self, input: impl FnOnce(&mut Pool)) {
        input(&mut self.client.lock().machine.pool);
        self.client.advance(Some(self.id));
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
        let pool = &mut self.client.lock().machine.pool;
        let taken = write(pool.transmit(self.id));
        pool.advance(self.id, taken);
    }

    fn status(&self) -> Status {
        let inner = self.client.lock();
        let pool = &inner.machine.pool;
        Status {
            timeout: None,
            wants_read: pool.wants_read(self.id),
            write_closed: false,
            finished: pool.is_finished(self.id) && pool.transmit(self.id).is_empty(),
        }
    }

    fn register(&self, waker: &Waker) {
        self.waker.register(waker);
    }
}

/// The timers of machine and pool, and the end of both.
struct Timekeeper<R: Runtime>(Arc<HttpClient<R>>);

impl<R: Runtime> Endpoint for Timekeeper<R> {
    fn handle_bytes(&self, _: Now, _: &[u8]) {}

    fn handle_end(&self, _: Now, _: End) {}

    fn handle_timeout(&self, now: Now) {
        {
            let machine = &mut self.0.lock().machine;
            machine.armed = None;
            machine.http.handle_timeout(now);
            machine.pool.handle_timeout(now);
        }
        self.0.advance(None);
    }

    fn transmit(&self, _: Now, _: &mut dyn FnMut(&[u8]) -> usize) {}

    fn status(&self) -> Status {
        let mut inner = self.0.lock();
        let timeout = inner.machine.timeout();
        inner.machine.armed = timeout;
        let finished = inner.desk.is_closed() && inner.machine.connections.is_empty();
        Status { timeout, wants_read: false, write_closed: false, finished }
    }

    fn register(&self, waker: &Waker) {
        self.0.time.register(waker);
    }
}
