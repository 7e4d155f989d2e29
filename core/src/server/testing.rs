//! A server and clients for tests: exact text in, exact text out.

use alloc::format;
use alloc::string::{String, ToString};
use alloc::sync::Arc;
use alloc::vec::Vec;

use super::*;
use crate::entropy::Seed;
use crate::head::BodyLength;
use crate::head::{End, RequestHead, ResponseHead};
use crate::limits::Limits;
use crate::model::Json;
use crate::model::content::{ContentBlock, TextContent};
use crate::model::lifecycle::Implementation;
use crate::model::prompts::{Prompt, PromptArgument};
use crate::model::resources::{Resource, ResourceTemplate};
use crate::model::tools::{CallToolResult, Tool};
use crate::time::{Duration, Instant, Now};

pub(super) const ADD: &str =
    r#"{"type":"object","properties":{"a":{"type":"number"},"b":{"type":"number"}}}"#;
pub(super) const REGION: &str = r#"{"type":"object","properties":{"region":{"type":"string","x-mcp-header":"Region"},"bay":{"type":"integer","x-mcp-header":"Bay"},"rush":{"type":"boolean","x-mcp-header":"Rush"}}}"#;

/// The `_meta` that every modern request has.
pub(super) const META: &str = r#""_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}"#;
/// What every modern result ends with.
pub(super) const NAMED: &str =
    r#""_meta":{"io.modelcontextprotocol/serverInfo":{"name":"spokes","version":"2.1.0"}}"#;

pub(super) fn tool(name: &str, schema: &str) -> Tool {
    Tool::new(name, Json::parse(schema).unwrap())
}

pub(super) fn config() -> Config {
    let mut tools = Tools::new();
    tools.insert(tool("add", ADD)).unwrap();
    tools.insert(tool("search", ADD)).unwrap();
    tools.insert(tool("book", REGION)).unwrap();
    Config::new(Implementation::new("spokes", "2.1.0")).tools(tools).logging(true)
}

/// A server with something of everything.
pub(super) fn full() -> Config {
    let mut prompts = Prompts::new();
    let who = PromptArgument::new("who").required(true);
    let arguments = alloc::vec![who, PromptArgument::new("style")];
    prompts.insert(Prompt::new("greet").description("Says hello").arguments(arguments)).unwrap();
    prompts.insert(Prompt::new("plain").title("Plain")).unwrap();
    let mut resources = Resources::new();
    resources.insert(Resource::new("test://static", "static").mime_type("text/plain")).unwrap();
    resources.insert(Resource::new("test://item/special", "special")).unwrap();
    let mut templates = Templates::new();
    templates.insert(ResourceTemplate::new("test://item/{id}{?view}", "item")).unwrap();
    config().prompts(prompts).resources(resources).templates(templates).completions(true)
}

/// The default limits but for what `change` does to them.
pub(super) fn limits(change: impl FnOnce(&mut Limits)) -> Limits {
    let mut limits = Limits::default();
    change(&mut limits);
    limits
}

pub(super) fn now() -> Now {
    at(1_000)
}

pub(super) fn at(millis: u64) -> Now {
    Now::new(Instant::new(Duration::from_millis(millis)), Duration::from_secs(1_800_000_000))
}

pub(super) fn text(text: &str) -> CallToolResult {
    let mut result = CallToolResult::default();
    result.content.push(ContentBlock::Text(TextContent::new(text)));
    result
}

pub(super) fn initialize(version: &str) -> String {
    initialize_with(version, "{}")
}

/// The same with these capabilities.
pub(super) fn initialize_with(version: &str, capabilities: &str) -> String {
    format!(
        r#"{{"jsonrpc":"2.0","id":0,"method":"initialize","params":{{"protocolVersion":"{version}","capabilities":{capabilities},"clientInfo":{{"name":"kiln","version":"0.3.0"}}}}}}"#
    )
}

/// A modern request: `params` is what stands before `_meta`, with its comma.
pub(super) fn modern(id: &str, method: &str, params: &str) -> String {
    format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"{method}","params":{{{params}{META}}}}}"#)
}

/// A `subscriptions/listen` with this filter.
pub(super) fn listen(id: &str, filter: &str) -> String {
    modern(id, "subscriptions/listen", &format!(r#""notifications":{filter},"#))
}

/// A server with something of everything, all of which may change.
pub(super) fn changing() -> Config {
    full().changes(ListChanges::ALL).subscriptions(true)
}

/// A client on a byte stream.
pub(super) struct Client {
    pub(super) server: Connection,
}

impl Client {
    pub(super) fn new(config: Config) -> Self {
        Self { server: Connection::new(Arc::new(config)) }
    }

    /// A client that has done the handshake.
    pub(super) fn legacy(config: Config, version: &str) -> Self {
        Self::able(config, version, "{}")
    }

    /// The same with these capabilities.
    pub(super) fn able(config: Config, version: &str, capabilities: &str) -> Self {
        let mut client = Self::new(config);
        client.send(&initialize_with(version, capabilities));
        client.let_proceed();
        client.send(r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#);
        client.received();
        client.outputs();
        client
    }

    pub(super) fn send(&mut self, line: &str) {
        self.server.handle_bytes(now(), line.as_bytes());
        self.server.handle_bytes(now(), b"\n");
    }

    /// Lets everything proceed that was handed out only to be watched.
    pub(super) fn let_proceed(&mut self) -> usize {
        let mut count = 0;
        while let Some((id, _)) = self.calls().pop() {
            self.server.proceed(now(), id);
            count += 1;
        }
        count
    }

    /// The lines that the server has sent since last time.
    pub(super) fn received(&mut self) -> Vec<String> {
        let text = String::from_utf8(self.server.transmit().to_vec()).unwrap();
        self.server.advance(text.len());
        assert!(text.is_empty() || text.ends_with('\n'), "a line without end: {text}");
        text.lines().map(ToString::to_string).collect()
    }

    pub(super) fn ask(&mut self, line: &str) -> Vec<String> {
        self.send(line);
        self.received()
    }

    pub(super) fn outputs(&mut self) -> Vec<Output> {
        core::iter::from_fn(|| self.server.poll_output()).collect()
    }

    pub(super) fn calls(&mut self) -> Vec<(CallId, Call)> {
        let outputs = self.outputs().into_iter();
        outputs
            .filter_map(|output| if let Output::Call(id, call) = output { Some((id, call)) } else { None })
            .collect()
    }

    pub(super) fn diagnostics(&mut self) -> Vec<String> {
        let outputs = self.outputs().into_iter();
        outputs
            .filter_map(
                |output| if let Output::Diagnostic(it) = output { Some(it.to_string()) } else { None },
            )
            .collect()
    }

    /// Sends a `subscriptions/listen` and lets it in.
    pub(super) fn listen(&mut self, id: &str, filter: &str) -> ListenId {
        self.send(&listen(id, filter));
        let mut outputs = self.outputs();
        let Some(Output::Listen(id, _)) = outputs.pop() else { panic!("{outputs:?} {:?}", self.received()) };
        self.server.handle_admission(now(), id, Admission::Granted);
        id
    }

    pub(super) fn call(&mut self, line: &str) -> (CallId, Call) {
        self.send(line);
        let mut calls = self.calls();
        assert_eq!(calls.len(), 1, "{:?}", self.received());
        calls.remove(0)
    }

    pub(super) fn end(&mut self, end: End) {
        self.server.handle_end(now(), end);
    }
}

/// The heads of requests that a legacy client of this session sends.
pub(super) fn legacy_head(session: Option<&SessionId>) -> RequestHead {
    let mut head = head("POST");
    if let Some(session) = session {
        head.headers.push("mcp-session-id", session.as_str());
    }
    head
}

/// The head of a modern request.
pub(super) fn modern_head(method: &str, name: Option<&str>) -> RequestHead {
    let mut head = head("POST");
    head.headers.push("MCP-Protocol-Version", "2026-07-28");
    head.headers.push("Mcp-Method", method);
    if let Some(name) = name {
        head.headers.push("Mcp-Name", name);
    }
    head
}

pub(super) fn head(method: &str) -> RequestHead {
    let mut head = RequestHead::new(method, "/mcp");
    head.headers.push("Host", "localhost:8000");
    if method == "POST" {
        head.headers.push("Content-Type", "application/json");
        head.headers.push("Accept", "application/json, text/event-stream");
    }
    head
}

/// The same head with other values for some of its fields; `None` takes the field away.
pub(super) fn with(head: RequestHead, fields: &[(&str, Option<&str>)]) -> RequestHead {
    let mut changed = RequestHead::new(head.method.clone(), head.target.clone());
    let kept = |name: &str| !fields.iter().any(|(other, _)| other.eq_ignore_ascii_case(name));
    for (name, value) in head.headers.iter().filter(|(name, _)| kept(name)) {
        changed.headers.push(name, value);
    }
    for (name, value) in fields {
        if let Some(value) = value {
            changed.headers.push(name, value);
        }
    }
    changed
}

/// A server behind HTTP, with its sessions.
pub(super) struct Web {
    pub(super) config: Arc<Config>,
    pub(super) sessions: Sessions,
    pub(super) streams: SseSessions,
    /// Whom the application recognises in those who ask.
    pub(super) principal: Option<Arc<Principal>>,
    /// What becomes of those who want to listen.
    pub(super) admission: Admission,
    exchanges: u64,
}

/// One exchange, and what came out of it.
pub(super) struct Trip {
    pub(super) exchange: Exchange,
    pub(super) head: Option<(ResponseHead, BodyLength)>,
    pub(super) body: String,
    pub(super) calls: Vec<(CallId, Call)>,
    pub(super) cancelled: Vec<CallId>,
    pub(super) answers: Vec<(AskId, Answer)>,
    pub(super) listens: Vec<Listen>,
    pub(super) told: Vec<String>,
    pub(super) parted: bool,
    pub(super) tokens: Vec<BearerToken>,
    pub(super) ended: bool,
}

impl Web {
    pub(super) fn new(config: Config) -> Self {
        let sessions = Sessions::new(&config.limits, Seed::new([1; 32]));
        let streams = SseSessions::new(&config.limits, Seed::new([2; 32]));
        let admission = Admission::Granted;
        Self { config: Arc::new(config), sessions, streams, principal: None, admission, exchanges: 0 }
    }

    /// Sends a whole request and takes what comes of it at once.
    pub(super) fn ask(&mut self, head: RequestHead, body: &str) -> Trip {
        let mut trip = self.open_trip(head, body);
        self.drive(&mut trip);
        trip
    }

    /// Sends a whole request.
    pub(super) fn open_trip(&mut self, head: RequestHead, body: &str) -> Trip {
        self.exchanges += 1;
        let (id, config) = (ExchangeId::new(self.exchanges), Arc::clone(&self.config));
        let exchange = Exchange::of(now(), id, config, head, self.principal.clone());
        let mut trip = Trip {
            exchange,
            head: None,
            body: String::new(),
            calls: Vec::new(),
            cancelled: Vec::new(),
            answers: Vec::new(),
            listens: Vec::new(),
            told: Vec::new(),
            parted: false,
            tokens: Vec::new(),
            ended: false,
        };
        trip.exchange.handle_body(now(), body.as_bytes());
        trip.exchange.handle_end(now(), End::Complete);
        trip
    }

    /// Does the handshake.
    pub(super) fn open(&mut self, version: &str) -> SessionId {
        self.open_able(version, "{}")
    }

    /// The same with these capabilities.
    pub(super) fn open_able(&mut self, version: &str, capabilities: &str) -> SessionId {
        let mut trip = self.ask(legacy_head(None), &initialize_with(version, capabilities));
        self.let_proceed(&mut trip);
        assert_eq!(trip.status(), 200, "{}", trip.body);
        let (head, _) = trip.head.unwrap();
        SessionId::new(head.headers.text("Mcp-Session-Id").unwrap())
    }

    /// Lets everything proceed that was handed out only to be watched.
    pub(super) fn let_proceed(&mut self, trip: &mut Trip) -> usize {
        let calls = core::mem::take(&mut trip.calls);
        for (id, _) in &calls {
            trip.exchange.proceed(now(), *id);
        }
        self.drive(trip);
        calls.len()
    }

    /// Takes what an exchange has to say.
    pub(super) fn drive(&mut self, trip: &mut Trip) {
        while let Some(output) = trip.exchange.poll_output() {
            assert!(!trip.ended, "something after the end: {output:?}");
            match output {
                ExchangeOutput::Head(head, length) => {
                    assert!(trip.head.replace((head, length)).is_none(), "a second head");
                }
                ExchangeOutput::Call(id, call) => trip.calls.push((id, call)),
                ExchangeOutput::Cancelled(id) => trip.cancelled.push(id),
                ExchangeOutput::Answered(_, ask, answer) => trip.answers.push((ask, answer)),
                ExchangeOutput::Session(id, query) => {
                    let answer = self.sessions.handle_query(now(), query);
                    trip.exchange.handle_session(now(), id, answer);
                }
                ExchangeOutput::Sse(query) => {
                    let answer = self.streams.handle_query(query);
                    trip.exchange.handle_sse(now(), answer);
                }
                ExchangeOutput::Authenticate(token) => trip.tokens.push(token),
                ExchangeOutput::Listen(listen) => {
                    trip.listens.push(listen);
                    trip.exchange.handle_admission(now(), self.admission.clone());
                }
                ExchangeOutput::Task(task) => trip.told.push(format!("task {}", task.id())),
                ExchangeOutput::Initialized => trip.told.push("initialized".into()),
                ExchangeOutput::Notification { method, params } => {
                    trip.told.push(format!("{method} {params}"))
                }
                ExchangeOutput::Diagnostic(diagnostic) => trip.told.push(diagnostic.to_string()),
                ExchangeOutput::Parted => trip.parted = true,
                ExchangeOutput::End => trip.ended = true,
            }
            if trip.head.is_some() {
                trip.take();
            }
        }
        trip.take();
        match trip.exchange.poll_output() {
            None => {}
            // There is room again.
            Some(ExchangeOutput::Sse(query)) => {
                self.streams.handle_query(query);
                return self.drive(trip);
            }
            Some(ExchangeOutput::Parted) => trip.parted = true,
            Some(ExchangeOutput::End) => trip.ended = true,
            Some(output) => panic!("{output:?}"),
        }
        if let (true, Some((_, BodyLength::Known(length)))) = (trip.ended, &trip.head) {
            assert_eq!(trip.body.len() as u64, *length);
        }
    }
}

impl Trip {
    fn take(&mut self) {
        while !self.exchange.transmit().is_empty() {
            self.body.push_str(core::str::from_utf8(self.exchange.transmit()).unwrap());
            let sent = self.exchange.transmit().len();
            self.exchange.advance(sent);
        }
    }

    pub(super) fn status(&self) -> u16 {
        self.head.as_ref().map_or(0, |(head, _)| head.status)
    }

    pub(super) fn field(&self, name: &str) -> &str {
        self.head.as_ref().and_then(|(head, _)| head.headers.text(name)).unwrap_or_default()
    }

    /// The messages that came as events.
    pub(super) fn events(&self) -> Vec<&str> {
        let data = self.body.lines().filter_map(|line| line.strip_prefix("data: "));
        data.filter(|data| !data.is_empty()).collect()
    }
}
