//! Many clients and one server over HTTP exchanges.

use super::network::{Rng, Timeline, Weather, piece};
use super::tools::{self, At, Deeds, Ledger};
use super::{choice, revisions, seeds};
use mcp_proto::client::{self, CallOptions, Change, Endpoint, HttpOutput, HttpRequest, ListTools};
use mcp_proto::entropy::Seed;
use mcp_proto::error::CallError;
use mcp_proto::head::{End, ResponseHead};
use mcp_proto::limits::Limits;
use mcp_proto::model::CallToolResult;
use mcp_proto::server::{self, Admission, Exchange, ExchangeOutput, SessionOutput, SessionQuery, Sessions};
use mcp_proto::time::{Duration, Instant, Now};
use std::cell::Cell;
use std::collections::BTreeMap;
use std::sync::Arc;

enum Event {
    // At the server.
    Open(u64, Arc<HttpRequest>),
    Body(u64, Vec<u8>),
    BodyEnd(u64),
    Gone(u64),
    Progress(u64, server::CallId, f64),
    Respond(u64, server::CallId, String),
    /// The handler lets its client come back for the answer.
    Part(u64, server::CallId),
    Forget,
    /// The tools of the server have changed.
    Publish,
    // At the client.
    Head(u64, ResponseHead),
    Bytes(u64, Vec<u8>),
    End(u64, End),
    Failed(u64, bool),
    Start(usize),
    Listen(usize),
    List(usize),
    Cancel(usize),
    Close(usize),
}

struct World {
    name: String,
    rng: Rng,
    weather: Weather,
    timeline: Timeline<Event>,
    clients: Vec<Client>,
    config: Arc<server::Config>,
    sessions: Sessions,
    /// Sessions that were seen, to be forgotten now and then.
    seen: Vec<server::SessionId>,
    wires: BTreeMap<u64, Wire>,
    /// Whose exchange each wire is. Kept when the server is done with it: what is on its way arrives.
    owners: Vec<(usize, client::ExchangeId)>,
    /// Streams that went on elsewhere.
    parted: usize,
    deeds: Deeds,
}

struct Client {
    http: client::Http,
    ledger: Ledger,
    /// Its exchanges on the wire.
    wires: BTreeMap<client::ExchangeId, u64>,
}

/// One exchange on its way.
struct Wire {
    server: Option<Exchange>,
    up: Instant,
    down: Instant,
    /// How many more pieces go down before it breaks.
    left: usize,
}

impl World {
    fn new(seed: u64, weather: Weather, count: usize, agree: bool) -> Self {
        let mut rng = Rng::new(seed);
        let mut timeline = Timeline::within(200_000);
        let endpoint = Endpoint::parse("http://localhost:3000/mcp").unwrap();
        let clients = (0..count).map(|index| {
            let era = if agree { client::EraChoice::Auto } else { choice(&mut rng) };
            timeline.after(rng.millis(500), Event::List(index));
            if rng.once_in(2) {
                timeline.after(rng.millis(2_000), Event::Listen(index));
                timeline.after(rng.millis(60_000), Event::Listen(index));
            }
            for _ in 0..1 + rng.below(10) {
                timeline.after(Duration::from_secs(1) + rng.millis(10_000), Event::Start(index));
                if weather == Weather::Storm && rng.once_in(3) {
                    timeline.after(rng.millis(12_000), Event::Cancel(index));
                }
            }
            timeline.after(Duration::from_secs(70), Event::Close(index));
            let config = Arc::new(tools::client(era));
            let http = client::Http::new(Now::default(), config, endpoint.clone(), Seed::new([9; 32]));
            Client { http, ledger: Ledger::default(), wires: BTreeMap::new() }
        });
        let clients = clients.collect();
        for _ in 0..10 {
            timeline.after(rng.millis(60_000), Event::Publish);
        }
        if weather == Weather::Storm {
            for _ in 0..5 {
                timeline.after(rng.millis(12_000), Event::Forget);
            }
        }
        let config = Arc::new(tools::server(revisions(&mut rng)));
        let sessions = Sessions::new(&Limits::default(), Seed::new([7; 32]));
        let name = format!("h{seed}");
        Self {
            name,
            rng,
            weather,
            timeline,
            clients,
            config,
            sessions,
            seen: Vec::new(),
            wires: BTreeMap::new(),
            owners: Vec::new(),
            parted: 0,
            deeds: Deeds::default(),
        }
    }

    fn run(&mut self) {
        for index in 0..self.clients.len() {
            self.pump_client(index);
        }
        loop {
            let clients = self.clients.iter().map(|client| client.http.poll_timeout());
            let servers =
                self.wires.values().map(|wire| wire.server.as_ref().and_then(Exchange::poll_timeout));
            match self.timeline.next(clients.chain(servers).flatten().min()) {
                Some(Some(event)) => self.happen(event),
                Some(None) => break,
                None => self.time(),
            }
        }
        let now = self.timeline.now();
        for Client { http, ledger, .. } in &mut self.clients {
            ledger.stop_listening(&mut At(http, now));
            assert_eq!(http.subscriptions(), 0);
        }
        for client in &self.clients {
            assert!(client.ledger.is_empty() && client.ledger.closed.is_some() && client.http.is_closed());
            assert_eq!(
                (client.http.calls(), client.http.exchanges(), client.http.poll_timeout()),
                (0, 0, None)
            );
        }
        assert!(self.wires.is_empty(), "every exchange has ended on the server");
    }

    fn time(&mut self) {
        let now = self.timeline.now();
        for index in 0..self.clients.len() {
            self.clients[index].http.handle_timeout(now);
            self.pump_client(index);
        }
        let wires: Vec<u64> = self.wires.keys().copied().collect();
        for wire in wires {
            if let Some(server) = self.wires.get_mut(&wire).and_then(|wire| wire.server.as_mut()) {
                server.handle_timeout(now);
            }
            self.pump_server(wire);
        }
    }

    fn happen(&mut self, event: Event) {
        let now = self.timeline.now();
        match event {
            Event::Open(id, request) => {
                let Some(wire) = self.wires.get_mut(&id) else { return };
                let exchange = server::ExchangeId::new(id);
                wire.server =
                    Some(Exchange::new(now, exchange, Arc::clone(&self.config), request.head.clone()));
                self.pump_server(id);
            }
            Event::Body(id, bytes) => self.at_server(id, |server| server.handle_body(now, &bytes)),
            Event::BodyEnd(id) => self.at_server(id, |server| server.handle_end(now, End::Complete)),
            Event::Gone(id) => {
                self.at_server(id, |server| {
                    server.handle_abort(now);
                    server.handle_abort(now);
                });
                // Nothing was sent yet, so there is nothing to end.
                if self.wires.get(&id).is_some_and(|wire| wire.server.is_none()) {
                    self.wires.remove(&id);
                }
            }
            Event::Progress(id, call, progress) => {
                self.at_server(id, |server| server.progress(now, call, &server::Progress::new(progress)));
            }
            Event::Part(id, call) => {
                self.at_server(id, |server| server.close_stream(now, call, Duration::from_millis(300)));
            }
            Event::Respond(id, call, text) => {
                self.at_server(id, |server| server.respond(now, call, &CallToolResult::text(text)));
            }
            Event::Forget => {
                if let Some(session) = self.seen.pop() {
                    self.sessions.handle_query(now, SessionQuery::End { session });
                    self.route();
                }
            }
            Event::Publish => {
                self.sessions.publish(now, &self.config, &Change::Tools);
                self.route();
                let wires: Vec<u64> = self.wires.keys().copied().collect();
                for wire in wires {
                    self.at_server(wire, |server| server.publish(now, &Change::Tools));
                }
            }
            Event::Listen(index) => {
                let Client { http, ledger, .. } = &mut self.clients[index];
                ledger.listen(&mut At(http, now));
                self.pump_client(index);
            }
            Event::Head(id, head) => {
                self.at_client(id, |http, exchange| http.handle_head(now, exchange, head))
            }
            Event::Bytes(id, bytes) => {
                self.at_client(id, |http, exchange| http.handle_body(now, exchange, &bytes))
            }
            Event::End(id, end) => self.at_client(id, |http, exchange| {
                http.handle_end(now, exchange, end);
                http.handle_end(now, exchange, End::Broken);
            }),
            Event::Failed(id, unsent) => {
                self.at_client(id, |http, exchange| {
                    http.handle_failed(now, exchange, "connection reset", unsent)
                });
            }
            Event::Start(index) => {
                let name = format!("{}/{index}", self.name);
                let Client { http, ledger, .. } = &mut self.clients[index];
                ledger.start(&mut self.rng, &name, &mut At(http, now));
                self.pump_client(index);
            }
            Event::List(index) => {
                let http = &mut self.clients[index].http;
                // Nobody takes the reply, so no header is learned from it: later calls have to find out.
                if let Ok(list) = http.start(now, &ListTools::new(), CallOptions::new()) {
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
            Event::Close(index) => {
                self.clients[index].http.close(now);
                self.pump_client(index);
            }
        }
    }

    fn at_server(&mut self, id: u64, input: impl FnOnce(&mut Exchange)) {
        if let Some(server) = self.wires.get_mut(&id).and_then(|wire| wire.server.as_mut()) {
            input(server);
            self.pump_server(id);
        }
    }

    fn at_client(&mut self, id: u64, input: impl FnOnce(&mut client::Http, client::ExchangeId)) {
        let (index, exchange) = self.owners[usize::try_from(id).unwrap()];
        input(&mut self.clients[index].http, exchange);
        self.pump_client(index);
    }

    fn pump_client(&mut self, index: usize) {
        let now = self.timeline.now();
        while let Some(output) = self.clients[index].http.poll_output() {
            match output {
                HttpOutput::Event(event) => {
                    let Client { http, ledger, .. } = &mut self.clients[index];
                    ledger.note(event, &mut At(http, now));
                }
                HttpOutput::Send { exchange, request } => self.send(index, exchange, &request),
                HttpOutput::Abort(exchange) => {
                    if let Some(&wire) = self.clients[index].wires.get(&exchange) {
                        let delay = self.weather.latency(&mut self.rng);
                        let up = self.wires.get(&wire).map_or(now.mono, |wire| wire.up);
                        self.timeline.at(up.max(now.mono + delay), Event::Gone(wire));
                    }
                }
                _ => {}
            }
        }
    }

    fn send(&mut self, index: usize, exchange: client::ExchangeId, request: &Arc<HttpRequest>) {
        let (rng, weather) = (&mut self.rng, self.weather);
        let id = self.owners.len() as u64;
        self.owners.push((index, exchange));
        self.clients[index].wires.insert(exchange, id);
        if weather.breaks(rng, 20) {
            self.timeline.after(weather.latency(rng), Event::Failed(id, true));
            return;
        }
        let mut up = self.timeline.now + weather.latency(rng);
        self.timeline.at(up, Event::Open(id, Arc::clone(request)));
        let mut body = &request.body[..];
        while !body.is_empty() {
            let (first, rest) = body.split_at(piece(rng, body.len()));
            up = up.max(self.timeline.now + weather.latency(rng));
            self.timeline.at(up, Event::Body(id, first.to_vec()));
            body = rest;
        }
        self.timeline.at(up, Event::BodyEnd(id));
        let left = if weather.breaks(rng, 6) { rng.below(6) } else { usize::MAX };
        let wire = Wire { server: None, up, down: up, left };
        self.wires.insert(id, wire);
    }

    fn pump_server(&mut self, id: u64) {
        loop {
            let now = self.timeline.now();
            let (rng, weather) = (&mut self.rng, self.weather);
            let Some(wire) = self.wires.get_mut(&id) else { return };
            let Some(server) = &mut wire.server else { return };
            let event = match server.poll_output() {
                Some(ExchangeOutput::Head(head, _)) => {
                    if let Some(session) = head.headers.text("mcp-session-id") {
                        self.seen.push(server::SessionId::new(session));
                    }
                    Event::Head(id, head)
                }
                Some(ExchangeOutput::Call(call, work)) => {
                    let text = tools::text_of(&work);
                    self.deeds.note(&text, &work, true);
                    let mut delay = Duration::ZERO;
                    for step in 0..rng.below(4) {
                        delay += rng.millis(2_000);
                        self.timeline.after(delay, Event::Progress(id, call, step as f64));
                    }
                    delay += rng.millis(500);
                    if rng.once_in(4) {
                        self.timeline.after(rng.millis(1_000), Event::Part(id, call));
                    }
                    // In a storm some tools take much longer than anybody waits.
                    if weather.breaks(rng, 8) {
                        delay += Duration::from_secs(50);
                    }
                    self.timeline.after(delay, Event::Respond(id, call, text));
                    continue;
                }
                Some(ExchangeOutput::Listen(_)) => {
                    server.handle_admission(now, Admission::Granted);
                    continue;
                }
                Some(ExchangeOutput::Session(id, query)) => {
                    let answer = self.sessions.handle_query(now, query);
                    server.handle_session(now, id, answer);
                    self.route();
                    continue;
                }
                Some(ExchangeOutput::Parted) => {
                    self.parted += 1;
                    if wire.left > 0 {
                        self.timeline.at(wire.down, Event::End(id, End::Complete));
                    }
                    wire.left = 0;
                    continue;
                }
                Some(ExchangeOutput::End) => {
                    let (down, left) = (wire.down, wire.left);
                    self.wires.remove(&id);
                    if left > 0 {
                        self.timeline.at(down, Event::End(id, End::Complete));
                    }
                    return;
                }
                Some(_) => continue,
                None if server.transmit().is_empty() => return,
                None => {
                    let taken = piece(rng, server.transmit().len());
                    let bytes = server.transmit()[..taken].to_vec();
                    server.advance(taken);
                    Event::Bytes(id, bytes)
                }
            };
            wire.down = wire.down.max(now.mono + weather.latency(rng));
            match wire.left {
                0 => {}
                1 => {
                    wire.left = 0;
                    let event =
                        if rng.once_in(2) { Event::Failed(id, false) } else { Event::End(id, End::Broken) };
                    self.timeline.at(wire.down, event);
                    self.timeline.at(wire.up.max(now.mono + weather.latency(rng)), Event::Gone(id));
                }
                left => {
                    wire.left = left.saturating_sub(usize::from(left != usize::MAX));
                    self.timeline.at(wire.down, event);
                }
            }
        }
    }

    /// Passes on what the session table has for exchanges.
    fn route(&mut self) {
        let now = self.timeline.now();
        while let Some(output) = self.sessions.poll_output() {
            let ids: Vec<u64> = self
                .wires
                .keys()
                .copied()
                .filter(|&id| Some(server::ExchangeId::new(id)) == output.exchange())
                .collect();
            for id in ids {
                self.at_server(id, |server| match &output {
                    SessionOutput::Cancel { request, .. } => server.handle_cancel(now, request),
                    SessionOutput::Deliver { event, .. } => server.handle_delivery(now, event),
                    SessionOutput::Close { .. } => server.handle_close(now),
                    _ => {}
                });
            }
        }
    }
}

#[test]
fn in_calm_weather_every_call_succeeds_between_peers_that_agree() {
    let parted = Cell::new(0);
    seeds(150, |seed| {
        let mut world = World::new(seed, Weather::Calm, 4, true);
        world.run();
        parted.set(parted.get() + world.parted);
        for client in &world.clients {
            let errors =
                client.ledger.errors.iter().filter(|error| !matches!(error, CallError::TimedOut { .. }));
            let errors: Vec<_> = errors.collect();
            assert!(errors.is_empty(), "{errors:?}");
            assert!(client.ledger.succeeded > 0 || !client.ledger.errors.is_empty());
        }
        assert!(world.sessions.is_empty(), "sessions end with their clients");
    });
    assert!(parted.get() > 50, "clients come back for their answers: {}", parted.get());
}

/// Each call ends once, with a result or an error; nothing is carried out twice that may not be, and nothing is kept.
#[test]
fn in_a_storm_every_call_ends_once_and_nothing_is_left() {
    let (succeeded, failed) = (Cell::new(0), Cell::new(0));
    let (heard, missed) = (Cell::new(0), Cell::new(0));
    seeds(250, |seed| {
        let mut world = World::new(seed, Weather::Storm, 5, false);
        world.run();
        for client in &world.clients {
            succeeded.set(succeeded.get() + client.ledger.succeeded);
            failed.set(failed.get() + client.ledger.errors.len());
            heard.set(heard.get() + client.ledger.heard);
            missed.set(missed.get() + client.ledger.missed);
        }
    });
    assert!(heard.get() > 500 && missed.get() > 100, "whoever listens hears of changes, and of gaps");
    assert!(succeeded.get() > 500 && failed.get() > 500, "a storm, and not the end of the world");
}
