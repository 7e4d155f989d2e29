//! The way of a call that may go on as a task: until then to its request, and after that to the table of tasks.

use std::sync::{Arc, OnceLock};
use std::time::Duration;

use mcp_proto::dialect::Revision;
use mcp_proto::error::{ErrorObject, Full, code};
use mcp_proto::model::{CreateTaskResult, InputRequest, Json, LoggingMessageNotificationParams};
use mcp_proto::server::{
    AskError, AskId, Call, CallId, Config, Principal, Progress, Target, TaskKey, TaskOptions, TaskOwner,
    WriteResult,
};
use mcp_proto::time::Now;
use mcp_proto::wire::jsonrpc::RequestId;
use serde::Deserialize;

use super::{CallState, Outlet, Report, Tell, internal};
use crate::deprecated::Deprecated;
use crate::extensions::Extensions;
use crate::handler::label;
use crate::runtime::{BoxFuture, Job};
use crate::server::Board;

/// Keeps the way to the request, too, as it leads to whatever else a handler uses.
pub(crate) struct TaskOutlet {
    request: Arc<dyn Outlet>,
    /// Of the call, without its parameters: those are held once.
    id: RequestId,
    revision: Revision,
    target: Target,
    principal: Option<Arc<Principal>>,
    task: OnceLock<TaskKey>,
}

impl TaskOutlet {
    pub(crate) fn new(request: Arc<dyn Outlet>, call: &Call) -> Self {
        Self {
            request,
            id: call.request_id().clone(),
            revision: call.revision(),
            target: call.target().clone(),
            principal: call.principal().cloned(),
            task: OnceLock::new(),
        }
    }

    /// The way to the request, whether it is a task by now or not.
    pub(crate) fn request(&self) -> &dyn Outlet {
        &*self.request
    }

    pub(crate) fn key(&self) -> Option<TaskKey> {
        self.task.get().copied()
    }

    /// From now on what the handler of `state` says is about a task. Returns what its request is to be answered with;
    /// nothing where it has become one meanwhile, on behalf of another clone of its context.
    pub(super) fn begin(
        &self,
        state: &Arc<CallState>,
        options: TaskOptions,
    ) -> Result<Option<CreateTaskResult>, Full> {
        let owner = owner(self.principal.as_deref(), self.connection());
        let options = options.scopes(self.target.scopes().iter().cloned());
        let (key, task) = self.tasks().begin(self.now(), owner, options, state)?;
        if self.task.set(key).is_err() {
            // Nobody is to be told to stop because of it.
            self.tasks().done(key);
            self.tasks().abandon(key);
            return Ok(None);
        }
        Ok(Some(CreateTaskResult::new(task)))
    }

    /// What came of the handler.
    fn finish(&self, key: TaskKey, outcome: Result<Json, ErrorObject>) {
        if let Err(full) = self.tasks().finish(self.now(), key, outcome) {
            self.report(Report::ours(label(&self.target), format!("its task has failed: {full}")));
        }
    }

    /// A result, as the client of a plain call would have it (TASK-24).
    fn written(&self, result: &dyn WriteResult) -> Result<Json, ErrorObject> {
        #[derive(Deserialize)]
        struct Response {
            result: Json,
        }
        let mut text = Vec::new();
        let written = result.write_result(&mut text, &self.id, self.revision, None);
        let read = written
            .map_err(|misuse| misuse.to_string())
            .and_then(|()| serde_json::from_slice(&text).map_err(|error| error.to_string()));
        read.map(|Response { result }| result).map_err(|detail| {
            self.report(Report::ours(label(&self.target), format!("its result cannot be written: {detail}")));
            internal()
        })
    }
}

/// Whose tasks are those of this principal, on this byte stream if it is one.
pub(crate) fn owner(principal: Option<&Principal>, connection: Option<u64>) -> TaskOwner {
    let owner = principal.map_or_else(TaskOwner::default, |principal| {
        TaskOwner::new(Some(&principal.subject)).scopes(principal.scopes.clone())
    });
    match connection {
        Some(connection) => owner.on(connection),
        None => owner,
    }
}

impl Outlet for TaskOutlet {
    fn respond(&self, call: CallId, result: &dyn WriteResult) {
        match self.key() {
            Some(key) => self.finish(key, self.written(result)),
            None => self.request.respond(call, result),
        }
    }

    fn fail(&self, call: CallId, error: &ErrorObject) {
        match self.key() {
            Some(key) => self.finish(key, Err(error.clone())),
            None => self.request.fail(call, error),
        }
    }

    fn forbid(&self, call: CallId, scopes: Vec<String>) {
        match self.key() {
            Some(key) => {
                let message = format!("the request needs these scopes: {}", scopes.join(" "));
                self.finish(key, Err(ErrorObject::new(code::INVALID_REQUEST, message)));
            }
            None => self.request.forbid(call, scopes),
        }
    }

    fn progress(&self, call: CallId, progress: &Progress) {
        match (self.key(), &progress.message) {
            (Some(key), Some(message)) => self.tasks().set_message(self.now(), key, message),
            (Some(_), None) => {}
            (None, _) => self.request.progress(call, progress),
        }
    }

    fn log(&self, call: CallId, message: &LoggingMessageNotificationParams) {
        if self.key().is_none() {
            self.request.log(call, message);
        }
    }

    fn ask(
        &self,
        call: CallId,
        name: &str,
        request: &InputRequest,
        timeout: Option<Duration>,
    ) -> Result<AskId, AskError> {
        match self.key() {
            Some(key) => self.tasks().ask(self.now(), key, name, request, timeout),
            None => self.request.ask(call, name, request, timeout),
        }
    }

    fn may_ask(&self) -> bool {
        self.key().is_some() || self.request.may_ask()
    }

    fn retract(&self, ask: AskId) {
        match self.key() {
            Some(key) => self.tasks().retract(self.now(), key, ask),
            None => self.request.retract(ask),
        }
    }

    fn completes_elicitations(&self, call: CallId) -> Tell {
        self.request.completes_elicitations(call)
    }

    fn adopt(&self, state: &Arc<CallState>) -> bool {
        self.request.adopt(state)
    }

    fn spawn(&self, task: BoxFuture<()>) {
        self.request.spawn(task);
    }

    fn config(&self) -> &Config {
        self.request.config()
    }

    fn now(&self) -> Now {
        self.request.now()
    }

    fn extensions(&self) -> &Extensions {
        self.request.extensions()
    }

    fn close_stream(&self, call: CallId, retry: Duration) {
        self.request.close_stream(call, retry);
    }

    fn notify(&self, call: CallId, method: &str, params: &Json) {
        if self.key().is_none() {
            self.request.notify(call, method, params);
        }
    }

    fn proceed(&self, call: CallId) {
        self.request.proceed(call);
    }

    fn report(&self, report: Report) {
        self.request.report(report);
    }

    fn deprecated(&self, feature: Deprecated) {
        self.request.deprecated(feature);
    }

    fn spawn_blocking(&self, job: Job) {
        self.request.spawn_blocking(job);
    }

    fn sleep(&self, duration: Duration) -> BoxFuture<()> {
        self.request.sleep(duration)
    }

    fn done(&self, call: CallId) -> bool {
        match self.key() {
            Some(key) => self.tasks().done(key),
            None => self.request.done(call),
        }
    }

    fn tasks(&self) -> &Arc<Board> {
        self.request.tasks()
    }

    fn connection(&self) -> Option<u64> {
        self.request.connection()
    }

    fn as_task(&self) -> Option<&TaskOutlet> {
        Some(self)
    }
}
