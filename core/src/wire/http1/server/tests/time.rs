//! What has to happen in time.

use super::*;

#[test]
fn a_connection_without_a_request_is_closed_after_keep_alive() {
    let mut server = server();
    server.handle_timeout(at(74_999));
    assert!(!server.is_finished());
    assert_eq!(server.poll_timeout(), Some(at(75_000).mono));
    server.handle_timeout(at(75_000));
    assert!(server.is_finished());
    assert_eq!(server.transmit(), b"");
}

#[test]
fn keep_alive_counts_from_when_the_response_was_finished() {
    let mut server = fed(GET);
    drain(&mut server);
    assert_eq!(server.poll_timeout(), None);
    // The handler takes 100 s, and nothing tells the machine so until the timer is started.
    ok(&mut server);
    written(&mut server);
    assert_eq!(server.poll_timeout(), Some(at(0).mono));
    server.handle_timeout(at(100_000));
    assert!(!server.is_finished());
    assert_eq!(server.poll_timeout(), Some(at(175_000).mono));
}

#[test]
fn a_head_has_to_be_complete_in_time_whatever_progress_it_makes() {
    let mut server = server();
    server.handle_bytes(at(1_000), b"GET");
    server.handle_bytes(at(30_000), b" ");
    server.handle_timeout(at(30_999));
    assert_eq!(server.transmit(), b"");
    server.handle_timeout(at(31_000));
    assert!(written(&mut server).starts_with("HTTP/1.1 408 "));
}

#[test]
fn a_body_that_stalls_is_refused_and_one_that_moves_is_not() {
    let mut server = fed("POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\n\r\n");
    drain(&mut server);
    server.handle_bytes(at(29_000), b"h");
    drain(&mut server);
    server.handle_timeout(at(58_999));
    assert_eq!(server.transmit(), b"");
    server.handle_timeout(at(59_000));
    assert!(written(&mut server).starts_with("HTTP/1.1 408 "));
    assert_eq!(drain(&mut server), [Event::Aborted]);
}

#[test]
fn a_peer_that_does_not_read_is_dropped() {
    let mut server = fed(GET);
    drain(&mut server);
    server.respond(at(0), &ResponseHead::new(200), BodyLength::Stream).unwrap();
    server.handle_timeout(at(0));
    server.advance(1);
    server.handle_timeout(at(20_000));
    server.handle_timeout(at(49_999));
    assert!(!server.is_finished());
    server.handle_timeout(at(50_000));
    assert!(server.is_finished());
    assert_eq!(drain(&mut server), [Event::Aborted]);
    assert_eq!(server.transmit(), b"");
}

#[test]
fn a_long_handler_has_no_timer() {
    let mut server = fed(POST);
    drain(&mut server);
    server.handle_timeout(at(10_000_000));
    assert!(!server.is_finished());
    ok(&mut server);
    assert_eq!(written(&mut server), OK);
}

/// A body that drips in never stalls, and is cut off all the same; one that is pipelined behind it has time of its
/// own.
#[test]
fn a_body_has_to_come_to_its_end_in_time_whatever_progress_it_makes() {
    let mut limits = limits();
    (limits.stall, limits.body_time) = (Duration::from_secs(30), Duration::from_secs(60));
    let drip = |server: &mut ServerConnection, from: u64, to: u64| {
        for second in from..to {
            server.handle_bytes(at(second * 1_000), b"x");
            drain(server);
            server.handle_timeout(at(second * 1_000));
        }
    };
    let head = "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 60\r\n\r\n";
    let mut server = ServerConnection::new(at(0), &limits);
    server.handle_bytes(at(0), head.as_bytes());
    drain(&mut server);
    drip(&mut server, 1, 60);
    assert_eq!(
        (server.poll_timeout(), server.wake_reason()),
        (Some(at(60_000).mono), Some(WakeReason::Body))
    );
    server.handle_timeout(at(59_999));
    assert!(written(&mut server).is_empty());
    server.handle_timeout(at(60_000));
    assert!(written(&mut server).starts_with("HTTP/1.1 408 "));
    assert_eq!(drain(&mut server), [Event::Aborted]);

    // Complete in the last moment, with the next one right behind it.
    let mut server = ServerConnection::new(at(0), &limits);
    server.handle_bytes(at(0), head.as_bytes());
    drain(&mut server);
    drip(&mut server, 1, 59);
    server.handle_bytes(at(59_000), format!("xx{head}").as_bytes());
    drain(&mut server);
    ok(&mut server);
    drain(&mut server);
    written(&mut server);
    drip(&mut server, 60, 119);
    server.handle_timeout(at(119_999));
    assert!(written(&mut server).is_empty());
    server.handle_timeout(at(120_000));
    assert!(written(&mut server).starts_with("HTTP/1.1 408 "));
}
