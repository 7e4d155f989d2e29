//! A runtime on which nothing happens unless the test says so: its clock is set by hand, and its tasks run when
//! they are told to. Its connections are [`Wire`]s that the test holds by the other end; exchanges can be carried by hand,
//! too.

use std::collections::VecDeque;
use std::io;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll, Wake, Waker};
use std::time::Duration;

use mcp_driver::proto::head::RequestHead;
use mcp_driver::{
    Async, BoxFuture, ByteStream, Command, End, Endpoint, ExchangeHandle, HttpService, Instant, Job, Now,
    Process, Runtime, Stdio, pump,
};

/// The runtime. Clones are the same one.
#[derive(Clone, Debug, Default)]
pub struct Stage(Arc<Mutex<State>>);

#[derive(Default)]
struct State {
    now: Duration,
    ready: VecDeque<Arc<Task>>,
    sleeping: Vec<(Instant, Waker)>,
    /// Tasks are dropped in place of being run.
    refuses: bool,
    /// Jobs that block do so for ever, also that which looks up a name.
    blocks: bool,
    /// Who was connected to, in vain.
    asked: Vec<SocketAddr>,
    /// Connections that nobody has accepted.
    knocking: VecDeque<Wire>,
    accepting: Option<Waker>,
}

impl std::fmt::Debug for State {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("State").field("now", &self.now).finish_non_exhaustive()
    }
}

struct Task {
    stage: Stage,
    future: Mutex<Option<BoxFuture<()>>>,
}

impl Wake for Task {
    fn wake(self: Arc<Self>) {
        self.stage.state().ready.push_back(self.clone());
    }
}

impl Stage {
    /// Runs tasks until all of them wait for something.
    pub fn run(&self) {
        loop {
            let task = self.state().ready.pop_front();
            let Some(task) = task else { return };
            let future = task.future.lock().unwrap().take();
            let Some(mut future) = future else { continue };
            let waker = Waker::from(task.clone());
            if future.as_mut().poll(&mut Context::from_waker(&waker)).is_pending() {
                *task.future.lock().unwrap() = Some(future);
            }
        }
    }

    /// Lets so much time pass at once, and runs what has waited for it.
    pub fn advance(&self, time: Duration) {
        let mut state = self.state();
        state.now += time;
        let now = Instant::new(state.now);
        let (due, rest) = std::mem::take(&mut state.sleeping).into_iter().partition(|(at, _)| *at <= now);
        state.sleeping = rest;
        drop(state);
        let due: Vec<(Instant, Waker)> = due;
        due.into_iter().for_each(|(_, waker)| waker.wake());
        self.run();
    }

    /// A connection to whoever listens.
    pub fn knock(&self) -> Wire {
        let wire = Wire::default();
        let mut state = self.state();
        state.knocking.push_back(wire.clone());
        let accepting = state.accepting.take();
        drop(state);
        accepting.into_iter().for_each(Waker::wake);
        wire
    }

    /// From now on tasks are dropped, as by a runtime that shuts down.
    pub fn refuse(&self) {
        self.state().refuses = true;
    }

    /// From now on jobs that may block do so for ever.
    pub fn block(&self) {
        self.state().blocks = true;
    }

    /// Who was connected to, in the order of asking; nobody has answered.
    pub fn asked(&self) -> Vec<SocketAddr> {
        self.state().asked.clone()
    }

    fn state(&self) -> std::sync::MutexGuard<'_, State> {
        self.0.lock().unwrap()
    }
}

fn none<T>() -> io::Result<T> {
    Err(io::Error::other("there is nothing of this kind on the stage"))
}

impl Runtime for Stage {
    type Mode = Async;
    type Stream = Wire;
    type Listener = ();

    fn now(&self) -> Now {
        let now = self.state().now;
        Now::new(Instant::new(now), Duration::from_secs(1_800_000_000) + now)
    }

    fn spawn(&self, task: BoxFuture<()>) {
        if self.state().refuses {
            return drop(task);
        }
        let task = Arc::new(Task { stage: self.clone(), future: Mutex::new(Some(task)) });
        self.state().ready.push_back(task);
    }

    fn spawn_blocking(&self, job: Job) -> Result<(), Job> {
        if !self.state().blocks {
            self.spawn(Box::pin(async move { job() }));
        }
        Ok(())
    }

    fn sleep_until(&self, deadline: Instant) -> BoxFuture<()> {
        let stage = self.clone();
        Box::pin(std::future::poll_fn(move |cx| {
            let mut state = stage.state();
            if Instant::new(state.now) >= deadline {
                return Poll::Ready(());
            }
            state.sleeping.push((deadline, cx.waker().clone()));
            Poll::Pending
        }))
    }

    /// Nobody answers.
    fn connect(&self, address: SocketAddr, _: Duration) -> BoxFuture<io::Result<Wire>> {
        self.state().asked.push(address);
        Box::pin(std::future::pending())
    }

    fn listen(&self, _: String) -> BoxFuture<io::Result<()>> {
        Box::pin(async { Ok(()) })
    }

    fn local_address(&self, (): &()) -> io::Result<SocketAddr> {
        Ok(SocketAddr::from(([127, 0, 0, 1], 1)))
    }

    fn accept(&self, (): ()) -> BoxFuture<((), io::Result<Wire>)> {
        let stage = self.clone();
        Box::pin(std::future::poll_fn(move |cx| {
            let mut state = stage.state();
            match state.knocking.pop_front() {
                Some(wire) => Poll::Ready(((), Ok(wire))),
                None => {
                    state.accepting = Some(cx.waker().clone());
                    Poll::Pending
                }
            }
        }))
    }

    fn stdio(&self, _: Stdio) -> io::Result<Wire> {
        none()
    }

    fn spawn_process(&self, _: &Command) -> io::Result<Process<Self>> {
        none()
    }

    fn drive(&self, wire: Wire, endpoint: Arc<dyn Endpoint>) -> BoxFuture<()> {
        Box::pin(pump(self.clone(), wire, endpoint))
    }
}

/// A connection. Clones are the same one, for whoever is at the other end.
#[derive(Clone, Default)]
pub struct Wire(Arc<Mutex<Both>>);

#[derive(Default)]
struct Both {
    arrived: VecDeque<u8>,
    said: Vec<u8>,
    /// Nothing can be written.
    blocked: bool,
    closed: bool,
    wakers: Vec<Waker>,
}

impl Wire {
    /// Lets bytes arrive, which are read when the reader has its turn.
    pub fn send(&self, bytes: &str) {
        let mut both = self.0.lock().unwrap();
        both.arrived.extend(bytes.bytes());
        Self::wake(both);
    }

    /// Whether what is written finds no room.
    pub fn block(&self, blocked: bool) {
        let mut both = self.0.lock().unwrap();
        both.blocked = blocked;
        Self::wake(both);
    }

    /// What was written since the last time.
    pub fn received(&self) -> String {
        String::from_utf8(std::mem::take(&mut self.0.lock().unwrap().said)).unwrap()
    }

    /// Whether the side that was accepted has closed it.
    pub fn is_closed(&self) -> bool {
        self.0.lock().unwrap().closed
    }

    fn wake(mut both: std::sync::MutexGuard<'_, Both>) {
        let wakers = std::mem::take(&mut both.wakers);
        drop(both);
        wakers.into_iter().for_each(Waker::wake);
    }
}

impl ByteStream for Wire {
    fn poll_read(&mut self, cx: &mut Context<'_>, buffer: &mut [u8]) -> Poll<io::Result<usize>> {
        let mut both = self.0.lock().unwrap();
        if both.arrived.is_empty() {
            both.wakers.push(cx.waker().clone());
            return Poll::Pending;
        }
        Poll::Ready(io::Read::read(&mut both.arrived, buffer))
    }

    fn poll_write(&mut self, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        let mut both = self.0.lock().unwrap();
        if both.blocked {
            both.wakers.push(cx.waker().clone());
            return Poll::Pending;
        }
        both.said.extend_from_slice(bytes);
        Poll::Ready(Ok(bytes.len()))
    }

    fn poll_flush(&mut self, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn poll_close(&mut self, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.0.lock().unwrap().closed = true;
        Poll::Ready(Ok(()))
    }
}

/// One exchange that is carried by hand, and what has come of it.
pub struct Carried {
    pub exchange: Arc<ExchangeHandle<Stage>>,
    head: Option<mcp_driver::proto::head::ResponseHead>,
    body: String,
}

/// The head of a request to the server, with these fields besides the usual ones.
pub fn head(method: &str, fields: &[(&str, &str)]) -> RequestHead {
    let mut head = RequestHead::new(method, "/mcp");
    for (name, value) in [
        ("Host", "localhost"),
        ("Content-Type", "application/json"),
        ("Accept", "application/json, text/event-stream"),
    ]
    .iter()
    .chain(fields)
    {
        head.headers.push(name, *value);
    }
    head
}

impl Carried {
    /// Sends a whole request.
    pub fn send(service: &Arc<HttpService<Stage>>, head: RequestHead, body: &str) -> Self {
        let carried = Self::begin(service, head);
        carried.exchange.handle_body(body.as_bytes());
        carried.exchange.handle_end(End::Complete);
        carried
    }

    /// Sends the head of a request.
    pub fn begin(service: &Arc<HttpService<Stage>>, head: RequestHead) -> Self {
        let exchange = ExchangeHandle::open(service, head);
        exchange.register(Waker::noop());
        Self { exchange, head: None, body: String::new() }
    }

    /// Takes what there is of the response.
    pub fn take(&mut self) -> &mut Self {
        if let Some((head, _)) = self.exchange.take_head() {
            self.head = Some(head);
        }
        let mut taken = Vec::new();
        self.exchange.transmit(&mut |bytes| {
            taken.extend_from_slice(bytes);
            bytes.len()
        });
        self.body.push_str(std::str::from_utf8(&taken).unwrap());
        if !taken.is_empty() {
            self.take();
        }
        self
    }

    /// The status of the response, once it has begun.
    pub fn status(&mut self) -> Option<u16> {
        self.take().head.as_ref().map(|head| head.status)
    }

    pub fn body(&mut self) -> &str {
        &self.take().body
    }

    /// A field of the head.
    pub fn field(&mut self, name: &str) -> String {
        let head = self.take().head.as_ref().expect("there is no response");
        head.headers.text(name).unwrap_or_default().to_owned()
    }

    /// Tells the exchange the time, if its moment has come.
    pub fn tick(&mut self, stage: &Stage) {
        if self.exchange.timeout().is_some_and(|at| at <= stage.now().mono) {
            self.exchange.handle_timeout(stage.now());
        }
    }
}
