//! Clients: calls to one server over a byte stream or HTTP, in either era.
//!
//! [`Connection`] speaks over a byte stream, such as the pipes of a child process; [`Http`] to an HTTP
//! endpoint. Both have the same surface for calls: `start` gives a [`Pending`], [`Event::Settled`] says that it
//! has ended, `take` gives its reply.

mod call;
mod calls;
mod config;
mod connection;
mod details;
mod event;
#[doc(hidden)]
pub mod fuzz;
mod http;
mod link;
mod mirrors;
mod negotiate;
mod pages;
mod reply;
mod request;
#[cfg(test)]
mod testing;

pub use call::{Call, CallTool, Custom, Discover, ListTools, Ping, SetLevel};
pub use calls::CallId;
pub use config::{CallOptions, Config, EraChoice};
pub use connection::{Connection, Output};
pub use details::ServerDetails;
pub use event::{Event, Progress};
pub use http::{Endpoint, ExchangeId, Http, HttpOutput, HttpRequest};
pub use pages::Pages;
pub use reply::{Pending, RawReply, ToolReply};
