//! A server behind an HTTP endpoint: one exchange for every message.
//!
//! <https://modelcontextprotocol.io/specification/2026-07-28/basic/transports/streamable-http>

mod asks;
mod coded;
mod end;
mod endpoint;
mod exchange;
mod kept;
mod listen;
mod outcome;
mod prepare;
mod receive;
mod refresh;
mod refused;
mod repeat;
mod resume;
mod send;
mod sse;
mod state;
mod subscribe;
mod tasks;
#[cfg(test)]
mod tests;

pub use endpoint::Endpoint;
pub(super) use subscribe::is_trouble;

use self::exchange::{Exchange, Purpose, Wake};
use self::listen::Listening;
use self::refresh::Refresh;
use self::refused::Held;
use self::resume::Resume;
use self::sse::Sse;
use super::call::Call;
use super::calls::{CallId, Reply};
use super::config::{CallOptions, Config};
use super::connection::unserializable;
use super::event::{Event, Out};
use super::link::Link;
use super::negotiate::{Answer, Negotiation, Step};
use super::reply::Pending;
use super::request::{self, Envelope, Prepared, Source};
use super::verdict::{Transport, Verdict};
use crate::dialect::{Era, Revision};
use crate::entropy::Seed;
use crate::error::CallError;
use crate::head::{End, Headers, RequestHead, ResponseHead};
use crate::time::{Duration, Instant, Now, WakeReason, earliest};
use alloc::collections::{BTreeMap, BTreeSet};
use alloc::string::String;
use alloc::sync::Arc;
use alloc::vec::Vec;
use core::fmt;

/// An exchange of one [`Http`]. Never used again for another.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ExchangeId(u64);

/// A request as it is to be sent, whole.
#[derive(Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct HttpRequest {
    /// Method, target and fields. `Host` is among them, `Content-Length` is not.
    pub head: RequestHead,
    /// The body; empty for GET and DELETE.
    pub body: Vec<u8>,
}

/// Prints what it is, and neither query nor body: they may hold secrets.
impl fmt::Debug for HttpRequest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "HttpRequest({} {}, {} bytes)", self.head.method, self.head.path(), self.body.len())
    }
}

/// The name of a legacy session; whoever knows it can use the session, so it is not printed (HTTPL-45).
#[derive(Clone)]
struct SessionId(String);

impl fmt::Debug for SessionId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("SessionId(..)")
    }
}

/// What an [`Http`] has to say.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum HttpOutput {
    /// Something happened.
    Event(Event),
    /// Send this request. What comes back goes into [`Http::handle_head`], [`Http::handle_body`] and
    /// [`Http::handle_end`]; if nothing can, [`Http::handle_failed`].
    Send {
        /// Names the exchange from here on.
        exchange: ExchangeId,
        /// The request; shared, because it may have to be sent again.
        request: Arc<HttpRequest>,
    },
    /// Nothing more of this exchange is wanted: close its response stream, or do not send it at all.
    Abort(ExchangeId),
    /// The server refused this exchange for want of authorization, and it is held ([`Config::authorize`]): see what
    /// the head asks for, then [`Http::repeat`] or [`Http::give_up`] it.
    Refused {
        /// The exchange that goes on.
        exchange: ExchangeId,
        /// The head of the refusal.
        head: ResponseHead,
    },
}

/// A client's side of HTTP.
///
/// It begins to negotiate the era as soon as it exists; calls may be started at once and wait until they can
/// be sent. How bytes get to the server and back is not its business.
#[derive(Debug)]
pub struct Http {
    link: Link,
    endpoint: Endpoint,
    /// The application's own fields.
    headers: Headers,
    state: State,
    /// The legacy session, when the server opened one.
    session: Option<SessionId>,
    /// How often the handshake of a new session was put off.
    greetings: u32,
    /// The session id that came with the response to a probe or handshake.
    offered_session: Option<SessionId>,
    /// Counts sessions, so that what belonged to a lost one is told apart.
    generation: u32,
    last_exchange: u64,
    exchanges: BTreeMap<ExchangeId, Exchange>,
    flights: BTreeMap<CallId, Flight>,
    /// Calls to be sent again once there is a new session.
    again: Vec<CallId>,
    /// Fetches of a tool's definition, by the call that fetches it.
    refreshes: BTreeMap<CallId, Refresh>,
    /// Exchanges that wait for authorization: at most one for each call, subscription and answer, and one each for what
    /// opens a session.
    held: BTreeMap<ExchangeId, Held>,
    /// The stream on which a legacy server says what belongs to no call.
    listening: Listening,
    /// The server speaks HTTP with SSE.
    sse: Option<Sse>,
    /// The exchanges that carry subscriptions, by the ids of their requests.
    streams: BTreeMap<i64, ExchangeId>,
    /// The server is to be told that the roots have changed.
    roots_news: bool,
    wakes: BTreeSet<(Instant, Wake)>,
}

#[derive(Debug)]
enum State {
    /// Waiting for the answer to a probe or handshake.
    Negotiating {
        exchange: ExchangeId,
        wire: i64,
        deadline: Instant,
    },
    /// Waiting to be told where messages go (HTTP with SSE).
    Finding {
        deadline: Instant,
    },
    /// Waiting for the server to have taken note of the end of the handshake.
    Announcing {
        deadline: Instant,
    },
    /// Waiting for the server to have taken note of what it has to know before any call, and until then for the stream on
    /// which it may ask: some drop what they have no stream for.
    Preparing {
        stream: Option<Instant>,
    },
    Open,
    /// Waiting to open the stream again that everything comes on (HTTP with SSE).
    Lost {
        at: Instant,
    },
    /// Waiting for the server to have ended the session.
    Ending {
        deadline: Instant,
        error: CallError,
    },
    Closed,
}

/// A call on its way.
#[derive(Debug)]
struct Flight {
    /// `None` while it waits to be resumed or sent again.
    exchange: Option<ExchangeId>,
    /// The one that it was first sent in.
    origin: ExchangeId,
    request: Arc<HttpRequest>,
    repeatable: bool,
    /// It makes no sense in another session.
    of_session: bool,
    /// It was sent a second time already.
    repeated: bool,
    /// What the server said about reconnecting.
    retry: Option<Duration>,
    resume: Option<Resume>,
    /// Its response stream broke, and the request was made again.
    made_again: bool,
    /// How often it was to be sent again because it surely was not carried out, and when it is next.
    tries: u32,
    at: Option<Instant>,
}

/// How long an exchange that has served its purpose may take to end, so that its connection can be used
/// again, before it is cut off.
const LINGER: Duration = Duration::from_secs(1);

impl Http {
    /// A client of the server at `endpoint`. What is spoken there is found out. By `seed` the moments are spread at
    /// which clients of one server try again what failed.
    pub fn new(now: Now, config: Arc<Config>, endpoint: Endpoint, seed: Seed) -> Self {
        let before = config.verdict;
        let (negotiation, step) = Negotiation::new(config.era, before.map(|before| before.revision));
        let mut http = Self::idle(config, endpoint, negotiation, seed);
        match (step, before) {
            (Step::Initialize { revision }, Some(Verdict { transport: Transport::HttpSse, .. })) => {
                http.find_messages(now.mono, revision, sse::Why::Assumed);
            }
            (step, _) => http.follow(now.mono, step),
        }
        http
    }

    /// One that has not begun.
    fn idle(config: Arc<Config>, endpoint: Endpoint, negotiation: Negotiation, seed: Seed) -> Self {
        let headers = config.headers.clone();
        Self {
            link: Link::new(config, negotiation, true, seed),
            endpoint,
            headers,
            state: State::Closed,
            session: None,
            greetings: 0,
            offered_session: None,
            generation: 0,
            last_exchange: 0,
            exchanges: BTreeMap::new(),
            flights: BTreeMap::new(),
            again: Vec::new(),
            refreshes: BTreeMap::new(),
            held: BTreeMap::new(),
            listening: Listening::default(),
            sse: None,
            streams: BTreeMap::new(),
            roots_news: false,
            wakes: BTreeSet::new(),
        }
    }

    /// Begins a call. Until the era is known it waits, and only its time runs.
    ///
    /// # Errors
    ///
    /// [`CallError::Full`] with too many calls under way, [`CallError::Unsupported`] for what the server does
    /// not offer, [`CallError::Misuse`] when the parameters cannot be serialized as a JSON object, and why
    /// the client is closed if it is.
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
        if let State::Ending { error, .. } = &self.state {
            return Err(error.clone());
        }
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
            let patience = self.link.patience(&options);
            let prepared = Prepared::new(source, options).map_err(unserializable)?;
            let id = self.link.calls.wait(now, patience, prepared);
            self.link.calls.delay(id, self.opening_waits(now));
            if open {
                self.rediscover(now);
            }
            return Ok(id);
        };
        self.begin(now, source, options, envelope)
    }

    /// Sends a call, in the session there is.
    fn begin(
        &mut self,
        now: Instant,
        source: &impl Source,
        options: CallOptions,
        envelope: Envelope,
    ) -> Result<CallId, CallError> {
        let mut body = Vec::new();
        let started = self.link.begin(now, source, options, &envelope, &mut body);
        self.link.envelope = Some(envelope);
        let id = started.map_err(unserializable)?;
        self.launch(id, source, body);
        Ok(id)
    }

    /// Gives up a call: it settles as [`CallError::Cancelled`]. A modern server notices that the response
    /// stream is closed; a legacy one is told. A call that has settled, or never was, stays as it is.
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

    /// The head of a response.
    pub fn handle_head(&mut self, now: Now, exchange: ExchangeId, head: ResponseHead) {
        self.head(now, exchange, &head);
        self.carry(now.mono);
    }

    /// A part of the body of a response.
    pub fn handle_body(&mut self, now: Now, exchange: ExchangeId, bytes: &[u8]) {
        self.body(now.mono, exchange, bytes);
        self.carry(now.mono);
    }

    /// The response has ended.
    pub fn handle_end(&mut self, now: Now, exchange: ExchangeId, end: End) {
        self.end(now.mono, exchange, end);
        self.carry(now.mono);
    }

    /// The request could not be sent, or its response not be read, for this reason. `unsent` when the server
    /// surely never saw it, not even a part: then it is sent again, as often as
    /// [`Limits::retries`](crate::limits::Limits::retries), whatever it does. Otherwise it is not: least of all a
    /// `tools/call`, but for HTTP-28, by which a request whose response stream broke is made anew.
    pub fn handle_failed(&mut self, now: Now, exchange: ExchangeId, reason: &str, unsent: bool) {
        self.failed(now.mono, exchange, reason, unsent);
        self.carry(now.mono);
    }

    /// What the client has to say; `None` when there is nothing more for now.
    pub fn poll_output(&mut self) -> Option<HttpOutput> {
        match self.link.next_out()? {
            Out::Event(event) => Some(HttpOutput::Event(event)),
            Out::Send(exchange, request) => Some(HttpOutput::Send { exchange, request }),
            Out::Abort(exchange) => Some(HttpOutput::Abort(exchange)),
            Out::Refused(exchange, head) => Some(HttpOutput::Refused { exchange, head }),
            // That belongs to byte streams; nothing here queues it.
            Out::Respawn(_) => None,
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

    fn next_wake(&self) -> Option<crate::time::Wake> {
        let state = match self.state {
            State::Negotiating { deadline, .. } => Some((deadline, self.link.negotiation.wake_reason())),
            State::Finding { deadline }
            | State::Announcing { deadline }
            | State::Preparing { stream: Some(deadline) } => Some((deadline, WakeReason::Handshake)),
            State::Ending { deadline, .. } => Some((deadline, WakeReason::Farewell)),
            State::Lost { at } => Some((at, WakeReason::Resume)),
            State::Preparing { stream: None } | State::Open | State::Closed => None,
        };
        let call = self.link.calls.next_deadline().map(|at| (at, WakeReason::Call));
        let listen = self.link.subscriptions.next_wake().map(|at| (at, WakeReason::Resume));
        let wake = self.wakes.first().map(|&(at, wake)| match wake {
            Wake::Cut(_) => (at, WakeReason::Linger),
            Wake::Resume(_) | Wake::Repeat(_) | Wake::Greet | Wake::Listen | Wake::Hear => {
                (at, WakeReason::Resume)
            }
            Wake::Held(_) => (at, WakeReason::Authorization),
        });
        let round = self.link.calls.next_round().map(|(at, _)| (at, WakeReason::Round));
        earliest([state, call, round, listen, wake])
    }

    /// Time has passed. Harmless when it is early, late or repeated.
    pub fn handle_timeout(&mut self, now: Now) {
        let now = now.mono;
        self.stay_parked(now);
        match self.state {
            State::Negotiating { exchange, deadline, .. } if deadline <= now => {
                drop(self.release(now, exchange));
                self.abort(exchange);
                let step = self.link.negotiation.answer(Answer::Silence);
                self.follow(now, step);
            }
            State::Finding { deadline } if deadline <= now => {
                self.no_stream(now, "found none in time".into())
            }
            State::Announcing { deadline } if deadline <= now => self.announced(now),
            State::Preparing { stream: Some(deadline) } if deadline <= now => self.listened(now),
            State::Lost { at } if at <= now => self.find_again(now),
            State::Ending { deadline, .. } if deadline <= now => self.ended(),
            _ => {}
        }
        self.expire(now);
        while let Some(call) = self.link.due(now) {
            self.again(now, call);
        }
        self.expire(now);
        while let Some(&(at, wake)) = self.wakes.first()
            && at <= now
        {
            self.wakes.pop_first();
            match wake {
                Wake::Cut(exchange) => self.cut(exchange),
                Wake::Resume(call) => self.resume(call),
                Wake::Repeat(call) => self.repeat_call(call),
                Wake::Greet => self.greet_again(now),
                Wake::Listen => self.offer_stream(),
                Wake::Hear => self.listened(now),
                Wake::Held(exchange) => self.held_for_too_long(now, exchange),
            }
        }
        self.link.listen_on(now);
        self.carry(now);
    }

    /// How the server was found to speak, once that is known; for the next connection to it.
    pub fn verdict(&self) -> Option<Verdict> {
        let transport = if self.sse.is_some() { Transport::HttpSse } else { Transport::StreamableHttp };
        self.details().map(|details| Verdict::new(transport, details.revision))
    }

    /// Takes a step of the negotiation.
    fn follow(&mut self, now: Instant, step: Step) {
        let limits = &self.link.config.limits;
        match step {
            Step::Probe { revision, patient } => {
                let deadline = now + if patient { limits.request } else { limits.probe };
                let wire = self.link.calls.next_wire();
                let mut body = Vec::new();
                request::discover(&mut body, wire, &self.link.config, revision);
                let head = self.modern_head(revision, "server/discover", None, &body);
                let exchange = self.send(Purpose::Opening, HttpRequest { head, body }, Some(revision));
                self.state = State::Negotiating { exchange, wire, deadline };
            }
            Step::Initialize { revision } => {
                let deadline = now + limits.request;
                let wire = self.link.calls.next_wire();
                let mut body = Vec::new();
                request::initialize(&mut body, wire, &self.link.config, revision);
                // No session yet, and no agreed version to put into a header.
                let head = self.plain_head("POST", None);
                let exchange = self.send(Purpose::Opening, HttpRequest { head, body }, None);
                self.state = State::Negotiating { exchange, wire, deadline };
            }
            Step::Settled(details) if details.era() == Era::Modern => {
                self.link.connect(*details);
                self.open(now);
            }
            Step::Settled(details) => {
                let deadline = now + limits.probe;
                self.link.connect(*details);
                self.greeted();
                self.notify(now, request::INITIALIZED.to_vec(), Purpose::Initialized);
                self.state = State::Announcing { deadline };
            }
            Step::Failed(error) => self.finish(error),
        }
    }

    fn open(&mut self, now: Instant) {
        self.state = State::Open;
        self.greetings = 0;
        for call in core::mem::take(&mut self.again) {
            self.send_again(call);
        }
        if core::mem::take(&mut self.roots_news) {
            self.tell_roots(now);
        }
        self.launch_waiting(now);
        self.link.resume_listening();
    }

    /// A session was lost: opens another, in which calls go on.
    fn reopen(&mut self, now: Instant) {
        self.leave_session(now);
        let envelope = self.link.envelope.take();
        let offered = envelope.map_or(Revision::LATEST_LEGACY, |envelope| envelope.revision());
        let (negotiation, step) = Negotiation::again(self.link.config.era, offered);
        self.link.negotiation = negotiation;
        self.follow(now, step);
    }

    /// What belonged to the session is over, but for calls.
    fn leave_session(&mut self, now: Instant) {
        self.session = None;
        self.give_up_preparing(now);
        self.link.drop_requests();
        self.drop_answers(now);
        self.link.suspend_listening();
        self.stop_listening();
        self.generation = self.generation.wrapping_add(1);
    }

    /// Ends a call before its response has come.
    fn abandon(&mut self, now: Instant, call: CallId, reason: &str, error: CallError) {
        if let Some(cancel) = self.link.untaken_task(call) {
            return self.take_back(now, &cancel);
        }
        if !self.link.calls.is_open(call) {
            return;
        }
        if self.link.pursues(call) {
            return self.leave_task(now, call, error);
        }
        self.hear_on(now, call);
        let wire = self.link.calls.wire(call).filter(|_| !self.is_call_held(call));
        if let Some(flight) = self.land(call)
            && let Some(wire) = wire
        {
            let knows = flight.at.is_none();
            if knows && self.is_legacy() && self.is_open() && !self.link.must_be_heard(call) {
                let mut body = Vec::new();
                request::cancelled(&mut body, wire, reason);
                self.notify(now, body, Purpose::Notice);
            }
            if let Some(exchange) = flight.exchange {
                self.abort(exchange);
            }
        }
        self.settle(now, call, Err(error));
    }

    /// Takes a call off its way: it is settled, or about to be.
    fn land(&mut self, call: CallId) -> Option<Flight> {
        let flight = self.flights.remove(&call)?;
        if let Some(at) = flight.resume.as_ref().and_then(|resume| resume.at) {
            self.wakes.remove(&(at, Wake::Resume(call)));
        }
        if let Some(at) = flight.at {
            self.wakes.remove(&(at, Wake::Repeat(call)));
        }
        if let Some(exchange) = flight.exchange {
            self.forget_held(exchange);
        }
        Some(flight)
    }

    fn settle(&mut self, now: Instant, call: CallId, outcome: Result<Reply, CallError>) {
        self.land(call);
        let outcome = outcome.or_else(|error| self.link.stand_in(now, call, error));
        if matches!(&outcome, Err(error) if !matches!(error, CallError::Server { .. })) {
            self.link.drop_requests_of(call);
            self.drop_answers(now);
        }
        if self.link.outlasts(now, call, &outcome) {
            return self.prepared(now);
        }
        match self.refreshes.remove(&call) {
            Some(refresh) => self.refreshed(now, call, refresh, outcome),
            None => self.link.settle(call, outcome),
        }
        self.prepared(now);
        self.drop_discovery(now);
    }

    fn is_legacy(&self) -> bool {
        self.link.details.as_deref().is_some_and(|details| details.era() == Era::Legacy)
    }
}
