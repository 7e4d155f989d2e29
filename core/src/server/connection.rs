//! A server at one end of a byte stream: stdio, a pipe, a socket.
//!
//! <https://modelcontextprotocol.io/specification/2026-07-28/basic/transports/stdio>

mod ask;
mod link;
mod listen;
#[cfg(test)]
mod tests;

use alloc::string::String;
use alloc::sync::Arc;
use alloc::vec::Vec;
use core::fmt;

use self::link::Link;
pub use self::listen::ListenId;
use super::asks::{Answer, AskError, AskId};
use super::call::{Call, CallId, Progress, WriteResult};
use super::config::Config;
use super::principal::Principal;
use super::resource_server;
use super::subscription::{Admission, Listen};
use super::tasks::TaskDetail;
use super::token::AuthRefusal;
use crate::change::{Change, TaskChange};
use crate::diagnostic::Diagnostic;
use crate::error::ErrorObject;
use crate::head::End;
use crate::model::Json;
use crate::model::input_required::InputRequest;
use crate::model::logging::LoggingMessageNotificationParams;
use crate::time::{Duration, Instant, Now, Wake, WakeReason, earliest};
use crate::wire::lines::Lines;

/// One client on a byte stream.
///
/// Both eras may come over it, message by message. A request with modern metadata is served by what it says
/// itself; `initialize` opens a legacy session that lasts as long as the stream, and that modern requests
/// neither see nor change.
///
/// Bytes go in through [`handle_bytes`](Self::handle_bytes), bytes to send are in
/// [`transmit`](Self::transmit), what the application has to do comes out of
/// [`poll_output`](Self::poll_output).
pub struct Connection {
    lines: Lines,
    link: Link,
    /// Input that waits until the peer has read some of what it was sent.
    backlog: Vec<u8>,
    /// How much of it has been read.
    read: usize,
    input: Input,
    /// When running calls are given up, after the input has ended.
    drain: Option<Instant>,
    /// Whether they were: what was held, and comes up now, is given up at once.
    late: bool,
}

/// Prints the lengths of what it holds only.
impl fmt::Debug for Connection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Connection")
            .field("lines", &self.lines)
            .field("link", &self.link)
            .field("backlog", &format_args!("{} bytes", self.backlog.len().saturating_sub(self.read)))
            .field("input", &self.input)
            .field("drain", &self.drain)
            .finish()
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Input {
    Open,
    /// Ended, with bytes in the backlog.
    Ending,
    Ended,
}

/// What a [`Connection`] has to say.
#[derive(Clone)]
#[non_exhaustive]
pub enum Output {
    /// The application is to do this, and to answer it.
    Call(CallId, Call),
    /// Nobody waits for this call any more; the application should stop. Nothing is sent for it.
    Cancelled(CallId),
    /// What came of what the client was asked on behalf of a call; see [`Connection::ask`].
    Answered(CallId, AskId, Answer),
    /// The legacy client has said that it is ready.
    Initialized,
    /// The client tells of something, such as `notifications/roots/list_changed`.
    Notification {
        /// The method.
        method: String,
        /// Its parameters as JSON text, an object.
        params: String,
    },
    /// Somebody wants to listen: give the answer to [`Connection::handle_admission`].
    Listen(ListenId, Listen),
    /// A listener is to be told of this task: give what [`Tasks::read`](super::Tasks::read) says to
    /// [`Connection::handle_task`].
    Task(ListenId, TaskChange),
    /// For people on this side.
    Diagnostic(Diagnostic),
}

/// Prints no payload.
impl fmt::Debug for Output {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Call(id, call) => f.debug_tuple("Call").field(id).field(call).finish(),
            Self::Cancelled(id) => f.debug_tuple("Cancelled").field(id).finish(),
            Self::Answered(id, ask, answer) => {
                f.debug_tuple("Answered").field(id).field(ask).field(answer).finish()
            }
            Self::Initialized => f.write_str("Initialized"),
            Self::Notification { method, params } => f
                .debug_struct("Notification")
                .field("method", method)
                .field("params", &format_args!("{} bytes", params.len()))
                .finish(),
            Self::Listen(id, listen) => f.debug_tuple("Listen").field(id).field(listen).finish(),
            Self::Task(id, task) => f.debug_tuple("Task").field(id).field(task).finish(),
            Self::Diagnostic(diagnostic) => f.debug_tuple("Diagnostic").field(diagnostic).finish(),
        }
    }
}

impl Connection {
    /// A server at the start of a stream.
    pub fn new(config: Arc<Config>) -> Self {
        Self {
            lines: Lines::new(config.limits.message),
            link: Link::new(config),
            backlog: Vec::new(),
            read: 0,
            input: Input::Open,
            drain: None,
            late: false,
        }
    }

    /// The same for HTTP with SSE, which only legacy clients speak, and on which somebody whom nobody has recognised
    /// may be anybody.
    pub(super) fn over_http(config: Arc<Config>) -> Self {
        let mut connection = Self::new(config);
        connection.link.over_http = true;
        connection
    }

    /// The application knows who the client is, such as the user that the process runs as. Calls from then on
    /// carry it.
    pub fn handle_principal(&mut self, _now: Now, principal: Arc<Principal>) {
        self.link.principal = Some(principal);
    }

    /// Bytes have come. All messages that they complete are processed, unless so much is waiting to be sent
    /// that the rest has to be held back; see [`wants_read`](Self::wants_read).
    pub fn handle_bytes(&mut self, _now: Now, bytes: &[u8]) {
        self.take(bytes);
    }

    /// One message has come, a line without its end. What comes of it is of this sender.
    pub(super) fn handle_message(&mut self, message: &str, sender: Option<Arc<Principal>>) {
        self.link.principal = sender;
        self.take(message.as_bytes());
        self.take(b"\n");
    }

    fn take(&mut self, bytes: &[u8]) {
        if self.input != Input::Open {
            return;
        }
        if self.read < self.backlog.len() {
            self.backlog.extend_from_slice(bytes);
            return self.resume();
        }
        let mut rest = bytes;
        self.link.read(&mut self.lines, &mut rest);
        self.backlog.extend_from_slice(rest);
    }

    /// No more bytes will come. After [`End::Complete`] running calls may still finish within
    /// [`Limits::drain`](crate::limits::Limits::drain). After [`End::Broken`], which also reports a failed
    /// write, nobody would read their answers: they are cancelled and nothing more is sent.
    pub fn handle_end(&mut self, now: Now, end: End) {
        match end {
            End::Complete if self.input == Input::Open => {
                self.input = Input::Ending;
                self.drain = Some(now.mono + self.link.config().limits.drain);
                self.resume();
            }
            End::Complete => {}
            End::Broken => {
                self.input = Input::Ended;
                self.backlog = Vec::new();
                self.read = 0;
                self.link.go_deaf();
                self.link.give_up();
                self.link.stop_listening();
                self.link.transmit.clear();
            }
        }
    }

    /// The server has changed: what comes from now on is served by this configuration. Running calls go on with
    /// what they began with, a legacy session with what it was promised. Bounds stay as they were.
    pub fn handle_config(&mut self, _now: Now, config: Arc<Config>) {
        self.link.set_config(config);
    }

    /// What the application has to do or know; `None` when there is nothing more.
    pub fn poll_output(&mut self) -> Option<Output> {
        if self.link.outputs.is_empty() {
            self.resume();
            return self.link.outputs.pop_front();
        }
        // A call is large, so it is moved once.
        let output = self.link.outputs.pop_front();
        self.resume();
        output
    }

    /// When [`handle_timeout`](Self::handle_timeout) wants to be called at the latest.
    pub fn poll_timeout(&self) -> Option<Instant> {
        self.wake().map(|(at, _)| at)
    }

    /// What [`poll_timeout`](Self::poll_timeout) is for.
    pub fn wake_reason(&self) -> Option<WakeReason> {
        self.wake().map(|(_, reason)| reason)
    }

    pub(super) fn wake(&self) -> Option<Wake> {
        let answer = self.link.asks.next().map(|at| (at, WakeReason::Ask));
        earliest([answer, self.drained_at().map(|at| (at, WakeReason::Drain))])
    }

    fn drained_at(&self) -> Option<Instant> {
        self.drain.filter(|_| !self.link.calls.is_empty())
    }

    /// The time has come, or not: early, late and repeated calls are harmless.
    pub fn handle_timeout(&mut self, now: Now) {
        self.link.expire_asks(now.mono);
        if self.drained_at().is_some_and(|drain| drain <= now.mono) {
            self.late = true;
            self.resume();
        }
    }

    /// Bytes to send. Stay until [`advance`](Self::advance) says that they are sent.
    pub fn transmit(&self) -> &[u8] {
        self.link.transmit.rest()
    }

    /// The first `n` bytes of [`transmit`](Self::transmit) are sent.
    pub fn advance(&mut self, n: usize) {
        self.link.transmit.advance(n);
        self.link.catch_up();
        self.resume();
    }

    /// Whether to read from the stream. `false` while more than
    /// [`Limits::transmit`](crate::limits::Limits::transmit) waits to be sent: what is handed in then is
    /// held without being processed. Ask again after [`advance`](Self::advance) or
    /// [`poll_output`](Self::poll_output).
    pub fn wants_read(&self) -> bool {
        self.input == Input::Open && self.read >= self.backlog.len() && !self.link.is_full()
    }

    /// Whether the stream may be closed: the input has ended or [`shutdown`](Self::shutdown) was called, no
    /// call is running, and everything is sent.
    pub fn is_finished(&self) -> bool {
        let over = self.input == Input::Ended || self.link.stopping;
        over && self.link.calls.is_empty() && self.link.listeners.is_empty() && self.link.transmit.is_empty()
    }

    /// The call succeeded. For a call that is unknown or over, nothing happens. A result that cannot be
    /// serialised becomes an internal error, and a diagnostic.
    pub fn respond(&mut self, _now: Now, call: CallId, result: &dyn WriteResult) {
        self.link.respond(call, result);
        self.resume();
    }

    /// The call failed.
    pub fn fail(&mut self, _now: Now, call: CallId, error: &ErrorObject) {
        self.link.fail(call, error);
        self.resume();
    }

    /// The caller lacks scopes that the call turned out to need: all of those that it needs.
    pub fn forbid(&mut self, now: Now, call: CallId, scopes: Vec<String>) {
        let refusal = resource_server::refuse(&AuthRefusal::InsufficientScope { scopes }, None);
        self.fail(now, call, &refusal.error());
    }

    /// How far the call has come. Dropped when the client did not ask for progress, when it does not go
    /// forward, and when too much waits to be sent.
    pub fn progress(&mut self, _now: Now, call: CallId, progress: &Progress) {
        self.link.progress(call, progress);
    }

    /// A log message on behalf of the call. Dropped when the client did not ask for one so little severe,
    /// when the server does not declare `logging`, and when too much waits to be sent.
    pub fn log(&mut self, _now: Now, call: CallId, message: &LoggingMessageNotificationParams) {
        self.link.log(call, message);
    }

    /// A notification of the application's own, on behalf of the call. One with a name of the protocol or
    /// parameters that are no object becomes a diagnostic. Dropped when too much waits to be sent.
    pub fn notify(&mut self, _now: Now, call: CallId, method: &str, params: &Json) {
        self.link.notify(call, method, params);
    }

    /// Goes on with a [`Target::Protocol`](super::Target::Protocol) as if it had not been handed out: answers it, or
    /// begins a subscription. For another call, nothing happens.
    pub fn proceed(&mut self, _now: Now, call: CallId) {
        self.link.proceed(call);
        self.resume();
    }

    /// Asks the client for something in the middle of a call: its user, its model or its roots.
    ///
    /// Only in revisions with a handshake, and only what the client declared. Comes to an end exactly once, by
    /// [`Output::Answered`], unless [`retract`](Self::retract) takes it back: with the result of the client, or
    /// with an error when there is none within `timeout` ([`Limits::ask`](crate::limits::Limits::ask) if none
    /// is given), when the call is over, and when the input has ended.
    ///
    /// # Errors
    /// When it cannot be asked; then nothing was sent.
    ///
    /// <https://modelcontextprotocol.io/specification/2025-11-25/client/elicitation>
    pub fn ask(
        &mut self,
        now: Now,
        call: CallId,
        request: &InputRequest,
        timeout: Option<Duration>,
    ) -> Result<AskId, AskError> {
        self.link.ask(now, call, request, timeout)
    }

    /// The application does not wait for this answer any more. The client is told; there will be no
    /// [`Output::Answered`].
    pub fn retract(&mut self, _now: Now, ask: AskId) {
        self.link.retract(ask);
    }

    /// What the client was sent to a page for is done: tells it so, unless its revision has no names for elicitations
    /// or it cannot be asked for any by URL. Dropped when too much waits to be sent.
    ///
    /// <https://modelcontextprotocol.io/specification/2025-11-25/client/elicitation#completion-notifications-for-url-mode-elicitation>
    pub fn complete_elicitation(&mut self, _now: Now, elicitation: &str) {
        if self.input != Input::Ended {
            self.link.complete_elicitation(elicitation);
        }
    }

    /// Whether somebody may listen. For a subscription that is unknown or over, nothing happens.
    pub fn handle_admission(&mut self, _now: Now, listen: ListenId, admission: Admission) {
        self.link.admit(listen, admission);
    }

    /// What the table of tasks says of one that a listener is to be told of: nothing where there is none any more. Unless
    /// it was asked about this one, nothing happens.
    pub fn handle_task(
        &mut self,
        _now: Now,
        listen: ListenId,
        task: &TaskChange,
        detail: Option<&TaskDetail>,
    ) {
        self.link.task(listen, task, detail);
    }

    /// Something has changed: tells every subscription that is for it, and the legacy session if it is. What a
    /// client that reads slowly is to be told waits within [`Limits::notifications`].
    ///
    /// [`Limits::notifications`]: crate::limits::Limits::notifications
    pub fn publish(&mut self, _now: Now, change: &Change) {
        if self.input != Input::Ended {
            self.link.publish(change);
        }
    }

    /// Takes no new calls, and ends all subscriptions with their result. Running calls may finish, for as long as
    /// whoever drives this is willing to wait.
    pub fn shutdown(&mut self, _now: Now) {
        self.link.stopping = true;
        self.link.end_listening();
    }

    /// The server waits no longer: running calls are answered with an error.
    pub(super) fn give_up(&mut self, now: Now) {
        self.shutdown(now);
        self.link.refuse_calls();
    }

    /// Goes on with the backlog as far as there is room.
    fn resume(&mut self) {
        self.read_on();
        // Behind a handshake that is given up there may be another one.
        while self.late && !self.link.calls.is_empty() {
            self.link.give_up();
            self.read_on();
        }
    }

    /// Reads the backlog as far as there is room, and the end of the input after it.
    fn read_on(&mut self) {
        if self.read < self.backlog.len() {
            let mut rest = self.backlog.get(self.read..).unwrap_or_default();
            self.link.read(&mut self.lines, &mut rest);
            self.read = self.backlog.len() - rest.len();
        }
        if self.read >= self.backlog.len() {
            self.backlog.clear();
            self.read = 0;
            if self.input == Input::Ending && !self.link.is_full() {
                self.input = Input::Ended;
                self.link.read_last(&mut self.lines);
                self.link.go_deaf();
                self.link.end_listening();
            }
        }
    }
}
