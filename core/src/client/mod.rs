//! Clients: calls to one server over a byte stream or HTTP, in either era.
//!
//! [`Connection`] speaks over a byte stream, such as the pipes of a child process; [`Http`] to an HTTP
//! endpoint. Both have the same surface for calls: `start` gives a [`Pending`], [`Event::Settled`] says that it
//! has ended, `take` gives its reply.
//!
//! ```
//! use mcp_proto::client::{CallOptions, CallTool, Config, Connection};
//! use mcp_proto::model::Implementation;
//! use mcp_proto::time::Now;
//! use std::collections::BTreeMap;
//!
//! let now = Now::default();
//! let config = Config::new(Implementation::new("kiln", "1.0.0"));
//! let mut connection = Connection::new(now, config.into());
//! let arguments = BTreeMap::from([("a", 2), ("b", 3)]);
//! let sum = connection.start(now, &CallTool::with("add", arguments), CallOptions::new()).unwrap();
//!
//! // What a driver does, here with a server of two lines.
//! for answer in [
//!     r#"{"jsonrpc":"2.0","id":1,"result":{"supportedVersions":["2026-07-28"],"capabilities":{"tools":{}}}}"#,
//!     r#"{"jsonrpc":"2.0","id":2,"result":{"content":[{"type":"text","text":"5"}]}}"#,
//! ] {
//!     let sent = connection.transmit().len();
//!     connection.advance(sent);
//!     connection.handle_bytes(now, answer.as_bytes());
//!     connection.handle_bytes(now, b"\n");
//! }
//!
//! assert_eq!(connection.take(&sum).unwrap().unwrap().text(), "5");
//! ```

mod answer;
mod asks;
mod backoff;
mod cache;
mod call;
mod calls;
mod completion;
mod config;
mod connection;
mod continuation;
mod definitions;
mod details;
mod discovery;
mod event;
#[doc(hidden)]
pub mod fuzz;
mod http;
mod level;
mod link;
mod lists;
mod negotiate;
mod offered;
mod pages;
mod prompts;
mod reply;
mod request;
mod resources;
mod rounds;
mod subscriptions;
mod tasks;
#[cfg(test)]
mod testing;
mod verdict;
mod visits;

pub use crate::schema::OutputCheck;
pub use answer::{InputResponse, Refusal};
pub use asks::AskId;
pub use cache::{CacheEntry, CacheUse, Fetch, Fetched, Freshness};
pub use call::{Call, CallTool, Custom, Discover, Ping, SetLevel};
pub use calls::CallId;
pub use completion::Complete;
pub use config::{CallOptions, Config, EraChoice};
pub use connection::{Connection, Output};
pub use continuation::{Continuation, Resume, Unmet};
pub use details::ServerDetails;
pub use event::{Event, Progress, Waiting};
pub use http::{Endpoint, ExchangeId, Http, HttpOutput, HttpRequest};
pub use lists::{ListPrompts, ListResourceTemplates, ListResources, ListTasks, ListTools};
pub use pages::Pages;
pub use prompts::GetPrompt;
pub use reply::{Pending, RawReply, ToolReply};
pub use resources::ReadResource;
pub use subscriptions::{Notice, Subscription, SubscriptionId};
pub use tasks::{
    CallToolAsTask, CancelTask, GetTask, TaskHandle, TaskResult, TaskRole, ToolStart, Unfinished, UpdateTask,
    WaitForTask,
};
pub use verdict::{Transport, Verdict};

pub use crate::change::Change;
