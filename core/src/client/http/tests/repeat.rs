//! What is sent again, and what is not.

use super::*;

fn progress(token: &str, value: u8) -> String {
    format!(
        "{{'jsonrpc':'2.0','method':'notifications/progress','params':{{'progressToken':{token},'progress':{value}}}}}"
    )
}

/// HTTP-28, SSE-06: when a modern response stream breaks, the request is made again under another id, also as its
/// progress token; it never resumes. When that breaks as well, it is not made again.
#[test]
fn a_modern_request_whose_stream_broke_is_made_again_once() {
    for (complete, answered) in [(true, true), (false, true), (false, false)] {
        let mut peer = Peer::modern();
        let options = CallOptions::new().progress();
        let arguments = Map::from([("progressToken", 3)]);
        let call = peer.http.start(peer.now, &CallTool::with("a", arguments), options).unwrap();
        let first = peer.one();
        peer.stream(&first);
        peer.body(&first, "id: s1:4\nretry: 5\ndata:\n\n");
        peer.event(&first, &progress(&first.id(), 7));
        if complete {
            peer.end(&first);
        } else {
            peer.http.handle_end(peer.now, first.exchange, End::Broken);
        }
        let second = peer.one();
        assert_ne!(second.id(), first.id());
        assert_eq!((second.request.head.method.as_str(), second.header("last-event-id")), ("POST", None));
        let expected =
            first.body().replace(&format!("\"id\":{}", first.id()), &format!("\"id\":{}", second.id()));
        let token = |sent: &Sent| format!("\"progressToken\":{}}}}}}}", sent.id());
        assert_eq!(second.body(), expected.replace(&token(&first), &token(&second)));
        peer.events();
        peer.stream(&second);
        peer.event(&second, &progress(&second.id(), 1));
        assert!(peer.events().is_empty(), "progress goes forward");
        peer.event(&second, &progress(&second.id(), 8));
        assert_eq!(peer.events().len(), 1);
        if answered {
            let body = response(&second, "{'content':[]}");
            peer.event(&second, &body);
            peer.take(&call).unwrap();
        } else {
            peer.end(&second);
            assert_eq!(peer.take(&call).unwrap_err(), CallError::ResponseStreamClosed);
            peer.wait(60_000);
            peer.none();
        }
    }
}

/// A response that has come is never replaced, however the stream ends; nor is one that came otherwise than on a stream,
/// or not at all, asked for again.
#[test]
fn only_a_broken_stream_is_a_reason_to_make_a_request_again() {
    let mut peer = Peer::modern();
    let (call, sent) = peer.start(&CallTool::new("a"));
    peer.stream(&sent);
    let body = response(&sent, "{'content':[]}");
    peer.event(&sent, &body);
    peer.http.handle_end(peer.now, sent.exchange, End::Broken);
    peer.take(&call).unwrap();
    peer.none();
    for begun in [false, true] {
        let (call, sent) = peer.start(&CallTool::new("a"));
        if begun {
            let mut head = ResponseHead::new(200);
            head.headers.push("content-type", "application/json");
            peer.head(&sent, head);
            peer.body(&sent, "{");
        }
        peer.http.handle_end(peer.now, sent.exchange, End::Broken);
        assert!(matches!(peer.take(&call), Err(CallError::Broken { unsent: false, .. })));
        peer.none();
    }
    peer.is_empty();
}

/// Limits::retries: what surely was not sent is sent again, later each time, whatever it does; so often and no more.
#[test]
fn what_was_not_sent_is_sent_again() {
    for retries in [0, 1, 2] {
        let limits = Limits { retries, ..Limits::default() };
        let mut peer = Peer::modern_with(config().limits(limits));
        let (call, sent) = peer.start(&CallTool::new("a"));
        peer.http.handle_failed(peer.now, sent.exchange, "connection refused", true);
        for (_, longest) in (0..retries).zip([500, 1_000]) {
            assert!(peer.http.take(&call).is_none());
            assert_eq!(peer.http.wake_reason(), Some(WakeReason::Resume));
            peer.wait(longest / 2 - 1);
            peer.none();
            peer.wait(longest / 2 + 1);
            let again = peer.one();
            assert_eq!(again.request, sent.request);
            peer.http.handle_failed(peer.now, again.exchange, "connection refused", true);
        }
        let reason = "connection refused".to_string();
        assert_eq!(peer.take(&call).unwrap_err(), CallError::Broken { reason, unsent: true });
        peer.is_empty();
    }
}

/// A `tools/call` that may have reached the server is never sent again, however it fails (but for HTTP-28): the connection
/// broke before or in the response, or an error status says nothing about whether it ran, even with the word when to come
/// back.
#[test]
fn a_tool_call_that_may_have_run_is_not_sent_again() {
    for peer in [Peer::modern, Peer::legacy] {
        for status in [400, 404, 408, 409, 425, 429, 500, 502, 503, 504] {
            let mut peer = peer();
            let (call, sent) = peer.start(&CallTool::new("a"));
            let mut head = ResponseHead::new(status);
            head.headers.push("Retry-After", "1");
            peer.whole(&sent, head, "");
            peer.take(&call).unwrap_err();
            let later = peer.sent();
            peer.wait(60_000);
            let later = [later, peer.sent()].concat();
            assert!(later.iter().all(|sent| sent.method() != "tools/call"), "{status}: {later:?}");
        }
        for how in 0..4 {
            let mut peer = peer();
            let (call, sent) = peer.start(&CallTool::new("a"));
            let mut head = ResponseHead::new(200);
            head.headers.push("content-type", "application/json");
            match how {
                0 => peer.http.handle_failed(peer.now, sent.exchange, "connection reset", false),
                1 => peer.http.handle_end(peer.now, sent.exchange, End::Broken),
                2 => peer.http.handle_end(peer.now, sent.exchange, End::Complete),
                _ => {
                    peer.head(&sent, head);
                    peer.body(&sent, "{");
                    peer.http.handle_failed(peer.now, sent.exchange, "connection reset", false);
                }
            }
            assert!(matches!(peer.take(&call), Err(CallError::Broken { unsent: false, .. })));
            peer.wait(60_000);
            peer.none();
            peer.is_empty();
        }
    }
}

/// It can be cancelled meanwhile, which a server that never heard of it is not told, and it times out no later; what has
/// no time left is not tried.
#[test]
fn what_waits_to_be_sent_again_can_be_cancelled() {
    let mut peer = Peer::legacy();
    let (call, sent) = peer.start(&CallTool::new("a"));
    peer.http.handle_failed(peer.now, sent.exchange, "connection refused", true);
    peer.http.cancel(peer.now, call.id());
    assert_eq!(peer.take(&call).unwrap_err(), CallError::Cancelled);
    peer.none();
    peer.is_empty();
    let options = CallOptions::new().timeout(Duration::from_millis(200));
    let call = peer.http.start(peer.now, &CallTool::new("a"), options).unwrap();
    let sent = peer.one();
    peer.http.handle_failed(peer.now, sent.exchange, "connection refused", true);
    assert!(matches!(peer.take(&call), Err(CallError::Broken { unsent: true, .. })));
    peer.is_empty();
}

/// A server that says when to come back is asked again then, where that does no harm: never a `tools/call`, and nothing
/// without that word.
#[test]
fn a_server_that_says_when_is_asked_again() {
    let refuse = |peer: &mut Peer, sent: &Sent, status, after: Option<&str>| {
        let mut head = ResponseHead::new(status);
        after.into_iter().for_each(|after| head.headers.push("Retry-After", after));
        peer.whole(sent, head, "busy");
    };
    // Seven seconds past what the clock on the wall says here.
    let date = "Tue, 14 Nov 2023 22:13:27 GMT";
    for (status, after) in [(429, "7"), (503, "7"), (503, date)] {
        let mut peer = Peer::modern();
        let (call, sent) = peer.start(&ListTools::new());
        refuse(&mut peer, &sent, status, Some(after));
        peer.wait(6_999);
        peer.none();
        peer.wait(1);
        let again = peer.one();
        peer.result(&again, "{'resultType':'complete','tools':[],'ttlMs':0,'cacheScope':'private'}");
        peer.take(&call).unwrap();
        peer.is_empty();
    }
    let late = Some("Tue, 14 Nov 2023 23:13:27 GMT");
    for (status, after) in [
        (503, None),
        (503, Some("soon")),
        (503, Some("-1")),
        (503, Some("600")),
        (500, Some("1")),
        (503, late),
    ] {
        let mut peer = Peer::modern();
        let (call, sent) = peer.start(&ListTools::new());
        refuse(&mut peer, &sent, status, after);
        assert!(matches!(peer.take(&call), Err(CallError::Broken { .. })), "{status} {after:?}");
    }
    let mut peer = Peer::modern();
    let (call, sent) = peer.start(&CallTool::new("a"));
    refuse(&mut peer, &sent, 503, Some("1"));
    assert!(peer.take(&call).is_err());
    peer.is_empty();
}

/// The word of a server counts for subscriptions, too.
#[test]
fn a_subscription_is_opened_again_when_the_server_says() {
    let mut peer = Peer::modern();
    let wanted = crate::model::subscriptions::SubscriptionFilter::new().tools_list_changed(true);
    peer.http.listen(peer.now, wanted).unwrap();
    let sent = peer.one();
    let mut head = ResponseHead::new(503);
    head.headers.push("Retry-After", "20");
    peer.whole(&sent, head, "busy");
    peer.wait(19_999);
    peer.none();
    peer.wait(1);
    assert_eq!(peer.one().method(), "subscriptions/listen");
}
