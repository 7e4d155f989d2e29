//! Calls that wait for a task.

use super::calls::CancelTask;
use super::handle::{TaskHandle, TaskRole, Unfinished};
use super::pursuit::{Asking, Leg, Pursuit, missing};
use crate::client::answer::Refusal;
use crate::client::asks::{Asker, admit};
use crate::client::calls::{CallId, Reply};
use crate::client::config::CallOptions;
use crate::client::continuation::Unmet;
use crate::client::link::Link;
use crate::client::request::{Prepared, Source};
use crate::client::rounds::{Round, unname_pages};
use crate::dialect::{Revision, Tasks};
use crate::error::{CallError, Full};
use crate::model::Json;
use crate::model::input_required::InputRequests;
use crate::model::result::ResultType;
use crate::model::tasks::{CreateTaskResult, DetailedTask, GetTaskResult, Task, TaskStatus};
use crate::time::Instant;
use crate::wire::jsonrpc;
use alloc::borrow::ToOwned;
use alloc::boxed::Box;
use alloc::string::String;
use serde::Deserialize;
use serde_json::value::RawValue;

impl Link {
    /// Whether the result of a call says that it goes on as a task. Looked for only where that may be: for any other
    /// method, and where it was not declared, it is an invalid result (TASK-05).
    pub(in crate::client) fn is_task(&self, call: CallId, revision: Revision, result: &RawValue) -> bool {
        self.may_become_task(call, revision) && says_task(revision, result)
    }

    /// Whether a call may be answered with a task.
    fn may_become_task(&self, call: CallId, revision: Revision) -> bool {
        let Some(origin) = self.calls.origin(call) else { return false };
        match revision.dialect().tasks {
            Tasks::Extension => self.declares_tasks() && origin.prepared().method() == "tools/call",
            // A server that does not heed it answers as to any call (TASKL-15).
            Tasks::Core => origin.is_augmented(),
            Tasks::None => false,
        }
    }

    /// The id that a call waits under which may be answered with a task.
    pub(in crate::client) fn may_bring_task(&self, call: CallId) -> Option<i64> {
        let revision = self.details.as_deref()?.revision;
        self.calls.wire(call).filter(|_| self.may_become_task(call, revision))
    }

    /// What takes a task back that came of a call which nobody waits for any more.
    pub(in crate::client) fn late_task(&self, result: &RawValue) -> Option<CancelTask> {
        let revision = self.details.as_deref()?.revision;
        if !says_task(revision, result) {
            return None;
        }
        let cancel = CancelTask::new(&TaskHandle::new(id_of(result)?));
        Some(cancel).filter(|cancel| self.may_take_back(cancel))
    }

    /// What takes a task back that was to be handed out by a call which is cancelled before anybody took it.
    pub(in crate::client) fn untaken_task(&mut self, call: CallId) -> Option<CancelTask> {
        let cancel = CancelTask::new(&self.calls.take_handed(call)?);
        Some(cancel).filter(|cancel| self.may_take_back(cancel))
    }

    /// Whether what answers a call has to be heard, also when nobody waits for it any more: a request that is to become a
    /// task is not cancelled, but the task is (CAN-18).
    pub(in crate::client) fn must_be_heard(&self, call: CallId) -> bool {
        self.is_core() && self.may_bring_task(call).is_some()
    }

    /// Whether tasks are those of 2025-11-25.
    fn is_core(&self) -> bool {
        self.details.as_deref().is_some_and(|it| it.revision.dialect().tasks == Tasks::Core)
    }

    /// Whether a task that this client has made can be taken back. A server that has made one with the extension knows how
    /// to stop it, whatever it declared; in 2025-11-25 that is declared by itself (TASKL-04).
    fn may_take_back(&self, cancel: &CancelTask) -> bool {
        self.alive().is_ok() && (!self.is_core() || self.possible(cancel, &CallOptions::new()).is_ok())
    }

    /// A call goes on as a task: it is handed out, or waited for. An error ends the call.
    pub(in crate::client) fn begin_task(
        &mut self,
        now: Instant,
        call: CallId,
        raw: &RawValue,
    ) -> Result<Option<Reply>, CallError> {
        let Some(origin) = self.calls.take_origin(call) else { return Ok(Some(Reply::Came(raw.into()))) };
        let prepared = origin.prepared();
        let about = |id: String| {
            let mut handle = TaskHandle::new(id);
            if let Some(tool) = prepared.name() {
                handle = handle.with_tool(tool);
            }
            handle.output = self.calls.output(call);
            handle
        };
        let CreateTaskResult { task, .. } = read(raw).map_err(|error| match id_of(raw) {
            // There is a task, whatever else is wrong with what was said of it.
            Some(id) => CallError::Unfinished {
                why: Box::new(Unfinished::Lost(Box::new(error))),
                task: Box::new(about(id)),
            },
            None => error,
        })?;
        let handle = about(task.task_id.clone());
        // It is waited for by nobody, so its time is over.
        let aside = self.calls.is_aside(call);
        if aside {
            self.calls.spend(now, call);
        }
        if !aside && matches!(prepared.task(), TaskRole::Handed) {
            return Ok(Some(Reply::Task(raw.into(), Box::new(handle))));
        }
        let mut pursuit = Pursuit::new(now, handle, true, &prepared.options);
        pursuit.token = self.calls.wire(call).filter(|_| self.is_core());
        pursuit.learn(&task, &self.config.limits);
        let at = match task.status {
            TaskStatus::Working => pursuit.next_poll(now, &self.config.limits),
            // There is more to be known of it.
            _ => now,
        };
        self.calls.put_pursuit(call, pursuit);
        self.calls.suspend(call, Round::until(at));
        Ok(None)
    }

    /// A call goes out that is about what a task comes to: that of its tool.
    pub(in crate::client) fn pursue(
        &mut self,
        now: Instant,
        call: CallId,
        source: &impl Source,
        options: &CallOptions,
    ) {
        let (TaskRole::Awaited(task) | TaskRole::Fetched(task)) = source.task() else { return };
        match (&task.output, task.tool()) {
            (Some(output), _) => self.calls.put_output(call, Some(output.clone())),
            (None, Some(tool)) => self.goes_out_to(call, tool),
            (None, None) => {}
        }
        if matches!(source.task(), TaskRole::Awaited(_)) {
            self.calls.put_pursuit(call, Pursuit::new(now, task.clone(), false, options));
        }
    }

    /// The server has answered what was asked on behalf of a call that waits for a task.
    pub(in crate::client) fn task_told(&mut self, now: Instant, call: CallId, raw: &RawValue) {
        let Some(pursuit) = self.calls.pursuit_mut(call) else { return };
        match pursuit.leg {
            Leg::Result => self.end_task(call, Ok(Reply::Came(raw.into()))),
            Leg::Update => {
                pursuit.acknowledged();
                self.wait_on(now, call);
            }
            Leg::Get => match read(raw) {
                Ok(GetTaskResult { task, .. }) => self.task_is(now, call, task),
                Err(error) => self.settle(call, Err(error)),
            },
        }
    }

    /// How far a task is.
    fn task_is(&mut self, now: Instant, call: CallId, detailed: DetailedTask) {
        let DetailedTask { task, input_requests, result, error, .. } = detailed;
        let is_core = self.is_core();
        let Some(pursuit) = self.calls.pursuit_mut(call) else { return };
        if task.task_id != pursuit.handle.task_id() {
            let reason = "expected the task that was asked about, found another".to_owned();
            return self.settle(call, Err(CallError::Invalid { reason }));
        }
        pursuit.learn(&task, &self.config.limits);
        let Task { status, status_message: message, .. } = task;
        let invalid = CallError::Invalid { reason: missing(status).to_owned() };
        match status {
            TaskStatus::Cancelled => self.unfinished(call, Unfinished::Cancelled { message }),
            _ if let Some(error) = pursuit.refused.take_if(|_| is_core || !status.is_final()) => {
                // An error that a task of 2025-11-25 has come to, or the server takes no more of one that goes on.
                if status.is_final() {
                    self.end_task(call, Err(error))
                } else {
                    self.settle(call, Err(error))
                }
            }
            // TASKL-22, TASKL-31: it is told apart, and so is what it asks.
            TaskStatus::Completed | TaskStatus::Failed | TaskStatus::InputRequired if is_core => {
                pursuit.leg = Leg::Result;
                self.calls.suspend(call, Round::until(now));
            }
            TaskStatus::Completed => match result {
                Some(result) => self.end_task(call, Ok(Reply::Came(result))),
                None => self.settle(call, Err(invalid)),
            },
            TaskStatus::Failed => match error {
                Some(error) => self.end_task(call, Err(CallError::Server { error, status: None })),
                None => self.settle(call, Err(invalid)),
            },
            TaskStatus::Working | TaskStatus::InputRequired => {
                if let Some(ttl) = pursuit.expired(now) {
                    return self.unfinished(call, Unfinished::Expired { ttl });
                }
                self.task_asks(now, call, input_requests);
            }
        }
    }

    /// A task asks this now; nothing, most of the time.
    fn task_asks(&mut self, now: Instant, call: CallId, mut requests: InputRequests) {
        let Some(revision) = self.details.as_deref().map(|details| details.revision) else { return };
        unname_pages(&mut requests);
        let Some(pursuit) = self.calls.pursuit_mut(call) else { return };
        let asking = pursuit.asks(requests, &self.config.limits);
        // Somebody else has answered it, or nobody needs to any more.
        self.asks.retract(
            &mut self.events,
            |by| matches!(by, Asker::Call(asker, key) if *asker == call && !pursuit.is_open(key)),
        );
        let questions = match asking {
            Asking::Questions(questions) if self.asks.has_room(questions.len()) => questions,
            Asking::Questions(_) => {
                let full = Unmet::Full(Full::new("asked", self.asks.limit()));
                return self.unfinished(call, Unfinished::Input(full));
            }
            Asking::Stop(unmet) => return self.unfinished(call, Unfinished::Input(unmet)),
        };
        for (key, request) in questions {
            let Some(pursuit) = self.calls.pursuit_mut(call) else { return };
            pursuit.opens(&key);
            // TASK-33
            match admit(&self.config, revision, &request) {
                Ok(()) => self.asks.begin(&mut self.events, Asker::Call(call, key), request),
                Err(why) => {
                    let reason = why.reason().to_owned();
                    pursuit.answered(key.clone(), Err(Unmet::Inadmissible { key, reason }));
                }
            }
        }
        self.wait_on(now, call);
    }

    /// A call waits until its task is asked about again; not at all when there are answers for it.
    fn wait_on(&mut self, now: Instant, call: CallId) {
        let Some(pursuit) = self.calls.pursuit_mut(call) else { return };
        if let Some(unmet) = pursuit.is_over() {
            return self.unfinished(call, Unfinished::Input(unmet));
        }
        let at = if pursuit.has_answers() { now } else { pursuit.next_poll(now, &self.config.limits) };
        self.calls.suspend(call, Round::until(at));
    }

    /// An answer for a task; whether it was the last one, so that they are to be sent.
    pub(in crate::client) fn task_answered(
        &mut self,
        call: CallId,
        key: String,
        answer: Result<Json, Refusal>,
    ) -> bool {
        let waits = self.calls.is_suspended(call);
        let Some(pursuit) = self.calls.pursuit_mut(call) else { return false };
        pursuit.answered(key.clone(), answer.map_err(|refusal| Unmet::Refused { key, refusal }));
        // Otherwise they go out once the server has answered what it is asked now.
        if !waits {
            return false;
        }
        if let Some(unmet) = pursuit.is_over() {
            self.unfinished(call, Unfinished::Input(unmet));
            return false;
        }
        pursuit.has_answers()
    }

    /// What is asked of the server next for a call that waits for a task, under the id that comes with it.
    pub(in crate::client) fn task_again(&mut self, now: Instant, call: CallId) -> Option<(i64, Prepared)> {
        let revision = self.details.as_deref()?.revision;
        if !self.calls.is_suspended(call) {
            return None;
        }
        let pursuit = self.calls.pursuit_mut(call)?;
        let prepared = pursuit.next(revision);
        // Its server does not answer before the task has ended.
        let blocks = pursuit.leg == Leg::Result;
        match prepared {
            Ok(prepared) => Some((self.calls.resume(now, call, blocks)?, prepared)),
            Err(misuse) => {
                self.settle(call, Err(CallError::Misuse(misuse)));
                None
            }
        }
    }

    /// Whether a call that waits for a task goes on waiting although its server could not be asked about it: the task goes
    /// on meanwhile.
    pub(in crate::client) fn outlasts(
        &mut self,
        now: Instant,
        call: CallId,
        outcome: &Result<Reply, CallError>,
    ) -> bool {
        let (Err(error), false) = (outcome, self.closed.is_some() || self.calls.is_spent(now, call)) else {
            return false;
        };
        let Some(pursuit) = self.calls.pursuit_mut(call) else { return false };
        if pursuit.doubts(error) {
            self.calls.suspend(call, Round::until(now));
            return true;
        }
        // What a call of 2025-11-25 came to is told by an error as well.
        if pursuit.leg == Leg::Result
            && let CallError::Server { .. } = error
        {
            let error = error.clone();
            self.end_task(call, Err(error));
            return true;
        }
        let Some(at) = pursuit.fails(now, error, &self.config.limits) else { return false };
        self.calls.suspend(call, Round::until(at));
        true
    }

    /// Whether a call waits for a task.
    pub(in crate::client) fn pursues(&self, call: CallId) -> bool {
        self.calls.pursuit(call).is_some()
    }

    /// Whether a call that waits for a task has had all its time, and is to be given up.
    pub(in crate::client) fn gives_up(&self, now: Instant, call: CallId) -> bool {
        self.calls.pursuit(call).is_some_and(|pursuit| pursuit.own) && self.calls.is_spent(now, call)
    }

    /// The id that the server is asked under what a task has come to, while that is on its way: it holds the request until
    /// the task has ended.
    pub(in crate::client) fn awaits_result(&self, call: CallId) -> Option<i64> {
        self.calls.pursuit(call).filter(|pursuit| pursuit.leg == Leg::Result)?;
        self.calls.wire(call)
    }

    /// A call that waits for a task is given up. What is to be said to the server, if the task was the call's own and this
    /// can be said to it at all (TASK-45).
    pub(in crate::client) fn leave_task(&mut self, call: CallId, error: CallError) -> Option<CancelTask> {
        let pursuit = self.calls.pursuit(call)?;
        let cancel = pursuit.own.then(|| CancelTask::new(&pursuit.handle));
        self.end_task(call, Err(error));
        cancel.filter(|cancel| self.may_take_back(cancel))
    }

    /// Ends a call with what came of its task.
    fn end_task(&mut self, call: CallId, outcome: Result<Reply, CallError>) {
        drop(self.take_pursuit(call));
        self.settle(call, outcome);
    }

    pub(in crate::client) fn unfinished(&mut self, call: CallId, why: Unfinished) {
        if let Some(pursuit) = self.take_pursuit(call) {
            let error = pursuit.unfinished(why);
            self.settle(call, Err(error));
        }
    }

    /// A call waits for its task no longer, and so nobody for what that asks.
    fn take_pursuit(&mut self, call: CallId) -> Option<Pursuit> {
        let pursuit = self.calls.take_pursuit(call)?;
        self.asks.retract(&mut self.events, |by| matches!(by, Asker::Call(asker, _) if *asker == call));
        Some(pursuit)
    }

    /// How a call ends, which may have waited for a task: the task goes on, and can be found again.
    pub(in crate::client) fn left_task(
        &mut self,
        call: CallId,
        outcome: Result<Reply, CallError>,
    ) -> Result<Reply, CallError> {
        match (outcome, self.take_pursuit(call)) {
            (Err(error), Some(pursuit)) => Err(pursuit.ended_by(error)),
            (outcome, _) => outcome,
        }
    }
}

/// Whether a result says that there is a task instead of it.
fn says_task(revision: Revision, result: &RawValue) -> bool {
    #[derive(Deserialize)]
    struct Nested {
        task: Option<serde::de::IgnoredAny>,
    }
    // Looked for first, since that is cheap and hardly ever there.
    if !result.get().contains("\"task\"") {
        return false;
    }
    match revision.dialect().tasks {
        Tasks::Extension => {
            matches!(ResultType::of(result), Ok(ResultType::Other(kind)) if kind == "task")
        }
        Tasks::Core => serde_json::from_str(result.get()).is_ok_and(|it: Nested| it.task.is_some()),
        Tasks::None => false,
    }
}

/// The id of the task that a result speaks of, whatever else it says.
fn id_of(result: &RawValue) -> Option<String> {
    #[derive(Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct Named {
        task_id: String,
    }
    #[derive(Deserialize)]
    struct Nested {
        task: Named,
    }
    let nested = serde_json::from_str(result.get()).map(|Nested { task }| task);
    nested.or_else(|_| serde_json::from_str(result.get())).ok().map(|Named { task_id }| task_id)
}

fn read<T: serde::de::DeserializeOwned>(raw: &RawValue) -> Result<T, CallError> {
    jsonrpc::decode_at(raw.get(), "result")
        .map_err(|error| CallError::Invalid { reason: error.message.into_owned() })
}
