//! Waiting for an answer: a future, of which each poll looks into the journal of the call.

use std::future::{Future, poll_fn};
use std::hash::{BuildHasher, RandomState};
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::task::{self, Poll, Waker};
use std::time::Duration;

use mcp_proto::model::{ElicitRequestParams, InputRequest, Json};
use mcp_proto::server::AskError;

use super::CallState;
use super::ask::{Ask, Leave, Read, Unanswered};
use super::journal::Stand;
use crate::deprecated::Deprecated;
use crate::wake::Place;

/// A question on its way; what awaiting an [`Ask`] waits for. Dropped, the question is taken back.
pub struct Asking<T>(Option<Inner<T>>);

struct Inner<T> {
    state: Arc<CallState>,
    key: String,
    read: Read<T>,
    stage: Stage,
    /// Among those who wait for the end of the call.
    place: Place,
}

enum Stage {
    Begin { question: Result<InputRequest, Unanswered>, timeout: Option<Duration> },
    Waits,
}

impl<T> Asking<T> {
    pub(super) fn new(ask: Ask<T>) -> Self {
        let Ask { cx, key, question, timeout, read } = ask;
        let (stage, place) = (Stage::Begin { question, timeout }, Place::default());
        Self(Some(Inner { state: cx.shared, key, read, stage, place }))
    }
}

impl<T> std::fmt::Debug for Asking<T> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Asking").finish_non_exhaustive()
    }
}

impl<T> Unpin for Asking<T> {}

impl<T> Future for Asking<T> {
    type Output = Result<T, Unanswered>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut task::Context<'_>) -> Poll<Self::Output> {
        // Polled again after it was ready: there is nothing more to come.
        let Some(inner) = &mut self.0 else { return Poll::Ready(Err(Unanswered::Failed(AskError::Over))) };
        let Poll::Ready(outcome) = inner.poll(cx.waker()) else { return Poll::Pending };
        inner.leave();
        let Some(Inner { state, key, read, .. }) = self.0.take() else {
            return Poll::Ready(Err(Unanswered::Failed(AskError::Over)));
        };
        Poll::Ready(outcome.and_then(|answer| read(&answer).map_err(|unread| unread.tell(&state, &key))))
    }
}

impl<T> Inner<T> {
    fn leave(&mut self) {
        self.state.cancelled().leave(&mut self.place);
    }

    fn poll(&mut self, waker: &Waker) -> Poll<Result<Json, Unanswered>> {
        if let Stage::Begin { question, timeout } = std::mem::replace(&mut self.stage, Stage::Waits) {
            match question.and_then(|request| begin(&self.state, &self.key, request, timeout)) {
                Ok(None) => {}
                Ok(Some(answer)) => return Poll::Ready(Ok(answer)),
                Err(unanswered) => return Poll::Ready(Err(unanswered)),
            }
        }
        let polled = self.state.journal(|journal| journal.poll(&self.key, waker));
        match polled {
            Poll::Ready(outcome) => Poll::Ready(outcome.map_err(Unanswered::Failed)),
            // A blocked thread has nobody to drop what it waits for.
            Poll::Pending if self.state.cancelled().poll(&mut self.place, waker).is_ready() => {
                Poll::Ready(Err(Unanswered::Failed(AskError::Over)))
            }
            Poll::Pending => Poll::Pending,
        }
    }
}

/// Puts a question. `None` when its answer is waited for.
fn begin(
    state: &Arc<CallState>,
    key: &str,
    mut request: InputRequest,
    timeout: Option<Duration>,
) -> Result<Option<Json>, Unanswered> {
    if let Some(feature) = Deprecated::of(&request) {
        state.outlet.deprecated(feature);
    }
    match state.journal(|journal| journal.stand(state, key, &request)) {
        Stand::Leave => Err(Unanswered::Leave(Leave::new())),
        Stand::Settled(outcome) => outcome.map(Some).map_err(Unanswered::Failed),
        Stand::Waits => Ok(None),
        Stand::Send => {
            name_elicitation(&mut request);
            let sent = state.outlet.ask(state.id, key, &request, timeout);
            let wakers = state.journal(|journal| journal.sent(key, sent));
            wakers.into_iter().for_each(Waker::wake);
            Ok(None)
        }
    }
}

/// Elicitations by URL have a name that is unique for their server (ELIC-18).
pub(super) fn name_elicitation(request: &mut InputRequest) {
    if let InputRequest::Elicit(ElicitRequestParams::Url(params)) = request
        && params.elicitation_id.is_none()
    {
        params.elicitation_id = Some(elicitation_id());
    }
}

/// Keyed by the chance that the standard library takes for its hash tables, so that no two processes agree.
pub(super) fn elicitation_id() -> String {
    static COUNT: AtomicU64 = AtomicU64::new(0);
    let count = COUNT.fetch_add(1, Ordering::Relaxed);
    format!("{:016x}{:016x}", RandomState::new().hash_one(count), RandomState::new().hash_one(count))
}

impl<T> Drop for Asking<T> {
    fn drop(&mut self) {
        let Some(inner) = &mut self.0 else { return };
        inner.leave();
        if let Inner { state, key, stage: Stage::Waits, .. } = inner
            && let Some(ask) = state.journal(|journal| journal.forget(key))
        {
            state.outlet.retract(ask);
        }
    }
}

/// Asks all of them and waits for all, unless one cannot be asked: then none is, as the answers would be in vain.
///
/// # Errors
/// What the handler has to leave for. Whatever else came is in the slots.
pub(super) async fn all(asking: &mut [&mut (dyn Pollable + Send)]) -> Result<(), Unanswered> {
    askable(asking)?;
    poll_fn(|cx| {
        let mut ready = true;
        for one in asking.iter_mut() {
            ready &= one.poll(cx);
        }
        if ready { Poll::Ready(()) } else { Poll::Pending }
    })
    .await;
    match asking.iter().any(|one| one.leaves()) {
        true => Err(Unanswered::Leave(Leave::new())),
        false => Ok(()),
    }
}

/// Whether the client may be asked all of this together.
fn askable(asking: &[&mut (dyn Pollable + Send)]) -> Result<(), Unanswered> {
    let mut questions = Vec::with_capacity(asking.len());
    for one in asking {
        questions.extend(one.question()?);
    }
    let Some((state, _)) = questions.first() else { return Ok(()) };
    // What is asked on behalf of another call is judged by itself.
    let together = questions.iter().filter(|(other, _)| Arc::ptr_eq(state, other));
    state.askable(together.map(|(_, request)| *request)).map_err(Unanswered::Failed)
}

/// Something of which the outcome is kept until all have one.
pub(super) trait Pollable {
    /// Whether there is an outcome.
    fn poll(&mut self, cx: &mut task::Context<'_>) -> bool;

    /// What has still to be asked, and on behalf of which call.
    ///
    /// # Errors
    /// When it cannot be put in words.
    fn question(&self) -> Result<Option<(&Arc<CallState>, &InputRequest)>, Unanswered>;

    /// Whether the handler has to leave, so that the client is asked.
    fn leaves(&self) -> bool;
}

pub(super) struct Slot<T> {
    asking: Asking<T>,
    outcome: Option<Result<T, Unanswered>>,
}

impl<T> Slot<T> {
    pub(super) fn new(ask: Ask<T>) -> Self {
        Self { asking: Asking::new(ask), outcome: None }
    }

    pub(super) fn take(&mut self) -> Result<T, Unanswered> {
        self.outcome.take().unwrap_or(Err(Unanswered::Failed(AskError::Over)))
    }
}

impl<T> Pollable for Slot<T> {
    fn poll(&mut self, cx: &mut task::Context<'_>) -> bool {
        if self.outcome.is_none()
            && let Poll::Ready(outcome) = Pin::new(&mut self.asking).poll(cx)
        {
            self.outcome = Some(outcome);
        }
        self.outcome.is_some()
    }

    fn question(&self) -> Result<Option<(&Arc<CallState>, &InputRequest)>, Unanswered> {
        let Some(Inner { state, stage: Stage::Begin { question, .. }, .. }) = &self.asking.0 else {
            return Ok(None);
        };
        let request = question.as_ref().map_err(Unanswered::clone)?;
        Ok(Some((state, request)))
    }

    fn leaves(&self) -> bool {
        matches!(&self.outcome, Some(Err(Unanswered::Leave(_))))
    }
}
