use super::*;
use crate::model::prompts::PromptArgument;
use alloc::vec;

fn required(name: &str) -> PromptArgument {
    PromptArgument::new(name).required(true)
}

/// PROMPT-05
#[test]
fn names_are_present_and_unique() {
    let mut prompts = Prompts::new();
    assert!(prompts.insert(Prompt::new("")).is_err());
    let nameless = Prompt::new("p").arguments(vec![PromptArgument::new("")]);
    assert!(prompts.insert(nameless).unwrap_err().message.contains("`p`"));
    let twice = Prompt::new("p").arguments(vec![PromptArgument::new("a"), required("a")]);
    assert!(prompts.insert(twice).unwrap_err().message.contains("`a`"));
    prompts.insert(Prompt::new("p")).unwrap();
    assert!(prompts.insert(Prompt::new("p")).unwrap_err().message.contains("prompt `p` already"));
}

/// PROMPT-06, PROMPT-13, PROMPT-14
#[test]
fn arguments_are_strings_and_the_required_ones_are_there() {
    let arguments = vec![required("a"), PromptArgument::new("b"), required("c")];
    let entry = PromptEntry::new(Prompt::new("p").arguments(arguments), &Limits::default()).unwrap();
    let check = |text: &str| {
        let raw: Option<&RawValue> = serde_json::from_str(text).unwrap();
        entry.check_arguments(raw).map_err(|refusal| (refusal.code, refusal.message.into_owned()))
    };
    let refused = |message: &str| Err((code::INVALID_PARAMS, String::from(message)));
    assert_eq!(check(r#"{"a":"1","c":""}"#), Ok(()));
    assert_eq!(check(r#"{"\u0061":"\n","b":"2","c":"3","other":"4"}"#), Ok(()));
    assert_eq!(check("null"), refused("params.arguments: missing `a`, `c`"));
    assert_eq!(check("{}"), refused("params.arguments: missing `a`, `c`"));
    assert_eq!(check(r#"{"a":"1"}"#), refused("params.arguments: missing `c`"));
    assert_eq!(check(r#"{"a":1,"c":""}"#), refused("params.arguments.a: expected a string, found a number"));
    assert_eq!(check(r#"{"a":null,"c":""}"#), refused("params.arguments.a: expected a string, found null"));
    assert_eq!(check("[]"), refused("params.arguments: expected an object, found an array"));
}
