//! What there is to show of a field to whoever fills it in.

use super::schema::{EnumOption, PrimitiveSchemaDefinition, StringFormat};
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

impl PrimitiveSchemaDefinition {
    /// The name of the field for people.
    pub fn title(&self) -> Option<&str> {
        match self {
            Self::String(schema) => schema.title.as_deref(),
            Self::Number(schema) => schema.title.as_deref(),
            Self::Boolean(schema) => schema.title.as_deref(),
            Self::UntitledSingleSelect(schema) => schema.title.as_deref(),
            Self::TitledSingleSelect(schema) => schema.title.as_deref(),
            Self::LegacyTitled(schema) => schema.title.as_deref(),
            Self::UntitledMultiSelect(schema) => schema.title.as_deref(),
            Self::TitledMultiSelect(schema) => schema.title.as_deref(),
            Self::Unknown(_) => None,
        }
    }

    /// What the field is for.
    pub fn description(&self) -> Option<&str> {
        match self {
            Self::String(schema) => schema.description.as_deref(),
            Self::Number(schema) => schema.description.as_deref(),
            Self::Boolean(schema) => schema.description.as_deref(),
            Self::UntitledSingleSelect(schema) => schema.description.as_deref(),
            Self::TitledSingleSelect(schema) => schema.description.as_deref(),
            Self::LegacyTitled(schema) => schema.description.as_deref(),
            Self::UntitledMultiSelect(schema) => schema.description.as_deref(),
            Self::TitledMultiSelect(schema) => schema.description.as_deref(),
            Self::Unknown(_) => None,
        }
    }

    /// What there is to choose from: each value, and what people see. Empty where there are no choices.
    pub fn choices(&self) -> Vec<(&str, &str)> {
        match self {
            Self::UntitledSingleSelect(schema) => named(&schema.values, &[]),
            Self::UntitledMultiSelect(schema) => named(&schema.values, &[]),
            Self::TitledSingleSelect(schema) => titled(&schema.options),
            Self::TitledMultiSelect(schema) => titled(&schema.options),
            Self::LegacyTitled(schema) => named(&schema.values, &schema.names),
            Self::String(_) | Self::Number(_) | Self::Boolean(_) | Self::Unknown(_) => Vec::new(),
        }
    }

    /// Whether more than one of the choices may be taken.
    pub fn takes_several(&self) -> bool {
        matches!(self, Self::UntitledMultiSelect(_) | Self::TitledMultiSelect(_))
    }

    /// What fits, in words and without the choices: `an integer, 0 to 3`, `a date such as 2026-07-28`.
    pub fn expected(&self) -> String {
        match self {
            Self::String(schema) => {
                let kind = match schema.format {
                    None => "text",
                    Some(StringFormat::Email) => "an e-mail address",
                    Some(StringFormat::Uri) => "a URI",
                    Some(StringFormat::Date) => "a date such as 2026-07-28",
                    Some(StringFormat::DateTime) => "a date and time such as 2026-07-28T09:30:00Z",
                };
                match (schema.min_length, schema.max_length) {
                    (None, None) => kind.into(),
                    (least, most) => format!("{kind}, {} characters", range(least, most)),
                }
            }
            Self::Number(schema) => {
                let kind = if schema.integer { "an integer" } else { "a number" };
                match (schema.minimum, schema.maximum) {
                    (None, None) => kind.into(),
                    (least, most) => format!("{kind}, {}", range(least, most)),
                }
            }
            Self::Boolean(_) => "true or false".into(),
            Self::UntitledSingleSelect(_) | Self::TitledSingleSelect(_) | Self::LegacyTitled(_) => {
                "one of the choices".into()
            }
            Self::UntitledMultiSelect(schema) => some(schema.min_items, schema.max_items),
            Self::TitledMultiSelect(schema) => some(schema.min_items, schema.max_items),
            Self::Unknown(_) => "something that forms do not have".into(),
        }
    }
}

/// Values, with names where there are any.
fn named<'a>(values: &'a [String], names: &'a [String]) -> Vec<(&'a str, &'a str)> {
    let names = names.iter().map(Some).chain(core::iter::repeat(None));
    values.iter().zip(names).map(|(value, name)| (&**value, &**name.unwrap_or(value))).collect()
}

fn titled(options: &[EnumOption]) -> Vec<(&str, &str)> {
    options.iter().map(|option| (&*option.value, &*option.title)).collect()
}

fn some(least: Option<u64>, most: Option<u64>) -> String {
    match (least, most) {
        (None, None) => "any of the choices".into(),
        (least, most) => format!("{} of the choices", range(least, most)),
    }
}

fn range<T: core::fmt::Display>(least: Option<T>, most: Option<T>) -> String {
    match (least, most) {
        (Some(least), Some(most)) => format!("{least} to {most}"),
        (Some(least), None) => format!("at least {least}"),
        (None, Some(most)) => format!("at most {most}"),
        (None, None) => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::super::schema::{
        BooleanSchema, LegacyTitledEnumSchema, NumberSchema, StringSchema, TitledMultiSelectEnumSchema,
        TitledSingleSelectEnumSchema, UntitledMultiSelectEnumSchema, UntitledSingleSelectEnumSchema,
    };
    use super::*;
    use alloc::vec;

    fn expected(field: impl Into<PrimitiveSchemaDefinition>) -> String {
        field.into().expected()
    }

    /// ELIC-11: what fits is told in words, with its bounds.
    #[test]
    fn what_fits_is_told() {
        let text = StringSchema::new;
        assert_eq!(expected(text()), "text");
        assert_eq!(expected(text().min_length(2u64).max_length(9u64)), "text, 2 to 9 characters");
        let mail = text().format(StringFormat::Email).max_length(9u64);
        assert_eq!(expected(mail), "an e-mail address, at most 9 characters");
        assert_eq!(expected(NumberSchema::integer().minimum(0.0).maximum(3.0)), "an integer, 0 to 3");
        assert_eq!(expected(NumberSchema::number().minimum(1.5)), "a number, at least 1.5");
        assert_eq!(expected(BooleanSchema::new()), "true or false");
        let values = vec![String::from("a"), "b".into()];
        assert_eq!(expected(UntitledSingleSelectEnumSchema::new(values.clone())), "one of the choices");
        let several = UntitledMultiSelectEnumSchema::new(values);
        assert_eq!(expected(several.clone()), "any of the choices");
        assert_eq!(expected(several.min_items(1u64).max_items(2u64)), "1 to 2 of the choices");
    }

    /// ELIC-12, ELIC-13: choices have a value and what people see, in the order of the server.
    #[test]
    fn choices_are_shown_by_their_names() {
        let options = || vec![EnumOption::new("b", "Bee"), EnumOption::new("a", "Ay")];
        let choices = |field: PrimitiveSchemaDefinition| {
            let choices = field.choices().into_iter();
            choices.map(|(value, name)| format!("{value}={name}")).collect::<Vec<_>>().join(" ")
        };
        let values = || vec![String::from("b"), "a".into()];
        assert_eq!(choices(TitledSingleSelectEnumSchema::new(options()).into()), "b=Bee a=Ay");
        assert_eq!(choices(TitledMultiSelectEnumSchema::new(options()).into()), "b=Bee a=Ay");
        assert_eq!(choices(UntitledSingleSelectEnumSchema::new(values()).into()), "b=b a=a");
        let named = LegacyTitledEnumSchema::new(values(), vec!["Bee".into()]);
        assert_eq!(choices(named.into()), "b=Bee a=a");
        assert_eq!(choices(StringSchema::new().into()), "");
    }

    /// ELIC-11: the words of the server for people.
    #[test]
    fn title_and_description_are_those_of_the_field() {
        let field = PrimitiveSchemaDefinition::from(BooleanSchema::new().title("T").description("D"));
        assert_eq!((field.title(), field.description()), (Some("T"), Some("D")));
        let field = PrimitiveSchemaDefinition::from(NumberSchema::integer());
        assert_eq!((field.title(), field.description()), (None, None));
    }
}
