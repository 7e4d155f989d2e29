//! What exchanges come to: refusals, redirects, lost sessions, and the ends of calls.

use super::exchange::{Exchange, Purpose, Reading};
use super::subscribe::is_trouble;
use super::{ExchangeId, Http, HttpRequest, LINGER, SessionId, State};
use crate::client::calls::CallId;
use crate::client::negotiate::{Answer, Step};
use crate::error::{CallError, ErrorObject, HttpStatus, code};
use crate::head::{Headers, ResponseHead};
use crate::model::Json;
use crate::text;
use crate::time::{Duration, Instant};
use crate::wire::jsonrpc::{self, Incoming, Message, RequestId, Response};
use alloc::borrow::ToOwned;
use alloc::format;
use alloc::string::{String, ToString};
use serde_json::value::RawValue;

/// Fields that a request is authorized by.
const SECRET: [&str; 2] = ["authorization", "dpop"];

/// What an exchange brought.
pub(super) enum Outcome<'a> {
    Result(&'a RawValue),
    Error(ErrorObject, Option<HttpStatus>),
    Failed(CallError),
}

impl Http {
    /// Says with which fields a request goes out besides its own, such as a token: the error of a refusal repeats none
    /// of them, whatever the server, or somebody on the way, puts into it.
    pub fn authorized_with(&mut self, exchange: ExchangeId, fields: Headers) {
        if let Some(exchange) = self.exchanges.get_mut(&exchange) {
            exchange.credentials = fields;
        }
    }

    /// A response with an error status. Its body may be the error of the request (B43); a result in it would
    /// not be believed.
    pub(super) fn refused(&mut self, now: Instant, exchange: &Exchange, status: u16, body: &[u8]) {
        let purpose = exchange.purpose;
        let error = match jsonrpc::read(body, self.link.config.limits.depth) {
            Ok(Incoming::Message(Message::Response(Response { id, outcome: Err(error) }))) => {
                let ours = id.as_ref().and_then(RequestId::as_i64) == self.wire(purpose);
                (ours || self.may_be_foreign(id.as_ref())).then_some(error)
            }
            _ => None,
        };
        let is_final = status == 403 && matches!(purpose, Purpose::Opening | Purpose::Stream);
        let unknown_method =
            error.as_ref().is_some_and(|error| error.code == i64::from(code::METHOD_NOT_FOUND));
        let in_session = exchange.request.head.headers.get("mcp-session-id").is_some();
        if let Some(call) = purpose.call()
            && status == 404
            && in_session
            && !unknown_method
        {
            return self.session_lost(now, call, exchange.generation);
        }
        if self.comes_back_later(now, exchange, status) {
            return;
        }
        if let Purpose::Subscription(wire) = purpose
            && is_trouble(status)
        {
            // Trouble on the way, or of the server, is no refusal.
            let reason = format!("the server answered with {}", self.status(status, &exchange.request));
            return self.unsubscribed(now, wire, &reason, exchange.retry_after);
        }
        let from = self.status(status, &exchange.request);
        let outcome = match error.map(|error| without_secrets(exchange, error)) {
            // Whoever lets nobody in says nothing about the era.
            Some(error) if is_final => return self.finish(CallError::Server { error, status: Some(from) }),
            None if is_final => return self.finish(refusal(exchange, from, body)),
            Some(error) => Outcome::Error(error, Some(from)),
            None => Outcome::Failed(refusal(exchange, from, body)),
        };
        if let (Purpose::Opening, Outcome::Failed(error)) = (purpose, &outcome) {
            if self.was_greeted() {
                return self.stream_lost(now, &error.to_string());
            }
            // Trouble on the way says nothing about the era.
            if matches!(status, 429 | 502..=504) {
                let error = error.clone();
                if !self.greet_later(now, Duration::ZERO) {
                    self.finish(error);
                }
                return;
            }
        }
        if self.looks_old(purpose, status, &outcome) {
            return self.fall_back(now, &outcome);
        }
        self.conclude(now, purpose, outcome);
    }

    /// The session that a call belonged to does not exist any more (B35, HTTPL-50).
    pub(super) fn session_lost(&mut self, now: Instant, call: CallId, generation: u32) {
        if self.link.level.is_told_by(call) {
            // In a new session it is made anew; but a server that loses that, too, does not want the call.
            if self.link.level.lose_session() {
                return self.reopen(now);
            }
            return self.settle(now, call, Err(broken("the server lost the session".into())));
        }
        let repeat = match self.flights.get_mut(&call) {
            Some(flight) if flight.repeatable && !flight.repeated && !flight.of_session => {
                flight.repeated = true;
                flight.exchange = None;
                flight.resume = None;
                true
            }
            _ => false,
        };
        if repeat {
            self.again.push(call);
        } else {
            let of_session = self.flights.get(&call).is_some_and(|flight| flight.of_session);
            let reason = if of_session {
                "the server lost the session that the cursor belonged to; begin with the first page"
            } else {
                "the server lost the session; whether the call was carried out is unknown"
            };
            let error = CallError::Broken { reason: reason.into(), unsent: of_session };
            self.settle(now, call, Err(error));
        }
        if generation == self.generation && matches!(self.state, State::Open) {
            self.reopen(now);
        } else if matches!(self.state, State::Open) {
            // Another call noticed first, and there is a new session already.
            for call in core::mem::take(&mut self.again) {
                self.send_again(call);
            }
        }
    }

    /// Follows a redirect, if it stays at the origin (B37).
    pub(super) fn redirect(&mut self, now: Instant, id: ExchangeId, head: &ResponseHead) {
        let Some(exchange) = self.exchanges.get(&id) else { return };
        let limit = self.link.config.limits.redirects;
        let target = &exchange.request.head.target;
        let location = head.headers.text("location").unwrap_or_default();
        let next = match head.status {
            303 => Err("asks for another method".to_owned()),
            _ if exchange.redirects >= limit => {
                Err(format!("is one too many; `Limits::redirects` is {limit}"))
            }
            _ => self.endpoint.follow(target, location).map_err(|place| format!("leads {place}")),
        };
        match next {
            Ok(target) => {
                let mut request = HttpRequest::clone(&exchange.request);
                let (purpose, revision) = (exchange.purpose, exchange.revision);
                let (redirects, generation) = (exchange.redirects + 1, exchange.generation);
                let origin = exchange.origin;
                if matches!(head.status, 301 | 308) {
                    let messages = self.sse.as_mut().and_then(|sse| sse.messages.as_mut());
                    messages.unwrap_or(&mut self.endpoint.target).clone_from(&target);
                }
                request.head.target = target;
                self.retire(now, id);
                let next = self.send(purpose, request, revision);
                if let Some(exchange) = self.exchanges.get_mut(&next) {
                    exchange.redirects = redirects;
                    exchange.origin = origin;
                    // It names the session that it was for, which may be lost by now.
                    exchange.generation = generation;
                }
                self.goes_on_as(now, purpose, next);
            }
            Err(why) => {
                let purpose = exchange.purpose;
                let reason = format!("{}: the redirect {why}", self.status(head.status, &exchange.request));
                self.retire(now, id);
                if purpose.is_unanswered() {
                    return self.noted(now, purpose, head.status);
                }
                self.conclude(now, purpose, Outcome::Failed(CallError::Invalid { reason }));
            }
        }
    }

    /// The exchange has served its purpose, and may end in peace.
    pub(super) fn retire(&mut self, now: Instant, id: ExchangeId) {
        let Some(exchange) = self.exchanges.get_mut(&id) else { return };
        if let Purpose::Subscription(wire) = core::mem::replace(&mut exchange.purpose, Purpose::Notice) {
            self.streams.remove(&wire);
        }
        exchange.reading = Reading::Nothing;
        self.cut_at(id, now + LINGER);
    }

    /// What an exchange was for is decided.
    pub(super) fn conclude(&mut self, now: Instant, purpose: Purpose, outcome: Outcome<'_>) {
        match purpose {
            Purpose::Opening => self.opened(now, outcome),
            Purpose::Call(call) | Purpose::Resume(call) => {
                let outcome = match outcome {
                    Outcome::Result(result) if !self.refreshes.contains_key(&call) => {
                        self.land(call);
                        self.link.result(now, call, result);
                        return self.prepared(now);
                    }
                    Outcome::Result(result) => Ok(self.link.arrived(now, call, Json::from(result))),
                    Outcome::Error(error, status) => {
                        if self.refresh(now, call, &error, status.as_ref()) {
                            return;
                        }
                        if self.link.is_sent_off(now, call, &error) {
                            self.land(call);
                            return;
                        }
                        Err(CallError::Server { error, status })
                    }
                    Outcome::Failed(error) => Err(error),
                };
                self.settle(now, call, outcome);
            }
            Purpose::Listen => self.listen_again(now, None),
            Purpose::Stream => match outcome {
                Outcome::Failed(error @ CallError::Unauthorized { .. }) => self.finish(error),
                Outcome::Error(error, status) => {
                    let error = CallError::Server { error, status };
                    self.no_stream(now, format!("found none: {error}"));
                }
                Outcome::Failed(error) if !matches!(self.state, State::Finding { .. }) => self.finish(error),
                Outcome::Failed(error) => self.no_stream(now, format!("found none: {error}")),
                Outcome::Result(_) => {}
            },
            Purpose::Subscription(wire) => self.subscribed(now, wire, outcome),
            Purpose::Initialized | Purpose::Answer(..) | Purpose::Notice | Purpose::Delete => {}
        }
    }

    fn opened(&mut self, now: Instant, outcome: Outcome<'_>) {
        let answer = match &outcome {
            Outcome::Failed(error @ CallError::Unauthorized { .. }) => return self.finish(error.clone()),
            Outcome::Result(result) => Answer::Result(result),
            Outcome::Error(error, status) => Answer::Error(error, status.clone()),
            Outcome::Failed(error) => Answer::Unusable(error.clone()),
        };
        let step = self.link.negotiation.answer(answer);
        let result = match &outcome {
            Outcome::Result(result) => Some(*result),
            _ => None,
        };
        self.link.discovered(now, &step, result);
        if let (Step::Settled(details), Some(session)) = (&step, &self.offered_session)
            && details.revision.dialect().http.sessions
        {
            if !session.is_valid() {
                let reason = "expected a session id of visible ASCII, found another".to_owned();
                return self.finish(CallError::Invalid { reason });
            }
            self.session = Some(session.clone());
        }
        self.follow(now, step);
    }
}

impl SessionId {
    /// HTTPL-44.
    fn is_valid(&self) -> bool {
        !self.0.is_empty() && self.0.bytes().all(|byte| byte.is_ascii_graphic())
    }
}

pub(super) fn broken(reason: String) -> CallError {
    CallError::Broken { reason, unsent: false }
}

/// Whether a body holds what its request was authorized by, or whatever else looks like that.
fn repeats_secret(exchange: &Exchange, body: &str) -> bool {
    let body = body.to_ascii_lowercase();
    let fields = [&exchange.request.head.headers, &exchange.credentials];
    let sent = fields.into_iter().flat_map(|fields| SECRET.map(|name| fields.text(name)));
    let is_repeated = |value: &str| {
        let secret = value.split(' ').next_back().unwrap_or_default();
        !secret.is_empty() && body.contains(&secret.to_ascii_lowercase())
    };
    // The last one is how a JSON object begins that was made base64: tokens and proofs.
    let names = ["authorization:", "authorization\"", "bearer ", "dpop ", "dpop:", "dpop\"", "eyj"];
    let after = |name: &str| body.split(name).skip(1).any(long_word);
    sent.flatten().any(is_repeated) || names.into_iter().any(after)
}

/// Whether a text begins with something as long as a token, after at most one short word such as `Basic`.
fn long_word(text: &str) -> bool {
    let words = text.split([' ', '"', ':', ',', '\r', '\n']).filter(|word| !word.is_empty());
    words.take(2).any(|word| word.len() >= 16)
}

/// The error that a refusal holds: some on the way wrap the request that they refuse into one.
fn without_secrets(exchange: &Exchange, error: ErrorObject) -> ErrorObject {
    let data = error.data.as_ref().map_or("", |data| data.get());
    if repeats_secret(exchange, &error.message) || repeats_secret(exchange, data) {
        return ErrorObject::new(error.code, "the server's error repeats credentials");
    }
    error
}

/// An error status whose body is no JSON-RPC error.
fn refusal(exchange: &Exchange, status: HttpStatus, body: &[u8]) -> CallError {
    let reason = match core::str::from_utf8(body).map(str::trim) {
        // Some on the way repeat the request that they refuse.
        Ok(body) if repeats_secret(exchange, body) => "its body repeats credentials".to_owned(),
        Ok(body) => text::excerpt(body),
        Err(_) => "its body is not text".to_owned(),
    };
    if !is_trouble(status.code) {
        return CallError::Refused { status, reason };
    }
    let said = if reason.is_empty() { reason } else { [": ", &reason].concat() };
    broken(format!("the server answered with {status}{said}"))
}
