//! `_meta`: metadata beside the payload of any message.
//!
//! [`Meta`] is what one builds. [`RequestMeta`] reads what came, without copying it. [`check_key`] judges
//! the keys of an application.
//!
//! <https://modelcontextprotocol.io/specification/2026-07-28/basic/index#meta>

mod key;
mod request;
#[cfg(test)]
mod tests;

pub use key::{KeyFault, check_key, is_reserved};
pub use request::RequestMeta;

use super::json::{Json, JsonMap};
use alloc::collections::btree_map;
use alloc::string::String;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// The revision that a request speaks (META-08).
pub const PROTOCOL_VERSION: &str = "io.modelcontextprotocol/protocolVersion";
/// The client software (META-10).
pub const CLIENT_INFO: &str = "io.modelcontextprotocol/clientInfo";
/// The capabilities of the client for one request (META-09).
pub const CLIENT_CAPABILITIES: &str = "io.modelcontextprotocol/clientCapabilities";
/// From which level on a request wants log messages (META-11).
pub const LOG_LEVEL: &str = "io.modelcontextprotocol/logLevel";
/// The server software (META-19).
pub const SERVER_INFO: &str = "io.modelcontextprotocol/serverInfo";
/// The subscription that a notification belongs to (SUB-08).
pub const SUBSCRIPTION_ID: &str = "io.modelcontextprotocol/subscriptionId";
/// The task that a message belongs to; 2025-11-25 only.
pub const RELATED_TASK: &str = "io.modelcontextprotocol/related-task";
/// Asks for progress under this token (PRG-01).
pub const PROGRESS_TOKEN: &str = "progressToken";
/// W3C trace context: the parent span.
pub const TRACEPARENT: &str = "traceparent";
/// W3C trace context: what vendors add.
pub const TRACESTATE: &str = "tracestate";
/// W3C baggage.
pub const BAGGAGE: &str = "baggage";

/// Metadata as an open map from key to JSON. Values at reserved keys are not interpreted (META-01).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Meta(JsonMap);

impl Meta {
    /// No metadata.
    pub fn new() -> Self {
        Self::default()
    }

    /// With `value` at `key`, in place of what was there. See [`check_key`] for keys of one's own.
    #[must_use]
    pub fn with(mut self, key: impl Into<String>, value: Json) -> Self {
        self.insert(key, value);
        self
    }

    /// Puts `value` at `key` and returns what was there.
    pub fn insert(&mut self, key: impl Into<String>, value: Json) -> Option<Json> {
        self.0.insert(key.into(), value)
    }

    /// Takes away what is at `key`.
    pub fn remove(&mut self, key: &str) -> Option<Json> {
        self.0.remove(key)
    }

    /// What is at `key`.
    pub fn get(&self, key: &str) -> Option<&Json> {
        self.0.get(key)
    }

    /// Whether there is nothing; then no `_meta` is sent.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// All entries, ordered by key.
    pub fn iter(&self) -> btree_map::Iter<'_, String, Json> {
        self.0.iter()
    }
}

impl<'a> IntoIterator for &'a Meta {
    type Item = (&'a String, &'a Json);
    type IntoIter = btree_map::Iter<'a, String, Json>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}

impl Extend<(String, Json)> for Meta {
    fn extend<I: IntoIterator<Item = (String, Json)>>(&mut self, entries: I) {
        self.0.extend(entries);
    }
}

impl Serialize for Meta {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.0.serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Meta {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        super::decode::or_default(deserializer).map(Self)
    }
}
