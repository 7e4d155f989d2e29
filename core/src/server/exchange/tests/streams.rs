use super::*;
use crate::limits::Limits;
use crate::time::Duration;

/// The head of a GET.
pub(super) fn get(session: &SessionId, after: Option<&str>) -> RequestHead {
    let head = with(head("GET"), &[("Accept", Some("text/event-stream"))]);
    with(head, &[("Mcp-Session-Id", Some(session.as_str())), ("Last-Event-ID", after)])
}

/// Gives exchanges what the table has for them.
pub(super) fn route(web: &mut Web, trips: &mut [&mut Trip]) {
    while let Some(output) = web.sessions.poll_output() {
        let Some(trip) = trips.iter_mut().find(|trip| Some(trip.exchange.id) == output.exchange()) else {
            continue;
        };
        match output {
            SessionOutput::Deliver { event, .. } => trip.exchange.handle_delivery(now(), &event),
            SessionOutput::Close { .. } => trip.exchange.handle_close(now()),
            SessionOutput::Refresh { .. } => {}
            SessionOutput::Cancel { request, .. } => trip.exchange.handle_cancel(now(), &request),
            SessionOutput::Answer { response, .. } => trip.exchange.handle_answer(now(), response),
        }
        web.drive(trip);
    }
}

/// The ids of the events that came.
fn ids(trip: &Trip) -> Vec<&str> {
    trip.body.lines().filter_map(|line| line.strip_prefix("id: ")).collect()
}

fn call(web: &mut Web, session: &SessionId) -> Trip {
    web.ask(legacy_head(Some(session)), CALL)
}

fn progress(web: &mut Web, trip: &mut Trip, progress: f64) {
    let id = trip.calls[0].0;
    trip.exchange.progress(now(), id, &Progress::new(progress));
    web.drive(trip);
}

fn respond(web: &mut Web, trip: &mut Trip) {
    let id = trip.calls[0].0;
    trip.exchange.respond(now(), id, &text("m"));
    web.drive(trip);
}

fn abort(web: &mut Web, trip: &mut Trip) {
    trip.exchange.handle_abort(now());
    web.drive(trip);
}

/// HTTPL-01, HTTPL-17, HTTPL-26, HTTPL-28, HTTPL-29, SSE-01
#[test]
fn a_get_opens_the_stream_of_its_session() {
    let mut web = Web::new(config());
    let session = web.open(V);
    let mut stream = web.ask(get(&session, None), "");
    assert_eq!((stream.status(), stream.field("content-type")), (200, "text/event-stream"));
    assert_eq!(stream.field("x-accel-buffering"), "no");
    assert!(stream.body.starts_with("id: ") && stream.body.ends_with("\ndata: \n\n"), "{}", stream.body);
    web.sessions.send(now(), &session, br#"{"jsonrpc":"2.0","method":"x"}"#);
    route(&mut web, &mut [&mut stream]);
    assert_eq!(stream.events(), [r#"{"jsonrpc":"2.0","method":"x"}"#]);
    assert!(!stream.ended && ids(&stream).len() == 2);
    // A comment now and then.
    let moment = stream.exchange.poll_timeout().unwrap();
    assert_eq!(stream.exchange.wake_reason(), Some(WakeReason::Comment));
    stream.exchange.handle_timeout(Now::new(moment, Duration::ZERO));
    web.drive(&mut stream);
    assert!(stream.body.ends_with(": \n\n"), "{}", stream.body);
    // It ends with the session.
    web.ask(with(head("DELETE"), &[("mcp-session-id", Some(session.as_str()))]), "");
    route(&mut web, &mut [&mut stream]);
    assert!(stream.ended && stream.exchange.poll_timeout().is_none());
}

/// HTTPL-27, HTTPL-47, HTTPL-49, HTTPL-56
#[test]
fn a_get_names_a_session_and_takes_events() {
    let mut web = Web::new(config());
    let session = web.open(V);
    assert_eq!(web.ask(with(get(&session, None), &[("mcp-session-id", None)]), "").status(), 400);
    assert_eq!(web.ask(with(get(&session, None), &[("accept", Some("application/json"))]), "").status(), 406);
    assert_eq!(web.ask(with(get(&session, None), &[("mcp-protocol-version", Some("x"))]), "").status(), 400);
    assert_eq!(web.ask(get(&SessionId::new("no"), None), "").status(), 404);
    assert_eq!(web.ask(with(get(&session, None), &[("accept", Some("*/*"))]), "").status(), 200);
}

/// HTTPL-32: a client that leaves is not delivered to any more.
#[test]
fn a_client_may_leave_its_stream() {
    let mut web = Web::new(config());
    let session = web.open(V);
    let mut stream = web.ask(get(&session, None), "");
    abort(&mut web, &mut stream);
    assert!(stream.ended);
    web.sessions.send(now(), &session, b"{}");
    assert!(web.sessions.poll_output().is_none());
    let stream = web.ask(get(&session, None), "");
    assert_eq!(stream.events(), ["{}"]);
}

/// HTTPL-17, HTTPL-36, HTTPL-37
#[test]
fn a_stream_is_primed_where_its_revision_knows_that() {
    for (version, expected) in [("2024-11-05", 0), ("2025-03-26", 2), ("2025-06-18", 2), (V, 3)] {
        let mut web = Web::new(config());
        let session = web.open(version);
        let mut trip = call(&mut web, &session);
        progress(&mut web, &mut trip, 1.0);
        assert_eq!(trip.body.starts_with("id: ") && trip.body.contains("\ndata: \n\n"), version == V);
        respond(&mut web, &mut trip);
        let mut seen = ids(&trip);
        assert_eq!((seen.len(), trip.events().len()), (expected, 2), "{version}");
        seen.dedup();
        assert_eq!(seen.len(), expected, "an id twice");
    }
}

/// What is answered at once is plain JSON; what takes longer becomes a stream that its client can come back to.
#[test]
fn a_slow_call_is_primed_before_it_says_anything() {
    let mut web = Web::new(config());
    let session = web.open(V);
    let mut trip = call(&mut web, &session);
    assert!(trip.head.is_none());
    let moment = trip.exchange.poll_timeout().unwrap();
    assert_eq!(moment, at(2_000).mono);
    trip.exchange.handle_timeout(at(2_000));
    web.drive(&mut trip);
    assert!(trip.body.starts_with("id: ") && trip.events().is_empty(), "{}", trip.body);
    assert_eq!(trip.exchange.poll_timeout(), Some(at(17_000).mono));
    let session = web.open(V);
    let mut trip = call(&mut web, &session);
    respond(&mut web, &mut trip);
    assert_eq!(trip.field("content-type"), "application/json");
}

/// HTTPL-23, HTTPL-25, HTTPL-31, HTTPL-39, HTTPL-40, B41: the call goes on, and its client comes back for the rest.
#[test]
fn a_client_that_lost_its_connection_gets_the_result() {
    let mut web = Web::new(config());
    let session = web.open(V);
    let mut trip = call(&mut web, &session);
    progress(&mut web, &mut trip, 1.0);
    let id = ids(&trip).last().unwrap().to_string();
    abort(&mut web, &mut trip);
    assert!(trip.cancelled.is_empty() && !trip.ended);
    progress(&mut web, &mut trip, 2.0);
    let mut back = web.ask(get(&session, Some(&id)), "");
    assert_eq!(back.events().len(), 1, "{}", back.body);
    assert!(back.events()[0].contains(r#""progress":2"#) && !back.ended);
    respond(&mut web, &mut trip);
    assert!(trip.ended);
    route(&mut web, &mut [&mut trip, &mut back]);
    assert_eq!(back.events().len(), 2);
    assert!(back.events()[1].contains(r#""id":7,"result""#) && back.ended);
    // And once more, when that connection broke as well.
    assert_eq!(ids(&back)[0], id);
    let again = web.ask(get(&session, Some(ids(&back)[1])), "");
    assert_eq!((again.events(), again.ended), (back.events()[1..].to_vec(), true));
}

/// HTTPL-18, HTTPL-19: conformance server-sse-polling
#[test]
fn a_handler_lets_its_client_poll() {
    let mut web = Web::new(config());
    let session = web.open(V);
    let mut alone = web.ask(get(&session, None), "");
    let mut trip = call(&mut web, &session);
    let call = trip.calls[0].0;
    trip.exchange.close_stream(now(), call, Duration::from_millis(250));
    web.drive(&mut trip);
    assert!(trip.body.contains("\nretry: 250\nid: "), "{}", trip.body);
    assert!(trip.parted && !trip.ended && trip.events().is_empty());
    let id = ids(&trip).last().unwrap().to_string();
    let mut back = web.ask(get(&session, Some(&id)), "");
    respond(&mut web, &mut trip);
    assert!(trip.ended);
    route(&mut web, &mut [&mut trip, &mut back, &mut alone]);
    assert!(back.events()[0].contains(r#""id":7,"result""#) && back.ended);
    assert!(alone.events().is_empty() && !alone.ended);
}

/// HTTPL-15: where a client could not come back, its stream is not closed.
#[test]
fn a_stream_that_cannot_be_taken_up_is_not_closed() {
    let policy = || HttpPolicy::default();
    for (version, http, accept) in [
        ("2025-06-18", policy(), "*/*"),
        (V, policy().resumable(false), "*/*"),
        (V, policy().session_streams(false), "*/*"),
        (V, policy().json_responses(true), "*/*"),
        (V, policy(), "application/json"),
    ] {
        let mut web = Web::new(config().http(http));
        let session = web.open(version);
        let mut trip = web.ask(with(legacy_head(Some(&session)), &[("accept", Some(accept))]), CALL);
        let call = trip.calls[0].0;
        trip.exchange.close_stream(now(), call, Duration::ZERO);
        web.drive(&mut trip);
        assert!(!trip.parted && trip.head.is_none(), "{version} {accept}");
        respond(&mut web, &mut trip);
        assert!(trip.ended && trip.body.contains("result"));
    }
    // Nor is that of a modern request.
    let mut web = Web::new(config());
    let mut trip = web.ask(call_head(), &modern_call(""));
    let call = trip.calls[0].0;
    trip.exchange.close_stream(now(), call, Duration::ZERO);
    web.drive(&mut trip);
    assert!(!trip.parted && trip.head.is_none());
}

/// HTTPL-35: who comes back while the first connection is still there, gets the rest; the first one ends.
#[test]
fn a_client_that_comes_back_early_leaves_no_second_reader() {
    let mut web = Web::new(config());
    let session = web.open(V);
    let mut trip = call(&mut web, &session);
    progress(&mut web, &mut trip, 1.0);
    let id = ids(&trip)[0].to_string();
    let mut back = web.ask(get(&session, Some(&id)), "");
    route(&mut web, &mut [&mut trip, &mut back]);
    assert!(trip.parted && trip.exchange.poll_timeout().is_none());
    respond(&mut web, &mut trip);
    route(&mut web, &mut [&mut trip, &mut back]);
    assert!(!trip.body.contains("result") && back.body.contains("result"));
    assert!(trip.ended && back.ended);
}

/// CAN-16: a stream that is cancelled ends, wherever it goes on.
#[test]
fn a_cancelled_call_ends_its_stream_without_a_response() {
    let mut web = Web::new(config());
    let session = web.open(V);
    let mut trip = call(&mut web, &session);
    progress(&mut web, &mut trip, 1.0);
    let id = ids(&trip).last().unwrap().to_string();
    abort(&mut web, &mut trip);
    let mut back = web.ask(get(&session, Some(&id)), "");
    let cancel = r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":7}}"#;
    web.ask(legacy_head(Some(&session)), cancel);
    route(&mut web, &mut [&mut trip, &mut back]);
    assert_eq!((trip.cancelled.len(), trip.ended, back.ended), (1, true, true));
    assert!(back.events().is_empty(), "{}", back.body);
}

/// HTTPL-41, B68: neither forgotten nor foreign nor invented ids are worth anything, and the session lives on.
#[test]
fn an_id_that_names_nothing_is_refused() {
    let mut web = Web::new(config());
    let (session, other) = (web.open(V), web.open(V));
    let mut trip = call(&mut web, &session);
    progress(&mut web, &mut trip, 1.0);
    let id = ids(&trip)[0].to_string();
    for (session, id) in [(&other, id.as_str()), (&session, "1"), (&session, "")] {
        let back = web.ask(get(session, Some(id)), "");
        assert_eq!(answered(&back), (400, -32600), "{id}");
        assert!(!back.body.contains("progress"));
    }
    assert_eq!(web.ask(legacy_head(Some(&session)), PING).status(), 200);
    respond(&mut web, &mut trip);
    web.ask(with(head("DELETE"), &[("mcp-session-id", Some(session.as_str()))]), "");
    assert_eq!(web.ask(get(&session, Some(&id)), "").status(), 404);
}

/// A response that is too long to be kept reaches the client that is there; one that is away is told so.
#[test]
fn a_response_that_is_too_long_is_not_kept() {
    for away in [false, true] {
        let limits = limits(|limits: &mut Limits| limits.event_bytes = 300);
        let mut web = Web::new(config().limits(limits));
        let session = web.open(V);
        let mut trip = call(&mut web, &session);
        progress(&mut web, &mut trip, 1.0);
        let id = ids(&trip).last().unwrap().to_string();
        if away {
            abort(&mut web, &mut trip);
        }
        let call = trip.calls[0].0;
        trip.exchange.respond(now(), call, &text(&"x".repeat(300)));
        web.drive(&mut trip);
        assert_eq!(trip.body.contains("xxx"), !away);
        let back = web.ask(get(&session, Some(&id)), "");
        let (error, ended) = (back.events()[0].to_string(), back.ended);
        assert!(error.contains(r#""id":7,"error":{"code":-32603"#) && ended, "{}", back.body);
    }
}

/// A batch is one stream, with one answer at its end.
#[test]
fn a_batch_can_be_waited_for_elsewhere() {
    let mut web = Web::new(config());
    let session = web.open("2025-03-26");
    let mut trip = web.ask(legacy_head(Some(&session)), &format!("[{CALL},{PING}]"));
    progress(&mut web, &mut trip, 1.0);
    let id = ids(&trip)[0].to_string();
    abort(&mut web, &mut trip);
    respond(&mut web, &mut trip);
    let back = web.ask(get(&session, Some(&id)), "");
    assert!(back.events()[0].starts_with("[{") && back.ended, "{}", back.body);
}

/// HTTPL-32, HTTPL-33: a client that does not read is let go, and comes back for what it has missed.
#[test]
fn a_stream_that_nobody_reads_is_let_go() {
    let limits = limits(|limits: &mut Limits| limits.transmit = 100);
    let mut web = Web::new(config().limits(limits));
    let session = web.open(V);
    let mut stream = web.ask(get(&session, None), "");
    let id = ids(&stream)[0].to_string();
    let message = format!(r#"{{"jsonrpc":"2.0","method":"{}"}}"#, "x".repeat(60));
    for _ in 0..2 {
        web.sessions.send(now(), &session, message.as_bytes());
        let Some(SessionOutput::Deliver { event, .. }) = web.sessions.poll_output() else { panic!() };
        stream.exchange.handle_delivery(now(), &event);
    }
    web.drive(&mut stream);
    assert!(stream.ended && stream.body.ends_with("retry: 1000\n\n"), "{}", stream.body);
    web.sessions.send(now(), &session, b"{}");
    assert!(web.sessions.poll_output().is_none());
    assert_eq!(web.ask(get(&session, Some(&id)), "").events().len(), 3);
}

/// Without ids where streams are not kept; the stream of a session is there nevertheless.
#[test]
fn a_server_may_keep_no_streams() {
    let mut web = Web::new(config().http(HttpPolicy::default().resumable(false)));
    let session = web.open(V);
    let mut stream = web.ask(get(&session, None), "");
    web.sessions.send(now(), &session, b"{}");
    let mut trip = call(&mut web, &session);
    progress(&mut web, &mut trip, 1.0);
    respond(&mut web, &mut trip);
    route(&mut web, &mut [&mut stream]);
    assert_eq!((stream.events().len(), trip.events().len()), (1, 2));
    assert!(ids(&stream).is_empty() && ids(&trip).is_empty());
}

/// HTTPL-10, HTTPL-22, HTTPL-30, HTTPL-34, HTTPL-35: each stream carries its own, and ends with its response.
#[test]
fn several_streams_of_a_session_each_carry_their_own() {
    let mut web = Web::new(config());
    let session = web.open(V);
    let mut stream = web.ask(get(&session, None), "");
    let mut one = call(&mut web, &session);
    let mut two = web.ask(legacy_head(Some(&session)), &CALL.replace("\"id\":7", "\"id\":8"));
    for trip in [&mut one, &mut two] {
        progress(&mut web, trip, 1.0);
        respond(&mut web, trip);
    }
    route(&mut web, &mut [&mut stream]);
    assert!(one.body.contains(r#""id":7"#) && !one.body.contains(r#""id":8"#));
    assert!(two.body.contains(r#""id":8"#) && !two.body.contains(r#""id":7"#));
    assert!(stream.events().is_empty() && one.ended && two.ended && !stream.ended);
}

/// HTTPL-31, HTTPL-37: while calls of a session run, its GET stream brings what the server says by itself and no
/// response, whether their own streams are there or not; and no two of its streams share an event id.
#[test]
fn the_streams_of_a_session_are_kept_apart() {
    let mut web = Web::new(config());
    let session = web.open(V);
    let mut stream = web.ask(get(&session, None), "");
    let mut one = call(&mut web, &session);
    let mut other = web.ask(legacy_head(Some(&session)), &CALL.replace(":7", ":8"));
    for trip in [&mut one, &mut other] {
        progress(&mut web, trip, 1.0);
        web.sessions.send(
            now(),
            &session,
            format!(r#"{{"jsonrpc":"2.0","method":"{}"}}"#, trip.body.len()).as_bytes(),
        );
    }
    abort(&mut web, &mut other);
    for trip in [&mut one, &mut other] {
        respond(&mut web, trip);
    }
    route(&mut web, &mut [&mut stream, &mut one, &mut other]);
    assert!(!stream.body.contains("result") && !stream.body.contains("progress"), "{}", stream.body);
    assert!(!stream.events().is_empty() && one.body.contains("result"));
    let mut back = web.ask(get(&session, ids(&other).last().copied()), "");
    route(&mut web, &mut [&mut stream, &mut back]);
    assert!(back.events()[0].contains("\"id\":8,\"result\""), "{}", back.body);

    let mut all = [ids(&stream), ids(&one), ids(&other), ids(&back)].concat();
    // The last one is that which the other stream broke off after.
    let resumed = ids(&back)[0];
    let before = all.len();
    all.sort();
    all.dedup();
    assert_eq!(all.len(), before - usize::from(ids(&other).contains(&resumed)));
}
