use super::*;
use crate::llm::anthropic::{calls, results, tools};

/// SCHEMA-10: a schema is declared as it is, in its order, but for the dialect.
#[test]
fn schemas_are_declared_as_they_are() {
    let schema = "{'type':'object','properties':{'b':{'anyOf':[{'const':1},{'type':'null'}]},\
        'a':{'$ref':'#/$defs/x'}},'required':['b'],'additionalProperties':false,'$defs':{'x':{'not':{'type':'string'}}}}";
    assert_eq!(
        declared(&tools(&one(schema)), &["0"]).replace(" ", ""),
        format!("{{'name':'t','description':'doesit','input_schema':{schema}}}").replace(" ", "")
    );
    assert!(!tools(&one(TREE)).get().contains("$schema"));
}

/// What combines schemas at the root is refused there, so it becomes properties.
#[test]
fn the_root_is_a_plain_object() {
    let said = |schema: &str| declared(&tools(&one(schema)), &["0", "input_schema"]);
    assert_eq!(said("{}"), "{'type':'object','properties':{}}");
    assert_eq!(said("true"), "{'type':'object','properties':{}}");
    assert_eq!(
        said(
            "{'type':'object','properties':{'id':{}},'required':['id'],'anyOf':[{'required':['a']},{'required':['b']}]}"
        ),
        "{'type':'object','properties':{'id':{}},'required':['id']}"
    );
    let forms = "{'oneOf':[\
        {'type':'object','properties':{'op':{'const':'get'},'key':{'type':'string'}},'required':['op','key']},\
        {'$ref':'#/$defs/put'}],'$defs':{'put':{'type':'object','properties':{'op':{'const':'put'},\
        'key':{'type':'string'},'value':{}},'required':['op','key','value']}}}";
    let said = said(forms);
    assert!(said.contains("'op':{'anyOf':[{'const':'get'},{'const':'put'}]}"), "{said}");
    assert!(said.contains("'key':{'type':'string'},'value':{}},'required':['op','key']"), "{said}");
    assert!(said.starts_with("{'type':'object'") && !said.contains("oneOf"), "{said}");
    let all = "{'allOf':[{'properties':{'a':{'type':'string'}},'required':['a']},{'properties':{'b':{}},'required':['b']}],'not':{}}";
    let said = declared(&tools(&one(all)), &["0", "input_schema"]);
    assert_eq!(said, "{'type':'object','properties':{'a':{'type':'string'},'b':{}},'required':['a','b']}");
}

#[test]
fn calls_are_read_and_what_is_none_is_named() {
    let functions = one("{'type':'object'}");
    let said = "[{'type':'text','text':'I call.'},{'type':'tool_use','id':'1','name':'t','input':{'a':[1]}},\
        {'type':'tool_use','id':'2','name':'u','input':{}},{'type':'tool_use','id':'3','name':'t','input':7},\
        {'type':'thinking','thinking':'…'}]";
    let calls = calls(&functions, &json(said)).unwrap();
    let request = calls[0].request.as_ref().unwrap();
    assert_eq!((request.tool.as_str(), request.arguments.get()), ("t", "{\"a\":[1]}"));
    assert_eq!(calls[1].request.as_ref().unwrap_err().to_string(), "there is no function `u`");
    assert!(calls[2].request.as_ref().unwrap_err().to_string().contains("expected an object"));
    assert!(!format!("{calls:?}").contains("[1]"), "arguments are not printed");
    let error = super::anthropic::calls(&functions, &json("[{'type':'tool_use','id':7}]")).unwrap_err();
    assert!(error.to_string().starts_with("content"), "{error}");
}

/// TOOL-34: results reach the model, with what they show, and failures as such.
#[test]
fn results_reach_the_model() {
    let functions = one("{}");
    let said = json(
        "[{'type':'tool_use','id':'1','name':'t','input':{}},{'type':'tool_use','id':'2','name':'t','input':{}}]",
    );
    let calls = calls(&functions, &said).unwrap();
    let shown = CallToolResult::new(vec![ContentBlock::text("see"), picture()]);
    let failed = CallToolResult::error("no tea left");
    let message = results([(&calls[0], &shown), (&calls[1], &failed)]);
    assert_eq!(
        message.get().replace('"', "'"),
        "{'role':'user','content':[\
        {'type':'tool_result','tool_use_id':'1','content':[{'type':'text','text':'see'},\
        {'type':'image','source':{'type':'base64','media_type':'image/png','data':'aW1n'}}]},\
        {'type':'tool_result','tool_use_id':'2','content':[{'type':'text','text':'no tea left'}],'is_error':true}]}"
    );
    // A tool that returns structured content alone, and one that returns nothing.
    let structured = CallToolResult::default().structured_content(json("{'n':1}"));
    assert!(results([(&calls[0], &structured)]).get().contains(r#""text":"{\"n\":1}""#));
    assert!(results([(&calls[0], &CallToolResult::default())]).get().contains(r#""content":[]"#));
}
