//! What carries changes from whoever makes them to the servers whose clients hear of them.

use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

use mcp_proto::server::Change;

/// Hears of changes, until it returns `false`.
pub type ChangeListener = Box<dyn Fn(&Change) -> bool + Send + Sync>;

/// Carries changes between those who publish them and the servers that tell their clients. The default,
/// [`LocalBus`], does so within the process; one over a message broker lets every replica of a server tell its
/// clients what happened at one of them.
///
/// A change that is published reaches each listener once, the publisher's own included. Order does not matter, as
/// a change says only that something is different now.
pub trait Bus: Send + Sync {
    /// Tells everybody who listens.
    fn publish(&self, change: &Change);

    /// Tells `listener` of whatever is published from now on. It neither blocks nor calls the bus. Once it has
    /// returned `false` it is of no use any more, and may be dropped.
    fn subscribe(&self, listener: ChangeListener);
}

/// The bus within one process.
#[derive(Default)]
pub struct LocalBus(Mutex<Vec<Arc<ChangeListener>>>);

impl LocalBus {
    /// A bus on which nobody listens.
    pub fn new() -> Self {
        Self::default()
    }

    fn listeners(&self) -> std::sync::MutexGuard<'_, Vec<Arc<ChangeListener>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Bus for LocalBus {
    fn publish(&self, change: &Change) {
        // Listeners run with no lock held, so that one may subscribe another.
        let listeners = self.listeners().clone();
        let gone: Vec<_> = listeners.into_iter().filter(|listener| !listener(change)).collect();
        if !gone.is_empty() {
            self.listeners().retain(|listener| !gone.iter().any(|gone| Arc::ptr_eq(gone, listener)));
        }
    }

    fn subscribe(&self, listener: ChangeListener) {
        self.listeners().push(Arc::new(listener));
    }
}

/// Several servers of a process may share one.
impl<B: Bus + ?Sized> Bus for Arc<B> {
    fn publish(&self, change: &Change) {
        (**self).publish(change);
    }

    fn subscribe(&self, listener: ChangeListener) {
        (**self).subscribe(listener);
    }
}

impl fmt::Debug for LocalBus {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LocalBus").field("listeners", &self.listeners().len()).finish()
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::*;

    /// Each listener hears of a change once, until it wants no more; then nothing of it is left.
    #[test]
    fn everybody_hears_once_until_he_wants_no_more() {
        let (bus, heard) = (LocalBus::new(), Arc::new(AtomicUsize::new(0)));
        for most in [1, 2, 9] {
            let (heard, own) = (heard.clone(), AtomicUsize::new(0));
            bus.subscribe(Box::new(move |change| {
                assert_eq!(change, &Change::Tools);
                heard.fetch_add(1, Ordering::SeqCst);
                own.fetch_add(1, Ordering::SeqCst) + 1 < most
            }));
        }
        let counts = [3, 5, 6].map(|expected| {
            bus.publish(&Change::Tools);
            (heard.load(Ordering::SeqCst), expected)
        });
        assert!(counts.iter().all(|(heard, expected)| heard == expected), "{counts:?}");
        assert_eq!(bus.listeners().len(), 1);
    }

    /// A listener may bring another one along.
    #[test]
    fn a_listener_may_subscribe_another() {
        let bus = Arc::new(LocalBus::new());
        let other = bus.clone();
        bus.subscribe(Box::new(move |_| {
            other.subscribe(Box::new(|_| true));
            false
        }));
        bus.publish(&Change::Prompts);
        assert_eq!(bus.listeners().len(), 1);
    }
}
