//! A server on a byte stream: one message a line.

use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::task::Waker;
use std::time::Duration;

use mcp_proto::error::ErrorObject;
use mcp_proto::head::End;
use mcp_proto::model::{InputRequest, Json, LoggingMessageNotificationParams};
use mcp_proto::server::{
    AskError, AskId, Call, CallId, Change, Config, Connection, Output, Progress, WriteResult,
};
use mcp_proto::time::Now;

use super::Shared;
use super::calls::Calls;
use super::hub::{Member, Membership};
use super::offer::{Current, Offer};
use super::tasks::Board;
use crate::context::{CallState, Outlet, Report, Tell};
use crate::custom::Notification;
use crate::deprecated::Deprecated;
use crate::endpoint::{Endpoint, Status};
use crate::extensions::Extensions;
use crate::join::Join;
use crate::runtime::{BoxFuture, Job, Runtime};
use crate::turn::{Done, Turn};
use crate::wake::WakerSlot;

/// A server that is about to serve one client.
pub(crate) struct Peer<R: Runtime> {
    link: Gone<R>,
    #[expect(dead_code, reason = "whoever is dropped with it hears of no changes")]
    membership: Membership,
}

impl<R: Runtime> Peer<R> {
    pub(super) fn new(shared: Arc<Shared<R>>) -> Self {
        let link = Arc::new_cyclic(|this| Link {
            inner: Mutex::new(Inner::new(&shared)),
            number: shared.connections.fetch_add(1, Ordering::Relaxed),
            shared,
            calls: Calls::default(),
            waker: WakerSlot::default(),
            turn: Turn::default(),
            this: this.clone(),
        });
        let member: Arc<dyn Member> = link.clone();
        let membership = link.shared.hub.enter(Some(link.number), Arc::downgrade(&member));
        Self { link: Gone(link), membership }
    }

    /// Serves the client at the other end of a stream until it is gone.
    pub(super) async fn serve(self, stream: R::Stream) {
        let link = self.link.0.clone();
        let runtime = link.shared.runtime.clone();
        runtime.drive(stream, link).await;
    }

    /// Serves a client in this process until it is gone.
    pub(crate) async fn join(self, client: Arc<dyn Endpoint>) {
        let link = self.link.0.clone();
        let runtime = link.shared.runtime.clone();
        Join::new(runtime, client, link).await;
    }
}

/// Whoever stops serving before the client is gone leaves no handler behind.
struct Gone<R: Runtime>(Arc<Link<R>>);

impl<R: Runtime> Drop for Gone<R> {
    fn drop(&mut self) {
        self.0.handle_end(self.0.shared.runtime.now(), End::Broken);
        self.0.shared.tasks.end_connection(self.0.number);
    }
}

struct Link<R: Runtime> {
    shared: Arc<Shared<R>>,
    /// Among the connections of the server.
    number: u64,
    inner: Mutex<Inner>,
    calls: Calls,
    waker: WakerSlot,
    turn: Turn,
    this: Weak<Self>,
}

struct Inner {
    machine: Connection,
    current: Current,
}

impl Inner {
    fn new<R: Runtime>(shared: &Shared<R>) -> Self {
        let mut current = Current::new(shared.live.clone());
        let mut machine = Connection::new(current.offer().config().clone());
        if let Some(principal) = &shared.principal {
            machine.handle_principal(shared.runtime.now(), principal.clone());
        }
        Self { machine, current }
    }

    /// Lets the machine know what has changed.
    fn refresh(&mut self, now: Now) {
        if let Some(offer) = self.current.refresh() {
            self.machine.handle_config(now, offer.config().clone());
        }
    }
}

/// What is to be done once the lock is free.
enum Step {
    Output(Output),
    Call(Arc<Offer>, CallId, Call),
}

impl<R: Runtime> Link<R> {
    fn lock(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Gives the machine an input and does what it says. Whoever pumps the stream looks for output after it.
    fn input(&self, now: Now, input: impl FnOnce(&mut Connection)) {
        let mut inner = self.lock();
        inner.refresh(now);
        input(&mut inner.machine);
        drop(inner);
        self.work();
    }

    /// Does what the machine says. Handlers run with no lock held.
    fn work(&self) -> Done {
        self.turn.run(|| {
            while let Some(step) = self.next() {
                self.perform(step);
            }
        })
    }

    fn next(&self) -> Option<Step> {
        let mut inner = self.lock();
        let step = match inner.machine.poll_output() {
            Some(Output::Call(id, call)) => Some(Step::Call(inner.current.made(call.target()), id, call)),
            output => output.map(Step::Output),
        };
        let left = if step.is_none() { inner.current.settle() } else { Vec::new() };
        drop(inner);
        drop(left);
        step
    }

    fn perform(&self, step: Step) {
        match step {
            Step::Call(offer, id, call) => {
                if let Some(outlet) = self.this.upgrade() {
                    self.calls.start(&self.shared, &offer, outlet, id, call);
                }
            }
            Step::Output(Output::Cancelled(id)) => self.calls.cancel_here(id),
            Step::Output(Output::Answered(id, ask, answer)) => self.calls.answered(id, ask, answer),
            Step::Output(Output::Diagnostic(diagnostic)) => {
                self.shared.report(&Report::noticed("connection", &diagnostic));
            }
            Step::Output(Output::Notification { method, params }) => {
                self.shared.told(Notification::new(method, params));
            }
            Step::Output(Output::Listen(id, listen)) => {
                let admission = self.shared.admit(&listen, Some(self.number));
                self.lock().machine.handle_admission(self.shared.runtime.now(), id, admission);
            }
            Step::Output(Output::Task(id, task)) => {
                let detail = self.shared.tasks.read(&task);
                self.lock().machine.handle_task(self.shared.runtime.now(), id, &task, detail.as_ref());
            }
            Step::Output(_) => {}
        }
    }

    /// Says something on behalf of a handler.
    fn say<T>(&self, say: impl FnOnce(&mut Connection, Now) -> T) -> T {
        let said = say(&mut self.lock().machine, self.shared.runtime.now());
        if self.work() != Done::ByAnother {
            self.waker.wake();
        }
        said
    }
}

impl<R: Runtime> Endpoint for Link<R> {
    fn handle_bytes(&self, now: Now, bytes: &[u8]) {
        self.input(now, |machine| machine.handle_bytes(now, bytes));
    }

    fn handle_end(&self, now: Now, end: End) {
        self.input(now, |machine| machine.handle_end(now, end));
    }

    fn handle_timeout(&self, now: Now) {
        self.input(now, |machine| machine.handle_timeout(now));
    }

    fn transmit(&self, _: Now, write: &mut dyn FnMut(&[u8]) -> usize) {
        let mut inner = self.lock();
        let taken = write(inner.machine.transmit());
        inner.machine.advance(taken);
        drop(inner);
        if taken > 0 {
            // What was held back for want of room may be a call.
            self.work();
        }
    }

    fn status(&self) -> Status {
        let machine = &self.lock().machine;
        Status {
            timeout: machine.poll_timeout(),
            wants_read: machine.wants_read(),
            write_closed: false,
            finished: machine.is_finished(),
        }
    }

    fn register(&self, waker: &Waker) {
        self.waker.register(waker);
    }
}

impl<R: Runtime> Member for Link<R> {
    fn tell(&self, change: &Change) {
        let now = self.shared.runtime.now();
        let mut inner = self.lock();
        inner.refresh(now);
        inner.machine.publish(now, change);
        drop(inner);
        let done = self.work();
        // Of most tasks nobody wants to hear.
        let nothing = matches!(change, Change::Task(_))
            && done == Done::Alone
            && self.lock().machine.transmit().is_empty();
        if done != Done::ByAnother
            && !nothing
            && let Some(link) = self.this.upgrade()
        {
            self.shared.runtime.wake_aside(Box::new(move || link.waker.wake()));
        }
    }
}

impl<R: Runtime> Outlet for Link<R> {
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

    fn completes_elicitations(&self, _: CallId) -> Tell {
        let link = self.this.clone();
        Box::new(move |elicitation| {
            if let Some(link) = link.upgrade() {
                link.say(|machine, now| machine.complete_elicitation(now, elicitation));
            }
        })
    }

    fn adopt(&self, state: &Arc<CallState>) -> bool {
        self.calls.adopt(state)
    }

    fn spawn(&self, task: BoxFuture<()>) {
        self.shared.runtime.spawn(task);
    }

    fn config(&self) -> &Config {
        &self.shared.config
    }

    fn now(&self) -> Now {
        self.shared.runtime.now()
    }

    fn extensions(&self) -> &Extensions {
        &self.shared.extensions
    }

    fn notify(&self, call: CallId, method: &str, params: &Json) {
        self.say(|machine, now| machine.notify(now, call, method, params));
    }

    fn proceed(&self, call: CallId) {
        self.say(|machine, now| machine.proceed(now, call));
    }

    fn report(&self, report: Report) {
        self.shared.report(&report);
    }

    fn deprecated(&self, feature: Deprecated) {
        self.shared.deprecated(feature);
    }

    fn spawn_blocking(&self, job: Job) {
        self.shared.spawn_blocking(job);
    }

    fn sleep(&self, duration: Duration) -> BoxFuture<()> {
        let runtime = &self.shared.runtime;
        runtime.sleep_until(runtime.now().mono + duration)
    }

    fn done(&self, call: CallId) -> bool {
        self.calls.done(call)
    }

    fn tasks(&self) -> &Arc<Board> {
        &self.shared.tasks
    }

    fn connection(&self) -> Option<u64> {
        Some(self.number)
    }
}
