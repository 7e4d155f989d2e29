//! A server on tokio. `cargo run --example tokio_client` speaks to it.

use mcp_tokio::{Context, Server, Tool};

#[derive(serde::Deserialize, schemars::JsonSchema)]
struct Add {
    /// first term
    a: f64,
    /// second term
    b: f64,
}

#[tokio::main]
async fn main() -> Result<(), mcp_tokio::Error> {
    Server::new("calculator", "1.0.0")
        .tool(Tool::new("add").description("Adds two numbers"), async |Add { a, b }: Add, _: Context| {
            Ok(a + b)
        })
        .serve_http("127.0.0.1:8000") // or .serve_stdio()
        .await
}
