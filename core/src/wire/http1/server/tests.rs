//! The server's side, driven by hand.

mod time;

use super::*;
use crate::wire::http1::fuzz::{Event, Transcript, limits, serve};
use std::format;
use std::string::String;
use std::vec::Vec;

fn at(milliseconds: u64) -> Now {
    Now::new(Instant::new(Duration::from_millis(milliseconds)), Duration::ZERO)
}

fn server() -> ServerConnection {
    ServerConnection::new(at(0), &limits())
}

fn fed(bytes: &str) -> ServerConnection {
    let mut server = server();
    server.handle_bytes(at(0), bytes.as_bytes());
    server
}

/// Drains without answering.
fn drain(server: &mut ServerConnection) -> Vec<Event> {
    let mut events = Transcript::default();
    while let Some(output) = server.poll_output() {
        events.push(match output {
            ServerOutput::Request { head, body, .. } => Event::Request(head, body),
            ServerOutput::Body(bytes) => Event::Body(bytes.into()),
            ServerOutput::End => Event::End,
            ServerOutput::Aborted => Event::Aborted,
        });
    }
    events.events
}

fn written(server: &mut ServerConnection) -> String {
    let bytes = server.transmit().to_vec();
    server.advance(bytes.len());
    String::from_utf8(bytes).unwrap()
}

fn ok(server: &mut ServerConnection) {
    server.respond(at(0), &ResponseHead::new(200), BodyLength::Known(2)).unwrap();
    server.send(b"ok");
    server.finish();
}

const GET: &str = "GET /a HTTP/1.1\r\nHost: x\r\n\r\n";
const POST: &str = "POST /b HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\n\r\nhello";
const CHUNKED: &str = "POST /c HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n2;e\r\nhe\r\n3\r\nllo\r\n0\r\nT: u\r\n\r\n";
const OK: &str = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok";

#[test]
fn every_vector_means_the_same_however_it_is_split_and_wherever_it_ends() {
    let vectors = [
        format!("{GET}{POST}{CHUNKED}{GET}"),
        format!("{CHUNKED}\r\n{POST}"),
        format!("{POST}PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"),
        String::from("GET / HTTP/1.0\r\nConnection: keep-alive\r\n\r\nGET / HTTP/1.0\r\n\r\nGET"),
        format!("{}XX", CHUNKED.trim_end()),
    ];
    for vector in &vectors {
        let bytes = vector.as_bytes();
        for length in 0..=bytes.len() {
            let bytes = &bytes[..length];
            let whole = serve(&[bytes], false, Some(End::Complete));
            let bytewise: Vec<&[u8]> = bytes.chunks(1).collect();
            assert_eq!(serve(&bytewise, true, Some(End::Complete)), whole, "{vector:?} {length}");
            assert_eq!(serve(&bytewise, false, Some(End::Broken)).events, whole.events);
        }
        let whole = serve(&[bytes], false, None);
        for at in 0..bytes.len() {
            let (one, other) = bytes.split_at(at);
            assert_eq!(serve(&[one, other], true, None), whole, "{vector:?} at {at}");
            assert_eq!(serve(&[one, other], false, None), whole, "{vector:?} at {at}");
        }
    }
    let answered = serve(&[vectors[0].as_bytes()], true, None);
    assert_eq!(String::from_utf8(answered.written).unwrap(), OK.repeat(4));
    assert_eq!(answered.events.iter().filter(|event| **event == Event::Body(b"hello".to_vec())).count(), 2);
}

/// P09: nothing waits for a second write.
#[test]
fn head_and_first_body_bytes_are_in_one_write() {
    let mut server = fed(GET);
    drain(&mut server);
    server.respond(at(0), &ResponseHead::new(200), BodyLength::Stream).unwrap();
    server.send(b"data: 1\n\n");
    let text = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n9\r\ndata: 1\n\n\r\n";
    assert_eq!(written(&mut server), text);
    server.finish();
    assert_eq!(written(&mut server), "0\r\n\r\n");
}

#[test]
fn one_request_at_a_time_is_handed_out() {
    let mut server = fed(&format!("{GET}{POST}"));
    assert_eq!(drain(&mut server).len(), 2);
    ok(&mut server);
    assert_eq!(drain(&mut server).len(), 3);
    ok(&mut server);
    assert_eq!(drain(&mut server), []);
    assert_eq!(written(&mut server), OK.repeat(2));
    assert!(!server.is_finished());
}

#[test]
fn reading_stops_at_the_bound_of_pipelined_bytes_and_goes_on_below() {
    let mut server = fed(GET);
    drain(&mut server);
    server.handle_bytes(at(0), &[b'x'; 511]);
    assert!(server.wants_read());
    server.handle_bytes(at(0), b"x");
    assert!(!server.wants_read());
    let mut server = fed(GET);
    drain(&mut server);
    // 28 bytes each: with the last one 532 are held, and 504 once the next request is handed out.
    for _ in 0..19 {
        server.handle_bytes(at(0), GET.as_bytes());
    }
    assert!(!server.wants_read());
    ok(&mut server);
    drain(&mut server);
    assert!(server.wants_read());
}

#[test]
fn reading_stops_while_too_much_is_unwritten_or_undelivered() {
    let mut limits = limits();
    limits.transmit = 100;
    let mut server = ServerConnection::new(at(0), &limits);
    server.handle_bytes(at(0), GET.as_bytes());
    drain(&mut server);
    server.respond(at(0), &ResponseHead::new(200), BodyLength::Stream).unwrap();
    let room = server.send_room();
    // A chunk of two digits costs six bytes more.
    server.send(&std::vec![0; room - 6]);
    assert_eq!((server.transmit().len(), server.wants_read()), (100, true));
    server.send(b"x");
    assert!(!server.wants_read());
    server.advance(50);
    assert!(server.wants_read());

    let mut server = fed("POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 9999\r\n\r\n");
    server.handle_bytes(at(0), &[0; 511]);
    assert!(server.wants_read());
    server.handle_bytes(at(0), &[0; 1]);
    assert!(!server.wants_read());
    drain(&mut server);
    assert!(server.wants_read());
}

#[test]
fn the_connection_is_kept_or_closed_as_both_sides_wish() {
    let old = "GET / HTTP/1.0\r\nConnection: keep-alive\r\n\r\n";
    let cases = [
        (GET, "", "", false),
        ("GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n", "", "Connection: close", true),
        (GET, "close", "Connection: close", true),
        ("GET / HTTP/1.0\r\n\r\n", "", "Connection: close", true),
        (old, "", "Connection: keep-alive", false),
    ];
    for (request, ours, field, closes) in cases {
        let mut server = fed(request);
        drain(&mut server);
        let mut head = ResponseHead::new(200);
        head.headers.push("Connection", ours);
        server.respond(at(0), &head, BodyLength::Known(2)).unwrap();
        server.send(b"ok");
        assert!(!server.is_finished());
        server.finish();
        assert!(written(&mut server).contains(field));
        assert_eq!(server.is_finished(), closes, "{request:?} {ours:?}");
    }
}

#[test]
fn a_stream_to_an_old_client_ends_with_the_connection() {
    let mut server = fed("GET / HTTP/1.0\r\nConnection: keep-alive\r\n\r\n");
    drain(&mut server);
    server.respond(at(0), &ResponseHead::new(200), BodyLength::Stream).unwrap();
    server.send(b"abc");
    server.finish();
    assert_eq!(written(&mut server), "HTTP/1.1 200 OK\r\nConnection: close\r\n\r\nabc");
    assert!(server.is_finished());
}

/// A body that is all there is sent like one that comes in pieces, whatever room there is before it and whatever else
/// is not written yet.
#[test]
fn a_whole_body_reads_like_one_in_pieces() {
    let requests = [
        GET,
        POST,
        "HEAD / HTTP/1.1\r\nHost: x\r\n\r\n",
        "GET / HTTP/1.0\r\n\r\n",
        "GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n",
    ];
    for (request, status) in requests.iter().flat_map(|request| [(request, 200), (request, 204)]) {
        for (room, earlier) in [(0, ""), (5, ""), (300, ""), (0, GET), (300, GET)] {
            let mut servers = [fed(&format!("{earlier}{request}")), fed(&format!("{earlier}{request}"))];
            for server in &mut servers {
                drain(server);
                if !earlier.is_empty() {
                    ok(server);
                    drain(server);
                }
            }
            let [pieces, whole] = &mut servers;
            let head = ResponseHead::new(status);
            pieces.respond(at(0), &head, BodyLength::Known(3)).unwrap();
            pieces.send(b"abc");
            let mut bytes = std::vec![b'x'; room];
            bytes.extend_from_slice(b"abc");
            whole.respond_whole(at(0), &head, WholeBody::from(bytes, room)).unwrap();
            assert_eq!(whole.poll_timeout(), pieces.poll_timeout());
            pieces.finish();
            whole.finish();
            assert_eq!(written(whole), written(pieces), "{request:?} {status} {room} {earlier:?}");
            assert_eq!(whole.is_finished(), pieces.is_finished());
        }
    }
}

/// Where there is room for the head, the body stays where it is, and so does its memory for the next one.
#[test]
fn a_whole_body_is_not_moved() {
    let mut server = fed(GET);
    drain(&mut server);
    let mut memory = Vec::with_capacity(1_000);
    memory.resize(200, 0);
    memory.extend_from_slice(b"abc");
    let place = memory.as_ptr();
    server.respond_whole(at(0), &ResponseHead::new(200), WholeBody::from(memory, 200)).unwrap();
    server.finish();
    assert_eq!(server.spare().capacity(), 0);
    assert_eq!(server.transmit().last_chunk::<3>().unwrap().as_ptr() as usize, place as usize + 200);
    written(&mut server);
    let spare = server.spare();
    assert_eq!(spare.as_ptr(), place);
}

/// Whoever responds twice, or to nobody, sends nothing by that.
#[test]
fn a_whole_body_that_nobody_waits_for_is_not_sent() {
    let body = || WholeBody::from(b"abc".to_vec(), 0);
    let mut server = server();
    assert!(server.respond_whole(at(0), &ResponseHead::new(200), body()).is_err());
    server.handle_bytes(at(0), GET.as_bytes());
    drain(&mut server);
    server.respond(at(0), &ResponseHead::new(200), BodyLength::Known(3)).unwrap();
    written(&mut server);
    assert!(server.respond_whole(at(0), &ResponseHead::new(200), body()).is_err());
    server.handle_end(at(0), End::Complete);
    server.respond_whole(at(0), &ResponseHead::new(200), body()).unwrap();
    assert_eq!(server.transmit(), b"");
}

#[test]
fn responses_that_have_no_body_get_none() {
    let head = "HEAD / HTTP/1.1\r\nHost: x\r\n\r\n";
    let cases = [
        (head, 200, "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n"),
        (GET, 204, "HTTP/1.1 204 No Content\r\n\r\n"),
        (GET, 304, "HTTP/1.1 304 Not Modified\r\n\r\n"),
    ];
    for (request, status, text) in cases {
        let mut server = fed(request);
        drain(&mut server);
        server.respond(at(0), &ResponseHead::new(status), BodyLength::Known(2)).unwrap();
        server.send(b"ok");
        server.finish();
        assert_eq!(written(&mut server), text);
        assert!(!server.is_finished());
    }
}

#[test]
fn a_body_that_stays_shorter_than_promised_closes_the_connection() {
    let mut server = fed(GET);
    drain(&mut server);
    server.respond(at(0), &ResponseHead::new(200), BodyLength::Known(3)).unwrap();
    server.send(b"ok");
    server.finish();
    assert!(server.is_finished());
    assert_eq!(drain(&mut server), []);
}

/// Whoever is refused by the head alone, and waits for a word before it sends the body, is not asked to go on.
#[test]
fn a_request_is_whole_when_its_end_is_there_and_nothing_is_owed_before() {
    let post = "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n";
    for (request, whole) in [
        (String::from(GET), true),
        (String::from(CHUNKED), true),
        (format!("{post}\r\nhi"), true),
        (format!("{post}\r\nh"), false),
        (format!("{post}Expect: 100-continue\r\n\r\nhi"), false),
    ] {
        let mut server = fed(&request);
        assert!(matches!(server.poll_output(), Some(ServerOutput::Request { .. })));
        assert_eq!(server.has_whole_request(), whole, "{request:?}");
    }
}

#[test]
fn continue_is_sent_when_the_body_is_asked_for() {
    let request = "POST / HTTP/1.1\r\nHost: x\r\nExpect: 100-Continue\r\nContent-Length: 2\r\n\r\n";
    let mut server = fed(request);
    assert!(matches!(server.poll_output(), Some(ServerOutput::Request { body: Some(2), .. })));
    assert_eq!(server.transmit(), b"");
    assert_eq!(server.poll_output(), None);
    assert_eq!(written(&mut server), "HTTP/1.1 100 Continue\r\n\r\n");
    server.handle_bytes(at(0), b"hi");
    assert_eq!(drain(&mut server), [Event::Body(b"hi".to_vec()), Event::End]);
    ok(&mut server);
    assert_eq!(written(&mut server), OK);
    assert!(!server.is_finished());

    let mut server = fed(request);
    assert!(matches!(server.poll_output(), Some(ServerOutput::Request { .. })));
    server.respond(at(0), &ResponseHead::new(413), BodyLength::Empty).unwrap();
    assert_eq!(drain(&mut server), []);
    let text = "HTTP/1.1 413 Content Too Large\r\nContent-Length: 0\r\nConnection: close\r\n\r\n";
    assert_eq!(written(&mut server), text);
    server.handle_end(at(0), End::Complete);
    assert!(server.is_finished());
}

#[test]
fn a_peer_that_waits_for_continue_does_not_stall() {
    let mut server = fed("POST / HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\nContent-Length: 2\r\n\r\n");
    assert_eq!(server.poll_timeout(), None);
    drain(&mut server);
    written(&mut server);
    server.handle_timeout(at(0));
    assert_eq!(server.poll_timeout(), Some(at(30_000).mono));
}

#[test]
fn an_early_response_lets_a_small_rest_of_the_body_pass() {
    let mut server = fed("POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\n\r\nhe");
    drain(&mut server);
    ok(&mut server);
    assert!(!server.is_finished());
    server.handle_bytes(at(0), format!("llo{GET}").as_bytes());
    assert_eq!(drain(&mut server).len(), 4);
    ok(&mut server);
    assert_eq!(written(&mut server), OK.repeat(2));
}

#[test]
fn an_early_response_closes_before_a_large_rest() {
    for (length, closes) in [(DRAIN, false), (DRAIN + 1, true)] {
        let mut server = fed(&format!("POST / HTTP/1.1\r\nHost: x\r\nContent-Length: {length}\r\n\r\n"));
        drain(&mut server);
        ok(&mut server);
        assert_eq!(written(&mut server).contains("Connection: close"), closes, "{length}");
        // What was on its way is dropped, for a while.
        server.handle_bytes(at(0), &std::vec![0; DRAIN as usize]);
        assert_eq!(drain(&mut server).len(), if closes { 0 } else { 2 });
        assert!(!server.is_finished());
        if closes {
            server.handle_bytes(at(0), b"x");
            assert!(server.is_finished());
        }
    }
}

#[test]
fn a_chunked_rest_is_bounded_too() {
    let mut server = fed("POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\nfffff\r\n");
    drain(&mut server);
    ok(&mut server);
    server.handle_bytes(at(0), &std::vec![0; DRAIN as usize]);
    assert!(!server.is_finished());
    server.handle_bytes(at(0), &[0]);
    assert!(server.is_finished());
}

#[test]
fn what_is_refused_is_answered_once_and_closed() {
    let many: String = (0..9).map(|i| format!("A{i}: b\r\n")).collect();
    let long = "a".repeat(600);
    let cases = [
        ("GET / HTTP/1.1\r\n\r\n".into(), 400),
        ("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".into(), 505),
        (format!("GET / HTTP/1.1\r\nHost: x\r\n{many}\r\n"), 431),
        (format!("GET /{long}"), 431),
        ("POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: gzip\r\n\r\n".into(), 501),
        ("POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n".into(), 400),
    ];
    for (bytes, status) in cases {
        let mut server = fed(&bytes);
        assert_eq!(drain(&mut server), []);
        let text = written(&mut server);
        assert!(text.starts_with(&format!("HTTP/1.1 {status} ")), "{text}");
        assert!(text.ends_with("\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"), "{text}");
        server.handle_bytes(at(1), GET.as_bytes());
        assert_eq!(drain(&mut server), []);
        assert_eq!(server.transmit(), b"");
        server.handle_timeout(at(999));
        assert!(!server.is_finished());
        server.handle_timeout(at(1_000));
        assert!(server.is_finished(), "{bytes:?}");
    }
}

#[test]
fn a_broken_chunk_aborts_the_exchange() {
    let bytes = "POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n1\r\naX";
    let mut server = fed(bytes);
    assert_eq!(server.fault(), Some("a chunk does not end with CRLF"));
    let events = drain(&mut server);
    assert_eq!(events[1..], [Event::Body(b"a".to_vec()), Event::Aborted]);
    assert!(written(&mut server).starts_with("HTTP/1.1 400 "));
    assert_eq!(server.respond(at(0), &ResponseHead::new(200), BodyLength::Empty), Ok(()));
    assert_eq!(server.transmit(), b"");
}

#[test]
fn a_peer_that_goes_away_aborts_an_unfinished_exchange_once() {
    for end in [End::Complete, End::Broken] {
        for begun in [false, true] {
            let mut server = fed(GET);
            drain(&mut server);
            if begun {
                server.respond(at(0), &ResponseHead::new(200), BodyLength::Stream).unwrap();
            }
            server.handle_end(at(0), end);
            server.handle_end(at(0), End::Broken);
            assert_eq!(drain(&mut server), [Event::Aborted]);
            assert!(server.is_finished());
            server.send(b"x");
            server.finish();
            assert_eq!(server.transmit(), b"");
        }
    }
}

#[test]
fn a_finished_response_is_still_written_after_the_peer_ended_in_order() {
    let mut server = fed(GET);
    drain(&mut server);
    ok(&mut server);
    server.handle_end(at(0), End::Complete);
    assert_eq!(drain(&mut server), []);
    assert_eq!((written(&mut server).as_str(), server.is_finished()), (OK, true));
    let mut server = fed(GET);
    drain(&mut server);
    ok(&mut server);
    server.handle_end(at(0), End::Broken);
    assert_eq!((server.transmit(), server.is_finished()), (&b""[..], true));
}

#[test]
fn requests_that_came_before_the_end_are_told_even_if_drained_after_it() {
    for drains_first in [true, false] {
        let mut server = fed(&format!("{GET}{GET}"));
        let mut events = Vec::new();
        assert!(server.poll_output().is_some());
        ok(&mut server);
        if drains_first {
            events = drain(&mut server);
        }
        server.handle_end(at(0), End::Complete);
        events.extend(drain(&mut server));
        assert!(
            matches!(events[..], [Event::End, Event::Request(..), Event::End, Event::Aborted]),
            "{events:?}"
        );
        assert!(server.is_finished());
    }
}

#[test]
fn shutdown_closes_at_once_between_requests_and_after_one_otherwise() {
    let mut idle = server();
    idle.shutdown();
    assert!(idle.is_finished());

    let mut busy = fed(&format!("{GET}{GET}"));
    drain(&mut busy);
    busy.shutdown();
    assert!(!busy.is_finished());
    ok(&mut busy);
    assert!(busy.is_finished());
    assert!(written(&mut busy).contains("Connection: close"));
    assert_eq!(drain(&mut busy), []);

    let mut begun = fed("GET");
    begun.shutdown();
    begun.handle_bytes(at(0), GET.strip_prefix("GET").unwrap().as_bytes());
    assert_eq!(drain(&mut begun).len(), 2);

    let mut undrained = fed(GET);
    assert!(undrained.poll_output().is_some());
    ok(&mut undrained);
    undrained.shutdown();
    assert_eq!(drain(&mut undrained), [Event::End]);
    assert!(undrained.is_finished());
}

#[test]
fn responding_twice_too_early_or_with_an_interim_status_is_a_misuse() {
    let mut server = fed(GET);
    let head = ResponseHead::new(200);
    assert!(server.respond(at(0), &head, BodyLength::Empty).is_err(), "before it was given out");
    drain(&mut server);
    assert!(server.respond(at(0), &ResponseHead::new(101), BodyLength::Empty).is_err());
    assert!(server.respond(at(0), &head, BodyLength::Stream).is_ok());
    assert!(server.respond(at(0), &head, BodyLength::Stream).is_err());
    server.finish();
    assert!(server.respond(at(0), &head, BodyLength::Stream).is_err(), "no request");
}

#[test]
fn commands_without_a_request_do_nothing() {
    let mut server = server();
    server.send(b"x");
    server.finish();
    server.abort();
    server.advance(10);
    server.handle_timeout(at(0));
    assert_eq!((server.transmit(), server.is_finished()), (&b""[..], false));
}

#[test]
fn what_wakes_a_connection_is_named() {
    let mut server = server();
    assert_eq!(server.wake_reason(), Some(WakeReason::Idle));
    server.handle_bytes(at(0), b"POST / HTTP/1.1\r\n");
    assert_eq!(server.wake_reason(), Some(WakeReason::Head));
    server.handle_bytes(at(0), b"Host: x\r\nContent-Length: 2\r\n\r\n");
    drain(&mut server);
    assert_eq!(server.wake_reason(), Some(WakeReason::Body));
    server.handle_bytes(at(0), b"{}");
    drain(&mut server);
    assert_eq!(server.wake_reason(), None);
    ok(&mut server);
    server.handle_timeout(at(0));
    assert_eq!(server.wake_reason(), Some(WakeReason::Write));
    written(&mut server);
    server.handle_bytes(at(0), b"nonsense\r\n\r\n");
    written(&mut server);
    assert_eq!(server.wake_reason(), Some(WakeReason::Linger));
}

/// RFC 9110, 6.6.1: with a clock there is a date, in answers of our own, too; without one there is none.
#[test]
fn responses_are_dated_by_the_clock() {
    let now = |unix| Now::new(at(0).mono, Duration::from_secs(unix));
    for (unix, date) in [(784_111_777, "Date: Sun, 06 Nov 1994 08:49:37 GMT\r\n"), (0, "")] {
        let mut server = ServerConnection::new(at(0), &limits());
        server.handle_bytes(at(0), GET.as_bytes());
        drain(&mut server);
        server.respond(now(unix), &ResponseHead::new(202), BodyLength::Empty).unwrap();
        assert_eq!(written(&mut server), format!("HTTP/1.1 202 Accepted\r\n{date}Content-Length: 0\r\n\r\n"));
        server.handle_bytes(now(unix), b"nonsense\r\n\r\n");
        let refusal = written(&mut server);
        assert_eq!((refusal.contains("Date: "), refusal.contains(date)), (unix > 0, true), "{refusal}");
    }
    let mut server = fed(GET);
    drain(&mut server);
    let mut head = ResponseHead::new(202);
    head.headers.push("date", "Thu, 01 Jan 1970 00:00:00 GMT");
    server.respond(now(784_111_777), &head, BodyLength::Empty).unwrap();
    assert_eq!(written(&mut server).matches("GMT").count(), 1);
}

/// RFC 9110, 10.1.1
#[test]
fn an_expectation_that_cannot_be_met_is_refused() {
    let mut server =
        fed("POST / HTTP/1.1\r\nHost: x\r\nExpect: 100-continue, tea\r\nContent-Length: 2\r\n\r\n");
    assert_eq!(drain(&mut server), []);
    assert!(written(&mut server).starts_with("HTTP/1.1 417 Expectation Failed\r\n"));
    // HTTP/1.0 knows no expectations.
    assert_eq!(drain(&mut fed("POST / HTTP/1.0\r\nExpect: tea\r\nContent-Length: 0\r\n\r\n")).len(), 2);
}

/// RFC 9110, 5.6.1.2
#[test]
fn an_empty_expectation_is_none() {
    for (expect, answer) in [("", ""), (" , ", ""), (",100-continue", "HTTP/1.1 100 Continue\r\n\r\n")] {
        let mut server =
            fed(&format!("POST / HTTP/1.1\r\nHost: x\r\nExpect:{expect}\r\nContent-Length: 2\r\n\r\n"));
        assert_ne!(drain(&mut server), [], "{expect}");
        assert_eq!(written(&mut server), answer, "{expect}");
    }
}
