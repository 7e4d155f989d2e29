//! Handlers are code of users, also when they are dropped: whatever that does, nobody waits for it behind a lock.

use std::sync::mpsc::{self, Receiver, Sender};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

use mcp_driver::{Context, End, ExchangeHandle, Server, Tool};
use mcp_tests::stage::{Carried, Stage, head};
use schemars::JsonSchema;
use serde::Deserialize;

#[derive(Deserialize, JsonSchema)]
struct Nothing {}

/// What a handler owns. When it is dropped, it asks an exchange something, and tells whether that has answered.
struct Owned(Arc<Mutex<Option<Arc<ExchangeHandle<Stage>>>>>, Sender<bool>);

impl Drop for Owned {
    fn drop(&mut self) {
        let Some(exchange) = self.0.lock().unwrap().take() else { return };
        let (answered, answer) = mpsc::channel();
        thread::spawn(move || {
            exchange.timeout();
            answered.send(()).ok();
        });
        self.1.send(answer.recv_timeout(Duration::from_secs(5)).is_ok()).ok();
    }
}

/// Opens an exchange, takes the only tool away, and ends the request. Tells of the drop of what the tool owned.
fn ended(path: &str, method: &str, fields: &[(&str, &str)], body: &str) -> Receiver<bool> {
    let (dropped, told) = mpsc::channel();
    let asks = Arc::new(Mutex::new(None));
    let owned = Owned(asks.clone(), dropped);
    let server = Server::new("kiln", "1.0.0").runtime(Stage::default()).http_sse("/sse", "/messages").tool(
        Tool::new("owns"),
        move |_: Nothing, _: Context| {
            let _ = &owned;
            async { Ok("owned") }
        },
    );
    let registry = server.registry();
    let service = server.into_http_service().unwrap();
    let mut head = head(method, fields);
    head.target = path.into();
    let carried = Carried::begin(&service, head);
    *asks.lock().unwrap() = Some(carried.exchange.clone());
    registry.change(|changes| changes.remove_tool("owns")).unwrap();
    assert!(told.try_recv().is_err(), "the exchange has what was offered when it began");
    carried.exchange.handle_body(body.as_bytes());
    carried.exchange.handle_end(End::Complete);
    told
}

/// An exchange that listens, and the stream of HTTP with SSE, do not keep the handlers that were there when they
/// began, and let them go behind their lock.
#[test]
fn handlers_are_dropped_with_no_lock_held() {
    let fields = [("MCP-Protocol-Version", "2026-07-28"), ("Mcp-Method", "subscriptions/listen")];
    let listen = r#"{"jsonrpc":"2.0","id":1,"method":"subscriptions/listen","params":{"notifications":{"toolsListChanged":true},"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{"name":"c","version":"1"},"io.modelcontextprotocol/clientCapabilities":{}}}}"#;
    assert_eq!(ended("/mcp", "POST", &fields, listen).try_recv(), Ok(true));
    assert_eq!(ended("/sse", "GET", &[], "").try_recv(), Ok(true));
}
