//! Legacy sessions through the driver, step by step: where their events are kept, what they may subscribe to, and
//! who waits for whom.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use mcp_driver::proto::server::{Event, EventStore, StreamId};
use mcp_driver::{Context, HttpService, Limits, Resource, Runtime, Server, SessionId, Tool};
use mcp_tests::rig;
use mcp_tests::stage::{Carried, Stage, head};
use mcp_tests::support::{Events, Gate};
use schemars::JsonSchema;
use serde::Deserialize;

const INITIALIZE: &str = r#"{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"c","version":"1"}}}"#;
const INITIALIZED: &str = r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#;
const CALL: &str = r#"{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"wait","_meta":{"progressToken":"p"}}}"#;
const CANCEL: &str = r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":7}}"#;

#[derive(Deserialize, JsonSchema)]
struct Nothing {}

fn server(stage: &Stage) -> Server<Stage> {
    Server::new("kiln", "1.0.0").runtime(stage.clone())
}

fn send(service: &Arc<HttpService<Stage>>, session: &str, body: &str) -> Carried {
    Carried::send(service, head("POST", &[("Mcp-Session-Id", session)]), body)
}

fn open(service: &Arc<HttpService<Stage>>) -> String {
    let session = Carried::send(service, head("POST", &[]), INITIALIZE).field("mcp-session-id");
    assert_eq!(send(service, &session, INITIALIZED).status(), Some(202));
    session
}

/// The ids of the events that came.
fn ids(carried: &mut Carried) -> Vec<String> {
    let lines = carried.body().lines();
    lines.filter_map(|line| line.strip_prefix("id: ").map(str::to_owned)).collect()
}

/// A store of the application's own, which counts what it is asked.
#[derive(Clone, Debug, Default)]
struct Ledger(Arc<Mutex<Pages>>);

#[derive(Debug, Default)]
struct Pages {
    events: BTreeMap<String, Vec<Event>>,
    asked: usize,
    forgotten: usize,
}

impl EventStore for Ledger {
    fn append(&mut self, session: &SessionId, event: &Event) {
        let mut pages = self.0.lock().unwrap();
        pages.events.entry(session.as_str().to_owned()).or_default().push(event.clone());
    }

    fn after(&mut self, session: &SessionId, stream: StreamId, number: u64) -> Option<Vec<Event>> {
        let mut pages = self.0.lock().unwrap();
        pages.asked += 1;
        let of_stream = pages.events.get(session.as_str())?.iter().filter(|event| event.id.stream == stream);
        let of_stream: Vec<_> = of_stream.cloned().collect();
        let after = of_stream.iter().filter(|event| event.id.number > number).cloned().collect();
        (!of_stream.is_empty()).then_some(after)
    }

    fn forget(&mut self, session: &SessionId) {
        let mut pages = self.0.lock().unwrap();
        pages.forgotten += 1;
        pages.events.remove(session.as_str());
    }
}

/// HTTPL-39, HTTPL-40: what a client missed comes out of the store of the application, for the stream of a request
/// and for that of its session; the end of the session is told to it.
#[test]
fn a_client_that_comes_back_is_served_from_the_store_of_the_application() {
    let stage = Stage::default();
    let ledger = Ledger::default();
    let gate = Gate::default();
    let opened = gate.clone();
    let server =
        server(&stage).event_store(ledger.clone()).tool(Tool::new("wait"), move |_: Nothing, cx: Context| {
            let gate = opened.clone();
            async move {
                cx.progress((1.0, 2.0));
                gate.wait().await;
                Ok("done")
            }
        });
    let registry = server.registry();
    let service = server.into_http_service().unwrap();
    let session = open(&service);
    let mut call = send(&service, &session, CALL);
    assert!(call.body().contains(r#""progress":1"#), "{}", call.body());
    let last = ids(&mut call).pop().unwrap();
    call.exchange.handle_abort();
    drop(call);
    gate.open();
    stage.run();
    let after = [("Mcp-Session-Id", session.as_str()), ("Last-Event-ID", &last)];
    let mut back = Carried::send(&service, head("GET", &after), "");
    assert!(
        back.body().contains(r#""id":7,"result""#) && !back.body().contains("progress"),
        "{}",
        back.body()
    );
    assert!(back.exchange.is_ended());

    // Nobody listens: the second change of the list is the same as the first, as the store says.
    for _ in 0..2 {
        registry.publish(&mcp_driver::Change::Tools);
    }
    let kept = ledger.0.lock().unwrap().events.get(&session).unwrap().len();
    assert_eq!(kept, 3, "the progress, the result and one change");
    let mut stream = Carried::send(&service, head("GET", &after[..1]), "");
    assert_eq!(stream.body().matches("tools/list_changed").count(), 1, "{}", stream.body());
    assert!(ledger.0.lock().unwrap().asked >= 3);
    assert_eq!(Carried::send(&service, head("DELETE", &after[..1]), "").status(), Some(204));
    let pages = ledger.0.lock().unwrap();
    assert!(pages.events.is_empty() && pages.forgotten == 1);
}

/// SUBL-04: a legacy client subscribes to what is there for it, and hears of nothing else.
#[test]
fn a_legacy_client_cannot_subscribe_to_what_is_not_there_for_it() {
    let stage = Stage::default();
    let server = server(&stage)
        .resource(Resource::new("kiln://open", "open"), "o")
        .resource(Resource::new("kiln://shut", "shut"), "s")
        .visible(|_, item| item.name() != "kiln://shut");
    let registry = server.registry();
    let service = server.into_http_service().unwrap();
    let session = open(&service);
    let subscribe = |uri: &str| {
        let body = format!(
            r#"{{"jsonrpc":"2.0","id":1,"method":"resources/subscribe","params":{{"uri":"{uri}"}}}}"#
        );
        send(&service, &session, &body).body().to_owned()
    };
    let (shut, nowhere) = (subscribe("kiln://shut"), subscribe("kiln://nowhere"));
    assert!(shut.contains("-32002"), "{shut}");
    assert_eq!(shut.replace("shut", "nowhere"), nowhere);
    assert!(subscribe("kiln://open").contains(r#""result":{}"#));
    let mut stream = Carried::send(&service, head("GET", &[("Mcp-Session-Id", &session)]), "");
    registry.resource_updated("kiln://shut");
    registry.resource_updated("kiln://open");
    assert!(
        stream.body().contains("kiln://open") && !stream.body().contains("kiln://shut"),
        "{}",
        stream.body()
    );
}

/// Counts what is dropped.
struct Dropped(Arc<AtomicUsize>);

impl Drop for Dropped {
    fn drop(&mut self) {
        self.0.fetch_add(1, Ordering::SeqCst);
    }
}

/// CAN-12, CAN-14: what a cancelled handler drops may take its time: whoever cancels it does not wait for that, nor
/// does any other session. It needs no thread that may block, as handlers may have them all.
#[test]
fn a_cancelled_handler_is_dropped_beside_what_others_wait_for() {
    let stage = Stage::default();
    let dropped = Arc::new(AtomicUsize::new(0));
    let count = dropped.clone();
    let service = server(&stage)
        .tool(Tool::new("wait"), move |_: Nothing, _: Context| {
            let holds = Dropped(count.clone());
            async move {
                std::future::pending::<()>().await;
                drop(holds);
                Ok("never")
            }
        })
        .into_http_service()
        .unwrap();
    let session = open(&service);
    let mut call = send(&service, &session, CALL);
    stage.block();
    assert_eq!(send(&service, &session, CANCEL).status(), Some(202));
    assert_eq!(dropped.load(Ordering::SeqCst), 0);
    stage.run();
    assert_eq!(dropped.load(Ordering::SeqCst), 1);
    assert!(call.take().exchange.is_ended());
}

/// The rig on the stage, in a session, with so many calls that may go on without a connection.
struct Left {
    stage: Stage,
    service: Arc<HttpService<Stage>>,
    session: String,
    gate: Gate,
    events: Events,
    calls: u32,
}

impl Left {
    fn new(unattended: usize) -> Self {
        let (stage, gate, (tell, events)) = (Stage::default(), Gate::default(), Events::new());
        let mut limits = Limits::default();
        limits.unattended = unattended;
        let server = rig::server::<Stage>(move |event| tell.tell(event), &gate).limits(limits);
        let service = server.runtime(stage.clone()).into_http_service().unwrap();
        let session = open(&service);
        Self { stage, service, session, gate, events, calls: 10 }
    }

    /// A client calls and leaves.
    fn leave(&mut self, tool: &str) {
        self.calls += 1;
        let body = CALL.replace("\"id\":7", &format!("\"id\":{}", self.calls)).replace("wait", tool);
        send(&self.service, &self.session, &body).exchange.handle_abort();
    }

    fn count(&self, event: &str) -> usize {
        self.stage.run();
        self.events.others().iter().filter(|seen| *seen == event).count()
    }
}

/// HTTPL-23, `Limits::unattended`: exactly so many calls go on, whose handler is async or not, and the next one is
/// cancelled as its client leaves; when one is over there is room again.
#[test]
fn so_many_calls_go_on_without_a_connection() {
    let mut left = Left::new(2);
    for round in 1..=2 {
        left.gate.close();
        left.leave("wait");
        left.leave("wait");
        assert_eq!(left.count("wait cancelled"), round - 1);
        left.leave("wait");
        assert_eq!(left.count("wait cancelled"), round);
        left.gate.open();
        assert_eq!(left.count("wait finished"), 2 * round);
    }
    // Their threads begin when all have left.
    (0..3).for_each(|_| left.leave("block"));
    assert_eq!(left.count("block started"), 2);
}

/// HTTPL-23: a server that stops waits for such calls as for all others, and only its patience is an end to that.
#[test]
fn calls_without_a_connection_are_waited_for() {
    for finishes in [true, false] {
        let mut left = Left::new(2);
        left.leave("wait");
        let drained = left.service.drain(Duration::from_secs(600));
        let over = Arc::new(AtomicUsize::new(0));
        let count = over.clone();
        left.stage.spawn(Box::pin(async move {
            drained.await.unwrap();
            count.fetch_add(1, Ordering::SeqCst);
        }));
        left.stage.run();
        left.stage.advance(Duration::from_secs(599));
        assert_eq!((over.load(Ordering::SeqCst), left.count("wait cancelled")), (0, 0));
        if finishes {
            left.gate.open();
            left.stage.run();
            assert_eq!(left.count("wait finished"), 1);
        } else {
            left.stage.advance(Duration::from_secs(1));
            assert_eq!(left.count("wait cancelled"), 1);
        }
        assert_eq!(over.load(Ordering::SeqCst), 1, "finishes: {finishes}");
    }
}

/// A change that fails drops what it would have added with no lock held: a handler may hold a registry, and use it
/// when it goes.
#[test]
fn a_handler_of_a_change_that_fails_may_use_the_registry_as_it_goes() {
    struct Uses(mcp_driver::Registry);
    impl Drop for Uses {
        fn drop(&mut self) {
            self.0.change(|changes| changes.remove_tool("other")).unwrap();
        }
    }
    let stage = Stage::default();
    let server = server(&stage).tool(Tool::new("other"), async |_: Nothing, _: Context| Ok("o"));
    let registry = server.registry();
    let service = server.into_http_service().unwrap();
    for schema in [r#"{"type":"object"}"#, r#"{"type":"array"}"#, r#"{"type":"object","$ref":"nowhere"}"#] {
        let (first, twice) = (Uses(registry.clone()), Uses(registry.clone()));
        let schema = mcp_driver::Json::parse(schema).unwrap();
        let failed = registry.change(|changes| {
            changes.tool(Tool::new("new"), move |_: Nothing, _: Context| {
                let _ = &first;
                Ok("1")
            });
            changes.tool(Tool::new("new").input_schema(schema), move |_: Nothing, _: Context| {
                let _ = &twice;
                Ok("2")
            });
        });
        assert!(failed.is_err());
    }
    let session = open(&service);
    let list = r#"{"jsonrpc":"2.0","id":1,"method":"tools/list"}"#;
    assert!(send(&service, &session, list).body().contains(r#""tools":[]"#));
}
