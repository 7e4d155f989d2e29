//! The server that scenarios speak to: its tools do what tests want to see done, and tell of it.

use std::path::PathBuf;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use mcp_driver::model::Json;
use mcp_driver::{
    Clock, Context, Prompt, Resource, ResourceTemplate, Runtime, Server, Tool, ToolError, Typed,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::support::Gate;

/// Where a rig tells of what its handlers do.
pub type Listener = Arc<dyn Fn(&str) + Send + Sync>;

#[derive(Deserialize, JsonSchema)]
pub(crate) struct Nothing {}

#[derive(Deserialize, JsonSchema)]
pub(crate) struct Echo {
    pub(crate) text: String,
}

#[derive(Deserialize, JsonSchema)]
pub(crate) struct Add {
    pub(crate) a: f64,
    pub(crate) b: f64,
}

#[derive(Deserialize, JsonSchema)]
pub(crate) struct Nap {
    pub(crate) ms: u64,
}

#[derive(Deserialize, JsonSchema)]
struct Meet {
    of: usize,
}

#[derive(Deserialize, JsonSchema)]
struct Die {
    code: i32,
}

/// What a process holds.
#[derive(Clone, Debug, Deserialize, Serialize, PartialEq, Eq)]
pub struct Census {
    /// What the open descriptors are.
    pub descriptors: Vec<String>,
    /// The names of the threads, without those that pools keep for a while.
    pub threads: Vec<String>,
}

impl Census {
    pub fn take() -> Self {
        let list = |path: &str, read: fn(PathBuf) -> Option<String>| {
            let entries = std::fs::read_dir(path).into_iter().flatten().flatten();
            let mut list: Vec<_> = entries.filter_map(|entry| read(entry.path())).collect();
            list.sort();
            list
        };
        Self {
            descriptors: list("/proc/self/fd", |path| {
                std::fs::read_link(path).ok().map(|target| target.to_string_lossy().into_owned())
            }),
            threads: list("/proc/self/task", |path| {
                let name = std::fs::read_to_string(path.join("comm")).ok()?;
                let pooled = ["mcp-pool", "blocking-", "tokio-"].iter().any(|pool| name.starts_with(pool));
                (!pooled).then_some(name)
            }),
        }
    }

    /// Whether there is no more of anything than there was.
    pub fn is_within(&self, other: &Self) -> bool {
        self.descriptors.len() <= other.descriptors.len() && self.threads.len() <= other.threads.len()
    }
}

/// Tells when a handler is dropped before it is done.
struct Cancelled(Option<(Listener, &'static str)>);

impl Cancelled {
    fn watch(tell: &Listener, name: &'static str) -> Self {
        tell(&format!("{name} started"));
        Self(Some((tell.clone(), name)))
    }

    fn done(mut self) {
        if let Some((tell, name)) = self.0.take() {
            tell(&format!("{name} finished"));
        }
    }
}

impl Drop for Cancelled {
    fn drop(&mut self) {
        if let Some((tell, name)) = &self.0 {
            tell(&format!("{name} cancelled"));
        }
    }
}

/// A server with tools that wait for `gate`, for each other, or for ever.
pub fn server<R: Runtime>(tell: impl Fn(&str) + Send + Sync + 'static, gate: &Gate) -> Server<R> {
    let tell: Listener = Arc::new(tell);
    let errors = tell.clone();
    let server = Server::new("rig", "1.0.0").logging().on_error(move |report| errors(&report.to_string()));
    let server = quick(server);
    let server = slow(server, &tell, gate);
    unruly(offering(server), &tell)
}

/// A schema by hand, which no Rust type stands for.
pub fn raw_schema() -> Json {
    Json::parse(r#"{"type":"object","maxProperties":3}"#).unwrap()
}

fn quick<R: Runtime>(server: Server<R>) -> Server<R> {
    server
        .tool(Tool::new("echo"), async |Echo { text }: Echo, _: Context| Ok(text))
        .tool(Tool::new("add"), |Add { a, b }: Add, _: Context| Ok(a + b))
        .tool(Tool::new("raw").input_schema(raw_schema()), async |arguments: Json, _: Context| {
            Ok(arguments.get().to_owned())
        })
        .tool(Tool::new("pid"), async |_: Nothing, _: Context| Ok(std::process::id()))
        .tool(Tool::new("census"), async |_: Nothing, _: Context| Ok(Census::take()))
}

#[derive(Deserialize, JsonSchema)]
struct Greet {
    /// Whom to greet.
    name: String,
    tone: Option<String>,
}

#[derive(Deserialize)]
struct User {
    name: String,
    page: Option<String>,
}

/// A picture, more or less.
pub const PICTURE: &[u8] = b"\x89PNG\0\xff";

/// Prompts and resources. One prompt is called like a tool; handlers are of both sorts.
fn offering<R: Runtime>(server: Server<R>) -> Server<R> {
    server
        .prompt(
            Prompt::new("echo").description("Greets somebody"),
            async |Greet { name, tone }: Greet, _: Context| {
                Ok(format!("Greet {name}{}", tone.unwrap_or_default()))
            },
        )
        .complete_prompt("echo", "name", |typed: Typed, _: Context| {
            let names = ["Ada", "Alan", "Grace"].into_iter();
            Ok(names.filter(|name| name.starts_with(&typed.value)).collect::<Vec<_>>())
        })
        .prompt(Prompt::new("refuse"), |_: Nothing, _: Context| Err::<String, _>(ToolError::new("not today")))
        .prompt(Prompt::new("fail"), |_: Nothing, _: Context| {
            Err::<String, _>(ToolError::internal("the disk is full"))
        })
        .resource(Resource::new("rig://note", "note").mime_type("text/plain"), "A note.")
        .resource(Resource::new("rig://picture", "picture").mime_type("image/png"), |_: Context| Ok(PICTURE))
        .resource(Resource::new("rig://gone", "gone"), async |_: Context| {
            Err::<String, _>(ToolError::not_found())
        })
        .resource_template(
            ResourceTemplate::new("rig://user/{name}{?page}", "user").mime_type("text/plain"),
            {
                async |User { name, page }: User, _: Context| {
                    if name == "nobody" {
                        return Err(ToolError::not_found());
                    }
                    Ok(format!("{name} {page:?}"))
                }
            },
        )
        .complete_template("rig://user/{name}{?page}", "page", async |typed: Typed, _: Context| {
            let name = typed.known.get("name").cloned().unwrap_or_default();
            Ok(vec![format!("{name}-{}", typed.value)])
        })
}

fn slow<R: Runtime>(server: Server<R>, tell: &Listener, gate: &Gate) -> Server<R> {
    let (waiting, stepping, blocking, opening) = (gate.clone(), gate.clone(), gate.clone(), gate.clone());
    let (wait, step, block, linger) = (tell.clone(), tell.clone(), tell.clone(), tell.clone());
    let nap = tell.clone();
    let meetings = Arc::new(Mutex::new((0, Gate::default())));
    server
        .tool(Tool::new("wait"), move |_: Nothing, _: Context| {
            let (gate, watch) = (waiting.clone(), Cancelled::watch(&wait, "wait"));
            async move {
                gate.wait().await;
                watch.done();
                Ok("waited")
            }
        })
        .tool(Tool::new("nap"), move |Nap { ms }: Nap, cx: Context| {
            let watch = Cancelled::watch(&nap, "nap");
            async move {
                let clock = Clock::start();
                cx.sleep(Duration::from_millis(ms)).await;
                watch.done();
                Ok(clock.now().mono.since_epoch().as_millis() as u64)
            }
        })
        .tool(Tool::new("steps"), move |_: Nothing, cx: Context| {
            let (gate, watch) = (stepping.clone(), Cancelled::watch(&step, "steps"));
            async move {
                cx.progress((1.0, 3.0));
                gate.wait().await;
                cx.progress((2.0, 3.0));
                cx.progress((3.0, 3.0));
                watch.done();
                Ok("done")
            }
        })
        .tool(Tool::new("open"), move |_: Nothing, _: Context| {
            opening.open();
            Ok("opened")
        })
        .tool(Tool::new("block"), move |_: Nothing, _: Context| {
            block("block started");
            blocking.block();
            Ok("unblocked")
        })
        .tool(Tool::new("linger"), move |_: Nothing, cx: Context| {
            linger("linger started");
            if cx.wait(Duration::from_secs(3_600)) {
                linger("linger cancelled");
            }
            Ok("lingered")
        })
        .tool(Tool::new("meet"), move |Meet { of }: Meet, _: Context| {
            let gate = {
                let mut meeting = meetings.lock().unwrap();
                meeting.0 += 1;
                let gate = meeting.1.clone();
                if meeting.0 == of {
                    *meeting = (0, Gate::default());
                    gate.open();
                }
                gate
            };
            async move {
                gate.wait().await;
                Ok("met")
            }
        })
}

fn unruly<R: Runtime>(server: Server<R>, tell: &Listener) -> Server<R> {
    let told = tell.clone();
    server
        .tool(Tool::new("panic"), async |_: Nothing, _: Context| {
            if true {
                panic!("as asked");
            }
            Ok(())
        })
        .tool(Tool::new("panic_blocking"), |_: Nothing, _: Context| {
            if true {
                panic!("as asked");
            }
            Ok(())
        })
        .tool(Tool::new("print"), async |_: Nothing, _: Context| {
            println!("{{\"stray\":\"print\"}}");
            Ok("printed")
        })
        .tool(Tool::new("cat"), |_: Nothing, _: Context| {
            let output = std::process::Command::new("cat").stdin(std::process::Stdio::inherit()).output()?;
            Ok(String::from_utf8_lossy(&output.stdout).into_owned())
        })
        .tool(Tool::new("die"), move |Die { code }: Die, _: Context| {
            told("panic: x");
            if code >= 0 {
                std::process::exit(code);
            }
            Err::<(), _>(ToolError::new("still here"))
        })
}
