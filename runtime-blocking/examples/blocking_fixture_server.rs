//! The fixture server on threads: what measurements and black-box tests speak to.

use std::time::Duration;

use mcp_blocking::{Context, Error, Server, Tool, ToolError};
use mcp_fixtures::{Add, Burst, Echo, Fail, Nothing, STEP, Seen, ServerOptions, Sleep, Transport, prepare};

fn server(options: &ServerOptions) -> Server {
    let slept = Seen::default();
    let asked = slept.clone();
    prepare(options)
        .tool(Tool::new("echo").description("Says the text back."), |Echo { text }: Echo, _: Context| {
            Ok(text)
        })
        .tool(Tool::new("add").description("Adds two numbers."), |Add { a, b }: Add, _: Context| Ok(a + b))
        .tool(Tool::new("sleep").description("Waits."), move |Sleep { ms }: Sleep, cx: Context| {
            let guard = slept.guard();
            if !cx.wait(Duration::from_millis(ms)) {
                guard.done();
            }
            Ok("slept")
        })
        .tool(
            Tool::new("seen").description("Says whether a sleep was cancelled."),
            move |_: Nothing, _: Context| Ok(asked.get().to_string()),
        )
        .tool(Tool::new("steps").description("Reports progress."), |_: Nothing, cx: Context| {
            for step in 1..=3 {
                cx.progress(f64::from(step));
                cx.wait(STEP);
            }
            Ok("done")
        })
        .tool(
            Tool::new("burst").description("Reports progress as fast as it can."),
            |Burst { count }: Burst, cx: Context| {
                for step in 1..=count {
                    cx.progress(f64::from(step));
                }
                Ok("done")
            },
        )
        .tool(Tool::new("fail").description("Fails."), |Fail { text }: Fail, _: Context| {
            Err::<(), _>(ToolError::new(text))
        })
        .tool(Tool::new("panic").description("Panics."), |_: Nothing, _: Context| {
            if true {
                panic!("as asked");
            }
            Ok(())
        })
}

fn main() -> Result<(), Error> {
    let options = ServerOptions::from_args();
    match options.transport {
        Transport::Stdio => server(&options).serve_stdio(),
        Transport::Port(port) => {
            let server = server(&options).bind_http(format!("127.0.0.1:{port}"))?;
            println!("listening on {}", server.url());
            server.serve()
        }
    }
}
