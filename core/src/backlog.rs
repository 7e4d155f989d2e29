//! What waits for somebody who reads slowly: bounded, and each thing once.

use crate::limits::Limits;
use alloc::collections::VecDeque;
use core::fmt;

/// Something that need not be told twice.
pub(crate) trait News {
    /// Whether a later one says what this one does.
    fn is_repeated_by(&self, later: &Self) -> bool;

    /// About how much memory it takes.
    fn size(&self) -> usize;
}

/// News that wait, oldest first. A repeat takes the place of what it repeats, at the end; past
/// [`Limits::notifications`] and [`Limits::notification_bytes`] the oldest are lost.
pub(crate) struct Backlog<T> {
    queue: VecDeque<T>,
    bytes: usize,
    repeats: u64,
    lost: u64,
}

impl<T> Default for Backlog<T> {
    fn default() -> Self {
        Self { queue: VecDeque::new(), bytes: 0, repeats: 0, lost: 0 }
    }
}

/// Prints how many they are: URIs may hold secrets.
impl<T> fmt::Debug for Backlog<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Backlog({}, {} bytes)", self.queue.len(), self.bytes)
    }
}

impl<T: News> Backlog<T> {
    pub(crate) fn is_empty(&self) -> bool {
        self.queue.is_empty()
    }

    /// Adds one, in the place of what it repeats. Past the bound the oldest is lost.
    pub(crate) fn push(&mut self, news: T, limits: &Limits) {
        if let Some(place) = self.queue.iter().position(|waiting| waiting.is_repeated_by(&news)) {
            self.repeats += 1;
            self.bytes -= self.queue.remove(place).as_ref().map_or(0, News::size);
        }
        self.bytes += news.size();
        self.queue.push_back(news);
        while self.queue.len() > limits.notifications || self.bytes > limits.notification_bytes {
            let Some(oldest) = self.queue.pop_front() else { return };
            self.bytes -= oldest.size();
            self.lost += 1;
        }
    }

    pub(crate) fn pop(&mut self) -> Option<T> {
        let news = self.queue.pop_front()?;
        self.bytes -= news.size();
        if self.queue.is_empty() {
            self.queue = VecDeque::new();
        }
        Some(news)
    }

    /// How many repeats were left out, and how many were lost, in all.
    pub(crate) const fn left_out(&self) -> (u64, u64) {
        (self.repeats, self.lost)
    }

    /// Begins to count anew.
    pub(crate) fn forget_left_out(&mut self) {
        (self.repeats, self.lost) = (0, 0);
    }
}
