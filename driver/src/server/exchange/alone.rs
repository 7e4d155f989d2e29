//! Exchanges whose calls go on without a connection, which has kept the time for them until then.

use std::sync::atomic::Ordering;
use std::sync::{Arc, Weak};
use std::task::Waker;

use mcp_proto::head::End;
use mcp_proto::time::Now;

use super::ExchangeHandle;
use crate::endpoint::{Endpoint, Status};
use crate::runtime::Runtime;
use crate::timekeeper::keep_time;

impl<R: Runtime> ExchangeHandle<R> {
    /// The connection is gone, or done with the exchange.
    pub(super) fn go_on_alone(&self) {
        self.alone.store(true, Ordering::SeqCst);
        if !self.lock().over {
            // Several may find out.
            if !self.service.unattended().enter(&self.unattended) {
                self.say(|machine, now| machine.give_up_unattended(now));
            }
            // It may have come to its end meanwhile.
            if self.lock().over {
                self.leave();
            }
        }
        self.keep_time();
    }

    /// Sees to it that what waits for a moment is told of it. Most calls that go on wait for nothing.
    pub(super) fn keep_time(&self) {
        if self.timed.load(Ordering::SeqCst) {
            return self.timer.wake();
        }
        if self.timeout().is_some() && !self.timed.swap(true, Ordering::SeqCst) {
            let runtime = self.service.runtime();
            runtime.spawn(Box::pin(keep_time(runtime.clone(), Arc::new(Alone(self.this.clone())))));
        }
    }
}

/// An exchange as a machine with timers only, until it is over.
struct Alone<R: Runtime>(Weak<ExchangeHandle<R>>);

impl<R: Runtime> Endpoint for Alone<R> {
    fn handle_bytes(&self, _: Now, _: &[u8]) {}

    fn handle_end(&self, _: Now, _: End) {}

    fn handle_timeout(&self, now: Now) {
        if let Some(exchange) = self.0.upgrade() {
            exchange.handle_timeout(now);
        }
    }

    fn transmit(&self, _: Now, _: &mut dyn FnMut(&[u8]) -> usize) {}

    fn status(&self) -> Status {
        let exchange = self.0.upgrade();
        let finished = exchange.as_ref().is_none_or(|exchange| exchange.lock().over);
        let timeout = exchange.and_then(|exchange| exchange.timeout());
        Status { timeout, wants_read: false, write_closed: false, finished }
    }

    fn register(&self, waker: &Waker) {
        if let Some(exchange) = self.0.upgrade() {
            exchange.timer.register(waker);
        }
    }
}
