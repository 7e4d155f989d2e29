//! Calls that go on as tasks: the extension `io.modelcontextprotocol/tasks` of 2026-07-28, and the experimental tasks of
//! 2025-11-25.
//!
//! A call whose server answers that it goes on as a task waits for that as for anything else: it is polled, what it asks
//! is answered, and the call ends with its outcome. [`CallToolAsTask`] hands the task out instead, as a [`TaskHandle`].
//!
//! <https://modelcontextprotocol.io/extensions/tasks/overview>,
//! <https://modelcontextprotocol.io/specification/2025-11-25/basic/utilities/tasks>

mod augment;
mod calls;
mod follow;
mod handle;
mod pursuit;

pub use calls::{CallToolAsTask, CancelTask, GetTask, TaskResult, UpdateTask, WaitForTask};
pub use handle::{TaskHandle, TaskRole, ToolStart, Unfinished};

pub(super) use augment::Role;
pub(super) use pursuit::Pursuit;
