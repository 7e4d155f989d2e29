//! One call over HTTP.

use mcp_blocking::{Calls, Client};

fn main() -> Result<(), mcp_blocking::Error> {
    let client = Client::http(std::env::args().nth(1).unwrap_or_default())?;
    println!("{}", client.call_tool("echo", serde_json::json!({ "text": "hello" }))?.text());
    client.close()
}
