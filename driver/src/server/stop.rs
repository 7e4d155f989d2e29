//! Stopping: what is still under way, how long it may go on, and who is told.

use std::collections::BTreeMap;
use std::fmt;
use std::future::poll_fn;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::task::{Poll, Waker};
use std::time::Duration;

use mcp_proto::time::Instant;

use crate::runtime::{BoxFuture, Runtime};
use crate::wake::WakerSlot;

/// Ends a server that listens.
#[derive(Clone)]
pub struct Stop(Arc<StopState>);

impl Stop {
    pub(super) fn new(state: &Arc<StopState>) -> Self {
        Self(state.clone())
    }

    /// Stops accepting connections, closes those that are idle, ends streams on which only others speak, and
    /// lets requests under way finish for [`Limits::shutdown`](crate::Limits::shutdown), also those of legacy clients
    /// that have left. What then still runs is cancelled and answered with an error, and serving is over. May be called
    /// repeatedly.
    pub fn stop(&self) {
        self.0.stop(self.0.patience);
    }

    /// The same, but waits for so long. May be called after [`stop`](Self::stop), to wait less.
    pub fn drain(&self, limit: Duration) {
        self.0.stop(limit);
    }
}

impl fmt::Debug for Stop {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Stop").field("stopped", &self.0.is_stopped()).finish()
    }
}

/// A server that is dropped while it serves is stopped.
pub(super) struct StopOnDrop(pub(super) Arc<StopState>);

impl Drop for StopOnDrop {
    fn drop(&mut self) {
        self.0.stop(self.0.patience);
    }
}

/// How long a peer has to take the last answers.
pub(super) const LAST_WORDS: Duration = Duration::from_secs(1);

/// The connections of a server, and whether they are to end.
pub(super) struct StopState {
    now: Box<dyn Fn() -> Instant + Send + Sync>,
    patience: Duration,
    /// When what still runs is given up, once the server is stopped.
    until: Mutex<Option<Instant>>,
    stopped: AtomicBool,
    waker: WakerSlot,
    next: AtomicU64,
    connections: Mutex<BTreeMap<u64, Weak<dyn Shutdown>>>,
}

/// A connection that is open. However it ends, also with its runtime, it is counted out.
pub(super) struct Presence {
    stop: Arc<StopState>,
    key: u64,
}

impl Drop for Presence {
    fn drop(&mut self) {
        self.stop.connections().remove(&self.key);
        self.stop.waker.wake();
    }
}

/// Something that can be asked to finish.
pub(super) trait Shutdown: Send + Sync {
    /// Finishes what has begun, and nothing else.
    fn shutdown(&self);
    /// Answers what is not finished.
    fn give_up(&self);
    /// Ends.
    fn cut(&self);
}

impl StopState {
    pub(super) fn new(now: impl Fn() -> Instant + Send + Sync + 'static, patience: Duration) -> Self {
        Self {
            now: Box::new(now),
            patience,
            until: Mutex::default(),
            stopped: AtomicBool::new(false),
            waker: WakerSlot::default(),
            next: AtomicU64::new(0),
            connections: Mutex::default(),
        }
    }

    pub(super) fn is_stopped(&self) -> bool {
        self.stopped.load(Ordering::SeqCst)
    }

    /// How many connections are open.
    pub(super) fn open(&self) -> usize {
        self.connections().len()
    }

    /// Asks for a wake-up when a connection ends, and when the server is to stop.
    pub(super) fn register(&self, waker: &Waker) {
        self.waker.register(waker);
    }

    fn stop(&self, limit: Duration) {
        let until = (self.now)() + limit;
        {
            let mut known = self.until.lock().unwrap_or_else(PoisonError::into_inner);
            *known = Some(known.map_or(until, |known| known.min(until)));
        }
        self.stopped.store(true, Ordering::SeqCst);
        self.tell(|connection| connection.shutdown());
        self.waker.wake();
    }

    /// Counts a connection in, for as long as what this returns is kept.
    pub(super) fn enter(self: &Arc<Self>, connection: &Arc<impl Shutdown + 'static>) -> Presence {
        let shutdown: Arc<dyn Shutdown> = connection.clone();
        let key = self.next.fetch_add(1, Ordering::Relaxed);
        self.connections().insert(key, Arc::downgrade(&shutdown));
        if self.is_stopped() {
            // It was accepted while the others were told.
            connection.shutdown();
        }
        Presence { stop: self.clone(), key }
    }

    /// Waits until all connections have ended, as long as it was said to, and sees to it that they do after
    /// that.
    pub(super) async fn finish<R: Runtime>(&self, runtime: &R, remaining: &dyn Remaining) {
        let until = || *self.until.lock().unwrap_or_else(PoisonError::into_inner);
        let until = || until().unwrap_or_else(|| (self.now)());
        let over = |waker: &Waker| self.are_gone(waker) && remaining.are_over(waker);
        if by(runtime, until, over).await {
            return;
        }
        self.tell(|connection| connection.give_up());
        remaining.give_up();
        let last = runtime.now().mono + LAST_WORDS;
        if by(runtime, || last, |waker| self.are_gone(waker)).await {
            return;
        }
        self.tell(|connection| connection.cut());
        // A thread that sits in a write hears of it when that ends, which is not waited for.
        by(runtime, || last + LAST_WORDS, |waker| self.are_gone(waker)).await;
    }

    fn are_gone(&self, waker: &Waker) -> bool {
        self.waker.register(waker);
        self.connections().is_empty()
    }

    /// Tells all, with no lock held.
    fn tell(&self, tell: impl Fn(&Arc<dyn Shutdown>)) {
        let connections: Vec<_> = self.connections().values().filter_map(Weak::upgrade).collect();
        connections.iter().for_each(tell);
    }

    fn connections(&self) -> MutexGuard<'_, BTreeMap<u64, Weak<dyn Shutdown>>> {
        self.connections.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// What is under way besides connections.
pub(super) trait Remaining: Send + Sync {
    /// Whether nothing is; otherwise `waker` is woken when that may have changed.
    fn are_over(&self, waker: &Waker) -> bool;
    /// Nobody waits for it any longer.
    fn give_up(&self);
}

/// So many at one time.
pub(super) struct Bounded {
    count: AtomicUsize,
    most: usize,
}

impl Bounded {
    pub(super) fn new(most: usize) -> Self {
        Self { count: AtomicUsize::new(0), most }
    }

    /// A place for whom `has_place` is about, if there is room; one that there is already counts once. The place is taken
    /// before that is noted, so that whoever gives it back meanwhile gives back what was taken.
    pub(super) fn enter(&self, has_place: &AtomicBool) -> bool {
        let more = |count: usize| (count < self.most).then_some(count + 1);
        if has_place.load(Ordering::SeqCst) {
            return true;
        }
        if self.count.fetch_update(Ordering::SeqCst, Ordering::SeqCst, more).is_err() {
            return has_place.load(Ordering::SeqCst);
        }
        if has_place.swap(true, Ordering::SeqCst) {
            self.count.fetch_sub(1, Ordering::SeqCst);
        }
        true
    }

    /// Gives the place back, if there is one.
    pub(super) fn leave(&self, has_place: &AtomicBool) {
        if has_place.swap(false, Ordering::SeqCst) {
            self.count.fetch_sub(1, Ordering::SeqCst);
        }
    }
}

/// How many exchanges are under way, and whether more may come.
#[derive(Default)]
pub(super) struct Open {
    count: AtomicUsize,
    draining: AtomicBool,
    /// Whether anybody waits for their end.
    awaited: AtomicBool,
    waker: WakerSlot,
}

impl Open {
    /// One more. Whether it may be served.
    pub(super) fn enter(&self) -> bool {
        self.count.fetch_add(1, Ordering::SeqCst);
        !self.is_draining()
    }

    pub(super) fn leave(&self) {
        self.count.fetch_sub(1, Ordering::SeqCst);
        if self.awaited.load(Ordering::SeqCst) {
            self.waker.wake();
        }
    }

    pub(super) fn drain(&self) {
        self.draining.store(true, Ordering::SeqCst);
    }

    pub(super) fn is_draining(&self) -> bool {
        self.draining.load(Ordering::SeqCst)
    }

    pub(super) async fn is_empty_by<R: Runtime>(&self, runtime: &R, moment: Instant) -> bool {
        by(runtime, || moment, |waker| self.is_empty(waker)).await
    }

    /// Whether none is under way; otherwise `waker` is woken when one less is.
    pub(super) fn is_empty(&self, waker: &Waker) -> bool {
        self.waker.register(waker);
        self.awaited.store(true, Ordering::SeqCst);
        self.count.load(Ordering::SeqCst) == 0
    }
}

/// Waits for something, at the most until a moment that may change; says whether it has come.
async fn by<R: Runtime>(runtime: &R, moment: impl Fn() -> Instant, come: impl Fn(&Waker) -> bool) -> bool {
    let mut timer: Option<(Instant, BoxFuture<()>)> = None;
    poll_fn(|cx| {
        if come(cx.waker()) {
            return Poll::Ready(true);
        }
        let moment = moment();
        let current = timer.take().filter(|(at, _)| *at == moment);
        let (_, sleep) = timer.insert(current.unwrap_or_else(|| (moment, runtime.sleep_until(moment))));
        sleep.as_mut().poll(cx).map(|()| false)
    })
    .await
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `Limits::unattended`, `Limits::listens`: whoever finds out twice counts once, and gives back only what was taken.
    #[test]
    fn a_place_is_taken_and_given_back_once() {
        let places = Bounded::new(1);
        let (first, second) = (AtomicBool::new(false), AtomicBool::new(false));
        places.leave(&second);
        for _ in 0..2 {
            assert!(places.enter(&first));
            assert!(!places.enter(&second));
        }
        for _ in 0..2 {
            places.leave(&second);
            places.leave(&first);
        }
        assert!(places.enter(&second));
        assert_eq!(places.count.into_inner(), 1);
    }

    /// The same from many threads: no place is lost, and none comes of nothing.
    #[test]
    fn places_are_counted_whoever_comes_at_once() {
        let (places, has_place) = (Bounded::new(1_000), AtomicBool::new(false));
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    for _ in 0..10_000 {
                        places.enter(&has_place);
                        places.leave(&has_place);
                    }
                });
            }
        });
        places.leave(&has_place);
        assert_eq!(places.count.into_inner(), 0);
    }
}
