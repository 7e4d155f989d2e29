use super::*;

/// B85
#[test]
fn the_end_of_the_server_ends_every_call_with_the_reason() {
    let mut peer = Peer::modern();
    let calls: Vec<_> = (0..3).map(|_| peer.start(&CallTool::new("a"))).collect();
    peer.connection.handle_failed(peer.now, "the server exited with status 3; stderr ends with `panic: x`");
    for call in &calls {
        let Some(Err(CallError::Broken { reason, unsent: false })) = peer.connection.take(call) else {
            panic!()
        };
        assert!(reason.contains("panic: x"));
    }
    let error =
        peer.connection.start(peer.now, &CallTool::new("a"), CallOptions::new()).map(drop).unwrap_err();
    assert!(error.to_string().contains("panic: x"));
    assert_eq!(peer.connection.calls(), 0);
    assert_eq!(peer.connection.poll_timeout(), None);
}

#[test]
fn a_last_line_without_its_end_still_counts() {
    let mut peer = Peer::modern();
    let call = peer.start(&CallTool::new("a"));
    let id = id(&peer.one());
    let line = json(&format!("{{'jsonrpc':'2.0','id':{id},'result':{{'content':[]}}}}"));
    peer.connection.handle_bytes(peer.now, line.as_bytes());
    peer.connection.handle_end(peer.now, End::Complete);
    assert!(peer.connection.take(&call).unwrap().is_ok());
}

/// B85: a server that dies within a line has not answered; what its call is told is that it died.
#[test]
fn a_last_line_that_was_cut_off_is_no_answer() {
    let mut cut = 1;
    loop {
        let mut peer = Peer::modern();
        let call = peer.start(&CallTool::new("a"));
        let id = id(&peer.one());
        let line = json(&format!("{{'jsonrpc':'2.0','id':{id},'result':{{'content':[]}}}}"));
        if cut == line.len() {
            break;
        }
        peer.connection.handle_bytes(peer.now, &line.as_bytes()[..cut]);
        peer.connection.handle_end(peer.now, End::Broken);
        let outcome = peer.connection.take(&call).unwrap();
        assert!(matches!(outcome, Err(CallError::Broken { .. })), "{cut}: {outcome:?}");
        cut += 1;
    }
}

#[test]
fn closing_settles_everything_and_is_the_last_event() {
    let mut peer = Peer::modern();
    let call = peer.start(&CallTool::new("a"));
    peer.connection.close(peer.now);
    peer.connection.close(peer.now);
    let outputs = peer.drain();
    assert!(
        matches!(outputs[..], [Output::Event(Event::Settled(_)), Output::Event(Event::Closed(_))]),
        "{outputs:?}"
    );
    assert!(peer.connection.take(&call).unwrap().is_err());
    peer.says("{'jsonrpc':'2.0','method':'x/y'}");
    assert!(peer.drain().is_empty());
}

/// Not even what was read together with the fatal line, or the count of what was dropped, comes behind the end.
#[test]
fn nothing_is_told_after_the_end() {
    let limits = Limits { notifications: 2, ..Limits::default() };
    let mut peer = Peer::new(config().era(EraChoice::Legacy).limits(limits));
    let id = id(&peer.one());
    let fatal = format!("{{'jsonrpc':'2.0','id':{id},'error':{{'code':1,'message':'no'}}}}");
    let noise = "{'jsonrpc':'2.0','method':'x/y'}";
    peer.says(&[noise, noise, noise, &fatal, noise, "noise"].join("\n"));
    let outputs = peer.drain();
    assert!(matches!(outputs.last(), Some(Output::Event(Event::Closed(_)))), "{outputs:?}");
    assert_eq!((outputs.len(), diagnostics(&outputs)), (4, 1));
}

#[test]
fn calls_in_flight_are_bounded() {
    let limits = Limits { in_flight: 2, ..Limits::default() };
    let mut peer = Peer::modern_with(config().limits(limits));
    let first = peer.start(&CallTool::new("a"));
    peer.start(&CallTool::new("a"));
    let error =
        peer.connection.start(peer.now, &CallTool::new("a"), CallOptions::new()).map(drop).unwrap_err();
    assert_eq!(error, CallError::Full(Full::new("in_flight", 2)));
    let line = peer.written().remove(0);
    peer.result(&line, "{'content':[]}");
    peer.connection.take(&first).unwrap().unwrap();
    peer.start(&CallTool::new("a"));
}

#[test]
fn bytes_that_the_server_does_not_read_are_bounded() {
    let limits = Limits { transmit: 100, ..Limits::default() };
    let mut peer = Peer::legacy_with(config().limits(limits));
    while peer.connection.wants_read() {
        peer.says("{'jsonrpc':'2.0','id':1,'method':'ping'}");
    }
    let error = peer.connection.start(peer.now, &Ping, CallOptions::new()).map(drop).unwrap_err();
    assert_eq!(error, CallError::Full(Full::new("transmit", 100)));
    // One byte below the bound there is room again.
    peer.connection.advance(peer.connection.transmit().len() - 100);
    assert!(!peer.connection.wants_read());
    peer.connection.advance(1);
    assert!(peer.connection.wants_read());
    peer.start(&Ping);
}

/// `Limits::depth` is reached exactly, and passed by one.
#[test]
fn nesting_is_bounded() {
    let limits = Limits { depth: 8, ..Limits::default() };
    for (levels, read) in [(8, true), (9, false)] {
        let mut peer = Peer::modern_with(config().limits(limits.clone()));
        let call = peer.start(&CallTool::new("a"));
        let line = peer.one();
        // Two levels are the message and its result.
        let (open, close) = ("[".repeat(levels - 2), "]".repeat(levels - 2));
        peer.result(&line, &format!("{{'content':[],'structuredContent':{open}{close}}}"));
        assert_eq!(peer.connection.take(&call).is_some_and(|taken| taken.is_ok()), read, "{levels}");
    }
}

/// B07
#[test]
fn a_line_that_is_too_long_is_reported_and_the_next_one_read() {
    let limits = Limits { message: 1_000, ..Limits::default() };
    let mut peer = Peer::modern_with(config().limits(limits));
    let call = peer.start(&CallTool::new("a"));
    let line = peer.one();
    peer.says(&"x".repeat(2_000));
    peer.result(&line, "{'content':[]}");
    assert_eq!(diagnostics(&peer.drain()), 1);
    assert!(peer.connection.take(&call).unwrap().is_ok());
}

/// A response that is too long ends its call and no other; one whose id was not reached is nobody's.
#[test]
fn a_response_that_is_too_long_ends_its_call() {
    let limits = Limits { message: 1_000, ..Limits::default() };
    let mut peer = Peer::modern_with(config().limits(limits));
    let (call, other) = (peer.start(&CallTool::new("a")), peer.start(&CallTool::new("b")));
    let lines = peer.written();
    let long = "x".repeat(2_000);
    peer.says(&format!("{{'jsonrpc':'2.0','result':{{'a':'{long}'}},'id':{}}}", id(&lines[1])));
    peer.says(&format!("{{'jsonrpc':'2.0','id':{},'result':{{'a':'{long}'}}}}", id(&lines[0])));
    assert_eq!(peer.connection.take(&call).unwrap().unwrap_err(), CallError::TooLarge { limit: 1_000 });
    peer.result(&lines[1], "{'content':[]}");
    assert!(peer.connection.take(&other).unwrap().is_ok());
}

#[test]
fn notifications_that_nobody_polls_are_bounded_and_counted() {
    let limits = Limits { notifications: 3, ..Limits::default() };
    let mut peer = Peer::modern_with(config().limits(limits));
    for _ in 0..10 {
        peer.says("{'jsonrpc':'2.0','method':'x/y'}");
    }
    let outputs = peer.drain();
    assert_eq!(outputs.len(), 4);
    let Output::Event(Event::Diagnostic(last)) = &outputs[3] else { panic!() };
    assert!(last.detail.starts_with("7 "), "{last}");
    peer.says("{'jsonrpc':'2.0','method':'x/y'}");
    assert_eq!(peer.drain().len(), 1);
}
