//! The response side of an exchange: one JSON message, an event stream, or nothing but a status.

use alloc::vec::Vec;

use super::ExchangeOutput;
use crate::head::BodyLength;
use crate::head::{Headers, ResponseHead};
use crate::server::media::Accepts;
use crate::server::transmit::Transmit;
use crate::wire::sse;

#[derive(Debug)]
pub(super) struct Reply {
    pub(super) transmit: Transmit,
    /// The status of the response, unless it has begun.
    pub(super) status: u16,
    /// Further fields for its head.
    pub(super) headers: Headers,
    accepts: Accepts,
    form: Form,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Form {
    /// The head is not out yet, so every form is still possible.
    Open,
    /// An event stream, with events to come.
    Stream,
    /// Complete.
    Complete,
    /// Nobody reads it: whatever is written goes nowhere.
    Left,
}

impl Reply {
    pub(super) fn new(accepts: Accepts) -> Self {
        Self {
            transmit: Transmit::default(),
            status: 200,
            headers: Headers::new(),
            accepts,
            form: Form::Open,
        }
    }

    /// Whether events may be sent: the response is an event stream, or could become one.
    pub(super) fn may_stream(&self) -> bool {
        match self.form {
            Form::Open => self.accepts.events,
            Form::Stream => true,
            Form::Complete | Form::Left => false,
        }
    }

    pub(super) fn is_stream(&self) -> bool {
        self.form == Form::Stream
    }

    /// The last message. An error status travels as JSON whatever the client accepts.
    pub(super) fn answer(&mut self, write: impl FnOnce(&mut Vec<u8>)) -> Option<ExchangeOutput> {
        let out = self.transmit.buffer();
        match self.form {
            Form::Complete | Form::Left => None,
            Form::Stream => {
                self.form = Form::Complete;
                event(out, write);
                None
            }
            Form::Open if self.status == 200 && !self.accepts.json => {
                event(out, write);
                self.complete("text/event-stream")
            }
            Form::Open => {
                write(out);
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
        let out = self.transmit.buffer();
        let start = out.len();
        sse::begin_data(out, None, None);
        if !write(out) {
            out.truncate(start);
            return None;
        }
        sse::end_event(out);
        self.stream()
    }

    /// A sign of life.
    pub(super) fn comment(&mut self) -> Option<ExchangeOutput> {
        if !self.may_stream() {
            return None;
        }
        sse::write_comment(self.transmit.buffer(), "");
        self.stream()
    }

    /// Understood, and there is nothing to say (HTTP-11, HTTPL-06).
    pub(super) fn accept(&mut self) -> Option<ExchangeOutput> {
        self.nothing(202)
    }

    /// A status and no body.
    pub(super) fn nothing(&mut self, status: u16) -> Option<ExchangeOutput> {
        match core::mem::replace(&mut self.form, Form::Complete) {
            Form::Open => Some(ExchangeOutput::Head(self.head(status), BodyLength::Empty)),
            Form::Left => {
                self.form = Form::Left;
                None
            }
            Form::Stream | Form::Complete => None,
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
        if media_type == "application/json" {
            head.headers.push("Content-Type", media_type);
        } else {
            as_events(&mut head);
        }
        // A length of the body fits where its bytes do.
        Some(ExchangeOutput::Head(head, BodyLength::Known(self.transmit.len() as u64)))
    }

    fn head(&mut self, status: u16) -> ResponseHead {
        let mut head = ResponseHead::new(status);
        head.headers = core::mem::take(&mut self.headers);
        head
    }
}

fn event(out: &mut Vec<u8>, write: impl FnOnce(&mut Vec<u8>)) {
    sse::begin_data(out, None, None);
    write(out);
    sse::end_event(out);
}

fn as_events(head: &mut ResponseHead) {
    head.headers.push("Content-Type", "text/event-stream");
    // Events are for now: neither a cache nor a proxy's buffer may hold them (SSE-01).
    head.headers.push("Cache-Control", "no-cache");
    head.headers.push("X-Accel-Buffering", "no");
}
