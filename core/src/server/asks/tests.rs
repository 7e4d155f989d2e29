use super::*;
use crate::dialect::Revision::{V2024_11_05, V2025_03_26, V2025_06_18, V2025_11_25, V2026_07_28};
use crate::model::content::TextContent;
use crate::model::elicitation::{
    ElicitRequestUrlParams, ElicitationSchema, StringSchema, UntitledMultiSelectEnumSchema,
};
use crate::model::sampling::{
    SamplingContent, SamplingMessage, SamplingMessageContentBlock, ToolChoice, ToolChoiceMode,
};
use crate::model::{Role, tools::Tool};
use alloc::string::ToString;
use alloc::vec;

fn form() -> InputRequest {
    let schema = ElicitationSchema::new().required("name", StringSchema::new());
    ElicitRequestParams::from(ElicitRequestFormParams::new("Who?", schema)).into()
}

fn url() -> InputRequest {
    let params = ElicitRequestUrlParams::new("Sign in", "https://example.com/e/1").elicitation_id("e1");
    ElicitRequestParams::from(params).into()
}

fn sample(change: impl FnOnce(CreateMessageRequestParams) -> CreateMessageRequestParams) -> InputRequest {
    let text = SamplingMessageContentBlock::Text(TextContent::new("Hello"));
    let message = SamplingMessage::new(Role::User, SamplingContent::Single(text));
    change(CreateMessageRequestParams::new(vec![message], 100)).into()
}

fn with_tools() -> InputRequest {
    sample(|params| params.tools([Tool::new("t", Json::parse(r#"{"type":"object"}"#).unwrap())]))
}

fn declared(json: &str) -> ClientCapabilities {
    serde_json::from_str(json).unwrap()
}

fn lacks(revision: Revision, capabilities: &str, requests: &[InputRequest]) -> String {
    let required = lacking(revision, &declared(capabilities), requests);
    required.map_or(String::new(), |required| serde_json::to_string(&In(V2026_07_28, &required)).unwrap())
}

/// MRTR-08, ELIC-04, ELIC-05
#[test]
fn each_way_to_elicit_has_to_be_declared() {
    for (capabilities, form_lacks, url_lacks) in [
        ("{}", r#"{"elicitation":{"form":{}}}"#, r#"{"elicitation":{"url":{}}}"#),
        (r#"{"elicitation":{}}"#, "", r#"{"elicitation":{"url":{}}}"#),
        (r#"{"elicitation":{"form":{}}}"#, "", r#"{"elicitation":{"url":{}}}"#),
        (r#"{"elicitation":{"url":{}}}"#, r#"{"elicitation":{"form":{}}}"#, ""),
        (r#"{"elicitation":{"form":{},"url":{}}}"#, "", ""),
    ] {
        assert_eq!(lacks(V2026_07_28, capabilities, &[form()]), form_lacks, "{capabilities}");
        assert_eq!(lacks(V2025_11_25, capabilities, &[url()]), url_lacks, "{capabilities}");
    }
}

/// SAMP-04, SAMP-06
#[test]
fn sampling_with_tools_or_context_has_to_be_declared() {
    let choice = sample(|params| params.tool_choice(ToolChoice::new(ToolChoiceMode::None)));
    let context = || sample(|params| params.include_context(IncludeContext::AllServers));
    let none = sample(|params| params.include_context(IncludeContext::None));
    let (plain, tools) = (r#"{"sampling":{}}"#, r#"{"sampling":{"tools":{}}}"#);
    assert_eq!(lacks(V2025_11_25, "{}", &[sample(|params| params)]), r#"{"sampling":{}}"#);
    assert_eq!(lacks(V2025_11_25, plain, &[sample(|params| params), none]), "");
    assert_eq!(lacks(V2025_11_25, plain, &[with_tools()]), tools);
    assert_eq!(lacks(V2026_07_28, plain, &[choice]), tools);
    assert_eq!(lacks(V2026_07_28, tools, &[with_tools()]), "");
    assert_eq!(lacks(V2026_07_28, tools, &[context()]), r#"{"sampling":{"context":{}}}"#);
    // Then there was nothing to declare yet.
    assert_eq!(lacks(V2025_06_18, plain, &[context()]), "");
}

/// META-16, ROOT-09: everything that is missing is named at once.
#[test]
fn what_several_requests_lack_is_listed_together() {
    let requests = [form(), url(), with_tools(), InputRequest::ListRoots];
    let all = r#"{"roots":{},"sampling":{"tools":{}},"elicitation":{"form":{},"url":{}}}"#;
    assert_eq!(lacks(V2026_07_28, "{}", &requests), all);
    let all = r#"{"roots":{"listChanged":true},"sampling":{"tools":{}},"elicitation":{"form":{},"url":{}}}"#;
    assert_eq!(lacks(V2026_07_28, all, &requests), "");
    let error = askable(V2026_07_28, &declared("{}"), &requests).unwrap_err();
    let text = "did not declare `elicitation.form`, `elicitation.url`, `sampling.tools`, `roots`";
    assert!(error.to_string().ends_with(text), "{error}");
}

/// ELIC-05, SAMP-09, MRTR-01: what a revision has not is not asked for in it.
#[test]
fn a_revision_is_asked_only_for_what_it_has() {
    let choices = UntitledMultiSelectEnumSchema::new(vec!["a".into()]);
    let schema = ElicitationSchema::new().required("any", choices.clone());
    let required: InputRequest = ElicitRequestParams::from(ElicitRequestFormParams::new("m", schema)).into();
    let schema = ElicitationSchema::new().optional("any", choices);
    let optional: InputRequest = ElicitRequestParams::from(ElicitRequestFormParams::new("m", schema)).into();
    let nothing = |_: Revision| false;
    let since = |first: Revision| move |revision: Revision| (first..=V2025_11_25).contains(&revision);
    type Knows = alloc::boxed::Box<dyn Fn(Revision) -> bool>;
    let rows: [(InputRequest, Knows); 8] = [
        (form(), alloc::boxed::Box::new(since(V2025_06_18))),
        (url(), alloc::boxed::Box::new(since(V2025_11_25))),
        (sample(|params| params), alloc::boxed::Box::new(since(V2024_11_05))),
        (with_tools(), alloc::boxed::Box::new(since(V2025_11_25))),
        (InputRequest::ListRoots, alloc::boxed::Box::new(since(V2024_11_05))),
        (required, alloc::boxed::Box::new(since(V2025_11_25))),
        (optional, alloc::boxed::Box::new(since(V2025_06_18))),
        (InputRequest::Unknown { method: "ping".into(), params: None }, alloc::boxed::Box::new(nothing)),
    ];
    for (request, knows) in rows {
        for revision in [V2024_11_05, V2025_03_26, V2025_06_18, V2025_11_25, V2026_07_28] {
            let outcome = sendable(revision, &request).and(known(revision, &request));
            assert_eq!(outcome.is_ok(), knows(revision), "{revision} {} {outcome:?}", request.method());
        }
    }
}

/// ELIC-18
#[test]
fn an_elicitation_by_url_has_an_id_where_the_revision_has_ids() {
    let params = ElicitRequestUrlParams::new("m", "https://example.com");
    let request = ElicitRequestParams::from(params).into();
    assert!(matches!(sendable(V2025_11_25, &request), Err(AskError::Misuse(_))));
}

#[test]
fn ids_name_the_exchange_that_asked_and_its_table() {
    let of = |id: &str| exchange_of(&id.into(), 0x0a0b_0c0d);
    assert_eq!(of("ask-0a0b0c0d.7-12"), Some(ExchangeId::new(7)));
    for id in [
        "ask-0a0b0c0e.7-12",
        "ask-a0b0c0d.7-12",
        "ask-0A0B0C0D.7-12",
        "ask-0a0b0c0d.s7-12",
        "ask-0a0b0c0d.7",
        "ask-7-12",
        "ask-12",
        "ask--1",
        "0a0b0c0d.7-12",
        "ask-x-1",
        "",
    ] {
        assert_eq!(of(id), None, "{id}");
    }
    assert_eq!(exchange_of(&7.into(), 0x0a0b_0c0d), None);
}

/// An answer may hold what nobody else should read.
#[test]
fn answers_print_without_their_payload() {
    let answer = Answer(Ok(Json::parse(r#"{"secret":1}"#).unwrap()));
    let response = ClientResponse { request: "ask-1".into(), outcome: answer.clone() };
    assert!(!alloc::format!("{answer:?} {response:?}").contains("secret"));
    let refused = AskError::Refused(ErrorObject::new(-1, "secret"));
    assert!(!alloc::format!("{:?} {refused}", Answer(Err(refused.clone()))).contains("secret"));
}
