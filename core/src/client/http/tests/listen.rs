use super::asks::config;
use super::*;

/// A legacy server with a session, and the request for its stream.
fn listening() -> (Peer, Sent) {
    let mut peer = Peer::legacy_with(config());
    let get = peer.one();
    assert_eq!(get.request.head.method, "GET");
    (peer, get)
}

/// HTTPL-26, HTTPL-27, HTTPL-29, HTTPL-46: where the server may ask something, it is given a stream for that, in the session.
#[test]
fn a_server_that_may_ask_is_given_a_stream() {
    let (mut peer, get) = listening();
    assert_eq!(get.header("accept"), Some("text/event-stream"));
    assert_eq!(get.header("mcp-session-id"), Some("s-1"));
    assert_eq!(get.header("mcp-protocol-version"), Some("2025-11-25"));
    assert_eq!(get.header("last-event-id"), None);
    peer.stream(&get);
    peer.event(&get, "{'jsonrpc':'2.0','method':'x/y'}");
    peer.event(&get, "{'jsonrpc':'2.0','id':1,'method':'roots/list'}");
    let ask = peer.asked()[0];
    peer.roots(ask);
    assert_eq!(peer.one().body(), json("{'jsonrpc':'2.0','id':1,'result':{'roots':[]}}"));
    peer.http.close(peer.now);
    assert!(peer.aborted().contains(&get.exchange));
}

#[test]
fn without_need_there_is_no_stream() {
    let mut peer = Peer::legacy();
    peer.none();
    let mut peer = Peer::modern_with(config());
    peer.none();
    // It would take the place of what it is for.
    let limits = Limits { connections: 2, ..Limits::default() };
    let mut peer = Peer::legacy_with(config().limits(limits));
    peer.none();
    let mut peer = Peer::legacy_with(super::config().listen(true));
    assert_eq!(peer.one().request.head.method, "GET");
}

/// HTTPL-28: 405 says that there is none, and is no fault; whatever else is told once.
#[test]
fn a_server_without_a_stream_is_not_asked_again() {
    for (status, told) in [(405, 0), (404, 1), (400, 1), (403, 1), (200, 1), (202, 1)] {
        let (mut peer, get) = listening();
        peer.whole(&get, ResponseHead::new(status), "");
        assert_eq!(peer.diagnostics().len(), told, "{status}");
        peer.wait(600_000);
        peer.none();
        assert!(peer.closed().is_none());
        peer.is_empty();
    }
}

/// HTTPL-39, HTTPL-21, HTTPL-32, SSE-05, SSE-08: a stream that ends is taken up again behind its last event, when the server wants it.
#[test]
fn a_stream_that_ends_is_taken_up_again() {
    let (mut peer, get) = listening();
    peer.stream(&get);
    peer.body(&get, "id: e-7\nretry: 3000\ndata:\n\n");
    peer.end(&get);
    peer.wait(2_999);
    peer.none();
    peer.wait(1);
    let again = peer.one();
    assert_eq!((again.header("last-event-id"), again.request.head.method.as_str()), (Some("e-7"), "GET"));
    peer.http.handle_failed(peer.now, again.exchange, "cut", true);
    peer.wait(6_000);
    let again = peer.one();
    assert_eq!(again.header("last-event-id"), Some("e-7"));
}

/// A server cannot make a client connect without rest, nor for ever.
#[test]
fn a_stream_that_brings_nothing_is_given_up() {
    let (mut peer, mut get) = listening();
    let (mut attempts, mut waited) = (0, 0);
    loop {
        peer.stream(&get);
        peer.body(&get, "retry: 0\n\n");
        peer.end(&get);
        let Some(next) = peer.http.poll_timeout().filter(|_| peer.http.exchanges() == 0) else { break };
        let wait = u64::try_from(next.saturating_since(peer.now.mono).as_millis()).unwrap();
        assert!(wait >= 100);
        (attempts, waited) = (attempts + 1, waited + wait);
        peer.wait(wait);
        get = peer.one();
    }
    assert!(attempts < 30 && waited <= 300_000, "{attempts} {waited}");
    assert_eq!(peer.diagnostics().len(), 1);
    peer.is_empty();
}

/// Proxies cut streams that are silent: that is no reason to give up.
#[test]
fn a_stream_that_lasts_is_opened_again_for_ever() {
    let (mut peer, mut get) = listening();
    for _ in 0..100 {
        peer.stream(&get);
        peer.wait(60_000);
        peer.end(&get);
        peer.wait(1_000);
        get = peer.one();
    }
    assert!(peer.diagnostics().is_empty());
}

/// HTTPL-50: a lost session is noticed on the stream as well.
#[test]
fn a_session_that_is_lost_on_the_stream_is_replaced() {
    let (mut peer, get) = listening();
    peer.stream(&get);
    peer.end(&get);
    peer.wait(1_000);
    let get = peer.one();
    peer.answer(&get, 404, "{}");
    let initialize = peer.one();
    assert_eq!(initialize.method(), "initialize");
    peer.initialized(&initialize, Some("s-2"));
    let get = peer.one();
    assert_eq!((get.header("mcp-session-id"), get.header("last-event-id")), (Some("s-2"), None));
}

/// Trouble on the way is no reason to give up at once.
#[test]
fn a_server_in_trouble_is_tried_again() {
    for status in [429, 500, 503] {
        let (mut peer, get) = listening();
        peer.whole(&get, ResponseHead::new(status), "");
        peer.wait(1_000);
        assert_eq!(peer.one().request.head.method, "GET", "{status}");
    }
}

/// Some servers drop what they have no stream for, so the first calls wait for it; not for long, and not when there
/// is none.
#[test]
fn the_first_calls_wait_for_the_stream() {
    for answer in [200, 405, 503, 0] {
        let (mut peer, get) = listening();
        let call = peer.http.start(peer.now, &CallTool::new("a"), CallOptions::new()).unwrap();
        peer.none();
        match answer {
            200 => peer.stream(&get),
            0 => {
                peer.wait(999);
                peer.none();
                peer.wait(1);
            }
            status => peer.whole(&get, ResponseHead::new(status), ""),
        }
        let sent = peer.one();
        assert_eq!(sent.method(), "tools/call", "{answer}");
        peer.result(&sent, "{'content':[]}");
        peer.take(&call).unwrap();
    }
    let (mut peer, get) = listening();
    peer.http.start(peer.now, &CallTool::new("a"), CallOptions::new()).unwrap();
    peer.http.handle_failed(peer.now, get.exchange, "cut", true);
    assert_eq!(peer.one().method(), "tools/call");
}
