//! The client's side of one connection.

mod encoded;
mod read;
#[cfg(test)]
mod tests;

pub(super) use encoded::Encoded;

use super::BodyLength;
use super::body::{Decoder, Encoder};
use super::buffer::{Buffer, Lend};
use super::head::HeadBuffer;
use super::timer::Timer;
use crate::error::ApiMisuse;
use crate::head::{End, RequestHead, ResponseHead};
use crate::limits::Limits;
use crate::time::{Duration, Instant, Now, Wake, WakeReason, earliest};
use alloc::string::String;
use core::fmt;

/// One HTTP/1.1 connection that was opened to a server.
///
/// Carries one exchange at a time: [`request`](Self::request), [`send`](Self::send),
/// [`finish`](Self::finish); the response comes from [`poll_output`](Self::poll_output) and may begin before
/// the request is complete. When [`can_reuse`](Self::can_reuse) says so, another exchange can follow.
///
/// Interim responses (1xx) are skipped, up to 16 of them; 101 is refused. There is no timer for a response:
/// an event stream may be silent for as long as it likes. Output that is not written for `Limits::stall`, and
/// a response head that takes longer than `Limits::head_time` from its first byte, break the connection.
#[derive(Debug)]
pub struct ClientConnection {
    bounds: Bounds,
    seen: Instant,
    head: HeadBuffer,
    reading: Reading,
    writing: Writing,
    inbox: Inbox,
    transmit: Buffer,
    exchange: Exchange,
    read_timer: Timer,
    write_timer: Timer,
}

/// What [`ClientConnection::poll_output`] gives out: `Head`, any number of `Body`, `End`; or `Failed` instead
/// of what is missing of them.
#[derive(PartialEq, Eq)]
#[non_exhaustive]
pub enum ClientOutput<'a> {
    /// The head of the response.
    Head(ResponseHead),
    /// Bytes of its body.
    Body(&'a [u8]),
    /// The response is complete.
    End,
    /// There is no response, or no more of it. The connection is over.
    Failed {
        /// What happened, for people.
        reason: String,
        /// Whether surely no byte of the request has left, so that it may be sent again whatever it does.
        /// Rests on [`ClientConnection::advance`] being called for whatever was written.
        unsent: bool,
    },
}

/// Prints the length of a part of a body only.
impl fmt::Debug for ClientOutput<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Head(head) => f.debug_tuple("Head").field(head).finish(),
            Self::Body(bytes) => write!(f, "Body({} bytes)", bytes.len()),
            Self::End => f.write_str("End"),
            Self::Failed { reason, unsent } => {
                f.debug_struct("Failed").field("reason", reason).field("unsent", unsent).finish()
            }
        }
    }
}

#[derive(Debug)]
struct Bounds {
    head: usize,
    fields: usize,
    head_time: Duration,
    stall: Duration,
}

#[derive(Debug)]
enum Reading {
    /// No exchange is under way.
    Idle,
    Head,
    Body(Decoder),
    Closed,
}

#[derive(Debug)]
enum Writing {
    Body(Encoder),
    Finished,
}

/// What has to be known of the present exchange.
#[derive(Debug, Default)]
struct Exchange {
    is_head: bool,
    closes: bool,
    /// A byte of the request was written.
    has_left: bool,
    interim: u8,
    received: u64,
}

/// What was read and not yet given out, in this order.
#[derive(Debug, Default)]
struct Inbox {
    head: Option<ResponseHead>,
    body: Lend,
    end: bool,
    failed: Option<(String, bool)>,
}

impl Inbox {
    fn is_empty(&self) -> bool {
        self.head.is_none() && self.body.is_empty() && !self.end && self.failed.is_none()
    }
}

impl ClientConnection {
    /// A connection that was just opened.
    pub fn new(now: Now, limits: &Limits) -> Self {
        Self {
            bounds: Bounds {
                head: limits.head,
                fields: limits.head_fields,
                head_time: limits.head_time,
                stall: limits.stall,
            },
            seen: now.mono,
            head: HeadBuffer::default(),
            reading: Reading::Idle,
            writing: Writing::Finished,
            inbox: Inbox::default(),
            transmit: Buffer::default(),
            exchange: Exchange::default(),
            read_timer: Timer::Off,
            write_timer: Timer::Off,
        }
    }

    /// Begins a request. Framing and connection fields of `head` are replaced by what is true here; a
    /// `Connection: close` is honoured. With [`BodyLength::Empty`] the request is finished, too.
    ///
    /// # Errors
    ///
    /// The connection is not [free](Self::can_reuse), there is not exactly one `Host`, or the method, the
    /// target or a field would break the framing. Nothing is sent then.
    pub fn request(&mut self, head: &RequestHead, body: BodyLength) -> Result<(), ApiMisuse> {
        if !self.can_reuse() {
            return Err(ApiMisuse::new(
                "the connection is closed or busy with a request; open another one, or wait for its end",
            ));
        }
        let encoded = Encoded::head(head, body)?;
        self.begin(encoded);
        self.writing = match body {
            BodyLength::Empty => Writing::Finished,
            BodyLength::Known(length) => Writing::Body(Encoder::Length(length)),
            BodyLength::Stream => Writing::Body(Encoder::Chunked),
        };
        Ok(())
    }

    /// Begins and finishes a request that is in bytes already; the connection must be free.
    pub(super) fn begin(&mut self, request: Encoded) {
        self.exchange = Exchange { is_head: request.is_head, closes: request.closes, ..Exchange::default() };
        self.transmit.replace(request.bytes, 0);
        self.reading = Reading::Head;
        self.writing = Writing::Finished;
        self.set_timers();
    }

    /// The whole request, after a failure with `unsent`, for another connection.
    pub(super) fn take_unsent(&mut self) -> Encoded {
        let Exchange { is_head, closes, .. } = self.exchange;
        Encoded { bytes: self.transmit.take(), is_head, closes }
    }

    /// Sends bytes of the request body. They are held until they are written.
    pub fn send(&mut self, data: &[u8]) {
        if self.is_finished() {
            return;
        }
        if let Writing::Body(encoder) = &mut self.writing {
            encoder.send(data, &mut self.transmit);
            self.set_timers();
        }
    }

    /// Ends the request body. If fewer bytes were sent than promised, the exchange fails.
    pub fn finish(&mut self) {
        if self.is_finished() {
            return;
        }
        let Writing::Body(encoder) = &self.writing else { return };
        if encoder.finish(&mut self.transmit) {
            self.writing = Writing::Finished;
        } else {
            self.fail("the request body is shorter than was promised");
        }
        self.set_timers();
    }

    /// Bytes have arrived.
    pub fn handle_bytes(&mut self, now: Now, bytes: &[u8]) {
        self.read(bytes);
        self.set_timers();
        self.tick(now);
    }

    /// The peer has ended its side, reading has failed, or a write has failed.
    pub fn handle_end(&mut self, now: Now, end: End) {
        self.read_end(end);
        self.set_timers();
        self.tick(now);
    }

    /// What there is to tell the layer above.
    pub fn poll_output(&mut self) -> Option<ClientOutput<'_>> {
        let inbox = &mut self.inbox;
        if let Some(head) = inbox.head.take() {
            return Some(ClientOutput::Head(head));
        }
        if !inbox.body.is_empty() {
            inbox.body.lend();
            return Some(ClientOutput::Body(inbox.body.lent()));
        }
        if core::mem::take(&mut inbox.end) {
            return Some(ClientOutput::End);
        }
        let (reason, unsent) = inbox.failed.take()?;
        Some(ClientOutput::Failed { reason, unsent })
    }

    /// Whether [`poll_output`](Self::poll_output) has something to tell.
    pub fn has_output(&self) -> bool {
        !self.inbox.is_empty()
    }

    /// Whether the next output is the last of its exchange.
    pub(super) fn is_at_last_output(&self) -> bool {
        let inbox = &self.inbox;
        inbox.head.is_none() && inbox.body.is_empty() && (inbox.end || inbox.failed.is_some())
    }

    /// Whether no byte of the request was written.
    pub(super) const fn is_unsent(&self) -> bool {
        !self.exchange.has_left
    }

    /// Whether the exchange failed and no byte of its request was written.
    pub(super) fn has_failed_unsent(&self) -> bool {
        matches!(self.inbox.failed, Some((_, true)))
    }

    /// When to call [`handle_timeout`](Self::handle_timeout) at the latest.
    pub fn poll_timeout(&self) -> Option<Instant> {
        self.next_wake().map(|(at, _)| at)
    }

    /// What [`poll_timeout`](Self::poll_timeout) is for.
    pub fn wake_reason(&self) -> Option<WakeReason> {
        self.next_wake().map(|(_, reason)| reason)
    }

    pub(super) fn next_wake(&self) -> Option<Wake> {
        let write = self.write_timer.wake(self.seen, WakeReason::Write);
        earliest([write, self.read_timer.wake(self.seen, WakeReason::Head)])
    }

    /// Time has passed.
    pub fn handle_timeout(&mut self, now: Now) {
        self.tick(now);
        if self.write_timer.is_due(self.seen) {
            self.fail("the server does not read the request");
        } else if self.read_timer.is_due(self.seen) {
            self.fail("the head of the response takes too long to arrive");
        }
        self.set_timers();
    }

    /// Bytes to write.
    pub fn transmit(&self) -> &[u8] {
        if self.is_finished() { &[] } else { self.transmit.as_slice() }
    }

    /// So many bytes of [`transmit`](Self::transmit) were written.
    pub fn advance(&mut self, n: usize) {
        if n > 0 && !self.transmit().is_empty() {
            self.exchange.has_left = true;
            self.transmit.advance(n);
            self.write_timer = Timer::Off;
            self.set_timers();
        }
    }

    /// Gives up: the connection is over. An unfinished exchange ends without another word.
    pub fn abort(&mut self) {
        self.reading = Reading::Closed;
        self.inbox = Inbox::default();
        self.transmit.clear();
        self.set_timers();
    }

    /// Whether to read from the server now. False while `Limits::head` body bytes were not polled.
    pub fn wants_read(&self) -> bool {
        !self.is_finished() && self.inbox.body.len() < self.bounds.head
    }

    /// Whether no exchange is under way and none has something to tell.
    pub fn is_idle(&self) -> bool {
        matches!(self.reading, Reading::Idle | Reading::Closed) && self.inbox.is_empty()
    }

    /// Whether another request can be sent now.
    pub fn can_reuse(&self) -> bool {
        matches!(self.reading, Reading::Idle) && self.inbox.is_empty()
    }

    /// Whether this connection is over: close it. [`poll_output`](Self::poll_output) may still have something
    /// to tell.
    pub fn is_finished(&self) -> bool {
        matches!(self.reading, Reading::Closed)
    }

    /// How many bytes of the response are held.
    pub(super) fn held(&self) -> usize {
        self.head.bytes().len() + self.inbox.body.len()
    }

    pub(super) fn tick(&mut self, now: Now) {
        self.seen = self.seen.max(now.mono);
        self.read_timer.arm(self.seen);
        self.write_timer.arm(self.seen);
    }

    /// Derives the timers from the state; called after whatever may have changed it.
    fn set_timers(&mut self) {
        if self.head.is_empty() || self.is_finished() {
            self.read_timer = Timer::Off;
        } else if self.read_timer == Timer::Off {
            self.read_timer = Timer::Starting(self.bounds.head_time);
        }
        if self.transmit().is_empty() {
            self.write_timer = Timer::Off;
        } else if self.write_timer == Timer::Off {
            self.write_timer = Timer::Starting(self.bounds.stall);
        }
    }
}
