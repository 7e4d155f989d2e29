use super::*;
use crate::dialect::Revision;
use crate::error::code;
use crate::model::logging::LoggingLevel;
use crate::wire::jsonrpc::{ProgressToken, RequestId};
use alloc::boxed::Box;
use serde_json::value::RawValue;

fn raw(text: &str) -> Box<RawValue> {
    RawValue::from_string(text.into()).unwrap()
}

/// META-02, META-03, META-07
#[test]
fn keys_follow_the_grammar() {
    for key in [
        "till",
        "a",
        "",
        "org.example.shop/till",
        "com.example/",
        "org.ex-ample.s1/a.b_c-d",
        "com.example.mcp/x",
        "progressToken",
    ] {
        assert_eq!(check_key(key), Ok(()), "{key:?}");
    }
    for key in ["/till", "org..shop/x", ".org/x", "1org/x", "org-/x", "-org/x", "org.ex_ample/x", "org.é/x"]
    {
        assert_eq!(check_key(key), Err(KeyFault::Label), "{key:?}");
    }
    for key in ["-till", "till-", "_x", "x.", "org.example/a/b", "ti ll", "tîll"] {
        assert_eq!(check_key(key), Err(KeyFault::Name), "{key:?}");
    }
}

/// META-05
#[test]
fn prefixes_of_the_protocol_are_reserved_by_their_second_label() {
    for key in ["io.modelcontextprotocol/x", "dev.mcp/", "org.modelcontextprotocol.api/x", "com.mcp.tools/x"]
    {
        assert_eq!(check_key(key), Err(KeyFault::Reserved), "{key}");
    }
    assert!(!is_reserved("com.example.mcp/x", Revision::LATEST));
    assert!(!is_reserved("mcp/x", Revision::LATEST));
}

/// META-06
#[test]
fn revision_2025_06_18_reserves_by_the_label_before_the_last() {
    let revision = Revision::V2025_06_18;
    for key in ["mcp.dev/x", "tools.mcp.com/x", "api.modelcontextprotocol.org/x"] {
        assert!(is_reserved(key, revision), "{key}");
    }
    assert!(!is_reserved("com.mcp.tools.api/x", revision));
    assert!(!is_reserved("mcp.dev/x", Revision::V2025_11_25));
    assert_eq!(check_key("mcp.dev/x"), Err(KeyFault::Reserved));
}

#[test]
fn a_request_is_read_in_place() {
    let params = raw(r#"{"name": "book_slot", "arguments": {"_meta": 1}, "_meta": {
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientInfo": {"name": "kiln", "version": "0.3.0"},
        "io.modelcontextprotocol/clientCapabilities": {},
        "io.modelcontextprotocol/logLevel": "warning",
        "io.modelcontextprotocol/subscriptionId": "sub-7",
        "progressToken": 7,
        "traceparent": "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01",
        "tracestate": "shop=1",
        "baggage": "tenant=north",
        "org.example.shop/till": "9"
    }}"#);
    let meta = RequestMeta::of(&params).unwrap().unwrap();
    let (version, capabilities) = meta.required().unwrap();
    assert!(matches!(version, alloc::borrow::Cow::Borrowed("2026-07-28")));
    assert_eq!(capabilities.get(), "{}");
    assert_eq!(meta.client_info().unwrap().unwrap().get(), r#"{"name": "kiln", "version": "0.3.0"}"#);
    assert_eq!(meta.log_level(), Ok(Some(LoggingLevel::Warning)));
    assert_eq!(meta.subscription_id(), Ok(Some(RequestId::from("sub-7"))));
    assert_eq!(meta.progress_token(), Ok(Some(ProgressToken::from(7))));
    assert!(meta.traceparent().unwrap().unwrap().starts_with("00-4bf92f35"));
    assert_eq!(meta.tracestate().unwrap().unwrap(), "shop=1");
    assert_eq!(meta.baggage().unwrap().unwrap(), "tenant=north");
    assert_eq!(meta.get("org.example.shop/till").unwrap().get(), "\"9\"");
    assert_eq!(meta.to_meta().iter().count(), 10);
}

#[test]
fn absent_metadata_is_no_error() {
    assert!(RequestMeta::of(&raw(r#"{"name":"x"}"#)).unwrap().is_none());
    assert!(RequestMeta::of(&raw(r#"{"_meta":null}"#)).unwrap().is_none());
    let empty = raw(r#"{"_meta":{}}"#);
    assert_eq!(RequestMeta::of(&empty).unwrap().unwrap().progress_token(), Ok(None));
}

/// META-12
#[test]
fn a_modern_request_without_the_required_keys_is_told_which() {
    let message = |text: &str| {
        let params = raw(text);
        let error = RequestMeta::of(&params).unwrap().unwrap().required().unwrap_err();
        assert_eq!(error.code, code::INVALID_PARAMS);
        error.message
    };
    let lacks = message(r#"{"_meta":{}}"#);
    assert!(
        lacks.starts_with("_meta lacks io.modelcontextprotocol/protocolVersion: `initialize` first"),
        "{lacks}"
    );
    assert_eq!(
        message(r#"{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28"}}"#),
        "_meta lacks io.modelcontextprotocol/clientCapabilities"
    );
}

/// META-12, LOG-05, PRG-01
#[test]
fn a_value_of_the_wrong_type_is_named_by_its_path() {
    let params = raw(
        r#"{"_meta":{"progressToken":1.5,"io.modelcontextprotocol/logLevel":"loud","io.modelcontextprotocol/protocolVersion":7,"io.modelcontextprotocol/clientCapabilities":[]}}"#,
    );
    let meta = RequestMeta::of(&params).unwrap().unwrap();
    let errors = [
        (
            meta.progress_token().unwrap_err(),
            "params._meta[\"progressToken\"]: expected a string or an integer, found a number",
        ),
        (
            meta.log_level().unwrap_err(),
            "params._meta[\"io.modelcontextprotocol/logLevel\"]: expected one of the eight log levels, found a string",
        ),
        (
            meta.protocol_version().unwrap_err(),
            "params._meta[\"io.modelcontextprotocol/protocolVersion\"]: expected a string, found a number",
        ),
        (
            meta.client_capabilities().unwrap_err(),
            "params._meta[\"io.modelcontextprotocol/clientCapabilities\"]: expected an object, found an array",
        ),
    ];
    for (error, message) in errors {
        assert_eq!((error.code, &*error.message), (code::INVALID_PARAMS, message));
    }
}

#[test]
fn params_and_meta_have_to_be_objects() {
    for text in ["[]", "1", r#"{"_meta":5}"#, r#"{"_meta":[]}"#, r#"{"_meta":{},"_meta":{}}"#] {
        assert_eq!(RequestMeta::of(&raw(text)).unwrap_err().code, code::INVALID_PARAMS, "{text}");
    }
}

/// META-01
#[test]
fn a_wrong_value_is_no_fault_until_it_is_asked_for() {
    let params =
        raw(r#"{"_meta":{"io.modelcontextprotocol/logLevel":{"is":"not a level"},"progressToken":"t"}}"#);
    let meta = RequestMeta::of(&params).unwrap().unwrap();
    assert_eq!(meta.progress_token(), Ok(Some(ProgressToken::from("t"))));
}
