//! The client's side, driven by hand.

use super::*;
use crate::wire::http1::fuzz::{Event, Transcript, fetch, limits};
use std::format;
use std::string::String;
use std::vec::Vec;

fn at(milliseconds: u64) -> Now {
    Now::new(Instant::new(Duration::from_millis(milliseconds)), Duration::ZERO)
}

fn head(method: &str) -> RequestHead {
    let mut head = RequestHead::new(method, "/mcp");
    head.headers.push("Host", "x");
    head
}

/// A client whose request is written.
fn asked(method: &str) -> ClientConnection {
    let mut client = ClientConnection::new(at(0), &limits());
    client.request(&head(method), BodyLength::Empty).unwrap();
    client.advance(client.transmit().len());
    client
}

fn drain(client: &mut ClientConnection) -> Vec<Event> {
    let mut transcript = Transcript::default();
    transcript.drain_client(client);
    transcript.events
}

fn response(status: u16, fields: &[(&str, &str)]) -> Event {
    let mut head = ResponseHead::new(status);
    fields.iter().for_each(|(name, value)| head.headers.push(name, value));
    Event::Response(head)
}

const FAILED: Event = Event::Failed { unsent: false };

#[test]
fn every_vector_means_the_same_however_it_is_split_and_wherever_it_ends() {
    let vectors = [
        "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello",
        "HTTP/1.1 103 Early\r\nLink: x\r\n\r\nHTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nhe\r\n3;x\r\nllo\r\n0\r\nT: u\r\n\r\n",
        "HTTP/1.0 200\r\n\r\nuntil the end",
        "HTTP/1.1 204 No Content\r\n\r\n",
        "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nokHTTP/1.1 200 OK\r\n",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nhello",
        "HTTP/1.1 200 OK\nContent-Length: 0\n\n",
        "SSH-2.0-x\r\n\r\n",
    ];
    for vector in vectors {
        for length in 0..=vector.len() {
            let bytes = &vector.as_bytes()[..length];
            for end in [End::Complete, End::Broken] {
                let whole = fetch("GET", &[bytes], false, Some(end));
                let bytewise: Vec<&[u8]> = bytes.chunks(1).collect();
                assert_eq!(fetch("GET", &bytewise, true, Some(end)), whole, "{vector:?} {length}");
                assert_eq!(fetch("GET", &bytewise, false, Some(end)), whole, "{vector:?} {length}");
            }
        }
        let whole = fetch("GET", &[vector.as_bytes()], true, None);
        for at in 0..vector.len() {
            let (one, other) = vector.as_bytes().split_at(at);
            assert_eq!(fetch("GET", &[one, other], true, None), whole, "{vector:?} at {at}");
        }
    }
}

#[test]
fn request_and_body_are_in_one_write() {
    let mut client = ClientConnection::new(at(0), &limits());
    client.request(&head("POST"), BodyLength::Known(2)).unwrap();
    client.send(b"{}");
    client.finish();
    let text = "POST /mcp HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n\r\n{}";
    assert_eq!(client.transmit(), text.as_bytes());
}

#[test]
fn an_empty_post_says_so_and_an_empty_get_does_not() {
    for (method, says) in [("POST", true), ("GET", false), ("DELETE", false)] {
        let mut client = ClientConnection::new(at(0), &limits());
        client.request(&head(method), BodyLength::Empty).unwrap();
        let text = String::from_utf8(client.transmit().to_vec()).unwrap();
        assert_eq!(text.contains("Content-Length: 0"), says, "{method}");
    }
}

#[test]
fn the_end_of_a_response_follows_its_framing() {
    let cut = "HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nok";
    let open = "HTTP/1.1 200 OK\r\n\r\nok";
    let ok = |fields: &[(&str, &str)]| [response(200, fields), Event::Body(b"ok".to_vec())];
    let end = |text: &str, end| fetch("GET", &[text.as_bytes()], false, Some(end)).events;
    assert_eq!(end(cut, End::Complete), [&ok(&[("Content-Length", "3")])[..], &[FAILED]].concat());
    assert_eq!(end(open, End::Complete), [&ok(&[])[..], &[Event::End]].concat());
    assert_eq!(end(open, End::Broken), [&ok(&[])[..], &[FAILED]].concat());
}

#[test]
fn responses_without_a_body_leave_the_connection_free() {
    let cases = [
        ("HEAD", "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n"),
        ("HEAD", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"),
        ("GET", "HTTP/1.1 204 No Content\r\nContent-Length: 5\r\n\r\n"),
        ("GET", "HTTP/1.1 304 Not Modified\r\n\r\n"),
        ("GET", "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"),
    ];
    for (method, text) in cases {
        let mut client = asked(method);
        client.handle_bytes(at(0), text.as_bytes());
        assert!(!client.is_idle() && !client.can_reuse());
        assert_eq!(drain(&mut client).last(), Some(&Event::End));
        assert!(client.is_idle() && client.can_reuse(), "{text:?}");
    }
}

#[test]
fn a_connection_is_not_used_again_after_close_or_old_version_or_surplus() {
    let cases = [
        "HTTP/1.1 200 OK\r\nContent-Length: 0\r\nConnection: close\r\n\r\n",
        "HTTP/1.0 200 OK\r\nContent-Length: 0\r\n\r\n",
        "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\nHTTP/1.1 408 Late\r\n\r\n",
    ];
    for text in cases {
        let mut client = asked("GET");
        client.handle_bytes(at(0), text.as_bytes());
        assert_eq!(drain(&mut client).last(), Some(&Event::End));
        assert!(client.is_finished() && client.is_idle() && !client.can_reuse(), "{text:?}");
    }
    let mut client = ClientConnection::new(at(0), &limits());
    client.request(&head("GET").clone_with("Connection", "close"), BodyLength::Empty).unwrap();
    assert!(client.transmit().ends_with(b"\r\nConnection: close\r\n\r\n"));
    client.advance(client.transmit().len());
    client.handle_bytes(at(0), b"HTTP/1.1 204 x\r\n\r\n");
    drain(&mut client);
    assert!(client.is_finished());
}

trait CloneWith {
    fn clone_with(&self, name: &str, value: &str) -> RequestHead;
}

impl CloneWith for RequestHead {
    fn clone_with(&self, name: &str, value: &str) -> RequestHead {
        let mut head = self.clone();
        head.headers.push(name, value);
        head
    }
}

#[test]
fn sixteen_interim_responses_are_skipped_and_one_more_fails() {
    let interim = "HTTP/1.1 102 Processing\r\n\r\n";
    let end = "HTTP/1.1 204 No Content\r\n\r\n";
    let run = |n| fetch("GET", &[format!("{}{end}", interim.repeat(n)).as_bytes()], false, None).events;
    assert_eq!(run(16), [response(204, &[]), Event::End]);
    assert_eq!(run(17), [FAILED]);
}

#[test]
fn switching_protocols_is_refused() {
    let text = b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\n\r\n";
    assert_eq!(fetch("GET", &[text], false, None).events, [FAILED]);
}

#[test]
fn a_response_head_is_bounded() {
    let head = |n: usize| format!("HTTP/1.1 204 x\r\nA: {}\r\n\r\n", "a".repeat(n));
    let longest = 512 - head(0).len();
    assert_eq!(fetch("GET", &[head(longest).as_bytes()], false, None).events.last(), Some(&Event::End));
    assert_eq!(fetch("GET", &[head(longest + 1).as_bytes()], false, None).events, [FAILED]);
}

#[test]
fn bytes_that_nobody_asked_for_end_the_connection() {
    let mut client = ClientConnection::new(at(0), &limits());
    client.handle_bytes(at(0), b"HTTP/1.1 408 Timeout\r\n\r\n");
    assert_eq!(drain(&mut client), []);
    assert!(client.is_finished());
    assert!(client.request(&head("GET"), BodyLength::Empty).is_err());
}

#[test]
fn bytes_that_precede_the_request_are_no_response_to_it() {
    let mut client = ClientConnection::new(at(0), &limits());
    client.request(&head("GET"), BodyLength::Empty).unwrap();
    client.handle_bytes(at(0), b"HTTP/1.1 408 Timeout\r\nContent-Length: 0\r\n\r\n");
    assert_eq!(drain(&mut client), [Event::Failed { unsent: true }]);
}

#[test]
fn a_failure_before_a_byte_was_written_is_unsent_and_after_one_is_not() {
    for written in [0, 1] {
        let mut client = ClientConnection::new(at(0), &limits());
        client.request(&head("POST"), BodyLength::Empty).unwrap();
        client.advance(written);
        client.handle_end(at(0), End::Broken);
        client.handle_end(at(0), End::Broken);
        let failed = client.poll_output();
        assert!(matches!(failed, Some(ClientOutput::Failed { unsent, .. }) if unsent == (written == 0)));
        assert_eq!(client.poll_output(), None);
        assert_eq!(client.transmit(), b"");
    }
}

#[test]
fn a_response_before_the_request_is_complete_is_delivered_and_the_connection_ends() {
    let mut client = ClientConnection::new(at(0), &limits());
    client.request(&head("POST"), BodyLength::Known(100)).unwrap();
    client.send(b"half");
    client.advance(client.transmit().len());
    client.handle_bytes(at(0), b"HTTP/1.1 413 x\r\nContent-Length: 0\r\n\r\n");
    assert_eq!(drain(&mut client), [response(413, &[("Content-Length", "0")]), Event::End]);
    assert!(client.is_finished());
    client.send(b"rest");
    client.finish();
    assert_eq!((client.transmit(), client.is_finished()), (&b""[..], true));
    assert_eq!(drain(&mut client), []);
}

#[test]
fn a_request_may_be_finished_after_its_response_has_begun() {
    let mut client = ClientConnection::new(at(0), &limits());
    client.request(&head("POST"), BodyLength::Stream).unwrap();
    client.send(b"a");
    client.advance(client.transmit().len());
    client.handle_bytes(at(0), b"HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\n");
    client.send(b"b");
    client.finish();
    client.advance(client.transmit().len());
    client.handle_bytes(at(0), b"x");
    assert_eq!(drain(&mut client).last(), Some(&Event::End));
    assert!(client.can_reuse());
}

#[test]
fn a_server_that_does_not_read_or_dawdles_over_the_head_fails_the_exchange() {
    let mut client = ClientConnection::new(at(0), &limits());
    client.request(&head("POST"), BodyLength::Empty).unwrap();
    client.handle_timeout(at(5));
    client.handle_timeout(at(30_004));
    assert!(!client.has_output());
    client.handle_timeout(at(30_005));
    assert_eq!(drain(&mut client), [Event::Failed { unsent: true }]);

    let mut client = asked("GET");
    assert_eq!(client.poll_timeout(), None, "a response may take its time");
    client.handle_bytes(at(100_000), b"HTTP/1.1 2");
    client.handle_bytes(at(129_999), b"0");
    client.handle_timeout(at(129_999));
    assert!(!client.has_output());
    client.handle_timeout(at(130_000));
    assert_eq!(drain(&mut client), [FAILED]);
}

#[test]
fn an_event_stream_may_be_silent() {
    let mut client = asked("GET");
    client.handle_bytes(at(0), b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\na\r\n");
    drain(&mut client);
    assert_eq!(client.poll_timeout(), None);
    client.handle_timeout(at(10_000_000));
    assert!(!client.has_output());
}

#[test]
fn reading_stops_while_the_body_is_not_taken() {
    let mut client = asked("GET");
    client.handle_bytes(at(0), b"HTTP/1.1 200 OK\r\n\r\n");
    client.handle_bytes(at(0), &[0; 511]);
    assert!(client.wants_read());
    client.handle_bytes(at(0), &[0]);
    assert!(!client.wants_read());
    drain(&mut client);
    assert!(client.wants_read());
}

#[test]
fn a_body_shorter_than_promised_fails_the_exchange() {
    let mut client = ClientConnection::new(at(0), &limits());
    client.request(&head("POST"), BodyLength::Known(3)).unwrap();
    client.advance(1);
    client.finish();
    assert_eq!(drain(&mut client), [FAILED]);
}

#[test]
fn what_wakes_a_connection_is_named() {
    let mut client = ClientConnection::new(at(0), &limits());
    assert_eq!(client.wake_reason(), None);
    client.request(&head("GET"), BodyLength::Empty).unwrap();
    assert_eq!(client.wake_reason(), Some(WakeReason::Write));
    client.advance(client.transmit().len());
    client.handle_bytes(at(0), b"HTTP/1.1 2");
    assert_eq!(client.wake_reason(), Some(WakeReason::Head));
}
