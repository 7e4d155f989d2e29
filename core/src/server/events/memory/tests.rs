use alloc::string::ToString;

use super::*;
use crate::server::events::EventId;
use crate::server::exchange::ExchangeId;
use crate::server::testing::limits;

fn store(events: usize, bytes: usize, all: usize) -> MemoryEvents {
    MemoryEvents::new(&limits(|limits| {
        (limits.events, limits.event_bytes, limits.all_event_bytes) = (events, bytes, all);
    }))
}

fn stream(number: u64) -> StreamId {
    StreamId::of_exchange(7, ExchangeId::new(number))
}

fn event(of: StreamId, number: u64, message: &str) -> Event {
    Event::new(EventId::new(of, number), message.as_bytes(), false)
}

fn numbers(store: &mut MemoryEvents, session: &str, of: StreamId, after: u64) -> Option<Vec<u64>> {
    let events = store.after(&SessionId::new(session), of, after)?;
    Some(events.iter().map(|event| event.id.number).collect())
}

/// HTTPL-41, B68
#[test]
fn only_the_events_of_one_stream_of_one_session_are_given_out() {
    let mut store = store(10, 10_000, 10_000);
    let (mine, other) = (SessionId::new("mine"), SessionId::new("other"));
    for number in 1..=3 {
        store.append(&mine, &event(stream(1), number, "a"));
        store.append(&mine, &event(stream(2), number, "b"));
    }
    store.append(&other, &event(stream(3), 1, "c"));
    assert_eq!(numbers(&mut store, "mine", stream(1), 1), Some(alloc::vec![2, 3]));
    assert_eq!(numbers(&mut store, "mine", stream(2), 3), Some(alloc::vec![]));
    assert_eq!(numbers(&mut store, "mine", stream(3), 0), None);
    assert_eq!(numbers(&mut store, "other", stream(1), 0), None);
    store.forget(&mine);
    assert_eq!(numbers(&mut store, "mine", stream(1), 0), None);
    assert_eq!(numbers(&mut store, "other", stream(3), 0), Some(alloc::vec![1]));
    store.forget(&other);
    assert!(store.bytes() == 0 && store.events.is_empty() && store.sessions.is_empty());
}

/// Each bound is reached exactly, and passed by one.
#[test]
fn the_oldest_events_give_way() {
    let session = SessionId::new("s");
    let mut by_count = store(3, 10_000, 10_000);
    let mut by_bytes = store(100, 3 * (EACH + 1), 10_000);
    for number in 1..=3 {
        by_count.append(&session, &event(stream(1), number, "x"));
        by_bytes.append(&session, &event(stream(1), number, "x"));
    }
    for store in [&mut by_count, &mut by_bytes] {
        assert_eq!(numbers(store, "s", stream(1), 0), Some(alloc::vec![1, 2, 3]));
        store.append(&session, &event(stream(1), 4, "x"));
        assert_eq!(numbers(store, "s", stream(1), 0), Some(alloc::vec![2, 3, 4]));
    }
    // One that could never fit pushes nothing out.
    by_bytes.append(&session, &event(stream(1), 5, &"x".repeat(3 * EACH)));
    assert_eq!(by_bytes.bytes(), 3 * (EACH + 1));
    by_bytes.append(&session, &event(stream(1), 5, &"x".repeat(2 * EACH)));
    assert_eq!(numbers(&mut by_bytes, "s", stream(1), 0), Some(alloc::vec![5]));
}

#[test]
fn all_sessions_together_are_bounded() {
    let mut store = store(10, 10_000, 3 * (EACH + 1));
    for (session, number) in [("a", 1), ("b", 1), ("a", 2)] {
        store.append(&SessionId::new(session), &event(stream(1), number, "x"));
    }
    store.append(&SessionId::new("c"), &event(stream(1), 1, "x"));
    assert_eq!(numbers(&mut store, "a", stream(1), 0), Some(alloc::vec![2]));
    store.append(&SessionId::new("c"), &event(stream(1), 2, "x"));
    assert_eq!(numbers(&mut store, "b", stream(1), 0), None);
    assert_eq!((store.sessions.len(), store.bytes()), (2, 3 * (EACH + 1)));
}

/// HTTPL-37, HTTPL-38
#[test]
fn the_id_of_an_event_names_its_stream_and_is_read_back() {
    let ids = [
        EventId::new(stream(12), 0),
        EventId::new(StreamId::of_session(u32::MAX, 3), u64::MAX),
        EventId::new(StreamId::of_exchange(0, ExchangeId::new(u64::MAX)), u64::MAX),
    ];
    for id in ids {
        let text = id.to_string();
        assert!(text.len() <= 50 && text.bytes().all(|byte| byte.is_ascii_graphic()), "{text}");
        assert_eq!(EventId::parse(&text), Some(id));
    }
    assert_eq!(ids[0].to_string(), "00000007.12.0");
    for text in
        ["", "7.12.0", "00000007.12", "00000007.12.0.0", "00000007.+12.0", "0000000A.1.1", "x", "..", "é"]
    {
        assert_eq!(EventId::parse(text), None, "{text}");
    }
}

/// What waits on the stream of a session is found by what it says, for as long as it is kept.
#[test]
fn a_message_that_waits_is_known() {
    let session = SessionId::new("s");
    let mut store = store(2, 10_000, 10_000);
    let own = StreamId::of_session(7, 1);
    let repeats = |store: &mut MemoryEvents, number, message: &str| {
        let by_all = store.after(&session, own, number).unwrap_or_default();
        let known = store.repeats(&session, own, number, message.as_bytes());
        assert_eq!(known, by_all.iter().any(|event| *event.message == *message.as_bytes()), "{message}");
        known
    };
    store.append(&session, &event(own, 1, "a"));
    store.append(&session, &event(own, 2, "b"));
    assert!(repeats(&mut store, 0, "a") && repeats(&mut store, 1, "b") && !repeats(&mut store, 1, "a"));
    assert!(!store.repeats(&SessionId::new("other"), own, 0, b"a"));
    assert!(!store.repeats(&session, StreamId::of_session(7, 2), 0, b"a"));
    // Said again, it is known by its last place, also when the first one has given way.
    store.append(&session, &event(own, 3, "b"));
    assert!(!repeats(&mut store, 0, "a") && repeats(&mut store, 2, "b"));
    store.append(&session, &event(own, 4, "c"));
    assert!(repeats(&mut store, 0, "b"));
    store.append(&session, &event(own, 5, "c"));
    assert!(!repeats(&mut store, 0, "b") && repeats(&mut store, 4, "c"));
    store.append(&session, &event(stream(1), 1, "d"));
    assert!(!store.repeats(&session, stream(1), 0, b"d"), "only what is said on the stream of a session");
    store.forget(&session);
    assert!(!repeats(&mut store, 0, "c"));
}
