//! The notifications that belong to a running call.

use alloc::vec::Vec;

use serde::ser::SerializeMap;

use super::call::Progress;
use super::custom;
use super::in_flight::Running;
use crate::error::ApiMisuse;
use crate::model::encode::{Number, Object};
use crate::model::logging::{LoggingLevel, LoggingMessageNotificationParams};
use crate::model::{In, Json, Members};
use crate::wire::jsonrpc::{self, ProgressToken};

/// Appends `notifications/progress` if the client asked for it and it goes forward. `false` when nothing
/// was written.
///
/// <https://modelcontextprotocol.io/specification/2026-07-28/basic/patterns/progress>
pub(super) fn progress(running: &mut Running, progress: &Progress, out: &mut Vec<u8>) -> bool {
    let revision = running.revision;
    let Some(token) = running.advance(progress) else { return false };
    let params = ProgressParams { token, progress };
    jsonrpc::write_notification(out, "notifications/progress", Some(&In(revision, &params))).is_ok()
}

struct ProgressParams<'a> {
    token: &'a ProgressToken,
    progress: &'a Progress,
}

impl Members for ProgressParams<'_> {
    fn members<M: SerializeMap>(&self, to: &mut Object<M>) -> Result<(), M::Error> {
        to.member("progressToken", self.token)?;
        to.member("progress", &Number(self.progress.progress))?;
        to.optional("total", &self.progress.total.filter(|total| total.is_finite()).map(Number))?;
        if to.dialect().progress_message {
            to.optional("message", &self.progress.message)?;
        }
        Ok(())
    }
}

/// Appends a notification of the application's own.
pub(super) fn custom(method: &str, params: &Json, out: &mut Vec<u8>) -> Result<(), ApiMisuse> {
    custom::check("notification", method)?;
    jsonrpc::write_notification(out, method, Some(params))
}

/// Appends `notifications/message` if it is at least as severe as the client asked for.
///
/// <https://modelcontextprotocol.io/specification/2026-07-28/server/utilities/logging>
pub(super) fn log(
    running: &Running,
    least: Option<LoggingLevel>,
    message: &LoggingMessageNotificationParams,
    out: &mut Vec<u8>,
) -> Result<bool, ApiMisuse> {
    if least.is_none_or(|least| message.level < least) {
        return Ok(false);
    }
    jsonrpc::write_notification(out, "notifications/message", Some(&In(running.revision, message)))?;
    Ok(true)
}
