//! tokio as a runtime of the driver.

use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use mcp_driver::{
    Async, BoxFuture, Clock, Command, Endpoint, Instant, Job, Jobs, Limits, Now, Process, Runtime, Stdio,
    pump,
};
use tokio::net::{TcpListener, TcpStream};

use crate::stream::Stream;

/// tokio, on the runtime that the calling thread is in.
#[derive(Clone, Debug)]
pub struct Tokio {
    clock: Clock,
    jobs: Jobs,
}

impl Default for Tokio {
    fn default() -> Self {
        Self { clock: Clock::start(), jobs: Jobs::default() }
    }
}

impl Runtime for Tokio {
    type Mode = Async;
    type Stream = Stream;
    type Listener = TcpListener;

    fn now(&self) -> Now {
        self.clock.now()
    }

    fn configure(&self, limits: &Limits) {
        self.jobs.bound(limits);
    }

    fn spawn(&self, task: BoxFuture<()>) {
        tokio::spawn(task);
    }

    fn spawn_blocking(&self, job: Job) -> Result<(), Job> {
        tokio::task::spawn_blocking(self.jobs.admit(job)?);
        Ok(())
    }

    fn sleep_until(&self, deadline: Instant) -> BoxFuture<()> {
        Box::pin(tokio::time::sleep_until(self.clock.to_std(deadline).into()))
    }

    fn connect(&self, address: SocketAddr, _: Duration) -> BoxFuture<io::Result<Stream>> {
        Box::pin(async move { Stream::socket(TcpStream::connect(address).await?) })
    }

    fn listen(&self, address: String) -> BoxFuture<io::Result<TcpListener>> {
        Box::pin(TcpListener::bind(address))
    }

    fn local_address(&self, listener: &TcpListener) -> io::Result<SocketAddr> {
        listener.local_addr()
    }

    fn accept(&self, listener: TcpListener) -> BoxFuture<(TcpListener, io::Result<Stream>)> {
        Box::pin(async move {
            let accepted = listener.accept().await;
            (listener, accepted.and_then(|(socket, _)| Stream::socket(socket)))
        })
    }

    fn stdio(&self, stdio: Stdio) -> io::Result<Stream> {
        Stream::stdio(stdio)
    }

    fn spawn_process(&self, command: &Command) -> io::Result<Process<Self>> {
        let mut command = tokio::process::Command::from(command.to_std());
        let mut child = command.kill_on_drop(true).spawn()?;
        let closed = || io::Error::from(io::ErrorKind::BrokenPipe);
        let (stdin, stdout) =
            (child.stdin.take().ok_or_else(closed)?, child.stdout.take().ok_or_else(closed)?);
        let stderr = child.stderr.take().ok_or_else(closed)?;
        Ok(Process {
            stream: Stream::new(stdout, stdin),
            stderr: Stream::read_only(stderr),
            id: child.id().ok_or_else(closed)?,
            exit: Box::pin(async move { child.wait().await }),
        })
    }

    fn drive(&self, stream: Stream, endpoint: Arc<dyn Endpoint>) -> BoxFuture<()> {
        Box::pin(pump(self.clone(), stream, endpoint))
    }
}
