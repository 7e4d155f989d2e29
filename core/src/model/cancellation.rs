//! Giving up on a request.
//!
//! <https://modelcontextprotocol.io/specification/2026-07-28/basic/patterns/cancellation>

pub use crate::wire::jsonrpc::RequestId;

use super::encode::{Members, Object};
use super::macros::setters;
use super::meta::Meta;
use crate::dialect::Revision;
use alloc::string::String;
use serde::Deserialize;
use serde::ser::SerializeMap;

/// The parameters of `notifications/cancelled`.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct CancelledNotificationParams {
    /// The request that is given up. Only 2025-11-25 lets it be absent; then nothing is cancelled.
    pub request_id: Option<RequestId>,
    /// Why, for logs and people.
    pub reason: Option<String>,
    /// Metadata.
    #[serde(default, rename = "_meta")]
    pub meta: Meta,
}

impl CancelledNotificationParams {
    /// The request `request_id` is given up.
    pub fn new(request_id: impl Into<RequestId>) -> Self {
        Self { request_id: Some(request_id.into()), reason: None, meta: Meta::new() }
    }
}

setters!(CancelledNotificationParams {
    reason?: String,
    meta: Meta,
});

impl Members for CancelledNotificationParams {
    fn members<M: SerializeMap>(&self, to: &mut Object<M>) -> Result<(), M::Error> {
        to.optional("requestId", &self.request_id)?;
        to.optional("reason", &self.reason)
    }

    fn metadata(&self, _revision: Revision) -> Option<&Meta> {
        Some(&self.meta)
    }
}
