//! Requests to a legacy client: out on the stream of the call, back in an exchange of their own.

use super::*;
use crate::model::input_required::{InputRequest, InputRequiredResult};
use crate::server::asks::AskError;
use crate::time::{Duration, WakeReason};

const ROOTS: InputRequest = InputRequest::ListRoots;

fn asking() -> (Web, SessionId, Trip) {
    asking_of(config())
}

fn asking_of(config: Config) -> (Web, SessionId, Trip) {
    asking_of_with(config, CALL)
}

fn asking_of_with(config: Config, line: &str) -> (Web, SessionId, Trip) {
    let mut web = Web::new(config);
    let session = web.open_able(V, r#"{"roots":{}}"#);
    let trip = web.ask(legacy_head(Some(&session)), line);
    (web, session, trip)
}

fn answer(id: &str) -> String {
    format!(r#"{{"jsonrpc":"2.0","id":"{id}","result":{{"roots":[]}}}}"#)
}

/// Hands what the table decided to the exchange of the call.
fn route(web: &mut Web, trip: &mut Trip) -> usize {
    let outputs: Vec<_> = core::iter::from_fn(|| web.sessions.poll_output()).collect();
    for output in &outputs {
        match output.clone() {
            SessionOutput::Answer { response, .. } => trip.exchange.handle_answer(now(), response),
            SessionOutput::Cancel { request, .. } => trip.exchange.handle_cancel(now(), &request),
            output => panic!("{output:?}"),
        }
    }
    web.drive(trip);
    outputs.len()
}

/// HTTPL-11, HTTPL-12: the request is an event of the call's stream, its answer a POST that is accepted.
#[test]
fn a_call_asks_on_its_stream_and_is_answered_by_a_post() {
    let (mut web, session, mut trip) = asking();
    let call = trip.calls[0].0;
    let ask = trip.exchange.ask(now(), call, &ROOTS, None).unwrap();
    web.drive(&mut trip);
    assert_eq!((trip.status(), trip.field("content-type")), (200, "text/event-stream"));
    assert_eq!(trip.events(), [r#"{"jsonrpc":"2.0","id":"ask-1267c212.2-1","method":"roots/list"}"#]);

    let post = web.ask(legacy_head(Some(&session)), &answer("ask-1267c212.2-1"));
    assert_eq!((post.status(), post.body.as_str(), post.ended), (202, "", true));
    assert!(post.told.is_empty(), "{:?}", post.told);
    assert_eq!(route(&mut web, &mut trip), 1);
    assert_eq!(trip.answers[0].0, ask);
    assert_eq!(trip.answers[0].1.0.as_ref().unwrap().get(), r#"{"roots":[]}"#);
    trip.exchange.respond(now(), call, &text("done"));
    web.drive(&mut trip);
    assert!(trip.ended && trip.events().len() == 2);
}

/// ELIC-19, ELIC-22: the end of an elicitation is told on the stream of the call that asked, as long as there is one;
/// the session is known for what comes later.
#[test]
fn the_end_of_an_elicitation_is_told_on_the_stream_of_its_call() {
    let complete =
        r#"{"jsonrpc":"2.0","method":"notifications/elicitation/complete","params":{"elicitationId":"e1"}}"#;
    let able = r#"{"elicitation":{"url":{}}}"#;
    let mut web = Web::new(config());
    let session = web.open_able(V, able);
    let mut trip = web.ask(legacy_head(Some(&session)), CALL);
    let call = trip.calls[0].0;
    assert!(trip.exchange.complete_elicitation(now(), call, "e1"));
    web.drive(&mut trip);
    assert_eq!(trip.events(), [complete]);
    trip.exchange.respond(now(), call, &text("done"));
    assert!(!trip.exchange.complete_elicitation(now(), call, "e1"));
    assert_eq!(trip.exchange.session(), Some(&session));
    web.drive(&mut trip);
    assert_eq!(trip.events().len(), 2);

    for (version, able) in [("2025-06-18", able), (V, r#"{"elicitation":{}}"#)] {
        let session = web.open_able(version, able);
        let mut trip = web.ask(legacy_head(Some(&session)), CALL);
        assert!(!trip.exchange.complete_elicitation(now(), trip.calls[0].0, "e1"));
        web.drive(&mut trip);
        assert!(trip.body.is_empty());
    }
    let mut plain = web.ask(with(legacy_head(Some(&session)), &[("accept", Some("application/json"))]), CALL);
    assert!(!plain.exchange.complete_elicitation(now(), plain.calls[0].0, "e1"));
    let mut modern = web.ask(call_head(), &modern_call(""));
    assert!(!modern.exchange.complete_elicitation(now(), modern.calls[0].0, "e1"));
    assert_eq!(modern.exchange.session(), None);
}

/// HTTPL-06: what nobody waits for is accepted and told to people.
#[test]
fn stray_answers_are_accepted_and_ignored() {
    let (mut web, session, mut trip) = asking();
    trip.exchange.ask(now(), trip.calls[0].0, &ROOTS, None).unwrap();
    for id in ["ask-1267c212.9-1", "ask-00000000.2-1", "ask-2-1", "ask-1", "x"] {
        let post = web.ask(legacy_head(Some(&session)), &answer(id));
        assert_eq!((post.status(), post.told.len()), (202, 1), "{id}");
        assert_eq!(route(&mut web, &mut trip), 0);
    }
    let post = web.ask(legacy_head(Some(&session)), &answer("ask-1267c212.2-9"));
    assert_eq!(post.status(), 202);
    assert_eq!(route(&mut web, &mut trip), 1);
    assert!(trip.answers.is_empty() && trip.told.len() == 1);
    let post = web.ask(legacy_head(Some(&SessionId::new("none"))), &answer("ask-1267c212.2-1"));
    assert_eq!(post.status(), 404);
}

/// SEC-11: the answer of another session is not taken, although its id can be guessed.
#[test]
fn another_session_cannot_answer() {
    let (mut web, _, mut trip) = asking();
    trip.exchange.ask(now(), trip.calls[0].0, &ROOTS, None).unwrap();
    let other = web.open_able(V, r#"{"roots":{}}"#);
    let post = web.ask(legacy_head(Some(&other)), &answer("ask-1267c212.2-1"));
    assert_eq!((post.status(), post.told.len()), (202, 1));
    assert_eq!(route(&mut web, &mut trip), 0);
}

/// A response that cannot be read is refused, and whoever waits for it learns of it.
#[test]
fn an_unreadable_answer_is_refused_and_ends_the_ask() {
    let (mut web, session, mut trip) = asking();
    trip.exchange.ask(now(), trip.calls[0].0, &ROOTS, None).unwrap();
    let body = r#"{"jsonrpc":"2.0","id":"ask-1267c212.2-1","result":1,"error":{}}"#;
    assert_eq!(web.ask(legacy_head(Some(&session)), body).status(), 400);
    route(&mut web, &mut trip);
    assert!(matches!(trip.answers[0].1.0, Err(AskError::Invalid { .. })));
}

/// CAN-16: a cancelled call takes back what it asked; so does one that ends.
#[test]
fn asks_end_with_their_call() {
    let cancel = r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":7}}"#;
    let gone = r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"ask-1267c212.2-1","reason":"the call that asked is over"}}"#;
    for cancelled in [true, false] {
        let (mut web, session, mut trip) = asking();
        let call = trip.calls[0].0;
        trip.exchange.ask(now(), call, &ROOTS, None).unwrap();
        if cancelled {
            web.ask(legacy_head(Some(&session)), cancel);
            route(&mut web, &mut trip);
        } else {
            trip.exchange.respond(now(), call, &text("done"));
            web.drive(&mut trip);
        }
        assert_eq!(trip.events()[1], gone);
        assert_eq!(trip.events().len(), if cancelled { 2 } else { 3 });
        assert_eq!(trip.answers[0].1.0, Err(AskError::Over));
        assert!(trip.ended);
    }
}

/// CAN-16: a hook may ask before it lets the library answer; then, too, the question ends with the call.
#[test]
fn asks_of_a_hook_end_when_it_proceeds() {
    let mut config = config();
    config.hand_out_all = true;
    let (mut web, _, mut trip) = asking_of_with(config, PING);
    let call = trip.calls[0].0;
    trip.exchange.ask(now(), call, &ROOTS, None).unwrap();
    trip.exchange.proceed(now(), call);
    web.drive(&mut trip);
    assert_eq!(trip.answers[0].1.0, Err(AskError::Over));
    assert!(trip.ended);
    assert_eq!(trip.exchange.poll_timeout(), None);
}

/// An ask is bounded in time; comments go on meanwhile.
#[test]
fn an_ask_is_given_up_after_its_time() {
    let (mut web, _, mut trip) = asking();
    trip.exchange.ask(at(1_000), trip.calls[0].0, &ROOTS, Some(Duration::from_secs(20))).unwrap();
    assert_eq!(trip.exchange.wake_reason(), Some(WakeReason::Comment));
    trip.exchange.handle_timeout(at(16_000));
    assert_eq!(trip.exchange.poll_timeout(), Some(at(21_000).mono));
    assert_eq!(trip.exchange.wake_reason(), Some(WakeReason::Ask));
    trip.exchange.handle_timeout(at(20_999));
    trip.exchange.handle_timeout(at(21_000));
    web.drive(&mut trip);
    assert_eq!(trip.answers[0].1.0, Err(AskError::TimedOut { after: Duration::from_secs(20) }));
    assert!(trip.events()[1].contains("no answer in time"));
}

/// HTTPL-23: the call of a client that has left for good goes on, but nobody can be asked.
#[test]
fn a_client_that_has_left_cannot_be_asked() {
    let (mut web, _, mut trip) = asking_of(config().http(HttpPolicy::default().resumable(false)));
    let call = trip.calls[0].0;
    trip.exchange.ask(now(), call, &ROOTS, None).unwrap();
    trip.exchange.handle_abort(now());
    web.drive(&mut trip);
    assert_eq!(trip.answers[0].1.0, Err(AskError::Unreachable));
    assert_eq!(trip.exchange.ask(now(), call, &ROOTS, None), Err(AskError::Unreachable));
    assert!(trip.cancelled.is_empty());
}

/// HTTPL-39, HTTPL-40: a client that lost its connection finds what it was asked when it comes back, and answers.
#[test]
fn a_client_that_comes_back_is_still_asked() {
    let (mut web, session, mut trip) = asking();
    let call = trip.calls[0].0;
    trip.exchange.ask(now(), call, &ROOTS, None).unwrap();
    web.drive(&mut trip);
    let id = trip.body.lines().find_map(|line| line.strip_prefix("id: ")).unwrap().to_string();
    trip.exchange.handle_abort(now());
    let second = trip.exchange.ask(now(), call, &ROOTS, None).unwrap();
    web.drive(&mut trip);
    assert!(trip.answers.is_empty());
    let get = with(head("GET"), &[("Accept", Some("text/event-stream")), ("Last-Event-ID", Some(&id))]);
    let mut back = web.ask(with(get, &[("mcp-session-id", Some(session.as_str()))]), "");
    assert_eq!(back.events().len(), 2, "{}", back.body);
    web.ask(legacy_head(Some(&session)), &answer("ask-1267c212.2-2"));
    while let Some(output) = web.sessions.poll_output() {
        if let SessionOutput::Answer { response, .. } = output {
            trip.exchange.handle_answer(now(), response);
        }
    }
    web.drive(&mut trip);
    assert!(trip.answers.iter().any(|(ask, answer)| *ask == second && answer.0.is_ok()));
    trip.exchange.respond(now(), call, &text("done"));
    web.drive(&mut trip);
    while let Some(SessionOutput::Deliver { event, .. }) = web.sessions.poll_output() {
        back.exchange.handle_delivery(now(), &event);
    }
    web.drive(&mut back);
    // The first one is withdrawn with the call, and the result comes last.
    assert!(back.events()[2].contains("done") || back.events()[3].contains("done"), "{}", back.body);
    assert!(back.ended);
}

/// B67: without an event stream there is nothing to ask on.
#[test]
fn a_client_that_takes_no_events_cannot_be_asked() {
    let mut web = Web::new(config());
    let session = web.open_able(V, r#"{"roots":{}}"#);
    let head = with(legacy_head(Some(&session)), &[("Accept", Some("application/json"))]);
    let trip = &mut web.ask(head, CALL);
    assert_eq!(trip.exchange.ask(now(), trip.calls[0].0, &ROOTS, None), Err(AskError::Unreachable));

    let mut web = Web::new(config().http(HttpPolicy::default().json_responses(true)));
    let session = web.open_able(V, r#"{"roots":{}}"#);
    let trip = &mut web.ask(legacy_head(Some(&session)), CALL);
    assert_eq!(trip.exchange.ask(now(), trip.calls[0].0, &ROOTS, None), Err(AskError::Unreachable));
}

/// HTTP-18, MRTR-01: a modern stream never carries a request.
#[test]
fn a_modern_client_is_never_sent_a_request() {
    let mut web = Web::new(config());
    let mut trip = web.ask(call_head(), &modern_call(""));
    let call = trip.calls[0].0;
    let outcome = trip.exchange.ask(now(), call, &ROOTS, None);
    assert!(matches!(outcome, Err(AskError::NotSupported { .. })));
    let asks = InputRequiredResult::new().ask("dirs", ROOTS);
    trip.exchange.respond(now(), call, &asks);
    web.drive(&mut trip);
    assert_eq!((trip.status(), trip.field("content-type")), (200, "application/json"));
    assert!(trip.body.contains(r#""resultType":"input_required""#));
}

/// HTTPL-14, RPC-26: answers may come in a batch where there are batches.
#[test]
fn answers_may_come_in_a_batch() {
    let mut web = Web::new(config());
    let session = web.open_able("2025-03-26", r#"{"roots":{}}"#);
    let mut trip = web.ask(legacy_head(Some(&session)), &format!("[{CALL}]"));
    trip.exchange.ask(now(), trip.calls[0].0, &ROOTS, None).unwrap();
    let post = web.ask(legacy_head(Some(&session)), &format!("[{}]", answer("ask-1267c212.2-1")));
    assert_eq!(post.status(), 202);
    route(&mut web, &mut trip);
    assert!(trip.answers[0].1.0.is_ok());
}

/// HTTPL-14, RPC-26: also from a page, whose session nobody else may use.
#[test]
fn answers_in_a_batch_say_who_answers() {
    let page = |head| with(head, &[("Origin", Some("http://localhost:3000"))]);
    let mut web = Web::new(config());
    let able = initialize("2025-03-26").replace(r#""capabilities":{}"#, r#""capabilities":{"roots":{}}"#);
    let opened = web.ask(page(legacy_head(None)), &able);
    let session = SessionId::new(opened.field("mcp-session-id"));
    let mut trip = web.ask(page(legacy_head(Some(&session))), &format!("[{CALL}]"));
    trip.exchange.ask(now(), trip.calls[0].0, &ROOTS, None).unwrap();
    web.ask(page(legacy_head(Some(&session))), &format!("[{}]", answer("ask-1267c212.2-1")));
    route(&mut web, &mut trip);
    assert!(trip.answers[0].1.0.is_ok());
}

/// RPC-06, CAN-14, CAN-19: what a server asks in one session has ids of its own, on whatever stream and after whatever
/// end; and it takes back what it has asked and is not answered, by its id and once, and never a request of the client.
#[test]
fn a_server_takes_back_only_what_it_has_asked() {
    let (mut web, session, mut first) = asking();
    let mut second = web.ask(legacy_head(Some(&session)), &CALL.replace(":7", ":8"));
    let mut asked = 0;
    for round in 0..3 {
        for trip in [&mut first, &mut second] {
            let call = trip.calls[0].0;
            let ask = trip.exchange.ask(now(), call, &ROOTS, Some(Duration::from_secs(5))).unwrap();
            trip.exchange.ask(now(), call, &ROOTS, None).unwrap();
            asked += 2;
            match round {
                0 => trip.exchange.retract(now(), ask),
                1 => trip.exchange.handle_timeout(at(6_000)),
                _ => {}
            }
            trip.exchange.retract(now(), ask);
            web.drive(trip);
        }
    }
    let member = |event: &str, name: &str| {
        let json: serde_json::Value = serde_json::from_str(event).unwrap();
        json.pointer(name).and_then(|id| id.as_str().map(ToString::to_string))
    };
    let of = |trip: &Trip, method: &str, name: &str| {
        let events = trip.events().into_iter().filter(|event| event.contains(method));
        events.filter_map(|event| member(event, name)).collect::<Vec<_>>()
    };
    let ids = |trip: &Trip| of(trip, "roots/list", "/id");
    let mut all: Vec<_> = ids(&first).into_iter().chain(ids(&second)).collect();
    all.sort();
    all.dedup();
    assert_eq!(all.len(), asked);
    // One of the first call is answered, and its end takes back the rest.
    let answered = ids(&first).pop().unwrap();
    web.ask(legacy_head(Some(&session)), &answer(&answered));
    route(&mut web, &mut first);
    for trip in [&mut first, &mut second] {
        let call = trip.calls[0].0;
        trip.exchange.respond(now(), call, &text("done"));
        web.drive(trip);
        let mut gone = of(trip, "notifications/cancelled", "/params/requestId");
        let events = trip.events().into_iter().filter(|event| event.contains("notifications/cancelled"));
        assert_eq!(gone.len(), events.count(), "each says which request: {}", trip.body);
        let mut asked = ids(trip);
        asked.retain(|id| *id != answered);
        gone.sort();
        asked.sort();
        assert_eq!(gone, asked);
    }
}

/// B67: a client of which nothing is known is not said to lack anything.
#[test]
fn a_client_without_a_session_cannot_be_asked() {
    let mut web = Web::new(config().http(HttpPolicy::default().stateless(true)));
    let mut trip = web.ask(with(legacy_head(None), &[("mcp-protocol-version", Some(V))]), CALL);
    assert!(!trip.exchange.may_ask());
    let outcome = trip.exchange.ask(now(), trip.calls[0].0, &ROOTS, None);
    assert_eq!(outcome, Err(AskError::Unreachable));
    // The call itself goes on.
    trip.exchange.respond(now(), trip.calls[0].0, &text("m"));
    web.drive(&mut trip);
    assert_eq!(trip.status(), 200);
}
