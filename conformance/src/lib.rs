//! The server and the client that the official conformance suite is run against: one text of each, on every
//! runtime. `conformance/run` runs the suite.

mod authorize;
mod client;
mod runtime;
mod server;

pub use client::Client;
pub use runtime::{Name, Program, Wait, run_on};
pub use server::Server;

/// Why a program of this package failed.
pub type Error = Box<dyn std::error::Error>;
