//! Tasks of several servers: a handle says which one it is of.

use mcp_proto::client::{
    Call, CallToolAsTask, CancelTask, GetTask, TaskHandle, ToolReply, ToolStart, UpdateTask, WaitForTask,
};
use mcp_proto::error::ApiMisuse;
use mcp_proto::model::DetailedTask;

use super::{Called, Group, GroupCall, GroupError};
use crate::client::calls::Options;
use crate::reply::{Mode, Running};
use crate::runtime::Runtime;

/// Tasks. The id of one means something to its server alone, so its handle names that; one that names none does where there
/// is only one server.
impl<R: Runtime> Group<R> {
    /// Makes a call, to be handed the task that it becomes: see [`Client::call_tool_as_task`](crate::Client::call_tool_as_task).
    ///
    /// # Errors
    /// As of [`call_tool`](Self::call_tool).
    pub fn call_as_task(&self, call: GroupCall) -> <R::Mode as Mode>::Reply<ToolStart, GroupError> {
        let group = self.clone();
        self.runtime.run(Running::task(async move {
            let Called { client, server, name, arguments, options } = group.find(call).await?;
            let start = client.start_call(&CallToolAsTask::with(name, arguments), options).await;
            Ok(match start.map_err(|error| GroupError::call(server.clone(), error))? {
                ToolStart::Task { handle, task } => {
                    ToolStart::Task { handle: handle.with_server(server), task }
                }
                done => done,
            })
        }))
    }

    /// How far a task is.
    ///
    /// # Errors
    /// [`GroupError::Misuse`] when the handle does not say whose it is and there are several servers; else as of
    /// [`Client::get_task`](crate::Client::get_task).
    pub fn get_task(&self, task: &TaskHandle) -> <R::Mode as Mode>::Reply<DetailedTask, GroupError> {
        self.ask_about(task, GetTask::new(task), Options::new())
    }

    /// Waits for what comes of a task: see [`Client::wait_for_task`](crate::Client::wait_for_task).
    ///
    /// # Errors
    /// As of [`get_task`](Self::get_task), and of that.
    pub fn wait_for_task(
        &self,
        task: &TaskHandle,
        options: Options,
    ) -> <R::Mode as Mode>::Reply<ToolReply, GroupError> {
        self.ask_about(task, WaitForTask::new(task), options)
    }

    /// Answers by hand what a task asks.
    ///
    /// # Errors
    /// As of [`get_task`](Self::get_task).
    pub fn update_task(&self, update: &UpdateTask) -> <R::Mode as Mode>::Reply<(), GroupError> {
        self.ask_about(update.handle(), update.clone(), Options::new())
    }

    /// Asks its server to stop a task.
    ///
    /// # Errors
    /// As of [`get_task`](Self::get_task).
    pub fn cancel_task(&self, task: &TaskHandle) -> <R::Mode as Mode>::Reply<(), GroupError> {
        self.ask_about(task, CancelTask::new(task), Options::new())
    }

    fn ask_about<C>(
        &self,
        task: &TaskHandle,
        call: C,
        options: Options,
    ) -> <R::Mode as Mode>::Reply<C::Reply, GroupError>
    where
        C: Call + Send + 'static,
        C::Reply: Send + 'static,
    {
        let (group, server) = (self.clone(), task.server().map(str::to_owned));
        self.runtime.run(Running::task(async move {
            let server = match server {
                Some(server) => server,
                None => group.sole_server()?,
            };
            let client = group.client(&server)?;
            client.start_call(&call, options).await.map_err(|error| GroupError::call(server, error))
        }))
    }

    fn sole_server(&self) -> Result<String, GroupError> {
        match &*self.members {
            [only] => Ok(only.name.clone()),
            _ => Err(GroupError::Misuse(ApiMisuse::new(
                "the handle of a task does not say which server it is of: `TaskHandle::with_server`",
            ))),
        }
    }
}
