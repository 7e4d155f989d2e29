//! One thread that wakes others when their time has come.

use std::collections::BTreeMap;
use std::future::Future;
use std::pin::Pin;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};
use std::thread;

use mcp_driver::{Clock, Instant};

#[derive(Clone)]
pub(crate) struct Timers(Arc<Shared>);

struct Shared {
    clock: Clock,
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Default)]
struct State {
    wakers: BTreeMap<(Instant, u64), Waker>,
    next: u64,
    running: bool,
}

impl Timers {
    pub(crate) fn new(clock: Clock) -> Self {
        Self(Arc::new(Shared { clock, state: Mutex::default(), changed: Condvar::new() }))
    }

    pub(crate) fn sleep_until(&self, deadline: Instant) -> Sleep {
        let mut state = self.0.lock();
        let key = (deadline, state.next);
        state.next += 1;
        drop(state);
        Sleep { timers: self.clone(), key }
    }
}

/// Is ready once the clock has reached its deadline.
pub(crate) struct Sleep {
    timers: Timers,
    key: (Instant, u64),
}

impl Future for Sleep {
    type Output = ();

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        let shared = &self.timers.0;
        if shared.clock.now().mono >= self.key.0 {
            return Poll::Ready(());
        }
        let mut state = shared.lock();
        state.wakers.insert(self.key, cx.waker().clone());
        let first = state.wakers.first_key_value().is_some_and(|(key, _)| *key == self.key);
        if !state.running {
            let thread = self.timers.0.clone();
            let started = thread::Builder::new().name("mcp-timer".into()).spawn(move || thread.run());
            state.running = started.is_ok();
        } else if first {
            shared.changed.notify_one();
        }
        Poll::Pending
    }
}

impl Drop for Sleep {
    fn drop(&mut self) {
        let mut state = self.timers.0.lock();
        state.wakers.remove(&self.key);
        if state.wakers.is_empty() {
            // Its thread has nothing to wait for.
            self.timers.0.changed.notify_one();
        }
    }
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Runs while there is anybody to wake.
    fn run(&self) {
        let mut state = self.lock();
        while let Some(first) = state.wakers.first_entry() {
            let deadline = first.key().0;
            let now = self.clock.now().mono;
            if now >= deadline {
                let waker = first.remove();
                drop(state);
                waker.wake();
                state = self.lock();
            } else {
                let wait = self.changed.wait_timeout(state, deadline.saturating_since(now));
                state = wait.unwrap_or_else(PoisonError::into_inner).0;
            }
        }
        state.running = false;
    }
}
