//! What a client makes of the results of tools.

use mcp_driver::{CallError, Calls, Context, EraChoice, Json, OutputCheck, Tool};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;

use super::{ERAS, Host, builder, call, hosted};
use crate::kit::{Client, Kit, Server};
use crate::support::Events;

#[derive(Deserialize, JsonSchema)]
struct Nothing {}

/// A server that sends what it likes.
fn careless<K: Kit>() -> Host<K> {
    let schema = json!({ "type": "object", "properties": { "n": { "type": "integer" } }, "required": ["n"] });
    let tool = |name| Tool::new(name).output_schema(Json::new(&schema).unwrap());
    let server = Server::<K>::new("careless", "1")
        .check_output(OutputCheck::Off)
        .tool(tool("right"), async |_: Nothing, _: Context| Ok(json!({ "n": 7 })))
        .tool(tool("wrong"), async |_: Nothing, _: Context| Ok(json!({ "n": "secret" })));
    hosted(server, Default::default(), Events::new().1)
}

fn client<K: Kit>(host: &Host<K>, era: EraChoice, check: OutputCheck) -> (Client<K>, Events) {
    let (tell, events) = Events::new();
    let builder = builder::<K>(era).check_output(check);
    let builder = builder.on_diagnostic(move |report| tell.tell(format!("{report}")));
    (K::wait(builder.http(&host.url)).unwrap(), events)
}

/// TOOL-29, TOOL-40: structured content is read as a type, and held against the schema that its tool was listed with.
pub fn structured_content_is_checked_by_the_client<K: Kit>(_: &str) {
    #[derive(Debug, Deserialize, PartialEq)]
    struct Count {
        n: u8,
    }
    let host = careless::<K>();
    for era in ERAS {
        let (lenient, events) = client(&host, era, OutputCheck::Warn);
        K::wait(lenient.list_tools()).unwrap();
        let reply = call::<K>(&lenient, "right", json!({})).unwrap();
        assert_eq!((reply.structured(), &reply.misfit), (Ok(Count { n: 7 }), &None));
        let reply = call::<K>(&lenient, "wrong", json!({})).unwrap();
        let misfit = "structuredContent.n: expected an integer, found a string";
        assert_eq!(reply.misfit.as_ref().unwrap().to_string(), misfit);
        let said = events.expect(misfit);
        assert!(!said.contains("secret"), "{said}");
        let error = reply.structured::<Count>().unwrap_err().to_string();
        assert!(
            error.contains("structuredContent.n: expected an integer") && !error.contains("secret"),
            "{error}"
        );

        let (strict, _) = client(&host, era, OutputCheck::Strict);
        // Nothing is known of the tool yet.
        assert!(call::<K>(&strict, "wrong", json!({})).is_ok());
        let tools = K::wait(lenient.list_tools()).unwrap();
        for tool in &tools {
            strict.learn_tool(tool).unwrap();
        }
        match call::<K>(&strict, "wrong", json!({})) {
            Err(CallError::Misfit { reply }) => assert!(reply.text().contains("secret")),
            other => panic!("{other:?}"),
        }
        assert!(call::<K>(&strict, "right", json!({})).is_ok());
    }
    host.end();
}

/// HDR-52, HDR-26: a definition whose annotations for headers are bad is no definition over modern HTTP.
pub fn a_bad_definition_is_not_learned<K: Kit>(_: &str) {
    let host = careless::<K>();
    let schema =
        json!({ "type": "object", "properties": { "a": { "type": "number", "x-mcp-header": "A" } } });
    let tool = mcp_driver::model::Tool::new("t", Json::new(&schema).unwrap());
    assert!(host.client(EraChoice::Modern).learn_tool(&tool).unwrap_err().to_string().contains("`t`"));
    assert!(host.client(EraChoice::Legacy).learn_tool(&tool).is_ok());
    host.end();
}
