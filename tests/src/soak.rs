//! The server that is soaked by `tests/soak/run`: tools that answer, fail, wait, report, ask and tell, and bounds that come
//! soon.

use std::time::Duration;

use mcp_driver::{Context, Limits, Resource, Runtime, Server, Tool, ToolError};
use schemars::JsonSchema;
use serde::Deserialize;

use crate::rig::{Add, Echo, Nap, Nothing};

/// The resource that `touch` says has changed.
const WATCHED: &str = "soak://watched";

#[derive(Deserialize, JsonSchema)]
struct Name {
    name: String,
}

/// Times and tables of which a run of seconds sees the end; `tests/soak/load/tables.py` knows the last ones.
fn limits() -> Limits {
    let mut limits = Limits::default();
    limits.head_time = Duration::from_secs(4);
    limits.body_time = Duration::from_secs(6);
    limits.stall = Duration::from_secs(4);
    limits.keep_alive = Duration::from_secs(5);
    limits.session_idle = Duration::from_secs(8);
    limits.keep_alive_comment = Duration::from_secs(1);
    // An answer may have to wait behind a line of 64 MiB.
    limits.ask = Duration::from_secs(15);
    limits.accepted = 512;
    limits.unattended = 64;
    limits.sessions = 256;
    limits.listens = 64;
    limits
}

/// The server.
pub fn server<R: Runtime>() -> Server<R> {
    let server = Server::new("soak", "1.0.0").limits(limits());
    let registry = server.registry();
    server
        .tool(Tool::new("echo"), async |Echo { text }: Echo, _: Context| Ok(text))
        .tool(Tool::new("add"), |Add { a, b }: Add, _: Context| Ok(a + b))
        .tool(Tool::new("fail"), async |Echo { text }: Echo, _: Context| Err::<(), _>(ToolError::new(text)))
        .tool(Tool::new("sleep"), async |Nap { ms }: Nap, cx: Context| {
            cx.sleep(Duration::from_millis(ms)).await;
            Ok("slept")
        })
        .tool(Tool::new("steps"), |_: Nothing, cx: Context| {
            for step in 1..=3 {
                cx.progress(f64::from(step));
                cx.wait(Duration::from_millis(200));
            }
            Ok("done")
        })
        .tool(Tool::new("ask"), async |_: Nothing, cx: Context| {
            Ok(cx.elicit::<Name>("name", "Which name?").await?.name)
        })
        .tool(Tool::new("touch"), move |_: Nothing, _: Context| {
            registry.resource_updated(WATCHED);
            Ok("touched")
        })
        .resource(Resource::new(WATCHED, "watched").mime_type("text/plain"), "as it was")
}
