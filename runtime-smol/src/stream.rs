//! Byte streams of smol: sockets, pipes, files.

use std::fmt;
use std::fs::File;
use std::io;
use std::net::TcpStream;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use async_io::Async;
use mcp_driver::{ByteStream, Stdio};
use smol::io::{AsyncRead, AsyncWrite};

/// A connected byte stream of two halves, either of which may be missing.
pub struct Stream {
    read: Option<Box<dyn AsyncRead + Send + Unpin>>,
    write: Option<Box<dyn AsyncWrite + Send + Unpin>>,
}

impl Stream {
    /// Two halves: anything that can be read and written in the manner of futures-io.
    pub fn new(
        read: impl AsyncRead + Send + Unpin + 'static,
        write: impl AsyncWrite + Send + Unpin + 'static,
    ) -> Self {
        Self { read: Some(Box::new(read)), write: Some(Box::new(write)) }
    }

    pub(crate) fn read_only(read: impl AsyncRead + Send + Unpin + 'static) -> Self {
        Self { read: Some(Box::new(read)), write: None }
    }

    /// A socket, without Nagle's delay.
    pub(crate) fn socket(socket: Async<TcpStream>) -> io::Result<Self> {
        socket.get_ref().set_nodelay(true)?;
        let socket = smol::net::TcpStream::from(socket);
        Ok(Self::new(socket.clone(), socket))
    }

    /// Standard input and output: through the reactor where they are pipes, through threads otherwise.
    pub(crate) fn stdio(stdio: Stdio) -> io::Result<Self> {
        Ok(Self { read: Some(reader(stdio.input)?), write: Some(writer(stdio.output)?) })
    }
}

fn reader(file: File) -> io::Result<Box<dyn AsyncRead + Send + Unpin>> {
    #[cfg(unix)]
    if Stdio::is_pollable(&file) {
        return Ok(Box::new(Async::new(file)?));
    }
    Ok(Box::new(smol::Unblock::new(file)))
}

fn writer(file: File) -> io::Result<Box<dyn AsyncWrite + Send + Unpin>> {
    #[cfg(unix)]
    if Stdio::is_pollable(&file) {
        return Ok(Box::new(Async::new(file)?));
    }
    Ok(Box::new(smol::Unblock::new(file)))
}

impl ByteStream for Stream {
    fn poll_read(&mut self, cx: &mut Context<'_>, buffer: &mut [u8]) -> Poll<io::Result<usize>> {
        match &mut self.read {
            Some(read) => Pin::new(read).poll_read(cx, buffer),
            None => Poll::Ready(Ok(0)),
        }
    }

    fn poll_write(&mut self, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        match &mut self.write {
            Some(write) => Pin::new(write).poll_write(cx, bytes),
            None => Poll::Ready(Err(io::ErrorKind::BrokenPipe.into())),
        }
    }

    fn poll_flush(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        match &mut self.write {
            Some(write) => Pin::new(write).poll_flush(cx),
            None => Poll::Ready(Ok(())),
        }
    }

    fn poll_close(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        if let Some(write) = &mut self.write {
            ready!(Pin::new(write).poll_close(cx))?;
        }
        self.write = None;
        Poll::Ready(Ok(()))
    }
}

impl fmt::Debug for Stream {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Stream").finish_non_exhaustive()
    }
}
