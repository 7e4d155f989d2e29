//! Arguments and results held against the schemas of their tools.

use mcp_driver::{
    CallError, CallToolResult, ContentBlock, Context, EraChoice, Json, OutputCheck, Tool, ToolError,
};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use super::{ERAS, Host, call, hosted};
use crate::kit::{Client, Kit, Server};
use crate::support::Events;

#[derive(Deserialize, JsonSchema)]
struct Nothing {}

/// Arguments whose schema demands more than their type.
#[derive(Deserialize, JsonSchema)]
struct Order {
    #[schemars(range(min = 1, max = 12))]
    cups: u8,
    #[schemars(length(min = 1))]
    tea: String,
}

/// A bound is all that the schema has beside the type.
#[derive(Deserialize, JsonSchema)]
struct Pour {
    #[schemars(range(max = 7))]
    cups: u8,
}

fn schema(schema: Value) -> Json {
    Json::new(&schema).unwrap()
}

fn server<K: Kit>() -> (Server<K>, Events) {
    let (tell, events) = Events::new();
    let reached = tell.clone();
    let by_hand = json!({
        "type": "object",
        "properties": { "id": { "type": "string", "pattern": "^[a-z]{2}-\\d+$" }, "tags": { "type": "array", "items": { "type": "string" } } },
        "required": ["id"],
        "additionalProperties": false
    });
    let server = Server::<K>::new("schemas", "1")
        .on_error(move |report| tell.tell(format!("{report}")))
        .tool(Tool::new("by_hand").input_schema(schema(by_hand)), move |_: Json, _: Context| {
            reached.tell("reached".to_owned());
            Ok("served")
        })
        .tool(Tool::new("pour"), async |Pour { cups }: Pour, _: Context| Ok(cups))
        .tool(Tool::new("order"), async |Order { cups, tea }: Order, _: Context| Ok(format!("{cups} {tea}")))
        .tool(
            Tool::new("right").output_schema(schema(json!({ "type": "object", "required": ["n"] }))),
            async |_: Nothing, _: Context| Ok(json!({ "n": 1 })),
        )
        .tool(
            Tool::new("wrong").output_schema(schema(json!({ "properties": { "n": { "type": "integer" } } }))),
            async |_: Nothing, _: Context| Ok(json!({ "n": "secret" })),
        )
        .tool(
            Tool::new("missing").output_schema(schema(json!({ "type": "object" }))),
            async |_: Nothing, _: Context| Ok(vec![ContentBlock::text("only text")]),
        )
        .tool(
            Tool::new("failing").output_schema(schema(json!({ "type": "object", "required": ["n"] }))),
            async |_: Nothing, _: Context| Err::<String, _>(ToolError::new("no tea left")),
        )
        .tool(
            Tool::new("list")
                .output_schema(schema(json!({ "type": "array", "items": { "type": "integer" } }))),
            async |_: Nothing, _: Context| Ok([1, 2]),
        )
        .tool(
            Tool::new("word").output_schema(schema(json!({ "type": "string" }))),
            async |_: Nothing, _: Context| Ok("tea"),
        )
        .tool(Tool::new("bare"), async |_: Nothing, _: Context| {
            Ok(CallToolResult::new(Vec::new()).structured_content(schema(json!({ "n": 1 }))))
        });
    (server, events)
}

fn each_era<K: Kit>(server: impl Fn() -> (Server<K>, Events), run: impl Fn(EraChoice, &Client<K>, &Events)) {
    for era in ERAS {
        let (server, events) = server();
        let host: Host<K> = hosted(server, Default::default(), Events::new().1);
        let client = host.client(era);
        run(era, &client, &events);
        K::wait(client.close()).unwrap();
        host.end();
    }
}

/// TOOL-33, TOOL-37, SCHEMA-18, B64: in every era an outcome that the model can mend, and no handler sees it.
pub fn arguments_that_do_not_fit_a_schema_by_hand_reach_no_handler<K: Kit>(_: &str) {
    each_era::<K>(server::<K>, |_, client, events| {
        let reply = call::<K>(client, "by_hand", json!({ "id": "x", "tags": ["a", 7], "more": 1 })).unwrap();
        assert!(reply.is_error());
        assert_eq!(
            reply.text(),
            "arguments.id: expected a string that matches the pattern ^[a-z]{2}-\\d+$\n\
             arguments.more: unknown member; known are id, tags\n\
             arguments.tags[1]: expected a string, found a number"
        );
        let reply = call::<K>(client, "by_hand", json!({ "id": "ab-12" })).unwrap();
        assert_eq!(reply.text(), "served");
        events.expect("reached");
        assert!(events.others().is_empty());
    });
}

/// TOOL-33: what a schema demands and its type does not is checked, and the type decodes the rest.
pub fn a_type_is_checked_for_what_its_schema_adds<K: Kit>(_: &str) {
    each_era::<K>(server::<K>, |_, client, _| {
        for (arguments, text) in [
            (
                json!({ "cups": 13, "tea": "" }),
                "arguments.cups: expected at most 12, found more\narguments.tea: expected at least 1 character, found 0",
            ),
            (json!({ "cups": "two", "tea": "a" }), "arguments.cups: expected an integer, found a string"),
            (json!({ "cups": 2 }), "arguments: the member `tea` is missing"),
        ] {
            let reply = call::<K>(client, "order", arguments).unwrap();
            assert!(reply.is_error());
            assert_eq!(reply.text(), text);
        }
        let reply = call::<K>(client, "pour", json!({ "cups": 8 })).unwrap();
        assert_eq!(
            (reply.is_error(), &*reply.text()),
            (true, "arguments.cups: expected at most 7, found more")
        );
        assert_eq!(
            call::<K>(client, "order", json!({ "cups": 2, "tea": "oolong" })).unwrap().text(),
            "2 oolong"
        );
    });
}

/// Whoever checks for himself, or takes what comes, switches it off.
pub fn checks_of_arguments_can_be_switched_off<K: Kit>(_: &str) {
    let off = || {
        let (server, events) = server::<K>();
        (server.check_arguments(false), events)
    };
    each_era::<K>(off, |_, client, _| {
        assert_eq!(call::<K>(client, "by_hand", json!({ "id": 7 })).unwrap().text(), "served");
        // Decoding goes on as before.
        assert!(call::<K>(client, "order", json!({ "cups": "two" })).unwrap().is_error());
    });
}

/// TOOL-28, SCHEMA-18, B57: what does not fit is not sent, and this side learns why.
pub fn results_that_do_not_fit_become_internal_errors<K: Kit>(_: &str) {
    each_era::<K>(server::<K>, |_, client, events| {
        assert!(!call::<K>(client, "right", json!({})).unwrap().is_error());
        for (tool, report) in [
            (
                "wrong",
                "tool wrong: the result does not fit the output schema: structuredContent.n: expected an integer, found a string",
            ),
            (
                "missing",
                "tool missing: the result does not fit the output schema: structuredContent: missing, although there is an output schema",
            ),
        ] {
            match call::<K>(client, tool, json!({})) {
                Err(CallError::Server { error, .. }) => {
                    assert_eq!((error.code, &*error.message), (-32603, "internal error"));
                }
                other => panic!("{other:?}"),
            }
            events.expect(report);
        }
    });
}

/// TOOL-32, B57: a failure needs no structured content.
pub fn failures_are_not_held_against_the_output_schema<K: Kit>(_: &str) {
    each_era::<K>(server::<K>, |_, client, events| {
        let reply = call::<K>(client, "failing", json!({})).unwrap();
        assert!(reply.is_error());
        assert_eq!(reply.text(), "no tea left");
        assert!(events.others().is_empty());
    });
}

/// TOOL-28: as lax as is asked for.
pub fn checks_of_results_can_warn_or_be_off<K: Kit>(_: &str) {
    for check in [OutputCheck::Warn, OutputCheck::Off] {
        let lax = || {
            let (server, events) = server::<K>();
            (server.check_output(check), events)
        };
        each_era::<K>(lax, |_, client, events| {
            assert!(call::<K>(client, "wrong", json!({})).unwrap().text().contains("secret"));
            assert_eq!(call::<K>(client, "missing", json!({})).unwrap().text(), "only text");
            if check == OutputCheck::Warn {
                events.expect("tool wrong: the result does not fit the output schema: structuredContent.n: expected an integer, found a string");
            }
        });
    }
}

/// TOOL-24, TOOL-25, TOOL-26, TOOL-27, SCHEMA-11: any JSON where the revision knows that, else as text alone, which
/// there always is.
pub fn structured_content_of_any_kind_comes_with_its_text<K: Kit>(_: &str) {
    each_era::<K>(server::<K>, |era, client, _| {
        for (tool, text, structured) in [("list", "[1,2]", json!([1, 2])), ("word", "\"tea\"", json!("tea"))]
        {
            let reply = call::<K>(client, tool, json!({})).unwrap();
            assert_eq!(reply.text(), text);
            let found = reply.structured::<Value>().ok();
            assert_eq!(found, matches!(era, EraChoice::Modern).then_some(structured), "{tool}");
        }
        let reply = call::<K>(client, "bare", json!({})).unwrap();
        assert_eq!(reply.text(), r#"{"n":1}"#);
    });
}
