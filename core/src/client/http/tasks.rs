//! Calls that wait for tasks, given up.

use super::Http;
use super::exchange::Purpose;
use crate::client::calls::{CallId, timed_out};
use crate::client::config::CallOptions;
use crate::client::request;
use crate::client::tasks::CancelTask;
use crate::error::CallError;
use crate::time::{Duration, Instant};
use alloc::vec::Vec;

impl Http {
    /// A call that waits for a task is given up: what is being asked about that does not matter, and the task is taken back
    /// if it was the call's own. Closing the response stream would not do that (TASK-45).
    pub(super) fn leave_task(&mut self, now: Instant, call: CallId, error: CallError) {
        self.stop_asking(now, call);
        let cancel = self.link.leave_task(call, error);
        // What a server of 2025-11-25 asked while it was to tell the result.
        self.link.drop_requests_of(call);
        self.drop_answers(now);
        if let Some(cancel) = cancel {
            self.take_back(now, &cancel);
        }
        self.prepared(now);
    }

    /// Takes a task back that nobody waits for: nor does anybody for what comes of that, so nobody is asked to sign in for it.
    fn take_back(&mut self, now: Instant, cancel: &CancelTask) {
        if let Ok(cancelling) = self.set_off(now, cancel, CallOptions::new(), true) {
            self.link.calls.set_aside(cancelling);
        }
    }

    /// What is asked about a task was not answered in time, or the task was waited for long enough.
    pub(super) fn task_is_late(&mut self, now: Instant, call: CallId, after: Duration) {
        if self.link.gives_up(now, call) {
            return self.leave_task(now, call, timed_out(after));
        }
        self.stop_asking(now, call);
        self.settle(now, call, Err(timed_out(after)));
    }

    /// The answer to what is being asked about a task is of no interest any more. A server of 2025-11-25 that is to tell what
    /// the task has come to would hold that request until then, so it is told (CAN-01).
    pub(super) fn stop_asking(&mut self, now: Instant, call: CallId) {
        let held = self.link.awaits_result(call).filter(|_| !self.is_call_held(call));
        let Some(flight) = self.land(call) else { return };
        if let Some(wire) = held.filter(|_| flight.at.is_none() && self.is_open()) {
            let mut body = Vec::new();
            request::cancelled(&mut body, wire, "nobody waits for the task any more");
            self.notify(now, body, Purpose::Notice);
        }
        if let Some(exchange) = flight.exchange {
            self.abort(exchange);
        }
    }
}
