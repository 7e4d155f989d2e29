//! HTTP with SSE, the transport of 2024-11-05.

use super::*;
use crate::client::http::resume::MAX_RETRY;

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
    let error = peer.take(&pending).unwrap_err();
    assert_eq!(
        error.to_string(),
        "the server refused the request: HTTP status 404 from https://h.example/…: no such session",
        "where messages go is a secret of the session"
    );
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

/// A stream that ends before the handshake is over ends the connection: there is nothing to go on with.
#[test]
fn a_first_stream_that_ends_is_the_end() {
    let mut peer = Peer::sse(config());
    let stream = peer.one();
    peer.told(&stream, "/messages");
    let initialize = peer.one();
    peer.taken(&initialize);
    peer.end(&stream);
    assert!(matches!(peer.closed(), Some(CallError::Broken { unsent: false, .. })));
    peer.is_empty();
}

impl Peer {
    /// The client opens the stream again, at the moment that it names, and makes another handshake.
    fn reopens(&mut self, messages: &str) -> (Sent, Sent) {
        self.none();
        self.http.handle_timeout(self.now);
        self.none();
        let mut sent = Vec::new();
        while sent.is_empty() {
            self.now.mono = self.http.poll_timeout().unwrap();
            assert_eq!(self.http.wake_reason(), Some(WakeReason::Resume));
            self.http.handle_timeout(self.now);
            sent = self.sent();
        }
        let stream = sent.remove(0);
        assert_eq!((&*stream.request.head.method, &*stream.request.head.target), ("GET", "/a/sse"));
        self.told(&stream, messages);
        let initialize = self.one();
        assert_eq!(
            (&*initialize.request.head.target, initialize.method().as_str()),
            (messages, "initialize")
        );
        (stream, initialize)
    }

    /// It does, and the server greets it.
    fn comes_back(&mut self, messages: &str) -> Sent {
        let (stream, initialize) = self.reopens(messages);
        self.taken(&initialize);
        self.says(&stream, &initialize, OLD);
        let notice = self.one();
        assert_eq!(notice.method(), "notifications/initialized");
        self.taken(&notice);
        stream
    }
}

/// HTTPL-50 on this transport, where a session is its stream: a lost one leads to another stream and another handshake.
/// Calls that may have been carried out fail, those that do no harm twice are made again, and new ones wait.
#[test]
fn a_stream_that_is_lost_is_another_session() {
    let (mut peer, stream) = Peer::old();
    let (lost, sent) = peer.start(&CallTool::new("a"));
    peer.taken(&sent);
    let (unread, _on_its_way) = peer.start(&CallTool::new("b"));
    let (read, sent) = peer.start(&ListTools::default());
    peer.taken(&sent);
    let (unsent, sent) = peer.start(&CallTool::new("c"));
    peer.http.handle_failed(peer.now, sent.exchange, "no route", true);
    peer.end(&stream);
    for pending in [&lost, &unread] {
        assert!(matches!(peer.take(pending), Err(CallError::Broken { unsent: false, .. })));
    }
    assert!(peer.diagnostics()[0].contains("the server closed it"));
    let waiting = peer.http.start(peer.now, &CallTool::new("d"), CallOptions::new()).unwrap();
    peer.wait(0);
    let stream = peer.comes_back("/messages?sessionId=t");
    let mut sent = peer.sent();
    // The one that was never sent has a time of its own.
    peer.wait(5_000);
    sent.extend(peer.sent());
    let mut methods: Vec<_> = sent.iter().map(Sent::method).collect();
    methods.sort();
    assert_eq!(methods, ["tools/call", "tools/call", "tools/list"]);
    for sent in &sent {
        assert_eq!(sent.request.head.target, "/messages?sessionId=t");
        peer.taken(sent);
        let result = if sent.method() == "tools/list" { "{'tools':[]}" } else { "{'content':[]}" };
        peer.says(&stream, sent, result);
    }
    assert!(peer.take(&read).is_ok() && peer.take(&unsent).is_ok() && peer.take(&waiting).is_ok());
    assert!(!peer.http.is_closed());
}

/// What is made again is made again once.
#[test]
fn a_call_is_not_made_again_for_ever() {
    let (mut peer, mut stream) = Peer::old();
    let (read, sent) = peer.start(&ListTools::default());
    peer.taken(&sent);
    peer.end(&stream);
    stream = peer.comes_back("/m");
    let again = peer.one();
    assert_eq!(again.method(), "tools/list");
    peer.taken(&again);
    peer.end(&stream);
    peer.comes_back("/m");
    assert!(matches!(peer.take(&read), Err(CallError::Broken { unsent: false, .. })));
    peer.none();
}

/// What the server has asked is of no use to another session.
#[test]
fn questions_of_a_lost_stream_are_taken_back() {
    let capabilities =
        crate::model::ClientCapabilities { roots: Some(Default::default()), ..Default::default() };
    let (mut peer, stream) = Peer::old_with(config().capabilities(capabilities));
    peer.event(&stream, "{'jsonrpc':'2.0','id':'q','method':'roots/list'}");
    assert!(matches!(peer.events()[..], [Event::Asked { .. }]));
    peer.end(&stream);
    assert!(peer.events().iter().any(|event| matches!(event, Event::Retracted(_))));
}

/// AUTH-05: a handshake that waits for authorization is of no use to another stream, either.
#[test]
fn a_held_handshake_goes_with_its_stream() {
    let (mut peer, stream) = Peer::old_with(config().authorize(true));
    peer.end(&stream);
    let (stream, initialize) = peer.reopens("/m");
    peer.refuse(&initialize, 401);
    assert!(peer.http.is_held(initialize.exchange));
    peer.end(&stream);
    assert_eq!(peer.http.held(), 0);
    peer.http.repeat(peer.now, initialize.exchange);
    peer.comes_back("/m");
    assert!(!peer.http.is_closed());
}

/// Attempts in vain are made less and less often, and end: after `Limits::resume_total` the connection is over. Whatever
/// keeps the stream from coming back counts.
#[test]
fn a_stream_that_does_not_come_back_is_given_up() {
    type Fails = fn(&mut Peer, &Sent);
    let fails: [Fails; 6] = [
        |peer, stream| peer.http.handle_failed(peer.now, stream.exchange, "refused", true),
        |peer, stream| peer.whole(stream, ResponseHead::new(503), ""),
        |peer, stream| peer.whole(stream, ResponseHead::new(404), ""),
        |peer, stream| {
            peer.stream(stream);
            peer.end(stream);
        },
        |peer, stream| {
            peer.told(stream, "/m");
            let initialize = peer.one();
            peer.whole(&initialize, ResponseHead::new(502), "");
        },
        |peer, stream| {
            peer.told(stream, "/m");
            let initialize = peer.one();
            peer.taken(&initialize);
            peer.says(stream, &initialize, OLD);
            let notice = peer.one();
            peer.taken(&notice);
            peer.end(stream);
        },
    ];
    for fails in fails {
        let (mut peer, stream) = Peer::old();
        let begin = peer.now.mono;
        peer.end(&stream);
        let mut waits = Vec::new();
        while !peer.http.is_closed() {
            let at = peer.http.poll_timeout().unwrap();
            waits.push(at.saturating_since(peer.now.mono));
            peer.now.mono = at;
            peer.http.handle_timeout(peer.now);
            let stream = peer.one();
            fails(&mut peer, &stream);
        }
        assert!(waits[0] <= Duration::from_secs(1) && waits[0] >= Duration::from_millis(500), "{waits:?}");
        assert!(waits.len() < 30 && waits.iter().all(|wait| *wait <= MAX_RETRY), "{waits:?}");
        let spent = peer.now.mono.saturating_since(begin);
        let total = Limits::default().resume_total;
        assert!(spent <= total && spent > total - MAX_RETRY, "{spent:?}");
        assert!(matches!(peer.closed(), Some(CallError::Broken { reason, .. }) if reason.contains("300s")));
        peer.is_empty();
    }
}

/// A stream that brought something, or was there for long, is worth as many attempts as the first.
#[test]
fn a_stream_that_was_of_use_is_opened_again_as_often_as_it_is_lost() {
    for of_use in [
        |peer: &mut Peer, stream: &Sent| peer.event(stream, "{'jsonrpc':'2.0','id':'q','method':'ping'}"),
        |peer: &mut Peer, _: &Sent| peer.wait(30_000),
    ] {
        let (mut peer, mut stream) = Peer::old();
        for _ in 0..40 {
            of_use(&mut peer, &stream);
            peer.sent();
            peer.end(&stream);
            let wait = peer.http.poll_timeout().unwrap().saturating_since(peer.now.mono);
            assert!(wait <= Duration::from_secs(1), "{wait:?}");
            peer.aborted();
            stream = peer.comes_back("/m");
        }
        assert!(!peer.http.is_closed());
    }
}

/// B30 on this transport: what the server said about reconnecting is heeded.
#[test]
fn the_server_says_when_to_come_back() {
    let (mut peer, stream) = Peer::old();
    peer.body(&stream, "retry: 7000\n\n");
    peer.end(&stream);
    assert_eq!(peer.http.poll_timeout().unwrap().saturating_since(peer.now.mono), Duration::from_secs(7));
    peer.http.close(peer.now);
    peer.none();
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

/// SSEL-08: a server that spoke Streamable HTTP and refuses another session is not looked for on the old transport for
/// long.
#[test]
fn a_session_that_is_lost_does_not_change_the_transport() {
    let mut peer = Peer::legacy();
    let (call, sent) = peer.start(&ListTools::default());
    peer.whole(&sent, ResponseHead::new(404), "");
    let initialize = peer.one();
    assert_eq!(initialize.method(), "initialize");
    peer.whole(&initialize, ResponseHead::new(404), "no backend");
    let stream = peer.one();
    assert_eq!(stream.request.head.method, "GET");
    peer.whole(&stream, ResponseHead::new(405), "");
    let error = peer.closed().unwrap();
    assert!(error.to_string().contains("404"), "{error}");
    assert!(peer.take(&call).is_err());
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
            Some(Event::Closed(error @ CallError::Refused { .. }))
                if error.to_string().ends_with("404 from https://h.example/mcp: nothing here")
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
