use super::*;
use alloc::string::ToString;

/// ERR-01: names of the protocol stay its own, in every revision, and so does what JSON-RPC keeps.
#[test]
fn names_that_belong_to_others_are_refused() {
    let mut custom = Custom::new();
    for name in ["tools/call", "ping", "logging/setLevel", "tasks/result", "roots/list", "rpc.discover"] {
        assert!(custom.method(CustomMethod::new(name)).is_err(), "{name}");
        assert!(custom.notification(name).is_err(), "{name}");
    }
    for name in ["notifications/message", "notifications/cancelled", "notifications/initialized"] {
        assert!(custom.notification(name).is_err(), "{name}");
    }
    assert!(custom.method(CustomMethod::new("notifications/acme")).is_err());
    custom.method(CustomMethod::new("acme/thing")).unwrap();
    custom.notification("acme/moved").unwrap();
    custom.notification("notifications/roots/list_changed").unwrap();
    assert!(custom.get("acme/thing").is_some() && custom.listens("acme/moved"));
}

#[test]
fn a_method_is_added_once() {
    let mut custom = Custom::new();
    custom.method(CustomMethod::new("a")).unwrap();
    let twice = custom.method(CustomMethod::new("a")).unwrap_err().to_string();
    assert!(twice.contains("`a` already"), "{twice}");
}

/// HDR-10: `Mcp-Method` must be able to hold the name.
#[test]
fn a_name_is_1_to_256_visible_characters() {
    let mut custom = Custom::new();
    for wrong in ["", "a b", "a\n", "caf\u{e9}", &"x".repeat(LONGEST + 1)] {
        assert!(custom.method(CustomMethod::new(wrong)).is_err(), "{wrong:?}");
    }
    custom.method(CustomMethod::new("x".repeat(LONGEST))).unwrap();
}
