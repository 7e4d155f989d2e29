//! A client on HTTP: the exchange machine, and what carries its exchanges.

#[cfg(feature = "auth")]
mod authorized;
mod dial;
mod exchanger;
#[cfg(feature = "auth")]
mod fetch;
mod guarded;
mod layer;
mod pooled;
mod proxy;
mod route;
#[cfg(feature = "tls")]
mod tls;
mod tunnel;

use std::borrow::Cow;
#[cfg(feature = "auth")]
use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::task::Waker;

use mcp_proto::client::{
    AskId, CacheEntry, Call, CallId, CallOptions, Config, Endpoint as Url, ExchangeId, Http, HttpOutput,
    HttpRequest, InputResponse, Notice, Pending, Refusal, Subscription, SubscriptionId, Verdict,
};
use mcp_proto::entropy::Seed;
use mcp_proto::error::{ApiMisuse, CallError};
use mcp_proto::head::{End, RequestHead};
use mcp_proto::model::{LoggingLevel, SubscriptionFilter, Tool};
use mcp_proto::time::{Instant, Now};
use mcp_proto::wire::http1::ConnectionId;

#[cfg(feature = "auth")]
use self::authorized::Admission;
use self::exchanger::{Exchanging, Own, Running};
use self::guarded::Guarded;
use self::pooled::Pooled;
use self::route::Route;
#[cfg(feature = "auth")]
use super::authorize::{Guard, Job, Signing};
use super::desk::{self, Desk, Effect, Link, Machine};
use super::{Hooks, Traffic};
use crate::endpoint::{Endpoint, Status};
use crate::error::Error;
use crate::jobs::Jobs;
use crate::runtime::Runtime;
use crate::timekeeper::keep_time;
use crate::turn::{Done, Turn};
use crate::wake::WakerSlot;

#[cfg(feature = "auth")]
pub(super) use self::dial::Patience;
#[cfg(feature = "auth")]
pub(super) use self::fetch::Fetcher;

pub use self::exchanger::{Exchanger, Outgoing, Response};
pub use self::proxy::Proxy;
#[cfg(feature = "tls")]
pub use self::tls::Tls;

/// How the machine begins: with Streamable HTTP or with HTTP with SSE.
pub(super) type Begin = fn(Now, Arc<Config>, Url, Seed) -> Http;

/// How requests get to the server.
#[derive(Clone, Default)]
pub(super) struct Means {
    /// An HTTP client of the application.
    pub(super) exchanger: Option<Arc<dyn Exchanger>>,
    pub(super) proxy: Proxy,
    #[cfg(feature = "tls")]
    pub(super) tls: Tls,
    /// Look-ups of names.
    lookups: Jobs,
}

pub(super) struct HttpClient<R: Runtime> {
    runtime: R,
    hooks: Hooks,
    url: Url,
    /// How connections of our own get there.
    route: Option<Arc<Route>>,
    #[cfg(feature = "auth")]
    means: Means,
    /// Signatures of keys.
    #[cfg(feature = "auth")]
    keys: Jobs,
    inner: Mutex<desk::Inner<Carried>>,
    turn: Turn,
    /// Wakes whoever keeps the time.
    time: WakerSlot,
    this: Weak<Self>,
}

/// The exchange machine together with what carries it.
pub(super) struct Carried {
    guarded: Guarded,
    carrier: Carrier,
    /// When whoever keeps the time will wake by itself.
    armed: Option<Instant>,
}

/// What carries exchanges.
enum Carrier {
    /// Connections of our own.
    Pool(Box<Pooled>),
    /// An HTTP client of the application.
    Own(Own),
}

impl Machine for Carried {
    fn start<C: Call>(
        &mut self,
        now: Now,
        call: &C,
        options: CallOptions,
    ) -> Result<Pending<C::Reply>, CallError> {
        let pending = self.guarded.http.start(now, call, options)?;
        self.guarded.asked(now);
        Ok(pending)
    }

    fn take<T>(&mut self, pending: &Pending<T>) -> Option<Result<T, CallError>> {
        self.guarded.http.take(pending)
    }

    fn cancel(&mut self, now: Now, call: CallId) {
        self.guarded.http.cancel(now, call);
    }

    fn forget(&mut self, call: CallId) {
        self.guarded.http.forget(call);
    }

    fn answer(
        &mut self,
        now: Now,
        ask: AskId,
        answer: Result<InputResponse, Refusal>,
    ) -> Result<(), ApiMisuse> {
        self.guarded.http.answer(now, ask, answer)
    }

    fn retry(&mut self, now: Now, call: CallId) {
        self.guarded.http.retry(now, call);
    }

    fn stop(&mut self, now: Now, call: CallId) {
        self.guarded.http.stop(now, call);
    }

    fn roots_changed(&mut self, now: Now) {
        self.guarded.http.roots_changed(now);
    }

    fn cache(&self, now: Now) -> Vec<CacheEntry> {
        self.guarded.http.cache(now)
    }

    fn clear_cache(&mut self) {
        self.guarded.http.clear_cache();
    }

    fn learn_tool(&mut self, tool: &Tool) -> Result<(), String> {
        self.guarded.http.learn_tool(tool)
    }

    fn has_output(&self) -> bool {
        self.guarded.http.has_output()
    }

    fn listen(&mut self, now: Now, wanted: SubscriptionFilter) -> Result<SubscriptionId, CallError> {
        let id = self.guarded.http.listen(now, wanted)?;
        self.guarded.asked(now);
        Ok(id)
    }

    fn relisten(
        &mut self,
        now: Now,
        id: SubscriptionId,
        wanted: SubscriptionFilter,
    ) -> Result<(), CallError> {
        let before = self.guarded.http.subscription(id).map(|it| it.wanted().clone());
        let is_more = before.is_none_or(|before| !before.holds(&wanted));
        self.guarded.http.relisten(now, id, wanted)?;
        // Who takes something back does not wait for a token.
        if is_more {
            self.guarded.asked(now);
        }
        Ok(())
    }

    fn unlisten(&mut self, now: Now, id: SubscriptionId) {
        self.guarded.http.unlisten(now, id);
    }

    fn subscription(&self, id: SubscriptionId) -> Option<&Subscription> {
        self.guarded.http.subscription(id)
    }

    fn take_notice(&mut self, id: SubscriptionId) -> Option<Notice> {
        self.guarded.http.take_notice(id)
    }

    fn set_log_level(&mut self, level: LoggingLevel) -> Result<(), CallError> {
        self.guarded.http.set_log_level(level)
    }

    fn is_outdated(&self, now: Now) -> bool {
        self.guarded.http.is_outdated(now)
    }
}

/// What is to be done once the lock is free.
enum Step {
    Effect(Effect),
    Connect(ConnectionId),
    Wake(Arc<WakerSlot>),
    Exchange(Exchanging),
    GiveUp(Arc<Running>),
    Sent(Vec<u8>),
    Received(Vec<u8>),
    #[cfg(feature = "auth")]
    Authorize(Box<Job>),
    #[cfg(feature = "auth")]
    Sign(ExchangeId, Box<Signing>),
}

impl Carrier {
    fn send(
        &mut self,
        guarded: &mut Guarded,
        hooks: &Hooks,
        now: Now,
        exchange: ExchangeId,
        request: &Arc<HttpRequest>,
        head: Cow<'_, RequestHead>,
    ) -> Option<Step> {
        match self {
            Self::Pool(pooled) => {
                pooled.send(guarded, now, exchange, &head, &request.body);
                hooks.copy(&request.body).map(Step::Sent)
            }
            Self::Own(own) => Some(Step::Exchange(own.send(exchange, head.into_owned(), request.clone()))),
        }
    }
}

impl Carried {
    /// Lets machine and carrier talk to each other, up to something that needs the lock to be free.
    fn step(&mut self, desk: &mut Desk, hooks: &Hooks, now: Now) -> Option<Step> {
        let Self { guarded, carrier, .. } = self;
        let mut counting = false;
        loop {
            // What has come goes first: a connection whose response is complete is free again before anybody
            // hears of the response and makes the next call.
            if let Carrier::Pool(pooled) = carrier
                && let Some(step) = pooled.hear(guarded, hooks, now)
            {
                return Some(step);
            }
            #[cfg(feature = "auth")]
            if let Some((exchange, request, head)) = guarded.signed(now) {
                match carrier.send(guarded, hooks, now, exchange, &request, Cow::Owned(head)) {
                    Some(step) => return Some(step),
                    None => continue,
                }
            }
            match guarded.http.poll_output() {
                Some(HttpOutput::Event(event)) => {
                    let effect = desk.note(event);
                    if let (true, Carrier::Pool(pooled)) = (desk.is_closed(), &mut *carrier) {
                        pooled.close(now);
                    }
                    return Some(Step::Effect(effect));
                }
                Some(HttpOutput::Send { exchange, request }) => {
                    #[cfg(feature = "auth")]
                    let head = match guarded.admit(now, exchange, &request) {
                        Admission::Send(head) => head,
                        Admission::Step(step) => return Some(step),
                        Admission::Held => continue,
                    };
                    #[cfg(not(feature = "auth"))]
                    let head = Cow::Borrowed(&request.head);
                    if let Some(step) = carrier.send(guarded, hooks, now, exchange, &request, head) {
                        return Some(step);
                    }
                }
                Some(HttpOutput::Abort(exchange)) => match carrier {
                    Carrier::Pool(pooled) => pooled.abort(guarded, now, exchange),
                    Carrier::Own(own) => {
                        guarded.forget(exchange);
                        if let Some(running) = own.running.remove(&exchange) {
                            return Some(Step::GiveUp(running));
                        }
                    }
                },
                #[cfg(feature = "auth")]
                Some(HttpOutput::Refused { exchange, head }) => {
                    if let Some(step) = guarded.refused(now, exchange, &head) {
                        return Some(step);
                    }
                }
                Some(_) => {}
                None => match carrier {
                    // Timers that were set going begin to count, so that nobody has to be woken for that.
                    Carrier::Pool(pooled) if !counting => {
                        pooled.count(now);
                        counting = true;
                    }
                    _ => return None,
                },
            }
        }
    }

    fn timeout(&self) -> Option<Instant> {
        let pool = match &self.carrier {
            Carrier::Pool(pooled) => pooled.pool.poll_timeout(),
            Carrier::Own(_) => None,
        };
        self.guarded.http.poll_timeout().into_iter().chain(pool).min()
    }

    /// The pool, while there is one.
    fn pooled(&mut self) -> Option<&mut Pooled> {
        match &mut self.carrier {
            Carrier::Pool(pooled) => Some(pooled),
            Carrier::Own(_) => None,
        }
    }

    /// Whether nothing is open or under way.
    fn is_idle(&self) -> bool {
        match &self.carrier {
            Carrier::Pool(pooled) => pooled.connections.is_empty(),
            Carrier::Own(own) => own.running.is_empty(),
        }
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
        mut means: Means,
    ) -> Result<Arc<Self>, Error> {
        let url = Url::parse(server)?;
        // Each kind waits for its own alone.
        means.lookups = Jobs::new(&config.limits);
        #[cfg(feature = "auth")]
        let keys = Jobs::new(&config.limits);
        let (route, carrier) = match &means.exchanger {
            Some(exchanger) => (None, Carrier::Own(Own::new(exchanger.clone()))),
            None => {
                let route = Arc::new(Route::new(&url, &means, &config.limits)?);
                (Some(route.clone()), Carrier::Pool(Box::new(Pooled::new(&config.limits, route))))
            }
        };
        let seed = runtime.seed().map_err(|error| Error::io("reading entropy", error))?;
        #[cfg(feature = "auth")]
        let guard = match hooks.authorize.clone() {
            Some(options) => {
                let seed = runtime.seed().map_err(|error| Error::io("reading entropy", error))?;
                Some(Guard::new(seed, options, &config.limits, server)?)
            }
            None => None,
        };
        let now = runtime.now();
        let client = Arc::new_cyclic(|this| Self {
            runtime: runtime.clone(),
            hooks,
            url: url.clone(),
            route,
            #[cfg(feature = "auth")]
            means,
            #[cfg(feature = "auth")]
            keys,
            inner: Mutex::new(desk::Inner {
                machine: Carried {
                    guarded: Guarded {
                        http: begin(now, config, url, seed),
                        #[cfg(feature = "auth")]
                        guard,
                        #[cfg(feature = "auth")]
                        signed: VecDeque::new(),
                    },
                    carrier,
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
        self.lock().machine.guarded.http.set_header(name, value);
    }

    pub(super) fn verdict(&self) -> Option<Verdict> {
        self.lock().machine.guarded.http.verdict()
    }

    /// Ends the connection, and with it a legacy session.
    pub(super) fn close(&self) {
        let now = self.runtime.now();
        {
            let mut inner = self.lock();
            inner.desk.listeners.stop_watching();
            inner.machine.guarded.http.close(now);
        }
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
                    #[cfg(feature = "auth")]
                    Some(Step::Sign(exchange, signing)) => self.sign(exchange, signing),
                    Some(Step::Exchange(exchanging)) => self.exchange(exchanging),
                    Some(Step::GiveUp(running)) => running.give_up(),
                    Some(Step::Sent(bytes)) => self.hooks.traffic(Traffic::Sent(&bytes)),
                    Some(Step::Received(bytes)) => self.hooks.traffic(Traffic::Received(&bytes)),
                    None => return,
                }
            }
        });
        match done {
            Done::ByAnother => {}
            Done::Alone => self.wake(|pooled, connection| {
                Some(connection) != except && !pooled.pool.transmit(connection).is_empty()
            }),
            // What the others gave in may be read on, now that it is worked off.
            Done::ForOthers => self.wake(|_, connection| Some(connection) != except),
        }
    }

    /// Wakes connections, and the timekeeper when it sleeps too long.
    fn wake(&self, which: impl Fn(&Pooled, ConnectionId) -> bool) {
        let inner = self.lock();
        let machine = &inner.machine;
        let wakers: Vec<_> = match &machine.carrier {
            Carrier::Pool(pooled) => {
                let connections = pooled.connections.iter().filter(|(id, _)| which(pooled, **id));
                connections.map(|(_, waker)| waker.clone()).collect()
            }
            Carrier::Own(_) => Vec::new(),
        };
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

/// The timers of machine and pool, and the end of both.
struct Timekeeper<R: Runtime>(Arc<HttpClient<R>>);

impl<R: Runtime> Endpoint for Timekeeper<R> {
    fn handle_bytes(&self, _: Now, _: &[u8]) {}

    fn handle_end(&self, _: Now, _: End) {}

    fn handle_timeout(&self, now: Now) {
        {
            let machine = &mut self.0.lock().machine;
            machine.armed = None;
            machine.guarded.http.handle_timeout(now);
            if let Some(pooled) = machine.pooled() {
                pooled.count(now);
            }
        }
        self.0.advance(None);
    }

    fn transmit(&self, _: Now, _: &mut dyn FnMut(&[u8]) -> usize) {}

    fn status(&self) -> Status {
        let mut inner = self.0.lock();
        let timeout = inner.machine.timeout();
        inner.machine.armed = timeout;
        let finished = inner.desk.is_closed() && inner.machine.is_idle();
        Status { timeout, wants_read: false, write_closed: false, finished }
    }

    fn register(&self, waker: &Waker) {
        self.0.time.register(waker);
    }
}
