use super::*;

#[track_caller]
fn travels_as(text: &str, value: &str) {
    assert_eq!(encode(text), value);
    assert_eq!(decode(value.as_bytes()).unwrap(), text);
}

/// HDR-34: plain text, decimal integers and booleans travel as they are.
#[test]
fn plain_text_is_not_encoded() {
    for text in ["north", "-7", "true", "file:///a/b?c=d#e", "~!@#$%^&*()"] {
        travels_as(text, text);
        assert!(matches!(encode(text), Cow::Borrowed(_)));
    }
}

/// HDR-36: spaces inside stay, and empty text is an empty value.
#[test]
fn inner_spaces_and_empty_text_are_not_encoded() {
    travels_as("two words", "two words");
    travels_as("", "");
}

/// HDR-35: what a header value cannot carry, or would lose, is encoded.
#[test]
fn unsafe_text_is_encoded() {
    travels_as(" padded", "=?base64?IHBhZGRlZA==?=");
    travels_as("padded ", "=?base64?cGFkZGVkIA==?=");
    travels_as("Zürich", "=?base64?WsO8cmljaA==?=");
    travels_as("a\nb", "=?base64?YQpi?=");
    travels_as("a\tb", "=?base64?YQli?=");
    travels_as("\u{7f}", "=?base64?fw==?=");
    travels_as("\0", "=?base64?AA==?=");
}

/// HDR-38: text that reads as encoded is encoded, so that it comes back as itself.
#[test]
fn text_that_looks_encoded_is_encoded() {
    travels_as("=?base64?x?=", "=?base64?PT9iYXNlNjQ/eD89?=");
    travels_as("=?base64??=", "=?base64?PT9iYXNlNjQ/Pz0=?=");
    // The shortest text that starts and ends like one: both markers share their question mark.
    travels_as("=?base64?=", "=?base64?PT9iYXNlNjQ/PQ==?=");
}

/// HDR-37, HDR-41: only the exact markers count.
#[test]
fn other_markers_are_literal_text() {
    for text in ["=?BASE64?YQ==?=", "=?Base64?YQ==?=", "=?base64?YQ==", "base64?YQ==?=", "=?base64?=", "?="] {
        assert_eq!(decode(text.as_bytes()).unwrap(), text);
    }
}

/// HDR-40: alphabet, padding and trailing bits are checked.
#[test]
fn wrong_base64_is_an_error() {
    for inside in ["@@", "YQ", "YQ=", "YQ===", "Y Q==", "YR==", "_-8=", "YQ==YQ==", "="] {
        let value = alloc::format!("=?base64?{inside}?=");
        assert_eq!(decode(value.as_bytes()), Err(InvalidValue::Base64), "{value}");
    }
    assert_eq!(decode(b"=?base64?/w==?="), Err(InvalidValue::Utf8));
    assert_eq!(decode(b"=?base64??=").unwrap(), "");
}

/// HDR-14: whitespace around a value is no part of it.
#[test]
fn surrounding_whitespace_is_trimmed() {
    assert_eq!(decode(b"\t a ").unwrap(), "a");
    assert_eq!(decode(b" =?base64?YQ==?=\t").unwrap(), "a");
}

/// HDR-42: a character that no header value may hold is an error, literal or not.
#[test]
fn illegal_characters_are_an_error() {
    for value in [&b"a\nb"[..], b"a\0", b"\x7f", "Zürich".as_bytes(), b"\xff", b"=?base64?Y\nQ==?="] {
        assert_eq!(decode(value), Err(InvalidValue::Character), "{value:?}");
    }
}

/// HDR-19, HDR-20: an annotation is a token.
#[test]
fn tokens_are_told_from_other_text() {
    for text in ["Region", "a", "x-1", "!#$%&'*+-.^_`|~09azAZ"] {
        assert!(is_token(text), "{text}");
    }
    for text in ["", "a b", "a:b", "é", "a\t", "a\r\n", "(a)", "a/b", "a=b", "\"a\"", "\u{7f}"] {
        assert!(!is_token(text), "{text}");
    }
}
