//! Where an exchange counts, for as long as it does.

use std::sync::atomic::Ordering;

use super::ExchangeHandle;
use crate::runtime::Runtime;

impl<R: Runtime> ExchangeHandle<R> {
    /// Counts among the streams that clients keep open, if there is room.
    pub(super) fn keeps_open(&self) -> bool {
        self.service.kept().enter(&self.kept)
    }

    /// Is no listener any more, if it was one, and counts nowhere.
    pub(super) fn leave(&self) {
        self.service.kept().leave(&self.kept);
        self.service.unattended().leave(&self.unattended);
        if self.listening.swap(false, Ordering::SeqCst) {
            self.service.leave(self.id);
        }
    }
}
