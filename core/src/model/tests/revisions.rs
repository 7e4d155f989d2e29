//! For each revision: an object with every field encodes to the properties that the schema of that revision
//! lists, and to nothing else. The lists are those of `schema/<revision>/schema.json`, `definitions`.

use super::{encoded, names};
use crate::dialect::Revision;
use crate::model::annotations::{Annotations, Role};
use crate::model::capabilities::*;
use crate::model::completion::*;
use crate::model::content::*;
use crate::model::elicitation::ElicitResult;
use crate::model::encode::Encode;
use crate::model::icons::{Icon, IconTheme};
use crate::model::json::{Json, JsonMap};
use crate::model::lifecycle::*;
use crate::model::meta::Meta;
use crate::model::progress::ProgressNotificationParams;
use crate::model::prompts::*;
use crate::model::resources::*;
use crate::model::roots::*;
use crate::model::tools::*;
use alloc::collections::BTreeMap;
use alloc::string::String;
use alloc::vec;
use alloc::vec::Vec;

fn meta() -> Meta {
    Meta::new().with("org.example.shop/till", Json::parse("9").unwrap())
}

fn icons() -> Vec<Icon> {
    vec![
        Icon::new("https://spokes.example/wheel.png")
            .mime_type("image/png")
            .sizes(vec![String::from("48x48")])
            .theme(IconTheme::Dark),
    ]
}

fn annotations() -> Annotations {
    Annotations::new().audience(vec![Role::User]).priority(0.5).last_modified("2026-08-03T09:00:00Z")
}

/// Asserts the member names in each revision, oldest first, each list in alphabetical order.
fn assert_names(value: &impl Encode, expected: [&str; 5]) {
    for (revision, expected) in Revision::ALL.into_iter().zip(expected) {
        let expected: Vec<_> = expected.split(' ').collect();
        assert_eq!(names(&encoded(revision, value)), expected, "{revision}");
    }
}

/// TOOL-07, TOOL-25, TOOL-43
#[test]
fn tool() {
    let tool = Tool::new("book_slot", Json::parse(r#"{"type":"object"}"#).unwrap())
        .title("Book")
        .description("Books a slot")
        .output_schema(Json::parse(r#"{"type":"object"}"#).unwrap())
        .annotations(ToolAnnotations::new().read_only_hint(true))
        .execution(ToolExecution::new().task_support(TaskSupport::Optional))
        .icons(icons())
        .meta(meta());
    assert_names(
        &tool,
        [
            "description inputSchema name",
            "annotations description inputSchema name",
            "_meta annotations description inputSchema name outputSchema title",
            "_meta annotations description execution icons inputSchema name outputSchema title",
            "_meta annotations description icons inputSchema name outputSchema title",
        ],
    );
}

/// CACHE-02, RPC-09
#[test]
fn list_tools_result() {
    let page = ListToolsResult::new(vec![]).next_cursor("p2").meta(meta());
    let legacy = "_meta nextCursor tools";
    let modern = "_meta cacheScope nextCursor resultType tools ttlMs";
    assert_names(&page, [legacy, legacy, legacy, legacy, modern]);
}

/// TOOL-24, TOOL-25
#[test]
fn call_tool_result() {
    let result =
        CallToolResult::text("7").structured_content(Json::parse("{}").unwrap()).is_error(false).meta(meta());
    assert_names(
        &result,
        [
            "_meta content isError",
            "_meta content isError",
            "_meta content isError structuredContent",
            "_meta content isError structuredContent",
            "_meta content isError resultType structuredContent",
        ],
    );
}

#[test]
fn call_tool_params() {
    let object = Json::empty_object();
    let params = CallToolRequestParams::new("overhaul")
        .arguments(&object)
        .input_responses(&object)
        .request_state("s")
        .task(&object)
        .meta(meta());
    let older = "_meta arguments name";
    assert_names(
        &params,
        [
            older,
            older,
            older,
            "_meta arguments name task",
            "_meta arguments inputResponses name requestState",
        ],
    );
}

/// META-22
#[test]
fn implementation() {
    let implementation = Implementation::new("kiln", "0.3.0")
        .title("Kiln")
        .description("A client")
        .website_url("https://kiln.example")
        .icons(icons());
    let full = "description icons name title version websiteUrl";
    assert_names(&implementation, ["name version", "name version", "name title version", full, full]);
}

/// META-23, EXT-01, ELIC-01
#[test]
fn client_capabilities() {
    let object = Json::empty_object();
    let capabilities = ClientCapabilities::new()
        .experimental(JsonMap::new())
        .roots(RootsCapability::new().list_changed(true))
        .sampling(SamplingCapability::new().tools(object.clone()).context(object.clone()))
        .elicitation(ElicitationCapability::new().form(object.clone()).url(object.clone()))
        .tasks(object)
        .extensions(JsonMap::new());
    assert_names(
        &capabilities,
        [
            "experimental roots sampling",
            "experimental roots sampling",
            "elicitation experimental roots sampling",
            "elicitation experimental roots sampling tasks",
            "elicitation experimental extensions roots sampling",
        ],
    );
    let inside = |revision, name: &str| names(&encoded(revision, &capabilities)[name]);
    assert!(inside(Revision::V2025_06_18, "elicitation").is_empty());
    assert_eq!(inside(Revision::V2025_11_25, "elicitation"), ["form", "url"]);
    assert!(inside(Revision::V2025_06_18, "sampling").is_empty());
    assert_eq!(inside(Revision::V2025_11_25, "sampling"), ["context", "tools"]);
    assert_eq!(inside(Revision::V2025_11_25, "roots"), ["listChanged"]);
    assert!(inside(Revision::V2026_07_28, "roots").is_empty());
}

/// ELIC-04: before there were two ways, `elicitation` meant a form.
#[test]
fn a_client_without_forms_does_not_declare_elicitation_to_2025_06_18() {
    let capabilities =
        ClientCapabilities::new().elicitation(ElicitationCapability::new().url(Json::empty_object()));
    assert!(names(&encoded(Revision::V2025_06_18, &capabilities)).is_empty());
}

#[test]
fn server_capabilities() {
    let object = Json::empty_object();
    let capabilities = ServerCapabilities::new()
        .experimental(JsonMap::new())
        .logging(object.clone())
        .completions(object.clone())
        .prompts(PromptsCapability::new().list_changed(true))
        .resources(ResourcesCapability::new().list_changed(true).subscribe(true))
        .tools(ToolsCapability::new().list_changed(true))
        .tasks(object)
        .extensions(JsonMap::new());
    let middle = "completions experimental logging prompts resources tools";
    assert_names(
        &capabilities,
        [
            "experimental logging prompts resources tools",
            middle,
            middle,
            "completions experimental logging prompts resources tasks tools",
            "completions experimental extensions logging prompts resources tools",
        ],
    );
}

#[test]
fn resource() {
    let resource = Resource::new("shop://bikes/42", "bike 42")
        .title("Bike 42")
        .description("A bike")
        .mime_type("application/json")
        .size(12u64)
        .annotations(annotations())
        .icons(icons())
        .meta(meta());
    let oldest = "annotations description mimeType name size uri";
    let full = "_meta annotations description icons mimeType name size title uri";
    assert_names(
        &resource,
        [oldest, oldest, "_meta annotations description mimeType name size title uri", full, full],
    );
}

#[test]
fn resource_template() {
    let template = ResourceTemplate::new("shop://bikes/{id}", "bike")
        .title("Bike")
        .description("A bike")
        .mime_type("application/json")
        .annotations(annotations())
        .icons(icons())
        .meta(meta());
    let oldest = "annotations description mimeType name uriTemplate";
    let full = "_meta annotations description icons mimeType name title uriTemplate";
    assert_names(
        &template,
        [oldest, oldest, "_meta annotations description mimeType name title uriTemplate", full, full],
    );
}

#[test]
fn hints_on_content() {
    let newer = "audience lastModified priority";
    assert_names(&annotations(), ["audience priority", "audience priority", newer, newer, newer]);
}

#[test]
fn text_content() {
    let content = ContentBlock::from(TextContent::new("7").annotations(annotations()).meta(meta()));
    let newer = "_meta annotations text type";
    assert_names(&content, ["annotations text type", "annotations text type", newer, newer, newer]);
}

#[test]
fn image_content() {
    let content = ContentBlock::from(
        ImageContent::new("iVBORw0KGgo=", "image/png").annotations(annotations()).meta(meta()),
    );
    let older = "annotations data mimeType type";
    let newer = "_meta annotations data mimeType type";
    assert_names(&content, [older, older, newer, newer, newer]);
}

/// TOOL-20: 2024-11-05 knows no audio.
#[test]
fn audio_content() {
    let content = ContentBlock::from(
        AudioContent::new("UklGRg==", "audio/wav").annotations(annotations()).meta(meta()),
    );
    let newer = "_meta annotations data mimeType type";
    assert_names(&content, ["annotations text type", "annotations data mimeType type", newer, newer, newer]);
}

/// TOOL-20: revisions before 2025-06-18 know no links.
#[test]
fn resource_link() {
    let mut link = ResourceLink::new("shop://bikes/42", "bike 42");
    link.annotations = Some(annotations());
    link.meta = meta();
    let newer = "_meta annotations name type uri";
    assert_names(
        &ContentBlock::from(link),
        ["annotations text type", "annotations text type", newer, newer, newer],
    );
}

#[test]
fn embedded_resource() {
    let contents =
        TextResourceContents::new("shop://notes/1", "true wheel").mime_type("text/plain").meta(meta());
    let content = ContentBlock::from(EmbeddedResource::new(contents).annotations(annotations()).meta(meta()));
    let older = "annotations resource type";
    let newer = "_meta annotations resource type";
    assert_names(&content, [older, older, newer, newer, newer]);
    let inside = |revision| names(&encoded(revision, &content)["resource"]);
    assert_eq!(inside(Revision::V2025_03_26), ["mimeType", "text", "uri"]);
    assert_eq!(inside(Revision::V2025_06_18), ["_meta", "mimeType", "text", "uri"]);
}

/// PRG-06
#[test]
fn progress() {
    let params = ProgressNotificationParams::new("pt-1", 1.0).total(4.0).message("checking").meta(meta());
    let newer = "_meta message progress progressToken total";
    assert_names(&params, ["_meta progress progressToken total", newer, newer, newer, newer]);
}

/// CACHE-01
#[test]
fn read_resource_result() {
    let result = ReadResourceResult::new(vec![]).meta(meta());
    let legacy = "_meta contents";
    assert_names(&result, [legacy, legacy, legacy, legacy, "_meta cacheScope contents resultType ttlMs"]);
}

#[test]
fn prompt() {
    let prompt = Prompt::new("ticket")
        .title("Ticket")
        .description("Writes a ticket")
        .arguments(vec![PromptArgument::new("bike").title("Bike").description("Which").required(true)])
        .icons(icons())
        .meta(meta());
    let oldest = "arguments description name";
    let full = "_meta arguments description icons name title";
    assert_names(&prompt, [oldest, oldest, "_meta arguments description name title", full, full]);
    let oldest = "description name required";
    let full = "description name required title";
    assert_names(&prompt.arguments[0], [oldest, oldest, full, full, full]);
}

/// MRTR-23
#[test]
fn get_prompt_params() {
    let params = GetPromptRequestParams::new("ticket")
        .arguments(BTreeMap::from([("bike".into(), "B-42".into())]))
        .input_responses(JsonMap::from([("day".into(), Json::empty_object())]))
        .request_state("s")
        .meta(meta());
    let legacy = "_meta arguments name";
    let modern = "_meta arguments inputResponses name requestState";
    assert_names(&params, [legacy, legacy, legacy, legacy, modern]);
}

#[test]
fn completion_params() {
    let reference = PromptReference::new("ticket").title("Ticket");
    let params = CompleteRequestParams::new(reference, CompletionArgument::new("bike", "B-"))
        .context(CompletionContext::new(BTreeMap::from([("shop".into(), "north".into())])))
        .meta(meta());
    let (older, newer) = ("_meta argument ref", "_meta argument context ref");
    assert_names(&params, [older, older, newer, newer, newer]);
    assert_names(
        &params.reference,
        ["name type", "name type", "name title type", "name title type", "name title type"],
    );
}

#[test]
fn root() {
    let root = Root::new("file:///srv/bikes").name("bikes").meta(meta());
    assert_names(&root, ["name uri", "name uri", "_meta name uri", "_meta name uri", "_meta name uri"]);
}

#[test]
fn list_roots_result() {
    let result = ListRootsResult::new(vec![]).meta(meta());
    let legacy = "_meta roots";
    assert_names(&result, [legacy, legacy, legacy, legacy, "roots"]);
}

/// ELIC-28
#[test]
fn elicit_result() {
    let result = ElicitResult::accept(Json::empty_object()).meta(meta());
    let legacy = "_meta action content";
    assert_names(&result, [legacy, legacy, legacy, legacy, "action content"]);
}
