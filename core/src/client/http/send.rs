//! Requests: their fields, and their way out.

use super::coded::ACCEPTED;
use super::exchange::{Exchange, Purpose, Reading, Wake};
use super::listen::Listening;
use super::{ExchangeId, Flight, Http, HttpRequest};
use crate::client::calls::CallId;
use crate::client::event::Out;
use crate::client::request::Source;
use crate::dialect::Revision;
use crate::error::HttpStatus;
use crate::head::{Headers, RequestHead};
use crate::text;
use crate::time::Instant;
use crate::wire::header_value;
use alloc::sync::Arc;
use alloc::vec::Vec;

const ACCEPT_BOTH: &str = "application/json, text/event-stream";

/// Fields that the protocol sets, or that belong to the connection; an application may not.
const OURS: [&str; 14] = [
    "accept",
    "accept-encoding",
    "connection",
    "content-length",
    "content-type",
    "host",
    "last-event-id",
    "mcp-method",
    "mcp-name",
    "mcp-protocol-version",
    "mcp-session-id",
    "te",
    "transfer-encoding",
    "upgrade",
];

impl Http {
    /// Sends a call for the first time.
    pub(super) fn launch(&mut self, call: CallId, source: &impl Source, body: Vec<u8>) {
        let revision = self.revision();
        let mirrored = revision.filter(|revision| revision.dialect().http.mirrored_headers);
        let head = match mirrored {
            Some(revision) => self.modern_head(revision, source.method(), source.name(), &body),
            None => self.plain_head("POST", revision),
        };
        let exchange = self.send(Purpose::Call(call), HttpRequest { head, body }, revision);
        if let Some(sent) = self.exchanges.get(&exchange) {
            let flight = Flight {
                exchange: Some(exchange),
                origin: exchange,
                request: Arc::clone(&sent.request),
                repeatable: source.is_repeatable(),
                of_session: source.is_of_session(),
                repeated: false,
                retry: None,
                resume: None,
                made_again: false,
                tries: 0,
                at: None,
            };
            self.flights.insert(call, flight);
        }
    }

    /// Sends a call for the second time, with the fields that are right by now.
    pub(super) fn send_again(&mut self, call: CallId) {
        let Some(flight) = self.flights.get(&call) else { return };
        let body = flight.request.body.clone();
        let revision = self.revision();
        let mirrored = revision.filter(|revision| revision.dialect().http.mirrored_headers);
        let head = match (mirrored, flight.request.head.headers.text("mcp-method")) {
            (Some(revision), Some(method)) => {
                let name = flight.request.head.headers.get("mcp-name");
                let name = name.and_then(|name| header_value::decode(name).ok());
                self.modern_head(revision, method, name.as_deref(), &body)
            }
            _ => self.plain_head("POST", revision),
        };
        let exchange = self.send(Purpose::Call(call), HttpRequest { head, body }, revision);
        if let (Some(flight), Some(sent)) = (self.flights.get_mut(&call), self.exchanges.get_mut(&exchange)) {
            sent.origin = flight.origin;
            flight.exchange = Some(exchange);
            flight.request = Arc::clone(&sent.request);
        }
    }

    /// Sends a message that is not answered, in the session there is. It may take as long as a call.
    pub(super) fn notify(&mut self, now: Instant, body: Vec<u8>, purpose: Purpose) {
        let revision = self.revision();
        let head = self.plain_head("POST", revision);
        let exchange = self.send(purpose, HttpRequest { head, body }, revision);
        self.cut_at(exchange, now + self.link.config.limits.request);
    }

    pub(super) fn revision(&self) -> Option<Revision> {
        self.link.details.as_deref().map(|details| details.revision)
    }

    /// Puts an exchange on its way.
    pub(super) fn send(
        &mut self,
        purpose: Purpose,
        request: HttpRequest,
        revision: Option<Revision>,
    ) -> ExchangeId {
        self.send_shared(purpose, Arc::new(request), revision)
    }

    pub(super) fn send_shared(
        &mut self,
        purpose: Purpose,
        request: Arc<HttpRequest>,
        revision: Option<Revision>,
    ) -> ExchangeId {
        self.last_exchange += 1;
        let id = ExchangeId(self.last_exchange);
        let exchange = Exchange {
            purpose,
            request: Arc::clone(&request),
            revision,
            origin: id,
            generation: self.generation,
            authorization: self.link.cache.authorization(),
            redirects: 0,
            credentials: Headers::new(),
            skipped: false,
            retry_after: None,
            reading: Reading::Head,
            #[cfg(feature = "gzip")]
            inflater: None,
            #[cfg(feature = "gzip")]
            inflated: 0,
            cut: None,
        };
        self.exchanges.insert(id, exchange);
        if let Purpose::Subscription(wire) = purpose {
            self.streams.insert(wire, id);
        }
        self.link.events.act(Out::Send(id, request));
        id
    }

    /// Nothing more of an exchange matters; it is cut off unless it ends by then.
    pub(super) fn cut_at(&mut self, id: ExchangeId, at: Instant) {
        let Some(exchange) = self.exchanges.get_mut(&id) else { return };
        if let Some(before) = exchange.cut.replace(at) {
            self.wakes.remove(&(before, Wake::Cut(id)));
        }
        self.wakes.insert((at, Wake::Cut(id)));
    }

    /// The head of a modern POST (HDR-01 to HDR-09, HDR-17).
    pub(super) fn modern_head(
        &self,
        revision: Revision,
        method: &str,
        name: Option<&str>,
        body: &[u8],
    ) -> RequestHead {
        let mut head = self.plain_head("POST", Some(revision));
        head.headers.push("Mcp-Method", method);
        if let Some(name) = name {
            head.headers.push("Mcp-Name", header_value::encode(name).as_bytes());
            if method == "tools/call" {
                self.link.definitions.append(name, body, &mut head.headers);
            }
        }
        head
    }

    /// A status, and the URL that it came from. Where messages of HTTP with SSE go is a secret of the session.
    pub(super) fn status(&self, code: u16, request: &HttpRequest) -> HttpStatus {
        let target = &request.head.target;
        let is_told = self.sse.as_ref().and_then(|sse| sse.messages.as_ref()) == Some(target);
        let path = if is_told { "/…" } else { target.split('?').next().unwrap_or_default() };
        HttpStatus::new(code, text::excerpt(&[&self.endpoint.origin(), path].concat()))
    }

    /// The fields that every request has: those of the protocol, then the application's own.
    pub(super) fn plain_head(&self, verb: &str, revision: Option<Revision>) -> RequestHead {
        let messages = self.sse.as_ref().and_then(|sse| sse.messages.as_ref());
        let target = messages.unwrap_or(&self.endpoint.target).clone();
        let mut head = RequestHead::new(verb, target);
        let fields = &mut head.headers;
        fields.push("Host", &self.endpoint.authority);
        match verb {
            "POST" => {
                fields.push("Content-Type", "application/json");
                fields.push("Accept", ACCEPT_BOTH);
            }
            "GET" => fields.push("Accept", "text/event-stream"),
            _ => {}
        }
        fields.push("Accept-Encoding", ACCEPTED);
        if let Some(revision) = revision.filter(|revision| revision.dialect().http.version_header) {
            fields.push("MCP-Protocol-Version", revision.as_str());
        }
        if let Some(session) = &self.session {
            fields.push("Mcp-Session-Id", &session.0);
        }
        let modern = revision.is_some_and(|revision| revision.dialect().http.mirrored_headers);
        for (name, value) in self.headers.iter() {
            // In the modern era they are arguments of a call; before, they mean nothing and are the application's.
            let mirror =
                modern && name.get(..10).is_some_and(|prefix| prefix.eq_ignore_ascii_case("mcp-param-"));
            if !mirror && !OURS.iter().any(|ours| name.eq_ignore_ascii_case(ours)) {
                fields.push(name, value);
            }
        }
        head
    }

    /// Aborts every exchange, the last one first: it may still wait for a connection, and would be given the
    /// one that is closed for another.
    pub(super) fn drop_all(&mut self) {
        while let Some((&exchange, _)) = self.exchanges.last_key_value() {
            self.abort(exchange);
        }
        self.held.clear();
        self.flights.clear();
        self.again.clear();
        self.refreshes.clear();
        self.listening = Listening::default();
        self.streams.clear();
        self.wakes.clear();
    }

    pub(super) fn abort(&mut self, exchange: ExchangeId) {
        if let Some(Purpose::Subscription(wire)) = self.forget_held(exchange).map(|held| held.purpose) {
            self.streams.remove(&wire);
            self.link.subscriptions.forget_stream(wire);
        }
        self.cut(exchange);
    }

    /// Ends the response of an exchange. Its request may be held, to be made again.
    pub(super) fn cut(&mut self, exchange: ExchangeId) {
        if let Some(aborted) = self.remove(exchange) {
            if let Purpose::Subscription(wire) = aborted.purpose {
                self.link.subscriptions.forget_stream(wire);
            }
            self.link.events.act(Out::Abort(exchange));
        }
    }

    pub(super) fn remove(&mut self, exchange: ExchangeId) -> Option<Exchange> {
        let removed = self.exchanges.remove(&exchange)?;
        if let Some(at) = removed.cut {
            self.wakes.remove(&(at, Wake::Cut(exchange)));
        }
        match removed.purpose {
            Purpose::Subscription(wire) => drop(self.streams.remove(&wire)),
            Purpose::Answer(ask, _) if !self.is_held(exchange) => self.link.asks.sent(ask),
            _ => {}
        }
        Some(removed)
    }
}
