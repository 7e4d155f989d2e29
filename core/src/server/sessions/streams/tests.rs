use alloc::format;
use alloc::string::{String, ToString};

use super::*;
use crate::dialect::Revision;
use crate::entropy::Seed;
use crate::model::Json;
use crate::model::capabilities::{ClientCapabilities, ElicitationCapability};
use crate::model::lifecycle::{Implementation, InitializeRequestParams};
use crate::server::sessions::SessionQuery;
use crate::server::testing::{at, limits};
use crate::time::Duration;

fn table() -> Sessions {
    Sessions::new(&limits(|limits| limits.session_idle = Duration::from_secs(10)), Seed::new([3; 32]))
}

fn open(table: &mut Sessions) -> SessionId {
    open_able(table, Revision::V2025_11_25, ClientCapabilities::new())
}

fn open_able(table: &mut Sessions, revision: Revision, capabilities: ClientCapabilities) -> SessionId {
    let client = Implementation::new("kiln", "0.3.0");
    let params = InitializeRequestParams::new("2025-11-25", capabilities, client);
    let state = SessionState::open(revision, params);
    match table.handle_query(at(0), SessionQuery::Open { state }) {
        SessionAnswer::Opened { session } => session,
        answer => panic!("{answer:?}"),
    }
}

fn exchange(number: u64) -> ExchangeId {
    ExchangeId::new(number)
}

fn listen(table: &mut Sessions, session: &SessionId, by: u64, after: Option<String>) -> SessionAnswer {
    let query = SessionQuery::Listen { session: session.clone(), exchange: exchange(by), after };
    table.handle_query(at(1), query)
}

fn listening(table: &mut Sessions, session: &SessionId, by: u64, after: Option<String>) -> Listening {
    match listen(table, session, by, after) {
        SessionAnswer::Listening(listening) => listening,
        answer => panic!("{answer:?}"),
    }
}

fn begin(table: &mut Sessions, session: &SessionId, request: i64, by: u64) -> StreamId {
    let (session, request) = (session.clone(), request.into());
    match table.handle_query(at(1), SessionQuery::Begin { session, request, exchange: exchange(by) }) {
        SessionAnswer::Begun { stream, .. } => stream,
        answer => panic!("{answer:?}"),
    }
}

fn record(table: &mut Sessions, session: &SessionId, id: EventId, message: &str, last: bool) {
    let event = Event::new(id, message.as_bytes(), last);
    table.handle_query(at(1), SessionQuery::Record { session: session.clone(), event });
}

fn texts(events: &[Event]) -> Vec<&str> {
    events.iter().map(|event| core::str::from_utf8(&event.message).unwrap()).collect()
}

/// What was delivered, and to whom; and who was closed.
fn outputs(table: &mut Sessions) -> Vec<String> {
    let outputs = core::iter::from_fn(|| table.poll_output());
    outputs
        .map(|output| match output {
            SessionOutput::Deliver { exchange, event } => {
                format!("{} {}", exchange.number(), texts(&[event])[0])
            }
            SessionOutput::Close { exchange } => format!("{} closed", exchange.number()),
            output => format!("{output:?}"),
        })
        .collect()
}

/// ELIC-19, ELIC-22: the end of an elicitation goes to the session that was asked and to no other, in the one revision
/// that has it; where nobody listens, it waits.
#[test]
fn the_end_of_an_elicitation_is_told_to_its_own_session() {
    let able =
        || ClientCapabilities::new().elicitation(ElicitationCapability::new().url(Json::empty_object()));
    let mut table = table();
    let asked = open_able(&mut table, Revision::V2025_11_25, able());
    let others = [
        open_able(&mut table, Revision::V2025_11_25, able()),
        open_able(&mut table, Revision::V2025_06_18, able()),
        open(&mut table),
    ];
    let told = |by: u64| {
        format!(
            r#"{by} {{"jsonrpc":"2.0","method":"notifications/elicitation/complete","params":{{"elicitationId":"e1"}}}}"#
        )
    };
    listening(&mut table, &asked, 1, None);
    for (other, by) in others.iter().zip(2..) {
        listening(&mut table, other, by, None);
    }
    table.complete_elicitation(at(2), &asked, "e1");
    assert_eq!(outputs(&mut table), [told(1)]);
    table.complete_elicitation(at(2), &others[1], "e1");
    table.complete_elicitation(at(2), &others[2], "e1");
    table.complete_elicitation(at(2), &SessionId::new("none"), "e1");
    assert!(outputs(&mut table).is_empty());

    let query = SessionQuery::Detach { session: asked.clone(), exchange: exchange(1) };
    table.handle_query(at(3), query);
    table.complete_elicitation(at(3), &asked, "e1");
    assert!(outputs(&mut table).is_empty());
    let missed = listening(&mut table, &asked, 9, None).missed;
    assert_eq!(texts(&missed), [&told(9)[2..]]);
}

/// HTTPL-29, HTTPL-35: once, on the stream that was opened last; before there is one, it waits.
#[test]
fn a_message_waits_for_a_stream_and_goes_out_on_one() {
    let mut table = table();
    let (session, other) = (open(&mut table), open(&mut table));
    table.send(at(1), &session, b"one");
    table.send(at(1), &session, b"two");
    // Waiting already.
    table.send(at(1), &session, b"one");
    assert_eq!(texts(&listening(&mut table, &session, 1, None).missed), ["one", "two"]);
    table.send(at(1), &session, b"three");
    table.send(at(1), &session, b"three");
    assert_eq!(outputs(&mut table), ["1 three", "1 three"]);
    assert!(listening(&mut table, &session, 2, None).missed.is_empty());
    assert!(listening(&mut table, &other, 3, None).missed.is_empty());
    table.send(at(1), &session, b"four");
    assert_eq!(outputs(&mut table), ["2 four"]);
    // The one before is still there when the newest leaves.
    table.handle_query(at(1), SessionQuery::Detach { session: session.clone(), exchange: exchange(2) });
    table.send(at(1), &session, b"five");
    assert_eq!(outputs(&mut table), ["1 five"]);
    table.handle_query(at(1), SessionQuery::Detach { session: session.clone(), exchange: exchange(1) });
    table.send(at(1), &session, b"six");
    assert_eq!(outputs(&mut table), [""; 0]);
    assert_eq!(texts(&listening(&mut table, &session, 4, None).missed), ["six"]);
}

/// HTTPL-34: the bound is reached exactly, and passed by one.
#[test]
fn streams_of_a_session_are_few() {
    let mut table = table();
    let session = open(&mut table);
    for by in 1..=4 {
        listening(&mut table, &session, by, None);
    }
    assert_eq!(outputs(&mut table), [""; 0]);
    listening(&mut table, &session, 5, None);
    assert_eq!(outputs(&mut table), ["1 closed"]);
}

/// HTTPL-40
#[test]
fn the_stream_of_a_session_goes_on_after_any_of_its_events() {
    let mut table = table();
    let session = open(&mut table);
    let first = listening(&mut table, &session, 1, None).after;
    for message in ["one", "two", "three"] {
        table.send(at(1), &session, message.as_bytes());
    }
    outputs(&mut table);
    let mut after = first;
    for (number, left) in [(0, &["one", "two", "three"][..]), (2, &["three"]), (3, &[])] {
        after.number = number;
        let listening = listening(&mut table, &session, 2 + number, Some(after.to_string()));
        assert_eq!((texts(&listening.missed).as_slice(), listening.then), (left, Then::GoesOn));
    }
    after.number = 4;
    assert!(matches!(listen(&mut table, &session, 9, Some(after.to_string())), SessionAnswer::UnknownEvent));
}

/// HTTPL-23, HTTPL-31, HTTPL-39: what a request says after its client was lost is there when that comes back.
#[test]
fn the_stream_of_a_request_goes_on_elsewhere() {
    let mut table = table();
    let session = open(&mut table);
    let stream = begin(&mut table, &session, 7, 1);
    record(&mut table, &session, EventId::new(stream, 1), "one", false);
    record(&mut table, &session, EventId::new(stream, 2), "two", false);
    let id = EventId::new(stream, 1).to_string();
    let back = listening(&mut table, &session, 2, Some(id.clone()));
    assert_eq!((texts(&back.missed).as_slice(), back.then), (&["two"][..], Then::GoesOn));
    assert_eq!(outputs(&mut table), ["1 closed"]);
    record(&mut table, &session, EventId::new(stream, 3), "three", false);
    assert_eq!(outputs(&mut table), ["2 three"]);
    // Again, from another place; what is said now goes there.
    let back = listening(&mut table, &session, 3, Some(id.clone()));
    assert_eq!(texts(&back.missed), ["two", "three"]);
    assert_eq!(outputs(&mut table), ["2 closed"]);
    record(&mut table, &session, EventId::new(stream, 4), "result", true);
    table.handle_query(
        at(1),
        SessionQuery::Finish { session: session.clone(), request: 7.into(), exchange: exchange(1) },
    );
    assert_eq!(outputs(&mut table), ["3 result"]);
    let back = listening(&mut table, &session, 4, Some(id));
    assert_eq!((texts(&back.missed).as_slice(), back.then), (&["two", "three", "result"][..], Then::Ends));
    let back = listening(&mut table, &session, 5, Some(EventId::new(stream, 4).to_string()));
    assert!(back.missed.is_empty() && back.then == Then::Ends);
}

/// A request that has said nothing yet can be waited for by the id of its priming event.
#[test]
fn a_primed_stream_goes_on_before_it_says_anything() {
    let mut table = table();
    let session = open(&mut table);
    let stream = begin(&mut table, &session, 7, 1);
    let back = listening(&mut table, &session, 2, Some(EventId::new(stream, 0).to_string()));
    assert!(back.missed.is_empty() && back.then == Then::GoesOn);
    outputs(&mut table);
    // Left again, it keeps what is said.
    table.handle_query(at(1), SessionQuery::Detach { session: session.clone(), exchange: exchange(2) });
    record(&mut table, &session, EventId::new(stream, 1), "result", true);
    assert_eq!(outputs(&mut table), [""; 0]);
    let back = listening(&mut table, &session, 3, Some(EventId::new(stream, 0).to_string()));
    assert_eq!((texts(&back.missed).as_slice(), back.then), (&["result"][..], Then::Ends));
}

/// HTTPL-41, B68
#[test]
fn nothing_is_given_to_another_session_or_for_an_id_that_is_none() {
    let mut table = table();
    let (mine, other) = (open(&mut table), open(&mut table));
    let stream = begin(&mut table, &mine, 7, 1);
    record(&mut table, &mine, EventId::new(stream, 1), "secret", false);
    table.send(at(1), &mine, b"secret");
    let own = listening(&mut table, &mine, 2, None).after;
    for id in [
        EventId::new(stream, 0).to_string(),
        own.to_string(),
        EventId::new(StreamId::of_exchange(1, exchange(1)), 0).to_string(),
        "nonsense".to_string(),
        String::new(),
    ] {
        assert!(
            matches!(listen(&mut table, &other, 3, Some(id.clone())), SessionAnswer::UnknownEvent),
            "{id}"
        );
    }
    assert!(matches!(listen(&mut table, &SessionId::new("no"), 3, None), SessionAnswer::Missing));
}

/// HTTPL-16, HTTPL-48
#[test]
fn streams_end_with_their_session() {
    let mut table = table();
    let session = open(&mut table);
    listening(&mut table, &session, 1, None);
    let stream = begin(&mut table, &session, 7, 2);
    listening(&mut table, &session, 3, Some(EventId::new(stream, 0).to_string()));
    outputs(&mut table);
    table.send(at(1), &session, b"one");
    table.handle_query(at(1), SessionQuery::End { session: session.clone() });
    let told = outputs(&mut table);
    assert!(told[0] == "1 one" && told[1].starts_with("Cancel"), "{told:?}");
    assert_eq!(told[2..], ["1 closed", "3 closed"]);
    record(&mut table, &session, EventId::new(stream, 1), "late", true);
    table.send(at(1), &session, b"late");
    assert!(outputs(&mut table).is_empty() && table.store.after(&session, stream, 0).is_none());
}

/// A session whose client listens is not idle; when it leaves, it is.
#[test]
fn a_session_with_an_open_stream_is_kept() {
    let mut table = table();
    let session = open(&mut table);
    listening(&mut table, &session, 1, None);
    table.handle_timeout(at(60_000));
    assert_eq!(table.len(), 1);
    table.handle_query(at(61_000), SessionQuery::Detach { session, exchange: exchange(1) });
    table.handle_timeout(at(70_999));
    assert_eq!(table.len(), 1);
    table.handle_timeout(at(71_000));
    assert!(table.is_empty());
}

/// Messages that nobody fetches are bounded, for each session: the bound is reached exactly, and passed by one.
#[test]
fn messages_that_wait_are_bounded() {
    let limits = limits(|limits| limits.events = 3);
    let mut table = Sessions::new(&limits, Seed::new([3; 32]));
    let session = open(&mut table);
    for message in ["one", "two", "three"] {
        table.send(at(1), &session, message.as_bytes());
    }
    assert_eq!(
        table
            .store
            .after(&session, table.open[&session].streams.own.as_ref().unwrap().stream, 0)
            .unwrap()
            .len(),
        3
    );
    table.send(at(1), &session, b"four");
    assert_eq!(texts(&listening(&mut table, &session, 1, None).missed), ["two", "three", "four"]);
}

/// A store that two tables share.
#[derive(Clone, Debug, Default)]
struct Shared(alloc::sync::Arc<std::sync::Mutex<Vec<(SessionId, Event)>>>);

impl crate::server::EventStore for Shared {
    fn append(&mut self, session: &SessionId, event: &Event) {
        self.0.lock().unwrap().push((session.clone(), event.clone()));
    }

    fn after(&mut self, session: &SessionId, stream: StreamId, number: u64) -> Option<Vec<Event>> {
        let events = self.0.lock().unwrap();
        let of_stream: Vec<_> =
            events.iter().filter(|(of, event)| of == session && event.id.stream == stream).collect();
        let after = of_stream.iter().filter(|(_, event)| event.id.number > number);
        (!of_stream.is_empty()).then(|| after.map(|(_, event)| event.clone()).collect())
    }

    fn forget(&mut self, session: &SessionId) {
        self.0.lock().unwrap().retain(|(of, _)| of != session);
    }
}

/// A request that runs behind another table is asked after again and again, until its answer is there.
#[test]
fn a_shared_store_gives_what_another_table_has_kept() {
    let store = Shared::default();
    let mut one = table().events(alloc::boxed::Box::new(store.clone()));
    let mut two = Sessions::new(&limits(|_| {}), Seed::new([4; 32])).events(alloc::boxed::Box::new(store));
    let session = open(&mut one);
    let state = one.open[&session].state.clone();
    two.restore(at(0), &session, state);
    let stream = begin(&mut one, &session, 7, 1);
    let after = || Some(EventId::new(stream, 0).to_string());
    record(&mut one, &session, EventId::new(stream, 1), "progress", false);
    let there = listening(&mut two, &session, 1, after());
    assert_eq!((texts(&there.missed).as_slice(), there.then), (&["progress"][..], Then::AskAgain));
    record(&mut one, &session, EventId::new(stream, 2), "result", true);
    let there = listening(&mut two, &session, 1, after());
    assert_eq!((texts(&there.missed).as_slice(), there.then), (&["progress", "result"][..], Then::Ends));
}

/// Numbers by chance.
struct Chance(u64);

impl Chance {
    fn below(&mut self, bound: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % bound
    }
}

/// What a table did and said under a script of chance.
fn run(seed: u64, drains: bool) -> (Vec<String>, Vec<SessionOutput>) {
    let mut chance = Chance(seed * 0x9e37_79b9 + 1);
    let mut table = table();
    let sessions = [open(&mut table), open(&mut table)];
    let (mut said, mut told) = (Vec::new(), Vec::new());
    // Of each request: its session, its stream, and how many events it has had.
    let mut requests: Vec<(usize, StreamId, u64)> = Vec::new();
    for step in 1..80 {
        let of = usize::try_from(chance.below(2)).unwrap();
        let session = sessions[of].clone();
        let query = match chance.below(8) {
            0 => {
                let stream = StreamId::of_exchange(table.table, exchange(step));
                requests.push((of, stream, 0));
                let request = i64::try_from(step).unwrap().into();
                SessionQuery::Begin { session, request, exchange: exchange(step) }
            }
            1..=3 if !requests.is_empty() => {
                let place = usize::try_from(chance.below(requests.len() as u64)).unwrap();
                let (of, stream, number) = &mut requests[place];
                *number += 1;
                let message = format!("{stream} {number}");
                let last = chance.below(6) == 0;
                let event = Event::new(EventId::new(*stream, *number), message.as_bytes(), last);
                let session = sessions[*of].clone();
                if last {
                    requests.remove(place);
                }
                SessionQuery::Record { session, event }
            }
            4 | 5 => {
                let after = match chance.below(3) {
                    0 => None,
                    _ if requests.is_empty() => Some(String::from("nothing")),
                    _ => {
                        let place = usize::try_from(chance.below(requests.len() as u64)).unwrap();
                        Some(EventId::new(requests[place].1, chance.below(3)).to_string())
                    }
                };
                SessionQuery::Listen { session, exchange: exchange(1_000 + step), after }
            }
            6 => SessionQuery::Detach { session, exchange: exchange(1_000 + chance.below(step)) },
            _ => {
                table.send(at(1), &session, format!("own {of} {step}").as_bytes());
                continue;
            }
        };
        said.push(format!("{:?}", table.handle_query(at(1), query)));
        if drains {
            table.handle_timeout(at(0));
            told.extend(core::iter::from_fn(|| table.poll_output()));
        }
    }
    told.extend(core::iter::from_fn(|| table.poll_output()));
    (said, told)
}

/// HTTPL-35, HTTPL-41: whatever happens in whatever order, each event is passed on once, those of a stream in
/// order, and an exchange hears one stream. When the table is drained makes no difference, and a replay none.
#[test]
fn each_event_is_passed_on_once_and_in_order() {
    let mut delivered = 0;
    for seed in 1..400 {
        let (said, told) = run(seed, true);
        assert!((&said, &told) == (&run(seed, false).0, &run(seed, false).1), "seed {seed}");
        let mut last = alloc::collections::BTreeMap::new();
        let mut heard = alloc::collections::BTreeMap::new();
        for output in told {
            let SessionOutput::Deliver { exchange, event } = output else { continue };
            delivered += 1;
            let before = last.insert(event.id.stream, event.id.number);
            assert!(before.is_none_or(|before| before < event.id.number), "seed {seed}: {event:?}");
            let stream = *heard.entry(exchange).or_insert(event.id.stream);
            assert_eq!(stream, event.id.stream, "seed {seed}: one exchange, two streams");
        }
    }
    assert!(delivered > 500, "{delivered}");
}
