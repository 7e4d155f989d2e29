//! A server on HTTP: what its exchanges share, and its connections.

use std::collections::BTreeMap;
use std::fmt;
use std::future::{Future, poll_fn};
use std::io;
use std::net::SocketAddr;
use std::pin::Pin;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::task::{Poll, Waker};
use std::time::Duration;

use mcp_proto::head::End;
use mcp_proto::server::{
    Admission, Change, Config, ExchangeId, Hosts, Listen, Listeners, SessionAnswer, SessionOutput,
    SessionQuery, Sessions, SseSessions,
};
use mcp_proto::time::Now;

use super::exchange::ExchangeHandle;
use super::hub::{Member, Membership};
use super::session::{OwnerHook, SessionSetup, with_events};
use super::stop::{self, Bounded, Open, Remaining, Stop, StopOnDrop, StopState};
use super::store::Stored;
use super::{Server, Shared, connection};
use crate::context::Report;
use crate::endpoint::{Endpoint, Status};
use crate::error::Error;
use crate::reply::{Mode, Running};
use crate::runtime::Runtime;
use crate::timekeeper::keep_time;
use crate::turn::Turn;

impl<R: Runtime> Server<R> {
    /// Serves Streamable HTTP on a TCP address such as `127.0.0.1:8000`, at the path `/mcp`, until the
    /// process ends or the reply is dropped.
    ///
    /// A server for one machine listens on a loopback address (HTTP-05), and better on stdio: over HTTP every program
    /// of the machine can reach it, so that it needs a [`resource_server`](Self::resource_server) or nothing to
    /// protect (SEC-23). Requests must name a loopback host unless others are allowed, by
    /// [`allow_host`](Self::allow_host).
    ///
    /// # Errors
    /// When the definition of the server is not valid, or the address cannot be listened on.
    pub fn serve_http(self, address: impl Into<String>) -> <R::Mode as Mode>::Reply<(), Error> {
        let (runtime, address) = (self.runtime.clone(), address.into());
        runtime.run(Running::task(async move {
            let server = HttpServer::bind(self, address).await?;
            server.accept_all().await;
            Ok(())
        }))
    }

    /// Binds the address and returns, so that its port is known before anybody connects.
    ///
    /// # Errors
    /// As of [`serve_http`](Self::serve_http).
    pub fn bind_http(self, address: impl Into<String>) -> <R::Mode as Mode>::Reply<HttpServer<R>, Error> {
        let (runtime, address) = (self.runtime.clone(), address.into());
        runtime.run(Running::task(HttpServer::bind(self, address)))
    }

    /// The server as something that answers exchanges, for an HTTP stack of your own.
    ///
    /// # Errors
    /// When the definition of the server is not valid, or there is no entropy for session ids.
    pub fn into_http_service(self) -> Result<Arc<HttpService<R>>, Error> {
        let mut server = self;
        let config = server.live.offer().config().clone();
        let SessionSetup { store, owner, events } = std::mem::take(&mut server.sessions);
        let shared = server.into_shared()?;
        let seed = shared.runtime.seed().map_err(|error| Error::io("asking for entropy", error))?;
        let sessions = with_events(Sessions::new(&shared.config.limits, seed), events);
        let seed = shared.runtime.seed().map_err(|error| Error::io("asking for entropy", error))?;
        let streams = Mutex::new(SseSessions::new(&shared.config.limits, seed));
        let listeners = Mutex::new(Listeners::new(&shared.config.limits));
        let service = Arc::new_cyclic(|this: &Weak<HttpService<R>>| HttpService {
            membership: shared.hub.enter(None, this.clone()),
            shared,
            sessions: Mutex::new(sessions),
            store,
            owner,
            listeners,
            streams,
            routes: Mutex::default(),
            next_id: AtomicU64::new(0),
            kept: Bounded::new(config.limits.listens),
            unattended: Bounded::new(config.limits.unattended),
            open: Open::default(),
            routing: Turn::default(),
            this: this.clone(),
        });
        Ok(service)
    }
}

/// What all exchanges of a server share. Modern exchanges only read of it.
pub struct HttpService<R: Runtime> {
    shared: Arc<Shared<R>>,
    sessions: Mutex<Sessions>,
    pub(super) store: Option<Stored>,
    pub(super) owner: Option<OwnerHook>,
    /// Which exchanges listen for what.
    listeners: Mutex<Listeners>,
    /// The event streams of HTTP with SSE.
    streams: Mutex<SseSessions>,
    /// Exchanges that listen, and legacy ones that the session table may have something for.
    routes: Mutex<BTreeMap<ExchangeId, Weak<ExchangeHandle<R>>>>,
    next_id: AtomicU64,
    /// Streams that clients keep open for what there is to say.
    kept: Bounded,
    /// Exchanges that go on without a connection.
    unattended: Bounded,
    /// The exchanges that are under way.
    open: Open,
    /// What the table has for one exchange must arrive in order.
    routing: Turn,
    pub(super) this: Weak<Self>,
    /// Kept for its end.
    #[expect(dead_code, reason = "whoever is dropped with it hears of no changes")]
    membership: Membership,
}

impl<R: Runtime> HttpService<R> {
    pub(super) fn shared(&self) -> &Shared<R> {
        &self.shared
    }

    pub(super) fn config(&self) -> &Arc<Config> {
        &self.shared.config
    }

    /// The runtime that the server runs on.
    pub fn runtime(&self) -> &R {
        &self.shared.runtime
    }

    pub(super) fn now(&self) -> Now {
        self.shared.runtime.now()
    }

    pub(super) fn next_id(&self) -> ExchangeId {
        ExchangeId::new(self.next_id.fetch_add(1, Ordering::Relaxed))
    }

    /// Asks the session table on behalf of an exchange.
    pub(super) fn query(&self, query: SessionQuery) -> SessionAnswer {
        self.sessions().handle_query(self.now(), query)
    }

    /// Remembers where to find an exchange that its session may have something for.
    pub(super) fn remember_route(&self, id: ExchangeId, exchange: Weak<ExchangeHandle<R>>) {
        self.routes().insert(id, exchange);
    }

    pub(super) fn forget_route(&self, id: ExchangeId) {
        self.routes().remove(&id);
    }

    /// Passes on what the session table has for exchanges.
    pub(super) fn route(&self) {
        let mut fed = Vec::new();
        self.routing.run(|| {
            loop {
                let output = self.sessions().poll_output();
                let Some(output) = output else {
                    break;
                };
                if let SessionOutput::Refresh { session } = output {
                    self.refresh(session);
                    continue;
                }
                let exchange = output.exchange().and_then(|exchange| self.routed(exchange));
                let Some(exchange) = exchange else { continue };
                exchange.handle_output(output);
            }
            loop {
                let output = self.streams().poll_output();
                let Some(output) = output else {
                    break;
                };
                if let Some(exchange) = self.routed(output.exchange) {
                    exchange.feed_message(output);
                    fed.push(exchange);
                }
            }
        });
        // Not in turn, as others would wait for handlers.
        fed.iter().for_each(|exchange| exchange.serve_messages());
    }

    fn routed(&self, exchange: ExchangeId) -> Option<Arc<ExchangeHandle<R>>> {
        self.routes().get(&exchange)?.upgrade()
    }

    /// Reclaims sessions that sit idle, and sees to those that do not.
    fn tidy(&self, now: Now) {
        self.sessions().handle_timeout(now);
        self.route();
    }

    /// The same on the occasion of an exchange whose time has come: behind an HTTP stack of somebody's own nobody
    /// else keeps the time, and a store must hear of sessions whose clients only listen.
    pub(super) fn tend(&self, now: Now) {
        if self.store.is_some() {
            self.tidy(now);
        }
    }

    /// Whether an exchange may listen. If so, it is told of changes until it leaves.
    pub(super) fn admit(&self, id: ExchangeId, listen: Listen) -> Admission {
        let admission = self.shared.admit(&listen, None);
        let wanted = match &admission {
            Admission::Granted => listen.wanted,
            Admission::Partly(wanted) => wanted.clone(),
            _ => return admission,
        };
        match self.listeners().admit(id, wanted) {
            Admission::Granted => admission,
            full => full,
        }
    }

    pub(super) fn kept(&self) -> &Bounded {
        &self.kept
    }

    pub(super) fn unattended(&self) -> &Bounded {
        &self.unattended
    }

    pub(super) fn leave(&self, id: ExchangeId) {
        self.listeners().remove(id);
    }

    /// Ends the streams of those who listen, with their result, and those of HTTP with SSE after their calls, for an
    /// HTTP stack of your own that is about to stop. Calls go on.
    pub fn shutdown(&self) {
        let mut ids: Vec<_> = self.listeners().iter().collect();
        ids.extend(self.streams().exchanges());
        self.find(ids).iter().for_each(|exchange| exchange.shutdown());
    }

    /// Modern clients that listen now.
    pub fn listener_count(&self) -> usize {
        self.listeners().len()
    }

    fn find(&self, ids: Vec<ExchangeId>) -> Vec<Arc<ExchangeHandle<R>>> {
        let routes = self.routes();
        ids.iter().filter_map(|id| routes.get(id).and_then(Weak::upgrade)).collect()
    }

    fn listeners(&self) -> MutexGuard<'_, Listeners> {
        self.listeners.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes no more requests, lets those under way finish for so long, then answers with an error what is left.
    /// For an HTTP stack of your own that is about to stop; a server that listens has
    /// [`Stop::drain`](super::Stop::drain). Streams on which only others speak end at once.
    ///
    /// # Errors
    /// None so far.
    pub fn drain(self: &Arc<Self>, limit: Duration) -> <R::Mode as Mode>::Reply<(), Error> {
        let service = self.clone();
        self.runtime().run(Running::task(async move {
            service.open.drain();
            service.all_routes().iter().for_each(|exchange| exchange.shutdown());
            let until = service.now().mono + limit;
            if !service.open.is_empty_by(service.runtime(), until).await {
                service.give_up();
                service.open.is_empty_by(service.runtime(), until + stop::LAST_WORDS).await;
            }
            Ok(())
        }))
    }

    pub(super) fn open(&self) -> &Open {
        &self.open
    }

    /// Waits no longer for what is under way.
    fn give_up(&self) {
        self.shared.tasks.give_up(self.now());
        self.all_routes().iter().for_each(|exchange| exchange.give_up());
    }

    fn all_routes(&self) -> Vec<Arc<ExchangeHandle<R>>> {
        self.routes().values().filter_map(Weak::upgrade).collect()
    }

    /// Legacy sessions that are open now.
    pub fn session_count(&self) -> usize {
        self.sessions().len() + self.streams().len()
    }

    pub(super) fn sessions(&self) -> MutexGuard<'_, Sessions> {
        self.sessions.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn streams(&self) -> MutexGuard<'_, SseSessions> {
        self.streams.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn routes(&self) -> MutexGuard<'_, BTreeMap<ExchangeId, Weak<ExchangeHandle<R>>>> {
        self.routes.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<R: Runtime> Member for HttpService<R> {
    fn tell(&self, change: &Change) {
        let ids = self.listeners().told(change);
        if !ids.is_empty() {
            self.find(ids).iter().for_each(|exchange| exchange.tell(change));
        }
        if let Change::Task(_) = change {
            // Older clients do not know of such.
            return;
        }
        let offer = self.shared.live.offer();
        let ids = self.streams().exchanges().collect();
        self.find(ids).iter().for_each(|exchange| exchange.tell_stream(change));
        self.sessions().publish(self.now(), offer.config(), change);
        self.route();
    }
}

impl<R: Runtime> fmt::Debug for HttpService<R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("HttpService")
            .field("identity", &self.shared.config.identity())
            .finish_non_exhaustive()
    }
}

/// The session table as a machine with timers only: it reclaims what sits idle.
struct Janitor<R: Runtime>(Arc<HttpService<R>>);

impl<R: Runtime> Endpoint for Janitor<R> {
    fn handle_bytes(&self, _: Now, _: &[u8]) {}

    fn handle_end(&self, _: Now, _: End) {}

    fn handle_timeout(&self, now: Now) {
        self.0.tidy(now);
    }

    fn transmit(&self, _: Now, _: &mut dyn FnMut(&[u8]) -> usize) {}

    fn status(&self) -> Status {
        // Sessions idle for minutes: looking once a minute is often enough, and nobody needs to be woken
        // when one is opened.
        let look = self.0.now().mono + Duration::from_secs(60);
        let timeout = self.0.sessions().poll_timeout().map_or(look, |timeout| timeout.min(look));
        Status { timeout: Some(timeout), wants_read: false, write_closed: false, finished: false }
    }

    fn register(&self, _: &Waker) {}
}

/// A server that listens.
pub struct HttpServer<R: Runtime> {
    service: Arc<HttpService<R>>,
    listener: R::Listener,
    address: SocketAddr,
    stop: Arc<StopState>,
}

impl<R: Runtime> HttpServer<R> {
    async fn bind(server: Server<R>, address: String) -> Result<Self, Error> {
        let service = server.into_http_service()?;
        if address.rsplit_once(':').is_none_or(|(host, port)| host.is_empty() || port.parse::<u16>().is_err())
        {
            let expected = "expected HOST:PORT, such as `127.0.0.1:8000`";
            return Err(Error::io(
                format!("listening on `{address}`"),
                io::Error::new(io::ErrorKind::InvalidInput, expected),
            ));
        }
        let listener = service.runtime().listen(address.clone()).await;
        let listener = listener.map_err(|error| Error::io(format!("listening on {address}"), error))?;
        let address = service.runtime().local_address(&listener);
        let address = address.map_err(|error| Error::io("asking for the address of the listener", error))?;
        if address.ip().is_unspecified() && service.config().http.hosts == Hosts::default() {
            let detail = "listens on every interface, and answers for loopback names only: listen on a loopback \
                          address, or say with `Server::allow_host` how clients name this server";
            service.shared().report(&Report::ours("server", detail));
        }
        let (runtime, patience) = (service.runtime().clone(), service.config().limits.shutdown);
        let stop = Arc::new(StopState::new(move || runtime.now().mono, patience));
        Ok(Self { service, listener, address, stop })
    }

    /// The address that clients connect to.
    pub fn local_address(&self) -> SocketAddr {
        self.address
    }

    /// The URL that clients connect to, when the server listens on one address.
    pub fn url(&self) -> String {
        let path = self.service.config().http.path.as_deref().unwrap_or("/");
        format!("http://{}{path}", self.address)
    }

    /// A handle that ends [`serve`](Self::serve).
    pub fn stop_handle(&self) -> Stop {
        Stop::new(&self.stop)
    }

    /// Serves until it is stopped: then no connection is accepted any more, and requests under way finish.
    ///
    /// # Errors
    /// None so far: connections that fail, and accepting that does, are reported and gone on with.
    pub fn serve(self) -> <R::Mode as Mode>::Reply<(), Error> {
        let runtime = self.service.runtime().clone();
        runtime.run(Running::task(async move {
            self.accept_all().await;
            Ok(())
        }))
    }

    async fn accept_all(self) {
        let Self { service, listener, stop, .. } = self;
        let runtime = service.runtime().clone();
        let mut janitor = Box::pin(keep_time(runtime.clone(), Arc::new(Janitor(service.clone()))));
        // A server that is dropped while it serves leaves no connection behind.
        let _stop_when_dropped = StopOnDrop(stop.clone());
        accept(&service, &stop, listener, &mut janitor).await;
        // Calls whose clients have left go on without a connection.
        let left = Left(&*service);
        let mut finished = Box::pin(stop.finish(&runtime, &left));
        poll_fn(|cx| {
            let _ = janitor.as_mut().poll(cx);
            finished.as_mut().poll(cx)
        })
        .await;
    }
}

/// Accepts connections until the server is stopped. Then nobody listens any more: those that wait in the operating system
/// are closed, and do not wait until what runs has come to its end.
async fn accept<R: Runtime>(
    service: &Arc<HttpService<R>>,
    stop: &Arc<StopState>,
    mut listener: R::Listener,
    janitor: &mut (impl Future<Output = ()> + Unpin),
) {
    let runtime = service.runtime();
    let mut backoff = Backoff::default();
    while !stop.is_stopped() {
        // At the bound, further connections wait in the operating system until one ends.
        poll_fn(|cx| {
            let _ = Pin::new(&mut *janitor).poll(cx);
            stop.register(cx.waker());
            let room = stop.open() < service.config().limits.accepted;
            if room || stop.is_stopped() { Poll::Ready(()) } else { Poll::Pending }
        })
        .await;
        let mut accepted = runtime.accept(listener);
        let next = poll_fn(|cx| {
            let _ = Pin::new(&mut *janitor).poll(cx);
            stop.register(cx.waker());
            if stop.is_stopped() {
                return Poll::Ready(None);
            }
            accepted.as_mut().poll(cx).map(Some)
        });
        let Some((back, stream)) = next.await else {
            break;
        };
        listener = back;
        match stream {
            Ok(stream) => {
                backoff = Backoff::default();
                connection::serve(service, stop, stream);
            }
            // Out of descriptors, or a connection that was reset before it was taken: neither ends the
            // server, but trying again at once would spin.
            Err(error) => {
                service.shared().report(&Report::ours("accepting a connection", error.to_string()));
                let mut pause = runtime.sleep_until(runtime.now().mono + backoff.next());
                poll_fn(|cx| {
                    let _ = Pin::new(&mut *janitor).poll(cx);
                    stop.register(cx.waker());
                    if stop.is_stopped() { Poll::Ready(()) } else { pause.as_mut().poll(cx) }
                })
                .await;
            }
        }
    }
}

/// The exchanges of a server that stops, for those that have no connection any more.
struct Left<'a, R: Runtime>(&'a HttpService<R>);

impl<R: Runtime> Remaining for Left<'_, R> {
    fn are_over(&self, waker: &Waker) -> bool {
        self.0.open.is_empty(waker)
    }

    fn give_up(&self) {
        self.0.give_up();
    }
}

/// How long to wait after the last failure and before the next try.
#[derive(Default)]
struct Backoff(u32);

impl Backoff {
    /// 20 ms, and twice as long each time, up to about a second.
    fn next(&mut self) -> Duration {
        let pause = Duration::from_millis(20 << self.0);
        self.0 = (self.0 + 1).min(6);
        pause
    }
}

impl<R: Runtime> fmt::Debug for HttpServer<R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("HttpServer").field("address", &self.address).finish_non_exhaustive()
    }
}
