//! Results that ask for input, and the requests that bring it.

use super::*;
use crate::model::input_required::{InputRequest, InputRequiredResult};

fn asks() -> InputRequiredResult {
    InputRequiredResult::new().ask("dirs", InputRequest::ListRoots).request_state("s")
}

/// MRTR-04, MRTR-05, MRTR-07, MRTR-09, RPC-13
#[test]
fn a_result_may_ask_for_input() {
    let mut client = Client::new(config());
    let (id, call) = client.call(&modern_call("1"));
    assert_eq!((call.input_responses(), call.request_state()), (None, None));
    client.server.respond(now(), id, &asks());
    let expected = format!(
        r#"{{"jsonrpc":"2.0","id":1,"result":{{"resultType":"input_required","inputRequests":{{"dirs":{{"method":"roots/list"}}}},"requestState":"s",{NAMED}}}}}"#
    );
    assert_eq!(client.received(), [expected]);
}

/// MRTR-02, MRTR-23: each of the methods that may ask reads what the retry brings.
#[test]
fn a_retry_brings_responses_and_state() {
    let mut client = Client::new(full());
    for (method, params) in [
        ("tools/call", r#""name":"add","#),
        ("prompts/get", r#""name":"plain","#),
        ("resources/read", r#""uri":"test://static","#),
        ("resources/read", r#""uri":"test://item/1","#),
    ] {
        let retry = r#""inputResponses":{"dirs":{"roots":[]},"x":1},"requestState":"a\"b","#;
        let (id, call) = client.call(&modern("1", method, &format!("{params}{retry}")));
        assert_eq!(call.input_responses(), Some(r#"{"dirs":{"roots":[]},"x":1}"#), "{method}");
        assert_eq!(call.request_state().as_deref(), Some("a\"b"), "{method}");
        client.server.respond(now(), id, &asks());
        assert!(client.received()[0].contains("input_required"), "{method}");
    }
}

/// MRTR-29, MRTR-30
#[test]
fn a_retry_of_the_wrong_shape_is_refused() {
    let mut client = Client::new(full());
    for (retry, message) in [
        (r#""inputResponses":[],"#, "params.inputResponses: expected an object"),
        (r#""requestState":{},"#, "params.requestState: expected a string"),
    ] {
        let line = modern("1", "tools/call", &format!(r#""name":"add",{retry}"#));
        assert_eq!(client.ask(&line), [error("1", -32602, message)]);
    }
    let line = modern("1", "tools/call", r#""name":"add","inputResponses":null,"requestState":null,"#);
    let (_, call) = client.call(&line);
    assert_eq!((call.input_responses(), call.request_state()), (None, None));
}

/// MRTR-03: other methods neither ask nor read answers, and the legacy era knows nothing of it.
#[test]
fn no_other_request_may_ask() {
    let retry = r#""inputResponses":{},"requestState":"s""#;
    let mut client = Client::new(full());
    let params = format!(
        r#""ref":{{"type":"ref/prompt","name":"greet"}},"argument":{{"name":"who","value":""}},{retry},"#
    );
    let (id, call) = client.call(&modern("1", "completion/complete", &params));
    assert_eq!((call.input_responses(), call.request_state()), (None, None));
    client.server.respond(now(), id, &asks());
    assert_eq!(client.received(), [error("1", -32603, "the result could not be written")]);
    assert!(client.diagnostics()[0].contains("cannot be answered with a result that asks"));

    let mut client = Client::legacy(full(), V);
    let line =
        format!(r#"{{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{{"name":"add",{retry}}}}}"#);
    let (id, call) = client.call(&line);
    assert_eq!((call.input_responses(), call.request_state()), (None, None));
    client.server.respond(now(), id, &asks());
    assert_eq!(client.received(), [error("1", -32603, "the result could not be written")]);
    assert_eq!(client.diagnostics().len(), 1);
}

/// MRTR-05, MRTR-07
#[test]
fn a_result_that_asks_nothing_or_the_impossible_is_not_sent() {
    let mut client = Client::new(config());
    let unknown = InputRequest::Unknown { method: "ping".into(), params: None };
    for result in [InputRequiredResult::new(), asks().ask("p", unknown)] {
        let (id, _) = client.call(&modern_call("1"));
        client.server.respond(now(), id, &result);
        assert_eq!(client.received(), [error("1", -32603, "the result could not be written")]);
        assert_eq!(client.diagnostics().len(), 1);
    }
}
