//! One HTTP/1.1 connection of a server: the connection machine, and the exchange that it carries now.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::Waker;

use mcp_proto::head::{End, RequestHead};
use mcp_proto::time::Now;
use mcp_proto::wire::http1::{ServerConnection, ServerOutput};

use super::exchange::ExchangeHandle;
use super::http::{HttpService, Shutdown, StopState};
use crate::endpoint::{Endpoint, Status, WakerSlot};
use crate::runtime::Runtime;

/// Serves a connection in the background, until it ends.
pub(super) fn serve<R: Runtime>(service: &Arc<HttpService<R>>, stop: &Arc<StopState>, stream: R::Stream) {
    let runtime = service.runtime();
    let machine = ServerConnection::new(runtime.now(), &service.config().limits);
    let connection = Arc::new(Connection {
        service: service.clone(),
        inner: Mutex::new(Inner { machine, exchange: None }),
        waker: WakerSlot::default(),
    });
    let shutdown: Arc<dyn Shutdown> = connection.clone();
    let key = stop.enter(Arc::downgrade(&shutdown));
    drop(shutdown);
    let (stop, driven) = (stop.clone(), runtime.drive(stream, connection));
    runtime.spawn(Box::pin(async move {
        driven.await;
        stop.leave(key);
    }));
}

struct Connection<R: Runtime> {
    service: Arc<HttpService<R>>,
    inner: Mutex<Inner<R>>,
    waker: WakerSlot,
}

struct Inner<R: Runtime> {
    machine: ServerConnection,
    exchange: Option<Arc<ExchangeHandle<R>>>,
}

/// An input of the exchange that may start a handler, so no lock may be held.
enum Step {
    Open(RequestHead),
    End,
    Abort,
}

impl<R: Runtime> Connection<R> {
    fn lock(&self) -> MutexGuard<'_, Inner<R>> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Gives the machine an input, and the exchange what comes of it.
    fn input(&self, input: impl FnOnce(&mut ServerConnection)) {
        let mut inner = self.lock();
        input(&mut inner.machine);
        loop {
            // A finished response makes room for the next request, so it goes first.
            inner.answer();
            let Some(step) = inner.next_step() else {
                return;
            };
            let exchange = inner.exchange.clone();
            drop(inner);
            match (step, exchange) {
                (Step::Open(head), _) => {
                    let exchange = ExchangeHandle::open(&self.service, head);
                    self.waker.share(|waker| exchange.register(waker));
                    self.lock().exchange = Some(exchange);
                }
                (Step::End, Some(exchange)) => exchange.handle_end(End::Complete),
                (Step::Abort, Some(exchange)) => {
                    exchange.handle_abort();
                    self.lock().exchange = None;
                }
                (_, None) => {}
            }
            inner = self.lock();
        }
    }
}

impl<R: Runtime> Inner<R> {
    fn next_step(&mut self) -> Option<Step> {
        while let Some(output) = self.machine.poll_output() {
            match output {
                ServerOutput::Request { head, .. } => return Some(Step::Open(head)),
                ServerOutput::Body(bytes) => {
                    if let Some(exchange) = &self.exchange {
                        exchange.handle_body(bytes);
                    }
                }
                ServerOutput::End => return Some(Step::End),
                ServerOutput::Aborted => return Some(Step::Abort),
                _ => {}
            }
        }
        None
    }

    /// Moves what there is of the response from the exchange to the connection, as far as there is room.
    fn answer(&mut self) {
        let Some(exchange) = &self.exchange else {
            return;
        };
        if let Some((head, length)) = exchange.take_head() {
            // The machine handed out this request and has had no answer to it: a refusal means that the
            // connection is over, which it says itself.
            let _ = self.machine.respond(&head, length);
        }
        let machine = &mut self.machine;
        exchange.transmit(&mut |bytes| {
            let taken = bytes.get(..machine.send_room()).unwrap_or(bytes);
            machine.send(taken);
            taken.len()
        });
        if exchange.is_ended() {
            self.machine.finish();
            self.exchange = None;
        }
    }
}

impl<R: Runtime> Endpoint for Connection<R> {
    fn handle_bytes(&self, now: Now, bytes: &[u8]) {
        self.input(|machine| machine.handle_bytes(now, bytes));
    }

    fn handle_end(&self, now: Now, end: End) {
        self.input(|machine| machine.handle_end(now, end));
    }

    fn handle_timeout(&self, now: Now) {
        let exchange = self.lock().exchange.clone();
        if let Some(exchange) = exchange {
            exchange.handle_timeout(now);
        }
        self.input(|machine| machine.handle_timeout(now));
    }

    fn transmit(&self, _: Now, write: &mut dyn FnMut(&[u8]) -> usize) {
        self.input(|_| {});
        let mut inner = self.lock();
        let taken = write(inner.machine.transmit());
        inner.machine.advance(taken);
    }

    fn status(&self) -> Status {
        let inner = self.lock();
        let exchange = inner.exchange.as_ref().and_then(|exchange| exchange.timeout());
        let machine = inner.machine.poll_timeout();
        Status {
            timeout: machine.into_iter().chain(exchange).min(),
            wants_read: inner.machine.wants_read(),
            write_closed: false,
            finished: inner.machine.is_finished() && inner.machine.transmit().is_empty(),
        }
    }

    fn register(&self, waker: &Waker) {
        self.waker.register(waker);
        if let Some(exchange) = &self.lock().exchange {
            exchange.register(waker);
        }
    }
}

impl<R: Runtime> Shutdown for Connection<R> {
    fn shutdown(&self) {
        self.lock().machine.shutdown();
        self.waker.wake();
    }
}
