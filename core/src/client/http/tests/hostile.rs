//! What a server sends is not believed to mean well. The rest of it is shown where it belongs: bounds of bodies and events
//! in `bounds`, the floor of `retry` and responses to nothing in `streams`, places that lead elsewhere in `calls` (redirects),
//! `sse` (endpoints) and `auth::reach` (authorization), requests of the server in `asks`, patterns and steps in
//! `schema::tests::hostile`, log messages in `model::logging`, what is printed in `tests/printed`, what handlers fail with
//! in the scenarios `answers`.

use super::*;
use crate::client::asks::AskId;
use crate::client::{InputResponse, Refusal};
use crate::model::roots::ListRootsResult;

/// An event that does not end is looked at once, in whichever pieces it comes: this test would not end otherwise.
#[test]
fn an_event_that_does_not_end_costs_no_more_than_its_length() {
    for start in ["data: ", "id: ", "event: ", ": ", "x"] {
        let mut peer = Peer::modern();
        let (call, sent) = peer.start(&CallTool::new("a"));
        peer.stream(&sent);
        peer.body(&sent, start);
        let pieces = Limits::default().message / 8 - 1;
        for _ in 0..pieces {
            peer.http.handle_body(peer.now, sent.exchange, b"xxxxxxxx");
        }
        assert_eq!(peer.http.take(&call).map(drop), None, "{start}");
        for _ in 0..2 {
            peer.http.handle_body(peer.now, sent.exchange, b"xxxxxxxx");
        }
        // Only what would be kept is too much; the rest was let go as it came.
        if start == "data: " {
            let limit = Limits::default().message;
            assert_eq!(peer.take(&call).unwrap_err(), CallError::TooLarge { limit });
            assert_eq!(peer.aborted(), [sent.exchange]);
            peer.is_empty();
        }
    }
}

/// A server that sends a byte a second keeps no call alive, whatever the byte is part of: nothing but progress does.
#[test]
fn a_byte_a_second_keeps_no_call_alive() {
    for kind in ["application/json", "text/event-stream"] {
        let mut peer = Peer::modern();
        let (call, sent) = peer.start(&CallTool::new("a"));
        let mut head = ResponseHead::new(200);
        head.headers.push("Content-Type", kind);
        peer.head(&sent, head);
        let bytes = if kind == "application/json" { " " } else { ":\n" };
        let mut seconds = 0;
        let outcome = loop {
            peer.body(&sent, bytes);
            peer.wait(1_000);
            seconds += 1;
            if let Some(outcome) = peer.http.take(&call) {
                break outcome;
            }
        };
        assert!(matches!(outcome, Err(CallError::TimedOut { .. })), "{outcome:?}");
        assert_eq!(seconds, Limits::default().request.as_secs());
        assert_eq!(peer.aborted(), [sent.exchange]);
        peer.is_empty();
    }
}

/// SSE-07: an id goes into a header of ours, so it is short and of printable ASCII, or none.
#[test]
fn an_id_that_is_fit_for_no_header_is_not_sent_back() {
    let long = "i".repeat(1_024);
    let longer = "i".repeat(1_025);
    for (id, fit) in
        [(&*long, true), (&longer, false), ("é", false), ("a\u{7f}", false), ("a b", true), ("a\0", false)]
    {
        let mut peer = Peer::legacy();
        let (_, sent) = peer.start(&CallTool::new("a"));
        peer.stream(&sent);
        peer.body(&sent, &format!("id: first\ndata:\n\nid: {id}\ndata:\n\n"));
        peer.end(&sent);
        peer.wait(1_000);
        let expected = if fit { id } else { "first" };
        assert_eq!(peer.one().header("last-event-id"), Some(expected), "{}", id.len());
    }
}

/// Answers to the server have a bound together, however fast it asks and whatever.
#[test]
fn what_the_server_asks_opens_no_exchanges_without_end() {
    let limits = Limits { in_flight: 4, ..Limits::default() };
    let mut peer = Peer::legacy_with(super::asks::config().limits(limits));
    peer.listens();
    let (_, sent) = peer.start(&CallTool::new("a"));
    peer.stream(&sent);
    for id in 0..500 {
        peer.event(&sent, &format!("{{'jsonrpc':'2.0','id':{id},'method':'roots/list'}}"));
        peer.event(&sent, &format!("{{'jsonrpc':'2.0','id':'s{id}','method':'sampling/createMessage'}}"));
    }
    assert!(peer.http.exchanges() <= 8, "{}", peer.http.exchanges());
    let asked = peer.asked();
    assert!(asked.len() <= 64 && asked.len() == peer.http.asks(), "{}", asked.len());
}

/// A number where a name belongs, a name twice, a state that is none: the call ends, and no more than that.
#[test]
fn nonsense_ends_its_call_only() {
    for result in [
        "7",
        "null",
        "[]",
        "{'resultType':7}",
        "{'resultType':'else'}",
        "{'resultType':'input_required'}",
        "{'resultType':'input_required','requestState':7}",
        "{'resultType':'input_required','inputRequests':[]}",
        "{'resultType':'input_required','inputRequests':{'a':{'method':'sampling/createMessage'}}}",
        "{'content':'text'}",
        "{'content':[{'type':'text'}]}",
    ] {
        let mut peer = Peer::modern();
        let (call, sent) = peer.start(&CallTool::new("a"));
        let (other, next) = peer.start(&CallTool::new("b"));
        peer.result(&sent, result);
        assert!(peer.take(&call).is_err(), "{result}");
        peer.result(&next, "{'content':[]}");
        peer.take(&other).unwrap();
        peer.is_empty();
    }
}

/// Of several things that are asked together one may fail: what was answered is kept with the call.
#[test]
fn answers_outlive_one_that_fails() {
    let mut peer = Peer::modern_with(super::asks::config());
    let (call, sent) = peer.start(&CallTool::new("a"));
    let requests = "{'a':{'method':'roots/list'},'b':{'method':'roots/list'}}";
    peer.result(&sent, &format!("{{'resultType':'input_required','inputRequests':{requests}}}"));
    let asks: Vec<AskId> = peer.asked();
    let roots = InputResponse::from(ListRootsResult::default());
    peer.http.answer(peer.now, asks[0], Ok(roots.clone())).unwrap();
    peer.http.answer(peer.now, asks[1], Err(Refusal::Failed)).unwrap();
    let error = peer.take(&call).unwrap_err();
    let CallError::InputRequired { mut continuation, .. } = error else { panic!("{error}") };
    // The other one is all that is missing.
    continuation.answer("b", ListRootsResult::default()).unwrap();
    let (_, again) = peer.start(&crate::client::Resume::<CallTool<Json>>::new(*continuation));
    let responses = again.body();
    assert!(
        responses.contains("\"a\":{\"roots\":[]}") && responses.contains("\"b\":{\"roots\":[]}"),
        "{responses}"
    );
}

/// SEC: who refuses a request may repeat it; what it was authorized by gets into no error.
#[test]
fn credentials_in_a_refusal_are_not_passed_on() {
    let legacy = config().header("Authorization", "Bearer s3cret").era(EraChoice::Legacy);
    for (body, shown) in [
        ("no such tenant: s3cret", false),
        ("POST /mcp\r\nauthorization: bearer S3CRET", false),
        ("{\"headers\":{\"Authorization\":\"Basic dXNlcjpwYXNzd29yZDEyMw==\"}}", false),
        ("denied for DPoP eyJhbGciOiJIUzI1NiJ9.e30.x", false),
        ("{\"dpop\": [\"0123456789abcdef\"]}", false),
        ("DPoP: 0123456789abcdef", false),
        ("what is eyJ0eXAiOiJkcG9wK2p3dCJ9.e30.x for?", false),
        ("a token by the driver: D-t0k3n", false),
        ("a proof by the driver: a-pr00f", false),
        ("no dpop: none", true),
        ("a bearer token is needed", true),
        ("out of order", true),
    ] {
        let mut peer = Peer::legacy_with(legacy.clone());
        let (pending, sent) = peer.start(&CallTool::new("a"));
        let mut fields = Headers::new();
        fields.push("Authorization", "DPoP d-t0k3n");
        fields.push("DPoP", "a-pr00f");
        peer.http.authorized_with(sent.exchange, fields);
        peer.whole(&sent, ResponseHead::new(400), body);
        let error = peer.take(&pending).unwrap_err().to_string();
        assert_eq!(error.contains(body), shown, "{error}");
        assert!(error.contains("HTTP status 400") && !error.to_lowercase().contains("s3cret"), "{error}");
    }
}

/// SEC: nor does one that wraps the request into an error of the protocol, whose code stays.
#[test]
fn credentials_in_the_error_of_a_refusal_are_not_passed_on() {
    let legacy = config().header("Authorization", "Bearer s3cret").era(EraChoice::Legacy);
    for (error, shown) in [
        (r#"{"code":-32000,"message":"bad: Authorization: Bearer s3cret"}"#, None),
        (r#"{"code":-32000,"message":"bad","data":{"authorization":"Bearer s3cret"}}"#, None),
        (r#"{"code":-32000,"message":"bad","data":{"at":3}}"#, Some(r#"{"at":3}"#)),
    ] {
        let mut peer = Peer::legacy_with(legacy.clone());
        let (pending, sent) = peer.start(&CallTool::new("a"));
        let body = format!(r#"{{"jsonrpc":"2.0","id":null,"error":{error}}}"#);
        peer.whole(&sent, ResponseHead::new(400), &body);
        let CallError::Server { error, .. } = peer.take(&pending).unwrap_err() else { panic!() };
        assert_eq!((error.code, error.data.as_ref().map(|data| data.get())), (-32000, shown));
        assert!(!error.message.contains("s3cret"), "{error}");
    }
}
