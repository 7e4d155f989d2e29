//! A client of a server that wants authorization: `cargo run --example blocking_authorize --features auth -- URL`.
//!
//! The first time it opens a browser, in which its user agrees; what it gets is kept in `grants.json`, so that nobody is
//! asked again until it is revoked.

use mcp_blocking::auth::{Authorize, Config, FileStore};
use mcp_blocking::{Calls, Client, Error};

/// The names of the tools of the server at `url`.
pub fn run(url: &str, authorize: Authorize) -> Result<Vec<String>, Error> {
    let client = Client::builder("blocking-authorize", "1.0.0").authorize(authorize).http(url)?;
    let tools = client.list_tools()?;
    client.close()?;
    Ok(tools.into_iter().map(|tool| tool.name).collect())
}

fn main() -> Result<(), Error> {
    let url = std::env::args().nth(1).unwrap_or("http://127.0.0.1:8000/mcp".into());
    let authorize = Authorize::new(Config::new("Example")).store(FileStore::new("grants.json"));
    for tool in run(&url, authorize)? {
        println!("{tool}");
    }
    Ok(())
}
