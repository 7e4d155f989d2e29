use super::*;
use crate::model::input_required::InputRequest;
use crate::server::{Change, Grant, HttpSse, Principal, ResourceServer, SseAnswer};

const CHANGED: &str = r#"{"jsonrpc":"2.0","method":"notifications/roots/list_changed"}"#;

fn old(config: Config) -> Web {
    let mut config = config;
    config.http = config.http.http_sse(HttpSse::new("/sse", "/messages"));
    Web::new(config)
}

fn stream_head() -> RequestHead {
    let mut head = head("GET");
    head.target = "/sse".into();
    head.headers.push("Accept", "text/event-stream");
    head
}

fn post_head(target: &str) -> RequestHead {
    let mut head = head("POST");
    head.target = target.into();
    head
}

/// An open stream, and where it says to POST.
fn connect(web: &mut Web) -> (Trip, String) {
    let trip = web.ask(stream_head(), "");
    assert_eq!((trip.status(), trip.field("content-type")), (200, "text/event-stream"), "{}", trip.body);
    let endpoint = trip.body.strip_prefix("event: endpoint\ndata: ").unwrap().trim_end().to_string();
    (trip, endpoint)
}

/// POSTs a message and lets the stream have it. The status of the POST.
fn post(web: &mut Web, stream: &mut Trip, endpoint: &str, message: &str) -> u16 {
    let trip = web.ask(post_head(endpoint), message);
    deliver(web, stream);
    assert!(trip.ended && trip.calls.is_empty());
    trip.status()
}

fn deliver(web: &mut Web, stream: &mut Trip) {
    while let Some(output) = web.streams.poll_output() {
        stream.exchange.handle_message(now(), &output.message, output.sender);
    }
    web.drive(stream);
}

/// A stream after the handshake.
fn greeted(web: &mut Web) -> (Trip, String) {
    let (mut stream, endpoint) = connect(web);
    assert_eq!(post(web, &mut stream, &endpoint, &initialize("2024-11-05")), 202);
    assert_eq!(post(web, &mut stream, &endpoint, INITIALIZED), 202);
    stream.body.clear();
    (stream, endpoint)
}

/// SSEL-01, SSEL-02, SSEL-04, HTTPL-59, SSEL-11: the stream begins with where to POST; what is POSTed there is
/// accepted, and answered on the stream. The MCP endpoint is served beside it.
#[test]
fn a_stream_tells_where_to_post_and_carries_the_answers() {
    let mut web = old(config());
    let (mut stream, endpoint) = connect(&mut web);
    let (path, session) = endpoint.split_once("?sessionId=").unwrap();
    assert!(path == "/messages" && session.len() == 32 && !stream.ended, "{endpoint}");
    assert_eq!(post(&mut web, &mut stream, &endpoint, &initialize("2024-11-05")), 202);
    let (begin, data) = stream.body.rsplit_once("data: ").unwrap();
    assert!(begin.ends_with("\n\nevent: message\n") && data.ends_with("\n\n"), "{}", stream.body);
    assert!(data.contains(r#""protocolVersion":"2024-11-05""#), "{data}");
    stream.body.clear();
    assert_eq!(post(&mut web, &mut stream, &endpoint, INITIALIZED), 202);
    assert_eq!(post(&mut web, &mut stream, &endpoint, PING), 202);
    assert_eq!(stream.events(), [r#"{"jsonrpc":"2.0","id":1,"result":{}}"#]);
    assert!(stream.told.contains(&"initialized".to_string()) && !stream.ended);
    web.open(V);
}

/// Calls of a stream are those of a connection: progress, results, what is asked of the client, cancellation.
#[test]
fn calls_report_ask_and_are_cancelled_on_the_stream() {
    let mut web = old(config());
    let (mut stream, endpoint) = connect(&mut web);
    let able = initialize("2024-11-05").replace(r#""capabilities":{}"#, r#""capabilities":{"roots":{}}"#);
    post(&mut web, &mut stream, &endpoint, &able);
    post(&mut web, &mut stream, &endpoint, CALL);
    stream.body.clear();
    let (id, call) = stream.calls.remove(0);
    assert!(call.head().is_some_and(|head| head.path() == "/sse"));
    stream.exchange.progress(now(), id, &Progress::new(1.0));
    let ask = stream.exchange.ask(now(), id, &InputRequest::ListRoots, None);
    web.drive(&mut stream);
    let asked: Vec<_> = stream.events().iter().map(ToString::to_string).collect();
    assert!(asked.len() == 2 && asked[0].contains("notifications/progress"), "{asked:?}");
    let (_, rest) = asked[1].split_once(r#""id":""#).unwrap();
    let (wire, _) = rest.split_once('"').unwrap();
    let answer = format!(r#"{{"jsonrpc":"2.0","id":"{wire}","result":{{"roots":[]}}}}"#);
    post(&mut web, &mut stream, &endpoint, &answer);
    assert_eq!(stream.answers.iter().map(|(id, _)| *id).collect::<Vec<_>>(), [ask.unwrap()]);
    stream.body.clear();
    stream.exchange.respond(now(), id, &text("done"));
    web.drive(&mut stream);
    assert!(stream.events()[0].starts_with(r#"{"jsonrpc":"2.0","id":7,"result":"#), "{}", stream.body);
    post(&mut web, &mut stream, &endpoint, CALL);
    let cancel = r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":7}}"#;
    assert_eq!(post(&mut web, &mut stream, &endpoint, cancel), 202);
    assert_eq!(stream.cancelled.len(), 1);
}

/// SUBL-05: a session on a stream is told of changes.
#[test]
fn changes_are_told_on_the_stream() {
    let mut web = old(changing());
    let (mut stream, _) = greeted(&mut web);
    stream.exchange.publish(now(), &Change::Tools);
    web.drive(&mut stream);
    assert_eq!(stream.events(), [r#"{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}"#]);
}

/// What is POSTed must be a message in JSON, of a size that is served, for a session that there is.
#[test]
fn what_is_no_message_for_a_stream_is_refused() {
    let mut web = old(config().limits(limits(|limits| limits.message = 300)));
    let (mut stream, endpoint) = greeted(&mut web);
    let long = format!("{}{}", " ".repeat(301 - PING.len()), PING);
    for (target, body, status) in [
        (&*endpoint, "{", 400),
        (&endpoint, "", 400),
        (&endpoint, "42", 400),
        (&endpoint, r#"{"id":1,"method":"ping"}"#, 400),
        (&endpoint, &long, 413),
        ("/messages", PING, 400),
        ("/messages?sessionId=", PING, 404),
        ("/messages?sessionId=0123456789abcdef0123456789abcdef", PING, 404),
        (&endpoint, &long[1..], 202),
    ] {
        assert_eq!(post(&mut web, &mut stream, target, body), status, "{target} {body}");
    }
    assert_eq!(stream.events().len(), 1);
    let plain = with(post_head(&endpoint), &[("content-type", Some("text/plain"))]);
    assert_eq!(web.ask(plain, PING).status(), 415);
    let quiet = with(post_head(&endpoint), &[("accept", None)]);
    assert_eq!(web.ask(quiet, PING).status(), 202);
}

/// A message with line ends in it, which JSON may have, is one message nevertheless.
#[test]
fn a_message_may_span_lines() {
    let mut web = old(config());
    let (mut stream, endpoint) = greeted(&mut web);
    let pretty = "{\n  \"jsonrpc\": \"2.0\",\r\n  \"id\": \"a\\nb\",\r  \"method\": \"ping\"\n}\n";
    assert_eq!(post(&mut web, &mut stream, &endpoint, pretty), 202);
    assert_eq!(stream.events(), [r#"{"jsonrpc":"2.0","id":"a\nb","result":{}}"#]);
}

/// SSEL-05: hosts and origins are judged on both paths as on any other; methods and media types besides.
#[test]
fn heads_are_judged_as_elsewhere() {
    let mut web = old(config());
    let (_stream, endpoint) = greeted(&mut web);
    for head in [stream_head(), post_head(&endpoint)] {
        for field in [("origin", Some("https://evil.example")), ("host", Some("evil.example"))] {
            assert_eq!(web.ask(with(head.clone(), &[field]), PING).status(), 403, "{field:?}");
        }
    }
    assert_eq!(web.ask(with(stream_head(), &[("accept", Some("application/json"))]), "").status(), 406);
    for (method, target, allow) in
        [("POST", "/sse", "GET"), ("DELETE", "/sse", "GET"), ("GET", "/messages", "POST")]
    {
        let mut head = head(method);
        head.target = target.into();
        let trip = web.ask(head, "");
        assert_eq!((trip.status(), trip.field("allow")), (405, allow), "{method} {target}");
    }
}

/// Where it is not asked for, and where no legacy revision is spoken, there are no such paths.
#[test]
fn the_transport_is_off_unless_asked_for() {
    assert_eq!(Web::new(config()).ask(stream_head(), "").status(), 404);
    let modern = config().revisions(Revisions::of([Revision::LATEST]));
    assert_eq!(old(modern).ask(stream_head(), "").status(), 404);
}

/// The end of the stream ends its session and its calls, whoever ends it.
#[test]
fn a_stream_that_ends_takes_its_session_with_it() {
    let mut web = old(config());
    let (mut stream, endpoint) = greeted(&mut web);
    post(&mut web, &mut stream, &endpoint, CALL);
    stream.exchange.handle_abort(now());
    web.drive(&mut stream);
    assert!(stream.cancelled.len() == 1 && stream.ended && web.streams.is_empty());
    assert_eq!(web.ask(post_head(&endpoint), PING).status(), 404);
    stream.exchange.respond(now(), stream.calls[0].0, &text("late"));
    assert!(stream.exchange.poll_output().is_none() && stream.exchange.poll_timeout().is_none());

    // A server that stops lets calls finish, and takes no new ones.
    let (mut stream, endpoint) = greeted(&mut web);
    post(&mut web, &mut stream, &endpoint, CALL);
    stream.exchange.shutdown(now());
    web.drive(&mut stream);
    assert!(!stream.ended);
    post(&mut web, &mut stream, &endpoint, &CALL.replace(":7", ":8"));
    assert!(stream.events()[0].contains("the server is shutting down"), "{}", stream.body);
    stream.exchange.respond(now(), stream.calls[0].0, &text("done"));
    web.drive(&mut stream);
    assert!(stream.ended && stream.events()[1].contains("done") && web.streams.is_empty());

    // One that waits no longer answers them with an error.
    let (mut stream, endpoint) = greeted(&mut web);
    post(&mut web, &mut stream, &endpoint, CALL);
    stream.exchange.give_up(now());
    web.drive(&mut stream);
    assert!(stream.ended && stream.cancelled.len() == 1 && stream.events()[0].contains("shutting down"));
}

/// A client that has gone before its stream was opened leaves nothing.
#[test]
fn a_client_that_leaves_early_leaves_no_session() {
    let web = &mut old(config());
    let mut exchange = Exchange::new(now(), ExchangeId::new(9), Arc::clone(&web.config), stream_head());
    exchange.handle_end(now(), End::Complete);
    let Some(ExchangeOutput::Sse(query)) = exchange.poll_output() else { panic!() };
    exchange.handle_abort(now());
    let answer = web.streams.handle_query(query);
    exchange.handle_sse(now(), answer);
    let Some(ExchangeOutput::Sse(query)) = exchange.poll_output() else { panic!() };
    web.streams.handle_query(query);
    assert!(web.streams.is_empty() && matches!(exchange.poll_output(), Some(ExchangeOutput::End)));
}

/// Limits::sessions
#[test]
fn streams_are_bounded() {
    let mut web = old(config().limits(limits(|limits| limits.sessions = 1)));
    let (mut stream, _) = connect(&mut web);
    assert_eq!(web.ask(stream_head(), "").status(), 503);
    stream.exchange.handle_abort(now());
    web.drive(&mut stream);
    connect(&mut web);
}

/// Limits::transmit: a client that does not read what it is sent is to send no more; when it reads, it may.
#[test]
fn a_client_that_does_not_read_may_not_send() {
    let mut web = old(config().limits(limits(|limits| limits.transmit = 2_000)));
    let (mut stream, endpoint) = greeted(&mut web);
    let mut statuses = Vec::new();
    for _ in 0..400 {
        let trip = web.ask(post_head(&endpoint), PING);
        while let Some(output) = web.streams.poll_output() {
            stream.exchange.handle_message(now(), &output.message, output.sender);
        }
        while let Some(output) = stream.exchange.poll_output() {
            let ExchangeOutput::Sse(query) = output else { panic!("{output:?}") };
            web.streams.handle_query(query);
        }
        statuses.push(trip.status());
        if trip.status() == 503 {
            break;
        }
    }
    assert!(statuses.len() > 10 && statuses.last() == Some(&503), "{}", statuses.len());
    assert!(stream.exchange.transmit().len() < 4_000);
    web.drive(&mut stream);
    assert_eq!(stream.events().len(), statuses.len() - 1);
    assert_eq!(post(&mut web, &mut stream, &endpoint, PING), 202);
}

/// Limits::message: what was under way when its stream stopped taking more is held up to so much, and then the stream
/// ends.
#[test]
fn a_client_that_sends_all_at_once_and_does_not_read_is_let_go() {
    let mut web = old(config().limits(limits(|limits| (limits.transmit, limits.message) = (200, 1_000))));
    let (mut stream, _) = greeted(&mut web);
    let sent = (0..).take_while(|_| {
        stream.exchange.handle_message(now(), PING, None);
        !matches!(stream.exchange.stage, Stage::Answered)
    });
    let sent = sent.take(1_000).count();
    assert!(sent > 1_000 / PING.len() && sent < 100, "{sent}");
    web.drive(&mut stream);
    assert!(stream.ended && web.streams.is_empty());
}

/// SSE-02: a silent stream gets a comment.
#[test]
fn a_silent_stream_is_kept_alive() {
    let mut web = old(config());
    let (mut stream, _) = greeted(&mut web);
    let due = stream.exchange.poll_timeout().unwrap();
    assert_eq!(stream.exchange.wake_reason(), Some(WakeReason::Comment));
    stream.exchange.handle_timeout(Now { mono: due, ..now() });
    web.drive(&mut stream);
    assert!(stream.body.starts_with(':') && !stream.ended, "{}", stream.body);
}

/// Only legacy clients speak this transport: what a modern client says of itself does not count.
#[test]
fn modern_requests_need_a_handshake_here() {
    let mut web = old(config());
    let (mut stream, endpoint) = connect(&mut web);
    stream.body.clear();
    assert_eq!(post(&mut web, &mut stream, &endpoint, &modern("1", "server/discover", "")), 202);
    assert!(stream.events()[0].contains(r#""id":1,"error""#), "{}", stream.body);
}

/// SSEL-06, SEC-13: tokens are demanded on both paths, the session is of whoever opened it, and what he may do is
/// what his calls may.
#[test]
fn both_paths_are_for_whoever_is_let_in() {
    let mut config = config();
    config.http = config.http.resource_server(ResourceServer::new("https://api.example/mcp"));
    let mut web = old(config);
    assert_eq!(web.ask(stream_head(), "").status(), 401);
    assert_eq!(web.ask(post_head("/messages?sessionId=a"), PING).status(), 401);
    let [ada, bob] = ["ada", "bob"].map(|name| Some(Arc::new(Principal::new(name))));
    web.principal = ada;
    let (mut stream, endpoint) = greeted(&mut web);
    assert_eq!(post(&mut web, &mut stream, &endpoint, CALL), 202);
    assert_eq!(stream.calls[0].1.principal().map(|principal| &*principal.subject), Some("ada"));
    web.principal = bob;
    assert_eq!(post(&mut web, &mut stream, &endpoint, PING), 404);
}

/// AUTH-12, AUTHS-03, AUTHS-09: a client that knows the stream alone is led to metadata of the stream, and its token is for
/// that; one for the MCP endpoint does, too, but not the other way round.
#[test]
fn a_stream_is_a_resource_of_its_own() {
    let mut config = config();
    config.http = config.http.resource_server(ResourceServer::new("https://api.example/mcp"));
    let mut web = old(config);
    let well_known = "/.well-known/oauth-protected-resource";
    for (head, path) in
        [(stream_head(), "/sse"), (post_head("/messages?sessionId=a"), "/sse"), (head("POST"), "/mcp")]
    {
        let trip = web.ask(head.clone(), PING);
        let named = format!(r#"resource_metadata="https://api.example{well_known}{path}""#);
        assert!(trip.field("www-authenticate").contains(&named), "{}", trip.field("www-authenticate"));
        let mut ask = self::head("GET");
        ask.target = format!("{well_known}{path}");
        let told = web.ask(ask, "").body;
        assert!(told.contains(&format!(r#""resource":"https://api.example{path}""#)), "{told}");
        for audience in ["/sse", "/mcp", "/messages"] {
            let mut head = head.clone();
            head.headers.push("Authorization", "Bearer t");
            let mut exchange = Exchange::new(now(), ExchangeId::new(9), Arc::clone(&web.config), head);
            let grant = Grant::new(Principal::new("ada")).audience(format!("https://api.example{audience}"));
            exchange.handle_grant(now(), grant);
            let outputs = core::iter::from_fn(|| exchange.poll_output());
            let refused = outputs
                .into_iter()
                .any(|output| matches!(&output, ExchangeOutput::Head(head, _) if head.status == 401));
            assert_eq!(refused, audience != path && audience != "/mcp", "{audience} at {path}");
        }
    }
}

/// A tool that needs scopes is for nobody where nobody is recognised: whoever comes over HTTP did not start the server.
#[test]
fn tools_with_scopes_are_for_those_who_are_recognised() {
    let mut config = config();
    let tool = config.tools.get("add").unwrap().tool.clone();
    config.tools.remove("add");
    config.tools.insert_for(tool, ["use".to_string()].into()).unwrap();
    let mut web = old(config);
    let (mut stream, endpoint) = greeted(&mut web);
    post(&mut web, &mut stream, &endpoint, CALL);
    assert!(stream.calls.is_empty() && stream.events()[0].contains("error"), "{}", stream.body);
    web.principal = Some(Arc::new(Principal::new("ada").scopes(["use"])));
    let (mut stream, endpoint) = greeted(&mut web);
    post(&mut web, &mut stream, &endpoint, CALL);
    assert_eq!(stream.calls.len(), 1);
}

/// AUTHS-15, AUTHS-16, SSEL-06: what a method needs is asked for on a stream as on the MCP endpoint, of calls, of what
/// is answered at once, and of notifications. Who lacks it does not learn what there is.
#[test]
fn methods_need_the_same_scopes_as_elsewhere() {
    let methods = ["tools/call", "tools/list", "notifications/roots/list_changed"];
    let server = ResourceServer::new("https://api.example/mcp");
    let server = methods.iter().fold(server, |server, method| server.method_scopes(*method, ["write"]));
    let mut config = config();
    config.http = config.http.resource_server(server);
    let mut web = old(config);
    let unknown = CALL.replace("add", "none");
    for (scopes, lets) in [(&[][..], false), (&["read"], false), (&["write"], true)] {
        web.principal = Some(Arc::new(Principal::new("ada").scopes(scopes.iter().copied())));
        let (mut stream, endpoint) = greeted(&mut web);
        stream.told.clear();
        for message in [CALL, CHANGED, LIST, &unknown.replace(":7", ":8"), PING] {
            assert_eq!(post(&mut web, &mut stream, &endpoint, message), 202);
        }
        assert_eq!(stream.calls.len(), usize::from(lets), "{scopes:?} {}", stream.body);
        let refused = stream.events().iter().filter(|event| event.contains("have the scopes")).count();
        assert_eq!(refused, if lets { 0 } else { 3 }, "{scopes:?} {}", stream.body);
        assert_eq!(
            stream.told.iter().any(|told| told.starts_with(methods[2])),
            lets,
            "{scopes:?} {:?}",
            stream.told
        );
    }
}

/// AUTHS-17, SSEL-06: a message is of whoever POSTed it: a token with more scopes is heard, one with fewer does not act
/// with those of the stream, and neither does what was held back.
#[test]
fn a_message_is_of_its_sender() {
    let mut config = config().limits(limits(|limits| (limits.in_flight, limits.notifications) = (1, 1)));
    let server = ResourceServer::new("https://api.example/mcp").method_scopes("tools/call", ["write"]);
    config.http = config.http.resource_server(server);
    let mut web = old(config);
    let of = |scope: &str| Some(Arc::new(Principal::new("ada").scopes([scope.to_string()])));
    web.principal = of("read");
    let (mut stream, endpoint) = greeted(&mut web);
    assert_eq!(post(&mut web, &mut stream, &endpoint, CALL), 202);
    assert!(stream.calls.is_empty() && stream.body.contains("have the scopes"), "{}", stream.body);
    web.principal = of("write");
    assert_eq!(post(&mut web, &mut stream, &endpoint, CALL), 202);
    assert!(stream.calls[0].1.principal().unwrap().has_scope("write"));
    stream.exchange.respond(now(), stream.calls.remove(0).0, &text("done"));
    web.drive(&mut stream);
    for (message, scope) in [(CHANGED, "write"), (CHANGED, "write"), (CALL, "read"), (PING, "write")] {
        stream.exchange.handle_message(now(), message, of(scope));
    }
    web.drive(&mut stream);
    assert!(stream.calls.is_empty() && stream.told.len() >= 2, "{:?}", stream.told);
    assert!(stream.body.ends_with("\"result\":{}}\n\n"), "{}", stream.body);
}

/// What is held back comes out in one go: after the last output there is none until something happens.
#[test]
fn what_was_held_back_is_told_before_the_last_output() {
    let limits = limits(|limits| (limits.in_flight, limits.notifications) = (1, 1));
    let mut web = old(config().limits(limits));
    let (mut stream, _) = greeted(&mut web);
    for _ in 0..7 {
        stream.exchange.handle_message(now(), CHANGED, None);
    }
    let outputs: Vec<_> = core::iter::from_fn(|| stream.exchange.poll_output()).collect();
    let told = outputs.iter().filter(|output| matches!(output, ExchangeOutput::Notification { .. })).count();
    assert_eq!(told, 7, "{outputs:?}");
}

/// SEC-12: a stream that is opened when nobody waits for it any more is closed, and no other.
#[test]
fn a_stream_that_is_opened_too_late_is_closed() {
    let web = &mut old(config());
    let mut exchange = Exchange::new(now(), ExchangeId::new(9), Arc::clone(&web.config), stream_head());
    exchange.handle_end(now(), End::Complete);
    let Some(ExchangeOutput::Sse(query)) = exchange.poll_output() else { panic!() };
    exchange.give_up(now());
    let answer = web.streams.handle_query(query);
    exchange.handle_sse(now(), answer);
    while let Some(output) = exchange.poll_output() {
        if let ExchangeOutput::Sse(query) = output {
            web.streams.handle_query(query);
        }
    }
    assert!(web.streams.is_empty());

    let (mut stream, endpoint) = greeted(web);
    let session = SessionId::new(endpoint.split_once('=').unwrap().1);
    stream.exchange.handle_sse(now(), SseAnswer::Opened { session });
    web.drive(&mut stream);
    assert_eq!(web.streams.len(), 1);
}

/// Limits::session_answer: a table of streams that does not answer is given up, by who opens a stream and by who sends.
#[test]
fn a_table_of_streams_that_does_not_answer_is_given_up() {
    let web = old(config());
    for head in [stream_head(), post_head("/messages?sessionId=a")] {
        let mut exchange = Exchange::new(now(), ExchangeId::new(9), Arc::clone(&web.config), head);
        exchange.handle_body(now(), PING.as_bytes());
        exchange.handle_end(now(), End::Complete);
        assert!(matches!(exchange.poll_output(), Some(ExchangeOutput::Sse(_))));
        let due = exchange.poll_timeout().unwrap();
        assert_eq!(due, now().mono + web.config.limits.session_answer);
        assert_eq!(exchange.wake_reason(), Some(WakeReason::SessionAnswer));
        exchange.handle_timeout(Now { mono: due, ..now() });
        let Some(ExchangeOutput::Head(head, _)) = exchange.poll_output() else { panic!() };
        assert_eq!((head.status, exchange.poll_timeout()), (503, None));
    }
}

/// A client that is to send no more for now may read well: the server may be busy. The text is right for both.
#[test]
fn a_message_that_is_not_taken_is_to_be_tried_again() {
    let mut web = old(config());
    let (_stream, endpoint) = greeted(&mut web);
    let session = SessionId::new(endpoint.split_once('=').unwrap().1);
    web.streams.handle_query(SseQuery::Takes { session, takes: false });
    let trip = web.ask(post_head(&endpoint), PING);
    assert!(trip.status() == 503 && trip.body.contains("try again"), "{}", trip.body);
}
