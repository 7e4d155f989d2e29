//! The table of calls: from `start` to `take`.

mod aside;
mod outcome;

pub(super) use self::outcome::Reply;
use super::cache::Claim;
use super::definitions::Output;
use super::request::Prepared;
use super::rounds::{Origin, Round};
use super::tasks::Pursuit;
use crate::error::{CallError, Full};
use crate::time::{Duration, Instant};
use alloc::boxed::Box;
use alloc::collections::{BTreeMap, BTreeSet};
use alloc::sync::Arc;
use alloc::vec::Vec;
use core::fmt;

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
    /// The ids that calls first had which wait for a task of 2025-11-25: its progress is reported by them.
    tokens: BTreeMap<i64, CallId>,
    deadlines: BTreeSet<(Instant, CallId)>,
    /// When calls are made again whose server asked nothing.
    rounds: BTreeSet<(Instant, CallId)>,
    /// How many bytes those hold that were not sent yet.
    waiting_bytes: usize,
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
    /// Nobody wants to know how it ends.
    aside: bool,
    state: State,
    /// For what may be made again.
    origin: Option<Box<Origin>>,
    /// For what may be kept.
    claim: Option<Box<Claim>>,
    /// What its result has to look like, by the definition that it went out under.
    output: Option<Arc<Output>>,
    /// The task that it waits for.
    pursuit: Option<Box<Pursuit>>,
}

enum State {
    /// The era is not known yet.
    Waiting(Prepared),
    Sent(i64),
    /// The server wants input first.
    Input(Box<Round>),
    Settled(Result<Reply, CallError>),
}

/// Prints how a call ended, and no result.
impl fmt::Debug for State {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Waiting(prepared) => f.debug_tuple("Waiting").field(prepared).finish(),
            Self::Sent(wire) => f.debug_tuple("Sent").field(wire).finish(),
            Self::Input(round) => f.debug_tuple("Input").field(round).finish(),
            Self::Settled(Ok(result)) => write!(f, "Settled({} bytes)", result.json().get().len()),
            Self::Settled(Err(error)) => f.debug_tuple("Settled").field(error).finish(),
        }
    }
}

/// How a call ended, and what its result has to look like.
pub(super) type Taken = (Result<Reply, CallError>, Option<Arc<Output>>);

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
            tokens: BTreeMap::new(),
            deadlines: BTreeSet::new(),
            rounds: BTreeSet::new(),
            waiting_bytes: 0,
        }
    }

    /// An id that was never on the wire before (RPC-06).
    pub(super) fn next_wire(&mut self) -> i64 {
        self.last_wire += 1;
        self.last_wire
    }

    /// Whether so many more calls fit.
    pub(super) fn room(&self, more: usize) -> Result<(), Full> {
        let fit = self.entries.len().saturating_add(more) <= self.limit;
        if fit { Ok(()) } else { Err(Full::new("in_flight", self.limit)) }
    }

    /// How many bytes those calls hold that were not sent yet.
    pub(super) const fn waiting_bytes(&self) -> usize {
        self.waiting_bytes
    }

    /// A call that waits for the era to be known.
    pub(super) fn wait(&mut self, now: Instant, patience: Patience, prepared: Prepared) -> CallId {
        self.waiting_bytes += prepared.size();
        self.insert(now, patience, State::Waiting(prepared))
    }

    /// A call that is on its way under the id `wire`.
    pub(super) fn send(&mut self, now: Instant, patience: Patience, wire: i64) -> CallId {
        let id = self.insert(now, patience, State::Sent(wire));
        self.wires.insert(wire, id);
        id
    }

    /// A call that needs no answer of the server.
    pub(super) fn answered(&mut self, now: Instant, patience: Patience, reply: Reply) -> CallId {
        let id = self.insert(now, patience, State::Settled(Err(CallError::Cancelled)));
        self.settle(id, Ok(reply));
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
            aside: false,
            state,
            origin: None,
            claim: None,
            output: None,
            pursuit: None,
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
                self.waiting_bytes -= prepared.size();
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

    /// The call that is on its way, if no other one is.
    pub(super) fn only_sent(&self) -> Option<CallId> {
        let mut calls = self.wires.values();
        calls.next().copied().filter(|_| calls.next().is_none())
    }

    /// Whether a call has not settled yet.
    pub(super) fn is_open(&self, id: CallId) -> bool {
        self.entries.get(&id).is_some_and(|entry| entry.deadline.is_some())
    }

    /// Ends a call. Whether somebody waits to be told; false too when it has ended before.
    pub(super) fn settle(&mut self, id: CallId, outcome: Result<Reply, CallError>) -> bool {
        let Some(entry) = self.entries.get_mut(&id) else { return false };
        let Some(deadline) = entry.deadline.take() else { return false };
        self.deadlines.remove(&(deadline, id));
        match &entry.state {
            State::Sent(wire) => drop(self.wires.remove(wire)),
            State::Input(round) => {
                if let Some(at) = round.at {
                    self.rounds.remove(&(at, id));
                }
            }
            State::Waiting(prepared) => self.waiting_bytes -= prepared.size(),
            State::Settled(_) => {}
        }
        entry.origin = None;
        entry.claim = None;
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
        let id = self.by_wire(wire).or_else(|| self.tokens.get(&wire).copied())?;
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

    /// Keeps what is needed to make a call again.
    pub(super) fn put_origin(&mut self, id: CallId, origin: Box<Origin>) {
        if let Some(entry) = self.entries.get_mut(&id) {
            entry.origin = Some(origin);
        }
    }

    /// The result of a call may be kept.
    pub(super) fn put_claim(&mut self, id: CallId, claim: Box<Claim>) {
        if let Some(entry) = self.entries.get_mut(&id) {
            entry.claim = Some(claim);
        }
    }

    pub(super) fn claim(&self, id: CallId) -> Option<&Claim> {
        self.entries.get(&id)?.claim.as_deref()
    }

    pub(super) fn claim_mut(&mut self, id: CallId) -> Option<&mut Claim> {
        self.entries.get_mut(&id)?.claim.as_deref_mut()
    }

    pub(super) fn take_claim(&mut self, id: CallId) -> Option<Box<Claim>> {
        self.entries.get_mut(&id)?.claim.take()
    }

    /// Notes what the result of a call has to look like, as it goes out.
    pub(super) fn put_output(&mut self, id: CallId, output: Option<Arc<Output>>) {
        if let Some(entry) = self.entries.get_mut(&id) {
            entry.output = output;
        }
    }

    pub(super) fn output(&self, id: CallId) -> Option<Arc<Output>> {
        self.entries.get(&id)?.output.clone()
    }

    /// A call waits for a task.
    pub(super) fn put_pursuit(&mut self, id: CallId, pursuit: Pursuit) {
        if let Some(token) = pursuit.token {
            self.tokens.insert(token, id);
        }
        if let Some(entry) = self.entries.get_mut(&id) {
            entry.pursuit = Some(Box::new(pursuit));
        }
    }

    pub(super) fn pursuit(&self, id: CallId) -> Option<&Pursuit> {
        self.entries.get(&id)?.pursuit.as_deref()
    }

    pub(super) fn pursuit_mut(&mut self, id: CallId) -> Option<&mut Pursuit> {
        self.entries.get_mut(&id)?.pursuit.as_deref_mut()
    }

    pub(super) fn take_pursuit(&mut self, id: CallId) -> Option<Pursuit> {
        let pursuit = self.entries.get_mut(&id)?.pursuit.take()?;
        if let Some(token) = pursuit.token {
            self.tokens.remove(&token);
        }
        Some(*pursuit)
    }

    /// Takes what was kept for making a call again, as it will not be.
    pub(super) fn take_origin(&mut self, id: CallId) -> Option<Box<Origin>> {
        self.entries.get_mut(&id)?.origin.take()
    }

    pub(super) fn origin(&self, id: CallId) -> Option<&Origin> {
        self.entries.get(&id)?.origin.as_deref()
    }

    pub(super) fn origin_mut(&mut self, id: CallId) -> Option<&mut Origin> {
        self.entries.get_mut(&id)?.origin.as_deref_mut()
    }

    /// A call waits for input. Until it is made again only its hard cap counts.
    pub(super) fn suspend(&mut self, id: CallId, round: Round) {
        let Some(entry) = self.entries.get_mut(&id) else { return };
        let Some(deadline) = entry.deadline.replace(entry.cap) else { return };
        // What it comes to depends on what will be answered (CACHE-17).
        entry.claim = None;
        self.deadlines.remove(&(deadline, id));
        self.deadlines.insert((entry.cap, id));
        if let Some(at) = round.at {
            self.rounds.insert((at, id));
        }
        if let State::Sent(wire) = core::mem::replace(&mut entry.state, State::Input(Box::new(round))) {
            self.wires.remove(&wire);
        }
    }

    pub(super) fn round_mut(&mut self, id: CallId) -> Option<&mut Round> {
        match &mut self.entries.get_mut(&id)?.state {
            State::Input(round) => Some(round),
            _ => None,
        }
    }

    /// A call that waits is to be made again then.
    pub(super) fn schedule(&mut self, id: CallId, at: Instant) {
        let Some(Entry { state: State::Input(round), .. }) = self.entries.get_mut(&id) else { return };
        if let Some(before) = round.at.replace(at) {
            self.rounds.remove(&(before, id));
        }
        self.rounds.insert((at, id));
    }

    /// The calls that wait for the era to be known, or for another session.
    pub(super) fn waiting(&self) -> impl Iterator<Item = CallId> {
        self.entries.iter().filter(|(_, entry)| matches!(entry.state, State::Waiting(_))).map(|(id, _)| *id)
    }

    /// The calls that wait for input.
    pub(super) fn suspended(&self) -> impl Iterator<Item = CallId> {
        self.entries.iter().filter(|(_, entry)| matches!(entry.state, State::Input(_))).map(|(id, _)| *id)
    }

    /// Whether a call waits for input.
    pub(super) fn is_suspended(&self, id: CallId) -> bool {
        self.entries.get(&id).is_some_and(|entry| matches!(entry.state, State::Input(_)))
    }

    /// The round that a call waits in, and what it is made of. It must be sent or settled next.
    pub(super) fn take_round(&mut self, id: CallId) -> Option<(Round, Box<Origin>)> {
        let entry = self.entries.get_mut(&id)?;
        let State::Input(round) = &mut entry.state else { return None };
        let origin = entry.origin.take()?;
        if let Some(at) = round.at.take() {
            self.rounds.remove(&(at, id));
        }
        let round = core::mem::take(&mut **round);
        Some((round, origin))
    }

    /// A call that waited is on its way again, under the id that is returned. Its time begins anew, within its hard
    /// cap, and so does its progress.
    pub(super) fn resend(&mut self, now: Instant, id: CallId) -> Option<i64> {
        let wire = self.next_wire();
        let entry = self.entries.get_mut(&id)?;
        let deadline = (now + entry.timeout).min(entry.cap);
        let before = entry.deadline.replace(deadline)?;
        self.deadlines.remove(&(before, id));
        self.deadlines.insert((deadline, id));
        entry.progress = None;
        entry.state = State::Sent(wire);
        self.wires.insert(wire, id);
        Some(wire)
    }

    /// The server is asked about the task that a call waits for, under the id that is returned. If the answer `blocks`
    /// until the task has ended, only the hard cap counts.
    pub(super) fn resume(&mut self, now: Instant, id: CallId, blocks: bool) -> Option<i64> {
        if let Some(Entry { state: State::Input(round), .. }) = self.entries.get_mut(&id)
            && let Some(at) = round.at.take()
        {
            self.rounds.remove(&(at, id));
        }
        let progress = self.entries.get(&id)?.progress;
        let wire = self.resend(now, id)?;
        if let Some(entry) = self.entries.get_mut(&id) {
            entry.progress = progress;
        }
        if blocks && let Some(entry) = self.entries.get_mut(&id) {
            let before = entry.deadline.replace(entry.cap)?;
            self.deadlines.remove(&(before, id));
            self.deadlines.insert((entry.cap, id));
        }
        Some(wire)
    }

    /// Whether a call has had all its time, whatever progress it made.
    pub(super) fn is_spent(&self, now: Instant, id: CallId) -> bool {
        self.entries.get(&id).is_some_and(|entry| entry.cap <= now)
    }

    /// A call has so much more time: it waits for something that is not its server's business.
    pub(super) fn delay(&mut self, id: CallId, span: Duration) {
        self.shift(id, |at| at + span);
    }

    /// It was not needed, after all.
    pub(super) fn hasten(&mut self, now: Instant, id: CallId, unused: Duration) {
        self.shift(id, |at| at.saturating_sub(unused).max(now));
    }

    /// The same for all that have not settled.
    pub(super) fn delay_all(&mut self, span: Duration) {
        self.shift_all(|at| at + span);
    }

    pub(super) fn hasten_all(&mut self, now: Instant, unused: Duration) {
        self.shift_all(|at| at.saturating_sub(unused).max(now));
    }

    /// The same for those that were not sent yet.
    pub(super) fn delay_waiting(&mut self, span: Duration) {
        let waiting: Vec<_> = self.waiting().collect();
        waiting.into_iter().for_each(|id| self.delay(id, span));
    }

    pub(super) fn hasten_waiting(&mut self, now: Instant, unused: Duration) {
        let waiting: Vec<_> = self.waiting().collect();
        waiting.into_iter().for_each(|id| self.hasten(now, id, unused));
    }

    fn shift_all(&mut self, to: impl Fn(Instant) -> Instant) {
        for (_, id) in core::mem::take(&mut self.deadlines) {
            self.shift(id, &to);
        }
    }

    fn shift(&mut self, id: CallId, to: impl Fn(Instant) -> Instant) {
        let Some(entry) = self.entries.get_mut(&id) else { return };
        let Some(deadline) = &mut entry.deadline else { return };
        self.deadlines.remove(&(*deadline, id));
        let moved = to(*deadline);
        // What is said of the time that the call had does not count what it waited besides.
        let span = moved.saturating_since(*deadline);
        let back = deadline.saturating_since(moved);
        entry.started = (entry.started + span).saturating_sub(back);
        *deadline = moved;
        entry.cap = to(entry.cap).max(moved);
        self.deadlines.insert((moved, id));
    }

    /// A call that waits for its answer waits for it under another id from now on: the one before, and the new one.
    /// Neither its time nor its progress begins anew: what was reported was reported.
    pub(super) fn rename(&mut self, id: CallId) -> Option<(i64, i64)> {
        let before = self.wire(id)?;
        let wire = self.next_wire();
        self.entries.get_mut(&id)?.state = State::Sent(wire);
        self.wires.remove(&before);
        self.wires.insert(wire, id);
        Some((before, wire))
    }

    /// When a call times out that has not settled.
    pub(super) fn deadline(&self, id: CallId) -> Option<Instant> {
        self.entries.get(&id)?.deadline
    }

    /// How long ago a call began, not counting what it waited for other things than its server.
    pub(super) fn elapsed(&self, now: Instant, id: CallId) -> Duration {
        self.entries.get(&id).map(|entry| now.saturating_since(entry.started)).unwrap_or_default()
    }

    /// When the first call is to be made again though nothing was asked.
    pub(super) fn next_round(&self) -> Option<(Instant, CallId)> {
        self.rounds.first().copied()
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

    /// Takes what a call ended with, and what its result has to look like.
    pub(super) fn take(&mut self, id: CallId) -> Option<Taken> {
        if !matches!(self.entries.get(&id)?.state, State::Settled(_)) {
            return None;
        }
        let Entry { state, output, .. } = self.entries.remove(&id)?;
        match state {
            State::Settled(outcome) => Some((outcome, output)),
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
        self.entries
            .len()
            .max(self.wires.len())
            .max(self.tokens.len())
            .max(self.deadlines.len())
            .max(self.rounds.len())
    }
}

/// The end of a call that ran out of time.
pub(super) fn timed_out(after: Duration) -> CallError {
    CallError::TimedOut { after }
}
