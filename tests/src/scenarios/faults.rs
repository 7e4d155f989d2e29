//! What goes wrong around a server or a client: processes that are killed, messages without measure, full disks. Nothing
//! hangs, and what fails, fails with an error that says so.

use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;

use mcp_driver::auth::{GrantStore, MemoryStore};
use mcp_driver::proto::auth::{Grant, Secret};
use mcp_driver::proto::server::{Event, EventStore, StreamId};
use mcp_driver::{BoxFuture, CallError, EraChoice, SessionId};
use serde_json::json;

use super::authorize::{protected, visiting};
use super::http::{legacy, modern, session};
use super::{ERAS, Remote, builder, call, hosted, script, spawn, text};
use crate::authorization_server::AuthorizationServer;
use crate::kit::{Client, Kit, background};
use crate::rig::{self, Census};
use crate::support::{Events, Gate, Raw, SOON, eventually, gone, within};

/// Points to cut at, near the beginning more often than far from it; the same in each run.
fn cuts(many: usize, most: u64) -> Vec<u64> {
    let mut state = 0x9E37_79B9_7F4A_7C15_u64;
    let mut next = |below: u64| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state % below
    };
    (0..many)
        .map(|_| {
            let reach = 1 + next(most);
            next(reach)
        })
        .collect()
}

/// Calls that were cut off: each has ended, with its own answer or with an error that says what happened to it.
fn end_once<K: Kit>(client: &Client<K>) {
    let calls: Vec<_> = (0..4)
        .map(|number| {
            let client = client.clone();
            let text = format!("{number} {}", "x".repeat(300));
            background::<K, _>(move || (call::<K>(&client, "echo", json!({ "text": text })), text))
        })
        .collect();
    for running in calls {
        match running.join() {
            (Ok(reply), text) => assert_eq!(reply.text(), text),
            (Err(CallError::Broken { .. } | CallError::ResponseStreamClosed), _) => {}
            (Err(error), _) => panic!("{error:?}"),
        }
    }
}

/// A server on pipes that dies after any byte of what it says: connecting fails, or each call that was under way.
pub fn a_child_that_dies_at_any_byte_hangs_nobody<K: Kit>(program: &str) {
    for (round, cut) in cuts(24, 3_000).into_iter().enumerate() {
        // `head` would keep what it passes on until it has all of it.
        let dying = format!("\"$@\" 2>/dev/null | {{ dd bs=1 count={cut} 2>/dev/null; kill -9 $$; }}");
        let dying = script::<K>(program, &dying);
        within(SOON, || {
            if let Ok((client, _)) = spawn::<K>(dying, builder::<K>(ERAS[round % 2])) {
                end_once::<K>(&client);
                K::wait(client.close()).unwrap();
            }
        });
    }
}

/// Carries bytes between a client and a server, and kills the server once it has said so many.
fn kill_after(mut remote: Remote, bytes: u64) -> (String, thread::JoinHandle<()>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/mcp", listener.local_addr().unwrap());
    let address = remote.url.strip_prefix("http://").unwrap().split('/').next().unwrap().to_owned();
    let left = Arc::new(Mutex::new(Some(bytes)));
    let carrying = thread::spawn(move || {
        let (tell, dead) = std::sync::mpsc::channel();
        let stopped = listener.try_clone().unwrap();
        thread::spawn(move || {
            for client in stopped.incoming().map_while(Result::ok) {
                let Ok(server) = TcpStream::connect(&address) else { break };
                let (mut from, mut to) = (client.try_clone().unwrap(), server.try_clone().unwrap());
                thread::spawn(move || {
                    let _ = std::io::copy(&mut from, &mut to);
                    let _ = to.shutdown(Shutdown::Write);
                });
                let (left, tell) = (left.clone(), tell.clone());
                thread::spawn(move || carry(server, client, &left, &tell));
            }
        });
        // Whoever connects from now on is turned away, as the server is.
        let _ = dead.recv();
        remote.child.kill().unwrap();
        remote.child.wait().unwrap();
    });
    (url, carrying)
}

/// Passes on what the server says, all connections together so many bytes.
fn carry(
    mut server: TcpStream,
    mut client: TcpStream,
    left: &Mutex<Option<u64>>,
    tell: &std::sync::mpsc::Sender<()>,
) {
    let mut buffer = [0; 512];
    while let Ok(count @ 1..) = server.read(&mut buffer) {
        let mut left = left.lock().unwrap();
        let Some(may) = *left else { break };
        let now = may.min(count as u64);
        let _ = client.write_all(&buffer[..now as usize]);
        *left = may.checked_sub(count as u64 + 1).map(|rest| rest + 1);
        if left.is_none() {
            let _ = tell.send(());
            break;
        }
    }
    let _ = client.shutdown(Shutdown::Both);
}

/// A server that is killed (SIGKILL) after any byte of its responses: connecting fails, or each call that was under way.
pub fn a_server_that_is_killed_at_any_byte_hangs_nobody<K: Kit>(program: &str) {
    for (round, cut) in cuts(12, 4_000).into_iter().enumerate() {
        let (url, killed) = kill_after(Remote::start::<K>(program), cut);
        within(SOON, || {
            if let Ok(client) = K::wait(builder::<K>(ERAS[round % 2]).http(&url)) {
                // Until it is dead, which it is after few calls.
                for _ in 0..8 {
                    end_once::<K>(&client);
                }
                K::wait(client.close()).unwrap();
            }
        });
        killed.join().unwrap();
    }
}

/// Closes the connection with RST, as the system of a process does that is killed with something unread.
fn reset(socket: &TcpStream) {
    rustix::net::sockopt::set_socket_linger(socket, Some(std::time::Duration::ZERO)).unwrap();
}

/// Clients over HTTP that are killed after any byte of what they say: the others are served, and nothing is left behind.
pub fn a_client_that_is_killed_at_any_byte_leaves_nothing<K: Kit>(program: &str) {
    let remote = Remote::start::<K>(program);
    let client = K::wait(builder::<K>(EraChoice::Modern).http(&remote.url)).unwrap();
    let census = || -> Census { call::<K>(&client, "census", json!({})).unwrap().structured().unwrap() };
    let address = remote.url.strip_prefix("http://").unwrap().split('/').next().unwrap().to_owned();
    let legacy_fields = session(&remote.url);
    let requests =
        [modern("steps"), modern("pid"), (legacy_fields, legacy(7, "pid"))].map(|(fields, body)| {
            format!(
                "POST /mcp HTTP/1.1\r\n{fields}Host: localhost\r\nContent-Type: application/json\r\n\
             Accept: application/json, text/event-stream\r\nContent-Length: {}\r\n\r\n{body}",
                body.len()
            )
        });
    let die = |round: usize, cut: usize| {
        let mut socket = TcpStream::connect(&address).unwrap();
        let request = &requests[round % requests.len()];
        socket.write_all(&request.as_bytes()[..cut.min(request.len())]).unwrap();
        if round.is_multiple_of(2) {
            reset(&socket);
        }
    };
    // What a runtime starts once, it keeps.
    (0..6).for_each(|round| die(round, usize::MAX));
    text::<K>(&client, "open");
    let before = census();
    for (round, cut) in cuts(90, 900).into_iter().enumerate() {
        die(round, cut as usize);
    }
    eventually(&format!("no more is held than {before:?}"), || {
        let now = census();
        if now.is_within(&before) { Ok(()) } else { Err(now) }
    });
    K::wait(client.close()).unwrap();
}

/// The rig on pipes, by hand.
fn piped<K: Kit>(program: &str) -> std::process::Child {
    let mut command = Command::new(program);
    command.args([K::NAME, "--stdio"]).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
    command.spawn().unwrap()
}

const PING: &str = r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#;

/// Clients on pipes that are killed after any byte of what they say: the server ends with them.
pub fn a_server_ends_with_its_client_at_any_byte<K: Kit>(program: &str) {
    let (_, body) = modern("wait");
    let said = format!("{body}\n{PING}\n");
    for cut in cuts(16, said.len() as u64) {
        let mut server = piped::<K>(program);
        // Both pipes close at once, as when a process is killed.
        server.stdin.take().unwrap().write_all(&said.as_bytes()[..cut as usize]).unwrap();
        drop(server.stdout.take());
        let pid = server.id();
        let waiting = background::<K, _>(move || server.wait().unwrap());
        within(SOON, || waiting.join());
        gone(pid);
    }
}

/// The most memory that a process has had, in KiB.
fn peak(pid: u32) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).unwrap();
    let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap();
    peak.trim().split(' ').next().unwrap().parse().unwrap()
}

/// A line of 64 MiB is refused, costs no more than a few messages may have, and the next line is read.
pub fn a_line_without_measure_costs_a_message<K: Kit>(program: &str) {
    let mut server = piped::<K>(program);
    let mut stdin = server.stdin.take().unwrap();
    let mut lines = BufReader::new(server.stdout.take().unwrap()).lines().map(Result::unwrap);
    let pong = r#"{"jsonrpc":"2.0","id":1,"result":{}}"#;
    within(SOON, || {
        stdin.write_all(format!("{PING}\n").as_bytes()).unwrap();
        assert_eq!(lines.next().unwrap(), pong);
    });
    let before = peak(server.id());
    let writing = thread::spawn(move || {
        let piece = [b'x'; 1 << 16];
        (0..1 << 10).for_each(|_| stdin.write_all(&piece).unwrap());
        stdin.write_all(format!("\n{PING}\n").as_bytes()).unwrap();
        stdin
    });
    within(SOON, || {
        let refusal = lines.next().unwrap();
        assert!(refusal.contains("-32600") && refusal.contains("longer than 4194304 bytes"), "{refusal}");
        assert_eq!(lines.next().unwrap(), pong);
    });
    let more = peak(server.id()) - before;
    assert!(more < 32 << 10, "{more} KiB more than before");
    drop(writing.join().unwrap());
    within(SOON, || server.wait().unwrap());
}

/// The same the other way round: before it says anything else, the server prints 64 MiB.
pub fn a_server_that_talks_without_measure_is_understood<K: Kit>(program: &str) {
    for era in ERAS {
        let talking = "head -c 67108864 /dev/zero | tr '\\0' x; echo; exec \"$@\"";
        let (client, _) = spawn::<K>(script::<K>(program, talking), builder::<K>(era)).unwrap();
        assert_eq!(call::<K>(&client, "echo", json!({ "text": "still" })).unwrap().text(), "still");
        K::wait(client.close()).unwrap();
    }
}

/// Answers to what nobody asked, 100,000 of them, from either side: the next call is answered, and nothing else is said.
pub fn unknown_responses_are_nothing<K: Kit>(program: &str) {
    let flood = |id: &str| format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},\"result\":{{}}}}\n").repeat(1_000);
    let mut server = piped::<K>(program);
    let mut stdin = server.stdin.take().unwrap();
    let writing = thread::spawn(move || {
        let flood = flood("\"ask-7\"");
        (0..100).for_each(|_| stdin.write_all(flood.as_bytes()).unwrap());
        stdin.write_all(format!("{PING}\n").as_bytes()).unwrap();
        stdin
    });
    let mut lines = BufReader::new(server.stdout.take().unwrap()).lines().map(Result::unwrap);
    within(SOON, || {
        assert_eq!(lines.next().unwrap(), r#"{"jsonrpc":"2.0","id":1,"result":{}}"#);
        drop(writing.join().unwrap());
        assert_eq!(lines.next(), None);
        server.wait().unwrap();
    });

    let flooding = "yes '{\"jsonrpc\":\"2.0\",\"id\":\"x\",\"result\":{}}' | head -n 100000; exec \"$@\"";
    let (client, _) = spawn::<K>(script::<K>(program, flooding), builder::<K>(EraChoice::Auto)).unwrap();
    assert_eq!(call::<K>(&client, "echo", json!({ "text": "still" })).unwrap().text(), "still");
    K::wait(client.close()).unwrap();
}

/// Cancellations by the thousand, of calls that run, are over or never were: each call that was cancelled ends once or not
/// at all, and the next one is answered.
pub fn a_storm_of_cancellations_passes<K: Kit>(program: &str) {
    const CALLS: usize = 500;
    let mut server = piped::<K>(program);
    let mut stdin = server.stdin.take().unwrap();
    let hello = r#"{"jsonrpc":"2.0","id":"hello","method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"raw","version":"1"}}}"#;
    let writing = thread::spawn(move || {
        stdin.write_all(format!("{hello}\n").as_bytes()).unwrap();
        for id in 0..CALLS {
            let tool = ["wait", "nap", "pid"][id % 3];
            let call = legacy(id as u32, tool).replace("\"arguments\":{}", "\"arguments\":{\"ms\":1}");
            let cancel = |id| {
                format!(
                    r#"{{"jsonrpc":"2.0","method":"notifications/cancelled","params":{{"requestId":{id}}}}}"#
                )
            };
            let storm = [cancel(id), cancel(id), cancel(id / 2), cancel(id + CALLS)].join("\n");
            stdin.write_all(format!("{call}\n{storm}\n").as_bytes()).unwrap();
        }
        stdin.write_all(format!("{PING}\n").replace("1,", "\"last\",").as_bytes()).unwrap();
        stdin
    });
    let lines = BufReader::new(server.stdout.take().unwrap()).lines().map(Result::unwrap);
    let (mut answered, mut lines) = (std::collections::BTreeSet::new(), lines);
    within(SOON, || {
        loop {
            let message: serde_json::Value = serde_json::from_str(&lines.next().unwrap()).unwrap();
            let id = message["id"].to_string();
            assert!(answered.insert(id.clone()), "{id} is answered twice");
            if id == "\"last\"" {
                break;
            }
        }
    });
    drop(writing.join().unwrap());
    within(SOON, || server.wait().unwrap());
}

/// No place is left on the disk.
fn full<T: Send + 'static>() -> BoxFuture<io::Result<T>> {
    Box::pin(async { Err(io::ErrorKind::StorageFull.into()) })
}

/// Finds what is there, and keeps nothing while it is full.
#[derive(Clone)]
struct Grants {
    store: MemoryStore,
    full: Arc<AtomicBool>,
}

impl Grants {
    fn or_full<T: Send + 'static>(
        &self,
        done: impl FnOnce() -> BoxFuture<io::Result<T>>,
    ) -> BoxFuture<io::Result<T>> {
        if self.full.load(Ordering::SeqCst) { full() } else { done() }
    }
}

impl GrantStore for Grants {
    fn load(&self, server: &str, issuer: Option<&str>) -> BoxFuture<io::Result<Option<Grant>>> {
        self.store.load(server, issuer)
    }

    fn save(&self, server: &str, grant: &Grant) -> BoxFuture<io::Result<()>> {
        self.or_full(|| self.store.save(server, grant))
    }

    fn replace(&self, server: &str, token: &Secret, grant: &Grant) -> BoxFuture<io::Result<bool>> {
        self.or_full(|| self.store.replace(server, token, grant))
    }

    fn remove(&self, server: &str, issuer: &str) -> BoxFuture<io::Result<()>> {
        self.or_full(|| self.store.remove(server, issuer))
    }
}

/// AUTH-30: a client whose grants find no place goes on with what it has, renews it, says what is wrong, and stores
/// what it has by then as soon as there is room.
pub fn a_full_disk_keeps_no_client_from_its_token<K: Kit>(_: &str) {
    let by = AuthorizationServer::start();
    let host = protected::<K>(&by);
    let (tell, events) = Events::new();
    let store = Grants { store: MemoryStore::default(), full: Arc::new(AtomicBool::new(true)) };
    let authorize = visiting(tell.clone()).store(store.clone());
    let client = builder::<K>(EraChoice::Modern).on_diagnostic(move |report| tell.tell(report.to_string()));
    let client: Client<K> = K::wait(client.authorize(authorize).http(&host.url)).unwrap();
    events.expect("a grant cannot be stored: no storage space");
    by.set(|policy| policy.good.clear());
    assert_eq!(text::<K>(&client, "who"), "ada");
    events.expect("a grant cannot be stored: no storage space");
    let stored = || K::block_on(store.load(&host.url, None)).unwrap();
    assert!(stored().is_none());
    store.full.store(false, Ordering::SeqCst);
    by.set(|policy| policy.good.clear());
    assert_eq!(text::<K>(&client, "who"), "ada");
    assert_eq!(stored().unwrap().refresh_token.unwrap().as_str(), "r-3", "the rotated one");
    store.full.store(true, Ordering::SeqCst);
    assert!(K::wait(client.sign_out()).is_err());
    host.end();
}

/// Has no place for any event.
#[derive(Debug)]
struct FullEvents;

impl EventStore for FullEvents {
    fn append(&mut self, _: &SessionId, _: &Event) {}

    fn after(&mut self, _: &SessionId, _: StreamId, _: u64) -> Option<Vec<Event>> {
        None
    }

    fn forget(&mut self, _: &SessionId) {}
}

/// Where events find no place, calls are served as ever. Who loses its connection still gets the result of a call that
/// runs, and is told that there is nothing to take up once it is over.
pub fn a_full_disk_costs_resumption_only<K: Kit>(_: &str) {
    let (gate, (tell, events)) = (Gate::default(), Events::new());
    let server = rig::server::<K::Runtime>(move |event| tell.tell(event), &gate).event_store(FullEvents);
    let host = hosted::<K>(server, gate, events);
    let fields = session(&host.url);
    let steps =
        legacy(7, "steps").replace("\"arguments\":{}", "\"arguments\":{},\"_meta\":{\"progressToken\":1}");
    let mut raw = Raw::connect(&host.url);
    raw.post(&fields, &steps);
    let id = raw.expect("id: ").trim_start_matches("id: ").trim_end().to_owned();
    raw.expect("\"progress\":1");
    drop(raw);
    let take_up = || {
        let mut raw = Raw::connect(&host.url);
        raw.bare("GET", &format!("{fields}Last-Event-ID: {id}\r\nAccept: text/event-stream\r\n"));
        raw
    };
    let mut again = take_up();
    again.expect("200 OK");
    host.gate.open();
    again.expect("\"id\":7,\"result\"");
    let refusal = take_up().answer();
    assert!((400..500).contains(&refusal.status), "{refusal:?}");
    let client = host.client(EraChoice::Legacy);
    assert_eq!(text::<K>(&client, "pid"), std::process::id().to_string());
    K::wait(client.close()).unwrap();
    host.end();
}

/// Descriptors that are taken until none are left.
pub struct Exhausted {
    _taken: Vec<std::fs::File>,
}

impl Exhausted {
    /// Takes all that there are.
    pub fn take() -> Self {
        let taken = std::iter::from_fn(|| std::fs::File::open("/dev/null").ok()).take(100_000);
        Self { _taken: taken.collect() }
    }
}

/// A client in a process without descriptors says so, at once, goes on with the connection that it has, and is whole again
/// when there are some.
pub fn a_client_out_of_descriptors_says_so<K: Kit>(program: &str) {
    let remote = Remote::start::<K>(program);
    let mut command = Command::new("sh");
    command.args(["-c", "ulimit -n 64; exec \"$@\"", "sh", program, K::NAME, "--starved", &remote.url]);
    let output = background::<K, _>(move || command.stdin(Stdio::null()).output().unwrap()).join();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}
