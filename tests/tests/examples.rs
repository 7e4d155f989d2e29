//! The example servers of the adapters do what they say. (Clients by hand are what ours cannot be yet.)

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use mcp_driver::auth::{Authorize, Config, FileStore};
use mcp_driver::{
    AuthRefusal, BearerToken, Calls, ClientBuilder, Context, EraChoice, Error, Grant, Principal,
    ResourceServer, Stop, Tool, model::ContentBlock,
};
use mcp_tests::authorization_server::{AuthorizationServer, browse};
use mcp_tests::kit::{Background, Client, Kit, OnBlocking, OnSmol, OnTokio, Server, background};
use mcp_tests::scenarios::asks::{ALL, Peer, SPEECHES, accept};
use mcp_tests::support::{Events, Port, Raw, eventually};
use serde_json::{Value, json};

#[path = "../../runtime-blocking/examples/blocking_authorize.rs"]
#[expect(dead_code, reason = "it is a program")]
mod blocking_authorize;
#[path = "../../runtime-blocking/examples/blocking_llm.rs"]
#[expect(dead_code, reason = "it is a program")]
mod blocking_llm;
#[path = "../../runtime-blocking/examples/blocking_prompts.rs"]
#[expect(dead_code, reason = "it is a program")]
mod blocking_prompts;
#[path = "../../runtime-smol/examples/smol_asking.rs"]
#[expect(dead_code, reason = "it is a program")]
mod smol_asking;
#[path = "../../runtime-tokio/examples/tokio_authorization.rs"]
#[expect(dead_code, reason = "it is a program")]
mod tokio_authorization;
#[path = "../../runtime-tokio/examples/tokio_axum.rs"]
#[expect(dead_code, reason = "it is a program")]
mod tokio_axum;
#[path = "../../runtime-tokio/examples/tokio_hygiene.rs"]
#[expect(dead_code, reason = "it is a program")]
mod tokio_hygiene;
#[path = "../../runtime-tokio/examples/tokio_listen.rs"]
#[expect(dead_code, reason = "it is a program")]
mod tokio_listen;
#[path = "../../runtime-tokio/examples/tokio_registry.rs"]
#[expect(dead_code, reason = "it is a program")]
mod tokio_registry;
#[path = "../../runtime-tokio/examples/tokio_sessions.rs"]
#[expect(dead_code, reason = "it is a program")]
mod tokio_sessions;
#[path = "../../runtime-tokio/examples/tokio_state.rs"]
#[expect(dead_code, reason = "it is a program")]
mod tokio_state;
#[path = "../../runtime-tokio/examples/tokio_subscriptions.rs"]
#[expect(dead_code, reason = "it is a program")]
mod tokio_subscriptions;
#[path = "../../runtime-tokio/examples/tokio_task.rs"]
#[expect(dead_code, reason = "it is a program")]
mod tokio_task;
#[path = "../../runtime-tokio/examples/tokio_tools.rs"]
#[expect(dead_code, reason = "it is a program")]
mod tokio_tools;

/// An example that is being served.
struct Served {
    url: String,
    stop: Stop,
    serving: Background<Result<(), Error>>,
}

fn served<K: Kit>(server: Server<K>) -> Served {
    let _entered = K::enter();
    let server = K::wait(server.bind_http("127.0.0.1:0")).unwrap();
    let (url, stop) = (server.url(), server.stop_handle());
    Served { url, stop, serving: background::<K, _>(move || K::wait(server.serve())) }
}

impl Served {
    fn client<K: Kit>(
        &self,
        change: impl FnOnce(ClientBuilder<K::Runtime>) -> ClientBuilder<K::Runtime>,
    ) -> Client<K> {
        let _entered = K::enter();
        K::wait(change(Client::<K>::builder("examples", "1")).http(&self.url)).unwrap()
    }

    /// Answers one modern request that was made by hand.
    fn asked(&self, method: &str, name: &str, params: Value) -> Value {
        let mut raw = Raw::connect(&self.url);
        raw.post(&fields(method, name), &request(method, params));
        serde_json::from_str(&raw.answer().body).unwrap()
    }

    fn end(self) {
        self.stop.stop();
        self.serving.join().unwrap();
    }
}

fn fields(method: &str, name: &str) -> String {
    let name = if name.is_empty() { String::new() } else { format!("Mcp-Name: {name}\r\n") };
    format!("MCP-Protocol-Version: 2026-07-28\r\nMcp-Method: {method}\r\n{name}")
}

fn request(method: &str, mut params: Value) -> String {
    params["_meta"] = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": { "elicitation": { "form": {} } },
    });
    json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": params }).to_string()
}

fn names(tools: &[mcp_driver::model::Tool]) -> Vec<&str> {
    tools.iter().map(|tool| &*tool.name).collect()
}

#[test]
fn tools_are_described_and_checked() {
    let _entered = OnTokio::enter();
    let served = served::<OnTokio>(tokio_tools::server());
    let client = served.client::<OnTokio>(|client| client);
    OnTokio::block_on(async {
        let tools = client.list_tools().await.unwrap();
        assert_eq!(names(&tools), ["forecast", "observe", "query"]);
        let forecast = &tools[0];
        assert_eq!(forecast.title.as_deref(), Some("Weather forecast"));
        assert!(forecast.output_schema.is_some() && forecast.icons.len() == 1);
        assert!(forecast.annotations.as_ref().unwrap().is_read_only());
        assert!(forecast.input_schema.get().contains("x-mcp-header"));

        let weather = json!({ "town": "Kiruna", "region": "north", "days": 2 });
        let weather = client.call_tool("forecast", weather).await.unwrap();
        assert_eq!(weather.structured::<Value>().unwrap(), json!({ "sky": "clear", "degrees": 18 }));
        for (wrong, said) in [
            (json!({ "town": "Rome", "region": "south" }), "try `north`"),
            (json!({ "town": "Kiruna", "region": "north", "days": 9 }), "days"),
        ] {
            let reply = client.call_tool("forecast", wrong).await.unwrap();
            assert!(reply.text().contains(said), "{}", reply.text());
        }

        let observed = client.call_tool("observe", json!({})).await.unwrap();
        let content = observed.content();
        assert!(
            matches!(
                content,
                [
                    ContentBlock::Text(_),
                    ContentBlock::Image(_),
                    ContentBlock::Audio(_),
                    ContentBlock::ResourceLink(_),
                    ContentBlock::Resource(_)
                ]
            ),
            "{content:?}"
        );

        let found = client.call_tool("query", json!({ "year": 1999 })).await.unwrap();
        assert!(found.text().contains(r#""year":1999"#));
        let refused = client.call_tool("query", json!({ "since": "May" })).await.unwrap();
        assert!(refused.text().contains("since"), "{}", refused.text());
        client.close().await.unwrap();
    });
    served.end();
}

#[test]
fn prompts_and_resources_are_offered() {
    let served = served::<OnBlocking>(blocking_prompts::server());
    let client = served.client::<OnBlocking>(|client| client);
    assert_eq!(client.list_prompts().unwrap()[0].arguments.len(), 2);
    let filled = client.get_prompt("cook", &[("dish", "pesto")]).unwrap();
    assert!(format!("{filled:?}").contains("pine nuts"));
    client.get_prompt("cook", &[("dish", "gravel")]).unwrap_err();

    let read = |uri: &str| client.read_resource(uri).map(|result| format!("{result:?}"));
    assert!(read("kitchen://rules").unwrap().contains("Wash your hands."));
    assert!(read("kitchen://time").unwrap().contains("3 recipes"));
    assert!(read("kitchen://photo").unwrap().contains("image/png"));
    assert!(read("recipe://bread").unwrap().contains("Flour"));
    read("recipe://gravel").unwrap_err();
    client.close().unwrap();

    for (kind, named) in [("ref/prompt", "name"), ("ref/resource", "uri")] {
        let named_by = if named == "name" { "cook" } else { "recipe://{dish}" };
        let params =
            json!({ "ref": { "type": kind, named: named_by }, "argument": { "name": "dish", "value": "b" } });
        let completed = served.asked("completion/complete", "", params);
        assert_eq!(completed["result"]["completion"]["values"], json!(["borscht", "bread"]), "{completed}");
    }
    let listed = served.asked("prompts/list", "", json!({}));
    assert_eq!(listed["result"]["ttlMs"], 24 * 60 * 60 * 1000);
    served.end();
}

#[test]
fn changes_reach_those_whom_they_concern() {
    let _entered = OnTokio::enter();
    let bus = std::sync::Arc::new(tokio_registry::Told::default());
    let connect =
        |who| Peer::connect::<OnTokio>(tokio_registry::server(bus.clone(), who), Some("2025-11-25"), "{}");
    let mut keeper = connect(mcp_driver::Principal::new("kay").scopes(["keep"]));
    let mut customer = connect(mcp_driver::Principal::new("cleo"));
    let list = |peer: &mut Peer| {
        let listed = peer.complete("tools/list", json!({}), |_, _| None).response;
        let tools = listed["result"]["tools"].as_array().unwrap().clone();
        tools.iter().map(|tool| tool["name"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    assert_eq!(list(&mut keeper), ["keeper_open", "keeper_close"]);
    assert_eq!(list(&mut customer), [""; 0]);
    assert_eq!(customer.call("keeper_open", json!({}), |_, _| None).response["error"]["code"], -32602);

    keeper.request("tools/call", json!({ "name": "keeper_open", "arguments": {} }));
    // One bus, two servers: both clients hear that there are other tools now.
    assert_eq!(customer.read()["method"], "notifications/tools/list_changed");
    let said = [keeper.read(), keeper.read()];
    assert!(said.iter().any(|message| message["method"] == "notifications/tools/list_changed"), "{said:?}");
    assert_eq!(list(&mut keeper), ["keeper_open", "keeper_close", "buy"]);
}

#[test]
fn more_than_forms_is_asked_for() {
    for speech in SPEECHES {
        let mut peer = Peer::connect::<OnSmol>(smol_asking::server(), speech, ALL);
        let outcome = peer.call("publish", json!({ "text": "Long ago." }), |_, request| {
            match request["method"].as_str().unwrap() {
                "roots/list" => Some(json!({ "roots": [{ "uri": "file:///srv/press" }] })),
                "sampling/createMessage" => Some(
                    json!({ "role": "assistant", "model": "m", "content": { "type": "text", "text": "Once" } }),
                ),
                _ => {
                    assert!(request["params"]["url"].as_str().unwrap().ends_with("ticket=7"), "{request}");
                    Some(json!({ "action": "accept" }))
                }
            }
        });
        // Three requests, or two rounds.
        let asked = if speech.is_some() { 3 } else { 2 };
        let expected = "`Once` from file:///srv/press is published once you have signed in, ticket 7";
        assert_eq!((outcome.text(), outcome.asked), (expected, asked), "{speech:?}");
    }
}

/// What one server asked, another is told, if it has the key.
#[test]
fn state_travels_between_servers_with_the_same_keys() {
    let _entered = OnTokio::enter();
    let keys = |text: &str| tokio_state::keys(text).unwrap();
    let (old, new) = ("11".repeat(32), "22".repeat(32));
    tokio_state::keys("1234").unwrap_err();
    tokio_state::keys("no key").unwrap_err();
    let first = served::<OnTokio>(tokio_state::server(keys(&old)));
    let second = served::<OnTokio>(tokio_state::server(keys(&format!("{new},{old}"))));
    let stranger = served::<OnTokio>(tokio_state::server(keys(&new)));

    let order = json!({ "name": "order", "arguments": { "pizza": "bianca" } });
    let asked = first.asked("tools/call", "order", order.clone());
    assert!(asked["result"]["inputRequests"]["size"].is_object(), "{asked}");
    let mut retry = order.clone();
    retry["inputResponses"] = json!({ "size": { "action": "accept", "content": { "choice": "small" } } });
    let asked = first.asked("tools/call", "order", retry);
    let mut retry = order;
    retry["inputResponses"] = json!({ "topping": { "action": "accept", "content": { "choice": "capers" } } });
    retry["requestState"] = asked["result"]["requestState"].clone();
    let told = second.asked("tools/call", "order", retry.clone());
    assert_eq!(told["result"]["content"][0]["text"], "a small bianca with capers", "{told}");
    let refused = stranger.asked("tools/call", "order", retry);
    assert_eq!(refused["error"]["code"], -32602, "{refused}");
    [first, second, stranger].into_iter().for_each(Served::end);

    // A client of the legacy era is asked by requests, by the same handler.
    let mut peer = Peer::connect::<OnTokio>(tokio_state::server(keys(&old)), Some("2025-11-25"), ALL);
    let outcome = peer.call("order", json!({ "pizza": "bianca" }), |question, _| {
        accept(json!({ "choice": if question.contains("size") { "large" } else { "olives" } }))
    });
    assert_eq!(outcome.text(), "a large bianca with olives");
}

#[test]
fn a_call_goes_on_as_a_task() {
    let _entered = OnTokio::enter();
    let capabilities = r#"{"elicitation":{},"extensions":{"io.modelcontextprotocol/tasks":{}}}"#;
    let mut peer = Peer::connect::<OnTokio>(tokio_task::server(), None, capabilities);
    let mut ask = |method: &str, params: Value| {
        peer.request(method, params);
        peer.read()["result"].clone()
    };
    let arguments = json!({ "scene": "a bridge", "frames": 2 });
    let created = ask("tools/call", json!({ "name": "render", "arguments": arguments }));
    assert_eq!(created["resultType"], "task", "{created}");
    let mut get = || ask("tasks/get", json!({ "taskId": created["taskId"] }));
    let becomes = |get: &mut dyn FnMut() -> Value, status: &str| {
        eventually(status, || {
            let task = get();
            if task["status"] == status { Ok(task) } else { Err(task) }
        })
    };
    let asked = becomes(&mut get, "input_required");
    assert_eq!(asked["statusMessage"], "frame 2 of 2");
    let key = asked["inputRequests"].as_object().unwrap().keys().next().unwrap();
    let answer = json!({ "action": "accept", "content": { "really": true } });
    ask("tasks/update", json!({ "taskId": created["taskId"], "inputResponses": { key: answer } }));
    let mut get = || ask("tasks/get", json!({ "taskId": created["taskId"] }));
    let done = becomes(&mut get, "completed");
    assert_eq!(done["result"]["content"][0]["text"], "2 frames of a bridge, published");

    // Who knows no tasks is served by the same handler.
    let mut plain = Peer::connect::<OnTokio>(tokio_task::server(), Some("2025-11-25"), ALL);
    let arguments = json!({ "scene": "a bridge", "frames": 1 });
    let outcome = plain.call("render", arguments, |_, _| accept(json!({ "really": false })));
    assert_eq!(outcome.text(), "1 frames of a bridge");
}

#[test]
fn listeners_hear_what_changes() {
    let _entered = OnTokio::enter();
    let (server, registry, _) = tokio_subscriptions::server();
    let served = served::<OnTokio>(server);
    let listen = |uri: &str| {
        let params = json!({ "notifications": { "toolsListChanged": true, "resourceSubscriptions": [uri] } });
        let mut raw = Raw::connect(&served.url);
        raw.post(&fields("subscriptions/listen", ""), &request("subscriptions/listen", params));
        raw
    };
    let refused = listen("file:///etc/passwd").answer();
    assert!(refused.body.contains("say what you listen to"), "{refused:?}");
    let mut raw = listen("kiln://temperature");
    raw.expect("notifications/subscriptions/acknowledged");
    registry.change(|offer| tokio_subscriptions::offer_door(offer, true)).unwrap();
    raw.expect("notifications/tools/list_changed");
    registry.resource_updated("kiln://temperature");
    raw.expect("notifications/resources/updated");
    // When the server stops, those who listen have their result.
    served.stop.stop();
    raw.expect("\"result\"");
    served.end();
}

#[test]
fn a_client_listens_in_either_era() {
    for era in [EraChoice::Modern, EraChoice::Legacy] {
        let (server, registry, _) = tokio_subscriptions::server();
        let served = served::<OnTokio>(server);
        let (tell, events) = Events::new();
        let url = served.url.clone();
        let listening = background::<OnTokio, _>(move || {
            OnTokio::block_on(tokio_listen::listen(&url, era, |line| tell.tell(line)))
        });
        events.expect("listening");
        registry.change(|offer| tokio_subscriptions::offer_door(offer, true)).unwrap();
        events.expect("the tools are [\"open_door\"]");
        registry.resource_updated("kiln://temperature");
        events.expect("Resource(\"kiln://temperature\") has changed");
        served.end();
        // A modern server says that it was the end; a legacy one is just gone.
        drop(listening);
    }
}

#[test]
fn sessions_outlive_their_server_or_are_not_needed() {
    let _entered = OnTokio::enter();
    let folder = std::env::temp_dir().join(format!("mcp-examples-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let start = || served::<OnTokio>(tokio_sessions::with_sessions(tokio_sessions::server(), folder.clone()));
    let first = start();
    let mut raw = Raw::connect(&first.url);
    raw.post("X-User: ada\r\n", INITIALIZE);
    let session = raw.answer().header("Mcp-Session-Id").unwrap().to_owned();
    first.end();

    let second = start();
    for (user, status) in [("ada", 200), ("bob", 404)] {
        let mut raw = Raw::connect(&second.url);
        let fields =
            format!("X-User: {user}\r\nMcp-Session-Id: {session}\r\nMCP-Protocol-Version: 2025-11-25\r\n");
        raw.post(&fields, r#"{"jsonrpc":"2.0","id":1,"method":"tools/list"}"#);
        assert_eq!(raw.answer().status, status, "{user}");
    }
    second.end();
    std::fs::remove_dir_all(folder).unwrap();

    let stateless = served::<OnTokio>(tokio_sessions::server().stateless().json_responses());
    let mut raw = Raw::connect(&stateless.url);
    raw.post("", INITIALIZE);
    assert_eq!(raw.answer().header("Mcp-Session-Id"), None);
    let counted = r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"census","arguments":{"sheep":0}}}"#;
    raw.post("MCP-Protocol-Version: 2025-11-25\r\n", counted);
    let answer = raw.answer();
    assert_eq!(answer.header("Content-Type"), Some("application/json"));
    assert!(answer.body.contains("0 sheep"), "{answer:?}");
    stateless.end();
}

const INITIALIZE: &str = r#"{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"raw","version":"1"}}}"#;

#[test]
fn strangers_are_kept_out_and_what_has_begun_is_finished() {
    let _entered = OnTokio::enter();
    let served = served::<OnTokio>(tokio_hygiene::server());
    let call = |to: u32| request("tools/call", json!({ "name": "count", "arguments": { "to": to } }));
    for (head, status) in [
        ("", 200),
        ("Host: mcp.example.com\r\n", 200),
        ("Host: mcp.example.com\r\nOrigin: https://app.example\r\n", 200),
        ("Host: evil.example\r\n", 403),
        ("Host: mcp.example.com\r\nOrigin: https://evil.example\r\n", 403),
    ] {
        let mut raw = Raw::connect(&served.url);
        raw.post(&format!("{head}{}", fields("tools/call", "count")), &call(0));
        assert_eq!(raw.answer().status, status, "{head}");
    }
    let mut raw = Raw::connect(&served.url);
    raw.bare("OPTIONS", "Origin: https://app.example\r\nAccess-Control-Request-Method: POST\r\n");
    let answer = raw.answer();
    assert_eq!(answer.header("Access-Control-Max-Age"), Some("600"), "{answer:?}");
    let mut raw = Raw::connect(&served.url);
    // The rest of it need not be taken.
    let _ = raw.try_post(&fields("tools/call", "count"), &" ".repeat(65 << 10));
    assert_eq!(raw.answer().status, 413);

    let mut raw = Raw::connect(&served.url);
    let watched = call(3).replace(r#""_meta":{"#, r#""_meta":{"progressToken":1,"#);
    raw.post(&fields("tools/call", "count"), &watched);
    raw.expect(r#""progress":1"#);
    served.stop.drain(std::time::Duration::from_secs(10));
    raw.expect("counted to 3");
    served.serving.join().unwrap();
}

#[test]
fn scopes_are_demanded() {
    let _entered = OnTokio::enter();
    let served = served::<OnTokio>(tokio_authorization::server());
    let mut raw = Raw::connect(&served.url);
    raw.post("", "{}");
    let answer = raw.answer();
    assert_eq!(answer.status, 401);
    assert!(answer.header("WWW-Authenticate").unwrap().contains("resource_metadata"), "{answer:?}");
    let add = request("tools/call", json!({ "name": "add", "arguments": { "text": "sweep" } }));
    for (token, status) in [("reader", 403), ("writer", 200)] {
        let mut raw = Raw::connect(&served.url);
        raw.post(&format!("Authorization: Bearer {token}\r\n{}", fields("tools/call", "add")), &add);
        assert_eq!(raw.answer().status, status, "{token}");
    }
    let client = served.client::<OnTokio>(|client| client.header("Authorization", "Bearer writer"));
    OnTokio::block_on(async {
        let listed = client.call_tool("list", json!({})).await.unwrap();
        assert_eq!(listed.text(), "water the kiln\nsweep (walt)");
        client.close().await.unwrap();
    });
    served.end();
}

#[test]
fn a_server_is_a_route_of_an_application() {
    let _entered = OnTokio::enter();
    let (router, service) = tokio_axum::app().unwrap();
    let listener = OnTokio::block_on(tokio::net::TcpListener::bind("127.0.0.1:0")).unwrap();
    let url = format!("http://{}/mcp", listener.local_addr().unwrap());
    let serving = tokio::spawn(async move { axum::serve(listener, router).await });
    let mut raw = Raw::connect(&url);
    let call = request("tools/call", json!({ "name": "where", "arguments": {} }));
    raw.post(&fields("tools/call", "where"), &call);
    assert!(raw.answer().body.contains("north"));
    OnTokio::block_on(service.http_service().drain(std::time::Duration::from_secs(1))).unwrap();
    raw.post(&fields("tools/call", "where"), &call);
    assert_eq!(raw.answer().status, 503);
    serving.abort();
}

/// TOOL-34: tools are declared to three providers, called as a model would, and answered, failures too.
#[test]
fn tools_become_functions_of_models() {
    let mut said = Vec::new();
    blocking_llm::run(&mut |line| said.push(line.to_owned())).unwrap();
    let said = said.join("\n");
    for part in [
        r#"{"type":"function","function":{"name":"weather_at_"#,
        r#""required":["day","town"],"additionalProperties":false"#,
        r#""strict":true"#,
        r#"{"functionDeclarations":[{"name":"weather_at_"#,
        r#""nullable":true"#,
        r#""text":"Snow in 2 days""#,
        r#"try Kiruna"}],"is_error":true}"#,
    ] {
        assert!(said.contains(part), "{part}: {said}");
    }
}

#[derive(serde::Deserialize, schemars::JsonSchema)]
struct Nothing {}

/// AUTH-04, AUTH-70: the user is asked the first time; then what is in the file is enough.
#[test]
fn a_user_is_asked_once() {
    let by = AuthorizationServer::start();
    let free = Port::hold();
    let url = free.url();
    let resource = ResourceServer::new(&url).authorization_server(&by.url);
    let policy = by.policy.clone();
    let verify = move |token: BearerToken| {
        let policy = policy.lock().unwrap();
        let good = policy.good.iter().any(|good| good == token.as_str());
        good.then(|| Grant::new(Principal::new("ada")).audience(&policy.resource)).ok_or(AuthRefusal::Invalid)
    };
    let server = mcp_blocking::Server::new("protected", "1").resource_server(resource, verify);
    let server = server
        .tool(Tool::new("mow"), |_: Nothing, _: Context| Ok("mown"))
        .bind_http(free.address.to_string())
        .unwrap();
    let stop = server.stop_handle();
    let serving = background::<OnBlocking, _>(move || server.serve());
    let file = std::env::temp_dir().join(format!("mcp-example-grants-{}.json", std::process::id()));
    for visits in [1, 0] {
        let visited = Arc::new(AtomicUsize::new(0));
        let counted = visited.clone();
        let authorize =
            Authorize::new(Config::new("Example")).store(FileStore::new(&file)).open_with(move |url| {
                counted.fetch_add(1, Ordering::Relaxed);
                browse(url).map(drop)
            });
        assert_eq!(blocking_authorize::run(&url, authorize).unwrap(), ["mow"]);
        assert_eq!(visited.load(Ordering::Relaxed), visits);
    }
    std::fs::remove_file(&file).unwrap();
    std::fs::remove_file(file.with_extension("json.lock")).unwrap();
    stop.stop();
    serving.join().unwrap();
}
