use super::*;
use crate::model::content::TextResourceContents;
use crate::model::resources::ReadResourceResult;
use crate::server::{Resources, Target, Templates, resource_not_found};

fn read(uri: &str) -> String {
    modern("1", "resources/read", &format!(r#""uri":"{uri}","#))
}

fn legacy_read(uri: &str) -> String {
    format!(r#"{{"jsonrpc":"2.0","id":1,"method":"resources/read","params":{{"uri":"{uri}"}}}}"#)
}

fn contents() -> ReadResourceResult {
    ReadResourceResult::new(std::vec![TextResourceContents::new("test://static", "t").into()])
}

/// RES-01, RES-03, RES-06, CACHE-04, CACHE-05
#[test]
fn resources_and_templates_are_declared_and_listed() {
    let mut client = Client::new(full());
    assert!(client.ask(&modern("1", "server/discover", ""))[0].contains(r#""resources":{}"#));
    let result = |list: &str| {
        format!(
            r#"{{"jsonrpc":"2.0","id":1,"result":{{"resultType":"complete",{list},"ttlMs":0,"cacheScope":"private",{NAMED}}}}}"#
        )
    };
    let resources = r#""resources":[{"uri":"test://static","name":"static","mimeType":"text/plain"},{"uri":"test://item/special","name":"special"}]"#;
    assert_eq!(client.ask(&modern("1", "resources/list", "")), [result(resources)]);
    let templates = r#""resourceTemplates":[{"uriTemplate":"test://item/{id}{?view}","name":"item"}]"#;
    assert_eq!(client.ask(&modern("1", "resources/templates/list", "")), [result(templates)]);

    // One of both is enough for the capability, and then all three methods are there.
    let mut client = Client::new(full().resources(Resources::new()));
    assert!(client.ask(&modern("1", "server/discover", ""))[0].contains(r#""resources":{}"#));
    assert_eq!(client.ask(&modern("1", "resources/list", "")), [result(r#""resources":[]"#)]);
    let mut client = Client::new(full().resources(Resources::new()).templates(Templates::new()));
    assert!(!client.ask(&modern("1", "server/discover", ""))[0].contains("resources"));
    for method in ["resources/list", "resources/templates/list", "resources/read"] {
        assert_eq!(client.ask(&modern("1", method, "")), [error("1", -32601, "Method not found")]);
    }
}

/// RES-07, RES-09, CACHE-06, CACHE-15: exact ones win, and what lists promise to caches does not carry over.
#[test]
fn a_read_goes_to_the_resource_or_to_the_template_that_makes_the_uri() {
    let hint = crate::server::CacheHint::new(
        crate::model::caching::TtlMs(9),
        crate::model::caching::CacheScope::Public,
    );
    let mut client = Client::new(full().cache(hint));
    for uri in ["test://static", "test://item/special", r"test:\/\/\u0073tatic"] {
        let (_, call) = client.call(&read(uri).replace("\"id\":1", &format!("\"id\":\"{}\"", uri.len())));
        assert!(matches!(call.target(), Target::Resource(_)), "{uri}");
        assert!(call.target().uri() == Some(call.name()) && call.name().starts_with("test://"));
    }
    let (id, call) = client.call(&read("test://item/a%20b?view=full"));
    let Target::Template(asked) = call.target() else { panic!("{:?}", call.target()) };
    assert_eq!(asked.template.template.name, "item");
    assert_eq!(asked.uri, "test://item/a%20b?view=full");
    assert_eq!((asked.variable("id"), asked.variable("view")), (Some("a b"), Some("full")));
    assert_eq!((call.name(), call.arguments()), (asked.uri.as_str(), "{}"));
    assert!(!format!("{call:?} {:?}", call.target()).contains("full"));
    client.server.respond(now(), id, &contents());
    let answer = |hints: &str| {
        format!(
            r#"{{"jsonrpc":"2.0","id":1,"result":{{"resultType":"complete","contents":[{{"uri":"test://static","text":"t"}}],{hints},{NAMED}}}}}"#
        )
    };
    assert_eq!(client.received(), [answer(r#""ttlMs":0,"cacheScope":"private""#)]);
    let (id, _) = client.call(&read("test://item/7"));
    let own = contents().ttl_ms(crate::model::caching::TtlMs(5)).cache_scope(hint.scope);
    client.server.respond(now(), id, &own);
    assert_eq!(client.received(), [answer(r#""ttlMs":5,"cacheScope":"public""#)]);
}

/// RES-12, RES-13, RES-16, RES-18, RES-19, B64
#[test]
fn what_is_not_there_is_said_in_the_words_of_the_era() {
    let mut client = Client::legacy(full(), V);
    let not_found = |code: i32, uri: &str, message: &str| {
        format!(
            r#"{{"jsonrpc":"2.0","id":1,"error":{{"code":{code},"message":"{message}","data":{{"uri":"{uri}"}}}}}}"#
        )
    };
    let message = r#"unknown resource \"test://statics\"; did you mean \"test://static\"?"#;
    assert_eq!(client.ask(&read("test://statics")), [not_found(-32602, "test://statics", message)]);
    assert_eq!(client.ask(&legacy_read("test://statics")), [not_found(-32002, "test://statics", message)]);
    for uri in
        ["test://item/..", "test://item/%2e%2e", "test://item/a%2fb", "test://item/a/b", "test://item/"]
    {
        let message = format!(r#"unknown resource \"{uri}\""#);
        assert_eq!(client.ask(&read(uri)), [not_found(-32602, uri, &message)], "{uri}");
    }
    let long = format!("test://{}", "x".repeat(200));
    assert_eq!(client.ask(&read(&long)), [not_found(-32602, &long, "unknown resource")]);
    for line in [read("::not a uri"), legacy_read("::not a uri")] {
        assert_eq!(client.ask(&line), [error("1", -32602, "params.uri: not a URI")]);
    }
    for (params, message) in
        [("", "params.uri: missing"), (r#""uri":1,"#, "params.uri: expected a string, found a number")]
    {
        assert_eq!(client.ask(&modern("1", "resources/read", params)), [error("1", -32602, message)]);
    }
    assert!(client.calls().is_empty());
}

/// RES-12 to RES-16: whether the application says so or returns nothing.
#[test]
fn a_read_that_finds_nothing_is_an_error_and_never_empty() {
    let mut client = Client::legacy(full(), V);
    let told = |code: i32, uri: &str| {
        format!(
            r#"{{"jsonrpc":"2.0","id":1,"error":{{"code":{code},"message":"resource not found","data":{{"uri":"{uri}"}}}}}}"#
        )
    };
    for (line, uri, code) in [
        (read("test://item/7"), "test://item/7", -32602),
        (legacy_read("test://item/7"), "test://item/7", -32002),
        (read("test://static"), "test://static", -32602),
    ] {
        let (id, _) = client.call(&line);
        client.server.respond(now(), id, &ReadResourceResult::default());
        assert_eq!(client.received(), [told(code, uri)]);
        let (id, call) = client.call(&line);
        client.server.fail(now(), id, &resource_not_found(call.target().uri().unwrap()));
        assert_eq!(client.received(), [told(code, uri)]);
    }
}
