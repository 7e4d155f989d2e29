//! Results that a client keeps for as long as its server allows.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use mcp_driver::model::CacheScope;
use mcp_driver::{
    BoxFuture, CacheUse, CallError, Calls, ClientBuilder, Context, EraChoice, Exchanger, Fetch, Freshness,
    Incomplete, Json, ListTools, Options, Outgoing, Registry, Resource, Response, Server, Tool, Traffic,
};
use serde_json::{Value, json};

use super::scripted::{against, discovered, error, exchanging, result};
use super::{Host, builder, hosted};
use crate::kit::{Client, Kit};
use crate::support::{Events, Gate};

const HOUR: Duration = Duration::from_secs(3600);

/// A server with a tool and a resource, which may be kept.
fn served<K: Kit>(scope: CacheScope) -> (Host<K>, Registry) {
    let server = Server::new("stable", "1")
        .tool(tool("saw"), |_: Json, _: Context| Ok("sawn"))
        .resource(Resource::new("rig://door", "door").cache(HOUR, scope), "shut")
        .cache(HOUR, scope);
    let registry = server.registry();
    (hosted::<K>(server, Gate::default(), Events::new().1), registry)
}

fn tool(name: &str) -> Tool {
    Tool::new(name).input_schema(Json::parse(r#"{"type":"object"}"#).unwrap())
}

/// The bodies of requests that a client sent.
#[derive(Clone, Default)]
struct Sent(Arc<Mutex<String>>);

impl Sent {
    fn watch<K: Kit>(&self, builder: ClientBuilder<K::Runtime>) -> ClientBuilder<K::Runtime> {
        let sent = self.0.clone();
        builder.on_traffic(move |traffic| {
            if let Traffic::Sent(bytes) = traffic {
                sent.lock().unwrap().push_str(&String::from_utf8_lossy(bytes));
            }
        })
    }

    /// How often that was requested.
    fn count(&self, method: &str) -> usize {
        self.0.lock().unwrap().matches(&format!("\"method\":\"{method}\"")).count()
    }
}

fn names<K: Kit>(client: &Client<K>) -> Vec<String> {
    K::wait(client.list_tools()).unwrap().into_iter().map(|tool| tool.name).collect()
}

/// Whether a server is there is not told by what it said before, however long that may be kept.
pub fn a_ping_is_sent_each_time<K: Kit>(_: &str) {
    let (host, _) = served::<K>(CacheScope::Public);
    let sent = Sent::default();
    let client = K::wait(sent.watch::<K>(builder::<K>(EraChoice::Modern)).http(&host.url)).unwrap();
    let before = sent.count("server/discover");
    for _ in 0..2 {
        K::wait(client.ping()).unwrap();
    }
    assert_eq!(sent.count("server/discover"), before + 2);
}

/// CACHE-20, CACHE-26: no request while it is fresh, unless the call wants one; and what is kept can be looked at.
pub fn what_is_fresh_is_not_asked_for<K: Kit>(_: &str) {
    let (host, registry) = served::<K>(CacheScope::Public);
    let sent = Sent::default();
    let builder = sent.watch::<K>(builder::<K>(EraChoice::Auto));
    let client: Client<K> = K::wait(builder.http(&host.url)).unwrap();
    for _ in 0..3 {
        assert_eq!(names::<K>(&client), ["saw"]);
        K::wait(client.read_resource("rig://door")).unwrap();
    }
    assert_eq!((sent.count("tools/list"), sent.count("resources/read")), (1, 1));
    let kept = client.cache();
    let methods: Vec<_> = kept.iter().map(|entry| (entry.method, entry.uri.as_deref())).collect();
    assert_eq!(
        methods,
        [("server/discover", None), ("tools/list", None), ("resources/read", Some("rig://door"))]
    );
    assert!(
        kept.iter().all(|entry| entry.is_fresh() && entry.ttl == HOUR && entry.scope == CacheScope::Public)
    );

    registry.change(|offer| offer.tool(tool("axe"), |_: Json, _: Context| Ok("hewn"))).unwrap();
    assert_eq!(names::<K>(&client), ["saw"]);
    let fetch = |cache| K::wait(client.start(&Fetch(ListTools::new()), Options::new().cache(cache))).unwrap();
    assert!(matches!(fetch(CacheUse::FreshOrStale).freshness, Freshness::Kept { .. }));
    let fetched = fetch(CacheUse::Refresh);
    assert_eq!((fetched.reply.tools.len(), fetched.freshness), (2, Freshness::New));
    assert_eq!(names::<K>(&client), ["saw", "axe"]);
    client.clear_cache();
    assert!(client.cache().is_empty());
    assert_eq!(names::<K>(&client), ["saw", "axe"]);
    assert_eq!(sent.count("tools/list"), 3);
    K::wait(client.close()).unwrap();
    host.end();
}

/// CACHE-18: whoever has another token from now on is shown nothing that was meant for the one before.
pub fn another_token_is_another_cache<K: Kit>(_: &str) {
    let (host, _) = served::<K>(CacheScope::Private);
    let sent = Sent::default();
    let builder = sent.watch::<K>(builder::<K>(EraChoice::Auto).header("Authorization", "Bearer one"));
    let client: Client<K> = K::wait(builder.http(&host.url)).unwrap();
    names::<K>(&client);
    client.set_header("Authorization", "Bearer one").unwrap();
    names::<K>(&client);
    assert_eq!(sent.count("tools/list"), 1);
    client.set_header("Authorization", "Bearer two").unwrap();
    assert!(client.cache().is_empty());
    names::<K>(&client);
    assert_eq!(sent.count("tools/list"), 2);
    K::wait(client.close()).unwrap();
    host.end();
}

/// CACHE-26: what is stale stands in for a server that is gone, and says so.
pub fn what_is_stale_stands_in_for_a_server_that_is_gone<K: Kit>(_: &str) {
    let server = Server::new("stable", "1")
        .tool(tool("saw"), |_: Json, _: Context| Ok("sawn"))
        .cache(Duration::from_millis(1), CacheScope::Public);
    let host = hosted::<K>(server, Gate::default(), Events::new().1);
    let (tell, reports) = Events::new();
    let builder = builder::<K>(EraChoice::Auto).on_diagnostic(move |report| tell.tell(report.to_string()));
    let client: Client<K> = K::wait(builder.http(&host.url)).unwrap();
    names::<K>(&client);
    host.end();
    // Not fresh for long; until then it needs no server.
    let fetched = crate::support::eventually("it is stale", || {
        let fetched = K::wait(client.start(&Fetch(ListTools::new()), Options::new())).unwrap();
        if matches!(fetched.freshness, Freshness::Stale { .. }) {
            Ok(fetched)
        } else {
            Err(fetched.freshness)
        }
    });
    assert_eq!(fetched.reply.tools[0].name, "saw");
    reports.expect("`tools/list` is answered with a result");
    let fresh = Options::new().cache(CacheUse::Fresh);
    let error = K::wait(client.start(&ListTools::new(), fresh)).unwrap_err();
    assert!(matches!(error, CallError::Broken { .. }), "{error:?}");
    K::wait(client.close()).unwrap();
}

/// CACHE-27: whoever hears of a change finds nothing of before.
pub fn a_listener_finds_nothing_of_before_a_change<K: Kit>(_: &str) {
    let mut version = 0;
    let server = move |request: &Value| match request["method"].as_str() {
        Some("server/discover") => vec![discovered(request, json!({ "tools": { "listChanged": true } }))],
        Some("tools/list") => {
            version += 1;
            let tool = json!({ "name": format!("v{version}"), "inputSchema": { "type": "object" } });
            vec![result(request, json!({ "tools": [tool], "ttlMs": 60_000, "cacheScope": "public" }))]
        }
        Some("x/change") => {
            let change = json!({ "jsonrpc": "2.0", "method": "notifications/tools/list_changed" });
            vec![change, result(request, json!({}))]
        }
        _ => vec![],
    };
    let (tell, events) = Events::new();
    let builder = builder::<K>(EraChoice::Modern).on_notification(move |method, _| tell.tell(method));
    let client = against::<K>(builder, server).unwrap();
    assert_eq!((names::<K>(&client), names::<K>(&client)), (vec!["v1".into()], vec!["v1".into()]));
    let change = mcp_driver::Custom::new("x/change", None).unwrap();
    K::wait(client.request(&change)).unwrap();
    events.expect("notifications/tools/list_changed");
    assert_eq!(names::<K>(&client), ["v2"]);
    K::wait(client.close()).unwrap();
}

/// CACHE-30: a collection begins anew, once, when the server does not know a cursor of its own any more.
pub fn a_collection_begins_anew_when_its_cursor_is_refused<K: Kit>(_: &str) {
    for refusals in [1, 2] {
        let mut refused = 0;
        let server = move |request: &Value| {
            let tool = |name: &str| json!({ "name": name, "inputSchema": { "type": "object" } });
            match (request["method"].as_str(), request["params"]["cursor"].as_str()) {
                (Some("server/discover"), _) => vec![discovered(request, json!({ "tools": {} }))],
                (_, None) => {
                    let page = json!({ "tools": [tool("a")], "nextCursor": "2", "ttlMs": 60_000 });
                    vec![result(request, page)]
                }
                (_, Some(_)) if refused < refusals => {
                    refused += 1;
                    vec![error(request, -32602)]
                }
                (_, Some(_)) => vec![result(request, json!({ "tools": [tool("b")] }))],
            }
        };
        let sent = Sent::default();
        let client = against::<K>(sent.watch::<K>(builder::<K>(EraChoice::Modern)), server).unwrap();
        let listed = K::wait(client.list_tools());
        match refusals {
            1 => assert_eq!(listed.unwrap().len(), 2),
            _ => assert!(
                matches!(listed, Err(Incomplete { error: CallError::Server { .. }, .. })),
                "{listed:?}"
            ),
        }
        assert_eq!(sent.count("tools/list"), 4, "the first page was asked for again");
        K::wait(client.close()).unwrap();
    }
}

/// VER-23, CACHE-21: what a server said of itself is no reason to refuse a call once it is stale.
pub fn a_server_that_offers_more_by_now_is_asked_for_it<K: Kit>(_: &str) {
    let mut introductions = 0;
    let server = move |request: &Value| match request["method"].as_str() {
        Some("server/discover") => {
            introductions += 1;
            let offered = if introductions > 1 { json!({ "prompts": {} }) } else { json!({}) };
            vec![discovered(request, offered)]
        }
        Some("prompts/list") => vec![result(request, json!({ "prompts": [{ "name": "greet" }] }))],
        _ => vec![],
    };
    let sent = Sent::default();
    let client = against::<K>(sent.watch::<K>(builder::<K>(EraChoice::Modern)), server).unwrap();
    assert!(client.capabilities().prompts.is_none());
    assert_eq!(K::wait(client.list_prompts()).unwrap().len(), 1);
    assert!(client.capabilities().prompts.is_some());
    let error = CallError::from(K::wait(client.list_resources()).unwrap_err());
    assert!(matches!(error, CallError::Unsupported { capability: Some("resources"), .. }), "{error}");
    assert_eq!((sent.count("server/discover"), sent.count("resources/list")), (3, 0));
    K::wait(client.close()).unwrap();
}

/// An HTTP client that sends what it is given and nothing else.
struct Plain<E>(E);

impl<E: Exchanger> Exchanger for Plain<E> {
    fn exchange(&self, request: Outgoing, response: Response) -> BoxFuture<()> {
        self.0.exchange(request, response)
    }

    fn adds_credentials(&self) -> bool {
        false
    }
}

/// CACHE-18: an HTTP client of one's own may add a token that nobody else knows of, so what is private is not kept, unless
/// it says that it does not.
pub fn what_is_private_is_kept_for_credentials_of_ours_only<K: Kit>(_: &str) {
    let _entered = K::enter();
    let server = || {
        exchanging(|request, _| {
            let said = match request["method"].as_str() {
                Some("server/discover") => discovered(request, json!({ "tools": {} })),
                _ => result(request, json!({ "tools": [], "ttlMs": 60_000, "cacheScope": "private" })),
            };
            (200, None, Some(said))
        })
    };
    let listed = |builder: ClientBuilder<K::Runtime>| {
        let sent = Sent::default();
        let client = K::wait(sent.watch::<K>(builder).http("https://h.test/mcp")).unwrap();
        for _ in 0..2 {
            assert_eq!(names::<K>(&client), Vec::<String>::new());
        }
        K::wait(client.close()).unwrap();
        sent.count("tools/list")
    };
    assert_eq!(listed(builder::<K>(EraChoice::Modern).exchanger(server())), 2);
    assert_eq!(listed(builder::<K>(EraChoice::Modern).exchanger(Plain(server()))), 1);
}
