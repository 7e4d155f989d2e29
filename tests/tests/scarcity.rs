//! Runtimes that have no place for more work, and one on which a server is stopped at the worst moment.

use std::io;
use std::net::SocketAddr;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use mcp_blocking::{Listener, Stream, Threads};
use mcp_driver::{
    Blocking, BoxFuture, CallError, Calls, Client, Command, Endpoint, EraChoice, Instant, Job, Now, Process,
    Runtime, Server, Stdio, Stop, block_on,
};
use mcp_tests::kit::{Kit, OnBlocking, background};
use mcp_tests::rig;
use mcp_tests::support::{DEADLINE, Events, Gate, Raw, SOON, within};
use serde_json::json;

/// Threads, until there are no more.
#[derive(Clone, Debug, Default)]
struct Scarce {
    threads: Threads,
    exhausted: Arc<AtomicBool>,
    /// Stopped as soon as a connection is accepted.
    stops: Arc<Mutex<Option<Stop>>>,
}

impl Scarce {
    fn is_exhausted(&self) -> bool {
        self.exhausted.load(Ordering::SeqCst)
    }
}

impl Runtime for Scarce {
    type Mode = Blocking;
    type Stream = Stream;
    type Listener = Listener;

    fn now(&self) -> Now {
        self.threads.now()
    }

    fn spawn(&self, task: BoxFuture<()>) {
        if !self.is_exhausted() {
            self.threads.spawn(task);
        }
    }

    fn spawn_blocking(&self, job: Job) -> Result<(), Job> {
        if self.is_exhausted() { Err(job) } else { self.threads.spawn_blocking(job) }
    }

    fn sleep_until(&self, deadline: Instant) -> BoxFuture<()> {
        self.threads.sleep_until(deadline)
    }

    fn connect(&self, address: SocketAddr, patience: Duration) -> BoxFuture<io::Result<Stream>> {
        self.threads.connect(address, patience)
    }

    fn listen(&self, address: String) -> BoxFuture<io::Result<Listener>> {
        self.threads.listen(address)
    }

    fn local_address(&self, listener: &Listener) -> io::Result<SocketAddr> {
        self.threads.local_address(listener)
    }

    fn accept(&self, listener: Listener) -> BoxFuture<(Listener, io::Result<Stream>)> {
        let (accepted, stops) = (self.threads.accept(listener), self.stops.clone());
        Box::pin(async move {
            let accepted = accepted.await;
            let stop = stops.lock().unwrap().take();
            stop.inspect(Stop::stop);
            accepted
        })
    }

    fn stdio(&self, stdio: Stdio) -> io::Result<Stream> {
        self.threads.stdio(stdio)
    }

    fn spawn_process(&self, command: &Command) -> io::Result<Process<Self>> {
        let process = self.threads.spawn_process(command)?;
        Ok(Process::new(process.stream, process.stderr, process.exit, process.id))
    }

    fn drive(&self, stream: Stream, endpoint: Arc<dyn Endpoint>) -> BoxFuture<()> {
        self.threads.drive(stream, endpoint)
    }
}

fn server(runtime: &Scarce) -> (Server<Scarce>, Events) {
    let (tell, events) = Events::new();
    let server = rig::server(move |event| tell.tell(event), &Gate::default()).runtime(runtime.clone());
    (server, events)
}

/// A handler for which there is no thread or task is answered as an internal error, at once, and the server
/// goes on.
#[test]
fn a_handler_without_a_place_is_answered() {
    let (ours, theirs) = {
        let threads = Threads::default();
        let listener = block_on(threads.listen("127.0.0.1:0".into())).unwrap();
        let address = threads.local_address(&listener).unwrap();
        let ours =
            background::<OnBlocking, _>(move || block_on(Threads::default().connect(address, DEADLINE)));
        (ours, block_on(threads.accept(listener)).1.unwrap())
    };
    let runtime = Scarce::default();
    let (server, events) = server(&runtime);
    let served = background::<OnBlocking, _>(move || server.serve_stream(theirs));
    let client = Client::<Threads>::builder("scarcity", "1").stream(ours.join().unwrap()).unwrap();
    runtime.exhausted.store(true, Ordering::SeqCst);
    for tool in ["wait", "block"] {
        match client.call_tool(tool, json!({})) {
            Err(CallError::Server { error, .. }) => assert_eq!(error.code, -32603),
            other => panic!("{other:?}"),
        }
    }
    events.expect("wait cancelled");
    events.expect("the pool of blocking threads has no place");
    assert_eq!(client.call_tool("echo", json!({ "text": "x" })).unwrap().text(), "x");
    client.close().unwrap();
    served.join().unwrap();
}

/// A connection that finds no place is dropped, and is not waited for when the server stops.
#[test]
fn a_connection_without_a_place_is_dropped() {
    let runtime = Scarce::default();
    let (server, _) = server(&runtime);
    let server = server.bind_http("127.0.0.1:0").unwrap();
    let (url, stop) = (server.url(), server.stop_handle());
    let served = background::<OnBlocking, _>(move || server.serve());
    runtime.exhausted.store(true, Ordering::SeqCst);
    assert!(OnBlocking::wait(Client::<Threads>::builder("scarcity", "1").http(&url)).is_err());
    stop.stop();
    served.join().unwrap();
}

/// A client that finds no place for its connection says so at once.
#[test]
fn a_client_without_a_place_fails_at_once() {
    let runtime = Scarce::default();
    let (server, _) = server(&Scarce::default());
    let server = server.bind_http("127.0.0.1:0").unwrap();
    let (url, stop) = (server.url(), server.stop_handle());
    let served = background::<OnBlocking, _>(move || server.serve());
    runtime.exhausted.store(true, Ordering::SeqCst);
    let error = within(SOON, || {
        let builder = Client::<Scarce>::builder("scarcity", "1").runtime(runtime).era(EraChoice::Modern);
        builder.http(&url).unwrap_err().to_string()
    });
    assert!(error.contains("given up"), "{error}");
    stop.stop();
    served.join().unwrap();
}

/// HTTPL-60: a server that is stopped while it takes a connection closes those behind it as well, although a call goes on.
#[test]
fn nobody_waits_for_a_server_that_was_stopped_while_it_accepted() {
    let (runtime, gate) = (Scarce::default(), Gate::default());
    let (tell, events) = Events::new();
    let server = rig::server(move |event| tell.tell(event), &gate).runtime(runtime.clone());
    let server = server.bind_http("127.0.0.1:0").unwrap();
    let (url, stop) = (server.url(), server.stop_handle());
    let served = background::<OnBlocking, _>(move || server.serve());
    let client = Client::<Scarce>::builder("scarcity", "1").runtime(runtime.clone()).era(EraChoice::Modern);
    let client = client.http(&url).unwrap();
    let running = background::<OnBlocking, _>(move || client.call_tool("wait", json!({})));
    events.expect("wait started");
    *runtime.stops.lock().unwrap() = Some(stop);
    assert!(Raw::connect(&url).is_closed());
    // Refused, or closed without a word.
    assert!(Raw::try_connect(&url).map_or(true, |mut late| late.is_closed()));
    assert!(served.peek().is_none(), "a call is still running");
    gate.open();
    assert_eq!(running.join().unwrap().text(), "waited");
    served.join().unwrap();
}
