use super::*;
use crate::model::CustomResult;
use crate::server::{Custom, CustomMethod, Target};

fn with_custom() -> Config {
    let mut custom = Custom::new();
    custom.method(CustomMethod::new("acme/restock")).unwrap();
    custom.notification("acme/moved").unwrap();
    let mut config = config();
    config.custom = custom;
    config
}

fn result(text: &str) -> CustomResult {
    CustomResult::new(&Json::parse(text).unwrap()).unwrap()
}

/// EXT-12: a method of one's own is a call like any other, in both eras, and its result is like any other.
#[test]
fn a_method_of_ones_own_is_served_in_both_eras() {
    let mut client = Client::legacy(with_custom(), V);
    let line = r#"{"jsonrpc":"2.0","id":1,"method":"acme/restock","params":{"shelf":"A"}}"#;
    let (id, call) = client.call(line);
    assert!(matches!(call.target(), Target::Custom(method) if method.name == "acme/restock"));
    assert_eq!((call.target().method(), call.params()), ("acme/restock", r#"{"shelf":"A"}"#));
    client.server.respond(now(), id, &result(r#"{"stock":3}"#));
    assert_eq!(client.received(), [r#"{"jsonrpc":"2.0","id":1,"result":{"stock":3}}"#]);

    let (id, call) = client.call(&modern("2", "acme/restock", r#""shelf":"B","#));
    assert!(call.params().starts_with(r#"{"shelf":"B","_meta":"#));
    client.server.respond(now(), id, &result(r#"{"stock":4}"#));
    let expected =
        format!(r#"{{"jsonrpc":"2.0","id":2,"result":{{"resultType":"complete","stock":4,{NAMED}}}}}"#);
    assert_eq!(client.received(), [expected]);
}

/// ERR-01, META-12: what is not declared stays unknown, and modern requests say of themselves what all do.
#[test]
fn other_methods_stay_unknown() {
    let mut client = Client::new(with_custom());
    assert!(client.ask(&modern("1", "acme/other", ""))[0].contains("-32601"));
    assert!(client.ask(r#"{"jsonrpc":"2.0","id":2,"method":"acme/restock"}"#)[0].contains("-32602"));
}

/// Parameters that were left out are none.
#[test]
fn parameters_may_be_left_out() {
    let mut client = Client::legacy(with_custom(), V);
    let (_, call) = client.call(r#"{"jsonrpc":"2.0","id":1,"method":"acme/restock"}"#);
    assert_eq!(call.params(), "{}");
}

/// RPC-21: notifications that the application listens to reach it, others end here.
#[test]
fn notifications_of_ones_own_are_told() {
    let mut client = Client::legacy(with_custom(), V);
    client.send(r#"{"jsonrpc":"2.0","method":"acme/moved","params":{"to":"B"}}"#);
    client.send(r#"{"jsonrpc":"2.0","method":"acme/else"}"#);
    let outputs = client.outputs();
    assert!(
        matches!(&outputs[0], Output::Notification { method, params } if method == "acme/moved" && params == r#"{"to":"B"}"#),
        "{outputs:?}"
    );
    assert!(matches!(&outputs[1], Output::Diagnostic(_)), "{outputs:?}");
    assert_eq!(client.received(), [""; 0]);
}

/// PRG-11: a notification of one's own goes out while its call runs, and only then; names of the protocol and
/// parameters that are no object are the application's mistake.
#[test]
fn a_call_sends_notifications_of_its_own() {
    let mut client = Client::new(with_custom());
    let (id, _) = client.call(&modern("1", "acme/restock", ""));
    client.server.notify(now(), id, "acme/progressed", &Json::parse(r#"{"of":2}"#).unwrap());
    let expected = r#"{"jsonrpc":"2.0","method":"acme/progressed","params":{"of":2}}"#;
    assert_eq!(client.received(), [expected]);
    for (name, params) in [("notifications/message", "{}"), ("rpc.x", "{}"), ("acme/x", "[1]")] {
        client.server.notify(now(), id, name, &Json::parse(params).unwrap());
        assert_eq!(client.received(), [""; 0]);
        let outputs = client.outputs();
        assert!(
            matches!(&outputs[0], Output::Diagnostic(told) if told.blame == Blame::Ours),
            "{name}: {outputs:?}"
        );
    }
    client.server.respond(now(), id, &result("{}"));
    client.received();
    client.server.notify(now(), id, "acme/progressed", &Json::empty_object());
    assert_eq!(client.received(), [""; 0]);
}

/// EXT-01, EXT-02, EXT-04, EXT-08, META-23, INIT-17: an extension is declared when it was asked for, where the revision
/// has extensions; what is experimental everywhere.
#[test]
fn extensions_are_declared_to_those_who_know_them() {
    let mut config = config();
    config.extension("com.example/shelves", Json::empty_object()).unwrap();
    config.extension("io.modelcontextprotocol/ui", Json::parse(r#"{"a":1}"#).unwrap()).unwrap();
    config.experimental.insert("acme".into(), Json::empty_object());
    for wrong in ["shelves", "com.example/", "/shelves", "-x/y", "a b/c", "a/b/c", ""] {
        assert!(config.extension(wrong, Json::empty_object()).is_err(), "{wrong}");
    }
    assert!(config.extension("a/b", Json::parse("true").unwrap()).is_err());

    let extensions = r#""extensions":{"com.example/shelves":{},"io.modelcontextprotocol/ui":{"a":1}}"#;
    let experimental = r#""experimental":{"acme":{}}"#;
    let mut client = Client::new(config);
    let modern = client.ask(&modern("1", "server/discover", "")).remove(0);
    assert!(modern.contains(extensions) && modern.contains(experimental), "{modern}");
    let legacy = client.ask(&initialize(V)).remove(0);
    assert!(!legacy.contains("extensions") && legacy.contains(experimental), "{legacy}");
    let plain = Client::new(full()).ask(&super::modern("1", "server/discover", "")).remove(0);
    assert!(!plain.contains("extensions"), "{plain}");
}
