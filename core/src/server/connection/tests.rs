//! Every line in and out of a connection, to the letter.

mod asks;
mod batches;
mod bounds;
mod caching;
mod calls;
mod completion;
mod custom;
mod ends;
mod handed;
mod input_required;
mod lifecycle;
mod messages;
mod notifications;
mod offers;
mod prompts;
mod resources;
mod subscriptions;
mod visibility;

use super::*;
use crate::diagnostic::Blame;
use crate::dialect::{Era, Revision};
use crate::model::Json;
use crate::model::capabilities::ClientCapabilities;
use crate::model::logging::LoggingLevel;
use crate::server::testing::{
    Client, META, NAMED, at, changing, config, full, initialize, limits, listen, modern, now, text,
};
use crate::server::{Revisions, missing_capabilities};
use alloc::format;
use alloc::string::ToString;

const V: &str = "2025-11-25";

fn error(id: &str, code: i32, message: &str) -> String {
    format!(r#"{{"jsonrpc":"2.0","id":{id},"error":{{"code":{code},"message":"{message}"}}}}"#)
}

fn legacy_call(id: &str) -> String {
    format!(
        r#"{{"jsonrpc":"2.0","id":{id},"method":"tools/call","params":{{"name":"add","arguments":{{"a":1}}}}}}"#
    )
}

fn modern_call(id: &str) -> String {
    modern(id, "tools/call", r#""name":"add","arguments":{"a":1},"#)
}

fn cancel(id: &str) -> String {
    format!(
        r#"{{"jsonrpc":"2.0","method":"notifications/cancelled","params":{{"requestId":{id},"reason":"user left"}}}}"#
    )
}

fn message(level: LoggingLevel) -> LoggingMessageNotificationParams {
    LoggingMessageNotificationParams::new(level, Json::parse("\"d\"").unwrap())
}
