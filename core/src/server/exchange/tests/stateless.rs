use super::*;

fn web() -> Web {
    Web::new(config().http(HttpPolicy::default().stateless(true)))
}

fn post(version: Option<&str>) -> RequestHead {
    with(legacy_head(None), &[("mcp-protocol-version", version)])
}

/// HTTPL-42: no session is named, and nothing is promised that needs one.
#[test]
fn a_handshake_opens_nothing() {
    let mut web = web();
    for _ in 0..2 {
        let trip = web.ask(post(None), &initialize(V));
        assert_eq!((trip.status(), trip.field("mcp-session-id")), (200, ""));
        assert!(
            trip.body.contains(r#""protocolVersion":"2025-11-25""#) && trip.body.contains(r#""tools":{}"#)
        );
        assert!(!trip.body.contains("logging"), "{}", trip.body);
    }
    assert!(web.sessions.is_empty());
    let level = r#"{"jsonrpc":"2.0","id":1,"method":"logging/setLevel","params":{"level":"info"}}"#;
    assert_eq!(answered(&web.ask(post(Some(V)), level)), (200, -32601));
}

/// HTTPL-06, HTTPL-08: each message stands for itself, whatever session it names.
#[test]
fn every_message_stands_for_itself() {
    let mut web = web();
    let named = with(post(Some(V)), &[("mcp-session-id", Some("left over"))]);
    for body in [PING, LIST] {
        assert_eq!(web.ask(named.clone(), body).status(), 200, "{body}");
    }
    for body in [
        INITIALIZED,
        r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":7}}"#,
        r#"{"jsonrpc":"2.0","id":1,"result":{}}"#,
    ] {
        let trip = web.ask(named.clone(), body);
        assert_eq!((trip.status(), trip.body.as_str()), (202, ""), "{body}");
    }
    let mut trip = web.ask(named, CALL);
    let (id, call) = (trip.calls[0].0, trip.calls[0].1.clone());
    assert_eq!((call.revision(), call.client().info.is_none()), (Revision::V2025_11_25, true));
    assert!(!call.wants_log(LoggingLevel::Emergency));
    trip.exchange.log(
        now(),
        id,
        &LoggingMessageNotificationParams::new(LoggingLevel::Emergency, Json::empty_object()),
    );
    trip.exchange.progress(now(), id, &Progress::new(1.0));
    trip.exchange.respond(now(), id, &text("m"));
    web.drive(&mut trip);
    assert_eq!(trip.events().len(), 2, "{}", trip.body);
    assert!(!trip.body.contains("id: ") && web.sessions.is_empty());
}

/// HTTPL-55: without a header the revision before it came is assumed, and only that one has batches.
#[test]
fn the_revision_is_the_one_that_the_request_names() {
    let mut web = web();
    for (version, expected) in [(None, Revision::V2025_03_26), (Some("2025-06-18"), Revision::V2025_06_18)] {
        assert_eq!(web.ask(post(version), CALL).calls[0].1.revision(), expected);
        let batch = web.ask(post(version), &format!("[{PING}]"));
        assert_eq!(batch.status(), if version.is_none() { 200 } else { 400 });
    }
    assert_eq!(
        web.ask(with(post(None), &[("mcp-protocol-version", Some("2025-01-01"))]), PING).status(),
        400
    );
}

/// HTTPL-28, HTTPL-52
#[test]
fn there_is_nothing_to_listen_to_or_to_end() {
    let mut web = web();
    for method in ["GET", "DELETE"] {
        let trip = web.ask(with(head(method), &[("accept", Some("text/event-stream"))]), "");
        assert_eq!((trip.status(), trip.field("allow")), (405, "POST"));
    }
}

/// B41: nobody could come back for the result.
#[test]
fn a_client_that_leaves_cancels_its_call() {
    let mut web = web();
    let mut trip = web.ask(post(Some(V)), CALL);
    trip.exchange.handle_abort(now());
    web.drive(&mut trip);
    assert_eq!((trip.cancelled.len(), trip.ended), (1, true));
}

/// The modern era has no sessions anyway.
#[test]
fn modern_requests_are_served_as_ever() {
    let mut web = web();
    assert_eq!(web.ask(call_head(), &modern_call("")).calls.len(), 1);
}
