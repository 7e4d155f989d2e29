//! What a server holds for 10,000 legacy sessions with their streams and for 10,000 modern clients that listen, all
//! of them in one process and on a virtual clock, while nothing happens and when something changes for everybody.

use std::alloc::System;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use mcp_proto::entropy::Seed;
use mcp_proto::head::{End, RequestHead};
use mcp_proto::limits::Limits;
use mcp_proto::model::{Implementation, Json, Resource, Tool};
use mcp_proto::server::{
    Admission, Change, Config, Exchange, ExchangeId, ExchangeOutput, ListChanges, Listeners, Resources,
    SessionId, SessionOutput, Sessions, Tools,
};
use mcp_proto::time::{Instant, Now};
use stats_alloc::{INSTRUMENTED_SYSTEM, Region, StatsAlloc};

#[global_allocator]
static ALLOCATOR: &StatsAlloc<System> = &INSTRUMENTED_SYSTEM;

/// Sessions, and modern clients.
const COUNT: usize = 10_000;
/// Bytes that may be held for one session, for its stream, and for one modern client.
const EACH: usize = 4 << 10;

const INITIALIZE: &str = r#"{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{"roots":{"listChanged":true},"sampling":{},"elicitation":{}},"clientInfo":{"name":"a client of an ordinary name","version":"1.20.300"}}}"#;
const INITIALIZED: &str = r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#;
const LISTEN: &str = r#"{"jsonrpc":"2.0","id":"listen-1","method":"subscriptions/listen","params":{"notifications":{"toolsListChanged":true,"promptsListChanged":true,"resourcesListChanged":true,"resourceSubscriptions":["kiln://state"]},"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{"name":"a-client","title":"A client","version":"1.2.3"},"io.modelcontextprotocol/clientCapabilities":{"elicitation":{},"sampling":{}}}}}"#;

fn at(seconds: u64) -> Now {
    Now::new(Instant::new(Duration::from_secs(seconds)), Duration::from_secs(1_800_000_000 + seconds))
}

fn config() -> Arc<Config> {
    let (mut tools, mut resources) = (Tools::new(), Resources::new());
    tools.insert(Tool::new("fire", Json::parse(r#"{"type":"object"}"#).unwrap())).unwrap();
    resources.insert(Resource::new("kiln://state", "state")).unwrap();
    let config = Config::new(Implementation::new("kiln", "1.0.0")).tools(tools).resources(resources);
    let mut limits = Limits::default();
    limits.listens = COUNT;
    Arc::new(config.changes(ListChanges::ALL).subscriptions(true).limits(limits))
}

fn head(method: &str, fields: &[(&str, &str)]) -> RequestHead {
    let mut head = RequestHead::new(method, "/mcp");
    let common = [
        ("Host", "localhost:8000"),
        ("Content-Type", "application/json"),
        ("Accept", "application/json, text/event-stream"),
        ("User-Agent", "a client of an ordinary name/1.20.300 (some system; some version)"),
    ];
    for (name, value) in common.iter().chain(fields) {
        head.headers.push(name, value);
    }
    head
}

/// A server as far as its exchanges share it.
struct Server {
    config: Arc<Config>,
    sessions: Sessions,
    listeners: Listeners,
    exchanges: u64,
}

impl Server {
    /// Sends a whole request, and takes what comes of it at once: the exchange, and the session that it named.
    fn ask(&mut self, now: Now, head: RequestHead, body: &str) -> (ExchangeId, Exchange, Option<SessionId>) {
        self.exchanges += 1;
        let id = ExchangeId::new(self.exchanges);
        let mut exchange = Exchange::new(now, id, Arc::clone(&self.config), head);
        exchange.handle_body(now, body.as_bytes());
        exchange.handle_end(now, End::Complete);
        let named = self.drive(now, id, &mut exchange);
        (id, exchange, named)
    }

    fn drive(&mut self, now: Now, id: ExchangeId, exchange: &mut Exchange) -> Option<SessionId> {
        let mut named = None;
        loop {
            match exchange.poll_output() {
                Some(ExchangeOutput::Session(query, asked)) => {
                    let answer = self.sessions.handle_query(now, asked);
                    exchange.handle_session(now, query, answer);
                }
                Some(ExchangeOutput::Listen(listen)) => {
                    let admission = self.listeners.admit(id, listen.wanted);
                    assert_eq!(admission, Admission::Granted);
                    exchange.handle_admission(now, admission);
                }
                Some(ExchangeOutput::Head(head, _)) => {
                    named = head.headers.text("mcp-session-id").map(SessionId::new).or(named);
                }
                Some(_) => {}
                None if take(exchange) == 0 => return named,
                None => {}
            }
        }
    }
}

/// Everything that there is of the body.
fn take(exchange: &mut Exchange) -> usize {
    let sent = exchange.transmit().len();
    exchange.advance(sent);
    sent
}

/// Bytes that `make` leaves behind with what it returns.
fn held<T>(make: impl FnOnce() -> T) -> (T, isize) {
    let region = Region::new(ALLOCATOR);
    let made = make();
    let change = region.change();
    (made, change.bytes_allocated as isize - change.bytes_deallocated as isize)
}

#[track_caller]
fn report(what: &str, bytes: isize) {
    let each = usize::try_from(bytes.max(0)).unwrap() / COUNT;
    println!("{each} bytes for {what}");
    assert!(each < EACH, "{each} bytes for {what}");
}

type Open = BTreeMap<ExchangeId, Exchange>;

/// A change is told to every stream, and what is told is the same message once.
fn publish(server: &mut Server, now: Now, streams: &mut Open, listens: &mut Open) {
    let config = Arc::clone(&server.config);
    server.sessions.publish(now, &config, &Change::Tools);
    let mut told = 0;
    while let Some(output) = server.sessions.poll_output() {
        if let SessionOutput::Deliver { exchange, event } = output {
            let stream = streams.get_mut(&exchange).unwrap();
            stream.handle_delivery(now, &event);
            assert!(take(stream) > 0 && stream.poll_output().is_none());
            told += 1;
        }
    }
    assert_eq!(told, streams.len());
    let listening = server.listeners.told(&Change::Tools);
    assert_eq!(listening.len(), listens.len());
    for id in listening {
        let listen = listens.get_mut(&id).unwrap();
        listen.publish(now, &Change::Tools);
        assert!(take(listen) > 0 && listen.poll_output().is_none());
    }
}

/// Limits::sessions, Limits::listens: what their documentation says that each of them costs. One test, because the
/// allocator is shared: sessions, a stream for each, modern clients beside them; a change that is told to all, and
/// some minutes of silence; at last all of them leave, and nothing is left of them.
#[test]
fn twenty_thousand_idle_clients_hold_little_and_are_all_told_of_a_change() {
    let config = config();
    let mut server = Server {
        sessions: Sessions::new(&config.limits, Seed::new([7; 32])),
        listeners: Listeners::new(&config.limits),
        config,
        exchanges: 0,
    };

    let (names, sessions) = held(|| {
        let open = |_| {
            let (.., named) = server.ask(at(1), head("POST", &[]), INITIALIZE);
            let name = named.unwrap();
            server.ask(at(1), head("POST", &[("Mcp-Session-Id", name.as_str())]), INITIALIZED);
            name
        };
        (0..COUNT).map(open).collect::<Vec<_>>()
    });
    assert_eq!(server.sessions.len(), COUNT);
    report("an idle session", sessions);

    // Without a stream a change waits, once however often it comes.
    let ((), waiting) = held(|| {
        for _ in 0..3 {
            server.sessions.publish(at(1), &Arc::clone(&server.config), &Change::Tools);
        }
    });
    assert!(server.sessions.poll_output().is_none());
    report("an idle session that a change waits for", sessions + waiting);

    let (mut streams, bytes) = held(|| {
        let open = |name: &SessionId| {
            let (id, stream, _) = server.ask(at(2), head("GET", &[("Mcp-Session-Id", name.as_str())]), "");
            assert!(stream.poll_timeout().is_some());
            (id, stream)
        };
        names.iter().map(open).collect::<Open>()
    });
    report("an idle stream of a session", bytes);

    let modern = [("MCP-Protocol-Version", "2026-07-28"), ("Mcp-Method", "subscriptions/listen")];
    let (mut listens, each) = held(|| {
        let listen = |_| {
            let (id, exchange, _) = server.ask(at(2), head("POST", &modern), LISTEN);
            (id, exchange)
        };
        (0..COUNT).map(listen).collect::<Open>()
    });
    report("an idle stream of changes", each);

    // Some minutes: a sign of life every 15 seconds, and a change now and then.
    let ((), grown) = held(|| {
        for second in (17..150).step_by(15) {
            if second % 2 == 0 {
                publish(&mut server, at(second), &mut streams, &mut listens);
            }
            for exchange in streams.values_mut().chain(listens.values_mut()) {
                exchange.handle_timeout(at(second));
                take(exchange);
                assert!(exchange.poll_output().is_none());
            }
        }
    });
    let all = sessions + waiting + bytes + each + grown;
    println!("{} MiB for all of them", all >> 20);
    report("a session, its stream and a stream of changes after some minutes, by three", all / 3);

    // Nobody is idle who listens.
    server.sessions.handle_timeout(at(100_000));
    assert_eq!(server.sessions.len(), COUNT);
    let refreshed = std::iter::from_fn(|| server.sessions.poll_output());
    let refreshed = refreshed.filter(|output| matches!(output, SessionOutput::Refresh { .. }));
    assert_eq!(refreshed.count(), COUNT);
    for (id, stream) in &mut streams {
        stream.handle_abort(at(100_000));
        server.drive(at(100_000), *id, stream);
    }
    server.sessions.handle_timeout(at(200_000));
    assert!(server.sessions.is_empty() && server.sessions.poll_timeout().is_none());
    assert!(server.sessions.poll_output().is_none());
    for (id, listen) in &mut listens {
        listen.shutdown(at(200_000));
        assert!(take(listen) > 0 && matches!(listen.poll_output(), Some(ExchangeOutput::End)));
        server.listeners.remove(*id);
    }
    assert!(server.listeners.is_empty());
}
