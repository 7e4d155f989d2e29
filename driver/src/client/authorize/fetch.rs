//! One request of a flow, over a connection of its own. Redirects are not followed.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::Waker;

use mcp_proto::auth::{Request, Url};
use mcp_proto::head::{End, ResponseHead};
use mcp_proto::limits::Limits;
use mcp_proto::time::{Instant, Now};
use mcp_proto::wire::http1::{BodyLength, ClientConnection, ClientOutput};

use super::reach;
use crate::endpoint::{Endpoint, Status};
use crate::runtime::Runtime;
use crate::wake::{Promise, WakerSlot};

type Answer = Result<(ResponseHead, Vec<u8>), String>;

/// Sends a request, and waits for the whole response, at most [`Limits::request`].
pub(super) async fn fetch<R: Runtime>(
    runtime: &R,
    limits: &Limits,
    server: &Url,
    request: Request,
) -> Answer {
    let url = request.url.clone();
    let hosts = if request.configured {
        vec![url.host().to_owned()]
    } else {
        // The address itself, so that the name cannot stand for another one by the time of connecting.
        let addresses = reach::addresses(runtime, &url, server).await?;
        addresses.iter().map(ToString::to_string).collect()
    };
    let fetching = Arc::new(Fetching::new(runtime.now(), limits, &request)?);
    let promise = fetching.answer.clone();
    let task = Task { runtime: runtime.clone(), fetching, url };
    runtime.spawn(Box::pin(async move { task.run(hosts).await }));
    std::future::poll_fn(|cx| promise.poll_take(cx.waker())).await
}

/// Connects, and drives the connection. However it ends, there is an answer.
struct Task<R: Runtime> {
    runtime: R,
    fetching: Arc<Fetching>,
    url: Url,
}

impl<R: Runtime> Task<R> {
    async fn run(self, hosts: Vec<String>) {
        let mut reason = String::from("there is no address");
        for host in hosts {
            match self.runtime.connect(host, self.url.port()).await {
                Ok(stream) => {
                    let endpoint: Arc<dyn Endpoint> = self.fetching.clone();
                    return self.runtime.drive(stream, endpoint).await;
                }
                Err(error) => reason = error.to_string(),
            }
        }
        let place = (self.url.host(), self.url.port());
        self.fetching.end(Err(format!("cannot connect to {}, port {}: {reason}", place.0, place.1)));
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
    head: Option<ResponseHead>,
    body: Vec<u8>,
    /// One more than may be read of the body: whoever reads it sees that it is too long.
    most: usize,
    until: Instant,
    over: bool,
}

impl Fetching {
    fn new(now: Now, limits: &Limits, request: &Request) -> Result<Self, String> {
        let mut connection = ClientConnection::new(now, limits);
        let mut head = request.head.clone();
        head.headers.push("Accept-Encoding", "identity");
        head.headers.push("Connection", "close");
        let length = match (request.body.len(), &*head.method) {
            (0, "GET") => BodyLength::Empty,
            (length, _) => BodyLength::Known(length as u64),
        };
        connection.request(&head, length).map_err(|misuse| misuse.to_string())?;
        connection.send(&request.body);
        connection.finish();
        let inner = Inner {
            connection,
            head: None,
            body: Vec::new(),
            most: limits.auth_document.saturating_add(1),
            until: now.mono + limits.request,
            over: false,
        };
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
        let Self { connection, head, body, most, .. } = self;
        loop {
            match connection.poll_output()? {
                ClientOutput::Head(received) => *head = Some(received),
                ClientOutput::Body(bytes) => {
                    let room = most.saturating_sub(body.len());
                    body.extend_from_slice(bytes.get(..room).unwrap_or(bytes));
                    if body.len() >= *most {
                        break;
                    }
                }
                ClientOutput::End => break,
                ClientOutput::Failed { reason, .. } => return Some(Err(reason)),
                _ => {}
            }
        }
        let head = head.take()?;
        Some(Ok((head, std::mem::take(body))))
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
        if self.lock().until <= now.mono {
            self.end(Err("no whole answer in time; `Limits::request` is the bound".to_owned()));
        }
        self.input(|connection| connection.handle_timeout(now));
    }

    fn transmit(&self, _: Now, write: &mut dyn FnMut(&[u8]) -> usize) {
        let connection = &mut self.lock().connection;
        let taken = write(connection.transmit());
        connection.advance(taken);
    }

    fn status(&self) -> Status {
        let inner = self.lock();
        let timeout = inner.connection.poll_timeout().into_iter().chain([inner.until]).min();
        Status {
            timeout: timeout.filter(|_| !inner.over),
            wants_read: !inner.over && inner.connection.wants_read(),
            write_closed: false,
            finished: inner.over || inner.connection.is_finished(),
        }
    }

    fn register(&self, waker: &Waker) {
        self.waker.register(waker);
    }
}
