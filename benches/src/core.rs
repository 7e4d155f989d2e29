//! A `tools/call` through the core, beside the floor: serde_json reading and writing the same typed messages.
//!
//! Without arguments it measures time. `core (ours | handler | floor) (legacy | modern) BYTES CALLS` only makes so many
//! calls, for whoever counts instructions; `handler` is what a call costs in the function that answers it.

use std::borrow::Cow;
use std::hint::black_box;
use std::sync::Arc;
use std::time::{Duration, Instant};

use mcp_proto::model::{CallToolResult, Implementation, Json, Tool};
use mcp_proto::server::{Config, Connection, Output};
use mcp_proto::time::Now;
use serde::{Deserialize, Serialize};

/// Rounds per case; the medians are compared.
const ROUNDS: usize = 15;
/// Calls per round.
const CALLS: usize = 2_000;

fn main() {
    let words: Vec<String> = std::env::args().skip(1).collect();
    match words.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        [] => compare(),
        [side, era, size, calls] => {
            let era = if era == "legacy" { Era::Legacy } else { Era::Modern };
            let (size, calls): (usize, usize) = (size.parse().unwrap_or(100), calls.parse().unwrap_or(1));
            let request = era.request(&"x".repeat(size));
            let (mut server, mut out) = (Server::new(era), Vec::new());
            let arguments = format!(r#"{{"text":"{}"}}"#, "x".repeat(size));
            for _ in 0..calls {
                match side {
                    "ours" => server.call(&request),
                    "handler" => drop(black_box(handler(&arguments))),
                    _ => bare(&request, black_box(&mut out)),
                }
            }
        }
        _ => eprintln!("core [(ours | handler | floor) (legacy | modern) BYTES CALLS]"),
    }
}

/// Times both, in alternation.
fn compare() {
    println!("{:<8} {:>7} {:>12} {:>12} {:>7}", "era", "bytes", "ns/call", "floor", "ratio");
    for era in [Era::Legacy, Era::Modern] {
        for size in [100, 10_000, 100_000] {
            let request = era.request(&"x".repeat(size));
            let (mut server, mut out) = (Server::new(era), Vec::new());
            let (mut ours, mut floor) = (Vec::new(), Vec::new());
            for _ in 0..ROUNDS {
                ours.push(time(|| server.call(&request)));
                floor.push(time(|| bare(&request, black_box(&mut out))));
            }
            let (ours, floor) = (median(ours), median(floor));
            let ratio = ours.as_secs_f64() / floor.as_secs_f64();
            println!(
                "{:<8} {size:>7} {:>12} {:>12} {ratio:>7.2}",
                era.name(),
                ours.as_nanos(),
                floor.as_nanos()
            );
        }
    }
}

#[derive(Clone, Copy, PartialEq)]
enum Era {
    Legacy,
    Modern,
}

impl Era {
    fn name(self) -> &'static str {
        match self {
            Self::Legacy => "legacy",
            Self::Modern => "modern",
        }
    }

    fn request(self, text: &str) -> Vec<u8> {
        let meta = match self {
            Self::Legacy => String::new(),
            Self::Modern => {
                let key = "io.modelcontextprotocol";
                format!(
                    r#","_meta":{{"{key}/protocolVersion":"2026-07-28","{key}/clientInfo":{{"name":"bench","version":"1"}},"{key}/clientCapabilities":{{}}}}"#
                )
            }
        };
        let params = format!(r#"{{"name":"echo","arguments":{{"text":"{text}"}}{meta}}}"#);
        format!("{{\"jsonrpc\":\"2.0\",\"id\":7,\"method\":\"tools/call\",\"params\":{params}}}\n")
            .into_bytes()
    }
}

#[derive(Deserialize)]
struct Echo<'a> {
    #[serde(borrow)]
    text: Cow<'a, str>,
}

struct Server(Connection);

impl Server {
    fn new(era: Era) -> Self {
        let mut config = Config::new(Implementation::new("bench", "1"));
        let schema = Json::parse(r#"{"type":"object","properties":{"text":{"type":"string"}}}"#);
        // The schema and the tool are constants that are in order.
        let tool = Tool::new("echo", schema.unwrap_or_else(|_| Json::empty_object()));
        if let Err(misuse) = config.tools.insert(tool) {
            eprintln!("{misuse}");
        }
        let mut connection = Connection::new(Arc::new(config));
        if era == Era::Legacy {
            let hello = r#"{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"bench","version":"1"}}}"#;
            connection.handle_bytes(Now::default(), hello.as_bytes());
            connection.handle_bytes(Now::default(), b"\n");
        }
        Self(connection)
    }

    /// Answers one request.
    fn call(&mut self, request: &[u8]) {
        self.answer(request);
        let Self(connection) = self;
        let written = black_box(connection.transmit()).len();
        connection.advance(written);
    }

    fn answer(&mut self, request: &[u8]) {
        let Self(connection) = self;
        connection.handle_bytes(Now::default(), request);
        while let Some(output) = connection.poll_output() {
            if let Output::Call(id, call) = output
                && let Some(result) = handler(call.arguments())
            {
                connection.respond(Now::default(), id, &result);
            }
        }
    }
}

fn handler(arguments: &str) -> Option<CallToolResult> {
    serde_json::from_str::<Echo<'_>>(arguments).ok().map(|echo| CallToolResult::text(echo.text))
}

/// The same without a library: one typed message in, one out. Nothing of either is left away, and nothing is checked.
fn bare(request: &[u8], out: &mut Vec<u8>) {
    #[derive(Deserialize)]
    struct Request<'a> {
        jsonrpc: &'a str,
        id: i64,
        method: &'a str,
        #[serde(borrow)]
        params: Params<'a>,
    }
    #[derive(Deserialize)]
    struct Params<'a> {
        name: &'a str,
        #[serde(borrow)]
        arguments: Echo<'a>,
        #[serde(borrow, rename = "_meta")]
        meta: Option<Meta<'a>>,
    }
    #[derive(Deserialize)]
    struct Meta<'a> {
        #[serde(rename = "io.modelcontextprotocol/protocolVersion")]
        version: &'a str,
        #[serde(borrow, rename = "io.modelcontextprotocol/clientInfo")]
        client: Named<'a>,
        #[serde(rename = "io.modelcontextprotocol/clientCapabilities")]
        capabilities: Capabilities,
    }
    #[derive(Deserialize, Serialize)]
    struct Named<'a> {
        name: &'a str,
        version: &'a str,
    }
    #[derive(Deserialize)]
    struct Capabilities {}
    #[derive(Serialize)]
    struct Response<'a> {
        jsonrpc: &'static str,
        id: i64,
        result: Content<'a>,
    }
    #[derive(Serialize)]
    struct Content<'a> {
        #[serde(rename = "resultType", skip_serializing_if = "Option::is_none")]
        result_type: Option<&'static str>,
        content: [Text<'a>; 1],
        #[serde(rename = "_meta", skip_serializing_if = "Option::is_none")]
        meta: Option<Told>,
    }
    #[derive(Serialize)]
    struct Told {
        #[serde(rename = "io.modelcontextprotocol/serverInfo")]
        server: Named<'static>,
    }
    #[derive(Serialize)]
    #[serde(tag = "type", rename = "text")]
    struct Text<'a> {
        text: &'a str,
    }
    let Ok(request) = serde_json::from_slice::<Request<'_>>(request) else { return };
    black_box((request.jsonrpc, request.method, request.params.name));
    let meta = request.params.meta.map(|meta| {
        black_box((meta.version, meta.client.name, meta.client.version, meta.capabilities));
        Told { server: Named { name: "bench", version: "1" } }
    });
    let content = [Text { text: &request.params.arguments.text }];
    let result = Content { result_type: meta.as_ref().map(|_| "complete"), content, meta };
    out.clear();
    // Writing into a `Vec` cannot fail.
    let _ = serde_json::to_writer(&mut *out, &Response { jsonrpc: "2.0", id: request.id, result });
    out.push(b'\n');
}

#[expect(clippy::disallowed_methods, reason = "measuring is reading the clock")]
fn time(mut call: impl FnMut()) -> Duration {
    let began = Instant::now();
    for _ in 0..CALLS {
        call();
    }
    began.elapsed() / CALLS as u32
}

fn median(mut rounds: Vec<Duration>) -> Duration {
    rounds.sort_unstable();
    rounds.get(rounds.len() / 2).copied().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A ratio is worth something only if both do the same.
    #[test]
    fn the_floor_writes_what_the_core_writes() {
        for era in [Era::Legacy, Era::Modern] {
            let request = era.request("hello");
            let (mut server, mut out) = (Server::new(era), Vec::new());
            let handshake = server.0.transmit().len();
            server.0.advance(handshake);
            server.answer(&request);
            bare(&request, &mut out);
            assert_eq!(String::from_utf8_lossy(server.0.transmit()), String::from_utf8_lossy(&out));
        }
    }
}
