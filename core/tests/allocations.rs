//! What a call costs in allocations, once a connection has warmed up. A number that grows is a regression;
//! one that shrinks should be written down here.

use std::alloc::System;
use std::sync::Arc;
use std::time::Duration;

use mcp_proto::entropy::Seed;
use mcp_proto::head::{End, RequestHead};
use mcp_proto::limits::Limits;
use mcp_proto::model::{
    CallToolResult, ContentBlock, Implementation, Json, Prompt, PromptArgument, Resource, ResourceTemplate,
    Tool,
};
use mcp_proto::server::{
    CallId, Config, Connection, Exchange, ExchangeId, ExchangeOutput, Output, Prompts, Resources,
    SessionAnswer, Sessions, Templates, Tools,
};
use mcp_proto::time::{Instant, Now};
use stats_alloc::{INSTRUMENTED_SYSTEM, Region, StatsAlloc};

#[global_allocator]
static ALLOCATOR: &StatsAlloc<System> = &INSTRUMENTED_SYSTEM;

const INITIALIZE: &str = r#"{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"c","version":"1"}}}"#;
const LEGACY: &str = r#"{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"add","arguments":{"a":2,"b":3},"_meta":{"progressToken":7}}}"#;
const MODERN: &str = r#"{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"add","arguments":{"a":2,"b":3},"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{"name":"c","version":"1"},"io.modelcontextprotocol/clientCapabilities":{},"progressToken":7}}}"#;

const GET: &str =
    r#"{"jsonrpc":"2.0","id":7,"method":"prompts/get","params":{"name":"p","arguments":{"a":"1","b":"2"}}}"#;
const READ: &str = r#"{"jsonrpc":"2.0","id":7,"method":"resources/read","params":{"uri":"x:a"}}"#;
const READ_MADE: &str = r#"{"jsonrpc":"2.0","id":7,"method":"resources/read","params":{"uri":"x:1/2"}}"#;
const COMPLETE: &str = r#"{"jsonrpc":"2.0","id":7,"method":"completion/complete","params":{"ref":{"type":"ref/prompt","name":"p"},"argument":{"name":"a","value":"1"}}}"#;

fn now() -> Now {
    Now::new(Instant::new(Duration::from_secs(1)), Duration::from_secs(1_800_000_000))
}

fn config() -> Arc<Config> {
    let mut tools = Tools::new();
    for name in ["sub", "add", "mul"] {
        tools.insert(Tool::new(name, Json::parse(r#"{"type":"object"}"#).unwrap())).unwrap();
    }
    let (mut prompts, mut resources, mut templates) = (Prompts::new(), Resources::new(), Templates::new());
    let arguments = [PromptArgument::new("a").required(true), PromptArgument::new("b")];
    prompts.insert(Prompt::new("p").arguments(arguments)).unwrap();
    resources.insert(Resource::new("x:a", "a")).unwrap();
    templates.insert(ResourceTemplate::new("x:{a}/{b}", "ab")).unwrap();
    let config = Config::new(Implementation::new("calculator", "1.0.0")).tools(tools);
    Arc::new(config.prompts(prompts).resources(resources).templates(templates).completions(true))
}

fn result() -> CallToolResult {
    let mut result = CallToolResult::default();
    result.content.push(ContentBlock::text("5"));
    result
}

/// Allocations (fresh and grown) while `work` runs.
fn allocations(work: impl FnOnce()) -> usize {
    let region = Region::new(ALLOCATOR);
    work();
    let change = region.change();
    change.allocations + change.reallocations
}

fn call(connection: &mut Connection, line: &[u8], result: &CallToolResult) {
    connection.handle_bytes(now(), line);
    let Some(Output::Call(id, call)) = connection.poll_output() else { panic!("no call") };
    assert!(!call.params().is_empty());
    connection.respond(now(), id, result);
    assert!(connection.transmit().ends_with(b"\n"));
    connection.advance(connection.transmit().len());
}

fn over_a_connection(request: &str) -> usize {
    let mut connection = Connection::new(config());
    connection.handle_bytes(now(), format!("{INITIALIZE}\n").as_bytes());
    connection.advance(connection.transmit().len());
    let line = format!("{request}\n");
    let result = result();
    for _ in 0..8 {
        call(&mut connection, line.as_bytes(), &result);
    }
    allocations(|| call(&mut connection, line.as_bytes(), &result))
}

fn head(fields: &[(&str, &str)]) -> RequestHead {
    let mut head = RequestHead::new("POST", "/mcp");
    let common = [
        ("Host", "localhost"),
        ("Content-Type", "application/json"),
        ("Accept", "application/json, text/event-stream"),
    ];
    for (name, value) in common.iter().chain(fields) {
        head.headers.push(name, value);
    }
    head
}

/// From the body to the call and back to the body; making the head is whoever reads HTTP's.
fn exchange(
    config: &Arc<Config>,
    sessions: &mut Sessions,
    head: RequestHead,
    body: &str,
    result: &CallToolResult,
    memory: Option<Vec<u8>>,
) -> Option<Exchange> {
    let mut exchange = Exchange::new(now(), ExchangeId::new(1), Arc::clone(config), head);
    if let Some(memory) = memory {
        exchange.lend(memory);
    }
    exchange.handle_body(now(), body.as_bytes());
    exchange.handle_end(now(), End::Complete);
    let mut called: Option<CallId> = None;
    while let Some(output) = exchange.poll_output() {
        match output {
            ExchangeOutput::Session(id, query) => {
                let answer = sessions.handle_query(now(), query);
                exchange.handle_session(now(), id, answer);
            }
            ExchangeOutput::Call(id, call) => {
                assert_eq!(call.arguments(), r#"{"a":2,"b":3}"#);
                called = Some(id);
            }
            _ => {}
        }
    }
    exchange.respond(now(), called?, result);
    assert!(!exchange.transmit().is_empty());
    Some(exchange)
}

/// One measure after the other: the counter is the process's.
#[test]
fn a_call_costs_a_known_number_of_allocations() {
    // The text of the parameters, and nothing else: id, method, tool, metadata and answer cost none.
    assert_eq!(over_a_connection(MODERN), 1, "modern, over a connection");
    assert_eq!(over_a_connection(LEGACY), 1, "legacy, over a connection");

    // The list of the arguments' names, to look for the required ones.
    assert_eq!(over_a_connection(GET), 2, "prompts/get");
    assert_eq!(over_a_connection(READ), 1, "resources/read");
    // The URI, the two values and their list, and what holds them.
    assert_eq!(over_a_connection(READ_MADE), 6, "resources/read by a template");
    // The reference; name and value of the argument; what holds them.
    assert_eq!(over_a_connection(COMPLETE), 5, "completion/complete");

    let config = config();
    let result = result();
    let mut sessions = Sessions::new(&Limits::default(), Seed::new([1; 32]));
    let modern =
        head(&[("MCP-Protocol-Version", "2026-07-28"), ("Mcp-Method", "tools/call"), ("Mcp-Name", "add")]);
    let mut done = None;
    let (first, second) = (modern.clone(), modern.clone());
    // An exchange begins with nothing: the head and the body (which the call then owns), the list of running calls, the
    // queue of outputs, and the answer.
    let count = allocations(|| done = exchange(&config, &mut sessions, first, MODERN, &result, None));
    assert!(done.is_some());
    assert_eq!(count, 5, "modern, over HTTP");
    let memory = Some(Vec::with_capacity(1_024));
    let count = allocations(|| done = exchange(&config, &mut sessions, second, MODERN, &result, memory));
    assert!(done.is_some());
    assert_eq!(count, 4, "with the memory of an answer before it");
    drop(modern);

    let mut opening = Exchange::new(now(), ExchangeId::new(0), Arc::clone(&config), head(&[]));
    opening.handle_body(now(), INITIALIZE.as_bytes());
    opening.handle_end(now(), End::Complete);
    let Some(ExchangeOutput::Session(_, query)) = opening.poll_output() else { panic!("no session") };
    let SessionAnswer::Opened { session } = sessions.handle_query(now(), query) else { panic!("not opened") };
    let legacy = head(&[("Mcp-Session-Id", session.as_str()), ("MCP-Protocol-Version", "2025-11-25")]);
    let count = allocations(|| done = exchange(&config, &mut sessions, legacy, LEGACY, &result, None));
    // As above, and the name of the session, its list of running requests, and what waits for its answer.
    assert_eq!(count, 8, "legacy, over HTTP");
}
