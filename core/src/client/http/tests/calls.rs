use super::*;

/// HTTP-15, HTTPL-09
#[test]
fn a_response_may_be_json_or_a_stream() {
    for mut peer in [Peer::modern(), Peer::legacy()] {
        let (call, sent) = peer.start(&CallTool::new("a"));
        peer.result(&sent, "{'content':[{'type':'text','text':'one'}]}");
        assert_eq!(peer.take(&call).unwrap().text(), "one");
        let (call, sent) = peer.start(&CallTool::new("a"));
        peer.stream(&sent);
        let body = response(&sent, "{'content':[{'type':'text','text':'two'}]}");
        peer.event(&sent, &body);
        assert_eq!(peer.take(&call).unwrap().text(), "two");
        peer.end(&sent);
        peer.is_empty();
    }
}

/// HTTP-07, HTTPL-02, RPC-05, RPC-06
#[test]
fn every_message_is_a_post_of_its_own_with_an_id_of_its_own() {
    let mut peer = Peer::modern();
    let (a, first) = peer.start(&CallTool::new("a"));
    let (b, second) = peer.start(&CallTool::new("b"));
    assert_ne!(first.exchange, second.exchange);
    assert_ne!(first.id(), second.id());
    peer.result(&second, "{'content':[{'type':'text','text':'b'}]}");
    peer.result(&first, "{'content':[{'type':'text','text':'a'}]}");
    assert_eq!(peer.take(&a).unwrap().text(), "a");
    assert_eq!(peer.take(&b).unwrap().text(), "b");
}

#[test]
fn calls_made_before_the_era_is_known_go_out_when_it_is() {
    let mut peer = Peer::new(config());
    let probe = peer.one();
    peer.http.start(peer.now, &CallTool::new("a"), CallOptions::new()).unwrap();
    peer.none();
    peer.result(&probe, DISCOVERED);
    let sent = peer.one();
    assert_eq!(sent.header("mcp-name"), Some("a"));
}

/// B24: some servers refuse what overtakes the notification.
#[test]
fn calls_wait_until_the_server_has_taken_note_of_the_handshake() {
    let mut peer = Peer::new(config().era(EraChoice::Legacy));
    let initialize = peer.one();
    peer.http.start(peer.now, &CallTool::new("a"), CallOptions::new()).unwrap();
    peer.result(&initialize, INITIALIZED);
    let notification = peer.one();
    peer.http.start(peer.now, &CallTool::new("b"), CallOptions::new()).unwrap();
    peer.none();
    peer.head(&notification, ResponseHead::new(202));
    assert_eq!(peer.sent().len(), 2);
}

/// A server that does not answer the notification, or not kindly.
#[test]
fn calls_do_not_wait_for_ever() {
    let mut peer = Peer::new(config().era(EraChoice::Legacy));
    let initialize = peer.one();
    peer.result(&initialize, INITIALIZED);
    peer.one();
    peer.http.start(peer.now, &CallTool::new("a"), CallOptions::new()).unwrap();
    peer.wait(5_000);
    assert_eq!(peer.one().method(), "tools/call");

    let mut peer = Peer::new(config().era(EraChoice::Legacy));
    let initialize = peer.one();
    peer.result(&initialize, INITIALIZED);
    let notification = peer.one();
    peer.http.start(peer.now, &CallTool::new("a"), CallOptions::new()).unwrap();
    peer.whole(&notification, ResponseHead::new(400), "no");
    assert_eq!(peer.one().method(), "tools/call");
    assert_eq!(peer.diagnostics().len(), 1);
}

/// B18
#[test]
fn the_error_of_a_post_is_the_error_of_its_request_whatever_its_id() {
    for id in ["'id':'server-error',", "'id':null,", "", "'id':99,"] {
        for mut peer in [Peer::modern(), Peer::legacy()] {
            let (call, sent) = peer.start(&CallTool::new("a"));
            peer.answer(
                &sent,
                400,
                &format!("{{'jsonrpc':'2.0',{id}'error':{{'code':-32600,'message':'no'}}}}"),
            );
            let error = ErrorObject::new(-32600, "no");
            assert_eq!(peer.take(&call).unwrap_err(), CallError::Server { error, status: Some(from(400)) });
            let (call, sent) = peer.start(&CallTool::new("a"));
            peer.stream(&sent);
            peer.event(&sent, &format!("{{'jsonrpc':'2.0',{id}'error':{{'code':-32600,'message':'no'}}}}"));
            assert!(matches!(peer.take(&call), Err(CallError::Server { status: None, .. })));
        }
    }
}

/// B43, HTTP-24: data and status are kept; 404 with -32601 is an unknown method.
#[test]
fn an_error_inside_an_error_status_reaches_the_call() {
    let mut peer = Peer::modern();
    let (call, sent) = peer.start(&CallTool::new("a"));
    peer.error(&sent, 400, "{'code':-32602,'message':'bad','data':{'k':1}}");
    let Err(CallError::Server { error, status }) = peer.take(&call) else { panic!() };
    assert_eq!(status, Some(from(400)));
    assert_eq!(error.data.unwrap().get(), "{\"k\":1}");
    for mut peer in [Peer::modern(), Peer::legacy()] {
        let (call, sent) = peer.start(&CallTool::new("a"));
        peer.error(&sent, 404, "{'code':-32601,'message':'what?'}");
        assert!(
            matches!(peer.take(&call), Err(CallError::Server { error, status }) if error.code == -32601 && status == Some(from(404)))
        );
        peer.none();
    }
}

/// B43
#[test]
fn a_result_inside_an_error_status_is_not_believed() {
    let mut peer = Peer::modern();
    let (call, sent) = peer.start(&CallTool::new("a"));
    let body = response(&sent, "{'content':[]}");
    peer.answer(&sent, 400, &body);
    assert!(matches!(peer.take(&call), Err(CallError::Refused { .. })));
}

/// HTTP-32, and other refusals without a message.
#[test]
fn a_refusal_without_a_message_is_told_in_words() {
    for (status, word) in [(413, "larger"), (431, "fields"), (500, "oops"), (418, "oops")] {
        let mut peer = Peer::modern();
        let (call, sent) = peer.start(&CallTool::new("a"));
        peer.whole(&sent, ResponseHead::new(status), "oops\n\x07");
        let text = peer.take(&call).unwrap_err().to_string();
        assert!(
            text.contains(word) && text.contains(&from(status).to_string()) && !text.contains('\n'),
            "{text}"
        );
    }
    let mut peer = Peer::modern();
    let (call, sent) = peer.start(&CallTool::new("a"));
    peer.whole(&sent, ResponseHead::new(500), &"long ".repeat(1_000));
    assert!(peer.take(&call).unwrap_err().to_string().len() < 400);
}

#[test]
fn a_call_that_wants_authorization_says_so() {
    let mut peer = Peer::legacy();
    let (call, sent) = peer.start(&CallTool::new("a"));
    peer.whole(&sent, ResponseHead::new(401), "{}");
    assert_eq!(peer.take(&call).unwrap_err(), unauthorized(401));
    assert!(!peer.http.is_closed());
}

/// B40
#[test]
fn a_content_coding_that_was_not_asked_for_is_named() {
    for coding in ["br", "compress", "identity, zstd"] {
        let mut peer = Peer::modern();
        let (call, sent) = peer.start(&CallTool::new("a"));
        let mut head = ResponseHead::new(200);
        head.headers.push("Content-Type", "application/json");
        head.headers.push("Content-Encoding", coding);
        peer.whole(&sent, head, "\u{1b}\u{3}");
        let text = peer.take(&call).unwrap_err().to_string();
        assert!(text.contains(coding.rsplit(' ').next().unwrap()), "{text}");
    }
    let mut peer = Peer::modern();
    let (call, sent) = peer.start(&CallTool::new("a"));
    let mut head = ResponseHead::new(200);
    head.headers.push("Content-Type", "application/json");
    head.headers.push("Content-Encoding", "Identity");
    let body = response(&sent, "{'content':[]}");
    peer.whole(&sent, head, &body);
    peer.take(&call).unwrap();
}

#[test]
fn an_answer_of_another_kind_is_invalid() {
    let html = ResponseHead {
        headers: crate::head::Headers::new().with("Content-Type", "text/html"),
        ..ResponseHead::new(200)
    };
    for (head, body) in [
        (html, "<p>"),
        (ResponseHead::new(202), ""),
        (ResponseHead::new(204), ""),
        (ResponseHead::new(200), "<p>"),
    ] {
        let mut peer = Peer::modern();
        let (call, sent) = peer.start(&CallTool::new("a"));
        peer.whole(&sent, head, body);
        assert!(matches!(peer.take(&call), Err(CallError::Invalid { .. })));
    }
    for body in
        ["", "[]", "{}", "7", "{'jsonrpc':'2.0','method':'x/y'}", "{'jsonrpc':'2.0','id':'x','result':{}}"]
    {
        let mut peer = Peer::modern();
        let (call, sent) = peer.start(&CallTool::new("a"));
        peer.answer(&sent, 200, body);
        assert!(matches!(peer.take(&call), Err(CallError::Invalid { .. })), "{body}");
    }
}

/// B33, from the other side.
#[test]
fn the_type_of_a_response_is_compared_without_case_and_parameters() {
    let mut peer = Peer::modern();
    let (call, sent) = peer.start(&CallTool::new("a"));
    let mut head = ResponseHead::new(200);
    head.headers.push("content-type", "Application/JSON; charset=\"UTF-8\"");
    let body = response(&sent, "{'content':[]}");
    peer.whole(&sent, head, &body);
    peer.take(&call).unwrap();
}

/// B54, CAN-01, CAN-21: modern.
#[test]
fn a_modern_call_that_times_out_closes_its_stream_and_says_nothing() {
    let mut peer = Peer::modern();
    let options = CallOptions::new().timeout(Duration::from_secs(1));
    let call = peer.http.start(peer.now, &CallTool::new("a"), options).unwrap();
    let sent = peer.one();
    peer.wait(1_000);
    assert_eq!(peer.aborted(), [sent.exchange]);
    peer.none();
    assert_eq!(peer.take(&call).unwrap_err(), CallError::TimedOut { after: Duration::from_secs(1) });
    peer.result(&sent, "{'content':[]}");
    assert!(peer.diagnostics().is_empty());
    peer.is_empty();
}

/// B54, HTTPL-24: legacy.
#[test]
fn a_legacy_call_that_times_out_is_cancelled_by_a_message() {
    let mut peer = Peer::legacy();
    let options = CallOptions::new().timeout(Duration::from_secs(1));
    let call = peer.http.start(peer.now, &CallTool::new("a"), options).unwrap();
    let sent = peer.one();
    peer.wait(1_000);
    let cancel = peer.one();
    assert_eq!(cancel.method(), "notifications/cancelled");
    assert!(cancel.body().contains(&format!("\"requestId\":{}", sent.id())));
    assert_eq!(cancel.header("mcp-session-id"), Some("s-1"));
    assert!(peer.take(&call).is_err());
    peer.whole(&cancel, ResponseHead::new(202), "");
    peer.is_empty();
}

#[test]
fn cancelling_twice_or_too_late_is_nothing() {
    let mut peer = Peer::modern();
    let (call, sent) = peer.start(&CallTool::new("a"));
    peer.http.cancel(peer.now, call.id());
    peer.http.cancel(peer.now, call.id());
    assert_eq!(peer.aborted(), [sent.exchange]);
    assert_eq!(peer.settled(), 1);
    assert_eq!(peer.take(&call).unwrap_err(), CallError::Cancelled);
    peer.http.cancel(peer.now, call.id());
    peer.is_empty();
}

#[test]
fn a_request_that_could_not_be_sent_says_whether_it_may_be_again() {
    for unsent in [true, false] {
        let limits = Limits { retries: 0, ..Limits::default() };
        let mut peer = Peer::modern_with(config().limits(limits));
        let (call, sent) = peer.start(&CallTool::new("a"));
        peer.http.handle_failed(peer.now, sent.exchange, "connection reset", unsent);
        let reason = "connection reset".to_string();
        assert_eq!(peer.take(&call).unwrap_err(), CallError::Broken { reason, unsent });
        peer.is_empty();
    }
}

/// B37
#[test]
fn a_redirect_within_the_origin_is_followed_with_method_body_and_headers() {
    let mut peer = Peer::modern_with(config().header("Authorization", "Bearer t"));
    let (call, sent) = peer.start(&CallTool::new("a"));
    peer.head(&sent, redirect(307, "/mcp/"));
    let again = peer.one();
    assert_ne!(again.exchange, sent.exchange);
    assert_eq!(again.request.head.target, "/mcp/");
    assert_eq!(again.request.body, sent.request.body);
    assert_eq!(again.request.head.method, "POST");
    assert_eq!(again.request.head.headers, sent.request.head.headers);
    peer.end(&sent);
    peer.result(&again, "{'content':[]}");
    peer.take(&call).unwrap();
    peer.is_empty();
    // A temporary one is asked for again, a permanent one remembered.
    let (_, sent) = peer.start(&CallTool::new("a"));
    assert_eq!(sent.request.head.target, "/mcp");
    peer.head(&sent, redirect(308, "https://h.example/new"));
    peer.one();
    let (_, sent) = peer.start(&CallTool::new("a"));
    assert_eq!(sent.request.head.target, "/new");
}

/// B37
#[test]
fn other_redirects_are_refused_and_nothing_is_sent() {
    for (status, location) in [
        (307, "https://other.example/"),
        (307, "http://h.example/mcp"),
        (307, "//other.example/mcp"),
        (303, "/mcp/"),
        (307, ""),
    ] {
        let mut peer = Peer::modern();
        let (call, sent) = peer.start(&CallTool::new("a"));
        peer.head(&sent, redirect(status, location));
        peer.none();
        let told = from(status).to_string();
        assert!(
            matches!(peer.take(&call), Err(CallError::Invalid { reason }) if reason.starts_with(&told)),
            "{status} {location}"
        );
        peer.end(&sent);
        peer.is_empty();
    }
}

/// B37
#[test]
fn redirects_end_after_three() {
    let mut peer = Peer::modern();
    let (call, mut sent) = peer.start(&CallTool::new("a"));
    for _ in 0..3 {
        peer.head(&sent, redirect(307, "/again"));
        peer.end(&sent);
        sent = peer.one();
    }
    peer.head(&sent, redirect(307, "/again"));
    peer.end(&sent);
    peer.none();
    assert!(peer.take(&call).unwrap_err().to_string().contains("redirects"));
    peer.is_empty();
}

/// The probe may be redirected, too.
#[test]
fn the_handshake_follows_redirects() {
    let mut peer = Peer::new(config());
    let probe = peer.one();
    peer.head(&probe, redirect(308, "/mcp/"));
    peer.end(&probe);
    let again = peer.one();
    peer.result(&again, DISCOVERED);
    let (_, sent) = peer.start(&CallTool::new("a"));
    assert_eq!(sent.request.head.target, "/mcp/");
    // And silence is still noticed behind one.
    let mut peer = Peer::new(config());
    let probe = peer.one();
    peer.head(&probe, redirect(307, "/mcp/"));
    peer.end(&probe);
    let again = peer.one();
    peer.wait(5_000);
    assert_eq!(peer.aborted(), [again.exchange]);
    assert_eq!(peer.one().method(), "initialize");
}
