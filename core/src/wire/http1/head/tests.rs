//! Heads: vectors that are refused, and those that have to pass.

use super::*;
use crate::head::{RequestHead, ResponseHead};
use std::format;
use std::string::String;
use std::vec::Vec;

fn find(bytes: &[u8], limit: usize) -> (usize, Found) {
    HeadBuffer::default().feed(bytes, limit)
}

/// The status that a request head is refused with, or 0.
fn refused(bytes: &str) -> u16 {
    let mut buffer = HeadBuffer::default();
    let (_, found) = buffer.feed(bytes.as_bytes(), 1 << 16);
    match found {
        Found::Complete => match parse_request(buffer.bytes().to_vec(), buffer.fields(), 128) {
            Ok(_) => 0,
            Err(fault) => fault.status,
        },
        Found::More => 1,
        Found::Fault(fault) => fault.status,
    }
}

fn response_fault(bytes: &str) -> Option<u16> {
    let mut buffer = HeadBuffer::default();
    let (_, found) = buffer.feed(bytes.as_bytes(), 1 << 16);
    assert_eq!(found, Found::Complete, "{bytes:?}");
    parse_response(buffer.bytes().to_vec(), buffer.fields(), 128).err().map(|fault| fault.status)
}

fn with(field: &str) -> String {
    format!("POST /mcp HTTP/1.1\r\nHost: a\r\n{field}\r\n\r\n")
}

#[test]
fn a_head_of_the_limit_passes_and_one_byte_more_does_not() {
    let head = with("A: b");
    assert_eq!(find(head.as_bytes(), head.len()), (head.len(), Found::Complete));
    assert!(matches!(find(head.as_bytes(), head.len() - 1), (_, Found::Fault(Fault { status: 431, .. }))));
    // Bytes behind the head do not count.
    let more = format!("{head}body");
    assert_eq!(find(more.as_bytes(), head.len()), (head.len(), Found::Complete));
}

#[test]
fn as_many_fields_as_the_limit_pass_and_one_more_does_not() {
    let fields: String = (0..40).map(|i| format!("X-{i}: 1\r\n")).collect();
    let head = format!("GET / HTTP/1.1\r\nHost: a\r\n{fields}\r\n");
    let mut buffer = HeadBuffer::default();
    assert_eq!(buffer.feed(head.as_bytes(), 1 << 16).1, Found::Complete);
    assert_eq!(buffer.fields(), 41);
    assert_eq!(parse_request(buffer.bytes().to_vec(), 41, 41).unwrap().head.headers.len(), 41);
    assert_eq!(parse_request(buffer.bytes().to_vec(), 41, 40).unwrap_err().status, 431);
}

#[test]
fn lines_end_with_crlf_only() {
    assert_eq!(refused("GET / HTTP/1.1\nHost: a\n\n"), 400);
    assert_eq!(refused("GET / HTTP/1.1\r\nHost: a\n\r\n"), 400);
    assert_eq!(refused("GET / HTTP/1.1\r\nHost: a\r\n\n"), 400);
    assert_eq!(refused(&with("A: b\rc")), 400);
}

#[test]
fn two_blank_lines_may_precede_a_head() {
    assert_eq!(refused(&format!("\r\n\r\n{}", with("A: b"))), 0);
    assert_eq!(refused(&format!("\r\n\r\n\r\n{}", with("A: b"))), 400);
}

#[test]
fn what_is_not_http_is_refused_at_its_first_byte() {
    assert_eq!(refused("\x16\x03\x01"), 400);
    assert_eq!(refused("{\"jsonrpc\""), 400);
    assert_eq!(refused("\r\n{"), 400);
}

#[test]
fn other_versions_are_refused() {
    assert_eq!(refused("PRI * HTTP/2.0\r\n\r\n"), 505);
    assert_eq!(refused("GET / HTTP/1.2\r\nHost: a\r\n\r\n"), 505);
    assert_eq!(refused("GET /\r\n\r\n"), 400);
}

#[test]
fn fields_that_readers_disagree_about_are_refused() {
    for field in ["A : b", " A: b", "A: b\r\n c", "A: b\r\n\tc", "A\tB: c", ": b", "A", "A: b\0", "A: \x07"] {
        assert_eq!(refused(&with(field)), 400, "{field:?}");
    }
    assert_eq!(refused("GET  / HTTP/1.1\r\nHost: a\r\n\r\n"), 400);
    assert_eq!(refused(&with("A: \t b \t")), 0);
    assert_eq!(refused(&with("A:")), 0);
}

#[test]
fn ambiguous_lengths_are_refused() {
    let cases: &[(&str, u16)] = &[
        ("Content-Length: 5\r\nContent-Length: 6", 400),
        ("Content-Length: 5, 6", 400),
        ("Content-Length: 5\r\nContent-Length: 5", 0),
        ("Content-Length: 5, 5", 0),
        ("Content-Length: +5", 400),
        ("Content-Length: -1", 400),
        ("Content-Length: 0x5", 400),
        ("Content-Length: 5 5", 400),
        ("Content-Length: 5,", 400),
        ("Content-Length:", 400),
        ("Content-Length: 18446744073709551615", 0),
        ("Content-Length: 18446744073709551616", 400),
        ("Content-Length: 5\r\nTransfer-Encoding: chunked", 400),
        ("Transfer-Encoding: chunked\r\ncontent-length: 0", 400),
        ("Transfer-Encoding: CHUNKED", 0),
        ("Transfer-Encoding: gzip", 501),
        ("Transfer-Encoding: identity", 501),
        ("Transfer-Encoding: gzip, chunked", 501),
        ("Transfer-Encoding: gzip\r\nTransfer-Encoding: chunked", 501),
        ("Transfer-Encoding: chunked, gzip", 400),
        ("Transfer-Encoding: chunked, chunked", 400),
        ("Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked", 400),
        ("Transfer-Encoding: chunked,", 400),
        ("Transfer-Encoding:", 400),
        ("Transfer-Encoding: xchunked", 501),
        ("Transfer-Encoding: \"chunked\"", 501),
        ("Transfer-Encoding: \u{b}chunked", 400),
    ];
    for (field, status) in cases {
        assert_eq!(refused(&with(field)), *status, "{field:?}");
        if *status != 501 {
            let response = response_fault(&format!("HTTP/1.1 200 OK\r\n{field}\r\n\r\n"));
            assert_eq!(response.is_some(), *status != 0, "{field:?}");
        }
    }
    assert_eq!(refused("POST / HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n"), 400);
}

#[test]
fn there_is_one_host() {
    assert_eq!(refused("GET / HTTP/1.1\r\n\r\n"), 400);
    assert_eq!(refused("GET / HTTP/1.0\r\n\r\n"), 0);
    assert_eq!(refused(&with("Host: a")), 400);
    assert_eq!(refused(&with("host: b")), 400);
}

#[test]
fn the_authority_of_an_absolute_target_stands_in_for_host() {
    let parse = |target: &str, host: &str| {
        let bytes = format!("GET {target} HTTP/1.1\r\n{host}\r\n");
        parse_request(bytes.clone().into_bytes(), 1, 9).map(|request| {
            let host = request.head.headers.all("host").map(<[u8]>::to_vec).collect::<Vec<_>>();
            (request.head.target, host)
        })
    };
    let host = |host: &str| std::vec![host.as_bytes().to_vec()];
    assert_eq!(parse("http://x:8/mcp?q", "Host: y\r\n"), Ok(("/mcp?q".into(), host("x:8"))));
    assert_eq!(parse("HTTPS://x", "A: y\r\n"), Ok(("/".into(), host("x"))));
    assert_eq!(parse("http://x?q", "Host: x\r\n"), Ok(("/?q".into(), host("x"))));
    for target in ["http://", "http:///mcp", "http://a@b/", "ftp://x/", "mcp", "*", "x:80"] {
        assert_eq!(parse(target, "Host: y\r\n").unwrap_err().status, 400, "{target}");
    }
    assert_eq!(refused("OPTIONS * HTTP/1.1\r\nHost: a\r\n\r\n"), 0);
    assert_eq!(refused("CONNECT a:443 HTTP/1.1\r\nHost: a\r\n\r\n"), 400);
}

#[test]
fn a_target_has_no_fragment() {
    for target in ["/#", "/mcp#a", "/mcp?q#a", "http://x/#", "http://x#a"] {
        assert_eq!(refused(&format!("POST {target} HTTP/1.1\r\nHost: x\r\n\r\n")), 400, "{target}");
    }
}

#[test]
fn persistence_follows_version_and_connection_field() {
    let cases: &[(&str, &str, bool)] = &[
        ("1.1", "", true),
        ("1.1", "Connection: close\r\n", false),
        ("1.1", "Connection: x, Close\r\n", false),
        ("1.1", "Connection: x\r\nConnection: close\r\n", false),
        ("1.1", "Connection: enclose\r\n", true),
        ("1.0", "", false),
        ("1.0", "Connection: Keep-Alive\r\n", true),
        ("1.0", "Connection: keep-alive, close\r\n", false),
    ];
    for (version, field, persists) in cases {
        let bytes = format!("GET / HTTP/{version}\r\nHost: a\r\n{field}\r\n");
        let request = parse_request(bytes.clone().into_bytes(), 3, 9).unwrap();
        assert_eq!(request.persists, *persists, "{version} {field:?}");
    }
}

#[test]
fn status_lines_that_are_not_are_refused() {
    for line in ["HTTP/1.1 99 x", "HTTP/1.1 099 x", "HTTP/1.1 20 OK", "HTTP/1.1 2000 OK", "HTTP/2.0 200 OK"] {
        assert!(response_fault(&format!("{line}\r\n\r\n")).is_some(), "{line}");
    }
    assert_eq!(response_fault("HTTP/1.1 200\r\n\r\n"), None);
    assert_eq!(response_fault("HTTP/1.1 200 \r\n\r\n"), None);
}

#[test]
fn a_response_leaves_out_what_could_break_or_contradict_its_framing() {
    let mut head = ResponseHead::new(200);
    for (name, value) in [
        ("A", "1\r\nX: y"),
        ("A b", "2"),
        ("", "3"),
        ("B", "4\0"),
        ("Content-Length", "99"),
        ("transfer-encoding", "chunked"),
        ("Connection", "upgrade"),
        ("Keep-Alive", "x"),
        ("C", "ok\t\u{e4}"),
    ] {
        head.headers.push(name, value);
    }
    let mut out = Vec::new();
    write_response(
        &mut out,
        &head,
        Framing::Length(1_204),
        Persistence::KeepAlive,
        &mut Dated::default(),
        crate::time::Duration::ZERO,
    );
    let text = "HTTP/1.1 200 OK\r\nC: ok\t\u{e4}\r\nContent-Length: 1204\r\nConnection: keep-alive\r\n\r\n";
    assert_eq!(String::from_utf8(out).unwrap(), text);
}

#[test]
fn a_request_with_unsafe_bytes_is_not_written_at_all() {
    let safe = || {
        let mut head = RequestHead::new("POST", "/mcp");
        head.headers.push("Host", "a");
        head
    };
    let mut heads = std::vec![safe(), safe(), safe(), safe(), safe(), safe(), RequestHead::new("GET", "/")];
    heads[0].headers.push("Mcp-Name", "a\r\nX: y");
    heads[1].headers.push("X: y\r\nZ", "a");
    heads[2].target = "/a b".into();
    heads[3].target = "/a\r\n".into();
    heads[4].method = "GET /".into();
    heads[5].headers.push("host", "b");
    for head in heads {
        let mut out = Vec::new();
        assert!(write_request(&mut out, &head, Framing::Undeclared, false).is_err(), "{head:?}");
        assert!(out.is_empty());
    }
    assert_eq!(write_request(&mut Vec::new(), &safe(), Framing::Undeclared, false), Ok(()));
}
