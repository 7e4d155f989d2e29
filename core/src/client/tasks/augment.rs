//! Calls that are to become tasks: what a server of 2025-11-25 is told, and whether there are any.

use super::handle::{TaskHandle, TaskRole};
use crate::client::config::CallOptions;
use crate::client::link::Link;
use crate::client::offered::calls_tools_as_tasks;
use crate::client::request::{Prepared, Source};
use crate::dialect::{Revision, Tasks};
use crate::error::{ApiMisuse, CallError};
use crate::model::tasks::{TASKS_EXTENSION, TaskMetadata};
use crate::model::tools::TaskSupport;
use crate::text;
use crate::wire::jsonrpc::write_json;
use alloc::borrow::ToOwned;
use alloc::format;
use alloc::vec::Vec;

/// A [`TaskRole`] that is kept.
#[derive(Clone, Debug)]
pub(in crate::client) enum Role {
    Hidden,
    Handed,
    Awaited(TaskHandle),
    Fetched(TaskHandle),
}

impl From<TaskRole<'_>> for Role {
    fn from(role: TaskRole<'_>) -> Self {
        match role {
            TaskRole::Hidden => Self::Hidden,
            TaskRole::Handed => Self::Handed,
            TaskRole::Awaited(task) => Self::Awaited(task.clone()),
            TaskRole::Fetched(task) => Self::Fetched(task.clone()),
        }
    }
}

impl Role {
    pub(in crate::client) fn borrow(&self) -> TaskRole<'_> {
        match self {
            Self::Hidden => TaskRole::Hidden,
            Self::Handed => TaskRole::Handed,
            Self::Awaited(task) => TaskRole::Awaited(task),
            Self::Fetched(task) => TaskRole::Fetched(task),
        }
    }
}

/// Adds `task` to the parameters that begin at `start` (TASKL-11).
pub(super) fn insert_task(out: &mut Vec<u8>, start: usize, task: TaskMetadata) -> Result<(), ApiMisuse> {
    if out.len() < start + 2 || out.pop() != Some(b'}') {
        return Err(ApiMisuse::new("the parameters of a call must be one JSON object"));
    }
    if out.len() > start + 1 {
        out.push(b',');
    }
    out.extend_from_slice(b"\"task\":");
    write_json(out, &task)?;
    out.push(b'}');
    Ok(())
}

impl Link {
    /// Whether servers are told that calls may become tasks (TASK-01).
    pub(in crate::client) fn declares_tasks(&self) -> bool {
        self.config.capabilities.extension(TASKS_EXTENSION).is_some()
    }

    /// Whether a call can have to do with tasks what it wants to.
    pub(in crate::client) fn may_be_task(
        &self,
        source: &impl Source,
        options: &CallOptions,
    ) -> Result<(), CallError> {
        let Some(details) = self.details.as_deref() else { return Ok(()) };
        let is_handed = matches!(source.task(), TaskRole::Handed);
        let unsupported = |what, capability| Err(CallError::Unsupported { what, capability });
        match details.revision.dialect().tasks {
            Tasks::Extension if !is_handed && !source.method().starts_with("tasks/") => Ok(()),
            Tasks::Extension
                if self.declares_tasks() || options.force || !self.config.check_capabilities =>
            {
                Ok(())
            }
            Tasks::Extension => Err(CallError::Misuse(ApiMisuse::new(
                "this client has not declared that it knows tasks: `ClientBuilder::tasks`, or `Config::tasks`",
            ))),
            Tasks::Core | Tasks::None if !is_handed => Ok(()),
            Tasks::None => {
                unsupported(format!("tasks, which revision {} does not have", details.revision), None)
            }
            // TASKL-03, TASKL-05
            Tasks::Core if !calls_tools_as_tasks(details) => unsupported(
                "tools that are called as tasks: it did not declare the capability `tasks.requests.tools.call`"
                    .to_owned(),
                Some("tasks.requests.tools.call"),
            ),
            Tasks::Core => match source.name().map(|tool| (tool, self.definitions.task_support(tool))) {
                // TASKL-06
                Some((tool, Some(TaskSupport::Forbidden))) => {
                    unsupported(format!("tool `{}` as a task", text::excerpt(tool)), None)
                }
                _ => Ok(()),
            },
        }
    }

    /// Whether a tool can be called as a task only, so that it is (TASKL-09).
    pub(in crate::client) fn must_be_task(&self, revision: Revision, source: &impl Source) -> bool {
        revision.dialect().tasks == Tasks::Core
            && source.method() == "tools/call"
            && matches!(source.task(), TaskRole::Hidden)
            && source.name().and_then(|tool| self.definitions.task_support(tool))
                == Some(TaskSupport::Required)
            && self.details.as_deref().is_some_and(calls_tools_as_tasks)
    }

    /// A call as it goes out: as a task if it must be one.
    pub(in crate::client) fn as_task(&self, revision: Revision, prepared: Prepared) -> Prepared {
        if !self.must_be_task(revision, &prepared) {
            return prepared;
        }
        let mut params = Vec::new();
        let written = prepared.write_params(revision, &mut params);
        match written.and_then(|()| insert_task(&mut params, 0, TaskMetadata::new())) {
            Ok(()) => prepared.with_params(revision, params).augmented(),
            // Whoever writes it says what is wrong.
            Err(_) => prepared,
        }
    }
}
