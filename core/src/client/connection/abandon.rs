//! Calls that are given up: by the application, or because their time is over.

use super::Connection;
use crate::client::calls::{CallId, timed_out};
use crate::client::config::CallOptions;
use crate::client::continuation::Unmet;
use crate::client::link;
use crate::client::request;
use crate::error::CallError;
use crate::time::Instant;
use serde_json::value::RawValue;

impl Connection {
    /// Ends a call before its response has come.
    pub(super) fn abandon(&mut self, now: Instant, call: CallId, reason: &str, error: CallError) {
        if self.link.pursues(call) {
            return self.leave_task(now, call, error);
        }
        if let Some(wire) = self.link.calls.wire(call) {
            request::cancelled(&mut self.out, wire, reason);
            self.out.push(b'\n');
        }
        self.settle(now, call, Err(error));
    }

    /// A call that waits for a task is given up, and the task taken back if it was the call's own. What is being asked
    /// about it is no call of the application's, so nobody has to be told that its answer is of no interest (TASK-45).
    fn leave_task(&mut self, now: Instant, call: CallId, error: CallError) {
        if let Some(cancel) = self.link.leave_task(call, error)
            && let Ok(cancelling) = self.set_off(now, &cancel, CallOptions::new(), true)
        {
            self.link.calls.forget(cancelling);
        }
        self.prepared(now);
    }

    /// Whether a result that nobody waits for says that its call goes on as a task: it was cancelled when the server had made
    /// that already, which a cancelled request does not undo, so it is taken back.
    pub(super) fn takes_back_late(&mut self, now: Instant, result: &RawValue) -> bool {
        let Some(cancel) = self.link.late_task(result) else { return false };
        if let Ok(cancelling) = self.start_source(now, &cancel, CallOptions::new()) {
            self.link.calls.forget(cancelling);
        }
        true
    }

    /// Gives up the calls whose time is over.
    pub(super) fn expire(&mut self, now: Instant) {
        while let Some((id, after)) = self.link.calls.expired(now) {
            if self.link.pursues(id) && !self.link.gives_up(now, id) {
                self.settle(now, id, Err(timed_out(after)));
            } else if self.link.calls.is_suspended(id) && !self.link.pursues(id) {
                self.link.give_up(id, Unmet::TimedOut { after });
            } else {
                self.abandon(now, id, &link::timeout_reason(after), timed_out(after));
            }
        }
    }
}
