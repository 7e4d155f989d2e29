//! Programs that are written once and run on any runtime.

use std::str::FromStr;

use mcp_blocking::Threads;
use mcp_driver::{Async, Blocking, Mode, Runtime, block_on};
use mcp_smol::Smol;
use mcp_tokio::Tokio;

use crate::Error;

/// A program that does not care which runtime it runs on.
pub trait Program {
    /// Runs it to its end.
    ///
    /// # Errors
    /// When it did not do all that it was to do.
    fn run<R: Runtime<Mode: Wait>>(self) -> Result<(), Error>;
}

/// Runs a program on a runtime.
///
/// # Errors
/// When the runtime does not start, or the program fails.
pub fn run_on(runtime: Name, program: impl Program) -> Result<(), Error> {
    match runtime {
        Name::Tokio => {
            let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
            let _inside = runtime.enter();
            program.run::<Tokio>()
        }
        Name::Smol => program.run::<Smol>(),
        Name::Blocking => program.run::<Threads>(),
    }
}

/// A runtime, as the command line names it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Name {
    /// `tokio`
    Tokio,
    /// `smol`
    Smol,
    /// `blocking`
    Blocking,
}

impl FromStr for Name {
    type Err = Error;

    fn from_str(name: &str) -> Result<Self, Error> {
        match name {
            "tokio" => Ok(Self::Tokio),
            "smol" => Ok(Self::Smol),
            "blocking" => Ok(Self::Blocking),
            other => Err(format!("expected `--runtime tokio|smol|blocking`, found `{other}`").into()),
        }
    }
}

/// Modes whose replies can be waited for by blocking the thread.
pub trait Wait: Mode {
    /// Waits for a reply.
    ///
    /// # Errors
    /// Those of the reply.
    fn wait<T: Send + 'static, E: Send + 'static>(reply: Self::Reply<T, E>) -> Result<T, E>;
}

impl Wait for Async {
    fn wait<T: Send + 'static, E: Send + 'static>(reply: Self::Reply<T, E>) -> Result<T, E> {
        block_on(reply)
    }
}

impl Wait for Blocking {
    fn wait<T: Send + 'static, E: Send + 'static>(reply: Self::Reply<T, E>) -> Result<T, E> {
        reply
    }
}
