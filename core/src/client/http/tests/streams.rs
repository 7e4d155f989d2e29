use super::*;

fn progress(sent: &Sent, value: u8) -> String {
    let token = sent.id();
    format!(
        "{{'jsonrpc':'2.0','method':'notifications/progress','params':{{'progressToken':{token},'progress':{value}}}}}"
    )
}

fn with_progress(peer: &mut Peer) -> (Pending<super::super::super::ToolReply>, Sent) {
    let call = peer.http.start(peer.now, &CallTool::new("a"), CallOptions::new().progress()).unwrap();
    (call, peer.one())
}

/// HTTP-16, PRG-04
#[test]
fn notifications_come_before_the_response() {
    let mut peer = Peer::modern();
    let (call, sent) = with_progress(&mut peer);
    assert!(sent.body().contains(&format!("\"progressToken\":{}", sent.id())));
    peer.stream(&sent);
    peer.event(&sent, &progress(&sent, 1));
    peer.event(
        &sent,
        "{'jsonrpc':'2.0','method':'notifications/message','params':{'level':'info','data':1}}",
    );
    let body = response(&sent, "{'content':[]}");
    peer.event(&sent, &body);
    let events = peer.events();
    let expected = Progress { progress: 1.0, total: None, message: None };
    assert!(
        matches!(&events[..], [Event::Progress(id, it), Event::Log(Some(of), _), Event::Settled(_)] if *id == call.id() && of == id && *it == expected)
    );
}

/// A stream that goes on after the response is cut off, so that it does not hold its connection.
#[test]
fn a_stream_that_does_not_end_is_cut_off() {
    let mut peer = Peer::modern();
    let (call, sent) = peer.start(&CallTool::new("a"));
    peer.stream(&sent);
    let body = response(&sent, "{'content':[]}");
    peer.event(&sent, &body);
    peer.event(&sent, "{'jsonrpc':'2.0','method':'x/y'}");
    peer.take(&call).unwrap();
    assert_eq!(peer.events().len(), 1);
    assert!(peer.aborted().is_empty());
    peer.wait(1_000);
    assert_eq!(peer.aborted(), [sent.exchange]);
    peer.is_empty();
}

/// B47, B48, SSE-03, SSE-05, SSE-07
#[test]
fn comments_priming_events_and_odd_fields_do_no_harm() {
    let mut peer = Peer::modern();
    let (call, sent) = peer.start(&CallTool::new("a"));
    peer.stream(&sent);
    peer.body(&sent, ": keep-alive\n\nid: p1\ndata:\n\nid: p2\n\nfoo: 1\r\n");
    let id = sent.id();
    peer.body(
        &sent,
        &format!("data:{{\"jsonrpc\":\"2.0\",\"id\":{id},\ndata\ndata: \"result\":{{\"content\":[]}}}}\n\n"),
    );
    peer.take(&call).unwrap();
    assert!(peer.diagnostics().is_empty());
}

/// B49, B16
#[test]
fn foreign_events_and_bad_json_are_skipped_with_one_word() {
    let mut peer = Peer::modern();
    let (call, sent) = peer.start(&CallTool::new("a"));
    peer.stream(&sent);
    for _ in 0..50_000 {
        peer.body(&sent, "event: ping\ndata: now\n\n");
    }
    for noise in ["42", "nonsense", "null", "[]"] {
        peer.body(&sent, &format!("data: {noise}\n\n"));
    }
    let body = response(&sent, "{'content':[]}");
    peer.event(&sent, &body);
    peer.take(&call).unwrap();
    assert_eq!(peer.diagnostics().len(), 1);
}

/// B52, HTTPL-20, HTTPL-21, HTTPL-27, HTTPL-39, SSE-08
#[test]
fn a_legacy_stream_that_breaks_off_is_resumed_after_retry() {
    let mut peer = Peer::legacy();
    let (call, sent) = with_progress(&mut peer);
    peer.stream(&sent);
    peer.body(&sent, "id: s1:3\nretry: 250\ndata:\n\n");
    let event = json(&progress(&sent, 1));
    peer.body(&sent, &format!("id: s1:4\ndata: {event}\n\nid: s1:5\ndata: unfinished"));
    peer.end(&sent);
    peer.none();
    peer.wait(249);
    peer.none();
    peer.wait(1);
    let get = peer.one();
    assert_eq!(get.request.head.method, "GET");
    assert_eq!(get.header("last-event-id"), Some("s1:4"));
    assert_eq!(get.header("accept"), Some("text/event-stream"));
    assert_eq!(get.header("mcp-session-id"), Some("s-1"));
    assert!(get.request.body.is_empty());
    peer.stream(&get);
    let body = response(&sent, "{'content':[{'type':'text','text':'after'}]}");
    peer.event(&get, &body);
    assert_eq!(peer.take(&call).unwrap().text(), "after");
    peer.end(&get);
    peer.is_empty();
}

/// B52: no id
#[test]
fn a_stream_that_cannot_be_resumed_fails_its_call_at_once() {
    let mut legacy = Peer::legacy();
    let (call, sent) = legacy.start(&CallTool::new("a"));
    legacy.stream(&sent);
    legacy.event(&sent, &progress(&sent, 1));
    legacy.end(&sent);
    let Err(CallError::Broken { reason, unsent: false }) = legacy.take(&call) else { panic!() };
    assert!(reason.contains("ended without the response"));
    legacy.wait(60_000);
    legacy.none();
    legacy.is_empty();
}

/// B50
#[test]
fn the_delay_has_a_floor_and_nonsense_is_ignored() {
    for (field, delay) in [("0", 100), ("12x", 1_000), ("99999999999999999999", u64::MAX), ("", 1_000)] {
        let mut peer = Peer::legacy();
        let options = CallOptions::new().timeout(Duration::from_secs(1_000)).max(Duration::from_secs(1_000));
        let call = peer.http.start(peer.now, &CallTool::new("a"), options).unwrap();
        let sent = peer.one();
        peer.stream(&sent);
        peer.body(&sent, &format!("id: 1\nretry: {field}\ndata:\n\n"));
        peer.end(&sent);
        if delay == u64::MAX {
            // Longer than the total wait: given up at once.
            assert!(matches!(peer.take(&call), Err(CallError::Broken { .. })), "{field}");
            continue;
        }
        peer.wait(delay - 1);
        peer.none();
        peer.wait(1);
        assert_eq!(peer.one().request.head.method, "GET", "{field}");
    }
}

#[test]
fn a_resumption_that_brings_nothing_is_tried_ever_less_often_and_given_up() {
    let mut peer = Peer::legacy();
    let options = CallOptions::new().timeout(Duration::from_secs(1_000)).max(Duration::from_secs(1_000));
    let call = peer.http.start(peer.now, &CallTool::new("a"), options).unwrap();
    let sent = peer.one();
    peer.stream(&sent);
    peer.body(&sent, "id: 1\ndata:\n\n");
    peer.end(&sent);
    let begin = peer.now.mono;
    let mut tries = 0;
    while peer.http.calls() == 1 && peer.http.poll_timeout().is_some() {
        let next = peer.http.poll_timeout().unwrap();
        let delay = next.saturating_since(peer.now.mono);
        peer.wait(u64::try_from(delay.as_millis()).unwrap());
        let Some(get) = peer.sent().pop() else { break };
        tries += 1;
        peer.http.handle_failed(peer.now, get.exchange, "connection refused", true);
        if peer.http.take(&call).is_some() {
            break;
        }
    }
    assert!((10..20).contains(&tries), "{tries}");
    assert!(peer.now.mono.saturating_since(begin) <= Duration::from_secs(300));
    peer.is_empty();
}

/// `Limits::resume_total` is reached exactly, and passed by one millisecond.
#[test]
fn a_resumption_may_take_so_long_and_no_longer() {
    for (total, resumed) in [(1_000, true), (999, false)] {
        let limits = Limits { resume_total: Duration::from_millis(total), ..Limits::default() };
        let mut peer = Peer::legacy_with(config().limits(limits));
        let (call, sent) = peer.start(&CallTool::new("a"));
        peer.stream(&sent);
        peer.body(&sent, "id: 1\nretry: 1000\ndata:\n\n");
        peer.end(&sent);
        peer.wait(1_000);
        assert_eq!((peer.http.take(&call).is_none(), peer.sent().len() == 1), (resumed, resumed), "{total}");
    }
}

/// A server that answers the GET otherwise does not resume; one that lost the session lost the call.
#[test]
fn a_refused_resumption_fails_the_call() {
    for status in [405, 400, 401, 404, 200] {
        let mut peer = Peer::legacy();
        let (call, sent) = peer.start(&CallTool::new("a"));
        peer.stream(&sent);
        peer.body(&sent, "id: 1\ndata:\n\n");
        peer.end(&sent);
        peer.wait(1_000);
        let get = peer.one();
        peer.whole(&get, ResponseHead::new(status), "");
        assert!(peer.take(&call).is_err(), "{status}");
    }
}

#[test]
fn a_call_that_waits_to_be_resumed_can_be_cancelled_and_times_out() {
    let mut peer = Peer::legacy();
    for cancel in [true, false] {
        let (call, sent) = peer.start(&CallTool::new("a"));
        peer.stream(&sent);
        peer.body(&sent, "id: 1\nretry: 90000\ndata:\n\n");
        peer.end(&sent);
        if cancel {
            peer.http.cancel(peer.now, call.id());
        } else {
            peer.wait(60_000);
        }
        assert!(peer.take(&call).is_err());
        let notice = peer.one();
        assert_eq!(notice.method(), "notifications/cancelled");
        peer.whole(&notice, ResponseHead::new(202), "");
        peer.is_empty();
    }
}

/// B20, on a stream.
#[test]
fn responses_to_nothing_are_dropped() {
    let mut peer = Peer::modern();
    let (call, sent) = peer.start(&CallTool::new("a"));
    peer.stream(&sent);
    for number in 0..2_000 {
        peer.event(&sent, &format!("{{'jsonrpc':'2.0','id':'n{number}','result':{{}}}}"));
    }
    let body = response(&sent, "{'content':[{'type':'text','text':'first'}]}");
    peer.event(&sent, &body);
    let body = response(&sent, "{'content':[]}");
    peer.event(&sent, &body);
    peer.end(&sent);
    assert_eq!(peer.take(&call).unwrap().text(), "first");
    assert!(peer.events().len() <= Limits::default().notifications + 2);
    peer.is_empty();
}

/// An error that names another call under way is not this one's.
#[test]
fn an_error_of_another_call_is_not_ours() {
    let mut peer = Peer::modern();
    let (a, first) = peer.start(&CallTool::new("a"));
    let (b, second) = peer.start(&CallTool::new("b"));
    peer.stream(&first);
    peer.event(
        &first,
        &format!("{{'jsonrpc':'2.0','id':{},'error':{{'code':1,'message':'x'}}}}", second.id()),
    );
    assert!(peer.http.take(&a).is_none() && peer.http.take(&b).is_none());
}

/// RPC-26, RPC-28: a batch of responses and notifications, in the one revision that has them.
#[test]
fn a_batch_is_read_in_one_revision_only() {
    for (revision, read) in [("2025-03-26", true), ("2025-06-18", false), ("2024-11-05", false)] {
        let mut peer = Peer::new(config().era(EraChoice::Legacy));
        let initialize = peer.one();
        peer.result(&initialize, &INITIALIZED.replace("2025-11-25", revision));
        let notification = peer.one();
        peer.whole(&notification, ResponseHead::new(202), "");
        peer.events();
        let (call, sent) = peer.start(&CallTool::new("a"));
        let body = format!("[{{'jsonrpc':'2.0','method':'x/y'}},{},7]", response(&sent, "{'content':[]}"));
        peer.answer(&sent, 200, &body);
        assert_eq!(peer.take(&call).is_ok(), read, "{revision}");
        assert_eq!(peer.events().len(), if read { 3 } else { 2 });
    }
}
