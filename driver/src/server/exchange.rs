//! One HTTP request and its response: the exchange machine, its handlers and its session, behind one handle.

mod alone;
mod ask;
mod counted;
mod http_sse;
mod response;

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError, Weak};
use std::task::Waker;
use std::time::Duration;

use mcp_proto::diagnostic::Diagnostic;
use mcp_proto::error::ErrorObject;
use mcp_proto::head::{BodyLength, End, RequestHead, ResponseHead};
use mcp_proto::model::{InputRequest, Json, LoggingMessageNotificationParams};
use mcp_proto::server::{
    Admission, Answer, AskError, AskId, AuthRefusal, BearerToken, Call, CallId, Change, Config, Exchange,
    ExchangeId, ExchangeOutput, Grant, Listen, Principal, Progress, QueryId, SessionAnswer, SessionOutput,
    SessionQuery, SseQuery, TaskChange, WriteResult,
};
use mcp_proto::time::{Instant, Now};

use self::http_sse::Source;
use super::calls::Calls;
use super::http::HttpService;
use super::offer::Offer;
use super::tasks::Board;
use crate::context::{CallState, Outlet, Report, Tell};
use crate::custom::Notification;
use crate::deprecated::Deprecated;
use crate::extensions::Extensions;
use crate::runtime::{BoxFuture, Job, Runtime};
use crate::turn::{Done, Turn};
use crate::wake::WakerSlot;

/// An exchange under way, for whatever carries HTTP: our own connections, hyper, axum, a Worker.
///
/// Feed the request's body, take the response's head, then its body until it has ended. Everything may be
/// called at any time and from any thread.
pub struct ExchangeHandle<R: Runtime> {
    service: Arc<HttpService<R>>,
    id: ExchangeId,
    extensions: Extensions,
    inner: Mutex<Inner>,
    calls: Calls,
    waker: WakerSlot,
    turn: Turn,
    /// Whether its session may have something for it, so that the service knows where to find it.
    routed: AtomicBool,
    /// Whether it is among the listeners of the service.
    listening: AtomicBool,
    /// Whether it counts among the streams that clients keep open.
    kept: AtomicBool,
    /// Whether it counts among those without a connection.
    unattended: AtomicBool,
    /// Whose sessions it may use, once that was asked.
    owner: OnceLock<Option<Arc<str>>>,
    /// Whether it goes on without a connection.
    alone: AtomicBool,
    /// Whether a task of its own keeps the time for it then, and that task.
    timed: AtomicBool,
    timer: WakerSlot,
    /// Whoever asks a store on its behalf, for when it is over; one at a time.
    gone: WakerSlot,
    this: Weak<Self>,
}

struct Inner {
    machine: Exchange,
    source: Source,
    head: Option<(ResponseHead, BodyLength)>,
    /// The head was taken.
    begun: bool,
    /// The response is complete.
    ended: bool,
    /// The exchange is.
    over: bool,
}

/// What is to be done once the lock is free.
enum Effect {
    Call(Arc<Offer>, CallId, Call),
    /// The client is to be told of a task.
    Task(TaskChange),
    Cancelled(CallId),
    Answered(CallId, AskId, Answer),
    Authenticate(BearerToken),
    Noticed(Diagnostic),
    Told(Notification),
    /// What it needs no longer is dropped before it listens.
    Listen(Listen, Source),
    /// The session table may have decided something for other exchanges.
    Route,
    /// The exchange goes on without a connection.
    Parted,
    /// It is over.
    Over,
    /// The session table is to be asked, after others.
    Ask(QueryId, SessionQuery),
    /// The table of streams is.
    Sse(SseQuery),
}

impl<R: Runtime> ExchangeHandle<R> {
    /// Opens an exchange for a request whose head has arrived.
    pub fn open(service: &Arc<HttpService<R>>, head: RequestHead) -> Arc<Self> {
        Self::open_with(service, head, Extensions::new())
    }

    /// The same, with what the application knows of the request. A [`Principal`], or an `Arc` of one, says who
    /// makes it.
    pub fn open_with(service: &Arc<HttpService<R>>, head: RequestHead, extensions: Extensions) -> Arc<Self> {
        let handle = Self::prepare(service, service.now(), service.shared().live.offer(), head, extensions);
        handle.work();
        handle
    }

    /// The same, but for what may call code of users: [`work`](Self::work) is to follow.
    pub(super) fn prepare(
        service: &Arc<HttpService<R>>,
        now: Now,
        offer: Arc<Offer>,
        head: RequestHead,
        extensions: Extensions,
    ) -> Arc<Self> {
        let id = service.next_id();
        let mut machine = Exchange::of(now, id, offer.config().clone(), head, recognised(&extensions));
        if !service.open().enter() {
            machine.give_up(now);
        }
        let extensions = extensions.or(&service.shared().extensions);
        Arc::new_cyclic(|this| Self {
            service: service.clone(),
            id,
            extensions,
            inner: Mutex::new(Inner {
                machine,
                source: Source::Once(offer),
                head: None,
                begun: false,
                ended: false,
                over: false,
            }),
            calls: Calls::default(),
            waker: WakerSlot::default(),
            turn: Turn::default(),
            routed: AtomicBool::new(false),
            listening: AtomicBool::new(false),
            kept: AtomicBool::new(false),
            unattended: AtomicBool::new(false),
            owner: OnceLock::new(),
            alone: AtomicBool::new(false),
            timed: AtomicBool::new(false),
            timer: WakerSlot::default(),
            gone: WakerSlot::default(),
            this: this.clone(),
        })
    }

    /// Lends memory for the body of the response.
    pub(super) fn lend(&self, memory: Vec<u8>) {
        self.lock().machine.lend(memory);
    }

    /// A piece of the request's body.
    pub fn handle_body(&self, bytes: &[u8]) {
        self.feed(self.service.now(), bytes);
        self.work();
    }

    /// The end of the request's body.
    pub fn handle_end(&self, end: End) {
        self.end(self.service.now(), end);
    }

    /// The client is gone, or closed the response.
    pub fn handle_abort(&self) {
        self.abort(self.service.now());
    }

    /// A piece of the request's body; [`work`](Self::work) is to follow.
    pub(super) fn feed(&self, now: Now, bytes: &[u8]) {
        self.lock().machine.handle_body(now, bytes);
    }

    pub(super) fn end(&self, now: Now, end: End) {
        self.input(|machine| machine.handle_end(now, end));
    }

    pub(super) fn abort(&self, now: Now) {
        self.input(|machine| machine.handle_abort(now));
        self.go_on_alone();
    }

    /// The time of [`timeout`](Self::timeout) has come.
    pub fn handle_timeout(&self, now: Now) {
        self.input(|machine| machine.handle_timeout(now));
        self.service.tend(now);
    }

    /// The server is about to stop.
    pub(super) fn shutdown(&self) {
        self.say(|machine, now| machine.shutdown(now));
    }

    /// The server waits no longer.
    pub(super) fn give_up(&self) {
        self.say(|machine, now| machine.give_up(now));
    }

    /// What the session table has for it.
    pub(super) fn handle_output(&self, output: SessionOutput) {
        self.pass_on(|Inner { machine, .. }, now| match output {
            SessionOutput::Cancel { request, .. } => machine.handle_cancel(now, &request),
            SessionOutput::Answer { response, .. } => machine.handle_answer(now, response),
            SessionOutput::Deliver { event, .. } => machine.handle_delivery(now, &event),
            SessionOutput::Close { .. } => machine.handle_close(now),
            _ => {}
        });
    }

    /// Something has changed that the client listens for.
    pub(super) fn tell(&self, change: &Change) {
        self.pass_on(|Inner { machine, .. }, now| {
            // Looked at under its lock: of two who tell at once, none brings an older one back.
            machine.handle_config(now, self.service.shared().live.offer().config().clone());
            machine.publish(now, change);
        });
    }

    /// Passes something on from elsewhere: whoever does it does not wait for this client.
    fn pass_on(&self, input: impl FnOnce(&mut Inner, Now)) {
        input(&mut self.lock(), self.service.now());
        self.attend();
    }

    /// Does what the machine says, and has what it wants to send sent.
    fn attend(&self) {
        if self.work() != Done::ByAnother
            && let Some(handle) = self.this.upgrade()
        {
            self.service.runtime().wake_aside(Box::new(move || handle.waker.wake()));
        }
    }

    /// When [`handle_timeout`](Self::handle_timeout) is to be called at the latest.
    pub fn timeout(&self) -> Option<Instant> {
        self.lock().machine.poll_timeout()
    }

    /// Asks for a wake-up when there is more of the response. Whoever waits is found by
    /// [`HttpService::drain`].
    pub fn register(&self, waker: &Waker) {
        self.be_found();
        self.wake_by(waker);
    }

    /// The same for our own connections, which are told to stop themselves.
    pub(super) fn wake_by(&self, waker: &Waker) {
        self.waker.register(waker);
    }

    fn lock(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Gives the machine an input and does what it says. Whoever gave it looks for output after it.
    fn input(&self, input: impl FnOnce(&mut Exchange)) {
        input(&mut self.lock().machine);
        self.work();
    }

    /// Does what the machine says. Handlers run with no lock held.
    pub(super) fn work(&self) -> Done {
        self.turn.run(|| {
            loop {
                let mut inner = self.lock();
                let effect = self.advance(&mut inner);
                let left = if effect.is_none() { inner.source.settle() } else { Vec::new() };
                drop(inner);
                drop(left);
                match effect {
                    Some(effect) => self.perform(effect),
                    None => return,
                }
            }
        })
    }

    /// Takes the machine's outputs up to one that needs the lock to be free.
    fn advance(&self, inner: &mut Inner) -> Option<Effect> {
        while let Some(output) = inner.machine.poll_output() {
            match output {
                ExchangeOutput::Head(head, length) => inner.head = Some((head, length)),
                ExchangeOutput::End => {
                    (inner.ended, inner.over) = (true, true);
                    self.leave();
                    return Some(Effect::Over);
                }
                ExchangeOutput::Parted => {
                    inner.ended = true;
                    return Some(Effect::Parted);
                }
                ExchangeOutput::Session(id, query) => {
                    if query.keeps_stream() && !self.keeps_open() {
                        let full = SessionAnswer::TooManyListen;
                        inner.machine.handle_session(self.service.now(), id, full);
                        continue;
                    }
                    if query.is_followed() {
                        self.be_found();
                    }
                    if self.service.has_to_ask(&query) {
                        return Some(Effect::Ask(id, query));
                    }
                    let answer = self.service.query(query);
                    inner.machine.handle_session(self.service.now(), id, answer);
                    return Some(Effect::Route);
                }
                ExchangeOutput::Sse(query) => return Some(Effect::Sse(query)),
                ExchangeOutput::Authenticate(token) => return Some(Effect::Authenticate(token)),
                ExchangeOutput::Call(id, call) => {
                    let Some(offer) = inner.source.made(call.target()) else { continue };
                    return Some(Effect::Call(offer, id, call));
                }
                ExchangeOutput::Listen(listen) => {
                    // It may be long.
                    let left = std::mem::replace(&mut inner.source, Source::Nothing);
                    return Some(Effect::Listen(listen, left));
                }
                ExchangeOutput::Task(task) => return Some(Effect::Task(task)),
                ExchangeOutput::Cancelled(id) => return Some(Effect::Cancelled(id)),
                ExchangeOutput::Notification { method, params } => {
                    return Some(Effect::Told(Notification::new(method, params)));
                }
                ExchangeOutput::Answered(id, ask, answer) => {
                    return Some(Effect::Answered(id, ask, answer));
                }
                ExchangeOutput::Diagnostic(diagnostic) => {
                    return Some(Effect::Noticed(diagnostic));
                }
                _ => {}
            }
        }
        None
    }

    fn perform(&self, effect: Effect) {
        match effect {
            Effect::Call(offer, id, call) => {
                if let Some(outlet) = self.this.upgrade() {
                    self.calls.start(self.service.shared(), &offer, outlet, id, call);
                    if self.calls.is_running(id) {
                        self.stay();
                    }
                }
            }
            Effect::Listen(listen, left) => {
                drop(left);
                self.be_found();
                self.listening.store(true, Ordering::SeqCst);
                let admission = match self.keeps_open() {
                    true => self.service.admit(self.id, listen),
                    false => Admission::Full,
                };
                self.lock().machine.handle_admission(self.service.now(), admission);
                self.stay();
            }
            Effect::Task(task) => {
                let detail = self.service.shared().tasks.read(&task);
                self.lock().machine.handle_task(self.service.now(), &task, detail.as_ref());
            }
            Effect::Cancelled(id) => self.calls.cancel(id),
            Effect::Answered(id, ask, answer) => self.calls.answered(id, ask, answer),
            Effect::Authenticate(token) => self.authenticate(token),
            Effect::Noticed(diagnostic) => self.service.shared().noticed("exchange", &diagnostic),
            Effect::Told(notification) => self.service.shared().told(notification),
            Effect::Route => {
                self.service.route();
                self.heed_drain();
            }
            Effect::Parted => self.go_on_alone(),
            Effect::Over => self.gone.wake(),
            Effect::Ask(id, query) => self.ask(id, query),
            Effect::Sse(query) => self.ask_streams(query),
        }
    }

    fn authenticate(&self, token: BearerToken) {
        let Some(this) = self.this.upgrade() else {
            return;
        };
        match &self.service.shared().verifier {
            Some(verifier) => verifier.check(&this, token),
            None => {
                let detail = "there is a resource server, and nothing that checks tokens";
                self.service.shared().report(&Report::ours("server", detail));
                self.handle_outcome(Err(AuthRefusal::Unavailable));
            }
        }
    }

    /// A token was checked.
    pub(super) fn handle_outcome(&self, outcome: Result<Grant, AuthRefusal>) {
        self.say(|machine, now| match outcome {
            Ok(grant) => machine.handle_grant(now, grant),
            Err(refusal) => machine.handle_refusal(now, &refusal),
        });
    }

    pub(super) fn service(&self) -> &HttpService<R> {
        &self.service
    }

    /// Lets the service find this exchange.
    fn be_found(&self) {
        if !self.routed.swap(true, Ordering::SeqCst) {
            self.service.remember_route(self.id, self.this.clone());
        }
    }

    /// The same, for one that goes on when its work is done.
    fn stay(&self) {
        self.be_found();
        self.heed_drain();
    }

    /// Ends what it carries if it came while the others were told to.
    fn heed_drain(&self) {
        if self.service.open().is_draining() {
            self.shutdown();
        }
    }

    /// Says something on behalf of a handler.
    fn say<T>(&self, say: impl FnOnce(&mut Exchange, Now) -> T) -> T {
        let said = say(&mut self.lock().machine, self.service.now());
        if self.work() != Done::ByAnother {
            self.waker.wake();
        }
        if self.alone.load(Ordering::SeqCst) {
            self.keep_time();
        }
        said
    }
}

/// Whom the application has recognised.
fn recognised(extensions: &Extensions) -> Option<Arc<Principal>> {
    let shared = extensions.get::<Arc<Principal>>().cloned();
    shared.or_else(|| extensions.get::<Principal>().cloned().map(Arc::new))
}

impl<R: Runtime> Drop for ExchangeHandle<R> {
    fn drop(&mut self) {
        self.leave();
        if *self.routed.get_mut() {
            self.service.forget_route(self.id);
        }
        self.service.open().leave();
        self.timer.wake();
    }
}

impl<R: Runtime> std::fmt::Debug for ExchangeHandle<R> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ExchangeHandle").field("id", &self.id).finish_non_exhaustive()
    }
}

impl<R: Runtime> Outlet for ExchangeHandle<R> {
    fn respond(&self, call: CallId, result: &dyn WriteResult) {
        self.say(|machine, now| machine.respond(now, call, result));
    }

    fn fail(&self, call: CallId, error: &ErrorObject) {
        self.say(|machine, now| machine.fail(now, call, error));
    }

    fn forbid(&self, call: CallId, scopes: Vec<String>) {
        self.say(|machine, now| machine.forbid(now, call, scopes));
    }

    fn progress(&self, call: CallId, progress: &Progress) {
        self.say(|machine, now| machine.progress(now, call, progress));
    }

    fn log(&self, call: CallId, message: &LoggingMessageNotificationParams) {
        self.say(|machine, now| machine.log(now, call, message));
    }

    fn ask(
        &self,
        call: CallId,
        _: &str,
        request: &InputRequest,
        timeout: Option<Duration>,
    ) -> Result<AskId, AskError> {
        self.say(|machine, now| machine.ask(now, call, request, timeout))
    }

    fn retract(&self, ask: AskId) {
        self.say(|machine, now| machine.retract(now, ask));
    }

    fn may_ask(&self) -> bool {
        self.lock().machine.may_ask()
    }

    fn completes_elicitations(&self, call: CallId) -> Tell {
        self.tells_of_elicitations(call)
    }

    fn adopt(&self, state: &Arc<CallState>) -> bool {
        self.calls.adopt(state)
    }

    fn spawn(&self, task: BoxFuture<()>) {
        self.service.shared().runtime.spawn(task);
    }

    fn config(&self) -> &Config {
        self.service.config()
    }

    fn now(&self) -> Now {
        self.service.shared().runtime.now()
    }

    fn extensions(&self) -> &Extensions {
        &self.extensions
    }

    fn close_stream(&self, call: CallId, retry: Duration) {
        self.say(|machine, now| machine.close_stream(now, call, retry));
    }

    fn notify(&self, call: CallId, method: &str, params: &Json) {
        self.say(|machine, now| machine.notify(now, call, method, params));
    }

    fn proceed(&self, call: CallId) {
        self.say(|machine, now| machine.proceed(now, call));
    }

    fn report(&self, report: Report) {
        self.service.shared().report(&report);
    }

    fn deprecated(&self, feature: Deprecated) {
        self.service.shared().deprecated(feature);
    }

    fn spawn_blocking(&self, job: Job) {
        self.service.shared().spawn_blocking(job);
    }

    fn sleep(&self, duration: Duration) -> BoxFuture<()> {
        let runtime = self.service.runtime();
        runtime.sleep_until(runtime.now().mono + duration)
    }

    fn done(&self, call: CallId) -> bool {
        self.calls.done(call)
    }

    fn tasks(&self) -> &Arc<Board> {
        &self.service.shared().tasks
    }
}
