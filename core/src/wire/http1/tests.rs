//! Both sides against each other, and the fuzz bodies on what is known to be hard.

use super::fuzz::{Chance, Event, Transcript, fuzz_client, fuzz_server};
use super::*;
use crate::head::{End, RequestHead, ResponseHead};
use crate::limits::Limits;
use crate::time::Now;
use std::vec;
use std::vec::Vec;

/// A client and a server, and a wire that cuts what goes over it anywhere.
struct Pair {
    client: ClientConnection,
    server: ServerConnection,
    chance: Chance,
    at_client: Transcript,
    at_server: Vec<Event>,
}

impl Pair {
    fn new(seed: u64) -> Self {
        let limits = Limits::default();
        Self {
            client: ClientConnection::new(Now::default(), &limits),
            server: ServerConnection::new(Now::default(), &limits),
            chance: Chance::new(seed),
            at_client: Transcript::default(),
            at_server: Vec::new(),
        }
    }

    /// Moves bytes until nothing moves. `answer` sees each event of the server.
    fn run(&mut self, mut answer: impl FnMut(&mut ServerConnection, &Event)) {
        let now = Now::default();
        loop {
            let mut moved = false;
            let n = self.chance.up_to(self.client.transmit().len());
            let n = if n == 0 { self.client.transmit().len().min(1) } else { n };
            if n > 0 {
                let bytes = self.client.transmit()[..n].to_vec();
                self.client.advance(n);
                self.server.handle_bytes(now, &bytes);
                moved = true;
            }
            while let Some(output) = self.server.poll_output() {
                let event = match output {
                    ServerOutput::Request { head, body, .. } => Event::Request(head, body),
                    ServerOutput::Body(bytes) => Event::Body(bytes.to_vec()),
                    ServerOutput::End => Event::End,
                    ServerOutput::Aborted => Event::Aborted,
                };
                answer(&mut self.server, &event);
                self.at_server.push(event);
                moved = true;
            }
            let n = self.chance.up_to(self.server.transmit().len());
            let n = if n == 0 { self.server.transmit().len().min(1) } else { n };
            if n > 0 {
                let bytes = self.server.transmit()[..n].to_vec();
                self.server.advance(n);
                self.client.handle_bytes(now, &bytes);
                moved = true;
            }
            if self.server.is_finished() && self.server.transmit().is_empty() && !self.client.is_finished() {
                self.client.handle_end(now, End::Complete);
                moved = true;
            }
            while let Some(output) = self.client.poll_output() {
                self.at_client.push(match output {
                    ClientOutput::Head(head) => Event::Response(head),
                    ClientOutput::Body(bytes) => Event::Body(bytes.to_vec()),
                    ClientOutput::End => Event::End,
                    ClientOutput::Failed { unsent, .. } => Event::Failed { unsent },
                });
                moved = true;
            }
            if !moved {
                return;
            }
        }
    }
}

fn request(method: &str) -> RequestHead {
    let mut head = RequestHead::new(method, "/mcp?a=b");
    head.headers.push("Host", "localhost:1");
    head
}

/// Sends each part of a request body back as a part of the response body.
fn echo(length: BodyLength) -> impl FnMut(&mut ServerConnection, &Event) {
    move |server, event| match event {
        Event::Request(..) => server.respond(Now::default(), &ResponseHead::new(200), length).unwrap(),
        Event::Body(bytes) => server.send(bytes),
        Event::End => server.finish(),
        other => panic!("{other:?}"),
    }
}

fn body_of(events: &[Event]) -> Vec<u8> {
    let bodies = events.iter().filter_map(|event| match event {
        Event::Body(bytes) => Some(bytes.as_slice()),
        _ => None,
    });
    bodies.collect::<Vec<_>>().concat()
}

#[test]
fn bodies_of_many_sizes_come_back_over_one_connection() {
    let mut pair = Pair::new(7);
    for size in [0, 1, 2, 15, 16, 17, 255, 256, 1_000, 4_095, 4_096, 65_535, 65_536, 300_000] {
        let body: Vec<u8> = (0..size).map(|i| (i * 7 % 251) as u8).collect();
        for known in [true, false] {
            let length = if known { BodyLength::Known(size as u64) } else { BodyLength::Stream };
            pair.at_client = Transcript::default();
            pair.client.request(&request("POST"), length).unwrap();
            for piece in body.chunks(1_777) {
                pair.client.send(piece);
            }
            pair.client.finish();
            pair.run(echo(length));
            assert_eq!(body_of(&pair.at_client.events), body, "{size} {known}");
            assert_eq!(pair.at_client.events.last(), Some(&Event::End));
            assert!(pair.client.can_reuse() && !pair.server.is_finished(), "{size} {known}");
        }
    }
}

#[test]
fn head_get_and_post_follow_each_other_on_one_connection() {
    let mut pair = Pair::new(99);
    for method in ["HEAD", "GET", "HEAD", "POST", "DELETE"] {
        pair.at_client = Transcript::default();
        pair.client.request(&request(method), BodyLength::Empty).unwrap();
        pair.run(|server, event| {
            if *event == Event::End {
                server.respond(Now::default(), &ResponseHead::new(200), BodyLength::Known(3)).unwrap();
                server.send(b"abc");
                server.finish();
            }
        });
        let body: &[u8] = if method == "HEAD" { b"" } else { b"abc" };
        assert_eq!(body_of(&pair.at_client.events), body);
        assert!(pair.client.can_reuse());
    }
}

#[test]
fn expect_continue_is_answered_and_then_the_response_follows() {
    let mut pair = Pair::new(5);
    let mut head = request("POST");
    head.headers.push("Expect", "100-continue");
    pair.client.request(&head, BodyLength::Known(5)).unwrap();
    pair.client.send(b"hello");
    pair.client.finish();
    pair.run(|server, event| {
        if *event == Event::End {
            server.respond(Now::default(), &ResponseHead::new(202), BodyLength::Empty).unwrap();
        }
    });
    assert_eq!(pair.at_client.events.len(), 2, "{:?}", pair.at_client.events);
    assert!(pair.client.can_reuse());
}

#[test]
fn an_aborted_response_is_seen_as_truncated() {
    for length in [BodyLength::Known(100), BodyLength::Stream] {
        let mut pair = Pair::new(11);
        pair.client.request(&request("GET"), BodyLength::Empty).unwrap();
        pair.run(|server, event| {
            if *event == Event::End {
                server.respond(Now::default(), &ResponseHead::new(200), length).unwrap();
                server.send(b"half");
                server.abort();
            }
        });
        assert_eq!(body_of(&pair.at_client.events), b"half");
        assert_eq!(pair.at_client.events.last(), Some(&Event::Failed { unsent: false }));
    }
}

/// CAN-03, B41: the peer that closes the response stream cancels the request, and is reported once.
#[test]
fn a_client_that_goes_away_aborts_the_exchange_once() {
    let mut pair = Pair::new(3);
    pair.client.request(&request("POST"), BodyLength::Empty).unwrap();
    pair.run(|server, event| {
        if *event == Event::End {
            server.respond(Now::default(), &ResponseHead::new(200), BodyLength::Stream).unwrap();
            server.send(b"data: 1\n\n");
        }
    });
    pair.client.abort();
    pair.server.handle_end(Now::default(), End::Complete);
    pair.server.handle_end(Now::default(), End::Broken);
    assert_eq!(pair.server.poll_output(), Some(ServerOutput::Aborted));
    assert_eq!(pair.server.poll_output(), None);
    assert!(pair.server.is_finished());
}

/// Inputs whose mutations reach every state of both readers.
fn corpus() -> Vec<&'static [u8]> {
    vec![
        b"POST /mcp HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\nhelloGET / HTTP/1.1\r\nHost: a\r\n\r\n",
        b"POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n5;x=y\r\nhello\r\n0\r\nA: b\r\n\r\nGET / HTTP/1.0\r\n\r\n",
        b"POST / HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nxX\r\n",
        b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello",
        b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\na\r\n0123456789\r\n0\r\n\r\n",
        b"HTTP/1.0 200 OK\r\n\r\nuntil close",
        b"HTTP/1.1 204 No Content\r\nConnection: close\r\n\r\nHTTP/1.1 200 OK\r\n\r\n",
    ]
}

#[test]
fn fuzz_bodies_hold_on_mutated_inputs() {
    let mut chance = Chance::new(2_026);
    let alphabet = b"\r\n :;0a,\0\x80";
    for round in 0..3_000 {
        let seeds = corpus();
        let mut data = vec![round as u8];
        data.extend_from_slice(seeds[round % seeds.len()]);
        for _ in 0..chance.up_to(4) {
            let at = chance.up_to(data.len() - 1);
            let byte = alphabet[chance.up_to(alphabet.len() - 1)];
            match chance.up_to(3) {
                0 => data[at] = byte,
                1 => data.insert(at, byte),
                2 => drop(data.remove(at)),
                _ => {
                    let other = seeds[chance.up_to(seeds.len() - 1)];
                    let cut = chance.up_to(other.len());
                    data.extend_from_slice(&other[cut..]);
                }
            }
            if data.is_empty() {
                data.push(0);
            }
        }
        fuzz_server(&data);
        fuzz_client(&data);
    }
}
