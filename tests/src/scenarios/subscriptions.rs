//! Servers that change while they serve, and whoever hears of it.

use std::sync::Arc;
use std::time::Duration;

use mcp_driver::model::{CacheScope, ReadResourceResult, TextResourceContents, TtlMs};
use mcp_driver::{
    CallError, Calls, Change, Context, Custom, Era, EraChoice, ErrorObject, Json, Limits, LocalBus, Registry,
    Resource, ResourceTemplate, Runtime, Server, Tool, ToolError,
};
use serde_json::json;

use super::streams::{client, ends};
use super::{ERAS, Host, call, hosted, text};
use crate::kit::{Client, Kit, background};
use crate::support::{DEADLINE, Events, Gate, Raw, eventually};

fn no_arguments(name: &str) -> Tool {
    Tool::new(name).input_schema(Json::parse(r#"{"type":"object"}"#).unwrap())
}

fn names<K: Kit>(client: &Client<K>) -> Vec<String> {
    K::wait(client.list_tools()).unwrap().into_iter().map(|tool| tool.name).collect()
}

/// A server with one tool, which it can lose.
fn changeable<K: Kit>() -> (Server<K::Runtime>, Registry) {
    let server = Server::new("changeable", "1").tool(no_arguments("old"), |_: Json, _: Context| Ok("old"));
    let registry = server.registry();
    (server, registry)
}

/// Serves on HTTP and on a stream, to clients of both eras.
fn served<K: Kit>(scenario: impl Fn(&Client<K>, &Registry)) {
    for era in ERAS {
        let (server, registry) = changeable::<K>();
        let (_, events) = Events::new();
        let host = hosted::<K>(server, Gate::default(), events);
        let client = host.client(era);
        scenario(&client, &registry);
        K::wait(client.close()).unwrap();
        host.end();

        let (client, registry, served) = on_a_stream::<K>(era);
        scenario(&client, &registry);
        K::wait(client.close()).unwrap();
        served.join().unwrap();
    }
}

type Served = crate::kit::Background<Result<(), mcp_driver::Error>>;

fn on_a_stream<K: Kit>(era: EraChoice) -> (Client<K>, Registry, Served) {
    let (server, registry) = changeable::<K>();
    let (ours, theirs) = ends::<K>();
    let served = background::<K, _>(move || K::wait(server.serve_stream(theirs)));
    (client::<K>(ours, era), registry, served)
}

/// One change of many is seen at once by whoever asks next.
pub fn a_registry_changes_a_server_that_serves<K: Kit>(_: &str) {
    served::<K>(|client, registry| {
        assert_eq!(names::<K>(client), ["old"]);
        registry
            .change(|offer| {
                offer.remove_tool("old");
                offer.remove_tool("never there");
                offer.tool(no_arguments("new"), async |_: Json, _: Context| Ok("new"));
                offer.tool(no_arguments("other"), |_: Json, _: Context| Ok("other"));
            })
            .unwrap();
        assert_eq!(names::<K>(client), ["new", "other"]);
        assert_eq!(text::<K>(client, "new"), "new");
        assert_eq!(text::<K>(client, "other"), "other");
        call::<K>(client, "old", json!({})).unwrap_err();
    });
}

/// RES-05: resources and templates come and go like tools.
pub fn resources_and_templates_come_and_go<K: Kit>(_: &str) {
    served::<K>(|client, registry| {
        let read = |uri: &str| K::wait(client.read_resource(uri));
        registry
            .change(|offer| {
                offer.resource(Resource::new("kiln://door", "door"), "shut");
                offer.resource_template(
                    ResourceTemplate::new("kiln://shelf/{n}", "shelf"),
                    |_: Json, _: Context| Ok("cups"),
                );
            })
            .unwrap();
        read("kiln://door").unwrap();
        read("kiln://shelf/2").unwrap();
        registry
            .change(|offer| {
                offer.remove_resource("kiln://door");
                offer.remove_resource_template("kiln://shelf/{n}");
            })
            .unwrap();
        read("kiln://door").unwrap_err();
        read("kiln://shelf/2").unwrap_err();
    });
}

/// CACHE-13: a list that may be kept for an hour is changed before: whoever listens is told. A change that the registry
/// knows nothing of can be told, too.
pub fn changes_are_told_whatever_was_said_to_caches<K: Kit>(_: &str) {
    let (server, registry) = watched::<K>();
    let host = host::<K>(server.cache_tools(Duration::from_secs(3600), CacheScope::Private));
    let mut raw = listening(&host.url, EVERYTHING);
    registry.change(|offer| offer.remove_tool("old")).unwrap();
    raw.expect("tools/list_changed");
    registry.publish(&Change::Prompts);
    raw.expect("prompts/list_changed");
    host.end();
}

/// CACHE-01, CACHE-03: hints for caches are those of the server, of a list, of a resource, or of what its handler says.
pub fn each_list_and_resource_has_hints_of_its_own<K: Kit>(_: &str) {
    let own = || {
        let contents = TextResourceContents::new("kiln://own", "x");
        ReadResourceResult::new(vec![contents.into()]).ttl_ms(TtlMs(5))
    };
    let (seconds, public) = (Duration::from_secs, CacheScope::Public);
    let (server, _registry) = changeable::<K>();
    let template = |uris: &str| ResourceTemplate::new(uris, "t").cache(seconds(4), CacheScope::Private);
    let server = server
        .cache(seconds(1), public)
        .cache_tools(seconds(2), CacheScope::Private)
        .cache_resource_templates(seconds(6), public)
        .resource(Resource::new("kiln://kept", "kept").cache(seconds(3), public), "x")
        .resource(Resource::new("kiln://plain", "plain"), b"x".as_slice())
        .resource(Resource::new("kiln://own", "own").cache(seconds(3), public), move |_: Context| Ok(own()))
        .resource_template(template("kiln://shelf/{n}"), |_: Json, _: Context| Ok("cups"));
    let host = host::<K>(server);
    let hints = |method: &str, uri: &str| {
        let (name, param) = match uri {
            "" => (String::new(), String::new()),
            uri => (format!("Mcp-Name: {uri}\r\n"), format!(r#""uri":"{uri}","#)),
        };
        let mut raw = Raw::connect(&host.url);
        raw.post(
            &format!("MCP-Protocol-Version: 2026-07-28\r\nMcp-Method: {method}\r\n{name}"),
            &format!(r#"{{"jsonrpc":"2.0","id":1,"method":"{method}","params":{{{param}{META}}}}}"#),
        );
        let answer: serde_json::Value = serde_json::from_str(&raw.answer().body).unwrap();
        let ttl = answer["result"]["ttlMs"].as_u64().unwrap_or_else(|| panic!("{answer}"));
        (ttl, answer["result"]["cacheScope"] == "public")
    };
    for (method, uri, expected) in [
        ("server/discover", "", (1000, true)),
        ("tools/list", "", (2000, false)),
        ("resources/list", "", (1000, true)),
        ("resources/templates/list", "", (6000, true)),
        ("resources/read", "kiln://kept", (3000, true)),
        ("resources/read", "kiln://plain", (0, false)),
        ("resources/read", "kiln://own", (5, false)),
        ("resources/read", "kiln://shelf/1", (4000, false)),
    ] {
        assert_eq!(hints(method, uri), expected, "{method} {uri}");
    }
    host.end();
}

/// A change that cannot be made as a whole is not made at all.
pub fn a_change_with_a_fault_changes_nothing<K: Kit>(_: &str) {
    served::<K>(|client, registry| {
        let refused = registry.change(|offer| {
            offer.tool(no_arguments("new"), |_: Json, _: Context| Ok("new"));
            offer.tool(no_arguments("old"), |_: Json, _: Context| Ok("twice"));
        });
        assert!(refused.unwrap_err().to_string().contains("`old`"));
        assert_eq!(names::<K>(client), ["old"]);
    });
}

/// What was built before serving and what the registry adds before serving is one server.
pub fn a_registry_changes_a_server_before_it_serves<K: Kit>(_: &str) {
    let (server, registry) = changeable::<K>();
    registry.change(|offer| offer.tool(no_arguments("first"), |_: Json, _: Context| Ok("1"))).unwrap();
    let server = server.tool(no_arguments("second"), |_: Json, _: Context| Ok("2"));
    let (_, events) = Events::new();
    let host = hosted::<K>(server, Gate::default(), events);
    let client = host.client(EraChoice::Modern);
    assert_eq!(names::<K>(&client), ["old", "first", "second"]);
    K::wait(client.close()).unwrap();
    host.end();
}

/// A call that runs goes on with the handler that it began with, also when that is taken out.
pub fn a_call_keeps_the_handler_it_began_with<K: Kit>(_: &str) {
    let gate = Gate::default();
    let (tell, events) = Events::new();
    let (server, registry) = changeable::<K>();
    let held = gate.clone();
    let server = server.tool(no_arguments("slow"), move |_: Json, _: Context| {
        tell.tell("started");
        held.block();
        Ok::<_, ToolError>("done")
    });
    let (_, nothing) = Events::new();
    let host = hosted::<K>(server, Gate::default(), nothing);
    let client = host.client(EraChoice::Modern);
    let slow = super::calling::<K>(&client, "slow");
    events.expect("started");
    registry.change(|offer| offer.remove_tool("slow")).unwrap();
    call::<K>(&client, "slow", json!({})).unwrap_err();
    gate.open();
    assert_eq!(slow.join().unwrap().text(), "done");
    K::wait(client.close()).unwrap();
    host.end();
}

const META: &str = r#""_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}"#;
const FIELDS: &str = "MCP-Protocol-Version: 2026-07-28\r\nMcp-Method: subscriptions/listen\r\n";
const INITIALIZE: &str = r#"{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"raw","version":"1"}}}"#;
const INITIALIZED: &str = r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#;
const ACKNOWLEDGED: &str = "notifications/subscriptions/acknowledged";

fn listen(id: &str, filter: &str) -> String {
    format!(
        r#"{{"jsonrpc":"2.0","id":{id},"method":"subscriptions/listen","params":{{"notifications":{{{filter}}},{META}}}}}"#
    )
}

/// A server with a tool and a resource, all of which may change.
fn watched<K: Kit>() -> (Server<K::Runtime>, Registry) {
    let (server, registry) = changeable::<K>();
    (server.resource(Resource::new("kiln://state", "state"), "warm"), registry)
}

fn host<K: Kit>(server: Server<K::Runtime>) -> Host<K> {
    let (_, events) = Events::new();
    hosted::<K>(server, Gate::default(), events)
}

/// A client by hand that listens over HTTP.
fn listening(url: &str, filter: &str) -> Raw {
    let mut raw = Raw::connect(url);
    raw.post(FIELDS, &listen("7", filter));
    raw.expect(ACKNOWLEDGED);
    raw
}

/// A client by hand on a byte stream.
fn raw_on_a_stream<K: Kit>(server: Server<K::Runtime>) -> (Raw, Served) {
    let runtime = K::Runtime::default();
    let listener = K::block_on(runtime.listen("127.0.0.1:0".into())).unwrap();
    let raw = Raw::connect(&format!("http://{}/", runtime.local_address(&listener).unwrap()));
    let (_, stream) = K::block_on(runtime.accept(listener));
    let stream = stream.unwrap();
    (raw, background::<K, _>(move || K::wait(server.serve_stream(stream))))
}

const EVERYTHING: &str = r#""toolsListChanged":true,"promptsListChanged":true,"resourcesListChanged":true,"resourceSubscriptions":["kiln://state"]"#;

fn change(registry: &Registry) {
    registry
        .change(|offer| {
            offer.tool(no_arguments("new"), |_: Json, _: Context| Ok("new"));
            offer.tool(no_arguments("other"), |_: Json, _: Context| Ok("other"));
            offer.remove_tool("never there");
            offer.remove_prompt("never there");
        })
        .unwrap();
    registry.resource_updated("kiln://state");
}

#[track_caller]
fn counts(lines: &[String], expected: [usize; 3]) {
    let count = |text: &str| lines.iter().filter(|line| line.contains(text)).count();
    let found = [count("tools/list_changed"), count("prompts/list_changed"), count("resources/list_changed")];
    assert_eq!(found, expected, "{lines:#?}");
}

/// SUB-02, SUB-03, SUB-19, SUB-22: a change set is told once to each stream that is for it, of each kind that it
/// changes, with the id of the subscription.
pub fn listeners_are_told_once_over_http<K: Kit>(_: &str) {
    let (server, registry) = watched::<K>();
    let host = host::<K>(server);
    let mut all: Vec<_> = (0..3).map(|_| listening(&host.url, EVERYTHING)).collect();
    let mut some = listening(&host.url, r#""resourceSubscriptions":["kiln://state"]"#);
    change(&registry);
    for raw in &mut all {
        let lines = raw.until("resources/updated");
        counts(&lines, [1, 0, 0]);
        assert!(lines.iter().all(|line| !line.contains("data") || line.contains(r#"subscriptionId":7"#)));
    }
    counts(&some.until("resources/updated"), [0, 0, 0]);
    // What is told is there.
    assert_eq!(names::<K>(&host.client(EraChoice::Modern)), ["old", "new", "other"]);
    host.end();
}

/// SUB-08, SUB-12, SUBL-04, SUBL-05: on a byte stream a subscription and a legacy session are told, each in its
/// own way.
pub fn listeners_are_told_once_on_a_stream<K: Kit>(_: &str) {
    let (server, registry) = watched::<K>();
    let (mut raw, served) = raw_on_a_stream::<K>(server);
    let subscribe =
        r#"{"jsonrpc":"2.0","id":1,"method":"resources/subscribe","params":{"uri":"kiln://state"}}"#;
    for line in [INITIALIZE, INITIALIZED, subscribe, &listen("7", EVERYTHING)] {
        raw.write(&format!("{line}\n"));
    }
    raw.expect(ACKNOWLEDGED);
    change(&registry);
    let lines = [raw.until("resources/updated"), raw.until("resources/updated")].concat();
    counts(&lines, [2, 0, 0]);
    let own = lines.iter().filter(|line| line.contains(r#"subscriptionId":7"#)).count();
    assert_eq!(own, 2, "{lines:#?}");
    raw.write("{\"jsonrpc\":\"2.0\",\"method\":\"notifications/cancelled\",\"params\":{\"requestId\":7}}\n");
    raw.write(&format!("{}\n", subscribe.replace("subscribe", "unsubscribe")));
    raw.expect(r#""result":{}"#);
    registry.change(|offer| offer.remove_tool("old")).unwrap();
    registry.resource_updated("kiln://state");
    raw.write("{\"jsonrpc\":\"2.0\",\"id\":9,\"method\":\"ping\"}\n");
    let lines = raw.until(r#""id":9"#);
    counts(&lines, [1, 0, 0]);
    assert!(lines.len() == 2 && !lines[0].contains("subscriptionId"), "{lines:#?}");
    drop(raw);
    served.join().unwrap();
}

/// SUB-13, SUB-14: a server that stops ends its streams with their result, and is then done.
pub fn stopping_ends_streams_with_their_result<K: Kit>(_: &str) {
    let (server, _registry) = watched::<K>();
    let host = host::<K>(server);
    let mut raw = listening(&host.url, EVERYTHING);
    host.stop.stop();
    raw.expect(r#""resultType":"complete""#);
    host.end();
}

/// Limits::listens: one more is answered 503; a client that closes its stream makes room.
pub fn streams_of_changes_are_bounded<K: Kit>(_: &str) {
    let (server, _registry) = watched::<K>();
    let mut limits = Limits::default();
    limits.listens = 1;
    let host = host::<K>(server.limits(limits));
    let first = listening(&host.url, EVERYTHING);
    let status = || {
        let mut raw = Raw::connect(&host.url);
        raw.post(&format!("Connection: close\r\n{FIELDS}"), &listen("8", ""));
        raw.status()
    };
    assert_eq!(status(), 503);
    drop(first);
    eventually("there is room", || Some(status()).filter(|status| *status == 200).ok_or("503"));
    host.end();
}

/// Limits::listens: streams that clients keep open count together, those of legacy sessions and of HTTP with SSE as
/// well; one more is answered 503, and one less makes room for any. Calls are served all the while.
pub fn streams_that_clients_keep_are_bounded_together<K: Kit>(_: &str) {
    let (server, _registry) = watched::<K>();
    let mut limits = Limits::default();
    limits.listens = 3;
    let host = host::<K>(server.http_sse("/sse", "/messages").limits(limits));
    let session = super::http::session(&host.url);
    let get = format!("{session}Accept: text/event-stream\r\n");
    let kinds: [&dyn Fn(&mut Raw); 3] = [
        &|raw| raw.post(&format!("Connection: close\r\n{FIELDS}"), &listen("8", "")),
        &|raw| raw.bare("GET", &format!("Connection: close\r\n{get}")),
        &|raw| raw.bare_at("/sse", "GET", "Connection: close\r\nAccept: text/event-stream\r\n"),
    ];
    let open = |kind: usize| {
        let mut raw = Raw::connect(&host.url);
        kinds[kind](&mut raw);
        let status = raw.status();
        (status, raw)
    };
    let mut kept: Vec<_> = (0..3).map(|kind| Some(open(kind))).collect();
    assert!(kept.iter().flatten().all(|(status, _)| *status == 200));
    for kind in 0..3 {
        assert_eq!(open(kind).0, 503);
    }
    let mut raw = Raw::connect(&host.url);
    raw.post(&session, r#"{"jsonrpc":"2.0","id":1,"method":"tools/list"}"#);
    assert_eq!(raw.answer().status, 200);
    for (kind, kept) in kept.iter_mut().enumerate() {
        drop(kept.take());
        let room = || Some(open((kind + 1) % 3)).filter(|(status, _)| *status == 200).ok_or("503");
        *kept = Some(eventually("there is room", room));
        assert_eq!(open(kind).0, 503);
    }
    drop(kept);
    host.end();
}

/// The application decides who may listen, and what the others are told.
pub fn the_application_refuses_listeners<K: Kit>(_: &str) {
    let (server, _registry) = watched::<K>();
    let host = host::<K>(server.on_listen(|listen| match listen.wanted.tools {
        true => Err(ErrorObject::new(7, "not the tools")),
        false => Ok(()),
    }));
    let mut raw = Raw::connect(&host.url);
    raw.post(FIELDS, &listen("8", EVERYTHING));
    assert!(raw.answer().body.contains("not the tools"));
    listening(&host.url, r#""promptsListChanged":true"#);
    host.end();
}

/// A client that does not read holds up neither whoever publishes nor other clients.
pub fn a_client_that_does_not_read_holds_up_nobody<K: Kit>(_: &str) {
    let (server, registry) = watched::<K>();
    let mut limits = Limits::default();
    // Whoever waited for the deaf one would wait for longer than anything is waited for here.
    limits.stall = 20 * DEADLINE;
    let host = host::<K>(server.limits(limits));
    let deaf = listening(&host.url, r#""resourceSubscriptions":["kiln://state"]"#);
    let mut other = listening(&host.url, EVERYTHING);
    let long = "x".repeat(2_000);
    let (tell, published) = Events::new();
    let publishing = std::thread::spawn(move || {
        for number in 0..4_000 {
            registry.resource_updated(format!("kiln://state/{number}/{long}"));
            if number % 1_000 == 0 {
                change_tools(&registry, number);
            }
            if number % 100 == 0 {
                tell.tell("published");
            }
        }
    });
    for number in (0..4_000).step_by(100) {
        published.expect("published");
        if number % 1_000 == 0 {
            other.expect("tools/list_changed");
        }
    }
    publishing.join().unwrap();
    drop(deaf);
    host.end();
}

fn change_tools(registry: &Registry, number: usize) {
    let tool = no_arguments(&format!("tool-{number}"));
    registry.change(|offer| offer.tool(tool, |_: Json, _: Context| Ok("x"))).unwrap();
}

/// What is published on a bus reaches the clients of all servers on it.
pub fn servers_share_a_bus<K: Kit>(_: &str) {
    let bus = Arc::new(LocalBus::new());
    let (one, registry) = watched::<K>();
    let (other, _registry) = watched::<K>();
    let hosts = [one, other].map(|server| host::<K>(server.bus(bus.clone())));
    let mut listeners = hosts.each_ref().map(|host| listening(&host.url, EVERYTHING));
    change(&registry);
    for listener in &mut listeners {
        counts(&listener.until("resources/updated"), [1, 0, 0]);
    }
    hosts.into_iter().for_each(Host::end);
}

/// SUBL-02, SUBL-04, SUBL-05, HTTPL-28: a legacy client over HTTP is told on the stream of its session.
pub fn legacy_sessions_are_told_on_their_stream<K: Kit>(_: &str) {
    let (server, registry) = watched::<K>();
    let host = host::<K>(server);
    let mut raw = Raw::connect(&host.url);
    raw.post("", INITIALIZE);
    let answer = raw.answer();
    assert!(answer.body.contains(r#""subscribe":true"#), "{}", answer.body);
    let session = format!("Mcp-Session-Id: {}\r\n", answer.header("Mcp-Session-Id").unwrap());
    raw.post(&session, INITIALIZED);
    assert_eq!(raw.answer().status, 202);
    let subscribe =
        r#"{"jsonrpc":"2.0","id":1,"method":"resources/subscribe","params":{"uri":"kiln://state"}}"#;
    raw.post(&session, subscribe);
    assert!(raw.answer().body.contains(r#""result":{}"#));
    let mut stream = Raw::connect(&host.url);
    let address = host.url.strip_prefix("http://").unwrap().split('/').next().unwrap();
    stream.write(&format!(
        "GET /mcp HTTP/1.1\r\nHost: {address}\r\nAccept: text/event-stream\r\n{session}\r\n"
    ));
    stream.expect("data:");
    change(&registry);
    let lines = stream.until("resources/updated");
    counts(&lines, [1, 0, 0]);
    assert!(lines.iter().all(|line| !line.contains("subscriptionId")));
    host.end();
}

/// RES-21: what is there depends on who asks, in lists and in calls alike.
pub fn a_rule_decides_what_is_there<K: Kit>(_: &str) {
    for era in ERAS {
        let (server, _registry) = changeable::<K>();
        let server = server
            .tool(no_arguments("secret"), |_: Json, _: Context| Ok("told"))
            .method("acme/secret", |_: Json, _: Context| Ok(()));
        let secret = Custom::new("acme/secret", None).unwrap();
        let host = host::<K>(server.visible(move |viewer, item| {
            assert_eq!(
                viewer.revision.era(),
                if era == EraChoice::Legacy { Era::Legacy } else { Era::Modern }
            );
            assert!(item.name() != "old", "a rule that panics shows nothing");
            viewer.client.info.as_ref().is_some_and(|info| info.name == "scenario")
        }));
        let client = host.client(era);
        assert_eq!(names::<K>(&client), ["secret"]);
        assert_eq!(text::<K>(&client, "secret"), "told");
        call::<K>(&client, "old", json!({})).unwrap_err();
        K::wait(client.request(&secret)).unwrap();
        let builder = Client::<K>::builder("stranger", "1").era(era);
        let stranger = K::wait(builder.http(&host.url)).unwrap();
        assert!(names::<K>(&stranger).is_empty());
        call::<K>(&stranger, "secret", json!({})).unwrap_err();
        let refused = K::wait(stranger.request(&secret)).unwrap_err();
        assert!(matches!(refused, CallError::Server { .. }), "{refused:?}");
        K::wait(client.close()).unwrap();
        K::wait(stranger.close()).unwrap();
        host.end();
    }
}

/// What is unwise about a tool is reported whenever it comes, once.
pub fn unwise_tools_that_come_later_are_reported<K: Kit>(_: &str) {
    let (tell, events) = Events::new();
    let (server, registry) = changeable::<K>();
    let server = server.on_error(move |report| tell.tell(report.to_string()));
    let host = host::<K>(server);
    registry.change(|offer| offer.tool(no_arguments("un wise"), |_: Json, _: Context| Ok("x"))).unwrap();
    registry.change(|offer| offer.remove_tool("old")).unwrap();
    host.end();
    let told = events.others();
    assert_eq!(told.iter().filter(|event| event.contains("tool un wise")).count(), 1, "{told:?}");
}
