//! Clients by hand: one that was greeted by a handshake and is sent requests, and a modern one that is told what is
//! asked and comes again.

use std::io::{BufRead, BufReader, Write};
use std::net::TcpStream;

use mcp_driver::{Runtime, Server};
use serde_json::{Value, json};

use crate::kit::{Background, Kit, background};
use crate::support::DEADLINE;

/// What the clients by hand can do.
pub const ALL: &str = r#"{"roots":{},"sampling":{"tools":{}},"elicitation":{"form":{},"url":{}}}"#;

/// The revisions that scenarios are played in.
pub const SPEECHES: [Option<&str>; 2] = [Some("2025-11-25"), None];

/// A client by hand, on a stream of lines.
pub struct Peer {
    reader: BufReader<TcpStream>,
    capabilities: Value,
    /// Greeted by a handshake.
    legacy: bool,
    last: u64,
    served: Option<Background<Result<(), mcp_driver::Error>>>,
}

/// What came of a call.
#[derive(Debug)]
pub struct Outcome {
    /// The whole response.
    pub response: Value,
    /// How often the client was asked: requests in the legacy era, rounds in the modern one.
    pub asked: usize,
    /// The last state that came, in the modern era.
    pub state: Option<String>,
}

impl Outcome {
    /// The text of the result of a tool.
    #[track_caller]
    pub fn text(&self) -> &str {
        self.response["result"]["content"][0]["text"].as_str().unwrap_or_else(|| panic!("{self:?}"))
    }

    #[track_caller]
    pub fn error(&self) -> (i64, &str) {
        let error = &self.response["error"];
        (error["code"].as_i64().unwrap_or_else(|| panic!("{self:?}")), error["message"].as_str().unwrap())
    }
}

impl Peer {
    /// Connects to `server`. `version` is that of the handshake; without one the client is modern.
    pub fn connect<K: Kit>(server: Server<K::Runtime>, version: Option<&str>, capabilities: &str) -> Self {
        let mut peer = Self::greet::<K>(server, version, capabilities);
        if let Some(version) = version {
            let client = json!({ "name": "peer", "version": "1" });
            let params = json!({ "protocolVersion": version, "capabilities": peer.capabilities, "clientInfo": client });
            peer.send(json!({ "id": 0, "method": "initialize", "params": params }));
            assert_eq!(peer.read()["result"]["protocolVersion"], version);
            peer.send(json!({ "method": "notifications/initialized" }));
        }
        peer
    }

    /// The same without a handshake.
    pub fn greet<K: Kit>(server: Server<K::Runtime>, version: Option<&str>, capabilities: &str) -> Self {
        let runtime = K::Runtime::default();
        let listener = K::block_on(runtime.listen("127.0.0.1:0".into())).unwrap();
        let socket = TcpStream::connect(runtime.local_address(&listener).unwrap()).unwrap();
        socket.set_read_timeout(Some(DEADLINE)).unwrap();
        socket.set_nodelay(true).unwrap();
        let (_, accepted) = K::block_on(runtime.accept(listener));
        let served = background::<K, _>(move || K::wait(server.serve_stream(accepted.unwrap())));
        let capabilities = serde_json::from_str(capabilities).unwrap();
        let (reader, legacy) = (BufReader::new(socket), version.is_some());
        Self { reader, capabilities, legacy, last: 0, served: Some(served) }
    }

    pub fn send(&mut self, mut message: Value) {
        message["jsonrpc"] = "2.0".into();
        self.reader.get_mut().write_all(format!("{message}\n").as_bytes()).unwrap();
    }

    pub fn read(&mut self) -> Value {
        let mut line = String::new();
        self.reader.read_line(&mut line).unwrap();
        serde_json::from_str(&line).unwrap_or_else(|error| panic!("{error}: {line:?}"))
    }

    /// Sends a request, and returns its id.
    pub fn request(&mut self, method: &str, mut params: Value) -> u64 {
        self.last += 1;
        if !self.legacy {
            params["_meta"] = json!({
                "io.modelcontextprotocol/protocolVersion": "2026-07-28",
                "io.modelcontextprotocol/clientCapabilities": self.capabilities,
            });
        }
        self.send(json!({ "id": self.last, "method": method, "params": params }));
        self.last
    }

    /// Makes a request and answers whatever is asked on the way: `answer` is given the key, or in the legacy era
    /// the text of the question, and the request; what it returns `None` for is left out of a round, or answered
    /// with an error.
    pub fn complete(
        &mut self,
        method: &str,
        params: Value,
        mut answer: impl FnMut(&str, &Value) -> Option<Value>,
    ) -> Outcome {
        let (mut asked, mut state, mut retry) = (0, None, params.clone());
        self.request(method, retry.clone());
        loop {
            let message = self.read();
            if let Some(id) = message.get("id").filter(|_| message.get("method").is_some()) {
                asked += 1;
                let key = message["params"]["message"].as_str().or(message["method"].as_str()).unwrap();
                match answer(key, &message) {
                    Some(result) => self.send(json!({ "id": id, "result": result })),
                    None => self.send(json!({ "id": id, "error": { "code": -1, "message": "no" } })),
                }
            } else if message["result"]["resultType"] == "input_required" {
                asked += 1;
                assert!(asked < 64, "it asks for ever: {message}");
                let requests = message["result"]["inputRequests"].as_object().cloned().unwrap_or_default();
                let answers: serde_json::Map<_, _> = requests
                    .iter()
                    .filter_map(|(key, request)| Some((key.clone(), answer(key, request)?)))
                    .collect();
                retry = params.clone();
                retry["inputResponses"] = answers.into();
                state = message["result"]["requestState"].as_str().map(str::to_owned);
                if let Some(state) = &state {
                    retry["requestState"] = state.as_str().into();
                }
                self.request(method, retry.clone());
            } else if message.get("method").is_none() {
                return Outcome { response: message, asked, state };
            }
        }
    }

    pub fn call(
        &mut self,
        tool: &str,
        arguments: Value,
        answer: impl FnMut(&str, &Value) -> Option<Value>,
    ) -> Outcome {
        self.complete("tools/call", json!({ "name": tool, "arguments": arguments }), answer)
    }

    /// Calls a tool that must not ask, or must be refused before it does.
    pub fn refused(&mut self, tool: &str) -> Outcome {
        self.call(tool, json!({}), |key, _| panic!("asked for {key}"))
    }
}

impl Drop for Peer {
    fn drop(&mut self) {
        let _ = self.reader.get_ref().shutdown(std::net::Shutdown::Both);
        if let Some(served) = self.served.take().filter(|_| !std::thread::panicking()) {
            served.join().unwrap();
        }
    }
}

/// The user agreed, and filled in this.
pub fn accept(content: Value) -> Option<Value> {
    Some(json!({ "action": "accept", "content": content }))
}

pub fn did(action: &str) -> Option<Value> {
    Some(json!({ "action": action }))
}

pub fn roots() -> Option<Value> {
    Some(json!({ "roots": [{ "uri": "file:///srv" }] }))
}

pub fn sampled(text: &str) -> Option<Value> {
    Some(json!({ "role": "assistant", "content": { "type": "text", "text": text }, "model": "m" }))
}
