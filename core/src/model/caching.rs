//! How long a result may be kept, and for whom: the hints `ttlMs` and `cacheScope`.
//!
//! Unless set, a result promises nothing: it is stale at once, and private.
//!
//! <https://modelcontextprotocol.io/specification/2026-07-28/server/utilities/caching>

use super::json::Json;
use core::time::Duration;
use serde::{Deserialize, Deserializer, Serialize};

/// Milliseconds of freshness.
///
/// A missing, negative or unreadable value counts as 0 (CACHE-22, CACHE-23); fractions are dropped.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(transparent)]
pub struct TtlMs(pub u64);

/// Who may be given a kept copy of a result.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum CacheScope {
    /// Whoever holds the same authorization as the one who asked.
    #[default]
    Private,
    /// Anybody, so never set it on what depends on the user (CACHE-15).
    Public,
}

impl From<Duration> for TtlMs {
    /// Longer than `u64::MAX` milliseconds becomes that.
    fn from(ttl: Duration) -> Self {
        Self(u64::try_from(ttl.as_millis()).unwrap_or(u64::MAX))
    }
}

impl From<TtlMs> for Duration {
    fn from(ttl: TtlMs) -> Self {
        Self::from_millis(ttl.0)
    }
}

impl<'de> Deserialize<'de> for TtlMs {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        // The cast saturates, and takes what is not a number to 0.
        let ttl = Json::deserialize(deserializer)?;
        Ok(Self(ttl.decode::<u64>().or_else(|_| ttl.decode::<f64>().map(|ms| ms as u64)).unwrap_or_default()))
    }
}

impl<'de> Deserialize<'de> for CacheScope {
    /// Anything but `public` is private: a scope not known here must not widen who sees the result.
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let scope = Json::deserialize(deserializer)?;
        Ok(if scope.get() == "\"public\"" { Self::Public } else { Self::Private })
    }
}
