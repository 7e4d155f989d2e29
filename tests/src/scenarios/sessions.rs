//! Legacy sessions over HTTP: their streams, whose they are and where they live.

use std::collections::BTreeMap;
use std::future::poll_fn;
use std::sync::{Arc, Mutex};
use std::task::Poll;
use std::time::Duration;

use mcp_driver::{BoxFuture, Context, Saved, SessionId, SessionState, SessionStore, StoreError, Tool};
use schemars::JsonSchema;
use serde::Deserialize;

use super::{Host, hosted};
use crate::kit::{Kit, Server};
use crate::support::{Events, Gate, Raw};

const INITIALIZE: &str = r#"{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{"roots":{}},"clientInfo":{"name":"raw","version":"1"}}}"#;
const PING: &str = r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#;

#[derive(Deserialize, JsonSchema)]
struct Nothing {}

/// A server whose tools wait for the gate, after telling something of it.
fn server<K: Kit>() -> (Server<K>, Gate, Events) {
    let (gate, (tell, events)) = (Gate::default(), Events::new());
    let (report, poll, errors) = (gate.clone(), gate.clone(), tell.clone());
    let server = Server::<K>::new("sessions", "1.0.0")
        .tool(Tool::new("report"), move |_: Nothing, cx: Context| {
            let (gate, tell) = (report.clone(), tell.clone());
            async move {
                cx.progress((1.0, 2.0));
                tell.tell("reported");
                gate.wait().await;
                cx.progress((2.0, 2.0));
                Ok("done")
            }
        })
        .tool(Tool::new("poll"), move |_: Nothing, cx: Context| {
            let gate = poll.clone();
            async move {
                cx.close_stream(Duration::from_millis(50));
                gate.wait().await;
                Ok("done")
            }
        })
        .tool(Tool::new("ask"), async |_: Nothing, cx: Context| Ok(cx.roots("roots").await?.len()))
        .tool(Tool::new("ask_briefly"), async |_: Nothing, cx: Context| {
            Ok(cx.roots("roots").within(Duration::from_millis(200)).await?.len())
        })
        .on_error(move |report| errors.tell(report.to_string()));
    (server, gate, events)
}

fn start<K: Kit>(change: impl FnOnce(Server<K>) -> Server<K>) -> Host<K> {
    let (server, gate, events) = server::<K>();
    hosted(change(server), gate, events)
}

fn call(tool: &str) -> String {
    format!(
        r#"{{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{{"name":"{tool}","_meta":{{"progressToken":"p"}}}}}}"#
    )
}

/// Opens a session; returns the field that names it.
#[track_caller]
fn open(url: &str, fields: &str) -> String {
    let mut raw = Raw::connect(url);
    raw.post(fields, INITIALIZE);
    let answer = raw.answer();
    assert_eq!(answer.status, 200, "{answer:?}");
    format!("Mcp-Session-Id: {}\r\n", answer.header("Mcp-Session-Id").unwrap())
}

#[track_caller]
fn status(url: &str, fields: &str, body: &str) -> u16 {
    let mut raw = Raw::connect(url);
    raw.post(fields, body);
    raw.answer().status
}

#[track_caller]
fn bare(url: &str, method: &str, fields: &str) -> u16 {
    let mut raw = Raw::connect(url);
    raw.bare(method, fields);
    raw.answer().status
}

fn listen(url: &str, fields: &str, after: Option<&str>) -> Raw {
    let mut raw = Raw::connect(url);
    let after = after.map_or(String::new(), |after| format!("Last-Event-ID: {after}\r\n"));
    raw.bare("GET", &format!("{fields}{after}Accept: text/event-stream\r\n"));
    raw
}

/// The next event id on a stream.
fn id(raw: &mut Raw) -> String {
    raw.expect("id: ").trim_start_matches("id: ").trim_end().to_owned()
}

/// The response ends, in order.
fn ended(raw: &mut Raw) {
    while raw.expect("") != "0\r\n" {}
    assert_eq!(raw.expect(""), "\r\n");
}

/// HTTPL-23, HTTPL-39, HTTPL-40, B41
pub fn a_lost_connection_is_taken_up_again<K: Kit>(_: &str) {
    let host = start::<K>(|server| server);
    let session = open(&host.url, "");
    let mut raw = Raw::connect(&host.url);
    raw.post(&session, &call("report"));
    let (primed, _) = (id(&mut raw), raw.expect(r#""progress":1"#));
    drop(raw);
    // Before the call is over, and again when it is.
    let mut back = listen(&host.url, &session, Some(&primed));
    back.expect("text/event-stream");
    back.expect(r#""progress":1"#);
    host.gate.open();
    back.expect(r#""progress":2"#);
    back.expect(r#""id":7,"result""#);
    let mut again = listen(&host.url, &session, Some(&primed));
    again.expect(r#""progress":1"#);
    again.expect(r#""id":7,"result""#);
    host.end();
}

/// HTTPL-17, HTTPL-18, HTTPL-19: the response ends, and with it nothing else.
pub fn a_handler_lets_its_client_poll<K: Kit>(_: &str) {
    let host = start::<K>(|server| server);
    let session = open(&host.url, "");
    let mut raw = Raw::connect(&host.url);
    raw.post(&session, &call("poll"));
    raw.expect("id: ");
    raw.expect("retry: 50");
    let after = id(&mut raw);
    // The last chunk: the connection is free for another request.
    ended(&mut raw);
    raw.post(&session, PING);
    assert!(raw.answer().body.contains(r#""id":1,"result""#));
    let mut back = listen(&host.url, &session, Some(&after));
    back.expect("text/event-stream");
    host.gate.open();
    back.expect(r#""id":7,"result""#);
    ended(&mut back);
    host.end();
}

/// HTTPL-11, HTTPL-39, HTTPL-40: what a client was asked is asked again when it comes back, and its answer counts.
pub fn a_client_that_comes_back_is_asked_still<K: Kit>(_: &str) {
    let host = start::<K>(|server| server);
    let session = open(&host.url, "");
    let mut raw = Raw::connect(&host.url);
    raw.post(&session, &call("ask"));
    let primed = id(&mut raw);
    let asked = raw.expect("roots/list");
    drop(raw);
    let mut back = listen(&host.url, &session, Some(&primed));
    assert_eq!(back.expect("roots/list"), asked);
    let request: serde_json::Value = serde_json::from_str(asked.trim_start_matches("data: ")).unwrap();
    let answer = serde_json::json!({
        "jsonrpc": "2.0", "id": request["id"], "result": { "roots": [{ "uri": "file:///a" }] },
    });
    assert_eq!(status(&host.url, &session, &answer.to_string()), 202);
    assert!(back.expect(r#""id":7,"result""#).contains(r#""text":"1""#));
    ended(&mut back);
    host.end();
}

/// A call that goes on without a connection is not left waiting for an answer that nobody can give.
pub fn what_was_asked_has_its_time_without_a_connection<K: Kit>(_: &str) {
    let host = start::<K>(|server| server);
    let session = open(&host.url, "");
    let mut raw = Raw::connect(&host.url);
    raw.post(&session, &call("ask_briefly"));
    let primed = id(&mut raw);
    raw.expect("roots/list");
    drop(raw);
    let mut back = listen(&host.url, &session, Some(&primed));
    back.expect("roots/list");
    back.expect("notifications/cancelled");
    back.expect(r#""id":7"#);
    ended(&mut back);
    host.end();
}

/// HTTPL-16, HTTPL-49, HTTPL-51
pub fn the_end_of_a_session_ends_its_streams<K: Kit>(_: &str) {
    let host = start::<K>(|server| server);
    let session = open(&host.url, "");
    let mut stream = listen(&host.url, &session, None);
    stream.expect("text/event-stream");
    let mut running = Raw::connect(&host.url);
    running.post(&session, &call("report"));
    running.expect(r#""progress":1"#);
    assert_eq!(bare(&host.url, "DELETE", &session), 204);
    ended(&mut stream);
    ended(&mut running);
    assert_eq!(status(&host.url, &session, PING), 404);
    let mut gone = listen(&host.url, &session, None);
    gone.expect("404");
    host.end();
}

/// Nobody waits for a stream that would never end.
pub fn stopping_ends_streams<K: Kit>(_: &str) {
    let host = start::<K>(|server| server);
    let session = open(&host.url, "");
    let mut stream = listen(&host.url, &session, None);
    stream.expect("text/event-stream");
    stream.expect("id: ");
    host.end();
    ended(&mut stream);
    assert!(stream.is_closed());
}

/// HTTPL-41, B68
pub fn a_foreign_event_id_is_refused<K: Kit>(_: &str) {
    let host = start::<K>(|server| server);
    let (mine, other) = (open(&host.url, ""), open(&host.url, ""));
    let mut raw = Raw::connect(&host.url);
    raw.post(&mine, &call("report"));
    let id = id(&mut raw);
    raw.expect(r#""progress":1"#);
    for (session, id) in [(&other, id.as_str()), (&mine, "1"), (&mine, "%")] {
        let mut back = listen(&host.url, session, Some(id));
        let answer = back.answer();
        assert!(answer.status == 400 && !answer.body.contains("progress"), "{answer:?}");
    }
    host.end();
}

/// SEC-10, SEC-11, SEC-13: to others, a session is not there, whatever they ask of it.
pub fn a_session_belongs_to_who_opened_it<K: Kit>(_: &str) {
    let host =
        start::<K>(|server| server.session_owner(|head, _| head.headers.text("x-user").map(str::to_owned)));
    let session = open(&host.url, "X-User: ada\r\n");
    let (mine, other) = (format!("X-User: ada\r\n{session}"), format!("X-User: bob\r\n{session}"));
    let page = format!("{mine}Origin: http://localhost:1\r\n");
    for fields in [&other, &session, &page] {
        assert_eq!(status(&host.url, fields, PING), 404, "{fields}");
        assert_eq!(bare(&host.url, "DELETE", fields), 404, "{fields}");
        assert_eq!(listen(&host.url, fields, None).answer().status, 404, "{fields}");
    }
    assert_eq!(status(&host.url, &mine, PING), 200);
    assert_eq!(bare(&host.url, "DELETE", &mine), 204);
    // A page has its own sessions; a read need not say where it comes from.
    let origin = "X-User: ada\r\nOrigin: http://localhost:1\r\n";
    let session = open(&host.url, origin);
    assert_eq!(status(&host.url, &format!("{origin}{session}"), PING), 200);
    assert_eq!(status(&host.url, &format!("X-User: ada\r\n{session}"), PING), 404);
    listen(&host.url, &format!("X-User: ada\r\n{session}"), None).expect("200");
    host.end();
}

/// Sessions as JSON, and never at once.
#[derive(Clone, Default)]
struct Shelf(Arc<Mutex<BTreeMap<String, String>>>);

impl Shelf {
    fn later<T: Send + 'static>(value: Result<T, StoreError>) -> BoxFuture<Result<T, StoreError>> {
        let (mut value, mut waited) = (Some(value), false);
        Box::pin(poll_fn(move |cx| {
            if !std::mem::replace(&mut waited, true) {
                cx.waker().wake_by_ref();
                return Poll::Pending;
            }
            value.take().map_or(Poll::Pending, Poll::Ready)
        }))
    }
}

impl SessionStore for Shelf {
    fn load(&self, session: &SessionId) -> BoxFuture<Result<Option<SessionState>, StoreError>> {
        let kept = self.0.lock().unwrap().get(session.as_str()).cloned();
        Self::later(kept.map(|text| serde_json::from_str(&text)).transpose().map_err(StoreError::from))
    }

    fn save(
        &self,
        session: &SessionId,
        expected: Option<u64>,
        state: &SessionState,
    ) -> BoxFuture<Result<Saved, StoreError>> {
        let mut kept = self.0.lock().unwrap();
        let before =
            kept.get(session.as_str()).map(|text| serde_json::from_str::<SessionState>(text).unwrap());
        if before.map(|before| before.changes) != expected {
            return Self::later(Ok(Saved::Conflict));
        }
        kept.insert(session.as_str().to_owned(), serde_json::to_string(state).unwrap());
        Self::later(Ok(Saved::Kept))
    }

    fn remove(&self, session: &SessionId) -> BoxFuture<Result<(), StoreError>> {
        self.0.lock().unwrap().remove(session.as_str());
        Self::later(Ok(()))
    }
}

/// A session that began in one process goes on in another, and ends everywhere.
pub fn two_services_share_a_store<K: Kit>(_: &str) {
    let shelf = Shelf::default();
    let one = start::<K>(|server| server.session_store(shelf.clone()).logging());
    let two = start::<K>(|server| server.session_store(shelf.clone()).logging());
    let session = open(&one.url, "");
    let initialized = r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#;
    assert_eq!(status(&two.url, &session, initialized), 202);
    let level = r#"{"jsonrpc":"2.0","id":2,"method":"logging/setLevel","params":{"level":"error"}}"#;
    assert_eq!(status(&two.url, &session, level), 200);
    let kept = shelf.0.lock().unwrap().values().next().unwrap().clone();
    assert!(kept.contains(r#""level":"error""#) && kept.contains(r#""initialized":true"#), "{kept}");
    assert_eq!(status(&one.url, &session, PING), 200);
    two.gate.open();
    let mut raw = Raw::connect(&two.url);
    raw.post(&session, &call("report"));
    raw.expect(r#""id":7,"result""#);
    listen(&one.url, &session, None).expect("200");
    assert_eq!(bare(&two.url, "DELETE", &session), 204);
    assert_eq!(status(&one.url, &session, PING), 404);
    assert_eq!(status(&two.url, "Mcp-Session-Id: invented\r\n", PING), 404);
    assert!(shelf.0.lock().unwrap().is_empty());
    one.end();
    two.end();
}

struct Broken;

impl SessionStore for Broken {
    fn load(&self, _: &SessionId) -> BoxFuture<Result<Option<SessionState>, StoreError>> {
        Shelf::later(Err("no shelf".into()))
    }

    fn save(&self, _: &SessionId, _: Option<u64>, _: &SessionState) -> BoxFuture<Result<Saved, StoreError>> {
        Shelf::later(Err("no shelf".into()))
    }

    fn remove(&self, _: &SessionId) -> BoxFuture<Result<(), StoreError>> {
        Shelf::later(Err("no shelf".into()))
    }
}

/// The client may try again; what is wrong is told on this side alone.
pub fn a_store_that_fails_is_no_session<K: Kit>(_: &str) {
    let host = start::<K>(|server| server.session_store(Broken));
    for (fields, body) in [("", INITIALIZE), ("Mcp-Session-Id: x\r\n", PING)] {
        let mut raw = Raw::connect(&host.url);
        raw.post(fields, body);
        let answer = raw.answer();
        assert!(answer.status == 503 && !answer.body.contains("shelf"), "{answer:?}");
        host.events.expect("the store of sessions: no shelf");
    }
    host.end();
}

/// HTTPL-28, HTTPL-42, HTTPL-52, HTTPL-55, B41, B67
pub fn a_stateless_server_needs_no_session<K: Kit>(_: &str) {
    let host = start::<K>(|server| server.stateless().logging());
    let mut raw = Raw::connect(&host.url);
    raw.post("", INITIALIZE);
    let answer = raw.answer();
    assert!(answer.status == 200 && answer.header("Mcp-Session-Id").is_none(), "{answer:?}");
    assert!(!answer.body.contains("logging") && answer.body.contains(r#""tools":{}"#), "{answer:?}");
    for method in ["GET", "DELETE"] {
        raw.bare(method, "Accept: text/event-stream\r\n");
        let answer = raw.answer();
        assert_eq!((answer.status, answer.header("Allow")), (405, Some("POST")));
    }
    assert_eq!(status(&host.url, "", PING), 200);
    // A client that leaves could never get the answer.
    let mut leaving = Raw::connect(&host.url);
    leaving.post("", &call("report"));
    leaving.expect(r#""progress":1"#);
    host.events.expect("reported");
    drop(leaving);
    host.gate.open();
    let mut raw = Raw::connect(&host.url);
    raw.post("MCP-Protocol-Version: 2025-11-25\r\n", &call("report"));
    raw.expect(r#""id":7,"result""#);
    host.end();
}

/// HTTPL-08
pub fn a_server_may_answer_in_json_only<K: Kit>(_: &str) {
    let host = start::<K>(|server| server.json_responses());
    let session = open(&host.url, "");
    host.gate.open();
    for tool in ["report", "poll"] {
        let mut raw = Raw::connect(&host.url);
        raw.post(&session, &call(tool));
        let answer = raw.answer();
        assert_eq!((answer.status, answer.header("Content-Type")), (200, Some("application/json")));
        assert!(answer.body.contains(r#""text":"done""#) && !answer.body.contains("progress"));
    }
    // The stream of the session is one nevertheless.
    listen(&host.url, &session, None).expect("text/event-stream");
    host.end();
}
