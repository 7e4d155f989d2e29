//! What an adapter implements. Whoever has another executor writes these and has the whole SDK.

use std::fmt;
use std::future::Future;
use std::io;
use std::net::SocketAddr;
use std::pin::Pin;
use std::process::ExitStatus;
use std::sync::Arc;
use std::time::Duration;

#[cfg(any(feature = "http", feature = "seal"))]
use mcp_proto::entropy::Seed;
use mcp_proto::limits::Limits;
use mcp_proto::time::{Instant, Now};

use crate::endpoint::Endpoint;
use crate::process::Command;
use crate::reply::{Mode, Running};

/// A future that owns what it needs and may move between threads.
pub type BoxFuture<T> = Pin<Box<dyn Future<Output = T> + Send>>;

/// Work for a thread that may block.
pub type Job = Box<dyn FnOnce() + Send>;

/// An executor with its sockets, pipes, processes and timers.
///
/// It holds no protocol decision: it moves bytes between streams and [`Endpoint`]s, waits, and runs what it
/// is given. The type is a handle; clones share whatever is behind it.
pub trait Runtime: Clone + Default + Send + Sync + fmt::Debug + 'static {
    /// How a call is waited for: [`Async`](crate::Async) or [`Blocking`](crate::Blocking).
    type Mode: Mode;
    /// A connected byte stream: a socket, a pair of pipes, standard input and output.
    type Stream: Send + 'static;
    /// A socket that accepts connections.
    type Listener: Send + 'static;

    /// Both clocks. `mono` counts from any epoch, the same for all clones.
    fn now(&self) -> Now;

    /// 32 bytes that nobody can guess.
    ///
    /// # Errors
    /// When the system has no entropy to give.
    #[cfg(any(feature = "http", feature = "seal"))]
    fn seed(&self) -> io::Result<Seed> {
        let mut bytes = [0; 32];
        getrandom::fill(&mut bytes).map_err(|error| io::Error::other(error.to_string()))?;
        Ok(Seed::new(bytes))
    }

    /// Runs a task to its end, in the background.
    fn spawn(&self, task: BoxFuture<()>);

    /// Runs a job on a thread that may block, such as one of a [`Pool`](crate::Pool). No job may wait for others: each
    /// server and client has a bounded number at one time ([`Limits::blocking_threads`] for handlers), some of which may
    /// take for ever.
    ///
    /// # Errors
    /// The job itself, when there is no thread to be had.
    fn spawn_blocking(&self, job: Job) -> Result<(), Job>;

    /// Is ready once the monotonic clock has reached `deadline`.
    fn sleep_until(&self, deadline: Instant) -> BoxFuture<()>;

    /// Is ready once the other tasks of this thread, those that wait for their streams included, have had their turn.
    /// Whoever asks has had itself woken and returns to the executor besides, so the default, which is ready at once, is
    /// right where that puts a task behind all of them.
    fn give_way(&self) -> BoxFuture<()> {
        Box::pin(std::future::ready(()))
    }

    /// Opens a TCP connection, with `TCP_NODELAY` set. Whoever asks for it drops the future after `patience`; where
    /// connecting blocks, it has to fail by then.
    fn connect(&self, address: SocketAddr, patience: Duration) -> BoxFuture<io::Result<Self::Stream>>;

    /// Listens on a TCP address such as `127.0.0.1:8000`.
    fn listen(&self, address: String) -> BoxFuture<io::Result<Self::Listener>>;

    /// The address a listener is bound to.
    ///
    /// # Errors
    /// When the operating system does not say.
    fn local_address(&self, listener: &Self::Listener) -> io::Result<SocketAddr>;

    /// Takes the next connection, with `TCP_NODELAY` set, and hands the listener back.
    fn accept(&self, listener: Self::Listener) -> BoxFuture<(Self::Listener, io::Result<Self::Stream>)>;

    /// The process's own standard input and output, as [`Stdio::take`](crate::stdio::Stdio::take) found them.
    ///
    /// # Errors
    /// When they cannot be driven.
    fn stdio(&self, stdio: crate::stdio::Stdio) -> io::Result<Self::Stream>;

    /// Starts a child in a process group of its own, with pipes for all three standard streams.
    ///
    /// # Errors
    /// When the program cannot be started; the driver adds its name and where it was looked for.
    fn spawn_process(&self, command: &Command) -> io::Result<Process<Self>>;

    /// Connects a stream with the machine behind it, until the machine is finished or the stream breaks: by
    /// [`pump`](crate::pump), or by [`drive_blocking`](crate::drive_blocking) where reads block.
    fn drive(&self, stream: Self::Stream, endpoint: Arc<dyn Endpoint>) -> BoxFuture<()>;

    /// Runs what wakes an endpoint on behalf of somebody else, who must not wait for its peer, nor may that for
    /// handlers. Where waking only schedules, that is at once, which is the default.
    fn wake_aside(&self, wake: Job) {
        wake();
    }

    /// Adapts what an adapter holds to the bounds in force; called once before anything else.
    fn configure(&self, limits: &Limits) {
        let _ = limits;
    }

    /// Waits for something in this runtime's way: hands the future to whoever awaits it, or blocks.
    fn run<T: Send + 'static, E: Send + 'static>(
        &self,
        running: Running<T, E>,
    ) -> <Self::Mode as Mode>::Reply<T, E> {
        <Self::Mode as Mode>::reply(running)
    }
}

/// A child process, just started.
#[non_exhaustive]
pub struct Process<R: Runtime> {
    /// Its standard output (read) and input (written).
    pub stream: R::Stream,
    /// Its standard error (read).
    pub stderr: R::Stream,
    /// Is ready once it has exited and was reaped. The driver ends the process itself; where this is dropped before, with
    /// its runtime, it should kill the child if it can.
    pub exit: BoxFuture<io::Result<ExitStatus>>,
    /// Its process id, which is also that of its group.
    pub id: u32,
    /// Its handle, as a number, which is good for as long as `exit` is there. Without one only the child itself is ended,
    /// by its runtime, and what it has started is not.
    #[cfg(windows)]
    pub handle: Option<isize>,
}

impl<R: Runtime> Process<R> {
    /// A child by its streams, the future of its exit, and its id.
    pub fn new(
        stream: R::Stream,
        stderr: R::Stream,
        exit: BoxFuture<io::Result<ExitStatus>>,
        id: u32,
    ) -> Self {
        Self {
            stream,
            stderr,
            exit,
            id,
            #[cfg(windows)]
            handle: None,
        }
    }

    /// With its handle.
    #[cfg(windows)]
    #[must_use]
    pub fn handle(mut self, handle: isize) -> Self {
        self.handle = Some(handle);
        self
    }
}

impl<R: Runtime> fmt::Debug for Process<R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Process").field("id", &self.id).finish_non_exhaustive()
    }
}
