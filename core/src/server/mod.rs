//! The server side.
//!
//! [`Connection`] serves one client on a byte stream such as stdio, [`Exchange`] one HTTP request. Both read a
//! shared [`Config`], hand each request that is not theirs to answer to the application as a [`Call`], and
//! speak every revision at once. [`Sessions`] holds what legacy HTTP clients agreed on;
//! [`SseSessions`] knows the open streams of HTTP with SSE.

mod answers;
mod asks;
mod batch;
mod call;
mod catalog;
mod config;
mod connection;
mod cors;
mod custom;
mod dispatch;
mod events;
mod exchange;
mod find;
#[doc(hidden)]
pub mod fuzz;
mod headers;
mod http_sse;
mod in_flight;
mod listeners;
mod media;
mod notify;
mod params;
mod policy;
mod principal;
mod prompts;
mod received;
mod refusal;
mod resource_server;
mod resources;
mod seal;
mod session;
mod sessions;
mod subscription;
mod suggest;
mod target;
mod tasks;
mod template;
#[cfg(test)]
mod testing;
mod token;
mod tools;
mod transmit;
mod uri;
mod visible;

pub use crate::change::{Change, TaskChange};
pub use crate::wanted::{Wanted, Watched};
pub use asks::{Answer, AskError, AskId, ClientResponse, askable};
pub use call::{Call, CallId, Progress, WriteResult, missing_capabilities, resource_not_found};
pub use config::{CacheHint, Config, ListChanges, Revisions};
pub use connection::{Connection, ListenId, Output};
pub use cors::Cors;
pub use custom::{Custom, CustomMethod};
pub use events::{Event, EventId, EventStore, MemoryEvents, StreamId};
pub use exchange::{Exchange, ExchangeId, ExchangeOutput, QueryId};
pub use http_sse::{HttpSse, SseAnswer, SseOutput, SseQuery, SseSessions};
pub use listeners::Listeners;
pub use policy::{Hosts, HttpPolicy, Origins};
pub use principal::Principal;
pub use prompts::{PromptEntry, Prompts};
pub use resource_server::{ResourceServer, Scopes};
pub use resources::{ResourceEntry, Resources, TemplateEntry, Templates};
pub use seal::{Bound, StateCodec, StateError};
#[cfg(feature = "seal")]
pub use seal::{Keyring, StateKey};
pub use session::{ClientDetails, SessionState};
pub use sessions::{
    Caller, Listening, SessionAnswer, SessionId, SessionOutput, SessionQuery, Sessions, Then,
};
pub use subscription::{Admission, Listen};
pub use target::{Completable, Completing, ProtocolRequest, Target, TemplateRead};
pub use tasks::{
    TaskAction, TaskAnswer, TaskDetail, TaskKey, TaskOptions, TaskOutput, TaskOwner, TaskRequest, Tasks,
};
pub use token::{AuthRefusal, BearerToken, Grant};
pub use tools::{ToolEntry, Tools};
pub use visible::{Item, Viewer, Visibility};
