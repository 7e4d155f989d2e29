//! Threads that may block. They start when there is work, and go when there has been none for a while.

use std::collections::VecDeque;
use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

use crate::runtime::Job;

/// How long a thread waits for more work.
const LINGER: Duration = Duration::from_secs(10);

/// Threads that may block, for runtimes ([`Runtime::spawn_blocking`](crate::Runtime::spawn_blocking)). A job never waits
/// for another: where all threads are at work there is one more, so whoever gives it jobs bounds them. Clones share the
/// threads, which go at once when nobody can give them work any more.
#[derive(Clone, Default)]
pub struct Pool(Arc<Owner>);

impl fmt::Debug for Pool {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Pool")
    }
}

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
    /// Threads that are about to look for a job.
    idle: usize,
    over: bool,
}

impl Pool {
    /// Runs a job at once, on a thread that has nothing else to do: what another thread is at may take for ever.
    ///
    /// # Errors
    /// The job itself, when the operating system starts no further thread.
    pub fn run(&self, job: Job) -> Result<(), Job> {
        let mut state = self.0.0.lock();
        if state.idle > state.jobs.len() {
            self.0.0.work.notify_one();
        } else {
            let shared = self.0.0.clone();
            let started = thread::Builder::new().name("mcp-pool".into()).spawn(move || shared.work());
            if started.is_err() {
                return Err(job);
            }
            state.idle += 1;
        }
        state.jobs.push_back(job);
        Ok(())
    }
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn work(&self) {
        let mut state = self.lock();
        loop {
            let nothing = |state: &mut State| state.jobs.is_empty() && !state.over;
            let waited = self.work.wait_timeout_while(state, LINGER, nothing);
            state = waited.unwrap_or_else(PoisonError::into_inner).0;
            state.idle -= 1;
            let Some(job) = state.jobs.pop_front() else { return };
            drop(state);
            // A panic was printed by now; the thread has more to do.
            let _ = catch_unwind(AssertUnwindSafe(job));
            state = self.lock();
            state.idle += 1;
        }
    }
}
