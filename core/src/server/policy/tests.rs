//! Which hosts and origins are let in, and what may be said of them.

use alloc::vec::Vec;

use super::names::{admit_host, admit_origin};
use super::*;
use crate::head::Headers;

fn admit_peer(policy: &HttpPolicy, headers: &Headers) -> Result<(), Foreign> {
    admit_host(policy, headers).and_then(|()| admit_origin(policy, headers))
}

fn head(fields: &[(&str, &str)]) -> Headers {
    fields.iter().fold(Headers::new(), |headers, (name, value)| headers.with(name, value))
}

fn admits(host: &str, origin: Option<&str>) -> bool {
    let headers = head(&[("Host", host)]);
    let headers = origin.into_iter().fold(headers, |headers, origin| headers.with("Origin", origin));
    admit_peer(&HttpPolicy::default(), &headers).is_ok()
}

/// B42, HTTP-02
#[test]
fn loopback_names_are_admitted_in_any_case_and_with_any_port() {
    for host in ["localhost:8080", "LOCALHOST", "127.0.0.1:1", "127.8.8.8", "[::1]:8080", "[::1]"] {
        assert!(admits(host, None), "{host}");
    }
}

/// B42
#[test]
fn names_that_only_look_like_loopback_are_refused() {
    let hosts = [
        "localhost.evil.example",
        "evil.example",
        "127.0.0.1.evil.example",
        "[::2]",
        "localhost:80@evil",
        "",
        ":80",
        "[::1",
        "[::1]evil",
        "127.0.0.1/evil",
        "1270.0.1",
    ];
    for host in hosts {
        assert!(!admits(host, None), "{host}");
    }
}

/// HTTP-03, B42
#[test]
fn foreign_origins_are_refused_and_none_passes() {
    assert!(admits("localhost", None));
    for origin in ["http://localhost:3000", "https://127.0.0.1", "http://[::1]:1"] {
        assert!(admits("localhost", Some(origin)), "{origin}");
    }
    for origin in
        ["https://evil.example", "null", "", "localhost", "http://localhost.evil.example", "file://"]
    {
        assert!(!admits("localhost", Some(origin)), "{origin}");
    }
}

/// B42
#[test]
fn a_second_host_or_a_bad_second_origin_is_refused() {
    let policy = HttpPolicy::default();
    assert!(admit_peer(&policy, &head(&[("host", "localhost"), ("Host", "evil")])).is_err());
    let origins = head(&[("host", "localhost"), ("origin", "http://localhost"), ("origin", "http://evil")]);
    assert!(admit_peer(&policy, &origins).err().unwrap().refusal.contains("http://evil"));
    assert!(admit_peer(&policy, &head(&[])).err().unwrap().refusal.contains("missing"));
}

/// SEC-27
#[test]
fn added_names_and_origins_are_admitted_and_no_others() {
    let policy = HttpPolicy::default()
        .allow_host("API.example")
        .allow_host("b.example:81")
        .allow_origin("https://app.example");
    for (host, origin, expected) in [
        ("api.example:443", "https://api.example", true),
        ("b.example:81", "http://b.example:81", true),
        ("b.example:82", "http://b.example:81", false),
        ("api.example", "https://app.example", true),
        ("api.example", "http://app.example", false),
        ("app.example", "https://app.example", false),
    ] {
        let headers = head(&[("host", host), ("origin", origin)]);
        assert_eq!(admit_peer(&policy, &headers).is_ok(), expected, "{host} {origin}");
    }
}

/// SEC-27: a value that no request would ever hold lets nobody in, so it is found before anybody wonders.
#[test]
fn what_is_no_host_or_origin_is_refused_with_the_right_form() {
    for (host, hint) in [
        ("", "empty"),
        ("http://mcp.example.com", "`mcp.example.com`"),
        ("https://MCP.example.com:8443/mcp", "`mcp.example.com:8443`"),
        ("mcp.example.com/", "`mcp.example.com`"),
        ("*.example.com", "`Hosts::Any`"),
        ("m\u{fc}nchen.example", "`xn--`"),
        ("::1", "`[::1]`"),
        ("[::1", "mcp.example.com:8000"),
        ("[example]", "mcp.example.com:8000"),
        ("a.example:65536", "mcp.example.com:8000"),
        ("a.example:", "mcp.example.com:8000"),
        ("a b.example", "mcp.example.com:8000"),
    ] {
        let policy = HttpPolicy::default().allow_host(host);
        let message = policy.check().unwrap_err().message;
        assert!(message.starts_with("`allow_host`: ") && message.contains(hint), "{host}: {message}");
    }
    for (origin, hint) in [
        ("", "empty"),
        ("foo", "`https://foo`"),
        ("https://app.example/", "`https://app.example`"),
        ("https://app.example/page?x", "`https://app.example`"),
        ("https://app.example:443", "`https://app.example`"),
        ("http://app.example:80/", "`http://app.example`"),
        ("https://*.app.example", "`Origins::Any`"),
        ("null", "`Origins::Any`"),
        ("https://", "such as"),
        ("https://user@app.example", "such as"),
        ("1x://app.example", "such as"),
    ] {
        let policy = HttpPolicy::default().allow_origin(origin);
        let message = policy.check().unwrap_err().message;
        assert!(message.starts_with("`allow_origin`: ") && message.contains(hint), "{origin}: {message}");
    }
    let hosts =
        ["mcp.example.com", "MCP.example.com:8000", "192.168.1.2", "[2001:db8::1]:80", "under_score.lan."];
    let origins =
        ["https://app.example", "http://localhost:3000", "https://app.example:80", "vscode-webview://1a2b"];
    let policy = hosts.iter().fold(HttpPolicy::default(), |policy, host| policy.allow_host(*host));
    let policy = origins.iter().fold(policy, |policy, origin| policy.allow_origin(*origin));
    assert_eq!(policy.check(), Ok(()));
    assert_eq!(HttpPolicy::default().hosts(Hosts::Any).origins(Origins::Any).check(), Ok(()));
}

/// SEC-27: whoever can let a host or an origin in is told how; of what is neither, nobody can.
#[test]
fn a_refusal_is_short_escaped_and_says_which_setting_helps() {
    let policy = HttpPolicy::default();
    let refused = |fields: &[(&str, &str)]| admit_peer(&policy, &head(fields)).err().unwrap();
    let told = |foreign: Foreign| foreign.advice.unwrap().detail;
    let host = refused(&[("host", "0.0.0.0:8000")]);
    assert_eq!(host.refusal, "the `Host` `0.0.0.0:8000` is not allowed here");
    assert!(told(host).contains(r#"`Server::allow_host("0.0.0.0:8000")`"#));
    let origin = refused(&[("host", "localhost"), ("origin", "https://App.example")]);
    assert!(told(origin).contains(r#"`Server::allow_origin("https://App.example")`"#));
    for fields in [
        [("host", "localhost:80@evil"), ("origin", "null")],
        [("host", "localhost"), ("origin", "null")],
        [("host", "localhost"), ("origin", "https://a.example/")],
        [("host", "\u{202e}"), ("origin", "")],
    ] {
        let foreign = refused(&fields);
        assert!(foreign.advice.is_none() && foreign.refusal.is_ascii(), "{}", foreign.refusal);
    }
    let long: Vec<Foreign> =
        ["x", "\u{202e}"].iter().map(|char| refused(&[("host", &char.repeat(4000))])).collect();
    assert!(long.iter().all(|foreign| foreign.refusal.len() < 800));
    assert!(told(long.into_iter().next().unwrap()).len() < 400);
}
