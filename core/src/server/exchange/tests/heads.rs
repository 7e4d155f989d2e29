use super::*;

/// HTTP-02, HTTP-03, HTTP-04, B42: judged before anything else.
#[test]
fn foreign_hosts_and_origins_are_refused_whatever_is_asked() {
    let mut web = Web::new(config());
    for method in ["POST", "GET", "DELETE", "OPTIONS", "BREW"] {
        for fields in [
            [("Host", Some("evil.example.com"))],
            [("Origin", Some("https://evil.example"))],
            [("Origin", Some("null"))],
            [("Host", None)],
        ] {
            let mut trip = web.ask(with(head(method), &fields), "");
            assert_eq!(answered(&trip), (403, -32600), "{method} {fields:?}");
            assert!(trip.body.starts_with(r#"{"jsonrpc":"2.0","error""#), "no id: {}", trip.body);
            web.drive(&mut trip);
            assert!(trip.ended);
        }
    }
    let fields = [("Host", Some("evil.example")), ("Origin", Some("https://evil.example"))];
    let open = HttpPolicy::default().hosts(Hosts::Any).origins(Origins::Any);
    let mut web = Web::new(config().http(open));
    assert_eq!(web.ask(with(call_head(), &fields), &modern_call("")).calls.len(), 1);
}

/// SEC-27: people on this side are told which setting lets a host or an origin in that was refused.
#[test]
fn a_refused_host_or_origin_is_told_with_the_setting_that_lets_it_in() {
    let told = |field: &str, value: &str| {
        let head = with(call_head(), &[(field, Some(value))]);
        let mut exchange = Exchange::new(now(), ExchangeId::new(1), Arc::new(config()), head);
        let mut told = Vec::new();
        while let Some(output) = exchange.poll_output() {
            if let ExchangeOutput::Diagnostic(diagnostic) = output
                && diagnostic.once
            {
                assert_eq!(diagnostic.blame, crate::diagnostic::Blame::Ours);
                told.push(diagnostic.detail);
            }
        }
        told.join("; ")
    };
    assert!(told("Host", "mcp.example").contains(r#"`Server::allow_host("mcp.example")`"#));
    let origin = told("Origin", "https://app.example");
    assert!(origin.contains(r#"`Server::allow_origin("https://app.example")`"#));
    assert_eq!(told("Host", "localhost"), "");
}

/// A browser that opens the URL, and a client that was given another one, are told where they are.
#[test]
fn who_asks_for_something_else_is_told_where_the_endpoint_is() {
    let mut web = Web::new(config());
    let page = web.ask(with(head("GET"), &[("Accept", Some("text/html, */*;q=0.8"))]), "");
    assert_eq!(page.status(), 400);
    assert!(page.body.contains("this is an MCP endpoint: POST"), "{}", page.body);
    let mut elsewhere = call_head();
    elsewhere.target = "/".into();
    let elsewhere = web.ask(elsewhere, &modern_call(""));
    assert!(elsewhere.body.contains("it is at `/mcp`"), "{}", elsewhere.body);
}

/// HTTP-01
#[test]
fn other_paths_are_not_found_unless_the_server_is_mounted() {
    let mut elsewhere = call_head();
    elsewhere.target = "/other?x=/mcp".into();
    assert_eq!(Web::new(config()).ask(elsewhere.clone(), &modern_call("")).status(), 404);
    let mounted = config().http(HttpPolicy::default().path(None));
    assert_eq!(Web::new(mounted).ask(elsewhere, &modern_call("")).calls.len(), 1);
    let mut query = call_head();
    query.target = "/mcp?x=1".into();
    assert_eq!(Web::new(config()).ask(query, &modern_call("")).calls.len(), 1);
}

/// HTTP-25, HTTPL-28, B44 (no preflight is answered unless that is asked for)
#[test]
fn other_methods_are_told_which_ones_there_are() {
    let no_streams = || HttpPolicy::default().session_streams(false);
    for (revisions, http, allow) in [
        (Revisions::default(), HttpPolicy::default(), "POST, GET, DELETE"),
        (Revisions::default(), no_streams(), "POST, DELETE"),
        (Revisions::era(Era::Modern), HttpPolicy::default(), "POST"),
    ] {
        let mut web = Web::new(config().revisions(revisions).http(http));
        let methods = ["OPTIONS", "PUT", "GET"];
        for method in &methods[..if allow.contains("GET") { 2 } else { 3 }] {
            let trip = web.ask(head(method), "");
            assert_eq!((trip.status(), trip.field("allow")), (405, allow));
        }
    }
    let mut web = Web::new(config().revisions(Revisions::era(Era::Modern)));
    assert_eq!(web.ask(head("DELETE"), "").status(), 405);
}

/// B32, B33, B40 (what is compressed is not taken for JSON)
#[test]
fn content_type_and_accept_are_demanded() {
    let mut web = Web::new(config());
    let list = modern("1", "tools/list", "");
    for (field, value, status) in [
        ("content-type", Some("text/plain; a=application/json"), 415),
        ("content-type", None, 415),
        ("content-type", Some("APPLICATION/JSON; charset=\"UTF-8\""), 200),
        ("content-encoding", Some("gzip"), 415),
        ("content-encoding", Some("identity, br"), 415),
        ("content-encoding", Some("Identity"), 200),
        ("accept", Some("text/html"), 406),
        ("accept", Some("*/*"), 200),
        ("accept", None, 200),
        ("accept", Some("application/json;q=1, text/event-stream;q=0"), 200),
    ] {
        let trip = web.ask(with(modern_head("tools/list", None), &[(field, value)]), &list);
        assert_eq!(trip.status(), status, "{field} {value:?}");
        assert_eq!(trip.field("content-type"), "application/json");
    }
}

/// A client that takes nothing but events gets the answer as one.
#[test]
fn a_client_that_takes_only_events_gets_events() {
    let mut web = Web::new(config());
    let only = [("accept", Some("text/event-stream"))];
    let trip = web.ask(with(modern_head("tools/list", None), &only), &modern("1", "tools/list", ""));
    assert_eq!(
        (trip.status(), trip.field("content-type"), trip.events().len()),
        (200, "text/event-stream", 1)
    );
    let trip = web.ask(with(modern_head("x", None), &only), &modern("1", "x", ""));
    assert_eq!(answered(&trip), (404, -32601));
}

/// The bound on a body is reached exactly, and passed by one, declared or not.
#[test]
fn a_body_of_the_longest_length_is_served_and_a_longer_one_is_not() {
    let list = modern("1", "tools/list", "");
    let limits = limits(|limits| limits.message = list.len());
    let mut web = Web::new(config().limits(limits));
    let mut ask = |length: Option<&str>, body: &str| {
        let head = with(modern_head("tools/list", None), &[("content-length", length)]);
        let trip = web.ask(head, body);
        assert!(trip.ended);
        trip.status()
    };
    assert_eq!(ask(None, &list), 200);
    assert_eq!(ask(None, &format!("{list} ")), 413);
    assert_eq!(ask(Some(&list.len().to_string()), &list), 200);
    assert_eq!(ask(Some(&(list.len() + 1).to_string()), ""), 413);
    assert_eq!(ask(Some("99999999999999999999999999"), &list), 200);
}

/// B11, B16, RPC-28
#[test]
fn what_is_no_message_is_a_bad_request() {
    let mut web = Web::new(config());
    for (body, code) in [
        ("42", -32600),
        ("null", -32600),
        ("", -32700),
        ("{", -32700),
        (r#"{"jsonrpc":"2.0","id":null,"method":"tools/list"}"#, -32600),
        (r#"{"jsonrpc":"2.0","id":1,"result":{}}"#, -32600),
        ("[]", -32600),
        (&format!("[{}]", modern("1", "tools/list", "")), -32600),
    ] {
        let trip = web.ask(modern_head("tools/list", None), body);
        assert_eq!(answered(&trip), (400, code), "{body}");
        assert!(!trip.body.contains("\"id\""), "{}", trip.body);
    }
    let mut trip = web.ask(modern_head("tools/list", None), "");
    web.drive(&mut trip);
    let mut broken = Exchange::new(now(), ExchangeId::new(1), Arc::clone(&web.config), call_head());
    broken.handle_body(now(), b"{\"a\":\"\xff\"}");
    broken.handle_end(now(), End::Complete);
    assert!(core::str::from_utf8(broken.transmit()).unwrap().contains("-32700"));
}

/// B38, META-12, META-13, VER-01, VER-02, HDR-03, HDR-05, HDR-10, HDR-11, HTTP-23: one fault after the other.
#[test]
fn modern_requests_are_judged_in_order() {
    let mut web = Web::new(config());
    let version = "io.modelcontextprotocol/protocolVersion";
    let capabilities = "io.modelcontextprotocol/clientCapabilities";
    let discover =
        |meta: &str| format!(r#"{{"jsonrpc":"2.0","id":9,"method":"server/discover","params":{{{meta}}}}}"#);
    let full = modern("9", "server/discover", "");
    let without_version = discover(&format!(r#""_meta":{{"{capabilities}":{{}}}}"#));
    let without_capabilities = discover(&format!(r#""_meta":{{"{version}":"2026-07-28"}}"#));
    let odd = full.replace("2026-07-28", "v999.0.0");
    let h = || modern_head("server/discover", None);
    for (head, body, expected) in [
        (h(), &discover(""), (400, -32602)),
        (h(), &without_version, (400, -32602)),
        (h(), &without_capabilities, (400, -32602)),
        (h(), &full.replace(r#""2026-07-28""#, "5"), (400, -32602)),
        (h(), &full.replace(r#""2026-07-28""#, "null"), (400, -32602)),
        (h(), &without_version.replace("{}", "[]"), (400, -32602)),
        (h(), &discover(r#""_meta":5"#), (400, -32602)),
        (with(h(), &[("mcp-protocol-version", None)]), &full, (400, -32020)),
        (with(h(), &[("mcp-protocol-version", None)]), &without_version, (400, -32020)),
        (h(), &odd, (400, -32020)),
        (with(h(), &[("mcp-protocol-version", Some("v999.0.0"))]), &odd, (400, -32022)),
        (with(h(), &[("mcp-protocol-version", Some("2025-11-25"))]), &full, (400, -32020)),
        (with(h(), &[("mcp-method", None)]), &full, (400, -32020)),
        (with(h(), &[("mcp-method", Some("tools/list"))]), &full, (400, -32020)),
        (with(h(), &[("mcp-method", Some("SERVER/DISCOVER"))]), &full, (400, -32020)),
        (modern_head("ping", None), &modern("9", "ping", ""), (404, -32601)),
        (modern_head("initialize", None), &modern("9", "initialize", ""), (404, -32601)),
        (modern_head("unknown/method", None), &modern("9", "unknown/method", ""), (404, -32601)),
        (modern_head("tools/call", None), &modern("9", "tools/call", r#""name":"add","#), (400, -32020)),
        (modern_head("tools/call", Some("b")), &modern("9", "tools/call", r#""name":"add","#), (400, -32020)),
        (modern_head("tools/call", Some("no")), &modern("9", "tools/call", r#""name":"no","#), (200, -32602)),
        (modern_head("tools/call", None), &modern("9", "tools/call", r#""name":5,"#), (200, -32602)),
    ] {
        let trip = web.ask(head, body);
        assert_eq!(answered(&trip), expected, "{body}");
        assert!(trip.body.starts_with(r#"{"jsonrpc":"2.0","id":9,"#), "{}", trip.body);
        assert!(trip.ended && trip.calls.is_empty());
    }
    assert_eq!(web.ask(h(), &full).status(), 200);
    // OWS around values, and names of fields in any case (HDR-12, HDR-14).
    let spaced = with(call_head(), &[("MCP-NAME", Some("  add\t"))]);
    assert_eq!(web.ask(spaced, &modern_call("")).calls.len(), 1);
}

/// HDR-43 to HDR-46
#[test]
fn mirrored_parameters_are_checked_before_the_call() {
    let mut web = Web::new(config());
    let book = modern("1", "tools/call", r#""name":"book","arguments":{"region":"us"},"#);
    let head = || modern_head("tools/call", Some("book"));
    assert_eq!(answered(&web.ask(head(), &book)), (400, -32020));
    assert_eq!(answered(&web.ask(with(head(), &[("Mcp-Param-Region", Some("eu"))]), &book)), (400, -32020));
    let trip = web.ask(with(head(), &[("Mcp-Param-Region", Some("us"))]), &book);
    assert_eq!(trip.calls[0].1.arguments(), r#"{"region":"us"}"#);
}

/// A body that does not come to its end is given up at its bound, and not before, whoever carries it.
#[test]
fn a_body_that_takes_too_long_is_given_up() {
    let web = Web::new(config());
    let mut exchange = Exchange::new(at(1_000), ExchangeId::new(1), Arc::clone(&web.config), call_head());
    assert_eq!(exchange.poll_timeout(), Some(at(121_000).mono));
    assert_eq!(exchange.wake_reason(), Some(WakeReason::Body));
    exchange.handle_body(at(120_000), b"{");
    exchange.handle_timeout(at(120_999));
    assert!(exchange.poll_output().is_none());
    exchange.handle_timeout(at(121_000));
    let Some(ExchangeOutput::Head(head, _)) = exchange.poll_output() else { panic!("no head") };
    assert_eq!((head.status, exchange.poll_timeout()), (408, None));
}

/// HTTP-26, HTTP-27: what only sessions have means nothing to a server without them.
#[test]
fn a_modern_only_server_ignores_what_belongs_to_sessions() {
    let mut web = Web::new(config().revisions(Revisions::era(Era::Modern)));
    let fields = [("Last-Event-ID", Some("7-1")), ("Mcp-Session-Id", Some("none"))];
    let trip = web.ask(with(modern_head("tools/list", None), &fields), &modern("1", "tools/list", ""));
    assert_eq!((trip.status(), trip.field("mcp-session-id"), trip.ended), (200, "", true));
}

/// B33, B68: of what may come once and came twice nobody can tell which one counts for whoever
/// stands between, so neither does.
#[test]
fn what_comes_twice_names_nothing() {
    let mut web = Web::new(config());
    let [session, other] = [V, V].map(|revision| web.open(revision));
    let mut ask = |head: RequestHead, name: &str, value: &str, body: &str| {
        let mut twice = head;
        twice.headers.push(name, value);
        web.ask(twice, body).status()
    };
    let ping = r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#;
    let of_session = || legacy_head(Some(&session));
    assert_eq!(ask(of_session(), "X-Other", "x", ping), 200);
    assert_eq!(ask(of_session(), "mcp-session-id", other.as_str(), ping), 404);
    assert_eq!(ask(of_session(), "content-type", "text/plain", ping), 415);
    let listen = || with(of_session(), &[("Accept", Some("text/event-stream"))]);
    let get = || RequestHead { method: "GET".into(), ..listen() };
    assert_eq!(ask(get(), "X-Other", "x", ""), 200);
    let resuming = with(get(), &[("Last-Event-ID", Some("a.1.0"))]);
    assert_eq!(ask(resuming, "last-event-id", "a.1.1", ""), 400);
}
