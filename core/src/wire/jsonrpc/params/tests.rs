#![allow(dead_code)]

use super::*;
use crate::wire::jsonrpc::RequestId;
use alloc::borrow::Cow;
use alloc::format;
use std::boxed::Box;
use std::collections::BTreeMap;
use std::string::String;
use std::vec::Vec;

#[derive(Deserialize, Debug)]
#[serde(rename_all = "camelCase")]
struct CallTool<'a> {
    name: String,
    #[serde(borrow)]
    arguments: Option<&'a RawValue>,
    #[serde(rename = "_meta")]
    meta: Option<Meta>,
}

#[derive(Deserialize, Debug)]
#[serde(rename_all = "camelCase")]
struct Meta {
    progress_token: Option<RequestId>,
}

#[track_caller]
fn says<'a, T: Deserialize<'a>>(json: &'a str, expected: &str) {
    let Err(error) = decode_at::<T>(json, "params") else { panic!("expected an error") };
    assert_eq!(error.code, code::INVALID_PARAMS);
    assert_eq!(error.message, expected);
}

/// P04
#[test]
fn wrong_type_is_told_with_its_path() {
    says::<CallTool<'_>>(r#"{"name":5}"#, "params.name: expected a string, found a number");
    says::<CallTool<'_>>(r#"{"arguments":{}}"#, "params.name: missing");
    says::<CallTool<'_>>("[]", "params: expected an object, found an array");
    says::<CallTool<'_>>("1", "params: expected an object, found a number");
    says::<CallTool<'_>>(
        r#"{"name":"a","_meta":{"progressToken":1.5}}"#,
        "params._meta.progressToken: expected a string or an integer, found a number",
    );
}

/// P05
#[test]
fn path_leads_through_objects_and_arrays() {
    #[derive(Deserialize)]
    struct Person {
        address: Address,
    }
    #[derive(Deserialize)]
    struct Address {
        zip: String,
    }
    let error = decode_at::<Person>(r#"{"address":{"zip":null}}"#, "arguments").err().unwrap();
    assert_eq!(error.message, "arguments.address.zip: expected a string, found null");
    let json = r#"{"a":[{"zip":"1"},{"zip":true}]}"#;
    says::<BTreeMap<String, Vec<Address>>>(json, "params.a[1].zip: expected a string, found a boolean");
}

/// The path is that of the first value that does not fit, whatever stands before it.
#[test]
fn values_before_the_fault_are_read_like_serde_json_does() {
    #[derive(Deserialize)]
    struct Many<'a> {
        big: u128,
        small: i128,
        float: f64,
        whole: f64,
        none: Option<u8>,
        list: (u8, String),
        text: Cow<'a, str>,
        raw: Box<RawValue>,
        id: RequestId,
        numbered: BTreeMap<u16, bool>,
        kind: Kind,
        other: Kind,
        unit: (),
        #[serde(flatten)]
        rest: BTreeMap<String, u8>,
    }
    #[derive(Deserialize)]
    #[serde(rename_all = "lowercase")]
    enum Kind {
        Text,
        Image { size: u8 },
        Pair(u8, u8),
        One(u8),
    }
    let json =
        r#"{"big":340282366920938463463374607431768211455,"small":-5,"float":1.5e3,"whole":2,"none":null,
        "list":[1,"\u00e9"],"text":"a\nb","raw":[ 1.00 ],"id":-0,"numbered":{"1":true},"kind":"text",
        "other":{"pair":[1,2]},"unit":null,"x":1"#
            .replace("\\n", "\\u000a");
    assert!(decode_at::<Many<'_>>(&format!("{json}}}"), "params").is_ok());
    says::<Many<'_>>(&format!("{json},\"kind\":1}}"), "params.kind: occurs twice");
    says::<Vec<Kind>>(
        r#"["text",{"one":1},{"image":{"size":"1"}}]"#,
        "params[2].image.size: expected an integer from 0 to 255, found a string",
    );
    says::<Vec<Kind>>(
        r#"[{"pair":[1]}]"#,
        "params[0].pair: expected tuple variant Kind::Pair with 2 elements, found 1 elements",
    );
}

#[test]
fn choices_are_listed() {
    #[derive(Deserialize)]
    #[serde(rename_all = "lowercase")]
    enum Level {
        Debug,
        Info,
    }
    says::<Level>("\"WARN\"", r#"params: expected one of "debug", "info", found another string"#);
    says::<Level>("5", r#"params: expected one of "debug", "info", found a number"#);
    says::<Level>(r#"{"x":1}"#, r#"params: expected one of "debug", "info", found another string"#);
}

#[test]
fn numbers_are_told_in_ranges() {
    says::<u8>("300", "params: expected an integer from 0 to 255, found another number");
    says::<i64>("1.5", "params: expected an integer, found a number with a fraction or exponent");
    says::<u64>("-1", "params: expected a non-negative integer, found another number");
    says::<f64>("\"1\"", "params: expected a number, found a string");
    says::<Vec<u8>>("{}", "params: expected an array, found an object");
    says::<BTreeMap<u8, u8>>("[]", "params: expected an object, found an array");
    says::<bool>("null", "params: expected a boolean, found null");
}

#[test]
fn unknown_members_are_told_where_they_are_refused() {
    #[derive(Deserialize)]
    #[serde(deny_unknown_fields)]
    struct Strict {
        a: u8,
    }
    says::<Strict>(r#"{"a":1,"b":2}"#, "params.b: unknown member, expected \"a\"");
}

/// Values of the peer, and texts that may quote them, stay out of what is told.
#[test]
fn values_are_not_echoed() {
    #[derive(Deserialize)]
    #[serde(try_from = "String")]
    struct Picky;
    impl TryFrom<String> for Picky {
        type Error = String;
        fn try_from(text: String) -> Result<Self, String> {
            Err(format!("cannot use {text}"))
        }
    }
    says::<Vec<Picky>>("[\"secret\"]", "params[0]: not a valid value");
    for json in ["\"secret\"", "[\"secret\"]", "{\"a\":\"secret\"}"] {
        let error = decode_at::<BTreeMap<String, u8>>(json, "params").unwrap_err();
        assert!(!format!("{error:?}").contains("secret"));
    }
}

/// Names are of any length and the peer's choice; what is told of them is bounded.
#[test]
fn paths_are_bounded() {
    let name = "x".repeat(100_000);
    let json = format!("{{\"{name}\":[]}}");
    let error = decode_at::<BTreeMap<String, u8>>(&json, "params").unwrap_err();
    assert!(error.message.len() < 200, "{}", error.message.len());
    says::<BTreeMap<String, u8>>(
        r#"{"a\nb":[]}"#,
        "params.a\u{fffd}b: expected an integer from 0 to 255, found an array",
    );

    #[derive(Deserialize, Debug)]
    struct Nested {
        a: Option<Box<Nested>>,
    }
    let json = format!("{}1{}", "{\"a\":".repeat(100), "}".repeat(100));
    let error = decode_at::<Nested>(&json, "params").unwrap_err();
    assert_eq!(error.message, format!("params{}…: expected an object, found a number", ".a".repeat(16)));
}

/// Deep text cannot exhaust the stack, whatever type asks for it.
#[test]
fn depth_is_bounded() {
    let json = "[".repeat(100_000);
    says::<serde_json::Value>(&json, "params: nests too deep".replace("params", &deep_path()).as_str());
}

fn deep_path() -> String {
    format!("params{}…", "[0]".repeat(16))
}

/// What only serde_json refuses is still an error.
#[test]
fn other_faults_have_a_text_too() {
    says::<&str>("\"\\u0061\"", "params: expected a string, found a string");
    says::<u8>("1 2", "params: not JSON");
    says::<u8>("", "params: not JSON");
    says::<String>("\"\\ud800\"", "params: expected text, found half of a surrogate pair");
    says::<f64>("1e999", "params: expected a number that can be represented, found one that is too large");
    says::<(u8, u8)>("[1,2,3]", "params: expected fewer elements, found more");
}

/// Absent params are an empty object.
#[test]
fn absent_params_are_empty() {
    #[derive(Deserialize)]
    struct List {
        cursor: Option<String>,
    }
    assert!(decode::<List>(None, "params").unwrap().cursor.is_none());
    let error = decode::<CallTool<'_>>(None, "params").unwrap_err();
    assert_eq!(error.message, "params.name: missing");
}

/// What fits is lent from the message.
#[test]
fn decoded_params_borrow() {
    let json = r#"{"name":"a","arguments":{"x":1}}"#;
    let raw: &RawValue = serde_json::from_str(json).unwrap();
    let call: CallTool<'_> = decode(Some(raw), "params").unwrap();
    assert_eq!(call.arguments.unwrap().get().as_ptr(), json[24..].as_ptr());
}

/// What is only passed on was bounded when its message was read (`Limits::depth`); here types are, whose reading
/// recurses.
#[test]
fn depth_bounds_what_is_decoded_and_not_what_is_passed_on() {
    #[derive(Deserialize)]
    struct Carried<'a> {
        #[serde(borrow)]
        raw: &'a RawValue,
    }
    let nested = |depth: usize| format!("{}{}", "[".repeat(depth), "]".repeat(depth));
    let deep = nested(1_000);
    let json = format!(r#"{{"raw":{deep},"ignored":{deep}}}"#);
    assert_eq!(decode_at::<Carried<'_>>(&json, "params").unwrap().raw.get(), deep);
    for depth in [100, 126, 127, 128, 129, 1_000] {
        let ours = decode_at::<serde_json::Value>(&nested(depth), "params");
        let theirs = serde_json::from_str::<serde_json::Value>(&nested(depth));
        assert_eq!(ours.is_ok(), theirs.is_ok(), "{depth}");
    }
}
