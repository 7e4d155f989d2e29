//! What a tool call costs in allocations from the stream to the handler and back, once a connection has warmed
//! up. A number that grows is a regression; one that shrinks should be written down here.

use std::alloc::System;

use mcp_tokio::{Context, Server, Stream, Tool};
use stats_alloc::{INSTRUMENTED_SYSTEM, Region, StatsAlloc};
use tokio::io::{AsyncReadExt, AsyncWriteExt, duplex, split};

#[global_allocator]
static ALLOCATOR: &StatsAlloc<System> = &INSTRUMENTED_SYSTEM;

#[derive(serde::Deserialize, schemars::JsonSchema)]
struct Echo {
    text: String,
}

const CALL: &str = r#"{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"echo","arguments":{"text":"hello"},"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}}}"#;

/// The text of the call in core, the call's state, the handler's future, its result as JSON (twice: it is cut to
/// size), and the handler's own string.
#[test]
fn a_call_of_a_handler_that_is_ready_costs_six() {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let least = runtime.block_on(async {
        let (mut ours, theirs) = duplex(1 << 16);
        let (read, write) = split(theirs);
        let server = Server::new("allocations", "1")
            .tool(Tool::new("echo"), async |Echo { text }: Echo, _: Context| Ok(text));
        tokio::spawn(server.serve_stream(Stream::new(read, write)));
        let (line, mut answer) = (format!("{CALL}\n"), vec![0; 1 << 16]);
        let mut least = usize::MAX;
        for _ in 0..64 {
            let region = Region::new(ALLOCATOR);
            ours.write_all(line.as_bytes()).await.unwrap();
            let read = ours.read(&mut answer).await.unwrap();
            let change = region.change();
            // Threads of the test harness allocate, too, at times.
            least = least.min(change.allocations + change.reallocations);
            assert!(answer[..read].ends_with(b"}\n"));
        }
        least
    });
    assert_eq!(least, 6);
}
