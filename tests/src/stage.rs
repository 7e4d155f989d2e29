//! A runtime on which nothing happens unless the test says so: its clock is set by hand, and its tasks run when
//! they are told to. It has no sockets: exchanges are carried by hand.

use std::collections::VecDeque;
use std::io;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll, Wake, Waker};
use std::time::Duration;

use mcp_driver::proto::head::RequestHead;
use mcp_driver::{
    Async, BoxFuture, Command, End, Endpoint, ExchangeHandle, HttpService, Instant, Job, Now, Process,
    Runtime, Stdio,
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
    type Stream = ();
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
    fn connect(&self, address: SocketAddr, _: Duration) -> BoxFuture<io::Result<()>> {
        self.state().asked.push(address);
        Box::pin(std::future::pending())
    }

    fn listen(&self, _: String) -> BoxFuture<io::Result<()>> {
        Box::pin(async { none() })
    }

    fn local_address(&self, (): &()) -> io::Result<SocketAddr> {
        none()
    }

    fn accept(&self, (): ()) -> BoxFuture<((), io::Result<()>)> {
        Box::pin(async { ((), none()) })
    }

    fn stdio(&self, _: Stdio) -> io::Result<()> {
        none()
    }

    fn spawn_process(&self, _: &Command) -> io::Result<Process<Self>> {
        none()
    }

    fn drive(&self, (): (), _: Arc<dyn Endpoint>) -> BoxFuture<()> {
        Box::pin(async {})
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
