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

    /// The machine is finished, and all was written or lost. Whoever drives it may say so before that ends, as one of its
    /// threads may be elsewhere.
    fn over(&self) {}
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
    let (input, output) = (Half::Open, Half::Open);
    let mut pump = Pump { runtime, stream, endpoint, timer: None, pause: None, input, output };
    poll_fn(move |cx| pump.poll(cx)).await;
}

struct Pump<R, S> {
    runtime: R,
    stream: S,
    endpoint: Arc<dyn Endpoint>,
    timer: Option<(Instant, BoxFuture<()>)>,
    /// Others have their turn.
    pause: Option<BoxFuture<()>>,
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
        self.pause = None;
        for turn in 1..=READS {
            // Good for the whole round: nothing in it waits, and a deadline that passes meanwhile is found in the next.
            let now = self.runtime.now();
            let blocked = self.write(cx, now);
            let status = self.endpoint.status();
            if !blocked && (status.finished || status.write_closed) {
                self.close(cx);
            }
            if status.finished && self.output == Half::Closed {
                return Poll::Ready(());
            }
            // What has arrived was there before a deadline that was noticed late.
            let read = status.wants_read && self.input == Half::Open && self.read(cx, now);
            // What comes of it is written first, and time looked at after that, since it may well have moved a deadline.
            if read && turn < READS {
                continue;
            }
            let timeout = if read { self.endpoint.status().timeout } else { status.timeout };
            let timed = self.check_timer(cx, now, timeout);
            if !timed && !read {
                return Poll::Pending;
            }
        }
        // A peer that never stops sending must not keep the thread from timers, handlers and other peers.
        let pause = self.pause.insert(self.runtime.give_way());
        if pause.as_mut().poll(cx).is_ready() {
            cx.waker().wake_by_ref();
        }
        Poll::Pending
    }

    /// Writes until there is nothing left or the stream takes no more; says whether the latter.
    fn write(&mut self, cx: &mut Context<'_>, now: Now) -> bool {
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
    fn check_timer(&mut self, cx: &mut Context<'_>, now: Now, timeout: Option<Instant>) -> bool {
        let Some(deadline) = timeout else {
            self.timer = None;
            return false;
        };
        if now.mono >= deadline {
            // One that is for later is still good then: most of what is due at once is said by a message, not by time.
            self.timer.take_if(|(at, _)| *at <= now.mono);
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
    fn read(&mut self, cx: &mut Context<'_>, now: Now) -> bool {
        with_scratch(|scratch| match self.stream.poll_read(cx, scratch) {
            Poll::Pending => false,
            Poll::Ready(Ok(0)) => self.end(now, End::Complete),
            Poll::Ready(Ok(count)) => {
                let bytes = scratch.get(..count).unwrap_or_default();
                self.endpoint.handle_bytes(now, bytes);
                true
            }
            Poll::Ready(Err(_)) => self.end(now, End::Broken),
        })
    }

    fn end(&mut self, now: Now, end: End) -> bool {
        self.input = Half::Closed;
        self.endpoint.handle_end(now, end);
        true
    }
}

/// Lends a read buffer that all streams of a thread share, so that an idle one holds none.
pub(crate) fn with_scratch<T>(read: impl FnOnce(&mut [u8]) -> T) -> T {
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

/// Room to read into for a thread that blocks on one stream: as much as what comes needs, and little again as soon as
/// little comes.
#[derive(Debug, Default)]
pub(crate) struct ReadBuffer(Vec<u8>);

impl ReadBuffer {
    const LEAST: usize = 4 << 10;
    const MOST: usize = 64 << 10;

    /// Where the next read goes.
    pub(crate) fn room(&mut self) -> &mut [u8] {
        if self.0.is_empty() {
            self.0.resize(Self::LEAST, 0);
        }
        &mut self.0
    }

    /// What was read, `count` bytes. A read that fills the room is followed by one with more of it.
    pub(crate) fn read<T>(&mut self, count: usize, take: impl FnOnce(&[u8]) -> T) -> T {
        let room = self.0.len();
        let taken = take(self.0.get(..count).unwrap_or_default());
        if count == room && room < Self::MOST {
            self.0.resize(room * 2, 0);
        } else if count < room / 4 && room > Self::LEAST {
            self.0 = Vec::new();
        }
        taken
    }
}

/// Polls a future once, without anybody to wake: for work that is mostly ready at once.
pub(crate) fn poll_once<F: Future + ?Sized>(future: Pin<&mut F>) -> Poll<F::Output> {
    future.poll(&mut Context::from_waker(Waker::noop()))
}

#[cfg(test)]
mod tests {
    use super::ReadBuffer;

    /// What a long message needed is not held any more once a short one has come.
    #[test]
    fn room_to_read_grows_with_what_comes_and_is_given_back() {
        let mut buffer = ReadBuffer::default();
        let mut rooms = Vec::new();
        for count in
            [4 << 10, 8 << 10, 10, 4 << 10, 8 << 10, 16 << 10, 32 << 10, 64 << 10, 64 << 10, 40 << 10, 100]
        {
            rooms.push(buffer.room().len() >> 10);
            assert_eq!(buffer.read(count, <[u8]>::len), count);
        }
        rooms.push(buffer.room().len() >> 10);
        assert_eq!(rooms, [4, 8, 16, 4, 8, 16, 32, 64, 64, 64, 64, 4]);
    }
}
