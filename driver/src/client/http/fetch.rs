//! One request of a flow, over a connection of its own. Redirects are not followed.

use std::future::{Future, poll_fn};
use std::net::{IpAddr, SocketAddr};
use std::pin::pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Poll, Waker};

use mcp_proto::auth;
use mcp_proto::head::{End, RequestHead, ResponseHead};
use mcp_proto::limits::Limits;
use mcp_proto::time::Now;
use mcp_proto::wire::http1::{BodyLength, ClientConnection, ClientOutput};

use super::super::authorize::{known, permitted};
use super::dial::{Patience, within};
use super::exchanger::{Exchanger, Hears, Outgoing, Response};
use super::pooled::Channel;
use super::route::Route;
use super::{Means, Url};
use crate::endpoint::{Endpoint, Status};
use crate::hook;
use crate::runtime::Runtime;
use crate::wake::{Promise, WakerSlot};

pub(in crate::client) type Answer = Result<(ResponseHead, Vec<u8>), String>;

/// Sends the requests of a flow the way that those to the server go.
pub(in crate::client) struct Fetcher<R: Runtime> {
    runtime: R,
    limits: Limits,
    means: Means,
    /// The server that a token is wanted for.
    server: auth::Url,
    /// Where the server was found to be.
    arrived: Option<IpAddr>,
}

impl<R: Runtime> Fetcher<R> {
    pub(super) fn new(
        runtime: &R,
        limits: &Limits,
        means: &Means,
        server: &auth::Url,
        arrived: Option<IpAddr>,
    ) -> Self {
        let (runtime, limits) = (runtime.clone(), limits.clone());
        Self { runtime, limits, means: means.clone(), server: server.clone(), arrived }
    }

    /// Waits for the whole response, at most [`Limits::request`]. Nothing goes on when nobody waits any more.
    pub(in crate::client) async fn fetch(&self, request: auth::Request) -> Answer {
        let url = Url::parse(request.url.as_str()).map_err(|misuse| misuse.to_string())?;
        let answer = async {
            match &self.means.exchanger {
                Some(exchanger) => self.exchange(exchanger, url, request).await,
                None => self.send(&url, request).await,
            }
        };
        let late = "no whole answer in time; `Limits::request` is the bound";
        within(&self.runtime, self.limits.request, answer).await.unwrap_or_else(|| Err(late.to_owned()))
    }

    fn patience(&self) -> Patience {
        Patience::new(&self.limits, self.means.lookups.clone())
    }

    /// Sends it over a connection of its own.
    async fn send(&self, url: &Url, request: auth::Request) -> Answer {
        let route = Route::new(url, &self.means, &self.limits).map_err(|misuse| misuse.to_string())?;
        let addresses = if request.configured || !route.is_direct() {
            route.addresses(&self.runtime).await?
        } else {
            // The addresses that were checked, so that the name cannot stand for others by the time of connecting.
            let known = known(&self.server, self.arrived);
            permitted(&self.runtime, &self.patience(), &request.url, &known).await?
        };
        let fetching = Arc::new(Fetching::new(
            self.runtime.now(),
            &self.limits,
            &route.head(&request.head),
            &request.body,
        )?);
        let waiting = Waiting(fetching.clone());
        let task = Task { runtime: self.runtime.clone(), fetching, route };
        self.runtime.spawn(Box::pin(async move { task.run(addresses).await }));
        poll_fn(|cx| waiting.0.answer.poll_take(cx.waker())).await
    }

    /// Has the application's HTTP client send it.
    async fn exchange(&self, exchanger: &Arc<dyn Exchanger>, url: Url, request: auth::Request) -> Answer {
        let collecting = Arc::new(Collecting {
            inner: Mutex::new(Some(Collected::new(&self.limits))),
            answer: Promise::default(),
        });
        let outgoing = Outgoing::new(url, request.head, request.body);
        let response = Response::new(collecting.clone());
        let mut carried = None;
        hook::call(|| carried = Some(exchanger.exchange(outgoing, response)));
        poll_fn(|cx| {
            if let Poll::Ready(answer) = collecting.answer.poll_take(cx.waker()) {
                return Poll::Ready(answer);
            }
            if let Some(future) = &mut carried
                && future.as_mut().poll(cx).is_ready()
            {
                carried = None;
                cx.waker().wake_by_ref();
            }
            Poll::Pending
        })
        .await
    }
}

/// What has come of a response.
struct Collected {
    head: Option<ResponseHead>,
    body: Vec<u8>,
    /// One more than may be read of the body: whoever reads it sees that it is too long.
    most: usize,
}

impl Collected {
    fn new(limits: &Limits) -> Self {
        Self { head: None, body: Vec::new(), most: limits.auth_document.saturating_add(1) }
    }

    /// Takes a part of the body; whether that is enough.
    fn push(&mut self, bytes: &[u8]) -> bool {
        let room = self.most.saturating_sub(self.body.len());
        self.body.extend_from_slice(bytes.get(..room).unwrap_or(bytes));
        self.body.len() >= self.most
    }

    fn take(&mut self) -> Option<Answer> {
        Some(Ok((self.head.take()?, std::mem::take(&mut self.body))))
    }
}

/// A response that comes by way of the application.
struct Collecting {
    /// `None` once the answer is there.
    inner: Mutex<Option<Collected>>,
    answer: Promise<Answer>,
}

impl Collecting {
    fn lock(&self) -> MutexGuard<'_, Option<Collected>> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The first answer counts.
    fn answer(&self, answer: impl FnOnce(Collected) -> Answer) {
        let collected = self.lock().take();
        if let Some(collected) = collected {
            self.answer.set(answer(collected));
        }
    }

    fn whole(mut collected: Collected) -> Answer {
        collected.take().unwrap_or_else(|| Err("the response ended before its head".to_owned()))
    }
}

impl Hears for Collecting {
    fn head(&self, head: ResponseHead) {
        if let Some(collected) = &mut *self.lock() {
            collected.head = Some(head);
        }
    }

    fn body(&self, bytes: &[u8]) {
        let is_enough = self.lock().as_mut().is_some_and(|collected| collected.push(bytes));
        if is_enough {
            self.answer(Self::whole);
        }
    }

    fn end(&self, end: End) {
        match end {
            End::Complete => self.answer(Self::whole),
            End::Broken => self.answer(|_| Err("the response broke off".to_owned())),
        }
    }

    fn failed(&self, reason: &str, _: bool) {
        self.answer(|_| Err(reason.to_owned()));
    }
}

/// Connects, and drives the connection. However it ends, there is an answer.
struct Task<R: Runtime> {
    runtime: R,
    fetching: Arc<Fetching>,
    route: Route,
}

impl<R: Runtime> Task<R> {
    async fn run(self, addresses: Vec<SocketAddr>) {
        let opened = {
            let mut opening = pin!(self.route.open_at(&self.runtime, &addresses));
            poll_fn(|cx| {
                self.fetching.waker.register(cx.waker());
                if self.fetching.lock().over {
                    Poll::Ready(None)
                } else {
                    opening.as_mut().poll(cx).map(Some)
                }
            })
            .await
        };
        match opened {
            Some(Ok((_, stream))) => {
                let channel = self.route.layers(self.fetching.clone());
                channel.established(self.runtime.now());
                let endpoint: Arc<dyn Endpoint> = channel;
                self.runtime.drive(stream, endpoint).await;
            }
            Some(Err(reason)) => self.fetching.end(Err(reason)),
            None => {}
        }
    }
}

/// Whoever waits for an answer; without them there is no use for it.
struct Waiting(Arc<Fetching>);

impl Drop for Waiting {
    fn drop(&mut self) {
        self.0.end(Err("nobody waits for it".to_owned()));
        self.0.waker.wake();
    }
}

impl<R: Runtime> Drop for Task<R> {
    fn drop(&mut self) {
        self.fetching.end(Err("the connection was given up".to_owned()));
    }
}

struct Fetching {
    inner: Mutex<Inner>,
    answer: Promise<Answer>,
    waker: WakerSlot,
}

struct Inner {
    connection: ClientConnection,
    /// Everything between the stream and this connection is ready.
    ready: bool,
    collected: Collected,
    over: bool,
}

impl Fetching {
    fn new(now: Now, limits: &Limits, head: &RequestHead, body: &[u8]) -> Result<Self, String> {
        let mut connection = ClientConnection::new(now, limits);
        let mut head = head.clone();
        head.headers.push("Accept-Encoding", "identity");
        head.headers.push("Connection", "close");
        let length = match (body.len(), &*head.method) {
            (0, "GET") => BodyLength::Empty,
            (length, _) => BodyLength::Known(length as u64),
        };
        connection.request(&head, length).map_err(|misuse| misuse.to_string())?;
        connection.send(body);
        connection.finish();
        let inner = Inner { connection, ready: false, collected: Collected::new(limits), over: false };
        Ok(Self { inner: Mutex::new(inner), answer: Promise::default(), waker: WakerSlot::default() })
    }

    fn lock(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The first end counts.
    fn end(&self, answer: Answer) {
        if !std::mem::replace(&mut self.lock().over, true) {
            self.answer.set(answer);
        }
    }

    fn input(&self, input: impl FnOnce(&mut ClientConnection)) {
        let answer = {
            let mut inner = self.lock();
            input(&mut inner.connection);
            inner.read()
        };
        if let Some(answer) = answer {
            self.end(answer);
        }
    }
}

impl Inner {
    fn read(&mut self) -> Option<Answer> {
        let Self { connection, collected, .. } = self;
        loop {
            match connection.poll_output()? {
                ClientOutput::Head(head) => collected.head = Some(head),
                ClientOutput::Body(bytes) if !collected.push(bytes) => {}
                ClientOutput::Body(_) | ClientOutput::End => return collected.take(),
                ClientOutput::Failed { reason, .. } => return Some(Err(reason)),
                _ => {}
            }
        }
    }
}

impl Channel for Fetching {
    fn established(&self, _: Now) {
        self.lock().ready = true;
        self.waker.wake();
    }

    fn refused(&self, _: Now, reason: &str) {
        self.end(Err(reason.to_owned()));
        self.waker.wake();
    }
}

impl Endpoint for Fetching {
    fn handle_bytes(&self, now: Now, bytes: &[u8]) {
        self.input(|connection| connection.handle_bytes(now, bytes));
    }

    fn handle_end(&self, now: Now, end: End) {
        self.input(|connection| connection.handle_end(now, end));
    }

    /// The response may be there all the same; reading ends with the connection.
    fn handle_write_failed(&self, _: Now) {}

    fn handle_timeout(&self, now: Now) {
        self.input(|connection| connection.handle_timeout(now));
    }

    fn transmit(&self, _: Now, write: &mut dyn FnMut(&[u8]) -> usize) {
        let Inner { connection, ready, .. } = &mut *self.lock();
        let taken = write(if *ready { connection.transmit() } else { &[] });
        connection.advance(taken);
    }

    fn status(&self) -> Status {
        let inner = self.lock();
        Status {
            timeout: inner.connection.poll_timeout().filter(|_| !inner.over),
            wants_read: !inner.over && inner.connection.wants_read(),
            write_closed: false,
            finished: inner.over || inner.connection.is_finished(),
        }
    }

    fn register(&self, waker: &Waker) {
        self.waker.register(waker);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::reply::block_on;

    /// However an exchanger ends there is an answer, and the first one counts.
    #[test]
    fn whatever_an_exchanger_says_there_is_an_answer() {
        let mut limits = Limits::default();
        limits.auth_document = 3;
        let answer = |told: &dyn Fn(&Collecting)| {
            let collecting =
                Collecting { inner: Mutex::new(Some(Collected::new(&limits))), answer: Promise::default() };
            told(&collecting);
            let answer = block_on(poll_fn(|cx| collecting.answer.poll_take(cx.waker())));
            answer.map(|(head, body)| (head.status, body))
        };
        let head = |told: &Collecting| told.head(ResponseHead::new(200));
        let failed = |reason: &str| Err(reason.to_owned());
        assert_eq!(answer(&|told| told.end(End::Complete)), failed("the response ended before its head"));
        assert_eq!(answer(&|told| told.body(b"long")), failed("the response ended before its head"));
        assert_eq!(answer(&|told| told.end(End::Broken)), failed("the response broke off"));
        let broken = answer(&|told| {
            head(told);
            told.end(End::Broken);
        });
        assert_eq!(broken, failed("the response broke off"));
        let long = answer(&|told| {
            head(told);
            told.body(b"lo");
            told.body(b"nger");
            // What comes then is nothing to anybody.
            head(told);
            told.body(b"than that");
            told.end(End::Complete);
            told.failed("late", false);
        });
        assert_eq!(long, Ok((200, b"long".to_vec())));
    }
}
