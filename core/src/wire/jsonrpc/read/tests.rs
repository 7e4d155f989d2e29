use super::*;
use std::string::ToString;
use std::vec::Vec;

const DEPTH: usize = 128;

fn message(json: &str) -> Message<'_> {
    match read(json.as_bytes(), DEPTH) {
        Ok(Incoming::Message(message)) => message,
        other => panic!("expected a message, found {other:?}"),
    }
}

fn request(json: &str) -> Request<'_> {
    match message(json) {
        Message::Request(request) => request,
        other => panic!("expected a request, found {other:?}"),
    }
}

fn response(json: &str) -> Response<'_> {
    match message(json) {
        Message::Response(response) => response,
        other => panic!("expected a response, found {other:?}"),
    }
}

fn malformed(json: impl AsRef<[u8]>) -> Malformed {
    read(json.as_ref(), DEPTH).map(|incoming| panic!("expected an error, found {incoming:?}")).unwrap_err()
}

#[track_caller]
fn refused(json: &str, id: Option<RequestId>) {
    let found = malformed(json);
    assert_eq!((found.error.code, found.id), (code::INVALID_REQUEST, id), "{json}");
}

/// RPC-01, RPC-03
#[test]
fn request_has_id_method_and_params() {
    let json = r#" {"jsonrpc":"2.0","id":"a","method":"tools/call","params":{ "name":"x" },"more":[{}]} "#;
    let request = request(json);
    assert_eq!((request.id, &*request.method), ("a".into(), "tools/call"));
    assert_eq!(request.params.unwrap().get(), "{ \"name\":\"x\" }");
}

/// What the message holds is lent, wherever its members stand.
#[test]
fn method_and_params_are_lent() {
    let json = r#"{"params":{"a":{"b":[{}]}},"method":"ping","id":1,"jsonrpc":"2.0"}"#;
    let request = request(json);
    assert!(matches!(request.method, Cow::Borrowed("ping")));
    assert_eq!(request.params.unwrap().get().as_ptr(), json[10..].as_ptr());
}

/// An escape in a name or a method is the same text.
#[test]
fn escapes_are_understood() {
    let json = r#"{"jsonrpc":"2\u002e0","\u0069d":1,"method":"p\u0069ng"}"#;
    assert_eq!(request(json).method, "ping");
}

/// B15, RPC-22: without id it is a notification, with params or not.
#[test]
fn message_without_id_is_a_notification() {
    for json in [
        r#"{"jsonrpc":"2.0","method":"notifications/roots/list_changed"}"#,
        r#"{"jsonrpc":"2.0","method":"x/y","params":{}}"#,
    ] {
        assert!(matches!(message(json), Message::Notification(_)), "{json}");
    }
}

/// B09, B12: ids are exact; zero and empty text are ids.
#[test]
fn ids_are_kept_exactly() {
    for id in ["0", "\"\"", "\"1\"", "-7", "-0", "9007199254740991", "123456789012345678901234567890"] {
        let json = format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"ping"}}"#);
        assert_eq!(request(&json).id.to_string(), id);
    }
}

/// B11, RPC-03, RPC-04: an id that is none makes no notification.
#[test]
fn bad_id_is_refused() {
    for id in ["null", "1.0", "1e3", "true", "[]", "{}", "\"\\ud800\""] {
        refused(&format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"tools/list"}}"#), None);
    }
}

/// B04: a message whose id was readable is answered with it.
#[test]
fn missing_or_wrong_version_is_refused_with_the_id() {
    for version in ["", r#""jsonrpc":"1.0","#, r#""jsonrpc":2.0,"#, r#""jsonrpc":null,"#] {
        refused(&format!(r#"{{{version}"id":99,"method":"ping"}}"#), Some(99.into()));
    }
}

/// B16: top-level scalars are JSON, but no messages.
#[test]
fn scalars_are_refused() {
    for json in ["42", "\"hi\"", "null", "true", "{}", "-1.5e3"] {
        refused(json, None);
    }
}

/// B04: what is not JSON at all has no id, even if one could be seen in it.
#[test]
fn broken_json_is_a_parse_error() {
    for json in [
        "",
        " ",
        "{",
        r#"{"jsonrpc":"2.0","id":1,"#,
        r#"{"jsonrpc":"2.0","id":1,"method":"ping"}}"#,
        "{}{}",
        "nul",
        "\u{feff}{}",
        r#"{"jsonrpc":"2.0","id":1,"method":"ping","params":{"a":01}}"#,
        "[1",
        "[1,]",
        "[{},{]",
    ] {
        let found = malformed(json);
        assert_eq!((found.error.code, found.id), (code::PARSE, None), "{json}");
    }
}

/// RPC-02: bytes that are not UTF-8 are refused, never replaced, in strings as elsewhere.
#[test]
fn invalid_utf8_is_a_parse_error() {
    for bytes in [&b"\xFF"[..], b"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"a\xC3\"}", b"\"\xED\xA0\x80\""] {
        assert_eq!(malformed(bytes).error.code, code::PARSE);
    }
}

/// P03: deep nesting costs neither stack nor time, whatever is nested, and the limit counts the message.
#[test]
fn depth_is_bounded() {
    let with = |params: &str| format!(r#"{{"jsonrpc":"2.0","id":1,"method":"a","params":{{"a":{params}}}}}"#);
    let nested = |levels: usize| with(&format!("{}{}", "[".repeat(levels), "]".repeat(levels)));
    assert!(read(nested(DEPTH - 2).as_bytes(), DEPTH).is_ok());
    assert_eq!(malformed(nested(DEPTH - 1)).error.code, code::PARSE);
    for deep in ["[".repeat(100_000), "{\"a\":".repeat(100_000), with(&"[".repeat(100_000)), nested(100_000)]
    {
        assert_eq!(malformed(&deep).error.code, code::PARSE);
    }
    assert!(read(nested(100_000).as_bytes(), usize::MAX).is_ok());
}

/// RPC-01: params are an object or absent.
#[test]
fn params_must_be_an_object() {
    for params in ["[]", "[1]", "null", "1", "\"a\"", "true"] {
        refused(&format!(r#"{{"jsonrpc":"2.0","id":1,"method":"a","params":{params}}}"#), Some(1.into()));
        refused(&format!(r#"{{"jsonrpc":"2.0","method":"a","params":{params}}}"#), None);
    }
}

#[test]
fn method_must_be_a_string() {
    for method in ["1", "null", "{}", "\"\\udc00\""] {
        refused(&format!(r#"{{"jsonrpc":"2.0","id":1,"method":{method}}}"#), Some(1.into()));
    }
}

/// RPC-19: a message is one thing.
#[test]
fn message_is_one_of_call_result_and_error() {
    for rest in [
        r#""id":1"#,
        r#""id":1,"params":{}"#,
        r#""id":1,"result":{},"error":{"code":1,"message":"a"}"#,
        r#""id":1,"result":{},"error":null"#,
        r#""id":1,"method":"a","result":{}"#,
        r#""id":1,"method":"a","error":{"code":1,"message":"a"}"#,
    ] {
        refused(&format!(r#"{{"jsonrpc":"2.0",{rest}}}"#), Some(1.into()));
    }
}

/// Of two members with one name different readers believe different ones, so neither is believed.
#[test]
fn repeated_members_are_refused() {
    refused(r#"{"jsonrpc":"2.0","id":1,"method":"a","method":"b"}"#, Some(1.into()));
    refused(r#"{"jsonrpc":"2.0","id":1,"method":"a","m\u0065thod":"b"}"#, Some(1.into()));
    refused(r#"{"jsonrpc":"2.0","id":1,"id":2,"method":"a"}"#, None);
    refused(r#"{"jsonrpc":"2.0","id":1,"method":"b","id":2,"method":"a"}"#, None);
    assert_eq!(request(r#"{"jsonrpc":"2.0","id":1,"method":"a","x":1,"x":2}"#).method, "a");
}

/// RPC-08, RPC-10
#[test]
fn result_is_lent() {
    let response = response(r#"{"jsonrpc":"2.0","id":1,"result":{"x":[1.00]}}"#);
    assert_eq!(response.id, Some(1.into()));
    assert_eq!(response.outcome.unwrap().get(), r#"{"x":[1.00]}"#);
}

/// RPC-16, RPC-17, RPC-18
#[test]
fn error_is_read() {
    let json = r#"{"jsonrpc":"2.0","id":7,"error":{"code":-32602,"message":"bad","data":{"k":1},"x":0}}"#;
    let error = response(json).outcome.unwrap_err();
    assert_eq!((error.code, &*error.message, error.data.unwrap().get()), (-32602, "bad", r#"{"k":1}"#));
}

/// B18, RPC-15: an error may be about a message without a readable id.
#[test]
fn error_may_lack_an_id() {
    for id in ["", r#""id":null,"#] {
        let json = format!(r#"{{"jsonrpc":"2.0",{id}"error":{{"code":-32600,"message":"no"}}}}"#);
        assert_eq!(response(&json).id, None);
    }
    let json = r#"{"jsonrpc":"2.0","id":"server-error","error":{"code":-32600,"message":"no"}}"#;
    assert_eq!(response(json).id, Some("server-error".into()));
}

/// A response that is malformed ends the wait of its request, and is never answered.
#[test]
fn malformed_response_is_known_as_one() {
    for rest in [
        r#""error":{"code":1.5,"message":"a"}"#,
        r#""error":{"code":"1","message":"a"}"#,
        r#""error":{"message":"a"}"#,
        r#""error":{"code":1}"#,
        r#""error":"a""#,
        r#""error":null"#,
        r#""result":{},"result":{}"#,
    ] {
        let found = malformed(format!(r#"{{"jsonrpc":"2.0","id":4,{rest}}}"#));
        assert_eq!(
            (found.error.code, found.id, found.response),
            (code::INVALID_REQUEST, Some(4.into()), true)
        );
    }
    for json in [r#"{"jsonrpc":"2.0","result":{}}"#, r#"{"jsonrpc":"2.0","id":null,"result":{}}"#] {
        assert!(malformed(json).response, "{json}");
    }
    assert!(!malformed(r#"{"id":4,"method":"a","result":{}}"#).response);
}

/// B17, RPC-26: the messages of a batch stand for themselves.
#[test]
fn batch_gives_its_messages_one_by_one() {
    let json =
        r#" [ {"jsonrpc":"2.0","id":1,"method":"ping"} , {"jsonrpc":"2.0","method":"x"},1,[{}],{"id":2} ] "#;
    let Ok(Incoming::Batch(batch)) = read(json.as_bytes(), DEPTH) else { panic!("a batch was sent") };
    assert_eq!(batch.len(), 5);
    let messages: Vec<_> = batch.collect();
    assert!(matches!(&messages[0], Ok(Message::Request(request)) if request.id == 1.into()));
    assert!(matches!(&messages[1], Ok(Message::Notification(_))));
    let errors: Vec<_> = messages[2..].iter().map(|message| message.as_ref().unwrap_err()).collect();
    assert!(errors.iter().all(|error| error.error.code == code::INVALID_REQUEST));
    assert_eq!(errors.iter().map(|error| error.id.clone()).collect::<Vec<_>>(), [None, None, Some(2.into())]);
}

/// B17: an empty batch is one error.
#[test]
fn empty_batch_is_refused() {
    refused("[]", None);
    refused(" [ ] ", None);
}

/// Payloads never reach a log: what is printed names a message and counts its bytes.
#[test]
fn debug_shows_no_payload() {
    let json = r#"{"jsonrpc":"2.0","id":1,"method":"a","params":{"secret":1}}"#;
    assert_eq!(format!("{:?}", request(json)), "Request(1, \"a\", 12 bytes)");
    let json = r#"{"jsonrpc":"2.0","id":1,"error":{"code":1,"message":"secret"}}"#;
    assert!(!format!("{:?}", response(json)).contains("secret"));
    assert!(!format!("{:?}", malformed(r#"{"jsonrpc":"secret","id":1,"method":5}"#)).contains("secret"));
}
