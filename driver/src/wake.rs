//! Wakers, without any runtime's channels.

use std::collections::BTreeMap;
use std::fmt;
use std::future::poll_fn;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Poll, Wake, Waker};
use std::thread;
use std::time::Duration;

use crate::clock::Clock;
use crate::reply::thread_waker;

/// A waker that calls a function.
pub fn waker_fn(wake: impl Fn() + Send + Sync + 'static) -> Waker {
    struct Call<F>(F);

    impl<F: Fn() + Send + Sync> Wake for Call<F> {
        fn wake(self: Arc<Self>) {
            (self.0)();
        }

        fn wake_by_ref(self: &Arc<Self>) {
            (self.0)();
        }
    }

    Waker::from(Arc::new(Call(wake)))
}

/// The waker of whoever pumps an endpoint.
#[derive(Debug, Default)]
pub struct WakerSlot(Mutex<Option<Waker>>);

impl WakerSlot {
    /// Remembers a waker in place of the one before.
    pub fn register(&self, waker: &Waker) {
        let mut slot = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        match &mut *slot {
            Some(old) => old.clone_from(waker),
            None => *slot = Some(waker.clone()),
        }
    }

    /// Shows the waker of whoever registered last.
    #[cfg(feature = "http")]
    pub(crate) fn share(&self, show: impl FnOnce(&Waker)) {
        let waker = self.0.lock().unwrap_or_else(PoisonError::into_inner).clone();
        if let Some(waker) = waker {
            show(&waker);
        }
    }

    /// Wakes whoever registered last. Call it with no lock held: waking may run code.
    pub fn wake(&self) {
        let waker = self.0.lock().unwrap_or_else(PoisonError::into_inner).clone();
        if let Some(waker) = waker {
            waker.wake();
        }
    }
}

/// A value that is there once and waited for by one. Clones share it.
pub struct Promise<T>(Arc<(Mutex<Option<T>>, WakerSlot)>);

/// Prints without the value.
impl<T> fmt::Debug for Promise<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Promise")
    }
}

impl<T> Promise<T> {
    /// Gives the value, and wakes whoever waits for it.
    pub fn set(&self, value: T) {
        *self.value() = Some(value);
        self.0.1.wake();
    }

    /// Takes the value, if it is there.
    pub fn poll_take(&self, waker: &Waker) -> Poll<T> {
        self.0.1.register(waker);
        self.value().take().map_or(Poll::Pending, Poll::Ready)
    }

    fn value(&self) -> MutexGuard<'_, Option<T>> {
        self.0.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<T> Default for Promise<T> {
    fn default() -> Self {
        Self(Arc::new((Mutex::new(None), WakerSlot::default())))
    }
}

impl<T> Clone for Promise<T> {
    fn clone(&self) -> Self {
        Self(self.0.clone())
    }
}

/// Something that happens once, and those who wait for it. Each has a place of its own and leaves it again, so that
/// waiting often costs no more than waiting once.
#[derive(Debug)]
pub(crate) struct Once {
    happened: AtomicBool,
    waiting: Mutex<Waiting>,
}

#[derive(Debug)]
struct Waiting {
    next: u64,
    wakers: BTreeMap<u64, Waker>,
}

/// One who waits.
#[derive(Debug, Default)]
pub(crate) struct Place(Option<u64>);

impl Place {
    /// Of the task of a handler, which is never left.
    pub(crate) fn task() -> Self {
        Self(Some(0))
    }

    /// Of the hooks around it.
    pub(crate) fn hooks() -> Self {
        Self(Some(1))
    }
}

impl Default for Once {
    fn default() -> Self {
        let waiting = Waiting { next: 1, wakers: BTreeMap::new() };
        Self { happened: AtomicBool::new(false), waiting: Mutex::new(waiting) }
    }
}

impl Once {
    pub(crate) fn has_happened(&self) -> bool {
        self.happened.load(Ordering::Acquire)
    }

    pub(crate) fn happen(&self) {
        self.happened.store(true, Ordering::Release);
    }

    /// Wakes those who wait. Call it with no lock held.
    pub(crate) fn wake(&self) {
        let wakers = std::mem::take(&mut self.waiting().wakers);
        wakers.into_values().for_each(Waker::wake);
    }

    /// Is ready once it has happened.
    pub(crate) fn poll(&self, place: &mut Place, waker: &Waker) -> Poll<()> {
        if self.has_happened() {
            return Poll::Ready(());
        }
        let mut waiting = self.waiting();
        let place = *place.0.get_or_insert_with(|| {
            waiting.next += 1;
            waiting.next
        });
        waiting
            .wakers
            .entry(place)
            .and_modify(|known| known.clone_from(waker))
            .or_insert_with(|| waker.clone());
        drop(waiting);
        // Between the first look and the registration it found no waker to wake.
        if self.has_happened() { Poll::Ready(()) } else { Poll::Pending }
    }

    /// Waits no longer.
    pub(crate) fn leave(&self, place: &mut Place) {
        if let Some(place) = place.0.take() {
            let waker = self.waiting().wakers.remove(&place);
            drop(waker);
        }
    }

    /// Blocks the thread for a while at the most; says whether it has happened.
    pub(crate) fn block(&self, duration: Duration) -> bool {
        let clock = Clock::start();
        let (waker, mut place) = (thread_waker(), Place::default());
        loop {
            let happened = self.poll(&mut place, &waker).is_ready();
            let left = duration.saturating_sub(clock.now().mono.since_epoch());
            if happened || left.is_zero() {
                self.leave(&mut place);
                return happened;
            }
            thread::park_timeout(left);
        }
    }

    pub(crate) async fn wait(&self) {
        struct Waits<'a>(&'a Once, Place);

        impl Drop for Waits<'_> {
            fn drop(&mut self) {
                self.0.leave(&mut self.1);
            }
        }

        let mut waits = Waits(self, Place::default());
        poll_fn(|cx| waits.0.poll(&mut waits.1, cx.waker())).await;
    }

    fn waiting(&self) -> MutexGuard<'_, Waiting> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use std::future::Future;
    use std::pin::pin;
    use std::task::{Context, Poll};
    use std::time::Duration;

    use super::{Once, Place, waker_fn};

    /// P07: who waits again and again, each time by another waker, leaves nothing behind; who still waits is woken,
    /// by the last one.
    #[test]
    fn nothing_is_left_of_those_who_wait_no_longer() {
        let once = Once::default();
        for _ in 0..10_000 {
            assert!(!once.block(Duration::ZERO));
            let waker = waker_fn(|| {});
            let mut place = Place::default();
            assert_eq!(once.poll(&mut place, &waker), Poll::Pending);
            once.leave(&mut place);
            assert!(pin!(once.wait()).poll(&mut Context::from_waker(&waker)).is_pending());
        }
        assert_eq!(once.waiting().wakers.len(), 0);

        let (tell, told) = std::sync::mpsc::channel();
        let mut waits = pin!(once.wait());
        for turn in 0..3 {
            let tell = tell.clone();
            let waker = waker_fn(move || tell.send(turn).unwrap());
            assert!(waits.as_mut().poll(&mut Context::from_waker(&waker)).is_pending());
        }
        once.happen();
        once.wake();
        assert_eq!(told.try_iter().collect::<Vec<_>>(), [2]);
        assert!(waits.poll(&mut Context::from_waker(&waker_fn(|| {}))).is_ready());
    }
}
