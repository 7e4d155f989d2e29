use super::*;
use crate::model::encode::{Identified, In, WithMeta};
use crate::model::tests::{encoded, json, names};
use alloc::borrow::Cow;
use alloc::format;
use alloc::string::ToString;

const SCHEMA: &str =
    r##"{ "type":"object", "allOf":[{"$ref":"#/$defs/b"}], "$defs":{"b":{"$anchor":"b"}}, "maximum":1.0 }"##;

/// SCHEMA-09, SCHEMA-10
#[test]
fn schemas_survive_to_the_letter() {
    let text = format!(r#"{{"name":"x","inputSchema":{SCHEMA},"outputSchema":{SCHEMA}}}"#);
    let tool: Tool = serde_json::from_str(&text).unwrap();
    assert_eq!(tool.input_schema.get(), SCHEMA);
    assert_eq!(serde_json::to_string(&In(Revision::LATEST, &tool)).unwrap(), text);
}

/// TOOL-25, SCHEMA-11
#[test]
fn an_output_schema_without_object_root_goes_to_2026_07_28_only() {
    for (schema, object) in [
        (r#"{"type":"object"}"#, true),
        (r#"{"properties":{"type":{}},"type":"obj\u0065ct"}"#, true),
        (r#"{"type":"array"}"#, false),
        (r#"{"type":["object"]}"#, false),
        (r#"{"properties":{"type":"object"}}"#, false),
        ("true", false),
    ] {
        let tool = Tool::new("x", Json::empty_object()).output_schema(Json::parse(schema).unwrap());
        let sent = |revision| encoded(revision, &tool).get("outputSchema").is_some();
        assert!(!sent(Revision::V2025_03_26));
        assert_eq!(sent(Revision::V2025_06_18), object, "{schema}");
        assert_eq!(sent(Revision::V2025_11_25), object, "{schema}");
        assert!(sent(Revision::V2026_07_28));
    }
}

/// TOOL-24, TOOL-25
#[test]
fn structured_content_other_than_an_object_goes_to_2026_07_28_only() {
    for (content, object) in [("{}", true), ("[]", false), ("7", false), ("\"x\"", false), ("null", false)] {
        let result = CallToolResult::new().structured_content(Json::parse(content).unwrap());
        let sent = |revision| encoded(revision, &result).get("structuredContent").is_some();
        assert!(!sent(Revision::V2025_03_26));
        assert_eq!(sent(Revision::V2025_06_18), object, "{content}");
        assert_eq!(sent(Revision::V2025_11_25), object, "{content}");
        assert!(sent(Revision::V2026_07_28));
    }
}

/// TOOL-24
#[test]
fn structured_content_may_be_null() {
    let result: CallToolResult = serde_json::from_str(r#"{"content":[],"structuredContent":null}"#).unwrap();
    assert_eq!(result.structured_content.unwrap().get(), "null");
    let result: CallToolResult = serde_json::from_str(r#"{"content":[]}"#).unwrap();
    assert_eq!(result.structured_content, None);
}

/// TOOL-18
#[test]
fn hints_have_the_defaults_of_the_specification() {
    let hints = ToolAnnotations::new();
    assert!(
        !hints.is_read_only() && hints.is_destructive() && !hints.is_idempotent() && hints.is_open_world()
    );
    let hints: ToolAnnotations = serde_json::from_str(
        r#"{"readOnlyHint":true,"destructiveHint":false,"idempotentHint":true,"openWorldHint":false}"#,
    )
    .unwrap();
    assert!(
        hints.is_read_only() && !hints.is_destructive() && hints.is_idempotent() && !hints.is_open_world()
    );
}

/// META-24
#[test]
fn people_see_the_title_then_the_annotated_title_then_the_name() {
    let tool = Tool::new("name", Json::empty_object());
    assert_eq!(tool.display_name(), "name");
    let tool = tool.annotations(ToolAnnotations::new().title("annotated"));
    assert_eq!(tool.display_name(), "annotated");
    assert_eq!(tool.title("title").display_name(), "title");
}

/// TOOL-43
#[test]
fn a_tool_is_not_run_as_a_task_unless_it_says_so() {
    let support = |text: &str| serde_json::from_str::<ToolExecution>(text).unwrap().support();
    assert_eq!(support("{}"), TaskSupport::Forbidden);
    assert_eq!(support(r#"{"taskSupport":"required"}"#), TaskSupport::Required);
    assert_eq!(support(r#"{"taskSupport":"someday"}"#), TaskSupport::Forbidden);
}

#[test]
fn a_malformed_icon_does_not_cost_the_tool() {
    let tool: Tool = serde_json::from_str(
        r#"{"name":"x","inputSchema":{},"icons":[{"href":"y"},{"src":"https://a.example/b.png","theme":"sepia"}]}"#,
    )
    .unwrap();
    assert_eq!(tool.icons, [Icon::new("https://a.example/b.png")]);
}

/// RPC-10
#[test]
fn unknown_members_of_a_result_are_kept() {
    let text = r#"{"content":[],"isError":null,"org.example/x":{"b":1, "a":2}}"#;
    let result: CallToolResult = serde_json::from_str(text).unwrap();
    assert_eq!(result.extra["org.example/x"].get(), r#"{"b":1, "a":2}"#);
    assert!(encoded(Revision::V2025_11_25, &result).get("org.example/x").is_some());
}

#[test]
fn an_unknown_member_cannot_repeat_a_known_one() {
    let mut result = CallToolResult::text("7");
    result.extra.insert("content".to_string(), Json::parse("[]").unwrap());
    let text = serde_json::to_string(&In(Revision::LATEST, &result)).unwrap();
    assert_eq!(text.matches("\"content\"").count(), 1);
}

/// A list result that is something else, such as one that asks for input, is not an empty list.
#[test]
fn a_list_without_its_list_is_an_error() {
    assert!(serde_json::from_str::<ListToolsResult>(r#"{"resultType":"input_required"}"#).is_err());
}

/// PAGE-02, PAGE-04
#[test]
fn the_empty_cursor_is_a_cursor_and_null_is_none() {
    let cursor = |text: &str| serde_json::from_str::<ListToolsResult>(text).unwrap().next_cursor;
    assert_eq!(cursor(r#"{"tools":[],"nextCursor":""}"#), Some(Cursor::new("")));
    assert_eq!(cursor(r#"{"tools":[],"nextCursor":null}"#), None);
    assert_eq!(cursor(r#"{"tools":[]}"#), None);
}

/// CACHE-22, CACHE-23
#[test]
fn unusable_caching_hints_promise_nothing() {
    let hints = |text: &str| {
        let page: ListToolsResult = serde_json::from_str(text).unwrap();
        (page.ttl_ms.0, page.cache_scope)
    };
    assert_eq!(hints(r#"{"tools":[]}"#), (0, CacheScope::Private));
    assert_eq!(hints(r#"{"tools":[],"ttlMs":-5,"cacheScope":"galaxy"}"#), (0, CacheScope::Private));
    assert_eq!(hints(r#"{"tools":[],"ttlMs":"x","cacheScope":null}"#), (0, CacheScope::Private));
    assert_eq!(hints(r#"{"tools":[],"ttlMs":1500.0,"cacheScope":"public"}"#), (1500, CacheScope::Public));
}

/// TOOL-42; the arguments are not copied.
#[test]
fn arguments_are_an_object_in_place_or_absent() {
    let text = r#"{"name":"book_slot","arguments":{"bike": "B-42"},"unknown":[1]}"#;
    let params: CallToolRequestParams<'_> = serde_json::from_str(text).unwrap();
    assert!(matches!(params.name, Cow::Borrowed("book_slot")));
    assert!(matches!(params.arguments, Some(Cow::Borrowed(raw)) if raw.get() == r#"{"bike": "B-42"}"#));
    let params = |text| serde_json::from_str::<CallToolRequestParams<'_>>(text);
    assert!(params(r#"{"name":"x","arguments":null}"#).unwrap().arguments.is_none());
    assert!(params(r#"{"name":"x"}"#).unwrap().arguments.is_none());
    for arguments in ["[]", "7", "\"x\"", "true"] {
        let text = format!(r#"{{"name":"x","arguments":{arguments}}}"#);
        assert!(serde_json::from_str::<CallToolRequestParams<'_>>(&text).is_err());
    }
    assert!(params("{}").is_err());
}

/// META-19
#[test]
fn the_identity_of_the_server_joins_the_metadata_in_2026_07_28() {
    let info = Json::parse(r#"{"name":"spokes","version":"2.1.0"}"#).unwrap();
    let result = CallToolResult::new().meta(
        Meta::new()
            .with("a/b", Json::parse("1").unwrap())
            .with(crate::model::meta::SERVER_INFO, info.clone()),
    );
    let complete = Identified::new(&result, Some(&info));
    assert_eq!(
        serde_json::to_string(&In(Revision::V2026_07_28, &complete)).unwrap(),
        r#"{"resultType":"complete","content":[],"_meta":{"io.modelcontextprotocol/serverInfo":{"name":"spokes","version":"2.1.0"},"a/b":1}}"#
    );
    let plain = CallToolResult::new();
    assert_eq!(
        encoded(Revision::V2025_11_25, &Identified::new(&plain, Some(&info))),
        json(r#"{"content":[]}"#)
    );
    assert_eq!(names(&encoded(Revision::LATEST, &Identified::new(&plain, None))), ["content", "resultType"]);
}

#[test]
fn entries_can_be_added_to_the_metadata_of_a_request() {
    let version = Json::parse("\"2026-07-28\"").unwrap();
    let token = Json::parse("7").unwrap();
    let params = CallToolRequestParams::new("x").meta(Meta::new().with("progressToken", token));
    let entries = [(crate::model::meta::PROTOCOL_VERSION, &version)];
    assert_eq!(
        encoded(Revision::LATEST, &WithMeta::new(&params, &entries)),
        json(
            r#"{"name":"x","_meta":{"progressToken":7,"io.modelcontextprotocol/protocolVersion":"2026-07-28"}}"#
        )
    );
}

/// TOOL-42: what the peer is told says where and what.
#[test]
fn an_error_about_a_call_names_the_member() {
    let told = |text: &str| {
        let params = serde_json::from_str(text).unwrap();
        crate::wire::jsonrpc::decode::<CallToolRequestParams<'_>>(Some(params), "params").unwrap_err().message
    };
    assert_eq!(
        told(r#"{"name":"x","arguments":[]}"#),
        "params.arguments: expected an object, found an array"
    );
    assert_eq!(told(r#"{"name":7}"#), "params.name: expected a string, found a number");
    assert_eq!(told("{}"), "params.name: missing");
    assert_eq!(told("[]"), "params: expected an object, found an array");
}
