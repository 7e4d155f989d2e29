//! A stream that blocks and the machine behind it: one thread reads and runs what is quick, whoever has something to say
//! writes.

use std::fmt;
use std::future::poll_fn;
use std::io::{self, ErrorKind, Read, Write};
use std::net::{Shutdown, TcpStream};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::task::{Context, Waker};
use std::thread::{self, Thread};
use std::time::Duration;

use mcp_proto::head::End;
use mcp_proto::time::{Instant, Now};

use crate::endpoint::{Endpoint, ReadBuffer};
use crate::lane::{Lane, Lead};
use crate::pool::Pool;
use crate::runtime::{BoxFuture, Runtime};
use crate::turn::{Done, Turn};
use crate::wake::{Promise, waker_fn};

/// A byte stream of the standard library, whose reads and writes block.
pub struct BlockingStream {
    /// What is read.
    pub read: Box<dyn Read + Send>,
    /// What is written to. Dropping it closes it.
    pub write: Box<dyn Write + Send>,
    /// The socket behind both, where there is one: shutting it down makes a read return, so the thread that drives the
    /// stream may be the one that reads.
    pub socket: Option<Arc<TcpStream>>,
    /// Whether any thread may write, also one that others wait for: because a write that blocks ends by itself, or
    /// because there is nobody else to serve.
    pub bounded: bool,
}

impl fmt::Debug for BlockingStream {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("BlockingStream").finish_non_exhaustive()
    }
}

/// Moves bytes and time between a stream that blocks and a machine until the machine is finished. Jobs of the pool that
/// come of what is read are done by the thread that reads, if they are quick: after a millisecond or two another thread
/// reads on. A socket is read on the thread that polls this, which does not return before; anything else on a thread of
/// its own.
pub async fn drive_blocking<R: Runtime>(
    runtime: R,
    pool: Pool,
    stream: BlockingStream,
    endpoint: Arc<dyn Endpoint>,
) {
    let BlockingStream { read, write, socket, bounded } = stream;
    let over = Promise::default();
    let link = Arc::new_cyclic(|link: &Weak<Link<R>>| {
        let next = link.clone();
        Link {
            runtime,
            endpoint,
            read: Mutex::new(Reading { stream: read, buffer: ReadBuffer::default() }),
            lane: Lane::new(&pool, move || next.upgrade().iter().for_each(Link::take_over)),
            write: Mutex::new(Some(Writing { stream: write, chunk: Vec::new() })),
            socket,
            bounded,
            over: over.clone(),
            reader: Mutex::new(None),
            writing: Turn::default(),
            timer: Mutex::new(None),
            broken: AtomicBool::new(false),
        }
    });
    let _dropped = Dropped(link.clone());
    // Waking a link means writing what it has.
    link.endpoint.register(&waker(&link, Link::ask));
    link.ask();
    match link.socket {
        Some(_) => link.read(),
        None => link.read_aside(),
    }
    // What is still being answered is written by whoever answers; the stream stays open until then.
    poll_fn(|cx| over.poll_take(cx.waker())).await;
}

struct Link<R> {
    runtime: R,
    endpoint: Arc<dyn Endpoint>,
    /// Of whoever leads.
    read: Mutex<Reading>,
    lane: Lane,
    /// Taken away when the writing half is closed.
    write: Mutex<Option<Writing>>,
    socket: Option<Arc<TcpStream>>,
    bounded: bool,
    /// The machine is finished, and all was written.
    over: Promise<()>,
    /// Whoever waits for the machine to want input.
    reader: Mutex<Option<Thread>>,
    writing: Turn,
    timer: Mutex<Option<(Instant, BoxFuture<()>)>>,
    /// A write has failed.
    broken: AtomicBool,
}

/// A stream that is not driven to its end, as nobody polls for it any more, is closed. What is being read then is lost.
struct Dropped<R: Runtime>(Arc<Link<R>>);

impl<R: Runtime> Drop for Dropped<R> {
    fn drop(&mut self) {
        if !self.0.endpoint.status().finished {
            self.0.endpoint.handle_end(self.0.runtime.now(), End::Broken);
            self.0.ask();
        }
    }
}

/// The reading half, and room for what was read.
struct Reading {
    stream: Box<dyn Read + Send>,
    buffer: ReadBuffer,
}

/// The writing half, and room for what is being written.
struct Writing {
    stream: Box<dyn Write + Send>,
    chunk: Vec<u8>,
}

impl Writing {
    /// Copied out at once, at the most: the machine is free while a write blocks.
    const CHUNK: usize = 1 << 20;
    /// Room that is kept for the next write.
    const KEPT: usize = 16 << 10;

    /// Writes all that a machine has.
    fn write_all(&mut self, endpoint: &dyn Endpoint, now: impl Fn() -> Now) -> io::Result<()> {
        loop {
            self.chunk.clear();
            endpoint.transmit(now(), &mut |bytes| {
                let taken = bytes.get(..Self::CHUNK).unwrap_or(bytes);
                if taken.len() > Self::KEPT {
                    // All of it at once, and given back as a whole: allocators learn from that what comes and goes.
                    // glibc's, on a thread, otherwise returns the memory of each message of some 100 KB to the system.
                    self.chunk.reserve_exact(Self::CHUNK);
                }
                self.chunk.extend_from_slice(taken);
                taken.len()
            });
            if self.chunk.is_empty() {
                if self.chunk.capacity() > Self::KEPT {
                    self.chunk = Vec::new();
                }
                return Ok(());
            }
            self.stream.write_all(&self.chunk)?;
            self.stream.flush()?;
        }
    }
}

impl<R: Runtime> Link<R> {
    /// When a timer is tried again for which there was no thread.
    const LATER: Duration = Duration::from_millis(100);

    /// Reads on a thread of its own: nothing can interrupt that, so it must not be waited for.
    fn read_aside(self: &Arc<Self>) {
        let link = self.clone();
        let reading =
            thread::Builder::new().name("mcp-read".into()).spawn(move || link.guarded(|| link.read()));
        if reading.is_err() {
            self.endpoint.handle_end(self.runtime.now(), End::Broken);
            self.ask();
        }
    }

    /// Whoever has read so far is at something that takes long.
    fn take_over(self: &Arc<Self>) {
        self.guarded(|| {
            self.ask();
            self.read();
        });
    }

    /// On another thread than that which drives the stream: a panic there would be noticed by nobody.
    fn guarded(self: &Arc<Self>, run: impl FnOnce()) {
        if catch_unwind(AssertUnwindSafe(run)).is_err() {
            self.endpoint.handle_end(self.runtime.now(), End::Broken);
            self.ask();
        }
    }

    /// Reads until there is nothing more to read, or another thread does.
    fn read(self: &Arc<Self>) {
        loop {
            let status = self.endpoint.status();
            if status.finished {
                return;
            }
            if !status.wants_read {
                self.wait_for_room();
                continue;
            }
            let mut read = self.read.lock().unwrap_or_else(PoisonError::into_inner);
            let Reading { stream, buffer } = &mut *read;
            let count = match stream.read(buffer.room()) {
                Ok(0) if self.broken.load(Ordering::SeqCst) => Err(End::Broken),
                Ok(0) => Err(End::Complete),
                Ok(count) => Ok(count),
                Err(error) if error.kind() == ErrorKind::Interrupted => continue,
                Err(_) => Err(End::Broken),
            };
            let mut read = Some(read);
            let mut lead = self.lane.turn(|| {
                match (count, &mut read) {
                    (Ok(count), Some(read)) => {
                        read.buffer
                            .read(count, |bytes| self.endpoint.handle_bytes(self.runtime.now(), bytes));
                    }
                    (Err(end), _) => self.endpoint.handle_end(self.runtime.now(), end),
                    _ => {}
                }
                // For whoever takes over.
                read = None;
                self.ask();
            });
            // What was kept back is written under watch, too.
            while lead == Lead::Owing {
                lead = self.lane.turn(|| self.ask());
            }
            if lead == Lead::Lost || count.is_err() {
                return;
            }
        }
    }

    fn wait_for_room(&self) {
        *self.reader.lock().unwrap_or_else(PoisonError::into_inner) = Some(thread::current());
        // It may have come before anybody could know who waits.
        let status = self.endpoint.status();
        if !status.wants_read && !status.finished {
            thread::park();
        }
    }

    /// Sees to it that what there is gets written.
    fn ask(self: &Arc<Self>) {
        if self.lane.keep_back() {
            return;
        }
        if self.bounded {
            return self.flush();
        }
        self.on_pool(Self::flush);
    }

    /// Does something on the pool, which may block.
    fn on_pool(self: &Arc<Self>, job: impl FnOnce(&Arc<Self>) + Send + 'static) {
        let link = self.clone();
        if let Err(job) = self.runtime.spawn_blocking(Box::new(move || job(&link))) {
            job();
        }
    }

    /// Writes all there is, on this thread, unless another one is at it already: then that one goes on.
    fn flush(self: &Arc<Self>) {
        let done = self.writing.run(|| {
            self.write_all();
            self.settle();
        });
        // What was written may have made room for input.
        if done != Done::ByAnother
            && let Some(reader) = self.reader.lock().unwrap_or_else(PoisonError::into_inner).take()
        {
            reader.unpark();
        }
    }

    /// On the timer thread, which must not block.
    fn due(self: &Arc<Self>) {
        let link = self.clone();
        if self.runtime.spawn_blocking(Box::new(move || link.fire())).is_err() {
            *self.timer.lock().unwrap_or_else(PoisonError::into_inner) = None;
            self.arm(Some(self.runtime.now().mono + Self::LATER));
        }
    }

    /// The time that the machine named has come.
    fn fire(self: &Arc<Self>) {
        *self.timer.lock().unwrap_or_else(PoisonError::into_inner) = None;
        self.endpoint.handle_timeout(self.runtime.now());
        self.flush();
    }

    fn write_all(&self) {
        let mut write = self.write.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(writing) = &mut *write else {
            return;
        };
        if writing.write_all(&*self.endpoint, || self.runtime.now()).is_err() {
            *write = None;
            drop(write);
            self.broken.store(true, Ordering::SeqCst);
            self.endpoint.handle_write_failed(self.runtime.now());
            self.interrupt();
        }
    }

    /// Does what the machine wants besides writing.
    fn settle(self: &Arc<Self>) {
        let status = self.endpoint.status();
        if status.finished || status.write_closed {
            *self.write.lock().unwrap_or_else(PoisonError::into_inner) = None;
        }
        if status.finished {
            self.interrupt();
            self.endpoint.over();
            self.over.set(());
        }
        if self.arm(status.timeout.filter(|_| !status.finished)) {
            self.on_pool(Self::fire);
        }
    }

    /// Sees to it that the machine is called in time; says whether that is now.
    fn arm(self: &Arc<Self>, timeout: Option<Instant>) -> bool {
        let mut timer = self.timer.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(deadline) = timeout else {
            *timer = None;
            return false;
        };
        // A timer that fires too early is harmless and cheaper than a new one for every message.
        if timer.as_ref().is_some_and(|(at, _)| *at <= deadline) {
            return false;
        }
        let waker = waker(self, Self::due);
        let mut sleep = self.runtime.sleep_until(deadline);
        let due = sleep.as_mut().poll(&mut Context::from_waker(&waker)).is_ready();
        *timer = Some((deadline, sleep)).filter(|_| !due);
        due
    }

    /// Makes a blocked read return, after what has arrived.
    fn interrupt(&self) {
        if let Some(socket) = &self.socket {
            // A socket that is gone already needs no closing.
            let _ = socket.shutdown(Shutdown::Both);
        }
    }
}

/// A waker that does something with a link, if that is still there.
fn waker<R: Runtime>(link: &Arc<Link<R>>, wake: impl Fn(&Arc<Link<R>>) + Send + Sync + 'static) -> Waker {
    let link = Arc::downgrade(link);
    waker_fn(move || {
        if let Some(link) = link.upgrade() {
            wake(&link);
        }
    })
}
