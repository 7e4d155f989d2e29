//! `application/x-www-form-urlencoded`: the bodies of token requests, and queries.
//!
//! <https://url.spec.whatwg.org/#application/x-www-form-urlencoded>

use alloc::string::String;
use alloc::vec::Vec;

/// The text with everything escaped but letters, digits and `*-._`; a space becomes `+`.
pub(super) fn encode(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for byte in text.bytes() {
        match byte {
            b' ' => out.push('+'),
            byte if byte.is_ascii_alphanumeric() || b"*-._".contains(&byte) => out.push(byte.into()),
            byte => {
                out.push('%');
                for digit in [byte >> 4, byte & 15] {
                    out.push(char::from_digit(digit.into(), 16).unwrap_or_default().to_ascii_uppercase());
                }
            }
        }
    }
    out
}

/// Pairs as the body of a request.
pub(super) fn body<'a>(pairs: impl IntoIterator<Item = (&'a str, &'a str)>) -> String {
    let mut out = String::new();
    for (name, value) in pairs {
        if !out.is_empty() {
            out.push('&');
        }
        out.push_str(&encode(name));
        out.push('=');
        out.push_str(&encode(value));
    }
    out
}

/// The same as a query: `%20` is a space to everybody, `+` only to some.
pub(super) fn query<'a>(pairs: impl IntoIterator<Item = (&'a str, &'a str)>) -> String {
    body(pairs).replace('+', "%20")
}

/// The pairs of a query. `None` when something is escaped wrongly, or is no UTF-8.
pub(super) fn decode(text: &str) -> Option<Vec<(String, String)>> {
    let pairs = text.split('&').filter(|pair| !pair.is_empty());
    pairs
        .map(|pair| {
            let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
            Some((unescape(name)?, unescape(value)?))
        })
        .collect()
}

fn unescape(text: &str) -> Option<String> {
    let mut out = Vec::with_capacity(text.len());
    let mut bytes = text.bytes();
    let hex = |byte: Option<u8>| char::from(byte?).to_digit(16);
    while let Some(byte) = bytes.next() {
        out.push(match byte {
            b'+' => b' ',
            b'%' => u8::try_from((hex(bytes.next())? << 4) | hex(bytes.next())?).ok()?,
            byte => byte,
        });
    }
    String::from_utf8(out).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// B77: RFC 6749, 2.3.1, names this encoding for credentials, too.
    #[test]
    fn text_is_escaped_and_read_back() {
        assert_eq!(encode("a b:c"), "a+b%3Ac");
        assert_eq!(encode("p%+/="), "p%25%2B%2F%3D");
        assert_eq!(query([("a b", "c d"), ("e", "+")]), "a%20b=c%20d&e=%2B");
        let text = "\u{e9}& =+%\n";
        assert_eq!(decode(&body([("k", text)])), Some(alloc::vec![("k".into(), text.into())]));
    }

    #[test]
    fn what_is_escaped_wrongly_is_not_read() {
        for text in ["a=%", "a=%2", "a=%zz", "a=%+1", "a=%ff", "%=a"] {
            assert_eq!(decode(text), None, "{text}");
        }
        assert_eq!(decode("a&&b=").map(|pairs| pairs.len()), Some(2));
    }
}
