//! One typed message in, one out.

use std::borrow::Cow;
use std::io::Write;
use std::sync::LazyLock;

use serde::{Deserialize, Serialize};

#[derive(Deserialize)]
struct Request<'a> {
    id: Option<u64>,
    #[serde(borrow)]
    method: &'a str,
    #[serde(borrow, default)]
    params: Params<'a>,
}

#[derive(Default, Deserialize)]
struct Params<'a> {
    #[serde(borrow, default)]
    arguments: Arguments<'a>,
}

#[derive(Default, Deserialize)]
struct Arguments<'a> {
    #[serde(borrow)]
    text: Option<Cow<'a, str>>,
    #[serde(default)]
    count: u32,
}

#[derive(Serialize)]
struct Response<T> {
    jsonrpc: &'static str,
    id: u64,
    result: T,
}

#[derive(Serialize)]
struct Content<'a> {
    content: [Text<'a>; 1],
    #[serde(rename = "resultType")]
    result_type: &'static str,
}

#[derive(Serialize)]
#[serde(tag = "type", rename = "text")]
struct Text<'a> {
    text: &'a str,
}

#[derive(Serialize)]
struct Notification {
    jsonrpc: &'static str,
    method: &'static str,
    params: Progress,
}

#[derive(Serialize)]
struct Progress {
    #[serde(rename = "progressToken")]
    progress_token: u32,
    progress: u32,
}

/// What came of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// Nothing is to be said.
    Nothing,
    /// One message.
    Answer,
    /// A stream with several messages, which goes on if the flag is set.
    Stream(bool),
}

/// Appends the answer to a message: as lines, or else as what an HTTP body has.
pub(crate) fn write(message: &[u8], out: &mut Vec<u8>, lines: bool) -> Kind {
    let Ok(request) = serde_json::from_slice::<Request<'_>>(message) else { return Kind::Nothing };
    let Some(id) = request.id else { return Kind::Nothing };
    let (before, after): (&[u8], &[u8]) = if lines { (b"", b"\n") } else { (b"data: ", b"\n\n") };
    let mut add = |message: &dyn Fn(&mut Vec<u8>)| {
        out.extend_from_slice(before);
        message(out);
        out.extend_from_slice(after);
    };
    match (request.method, request.params.arguments) {
        ("tools/call", Arguments { text: None, count }) => {
            for progress in 1..=count {
                let params = Progress { progress_token: 1, progress };
                let notification = Notification { jsonrpc: "2.0", method: "notifications/progress", params };
                add(&|out| json(&notification, out));
            }
            add(&|out| json(&called(id, "done"), out));
            Kind::Stream(false)
        }
        ("subscriptions/listen", _) => {
            add(&|out| {
                out.extend_from_slice(
                    br#"{"jsonrpc":"2.0","method":"notifications/subscriptions/acknowledged","params":{}}"#,
                );
            });
            Kind::Stream(true)
        }
        (method, arguments) => {
            match (method, &arguments.text) {
                ("tools/call", Some(text)) => json(&called(id, text), out),
                // Written once and copied, as the list of tools does not change.
                ("tools/list", _) => {
                    let _ = write!(out, r#"{{"jsonrpc":"2.0","id":{id},"result":"#);
                    out.extend_from_slice(LIST.as_bytes());
                    out.push(b'}');
                }
                _ => json(&Response { jsonrpc: "2.0", id, result: hello() }, out),
            }
            if lines {
                out.push(b'\n');
            }
            Kind::Answer
        }
    }
}

fn called(id: u64, text: &str) -> Response<Content<'_>> {
    let content = [Text { text }];
    Response { jsonrpc: "2.0", id, result: Content { content, result_type: "complete" } }
}

fn hello() -> serde_json::Value {
    serde_json::json!({
        "protocolVersion": "2025-11-25",
        "supportedVersions": ["2026-07-28"],
        "capabilities": { "tools": {} },
        "serverInfo": { "name": "floor", "version": "1" },
    })
}

static LIST: LazyLock<String> = LazyLock::new(|| {
    let tool = |number| {
        format!(
            r#"{{"name":"dummy_{number:05}","description":"Does nothing.","inputSchema":{{"type":"object","properties":{{}}}}}}"#
        )
    };
    let tools: Vec<String> = (0..100).map(tool).collect();
    format!(r#"{{"tools":[{}]}}"#, tools.join(","))
});

/// Writing into a `Vec` cannot fail, and none of the types here can fail to be written.
fn json(value: &impl Serialize, out: &mut Vec<u8>) {
    let _ = serde_json::to_writer(out, value);
}
