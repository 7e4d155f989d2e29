//! Several servers as one.

use std::fmt::Debug;

use mcp_driver::{
    Calls, Command, Context, EraChoice, Error, Group, GroupCall, GroupError, Json, Prompt, Resource, Server,
    ServerFile, Tool, ToolReply,
};
use serde_json::json;

use super::{Host, builder, command};
use crate::kit::{Kit, background};
use crate::support::{Events, Gate, Port};

fn tool(name: &str) -> Tool {
    Tool::new(name).input_schema(Json::parse(r#"{"type":"object"}"#).unwrap())
}

/// A server whose tools say where they are.
fn served<K: Kit>(name: &'static str, own: &'static [&'static str], address: &str) -> Host<K> {
    let mut server: crate::kit::Server<K> = Server::new(name, "1");
    for own in own {
        server = server.tool(tool(own), move |_: Json, _: Context| Ok(format!("{own} of {name}")));
    }
    server = server
        .prompt(Prompt::new("greet"), move |_: Json, _: Context| Ok(format!("hello from {name}")))
        .resource(Resource::new(format!("rig://{name}"), name), name);
    let server = K::wait(server.bind_http(address)).unwrap();
    let (url, stop) = (server.url(), server.stop_handle());
    let run = background::<K, _>(move || K::wait(server.serve()));
    let (gate, events) = (Gate::default(), Events::new().1);
    Host { url, stop, gate, events, served: run, kit: std::marker::PhantomData }
}

fn group<K: Kit>() -> mcp_driver::GroupBuilder<K::Runtime> {
    Group::builder(builder::<K>(EraChoice::Auto))
}

#[track_caller]
fn said(reply: Result<ToolReply, GroupError>) -> String {
    reply.unwrap().text().into_owned()
}

#[track_caller]
fn ambiguous<T: Debug>(outcome: Result<T, GroupError>) -> Vec<String> {
    match outcome {
        Err(GroupError::Ambiguous { candidates, .. }) => candidates,
        other => panic!("{other:?}"),
    }
}

/// TOOL-15, TOOL-16: By its own name where one server has it, with its server in front where several have, and by saying which.
pub fn calls_find_the_server_that_is_meant<K: Kit>(_: &str) {
    let (kiln, shop) = (
        served::<K>("kiln", &["status", "fire"], "127.0.0.1:0"),
        served::<K>("shop", &["status", "order"], "127.0.0.1:0"),
    );
    let group = K::wait(group::<K>().server("kiln", &kiln.url).server("shop", &shop.url).connect()).unwrap();
    assert_eq!(group.servers().collect::<Vec<_>>(), ["kiln", "shop"]);
    // Nothing was listed yet, so that is done first.
    assert_eq!(said(K::wait(group.call_tool("fire", json!({})))), "fire of kiln");
    let listing = K::wait(group.list_tools()).unwrap();
    let names: Vec<_> = listing.items.iter().map(|tool| (&*tool.name, &*tool.server)).collect();
    assert_eq!(
        names,
        [("kiln__status", "kiln"), ("fire", "kiln"), ("shop__status", "shop"), ("order", "shop")]
    );
    assert!(listing.failures.is_empty() && listing.items[0].item.name == "status");
    for tool in &listing.items {
        let reply = K::wait(group.call_tool(&tool.name, json!({})));
        assert_eq!(said(reply), format!("{} of {}", tool.item.name, tool.server));
    }
    assert_eq!(ambiguous(K::wait(group.call_tool("status", json!({})))), ["kiln__status", "shop__status"]);
    let on = GroupCall::new("status", json!({})).on("shop");
    assert_eq!(said(K::wait(group.call(on))), "status of shop");
    let error = K::wait(group.call_tool("nothing", json!({}))).unwrap_err();
    assert!(matches!(error, GroupError::Unknown { .. }), "{error:?}");
    let error = K::wait(group.call(GroupCall::new("status", json!({})).on("nowhere"))).unwrap_err();
    assert_eq!(error.to_string(), "there is no server `nowhere` in the group, only: kiln, shop");

    assert_eq!(ambiguous(K::wait(group.get_prompt("greet", &[]))), ["kiln__greet", "shop__greet"]);
    K::wait(group.get_prompt("shop__greet", &[])).unwrap();
    assert_eq!(K::wait(group.list_prompts()).unwrap().items.len(), 2);
    K::wait(group.read_resource("rig://shop")).unwrap();
    let uris = K::wait(group.list_resources()).unwrap().items;
    assert_eq!(uris.iter().map(|it| &*it.name).collect::<Vec<_>>(), ["rig://kiln", "rig://shop"]);
    assert!(K::wait(group.list_resource_templates()).unwrap().items.is_empty());
    K::wait(group.close()).unwrap();
    let error = K::wait(group.call_tool("fire", json!({}))).unwrap_err();
    assert!(matches!(&error, GroupError::Call { server, .. } if server == "kiln"), "{error:?}");
    kiln.end();
    shop.end();
}

/// One server that fails takes nothing from the others, whether it does so at the beginning, in a list or later.
pub fn one_failing_server_does_not_take_the_rest_down<K: Kit>(program: &str) {
    let kiln = served::<K>("kiln", &["fire"], "127.0.0.1:0");
    let free = Port::hold();
    let group = group::<K>()
        .server("none", Command::new("/no/such/program"))
        .server("late", free.url())
        .server("wrong", "ftp://h/")
        .server("rig", command::<K>(program))
        .server("kiln", &kiln.url);
    let group = K::wait(group.connect()).unwrap();
    let why = |server: &str| group.failure(server).map(|error| error.to_string()).unwrap_or_default();
    assert!(
        why("none").contains("/no/such/program") && why("late").contains("cannot connect"),
        "{}",
        why("late")
    );
    assert!(why("wrong").contains("ftp://") && why("kiln").is_empty() && why("rig").is_empty());
    assert_eq!(said(K::wait(group.call_tool("fire", json!({})))), "fire of kiln");
    assert_eq!(said(K::wait(group.call_tool("echo", json!({ "text": "x" })))), "x");
    let listing = K::wait(group.list_tools()).unwrap();
    let failed: Vec<_> = listing.failures.iter().map(|error| error.to_string()).collect();
    assert_eq!(failed.len(), 3, "{failed:?}");
    assert!(failed[1].starts_with("server `late` is not connected: cannot connect"), "{failed:?}");
    let unknown = K::wait(group.call_tool("order", json!({}))).unwrap_err().to_string();
    assert_eq!(unknown, "no server in the group has a tool `order`; not connected: none, late, wrong");

    let late = served::<K>("late", &["order"], &free.address.to_string());
    K::wait(group.reconnect("none")).unwrap_err();
    K::wait(group.reconnect("late")).unwrap();
    assert_eq!(said(K::wait(group.call_tool("order", json!({})))), "order of late");
    kiln.end();
    let failed = K::wait(group.list_tools()).unwrap().failures;
    assert!(failed.iter().any(|error| matches!(error, GroupError::Call { server, .. } if server == "kiln")));
    // It is not forgotten whose tool that was.
    let error = K::wait(group.call_tool("fire", json!({}))).unwrap_err();
    assert!(matches!(&error, GroupError::Call { server, .. } if server == "kiln"), "{error}");
    K::wait(group.close()).unwrap();
    late.end();
}

/// Calls of one batch run at once, and come back in their order.
pub fn a_batch_runs_at_once_and_keeps_its_order<K: Kit>(_: &str) {
    let host = super::host::<K>(|_| {});
    let shop = served::<K>("shop", &["order"], "127.0.0.1:0");
    let group = K::wait(group::<K>().server("rig", &host.url).server("shop", &shop.url).connect()).unwrap();
    // The first ends only when the second has run.
    let calls = ["wait", "open", "order", "nothing"].map(|name| GroupCall::new(name, json!({})));
    let replies = K::wait(group.call_all(calls)).unwrap();
    let texts: Vec<_> = replies[..3].iter().map(|reply| reply.as_ref().unwrap().text()).collect();
    assert_eq!(texts[1..], ["opened", "order of shop"]);
    assert!(matches!(replies[3], Err(GroupError::Unknown { .. })), "{:?}", replies[3]);
    K::wait(group.close()).unwrap();
    host.end();
    shop.end();
}

/// A group of what a desktop host has in its file; names must tell servers apart.
pub fn a_group_is_made_of_a_file<K: Kit>(program: &str) {
    let text = format!(
        r#"{{"mcpServers":{{
            "rig":{{"command":{program:?},"args":["{}","--stdio"]}},
            "odd":{{"command":"${{NOT_SET_ANYWHERE}}"}},
            "off":{{"command":"never","disabled":true}}
        }}}}"#,
        K::NAME
    );
    let file = ServerFile::parse_with(&text, |_| None).unwrap();
    let group = K::wait(self::group::<K>().file(&file).connect()).unwrap();
    assert_eq!(group.servers().collect::<Vec<_>>(), ["rig", "odd"]);
    assert!(matches!(group.failure("odd").as_deref(), Some(Error::ServerFile(_))));
    assert_eq!(said(K::wait(group.call_tool("rig__echo", json!({ "text": "x" })))), "x");
    let client = group.client("rig").unwrap();
    assert_eq!(K::wait(client.call_tool("echo", json!({ "text": "y" }))).unwrap().text(), "y");
    K::wait(group.close()).unwrap();
    for names in [["a", "a"], ["", "a"]] {
        let [first, second] = names.map(|name| (name, Command::new("never")));
        let group = self::group::<K>().server(first.0, first.1).server(second.0, second.1);
        assert!(matches!(K::wait(group.connect()), Err(Error::Misuse(_))));
    }
}
