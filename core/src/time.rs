//! Time as a value. An adapter reads its clocks and says what it saw; core never asks.

mod wake;

use core::fmt;
use core::ops::Add;
pub use core::time::Duration;

pub use wake::WakeReason;
pub(crate) use wake::{Wake, earliest};

/// A moment on a monotonic clock, counted from an epoch that the adapter picks.
///
/// Unlike std's, it can be constructed, printed and fuzzed, and it exists on every platform.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Instant(Duration);

impl Instant {
    /// The epoch itself.
    pub const ZERO: Self = Self(Duration::ZERO);

    /// The moment that lies `since_epoch` after the adapter's epoch.
    pub const fn new(since_epoch: Duration) -> Self {
        Self(since_epoch)
    }

    /// How long after the epoch this moment is.
    pub const fn since_epoch(self) -> Duration {
        self.0
    }

    /// The time from `earlier` to this moment; zero when `earlier` is in fact later (clocks of two
    /// sources need not agree).
    pub const fn saturating_since(self, earlier: Self) -> Duration {
        self.0.saturating_sub(earlier.0)
    }

    /// The instant so long before this one, or the epoch.
    #[must_use]
    pub const fn saturating_sub(self, before: Duration) -> Self {
        Self(self.0.saturating_sub(before))
    }
}

/// Moves a moment forward; at the end of the representable range it stays there.
impl Add<Duration> for Instant {
    type Output = Self;

    fn add(self, after: Duration) -> Self {
        Self(self.0.saturating_add(after))
    }
}

impl fmt::Display for Instant {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "+{}.{:06}s", self.0.as_secs(), self.0.subsec_micros())
    }
}

/// Both clocks at one moment, as an input carries them.
///
/// `mono` orders events and drives timers; `unix` (time since 1970-01-01T00:00:00Z) is for what leaves the
/// process, such as the expiry inside a sealed state.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Now {
    /// The monotonic clock.
    pub mono: Instant,
    /// The wall clock, since the Unix epoch.
    pub unix: Duration,
}

impl Now {
    /// Both clocks.
    pub const fn new(mono: Instant, unix: Duration) -> Self {
        Self { mono, unix }
    }
}
