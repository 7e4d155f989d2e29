//! The Model Context Protocol as pure state machines.
//!
//! Nothing here does I/O, reads a clock, starts a thread or asks for entropy. Bytes, events and time go in;
//! frames, timers and actions come out. Every machine has the same four doors:
//!
//! - `handle_*`: input (bytes, a head, a body chunk, an end, an answer), always with the time it arrived;
//! - `poll_output`: what the machine has to say, one thing at a time, `None` when drained;
//! - `poll_timeout`: when it wants to be woken at the latest; pure, may be asked at any moment;
//! - `handle_timeout`: the time has come; early, late or repeated calls are harmless.
//!
//! Any interleaving of these is legal. `wake_reason` says what `poll_timeout` is for. What is bounded is in
//! [`limits`], what is tolerated of peers that break a rule in [`leniency`].
//!
//! # Features
//!
//! | feature | brings |
//! |---|---|
//! | `http1` (default) | HTTP/1.1 as connection machines; exchanges work without it |
//! | `auth`, `es256` | OAuth of clients as steps; keys for `private_key_jwt` and DPoP |
//! | `jsonschema` | arguments and results are checked against JSON Schemas |
//! | `seal` | sealed request state |
//! | `gzip` | clients ask for compressed responses |
//! | `llm` | tools as functions of language models |
//! | `schemars` | `Json` as a member of types whose schema is derived |
//! | `http` | conversions of heads from and to the `http` crate; needs std, as nothing else does |
//!
//! # Ids
//!
//! Ids such as `TOOL-07` are rules of the specification, ids such as `B38` faults that other implementations had:
//! `tests/requirements.txt` and `tests/faults.txt` in the repository say what each is and on which page it stands or
//! where it was reported, `tests/requirements.md` which tests show it.
//!
//! # A server by hand
//!
//! A server on two streams, such as stdin and stdout, driven by hand with no runtime underneath:
//!
//! ```
//! use std::io::{Read, Write};
//! use std::sync::Arc;
//!
//! use mcp_proto::head::End;
//! use mcp_proto::model::{CallToolResult, Implementation, Json, Tool};
//! use mcp_proto::server::{Config, Connection, Output, Tools};
//! use mcp_proto::time::{Duration, Instant, Now};
//!
//! #[derive(serde::Deserialize)]
//! struct Shout { text: String }
//!
//! fn serve(mut input: impl Read, mut output: impl Write) -> Result<(), Box<dyn std::error::Error>> {
//!     let schema = r#"{"type":"object","properties":{"text":{"type":"string"}},"required":["text"]}"#;
//!     let mut tools = Tools::new();
//!     tools.insert(Tool::new("shout", Json::parse(schema)?).description("Says it louder"))?;
//!     let config = Config::new(Implementation::new("shouter", "1.0.0")).tools(tools);
//!
//!     let started = std::time::Instant::now();
//!     let now = || Now::new(Instant::new(started.elapsed()), Duration::ZERO);
//!     let mut server = Connection::new(Arc::new(config));
//!     let mut bytes = [0; 8192];
//!     while !server.is_finished() {
//!         match input.read(&mut bytes) {
//!             Ok(0) => server.handle_end(now(), End::Complete),
//!             Ok(n) => server.handle_bytes(now(), &bytes[..n]),
//!             Err(_) => server.handle_end(now(), End::Broken),
//!         }
//!         while let Some(said) = server.poll_output() {
//!             match said {
//!                 Output::Call(id, call) => {
//!                     let result = match serde_json::from_str(call.arguments()) {
//!                         Ok(Shout { text }) => CallToolResult::text(text.to_uppercase()),
//!                         Err(error) => CallToolResult::error(error.to_string()),
//!                     };
//!                     server.respond(now(), id, &result);
//!                 }
//!                 Output::Diagnostic(diagnostic) => eprintln!("{diagnostic}"),
//!                 _ => {}
//!             }
//!         }
//!         output.write_all(server.transmit())?;
//!         output.flush()?;
//!         server.advance(server.transmit().len());
//!     }
//!     Ok(())
//! }
//! # let initialize = r#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"c","version":"1"}}}"#;
//! # let call = r#"{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"shout","arguments":{"text":"hi"}}}"#;
//! # let mut sent = Vec::new();
//! # serve(format!("{initialize}\n{call}\n").as_bytes(), &mut sent)?;
//! # let sent = String::from_utf8(sent)?;
//! # assert!(sent.ends_with("\"text\":\"HI\"}]}}\n"), "{sent}");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
#![no_std]

extern crate alloc;
#[cfg(test)]
extern crate std;

#[cfg(feature = "auth")]
pub mod auth;
mod backlog;
mod canonical;
mod change;
pub mod client;
pub mod diagnostic;
pub mod dialect;
pub mod entropy;
pub mod error;
#[doc(hidden)]
pub mod fuzz;
pub mod head;
pub mod leniency;
pub mod limits;
#[cfg(feature = "llm")]
pub mod llm;
mod mirror;
pub mod model;
pub mod schema;
pub mod server;
#[doc(hidden)]
pub mod shared_map;
mod text;
pub mod time;
mod wanted;
pub mod wire;
