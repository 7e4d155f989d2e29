//! Sessions that live in a store besides, step by step: what several requests and several processes do to one
//! session at the same time, and stores that fail in every way.

use std::collections::BTreeMap;
use std::future::poll_fn;
use std::sync::{Arc, Mutex};
use std::task::{Poll, Waker};
use std::time::Duration;

use mcp_driver::{
    BoxFuture, Context, HttpService, Limits, Registry, Resource, Runtime, Saved, Server, SessionId,
    SessionState, SessionStore, StoreError, Tool,
};
use mcp_tests::stage::{Carried, Stage, head};
use schemars::JsonSchema;
use serde::Deserialize;

#[derive(Deserialize, JsonSchema)]
struct Nothing {}

/// A store whose every answer comes later: at once when somebody looks again, or, while it holds its answers, when
/// the test lets it. What a load answers was read when it was asked for; what is saved is saved with the answer.
#[derive(Clone)]
struct Shelf(Arc<Mutex<Kept>>, Stage);

#[derive(Default)]
struct Kept {
    sessions: BTreeMap<String, Copy>,
    holds: bool,
    held: Vec<(&'static str, Slot)>,
    loads: usize,
    panics: bool,
}

#[derive(Clone)]
struct Copy {
    text: String,
    used: Duration,
}

/// An answer that is held: whether it was let go, and who waits for it.
type Slot = Arc<Mutex<(bool, Option<Waker>)>>;

const IDLE: Duration = Duration::from_secs(30 * 60);

impl Shelf {
    fn new(stage: &Stage) -> Self {
        Self(Arc::default(), stage.clone())
    }

    fn kept(&self) -> std::sync::MutexGuard<'_, Kept> {
        self.0.lock().unwrap()
    }

    /// From now on answers wait to be let go.
    fn hold(&self) {
        self.kept().holds = true;
    }

    /// Lets the first answer of this kind go that is held.
    #[track_caller]
    fn let_go(&self, what: &str) {
        let mut kept = self.kept();
        let kinds: Vec<_> = kept.held.iter().map(|(kind, _)| *kind).collect();
        let place = kinds.iter().position(|kind| *kind == what);
        let (_, slot) = kept.held.remove(place.unwrap_or_else(|| panic!("no `{what}` among {kinds:?}")));
        drop(kept);
        let waker = {
            let mut slot = slot.lock().unwrap();
            slot.0 = true;
            slot.1.take()
        };
        if let Some(waker) = waker {
            waker.wake();
        }
        self.1.run();
    }

    /// Lets everything go, also what comes.
    fn let_all_go(&self) {
        self.kept().holds = false;
        while let Some(kind) = self.first() {
            self.let_go(kind);
        }
        self.1.run();
    }

    fn first(&self) -> Option<&'static str> {
        self.kept().held.first().map(|(kind, _)| *kind)
    }

    fn later<T: Send + 'static>(
        &self,
        what: &'static str,
        act: impl FnOnce(&mut Kept, Duration) -> T + Send + 'static,
    ) -> BoxFuture<Result<T, StoreError>> {
        assert!(!self.kept().panics, "as asked");
        let slot = Slot::default();
        let holds = self.kept().holds;
        if holds {
            self.kept().held.push((what, slot.clone()));
        }
        let (shelf, mut act, mut waited) = (self.clone(), Some(act), false);
        Box::pin(poll_fn(move |cx| {
            let mut slot = slot.lock().unwrap();
            if !slot.0 && (holds || !std::mem::replace(&mut waited, true)) {
                slot.1 = Some(cx.waker().clone());
                if !holds {
                    cx.waker().wake_by_ref();
                }
                return Poll::Pending;
            }
            let now = shelf.1.now().mono.since_epoch();
            Poll::Ready(Ok(act.take().unwrap()(&mut shelf.kept(), now)))
        }))
    }

    fn only(&self) -> String {
        let kept = self.kept();
        assert_eq!(kept.sessions.len(), 1);
        kept.sessions.values().next().unwrap().text.clone()
    }
}

impl SessionStore for Shelf {
    fn load(&self, session: &SessionId) -> BoxFuture<Result<Option<SessionState>, StoreError>> {
        let now = self.1.now().mono.since_epoch();
        let found = {
            let mut kept = self.kept();
            kept.loads += 1;
            kept.sessions.retain(|_, copy| copy.used + IDLE > now);
            kept.sessions.get_mut(session.as_str()).map(|copy| {
                copy.used = now;
                copy.text.clone()
            })
        };
        self.later("load", move |_, _| found.map(|text| serde_json::from_str(&text).unwrap()))
    }

    fn save(
        &self,
        session: &SessionId,
        expected: Option<u64>,
        state: &SessionState,
    ) -> BoxFuture<Result<Saved, StoreError>> {
        let (session, text) = (session.as_str().to_owned(), serde_json::to_string(state).unwrap());
        self.later("save", move |kept, used| {
            let before = kept.sessions.get(&session).map(|copy| {
                let before: SessionState = serde_json::from_str(&copy.text).unwrap();
                before.changes
            });
            if before != expected {
                return Saved::Conflict;
            }
            kept.sessions.insert(session, Copy { text, used });
            Saved::Kept
        })
    }

    fn remove(&self, session: &SessionId) -> BoxFuture<Result<(), StoreError>> {
        let session = session.as_str().to_owned();
        self.later("remove", move |kept, _| drop(kept.sessions.remove(&session)))
    }
}

/// One process of a server, with the store behind it.
struct Process {
    stage: Stage,
    service: Arc<HttpService<Stage>>,
    registry: Registry,
}

fn process(stage: &Stage, shelf: &Shelf) -> Process {
    bounded(stage, shelf, Limits::default())
}

fn bounded(stage: &Stage, shelf: &Shelf, limits: Limits) -> Process {
    let server = Server::new("kiln", "1.0.0")
        .runtime(stage.clone())
        .limits(limits)
        .session_store(shelf.clone())
        .logging()
        .resource(Resource::new("kiln://a", "a"), "a")
        .resource(Resource::new("kiln://b", "b"), "b")
        .tool(Tool::new("pass"), async |_: Nothing, _: Context| Ok("passed"))
        .tool(Tool::new("wait"), async |_: Nothing, _: Context| {
            std::future::pending::<()>().await;
            Ok("never")
        });
    let registry = server.registry();
    Process { stage: stage.clone(), service: server.into_http_service().unwrap(), registry }
}

/// A process that has its store to itself, and a session that was opened in it.
fn alone(version: &str) -> (Stage, Shelf, Process, String) {
    let stage = Stage::default();
    let shelf = Shelf::new(&stage);
    let process = process(&stage, &shelf);
    let session = process.open(version);
    (stage, shelf, process, session)
}

impl Process {
    /// Sends a request of the session, which may have to wait.
    fn send(&self, session: &str, body: &str) -> Carried {
        Carried::send(&self.service, head("POST", &[("Mcp-Session-Id", session)]), body)
    }

    fn bare(&self, method: &str, session: &str) -> Carried {
        Carried::send(&self.service, head(method, &[("Mcp-Session-Id", session)]), "")
    }

    /// The status of the answer to a request of the session.
    fn status(&self, session: &str, body: &str) -> Option<u16> {
        let mut sent = self.send(session, body);
        self.stage.run();
        sent.status()
    }

    /// Opens a session and says that its client is ready.
    fn open(&self, version: &str) -> String {
        let body = INITIALIZE.replace("2025-11-25", version);
        let mut opened = Carried::send(&self.service, head("POST", &[]), &body);
        self.stage.run();
        assert_eq!(opened.status(), Some(200), "{}", opened.body());
        let session = opened.field("mcp-session-id");
        assert_eq!(self.status(&session, INITIALIZED), Some(202));
        session
    }
}

const V: &str = "2025-11-25";
const INITIALIZE: &str = r#"{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"c","version":"1"}}}"#;
const INITIALIZED: &str = r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#;
const PING: &str = r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#;
const LEVEL: &str = r#"{"jsonrpc":"2.0","id":2,"method":"logging/setLevel","params":{"level":"error"}}"#;

fn subscribe(uri: &str) -> String {
    format!(r#"{{"jsonrpc":"2.0","id":"{uri}","method":"resources/subscribe","params":{{"uri":"{uri}"}}}}"#)
}

fn call(tool: &str) -> String {
    format!(r#"{{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{{"name":"{tool}"}}}}"#)
}

/// SUBL-02, SUBL-04: a client that subscribes to several resources at once hears of all of them, in whatever order
/// its requests get to the store, and whatever only reads the session meanwhile.
#[test]
fn changes_of_one_session_at_the_same_time_are_all_kept() {
    let (stage, shelf, process, session) = alone(V);
    let mut stream = process.bare("GET", &session);
    stage.run();
    shelf.hold();
    let (mut reads, mut a) = (process.send(&session, PING), process.send(&session, &subscribe("kiln://a")));
    let (mut b, mut level) = (process.send(&session, &subscribe("kiln://b")), process.send(&session, LEVEL));
    // Each of the three changes loads and saves; the first load of all comes back last.
    shelf.kept().held.rotate_left(1);
    shelf.let_all_go();
    for sent in [&mut reads, &mut a, &mut b, &mut level] {
        assert_eq!(sent.status(), Some(200), "{}", sent.body());
    }
    assert!(shelf.only().contains(r#""watched":["kiln://a","kiln://b"]"#), "{}", shelf.only());
    assert!(shelf.only().contains(r#""level":"error""#) && shelf.only().contains(r#""changes":4"#));
    for uri in ["kiln://a", "kiln://b"] {
        process.registry.resource_updated(uri);
        stage.run();
        assert!(stream.body().contains(uri), "{}", stream.body());
    }
}

/// A request that only reads does not bring an older state back: neither that the client is not ready, nor what it
/// watched before.
#[test]
fn what_was_loaded_before_a_change_does_not_undo_it() {
    let (stage, shelf, process, session) = alone(V);
    let mut stream = process.bare("GET", &session);
    stage.run();
    shelf.hold();
    let mut reads = process.send(&session, PING);
    let mut subscribed = process.send(&session, &subscribe("kiln://a"));
    shelf.kept().held.swap(0, 1);
    shelf.let_go("load");
    shelf.let_go("save");
    assert_eq!((subscribed.status(), reads.status()), (Some(200), None));
    shelf.let_all_go();
    assert_eq!(reads.status(), Some(200));
    process.registry.resource_updated("kiln://a");
    stage.run();
    assert!(stream.body().contains("kiln://a"), "{}", stream.body());
}

/// Two processes change a session at the same time: whoever comes second makes its change again.
#[test]
fn changes_of_two_processes_are_both_kept() {
    let stage = Stage::default();
    let shelf = Shelf::new(&stage);
    let (one, two) = (process(&stage, &shelf), process(&stage, &shelf));
    let session = one.open(V);
    shelf.hold();
    let mut a = one.send(&session, &subscribe("kiln://a"));
    let mut b = two.send(&session, &subscribe("kiln://b"));
    shelf.let_go("load");
    shelf.let_go("load");
    shelf.let_go("save");
    assert_eq!((a.status(), b.status()), (Some(200), None));
    // The other one is refused, and has to look again.
    shelf.let_go("save");
    assert_eq!(b.status(), None);
    shelf.let_all_go();
    assert_eq!(b.status(), Some(200));
    assert!(shelf.only().contains(r#""watched":["kiln://a","kiln://b"]"#), "{}", shelf.only());
    // Each of them has what the other one did, as soon as it is asked.
    for process in [&one, &two] {
        let mut stream = process.bare("GET", &session);
        stage.run();
        process.registry.resource_updated("kiln://a");
        process.registry.resource_updated("kiln://b");
        stage.run();
        let body = stream.body();
        assert!(body.contains("kiln://a") && body.contains("kiln://b"), "{body}");
    }
}

/// HTTPL-49: a session that has ended is not there any more, for no request that looked for it before, and nothing
/// that such a request keeps brings it back.
#[test]
fn a_session_that_has_ended_is_not_served_again() {
    for other in [false, true] {
        let stage = Stage::default();
        let shelf = Shelf::new(&stage);
        let (one, two) = (process(&stage, &shelf), process(&stage, &shelf));
        let session = one.open(V);
        let ends = if other { &two } else { &one };
        assert_eq!(ends.status(&session, PING), Some(200));
        shelf.hold();
        let (mut reads, mut calls) = (one.send(&session, PING), one.send(&session, &call("pass")));
        let mut ended = ends.bare("DELETE", &session);
        // The load of whoever ends it comes back first, those of the others after the end.
        shelf.kept().held.rotate_right(1);
        shelf.let_go("load");
        let mut changes = one.send(&session, LEVEL);
        if other {
            // In another process there is no telling; that a change was kept would bring the session back.
            let held = shelf.kept().held.len();
            shelf.kept().held.swap(0, held - 1);
            shelf.let_go("load");
        }
        shelf.let_go("remove");
        assert_eq!(ended.status(), Some(204), "{other}");
        shelf.let_all_go();
        assert_eq!(changes.status(), Some(404), "{other}: {}", changes.body());
        if !other {
            assert_eq!((reads.status(), calls.status()), (Some(404), Some(404)));
            assert_eq!(one.service.session_count(), 0);
        }
        assert!(shelf.kept().sessions.is_empty());
        for process in [&one, &two] {
            assert_eq!(process.status(&session, PING), Some(404), "{other}");
            assert_eq!(process.service.session_count(), 0, "{other}");
        }
    }
}

/// RPC-26: the messages of a batch change a session in their order.
#[test]
fn a_batch_changes_a_session_in_its_order() {
    let (_, shelf, process, session) = alone("2025-03-26");
    let unsubscribe = subscribe("kiln://a").replace("subscribe", "unsubscribe");
    for (batch, watched) in [
        (format!("[{},{unsubscribe}]", subscribe("kiln://a")), false),
        (format!("[{unsubscribe},{}]", subscribe("kiln://a")), true),
    ] {
        shelf.hold();
        let mut sent = process.send(&session, &batch);
        shelf.kept().held.reverse();
        shelf.let_all_go();
        assert_eq!(sent.status(), Some(200));
        assert_eq!(shelf.only().contains("kiln://a"), watched, "{batch}");
    }
}

/// Limits::session_answer: a store that does not answer holds nobody for ever, nor those who come after it has
/// recovered; nothing that it says later is done for a client that was told otherwise.
#[test]
fn a_store_that_does_not_answer_is_given_up() {
    let (stage, shelf, process, session) = alone(V);
    shelf.hold();
    let mut sent: Vec<_> =
        [PING, LEVEL, &subscribe("kiln://a"), &call("pass")].map(|body| process.send(&session, body)).into();
    sent.push(process.bare("GET", &session));
    sent.push(Carried::send(&process.service, head("POST", &[]), INITIALIZE));
    stage.advance(Duration::from_millis(29_999));
    sent.iter_mut().for_each(|sent| sent.tick(&stage));
    assert!(sent.iter_mut().all(|sent| sent.status().is_none()));
    stage.advance(Duration::from_millis(1));
    for sent in &mut sent {
        sent.tick(&stage);
        assert_eq!(sent.status(), Some(503), "{}", sent.body());
    }
    // What was to begin is not there, either: it would hold its place until it had been idle for long enough.
    assert_eq!(process.service.session_count(), 1);
    drop(sent);
    shelf.let_all_go();
    assert_eq!(process.status(&session, LEVEL), Some(200));
    assert_eq!(process.status(&session, &call("pass")), Some(200));
    assert!(shelf.only().contains(r#""changes":2"#), "{}", shelf.only());
}

/// A runtime that drops what waits for the store, and a store that panics, leave nobody without an answer.
#[test]
fn a_question_to_the_store_that_is_dropped_is_answered() {
    let (stage, shelf, process, session) = alone(V);
    shelf.kept().panics = true;
    assert_eq!(process.status(&session, PING), Some(503));
    let begin = || {
        let mut opened = Carried::send(&process.service, head("POST", &[]), INITIALIZE);
        stage.run();
        opened.status()
    };
    assert_eq!((begin(), process.service.session_count()), (Some(503), 1));
    shelf.kept().panics = false;
    assert_eq!(process.status(&session, LEVEL), Some(200));
    stage.refuse();
    for body in [PING, LEVEL, &call("pass")] {
        assert_eq!(process.status(&session, body), Some(503), "{body}");
    }
    assert_eq!((begin(), process.service.session_count()), (Some(503), 1));
}

/// Limits::in_flight, Limits::accepted: so many requests of a session wait for the store at one time, and so many of
/// all; whoever comes next is refused at once, and nobody is when it has answered.
#[test]
fn so_many_wait_for_the_store() {
    let stage = Stage::default();
    let shelf = Shelf::new(&stage);
    let mut limits = Limits::default();
    (limits.in_flight, limits.accepted) = (3, 4);
    let process = bounded(&stage, &shelf, limits);
    let (one, other) = (process.open(V), process.open(V));
    shelf.hold();
    let mut waiting: Vec<_> =
        [PING, LEVEL, &subscribe("kiln://a")].map(|body| process.send(&one, body)).into();
    let mut refused = vec![process.send(&one, PING)];
    waiting.push(process.send(&other, LEVEL));
    refused.push(process.send(&other, PING));
    refused.push(process.bare("DELETE", &other));
    refused.push(Carried::send(&process.service, head("POST", &[]), INITIALIZE));
    stage.run();
    for refused in &mut refused {
        assert_eq!(refused.status(), Some(503), "{}", refused.body());
    }
    assert!(waiting.iter_mut().all(|waiting| waiting.status().is_none()));
    assert_eq!(process.service.session_count(), 2);
    shelf.let_all_go();
    for waiting in &mut waiting {
        assert_eq!(waiting.status(), Some(200), "{}", waiting.body());
    }
    assert_eq!((process.status(&one, PING), process.status(&other, PING)), (Some(200), Some(200)));
    process.open(V);
}

/// HTTPL-23: a request that only asks is given up with its connection, and takes nobody's place while the store
/// says nothing. What a client wanted done is.
#[test]
fn who_is_gone_does_not_wait_for_the_store() {
    let stage = Stage::default();
    let shelf = Shelf::new(&stage);
    let mut limits = Limits::default();
    (limits.in_flight, limits.accepted) = (3, 4);
    let process = bounded(&stage, &shelf, limits);
    let session = process.open(V);
    shelf.hold();
    for carried in [process.send(&session, LEVEL), process.send(&session, &subscribe("kiln://a"))] {
        carried.exchange.handle_abort();
    }
    for _ in 0..10 {
        for asks in [process.send(&session, PING), process.bare("GET", &session)] {
            asks.exchange.handle_abort();
            drop(asks);
            stage.run();
        }
    }
    let mut asks = process.send(&session, PING);
    stage.run();
    assert_eq!(asks.status(), None, "{}", asks.body());
    shelf.let_all_go();
    assert_eq!(asks.status(), Some(200));
    assert!(
        shelf.only().contains(r#""level":"error""#) && shelf.only().contains("kiln://a"),
        "{}",
        shelf.only()
    );
}

/// A server that is to stop finds those who wait for the store, and those whose request has not come to its end.
#[test]
fn whoever_waits_is_found_by_a_server_that_stops() {
    let (stage, shelf, process, session) = alone(V);
    shelf.hold();
    let mut asks = process.send(&session, &call("pass"));
    let mut comes = Carried::begin(&process.service, head("POST", &[("Mcp-Session-Id", &session)]));
    let drained = process.service.drain(Duration::from_secs(5));
    stage.spawn(Box::pin(async { drained.await.unwrap() }));
    stage.run();
    assert_eq!((asks.status(), comes.status()), (None, None));
    stage.advance(Duration::from_secs(5));
    assert_eq!((asks.status(), comes.status()), (Some(503), Some(503)));
    // Nothing begins after that.
    shelf.let_all_go();
    assert!(!asks.body().contains("passed"));
    drop((asks, comes));
    assert_eq!(process.service.session_count(), 1);
}

/// A client that only listens, and one whose call takes hours, are in use for the store as well.
#[test]
fn a_session_in_use_is_kept_by_the_store() {
    let stage = Stage::default();
    let shelf = Shelf::new(&stage);
    let process = process(&stage, &shelf);
    let (listens, waits, idle) = (process.open(V), process.open(V), process.open(V));
    let mut carried = [process.bare("GET", &listens), process.send(&waits, &call("wait"))];
    stage.run();
    for _ in 0..4 * 60 * 3 {
        stage.advance(Duration::from_secs(15));
        for carried in &mut carried {
            carried.take().tick(&stage);
        }
        stage.run();
    }
    assert_eq!(process.status(&listens, PING), Some(200));
    assert_eq!(process.status(&waits, PING), Some(200));
    assert_eq!(process.status(&idle, PING), Some(404));
    // Twice in the time that they may be idle, and not more often.
    assert!(shelf.kept().loads < 45, "{}", shelf.kept().loads);
    // The end of one in another process ends its stream here in time.
    let other = self::process(&stage, &shelf);
    let mut ended = other.bare("DELETE", &listens);
    stage.run();
    assert_eq!(ended.status(), Some(204));
    for _ in 0..4 * 16 {
        stage.advance(Duration::from_secs(15));
        for carried in &mut carried {
            carried.take().tick(&stage);
        }
        stage.run();
    }
    assert!(carried[0].take().exchange.is_ended() && !carried[1].take().exchange.is_ended());
}
