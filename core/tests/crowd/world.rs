//! The server, its clients, and what is on its way between them.

mod calling;
mod gateway;
mod serving;

use self::calling::Client;
use super::network::{Rng, Timeline, Weather, piece};
use super::tools::{self, At, Deeds, Ledger};
use mcp_proto::client::{
    self, Change, Endpoint, HttpOutput, HttpRequest, InputResponse, ListTools, Refusal, Verdict,
};
use mcp_proto::dialect::{Era, Revision};
use mcp_proto::entropy::Seed;
use mcp_proto::error::ErrorObject;
use mcp_proto::head::{End, ResponseHead};
use mcp_proto::limits::Limits;
use mcp_proto::model::{
    CallToolResult, ClientCapabilities, ElicitAction, ElicitResult, ElicitationCapability, InputRequest,
    InputRequiredResult, Json, ListRootsResult, LoggingLevel, LoggingMessageNotificationParams,
    RootsCapability,
};
use mcp_proto::server::{
    self, Admission, AuthRefusal, Exchange, ExchangeOutput, Grant, HttpPolicy, HttpSse, Principal,
    ResourceServer, Revisions, SessionOutput, SessionQuery, Sessions, SseSessions,
};
use mcp_proto::time::{Duration, Instant, Now};
use serde_json::value::RawValue;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

const ORIGIN: &str = "http://localhost:3000";
/// When everybody leaves.
const END: Duration = Duration::from_secs(120);

enum Event {
    // At the server.
    Open(u64, Arc<HttpRequest>),
    Body(u64, Vec<u8>),
    BodyEnd(u64),
    Gone(u64),
    Progress(u64, server::CallId, f64),
    Ask(u64, server::CallId, String),
    Need(u64, server::CallId),
    Demand(u64, server::CallId, String),
    /// A page has done its part.
    Done(server::SessionId, String),
    Respond(u64, server::CallId, String),
    Forget,
    Publish,
    /// The process of the server ends, and another begins a little later.
    Restart,
    // At the client.
    Head(u64, ResponseHead),
    Bytes(u64, Vec<u8>),
    End(u64, End),
    Failed(u64, bool),
    Start(usize),
    Listen(usize),
    List(usize),
    Cancel(usize),
    Answer(usize, client::AskId, Arc<InputRequest>),
    /// Its token is not good any more.
    Expire(usize),
    /// Whoever waits for a token has one, or will not have any.
    Renewed(usize),
    Close(usize),
}

/// Whose timer it is.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Who {
    Client(usize),
    Server(u64),
}

/// How often things have happened.
#[derive(Default)]
pub(crate) struct Seen {
    pub(crate) asked: usize,
    pub(crate) answered: usize,
    pub(crate) rounds: usize,
    pub(crate) refused: usize,
    pub(crate) held: usize,
    pub(crate) coded: usize,
    pub(crate) cut: usize,
    pub(crate) over_sse: usize,
    pub(crate) refused_sse: usize,
    pub(crate) redirected: usize,
    /// Handshakes that the gateway has refused.
    pub(crate) unready: usize,
    pub(crate) levels: usize,
    pub(crate) logged: usize,
    /// Calls that need a page to be visited first, and those who have agreed to that.
    pub(crate) demanded: usize,
    pub(crate) visited: usize,
}

pub(crate) struct World {
    rng: Rng,
    timeline: Timeline<Event>,
    timers: BTreeSet<(Instant, Who)>,
    clients: Vec<Client>,
    open: Arc<server::Config>,
    /// The same for clients that have tokens.
    guarded: Arc<server::Config>,
    sessions: Sessions,
    streams: SseSessions,
    /// Until when nobody is there to be connected to.
    down: Instant,
    wires: BTreeMap<server::ExchangeId, Wire>,
    /// Whose exchange each wire is.
    owners: Vec<(usize, client::ExchangeId)>,
    names: Vec<server::SessionId>,
    deeds: Deeds,
    /// Calls that have demanded a page.
    demanded: BTreeSet<String>,
    pub(crate) seen: Seen,
}

/// One exchange on its way.
struct Wire {
    server: Option<Exchange>,
    timer: Option<Instant>,
    up: Instant,
    down: Instant,
    /// How many more pieces go down before it breaks.
    left: usize,
    /// The response is compressed.
    coded: bool,
    /// Calls that wait for what the client was asked.
    asking: BTreeMap<server::CallId, String>,
}

/// Whether the tool needs a page to be visited first.
fn demands(text: &str) -> bool {
    text.bytes().map(usize::from).sum::<usize>() % 4 == 1
}

/// Whether the tool asks before it says something.
fn asks(text: &str) -> bool {
    text.bytes().map(usize::from).sum::<usize>() % 3 == 0
}

impl World {
    pub(crate) fn new(seed: u64, count: usize) -> Self {
        let mut rng = Rng::new(seed);
        let mut timeline = Timeline::within(5_000 * (count + 20));
        let clients = (0..count).map(|index| Client::new(&mut rng, &mut timeline, index)).collect();
        for _ in 0..8 {
            timeline.after(rng.millis(100_000), Event::Publish);
        }
        for _ in 0..count / 4 {
            timeline.after(rng.millis(100_000), Event::Forget);
        }
        for second in [25, 55, 85] {
            timeline.after(Duration::from_secs(second) + rng.millis(5_000), Event::Restart);
        }
        let policy = HttpPolicy::default().http_sse(HttpSse::new("/sse", "/messages"));
        let config = || tools::server(Revisions::default()).subscriptions(true).logging(true);
        let resource =
            ResourceServer::new(format!("{ORIGIN}/mcp")).authorization_server("https://as.example");
        let guarded = config().http(policy.clone().resource_server(resource));
        let (sessions, streams) = tables(0);
        let mut world = Self {
            rng,
            timeline,
            timers: BTreeSet::new(),
            clients,
            open: Arc::new(config().http(policy)),
            guarded: Arc::new(guarded),
            sessions,
            streams,
            down: Instant::ZERO,
            wires: BTreeMap::new(),
            owners: Vec::new(),
            names: Vec::new(),
            deeds: Deeds::default(),
            demanded: BTreeSet::new(),
            seen: Seen::default(),
        };
        (0..count).for_each(|index| world.pump_client(index));
        world
    }

    pub(crate) fn ledgers(&self) -> impl Iterator<Item = &Ledger> {
        self.clients.iter().map(|client| &client.ledger)
    }

    /// Runs until nothing will ever happen any more, and looks whether anything is left.
    pub(crate) fn run(&mut self) {
        loop {
            match self.timeline.next(self.timers.first().map(|&(at, _)| at)) {
                Some(Some(event)) => self.happen(event),
                Some(None) => break,
                None => self.time(),
            }
        }
        let now = self.timeline.now();
        for Client { http, ledger, .. } in &mut self.clients {
            ledger.stop_listening(&mut At(http, now));
            assert!(ledger.is_empty() && ledger.closed.is_some() && http.is_closed());
            let left = [http.calls(), http.exchanges(), http.held(), http.asks(), http.subscriptions()];
            assert_eq!((left, http.poll_timeout()), ([0; 5], None));
        }
        assert!(self.wires.is_empty() && self.streams.is_empty(), "every exchange has ended on the server");
        self.sessions.handle_timeout(Now::new(now.mono + Duration::from_secs(7_200), now.unix));
        while self.sessions.poll_output().is_some() {}
        assert!(self.sessions.is_empty(), "sessions that nobody ended end by themselves");
    }

    /// Drops what only the test wants to know.
    pub(crate) fn forget_the_past(&mut self) {
        (self.deeds, self.owners, self.names) = (Deeds::default(), Vec::new(), Vec::new());
        self.demanded = BTreeSet::new();
        for client in &mut self.clients {
            (client.ledger, client.wires) = (Ledger::default(), BTreeMap::new());
        }
    }

    fn time(&mut self) {
        let now = self.timeline.now();
        while let Some(&(at, who)) = self.timers.first()
            && at <= now.mono
        {
            self.timers.pop_first();
            match who {
                Who::Client(index) => {
                    self.clients[index].timer = None;
                    self.clients[index].http.handle_timeout(now);
                    self.pump_client(index);
                    let next = self.clients[index].timer;
                    assert!(next.is_none_or(|next| next > now.mono), "a timeout that was handled is gone");
                }
                Who::Server(id) => {
                    if let Some(wire) = self.wires.get_mut(&server::ExchangeId::new(id)) {
                        wire.timer = None;
                    }
                    self.at_server(id, |server| server.handle_timeout(now));
                }
            }
        }
    }

    fn happen(&mut self, event: Event) {
        let now = self.timeline.now();
        match event {
            Event::Open(id, request) => self.arrive(id, &request),
            Event::Body(id, bytes) => self.at_server(id, |server| server.handle_body(now, &bytes)),
            Event::BodyEnd(id) => self.at_server(id, |server| server.handle_end(now, End::Complete)),
            Event::Gone(id) => {
                self.at_server(id, |server| server.handle_abort(now));
                let key = server::ExchangeId::new(id);
                if self.wires.get(&key).is_some_and(|wire| wire.server.is_none()) {
                    self.wires.remove(&key);
                }
            }
            Event::Progress(id, call, progress) => {
                let message =
                    LoggingMessageNotificationParams::new(LoggingLevel::Error, Json::parse("1").unwrap());
                self.at_server(id, |server| {
                    server.log(now, call, &message);
                    server.progress(now, call, &server::Progress::new(progress));
                });
            }
            Event::Ask(id, call, text) => self.ask(id, call, text),
            Event::Need(id, call) => {
                let result =
                    InputRequiredResult::new().ask("dirs", InputRequest::ListRoots).request_state("s");
                self.at_server(id, |server| server.respond(now, call, &result));
            }
            Event::Demand(id, call, text) => self.demand(id, call, &text),
            Event::Done(session, page) => {
                self.sessions.complete_elicitation(now, &session, &page);
                self.route();
            }
            Event::Respond(id, call, text) => {
                self.at_server(id, |server| server.respond(now, call, &CallToolResult::text(text)));
            }
            Event::Forget => {
                if let Some(session) = self.names.pop() {
                    self.sessions.handle_query(now, SessionQuery::End { session });
                    self.route();
                }
            }
            Event::Publish => {
                self.sessions.publish(now, &self.open, &Change::Tools);
                self.route();
                let wires: Vec<_> = self.wires.keys().copied().collect();
                wires
                    .into_iter()
                    .for_each(|id| self.at_wire(id, |server| server.publish(now, &Change::Tools)));
            }
            Event::Restart => self.restart(),
            Event::Head(id, head) => {
                self.at_client(id, |http, exchange| http.handle_head(now, exchange, head))
            }
            Event::Bytes(id, bytes) => {
                self.at_client(id, |http, exchange| http.handle_body(now, exchange, &bytes))
            }
            Event::End(id, end) => self.at_client(id, |http, exchange| http.handle_end(now, exchange, end)),
            Event::Failed(id, unsent) => {
                self.at_client(id, |http, exchange| http.handle_failed(now, exchange, "reset", unsent));
            }
            Event::Start(index) => {
                let Client { http, ledger, .. } = &mut self.clients[index];
                ledger.start(&mut self.rng, &format!("c{index}"), &mut At(http, now));
                self.pump_client(index);
            }
            Event::Listen(index) => {
                let Client { http, ledger, .. } = &mut self.clients[index];
                ledger.listen(&mut At(http, now));
                self.pump_client(index);
            }
            Event::List(index) => {
                let http = &mut self.clients[index].http;
                if let Ok(list) = http.start(now, &ListTools::new(), client::CallOptions::new()) {
                    http.forget(list.id());
                }
                self.pump_client(index);
            }
            Event::Cancel(index) => {
                let Client { http, ledger, .. } = &mut self.clients[index];
                if let Some(call) = ledger.pick(&mut self.rng) {
                    http.cancel(now, call);
                }
                self.pump_client(index);
            }
            Event::Answer(index, ask, request) => {
                let response = match &*request {
                    InputRequest::Elicit(_) => {
                        self.seen.visited += 1;
                        ElicitResult::from(ElicitAction::Accept).into()
                    }
                    _ => {
                        self.seen.answered += 1;
                        InputResponse::from(ListRootsResult::default())
                    }
                };
                let answer = if self.rng.once_in(8) { Err(Refusal::Failed) } else { Ok(response) };
                self.clients[index].http.answer(now, ask, answer).unwrap();
                self.pump_client(index);
            }
            Event::Expire(index) => {
                if let Some((_, good)) = &mut self.clients[index].token {
                    *good += 1;
                }
            }
            Event::Renewed(index) => self.renewed(index),
            Event::Close(index) => {
                self.clients[index].http.close(now);
                self.pump_client(index);
            }
        }
    }

    /// A request reaches the server, if there is one.
    fn arrive(&mut self, id: u64, request: &HttpRequest) {
        let (now, key) = (self.timeline.now(), server::ExchangeId::new(id));
        if !self.wires.contains_key(&key) {
            return;
        }
        if now.mono < self.down {
            self.wires.remove(&key);
            return self.timeline.after(self.rng.millis(50), Event::Failed(id, true));
        }
        let Some(head) = self.pass(id, request) else { return };
        let (index, _) = self.owners[usize::try_from(id).unwrap()];
        let guarded = self.clients[index].token.is_some();
        let config = Arc::clone(if guarded { &self.guarded } else { &self.open });
        if let Some(wire) = self.wires.get_mut(&key) {
            wire.server = Some(Exchange::new(now, key, config, head));
        }
        self.pump_server(id);
    }

    fn ask(&mut self, id: u64, call: server::CallId, text: String) {
        let (now, key) = (self.timeline.now(), server::ExchangeId::new(id));
        let patience = Some(Duration::from_secs(40));
        let Some(wire) = self.wires.get_mut(&key) else { return };
        let Some(server) = &mut wire.server else { return };
        if server.ask(now, call, &InputRequest::ListRoots, patience).is_ok() {
            wire.asking.insert(call, text);
            return self.pump_server(id);
        }
        self.timeline.after(Duration::ZERO, Event::Respond(id, call, text));
    }

    /// A page has to be visited first.
    fn demand(&mut self, id: u64, call: server::CallId, text: &str) {
        self.seen.demanded += 1;
        let now = self.timeline.now();
        let name = serde_json::to_string(text).unwrap();
        let data = format!(
            r#"{{"elicitations":[{{"mode":"url","elicitationId":{name},"url":"https://h.example/","message":"m"}}]}}"#
        );
        let error = ErrorObject::new(-32042, "there is a page").data(RawValue::from_string(data).unwrap());
        let mut session = None;
        self.at_server(id, |server| {
            session = server.session().cloned();
            server.fail(now, call, &error);
        });
        if let Some(session) = session.filter(|_| self.rng.once_in(2)) {
            self.timeline.after(self.rng.millis(20_000), Event::Done(session, text.to_owned()));
        }
    }

    /// All connections are gone, and whatever the server kept for its clients.
    fn restart(&mut self) {
        let Self { wires, timers, timeline, rng, seen, .. } = self;
        wires.retain(|id, wire| {
            if wire.server.is_none() {
                return true;
            }
            let id = id.number();
            keep(timers, &mut wire.timer, None, Who::Server(id));
            seen.cut += 1;
            let event = if rng.once_in(2) { Event::Failed(id, false) } else { Event::End(id, End::Broken) };
            if wire.left > 0 {
                timeline.at(wire.down.max(timeline.now + rng.millis(50)), event);
            }
            false
        });
        let seed = u8::try_from(rng.below(256)).unwrap();
        (self.sessions, self.streams) = tables(seed);
        self.names.clear();
        self.down = self.timeline.now + self.rng.millis(3_000);
    }

    fn at_server(&mut self, id: u64, input: impl FnOnce(&mut Exchange)) {
        self.at_wire(server::ExchangeId::new(id), input);
    }

    fn at_wire(&mut self, id: server::ExchangeId, input: impl FnOnce(&mut Exchange)) {
        if let Some(server) = self.wires.get_mut(&id).and_then(|wire| wire.server.as_mut()) {
            input(server);
            self.pump_server(id.number());
        }
    }
}

fn over_sse(verdict: Verdict) -> bool {
    verdict.transport == client::Transport::HttpSse
}

fn tables(seed: u8) -> (Sessions, SseSessions) {
    let limits = Limits::default();
    (Sessions::new(&limits, Seed::new([seed; 32])), SseSessions::new(&limits, Seed::new([seed ^ 0xff; 32])))
}

/// Moves a timer.
fn keep(timers: &mut BTreeSet<(Instant, Who)>, timer: &mut Option<Instant>, next: Option<Instant>, who: Who) {
    if *timer == next {
        return;
    }
    if let Some(before) = core::mem::replace(timer, next) {
        timers.remove(&(before, who));
    }
    timers.extend(next.map(|next| (next, who)));
}

/// Bytes as a block of deflate that does not deflate them.
fn stored(bytes: &[u8]) -> Vec<u8> {
    let len = u16::try_from(bytes.len()).unwrap();
    let mut block = vec![0];
    block.extend(len.to_le_bytes());
    block.extend((!len).to_le_bytes());
    block.extend(bytes);
    block
}
