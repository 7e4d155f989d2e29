//! Calls that are given up: by the application, or because their time is over.

use super::Connection;
use crate::client::calls::{CallId, timed_out};
use crate::client::config::CallOptions;
use crate::client::continuation::Unmet;
use crate::client::link;
use crate::client::request;
use crate::client::tasks::CancelTask;
use crate::error::CallError;
use crate::time::Instant;
use alloc::collections::VecDeque;
use serde_json::value::RawValue;

/// The ids of calls that were given up when they might still have become tasks. The oldest gives way.
#[derive(Debug, Default)]
pub(super) struct Abandoned(VecDeque<i64>);

impl Abandoned {
    fn note(&mut self, wire: i64, limit: usize) {
        if self.0.len() >= limit {
            self.0.pop_front();
        }
        self.0.push_back(wire);
    }

    /// Whether this is one, which it is no longer.
    fn take(&mut self, wire: i64) -> bool {
        let at = self.0.iter().position(|abandoned| *abandoned == wire);
        at.is_some_and(|at| self.0.remove(at).is_some())
    }

    /// Those of a process that is gone.
    pub(super) fn clear(&mut self) {
        self.0.clear();
    }
}

impl Connection {
    /// Ends a call before its response has come.
    pub(super) fn abandon(&mut self, now: Instant, call: CallId, reason: &str, error: CallError) {
        if self.link.pursues(call) {
            return self.leave_task(now, call, error);
        }
        if let Some(cancel) = self.link.untaken_task(call) {
            return self.take_back(now, &cancel);
        }
        if let Some(wire) = self.link.may_bring_task(call) {
            self.abandoned.note(wire, self.link.config.limits.in_flight);
        }
        if let Some(wire) = self.link.calls.wire(call).filter(|_| !self.link.must_be_heard(call)) {
            request::cancelled(&mut self.out, wire, reason);
            self.out.push(b'\n');
        }
        self.settle(now, call, Err(error));
    }

    /// A call that waits for a task is given up, and the task taken back if it was the call's own. What is being asked
    /// about it is no call of the application's, so nobody has to be told that its answer is of no interest (TASK-45).
    fn leave_task(&mut self, now: Instant, call: CallId, error: CallError) {
        self.stop_asking(call);
        if let Some(cancel) = self.link.leave_task(call, error) {
            self.take_back(now, &cancel);
        }
        self.prepared(now);
    }

    /// What a task has come to need not be told: a server of 2025-11-25 would hold that request until the task has ended
    /// (CAN-01).
    pub(super) fn stop_asking(&mut self, call: CallId) {
        if let Some(wire) = self.link.awaits_result(call) {
            request::cancelled(&mut self.out, wire, "nobody waits for the task any more");
            self.out.push(b'\n');
        }
    }

    fn take_back(&mut self, now: Instant, cancel: &CancelTask) {
        if let Ok(cancelling) = self.set_off(now, cancel, CallOptions::new(), true) {
            self.link.calls.set_aside(cancelling);
        }
    }

    /// Whether a result that nobody waits for says that its call goes on as a task: it was cancelled when the server had made
    /// that already, which a cancelled request does not undo, so it is taken back. Only what answers such a call, and once:
    /// a server may say anything twice (B20).
    pub(super) fn takes_back_late(
        &mut self,
        now: Instant,
        wire: Option<i64>,
        outcome: Result<&RawValue, ()>,
    ) -> bool {
        if !wire.is_some_and(|wire| self.abandoned.take(wire)) {
            return false;
        }
        let Some(cancel) = outcome.ok().and_then(|result| self.link.late_task(result)) else { return false };
        self.take_back(now, &cancel);
        true
    }

    /// Gives up the calls whose time is over.
    pub(super) fn expire(&mut self, now: Instant) {
        while let Some((id, after)) = self.link.calls.expired(now) {
            if self.link.pursues(id) && !self.link.gives_up(now, id) {
                self.stop_asking(id);
                self.settle(now, id, Err(timed_out(after)));
            } else if self.link.calls.is_suspended(id) && !self.link.pursues(id) {
                self.link.give_up(id, Unmet::TimedOut { after });
            } else {
                self.abandon(now, id, &link::timeout_reason(after), timed_out(after));
            }
        }
    }
}
