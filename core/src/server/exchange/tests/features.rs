use super::*;
use crate::model::prompts::GetPromptResult;
use crate::model::resources::ReadResourceResult;
use crate::server::testing::full;

const GET: &str = r#""name":"greet","arguments":{"who":"Ada"},"#;
const READ: &str = r#""uri":"test://item/a%20b","#;
const COMPLETE: &str = r#""ref":{"type":"ref/prompt","name":"greet"},"argument":{"name":"who","value":"A"},"#;

const READ_STATIC: &str =
    r#"{"jsonrpc":"2.0","id":"r","method":"resources/read","params":{"uri":"test://static"}}"#;

/// HDR-07, HDR-08, HDR-10, HDR-39: prompts are repeated by name, resources by URI, completions not at all.
#[test]
fn what_is_asked_for_is_repeated_in_the_head() {
    let mut web = Web::new(full());
    for (method, params, name, wrong) in [
        ("prompts/get", GET, Some("greet"), "plain"),
        ("prompts/get", GET, Some("=?base64?Z3JlZXQ=?="), "Greet"),
        ("resources/read", READ, Some("test://item/a%20b"), "test://item/a b"),
        ("completion/complete", COMPLETE, None, ""),
    ] {
        let body = modern("1", method, params);
        let trip = web.ask(modern_head(method, name), &body);
        assert_eq!(trip.calls.len(), 1, "{method}: {}", trip.body);
        if name.is_none() {
            continue;
        }
        for name in [None, Some(wrong), Some("")] {
            let trip = web.ask(modern_head(method, name), &body);
            assert_eq!((trip.status(), code(&trip)), (400, -32020), "{method} {name:?}: {}", trip.body);
            assert!(trip.calls.is_empty());
        }
    }
}

/// RES-12, RES-14, HTTP-23: an ordinary error travels with 200.
#[test]
fn a_resource_that_is_not_there_is_an_ordinary_error() {
    let mut web = Web::new(full());
    let head = || modern_head("resources/read", Some("test://nobody"));
    let trip = web.ask(head(), &modern("1", "resources/read", r#""uri":"test://nobody","#));
    assert_eq!((trip.status(), code(&trip)), (200, -32602));
    let head = modern_head("resources/read", Some("test://item/a%20b"));
    let mut trip = web.ask(head, &modern("1", "resources/read", READ));
    let id = trip.calls[0].0;
    trip.exchange.respond(now(), id, &ReadResourceResult::default());
    web.drive(&mut trip);
    assert_eq!((trip.status(), code(&trip), trip.ended), (200, -32602, true));
    assert!(trip.body.ends_with(r#""data":{"uri":"test://item/a%20b"}}}"#), "{}", trip.body);
}

/// CAN-11, RPC-26: calls of every kind are noted in their session, alone and in a batch.
#[test]
fn calls_of_every_kind_belong_to_their_session() {
    let mut web = Web::new(full());
    let session = web.open("2025-03-26");
    let head = || legacy_head(Some(&session));
    let get = r#"{"jsonrpc":"2.0","id":"g","method":"prompts/get","params":{"name":"plain"}}"#;
    let lost = r#"{"jsonrpc":"2.0","id":"l","method":"resources/read","params":{"uri":"test://lost"}}"#;
    let list = r#"{"jsonrpc":"2.0","id":"p","method":"prompts/list"}"#;
    let mut batch = web.ask(head(), &format!("[{get},{READ_STATIC},{lost},{list}]"));
    assert_eq!(batch.calls.len(), 2);
    // Running, so their ids are taken; the one that was refused is not.
    for (taken, line) in [(true, get), (true, READ_STATIC), (false, lost)] {
        let trip = web.ask(head(), line);
        assert_eq!(trip.body.contains("in flight already"), taken, "{line}: {}", trip.body);
    }
    let (get, read) = (batch.calls[0].0, batch.calls[1].0);
    batch.exchange.respond(now(), read, &ReadResourceResult::default());
    batch.exchange.respond(now(), get, &GetPromptResult::default());
    web.drive(&mut batch);
    for part in [
        r#""id":"l","error":{"code":-32002"#,
        r#""id":"p","result":{"prompts":["#,
        r#""id":"r","error":{"code":-32002,"message":"resource not found","data":{"uri":"test://static"}}"#,
        r#""id":"g","result":{"messages":[]}"#,
    ] {
        assert!(batch.body.contains(part), "{part}: {}", batch.body);
    }
    assert_eq!(web.ask(head(), READ_STATIC).calls.len(), 1);
}
