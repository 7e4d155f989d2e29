//! What a client knows, and is told besides calls.

use super::{Http, State};
use crate::client::ServerDetails;
use crate::model::tools::Tool;
use crate::time::Now;
use alloc::string::String;
use alloc::sync::Arc;

impl Http {
    /// Makes a tool known without asking the server, so that its first call has the headers that its
    /// definition demands (HDR-52) and its result is checked. A later `tools/list` overrides it. The error says what is
    /// wrong with its `x-mcp-header` annotations.
    pub fn learn_tool(&mut self, tool: &Tool) -> Result<(), String> {
        self.link.learn(tool)
    }

    /// Whether [`poll_output`](Self::poll_output) would give something: `take` may have noticed something, too.
    pub fn has_output(&self) -> bool {
        !self.link.events.is_empty()
    }

    /// What is known about the server, once the era is.
    pub fn details(&self) -> Option<&Arc<ServerDetails>> {
        self.link.details.as_ref()
    }

    /// Whether it is over. There may still be events to poll and calls to take.
    pub fn is_closed(&self) -> bool {
        matches!(self.state, State::Closed)
    }

    /// Calls that have not been taken or forgotten.
    pub fn calls(&self) -> usize {
        self.link.calls.len()
    }

    /// Exchanges that have not ended.
    pub fn exchanges(&self) -> usize {
        self.exchanges.len()
    }

    /// Whether what the server said of itself is too old to go by, or of a session that is gone: a call that it rules out
    /// waits until the server has introduced itself again, and is judged then.
    pub fn is_outdated(&self, now: Now) -> bool {
        self.link.is_outdated(now.mono)
    }
}
