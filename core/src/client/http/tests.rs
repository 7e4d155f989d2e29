mod answers;
mod asks;
mod bounds;
mod cache;
mod calls;
#[cfg(feature = "gzip")]
mod coded;
mod discovery;
mod headers;
mod hostile;
mod legacy;
mod leniency;
mod level;
mod listen;
mod negotiation;
mod properties;
mod refused;
mod repeat;
mod sse;
mod streams;
mod subscriptions;
mod tasks;
mod transcripts;
mod verdict;

use super::super::testing::{at, config, json};
use super::super::{CallTool, Custom, EraChoice, ListTools, Ping, Progress};
use super::*;
use crate::error::{ErrorObject, Full, HttpStatus};
use crate::limits::Limits;
use crate::model::Json;
use alloc::format;
use alloc::string::ToString;
use std::collections::BTreeMap as Map;

const DISCOVERED: &str = "{'resultType':'complete','supportedVersions':['2026-07-28'],\
    'capabilities':{'tools':{}},'ttlMs':0,'cacheScope':'private'}";
const INITIALIZED: &str = "{'protocolVersion':'2025-11-25','capabilities':{'tools':{},'logging':{}},\
    'serverInfo':{'name':'spokes','version':'2.1.0'}}";

/// A client, and what it asked for.
struct Peer {
    http: Http,
    now: Now,
    sent: Vec<Sent>,
    aborted: Vec<ExchangeId>,
    refused: Vec<(ExchangeId, u16)>,
    events: Vec<Event>,
}

/// A request that the client sent.
#[derive(Clone, Debug)]
struct Sent {
    exchange: ExchangeId,
    request: Arc<HttpRequest>,
}

impl Sent {
    fn header(&self, name: &str) -> Option<&str> {
        self.request.head.headers.text(name)
    }

    fn body(&self) -> &str {
        core::str::from_utf8(&self.request.body).unwrap()
    }

    fn member(&self, name: &str) -> String {
        let members: Map<String, Json> = serde_json::from_str(self.body()).unwrap();
        members.get(name).map(|value| value.get().to_string()).unwrap_or_default()
    }

    fn id(&self) -> String {
        self.member("id")
    }

    fn method(&self) -> String {
        if self.request.body.is_empty() {
            return self.request.head.method.clone();
        }
        self.member("method").trim_matches('"').to_string()
    }
}

impl Peer {
    fn new(config: Config) -> Self {
        let endpoint = Endpoint::parse("https://h.example/mcp").unwrap();
        let http = Http::new(at(0), Arc::new(config), endpoint, Seed::new([9; 32]));
        Self {
            http,
            now: at(0),
            sent: Vec::new(),
            aborted: Vec::new(),
            refused: Vec::new(),
            events: Vec::new(),
        }
    }

    fn modern() -> Self {
        Self::modern_with(config())
    }

    fn modern_with(config: Config) -> Self {
        let mut peer = Self::new(config);
        let probe = peer.one();
        peer.result(&probe, DISCOVERED);
        peer.events();
        peer
    }

    fn legacy() -> Self {
        Self::legacy_with(config())
    }

    /// A legacy server with a session.
    fn legacy_with(config: Config) -> Self {
        let mut peer = Self::new(config.era(EraChoice::Legacy));
        let initialize = peer.one();
        peer.initialized(&initialize, Some("s-1"));
        peer.events();
        peer
    }

    /// Answers `initialize` and what follows it.
    fn initialized(&mut self, initialize: &Sent, session: Option<&str>) {
        let mut head = ResponseHead::new(200);
        head.headers.push("Content-Type", "application/json");
        if let Some(session) = session {
            head.headers.push("Mcp-Session-Id", session);
        }
        let body = response(initialize, INITIALIZED);
        self.whole(initialize, head, &body);
        let notification = self.one();
        assert_eq!(notification.method(), "notifications/initialized");
        self.whole(&notification, ResponseHead::new(202), "");
    }

    fn drain(&mut self) {
        while let Some(output) = self.http.poll_output() {
            match output {
                HttpOutput::Send { exchange, request } => self.sent.push(Sent { exchange, request }),
                HttpOutput::Abort(exchange) => self.aborted.push(exchange),
                HttpOutput::Event(event) => self.events.push(event),
                HttpOutput::Refused { exchange, head } => self.refused.push((exchange, head.status)),
            }
        }
    }

    fn sent(&mut self) -> Vec<Sent> {
        self.drain();
        core::mem::take(&mut self.sent)
    }

    fn one(&mut self) -> Sent {
        let mut sent = self.sent();
        assert_eq!(sent.len(), 1, "{sent:?}");
        sent.remove(0)
    }

    fn none(&mut self) {
        let sent = self.sent();
        assert!(sent.is_empty(), "{sent:?}");
    }

    fn aborted(&mut self) -> Vec<ExchangeId> {
        self.drain();
        core::mem::take(&mut self.aborted)
    }

    fn events(&mut self) -> Vec<Event> {
        self.drain();
        core::mem::take(&mut self.events)
    }

    fn settled(&mut self) -> usize {
        self.events().iter().filter(|event| matches!(event, Event::Settled(_))).count()
    }

    fn diagnostics(&mut self) -> Vec<String> {
        let texts = self.events().into_iter().filter_map(|event| match event {
            Event::Diagnostic(diagnostic) => Some(diagnostic.to_string()),
            _ => None,
        });
        texts.collect()
    }

    fn closed(&mut self) -> Option<CallError> {
        self.events().into_iter().find_map(|event| match event {
            Event::Closed(error) => Some(error),
            _ => None,
        })
    }

    fn start<C: Call>(&mut self, call: &C) -> (Pending<C::Reply>, Sent) {
        let pending = self.http.start(self.now, call, CallOptions::new()).unwrap();
        (pending, self.one())
    }

    fn head(&mut self, to: &Sent, head: ResponseHead) {
        self.http.handle_head(self.now, to.exchange, head);
    }

    fn body(&mut self, to: &Sent, text: &str) {
        self.http.handle_body(self.now, to.exchange, text.as_bytes());
    }

    fn end(&mut self, to: &Sent) {
        self.http.handle_end(self.now, to.exchange, End::Complete);
    }

    fn whole(&mut self, to: &Sent, head: ResponseHead, body: &str) {
        self.head(to, head);
        if !body.is_empty() {
            self.body(to, body);
        }
        self.end(to);
    }

    /// A response of JSON with a status.
    fn answer(&mut self, to: &Sent, status: u16, body: &str) {
        let mut head = ResponseHead::new(status);
        head.headers.push("content-type", "application/json");
        self.whole(to, head, &json(body));
    }

    fn result(&mut self, to: &Sent, result: &str) {
        let body = response(to, result);
        self.answer(to, 200, &body);
    }

    fn error(&mut self, to: &Sent, status: u16, error: &str) {
        let body = format!("{{'jsonrpc':'2.0','id':{},'error':{error}}}", to.id());
        self.answer(to, status, &body);
    }

    /// Begins an event stream.
    fn stream(&mut self, to: &Sent) {
        let mut head = ResponseHead::new(200);
        head.headers.push("Content-Type", "text/event-stream; charset=utf-8");
        self.head(to, head);
    }

    fn event(&mut self, to: &Sent, message: &str) {
        self.body(to, &format!("event: message\ndata: {}\n\n", json(message)));
    }

    fn wait(&mut self, ms: u64) {
        self.now.mono = self.now.mono + Duration::from_millis(ms);
        self.http.handle_timeout(self.now);
    }

    fn take<R>(&mut self, pending: &Pending<R>) -> Result<R, CallError> {
        self.http.take(pending).expect("settled")
    }

    /// Nothing is kept of anything.
    fn is_empty(&mut self) {
        assert_eq!((self.http.calls(), self.http.exchanges(), self.http.link.asks.under_way()), (0, 0, 0));
        assert!(self.http.streams.is_empty());
        assert!(self.http.flights.is_empty() && self.http.wakes.is_empty() && self.http.refreshes.is_empty());
        assert_eq!(self.http.poll_timeout(), None);
    }
}

fn response(to: &Sent, result: &str) -> String {
    json(&format!("{{'jsonrpc':'2.0','id':{},'result':{result}}}", to.id()))
}

fn redirect(status: u16, location: &str) -> ResponseHead {
    let mut head = ResponseHead::new(status);
    head.headers.push("Location", location);
    head
}

/// A status of the server.
fn from(code: u16) -> HttpStatus {
    HttpStatus::new(code, "https://h.example/mcp")
}

fn unauthorized(code: u16) -> CallError {
    CallError::Unauthorized { status: from(code), reason: String::new(), record: String::new() }
}
