//! What a handler knows about the call it serves, and its way to answer.

mod ask;
mod asking;
mod conclude;
mod extend;
mod form;
mod input;
mod journal;
mod request;
mod step;
mod stream;

use std::any::Any;
use std::fmt;
use std::future::poll_fn;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError, TryLockError};
use std::task::{self, Poll, Waker};
use std::thread;
use std::time::Duration;

use mcp_proto::diagnostic::{Blame, Diagnostic};
use mcp_proto::dialect::{Era, Revision};
use mcp_proto::error::{ErrorObject, code};
use mcp_proto::model::{InputRequest, Json, LoggingLevel, LoggingMessageNotificationParams, RequestMeta};
use mcp_proto::schema::Mismatch;
use mcp_proto::server::{
    Answer as Answered, AskError, AskId, Call, CallId, ClientDetails, Config, OutputCheck, Progress, Target,
    WriteResult,
};
use mcp_proto::time::{Instant, Now};
use serde::Serialize;

use crate::around::{Answer, AnswerKind};
use crate::clock::Clock;
use crate::deprecated::Deprecated;
use crate::extensions::Extensions;
use crate::handler::label;
use crate::reply::thread_waker;
use crate::runtime::{BoxFuture, Job};
use crate::spans::RequestSpan;
use crate::wake::Promise;

pub use ask::{Ask, Asks, Leave, Together, Unanswered};
pub use asking::Asking;
pub use input::InputRequired;
use journal::Journal;
pub use step::{ByFuture, ByResult, Step, StepWork};

/// Where the messages of one connection's or exchange's calls go. Input for a finished call is dropped.
pub(crate) trait Outlet: Send + Sync {
    fn respond(&self, call: CallId, result: &dyn WriteResult);
    fn fail(&self, call: CallId, error: &ErrorObject);
    /// The caller lacks scopes that the call turned out to need.
    fn forbid(&self, call: CallId, scopes: Vec<String>);
    fn progress(&self, call: CallId, progress: &Progress);
    fn log(&self, call: CallId, message: &LoggingMessageNotificationParams);
    /// Asks the client on behalf of a call.
    fn ask(&self, call: CallId, request: &InputRequest, timeout: Option<Duration>)
    -> Result<AskId, AskError>;
    /// Nobody waits for this answer any more.
    fn retract(&self, ask: AskId);
    /// Another run of a call takes the place of the one before. `false` when the call is over.
    fn adopt(&self, state: &Arc<CallState>) -> bool;
    /// Runs the handler of a call again.
    fn rerun(&self, state: Arc<CallState>, responder: Responder);
    /// Runs something in the background.
    fn spawn(&self, task: BoxFuture<()>);
    /// The bounds and policies of the server.
    fn config(&self) -> &Config;
    /// By the clocks of the runtime.
    fn now(&self) -> Now;
    /// What the application attached to the request, or to the server.
    fn extensions(&self) -> &Extensions;
    /// The response is to end before the call does, where its client can come back.
    fn close_stream(&self, call: CallId, retry: Duration) {
        let _ = (call, retry);
    }
    fn notify(&self, call: CallId, method: &str, params: &Json);
    /// Answers what the machine answers itself.
    fn proceed(&self, call: CallId);
    /// Something for people on this side.
    fn report(&self, report: Report);
    /// A deprecated feature is used; said once.
    fn deprecated(&self, feature: Deprecated);
    /// Runs a job on the pool, or drops it when that has no place.
    fn spawn_blocking(&self, job: Job);
    /// Is ready after a while, by the clock of the runtime.
    fn sleep(&self, duration: Duration) -> BoxFuture<()>;
    /// The call will not be heard of again.
    fn done(&self, call: CallId);
}

/// Something that went wrong on this side, or that a peer did wrong; see
/// [`Server::on_error`](crate::Server::on_error). Holds no payload.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Report {
    /// Whose doing it is. A hook that pages somebody looks at [`Blame::Ours`]; what peers do wrong can come as
    /// often as they like.
    pub blame: Blame,
    /// What was going on: `tool echo`, `connection`, ...
    pub what: String,
    /// What happened.
    pub detail: String,
}

impl Report {
    /// Something that is this side's doing.
    pub(crate) fn ours(what: impl Into<String>, detail: impl Into<String>) -> Self {
        Self { blame: Blame::Ours, what: what.into(), detail: detail.into() }
    }

    /// Something that a peer did.
    pub(crate) fn theirs(what: impl Into<String>, detail: impl Into<String>) -> Self {
        Self { blame: Blame::Peer, what: what.into(), detail: detail.into() }
    }

    /// Something that a machine noticed.
    pub(crate) fn noticed(what: &str, diagnostic: &Diagnostic) -> Self {
        Self { blame: diagnostic.blame, what: what.into(), detail: diagnostic.to_string() }
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.what, self.detail)
    }
}

/// The request that a handler is serving.
///
/// Clones speak for the same request. Everything is allowed at any time: once the request is answered or
/// cancelled, progress and logs go nowhere.
#[derive(Clone)]
pub struct Context {
    shared: Arc<CallState>,
}

/// One call, as its handler, its task and its connection share it.
pub(crate) struct CallState {
    outlet: Arc<dyn Outlet>,
    id: CallId,
    call: Call,
    /// Where its answer goes when hooks are around it, instead of to its client.
    answer: Option<Promise<Answer>>,
    span: RequestSpan,
    cancelled: AtomicBool,
    wakers: Mutex<Vec<Waker>>,
    /// What is left of an async handler that was not ready at once.
    rest: Mutex<Option<BoxFuture<()>>>,
    /// The run before this one, whose hooks may still be around the call.
    before: Option<Arc<Self>>,
    /// What it has asked and done; see [`journal`].
    journal: Mutex<Option<Box<Journal>>>,
}

impl CallState {
    /// `hooked`: hooks are around it, which are given its answer.
    pub(crate) fn new(outlet: Arc<dyn Outlet>, id: CallId, call: Call, hooked: bool) -> Arc<Self> {
        let (cancelled, wakers, rest) = (AtomicBool::new(false), Mutex::default(), Mutex::default());
        let (answer, journal) = (hooked.then(Promise::default), Mutex::default());
        let span = RequestSpan::new(&call, || outlet.now().mono);
        Arc::new(Self { outlet, id, call, answer, span, cancelled, wakers, rest, before: None, journal })
    }

    /// The same call, to be served once more.
    fn again(self: &Arc<Self>, journal: Journal) -> Arc<Self> {
        let (cancelled, wakers, rest) = (AtomicBool::new(false), Mutex::default(), Mutex::default());
        let (outlet, id, call, answer) =
            (self.outlet.clone(), self.id, self.call.clone(), self.answer.clone());
        let (span, journal) = (self.span.follow(), Mutex::new(Some(Box::new(journal))));
        let before = Some(self.clone());
        Arc::new(Self { outlet, id, call, answer, span, cancelled, wakers, rest, before, journal })
    }

    pub(crate) fn outlet(&self) -> &dyn Outlet {
        &*self.outlet
    }

    pub(crate) fn id(&self) -> CallId {
        self.id
    }

    pub(crate) fn now(&self) -> Instant {
        self.outlet.now().mono
    }

    /// The request is over.
    pub(crate) fn ended(&self, kind: AnswerKind) {
        self.span.ended(kind, || self.now());
        if let Some(before) = &self.before {
            before.ended(kind);
        }
    }

    /// What a hook is to be told: the answer, or `None` when nobody waits for one any more.
    pub(crate) fn poll_answer(&self, waker: &Waker) -> Poll<Option<Answer>> {
        if self.poll_cancelled(waker).is_ready() {
            return Poll::Ready(None);
        }
        match &self.answer {
            Some(answer) => answer.poll_take(waker).map(Some),
            None => Poll::Ready(None),
        }
    }

    fn has_journal(&self) -> bool {
        self.journal.lock().unwrap_or_else(PoisonError::into_inner).is_some()
    }

    fn take_journal(&self) -> Option<Journal> {
        self.journal.lock().unwrap_or_else(PoisonError::into_inner).take().map(|journal| *journal)
    }

    /// Looks into what the call has asked and done. Calls no code of handlers, and wakes nobody.
    fn journal<T>(&self, look: impl FnOnce(&mut Journal) -> T) -> T {
        let mut journal = self.journal.lock().unwrap_or_else(PoisonError::into_inner);
        look(journal.get_or_insert_with(|| Box::new(Journal::load(self))))
    }

    /// An answer of the client has come.
    pub(crate) fn answered(&self, ask: AskId, answer: Answered) {
        let wakers = self.journal(|journal| journal.settle(ask, answer.0));
        wakers.into_iter().for_each(Waker::wake);
    }

    pub(crate) fn target(&self) -> &Target {
        self.call.target()
    }

    pub(crate) fn is_cancelled(&self) -> bool {
        self.cancelled.load(Ordering::Acquire)
    }

    /// Keeps what is left of an async handler, to be polled with [`poll_rest`](Self::poll_rest).
    pub(crate) fn keep(&self, rest: BoxFuture<()>) {
        *self.rest.lock().unwrap_or_else(PoisonError::into_inner) = Some(rest);
    }

    /// Polls what is left of the handler, and drops it when it is done, cancelled or has panicked.
    pub(crate) fn poll_rest(&self, cx: &mut task::Context<'_>) -> Poll<()> {
        let mut rest = self.rest.lock().unwrap_or_else(PoisonError::into_inner);
        let polled = match &mut *rest {
            Some(_) if self.is_cancelled() => Poll::Ready(()),
            Some(future) => self.guarded(|| future.as_mut().poll(cx)).unwrap_or(Poll::Ready(())),
            None => return Poll::Ready(()),
        };
        // A cancellation during the poll could not drop the future, so it is seen to here.
        if polled.is_pending() && self.poll_cancelled(cx.waker()).is_pending() {
            return Poll::Pending;
        }
        let rest = rest.take();
        self.guarded(|| drop(rest));
        Poll::Ready(())
    }

    /// Drops what is left of the handler, unless it is just being polled.
    pub(crate) fn drop_rest(&self) {
        let rest = match self.rest.try_lock() {
            Ok(mut rest) => rest.take(),
            Err(TryLockError::Poisoned(rest)) => rest.into_inner().take(),
            Err(TryLockError::WouldBlock) => None,
        };
        self.guarded(|| drop(rest));
    }

    /// Runs code of a handler; a panic is reported and ends there.
    pub(crate) fn guarded<T>(&self, run: impl FnOnce() -> T) -> Option<T> {
        self.guarded_as("the handler", run)
    }

    /// The same, for code that is called `who`.
    pub(crate) fn guarded_as<T>(&self, who: &str, run: impl FnOnce() -> T) -> Option<T> {
        self.span.enter(|| {
            catch_unwind(AssertUnwindSafe(run)).map_err(|panic| self.report(panic_text(who, &*panic))).ok()
        })
    }

    /// Tells the handler to stop: an async one is dropped here and now, unless it is just being polled.
    pub(crate) fn cancel(&self) {
        self.cancelled.store(true, Ordering::Release);
        if self.answer.is_none() {
            self.ended(AnswerKind::Cancelled);
        }
        self.drop_rest();
        let wakers = std::mem::take(&mut *self.wakers.lock().unwrap_or_else(PoisonError::into_inner));
        wakers.into_iter().for_each(Waker::wake);
        if let Some(before) = &self.before {
            before.cancel();
        }
    }

    pub(crate) fn poll_cancelled(&self, waker: &Waker) -> Poll<()> {
        if self.is_cancelled() {
            return Poll::Ready(());
        }
        let mut wakers = self.wakers.lock().unwrap_or_else(PoisonError::into_inner);
        if !wakers.iter().any(|known| known.will_wake(waker)) {
            wakers.push(waker.clone());
        }
        // A cancellation between the first look and the registration found no waker to wake.
        if self.is_cancelled() { Poll::Ready(()) } else { Poll::Pending }
    }

    pub(crate) fn report(&self, detail: impl Into<String>) {
        self.outlet.report(Report::ours(label(self.target()), detail));
    }
}

fn panic_text(who: &str, panic: &(dyn Any + Send)) -> String {
    let text = panic
        .downcast_ref::<&str>()
        .copied()
        .or_else(|| panic.downcast_ref::<String>().map(String::as_str))
        .unwrap_or("something that is no text");
    format!("{who} panicked: {text}")
}

impl Context {
    pub(crate) fn new(shared: Arc<CallState>) -> Self {
        Self { shared }
    }

    pub(crate) fn state(&self) -> Arc<CallState> {
        self.shared.clone()
    }

    pub(crate) fn call(&self) -> &Call {
        &self.shared.call
    }

    /// Reports progress: how far, of how much if that is known, and a word on it. Sent at once, on the
    /// stream that the answer will come on, if the client asked for progress. `progress` must grow with
    /// every report; one that does not is dropped.
    ///
    /// <https://modelcontextprotocol.io/specification/2026-07-28/basic/patterns/progress>
    pub fn progress(&self, progress: impl Into<Progress>) {
        self.shared.outlet.progress(self.shared.id, &progress.into());
    }

    /// Sends a log message, if the client asked for logs of this level: in the modern era with the request,
    /// in the legacy one for the session.
    ///
    /// Deprecated by revision 2026-07-28 in favour of standard error and OpenTelemetry; it still works.
    /// Logs must not hold secrets.
    ///
    /// <https://modelcontextprotocol.io/specification/2026-07-28/server/utilities/logging>
    pub fn log(&self, level: LoggingLevel, data: impl Serialize) {
        if !self.shared.call.wants_log(level) {
            return;
        }
        match Json::new(&data) {
            Ok(data) => {
                self.shared.outlet.deprecated(Deprecated::Logging);
                self.shared.outlet.log(self.shared.id, &LoggingMessageNotificationParams::new(level, data));
            }
            Err(error) => self.shared.report(format!("log data cannot be written as JSON: {error}")),
        }
    }

    /// Whether the client gave up on the request. A blocking handler looks at this now and then; an async
    /// one is dropped at its next await.
    pub fn is_cancelled(&self) -> bool {
        self.shared.is_cancelled()
    }

    /// Is ready once the client has given up on the request.
    pub async fn cancelled(&self) {
        poll_fn(|cx| self.shared.poll_cancelled(cx.waker())).await;
    }

    /// Waits for a while, whichever runtime that is on. For async handlers: one whose client gives up on the
    /// request meanwhile is dropped.
    pub async fn sleep(&self, duration: Duration) {
        self.shared.outlet.sleep(duration).await;
    }

    /// Blocks the thread for a while, or until the client gives up on the request; says whether it did. For
    /// blocking handlers.
    pub fn wait(&self, duration: Duration) -> bool {
        let clock = Clock::start();
        let waker = thread_waker();
        loop {
            if self.shared.poll_cancelled(&waker).is_ready() {
                return true;
            }
            let left = duration.saturating_sub(clock.now().mono.since_epoch());
            if left.is_zero() {
                return false;
            }
            thread::park_timeout(left);
        }
    }

    /// The revision that the request is served under.
    pub fn revision(&self) -> Revision {
        self.shared.call.revision()
    }

    /// The era of that revision.
    pub fn era(&self) -> Era {
        self.shared.call.era()
    }

    /// The request's `_meta`.
    pub fn meta(&self) -> RequestMeta<'_> {
        self.shared.call.meta()
    }

    /// Who the client says it is, and what it can do: by this very request in the modern era, by the
    /// handshake in the legacy one. Claims, not to be decided on.
    pub fn client(&self) -> Arc<ClientDetails> {
        self.shared.call.client()
    }

    /// What was asked for, with its definition.
    pub fn target(&self) -> &Target {
        self.shared.target()
    }

    pub(crate) fn arguments(&self) -> &str {
        self.shared.call.arguments()
    }

    pub(crate) fn check_arguments(&self) -> Result<(), Mismatch> {
        self.shared.call.check_arguments()
    }
}

impl fmt::Debug for Context {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Context")
            .field("serves", &label(self.target()))
            .field("revision", &self.revision())
            .finish_non_exhaustive()
    }
}

/// The obligation to answer a call. Dropped unanswered, it answers an internal error.
pub(crate) struct Responder {
    shared: Arc<CallState>,
    answered: bool,
    /// The call goes on under another responder.
    kept: bool,
}

impl Responder {
    pub(crate) fn new(shared: Arc<CallState>) -> Self {
        Self { shared, answered: false, kept: false }
    }

    pub(crate) fn target(&self) -> &Target {
        self.shared.target()
    }

    pub(crate) fn output_check(&self) -> OutputCheck {
        self.shared.call.output_check()
    }

    pub(crate) fn report(&self, detail: impl Into<String>) {
        self.shared.report(detail);
    }

    /// Answers with a result.
    pub(crate) fn respond(mut self, result: impl WriteResult + Send + 'static) {
        self.answered = true;
        match &self.shared.answer {
            Some(answer) => answer.set(Answer::result(result)),
            None => {
                self.shared.ended(Answer::kind_of(&result));
                self.shared.outlet.respond(self.shared.id, &result);
            }
        }
    }

    /// Answers with an error that the peer may read.
    pub(crate) fn fail(mut self, error: ErrorObject) {
        self.answer(error);
    }

    /// Answers what the protocol answers by itself.
    pub(crate) fn proceed(mut self) {
        self.answered = true;
        match &self.shared.answer {
            Some(answer) => answer.set(Answer::own()),
            None => {
                self.shared.ended(AnswerKind::Complete);
                self.shared.outlet.proceed(self.shared.id);
            }
        }
    }

    /// Answers that the caller lacks some of these scopes.
    pub(crate) fn forbid(mut self, scopes: Vec<String>) {
        self.answered = true;
        match &self.shared.answer {
            Some(answer) => answer.set(Answer::insufficient_scope(scopes)),
            None => {
                self.shared.ended(AnswerKind::Error(code::INVALID_REQUEST.into()));
                self.shared.outlet.forbid(self.shared.id, scopes);
            }
        }
    }

    /// Answers `internal error` and keeps the reason on this side.
    pub(crate) fn fail_internally(mut self, detail: &str) {
        self.shared.report(detail);
        self.answer(internal());
    }

    fn answer(&mut self, error: ErrorObject) {
        self.answered = true;
        match &self.shared.answer {
            Some(answer) => answer.set(error.into()),
            None => {
                self.shared.ended(AnswerKind::Error(error.code));
                self.shared.outlet.fail(self.shared.id, &error);
            }
        }
    }
}

/// What a peer is told of what is none of its business.
pub(crate) fn internal() -> ErrorObject {
    ErrorObject::new(code::INTERNAL, "internal error")
}

impl Drop for Responder {
    fn drop(&mut self) {
        if !self.answered {
            self.answer(internal());
        }
        // Where hooks are around it, it is over when they are.
        if self.shared.answer.is_none() && !self.kept {
            self.shared.outlet.done(self.shared.id);
        }
    }
}
