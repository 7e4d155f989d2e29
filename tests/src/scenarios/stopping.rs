//! Servers on HTTP that stop, and what becomes of what is under way.

use std::time::Duration;

use mcp_driver::{Calls, EraChoice, Limits};

use super::http::{legacy, modern, session};
use super::{ERAS, Host, Remote, calling, host, hosted};
use crate::kit::{Kit, background};
use crate::rig;
use crate::support::{Events, Gate, Raw, SOON, eventually, within};

const SHORT: Duration = Duration::from_millis(80);

/// What outlives the patience of a server that stops is cancelled and answered, in either era, whether its handler
/// can be stopped or not; then serving is over.
pub fn what_runs_too_long_is_given_up<K: Kit>(_: &str) {
    // A comment would begin the response.
    let host = host::<K>(|limits| limits.keep_alive_comment = Duration::from_secs(600));
    let session = session(&host.url);
    let requests = [
        modern("wait"),
        modern("block"),
        (session.clone(), legacy(7, "wait")),
        (session, legacy(8, "linger")),
    ];
    let raws = requests.map(|(fields, body)| {
        let mut raw = Raw::connect(&host.url);
        raw.post(&fields, &body);
        host.events.expect("started");
        raw
    });
    host.stop.drain(SHORT);
    for mut raw in raws {
        let answer = raw.answer();
        assert_eq!(answer.status, 503, "{answer:?}");
        assert!(answer.body.contains("-32603") && answer.body.contains("\"id\":"), "{answer:?}");
        assert!(raw.is_closed());
    }
    within(SOON, || host.served.join().unwrap());
    // A handler that blocks for good cannot be told.
    for _ in 0..3 {
        host.events.expect("cancelled");
    }
    host.gate.open();
}

/// A stream ends with an error for its request as the last event.
pub fn a_stream_ends_with_its_result<K: Kit>(_: &str) {
    let host = host::<K>(|_| {});
    let (fields, body) = modern("steps");
    let mut raw = Raw::connect(&host.url);
    raw.post(&fields, &body);
    raw.expect("\"progress\":1");
    host.stop.stop();
    // Waiting can be cut short.
    host.stop.drain(SHORT);
    raw.expect("-32603");
    within(SOON, || host.served.join().unwrap());
}

/// `Limits::shutdown` is how long is waited when nothing else is said.
pub fn stopping_is_bounded_by_itself<K: Kit>(_: &str) {
    for era in ERAS {
        let host = host::<K>(|limits| limits.shutdown = SHORT);
        let client = host.client(era);
        let running = calling::<K>(&client, "wait");
        host.events.expect("wait started");
        within(SOON, || {
            host.stop.stop();
            host.served.join().unwrap();
            assert!(running.join().is_err());
        });
        K::wait(client.close()).unwrap();
    }
}

/// Peers that do not read, or never come to the end of a request, are not waited for.
pub fn stopping_does_not_wait_for_dead_peers<K: Kit>(_: &str) {
    let patient = |limits: &mut Limits| {
        let long = Duration::from_secs(600);
        (limits.stall, limits.head_time, limits.keep_alive) = (long, long, long);
    };
    let host: Host<K> = host(patient);
    let mut deaf = Raw::connect(&host.url);
    let text = "x".repeat(3 << 20);
    let (fields, body) = modern("echo");
    let body = body.replace(r#""arguments":{}"#, &format!(r#""arguments":{{"text":"{text}"}}"#));
    let mut slow = [Raw::connect(&host.url), Raw::connect(&host.url)];
    slow[0].write("POST /mcp HTTP/1.1\r\nHost: localh");
    slow[1].write("POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Length: 9\r\nContent-Type: application/json\r\n\r\n{");
    // More than sockets hold, so that the server is in the middle of an answer.
    let writing = std::thread::spawn(move || {
        for _ in 0..4 {
            if deaf.try_post(&fields, &body).is_err() {
                break;
            }
        }
        deaf
    });
    // Others are served meanwhile.
    let client = host.client(EraChoice::Modern);
    assert!(!K::wait(client.list_tools()).unwrap().is_empty());
    K::wait(client.close()).unwrap();
    host.stop.drain(SHORT);
    within(SOON, || host.served.join().unwrap());
    drop((writing, slow));
}

/// `Limits::accepted`: a connection whose client has left makes room for another, also where its handler blocks and does
/// not hear of that.
pub fn a_connection_that_is_gone_has_no_place<K: Kit>(_: &str) {
    let host: Host<K> = host(|limits| limits.accepted = 1);
    let (fields, body) = modern("block");
    let mut raw = Raw::connect(&host.url);
    raw.post(&fields, &body);
    host.events.expect("started");
    drop(raw);
    let mut next = Raw::connect(&host.url);
    let (fields, body) = modern("pid");
    next.post(&fields, &body);
    assert_eq!(next.answer().status, 200);
    host.gate.open();
    host.end();
}

/// Running out of descriptors ends nothing: who is connected is served, and the others as soon as there is room.
pub fn a_server_out_of_descriptors_recovers<K: Kit>(program: &str) {
    let remote = Remote::start_by::<K>(program, "ulimit -n 32; exec \"$@\"");
    let (fields, body) = modern("pid");
    let mut first = Raw::connect(&remote.url);
    first.post(&fields, &body);
    assert_eq!(first.answer().status, 200);
    let crowd: Vec<_> = (0..40).map(|_| Raw::connect(&remote.url)).collect();
    for _ in 0..3 {
        first.post(&fields, &body);
        assert_eq!(first.answer().status, 200);
    }
    drop(crowd);
    within(SOON, || {
        eventually("there is room again", || {
            let mut raw = Raw::connect(&remote.url);
            raw.post(&fields, &body);
            if raw.answer().status == 200 { Ok(()) } else { Err(()) }
        });
    });
}

/// A legacy call whose client has left, with its own connection.
fn leave_behind<K: Kit>(host: &Host<K>, fields: &str, id: u32, tool: &str) {
    let mut raw = Raw::connect(&host.url);
    raw.post(fields, &legacy(id, tool));
    host.events.expect(&format!("{tool} started"));
}

/// HTTPL-23: a server that stops waits for calls that go on without a connection like for all others.
pub fn calls_without_a_connection_may_finish<K: Kit>(_: &str) {
    let (gate, (tell, events)) = (Gate::default(), Events::new());
    let over = tell.clone();
    let server = rig::server::<K::Runtime>(move |event| tell.tell(event), &gate);
    let mut host = hosted::<K>(server, gate, events);
    leave_behind(&host, &session(&host.url), 7, "wait");
    let mut idle = Raw::connect(&host.url);
    let (fields, body) = modern("pid");
    idle.post(&fields, &body);
    idle.answer();
    host.stop.stop();
    let served = host.served;
    host.served = background::<K, _>(move || {
        let served = served.join();
        over.tell("over");
        served
    });
    // What is not waited for has ended.
    assert!(idle.is_closed());
    host.gate.open();
    // In this order: what is passed over by the first is not there for the second.
    host.events.expect("wait finished");
    host.events.expect("over");
    within(SOON, || host.served.join().unwrap());
}

/// And gives them up when it waits no longer, whether anybody can stop them or not.
pub fn calls_without_a_connection_are_given_up<K: Kit>(_: &str) {
    let host = host::<K>(|_| {});
    let fields = session(&host.url);
    for (id, tool) in (7..).zip(["wait", "linger", "block"]) {
        leave_behind(&host, &fields, id, tool);
    }
    host.stop.drain(SHORT);
    host.events.expect("cancelled");
    host.events.expect("cancelled");
    within(SOON, || host.served.join().unwrap());
    host.gate.open();
}

/// HTTPL-23, `Limits::unattended`: so many calls go on without a connection, whose handler is async or not, and a
/// further one is cancelled; when one is over there is room again.
pub fn calls_without_a_connection_are_bounded<K: Kit>(_: &str) {
    let host = host::<K>(|limits| limits.unattended = 2);
    let fields = session(&host.url);
    for (id, tool) in (7..).zip(["wait", "wait", "wait"]) {
        leave_behind(&host, &fields, id, tool);
    }
    host.events.expect("wait cancelled");
    host.gate.open();
    host.events.expect("wait finished");
    host.events.expect("wait finished");
    for (id, tool) in (17..).zip(["linger", "linger"]) {
        leave_behind(&host, &fields, id, tool);
    }
    leave_behind(&host, &fields, 27, "linger");
    host.events.expect("linger cancelled");
    host.stop.drain(SHORT);
    host.events.expect("linger cancelled");
    host.events.expect("linger cancelled");
    within(SOON, || host.served.join().unwrap());
}
