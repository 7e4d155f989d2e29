//! Just enough HTTP/1.1, on one thread.

use std::collections::HashMap;
use std::io::{self, ErrorKind, Read, Write};
use std::net::{TcpListener, TcpStream};

use memchr::memmem;
use nix::sys::epoll::{Epoll, EpollCreateFlags, EpollEvent, EpollFlags, EpollTimeout};

use crate::answer::{self, Kind};

const LISTENER: u64 = 0;

pub(crate) fn serve(port: u16) -> io::Result<()> {
    let listener = TcpListener::bind(("127.0.0.1", port))?;
    println!("listening on http://{}/mcp", listener.local_addr()?);
    let epoll = Epoll::new(EpollCreateFlags::EPOLL_CLOEXEC)?;
    epoll.add(&listener, EpollEvent::new(EpollFlags::EPOLLIN, LISTENER))?;
    let (mut connections, mut last) = (HashMap::<u64, Connection>::new(), LISTENER);
    // One of each is enough for all connections, since an answer goes out before the next request is read.
    let (mut chunk, mut body, mut out) = (vec![0; 256 * 1024], Vec::new(), Vec::new());
    let mut events = [EpollEvent::empty(); 64];
    loop {
        let count = epoll.wait(&mut events, EpollTimeout::NONE)?;
        for event in events.get(..count).unwrap_or_default() {
            if event.data() == LISTENER {
                let (stream, _) = listener.accept()?;
                stream.set_nodelay(true)?;
                last += 1;
                epoll.add(&stream, EpollEvent::new(EpollFlags::EPOLLIN, last))?;
                connections.insert(last, Connection { stream, partial: Vec::new() });
            } else if let Some(connection) = connections.get_mut(&event.data())
                && !connection.go_on(&mut chunk, &mut body, &mut out)?
            {
                connections.remove(&event.data());
            }
        }
    }
}

struct Connection {
    stream: TcpStream,
    /// Of a request that has not come whole.
    partial: Vec<u8>,
}

impl Connection {
    /// Reads once and answers what has come whole; false at the end.
    fn go_on(&mut self, chunk: &mut [u8], body: &mut Vec<u8>, out: &mut Vec<u8>) -> io::Result<bool> {
        let read = match self.stream.read(chunk) {
            Ok(0) | Err(_) => return Ok(false),
            Ok(read) => read,
        };
        let fresh = chunk.get(..read).unwrap_or_default();
        let used = if self.partial.is_empty() {
            answer_all(fresh, body, out)
        } else {
            self.partial.extend_from_slice(fresh);
            answer_all(&self.partial, body, out)
        };
        if self.partial.is_empty() {
            self.partial.extend_from_slice(fresh.get(used..).unwrap_or_default());
        } else if used == self.partial.len() {
            self.partial = Vec::new();
        } else {
            self.partial.drain(..used);
        }
        if !out.is_empty() {
            match self.stream.write_all(out) {
                Err(error) if error.kind() == ErrorKind::BrokenPipe => return Ok(false),
                written => written?,
            }
            out.clear();
        }
        Ok(true)
    }
}

/// Answers the requests in `bytes`, and returns how many bytes they took.
fn answer_all(bytes: &[u8], body: &mut Vec<u8>, out: &mut Vec<u8>) -> usize {
    let mut used = 0;
    loop {
        let rest = bytes.get(used..).unwrap_or_default();
        let Some(head) = memmem::find(rest, b"\r\n\r\n").and_then(|end| rest.get(..end + 4)) else {
            return used;
        };
        let length = length(head);
        let Some(message) = rest.get(head.len()..head.len() + length) else { return used };
        used += head.len() + length;
        body.clear();
        if head.starts_with(b"GET ") {
            out.extend_from_slice(STREAM);
            continue;
        }
        match answer::write(message, body, false) {
            Kind::Nothing => out.extend_from_slice(b"HTTP/1.1 202 Accepted\r\nContent-Length: 0\r\n\r\n"),
            Kind::Answer => {
                let _ = write!(
                    out,
                    "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: {}\r\n\r\n",
                    body.len()
                );
                out.extend_from_slice(body);
            }
            Kind::Stream(goes_on) => {
                out.extend_from_slice(STREAM);
                let _ = write!(out, "{:x}\r\n", body.len());
                out.extend_from_slice(body);
                out.extend_from_slice(if goes_on { b"\r\n" } else { b"\r\n0\r\n\r\n" });
            }
        }
    }
}

const STREAM: &[u8] =
    b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n";

fn length(head: &[u8]) -> usize {
    let name = b"Content-Length: ";
    let value = memmem::find(head, name).and_then(|at| head.get(at + name.len()..)).unwrap_or_default();
    value
        .iter()
        .take_while(|byte| byte.is_ascii_digit())
        .fold(0, |sum, byte| sum * 10 + usize::from(byte - b'0'))
}
