//! A thread that reads, and does what comes of it itself for as long as that is quick.

use std::cell::{Cell, RefCell};
use std::collections::VecDeque;
use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::ptr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::thread;
use std::time::Duration;

use crate::pool::{Pool, Shared};
use crate::runtime::Job;

/// How often is looked whether somebody takes long.
pub(crate) const TICK: Duration = Duration::from_millis(1);

/// Rounds without work after which a lane is looked at no longer.
const IDLE: u8 = 3;

/// So much is kept back at the most, in bytes: what one write takes.
const MOST: usize = 16 << 10;

/// What an answer counts as, however long it is.
const ANSWER: usize = 512;

/// Where one thread at a time leads: it takes input, and then does the jobs that the input has given to the pool, so
/// that a quick one costs no change of threads. Who is at it for longer than a millisecond or two loses the lead:
/// another thread of the pool takes over, and others do the jobs that are left. Then no job waits for another, nor
/// does input for jobs.
pub(crate) struct Lane(Arc<Inner>);

/// Whether a thread still leads at the end of its turn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Lead {
    /// It does, and has said all that it had to say.
    Here,
    /// It does, and has kept something back ([`Lane::keep_back`]).
    Owing,
    /// Another thread has taken over.
    Lost,
}

pub(crate) struct Inner {
    pool: Weak<Shared>,
    take_over: Box<dyn Fn() + Send + Sync>,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    jobs: VecDeque<Job>,
    /// Counts turns: whoever finds another one has lost the lead.
    turn: u64,
    step: Step,
    /// What was kept back and has not been said since, in bytes.
    kept: usize,
    /// Whether the pool's watch looks at this lane, the turn that it saw last, and how often nothing was done.
    watched: bool,
    seen: Option<u64>,
    idle: u8,
}

#[derive(Clone, Copy, Default, PartialEq, Eq)]
enum Step {
    #[default]
    Idle,
    /// Jobs are kept for this thread.
    Input,
    /// It takes long, so jobs go to the pool.
    LongInput,
    Jobs,
    /// They take long, and there is no thread to take over.
    LongJobs,
}

thread_local! {
    /// The lane for which this thread takes input.
    static INPUT: RefCell<Option<Arc<Inner>>> = const { RefCell::new(None) };
    /// The lane whose jobs this thread does, and its turn.
    static JOBS: Cell<(*const Inner, u64)> = const { Cell::new((ptr::null(), 0)) };
    /// How long something is, in bytes, that this thread is about to say in passing.
    static PASSING: Cell<Option<usize>> = const { Cell::new(None) };
}

impl fmt::Debug for Lane {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Lane")
    }
}

impl Lane {
    /// A lane for jobs of this pool. Whoever leads takes input in turns ([`turn`](Self::turn)); `take_over` says what
    /// was kept back, and goes on like that on a thread of the pool, when the one before has lost the lead.
    pub(crate) fn new(pool: &Pool, take_over: impl Fn() + Send + Sync + 'static) -> Self {
        let (pool, take_over) = (Arc::downgrade(pool.shared()), Box::new(take_over));
        Self(Arc::new(Inner { pool, take_over, state: Mutex::default() }))
    }

    /// Takes input, and does the jobs that come of it.
    pub(crate) fn turn(&self, input: impl FnOnce()) -> Lead {
        let turn = self.0.begin();
        let over = Over(INPUT.replace(Some(self.0.clone())));
        input();
        drop(over);
        let before = JOBS.replace((Arc::as_ptr(&self.0), turn));
        let lead = loop {
            match self.0.next(turn) {
                Ok(job) => run(job),
                Err(lead) => break lead,
            }
        };
        JOBS.set(before);
        lead
    }

    /// Whether what this thread has to say may be kept back for what comes of its turn later: an answer for those of
    /// further jobs, and what a job says in passing for its answer. It is to be said when that has ended
    /// ([`Lead::Owing`]), at once otherwise.
    pub(crate) fn keep_back(&self) -> bool {
        let (lane, turn) = JOBS.get();
        if !ptr::eq(lane, Arc::as_ptr(&self.0)) {
            return false;
        }
        let passing = PASSING.get();
        let mut state = self.0.lock();
        if state.turn != turn {
            return false;
        }
        state.kept += passing.unwrap_or(ANSWER);
        let more = passing.is_some() || !state.jobs.is_empty();
        let keep = more && state.step == Step::Jobs && state.kept < MOST;
        if !keep {
            state.kept = 0;
        }
        keep
    }
}

/// Says something of about so many bytes, after which its job has more to say. As long as that is quick, both go out
/// together; whoever takes over says what a slow one has said so far.
pub(crate) fn in_passing(bytes: usize, say: impl FnOnce()) {
    struct Passed(Option<usize>);

    impl Drop for Passed {
        fn drop(&mut self) {
            PASSING.set(self.0);
        }
    }

    let _passed = Passed(PASSING.replace(Some(bytes)));
    say();
}

/// Input is over, also by a panic.
struct Over(Option<Arc<Inner>>);

impl Drop for Over {
    fn drop(&mut self) {
        let lane = INPUT.replace(self.0.take());
        if thread::panicking() {
            lane.iter().for_each(|lane| lane.lock().step = Step::Idle);
        }
    }
}

/// Runs a job. A panic was printed by now; the thread has more to do.
pub(crate) fn run(job: Job) {
    let _ = catch_unwind(AssertUnwindSafe(job));
}

/// Keeps a job for this thread, if it takes input for a lane of this pool; hands it back otherwise.
pub(crate) fn keep(pool: &Arc<Shared>, job: Job) -> Result<(), Job> {
    let lane = INPUT.try_with(|lane| lane.borrow().clone()).ok().flatten();
    let lane = lane.filter(|lane| ptr::eq(lane.pool.as_ptr(), Arc::as_ptr(pool)));
    let Some(lane) = lane else { return Err(job) };
    let mut state = lane.lock();
    if state.step != Step::Input {
        return Err(job);
    }
    if !state.watched {
        if !pool.watch(&lane) {
            return Err(job);
        }
        (state.watched, state.seen, state.idle) = (true, None, 0);
    }
    state.jobs.push_back(job);
    Ok(())
}

impl Inner {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn begin(&self) -> u64 {
        let mut state = self.lock();
        state.turn += 1;
        (state.step, state.kept) = (Step::Input, 0);
        state.turn
    }

    fn next(&self, turn: u64) -> Result<Job, Lead> {
        let mut state = self.lock();
        if state.turn != turn {
            return Err(Lead::Lost);
        }
        let job = state.jobs.pop_front();
        state.step = if job.is_some() { Step::Jobs } else { Step::Idle };
        job.ok_or(if state.kept > 0 { Lead::Owing } else { Lead::Here })
    }

    /// Looks whether it is still the same turn as at the last look; says whether to look again.
    pub(crate) fn look(self: &Arc<Self>, pool: &Arc<Shared>) -> bool {
        let mut state = self.lock();
        let turn = state.turn;
        let same = state.seen.replace(turn) == Some(turn);
        if state.step == Step::Idle && state.jobs.is_empty() {
            state.idle = if same { state.idle + 1 } else { 0 };
            state.watched = state.idle < IDLE;
            return state.watched;
        }
        state.idle = 0;
        if !same {
            return true;
        }
        match state.step {
            Step::Jobs | Step::LongJobs => {
                let lane = self.clone();
                // Without a further thread the lead stays where it is.
                state.step = match pool.start(Box::new(move || (lane.take_over)())) {
                    Ok(()) => {
                        state.turn += 1;
                        Step::Idle
                    }
                    Err(_) => Step::LongJobs,
                };
            }
            Step::Input => state.step = Step::LongInput,
            // Jobs for which there was no thread.
            Step::LongInput | Step::Idle => {}
        }
        let left = Arc::new(Mutex::new(std::mem::take(&mut state.jobs)));
        if !spread(pool, &left) {
            state.jobs = std::mem::take(&mut *of(&left));
        }
        true
    }
}

/// Has other threads do what is left, one more as long as there is more: so quick jobs do not wake as many threads as
/// there are jobs, and slow ones do not wait for each other. `false` when there is no thread to be had.
fn spread(pool: &Arc<Shared>, left: &Arc<Mutex<VecDeque<Job>>>) -> bool {
    if of(left).is_empty() {
        return true;
    }
    let (threads, left) = (pool.clone(), left.clone());
    let started = pool.start(Box::new(move || {
        let mut alone = true;
        loop {
            let Some(job) = of(&left).pop_front() else { return };
            alone = alone && !spread(&threads, &left);
            run(job);
        }
    }));
    started.is_ok()
}

fn of(jobs: &Mutex<VecDeque<Job>>) -> MutexGuard<'_, VecDeque<Job>> {
    jobs.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests;
