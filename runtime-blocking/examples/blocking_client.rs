//! A client on threads, for the server of `cargo run --example blocking_server`.

use mcp_blocking::{Calls, Client};

fn main() -> Result<(), mcp_blocking::Error> {
    let client = Client::http("http://127.0.0.1:8000/mcp")?; // or Client::spawn("calculator")
    let sum = client.call_tool("add", serde_json::json!({ "a": 2, "b": 3 }))?;
    println!("2 + 3 = {}", sum.text());
    client.close()
}
