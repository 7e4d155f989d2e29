use super::*;

fn small(message: usize) -> Config {
    config().limits(Limits { message, ..Limits::default() })
}

#[test]
fn a_body_of_exactly_the_limit_is_read_and_one_more_byte_is_too_large() {
    for extra in [0, 1] {
        let mut peer = Peer::modern_with(small(1_000));
        let (call, sent) = peer.start(&CallTool::new("a"));
        let mut body = response(&sent, "{'content':[]}");
        while body.len() < 1_000 + extra {
            body.push(' ');
        }
        peer.answer(&sent, 200, &body);
        let taken = peer.take(&call);
        if extra == 0 {
            taken.unwrap();
        } else {
            assert_eq!(taken.unwrap_err(), CallError::TooLarge { limit: 1_000 });
            assert_eq!(peer.aborted(), [sent.exchange]);
        }
        peer.is_empty();
    }
}

#[test]
fn a_body_that_is_declared_too_long_is_not_waited_for() {
    for length in [1_001, u64::MAX] {
        let mut peer = Peer::modern_with(small(1_000));
        let (call, sent) = peer.start(&CallTool::new("a"));
        let mut head = ResponseHead::new(200);
        head.headers.push("Content-Type", "application/json");
        head.headers.push("Content-Length", length.to_string());
        peer.head(&sent, head);
        assert_eq!(peer.take(&call).unwrap_err(), CallError::TooLarge { limit: 1_000 });
        assert_eq!(peer.aborted(), [sent.exchange]);
        peer.is_empty();
    }
}

#[test]
fn an_event_of_exactly_the_limit_is_read() {
    let mut peer = Peer::modern_with(small(1_000));
    let (call, sent) = peer.start(&CallTool::new("a"));
    peer.stream(&sent);
    let body = response(&sent, "{'content':[]}");
    peer.body(&sent, &format!("data: {body:1000}\n\n"));
    peer.take(&call).unwrap();
}

#[test]
fn an_event_that_is_too_long_fails_its_call() {
    let mut peer = Peer::modern_with(small(1_000));
    let (call, sent) = peer.start(&CallTool::new("a"));
    peer.stream(&sent);
    peer.body(&sent, &format!("data: {}", "x".repeat(1_001)));
    assert_eq!(peer.take(&call).unwrap_err(), CallError::TooLarge { limit: 1_000 });
    assert_eq!(peer.aborted(), [sent.exchange]);
    peer.is_empty();
}

#[test]
fn a_refusal_may_be_of_any_length() {
    let mut peer = Peer::modern();
    let (call, sent) = peer.start(&CallTool::new("a"));
    peer.head(&sent, ResponseHead::new(500));
    for _ in 0..1_000 {
        peer.body(&sent, &"x".repeat(1_000));
    }
    peer.end(&sent);
    assert!(matches!(peer.take(&call), Err(CallError::Broken { .. })));
}

#[test]
fn calls_in_flight_are_bounded() {
    let mut peer = Peer::modern_with(config().limits(Limits { in_flight: 1, ..Limits::default() }));
    let (call, sent) = peer.start(&CallTool::new("a"));
    let error = peer.http.start(peer.now, &CallTool::new("a"), CallOptions::new()).map(drop).unwrap_err();
    assert_eq!(error, CallError::Full(Full::new("in_flight", 1)));
    peer.result(&sent, "{'content':[]}");
    peer.take(&call).unwrap();
    peer.start(&CallTool::new("a"));
}

/// A server that asks without end is not answered without end.
#[test]
fn answers_to_the_server_are_bounded() {
    let mut peer = Peer::legacy_with(config().limits(Limits { in_flight: 4, ..Limits::default() }));
    let (_, sent) = peer.start(&CallTool::new("a"));
    peer.stream(&sent);
    for _ in 0..100 {
        peer.event(&sent, "{'jsonrpc':'2.0','id':1,'method':'ping'}");
    }
    assert_eq!(peer.http.exchanges(), 8);
}

/// A message that nobody acknowledges does not stay for ever.
#[test]
fn a_notice_that_is_not_answered_is_cut_off() {
    let mut peer = Peer::legacy();
    let (call, _) = peer.start(&CallTool::new("a"));
    peer.http.cancel(peer.now, call.id());
    peer.http.forget(call.id());
    let notice = peer.one();
    peer.aborted();
    peer.wait(60_000);
    assert_eq!(peer.aborted(), [notice.exchange]);
    peer.is_empty();
}
