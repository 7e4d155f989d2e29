//! A tour: a client talks to a small calculator server over stdio and Streamable HTTP, in both eras.
//!
//! `cargo run --example tour` starts both sides. `-- --connect URL` and `-- --spawn COMMAND ARGS..` do the
//! client's part against somebody else's server. `--trace` shows the messages.

use std::time::Duration;

use mcp_tokio::{
    Calls, Client, ClientBuilder, Command, Context, Era, EraChoice, Error, Options, Server, Tool, Traffic,
};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;

#[derive(Deserialize, JsonSchema)]
struct Add {
    /// first term
    a: i64,
    /// second term
    b: i64,
}

#[derive(Deserialize, JsonSchema)]
struct Count {
    /// how far to count
    to: u32,
}

fn calculator() -> Server {
    Server::new("calculator", "1.0.0")
        .instructions("Adds and counts.")
        .tool(Tool::new("add").description("Adds two numbers"), async |Add { a, b }: Add, _: Context| {
            Ok(a + b)
        })
        .tool(Tool::new("count").description("Counts, slowly"), async |Count { to }: Count, cx: Context| {
            for number in 1..=to {
                tokio::time::sleep(Duration::from_millis(60)).await;
                cx.progress((f64::from(number), f64::from(to)));
            }
            Ok(format!("counted to {to}"))
        })
}

#[tokio::main]
async fn main() -> Result<(), Error> {
    let mut words: Vec<String> = std::env::args().skip(1).collect();
    // What comes after `--spawn` is the command's.
    let own = words.iter().take_while(|word| *word != "--spawn");
    let trace = own.clone().position(|word| word == "--trace").map(|place| words.remove(place)).is_some();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    match words.as_slice() {
        [] => tour(trace).await,
        ["--serve"] => calculator().serve_stdio().await,
        ["--connect", url] => visit(&client(trace, EraChoice::Auto).http(*url).await?).await,
        ["--spawn", program, arguments @ ..] => {
            let command = Command::new(*program).args(arguments.iter().copied());
            visit(&client(trace, EraChoice::Auto).spawn(command).await?).await
        }
        _ => {
            eprintln!("usage: tour [--trace] [--connect URL | --spawn COMMAND ARGS..]");
            std::process::exit(2)
        }
    }
}

/// Both sides, both transports, both eras.
async fn tour(trace: bool) -> Result<(), Error> {
    let program = std::env::current_exe()
        .map_err(|error| Error::Io { doing: "finding this program".into(), source: error })?;
    let http = calculator().bind_http("127.0.0.1:0").await?;
    let (url, stop) = (http.url(), http.stop_handle());
    let serving = tokio::spawn(http.serve());
    println!("A calculator server runs as a child process, and another one at {url}.");

    for era in [EraChoice::Modern, EraChoice::Legacy] {
        heading(&format!("stdio, {}", name(era)));
        let client = client(trace, era).spawn(Command::new(&program).arg("--serve")).await?;
        calculate(&client).await?;

        heading(&format!("Streamable HTTP, {}", name(era)));
        let client = self::client(trace, era).http(&url).await?;
        calculate(&client).await?;
    }

    heading("the era left open");
    let client = client(trace, EraChoice::Auto).http(&url).await?;
    println!("  asked `server/discover` first, and both sides agreed on {}", client.revision());
    client.close().await?;

    stop.stop();
    if let Ok(served) = serving.await {
        served?;
    }
    println!("\nEverything is closed again. Try it with --trace, --connect URL or --spawn COMMAND.");
    Ok(())
}

fn client(trace: bool, era: EraChoice) -> ClientBuilder<mcp_tokio::Tokio> {
    let client = Client::builder("tour", env!("CARGO_PKG_VERSION")).era(era);
    if trace { client.on_traffic(show) } else { client }
}

/// Prints messages, one a line.
fn show(traffic: Traffic<'_>) {
    let (arrow, bytes) = match traffic {
        Traffic::Sent(bytes) => ("-->", bytes),
        Traffic::Received(bytes) => ("<--", bytes),
        _ => return,
    };
    for line in String::from_utf8_lossy(bytes).lines().filter(|line| !line.is_empty()) {
        println!("    {arrow} {line}");
    }
}

/// What one does with a calculator.
async fn calculate(client: &Client) -> Result<(), Error> {
    introduce(client);
    let tools = client.list_tools().await?;
    let names: Vec<_> = tools.iter().map(|tool| tool.name.as_str()).collect();
    println!("  it offers {}", names.join(" and "));

    let sum = client.call_tool("add", json!({ "a": 2, "b": 3 })).await?;
    println!("  2 + 3 = {}", sum.text());

    let wrong = client.call_tool("add", json!({ "a": 2, "b": "three" })).await?;
    println!("  2 + \"three\" is answered: {}", wrong.text());

    let began = tokio::time::Instant::now();
    let watch = Options::new().on_progress(move |progress| {
        println!("    {:>4} ms  {} of 3", began.elapsed().as_millis(), progress.progress);
    });
    let counted = client.call_tool_with("count", json!({ "to": 3 }), watch).await?;
    println!("    {:>4} ms  {}", began.elapsed().as_millis(), counted.text());

    let endless = client.call_tool("count", json!({ "to": 1_000_000 }));
    let gave_up = tokio::time::timeout(Duration::from_millis(100), endless).await.is_err();
    println!(
        "  counting to a million was {}",
        if gave_up { "cancelled after 100 ms" } else { "surprisingly fast" }
    );
    client.close().await
}

/// What one does with a server one does not know.
async fn visit(client: &Client) -> Result<(), Error> {
    introduce(client);
    let instructions = client.instructions().unwrap_or_default();
    if let Some(first) = instructions.lines().find(|line| !line.trim().is_empty()) {
        println!("  its instructions begin: {first}");
    }
    if client.capabilities().tools.is_none() {
        println!("  it offers no tools");
    } else {
        let tools = client.list_tools().await?;
        println!("  it offers {} tools:", tools.len());
        for tool in tools {
            let about = tool.description.as_deref().and_then(|text| text.lines().next()).unwrap_or_default();
            println!("    {:<28} {about}", tool.name);
        }
    }
    if client.era() == Era::Legacy {
        let began = tokio::time::Instant::now();
        client.ping().await?;
        println!("  it answers a ping in {} µs", began.elapsed().as_micros());
    }
    client.close().await
}

fn introduce(client: &Client) {
    match client.server_info() {
        Some(info) => println!("  {} {} speaks {}", info.name, info.version, client.revision()),
        None => println!("  a server that does not give its name speaks {}", client.revision()),
    }
}

fn heading(text: &str) {
    println!("\n{text}");
}

fn name(era: EraChoice) -> &'static str {
    if era == EraChoice::Legacy { "legacy era" } else { "modern era" }
}
