//! Client and server on the two ends of a byte stream.

use super::network::{Rng, Timeline, Weather, piece};
use super::tools::{self, Caller, Deeds, Ledger};
use super::{choice, revisions, seeds};
use mcp_proto::client::{
    self, CallOptions, CallTool, Change, Notice, Pending, Subscription, SubscriptionId, ToolReply,
};
use mcp_proto::dialect::Era;
use mcp_proto::error::CallError;
use mcp_proto::head::End;
use mcp_proto::model::{CallToolResult, SubscriptionFilter};
use mcp_proto::server;
use mcp_proto::time::{Duration, Instant, Now};
use std::cell::Cell;
use std::collections::BTreeMap;
use std::sync::Arc;

enum Event {
    ToServer(u64, Vec<u8>),
    ToClient(u64, Vec<u8>),
    EndOfServer(u64, End),
    EndOfClient(u64, End),
    Start,
    Listen,
    /// The tools of the server have changed.
    Publish,
    Cancel,
    Progress(u64, server::CallId, f64),
    Respond(u64, server::CallId, String),
    Close,
}

struct Pair {
    name: String,
    rng: Rng,
    weather: Weather,
    timeline: Timeline<(usize, Event)>,
    ends: Vec<Ends>,
    deeds: Deeds,
}

/// One client, and the server process that it speaks to.
struct Ends {
    client: client::Connection,
    server: server::Connection,
    config: Arc<server::Config>,
    ledger: Ledger,
    /// Which server process; what belongs to an earlier one is lost.
    process: u64,
    up: Instant,
    down: Instant,
    /// How many more bytes go down before the stream breaks.
    left: usize,
    /// A legacy server of the kind whose process ends when anything but `initialize` comes first.
    brittle: bool,
    /// The client has closed the stream.
    hung_up: bool,
}

struct At<'a>(&'a mut client::Connection, Now);

impl Caller for At<'_> {
    fn start(
        &mut self,
        call: &CallTool<'_, BTreeMap<&str, &str>>,
        options: CallOptions,
    ) -> Result<Pending<ToolReply>, CallError> {
        self.0.start(self.1, call, options)
    }

    fn take(&mut self, pending: &Pending<ToolReply>) -> Option<Result<ToolReply, CallError>> {
        self.0.take(pending)
    }

    fn listen(&mut self, wanted: SubscriptionFilter) -> Result<SubscriptionId, CallError> {
        self.0.listen(self.1, wanted)
    }

    fn relisten(&mut self, id: SubscriptionId, wanted: SubscriptionFilter) -> Result<(), CallError> {
        self.0.relisten(self.1, id, wanted)
    }

    fn unlisten(&mut self, id: SubscriptionId) {
        self.0.unlisten(self.1, id);
    }

    fn subscription(&self, id: SubscriptionId) -> Option<&Subscription> {
        self.0.subscription(id)
    }

    fn take_notice(&mut self, id: SubscriptionId) -> Option<Notice> {
        self.0.take_notice(id)
    }
}

impl Pair {
    fn new(seed: u64, weather: Weather, count: usize, agree: bool) -> Self {
        let mut rng = Rng::new(seed);
        let mut timeline = Timeline::within(200_000);
        let ends = (0..count).map(|index| {
            let era = if agree { client::EraChoice::Auto } else { choice(&mut rng) };
            let revisions = revisions(&mut rng);
            let legacy = !revisions.speak(Era::Modern);
            let config = Arc::new(tools::server(revisions));
            for _ in 0..1 + rng.below(12) {
                timeline.after(rng.millis(10_000), (index, Event::Start));
                if weather == Weather::Storm && rng.once_in(3) {
                    timeline.after(rng.millis(12_000), (index, Event::Cancel));
                }
            }
            if rng.once_in(2) {
                timeline.after(rng.millis(2_000), (index, Event::Listen));
                timeline.after(rng.millis(40_000), (index, Event::Listen));
            }
            for _ in 0..4 {
                timeline.after(rng.millis(50_000), (index, Event::Publish));
            }
            timeline.after(Duration::from_secs(60), (index, Event::Close));
            Ends {
                client: client::Connection::new(Now::default(), Arc::new(tools::client(era))),
                server: server::Connection::new(Arc::clone(&config)),
                config,
                ledger: Ledger::default(),
                process: 0,
                up: Instant::ZERO,
                down: Instant::ZERO,
                left: if weather.breaks(&mut rng, 3) { rng.below(3_000) } else { usize::MAX },
                brittle: legacy && rng.once_in(2),
                hung_up: false,
            }
        });
        let ends = ends.collect();
        Self { name: format!("s{seed}"), rng, weather, timeline, ends, deeds: Deeds::default() }
    }

    fn run(&mut self) {
        for index in 0..self.ends.len() {
            self.pump(index);
        }
        loop {
            let timeouts =
                self.ends.iter().flat_map(|ends| [ends.client.poll_timeout(), ends.server.poll_timeout()]);
            match self.timeline.next(timeouts.flatten().min()) {
                Some(Some((index, event))) => {
                    self.happen(index, event);
                    self.pump(index);
                }
                Some(None) => break,
                None => {
                    let now = self.timeline.now();
                    for index in 0..self.ends.len() {
                        self.ends[index].client.handle_timeout(now);
                        self.ends[index].server.handle_timeout(now);
                        self.pump(index);
                    }
                }
            }
        }
        let now = self.timeline.now();
        for Ends { client, ledger, .. } in &mut self.ends {
            ledger.stop_listening(&mut At(client, now));
            assert_eq!(client.subscriptions(), 0);
        }
        for ends in &self.ends {
            assert!(ends.ledger.is_empty() && ends.ledger.closed.is_some() && ends.client.is_closed());
            assert_eq!(ends.client.calls(), 0);
            assert!(ends.server.is_finished(), "the server has nothing left to do");
        }
    }

    fn happen(&mut self, index: usize, event: Event) {
        let now = self.timeline.now();
        let ends = &mut self.ends[index];
        let process = ends.process;
        // Timeouts that are none do no harm at any moment.
        if self.rng.once_in(4) {
            ends.client.handle_timeout(now);
            ends.server.handle_timeout(now);
        }
        match event {
            Event::ToServer(to, bytes) if to == process => {
                if ends.brittle && !String::from_utf8_lossy(&bytes).contains("\"initialize\"") {
                    self.timeline.after(Duration::ZERO, (index, Event::EndOfServer(process, End::Complete)));
                    ends.server.handle_end(now, End::Broken);
                }
                ends.brittle = false;
                ends.server.handle_bytes(now, &bytes);
            }
            Event::ToClient(from, bytes) if from == process => ends.client.handle_bytes(now, &bytes),
            Event::EndOfServer(from, end) if from == process => {
                ends.client.handle_end(now, end);
                if self.rng.once_in(3) {
                    // Twice, and something behind it.
                    ends.client.handle_bytes(now, b"late\n");
                    if self.weather == Weather::Storm {
                        ends.client.handle_end(now, End::Broken);
                    }
                }
            }
            Event::EndOfClient(to, end) if to == process => {
                ends.server.handle_end(now, end);
                ends.server.handle_end(now, end);
            }
            Event::Progress(to, call, progress) if to == process => {
                ends.server.progress(now, call, &server::Progress::new(progress));
            }
            Event::Respond(to, call, text) if to == process => {
                ends.server.respond(now, call, &CallToolResult::text(text));
            }
            Event::Start => {
                let name = format!("{}/{index}", self.name);
                ends.ledger.start(&mut self.rng, &name, &mut At(&mut ends.client, now));
            }
            Event::Listen => ends.ledger.listen(&mut At(&mut ends.client, now)),
            Event::Publish => ends.server.publish(now, &Change::Tools),
            Event::Cancel => {
                if let Some(call) = ends.ledger.pick(&mut self.rng) {
                    ends.client.cancel(now, call);
                }
            }
            Event::Close => ends.client.close(now),
            // Of a process that is no more.
            _ => {}
        }
    }

    /// Lets both ends say what they have to say.
    fn pump(&mut self, index: usize) {
        let now = self.timeline.now();
        let (rng, weather) = (&mut self.rng, self.weather);
        let ends = &mut self.ends[index];
        while let Some(output) = ends.client.poll_output() {
            match output {
                client::Output::Event(event) => ends.ledger.note(event, &mut At(&mut ends.client, now)),
                client::Output::Respawn { .. } => {
                    ends.server.handle_end(now, End::Broken);
                    ends.server = server::Connection::new(Arc::clone(&ends.config));
                    ends.process += 1;
                    ends.left = if weather.breaks(rng, 2) { 500 + rng.below(3_000) } else { usize::MAX };
                    ends.client.handle_respawned(now);
                }
                _ => {}
            }
        }
        while !ends.client.transmit().is_empty() {
            let taken = piece(rng, ends.client.transmit().len());
            ends.up = ends.up.max(now.mono + weather.latency(rng));
            let event = Event::ToServer(ends.process, ends.client.transmit()[..taken].to_vec());
            self.timeline.at(ends.up, (index, event));
            ends.client.advance(taken);
        }
        if ends.client.is_closed() && !ends.hung_up {
            ends.hung_up = true;
            self.timeline.at(ends.up, (index, Event::EndOfClient(ends.process, End::Complete)));
        }
        while let Some(output) = ends.server.poll_output() {
            if let server::Output::Listen(id, _) = output {
                ends.server.handle_admission(now, id, server::Admission::Granted);
            } else if let server::Output::Call(id, call) = output {
                let text = tools::text_of(&call);
                self.deeds.note(&text, &call, false);
                let mut delay = Duration::ZERO;
                for step in 0..rng.below(4) {
                    delay += rng.millis(2_000);
                    self.timeline.after(delay, (index, Event::Progress(ends.process, id, step as f64)));
                }
                // In a storm some tools never answer.
                if !weather.breaks(rng, 8) {
                    self.timeline
                        .after(delay + rng.millis(500), (index, Event::Respond(ends.process, id, text)));
                }
            }
        }
        while !ends.server.transmit().is_empty() {
            let taken = piece(rng, ends.server.transmit().len()).min(ends.left.max(1));
            let bytes = ends.server.transmit()[..taken].to_vec();
            ends.server.advance(taken);
            ends.down = ends.down.max(now.mono + weather.latency(rng));
            if ends.left == 0 {
                continue;
            }
            ends.left -= if ends.left == usize::MAX { 0 } else { bytes.len().min(ends.left) };
            self.timeline.at(ends.down, (index, Event::ToClient(ends.process, bytes)));
            if ends.left == 0 {
                self.timeline.at(ends.down, (index, Event::EndOfServer(ends.process, End::Broken)));
                self.timeline
                    .after(weather.latency(rng), (index, Event::EndOfClient(ends.process, End::Broken)));
            }
        }
    }
}

#[test]
fn in_calm_weather_every_call_succeeds_between_peers_that_agree() {
    seeds(150, |seed| {
        let mut pair = Pair::new(seed, Weather::Calm, 3, true);
        pair.run();
        for ends in &pair.ends {
            let errors: Vec<_> = ends
                .ledger
                .errors
                .iter()
                .filter(|error| !matches!(error, CallError::TimedOut { .. }))
                .collect();
            assert!(errors.is_empty(), "{errors:?}");
            assert!(ends.ledger.succeeded > 0 || !ends.ledger.errors.is_empty());
        }
    });
}

#[test]
fn in_a_storm_every_call_ends_once_and_nothing_is_left() {
    let (succeeded, failed) = (Cell::new(0), Cell::new(0));
    seeds(400, |seed| {
        let mut pair = Pair::new(seed, Weather::Storm, 4, false);
        pair.run();
        for ends in &pair.ends {
            succeeded.set(succeeded.get() + ends.ledger.succeeded);
            failed.set(failed.get() + ends.ledger.errors.len());
        }
    });
    assert!(succeeded.get() > 500 && failed.get() > 500, "a storm, and not the end of the world");
}
