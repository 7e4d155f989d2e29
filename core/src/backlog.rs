//! What waits for somebody who is slow, at the other end or on this side: bounded in number and in bytes, and of what
//! does not fit the newest of each thing.

use crate::limits::Limits;
use alloc::collections::VecDeque;
use core::fmt;

/// Something that may have to wait.
pub(crate) trait News {
    /// Whether a later one says what this one does.
    fn is_repeated_by(&self, later: &Self) -> bool;

    /// About how much memory it takes.
    fn size(&self) -> usize;

    /// Whether it counts: what does not has a bound of its own, and is never lost.
    fn counts(&self) -> bool {
        true
    }

    /// Whether it tells that something is not what it was. Nobody else does, so that is lost after all others.
    fn is_signal(&self) -> bool {
        true
    }
}

/// How much may wait.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Room {
    pub(crate) number: usize,
    pub(crate) bytes: usize,
}

/// [`Limits::notifications`] and [`Limits::notification_bytes`].
impl From<&Limits> for Room {
    fn from(limits: &Limits) -> Self {
        Self { number: limits.notifications, bytes: limits.notification_bytes }
    }
}

/// News that wait, oldest first. Past the room that there is the oldest are lost, and those that are no signals before
/// those that are. One that is larger than all of it has no place, and takes none from others.
pub(crate) struct Backlog<T> {
    queue: VecDeque<T>,
    number: usize,
    bytes: usize,
    repeats: u64,
    lost: u64,
}

impl<T> Default for Backlog<T> {
    fn default() -> Self {
        Self { queue: VecDeque::new(), number: 0, bytes: 0, repeats: 0, lost: 0 }
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

    /// Adds one, in the place of what it repeats, at the end: of each thing one waits.
    pub(crate) fn merge(&mut self, news: T, room: impl Into<Room>) {
        if !news.counts() {
            return match self.queue.iter().any(|waiting| waiting.is_repeated_by(&news)) {
                true => self.repeats += 1,
                false => self.queue.push_back(news),
            };
        }
        let room = room.into();
        if self.has_place_for(&news, room) {
            self.give_way(&news);
            self.add(news, room);
        }
    }

    /// Adds one. Only where there is no room for both it takes the place of what it repeats.
    pub(crate) fn push(&mut self, news: T, room: impl Into<Room>) {
        if !news.counts() {
            return self.queue.push_back(news);
        }
        let room = room.into();
        if self.has_place_for(&news, room) {
            if self.number >= room.number || self.bytes + news.size() > room.bytes {
                self.give_way(&news);
            }
            self.add(news, room);
        }
    }

    fn has_place_for(&mut self, news: &T, room: Room) -> bool {
        let has = news.size() <= room.bytes;
        self.lost += u64::from(!has);
        has
    }

    fn give_way(&mut self, news: &T) {
        let repeated = |waiting: &T| waiting.counts() && waiting.is_repeated_by(news);
        if self.remove(repeated).is_some() {
            self.repeats += 1;
        }
    }

    fn add(&mut self, news: T, room: Room) {
        self.number += 1;
        self.bytes += news.size();
        self.queue.push_back(news);
        while self.number > room.number || self.bytes > room.bytes {
            let lost = self.remove(|it| it.counts() && !it.is_signal());
            if lost.or_else(|| self.remove(T::counts)).is_none() {
                return;
            }
            self.lost += 1;
        }
    }

    /// Takes the oldest of those out.
    pub(crate) fn remove(&mut self, which: impl Fn(&T) -> bool) -> Option<T> {
        let place = self.queue.iter().position(which)?;
        let news = self.queue.remove(place)?;
        Some(self.left(news))
    }

    /// The next one. What room they had is kept for others.
    pub(crate) fn next(&mut self) -> Option<T> {
        let news = self.queue.pop_front()?;
        Some(self.left(news))
    }

    /// The next one. Behind the last nothing is kept.
    pub(crate) fn pop(&mut self) -> Option<T> {
        let news = self.next()?;
        if self.queue.is_empty() {
            self.queue = VecDeque::new();
        }
        Some(news)
    }

    fn left(&mut self, news: T) -> T {
        if news.counts() {
            self.number -= 1;
            self.bytes -= news.size();
        }
        news
    }

    /// How many of those wait that count, and how many bytes they take.
    pub(crate) const fn waiting(&self) -> (usize, usize) {
        (self.number, self.bytes)
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
