use super::*;

/// STDIO-17
#[test]
fn after_the_end_running_calls_may_finish_within_the_drain_time() {
    let mut client = Client::legacy(config(), V);
    assert!(!client.server.is_finished());
    let (first, _) = client.call(&legacy_call("1"));
    let (second, _) = client.call(&legacy_call("2"));
    assert_eq!(client.server.poll_timeout(), None);
    client.end(End::Complete);
    client.send(&legacy_call("3"));
    assert_eq!(client.server.poll_timeout(), Some(at(2_000).mono));
    client.server.respond(now(), first, &text("x"));
    assert_eq!(client.received().len(), 1);
    client.server.handle_timeout(at(1_999));
    assert!(client.outputs().is_empty() && !client.server.is_finished());
    client.server.handle_timeout(at(2_000));
    client.server.handle_timeout(at(2_000));
    let outputs = client.outputs();
    assert!(matches!(outputs[..], [Output::Cancelled(id)] if id == second), "{outputs:?}");
    assert!(client.server.is_finished());
    assert_eq!(client.server.poll_timeout(), None);
    client.server.respond(now(), second, &text("late"));
    assert_eq!(client.received(), [""; 0]);
}

/// An unfinished line at the end is delivered if it is a whole message.
#[test]
fn the_last_line_needs_no_end() {
    let mut client = Client::new(config());
    client.server.handle_bytes(now(), br#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#);
    client.end(End::Complete);
    assert_eq!(client.received().len(), 1);
    assert!(client.server.is_finished());
}

/// B82
#[test]
fn when_the_stream_breaks_calls_are_cancelled_and_nothing_is_sent() {
    let mut client = Client::legacy(config(), V);
    client.call(&legacy_call("1"));
    client.send(r#"{"jsonrpc":"2.0","id":2,"method":"ping"}"#);
    client.end(End::Broken);
    client.end(End::Broken);
    client.end(End::Complete);
    assert!(matches!(client.outputs()[..], [Output::Cancelled(_)]));
    assert_eq!(client.received(), [""; 0]);
    assert!(client.server.is_finished() && !client.server.wants_read());
}

#[test]
fn shutdown_finishes_running_calls_and_takes_no_new_ones() {
    let mut client = Client::legacy(config(), V);
    let (id, _) = client.call(&legacy_call("1"));
    client.server.shutdown(now());
    assert!(!client.server.is_finished());
    assert_eq!(client.ask(&legacy_call("2")), [error("2", -32603, "the server is shutting down")]);
    client.server.respond(now(), id, &text("x"));
    assert!(!client.server.is_finished());
    assert_eq!(client.received().len(), 1);
    assert!(client.server.is_finished());
}

#[test]
fn what_wakes_a_connection_is_named() {
    let mut client = Client::legacy(config(), V);
    let (id, _) = client.call(&legacy_call("1"));
    assert_eq!(client.server.wake_reason(), None);
    client.end(End::Complete);
    assert_eq!(client.server.wake_reason(), Some(WakeReason::Drain));
    client.server.respond(now(), id, &text("x"));
    assert_eq!(client.server.wake_reason(), None);
}
