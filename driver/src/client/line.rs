//! A client on a byte stream: a child process, or any stream that carries one message a line.

use std::future::poll_fn;
use std::io;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::task::{Poll, Waker};
use std::time::Duration;

use mcp_proto::client::{
    AskId, CacheEntry, Call, CallId, CallOptions, Config, Connection, InputResponse, Notice, Output, Pending,
    Refusal, Subscription, SubscriptionId,
};
use mcp_proto::error::{ApiMisuse, CallError};
use mcp_proto::head::End;
use mcp_proto::model::{LoggingLevel, SubscriptionFilter, Tool};
use mcp_proto::time::{Instant, Now};

use super::desk::{self, Desk, Inner, Link, Machine};
use super::{Hooks, Traffic};
use crate::endpoint::{Endpoint, Status};
use crate::process::{self, Child, Command, Drain, Group, Remains};
use crate::runtime::{Process, Runtime};
use crate::server::Peer;
use crate::turn::{Done, Turn};
use crate::wake::WakerSlot;

/// The client's end of the stream, whichever process is at the other.
pub(super) struct LineClient<R: Runtime> {
    runtime: R,
    hooks: Hooks,
    inner: Mutex<Inner<Connection>>,
    /// The process that is spoken to, and what to start when it has to be started again.
    server: Mutex<Server>,
    /// Counts the streams; input from any but the last is no longer heard.
    stream: AtomicU64,
    waker: WakerSlot,
    /// Of whoever waits before another process is started.
    restarting: WakerSlot,
    turn: Turn,
    /// How long a process may take to exit.
    patience: Duration,
    this: Weak<Self>,
}

struct Server {
    command: Option<Command>,
    child: Option<Child>,
}

impl Machine for Connection {
    fn start<C: Call>(
        &mut self,
        now: Now,
        call: &C,
        options: CallOptions,
    ) -> Result<Pending<C::Reply>, CallError> {
        self.start(now, call, options)
    }

    fn take<T>(&mut self, pending: &Pending<T>) -> Option<Result<T, CallError>> {
        self.take(pending)
    }

    fn cancel(&mut self, now: Now, call: CallId) {
        self.cancel(now, call);
    }

    fn forget(&mut self, call: CallId) {
        self.forget(call);
    }

    fn answer(
        &mut self,
        now: Now,
        ask: AskId,
        answer: Result<InputResponse, Refusal>,
    ) -> Result<(), ApiMisuse> {
        self.answer(now, ask, answer)
    }

    fn retry(&mut self, now: Now, call: CallId) {
        self.retry(now, call);
    }

    fn stop(&mut self, now: Now, call: CallId) {
        self.stop(now, call);
    }

    fn roots_changed(&mut self, now: Now) {
        self.roots_changed(now);
    }

    fn cache(&self, now: Now) -> Vec<CacheEntry> {
        self.cache(now)
    }

    #[cfg(feature = "http")]
    fn clear_cache(&mut self) {
        self.clear_cache();
    }

    fn learn_tool(&mut self, tool: &Tool) -> Result<(), String> {
        self.learn_tool(tool);
        Ok(())
    }

    fn has_output(&self) -> bool {
        self.has_output()
    }

    fn listen(&mut self, now: Now, wanted: SubscriptionFilter) -> Result<SubscriptionId, CallError> {
        self.listen(now, wanted)
    }

    fn relisten(
        &mut self,
        now: Now,
        id: SubscriptionId,
        wanted: SubscriptionFilter,
    ) -> Result<(), CallError> {
        self.relisten(now, id, wanted)
    }

    fn unlisten(&mut self, now: Now, id: SubscriptionId) {
        self.unlisten(now, id);
    }

    fn subscription(&self, id: SubscriptionId) -> Option<&Subscription> {
        self.subscription(id)
    }

    fn take_notice(&mut self, id: SubscriptionId) -> Option<Notice> {
        self.take_notice(id)
    }

    fn set_log_level(&mut self, level: LoggingLevel) -> Result<(), CallError> {
        self.set_log_level(level)
    }

    fn is_outdated(&self, now: Now) -> bool {
        self.is_outdated(now)
    }
}

impl<R: Runtime> LineClient<R> {
    /// Starts a process and speaks to it.
    pub(super) fn spawn(
        runtime: &R,
        config: Arc<Config>,
        hooks: Hooks,
        command: Command,
    ) -> io::Result<Arc<Self>> {
        let process = process::start(runtime, &command)?;
        let client = Self::new(runtime, config, hooks, Some(command));
        client.adopt(process);
        Ok(client)
    }

    /// Speaks to whoever is at the other end of a stream.
    pub(super) fn attach(runtime: &R, config: Arc<Config>, hooks: Hooks, stream: R::Stream) -> Arc<Self> {
        let client = Self::new(runtime, config, hooks, None);
        client.drive(stream, None);
        client
    }

    /// Speaks to a server in this process.
    pub(super) fn join(runtime: &R, config: Arc<Config>, hooks: Hooks, peer: Peer<R>) -> Arc<Self> {
        let client = Self::new(runtime, config, hooks, None);
        if let Some(end) = client.stream_end(None) {
            runtime.spawn(Box::pin(peer.join(end)));
        }
        client
    }

    fn new(runtime: &R, config: Arc<Config>, hooks: Hooks, command: Option<Command>) -> Arc<Self> {
        let patience = config.limits.child_exit;
        let machine = Connection::new(runtime.now(), config);
        Arc::new_cyclic(|this| Self {
            runtime: runtime.clone(),
            hooks,
            inner: Mutex::new(Inner { machine, desk: Desk::default() }),
            server: Mutex::new(Server { command, child: None }),
            stream: AtomicU64::new(0),
            waker: WakerSlot::default(),
            restarting: WakerSlot::default(),
            turn: Turn::default(),
            patience,
            this: this.clone(),
        })
    }

    /// Ends the connection; the process at the other end sees its input closed.
    pub(super) fn close(&self) {
        let now = self.runtime.now();
        {
            let mut inner = self.lock();
            inner.desk.listeners.stop_watching();
            inner.machine.close(now);
        }
        self.turn();
        if let Some(child) = &self.server().child {
            child.release();
        }
    }

    /// Waits until the connection is over and the process, if there is one, has exited.
    pub(super) async fn closed(&self) {
        if let Some(this) = self.this.upgrade() {
            desk::closed(&this).await;
        }
        let child = self.server().child.clone();
        if let Some(child) = child {
            child.obituary().await;
        }
    }

    fn adopt(&self, process: Process<R>) {
        let group = Group::of(&process);
        let Process { stream, stderr, exit, .. } = process;
        let remains = Remains { stderr, exit, group };
        let mut server = self.server();
        let program = server.command.as_ref().map(|command| command.program.to_string_lossy().into_owned());
        let (program, echo) = (program.unwrap_or_default(), self.hooks.stderr.clone());
        let child = Child::adopt(&self.runtime, program, remains, self.patience, echo);
        server.child = Some(child.clone());
        drop(server);
        if self.lock().machine.is_closed() {
            // Closed while the process was being started.
            child.release();
        }
        self.drive(stream, Some(child));
    }

    fn drive(&self, stream: R::Stream, child: Option<Child>) {
        if let Some(end) = self.stream_end(child) {
            self.runtime.spawn(self.runtime.drive(stream, end));
        }
    }

    /// Our end of another stream.
    fn stream_end(&self, child: Option<Child>) -> Option<Arc<StreamEnd<R>>> {
        let client = self.this.upgrade()?;
        let number = self.stream.fetch_add(1, Ordering::SeqCst) + 1;
        let (ended, drain) = (AtomicBool::new(false), Mutex::default());
        Some(Arc::new(StreamEnd { client, number, child, ended, drain }))
    }

    /// Waits before a new process takes the place of the one that died. Nobody pumps a stream meanwhile, so the
    /// time of calls that wait is kept here.
    async fn respawn_after(self: Arc<Self>, after: Duration) {
        let at = self.runtime.now().mono + after;
        loop {
            let timeout = self.lock().machine.poll_timeout();
            let mut sleep = self.runtime.sleep_until(timeout.map_or(at, |timeout| timeout.min(at)));
            poll_fn(|cx| {
                self.restarting.register(cx.waker());
                // A call that has begun meanwhile may have less time.
                let changed = {
                    let machine = &self.lock().machine;
                    machine.is_closed() || machine.poll_timeout() != timeout
                };
                if changed { Poll::Ready(()) } else { sleep.as_mut().poll(cx) }
            })
            .await;
            let now = self.runtime.now();
            if at <= now.mono || self.lock().machine.is_closed() {
                break;
            }
            self.lock().machine.handle_timeout(now);
            self.turn();
        }
        self.respawn();
        self.turn();
    }

    /// The server died: a new one takes its place.
    fn respawn(&self) {
        if self.lock().machine.is_closed() {
            return;
        }
        let command = self.server().command.clone();
        let started = command.map(|command| process::start(&self.runtime, &command));
        let now = self.runtime.now();
        match started {
            Some(Ok(process)) => {
                self.lock().machine.handle_respawned(now);
                self.adopt(process);
            }
            Some(Err(error)) => self.lock().machine.handle_failed(now, &error.to_string()),
            None => self.lock().machine.handle_end(now, End::Complete),
        }
    }

    fn server(&self) -> MutexGuard<'_, Server> {
        self.server.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Gives the machine an input and does what it says. Whoever pumps the stream looks for output after it.
    fn input(&self, input: impl FnOnce(&mut Connection)) {
        input(&mut self.lock().machine);
        self.deliver();
    }

    /// Hands out events one by one, each with no lock held.
    fn deliver(&self) -> Done {
        let Some(this) = self.this.upgrade() else { return Done::Alone };
        self.turn.run(|| {
            loop {
                let mut inner = self.lock();
                let step = match inner.machine.poll_output() {
                    Some(Output::Event(event)) => Ok(inner.desk.note(event)),
                    Some(Output::Respawn { after }) => Err(after),
                    Some(_) => continue,
                    None => return,
                };
                drop(inner);
                match step {
                    Ok(effect) => effect.perform(&this),
                    Err(Duration::ZERO) => self.respawn(),
                    Err(after) => self.runtime.spawn(Box::pin(this.clone().respawn_after(after))),
                }
            }
        })
    }
}

impl<R: Runtime> Link for LineClient<R> {
    type Machine = Connection;
    type Runtime = R;

    fn runtime(&self) -> &R {
        &self.runtime
    }

    fn hooks(&self) -> &Hooks {
        &self.hooks
    }

    fn lock(&self) -> MutexGuard<'_, Inner<Connection>> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn turn(&self) {
        if self.deliver() != Done::ByAnother {
            self.waker.wake();
            self.restarting.wake();
        }
    }
}

/// One stream of the client, for whoever pumps it.
struct StreamEnd<R: Runtime> {
    client: Arc<LineClient<R>>,
    number: u64,
    child: Option<Child>,
    ended: AtomicBool,
    drain: Mutex<Drain>,
}

impl<R: Runtime> StreamEnd<R> {
    fn is_current(&self) -> bool {
        self.client.stream.load(Ordering::SeqCst) == self.number
    }

    fn has_ended(&self) -> bool {
        self.ended.load(Ordering::SeqCst)
    }

    /// When the process has exited whose output is still read: it may count as ended although somebody else holds it.
    fn exited(&self) -> Option<Instant> {
        self.child.as_ref()?.exited().filter(|_| !self.has_ended())
    }

    fn drain(&self) -> MutexGuard<'_, Drain> {
        self.drain.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<R: Runtime> Endpoint for StreamEnd<R> {
    fn handle_bytes(&self, now: Now, bytes: &[u8]) {
        self.drain().heard(now.mono);
        if self.is_current() {
            self.client.hooks.traffic(Traffic::Received(bytes));
            self.client.input(|machine| machine.handle_bytes(now, bytes));
        }
    }

    fn handle_end(&self, now: Now, end: End) {
        if !self.is_current() || self.ended.swap(true, Ordering::SeqCst) {
            return;
        }
        let Some(child) = self.child.clone() else {
            return self.client.input(|machine| machine.handle_end(now, end));
        };
        // Why it ended is known once it has exited, which is now or shortly.
        child.release();
        let client = self.client.clone();
        self.client.runtime.spawn(Box::pin(async move {
            let obituary = child.obituary().await.to_string();
            let now = client.runtime.now();
            client.lock().machine.handle_failed(now, &obituary);
            client.turn();
        }));
    }

    /// A process that does not read any more may still have said something: it is read to its end, which is
    /// now not far.
    fn handle_write_failed(&self, now: Now) {
        match &self.child {
            Some(child) => child.release(),
            None => self.handle_end(now, End::Broken),
        }
    }

    fn handle_timeout(&self, now: Now) {
        let exited = self.exited();
        if exited.is_some_and(|exited| self.drain().is_over(exited, now.mono)) {
            self.handle_end(now, End::Complete);
        }
        if self.is_current() {
            self.client.input(|machine| machine.handle_timeout(now));
        }
    }

    fn transmit(&self, _: Now, write: &mut dyn FnMut(&[u8]) -> usize) {
        if !self.is_current() || self.has_ended() {
            return;
        }
        let mut inner = self.client.lock();
        let machine = &mut inner.machine;
        let taken = write(machine.transmit());
        let sent = self.client.hooks.copy(machine.transmit().get(..taken).unwrap_or_default());
        machine.advance(taken);
        drop(inner);
        if let Some(sent) = sent {
            self.client.hooks.traffic(Traffic::Sent(&sent));
        }
    }

    fn status(&self) -> Status {
        let inner = self.client.lock();
        let machine = &inner.machine;
        let (current, ended) = (self.is_current(), self.has_ended());
        let timeout = machine.poll_timeout().filter(|_| current);
        let drained = self.exited().map(|exited| self.drain().until(exited));
        let said_all = machine.is_closed() && machine.transmit().is_empty();
        Status {
            timeout: timeout.into_iter().chain(drained).min(),
            wants_read: machine.wants_read(),
            write_closed: said_all || ended,
            // A process is read to its end even when nobody listens: it may have something to finish.
            finished: !current || ended || (said_all && self.child.is_none()),
        }
    }

    fn register(&self, waker: &Waker) {
        if self.is_current() {
            self.client.waker.register(waker);
        }
        if let Some(child) = &self.child {
            child.register_stream(waker);
        }
    }
}
