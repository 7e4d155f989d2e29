//! The way from a call to the machine that it came from.

use std::sync::Arc;
use std::time::Duration;

use mcp_proto::error::ErrorObject;
use mcp_proto::model::{InputRequest, Json, LoggingMessageNotificationParams};
use mcp_proto::server::{AskError, AskId, CallId, Config, Progress, WriteResult};
use mcp_proto::time::Now;

use super::{CallState, Report, TaskOutlet, Tell};
use crate::deprecated::Deprecated;
use crate::extensions::Extensions;
use crate::runtime::{BoxFuture, Job};
use crate::server::Board;

/// Where the messages of one connection's or exchange's calls go. Input for a finished call is dropped.
pub(crate) trait Outlet: Send + Sync {
    fn respond(&self, call: CallId, result: &dyn WriteResult);
    fn fail(&self, call: CallId, error: &ErrorObject);
    /// The caller lacks scopes that the call turned out to need.
    fn forbid(&self, call: CallId, scopes: Vec<String>);
    fn progress(&self, call: CallId, progress: &Progress);
    fn log(&self, call: CallId, message: &LoggingMessageNotificationParams);
    /// Asks the client on behalf of a call what its handler calls `name`.
    fn ask(
        &self,
        call: CallId,
        name: &str,
        request: &InputRequest,
        timeout: Option<Duration>,
    ) -> Result<AskId, AskError>;
    /// Whether there is a way to ask a legacy client anything.
    fn may_ask(&self) -> bool {
        true
    }
    /// Nobody waits for this answer any more.
    fn retract(&self, ask: AskId);
    /// How the client hears that an elicitation of this call is complete, during the call and after it.
    fn completes_elicitations(&self, call: CallId) -> Tell;
    /// Another run of a call takes the place of the one before. `false` when the call is over.
    fn adopt(&self, state: &Arc<CallState>) -> bool;
    /// Runs something in the background.
    fn spawn(&self, task: BoxFuture<()>);
    /// The bounds and policies of the server.
    fn config(&self) -> &Config;
    /// By the clocks of the runtime.
    fn now(&self) -> Now;
    /// What the application attached to the request, or to the server.
    fn extensions(&self) -> &Extensions;
    /// The response is to end before the call does, where its client can come back.
    fn close_stream(&self, call: CallId, retry: Duration) {
        let _ = (call, retry);
    }
    fn notify(&self, call: CallId, method: &str, params: &Json);
    /// Answers what the machine answers itself.
    fn proceed(&self, call: CallId);
    /// Something for people on this side.
    fn report(&self, report: Report);
    /// A deprecated feature is used; said once.
    fn deprecated(&self, feature: Deprecated);
    /// Runs a job on the pool, or drops it when that has no place.
    fn spawn_blocking(&self, job: Job);
    /// Is ready after a while, by the clock of the runtime.
    fn sleep(&self, duration: Duration) -> BoxFuture<()>;
    /// The call will not be heard of again. `false` when it was over before, as its client has given up on it.
    fn done(&self, call: CallId) -> bool;
    /// The tasks of the server.
    fn tasks(&self) -> &Arc<Board>;
    /// The byte stream that its calls come on, by its number.
    fn connection(&self) -> Option<u64> {
        None
    }
    /// The way of a call that may go on as a task.
    fn as_task(&self) -> Option<&TaskOutlet> {
        None
    }
}
