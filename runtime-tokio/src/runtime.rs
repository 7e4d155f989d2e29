//! tokio as a runtime of the driver.

use std::future::{Future, pending, poll_fn};
use std::io;
use std::net::SocketAddr;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use mcp_driver::{
    Async, BoxFuture, Clock, Command, Endpoint, Instant, Job, Now, Pool, Process, Runtime, Stdio, pump,
};
use tokio::net::{TcpListener, TcpStream};
use tokio::runtime::Handle;

use crate::stream::Stream;

/// tokio, on the runtime that the calling thread is in. Threads that are in none, such as those of an application that
/// changes what a server offers, use the one that was in use first. As long as there was none, whatever opens a stream
/// fails, and nothing else can happen: tasks are dropped, and no time passes.
#[derive(Clone, Debug)]
pub struct Tokio {
    clock: Clock,
    first: Arc<OnceLock<Handle>>,
    pool: Pool,
}

impl Default for Tokio {
    fn default() -> Self {
        Self { clock: Clock::start(), first: Arc::default(), pool: Pool::default() }
    }
}

impl Tokio {
    fn handle(&self) -> io::Result<Handle> {
        match Handle::try_current() {
            Ok(current) => {
                self.first.get_or_init(|| current.clone());
                Ok(current)
            }
            Err(_) => self.first.get().cloned().ok_or_else(|| io::Error::other("there is no tokio runtime")),
        }
    }

    /// Has a future polled in the runtime, by whatever thread.
    fn within<T>(&self, future: impl Future<Output = T> + Send + 'static) -> BoxFuture<T> {
        let (tokio, mut future) = (self.clone(), Box::pin(future));
        Box::pin(poll_fn(move |cx| {
            let handle = tokio.handle().ok();
            let _in = handle.as_ref().map(Handle::enter);
            future.as_mut().poll(cx)
        }))
    }
}

impl Runtime for Tokio {
    type Mode = Async;
    type Stream = Stream;
    type Listener = TcpListener;

    fn now(&self) -> Now {
        // Whatever is served or called looks at the clock first.
        if self.first.get().is_none() {
            let _ = self.handle();
        }
        self.clock.now()
    }

    fn spawn(&self, task: BoxFuture<()>) {
        if let Ok(handle) = self.handle() {
            handle.spawn(task);
        }
    }

    /// Not on tokio's own threads, of which there are only so many for all that may block. The job finds itself in the
    /// runtime all the same.
    fn spawn_blocking(&self, job: Job) -> Result<(), Job> {
        let Ok(handle) = self.handle() else { return Err(job) };
        self.pool.run(Box::new(move || {
            let _in = handle.enter();
            job();
        }))
    }

    fn sleep_until(&self, deadline: Instant) -> BoxFuture<()> {
        let Ok(handle) = self.handle() else { return Box::pin(pending()) };
        let _in = handle.enter();
        Box::pin(tokio::time::sleep_until(self.clock.to_std(deadline).into()))
    }

    fn connect(&self, address: SocketAddr, _: Duration) -> BoxFuture<io::Result<Stream>> {
        let handle = self.handle();
        self.within(async move {
            handle?;
            Stream::socket(TcpStream::connect(address).await?)
        })
    }

    fn listen(&self, address: String) -> BoxFuture<io::Result<TcpListener>> {
        let handle = self.handle();
        self.within(async move {
            handle?;
            TcpListener::bind(address).await
        })
    }

    fn local_address(&self, listener: &TcpListener) -> io::Result<SocketAddr> {
        listener.local_addr()
    }

    fn accept(&self, listener: TcpListener) -> BoxFuture<(TcpListener, io::Result<Stream>)> {
        self.within(async move {
            let accepted = listener.accept().await;
            (listener, accepted.and_then(|(socket, _)| Stream::socket(socket)))
        })
    }

    fn stdio(&self, stdio: Stdio) -> io::Result<Stream> {
        let handle = self.handle()?;
        let _in = handle.enter();
        Stream::stdio(stdio)
    }

    fn spawn_process(&self, command: &Command) -> io::Result<Process<Self>> {
        let handle = self.handle()?;
        let _in = handle.enter();
        let mut command = tokio::process::Command::from(command.to_std());
        let mut child = command.kill_on_drop(true).spawn()?;
        let closed = || io::Error::from(io::ErrorKind::BrokenPipe);
        let (stdin, stdout) =
            (child.stdin.take().ok_or_else(closed)?, child.stdout.take().ok_or_else(closed)?);
        let stderr = child.stderr.take().ok_or_else(closed)?;
        let id = child.id().ok_or_else(closed)?;
        #[cfg(windows)]
        let handle = child.raw_handle().ok_or_else(closed)? as isize;
        let exit = Box::pin(async move { child.wait().await });
        let process = Process::new(Stream::new(stdout, stdin), Stream::read_only(stderr), exit, id);
        #[cfg(windows)]
        let process = process.handle(handle);
        Ok(process)
    }

    fn drive(&self, stream: Stream, endpoint: Arc<dyn Endpoint>) -> BoxFuture<()> {
        Box::pin(pump(self.clone(), stream, endpoint))
    }
}
