use super::*;

/// HDR-01, HDR-02, HDR-06, HTTP-08, HTTP-09, HTTP-10, B40
#[test]
fn the_probe_is_a_post_with_all_headers_of_a_modern_request() {
    let mut peer = Peer::new(config().header("Authorization", "Bearer t").header("Mcp-Method", "mine"));
    let probe = peer.one();
    let head = &probe.request.head;
    assert_eq!((&*head.method, &*head.target), ("POST", "/mcp"));
    let fields: Vec<_> =
        head.headers.iter().map(|(name, value)| (name, core::str::from_utf8(value).unwrap())).collect();
    assert_eq!(
        fields,
        [
            ("Host", "h.example"),
            ("Content-Type", "application/json"),
            ("Accept", "application/json, text/event-stream"),
            ("Accept-Encoding", if cfg!(feature = "gzip") { "gzip, deflate" } else { "identity" }),
            ("MCP-Protocol-Version", "2026-07-28"),
            ("Authorization", "Bearer t"),
            ("Mcp-Method", "server/discover"),
        ]
    );
    assert!(probe.body().contains("\"io.modelcontextprotocol/protocolVersion\":\"2026-07-28\""));
}

/// A session id from a server that is modern means nothing.
#[test]
fn a_modern_server_has_no_session() {
    let mut peer = Peer::new(config());
    let probe = peer.one();
    let mut head = ResponseHead::new(200);
    head.headers.push("Content-Type", "application/json");
    head.headers.push("mcp-session-id", "s-1");
    let body = response(&probe, DISCOVERED);
    peer.whole(&probe, head, &body);
    let (_, sent) = peer.start(&CallTool::new("a"));
    assert_eq!(sent.header("mcp-session-id"), None);
    peer.http.close(peer.now);
    peer.none();
    assert!(peer.http.is_closed());
}

/// VER-16, VER-17, VER-18, B30
#[test]
fn anything_but_a_modern_answer_leads_to_initialize_without_session_and_version() {
    let refusals: [(u16, &str, &str); 8] = [
        (404, "text/plain", "Invalid session ID"),
        (400, "", ""),
        (400, "text/plain", "Bad request"),
        (405, "text/html", "<html>"),
        (
            400,
            "application/json",
            "{'jsonrpc':'2.0','id':null,'error':{'code':-32000,'message':'no session'}}",
        ),
        (404, "application/json", "{'jsonrpc':'2.0','id':1,'error':{'code':-32601,'message':'what?'}}"),
        (500, "text/plain", "oops"),
        (202, "application/json", ""),
    ];
    for (status, kind, body) in refusals {
        let mut peer = Peer::new(config());
        let probe = peer.one();
        let mut head = ResponseHead::new(status);
        head.headers.push("Content-Type", kind);
        peer.whole(&probe, head, &json(body));
        let initialize = peer.one();
        assert_eq!(initialize.method(), "initialize", "{status} {body}");
        assert_eq!(initialize.header("mcp-session-id"), None);
        assert_eq!(initialize.header("mcp-protocol-version"), None);
        assert_eq!(initialize.header("mcp-method"), None);
    }
    for body in ["{'code':-32601,'message':'what?'}", "{'code':-32602,'message':'what?'}"] {
        let mut peer = Peer::new(config());
        let probe = peer.one();
        peer.error(&probe, 200, body);
        assert_eq!(peer.one().method(), "initialize");
    }
    for result in ["{}", "{'tools':[]}"] {
        let mut peer = Peer::new(config());
        let probe = peer.one();
        peer.result(&probe, result);
        assert_eq!(peer.one().method(), "initialize");
    }
}

/// The same over an event stream, and one that ends without any answer.
#[test]
fn the_probe_may_be_answered_by_a_stream() {
    let mut peer = Peer::new(config());
    let probe = peer.one();
    peer.stream(&probe);
    peer.event(&probe, "{'jsonrpc':'2.0','id':1,'error':{'code':-32601,'message':'what?'}}");
    peer.end(&probe);
    assert_eq!(peer.one().method(), "initialize");

    let mut peer = Peer::new(config());
    let probe = peer.one();
    peer.stream(&probe);
    peer.end(&probe);
    assert_eq!(peer.one().method(), "initialize");

    let mut peer = Peer::new(config());
    let probe = peer.one();
    peer.stream(&probe);
    let body = response(&probe, DISCOVERED);
    peer.event(&probe, &body);
    assert_eq!(peer.http.details().unwrap().revision, Revision::V2026_07_28);
}

/// VER-03, VER-10, B31: the very revision that was refused is named, and meant the second time.
#[test]
fn an_unsupported_version_error_is_answered_with_a_supported_version() {
    let mut peer = Peer::new(config());
    let probe = peer.one();
    let error = "{'code':-32022,'message':'v','data':{'supported':['2026-07-28'],'requested':'2099-01-01'}}";
    peer.error(&probe, 400, error);
    let again = peer.one();
    assert_eq!(again.method(), "server/discover");
    peer.result(&again, DISCOVERED);
    assert_eq!(peer.http.details().unwrap().era(), Era::Modern);
}

/// B31
#[test]
fn without_a_version_in_common_the_error_names_both_sides() {
    let mut peer = Peer::new(config());
    let probe = peer.one();
    peer.error(&probe, 400, "{'code':-32022,'message':'v','data':{'supported':['2099-02-02']}}");
    peer.none();
    let text = peer.closed().unwrap().to_string();
    assert!(text.contains("2099-02-02") && text.contains("2026-07-28"), "{text}");
}

/// B31: a server that names legacy versions only, by a refusal or in what it offers, is greeted with the newest of
/// them, as a legacy server: with no header of the other era.
#[test]
fn legacy_versions_only_lead_to_initialize() {
    let legacy = "['2025-03-26','2025-06-18']";
    let refused = format!("{{'code':-32022,'message':'v','data':{{'supported':{legacy}}}}}");
    let offered = format!("{{'resultType':'complete','supportedVersions':{legacy},'capabilities':{{}}}}");
    for is_refused in [true, false] {
        let mut peer = Peer::new(config());
        let probe = peer.one();
        if is_refused {
            peer.error(&probe, 400, &refused)
        } else {
            peer.result(&probe, &offered)
        }
        let initialize = peer.one();
        assert_eq!(initialize.method(), "initialize");
        assert!(initialize.body().contains("\"protocolVersion\":\"2025-06-18\""), "{}", initialize.body());
        assert_eq!(
            (initialize.header("mcp-method"), initialize.header("mcp-protocol-version")),
            (None, None)
        );
        peer.result(&initialize, &INITIALIZED.replace("2025-11-25", "2025-06-18"));
        assert_eq!(peer.http.details().unwrap().revision, Revision::V2025_06_18);

        // Whoever wants a modern server only is told what there is.
        let mut peer = Peer::new(config().era(EraChoice::Modern));
        let probe = peer.one();
        if is_refused {
            peer.error(&probe, 400, &refused)
        } else {
            peer.result(&probe, &offered)
        }
        peer.none();
        let text = peer.closed().unwrap().to_string();
        assert!(text.contains("2025-06-18") && text.contains("2026-07-28"), "{text}");
    }
}

/// VER-10
#[test]
fn recognised_modern_errors_never_fall_back() {
    for code in [-32020, -32021, -32022] {
        let mut peer = Peer::new(config());
        let probe = peer.one();
        peer.error(&probe, 400, &format!("{{'code':{code},'message':'no'}}"));
        peer.none();
        assert!(
            matches!(peer.closed(), Some(CallError::Server { status: Some(status), .. }) if status.code == 400)
        );
    }
}

/// Appendix B.18: authorization is never a matter of the era.
#[test]
fn a_server_that_wants_authorization_says_so_at_once() {
    for (status, head) in [(401, ResponseHead::new(401)), (403, refused::challenged(403))] {
        let mut peer = Peer::new(config());
        let call = peer.http.start(peer.now, &ListTools::new(), CallOptions::new()).unwrap();
        let probe = peer.one();
        peer.whole(&probe, head, "");
        peer.none();
        assert_eq!(peer.take(&call).unwrap_err(), unauthorized(status));
        assert_eq!(peer.closed(), Some(unauthorized(status)));
    }
}

#[test]
fn trouble_on_the_way_says_nothing_about_the_era() {
    let mut peer = Peer::new(config());
    let probe = peer.one();
    peer.http.handle_failed(peer.now, probe.exchange, "connection refused", true);
    peer.none();
    assert!(peer.closed().unwrap().to_string().contains("connection refused"));
    for status in [429, 502, 503, 504] {
        let mut peer = Peer::new(config());
        let probe = peer.one();
        peer.whole(&probe, ResponseHead::new(status), "busy");
        peer.none();
        assert!(peer.closed().unwrap().to_string().contains("busy"));
    }
}

#[test]
fn silence_aborts_the_probe_and_leads_to_initialize() {
    let mut peer = Peer::new(config());
    let probe = peer.one();
    peer.wait(5_000);
    assert_eq!(peer.aborted(), [probe.exchange]);
    let initialize = peer.one();
    assert_eq!(initialize.method(), "initialize");
    peer.result(&probe, DISCOVERED);
    assert!(peer.http.details().is_none());
}

/// B28, CAN-15
#[test]
fn initialize_times_out_without_being_cancelled() {
    let mut peer = Peer::new(config().era(EraChoice::Legacy));
    let initialize = peer.one();
    peer.wait(60_000);
    peer.none();
    assert_eq!(peer.aborted(), [initialize.exchange]);
    assert!(peer.closed().is_some());
    peer.is_empty();
}

/// B27
#[test]
fn an_error_to_initialize_fails_with_that_error() {
    let mut peer = Peer::new(config().era(EraChoice::Legacy));
    let initialize = peer.one();
    peer.error(&initialize, 200, "{'code':-32001,'message':'token expired'}");
    let error = ErrorObject::new(-32001, "token expired");
    assert_eq!(peer.closed(), Some(CallError::Server { error, status: None }));
}
