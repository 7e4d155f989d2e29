//! Byte streams of smol: sockets, pipes, and standard input and output.

use std::fmt;
use std::io::{self, ErrorKind, Read};
use std::net::TcpStream;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};

use async_io::Async;
use mcp_driver::{BlockingStream, ByteStream, Stdio};
use smol::io::{AsyncRead, AsyncWrite};

/// A connected byte stream of two halves, either of which may be missing.
pub struct Stream(pub(crate) Kind);

pub(crate) enum Kind {
    /// What smol's reactor looks after.
    Reactor(Halves),
    /// What threads read and write.
    Threads(BlockingStream),
}

pub(crate) struct Halves {
    read: Option<Box<dyn AsyncRead + Send + Unpin>>,
    write: Option<Box<dyn AsyncWrite + Send + Unpin>>,
}

impl Stream {
    /// Two halves: anything that can be read and written in the manner of futures-io.
    pub fn new(
        read: impl AsyncRead + Send + Unpin + 'static,
        write: impl AsyncWrite + Send + Unpin + 'static,
    ) -> Self {
        Self(Kind::Reactor(Halves { read: Some(Box::new(read)), write: Some(Box::new(write)) }))
    }

    pub(crate) fn read_only(read: impl AsyncRead + Send + Unpin + 'static) -> Self {
        Self(Kind::Reactor(Halves { read: Some(Box::new(read)), write: None }))
    }

    /// A socket, without Nagle's delay.
    pub(crate) fn socket(socket: Async<TcpStream>) -> io::Result<Self> {
        socket.get_ref().set_nodelay(true)?;
        let socket = smol::net::TcpStream::from(socket);
        Ok(Self::new(Reading { source: socket.clone().into(), drained: false }, socket))
    }

    /// Standard input and output, whatever they are: the reactor takes seven system calls more for a message than a
    /// thread that reads.
    pub(crate) fn stdio(stdio: Stdio) -> Self {
        let (read, write) = (Box::new(stdio.input), Box::new(stdio.output));
        Self(Kind::Threads(BlockingStream { read, write, socket: None, bounded: false }))
    }
}

/// Waits for more without trying, where the last read has left nothing.
struct Reading {
    source: Arc<Async<TcpStream>>,
    drained: bool,
}

impl AsyncRead for Reading {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut [u8],
    ) -> Poll<io::Result<usize>> {
        loop {
            if self.drained {
                ready!(self.source.poll_readable(cx))?;
                self.drained = false;
            }
            match self.source.get_ref().read(buffer) {
                Err(error) if error.kind() == ErrorKind::WouldBlock => self.drained = true,
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                read => {
                    self.drained = matches!(read, Ok(count) if count > 0 && count < buffer.len());
                    return Poll::Ready(read);
                }
            }
        }
    }
}

impl ByteStream for Halves {
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

#[cfg(test)]
mod tests {
    use std::io::Write;
    use std::net::{TcpListener, TcpStream};
    use std::sync::Arc;

    use async_io::Async;
    use smol::io::AsyncReadExt;

    use super::Reading;

    /// A read that leaves nothing, or maybe something, misses nothing of what comes before the next one, nor the end.
    #[test]
    fn what_comes_after_a_read_is_found() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let mut peer = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        let source = Arc::new(Async::new(listener.accept().unwrap().0).unwrap());
        let (mut reading, mut buffer) = (Reading { source, drained: false }, [0; 4]);
        smol::block_on(async {
            for text in ["ab", "cdef", "ghij", "k"] {
                peer.write_all(text.as_bytes()).unwrap();
                let count = reading.read(&mut buffer).await.unwrap();
                assert_eq!(&buffer[..count], text.as_bytes());
                assert_eq!(reading.drained, text.len() < buffer.len());
            }
            drop(peer);
            for _ in 0..2 {
                assert_eq!(reading.read(&mut buffer).await.unwrap(), 0);
            }
        });
    }

    /// P09: an answer that is written in pieces does not wait for its first one to be confirmed.
    #[test]
    fn sockets_do_not_delay() {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let socket = std::net::TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        let same = socket.try_clone().unwrap();
        assert!(!same.nodelay().unwrap());
        let _stream = super::Stream::socket(async_io::Async::new(socket).unwrap()).unwrap();
        assert!(same.nodelay().unwrap());
    }
}
