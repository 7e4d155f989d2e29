use super::*;

/// A call that outlives the patience of a server that stops is cancelled, and answered.
#[test]
fn what_runs_when_the_server_waits_no_longer_is_answered() {
    let mut web = Web::new(config());
    let session = web.open(V);
    for (head, body) in [(call_head(), modern_call("")), (legacy_head(Some(&session)), CALL.into())] {
        let mut trip = web.ask(head, &body);
        trip.exchange.shutdown(now());
        web.drive(&mut trip);
        assert!(trip.cancelled.is_empty() && trip.head.is_none(), "calls may finish");
        trip.exchange.give_up(now());
        web.drive(&mut trip);
        assert_eq!((answered(&trip), trip.ended), ((503, -32603), true));
        assert_eq!(trip.cancelled, [trip.calls[0].0]);
        assert!(trip.body.contains(r#""id":7"#), "{}", trip.body);
        trip.exchange.respond(now(), trip.calls[0].0, &text("late"));
        assert!(trip.exchange.transmit().is_empty() && trip.exchange.poll_output().is_none());
    }
    // Where a stream has begun, the error is its last event.
    let mut trip = web.ask(call_head(), &modern_call(r#""progressToken":1,"#));
    trip.exchange.progress(now(), trip.calls[0].0, &Progress::new(1.0));
    trip.exchange.give_up(now());
    web.drive(&mut trip);
    assert_eq!((trip.status(), trip.events().len(), trip.ended), (200, 2, true));
    assert!(trip.events()[1].contains("-32603"));
}

/// Every call of a batch is answered.
#[test]
fn a_batch_is_answered_as_a_whole() {
    let mut web = Web::new(config());
    let session = web.open("2025-03-26");
    let call =
        |id| format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"tools/call","params":{{"name":"add"}}}}"#);
    let mut trip = web.ask(legacy_head(Some(&session)), &format!("[{},{}]", call(1), call(2)));
    trip.exchange.give_up(now());
    web.drive(&mut trip);
    assert_eq!((trip.status(), trip.cancelled.len(), trip.ended), (200, 2, true));
    assert_eq!(trip.body.matches("-32603").count(), 2);
}

/// A request that is still coming is refused; one that is answered stays so.
#[test]
fn a_request_that_is_still_coming_is_refused() {
    let web = Web::new(config());
    let mut exchange = Exchange::new(now(), ExchangeId::new(1), Arc::clone(&web.config), call_head());
    exchange.handle_body(now(), b"{");
    exchange.give_up(now());
    exchange.give_up(now());
    let Some(ExchangeOutput::Head(head, _)) = exchange.poll_output() else { panic!("no head") };
    assert_eq!(head.status, 503);
    let sent = exchange.transmit().len();
    exchange.handle_end(now(), End::Complete);
    exchange.give_up(now());
    assert_eq!(exchange.transmit().len(), sent);
}

/// One whose client has left may be given up as well; who comes back is told.
#[test]
fn a_call_that_is_left_behind_may_be_given_up() {
    let mut web = Web::new(config());
    let session = web.open(V);
    let mut trip = web.ask(legacy_head(Some(&session)), CALL);
    trip.exchange.progress(now(), trip.calls[0].0, &Progress::new(1.0));
    web.drive(&mut trip);
    let id = trip.body.lines().filter_map(|line| line.strip_prefix("id: ")).next_back().unwrap().to_string();
    trip.exchange.handle_abort(now());
    web.drive(&mut trip);
    assert!(trip.cancelled.is_empty() && !trip.ended);
    trip.exchange.give_up_unattended(now());
    web.drive(&mut trip);
    assert_eq!((&*trip.cancelled, trip.ended), (&[trip.calls[0].0][..], true));
    let back = web.ask(super::streams::get(&session, Some(&id)), "");
    assert!(back.body.contains("whose clients have left") && back.ended, "{}", back.body);
}
