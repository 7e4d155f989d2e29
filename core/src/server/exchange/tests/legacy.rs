use super::*;

/// HTTPL-42, HTTPL-44, VER-09
#[test]
fn a_handshake_opens_a_session_and_names_it() {
    let mut web = Web::new(config());
    let trip = web.ask(legacy_head(None), &initialize("2025-06-18"));
    assert_eq!((trip.status(), trip.field("content-type")), (200, "application/json"));
    assert!(trip.body.contains(r#""id":0,"result":{"protocolVersion":"2025-06-18""#));
    assert!(trip.field("mcp-session-id").bytes().all(|byte| (0x21..=0x7e).contains(&byte)));
    assert!(!trip.field("mcp-session-id").is_empty());
    assert_eq!(web.sessions.len(), 1);
    // With the head that some clients send (conformance: dns-rebinding-protection).
    let fields = [("MCP-Protocol-Version", Some(V)), ("Mcp-Method", Some("initialize"))];
    assert_eq!(web.ask(with(legacy_head(None), &fields), &initialize(V)).status(), 200);
}

/// HTTPL-07: what is no request is refused by a status, with an error that has no id.
#[test]
fn a_refused_notification_or_response_is_answered_without_an_id() {
    let mut web = Web::new(config());
    let gone = SessionId::new("gone");
    for body in [INITIALIZED, r#"{"jsonrpc":"2.0","id":1,"result":{}}"#] {
        for (session, status) in [(None, 400), (Some(&gone), 404)] {
            let trip = web.ask(legacy_head(session), body);
            assert_eq!(answered(&trip), (status, -32600), "{body}");
            assert!(!trip.body.contains(r#""id""#), "{}", trip.body);
        }
    }
}

/// HTTPL-06, HTTPL-47, HTTPL-49, HTTPL-51, B45
#[test]
fn a_session_lives_until_it_is_deleted() {
    let mut web = Web::new(config());
    let session = web.open(V);
    let trip = web.ask(legacy_head(Some(&session)), INITIALIZED);
    assert_eq!(
        (trip.status(), trip.body.as_str(), trip.told.as_slice()),
        (202, "", &["initialized".into()][..])
    );
    // Told once, as on a byte stream.
    let trip = web.ask(legacy_head(Some(&session)), INITIALIZED);
    assert_eq!((trip.status(), trip.told.contains(&"initialized".into())), (202, false));
    let trip = web.ask(legacy_head(Some(&session)), PING);
    assert_eq!((trip.status(), trip.body.as_str()), (200, r#"{"jsonrpc":"2.0","id":1,"result":{}}"#));
    assert!(trip.field("mcp-session-id").is_empty());
    for body in [PING, LIST, CALL, INITIALIZED] {
        assert_eq!(web.ask(legacy_head(None), body).status(), 400, "{body}");
    }
    let delete = |session: &SessionId| with(head("DELETE"), &[("mcp-session-id", Some(session.as_str()))]);
    assert_eq!(web.ask(head("DELETE"), "").status(), 400);
    let wrong = with(delete(&session), &[("MCP-Protocol-Version", Some("x"))]);
    assert_eq!(web.ask(wrong, "").status(), 400);
    let trip = web.ask(delete(&session), "");
    assert_eq!((trip.status(), trip.body.as_str(), trip.ended), (204, "", true));
    assert_eq!(web.ask(delete(&session), "").status(), 404);
    for body in [PING, LIST, CALL, INITIALIZED, r#"{"jsonrpc":"2.0","id":1,"method":"no"}"#] {
        let trip = web.ask(legacy_head(Some(&session)), body);
        assert_eq!(answered(&trip), (404, -32600), "{body}");
    }
    assert!(web.sessions.is_empty());
}

/// B45 (c)
#[test]
fn a_refused_handshake_opens_no_session() {
    let mut web = Web::new(config());
    for body in [
        r#"{"jsonrpc":"2.0","id":1,"method":"initialize"}"#,
        r#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{}}}"#,
    ] {
        assert_eq!(answered(&web.ask(legacy_head(None), body)), (200, -32602), "{body}");
    }
    assert!(web.sessions.is_empty());
}

/// The bound is reached exactly, and passed by one.
#[test]
fn one_session_too_many_is_answered_503() {
    let limits = limits(|limits| limits.sessions = 2);
    let mut web = Web::new(config().limits(limits));
    web.open(V);
    web.open(V);
    assert_eq!(web.ask(legacy_head(None), &initialize(V)).status(), 503);
    assert_eq!(web.sessions.len(), 2);
}

/// HTTPL-55, HTTPL-56
#[test]
fn a_legacy_version_header_may_be_absent_but_not_wrong() {
    let mut web = Web::new(config().revisions(Revisions::of([Revision::V2025_11_25, Revision::V2025_06_18])));
    let session = web.open(V);
    for (version, status) in [
        (None, 200),
        (Some(V), 200),
        (Some("2025-06-18"), 200),
        (Some("2025-03-26"), 400),
        (Some("x"), 400),
        (Some("2026-07-28"), 400),
    ] {
        let head = || with(legacy_head(Some(&session)), &[("mcp-protocol-version", version)]);
        assert_eq!(web.ask(head(), LIST).status(), status, "{version:?}");
        for response in [
            r#"{"jsonrpc":"2.0","id":"ask-1-1","result":{}}"#,
            r#"{"jsonrpc":"2.0","id":"ask-1-1","result":1}"#,
        ] {
            let refused = web.ask(head(), response).status() == 400;
            assert!(refused || status == 200, "{version:?}: {response}");
        }
    }
    // Where both eras are spoken, an unknown version counts as a modern one that lacks its metadata.
    let mut web = Web::new(config());
    let session = web.open(V);
    let head = with(legacy_head(Some(&session)), &[("mcp-protocol-version", Some("x"))]);
    assert_eq!(answered(&web.ask(head, LIST)), (400, -32602));
}

/// A server of the legacy era answers the probe of a modern client so that it falls back.
#[test]
fn a_legacy_only_server_refuses_the_modern_probe_without_a_modern_error() {
    let mut web = Web::new(config().revisions(Revisions::era(Era::Legacy)));
    let trip = web.ask(modern_head("server/discover", None), &modern("1", "server/discover", ""));
    assert_eq!(answered(&trip), (400, -32600));
    let session = web.open(V);
    let trip = web.ask(legacy_head(Some(&session)), &modern("1", "server/discover", ""));
    assert_eq!(answered(&trip), (200, -32601));
}

/// HTTP-26, VER-22, HTTP-11
#[test]
fn a_modern_only_server_knows_no_sessions() {
    let mut web = Web::new(config().revisions(Revisions::era(Era::Modern)));
    let with_session = with(modern_head("tools/list", None), &[("mcp-session-id", Some("x"))]);
    let trip = web.ask(with_session, &modern("1", "tools/list", ""));
    assert!(trip.status() == 200 && trip.field("mcp-session-id").is_empty());
    let trip = web.ask(legacy_head(None), &initialize(V));
    assert_eq!(answered(&trip), (400, -32020));
    assert!(trip.body.contains(r#""supported":["2026-07-28"]"#));
    assert_eq!(web.ask(legacy_head(None), INITIALIZED).status(), 202);
}

/// HTTP-11, CAN-12: closing the stream is what cancels.
#[test]
fn a_modern_notification_is_accepted_and_changes_nothing() {
    let mut web = Web::new(config());
    let call = web.ask(call_head(), &modern_call(""));
    let cancel = r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":7}}"#;
    let trip = web.ask(modern_head("notifications/cancelled", None), cancel);
    assert_eq!((trip.status(), trip.body.as_str(), trip.ended), (202, "", true));
    assert!(call.cancelled.is_empty() && !call.ended);
}

/// CAN-16, CAN-14
#[test]
fn a_legacy_cancellation_reaches_the_exchange_of_its_request() {
    for begun in [false, true] {
        let mut web = Web::new(config());
        let session = web.open(V);
        let mut call = web.ask(legacy_head(Some(&session)), CALL);
        let id = call.calls[0].0;
        if begun {
            call.exchange.progress(now(), id, &Progress::new(1.0));
        }
        let cancel = r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":7}}"#;
        assert_eq!(web.ask(legacy_head(Some(&session)), cancel).status(), 202);
        let Some(SessionOutput::Cancel { exchange, request }) = web.sessions.poll_output() else { panic!() };
        assert_eq!(exchange, call.exchange.id);
        call.exchange.handle_cancel(now(), &request);
        call.exchange.handle_cancel(now(), &request);
        call.exchange.respond(now(), id, &text("late"));
        web.drive(&mut call);
        assert_eq!((call.cancelled.as_slice(), call.ended), (&[id][..], true));
        assert_eq!(call.status(), if begun { 200 } else { 202 });
        assert!(!call.body.contains("result"));
    }
}

/// RPC-06
#[test]
fn requests_of_a_session_are_bounded_and_have_ids_of_their_own() {
    let limits = limits(|limits| limits.in_flight = 2);
    let mut web = Web::new(config().limits(limits));
    let session = web.open(V);
    let call = |id: &str| CALL.replace("\"id\":7", &format!("\"id\":{id}"));
    let head = || legacy_head(Some(&session));
    let mut first = web.ask(head(), &call("1"));
    assert_eq!(answered(&web.ask(head(), &call("1"))), (400, -32600));
    web.ask(head(), &call("2"));
    assert_eq!(answered(&web.ask(head(), &call("3"))), (503, -32603));
    first.exchange.respond(now(), first.calls[0].0, &text("m"));
    web.drive(&mut first);
    assert_eq!(web.ask(head(), &call("3")).calls.len(), 1);
}

/// LOG-07, B65
#[test]
fn the_level_of_a_session_holds_for_its_later_calls() {
    let mut web = Web::new(config());
    let (loud, quiet) = (web.open(V), web.open(V));
    let set = r#"{"jsonrpc":"2.0","id":1,"method":"logging/setLevel","params":{"level":"error"}}"#;
    let trip = web.ask(legacy_head(Some(&quiet)), set);
    assert_eq!(trip.body, r#"{"jsonrpc":"2.0","id":1,"result":{}}"#);
    let log = LoggingMessageNotificationParams::new(LoggingLevel::Warning, Json::parse("1").unwrap());
    for (session, sent) in [(&loud, true), (&quiet, false)] {
        let mut trip = web.ask(legacy_head(Some(session)), CALL);
        trip.exchange.log(now(), trip.calls[0].0, &log);
        web.drive(&mut trip);
        assert_eq!(trip.head.is_some(), sent);
    }
}

/// RPC-20, RPC-26, HTTPL-05, B17
#[test]
fn a_batch_is_one_answer_in_its_revision() {
    let mut web = Web::new(config());
    let session = web.open("2025-03-26");
    let head = || legacy_head(Some(&session));
    let mut trip = web.ask(head(), &format!("[{PING},{INITIALIZED},1,{CALL}]"));
    assert!(trip.head.is_none() && trip.told.contains(&"initialized".to_string()));
    trip.exchange.respond(now(), trip.calls[0].0, &text("m"));
    web.drive(&mut trip);
    let start = r#"[{"jsonrpc":"2.0","id":1,"result":{}},{"jsonrpc":"2.0","id":null,"error":{"code":-32600,"#;
    let end = r#"{"jsonrpc":"2.0","id":7,"result":{"content":[{"type":"text","text":"m"}]}}]"#;
    assert!(trip.body.starts_with(start) && trip.body.ends_with(end), "{}", trip.body);
    assert!(trip.ended);
    let garbage = web.ask(head(), "[1]");
    assert!(garbage.body.starts_with(r#"[{"jsonrpc":"2.0","id":null,"error":{"#), "{}", garbage.body);
    let trip = web.ask(head(), &format!("[{INITIALIZED}]"));
    assert_eq!((trip.status(), trip.ended), (202, true));
    let trip = web.ask(head(), &format!("[{}]", initialize(V)));
    assert!(trip.body.starts_with(r#"[{"jsonrpc":"2.0","id":0,"error":{"code":-32600,"#), "{}", trip.body);
}

/// B17, RPC-27: every other revision has none, nor has a request outside of a session; an empty one is one nowhere.
#[test]
fn a_batch_is_none_in_other_revisions() {
    let mut web = Web::new(config());
    let whole = format!(r#"[{PING},{{"jsonrpc":"2.0","method":"notifications/x"}},1]"#);
    for version in ["2024-11-05", "2025-03-26", "2025-06-18", V] {
        let session = web.open(version);
        let head = || legacy_head(Some(&session));
        if version == "2025-03-26" {
            assert_eq!(web.ask(head(), &whole).status(), 200);
        } else {
            assert_eq!(answered(&web.ask(head(), &whole)), (400, -32600), "{version}");
        }
        assert_eq!(answered(&web.ask(head(), "[]")), (400, -32600), "{version}");
    }
    for body in ["[]", &*whole, &*format!("[{}]", initialize("2025-03-26"))] {
        assert_eq!(answered(&web.ask(legacy_head(None), body)), (400, -32600), "{body}");
    }
    let modern = modern("1", "tools/list", "");
    for body in ["[]", &*format!("[{modern}]")] {
        assert_eq!(answered(&web.ask(modern_head("tools/list", None), body)), (400, -32600), "{body}");
    }
}

/// CAN-16
#[test]
fn a_call_of_a_batch_can_be_cancelled() {
    let mut web = Web::new(config());
    let session = web.open("2025-03-26");
    let mut trip = web.ask(legacy_head(Some(&session)), &format!("[{CALL}]"));
    let cancel = r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":7}}"#;
    web.ask(legacy_head(Some(&session)), cancel);
    let Some(SessionOutput::Cancel { request, .. }) = web.sessions.poll_output() else { panic!() };
    trip.exchange.handle_cancel(now(), &request);
    web.drive(&mut trip);
    assert_eq!((trip.status(), trip.cancelled.len(), trip.ended), (202, 1, true));
}

/// The bound on requests in flight is that of the session, however many exchanges its batches come in.
#[test]
fn the_calls_of_batches_count_for_their_session() {
    let limits = limits(|limits| limits.in_flight = 2);
    let mut web = Web::new(config().limits(limits));
    let session = web.open("2025-03-26");
    let mut ask = |ids: &[u8]| {
        let calls: Vec<_> = ids.iter().map(|id| CALL.replace("\"id\":7", &format!("\"id\":{id}"))).collect();
        web.ask(legacy_head(Some(&session)), &format!("[{}]", calls.join(",")))
    };
    // One message too many, whatever it is.
    assert_eq!(answered(&ask(&[1, 2, 3])), (400, -32600));
    let mut trip = ask(&[1, 2]);
    assert_eq!(trip.calls.len(), 2);
    assert_eq!(answered(&ask(&[3])), (503, -32603));
    assert_eq!(answered(&ask(&[2])), (400, -32600));
    let id = trip.calls[0].0;
    trip.exchange.respond(now(), id, &text("m"));
    web.drive(&mut trip);
    // What comes twice, or is no call after all, does not stay noted.
    let wrong = CALL.replace("\"id\":7", "\"id\":4").replace("add", "no");
    let trip = web.ask(legacy_head(Some(&session)), &format!("[{wrong}]"));
    assert!(trip.body.contains("-32602") && trip.ended);
    let trip = web.ask(legacy_head(Some(&session)), &format!("[{CALL},{CALL}]"));
    assert_eq!(trip.calls.len(), 1);
}

/// HTTPL-06: nothing was asked of the client, and its word is taken.
#[test]
fn a_response_within_a_session_is_accepted() {
    let mut web = Web::new(config());
    let session = web.open(V);
    let trip = web.ask(legacy_head(Some(&session)), r#"{"jsonrpc":"2.0","id":1,"result":{}}"#);
    assert_eq!((trip.status(), trip.body.as_str()), (202, ""));
    let trip = web
        .ask(legacy_head(Some(&session)), r#"{"jsonrpc":"2.0","method":"notifications/roots/list_changed"}"#);
    assert_eq!(trip.told, ["notifications/roots/list_changed {}"]);
}
