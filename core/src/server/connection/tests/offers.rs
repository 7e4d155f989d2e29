//! What a server declares, and what it then does.

use super::*;
use crate::error::code;
use crate::model::annotations::{Annotations, Role};
use crate::model::icons::{Icon, IconTheme};
use crate::model::resources::{ReadResourceResult, Resource, ResourceTemplate};
use crate::model::{Implementation, Prompt, Tool};
use crate::server::{Prompts, Resources, Templates, Tools};

const LISTS: [(&str, &str); 4] = [
    ("tools", "tools/list"),
    ("prompts", "prompts/list"),
    ("resources", "resources/list"),
    ("resources", "resources/templates/list"),
];

fn nothing() -> Config {
    Config::new(Implementation::new("spokes", "2.1.0"))
}

fn schema() -> Json {
    Json::parse(r#"{"type":"object"}"#).unwrap()
}

/// TOOL-01, TOOL-02, PROMPT-01, PROMPT-02, RES-01, RES-03, COMP-01, COMP-05, LOG-01, DISC-07, DISC-08, ERR-02: what is
/// declared is answered, and what is not is unknown, in both eras.
#[test]
fn capabilities_and_methods_agree() {
    let complete = r#""ref":{"type":"ref/prompt","name":"greet"},"argument":{"name":"who","value":""},"#;
    for (config, declared) in [(full(), true), (nothing(), false)] {
        let mut client = Client::legacy(config.clone(), V);
        let discovered = client.ask(&modern("1", "server/discover", "")).remove(0);
        let initialized = Client::new(config).ask(&initialize(V)).remove(0);
        for (capability, method) in LISTS {
            let capability = format!(r#""{capability}":{{"#);
            assert_eq!(discovered.contains(&capability), declared, "{discovered}");
            assert_eq!(initialized.contains(&capability), declared, "{initialized}");
            let legacy = client.ask(&format!(r#"{{"jsonrpc":"2.0","id":1,"method":"{method}"}}"#)).remove(0);
            let modern = client.ask(&modern("1", method, "")).remove(0);
            for answer in [legacy, modern] {
                assert_eq!(answer.contains(r#""result""#), declared, "{answer}");
                assert_eq!(answer.contains("-32601"), !declared, "{answer}");
            }
        }
        assert_eq!(discovered.contains(r#""completions":{}"#), declared);
        assert_eq!(discovered.contains(r#""logging":{}"#), declared);
        client.send(&modern("2", "completion/complete", complete));
        assert_eq!(client.calls().len(), usize::from(declared));
        client.received();
        let level = r#"{"jsonrpc":"2.0","id":3,"method":"logging/setLevel","params":{"level":"info"}}"#;
        assert_eq!(client.ask(level)[0].contains("-32601"), !declared);
    }
}

/// RPC-33, TOOL-04, RES-04, PROMPT-03, TOOL-06: a list is the same for whoever asks, whatever was asked before.
#[test]
fn lists_depend_neither_on_the_connection_nor_on_what_came_before() {
    let list = |client: &mut Client| -> Vec<String> {
        LISTS.iter().map(|(_, method)| client.ask(&modern("1", method, "")).remove(0)).collect()
    };
    let first = list(&mut Client::new(full()));
    let mut used = Client::legacy(full(), V);
    let (id, _) = used.call(&modern_call("1"));
    used.server.respond(now(), id, &text("x"));
    used.ask(&modern("1", "tools/list", r#""cursor":"after-1","#));
    assert_eq!(list(&mut used), first);
    assert_eq!(list(&mut used), first);
}

/// META-20, META-21: who a client says it is decides nothing.
#[test]
fn answers_do_not_depend_on_what_a_client_calls_itself() {
    let answers = |name: &str| -> Vec<String> {
        let mut client = Client::new(full());
        let info =
            format!(r#""_meta":{{"io.modelcontextprotocol/clientInfo":{{"name":"{name}","version":"9"}},"#);
        let ask = |method: &str| modern("1", method, "").replace(r#""_meta":{"#, &info);
        let lists = LISTS.iter().map(|(_, method)| client.ask(&ask(method)).remove(0));
        let mut answers: Vec<_> = lists.collect();
        answers.push(client.ask(&ask("server/discover")).remove(0));
        answers.push(client.ask(&ask("tools/call")).remove(0));
        answers
    };
    assert_eq!(answers("claude"), answers("root"));
}

/// TOOL-03, TOOL-14, RES-05, PROMPT-04: the set may change, and a name that went may come again.
#[test]
fn what_is_offered_may_change() {
    let mut config = full();
    assert!(config.tools.insert(Tool::new("add", schema())).is_err(), "a name is given once");
    config.tools.remove("add").unwrap();
    config.prompts.remove("greet").unwrap();
    config.resources.remove("test://static").unwrap();
    let mut client = Client::new(config);
    for (method, gone) in
        [("tools/list", "\"add\""), ("prompts/list", "greet"), ("resources/list", "test://static")]
    {
        let answer = client.ask(&modern("1", method, "")).remove(0);
        assert!(answer.contains("result") && !answer.contains(gone), "{answer}");
    }
    assert!(client.ask(&modern_call("2"))[0].contains("-32602"));
}

/// META-22, META-25: whoever has a name may have pictures, where the revision has them.
#[test]
fn icons_and_prose_are_shown_to_revisions_that_have_them() {
    let icon =
        Icon::from_bytes(b"\x89PNG", "image/png").sizes(alloc::vec!["48x48".into()]).theme(IconTheme::Dark);
    let expected = r#""icons":[{"src":"data:image/png;base64,iVBORw==","mimeType":"image/png","sizes":["48x48"],"theme":"dark"}]"#;
    let icons = || alloc::vec![icon.clone()];
    let identity =
        Implementation::new("spokes", "2").icons(icons()).website_url("https://a.example").title("Spokes");
    let mut tools = Tools::new();
    tools.insert(Tool::new("add", schema()).icons(icons())).unwrap();
    let mut prompts = Prompts::new();
    prompts.insert(Prompt::new("greet").icons(icons())).unwrap();
    let mut resources = Resources::new();
    resources.insert(Resource::new("a:b", "b").icons(icons())).unwrap();
    let mut templates = Templates::new();
    templates.insert(ResourceTemplate::new("a:{b}", "b").icons(icons())).unwrap();
    let config =
        nothing().identify(identity).tools(tools).prompts(prompts).resources(resources).templates(templates);
    for (version, shown) in [("2025-06-18", false), ("2025-11-25", true)] {
        let mut client = Client::new(config.clone());
        let answer = client.ask(&initialize(version)).remove(0);
        assert_eq!((answer.contains(expected), answer.contains("websiteUrl")), (shown, shown), "{answer}");
        assert!(answer.contains(r#""title":"Spokes""#));
        for (_, method) in LISTS {
            let answer = client.ask(&format!(r#"{{"jsonrpc":"2.0","id":1,"method":"{method}"}}"#)).remove(0);
            assert_eq!(answer.contains(expected), shown, "{version} {method}: {answer}");
        }
    }
    let mut client = Client::new(config);
    assert!(client.ask(&modern("1", "server/discover", ""))[0].contains(expected));
    // Every other result names the server in a few words.
    let list = client.ask(&modern("1", "tools/list", "")).remove(0);
    assert!(list.contains(r#"serverInfo":{"name":"spokes","title":"Spokes","version":"2"}"#), "{list}");
}

/// RES-08, RES-24, RES-25, RES-26: any scheme, several contents, and hints on each.
#[test]
fn a_resource_says_what_its_parts_are_for() {
    let hints = Annotations::new()
        .audience(alloc::vec![Role::User])
        .priority(0.5)
        .last_modified("2026-01-01T00:00:00Z");
    let mut resources = Resources::new();
    for uri in ["mailto:ada@a.example", "urn:isbn:0", "x-kiln+2:a", "https://a.example/?q=1#f", "file:///tmp"]
    {
        let resource = Resource::new(uri, "r").annotations(hints.clone()).mime_type("inode/directory");
        resources.insert(resource).unwrap();
    }
    let mut client = Client::legacy(nothing().resources(resources), V);
    let list = client.ask(&modern("1", "resources/list", "")).remove(0);
    let shown = r#""annotations":{"audience":["user"],"priority":0.5,"lastModified":"2026-01-01T00:00:00Z"}"#;
    assert_eq!(list.matches(shown).count(), 5, "{list}");
    assert!(list.contains("inode/directory"));
    let mut old = Client::legacy(client_config(&hints), "2025-03-26");
    let list = old.ask(r#"{"jsonrpc":"2.0","id":1,"method":"resources/list"}"#).remove(0);
    assert!(list.contains("audience") && !list.contains("lastModified"), "{list}");

    let (id, _) = client.call(&modern("2", "resources/read", r#""uri":"urn:isbn:0","#));
    let parts = ["a:1", "a:2"].map(|uri| crate::model::TextResourceContents::new(uri, "t").into());
    client.server.respond(now(), id, &ReadResourceResult::new(parts.into()));
    let answer = client.received().remove(0);
    assert!(answer.contains(r#"{"uri":"a:1","text":"t"},{"uri":"a:2","text":"t"}"#), "{answer}");
}

fn client_config(hints: &Annotations) -> Config {
    let mut resources = Resources::new();
    resources.insert(Resource::new("a:b", "r").annotations(hints.clone())).unwrap();
    nothing().resources(resources)
}

/// CACHE-07, CACHE-11, CACHE-12: hints go with what is complete, and need no promise to tell of changes.
#[test]
fn a_read_has_hints_of_its_own_and_a_question_none() {
    use crate::model::InputRequiredResult;
    use crate::model::caching::{CacheScope, TtlMs};
    let mut client = Client::new(full());
    let read = modern("1", "resources/read", r#""uri":"test://static","#);
    let (id, _) = client.call(&read);
    let mut result =
        ReadResourceResult::new(alloc::vec![crate::model::TextResourceContents::new("a:1", "t").into()]);
    (result.ttl_ms, result.cache_scope) = (TtlMs(7), CacheScope::Public);
    client.server.respond(now(), id, &result);
    let answer = client.received().remove(0);
    assert!(answer.contains(r#""ttlMs":7,"cacheScope":"public""#), "{answer}");
    let (id, _) = client.call(&read);
    client.server.respond(now(), id, &InputRequiredResult::new().request_state("s"));
    let answer = client.received().remove(0);
    assert!(answer.contains("input_required") && !answer.contains("ttlMs"), "{answer}");
}

/// ERR-01, ERR-04, ERR-05, ERR-08, ERR-13: the codes are those of the specification, none is made up in the range that
/// is kept free, and each is told with one sentence.
#[test]
fn errors_have_codes_of_the_specification_and_one_sentence() {
    let mut client = Client::new(full());
    let unspoken = META.replace("2026-07-28", "2099-01-01");
    for (line, code) in [
        ("{".to_string(), -32700),
        (r#"{"jsonrpc":"1.0","id":1,"method":"x"}"#.into(), -32600),
        (modern("1", "nope", ""), -32601),
        (modern("1", "tools/call", r#""name":"nope","#), -32602),
        (format!(r#"{{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{{{unspoken}}}}}"#), -32022),
    ] {
        let answer = client.ask(&line).remove(0);
        assert!(answer.contains(&format!(r#""code":{code},"#)), "{line}: {answer}");
        let (_, message) = answer.split_once(r#""message":""#).unwrap();
        let message = message.split_once('"').unwrap().0;
        assert!(!message.is_empty() && message.len() < 200 && !message.contains(". "), "{message}");
    }
    let (id, _) = client.call(&modern_call("9"));
    client.server.fail(now(), id, &ErrorObject::new(code::INTERNAL, "internal error"));
    assert!(client.received()[0].contains("-32603"));
    for revision in Revision::ALL {
        for code in
            [code::HEADER_MISMATCH, code::MISSING_CLIENT_CAPABILITY, code::UNSUPPORTED_PROTOCOL_VERSION]
        {
            assert_eq!(revision.knows_error_code(code), revision.era() == Era::Modern);
            assert!(!(-32019..=-32000).contains(&code));
        }
    }
}

/// PRG-08, PRG-10, LOG-12: what nobody reads is not piled up.
#[test]
fn progress_and_logs_are_bounded_by_what_is_read() {
    const MOST: usize = 4 << 10;
    let mut client = Client::new(config().limits(limits(|limits| limits.transmit = MOST)));
    let meta = META.replace(
        "\"_meta\":{",
        "\"_meta\":{\"progressToken\":1,\"io.modelcontextprotocol/logLevel\":\"debug\",",
    );
    let line =
        format!(r#"{{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{{"name":"add",{meta}}}}}"#);
    let (id, _) = client.call(&line);
    for step in 0..10_000 {
        client.server.progress(now(), id, &Progress::new(f64::from(step)));
        client.server.log(now(), id, &message(LoggingLevel::Info));
        client.server.notify(now(), id, "acme/x", &Json::empty_object());
    }
    let held = client.server.transmit().len();
    assert!((MOST..MOST + 1024).contains(&held), "{held}");
    client.received();
    client.server.progress(now(), id, &Progress::new(10_000.0));
    assert_eq!(client.received().len(), 1, "once it was read there is room again");
}
