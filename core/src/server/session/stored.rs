//! A session as one value that can be kept elsewhere: JSON, with a version in it.

#[cfg(test)]
mod tests;

use alloc::borrow::Cow;
use alloc::string::String;
use alloc::sync::Arc;
use alloc::vec::Vec;

use serde::de::Error as _;
use serde::ser::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::{ClientDetails, SessionState};
use crate::dialect::{Era, Revision};
use crate::model::capabilities::ClientCapabilities;
use crate::model::lifecycle::Implementation;
use crate::model::logging::LoggingLevel;
use crate::model::{In, Json};

/// What is written today. A reader refuses what it does not know.
const VERSION: u8 = 1;

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Stored<'a> {
    version: u8,
    #[serde(borrow)]
    revision: Cow<'a, str>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    client_info: Option<Json>,
    capabilities: Json,
    level: LoggingLevel,
    initialized: bool,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    watched: Vec<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    owner: Option<Cow<'a, str>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    origin: Option<Cow<'a, str>>,
    #[serde(default)]
    changes: u64,
}

/// JSON of about the size of what the client sent with `initialize` and watches, within
/// [`Limits::client_details`](crate::limits::Limits::client_details) and
/// [`Limits::watched_bytes`](crate::limits::Limits::watched_bytes). Later versions of this crate read what
/// earlier ones wrote.
impl Serialize for SessionState {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let known = Revision::LATEST_LEGACY;
        let info = self.client.info.as_ref().map(|info| Json::new(&In(known, info)));
        let stored = Stored {
            version: VERSION,
            revision: self.revision.as_str().into(),
            client_info: info.transpose().map_err(S::Error::custom)?,
            capabilities: Json::new(&In(known, &self.client.capabilities)).map_err(S::Error::custom)?,
            level: self.level,
            initialized: self.initialized,
            watched: self.watched.iter().map(|uri| String::from(&**uri)).collect(),
            owner: self.owner.as_deref().map(Cow::from),
            origin: self.origin.as_deref().map(Cow::from),
            changes: self.changes,
        };
        stored.serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for SessionState {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let stored = Stored::deserialize(deserializer)?;
        if stored.version != VERSION {
            return Err(D::Error::custom("the session was written by a later version"));
        }
        let revision = Revision::parse(&stored.revision).filter(|revision| revision.era() == Era::Legacy);
        let revision = revision.ok_or_else(|| D::Error::custom("the session is of no legacy revision"))?;
        let info: Option<Implementation> =
            stored.client_info.map(|info| info.decode()).transpose().map_err(D::Error::custom)?;
        let capabilities: ClientCapabilities = stored.capabilities.decode().map_err(D::Error::custom)?;
        Ok(Self {
            revision,
            client: Arc::new(ClientDetails::new(info, capabilities)),
            level: stored.level,
            initialized: stored.initialized,
            watched: stored.watched.into_iter().map(Arc::from).collect(),
            owner: stored.owner.map(|owner| Arc::from(&*owner)),
            origin: stored.origin.map(String::from),
            changes: stored.changes,
        })
    }
}
