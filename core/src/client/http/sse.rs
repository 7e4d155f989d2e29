//! HTTP with SSE, the transport of 2024-11-05: one event stream (GET) brings whatever the server says, answers
//! included, and each message of the client is a POST to the place that the stream names first.
//!
//! <https://modelcontextprotocol.io/specification/2026-07-28/basic/transports/streamable-http#httpsse-transport-2024-11-05>

use super::exchange::Purpose;
use super::outcome::{Outcome, broken};
use super::resume::MAX_RETRY;
use super::{Endpoint, ExchangeId, Flight, Http, HttpRequest, State};
use crate::client::calls::CallId;
use crate::client::config::Config;
use crate::client::negotiate::{Answer, Negotiation, Step};
use crate::dialect::Revision;
use crate::entropy::Seed;
use crate::error::{ApiMisuse, CallError, code};
use crate::head::ResponseHead;
use crate::text;
use crate::time::{Duration, Instant, Now};
use alloc::borrow::ToOwned;
use alloc::format;
use alloc::string::String;
use alloc::sync::Arc;
use alloc::vec::Vec;
use core::fmt;

/// The event stream, and where messages go.
pub(super) struct Sse {
    pub(super) stream: ExchangeId,
    /// Where messages are POSTed, once the server has said so.
    pub(super) messages: Option<String>,
    /// The handshake is to offer this revision.
    revision: Revision,
    why: Why,
    /// Whether a handshake was made on such a stream.
    greeted: bool,
    /// Since when there is a stream.
    since: Option<Instant>,
    /// What the server said about reconnecting.
    pub(super) retry: Option<Duration>,
    /// The stream was lost, and nothing has come on another since the handshake there.
    lost: Option<Lost>,
}

/// Attempts to open the stream again.
#[derive(Clone, Copy)]
struct Lost {
    /// When that is given up.
    until: Instant,
    fruitless: u32,
}

/// Why this transport is tried.
pub(super) enum Why {
    /// The application says that it is spoken.
    Told,
    /// It was spoken before.
    Assumed,
    /// Streamable HTTP was tried first, and refused like this.
    Refused(CallError),
}

/// Prints neither path nor query for messages: the session is named there, and whoever knows it can use it.
impl fmt::Debug for Sse {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Sse")
            .field("stream", &self.stream)
            .field("is_told", &self.messages.is_some())
            .finish_non_exhaustive()
    }
}

impl Http {
    /// A client of a server that is known to speak HTTP with SSE, the transport of 2024-11-05, at `endpoint`. With
    /// [`new`](Self::new) that is found out, at the cost of two requests.
    pub fn http_sse(now: Now, config: Arc<Config>, endpoint: Endpoint, seed: Seed) -> Self {
        let (negotiation, step) = Negotiation::handshake(config.era);
        let mut http = Self::idle(config, endpoint, negotiation, seed);
        match step {
            Step::Initialize { revision } => http.find_messages(now.mono, revision, Why::Told),
            step => http.follow(now.mono, step),
        }
        http
    }

    /// Opens the event stream.
    pub(super) fn find_messages(&mut self, now: Instant, revision: Revision, why: Why) {
        if self.link.config.limits.connections < 2 {
            return self.finish(CallError::Misuse(ApiMisuse::new(
                "HTTP with SSE needs two connections, for its stream and for messages: raise `Limits::connections`",
            )));
        }
        // A server that is only suspected of this transport may have a stream that says nothing.
        let limits = &self.link.config.limits;
        let deadline = now + if matches!(why, Why::Told) { limits.request } else { limits.probe };
        self.offered_session = None;
        let before = self.sse.take();
        let (greeted, lost, retry) =
            before.map_or((false, None, None), |before| (before.greeted, before.lost, before.retry));
        let head = self.plain_head("GET", None);
        let stream = self.send(Purpose::Stream, HttpRequest { head, body: Vec::new() }, None);
        self.sse = Some(Sse { stream, messages: None, revision, why, greeted, since: None, retry, lost });
        self.state = State::Finding { deadline };
    }

    /// Whether a refusal of the handshake looks like that of a server without Streamable HTTP (SSEL-08, HTTPL-58).
    pub(super) fn looks_old(&self, purpose: Purpose, status: u16, outcome: &Outcome<'_>) -> bool {
        let modern = match outcome {
            Outcome::Error(error, _) => matches!(
                i32::try_from(error.code),
                Ok(code::UNSUPPORTED_PROTOCOL_VERSION
                    | code::HEADER_MISMATCH
                    | code::MISSING_CLIENT_CAPABILITY
                    | code::METHOD_NOT_FOUND)
            ),
            _ => false,
        };
        purpose == Purpose::Opening
            && matches!(status, 400 | 404 | 405)
            && !modern
            && self.sse.is_none()
            && self.link.negotiation.is_initializing()
    }

    /// Tries the old transport, unless the refusal leads to something better.
    pub(super) fn fall_back(&mut self, now: Instant, outcome: &Outcome<'_>) {
        let offered = self.link.negotiation.offered();
        let answer = match outcome {
            Outcome::Result(result) => Answer::Result(result),
            Outcome::Error(error, status) => Answer::Error(error, status.clone()),
            Outcome::Failed(error) => Answer::Unusable(error.clone()),
        };
        match (self.link.negotiation.answer(answer), offered) {
            (Step::Failed(error), Some(revision)) => {
                self.link.negotiation = Negotiation::again(self.link.config.era, revision).0;
                self.find_messages(now, revision, Why::Refused(error));
            }
            (step, _) => self.follow(now, step),
        }
    }

    /// The head of the stream; whether there is something behind it.
    pub(super) fn streams(&mut self, now: Instant, id: ExchangeId, head: &ResponseHead) -> bool {
        let kind = head.headers.text("content-type").unwrap_or_default();
        let kind = kind.split(';').next().unwrap_or_default().trim();
        if head.status == 200 && kind.eq_ignore_ascii_case("text/event-stream") {
            if let Some(sse) = &mut self.sse {
                sse.since = Some(now);
            }
            return true;
        }
        // What a refusal says is read first.
        if !(200..300).contains(&head.status) {
            return true;
        }
        self.retire(now, id);
        self.no_stream(now, format!("found a response of type `{}` to GET", text::excerpt(kind)));
        false
    }

    /// The server does not speak HTTP with SSE either.
    pub(super) fn no_stream(&mut self, now: Instant, found: String) {
        let detail = format!("expected an event stream that begins with `endpoint` (HTTP with SSE), {found}");
        if self.was_greeted() {
            return self.lose_stream(now, &detail);
        }
        let Some(Sse { stream, why, .. }) = self.sse.take() else { return };
        match why {
            Why::Told => self.finish(CallError::Invalid { reason: detail }),
            Why::Refused(error) => {
                self.diagnose(detail);
                self.finish(error);
            }
            // The server has become another: what it speaks is found out (VER-20).
            Why::Assumed => {
                self.abort(stream);
                let (negotiation, step) = Negotiation::new(self.link.config.era, None);
                self.link.negotiation = negotiation;
                self.follow(now, step);
            }
        }
    }

    /// The stream says where messages go: at the same origin, whose credentials they carry (SSEL-01, SSEL-03).
    pub(super) fn told(&mut self, now: Instant, id: ExchangeId, place: &str) {
        let Some(base) = self.exchanges.get(&id).map(|exchange| exchange.request.head.target.clone()) else {
            return;
        };
        let State::Finding { .. } = self.state else {
            return self.diagnose("an `endpoint` event that is not the first is skipped".to_owned());
        };
        // It has to fit into the head of each request.
        let limit = self.link.config.limits.head / 2;
        if place.len() > limit {
            return self.no_stream(now, format!("found an endpoint of more than {limit} bytes"));
        }
        match self.endpoint.follow(&base, place) {
            Ok(target) => {
                let Some(sse) = &mut self.sse else { return };
                sse.messages = Some(target);
                let revision = sse.revision;
                self.follow(now, Step::Initialize { revision });
            }
            Err(there) => self.no_stream(now, format!("found an endpoint that leads {there}")),
        }
    }

    /// A message was taken; what answers it comes on the stream.
    pub(super) fn accepted(&mut self, now: Instant, id: ExchangeId, purpose: Purpose) {
        self.retire(now, id);
        if let Some(flight) = purpose.call().and_then(|call| self.flights.get_mut(&call)) {
            flight.exchange = None;
        }
    }

    /// What a response belongs to that has come with a purpose.
    pub(super) fn addressee(&self, purpose: Purpose, id: Option<i64>) -> Purpose {
        let (Purpose::Stream, Some(id)) = (purpose, id) else { return purpose };
        match (&self.state, self.link.calls.by_wire(id)) {
            (State::Negotiating { wire, .. }, _) if *wire == id => Purpose::Opening,
            (_, Some(call)) => Purpose::Call(call),
            (_, None) => purpose,
        }
    }

    /// An answer has come on the stream, maybe before it was said that the message was taken.
    pub(super) fn answered(&mut self, now: Instant, purpose: Purpose) {
        let exchange = match (purpose, &self.state) {
            (Purpose::Opening, State::Negotiating { exchange, .. }) => Some(*exchange),
            _ => purpose.call().and_then(|call| self.flights.get(&call)?.exchange),
        };
        if let Some(exchange) = exchange {
            self.retire(now, exchange);
        }
    }

    /// The stream has ended, and with it the session; it is opened again, if there was one.
    pub(super) fn stream_lost(&mut self, now: Instant, reason: &str) {
        match self.state {
            _ if self.was_greeted() => self.lose_stream(now, reason),
            State::Finding { .. } => self.no_stream(now, format!("found none: {reason}")),
            _ => {
                let reason = format!("the event stream from the server ended: {reason}");
                self.finish(CallError::Broken { reason, unsent: false });
            }
        }
    }

    /// A handshake is over.
    pub(super) fn greeted(&mut self) {
        if let Some(sse) = &mut self.sse {
            sse.greeted = true;
        }
    }

    /// Whether a stream that is lost now is one that is worth opening again.
    pub(super) fn was_greeted(&self) -> bool {
        self.sse.as_ref().is_some_and(|sse| sse.greeted)
    }

    /// Something has come on the stream that belongs to no handshake.
    pub(super) fn heard_on_stream(&mut self) {
        if let Some(sse) = self.sse.as_mut().filter(|_| matches!(self.state, State::Open)) {
            sse.lost = None;
        }
    }

    /// A session is its stream, so another stream is another session, as after HTTP status 404 with Streamable HTTP.
    fn lose_stream(&mut self, now: Instant, reason: &str) {
        let limits = &self.link.config.limits;
        let (floor, total) = (limits.retry_floor, limits.resume_total);
        let Some(sse) = &mut self.sse else { return };
        let lasted = sse.since.take().is_some_and(|since| now.saturating_since(since) >= MAX_RETRY);
        let Lost { until, fruitless } =
            sse.lost.filter(|_| !lasted).unwrap_or(Lost { until: now + total, fruitless: 0 });
        let wait = self.link.backoff.wait(fruitless).max(sse.retry.unwrap_or_default().max(floor));
        let at = now + wait;
        if at > until {
            let reason = format!(
                "the event stream from the server ended, and could not be opened again within {total:?}: {reason}"
            );
            return self.finish(broken(reason));
        }
        sse.lost = Some(Lost { until, fruitless: fruitless.saturating_add(1) });
        sse.messages = None;
        if let Some(envelope) = self.link.envelope.take() {
            sse.revision = envelope.revision();
        }
        self.diagnose(format!("the event stream from the server ended, and is opened again: {reason}"));
        self.drop_opening(now);
        self.leave_session(now);
        self.state = State::Lost { at };
        while let Some((&exchange, _)) = self.exchanges.last_key_value() {
            self.cut(exchange);
        }
        // What is held, or waits to be sent again, is not known to the lost session.
        let sent = |(call, flight): (&CallId, &Flight)| {
            let waits = flight.at.is_some() || self.again.contains(call);
            (!waits && !self.is_call_held(*call)).then_some(*call)
        };
        let sent: Vec<CallId> = self.flights.iter().filter_map(sent).collect();
        for call in sent {
            self.session_lost(now, call, self.generation);
        }
    }

    /// The time to open the stream again has come.
    pub(super) fn find_again(&mut self, now: Instant) {
        let Some(revision) = self.sse.as_ref().map(|sse| sse.revision) else { return };
        self.link.negotiation = Negotiation::again(self.link.config.era, revision).0;
        self.find_messages(now, revision, Why::Told);
    }
}
