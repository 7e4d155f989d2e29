//! The bytes of requests.

use std::io::Write;

use crate::options::{Era, Kind, Transport};

/// Progress notifications of one `burst`.
pub(crate) const NOTIFICATIONS: usize = 100;

/// Ids have nine digits, so that every request of a kind is of one length.
pub(crate) const FIRST_ID: u64 = 100_000_000;

const META: &str = r#""io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{"name":"load","version":"1"},"io.modelcontextprotocol/clientCapabilities":{}"#;

/// A request but for its id, ready to be sent many times.
#[derive(Clone, Debug)]
pub(crate) struct Request {
    before: Vec<u8>,
    after: Vec<u8>,
}

impl Request {
    /// Adds it to what is to be sent.
    pub(crate) fn write(&self, id: u64, out: &mut Vec<u8>) {
        out.extend_from_slice(&self.before);
        // Writing into a `Vec` cannot fail.
        let _ = write!(out, "{id}");
        out.extend_from_slice(&self.after);
    }
}

/// What all requests of a run have in common.
#[derive(Clone, Debug)]
pub(crate) struct Dialect {
    pub(crate) transport: Transport,
    pub(crate) era: Era,
    /// `HOST:PORT`, over HTTP.
    pub(crate) host: String,
    /// Of a legacy HTTP session, if the server has such.
    pub(crate) session: Option<String>,
}

impl Dialect {
    /// What is measured.
    pub(crate) fn case(&self, kind: Kind, text: &str) -> Request {
        match kind {
            Kind::List => self.request("tools/list", None, ""),
            Kind::Burst => {
                let arguments = format!(r#""name":"burst","arguments":{{"count":{NOTIFICATIONS}}}"#);
                self.with_meta("tools/call", Some("burst"), &arguments, r#""progressToken":1"#)
            }
            Kind::Change => self.request("tools/call", Some("change"), r#""name":"change","arguments":{}"#),
            Kind::Echo | Kind::Start | Kind::Idle => {
                let arguments = format!(r#""name":"echo","arguments":{{"text":"{text}"}}"#);
                self.request("tools/call", Some("echo"), &arguments)
            }
        }
    }

    /// The first request of a client.
    pub(crate) fn hello(&self) -> Request {
        match self.era {
            Era::Modern => self.request("server/discover", None, ""),
            Era::Legacy => self.request(
                "initialize",
                None,
                r#""protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"load","version":"1"}"#,
            ),
        }
    }

    /// What a legacy client says after its handshake.
    pub(crate) fn initialized(&self) -> Vec<u8> {
        let body = br#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#;
        let mut bytes = self.head("notifications/initialized", None, body.len());
        bytes.extend_from_slice(body);
        bytes.extend_from_slice(self.end());
        bytes
    }

    /// What opens an idle stream.
    pub(crate) fn listen(&self) -> Request {
        match self.era {
            Era::Modern => {
                self.request("subscriptions/listen", None, r#""notifications":{"toolsListChanged":true}"#)
            }
            // The id has no place in a GET, so it goes where a server does not look.
            Era::Legacy => {
                let mut before = format!("GET /mcp HTTP/1.1\r\nHost: {}\r\n", self.host);
                before.push_str("Accept: text/event-stream\r\nMCP-Protocol-Version: 2025-11-25\r\n");
                if let Some(session) = &self.session {
                    before.push_str(&format!("Mcp-Session-Id: {session}\r\n"));
                }
                before.push_str("X-Stream: ");
                Request { before: before.into_bytes(), after: b"\r\n\r\n".to_vec() }
            }
        }
    }

    fn request(&self, method: &str, name: Option<&str>, params: &str) -> Request {
        self.with_meta(method, name, params, "")
    }

    fn with_meta(&self, method: &str, name: Option<&str>, params: &str, meta: &str) -> Request {
        let mut all = Vec::new();
        if self.era == Era::Modern {
            all.push(META);
        }
        if !meta.is_empty() {
            all.push(meta);
        }
        let meta = if all.is_empty() { String::new() } else { format!(r#""_meta":{{{}}}"#, all.join(",")) };
        let comma = if params.is_empty() || meta.is_empty() { "" } else { "," };
        let start = r#"{"jsonrpc":"2.0","id":"#;
        let rest = format!(r#","method":"{method}","params":{{{params}{comma}{meta}}}}}"#);
        let length = start.len() + FIRST_ID.to_string().len() + rest.len();
        let mut before = self.head(method, name, length);
        before.extend_from_slice(start.as_bytes());
        let mut after = rest.into_bytes();
        after.extend_from_slice(self.end());
        Request { before, after }
    }

    /// What comes before a message.
    fn head(&self, method: &str, name: Option<&str>, length: usize) -> Vec<u8> {
        if self.transport == Transport::Stdio {
            return Vec::new();
        }
        let mut head = format!("POST /mcp HTTP/1.1\r\nHost: {}\r\n", self.host);
        head.push_str("Accept: application/json, text/event-stream\r\nContent-Type: application/json\r\n");
        head.push_str(&format!("Content-Length: {length}\r\n"));
        match self.era {
            Era::Modern => {
                head.push_str(&format!("MCP-Protocol-Version: 2026-07-28\r\nMcp-Method: {method}\r\n"));
                if let Some(name) = name {
                    head.push_str(&format!("Mcp-Name: {name}\r\n"));
                }
            }
            Era::Legacy => {
                if method != "initialize" {
                    head.push_str("MCP-Protocol-Version: 2025-11-25\r\n");
                }
                if let Some(session) = &self.session {
                    head.push_str(&format!("Mcp-Session-Id: {session}\r\n"));
                }
            }
        }
        head.push_str("\r\n");
        head.into_bytes()
    }

    /// What comes after a message.
    fn end(&self) -> &'static [u8] {
        match self.transport {
            Transport::Stdio => b"\n",
            Transport::Http => b"",
        }
    }
}
