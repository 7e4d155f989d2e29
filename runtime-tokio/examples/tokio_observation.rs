//! A server that is watched, and that adds something to the protocol: a hook times every request and refuses some,
//! a method and an extension are its own.
//!
//! `cargo run --example tokio_observation`

use mcp_tokio::model::{ClientCapabilities, JsonMap};
use mcp_tokio::{
    Answer, Calls, Client, Context, Custom, Error, Json, Next, Request, Server, Tool, ToolError,
};
use serde_json::json;

/// What this server adds. Clients that know it may restock.
const SHELVES: &str = "com.example/shelves";

#[derive(serde::Deserialize, schemars::JsonSchema)]
struct Take {
    /// How many pieces.
    pieces: u32,
}

#[derive(serde::Deserialize, schemars::JsonSchema)]
struct Nothing {}

#[derive(serde::Deserialize)]
struct Restock {
    shelf: String,
}

fn server() -> Server {
    Server::new("store", "1.0.0")
        .extension(SHELVES, json!({}))
        .tool(
            Tool::new("take").description("Takes pieces off a shelf"),
            async |Take { pieces }: Take, _: Context| {
                if pieces > 3 {
                    // The model reads this, and can ask for less.
                    return Err(ToolError::new("there are 3 pieces left"));
                }
                Ok(json!({ "taken": pieces }))
            },
        )
        .tool(Tool::new("audit").description("Counts everything"), |_: Nothing, _: Context| {
            Ok("never reached")
        })
        .method("store/restock", async |Restock { shelf }: Restock, cx: Context| {
            cx.require_extension(SHELVES)?;
            cx.notify("store/walking", json!({ "to": shelf }));
            Ok(json!({ "stock": 12 }))
        })
        .around(async |request: Request, next: Next| {
            // The trace that the request belongs to, to be passed on to whatever it causes.
            let trace = request.trace().trace_id().map(str::to_owned).unwrap_or_default();
            let answer = match request.name() {
                "audit" if request.principal().is_none() => Answer::refuse(1, "only for those we know"),
                _ => next.run().await,
            };
            println!("{:<14} {:<14} {} {trace}", request.method(), request.name(), answer.kind());
            eprintln!("{:?}", request.elapsed());
            answer
        })
        .on_error(|report| eprintln!("{report}"))
}

#[tokio::main]
async fn main() -> Result<(), Error> {
    let server = server().bind_http("127.0.0.1:0").await?;
    let (url, stop) = (server.url(), server.stop_handle());
    let serving = tokio::spawn(server.serve());

    let mut extensions = JsonMap::new();
    extensions.insert(SHELVES.to_owned(), Json::empty_object());
    let client = Client::builder("shopper", "1.0.0")
        .capabilities(ClientCapabilities::new().extensions(extensions))
        .http(url)
        .await?;
    for pieces in [2, 9] {
        let reply = client.call_tool("take", json!({ "pieces": pieces })).await?;
        println!("{}", reply.text());
    }
    println!("{}", client.call_tool("audit", json!({})).await.expect_err("a hook refuses it"));
    let restock = Custom::new("store/restock", Some(Json::parse(r#"{"shelf":"A"}"#).expect("it is JSON")))?;
    println!("{}", client.request(&restock).await?.get());

    client.close().await?;
    stop.stop();
    serving.await.expect("the server does not panic")
}
