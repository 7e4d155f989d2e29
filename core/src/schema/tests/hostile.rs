//! Schemas and values made to take long. None of these tests would end if they did.

use super::*;
use std::vec;

/// B58: a time bomb elsewhere.
#[test]
fn a_pattern_takes_time_linear_in_the_text() {
    let bomb = schema(r#"{"pattern":"^(a+)+$"}"#);
    let text = format!("\"{}!\"", "a".repeat(100_000));
    assert!(bomb.check(&text, "v").is_err());
}

/// SCHEMA-17, B58
#[test]
fn a_pattern_that_needs_backtracking_or_too_much_memory_is_refused() {
    for (pattern, reason) in [
        ("^(?!-)", "looks around"),
        ("(?<=a)b", "looks around"),
        (r"(a)\\1", "refers back"),
        (r"(?<n>a)\\k<n>", "refers back"),
        ("((a{100}){100}){100}", "too large"),
        ("(", "no regular expression"),
        ("a{2,1}", "no regular expression"),
        ("[b-a]", "no regular expression"),
        (r"\\u12", "broken escape"),
        (r"\\ud800", "half a surrogate pair"),
    ] {
        let error = refused(&format!(r#"{{"pattern":"{pattern}"}}"#));
        assert!(error.starts_with("at `/pattern`") && error.contains(reason), "{pattern}: {error}");
    }
    refused(&format!(r#"{{"pattern":"{}"}}"#, "(".repeat(100_000)));
}

/// SCHEMA-17: the patterns of one schema have a bound together, which is reached exactly.
#[test]
fn patterns_take_so_much_memory_together() {
    let of = |pattern: &str| format!(r#"{{"pattern":"{pattern}"}}"#);
    let many =
        |pattern: &str, count| json(&format!(r#"{{"allOf":[{}]}}"#, vec![of(pattern); count].join(",")));
    // What is small counts as 32 KiB, the rest as 512 KiB.
    for (pattern, each) in [("a+", 32 << 10), ("(a{100}){20}", 512 << 10)] {
        let limits = Limits { schema_patterns: 3 * each, ..Limits::default() };
        assert!(Schema::new(&many(pattern, 3), &limits).is_ok(), "{pattern}");
        let error = Schema::new(&many(pattern, 4), &limits).expect_err("too many").to_string();
        assert!(error.contains("/allOf/3/pattern") && error.contains("with the others"), "{error}");
    }
}

/// SCHEMA-17: what `oneOf` over a type with a tag makes of a value that nests; elsewhere it doubles at each level.
#[test]
fn a_recursive_type_with_a_tag_is_checked_in_bounded_steps() {
    let tagged = schema(
        r##"{"$ref":"#/$defs/e","$defs":{"e":{"oneOf":[
            {"type":"object","properties":{"arg":{"$ref":"#/$defs/e"},"op":{"const":"not"}},"required":["op","arg"]},
            {"type":"object","properties":{"arg":{"$ref":"#/$defs/e"},"op":{"const":"neg"}},"required":["op","arg"]},
            {"type":"number"}]}}}"##,
    );
    let nested =
        |levels: usize| [r#"{"op":"neg","arg":"#.repeat(levels), "1".into(), "}".repeat(levels)].concat();
    assert_eq!(tagged.check(&nested(8), "v"), Ok(()));
    let error = tagged.check(&nested(100), "v").expect_err("given up").to_string();
    assert_eq!(error, "v: this takes more steps to check than are allowed");
}

/// SCHEMA-17: to note which elements were looked at costs the more the more there are, for each form that is tried.
#[test]
fn notes_of_what_was_looked_at_count_as_steps() {
    let forms = |level: usize| {
        let next = format!(r##"{{"$ref":"#/$defs/l{}"}}"##, level + 1);
        format!(r#""l{level}":{{"anyOf":[{next},{next}]}}"#)
    };
    let forms: Vec<String> = (0..14).map(forms).collect();
    let noted = schema(&format!(
        r##"{{"$ref":"#/$defs/l0","unevaluatedItems":{{"type":"number"}},"$defs":{{{},"l14":{{"type":"array"}}}}}}"##,
        forms.join(",")
    ));
    let list = |length: usize| format!("[{}]", ["0"].repeat(length).join(","));
    assert_eq!(noted.check(&list(100), "v"), Ok(()));
    let error = noted.check(&list(10_000), "v").expect_err("given up").to_string();
    assert_eq!(error, "v: this takes more steps to check than are allowed");
}

/// SCHEMA-17: nothing fits because looking at it was given up.
#[test]
fn what_was_given_up_does_not_count_as_fitting() {
    let guarded = schema(
        r##"{"if":{"$ref":"#/$defs/e"},"then":{"required":["approved"]},"$defs":{"e":{"oneOf":[
            {"type":"object","properties":{"arg":{"$ref":"#/$defs/e"},"op":{"const":"not"}},"required":["op","arg"]},
            {"type":"object","properties":{"arg":{"$ref":"#/$defs/e"},"op":{"const":"neg"}},"required":["op","arg"]},
            {"type":"number"}]}}}"##,
    );
    let nested =
        |levels: usize| [r#"{"op":"neg","arg":"#.repeat(levels), "1".into(), "}".repeat(levels)].concat();
    assert!(guarded.check(&nested(8), "v").is_err());
    assert!(guarded.check(&nested(100), "v").is_err());
}

/// SCHEMA-17: a billion laughs.
#[test]
fn references_that_double_again_and_again_are_checked_in_bounded_steps() {
    let doubled = |index: usize| {
        let next = index + 1;
        format!(r##""a{index}":{{"allOf":[{{"$ref":"#/$defs/a{next}"}},{{"$ref":"#/$defs/a{next}"}}]}}"##)
    };
    let defs: std::vec::Vec<_> = (0..60).map(doubled).collect();
    let text =
        format!(r##"{{"$ref":"#/$defs/a0","$defs":{{{},"a60":{{"type":"object"}}}}}}"##, defs.join(","));
    let error = schema(&text).check("{}", "v").expect_err("given up").to_string();
    assert!(error.contains("more steps"), "{error}");
}

/// SCHEMA-17: exactly as many steps as are allowed.
#[test]
fn steps_are_bounded_exactly() {
    let mut limits = Limits::default();
    let text = json(r#"{"allOf":[{"type":"number"},{"type":"number"}]}"#);
    // Three subschemas, and the step that must remain; one byte allows 16.
    limits.schema_steps = 0;
    assert!(Schema::new(&text, &limits).unwrap().check("1", "v").is_ok());
    let wide = json(&format!(r#"{{"allOf":[{}]}}"#, ["true"; 15].join(",")));
    assert!(Schema::new(&wide, &limits).unwrap().check("1", "v").is_err());
    limits.schema_steps = 1;
    assert!(Schema::new(&wide, &limits).unwrap().check("1", "v").is_ok());
}

/// SCHEMA-17: a chain of references as long as a schema can be, on the stack of a thread.
#[test]
fn a_long_chain_of_references_does_not_overflow_the_stack() {
    let link = |index: usize| format!(r##""a{index}":{{"$ref":"#/$defs/a{}"}}"##, index + 1);
    let defs: std::vec::Vec<_> = (0..4_000).map(link).collect();
    let text =
        format!(r##"{{"$ref":"#/$defs/a0","$defs":{{{},"a4000":{{"type":"object"}}}}}}"##, defs.join(","));
    let error = schema(&text).check("{}", "v").expect_err("too deep").to_string();
    assert_eq!(error, "v: this is nested too deeply to be checked");
}

/// SCHEMA-17: and so does the deepest value.
#[test]
fn a_value_as_deep_as_messages_go_is_checked() {
    let tree = schema(r##"{"anyOf":[{"type":"array","items":{"$ref":"#"}},{"type":"null"}]}"##);
    let nested = |levels: usize| ["[".repeat(levels), "]".repeat(levels)].concat();
    assert_eq!(tree.check(&nested(128), "v"), Ok(()));
    assert!(tree.check(&nested(129), "v").is_err());
}

/// Huge numbers are numbers.
#[test]
fn numbers_beyond_any_type_are_compared_exactly() {
    let bounded = schema(r#"{"type":"integer","maximum":9007199254740992}"#);
    assert!(bounded.check("9007199254740992", "v").is_ok());
    assert!(bounded.check("9007199254740993", "v").is_err());
    assert!(bounded.check("1e999999999999999999999", "v").is_err());
    assert!(bounded.check("-1e400", "v").is_ok());
    assert!(bounded.check("1e-999999999999999999999", "v").is_err());
    let unit = schema(r#"{"multipleOf":3}"#);
    assert!(unit.check("1e999999999999999999999", "v").is_err());
    assert!(unit.check(&"3".repeat(100_000), "v").is_err());
}
