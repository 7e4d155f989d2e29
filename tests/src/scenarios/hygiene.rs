//! What HTTP demands of a server besides the protocol, by raw clients.

use std::time::Duration;

use mcp_driver::Cors;

use super::http::modern;
use super::{Host, host, hosted};
use crate::kit::Kit;
use crate::rig;
use crate::support::{Answer, Events, Gate, Raw, eventually};

const PAGE: &str = "https://app.example";

/// A head with these fields besides the usual ones, and this body.
fn ask(url: &str, method: &str, target: &str, fields: &str, body: &str) -> Answer {
    let mut raw = Raw::connect(url);
    raw.write(&format!("{method} {target} HTTP/1.1\r\nHost: localhost\r\n{fields}\r\n{body}"));
    raw.answer()
}

/// B32, B33, B40, HTTP-01, HTTP-25, HTTP-30, HTTPL-28, SEC-26: what is not admitted is refused with the status for it.
pub fn requests_that_are_not_admitted_are_told_why<K: Kit>(_: &str) {
    let host = host::<K>(|limits| limits.message = 1_000);
    let (mcp, body) = modern("pid");
    let json = "Content-Type: application/json\r\n";
    let both = "Accept: application/json, text/event-stream\r\n";
    let length = format!("Content-Length: {}\r\n", body.len());
    let chunk = format!("{:x}\r\n{}\r\n", 600, "x".repeat(600));
    for (method, target, fields, body, status, field) in [
        (
            "POST",
            "/mcp",
            format!("{mcp}{json}{both}{length}"),
            &*body,
            200,
            ("Content-Type", "application/json"),
        ),
        ("POST", "/mcp?x=1", format!("{mcp}{json}{both}{length}"), &*body, 200, ("", "")),
        ("POST", "/other", format!("{mcp}{json}{both}{length}"), &*body, 404, ("", "")),
        ("PUT", "/mcp", format!("{mcp}{json}{both}{length}"), &*body, 405, ("Allow", "POST, GET, DELETE")),
        ("OPTIONS", "/mcp", String::new(), "", 405, ("Allow", "POST, GET, DELETE")),
        ("OPTIONS", "*", String::new(), "", 404, ("", "")),
        ("POST", "/mcp", format!("{mcp}{both}{length}"), &*body, 415, ("Accept", "application/json")),
        (
            "POST",
            "/mcp",
            format!("{mcp}{json}{both}Content-Encoding: br\r\n{length}"),
            &*body,
            415,
            ("Accept-Encoding", "identity"),
        ),
        ("POST", "/mcp", format!("{mcp}{json}Accept: text/html, */*;q=0\r\n{length}"), &*body, 406, ("", "")),
        (
            "POST",
            "/mcp",
            format!("{mcp}{json}Accept: text/*;q=0.5, application/json;q=0.1\r\n{length}"),
            &*body,
            200,
            ("", ""),
        ),
        ("POST", "/mcp", format!("{mcp}{json}{both}Content-Length: 1001\r\n"), "", 413, ("", "")),
        (
            "POST",
            "/mcp",
            format!("{mcp}{json}{both}Transfer-Encoding: chunked\r\n"),
            &*chunk.repeat(2),
            413,
            ("", ""),
        ),
        (
            "POST",
            "/mcp",
            format!("{mcp}{json}{both}Expect: tea\r\n{length}"),
            "",
            417,
            ("Connection", "close"),
        ),
        ("POST", "/mcp", format!("X: {}\r\n", "x".repeat(70_000)), "", 431, ("Connection", "close")),
    ] {
        let answer = ask(&host.url, method, target, &fields, body);
        assert_eq!(answer.status, status, "{method} {target} {fields} {answer:?}");
        let (name, value) = field;
        assert!(name.is_empty() || answer.header(name) == Some(value), "{method} {answer:?}");
        let date = answer.header("Date").unwrap_or_default();
        assert!(date.len() == 29 && date.ends_with(" GMT"), "{answer:?}");
        let told = if matches!(status, 417 | 431) { "" } else { r#"{"jsonrpc":"2.0","# };
        assert!(answer.body.starts_with(told), "{answer:?}");
    }
    host.end();
}

/// A HEAD has no body, and the connection goes on behind it; a body that is announced is asked for.
pub fn connections_stay_in_step<K: Kit>(_: &str) {
    let host = host::<K>(|_| {});
    let (fields, body) = modern("pid");
    let mut raw = Raw::connect(&host.url);
    raw.write("HEAD /mcp HTTP/1.1\r\nHost: localhost\r\n\r\n");
    raw.expect("HTTP/1.1 405 ");
    raw.expect("Allow: POST, GET, DELETE");
    raw.expect("Content-Length: ");
    raw.skip_line();
    raw.post(&fields, &body);
    assert_eq!(raw.answer().status, 200);
    raw.write(&format!(
        "POST /mcp HTTP/1.1\r\nHost: localhost\r\n{fields}Content-Type: application/json\r\nExpect: 100-continue\r\nContent-Length: {}\r\n\r\n",
        body.len()
    ));
    raw.expect("HTTP/1.1 100 Continue");
    raw.skip_line();
    raw.write(&body);
    assert_eq!(raw.answer().status, 200);
    host.end();
}

/// SSE-01: neither a cache nor a proxy may hold events back.
pub fn event_streams_are_not_held_back<K: Kit>(_: &str) {
    let host = host::<K>(|_| {});
    let (fields, body) = modern("steps");
    let mut raw = Raw::connect(&host.url);
    raw.post(&fields, &body);
    raw.expect("Content-Type: text/event-stream");
    raw.expect("Cache-Control: no-cache");
    raw.expect("X-Accel-Buffering: no");
    host.end();
}

/// A body that always makes a little progress is cut off all the same.
pub fn a_body_that_drips_is_cut_off<K: Kit>(_: &str) {
    let host = host::<K>(|limits| limits.body_time = Duration::from_millis(200));
    let (fields, _) = modern("pid");
    let mut raw = Raw::connect(&host.url);
    raw.write(&format!(
        "POST /mcp HTTP/1.1\r\nHost: localhost\r\n{fields}Content-Type: application/json\r\nContent-Length: 100000\r\n\r\n"
    ));
    let (_quit, quits) = std::sync::mpsc::channel::<()>();
    let mut drips = 0;
    while raw.try_write("x").is_ok() && drips < 1_000 {
        drips += 1;
        let _ = quits.recv_timeout(Duration::from_millis(20));
        if raw.has_answer() {
            break;
        }
    }
    assert!(drips < 1_000, "it goes on for ever");
    assert_eq!(raw.answer().status, 408);
    host.end();
}

/// B44: pages of origins that are let in may send what the protocol needs and read every answer; others, and all
/// where it is not asked for, may not.
pub fn pages_of_other_origins_are_let_in_where_that_is_asked_for<K: Kit>(_: &str) {
    let server = |cors: bool| -> Host<K> {
        let server = rig::server::<K::Runtime>(|_| {}, &Gate::default()).allow_origin(PAGE);
        let server = if cors { server.cors(Cors::new().request_header("X-Tenant")) } else { server };
        hosted(server, Gate::default(), Events::new().1)
    };
    let (on, off) = (server(true), server(false));
    let asking = |origin: &str| {
        format!(
            "Origin: {origin}\r\nAccess-Control-Request-Method: POST\r\nAccess-Control-Request-Headers: authorization, content-type, mcp-name, mcp-param-region, x-tenant, x-other\r\n"
        )
    };
    let answer = ask(&on.url, "OPTIONS", "/mcp", &asking(PAGE), "");
    assert_eq!((answer.status, answer.header("Access-Control-Allow-Origin")), (204, Some(PAGE)));
    let allowed = "authorization, content-type, mcp-name, mcp-param-region, x-tenant";
    assert_eq!(answer.header("Access-Control-Allow-Headers"), Some(allowed));
    assert_eq!(answer.header("Access-Control-Allow-Methods"), Some("POST, GET, DELETE"));
    assert_eq!(ask(&on.url, "OPTIONS", "/mcp", &asking("https://evil.example"), "").status, 403);
    assert_eq!(ask(&off.url, "OPTIONS", "/mcp", &asking(PAGE), "").status, 405);

    let (fields, body) = modern("pid");
    for (host, body, status, origin) in
        [(&on, &*body, 200, Some(PAGE)), (&on, "{", 400, Some(PAGE)), (&off, &*body, 200, None)]
    {
        let mut raw = Raw::connect(&host.url);
        raw.post(&format!("Origin: {PAGE}\r\n{fields}"), body);
        let answer = raw.answer();
        assert_eq!(
            (answer.status, answer.header("Access-Control-Allow-Origin")),
            (status, origin),
            "{answer:?}"
        );
    }
    on.end();
    off.end();
}

/// As many jobs of blocking handlers run or wait as is allowed; a further one is answered at once, and no more.
pub fn jobs_of_blocking_handlers_are_bounded<K: Kit>(_: &str) {
    let host = host::<K>(|limits| (limits.blocking_threads, limits.blocking_jobs) = (1, 1));
    let mut raws: Vec<_> = (0..6).map(|_| Raw::connect(&host.url)).collect();
    let (fields, body) = modern("block");
    raws.iter_mut().for_each(|raw| raw.post(&fields, &body));
    host.events.expect("block started");
    eventually("four are refused", || {
        let answered: Vec<_> = raws.iter_mut().filter_map(|raw| raw.has_answer().then_some(())).collect();
        if answered.len() >= 4 { Ok(()) } else { Err(answered.len()) }
    });
    host.gate.open();
    let answers = raws.iter_mut().map(|raw| raw.answer().body);
    assert_eq!(answers.filter(|body| body.contains("-32603")).count(), 4);
    host.end();
}
