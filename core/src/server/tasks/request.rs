//! What clients ask of tasks, and who may.

use alloc::boxed::Box;
use alloc::string::String;
use alloc::sync::Arc;
use alloc::vec::Vec;
use core::fmt;

use super::detail::{Got, TaskDetail};
use crate::dialect::Revision;
use crate::error::ApiMisuse;
use crate::model::capabilities::ClientCapabilities;
use crate::model::meta::RequestMeta;
use crate::model::result::EmptyResult;
use crate::model::{InputResponses, Json, JsonMap, TASKS_EXTENSION};
use crate::server::call::{WriteResult, missing_capabilities};
use crate::server::refusal::Refusal;
use crate::server::resource_server::Scopes;
use crate::wire::jsonrpc::RequestId;

/// The methods of the extension.
pub(in crate::server) const METHODS: [&str; 3] = ["tasks/get", "tasks/update", "tasks/cancel"];

/// Whether a request declares the extension, as each has to do for itself (TASK-03). The capability `tasks` of
/// 2025-11-25 is something else (TASK-63).
pub(in crate::server) fn are_declared(meta: &RequestMeta<'_>) -> bool {
    let capabilities = meta.client_capabilities().ok().flatten();
    let capabilities =
        capabilities.and_then(|raw| serde_json::from_str::<ClientCapabilities>(raw.get()).ok());
    capabilities.is_some_and(|declared| declared.extension(TASKS_EXTENSION).is_some_and(Json::is_object))
}

/// What a request is told that would have to declare the extension (TASK-07, TASK-56).
pub(in crate::server) fn undeclared() -> Refusal {
    let extensions = JsonMap::from([(TASKS_EXTENSION.into(), Json::empty_object())]);
    let error = missing_capabilities(ClientCapabilities::default().extensions(extensions));
    let code = i32::try_from(error.code).unwrap_or(crate::error::code::MISSING_CLIENT_CAPABILITY);
    Refusal::plain(code, error.message).with_data(error.data)
}

/// A request about one task. Prints without the name of it, which may be all that is needed to use it (TASK-67).
#[derive(Clone)]
#[non_exhaustive]
pub struct TaskRequest {
    /// The task that the client named, whether there is such a one or not.
    pub task_id: String,
    /// What is to be done.
    pub action: TaskAction,
}

impl TaskRequest {
    /// A request for this task.
    pub fn new(task_id: impl Into<String>, action: TaskAction) -> Self {
        Self { task_id: task_id.into(), action }
    }
}

impl fmt::Debug for TaskRequest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TaskRequest").field("action", &self.action.method()).finish_non_exhaustive()
    }
}

/// What is asked of a task.
#[derive(Clone)]
#[non_exhaustive]
pub enum TaskAction {
    /// `tasks/get`: how far it is.
    Get,
    /// `tasks/update`: these are answers to what it has asked.
    Update(InputResponses),
    /// `tasks/cancel`: it is not wanted any more.
    Cancel,
}

impl TaskAction {
    /// The method of such a request.
    pub fn method(&self) -> &'static str {
        let [get, update, cancel] = METHODS;
        match self {
            Self::Get => get,
            Self::Update(_) => update,
            Self::Cancel => cancel,
        }
    }
}

/// Prints the method.
impl fmt::Debug for TaskAction {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.method())
    }
}

/// The result of a request about a task; `respond` takes it.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum TaskAnswer {
    /// The task as it is.
    Task(Box<TaskDetail>),
    /// What was asked is done, or will be (TASK-38, TASK-46).
    Acknowledged,
}

impl WriteResult for TaskAnswer {
    fn write_result(
        &self,
        out: &mut Vec<u8>,
        id: &RequestId,
        revision: Revision,
        server: Option<&Json>,
    ) -> Result<(), ApiMisuse> {
        match self {
            Self::Task(task) => Got(task).write_result(out, id, revision, server),
            Self::Acknowledged => EmptyResult::new().write_result(out, id, revision, server),
        }
    }
}

/// Whose a task is, or who asks for one. To everybody else it is not there (TASK-68).
#[derive(Clone, Default, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub struct TaskOwner {
    /// The subject of the principal that began it, where somebody was recognised.
    pub subject: Option<Arc<str>>,
    /// The byte stream that it began on, by a number of the application's: it ends with that.
    pub connection: Option<u64>,
    /// What whoever asks may do; `None` is everything. A task [with scopes](super::TaskOptions::scopes) is not there for
    /// who lacks one of them.
    pub scopes: Option<Scopes>,
}

impl TaskOwner {
    /// Somebody over HTTP.
    pub fn new(subject: Option<&str>) -> Self {
        Self { subject: subject.map(Arc::from), ..Self::default() }
    }

    /// Who may do no more than this.
    #[must_use]
    pub fn scopes(mut self, scopes: Scopes) -> Self {
        self.scopes = Some(scopes);
        self
    }

    /// Whoever is at the other end of a byte stream.
    #[must_use]
    pub fn on(mut self, connection: u64) -> Self {
        self.connection = Some(connection);
        self
    }
}

/// Prints what is known of it, and not what that is.
impl fmt::Debug for TaskOwner {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TaskOwner")
            .field("has_subject", &self.subject.is_some())
            .field("connection", &self.connection)
            .finish()
    }
}
