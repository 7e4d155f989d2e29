//! A server on smol. `cargo run --example smol_client` speaks to it.

use mcp_smol::{Context, Server, Tool};

#[derive(serde::Deserialize, schemars::JsonSchema)]
struct Add {
    /// first term
    a: f64,
    /// second term
    b: f64,
}

fn main() -> Result<(), mcp_smol::Error> {
    let server = Server::new("calculator", "1.0.0")
        .tool(Tool::new("add").description("Adds two numbers"), async |Add { a, b }: Add, _: Context| {
            Ok(a + b)
        })
        .serve_http("127.0.0.1:8000"); // or .serve_stdio()
    smol::block_on(server)
}
