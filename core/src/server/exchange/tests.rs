//! Whole exchanges, with the sessions that they ask for.

mod asks;
mod authorized;
mod cors;
mod custom;
mod ends;
mod features;
mod handed;
mod heads;
mod http_sse;
mod legacy;
mod leniency;
mod properties;
mod request;
mod responses;
mod scope;
mod stateless;
mod stop;
mod streams;
mod subscriptions;
mod tasks;
mod waiting;

use super::*;
use crate::dialect::Revision;
use crate::error::ErrorObject;
use crate::model::Json;
use crate::model::logging::{LoggingLevel, LoggingMessageNotificationParams};
use crate::server::testing::{
    META, NAMED, Trip, Web, at, changing, config, head, initialize, legacy_head, limits, listen, modern,
    modern_head, now, text, with,
};
use crate::server::{Hosts, HttpPolicy, Origins, Progress, Revisions, SessionOutput};
use alloc::format;
use alloc::string::ToString;

const V: &str = "2025-11-25";
const PING: &str = r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#;
const LIST: &str = r#"{"jsonrpc":"2.0","id":1,"method":"tools/list"}"#;
const CALL: &str =
    r#"{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"add","_meta":{"progressToken":"p"}}}"#;
const INITIALIZED: &str = r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#;

fn modern_call(meta: &str) -> String {
    let meta = META.replace("\"_meta\":{", &format!("\"_meta\":{{{meta}"));
    format!(r#"{{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{{"name":"add",{meta}}}}}"#)
}

fn call_head() -> RequestHead {
    modern_head("tools/call", Some("add"))
}

fn code(trip: &Trip) -> i32 {
    let (_, rest) = trip.body.split_once(r#""code":"#).unwrap_or_else(|| panic!("no error: {}", trip.body));
    rest.split(',').next().unwrap().parse().unwrap()
}

fn answered(trip: &Trip) -> (u16, i32) {
    assert_eq!(trip.field("content-type"), "application/json");
    (trip.status(), code(trip))
}
