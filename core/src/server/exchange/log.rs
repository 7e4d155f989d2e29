//! What makes the event stream of a legacy response one that can be taken up again: its events have ids, and each
//! message is also told to the session, which keeps it.
//!
//! <https://modelcontextprotocol.io/specification/2025-11-25/basic/transports#resumability-and-redelivery>

use alloc::string::{String, ToString};
use alloc::vec::Vec;

use crate::error::{ErrorObject, code};
use crate::server::events::{Event, EventId, StreamId};
use crate::wire::jsonrpc::{self, RequestId};
use crate::wire::sse;

#[derive(Debug)]
pub(super) struct Log {
    stream: StreamId,
    /// Of the last event.
    number: u64,
    /// Whether the client was given an id: without one it can never come back.
    begun: bool,
    /// Whether a stream of this revision begins with an event that is an id and nothing else (HTTPL-17).
    primes: bool,
    /// The only request that the stream answers.
    request: Option<RequestId>,
    /// The longest message that is kept.
    most: usize,
    /// What the session has not been told.
    told: Vec<Event>,
}

impl Log {
    pub(super) fn new(stream: StreamId, primes: bool, request: Option<RequestId>, most: usize) -> Self {
        Self { stream, number: 0, begun: false, primes, request, most, told: Vec::new() }
    }

    pub(super) fn has_begun(&self) -> bool {
        self.begun
    }

    pub(super) fn primes(&self) -> bool {
        self.primes
    }

    /// Appends the priming event, where there is one and it has not been sent.
    pub(super) fn prime(&self, out: &mut Vec<u8>) {
        if self.primes && !self.begun {
            nothing(out, &self.id(self.number));
        }
    }

    /// Appends an event that is a new id and nothing else.
    pub(super) fn mark(&mut self, out: &mut Vec<u8>) {
        self.number += 1;
        self.begun = true;
        nothing(out, &self.id(self.number));
    }

    /// The id of the event that comes next.
    pub(super) fn next_id(&self) -> String {
        self.id(self.number + 1)
    }

    /// The client was given ids.
    pub(super) fn begin(&mut self) {
        self.begun = true;
    }

    /// A message was written, or would have been if somebody were there to read it.
    pub(super) fn note(&mut self, message: &[u8], last: bool) {
        self.begin();
        self.number += 1;
        let id = EventId::new(self.stream, self.number);
        if message.len() <= self.most {
            self.told.push(Event::new(id, message, last));
        } else if last {
            let error = ErrorObject::new(code::INTERNAL, "the response was too long to be kept");
            let mut message = Vec::new();
            jsonrpc::write_error(&mut message, self.request.as_ref(), &error);
            self.told.push(Event::new(id, message, last));
        }
    }

    /// What the session is to be told.
    pub(super) fn take(&mut self) -> Vec<Event> {
        core::mem::take(&mut self.told)
    }

    fn id(&self, number: u64) -> String {
        EventId::new(self.stream, number).to_string()
    }
}

/// An event without data.
pub(super) fn nothing(out: &mut Vec<u8>, id: &str) {
    sse::begin_data(out, None, Some(id));
    sse::end_event(out);
}
