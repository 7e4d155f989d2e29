use super::*;
use crate::model::completion::{CompleteResult, Completion};
use crate::server::{Completable, Target};

const ARGUMENT: &str = r#""argument":{"name":"who","value":"A"},"#;
const PROMPT: &str = r#""ref":{"type":"ref/prompt","name":"greet"},"#;

fn complete(params: &str) -> String {
    modern("1", "completion/complete", params)
}

/// COMP-01, COMP-05
#[test]
fn completion_is_declared_where_the_revision_has_the_capability() {
    for (version, declared) in [("2024-11-05", false), ("2025-03-26", true), ("2025-11-25", true)] {
        let mut client = Client::new(full());
        let opened = client.ask(&initialize(version)).remove(0);
        assert_eq!(opened.contains(r#""completions":{}"#), declared, "{opened}");
    }
    let mut client = Client::new(full());
    assert!(client.ask(&modern("1", "server/discover", ""))[0].contains(r#""completions":{}"#));
    let mut client = Client::new(full().completions(false));
    assert!(!client.ask(&modern("1", "server/discover", ""))[0].contains("completions"));
    let line = complete(&format!("{PROMPT}{ARGUMENT}"));
    assert_eq!(client.ask(&line), [error("1", -32601, "Method not found")]);
}

/// COMP-02, COMP-03
#[test]
fn a_completion_names_what_is_filled_in_and_is_cut_at_a_hundred() {
    let mut client = Client::new(full());
    let (id, call) = client.call(&complete(&format!("{PROMPT}{ARGUMENT}")));
    let Target::Completion(asked) = call.target() else { panic!("{:?}", call.target()) };
    assert!(matches!(&asked.of, Completable::Prompt(entry) if entry.prompt.name == "greet"));
    assert_eq!((call.name(), &*asked.argument.name, &*asked.argument.value), ("greet", "who", "A"));
    assert!(asked.context.is_empty() && !format!("{asked:?}").contains("value"));
    let values: Vec<String> = (0..101).map(|n| n.to_string()).collect();
    client.server.respond(now(), id, &CompleteResult::new(Completion::new(values)));
    let answer = client.received().remove(0);
    assert!(answer.contains(r#""completion":{"values":["0","1","#) && !answer.contains("\"100\""));
    assert!(answer.contains(r#""99"],"total":101,"hasMore":true}"#), "{answer}");

    let reference = r#""ref":{"type":"ref/resource","uri":"test://item/{id}{?view}"},"#;
    let (_, call) =
        client.call(&complete(&format!(r#"{reference}"argument":{{"name":"view","value":""}},"#)));
    let Target::Completion(asked) = call.target() else { panic!("{:?}", call.target()) };
    assert!(matches!(&asked.of, Completable::Template(entry) if entry.template.name == "item"));
}

/// COMP-04
#[test]
fn earlier_arguments_are_there_from_the_revision_on_that_has_them() {
    let context = r#""context":{"arguments":{"style":"s"}}"#;
    for (version, len) in [("2025-03-26", 0), ("2025-06-18", 1)] {
        let mut client = Client::legacy(full(), version);
        let line = format!(
            r#"{{"jsonrpc":"2.0","id":1,"method":"completion/complete","params":{{{PROMPT}{ARGUMENT}{context}}}}}"#
        );
        let (_, call) = client.call(&line);
        let Target::Completion(asked) = call.target() else { panic!("{:?}", call.target()) };
        assert_eq!(asked.context.len(), len, "{version}");
    }
    let mut client = Client::new(full());
    let (_, call) = client.call(&complete(&format!("{PROMPT}{ARGUMENT}{context},")));
    let Target::Completion(asked) = call.target() else { panic!("{:?}", call.target()) };
    assert_eq!(asked.context["style"], "s");
}

/// COMP-05
#[test]
fn wrong_references_and_arguments_are_named_with_their_place() {
    let mut client = Client::new(full());
    let template = |uri: &str| format!(r#""ref":{{"type":"ref/resource","uri":"{uri}"}},"#);
    let unknown = r#"unknown resource template \"test://static\""#;
    for (params, message) in [
        (ARGUMENT.into(), "params.ref: missing"),
        (PROMPT.into(), "params.argument: missing"),
        (format!(r#"{PROMPT}"argument":{{"name":"who"}},"#), "params.argument.value: missing"),
        (PROMPT.replace("greet", "greed") + ARGUMENT, r#"unknown prompt \"greed\"; did you mean \"greet\"?"#),
        (template("test://static") + ARGUMENT, unknown),
        (
            PROMPT.to_string() + &ARGUMENT.replace("who", "whom"),
            r#"params.argument.name: not an argument of \"greet\""#,
        ),
        (
            template("test://item/{id}{?view}") + ARGUMENT,
            r#"params.argument.name: not an argument of \"test://item/{id}{?view}\""#,
        ),
        (
            format!(r#"{PROMPT}{ARGUMENT}"context":{{"arguments":{{"style":7}}}},"#),
            "params.context.arguments.style: expected a string, found a number",
        ),
    ] {
        assert_eq!(client.ask(&complete(&params)), [error("1", -32602, message)], "{params}");
    }
    let wrong = complete(&format!("{}{ARGUMENT}", PROMPT.replace("ref/prompt", "ref/tool")));
    assert!(client.ask(&wrong)[0].contains("-32602"));
    assert!(client.calls().is_empty());
}
