//! Requests that are handed out although they need no application: they go on as if they had not been.

use super::*;
use crate::server::testing::{changing, full, initialize, listen};

fn watched(mut config: Config) -> Config {
    config.hand_out_all = true;
    config
}

/// Requests that need no application are handed out when it wants to watch all, and answered as ever.
#[test]
fn everything_can_be_handed_out_and_goes_on_as_if_it_had_not() {
    let (mut watched, mut plain) = (Client::legacy(watched(full()), V), Client::legacy(full(), V));
    let legacy = |method: &str, params: &str| {
        format!(r#"{{"jsonrpc":"2.0","id":1,"method":"{method}","params":{params}}}"#)
    };
    let lines = [
        legacy("ping", "{}"),
        legacy("tools/list", "{}"),
        legacy("logging/setLevel", r#"{"level":"error"}"#),
        modern("1", "server/discover", ""),
        modern("1", "prompts/list", ""),
        modern("1", "resources/list", ""),
        modern("1", "resources/templates/list", ""),
        initialize(V),
    ];
    for line in lines {
        let (id, call) = watched.call(&line);
        assert!(line.contains(&format!(r#""method":"{}""#, call.target().method())));
        assert_eq!(watched.received(), [""; 0]);
        watched.server.proceed(now(), id);
        assert_eq!(watched.received(), plain.ask(&line));
        watched.server.proceed(now(), id);
        assert_eq!(watched.received(), [""; 0]);
    }
    let (id, _) = watched.call(&legacy("logging/setLevel", r#"{"level":"error"}"#));
    watched.server.proceed(now(), id);
    watched.received();
    let (id, _) = watched.call(&legacy_call("2"));
    watched.server.log(now(), id, &message(LoggingLevel::Warning));
    watched.server.proceed(now(), id);
    assert_eq!(watched.received(), [""; 0], "the level was set, and a tool has an answer of its own");
}

/// A result that the application makes up for a handshake or a subscription would promise a session or messages that
/// there are not: the client is told of an error, and this side of the misuse.
#[test]
fn what_opens_something_is_not_answered_with_a_result_of_ones_own() {
    for line in [initialize(V), listen("1", "{}")] {
        let mut client = Client::new(watched(changing()));
        let (id, _) = client.call(&line);
        client.server.respond(now(), id, &text("welcome"));
        let received = client.received();
        assert!(received.len() == 1 && received[0].contains(r#""code":-32603"#), "{received:?}");
        assert!(client.diagnostics()[0].contains("not answered with a result"));
    }
}

/// INIT-03: what a client sends right after its handshake is served in the session that comes of it, however long the
/// application thinks; where it refuses, there is none.
#[test]
fn what_follows_a_handshake_waits_for_it() {
    let ping = r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#;
    for refused in [false, true] {
        let mut client = Client::new(watched(full()));
        client.send(&initialize(V));
        client.send(&legacy_call("2"));
        client.send(ping);
        let mut calls = client.calls();
        let (id, call) = calls.pop().unwrap();
        assert_eq!((call.target().method(), call.revision().as_str(), calls.len()), ("initialize", V, 0));
        assert!(!client.server.wants_read() && client.received().is_empty());
        if refused {
            client.server.fail(now(), id, &ErrorObject::new(7, "not today"));
        } else {
            client.server.proceed(now(), id);
        }
        assert!(client.server.wants_read());
        let received = client.received();
        let methods: Vec<_> =
            client.calls().iter().map(|(_, call)| call.target().method().to_string()).collect();
        if refused {
            assert!(
                received[0].contains(r#""code":7"#) && received[1].contains(r#""id":2,"error""#),
                "{received:?}"
            );
            assert_eq!(methods, ["ping"]);
        } else {
            assert!(received[0].contains(r#""protocolVersion""#), "{received:?}");
            assert_eq!(methods, ["tools/call", "ping"]);
        }
    }
}

/// INIT-03: so it does when requests are not handed out any more.
#[test]
fn what_follows_a_handshake_waits_whatever_is_configured_meanwhile() {
    let mut client = Client::new(watched(full()));
    client.send(&legacy_call("0"));
    client.send(&initialize(V));
    let (id, _) = client.calls().pop().unwrap();
    client.server.handle_config(now(), Arc::new(full()));
    client.send(&legacy_call("2"));
    assert!(!client.server.wants_read() && client.calls().is_empty());
    client.server.proceed(now(), id);
    assert_eq!(client.calls().len(), 1);
}

/// A stream that ends in the middle of a handshake is over.
#[test]
fn a_handshake_ends_with_its_stream() {
    for end in [End::Broken, End::Complete] {
        let mut client = Client::new(watched(full()));
        client.send(&initialize(V));
        let (id, _) = client.calls().pop().unwrap();
        client.end(end);
        if end == End::Complete {
            assert!(!client.server.is_finished());
            client
                .server
                .handle_timeout(client.server.poll_timeout().map_or(now(), |at| Now::new(at, now().unix)));
        }
        assert!(matches!(client.outputs()[..], [Output::Cancelled(cancelled)] if cancelled == id));
        assert!(client.server.is_finished());
        client.server.proceed(now(), id);
        assert_eq!(client.received(), [""; 0]);
    }
}

/// Ends a stream of eight handshakes, and the time for what runs: one moment ends them all.
fn handshakes_end_together(config: Config) {
    let mut client = Client::new(watched(config));
    for _ in 0..8 {
        client.send(&initialize(V));
    }
    client.end(End::Complete);
    let drain = client.server.poll_timeout().unwrap();
    client.server.handle_timeout(Now::new(drain, now().unix));
    assert_eq!(client.server.poll_timeout(), None);
    let cancelled = client.outputs().iter().filter(|output| matches!(output, Output::Cancelled(_))).count();
    assert_eq!(cancelled, 8);
    assert_eq!(client.server.poll_timeout(), None);
    assert!(client.server.is_finished());
}

/// Handshakes that wait behind each other are all too late when the time for what runs is over.
#[test]
fn handshakes_held_behind_each_other_end_together() {
    handshakes_end_together(full());
}

/// The same where the application hears of few at a time: what comes up after that moment waits for no other.
#[test]
fn handshakes_heard_of_late_are_given_up_at_once() {
    handshakes_end_together(
        full().limits(limits(|limits| (limits.in_flight, limits.notifications) = (2, 1))),
    );
}

/// SUB-03: a subscription begins when it proceeds, and not when it is refused or comes too late.
#[test]
fn a_subscription_waits_for_the_application() {
    let mut client = Client::new(watched(changing()));
    let filter = r#"{"toolsListChanged":true}"#;
    let (id, call) = client.call(&listen("1", filter));
    assert_eq!(call.target().method(), "subscriptions/listen");
    assert!(client.ask(&listen("1", filter))[0].contains("in flight"));
    client.server.proceed(now(), id);
    let outputs = client.outputs();
    let Some(Output::Listen(subscription, _)) = outputs.last() else { panic!("{outputs:?}") };
    client.server.handle_admission(now(), *subscription, Admission::Granted);
    client.server.publish(now(), &Change::Tools);
    let received = client.received();
    assert!(received[0].contains("acknowledged") && received[1].contains("list_changed"), "{received:?}");

    let (id, _) = client.call(&listen("2", filter));
    client.server.fail(now(), id, &ErrorObject::new(7, "not today"));
    assert!(client.received()[0].contains(r#""code":7"#));
    let (id, _) = client.call(&listen("3", filter));
    client.server.shutdown(now());
    client.received();
    client.server.proceed(now(), id);
    assert!(client.received()[0].contains("shutting down"));
    assert!(client.server.is_finished());
}
