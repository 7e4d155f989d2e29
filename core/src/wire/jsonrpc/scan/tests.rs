use super::*;
use serde::de::IgnoredAny;
use std::format;
use std::string::String;

fn scan(text: &str, depth: usize) -> Result<&str, Broken> {
    let mut cursor = Cursor::new(text, depth);
    let value = cursor.value()?;
    cursor.end()?;
    Ok(value)
}

/// serde_json is the judge of what JSON is.
#[test]
fn agrees_with_serde_json() {
    let values = [
        "0",
        "-0",
        "1",
        "-1",
        "01",
        "-",
        "+1",
        "1.",
        ".5",
        "1.5",
        "1e5",
        "1E+5",
        "1e-05",
        "1e",
        "1e+",
        "--1",
        "0x1",
        "1 2",
        "true",
        "tru",
        "truee",
        "false",
        "null",
        "nul",
        "None",
        "NaN",
        "\"\"",
        "\"a\"",
        "\"",
        "\"\\\"",
        "\"\\\"\"",
        "\"\\u00e9\"",
        "\"\\u00g9\"",
        "\"\\u00\"",
        "\"\\x\"",
        "\"\\/\\b\\f\\n\\r\\t\\\\\"",
        "\"\n\"",
        "\"\u{1}\"",
        "\"\u{7f}\"",
        "\"é😀\"",
        "\"\\ud800\"",
        "'a'",
        "[]",
        "[ ]",
        "[1]",
        "[1,]",
        "[,1]",
        "[,]",
        "[1 2]",
        "[1,2",
        "[",
        "]",
        "[[],[]]",
        "[}",
        "{}",
        "{ }",
        "{]",
        "{\"a\":1}",
        "{\"a\" : 1 , \"b\":2}",
        "{\"a\":1,}",
        "{,}",
        "{\"a\"}",
        "{\"a\":}",
        "{\"a\",1}",
        "{a:1}",
        "{1:1}",
        "{\"a\":1 \"b\":2}",
        "{",
        "{\"a\"",
        "{\"a\":",
        "{\"a\":[{\"b\":{}},[]]}",
        "[{}]]",
        "",
        " ",
        "\u{feff}1",
        "\u{a0}1",
        "/**/1",
        "1//",
        "[1,2]x",
        "{}{}",
        "\t[\r\n1 ]\n",
    ];
    for value in values {
        for text in [String::from(value), format!("[{value}]"), format!("{{\"k\":{value}}}")] {
            let expected = serde_json::from_str::<IgnoredAny>(&text).is_ok();
            assert_eq!(scan(&text, 100).is_ok(), expected, "{text:?}");
        }
    }
}

#[test]
fn value_is_without_the_whitespace_around_it() {
    assert_eq!(scan(" \n{ } ", 1), Ok("{ }"));
}

/// P03: the bound on nesting is reached exactly, and passed by one, across the words of the bit stack.
#[test]
fn depth_is_reached_exactly_and_passed_by_one() {
    for depth in [0, 1, 2, 63, 64, 65, 127, 128, 129, 192, 193, 1000] {
        let nested = |levels: usize| {
            let open: String =
                (0..levels).map(|level| if level % 3 == 0 { "[" } else { "{\"a\":" }).collect();
            let close: String =
                (0..levels).rev().map(|level| if level % 3 == 0 { "]" } else { "}" }).collect();
            format!("{open}1{close}")
        };
        assert!(scan(&nested(depth), depth).is_ok(), "{depth}");
        assert_eq!(scan(&nested(depth + 1), depth), Err(Broken::Deep), "{depth}");
    }
    let siblings = format!("[{}[]]", "[],{},".repeat(1000));
    assert!(scan(&siblings, 2).is_ok(), "siblings do not nest");
}
