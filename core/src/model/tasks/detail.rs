//! A task with what it asks, or what came of it, and the messages that carry one.

use super::Task;
use crate::dialect::{Revision, Tasks};
use crate::error::ErrorObject;
use crate::model::encode::{Members, Object, ResultKind};
use crate::model::input_required::InputRequests;
use crate::model::json::Json;
use crate::model::macros::setters;
use crate::model::meta::Meta;
use alloc::boxed::Box;
use alloc::string::String;
use core::fmt;
use serde::ser::SerializeMap;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::value::RawValue;

/// A task with all that its status brings along: what `tasks/get` and `notifications/tasks` tell (TASK-22 to TASK-26).
#[derive(Clone, PartialEq)]
#[non_exhaustive]
pub struct DetailedTask {
    /// What is always known.
    pub task: Task,
    /// While it waits for input: all that it asks and that is not answered, by names that it uses once.
    pub input_requests: InputRequests,
    /// When it is completed: what the request would have been answered with.
    pub result: Option<Json>,
    /// When it has failed: the error that the request would have been answered with.
    pub error: Option<ErrorObject>,
}

/// Prints how much there is of what it asks and came to, and nothing of that (TASK-67).
impl fmt::Debug for DetailedTask {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("DetailedTask")
            .field("task", &self.task)
            .field("input_requests", &self.input_requests.len())
            .field("result", &self.result.as_ref().map(|result| result.get().len()))
            .field("error", &self.error.as_ref().map(|error| error.code))
            .finish()
    }
}

impl DetailedTask {
    /// A task that asks nothing and has no result.
    pub fn new(task: Task) -> Self {
        Self { task, input_requests: InputRequests::new(), result: None, error: None }
    }
}

setters!(DetailedTask {
    input_requests: InputRequests,
    result?: Json,
    error?: ErrorObject,
});

impl Members for DetailedTask {
    fn members<M: SerializeMap>(&self, to: &mut Object<M>) -> Result<(), M::Error> {
        self.task.members(to)?;
        // In 2025-11-25 these travel by other messages.
        if to.dialect().tasks == Tasks::Core {
            return Ok(());
        }
        if !self.input_requests.is_empty() {
            to.encoded("inputRequests", &Requests(&self.input_requests))?;
        }
        to.optional("result", &self.result)?;
        to.optional("error", &self.error.as_ref().map(Failure))
    }
}

struct Requests<'a>(&'a InputRequests);

impl Members for Requests<'_> {
    fn members<M: SerializeMap>(&self, to: &mut Object<M>) -> Result<(), M::Error> {
        self.0.iter().try_for_each(|(name, request)| to.encoded(name, request))
    }
}

/// An error object as it stands inside a task.
struct Failure<'a>(&'a ErrorObject);

impl Serialize for Failure<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut object = serializer.serialize_map(None)?;
        object.serialize_entry("code", &self.0.code)?;
        object.serialize_entry("message", &self.0.message)?;
        if let Some(data) = &self.0.data {
            object.serialize_entry("data", data)?;
        }
        object.end()
    }
}

impl<'de> Deserialize<'de> for DetailedTask {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        #[derive(Deserialize)]
        struct Error {
            code: i64,
            message: String,
            data: Option<Box<RawValue>>,
        }
        #[derive(Deserialize)]
        #[serde(rename_all = "camelCase")]
        struct Detail {
            #[serde(default)]
            input_requests: InputRequests,
            result: Option<Json>,
            error: Option<Error>,
        }
        // Twice through the text, which spares a third form of all members.
        let text = <&RawValue>::deserialize(deserializer)?.get();
        let error = |error: serde_json::Error| serde::de::Error::custom(error);
        let task: Task = serde_json::from_str(text).map_err(error)?;
        let detail: Detail = serde_json::from_str(text).map_err(error)?;
        let failure = |Error { code, message, data }| ErrorObject { code, message, data };
        Ok(Self {
            task,
            input_requests: detail.input_requests,
            result: detail.result,
            error: detail.error.map(failure),
        })
    }
}

/// The result of a request that goes on as a task (TASK-09, TASKL-12).
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct CreateTaskResult {
    /// The task.
    pub task: Task,
    /// Metadata.
    pub meta: Meta,
}

impl CreateTaskResult {
    /// The request goes on as `task`.
    pub fn new(task: Task) -> Self {
        Self { task, meta: Meta::new() }
    }
}

setters!(CreateTaskResult { meta: Meta });

impl Members for CreateTaskResult {
    fn members<M: SerializeMap>(&self, to: &mut Object<M>) -> Result<(), M::Error> {
        if to.dialect().tasks == Tasks::Core {
            return to.encoded("task", &self.task);
        }
        to.member("resultType", "task")?;
        self.task.members(to)
    }

    fn metadata(&self, _revision: Revision) -> Option<&Meta> {
        Some(&self.meta)
    }

    fn kind(&self) -> ResultKind {
        ResultKind::Task
    }
}

/// Reads either nesting: a `task` inside the result, or the result itself.
impl<'de> Deserialize<'de> for CreateTaskResult {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        #[derive(Deserialize)]
        struct Nested {
            task: Option<Task>,
            #[serde(default, rename = "_meta")]
            meta: Meta,
        }
        let text = <&RawValue>::deserialize(deserializer)?.get();
        let error = |error: serde_json::Error| serde::de::Error::custom(error);
        let Nested { task, meta } = serde_json::from_str(text).map_err(error)?;
        let task = task.map_or_else(|| serde_json::from_str(text).map_err(error), Ok)?;
        Ok(Self { task, meta })
    }
}

/// The result of `tasks/get`, and of `tasks/cancel` in 2025-11-25.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct GetTaskResult {
    /// The task.
    pub task: DetailedTask,
    /// Metadata.
    pub meta: Meta,
}

impl GetTaskResult {
    /// The task as it is.
    pub fn new(task: DetailedTask) -> Self {
        Self { task, meta: Meta::new() }
    }
}

setters!(GetTaskResult { meta: Meta });

impl Members for GetTaskResult {
    fn members<M: SerializeMap>(&self, to: &mut Object<M>) -> Result<(), M::Error> {
        to.complete()?;
        self.task.members(to)
    }

    fn metadata(&self, _revision: Revision) -> Option<&Meta> {
        Some(&self.meta)
    }
}

/// The parameters of `notifications/tasks`, and of `notifications/tasks/status` in 2025-11-25 (TASK-50, TASKL-37).
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct TaskStatusNotificationParams {
    /// The task as it is now.
    pub task: DetailedTask,
    /// Metadata; names the subscription.
    pub meta: Meta,
}

impl TaskStatusNotificationParams {
    /// The task is so now.
    pub fn new(task: DetailedTask) -> Self {
        Self { task, meta: Meta::new() }
    }
}

setters!(TaskStatusNotificationParams { meta: Meta });

impl Members for TaskStatusNotificationParams {
    fn members<M: SerializeMap>(&self, to: &mut Object<M>) -> Result<(), M::Error> {
        self.task.members(to)
    }

    fn metadata(&self, _revision: Revision) -> Option<&Meta> {
        Some(&self.meta)
    }
}

/// A task, and the `_meta` beside its members.
fn with_meta<'de, D: Deserializer<'de>>(deserializer: D) -> Result<(DetailedTask, Meta), D::Error> {
    #[derive(Deserialize)]
    struct Own {
        #[serde(default, rename = "_meta")]
        meta: Meta,
    }
    let text = <&RawValue>::deserialize(deserializer)?.get();
    let error = |error: serde_json::Error| serde::de::Error::custom(error);
    let own: Own = serde_json::from_str(text).map_err(error)?;
    Ok((serde_json::from_str(text).map_err(error)?, own.meta))
}

impl<'de> Deserialize<'de> for GetTaskResult {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        with_meta(deserializer).map(|(task, meta)| Self { task, meta })
    }
}

impl<'de> Deserialize<'de> for TaskStatusNotificationParams {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        with_meta(deserializer).map(|(task, meta)| Self { task, meta })
    }
}
