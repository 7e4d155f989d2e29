//! Model Context Protocol servers and clients on plain threads: no async runtime anywhere below.
//!
//! A server:
//!
//! ```no_run
//! use mcp_blocking::{Context, Server, Tool};
//!
//! #[derive(serde::Deserialize, schemars::JsonSchema)]
//! struct Add { /** first term */ a: f64, /** second term */ b: f64 }
//!
//! fn main() -> Result<(), mcp_blocking::Error> {
//!     Server::new("calculator", "1.0.0")
//!         .tool(Tool::new("add").description("Adds two numbers"), |Add { a, b }: Add, _: Context| Ok(a + b))
//!         .serve_stdio()          // or .serve_http("127.0.0.1:8000")
//! }
//! ```
//!
//! Such handlers may block. A quick one runs where its request was read, which costs no change of threads. One that has
//! not returned after a millisecond or two keeps that thread, and another one reads on: then nothing waits for it, not
//! even what came together with its request. A bounded number of handlers runs at one time. One that never blocks may
//! also be `async`: if it waits it costs a thread.
//!
//! A client:
//!
//! ```no_run
//! use mcp_blocking::{Calls, Client};
//!
//! fn main() -> Result<(), mcp_blocking::Error> {
//!     let client = Client::spawn("calculator")?;    // or Client::http("http://127.0.0.1:8000/mcp")?
//!     let sum = client.call_tool("add", serde_json::json!({ "a": 2, "b": 3 }))?;
//!     println!("{}", sum.text());
//!     Ok(())
//! }
//! ```
//!
//! # Where to look
//!
//! | to do | see |
//! |---|---|
//! | tools: arguments and results from types, or by hand | [`Server::tool`](mcp_driver::Server::tool), [`Tool`] |
//! | prompts, resources, templates, completion | [`Server::prompt`](mcp_driver::Server::prompt), [`Server::resource`](mcp_driver::Server::resource), [`ResourceTemplate`], [`Prompt`] |
//! | ask the user in the middle of a call | [`Context::elicit`], [`Context::step`] |
//! | change what is there while it is served | [`Server::registry`](mcp_driver::Server::registry) |
//! | tokens and scopes | [`Server::resource_server`](mcp_driver::Server::resource_server) |
//! | hosts, origins, limits | [`Server::allow_host`](mcp_driver::Server::allow_host), [`Limits`] |
//! | call a server | [`Client`], [`Calls`], [`Options`] |
//! | answer what servers ask | [`ClientBuilder::on_elicit`] and its neighbours |
//! | what went wrong | [`Error`], [`CallError`], [`Server::on_error`](mcp_driver::Server::on_error), [`ClientBuilder::on_diagnostic`] |
//! | types of the protocol | [`model`] |
//!
//! `Client` and `Server` are those of `mcp_driver` on threads: what is a future elsewhere is a result here.
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
//!
//! Ids such as `TOOL-07` are rules of the specification, ids such as `B38` faults that other implementations had: what each
//! is stands in `tests/requirements.txt` and `tests/faults.txt` of the repository.
#![forbid(unsafe_code)]

mod listener;
mod runtime;
mod stream;
mod timers;

#[doc(inline)]
pub use mcp_driver::model;
pub use mcp_driver::*;

pub use listener::Listener;
pub use runtime::Threads;
pub use stream::Stream;

/// A server on threads.
pub type Server = mcp_driver::Server<Threads>;

/// A client on threads.
pub type Client = mcp_driver::Client<Threads>;

/// Several servers on threads.
pub type Group = mcp_driver::Group<Threads>;
