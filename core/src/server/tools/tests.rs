use super::*;
use crate::dialect::Revision;
use crate::limits::Limits;
use crate::mirror::ParamKind;
use crate::model::Json;
use crate::server::testing::{ADD, REGION, tool};
use alloc::string::ToString;

fn refused(schema: &str) -> String {
    Tools::new().insert(tool("t", schema)).unwrap_err().message
}

/// TOOL-08, B61
#[test]
fn an_input_schema_must_describe_an_object() {
    for schema in
        ["null", "true", "[]", "{}", r#"{"type":"string"}"#, r#"{"type":["object"]}"#, r#"{"oneOf":[]}"#]
    {
        assert!(refused(schema).contains("input schema"), "{schema}");
    }
    for schema in ["{}", r#"{"type":"number","format":"double"}"#] {
        assert!(refused(schema).contains("must be a struct"), "{schema}");
    }
    assert!(Tools::new().insert(tool("t", r#"{"type":"object"}"#)).is_ok());
}

/// TOOL-10, TOOL-11, TOOL-13, TOOL-14
#[test]
fn names_are_present_unique_and_warned_about() {
    let mut tools = Tools::new();
    assert!(tools.insert(tool("", ADD)).is_err());
    assert!(tools.insert(tool("a_B-1.c", ADD)).unwrap().warnings.is_empty());
    assert!(tools.insert(tool("a_B-1.c", ADD)).unwrap_err().message.contains("a_B-1.c"));
    assert_eq!(tools.insert(tool("a b", ADD)).unwrap().warnings.len(), 1);
    assert_eq!(tools.insert(tool(&"x".repeat(128), ADD)).unwrap().warnings.len(), 0);
    assert_eq!(tools.insert(tool(&"x".repeat(129), ADD)).unwrap().warnings.len(), 1);
}

/// STDIO-01, SCHEMA-09
#[test]
fn texts_are_on_one_line_and_differ_only_where_revisions_do() {
    let mut tools = Tools::new();
    let schema = "{\n  \"type\": \"object\",\r\n \"properties\": {\"a b\": {\"const\": 1.0}}}";
    let tool = tool("t", schema).title("T").output_schema(Json::parse("{\n\"type\":\"array\"}").unwrap());
    let entry = tools.insert(tool).unwrap();
    let text = |revision| entry.text(revision).get();
    assert_eq!(
        text(Revision::V2024_11_05),
        r#"{"name":"t","inputSchema":{"type":"object","properties":{"a b":{"const":1.0}}}}"#
    );
    assert_eq!(text(Revision::V2024_11_05).as_ptr(), text(Revision::V2025_03_26).as_ptr());
    assert!(text(Revision::V2025_11_25).contains(r#""title":"T""#));
    assert!(!text(Revision::V2025_11_25).contains("outputSchema"));
    assert!(text(Revision::V2026_07_28).contains(r#""outputSchema":{"type":"array"}"#));
}

/// HDR-15, HDR-24, HDR-25
#[test]
fn annotations_are_read_with_their_paths_and_types() {
    let mut tools = Tools::new();
    let entry = tools.insert(tool("t", REGION)).unwrap();
    let found: Vec<_> = entry
        .mirrored
        .iter()
        .map(|param| (param.header.as_str(), param.path.join("/"), param.kind))
        .collect();
    assert_eq!(
        found,
        [
            ("Mcp-Param-Region", "region".to_string(), ParamKind::String),
            ("Mcp-Param-Bay", "bay".to_string(), ParamKind::Integer),
            ("Mcp-Param-Rush", "rush".to_string(), ParamKind::Boolean),
        ]
    );
    let nested = r#"{"type":"object","properties":{"a":{"type":"object","properties":{"b":{"x-mcp-header":"Method","type":"string"}}}}}"#;
    let param = &tools.insert(tool("n", nested)).unwrap().mirrored[0];
    assert_eq!((param.header.as_str(), param.path.join("/")), ("Mcp-Param-Method", "a/b".to_string()));
}

/// HDR-18 to HDR-22, HDR-24, HDR-29
#[test]
fn wrong_annotations_are_refused() {
    let property = |schema: &str| alloc::format!(r#"{{"type":"object","properties":{{"a":{schema}}}}}"#);
    for schema in [
        property(r#"{"type":"string","x-mcp-header":""}"#),
        property(r#"{"type":"string","x-mcp-header":"My Region"}"#),
        property(r#"{"type":"string","x-mcp-header":"Region:Primary"}"#),
        property(r#"{"type":"string","x-mcp-header":"Région"}"#),
        property(r#"{"type":"string","x-mcp-header":"Region\t1"}"#),
        property(r#"{"type":"string","x-mcp-header":"A\r\nB"}"#),
        property(r#"{"type":"string","x-mcp-header":7}"#),
        property(r#"{"type":"number","x-mcp-header":"A"}"#),
        property(r#"{"type":"object","x-mcp-header":"A"}"#),
        property(r#"{"type":"array","x-mcp-header":"A"}"#),
        property(r#"{"type":"null","x-mcp-header":"A"}"#),
        property(r#"{"type":["string","null"],"x-mcp-header":"A"}"#),
        property(r#"{"x-mcp-header":"A"}"#),
        property(r#"{"type":"array","items":{"type":"string","x-mcp-header":"A"}}"#),
        property(r#"{"anyOf":[{"type":"string","x-mcp-header":"A"}]}"#),
        r#"{"type":"object","x-mcp-header":"A"}"#.into(),
        r#"{"type":"object","$defs":{"d":{"type":"string","x-mcp-header":"A"}}}"#.into(),
        r#"{"type":"object","if":{"properties":{"a":{"type":"string","x-mcp-header":"A"}}}}"#.into(),
        r#"{"type":"object","properties":{"a":{"type":"string","x-mcp-header":"A"},"b":{"type":"string","x-mcp-header":"a"}}}"#
            .into(),
    ] {
        assert!(refused(&schema).contains("x-mcp-header"), "{schema}");
    }
    // The word in a place where it is no keyword.
    for schema in [
        property(
            r#"{"const":{"x-mcp-header":"A"},"default":{"x-mcp-header":1},"enum":[{"x-mcp-header":""}]}"#,
        ),
        r#"{"type":"object","properties":{"x-mcp-header":{"type":"string"}}}"#.into(),
    ] {
        assert!(Tools::new().insert(tool("t", &schema)).is_ok(), "{schema}");
    }
}

/// SCHEMA-05, SCHEMA-07, SCHEMA-16: the error names the tool, the place and the reason.
#[test]
fn a_schema_that_is_not_in_order_is_refused_by_tool_place_and_reason() {
    let error = refused(r#"{"type":"object","properties":{"a":{"type":"strnig"}}}"#);
    assert_eq!(
        error,
        "tool `t`: the input schema is not in order, at `/properties/a/type`: there is no type `strnig`"
    );
    let remote = tool("t", ADD).output_schema(Json::parse(r#"{"$ref":"https://a.example/b"}"#).unwrap());
    let error = Tools::new().insert(remote).unwrap_err().message;
    assert!(error.starts_with("tool `t`: the output schema is not in order, at `/$ref`"), "{error}");
}

/// SCHEMA-17: bounds of a schema are those of the tools.
#[test]
fn bounds_on_schemas_can_be_set() {
    let mut tools = Tools::new();
    tools.set_limits(Limits { schemas: 3, ..Limits::default() });
    assert!(tools.insert(tool("t", r#"{"type":"object","allOf":[true,true]}"#)).is_ok());
    assert!(tools.insert(tool("u", r#"{"type":"object","allOf":[true,true,true]}"#)).is_err());
}

/// SCHEMA-11: an output schema may describe anything.
#[test]
fn an_output_schema_of_any_shape_is_accepted() {
    for schema in
        [r#"{"type":"array"}"#, r#"{"type":"null"}"#, "{}", r#"{"anyOf":[{"type":"string"},{"const":1}]}"#]
    {
        let tool = tool("t", ADD).output_schema(Json::parse(schema).unwrap());
        assert!(Tools::new().insert(tool).is_ok(), "{schema}");
    }
}

/// TOOL-28: with an output schema there is structured content, whoever checks what it is.
#[test]
fn structured_content_may_not_be_missing_under_an_output_schema() {
    let mut tools = Tools::new();
    let plain = tools.insert(tool("plain", ADD)).unwrap().clone();
    assert!(plain.check_output(None).is_ok());
    let declared = tool("declared", ADD).output_schema(Json::parse(r#"{"type":"array"}"#).unwrap());
    let declared = tools.insert(declared).unwrap();
    assert!(declared.check_output(None).unwrap_err().to_string().contains("missing"));
    assert!(declared.check_output(Some("[]")).is_ok());
}

/// TOOL-33, TOOL-37, SCHEMA-18
#[cfg(feature = "jsonschema")]
#[test]
fn arguments_are_checked_unless_their_type_does_it() {
    let mut tools = Tools::new();
    let checked = tools.insert(tool("checked", ADD)).unwrap();
    assert!(checked.check_arguments(r#"{"a":1,"b":2}"#).is_ok());
    let error = checked.check_arguments(r#"{"a":1,"b":"2"}"#).unwrap_err().to_string();
    assert_eq!(error, "arguments.b: expected a number, found a string");
    // Decoding finds that.
    tools.insert(tool("typed", ADD)).unwrap();
    tools.rely_on_type("typed");
    assert!(tools.get("typed").unwrap().check_arguments(r#"{"a":1,"b":"2"}"#).is_ok());
    // But not that.
    let bounded = r#"{"type":"object","properties":{"a":{"type":"integer","maximum":3}}}"#;
    tools.insert(tool("bounded", bounded)).unwrap();
    tools.rely_on_type("bounded");
    assert!(tools.get("bounded").unwrap().check_arguments(r#"{"a":4}"#).is_err());
}

/// TOOL-33: what is missing is known from the schema alone, with the type if that says one.
#[test]
fn missing_arguments_are_named_with_their_type() {
    let missing = |schema: &str, arguments: &str| {
        let mut tools = Tools::new();
        tools.insert(tool("t", schema)).unwrap().missing_arguments(arguments)
    };
    let schema = r#"{"type":"object","properties":{"a":{"type":"integer"},"b":true,"c":{"type":["string","null"]},
        "d":{"type":"string"}},"required":["a","b","c","e","d"]}"#;
    let all = [
        "arguments.a: missing, expected an integer",
        "arguments.b: missing",
        "arguments.c: missing",
        "arguments.e: missing",
        "arguments.d: missing, expected a string",
    ];
    assert_eq!(missing(schema, "{}"), all);
    assert_eq!(missing(schema, r#"{"a":null,"d":1,"e":[],"f":1}"#), all[1..3]);
    assert!(missing(r#"{"type":"object"}"#, "{}").is_empty());
}
