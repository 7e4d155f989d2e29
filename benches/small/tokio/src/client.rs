//! One call over HTTP.

use mcp_tokio::{Calls, Client};

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), mcp_tokio::Error> {
    let url = std::env::args().nth(1).unwrap_or_default();
    let client = Client::http(url).await?;
    println!("{}", client.call_tool("echo", serde_json::json!({ "text": "hello" })).await?.text());
    client.close().await
}
