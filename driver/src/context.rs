//! What a handler knows about the call it serves.

mod ask;
mod asking;
mod call;
mod conclude;
mod elicitation;
mod extend;
mod form;
mod input;
mod journal;
mod outlet;
mod report;
mod request;
mod responder;
mod step;
mod stream;
mod task;
mod task_outlet;

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use mcp_proto::dialect::{Era, Revision};
use mcp_proto::model::{Json, LoggingLevel, LoggingMessageNotificationParams, RequestMeta};
use mcp_proto::schema::Mismatch;
use mcp_proto::server::{Call, CallId, ClientDetails, Progress, Target};
use serde::Serialize;

use crate::deprecated::Deprecated;
use crate::handler::label;
use crate::lane;

pub use ask::{Ask, Asks, Leave, Together, Unanswered};
pub use asking::Asking;
pub(crate) use call::CallState;
pub use elicitation::ElicitationHandle;
pub(crate) use elicitation::Tell;
pub use input::InputRequired;
pub(crate) use outlet::Outlet;
pub use report::Report;
pub(crate) use responder::{Responder, internal};
pub use step::{ByFuture, ByResult, Step, StepWork};
pub use task::{ContinueAsTask, NotContinued};
pub(crate) use task_outlet::{TaskOutlet, owner};

/// The request that a handler is serving.
///
/// Clones speak for the same request. Everything is allowed at any time: once the request is answered or
/// cancelled, progress and logs go nowhere.
#[derive(Clone)]
pub struct Context {
    shared: Arc<CallState>,
}

impl Context {
    pub(crate) fn new(shared: Arc<CallState>) -> Self {
        Self { shared }
    }

    pub(crate) fn state(&self) -> Arc<CallState> {
        self.shared.clone()
    }

    pub(crate) fn call(&self) -> &Call {
        &self.shared.call
    }

    /// Reports progress: how far, of how much if that is known, and a word on it. Sent at once, on the
    /// stream that the answer will come on, if the client asked for progress; of a handler that blocks and
    /// is done within a millisecond or two, together with the answer. `progress` must grow with every
    /// report; one that does not is dropped. Of a [task](Self::continue_as_task), the word becomes its status
    /// message, and nothing is sent (TASK-53).
    ///
    /// <https://modelcontextprotocol.io/specification/2026-07-28/basic/patterns/progress>
    pub fn progress(&self, progress: impl Into<Progress>) {
        let progress = progress.into();
        let words = progress.message.as_ref().map_or(0, String::len);
        self.tell(words, |outlet, call| outlet.progress(call, &progress));
    }

    /// Sends a log message, if the client asked for logs of this level: in the modern era with the request,
    /// in the legacy one for the session.
    ///
    /// Deprecated by revision 2026-07-28 in favour of standard error and OpenTelemetry; it still works.
    /// Logs must not hold secrets nor what is private (LOG-13), and who may read them is for whoever gets them to
    /// see to (LOG-14).
    ///
    /// <https://modelcontextprotocol.io/specification/2026-07-28/server/utilities/logging>
    pub fn log(&self, level: LoggingLevel, data: impl Serialize) {
        if !self.shared.call.wants_log(level) {
            return;
        }
        match Json::new(&data) {
            Ok(data) => {
                self.shared.outlet.deprecated(Deprecated::Logging);
                let bytes = data.get().len();
                let message = LoggingMessageNotificationParams::new(level, data);
                self.tell(bytes, |outlet, call| outlet.log(call, &message));
            }
            Err(error) => self.shared.report(format!("log data cannot be written as JSON: {error}")),
        }
    }

    /// Sends a notification with so many bytes in it, which may wait for what a quick handler says next.
    fn tell(&self, bytes: usize, tell: impl FnOnce(&dyn Outlet, CallId)) {
        /// What is around them.
        const ENVELOPE: usize = 100;
        lane::in_passing(ENVELOPE + bytes, || tell(self.shared.outlet(), self.shared.id));
    }

    /// Whether the client gave up on the request. A blocking handler looks at this now and then; an async
    /// one is dropped at its next await.
    pub fn is_cancelled(&self) -> bool {
        self.shared.is_cancelled()
    }

    /// Is ready once the client has given up on the request.
    pub async fn cancelled(&self) {
        self.shared.cancelled().wait().await;
    }

    /// Waits for a while, whichever runtime that is on. For async handlers: one whose client gives up on the
    /// request meanwhile is dropped.
    pub async fn sleep(&self, duration: Duration) {
        self.shared.outlet.sleep(duration).await;
    }

    /// Blocks the thread for a while, or until the client gives up on the request; says whether it did. For
    /// blocking handlers.
    pub fn wait(&self, duration: Duration) -> bool {
        self.shared.cancelled().block(duration)
    }

    /// The revision that the request is served under.
    pub fn revision(&self) -> Revision {
        self.shared.call.revision()
    }

    /// The era of that revision.
    pub fn era(&self) -> Era {
        self.shared.call.era()
    }

    /// The request's `_meta`.
    pub fn meta(&self) -> RequestMeta<'_> {
        self.shared.call.meta()
    }

    /// Who the client says it is, and what it can do: by this very request in the modern era, by the
    /// handshake in the legacy one. Claims, not to be decided on.
    pub fn client(&self) -> Arc<ClientDetails> {
        self.shared.call.client()
    }

    /// What was asked for, with its definition.
    pub fn target(&self) -> &Target {
        self.shared.target()
    }

    pub(crate) fn arguments(&self) -> &str {
        self.shared.call.arguments()
    }

    pub(crate) fn check_arguments(&self) -> Result<(), Mismatch> {
        self.shared.call.check_arguments()
    }

    pub(crate) fn missing_arguments(&self) -> Vec<String> {
        self.shared.call.missing_arguments()
    }
}

impl fmt::Debug for Context {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Context")
            .field("serves", &label(self.target()))
            .field("revision", &self.revision())
            .finish_non_exhaustive()
    }
}
