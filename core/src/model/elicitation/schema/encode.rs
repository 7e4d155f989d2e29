//! A form towards a revision. 2025-06-18 has no arrays, no `oneOf`, and defaults of booleans only.

use super::*;
use crate::dialect::{ElicitationModes, Revision};
use crate::model::encode::{Encode, In, Members, Number, Object};
use serde::Serializer;
use serde::ser::SerializeMap;

impl Members for ElicitationSchema {
    fn members<M: SerializeMap>(&self, to: &mut Object<M>) -> Result<(), M::Error> {
        to.member("type", "object")?;
        to.encoded("properties", &Properties(&self.properties))?;
        let known = |name: &&String| {
            self.properties.iter().any(|(field, schema)| field == *name && exists(schema, to.revision()))
        };
        let required: Vec<_> = self.required.iter().filter(known).collect();
        to.list("required", &required)
    }
}

struct Properties<'a>(&'a [(String, PrimitiveSchemaDefinition)]);

impl Encode for Properties<'_> {
    fn encode<S: Serializer>(&self, revision: Revision, serializer: S) -> Result<S::Ok, S::Error> {
        let known = self.0.iter().filter(|(_, schema)| exists(schema, revision));
        serializer.collect_map(known.map(|(name, schema)| (name, In(revision, schema))))
    }
}

fn has_choices(revision: Revision) -> bool {
    revision.dialect().elicitation == ElicitationModes::FormAndUrl
}

fn exists(schema: &PrimitiveSchemaDefinition, revision: Revision) -> bool {
    match schema {
        PrimitiveSchemaDefinition::UntitledMultiSelect(_)
        | PrimitiveSchemaDefinition::TitledMultiSelect(_) => has_choices(revision),
        PrimitiveSchemaDefinition::Unknown(_) => false,
        _ => true,
    }
}

impl Members for PrimitiveSchemaDefinition {
    fn members<M: SerializeMap>(&self, to: &mut Object<M>) -> Result<(), M::Error> {
        match self {
            Self::String(schema) => {
                head(to, "string", &schema.title, &schema.description)?;
                to.optional("minLength", &schema.min_length)?;
                to.optional("maxLength", &schema.max_length)?;
                to.optional("format", &schema.format)?;
                default(to, &schema.default_value)
            }
            Self::Number(schema) => {
                let kind = if schema.integer { "integer" } else { "number" };
                head(to, kind, &schema.title, &schema.description)?;
                to.optional("minimum", &schema.minimum.map(Number))?;
                to.optional("maximum", &schema.maximum.map(Number))?;
                default(to, &schema.default_value.map(Number))
            }
            Self::Boolean(schema) => {
                head(to, "boolean", &schema.title, &schema.description)?;
                to.optional("default", &schema.default_value)
            }
            Self::UntitledSingleSelect(schema) => {
                head(to, "string", &schema.title, &schema.description)?;
                to.member("enum", &schema.values)?;
                default(to, &schema.default_value)
            }
            Self::TitledSingleSelect(schema) => {
                head(to, "string", &schema.title, &schema.description)?;
                if has_choices(to.revision()) {
                    to.member("oneOf", &schema.options)?;
                } else {
                    let column =
                        |of: fn(&EnumOption) -> &String| schema.options.iter().map(of).collect::<Vec<_>>();
                    to.member("enum", &column(|option| &option.value))?;
                    to.member("enumNames", &column(|option| &option.title))?;
                }
                default(to, &schema.default_value)
            }
            Self::UntitledMultiSelect(schema) => {
                head(to, "array", &schema.title, &schema.description)?;
                to.optional("minItems", &schema.min_items)?;
                to.optional("maxItems", &schema.max_items)?;
                to.encoded("items", &Items::Untitled(&schema.values))?;
                default(to, &schema.default_value)
            }
            Self::TitledMultiSelect(schema) => {
                head(to, "array", &schema.title, &schema.description)?;
                to.optional("minItems", &schema.min_items)?;
                to.optional("maxItems", &schema.max_items)?;
                to.encoded("items", &Items::Titled(&schema.options))?;
                default(to, &schema.default_value)
            }
            Self::LegacyTitled(schema) => {
                head(to, "string", &schema.title, &schema.description)?;
                to.member("enum", &schema.values)?;
                to.member("enumNames", &schema.names)?;
                default(to, &schema.default_value)
            }
            Self::Unknown(_) => Ok(()),
        }
    }
}

fn head<M: SerializeMap>(
    to: &mut Object<M>,
    kind: &str,
    title: &Option<String>,
    description: &Option<String>,
) -> Result<(), M::Error> {
    to.member("type", kind)?;
    to.optional("title", title)?;
    to.optional("description", description)
}

fn default<M: SerializeMap>(to: &mut Object<M>, value: &Option<impl Serialize>) -> Result<(), M::Error> {
    if has_choices(to.revision()) { to.optional("default", value) } else { Ok(()) }
}

enum Items<'a> {
    Untitled(&'a [String]),
    Titled(&'a [EnumOption]),
}

impl Members for Items<'_> {
    fn members<M: SerializeMap>(&self, to: &mut Object<M>) -> Result<(), M::Error> {
        match self {
            Self::Untitled(values) => {
                to.member("type", "string")?;
                to.member("enum", values)
            }
            Self::Titled(options) => to.member("anyOf", options),
        }
    }
}
