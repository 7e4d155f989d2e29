//! The response side of an exchange: one JSON message, an event stream, or nothing but a status.

use alloc::boxed::Box;
use alloc::vec::Vec;

use super::ExchangeOutput;
use super::log::{self, Log};
use crate::head::BodyLength;
use crate::head::{Headers, ResponseHead};
use crate::server::events::Event;
use crate::server::media::Accepts;
use crate::server::transmit::Transmit;
use crate::time::Duration;
use crate::wire::sse;

#[derive(Debug)]
pub(super) struct Reply {
    pub(super) transmit: Transmit,
    /// The status of the response, unless it has begun.
    pub(super) status: u16,
    /// Further fields for its head. Mostly there are none, and an exchange moves when it begins.
    headers: Option<Box<Headers>>,
    /// Fields for its head, whatever it says.
    common: Option<Box<Headers>>,
    accepts: Accepts,
    form: Form,
    /// Where an event stream can be taken up again.
    log: Option<Log>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Form {
    /// The head is not out yet, so every form is still possible.
    Open,
    /// An event stream, with events to come.
    Stream,
    /// Complete.
    Complete,
    /// Complete, but for the messages: those go to the log.
    Parted,
    /// Nobody reads it: whatever is written goes nowhere but to the log.
    Left,
}

impl Reply {
    pub(super) fn new(accepts: Accepts) -> Self {
        Self {
            transmit: Transmit::default(),
            status: 200,
            headers: None,
            common: None,
            accepts,
            form: Form::Open,
            log: None,
        }
    }

    /// Has the head say this as well.
    pub(super) fn add(&mut self, headers: Headers) {
        self.headers = boxed(headers);
    }

    /// The same, whatever else it says.
    pub(super) fn add_always(&mut self, headers: Headers) {
        self.common = boxed(headers);
    }

    /// The answer is JSON, whatever the client accepts.
    pub(super) fn accept_json(&mut self) {
        self.accepts.json = true;
    }

    /// Lets the stream be taken up again, if the response becomes one.
    pub(super) fn keep(&mut self, log: Log) {
        if self.accepts.events && self.form == Form::Open {
            self.log = Some(log);
        }
    }

    /// The events that the session has not been told.
    pub(super) fn take_noted(&mut self) -> Vec<Event> {
        self.log.as_mut().map(Log::take).unwrap_or_default()
    }

    /// Whether messages may be sent before the last one: the response is an event stream, or could become
    /// one, or there is a log of what is sent.
    pub(super) fn may_stream(&self) -> bool {
        match self.form {
            Form::Open => self.accepts.events,
            Form::Stream => true,
            Form::Complete => false,
            Form::Parted | Form::Left => self.log.as_ref().is_some_and(Log::has_begun),
        }
    }

    /// Whether somebody waits for it who wants signs of life.
    pub(super) fn wants_comments(&self) -> bool {
        matches!(self.form, Form::Open | Form::Stream) && self.may_stream()
    }

    /// Whether the client would want an id to come back with, and has none.
    pub(super) fn wants_priming(&self) -> bool {
        self.form == Form::Open && self.log.as_ref().is_some_and(|log| log.primes() && !log.has_begun())
    }

    pub(super) fn is_stream(&self) -> bool {
        self.form == Form::Stream
    }

    /// Whether the response is complete, and more messages come nevertheless.
    pub(super) fn has_parted(&self) -> bool {
        self.form == Form::Parted
    }

    /// The last message. An error status travels as JSON whatever the client accepts.
    pub(super) fn answer(&mut self, write: impl FnOnce(&mut Vec<u8>)) -> Option<ExchangeOutput> {
        match self.form {
            Form::Complete => None,
            Form::Parted | Form::Left => {
                self.note_unsent(true, |out| {
                    write(out);
                    true
                });
                None
            }
            Form::Stream => {
                self.form = Form::Complete;
                self.event(true, |out| {
                    write(out);
                    true
                });
                None
            }
            Form::Open if self.status == 200 && !self.accepts.json => {
                self.event(true, |out| {
                    write(out);
                    true
                });
                self.complete("text/event-stream")
            }
            Form::Open => {
                write(self.transmit.buffer());
                self.complete("application/json")
            }
        }
    }

    /// A message before the last one. `write` says whether it wrote anything.
    pub(super) fn notification(
        &mut self,
        write: impl FnOnce(&mut Vec<u8>) -> bool,
    ) -> Option<ExchangeOutput> {
        if !self.may_stream() {
            return None;
        }
        if matches!(self.form, Form::Parted | Form::Left) {
            self.note_unsent(false, write);
            return None;
        }
        if self.event(false, write) { self.stream() } else { None }
    }

    /// Appends an event with a message, for the client and for the log.
    fn event(&mut self, last: bool, write: impl FnOnce(&mut Vec<u8>) -> bool) -> bool {
        let out = self.transmit.buffer();
        let start = out.len();
        let id = self.log.as_ref().map(|log| {
            log.prime(out);
            log.next_id()
        });
        sse::begin_data(out, None, id.as_deref());
        let message = out.len();
        if !write(out) {
            out.truncate(start);
            return false;
        }
        if let Some(log) = &mut self.log {
            log.note(out.get(message..).unwrap_or_default(), last);
        }
        sse::end_event(out);
        true
    }

    /// Notes a message for a client that is away, if it can come back.
    fn note_unsent(&mut self, last: bool, write: impl FnOnce(&mut Vec<u8>) -> bool) {
        let Some(log) = self.log.as_mut().filter(|log| log.has_begun()) else { return };
        let mut message = Vec::new();
        if write(&mut message) {
            log.note(&message, last);
        }
    }

    /// A sign of life; the first one gives the client an id to come back with.
    pub(super) fn comment(&mut self) -> Option<ExchangeOutput> {
        if !self.wants_comments() {
            return None;
        }
        let primes = self.wants_priming();
        let out = self.transmit.buffer();
        match &mut self.log {
            Some(log) if primes => {
                log.prime(out);
                log.begin();
            }
            _ => sse::write_comment(out, ""),
        }
        self.stream()
    }

    /// Begins as an event stream with this event before it, which the client has had.
    pub(super) fn listen(&mut self, after: Option<&str>) -> Option<ExchangeOutput> {
        match after {
            Some(id) => log::nothing(self.transmit.buffer(), id),
            None => sse::write_comment(self.transmit.buffer(), ""),
        }
        self.stream()
    }

    /// Begins the event stream of HTTP with SSE: first where to POST messages (SSEL-02).
    pub(super) fn event_stream(&mut self, endpoint: &str) -> Option<ExchangeOutput> {
        sse::write_event(self.transmit.buffer(), Some("endpoint"), None, endpoint.as_bytes());
        self.stream()
    }

    /// A message on such a stream (SSEL-04).
    pub(super) fn message(&mut self, message: &[u8]) {
        if self.form == Form::Stream {
            sse::write_event(self.transmit.buffer(), Some("message"), None, message);
        }
    }

    /// An event of a stream that others keep.
    pub(super) fn deliver(&mut self, id: Option<&str>, message: &[u8]) {
        if self.form == Form::Stream && !message.is_empty() {
            sse::write_event(self.transmit.buffer(), None, id, message);
        }
    }

    /// The response ends before its stream does, and the client is asked to come back for the rest. Whether
    /// that was possible.
    pub(super) fn part(&mut self, retry: Duration) -> Option<ExchangeOutput> {
        if !self.wants_comments() {
            return None;
        }
        let out = self.transmit.buffer();
        let log = self.log.as_mut().filter(|log| log.primes())?;
        log.prime(out);
        sse::write_retry(out, retry);
        log.mark(out);
        let head = self.stream();
        self.form = Form::Parted;
        head
    }

    /// The client has come back elsewhere: what is not sent here is sent there.
    pub(super) fn hand_over(&mut self) {
        if self.form == Form::Stream {
            self.form = Form::Parted;
        }
    }

    /// An event stream ends without a last message. With `retry`, the client is asked to come back.
    pub(super) fn end(&mut self, retry: Option<Duration>) {
        if self.form == Form::Stream {
            if let Some(retry) = retry {
                let out = self.transmit.buffer();
                sse::write_retry(out, retry);
                out.push(b'\n');
            }
            self.form = Form::Complete;
        }
    }

    /// Understood, and there is nothing to say (HTTP-11, HTTPL-06).
    pub(super) fn accept(&mut self) -> Option<ExchangeOutput> {
        self.nothing(202)
    }

    /// A status and no body.
    pub(super) fn nothing(&mut self, status: u16) -> Option<ExchangeOutput> {
        match core::mem::replace(&mut self.form, Form::Complete) {
            Form::Open => Some(ExchangeOutput::Head(self.head(status), BodyLength::Empty)),
            form @ (Form::Left | Form::Parted) => {
                self.form = form;
                // The stream ends without a response.
                self.note_unsent(true, |_| true);
                None
            }
            Form::Stream => {
                if let Some(log) = &mut self.log {
                    log.note(&[], true);
                }
                None
            }
            Form::Complete => None,
        }
    }

    /// The request was cancelled, so its response ends without a message (CAN-16).
    pub(super) fn close(&mut self) -> Option<ExchangeOutput> {
        self.accept()
    }

    /// The client has gone.
    pub(super) fn leave(&mut self) {
        self.transmit.clear();
        self.form = Form::Left;
    }

    pub(super) fn has_left(&self) -> bool {
        self.form == Form::Left
    }

    fn stream(&mut self) -> Option<ExchangeOutput> {
        if self.form == Form::Stream {
            return None;
        }
        self.form = Form::Stream;
        let mut head = self.head(200);
        as_events(&mut head);
        Some(ExchangeOutput::Head(head, BodyLength::Stream))
    }

    fn complete(&mut self, media_type: &str) -> Option<ExchangeOutput> {
        self.form = Form::Complete;
        let mut head = self.head(self.status);
        match media_type {
            "application/json" if head.headers.is_empty() => head.headers = Headers::of_json(),
            "application/json" => head.headers.push("Content-Type", media_type),
            _ => as_events(&mut head),
        }
        // A length of the body fits where its bytes do.
        Some(ExchangeOutput::Head(head, BodyLength::Known(self.transmit.len() as u64)))
    }

    fn head(&mut self, status: u16) -> ResponseHead {
        let mut head = ResponseHead::new(status);
        if let Some(headers) = self.headers.take() {
            head.headers = *headers;
        }
        if let Some(common) = &self.common {
            head.headers.append(common);
        }
        head
    }
}

fn boxed(headers: Headers) -> Option<Box<Headers>> {
    (!headers.is_empty()).then(|| Box::new(headers))
}

fn as_events(head: &mut ResponseHead) {
    if head.headers.is_empty() {
        // Room for all of it at once, and not by doubling.
        head.headers = Headers::with_capacity(4, 128);
    }
    head.headers.push("Content-Type", "text/event-stream");
    // Events are for now: neither a cache nor a proxy's buffer may hold them (SSE-01).
    head.headers.push("Cache-Control", "no-cache");
    head.headers.push("X-Accel-Buffering", "no");
}
