use super::*;
use crate::model::annotations::Role;
use crate::model::content::ContentBlock;
use crate::model::prompts::{GetPromptResult, PromptMessage};
use crate::server::{Prompts, Target};

fn get(params: &str) -> String {
    modern("1", "prompts/get", params)
}

/// PROMPT-01, PROMPT-02, PROMPT-05, CACHE-03
#[test]
fn prompts_are_declared_and_listed_as_each_revision_knows_them() {
    let mut client = Client::legacy(full(), V);
    assert!(client.ask(&modern("1", "server/discover", ""))[0].contains(r#""prompts":{}"#));
    let listed = client.ask(&modern("1", "prompts/list", ""));
    let prompts = r#""prompts":[{"name":"greet","description":"Says hello","arguments":[{"name":"who","required":true},{"name":"style"}]},{"name":"plain","title":"Plain"}]"#;
    assert_eq!(
        listed,
        [format!(
            r#"{{"jsonrpc":"2.0","id":1,"result":{{"resultType":"complete",{prompts},"ttlMs":0,"cacheScope":"private",{NAMED}}}}}"#
        )]
    );
    let ask = r#"{"jsonrpc":"2.0","id":1,"method":"prompts/list"}"#;
    assert_eq!(client.ask(ask), [format!(r#"{{"jsonrpc":"2.0","id":1,"result":{{{prompts}}}}}"#)]);
    let mut old = Client::legacy(full(), "2024-11-05");
    assert!(!old.ask(ask)[0].contains("title"));

    let mut client = Client::new(full().prompts(Prompts::new()));
    assert!(!client.ask(&modern("1", "server/discover", ""))[0].contains("prompts"));
    for method in ["prompts/list", "prompts/get"] {
        assert_eq!(client.ask(&modern("1", method, "")), [error("1", -32601, "Method not found")]);
    }
}

/// PROMPT-06, PROMPT-07, B64
#[test]
fn getting_a_prompt_hands_out_its_arguments_and_answers_with_messages() {
    let mut client = Client::new(full());
    let (id, call) = client.call(&get(r#""name":"greet","arguments":{ "who": "Ada" },"#));
    assert!(matches!(call.target(), Target::Prompt(entry) if entry.prompt.name == "greet"));
    assert_eq!((call.name(), call.arguments()), ("greet", r#"{ "who": "Ada" }"#));
    assert!(!format!("{call:?}").contains("Ada"));
    let messages = std::vec![PromptMessage::new(Role::User, ContentBlock::text("Hello, Ada"))];
    client.server.respond(now(), id, &GetPromptResult::new(messages).description("d"));
    assert_eq!(
        client.received(),
        [format!(
            r#"{{"jsonrpc":"2.0","id":1,"result":{{"resultType":"complete","description":"d","messages":[{{"role":"user","content":{{"type":"text","text":"Hello, Ada"}}}}],{NAMED}}}}}"#
        )]
    );
    let (_, call) = client.call(&get(r#""name":"plain","#));
    assert_eq!(call.arguments(), "{}");
}

/// PROMPT-06, PROMPT-13, PROMPT-14, B64
#[test]
fn wrong_names_and_arguments_are_told_apart() {
    let mut client = Client::new(full());
    for (params, message) in [
        ("", "params.name: missing"),
        (r#""name":7,"#, "params.name: expected a string, found a number"),
        (r#""name":"greed","#, r#"unknown prompt \"greed\"; did you mean \"greet\"?"#),
        (r#""name":"greet","#, "params.arguments: missing `who`"),
        (r#""name":"greet","arguments":{"style":"s"},"#, "params.arguments: missing `who`"),
        (
            r#""name":"greet","arguments":{"who":7},"#,
            "params.arguments.who: expected a string, found a number",
        ),
        (r#""name":"plain","arguments":[],"#, "params.arguments: expected an object, found an array"),
    ] {
        assert_eq!(client.ask(&get(params)), [error("1", -32602, message)], "{params}");
    }
    assert!(client.calls().is_empty());
}
