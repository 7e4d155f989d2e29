//! Exchanges that wait for whoever keeps the sessions.

use super::*;
use crate::server::EventId;
use crate::time::WakeReason;

const DELETE: &str = "";

/// A request of the session, and what it asks of whoever keeps that; it has not been answered.
fn asking(web: &Web, head: RequestHead, body: &str) -> (Exchange, QueryId, SessionQuery) {
    let mut exchange = Exchange::new(now(), ExchangeId::new(9), Arc::clone(&web.config), head);
    exchange.handle_body(now(), body.as_bytes());
    exchange.handle_end(now(), End::Complete);
    let Some(ExchangeOutput::Session(id, query)) = exchange.poll_output() else { panic!("nothing is asked") };
    (exchange, id, query)
}

/// The status of the answer, and what is said besides.
fn said(exchange: &mut Exchange) -> (Option<u16>, Vec<SessionQuery>, bool) {
    let (mut status, mut queries, mut calls) = (None, Vec::new(), false);
    while let Some(output) = exchange.poll_output() {
        match output {
            ExchangeOutput::Head(head, _) => status = Some(head.status),
            ExchangeOutput::Session(_, query) => queries.push(query),
            ExchangeOutput::Call(..) => calls = true,
            _ => {}
        }
        exchange.advance(exchange.transmit().len());
    }
    (status, queries, calls)
}

/// Limits::session_answer: whoever keeps the sessions has so much time for every kind of request, and the client
/// is told that they cannot be reached.
#[test]
fn who_keeps_the_sessions_has_so_much_time() {
    let mut web = Web::new(config());
    let session = web.open(V);
    let delete = with(head("DELETE"), &[("mcp-session-id", Some(session.as_str()))]);
    let post = || legacy_head(Some(&session));
    for (head, body) in [
        (legacy_head(None), initialize(V)),
        (post(), CALL.to_string()),
        (post(), PING.to_string()),
        (post(), INITIALIZED.to_string()),
        (streams::get(&session, None), String::new()),
        (delete, DELETE.to_string()),
    ] {
        let (mut exchange, ..) = asking(&web, head, &body);
        let until = now().mono + web.config.limits.session_answer;
        assert_eq!(exchange.poll_timeout(), Some(until), "{body}");
        assert_eq!(exchange.wake_reason(), Some(WakeReason::SessionAnswer));
        exchange.handle_timeout(now());
        assert_eq!(said(&mut exchange).0, None);
        exchange.handle_timeout(Now::new(until, now().unix));
        assert_eq!(said(&mut exchange).0, Some(503), "{body}");
        assert_eq!(exchange.poll_timeout(), None);
    }
}

/// A request that is in the session and goes on to change it.
fn begun(web: &mut Web, session: &SessionId, watched: bool, body: &str) -> Trip {
    let mut trip = web.open_trip(legacy_head(Some(session)), body);
    let Some(ExchangeOutput::Session(id, query)) = trip.exchange.poll_output() else { panic!() };
    let answer = web.sessions.handle_query(now(), query);
    trip.exchange.handle_session(now(), id, answer);
    if watched {
        let Some(ExchangeOutput::Call(call, _)) = trip.exchange.poll_output() else { panic!() };
        trip.exchange.proceed(now(), call);
    }
    trip
}

/// The same for a request that changes its session and was handed out, alone or in a batch.
#[test]
fn who_keeps_the_sessions_has_so_much_time_for_what_was_handed_out() {
    let level = r#"{"jsonrpc":"2.0","id":1,"method":"logging/setLevel","params":{"level":"error"}}"#;
    for (watched, body) in
        [(true, level.to_string()), (true, format!("[{level}]")), (false, format!("[{level}]"))]
    {
        let mut config = config();
        config.hand_out_all = watched;
        let mut web = Web::new(config);
        let session = web.open("2025-03-26");
        let mut trip = begun(&mut web, &session, watched, &body);
        let until = now().mono + web.config.limits.session_answer;
        assert!(trip.exchange.poll_timeout().is_some_and(|at| at <= until), "{body}");
        let Some(ExchangeOutput::Session(late, _)) = trip.exchange.poll_output() else { panic!() };
        trip.exchange.handle_timeout(now());
        trip.exchange.handle_timeout(Now::new(until, now().unix));
        trip.exchange.handle_session(now(), late, SessionAnswer::Missing);
        web.drive(&mut trip);
        assert!(trip.ended && trip.body.contains("cannot be reached"), "{}", trip.body);
        assert_eq!(trip.exchange.poll_timeout(), None);

        let mut trip = begun(&mut web, &session, watched, &body);
        trip.exchange.give_up(now());
        web.drive(&mut trip);
        assert!(trip.ended && trip.exchange.poll_timeout().is_none(), "{}", trip.body);
    }
}

/// A server that waits no longer does not wait for whoever keeps the sessions either, and begins nothing after it.
#[test]
fn a_request_whose_session_was_asked_for_is_given_up() {
    let mut web = Web::new(config());
    let session = web.open(V);
    let (mut exchange, id, query) = asking(&web, legacy_head(Some(&session)), CALL);
    exchange.shutdown(now());
    assert_eq!(said(&mut exchange).0, None);
    exchange.give_up(now());
    let answer = web.sessions.handle_query(now(), query);
    exchange.handle_session(now(), id, answer);
    let (status, queries, calls) = said(&mut exchange);
    assert_eq!((status, calls), (Some(503), false));
    assert!(matches!(queries[..], [SessionQuery::Detach { .. }]), "{queries:?}");
}

/// What was done for somebody who has gone on without it is undone: no request runs on, no stream stays, and no
/// session whose name nobody will learn.
#[test]
fn what_comes_too_late_is_undone() {
    let mut web = Web::new(config());
    let session = web.open(V);
    for (head, body, sessions) in [
        (legacy_head(Some(&session)), CALL.to_string(), 1),
        (streams::get(&session, None), String::new(), 1),
        (legacy_head(None), initialize(V), 1),
    ] {
        let (mut exchange, id, query) = asking(&web, head, &body);
        exchange.handle_timeout(at(100_000));
        let answer = web.sessions.handle_query(now(), query);
        exchange.handle_session(now(), id, answer);
        for query in said(&mut exchange).1 {
            web.sessions.handle_query(now(), query);
        }
        assert_eq!(web.sessions.len(), sessions, "{body}");
        // Neither is its id taken, nor is anything sent there.
        web.sessions.send(now(), &session, b"{}");
        assert_eq!(web.sessions.poll_output(), None, "{body}");
    }
    let mut trip = web.ask(legacy_head(Some(&session)), CALL);
    assert_eq!(trip.calls.len(), 1);
    let call = trip.calls[0].0;
    trip.exchange.respond(now(), call, &text("m"));
    web.drive(&mut trip);
    assert!(trip.ended && EventId::parse("1").is_none());
}

/// HTTPL-23: a request that only asks is over with its connection; what the client wanted done is done.
#[test]
fn a_request_that_only_asks_does_not_outlive_its_connection() {
    let mut web = Web::new(config());
    let session = web.open(V);
    for (head, body, ends) in [
        (legacy_head(Some(&session)), PING, true),
        (streams::get(&session, None), "", true),
        (legacy_head(Some(&session)), CALL, false),
        (legacy_head(Some(&session)), INITIALIZED, false),
    ] {
        let (mut exchange, id, query) = asking(&web, head, body);
        exchange.handle_abort(now());
        assert_eq!(matches!(exchange.poll_output(), Some(ExchangeOutput::End)), ends, "{body}");
        assert_eq!(exchange.poll_timeout().is_none(), ends, "{body}");
        let answer = web.sessions.handle_query(now(), query);
        exchange.handle_session(now(), id, answer);
        assert_eq!(said(&mut exchange).2, body == CALL, "{body}");
    }
}

/// RPC-26: of two messages of a batch with one id the call is what the session knows of, whatever becomes of the
/// other one.
#[test]
fn a_refused_message_of_a_batch_takes_nothing_from_the_call_with_its_id() {
    let mut web = Web::new(config());
    let session = web.open("2025-03-26");
    let wrong = CALL.replace("add", "nothing");
    for batch in [format!("[{wrong},{CALL}]"), format!("[{CALL},{wrong}]")] {
        let mut trip = web.ask(legacy_head(Some(&session)), &batch);
        let cancel = r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":7}}"#;
        web.ask(legacy_head(Some(&session)), cancel);
        streams::route(&mut web, &mut [&mut trip]);
        assert_eq!(trip.cancelled.len(), 1, "{batch}");
    }
}
