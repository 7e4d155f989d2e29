//! Somebody's own HTTP client in the place of ours.

use std::collections::BTreeMap;
use std::fmt;
use std::future::{Future, poll_fn};
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::Poll;

use mcp_proto::client::{Endpoint as Url, ExchangeId, HttpRequest};
use mcp_proto::head::{End, RequestHead, ResponseHead};
use mcp_proto::time::Now;

use super::super::Traffic;
use super::super::desk::Link;
use super::guarded::Guarded;
use super::{Carrier, HttpClient};
use crate::hook;
use crate::runtime::{BoxFuture, Runtime};
use crate::wake::WakerSlot;

/// An HTTP client of your own: it sends requests and tells what comes back. Given to
/// [`ClientBuilder::exchanger`](crate::ClientBuilder::exchanger), it takes the place of the connections that this library
/// opens by itself, with their TLS, proxies and limits; everything else stays the same.
///
/// Any function that takes an [`Outgoing`] and a [`Response`] and returns a future is one.
///
/// It must not follow redirects, nor send a request again: both are decided by the protocol. Several requests are under
/// way at once, and a response may be an event stream that goes on for hours, so that what has come is to be told as it
/// comes.
///
/// Bodies are told as they came, and the head says how they are compressed. Of a client that decompresses them by itself
/// and leaves that field in the head, as the `fetch` of a browser does, say so: [`Response::decoded`].
pub trait Exchanger: Send + Sync + 'static {
    /// Sends a request and tells `response` what becomes of it. The future is dropped when nobody wants to know any more:
    /// the request is then to be given up.
    fn exchange(&self, request: Outgoing, response: Response) -> BoxFuture<()>;

    /// Whether it may add credentials to requests, such as a token of its own, a certificate or cookies. Default yes;
    /// for a function it is always yes. Nobody knows here then whose answers they are, so that those that the server calls
    /// private are not kept ([`CacheScope::Private`](mcp_proto::model::CacheScope)). Say no where requests go out with
    /// the fields that they have here and nothing else.
    fn adds_credentials(&self) -> bool {
        true
    }
}

impl<F, A> Exchanger for F
where
    F: Fn(Outgoing, Response) -> A + Send + Sync + 'static,
    A: Future<Output = ()> + Send + 'static,
{
    fn exchange(&self, request: Outgoing, response: Response) -> BoxFuture<()> {
        Box::pin(self(request, response))
    }
}

/// A request on its way out.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Outgoing {
    /// Where it goes: scheme, host and port. The target is in the head.
    pub server: Url,
    /// Method, target and fields. `Host` is among them, `Content-Length` is not.
    pub head: RequestHead,
    body: Body,
}

/// Shared with the machine, which may have to send it again, or not.
#[derive(Clone)]
enum Body {
    Of(Arc<HttpRequest>),
    #[cfg(feature = "auth")]
    Bytes(Arc<[u8]>),
}

/// Prints how long it is.
impl fmt::Debug for Body {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} bytes", self.bytes().len())
    }
}

impl Body {
    fn bytes(&self) -> &[u8] {
        match self {
            Self::Of(request) => &request.body,
            #[cfg(feature = "auth")]
            Self::Bytes(bytes) => bytes,
        }
    }
}

impl Outgoing {
    #[cfg(feature = "auth")]
    pub(super) fn new(server: Url, head: RequestHead, body: Vec<u8>) -> Self {
        Self { server, head, body: Body::Bytes(body.into()) }
    }

    /// The body; empty for GET and DELETE.
    pub fn body(&self) -> &[u8] {
        self.body.bytes()
    }

    /// The whole URL. It may hold secrets.
    pub fn url(&self) -> String {
        format!("{}{}", self.server.origin(), self.head.target)
    }
}

/// What a response goes into: its head, then its body in pieces, then its end. One that is dropped before its end counts as
/// broken off.
pub struct Response {
    hears: Arc<dyn Hears>,
    begun: bool,
    ended: bool,
    decoded: bool,
}

/// Whoever hears of a response.
pub(super) trait Hears: Send + Sync {
    fn head(&self, head: ResponseHead);
    fn body(&self, bytes: &[u8]);
    fn end(&self, end: End);
    fn failed(&self, reason: &str, unsent: bool);
}

impl Response {
    pub(super) fn new(hears: Arc<dyn Hears>) -> Self {
        Self { hears, begun: false, ended: false, decoded: false }
    }

    /// Bodies are told decompressed, whatever the head says: its `Content-Encoding` and `Content-Length` are about what
    /// came over the network.
    #[must_use]
    pub fn decoded(mut self) -> Self {
        self.decoded = true;
        self
    }

    /// The head has come.
    pub fn head(&mut self, mut head: ResponseHead) {
        self.begun = true;
        if self.decoded {
            head.headers.remove("content-encoding");
            head.headers.remove("content-length");
        }
        self.hears.head(head);
    }

    /// A part of the body has come.
    pub fn body(&mut self, bytes: &[u8]) {
        self.hears.body(bytes);
    }

    /// The response has ended.
    pub fn end(mut self, end: End) {
        self.ended = true;
        self.hears.end(end);
    }

    /// There is no response, or no more of it, for this reason, which people may read. `unsent` when the server surely
    /// never saw the request, so that it may be sent again whatever it does.
    pub fn failed(mut self, reason: &str, unsent: bool) {
        self.ended = true;
        self.hears.failed(reason, unsent);
    }
}

impl Drop for Response {
    fn drop(&mut self) {
        if self.ended {
            return;
        }
        if self.begun {
            self.hears.end(End::Broken);
        } else {
            self.hears.failed("the exchanger has dropped the request", false);
        }
    }
}

impl fmt::Debug for Response {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Response").field("begun", &self.begun).finish_non_exhaustive()
    }
}

/// An exchange that may be given up.
#[derive(Default)]
pub(super) struct Running {
    given_up: AtomicBool,
    waker: WakerSlot,
}

impl Running {
    pub(super) fn give_up(&self) {
        self.given_up.store(true, Ordering::SeqCst);
        self.waker.wake();
    }

    /// Waits for an exchange, unless it is given up before.
    pub(super) async fn wait(&self, exchange: BoxFuture<()>) {
        let mut exchange = pin!(exchange);
        poll_fn(|cx| {
            self.waker.register(cx.waker());
            if self.given_up.load(Ordering::SeqCst) { Poll::Ready(()) } else { exchange.as_mut().poll(cx) }
        })
        .await;
    }
}

/// An application's HTTP client, and what it is at.
pub(super) struct Own {
    exchanger: Arc<dyn Exchanger>,
    pub(super) running: BTreeMap<ExchangeId, Arc<Running>>,
}

impl Own {
    pub(super) fn new(exchanger: Arc<dyn Exchanger>) -> Self {
        Self { exchanger, running: BTreeMap::new() }
    }

    pub(super) fn send(
        &mut self,
        id: ExchangeId,
        head: RequestHead,
        request: Arc<HttpRequest>,
    ) -> Exchanging {
        let running = Arc::<Running>::default();
        self.running.insert(id, running.clone());
        Exchanging { id, head, request, running, exchanger: self.exchanger.clone() }
    }
}

/// A request that the application's client is to send.
pub(super) struct Exchanging {
    id: ExchangeId,
    head: RequestHead,
    request: Arc<HttpRequest>,
    running: Arc<Running>,
    exchanger: Arc<dyn Exchanger>,
}

impl<R: Runtime> HttpClient<R> {
    /// Has the application's client send a request.
    pub(super) fn exchange(&self, exchanging: Exchanging) {
        let Some(client) = self.this.upgrade() else { return };
        let Exchanging { id, head, request, running, exchanger } = exchanging;
        if !request.body.is_empty() {
            self.hooks.traffic(Traffic::Sent(&request.body));
        }
        let outgoing = Outgoing { server: self.url.clone(), head, body: Body::Of(request) };
        let response = Response::new(Arc::new(Heard { client, exchange: id }));
        let mut carried = None;
        hook::call(|| carried = Some(exchanger.exchange(outgoing, response)));
        if let Some(carried) = carried {
            self.runtime.spawn(Box::pin(async move { running.wait(carried).await }));
        }
    }
}

/// Whose response it is.
struct Heard<R: Runtime> {
    client: Arc<HttpClient<R>>,
    exchange: ExchangeId,
}

impl<R: Runtime> Heard<R> {
    fn input(&self, input: impl FnOnce(&mut Guarded, Now)) {
        let now = self.client.runtime.now();
        input(&mut self.client.lock().machine.guarded, now);
        self.client.advance(None);
    }

    /// The same, for the last time.
    fn last(&self, input: impl FnOnce(&mut Guarded, Now)) {
        if let Carrier::Own(own) = &mut self.client.lock().machine.carrier {
            own.running.remove(&self.exchange);
        }
        self.input(input);
    }
}

impl<R: Runtime> Hears for Heard<R> {
    fn head(&self, head: ResponseHead) {
        self.input(|guarded, now| guarded.head(now, self.exchange, head));
    }

    fn body(&self, bytes: &[u8]) {
        self.client.hooks.traffic(Traffic::Received(bytes));
        self.input(|guarded, now| guarded.http.handle_body(now, self.exchange, bytes));
    }

    fn end(&self, end: End) {
        self.last(|guarded, now| guarded.end(now, self.exchange, end));
    }

    fn failed(&self, reason: &str, unsent: bool) {
        self.last(|guarded, now| guarded.failed(now, self.exchange, reason, unsent));
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;

    use super::*;

    impl Hears for Mutex<Vec<ResponseHead>> {
        fn head(&self, head: ResponseHead) {
            self.lock().unwrap().push(head);
        }

        fn body(&self, _: &[u8]) {}

        fn end(&self, _: End) {}

        fn failed(&self, _: &str, _: bool) {}
    }

    /// A client that decompresses by itself leaves fields in the head that are about something else.
    #[test]
    fn what_is_decoded_is_not_decoded_again() {
        let heard = Arc::new(Mutex::new(Vec::new()));
        for response in [Response::new(heard.clone()), Response::new(heard.clone()).decoded()] {
            let mut head = ResponseHead::new(200);
            for (name, value) in
                [("Content-Encoding", "gzip"), ("Content-Length", "20"), ("Content-Type", "x")]
            {
                head.headers.push(name, value);
            }
            let mut response = response;
            response.head(head);
            response.end(End::Complete);
        }
        let heard = heard.lock().unwrap();
        assert_eq!(heard.iter().map(|head| head.headers.iter().count()).collect::<Vec<_>>(), [3, 1]);
        assert_eq!(heard[1].headers.text("content-type"), Some("x"));
    }
}
