//! One tool over stdio.

use mcp_blocking::{Context, Server, Tool};

#[derive(serde::Deserialize, schemars::JsonSchema)]
struct Echo {
    text: String,
}

fn main() -> Result<(), mcp_blocking::Error> {
    let tool = Tool::new("echo").description("Says the text back.");
    Server::new("small", "1.0.0").tool(tool, |Echo { text }: Echo, _: Context| Ok(text)).serve_stdio()
}
