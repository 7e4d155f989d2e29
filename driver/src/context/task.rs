//! Calls that go on as tasks.

use std::fmt;
use std::future::IntoFuture;
use std::sync::Arc;
use std::task::Poll;

use mcp_proto::error::{ApiMisuse, Full};
use mcp_proto::model::{CreateTaskResult, TaskSupport};
use mcp_proto::server::{Target, TaskOptions};

use super::ask::Leave;
use super::{CallState, Context};
use crate::around::{Answer, AnswerKind};
use crate::runtime::BoxFuture;
use crate::tool::{Failure, ToolError};

impl Context {
    /// Answers the call now, with a task that the client can look at; what the handler does from here on belongs to
    /// that, and what it returns becomes the task's result. For work that takes longer than a client waits for an answer.
    ///
    /// Says whether it is a task now. If not, nothing has changed and the handler goes on as a plain call: of a client
    /// that has not declared the extension `io.modelcontextprotocol/tasks` for this very call, or of the legacy era. The
    /// tool has to be one with [`Tool::task_support`](crate::Tool::task_support); with
    /// [`TaskSupport::Required`], modern clients that have not declared the extension are refused before.
    ///
    /// ```
    /// # use std::time::Duration;
    /// # use mcp_driver::{Context, Runtime, Server, TaskOptions, Tool, ToolError, model::TaskSupport};
    /// # #[derive(serde::Deserialize, schemars::JsonSchema)] struct Render { scene: String }
    /// # #[derive(serde::Deserialize, schemars::JsonSchema)] struct Confirm { really: bool }
    /// async fn render(Render { scene }: Render, cx: Context) -> Result<String, ToolError> {
    ///     // Still the call: asks its client in rounds, and can be refused at once.
    ///     let confirm = cx.elicit::<Confirm>("confirm", format!("Render {scene}?")).await?;
    ///     cx.continue_as_task(TaskOptions::new().ttl(Duration::from_secs(3_600))).await?;
    ///     cx.status_message("rendering");
    ///     // A task, or still the call.
    ///     Ok(if confirm.really { "rendered" } else { "left as it was" }.to_owned())
    /// }
    /// # fn server<R: Runtime>(server: Server<R>) -> Server<R> {
    /// server.tool(Tool::new("render").task_support(TaskSupport::Optional), render)
    /// # }
    /// ```
    ///
    /// What a task asks its client, by [`elicit`](Self::elicit) and its kind, is waited for as it is in the legacy era:
    /// nothing runs again. It may wait as long as the task is kept. Progress becomes its
    /// [status message](Self::status_message), and logs go nowhere (TASK-53). A client that is gone does not end it;
    /// one that cancels it does as with a call. Over HTTP a task lives until its time is over
    /// ([`TaskOptions::ttl`]) or the server ends, and is its caller's alone, as [`Principal::subject`](crate::Principal)
    /// says, as long as he has the scopes of its tool; where nobody is recognised, it is whoever's that knows its id. On a
    /// byte stream it ends with that.
    ///
    /// Tasks live in this process: requests about one have to reach it, by their header `Mcp-Name`.
    ///
    /// A blocking handler writes `.wait()?` where this one writes `.await?`. It keeps its thread for as long as it runs, also
    /// while it waits for its client, and there are [`Limits::blocking_threads`](crate::Limits::blocking_threads) of them:
    /// what may take an hour is better async.
    ///
    /// # Errors
    /// When there are as many tasks as [`Limits::tasks`](crate::Limits::tasks) allows, when the tool does not support
    /// tasks, and when a question is open that was left unanswered: before there is a task the client is asked in rounds,
    /// which come first (TASK-17). Left by `?`, each does what is right for it; where there is no room, the call is
    /// answered with an internal error. Ignored, the handler goes on as a plain call.
    ///
    /// <https://modelcontextprotocol.io/extensions/tasks/overview>
    pub fn continue_as_task(&self, options: TaskOptions) -> ContinueAsTask {
        ContinueAsTask { state: self.shared.clone(), options }
    }

    /// Whether the call goes on as a task.
    pub fn is_task(&self) -> bool {
        self.shared.is_task()
    }

    /// Says for people how far a task is, in place of what was said before; cut after 1,024 characters. Of a call that is
    /// no task, nothing happens.
    pub fn status_message(&self, message: impl Into<String>) {
        if let Some(key) = self.shared.outlet.as_task().and_then(|task| task.key()) {
            self.shared.outlet.tasks().set_message(self.shared.outlet.now(), key, message);
        }
    }
}

/// A call is about to go on as a task; see [`Context::continue_as_task`].
#[must_use = "the call goes on as it was until this is awaited, or waited for with `.wait()`"]
pub struct ContinueAsTask {
    state: Arc<CallState>,
    options: TaskOptions,
}

impl ContinueAsTask {
    /// The same for blocking handlers.
    ///
    /// # Errors
    /// As awaiting it.
    pub fn wait(self) -> Result<bool, NotContinued> {
        self.state.continue_as_task(self.options)
    }
}

impl IntoFuture for ContinueAsTask {
    type Output = Result<bool, NotContinued>;
    type IntoFuture = BoxFuture<Self::Output>;

    fn into_future(self) -> Self::IntoFuture {
        Box::pin(async move {
            let is_task = self.state.continue_as_task(self.options)?;
            let mut gave_way = !is_task;
            // Whoever polls the handler has an answer to send, which is not to wait for what comes next.
            std::future::poll_fn(|cx| {
                if std::mem::replace(&mut gave_way, true) {
                    return Poll::Ready(());
                }
                cx.waker().wake_by_ref();
                Poll::Pending
            })
            .await;
            Ok(is_task)
        })
    }
}

impl fmt::Debug for ContinueAsTask {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ContinueAsTask").field("options", &self.options).finish_non_exhaustive()
    }
}

/// Why a call cannot go on as a task.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum NotContinued {
    /// There are too many.
    Full(Full),
    /// Its tool does not support tasks.
    Misuse(ApiMisuse),
    /// Not yet: return, by `?`. The client is asked something first.
    Leave(Leave),
}

impl fmt::Display for NotContinued {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Full(full) => full.fmt(f),
            Self::Misuse(misuse) => misuse.fmt(f),
            Self::Leave(_) => f.write_str("the client has not been asked yet"),
        }
    }
}

// Not an `Error`: those become internal errors of a tool.
impl From<NotContinued> for ToolError {
    fn from(reason: NotContinued) -> Self {
        Self(match reason {
            NotContinued::Leave(_) => Failure::Leave,
            reason => Failure::Internal(format!("the call cannot go on as a task: {reason}")),
        })
    }
}

impl CallState {
    /// Whether it goes on as a task.
    pub(crate) fn is_task(&self) -> bool {
        self.outlet.as_task().is_some_and(|task| task.key().is_some())
    }

    fn continue_as_task(self: &Arc<Self>, options: TaskOptions) -> Result<bool, NotContinued> {
        let supported = match self.target() {
            Target::Tool(entry) => entry.task_support() != TaskSupport::Forbidden,
            _ => false,
        };
        if !supported {
            let what = "only a tool with `Tool::task_support` can go on as a task";
            return Err(NotContinued::Misuse(ApiMisuse::new(what)));
        }
        let Some(task) = self.outlet.as_task() else { return Ok(false) };
        if task.key().is_some() {
            return Ok(true);
        }
        if self.is_cancelled() {
            return Ok(false);
        }
        if self.has_journal() && self.journal(|journal| !journal.open.is_empty()) {
            return Err(NotContinued::Leave(Leave::new()));
        }
        if let Some(created) = task.begin(self, options).map_err(NotContinued::Full)? {
            self.answer_with(created);
        }
        Ok(true)
    }

    /// Tells the client of the task; what is said on behalf of the call after that is about it.
    fn answer_with(&self, created: CreateTaskResult) {
        let Some(task) = self.outlet.as_task() else { return };
        match &self.answer {
            Some(answer) => answer.set(Answer::result(created)),
            None => {
                self.ended(AnswerKind::Task);
                task.request().respond(self.id, &created);
                if !task.request().done(self.id) {
                    // Nobody has heard of it, and nobody will.
                    self.abandon_task();
                }
            }
        }
    }

    /// The client hears nothing of the task that it was to be told of.
    pub(crate) fn abandon_task(&self) {
        if let Some(key) = self.outlet.as_task().and_then(|task| task.key()) {
            self.outlet.tasks().abandon(key);
        }
    }
}
