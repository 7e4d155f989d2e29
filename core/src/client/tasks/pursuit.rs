//! A task that a call waits for: what is known of it, and what is asked of its server next.

use super::calls::{GetTask, TaskResult, UpdateTask};
use super::handle::{TaskHandle, Unfinished};
use crate::client::config::CallOptions;
use crate::client::continuation::Unmet;
use crate::client::http::is_trouble;
use crate::client::request::Prepared;
use crate::dialect::{Revision, Tasks};
use crate::error::{ApiMisuse, CallError, ErrorObject, code};
use crate::limits::Limits;
use crate::model::Json;
use crate::model::input_required::{InputRequest, InputRequests, InputResponses};
use crate::model::tasks::{Task, TaskStatus};
use crate::time::{Duration, Instant};
use alloc::boxed::Box;
use alloc::collections::BTreeSet;
use alloc::string::String;
use alloc::vec::Vec;
use core::fmt;

/// How often a task is asked about whose server says nothing of that.
const INTERVAL: Duration = Duration::from_secs(1);

/// A task that a call waits for.
pub(in crate::client) struct Pursuit {
    pub(super) handle: TaskHandle,
    /// The call has made it, so that nobody else can wait for it: who gives the call up takes it back.
    pub(super) own: bool,
    options: CallOptions,
    /// What its progress is reported by, which goes on in 2025-11-25 (PRG-13).
    pub(in crate::client) token: Option<i64>,
    /// Since when it is known here. What its server says of times is by another clock.
    began: Instant,
    ttl: Option<Duration>,
    interval: Duration,
    /// All that it has ever asked, by names that it uses once (TASK-34, TASK-35).
    asked: BTreeSet<String>,
    /// What of that has no answer yet.
    open: BTreeSet<String>,
    /// How often it has asked something new.
    rounds: usize,
    /// Answers that have not been sent, and those on their way.
    answers: InputResponses,
    sending: InputResponses,
    /// What it ends with once the other answers have been sent: something has none.
    pub(super) unmet: Option<Unmet>,
    pub(super) leg: Leg,
    /// What the server refused, until it is known whether it did for the reason that the task had ended.
    pub(super) refused: Option<CallError>,
    /// How often in a row it could not be asked about, and since when.
    failures: u32,
    failing: Option<Instant>,
}

/// What is asked next, or was asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Leg {
    /// How far it is.
    Get,
    /// To take answers.
    Update,
    /// What came of it, which a server of 2025-11-25 tells apart. It may take until then.
    Result,
}

/// Prints neither id nor answers.
impl fmt::Debug for Pursuit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Pursuit")
            .field("task", &self.handle)
            .field("leg", &self.leg)
            .field("open", &self.open.len())
            .finish_non_exhaustive()
    }
}

/// What a task that asks something leads to.
pub(super) enum Asking {
    /// These are put to the application.
    Questions(Vec<(String, InputRequest)>),
    /// It is not answered.
    Stop(Unmet),
}

impl Pursuit {
    pub(super) fn new(now: Instant, handle: TaskHandle, own: bool, options: &CallOptions) -> Self {
        // Neither what is asked about it has progress, nor with the extension the task itself (TASK-53).
        let options = CallOptions { progress: false, ..options.clone() };
        Self {
            handle,
            own,
            options,
            token: None,
            began: now,
            ttl: None,
            interval: INTERVAL,
            asked: BTreeSet::new(),
            open: BTreeSet::new(),
            rounds: 0,
            answers: InputResponses::new(),
            sending: InputResponses::new(),
            unmet: None,
            leg: Leg::Get,
            refused: None,
            failures: 0,
            failing: None,
        }
    }

    /// Takes what the server says of its times; they may change (TASK-18, TASK-30).
    pub(super) fn learn(&mut self, task: &Task, limits: &Limits) {
        self.was_heard();
        self.ttl = task.ttl_ms.map(Duration::from_millis);
        let interval = task.poll_interval_ms.map_or(INTERVAL, Duration::from_millis);
        self.interval = interval.min(limits.task_poll_max).max(limits.task_poll_min);
    }

    /// It could be asked about.
    fn was_heard(&mut self) {
        self.failures = 0;
        self.failing = None;
    }

    /// When it is asked about next. Once more when its time has passed: it may have ended just then.
    pub(super) fn next_poll(&self, now: Instant, limits: &Limits) -> Instant {
        let at = now + self.interval;
        let end = self.ttl.map_or(at, |ttl| self.began + ttl);
        at.min(end.max(now + limits.task_poll_min))
    }

    /// How long its server keeps it, if that has passed.
    pub(super) fn expired(&self, now: Instant) -> Option<Duration> {
        self.ttl.filter(|ttl| self.began + *ttl <= now)
    }

    /// What it asks now. What was asked before is not asked again, and what is not asked any more needs no answer, not even
    /// one that is there (TASK-37). Should it ask that again after all, as a replica that was behind makes it look, that
    /// is a question like any other.
    pub(super) fn asks(&mut self, requests: InputRequests, limits: &Limits) -> Asking {
        let (open, answers) = (&self.open, &self.answers);
        let unsent = |key: &String| open.contains(key) || answers.contains_key(key);
        self.asked.retain(|key| requests.contains_key(key) || !unsent(key));
        self.open.retain(|key| requests.contains_key(key));
        self.answers.retain(|key, _| requests.contains_key(key));
        let fresh = |(key, _): &(String, InputRequest)| !self.asked.contains(key);
        let fresh: Vec<_> = requests.into_iter().filter(fresh).collect();
        if fresh.is_empty() {
            return Asking::Questions(fresh);
        }
        if self.options.manual_input {
            return Asking::Stop(Unmet::Manual);
        }
        self.rounds += 1;
        if self.rounds > limits.call_rounds {
            return Asking::Stop(Unmet::Rounds { limit: limits.call_rounds });
        }
        self.asked.extend(fresh.iter().map(|(key, _)| key.clone()));
        Asking::Questions(fresh)
    }

    /// A question is put to the application.
    pub(super) fn opens(&mut self, key: &str) {
        self.open.insert(key.into());
    }

    pub(super) fn is_open(&self, key: &str) -> bool {
        self.open.contains(key)
    }

    /// A question has an answer, or none.
    pub(super) fn answered(&mut self, key: String, answer: Result<Json, Unmet>) {
        if !self.open.remove(&key) {
            return;
        }
        match answer {
            Ok(json) => drop(self.answers.insert(key, json)),
            Err(unmet) => self.unmet = self.unmet.take().or(Some(unmet)),
        }
    }

    /// Whether there are answers to be sent: all that is asked is answered, as a server need not take a part (TASK-42).
    pub(super) fn has_answers(&self) -> bool {
        self.open.is_empty() && !self.answers.is_empty()
    }

    /// Why it is not waited for any longer, once everything that could be answered was.
    pub(super) fn is_over(&mut self) -> Option<Unmet> {
        if self.open.is_empty() && self.answers.is_empty() { self.unmet.take() } else { None }
    }

    /// What is asked of the server now.
    pub(super) fn next(&mut self, revision: Revision) -> Result<Prepared, ApiMisuse> {
        let options = self.options.clone();
        if self.leg == Leg::Result {
            return Prepared::at(&TaskResult::new(&self.handle), revision, options);
        }
        if revision.dialect().tasks == Tasks::Extension && self.has_answers() && self.refused.is_none() {
            self.leg = Leg::Update;
            self.sending = core::mem::take(&mut self.answers);
            let update = UpdateTask::of(&self.handle, self.sending.clone());
            return Prepared::at(&update, revision, options);
        }
        self.leg = Leg::Get;
        Prepared::at(&GetTask::new(&self.handle), revision, options)
    }

    /// The server has the answers (TASK-38).
    pub(super) fn acknowledged(&mut self) {
        self.was_heard();
        self.leg = Leg::Get;
        self.sending = InputResponses::new();
    }

    /// Whether an error may just mean that the task has ended meanwhile, or is not there any more: it is asked about once
    /// before that counts. Servers need not ignore answers that come late, and what a task of 2025-11-25 came to may be
    /// the same error.
    pub(super) fn doubts(&mut self, error: &CallError) -> bool {
        let CallError::Server { error: ErrorObject { code, .. }, .. } = error else { return false };
        let doubts = match self.leg {
            Leg::Get => false,
            Leg::Update => !is_passing(error),
            Leg::Result => *code == i64::from(code::INVALID_PARAMS),
        };
        if doubts {
            self.refused = Some(error.clone());
            self.sending = InputResponses::new();
            self.leg = Leg::Get;
        }
        doubts
    }

    /// What was asked of the server failed. When to try again, if that is worth it; the task goes on meanwhile. Each
    /// further time in a row waits twice as long, and a server that is away for a while is waited for.
    pub(super) fn fails(&mut self, now: Instant, error: &CallError, limits: &Limits) -> Option<Instant> {
        for (key, answer) in core::mem::take(&mut self.sending) {
            self.answers.insert(key, answer);
        }
        self.leg = Leg::Get;
        let since = *self.failing.get_or_insert(now);
        if !is_passing(error) || now.saturating_since(since) >= limits.resume_total {
            return None;
        }
        let factor = 1_u32.checked_shl(self.failures).unwrap_or(u32::MAX);
        self.failures = self.failures.saturating_add(1);
        let wait = self.interval.saturating_mul(factor).min(limits.task_poll_max);
        // The last try is made when that time is over.
        Some((now + wait).min(since + limits.resume_total))
    }

    /// How a call ends that waited for it, and whose server could not be asked.
    pub(super) fn ended_by(self, error: CallError) -> CallError {
        let why = match error {
            CallError::Cancelled | CallError::Unfinished { .. } => return error,
            CallError::TimedOut { after } => Unfinished::TimedOut { after },
            error => Unfinished::Lost(Box::new(error)),
        };
        self.unfinished(why)
    }

    pub(super) fn unfinished(self, why: Unfinished) -> CallError {
        CallError::Unfinished { why: Box::new(why), task: Box::new(self.handle) }
    }
}

/// Whether an error says nothing about the task.
fn is_passing(error: &CallError) -> bool {
    match error {
        CallError::Broken { .. } | CallError::ResponseStreamClosed | CallError::TimedOut { .. } => true,
        CallError::Server { error: ErrorObject { code, .. }, status } => {
            *code == i64::from(code::INTERNAL)
                || status.as_ref().is_some_and(|status| is_trouble(status.code))
        }
        _ => false,
    }
}

/// What a status has to come with.
pub(super) fn missing(status: TaskStatus) -> &'static str {
    match status {
        TaskStatus::Completed => "expected `result` in a task that is completed, found none",
        _ => "expected `error` in a task that has failed, found none",
    }
}
