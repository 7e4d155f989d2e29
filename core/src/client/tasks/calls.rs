//! What a client can ask about tasks.

use super::handle::{TaskHandle, TaskRole, ToolStart};
use crate::client::answer::InputResponse;
use crate::client::call::{Call, CallTool};
use crate::client::reply::{RawReply, ToolReply};
use crate::dialect::{Revision, Tasks};
use crate::error::{ApiMisuse, CallError};
use crate::model::Json;
use crate::model::input_required::{InputRequests, InputResponses};
use crate::model::tasks::{CreateTaskResult, DetailedTask, GetTaskResult, TaskMetadata};
use crate::time::Duration;
use crate::wire::jsonrpc::write_json;
use alloc::borrow::{Cow, ToOwned};
use alloc::format;
use alloc::vec::Vec;
use core::fmt;
use serde::Serialize;

/// `tools/call`, to be handed the task that it becomes.
///
/// A modern server decides by itself whether it becomes one; a client that has not declared tasks
/// ([`Config::tasks`](crate::client::Config::tasks)) cannot ask so. A server of 2025-11-25 is told that it is to be one, if
/// it and the tool have tasks.
#[derive(Clone, Debug, PartialEq)]
pub struct CallToolAsTask<'a, A> {
    call: CallTool<'a, A>,
    ttl: Option<Duration>,
}

impl<'a> CallToolAsTask<'a, Json> {
    /// Calls a tool without arguments.
    pub fn new(name: impl Into<Cow<'a, str>>) -> Self {
        Self { call: CallTool::new(name), ttl: None }
    }
}

impl<'a, A: Serialize> CallToolAsTask<'a, A> {
    /// Calls a tool with arguments, which must serialize as a JSON object.
    pub fn with(name: impl Into<Cow<'a, str>>, arguments: A) -> Self {
        Self { call: CallTool::with(name, arguments), ttl: None }
    }

    /// For how long the task is to be kept (TASKL-11). 2025-11-25 only, and there too the server may choose otherwise; a
    /// modern one chooses by itself.
    #[must_use]
    pub fn ttl(mut self, ttl: Duration) -> Self {
        self.ttl = Some(ttl);
        self
    }
}

impl<A: Serialize> Call for CallToolAsTask<'_, A> {
    type Reply = ToolStart;

    fn method(&self) -> &str {
        self.call.method()
    }

    fn write_params(&self, revision: Revision, out: &mut Vec<u8>) -> Result<(), ApiMisuse> {
        let start = out.len();
        self.call.write_params(revision, out)?;
        if revision.dialect().tasks == Tasks::Core {
            let ttl = self.ttl.map(|ttl| u64::try_from(ttl.as_millis()).unwrap_or(u64::MAX));
            super::augment::insert_task(out, start, TaskMetadata { ttl })?;
        }
        Ok(())
    }

    fn read(reply: RawReply<'_>) -> Result<ToolStart, CallError> {
        match reply.task().cloned() {
            Some(handle) => {
                let CreateTaskResult { task, .. } = reply.decode()?;
                Ok(ToolStart::Task { handle, task })
            }
            None => ToolReply::read(reply).map(ToolStart::Done),
        }
    }

    fn name(&self) -> Option<&str> {
        self.call.name()
    }

    fn task(&self) -> TaskRole<'_> {
        TaskRole::Handed
    }
}

/// The parameters of what is asked about one task.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Params<'a> {
    task_id: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    input_responses: Option<&'a InputResponses>,
}

macro_rules! about {
    ($(#[$docs:meta])* $name:ident, $method:literal, $reply:ty, $read:expr, $role:expr) => {
        $(#[$docs])*
        #[derive(Clone, Debug, PartialEq)]
        pub struct $name(TaskHandle);

        impl $name {
            /// About this task.
            pub fn new(task: &TaskHandle) -> Self {
                Self(task.clone())
            }
        }

        impl Call for $name {
            type Reply = $reply;

            fn method(&self) -> &str {
                $method
            }

            fn write_params(&self, _: Revision, out: &mut Vec<u8>) -> Result<(), ApiMisuse> {
                write_json(out, &Params { task_id: self.0.task_id(), input_responses: None })
            }

            fn read(reply: RawReply<'_>) -> Result<$reply, CallError> {
                $read(reply)
            }

            fn name(&self) -> Option<&str> {
                Some(self.0.task_id())
            }

            fn is_repeatable(&self) -> bool {
                true
            }

            fn task(&self) -> TaskRole<'_> {
                let role: fn(&TaskHandle) -> TaskRole<'_> = $role;
                role(&self.0)
            }
        }
    };
}

about! {
    /// `tasks/get`: how far a task is, what it asks, and with the extension what came of it.
    GetTask, "tasks/get", DetailedTask, |reply: RawReply<'_>| Ok(reply.decode::<GetTaskResult>()?.task),
    |_| TaskRole::Hidden
}

about! {
    /// `tasks/cancel`: asks the server to stop a task (TASK-45). It may finish all the same (TASK-48).
    CancelTask, "tasks/cancel", (), |_: RawReply<'_>| Ok(()), |_| TaskRole::Hidden
}

about! {
    /// `tasks/result`: what came of a task, once it has ended; until then the server does not answer (TASKL-32). 2025-11-25
    /// only: with the extension [`GetTask`] tells it. [`WaitForTask`] waits for it in either.
    TaskResult, "tasks/result", ToolReply, ToolReply::read, |task| TaskRole::Fetched(task)
}

/// Waits for a task: it is polled, what it asks is answered, and its outcome is that of the call that it was made by, as if
/// that had been waited for.
///
/// To give this up does not take the task back; [`CancelTask`] does.
#[derive(Clone, Debug, PartialEq)]
pub struct WaitForTask(TaskHandle);

impl WaitForTask {
    /// Waits for this task.
    pub fn new(task: &TaskHandle) -> Self {
        Self(task.clone())
    }
}

impl Call for WaitForTask {
    type Reply = ToolReply;

    fn method(&self) -> &str {
        "tasks/get"
    }

    fn write_params(&self, revision: Revision, out: &mut Vec<u8>) -> Result<(), ApiMisuse> {
        GetTask(self.0.clone()).write_params(revision, out)
    }

    fn read(reply: RawReply<'_>) -> Result<ToolReply, CallError> {
        ToolReply::read(reply)
    }

    fn name(&self) -> Option<&str> {
        Some(self.0.task_id())
    }

    fn is_repeatable(&self) -> bool {
        true
    }

    fn task(&self) -> TaskRole<'_> {
        TaskRole::Awaited(&self.0)
    }
}

/// `tasks/update`: answers by hand what a task asks, as [`GetTask`] told it. Whoever waits for the task by
/// [`WaitForTask`] need not.
///
/// <https://modelcontextprotocol.io/extensions/tasks/overview>
#[derive(Clone, PartialEq)]
pub struct UpdateTask {
    task: TaskHandle,
    asked: InputRequests,
    responses: InputResponses,
}

/// Prints how much is answered, and not what.
impl fmt::Debug for UpdateTask {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "UpdateTask({} of {})", self.responses.len(), self.asked.len())
    }
}

impl UpdateTask {
    /// Answers nothing yet of what this task asks, as [`GetTask`] told it.
    pub fn new(task: &TaskHandle, told: &DetailedTask) -> Self {
        Self { task: task.clone(), asked: told.input_requests.clone(), responses: InputResponses::new() }
    }

    /// The task that is answered.
    pub fn handle(&self) -> &TaskHandle {
        &self.task
    }

    /// Answers what is asked under `key`, checked against what that is. Not all has to be answered at once (TASK-42).
    ///
    /// # Errors
    ///
    /// When nothing is asked under that name (TASK-37), or the answer does not fit.
    pub fn answer(mut self, key: &str, response: impl Into<InputResponse>) -> Result<Self, ApiMisuse> {
        let Some(request) = self.asked.get(key) else {
            return Err(ApiMisuse::new(format!("the task asks nothing under the name `{key}`")));
        };
        let response = response.into().write(request, Revision::LATEST)?;
        self.responses.insert(key.to_owned(), response);
        Ok(self)
    }

    /// These answers, which were checked when they were given.
    pub(super) fn of(task: &TaskHandle, responses: InputResponses) -> Self {
        Self { task: task.clone(), asked: InputRequests::new(), responses }
    }
}

impl Call for UpdateTask {
    type Reply = ();

    fn method(&self) -> &str {
        "tasks/update"
    }

    fn write_params(&self, _: Revision, out: &mut Vec<u8>) -> Result<(), ApiMisuse> {
        write_json(out, &Params { task_id: self.task.task_id(), input_responses: Some(&self.responses) })
    }

    fn read(_: RawReply<'_>) -> Result<(), CallError> {
        Ok(())
    }

    fn name(&self) -> Option<&str> {
        Some(self.task.task_id())
    }

    fn is_repeatable(&self) -> bool {
        true
    }
}
