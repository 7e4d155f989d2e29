//! HTTP with SSE, the transport of 2024-11-05.

use super::*;

const OLD: &str = "{'protocolVersion':'2024-11-05','capabilities':{'tools':{}}}";

impl Peer {
    fn sse(config: Config) -> Self {
        let endpoint = Endpoint::parse("https://h.example/a/sse").unwrap();
        let http = Http::http_sse(at(0), Arc::new(config), endpoint, Seed::new([9; 32]));
        Self {
            http,
            now: at(0),
            sent: Vec::new(),
            aborted: Vec::new(),
            refused: Vec::new(),
            events: Vec::new(),
        }
    }

    fn told(&mut self, stream: &Sent, place: &str) {
        self.stream(stream);
        self.body(stream, &format!("event: endpoint\ndata: {place}\n\n"));
    }

    /// The server takes a message.
    fn taken(&mut self, sent: &Sent) {
        self.whole(sent, ResponseHead::new(202), "Accepted");
    }

    /// Answers a message on the stream.
    fn says(&mut self, stream: &Sent, to: &Sent, result: &str) {
        self.event(stream, &response(to, result));
    }

    /// A server that was greeted, and its stream.
    fn old_with(config: Config) -> (Self, Sent) {
        let mut peer = Self::sse(config);
        let stream = peer.one();
        peer.told(&stream, "/messages?sessionId=s");
        let initialize = peer.one();
        peer.taken(&initialize);
        peer.says(&stream, &initialize, OLD);
        let notice = peer.one();
        assert_eq!(notice.method(), "notifications/initialized");
        peer.taken(&notice);
        peer.events();
        (peer, stream)
    }

    fn old() -> (Self, Sent) {
        Self::old_with(config())
    }
}

/// SSEL-01, SSEL-03, SSEL-09: the stream is opened first; messages go to the place that it names, in whichever form.
#[test]
fn messages_go_where_the_first_event_says() {
    for (place, target) in [
        ("/messages?sessionId=s", "/messages?sessionId=s"),
        ("messages", "/a/messages"),
        ("?s=1", "/a/sse?s=1"),
        ("https://h.example/m", "/m"),
    ] {
        let mut peer = Peer::sse(config().header("Authorization", "Bearer t"));
        let stream = peer.one();
        assert_eq!((stream.method().as_str(), &*stream.request.head.target), ("GET", "/a/sse"));
        assert_eq!(stream.header("accept"), Some("text/event-stream"));
        peer.told(&stream, place);
        let initialize = peer.one();
        assert_eq!((initialize.method().as_str(), &*initialize.request.head.target), ("initialize", target));
        assert_eq!(initialize.header("authorization"), Some("Bearer t"));
        assert_eq!((initialize.header("mcp-session-id"), initialize.header("mcp-method")), (None, None));
    }
}

/// SEC: an endpoint elsewhere would be sent what is for this server alone.
#[test]
fn an_endpoint_of_another_origin_is_refused() {
    for place in
        ["https://evil.example/m", "//evil.example/m", "http://h.example/m", "https://h.example:8443/m"]
    {
        let mut peer = Peer::sse(config());
        let stream = peer.one();
        peer.told(&stream, place);
        peer.none();
        assert_eq!(peer.aborted(), [stream.exchange], "{place}");
        assert!(matches!(peer.closed(), Some(CallError::Invalid { reason }) if reason.contains("endpoint")));
        peer.is_empty();
    }
}

/// B37: neither stream nor messages leave the origin by a redirect, and both follow one inside of it.
#[test]
fn redirects_stay_at_the_origin() {
    let mut peer = Peer::sse(config());
    let first = peer.one();
    peer.whole(&first, redirect(307, "/b/events"), "");
    let stream = peer.one();
    assert_eq!((&*stream.request.head.method, &*stream.request.head.target), ("GET", "/b/events"));
    peer.told(&stream, "m");
    let initialize = peer.one();
    assert_eq!(initialize.request.head.target, "/b/m");
    peer.whole(&initialize, redirect(308, "/b/n"), "");
    let again = peer.one();
    assert_eq!((&*again.request.head.target, again.method().as_str()), ("/b/n", "initialize"));
    peer.taken(&again);
    peer.says(&stream, &again, OLD);
    assert_eq!(peer.one().request.head.target, "/b/n");

    let mut peer = Peer::sse(config());
    let stream = peer.one();
    peer.head(&stream, redirect(307, "https://evil.example/sse"));
    peer.none();
    assert!(peer.closed().is_some());
}

/// An endpoint has to fit into the head of every request.
#[test]
fn an_endpoint_is_bounded() {
    let most = Limits::default().head / 2;
    for (length, sent) in [(most, 1), (most + 1, 0)] {
        let mut peer = Peer::sse(config());
        let stream = peer.one();
        peer.told(&stream, &format!("/{}", "m".repeat(length - 1)));
        assert_eq!(peer.sent().len(), sent, "{length}");
    }
}

/// SSEL-02, SSEL-04: answers come on the stream, in any order, also before the message is said to be taken.
#[test]
fn calls_are_answered_on_the_stream() {
    let (mut peer, stream) = Peer::old();
    let (a, sent_a) = peer.start(&CallTool::new("a"));
    let (b, sent_b) = peer.start(&CallTool::new("b"));
    assert_eq!(sent_a.request.head.target, "/messages?sessionId=s");
    peer.says(&stream, &sent_b, "{'content':[]}");
    peer.taken(&sent_b);
    peer.taken(&sent_a);
    peer.says(&stream, &sent_a, "{'content':[{'type':'text','text':'x'}]}");
    assert_eq!(peer.settled(), 2);
    assert_eq!(peer.take(&a).unwrap().text(), "x");
    assert!(peer.take(&b).is_ok());
    assert_eq!(peer.http.exchanges(), 1, "only the stream is left");
    peer.says(&stream, &sent_a, "{}");
    assert!(peer.diagnostics()[0].contains("no request under way"));
}

/// What the server asks comes on the stream, too, and is answered by a POST.
#[test]
fn questions_come_on_the_stream_and_progress_does() {
    let (mut peer, stream) = Peer::old();
    peer.event(&stream, "{'jsonrpc':'2.0','id':'q','method':'ping'}");
    let pong = peer.one();
    assert_eq!((pong.id().as_str(), &*pong.request.head.target), ("\"q\"", "/messages?sessionId=s"));
    let pending = peer.http.start(peer.now, &CallTool::new("a"), CallOptions::new().progress()).unwrap();
    let sent = peer.one();
    let token = sent.id();
    peer.event(
        &stream,
        &format!("{{'jsonrpc':'2.0','method':'notifications/progress','params':{{'progressToken':{token},'progress':1}}}}"),
    );
    assert!(peer.events().iter().any(|event| matches!(event, Event::Progress(id, _) if *id == pending.id())));
}

/// A message that the server refuses ends its call only.
#[test]
fn a_refused_message_fails_its_call() {
    let (mut peer, _stream) = Peer::old();
    let (pending, sent) = peer.start(&CallTool::new("a"));
    peer.whole(&sent, ResponseHead::new(404), "no such session");
    assert!(matches!(peer.take(&pending), Err(CallError::Invalid { reason }) if reason.contains("404")));
    let (pending, sent) = peer.start(&CallTool::new("a"));
    peer.http.handle_failed(peer.now, sent.exchange, "no route", true);
    for wait in [500, 1_000] {
        peer.wait(wait);
        let again = peer.one();
        peer.http.handle_failed(peer.now, again.exchange, "no route", true);
    }
    assert!(matches!(peer.take(&pending), Err(CallError::Broken { unsent: true, .. })));
    assert!(!peer.http.is_closed());
}

/// A session is its stream: with it end the calls and the connection.
#[test]
fn the_end_of_the_stream_ends_the_connection() {
    let (mut peer, stream) = Peer::old();
    let (pending, sent) = peer.start(&CallTool::new("a"));
    peer.taken(&sent);
    peer.end(&stream);
    assert!(matches!(peer.closed(), Some(CallError::Broken { unsent: false, .. })));
    assert!(matches!(peer.take(&pending), Err(CallError::Broken { unsent: false, .. })));
    peer.is_empty();
}

/// CAN-02 on this transport: there is no response stream to close, so the server is told.
#[test]
fn a_cancelled_call_is_told_to_the_server() {
    let (mut peer, _stream) = Peer::old();
    let (pending, sent) = peer.start(&CallTool::new("a"));
    peer.taken(&sent);
    peer.http.cancel(peer.now, pending.id());
    let notice = peer.one();
    assert_eq!(notice.method(), "notifications/cancelled");
    assert!(peer.take(&pending).is_err());
    peer.http.close(peer.now);
    peer.none();
    assert!(peer.http.is_closed());
    peer.is_empty();
}

/// HTTPL-57, HTTPL-58, SSEL-08, SSEL-09, SSEL-10: with one URL, Streamable HTTP is tried first, and HTTP with SSE after it
/// was refused with one of three statuses.
#[test]
fn streamable_http_is_tried_first_and_the_old_transport_last() {
    for status in [400, 404, 405] {
        let mut peer = Peer::new(config());
        let probe = peer.one();
        peer.whole(&probe, ResponseHead::new(status), "");
        let initialize = peer.one();
        let mut refusal = ResponseHead::new(status);
        refusal.headers.push("Mcp-Session-Id", "stale");
        peer.whole(&initialize, refusal, "no");
        let stream = peer.one();
        assert_eq!((&*stream.request.head.method, &*stream.request.head.target), ("GET", "/mcp"));
        peer.told(&stream, "/messages");
        let again = peer.one();
        assert_eq!(again.method(), "initialize");
        peer.taken(&again);
        peer.says(&stream, &again, OLD);
        let notice = peer.one();
        assert_eq!(notice.header("mcp-session-id"), None);
        peer.taken(&notice);
        let revision = Revision::V2024_11_05;
        assert!(matches!(&peer.events()[..], [Event::Connected(details)] if details.revision == revision));
    }
}

/// SSEL-08: other refusals, and errors that only newer servers know, are no reason to try the old transport.
#[test]
fn other_refusals_are_final() {
    let code = |code: i32| format!("{{'jsonrpc':'2.0','id':2,'error':{{'code':{code},'message':'m'}}}}");
    for (status, body) in [
        (401, String::new()),
        (403, String::new()),
        (500, String::new()),
        (400, code(-32020)),
        (404, code(-32601)),
    ] {
        let mut peer = Peer::new(config().era(EraChoice::Legacy));
        let initialize = peer.one();
        let body = body.replace("'id':2", &format!("'id':{}", initialize.id()));
        peer.answer(&initialize, status, &body);
        peer.none();
        assert!(peer.http.is_closed(), "{status}");
    }
}

/// What was said to Streamable HTTP is the error when the old transport is not spoken either.
#[test]
fn a_server_with_neither_transport_is_known_by_its_first_refusal() {
    type Answer = fn(&mut Peer, &Sent);
    let answers: [Answer; 4] = [
        |peer, stream| peer.whole(stream, ResponseHead::new(405), ""),
        |peer, stream| peer.answer(stream, 200, "{}"),
        |peer, stream| {
            peer.stream(stream);
            peer.end(stream);
        },
        |peer, stream| {
            peer.stream(stream);
            let patience = Limits::default().probe.as_millis() as u64;
            peer.wait(patience - 1);
            assert!(!peer.http.is_closed());
            peer.wait(1);
        },
    ];
    for answer in answers {
        let mut peer = Peer::new(config().era(EraChoice::Legacy));
        let initialize = peer.one();
        peer.whole(&initialize, ResponseHead::new(404), "nothing here");
        let stream = peer.one();
        answer(&mut peer, &stream);
        let events = peer.events();
        assert!(
            events
                .iter()
                .any(|event| matches!(event, Event::Diagnostic(it) if it.to_string().contains("endpoint")))
        );
        assert!(matches!(
            events.last(),
            Some(Event::Closed(CallError::Invalid { reason })) if reason.contains("404: nothing here")
        ));
    }
}

/// A server that is known to speak the old transport is waited for, and may not be asked to be modern.
#[test]
fn the_old_transport_carries_legacy_revisions_only() {
    for era in [EraChoice::Modern, EraChoice::Pinned(Revision::LATEST)] {
        let mut peer = Peer::sse(config().era(era));
        peer.none();
        assert!(matches!(peer.closed(), Some(CallError::Broken { reason, .. }) if reason.contains("legacy")));
    }
    let mut peer = Peer::sse(config().era(EraChoice::Pinned(Revision::V2024_11_05)));
    let stream = peer.one();
    peer.told(&stream, "/m");
    assert!(peer.one().body().contains("2024-11-05"));
}

/// One connection would carry the stream and leave none for messages.
#[test]
fn the_old_transport_needs_two_connections() {
    let mut peer = Peer::sse(config().limits(Limits { connections: 1, ..Limits::default() }));
    peer.none();
    assert!(matches!(peer.closed(), Some(CallError::Misuse(_))));
}

/// SEC: the session is named in the query of the endpoint, so it is not printed.
#[test]
fn the_endpoint_is_not_printed() {
    let (mut peer, _stream) = Peer::old();
    let (_pending, _sent) = peer.start(&CallTool::new("a"));
    assert!(!format!("{:?}", peer.http).contains("sessionId"));
}
