//! Bytes to messages and back.

pub(crate) mod bytes;
pub mod challenge;
pub(crate) mod date;
pub mod header_value;
#[cfg(feature = "http1")]
pub mod http1;
#[cfg(feature = "gzip")]
pub(crate) mod inflate;
pub mod jsonrpc;
pub mod lines;
pub mod sse;
pub(crate) mod url;
