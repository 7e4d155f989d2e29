//! Plain threads as a runtime of the driver.

use std::fmt;
use std::future::poll_fn;
use std::io;
use std::net::{SocketAddr, TcpStream};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

use mcp_driver::{
    Blocking, BoxFuture, Clock, Command, Endpoint, Instant, Job, Limits, Now, Pool, Process, Promise,
    Runtime, Stdio, block_on, drive_blocking,
};

use crate::listener::Listener;
use crate::stream::Stream;
use crate::timers::Timers;

/// Threads of the standard library: one for each stream, one for timers, and as many as there is to do at one time that
/// may block.
#[derive(Clone)]
pub struct Threads(Arc<Shared>);

struct Shared {
    clock: Clock,
    pool: Pool,
    timers: Timers,
    limits: Mutex<Limits>,
}

impl Default for Threads {
    fn default() -> Self {
        let clock = Clock::start();
        let timers = Timers::new(clock);
        Self(Arc::new(Shared { clock, pool: Pool::default(), timers, limits: Mutex::default() }))
    }
}

impl fmt::Debug for Threads {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Threads")
    }
}

impl Threads {
    fn limits(&self) -> MutexGuard<'_, Limits> {
        self.0.limits.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn stall(&self) -> Duration {
        self.limits().stall
    }
}

impl Runtime for Threads {
    type Mode = Blocking;
    type Stream = Stream;
    type Listener = Listener;

    fn now(&self) -> Now {
        self.0.clock.now()
    }

    fn configure(&self, limits: &Limits) {
        self.limits().clone_from(limits);
    }

    /// On a thread of its own. When there are no more threads the task is dropped, which its machines take
    /// for a broken connection.
    fn spawn(&self, task: BoxFuture<()>) {
        drop(thread::Builder::new().name("mcp-task".into()).spawn(move || block_on(task)));
    }

    fn spawn_blocking(&self, job: Job) -> Result<(), Job> {
        self.0.pool.run(job)
    }

    /// Waking an endpoint writes to its peer, who may not read.
    fn wake_aside(&self, wake: Job) {
        self.spawn_blocking(wake).unwrap_or_else(|wake| wake());
    }

    fn sleep_until(&self, deadline: Instant) -> BoxFuture<()> {
        Box::pin(self.0.timers.sleep_until(deadline))
    }

    fn connect(&self, address: SocketAddr, patience: Duration) -> BoxFuture<io::Result<Stream>> {
        let stall = self.stall();
        Box::pin(async move { Stream::socket(TcpStream::connect_timeout(&address, patience)?, stall) })
    }

    fn listen(&self, address: String) -> BoxFuture<io::Result<Listener>> {
        let queue = self.limits().accept_queue;
        Box::pin(async move { Listener::bind(&address, queue) })
    }

    fn local_address(&self, listener: &Listener) -> io::Result<SocketAddr> {
        Ok(listener.local_address())
    }

    fn accept(&self, listener: Listener) -> BoxFuture<(Listener, io::Result<Stream>)> {
        let stall = self.stall();
        Box::pin(async move {
            let accepted = poll_fn(|cx| listener.poll_accept(cx.waker())).await;
            (listener, accepted.and_then(|socket| Stream::socket(socket, stall)))
        })
    }

    fn stdio(&self, stdio: Stdio) -> io::Result<Stream> {
        Ok(Stream::stdio(stdio))
    }

    fn spawn_process(&self, command: &Command) -> io::Result<Process<Self>> {
        let mut child = command.to_std().spawn()?;
        let closed = || io::Error::from(io::ErrorKind::BrokenPipe);
        let (stdin, stdout) =
            (child.stdin.take().ok_or_else(closed)?, child.stdout.take().ok_or_else(closed)?);
        let stderr = child.stderr.take().ok_or_else(closed)?;
        let id = child.id();
        #[cfg(windows)]
        let handle = std::os::windows::io::AsHandle::as_handle(&child).try_clone_to_owned()?;
        let exit = Promise::default();
        let waiting = exit.clone();
        thread::Builder::new().name("mcp-child".into()).spawn(move || waiting.set(child.wait()))?;
        #[cfg(windows)]
        let number = std::os::windows::io::AsRawHandle::as_raw_handle(&handle) as isize;
        let exit = Box::pin(poll_fn(move |cx| {
            #[cfg(windows)]
            let _ = &handle;
            exit.poll_take(cx.waker())
        }));
        let process = Process::new(Stream::new(stdout, stdin), Stream::read_only(stderr), exit, id);
        #[cfg(windows)]
        let process = process.handle(number);
        Ok(process)
    }

    /// Reads sockets on the thread that polls the future first, which only returns when the stream is done.
    fn drive(&self, stream: Stream, endpoint: Arc<dyn Endpoint>) -> BoxFuture<()> {
        Box::pin(drive_blocking(self.clone(), self.0.pool.clone(), stream.0, endpoint))
    }
}
