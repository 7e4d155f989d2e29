//! Servers that change while they serve, and whoever hears of it.

use mcp_driver::{Calls, Context, EraChoice, Json, Registry, Server, Tool, ToolError};
use serde_json::json;

use super::streams::{client, ends};
use super::{ERAS, call, hosted, text};
use crate::kit::{Client, Kit, background};
use crate::support::{Events, Gate};

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
