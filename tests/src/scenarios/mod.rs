//! One scenario, one function; each takes the path of `mcp-rig`.

pub mod answers;
pub mod asks;
pub mod authorize;
pub mod authorized;
pub mod caching;
pub mod calls;
pub mod children;
pub mod connecting;
pub mod content;
pub mod crowded;
pub mod dialing;
pub mod faults;
pub mod features;
pub mod grants;
pub mod groups;
pub mod hooks;
pub mod http;
pub mod http_sse;
pub mod hygiene;
pub mod in_process;
pub mod listening;
pub mod observe;
pub mod options;
pub mod request;
pub mod results;
pub mod rounds;
pub mod schemas;
mod scripted;
pub mod sealed;
pub mod secure;
pub mod sessions;
pub mod signed_out;
pub mod stdio;
pub mod stopping;
pub mod streaming;
pub mod streams;
pub mod subscriptions;
pub mod task_clients;
pub mod tasks;
pub mod tools;

use std::process::Stdio;

use mcp_driver::{CallError, Calls, ClientBuilder, Command, EraChoice, Error, Limits, Stop, ToolReply};
use serde_json::Value;

use crate::kit::{Background, Client, Kit, Server, background};
use crate::rig;
use crate::support::{Events, Gate};

const ERAS: [EraChoice; 2] = [EraChoice::Modern, EraChoice::Legacy];

fn builder<K: Kit>(era: EraChoice) -> ClientBuilder<K::Runtime> {
    Client::<K>::builder("scenario", "1.0.0").era(era)
}

fn call<K: Kit>(client: &Client<K>, tool: &str, arguments: Value) -> Result<ToolReply, CallError> {
    K::wait(client.call_tool(tool, arguments))
}

/// Calls a tool without arguments and returns its text.
#[track_caller]
fn text<K: Kit>(client: &Client<K>, tool: &str) -> String {
    call::<K>(client, tool, serde_json::json!({})).unwrap().text().into_owned()
}

fn calling<K: Kit>(client: &Client<K>, tool: &'static str) -> Background<Result<ToolReply, CallError>> {
    let client = client.clone();
    background::<K, _>(move || call::<K>(&client, tool, serde_json::json!({})))
}

/// The rig as a child process on this runtime.
fn command<K: Kit>(program: &str) -> Command {
    Command::new(program).args([K::NAME, "--stdio"])
}

/// A shell script that finds the rig as `"$@"`.
fn script<K: Kit>(program: &str, script: &str) -> Command {
    Command::new("sh").args(["-c", script, "sh", program, K::NAME, "--stdio"])
}

/// Connects to a child, and hears the lines of its standard error.
fn spawn<K: Kit>(command: Command, builder: ClientBuilder<K::Runtime>) -> Result<(Client<K>, Events), Error> {
    let (tell, events) = Events::new();
    let client = K::wait(builder.on_stderr(tell.lines()).spawn(command))?;
    Ok((client, events))
}

/// A server with HTTP in this process, being served.
struct Host<K: Kit> {
    url: String,
    stop: Stop,
    gate: Gate,
    events: Events,
    served: Background<Result<(), Error>>,
    kit: std::marker::PhantomData<K>,
}

fn limited(change: impl FnOnce(&mut Limits)) -> Limits {
    let mut limits = Limits::default();
    change(&mut limits);
    limits
}

fn host<K: Kit>(change: impl FnOnce(&mut Limits)) -> Host<K> {
    let limits = limited(change);
    let (gate, (tell, events)) = (Gate::default(), Events::new());
    let server = rig::server::<K::Runtime>(move |event| tell.tell(event), &gate).limits(limits);
    hosted(server, gate, events)
}

fn hosted<K: Kit>(server: Server<K>, gate: Gate, events: Events) -> Host<K> {
    let server = K::wait(server.bind_http("127.0.0.1:0")).unwrap();
    let (url, stop) = (server.url(), server.stop_handle());
    let served = background::<K, _>(move || K::wait(server.serve()));
    Host { url, stop, gate, events, served, kit: std::marker::PhantomData }
}

impl<K: Kit> Host<K> {
    fn client(&self, era: EraChoice) -> Client<K> {
        K::wait(builder::<K>(era).http(&self.url)).unwrap()
    }

    /// Stops the server and waits until it has let go of everything.
    #[track_caller]
    fn end(self) {
        self.gate.open();
        self.stop.stop();
        self.served.join().unwrap();
    }
}

/// A rig with HTTP as a process of its own.
struct Remote {
    child: std::process::Child,
    url: String,
}

impl Remote {
    fn start<K: Kit>(program: &str) -> Self {
        Self::start_by::<K>(program, "exec \"$@\"")
    }

    /// Started by a shell script that finds the rig as `"$@"`.
    fn start_by<K: Kit>(program: &str, script: &str) -> Self {
        let mut command = std::process::Command::new("sh");
        command
            .args(["-c", script, "sh", program, K::NAME, "--http"])
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::null());
        let mut child = command.spawn().unwrap();
        let mut url = String::new();
        let mut output = std::io::BufReader::new(child.stdout.take().unwrap());
        std::io::BufRead::read_line(&mut output, &mut url).unwrap();
        Self { child, url: url.trim_end().to_owned() }
    }
}

impl Drop for Remote {
    fn drop(&mut self) {
        // It may have died as it should.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
