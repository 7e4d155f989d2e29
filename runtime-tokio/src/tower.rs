//! The server as a [`tower` service](tower_service::Service), to be mounted in axum, hyper or anything else
//! that speaks `http`.
//!
//! ```
//! use mcp_tokio::tower::IntoService;
//! # use mcp_tokio::{Context, Server, Tool};
//! # #[derive(serde::Deserialize, schemars::JsonSchema)] struct Add { a: f64, b: f64 }
//! let service = Server::new("calculator", "1.0.0")
//!     .tool(Tool::new("add"), async |Add { a, b }: Add, _: Context| Ok(a + b))
//!     .into_service()?;
//! let app: axum::Router = axum::Router::new().route_service("/mcp", service);
//! # Ok::<_, mcp_tokio::Error>(())
//! ```
//!
//! What middleware has put into the extensions of a request is found by handlers in
//! [`Context::extensions`](mcp_driver::Context::extensions); a [`Principal`](mcp_driver::Principal) among them
//! says who makes the request. A server that checks access tokens itself
//! ([`Server::resource_server`](mcp_driver::Server::resource_server)) also serves its metadata: route
//! `/.well-known/oauth-protected-resource` and what is below it to a clone of the service.
//!
//! A server with [`Server::http_sse`](mcp_driver::Server::http_sse) answers at the paths that were given there, so route
//! both of them to clones of the service, without a prefix that the router takes away.
//!
//! Requests must name a loopback host, or one that [`Server::allow_host`](mcp_driver::Server::allow_host) lets
//! in; others are answered 403.

use std::convert::Infallible;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};

use bytes::{Buf, Bytes};
use http::{Request, Response};
use http_body::{Body, Frame, SizeHint};
use mcp_driver::proto::head::{BodyLength, End, RequestHead};
use mcp_driver::{BoxFuture, ExchangeHandle, HttpService, Instant, Runtime};
use tower_service::Service;

use crate::{Error, Server, Tokio};

/// Turns a server into a tower service.
pub trait IntoService {
    /// The service. It answers at any path: where it is mounted is the router's business.
    ///
    /// # Errors
    /// When the definition of the server is not valid, or there is no entropy for session ids.
    fn into_service(self) -> Result<McpService, Error>;
}

impl IntoService for Server {
    fn into_service(self) -> Result<McpService, Error> {
        let service = self.configure(|config| config.http.path = None).into_http_service()?;
        Ok(McpService { service })
    }
}

/// A server that answers HTTP requests. Clones share their sessions.
#[derive(Clone, Debug)]
pub struct McpService {
    service: Arc<HttpService<Tokio>>,
}

impl McpService {
    /// What all clones share: to [`drain`](HttpService::drain) it before the application stops.
    pub fn http_service(&self) -> &Arc<HttpService<Tokio>> {
        &self.service
    }
}

impl<B> Service<Request<B>> for McpService
where
    B: Body + Send + 'static,
    B::Data: Send,
    B::Error: Send,
{
    type Response = Response<ResponseBody>;
    type Error = Infallible;
    type Future = BoxFuture<Result<Response<ResponseBody>, Infallible>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request<B>) -> Self::Future {
        let (parts, body) = request.into_parts();
        let head = RequestHead::from(&parts);
        let exchange = ExchangeHandle::open_with(&self.service, head, parts.extensions.into());
        let timer = Timer { runtime: self.service.runtime().clone(), sleep: None };
        let mut answer =
            Answer { exchange: Some(Aborting(exchange)), body: Box::pin(body), reading: true, timer };
        Box::pin(std::future::poll_fn(move |cx| answer.poll(cx).map(Ok)))
    }
}

/// A request whose response has not begun.
struct Answer<B> {
    exchange: Option<Aborting>,
    body: Pin<Box<B>>,
    reading: bool,
    timer: Timer,
}

impl<B: Body> Answer<B> {
    fn poll(&mut self, cx: &mut Context<'_>) -> Poll<Response<ResponseBody>> {
        let Some(Aborting(exchange)) = &self.exchange else {
            return Poll::Pending;
        };
        // Most requests are answered in this call, and wait for nothing.
        let mut waits = false;
        loop {
            if let Some((head, length)) = exchange.take_head() {
                let timer = std::mem::take(&mut self.timer);
                let left = match length {
                    BodyLength::Empty => Some(0),
                    BodyLength::Known(length) => Some(length),
                    BodyLength::Stream => None,
                };
                let body = ResponseBody { exchange: self.exchange.take(), left, timer };
                return Poll::Ready(head.to_http().map(|()| body));
            }
            let progress = self.reading
                && match self.body.as_mut().poll_frame(cx) {
                    Poll::Pending => false,
                    Poll::Ready(Some(Ok(frame))) => {
                        if let Ok(data) = frame.into_data() {
                            feed(exchange, data);
                        }
                        true
                    }
                    Poll::Ready(end) => {
                        self.reading = false;
                        exchange.handle_end(if end.is_none() { End::Complete } else { End::Broken });
                        true
                    }
                };
            if !progress && !std::mem::replace(&mut waits, true) {
                exchange.register(cx.waker());
            } else if !progress {
                ready!(self.timer.poll(exchange, cx));
            }
        }
    }
}

fn feed(exchange: &ExchangeHandle<Tokio>, mut data: impl Buf) {
    while data.has_remaining() {
        let chunk = data.chunk();
        exchange.handle_body(chunk);
        let length = chunk.len();
        data.advance(length);
    }
}

/// An exchange that is over for its client when nobody holds it any more.
struct Aborting(Arc<ExchangeHandle<Tokio>>);

impl Drop for Aborting {
    fn drop(&mut self) {
        self.0.handle_abort();
    }
}

/// Waits for the time at which an exchange wants to be called.
#[derive(Default)]
struct Timer {
    runtime: Tokio,
    sleep: Option<(Instant, BoxFuture<()>)>,
}

impl Timer {
    /// Is ready when the exchange was told that its time has come.
    fn poll(&mut self, exchange: &ExchangeHandle<Tokio>, cx: &mut Context<'_>) -> Poll<()> {
        let Some(deadline) = exchange.timeout() else {
            self.sleep = None;
            return Poll::Pending;
        };
        if self.sleep.as_ref().is_none_or(|(at, _)| *at != deadline) {
            self.sleep = Some((deadline, self.runtime.sleep_until(deadline)));
        }
        if let Some((_, sleep)) = &mut self.sleep {
            ready!(sleep.as_mut().poll(cx));
        }
        self.sleep = None;
        exchange.handle_timeout(self.runtime.now());
        Poll::Ready(())
    }
}

/// The body of a response: one JSON object, or an event stream. Dropping it early tells the exchange that the
/// client is gone.
pub struct ResponseBody {
    exchange: Option<Aborting>,
    /// Bytes that are still to come, where that is known.
    left: Option<u64>,
    timer: Timer,
}

/// Taken out of an exchange at once, at the most.
const FRAME: usize = 64 << 10;

impl Body for ResponseBody {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        let this = self.get_mut();
        let Some(Aborting(exchange)) = &this.exchange else {
            return Poll::Ready(None);
        };
        exchange.register(cx.waker());
        loop {
            let mut data = Bytes::new();
            exchange.transmit(&mut |bytes| {
                // All of a long answer would be there twice for as long as its reader is slow.
                data = Bytes::copy_from_slice(bytes.get(..FRAME).unwrap_or(bytes));
                data.len()
            });
            if !data.is_empty() {
                this.left = this.left.map(|left| left.saturating_sub(data.len() as u64));
                return Poll::Ready(Some(Ok(Frame::data(data))));
            }
            if exchange.is_ended() {
                this.exchange = None;
                return Poll::Ready(None);
            }
            ready!(this.timer.poll(exchange, cx));
        }
    }

    fn is_end_stream(&self) -> bool {
        self.exchange.as_ref().is_none_or(|Aborting(exchange)| exchange.is_ended())
    }

    fn size_hint(&self) -> SizeHint {
        self.left.map_or_else(SizeHint::default, SizeHint::with_exact)
    }
}

impl std::fmt::Debug for ResponseBody {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ResponseBody").field("left", &self.left).finish_non_exhaustive()
    }
}
