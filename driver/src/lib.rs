//! The runtime-neutral half of mcp-proto: typed handlers, handles, wakers and drop guards.
//!
//! Nothing here opens a socket. An adapter (`mcp-tokio`, `mcp-smol`, `mcp-blocking`) implements [`Runtime`]
//! and re-exports the rest; whoever has another executor does the same: `runtime-smol/src` in the repository is an
//! example, in three hundred lines.
//!
//! # Where to look
//!
//! | to do | see |
//! |---|---|
//! | define a server | [`Server`], [`Tool`], [`Prompt`], [`Resource`], [`ResourceTemplate`] |
//! | know and use the request that a handler serves | [`Context`] |
//! | change what is there while it is served | [`Registry`], [`Bus`] |
//! | call a server, or several | [`ClientBuilder`], [`Client`], [`Calls`], [`Options`], [`Group`] |
//! | put this on another executor | [`Runtime`]; [`ByteStream`] and [`pump`] for streams that are polled, [`BlockingStream`] and [`drive_blocking`] for those that block; [`Pool`] for jobs that do |
//! | carry HTTP by a stack of your own | `Server::into_http_service`, `ExchangeHandle`; `ClientBuilder::exchanger` |
//! | what went wrong | [`Error`], [`CallError`], [`Report`] |
//!
//! # Features
//!
//! | feature | brings |
//! |---|---|
//! | `http` (default) | Streamable HTTP, both sides |
//! | `jsonschema` (default) | arguments and results are checked against JSON Schemas |
//! | `seal` (default) | sealed request state: what a handler remembers while its user is asked |
//! | `auth`, `es256` | clients that come by authorization themselves (OAuth); keys for `private_key_jwt` and DPoP |
//! | `tls` | HTTPS for clients: rustls, with the certificate authorities of the system |
//! | `gzip` | clients ask for compressed responses |
//! | `llm` | tools as functions of language models |
//! | `tracing` | one span a request, one event a report |
//! | `http-types` | conversions of heads from and to the `http` crate |
//!
//! Ids such as `TOOL-07` are rules of the specification, ids such as `B38` faults that other implementations had: what each
//! is stands in `tests/requirements.txt` and `tests/faults.txt` of the repository.
#![forbid(unsafe_code)]

mod around;
#[cfg(feature = "auth")]
pub mod auth;
mod blocking;
mod bus;
mod client;
mod clock;
mod completion;
mod context;
mod custom;
mod deprecated;
mod endpoint;
mod environment;
mod error;
mod extensions;
mod handler;
mod hook;
mod jobs;
mod join;
mod lane;
mod pool;
mod process;
mod prompt;
mod reply;
mod resource;
mod runtime;
mod server;
mod spans;
mod stdio;
mod timekeeper;
mod tool;
mod turn;
mod wake;

pub use mcp_proto as proto;
pub use mcp_proto::diagnostic::Blame;
pub use mcp_proto::dialect::{Era, Revision};
pub use mcp_proto::entropy::Seed;
pub use mcp_proto::error::{ApiMisuse, CallError, ErrorObject};
pub use mcp_proto::head::{End, Headers};
pub use mcp_proto::limits::Limits;
#[cfg(feature = "llm")]
pub use mcp_proto::llm;
pub use mcp_proto::model;
pub use mcp_proto::model::{CallToolResult, ContentBlock, Json, LoggingLevel, SubscriptionFilter};
pub use mcp_proto::schema::{Mismatch, OutputCheck};
pub use mcp_proto::server::{AskError, Bound, StateCodec, StateError};
#[cfg(feature = "http")]
pub use mcp_proto::server::{AuthRefusal, BearerToken, Cors, Grant, HttpPolicy, ResourceServer};
pub use mcp_proto::server::{
    Change, Item, ListChanges, Listen, Principal, TaskOptions, Viewer, Visibility, Wanted, Watched,
};
#[cfg(feature = "seal")]
pub use mcp_proto::server::{Keyring, StateKey};
pub use mcp_proto::time::{Instant, Now};

pub use around::{Answer, AnswerKind, Next, Request};
pub use blocking::{BlockingStream, drive_blocking};
pub use bus::{Bus, ChangeListener, LocalBus};
pub use client::*;
pub use clock::Clock;
pub use completion::{ForCompletion, Typed};
pub use context::{
    Ask, Asking, Asks, ByFuture, ByResult, Context, ContinueAsTask, ElicitationHandle, InputRequired, Leave,
    NotContinued, Report, Step, StepWork, Together, Unanswered,
};
pub use custom::{ForMethod, MethodResult, Notification};
pub use endpoint::{ByteStream, Endpoint, Status, pump};
pub use environment::Inherit;
pub use error::Error;
pub use extensions::Extensions;
pub use handler::{Arguments, Boxed, HandlerFor, Outcome, Takes};
pub use pool::Pool;
pub use process::Command;
pub use prompt::{ForPrompt, Prompt, PromptArguments};
pub use reply::{Async, Blocking, Mode, Running, block_on};
pub use resource::{Fixed, ForResource, ForTemplate, Resource, ResourceTemplate};
pub use runtime::{BoxFuture, Job, Process, Runtime};
pub use server::*;
pub use stdio::Stdio;
pub use tool::{
    AsyncHandler, BlockingHandler, ByHand, FromValue, Handler, IntoToolResult, Tool, ToolError, ToolHandler,
    ToolOutput, Value,
};
pub use turn::{Done, Turn};
pub use wake::{Promise, WakerSlot, waker_fn};
