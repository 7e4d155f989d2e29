//! What a server holds for 10,000 modern clients that listen for changes while nothing happens, on a virtual clock.

use std::alloc::System;
use std::sync::Arc;
use std::time::Duration;

use mcp_proto::head::{End, RequestHead};
use mcp_proto::limits::Limits;
use mcp_proto::model::{Implementation, Json, Resource, Tool};
use mcp_proto::server::{
    Admission, Change, Config, Exchange, ExchangeId, ExchangeOutput, ListChanges, Listeners, Resources, Tools,
};
use mcp_proto::time::{Instant, Now};
use stats_alloc::{INSTRUMENTED_SYSTEM, Region, StatsAlloc};

#[global_allocator]
static ALLOCATOR: &StatsAlloc<System> = &INSTRUMENTED_SYSTEM;

const CLIENTS: u64 = 10_000;
/// The most that may be held for one of them, in bytes.
const EACH: usize = 4 << 10;

const LISTEN: &str = r#"{"jsonrpc":"2.0","id":"listen-1","method":"subscriptions/listen","params":{"notifications":{"toolsListChanged":true,"promptsListChanged":true,"resourcesListChanged":true,"resourceSubscriptions":["kiln://state"]},"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{"name":"a-client","title":"A client","version":"1.2.3"},"io.modelcontextprotocol/clientCapabilities":{"elicitation":{},"sampling":{}}}}}"#;

fn at(seconds: u64) -> Now {
    Now::new(Instant::new(Duration::from_secs(seconds)), Duration::from_secs(1_800_000_000 + seconds))
}

fn config() -> Arc<Config> {
    let (mut tools, mut resources) = (Tools::new(), Resources::new());
    tools.insert(Tool::new("fire", Json::parse(r#"{"type":"object"}"#).unwrap())).unwrap();
    resources.insert(Resource::new("kiln://state", "state")).unwrap();
    let config = Config::new(Implementation::new("kiln", "1.0.0")).tools(tools).resources(resources);
    let mut limits = Limits::default();
    limits.listens = CLIENTS as usize;
    Arc::new(config.changes(ListChanges::ALL).subscriptions(true).limits(limits))
}

fn head(fields: &[(&str, &str)]) -> RequestHead {
    let mut head = RequestHead::new("POST", "/mcp");
    let common = [
        ("Host", "localhost:8000"),
        ("Content-Type", "application/json"),
        ("Accept", "application/json, text/event-stream"),
        ("User-Agent", "a-client/1.2.3 (some system; some version)"),
    ];
    for (name, value) in common.iter().chain(fields) {
        head.headers.push(name, value);
    }
    head
}

fn ask(config: &Arc<Config>, id: u64, head: RequestHead, body: &str) -> Exchange {
    let mut exchange = Exchange::new(at(0), ExchangeId::new(id), Arc::clone(config), head);
    exchange.handle_body(at(0), body.as_bytes());
    exchange.handle_end(at(0), End::Complete);
    exchange
}

/// Everything that there is of the body.
fn take(exchange: &mut Exchange) -> usize {
    let sent = exchange.transmit().len();
    exchange.advance(sent);
    sent
}

/// Bytes that `make` leaves behind with what it returns.
fn held<T>(make: impl FnOnce() -> T) -> (T, isize) {
    let region = Region::new(ALLOCATOR);
    let made = make();
    let change = region.change();
    (made, change.bytes_allocated as isize - change.bytes_deallocated as isize)
}

/// Limits::listens: what its documentation says a stream costs; and a change told to all leaves nothing behind.
#[test]
fn idle_streams_of_changes_hold_little() {
    let config = config();
    let ((mut listeners, mut exchanges), bytes) = held(|| {
        let mut listeners = Listeners::new(&config.limits);
        let exchanges: Vec<_> = (0..CLIENTS)
            .map(|id| {
                let fields = [("MCP-Protocol-Version", "2026-07-28"), ("Mcp-Method", "subscriptions/listen")];
                let mut exchange = ask(&config, id, head(&fields), LISTEN);
                while let Some(output) = exchange.poll_output() {
                    if let ExchangeOutput::Listen(listen) = output {
                        let admission = listeners.admit(ExchangeId::new(id), listen.wanted);
                        assert_eq!(admission, Admission::Granted);
                        exchange.handle_admission(at(0), admission);
                    }
                    take(&mut exchange);
                }
                exchange
            })
            .collect();
        (listeners, exchanges)
    });
    report("idle stream", bytes);

    // Some minutes: a sign of life every 15 seconds, a change now and then for all, and nothing is left of them.
    let ((), grown) = held(|| {
        for second in (15..150).step_by(15) {
            let told = if second % 60 == 0 { listeners.told(&Change::Tools).len() } else { 0 };
            for exchange in &mut exchanges {
                if told > 0 {
                    exchange.publish(at(second), &Change::Tools);
                }
                exchange.handle_timeout(at(second));
                assert!(take(exchange) > 0 && exchange.poll_output().is_none());
            }
            assert!(told == 0 || told as u64 == CLIENTS);
        }
    });
    report("idle stream after some minutes", bytes + grown);

    for (id, exchange) in exchanges.iter_mut().enumerate() {
        exchange.shutdown(at(150));
        assert!(take(exchange) > 0 && matches!(exchange.poll_output(), Some(ExchangeOutput::End)));
        listeners.remove(ExchangeId::new(id as u64));
    }
    assert!(listeners.is_empty());
}

fn report(what: &str, bytes: isize) {
    let each = usize::try_from(bytes).unwrap() / CLIENTS as usize;
    println!("{each} bytes for an {what}");
    assert!(each < EACH, "{each} bytes for an {what}");
}
