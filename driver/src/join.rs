//! Two machines that are each other's peer, without a stream between them.

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use mcp_proto::head::End;
use mcp_proto::time::Instant;

use crate::endpoint::{Endpoint, with_scratch};
use crate::runtime::{BoxFuture, Runtime};

/// Moves bytes and time between two machines until both are finished. Where this is dropped before, both hear that
/// the other is gone.
pub(crate) struct Join<R: Runtime> {
    runtime: R,
    sides: [Side; 2],
    timer: Option<(Instant, BoxFuture<()>)>,
}

struct Side {
    endpoint: Arc<dyn Endpoint>,
    /// It was told that nothing more comes from the other.
    ended: bool,
}

/// Rounds in a row before others on the same thread have their turn.
const ROUNDS: usize = 8;

impl<R: Runtime> Join<R> {
    pub(crate) fn new(runtime: R, one: Arc<dyn Endpoint>, other: Arc<dyn Endpoint>) -> Self {
        let side = |endpoint| Side { endpoint, ended: false };
        Self { runtime, sides: [side(one), side(other)], timer: None }
    }

    /// Moves what one side has to say to the other; whether anything has changed.
    fn carry(&mut self, from: usize) -> bool {
        // Two that each wait for the other to read would wait for ever.
        let stuck = self.sides.iter().all(|side| !side.endpoint.status().wants_read);
        let [one, other] = &mut self.sides;
        let (from, to) = if from == 0 { (one, other) } else { (other, one) };
        let status = from.endpoint.status();
        let is_deaf = to.ended || to.endpoint.status().finished;
        if !is_deaf && !stuck && !to.endpoint.status().wants_read {
            return false;
        }
        let now = self.runtime.now();
        let moved = with_scratch(|scratch| {
            let mut moved = 0;
            from.endpoint.transmit(now, &mut |bytes| {
                // Copied out: the machine is locked while it shows what it has.
                moved = bytes.len().min(scratch.len());
                if let (Some(room), Some(bytes)) = (scratch.get_mut(..moved), bytes.get(..moved)) {
                    room.copy_from_slice(bytes);
                }
                moved
            });
            if moved > 0 && !is_deaf {
                to.endpoint.handle_bytes(now, scratch.get(..moved).unwrap_or_default());
            }
            moved
        });
        if moved > 0 {
            return true;
        }
        let is_over = status.finished || status.write_closed;
        if is_over && !to.ended {
            to.ended = true;
            to.endpoint.handle_end(now, End::Complete);
        }
        is_over && !is_deaf
    }

    fn is_finished(&self) -> bool {
        self.sides.iter().all(|side| side.endpoint.status().finished)
    }

    /// Lets time pass for both, and sees to it that there will be a wake-up; whether a machine was called.
    fn keep_time(&mut self, cx: &mut Context<'_>) -> bool {
        let timeouts = self.sides.iter().filter_map(|side| side.endpoint.status().timeout);
        let Some(deadline) = timeouts.min() else {
            self.timer = None;
            return false;
        };
        let now = self.runtime.now();
        if now.mono >= deadline {
            self.timer = None;
            for side in &self.sides {
                if side.endpoint.status().timeout.is_some_and(|at| at <= now.mono) {
                    side.endpoint.handle_timeout(now);
                }
            }
            // A machine that keeps asking for a moment in the past must not spin this loop.
            let next = self.sides.iter().filter_map(|side| side.endpoint.status().timeout).min();
            return next.is_none_or(|next| next > deadline);
        }
        // A timer that fires too early is harmless and cheaper than a new one for every message.
        if self.timer.as_ref().is_none_or(|(at, _)| *at > deadline) {
            self.timer = Some((deadline, self.runtime.sleep_until(deadline)));
        }
        let due = self.timer.as_mut().is_some_and(|(_, timer)| timer.as_mut().poll(cx).is_ready());
        if due {
            self.timer = None;
        }
        due
    }
}

impl<R: Runtime> Unpin for Join<R> {}

impl<R: Runtime> Future for Join<R> {
    type Output = ();

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        let this = self.get_mut();
        this.sides.iter().for_each(|side| side.endpoint.register(cx.waker()));
        for _ in 0..ROUNDS {
            let carried = [this.carry(0), this.carry(1)];
            if this.is_finished() && carried == [false, false] {
                this.sides.iter_mut().for_each(|side| side.ended = true);
                return Poll::Ready(());
            }
            if !this.keep_time(cx) && carried == [false, false] {
                return Poll::Pending;
            }
        }
        cx.waker().wake_by_ref();
        Poll::Pending
    }
}

impl<R: Runtime> Drop for Join<R> {
    fn drop(&mut self) {
        let now = self.runtime.now();
        for side in &mut self.sides {
            if !std::mem::replace(&mut side.ended, true) {
                side.endpoint.handle_end(now, End::Broken);
            }
        }
    }
}
