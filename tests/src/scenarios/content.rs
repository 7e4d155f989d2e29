//! What handlers return, as clients of both eras have it.

use mcp_driver::model::{
    Annotations, BlobResourceContents, CacheScope, CallToolResult, GetPromptResult, Meta, PromptMessage,
    ReadResourceResult, ResourceContents, Role, TextContent, TextResourceContents,
};
use mcp_driver::{
    Calls, ContentBlock, Context, EraChoice, Json, Prompt, Resource, Revision, Server, Tool, ToolError,
};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;

use super::{ERAS, call, hosted};
use crate::kit::{Client, Kit};
use crate::rig::PICTURE;
use crate::support::{Events, Gate};

fn served<K: Kit>(server: impl Fn() -> Server<K::Runtime>, scenario: impl Fn(&Client<K>)) {
    for era in ERAS {
        let host = hosted::<K>(server(), Gate::default(), Events::new().1);
        let client = host.client(era);
        scenario(&client);
        K::wait(client.close()).unwrap();
        host.end();
    }
}

fn tool(name: &str) -> Tool {
    Tool::new(name).input_schema(Json::parse(r#"{"type":"object"}"#).unwrap())
}

/// One of each kind.
fn everything() -> Vec<ContentBlock> {
    let blob = BlobResourceContents::from_bytes("rig://b", PICTURE).mime_type("image/png");
    vec![
        TextContent::new("text").annotations(Annotations::new().audience(vec![Role::User])).into(),
        ContentBlock::image_from_bytes(PICTURE, "image/png"),
        ContentBlock::audio_from_bytes(PICTURE, "audio/wav"),
        ContentBlock::link("rig://nowhere-listed", "elsewhere"),
        ContentBlock::resource(TextResourceContents::new("rig://t", "inside").mime_type("text/plain")),
        ContentBlock::resource(blob),
    ]
}

/// TOOL-19 to TOOL-22, PROMPT-08 to PROMPT-11, RES-20, PROMPT-07: every kind of content arrives as it was sent, of
/// tools and of prompts, and bytes are the same bytes.
pub fn every_kind_of_content_arrives<K: Kit>(_: &str) {
    let server = || {
        Server::new("content", "1")
            .tool(tool("all"), async |_: Json, _: Context| Ok(everything()))
            .tool(tool("one"), |_: Json, _: Context| Ok(everything().remove(1)))
            .prompt(Prompt::new("all"), async |_: Json, _: Context| {
                let mut messages: Vec<_> = everything().into_iter().map(PromptMessage::user).collect();
                messages.push(PromptMessage::assistant(ContentBlock::text("hm")));
                Ok(GetPromptResult::new(messages).description("all kinds"))
            })
    };
    served::<K>(server, |client| {
        let reply = call::<K>(client, "all", json!({})).unwrap().result;
        assert_eq!((&reply.content, reply.is_error), (&everything(), None));
        let ContentBlock::Image(image) = &reply.content[1] else { panic!("{reply:?}") };
        assert_eq!((image.bytes().as_deref(), image.mime_type.as_str()), (Some(PICTURE), "image/png"));
        assert_eq!(call::<K>(client, "one", json!({})).unwrap().result.content, everything()[1..2]);

        let prompt = K::wait(client.get_prompt("all", &[])).unwrap();
        let said: Vec<_> = prompt.messages.iter().map(|message| message.content.clone()).collect();
        assert_eq!(said[..6], everything());
        assert_eq!((prompt.messages[0].role, prompt.messages[6].role), (Role::User, Role::Assistant));
        assert_eq!(prompt.description.as_deref(), Some("all kinds"));
    });
    // Kinds that a revision does not know become something that it does.
    let host = hosted::<K>(server(), Gate::default(), Events::new().1);
    let client = host.client(EraChoice::Pinned(Revision::V2025_03_26));
    let reply = call::<K>(&client, "all", json!({})).unwrap().result;
    assert!(!reply.content.iter().any(|block| matches!(block, ContentBlock::ResourceLink(_))), "{reply:?}");
    host.end();
}

/// TOOL-24 to TOOL-27: structured content of any value is mirrored to text, made by hand or not; where a revision has
/// none, or none that is not an object, the mirror is what is left.
pub fn structured_content_is_mirrored<K: Kit>(_: &str) {
    const VALUES: [&str; 4] = [r#"{"a":[1]}"#, "[1,2]", "7", "true"];
    let server = || {
        let mut server = Server::new("structured", "1");
        for (place, value) in VALUES.into_iter().enumerate() {
            let json = move || Json::parse(value).unwrap();
            server = server
                .tool(tool(&format!("typed{place}")), move |_: Json, _: Context| {
                    Ok(serde_json::from_str::<serde_json::Value>(value)?)
                })
                .tool(tool(&format!("hand{place}")), move |_: Json, _: Context| {
                    let mut result = CallToolResult::default();
                    result.structured_content = Some(json());
                    Ok(result)
                })
                .tool(tool(&format!("short{place}")), move |_: Json, _: Context| {
                    Ok(CallToolResult::structured(json()))
                });
        }
        server.tool(tool("own"), |_: Json, _: Context| {
            let mut result = CallToolResult::text("in words");
            result.structured_content = Some(Json::parse("{}")?);
            Ok(result)
        })
    };
    let check = |client: &Client<K>| {
        for (place, value) in VALUES.into_iter().enumerate() {
            for way in ["typed", "hand", "short"] {
                let reply = call::<K>(client, &format!("{way}{place}"), json!({})).unwrap();
                assert_eq!(reply.text(), value, "{way}");
                let expected = match client.revision() {
                    Revision::V2026_07_28 => true,
                    Revision::V2025_03_26 => false,
                    _ => value.starts_with('{'),
                };
                let structured = reply.result.structured_content.as_ref().map(Json::get);
                assert_eq!(structured, expected.then_some(value), "{way} {}", client.revision());
            }
        }
        assert_eq!(call::<K>(client, "own", json!({})).unwrap().text(), "in words");
    };
    served::<K>(server, check);
    let host = hosted::<K>(server(), Gate::default(), Events::new().1);
    check(&host.client(EraChoice::Pinned(Revision::V2025_03_26)));
    host.end();
}

/// TOOL-34, TOOL-32, TOOL-31, PROMPT-13, RES-15: what fails inside a tool is a result that the model reads; of what is the
/// server's own business nobody reads a word, whatever the handler serves.
pub fn failures_are_told_to_whom_they_concern<K: Kit>(_: &str) {
    const SECRET: &str = "password=hunter2";
    let fail = || ToolError::internal(SECRET);
    let from_io = || std::io::Error::other(SECRET);
    let (tell, reports) = Events::new();
    let server = || {
        let tell = tell.clone();
        Server::new("failing", "1")
            .on_error(move |report| tell.tell(report.to_string()))
            .tool(tool("shown"), async |_: Json, _: Context| Err::<(), _>(ToolError::new("too many")))
            .tool(tool("hidden"), move |_: Json, _: Context| Err::<(), _>(from_io().into()))
            .tool(tool("panics"), |_: Json, _: Context| -> Result<(), ToolError> { panic!("{SECRET}") })
            .prompt(Prompt::new("hidden"), move |_: Json, _: Context| Err::<String, _>(fail()))
            .resource(Resource::new("rig://hidden", "hidden"), move |_: Context| Err::<String, _>(fail()))
            .method("acme/hidden", move |_: Json, _: Context| Err::<(), _>(fail()))
    };
    served::<K>(server, |client| {
        let shown = call::<K>(client, "shown", json!({})).unwrap();
        assert_eq!((shown.text().as_ref(), shown.result.failed()), ("too many", true));
        let custom = mcp_driver::Custom::new("acme/hidden", None).unwrap();
        let failures = [
            call::<K>(client, "hidden", json!({})).map(drop),
            call::<K>(client, "panics", json!({})).map(drop),
            K::wait(client.get_prompt("hidden", &[])).map(drop),
            K::wait(client.read_resource("rig://hidden")).map(drop),
            K::wait(client.request(&custom)).map(drop),
        ];
        for failure in failures {
            let Err(mcp_driver::CallError::Server { error, .. }) = failure else { panic!("{failure:?}") };
            assert_eq!((error.code, error.message.as_str()), (-32603, "internal error"));
            assert!(error.data.is_none());
            reports.expect(SECRET);
        }
    });
}

/// META-01, META-19, CACHE-06: a handler puts metadata into its result, and hints for caches into what is read.
pub fn results_carry_metadata_and_hints<K: Kit>(_: &str) {
    let meta = || Meta::new().with("com.example/cost", Json::parse("3").unwrap());
    let server = move || {
        Server::new("noted", "1")
            .tool(tool("noted").meta(meta()), move |_: Json, _: Context| {
                Ok(CallToolResult::text("x").meta(meta()))
            })
            .resource(Resource::new("rig://noted", "noted"), move |_: Context| {
                let contents: ResourceContents = TextResourceContents::new("rig://noted", "x").into();
                let mut result = ReadResourceResult::new(vec![contents]).meta(meta());
                (result.ttl_ms, result.cache_scope) = (mcp_driver::model::TtlMs(5), CacheScope::Public);
                Ok(result)
            })
            .method("acme/noted", |_: Json, _: Context| Ok(json!({ "_meta": { "com.example/cost": 3 } })))
    };
    served::<K>(server, |client| {
        let cost = |meta: &Meta| assert_eq!(meta.get("com.example/cost").map(Json::get), Some("3"));
        cost(&K::wait(client.list_tools()).unwrap()[0].meta);
        cost(&call::<K>(client, "noted", json!({})).unwrap().result.meta);
        let read = K::wait(client.read_resource("rig://noted")).unwrap();
        cost(&read.meta);
        let custom = mcp_driver::Custom::new("acme/noted", None).unwrap();
        let custom = K::wait(client.request(&custom)).unwrap();
        assert!(custom.get().contains(r#""com.example/cost":3"#), "{custom:?}");
        if client.era() == mcp_driver::Era::Modern {
            assert_eq!((read.ttl_ms.0, read.cache_scope), (5, CacheScope::Public));
            assert!(custom.get().contains("io.modelcontextprotocol/serverInfo"), "{custom:?}");
        }
    });
}

/// PAGE-06, META-22: a server says who it is in full, and lists in pages that clients put together again.
pub fn a_server_introduces_itself_and_lists_in_pages<K: Kit>(_: &str) {
    let server = || {
        let mut server = Server::new("paged", "1")
            .identity(|identity| identity.title("Paged").website_url("https://a.example"))
            .page_size(2)
            .cache(std::time::Duration::from_secs(1), CacheScope::Public);
        for number in 0..5 {
            server = server.tool(tool(&format!("t{number}")), |_: Json, _: Context| Ok(()));
        }
        server
    };
    served::<K>(server, |client| {
        let tools = K::wait(client.list_tools()).unwrap();
        let names: Vec<_> = tools.iter().map(|tool| tool.name.as_str()).collect();
        assert_eq!(names, ["t0", "t1", "t2", "t3", "t4"]);
        let identity = client.server_info().unwrap();
        assert_eq!(identity.display_name(), "Paged");
        assert_eq!(identity.website_url.as_deref(), Some("https://a.example"));
    });
}

#[derive(Deserialize, JsonSchema)]
struct Nothing {}

/// TOOL-09: a tool without parameters says so.
pub fn a_tool_without_parameters_says_so<K: Kit>(_: &str) {
    let server =
        || Server::new("plain", "1").tool(Tool::new("plain"), async |_: Nothing, _: Context| Ok("fine"));
    served::<K>(server, |client| {
        let schema = &K::wait(client.list_tools()).unwrap()[0].input_schema;
        let schema: serde_json::Value = schema.decode().unwrap();
        assert_eq!(schema, json!({ "type": "object", "properties": {}, "additionalProperties": false }));
        assert_eq!(call::<K>(client, "plain", json!({})).unwrap().text(), "fine");
    });
}
