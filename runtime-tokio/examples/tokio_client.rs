//! A client on tokio, for the server of `cargo run --example tokio_server`.

use mcp_tokio::{Calls, Client};

#[tokio::main]
async fn main() -> Result<(), mcp_tokio::Error> {
    let client = Client::http("http://127.0.0.1:8000/mcp").await?; // or Client::spawn("calculator")
    let sum = client.call_tool("add", serde_json::json!({ "a": 2, "b": 3 })).await?;
    println!("2 + 3 = {}", sum.text());
    client.close().await
}
