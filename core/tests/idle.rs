//! What 10,000 legacy sessions and their streams hold while nothing happens, on a virtual clock.

use std::alloc::System;
use std::sync::Arc;
use std::time::Duration;

use mcp_proto::entropy::Seed;
use mcp_proto::head::{End, RequestHead};
use mcp_proto::model::{Implementation, Json, Tool};
use mcp_proto::server::{
    Config, Exchange, ExchangeId, ExchangeOutput, SessionId, SessionOutput, Sessions, Tools,
};
use mcp_proto::time::{Instant, Now};
use stats_alloc::{INSTRUMENTED_SYSTEM, Region, StatsAlloc};

#[global_allocator]
static ALLOCATOR: &StatsAlloc<System> = &INSTRUMENTED_SYSTEM;

const COUNT: usize = 10_000;
/// Bytes that an idle session, and an idle stream, may hold.
const MOST: usize = 4 << 10;

const INITIALIZE: &str = r#"{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{"roots":{"listChanged":true},"sampling":{},"elicitation":{}},"clientInfo":{"name":"a client of an ordinary name","version":"1.20.300"}}}"#;

fn at(seconds: u64) -> Now {
    Now::new(Instant::new(Duration::from_secs(seconds)), Duration::from_secs(1_800_000_000 + seconds))
}

fn head(method: &str, session: Option<&SessionId>) -> RequestHead {
    let mut head = RequestHead::new(method, "/mcp");
    for (name, value) in [
        ("Host", "localhost:8000"),
        ("User-Agent", "a client of an ordinary name/1.20.300"),
        ("Content-Type", "application/json"),
        ("Accept", "application/json, text/event-stream"),
    ] {
        head.headers.push(name, value);
    }
    if let Some(session) = session {
        head.headers.push("Mcp-Session-Id", session.as_str());
    }
    head
}

/// Takes what an exchange says, and gives it what the table answers; returns the session that was named.
fn drive(exchange: &mut Exchange, sessions: &mut Sessions, now: Now) -> Option<SessionId> {
    let mut named = None;
    loop {
        match exchange.poll_output() {
            Some(ExchangeOutput::Session(query)) => {
                let answer = sessions.handle_query(now, query);
                exchange.handle_session(now, answer);
            }
            Some(ExchangeOutput::Head(head, _)) => {
                named = head.headers.text("mcp-session-id").map(SessionId::new).or(named);
            }
            Some(_) => {}
            None if exchange.transmit().is_empty() => return named,
            None => exchange.advance(exchange.transmit().len()),
        }
    }
}

/// One test, because the allocator is shared: 10,000 sessions, then a stream for each, then a message on each;
/// at last the sessions whose clients left are reclaimed, and nothing is left of them.
#[test]
fn idle_sessions_and_streams_hold_little_and_are_cheap_to_reach() {
    let mut tools = Tools::new();
    tools.insert(Tool::new("add", Json::parse(r#"{"type":"object"}"#).unwrap())).unwrap();
    let config = Arc::new(Config::new(Implementation::new("calculator", "1.0.0")).tools(tools));
    let mut sessions = Sessions::new(&config.limits, Seed::new([7; 32]));
    let mut names = Vec::with_capacity(COUNT);
    let mut streams = Vec::with_capacity(COUNT);

    let region = Region::new(ALLOCATOR);
    for number in 0..COUNT {
        let id = ExchangeId::new(number as u64);
        let mut exchange = Exchange::new(at(1), id, Arc::clone(&config), head("POST", None));
        exchange.handle_body(at(1), INITIALIZE.as_bytes());
        exchange.handle_end(at(1), End::Complete);
        names.push(drive(&mut exchange, &mut sessions, at(1)).unwrap());
    }
    let change = region.change();
    let held = (change.bytes_allocated - change.bytes_deallocated) / COUNT;
    println!("an idle session holds {held} bytes");
    assert!(sessions.len() == COUNT && held < MOST, "{held}");

    let region = Region::new(ALLOCATOR);
    for (number, name) in names.iter().enumerate() {
        let id = ExchangeId::new((COUNT + number) as u64);
        let mut exchange = Exchange::new(at(2), id, Arc::clone(&config), head("GET", Some(name)));
        exchange.handle_end(at(2), End::Complete);
        drive(&mut exchange, &mut sessions, at(2));
        assert!(exchange.poll_timeout().is_some());
        streams.push(exchange);
    }
    let change = region.change();
    let held = (change.bytes_allocated - change.bytes_deallocated) / COUNT + size_of::<Exchange>();
    println!("an idle stream holds {held} bytes");
    assert!(held < MOST, "{held}");

    for name in &names {
        sessions.send(at(3), name, br#"{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}"#);
    }
    let mut delivered = 0;
    while let Some(SessionOutput::Deliver { exchange, event }) = sessions.poll_output() {
        let stream = &mut streams[exchange.number() as usize - COUNT];
        stream.handle_delivery(at(3), &event);
        assert!(!stream.transmit().is_empty());
        delivered += 1;
    }
    assert_eq!(delivered, COUNT);

    // Nobody is idle who listens.
    sessions.handle_timeout(at(100_000));
    assert_eq!(sessions.len(), COUNT);
    let refreshed = std::iter::from_fn(|| sessions.poll_output());
    let refreshed = refreshed.filter(|output| matches!(output, SessionOutput::Refresh { .. }));
    assert_eq!(refreshed.count(), COUNT);
    for stream in &mut streams {
        stream.handle_abort(at(100_000));
        drive(stream, &mut sessions, at(100_000));
    }
    sessions.handle_timeout(at(200_000));
    assert!(sessions.is_empty() && sessions.poll_timeout().is_none() && sessions.poll_output().is_none());
}
