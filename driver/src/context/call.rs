//! One call, as its handler, its task and its connection share it.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, TryLockError, Weak};
use std::task::{self, Poll, Waker};

use mcp_proto::error::PeerError;
use mcp_proto::server::{Answer as Answered, AskId, Call, CallId, Target};
use mcp_proto::time::Instant;

use super::journal::{Journal, Kept};
use super::{Outlet, Report};
use crate::around::{Answer, AnswerKind};
use crate::handler::{Run, label};
use crate::hook::panic_text;
use crate::runtime::{BoxFuture, Job};
use crate::spans::RequestSpan;
use crate::wake::{Once, Place, Promise};

/// One call, as its handler, its task and its connection share it.
pub(crate) struct CallState {
    pub(super) outlet: Arc<dyn Outlet>,
    pub(super) id: CallId,
    pub(super) call: Call,
    /// What serves it, from the offer in which its target was found, for all of its runs.
    pub(super) handler: Option<Run>,
    /// Where its answer goes when hooks are around it, instead of to its client.
    pub(super) answer: Option<Promise<Answer>>,
    pub(super) span: RequestSpan,
    pub(super) cancelled: Once,
    /// What is left of an async handler that was not ready at once.
    pub(super) rest: Mutex<Option<BoxFuture<()>>>,
    /// A handler that blocks, until a thread takes it.
    waiting: Mutex<Option<Job>>,
    /// The run before this one, whose hooks may still be around the call.
    pub(super) before: Option<Arc<Self>>,
    /// What it has asked and done; see [`journal`].
    pub(super) journal: Mutex<Option<Box<Journal>>>,
}

impl CallState {
    /// `hooked`: hooks are around it, which are given its answer.
    pub(crate) fn new(
        outlet: Arc<dyn Outlet>,
        id: CallId,
        call: Call,
        handler: Option<Run>,
        hooked: bool,
    ) -> Arc<Self> {
        let (cancelled, rest) = (Once::default(), Mutex::default());
        let (answer, journal) = (hooked.then(Promise::default), Mutex::default());
        let span = RequestSpan::new(&call, || outlet.now().mono);
        let (waiting, before) = (Mutex::default(), None);
        Arc::new(Self { outlet, id, call, handler, answer, span, cancelled, rest, waiting, before, journal })
    }

    /// The same call, to be served once more.
    pub(super) fn again(self: &Arc<Self>, journal: Journal) -> Arc<Self> {
        let (cancelled, rest) = (Once::default(), Mutex::default());
        let (outlet, id, call) = (self.outlet.clone(), self.id, self.call.clone());
        let (handler, answer) = (self.handler.clone(), self.answer.clone());
        let (span, journal) = (self.span.follow(), Mutex::new(Some(Box::new(journal))));
        let (waiting, before) = (Mutex::default(), Some(self.clone()));
        Arc::new(Self { outlet, id, call, handler, answer, span, cancelled, rest, waiting, before, journal })
    }

    pub(crate) fn handler(&self) -> Option<&Run> {
        self.handler.as_ref()
    }

    pub(crate) fn outlet(&self) -> &dyn Outlet {
        &*self.outlet
    }

    /// The way to its request, also of a call that goes on as a task.
    pub(crate) fn request_outlet(&self) -> &dyn Outlet {
        self.outlet.as_task().map_or(&*self.outlet, |task| task.request())
    }

    pub(crate) fn call(&self) -> &Call {
        &self.call
    }

    /// Where its answer goes when hooks are around it. They are around the request: not around what becomes of a task.
    pub(super) fn hooks(&self) -> Option<&Promise<Answer>> {
        self.answer.as_ref().filter(|_| !self.is_task())
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
        if self.cancelled.poll(&mut Place::hooks(), waker).is_ready() {
            return Poll::Ready(None);
        }
        match &self.answer {
            Some(answer) => answer.poll_take(waker).map(Some),
            None => Poll::Ready(None),
        }
    }

    pub(super) fn has_journal(&self) -> bool {
        self.journal.lock().unwrap_or_else(PoisonError::into_inner).is_some()
    }

    pub(super) fn take_journal(&self) -> Option<Journal> {
        self.journal.lock().unwrap_or_else(PoisonError::into_inner).take().map(|journal| *journal)
    }

    /// Looks into what the call has asked and done. Calls no code of handlers, and wakes nobody.
    pub(super) fn journal<T>(&self, look: impl FnOnce(&mut Journal) -> T) -> T {
        let mut journal = self.journal.lock().unwrap_or_else(PoisonError::into_inner);
        look(journal.get_or_insert_with(|| Box::new(Journal::load(self))))
    }

    /// Opens the state that came, before anything is done because of it (MRTR-12). May run code of the
    /// application, with no lock held.
    pub(super) fn open(&self) -> Result<(), PeerError> {
        let Some(sealed) = self.call.request_state() else { return Ok(()) };
        let kept = Kept::open(self, &sealed)?;
        self.journal(|journal| journal.kept = kept);
        Ok(())
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
        self.cancelled.has_happened()
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
        if polled.is_pending() && self.cancelled.poll(&mut Place::task(), cx.waker()).is_pending() {
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

    /// Has a handler that blocks run when there is a thread for it. What waits for one holds the call only as long as
    /// somebody waits for that: else a client that cancels fills the queue with its parameters.
    pub(crate) fn wait_for_thread(self: &Arc<Self>, job: Job) {
        *self.lock_waiting() = Some(job);
        let waiting = Waiting(Arc::downgrade(self));
        // A hook may start the handler of a call that was cancelled before. Looked at when the job is kept, as whoever
        // cancels says so first and takes the job then.
        if self.is_cancelled() {
            return;
        }
        self.outlet.spawn_blocking(Box::new(move || waiting.run()));
    }

    fn lock_waiting(&self) -> MutexGuard<'_, Option<Job>> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
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

    /// Tells the handler to stop. An async one is dropped by its task: that is code of the application, which whoever
    /// cancels does not wait for.
    pub(crate) fn cancel(&self) {
        self.cancelled.happen();
        if self.answer.is_none() {
            self.ended(AnswerKind::Cancelled);
        }
        let waiting = self.lock_waiting().take();
        // It is the application's, and whoever cancels goes on.
        self.guarded(|| drop(waiting));
        self.cancelled.wake();
        if let Some(before) = &self.before {
            before.cancel();
        }
    }

    /// The same where nothing waits but this call's own connection: what is left of an async handler is dropped here and
    /// now, as the process may end next.
    pub(crate) fn cancel_here(&self) {
        self.cancel();
        let mut run = Some(self);
        while let Some(state) = run {
            state.drop_rest();
            run = state.before.as_deref();
        }
    }

    /// The cancellation, for those who wait for it.
    pub(super) fn cancelled(&self) -> &Once {
        &self.cancelled
    }

    pub(crate) fn report(&self, detail: impl Into<String>) {
        self.outlet.report(Report::ours(label(self.target()), detail));
    }
}

/// A handler that waits for a thread. Where none will come to it, the handler is dropped, and its responder answers.
struct Waiting(Weak<CallState>);

impl Waiting {
    fn run(self) {
        let Some(state) = self.0.upgrade() else { return };
        let job = state.lock_waiting().take();
        state.guarded(|| job.map(|job| job()));
    }
}

impl Drop for Waiting {
    fn drop(&mut self) {
        let Some(state) = self.0.upgrade() else { return };
        let job = state.lock_waiting().take();
        drop(job);
    }
}
