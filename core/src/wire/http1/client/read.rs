//! The way in: bytes to the response, and what cuts it short.

use super::{ClientConnection, Reading, Writing};
use crate::head::End;
use crate::wire::http1::body::Decoder;
use crate::wire::http1::head::{Found, Framing, parse_response};
use alloc::format;
use alloc::string::String;

/// How many interim responses may precede one response.
const INTERIM: u8 = 16;

impl ClientConnection {
    /// Reads all of the bytes.
    pub(super) fn read(&mut self, bytes: &[u8]) {
        let mut used = 0;
        loop {
            let rest = bytes.get(used..).unwrap_or_default();
            if rest.is_empty() {
                return;
            }
            match &mut self.reading {
                // Nobody asked: the server says why it closes, or lost count. Nothing after it can be trusted.
                Reading::Idle => self.reading = Reading::Closed,
                Reading::Head if !self.exchange.has_left => {
                    return self.fail("the server sent something before the request was written");
                }
                Reading::Head => {
                    let (taken, found) = self.head.feed(rest, self.bounds.head);
                    used += taken;
                    match found {
                        Found::More => {}
                        Found::Complete => self.begin_response(),
                        Found::Fault(fault) => {
                            self.fail(format!("the response is not HTTP/1.1: {}", fault.what));
                        }
                    }
                }
                Reading::Body(decoder) => match decoder.decode(rest) {
                    Ok(piece) => {
                        used += piece.used;
                        self.exchange.received += piece.data.len() as u64;
                        self.inbox.body.push(piece.data);
                        if piece.done {
                            self.end_response();
                        }
                    }
                    Err(fault) => self.fail(format!("the body of the response is broken: {}", fault.what)),
                },
                Reading::Closed => return,
            }
        }
    }

    pub(super) fn read_end(&mut self, end: End) {
        let how = match end {
            End::Complete => "the server closed the connection",
            End::Broken => "the connection broke",
        };
        let received = self.exchange.received;
        match &self.reading {
            Reading::Idle => self.reading = Reading::Closed,
            Reading::Closed => {}
            Reading::Head if self.head.is_empty() => self.fail(format!("{how} before it answered")),
            Reading::Head => self.fail(format!("{how} in the head of the response")),
            Reading::Body(Decoder::UntilClose) if end == End::Complete => {
                self.inbox.end = true;
                self.reading = Reading::Closed;
            }
            Reading::Body(decoder) => {
                let missing = match decoder.left() {
                    Some(left) => format!("{left} bytes before its end"),
                    None => String::from("before its end"),
                };
                self.fail(format!("{how} after {received} bytes of the response body, {missing}"));
            }
        }
    }

    /// The exchange fails, if one is under way, and the connection is over.
    pub(super) fn fail(&mut self, reason: impl Into<String>) {
        if matches!(self.reading, Reading::Head | Reading::Body(_)) {
            self.inbox.failed = Some((reason.into(), !self.exchange.has_left));
        }
        self.reading = Reading::Closed;
    }

    fn begin_response(&mut self) {
        let fields = self.head.fields();
        let parsed = parse_response(self.head.take(), fields, self.bounds.fields);
        let response = match parsed {
            Ok(response) => response,
            Err(fault) => return self.fail(format!("the response is not HTTP/1.1: {}", fault.what)),
        };
        match response.head.status {
            101 => return self.fail("the server switched to another protocol, which was not asked for"),
            100..200 if self.exchange.interim == INTERIM => {
                return self.fail("the server sends one interim response after another");
            }
            100..200 => {
                self.exchange.interim += 1;
                return;
            }
            _ => {}
        }
        self.exchange.closes |= !response.persists;
        let is_bodiless = self.exchange.is_head || matches!(response.head.status, 204 | 304);
        self.inbox.head = Some(response.head);
        let decoder = match response.framing {
            _ if is_bodiless => None,
            Framing::Undeclared => Some(Decoder::UntilClose),
            framing => Decoder::new(framing, self.bounds.head, self.bounds.fields),
        };
        match decoder {
            Some(decoder) => self.reading = Reading::Body(decoder),
            None => self.end_response(),
        }
    }

    fn end_response(&mut self) {
        self.inbox.end = true;
        // A request that was answered before it was written is not worth writing on.
        let is_written = matches!(self.writing, Writing::Finished) && self.transmit.is_empty();
        self.reading = if self.exchange.closes || !is_written { Reading::Closed } else { Reading::Idle };
    }
}
