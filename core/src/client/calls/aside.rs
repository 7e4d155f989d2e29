//! Calls that nobody waits for, made or kept for the sake of tasks.

use super::{CallId, Calls, Patience, Reply, State};
use crate::client::tasks::TaskHandle;
use crate::error::CallError;
use crate::time::Instant;
use alloc::boxed::Box;
use alloc::vec::Vec;

impl Calls {
    /// Nobody will take this call, or is to be bothered for what it lacks.
    pub(in crate::client) fn set_aside(&mut self, id: CallId) {
        if let Some(entry) = self.entries.get_mut(&id) {
            entry.aside = true;
        }
        self.forget(id);
    }

    pub(in crate::client) fn is_aside(&self, id: CallId) -> bool {
        self.entries.get(&id).is_some_and(|entry| entry.aside)
    }

    /// Whoever made a call waits for it no longer, but its answer has to be heard: another call waits for that in its place,
    /// which is set aside. `None` when there is no answer to come, or no room.
    pub(in crate::client) fn stand_in(
        &mut self,
        now: Instant,
        id: CallId,
        patience: Patience,
    ) -> Option<CallId> {
        let wire = self.wire(id)?;
        self.room(1).ok()?;
        let origin = self.take_origin(id)?;
        let output = self.output(id);
        self.entries.get_mut(&id)?.state = State::Input(Box::default());
        let other = self.send(now, patience, wire);
        self.put_origin(other, origin);
        self.put_output(other, output);
        self.set_aside(other);
        Some(other)
    }

    /// The calls that wait for tasks.
    pub(in crate::client) fn pursuing(&self) -> Vec<CallId> {
        self.entries.iter().filter(|(_, entry)| entry.pursuit.is_some()).map(|(id, _)| *id).collect()
    }

    /// All the time of a call has passed.
    pub(in crate::client) fn spend(&mut self, now: Instant, id: CallId) {
        if let Some(entry) = self.entries.get_mut(&id) {
            entry.cap = now;
        }
    }

    /// A call that has settled is cancelled before anybody took it: if it would hand out a task, here that is instead.
    pub(in crate::client) fn take_handed(&mut self, id: CallId) -> Option<TaskHandle> {
        let State::Settled(outcome) = &mut self.entries.get_mut(&id)?.state else { return None };
        if !matches!(outcome, Ok(Reply::Task(..))) {
            return None;
        }
        match core::mem::replace(outcome, Err(CallError::Cancelled)) {
            Ok(Reply::Task(_, handle)) => Some(*handle),
            _ => None,
        }
    }
}
