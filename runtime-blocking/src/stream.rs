//! Byte streams of std: sockets, pipes, files. Reading and writing block.

use std::fmt;
use std::io::{self, Read, Write};
use std::net::{Shutdown, TcpStream};
use std::sync::Arc;
use std::time::Duration;

use mcp_driver::{BlockingStream, Stdio};

/// A connected byte stream of two halves, either of which may be missing.
pub struct Stream(pub(crate) BlockingStream);

impl Stream {
    /// Two halves: anything that can be read and written. Dropping the writing half closes it.
    pub fn new(read: impl Read + Send + 'static, write: impl Write + Send + 'static) -> Self {
        Self(BlockingStream { read: Box::new(read), write: Box::new(write), socket: None, bounded: false })
    }

    pub(crate) fn read_only(read: impl Read + Send + 'static) -> Self {
        Self::new(read, io::sink())
    }

    /// A socket, without Nagle's delay, on which a write that makes no progress fails in the end.
    pub(crate) fn socket(socket: TcpStream, stall: Duration) -> io::Result<Self> {
        socket.set_nodelay(true)?;
        socket.set_write_timeout(Some(stall))?;
        // Shared and not cloned: each clone costs a descriptor.
        let socket = Arc::new(socket);
        let mut stream = Self::new(Reading(socket.clone()), Writing(socket.clone()));
        stream.0.socket = Some(socket);
        // By its time limit.
        stream.0.bounded = true;
        Ok(stream)
    }

    pub(crate) fn stdio(stdio: Stdio) -> Self {
        let mut stream = Self::new(stdio.input, stdio.output);
        // There is nobody else to serve.
        stream.0.bounded = true;
        stream
    }
}

struct Reading(Arc<TcpStream>);

impl Read for Reading {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        (&*self.0).read(buffer)
    }
}

/// Ends the writing direction when it is dropped: others keep the socket itself open.
struct Writing(Arc<TcpStream>);

impl Write for Writing {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        (&*self.0).write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        (&*self.0).flush()
    }
}

impl Drop for Writing {
    fn drop(&mut self) {
        // A socket that is gone already needs no closing.
        let _ = self.0.shutdown(Shutdown::Write);
    }
}

impl fmt::Debug for Stream {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Stream").finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use std::net::{TcpListener, TcpStream};
    use std::time::Duration;

    use super::Stream;

    /// P09: an answer that is written in pieces does not wait for its first one to be confirmed.
    #[test]
    fn sockets_do_not_delay() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let socket = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        let same = socket.try_clone().unwrap();
        assert!(!same.nodelay().unwrap());
        let _stream = Stream::socket(socket, Duration::from_secs(1)).unwrap();
        assert!(same.nodelay().unwrap());
    }
}
