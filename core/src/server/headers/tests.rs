use super::*;
use crate::server::Tools;
use crate::server::testing::{REGION, tool};

fn head(fields: &[(&str, &str)]) -> Headers {
    fields.iter().fold(Headers::new(), |headers, (name, value)| headers.with(name, value))
}

/// B38, HDR-10, HDR-12 to HDR-14, HDR-39 to HDR-41
#[test]
fn the_name_is_compared_decoded_and_trimmed() {
    for (value, name, agrees) in [
        ("a", "a", true),
        ("\t a ", "a", true),
        ("b", "a", false),
        ("A", "a", false),
        ("=?base64?YQ==?=", "a", true),
        ("=?base64?w6k=?=", "é", true),
        ("=?base64?YQ?=", "a", false),
        ("=?base64?@@?=", "a", false),
        ("=?BASE64?YQ==?=", "a", false),
        ("=?BASE64?YQ==?=", "=?BASE64?YQ==?=", true),
        ("=?base64?YQ==", "=?base64?YQ==", true),
        ("é", "é", false),
        ("", "", true),
    ] {
        let checked = check_name(&head(&[("mcp-NAME", value)]), name);
        assert_eq!(checked.is_ok(), agrees, "{value} {name}");
        if let Err(refusal) = checked {
            assert_eq!((refusal.code, refusal.status(Era::Modern)), (-32020, 400));
        }
    }
    assert_eq!(check_name(&head(&[]), "a").unwrap_err().message, "the `Mcp-Name` header is missing");
    assert!(check_name(&head(&[("Mcp-Name", "a"), ("mcp-name", "a")]), "a").is_err());
}

/// HDR-03, HDR-05, HDR-10, HDR-13
#[test]
fn version_and_method_are_compared_to_the_letter() {
    assert!(check_method(&head(&[("MCP-METHOD", " tools/list ")]), "tools/list").is_ok());
    assert!(check_method(&head(&[("Mcp-Method", "TOOLS/LIST")]), "tools/list").is_err());
    assert!(check_method(&head(&[("Mcp-Method", "tools/list\u{7f}")]), "tools/list").is_err());
    assert!(check_method(&head(&[]), "tools/list").is_err());
    assert!(check_version(&head(&[("mcp-protocol-version", "2026-07-28")]), "2026-07-28").is_ok());
    assert!(check_version(&head(&[("mcp-protocol-version", "2026-07-28")]), "2025-11-25").is_err());
}

/// HDR-23, HDR-42 to HDR-48
#[test]
fn mirrored_parameters_are_compared_by_value() {
    let mut tools = Tools::new();
    let entry = tools.insert(tool("t", REGION)).unwrap();
    for (fields, arguments, agrees) in [
        (&[][..], "{}", true),
        (&[], r#"{"region":null}"#, true),
        (&[("mcp-param-region", "us")], r#"{"region":"us"}"#, true),
        (&[("mcp-param-region", "us")], r#"{"r\u0065gion":"u\u0073"}"#, true),
        (&[("mcp-param-region", "=?base64?SGVsbG8=?=")], r#"{"region":"Hello"}"#, true),
        (&[("mcp-param-region", "=?base64?SGVsbG8?=")], r#"{"region":"Hello"}"#, false),
        (&[("mcp-param-region", "=?base64?SGVs!!!bG8=?=")], r#"{"region":"Hello"}"#, false),
        (&[("mcp-param-region", "SGVsbG8=")], r#"{"region":"SGVsbG8="}"#, true),
        (&[("mcp-param-region", "=?base64?SGVsbG8=")], r#"{"region":"=?base64?SGVsbG8="}"#, true),
        (&[("mcp-param-region", "")], r#"{"region":""}"#, true),
        (&[], r#"{"region":"us"}"#, false),
        (&[("mcp-param-region", "us")], "{}", false),
        (&[("mcp-param-region", "null")], r#"{"region":null}"#, false),
        (&[("mcp-param-region", "eu")], r#"{"region":"us"}"#, false),
        (&[("mcp-param-bay", "3")], r#"{"bay":3}"#, true),
        (&[("mcp-param-bay", "3.0")], r#"{"bay":3}"#, true),
        (&[("mcp-param-bay", "42")], r#"{"bay":42.0}"#, true),
        (&[("mcp-param-bay", "4")], r#"{"bay":3}"#, false),
        (&[("mcp-param-bay", "inf")], r#"{"bay":3}"#, false),
        (&[("mcp-param-bay", "9007199254740991")], r#"{"bay":9007199254740991}"#, true),
        (&[("mcp-param-bay", "9007199254740992")], r#"{"bay":9007199254740992}"#, false),
        (&[("mcp-param-rush", "true")], r#"{"rush":true}"#, true),
        (&[("mcp-param-rush", "True")], r#"{"rush":true}"#, false),
        // Of another type than declared: left to whoever validates the arguments.
        (&[], r#"{"region":7}"#, true),
        (&[("mcp-param-region", "7")], r#"{"region":7}"#, false),
        (&[("mcp-param-unknown", "\u{7f}")], "{}", true),
        // Not allowed in a header, although the body says the same.
        (&[("mcp-param-region", "\u{e9}")], r#"{"region":"\u00e9"}"#, false),
        (&[("mcp-param-region", "a\u{7f}")], r#"{"region":"a\u007f"}"#, false),
        (&[("mcp-param-region", "a\u{1}b")], r#"{"region":"a\u0001b"}"#, false),
    ] {
        let checked = check_mirrored(&head(fields), entry, arguments);
        assert_eq!(checked.is_ok(), agrees, "{fields:?} {arguments}");
    }
}
