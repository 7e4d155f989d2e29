//! A server that changes while it serves, and tells those who listen: a kiln that heats up, whose door can be
//! opened only while it is cool.
//!
//! ```text
//! cargo run --example tokio_subscriptions
//! cargo run --example tokio_listen
//! curl -N http://127.0.0.1:8000/mcp -H 'Content-Type: application/json' -H 'Accept: application/json, text/event-stream' \
//!   -H 'MCP-Protocol-Version: 2026-07-28' -H 'Mcp-Method: subscriptions/listen' -d '{"jsonrpc":"2.0","id":1,
//!   "method":"subscriptions/listen","params":{"notifications":{"toolsListChanged":true,"resourceSubscriptions":
//!   ["kiln://temperature"]},"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28",
//!   "io.modelcontextprotocol/clientCapabilities":{}}}}'
//! ```

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use mcp_tokio::{ApiMisuse, Changes, Context, ErrorObject, Registry, Resource, Server, Tool};

#[derive(serde::Deserialize, schemars::JsonSchema)]
struct Nothing {}

/// The server, and what changes it.
pub fn server() -> (Server, Registry, Arc<AtomicU32>) {
    let degrees = Arc::new(AtomicU32::new(20));
    let shown = degrees.clone();
    let server = Server::new("kiln", "1.0.0")
        .resource(
            Resource::new("kiln://temperature", "temperature").mime_type("text/plain"),
            move |_: Context| Ok(format!("{} °C", shown.load(Ordering::Relaxed))),
        )
        // What is asked for and is not here is left out already. The error is for the client.
        .on_listen(|listen| match listen.wanted.watched.is_empty() {
            true => Err(ErrorObject::new(1, "say what you listen to: there is `kiln://temperature`")),
            false => Ok(()),
        });
    let registry = server.registry();
    (server, registry, degrees)
}

#[tokio::main]
async fn main() -> Result<(), mcp_tokio::Error> {
    let (server, registry, degrees) = server();
    let server = server.bind_http("127.0.0.1:8000").await?;
    let stop = server.stop_handle();
    tokio::spawn(async move {
        tokio::select! {
            heated = heat(&registry, &degrees) => heated.unwrap_or_else(|misuse| eprintln!("{misuse}")),
            _ = tokio::signal::ctrl_c() => {}
        }
        // Those who listen are told that it is over: each stream ends with its result.
        stop.drain(Duration::from_secs(5));
    });
    server.serve().await
}

/// Heats for a minute, cools for another, and so on.
async fn heat(registry: &Registry, degrees: &AtomicU32) -> Result<(), ApiMisuse> {
    for second in 0_u32.. {
        let heating = second % 120 < 60;
        let before = degrees.load(Ordering::Relaxed);
        let after = if heating { before + 10 } else { before.saturating_sub(10).max(20) };
        degrees.store(after, Ordering::Relaxed);
        registry.resource_updated("kiln://temperature");
        if second == 0 || (before < 100) != (after < 100) {
            registry.change(|offer| offer_door(offer, after < 100))?;
        }
        tokio::time::sleep(Duration::from_secs(1)).await;
    }
    Ok(())
}

/// Offers the door while it may be opened.
pub fn offer_door(offer: &mut Changes, cool: bool) {
    offer.remove_tool("open_door");
    if cool {
        let tool = Tool::new("open_door").description("Opens the door of the kiln");
        offer.tool(tool, async |_: Nothing, _: Context| Ok("The door is open."));
    }
}
