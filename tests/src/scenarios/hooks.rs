//! Hooks around requests: they see all of them, can refuse each, and change nothing by being there.

use std::future::poll_fn;
use std::sync::{Arc, Mutex};
use std::task::Poll;

use mcp_driver::proto::dialect::{METHODS, MethodKind, Revision, Side};
use mcp_driver::{
    Answer, Context, Json, Limits, Next, Prompt, Registry, Request, Resource, ResourceTemplate, Runtime,
    Server, Tool, Typed,
};
use serde_json::{Value, json};

use super::asks::{ALL, Peer, SPEECHES};
use super::hosted;
use crate::kit::Kit;
use crate::support::{Events, Gate, Raw};

/// A server that has something for every request.
fn everything<R: Runtime>() -> (Server<R>, Registry) {
    let tool = Tool::new("t").input_schema(Json::parse(r#"{"type":"object"}"#).unwrap());
    let prompt = Prompt::new("p").argument(mcp_driver::model::PromptArgument::new("a"));
    let server = Server::new("everything", "1")
        .on_error(|_| {})
        .logging()
        .tool(tool, async |_: Json, _: Context| Ok("done"))
        .prompt(prompt, |_: Json, _: Context| Ok("done"))
        .complete_prompt("p", "a", |_: Typed, _: Context| Ok(vec!["done"]))
        .resource(Resource::new("x:one", "one"), "done")
        .resource(Resource::new("x:two", "two"), "done")
        .resource_template(ResourceTemplate::new("x:all/{name}", "all"), |_: Json, _: Context| Ok("done"));
    let registry = server.registry();
    (server, registry)
}

/// The requests that clients send in this revision: the method, its parameters, and what its `Mcp-Name` repeats.
fn requests(revision: Revision) -> Vec<(&'static str, Value, Option<&'static str>)> {
    // Tasks are not served; in the modern era they are an extension.
    let served = |name: &str| !name.starts_with("tasks/");
    let in_revision = METHODS.iter().filter(|method| {
        (method.from, method.kind, method.extension) == (Side::Client, MethodKind::Request, None)
            && (method.since..=method.until).contains(&revision)
            && served(method.name)
    });
    let with_parameters = |method: &'static str| {
        let (params, name) = match method {
            "initialize" => (
                json!({ "protocolVersion": "2025-11-25", "capabilities": {},
                        "clientInfo": { "name": "raw", "version": "1" } }),
                None,
            ),
            "tools/call" => (json!({ "name": "t" }), Some("t")),
            "prompts/get" => (json!({ "name": "p" }), Some("p")),
            "resources/read" => (json!({ "uri": "x:one" }), Some("x:one")),
            "resources/subscribe" | "resources/unsubscribe" => (json!({ "uri": "x:one" }), None),
            "completion/complete" => (
                json!({ "ref": { "type": "ref/prompt", "name": "p" }, "argument": { "name": "a", "value": "" } }),
                None,
            ),
            "logging/setLevel" => (json!({ "level": "error" }), None),
            "subscriptions/listen" => (json!({ "notifications": { "toolsListChanged": true } }), None),
            _ => (json!({}), None),
        };
        (method, params, name)
    };
    in_revision.map(|method| with_parameters(method.name)).collect()
}

type Seen = Arc<Mutex<Vec<String>>>;

/// A hook that lets everything through, after a while, and notes what it saw.
fn seeing<R: Runtime>(server: Server<R>) -> (Server<R>, Seen) {
    let seen = Seen::default();
    let noted = seen.clone();
    let server = server.around(move |request: Request, next: Next| {
        noted.lock().unwrap().push(request.method().to_owned());
        async move {
            later().await;
            let answer = next.run().await;
            later().await;
            answer
        }
    });
    (server, seen)
}

/// Not ready at once.
async fn later() {
    let mut asked = false;
    poll_fn(|cx| {
        if std::mem::replace(&mut asked, true) {
            return Poll::Ready(());
        }
        cx.waker().wake_by_ref();
        Poll::Pending
    })
    .await;
}

fn take(seen: &Seen) -> Vec<String> {
    std::mem::take(&mut *seen.lock().unwrap())
}

fn revision(version: Option<&str>) -> Revision {
    version.map_or(Revision::LATEST, |version| Revision::parse(version).unwrap())
}

/// A client by hand over HTTP.
struct Web<'a> {
    url: &'a str,
    legacy: bool,
    /// What names its session.
    session: String,
}

impl Web<'_> {
    /// Sends a request on a connection of its own.
    fn send(&self, method: &str, mut params: Value, name: Option<&str>) -> Raw {
        let mut fields = self.session.clone();
        if !self.legacy {
            params["_meta"] = json!({
                "io.modelcontextprotocol/protocolVersion": "2026-07-28",
                "io.modelcontextprotocol/clientCapabilities": {},
            });
            fields = format!("MCP-Protocol-Version: 2026-07-28\r\nMcp-Method: {method}\r\n");
            fields.extend(name.map(|name| format!("Mcp-Name: {name}\r\n")));
        }
        let body = json!({ "jsonrpc": "2.0", "id": 7, "method": method, "params": params });
        let mut raw = Raw::connect(self.url);
        raw.post(&fields, &body.to_string());
        raw
    }

    fn open(&mut self) {
        let (_, params, _) = requests(Revision::LATEST_LEGACY).remove(0);
        let answer = self.send("initialize", params, None).answer();
        let session = answer.header("Mcp-Session-Id").unwrap_or_else(|| panic!("{answer:?}"));
        self.session = format!("Mcp-Session-Id: {session}\r\nMCP-Protocol-Version: 2025-11-25\r\n");
    }
}

/// Every request of the protocol, of both eras and over both transports, passes the hooks: handshakes and
/// subscriptions among them.
pub fn hooks_see_every_request<K: Kit>(_: &str) {
    for version in SPEECHES {
        let (server, seen) = seeing(everything().0);
        let mut peer = Peer::connect::<K>(server, version, ALL);
        for (method, params, _) in requests(revision(version)) {
            if method != "initialize" {
                peer.request(method, params);
                let answer = peer.read();
                assert!(answer.get("error").is_none(), "{method}: {answer}");
            }
            assert_eq!(take(&seen), [method]);
        }
        drop(peer);

        let (server, seen) = seeing(everything().0);
        let host = hosted::<K>(server, Gate::default(), Events::new().1);
        let mut web = Web { url: &host.url, legacy: version.is_some(), session: String::new() };
        for (method, params, name) in requests(revision(version)) {
            match method {
                "initialize" => web.open(),
                _ => assert_eq!(web.send(method, params, name).status(), 200, "{method}"),
            }
            assert_eq!(take(&seen), [method]);
        }
        host.end();
    }
}

/// A hook refuses what it wants, and then nothing of it happens: no session is opened, and nobody listens.
pub fn hooks_may_refuse_every_request<K: Kit>(_: &str) {
    let closed = || {
        everything().0.around(async |request: Request, _: Next| {
            later().await;
            Answer::refuse(7, format!("no {}", request.method()))
        })
    };
    let error = |answer: &Value| (answer["error"]["code"].clone(), answer["error"]["message"].clone());
    for version in SPEECHES {
        let mut peer = Peer::greet::<K>(closed(), version, ALL);
        let host = hosted::<K>(closed(), Gate::default(), Events::new().1);
        let web = Web { url: &host.url, legacy: version.is_some(), session: String::new() };
        for (method, params, name) in requests(revision(version)) {
            if version.is_some() && !["initialize", "ping"].contains(&method) {
                // There is no session for it.
                continue;
            }
            peer.request(method, params.clone());
            let refused = (json!(7), json!(format!("no {method}")));
            assert_eq!(error(&peer.read()), refused);
            if method != "ping" {
                let answer = web.send(method, params, name).answer();
                assert_eq!(error(&serde_json::from_str(&answer.body).unwrap()), refused);
                assert_eq!((answer.status, answer.header("Mcp-Session-Id")), (200, None));
            }
        }
        drop(peer);
        host.end();
    }
}

/// SUBL-02, SUBL-04: a session that a web page opened is its own with hooks and without: what it asks of its session
/// is done, and it is told what the table of sessions says.
pub fn sessions_are_the_same_with_hooks<K: Kit>(_: &str) {
    let talk = |hooked: bool| {
        let (server, registry) = everything();
        let mut limits = Limits::default();
        limits.watched = 1;
        let server = server.limits(limits).allow_origin("https://app.example");
        let server = if hooked { seeing(server).0 } else { server };
        let host = hosted::<K>(server, Gate::default(), Events::new().1);
        let mut said = Vec::new();
        for version in ["2025-03-26", "2025-11-25"] {
            let mut raw = Raw::connect(&host.url);
            let mut fields = "Origin: https://app.example\r\n".to_owned();
            let mut post = |fields: &str, body: String| {
                raw.post(fields, &body);
                let answer = raw.answer();
                said.push(format!("{body}: {} {}", answer.status, sorted(&answer.body)));
                answer
            };
            let request = |id: u32, method: &str, params: Value| {
                json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params }).to_string()
            };
            let (_, mut params, _) = requests(Revision::LATEST_LEGACY).remove(0);
            params["protocolVersion"] = version.into();
            let session = post(&fields, request(0, "initialize", params));
            let id = session.header("Mcp-Session-Id").unwrap_or_else(|| panic!("{session:?}"));
            fields.push_str(&format!("Mcp-Session-Id: {id}\r\n"));
            post(&fields, json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }).to_string());
            let subscribe = |id, uri| request(id, "resources/subscribe", json!({ "uri": uri }));
            post(&fields, request(1, "logging/setLevel", json!({ "level": "error" })));
            post(&fields, subscribe(2, "x:one"));
            post(&fields, subscribe(3, "x:two"));
            post(&fields, request(4, "resources/unsubscribe", json!({ "uri": "x:one" })));
            post(&fields, subscribe(5, "x:two"));
            post(&fields, request(6, "tools/list", json!({})));
            // Another page has no part in it.
            post("Origin: http://localhost\r\n", subscribe(7, "x:one"));
            let stranger = fields.replace("https://app.example", "http://localhost");
            post(&stranger, request(8, "ping", json!({})));
            if version == "2025-03-26" {
                let parts = [subscribe(9, "x:one"), request(10, "ping", json!({})), subscribe(11, "x:two")];
                post(&fields, format!("[{}]", parts.join(",")));
            }
            let mut stream = Raw::connect(&host.url);
            stream.bare("GET", &format!("Accept: text/event-stream\r\n{fields}"));
            stream.expect(if version == "2025-03-26" { ":" } else { "data:" });
            registry.resource_updated("x:one");
            registry.resource_updated("x:two");
            let told = stream.expect("resources/updated");
            assert!(told.contains("x:two"), "{told}");
            let mut end = Raw::connect(&host.url);
            end.bare("DELETE", &fields);
            assert_eq!(end.answer().status, 204);
            let mut late = Raw::connect(&host.url);
            late.post(&fields, &subscribe(12, "x:one"));
            let late = late.answer();
            assert_eq!(late.status, 404);
            said.push(late.body);
        }
        host.end();
        said
    };
    let (with, without) = (talk(true), talk(false));
    assert!(with.iter().any(|line| line.contains(r#""id":3,"error""#)), "{with:#?}");
    assert_eq!(with.len(), without.len());
    for (with, without) in with.iter().zip(&without) {
        assert_eq!(with, without);
    }
}

/// The answers of a batch may come in any order.
fn sorted(body: &str) -> String {
    match serde_json::from_str(body) {
        Ok(Value::Array(mut answers)) => {
            answers.sort_by_key(|answer| answer["id"].as_u64());
            Value::Array(answers).to_string()
        }
        _ => body.to_owned(),
    }
}
