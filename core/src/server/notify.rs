//! The notifications that a server sends: those that belong to a running call, and those of changes.

use alloc::string::String;
use alloc::vec::Vec;

use serde::Serialize;
use serde::ser::SerializeMap;

use super::call::Progress;
use super::custom;
use super::in_flight::Running;
use super::tasks::TaskDetail;
use crate::change::Change;
use crate::dialect::Revision;
use crate::error::ApiMisuse;
use crate::model::cancellation::CancelledNotificationParams;
use crate::model::elicitation::ElicitationCompleteNotificationParams;
use crate::model::encode::{Number, Object};
use crate::model::logging::{LoggingLevel, LoggingMessageNotificationParams};
use crate::model::meta::SUBSCRIPTION_ID;
use crate::model::{In, Json, Members, WithMeta};
use crate::wire::jsonrpc::{self, ProgressToken, RequestId};

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

/// Appends `notifications/cancelled`: the server waits no longer for an answer of a legacy client, or a modern
/// subscription on a byte stream is over. `false` when nothing was written.
///
/// <https://modelcontextprotocol.io/specification/2026-07-28/basic/patterns/cancellation>
pub(super) fn cancelled(
    request: &RequestId,
    revision: Revision,
    reason: Option<&str>,
    out: &mut Vec<u8>,
) -> bool {
    let mut params = CancelledNotificationParams::new(request.clone());
    params.reason = reason.map(String::from);
    jsonrpc::write_notification(out, "notifications/cancelled", Some(&In(revision, &params))).is_ok()
}

/// The notification that what a page was to be visited for is done (ELIC-22).
///
/// <https://modelcontextprotocol.io/specification/2025-11-25/client/elicitation#completion-notifications-for-url-mode-elicitation>
pub(super) fn elicitation_complete(
    elicitation: &str,
    revision: Revision,
    out: &mut Vec<u8>,
) -> Result<(), ApiMisuse> {
    let params = ElicitationCompleteNotificationParams::new(elicitation);
    jsonrpc::write_notification(out, "notifications/elicitation/complete", Some(&In(revision, &params)))
}

/// Appends the notification of how a task is, with all that is known of it (TASK-50).
///
/// <https://modelcontextprotocol.io/extensions/tasks/overview>
pub(super) fn task(
    task: &TaskDetail,
    subscription: &RequestId,
    revision: Revision,
    out: &mut Vec<u8>,
) -> Result<(), ApiMisuse> {
    let id = Json::new(subscription).unwrap_or_else(|_| Json::empty_object());
    let entries = [(SUBSCRIPTION_ID, &id)];
    let params = WithMeta::new(task, &entries);
    jsonrpc::write_notification(out, "notifications/tasks", Some(&In(revision, &params)))
}

/// Appends the notification of a change: within a subscription with its id (SUB-08), in a legacy session
/// without one.
///
/// <https://modelcontextprotocol.io/specification/2026-07-28/basic/patterns/subscriptions#receiving-notifications>
pub(super) fn change(
    change: &Change,
    subscription: Option<&RequestId>,
    out: &mut Vec<u8>,
) -> Result<(), ApiMisuse> {
    #[derive(Serialize)]
    struct Params<'a> {
        #[serde(rename = "_meta", skip_serializing_if = "Option::is_none")]
        meta: Option<Meta<'a>>,
        #[serde(skip_serializing_if = "Option::is_none")]
        uri: Option<&'a str>,
    }
    #[derive(Serialize)]
    struct Meta<'a> {
        #[serde(rename = "io.modelcontextprotocol/subscriptionId")]
        subscription: &'a RequestId,
    }
    let uri = match change {
        Change::Resource(uri) => Some(&**uri),
        _ => None,
    };
    let params = Params { meta: subscription.map(|subscription| Meta { subscription }), uri };
    let any = params.meta.is_some() || params.uri.is_some();
    jsonrpc::write_notification(out, change.method(), any.then_some(&params))
}
