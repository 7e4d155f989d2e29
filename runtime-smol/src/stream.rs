//! Byte streams of smol: sockets, pipes, files.

use std::fmt;
use std::fs::File;
use std::io::{self, Read};
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
    Ok(Box::new(smol::Unblock::new(ToEnd(Some(file)))))
}

/// A reader that stays at its end. A terminal goes on behind one, and `Unblock` reads once more to be sure.
struct ToEnd<R>(Option<R>);

impl<R: Read> Read for ToEnd<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let Some(reader) = &mut self.0 else {
            return Ok(0);
        };
        let count = reader.read(buffer)?;
        if count == 0 && !buffer.is_empty() {
            self.0 = None;
        }
        Ok(count)
    }
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

#[cfg(test)]
mod tests {
    use super::*;
    use smol::io::AsyncReadExt;

    /// A terminal at which a line and an end of file were typed, and nothing since.
    struct Terminal(u8);

    impl Read for Terminal {
        fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
            self.0 += 1;
            match (self.0, buffer.first_mut()) {
                (1, Some(first)) => {
                    *first = b'x';
                    Ok(1)
                }
                (2, _) => Ok(0),
                _ => panic!("nobody types any more: this read blocks"),
            }
        }
    }

    #[test]
    fn the_end_of_a_terminal_is_seen_once_and_for_all() {
        let mut reader = smol::Unblock::new(ToEnd(Some(Terminal(0))));
        let mut read = Vec::new();
        smol::block_on(reader.read_to_end(&mut read)).unwrap();
        assert_eq!(read, b"x");
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
