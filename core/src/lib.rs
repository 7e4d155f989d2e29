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
//! Any interleaving of these is legal.
#![no_std]

extern crate alloc;
#[cfg(test)]
extern crate std;

pub mod client;
pub mod diagnostic;
pub mod dialect;
pub mod entropy;
pub mod error;
#[doc(hidden)]
pub mod fuzz;
pub mod head;
pub mod limits;
pub mod mirror;
pub mod model;
pub mod server;
mod text;
pub mod time;
pub mod wire;
