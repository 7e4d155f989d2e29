//! How many handlers, or checks of tokens, block at one time, however many threads a runtime starts.

use std::collections::VecDeque;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use mcp_proto::limits::Limits;

use crate::runtime::Job;

/// Jobs of one kind that block. A handler may wait for its client, as long as that likes, so only so many run; others
/// wait here, and not where jobs of other kinds or of other servers would wait behind them.
#[derive(Clone)]
pub(crate) struct Jobs(Arc<Mutex<State>>);

struct State {
    waiting: VecDeque<Job>,
    /// Threads that have been asked for.
    running: usize,
    /// Those that have not taken a job yet.
    starting: usize,
    most_running: usize,
    most_waiting: usize,
}

impl Default for Jobs {
    fn default() -> Self {
        Self::new(&Limits::default())
    }
}

impl Jobs {
    pub(crate) fn new(limits: &Limits) -> Self {
        Self(Arc::new(Mutex::new(State {
            waiting: VecDeque::new(),
            running: 0,
            starting: 0,
            most_running: limits.blocking_threads.max(1),
            most_waiting: limits.blocking_jobs,
        })))
    }

    /// Runs a job on a thread that `spawn` starts, as soon as there may be one; says whether there will be. Otherwise
    /// the job is dropped.
    pub(crate) fn run(&self, job: Job, spawn: impl FnOnce(Job) -> Result<(), Job>) -> bool {
        let mut state = self.lock();
        if state.running >= state.most_running {
            if state.waiting.len() >= state.most_waiting() {
                return false;
            }
            state.waiting.push_back(job);
            return true;
        }
        state.running += 1;
        state.starting += 1;
        state.waiting.push_back(job);
        drop(state);
        let mut worker = Worker { jobs: self.clone(), step: Step::Starting };
        if let Err(refused) = spawn(Box::new(move || worker.run())) {
            drop(refused);
            // Other threads may have taken the job by now, or will.
            return self.lock().running > 0;
        }
        true
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    /// A thread that starts is about to take one.
    fn most_waiting(&self) -> usize {
        self.most_waiting + self.starting
    }
}

#[derive(PartialEq, Eq)]
enum Step {
    Starting,
    Running,
    Over,
}

/// A thread that takes one job after the other. One that never begins, since there are no threads or the runtime
/// shuts down, is dropped.
struct Worker {
    jobs: Jobs,
    step: Step,
}

impl Worker {
    fn run(&mut self) {
        while let Some(job) = self.next() {
            // A panic was printed by now; the thread has more to do.
            let _ = catch_unwind(AssertUnwindSafe(job));
        }
    }

    fn next(&mut self) -> Option<Job> {
        let mut state = self.jobs.lock();
        if self.step == Step::Starting {
            self.step = Step::Running;
            state.starting -= 1;
        }
        let job = state.waiting.pop_front();
        if job.is_none() {
            self.step = Step::Over;
            state.running -= 1;
        }
        job
    }
}

impl Drop for Worker {
    fn drop(&mut self) {
        if self.step == Step::Over {
            return;
        }
        let mut state = self.jobs.lock();
        state.running -= 1;
        if self.step == Step::Starting {
            state.starting -= 1;
        }
        // Dropped with no lock held, since whoever waits for them learns of it.
        let mut left = VecDeque::new();
        if state.running == 0 {
            left = std::mem::take(&mut state.waiting);
        } else if state.waiting.len() > state.most_waiting() {
            left.extend(state.waiting.pop_back());
        }
        drop(state);
        drop(left);
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::sync::{Arc, Mutex};

    use mcp_proto::limits::Limits;

    use super::Jobs;
    use crate::runtime::Job;

    /// Threads that run when the test says so.
    #[derive(Default)]
    struct Threads(Mutex<Vec<Job>>);

    impl Threads {
        fn start(&self, job: Job) -> Result<(), Job> {
            self.0.lock().unwrap().push(job);
            Ok(())
        }

        fn run(&self) {
            let all = std::mem::take(&mut *self.0.lock().unwrap());
            all.into_iter().for_each(|thread| thread());
        }
    }

    fn jobs(threads: usize, waiting: usize) -> Jobs {
        let mut limits = Limits::default();
        (limits.blocking_threads, limits.blocking_jobs) = (threads, waiting);
        Jobs::new(&limits)
    }

    fn counting() -> (Arc<AtomicUsize>, impl Fn() -> Job) {
        let count = Arc::new(AtomicUsize::new(0));
        let counted = count.clone();
        let job = move || -> Job {
            let count = counted.clone();
            Box::new(move || {
                count.fetch_add(1, Ordering::SeqCst);
            })
        };
        (count, job)
    }

    /// Exactly so many get a thread and so many wait, whether or not their threads have begun; all of them run,
    /// also behind one that panics, and then there is room again.
    #[test]
    fn so_many_run_and_so_many_wait() {
        let (jobs, threads, (count, job)) = (jobs(2, 3), Threads::default(), counting());
        for _ in 0..2 {
            assert!(jobs.run(Box::new(|| panic!("as asked")), |job| threads.start(job)));
            for _ in 0..4 {
                assert!(jobs.run(job(), |job| threads.start(job)));
            }
            assert!(!jobs.run(job(), |job| threads.start(job)));
            assert_eq!(threads.0.lock().unwrap().len(), 2);
            threads.run();
            assert_eq!(count.swap(0, Ordering::SeqCst), 4);
        }
    }

    /// Where no thread can be had, a job is dropped unless another thread will come to it.
    #[test]
    fn what_finds_no_thread_waits_for_another_or_is_dropped() {
        let (jobs, threads, (count, job)) = (jobs(2, 1), Threads::default(), counting());
        assert!(!jobs.run(job(), Err));
        assert!(jobs.run(job(), |job| threads.start(job)));
        assert!(jobs.run(job(), Err));
        // As many wait as may.
        jobs.run(job(), Err);
        threads.run();
        assert_eq!(count.load(Ordering::SeqCst), 2);
    }

    /// A runtime that drops its threads before they begin takes along what waits for them.
    #[test]
    fn what_waits_for_a_runtime_that_is_gone_is_dropped() {
        let (jobs, threads, (count, job)) = (jobs(1, 1), Threads::default(), counting());
        let held = Arc::new(());
        let holding = held.clone();
        assert!(jobs.run(job(), |job| threads.start(job)));
        assert!(jobs.run(Box::new(move || drop(holding)), |job| threads.start(job)));
        threads.0.lock().unwrap().clear();
        assert_eq!((count.load(Ordering::SeqCst), Arc::strong_count(&held)), (0, 1));
        assert!(jobs.run(job(), |job| threads.start(job)));
        threads.run();
        assert_eq!(count.load(Ordering::SeqCst), 1);
    }
}
