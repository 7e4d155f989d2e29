//! A server for holders of access tokens: anybody with the scope `notes:read` may list notes, and only those
//! with `notes:write` may add one. Here two tokens are known by heart; a real verifier checks the signature of a
//! token, or asks the authorization server.
//!
//! `cargo run --example tokio_authorization`, then see what a client without a token is told:
//!
//! ```sh
//! curl -i http://127.0.0.1:8000/mcp -X POST -H 'Content-Type: application/json' -d '{}'
//! curl http://127.0.0.1:8000/.well-known/oauth-protected-resource/mcp
//! ```

use std::sync::{Arc, Mutex};

use mcp_tokio::{
    AuthRefusal, BearerToken, Context, Cors, Error, Grant, Principal, ResourceServer, Server, Tool,
};
use schemars::JsonSchema;
use serde::Deserialize;

/// The URL under which clients know this server; tokens are issued for it.
const RESOURCE: &str = "http://127.0.0.1:8000/mcp";

#[derive(Deserialize, JsonSchema)]
struct List {}

#[derive(Deserialize, JsonSchema)]
struct Add {
    /// what to remember
    text: String,
}

async fn verify(token: BearerToken) -> Result<Grant, AuthRefusal> {
    let principal = match token.as_str() {
        "reader" => Principal::new("rita").scopes(["notes:read"]),
        "writer" => Principal::new("walt").scopes(["notes:write"]),
        _ => return Err(AuthRefusal::Invalid),
    };
    Ok(Grant::new(principal).audience(RESOURCE))
}

/// A server that keeps notes.
pub fn server() -> Server {
    let notes = Arc::new(Mutex::new(vec!["water the kiln".to_owned()]));
    let listed = notes.clone();
    let resource = ResourceServer::new(RESOURCE)
        .authorization_server("https://auth.example.com")
        .scopes(["notes:read"])
        .implies("notes:write", ["notes:read"]);
    Server::new("notes", "1.0.0")
        .resource_server(resource, verify)
        .cors(Cors::new())
        .tool(Tool::new("list").description("Lists the notes"), move |_: List, _: Context| {
            Ok(listed.lock().unwrap().join("\n"))
        })
        .tool(
            Tool::new("add").description("Adds a note").scopes(["notes:write"]),
            move |Add { text }: Add, cx: Context| {
                let who = cx.principal().map_or("somebody", |principal| &principal.subject);
                notes.lock().unwrap().push(format!("{text} ({who})"));
                Ok("added")
            },
        )
}

#[tokio::main]
async fn main() -> Result<(), Error> {
    server().serve_http("127.0.0.1:8000").await
}
