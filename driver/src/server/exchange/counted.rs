//! Where an exchange counts, for as long as it does.

use std::sync::atomic::Ordering;

use super::ExchangeHandle;
use crate::runtime::Runtime;

impl<R: Runtime> ExchangeHandle<R> {
    /// Counts among the streams that clients keep open, if there is room.
    pub(super) fn keeps_open(&self) -> bool {
        if self.kept.swap(true, Ordering::SeqCst) {
            return true;
        }
        let room = self.service.kept().enter();
        if !room {
            self.kept.store(false, Ordering::SeqCst);
        }
        room
    }

    /// Is no listener any more, if it was one, and counts nowhere.
    pub(super) fn leave(&self) {
        if self.kept.swap(false, Ordering::SeqCst) {
            self.service.kept().leave();
        }
        if self.unattended.swap(false, Ordering::SeqCst) {
            self.service.unattended().leave();
        }
        if self.listening.swap(false, Ordering::SeqCst) {
            self.service.leave(self.id);
        }
    }
}
