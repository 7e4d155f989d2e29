use super::*;
use crate::model::content::{ContentBlock, TextContent};
use crate::model::tests::{encoded, json, names};
use alloc::vec;

fn tool_use() -> SamplingMessageContentBlock {
    let input = Json::parse(r#"{"wheel":"rear"}"#).unwrap();
    SamplingMessageContentBlock::ToolUse(ToolUseContent::new("tu1", "gauge", input))
}

fn text(text: &str) -> SamplingMessageContentBlock {
    SamplingMessageContentBlock::Text(TextContent::new(text))
}

/// SAMP-10
#[test]
fn an_array_of_content_becomes_messages_where_there_are_no_arrays() {
    let result = SamplingMessageContentBlock::ToolResult(
        ToolResultContent::new("tu1", vec![ContentBlock::text("5.1 bar")]).into(),
    );
    let params = CreateMessageRequestParams::new(
        vec![
            SamplingMessage::new(Role::User, SamplingContent::text("Pressure?")),
            SamplingMessage::new(Role::Assistant, vec![text("Measuring"), tool_use()]),
            SamplingMessage::new(Role::User, vec![result]),
        ],
        60,
    );
    assert_eq!(
        encoded(Revision::V2025_06_18, &params)["messages"],
        json(
            r#"[
                {"role":"user","content":{"type":"text","text":"Pressure?"}},
                {"role":"assistant","content":{"type":"text","text":"Measuring"}},
                {"role":"assistant","content":{"type":"text","text":"[tool use tu1: gauge {\"wheel\":\"rear\"}]"}},
                {"role":"user","content":{"type":"text","text":"[tool result tu1: 5.1 bar]"}}
            ]"#
        )
    );
    let arrays = encoded(Revision::V2025_11_25, &params);
    assert_eq!(arrays["messages"].as_array().unwrap().len(), 3);
    assert!(arrays["messages"][1]["content"].is_array());
}

/// SAMP-10
#[test]
fn an_answer_is_one_block_where_there_are_no_arrays() {
    let result = CreateMessageResult::new(vec![text("a"), text("b")], "m-1");
    assert_eq!(encoded(Revision::V2025_06_18, &result)["content"], json(r#"{"type":"text","text":"a"}"#));
    let empty = CreateMessageResult::new(vec![], "m-1");
    assert_eq!(encoded(Revision::V2024_11_05, &empty)["content"], json(r#"{"type":"text","text":""}"#));
}

/// SAMP-09
#[test]
fn content_is_read_as_one_block_or_as_an_array() {
    let content = |text| serde_json::from_str::<SamplingContent>(text);
    assert!(matches!(content(r#"{"text":"7","type":"text"}"#), Ok(SamplingContent::Single(_))));
    assert_eq!(content(r#"[{"type":"text","text":"7"},{"type":"new"}]"#).unwrap().blocks().len(), 2);
    assert!(content("7").is_err());
}

/// SAMP-04, SAMP-09
#[test]
fn a_request_has_only_what_its_revision_has() {
    let object = Json::empty_object();
    let params = CreateMessageRequestParams::new(
        vec![
            SamplingMessage::new(Role::User, SamplingContent::text("?"))
                .meta(Meta::new().with("a/b", object.clone())),
        ],
        40,
    )
    .model_preferences(ModelPreferences::new().hints(vec![ModelHint::new("m")]).cost_priority(1.0))
    .system_prompt("Be brief")
    .include_context(IncludeContext::None)
    .temperature(0.5)
    .stop_sequences(vec![String::from("!")])
    .metadata(object.clone())
    .tools(vec![Tool::new("gauge", object.clone())])
    .tool_choice(ToolChoice::new(ToolChoiceMode::Auto))
    .task(object.clone())
    .meta(Meta::new().with("a/b", object));
    let older = [
        "_meta",
        "includeContext",
        "maxTokens",
        "messages",
        "metadata",
        "modelPreferences",
        "stopSequences",
        "systemPrompt",
        "temperature",
    ];
    for revision in [Revision::V2024_11_05, Revision::V2025_03_26, Revision::V2025_06_18] {
        let sent = encoded(revision, &params);
        assert_eq!(names(&sent), older, "{revision}");
        assert_eq!(names(&sent["messages"][0]), ["content", "role"]);
    }
    let core = encoded(Revision::V2025_11_25, &params);
    let mut expected = older.to_vec();
    expected.extend(["task", "tools", "toolChoice"]);
    expected.sort_unstable();
    assert_eq!(names(&core), expected);
    assert_eq!(names(&core["messages"][0]), ["_meta", "content", "role"]);
    expected.retain(|name| !["_meta", "task"].contains(name));
    assert_eq!(names(&encoded(Revision::V2026_07_28, &params)), expected);
}

/// SAMP-22: metadata of uses and results of tools is there when they are sent again.
#[test]
fn metadata_of_tools_survives_being_read_and_written() {
    for block in [
        r#"{"type":"tool_use","id":"tu1","name":"gauge","input":{},"_meta":{"x.example/k":[1,"a"]}}"#,
        r#"{"type":"tool_result","toolUseId":"tu1","content":[],"_meta":{"x.example/k":[1,"a"]}}"#,
    ] {
        let read: SamplingMessageContentBlock = serde_json::from_str(block).unwrap();
        let written =
            encoded(crate::dialect::Revision::LATEST, &SamplingMessage::new(Role::Assistant, vec![read]));
        let content = written["content"].get(0).unwrap_or(&written["content"]);
        assert_eq!(content["_meta"], json(r#"{"x.example/k":[1,"a"]}"#));
    }
}
