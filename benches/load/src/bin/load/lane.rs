//! Byte streams to a server, none of which blocks, and the wait for any of them.

use std::io::{ErrorKind, Read, Write};
use std::net::TcpStream;
use std::os::fd::AsFd;
use std::process::{ChildStdin, ChildStdout};
use std::thread::sleep;
use std::time::Duration;

use nix::errno::Errno;
use nix::fcntl::{FcntlArg, OFlag, fcntl};
use nix::sys::epoll::{Epoll, EpollCreateFlags, EpollEvent, EpollFlags, EpollTimeout};

use crate::framing::{Framing, Reply};
use crate::process::Place;

/// Longest wait for anything from a server, in milliseconds; one whose instructions are counted is fifty times slower.
const PATIENCE: i32 = 30_000;
const PATIENCE_COUNTED: i32 = 280_000;

/// Bytes of one read; a pipe holds 64 KiB.
const READ: usize = 256 * 1024;

/// How often and how long after each other connections are tried.
const RETRIES: u32 = 2_000;
const RETRY: Duration = Duration::from_millis(1);

/// One byte stream in both directions.
#[derive(Debug)]
pub(crate) struct Lane {
    io: Io,
    framing: Framing,
    out: Vec<u8>,
    sent: usize,
    waits_to_write: bool,
}

#[derive(Debug)]
enum Io {
    Pipes(ChildStdin, ChildStdout),
    Socket(TcpStream),
}

/// Several lanes and whatever waits for them.
#[derive(Debug)]
pub(crate) struct Lanes {
    epoll: Epoll,
    lanes: Vec<Lane>,
    chunk: Vec<u8>,
    patience: i32,
}

impl Lanes {
    pub(crate) fn new(counted: bool) -> Result<Self, String> {
        let epoll = Epoll::new(EpollCreateFlags::EPOLL_CLOEXEC).map_err(os)?;
        let patience = if counted { PATIENCE_COUNTED } else { PATIENCE };
        Ok(Self { epoll, lanes: Vec::new(), chunk: vec![0; READ], patience })
    }

    pub(crate) fn pipes(&mut self, stdin: ChildStdin, stdout: ChildStdout) -> Result<usize, String> {
        nonblocking(&stdin)?;
        nonblocking(&stdout)?;
        let index = self.lanes.len();
        self.epoll.add(&stdout, EpollEvent::new(EpollFlags::EPOLLIN, index as u64)).map_err(os)?;
        Ok(self.add(Io::Pipes(stdin, stdout), false))
    }

    pub(crate) fn connect(&mut self, host: &str) -> Result<usize, String> {
        let stream = reach(host)?;
        stream
            .set_nodelay(true)
            .and_then(|()| stream.set_nonblocking(true))
            .map_err(|error| error.to_string())?;
        let index = self.lanes.len();
        self.epoll.add(&stream, EpollEvent::new(EpollFlags::EPOLLIN, index as u64)).map_err(os)?;
        Ok(self.add(Io::Socket(stream), true))
    }

    /// The pipes, or as many connections as `count` says.
    pub(crate) fn reach(&mut self, place: Place, count: usize) -> Result<(), String> {
        match place {
            Place::Pipes(stdin, stdout) => self.pipes(stdin, stdout).map(drop),
            Place::Address(host) => (0..count).try_for_each(|_| self.connect(&host).map(drop)),
        }
    }

    fn add(&mut self, io: Io, http: bool) -> usize {
        self.lanes.push(Lane {
            io,
            framing: Framing::new(http),
            out: Vec::new(),
            sent: 0,
            waits_to_write: false,
        });
        self.lanes.len() - 1
    }

    pub(crate) fn len(&self) -> usize {
        self.lanes.len()
    }

    /// Where to put what is to be sent by the next `flush`.
    pub(crate) fn out(&mut self, index: usize) -> Result<&mut Vec<u8>, String> {
        Ok(&mut self.lane(index)?.out)
    }

    /// Sends as much as can be sent now; the rest goes while others wait.
    pub(crate) fn flush(&mut self, index: usize) -> Result<(), String> {
        let Self { epoll, lanes, .. } = self;
        let lane = lanes.get_mut(index).ok_or("no such lane")?;
        let full = !lane.send()?;
        if full == lane.waits_to_write {
            return Ok(());
        }
        lane.waits_to_write = full;
        match &lane.io {
            Io::Pipes(stdin, _) if full => {
                epoll.add(stdin, EpollEvent::new(EpollFlags::EPOLLOUT, index as u64))
            }
            Io::Pipes(stdin, _) => epoll.delete(stdin),
            Io::Socket(stream) => {
                let mut flags = EpollFlags::EPOLLIN;
                flags.set(EpollFlags::EPOLLOUT, full);
                epoll.modify(stream, &mut EpollEvent::new(flags, index as u64))
            }
        }
        .map_err(os)
    }

    /// Waits until something can be done, does it, and tells which lanes have been read from.
    pub(crate) fn wait(&mut self, read: &mut Vec<usize>) -> Result<(), String> {
        read.clear();
        let mut events = [EpollEvent::empty(); 64];
        let patience = EpollTimeout::try_from(self.patience).map_err(|error| error.to_string())?;
        let count = match self.epoll.wait(&mut events, patience) {
            Ok(0) => return Err(format!("the server has not answered for {} s", self.patience / 1_000)),
            Ok(count) => count,
            Err(Errno::EINTR) => 0,
            Err(errno) => return Err(os(errno)),
        };
        for event in events.get(..count).unwrap_or_default() {
            let index = event.data() as usize;
            if event.events().contains(EpollFlags::EPOLLOUT) {
                self.flush(index)?;
            }
            if event.events().intersects(EpollFlags::EPOLLIN | EpollFlags::EPOLLHUP) {
                let Self { lanes, chunk, .. } = self;
                lanes.get_mut(index).ok_or("no such lane")?.receive(chunk)?;
                read.push(index);
            }
        }
        Ok(())
    }

    /// An answer that has come on a lane.
    pub(crate) fn next(&mut self, index: usize, keep: bool) -> Result<Option<Reply>, String> {
        self.lane(index)?.framing.next(keep)
    }

    /// Sends what is in `out` and waits for one answer, with its JSON.
    pub(crate) fn exchange(&mut self, index: usize) -> Result<Reply, String> {
        self.flush(index)?;
        let mut read = Vec::new();
        loop {
            if let Some(reply) = self.next(index, true)? {
                return Ok(reply);
            }
            self.wait(&mut read)?;
        }
    }

    /// Sends what is in `out` and waits until a stream of events has begun, and if `event`, has brought something.
    pub(crate) fn listen(&mut self, index: usize, event: bool) -> Result<(), String> {
        self.flush(index)?;
        let mut read = Vec::new();
        while !self.lane(index)?.framing.listens(event)? {
            self.wait(&mut read)?;
        }
        Ok(())
    }

    fn lane(&mut self, index: usize) -> Result<&mut Lane, String> {
        self.lanes.get_mut(index).ok_or_else(|| "no such lane".to_owned())
    }
}

impl Lane {
    /// Whether everything has gone.
    fn send(&mut self) -> Result<bool, String> {
        while self.sent < self.out.len() {
            let rest = self.out.get(self.sent..).unwrap_or_default();
            let written = match &mut self.io {
                Io::Pipes(stdin, _) => stdin.write(rest),
                Io::Socket(stream) => stream.write(rest),
            };
            match written {
                Ok(count) => self.sent += count,
                Err(error) if error.kind() == ErrorKind::WouldBlock => return Ok(false),
                Err(error) => return Err(format!("writing to the server: {error}")),
            }
        }
        self.out.clear();
        self.sent = 0;
        Ok(true)
    }

    fn receive(&mut self, chunk: &mut [u8]) -> Result<(), String> {
        let read = match &mut self.io {
            Io::Pipes(_, stdout) => stdout.read(chunk),
            Io::Socket(stream) => stream.read(chunk),
        };
        match read {
            Ok(0) => Err("the server closed the stream".to_owned()),
            Ok(count) => {
                self.framing.push(chunk.get(..count).unwrap_or_default());
                Ok(())
            }
            Err(error) if error.kind() == ErrorKind::WouldBlock => Ok(()),
            Err(error) => Err(format!("reading from the server: {error}")),
        }
    }
}

/// Tries for a while: servers of some SDKs cannot say when they have begun to listen.
#[expect(clippy::disallowed_methods, reason = "nothing tells when somebody else begins to listen")]
fn reach(host: &str) -> Result<TcpStream, String> {
    for _ in 0..RETRIES {
        match TcpStream::connect(host) {
            Err(error) if error.kind() == ErrorKind::ConnectionRefused => sleep(RETRY),
            connected => return connected.map_err(|error| format!("{host}: {error}")),
        }
    }
    Err(format!("{host}: nobody listens there"))
}

fn nonblocking(file: &impl AsFd) -> Result<(), String> {
    let flags = OFlag::from_bits_retain(fcntl(file.as_fd(), FcntlArg::F_GETFL).map_err(os)?);
    fcntl(file.as_fd(), FcntlArg::F_SETFL(flags | OFlag::O_NONBLOCK)).map_err(os).map(drop)
}

fn os(errno: Errno) -> String {
    errno.to_string()
}
