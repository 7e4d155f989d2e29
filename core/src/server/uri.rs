//! As much of URIs as serving resources needs.
//!
//! <https://www.rfc-editor.org/rfc/rfc3986>

use alloc::borrow::Cow;
use alloc::string::String;
use alloc::vec::Vec;

/// Whether `text` can be a URI: a scheme, a colon, and characters that a URI may hold (RES-18, RES-22).
pub(super) fn is_valid(text: &str) -> bool {
    let Some((scheme, rest)) = text.split_once(':') else { return false };
    let mut scheme = scheme.bytes();
    scheme.next().is_some_and(|first| first.is_ascii_alphabetic())
        && scheme.all(|byte| byte.is_ascii_alphanumeric() || b"+-.".contains(&byte))
        && holds_only_allowed(rest)
}

fn holds_only_allowed(text: &str) -> bool {
    let mut bytes = text.bytes();
    while let Some(byte) = bytes.next() {
        let allowed = match byte {
            b'%' => {
                [bytes.next(), bytes.next()].iter().all(|byte| byte.is_some_and(|it| it.is_ascii_hexdigit()))
            }
            byte => byte.is_ascii_alphanumeric() || b"-._~:/?#[]@!$&'()*+,;=".contains(&byte),
        };
        if !allowed {
            return false;
        }
    }
    true
}

/// The text with each `%XX` turned into its byte, once. `None` when that is no UTF-8, or a `%` stands alone.
pub(super) fn decode(text: &str) -> Option<Cow<'_, str>> {
    if !text.contains('%') {
        return Some(Cow::Borrowed(text));
    }
    let mut decoded = Vec::with_capacity(text.len());
    let mut bytes = text.bytes();
    while let Some(byte) = bytes.next() {
        decoded.push(match byte {
            b'%' => hex(bytes.next()?)? << 4 | hex(bytes.next()?)?,
            byte => byte,
        });
    }
    String::from_utf8(decoded).ok().map(Cow::Owned)
}

fn hex(digit: u8) -> Option<u8> {
    match digit {
        b'0'..=b'9' => Some(digit - b'0'),
        b'a'..=b'f' => Some(digit - b'a' + 10),
        b'A'..=b'F' => Some(digit - b'A' + 10),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// RES-18, RES-22, B64
    #[test]
    fn a_uri_has_a_scheme_and_no_foreign_characters() {
        for uri in ["test://static-text", "file:///a%20b", "urn:isbn:0", "x-y.z+1:", "mailto:a@b?c=d#e"] {
            assert!(is_valid(uri), "{uri}");
        }
        for text in [
            "",
            "::not a uri",
            "a",
            ":a",
            "1a:b",
            "a b:c",
            "a:b c",
            "a:\u{e9}",
            "a:%2",
            "a:%zz",
            "a:\n",
            "a:<b>",
        ] {
            assert!(!is_valid(text), "{text:?}");
        }
    }

    #[test]
    fn escapes_are_decoded_once() {
        assert_eq!(decode("a%2Fb%25").as_deref(), Some("a/b%"));
        assert_eq!(decode("%252e").as_deref(), Some("%2e"));
        assert_eq!(decode("%c3%A9").as_deref(), Some("\u{e9}"));
        assert!(matches!(decode("plain"), Some(Cow::Borrowed("plain"))));
        for wrong in ["%", "%2", "%g0", "%ff"] {
            assert_eq!(decode(wrong), None, "{wrong}");
        }
    }
}
