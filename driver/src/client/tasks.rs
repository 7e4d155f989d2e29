//! Calls that go on as tasks.

use std::borrow::Cow;

use mcp_proto::client::{
    CallToolAsTask, CancelTask, GetTask, ListTasks, TaskHandle, ToolReply, ToolStart, UpdateTask, WaitForTask,
};
use mcp_proto::error::CallError;
use mcp_proto::model::{DetailedTask, Task};
use serde::Serialize;

use super::calls::{Calls, Options, after};
use super::collection::Incomplete;
use super::{Client, ClientBuilder};
use crate::reply::Mode;
use crate::runtime::Runtime;

/// Tasks: calls of tools that go on after they were answered. With [`ClientBuilder::tasks`] every call waits for the task
/// that it becomes; these are for whoever wants to hold one.
///
/// ```
/// # use mcp_driver::{Async, Calls, Client, Runtime, TaskHandle, ToolStart};
/// # async fn overhaul<R: Runtime<Mode = Async>>(client: Client<R>) -> Result<(), Box<dyn std::error::Error>> {
/// let handle = match client.call_tool_as_task("overhaul", serde_json::json!({ "bike": "B-42" })).await? {
///     ToolStart::Task { handle, .. } => handle,
///     done => return Ok(println!("{done:?}")),
/// };
/// let kept = serde_json::to_string(&handle)?; // for another process, if this one does not live that long
/// let handle: TaskHandle = serde_json::from_str(&kept)?;
/// println!("{}", client.get_task(&handle).await?.task.status);
/// println!("{}", client.wait_for_task(&handle).await?.text());
/// # Ok(())
/// # }
/// ```
///
/// <https://modelcontextprotocol.io/extensions/tasks/overview>
impl<R: Runtime> Client<R> {
    /// Calls a tool, to be handed the task that it becomes. Whether it does a modern server decides by itself; one of
    /// 2025-11-25 is told to.
    ///
    /// # Errors
    /// As of [`Calls::call_tool`]; [`CallError::Misuse`] when this client did not declare to a modern server that it knows
    /// tasks, and [`CallError::Unsupported`] when a legacy one has none, or says that this tool cannot be one.
    pub fn call_tool_as_task<'a>(
        &self,
        name: impl Into<Cow<'a, str>>,
        arguments: impl Serialize,
    ) -> <R::Mode as Mode>::Reply<ToolStart, CallError> {
        self.call_tool_as_task_with(name, arguments, Options::new())
    }

    /// The same with options. To say for how long a server of 2025-11-25 is to keep the task, [`start`](Calls::start)
    /// [`CallToolAsTask::ttl`].
    ///
    /// # Errors
    /// As of [`call_tool_as_task`](Self::call_tool_as_task).
    pub fn call_tool_as_task_with<'a>(
        &self,
        name: impl Into<Cow<'a, str>>,
        arguments: impl Serialize,
        options: Options,
    ) -> <R::Mode as Mode>::Reply<ToolStart, CallError> {
        self.start(&CallToolAsTask::with(name, arguments), options)
    }

    /// How far a task is, and with the extension what it asks or what came of it.
    ///
    /// # Errors
    /// [`CallError::Server`] with -32602 when the server does not know it, or not any more, and however else a call can end.
    pub fn get_task(&self, task: &TaskHandle) -> <R::Mode as Mode>::Reply<DetailedTask, CallError> {
        self.start(&GetTask::new(task), Options::new())
    }

    /// Waits for what comes of a task, as the call waited for it that it came of, in this process or in another: it is
    /// polled at the pace of its server, the handlers answer what it asks, and its result is held against the output schema
    /// of its tool.
    ///
    /// # Errors
    /// As of [`Calls::call_tool`], and [`CallError::Unfinished`], which says why it is not waited for any longer.
    pub fn wait_for_task(&self, task: &TaskHandle) -> <R::Mode as Mode>::Reply<ToolReply, CallError> {
        self.wait_for_task_with(task, Options::new())
    }

    /// The same with options. [`Options::timeout`] is for each answer of the server, [`Options::max`] for the whole. When
    /// that is over, or the wait is given up otherwise, the task goes on: [`cancel_task`](Self::cancel_task) takes it back.
    ///
    /// # Errors
    /// As of [`wait_for_task`](Self::wait_for_task).
    pub fn wait_for_task_with(
        &self,
        task: &TaskHandle,
        options: Options,
    ) -> <R::Mode as Mode>::Reply<ToolReply, CallError> {
        self.start(&WaitForTask::new(task), options)
    }

    /// Answers by hand what a task asks. Whoever waits for the task by [`wait_for_task`](Self::wait_for_task) need not: its
    /// handlers do. With the extension only.
    ///
    /// ```
    /// # use mcp_driver::{Async, Client, Runtime, TaskHandle, UpdateTask};
    /// # use mcp_driver::model::{ElicitAction, ElicitResult};
    /// # async fn decline<R: Runtime<Mode = Async>>(client: Client<R>, handle: TaskHandle)
    /// # -> Result<(), Box<dyn std::error::Error>> {
    /// let task = client.get_task(&handle).await?;
    /// let mut update = UpdateTask::new(&handle, &task);
    /// for key in task.input_requests.keys() {
    ///     update = update.answer(key, ElicitResult::new(ElicitAction::Decline))?;
    /// }
    /// client.update_task(&update).await?;
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// As of [`get_task`](Self::get_task).
    pub fn update_task(&self, update: &UpdateTask) -> <R::Mode as Mode>::Reply<(), CallError> {
        self.start(update, Options::new())
    }

    /// Asks the server to stop a task. It may finish all the same; [`get_task`](Self::get_task) tells.
    ///
    /// # Errors
    /// As of [`get_task`](Self::get_task); [`CallError::Unsupported`] when a server of 2025-11-25 cannot stop tasks.
    pub fn cancel_task(&self, task: &TaskHandle) -> <R::Mode as Mode>::Reply<(), CallError> {
        self.start(&CancelTask::new(task), Options::new())
    }

    /// All tasks that a server of 2025-11-25 has for this client, page by page. [`TaskHandle::new`] makes handles of them,
    /// which do not know their tools.
    ///
    /// # Errors
    /// [`CallError::Unsupported`] with a modern server, which lists none, and with a legacy one that cannot.
    pub fn list_tasks(&self) -> <R::Mode as Mode>::Reply<Vec<Task>, Incomplete<Task>> {
        let page = after(ListTasks::new, ListTasks::after);
        self.collect(page, |reply| (reply.tasks, reply.next_cursor), Options::new())
    }
}

impl<R: Runtime> ClientBuilder<R> {
    /// Declares to modern servers that calls of tools may become tasks (TASK-01). [`Calls::call_tool`] then waits for such a
    /// task, whose questions the handlers answer as those of calls; when it is given up or runs out of time, the task is
    /// taken back. A task may take long: mind [`Options::max`], which is for all of it. Default no.
    ///
    /// A server of 2025-11-25 needs no such declaration: there a call is a task where its tool demands it.
    ///
    /// ```
    /// # use mcp_driver::{Async, Calls, Client, Error, Options, Runtime};
    /// # use std::time::Duration;
    /// # async fn overhaul<R: Runtime<Mode = Async>>() -> Result<(), Error> {
    /// let client = Client::<R>::builder("my-host", "1.0.0").tasks().connect("https://example.com/mcp").await?;
    /// let hours = Options::new().max(Duration::from_secs(4 * 3600));
    /// println!("{}", client.call_tool_with("overhaul", (), hours).await?.text());
    /// # Ok(())
    /// # }
    /// ```
    #[must_use]
    pub fn tasks(mut self) -> Self {
        self.hooks.answers.tasks = true;
        self
    }
}
