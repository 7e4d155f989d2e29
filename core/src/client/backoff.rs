//! How long to wait before something is tried again.

use crate::entropy::{Entropy, Seed};
use crate::time::Duration;

/// The first wait, about.
const FIRST: Duration = Duration::from_secs(1);
/// Attempts that bring nothing double the wait, up to this.
const LONGEST: Duration = Duration::from_secs(30);

/// Waits that grow, no two alike: clients that lost the same server do not all come back at once.
#[derive(Debug)]
pub(super) struct Backoff(Entropy);

impl Backoff {
    pub(super) fn new(seed: Seed) -> Self {
        Self(Entropy::new(seed))
    }

    /// How long to wait after so many attempts in vain: between half of the full wait and all of it.
    pub(super) fn wait(&mut self, fruitless: u32) -> Duration {
        let full = FIRST.saturating_mul(1_u32.checked_shl(fruitless).unwrap_or(u32::MAX)).min(LONGEST);
        let [first, second, ..] = self.0.next();
        let share = u32::from(u16::from_le_bytes([first, second]));
        full / 2 + full / 2 * share / u32::from(u16::MAX)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Waits double up to half a minute, are spread, and come again from the same seed.
    #[test]
    fn waits_grow_and_are_spread_and_follow_from_the_seed() {
        let (mut one, mut same) = (Backoff::new(Seed::new([1; 32])), Backoff::new(Seed::new([1; 32])));
        let mut other = Backoff::new(Seed::new([2; 32]));
        let mut differ = false;
        for (fruitless, full) in [(0, 1_000), (1, 2_000), (4, 16_000), (5, 30_000), (40, 30_000)] {
            let wait = one.wait(fruitless);
            assert!(wait >= Duration::from_millis(full / 2) && wait <= Duration::from_millis(full));
            assert_eq!(wait, same.wait(fruitless));
            differ |= wait != other.wait(fruitless);
        }
        assert!(differ);
    }
}
