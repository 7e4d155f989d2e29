//! One HTTP/1.1 connection of a server: the connection machine, and the exchange that it carries now.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::Waker;

use mcp_proto::head::End;
use mcp_proto::time::Now;
use mcp_proto::wire::http1::{ServerConnection, ServerOutput};

use super::exchange::ExchangeHandle;
use super::http::HttpService;
use super::offer::Current;
use super::stop::{Presence, Shutdown, StopState};
use crate::endpoint::{Endpoint, Status};
use crate::extensions::Extensions;
use crate::runtime::Runtime;
use crate::turn::Turn;
use crate::wake::WakerSlot;

/// Serves a connection in the background, until it ends.
pub(super) fn serve<R: Runtime>(service: &Arc<HttpService<R>>, stop: &Arc<StopState>, stream: R::Stream) {
    let runtime = service.runtime();
    let machine = ServerConnection::new(runtime.now(), &service.config().limits);
    let current = Current::new(service.shared().live.clone());
    let connection = Arc::new(Connection {
        service: service.clone(),
        inner: Mutex::new(Inner { machine, exchange: None, current }),
        turn: Turn::default(),
        waker: WakerSlot::default(),
        presence: Mutex::default(),
    });
    let presence = stop.enter(&connection);
    *connection.present() = Some(presence);
    let gone = Gone(connection.clone());
    let driven = runtime.drive(stream, connection);
    runtime.spawn(Box::pin(async move {
        let _gone = gone;
        driven.await;
    }));
}

struct Connection<R: Runtime> {
    service: Arc<HttpService<R>>,
    inner: Mutex<Inner<R>>,
    turn: Turn,
    waker: WakerSlot,
    /// Until it is over, which may be before whoever drives it has ended.
    presence: Mutex<Option<Presence>>,
}

struct Inner<R: Runtime> {
    machine: ServerConnection,
    exchange: Option<Arc<ExchangeHandle<R>>>,
    current: Current,
}

/// What may call code of users, so that no lock may be held.
enum Step {
    Opened,
    /// The same, and all of the request is there.
    Whole,
    Work,
    End,
    Abort,
    /// All is said, and the exchange is dropped.
    Over,
}

impl<R: Runtime> Connection<R> {
    fn lock(&self) -> MutexGuard<'_, Inner<R>> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn present(&self) -> MutexGuard<'_, Option<Presence>> {
        self.presence.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Gives the machine an input, and the exchange what comes of it.
    fn input(&self, now: Now, input: impl FnOnce(&mut ServerConnection)) {
        input(&mut self.lock().machine);
        self.work(now);
    }

    /// Lets connection and exchange talk to each other until neither has anything to say.
    fn work(&self, now: Now) {
        self.turn.run(|| {
            loop {
                let step = self.lock().step(now, &self.service);
                let Some((exchange, step)) = step else {
                    return;
                };
                if let Step::Opened | Step::Whole = step {
                    let left = self.lock().current.settle();
                    drop(left);
                    self.waker.share(|waker| exchange.wake_by(waker));
                }
                match step {
                    Step::Opened | Step::Work => {
                        exchange.work();
                    }
                    Step::Whole | Step::End => exchange.end(now, End::Complete),
                    Step::Abort => exchange.abort(now),
                    Step::Over => drop(exchange),
                }
            }
        });
    }
}

impl<R: Runtime> Inner<R> {
    fn step(&mut self, now: Now, service: &Arc<HttpService<R>>) -> Option<(Arc<ExchangeHandle<R>>, Step)> {
        // A finished response makes room for the next request, so it goes first.
        if let answered @ Some(_) = self.answer(now) {
            return answered;
        }
        let (mut fed, mut opened) = (None, false);
        loop {
            let step = match self.machine.poll_output() {
                Some(ServerOutput::Request { head, .. }) => {
                    let offer = self.current.offer().clone();
                    let exchange = ExchangeHandle::prepare(service, now, offer, head, Extensions::new());
                    exchange.lend(self.machine.spare());
                    self.exchange = Some(exchange);
                    if self.machine.has_whole_request() {
                        opened = true;
                        continue;
                    }
                    Step::Opened
                }
                Some(ServerOutput::Body(bytes)) => {
                    if let Some(exchange) = &self.exchange {
                        exchange.feed(now, bytes);
                        fed = Some(exchange.clone());
                    }
                    // Mostly the end has come with it.
                    continue;
                }
                Some(ServerOutput::End) if opened => Step::Whole,
                Some(ServerOutput::End) => Step::End,
                Some(ServerOutput::Aborted) => return Some((self.exchange.take()?, Step::Abort)),
                Some(_) => continue,
                None => return fed.map(|exchange| (exchange, Step::Work)),
            };
            // Without one its response is finished, and the rest of the request is of no use.
            if let Some(exchange) = &self.exchange {
                return Some((exchange.clone(), step));
            }
        }
    }

    /// Moves what there is of the response from the exchange to the connection, as far as there is room.
    /// Returns the exchange when it may have more to say after that, or is to be dropped.
    fn answer(&mut self, now: Now) -> Option<(Arc<ExchangeHandle<R>>, Step)> {
        let exchange = self.exchange.as_ref()?;
        let machine = &mut self.machine;
        let mut response = exchange.response();
        let mut taken = 0;
        if let Some((head, length)) = response.take_head() {
            // The machine handed out this request and has had no answer to it: a refusal means that the
            // connection is over, which it says itself.
            let _ = match response.take_whole(length) {
                Some(body) => {
                    taken = body.len();
                    machine.respond_whole(now, &head, body)
                }
                None => machine.respond(now, &head, length),
            };
        }
        taken += response.take(&mut |bytes| {
            let taken = bytes.get(..machine.send_room()).unwrap_or(bytes);
            machine.send(taken);
            taken.len()
        });
        let is_ended = response.is_ended();
        drop(response);
        if is_ended {
            machine.finish();
            return Some((self.exchange.take()?, Step::Over));
        }
        (taken > 0).then(|| (exchange.clone(), Step::Work))
    }
}

/// A connection that is dropped before its client is gone, with its runtime, leaves no handler behind.
struct Gone<R: Runtime>(Arc<Connection<R>>);

impl<R: Runtime> Drop for Gone<R> {
    fn drop(&mut self) {
        self.0.handle_end(self.0.service.now(), End::Broken);
        self.0.over();
    }
}

impl<R: Runtime> Endpoint for Connection<R> {
    fn handle_bytes(&self, now: Now, bytes: &[u8]) {
        self.input(now, |machine| machine.handle_bytes(now, bytes));
    }

    fn handle_end(&self, now: Now, end: End) {
        self.input(now, |machine| machine.handle_end(now, end));
    }

    fn handle_timeout(&self, now: Now) {
        let exchange = self.lock().exchange.clone();
        if let Some(exchange) = exchange {
            exchange.handle_timeout(now);
        }
        self.input(now, |machine| machine.handle_timeout(now));
    }

    fn transmit(&self, now: Now, write: &mut dyn FnMut(&[u8]) -> usize) {
        let mut inner = self.lock();
        // So that nobody has to be woken for that.
        inner.machine.begin_timers(now);
        if inner.exchange.is_some() {
            drop(inner);
            self.work(now);
            inner = self.lock();
        }
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
            exchange.wake_by(waker);
        }
    }

    fn over(&self) {
        let presence = self.present().take();
        drop(presence);
    }
}

impl<R: Runtime> Shutdown for Connection<R> {
    fn shutdown(&self) {
        let exchange = self.lock().exchange.clone();
        if let Some(exchange) = exchange {
            exchange.shutdown();
        }
        self.lock().machine.shutdown();
        self.waker.wake();
    }

    fn give_up(&self) {
        let exchange = self.lock().exchange.clone();
        if let Some(exchange) = exchange {
            exchange.give_up();
        }
    }

    fn cut(&self) {
        self.handle_end(self.service.now(), End::Broken);
        self.waker.wake();
    }
}
