use super::*;

/// A whole visit to a legacy server, its stream cut in two at `split` and the rest byte by byte or whole.
fn visit(split: usize, bytewise: bool, drain: bool, spurious: bool) -> (Vec<HttpOutput>, String) {
    visit_at(at, split, bytewise, drain, spurious)
}

fn visit_at(
    at: fn(u64) -> Now,
    split: usize,
    bytewise: bool,
    drain: bool,
    spurious: bool,
) -> (Vec<HttpOutput>, String) {
    let endpoint = Endpoint::parse("http://localhost:1/mcp").unwrap();
    let mut http = Http::new(at(0), Arc::new(config().era(EraChoice::Legacy)), endpoint, Seed::new([9; 32]));
    let call = http.start(at(0), &CallTool::new("a"), CallOptions::new().progress()).unwrap();
    let mut outputs = Vec::new();
    let mut exchanges = Vec::new();
    let mut next = |http: &mut Http, force: bool| {
        if !drain && !force {
            return exchanges.last().copied();
        }
        while let Some(output) = http.poll_output() {
            if let HttpOutput::Send { exchange, .. } = &output {
                exchanges.push(*exchange);
            }
            outputs.push(output);
        }
        exchanges.last().copied()
    };
    let head = |status: u16, kind: &str| {
        let mut head = ResponseHead::new(status);
        head.headers.push("Content-Type", kind);
        head.headers.push("Mcp-Session-Id", "s");
        head
    };
    let initialize = next(&mut http, true).unwrap();
    http.handle_head(at(1), initialize, head(200, "application/json"));
    http.handle_body(
        at(1),
        initialize,
        json(&format!("{{'jsonrpc':'2.0','id':1,'result':{INITIALIZED}}}")).as_bytes(),
    );
    http.handle_end(at(1), initialize, End::Complete);
    let notification = next(&mut http, true).unwrap();
    http.handle_head(at(2), notification, head(202, "x"));
    http.handle_end(at(2), notification, End::Complete);
    let sent = next(&mut http, true).unwrap();
    http.handle_head(at(3), sent, head(200, "text/event-stream"));
    let stream = json(
        ": hi\r\nid: 1\r\nretry: 200\r\ndata:\r\n\r\nevent: ping\ndata: 1\n\n\
         data: {'jsonrpc':'2.0','method':'notifications/progress','params':{'progressToken':2,'progress':1}}\n\n\
         data: {'jsonrpc':'2.0','id':9,'method':'ping'}\n\n\
         data: {'jsonrpc':'2.0','id':2,'result':{'content':[{'type':'text','text':'é😀'}]}}\n\n",
    );
    let (first, second) = stream.as_bytes().split_at(split.min(stream.len()));
    let step = if bytewise { 1 } else { usize::MAX };
    for piece in first.chunks(step).chain(second.chunks(step)) {
        http.handle_body(at(4), sent, piece);
        if spurious {
            http.handle_timeout(at(4));
            http.handle_timeout(at(0));
        }
        next(&mut http, false);
    }
    http.handle_end(at(5), sent, End::Complete);
    http.handle_end(at(5), sent, End::Broken);
    next(&mut http, true);
    (outputs, http.take(&call).unwrap().unwrap().text().into_owned())
}

/// How the bytes are cut does not matter, nor when outputs are polled, nor timeouts that are none.
#[test]
fn the_transcript_does_not_depend_on_pieces_polling_or_spurious_timeouts() {
    let expected = visit(0, false, false, false);
    assert_eq!(expected.1, "é😀");
    assert_eq!(visit(0, true, true, true), expected);
    for split in 0..420 {
        assert_eq!(visit(split, false, split % 2 == 0, split % 3 == 0), expected, "split at {split}");
    }
}

/// A clock on the wall that is set forward and back by years changes nothing: time is counted by the other one.
#[test]
fn the_transcript_does_not_depend_on_the_time_of_day() {
    let jumping = |ms: u64| Now::new(at(ms).mono, Duration::from_secs(4_000_000_000 * (ms % 3)));
    assert_eq!(visit_at(jumping, 100, true, true, true), visit(100, true, true, true));
}

#[test]
fn input_for_exchanges_that_are_not_is_nothing() {
    let mut peer = Peer::modern();
    for exchange in [ExchangeId(0), ExchangeId(1), ExchangeId(99)] {
        peer.http.handle_head(peer.now, exchange, ResponseHead::new(200));
        peer.http.handle_body(peer.now, exchange, b"{}");
        peer.http.handle_end(peer.now, exchange, End::Complete);
        peer.http.handle_failed(peer.now, exchange, "x", false);
    }
    peer.http.cancel(peer.now, CallId(99));
    peer.http.forget(CallId(99));
    assert!(peer.events().is_empty());
    peer.none();
}

#[test]
fn bodies_before_heads_and_second_heads_are_ignored() {
    let mut peer = Peer::modern();
    let (call, sent) = peer.start(&CallTool::new("a"));
    peer.body(&sent, "nonsense");
    peer.head(&sent, ResponseHead::new(103));
    let body = response(&sent, "{'content':[]}");
    peer.stream(&sent);
    peer.head(&sent, ResponseHead::new(500));
    peer.event(&sent, &body);
    peer.take(&call).unwrap();
}

#[test]
fn after_the_end_there_is_nothing() {
    let mut peer = Peer::modern();
    let (_, sent) = peer.start(&CallTool::new("a"));
    peer.http.close(peer.now);
    peer.events();
    peer.aborted();
    peer.http.close(peer.now);
    peer.result(&sent, "{'content':[]}");
    peer.wait(1_000_000);
    assert!(peer.events().is_empty() && peer.aborted().is_empty());
    peer.none();
    assert!(peer.http.start(peer.now, &Ping, CallOptions::new()).is_err());
}

#[test]
fn what_wakes_a_client_is_named() {
    let mut peer = Peer::new(config());
    assert_eq!(peer.http.wake_reason(), Some(WakeReason::Probe));
    peer.one();
    peer.wait(5_000);
    assert_eq!(peer.http.wake_reason(), Some(WakeReason::Handshake));
    let initialize = peer.one();
    peer.result(&initialize, INITIALIZED);
    assert_eq!(peer.http.wake_reason(), Some(WakeReason::Handshake));

    let mut peer = Peer::legacy();
    peer.wait(1_000);
    assert_eq!(peer.http.wake_reason(), None);
    let (_, sent) = peer.start(&CallTool::new("a"));
    assert_eq!(peer.http.wake_reason(), Some(WakeReason::Call));
    peer.stream(&sent);
    peer.body(&sent, "id: 1\ndata:\n\n");
    peer.end(&sent);
    assert_eq!(peer.http.wake_reason(), Some(WakeReason::Resume));
    peer.http.close(peer.now);
    assert_eq!(peer.http.wake_reason(), Some(WakeReason::Farewell));

    let mut peer = Peer::modern();
    let (call, sent) = peer.start(&CallTool::new("a"));
    peer.stream(&sent);
    let body = response(&sent, "{'content':[]}");
    peer.event(&sent, &body);
    peer.take(&call).unwrap();
    assert_eq!(peer.http.wake_reason(), Some(WakeReason::Linger));
}
