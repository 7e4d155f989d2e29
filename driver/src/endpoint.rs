//! Where bytes meet machines: one trait for whatever sits behind a byte stream, one future that pumps it.

use std::cell::RefCell;
use std::future::{Future, poll_fn};
use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};

use mcp_proto::head::End;
use mcp_proto::time::{Instant, Now};

use crate::runtime::{BoxFuture, Runtime};

/// A machine behind a byte stream. Shared: answers come in from other threads while the stream is read.
pub trait Endpoint: Send + Sync + 'static {
    /// Bytes arrived.
    fn handle_bytes(&self, now: Now, bytes: &[u8]);

    /// The stream ended, in order or by a failed read.
    fn handle_end(&self, now: Now, end: End);

    /// A write failed: nothing more can be sent. What has arrived may still be read, if the machine wants to.
    fn handle_write_failed(&self, now: Now) {
        self.handle_end(now, End::Broken);
    }

    /// The time named by [`Status::timeout`] has come. Early or repeated calls are harmless.
    fn handle_timeout(&self, now: Now);

    /// Shows `write` what is to be sent; it returns how many bytes it took, and those are forgotten.
    fn transmit(&self, now: Now, write: &mut dyn FnMut(&[u8]) -> usize);

    /// What the machine wants now.
    fn status(&self) -> Status;

    /// Asks for a wake-up whenever [`transmit`](Self::transmit) or [`status`](Self::status) may have changed
    /// other than through the stream itself.
    fn register(&self, waker: &Waker);
}

/// What a machine wants of its stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Status {
    /// When [`Endpoint::handle_timeout`] is to be called at the latest.
    pub timeout: Option<Instant>,
    /// Whether more input is welcome; while it is not, the stream is left unread.
    pub wants_read: bool,
    /// Nothing more will be written: once all is sent, close the writing half.
    pub write_closed: bool,
    /// Nothing more will be read or written: once all is sent, close the stream.
    pub finished: bool,
}

/// A non-blocking byte stream, in the manner of a poll function.
pub trait ByteStream: Send + 'static {
    /// Reads into `buffer`; 0 is the end of the stream.
    fn poll_read(&mut self, cx: &mut Context<'_>, buffer: &mut [u8]) -> Poll<io::Result<usize>>;
    /// Writes from `bytes`, which is not empty.
    fn poll_write(&mut self, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>>;
    /// Pushes out what the stream itself buffers.
    fn poll_flush(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<()>>;
    /// Closes the writing half.
    fn poll_close(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<()>>;
}

/// Moves bytes and time between a stream and a machine until the machine is finished.
pub async fn pump<R: Runtime>(runtime: R, stream: impl ByteStream, endpoint: Arc<dyn Endpoint>) {
    let mut pump = Pump { runtime, stream, endpoint, timer: None, input: Half::Open, output: Half::Open };
    poll_fn(move |cx| pump.poll(cx)).await;
}

struct Pump<R, S> {
    runtime: R,
    stream: S,
    endpoint: Arc<dyn Endpoint>,
    timer: Option<(Instant, BoxFuture<()>)>,
    input: Half,
    output: Half,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Half {
    Open,
    /// All that was accepted for writing is being pushed out before the half is closed.
    Closing,
    Closed,
}

/// Reads in a row before others on the same thread have their turn: at most 256 KiB.
const READS: usize = 4;

impl<R: Runtime, S: ByteStream> Pump<R, S> {
    fn poll(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        self.endpoint.register(cx.waker());
        for _ in 0..READS {
            let blocked = self.write(cx);
            let status = self.endpoint.status();
            if !blocked && (status.finished || status.write_closed) {
                self.close(cx);
            }
            if status.finished && self.output == Half::Closed {
                return Poll::Ready(());
            }
            // What has arrived was there before a deadline that was noticed late.
            let read = status.wants_read && self.input == Half::Open && self.read(cx);
            let timeout = if read { self.endpoint.status().timeout } else { status.timeout };
            let timed = self.check_timer(cx, timeout);
            if !timed && !read {
                return Poll::Pending;
            }
        }
        // A peer that never stops sending must not keep the thread from timers, handlers and other peers.
        cx.waker().wake_by_ref();
        Poll::Pending
    }

    /// Writes until there is nothing left or the stream takes no more; says whether the latter.
    fn write(&mut self, cx: &mut Context<'_>) -> bool {
        let now = self.runtime.now();
        let mut blocked = false;
        let mut failed = false;
        let mut wrote = false;
        while self.output == Half::Open && !blocked && !failed {
            let mut idle = true;
            let stream = &mut self.stream;
            self.endpoint.transmit(now, &mut |bytes| {
                if bytes.is_empty() {
                    return 0;
                }
                idle = false;
                match stream.poll_write(cx, bytes) {
                    Poll::Ready(Ok(0)) | Poll::Ready(Err(_)) => failed = true,
                    Poll::Ready(Ok(count)) => {
                        wrote = true;
                        return count;
                    }
                    Poll::Pending => blocked = true,
                }
                0
            });
            if idle {
                break;
            }
        }
        if wrote && !failed {
            // Streams that buffer keep a flush under way by themselves once it was asked for.
            failed = matches!(self.stream.poll_flush(cx), Poll::Ready(Err(_)));
        }
        if failed {
            self.output = Half::Closed;
            self.endpoint.handle_write_failed(now);
        }
        blocked
    }

    /// Closes the writing half, as far as that goes now.
    fn close(&mut self, cx: &mut Context<'_>) {
        if self.output == Half::Open {
            self.output = Half::Closing;
        }
        if self.output == Half::Closing && self.stream.poll_close(cx).is_ready() {
            self.output = Half::Closed;
        }
    }

    /// Fires the timer when it is due, otherwise sees to it that it will wake us; says whether it fired.
    fn check_timer(&mut self, cx: &mut Context<'_>, timeout: Option<Instant>) -> bool {
        let Some(deadline) = timeout else {
            self.timer = None;
            return false;
        };
        let now = self.runtime.now();
        if now.mono >= deadline {
            self.timer = None;
            self.endpoint.handle_timeout(now);
            // A machine that keeps asking for a moment in the past must not spin this loop.
            return self.endpoint.status().timeout.is_none_or(|next| next > deadline);
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

    /// Reads once; says whether there may be more.
    fn read(&mut self, cx: &mut Context<'_>) -> bool {
        with_scratch(|scratch| match self.stream.poll_read(cx, scratch) {
            Poll::Pending => false,
            Poll::Ready(Ok(0)) => self.end(End::Complete),
            Poll::Ready(Ok(count)) => {
                let bytes = scratch.get(..count).unwrap_or_default();
                self.endpoint.handle_bytes(self.runtime.now(), bytes);
                true
            }
            Poll::Ready(Err(_)) => self.end(End::Broken),
        })
    }

    fn end(&mut self, end: End) -> bool {
        self.input = Half::Closed;
        self.endpoint.handle_end(self.runtime.now(), end);
        true
    }
}

/// Lends a read buffer that all streams of a thread share, so that an idle one holds none.
pub fn with_scratch<T>(read: impl FnOnce(&mut [u8]) -> T) -> T {
    const SIZE: usize = 64 << 10;
    thread_local! {
        static SCRATCH: RefCell<Vec<u8>> = const { RefCell::new(Vec::new()) };
    }
    // Taken out while in use: a handler that is polled from within may pump another stream on this thread.
    let mut buffer = SCRATCH.take();
    buffer.resize(SIZE, 0);
    let result = read(&mut buffer);
    SCRATCH.set(buffer);
    result
}

/// Polls a future once, without anybody to wake: for work that is mostly ready at once.
pub(crate) fn poll_once<F: Future + ?Sized>(future: Pin<&mut F>) -> Poll<F::Output> {
    future.poll(&mut Context::from_waker(Waker::noop()))
}
