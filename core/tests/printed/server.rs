//! Servers: byte streams and exchanges, of both eras, and HTTP with SSE.

use std::sync::Arc;

use mcp_proto::entropy::Seed;
use mcp_proto::error::ErrorObject;
use mcp_proto::head::{End, RequestHead};
use mcp_proto::limits::Limits;
use mcp_proto::model::{
    CallToolResult, ElicitRequestFormParams, ElicitRequestParams, ElicitationSchema, Implementation, Json,
    LoggingLevel, LoggingMessageNotificationParams, Resource, Tool,
};
use mcp_proto::server::{
    Admission, Config, Connection, Exchange, ExchangeId, ExchangeOutput, Grant, HttpPolicy, HttpSse, Output,
    Principal, Progress, ResourceServer, Resources, SessionOutput, Sessions, SseSessions, Tools,
};

use super::{Reader, SECRET, now, text};

const META: &str = "'_meta':{'io.modelcontextprotocol/protocolVersion':'2026-07-28','io.modelcontextprotocol/clientCapabilities':{},'io.modelcontextprotocol/logLevel':'debug','acme/x':'SECRET'}";
const SCHEMA: &str = "{'type':'object','properties':{'a':{'type':'string','x-mcp-header':'A'}}}";
const ARGUMENTS: &str = "'name':'add','arguments':{'a':'SECRET'}";

fn modern(id: u32, method: &str, params: &str) -> String {
    text(&format!("{{'jsonrpc':'2.0','id':{id},'method':'{method}','params':{{{params},{META}}}}}"))
}

fn legacy(id: u32, method: &str, params: &str) -> String {
    text(&format!("{{'jsonrpc':'2.0','id':{id},'method':'{method}','params':{{{params}}}}}"))
}

fn initialize(revision: &str) -> String {
    let capabilities = "{'elicitation':{},'roots':{}}";
    legacy(
        0,
        "initialize",
        &format!(
            "'protocolVersion':'{revision}','capabilities':{capabilities},'clientInfo':{{'name':'c','version':'1'}}"
        ),
    )
}

/// What a client tells.
fn told(method: &str) -> String {
    text(&format!(
        "{{'jsonrpc':'2.0','method':'notifications/{method}','params':{{'_meta':{{'acme/x':'SECRET'}}}}}}"
    ))
}

/// Its answer to what it was asked last, as it was sent.
fn answer(sent: &[u8]) -> String {
    let sent = std::str::from_utf8(sent).unwrap();
    let (_, rest) = sent.rsplit_once(r#""id":"ask-"#).unwrap();
    let (id, _) = rest.split_once('"').unwrap();
    text(&format!(
        "{{'jsonrpc':'2.0','id':'ask-{id}','result':{{'action':'accept','content':{{'a':'SECRET'}}}}}}"
    ))
}

fn config() -> Config {
    let (mut tools, mut resources) = (Tools::new(), Resources::new());
    tools.insert(Tool::new("add", Json::parse(text(SCHEMA)).unwrap())).unwrap();
    resources.insert(Resource::new("f:s", "s")).unwrap();
    let mut limits = Limits::default();
    limits.transmit = 2_000;
    Config::new(Implementation::new("s", "1"))
        .tools(tools)
        .resources(resources)
        .subscriptions(true)
        .completions(true)
        .logging(true)
        .limits(limits)
}

fn result() -> CallToolResult {
    CallToolResult::text(SECRET)
}

fn log() -> LoggingMessageNotificationParams {
    LoggingMessageNotificationParams::new(LoggingLevel::Error, secret())
}

fn secret() -> Json {
    Json::parse(text("{'x':'SECRET'}")).unwrap()
}

fn progress() -> Progress {
    Progress::new(1.0).message(SECRET)
}

fn failure() -> ErrorObject {
    ErrorObject::new(7, "e").data(secret().into())
}

fn question() -> mcp_proto::model::InputRequest {
    ElicitRequestParams::from(ElicitRequestFormParams::new(SECRET, ElicitationSchema::new())).into()
}

/// A client on a byte stream.
struct Stream {
    server: Connection,
    reader: Reader,
    calls: Vec<mcp_proto::server::CallId>,
}

impl Stream {
    fn new(config: Config) -> Self {
        let server = Connection::new(Arc::new(config));
        Self { server, reader: Reader::default(), calls: Vec::new() }
    }

    /// A message in two halves.
    fn send(&mut self, message: &str) {
        let bytes = [message.as_bytes(), b"\n"].concat();
        let half = message.rfind("1f2e3d").map_or(bytes.len() / 2, |at| at + 8);
        for part in [&bytes[..half], &bytes[half..]] {
            self.server.handle_bytes(now(), part);
            self.read(message);
        }
    }

    fn read(&mut self, when: &str) {
        self.reader.read(when, &self.server);
        while let Some(output) = self.server.poll_output() {
            self.reader.read(when, &output);
            match output {
                Output::Call(id, _) => self.calls.push(id),
                Output::Listen(id, _) => self.server.handle_admission(now(), id, Admission::Granted),
                _ => {}
            }
        }
        self.reader.read(when, &self.server);
    }

    fn take(&mut self) -> Vec<u8> {
        let sent = self.server.transmit().to_vec();
        self.server.advance(sent.len());
        sent
    }

    /// The last call reports all that it can, asks if it may, and is answered.
    fn serve(&mut self, asks: bool) {
        let id = self.calls.pop().unwrap();
        self.server.progress(now(), id, &progress());
        self.server.log(now(), id, &log());
        self.server.notify(now(), id, "acme/z", &secret());
        self.read("reports");
        if asks {
            self.server.ask(now(), id, &question(), None).unwrap();
            self.read("asks");
            let sent = self.take();
            self.send(&answer(&sent));
        }
        self.server.respond(now(), id, &result());
        self.read("answer");
    }
}

/// Modern and legacy messages, those of a batch among them, before and after they are cut, kept back and answered.
#[test]
fn a_server_on_a_byte_stream_prints_no_payload() {
    let mut client = Stream::new(config());
    let retry = format!("{ARGUMENTS},'requestState':'SECRET','inputResponses':{{'k':{{'a':'SECRET'}}}}");
    client.send(&modern(1, "tools/call", &retry));
    client.serve(false);
    client.send(&modern(2, "tools/call", ARGUMENTS));
    let id = client.calls.pop().unwrap();
    client.server.fail(now(), id, &failure());
    client.read("error");
    let uri = "'notifications':{'resourceSubscriptions':['f:s','f:SECRET']}";
    client.send(&modern(3, "subscriptions/listen", uri));
    client.send(&modern(4, "resources/read", "'uri':'f:SECRET'"));
    client.send(&modern(5, "tools/list", "'cursor':'SECRET'"));
    assert!(String::from_utf8(client.take()).unwrap().contains(SECRET));
    // Nobody reads what is sent, so what comes is kept.
    client.send(&modern(6, "tools/call", ARGUMENTS));
    let id = client.calls.pop().unwrap();
    client.server.respond(now(), id, &CallToolResult::text(SECRET.repeat(200)));
    client.send(&modern(7, "tools/call", ARGUMENTS));
    assert!(client.calls.is_empty() && !client.server.wants_read());
    client.reader.judge(30);

    for revision in ["2025-11-25", "2025-03-26"] {
        let mut client = Stream::new(config());
        client.send(&initialize(revision));
        client.send(&told("initialized"));
        client.send(&told("roots/list_changed"));
        client.send(&legacy(1, "resources/subscribe", "'uri':'f:SECRET'"));
        client.send(&legacy(2, "tools/call", ARGUMENTS));
        client.serve(revision == "2025-11-25");
        client.take();
        if revision == "2025-03-26" {
            let calls = [3, 4].map(|id| legacy(id, "tools/call", ARGUMENTS));
            client.send(&format!("[{}]", calls.join(",")));
            client.serve(false);
            assert_eq!(client.calls.len(), 1, "the other one is waited for");
            client.serve(false);
        }
        client.server.shutdown(now());
        client.read("shutdown");
        client.reader.judge(20);
    }
}

/// A server behind HTTP, with its tables.
struct Web {
    config: Arc<Config>,
    sessions: Sessions,
    streams: SseSessions,
    reader: Reader,
    exchanges: u64,
    session: Option<String>,
}

/// An exchange with what it has said.
struct Trip {
    exchange: Exchange,
    calls: Vec<mcp_proto::server::CallId>,
    body: Vec<u8>,
}

impl Web {
    fn new(config: Config) -> Self {
        let (one, other) = (Seed::new([7; 32]), Seed::new([8; 32]));
        let sessions = Sessions::new(&config.limits, one);
        let streams = SseSessions::new(&config.limits, other);
        let config = Arc::new(config);
        Self { config, sessions, streams, reader: Reader::default(), exchanges: 0, session: None }
    }

    /// A request in two halves, with the secret in its query and in its fields.
    fn ask(&mut self, method: &str, path: &str, fields: &[(&str, &str)], message: &str) -> Trip {
        let query = if path.contains('?') { "&" } else { "?" };
        let mut head = RequestHead::new(method, format!("{path}{query}key={SECRET}"));
        let usual = [
            ("Host", "localhost"),
            ("Content-Type", "application/json"),
            ("Accept", "application/json, text/event-stream"),
        ];
        let secret = [("Cookie", SECRET), ("Mcp-Param-A", SECRET)];
        for (name, value) in usual.iter().chain(&secret).chain(fields) {
            head.headers.push(name, text(value));
        }
        if let Some(session) = &self.session {
            head.headers.push("Mcp-Session-Id", session);
        }
        self.reader.read("head", &head);
        self.exchanges += 1;
        let id = ExchangeId::new(self.exchanges);
        let exchange = Exchange::new(now(), id, Arc::clone(&self.config), head);
        let mut trip = Trip { exchange, calls: Vec::new(), body: Vec::new() };
        self.drive("head", &mut trip);
        let half = message.rfind("1f2e3d").map_or(message.len() / 2, |at| at + 8);
        for part in [&message[..half], &message[half..]] {
            trip.exchange.handle_body(now(), part.as_bytes());
            self.drive("body", &mut trip);
        }
        trip.exchange.handle_end(now(), End::Complete);
        self.drive(message, &mut trip);
        trip
    }

    fn drive(&mut self, when: &str, trip: &mut Trip) {
        self.reader.read(when, &trip.exchange);
        while let Some(output) = trip.exchange.poll_output() {
            // What was asked is still waited for here.
            self.reader.read(when, &output);
            self.reader.read(when, &trip.exchange);
            match output {
                ExchangeOutput::Call(id, _) => trip.calls.push(id),
                ExchangeOutput::Authenticate(token) => {
                    assert_eq!(token.as_str(), SECRET);
                    let principal =
                        Principal::new("ada").scopes(["use"]).claims([("x".into(), secret())].into());
                    let grant = Grant::new(principal).audience("https://s.example/mcp");
                    self.reader.read("grant", &grant);
                    trip.exchange.handle_grant(now(), grant);
                }
                ExchangeOutput::Session(id, query) => {
                    let answer = self.sessions.handle_query(now(), query);
                    self.reader.read(when, &answer);
                    self.reader.read(when, &self.sessions);
                    trip.exchange.handle_session(now(), id, answer);
                }
                ExchangeOutput::Sse(query) => {
                    let answer = self.streams.handle_query(query);
                    self.reader.read(when, &answer);
                    self.reader.read(when, &self.streams);
                    trip.exchange.handle_sse(now(), answer);
                }
                ExchangeOutput::Listen(_) => trip.exchange.handle_admission(now(), Admission::Granted),
                ExchangeOutput::Head(head, _) => {
                    if let Some(session) = head.headers.text("mcp-session-id") {
                        self.session = Some(session.into());
                    }
                }
                _ => {}
            }
        }
        self.reader.read(when, &trip.exchange);
    }

    fn take(trip: &mut Trip) {
        trip.body.extend_from_slice(trip.exchange.transmit());
        trip.exchange.advance(trip.exchange.transmit().len());
    }

    /// The last call reports all that it can, asks if it may, and is answered.
    fn serve(&mut self, trip: &mut Trip, asks: Option<&str>) {
        let id = trip.calls.pop().unwrap();
        trip.exchange.progress(now(), id, &progress());
        trip.exchange.log(now(), id, &log());
        trip.exchange.notify(now(), id, "acme/z", &secret());
        self.drive("reports", trip);
        if let Some(path) = asks {
            Self::take(trip);
            trip.exchange.ask(now(), id, &question(), None).unwrap();
            self.drive("asks", trip);
            Self::take(trip);
            self.ask("POST", path, &[], &answer(&trip.body));
            self.deliver(trip);
        }
        trip.exchange.respond(now(), id, &result());
        self.drive("answer", trip);
        Self::take(trip);
        assert!(String::from_utf8_lossy(&trip.body).contains(SECRET));
    }

    /// What the tables have for an exchange.
    fn deliver(&mut self, trip: &mut Trip) {
        while let Some(output) = self.sessions.poll_output() {
            self.reader.read("tables", &output);
            match output {
                SessionOutput::Answer { response, .. } => trip.exchange.handle_answer(now(), response),
                SessionOutput::Deliver { event, .. } => trip.exchange.handle_delivery(now(), &event),
                _ => {}
            }
        }
        while let Some(output) = self.streams.poll_output() {
            self.reader.read("tables", &output);
            trip.exchange.handle_message(now(), &output.message, output.sender);
        }
        self.drive("delivery", trip);
    }
}

/// Of both eras, with tokens, sessions, streams and what clients are asked on them.
#[test]
fn a_server_behind_http_prints_no_payload() {
    let resource = ResourceServer::new("https://s.example/mcp").scopes(["use"]);
    let mut web = Web::new(config().http(HttpPolicy::default().resource_server(resource)));
    let bearer = ("Authorization", "Bearer SECRET");
    let fields =
        [("MCP-Protocol-Version", "2026-07-28"), ("Mcp-Method", "tools/call"), ("Mcp-Name", "add"), bearer];
    let retry = format!("{ARGUMENTS},'requestState':'SECRET','inputResponses':{{'k':{{'a':'SECRET'}}}}");
    let mut trip = web.ask("POST", "/mcp", &fields, &modern(1, "tools/call", &retry));
    web.serve(&mut trip, None);
    let fields = [("MCP-Protocol-Version", "2026-07-28"), ("Mcp-Method", "subscriptions/listen"), bearer];
    let uri = "'notifications':{'resourceSubscriptions':['f:s','f:SECRET']}";
    web.ask("POST", "/mcp", &fields, &modern(2, "subscriptions/listen", uri));
    web.reader.judge(20);

    for revision in ["2025-11-25", "2025-03-26"] {
        let mut web = Web::new(config());
        web.ask("POST", "/mcp", &[], &initialize(revision));
        assert!(web.session.is_some());
        web.ask("POST", "/mcp", &[], &told("initialized"));
        web.ask("POST", "/mcp", &[], &told("roots/list_changed"));
        web.ask("POST", "/mcp", &[], &legacy(1, "resources/subscribe", "'uri':'f:SECRET'"));
        let mut trip = web.ask("POST", "/mcp", &[], &legacy(2, "tools/call", ARGUMENTS));
        web.serve(&mut trip, (revision == "2025-11-25").then_some("/mcp"));
        let batch = [3, 4].map(|id| legacy(id, "tools/call", ARGUMENTS)).join(",");
        let mut trip = web.ask("POST", "/mcp", &[], &format!("[{batch}]"));
        assert_eq!(trip.calls.len(), if revision == "2025-03-26" { 2 } else { 0 });
        if revision == "2025-03-26" {
            web.serve(&mut trip, None);
        }
        let session = mcp_proto::server::SessionId::new(web.session.clone().unwrap());
        web.sessions.send(now(), &session, text("{'x':'SECRET'}").as_bytes());
        let mut trip = web.ask("GET", "/mcp", &[], "");
        web.deliver(&mut trip);
        web.reader.judge(50);
    }
}

/// The stream of a session, and the exchanges that bring its messages.
#[test]
fn a_server_of_http_with_sse_prints_no_payload() {
    let policy = HttpPolicy::default().http_sse(HttpSse::new("/sse", "/messages"));
    let mut web = Web::new(config().http(policy));
    let mut stream = web.ask("GET", "/sse", &[], "");
    Web::take(&mut stream);
    let body = String::from_utf8(stream.body.clone()).unwrap();
    let (_, endpoint) = body.split_once("data: ").unwrap();
    let endpoint = endpoint.trim().to_string();
    let messages = [
        initialize("2024-11-05"),
        told("initialized"),
        told("roots/list_changed"),
        legacy(1, "tools/call", ARGUMENTS),
    ];
    for message in messages {
        web.ask("POST", &endpoint, &[], &message);
        web.deliver(&mut stream);
    }
    web.serve(&mut stream, None);
    web.reader.judge(20);
}
