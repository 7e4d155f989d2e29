//! Tool parameters that are mirrored into HTTP headers: reading `x-mcp-header` off an input schema, and the
//! values off the arguments of a call. Server and client share this, so that they cannot disagree.
//!
//! <https://modelcontextprotocol.io/specification/2026-07-28/basic/transports/streamable-http#custom-headers-from-tool-parameters>

use alloc::borrow::{Cow, ToOwned};
use alloc::string::String;
use alloc::vec::Vec;
use core::fmt;

use serde::de::{DeserializeSeed, Error, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer};
use serde_json::value::RawValue;

use crate::wire::header_value;

/// The annotation in a property's schema.
const ANNOTATION: &str = "x-mcp-header";
/// What comes before the annotated name in a header.
const PREFIX: &str = "Mcp-Param-";

/// A parameter of a tool that travels in a header as well.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub(crate) struct MirroredParam {
    /// The whole name of the header, `Mcp-Param-` included.
    pub(crate) header: String,
    /// The names of the properties that lead from the arguments to the value.
    pub(crate) path: Vec<String>,
    /// The declared type of the value.
    pub(crate) kind: ParamKind,
}

/// The types that a mirrored parameter may have (HDR-22).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ParamKind {
    /// A string.
    String,
    /// An integer.
    Integer,
    /// A boolean.
    Boolean,
}

/// Reads the annotations of an input schema, in the order in which they stand. The error says what is wrong,
/// for whoever wrote the schema.
pub(crate) fn mirrored(schema: &RawValue) -> Result<Vec<MirroredParam>, String> {
    let mut found = Vec::new();
    let mut json = serde_json::Deserializer::from_str(schema.get());
    Schema { path: Some(Vec::new()), found: &mut found }.deserialize(&mut json).map_err(|error| {
        let text = alloc::format!("{error}");
        // serde_json ends its messages with a position in the text, which is no help here.
        text.split(" at line ").next().unwrap_or_default().to_owned()
    })?;
    for (index, param) in found.iter().enumerate() {
        if found.iter().take(index).any(|other| other.header.eq_ignore_ascii_case(&param.header)) {
            return Err(alloc::format!("two properties are annotated `{ANNOTATION}` with the same name"));
        }
    }
    Ok(found)
}

/// One schema. `path` is how it is reached from the root through `properties` alone, if it is.
struct Schema<'a> {
    path: Option<Vec<String>>,
    found: &'a mut Vec<MirroredParam>,
}

impl<'de> DeserializeSeed<'de> for Schema<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Schema<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON Schema")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        let Self { path, found } = self;
        let mut annotation: Option<&RawValue> = None;
        let mut kind: Option<&RawValue> = None;
        while let Some(keyword) = map.next_key::<Cow<'_, str>>()? {
            match &*keyword {
                ANNOTATION => annotation = Some(map.next_value()?),
                "type" => kind = Some(map.next_value()?),
                "properties" => {
                    map.next_value_seed(Schemas { path: path.clone(), found: &mut *found })?;
                }
                "patternProperties" | "$defs" | "definitions" | "dependentSchemas" => {
                    map.next_value_seed(Schemas { path: None, found: &mut *found })?;
                }
                // These hold data, in which the word has no meaning.
                "const" | "default" | "enum" | "examples" => {
                    map.next_value::<IgnoredAny>()?;
                }
                _ => map.next_value_seed(Schema { path: None, found: &mut *found })?,
            }
        }
        if let Some(annotation) = annotation {
            found.push(annotated(annotation, kind, path).map_err(A::Error::custom)?);
        }
        Ok(())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<(), A::Error> {
        while list.next_element_seed(Schema { path: None, found: &mut *self.found })?.is_some() {}
        Ok(())
    }

    fn visit_bool<E>(self, _: bool) -> Result<(), E> {
        Ok(())
    }

    fn visit_i64<E>(self, _: i64) -> Result<(), E> {
        Ok(())
    }

    fn visit_u64<E>(self, _: u64) -> Result<(), E> {
        Ok(())
    }

    fn visit_f64<E>(self, _: f64) -> Result<(), E> {
        Ok(())
    }

    fn visit_str<E>(self, _: &str) -> Result<(), E> {
        Ok(())
    }

    fn visit_unit<E>(self) -> Result<(), E> {
        Ok(())
    }
}

/// An object whose members are schemas and whose names are not keywords.
struct Schemas<'a> {
    path: Option<Vec<String>>,
    found: &'a mut Vec<MirroredParam>,
}

impl<'de> DeserializeSeed<'de> for Schemas<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_map(self)
    }
}

impl<'de> Visitor<'de> for Schemas<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object whose members are JSON Schemas")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        while let Some(name) = map.next_key::<String>()? {
            let path = self.path.as_ref().map(|path| path.iter().cloned().chain([name]).collect());
            map.next_value_seed(Schema { path, found: &mut *self.found })?;
        }
        Ok(())
    }
}

fn annotated(
    annotation: &RawValue,
    kind: Option<&RawValue>,
    path: Option<Vec<String>>,
) -> Result<MirroredParam, String> {
    let name: Cow<'_, str> = serde_json::from_str(annotation.get())
        .map_err(|_| alloc::format!("`{ANNOTATION}` is not a string"))?;
    let path = path.filter(|path| !path.is_empty()).ok_or_else(|| {
        alloc::format!("`{ANNOTATION}` stands on something not reached through `properties` alone")
    })?;
    let place = path.join(".");
    if !header_value::is_token(&name) {
        return Err(alloc::format!("`{ANNOTATION}` of `{place}` is not a token of RFC 9110"));
    }
    let kind = match kind.map(RawValue::get) {
        Some("\"string\"") => ParamKind::String,
        Some("\"integer\"") => ParamKind::Integer,
        Some("\"boolean\"") => ParamKind::Boolean,
        _ => {
            return Err(alloc::format!(
                "`{place}` is annotated `{ANNOTATION}`, so its type must be exactly one of string, integer and boolean"
            ));
        }
    };
    Ok(MirroredParam { header: [PREFIX, &name].concat(), path, kind })
}

/// The value of a mirrored parameter in the arguments of a call.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum ParamValue<'a> {
    /// A string.
    String(Cow<'a, str>),
    /// An integer within ±(2^53 − 1).
    Integer(i64),
    /// A boolean.
    Boolean(bool),
}

impl MirroredParam {
    /// The value in `arguments`; `None` where there is none or it is `null` (HDR-31, HDR-32). A value of
    /// another type than the declared one is an error, given as text.
    pub(crate) fn read<'a>(&self, arguments: &'a str) -> Result<Option<ParamValue<'a>>, String> {
        let mut json = serde_json::Deserializer::from_str(arguments);
        let Ok(Some(value)) = (At { path: &self.path }).deserialize(&mut json) else { return Ok(None) };
        if value.get() == "null" {
            return Ok(None);
        }
        let read = match self.kind {
            ParamKind::String => {
                serde_json::from_str::<Text<'a>>(value.get()).ok().map(|text| ParamValue::String(text.0))
            }
            ParamKind::Integer => integer(value.get()).map(ParamValue::Integer),
            ParamKind::Boolean => serde_json::from_str(value.get()).ok().map(ParamValue::Boolean),
        };
        read.map(Some)
            .ok_or_else(|| alloc::format!("`arguments.{}` is not of its declared type", self.path.join(".")))
    }
}

/// A whole number in any notation (HDR-47), within the range that every peer can hold (HDR-23).
pub(crate) fn integer(text: &str) -> Option<i64> {
    const SAFE: i64 = (1 << 53) - 1;
    let whole = match text.parse::<i64>() {
        Ok(whole) => whole,
        Err(_) => {
            // Only what JSON allows in a number: `f64` would also read `inf` and `nan`.
            let number: f64 = serde_json::from_str(text).ok()?;
            let whole = number as i64;
            (whole as f64 == number).then_some(whole)?
        }
    };
    (-SAFE..=SAFE).contains(&whole).then_some(whole)
}

/// A string that borrows where it holds no escapes.
#[derive(Deserialize)]
struct Text<'a>(#[serde(borrow)] Cow<'a, str>);

/// Finds the value at a path of member names.
struct At<'p> {
    path: &'p [String],
}

impl<'de> DeserializeSeed<'de> for At<'_> {
    type Value = Option<&'de RawValue>;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Self::Value, D::Error> {
        if self.path.is_empty() {
            return <&RawValue>::deserialize(deserializer).map(Some);
        }
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for At<'_> {
    type Value = Option<&'de RawValue>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        let mut found = None;
        let Some((first, rest)) = self.path.split_first() else { return Ok(None) };
        // Of repeated names the last one wins, as it does for whoever decodes the arguments.
        while let Some(name) = map.next_key::<Cow<'_, str>>()? {
            if *name == **first {
                found = map.next_value_seed(At { path: rest })?;
            } else {
                map.next_value::<IgnoredAny>()?;
            }
        }
        Ok(found)
    }
}
