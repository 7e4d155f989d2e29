//! Several servers as one: a kiln and a shop, which both have a tool `status`, and a server that is not there.
//!
//! `cargo run --example tokio_group` starts them itself. `-- NAME=TARGET ..` connects to yours, each by a URL or a command
//! line; `-- --file mcp.json` to those that a desktop host has in its file.

use mcp_tokio::{
    Client, Command, Context, Error, Group, GroupBuilder, GroupCall, GroupError, Server, ServerFile, Tool,
};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;

#[derive(Deserialize, JsonSchema)]
struct Nothing {}

#[derive(Deserialize, JsonSchema)]
struct Fire {
    /// degrees Celsius
    to: u32,
}

/// A server with a tool of its own.
pub fn kiln() -> Server {
    Server::new("kiln", "1.0.0")
        .tool(Tool::new("status").description("How hot it is"), async |_: Nothing, _: Context| Ok("20 °C"))
        .tool(Tool::new("fire").description("Heats it"), async |Fire { to }: Fire, _: Context| {
            Ok(format!("heating to {to} °C"))
        })
}

/// Another one.
pub fn shop() -> Server {
    Server::new("shop", "1.0.0")
        .tool(Tool::new("status").description("Whether it is open"), async |_: Nothing, _: Context| {
            Ok("open")
        })
}

#[tokio::main]
async fn main() -> Result<(), Error> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let builder = Group::builder(Client::builder("group", "1.0.0"));
    match words.as_slice() {
        ["--serve", "kiln"] => kiln().serve_stdio().await,
        ["--serve", _] => shop().serve_stdio().await,
        [] => {
            let this =
                std::env::current_exe().map_err(|source| Error::Io { doing: "looking".into(), source })?;
            let server = |name: &str| Command::new(&this).args(["--serve", name]);
            let builder = builder
                .server("kiln", server("kiln"))
                .server("shop", server("shop"))
                .server("gone", Command::new("a-server-that-is-not-there"));
            show(builder).await
        }
        ["--file", path] => show(builder.file(&ServerFile::read(path)?)).await,
        targets => {
            let targets: Option<Vec<_>> = targets.iter().map(|word| word.split_once('=')).collect();
            let Some(targets) = targets else {
                eprintln!("usage: tokio_group [NAME=TARGET .. | --file FILE]");
                std::process::exit(2)
            };
            show(targets.into_iter().fold(builder, |builder, (name, target)| builder.server(name, target)))
                .await
        }
    }
}

async fn show(builder: GroupBuilder<mcp_tokio::Tokio>) -> Result<(), Error> {
    let group = builder.connect().await?;
    for server in group.servers() {
        match group.failure(server) {
            Some(error) => println!("{server}: {error}"),
            None => println!("{server}: connected"),
        }
    }
    if let Err(error) = use_them(&group).await {
        println!("{error}");
    }
    group.close().await
}

async fn use_them(group: &Group) -> Result<(), GroupError> {
    for tool in group.list_tools().await?.items {
        println!("  {} ({}) {}", tool.name, tool.server, tool.item.description.unwrap_or_default());
    }
    if group.client("kiln").is_err() {
        return Ok(());
    }
    println!("{}", group.call_tool("fire", json!({ "to": 1200 })).await?.text());
    // Both at once; the answers are in the order of the calls.
    let calls = [GroupCall::new("shop__status", json!({})), GroupCall::new("status", json!({})).on("kiln")];
    for reply in group.call_all(calls).await? {
        println!("{}", reply?.text());
    }
    // Which one is meant?
    group.call_tool("status", json!({})).await?;
    Ok(())
}
