//! Threads that may block. They start when there is work, and go when there has been none for a while.

use std::collections::VecDeque;
use std::fmt;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError, Weak};
use std::thread;
use std::time::Duration;

use crate::lane::{self, Inner as Lane, TICK};
use crate::runtime::Job;

/// How long a thread waits for more work.
const LINGER: Duration = Duration::from_secs(10);

/// Threads that may block, for runtimes ([`Runtime::spawn_blocking`](crate::Runtime::spawn_blocking)). A job never waits
/// for another, but for a quick one ([`drive_blocking`](crate::drive_blocking)): where all threads are at work there is
/// one more, so whoever gives it jobs bounds them. Clones share the threads, which go at once when nobody can give them
/// work any more.
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
pub(crate) struct Shared {
    state: Mutex<State>,
    work: Condvar,
    watch: Mutex<Watch>,
    /// Nobody notifies it.
    tick: Condvar,
}

/// Lanes in which jobs are done, and whether a thread looks at them: only while there are any.
#[derive(Default)]
struct Watch {
    lanes: Vec<Weak<Lane>>,
    running: bool,
}

#[derive(Default)]
struct State {
    jobs: VecDeque<Job>,
    /// Threads that are about to look for a job.
    idle: usize,
    over: bool,
}

impl Pool {
    /// Runs a job at once, on a thread that has nothing else to do: what another thread is at may take for ever. From
    /// what a stream that blocks has brought, it runs on this thread when that was taken, or else soon on another.
    ///
    /// # Errors
    /// The job itself, when the operating system starts no further thread.
    pub fn run(&self, job: Job) -> Result<(), Job> {
        lane::keep(&self.0.0, job).or_else(|job| self.0.0.start(job))
    }

    /// Without a thread that looks at its lanes.
    #[cfg(test)]
    pub(crate) fn unwatched() -> Self {
        let pool = Self::default();
        pool.0.0.watching().running = true;
        pool
    }

    pub(crate) fn shared(&self) -> &Arc<Shared> {
        &self.0.0
    }
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Runs a job on a thread that has nothing else to do.
    pub(crate) fn start(self: &Arc<Self>, job: Job) -> Result<(), Job> {
        let mut state = self.lock();
        if state.idle > state.jobs.len() {
            self.work.notify_one();
        } else {
            let shared = self.clone();
            let started = thread::Builder::new().name("mcp-pool".into()).spawn(move || shared.work());
            if started.is_err() {
                return Err(job);
            }
            state.idle += 1;
        }
        state.jobs.push_back(job);
        Ok(())
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
            lane::run(job);
            state = self.lock();
            state.idle += 1;
        }
    }

    /// Has a lane looked at from now on; `false` when there is no thread for it.
    pub(crate) fn watch(self: &Arc<Self>, lane: &Arc<Lane>) -> bool {
        let mut watch = self.watching();
        if !watch.running {
            let shared = self.clone();
            watch.running = self.start(Box::new(move || shared.keep_watch())).is_ok();
        }
        if watch.running {
            watch.lanes.push(Arc::downgrade(lane));
        }
        watch.running
    }

    fn keep_watch(self: &Arc<Self>) {
        loop {
            drop(self.tick.wait_timeout(self.watching(), TICK));
            self.look();
            let mut watch = self.watching();
            if watch.lanes.is_empty() {
                watch.running = false;
                return;
            }
        }
    }

    /// Looks at each lane once.
    pub(crate) fn look(self: &Arc<Self>) {
        // Not while others wait for the list, who hold their lanes.
        let mut lanes = std::mem::take(&mut self.watching().lanes);
        lanes.retain(|lane| lane.upgrade().is_some_and(|lane| lane.look(self)));
        self.watching().lanes.append(&mut lanes);
    }

    #[cfg(test)]
    pub(crate) fn looked_at(&self) -> usize {
        self.watching().lanes.len()
    }

    fn watching(&self) -> MutexGuard<'_, Watch> {
        self.watch.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
