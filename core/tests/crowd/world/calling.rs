//! A client, and what becomes of its side of an exchange.

use super::*;

pub(super) struct Client {
    pub(super) http: client::Http,
    pub(super) timer: Option<Instant>,
    pub(super) ledger: Ledger,
    pub(super) wires: BTreeMap<client::ExchangeId, u64>,
    pub(super) weather: Weather,
    /// The token that it has, and the one that the server takes.
    pub(super) token: Option<(u64, u64)>,
    /// It is being renewed, and these wait.
    renewal: Option<Vec<client::ExchangeId>>,
    /// It speaks HTTP with SSE and nothing else.
    sse: bool,
}

impl Client {
    pub(super) fn new(rng: &mut Rng, timeline: &mut Timeline<Event>, index: usize) -> Self {
        let weather = if rng.once_in(4) { Weather::Calm } else { Weather::Storm };
        let era = match rng.below(4) {
            0 => client::EraChoice::Modern,
            1 => client::EraChoice::Legacy,
            _ => client::EraChoice::Auto,
        };
        timeline.after(rng.millis(500), Event::List(index));
        if rng.once_in(2) {
            timeline.after(rng.millis(20_000), Event::Listen(index));
            // For something else.
            for _ in 0..2 {
                timeline.after(Duration::from_secs(20) + rng.millis(80_000), Event::Listen(index));
            }
        }
        for _ in 0..2 + rng.below(6) {
            timeline.after(Duration::from_secs(1) + rng.millis(100_000), Event::Start(index));
            if rng.once_in(4) {
                timeline.after(rng.millis(100_000), Event::Cancel(index));
            }
        }
        timeline.after(END + rng.millis(1_000), Event::Close(index));
        let sse = rng.once_in(5);
        let guarded = rng.once_in(3);
        if guarded {
            for _ in 0..4 {
                timeline.after(rng.millis(100_000), Event::Expire(index));
            }
        }
        let pages = ElicitationCapability::new().url(Json::empty_object());
        let capabilities = ClientCapabilities::new().roots(RootsCapability::new()).elicitation(pages);
        let era = if sse { client::EraChoice::Auto } else { era };
        let mut config = tools::client(era).capabilities(capabilities).authorize(guarded);
        if rng.once_in(3) {
            config = config.log_level(LoggingLevel::Warning);
        }
        let config = Arc::new(config);
        let seed = Seed::new([u8::try_from(index % 251).unwrap(); 32]);
        let begun = Now::default();
        let http = if sse {
            let endpoint = Endpoint::parse(&format!("{ORIGIN}/sse")).unwrap();
            client::Http::http_sse(begun, config, endpoint, seed)
        } else {
            client::Http::new(begun, config, Endpoint::parse(&format!("{ORIGIN}/mcp")).unwrap(), seed)
        };
        Self {
            http,
            timer: None,
            ledger: Ledger::default(),
            wires: BTreeMap::new(),
            weather,
            token: guarded.then_some((0, 0)),
            renewal: None,
            sse,
        }
    }
}

impl World {
    /// Whoever waits for a token goes on, or is told that there will be none.
    pub(super) fn renewed(&mut self, index: usize) {
        let now = self.timeline.now();
        let client = &mut self.clients[index];
        let waiting = client.renewal.take().unwrap_or_default();
        let given_up = self.rng.once_in(6);
        if let Some((token, good)) = client.token.as_mut().filter(|_| !given_up) {
            *token = *good;
        }
        for exchange in waiting {
            if given_up {
                client.http.give_up(now, exchange, "nobody agreed", "");
            } else {
                client.http.repeat(now, exchange);
            }
        }
        self.pump_client(index);
    }

    pub(super) fn at_client(&mut self, id: u64, input: impl FnOnce(&mut client::Http, client::ExchangeId)) {
        let (index, exchange) = self.owners[usize::try_from(id).unwrap()];
        input(&mut self.clients[index].http, exchange);
        self.pump_client(index);
    }

    pub(super) fn pump_client(&mut self, index: usize) {
        let now = self.timeline.now();
        while let Some(output) = self.clients[index].http.poll_output() {
            let client = &mut self.clients[index];
            match output {
                HttpOutput::Event(client::Event::Asked(ask, request)) => {
                    self.seen.asked += 1;
                    self.timeline.after(self.rng.millis(6_000), Event::Answer(index, ask, request));
                }
                HttpOutput::Event(event) => {
                    self.seen.logged += usize::from(matches!(event, client::Event::Log(..)));
                    client.ledger.note(event, &mut At(&mut client.http, now));
                }
                HttpOutput::Send { exchange, request } => match &mut client.renewal {
                    Some(waiting) if client.http.hold(now, exchange) => {
                        self.seen.held += 1;
                        waiting.push(exchange);
                    }
                    _ => self.send(index, exchange, request),
                },
                HttpOutput::Abort(exchange) => {
                    if let Some(&wire) = client.wires.get(&exchange) {
                        let delay = client.weather.latency(&mut self.rng);
                        let up =
                            self.wires.get(&server::ExchangeId::new(wire)).map_or(now.mono, |wire| wire.up);
                        self.timeline.at(up.max(now.mono + delay), Event::Gone(wire));
                    }
                }
                HttpOutput::Refused { exchange, head } => {
                    assert_eq!(head.status, 401);
                    self.seen.refused += 1;
                    self.seen.refused_sse += usize::from(client.sse);
                    if client.renewal.is_none() {
                        let span = Duration::from_millis(10) + self.rng.millis(15_000);
                        self.timeline.after(span, Event::Renewed(index));
                    }
                    client.renewal.get_or_insert_default().push(exchange);
                }
                _ => {}
            }
        }
        let client = &mut self.clients[index];
        let next = client.http.poll_timeout();
        keep(&mut self.timers, &mut client.timer, next, Who::Client(index));
    }

    fn send(&mut self, index: usize, exchange: client::ExchangeId, mut request: Arc<HttpRequest>) {
        let (rng, client) = (&mut self.rng, &mut self.clients[index]);
        let weather = client.weather;
        let id = self.owners.len() as u64;
        self.owners.push((index, exchange));
        client.wires.insert(exchange, id);
        if self.timeline.now < self.down || weather.breaks(rng, 20) {
            self.timeline.after(weather.latency(rng), Event::Failed(id, true));
            return;
        }
        if let Some((token, _)) = client.token {
            let mut with_token = HttpRequest::clone(&request);
            with_token.head.headers.push("Authorization", format!("Bearer {token}"));
            request = Arc::new(with_token);
        }
        let mut up = self.timeline.now + weather.latency(rng);
        self.timeline.at(up, Event::Open(id, Arc::clone(&request)));
        let mut body = &request.body[..];
        while !body.is_empty() {
            let (first, rest) = body.split_at(piece(rng, body.len()));
            up = up.max(self.timeline.now + weather.latency(rng));
            self.timeline.at(up, Event::Body(id, first.to_vec()));
            body = rest;
        }
        self.timeline.at(up, Event::BodyEnd(id));
        let left = if weather.breaks(rng, 6) { rng.below(6) } else { usize::MAX };
        let wire = Wire {
            server: None,
            timer: None,
            up,
            down: up,
            left,
            coded: cfg!(feature = "gzip") && rng.once_in(3),
            asking: BTreeMap::new(),
        };
        self.wires.insert(server::ExchangeId::new(id), wire);
    }
}
