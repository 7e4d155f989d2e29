//! One tool over stdio.

use mcp_tokio::{Context, Server, Tool};

#[derive(serde::Deserialize, schemars::JsonSchema)]
struct Echo {
    text: String,
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), mcp_tokio::Error> {
    let tool = Tool::new("echo").description("Says the text back.");
    let server = Server::new("small", "1.0.0");
    server.tool(tool, async |Echo { text }: Echo, _: Context| Ok(text)).serve_stdio().await
}
