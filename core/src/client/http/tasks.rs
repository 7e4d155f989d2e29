//! Calls that wait for tasks, given up.

use super::Http;
use crate::client::calls::{CallId, timed_out};
use crate::client::config::CallOptions;
use crate::error::CallError;
use crate::time::{Duration, Instant};

impl Http {
    /// A call that waits for a task is given up: what is being asked about that does not matter, and the task is taken back
    /// if it was the call's own. Closing the response stream would not do that (TASK-45).
    pub(super) fn leave_task(&mut self, now: Instant, call: CallId, error: CallError) {
        self.stop_asking(call);
        let cancel = self.link.leave_task(call, error);
        // What a server of 2025-11-25 asked while it was to tell the result.
        self.link.drop_requests_of(call);
        self.drop_answers(now);
        if let Some(cancel) = cancel
            && let Ok(cancelling) = self.set_off(now, &cancel, CallOptions::new(), true)
        {
            self.link.calls.forget(cancelling);
        }
        self.prepared(now);
    }

    /// What is asked about a task was not answered in time, or the task was waited for long enough.
    pub(super) fn task_is_late(&mut self, now: Instant, call: CallId, after: Duration) {
        if self.link.gives_up(now, call) {
            return self.leave_task(now, call, timed_out(after));
        }
        self.stop_asking(call);
        self.settle(now, call, Err(timed_out(after)));
    }

    /// The answer to what is being asked about a task is of no interest any more.
    pub(super) fn stop_asking(&mut self, call: CallId) {
        if let Some(exchange) = self.land(call).and_then(|flight| flight.exchange) {
            self.abort(exchange);
        }
    }
}
