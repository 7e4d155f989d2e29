use super::*;
use crate::head::BodyLength;
use crate::model::capabilities::ClientCapabilities;
use crate::server::testing::full;
use crate::server::{Admission, Change, ListChanges, Principal};
use crate::time::Duration;

const FILTER: &str = r#"{"toolsListChanged":true,"resourceSubscriptions":["test://static"]}"#;

fn listen_head() -> RequestHead {
    modern_head("subscriptions/listen", None)
}

fn acknowledged(id: &str, filter: &str) -> String {
    format!(
        r#"{{"jsonrpc":"2.0","method":"notifications/subscriptions/acknowledged","params":{{"notifications":{filter},"_meta":{{"io.modelcontextprotocol/subscriptionId":{id}}}}}}}"#
    )
}

fn tools_changed(id: &str) -> String {
    format!(
        r#"{{"jsonrpc":"2.0","method":"notifications/tools/list_changed","params":{{"_meta":{{"io.modelcontextprotocol/subscriptionId":{id}}}}}}}"#
    )
}

fn listening(web: &mut Web) -> Trip {
    let trip = web.ask(listen_head(), &listen("1", FILTER));
    assert_eq!(trip.status(), 200, "{}", trip.body);
    trip
}

/// SUB-03, SUB-08, SUB-22: the reply is an event stream that begins with the acknowledgement and stays open.
#[test]
fn the_reply_to_a_listen_is_an_event_stream_that_stays_open() {
    let mut web = Web::new(changing());
    let mut trip = listening(&mut web);
    assert_eq!(trip.field("content-type"), "text/event-stream");
    assert!(matches!(trip.head, Some((_, BodyLength::Stream))) && !trip.ended);
    assert_eq!(trip.events(), [acknowledged("1", FILTER)]);
    assert_eq!(trip.listens[0].wanted.watched.iter().count(), 1);
    for change in [Change::Tools, Change::Prompts, Change::Resource("test://static".into())] {
        trip.exchange.publish(now(), &change);
    }
    web.drive(&mut trip);
    assert_eq!(trip.events().len(), 3);
    assert_eq!(trip.events()[1], tools_changed("1"));
    assert!(trip.events()[2].contains(r#""uri":"test://static""#) && !trip.ended);
}

/// SUB-13, SUB-14: the end that the server makes is the result of the request.
#[test]
fn a_stopping_server_ends_the_stream_with_its_result() {
    let mut web = Web::new(changing());
    let mut trip = listening(&mut web);
    trip.exchange.shutdown(now());
    trip.exchange.shutdown(now());
    trip.exchange.publish(now(), &Change::Tools);
    web.drive(&mut trip);
    let result = r#"{"jsonrpc":"2.0","id":1,"result":{"resultType":"complete","_meta":{"io.modelcontextprotocol/subscriptionId":1,"io.modelcontextprotocol/serverInfo":{"name":"spokes","version":"2.1.0"}}}}"#;
    assert_eq!(trip.events()[1..], [result]);
    assert!(trip.ended && trip.exchange.poll_timeout().is_none());
}

/// SUB-11: closing the stream ends the subscription, before and after it was let in.
#[test]
fn a_client_that_leaves_ends_its_subscription() {
    let mut web = Web::new(changing());
    let mut trip = listening(&mut web);
    trip.exchange.handle_abort(now());
    trip.exchange.publish(now(), &Change::Tools);
    web.drive(&mut trip);
    assert!(trip.ended && trip.events().len() == 1);

    let mut exchange = Exchange::new(now(), ExchangeId::new(9), Arc::clone(&web.config), listen_head());
    exchange.handle_body(now(), listen("1", FILTER).as_bytes());
    exchange.handle_end(now(), End::Complete);
    exchange.handle_abort(now());
    exchange.handle_admission(now(), Admission::Granted);
    let outputs: Vec<_> = core::iter::from_fn(|| exchange.poll_output()).collect();
    assert!(matches!(&*outputs, [ExchangeOutput::Listen(_), ExchangeOutput::End]), "{outputs:?}");
}

/// SSE-02: a silent stream gets a comment each time that its interval has passed, and a notification counts as
/// a sound.
#[test]
fn an_idle_stream_is_kept_alive() {
    let mut web = Web::new(changing());
    let mut trip = listening(&mut web);
    let interval = web.config.limits.keep_alive_comment;
    let first = trip.exchange.poll_timeout().unwrap();
    assert_eq!(first, now().mono + interval);
    let half = Now::new(now().mono + interval / 2, Duration::ZERO);
    trip.exchange.publish(half, &Change::Tools);
    let due = Now::new(half.mono + interval, Duration::ZERO);
    trip.exchange.handle_timeout(Now::new(first, Duration::ZERO));
    web.drive(&mut trip);
    assert!(!trip.body.contains("\n: \n") && trip.exchange.poll_timeout() == Some(due.mono));
    for _ in 0..2 {
        trip.exchange.handle_timeout(due);
    }
    web.drive(&mut trip);
    assert_eq!(trip.body.matches("\n: \n").count(), 1, "{}", trip.body);
}

/// Limits::listens: who finds no room is answered 503, who is not let in with what the application says.
#[test]
fn who_is_not_let_in_is_answered_with_an_error() {
    let mut web = Web::new(changing());
    web.admission = Admission::Full;
    assert_eq!(answered(&web.ask(listen_head(), &listen("1", FILTER))), (503, -32603));
    web.admission = Admission::Refused(ErrorObject::new(7, "not you"));
    assert_eq!(answered(&web.ask(listen_head(), &listen("1", FILTER))), (200, 7));
    let capabilities = ClientCapabilities::new();
    web.admission = Admission::Refused(crate::server::missing_capabilities(capabilities));
    assert_eq!(answered(&web.ask(listen_head(), &listen("1", FILTER))), (400, -32021));
}

/// Whoever admits listeners knows who they are.
#[test]
fn a_listen_names_its_principal_and_its_client() {
    let web = Web::new(changing());
    let mut exchange = Exchange::new(now(), ExchangeId::new(9), Arc::clone(&web.config), listen_head());
    exchange.handle_principal(now(), Arc::new(Principal::new("ada")));
    exchange.handle_body(now(), listen("1", FILTER).as_bytes());
    exchange.handle_end(now(), End::Complete);
    let Some(ExchangeOutput::Listen(listen)) = exchange.poll_output() else { panic!() };
    assert_eq!(listen.principal.unwrap().subject, "ada");
    assert_eq!((listen.client.info.as_ref(), listen.revision), (None, Revision::LATEST));
}

/// HTTP-16: a client that takes no events, or only a server that sends none, has no stream to listen to.
#[test]
fn a_listen_needs_an_event_stream() {
    let mut web = Web::new(changing());
    let json = with(listen_head(), &[("Accept", Some("application/json"))]);
    assert_eq!(answered(&web.ask(json, &listen("1", FILTER))), (406, -32600));
}

/// DISC-07, SUBL-08: what is not delivered over HTTP is not declared there, and its methods are unknown.
#[test]
fn over_http_is_declared_what_is_delivered_there() {
    let discover = |config: Config| {
        let trip =
            Web::new(config).ask(modern_head("server/discover", None), &modern("1", "server/discover", ""));
        (trip.body.matches("listChanged").count(), trip.body.matches("subscribe").count())
    };
    assert_eq!(discover(changing()), (3, 1));
    assert_eq!(discover(full()), (0, 0));
    let policy = HttpPolicy { json_responses: true, ..HttpPolicy::default() };
    let silent = changing().http(policy);
    assert_eq!(discover(silent.clone()), (0, 0));
    for config in [silent, full()] {
        assert_eq!(answered(&Web::new(config).ask(listen_head(), &listen("1", FILTER))), (404, -32601));
    }
    for method in ["resources/subscribe", "resources/unsubscribe"] {
        let body = modern("1", method, r#""uri":"test://static","#);
        assert_eq!(answered(&Web::new(changing()).ask(modern_head(method, None), &body)), (404, -32601));
    }
    let mut changes = ListChanges::NONE;
    changes.prompts = true;
    assert_eq!(discover(config().changes(changes)), (1, 0));
}

/// Limits::notifications: what a client does not read waits, each thing once, and is sent as it reads.
#[test]
fn what_a_slow_reader_is_to_be_told_is_merged() {
    let mut web = Web::new(changing().limits(limits(|limits| limits.transmit = 1)));
    let mut trip = listening(&mut web);
    for change in [Change::Tools, Change::Tools, Change::Resource("test://static".into()), Change::Tools] {
        trip.exchange.publish(now(), &change);
    }
    let mut sent = String::new();
    while !trip.exchange.transmit().is_empty() {
        let some = trip.exchange.transmit().len().min(7);
        sent.push_str(core::str::from_utf8(&trip.exchange.transmit()[..some]).unwrap());
        trip.exchange.advance(some);
    }
    let methods: Vec<_> = sent.matches("list_changed").chain(sent.matches("updated")).collect();
    assert_eq!(methods, ["list_changed", "list_changed", "updated"]);
    web.drive(&mut trip);
    assert!(
        trip.told[0].contains("1 notifications that repeat others were left out, 0 lost"),
        "{:?}",
        trip.told
    );
}

/// Other exchanges hear nothing of changes, and keep what they began with.
#[test]
fn a_call_is_not_told_of_changes() {
    let mut web = Web::new(changing());
    let mut trip = web.ask(call_head(), &modern_call(""));
    trip.exchange.publish(now(), &Change::Tools);
    trip.exchange.handle_config(now(), Arc::new(config()));
    trip.exchange.shutdown(now());
    let id = trip.calls[0].0;
    trip.exchange.respond(now(), id, &text("x"));
    web.drive(&mut trip);
    assert!(trip.status() == 200 && trip.body.contains("result") && trip.ended);
}

/// A subscription from the first byte of its request to its end.
fn visit(piece: usize, drain: bool, spurious: bool) -> (String, String) {
    let web = Web::new(changing());
    let body = listen("1", FILTER);
    let mut exchange = Exchange::new(at(0), ExchangeId::new(1), Arc::clone(&web.config), listen_head());
    let (mut said, mut sent) = (String::new(), String::new());
    let mut flush = |exchange: &mut Exchange, force: bool| {
        if spurious {
            exchange.handle_timeout(at(0));
            exchange.handle_timeout(at(10));
        }
        if drain || force {
            while let Some(output) = exchange.poll_output() {
                said.push_str(&format!("{output:?}\n"));
            }
            sent.push_str(core::str::from_utf8(exchange.transmit()).unwrap());
            exchange.advance(exchange.transmit().len());
        }
    };
    for piece in body.as_bytes().chunks(piece) {
        exchange.handle_body(at(1), piece);
        flush(&mut exchange, false);
    }
    exchange.handle_end(at(2), End::Complete);
    flush(&mut exchange, false);
    exchange.handle_admission(at(3), Admission::Granted);
    flush(&mut exchange, false);
    for change in [Change::Tools, Change::Resource("test://static".into()), Change::Tools] {
        exchange.publish(at(4), &change);
        flush(&mut exchange, false);
    }
    exchange.shutdown(at(5));
    flush(&mut exchange, true);
    flush(&mut exchange, true);
    (said, sent)
}

/// How the body is cut does not matter, nor when the exchange is drained, nor timeouts that are none.
#[test]
fn the_transcript_of_a_subscription_does_not_depend_on_pieces_draining_or_spurious_timeouts() {
    let expected = visit(usize::MAX, false, false);
    assert_eq!(expected.1.matches("data: ").count(), 5, "{}", expected.1);
    assert!(expected.0.ends_with("End\n"), "{}", expected.0);
    for piece in [1, 2, 7, usize::MAX] {
        for (drain, spurious) in [(false, false), (false, true), (true, false), (true, true)] {
            assert_eq!(visit(piece, drain, spurious), expected, "{piece} {drain} {spurious}");
        }
    }
}

fn watch(web: &mut Web, session: &SessionId, method: &str, uri: &str) -> Trip {
    let body =
        format!(r#"{{"jsonrpc":"2.0","id":1,"method":"resources/{method}","params":{{"uri":"{uri}"}}}}"#);
    web.ask(legacy_head(Some(session)), &body)
}

/// SUBL-02 to SUBL-07, HTTPL-28: a legacy session is told on the stream of its GET, once its client is ready, of
/// lists and of the resources that it subscribed to; another session is told of its own.
#[test]
fn legacy_sessions_are_told_on_their_streams() {
    let mut web = Web::new(changing());
    let config = Arc::clone(&web.config);
    let (one, other) = (web.open(V), web.open(V));
    let mut streams = [&one, &other].map(|session| web.ask(streams::get(session, None), ""));
    let mut publish = |web: &mut Web, change: &Change| {
        web.sessions.publish(now(), &config, change);
        let [first, second] = &mut streams;
        streams::route(web, &mut [first, second]);
        streams.each_ref().map(|stream| stream.events().len())
    };
    assert_eq!(publish(&mut web, &Change::Tools), [0, 0]);
    for session in [&one, &other] {
        assert_eq!(web.ask(legacy_head(Some(session)), INITIALIZED).status(), 202);
    }
    assert_eq!(publish(&mut web, &Change::Tools), [1, 1]);
    assert_eq!(
        watch(&mut web, &one, "subscribe", "test://static").body,
        r#"{"jsonrpc":"2.0","id":1,"result":{}}"#
    );
    let updated = Change::Resource("test://static".into());
    assert_eq!(publish(&mut web, &updated), [2, 1]);
    watch(&mut web, &other, "unsubscribe", "test://static");
    watch(&mut web, &one, "unsubscribe", "test://static");
    assert_eq!(publish(&mut web, &updated), [2, 1]);
    assert!(watch(&mut web, &one, "subscribe", "test://nothing").body.contains(r#""code":-32002"#));
    assert_eq!(
        streams[0].events(),
        [
            r#"{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}"#,
            r#"{"jsonrpc":"2.0","method":"notifications/resources/updated","params":{"uri":"test://static"}}"#
        ]
    );
}

/// Limits::watched: reached exactly, and passed by one, alone and in a batch.
#[test]
fn resources_of_a_legacy_session_are_bounded() {
    let mut web = Web::new(changing().limits(limits(|limits| limits.watched = 1)));
    let session = web.open("2025-03-26");
    assert!(watch(&mut web, &session, "subscribe", "test://static").body.contains("result"));
    assert!(watch(&mut web, &session, "subscribe", "test://item/1").body.contains(r#""code":-32602"#));
    let subscribe = |id: &str, uri: &str| {
        format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"resources/subscribe","params":{{"uri":"{uri}"}}}}"#)
    };
    let batch = format!("[{},{}]", subscribe("1", "test://item/1"), subscribe("2", "test://static"));
    let trip = web.ask(legacy_head(Some(&session)), &batch);
    assert!(trip.body.contains(r#""id":1,"error":{"code":-32602"#), "{}", trip.body);
    assert!(trip.body.contains(r#""id":2,"result""#), "{}", trip.body);
}

/// DISC-07: legacy clients over HTTP are promised what they can be told: nothing where they have no stream.
#[test]
fn legacy_clients_are_promised_what_reaches_them() {
    for (streams, expected) in [(true, [3, 1]), (false, [0, 0])] {
        let policy = HttpPolicy { session_streams: streams, ..HttpPolicy::default() };
        let mut web = Web::new(changing().http(policy));
        let trip = web.ask(legacy_head(None), &initialize(V));
        let found = ["listChanged", "subscribe"].map(|flag| trip.body.matches(flag).count());
        assert_eq!(found, expected, "{}", trip.body);
        let session = SessionId::new(trip.field("mcp-session-id"));
        let answer = watch(&mut web, &session, "subscribe", "test://static");
        assert_eq!(answer.body.contains("result"), streams, "{}", answer.body);
    }
}

/// RES-21: over HTTP, too, who asks decides what is there; a legacy client is known by its session.
#[test]
fn what_is_there_depends_on_who_asks() {
    use crate::server::{Item, Viewer, Visibility};
    let rule = |viewer: &Viewer, item: Item<'_>| {
        item.name() != "add"
            || viewer.has_scope("staff")
            || viewer.client.info.as_ref().is_some_and(|info| info.name == "kiln")
    };
    let mut web = Web::new(changing().visible(Visibility::new(rule)));
    let unknown = web.ask(call_head(), &modern_call(""));
    assert_eq!((unknown.calls.len(), code(&unknown)), (0, -32602), "{}", unknown.body);
    let mut exchange = Exchange::new(now(), ExchangeId::new(9), Arc::clone(&web.config), call_head());
    exchange.handle_principal(now(), Arc::new(Principal::new("ada").scopes(["staff"])));
    exchange.handle_body(now(), modern_call("").as_bytes());
    exchange.handle_end(now(), End::Complete);
    assert!(matches!(exchange.poll_output(), Some(ExchangeOutput::Call(..))));

    let session = web.open(V);
    assert_eq!(web.ask(legacy_head(Some(&session)), CALL).calls.len(), 1);
    assert!(web.ask(legacy_head(Some(&session)), LIST).body.contains(r#""name":"add""#));
    let other = web.ask(legacy_head(None), &initialize(V).replace("kiln", "mill"));
    let other = SessionId::new(other.field("mcp-session-id"));
    let unknown = web.ask(legacy_head(Some(&other)), CALL);
    assert_eq!((unknown.calls.len(), code(&unknown)), (0, -32602), "{}", unknown.body);
    assert!(!web.ask(legacy_head(Some(&other)), LIST).body.contains(r#""name":"add""#));
    assert_eq!(web.ask(legacy_head(Some(&SessionId::new("none"))), CALL).status(), 404);
    assert_eq!(web.ask(legacy_head(None), CALL).status(), 400);
}

/// Without sessions a rule judges by the request alone.
#[test]
fn what_is_there_without_sessions_depends_on_the_request() {
    use crate::server::Visibility;
    let policy = HttpPolicy { stateless: true, ..HttpPolicy::default() };
    let rule = Visibility::new(|viewer, item| viewer.has_scope("staff") || item.name() != "add");
    let mut web = Web::new(changing().http(policy).visible(rule));
    assert!(!web.ask(legacy_head(None), LIST).body.contains(r#""name":"add""#));
    assert!(web.ask(legacy_head(None), CALL).calls.is_empty());
    let mut exchange = Exchange::new(now(), ExchangeId::new(9), Arc::clone(&web.config), legacy_head(None));
    exchange.handle_principal(now(), Arc::new(Principal::new("ada").scopes(["staff"])));
    exchange.handle_body(now(), CALL.as_bytes());
    exchange.handle_end(now(), End::Complete);
    assert!(matches!(exchange.poll_output(), Some(ExchangeOutput::Call(..))));
}

/// SUB-17: a stream of changes carries nothing else.
#[test]
fn progress_and_logs_do_not_come_on_a_stream_of_changes() {
    let mut config = changing();
    config.logging = true;
    config.hand_out_all = true;
    let mut web = Web::new(config);
    let asks = listen("1", FILTER)
        .replace(r#""_meta":{"#, r#""_meta":{"progressToken":5,"io.modelcontextprotocol/logLevel":"debug","#);
    let mut trip = web.ask(listen_head(), &asks);
    let (call, log) = (
        trip.calls[0].0,
        LoggingMessageNotificationParams::new(LoggingLevel::Error, Json::parse("1").unwrap()),
    );
    let speak = |web: &mut Web, trip: &mut Trip| {
        trip.exchange.progress(now(), call, &Progress::new(1.0));
        trip.exchange.log(now(), call, &log);
        web.drive(trip);
    };
    // Whoever watches the request has it in hand, before and after it becomes a stream.
    speak(&mut web, &mut trip);
    assert_eq!(web.let_proceed(&mut trip), 1);
    speak(&mut web, &mut trip);
    assert_eq!((trip.status(), trip.events()), (200, alloc::vec![&*acknowledged("1", FILTER)]));
}

/// SUB-03, SUB-08: what changes after somebody was let in is told, behind the acknowledgement; what changes before,
/// or on a stream that is refused, is not.
#[test]
fn what_changes_before_the_acknowledgement_is_told_after_it() {
    for admission in [Admission::Granted, Admission::Full] {
        let web = Web::new(changing());
        let mut exchange = Exchange::new(now(), ExchangeId::new(1), Arc::clone(&web.config), listen_head());
        exchange.handle_body(now(), listen("1", FILTER).as_bytes());
        exchange.publish(now(), &Change::Tools);
        exchange.handle_end(now(), End::Complete);
        let listens = core::iter::from_fn(|| exchange.poll_output());
        assert!(listens.into_iter().any(|output| matches!(output, ExchangeOutput::Listen(_))));
        for change in
            [Change::Tools, Change::Prompts, Change::Tools, Change::Resource("test://static".into())]
        {
            exchange.publish(now(), &change);
        }
        assert_eq!(exchange.transmit(), b"");
        let granted = matches!(admission, Admission::Granted);
        exchange.handle_admission(now(), admission);
        let sent = core::str::from_utf8(exchange.transmit()).unwrap();
        let events: Vec<_> = sent.lines().filter_map(|line| line.strip_prefix("data: ")).collect();
        if granted {
            assert_eq!(events[..2], [acknowledged("1", FILTER), tools_changed("1")]);
            assert!(events[2].contains("test://static") && events.len() == 3, "{sent}");
        } else {
            assert!(events.is_empty() && sent.contains("error") && !sent.contains("changed"), "{sent}");
        }
    }
}
