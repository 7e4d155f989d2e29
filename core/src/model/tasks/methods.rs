//! The parameters of methods about tasks, and the list of them.

use super::Task;
use crate::dialect::Revision;
use crate::model::encode::{Members, Object};
use crate::model::input_required::InputResponses;
use crate::model::json::JsonMap;
use crate::model::macros::{open_object, setters};
use crate::model::meta::Meta;
use crate::model::pagination::Cursor;
use alloc::string::String;
use alloc::vec::Vec;
use serde::ser::SerializeMap;
use serde::{Deserialize, Serialize};

/// The parameters of `tasks/get`, `tasks/cancel`, and of `tasks/result` in 2025-11-25.
#[derive(Clone, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct TaskParams {
    /// The task.
    pub task_id: String,
    /// Metadata to send. What came is read with [`RequestMeta`](crate::model::meta::RequestMeta).
    #[serde(skip)]
    pub meta: Meta,
}

impl TaskParams {
    /// About the task `task_id`.
    pub fn new(task_id: impl Into<String>) -> Self {
        Self { task_id: task_id.into(), meta: Meta::new() }
    }
}

setters!(TaskParams { meta: Meta });

/// Prints without the id; see [`Task::task_id`].
impl core::fmt::Debug for TaskParams {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("TaskParams").finish_non_exhaustive()
    }
}

impl Members for TaskParams {
    fn members<M: SerializeMap>(&self, to: &mut Object<M>) -> Result<(), M::Error> {
        to.member("taskId", &self.task_id)
    }

    fn metadata(&self, _revision: Revision) -> Option<&Meta> {
        Some(&self.meta)
    }
}

/// The parameters of `tasks/update`: answers to what a task asked, by the names that it gave (TASK-37).
#[derive(Clone, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct UpdateTaskParams {
    /// The task.
    pub task_id: String,
    /// The answers: bare results, as JSON.
    pub input_responses: InputResponses,
    /// Metadata to send. What came is read with [`RequestMeta`](crate::model::meta::RequestMeta).
    #[serde(skip)]
    pub meta: Meta,
}

impl UpdateTaskParams {
    /// Answers what the task `task_id` asked.
    pub fn new(task_id: impl Into<String>, input_responses: InputResponses) -> Self {
        Self { task_id: task_id.into(), input_responses, meta: Meta::new() }
    }
}

setters!(UpdateTaskParams { meta: Meta });

/// Prints how many answers there are.
impl core::fmt::Debug for UpdateTaskParams {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("UpdateTaskParams")
            .field("input_responses", &self.input_responses.len())
            .finish_non_exhaustive()
    }
}

impl Members for UpdateTaskParams {
    fn members<M: SerializeMap>(&self, to: &mut Object<M>) -> Result<(), M::Error> {
        to.member("taskId", &self.task_id)?;
        to.member("inputResponses", &self.input_responses)
    }

    fn metadata(&self, _revision: Revision) -> Option<&Meta> {
        Some(&self.meta)
    }
}

/// What a request of 2025-11-25 asks to become: its member `task` (TASKL-11).
///
/// The extension has none, as the server alone decides (TASK-02).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct TaskMetadata {
    /// For how many milliseconds the task is to be kept. The server may choose otherwise (TASKL-26).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ttl: Option<u64>,
}

impl TaskMetadata {
    /// A task that is kept for as long as the server likes.
    pub fn new() -> Self {
        Self::default()
    }
}

setters!(TaskMetadata { ttl?: u64 });

/// The result of `tasks/list`: one page; 2025-11-25 only.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct ListTasksResult {
    /// The tasks of this page.
    pub tasks: Vec<Task>,
    /// Where the next page begins, when there is one.
    pub next_cursor: Option<Cursor>,
    /// Metadata.
    pub meta: Meta,
    /// Members not known here.
    pub extra: JsonMap,
}

impl ListTasksResult {
    /// One page, and no further one.
    pub fn new(tasks: Vec<Task>) -> Self {
        Self { tasks, ..Self::default() }
    }
}

setters!(ListTasksResult {
    next_cursor?: Cursor,
    meta: Meta,
    extra: JsonMap,
});

open_object!(ListTasksResult {
    required { "tasks" => tasks, }
    optional {
        "nextCursor" => next_cursor,
        "_meta" => meta,
    }
    ignored { "resultType", }
});

impl Members for ListTasksResult {
    fn members<M: SerializeMap>(&self, to: &mut Object<M>) -> Result<(), M::Error> {
        to.complete()?;
        to.encoded("tasks", self.tasks.as_slice())?;
        to.optional("nextCursor", &self.next_cursor)?;
        to.open(&self.extra, Self::KNOWN)
    }

    fn metadata(&self, _revision: Revision) -> Option<&Meta> {
        Some(&self.meta)
    }
}
