//! What the tests of this module share: a clock, and names.

use super::Config;
use crate::model::lifecycle::Implementation;
use crate::time::{Duration, Instant, Now};
use alloc::sync::Arc;

/// `ms` milliseconds after the test began.
pub(super) fn at(ms: u64) -> Now {
    Now::new(Instant::new(Duration::from_millis(ms)), Duration::from_secs(1_700_000_000))
}

pub(super) fn config() -> Config {
    Config::new(Implementation::new("kiln", "0.3.0"))
}

pub(super) fn shared() -> Arc<Config> {
    Arc::new(config())
}

/// Everything up to the end of the string, with quotes swapped: JSON is easier to read so.
pub(super) fn json(text: &str) -> alloc::string::String {
    text.replace('\'', "\"")
}
