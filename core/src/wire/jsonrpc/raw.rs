//! JSON text as serde_json's [`RawValue`], without reading it again.

use super::scan::Text;
use alloc::boxed::Box;
use alloc::string::String;
use serde::de::value::{BorrowedStrDeserializer, MapDeserializer};
use serde::de::{Deserialize, Deserializer, Error, Unexpected, Visitor};
use serde::forward_to_deserialize_any;
use serde_json::value::RawValue;

/// The name by which serde_json's `RawValue` asks a deserializer for JSON text, to be given as the only
/// value of a map with this key. Not documented by serde_json, so nothing may depend on it but speed, and
/// the reading of numbers beyond 64 bits; a test notices if it ever changes.
pub(super) const TOKEN: &str = "$serde_json::private::RawValue";

/// Lends a JSON value that was scanned already. Costs neither a second pass nor an allocation, where
/// `serde_json::from_str` would cost both.
pub(super) fn lend(json: &str) -> Option<&RawValue> {
    <&RawValue>::deserialize(Scanned(json)).ok().or_else(|| serde_json::from_str(json).ok())
}

/// The same for text that is owned: one JSON value as [`write_json`](super::write_json) writes it.
pub(super) fn own(json: String) -> Result<Box<RawValue>, serde::de::value::Error> {
    Box::<RawValue>::deserialize(MapDeserializer::new(core::iter::once((TOKEN, json))))
}

/// Gives JSON text to a visitor in the form that `RawValue` understands.
pub(super) fn visit<'de, V: Visitor<'de>, E: Error>(json: &'de str, visitor: V) -> Result<V::Value, E> {
    let text = BorrowedStrDeserializer::<E>::new(json);
    visitor.visit_map(MapDeserializer::new(core::iter::once((TOKEN, text))))
}

struct Scanned<'a>(&'a str);

impl<'de> Deserializer<'de> for Scanned<'de> {
    type Error = serde::de::value::Error;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Self::Error> {
        visit(self.0, visitor)
    }

    forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf option unit
        unit_struct newtype_struct seq tuple tuple_struct map struct enum identifier ignored_any
    }
}

/// What type of value some JSON text is, for serde's error messages. Holds nothing of the value.
pub(super) fn kind(json: &str) -> Unexpected<'static> {
    match json.as_bytes().first() {
        Some(b'{') => Unexpected::Map,
        Some(b'[') => Unexpected::Seq,
        Some(b'"') => Unexpected::Str(""),
        Some(b't' | b'f') => Unexpected::Bool(false),
        Some(b'n') => Unexpected::Unit,
        _ => Unexpected::Other("number"),
    }
}

/// The same in the words of JSON.
pub(crate) fn kind_name(json: &str) -> &'static str {
    match kind(json) {
        Unexpected::Map => "an object",
        Unexpected::Seq => "an array",
        Unexpected::Str(_) => "a string",
        Unexpected::Bool(_) => "a boolean",
        Unexpected::Unit => "null",
        _ => "a number",
    }
}

/// The text of a JSON string, given with its quotes; `None` for other values and for escapes that are no
/// characters (half of a surrogate pair).
pub(super) fn string(json: &str) -> Option<alloc::borrow::Cow<'_, str>> {
    Text::of(json)?.decode()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_is_lent_in_place() {
        let json = "{ \"a\" : [1] }";
        // Through the token alone: the fallback would hide that serde_json has changed.
        let raw = <&RawValue>::deserialize(Scanned(json)).unwrap();
        assert_eq!(raw.get().as_ptr(), json.as_ptr());
        assert_eq!(raw.get(), json);
    }

    #[test]
    fn text_is_taken_over_in_place() {
        let json = String::from("[1]");
        let at = json.as_ptr();
        let raw = own(json).unwrap();
        assert_eq!((raw.get(), raw.get().as_ptr()), ("[1]", at));
    }
}
