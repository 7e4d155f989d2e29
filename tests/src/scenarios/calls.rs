//! Calls, over stdio and HTTP, in both eras.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use mcp_driver::{CallError, Calls, Canceller, Era, EraChoice, Options, Revision};
use serde_json::json;

use super::{ERAS, builder, call, calling, command, host, spawn, text};
use crate::kit::{Client, Kit, background};
use crate::support::{Events, Gate};

/// A client, what its server tells, and how to open the gate that handlers wait at.
pub(super) struct Pair<K: Kit> {
    pub(super) client: Client<K>,
    pub(super) events: Events,
    pub(super) open: Box<dyn Fn()>,
}

/// Runs on both transports in both eras.
pub(super) fn everywhere<K: Kit>(program: &str, scenario: impl Fn(Pair<K>)) {
    for era in ERAS {
        let (client, events) = spawn::<K>(command::<K>(program), builder::<K>(era)).unwrap();
        let opener = client.clone();
        scenario(Pair { client, events, open: Box::new(move || drop(text::<K>(&opener, "open"))) });

        let host = host::<K>(|_| {});
        let (client, gate) = (host.client(era), host.gate.clone());
        scenario(Pair { client, events: host.events, open: Box::new(move || gate.open()) });
        host.stop.stop();
        host.served.join().unwrap();
    }
}

/// VER-03, VER-05, INIT-05: whatever revision is asked for is spoken, on both transports.
pub fn every_revision_is_spoken<K: Kit>(program: &str) {
    let host = host::<K>(|_| {});
    let pinned = Revision::ALL.iter().map(|revision| (EraChoice::Pinned(*revision), *revision));
    let choices = [(EraChoice::Auto, Revision::LATEST), (EraChoice::Legacy, Revision::LATEST_LEGACY)];
    for (choice, revision) in pinned.chain(choices) {
        let check = |client: &Client<K>| {
            assert_eq!(client.revision(), revision);
            let tools = K::wait(client.list_tools()).unwrap();
            assert!(tools.iter().any(|tool| tool.name == "echo"), "{tools:?}");
            assert_eq!(call::<K>(client, "echo", json!({ "text": "héllo\n" })).unwrap().text(), "héllo\n");
            if revision.era() == Era::Legacy {
                K::wait(client.ping()).unwrap();
            }
            K::wait(client.close()).unwrap();
        };
        check(&spawn::<K>(command::<K>(program), builder::<K>(choice)).unwrap().0);
        // 2024-11-05 has another HTTP transport.
        if revision != Revision::V2024_11_05 {
            check(&host.client(choice));
        }
    }
    host.end();
}

/// PRG-07: progress is told while the call runs, in order, and all of it before the result.
pub fn progress_is_live_and_precedes_the_result<K: Kit>(program: &str) {
    everywhere::<K>(program, |Pair { client, open, .. }| {
        let (heard, (tell, steps)) = (Arc::new(Mutex::new(Vec::new())), Events::new());
        let calls = {
            let (client, heard) = (client.clone(), heard.clone());
            background::<K, _>(move || {
                let hear = heard.clone();
                let options = Options::new().on_progress(move |progress| {
                    hear.lock().unwrap().push(progress.progress);
                    tell.tell(format!("step {} of {:?}", progress.progress, progress.total));
                });
                let reply = K::wait(client.call_tool_with("steps", json!({}), options)).unwrap();
                (reply.text().into_owned(), heard.lock().unwrap().clone())
            })
        };
        steps.expect("step 1 of Some(3.0)");
        // The handler goes on only now, so the first step was live.
        open();
        assert_eq!(calls.join(), ("done".to_owned(), vec![1.0, 2.0, 3.0]));
    });
}

/// CAN-01, HTTP-20: a call that nobody waits for any more is cancelled at the server.
pub fn an_abandoned_call_is_cancelled<K: Kit>(program: &str) {
    everywhere::<K>(program, |Pair { client, events, .. }| {
        let caller = client.clone();
        let abandon = K::abandonable(move |options| caller.call_tool_with("wait", json!({}), options));
        events.expect("wait started");
        abandon();
        events.expect("wait cancelled");
        assert_eq!(call::<K>(&client, "echo", json!({ "text": "alive" })).unwrap().text(), "alive");
    });
}

/// A canceller cancels the calls made with it, those made later too, and no others.
pub fn a_canceller_cancels<K: Kit>(program: &str) {
    everywhere::<K>(program, |Pair { client, events, open }| {
        let canceller = Canceller::new();
        let other = calling::<K>(&client, "wait");
        events.expect("wait started");
        let cancelled = {
            let (client, options) = (client.clone(), Options::new().cancelled_by(&canceller));
            background::<K, _>(move || K::wait(client.call_tool_with("wait", json!({}), options)))
        };
        events.expect("wait started");
        canceller.cancel();
        canceller.cancel();
        assert_eq!(cancelled.join(), Err(CallError::Cancelled));
        events.expect("wait cancelled");
        let late = Options::new().cancelled_by(&canceller);
        assert_eq!(K::wait(client.call_tool_with("wait", json!({}), late)), Err(CallError::Cancelled));
        open();
        assert_eq!(other.join().unwrap().text(), "waited");
    });
}

/// A blocking handler that looks for it learns that its call was cancelled.
pub fn a_blocking_handler_learns_of_its_cancellation<K: Kit>(program: &str) {
    everywhere::<K>(program, |Pair { client, events, .. }| {
        let caller = client.clone();
        let abandon = K::abandonable(move |options| caller.call_tool_with("linger", json!({}), options));
        events.expect("linger started");
        abandon();
        events.expect("linger cancelled");
    });
}

/// A handler that sleeps does so for as long as it asked to, and is dropped when its call is cancelled.
pub fn a_handler_sleeps_on_its_runtime<K: Kit>(program: &str) {
    everywhere::<K>(program, |Pair { client, events, .. }| {
        let slept: u64 = call::<K>(&client, "nap", json!({ "ms": 20 })).unwrap().text().parse().unwrap();
        assert!(slept >= 20, "{slept} ms");
        let caller = client.clone();
        let options = json!({ "ms": 3_600_000 });
        let abandon = K::abandonable(move |with| caller.call_tool_with("nap", options, with));
        events.expect("nap finished");
        events.expect("nap started");
        abandon();
        events.expect("nap cancelled");
    });
}

/// CAN-21: a call that times out is cancelled at the server.
pub fn a_timeout_cancels_on_the_wire<K: Kit>(program: &str) {
    everywhere::<K>(program, |Pair { client, events, .. }| {
        // On a slow machine the first may be over before its handler has begun, with nothing to cancel.
        let cancelled = [80, 800, 8_000].map(Duration::from_millis).into_iter().any(|patience| {
            let options = Options::new().timeout(patience);
            let outcome = K::wait(client.call_tool_with("wait", json!({}), options));
            assert_eq!(outcome, Err(CallError::TimedOut { after: patience }));
            events.hears("wait cancelled", Duration::from_secs(3))
        });
        assert!(cancelled, "{:?}", events.others());
        assert_eq!(call::<K>(&client, "echo", json!({ "text": "alive" })).unwrap().text(), "alive");
    });
}

/// P01: whoever called a handler that panics is told a constant text at once, the report says why, and the
/// server goes on.
pub fn a_panic_is_answered_and_the_server_lives<K: Kit>(program: &str) {
    everywhere::<K>(program, |Pair { client, events, .. }| {
        for tool in ["panic", "panic_blocking"] {
            match call::<K>(&client, tool, json!({})) {
                Err(CallError::Server { error, .. }) => {
                    assert_eq!((error.code, error.message.as_str()), (-32603, "internal error"));
                }
                other => panic!("{other:?}"),
            }
            events.expect(&format!("tool {tool}: the handler panicked: as asked"));
        }
        assert_eq!(call::<K>(&client, "echo", json!({ "text": "alive" })).unwrap().text(), "alive");
    });
}

/// P02: a tool that blocks its thread stops nobody else, also on an executor with one thread: that of a child process.
pub fn a_blocking_tool_stops_nobody<K: Kit>(program: &str) {
    everywhere::<K>(program, |Pair { client, events, open }| {
        let blocked = calling::<K>(&client, "block");
        events.expect("block started");
        assert_eq!(call::<K>(&client, "echo", json!({ "text": "on" })).unwrap().text(), "on");
        if client.era() == Era::Legacy {
            K::wait(client.ping()).unwrap();
        }
        open();
        assert_eq!(blocked.join().unwrap().text(), "unblocked");
    });
}

/// P05, TOOL-33: arguments that do not fit are an outcome that the model can mend, named by their path, and all that
/// are missing at once.
pub fn wrong_arguments_are_named_by_their_path<K: Kit>(program: &str) {
    everywhere::<K>(program, |Pair { client, .. }| {
        let reply = call::<K>(&client, "add", json!({ "a": 1, "b": "two" })).unwrap();
        assert!(reply.is_error());
        assert!(reply.text().contains("arguments.b: expected"), "{}", reply.text());
        for (arguments, lacks) in [
            (json!({}), "arguments.a: missing, expected a number\narguments.b: missing, expected a number"),
            (
                json!({ "a": "1" }),
                "arguments.a: expected a number, found a string\narguments.b: missing, expected a number",
            ),
        ] {
            assert_eq!(call::<K>(&client, "add", arguments).unwrap().text(), lacks);
        }
    });
}

/// P05, TOOL-31: a tool that is not there is a protocol error, which names one that is.
pub fn an_unknown_tool_is_refused_with_a_suggestion<K: Kit>(program: &str) {
    everywhere::<K>(program, |Pair { client, .. }| match call::<K>(&client, "ehco", json!({})) {
        Err(CallError::Server { error, .. }) => {
            assert_eq!(error.code, -32602);
            assert!(error.message.contains("ehco") && error.message.contains("echo"), "{}", error.message);
        }
        other => panic!("{other:?}"),
    });
}

/// HTTP-29, RPC-32, STDIO-10: 64 calls of one client run at the same time: none of them is answered before all have begun.
pub fn many_calls_run_at_once<K: Kit>(program: &str) {
    everywhere::<K>(program, |Pair { client, .. }| {
        let calls: Vec<_> = (0..64)
            .map(|_| {
                let client = client.clone();
                background::<K, _>(move || call::<K>(&client, "meet", json!({ "of": 64 })))
            })
            .collect();
        for call in calls {
            assert_eq!(call.join().unwrap().text(), "met");
        }
    });
}

/// A hook that panics harms nobody but itself, and one may use the client that it belongs to.
pub fn hooks_may_panic_and_call_back<K: Kit>(program: &str) {
    let (gate, (tell, events)) = (Gate::default(), Events::new());
    let reports = |event: &str| assert!(!event.contains("panicked"), "the report hook panics");
    let server = crate::rig::server::<K::Runtime>(reports, &gate);
    let server = K::wait(server.bind_http("127.0.0.1:0")).unwrap();
    let (url, stop) = (server.url(), server.stop_handle());
    let served = background::<K, _>(move || K::wait(server.serve()));
    gate.open();
    let calls_back: Arc<Mutex<Option<Client<K>>>> = Arc::default();
    for era in ERAS {
        let (caller, told) = (calls_back.clone(), tell.clone());
        let watched = builder::<K>(era).on_traffic(move |_| {
            if let Some(client) = caller.lock().unwrap().take() {
                // Abandoned at once: a hook must not wait.
                let _ = K::abandonable(move |options| {
                    client.call_tool_with("echo", json!({ "text": "" }), options)
                });
                told.tell("called back");
            }
            panic!("the traffic hook panics");
        });
        let over_http = K::wait(watched.clone().http(&url)).unwrap();
        let over_stdio = K::wait(watched.spawn(command::<K>(program))).unwrap();
        for client in [over_http, over_stdio] {
            let told = tell.clone();
            let panics = Options::new().on_progress(move |progress| {
                told.tell(format!("heard {}", progress.progress));
                panic!("the progress hook panics");
            });
            assert!(call::<K>(&client, "panic", json!({})).is_err());
            text::<K>(&client, "open");
            let reply = K::wait(client.call_tool_with("steps", json!({}), panics)).unwrap();
            assert_eq!(reply.text(), "done");
            events.expect("heard 3");
            *calls_back.lock().unwrap() = Some(client.clone());
            assert_eq!(call::<K>(&client, "echo", json!({ "text": "x" })).unwrap().text(), "x");
            events.expect("called back");
            K::wait(client.close()).unwrap();
        }
    }
    stop.stop();
    served.join().unwrap();
}

/// A closed client fails calls at once and says why; closing again is harmless, also by a clone.
pub fn a_closed_client_fails_calls_at_once<K: Kit>(program: &str) {
    everywhere::<K>(program, |Pair { client, .. }| {
        K::wait(client.close()).unwrap();
        K::wait(client.clone().close()).unwrap();
        match call::<K>(&client, "echo", json!({ "text": "x" })) {
            Err(CallError::Broken { reason, .. }) => assert!(reason.contains("closed"), "{reason}"),
            other => panic!("{other:?}"),
        }
    });
}

/// Closing fails what is under way instead of waiting for it, and the server hears of it.
pub fn closing_fails_the_calls_under_way<K: Kit>(program: &str) {
    everywhere::<K>(program, |Pair { client, events, .. }| {
        let calls = [calling::<K>(&client, "wait"), calling::<K>(&client, "wait")];
        events.expect("wait started");
        events.expect("wait started");
        K::wait(client.close()).unwrap();
        for call in calls {
            assert!(matches!(call.join(), Err(CallError::Broken { .. })));
        }
        events.expect("wait cancelled");
    });
}
