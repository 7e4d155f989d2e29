//! A server whose thread had no turn for longer than a deadline allows, and what had arrived by then.

use std::time::Duration;

use mcp_driver::{Limits, Runtime, Server};
use mcp_tests::stage::{Stage, Wire};

const LATE: Duration = Duration::from_secs(200);

/// A server on a stage, and a connection to it.
fn connected() -> (Stage, Wire) {
    let stage = Stage::default();
    let server = Server::new("late", "1").runtime(stage.clone());
    let serving = server.serve_http("127.0.0.1:1");
    stage.spawn(Box::pin(async move { serving.await.unwrap() }));
    stage.run();
    let wire = stage.knock();
    stage.run();
    (stage, wire)
}

fn request() -> (String, &'static str) {
    let body = r#"{"jsonrpc":"2.0","id":1,"method":"server/discover","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}}}"#;
    let head = [
        "POST /mcp HTTP/1.1",
        "Host: localhost",
        "Content-Type: application/json",
        "Accept: application/json, text/event-stream",
        "MCP-Protocol-Version: 2026-07-28",
        "Mcp-Method: server/discover",
        &format!("Content-Length: {}", body.len()),
        "\r\n",
    ];
    (head.join("\r\n"), body)
}

fn is_answered(wire: &Wire) -> bool {
    let received = wire.received();
    received.starts_with("HTTP/1.1 200 ") && received.contains("supportedVersions") && !wire.is_closed()
}

/// Limits::keep_alive, Limits::head_time, Limits::stall, Limits::body_time: what has arrived in time counts, however late
/// that is noticed.
#[test]
fn what_arrived_before_a_deadline_is_read_before_it_counts() {
    let (head, body) = request();
    let whole = format!("{head}{body}");
    let (half, rest) = head.split_at(40);
    let (begun, end) = whole.split_at(whole.len() - 40);
    for (first, then) in [("", &*whole), (half, &*format!("{rest}{body}")), (begun, end)] {
        let (stage, wire) = connected();
        // A connection that was idle before, and one that has just been opened.
        for _ in 0..2 {
            wire.send(first);
            stage.run();
            wire.send(then);
            stage.advance(LATE);
            assert!(is_answered(&wire), "{first}");
        }
        // And who says nothing is let go as before.
        wire.send(first);
        stage.run();
        // What was begun is refused, and the refusal lingers for a moment.
        stage.advance(LATE);
        stage.advance(LATE);
        assert_eq!(
            (wire.received().contains(" 408 "), wire.is_closed()),
            (!first.is_empty(), true),
            "{first}"
        );
    }
}

/// Limits::stall: a response for which there is room by now is written.
#[test]
fn a_response_is_written_where_there_is_room_by_now() {
    let (head, body) = request();
    for blocked in [false, true] {
        let (stage, wire) = connected();
        wire.block(true);
        wire.send(&format!("{head}{body}"));
        stage.run();
        wire.block(blocked);
        stage.advance(Limits::default().stall * 2);
        assert_eq!(is_answered(&wire), !blocked);
    }
}
