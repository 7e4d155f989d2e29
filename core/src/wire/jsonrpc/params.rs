//! From the JSON text of `params` or `arguments` to the type that a method asks for.

use super::typed::{Fault, Typed};
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
    serde_json::from_str(json).map_err(|error| explain::<T>(json, root, &error))
}

/// Reads once more, slowly, to find out what serde_json's error does not say, or says with the peer's
/// values in it.
#[cold]
fn explain<'a, T: Deserialize<'a>>(json: &'a str, root: &str, error: &serde_json::Error) -> PeerError {
    let fault = match Typed::new(json).read::<T>() {
        Err(fault) => fault,
        Ok(_) => Fault::unknown(),
    };
    let detail = format!("line {} column {} of `{root}`", error.line(), error.column());
    PeerError::new(code::INVALID_PARAMS, fault.describe(root), detail)
}

#[cfg(test)]
mod tests;
