//! An exchange by hand: what an HTTP stack of one's own relies on.

use std::future::poll_fn;
use std::sync::Arc;
use std::task::Poll;
use std::time::Duration;

use mcp_tests::kit::{Kit, OnTokio};
use mcp_tests::rig;
use mcp_tests::support::{Events, Gate, SOON, within};
use mcp_tokio::proto::head::RequestHead;
use mcp_tokio::{Context, End, ExchangeHandle, Extensions, HttpService, Limits, Server, Tokio, Tool};

/// The body of a response is not given out before its head was taken, whenever it is asked for: a carrier that
/// looks between the two would lose it.
#[test]
fn the_body_comes_after_the_head() {
    let service = Server::new("test", "1").into_http_service().unwrap();
    // Refused at once: there is a response, with a body, before anybody looks.
    let mut head = RequestHead::new("PUT", "/mcp");
    head.headers.push("host", "localhost");
    let exchange = ExchangeHandle::open(&service, head);
    let taken = || {
        let mut body = Vec::new();
        exchange.transmit(&mut |bytes| {
            body.extend_from_slice(bytes);
            bytes.len()
        });
        body
    };
    assert_eq!(taken(), b"");
    assert!(!exchange.is_ended());
    assert_eq!(exchange.take_head().unwrap().0.status, 405);
    assert!(taken().starts_with(b"{"));
    assert!(exchange.is_ended());
}

#[derive(serde::Deserialize, schemars::JsonSchema)]
struct Nothing {}

/// Sends a whole modern call of a tool.
fn call(service: &Arc<HttpService<Tokio>>, tool: &str) -> Arc<ExchangeHandle<Tokio>> {
    call_with(service, tool, Extensions::new())
}

fn call_with(
    service: &Arc<HttpService<Tokio>>,
    tool: &str,
    extensions: Extensions,
) -> Arc<ExchangeHandle<Tokio>> {
    let mut head = RequestHead::new("POST", "/mcp");
    for (name, value) in [
        ("host", "localhost"),
        ("content-type", "application/json"),
        ("accept", "application/json, text/event-stream"),
        ("mcp-protocol-version", "2026-07-28"),
        ("mcp-method", "tools/call"),
        ("mcp-name", tool),
    ] {
        head.headers.push(name, value);
    }
    let exchange = ExchangeHandle::open_with(service, head, extensions);
    let meta = r#""_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}"#;
    exchange.handle_body(
        format!(r#"{{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{{{meta},"name":"{tool}","arguments":{{}}}}}}"#)
            .as_bytes(),
    );
    exchange.handle_end(End::Complete);
    exchange
}

/// A call that is cancelled while it waits for a thread lets go of all it holds at once, and one that is not runs.
#[test]
fn a_cancelled_call_waits_for_no_thread() {
    let _entered = OnTokio::enter();
    let (gate, (tell, events)) = (Gate::default(), Events::new());
    let mut limits = Limits::default();
    limits.blocking_threads = 1;
    let blocked = gate.clone();
    let service = Server::new("test", "1")
        .limits(limits)
        .tool(Tool::new("block"), move |_: Nothing, _: Context| {
            tell.tell("begun");
            blocked.block();
            Ok(())
        })
        .into_http_service()
        .unwrap();
    let running = call(&service, "block");
    events.expect("begun");
    let held = Arc::new("held");
    let waiting: Vec<_> =
        (0..2).map(|_| call_with(&service, "block", Extensions::new().with(held.clone()))).collect();
    let [cancelled, kept] = waiting.try_into().ok().unwrap();
    assert_eq!(Arc::strong_count(&held), 3);
    cancelled.handle_abort();
    drop(cancelled);
    assert_eq!(Arc::strong_count(&held), 2);
    gate.open();
    events.expect("begun");
    assert_eq!((answered(&running), answered(&kept)), (200, 200));
    assert!(events.others().is_empty());
}

/// Waits for the head of the response.
fn answered(exchange: &ExchangeHandle<Tokio>) -> u16 {
    within(SOON, || {
        OnTokio::block_on(poll_fn(|cx| {
            exchange.register(cx.waker());
            status(exchange).map_or(Poll::Pending, Poll::Ready)
        }))
    })
}

fn status(exchange: &ExchangeHandle<Tokio>) -> Option<u16> {
    exchange.take_head().map(|(head, _)| head.status)
}

/// A service that is to stop takes no more requests, and waits for those under way.
#[test]
fn a_service_that_drains_lets_calls_finish() {
    let _entered = OnTokio::enter();
    let (gate, (tell, events)) = (Gate::default(), Events::new());
    let service = rig::server(move |event| tell.tell(event), &gate).into_http_service().unwrap();
    let running = call(&service, "wait");
    events.expect("wait started");
    let drained = tokio::spawn(service.drain(Duration::from_secs(600)));
    while !drained.is_finished() {
        let late = call(&service, "pid");
        if status(&late) == Some(503) {
            break;
        }
    }
    assert!(!drained.is_finished(), "a call is running");
    gate.open();
    assert_eq!(answered(&running), 200);
    drop(running);
    within(SOON, || OnTokio::block_on(drained).unwrap().unwrap());
}

/// It does not wait for ever: what still runs is given up, and answered.
#[test]
fn a_service_that_drains_gives_up_in_the_end() {
    let _entered = OnTokio::enter();
    let (tell, events) = Events::new();
    let service = rig::server(move |event| tell.tell(event), &Gate::default()).into_http_service().unwrap();
    let running = call(&service, "wait");
    events.expect("wait started");
    within(SOON, || {
        OnTokio::block_on(service.drain(Duration::from_millis(80))).unwrap();
    });
    assert_eq!(status(&running), Some(503));
    events.expect("wait cancelled");
}

/// Whoever carries exchanges has an answer to all of them.
#[test]
fn a_request_that_breaks_off_is_answered() {
    let service = Server::new("test", "1").into_http_service().unwrap();
    let mut head = RequestHead::new("POST", "/mcp");
    head.headers.push("host", "localhost");
    head.headers.push("content-type", "application/json");
    let exchange = ExchangeHandle::open(&service, head);
    exchange.handle_end(End::Broken);
    assert_eq!((status(&exchange), status(&exchange), exchange.is_ended()), (Some(400), None, true));
}
