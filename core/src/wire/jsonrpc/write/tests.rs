use super::*;
use serde::ser::{Error, SerializeMap, Serializer};
use serde_json::json;
use serde_json::value::RawValue;
use std::string::String;

struct Fails;

impl Serialize for Fails {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("a", &1)?;
        Err(S::Error::custom("no"))
    }
}

fn text(out: Vec<u8>) -> String {
    String::from_utf8(out).unwrap()
}

/// RPC-01, RPC-08, RPC-16, RPC-22
#[test]
fn every_kind_of_message_is_written() {
    let mut out = Vec::new();
    write_request(&mut out, &1.into(), "tools/call", Some(&json!({ "name": "a" }))).unwrap();
    assert_eq!(
        text(core::mem::take(&mut out)),
        r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"a"}}"#
    );
    write_request::<()>(&mut out, &"a\"".into(), "ping", None).unwrap();
    assert_eq!(text(core::mem::take(&mut out)), r#"{"jsonrpc":"2.0","id":"a\"","method":"ping"}"#);
    write_notification::<()>(&mut out, "notifications/x\n", None).unwrap();
    assert_eq!(text(core::mem::take(&mut out)), r#"{"jsonrpc":"2.0","method":"notifications/x\n"}"#);
    write_result(&mut out, &0.into(), &json!({})).unwrap();
    assert_eq!(text(core::mem::take(&mut out)), r#"{"jsonrpc":"2.0","id":0,"result":{}}"#);
    write_error(&mut out, Some(&"".into()), &ErrorObject::new(-32601, "unknown \"method\""));
    assert_eq!(
        text(out),
        r#"{"jsonrpc":"2.0","id":"","error":{"code":-32601,"message":"unknown \"method\""}}"#
    );
}

/// RPC-15, RPC-18: without a readable id there is no member; data is any JSON.
#[test]
fn error_without_id_has_no_such_member() {
    let mut out = Vec::new();
    let data = RawValue::from_string("[1,\n2.0]".into()).unwrap();
    write_error(&mut out, None, &ErrorObject::new(-32700, "no").data(data));
    assert_eq!(text(out), r#"{"jsonrpc":"2.0","error":{"code":-32700,"message":"no","data":[1,2.0]}}"#);
}

/// RPC-20: where the member has to be there, it is `null`.
#[test]
fn an_error_of_what_has_no_id_may_be_one_of_null() {
    let mut out = Vec::new();
    write_error_of_null(&mut out, &ErrorObject::new(-32700, "no"));
    assert_eq!(text(out), r#"{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"no"}}"#);
}

/// STDIO-01: a line end between the tokens of a part that is JSON text already does not get out.
#[test]
fn no_line_end_is_written() {
    let raw = RawValue::from_string("{\n\t\"a b\": \"\\n\"\r\n}".into()).unwrap();
    let mut out = Vec::new();
    write_request(&mut out, &1.into(), "x", Some(&raw)).unwrap();
    write_result(&mut out, &1.into(), &raw).unwrap();
    let expected = r#"{"jsonrpc":"2.0","id":1,"method":"x","params":{"a b":"\n"}}{"jsonrpc":"2.0","id":1,"result":{"a b":"\n"}}"#;
    assert_eq!(text(out), expected);
}

#[test]
fn failure_leaves_the_buffer_as_it_was() {
    let mut out = b"before".to_vec();
    assert!(write_request(&mut out, &1.into(), "x", Some(&Fails)).is_err());
    assert!(write_notification(&mut out, "x", Some(&Fails)).is_err());
    assert!(write_result(&mut out, &1.into(), &Fails).is_err());
    assert_eq!(out, b"before");
}

/// No receiver takes `params` or a `result` that is no object, so that is found here, where the cause is.
#[test]
fn params_and_results_are_objects() {
    let mut out = Vec::new();
    let error = write_result(&mut out, &1.into(), &()).unwrap_err();
    assert_eq!(error.message, "expected `result` to serialize as an object, found null");
    assert!(write_request(&mut out, &1.into(), "x", Some(&[1])).is_err());
    assert!(write_notification(&mut out, "x", Some("text")).is_err());
    assert!(out.is_empty());
}
