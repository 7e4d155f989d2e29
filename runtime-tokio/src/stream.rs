//! Byte streams of tokio: sockets, pipes, files.

use std::fmt;
use std::fs::File;
use std::io;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use mcp_driver::{ByteStream, Stdio};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;

/// A connected byte stream of two halves, either of which may be missing.
pub struct Stream {
    read: Option<Box<dyn AsyncRead + Send + Unpin>>,
    write: Option<Box<dyn AsyncWrite + Send + Unpin>>,
}

impl Stream {
    /// Two halves: anything that tokio can read, and anything that it can write.
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
    pub(crate) fn socket(socket: TcpStream) -> io::Result<Self> {
        socket.set_nodelay(true)?;
        let (read, write) = socket.into_split();
        Ok(Self::new(read, write))
    }

    /// Standard input and output: through the reactor where they are pipes, through threads otherwise.
    pub(crate) fn stdio(stdio: Stdio) -> io::Result<Self> {
        Ok(Self { read: Some(reader(stdio.input)?), write: Some(writer(stdio.output)?) })
    }
}

fn reader(file: File) -> io::Result<Box<dyn AsyncRead + Send + Unpin>> {
    #[cfg(unix)]
    if Stdio::is_pollable(&file) {
        rustix::io::ioctl_fionbio(&file, true)?;
        return Ok(Box::new(tokio::net::unix::pipe::Receiver::from_file_unchecked(file)?));
    }
    Ok(Box::new(tokio::fs::File::from_std(file)))
}

fn writer(file: File) -> io::Result<Box<dyn AsyncWrite + Send + Unpin>> {
    #[cfg(unix)]
    if Stdio::is_pollable(&file) {
        rustix::io::ioctl_fionbio(&file, true)?;
        return Ok(Box::new(tokio::net::unix::pipe::Sender::from_file_unchecked(file)?));
    }
    Ok(Box::new(tokio::fs::File::from_std(file)))
}

impl ByteStream for Stream {
    fn poll_read(&mut self, cx: &mut Context<'_>, buffer: &mut [u8]) -> Poll<io::Result<usize>> {
        let Some(read) = &mut self.read else {
            return Poll::Ready(Ok(0));
        };
        let mut buffer = ReadBuf::new(buffer);
        ready!(Pin::new(read).poll_read(cx, &mut buffer))?;
        Poll::Ready(Ok(buffer.filled().len()))
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
            ready!(Pin::new(write).poll_shutdown(cx))?;
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
    use tokio::net::{TcpListener, TcpStream};

    use super::Stream;

    /// P09: an answer that is written in pieces does not wait for its first one to be confirmed.
    #[tokio::test]
    async fn sockets_do_not_delay() {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let socket = TcpStream::connect(listener.local_addr().unwrap()).await.unwrap().into_std().unwrap();
        let same = socket.try_clone().unwrap();
        assert!(!same.nodelay().unwrap());
        let _stream = Stream::socket(TcpStream::from_std(socket).unwrap()).unwrap();
        assert!(same.nodelay().unwrap());
    }
}
