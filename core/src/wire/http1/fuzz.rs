//! Bodies of the fuzz targets: whatever comes in, in whatever pieces, means the same and is bounded.

use super::{BodyLength, ClientConnection, ClientOutput, ServerConnection, ServerOutput};
use crate::head::{End, RequestHead, ResponseHead, WholeBody};
use crate::limits::Limits;
use crate::time::Now;
use alloc::string::String;
use alloc::vec::Vec;

const CONTINUE: &[u8] = b"HTTP/1.1 100 Continue\r\n\r\n";

/// An output of either connection that can be kept and compared; adjoining body bytes are joined.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Event {
    Request(RequestHead, Option<u64>),
    Response(ResponseHead),
    Body(Vec<u8>),
    End,
    Aborted,
    Failed { unsent: bool },
}

/// What a connection said and what it wrote.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Transcript {
    pub(super) events: Vec<Event>,
    pub(super) written: Vec<u8>,
}

impl Transcript {
    pub(super) fn push(&mut self, event: Event) {
        match (self.events.last_mut(), event) {
            (Some(Event::Body(bytes)), Event::Body(more)) => bytes.extend_from_slice(&more),
            (_, event) => self.events.push(event),
        }
    }

    /// Drains a server that answers each complete request with `ok`.
    pub(super) fn drain_server(&mut self, server: &mut ServerConnection) {
        while let Some(output) = server.poll_output() {
            let event = match output {
                ServerOutput::Request { head, body, .. } => Event::Request(head, body),
                ServerOutput::Body(bytes) => Event::Body(bytes.into()),
                ServerOutput::End => Event::End,
                ServerOutput::Aborted => Event::Aborted,
            };
            let is_end = event == Event::End;
            self.push(event);
            if is_end {
                let mut memory = server.spare();
                memory.extend_from_slice(b"no room for a head, or too little, or enough");
                memory.truncate(self.events.len() * 8);
                let room = memory.len();
                memory.extend_from_slice(b"ok");
                let body = WholeBody::from(memory, room);
                let answer = server.respond_whole(Now::default(), &ResponseHead::new(200), body);
                assert_eq!(answer, Ok(()), "a request that was given out can be answered");
                server.finish();
            }
        }
        self.written.extend_from_slice(server.transmit());
        server.advance(server.transmit().len());
    }

    pub(super) fn drain_client(&mut self, client: &mut ClientConnection) {
        while let Some(output) = client.poll_output() {
            self.push(match output {
                ClientOutput::Head(head) => Event::Response(head),
                ClientOutput::Body(bytes) => Event::Body(bytes.into()),
                ClientOutput::End => Event::End,
                ClientOutput::Failed { unsent, .. } => Event::Failed { unsent },
            });
        }
        self.written.extend_from_slice(client.transmit());
        client.advance(client.transmit().len());
    }

    /// Without the interim answers: whether one is sent depends on whether the body was asked for before it
    /// turned out broken.
    fn without_continue(mut self) -> Self {
        let mut kept = Vec::new();
        let mut rest = self.written.as_slice();
        while let Some(first) = rest.first() {
            rest = match rest.strip_prefix(CONTINUE) {
                Some(after) => after,
                None => {
                    kept.push(*first);
                    rest.get(1..).unwrap_or_default()
                }
            };
        }
        self.written = kept;
        self
    }
}

/// Small bounds, so that short inputs reach them.
pub(super) fn limits() -> Limits {
    Limits { head: 512, head_fields: 8, ..Limits::default() }
}

/// A generator for the tests: xorshift64.
#[derive(Debug)]
pub(super) struct Chance(u64);

impl Chance {
    pub(super) fn new(seed: u64) -> Self {
        Self(seed | 1)
    }

    /// A number from 0 to `bound`, inclusive.
    pub(super) fn up_to(&mut self, bound: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 % (bound as u64).saturating_add(1)) as usize
    }

    /// Cuts bytes into pieces of up to `longest`.
    pub(super) fn pieces<'a>(&mut self, mut bytes: &'a [u8], longest: usize) -> Vec<&'a [u8]> {
        let mut pieces = Vec::new();
        while !bytes.is_empty() {
            let (piece, rest) = bytes.split_at((1 + self.up_to(longest)).min(bytes.len()));
            pieces.push(piece);
            bytes = rest;
        }
        pieces
    }
}

/// What a server makes of these pieces, drained after each of them or at the end only.
pub(super) fn serve(pieces: &[&[u8]], drains_each: bool, end: Option<End>) -> Transcript {
    let now = Now::default();
    let mut server = ServerConnection::new(now, &limits());
    let mut transcript = Transcript::default();
    for piece in pieces {
        server.handle_bytes(now, piece);
        if drains_each {
            transcript.drain_server(&mut server);
        }
        server.handle_timeout(now);
    }
    transcript.drain_server(&mut server);
    if let Some(end) = end {
        server.handle_end(now, end);
        transcript.drain_server(&mut server);
        assert!(server.is_finished(), "an ended connection is over");
    }
    transcript
}

/// What a client makes of these pieces as the response to a request.
pub(super) fn fetch(method: &str, pieces: &[&[u8]], drains_each: bool, end: Option<End>) -> Transcript {
    let now = Now::default();
    let mut client = ClientConnection::new(now, &limits());
    let mut transcript = Transcript::default();
    let mut head = RequestHead::new(method, "/mcp");
    head.headers.push("Host", "localhost");
    assert_eq!(client.request(&head, BodyLength::Empty), Ok(()), "a new connection takes a request");
    transcript.drain_client(&mut client);
    for piece in pieces {
        client.handle_bytes(now, piece);
        if drains_each {
            transcript.drain_client(&mut client);
        }
        client.handle_timeout(now);
    }
    if let Some(end) = end {
        client.handle_end(now, end);
        assert!(client.is_finished(), "an ended connection is over");
    }
    transcript.drain_client(&mut client);
    transcript
}

/// Any bytes from a client.
#[doc(hidden)]
pub fn fuzz_server(data: &[u8]) {
    let Some((seed, stream)) = seed(data) else { return };
    let pieces = Chance::new(seed).pieces(stream, 40);
    for end in [End::Complete, End::Broken] {
        let whole = serve(&[stream], false, Some(end)).without_continue();
        assert_eq!(whole, serve(&pieces, true, Some(end)).without_continue(), "splits do not matter");
        assert_eq!(whole, serve(&pieces, false, Some(end)).without_continue(), "nor when it is drained");
    }
    let now = Now::default();
    let mut server = ServerConnection::new(now, &limits());
    for piece in pieces.iter().cycle().take(2_000) {
        if !server.wants_read() {
            break;
        }
        server.handle_bytes(now, piece);
        assert!(server.held() <= 2 * limits().head + piece.len() + 256, "held: {}", server.held());
    }
}

/// Any bytes from a server.
#[doc(hidden)]
pub fn fuzz_client(data: &[u8]) {
    let Some((seed, stream)) = seed(data) else { return };
    let pieces = Chance::new(seed).pieces(stream, 40);
    let method = if seed % 4 == 0 { "HEAD" } else { "GET" };
    for end in [End::Complete, End::Broken] {
        let whole = fetch(method, &[stream], false, Some(end));
        assert_eq!(whole, fetch(method, &pieces, true, Some(end)), "splits do not matter");
        assert_eq!(whole, fetch(method, &pieces, false, Some(end)), "nor when it is drained");
        let last = |event: &&Event| matches!(event, Event::End | Event::Failed { .. });
        assert_eq!(whole.events.iter().filter(last).count(), 1, "an exchange has one end");
    }
    let now = Now::default();
    let mut client = ClientConnection::new(now, &limits());
    let mut head = RequestHead::new(String::from(method), "/mcp");
    head.headers.push("Host", "localhost");
    assert_eq!(client.request(&head, BodyLength::Empty), Ok(()), "a new connection takes a request");
    client.advance(client.transmit().len());
    for piece in pieces.iter().cycle().take(2_000) {
        if !client.wants_read() {
            break;
        }
        client.handle_bytes(now, piece);
        assert!(client.held() <= 2 * limits().head + piece.len(), "held: {}", client.held());
    }
}

/// The first byte decides on the pieces, the others are the stream.
fn seed(data: &[u8]) -> Option<(u64, &[u8])> {
    let (first, stream) = data.split_first()?;
    Some((u64::from(*first).wrapping_mul(0x9e37_79b9_7f4a_7c15), stream))
}
