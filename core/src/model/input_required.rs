//! Results that ask the client for input before the request can be completed.
//!
//! <https://modelcontextprotocol.io/specification/2026-07-28/basic/patterns/mrtr>

use super::json::JsonMap;

/// The client's answers, by the names that the server gave its input requests: bare results, as JSON.
pub type InputResponses = JsonMap;
