//! From the JSON text of `params` or `arguments` to the type that a method asks for.

use super::raw;
use super::typed::Typed;
use crate::error::{PeerError, code};
use alloc::borrow::Cow;
use alloc::format;
use alloc::string::String;
use serde::Deserialize;
use serde_json::value::RawValue;

/// Decodes `params`. Absent ones are read as an empty object.
///
/// `root` is how the error calls the whole: `params`.
///
/// # Errors
///
/// [`INVALID_PARAMS`](code::INVALID_PARAMS), with a message for the peer that says where and what:
/// `params.name: expected a string, found a number`. It names members and types, never values.
pub fn decode<'a, T: Deserialize<'a>>(params: Option<&'a RawValue>, root: &str) -> Result<T, PeerError> {
    decode_at(params.map_or("{}", RawValue::get), root)
}

/// The same for any JSON text, such as the `arguments` of a tool call.
///
/// # Errors
///
/// As for [`decode`].
pub fn decode_at<'a, T: Deserialize<'a>>(json: &'a str, root: &str) -> Result<T, PeerError> {
    Typed::new(json).read().map_err(|fault| {
        PeerError::new(code::INVALID_PARAMS, fault.describe(root), format!("while reading `{root}`"))
    })
}

/// The same for a string, which is borrowed where it holds no escapes.
pub(crate) fn decode_text<'a>(json: &'a str, root: &str) -> Result<Cow<'a, str>, PeerError> {
    // Whatever is none is told in the words for it.
    raw::string(json).map_or_else(|| decode_at::<String>(json, root).map(Cow::Owned), Ok)
}

#[cfg(test)]
mod tests;
