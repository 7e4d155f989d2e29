//! What the layers below a machine cost in allocations once their buffers have grown: nothing.

use std::alloc::System;

use mcp_proto::wire::header_value;
use mcp_proto::wire::jsonrpc::{self, Incoming, Message};
use mcp_proto::wire::lines::{Line, Lines};
use mcp_proto::wire::sse::{self, Decoder, SseItem};
use stats_alloc::{INSTRUMENTED_SYSTEM, Region, StatsAlloc};

#[global_allocator]
static ALLOCATOR: &StatsAlloc<System> = &INSTRUMENTED_SYSTEM;

const CALL: &str = r#"{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"add","arguments":{"a":2,"b":[3,"\u00e9"]},"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}}}"#;
const STRING_ID: &str = r#"{"jsonrpc":"2.0","id":"a-7","method":"tools/call","params":{"name":"add"}}"#;
const RESULT: &str = r#"{"jsonrpc":"2.0","id":7,"result":{"content":[{"type":"text","text":"5"}]}}"#;

/// Allocations, fresh and grown, of doing it a second time.
fn allocations(mut work: impl FnMut()) -> usize {
    work();
    let region = Region::new(ALLOCATOR);
    work();
    let change = region.change();
    change.allocations + change.reallocations
}

fn read(text: &str) -> Message<'_> {
    match jsonrpc::read(text.as_bytes(), 128) {
        Ok(Incoming::Message(message)) => message,
        other => panic!("no message: {other:?}"),
    }
}

/// One measure after the other: the counter is the process's.
#[test]
fn reading_and_writing_messages_costs_no_allocation() {
    assert_eq!(allocations(|| assert!(matches!(read(CALL), Message::Request(_)))), 0, "an ordinary call");
    assert_eq!(
        allocations(|| assert!(matches!(read(RESULT), Message::Response(_)))),
        0,
        "an ordinary result"
    );
    // The string is kept.
    assert_eq!(allocations(|| assert!(matches!(read(STRING_ID), Message::Request(_)))), 1, "a string as id");

    let mut out = Vec::new();
    let Message::Request(call) = read(CALL) else { panic!("no request") };
    let written = allocations(|| {
        out.clear();
        jsonrpc::write_request(&mut out, &call.id, &call.method, call.params).unwrap();
    });
    assert_eq!(written, 0, "writing it");

    let mut lines = Lines::new(1 << 20);
    let stream = format!("{CALL}\n{RESULT}\r\n");
    let read = allocations(|| {
        // Cut inside each message, so that both wait in the buffer.
        for mut piece in stream.as_bytes().chunks(100) {
            while let Some(line) = lines.next(&mut piece) {
                assert!(matches!(line, Line::Line(_)));
            }
        }
    });
    assert_eq!(read, 0, "cutting lines");

    let mut events = Decoder::new(1 << 20, 1 << 10);
    let mut stream = Vec::new();
    sse::write_event(&mut stream, Some("message"), Some("7"), RESULT.as_bytes());
    let read = allocations(|| {
        for mut piece in stream.chunks(40) {
            while let Some(item) = events.next(&mut piece) {
                assert!(matches!(item, SseItem::Event { data: RESULT, .. }));
            }
        }
    });
    assert_eq!(read, 0, "reading events");
    let written = allocations(|| {
        stream.clear();
        sse::write_event(&mut stream, Some("message"), Some("7"), RESULT.as_bytes());
    });
    assert_eq!(written, 0, "writing events");

    let passed = allocations(|| {
        let value = header_value::encode("eu-central1");
        assert_eq!(header_value::decode(value.as_bytes()).unwrap(), "eu-central1");
    });
    assert_eq!(passed, 0, "ordinary header values");
}
