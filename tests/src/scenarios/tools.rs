//! How tools are defined, and what whoever defines them hears.

use std::sync::{Arc, Mutex};

use mcp_driver::model::Json;
use mcp_driver::{Blame, Calls, Context, EraChoice, Tool, ToolError};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;

use super::{Host, call, host, hosted};
use crate::kit::{Kit, Server};
use crate::rig::raw_schema;
use crate::support::{Events, Raw};

#[derive(Deserialize, JsonSchema)]
struct Nothing {}

/// TOOL-08, SCHEMA-09: a handler that takes JSON has the arguments to the letter, under a schema by hand.
pub fn arguments_come_raw_under_a_schema_by_hand<K: Kit>(_: &str) {
    let host: Host<K> = host(|_| {});
    let client = host.client(EraChoice::Auto);
    let tools = K::wait(client.list_tools()).unwrap();
    assert_eq!(tools.iter().find(|tool| tool.name == "raw").unwrap().input_schema, raw_schema());
    let arguments = Json::parse(r#"{"b":1.50,"a":12345678901234567890,"b ":null}"#).unwrap();
    assert_eq!(K::wait(client.call_tool("raw", &arguments)).unwrap().text(), arguments.get());
    host.end();
}

/// A schema by hand takes the place of the one of the argument type.
pub fn a_schema_by_hand_comes_first<K: Kit>(_: &str) {
    let tool = Tool::new("by-hand").input_schema(raw_schema());
    let server = Server::<K>::new("schemas", "1").tool(tool, async |_: Nothing, _: Context| Ok(""));
    let host: Host<K> = hosted(server, Default::default(), Events::new().1);
    let tools = K::wait(host.client(EraChoice::Auto).list_tools()).unwrap();
    assert_eq!(tools[0].input_schema, raw_schema());
    host.end();
}

/// TOOL-09, B61: a tool without parameters says that there are none, and takes what a model makes up all the same.
pub fn a_tool_without_parameters_says_so<K: Kit>(_: &str) {
    let server =
        Server::<K>::new("schemas", "1").tool(Tool::new("now"), async |_: Nothing, _: Context| Ok("noon"));
    let host: Host<K> = hosted(server, Default::default(), Events::new().1);
    let client = host.client(EraChoice::Auto);
    let tools = K::wait(client.list_tools()).unwrap();
    let schema: serde_json::Value = tools[0].input_schema.decode().unwrap();
    assert_eq!(schema, json!({ "type": "object", "properties": {}, "additionalProperties": false }));
    assert_eq!(call::<K>(&client, "now", json!({ "random": "x" })).unwrap().text(), "noon");
    host.end();
}

/// SCHEMA-08: a schema that is made from a type is of the default dialect, so it does not name one.
pub fn schemas_of_types_are_of_the_default_dialect<K: Kit>(_: &str) {
    #[derive(Deserialize, JsonSchema)]
    struct Tree {
        #[expect(dead_code, reason = "its schema is looked at")]
        branches: Vec<Tree>,
    }
    let server = Server::<K>::new("schemas", "1")
        .tool(Tool::new("prune").output::<Tree>(), async |_: Tree, _: Context| Ok(json!({ "branches": [] })));
    let host: Host<K> = hosted(server, Default::default(), Events::new().1);
    let tools = K::wait(host.client(EraChoice::Auto).list_tools()).unwrap();
    for schema in [&tools[0].input_schema, tools[0].output_schema.as_ref().unwrap()] {
        let text = schema.get();
        assert!(!text.contains("$schema") && !text.contains("\"definitions\""), "{text}");
    }
    host.end();
}

/// TOOL-08: arguments that may be anything need a schema by hand, and whoever forgets is told so.
pub fn a_tool_without_a_schema_is_refused<K: Kit>(_: &str) {
    let server = Server::<K>::new("schemas", "1").tool(Tool::new("x"), async |_: Json, _: Context| Ok(""));
    let error = K::wait(server.bind_http("127.0.0.1:0")).unwrap_err().to_string();
    assert!(error.contains("`x`") && error.contains("Tool::input_schema"), "{error}");
}

/// TOOL-10: a name that should not be is served, and whoever wrote it is told, as of something of their own.
pub fn unwise_names_are_reported<K: Kit>(_: &str) {
    let heard: Arc<Mutex<Vec<_>>> = Arc::default();
    let hear = heard.clone();
    let server = Server::<K>::new("names", "1")
        .on_error(move |report| hear.lock().unwrap().push((report.blame, report.what.clone())))
        .tool(Tool::new("is this wise?"), async |_: Nothing, _: Context| Ok(""));
    drop(K::wait(server.bind_http("127.0.0.1:0")).unwrap());
    assert_eq!(*heard.lock().unwrap(), [(Blame::Ours, "tool is this wise?".to_owned())]);
}

/// Reports say whose doing they tell of: a message that is none is the peer's, a handler's failure is ours.
pub fn reports_blame_the_right_side<K: Kit>(_: &str) {
    let blames: Arc<Mutex<Vec<_>>> = Arc::default();
    let hear = blames.clone();
    let server = Server::<K>::new("blame", "1")
        .on_error(move |report| hear.lock().unwrap().push(report.blame))
        .tool(Tool::new("fail"), async |_: Nothing, _: Context| {
            Err::<(), _>(ToolError::internal("the disk is full"))
        });
    let host: Host<K> = hosted(server, Default::default(), Events::new().1);
    let mut raw = Raw::connect(&host.url);
    raw.post("", "neither");
    assert_eq!(raw.answer().status, 400);
    let client = host.client(EraChoice::Modern);
    assert!(call::<K>(&client, "fail", json!({})).is_err());
    host.end();
    assert_eq!(*blames.lock().unwrap(), [Blame::Peer, Blame::Ours]);
}
