//! A bounded pool of threads that may block. Threads start when there is work, and go when there is none.

use std::collections::VecDeque;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

use mcp_driver::{Job, Limits};

/// How long a thread waits for more work.
const LINGER: Duration = Duration::from_secs(10);

/// Threads go at once when nobody can give them work any more.
#[derive(Clone, Default)]
pub(crate) struct Pool(Arc<Owner>);

#[derive(Default)]
struct Owner(Arc<Shared>);

impl Drop for Owner {
    fn drop(&mut self) {
        self.0.lock().over = true;
        self.0.work.notify_all();
    }
}

#[derive(Default)]
struct Shared {
    state: Mutex<State>,
    work: Condvar,
}

#[derive(Default)]
struct State {
    jobs: VecDeque<Job>,
    threads: usize,
    idle: usize,
    over: bool,
}

impl Pool {
    /// Runs a job soon, or hands it back when too many wait already.
    pub(crate) fn run(&self, job: Job, limits: &Limits) -> Result<(), Job> {
        let mut state = self.0.0.lock();
        if state.jobs.len() >= limits.blocking_jobs {
            return Err(job);
        }
        state.jobs.push_back(job);
        if state.idle >= state.jobs.len() {
            drop(state);
            self.0.0.work.notify_one();
        } else if state.threads < limits.blocking_threads.max(1) {
            state.threads += 1;
            drop(state);
            self.grow();
        }
        Ok(())
    }

    fn grow(&self) {
        let shared = self.0.0.clone();
        let started = thread::Builder::new().name("mcp-pool".into()).spawn(move || shared.work());
        if started.is_err() {
            // Out of threads: the job stays queued for those that there are.
            self.0.0.lock().threads -= 1;
        }
    }
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn work(&self) {
        let mut state = self.lock();
        loop {
            if let Some(job) = state.jobs.pop_front() {
                drop(state);
                // A panic was printed by now; the thread has more to do.
                let _ = catch_unwind(AssertUnwindSafe(job));
                state = self.lock();
                continue;
            }
            state.idle += 1;
            let nothing = |state: &mut State| state.jobs.is_empty() && !state.over;
            let waited = self.work.wait_timeout_while(state, LINGER, nothing);
            let timeout;
            (state, timeout) = waited.unwrap_or_else(PoisonError::into_inner);
            state.idle -= 1;
            if (timeout.timed_out() || state.over) && state.jobs.is_empty() {
                state.threads -= 1;
                return;
            }
        }
    }
}
