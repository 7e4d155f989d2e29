//! Tasks as an application holds them.

use crate::client::continuation::Unmet;
use crate::client::definitions::Output;
use crate::client::reply::ToolReply;
use crate::error::CallError;
use crate::model::tasks::Task;
use crate::text::Excerpt;
use crate::time::Duration;
use alloc::boxed::Box;
use alloc::string::String;
use alloc::sync::Arc;
use core::fmt;
use serde::{Deserialize, Serialize};

/// A task of a server, to be asked about, waited for and taken back: on any connection to that server, also in another
/// process (TASK-21). It serializes with serde.
///
/// Whoever knows the id of a task may have all that it can do, so keep a handle as carefully as a password; it prints
/// without.
///
/// ```
/// use mcp_proto::client::TaskHandle;
///
/// let kept = serde_json::to_string(&TaskHandle::new("786512e2").with_tool("overhaul")).unwrap();
/// let again: TaskHandle = serde_json::from_str(&kept).unwrap();
/// assert_eq!(again.tool(), Some("overhaul"));
/// assert!(!format!("{again:?}").contains("786512e2"));
/// ```
#[derive(Clone, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct TaskHandle {
    task_id: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    tool: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    server: Option<String>,
    /// What its result has to look like, by the definition that its call went out under.
    #[serde(skip)]
    pub(in crate::client) output: Option<Arc<Output>>,
}

impl TaskHandle {
    /// The task that its server calls so. Nothing is known of its tool, so its result is not checked.
    pub fn new(task_id: impl Into<String>) -> Self {
        Self { task_id: task_id.into(), tool: None, server: None, output: None }
    }

    /// Says which tool it runs, whose output schema its result is checked against.
    #[must_use]
    pub fn with_tool(mut self, tool: impl Into<String>) -> Self {
        self.tool = Some(tool.into());
        self
    }

    /// Says which of several servers it is of, by a name of the application's.
    #[must_use]
    pub fn with_server(mut self, server: impl Into<String>) -> Self {
        self.server = Some(server.into());
        self
    }

    /// What its server calls it.
    pub fn task_id(&self) -> &str {
        &self.task_id
    }

    /// The tool that it runs, where that is known.
    pub fn tool(&self) -> Option<&str> {
        self.tool.as_deref()
    }

    /// Which of several servers it is of, where that was said.
    pub fn server(&self) -> Option<&str> {
        self.server.as_deref()
    }
}

impl PartialEq for TaskHandle {
    fn eq(&self, other: &Self) -> bool {
        (&self.task_id, &self.tool, &self.server) == (&other.task_id, &other.tool, &other.server)
    }
}

impl Eq for TaskHandle {}

/// Prints without the id.
impl fmt::Debug for TaskHandle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TaskHandle")
            .field("tool", &self.tool)
            .field("server", &self.server)
            .finish_non_exhaustive()
    }
}

/// What came of calling a tool as a task: the server alone decides whether it becomes one (TASK-02).
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum ToolStart {
    /// It is done already.
    Done(ToolReply),
    /// It goes on.
    Task {
        /// What it is asked about, waited for and taken back by.
        handle: TaskHandle,
        /// What the server said of it.
        task: Task,
    },
}

impl ToolStart {
    /// The handle, if it goes on.
    pub fn handle(&self) -> Option<&TaskHandle> {
        match self {
            Self::Done(_) => None,
            Self::Task { handle, .. } => Some(handle),
        }
    }
}

/// What a call has to do with tasks; see [`Call::task`](crate::client::Call::task).
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum TaskRole<'a> {
    /// Nothing that its caller has to know of: a task that it becomes is waited for.
    Hidden,
    /// A task that it becomes is handed out.
    Handed,
    /// It waits for this task.
    Awaited(&'a TaskHandle),
    /// It asks what this task came to, so what comes has to look like that.
    Fetched(&'a TaskHandle),
}

/// Why a call that went on as a task ended without its outcome.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Unfinished {
    /// The task was cancelled, by whomever.
    Cancelled {
        /// Why, in the words of the server.
        message: Option<String>,
    },
    /// The server keeps the task no longer than this, and that has passed (TASK-29).
    Expired {
        /// How long it was kept.
        ttl: Duration,
    },
    /// The task asks something that has no answer. It still waits for one: what it asks is in
    /// [`GetTask`](crate::client::GetTask), and [`UpdateTask`](crate::client::UpdateTask) answers it. What else it asked
    /// was answered.
    Input(Unmet),
    /// It was not finished in the time that it was waited for. It goes on.
    TimedOut {
        /// How long that was.
        after: Duration,
    },
    /// It could not be asked about any more. It may go on.
    Lost(Box<CallError>),
}

impl fmt::Display for Unfinished {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Cancelled { message: None } => f.write_str("was cancelled"),
            Self::Cancelled { message: Some(message) } => write!(f, "was cancelled: {}", Excerpt(message)),
            Self::Expired { ttl } => {
                write!(f, "was not finished within {ttl:?}, for which its server keeps it")
            }
            Self::Input(unmet) => write!(f, "needs input before it can go on: {unmet}"),
            Self::TimedOut { after } => write!(f, "was not finished within {after:?}; it goes on"),
            Self::Lost(error) => write!(f, "cannot be asked about any more: {error}"),
        }
    }
}
