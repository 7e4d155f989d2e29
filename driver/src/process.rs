//! Child processes: what to start, and how to end it.

mod group;
#[cfg(any(windows, test))]
mod lookup;

use std::collections::VecDeque;
use std::ffi::{OsStr, OsString};
use std::fmt;
use std::future::{Future, poll_fn};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::pin::pin;
use std::process::ExitStatus;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use mcp_proto::head::End;
use mcp_proto::time::{Instant, Now};

pub(crate) use self::group::Group;
use self::group::Signal;
use crate::endpoint::{Endpoint, Status};
use crate::environment::Inherit;
use crate::hook;
use crate::runtime::{BoxFuture, Process, Runtime};
use crate::wake::WakerSlot;

/// A child writes to pipes, so the window that a console program is given would be an empty one.
#[cfg(windows)]
const NO_WINDOW: u32 = 0x0800_0000;
/// What is typed to end us is not for the child.
#[cfg(windows)]
const NEW_PROCESS_GROUP: u32 = 0x0000_0200;

/// A server to start as a child process.
///
/// Of our environment the child gets what programs need ([`Inherit::Basics`]), whatever is named by
/// [`inherit`](Self::inherit), or all of it ([`inherit_all`](Self::inherit_all)), besides what [`env`](Self::env) sets. It
/// runs in a process group of its own (on Windows: a job), so that whatever it starts ends with it.
#[derive(Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Command {
    /// The program: a path, or a name looked up in `PATH`, on Windows with the endings of `PATHEXT`.
    pub program: OsString,
    /// Its arguments.
    pub arguments: Vec<OsString>,
    /// Environment variables to set.
    pub environment: Vec<(OsString, OsString)>,
    /// Which of our variables it gets.
    pub inherit: Inherit,
    /// Which others of ours it gets, by name.
    pub inherited: Vec<OsString>,
    /// Its working directory; ours by default.
    pub directory: Option<PathBuf>,
}

impl Command {
    /// A program without arguments.
    pub fn new(program: impl Into<OsString>) -> Self {
        Self {
            program: program.into(),
            arguments: Vec::new(),
            environment: Vec::new(),
            inherit: Inherit::Basics,
            inherited: Vec::new(),
            directory: None,
        }
    }

    /// Adds an argument.
    #[must_use]
    pub fn arg(mut self, argument: impl Into<OsString>) -> Self {
        self.arguments.push(argument.into());
        self
    }

    /// Adds arguments.
    #[must_use]
    pub fn args<A: Into<OsString>>(mut self, arguments: impl IntoIterator<Item = A>) -> Self {
        self.arguments.extend(arguments.into_iter().map(Into::into));
        self
    }

    /// Sets an environment variable.
    #[must_use]
    pub fn env(mut self, name: impl Into<OsString>, value: impl Into<OsString>) -> Self {
        self.environment.push((name.into(), value.into()));
        self
    }

    /// Hands on a variable of our environment, if it is set.
    #[must_use]
    pub fn inherit(mut self, name: impl Into<OsString>) -> Self {
        self.inherited.push(name.into());
        self
    }

    /// Hands on the whole of our environment, with all tokens and keys that are in it.
    #[must_use]
    pub fn inherit_all(mut self) -> Self {
        self.inherit = Inherit::All;
        self
    }

    /// Sets the working directory.
    #[must_use]
    pub fn directory(mut self, directory: impl Into<PathBuf>) -> Self {
        self.directory = Some(directory.into());
        self
    }

    /// The same for std, for adapters to start: in a process group of its own, with three pipes.
    pub fn to_std(&self) -> std::process::Command {
        #[cfg(windows)]
        let mut command = std::process::Command::new(self.found());
        #[cfg(not(windows))]
        let mut command = std::process::Command::new(&self.program);
        command.args(&self.arguments);
        if self.inherit != Inherit::All {
            let ours = std::env::vars_os();
            let kept =
                ours.filter(|(name, value)| self.inherited.contains(name) || self.inherit.takes(name, value));
            command.env_clear().envs(kept);
        }
        command.envs(self.environment.iter().map(|(name, value)| (name, value)));
        if let Some(directory) = &self.directory {
            command.current_dir(directory);
        }
        let pipe = std::process::Stdio::piped;
        command.stdin(pipe()).stdout(pipe()).stderr(pipe());
        #[cfg(unix)]
        std::os::unix::process::CommandExt::process_group(&mut command, 0);
        #[cfg(windows)]
        std::os::windows::process::CommandExt::creation_flags(&mut command, NO_WINDOW | NEW_PROCESS_GROUP);
        command
    }

    /// The file of the program, where the `PATH` of the child has it: the standard library finds none but `.exe`. What
    /// is not found is left to the system, which says so.
    #[cfg(windows)]
    fn found(&self) -> PathBuf {
        let of_child = |name: &str| {
            let set = self.environment.iter().rev().find(|(set, _)| set.eq_ignore_ascii_case(name));
            set.map(|(_, value)| value.clone()).or_else(|| std::env::var_os(name))
        };
        let (path, endings) = (of_child("PATH").unwrap_or_default(), of_child("PATHEXT"));
        let endings = endings.as_ref().and_then(|endings| endings.to_str());
        let program = Path::new(&self.program);
        let found = lookup::find(program, std::env::split_paths(&path), endings, Path::is_file);
        found.unwrap_or_else(|| program.to_owned())
    }
}

/// A program given as one word: `Client::spawn("calculator")`.
impl From<&str> for Command {
    fn from(program: &str) -> Self {
        Self::new(program)
    }
}

impl From<&Path> for Command {
    fn from(program: &Path) -> Self {
        Self::new(program)
    }
}

impl From<PathBuf> for Command {
    fn from(program: PathBuf) -> Self {
        Self::new(program)
    }
}

impl From<String> for Command {
    fn from(program: String) -> Self {
        Self::new(program)
    }
}

/// Prints the program alone: arguments and environment may hold secrets.
impl fmt::Debug for Command {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Command").field("program", &self.program).finish_non_exhaustive()
    }
}

/// How long the output of a child is read on after its exit. Whoever still holds it then has left the group
/// and is none of our business. It is half a second, in turns: on a busy machine the thread that reads comes late to
/// what is there, and then so do timers, one after the other.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Drain {
    since: Option<Instant>,
    turns: u32,
}

impl Drain {
    const TURN: Duration = Duration::from_millis(100);
    const TURNS: u32 = 5;

    /// Something came, so there may be more.
    pub(crate) fn heard(&mut self, now: Instant) {
        *self = Self { since: Some(now), turns: 0 };
    }

    /// When the turn is over, for a child that exited at this moment.
    pub(crate) fn until(&self, exited: Instant) -> Instant {
        self.since.map_or(exited, |since| since.max(exited)) + Self::TURN
    }

    /// Whether the output is given up, now that time has passed.
    pub(crate) fn is_over(&mut self, exited: Instant, now: Instant) -> bool {
        if now < self.until(exited) {
            return false;
        }
        self.since = Some(now);
        self.turns += 1;
        self.turns >= Self::TURNS
    }
}

/// How a child ended, and the last it said on standard error.
#[derive(Clone, Debug)]
pub(crate) struct Obituary {
    pub(crate) program: String,
    pub(crate) status: Option<ExitStatus>,
    pub(crate) stderr: String,
}

impl fmt::Display for Obituary {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.status {
            Some(status) => write!(f, "the server process `{}` ended ({status})", self.program)?,
            None => write!(f, "the server process `{}` closed its output", self.program)?,
        }
        match self.stderr.trim_end() {
            "" => f.write_str("; it wrote nothing to standard error"),
            stderr => write!(f, "; the end of its standard error:\n{stderr}"),
        }
    }
}

/// Starts a program, with an error that says what was looked for and where.
pub(crate) fn start<R: Runtime>(runtime: &R, command: &Command) -> io::Result<Process<R>> {
    runtime.spawn_process(command).map_err(|error| {
        let program = command.program.to_string_lossy();
        let place = match (program.contains(['/', '\\']), std::env::var_os("PATH")) {
            (true, _) => String::new(),
            (false, Some(path)) => format!(", looked up in PATH={}", folders(&path)),
            (false, None) => ", and PATH is not set".into(),
        };
        let hint = match command.arguments.is_empty() && program.contains(char::is_whitespace) {
            true => " (this is taken for the name of the program alone: give arguments by `Command::arg`, or connect to the \
                     command line as a `Target`)",
            false => "",
        };
        io::Error::new(error.kind(), format!("cannot start `{program}`{place}: {error}{hint}"))
    })
}

/// The beginning of a search path, whose folders are often many, and named twice.
fn folders(path: &OsStr) -> String {
    const SHOWN: usize = 8;
    let mut known: Vec<String> = Vec::new();
    for folder in std::env::split_paths(path).map(|folder| folder.to_string_lossy().into_owned()) {
        if known.contains(&folder) {
            continue;
        }
        if known.len() == SHOWN {
            known.push("…".to_owned());
            break;
        }
        known.push(folder);
    }
    known.join(if cfg!(windows) { ";" } else { ":" })
}

/// What is left of a process besides its stream.
pub(crate) struct Remains<R: Runtime> {
    pub(crate) stderr: R::Stream,
    pub(crate) exit: BoxFuture<io::Result<ExitStatus>>,
    pub(crate) group: Group,
}

/// The life of a child beside its stream: its standard error is always drained, and once its stream is done
/// it ends, by itself, by TERM or by KILL, together with whatever it started.
#[derive(Clone)]
pub(crate) struct Child {
    shared: Arc<ChildShared>,
}

struct ChildShared {
    /// Its name, without arguments, which may hold secrets.
    program: String,
    stderr: Mutex<Tail>,
    echo: Option<StderrHook>,
    state: Mutex<ChildState>,
    /// Whoever pumps standard error, and whoever pumps the stream.
    pumps: [WakerSlot; 2],
}

#[derive(Default)]
struct ChildState {
    status: Option<ExitStatus>,
    exited: Option<Instant>,
    drain: Drain,
    /// Standard error has ended, or was given up after the exit.
    drained: bool,
    released: bool,
    wakers: Vec<Waker>,
}

impl Child {
    /// Takes charge of a child that was just started. It is given `patience` to exit when its stream is done,
    /// and again when it was asked to terminate.
    pub(crate) fn adopt<R: Runtime>(
        runtime: &R,
        program: String,
        process: Remains<R>,
        patience: Duration,
        echo: Option<StderrHook>,
    ) -> Self {
        let shared = Arc::new(ChildShared {
            program,
            stderr: Mutex::default(),
            echo,
            state: Mutex::default(),
            pumps: Default::default(),
        });
        let child = Self { shared };
        let Remains { stderr, exit, group } = process;
        runtime.spawn(runtime.drive(stderr, Arc::new(child.clone())));
        let supervisor = child.clone().supervise(runtime.clone(), exit, group, patience);
        runtime.spawn(Box::pin(supervisor));
        child
    }

    /// The stream is done: the child may take its time, but not much.
    pub(crate) fn release(&self) {
        self.update(|state| state.released = true);
    }

    /// When it exited; `None` while it runs.
    pub(crate) fn exited(&self) -> Option<Instant> {
        self.state().exited
    }

    /// Wakes whoever pumps its stream when it has exited.
    pub(crate) fn register_stream(&self, waker: &Waker) {
        self.shared.pumps[1].register(waker);
    }

    /// Waits for the end of the child, and for what it said last.
    pub(crate) async fn obituary(&self) -> Obituary {
        poll_fn(|cx| self.poll_state(cx, |state| state.exited.is_some() && state.drained)).await;
        let stderr = self.shared.stderr.lock().unwrap_or_else(PoisonError::into_inner).text();
        Obituary { program: self.shared.program.clone(), status: self.state().status, stderr }
    }

    async fn supervise<R: Runtime>(
        self,
        runtime: R,
        mut exit: BoxFuture<io::Result<ExitStatus>>,
        mut group: Group,
        patience: Duration,
    ) {
        let released = poll_fn(|cx| match exit.as_mut().poll(cx) {
            Poll::Ready(status) => Poll::Ready(Some(status)),
            Poll::Pending => self.poll_state(cx, |state| state.released).map(|()| None),
        });
        let status = match released.await {
            Some(status) => status,
            None => terminate(&runtime, exit, &mut group, patience).await,
        };
        // The leader is gone; whatever else is in its group goes with it.
        drop(group);
        self.update(|state| {
            state.status = status.ok();
            state.exited = Some(runtime.now().mono);
        });
    }

    fn state(&self) -> MutexGuard<'_, ChildState> {
        self.shared.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn update(&self, change: impl FnOnce(&mut ChildState)) {
        let wakers = {
            let mut state = self.state();
            change(&mut state);
            std::mem::take(&mut state.wakers)
        };
        wakers.into_iter().for_each(Waker::wake);
        self.shared.pumps.iter().for_each(WakerSlot::wake);
    }

    fn poll_state(&self, cx: &mut Context<'_>, done: impl Fn(&ChildState) -> bool) -> Poll<()> {
        let mut state = self.state();
        if done(&state) {
            return Poll::Ready(());
        }
        if !state.wakers.iter().any(|waker| waker.will_wake(cx.waker())) {
            state.wakers.push(cx.waker().clone());
        }
        Poll::Pending
    }
}

async fn terminate<R: Runtime>(
    runtime: &R,
    mut exit: BoxFuture<io::Result<ExitStatus>>,
    group: &mut Group,
    patience: Duration,
) -> io::Result<ExitStatus> {
    for next in [Signal::Terminate, Signal::Kill] {
        let mut deadline = pin!(runtime.sleep_until(runtime.now().mono + patience));
        let waited = poll_fn(|cx| match exit.as_mut().poll(cx) {
            Poll::Ready(status) => Poll::Ready(Some(status)),
            Poll::Pending => deadline.as_mut().poll(cx).map(|()| None),
        });
        if let Some(status) = waited.await {
            return status;
        }
        group.signal(next);
    }
    exit.await
}

/// Called with what a child writes to standard error, as it arrives.
pub(crate) type StderrHook = Arc<dyn Fn(&[u8]) + Send + Sync>;

/// What becomes of a child's standard error where the application has not said who hears of it.
pub(crate) fn pass_on(bytes: &[u8]) {
    // Where nobody reads standard error, nobody can be told.
    let _ = io::stderr().write_all(bytes);
}

/// The last bytes of a stream.
#[derive(Default)]
struct Tail(VecDeque<u8>);

impl Tail {
    const KEPT: usize = 8 << 10;

    fn push(&mut self, bytes: &[u8]) {
        let kept = bytes.len().min(Self::KEPT);
        let over = (self.0.len() + kept).saturating_sub(Self::KEPT);
        self.0.drain(..over);
        self.0.extend(bytes.iter().skip(bytes.len() - kept));
    }

    fn text(&self) -> String {
        let bytes: Vec<u8> = self.0.iter().copied().collect();
        String::from_utf8_lossy(&bytes).into_owned()
    }
}

/// A child's standard error as an endpoint: read to the end, never written.
impl Endpoint for Child {
    fn handle_bytes(&self, _: Now, bytes: &[u8]) {
        if let Some(echo) = &self.shared.echo {
            hook::call(|| echo(bytes));
        }
        self.shared.stderr.lock().unwrap_or_else(PoisonError::into_inner).push(bytes);
    }

    fn handle_end(&self, _: Now, _: End) {
        self.update(|state| state.drained = true);
    }

    fn handle_timeout(&self, now: Now) {
        let mut state = self.state();
        let over = state.exited.is_some_and(|exited| state.drain.is_over(exited, now.mono));
        drop(state);
        if over {
            self.update(|state| state.drained = true);
        }
    }

    fn transmit(&self, _: Now, _: &mut dyn FnMut(&[u8]) -> usize) {}

    fn status(&self) -> Status {
        let state = self.state();
        let timeout = state.exited.filter(|_| !state.drained).map(|exited| state.drain.until(exited));
        Status { timeout, wants_read: true, write_closed: false, finished: state.drained }
    }

    fn register(&self, waker: &Waker) {
        self.shared.pumps[0].register(waker);
    }
}
