use super::*;
use crate::llm::openai::{
    Strict, chat_calls, chat_results, chat_tools, responses_calls, responses_results, responses_tools,
};

#[test]
fn functions_are_declared_to_both_apis() {
    let functions = one("{'type':'object','properties':{'a':{'type':'array'}}}");
    let parameters = "{'type':'object','properties':{'a':{'type':'array','items':{}}}}";
    assert_eq!(
        declared(&chat_tools(&functions, Strict::Off), &["0"]),
        format!(
            "{{'type':'function','function':{{'name':'t','description':'does it','parameters':{parameters},'strict':false}}}}"
        )
    );
    assert_eq!(
        declared(&responses_tools(&functions, Strict::Off), &["0"]),
        format!(
            "{{'type':'function','name':'t','description':'does it','parameters':{parameters},'strict':false}}"
        )
    );
}

fn strictly(schema: &str) -> String {
    declared(&chat_tools(&one(schema), Strict::WherePossible), &["0", "function"])
}

/// In strict mode every property is required, and those that may be left out may be `null`.
#[test]
fn strict_schemas_require_everything() {
    let said = strictly(
        "{'type':'object','properties':{'a':{'type':'string','minLength':1,'format':'uri','default':'x'},\
        'b':{'type':'integer','minimum':1},'c':{'enum':['x','y']},'d':{'anyOf':[{'type':'string'},{'type':'number'}]},\
        'e':{'type':['string','null']}},'required':['a']}",
    );
    assert!(said.ends_with("'strict':true}"), "{said}");
    let properties = "'a':{'type':'string'},'b':{'type':['integer','null'],'minimum':1},\
        'c':{'anyOf':[{'enum':['x','y']},{'type':'null'}]},\
        'd':{'anyOf':[{'type':'string'},{'type':'number'},{'type':'null'}]},'e':{'type':['string','null']}";
    assert!(
        said.contains(&format!(
            "{{'type':'object','properties':{{{properties}}},'required':['a','b','c','d','e'],'additionalProperties':false}}"
        )),
        "{said}"
    );
    let said = strictly(TREE);
    assert!(said.contains("'strict':true") && said.contains("'items':{'$ref':'#/$defs/node'}"), "{said}");
}

/// A schema that strict mode would make forbid what it allows is declared as it is.
#[test]
fn schemas_that_cannot_be_strict_are_not() {
    for schema in [
        "{'properties':{'map':{'type':'object','additionalProperties':{'type':'string'}}}}",
        "{'properties':{'map':{'type':'object'}}}",
        "{'properties':{'any':{}}}",
        "{'properties':{'any':true}}",
        "{'properties':{'list':{'type':'array'}}}",
        "{'properties':{'pair':{'type':'array','prefixItems':[{'type':'string'}],'items':{'type':'string'}}}}",
        "{'properties':{'a':{'allOf':[{'type':'string'},{'type':'string'}]}}}",
        "{'patternProperties':{'^x':{'type':'string'}}}",
    ] {
        let said = strictly(schema);
        assert!(said.ends_with("'strict':false}"), "{schema}: {said}");
    }
    assert!(strictly("{}").ends_with("'strict':true}"));
}

/// What a model has to say about properties that it leaves out is no argument.
#[test]
fn nulls_of_optional_properties_are_left_out() {
    let functions = one(
        "{'type':'object','properties':{'a':{'type':'string'},'b':{'type':['string','null']},'c':{'type':'string'},\
        'inner':{'$ref':'#/$defs/inner'},'list':{'type':'array','items':{'$ref':'#/$defs/inner'}},'any':{}},\
        'required':['c'],'$defs':{'inner':{'type':'object','properties':{'x':{'enum':[1]},'y':{'anyOf':[{'type':'null'},{'type':'string'}]}}}}}",
    );
    let call = |arguments: &str| {
        let message = json("{'role':'assistant','content':null,'tool_calls':[{'id':'1','type':'function','function':{'name':'t','arguments':@}}]}".replace('@', &serde_json::to_string(arguments).unwrap().replace('"', "'").replace("\\'", "\\\"")).as_str());
        chat_calls(&functions, &message).unwrap().remove(0).request
    };
    let arguments = r#"{"a":null,"b":null,"c":null,"inner":{"x":null,"y":null},"list":[{"x":null}],"any":null,"more":null}"#;
    assert_eq!(
        call(arguments).unwrap().arguments.get(),
        r#"{"b":null,"c":null,"inner":{"y":null},"list":[{}],"any":null,"more":null}"#
    );
    assert_eq!(call("").unwrap().arguments.get(), "{}");
    let error = call("{\"secret\":").unwrap_err().to_string();
    assert!(error.starts_with("arguments: expected JSON") && !error.contains("secret"), "{error}");
}

#[test]
fn calls_are_read_from_both_apis() {
    let functions = one("{}");
    let none = json("{'role':'assistant','content':'Hello.'}");
    assert!(chat_calls(&functions, &none).unwrap().is_empty());
    assert!(
        chat_calls(&functions, &json("{'tool_calls':7}")).unwrap_err().to_string().starts_with("message")
    );
    let output = json(
        "[{'type':'reasoning','id':'r'},{'type':'function_call','id':'f','call_id':'c','name':'t','arguments':'{}'}]",
    );
    let calls = responses_calls(&functions, &output).unwrap();
    assert_eq!((calls.len(), calls[0].id.as_deref()), (1, Some("c")));
    assert!(responses_calls(&functions, &json("{}")).is_err());
}

/// TOOL-34
#[test]
fn results_reach_the_model() {
    let functions = one("{}");
    let output = json(
        "[{'type':'function_call','call_id':'1','name':'t','arguments':'{}'},\
        {'type':'function_call','call_id':'2','name':'t','arguments':'{}'}]",
    );
    let calls = responses_calls(&functions, &output).unwrap();
    let shown = CallToolResult::new(vec![ContentBlock::text("see"), picture()]);
    let failed = CallToolResult::error("no tea left");
    let results = [(&calls[0], &shown), (&calls[1], &failed)];
    assert_eq!(
        chat_results(results).get().replace('"', "'"),
        "[{'role':'tool','tool_call_id':'1','content':'see\\n[picture 1 of the next message]'},\
        {'role':'tool','tool_call_id':'2','content':'The tool failed: no tea left'},\
        {'role':'user','content':[{'type':'image_url','image_url':{'url':'data:image/png;base64,aW1n'}}]}]"
    );
    assert_eq!(
        responses_results(results).get().replace('"', "'"),
        "[{'type':'function_call_output','call_id':'1','output':[{'type':'input_text','text':'see'},\
        {'type':'input_image','image_url':'data:image/png;base64,aW1n'}]},\
        {'type':'function_call_output','call_id':'2','output':'The tool failed: no tea left'}]"
    );
}
