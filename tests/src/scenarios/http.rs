//! What is HTTP's own: connections, sessions, checks, and peers that misbehave.

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::Duration;

use mcp_driver::{CallError, EraChoice};
use serde_json::json;

use super::{ERAS, Host, Remote, builder, call, calling, host, hosted, text};
use crate::kit::{Kit, background};
use crate::rig::Census;
use crate::support::{Events, Gate, Port, Raw, SOON, eventually, within};

const MODERN: &str = "MCP-Protocol-Version: 2026-07-28\r\nMcp-Method: tools/call\r\n";

pub(super) fn modern(tool: &str) -> (String, String) {
    let meta = r#""_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{},"progressToken":1}"#;
    let body = format!(
        r#"{{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{{{meta},"name":"{tool}","arguments":{{}}}}}}"#
    );
    (format!("{MODERN}Mcp-Name: {tool}\r\n"), body)
}

/// A legacy session by hand: the fields that name it.
pub(super) fn session(url: &str) -> String {
    session_with(url, "{}")
}

/// The same of a client that can do this.
pub(super) fn session_with(url: &str, capabilities: &str) -> String {
    let mut raw = Raw::connect(url);
    raw.post("", &r#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"raw","version":"1"}}}"#.replace("{}", capabilities));
    let answer = raw.answer();
    let id = answer.header("Mcp-Session-Id").unwrap_or_else(|| panic!("{answer:?}"));
    let fields = format!("MCP-Protocol-Version: 2025-11-25\r\nMcp-Session-Id: {id}\r\n");
    raw.post(&fields, r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#);
    assert_eq!(raw.answer().status, 202);
    fields
}

pub(super) fn legacy(id: u32, tool: &str) -> String {
    format!(
        r#"{{"jsonrpc":"2.0","id":{id},"method":"tools/call","params":{{"name":"{tool}","arguments":{{}}}}}}"#
    )
}

/// B41, HTTP-21: closing the response cancels a modern request (HTTP-20), and leaves a legacy one alone (HTTPL-23),
/// whether anything of the response was sent or not.
pub fn a_disconnect_cancels_a_modern_call_only<K: Kit>(_: &str) {
    let host = host::<K>(|_| {});
    let mut raw = Raw::connect(&host.url);
    let (fields, body) = modern("wait");
    raw.post(&fields, &body);
    host.events.expect("wait started");
    drop(raw);
    host.events.expect("wait cancelled");

    let mut raw = Raw::connect(&host.url);
    let (fields, body) = modern("steps");
    raw.post(&fields, &body);
    raw.expect("progress");
    drop(raw);
    host.events.expect("steps cancelled");

    let fields = session(&host.url);
    let mut raw = Raw::connect(&host.url);
    raw.post(&fields, &legacy(2, "wait"));
    host.events.expect("wait started");
    drop(raw);
    // Once the server has seen that, in another request's order, the handler still runs.
    let mut raw = Raw::connect(&host.url);
    raw.post(&fields, &legacy(3, "open"));
    assert!(raw.answer().body.contains("opened"));
    host.events.expect("wait finished");
    assert!(!host.events.others().contains(&"wait cancelled".to_owned()));
    host.end();
}

/// A proxy that counts connections.
fn counting(url: &str) -> (String, Arc<AtomicUsize>) {
    let target = url.strip_prefix("http://").unwrap().split('/').next().unwrap().to_owned();
    let (listener, count) = (TcpListener::bind("127.0.0.1:0").unwrap(), Arc::new(AtomicUsize::new(0)));
    let (address, counted) = (listener.local_addr().unwrap(), count.clone());
    thread::spawn(move || {
        for inbound in listener.incoming().map_while(Result::ok) {
            counted.fetch_add(1, Ordering::SeqCst);
            let outbound = TcpStream::connect(&target).unwrap();
            let ways = [(&inbound, &outbound), (&outbound, &inbound)];
            for (from, to) in ways.map(|(from, to)| (from.try_clone().unwrap(), to.try_clone().unwrap())) {
                thread::spawn(move || {
                    let (mut from, mut to) = (from, to);
                    let _ = std::io::copy(&mut from, &mut to);
                    let _ = to.shutdown(std::net::Shutdown::Write);
                });
            }
        }
    });
    (format!("http://{address}/mcp"), count)
}

/// One connection carries one call after the other.
pub fn connections_are_used_again<K: Kit>(_: &str) {
    let host = host::<K>(|_| {});
    for era in ERAS {
        let (url, count) = counting(&host.url);
        let client = K::wait(builder::<K>(era).http(&url)).unwrap();
        for _ in 0..20 {
            assert_eq!(call::<K>(&client, "echo", json!({ "text": "x" })).unwrap().text(), "x");
        }
        K::wait(client.close()).unwrap();
        assert_eq!(count.load(Ordering::SeqCst), 1);
    }
    host.end();
}

/// HTTP-05: whoever listens on every interface, and has not said under which name, is told that nobody gets in.
pub fn a_server_on_every_interface_needs_a_name<K: Kit>(_: &str) {
    for (address, allowed, told) in [
        ("0.0.0.0:0", false, true),
        ("[::]:0", false, true),
        ("0.0.0.0:0", true, false),
        ("127.0.0.1:0", false, false),
    ] {
        let (tell, events) = Events::new();
        let mut server = mcp_driver::Server::<K::Runtime>::new("open", "1")
            .on_error(move |report| tell.tell(report.to_string()));
        if allowed {
            server = server.allow_host("mcp.example");
        }
        drop(K::wait(server.bind_http(address)).unwrap());
        let events = events.others();
        assert_eq!(events.iter().any(|event| event.contains("allow_host")), told, "{address} {events:?}");
    }
}

/// HTTPL-60: stopping closes what is idle at once and lets what runs come to its end; then serving is over, and nobody
/// listens any more.
pub fn stopping_lets_calls_finish<K: Kit>(_: &str) {
    for era in ERAS {
        let host = host::<K>(|_| {});
        let (client, mut idle) = (host.client(era), Raw::connect(&host.url));
        let running = calling::<K>(&client, "wait");
        host.events.expect("wait started");
        host.stop.stop();
        assert!(idle.is_closed());
        assert!(host.served.peek().is_none(), "a call is still running");
        host.gate.open();
        assert_eq!(running.join().unwrap().text(), "waited");
        within(SOON, || host.served.join().unwrap());
        let address = host.url.strip_prefix("http://").unwrap().strip_suffix("/mcp").unwrap();
        assert!(TcpStream::connect(address).is_err());
    }
}

/// Stop handles, servers and clients may be stopped, closed and dropped in any order and repeatedly.
pub fn stopping_and_closing_in_any_order_is_harmless<K: Kit>(_: &str) {
    let unserved = crate::rig::server::<K::Runtime>(|_| {}, &Default::default());
    let unserved = K::wait(unserved.bind_http("127.0.0.1:0")).unwrap();
    let (url, stop) = (unserved.url(), unserved.stop_handle());
    stop.stop();
    stop.stop();
    K::wait(unserved.serve()).unwrap();
    assert!(K::wait(builder::<K>(EraChoice::Auto).http(&url)).is_err());

    let dropped = crate::rig::server::<K::Runtime>(|_| {}, &Default::default());
    let dropped = K::wait(dropped.bind_http("127.0.0.1:0")).unwrap();
    let (url, stop) = (dropped.url(), dropped.stop_handle());
    drop(dropped);
    stop.stop();
    assert!(K::wait(builder::<K>(EraChoice::Auto).http(&url)).is_err());

    for era in ERAS {
        let host = host::<K>(|_| {});
        let client = host.client(era);
        host.stop.stop();
        host.stop.stop();
        host.served.join().unwrap();
        assert!(matches!(call::<K>(&client, "echo", json!({ "text": "" })), Err(CallError::Broken { .. })));
        K::wait(client.close()).unwrap();
        K::wait(client.close()).unwrap();
        host.stop.stop();
    }
}

/// HTTPL-51: closing a client ends its session: there is room for another at once.
pub fn closing_ends_the_session<K: Kit>(_: &str) {
    let host = host::<K>(|limits| limits.sessions = 1);
    for _ in 0..3 {
        let client = host.client(EraChoice::Legacy);
        assert!(K::wait(builder::<K>(EraChoice::Legacy).http(&host.url)).is_err());
        K::wait(client.close()).unwrap();
    }
    host.end();
}

/// So does dropping it.
pub fn dropping_the_client_ends_the_session<K: Kit>(_: &str) {
    let host = host::<K>(|limits| limits.sessions = 1);
    drop(host.client(EraChoice::Legacy));
    let client =
        eventually("the session has ended", || K::wait(builder::<K>(EraChoice::Legacy).http(&host.url)));
    drop(client);
    host.end();
}

/// B42, HTTP-02, HTTP-03: only loopback hosts and origins are served.
pub fn foreign_hosts_and_origins_are_refused<K: Kit>(_: &str) {
    let host = host::<K>(|_| {});
    let cases = [
        ("Host: localhost\r\n", 200),
        ("Host: 127.0.0.1:1234\r\nOrigin: http://localhost:5173\r\n", 200),
        ("Host: evil.example\r\n", 403),
        ("Host: localhost.evil.example\r\n", 403),
        ("Host: localhost\r\nOrigin: https://evil.example\r\n", 403),
        ("Host: localhost\r\nOrigin: null\r\n", 403),
    ];
    for (fields, status) in cases {
        let mut raw = Raw::connect(&host.url);
        let (more, body) = modern("pid");
        raw.post(&format!("{fields}{more}"), &body);
        let answer = raw.answer();
        assert_eq!(answer.status, status, "{fields}{answer:?}");
    }
    let mut raw = Raw::connect(&host.url);
    raw.write("POST /mcp HTTP/1.1\r\nContent-Length: 0\r\n\r\n");
    assert_eq!(raw.answer().status, 400);
    host.end();
}

/// SEC-27: whoever runs the server hears once of each host that was refused, and of so many hosts.
pub fn a_refused_host_is_told_once<K: Kit>(_: &str) {
    let (tell, events) = Events::new();
    let server = mcp_driver::Server::<K::Runtime>::new("open", "1")
        .on_error(move |report| tell.tell(report.to_string()));
    let host: Host<K> = hosted(server, Gate::default(), Events::new().1);
    for number in 0..20 {
        for _ in 0..2 {
            let mut raw = Raw::connect(&host.url);
            let (more, body) = modern("pid");
            raw.post(&format!("Host: h{number}.example\r\n{more}"), &body);
            assert_eq!(raw.answer().status, 403);
        }
    }
    let told = events.others();
    let named = |number| {
        told.iter().filter(|event| event.contains(&format!("allow_host(\"h{number}.example\")"))).count()
    };
    assert_eq!((0..20).map(named).collect::<Vec<_>>(), [[1; 16].as_slice(), &[0; 4]].concat(), "{told:?}");
    host.end();
}

/// SEC-27, HTTP-05: what is no host, no origin or no address is the error that serving ends with at once.
pub fn wrong_hosts_origins_and_addresses_serve_nothing<K: Kit>(_: &str) {
    let server = || mcp_driver::Server::<K::Runtime>::new("open", "1");
    let local = "127.0.0.1:0";
    for (server, address, told) in [
        (server().allow_host("http://mcp.example"), local, "`mcp.example`"),
        (server().allow_origin("https://app.example/"), local, "`https://app.example`"),
        (server().configure(|config| config.http.hosts.allow("")), local, "empty"),
        (server(), "8000", "HOST:PORT"),
        (server(), ":8000", "HOST:PORT"),
        (server(), "http://localhost:8000/mcp", "HOST:PORT"),
    ] {
        let error = K::wait(server.bind_http(address)).unwrap_err().to_string();
        assert!(error.contains(told), "{error}");
    }
}

/// What a server refuses is told in its own words and with the URL that was asked, and is no want of authorization.
pub fn a_refusal_is_told_in_the_words_of_the_server<K: Kit>(_: &str) {
    let host = host::<K>(|_| {});
    let refused = |url: &str, era| {
        let error = K::wait(builder::<K>(era).http(url)).unwrap_err().to_string();
        assert!(error.contains(url) && !error.contains("authorization"), "{error}");
        error
    };
    for era in [EraChoice::Auto, EraChoice::Legacy] {
        // Every interface of this host, under a name that nobody has allowed.
        let error = refused(&host.url.replace("127.0.0.1", "0.0.0.0"), era);
        assert!(error.contains("not allowed here") && error.contains("HTTP status 403"), "{error}");
        let error = refused(&host.url.replace("/mcp", "/elsewhere"), era);
        assert!(error.contains("no MCP endpoint") && error.contains("HTTP status 404"), "{error}");
    }
    host.end();
}

/// A head or body that does not come to its end in time is answered 408, and the connection is closed.
pub fn slow_heads_and_bodies_time_out<K: Kit>(_: &str) {
    let short = Duration::from_millis(80);
    let host = host::<K>(|limits| (limits.head_time, limits.stall) = (short, short));
    let mut head = Raw::connect(&host.url);
    head.write("POST /mcp HTTP/1.1\r\nHost: localh");
    let mut body = Raw::connect(&host.url);
    let (fields, _) = modern("pid");
    body.write(&format!(
        "POST /mcp HTTP/1.1\r\nHost: localhost\r\n{fields}Content-Type: application/json\r\n\
         Accept: application/json, text/event-stream\r\nContent-Length: 100\r\n\r\n{{"
    ));
    for mut raw in [head, body] {
        assert_eq!(raw.answer().status, 408);
        assert!(raw.is_closed());
    }
    host.end();
}

/// As many connections are open as allowed; the next one is served when one of them ends.
pub fn connections_are_bounded<K: Kit>(_: &str) {
    let host = host::<K>(|limits| limits.accepted = 1);
    let (mut first, mut second) = (Raw::connect(&host.url), Raw::connect(&host.url));
    let (fields, body) = modern("pid");
    first.post(&fields, &body);
    assert_eq!(first.answer().status, 200);
    let (waits, wait) = modern("wait");
    second.post(&waits, &wait);
    for _ in 0..3 {
        first.post(&fields, &body);
        assert_eq!(first.answer().status, 200);
    }
    assert!(host.events.others().is_empty());
    drop(first);
    host.events.expect("wait started");
    drop(second);
    host.events.expect("wait cancelled");
    host.end();
}

/// Connections on which nothing is said, or nothing is read, end by themselves.
pub fn silent_and_deaf_peers_are_let_go<K: Kit>(_: &str) {
    let short = Duration::from_millis(80);
    let host = host::<K>(|limits| (limits.keep_alive, limits.stall) = (short, short));
    assert!(Raw::connect(&host.url).is_closed());

    // More than sockets hold: the peer asks, and never reads what it is told.
    let mut deaf = Raw::connect(&host.url);
    let text = "x".repeat(3 << 20);
    let (fields, body) = modern("echo");
    let body = body.replace(r#""arguments":{}"#, &format!(r#""arguments":{{"text":"{text}"}}"#));
    for _ in 0..4 {
        // Fails when the server has lost its patience already.
        let _ = deaf.try_post(&fields, &body);
    }
    // The server is done with all connections only when it is with this one, which nobody closes here.
    host.stop.stop();
    host.served.join().unwrap();
    drop(deaf);
}

/// A server that is not there is named.
pub fn a_missing_server_is_named<K: Kit>(_: &str) {
    let free = Port::hold();
    for era in [EraChoice::Auto, EraChoice::Modern, EraChoice::Legacy] {
        let error = within(SOON, || K::wait(builder::<K>(era).http(free.url())).unwrap_err().to_string());
        let port = free.address.port().to_string();
        assert!(error.contains("127.0.0.1") && error.contains(&port), "{error}");
    }
}

/// When the server dies, calls under way fail at once, and later ones do not wait.
pub fn calls_fail_at_once_when_the_server_dies<K: Kit>(program: &str) {
    for era in ERAS {
        let remote = Remote::start::<K>(program);
        let client = K::wait(builder::<K>(era).http(&remote.url)).unwrap();
        let meeting = {
            let client = client.clone();
            background::<K, _>(move || call::<K>(&client, "meet", json!({ "of": 2 })))
        };
        within(SOON, || {
            assert!(call::<K>(&client, "die", json!({ "code": 3 })).is_err());
            assert!(meeting.join().is_err());
            assert!(call::<K>(&client, "echo", json!({ "text": "" })).is_err());
            K::wait(client.close()).unwrap();
        });
    }
}

/// A server may answer before it has read the request, and close: the answer counts, not the failed write.
pub fn an_early_answer_is_heard<K: Kit>(_: &str) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/mcp", listener.local_addr().unwrap());
    let served = thread::spawn(move || {
        for socket in listener.incoming().map_while(Result::ok) {
            let mut socket = socket;
            let mut head = [0; 512];
            let _ = socket.read(&mut head);
            let _ = socket.write_all(b"HTTP/1.1 413 Content Too Large\r\nContent-Length: 0\r\n\r\n");
            // What is left unread makes the system reset the connection.
        }
    });
    let client = K::wait(builder::<K>(EraChoice::Legacy).http(&url));
    assert!(client.is_err());
    drop(served);
    let error = client.unwrap_err().to_string();
    assert!(error.contains("413"), "{error}");
}

/// Connections leave neither threads nor descriptors behind, however they end.
pub fn connections_leave_nothing_behind<K: Kit>(program: &str) {
    let remote = Remote::start::<K>(program);
    let client = K::wait(builder::<K>(EraChoice::Modern).http(&remote.url)).unwrap();
    let census = || -> Census { call::<K>(&client, "census", json!({})).unwrap().structured().unwrap() };
    // What a runtime starts once, it keeps.
    for tool in ["pid", "linger"] {
        let mut raw = Raw::connect(&remote.url);
        let (fields, body) = modern(tool);
        raw.post(&fields, &body);
        if tool == "pid" {
            assert_eq!(raw.answer().status, 200);
        }
    }
    text::<K>(&client, "open");
    let before = census();
    for round in 0..60 {
        let mut raw = Raw::connect(&remote.url);
        let (fields, body) = modern("pid");
        match round % 4 {
            0 => {}
            1 => raw.write("POST /mcp HTTP/1.1\r\nHost"),
            2 => raw.post(&fields, &body),
            _ => {
                raw.post(&fields, &body);
                assert_eq!(raw.answer().status, 200);
            }
        }
    }
    eventually(&format!("no more is held than {before:?}"), || {
        let now = census();
        if now.is_within(&before) { Ok(()) } else { Err(now) }
    });
    K::wait(client.close()).unwrap();
}

/// Descriptors are what a server runs out of first.
pub fn a_connection_takes_one_descriptor<K: Kit>(program: &str) {
    let remote = Remote::start::<K>(program);
    let client = K::wait(builder::<K>(EraChoice::Modern).http(&remote.url)).unwrap();
    let descriptors = || {
        let census: Census = call::<K>(&client, "census", json!({})).unwrap().structured().unwrap();
        census.descriptors.iter().filter(|descriptor| descriptor.starts_with("socket:")).count()
    };
    let before = descriptors();
    let open = [(); 8].map(|()| {
        let mut raw = Raw::connect(&remote.url);
        let (fields, body) = modern("pid");
        raw.post(&fields, &body);
        assert_eq!(raw.answer().status, 200);
        raw
    });
    assert_eq!(descriptors(), before + open.len());
    K::wait(client.close()).unwrap();
}

/// Clients leave neither threads nor descriptors behind, closed or dropped.
pub fn clients_leave_nothing_behind<K: Kit>(program: &str) {
    let remote = Remote::start::<K>(program);
    let mut command = Command::new(program);
    command.args([K::NAME, "--clients", &remote.url]).stdin(Stdio::null());
    let output = background::<K, _>(move || command.output().unwrap()).join();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}
