//! Servers by hand, on a stream of lines: they answer whatever a scenario wants them to.

use std::io::{BufRead, BufReader, Write};
use std::net::TcpListener;

use std::future::{Ready, ready};
use std::sync::Mutex;

use mcp_driver::proto::head::ResponseHead;
use mcp_driver::{ClientBuilder, End, Error, Outgoing, Response, Runtime};
use serde_json::{Value, json};

use crate::kit::{Client, Kit, background};
use crate::support::DEADLINE;

/// A client of a server that answers each message with the lines that `answer` returns.
pub fn against<K: Kit>(
    builder: ClientBuilder<K::Runtime>,
    mut answer: impl FnMut(&Value) -> Vec<Value> + Send + 'static,
) -> Result<Client<K>, Error> {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let stream =
        background::<K, _>(move || K::block_on(K::Runtime::default().connect(address, DEADLINE)).unwrap());
    let (mut socket, _) = listener.accept().unwrap();
    drop(background::<K, _>(move || {
        let reader = BufReader::new(socket.try_clone().unwrap());
        for line in reader.lines().map_while(Result::ok) {
            let message: Value = serde_json::from_str(&line).unwrap();
            for line in answer(&message) {
                // The client may have gone.
                let _ = socket.write_all(format!("{line}\n").as_bytes());
            }
        }
    }));
    K::wait(builder.stream(stream.join()))
}

/// An HTTP client of one's own, of a server that answers each message with a status, a session and a message.
pub fn exchanging<A>(answer: A) -> impl Fn(Outgoing, Response) -> Ready<()> + Send + Sync + 'static
where
    A: FnMut(&Value, &Outgoing) -> (u16, Option<&'static str>, Option<Value>) + Send + 'static,
{
    let answer = Mutex::new(answer);
    move |outgoing, mut response| {
        let message = serde_json::from_slice(outgoing.body()).unwrap_or_default();
        let (status, session, body) = (answer.lock().unwrap())(&message, &outgoing);
        let mut head = ResponseHead::new(status);
        head.headers.push("Content-Type", "application/json");
        if let Some(session) = session {
            head.headers.push("Mcp-Session-Id", session);
        }
        response.head(head);
        if let Some(body) = body {
            response.body(body.to_string().as_bytes());
        }
        response.end(End::Complete);
        ready(())
    }
}

/// The result of a request.
pub fn result(request: &Value, result: Value) -> Value {
    json!({ "jsonrpc": "2.0", "id": request["id"], "result": result })
}

/// The refusal of a request.
pub fn error(request: &Value, code: i32) -> Value {
    json!({ "jsonrpc": "2.0", "id": request["id"], "error": { "code": code, "message": "no" } })
}

/// The answer of a modern server with these capabilities to the probe.
pub fn discovered(request: &Value, capabilities: Value) -> Value {
    result(request, json!({ "supportedVersions": ["2026-07-28"], "capabilities": capabilities }))
}
