//! What a server tells `tracing`, as a subscriber hears it.

use std::collections::BTreeMap;
use std::fmt::Debug;
use std::io::Write;
use std::net::TcpStream;
use std::sync::{Arc, Mutex, OnceLock};

use mcp_tokio::model::{Meta, TraceContext};
use mcp_tokio::{
    Answer, Calls, Client, Context, EraChoice, Json, LoggingLevel, Next, Options, Request, Server, Tool,
    ToolError,
};
use serde_json::json;
use tracing::field::{Field, Visit};
use tracing::span::{Attributes, Id, Record};
use tracing::{Event, Level, Metadata, Subscriber};

/// A span or an event, as it was told.
#[derive(Clone, Debug, Default)]
struct Told {
    level: String,
    fields: BTreeMap<String, String>,
    /// The span that an event was told in.
    within: Option<u64>,
}

impl Told {
    fn of(metadata: &Metadata<'_>) -> Self {
        Self { level: metadata.level().to_string(), ..Self::default() }
    }

    fn field(&self, name: &str) -> &str {
        self.fields.get(name).map_or("", String::as_str)
    }
}

impl Visit for Told {
    fn record_debug(&mut self, field: &Field, value: &dyn Debug) {
        self.fields.insert(field.name().into(), format!("{value:?}"));
    }

    fn record_str(&mut self, field: &Field, value: &str) {
        self.fields.insert(field.name().into(), value.into());
    }
}

/// Keeps what a test needs, whichever thread it comes from.
#[derive(Default)]
struct Heard {
    spans: Mutex<Vec<Told>>,
    events: Mutex<Vec<Told>>,
}

thread_local! {
    static WITHIN: std::cell::RefCell<Vec<u64>> = const { std::cell::RefCell::new(Vec::new()) };
}

struct Collector(Arc<Heard>);

impl Subscriber for Collector {
    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        metadata.target() == "mcp"
    }

    fn new_span(&self, attributes: &Attributes<'_>) -> Id {
        let mut told = Told::of(attributes.metadata());
        attributes.record(&mut told);
        let mut spans = self.0.spans.lock().unwrap();
        spans.push(told);
        Id::from_u64(spans.len() as u64)
    }

    fn record(&self, span: &Id, values: &Record<'_>) {
        let place = usize::try_from(span.into_u64()).unwrap() - 1;
        values.record(&mut self.0.spans.lock().unwrap()[place]);
    }

    fn record_follows_from(&self, _: &Id, _: &Id) {}

    fn event(&self, event: &Event<'_>) {
        let mut told = Told::of(event.metadata());
        told.within = WITHIN.with_borrow(|within| within.last().copied());
        event.record(&mut told);
        self.0.events.lock().unwrap().push(told);
    }

    fn enter(&self, span: &Id) {
        WITHIN.with_borrow_mut(|within| within.push(span.into_u64()));
    }

    fn exit(&self, _: &Id) {
        WITHIN.with_borrow_mut(|within| within.pop());
    }
}

/// The one subscriber of this process.
fn heard() -> Arc<Heard> {
    static HEARD: OnceLock<Arc<Heard>> = OnceLock::new();
    let heard = HEARD.get_or_init(|| {
        let heard = Arc::new(Heard::default());
        tracing::subscriber::set_global_default(Collector(heard.clone())).unwrap();
        heard
    });
    heard.clone()
}

impl Heard {
    /// The spans of requests for this.
    fn spans(&self, target: &str) -> Vec<Told> {
        let spans = self.spans.lock().unwrap();
        spans.iter().filter(|span| span.field("target") == target).cloned().collect()
    }

    fn event(&self, text: &str) -> Option<Told> {
        let events = self.events.lock().unwrap();
        events.iter().find(|event| event.field("message").contains(text)).cloned()
    }
}

fn tool(name: &str) -> Tool {
    Tool::new(name).input_schema(Json::parse(r#"{"type":"object"}"#).unwrap())
}

/// A client of this server, on a socket.
async fn connect(server: Server, era: EraChoice) -> Client {
    let server = server.bind_http("127.0.0.1:0").await.unwrap();
    let url = server.url();
    tokio::spawn(server.serve());
    Client::builder("watching", "1").era(era).http(url).await.unwrap()
}

/// Everything that a span says, and nothing that was in the request or its answer.
#[tokio::test]
async fn a_request_is_a_span_without_payloads() {
    let heard = heard();
    for (era, era_name, revision) in
        [(EraChoice::Modern, "modern", "2026-07-28"), (EraChoice::Legacy, "legacy", "2025-11-25")]
    {
        let name = format!("quick-{era_name}");
        let server =
            Server::new("spans", "1").tool(tool(&name), async |_: Json, _: Context| Ok("the answer"));
        let client = connect(server, era).await;
        let mut meta = Meta::new();
        let mut trace = TraceContext::new();
        trace.traceparent = Some("00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01".into());
        trace.baggage = Some("who=nobody".into());
        trace.add_to(&mut meta);
        let options = Options::new().meta(meta);
        client.call_tool_with(&name, json!({ "secret": "hunter2" }), options).await.unwrap();
        let spans = heard.spans(&name);
        let [span] = &spans[..] else { panic!("{spans:?}") };
        for (field, expected) in [
            ("method", "tools/call"),
            ("era", era_name),
            ("revision", revision),
            ("trace_id", "0af7651916cd43dd8448eb211c80319c"),
            ("parent_id", "b7ad6b7169203331"),
            ("outcome", "ok"),
        ] {
            assert_eq!(span.field(field), expected, "{field}: {span:?}");
        }
        span.field("request_id").parse::<u64>().unwrap();
        assert!(span.field("duration_us").parse::<u64>().unwrap() < 60_000_000, "{span:?}");
        let all = format!("{span:?}");
        for payload in ["hunter2", "the answer", "nobody"] {
            assert!(!all.contains(payload), "{all}");
        }
    }
}

/// Every outcome, of handlers of both kinds, with and without hooks around them.
#[tokio::test]
async fn a_span_says_how_a_request_ended() {
    let heard = heard();
    for hooked in [false, true] {
        let name = |name: &str| format!("{name}-{hooked}");
        let mut server = Server::new("spans", "1")
            .on_error(|_| {})
            .tool(tool(&name("wrong")), async |_: Json, _: Context| Err::<(), _>(ToolError::new("wrong")))
            .tool(tool(&name("broken")), |_: Json, _: Context| Err::<(), _>(ToolError::internal("a secret")))
            .tool(tool(&name("panic")), |_: Json, _: Context| -> Result<(), ToolError> { panic!("oh") })
            .tool(tool(&name("endless")), async |_: Json, _: Context| {
                std::future::pending::<()>().await;
                Ok(())
            });
        if hooked {
            server = server.around(async |_: Request, next: Next| -> Answer { next.run().await });
        }
        let client = connect(server, EraChoice::Modern).await;
        for (tool, outcome) in
            [("wrong", "tool error"), ("broken", "error -32603"), ("panic", "error -32603")]
        {
            let _ = client.call_tool(name(tool), json!({})).await;
            assert_eq!(heard.spans(&name(tool))[0].field("outcome"), outcome, "{tool}");
        }
        let endless = tokio::spawn({
            let (client, name) = (client.clone(), name("endless"));
            async move { client.call_tool(&name, json!({})).await.map(drop) }
        });
        until(|| !heard.spans(&name("endless")).is_empty()).await;
        endless.abort();
        until(|| heard.spans(&name("endless"))[0].field("outcome") == "cancelled").await;
    }
    assert!(heard.spans("tools/list").iter().all(|span| span.field("outcome") == "ok"));
}

/// Lists and pings are requests, too.
#[tokio::test]
async fn requests_that_need_no_application_are_spans_as_well() {
    let heard = heard();
    let server = Server::new("spans", "1").tool(tool("listed"), async |_: Json, _: Context| Ok(()));
    let client = connect(server, EraChoice::Legacy).await;
    let before = (heard.spans("ping").len(), heard.spans("tools/list").len());
    client.ping().await.unwrap();
    client.list_tools().await.unwrap();
    assert_eq!(heard.spans("ping").len(), before.0 + 1);
    assert!(heard.spans("tools/list").len() > before.1);
}

/// What opens a session or a subscription is a request like any other, and says how it ended; so is one that is refused.
#[tokio::test]
async fn handshakes_and_subscriptions_are_spans_as_well() {
    const LISTEN: &str = r#"{"jsonrpc":"2.0","id":1,"method":"subscriptions/listen","params":{"notifications":{"toolsListChanged":true},"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}}}"#;
    let heard = heard();
    let ended = |method: &str, outcome: &str| {
        let spans = heard.spans(method);
        spans
            .iter()
            .filter(|span| span.field("outcome") == outcome && !span.field("duration_us").is_empty())
            .count()
    };
    for (outcome, refused) in [("ok", false), ("error 4711", true)] {
        let mut server = Server::new("spans", "1").tool(tool("listed"), async |_: Json, _: Context| Ok(()));
        // Keeps the list one that may change.
        let _registry = server.registry();
        if refused {
            server =
                server.around(async |_: Request, _: Next| -> Answer { Answer::refuse(4711, "not today") });
        }
        let server = server.bind_http("127.0.0.1:0").await.unwrap();
        let url = server.url();
        tokio::spawn(server.serve());
        let before = ["initialize", "subscriptions/listen"].map(|method| ended(method, outcome));
        let client = Client::builder("watching", "1").era(EraChoice::Legacy).http(&url).await;
        assert_eq!(client.is_err(), refused);
        let authority = url.strip_prefix("http://").unwrap().split('/').next().unwrap();
        let mut stream = TcpStream::connect(authority).unwrap();
        let head = format!(
            "POST /mcp HTTP/1.1\r\nHost: {authority}\r\nContent-Type: application/json\r\n\
             Accept: application/json, text/event-stream\r\nMCP-Protocol-Version: 2026-07-28\r\n\
             Mcp-Method: subscriptions/listen\r\nContent-Length: {}\r\n\r\n{LISTEN}",
            LISTEN.len()
        );
        stream.write_all(head.as_bytes()).unwrap();
        until(|| ended("initialize", outcome) > before[0]).await;
        until(|| ended("subscriptions/listen", outcome) > before[1]).await;
    }
}

/// Reports are events of a level by whose doing it is, within the span of what they are about.
#[tokio::test]
async fn reports_are_events_by_blame() {
    let heard = heard();
    let server = Server::new("spans", "1").logging().on_error(|_| {}).tool(
        tool("reporting"),
        async |_: Json, cx: Context| {
            cx.log(LoggingLevel::Error, "x");
            tracing::info!(target: "mcp", "from within");
            Err::<(), _>(ToolError::internal("the disk of reporting is full"))
        },
    );
    let client = connect(server, EraChoice::Modern).await;
    let options = Options::new().log_level(LoggingLevel::Debug);
    client.call_tool_with("reporting", json!({}), options).await.unwrap_err();
    client.call_tool("never there", json!({})).await.unwrap_err();
    let full = heard.event("the disk of reporting is full").unwrap();
    assert_eq!((full.level.as_str(), full.field("what")), (Level::ERROR.as_str(), "tool reporting"));
    assert_eq!(heard.event("is not in the catalog").unwrap().level, Level::DEBUG.as_str());
    assert_eq!(heard.event("logging is deprecated").unwrap().level, Level::WARN.as_str());
    let span = heard.event("from within").unwrap().within.unwrap();
    let spans = heard.spans.lock().unwrap();
    assert_eq!(spans[usize::try_from(span).unwrap() - 1].field("target"), "reporting");
}

/// LOG-13: whatever fails, nothing of tokens and arguments is told at any level, nor to the hook for errors.
#[tokio::test]
async fn nothing_of_what_clients_send_is_told() {
    const TOKEN: &str = "tok-7f3a";
    const ARGUMENT: &str = "arg-91cc";
    let heard = heard();
    let told = Arc::new(Mutex::new(Vec::new()));
    let hook = told.clone();
    let server = Server::new("discreet", "1")
        .on_error(move |report| hook.lock().unwrap().push(format!("{report} {report:?}")))
        .around(async |request: Request, next: Next| -> Answer {
            tracing::trace!(target: "mcp", "{request:?}");
            next.run().await
        })
        .tool(tool("shown"), async |_: Json, _: Context| Err::<(), _>(ToolError::new("no")))
        .tool(tool("internal"), async |_: Json, cx: Context| {
            tracing::trace!(target: "mcp", "{cx:?}");
            Err::<(), _>(ToolError::internal("the discreet disk is full"))
        })
        .tool(tool("panics"), |_: Json, _: Context| -> Result<(), ToolError> { panic!("oh") })
        .tool(
            Tool::new("typed").input_schema(
                Json::parse(r#"{"type":"object","properties":{"secret":{"type":"integer"}}}"#).unwrap(),
            ),
            async |_: Json, _: Context| Ok(()),
        );
    let server = server.bind_http("127.0.0.1:0").await.unwrap();
    let url = server.url();
    tokio::spawn(server.serve());
    for era in [EraChoice::Modern, EraChoice::Legacy] {
        let builder = Client::builder("discreet", "1").era(era);
        let client = builder.header("Authorization", format!("Bearer {TOKEN}")).http(&url).await.unwrap();
        for name in ["shown", "internal", "panics", "typed", "none"] {
            let _ = client.call_tool(name, json!({ "secret": ARGUMENT })).await;
        }
        client.read_resource(&format!("no://{ARGUMENT}")).await.unwrap_err();
    }
    let told = format!("{:?}", told.lock().unwrap());
    assert!(told.contains("the discreet disk is full"), "{told}");
    let events = format!("{:?}", heard.events.lock().unwrap());
    assert!(events.contains("the discreet disk is full"));
    for said in [&told, &events] {
        assert!(!said.contains(TOKEN) && !said.contains(ARGUMENT), "{said}");
    }
    let spans = format!("{:?}", heard.spans.lock().unwrap());
    assert!(!spans.contains(TOKEN) && !spans.contains(ARGUMENT), "{spans}");
}

async fn until(done: impl Fn() -> bool) {
    let waited = tokio::time::timeout(std::time::Duration::from_secs(30), async {
        while !done() {
            tokio::task::yield_now().await;
        }
    });
    waited.await.unwrap();
}
