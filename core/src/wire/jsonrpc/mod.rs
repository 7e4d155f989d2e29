//! JSON-RPC 2.0 messages, read and written.
//!
//! [`read`] tells what kind of message some bytes are and lends `params` or `result` as JSON text, still to
//! be decoded as the type that the method asks for ([`decode`]). The writers append to a buffer.
//!
//! <https://modelcontextprotocol.io/specification/2026-07-28/basic/index#messages>

mod compact;
mod id;
mod json;
mod message;
mod note;
mod params;
mod raw;
mod read;
mod scan;
mod typed;
mod write;

pub(crate) use compact::compact;
pub use id::{ProgressToken, RequestId};
pub use json::write_json;
pub(crate) use json::{OneLine, to_raw_value};
pub use message::{Message, Notification, Request, Response};
pub(crate) use note::Note;
pub(crate) use params::decode_text;
pub use params::{decode, decode_at};
pub(crate) use raw::kind_name;
pub(crate) use read::begun_response;
pub use read::{Batch, Incoming, Malformed, read, read_text};
pub(crate) use read::{read_noting, read_text_noting};
pub use write::{write_error, write_error_of_null, write_notification, write_request, write_result};
