//! The server's side of one connection.

mod output;
mod read;
#[cfg(test)]
mod tests;

pub use output::ServerOutput;

use super::BodyLength;
use super::body::{Decoder, Encoder};
use super::buffer::Buffer;
use super::head::{Dated, Fault, Framing, HeadBuffer, Persistence, asks_to_close, write_response};
use super::timer::Timer;
use crate::error::ApiMisuse;
use crate::head::{End, ResponseHead, WholeBody};
use crate::limits::Limits;
use crate::time::{Duration, Instant, Now, WakeReason};
use alloc::vec::Vec;
use output::{Inbox, Next};

/// How much of a request body is read, and dropped, after its response is finished; also how much input is
/// dropped after an answer that ends the connection, so that a reset does not destroy that answer on its
/// way (RFC 9112, 9.6).
const DRAIN: u64 = 256 << 10;

/// How long the latter goes on.
const LINGER: Duration = Duration::from_secs(1);

/// One accepted HTTP/1.1 (or 1.0) connection.
///
/// One request at a time is handed out; pipelined ones wait until the response to it is finished. After a
/// [`ServerOutput::Request`], answer with [`respond`](Self::respond), [`send`](Self::send) and
/// [`finish`](Self::finish), in any relation to its body: also before the body has arrived.
///
/// # The peer goes away
///
/// When the peer ends its sending side, in order or not, while a response is not finished, that exchange is
/// [`Aborted`](ServerOutput::Aborted) and the connection over. HTTP/1.1 clients do not half-close, and in
/// MCP closing the response stream is how a client cancels a request. Responses that are finished but not
/// yet written stay in [`transmit`](Self::transmit).
///
/// # Bounds
///
/// Heads: `Limits::head`, `head_fields`, `head_time`. A connection without a request: `keep_alive`. A
/// request body: `body_time`; one, or unwritten output, without progress: `stall`. Pipelined input and undelivered body
/// bytes are held up to `Limits::head`, plus the last call to [`handle_bytes`](Self::handle_bytes), as long as the
/// caller honours [`wants_read`](Self::wants_read).
#[derive(Debug)]
pub struct ServerConnection {
    bounds: Bounds,
    seen: Instant,
    /// The wall clock at the same time.
    unix: Duration,
    dated: Dated,
    backlog: Buffer,
    head: HeadBuffer,
    reading: Reading,
    writing: Writing,
    inbox: Inbox,
    transmit: Buffer,
    exchange: Exchange,
    /// Nothing follows the present exchange.
    closing: bool,
    fault: Option<&'static str>,
    ended: Option<End>,
    waiting: Wait,
    read_timer: Timer,
    /// How long a body may take, whatever progress it makes.
    body_timer: Timer,
    write_timer: Timer,
}

#[derive(Debug)]
struct Bounds {
    head: usize,
    fields: usize,
    head_time: Duration,
    body_time: Duration,
    keep_alive: Duration,
    stall: Duration,
    transmit: usize,
}

#[derive(Debug)]
enum Reading {
    Head,
    Body(Decoder),
    /// The request is complete; the next one waits for the response.
    Complete,
    /// The last answer is given; some input is still dropped.
    Linger {
        left: u64,
    },
    Closed,
}

#[derive(Debug, PartialEq, Eq)]
enum Writing {
    /// No request is there.
    Idle,
    /// A request is there and not answered.
    Awaiting,
    Body(Encoder),
    Finished,
}

/// What has to be known of the present request.
#[derive(Debug, Default)]
struct Exchange {
    is_head: bool,
    old: bool,
    persists: bool,
    /// The peer waits for `100 Continue`.
    awaits_continue: bool,
    /// Bytes of the request body that came after the response was finished.
    drained: u64,
}

/// What the read timer is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Wait {
    Nothing,
    Request,
    Head,
    Body,
    Linger,
}

impl ServerConnection {
    /// A connection that was just accepted.
    pub fn new(now: Now, limits: &Limits) -> Self {
        let mut connection = Self {
            bounds: Bounds {
                head: limits.head,
                fields: limits.head_fields,
                head_time: limits.head_time,
                body_time: limits.body_time,
                keep_alive: limits.keep_alive,
                stall: limits.stall,
                transmit: limits.transmit,
            },
            seen: now.mono,
            unix: now.unix,
            dated: Dated::default(),
            backlog: Buffer::default(),
            head: HeadBuffer::default(),
            reading: Reading::Head,
            writing: Writing::Idle,
            inbox: Inbox::default(),
            transmit: Buffer::default(),
            exchange: Exchange::default(),
            closing: false,
            fault: None,
            ended: None,
            waiting: Wait::Nothing,
            read_timer: Timer::Off,
            body_timer: Timer::Off,
            write_timer: Timer::Off,
        };
        connection.set_timers(false);
        connection.tick(now);
        connection
    }

    /// Bytes have arrived.
    pub fn handle_bytes(&mut self, now: Now, bytes: &[u8]) {
        if self.ended.is_some() || self.is_finished() {
            return;
        }
        self.read(bytes);
        self.set_timers(!bytes.is_empty());
        self.tick(now);
    }

    /// The peer has ended its side, reading has failed, or a write has failed.
    pub fn handle_end(&mut self, now: Now, end: End) {
        if self.ended.is_some() || self.is_finished() {
            if end == End::Broken {
                self.transmit.clear();
            }
            return;
        }
        self.ended = Some(end);
        if end == End::Broken {
            self.transmit.clear();
        }
        self.settle_end();
        self.set_timers(false);
        self.tick(now);
    }

    /// What there is to tell the layer above. After [`ServerOutput::Request`], the next call counts as
    /// interest in the body: if the peer waits for `100 Continue` and no response was begun, it gets one.
    pub fn poll_output(&mut self) -> Option<ServerOutput<'_>> {
        if self.inbox.is_empty() {
            self.resume();
        }
        if self.exchange.awaits_continue
            && self.writing == Writing::Awaiting
            && self.inbox.request.is_none()
            && !self.is_finished()
        {
            self.exchange.awaits_continue = false;
            self.transmit.push(b"HTTP/1.1 100 Continue\r\n\r\n");
        }
        let Some(next) = self.inbox.next() else {
            self.set_timers(false);
            return None;
        };
        match next {
            // Lent bytes do not count as held any more, and the timers depend on that.
            Next::Body => self.inbox.body.lend(),
            // The last thing of an exchange: what was pipelined behind it can go on without another call.
            Next::End => {
                self.inbox.end = false;
                self.resume();
            }
            Next::Request | Next::Aborted => {}
        }
        self.set_timers(false);
        self.inbox.give(next)
    }

    /// Whether all that is left to tell of a request is there, so that the next calls of
    /// [`poll_output`](Self::poll_output) bring it, and no interim answer is owed for it.
    pub fn has_whole_request(&self) -> bool {
        self.inbox.end && !self.exchange.awaits_continue
    }

    /// When to call [`handle_timeout`](Self::handle_timeout) at the latest.
    pub fn poll_timeout(&self) -> Option<Instant> {
        // Asked for several times a request, and mostly there is one timer.
        let at = |timer: &Timer, counts: bool| if counts { timer.at(self.seen) } else { None };
        let read = at(&self.read_timer, self.waiting != Wait::Nothing);
        let body = at(&self.body_timer, self.waiting == Wait::Body);
        let first = |one: Option<Instant>, other: Option<Instant>| match (one, other) {
            (Some(one), Some(other)) => Some(one.min(other)),
            (one, other) => one.or(other),
        };
        first(first(self.write_timer.at(self.seen), read), body)
    }

    /// What [`poll_timeout`](Self::poll_timeout) is for.
    pub fn wake_reason(&self) -> Option<WakeReason> {
        let first = self.poll_timeout();
        first?;
        if self.write_timer.at(self.seen) == first {
            return Some(WakeReason::Write);
        }
        match self.waiting {
            Wait::Nothing => None,
            Wait::Request => Some(WakeReason::Idle),
            Wait::Head => Some(WakeReason::Head),
            Wait::Body => Some(WakeReason::Body),
            Wait::Linger => Some(WakeReason::Linger),
        }
    }

    /// Time has passed. Whoever was not able to look in time gives first what has arrived by now, and takes what can be
    /// written: both may have been there before the deadline.
    pub fn handle_timeout(&mut self, now: Now) {
        self.tick(now);
        if self.write_timer.is_due(self.seen) {
            self.fault = Some("the peer does not read the response for `Limits::stall`");
            self.transmit.clear();
            self.give_up();
            self.reading = Reading::Closed;
        } else if self.waiting == Wait::Body && self.body_timer.is_due(self.seen) {
            self.refuse(Fault::new(408, "the body takes longer than `Limits::body_time`"));
        } else if self.read_timer.is_due(self.seen) {
            match self.waiting {
                Wait::Nothing => {}
                Wait::Request | Wait::Linger => self.reading = Reading::Closed,
                Wait::Head => self.refuse(Fault::new(408, "the head takes longer than `Limits::head_time`")),
                Wait::Body => self.refuse(Fault::new(408, "the body makes no progress for `Limits::stall`")),
            }
        }
        self.set_timers(false);
        self.tick(now);
    }

    /// Has timers begin to count that were set going without a time, by a response or by what was written. None of them
    /// fires, however late it is: what has arrived in time and was not read yet comes first.
    pub fn begin_timers(&mut self, now: Now) {
        self.tick(now);
    }

    /// Bytes to write.
    pub fn transmit(&self) -> &[u8] {
        self.transmit.as_slice()
    }

    /// So many bytes of [`transmit`](Self::transmit) were written.
    pub fn advance(&mut self, n: usize) {
        if n > 0 {
            self.transmit.advance(n);
            self.write_timer = Timer::Off;
            self.set_timers(false);
        }
    }

    /// Begins the response. It gets a `Date`, unless `now.unix` is zero, which stands for no clock. Framing and
    /// connection fields of `head` are replaced by what is true here; a field that is not a token with a clean value is
    /// left out. A `Connection: close` is honoured.
    ///
    /// With [`BodyLength::Empty`] the response is finished, too. If the peer has gone already, nothing
    /// happens.
    ///
    /// # Errors
    ///
    /// No request waits for a response, or the status is not a final one (200 to 999).
    pub fn respond(&mut self, now: Now, head: &ResponseHead, body: BodyLength) -> Result<(), ApiMisuse> {
        self.unix = now.unix;
        if self.is_finished() || matches!(self.reading, Reading::Linger { .. }) {
            return Ok(());
        }
        if self.writing != Writing::Awaiting || self.inbox.request.is_some() {
            return Err(ApiMisuse::new("no request waits for a response; respond once to each request"));
        }
        if !(200..=999).contains(&head.status) {
            return Err(ApiMisuse::new("a response needs a final status, from 200 to 999"));
        }
        let old = self.exchange.old;
        let bodiless = self.exchange.is_head || matches!(head.status, 204 | 304);
        let (framing, encoder) = match body {
            _ if matches!(head.status, 204 | 304) => (Framing::Undeclared, Encoder::Suppressed),
            BodyLength::Empty if bodiless => (Framing::Undeclared, Encoder::Suppressed),
            BodyLength::Empty => (Framing::Length(0), Encoder::Length(0)),
            BodyLength::Known(length) if bodiless => (Framing::Length(length), Encoder::Suppressed),
            BodyLength::Known(length) => (Framing::Length(length), Encoder::Length(length)),
            BodyLength::Stream if bodiless => (Framing::Undeclared, Encoder::Suppressed),
            BodyLength::Stream if old => (Framing::Undeclared, Encoder::UntilClose),
            BodyLength::Stream => (Framing::Chunked, Encoder::Chunked),
        };
        self.closing |= !self.exchange.persists
            || asks_to_close(&head.headers)
            || self.exchange.awaits_continue
            || encoder == Encoder::UntilClose
            || matches!(&self.reading, Reading::Body(body) if body.left().is_some_and(|left| left > DRAIN));
        let persistence = match (self.closing, old) {
            (true, _) => Persistence::Close,
            (false, true) => Persistence::KeepAlive,
            (false, false) => Persistence::Implied,
        };
        write_response(self.transmit.back(), head, framing, persistence, &mut self.dated, self.unix);
        self.writing = Writing::Body(encoder);
        if body == BodyLength::Empty {
            self.finish();
        }
        self.set_timers(false);
        Ok(())
    }

    /// Begins a response whose body is all there, and sends that: [`respond`](Self::respond) and
    /// [`send`](Self::send) in one, without a copy of the body.
    ///
    /// # Errors
    ///
    /// As for [`respond`](Self::respond).
    pub fn respond_whole(&mut self, now: Now, head: &ResponseHead, body: WholeBody) -> Result<(), ApiMisuse> {
        let length = body.len();
        let known = BodyLength::Known(length as u64);
        if !self.transmit.is_empty() {
            self.respond(now, head, known)?;
            self.send(body.as_slice());
        } else {
            // The head is written behind the body, and moved into the room before it.
            let (bytes, start) = body.into_parts();
            self.transmit.replace(bytes, start);
            let begun = self.respond(now, head, known);
            match &mut self.writing {
                Writing::Body(Encoder::Length(left)) if begun.is_ok() => {
                    *left = 0;
                    self.transmit.move_before(length);
                }
                // A response without a body, or none at all.
                _ => self.transmit.advance(length),
            }
            self.set_timers(false);
            begun?;
        }
        Ok(())
    }

    /// The memory of the response before this one, for the body of the next
    /// ([`respond_whole`](Self::respond_whole)). Empty while something of that is not written.
    pub fn spare(&mut self) -> Vec<u8> {
        self.transmit.spare()
    }

    /// Sends bytes of the response body. They are held until they are written: see
    /// [`send_room`](Self::send_room).
    pub fn send(&mut self, data: &[u8]) {
        if let Writing::Body(encoder) = &mut self.writing {
            encoder.send(data, &mut self.transmit);
            self.set_timers(false);
        }
    }

    /// How many bytes may be sent before more than `Limits::transmit` wait for the peer to read.
    pub fn send_room(&self) -> usize {
        self.bounds.transmit.saturating_sub(self.transmit.len())
    }

    /// Ends the response body. If fewer bytes were sent than promised, this is an [`abort`](Self::abort).
    pub fn finish(&mut self) {
        let Writing::Body(encoder) = &self.writing else { return };
        if !encoder.finish(&mut self.transmit) {
            return self.abort();
        }
        let told = *encoder != Encoder::UntilClose;
        self.writing = Writing::Finished;
        if self.closing {
            self.reading = match self.reading {
                Reading::Body(_) if told => Reading::Linger { left: DRAIN },
                _ => Reading::Closed,
            };
        } else {
            self.resume();
        }
        self.set_timers(false);
    }

    /// Gives up the present exchange: what was sent so far is written, then the connection is closed without
    /// a proper end of the response, so the peer can tell. (An HTTP/1.0 client cannot, if the length was not
    /// known.) Without an unfinished exchange nothing happens.
    pub fn abort(&mut self) {
        if matches!(self.writing, Writing::Awaiting | Writing::Body(_)) {
            self.writing = Writing::Finished;
            self.reading = Reading::Closed;
            self.set_timers(false);
        }
    }

    /// Finishes what has begun, then closes. The next response says so to the peer.
    pub fn shutdown(&mut self) {
        self.closing = true;
        if matches!(self.reading, Reading::Head) && self.head.is_empty() {
            self.reading = Reading::Closed;
        }
        self.set_timers(false);
    }

    /// Whether to read from the peer now. False while too much is held: pipelined requests, body bytes that
    /// were not polled, or more than `Limits::transmit` that the peer does not read.
    pub fn wants_read(&self) -> bool {
        !self.is_finished()
            && self.ended.is_none()
            && self.transmit.len() <= self.bounds.transmit
            && self.backlog.len() + self.inbox.body.len() < self.bounds.head
    }

    /// Whether this connection is over: write what [`transmit`](Self::transmit) still has, then close.
    /// [`poll_output`](Self::poll_output) may still have something to tell.
    pub fn is_finished(&self) -> bool {
        matches!(self.reading, Reading::Closed)
    }

    /// Why this side ended the connection, if the peer gave reason to: for logs.
    pub fn fault(&self) -> Option<&'static str> {
        self.fault
    }

    /// How many bytes are held, of all kinds.
    pub(super) fn held(&self) -> usize {
        self.backlog.len() + self.head.bytes().len() + self.inbox.body.len() + self.transmit.len()
    }

    /// The exchange, if it is not finished, will not be.
    fn give_up(&mut self) {
        if matches!(self.writing, Writing::Awaiting | Writing::Body(_)) {
            self.inbox.aborted = true;
            self.writing = Writing::Finished;
        }
    }

    fn tick(&mut self, now: Now) {
        self.seen = self.seen.max(now.mono);
        self.unix = now.unix;
        self.read_timer.arm(self.seen);
        self.body_timer.arm(self.seen);
        self.write_timer.arm(self.seen);
    }

    /// Derives the timers from the state; called after whatever may have changed it.
    fn set_timers(&mut self, progress: bool) {
        let waiting = match self.reading {
            Reading::Head if self.head.is_empty() => Wait::Request,
            Reading::Head => Wait::Head,
            // Nothing is due from a peer that we do not listen to, or that waits for us.
            Reading::Body(_) if self.wants_read() && !self.exchange.awaits_continue => Wait::Body,
            Reading::Linger { .. } => Wait::Linger,
            Reading::Body(_) | Reading::Complete | Reading::Closed => Wait::Nothing,
        };
        if waiting != self.waiting || (progress && waiting == Wait::Body) {
            self.waiting = waiting;
            self.read_timer = match waiting {
                Wait::Nothing => Timer::Off,
                Wait::Request => Timer::Starting(self.bounds.keep_alive),
                Wait::Head => Timer::Starting(self.bounds.head_time),
                Wait::Body => Timer::Starting(self.bounds.stall),
                Wait::Linger => Timer::Starting(LINGER.min(self.bounds.stall)),
            };
        }
        if !matches!(self.reading, Reading::Body(_)) {
            self.body_timer = Timer::Off;
        } else if waiting == Wait::Body && self.body_timer == Timer::Off {
            self.body_timer = Timer::Starting(self.bounds.body_time);
        }
        if self.transmit.is_empty() {
            self.write_timer = Timer::Off;
        } else if self.write_timer == Timer::Off {
            self.write_timer = Timer::Starting(self.bounds.stall);
        }
    }
}
