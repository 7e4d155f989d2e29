//! Responses: from heads and bodies to what became of the calls.

#[cfg(feature = "gzip")]
use super::coded;
use super::exchange::{Exchange, Purpose, Reading, Unusable};
use super::outcome::{Outcome, broken};
use super::refused::wants_authorization;
use super::repeat::retry_after;
use super::{ExchangeId, Http, LINGER, SessionId, State};
use crate::client::asks::Asker;
#[cfg(feature = "gzip")]
use crate::client::event::Out;
use crate::client::link::Way;
use crate::diagnostic::Diagnostic;
use crate::error::CallError;
use crate::head::{End, ResponseHead, declared_length};
use crate::model::Json;
use crate::text;
use crate::time::{Duration, Instant, Now};
#[cfg(feature = "gzip")]
use crate::wire::inflate::Inflater;
use crate::wire::jsonrpc::{self, Incoming, Malformed, Message, Request, RequestId, Response};
use crate::wire::sse::{Decoder, SseItem};
use alloc::borrow::ToOwned;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

impl Http {
    pub(super) fn head(&mut self, now: Now, id: ExchangeId, head: &ResponseHead) {
        let Now { mono: now, unix, .. } = now;
        let Some(exchange) = self.exchanges.get_mut(&id) else { return };
        // An informational head is followed by the real one; a second real one is nobody's.
        if !matches!(exchange.reading, Reading::Head) || (100..200).contains(&head.status) {
            return;
        }
        let purpose = exchange.purpose;
        if matches!(head.status, 301 | 302 | 303 | 307 | 308) {
            return self.redirect(now, id, head);
        }
        if self.is_refused(now, id, head) {
            return;
        }
        if purpose.is_unanswered() {
            if let Some(exchange) = self.exchanges.get_mut(&id) {
                exchange.reading = Reading::Nothing;
            }
            self.cut_at(id, now + LINGER);
            return self.noted(now, purpose, head.status);
        }
        if purpose == Purpose::Listen && !self.heard(now, id, head)
            || purpose == Purpose::Stream && !self.streams(now, id, head)
        {
            return;
        }
        if self.sse.is_some() && purpose != Purpose::Stream && (200..300).contains(&head.status) {
            return self.accepted(now, id, purpose);
        }
        if wants_authorization(head) {
            let error = self.unauthorized(id, head.status);
            self.retire(now, id);
            return error.into_iter().for_each(|error| self.conclude(now, purpose, Outcome::Failed(error)));
        }
        if purpose == Purpose::Opening {
            // Bytes that are no text are not lost: an id that holds them is refused as one.
            let id = head.headers.get("mcp-session-id").map(String::from_utf8_lossy);
            self.offered_session = id.map(|id| SessionId(id.into_owned()));
        }
        let limit = self.link.config.limits.message;
        match Reading::behind(head, &self.link.config) {
            Ok(Reading::Body(_)) if declared_length(&head.headers).is_some_and(|it| it > limit as u64) => {
                self.abort(id);
                self.conclude(now, purpose, Outcome::Failed(CallError::TooLarge { limit }));
            }
            Ok(reading) => {
                if let Some(exchange) = self.exchanges.get_mut(&id) {
                    exchange.retry_after = retry_after(unix, head);
                    exchange.reading = reading;
                    #[cfg(feature = "gzip")]
                    {
                        exchange.inflater = coded::coding(head).map(|coding| Inflater::new(coding).into());
                    }
                }
            }
            Err(Unusable(reason)) => {
                self.retire(now, id);
                self.conclude(now, purpose, Outcome::Failed(CallError::Invalid { reason }));
            }
        }
    }

    pub(super) fn body(&mut self, now: Instant, id: ExchangeId, bytes: &[u8]) {
        #[cfg(feature = "gzip")]
        if let Some(inflater) = self.exchanges.get_mut(&id).and_then(|exchange| exchange.inflater.take()) {
            return self.inflate(now, id, inflater, bytes);
        }
        self.plain(now, id, bytes);
    }

    /// A part of a body that is not compressed, or not any more.
    pub(super) fn plain(&mut self, now: Instant, id: ExchangeId, bytes: &[u8]) {
        let limit = self.link.config.limits.message;
        let Some(exchange) = self.exchanges.get_mut(&id) else { return };
        let purpose = exchange.purpose;
        if let Reading::Events(_) = exchange.reading {
            // Out of the exchange while its events are lent.
            if let Reading::Events(decoder) = core::mem::replace(&mut exchange.reading, Reading::Nothing) {
                self.events(now, id, decoder, bytes);
            }
        } else if let Err(limit) = exchange.reading.collect(bytes, limit) {
            self.abort(id);
            self.conclude(now, purpose, Outcome::Failed(CallError::TooLarge { limit }));
        }
    }

    pub(super) fn end(&mut self, now: Instant, id: ExchangeId, end: End) {
        let Some(exchange) = self.remove(id) else { return };
        let Exchange { purpose, reading, .. } = &exchange;
        let purpose = *purpose;
        #[cfg(feature = "gzip")]
        let cut = exchange.inflater.as_ref().is_some_and(|inflater| !inflater.is_complete());
        #[cfg(feature = "gzip")]
        let end = if cut { End::Broken } else { end };
        match reading {
            Reading::Head => {
                self.lost(now, &exchange, None, "the connection ended before the response came", false);
            }
            Reading::Body(_) if end == End::Broken => {
                self.conclude(now, purpose, Outcome::Failed(broken("the response broke off".into())));
            }
            Reading::Body(body) => self.whole_body(now, &exchange, body),
            Reading::Events(decoder) => {
                let reason = match purpose {
                    Purpose::Stream => "the server closed it",
                    _ => "the response stream ended without the response",
                };
                self.lost(now, &exchange, Some(decoder), reason, false);
            }
            Reading::Refusal { status, body } => self.refused(now, &exchange, *status, body),
            Reading::Nothing => {}
        }
    }

    /// No more is wanted of a body that explains a refusal.
    #[cfg(feature = "gzip")]
    pub(super) fn cut_short(&mut self, now: Instant, id: ExchangeId) {
        let Some(exchange) = self.remove(id) else { return };
        self.link.events.act(Out::Abort(id));
        if let Reading::Refusal { status, body } = &exchange.reading {
            self.refused(now, &exchange, *status, body);
        }
    }

    pub(super) fn failed(&mut self, now: Instant, id: ExchangeId, reason: &str, unsent: bool) {
        let Some(exchange) = self.remove(id) else { return };
        let decoder = match &exchange.reading {
            Reading::Events(decoder) => Some(decoder),
            _ => None,
        };
        self.lost(now, &exchange, decoder, reason, unsent);
    }

    /// An exchange has ended and brought nothing.
    fn lost(
        &mut self,
        now: Instant,
        exchange: &Exchange,
        decoder: Option<&Decoder>,
        reason: &str,
        unsent: bool,
    ) {
        match exchange.purpose {
            Purpose::Call(call) if decoder.is_some() => {
                self.broke_off(now, call, decoder.and_then(Decoder::last_event_id), true);
            }
            Purpose::Resume(call) => {
                let after = decoder.and_then(Decoder::last_event_id);
                self.broke_off(now, call, after, after.is_some());
            }
            Purpose::Opening if self.was_greeted() => self.stream_lost(now, reason),
            Purpose::Opening if self.greet_later(now, Duration::ZERO) => {}
            // A stream that ended is an answer of sorts; no connection at all says nothing about the era.
            Purpose::Opening if decoder.is_some() => {
                self.conclude(now, Purpose::Opening, Outcome::Failed(broken(reason.into())));
            }
            Purpose::Opening => self.finish(CallError::Broken { reason: reason.into(), unsent: true }),
            Purpose::Call(call) if unsent && self.try_later(now, call, Duration::ZERO) => {}
            Purpose::Call(_) => {
                let error = CallError::Broken { reason: reason.into(), unsent };
                self.conclude(now, exchange.purpose, Outcome::Failed(error));
            }
            Purpose::Listen => self.listen_again(now, decoder.and_then(Decoder::last_event_id)),
            Purpose::Stream => self.stream_lost(now, reason),
            Purpose::Subscription(wire) => self.unsubscribed(now, wire, reason, None),
            purpose => self.noted(now, purpose, 0),
        }
    }

    /// A message that is not answered has arrived, or will not.
    pub(super) fn noted(&mut self, now: Instant, purpose: Purpose, status: u16) {
        if status >= 400 && purpose != Purpose::Delete {
            let what = match purpose {
                Purpose::Initialized => "`notifications/initialized`",
                Purpose::Answer(..) => "the answer to a request",
                _ => "a message",
            };
            self.diagnose(format!("{what} was refused with HTTP status {status}"));
        }
        match purpose {
            Purpose::Initialized => self.announced(now),
            Purpose::Answer(ask, _) => self.link.asks.sent(ask),
            Purpose::Delete => self.ended(),
            _ => {}
        }
    }

    fn events(&mut self, now: Instant, id: ExchangeId, mut decoder: Decoder, bytes: &[u8]) {
        let mut input = bytes;
        loop {
            // Handling an event may have ended the exchange, or may have found its response.
            let Some(exchange) = self.exchanges.get_mut(&id) else { return };
            let purpose = exchange.purpose;
            if purpose == Purpose::Notice {
                return;
            }
            let Some(item) = decoder.next(&mut input) else {
                exchange.reading = Reading::Events(decoder);
                return;
            };
            match item {
                SseItem::Event { event: "message", data, .. } => {
                    #[cfg(feature = "gzip")]
                    {
                        exchange.inflated = 0;
                    }
                    match purpose {
                        Purpose::Listen => self.heard_something(),
                        Purpose::Stream => self.heard_on_stream(),
                        _ => {}
                    }
                    let found = self.text(now, id, purpose, data);
                    if found {
                        self.retire(now, id);
                    }
                }
                SseItem::Event { event: "endpoint", data, .. } if purpose == Purpose::Stream => {
                    self.told(now, id, data);
                }
                SseItem::Event { event, .. } if !exchange.skipped => {
                    exchange.skipped = true;
                    let event = text::excerpt(event);
                    self.diagnose(format!("events of type `{event}` are skipped, and others like it"));
                }
                SseItem::Retry(delay) => {
                    if purpose == Purpose::Listen {
                        self.listening.retry = Some(delay);
                    } else if let Some(sse) = self.sse.as_mut().filter(|_| purpose == Purpose::Stream) {
                        sse.retry = Some(delay);
                    } else if let Some(flight) = purpose.call().and_then(|call| self.flights.get_mut(&call)) {
                        flight.retry = Some(delay);
                    }
                }
                SseItem::TooLong { limit } => {
                    self.abort(id);
                    self.conclude(now, purpose, Outcome::Failed(CallError::TooLarge { limit }));
                }
                SseItem::Invalid if !exchange.skipped => {
                    exchange.skipped = true;
                    self.diagnose("an event is not UTF-8, and is skipped".to_owned());
                }
                _ => {}
            }
        }
    }

    /// Reads a message; whether it was what the exchange was for.
    fn text(&mut self, now: Instant, id: ExchangeId, purpose: Purpose, data: &str) -> bool {
        let depth = self.link.config.limits.depth;
        match jsonrpc::read_text(data, depth) {
            Ok(incoming) => self.incoming(now, purpose, incoming),
            Err(malformed) => {
                let skipped =
                    self.exchanges.get_mut(&id).is_some_and(|it| core::mem::replace(&mut it.skipped, true));
                self.malformed(now, purpose, &malformed, skipped)
            }
        }
    }

    fn whole_body(&mut self, now: Instant, exchange: &Exchange, body: &[u8]) {
        let purpose = exchange.purpose;
        let reason = match jsonrpc::read(body, self.link.config.limits.depth) {
            Ok(incoming) => {
                if self.incoming(now, purpose, incoming) {
                    return;
                }
                "expected the response to the request in the body, found another message".to_owned()
            }
            Err(malformed) => format!("{}: {}", malformed.error.message, malformed.error.detail),
        };
        self.conclude(now, purpose, Outcome::Failed(CallError::Invalid { reason }));
    }

    fn incoming(&mut self, now: Instant, purpose: Purpose, incoming: Incoming<'_>) -> bool {
        match incoming {
            Incoming::Message(message) => self.message(now, purpose, message),
            Incoming::Batch(_) if !self.link.batches() => {
                self.diagnose("expected one message, found a batch".to_owned());
                false
            }
            Incoming::Batch(batch) => {
                let mut found = false;
                for message in batch {
                    // Behind the response there may be more messages, but no second response.
                    let purpose = if found { Purpose::Notice } else { purpose };
                    found |= match message {
                        Ok(message) => self.message(now, purpose, message),
                        Err(malformed) => self.malformed(now, purpose, &malformed, false),
                    };
                }
                found
            }
        }
    }

    fn message(&mut self, now: Instant, purpose: Purpose, message: Message<'_>) -> bool {
        match message {
            Message::Response(response) => return self.response(now, purpose, response),
            Message::Notification(notification) => {
                let way = match purpose {
                    Purpose::Call(call) | Purpose::Resume(call) => Way::Call(call),
                    Purpose::Subscription(wire) => Way::Subscription(wire),
                    Purpose::Stream => Way::Shared,
                    _ => Way::Apart,
                };
                self.link.notification(now, way, &notification.method, notification.params);
                if notification.method == "notifications/cancelled" {
                    self.drop_answers(now);
                }
            }
            Message::Request(request) => self.request(now, purpose, &request),
        }
        false
    }

    fn response(&mut self, now: Instant, purpose: Purpose, response: Response<'_>) -> bool {
        let id = response.id.as_ref().and_then(RequestId::as_i64);
        let streamed = purpose == Purpose::Stream;
        let purpose = self.addressee(purpose, id);
        let expected = self.wire(purpose);
        let ours = match (&response.outcome, expected) {
            (_, None) => false,
            (_, Some(_)) if id == expected => true,
            // The error of a POST is the error of its request, whatever id the server found (B18); unless the
            // id is that of another request.
            (Err(_), Some(_)) => {
                !matches!(purpose, Purpose::Resume(_))
                    && self.may_be_foreign(response.id.as_ref())
                    && id.is_none_or(|id| self.link.calls.by_wire(id).is_none())
            }
            (Ok(_), Some(_)) => false,
        };
        if !ours {
            let id = response.id.as_ref().map(|id| id as &dyn core::fmt::Display);
            self.link.unasked(id, response.outcome.as_ref().err());
            return false;
        }
        let outcome = match response.outcome {
            Ok(result) => Outcome::Result(result),
            Err(error) => Outcome::Error(error, None),
        };
        if streamed {
            self.answered(now, purpose);
        }
        self.conclude(now, purpose, outcome);
        // The stream goes on.
        !streamed
    }

    /// Whether an error with this id may belong to a request with another one.
    pub(super) fn may_be_foreign(&self, id: Option<&RequestId>) -> bool {
        id.is_none() || self.link.config.leniency.foreign_error_id
    }

    /// The id under which the request of an exchange waits for its response.
    pub(super) fn wire(&self, purpose: Purpose) -> Option<i64> {
        match (purpose, &self.state) {
            (Purpose::Opening, State::Negotiating { wire, .. }) => Some(*wire),
            (Purpose::Subscription(wire), _) => Some(wire),
            _ => purpose.call().and_then(|call| self.link.calls.wire(call)),
        }
    }

    fn malformed(&mut self, now: Instant, purpose: Purpose, malformed: &Malformed, quiet: bool) -> bool {
        let detail = format!("{}: {}", malformed.error.message, malformed.error.detail);
        let wire = malformed.id.as_ref().filter(|_| malformed.response).and_then(RequestId::as_i64);
        let streamed = purpose == Purpose::Stream;
        let purpose = self.addressee(purpose, wire);
        if wire.is_some() && wire == self.wire(purpose) {
            if streamed {
                self.answered(now, purpose);
            }
            self.conclude(now, purpose, Outcome::Failed(CallError::Invalid { reason: detail }));
            return !streamed;
        }
        if !quiet {
            self.diagnose(detail);
        }
        false
    }

    /// A request of the server. Only a legacy server may have any (RPC-23, RPC-24).
    fn request(&mut self, now: Instant, purpose: Purpose, request: &Request<'_>) {
        if !self.is_legacy() || !(self.is_open() || matches!(self.state, State::Announcing { .. })) {
            let method = text::excerpt(&request.method);
            return self.diagnose(format!("`{method}` was requested by a server that may not"));
        }
        // Each answer is an exchange; a server that asks faster than it takes answers gets none.
        let limit = self.link.config.limits.in_flight.saturating_mul(2);
        if self.exchanges.len() + self.held.len() >= limit {
            return self.diagnose("too many requests of the server at once; one is not answered".to_owned());
        }
        let mut body = Vec::new();
        if &*request.method == "ping" {
            // An empty object always serializes.
            let _ = jsonrpc::write_result(&mut body, &request.id, &Json::empty_object());
        } else if let Err(error) = self.link.ask(request, purpose.call()) {
            jsonrpc::write_error(&mut body, Some(&request.id), &error);
        } else {
            return;
        }
        self.reply(now, body, None, Asker::Server(request.id.clone(), purpose.call()));
    }

    pub(super) fn diagnose(&mut self, detail: String) {
        self.link.events.diagnose(Diagnostic::new("http", detail));
    }
}
