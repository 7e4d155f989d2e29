//! Text in HTTP header values: `Mcp-Name` and `Mcp-Param-*`.
//!
//! <https://modelcontextprotocol.io/specification/2026-07-28/basic/transports/streamable-http#value-encoding>

use alloc::borrow::Cow;
use alloc::string::String;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use core::fmt;

const PREFIX: &str = "=?base64?";
const SUFFIX: &str = "?=";

/// The header value that stands for `text`: the text itself where that is safe, else `=?base64?...?=`.
///
/// Encoded are texts with anything but visible ASCII and spaces, with spaces at either end, and those that
/// would read as encoded. Integers and booleans are passed in as their JSON text.
pub fn encode(text: &str) -> Cow<'_, str> {
    let is_printable = text.bytes().all(|byte| matches!(byte, b' '..=b'~'));
    let is_padded = text.starts_with(' ') || text.ends_with(' ');
    let looks_encoded = text.starts_with(PREFIX) && text.ends_with(SUFFIX);
    if is_printable && !is_padded && !looks_encoded {
        return Cow::Borrowed(text);
    }
    let mut value = String::with_capacity(PREFIX.len() + text.len().div_ceil(3) * 4 + SUFFIX.len());
    value.push_str(PREFIX);
    STANDARD.encode_string(text, &mut value);
    value.push_str(SUFFIX);
    Cow::Owned(value)
}

/// The text that a header value stands for.
///
/// Spaces and tabs around the value are not part of it (RFC 9110, section 5.5). A value without the exact,
/// lower-case markers is literal text.
///
/// # Errors
///
/// For a character that no header value may hold, and for base64 that is not strictly valid: alphabet,
/// padding and trailing bits as in RFC 4648 section 4, UTF-8 inside. Such a request is answered 400 with
/// code [`HEADER_MISMATCH`](crate::error::code::HEADER_MISMATCH).
pub fn decode(value: &[u8]) -> Result<Cow<'_, str>, InvalidValue> {
    let value = core::str::from_utf8(value).map_err(|_| InvalidValue::Character)?;
    let value = value.trim_matches([' ', '\t']);
    if !value.bytes().all(|byte| matches!(byte, b'\t' | b' '..=b'~')) {
        return Err(InvalidValue::Character);
    }
    let Some(inside) = value.strip_prefix(PREFIX).and_then(|rest| rest.strip_suffix(SUFFIX)) else {
        return Ok(Cow::Borrowed(value));
    };
    let bytes = STANDARD.decode(inside).map_err(|_| InvalidValue::Base64)?;
    String::from_utf8(bytes).map(Cow::Owned).map_err(|_| InvalidValue::Utf8)
}

/// Whether `text` is a token of RFC 9110, section 5.6.2: what header names, and with them the names in
/// `x-mcp-header` annotations, are made of.
pub fn is_token(text: &str) -> bool {
    let is_token_char = |byte: u8| byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte);
    !text.is_empty() && text.bytes().all(is_token_char)
}

/// Why a header value stands for no text.
#[derive(Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum InvalidValue {
    /// It holds something else than visible ASCII, spaces and tabs.
    Character,
    /// What stands between the markers is not base64.
    Base64,
    /// What the base64 stands for is not UTF-8.
    Utf8,
}

impl fmt::Display for InvalidValue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Character => "expected visible ASCII, spaces and tabs, found another character",
            Self::Base64 => "expected padded base64 between `=?base64?` and `?=`, found something else",
            Self::Utf8 => "expected UTF-8 inside the base64, found other bytes",
        })
    }
}

impl core::error::Error for InvalidValue {}

crate::text::debug_like_display!(InvalidValue);

#[cfg(test)]
mod tests;
