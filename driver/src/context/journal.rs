//! What one call has asked its client and done on the way, so that a handler that runs again comes to the same
//! point. In the modern era it travels through the client, sealed; in the legacy era it lives as long as the
//! call.

use std::collections::BTreeMap;
use std::task::{Poll, Waker};

use mcp_proto::error::{ApiMisuse, PeerError};
use mcp_proto::model::{InputRequest, InputRequests, InputResponses, Json, JsonMap};
use mcp_proto::server::{AskError, AskId, Bound, StateError, askable};
use serde::{Deserialize, Serialize};

use super::CallState;

/// The memory of one call. Made when its handler first asks.
#[derive(Default)]
pub(crate) struct Journal {
    /// What travels: what was answered and done, in earlier rounds and in this one.
    pub(super) kept: Kept,
    /// What came with this round and was not asked for yet.
    brought: InputResponses,
    /// What was asked in this run.
    asked: BTreeMap<String, Asked>,
    /// Which of it a legacy client has been sent.
    waiting: BTreeMap<AskId, String>,
    /// Answers that came before it was noted here what they are for.
    early: BTreeMap<AskId, Result<Json, AskError>>,
    /// What a modern client is asked once the handler has left.
    pub(super) open: InputRequests,
    pub(super) manual: Manual,
}

/// What a handler reads that makes its rounds itself.
#[derive(Default)]
pub(super) struct Manual {
    pub(super) responses: Option<InputResponses>,
    /// How often a legacy client was asked on behalf of it.
    pub(super) rounds: usize,
}

#[derive(Clone, Default, Serialize, Deserialize)]
pub(super) struct Kept {
    #[serde(default, rename = "a", skip_serializing_if = "BTreeMap::is_empty")]
    pub(super) answers: JsonMap,
    #[serde(default, rename = "s", skip_serializing_if = "BTreeMap::is_empty")]
    pub(super) steps: JsonMap,
    /// A state that the handler made itself.
    #[serde(default, rename = "o", skip_serializing_if = "Option::is_none")]
    pub(super) own: Option<String>,
}

impl Kept {
    /// What was [sealed](Self::seal) for the request of this call.
    pub(super) fn open(state: &CallState, sealed: &str) -> Result<Self, PeerError> {
        let config = state.outlet.config();
        let plain = config.open_state(state.outlet.now(), &Bound::of(&state.call, config), sealed)?;
        let unread = |_| StateError::new("what was sealed is not of this form").into();
        serde_json::from_slice(&plain).map_err(unread)
    }

    /// What the client is to bring back.
    pub(super) fn seal(&self, state: &CallState) -> Result<String, StateError> {
        let plain = serde_json::to_vec(self)
            .map_err(|error| StateError::new(format!("the state cannot be written: {error}")))?;
        let config = state.outlet.config();
        config.seal_state(state.outlet.now(), &Bound::of(&state.call, config), &plain)
    }

    pub(super) fn is_empty(&self) -> bool {
        let Self { answers, steps, own } = self;
        answers.is_empty() && steps.is_empty() && own.is_none()
    }
}

struct Asked {
    request: InputRequest,
    progress: Progress,
    /// How many wait for the answer.
    waiters: usize,
}

enum Progress {
    /// With a legacy client, as soon as it has a number.
    Sent {
        ask: Option<AskId>,
        wakers: Vec<Waker>,
    },
    Settled(Result<Json, AskError>),
    /// A modern client will be asked.
    Open,
}

/// How a question stands.
pub(super) enum Stand {
    /// Send it, and say with [`Journal::sent`] what came of that.
    Send,
    Waits,
    Settled(Result<Json, AskError>),
    /// The handler is to leave, so that something can be said to the client.
    Leave,
}

/// How something that is done once stands.
pub(super) enum Step {
    Do,
    Done(Json),
    Leave,
}

impl CallState {
    /// Whether servers send requests in the revision of the call.
    fn revision_asks(&self) -> bool {
        self.call.revision().dialect().server_requests
    }

    /// Whether what is asked is waited for, and not brought by another round.
    pub(super) fn waits_for_answers(&self) -> bool {
        self.revision_asks() || self.is_task()
    }

    /// Whether the client may be asked all of this in answer to this call.
    pub(super) fn askable<'a>(
        &self,
        requests: impl IntoIterator<Item = &'a InputRequest, IntoIter: Clone>,
    ) -> Result<(), AskError> {
        let revision = self.call.revision();
        // What a client has declared is of no use then, or not even known.
        if self.revision_asks() && !self.outlet.may_ask() {
            return Err(AskError::Unreachable);
        }
        if !(self.revision_asks() || self.target().may_require_input()) {
            return Err(AskError::NotSupported { what: "request for input in answer to this method".into() });
        }
        askable(revision, &self.call.client().capabilities, requests)
    }
}

impl Journal {
    /// The memory of a call, as far as it has come with it.
    pub(super) fn load(state: &CallState) -> Self {
        let responses = state.call.input_responses().and_then(|text| serde_json::from_str(text).ok());
        let mut journal = Self { brought: responses.clone().unwrap_or_default(), ..Self::default() };
        journal.manual.responses = responses;
        journal
    }

    /// Notes that something is asked under `key`, or finds that it was.
    pub(super) fn stand(&mut self, state: &CallState, key: &str, request: &InputRequest) -> Stand {
        if let Some(asked) = self.asked.get_mut(key) {
            if asked.request != *request {
                let misuse = format!("two different things are asked under the key `{key}`");
                return Stand::Settled(Err(ApiMisuse::new(misuse).into()));
            }
            return match &asked.progress {
                Progress::Sent { .. } => {
                    asked.waiters += 1;
                    Stand::Waits
                }
                Progress::Settled(outcome) => Stand::Settled(outcome.clone()),
                Progress::Open => Stand::Leave,
            };
        }
        let progress = match state.askable([request]) {
            Err(error) => Progress::Settled(Err(error)),
            Ok(()) if state.revision_asks() => Progress::Sent { ask: None, wakers: Vec::new() },
            Ok(()) => match self.known(key, request) {
                Some(answer) => Progress::Settled(Ok(answer)),
                None if state.is_task() => Progress::Sent { ask: None, wakers: Vec::new() },
                None => {
                    self.open.insert(key.to_owned(), request.clone());
                    Progress::Open
                }
            },
        };
        let stand = match &progress {
            Progress::Sent { .. } => Stand::Send,
            Progress::Settled(outcome) => Stand::Settled(outcome.clone()),
            Progress::Open => Stand::Leave,
        };
        self.asked.insert(key.to_owned(), Asked { request: request.clone(), progress, waiters: 1 });
        stand
    }

    /// The answer from an earlier round, or one that came with this one and fits.
    fn known(&mut self, key: &str, request: &InputRequest) -> Option<Json> {
        let fits = |answer: &Json| request.check_answer(answer).is_ok();
        if let Some(answer) = self.kept.answers.get(key).filter(|answer| fits(answer)) {
            return Some(answer.clone());
        }
        let answer = self.brought.remove(key).filter(fits)?;
        self.kept.answers.insert(key.to_owned(), answer.clone());
        Some(answer)
    }

    /// A modern client is to be asked again: its answer fits the question, but not the type that it is read as.
    pub(super) fn reject(&mut self, key: &str) {
        self.kept.answers.remove(key);
        if let Some(asked) = self.asked.get_mut(key) {
            asked.progress = Progress::Open;
            self.open.insert(key.to_owned(), asked.request.clone());
        }
    }

    /// A question is on its way, or could not be sent. Returns whom to wake.
    pub(super) fn sent(&mut self, key: &str, sent: Result<AskId, AskError>) -> Vec<Waker> {
        match sent {
            Err(error) => self.conclude(key, Err(error)),
            Ok(id) => {
                if let Some(outcome) = self.early.remove(&id) {
                    return self.conclude(key, outcome);
                }
                if let Some(Asked { progress: Progress::Sent { ask, .. }, .. }) = self.asked.get_mut(key) {
                    *ask = Some(id);
                    self.waiting.insert(id, key.to_owned());
                }
                Vec::new()
            }
        }
    }

    /// An answer has come. Returns whom to wake.
    pub(super) fn settle(&mut self, ask: AskId, outcome: Result<Json, AskError>) -> Vec<Waker> {
        match self.waiting.remove(&ask) {
            Some(key) => self.conclude(&key, outcome),
            None => {
                self.early.insert(ask, outcome);
                Vec::new()
            }
        }
    }

    fn conclude(&mut self, key: &str, outcome: Result<Json, AskError>) -> Vec<Waker> {
        let Some(asked) = self.asked.get_mut(key) else { return Vec::new() };
        let outcome = outcome.and_then(|answer| match asked.request.check_answer(&answer) {
            Ok(()) => Ok(answer),
            Err(reason) => Err(AskError::Invalid { reason }),
        });
        match std::mem::replace(&mut asked.progress, Progress::Settled(outcome)) {
            Progress::Sent { wakers, .. } => wakers,
            Progress::Settled(_) | Progress::Open => Vec::new(),
        }
    }

    /// What came of a question that was sent.
    pub(super) fn poll(&mut self, key: &str, waker: &Waker) -> Poll<Result<Json, AskError>> {
        match self.asked.get_mut(key).map(|asked| &mut asked.progress) {
            Some(Progress::Sent { wakers, .. }) => {
                if !wakers.iter().any(|known| known.will_wake(waker)) {
                    wakers.push(waker.clone());
                }
                Poll::Pending
            }
            Some(Progress::Settled(outcome)) => Poll::Ready(outcome.clone()),
            Some(Progress::Open) | None => Poll::Ready(Err(AskError::Over)),
        }
    }

    /// One less waits for an answer. Returns what to take back when it was the last.
    pub(super) fn forget(&mut self, key: &str) -> Option<AskId> {
        let asked = self.asked.get_mut(key)?;
        asked.waiters = asked.waiters.saturating_sub(1);
        let Progress::Sent { ask, .. } = asked.progress else { return None };
        if asked.waiters > 0 {
            return None;
        }
        self.asked.remove(key);
        self.waiting.remove(&ask?);
        ask
    }

    /// Whether something is still to be done, under a name of its own.
    pub(super) fn step(&mut self, key: &str) -> Step {
        // Whoever ignores that it should leave does nothing that counts.
        if !self.open.is_empty() {
            return Step::Leave;
        }
        match self.kept.steps.get(key) {
            Some(done) => Step::Done(done.clone()),
            None => Step::Do,
        }
    }

    /// The memory of the next run on a legacy connection: nothing of it has to be asked or done again.
    pub(super) fn next_round(mut self) -> Self {
        self.asked.retain(|_, asked| matches!(asked.progress, Progress::Settled(_)));
        self.waiting.clear();
        self.early.clear();
        self.manual.rounds += 1;
        self.manual.responses = None;
        self
    }

    /// What was asked on behalf of the handler is not its own.
    pub(super) fn forget_asked(&mut self, keys: &[String]) {
        keys.iter().for_each(|key| drop(self.asked.remove(key)));
    }
}
