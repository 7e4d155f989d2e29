//! HTTP/1.1 as connection machines: bytes and time in, heads and body bytes out.
//!
//! [`ServerConnection`] is one accepted connection, [`ClientConnection`] one that was opened, and [`Pool`]
//! all connections of a client to one origin. Bodies are not bounded here, since only the layer above knows
//! what it can use: it sees the declared length together with the head and may refuse before a byte of the
//! body is read.
//!
//! ```text
//! server   head -> body -> complete --(response finished, events drained)--> head ...
//!            \       \        \-> aborted when the peer goes away before the response is finished
//!             \-------\-> refused: an error answer, then the rest is discarded for a moment, then closed
//! client   idle -> request written, interim heads skipped -> head -> body -> idle or closed
//! ```
//!
//! # What is refused
//!
//! Two readers that disagree about where a message ends are how requests get smuggled, so framing is strict
//! on both sides: a line ends with CRLF and never with LF alone, folded fields and whitespace before a colon
//! are refused, and so are `Content-Length` beside `Transfer-Encoding`, differing lengths, and every transfer
//! coding but a single `chunked`. The terminators of chunks are matched, not skipped. Chunk extensions and
//! trailers are checked, counted against `Limits::head`, and dropped.
//!
//! # Time
//!
//! Commands (`respond`, `send`, `advance`, ...) carry no time. A timer that one of them starts is *starting*
//! until the next input that carries time; until then `poll_timeout` names a moment that has passed already,
//! so a loop calls `handle_timeout` at once and the timer counts from there.

mod body;
mod buffer;
mod client;
#[doc(hidden)]
pub mod fuzz;
mod head;
mod pool;
mod server;
#[cfg(test)]
mod tests;
mod timer;

pub use crate::head::BodyLength;
pub use client::{ClientConnection, ClientOutput};
pub use pool::{ConnectionId, ExchangeId, Pool, PoolOutput};
pub use server::{ServerConnection, ServerOutput};
