//! A server's part in one HTTP request: from its head to the last byte of the response.
//!
//! <https://modelcontextprotocol.io/specification/2026-07-28/basic/transports/streamable-http>

mod admit;
mod answer;
mod ask;
mod authorize;
mod batch;
mod connected;
mod listen;
mod log;
mod print;
mod query;
mod reply;
mod serve;
mod stateless;
mod stop;
mod stream;
mod tell;
#[cfg(test)]
mod tests;

use alloc::boxed::Box;
use alloc::collections::VecDeque;
use alloc::string::String;
use alloc::sync::Arc;
use alloc::vec::Vec;

use self::admit::{Admission, Endpoint};
use self::authorize::Recognition;
use self::connected::Connected;
pub use self::query::QueryId;
use self::query::Waiting;
use self::reply::Reply;
use self::serve::Ask;
use super::asks::{Answer, AskId, Asks};
use super::batch::{Batches, Finished};
use super::call::{Call, CallId};
use super::config::Config;
use super::cors;
use super::events::StreamId;
use super::http_sse::{self, SseQuery};
use super::in_flight::{InFlight, Running, Sequel};
use super::media::Accepts;
use super::principal::Principal;
use super::received::Received;
use super::refusal::Refusal;
use super::session::SessionState;
use super::sessions::{SessionAnswer, SessionId, SessionQuery};
use super::subscription::{Listen, Subscription};
use super::token::{AuthRefusal, BearerToken};
use crate::change::TaskChange;
use crate::diagnostic::Diagnostic;
use crate::dialect::Era;
use crate::head::{BodyLength, End, Field, RequestHead, ResponseHead, WholeBody};
use crate::time::{Instant, Now, Wake, WakeReason, earliest};
use crate::wire::jsonrpc::{self, RequestId};

/// Names an exchange within its server, so that a session can find the one that carries a request. Picked by
/// whoever makes exchanges; never use one twice.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ExchangeId(u64);

impl ExchangeId {
    /// The exchange with this number.
    pub const fn new(number: u64) -> Self {
        Self(number)
    }

    /// Its number.
    pub const fn number(self) -> u64 {
        self.0
    }
}

/// One HTTP request and its response.
///
/// A modern exchange needs nothing but its request. A legacy one asks for its session: each
/// [`ExchangeOutput::Session`] goes to [`Sessions::handle_query`](super::Sessions::handle_query), and the
/// answer back into [`handle_session`](Self::handle_session).
///
/// The response begins with [`ExchangeOutput::Head`], its body is what [`transmit`](Self::transmit) holds,
/// and [`ExchangeOutput::End`] comes out once, after everything is sent. A call that is answered before it
/// reports anything gets a plain JSON response; its first notification turns the response into an event
/// stream, if the client takes one. A legacy stream can be taken up again by another exchange
/// ([`HttpPolicy::resumable`](super::HttpPolicy::resumable)): what is said on it also goes to the session.
pub struct Exchange {
    id: ExchangeId,
    config: Arc<Config>,
    head: Received,
    body: Vec<u8>,
    stage: Stage,
    calls: InFlight,
    asks: Asks,
    batches: Batches,
    /// The session that the client named.
    session: Option<SessionId>,
    /// Its state, once that is known.
    state: Option<SessionState>,
    /// The name of the stream that its calls speak on, once they have begun.
    stream: Option<StreamId>,
    /// The origin of the web page that the client is, if it is one.
    origin: Option<String>,
    /// Queries so far.
    queries: u64,
    /// Requests that are answered when the table of sessions has answered.
    waiting: Vec<Waiting>,
    /// Who makes the request, where that is asked.
    principal: Option<Arc<Principal>>,
    recognition: Recognition,
    endpoint: Endpoint,
    reply: Reply,
    outputs: VecDeque<ExchangeOutput>,
    /// When the body must have come.
    body_until: Instant,
    /// When running calls and a silent response want a sign of life.
    quiet_since: Instant,
    /// It was said that the response is complete before the calls are.
    parted: bool,
    ended: bool,
}

#[derive(Debug)]
enum Stage {
    /// The body of the request is coming.
    Body,
    /// The end of a request that has no body is coming.
    Bare(Bare),
    /// The session was asked for something.
    Asking(QueryId, Box<Ask>),
    /// The application was asked whether the client may listen.
    Admitting(Box<Subscription>),
    /// The client listens.
    Listening(Box<Subscription>),
    /// Calls are running.
    Running,
    /// The response is a stream that others speak on.
    Carrying {
        /// Whether its events have ids.
        ids: bool,
    },
    /// The table of streams was asked for one.
    Joining,
    /// The response is the stream of a connection.
    Connected(Box<Connected>),
    /// The table of streams was given a message.
    Passing,
    /// The response is complete, sent or not.
    Answered,
}

/// A request that is all in its head.
#[derive(Clone, Copy, Debug)]
enum Bare {
    Listen,
    Connect,
    Delete,
}

/// What an [`Exchange`] has to say.
#[derive(Clone)]
#[non_exhaustive]
pub enum ExchangeOutput {
    /// The response begins. A body of [`BodyLength::Known`] is in [`Exchange::transmit`] already.
    Head(ResponseHead, BodyLength),
    /// The application is to do this, and to answer it.
    Call(CallId, Call),
    /// Nobody waits for this call any more; the application should stop.
    Cancelled(CallId),
    /// What came of what the client was asked on behalf of a call; see [`Exchange::ask`].
    Answered(CallId, AskId, Answer),
    /// The application is to check this token, and to answer with
    /// [`handle_grant`](Exchange::handle_grant) or [`handle_refusal`](Exchange::handle_refusal).
    Authenticate(BearerToken),
    /// The session table is to answer this, by [`handle_session`](Exchange::handle_session).
    Session(QueryId, SessionQuery),
    /// The table of streams ([`SseSessions`](super::SseSessions)) is to answer this, into
    /// [`handle_sse`](Exchange::handle_sse).
    Sse(SseQuery),
    /// The legacy client has said that it is ready.
    Initialized,
    /// The client tells of something, such as `notifications/roots/list_changed`.
    Notification {
        /// The method.
        method: String,
        /// Its parameters as JSON text, an object.
        params: String,
    },
    /// Somebody wants to listen: give the answer to [`Exchange::handle_admission`]. Whoever is let in listens
    /// until the end of the exchange.
    Listen(Listen),
    /// The client is to be told of this task: give what [`Tasks::read`](super::Tasks::read) says to
    /// [`Exchange::handle_task`].
    Task(TaskChange),
    /// For people on this side.
    Diagnostic(Diagnostic),
    /// The response is complete and sent, and the exchange goes on: its calls still run, for a client that is to
    /// come back for what they say.
    Parted,
    /// The exchange is over. Without a head before it there is no response: the client has gone.
    End,
}

impl Exchange {
    /// A request has come, so far only its head. What can be refused by the head alone is refused at once.
    pub fn new(now: Now, id: ExchangeId, config: Arc<Config>, head: RequestHead) -> Self {
        Self::of(now, id, config, head, None)
    }

    /// The same, of somebody whom the application has recognised already: no token is looked at.
    pub fn of(
        now: Now,
        id: ExchangeId,
        config: Arc<Config>,
        mut head: RequestHead,
        principal: Option<Arc<Principal>>,
    ) -> Self {
        let accepts = Accepts::read(&head.headers).under(&config.http);
        let session = admit::session(&config, &head.headers);
        let mut exchange = Self {
            id,
            head: Received::default(),
            body: Vec::new(),
            stage: Stage::Body,
            calls: InFlight::default(),
            asks: Asks::default(),
            batches: Batches::default(),
            session,
            state: None,
            stream: None,
            origin: head.headers.text_of(Field::Origin).map(str::to_ascii_lowercase),
            queries: 0,
            waiting: Vec::new(),
            principal: None,
            recognition: Recognition::Settled,
            endpoint: Endpoint::Mcp,
            reply: Reply::new(accepts),
            // A call and what comes of it: most exchanges have no more.
            outputs: VecDeque::with_capacity(2),
            body_until: now.mono + config.limits.body_time,
            quiet_since: now.mono,
            parted: false,
            ended: false,
            config,
        };
        exchange.principal = principal.map(|principal| exchange.widened(principal));
        let mut advice = None;
        let admitted = admit::head(&exchange.config, &head, accepts, &mut advice);
        exchange.outputs.extend(advice.map(ExchangeOutput::Diagnostic));
        if !matches!(admitted, Ok(Admission::Metadata)) {
            exchange.reply.add_always(cors::fields(&exchange.config.http, &head.headers));
        }
        let served = match admitted {
            Ok(Admission::Serve(endpoint)) => {
                exchange.endpoint = endpoint;
                if endpoint == Endpoint::Messages {
                    exchange.session = http_sse::session(&head.target);
                }
                exchange.recognise(now, &head)
            }
            Ok(Admission::Metadata) => {
                exchange.tell_metadata(&head);
                return exchange;
            }
            Ok(Admission::Preflight(endpoint)) => {
                exchange.tell_pages(&head, endpoint);
                return exchange;
            }
            Err(refusal) => Err(refusal),
        };
        match served {
            Ok(()) => {
                if exchange.config.http.resource_server.is_some() {
                    // Meant for this server, and not for what is behind it (AUTHS-11).
                    head.headers.remove("authorization");
                }
                match head.method.as_str() {
                    "GET" if exchange.endpoint == Endpoint::Sse => {
                        exchange.stage = Stage::Bare(Bare::Connect);
                    }
                    "GET" => exchange.stage = Stage::Bare(Bare::Listen),
                    "DELETE" => exchange.stage = Stage::Bare(Bare::Delete),
                    _ => exchange.body.reserve_exact(admit::expected(&head.headers)),
                }
                exchange.head = head.into();
            }
            Err(refusal) => exchange.refuse(None, Era::Modern, &refusal),
        }
        exchange
    }

    /// A part of the request's body has come.
    pub fn handle_body(&mut self, _now: Now, bytes: &[u8]) {
        if !matches!(self.stage, Stage::Body) || self.recognition.is_complete() {
            return;
        }
        if self.body.len() + bytes.len() > self.config.limits.message {
            self.body = Vec::new();
            return self.refuse(None, Era::Modern, &admit::too_large(self.config.limits.message));
        }
        self.body.extend_from_slice(bytes);
    }

    /// The request's body has ended. If it broke off, there is nothing to answer.
    pub fn handle_end(&mut self, now: Now, end: End) {
        if !matches!(self.stage, Stage::Body | Stage::Bare(_)) || self.recognition.is_complete() {
            return;
        }
        self.quiet_since = now.mono;
        match end {
            End::Complete if self.recognition.complete() => {}
            End::Complete => self.complete(),
            End::Broken => {
                self.body = Vec::new();
                self.reply.leave();
                self.stage = Stage::Answered;
            }
        }
    }

    /// The request is complete, and it is known who makes it, as far as that matters.
    fn complete(&mut self) {
        match self.stage {
            Stage::Bare(Bare::Listen) => self.open_stream(),
            Stage::Bare(Bare::Connect) => self.connect(),
            Stage::Bare(Bare::Delete) => self.delete(),
            _ => {
                let body = core::mem::take(&mut self.body);
                match self.endpoint {
                    Endpoint::Messages => self.pass(body),
                    _ => self.serve(body),
                }
            }
        }
    }

    /// The head of the request. Empty once a call has begun, which carries it.
    pub fn request_head(&self) -> &RequestHead {
        &self.head
    }

    /// Whom the application has recognised, if anybody.
    pub fn principal(&self) -> Option<&Arc<Principal>> {
        self.principal.as_ref()
    }

    /// The client has closed the response, or the connection. In the modern era that cancels the request
    /// (HTTP-20). In the legacy era it does not (HTTPL-23): the call goes on, and its result is kept if the
    /// client can come back for it. Where there are no sessions, nobody could, so that cancels it, too. What only
    /// asks, and waits for the table of sessions, is over.
    pub fn handle_abort(&mut self, now: Now) {
        self.reply.leave();
        if !self.reply.may_stream() {
            self.strand_asks();
        }
        match &self.stage {
            Stage::Body | Stage::Bare(_) => {
                self.body = Vec::new();
                self.stage = Stage::Answered;
            }
            Stage::Carrying { .. } => self.stop_carrying(None, true),
            Stage::Connected(_) => self.disconnect(now),
            Stage::Running if self.session.is_none() || self.state.is_none() => {
                while let Some(running) = self.calls.pop() {
                    self.outputs.push_back(ExchangeOutput::Cancelled(running.id));
                }
                self.stage = Stage::Answered;
            }
            Stage::Admitting(_) | Stage::Listening(_) => self.stage = Stage::Answered,
            Stage::Asking(_, ask) if ask.is_for_its_answer() => self.stage = Stage::Answered,
            Stage::Asking(..) | Stage::Joining | Stage::Passing | Stage::Running | Stage::Answered => {}
        }
    }

    /// The client has cancelled `request` through another exchange of its session; see
    /// [`SessionOutput::Cancel`](super::SessionOutput::Cancel). Nothing is answered for it.
    pub fn handle_cancel(&mut self, _now: Now, request: &RequestId) {
        let Some(running) = self.calls.cancel(request) else { return };
        self.outputs.push_back(ExchangeOutput::Cancelled(running.id));
        self.end_asks(running.id);
        self.over(&running, None::<fn(&mut Vec<u8>)>);
    }

    /// What is to be done or known; `None` when there is nothing more for now.
    pub fn poll_output(&mut self) -> Option<ExchangeOutput> {
        if let output @ Some(_) = self.outputs.pop_front() {
            return output;
        }
        if let output @ Some(_) = self.poll_connection() {
            return output;
        }
        if self.ended {
            return None;
        }
        self.shrink();
        if self.is_over() {
            self.ended = true;
            return Some(ExchangeOutput::End);
        }
        if self.reply.has_parted() && !self.parted && self.reply.transmit.is_empty() {
            self.parted = true;
            return Some(ExchangeOutput::Parted);
        }
        None
    }

    fn is_over(&self) -> bool {
        matches!(self.stage, Stage::Answered) && self.calls.is_empty() && self.reply.transmit.is_empty()
    }

    /// When [`handle_timeout`](Self::handle_timeout) wants to be called at the latest.
    pub fn poll_timeout(&self) -> Option<Instant> {
        self.wake().map(|(at, _)| at)
    }

    /// What [`poll_timeout`](Self::poll_timeout) is for.
    pub fn wake_reason(&self) -> Option<WakeReason> {
        self.wake().map(|(_, reason)| reason)
    }

    fn wake(&self) -> Option<Wake> {
        let answer = self.asks.next().map(|at| (at, WakeReason::Ask));
        let connection = match &self.stage {
            Stage::Connected(connected) => connected.connection.wake(),
            _ => None,
        };
        let query = self.waiting.iter().map(|waiting| waiting.until).min();
        let query = query.map(|at| (at, WakeReason::SessionAnswer));
        earliest([answer, connection, query, self.wake_besides_asks()])
    }

    fn wake_besides_asks(&self) -> Option<Wake> {
        match self.stage {
            Stage::Body | Stage::Bare(_) => {
                let body = (!self.recognition.is_complete()).then_some((self.body_until, WakeReason::Body));
                let token = self.recognition.until().map(|until| (until, WakeReason::Authentication));
                earliest([body, token])
            }
            Stage::Running | Stage::Listening(_) | Stage::Carrying { .. } | Stage::Connected(_)
                if self.reply.wants_comments() && !self.calls.is_bare() =>
            {
                let interval = self.config.limits.keep_alive_comment;
                let primes = self.reply.wants_priming();
                let interval = if primes { interval.min(stream::PRIME_AFTER) } else { interval };
                Some((self.quiet_since + interval, WakeReason::Comment))
            }
            Stage::Asking(..) | Stage::Joining | Stage::Passing => {
                let until = self.quiet_since + self.config.limits.session_answer;
                Some((until, WakeReason::SessionAnswer))
            }
            Stage::Admitting(_)
            | Stage::Listening(_)
            | Stage::Running
            | Stage::Carrying { .. }
            | Stage::Connected(_)
            | Stage::Answered => None,
        }
    }

    /// The time has come, or not. What the client was asked for too long ago is given up. A response that was
    /// silent for too long becomes an event stream, if it is none, and gets a comment (SSE-02).
    pub fn handle_timeout(&mut self, now: Now) {
        self.expire_asks(now);
        self.on_connection(now, |connection| connection.handle_timeout(now));
        self.expire_queries(now);
        let due = self.wake_besides_asks().filter(|(moment, _)| *moment <= now.mono);
        match due.map(|(_, reason)| reason) {
            None => {}
            Some(WakeReason::Body) => {
                self.body = Vec::new();
                self.refuse(None, Era::Modern, &admit::too_slow());
            }
            Some(WakeReason::Authentication) => self.settle_with(&AuthRefusal::Unavailable),
            Some(WakeReason::SessionAnswer) => match self.stage {
                Stage::Asking(query, _) => self.handle_session(now, query, SessionAnswer::Unavailable),
                _ => self.miss_sse(),
            },
            Some(_) => {
                self.quiet_since = now.mono;
                if !self.is_full() {
                    let head = self.reply.comment();
                    self.outputs.extend(head);
                }
            }
        }
    }

    /// Bytes of the response's body, to be sent after its head.
    pub fn transmit(&self) -> &[u8] {
        self.reply.transmit.rest()
    }

    /// The first `n` bytes of [`transmit`](Self::transmit) are sent.
    pub fn advance(&mut self, n: usize) {
        self.reply.transmit.advance(n);
        self.relay();
        self.catch_up();
    }

    /// Lends memory for the body of the response, such as that of a response which is sent: what it holds is forgotten.
    /// With it comes room for a head before what [`take_transmit`](Self::take_transmit) gives.
    pub fn lend(&mut self, memory: Vec<u8>) {
        self.reply.transmit.lend(memory);
    }

    /// All that [`transmit`](Self::transmit) holds, with its memory. Counts as sent.
    pub fn take_transmit(&mut self) -> WholeBody {
        let body = self.reply.transmit.take();
        self.relay();
        self.catch_up();
        body
    }

    fn is_full(&self) -> bool {
        self.reply.transmit.len() > self.config.limits.transmit
    }

    /// Hands a call out.
    fn begin(&mut self, mut call: Call, batch: Option<u64>, sequel: Option<Sequel>) {
        call.principal.clone_from(&self.principal);
        let shared = batch.is_some() || sequel.is_some();
        call.head = if shared { self.head.clone() } else { self.head.take() };
        let id = self.calls.begin(&call, batch, sequel);
        self.outputs.push_back(ExchangeOutput::Call(id, call));
        self.stage = Stage::Running;
    }

    /// A call is over. `write` appends its response, if it has one.
    fn over(&mut self, running: &Running, write: Option<impl FnOnce(&mut Vec<u8>)>) {
        self.waiting.retain(|waiting| waiting.call != running.id);
        let head = match (running.batch, write) {
            (Some(batch), write) => {
                if let Some(write) = write {
                    self.batches.answer(batch, write);
                }
                return self.batch_over(batch);
            }
            (None, Some(write)) => self.reply.answer(write),
            (None, None) => self.reply.close(),
        };
        self.outputs.extend(head);
        self.note();
        self.stage = Stage::Answered;
    }

    /// A call of a batch is over, or its messages are read.
    fn batch_over(&mut self, batch: u64) {
        let mut answers = Vec::new();
        let head = match self.batches.finish(batch, &mut answers) {
            Finished::No => return,
            Finished::Written => self.reply.answer(|out| out.append(&mut answers)),
            Finished::Silent => self.reply.accept(),
        };
        self.outputs.extend(head);
        self.note();
        self.stage = Stage::Answered;
    }

    fn refuse(&mut self, id: Option<&RequestId>, era: Era, refusal: &Refusal) {
        let error = refusal.error();
        self.reply.status = refusal.status(era);
        self.reply.add(refusal.headers());
        let head = self.reply.answer(|out| jsonrpc::write_error(out, id, &error));
        self.outputs.extend(head);
        self.stage = Stage::Answered;
        let diagnostic = Diagnostic::new("http", refusal.detail.clone());
        self.diagnose(match id {
            Some(id) => diagnostic.request(id),
            None => diagnostic,
        });
    }

    fn diagnose(&mut self, diagnostic: Diagnostic) {
        self.outputs.push_back(ExchangeOutput::Diagnostic(diagnostic));
    }
}
