use super::*;
use crate::time::Duration;

/// A call with progress, log messages and a result, from the first byte of its request to its end.
fn visit(piece: usize, drain: bool, spurious: bool) -> (String, String) {
    visit_at(at, piece, drain, spurious)
}

fn visit_at(at: fn(u64) -> Now, piece: usize, drain: bool, spurious: bool) -> (String, String) {
    let web = Web::new(config());
    let meta = r#""progressToken":"p","io.modelcontextprotocol/logLevel":"info","#;
    let body = modern_call(meta);
    let mut exchange = Exchange::new(at(0), ExchangeId::new(1), Arc::clone(&web.config), call_head());
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
    // The first call of an exchange; whoever drains late cannot have been told its id yet.
    let call = CallId(1);
    let log = LoggingMessageNotificationParams::new(LoggingLevel::Error, Json::parse("\"d\"").unwrap());
    exchange.progress(at(3), call, &Progress::new(0.5));
    flush(&mut exchange, false);
    exchange.log(at(4), call, &log);
    flush(&mut exchange, false);
    exchange.respond(at(5), call, &text("x"));
    flush(&mut exchange, false);
    // Input that comes too late.
    exchange.respond(at(6), call, &text("again"));
    exchange.progress(at(6), call, &Progress::new(1.0));
    exchange.handle_body(at(6), b"x");
    exchange.handle_end(at(6), End::Broken);
    exchange.handle_cancel(at(6), &7.into());
    flush(&mut exchange, true);
    flush(&mut exchange, true);
    (said, sent)
}

/// How the body is cut does not matter, nor when the exchange is drained, nor timeouts that are none; and what
/// was done once comes out the same again.
#[test]
fn the_transcript_does_not_depend_on_pieces_draining_or_spurious_timeouts() {
    let expected = visit(usize::MAX, false, false);
    assert_eq!(expected.1.matches("data: ").count(), 3, "{}", expected.1);
    assert!(expected.0.ends_with("End\n"), "{}", expected.0);
    for piece in [1, 2, 7, usize::MAX] {
        for (drain, spurious) in [(false, false), (false, true), (true, false), (true, true)] {
            assert_eq!(visit(piece, drain, spurious), expected, "{piece} {drain} {spurious}");
        }
    }
}

/// A clock on the wall that is set forward and back by years changes nothing: time is counted by the other one.
#[test]
fn the_transcript_does_not_depend_on_the_time_of_day() {
    let jumping = |ms: u64| Now::new(at(ms).mono, Duration::from_secs(4_000_000_000 * (ms % 3)));
    assert_eq!(visit_at(jumping, 1, true, true), visit(1, true, true));
}

/// Calls, requests and answers that the exchange does not know, before and while it runs.
#[test]
fn input_for_what_is_not_there_is_nothing() {
    let mut web = Web::new(config());
    let mut trip = web.ask(call_head(), &modern_call(""));
    let exchange = &mut trip.exchange;
    for call in [CallId(0), CallId(2)] {
        exchange.respond(now(), call, &text("x"));
        exchange.fail(now(), call, &ErrorObject::new(1, "x"));
        exchange.progress(now(), call, &Progress::new(1.0));
    }
    exchange.handle_cancel(now(), &8.into());
    exchange.handle_session(now(), QueryId(1), SessionAnswer::Missing);
    exchange.advance(1_000);
    assert!(exchange.poll_output().is_none() && exchange.transmit().is_empty());
    let id = trip.calls[0].0;
    trip.exchange.respond(now(), id, &text("x"));
    web.drive(&mut trip);
    assert_eq!(trip.status(), 200);
}
