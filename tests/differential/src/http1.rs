//! HTTP/1.1, beside hyper.

use std::convert::Infallible;
use std::future::{Future, poll_fn};
use std::io;
use std::pin::{Pin, pin};
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll, Waker};

use hyper::body::{Body, Incoming};
use hyper::rt::{Read, ReadBufCursor, Write};
use hyper::service::service_fn;
use hyper::{Request, Response};
use mcp_proto::head::{BodyLength, End, Headers, RequestHead, ResponseHead};
use mcp_proto::limits::Limits;
use mcp_proto::time::Now;
use mcp_proto::wire::http1::{ClientConnection, ClientOutput, ServerConnection, ServerOutput};

/// Fields that a head may have, for both.
const FIELDS: usize = 64;

fn limits() -> Limits {
    let mut limits = Limits::default();
    limits.head_fields = FIELDS;
    limits
}

/// A message that came whole.
#[derive(Debug, PartialEq, Eq)]
struct Message {
    /// The method and target, or the status.
    start: String,
    fields: Vec<(String, Vec<u8>)>,
    body: Vec<u8>,
}

/// The bytes, and then the end; what is written is thrown away.
struct Bytes {
    bytes: Vec<u8>,
    read: usize,
    /// Nothing comes before something was written: what precedes a request is no response.
    answers: bool,
}

impl Bytes {
    fn new(bytes: &[u8], answers: bool) -> Self {
        Self { bytes: bytes.to_vec(), read: 0, answers }
    }
}

impl Read for Bytes {
    fn poll_read(
        mut self: Pin<&mut Self>,
        _: &mut Context<'_>,
        mut into: ReadBufCursor<'_>,
    ) -> Poll<io::Result<()>> {
        if self.answers {
            return Poll::Pending;
        }
        let rest = self.bytes.get(self.read..).unwrap_or_default();
        let count = rest.len().min(into.remaining());
        into.put_slice(&rest[..count]);
        self.read += count;
        Poll::Ready(Ok(()))
    }
}

impl Write for Bytes {
    fn poll_write(mut self: Pin<&mut Self>, _: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        self.answers = false;
        Poll::Ready(Ok(bytes.len()))
    }

    fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }
}

/// Polls as long as anything comes of it: nothing here waits for anybody else.
fn run(mut future: Pin<&mut dyn Future<Output = ()>>) {
    for _ in 0..500 {
        if future.as_mut().poll(&mut Context::from_waker(Waker::noop())).is_ready() {
            return;
        }
    }
}

/// The whole body, if it has a proper end.
async fn whole(mut body: Incoming) -> Option<Vec<u8>> {
    let mut bytes = Vec::new();
    while let Some(frame) = poll_fn(|cx| Pin::new(&mut body).poll_frame(cx)).await {
        if let Ok(data) = frame.ok()?.into_data() {
            bytes.extend_from_slice(&data);
        }
    }
    Some(bytes)
}

fn fields_of(map: &hyper::HeaderMap) -> Vec<(String, Vec<u8>)> {
    let fields = map.iter().map(|(name, value)| (name.as_str().to_owned(), trimmed(value.as_bytes())));
    sorted(fields.collect())
}

fn fields(headers: &Headers) -> Vec<(String, Vec<u8>)> {
    sorted(headers.iter().map(|(name, value)| (name.to_ascii_lowercase(), trimmed(value))).collect())
}

/// Only the order of fields with one name means something. A length that is said twice hyper repeats once.
fn sorted(mut fields: Vec<(String, Vec<u8>)>) -> Vec<(String, Vec<u8>)> {
    fields.sort_by(|one, other| one.0.cmp(&other.0));
    fields.dedup_by(|one, other| one.0 == "content-length" && one == other);
    fields
}

fn trimmed(value: &[u8]) -> Vec<u8> {
    value.trim_ascii().to_vec()
}

fn their_requests(stream: &[u8]) -> Vec<Message> {
    let seen = Arc::new(Mutex::new(Vec::new()));
    let service = {
        let seen = seen.clone();
        service_fn(move |request: Request<Incoming>| {
            let seen = seen.clone();
            async move {
                let (head, body) = request.into_parts();
                if let Some(body) = whole(body).await {
                    let start = format!("{} {}", head.method, head.uri);
                    seen.lock().unwrap().push(Message { start, fields: fields_of(&head.headers), body });
                }
                Ok::<_, Infallible>(Response::new(String::from("ok")))
            }
        })
    };
    let mut builder = hyper::server::conn::http1::Builder::new();
    builder.max_headers(FIELDS).half_close(true);
    let mut serving = builder.serve_connection(Bytes::new(stream, false), service);
    run(pin!(async move { drop(poll_fn(|cx| Pin::new(&mut serving).poll(cx)).await) }));
    std::mem::take(&mut *seen.lock().unwrap())
}

fn our_requests(stream: &[u8]) -> Vec<Message> {
    let (now, mut seen) = (Now::default(), Vec::new());
    let mut server = ServerConnection::new(now, &limits());
    server.handle_bytes(now, stream);
    server.handle_end(now, End::Complete);
    let mut message = None;
    while let Some(output) = server.poll_output() {
        match output {
            ServerOutput::Request { head, .. } => {
                let start = format!("{} {}", head.method, head.target);
                message = Some(Message { start, fields: fields(&head.headers), body: Vec::new() });
            }
            ServerOutput::Body(bytes) => {
                let message = message.as_mut().expect("a head comes first");
                message.body.extend_from_slice(bytes);
            }
            ServerOutput::End => {
                seen.extend(message.take());
                let answer = server.respond(now, &ResponseHead::new(200), BodyLength::Known(2));
                assert_eq!(answer, Ok(()), "a request that was given out can be answered");
                server.send(b"ok");
                server.finish();
            }
            _ => break,
        }
        server.advance(server.transmit().len());
    }
    seen
}

/// Requests on one connection: as many of them as we serve hyper serves, too, and they are the same.
pub fn fuzz_requests(stream: &[u8]) {
    let ours = our_requests(stream);
    let theirs = their_requests(stream);
    for (number, our) in ours.iter().enumerate() {
        assert_eq!(Some(our), theirs.get(number), "request {number}");
    }
}

fn their_response(stream: &[u8]) -> Option<Message> {
    let found = Arc::new(Mutex::new(None));
    let keep = found.clone();
    let stream = stream.to_vec();
    run(pin!(async move {
        let mut builder = hyper::client::conn::http1::Builder::new();
        builder.max_headers(FIELDS);
        let Ok((mut sender, mut connection)) = builder.handshake(Bytes::new(&stream, true)).await else {
            return;
        };
        let request = Request::builder().uri("/mcp").header("host", "localhost").body(String::new());
        let mut fetching = Box::pin(async move {
            let response = sender.send_request(request.ok()?).await.ok()?;
            let (head, body) = response.into_parts();
            let body = whole(body).await?;
            Some(Message { start: head.status.as_str().to_owned(), fields: fields_of(&head.headers), body })
        });
        let message = poll_fn(|cx| {
            let _ = Pin::new(&mut connection).poll(cx);
            fetching.as_mut().poll(cx)
        });
        *keep.lock().unwrap() = message.await;
    }));
    found.lock().unwrap().take()
}

fn our_response(stream: &[u8]) -> Option<Message> {
    let now = Now::default();
    let mut client = ClientConnection::new(now, &limits());
    let mut head = RequestHead::new("GET", "/mcp");
    head.headers.push("Host", "localhost");
    client.request(&head, BodyLength::Empty).expect("a new connection takes a request");
    client.advance(client.transmit().len());
    client.handle_bytes(now, stream);
    client.handle_end(now, End::Complete);
    let mut message = None;
    while let Some(output) = client.poll_output() {
        match output {
            ClientOutput::Head(head) => {
                let (start, fields) = (head.status.to_string(), fields(&head.headers));
                message = Some(Message { start, fields, body: Vec::new() });
            }
            ClientOutput::Body(bytes) => message.as_mut()?.body.extend_from_slice(bytes),
            ClientOutput::End => return message,
            _ => return None,
        }
    }
    None
}

/// A response: one that we take hyper takes, too, and it is the same.
pub fn fuzz_responses(stream: &[u8]) {
    if let Some(our) = our_response(stream) {
        assert_eq!(Some(our), their_response(stream));
    }
}
