//! smol as a runtime of the driver.

use std::future::{Future, poll_fn};
use std::io;
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::pin::Pin;
use std::sync::Arc;
use std::task::Poll;
use std::time::Duration;

use async_io::{Async, Timer};
use mcp_driver::{
    BoxFuture, Clock, Command, Endpoint, Instant, Job, Now, Pool, Process, Runtime, Stdio, drive_blocking,
    pump,
};

use crate::stream::{Kind, Stream};

/// smol, on its global executor.
#[derive(Clone, Debug)]
pub struct Smol {
    clock: Clock,
    pool: Pool,
}

impl Default for Smol {
    fn default() -> Self {
        Self { clock: Clock::start(), pool: Pool::default() }
    }
}

impl Runtime for Smol {
    type Mode = mcp_driver::Async;
    type Stream = Stream;
    type Listener = Async<TcpListener>;

    fn now(&self) -> Now {
        self.clock.now()
    }

    fn spawn(&self, task: BoxFuture<()>) {
        smol::spawn(task).detach();
    }

    /// Not on the threads of `blocking`, of which there are only so many for all that may block.
    fn spawn_blocking(&self, job: Job) -> Result<(), Job> {
        self.pool.run(job)
    }

    fn sleep_until(&self, deadline: Instant) -> BoxFuture<()> {
        let timer = Timer::at(self.clock.to_std(deadline));
        Box::pin(async move {
            timer.await;
        })
    }

    fn give_way(&self) -> BoxFuture<()> {
        // The executor runs what is woken two hundred times before it looks for streams. Timers it finds only when it
        // does, and this one is never found before: if it is due by the time it is made, another is.
        let mut timer: Option<Timer> = None;
        Box::pin(poll_fn(move |cx| match &mut timer {
            Some(timer) => Pin::new(timer).poll(cx).map(drop),
            timer => loop {
                let timer = timer.insert(Timer::after(Duration::from_micros(20)));
                if Pin::new(timer).poll(cx).is_pending() {
                    return Poll::Pending;
                }
            },
        }))
    }

    fn connect(&self, address: SocketAddr, _: Duration) -> BoxFuture<io::Result<Stream>> {
        Box::pin(async move { Stream::socket(Async::<TcpStream>::connect(address).await?) })
    }

    fn listen(&self, address: String) -> BoxFuture<io::Result<Async<TcpListener>>> {
        Box::pin(async move {
            let listener = smol::unblock(move || TcpListener::bind(address)).await?;
            Async::new(listener)
        })
    }

    fn local_address(&self, listener: &Async<TcpListener>) -> io::Result<SocketAddr> {
        listener.get_ref().local_addr()
    }

    fn accept(&self, listener: Async<TcpListener>) -> BoxFuture<(Async<TcpListener>, io::Result<Stream>)> {
        Box::pin(async move {
            let accepted = listener.accept().await;
            (listener, accepted.and_then(|(socket, _)| Stream::socket(socket)))
        })
    }

    fn stdio(&self, stdio: Stdio) -> io::Result<Stream> {
        Ok(Stream::stdio(stdio))
    }

    fn spawn_process(&self, command: &Command) -> io::Result<Process<Self>> {
        let mut command = smol::process::Command::from(command.to_std());
        let pipe = smol::process::Stdio::piped;
        let mut child = command.stdin(pipe()).stdout(pipe()).stderr(pipe()).kill_on_drop(true).spawn()?;
        let closed = || io::Error::from(io::ErrorKind::BrokenPipe);
        let (stdin, stdout) =
            (child.stdin.take().ok_or_else(closed)?, child.stdout.take().ok_or_else(closed)?);
        let stderr = child.stderr.take().ok_or_else(closed)?;
        let id = child.id();
        #[cfg(windows)]
        let handle = std::os::windows::io::AsRawHandle::as_raw_handle(&child) as isize;
        let exit = Box::pin(async move { child.status().await });
        let process = Process::new(Stream::new(stdout, stdin), Stream::read_only(stderr), exit, id);
        #[cfg(windows)]
        let process = process.handle(handle);
        Ok(process)
    }

    fn drive(&self, stream: Stream, endpoint: Arc<dyn Endpoint>) -> BoxFuture<()> {
        match stream.0 {
            Kind::Reactor(stream) => Box::pin(pump(self.clone(), stream, endpoint)),
            Kind::Threads(stream) => {
                Box::pin(drive_blocking(self.clone(), self.pool.clone(), stream, endpoint))
            }
        }
    }
}
