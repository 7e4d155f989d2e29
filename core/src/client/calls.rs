//! The table of calls: from `start` to `take`.

use super::request::Prepared;
use crate::error::{CallError, Full};
use crate::model::Json;
use crate::time::{Duration, Instant};
use alloc::collections::{BTreeMap, BTreeSet};

/// A call of one connection. Never used again for another.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct CallId(pub(super) u64);

/// Calls that have not been taken yet, the ids they travel under, and their deadlines.
#[derive(Debug)]
pub(super) struct Calls {
    limit: usize,
    last_call: u64,
    last_wire: i64,
    entries: BTreeMap<CallId, Entry>,
    /// Ids on the wire of calls that wait for their answer.
    wires: BTreeMap<i64, CallId>,
    deadlines: BTreeSet<(Instant, CallId)>,
}

#[derive(Debug)]
struct Entry {
    timeout: Duration,
    started: Instant,
    /// When it times out, as in `deadlines`; `None` once settled.
    deadline: Option<Instant>,
    /// When it times out whatever progress it makes.
    cap: Instant,
    progress: Option<f64>,
    /// Nobody will take it.
    forgotten: bool,
    state: State,
}

#[derive(Debug)]
enum State {
    /// The era is not known yet.
    Waiting(Prepared),
    Sent(i64),
    Settled(Result<Json, CallError>),
}

/// How long a call may wait.
#[derive(Clone, Copy, Debug)]
pub(super) struct Patience {
    pub(super) timeout: Duration,
    pub(super) max: Duration,
}

impl Calls {
    pub(super) const fn new(limit: usize) -> Self {
        Self {
            limit,
            last_call: 0,
            last_wire: 0,
            entries: BTreeMap::new(),
            wires: BTreeMap::new(),
            deadlines: BTreeSet::new(),
        }
    }

    /// An id that was never on the wire before (RPC-06).
    pub(super) fn next_wire(&mut self) -> i64 {
        self.last_wire += 1;
        self.last_wire
    }

    /// Whether another call fits.
    pub(super) fn room(&self) -> Result<(), Full> {
        if self.entries.len() < self.limit { Ok(()) } else { Err(Full::new("in_flight", self.limit)) }
    }

    /// A call that waits for the era to be known.
    pub(super) fn wait(&mut self, now: Instant, patience: Patience, prepared: Prepared) -> CallId {
        self.insert(now, patience, State::Waiting(prepared))
    }

    /// A call that is on its way under the id `wire`.
    pub(super) fn send(&mut self, now: Instant, patience: Patience, wire: i64) -> CallId {
        let id = self.insert(now, patience, State::Sent(wire));
        self.wires.insert(wire, id);
        id
    }

    fn insert(&mut self, now: Instant, patience: Patience, state: State) -> CallId {
        self.last_call += 1;
        let id = CallId(self.last_call);
        let cap = now + patience.max;
        let deadline = (now + patience.timeout).min(cap);
        self.deadlines.insert((deadline, id));
        let entry = Entry {
            timeout: patience.timeout,
            started: now,
            deadline: Some(deadline),
            cap,
            progress: None,
            forgotten: false,
            state,
        };
        self.entries.insert(id, entry);
        id
    }

    /// The oldest call that waits, on its way from now on under the id that comes with it.
    pub(super) fn launch(&mut self) -> Option<(CallId, i64, Prepared)> {
        let waiting = self.entries.iter_mut().find(|(_, entry)| matches!(entry.state, State::Waiting(_)));
        let (&id, entry) = waiting?;
        let wire = self.last_wire + 1;
        match core::mem::replace(&mut entry.state, State::Sent(wire)) {
            State::Waiting(prepared) => {
                self.last_wire = wire;
                self.wires.insert(wire, id);
                Some((id, wire, prepared))
            }
            // `find` looked for the other one.
            state => {
                entry.state = state;
                None
            }
        }
    }

    /// The call that waits for an answer under this id.
    pub(super) fn by_wire(&self, wire: i64) -> Option<CallId> {
        self.wires.get(&wire).copied()
    }

    /// The id that a call waits for an answer under.
    pub(super) fn wire(&self, id: CallId) -> Option<i64> {
        match self.entries.get(&id)?.state {
            State::Sent(wire) => Some(wire),
            _ => None,
        }
    }

    /// Whether a call has not settled yet.
    pub(super) fn is_open(&self, id: CallId) -> bool {
        self.entries.get(&id).is_some_and(|entry| entry.deadline.is_some())
    }

    /// Ends a call. Whether somebody waits to be told; false too when it has ended before.
    pub(super) fn settle(&mut self, id: CallId, outcome: Result<Json, CallError>) -> bool {
        let Some(entry) = self.entries.get_mut(&id) else { return false };
        let Some(deadline) = entry.deadline.take() else { return false };
        self.deadlines.remove(&(deadline, id));
        if let State::Sent(wire) = entry.state {
            self.wires.remove(&wire);
        }
        if entry.forgotten {
            self.entries.remove(&id);
            return false;
        }
        entry.state = State::Settled(outcome);
        true
    }

    /// Progress was reported for a call: its time starts again. Whether the report is news, that is further
    /// than the last one; `None` when there is no such call.
    pub(super) fn progress(&mut self, now: Instant, wire: i64, progress: f64) -> Option<(CallId, bool)> {
        let id = self.by_wire(wire)?;
        let entry = self.entries.get_mut(&id)?;
        if let Some(deadline) = &mut entry.deadline {
            self.deadlines.remove(&(*deadline, id));
            // Never earlier than before: clocks of two sources need not agree.
            *deadline = (now + entry.timeout).min(entry.cap).max(*deadline);
            self.deadlines.insert((*deadline, id));
        }
        let news = progress.is_finite() && entry.progress.is_none_or(|last| progress > last);
        if news {
            entry.progress = Some(progress);
        }
        Some((id, news))
    }

    /// When the first call times out.
    pub(super) fn next_deadline(&self) -> Option<Instant> {
        self.deadlines.first().map(|&(deadline, _)| deadline)
    }

    /// A call whose time is up, and how long it had.
    pub(super) fn expired(&self, now: Instant) -> Option<(CallId, Duration)> {
        let &(deadline, id) = self.deadlines.first()?;
        let started = self.entries.get(&id)?.started;
        (deadline <= now).then(|| (id, deadline.saturating_since(started)))
    }

    /// A call that has not settled.
    pub(super) fn any_open(&self) -> Option<CallId> {
        self.deadlines.first().map(|&(_, id)| id)
    }

    /// Whether a call was never sent.
    pub(super) fn is_waiting(&self, id: CallId) -> bool {
        self.entries.get(&id).is_some_and(|entry| matches!(entry.state, State::Waiting(_)))
    }

    /// Takes what a call ended with.
    pub(super) fn take(&mut self, id: CallId) -> Option<Result<Json, CallError>> {
        if !matches!(self.entries.get(&id)?.state, State::Settled(_)) {
            return None;
        }
        match self.entries.remove(&id)?.state {
            State::Settled(outcome) => Some(outcome),
            _ => None,
        }
    }

    /// Nobody will take this call: once it has ended, nothing is kept of it.
    pub(super) fn forget(&mut self, id: CallId) {
        let Some(entry) = self.entries.get_mut(&id) else { return };
        entry.forgotten = true;
        if entry.deadline.is_none() {
            self.entries.remove(&id);
        }
    }

    /// What is still held of calls, in whichever part of the table.
    pub(super) fn len(&self) -> usize {
        self.entries.len().max(self.wires.len()).max(self.deadlines.len())
    }
}

/// The end of a call that ran out of time.
pub(super) fn timed_out(after: Duration) -> CallError {
    CallError::TimedOut { after }
}
