//! The way in: bytes to heads and bodies, and what ends it.

use super::{DRAIN, Exchange, Reading, ServerConnection, Timer, Writing};
use crate::wire::http1::body::Decoder;
use crate::wire::http1::head::{Fault, Found, Framing, error_response, parse_request};

impl ServerConnection {
    /// Takes all of the bytes: reads them, or keeps what has to wait for the present exchange.
    pub(super) fn read(&mut self, bytes: &[u8]) {
        if self.backlog.is_empty() {
            let used = self.pump(bytes);
            self.backlog.push(bytes.get(used..).unwrap_or_default());
        } else {
            self.backlog.push(bytes);
            self.resume();
        }
    }

    /// Reads what had to wait, if it need not any more.
    pub(super) fn resume(&mut self) {
        let mut backlog = core::mem::take(&mut self.backlog);
        let used = self.pump(backlog.as_slice());
        backlog.advance(used);
        self.backlog = backlog;
        self.settle_end();
    }

    /// The end of input takes effect where nothing that came before it is left to do.
    pub(super) fn settle_end(&mut self) {
        if self.ended.is_none() {
            return;
        }
        // A finished exchange with events to give out: pipelined requests behind it are still to be told.
        if matches!(self.reading, Reading::Complete) && self.writing == Writing::Finished {
            return;
        }
        self.give_up();
        self.reading = Reading::Closed;
    }

    /// Refuses what the peer sent: answers, if no answer has begun, and closes.
    pub(super) fn refuse(&mut self, fault: Fault) {
        self.fault = Some(fault.what);
        let is_answerable = matches!(self.writing, Writing::Idle | Writing::Awaiting);
        self.reading = if is_answerable {
            error_response(self.transmit.back(), fault.status, &mut self.dated, self.unix);
            Reading::Linger { left: DRAIN }
        } else {
            Reading::Closed
        };
        self.give_up();
        self.writing = Writing::Finished;
    }

    /// Reads as far as possible. Returns how much was used; the rest waits for the present exchange.
    fn pump(&mut self, input: &[u8]) -> usize {
        let mut used = 0;
        loop {
            let rest = input.get(used..).unwrap_or_default();
            let is_over = self.is_exchange_over();
            match &mut self.reading {
                Reading::Complete if is_over => self.next_exchange(),
                Reading::Complete => return used,
                _ if rest.is_empty() => return used,
                Reading::Head => {
                    let (taken, found) = self.head.feed(rest, self.bounds.head);
                    used += taken;
                    match found {
                        Found::More => {}
                        Found::Complete => self.begin_request(),
                        Found::Fault(fault) => self.refuse(fault),
                    }
                }
                Reading::Body(decoder) => match decoder.decode(rest) {
                    Ok(piece) => {
                        used += piece.used;
                        self.inbox.body.push(piece.data);
                        if piece.done {
                            self.inbox.end = true;
                            self.reading = Reading::Complete;
                        } else if self.writing == Writing::Finished {
                            self.exchange.drained += piece.used as u64;
                            if self.exchange.drained > DRAIN {
                                self.reading = Reading::Closed;
                            }
                        }
                    }
                    Err(fault) => self.refuse(fault),
                },
                Reading::Linger { left } => {
                    match left.checked_sub(rest.len() as u64) {
                        Some(less) => *left = less,
                        None => self.reading = Reading::Closed,
                    }
                    return input.len();
                }
                Reading::Closed => return input.len(),
            }
        }
    }

    fn begin_request(&mut self) {
        let fields = self.head.fields();
        let parsed = parse_request(self.head.take(), fields, self.bounds.fields);
        let request = match parsed {
            Ok(request) => request,
            Err(fault) => return self.refuse(fault),
        };
        self.exchange = Exchange {
            is_head: request.head.method == "HEAD",
            old: request.old,
            persists: request.persists,
            awaits_continue: request.expects_continue,
            drained: 0,
        };
        self.writing = Writing::Awaiting;
        self.body_timer = Timer::Off;
        let length = match request.framing {
            Framing::Undeclared => Some(0),
            Framing::Length(length) => Some(length),
            Framing::Chunked => None,
        };
        self.inbox.request = Some((request.head, length));
        match Decoder::new(request.framing, self.bounds.head, self.bounds.fields) {
            Some(decoder) => self.reading = Reading::Body(decoder),
            None => {
                self.inbox.end = true;
                self.reading = Reading::Complete;
            }
        }
    }

    /// Whether the exchange is finished, and the layer above knows all of it.
    fn is_exchange_over(&self) -> bool {
        self.writing == Writing::Finished && self.inbox.is_empty()
    }

    fn next_exchange(&mut self) {
        self.writing = Writing::Idle;
        self.reading = if self.closing { Reading::Closed } else { Reading::Head };
    }
}
