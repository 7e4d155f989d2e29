//! A form that came. All kinds are read as one object with every member, and told apart by what is there.

use super::*;
use crate::model::decode::lenient;
use core::fmt;
use serde::Deserializer;
use serde::de::{MapAccess, Visitor};

impl<'de> Deserialize<'de> for ElicitationSchema {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        #[derive(Deserialize)]
        struct Root {
            properties: Fields,
            #[serde(default, deserialize_with = "crate::model::decode::or_default")]
            required: Vec<String>,
        }
        let Root { properties, required } = Root::deserialize(deserializer)?;
        Ok(Self { properties: properties.0, required })
    }
}

/// A map whose order counts: it is the order in which the fields are shown.
struct Fields(Vec<(String, PrimitiveSchemaDefinition)>);

impl<'de> Deserialize<'de> for Fields {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Map;
        impl<'de> Visitor<'de> for Map {
            type Value = Fields;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object of fields")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Fields, A::Error> {
                let mut fields = Vec::new();
                while let Some(field) = map.next_entry()? {
                    fields.push(field);
                }
                Ok(Fields(fields))
            }
        }
        deserializer.deserialize_map(Map)
    }
}

/// Every member that any kind of field has.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Any {
    #[serde(rename = "type")]
    kind: String,
    title: Option<String>,
    description: Option<String>,
    min_length: Option<u64>,
    max_length: Option<u64>,
    #[serde(default, deserialize_with = "lenient")]
    format: Option<StringFormat>,
    minimum: Option<f64>,
    maximum: Option<f64>,
    min_items: Option<u64>,
    max_items: Option<u64>,
    #[serde(rename = "enum")]
    values: Option<Vec<String>>,
    enum_names: Option<Vec<String>>,
    one_of: Option<Vec<EnumOption>>,
    items: Option<Items>,
    default: Option<Json>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Items {
    #[serde(rename = "enum")]
    values: Option<Vec<String>>,
    any_of: Option<Vec<EnumOption>>,
}

impl<'de> Deserialize<'de> for PrimitiveSchemaDefinition {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let json = Json::deserialize(deserializer)?;
        let known = json.decode::<Any>().ok().and_then(Any::definition);
        Ok(known.unwrap_or(Self::Unknown(json)))
    }
}

impl Any {
    fn definition(self) -> Option<PrimitiveSchemaDefinition> {
        let Self { title, description, .. } = self;
        // A default of the wrong type is a broken decoration, not a broken field.
        let default = self.default;
        let text = || default.as_ref().and_then(|value| value.decode().ok());
        Some(match (self.kind.as_str(), self.values, self.one_of, self.enum_names) {
            ("string", _, Some(options), _) => {
                TitledSingleSelectEnumSchema { title, description, options, default_value: text() }.into()
            }
            ("string", Some(values), None, Some(names)) => {
                LegacyTitledEnumSchema { title, description, values, names, default_value: text() }.into()
            }
            ("string", Some(values), None, None) => {
                UntitledSingleSelectEnumSchema { title, description, values, default_value: text() }.into()
            }
            ("string", None, None, _) => StringSchema {
                title,
                description,
                min_length: self.min_length,
                max_length: self.max_length,
                format: self.format,
                default_value: text(),
            }
            .into(),
            ("number" | "integer", ..) => NumberSchema {
                integer: self.kind == "integer",
                title,
                description,
                minimum: self.minimum,
                maximum: self.maximum,
                default_value: default.and_then(|value| value.decode().ok()),
            }
            .into(),
            ("boolean", ..) => {
                let default_value = default.and_then(|value| value.decode().ok());
                BooleanSchema { title, description, default_value }.into()
            }
            ("array", ..) => {
                let (min_items, max_items) = (self.min_items, self.max_items);
                let default_value = default.and_then(|value| value.decode().ok());
                match self.items? {
                    Items { any_of: Some(options), .. } => TitledMultiSelectEnumSchema {
                        title,
                        description,
                        min_items,
                        max_items,
                        options,
                        default_value,
                    }
                    .into(),
                    Items { values: Some(values), .. } => UntitledMultiSelectEnumSchema {
                        title,
                        description,
                        min_items,
                        max_items,
                        values,
                        default_value,
                    }
                    .into(),
                    _ => return None,
                }
            }
            _ => return None,
        })
    }
}
