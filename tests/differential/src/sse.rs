//! Event streams, beside `eventsource-stream`.

use std::convert::Infallible;
use std::pin::{Pin, pin};
use std::task::{Context, Poll, Waker};

use eventsource_stream::EventStream;
use futures_core::Stream;
use mcp_proto::wire::sse::{Decoder, SseItem};

/// As long as an event of MCP's has a type; ours keeps no longer one.
const TYPE: usize = 256;

/// The stream, in pieces.
struct Pieces(Vec<Vec<u8>>);

impl Stream for Pieces {
    type Item = Result<Vec<u8>, Infallible>;

    fn poll_next(mut self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        Poll::Ready(if self.0.is_empty() { None } else { Some(Ok(self.0.remove(0))) })
    }
}

/// Type and data of each event with data that is not blank.
type Events = Vec<(String, String)>;

fn is_blank(data: &str) -> bool {
    data.bytes().all(|byte| b" \t\n\r".contains(&byte))
}

/// `None` for what is no text, of which the two make different things.
fn theirs(stream: &[u8]) -> Option<Events> {
    let text = std::str::from_utf8(stream).ok()?;
    // One at the start is to be skipped, where it panics; a second one is text.
    let stream = text.strip_prefix('\u{feff}').unwrap_or(text).as_bytes();
    if stream.starts_with("\u{feff}".as_bytes()) {
        return None;
    }
    // It waits for what follows a CR, as that may be the other half of a line's end: so it gets that.
    let rest: &[u8] = if stream.ends_with(b"\r") { b"\n" } else { b"" };
    let pieces = stream.chunks(7).chain([rest]).map(<[u8]>::to_vec).collect();
    let mut events = Vec::new();
    let mut stream = pin!(EventStream::new(Pieces(pieces)));
    while let Poll::Ready(Some(event)) = stream.as_mut().poll_next(&mut Context::from_waker(Waker::noop())) {
        let event = event.ok()?;
        if !is_blank(&event.data) {
            events.push((event.event, event.data));
        }
    }
    Some(events)
}

fn ours(mut stream: &[u8]) -> Events {
    let mut decoder = Decoder::new(1 << 20, 1 << 10);
    let mut events = Vec::new();
    while let Some(item) = decoder.next(&mut stream) {
        if let SseItem::Event { event, data, .. } = item {
            events.push((event.to_owned(), data.to_owned()));
        }
    }
    events
}

/// An event stream: the same events for both.
pub fn fuzz_events(stream: &[u8]) {
    let Some(theirs) = theirs(stream) else { return };
    if theirs.iter().all(|(kind, _)| kind.len() <= TYPE) {
        assert_eq!(ours(stream), theirs);
    }
}
