//! Event streams: messages as server-sent events.
//!
//! <https://html.spec.whatwg.org/multipage/server-sent-events.html#parsing-an-event-stream>

mod decode;
mod encode;

pub use decode::{Decoder, SseItem};
pub use encode::{begin_data, end_event, write_comment, write_event, write_retry};
