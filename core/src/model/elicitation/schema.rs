//! The fields of a form: a flat object of primitives (ELIC-11).

mod decode;
mod encode;

use crate::model::json::Json;
use crate::model::macros::setters;
use alloc::string::String;
use alloc::vec::Vec;
use serde::{Deserialize, Serialize};

/// The schema of a form.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct ElicitationSchema {
    /// The fields by name, in the order in which they are shown.
    pub properties: Vec<(String, PrimitiveSchemaDefinition)>,
    /// The names of those that have to be filled in.
    pub required: Vec<String>,
}

impl ElicitationSchema {
    /// No fields.
    pub fn new() -> Self {
        Self::default()
    }

    /// With one more field, which may be left empty.
    #[must_use]
    pub fn optional(mut self, name: impl Into<String>, field: impl Into<PrimitiveSchemaDefinition>) -> Self {
        self.properties.push((name.into(), field.into()));
        self
    }

    /// With one more field, which has to be filled in.
    #[must_use]
    pub fn required(mut self, name: impl Into<String>, field: impl Into<PrimitiveSchemaDefinition>) -> Self {
        let name = name.into();
        self.required.push(name.clone());
        self.properties.push((name, field.into()));
        self
    }
}

/// One field of a form.
///
/// What kind it is shows in its `type` and, for choices, in which of the members `enum`, `oneOf`,
/// `enumNames` and `items` it has. Members that no kind has are dropped when decoding.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum PrimitiveSchemaDefinition {
    /// Text.
    String(StringSchema),
    /// A number.
    Number(NumberSchema),
    /// Yes or no.
    Boolean(BooleanSchema),
    /// One of some values.
    UntitledSingleSelect(UntitledSingleSelectEnumSchema),
    /// One of some values that have titles. To 2025-06-18 it is sent as `LegacyTitled`.
    TitledSingleSelect(TitledSingleSelectEnumSchema),
    /// Any of some values; from 2025-11-25 on, left out of the form before.
    UntitledMultiSelect(UntitledMultiSelectEnumSchema),
    /// Any of some values that have titles; from 2025-11-25 on, left out of the form before.
    TitledMultiSelect(TitledMultiSelectEnumSchema),
    /// One of some values that have titles, as 2025-06-18 has it (ELIC-13).
    LegacyTitled(LegacyTitledEnumSchema),
    /// Anything else, as it came; never sent.
    Unknown(Json),
}

/// Text.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct StringSchema {
    /// The name for people.
    pub title: Option<String>,
    /// What to fill in.
    pub description: Option<String>,
    /// The least number of characters.
    pub min_length: Option<u64>,
    /// The greatest number of characters.
    pub max_length: Option<u64>,
    /// What the text is.
    pub format: Option<StringFormat>,
    /// What it is filled in with at first; from 2025-11-25 on (ELIC-14).
    pub default_value: Option<String>,
}

/// What a text is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum StringFormat {
    /// An e-mail address.
    Email,
    /// A URI.
    Uri,
    /// A date, as in RFC 3339.
    Date,
    /// A date and time, as in RFC 3339.
    DateTime,
}

/// A number.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct NumberSchema {
    /// Whether it has to be whole: `type` is `integer` then, else `number`.
    pub integer: bool,
    /// The name for people.
    pub title: Option<String>,
    /// What to fill in.
    pub description: Option<String>,
    /// The least value.
    pub minimum: Option<f64>,
    /// The greatest value.
    pub maximum: Option<f64>,
    /// What it is filled in with at first; from 2025-11-25 on (ELIC-14).
    pub default_value: Option<f64>,
}

/// Yes or no.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct BooleanSchema {
    /// The name for people.
    pub title: Option<String>,
    /// What to decide.
    pub description: Option<String>,
    /// What is chosen at first.
    pub default_value: Option<bool>,
}

/// One of some values: `enum`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct UntitledSingleSelectEnumSchema {
    /// The name for people.
    pub title: Option<String>,
    /// What to choose.
    pub description: Option<String>,
    /// The values.
    pub values: Vec<String>,
    /// What is chosen at first; from 2025-11-25 on (ELIC-14).
    pub default_value: Option<String>,
}

/// One of some values that have titles: `oneOf`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct TitledSingleSelectEnumSchema {
    /// The name for people.
    pub title: Option<String>,
    /// What to choose.
    pub description: Option<String>,
    /// The values.
    pub options: Vec<EnumOption>,
    /// What is chosen at first; from 2025-11-25 on (ELIC-14).
    pub default_value: Option<String>,
}

/// Any of some values: an array whose `items` have an `enum`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct UntitledMultiSelectEnumSchema {
    /// The name for people.
    pub title: Option<String>,
    /// What to choose.
    pub description: Option<String>,
    /// The least number of choices.
    pub min_items: Option<u64>,
    /// The greatest number of choices.
    pub max_items: Option<u64>,
    /// The values.
    pub values: Vec<String>,
    /// What is chosen at first.
    pub default_value: Option<Vec<String>>,
}

/// Any of some values that have titles: an array whose `items` have an `anyOf`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct TitledMultiSelectEnumSchema {
    /// The name for people.
    pub title: Option<String>,
    /// What to choose.
    pub description: Option<String>,
    /// The least number of choices.
    pub min_items: Option<u64>,
    /// The greatest number of choices.
    pub max_items: Option<u64>,
    /// The values.
    pub options: Vec<EnumOption>,
    /// What is chosen at first.
    pub default_value: Option<Vec<String>>,
}

/// One of some values that have titles: `enum` and `enumNames`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct LegacyTitledEnumSchema {
    /// The name for people.
    pub title: Option<String>,
    /// What to choose.
    pub description: Option<String>,
    /// The values.
    pub values: Vec<String>,
    /// Their titles, in the same order.
    pub names: Vec<String>,
    /// What is chosen at first; from 2025-11-25 on (ELIC-14).
    pub default_value: Option<String>,
}

/// A value that has a title.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct EnumOption {
    /// The value.
    #[serde(rename = "const")]
    pub value: String,
    /// What people see.
    pub title: String,
}

impl EnumOption {
    /// The value `value`, shown as `title`.
    pub fn new(value: impl Into<String>, title: impl Into<String>) -> Self {
        Self { value: value.into(), title: title.into() }
    }
}

impl NumberSchema {
    /// Any number.
    pub fn number() -> Self {
        Self::default()
    }

    /// A whole number.
    pub fn integer() -> Self {
        Self { integer: true, ..Self::default() }
    }
}

impl StringSchema {
    /// Any text.
    pub fn new() -> Self {
        Self::default()
    }
}

impl BooleanSchema {
    /// Yes or no.
    pub fn new() -> Self {
        Self::default()
    }
}

impl UntitledSingleSelectEnumSchema {
    /// One of `values`.
    pub fn new(values: Vec<String>) -> Self {
        Self { values, ..Self::default() }
    }
}

impl TitledSingleSelectEnumSchema {
    /// One of `options`.
    pub fn new(options: Vec<EnumOption>) -> Self {
        Self { options, ..Self::default() }
    }
}

impl UntitledMultiSelectEnumSchema {
    /// Any of `values`.
    pub fn new(values: Vec<String>) -> Self {
        Self { values, ..Self::default() }
    }
}

impl TitledMultiSelectEnumSchema {
    /// Any of `options`.
    pub fn new(options: Vec<EnumOption>) -> Self {
        Self { options, ..Self::default() }
    }
}

impl LegacyTitledEnumSchema {
    /// One of `values`, shown as `names`.
    pub fn new(values: Vec<String>, names: Vec<String>) -> Self {
        Self { values, names, ..Self::default() }
    }
}

setters!(StringSchema {
    title?: String,
    description?: String,
    min_length?: u64,
    max_length?: u64,
    format?: StringFormat,
    default_value?: String,
});
setters!(NumberSchema {
    title?: String,
    description?: String,
    minimum?: f64,
    maximum?: f64,
    default_value?: f64,
});
setters!(BooleanSchema {
    title?: String,
    description?: String,
    default_value?: bool,
});
setters!(UntitledSingleSelectEnumSchema {
    title?: String,
    description?: String,
    default_value?: String,
});
setters!(TitledSingleSelectEnumSchema {
    title?: String,
    description?: String,
    default_value?: String,
});
setters!(UntitledMultiSelectEnumSchema {
    title?: String,
    description?: String,
    min_items?: u64,
    max_items?: u64,
    default_value?: Vec<String>,
});
setters!(TitledMultiSelectEnumSchema {
    title?: String,
    description?: String,
    min_items?: u64,
    max_items?: u64,
    default_value?: Vec<String>,
});
setters!(LegacyTitledEnumSchema {
    title?: String,
    description?: String,
    default_value?: String,
});

macro_rules! into_definition {
    ($($schema:ident => $variant:ident,)*) => {$(
        impl From<$schema> for PrimitiveSchemaDefinition {
            fn from(schema: $schema) -> Self {
                Self::$variant(schema)
            }
        }
    )*};
}

into_definition! {
    StringSchema => String,
    NumberSchema => Number,
    BooleanSchema => Boolean,
    UntitledSingleSelectEnumSchema => UntitledSingleSelect,
    TitledSingleSelectEnumSchema => TitledSingleSelect,
    UntitledMultiSelectEnumSchema => UntitledMultiSelect,
    TitledMultiSelectEnumSchema => TitledMultiSelect,
    LegacyTitledEnumSchema => LegacyTitled,
}
