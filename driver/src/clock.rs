//! Std's clocks, for adapters that have no better ones.

use std::time::{Duration, SystemTime};

use mcp_proto::time::{Instant, Now};

/// Both clocks of std, the monotonic one counted from [`Clock::start`].
#[derive(Clone, Copy, Debug)]
pub struct Clock {
    epoch: std::time::Instant,
}

impl Clock {
    /// A clock whose epoch is now.
    #[expect(clippy::disallowed_methods, reason = "this is the one place that reads the clocks")]
    pub fn start() -> Self {
        Self { epoch: std::time::Instant::now() }
    }

    /// Both clocks now.
    #[expect(clippy::disallowed_methods, reason = "this is the one place that reads the clocks")]
    pub fn now(&self) -> Now {
        let mono = std::time::Instant::now().saturating_duration_since(self.epoch);
        let unix = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
        Now::new(Instant::new(mono), unix)
    }

    /// The same moment for std. One that is too far away to be represented becomes a day from the epoch of
    /// this clock: whoever waits for it wakes early, which is harmless.
    pub fn to_std(&self, instant: Instant) -> std::time::Instant {
        const DAY: Duration = Duration::from_secs(24 * 60 * 60);
        self.epoch.checked_add(instant.since_epoch()).unwrap_or(self.epoch + DAY)
    }
}
