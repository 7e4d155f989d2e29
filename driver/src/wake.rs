//! Wakers, without any runtime's channels.

use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Poll, Wake, Waker};

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
