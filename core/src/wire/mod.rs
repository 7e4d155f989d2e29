//! Bytes to messages and back.

mod bytes;
pub mod header_value;
pub mod http1;
pub mod jsonrpc;
pub mod lines;
pub mod sse;
