//! HTTP with SSE, the transport of 2024-11-05, beside the MCP endpoint.

use std::net::{Shutdown, TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

use mcp_driver::model::Root;
use mcp_driver::{CallError, Calls, Context, Era, EraChoice, Limits, Options, Proxy, Registry, Tool};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use super::{Host, Remote, hosted};
use crate::kit::{Client, Kit, Server, background};
use crate::rig;
use crate::support::{Events, Gate, Raw};

#[derive(Deserialize, JsonSchema)]
struct Nothing {}

/// A client of the time, by hand.
struct Old {
    url: String,
    stream: Raw,
    endpoint: String,
}

impl Old {
    /// Opens a stream.
    #[track_caller]
    fn connect(url: &str, fields: &str) -> Self {
        let mut stream = Raw::connect(url);
        stream.bare_at("/sse", "GET", &format!("{fields}Accept: text/event-stream\r\n"));
        stream.expect("text/event-stream");
        stream.expect("event: endpoint");
        let endpoint = stream.expect("data: ").trim_start_matches("data: ").trim_end().to_owned();
        Self { url: url.to_owned(), stream, endpoint }
    }

    /// The same, and the handshake.
    #[track_caller]
    fn greet(url: &str) -> Self {
        let mut old = Self::connect(url, "");
        let params = json!({
            "protocolVersion": "2024-11-05",
            "capabilities": { "roots": {} },
            "clientInfo": { "name": "old", "version": "1" },
        });
        assert_eq!(old.send(&json!({ "id": 0, "method": "initialize", "params": params })), 202);
        assert_eq!(old.message()["result"]["protocolVersion"], "2024-11-05");
        assert_eq!(old.send(&json!({ "method": "notifications/initialized" })), 202);
        old
    }

    /// POSTs a message; returns the status.
    fn send(&self, message: &Value) -> u16 {
        let mut message = message.clone();
        message["jsonrpc"] = json!("2.0");
        self.post("", &message.to_string())
    }

    fn post(&self, fields: &str, body: &str) -> u16 {
        post(&self.url, &self.endpoint, fields, body)
    }

    fn call(&self, id: u32, tool: &str) -> u16 {
        let params = json!({ "name": tool, "arguments": {}, "_meta": { "progressToken": id } });
        self.send(&json!({ "id": id, "method": "tools/call", "params": params }))
    }

    /// The next message on the stream.
    #[track_caller]
    fn message(&mut self) -> Value {
        self.stream.expect("event: message");
        serde_json::from_str(self.stream.expect("data: ").trim_start_matches("data: ")).unwrap()
    }
}

fn post(url: &str, path: &str, fields: &str, body: &str) -> u16 {
    let mut raw = Raw::connect(url);
    raw.try_post_to(path, fields, body).unwrap();
    raw.answer().status
}

/// A server for such clients, with the tools of the rig and one that asks.
fn start<K: Kit>(change: impl FnOnce(Server<K>) -> Server<K>) -> Host<K> {
    let (gate, (tell, events)) = (Gate::default(), Events::new());
    let server = rig::server::<K::Runtime>(move |event| tell.tell(event), &gate)
        .http_sse("/sse", "/messages")
        .tool(Tool::new("ask"), async |_: Nothing, cx: Context| Ok(cx.roots("roots").await?.len()));
    hosted::<K>(change(server), gate, events)
}

/// SSEL-01, SSEL-02, SSEL-04, SSEL-11, HTTPL-59, SSEL-07: requests are answered on the stream, progress comes while
/// the call runs, calls are cancelled; the MCP endpoint is served besides. That the transport is deprecated is said once.
pub fn clients_of_the_old_transport_are_served<K: Kit>(_: &str) {
    let host = start::<K>(|server| server);
    let mut old = Old::greet(&host.url);
    host.events.expect("HTTP with SSE is deprecated since revision 2025-03-26");
    assert_eq!(old.call(1, "steps"), 202);
    assert_eq!(old.message()["params"]["progress"], 1);
    host.gate.open();
    let answer = loop {
        let message = old.message();
        if message["id"] == 1 {
            break message;
        }
        assert_eq!(message["params"]["progressToken"], 1);
    };
    assert_eq!(answer["result"]["content"][0]["text"], "done");
    drop(old);

    let host = {
        host.end();
        start::<K>(|server| server)
    };
    let mut old = Old::greet(&host.url);
    host.events.expect("deprecated");
    assert_eq!(old.call(1, "wait"), 202);
    host.events.expect("wait started");
    let cancel = json!({ "method": "notifications/cancelled", "params": { "requestId": 1 } });
    assert_eq!(old.send(&cancel), 202);
    host.events.expect("wait cancelled");
    assert_eq!(old.send(&json!({ "id": 2, "method": "ping" })), 202);
    assert_eq!(old.message(), json!({ "jsonrpc": "2.0", "id": 2, "result": {} }));
    let _another = Old::greet(&host.url);
    super::http::session(&host.url);
    assert!(!host.events.others().iter().any(|event| event.contains("deprecated")));
    host.end();
}

/// A handler asks its client on the stream; the answer is POSTed like any other message.
pub fn handlers_ask_on_the_stream<K: Kit>(_: &str) {
    let host = start::<K>(|server| server);
    let mut old = Old::greet(&host.url);
    assert_eq!(old.call(1, "ask"), 202);
    let asked = old.message();
    assert_eq!(asked["method"], "roots/list");
    let roots = json!({ "roots": [{ "uri": "file:///a" }, { "uri": "file:///b" }] });
    assert_eq!(old.send(&json!({ "id": asked["id"], "result": roots })), 202);
    assert_eq!(old.message()["result"]["content"][0]["text"], "2");
    host.end();
}

/// SUBL-02, SUBL-05: the session of a stream is told of lists and of the resources that it subscribed to, and calls go
/// to what is offered when they come.
pub fn changes_are_told_on_the_stream<K: Kit>(_: &str) {
    let mut registry: Option<Registry> = None;
    let host = start::<K>(|server| {
        registry = Some(server.registry());
        server
    });
    let registry = registry.unwrap();
    let mut old = Old::greet(&host.url);
    registry.change(|offer| offer.tool(Tool::new("late"), |_: Nothing, _: Context| Ok("late"))).unwrap();
    assert_eq!(old.message()["method"], "notifications/tools/list_changed");
    assert_eq!(old.call(1, "late"), 202);
    assert_eq!(old.message()["result"]["content"][0]["text"], "late");
    old.send(&json!({ "id": 2, "method": "resources/subscribe", "params": { "uri": "rig://note" } }));
    assert_eq!(old.message()["id"], 2);
    registry.resource_updated("rig://note");
    assert_eq!(old.message()["params"]["uri"], "rig://note");
    host.end();
}

/// A client that closes its stream has ended its session, and its calls.
pub fn the_end_of_a_stream_ends_its_calls<K: Kit>(_: &str) {
    let host = start::<K>(|server| {
        let mut limits = Limits::default();
        limits.sessions = 1;
        server.limits(limits)
    });
    let old = Old::greet(&host.url);
    let mut second = Raw::connect(&host.url);
    second.bare_at("/sse", "GET", "Accept: text/event-stream\r\n");
    assert_eq!(second.status(), 503);
    assert_eq!(old.call(1, "wait"), 202);
    host.events.expect("wait started");
    let Old { url, stream, endpoint } = old;
    drop(stream);
    host.events.expect("wait cancelled");
    assert_eq!(post(&url, &endpoint, "", r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#), 404);
    Old::greet(&url);
    host.end();
}

/// SSEL-05: what is POSTed must be a message for a session that there is, and whoever sends it must be let in.
pub fn what_is_no_message_is_refused<K: Kit>(_: &str) {
    const PING: &str = r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#;
    let host = start::<K>(|server| {
        let mut limits = Limits::default();
        limits.message = 1_000;
        server.limits(limits)
    });
    let mut old = Old::greet(&host.url);
    let long = format!("{}{PING}", " ".repeat(1_001 - PING.len()));
    for (fields, body, status) in [
        ("", "{", 400),
        ("", &long, 413),
        ("Origin: https://evil.example\r\n", PING, 403),
        ("", &long[1..], 202),
    ] {
        assert_eq!(old.post(fields, body), status, "{fields} {body}");
    }
    assert_eq!(old.message()["id"], 1);
    let session = old.endpoint.split_once('=').unwrap().1;
    assert!(session.len() >= 32, "{session}");
    assert_eq!(post(&old.url, &old.endpoint.replace(session, "guessed"), "", PING), 404);
    let mut evil = Raw::connect(&host.url);
    evil.bare_at("/sse", "GET", "Origin: https://evil.example\r\nAccept: text/event-stream\r\n");
    assert_eq!(evil.status(), 403);
    host.end();
}

/// SEC-13: to whoever did not open a stream its session is not there, as the application tells who is who.
pub fn a_stream_is_of_whoever_opened_it<K: Kit>(_: &str) {
    const PING: &str = r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#;
    let host =
        start::<K>(|server| server.session_owner(|head, _| head.headers.text("x-tenant").map(str::to_owned)));
    let old = Old::connect(&host.url, "X-Tenant: a\r\n");
    for (fields, status) in [("X-Tenant: b\r\n", 404), ("", 404), ("X-Tenant: a\r\n", 202)] {
        assert_eq!(old.post(fields, PING), status, "{fields}");
    }
    host.end();
}

/// A server that stops lets calls finish; then its streams end.
pub fn streams_end_with_their_server<K: Kit>(_: &str) {
    let host = start::<K>(|server| server);
    let mut old = Old::greet(&host.url);
    let mut idle = Old::greet(&host.url);
    assert_eq!(old.call(1, "wait"), 202);
    host.events.expect("wait started");
    host.stop.stop();
    assert!(idle.stream.until("0\r\n").len() < 9);
    host.gate.open();
    assert_eq!(old.message()["id"], 1);
    host.served.join().unwrap();
}

/// The URL of the event stream of a host.
fn stream_url<K: Kit>(host: &Host<K>) -> String {
    format!("{}/sse", host.url.trim_end_matches("/mcp"))
}

/// SSEL-01, SSEL-03: a client of ours calls, is told of progress, is asked, and hears of changes.
pub fn a_client_of_ours_speaks_the_old_transport<K: Kit>(_: &str) {
    let mut registry: Option<Registry> = None;
    let host = start::<K>(|server| {
        registry = Some(server.registry());
        server
    });
    let (tell, heard) = Events::new();
    let hears = tell.clone();
    let builder = super::builder::<K>(EraChoice::Auto)
        .roots([Root::new("file:///a"), Root::new("file:///b")])
        .on_notification(move |method, _| hears.tell(method));
    let client = K::wait(builder.http_sse(stream_url(&host))).unwrap();
    assert_eq!(client.era(), Era::Legacy);
    assert_eq!(super::text::<K>(&client, "ask"), "2");
    let leaving = K::wait(super::builder::<K>(EraChoice::Auto).http_sse(stream_url(&host))).unwrap();
    let wait = super::calling::<K>(&leaving, "wait");
    host.events.expect("wait started");
    K::wait(leaving.close()).unwrap();
    assert!(matches!(wait.join(), Err(CallError::Broken { .. })));
    host.events.expect("wait cancelled");
    host.gate.open();
    let options = Options::new().on_progress(move |progress| tell.tell(progress.progress.to_string()));
    assert_eq!(K::wait(client.call_tool_with("steps", json!({}), options)).unwrap().text(), "done");
    heard.expect("1");
    let registry = registry.unwrap();
    registry.change(|offer| offer.tool(Tool::new("late"), |_: Nothing, _: Context| Ok("late"))).unwrap();
    heard.expect("notifications/tools/list_changed");
    assert_eq!(super::text::<K>(&client, "late"), "late");
    K::wait(client.close()).unwrap();
    host.end();
}

/// SSEL-08, SSEL-09, SSEL-10, HTTPL-57: what the server speaks at a URL is found out.
pub fn one_url_is_enough_for_either_transport<K: Kit>(_: &str) {
    let host = start::<K>(|server| server);
    for era in [EraChoice::Auto, EraChoice::Legacy] {
        let client = K::wait(super::builder::<K>(era).http(stream_url(&host))).unwrap();
        assert_eq!(call_echo::<K>(&client), "x");
        K::wait(client.close()).unwrap();
    }
    let client = K::wait(super::builder::<K>(EraChoice::Auto).http(&host.url)).unwrap();
    assert_eq!((client.era(), &*call_echo::<K>(&client)), (Era::Modern, "x"));
    let nowhere = format!("{}/nowhere", host.url.trim_end_matches("/mcp"));
    let error = K::wait(super::builder::<K>(EraChoice::Auto).http(nowhere)).unwrap_err();
    assert!(error.to_string().contains("404"), "{error}");
    host.end();
}

fn call_echo<K: Kit>(client: &Client<K>) -> String {
    super::call::<K>(client, "echo", json!({ "text": "x" })).unwrap().text().into_owned()
}

/// Passes on what goes between clients and a server, until it is cut.
struct Relay {
    url: String,
    sockets: Arc<Mutex<Vec<TcpStream>>>,
}

impl Relay {
    fn start<K: Kit>(host: &Host<K>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}/sse", listener.local_addr().unwrap());
        let server = host.url.trim_start_matches("http://").trim_end_matches("/mcp").to_owned();
        let sockets: Arc<Mutex<Vec<TcpStream>>> = Arc::default();
        let kept = sockets.clone();
        thread::spawn(move || {
            for client in listener.incoming().map_while(Result::ok) {
                // The server may be gone by now, and the test over.
                let Ok(server) = TcpStream::connect(&server) else { return };
                for (mut from, mut to) in [(&client, &server), (&server, &client)]
                    .map(|(from, to)| (from.try_clone().unwrap(), to.try_clone().unwrap()))
                {
                    thread::spawn(move || {
                        let _ = std::io::copy(&mut from, &mut to);
                        let _ = to.shutdown(Shutdown::Write);
                    });
                }
                kept.lock().unwrap().extend([client, server]);
            }
        });
        Self { url, sockets }
    }

    fn cut(&self) {
        for socket in self.sockets.lock().unwrap().drain(..) {
            let _ = socket.shutdown(Shutdown::Both);
        }
    }
}

/// HTTPL-50 on this transport: a stream that is lost leads to another, in a session of its own. Calls under way fail at
/// once, on both sides; later ones wait for the new session.
pub fn a_client_opens_a_lost_stream_again<K: Kit>(_: &str) {
    let host = start::<K>(|server| server);
    let relay = Relay::start::<K>(&host);
    let (tell, heard) = Events::new();
    let builder = super::builder::<K>(EraChoice::Auto).proxy(Proxy::none()).roots([Root::new("file:///a")]);
    let builder = builder.on_diagnostic(move |report| tell.tell(report.to_string()));
    let client = K::wait(builder.http_sse(&relay.url)).unwrap();
    let call = super::calling::<K>(&client, "wait");
    host.events.expect("wait started");
    relay.cut();
    assert!(matches!(call.join(), Err(CallError::Broken { unsent: false, .. })));
    host.events.expect("wait cancelled");
    heard.expect("is opened again");
    assert_eq!(call_echo::<K>(&client), "x");
    assert_eq!(super::text::<K>(&client, "ask"), "1");
    K::wait(client.close()).unwrap();
    host.end();
}

/// With the server calls under way fail at once, and later ones have their time at most.
pub fn a_client_hears_that_its_stream_has_ended<K: Kit>(program: &str) {
    let remote = Remote::start::<K>(program);
    let url = remote.url.replace("/mcp", "/sse");
    let client = K::wait(super::builder::<K>(EraChoice::Auto).http_sse(url)).unwrap();
    let (one, other) = (super::calling::<K>(&client, "wait"), client.clone());
    assert_eq!(call_echo::<K>(&client), "x");
    let die = background::<K, _>(move || super::call::<K>(&other, "die", json!({ "code": 3 })));
    for call in [one, die] {
        let reply = call.join();
        assert!(matches!(reply, Err(CallError::Broken { .. })), "{reply:?}");
    }
    let options = Options::new().timeout(Duration::from_millis(200));
    let later = K::wait(client.call_tool_with("echo", json!({ "text": "x" }), options));
    assert!(matches!(later, Err(CallError::TimedOut { .. })), "{later:?}");
    K::wait(client.close()).unwrap();
}
