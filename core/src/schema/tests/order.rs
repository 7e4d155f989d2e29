//! Whether a schema is in order. All of this is looked at without the feature `jsonschema`, too.

use super::*;

/// SCHEMA-01, SCHEMA-02, SCHEMA-03
#[test]
fn a_schema_is_2020_12_unless_it_names_another_supported_dialect() {
    for (named, dialect) in [
        (r"{}", Dialect::Draft2020),
        (r#"{"$schema":"https://json-schema.org/draft/2020-12/schema"}"#, Dialect::Draft2020),
        (r#"{"$schema":"https://json-schema.org/draft/2020-12/schema#"}"#, Dialect::Draft2020),
        (r#"{"$schema":"https://json-schema.org/draft/2019-09/schema"}"#, Dialect::Draft2019),
        (r#"{"$schema":"http://json-schema.org/draft-07/schema#"}"#, Dialect::Draft7),
        (r#"{"$schema":"http://json-schema.org/draft-07/schema"}"#, Dialect::Draft7),
    ] {
        assert_eq!(schema(named).dialect(), dialect, "{named}");
    }
}

/// SCHEMA-05, B58: the error names the dialect and those that would do.
#[test]
fn an_unsupported_dialect_is_refused_by_name() {
    let error = refused(r#"{"$schema":"http://json-schema.org/draft-04/schema#"}"#);
    assert_eq!(
        error,
        "at `/$schema`: the dialect `http://json-schema.org/draft-04/schema` is not supported; those that are: \
         2020-12, 2019-09 and draft-07"
    );
    for other in [r#""""#, r#""https://example.com/mine""#, "7", "null"] {
        refused(&format!(r#"{{"$schema":{other}}}"#));
    }
    // A part of a document may not change its language.
    refused(r#"{"$defs":{"a":{"$id":"urn:a","$schema":"http://json-schema.org/draft-07/schema#"}}}"#);
}

/// SCHEMA-12, SCHEMA-14, SCHEMA-16, B58: nothing is fetched, and nothing passes unchecked.
#[test]
fn a_reference_to_another_document_is_refused() {
    for uri in ["https://schemas.example/x.json", "file:///etc/passwd", "other.json", "http://127.0.0.1/#/a"]
    {
        let error = refused(&format!(r#"{{"properties":{{"a":{{"$ref":"{uri}"}}}}}}"#));
        assert!(
            error.starts_with("at `/properties/a/$ref`") && error.contains("another document"),
            "{error}"
        );
    }
    assert!(refused(r#"{"$dynamicRef":"https://schemas.example/#meta"}"#).contains("another document"));
    let recursive = r#"{"$schema":"https://json-schema.org/draft/2019-09/schema","$recursiveRef":"x#"}"#;
    assert!(refused(recursive).contains("another document"));
}

/// SCHEMA-09, SCHEMA-11: what only looks like a reference is none.
#[test]
fn data_and_unknown_keywords_may_say_what_they_like() {
    schema(r#"{"const":{"$ref":"https://a.example/"},"enum":[{"$ref":"b"}],"default":{"$schema":"c"}}"#);
    schema(r#"{"examples":[{"$ref":"d"}],"x-mine":{"$ref":"e","type":5}}"#);
    schema(r#"{"type":"object","properties":{"$ref":{"type":"string"},"$schema":{"type":"string"}}}"#);
}

/// SCHEMA-09
#[test]
fn references_within_the_document_lead_to_places_and_anchors() {
    schema(r##"{"$ref":"#/$defs/a~1b%25","$defs":{"a/b%":{}}}"##);
    schema(r##"{"$ref":"#here","$defs":{"a":{"$anchor":"here"}}}"##);
    schema(r##"{"properties":{"child":{"$ref":"#"}}}"##);
    schema(r##"{"properties":{"child":{"$dynamicRef":"#node"}},"$dynamicAnchor":"node"}"##);
    schema(r##"{"$ref":"#/x-parts/0","x-parts":[{"type":"object"}]}"##);
    for nowhere in ["#/$defs/b", "#there", "#/a/%zz", "#/$defs/a/0"] {
        let text = format!(r#"{{"$ref":"{nowhere}","$defs":{{"a":{{}}}}}}"#);
        assert!(refused(&text).contains("leads nowhere"), "{nowhere}");
    }
}

/// SCHEMA-07: with the place of the mistake.
#[test]
fn a_schema_that_is_not_valid_is_refused_with_its_path_and_reason() {
    for (text, error) in [
        ("5", "at its root: expected a schema, found a number"),
        (r#"{"type":"strnig"}"#, "at `/type`: there is no type `strnig`"),
        (r#"{"type":[]}"#, "at `/type`: expected the name of a type, or a list of such"),
        (r#"{"type":["null","null"]}"#, "at `/type`: expected different names of types"),
        (r#"{"properties":{"a":{"minimum":"1"}}}"#, "at `/properties/a/minimum`: expected a number"),
        (r#"{"properties":[]}"#, "at `/properties`: expected an object"),
        (r#"{"properties":{"a/b":7}}"#, "at `/properties/a~1b`: expected a schema, found a number"),
        (r#"{"required":"a"}"#, "at `/required`: expected an array of different strings"),
        (r#"{"required":["a","a"]}"#, "at `/required`: expected an array of different strings"),
        (r#"{"maxLength":-1}"#, "at `/maxLength`: expected a whole number that is not negative"),
        (r#"{"minItems":1.5}"#, "at `/minItems`: expected a whole number that is not negative"),
        (r#"{"multipleOf":0}"#, "at `/multipleOf`: expected a number greater than 0"),
        (r#"{"anyOf":[]}"#, "at `/anyOf`: expected at least one schema"),
        (r#"{"oneOf":[true,3]}"#, "at `/oneOf/1`: expected a schema, found a number"),
        (r#"{"items":[true]}"#, "at `/items`: expected a schema, found an array"),
        (r#"{"enum":"a"}"#, "at `/enum`: expected an array"),
        (r#"{"uniqueItems":1}"#, "at `/uniqueItems`: expected a boolean"),
        (r#"{"description":{}}"#, "at `/description`: expected a string, found an object"),
        (r#"{"$anchor":"a b"}"#, "at `/$anchor`: expected letters, digits, `-`, `_` and `.`"),
        (r#"{"type":"object","type":"string"}"#, "at its root: the member `type` occurs twice in an object"),
    ] {
        assert_eq!(refused(text), error, "{text}");
    }
}

/// SCHEMA-04: what a keyword may be depends on the dialect.
#[test]
fn keywords_are_those_of_the_dialect() {
    let named = |uri: &str, rest: &str| format!(r#"{{"$schema":"{uri}",{rest}}}"#);
    let draft7 = "http://json-schema.org/draft-07/schema#";
    let draft2019 = "https://json-schema.org/draft/2019-09/schema";
    schema(&named(draft7, r#""items":[true],"prefixItems":3"#));
    schema(&named(draft2019, r#""items":[true],"$recursiveAnchor":true"#));
    schema(r#"{"prefixItems":[true],"dependencies":3}"#);
    refused(&named(draft7, r#""dependencies":3"#));
    refused(&named(draft2019, r#""$recursiveAnchor":1"#));
    refused(r#"{"prefixItems":3}"#);
}

/// SCHEMA-17: at the bound, and past it by one.
#[test]
fn the_nesting_of_subschemas_is_bounded() {
    let nested = |levels: usize| {
        let inner = levels - 1;
        ["{\"not\":".repeat(inner), "{}".into(), "}".repeat(inner)].concat()
    };
    schema(&nested(64));
    let error = refused(&nested(65));
    assert!(error.contains("nested deeper than 64 levels"), "{error}");
    let limits = Limits { schema_depth: 2, ..Limits::default() };
    assert!(Schema::new(&json(&nested(2)), &limits).is_ok());
    assert!(Schema::new(&json(&nested(3)), &limits).is_err());
}

/// SCHEMA-17
#[test]
fn the_number_of_subschemas_is_bounded() {
    let wide = |count: usize| {
        let parts: std::vec::Vec<_> = (1..count).map(|_| "{}").collect();
        format!(r#"{{"allOf":[{}]}}"#, parts.join(","))
    };
    schema(&wide(4_096));
    let error = refused(&wide(4_097));
    assert!(error.contains("more than 4096 subschemas"), "{error}");
}

/// SCHEMA-17: those that are reached by reference alone count, too.
#[test]
fn subschemas_behind_references_are_bounded() {
    let mut limits = Limits { schemas: 2, ..Limits::default() };
    let text = json(r##"{"$ref":"#/x","x":{"not":{}}}"##);
    assert!(Schema::new(&text, &limits).is_err());
    limits.schemas = 3;
    assert!(Schema::new(&text, &limits).is_ok());
}

/// SCHEMA-17: checking a value would never end.
#[test]
fn a_schema_that_applies_itself_to_the_same_value_is_refused() {
    for text in [
        r##"{"$ref":"#"}"##,
        r##"{"allOf":[{"$ref":"#"}]}"##,
        r##"{"not":{"$ref":"#"}}"##,
        r##"{"if":{"$ref":"#"}}"##,
        r##"{"dependentSchemas":{"a":{"$ref":"#"}}}"##,
        r##"{"$ref":"#/$defs/a","$defs":{"a":{"anyOf":[{"$ref":"#/$defs/b"}]},"b":{"oneOf":[{"$ref":"#/$defs/a"}]}}}"##,
        r##"{"$dynamicRef":"#a","$dynamicAnchor":"a"}"##,
        r##"{"$schema":"https://json-schema.org/draft/2019-09/schema","$recursiveAnchor":true,"$recursiveRef":"#"}"##,
    ] {
        assert!(refused(text).contains("in a circle"), "{text}");
    }
    // One level further in, it is a tree.
    schema(r##"{"items":{"$ref":"#"},"properties":{"a":{"$ref":"#"}},"contains":{"$ref":"#"}}"##);
}

#[test]
fn a_schema_is_stricter_than_types_when_a_value_of_the_type_may_not_fit() {
    for text in [
        r#"{"type":"object","properties":{"a":{"type":["integer","null"]}},"required":["a"]}"#,
        r#"{"type":"object","properties":{"n":{"type":"integer","format":"uint8","minimum":0,"maximum":255}}}"#,
        r#"{"type":"integer","format":"int16","minimum":-32768,"maximum":32767}"#,
        r#"{"type":"integer","format":"uint","minimum":0}"#,
        r##"{"anyOf":[{"$ref":"#/$defs/a"},{"type":"null"}],"$defs":{"a":{"enum":["x","y"]}}}"##,
        r#"{"oneOf":[{"const":"a"},{"type":"object","additionalProperties":false}]}"#,
    ] {
        assert!(!schema(text).is_stricter_than_types(), "{text}");
    }
    for text in [
        r#"{"properties":{"a":{"type":"integer","minimum":1}}}"#,
        r#"{"type":"integer","format":"uint8","minimum":0,"maximum":7}"#,
        r#"{"type":"integer","format":"uint8","minimum":1,"maximum":255}"#,
        r#"{"type":"integer","format":"int64","exclusiveMinimum":-9223372036854775808}"#,
        r#"{"type":"integer","format":"int999","maximum":7}"#,
        r#"{"maxLength":3}"#,
        r#"{"pattern":"a"}"#,
        r#"{"uniqueItems":true}"#,
        r#"{"not":{}}"#,
    ] {
        assert!(schema(text).is_stricter_than_types(), "{text}");
    }
}
