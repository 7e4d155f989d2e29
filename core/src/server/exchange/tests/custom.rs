use super::*;
use crate::model::CustomResult;
use crate::server::{Custom, CustomMethod};

fn with_custom() -> Config {
    let mut custom = Custom::new();
    custom.method(CustomMethod::new("acme/restock").named_by("shelf")).unwrap();
    custom.notification("acme/moved").unwrap();
    let mut config = config();
    config.custom = custom;
    config
}

/// HDR-10, HDR-11, EXT-12: a method of one's own is repeated in the head, and so is what it is named by.
#[test]
fn a_method_of_ones_own_is_repeated_in_the_head() {
    let mut web = Web::new(with_custom());
    let body = modern("1", "acme/restock", r#""shelf":"A","#);
    for (method, name, served) in [
        ("acme/restock", Some("A"), true),
        ("acme/restock", Some("=?base64?QQ==?="), true),
        ("acme/restock", Some("B"), false),
        ("acme/restock", None, false),
        ("acme/Restock", Some("A"), false),
    ] {
        let trip = web.ask(modern_head(method, name), &body);
        assert_eq!(trip.calls.len(), usize::from(served), "{method} {name:?}: {}", trip.body);
        if !served {
            assert_eq!((trip.status(), code(&trip)), (400, -32020));
        }
    }
    let trip = web.ask(modern_head("acme/restock", None), &modern("1", "acme/restock", ""));
    assert_eq!(trip.calls.len(), 1, "nothing to repeat: {}", trip.body);
    let trip = web.ask(modern_head("acme/restock", None), &modern("1", "acme/restock", r#""shelf":1,"#));
    assert_eq!(code(&trip), -32602, "{}", trip.body);
    let twice = modern("1", "acme/restock", r#""shelf":"A","shelf":"B","#);
    let trip = web.ask(modern_head("acme/restock", Some("B")), &twice);
    assert_eq!(code(&trip), -32602, "which one is served? {}", trip.body);
}

/// CAN-11: within a session, and within a batch of it, such a call is noted like others.
#[test]
fn a_method_of_ones_own_belongs_to_its_session() {
    let mut web = Web::new(with_custom());
    let session = web.open("2025-03-26");
    let line = r#"{"jsonrpc":"2.0","id":1,"method":"acme/restock","params":{"shelf":"A"}}"#;
    let mut trip = web.ask(legacy_head(Some(&session)), &format!("[{line}]"));
    assert!(web.ask(legacy_head(Some(&session)), line).body.contains("in flight already"));
    let id = trip.calls[0].0;
    trip.exchange.respond(now(), id, &CustomResult::default());
    web.drive(&mut trip);
    assert_eq!(trip.body, r#"[{"jsonrpc":"2.0","id":1,"result":{}}]"#);
    assert_eq!(web.ask(legacy_head(Some(&session)), line).calls.len(), 1);
}

/// RPC-21: a notification that the application listens to reaches it in both eras.
#[test]
fn notifications_of_ones_own_are_told() {
    let mut web = Web::new(with_custom());
    let session = web.open(V);
    let line = r#"{"jsonrpc":"2.0","method":"acme/moved","params":{"to":"B"}}"#;
    for head in [legacy_head(Some(&session)), modern_head("acme/moved", None)] {
        let trip = web.ask(head, line);
        assert_eq!((trip.status(), trip.told), (202, alloc::vec![r#"acme/moved {"to":"B"}"#.to_string()]));
    }
}

/// A notification of one's own makes the response a stream, unless the client takes none.
#[test]
fn a_call_sends_notifications_of_its_own() {
    let mut web = Web::new(with_custom());
    let params = Json::parse(r#"{"of":2}"#).unwrap();
    let body = modern("1", "acme/restock", "");
    let mut trip = web.ask(modern_head("acme/restock", None), &body);
    let id = trip.calls[0].0;
    trip.exchange.notify(now(), id, "acme/progressed", &params);
    trip.exchange.notify(now(), id, "tools/call", &params);
    trip.exchange.respond(now(), id, &CustomResult::default());
    web.drive(&mut trip);
    assert_eq!(trip.events().len(), 2, "{}", trip.body);
    assert_eq!(trip.events()[0], r#"{"jsonrpc":"2.0","method":"acme/progressed","params":{"of":2}}"#);
    assert!(trip.told[0].contains("belongs to the protocol"), "{:?}", trip.told);

    let json = with(modern_head("acme/restock", None), &[("Accept", Some("application/json"))]);
    let mut trip = web.ask(json, &body);
    let id = trip.calls[0].0;
    trip.exchange.notify(now(), id, "acme/progressed", &params);
    trip.exchange.respond(now(), id, &CustomResult::default());
    web.drive(&mut trip);
    assert_eq!((trip.field("content-type"), trip.events().len()), ("application/json", 0));
}
