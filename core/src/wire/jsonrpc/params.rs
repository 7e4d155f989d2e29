//! From the JSON text of `params` or `arguments` to the type that a method asks for.

use super::typed::Typed;
use crate::error::{PeerError, code};
use alloc::format;
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

#[cfg(test)]
mod tests;
