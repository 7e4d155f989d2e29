//! Whether values fit, and what is said of those that do not.

use super::*;

#[track_caller]
fn fits(text: &str, value: &str) {
    assert_eq!(schema(text).check(value, "v"), Ok(()), "{text} {value}");
}

#[track_caller]
fn fault(text: &str, value: &str) -> String {
    schema(text).check(value, "v").expect_err(text).to_string()
}

/// TOOL-33: the path, what was expected, and what kind of value came.
#[test]
fn a_fault_names_the_path_what_was_expected_and_what_came() {
    for (text, value, expected) in [
        (r#"{"type":"string"}"#, "5", "v: expected a string, found a number"),
        (
            r#"{"type":["integer","null"]}"#,
            "1.5",
            "v: expected an integer or null, found a number with a fraction",
        ),
        (
            r#"{"properties":{"a":{"items":{"type":"number"}}}}"#,
            r#"{"a":[1,true]}"#,
            "v.a[1]: expected a number, found a boolean",
        ),
        (r#"{"required":["a","b"]}"#, r#"{"b":1}"#, "v: the member `a` is missing"),
        (
            r#"{"properties":{"a":{}},"additionalProperties":false}"#,
            r#"{"b":1}"#,
            "v.b: unknown member; known are a",
        ),
        (r#"{"additionalProperties":false}"#, r#"{"b":1}"#, "v.b: unknown member"),
        (
            r#"{"enum":["a","b",3,null]}"#,
            r#""c""#,
            r#"v: expected "a", "b", 3 or null, found another string"#,
        ),
        (r#"{"const":7}"#, "8", "v: expected 7, found another number"),
        (r#"{"const":7}"#, "[]", "v: expected 7, found an array"),
        (r#"{"minimum":1}"#, "0.5", "v: expected at least 1, found less"),
        (r#"{"exclusiveMinimum":1}"#, "1.0", "v: expected more than 1"),
        (r#"{"maximum":-2.5}"#, "0", "v: expected at most -2.5, found more"),
        (r#"{"exclusiveMaximum":1}"#, "1", "v: expected less than 1"),
        (r#"{"multipleOf":0.01}"#, "0.015", "v: expected a multiple of 0.01"),
        (r#"{"minLength":2}"#, r#""é""#, "v: expected at least 2 characters, found 1"),
        (r#"{"maxLength":1}"#, r#""ab""#, "v: expected at most 1 character, found 2"),
        (r#"{"pattern":"^a+$"}"#, r#""b""#, "v: expected a string that matches the pattern ^a+$"),
        (r#"{"minItems":2}"#, "[1]", "v: expected at least 2 elements, found 1"),
        (r#"{"uniqueItems":true}"#, "[1,2,1.0]", "v: expected no element twice"),
        (
            r#"{"contains":{"const":1},"minContains":2}"#,
            "[1]",
            "v: expected at least 2 elements of a certain form, found 1",
        ),
        (r#"{"maxProperties":0}"#, r#"{"a":1}"#, "v: expected at most 0 members, found 1"),
        (
            r#"{"propertyNames":{"maxLength":1}}"#,
            r#"{"ab":1}"#,
            "v.ab: the name of this member is not allowed",
        ),
        (
            r#"{"dependentRequired":{"a":["b"]}}"#,
            r#"{"a":1}"#,
            "v: the member `b` is missing, which `a` needs",
        ),
        (r#"{"not":{"type":"null"}}"#, "null", "v: of a form that is excluded"),
        (
            r#"{"oneOf":[{"minimum":1},{"minimum":2}]}"#,
            "3",
            "v: fits several of the forms of which it may fit only one",
        ),
        (r#"{"unevaluatedProperties":false}"#, r#"{"a":1}"#, "v.a: not allowed"),
        ("false", "1", "v: not allowed"),
    ] {
        assert_eq!(fault(text, value), expected, "{text} {value}");
    }
}

/// TOOL-33: of several forms, the one that was meant is the one to tell about.
#[test]
fn a_fault_in_one_of_several_forms_is_told_of_the_form_that_was_meant() {
    let optional = r#"{"anyOf":[{"type":"object","required":["a"]},{"type":"null"}]}"#;
    assert_eq!(fault(optional, "{}"), "v: the member `a` is missing");
    assert_eq!(fault(optional, "5"), "v: expected an object or null, found a number");
    let variants = r#"{"oneOf":[
        {"type":"object","properties":{"circle":{"type":"number"}},"required":["circle"],"additionalProperties":false},
        {"type":"object","properties":{"square":{"type":"number"}},"required":["square"],"additionalProperties":false}]}"#;
    assert_eq!(fault(variants, r#"{"square":"1"}"#), "v.square: expected a number, found a string");
    let tagged = r#"{"oneOf":[
        {"type":"object","properties":{"kind":{"const":"circle"},"radius":{"type":"number"}},"required":["kind","radius"]},
        {"type":"object","properties":{"kind":{"const":"square"},"side":{"type":"number"}},"required":["kind","side"]}]}"#;
    assert_eq!(fault(tagged, r#"{"kind":"square","side":"1"}"#), "v.side: expected a number, found a string");
    assert_eq!(fault(tagged, r#"{"kind":"oval"}"#), "v: fits none of the 2 forms that are allowed");
}

/// TOOL-33: as much as a model can use, and no more.
#[test]
fn faults_are_bounded_in_number_and_length_and_repeat_no_values() {
    let strings = r#"{"type":"array","items":{"type":"string"}}"#;
    let many = format!("[{}1]", "1,".repeat(10_000));
    let text = fault(strings, &many);
    assert_eq!(text.lines().count(), 11);
    assert!(text.ends_with("… and more"));
    let exactly = format!("[{}1]", "1,".repeat(9));
    assert_eq!(fault(strings, &exactly).lines().count(), 10);
    let secret = "hunter2".repeat(1_000);
    let text = fault(r#"{"enum":["a"],"minLength":100000,"pattern":"z"}"#, &format!("\"{secret}\""));
    assert!(!text.contains("hunter2"), "{text}");
    let long = fault(r#"{"additionalProperties":false}"#, &format!(r#"{{"{}":1}}"#, "é".repeat(10_000)));
    assert!(long.chars().count() < 300, "{long}");
}

/// SCHEMA-04: the same keyword, judged by the dialect.
#[test]
fn a_value_is_checked_in_the_dialect_of_its_schema() {
    let beside = |uri: &str| {
        format!(
            r##"{{"$schema":"{uri}","properties":{{"a":{{"$ref":"#/definitions/b","maximum":1}}}},"definitions":{{"b":{{}}}}}}"##
        )
    };
    // In draft-07, what stands beside a reference does not count.
    fits(&beside("http://json-schema.org/draft-07/schema#"), r#"{"a":5}"#);
    fault(&beside("https://json-schema.org/draft/2019-09/schema"), r#"{"a":5}"#);
    let tuple = r#"{"$schema":"http://json-schema.org/draft-07/schema#","items":[{"type":"string"}],"additionalItems":false}"#;
    fits(tuple, r#"["a"]"#);
    fault(tuple, r#"["a",1]"#);
    let tuple = r#"{"prefixItems":[{"type":"string"}],"items":false}"#;
    fits(tuple, r#"["a"]"#);
    fault(tuple, r#"["a",1]"#);
}

/// SCHEMA-09
#[test]
fn composition_conditions_and_references_hold() {
    let conditional = r#"{"if":{"properties":{"a":{"const":1}},"required":["a"]},"then":{"required":["b"]},"else":{"required":["c"]}}"#;
    fits(conditional, r#"{"a":1,"b":0}"#);
    fits(conditional, r#"{"a":2,"c":0}"#);
    fault(conditional, r#"{"a":1,"c":0}"#);
    fault(conditional, r#"{"b":0}"#);
    let tree = r##"{"$defs":{"n":{"type":"object","properties":{"v":{"type":"integer"},"c":{"type":"array","items":{"$ref":"#/$defs/n"}}},"required":["v"]}},"$ref":"#/$defs/n"}"##;
    fits(tree, r#"{"v":1,"c":[{"v":2,"c":[]}]}"#);
    assert_eq!(
        fault(tree, r#"{"v":1,"c":[{"v":2,"c":[{"v":"x"}]}]}"#),
        "v.c[0].c[0].v: expected an integer, found a string"
    );
    let closed = r#"{"allOf":[{"properties":{"a":true}}],"anyOf":[{"properties":{"b":{"type":"string"}},"required":["b"]},true],"unevaluatedProperties":false}"#;
    fits(closed, r#"{"a":1,"b":"x"}"#);
    assert_eq!(fault(closed, r#"{"a":1,"b":2}"#), "v.b: not allowed");
}

/// Formats describe.
#[test]
fn formats_are_not_checked() {
    fits(r#"{"format":"email"}"#, r#""no address""#);
    fits(r#"{"format":"date-time","contentEncoding":"base64"}"#, r#""?""#);
}

/// Whoever reads it later might see the other one.
#[test]
fn a_member_that_occurs_twice_fits_nothing() {
    assert_eq!(fault("{}", r#"{"a":1,"\u0061":2}"#), "v: the member `a` occurs twice in an object");
    assert_eq!(fault("{}", r#""\ud800""#), "v: a string holds half a character");
}

/// Patterns mean what they mean in JSON Schema, which is ECMA-262.
#[test]
fn patterns_are_those_of_ecma_262() {
    for (pattern, yes, no) in [
        (r"^\\d+$", "12", "١٢"),
        (r"^\\w+$", "a_1", "é"),
        (r"^[\\w-]+$", "a-b", "a b"),
        (r"^\\s$", r"\ufeff", "x"),
        (r"^.$", "a", r"\u2028"),
        (r"^[a-z&&[]+$", "a&[", "]"),
        (r"^\\u00e9\\x41$", "éA", "eA"),
        (r"^\\uD83D\\uDE00$", "😀", "x"),
        (r"^\\cA$", r"\u0001", "A"),
        (r"^(?:a|b){2}$", "ab", "a"),
        (r"^(?<year>[0-9]{4})$", "2026", "26"),
        (r"^[^]$", r"\n", ""),
        (r"\\bcat\\b", "a cat", "concat"),
        (r"^\\p{L}+$", "é", "1"),
        (r"^\\/$", "/", "a"),
        ("b", "abc", "ac"),
    ] {
        let text = format!(r#"{{"pattern":"{pattern}"}}"#);
        fits(&text, &format!("\"{yes}\""));
        fault(&text, &format!("\"{no}\""));
    }
}

/// SCHEMA-01: a part of the document may be referred to by its `$id`, read from where it stands, and so may the whole.
#[test]
fn a_part_of_the_document_is_referred_to_by_its_name() {
    let parts = r#"{"$id":"https://a.example/dir/root.json","$defs":{
        "one":{"$id":"one.json","$defs":{"low":{"$anchor":"low","minimum":5}},"type":"integer"},
        "two":{"$id":"https://b.example/","type":"string"}
    },"properties":{"a":{"$ref":"one.json"},"b":{"$ref":"https://a.example/dir/one.json#low"},
        "c":{"$ref":"https://b.example/"},"d":{"$ref":"root.json#/$defs/one/$defs/low"},"e":{"$ref":""}}}"#;
    let schema = schema(parts);
    for (value, fits) in [
        (r#"{"a":1,"b":5,"c":"x","d":6,"e":{"a":1}}"#, true),
        (r#"{"a":"x"}"#, false),
        (r#"{"b":4}"#, false),
        (r#"{"c":1}"#, false),
        (r#"{"d":4}"#, false),
        (r#"{"e":{"a":"x"}}"#, false),
    ] {
        assert_eq!(schema.check(value, "value").is_ok(), fits, "{value}");
    }
    let elsewhere = r#"{"$defs":{"a":{"$id":"a.json"}},"$ref":"b.json"}"#;
    assert!(refused(elsewhere).contains("another document"));
}
