//! JSON that is carried and not looked into, as the text that it came as.

use alloc::borrow::ToOwned;
use alloc::boxed::Box;
use alloc::collections::BTreeMap;
use alloc::string::String;
use core::fmt;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::value::RawValue;

use crate::wire::jsonrpc;

/// One JSON value, kept as text: key order, number notation and inner white space survive (SCHEMA-09).
///
/// Two are equal when their texts are.
#[derive(Clone)]
pub struct Json(Box<RawValue>);

/// Members of an open object whose names are not known here.
pub type JsonMap = BTreeMap<String, Json>;

impl Json {
    /// The JSON of a value. Text in it that is JSON already is put on one line if it spans several.
    ///
    /// # Errors
    /// A map key that is neither text, a number nor a boolean, or a `Serialize` that fails.
    pub fn new(value: &(impl Serialize + ?Sized)) -> serde_json::Result<Self> {
        jsonrpc::to_raw_value(value).map(Self).map_err(|misuse| serde::ser::Error::custom(misuse.message))
    }

    /// The JSON value that `text` holds. White space around it is dropped.
    ///
    /// # Errors
    /// When it is not one JSON value.
    pub fn parse(text: impl Into<String>) -> serde_json::Result<Self> {
        RawValue::from_string(text.into()).map(Self)
    }

    /// An object without members. In capabilities it means "supported, without options".
    pub fn empty_object() -> Self {
        // A map without entries always serialises.
        Self::new(&JsonMap::new()).unwrap_or_else(|_| Self(RawValue::NULL.to_owned()))
    }

    /// The text.
    pub fn get(&self) -> &str {
        self.0.get()
    }

    /// The value as a `T`, which may borrow from the text.
    ///
    /// # Errors
    /// When it is not a `T`.
    pub fn decode<'a, T: Deserialize<'a>>(&'a self) -> serde_json::Result<T> {
        serde_json::from_str(self.get())
    }

    /// Whether it is an object.
    pub fn is_object(&self) -> bool {
        self.get().starts_with('{')
    }
}

impl fmt::Debug for Json {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.get())
    }
}

impl PartialEq for Json {
    fn eq(&self, other: &Self) -> bool {
        self.get() == other.get()
    }
}

impl Eq for Json {}

impl AsRef<RawValue> for Json {
    fn as_ref(&self) -> &RawValue {
        &self.0
    }
}

impl From<Box<RawValue>> for Json {
    fn from(raw: Box<RawValue>) -> Self {
        Self(raw)
    }
}

impl From<&RawValue> for Json {
    fn from(raw: &RawValue) -> Self {
        Self(raw.to_owned())
    }
}

impl From<Json> for Box<RawValue> {
    fn from(json: Json) -> Self {
        json.0
    }
}

impl Serialize for Json {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.0.serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Json {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Box::<RawValue>::deserialize(deserializer).map(Self)
    }
}

/// Any JSON.
#[cfg(feature = "schemars")]
impl schemars::JsonSchema for Json {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> alloc::borrow::Cow<'static, str> {
        "Json".into()
    }

    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        true.into()
    }
}
