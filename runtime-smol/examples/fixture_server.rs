//! The fixture server on smol: what measurements and black-box tests speak to.

use std::time::Duration;

use mcp_fixtures::{Add, Echo, Fail, Nothing, Seen, ServerOptions, Sleep, Transport, prepare};
use mcp_smol::{Context, Error, Server, Tool, ToolError};
use smol::Timer;

fn server(options: &ServerOptions) -> Server {
    let slept = Seen::default();
    let asked = slept.clone();
    prepare(options)
        .tool(Tool::new("echo").describe("Says the text back."), async |Echo { text }: Echo, _: Context| {
            Ok(text)
        })
        .tool(Tool::new("add").describe("Adds two numbers."), async |Add { a, b }: Add, _: Context| Ok(a + b))
        .tool(Tool::new("sleep").describe("Waits."), move |Sleep { ms }: Sleep, _: Context| {
            let guard = slept.guard();
            async move {
                Timer::after(Duration::from_millis(ms)).await;
                guard.done();
                Ok("slept")
            }
        })
        .tool(
            Tool::new("seen").describe("Says whether a sleep was cancelled."),
            move |_: Nothing, _: Context| {
                let seen = asked.get();
                async move { Ok(seen.to_string()) }
            },
        )
        .tool(Tool::new("steps").describe("Reports progress."), async |_: Nothing, cx: Context| {
            for step in 1..=3 {
                cx.progress(f64::from(step));
                Timer::after(Duration::from_millis(50)).await;
            }
            Ok("done")
        })
        .tool(Tool::new("fail").describe("Fails."), async |Fail { text }: Fail, _: Context| {
            Err::<(), _>(ToolError::new(text))
        })
        .tool(Tool::new("panic").describe("Panics."), async |_: Nothing, _: Context| {
            if true {
                panic!("as asked");
            }
            Ok(())
        })
}

fn main() -> Result<(), Error> {
    let options = ServerOptions::from_args();
    smol::block_on(async {
        match options.transport {
            Transport::Stdio => server(&options).serve_stdio().await,
            Transport::Port(port) => {
                let server = server(&options).bind_http(format!("127.0.0.1:{port}")).await?;
                println!("listening on {}", server.url());
                server.serve().await
            }
        }
    })
}
