//! What a response is matched by.

use super::{raw, scan::Text};
use alloc::string::String;
use alloc::sync::Arc;
use core::fmt;
use serde::de::{DeserializeSeed, Error, MapAccess, Unexpected, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::value::RawValue;

/// The id of a request: a string or an integer, kept exactly.
///
/// Type and digits survive: `1` is not `"1"`, and `-0` or an integer of any length comes back as it came.
/// Strings are equal if their text is, however it was escaped. Cheap to clone; integers within 64 bits do
/// not allocate. Displayed as JSON text.
///
/// <https://modelcontextprotocol.io/specification/2026-07-28/basic/index#requests>
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RequestId(Repr);

/// The token that progress of a request is reported under: like an id, a string or an integer.
///
/// <https://modelcontextprotocol.io/specification/2026-07-28/basic/patterns/progress>
pub type ProgressToken = RequestId;

#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
enum Repr {
    Integer(i64),
    /// An integer that `i64` would not give back, digit for digit.
    Digits(Arc<str>),
    Text(Arc<str>),
}

impl RequestId {
    /// The integer, if it is one that fits.
    pub const fn as_i64(&self) -> Option<i64> {
        match self.0 {
            Repr::Integer(integer) => Some(integer),
            _ => None,
        }
    }

    /// The text, if it is a string.
    pub fn as_str(&self) -> Option<&str> {
        match &self.0 {
            Repr::Text(text) => Some(text),
            _ => None,
        }
    }

    /// How much it holds beside itself, in bytes.
    pub(crate) fn size(&self) -> usize {
        match &self.0 {
            Repr::Integer(_) => 0,
            Repr::Digits(text) | Repr::Text(text) => text.len(),
        }
    }

    /// The id that a JSON value is: `None` for null, fractions, exponents, booleans, arrays and objects.
    pub(super) fn from_json(json: &str) -> Option<Self> {
        if let Some(text) = Text::of(json) {
            return text.decode().map(|text| Self::from(&*text));
        }
        let digits = json.strip_prefix('-').unwrap_or(json);
        if digits.is_empty() || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
            return None;
        }
        Some(match json.parse::<i64>() {
            Ok(integer) if json != "-0" => Self::from(integer),
            _ => Self(Repr::Digits(json.into())),
        })
    }
}

impl From<i64> for RequestId {
    fn from(integer: i64) -> Self {
        Self(Repr::Integer(integer))
    }
}

impl From<&str> for RequestId {
    fn from(text: &str) -> Self {
        Self(Repr::Text(text.into()))
    }
}

impl From<String> for RequestId {
    fn from(text: String) -> Self {
        Self(Repr::Text(text.into()))
    }
}

impl fmt::Display for RequestId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            Repr::Integer(integer) => integer.fmt(f),
            Repr::Digits(digits) => f.write_str(digits),
            Repr::Text(text) => f.write_str(&serde_json::to_string(&**text).map_err(|_| fmt::Error)?),
        }
    }
}

impl fmt::Debug for RequestId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "RequestId({self})")
    }
}

impl Serialize for RequestId {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match &self.0 {
            Repr::Integer(integer) => serializer.serialize_i64(*integer),
            Repr::Text(text) => serializer.serialize_str(text),
            Repr::Digits(digits) => {
                let json =
                    RawValue::from_string(String::from(&**digits)).map_err(serde::ser::Error::custom)?;
                json.serialize(serializer)
            }
        }
    }
}

impl<'de> Deserialize<'de> for RequestId {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        // As JSON text where the deserializer can lend it, so that no digit is lost; as a plain value where
        // it cannot (serde's buffer for flattened and tagged types).
        deserializer.deserialize_newtype_struct(raw::TOKEN, IdVisitor)
    }
}

struct IdVisitor;

impl<'de> Visitor<'de> for IdVisitor {
    type Value = RequestId;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a string or an integer")
    }

    fn visit_newtype_struct<D: Deserializer<'de>>(self, deserializer: D) -> Result<RequestId, D::Error> {
        deserializer.deserialize_any(self)
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<RequestId, A::Error> {
        match map.next_key_seed(IsToken)? {
            Some(true) => map.next_value_seed(FromJson),
            _ => Err(Error::invalid_type(Unexpected::Map, &self)),
        }
    }

    fn visit_i64<E: Error>(self, integer: i64) -> Result<RequestId, E> {
        Ok(integer.into())
    }

    fn visit_u64<E: Error>(self, integer: u64) -> Result<RequestId, E> {
        Ok(match i64::try_from(integer) {
            Ok(integer) => integer.into(),
            Err(_) => RequestId(Repr::Digits(alloc::format!("{integer}").into())),
        })
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<RequestId, E> {
        Ok(text.into())
    }
}

/// Whether a map is JSON text in disguise.
struct IsToken;

impl<'de> DeserializeSeed<'de> for IsToken {
    type Value = bool;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<bool, D::Error> {
        deserializer.deserialize_str(self)
    }
}

impl Visitor<'_> for IsToken {
    type Value = bool;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a string")
    }

    fn visit_str<E: Error>(self, key: &str) -> Result<bool, E> {
        Ok(key == raw::TOKEN)
    }
}

/// Reads the JSON text.
struct FromJson;

impl<'de> DeserializeSeed<'de> for FromJson {
    type Value = RequestId;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<RequestId, D::Error> {
        deserializer.deserialize_str(self)
    }
}

impl Visitor<'_> for FromJson {
    type Value = RequestId;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        IdVisitor.expecting(f)
    }

    fn visit_str<E: Error>(self, json: &str) -> Result<RequestId, E> {
        RequestId::from_json(json).ok_or_else(|| E::invalid_type(raw::kind(json), &self))
    }
}

#[cfg(test)]
mod tests;
