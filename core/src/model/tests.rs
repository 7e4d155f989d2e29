//! Payloads decode and encode to the same JSON, and only to what a revision knows.

mod legacy;
mod modern;
mod revisions;

use super::encode::{Encode, In};
use crate::dialect::Revision;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use serde_json::Value;

/// What `value` looks like to a peer of `revision`.
pub(super) fn encoded(revision: Revision, value: &(impl Encode + ?Sized)) -> Value {
    let text = serde_json::to_string(&In(revision, value)).unwrap();
    serde_json::from_str(&text).unwrap()
}

pub(super) fn json(text: &str) -> Value {
    serde_json::from_str(text).unwrap()
}

/// The names of the members of an object, in order.
pub(super) fn names(object: &Value) -> Vec<String> {
    object.as_object().unwrap().keys().map(ToString::to_string).collect()
}

/// One test a payload: name, type, revision, JSON.
macro_rules! round_trips {
    ($($name:ident: $type:ty, $revision:ident, $text:literal;)*) => {$(
        #[test]
        fn $name() {
            let value: $type = serde_json::from_str($text).unwrap();
            assert_eq!(super::encoded($revision, &value), super::json($text));
        }
    )*};
}
use round_trips;
