//! How far a request has come.
//!
//! <https://modelcontextprotocol.io/specification/2026-07-28/basic/patterns/progress>

pub use crate::wire::jsonrpc::ProgressToken;

use super::encode::{Members, Number, Object};
use super::macros::setters;
use super::meta::Meta;
use crate::dialect::Revision;
use alloc::string::String;
use serde::Deserialize;
use serde::ser::SerializeMap;

/// The parameters of `notifications/progress`.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct ProgressNotificationParams {
    /// The token that the request asked for progress with (PRG-01).
    pub progress_token: ProgressToken,
    /// How far it is; larger each time, in whatever unit (PRG-04).
    pub progress: f64,
    /// How far it goes, when known; in the same unit (PRG-05).
    pub total: Option<f64>,
    /// What is being done, for people; from 2025-03-26 on (PRG-06).
    pub message: Option<String>,
    /// Metadata.
    #[serde(default, rename = "_meta")]
    pub meta: Meta,
}

impl ProgressNotificationParams {
    /// The request that asked with `progress_token` has come as far as `progress`.
    pub fn new(progress_token: impl Into<ProgressToken>, progress: f64) -> Self {
        Self {
            progress_token: progress_token.into(),
            progress,
            total: None,
            message: None,
            meta: Meta::new(),
        }
    }
}

setters!(ProgressNotificationParams {
    total?: f64,
    message?: String,
    meta: Meta,
});

impl Members for ProgressNotificationParams {
    fn members<M: SerializeMap>(&self, to: &mut Object<M>) -> Result<(), M::Error> {
        to.member("progressToken", &self.progress_token)?;
        to.member("progress", &Number(self.progress))?;
        to.optional("total", &self.total.map(Number))?;
        if to.dialect().progress_message {
            to.optional("message", &self.message)?;
        }
        Ok(())
    }

    fn metadata(&self, _revision: Revision) -> Option<&Meta> {
        Some(&self.meta)
    }
}
