//! Calls that wait for tasks, given up.

use super::Http;
use super::exchange::{Purpose, Wake};
use crate::client::calls::{CallId, timed_out};
use crate::client::config::CallOptions;
use crate::client::request;
use crate::client::tasks::CancelTask;
use crate::error::{CallError, HttpStatus};
use crate::time::{Duration, Instant, Now};
use alloc::string::String;
use alloc::vec::Vec;

impl Http {
    /// Whoever was signed in has left: calls that wait for tasks end as [`Unfinished::Lost`](crate::client::Unfinished::Lost),
    /// as [`CallError::Unauthorized`] with this reason. The tasks are those of who made them, so nobody else is to ask
    /// about them, or to answer what they ask.
    pub fn leave_tasks(&mut self, now: Now, reason: &str) {
        for call in self.link.calls.pursuing() {
            self.stop_asking(now.mono, call);
            let status = HttpStatus::new(401, self.endpoint.origin());
            let error = CallError::Unauthorized { status, reason: reason.into(), record: String::new() };
            self.settle(now.mono, call, Err(error));
        }
        self.carry(now.mono);
    }

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
    pub(super) fn take_back(&mut self, now: Instant, cancel: &CancelTask) {
        if let Ok(cancelling) = self.set_off(now, cancel, CallOptions::new(), true) {
            self.link.calls.set_aside(cancelling);
        }
    }

    /// A request that is to become a task is given up on its way: its answer is waited for all the same, by a call that
    /// nobody knows, and the task taken back that it names (CAN-18).
    pub(super) fn hear_on(&mut self, now: Instant, call: CallId) {
        let on_its_way = self.flights.get(&call).is_some_and(|flight| flight.at.is_none());
        if !on_its_way
            || self.is_call_held(call)
            || self.link.calls.is_aside(call)
            || !self.link.must_be_heard(call)
        {
            return;
        }
        let patience = self.link.patience(&CallOptions::new());
        let Some(other) = self.link.calls.stand_in(now, call, patience) else { return };
        let Some(flight) = self.flights.remove(&call) else { return };
        if let Some(exchange) = flight.exchange.and_then(|id| self.exchanges.get_mut(&id)) {
            exchange.purpose = match exchange.purpose {
                Purpose::Resume(_) => Purpose::Resume(other),
                _ => Purpose::Call(other),
            };
        }
        if let Some(at) = flight.resume.as_ref().and_then(|resume| resume.at) {
            self.wakes.remove(&(at, Wake::Resume(call)));
            self.wakes.insert((at, Wake::Resume(other)));
        }
        self.flights.insert(other, flight);
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
