//! What tests wait with, and small tools.

use std::fmt::Debug;
use std::future::poll_fn;
use std::io::{BufRead, BufReader, ErrorKind, Read, Write};
use std::net::{Ipv4Addr, SocketAddr, TcpStream};
use std::sync::{Arc, Condvar, Mutex, mpsc};
use std::task::{Poll, Waker};
use std::time::Duration;

use mcp_driver::Clock;

/// How long anything may take before a test counts as failed. Nothing waits this long when it works.
pub const DEADLINE: Duration = Duration::from_secs(30);

/// Long enough for a slow and busy machine, and less than what is waited for by default: 30 seconds to stop, 60 for a call.
pub const SOON: Duration = Duration::from_secs(25);

/// Closed until it is opened, for async and blocking handlers.
#[derive(Clone, Default)]
pub struct Gate(Arc<(Mutex<GateState>, Condvar)>);

#[derive(Default)]
struct GateState {
    open: bool,
    wakers: Vec<Waker>,
}

/// Opens a gate when it is dropped, so that nobody waits behind it for a test that has failed.
pub struct OpenOnDrop(pub Gate);

impl Drop for OpenOnDrop {
    fn drop(&mut self) {
        self.0.open();
    }
}

impl Gate {
    pub fn open(&self) {
        let mut state = self.0.0.lock().unwrap();
        state.open = true;
        let wakers = std::mem::take(&mut state.wakers);
        drop(state);
        self.0.1.notify_all();
        wakers.into_iter().for_each(Waker::wake);
    }

    /// Lets nobody through from now on.
    pub fn close(&self) {
        self.0.0.lock().unwrap().open = false;
    }

    pub async fn wait(&self) {
        poll_fn(|cx| {
            let mut state = self.0.0.lock().unwrap();
            if state.open {
                return Poll::Ready(());
            }
            state.wakers.push(cx.waker().clone());
            Poll::Pending
        })
        .await;
    }

    pub fn block(&self) {
        let state = self.0.0.lock().unwrap();
        drop(self.0.1.wait_while(state, |state| !state.open).unwrap());
    }
}

/// Hears of what happens, in order.
#[derive(Debug)]
pub struct Events {
    receiver: mpsc::Receiver<String>,
    seen: Mutex<Vec<String>>,
}

/// Tells [`Events`].
#[derive(Clone)]
pub struct Tell(mpsc::Sender<String>);

impl Events {
    pub fn new() -> (Tell, Self) {
        let (sender, receiver) = mpsc::channel();
        (Tell(sender), Self { receiver, seen: Mutex::default() })
    }

    /// Waits for an event that contains `text`, and returns it.
    #[track_caller]
    pub fn expect(&self, text: &str) -> String {
        loop {
            match self.receiver.recv_timeout(DEADLINE) {
                Ok(event) if event.contains(text) => return event,
                Ok(event) => self.seen.lock().unwrap().push(event),
                Err(_) => panic!("no event `{text}`; others were {:#?}", self.seen.lock().unwrap()),
            }
        }
    }

    /// Whether an event that contains `text` comes in so much time.
    pub fn hears(&self, text: &str, limit: Duration) -> bool {
        let clock = Clock::start();
        loop {
            let left = limit.saturating_sub(clock.now().mono.since_epoch());
            match self.receiver.recv_timeout(left) {
                Ok(event) if event.contains(text) => return true,
                Ok(event) => self.seen.lock().unwrap().push(event),
                Err(_) => return false,
            }
        }
    }

    /// Whatever has happened by now, besides what was expected.
    pub fn others(&self) -> Vec<String> {
        let mut seen = self.seen.lock().unwrap();
        seen.extend(self.receiver.try_iter());
        seen.clone()
    }
}

impl Tell {
    pub fn tell(&self, event: impl Into<String>) {
        // A test that has ended does not listen.
        let _ = self.0.send(event.into());
    }

    /// Tells the lines of a stream that comes in pieces.
    pub fn lines(&self) -> impl Fn(&[u8]) + Send + Sync + use<> {
        let (tell, rest) = (self.clone(), Mutex::new(Vec::new()));
        move |bytes: &[u8]| {
            let mut rest = rest.lock().unwrap();
            rest.extend_from_slice(bytes);
            while let Some(end) = rest.iter().position(|byte| *byte == b'\n') {
                let line: Vec<u8> = rest.drain(..=end).collect();
                tell.tell(String::from_utf8_lossy(&line).trim_end());
            }
        }
    }
}

/// Asks again and again, for what nobody tells of: the table of processes, descriptors, threads.
#[track_caller]
pub fn eventually<T, E: Debug>(what: &str, mut look: impl FnMut() -> Result<T, E>) -> T {
    let clock = Clock::start();
    // Nobody ever sends: this is a wait.
    let (_sender, never) = mpsc::channel::<()>();
    loop {
        match look() {
            Ok(found) => return found,
            Err(seen) if clock.now().mono.since_epoch() > DEADLINE => {
                panic!("it never came to this: {what}; at last there was {seen:?}")
            }
            Err(_) => drop(never.recv_timeout(Duration::from_millis(5))),
        }
    }
}

/// Waits until there is no such process, not even a zombie.
#[track_caller]
pub fn gone(pid: u32) {
    eventually(&format!("process {pid} is gone"), || {
        std::fs::read_to_string(format!("/proc/{pid}/stat")).map_or(Ok(()), Err)
    });
}

/// Runs against time. What hangs ends the process, with the place in the test: a hang that is looked at afterwards only is
/// one of the whole run.
#[track_caller]
pub fn within<T>(limit: Duration, run: impl FnOnce() -> T) -> T {
    let (clock, place) = (Clock::start(), std::panic::Location::caller());
    let (done, watched) = mpsc::channel::<()>();
    std::thread::spawn(move || {
        if watched.recv_timeout(limit + DEADLINE) == Err(mpsc::RecvTimeoutError::Timeout) {
            eprintln!("{place}: this hangs; it had {limit:?}");
            std::process::abort();
        }
    });
    let value = run();
    drop(done);
    let took = clock.now().mono.since_epoch();
    assert!(took < limit, "took {took:?}");
    value
}

/// A number out of a line such as `pid 12`.
pub fn number_in(line: &str) -> u32 {
    line.rsplit(' ').next().unwrap().parse().unwrap_or_else(|_| panic!("no number at the end of `{line}`"))
}

/// A port on which nobody listens, until whoever has it does. Nobody else is given it meanwhile.
pub struct Port {
    pub address: SocketAddr,
    _held: tokio::net::TcpSocket,
}

impl Port {
    pub fn hold() -> Self {
        let socket = tokio::net::TcpSocket::new_v4().unwrap();
        // Listeners set it, too, and so may share the port with a socket that does not listen.
        socket.set_reuseaddr(true).unwrap();
        socket.bind((Ipv4Addr::LOCALHOST, 0).into()).unwrap();
        Self { address: socket.local_addr().unwrap(), _held: socket }
    }

    pub fn url(&self) -> String {
        format!("http://{}/mcp", self.address)
    }
}

/// HTTP by hand.
pub struct Raw {
    reader: BufReader<TcpStream>,
}

/// What came back by hand.
#[derive(Debug)]
pub struct Answer {
    pub status: u16,
    pub headers: Vec<(String, String)>,
    pub body: String,
}

impl Answer {
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers
            .iter()
            .find(|(field, _)| field.eq_ignore_ascii_case(name))
            .map(|(_, value)| value.as_str())
    }
}

impl Raw {
    pub fn connect(url: &str) -> Self {
        Self::try_connect(url).unwrap()
    }

    pub fn try_connect(url: &str) -> std::io::Result<Self> {
        let address = url.strip_prefix("http://").unwrap().split('/').next().unwrap();
        let socket = TcpStream::connect(address)?;
        socket.set_read_timeout(Some(DEADLINE))?;
        Ok(Self { reader: BufReader::new(socket) })
    }

    pub fn write(&mut self, text: &str) {
        self.try_write(text).unwrap();
    }

    pub fn try_write(&mut self, text: &str) -> std::io::Result<()> {
        self.reader.get_mut().write_all(text.as_bytes())
    }

    /// Sends a POST with the fields that every request needs, and `fields` before them.
    pub fn post(&mut self, fields: &str, body: &str) {
        self.try_post(fields, body).unwrap();
    }

    pub fn try_post(&mut self, fields: &str, body: &str) -> std::io::Result<()> {
        self.try_post_to("/mcp", fields, body)
    }

    pub fn try_post_to(&mut self, path: &str, fields: &str, body: &str) -> std::io::Result<()> {
        let host = self.reader.get_ref().peer_addr()?;
        let host = if fields.contains("Host:") { String::new() } else { format!("Host: {host}\r\n") };
        self.try_write(&format!(
            "POST {path} HTTP/1.1\r\n{fields}{host}Content-Type: application/json\r\n\
             Accept: application/json, text/event-stream\r\nContent-Length: {}\r\n\r\n{body}",
            body.len()
        ))
    }

    /// The status of a response; the rest of it is left unread.
    pub fn status(&mut self) -> u16 {
        let mut line = String::new();
        self.reader.read_line(&mut line).unwrap();
        line.split(' ').nth(1).unwrap().parse().unwrap()
    }

    /// Reads a response, with a body of known length or until the connection ends.
    pub fn answer(&mut self) -> Answer {
        let (mut headers, mut status) = (Vec::new(), 0);
        loop {
            let mut line = String::new();
            self.reader.read_line(&mut line).unwrap();
            let line = line.trim_end();
            assert!(status != 0 || !line.is_empty(), "the connection ended without a response");
            if status == 0 {
                status = line.split(' ').nth(1).unwrap().parse().unwrap();
            } else if line.is_empty() {
                break;
            } else {
                let (name, value) = line.split_once(':').unwrap();
                headers.push((name.to_owned(), value.trim().to_owned()));
            }
        }
        let mut answer = Answer { status, headers, body: String::new() };
        match answer.header("Content-Length").map(|length| length.parse::<usize>().unwrap()) {
            Some(length) => {
                let mut body = vec![0; length];
                self.reader.read_exact(&mut body).unwrap();
                answer.body = String::from_utf8(body).unwrap();
            }
            None if status == 204 => {}
            None => {
                self.reader.read_to_string(&mut answer.body).unwrap();
            }
        }
        answer
    }

    /// Skips the rest of a head that was looked at with [`expect`](Self::expect): an empty line.
    pub fn skip_line(&mut self) {
        let mut line = String::new();
        self.reader.read_line(&mut line).unwrap();
        assert_eq!(line, "\r\n");
    }

    /// Whether anything has come back by now.
    pub fn has_answer(&mut self) -> bool {
        let socket = self.reader.get_ref();
        socket.set_nonblocking(true).unwrap();
        let answered = socket.peek(&mut [0; 1]).is_ok_and(|count| count > 0);
        socket.set_nonblocking(false).unwrap();
        answered
    }

    /// Whether the other side ends the connection, in order or not, before it says anything.
    pub fn is_closed(&mut self) -> bool {
        match self.reader.read(&mut [0; 1]) {
            Ok(count) => count == 0,
            // That it did not happen in time is no end.
            Err(error) => !matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut),
        }
    }

    /// Sends a request without a body.
    pub fn bare(&mut self, method: &str, fields: &str) {
        self.bare_at("/mcp", method, fields);
    }

    pub fn bare_at(&mut self, path: &str, method: &str, fields: &str) {
        let host = self.reader.get_ref().peer_addr().unwrap();
        self.write(&format!("{method} {path} HTTP/1.1\r\nHost: {host}\r\n{fields}\r\n"));
    }

    /// Waits for a line that contains `text`, and returns it.
    #[track_caller]
    pub fn expect(&mut self, text: &str) -> String {
        self.until(text).pop().unwrap_or_default()
    }

    /// The lines up to one that contains `text`, that one included.
    #[track_caller]
    pub fn until(&mut self, text: &str) -> Vec<String> {
        let mut seen = Vec::new();
        loop {
            let mut line = String::new();
            let read = self.reader.read_line(&mut line);
            assert!(matches!(read, Ok(1..)), "no line with `{text}`: {seen:?}, then {read:?}");
            let found = line.contains(text);
            seen.push(line);
            if found {
                return seen;
            }
        }
    }
}
