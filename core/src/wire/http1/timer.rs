//! Timers that commands without a time can start.

use crate::time::{Duration, Instant, Wake, WakeReason};

/// A timer. Started by something that does not know the time, it waits for the next input that does.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Timer {
    #[default]
    Off,
    Starting(Duration),
    At(Instant),
}

impl Timer {
    /// Begins to count from now, if something asked for it.
    pub(super) fn arm(&mut self, now: Instant) {
        if let Self::Starting(period) = *self {
            *self = Self::At(now + period);
        }
    }

    pub(super) fn is_due(&self, now: Instant) -> bool {
        matches!(self, Self::At(at) if *at <= now)
    }

    /// When to wake; a starting timer wants the time that was seen last, which is at once.
    pub(super) fn at(&self, seen: Instant) -> Option<Instant> {
        match *self {
            Self::Off => None,
            Self::Starting(_) => Some(seen),
            Self::At(at) => Some(at),
        }
    }

    /// The same, for this reason.
    pub(super) fn wake(&self, seen: Instant, reason: WakeReason) -> Option<Wake> {
        self.at(seen).map(|at| (at, reason))
    }
}
