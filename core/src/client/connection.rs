//! A server at the other end of a byte stream, such as the pipes of a child process.
//!
//! <https://modelcontextprotocol.io/specification/2026-07-28/basic/transports/stdio>

mod abandon;
mod late;
mod listen;
mod noise;
mod prepare;
mod respawn;
#[cfg(test)]
mod tests;

use self::abandon::Abandoned;
use self::late::Unanswered;
use self::noise::Noise;
use self::respawn::Restarts;
use super::answer::{InputResponse, Refusal};
use super::asks::{Answered, AskId};
use super::cache::CacheEntry;
use super::call::Call;
use super::calls::CallId;
use super::config::{CallOptions, Config};
use super::continuation::Unmet;
use super::event::{Event, Out};
use super::link::{Link, Way};
use super::negotiate::{Answer, Negotiation, Step};
use super::reply::Pending;
use super::request::{self, Envelope, Prepared, Source};
use super::verdict::{Transport, Verdict};
use crate::diagnostic::Diagnostic;
use crate::dialect::Era;
use crate::entropy::Seed;
use crate::error::{ApiMisuse, CallError, Full};
use crate::model::Json;
use crate::model::logging::LoggingLevel;
use crate::text;
use crate::time::{Duration, Instant, Now, Wake, WakeReason, earliest};
use crate::wire::jsonrpc::{self, Incoming, Malformed, Message, Request, RequestId, Response};
use crate::wire::lines::{Line, Lines};
use alloc::format;
use alloc::string::String;
use alloc::sync::Arc;
use alloc::vec::Vec;
use core::fmt;

mod state;

/// A client's end of a byte stream.
///
/// Bytes of the server go in by [`handle_bytes`](Self::handle_bytes), bytes for it come out by
/// [`transmit`](Self::transmit) and [`advance`](Self::advance). It begins to negotiate the era as soon as it
/// exists; calls may be started at once and wait until they can be sent.
pub struct Connection {
    link: Link,
    lines: Lines,
    out: Vec<u8>,
    /// How much of `out` is already on its way.
    sent: usize,
    state: State,
    restarts: Restarts,
    unanswered: Unanswered,
    abandoned: Abandoned,
    noise: Noise,
}

/// Prints the lengths of what it holds only.
impl fmt::Debug for Connection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Connection")
            .field("link", &self.link)
            .field("lines", &self.lines)
            .field("out", &format_args!("{} bytes", self.out.len().saturating_sub(self.sent)))
            .field("state", &self.state)
            .finish()
    }
}

#[derive(Debug)]
enum State {
    /// Waiting for the answer to a probe or handshake with this id.
    Negotiating {
        wire: i64,
        deadline: Instant,
    },
    /// The server died; a new process is to be started, with which to begin so.
    Respawning {
        step: Step,
    },
    /// The era is known. Waiting for the server to have taken note of what it has to know before any call.
    Preparing,
    Open,
    Closed,
}

/// What a [`Connection`] has to say.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Output {
    /// Something happened.
    Event(Event),
    /// The server ended and is needed again: instead of answering the probe, as some legacy servers do, or while
    /// somebody listens to it. Start it again and call [`Connection::handle_respawned`]. Where that is impossible,
    /// call [`Connection::handle_end`] once more.
    Respawn {
        /// How long to wait before that, so that a server that dies time and again is no burden.
        after: Duration,
    },
}

impl Connection {
    /// A connection to a server that is there and has not been spoken to.
    pub fn new(now: Now, config: Arc<Config>) -> Self {
        let (negotiation, step) = Negotiation::new(config.era, config.verdict.map(|it| it.revision));
        let lines = Lines::new(config.limits.message);
        let mut connection = Self {
            // Nobody else waits for this server, so there are no waits to be spread.
            link: Link::new(config, negotiation, false, Seed::new([0; 32])),
            lines,
            out: Vec::new(),
            sent: 0,
            state: State::Closed,
            restarts: Restarts::default(),
            unanswered: Unanswered::default(),
            abandoned: Abandoned::default(),
            noise: Noise::default(),
        };
        connection.follow(now.mono, step);
        connection
    }

    /// Begins a call. Until the era is known it waits, and only its time runs.
    ///
    /// # Errors
    ///
    /// [`CallError::Full`] with too many calls or bytes under way, [`CallError::Unsupported`] for what the
    /// server does not offer, [`CallError::Misuse`] when the parameters cannot be serialized as a JSON
    /// object, and why the connection is over if it is.
    pub fn start<C: Call>(
        &mut self,
        now: Now,
        call: &C,
        options: CallOptions,
    ) -> Result<Pending<C::Reply>, CallError> {
        self.start_source(now.mono, call, options).map(|id| Pending::new(id, C::read))
    }

    fn start_source(
        &mut self,
        now: Instant,
        source: &impl Source,
        options: CallOptions,
    ) -> Result<CallId, CallError> {
        let judged = self.link.admit(now, source, &options)?;
        if judged && let Some(call) = self.link.recall(now, source, &options) {
            return Ok(call);
        }
        self.set_off(now, source, options, judged)
    }

    fn set_off(
        &mut self,
        now: Instant,
        source: &impl Source,
        options: CallOptions,
        judged: bool,
    ) -> Result<CallId, CallError> {
        let open = matches!(self.state, State::Open);
        let Some(envelope) = self.link.envelope.take_if(|_| open && judged) else {
            self.has_room()?;
            let patience = self.link.patience(&options);
            let prepared = Prepared::new(source, options).map_err(unserializable)?;
            let call = self.link.calls.wait(now, patience, prepared);
            if open {
                self.rediscover(now);
            }
            return Ok(call);
        };
        let started = self.has_room().map_err(CallError::from).and_then(|()| {
            let started = self.link.begin(now, source, options, &envelope, &mut self.out);
            started.inspect(|_| self.out.push(b'\n')).map_err(unserializable)
        });
        self.link.envelope = Some(envelope);
        started
    }

    /// Whether there is room for what another call holds until the server reads it, on its way or before that.
    fn has_room(&self) -> Result<(), Full> {
        let limit = self.link.config.limits.transmit;
        let held = self.transmit().len() + self.link.calls.waiting_bytes();
        if held < limit { Ok(()) } else { Err(Full::new("transmit", limit)) }
    }

    /// Gives up a call: it settles as [`CallError::Cancelled`], and the server is told. A call that has
    /// settled, or never was, stays as it is.
    pub fn cancel(&mut self, now: Now, call: CallId) {
        self.abandon(now.mono, call, "cancelled", CallError::Cancelled);
    }

    /// The reply or error of a call that has settled; `None` before that, and when it was taken already.
    pub fn take<R>(&mut self, pending: &Pending<R>) -> Option<Result<R, CallError>> {
        self.link.take(pending)
    }

    /// Nobody will take this call. It goes on; [`cancel`](Self::cancel) it first if nobody wants it either.
    pub fn forget(&mut self, call: CallId) {
        self.link.calls.forget(call);
    }

    /// Log messages from `level` on are wanted from now on. A modern server is asked for them with each request; a legacy
    /// one is told at the beginning of each session, and of the one that there is with
    /// [`SetLevel`](crate::client::SetLevel).
    ///
    /// # Errors
    ///
    /// [`CallError::Unsupported`] when the server did not declare `logging`. Where it [need not hold](Self::is_outdated)
    /// any more what the server said of itself, ask it anew before that is believed.
    pub fn set_log_level(&mut self, level: LoggingLevel) -> Result<(), CallError> {
        self.link.set_log_level(level)
    }

    /// Answers what the server asked. Nothing happens when nobody waits for it any more.
    ///
    /// # Errors
    ///
    /// When the answer is none to what was asked, or does not fit it. Nothing was sent then, and the server still
    /// waits.
    pub fn answer(
        &mut self,
        now: Now,
        ask: AskId,
        answer: Result<InputResponse, Refusal>,
    ) -> Result<(), ApiMisuse> {
        match self.link.answer(now.mono, ask, answer)? {
            Some(Answered::Reply(message, _)) => {
                self.out.extend_from_slice(&message);
                self.out.push(b'\n');
            }
            Some(Answered::Again(call)) => self.again(now.mono, call),
            None => {}
        }
        Ok(())
    }

    /// Makes a call again at once that waits for something that happens elsewhere ([`Event::Waiting`]).
    pub fn retry(&mut self, now: Now, call: CallId) {
        self.again(now.mono, call);
    }

    /// Ends a call that waits for input, with [`CallError::InputRequired`], from which it can be gone on with.
    pub fn stop(&mut self, _now: Now, call: CallId) {
        self.stop_asking(call);
        self.link.give_up(call, Unmet::Stopped);
    }

    /// The roots have changed: a legacy server is told so, if `roots.listChanged` was declared.
    pub fn roots_changed(&mut self, _now: Now) {
        if let Some(notice) = self.link.roots_notice().filter(|_| self.is_open()) {
            self.out.extend_from_slice(notice);
            self.out.push(b'\n');
        }
    }

    /// Bytes that the server wrote.
    pub fn handle_bytes(&mut self, now: Now, bytes: &[u8]) {
        if matches!(self.state, State::Closed | State::Respawning { .. }) {
            return;
        }
        // Out of `self` while the lines are lent; nothing else reads it.
        let mut lines = core::mem::replace(&mut self.lines, Lines::new(0));
        let mut input = bytes;
        while let Some(line) = lines.next(&mut input) {
            self.line(now.mono, line);
        }
        self.lines = lines;
        self.carry(now.mono);
    }

    /// What the connection has to say; `None` when there is nothing more for now.
    pub fn poll_output(&mut self) -> Option<Output> {
        match self.link.next_out()? {
            Out::Event(event) => Some(Output::Event(event)),
            Out::Respawn(after) => Some(Output::Respawn { after }),
            // Those belong to HTTP; nothing here queues them.
            Out::Send(..) | Out::Abort(_) | Out::Refused(..) => None,
        }
    }

    /// When [`handle_timeout`](Self::handle_timeout) is to be called at the latest.
    pub fn poll_timeout(&self) -> Option<Instant> {
        self.next_wake().map(|(at, _)| at)
    }

    /// What [`poll_timeout`](Self::poll_timeout) is for.
    pub fn wake_reason(&self) -> Option<WakeReason> {
        self.next_wake().map(|(_, reason)| reason)
    }

    fn next_wake(&self) -> Option<Wake> {
        let negotiation = match self.state {
            State::Negotiating { deadline, .. } => Some((deadline, self.link.negotiation.wake_reason())),
            _ => None,
        };
        let call = self.link.calls.next_deadline().map(|at| (at, WakeReason::Call));
        let round = self.link.calls.next_round().map(|(at, _)| (at, WakeReason::Round));
        let listen = self.link.subscriptions.next_wake().map(|at| (at, WakeReason::Resume));
        earliest([negotiation, call, round, listen])
    }

    /// Time has passed. Harmless when it is early, late or repeated.
    pub fn handle_timeout(&mut self, now: Now) {
        let now = now.mono;
        // What follows the silence starts now, so this ends.
        if let State::Negotiating { wire, deadline } = self.state
            && deadline <= now
        {
            self.unanswered.push(wire, self.link.negotiation.stage());
            let step = self.link.negotiation.answer(Answer::Silence);
            self.follow(now, step);
        }
        self.expire(now);
        while let Some(call) = self.link.due(now) {
            self.again(now, call);
        }
        self.expire(now);
        self.link.listen_on(now);
        self.carry(now);
    }

    /// Bytes for the server.
    pub fn transmit(&self) -> &[u8] {
        self.out.get(self.sent..).unwrap_or_default()
    }

    /// The first `n` bytes of [`transmit`](Self::transmit) are on their way.
    pub fn advance(&mut self, n: usize) {
        self.sent = self.sent.saturating_add(n).min(self.out.len());
        if self.sent == self.out.len() {
            self.out.clear();
            self.sent = 0;
        }
    }

    /// Whether to read from the server. No while it does not read what we have to say.
    pub fn wants_read(&self) -> bool {
        self.transmit().len() < self.link.config.limits.transmit
    }

    /// How the server was found to speak, once that is known; for the next connection to it.
    pub fn verdict(&self) -> Option<Verdict> {
        self.details().map(|details| Verdict::new(Transport::Stream, details.revision))
    }

    /// Ends the connection: calls under way settle as broken. Then close the server's input; there is
    /// nothing to be said to it.
    pub fn close(&mut self, _now: Now) {
        let reason = "the connection was closed on this side".into();
        self.finish(CallError::Broken { reason, unsent: false });
    }

    /// What is kept of results that the server allows to be kept.
    pub fn cache(&self, now: Now) -> Vec<CacheEntry> {
        self.link.cache.entries(now.mono)
    }

    /// Forgets what is kept.
    pub fn clear_cache(&mut self) {
        self.link.cache.clear();
    }

    fn finish(&mut self, error: CallError) {
        self.state = State::Closed;
        self.link.close(error);
    }

    /// Makes a call again, with what there is for its next round.
    fn again(&mut self, now: Instant, call: CallId) {
        let Some((wire, prepared)) = self.link.again(now, call) else { return };
        let Some(envelope) = &self.link.envelope else { return };
        if let Err(error) = write(envelope, &mut self.out, wire, &prepared) {
            self.link.settle(call, Err(error));
        }
    }

    /// Takes a step of the negotiation. Neither probe nor `initialize` is ever cancelled: the first would
    /// end some servers, the second is forbidden (B28).
    fn follow(&mut self, now: Instant, step: Step) {
        let limits = &self.link.config.limits;
        match step {
            Step::Probe { revision, patient } => {
                let wait = if patient { limits.request } else { limits.probe };
                let wire = self.link.calls.next_wire();
                request::discover(&mut self.out, wire, &self.link.config, revision);
                self.sent_opening(wire, now + wait);
            }
            Step::Initialize { revision } => {
                let wait = limits.request;
                let wire = self.link.calls.next_wire();
                request::initialize(&mut self.out, wire, &self.link.config, revision);
                self.sent_opening(wire, now + wait);
            }
            Step::Settled(details) => {
                if details.era() == Era::Legacy {
                    self.out.extend_from_slice(request::INITIALIZED);
                    self.out.push(b'\n');
                }
                self.restarts.begin(now);
                self.link.connect(*details);
                self.prepare(now);
            }
            Step::Failed(error) => self.finish(error),
        }
    }

    fn sent_opening(&mut self, wire: i64, deadline: Instant) {
        self.out.push(b'\n');
        self.state = State::Negotiating { wire, deadline };
    }

    /// Sends the calls that waited for the era.
    fn launch(&mut self, now: Instant) {
        loop {
            let Some((id, wire, prepared)) = self.link.calls.launch() else { return };
            if let Some(reply) = self.link.look(now, &prepared, &prepared.options) {
                self.link.settle(id, Ok(reply));
                continue;
            }
            let Some(envelope) = &self.link.envelope else { return };
            let prepared = self.link.as_task(envelope.revision(), prepared);
            let written = match self.link.possible_after_all(&prepared, &prepared.options) {
                Ok(()) => write(envelope, &mut self.out, wire, &prepared),
                Err(error) => Err(error),
            };
            match written {
                Ok(()) => self.link.keep(now, id, prepared),
                Err(error) => self.link.settle(id, Err(error)),
            }
        }
    }

    fn line(&mut self, now: Instant, line: Line<'_>) {
        let depth = self.link.config.limits.depth;
        match line {
            Line::Line(line) => match jsonrpc::read(line, depth) {
                Ok(Incoming::Message(message)) => self.message(now, message),
                Ok(Incoming::Batch(_)) if !self.link.batches() => {
                    self.diagnose("jsonrpc", "expected one message on a line, found a batch".into());
                }
                Ok(Incoming::Batch(batch)) => {
                    for message in batch {
                        match message {
                            Ok(message) => self.message(now, message),
                            Err(malformed) => drop(self.malformed(now, malformed)),
                        }
                    }
                }
                Err(malformed) => {
                    if !self.malformed(now, malformed) {
                        self.hears_noise(line);
                    }
                }
            },
            Line::TooLong { limit, start } => {
                let wire = jsonrpc::begun_response(start).as_ref().and_then(RequestId::as_i64);
                if !self.answer_unreadable(now, wire, CallError::TooLarge { limit }) {
                    self.diagnose("framing", format!("a line is longer than {limit} bytes"));
                }
            }
        }
    }

    fn message(&mut self, now: Instant, message: Message<'_>) {
        match message {
            Message::Response(response) => self.response(now, response),
            Message::Notification(notification) => {
                self.link.notification(now, Way::Shared, &notification.method, notification.params);
            }
            Message::Request(request) => self.request(&request),
        }
    }

    fn response(&mut self, now: Instant, response: Response<'_>) {
        let wire = response.id.as_ref().and_then(RequestId::as_i64);
        if let (State::Negotiating { wire: asked, .. }, Some(wire)) = (&self.state, wire)
            && *asked == wire
        {
            let answer = match &response.outcome {
                Ok(result) => Answer::Result(result),
                Err(error) => Answer::Error(error, None),
            };
            let step = self.link.negotiation.answer(answer);
            self.link.discovered(now, &step, response.outcome.as_ref().ok().copied());
            return self.follow(now, step);
        }
        if self.answered_late(now, response.id.as_ref(), &response.outcome) {
            return;
        }
        match wire.and_then(|wire| self.link.calls.by_wire(wire)) {
            Some(id) => match response.outcome {
                Ok(result) => {
                    self.link.result(now, id, result);
                    self.prepared(now);
                }
                Err(error) if self.link.is_sent_off(now, id, &error) => {}
                Err(error) => self.settle(now, id, Err(CallError::Server { error, status: None })),
            },
            None if wire.is_some_and(|wire| self.link.subscriptions.has_stream(wire)) => {
                let outcome = response.outcome.map_err(|error| CallError::Server { error, status: None });
                self.link.stream_answered(wire.unwrap_or_default(), outcome);
            }
            None if self.takes_back_late(now, wire, response.outcome.as_ref().copied().map_err(|_| ())) => {}
            None => {
                let id = response.id.as_ref().map(|id| id as &dyn core::fmt::Display);
                self.link.unasked(id, response.outcome.as_ref().err());
            }
        }
    }

    /// Never answered, not even when it is meant as a message: a server that prints its log to stdout would
    /// be answered for ever (B03). What was meant as the response to a call ends that call; whether it was.
    fn malformed(&mut self, now: Instant, malformed: Malformed) -> bool {
        let detail = &malformed.error.detail;
        let wire = malformed.id.as_ref().filter(|_| malformed.response).and_then(RequestId::as_i64);
        let error = CallError::Invalid { reason: format!("the response is malformed: {detail}") };
        let answers = self.answer_unreadable(now, wire, error);
        if !answers {
            let detail = format!("{}: {detail}", malformed.error.message);
            self.diagnose("jsonrpc", detail);
        }
        answers
    }

    /// A response has come and says nothing; whether anybody waited for it.
    fn answer_unreadable(&mut self, now: Instant, wire: Option<i64>, error: CallError) -> bool {
        let Some(wire) = wire else { return false };
        if matches!(self.state, State::Negotiating { wire: asked, .. } if asked == wire) {
            let step = self.link.negotiation.answer(Answer::Unusable(error));
            self.follow(now, step);
            return true;
        }
        match self.link.calls.by_wire(wire) {
            Some(id) => {
                self.settle(now, id, Err(error));
                true
            }
            None if self.link.subscriptions.has_stream(wire) => {
                self.link.stream_answered(wire, Err(error));
                true
            }
            None => false,
        }
    }

    /// A request of the server. Only a legacy server may have any (RPC-23, RPC-24).
    fn request(&mut self, request: &Request<'_>) {
        if !self.may_answer() {
            let method = text::excerpt(&request.method);
            return self.diagnose("client", format!("`{method}` was requested by a server that may not"));
        }
        if &*request.method == "ping" {
            // An empty object always serializes.
            let _ = jsonrpc::write_result(&mut self.out, &request.id, &Json::empty_object());
        } else if let Err(error) = self.link.ask(request, None) {
            jsonrpc::write_error(&mut self.out, Some(&request.id), &error);
        } else {
            return;
        }
        self.out.push(b'\n');
    }

    fn may_answer(&self) -> bool {
        match &self.state {
            State::Preparing | State::Open => {
                self.link.details.as_deref().is_some_and(|details| details.era() == Era::Legacy)
            }
            State::Negotiating { .. } => self.link.negotiation.is_initializing(),
            State::Respawning { .. } | State::Closed => false,
        }
    }

    fn diagnose(&mut self, layer: &'static str, detail: String) {
        self.link.events.diagnose(Diagnostic::new(layer, detail));
    }
}

fn write(envelope: &Envelope, out: &mut Vec<u8>, wire: i64, prepared: &Prepared) -> Result<(), CallError> {
    envelope.write(out, wire, prepared, &prepared.options).map_err(unserializable)?;
    out.push(b'\n');
    Ok(())
}

pub(super) fn unserializable(misuse: ApiMisuse) -> CallError {
    CallError::Misuse(misuse)
}
