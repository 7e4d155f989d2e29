use super::*;

/// HTTPL-03, HTTPL-46, HTTPL-53, HTTPL-54
#[test]
fn session_and_version_go_with_every_request_after_initialize() {
    let mut peer = Peer::new(config().era(EraChoice::Legacy));
    let initialize = peer.one();
    assert_eq!(initialize.header("accept"), Some("application/json, text/event-stream"));
    let mut head = ResponseHead::new(200);
    head.headers.push("Content-Type", "application/json");
    head.headers.push("MCP-SESSION-ID", "s-1");
    let body = response(&initialize, INITIALIZED);
    peer.whole(&initialize, head, &body);
    let notification = peer.one();
    peer.whole(&notification, ResponseHead::new(202), "");
    let (_, call) = peer.start(&CallTool::new("a"));
    for sent in [notification, call] {
        assert_eq!(sent.header("mcp-session-id"), Some("s-1"));
        assert_eq!(sent.header("mcp-protocol-version"), Some("2025-11-25"));
        assert_eq!(sent.header("mcp-method"), None);
    }
}

/// The header is younger than the revision.
#[test]
fn old_revisions_have_no_version_header() {
    let mut peer = Peer::new(config().era(EraChoice::Legacy));
    let initialize = peer.one();
    peer.result(&initialize, &INITIALIZED.replace("2025-11-25", "2025-03-26"));
    assert_eq!(peer.one().header("mcp-protocol-version"), None);
}

/// HTTPL-44
#[test]
fn a_session_id_of_other_characters_is_refused() {
    for id in [&b"a b"[..], b"", b"a\xe9b", "aéb".as_bytes()] {
        let mut peer = Peer::new(config().era(EraChoice::Legacy));
        let initialize = peer.one();
        let mut head = ResponseHead::new(200);
        head.headers.push("Content-Type", "application/json");
        head.headers.push("Mcp-Session-Id", id);
        let body = response(&initialize, INITIALIZED);
        peer.whole(&initialize, head, &body);
        assert!(matches!(peer.closed(), Some(CallError::Invalid { .. })), "{id:?}");
    }
}

/// What waits for a connection goes before what holds one, so that closing opens no connection.
#[test]
fn closing_aborts_the_last_exchange_first() {
    let mut peer = Peer::legacy();
    let mut exchanges = [(); 3].map(|()| peer.start(&CallTool::new("a")).1.exchange);
    exchanges.reverse();
    peer.http.close(peer.now);
    assert_eq!(peer.aborted(), exchanges);
}

/// HTTPL-51, HTTPL-52
#[test]
fn closing_ends_the_session() {
    for status in [200, 204, 405, 404, 500] {
        let mut peer = Peer::legacy();
        let (call, sent) = peer.start(&CallTool::new("a"));
        peer.http.close(peer.now);
        assert!(peer.take(&call).is_err());
        assert_eq!(peer.aborted(), [sent.exchange]);
        let delete = peer.one();
        assert_eq!(delete.request.head.method, "DELETE");
        assert_eq!(delete.header("mcp-session-id"), Some("s-1"));
        assert_eq!(delete.header("mcp-protocol-version"), Some("2025-11-25"));
        assert!(delete.request.body.is_empty());
        assert!(peer.closed().is_none());
        assert!(peer.http.start(peer.now, &Ping, CallOptions::new()).is_err());
        peer.whole(&delete, ResponseHead::new(status), "");
        assert!(peer.closed().is_some());
        peer.is_empty();
    }
    let mut peer = Peer::legacy();
    peer.http.close(peer.now);
    let delete = peer.one();
    peer.wait(2_000);
    assert_eq!(peer.aborted(), [delete.exchange]);
    assert!(peer.closed().is_some());
    peer.is_empty();
}

#[test]
fn without_a_session_there_is_nothing_to_end() {
    let mut peer = Peer::new(config().era(EraChoice::Legacy));
    let initialize = peer.one();
    peer.initialized(&initialize, None);
    peer.http.close(peer.now);
    peer.none();
    assert!(peer.closed().is_some());
}

/// B35, HTTPL-50
#[test]
fn a_lost_session_is_replaced_and_a_listing_repeated() {
    let mut peer = Peer::legacy();
    let (list, sent) = peer.start(&ListTools::new());
    peer.answer(
        &sent,
        404,
        "{'jsonrpc':'2.0','id':null,'error':{'code':-32001,'message':'Session not found'}}",
    );
    let initialize = peer.one();
    assert_eq!(initialize.method(), "initialize");
    assert_eq!(initialize.header("mcp-session-id"), None);
    peer.initialized(&initialize, Some("s-2"));
    let again = peer.one();
    assert_eq!((again.method(), again.header("mcp-session-id")), ("tools/list".into(), Some("s-2")));
    peer.result(&again, "{'tools':[]}");
    peer.take(&list).unwrap();
    let connected = peer.events().iter().filter(|event| matches!(event, Event::Connected(_))).count();
    assert_eq!(connected, 1);
    peer.is_empty();
}

/// B35: what a tool did is unknown.
#[test]
fn a_tool_call_is_not_repeated_in_a_new_session() {
    let mut peer = Peer::legacy();
    let (call, sent) = peer.start(&CallTool::new("a"));
    peer.whole(&sent, ResponseHead::new(404), "");
    let Err(CallError::Broken { reason, unsent: false }) = peer.take(&call) else { panic!() };
    assert!(reason.contains("unknown"));
    let initialize = peer.one();
    let later = peer.http.start(peer.now, &CallTool::new("b"), CallOptions::new()).unwrap();
    peer.initialized(&initialize, Some("s-2"));
    let sent = peer.one();
    peer.result(&sent, "{'content':[]}");
    peer.take(&later).unwrap();
    peer.is_empty();
}

/// B35: a second 404 is an error.
#[test]
fn a_session_lost_twice_fails_the_call() {
    let mut peer = Peer::legacy();
    let (list, sent) = peer.start(&ListTools::new());
    peer.whole(&sent, ResponseHead::new(404), "");
    let initialize = peer.one();
    peer.initialized(&initialize, Some("s-2"));
    let again = peer.one();
    peer.whole(&again, ResponseHead::new(404), "");
    assert!(matches!(peer.take(&list), Err(CallError::Broken { .. })));
}

/// Two calls notice the same loss; one handshake is enough.
#[test]
fn one_loss_is_one_handshake() {
    let mut peer = Peer::legacy();
    let (a, first) = peer.start(&ListTools::new());
    let (b, second) = peer.start(&ListTools::new());
    let (c, third) = peer.start(&ListTools::new());
    peer.whole(&first, ResponseHead::new(404), "");
    let initialize = peer.one();
    peer.whole(&second, ResponseHead::new(404), "");
    peer.none();
    peer.initialized(&initialize, Some("s-2"));
    let again = peer.sent();
    assert_eq!(again.len(), 2);
    peer.whole(&third, ResponseHead::new(404), "");
    let last = peer.one();
    assert_eq!((last.method(), last.header("mcp-session-id")), ("tools/list".into(), Some("s-2")));
    for sent in again.iter().chain([&last]) {
        peer.result(sent, "{'tools':[]}");
    }
    for call in [a, b, c] {
        peer.take(&call).unwrap();
    }
    peer.is_empty();
}

/// Limits::retries: the handshake of a new session is made again where it surely was not carried out, so that a server
/// which is just starting loses nobody; so often and no more, and each loss counts from the beginning.
#[test]
fn a_handshake_after_a_loss_is_made_again() {
    let mut peer = Peer::legacy();
    for session in ["s-2", "s-3"] {
        let (list, sent) = peer.start(&ListTools::new());
        peer.whole(&sent, ResponseHead::new(404), "");
        let first = peer.one();
        peer.http.handle_failed(peer.now, first.exchange, "connection refused", true);
        assert_eq!(peer.http.wake_reason(), Some(WakeReason::Resume));
        let waits = peer.http.start(peer.now, &ListTools::new(), CallOptions::new()).unwrap();
        peer.none();
        peer.wait(500);
        let second = peer.one();
        assert_eq!((second.method().as_str(), second.header("mcp-session-id")), ("initialize", None));
        let mut head = ResponseHead::new(503);
        head.headers.push("Retry-After", "7");
        peer.whole(&second, head, "");
        peer.wait(6_999);
        peer.none();
        peer.wait(1);
        let third = peer.one();
        peer.initialized(&third, Some(session));
        for sent in peer.sent() {
            assert_eq!(sent.header("mcp-session-id"), Some(session));
            peer.result(&sent, "{'tools':[]}");
        }
        peer.take(&list).unwrap();
        peer.take(&waits).unwrap();
        peer.is_empty();
    }
}

#[test]
fn a_handshake_that_fails_after_a_loss_ends_everything() {
    type Fails = fn(&mut Peer, &Sent);
    let fails: [Fails; 4] = [
        |peer, sent| peer.http.handle_failed(peer.now, sent.exchange, "connection refused", true),
        |peer, sent| peer.http.handle_failed(peer.now, sent.exchange, "connection reset", false),
        |peer, sent| peer.whole(sent, ResponseHead::new(502), ""),
        |peer, sent| {
            peer.stream(sent);
            peer.end(sent);
        },
    ];
    for fails in fails {
        let mut peer = Peer::legacy();
        let (list, sent) = peer.start(&ListTools::new());
        peer.whole(&sent, ResponseHead::new(404), "");
        for _ in 0..3 {
            assert!(peer.closed().is_none());
            let initialize = peer.one();
            assert_eq!(initialize.method(), "initialize");
            fails(&mut peer, &initialize);
            peer.wait(1_000);
        }
        assert!(peer.take(&list).is_err());
        assert!(peer.closed().is_some());
        peer.is_empty();
    }
}

/// Whoever connects for the first time is told at once that nobody is there.
#[test]
fn the_first_handshake_is_not_made_again() {
    let mut peer = Peer::new(config().era(EraChoice::Legacy));
    let initialize = peer.one();
    peer.http.handle_failed(peer.now, initialize.exchange, "connection refused", true);
    assert!(matches!(peer.closed(), Some(CallError::Broken { unsent: true, .. })));
}

/// Closing ends the wait for another handshake.
#[test]
fn a_handshake_that_waits_ends_with_the_client() {
    let mut peer = Peer::legacy();
    let (list, sent) = peer.start(&ListTools::new());
    peer.whole(&sent, ResponseHead::new(404), "");
    let initialize = peer.one();
    peer.http.handle_failed(peer.now, initialize.exchange, "connection refused", true);
    peer.http.close(peer.now);
    assert!(peer.take(&list).is_err() && peer.http.is_closed());
    peer.wait(60_000);
    peer.none();
    peer.is_empty();
}

/// A 404 where no session is at stake is a 404.
#[test]
fn without_a_session_404_is_an_ordinary_refusal() {
    let mut peer = Peer::new(config().era(EraChoice::Legacy));
    let initialize = peer.one();
    peer.initialized(&initialize, None);
    let (list, sent) = peer.start(&ListTools::new());
    peer.whole(&sent, ResponseHead::new(404), "");
    peer.none();
    assert!(matches!(peer.take(&list), Err(CallError::Refused { .. })));
}

/// INIT-18, RPC-25, HTTPL-11: the answer is a message of its own.
#[test]
fn requests_of_a_legacy_server_are_answered_by_posts() {
    let mut peer = Peer::legacy();
    let (call, sent) = peer.start(&CallTool::new("a"));
    peer.stream(&sent);
    peer.event(&sent, "{'jsonrpc':'2.0','id':'s1','method':'ping'}");
    let pong = peer.one();
    assert_eq!(pong.body(), json("{'jsonrpc':'2.0','id':'s1','result':{}}"));
    assert_eq!(pong.header("mcp-session-id"), Some("s-1"));
    peer.event(&sent, "{'jsonrpc':'2.0','id':'s2','method':'sampling/createMessage','params':{}}");
    let refusal = peer.one();
    assert!(refusal.body().contains("-32601"));
    for sent in [pong, refusal] {
        peer.whole(&sent, ResponseHead::new(202), "");
    }
    let body = response(&sent, "{'content':[]}");
    peer.event(&sent, &body);
    peer.end(&sent);
    peer.take(&call).unwrap();
    peer.is_empty();
}

/// RPC-24, HTTP-18
#[test]
fn requests_of_a_modern_server_are_not_answered() {
    let mut peer = Peer::modern();
    let (_, sent) = peer.start(&CallTool::new("a"));
    peer.stream(&sent);
    peer.event(&sent, "{'jsonrpc':'2.0','id':'s1','method':'ping'}");
    peer.none();
    assert_eq!(peer.diagnostics().len(), 1);
}

/// LOG-06
#[test]
fn the_log_level_is_set_once() {
    let mut peer =
        Peer::new(config().era(EraChoice::Legacy).log_level(crate::model::logging::LoggingLevel::Error));
    let initialize = peer.one();
    peer.initialized(&initialize, Some("s-1"));
    let set = peer.one();
    assert!(set.body().contains("\"params\":{\"level\":\"error\"}"));
    peer.result(&set, "{}");
    assert_eq!(peer.settled(), 0);
    peer.is_empty();
}

/// HTTPL-45: neither the session nor what is sent is printed.
#[test]
fn secrets_are_not_printed() {
    let mut peer = Peer::legacy_with(config().header("Authorization", "Bearer t0k3n"));
    let (_, sent) = peer.start(&CallTool::with("a", Map::from([("k", "p4yl04d")])));
    let text = format!("{:?} {:?}", peer.http, sent.request);
    for secret in ["s-1", "t0k3n", "p4yl04d"] {
        assert!(!text.contains(secret), "{secret}");
    }
    let endpoint = Endpoint::parse("https://h.example/mcp?key=s3cret").unwrap();
    assert_eq!(format!("{endpoint:?}"), "Endpoint(https://h.example/mcp)");
}

/// PAGE-09: a cursor is worth nothing in another session, so the page behind it is not asked for there.
#[test]
fn cursors_are_not_taken_into_another_session() {
    let mut peer = Peer::legacy();
    let (first, page) = peer.start(&ListTools::new());
    let (behind, later) = peer.start(&ListTools::after("p2"));
    peer.answer(&later, 404, "");
    let error = peer.take(&behind).unwrap_err();
    assert!(
        matches!(&error, CallError::Broken { reason, unsent: true } if reason.contains("cursor")),
        "{error}"
    );
    peer.answer(&page, 404, "");
    let initialize = peer.one();
    peer.initialized(&initialize, Some("s-2"));
    let again = peer.one();
    assert_eq!((again.method().as_str(), again.header("mcp-session-id")), ("tools/list", Some("s-2")));
    peer.result(&again, "{'tools':[]}");
    assert!(peer.take(&first).is_ok());
    peer.is_empty();
}

/// HTTPL-04: what is posted is one message each, whatever it is.
#[test]
fn a_body_is_one_message() {
    let mut peer = Peer::legacy();
    let (call, sent) = peer.start(&CallTool::new("a"));
    let (_, other) = peer.start(&ListTools::new());
    peer.stream(&sent);
    peer.event(&sent, "{'jsonrpc':'2.0','id':1,'method':'ping'}");
    peer.event(&sent, "{'jsonrpc':'2.0','id':2,'method':'nothing'}");
    peer.http.cancel(peer.now, call.id());
    let mut posted = peer.sent();
    assert_eq!(posted.len(), 3);
    posted.extend([sent, other]);
    for sent in posted {
        let read = crate::wire::jsonrpc::read(sent.body().as_bytes(), 128);
        assert!(matches!(read, Ok(crate::wire::jsonrpc::Incoming::Message(_))), "{}", sent.body());
    }
}

/// ELIC-26 over HTTP: the call is made again in the session that there is then.
#[test]
fn a_call_that_was_sent_off_goes_on_in_the_session_there_is() {
    use crate::model::capabilities::{ClientCapabilities, ElicitationCapability};
    use crate::model::elicitation::{ElicitAction, ElicitResult};
    let elicits = ElicitationCapability::new().url(Json::empty_object());
    let config = config().capabilities(ClientCapabilities::new().elicitation(elicits));
    let mut peer = Peer::new(config.era(EraChoice::Legacy));
    let initialize = peer.one();
    peer.initialized(&initialize, Some("s-1"));
    let stream = peer.one();
    assert_eq!(stream.method(), "GET");
    peer.stream(&stream);
    let page = "{'mode':'url','elicitationId':'a','url':'https://h.example/a','message':'Pay.'}";
    let required = format!("{{'code':-32042,'message':'m','data':{{'elicitations':[{page}]}}}}");
    let (call, sent) = peer.start(&CallTool::new("pay"));
    peer.error(&sent, 200, &required);
    let asked = peer.events().into_iter().find_map(|event| match event {
        Event::Asked(id, _) => Some(id),
        _ => None,
    });
    let accept = ElicitResult::new(ElicitAction::Accept);
    peer.http.answer(peer.now, asked.unwrap(), Ok(accept.into())).unwrap();
    peer.none();
    let (_lost, sent) = peer.start(&CallTool::new("other"));
    peer.whole(&sent, ResponseHead::new(404), "");
    let initialize = peer.one();
    // The page is done while there is no session.
    peer.wait(30_000);
    peer.none();
    peer.initialized(&initialize, Some("s-2"));
    let stream = peer.one();
    peer.stream(&stream);
    peer.none();
    peer.wait(1_000);
    let again = peer.one();
    assert_eq!((again.method().as_str(), again.header("mcp-session-id")), ("tools/call", Some("s-2")));
    peer.result(&again, "{'content':[]}");
    assert!(peer.take(&call).is_ok());
}
