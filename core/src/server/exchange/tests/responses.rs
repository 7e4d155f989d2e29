use super::*;

/// HTTP-14, META-19: a call that is answered before it reports anything gets JSON.
#[test]
fn a_call_is_answered_as_json() {
    let mut web = Web::new(config());
    let mut trip = web.ask(call_head(), &modern_call(""));
    let (id, call) = trip.calls.remove(0);
    assert_eq!(
        (call.name(), call.revision(), call.request_id().to_string()),
        ("add", Revision::V2026_07_28, "7".into())
    );
    assert!(call.params().starts_with(r#"{"name":"add""#) && call.params().ends_with("}}"));
    assert!(trip.head.is_none() && !trip.ended);
    trip.exchange.respond(now(), id, &text("m"));
    web.drive(&mut trip);
    assert_eq!((trip.status(), trip.field("content-type")), (200, "application/json"));
    assert_eq!(
        trip.body,
        format!(
            r#"{{"jsonrpc":"2.0","id":7,"result":{{"resultType":"complete","content":[{{"type":"text","text":"m"}}],{NAMED}}}}}"#
        )
    );
    assert!(trip.ended && web.sessions.is_empty());
}

/// HTTP-16, HTTP-17, HTTP-19, PRG-12, SSE-01, SSE-04
#[test]
fn a_notification_turns_the_answer_into_an_event_stream() {
    let mut web = Web::new(config());
    let mut trip =
        web.ask(call_head(), &modern_call(r#""progressToken":5,"io.modelcontextprotocol/logLevel":"info","#));
    let id = trip.calls[0].0;
    trip.exchange.progress(now(), id, &Progress::new(1.0));
    web.drive(&mut trip);
    assert_eq!(trip.head.as_ref().unwrap().1, BodyLength::Stream);
    assert_eq!(trip.field("content-type"), "text/event-stream");
    assert_eq!((trip.field("cache-control"), trip.field("x-accel-buffering")), ("no-cache", "no"));
    let log = LoggingMessageNotificationParams::new(LoggingLevel::Info, Json::parse("1").unwrap());
    trip.exchange.log(now(), id, &log);
    trip.exchange.respond(now(), id, &text("m"));
    assert!(!trip.ended);
    web.drive(&mut trip);
    let events = trip.events();
    assert_eq!(
        events[0],
        r#"{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":5,"progress":1}}"#
    );
    assert_eq!(
        events[1],
        r#"{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":1}}"#
    );
    assert!(events[2].contains(r#""id":7,"result""#) && events.len() == 3);
    assert!(trip.ended);
    trip.exchange.progress(now(), id, &Progress::new(2.0));
    assert_eq!(trip.exchange.transmit(), b"");
}

/// LOG-02, PRG-07: nothing that was not asked for begins a stream.
#[test]
fn notifications_that_nobody_asked_for_change_nothing() {
    let mut web = Web::new(config());
    let log = LoggingMessageNotificationParams::new(LoggingLevel::Emergency, Json::parse("1").unwrap());
    let json = with(call_head(), &[("accept", Some("application/json"))]);
    let asking = modern_call(r#""progressToken":5,"io.modelcontextprotocol/logLevel":"info","#);
    for (head, body) in [(call_head(), modern_call("")), (json, asking.clone())] {
        let mut trip = web.ask(head, &body);
        let id = trip.calls[0].0;
        trip.exchange.progress(now(), id, &Progress::new(1.0));
        trip.exchange.log(now(), id, &log);
        web.drive(&mut trip);
        assert!(trip.head.is_none());
        trip.exchange.respond(now(), id, &text("m"));
        web.drive(&mut trip);
        assert_eq!(trip.field("content-type"), "application/json");
    }
    let mut web = Web::new(config().http(HttpPolicy::default().json_responses(true)));
    let mut trip = web.ask(call_head(), &asking);
    trip.exchange.progress(now(), trip.calls[0].0, &Progress::new(1.0));
    web.drive(&mut trip);
    assert!(trip.head.is_none() && trip.exchange.poll_timeout().is_none());
}

/// META-16, META-17
#[test]
fn the_status_of_an_error_is_that_of_its_code_until_the_stream_has_begun() {
    let mut web = Web::new(config());
    for (code, status) in [(-32021, 400), (-32602, 200), (-32603, 200), (-32002, 200), (7, 200)] {
        let mut trip = web.ask(call_head(), &modern_call(""));
        trip.exchange.fail(now(), trip.calls[0].0, &ErrorObject::new(code, "m"));
        web.drive(&mut trip);
        assert_eq!(trip.status(), status, "{code}");
    }
    let mut trip = web.ask(call_head(), &modern_call(r#""progressToken":5,"#));
    trip.exchange.progress(now(), trip.calls[0].0, &Progress::new(1.0));
    trip.exchange.fail(now(), trip.calls[0].0, &ErrorObject::new(-32021, "m"));
    web.drive(&mut trip);
    assert!(trip.status() == 200 && trip.events()[1].contains("-32021"));
}

/// HTTP-20, HTTP-22, CAN-03, B41
#[test]
fn a_modern_client_cancels_by_closing_the_response() {
    let mut web = Web::new(config());
    let mut trip = web.ask(call_head(), &modern_call(r#""progressToken":5,"#));
    let id = trip.calls[0].0;
    trip.exchange.progress(now(), id, &Progress::new(1.0));
    trip.exchange.handle_abort(now());
    trip.exchange.handle_abort(now());
    trip.exchange.progress(now(), id, &Progress::new(2.0));
    trip.exchange.respond(now(), id, &text("late"));
    trip.exchange.handle_timeout(at(1_000_000));
    web.drive(&mut trip);
    assert_eq!((trip.cancelled.as_slice(), trip.body.as_str(), trip.ended), (&[id][..], "", true));
}

/// HTTPL-23, B41
#[test]
fn a_legacy_client_does_not() {
    let mut web = Web::new(config());
    let session = web.open(V);
    let mut trip = web.ask(legacy_head(Some(&session)), CALL);
    let id = trip.calls[0].0;
    trip.exchange.handle_abort(now());
    web.drive(&mut trip);
    assert!(trip.cancelled.is_empty() && !trip.ended);
    trip.exchange.progress(now(), id, &Progress::new(1.0));
    trip.exchange.respond(now(), id, &text("m"));
    web.drive(&mut trip);
    assert_eq!((trip.head.is_none(), trip.body.as_str(), trip.ended), (true, "", true));
    // The session knows that the call is over.
    assert_eq!(web.ask(legacy_head(Some(&session)), CALL).calls.len(), 1);
}

/// SSE-02
#[test]
fn a_silent_call_becomes_a_stream_with_comments() {
    let mut web = Web::new(config());
    let mut trip = web.ask(call_head(), &modern_call(""));
    let id = trip.calls[0].0;
    assert_eq!(trip.exchange.poll_timeout(), Some(at(16_000).mono));
    for early in [0, 15_999] {
        trip.exchange.handle_timeout(at(early));
    }
    web.drive(&mut trip);
    assert!(trip.head.is_none());
    trip.exchange.handle_timeout(at(16_000));
    trip.exchange.handle_timeout(at(16_000));
    web.drive(&mut trip);
    assert_eq!((trip.field("content-type"), trip.body.as_str()), ("text/event-stream", ": \n\n"));
    assert_eq!(trip.exchange.poll_timeout(), Some(at(31_000).mono));
    trip.exchange.handle_timeout(at(31_000));
    web.drive(&mut trip);
    assert_eq!(trip.body, ": \n\n: \n\n");
    trip.exchange.respond(at(47_000), id, &text("m"));
    web.drive(&mut trip);
    assert_eq!((trip.events().len(), trip.ended, trip.exchange.poll_timeout()), (1, true, None));
}

/// A client that does not read loses progress, not answers.
#[test]
fn notifications_are_dropped_while_too_much_is_to_be_sent() {
    let limits = limits(|limits| limits.transmit = 100);
    let mut web = Web::new(config().limits(limits));
    let mut trip = web.ask(call_head(), &modern_call(r#""progressToken":5,"#));
    let id = trip.calls[0].0;
    let mut sent = Vec::new();
    for progress in 0..1_000 {
        let before = trip.exchange.transmit().len();
        trip.exchange.progress(now(), id, &Progress::new(f64::from(progress)));
        if trip.exchange.transmit().len() > before {
            sent.push(before);
        }
    }
    // Sent while no more than the bound waits.
    assert!(sent.iter().all(|before| *before <= 100) && trip.exchange.transmit().len() > 100, "{sent:?}");
    trip.exchange.respond(now(), id, &text("m"));
    web.drive(&mut trip);
    assert!(trip.events().last().unwrap().contains("result"));
}

#[test]
fn what_wakes_an_exchange_is_named() {
    let mut web = Web::new(config());
    let mut trip = web.ask(call_head(), &modern_call(""));
    assert_eq!(trip.exchange.wake_reason(), Some(WakeReason::Comment));
    let id = trip.calls[0].0;
    trip.exchange.respond(now(), id, &text("x"));
    assert_eq!(trip.exchange.wake_reason(), None);
}

/// SSE-06: no event of the modern era has an id, so that nobody can come to depend on one; what a client says of a last
/// one means nothing.
#[test]
fn modern_streams_have_no_event_ids() {
    let mut web = Web::new(changing());
    let last = [("Last-Event-ID", Some("1267c212.1-1"))];
    let mut trip = web.ask(with(call_head(), &last), &modern_call(r#""progressToken":1,"#));
    let id = trip.calls[0].0;
    trip.exchange.progress(now(), id, &Progress::new(1.0));
    trip.exchange.handle_timeout(at(60_000));
    trip.exchange.respond(now(), id, &text("m"));
    web.drive(&mut trip);
    let filter = r#"{"toolsListChanged":true}"#;
    let mut stream = web.ask(with(modern_head("subscriptions/listen", None), &last), &listen("1", filter));
    stream.exchange.publish(now(), &crate::server::Change::Tools);
    stream.exchange.shutdown(now());
    web.drive(&mut stream);
    for trip in [trip, stream] {
        assert!(trip.ended && trip.events().len() > 1);
        assert!(
            !trip.body.lines().any(|line| line.starts_with("id") || line.starts_with("retry")),
            "{}",
            trip.body
        );
    }
}

/// HTTP-17: what is said of one request goes onto its own stream, whichever else is open, of the same client and
/// with the same token for progress.
#[test]
fn each_stream_speaks_of_its_request_only() {
    let mut web = Web::new(config());
    let body = modern_call(r#""progressToken":5,"io.modelcontextprotocol/logLevel":"info","#);
    let (mut one, mut other) = (web.ask(call_head(), &body), web.ask(call_head(), &body));
    let call = one.calls[0].0;
    one.exchange.progress(now(), call, &Progress::new(1.0));
    let log = LoggingMessageNotificationParams::new(LoggingLevel::Info, Json::parse("1").unwrap());
    one.exchange.log(now(), call, &log);
    [&mut one, &mut other].into_iter().for_each(|trip| web.drive(trip));
    assert_eq!((one.events().len(), other.head.is_none(), &*other.body), (2, true, ""));
    other.exchange.respond(now(), other.calls[0].0, &text("m"));
    [&mut one, &mut other].into_iter().for_each(|trip| web.drive(trip));
    assert!(!one.ended && other.ended && other.field("content-type") == "application/json");
}

/// LOG-11: the levels have the names of syslog, data is any JSON, and a logger need not be named.
#[test]
fn logs_are_of_eight_levels_and_of_any_data() {
    use LoggingLevel::{Alert, Critical, Debug, Emergency, Error, Info, Notice, Warning};
    let mut web = Web::new(config());
    let mut trip = web.ask(call_head(), &modern_call(r#""io.modelcontextprotocol/logLevel":"debug","#));
    let levels = [Debug, Info, Notice, Warning, Error, Critical, Alert, Emergency];
    let data = ["null", "1", "\"x\"", "[]", "{\"a\":1}", "true", "0.5", "\"\""];
    for (level, data) in levels.into_iter().zip(data) {
        let log = LoggingMessageNotificationParams::new(level, Json::parse(data).unwrap());
        trip.exchange.log(now(), trip.calls[0].0, &log);
    }
    web.drive(&mut trip);
    let names = ["debug", "info", "notice", "warning", "error", "critical", "alert", "emergency"];
    for ((event, name), data) in trip.events().into_iter().zip(names).zip(data) {
        assert!(event.contains(&format!(r#""params":{{"level":"{name}","data":{data}}}"#)), "{event}");
    }
    assert_eq!(trip.events().len(), 8);
}
