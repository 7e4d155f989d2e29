//! A server whose tool takes longer than a client waits for an answer: clients of 2026-07-28 that know tasks are given
//! one to look at, all others a plain answer when it is done. The handler is the same for both.
//!
//! `cargo run --example tokio_task -- --stdio`, or `-- --port 8000`.

use std::time::Duration;

use mcp_tokio::model::TaskSupport;
use mcp_tokio::{Context, Server, TaskOptions, Tool, ToolError};
use schemars::JsonSchema;
use serde::Deserialize;

#[derive(Deserialize, JsonSchema)]
struct Render {
    /// What to show.
    scene: String,
    /// How many frames.
    #[schemars(range(max = 1_000))]
    frames: u32,
}

#[derive(Deserialize, JsonSchema)]
struct Publish {
    /// Publish it?
    really: bool,
}

async fn render(Render { scene, frames }: Render, cx: Context) -> Result<String, ToolError> {
    // What is wrong at once is said at once, also to those who know tasks.
    if scene.is_empty() {
        return Err(ToolError::new("there is nothing to show"));
    }
    let options = TaskOptions::new().ttl(Duration::from_secs(3_600)).poll_interval(Duration::from_secs(1));
    cx.continue_as_task(options).await?;
    for frame in 1..=frames {
        cx.status_message(format!("frame {frame} of {frames}"));
        // A plain call reports its progress instead.
        cx.progress((f64::from(frame), f64::from(frames)));
        cx.sleep(Duration::from_millis(20)).await;
    }
    // A task waits for the answer; a plain call asks as its era does.
    let publish =
        cx.elicit::<Publish>("publish", format!("{scene} is rendered. Publish it?")).optional().await?;
    Ok(match publish {
        Some(Publish { really: true }) => format!("{frames} frames of {scene}, published"),
        _ => format!("{frames} frames of {scene}"),
    })
}

/// The server.
pub fn server() -> Server {
    let tool = Tool::new("render").description("Renders a scene, frame by frame");
    Server::new("studio", "1.0.0").tool(tool.task_support(TaskSupport::Optional), render)
}

#[tokio::main]
async fn main() -> Result<(), mcp_tokio::Error> {
    match std::env::args().skip(1).collect::<Vec<_>>().as_slice() {
        [flag] if flag == "--stdio" => server().serve_stdio().await,
        [flag, port] if flag == "--port" => {
            let server = server().bind_http(format!("127.0.0.1:{port}")).await?;
            println!("listening on {}", server.url());
            server.serve().await
        }
        _ => {
            eprintln!("usage: tokio_task --stdio | --port PORT");
            std::process::exit(2);
        }
    }
}
