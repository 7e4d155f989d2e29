//! A seeded network: when things arrive, in which pieces, and whether they do.

use mcp_proto::time::{Duration, Instant, Now};
use std::collections::BTreeMap;

/// A small generator of numbers that only look random.
#[derive(Clone, Debug)]
pub(crate) struct Rng(u64);

impl Rng {
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15).wrapping_add(1))
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^ (mixed >> 31)
    }

    pub(crate) fn below(&mut self, bound: usize) -> usize {
        usize::try_from(self.next() % bound as u64).unwrap()
    }

    /// True once in so many times.
    pub(crate) fn once_in(&mut self, times: usize) -> bool {
        self.below(times) == 0
    }

    pub(crate) fn millis(&mut self, bound: usize) -> Duration {
        Duration::from_millis(self.below(bound) as u64)
    }
}

/// How bad it is out there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Weather {
    /// Everything arrives, late and in pieces.
    Calm,
    /// Streams stall and break, requests are lost, ends come twice.
    Storm,
}

impl Weather {
    /// How long something is on its way.
    pub(crate) fn latency(self, rng: &mut Rng) -> Duration {
        if self == Self::Storm && rng.once_in(30) {
            return Duration::from_millis(1_000) + rng.millis(20_000);
        }
        rng.millis(50)
    }

    /// Whether something breaks that breaks once in so many times.
    pub(crate) fn breaks(self, rng: &mut Rng, times: usize) -> bool {
        self == Self::Storm && rng.once_in(times)
    }
}

/// How many of so many bytes are taken at once.
pub(crate) fn piece(rng: &mut Rng, len: usize) -> usize {
    match rng.below(4) {
        0 => 1,
        1 => 1 + rng.below(len),
        _ => len,
    }
}

/// What happens when.
#[derive(Debug)]
pub(crate) struct Timeline<E> {
    events: BTreeMap<(Instant, u64), E>,
    serial: u64,
    pub(crate) now: Instant,
    steps: usize,
    most: usize,
}

impl<E> Timeline<E> {
    /// One that has to end within so many steps.
    pub(crate) fn within(most: usize) -> Self {
        Self { events: BTreeMap::new(), serial: 0, now: Instant::ZERO, steps: 0, most }
    }

    pub(crate) fn now(&self) -> Now {
        Now::new(self.now, self.now.since_epoch())
    }

    /// In so long.
    pub(crate) fn after(&mut self, delay: Duration, event: E) {
        self.at(self.now + delay, event);
    }

    pub(crate) fn at(&mut self, at: Instant, event: E) {
        self.serial += 1;
        self.events.insert((at, self.serial), event);
    }

    /// What happens next, no later than `timeout`; `None` when that comes first, and `Some(None)` when nothing
    /// will ever happen.
    pub(crate) fn next(&mut self, timeout: Option<Instant>) -> Option<Option<E>> {
        self.steps += 1;
        assert!(self.steps < self.most, "it does not end");
        match (self.events.first_key_value().map(|(&(at, _), _)| at), timeout) {
            (None, None) => return Some(None),
            (Some(at), None) => self.now = self.now.max(at),
            (Some(at), Some(timeout)) if at <= timeout => self.now = self.now.max(at),
            (_, Some(timeout)) => {
                self.now = self.now.max(timeout);
                return None;
            }
        }
        Some(self.events.pop_first().map(|(_, event)| event))
    }
}
