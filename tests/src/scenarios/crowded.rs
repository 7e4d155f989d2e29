//! Servers on HTTP all of whose threads for blocking handlers are taken, and what must not wait for them.

use std::sync::Arc;
use std::time::Duration;

use mcp_driver::{AuthRefusal, BearerToken, Context, Grant, Principal, ResourceServer, Runtime, Tool};

use super::asks::{ALL, Nothing, server};
use super::http::{legacy, modern, session, session_with};
use super::{host, hosted, limited};
use crate::kit::{Kit, Server};
use crate::support::{Events, Gate, OpenOnDrop, Raw, SOON, within};

const SHORT: Duration = Duration::from_millis(80);

/// P02: handlers that wait for clients which never answer are told when their time is over, however many there are:
/// those that have a thread, and those that get one then.
pub fn questions_end_in_time_however_many_wait<K: Kit>(_: &str) {
    let limits = limited(|limits| (limits.blocking_threads, limits.ask) = (2, SHORT));
    let host = hosted::<K>(
        server(&Arc::default()).on_error(|_| {}).limits(limits),
        Gate::default(),
        Events::new().1,
    );
    let fields = session_with(&host.url, ALL);
    let calls: Vec<_> = (0..5)
        .map(|id| {
            let mut raw = Raw::connect(&host.url);
            raw.post(&fields, &legacy(id, "book_blocking"));
            raw
        })
        .collect();
    for mut call in calls {
        within(SOON, || call.expect("the client did not answer within 80ms"));
    }
    host.end();
}

/// P02: connections keep their times, and streams their comments.
pub fn time_passes_however_many_handlers_block<K: Kit>(_: &str) {
    let host = host::<K>(|limits| {
        (limits.blocking_threads, limits.head_time, limits.keep_alive_comment) = (1, SHORT, SHORT);
    });
    let fields = session(&host.url);
    let mut block = Raw::connect(&host.url);
    block.post(&fields, &legacy(7, "block"));
    host.events.expect("block started");
    let mut waits = Raw::connect(&host.url);
    waits.post(&fields, &legacy(8, "block"));

    let mut slow = Raw::connect(&host.url);
    slow.write("POST /mcp HTTP/1.1\r\nHost: localh");
    within(SOON, || assert_eq!(slow.status(), 408));
    let mut stream = Raw::connect(&host.url);
    stream.bare("GET", &format!("{fields}Accept: text/event-stream\r\n"));
    for _ in 0..2 {
        within(SOON, || while stream.expect(": \n") != ": \n" {});
    }
    host.gate.open();
    for mut raw in [block, waits] {
        raw.expect("unblocked");
    }
    host.end();
}

/// SEC-10: whoever holds a token is recognised, also by a function that blocks.
pub fn tokens_are_checked_however_many_handlers_block<K: Kit>(_: &str) {
    let (gate, (tell, events)) = (Gate::default(), Events::new());
    let blocks = gate.clone();
    let protected =
        ResourceServer::new("https://rig.example/mcp").authorization_server("https://auth.example");
    let server = Server::<K>::new("crowded", "1")
        .limits(limited(|limits| limits.blocking_threads = 1))
        .tool(Tool::new("block"), move |_: Nothing, _: Context| {
            tell.tell("block started");
            blocks.block();
            Ok("unblocked")
        })
        .tool(Tool::new("who"), async |_: Nothing, cx: Context| {
            Ok(cx.principal().map(|principal| principal.subject.clone()))
        })
        .resource_server(protected, |token: BearerToken| {
            let principal = Principal::new(token.as_str());
            Ok::<_, AuthRefusal>(Grant::new(principal).audience("https://rig.example/mcp"))
        });
    let host = hosted::<K>(server, gate, events);
    let post = |tool: &str| {
        let mut raw = Raw::connect(&host.url);
        let (fields, body) = modern(tool);
        raw.post(&format!("Authorization: Bearer ada\r\n{fields}"), &body);
        raw
    };
    let mut block = [post("block"), post("block")];
    host.events.expect("block started");
    within(SOON, || assert!(post("who").answer().body.contains("ada")));
    host.gate.open();
    for raw in &mut block {
        assert!(raw.answer().body.contains("unblocked"));
    }
    host.end();
}

/// Limits::blocking_threads: what may block finds a thread however many handlers of other servers and clients have one,
/// also where the runtime itself has only so many.
pub fn threads_are_there_however_many_servers_block<K: Kit>(_: &str) {
    // More in all than the runtime of tests on tokio has of its own.
    const SERVERS: usize = 3;
    const HANDLERS: usize = 40;
    let (gate, (tell, events)) = (Gate::default(), Events::new());
    let _open = OpenOnDrop(gate.clone());
    let others = [(); SERVERS].map(|()| K::Runtime::default());
    for runtime in &others {
        for _ in 0..HANDLERS {
            let blocked = gate.clone();
            runtime.spawn_blocking(Box::new(move || blocked.block())).ok().expect("a thread");
        }
    }
    K::Runtime::default().spawn_blocking(Box::new(move || tell.tell("there is one"))).ok().unwrap();
    events.expect("there is one");
}
