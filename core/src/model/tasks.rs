//! Requests that go on as tasks: the extension `io.modelcontextprotocol/tasks` of 2026-07-28, and the experimental
//! tasks of 2025-11-25, whose names and nesting differ.
//!
//! <https://modelcontextprotocol.io/extensions/tasks/overview>,
//! <https://modelcontextprotocol.io/specification/2025-11-25/basic/utilities/tasks>

mod detail;
mod methods;

pub use detail::*;
pub use methods::*;

use super::encode::{Members, Object};
use super::json::{Json, JsonMap};
use super::macros::{open_object, setters};
use crate::dialect::Tasks;
use alloc::string::String;
use core::fmt;
use serde::ser::SerializeMap;
use serde::{Deserialize, Deserializer, Serialize};

/// How the extension is named in capabilities (TASK-01).
pub const TASKS_EXTENSION: &str = "io.modelcontextprotocol/tasks";

/// How far a task is (TASK-13).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum TaskStatus {
    /// It runs.
    Working,
    /// It waits for answers of the client.
    InputRequired,
    /// There is a result. With the extension also one whose `isError` is set (TASK-15).
    Completed,
    /// It ended with an error. In 2025-11-25 also with a result whose `isError` is set (TASKL-47).
    Failed,
    /// The client took it back.
    Cancelled,
}

impl TaskStatus {
    /// Whether it stays so.
    pub fn is_final(self) -> bool {
        matches!(self, Self::Completed | Self::Failed | Self::Cancelled)
    }

    /// The status as it travels.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Working => "working",
            Self::InputRequired => "input_required",
            Self::Completed => "completed",
            Self::Failed => "failed",
            Self::Cancelled => "cancelled",
        }
    }
}

impl fmt::Display for TaskStatus {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// What is known of a task beside what it asks and what came of it; see [`DetailedTask`] for that (TASK-12).
#[derive(Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Task {
    /// What it is asked for by. Whoever knows it may have all that the task can do, so it is not printed (TASK-67).
    pub task_id: String,
    /// How far it is.
    pub status: TaskStatus,
    /// What it does, for people.
    pub status_message: Option<String>,
    /// When it began, as ISO 8601.
    pub created_at: String,
    /// When it changed last, as ISO 8601.
    pub last_updated_at: String,
    /// For how many milliseconds from `created_at` on it is kept; `None` is without end.
    pub ttl_ms: Option<u64>,
    /// How many milliseconds to wait before asking again.
    pub poll_interval_ms: Option<u64>,
    /// Members not known here.
    pub extra: JsonMap,
}

/// Prints without the id, which may be all that is needed to use the task, and without words for people.
impl fmt::Debug for Task {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Task")
            .field("status", &self.status)
            .field("ttl_ms", &self.ttl_ms)
            .field("poll_interval_ms", &self.poll_interval_ms)
            .finish_non_exhaustive()
    }
}

impl Task {
    /// One that works, of which no more is known. Times are ISO 8601.
    pub fn new(task_id: impl Into<String>, created_at: impl Into<String>) -> Self {
        let created_at = created_at.into();
        Self {
            task_id: task_id.into(),
            status: TaskStatus::Working,
            status_message: None,
            last_updated_at: created_at.clone(),
            created_at,
            ttl_ms: None,
            poll_interval_ms: None,
            extra: JsonMap::new(),
        }
    }
}

setters!(Task {
    status: TaskStatus,
    status_message?: String,
    last_updated_at: String,
    ttl_ms?: u64,
    poll_interval_ms?: u64,
    extra: JsonMap,
});

impl Members for Task {
    fn members<M: SerializeMap>(&self, to: &mut Object<M>) -> Result<(), M::Error> {
        let (ttl, interval) = match to.dialect().tasks {
            Tasks::Core => ("ttl", "pollInterval"),
            Tasks::Extension | Tasks::None => ("ttlMs", "pollIntervalMs"),
        };
        to.member("taskId", &self.task_id)?;
        to.member("status", &self.status)?;
        to.optional("statusMessage", &self.status_message)?;
        to.member("createdAt", &self.created_at)?;
        to.member("lastUpdatedAt", &self.last_updated_at)?;
        // It is there, and `null` where it has no end.
        to.member(ttl, &self.ttl_ms)?;
        to.optional(interval, &self.poll_interval_ms)?;
        to.open(&self.extra, Known::KNOWN)
    }
}

/// Milliseconds as peers write them, whose languages may know no integers: fractions are dropped, and what is no time is
/// as if it were not there, as a task is not to be lost for it.
#[derive(Default)]
struct Millis(Option<u64>);

impl<'de> Deserialize<'de> for Millis {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let ms = Json::deserialize(deserializer)?;
        let fraction = || ms.decode::<f64>().ok().filter(|ms| *ms >= 0.0);
        // The cast saturates.
        Ok(Self(ms.decode::<u64>().ok().or_else(|| fraction().map(|ms| ms as u64))))
    }
}

/// A task as it comes, by the names of either system.
struct Known {
    task_id: String,
    status: TaskStatus,
    status_message: Option<String>,
    created_at: String,
    last_updated_at: String,
    ttl_ms: Millis,
    ttl: Millis,
    poll_interval_ms: Millis,
    poll_interval: Millis,
    extra: JsonMap,
}

open_object!(Known {
    required {
        "taskId" => task_id,
        "status" => status,
        "createdAt" => created_at,
        "lastUpdatedAt" => last_updated_at,
    }
    optional {
        "statusMessage" => status_message,
        "ttlMs" => ttl_ms,
        "ttl" => ttl,
        "pollIntervalMs" => poll_interval_ms,
        "pollInterval" => poll_interval,
    }
    ignored { "resultType", "_meta", "inputRequests", "result", "error", }
});

impl<'de> Deserialize<'de> for Task {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let known = Known::deserialize(deserializer)?;
        Ok(Self {
            task_id: known.task_id,
            status: known.status,
            status_message: known.status_message,
            created_at: known.created_at,
            last_updated_at: known.last_updated_at,
            ttl_ms: known.ttl_ms.0.or(known.ttl.0),
            poll_interval_ms: known.poll_interval_ms.0.or(known.poll_interval.0),
            extra: known.extra,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dialect::Revision;
    use crate::model::tests::{encoded, json};

    /// TASK-12: `ttlMs` is there, and `null` when the task is kept without end.
    #[test]
    fn a_task_without_end_says_so() {
        let task = Task::new("t", "2026-08-01T09:00:00Z").poll_interval_ms(5_u64);
        let modern = r#"{"taskId":"t","status":"working","createdAt":"2026-08-01T09:00:00Z",
            "lastUpdatedAt":"2026-08-01T09:00:00Z","ttlMs":null,"pollIntervalMs":5}"#;
        let legacy = modern.replace("ttlMs", "ttl").replace("pollIntervalMs", "pollInterval");
        assert_eq!(encoded(Revision::V2026_07_28, &task), json(modern));
        assert_eq!(encoded(Revision::V2025_11_25, &task), json(&legacy));
        assert_eq!(serde_json::from_str::<Task>(&legacy).unwrap(), task);
    }

    /// TASK-67: an id is as good as a key to the task.
    #[test]
    fn a_task_prints_without_its_id() {
        let task = Task::new("secret", "2026-08-01T09:00:00Z").status_message("private");
        let printed = alloc::format!("{task:?}");
        assert!(!printed.contains("secret") && !printed.contains("private"), "{printed}");
        let task = DetailedTask::new(task).result(Json::new(&"secret").unwrap());
        let printed = alloc::format!("{:?}", GetTaskResult::new(task));
        assert!(!printed.contains("secret"), "{printed}");
        let filter = crate::model::subscriptions::SubscriptionFilter::new().tasks(["secret"]);
        let printed = alloc::format!("{filter:?}");
        assert!(!printed.contains("secret"), "{printed}");
    }
}
