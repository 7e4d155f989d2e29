use super::*;
use crate::model::caching::{CacheScope, TtlMs};
use crate::server::CacheHint;

const LISTS: [&str; 4] = ["tools/list", "prompts/list", "resources/list", "resources/templates/list"];

/// CACHE-01 to CACHE-05, CACHE-08, CACHE-09
#[test]
fn lists_carry_the_hints_of_the_server_unless_they_have_their_own() {
    let mut config = full().cache(CacheHint::new(TtlMs(60_000), CacheScope::Public));
    config.prompts.cache = Some(CacheHint::new(TtlMs(5), CacheScope::Private));
    let mut client = Client::legacy(config, V);
    for method in ["server/discover"].into_iter().chain(LISTS) {
        let expected = match method {
            "prompts/list" => r#""ttlMs":5,"cacheScope":"private""#,
            _ => r#""ttlMs":60000,"cacheScope":"public""#,
        };
        assert!(client.ask(&modern("1", method, ""))[0].contains(expected), "{method}");
    }
    for method in LISTS {
        let answer = client.ask(&format!(r#"{{"jsonrpc":"2.0","id":1,"method":"{method}"}}"#));
        assert!(answer[0].contains("result") && !answer[0].contains("ttlMs"), "{answer:?}");
    }
}

/// PAGE-06 to PAGE-08, CACHE-10
#[test]
fn every_list_comes_in_pages_of_one_scope() {
    let mut config = full().page_size(Some(1));
    config.resources.cache = Some(CacheHint::new(TtlMs(1), CacheScope::Public));
    let mut client = Client::new(config);
    for (method, pages, scope) in [
        ("tools/list", 3, "private"),
        ("prompts/list", 2, "private"),
        ("resources/list", 2, "public"),
        ("resources/templates/list", 1, "private"),
    ] {
        let mut cursor = String::new();
        let mut seen = 0;
        loop {
            let page = client.ask(&modern("1", method, &cursor)).remove(0);
            assert!(page.contains(&format!(r#""cacheScope":"{scope}""#)), "{page}");
            seen += 1;
            let Some((_, rest)) = page.split_once(r#""nextCursor":""#) else { break };
            cursor = format!(r#""cursor":"{}","#, rest.split_once('"').unwrap().0);
        }
        assert_eq!(seen, pages, "{method}");
        let answer = client.ask(&modern("1", method, r#""cursor":"after-9","#));
        assert_eq!(answer, [error("1", -32602, "params.cursor: not a cursor of this list")], "{method}");
    }
}
