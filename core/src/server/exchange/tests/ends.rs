use super::*;

#[test]
fn a_request_that_breaks_off_is_not_answered() {
    let web = Web::new(config());
    let mut exchange = Exchange::new(now(), ExchangeId::new(1), Arc::clone(&web.config), call_head());
    exchange.handle_body(now(), modern_call("").as_bytes());
    exchange.handle_end(now(), End::Broken);
    exchange.handle_end(now(), End::Complete);
    exchange.handle_body(now(), b"x");
    assert!(matches!(exchange.poll_output(), Some(ExchangeOutput::End)));
    assert!(exchange.poll_output().is_none() && exchange.transmit().is_empty());
}

/// A session that is opened for a client that has gone is closed again.
#[test]
fn a_handshake_that_nobody_waits_for_leaves_no_session() {
    let mut web = Web::new(config());
    let mut exchange = Exchange::new(now(), ExchangeId::new(1), Arc::clone(&web.config), legacy_head(None));
    exchange.handle_body(now(), initialize(V).as_bytes());
    exchange.handle_end(now(), End::Complete);
    let Some(ExchangeOutput::Session(id, query)) = exchange.poll_output() else { panic!() };
    let answer = web.sessions.handle_query(now(), query);
    exchange.handle_abort(now());
    exchange.handle_session(now(), id, answer);
    let Some(ExchangeOutput::Session(_, query)) = exchange.poll_output() else { panic!() };
    web.sessions.handle_query(now(), query);
    assert!(web.sessions.is_empty());
    assert!(matches!(exchange.poll_output(), Some(ExchangeOutput::End)));
}

/// A request in pieces is the same request.
#[test]
fn a_body_may_come_byte_by_byte() {
    let web = Web::new(config());
    let mut exchange = Exchange::new(now(), ExchangeId::new(1), Arc::clone(&web.config), call_head());
    for byte in modern_call("").as_bytes() {
        exchange.handle_body(now(), &[*byte]);
    }
    exchange.handle_end(now(), End::Complete);
    assert!(matches!(exchange.poll_output(), Some(ExchangeOutput::Call(..))));
}
