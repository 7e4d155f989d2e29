use super::*;
use crate::server::{Change, Item, Principal, Visibility};

/// Staff see everything, others nothing whose name has `add`, `greet`, `static` or `{id}`.
fn hiding() -> Config {
    let hidden = ["add", "greet", "test://static", "test://item/{id}{?view}"];
    let rule = move |viewer: &crate::server::Viewer, item: Item<'_>| {
        viewer.has_scope("staff") || !hidden.contains(&item.name())
    };
    changing().visible(Visibility::new(rule))
}

fn staff() -> Arc<Principal> {
    Arc::new(Principal::new("ada").scopes(["staff"]))
}

fn clients() -> [(Client, Era); 2] {
    [(Client::new(hiding()), Era::Modern), (Client::legacy(hiding(), V), Era::Legacy)]
}

fn request(era: Era, method: &str, params: &str) -> String {
    match era {
        Era::Modern => modern("1", method, &format!("{params}{}", if params.is_empty() { "" } else { "," })),
        Era::Legacy => format!(r#"{{"jsonrpc":"2.0","id":1,"method":"{method}","params":{{{params}}}}}"#),
    }
}

/// The error for something that is there for others, with its name replaced, next to that for what is nowhere.
fn assert_unknown(client: &mut Client, era: Era, method: &str, params: &str, hidden: &str, nowhere: &str) {
    let [for_hidden, for_nowhere] = [hidden, nowhere].map(|name| {
        let answer = client.ask(&request(era, method, &params.replace("NAME", name)));
        answer[0].replace(name, "NAME")
    });
    assert_eq!(for_hidden, for_nowhere);
    assert!(for_hidden.contains("error"), "{for_hidden}");
}

/// TOOL-05, RES-05, PROMPT-04, RES-21, CACHE-14: what is not there for a client is in none of its lists.
#[test]
fn lists_hold_what_is_there_for_the_client() {
    for (mut client, era) in clients() {
        for (method, hidden, shown) in [
            ("tools/list", r#""name":"add""#, r#""name":"search""#),
            ("prompts/list", r#""name":"greet""#, r#""name":"plain""#),
            ("resources/list", "test://static", "test://item/special"),
            ("resources/templates/list", "{id}", r#""resourceTemplates":[]"#),
        ] {
            let answer = client.ask(&request(era, method, "")).remove(0);
            assert!(!answer.contains(hidden) && answer.contains(shown), "{answer}");
            client.server.handle_principal(now(), staff());
            assert!(client.ask(&request(era, method, ""))[0].contains(hidden));
            client.server.handle_principal(now(), Arc::new(Principal::new("bob")));
        }
    }
}

/// RES-21: asking for what is there for others is answered like asking for what is nowhere, whatever comes with
/// it, and no suggestion gives it away.
#[test]
fn what_is_not_there_for_a_client_is_unknown() {
    for (mut client, era) in clients() {
        assert_unknown(&mut client, era, "tools/call", r#""name":"NAME","arguments":7"#, "add", "adx");
        assert_unknown(&mut client, era, "prompts/get", r#""name":"NAME","arguments":7"#, "greet", "greex");
        assert_unknown(
            &mut client,
            era,
            "resources/read",
            r#""uri":"NAME""#,
            "test://static",
            "test://statix",
        );
        assert_unknown(
            &mut client,
            era,
            "resources/read",
            r#""uri":"NAME""#,
            "test://item/1",
            "test://iten/1",
        );
        let completion = r#""ref":{"type":"ref/prompt","name":"NAME"},"argument":{"name":"who","value":""}"#;
        assert_unknown(&mut client, era, "completion/complete", completion, "greet", "greex");
        let completion = r#""ref":{"type":"ref/resource","uri":"NAME"},"argument":{"name":"id","value":""}"#;
        assert_unknown(
            &mut client,
            era,
            "completion/complete",
            completion,
            "test://item/{id}{?view}",
            "x:{id}",
        );
        if era == Era::Legacy {
            let subscribe = "resources/subscribe";
            assert_unknown(&mut client, era, subscribe, r#""uri":"NAME""#, "test://static", "test://statix");
        }
        client.server.handle_principal(now(), staff());
        client.call(&request(era, "tools/call", r#""name":"add""#));
    }
}

/// PAGE-06: pages are full, and cursors right, whatever lies between.
#[test]
fn pages_are_full_of_what_is_there() {
    let mut config = hiding().page_size(Some(1));
    config.tools.insert(crate::server::testing::tool("last", r#"{"type":"object"}"#)).unwrap();
    let mut client = Client::new(config);
    let (mut names, mut cursor) = (Vec::new(), String::new());
    loop {
        let answer = client.ask(&modern("1", "tools/list", &cursor)).remove(0);
        let name = answer.split(r#""name":""#).nth(1).unwrap().split('"').next().unwrap();
        names.push(name.to_string());
        let Some((_, rest)) = answer.split_once(r#""nextCursor":""#) else { break };
        cursor = format!(r#""cursor":"{}","#, rest.split('"').next().unwrap());
    }
    assert_eq!(names, ["search", "book", "last"]);
}

/// CACHE-10, CACHE-15: where not all see the same, no list is public, whatever is said of it.
#[test]
fn lists_that_differ_are_not_public() {
    use crate::model::caching::{CacheScope, TtlMs};
    let public = |config: Config| config.cache(crate::server::CacheHint::new(TtlMs(5), CacheScope::Public));
    for (config, scope) in [(public(changing()), "public"), (public(hiding()), "private")] {
        let mut client = Client::new(config);
        for method in ["tools/list", "prompts/list", "resources/list", "resources/templates/list"] {
            let answer = client.ask(&modern("1", method, "")).remove(0);
            assert!(answer.contains(&format!(r#""cacheScope":"{scope}""#)), "{answer}");
        }
    }
}

/// SUB-06: a subscription honours what is there for its client, and stops hearing of what no longer is.
#[test]
fn subscriptions_are_for_what_is_there() {
    let filter = r#"{"resourceSubscriptions":["test://static","test://item/special"]}"#;
    let mut client = Client::new(hiding());
    client.listen("1", filter);
    assert!(!client.received()[0].contains("test://static"));
    client.server.handle_principal(now(), staff());
    client.listen("2", filter);
    assert!(client.received()[0].contains("test://static"));
    client.server.publish(now(), &Change::Resource("test://static".into()));
    assert_eq!(client.received().len(), 1);
    let nobody = Visibility::new(|_, _| false);
    client.server.handle_config(now(), Arc::new(changing().visible(nobody)));
    client.server.publish(now(), &Change::Resource("test://static".into()));
    assert_eq!(client.received(), [""; 0]);
}

/// A rule knows who the client says it is, and which revision it speaks.
#[test]
fn a_rule_knows_client_and_revision() {
    let rule = |viewer: &crate::server::Viewer, _: Item<'_>| {
        let name = viewer.client.info.as_ref().map(|info| info.name.as_str());
        viewer.revision == Revision::V2025_11_25 && name == Some("kiln")
    };
    let visible = || config().visible(Visibility::new(rule));
    let mut client = Client::legacy(visible(), V);
    assert!(client.ask(&request(Era::Legacy, "tools/list", ""))[0].contains("search"));
    let mut client = Client::new(visible());
    assert!(client.ask(&request(Era::Modern, "tools/list", ""))[0].contains(r#""tools":[]"#));
}
