//! A server as one route of an axum application, which keeps its own middleware, its own routes and its own way to stop.
//!
//! `cargo run -p mcp-tokio --features tower --example tokio_axum`

use std::time::Duration;

use axum::routing::get;
use axum::{Extension, Router};
use mcp_tokio::tower::{IntoService, McpService};
use mcp_tokio::{Context, Error, Server, Tool};

#[derive(serde::Deserialize, schemars::JsonSchema)]
struct Nothing {}

/// What the application knows, and its middleware attaches to requests.
#[derive(Clone)]
pub struct Region(pub &'static str);

/// The application, and what is to be drained when it stops.
pub fn app() -> Result<(Router, McpService), Error> {
    let service = Server::new("mounted", "1.0.0")
        .tool(Tool::new("where").description("Says where it runs"), async |_: Nothing, cx: Context| {
            Ok(cx.extensions().get::<Region>().map_or("nowhere", |region| region.0))
        })
        .into_service()?;
    let router = Router::new()
        .route("/health", get(async || "fine"))
        .route_service("/mcp", service.clone())
        .layer(Extension(Region("north")));
    Ok((router, service))
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let (router, service) = app()?;
    let listener = tokio::net::TcpListener::bind("127.0.0.1:8000").await?;
    axum::serve(listener, router)
        .with_graceful_shutdown(async move {
            let _ = tokio::signal::ctrl_c().await;
            // Event streams would go on for ever: they end with their result, and calls have ten seconds.
            let _ = service.http_service().drain(Duration::from_secs(10)).await;
        })
        .await?;
    Ok(())
}
