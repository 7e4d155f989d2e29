use super::*;
use crate::llm::google::{calls, results, tools};

fn parameters(schema: &str) -> String {
    declared(&tools(&one(schema)), &["0", "functionDeclarations", "0", "parameters"])
}

fn property(schema: &str) -> String {
    let said = parameters(&format!("{{'type':'object','properties':{{'p':{schema}}}}}"));
    let said = said.strip_prefix("{'type':'OBJECT','properties':{'p':").unwrap();
    said.strip_suffix("}}").unwrap().into()
}

#[test]
fn functions_are_declared_with_what_is_accepted() {
    assert_eq!(
        declared(&tools(&one("{'type':'object'}")), &["0"]),
        "{'functionDeclarations':[{'name':'t','description':'does it'}]}"
    );
    assert_eq!(
        parameters(
            "{'$schema':'http://json-schema.org/draft-07/schema#','type':'object','additionalProperties':false,\
            'properties':{'a':{'type':'string','minLength':1,'pattern':'^a','format':'uri'}},'required':['a','ghost']}"
        ),
        "{'type':'OBJECT','properties':{'a':{'type':'STRING','minLength':1,'pattern':'^a'}},'required':['a']}"
    );
}

/// A few bytes that refer to a large definition again and again do not take its size as often.
#[test]
fn what_is_combined_is_bounded() {
    let branches = |count: usize| vec!["{'$ref':'#/$defs/b'}"; count].join(",");
    let schema = |count: usize| {
        format!(
            "{{'$defs':{{'b':{{'type':'object','properties':{{'p':{{'type':'string'}}}}}}}},'anyOf':[{}]}}",
            branches(count)
        )
    };
    assert!(parameters(&schema(64)).contains("'p'"));
    assert!(!tools(&one(&schema(65))).get().contains("\"p\""));
    assert_eq!(
        property("{'type':['string','string2','integer'],'description':'d'}")
            .matches("'description'")
            .count(),
        2
    );
}

/// Nor do its texts come more often than there is room for, whatever refers to them.
#[test]
fn texts_are_bounded() {
    for big in ["'description':'TEXT'", "'enum':['TEXT']", "'pattern':'TEXT'", "'properties':{'TEXT':{}}"] {
        let big = big.replace("TEXT", &"x".repeat(100_000));
        let properties: Vec<_> = (0..100).map(|n| format!("'p{n}':{{'$ref':'#/$defs/b'}}")).collect();
        let kind = if big.contains("properties") { "'object'" } else { "['string','string','number']" };
        let schema = format!(
            "{{'$defs':{{'b':{{'type':{kind},{big}}}}},'type':'object','properties':{{{}}}}}",
            properties.join(",")
        );
        let said = tools(&one(&schema));
        assert!((100_000..1_500_000).contains(&said.get().len()), "{}", said.get().len());
        assert!(said.get().contains("\"p99\"") || kind == "'object'");
    }
}

/// What OpenAPI has no word for is said in another way, or left out.
#[test]
fn keywords_are_translated() {
    for (schema, written) in [
        ("{'const':'x'}", "{'type':'STRING','enum':['x']}"),
        ("{'enum':['a','','b']}", "{'type':'STRING','enum':['a','b']}"),
        (
            "{'enum':[1,2],'description':'How many'}",
            "{'type':'NUMBER','description':'How many\\nOne of: 1, 2'}",
        ),
        ("{'type':['integer','null'],'minimum':0}", "{'type':'INTEGER','nullable':true,'minimum':0}"),
        ("{'type':['string','integer']}", "{'anyOf':[{'type':'STRING'},{'type':'INTEGER'}]}"),
        ("{'oneOf':[{'type':'string'},{'type':'null'}]}", "{'type':'STRING','nullable':true}"),
        (
            "{'description':'Which','anyOf':[{'type':'string'},{'type':'boolean'}]}",
            "{'anyOf':[{'type':'STRING','description':'Which'},{'type':'BOOLEAN','description':'Which'}]}",
        ),
        (
            "{'allOf':[{'type':'object','properties':{'a':{'type':'string'}}},{'properties':{'b':{'type':'number'}},'required':['b']}]}",
            "{'type':'OBJECT','properties':{'a':{'type':'STRING'},'b':{'type':'NUMBER'}},'required':['b']}",
        ),
        ("{'type':'array'}", "{'type':'ARRAY','items':{'type':'STRING'}}"),
        ("{'type':'object','additionalProperties':{'type':'string'},'required':['x']}", "{'type':'OBJECT'}"),
        ("true", "{'type':'STRING'}"),
        (
            "{'not':{'type':'string'},'if':{},'$comment':'c','examples':[1],'minimum':3}",
            "{'type':'NUMBER','minimum':3}",
        ),
    ] {
        assert_eq!(property(schema), written, "{schema}");
    }
}

/// References are written out, and end where they go in circles.
#[test]
fn references_are_written_out_within_bounds() {
    let said = parameters(TREE);
    assert!(!said.contains("$ref") && !said.contains("$defs"), "{said}");
    let inner = "{'type':'OBJECT','properties':{'name':{'type':'STRING'},'children':{'type':'ARRAY','items':{'type':'OBJECT'";
    assert!(said.contains(inner) && said.len() < 20_000, "{}", said.len());
    // Each level refers to the next one many times.
    let branch = format!(
        "{{'properties':{{{}}}}}",
        (0..30).map(|at| format!("'p{at}':{{'$ref':'#'}}")).collect::<Vec<_>>().join(",")
    );
    assert!(parameters(&branch).len() < 1 << 20);
    assert_eq!(property("{'$ref':'#/nowhere'}"), "{'type':'STRING'}");
    assert_eq!(property("{'$ref':'https://schemas.example/x.json'}"), "{'type':'STRING'}");
    assert_eq!(parameters("{'$ref':'#/$defs/a','$defs':{'a':{'$ref':'#/$defs/a'}}}"), "none");
}

#[test]
fn calls_are_read_with_and_without_ids() {
    let functions = one("{}");
    let content = json(
        "{'role':'model','parts':[{'text':'Let me see.'},{'functionCall':{'name':'t','args':{'a':1}}},\
        {'functionCall':{'id':'7','name':'t'}}]}",
    );
    let calls = calls(&functions, &content).unwrap();
    assert_eq!((calls[0].id.as_deref(), calls[1].id.as_deref()), (None, Some("7")));
    assert_eq!(calls[0].request.as_ref().unwrap().arguments.get(), "{\"a\":1}");
    assert_eq!(calls[1].request.as_ref().unwrap().arguments.get(), "{}");
    let error = super::google::calls(&functions, &json("{'parts':[{'functionCall':7}]}")).unwrap_err();
    assert!(error.to_string().starts_with("content"), "{error}");
}

/// TOOL-34
#[test]
fn results_reach_the_model() {
    let functions = one("{}");
    let content = json("{'parts':[{'functionCall':{'name':'t'}},{'functionCall':{'id':'7','name':'t'}}]}");
    let calls = calls(&functions, &content).unwrap();
    let shown = CallToolResult::new(vec![ContentBlock::text("see"), picture()]);
    let failed = CallToolResult::error("no tea left");
    assert_eq!(
        results([(&calls[0], &shown), (&calls[1], &failed)]).get().replace('"', "'"),
        "{'role':'user','parts':[{'functionResponse':{'name':'t','response':{'output':'see'}}},\
        {'functionResponse':{'id':'7','name':'t','response':{'error':'no tea left'}}},\
        {'inlineData':{'mimeType':'image/png','data':'aW1n'}}]}"
    );
}
