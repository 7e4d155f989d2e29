//! Parameters that hold nothing but metadata.

use super::encode::{Members, Object};
use super::macros::setters;
use super::meta::Meta;
use crate::dialect::Revision;
use serde::Deserialize;
use serde::ser::SerializeMap;

/// The parameters of a request that has none of its own, such as `ping`, `server/discover` or `roots/list`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[non_exhaustive]
pub struct RequestParams {
    /// Metadata to send. What came is read with [`RequestMeta`](super::meta::RequestMeta).
    #[serde(skip)]
    pub meta: Meta,
}

impl RequestParams {
    /// None.
    pub fn new() -> Self {
        Self::default()
    }
}

setters!(RequestParams { meta: Meta });

impl Members for RequestParams {
    fn members<M: SerializeMap>(&self, _to: &mut Object<M>) -> Result<(), M::Error> {
        Ok(())
    }

    fn metadata(&self, _revision: Revision) -> Option<&Meta> {
        Some(&self.meta)
    }
}

/// The parameters of a notification that has none of its own, such as `notifications/tools/list_changed`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[non_exhaustive]
pub struct NotificationParams {
    /// Metadata.
    #[serde(default, rename = "_meta")]
    pub meta: Meta,
}

impl NotificationParams {
    /// None.
    pub fn new() -> Self {
        Self::default()
    }
}

setters!(NotificationParams { meta: Meta });

impl Members for NotificationParams {
    fn members<M: SerializeMap>(&self, _to: &mut Object<M>) -> Result<(), M::Error> {
        Ok(())
    }

    fn metadata(&self, _revision: Revision) -> Option<&Meta> {
        Some(&self.meta)
    }
}
