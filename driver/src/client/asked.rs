//! One question of a server, from when it is heard to its answer.

use std::collections::BTreeMap;
use std::fmt;
use std::future::poll_fn;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::task::{Context, Poll};

use mcp_proto::client::{AskId, InputResponse, Refusal, ServerDetails};
use mcp_proto::model::InputRequest;

use super::answers::{AnswerError, Answerer, Outcome, Run};
use super::desk::{Link, Machine};
use crate::context::Report;
use crate::deprecated::Deprecated;
use crate::endpoint::poll_once;
use crate::hook;
use crate::runtime::{BoxFuture, Runtime};
use crate::wake::{Once, Place};

/// What a handler knows of a question besides the question. Clones speak of the same one.
#[derive(Clone)]
pub struct Asked(Arc<State>);

struct State {
    server: Arc<ServerDetails>,
    cancelled: Once,
}

impl Asked {
    fn new(server: Arc<ServerDetails>) -> Self {
        Self(Arc::new(State { server, cancelled: Once::default() }))
    }

    /// Who asks: show it to the user (ELIC-36). What it says of itself is a claim.
    pub fn server(&self) -> &ServerDetails {
        &self.0.server
    }

    /// Whether nobody waits for the answer any more. A blocking handler looks at this now and then; an async one is
    /// dropped.
    pub fn is_cancelled(&self) -> bool {
        self.0.cancelled.has_happened()
    }

    /// Is ready once nobody waits for the answer any more.
    pub async fn cancelled(&self) {
        self.0.cancelled.wait().await;
    }

    pub(super) fn cancel(&self) {
        self.0.cancelled.happen();
        self.0.cancelled.wake();
    }
}

impl fmt::Debug for Asked {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Asked").field("cancelled", &self.is_cancelled()).finish_non_exhaustive()
    }
}

/// The questions that handlers are at.
pub(super) type Questions = BTreeMap<AskId, Asked>;

/// Runs the handler of a question, with no lock held: an async one is polled once here, and only one that is not ready
/// then becomes a task.
pub(super) fn serve<L: Link>(link: &Arc<L>, ask: AskId, request: &Arc<InputRequest>) {
    let Some(asked) = begin(link, ask, request) else { return };
    let serving = Serving { link: link.clone(), ask, asked, method: request.method().to_owned(), open: true };
    let Some(Answerer(handler)) = link.hooks().answers.get(request).cloned() else {
        // What has no handler is not declared, so nobody is asked.
        return serving.finish(Err(AnswerError::failed("there is no handler")));
    };
    match handler {
        Run::Async(handler) => {
            let asked = serving.asked.clone();
            let Some(mut future) = serving.guarded(|| handler(request, asked)) else { return };
            match serving.guarded(|| poll_once(future.as_mut())) {
                Some(Poll::Ready(outcome)) => serving.finish(outcome),
                Some(Poll::Pending) => link.runtime().spawn(Box::pin(task(serving, future))),
                None => {}
            }
        }
        Run::Blocking(handler) => {
            let (request, method) = (request.clone(), serving.method.clone());
            let job = Box::new(move || {
                // It may have waited for a thread longer than the server for it.
                if serving.asked.is_cancelled() {
                    return;
                }
                let asked = serving.asked.clone();
                if let Some(outcome) = serving.guarded(|| handler(&request, asked)) {
                    serving.finish(outcome);
                }
            });
            // A job without a place is dropped, and what it holds answers.
            if !link.hooks().jobs.run(job, |job| link.runtime().spawn_blocking(job)) {
                link.hooks().report(&Report::ours(
                    method,
                    "no thread for the handler, or more than `Limits::blocking_jobs` wait",
                ));
            }
        }
    }
}

fn begin<L: Link>(link: &Arc<L>, ask: AskId, request: &InputRequest) -> Option<Asked> {
    let (asked, deprecated) = {
        let desk = &mut link.lock().desk;
        let asked = Asked::new(desk.details.clone()?);
        desk.questions.insert(ask, asked.clone());
        (asked, Deprecated::of(request).and_then(|feature| desk.said.once(feature)))
    };
    if let Some(report) = deprecated {
        link.hooks().report(&report);
    }
    Some(asked)
}

/// What is left of an async handler.
async fn task<L: Link>(serving: Serving<L>, future: BoxFuture<Outcome>) {
    let mut future = Some(future);
    let outcome = poll_fn(|cx| poll(&serving, &mut future, cx)).await;
    // Its drop is code of the application.
    serving.guarded(|| drop(future));
    if let Some(outcome) = outcome {
        serving.finish(outcome);
    }
}

fn poll<L: Link>(
    serving: &Serving<L>,
    future: &mut Option<BoxFuture<Outcome>>,
    cx: &mut Context<'_>,
) -> Poll<Option<Outcome>> {
    let Some(handler) = future else { return Poll::Ready(None) };
    if serving.asked.0.cancelled.poll(&mut Place::task(), cx.waker()).is_ready() {
        return Poll::Ready(None);
    }
    match serving.guarded(|| handler.as_mut().poll(cx)) {
        Some(polled) => polled.map(Some),
        None => Poll::Ready(None),
    }
}

/// The obligation to answer. Dropped unanswered, it answers that this side failed.
struct Serving<L: Link> {
    link: Arc<L>,
    ask: AskId,
    asked: Asked,
    method: String,
    open: bool,
}

impl<L: Link> Serving<L> {
    fn finish(mut self, outcome: Outcome) {
        match outcome.map_err(AnswerError::into_parts) {
            Ok(response) => self.answer(Ok(response)),
            Err((refusal, detail)) => {
                if let Some(detail) = detail {
                    self.report(detail);
                }
                self.answer(Err(refusal));
            }
        }
    }

    fn answer(&mut self, answer: Result<InputResponse, Refusal>) {
        self.open = false;
        let now = self.link.now();
        let misuse = {
            let mut inner = self.link.lock();
            inner.desk.questions.remove(&self.ask);
            let misuse = inner.machine.answer(now, self.ask, answer).err();
            if let Some(misuse) = &misuse {
                let reason = misuse.message.clone();
                // A refusal fits whatever was asked.
                drop(inner.machine.answer(now, self.ask, Err(Refusal::Misfit { reason })));
            }
            misuse
        };
        if let Some(misuse) = misuse {
            self.report(misuse.message);
        }
        self.link.turn();
    }

    /// Runs code of the application; a panic is reported and ends there.
    fn guarded<T>(&self, run: impl FnOnce() -> T) -> Option<T> {
        let caught = catch_unwind(AssertUnwindSafe(run));
        caught.map_err(|panic| self.report(hook::panic_text("the handler", &*panic))).ok()
    }

    fn report(&self, detail: String) {
        self.link.hooks().report(&Report::ours(self.method.clone(), detail));
    }
}

impl<L: Link> Drop for Serving<L> {
    fn drop(&mut self) {
        if self.open && !self.asked.is_cancelled() {
            self.answer(Err(Refusal::Failed));
        }
    }
}
