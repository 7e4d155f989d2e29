//! Connections of HTTP/1.1 at both ends, and streams in pieces.

use mcp_proto::head::{RequestHead, ResponseHead};
use mcp_proto::limits::Limits;
use mcp_proto::wire::http1::{BodyLength, ClientConnection, ServerConnection};
use mcp_proto::wire::lines::Lines;
use mcp_proto::wire::sse::Decoder;

use super::{Reader, SECRET, now};

/// What is read of a peer and written to it, in pieces.
#[test]
fn a_connection_of_http_prints_no_payload() {
    let limits = Limits::default();
    let (mut client, mut server) =
        (ClientConnection::new(now(), &limits), ServerConnection::new(now(), &limits));
    let mut reader = Reader::default();
    let mut head = RequestHead::new("POST", format!("/mcp?key={SECRET}"));
    head.headers.push("Host", "h.example");
    head.headers.push("Authorization", format!("Bearer {SECRET}"));
    client.request(&head, BodyLength::Known(SECRET.len() as u64)).unwrap();
    client.send(SECRET.as_bytes());
    client.finish();
    reader.read("sent", &client);
    let sent = client.transmit().to_vec();
    client.advance(sent.len());
    for piece in sent.chunks(20) {
        server.handle_bytes(now(), piece);
        reader.read("received", &server);
        while let Some(output) = server.poll_output() {
            reader.read("received", &output);
        }
    }
    let head = ResponseHead::new(200);
    server.respond(now(), &head, BodyLength::Known(SECRET.len() as u64)).unwrap();
    server.send(SECRET.as_bytes());
    server.finish();
    reader.read("answered", &server);
    let sent = server.transmit().to_vec();
    assert!(sent.ends_with(SECRET.as_bytes()));
    for piece in sent.chunks(SECRET.len() + 1) {
        client.handle_bytes(now(), piece);
        reader.read("answered", &client);
        while let Some(output) = client.poll_output() {
            reader.read("answered", &output);
        }
    }
    reader.judge(20);
}

/// Lines and events, whole and as far as they have come.
#[test]
fn what_cuts_a_stream_prints_no_payload() {
    let (mut lines, mut events) = (Lines::new(1_000), Decoder::new(1_000, 64));
    let mut reader = Reader::default();
    let text = format!("data: {SECRET}\n\n");
    for (start, end) in [(0, text.len() - 2), (text.len() - 2, text.len()), (0, text.len())] {
        let bytes = text.as_bytes().get(start..end).unwrap();
        let mut rest = bytes;
        while let Some(line) = lines.next(&mut rest) {
            reader.read("line", &line);
        }
        let mut rest = bytes;
        while let Some(item) = events.next(&mut rest) {
            reader.read("event", &item);
        }
        reader.read("lines", &lines);
        reader.read("events", &events);
    }
    reader.judge(10);
}
