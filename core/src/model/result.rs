//! What all results share.

use super::decode::Key;
use super::encode::{Members, Object};
use super::json::JsonMap;
use super::macros::{open_object, setters};
use super::meta::Meta;
use crate::dialect::Revision;
use alloc::borrow::Cow;
use core::fmt;
use serde::de::{IgnoredAny, MapAccess, Visitor};
use serde::ser::SerializeMap;
use serde::{Deserialize, Deserializer};
use serde_json::value::RawValue;

/// How a result is to be read, as named by its `resultType`.
///
/// <https://modelcontextprotocol.io/specification/2026-07-28/basic/index#resulttype>
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ResultType<'a> {
    /// It is the result of the request; what a result without a type means too (RPC-12).
    Complete,
    /// It asks for input; see [`InputRequiredResult`](super::input_required::InputRequiredResult).
    InputRequired,
    /// One of an extension. Unless that was negotiated, the response is invalid (RPC-11, RPC-13).
    Other(Cow<'a, str>),
}

impl<'a> ResultType<'a> {
    /// The type of `result`. Fails when that is not an object, or its `resultType` not a string.
    pub fn of(result: &'a RawValue) -> serde_json::Result<Self> {
        serde_json::from_str(result.get())
    }

    /// The type as it travels.
    pub fn as_str(&self) -> &str {
        match self {
            Self::Complete => "complete",
            Self::InputRequired => "input_required",
            Self::Other(name) => name,
        }
    }
}

/// From the result as a whole, not from the value of its `resultType`.
impl<'de> Deserialize<'de> for ResultType<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Members;
        impl<'de> Visitor<'de> for Members {
            type Value = ResultType<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a result object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<ResultType<'de>, A::Error> {
                let mut found = ResultType::Complete;
                while let Some(Key(key)) = map.next_key()? {
                    if key != "resultType" {
                        map.next_value::<IgnoredAny>()?;
                        continue;
                    }
                    let name = map.next_value::<Key<'de>>()?.0;
                    found = match &*name {
                        "complete" => ResultType::Complete,
                        "input_required" => ResultType::InputRequired,
                        _ => ResultType::Other(name),
                    };
                }
                Ok(found)
            }
        }
        deserializer.deserialize_map(Members)
    }
}

/// A result that says nothing but that the request was carried out.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct EmptyResult {
    /// Metadata.
    pub meta: Meta,
    /// Members not known here.
    pub extra: JsonMap,
}

impl EmptyResult {
    /// Nothing.
    pub fn new() -> Self {
        Self::default()
    }
}

setters!(EmptyResult { meta: Meta, extra: JsonMap });

open_object!(EmptyResult {
    required {}
    optional { "_meta" => meta, }
    ignored { "resultType", }
});

impl Members for EmptyResult {
    fn members<M: SerializeMap>(&self, to: &mut Object<M>) -> Result<(), M::Error> {
        to.complete()?;
        to.open(&self.extra, Self::KNOWN)
    }

    fn metadata(&self, _revision: Revision) -> Option<&Meta> {
        Some(&self.meta)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(text: &str) -> serde_json::Result<ResultType<'_>> {
        let raw: &RawValue = serde_json::from_str(text)?;
        ResultType::of(raw)
    }

    /// RPC-12
    #[test]
    fn a_result_without_a_type_is_complete() {
        assert_eq!(of(r#"{"content":[{"resultType":"task"}]}"#).unwrap(), ResultType::Complete);
    }

    /// RPC-11, RPC-14
    #[test]
    fn the_type_decides_how_a_result_is_read() {
        assert_eq!(of(r#"{"resultType":"complete"}"#).unwrap(), ResultType::Complete);
        assert_eq!(of(r#"{"a":1,"resultType":"input_required"}"#).unwrap(), ResultType::InputRequired);
        assert_eq!(of(r#"{"resultType":"task"}"#).unwrap(), ResultType::Other("task".into()));
        assert!(of(r#"{"resultType":7}"#).is_err());
        assert!(of("[]").is_err());
    }
}
