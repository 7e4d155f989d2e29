//! Where calls wait and events are handed out, the same over every transport.

use std::collections::BTreeMap;
use std::future::poll_fn;
use std::sync::{Arc, MutexGuard};
use std::task::{Poll, Waker};

use mcp_proto::client::{
    AskId, CacheEntry, Call, CallId, CallOptions, Event, InputResponse, Notice, Pending, Refusal,
    ServerDetails, Subscription, SubscriptionId, Waiting,
};
use mcp_proto::error::{ApiMisuse, CallError};
use mcp_proto::model::{
    InputRequest, LoggingLevel, LoggingMessageNotificationParams, SubscriptionFilter, Tool,
};
use mcp_proto::time::Now;

use super::Hooks;
use super::asked::{self, Asked, Questions};
use super::calls::{CallFuture, Cancel, LogHook, Options, Owner, ProgressHook};
use super::subscription::{self, Listeners};
use super::waiting::Wait;
use crate::context::Report;
use crate::deprecated::{Deprecated, Said};
use crate::hook;
use crate::runtime::Runtime;

/// The calling half of a client machine, over a byte stream or HTTP.
pub(super) trait Machine: Send {
    fn start<C: Call>(
        &mut self,
        now: Now,
        call: &C,
        options: CallOptions,
    ) -> Result<Pending<C::Reply>, CallError>;
    fn take<T>(&mut self, pending: &Pending<T>) -> Option<Result<T, CallError>>;
    fn cancel(&mut self, now: Now, call: CallId);
    fn forget(&mut self, call: CallId);
    fn answer(
        &mut self,
        now: Now,
        ask: AskId,
        answer: Result<InputResponse, Refusal>,
    ) -> Result<(), ApiMisuse>;
    fn retry(&mut self, now: Now, call: CallId);
    fn stop(&mut self, now: Now, call: CallId);
    fn roots_changed(&mut self, now: Now);
    fn cache(&self, now: Now) -> Vec<CacheEntry>;
    #[cfg(feature = "http")]
    fn clear_cache(&mut self);
    fn learn_tool(&mut self, tool: &Tool) -> Result<(), String>;
    fn has_output(&self) -> bool;
    fn listen(&mut self, now: Now, wanted: SubscriptionFilter) -> Result<SubscriptionId, CallError>;
    fn relisten(&mut self, now: Now, id: SubscriptionId, wanted: SubscriptionFilter)
    -> Result<(), CallError>;
    fn unlisten(&mut self, now: Now, id: SubscriptionId);
    fn subscription(&self, id: SubscriptionId) -> Option<&Subscription>;
    fn take_notice(&mut self, id: SubscriptionId) -> Option<Notice>;
    fn set_log_level(&mut self, level: LoggingLevel) -> Result<(), CallError>;
    fn is_outdated(&self, now: Now) -> bool;
}

/// A client machine behind a lock, with whatever moves its bytes.
pub(super) trait Link: Send + Sync + 'static {
    type Machine: Machine;
    type Runtime: Runtime;

    fn runtime(&self) -> &Self::Runtime;
    fn hooks(&self) -> &Hooks;
    fn lock(&self) -> MutexGuard<'_, Inner<Self::Machine>>;
    /// Does what the machine says, and sees to it that what it has to send is sent. No lock is held.
    fn turn(&self);

    fn now(&self) -> Now {
        self.runtime().now()
    }
}

/// A machine, and who waits for it.
pub(super) struct Inner<M> {
    pub(super) machine: M,
    pub(super) desk: Desk,
}

#[derive(Default)]
pub(super) struct Desk {
    pub(super) details: Option<Arc<ServerDetails>>,
    closed: Option<CallError>,
    /// Those who wait for the connection to open or to close.
    onlookers: Vec<Waker>,
    /// The calls that somebody waits for.
    seats: BTreeMap<CallId, Seat>,
    pub(super) questions: Questions,
    pub(super) listeners: Listeners,
    /// What was said to be deprecated.
    pub(super) said: Said,
}

/// Where one call is waited for.
#[derive(Default)]
struct Seat {
    waker: Option<Waker>,
    progress: Option<ProgressHook>,
    log: Option<LogHook>,
    /// Its end was handed out: only then may its reply be taken, so that progress comes first.
    settled: bool,
}

/// What an event leads to, once the lock is free.
pub(super) enum Effect {
    Wake(Vec<Waker>),
    Progress(ProgressHook, mcp_proto::client::Progress),
    Log(Option<LogHook>, LoggingMessageNotificationParams),
    Ask(AskId, Arc<InputRequest>),
    Cancel(Asked),
    Wait(CallId, Waiting),
    Watched(SubscriptionId, Vec<Waker>),
    Hook(Event),
}

impl Desk {
    /// Notes an event; what is returned is to be performed before the next one.
    pub(super) fn note(&mut self, event: Event) -> Effect {
        match event {
            Event::Connected(details) => {
                self.details = Some(details);
                Effect::Wake(std::mem::take(&mut self.onlookers))
            }
            Event::Settled(call) => {
                let seat = self.seats.get_mut(&call);
                let waker = seat.and_then(|seat| {
                    seat.settled = true;
                    seat.waker.take()
                });
                Effect::Wake(waker.into_iter().collect())
            }
            Event::Progress(call, progress) => {
                match self.seats.get(&call).and_then(|seat| seat.progress.clone()) {
                    Some(hook) => Effect::Progress(hook, progress),
                    None => Effect::Wake(Vec::new()),
                }
            }
            Event::Closed(error) => {
                self.closed = Some(error);
                Effect::Wake(std::mem::take(&mut self.onlookers))
            }
            Event::Log(call, message) => {
                let seat = call.and_then(|call| self.seats.get(&call));
                Effect::Log(seat.and_then(|seat| seat.log.clone()), message)
            }
            Event::Asked(ask, request) => Effect::Ask(ask, request),
            Event::Retracted(ask) => match self.questions.remove(&ask) {
                Some(asked) => Effect::Cancel(asked),
                None => Effect::Wake(Vec::new()),
            },
            Event::Waiting(call, waiting) => Effect::Wait(call, waiting),
            Event::Subscription(id) if self.listeners.watches(id) => {
                Effect::Watched(id, self.listeners.wake(id))
            }
            Event::Subscription(id) => Effect::Wake(self.listeners.wake(id)),
            event => Effect::Hook(event),
        }
    }

    pub(super) fn is_closed(&self) -> bool {
        self.closed.is_some()
    }
}

impl Effect {
    pub(super) fn perform<L: Link>(self, link: &Arc<L>) {
        let hooks = link.hooks();
        match self {
            Self::Wake(wakers) => wakers.into_iter().for_each(Waker::wake),
            Self::Progress(hear, progress) => hook::call(|| hear(&progress)),
            Self::Ask(ask, request) => asked::serve(link, ask, &request),
            Self::Cancel(asked) => asked.cancel(),
            Self::Wait(call, waiting) => {
                if let Some(hear) = &hooks.wait {
                    hook::call(|| hear(Wait::new(waiting, call, link)));
                }
            }
            Self::Watched(id, wakers) => {
                wakers.into_iter().for_each(Waker::wake);
                subscription::hear_watched(link, id);
            }
            Self::Log(of_call, message) => {
                for hear in of_call.iter().chain(&hooks.log) {
                    hook::call(|| hear(&message));
                }
            }
            Self::Hook(Event::Notification { method, params }) => {
                if let Some(hear) = &hooks.notification {
                    hook::call(|| hear(&method, params.as_ref()));
                }
            }
            Self::Hook(Event::Diagnostic(diagnostic)) => {
                hooks.report(&Report::noticed("server", &diagnostic));
            }
            Self::Hook(_) => {}
        }
    }
}

/// Starts a call.
pub(super) fn start<L: Link, C: Call>(link: &Arc<L>, call: &C, options: Options) -> CallFuture<C::Reply> {
    let mut inner = link.lock();
    let started = inner.machine.start(link.now(), call, options.call);
    if let Ok(pending) = &started {
        let seat = Seat { progress: options.on_progress, log: options.on_log, ..Seat::default() };
        inner.desk.seats.insert(pending.id(), seat);
    }
    drop(inner);
    let watch = match (&started, options.canceller) {
        (Ok(pending), Some(canceller)) => {
            let link: Arc<dyn Cancel> = link.clone();
            Some(canceller.watch(Arc::downgrade(&link), pending.id()))
        }
        _ => None,
    };
    link.turn();
    CallFuture::new(link.clone(), started, watch)
}

/// What the server says of itself, as of now.
pub(super) fn details<L: Link>(link: &Arc<L>) -> Option<Arc<ServerDetails>> {
    link.lock().desk.details.clone()
}

/// Says that something is deprecated, the first time.
pub(super) fn say<L: Link>(link: &Arc<L>, feature: Deprecated) {
    let report = link.lock().desk.said.once(feature);
    if let Some(report) = report {
        link.hooks().report(&report);
    }
}

/// Tells the server that the roots have changed.
pub(super) fn roots_changed<L: Link>(link: &Arc<L>) {
    let now = link.now();
    link.lock().machine.roots_changed(now);
    link.turn();
}

/// What is kept of results.
pub(super) fn cache<L: Link>(link: &Arc<L>) -> Vec<CacheEntry> {
    let now = link.now();
    link.lock().machine.cache(now)
}

/// Asks for log messages with each request from now on.
pub(super) fn set_log_level<L: Link>(link: &Arc<L>, level: LoggingLevel) -> Result<(), CallError> {
    link.lock().machine.set_log_level(level)
}

/// Whether what the server said of itself need not hold any more.
pub(super) fn is_outdated<L: Link>(link: &Arc<L>) -> bool {
    let now = link.now();
    link.lock().machine.is_outdated(now)
}

/// Makes a tool known.
pub(super) fn learn_tool<L: Link>(link: &Arc<L>, tool: &Tool) -> Result<(), ApiMisuse> {
    let learned = link.lock().machine.learn_tool(tool);
    link.turn();
    learned.map_err(|reason| ApiMisuse::new(format!("tool `{}`: {reason}", tool.name)))
}

/// Waits until the era is settled, or the connection has failed.
pub(super) async fn connected<L: Link>(link: &Arc<L>) -> Result<Arc<ServerDetails>, CallError> {
    poll_fn(|cx| {
        let desk = &mut link.lock().desk;
        match (&desk.closed, &desk.details) {
            (Some(error), _) => Poll::Ready(Err(error.clone())),
            (None, Some(details)) => Poll::Ready(Ok(details.clone())),
            (None, None) => desk.look_on(cx.waker()),
        }
    })
    .await
}

/// Waits until the connection is over.
pub(super) async fn closed<L: Link>(link: &Arc<L>) {
    poll_fn(|cx| {
        let desk = &mut link.lock().desk;
        if desk.is_closed() { Poll::Ready(()) } else { desk.look_on(cx.waker()) }
    })
    .await;
}

impl Desk {
    fn look_on<T>(&mut self, waker: &Waker) -> Poll<T> {
        if !self.onlookers.iter().any(|known| known.will_wake(waker)) {
            self.onlookers.push(waker.clone());
        }
        Poll::Pending
    }
}

impl<L: Link> Cancel for L {
    fn cancel(&self, call: CallId) {
        let now = self.now();
        self.lock().machine.cancel(now, call);
        self.turn();
    }
}

impl<L: Link, T> Owner<T> for L {
    fn poll_take(&self, pending: &Pending<T>, waker: &Waker) -> Poll<Result<T, CallError>> {
        let mut inner = self.lock();
        if let Some(seat) = inner.desk.seats.get_mut(&pending.id())
            && !seat.settled
        {
            seat.waker = Some(waker.clone());
            return Poll::Pending;
        }
        inner.desk.seats.remove(&pending.id());
        // It has settled and nobody else can take it.
        let reply = inner.machine.take(pending).unwrap_or(Err(CallError::Cancelled));
        let noticed = inner.machine.has_output();
        drop(inner);
        if noticed {
            self.turn();
        }
        Poll::Ready(reply)
    }

    fn abandon(&self, call: CallId) {
        let now = self.now();
        let mut inner = self.lock();
        let seat = inner.desk.seats.remove(&call);
        inner.machine.cancel(now, call);
        inner.machine.forget(call);
        drop(inner);
        // With it goes the application's hook, whose drop is its own business.
        drop(seat);
        self.turn();
    }
}
