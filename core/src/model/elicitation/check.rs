//! Whether what a user filled in is what the form asked for (ELIC-32, ELIC-33).

use super::ElicitRequestParams;
use super::schema::{
    ElicitationSchema, EnumOption, NumberSchema, PrimitiveSchemaDefinition, StringFormat, StringSchema,
};
use crate::model::json::{Json, JsonMap};
use crate::text::{self, Excerpt};
use crate::wire::jsonrpc::kind_name;
use alloc::borrow::Cow;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use serde::Deserialize;

impl ElicitationSchema {
    /// Whether `content` could be the answer to a form of this schema. Members that the form does not have are
    /// not looked at.
    ///
    /// # Errors
    /// What is wrong, for people: the field, what was expected, and of what came the kind alone.
    pub fn check(&self, content: &Json) -> Result<(), String> {
        let Ok(members) = content.decode::<JsonMap>() else {
            return Err(format!("expected an object, found {}", kind_name(content.get())));
        };
        if let Some(name) = self.required.iter().find(|name| !members.contains_key(*name)) {
            return Err(format!("{}: missing", Excerpt(name)));
        }
        for (name, field) in &self.properties {
            if let Some(value) = members.get(name) {
                field.check(value).map_err(|fault| format!("{}: expected {fault}", Excerpt(name)))?;
            }
        }
        Ok(())
    }
}

impl ElicitRequestParams {
    /// Whether this can be asked: a form whose fields there are (ELIC-11), or a URL that is one (ELIC-17).
    ///
    /// # Errors
    /// What is wrong, for people.
    pub fn check(&self) -> Result<(), &'static str> {
        let schema = match self {
            Self::Form(params) => &params.requested_schema,
            Self::Url(params) if is_uri(&params.url) => return Ok(()),
            Self::Url(_) => return Err("the page to visit must be named by a whole URL"),
        };
        let fields = &schema.properties;
        if fields.iter().any(|(_, field)| matches!(field, PrimitiveSchemaDefinition::Unknown(_))) {
            return Err("a form has fields of kinds that forms cannot have");
        }
        if !schema.required.iter().all(|name| fields.iter().any(|(field, _)| field == name)) {
            return Err("a form requires a field that it does not have");
        }
        Ok(())
    }
}

impl PrimitiveSchemaDefinition {
    /// Whether the field can be filled in with `value`.
    ///
    /// # Errors
    /// What was expected, for people, and of what came the kind alone.
    pub fn check(&self, value: &Json) -> Result<(), String> {
        match self {
            Self::String(schema) => schema.check(value),
            Self::Number(schema) => schema.check(value),
            Self::Boolean(_) => value.decode::<bool>().map(drop).map_err(|_| kind("a boolean", value)),
            Self::UntitledSingleSelect(schema) => one_of(value, texts(&schema.values)),
            Self::TitledSingleSelect(schema) => one_of(value, values(&schema.options)),
            Self::LegacyTitled(schema) => one_of(value, texts(&schema.values)),
            Self::UntitledMultiSelect(schema) => {
                some_of(value, schema.min_items, schema.max_items, texts(&schema.values))
            }
            Self::TitledMultiSelect(schema) => {
                some_of(value, schema.min_items, schema.max_items, values(&schema.options))
            }
            // It was never sent.
            Self::Unknown(_) => Ok(()),
        }
    }
}

fn expect(is: bool, expected: &str) -> Result<(), String> {
    if is { Ok(()) } else { Err(expected.into()) }
}

/// Something of another kind came.
fn kind(expected: &str, value: &Json) -> String {
    format!("{expected}, found {}", kind_name(value.get()))
}

/// A string that borrows where it holds no escapes.
#[derive(Deserialize)]
struct Text<'a>(#[serde(borrow)] Cow<'a, str>);

fn texts(choices: &[String]) -> impl Iterator<Item = &str> + Clone {
    choices.iter().map(String::as_str)
}

fn values(options: &[EnumOption]) -> impl Iterator<Item = &str> + Clone {
    options.iter().map(|option| option.value.as_str())
}

fn one_of<'a>(value: &Json, choices: impl Iterator<Item = &'a str> + Clone) -> Result<(), String> {
    let Ok(Text(given)) = value.decode() else { return Err(kind("a string", value)) };
    let known = choices.clone().any(|choice| choice == given);
    if known { Ok(()) } else { Err(format!("one of: {}", text::list(choices))) }
}

fn some_of<'a>(
    value: &Json,
    least: Option<u64>,
    most: Option<u64>,
    choices: impl Iterator<Item = &'a str> + Clone,
) -> Result<(), String> {
    let Ok(given) = value.decode::<Vec<Text<'_>>>() else { return Err(kind("an array of strings", value)) };
    let count = given.len() as u64;
    if let Some(least) = least.filter(|least| count < *least) {
        return Err(format!("at least {least} choices"));
    }
    if let Some(most) = most.filter(|most| count > *most) {
        return Err(format!("at most {most} choices"));
    }
    let known = given.iter().all(|text| choices.clone().any(|choice| choice == text.0));
    if known { Ok(()) } else { Err(format!("some of: {}", text::list(choices))) }
}

impl StringSchema {
    fn check(&self, value: &Json) -> Result<(), String> {
        let Ok(Text(text)) = value.decode() else { return Err(kind("a string", value)) };
        let count = text.chars().count() as u64;
        if let Some(least) = self.min_length.filter(|least| count < *least) {
            return Err(format!("at least {least} characters"));
        }
        if let Some(most) = self.max_length.filter(|most| count > *most) {
            return Err(format!("at most {most} characters"));
        }
        match self.format {
            None => Ok(()),
            Some(StringFormat::Email) => expect(is_email(&text), "an e-mail address"),
            Some(StringFormat::Uri) => expect(is_uri(&text), "a URI"),
            Some(StringFormat::Date) => expect(is_date(&text), "a date such as 2026-07-28"),
            Some(StringFormat::DateTime) => {
                expect(is_date_time(&text), "a date and time such as 2026-07-28T09:30:00Z")
            }
        }
    }
}

impl NumberSchema {
    fn check(&self, value: &Json) -> Result<(), String> {
        let expected = if self.integer { "an integer" } else { "a number" };
        let Ok(number) = value.decode::<f64>() else { return Err(kind(expected, value)) };
        // 30.0 is an integer in JSON Schema.
        if self.integer && number % 1.0 != 0.0 {
            return Err(kind(expected, value));
        }
        if let Some(least) = self.minimum.filter(|least| number < *least) {
            return Err(format!("at least {least}"));
        }
        match self.maximum.filter(|most| number > *most) {
            Some(most) => Err(format!("at most {most}")),
            None => Ok(()),
        }
    }
}

/// Something on both sides of one `@`: whether there is such an address, only a message to it can tell.
fn is_email(text: &str) -> bool {
    let parts = text.rsplit_once('@');
    let plain = !text.chars().any(|character| character.is_whitespace() || character.is_control());
    plain && parts.is_some_and(|(name, host)| !name.is_empty() && !host.is_empty() && !name.ends_with('@'))
}

fn is_uri(text: &str) -> bool {
    let Some((scheme, rest)) = text.split_once(':') else { return false };
    let begins = scheme.bytes().next().is_some_and(|first| first.is_ascii_alphabetic());
    let plain = !text.chars().any(|character| character.is_whitespace() || character.is_control());
    let scheme = scheme.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"+-.".contains(&byte));
    begins && scheme && plain && !rest.is_empty()
}

/// `full-date` of RFC 3339.
fn is_date(text: &str) -> bool {
    let mut parts = text.split('-');
    let (year, month, day) = (digits(parts.next(), 4), digits(parts.next(), 2), digits(parts.next(), 2));
    let (Some(year), Some(month), Some(day), None) = (year, month, day, parts.next()) else { return false };
    let leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    let days = match month {
        2 if leap => 29,
        2 => 28,
        4 | 6 | 9 | 11 => 30,
        1..=12 => 31,
        _ => return false,
    };
    (1..=days).contains(&day)
}

/// `date-time` of RFC 3339.
fn is_date_time(text: &str) -> bool {
    let Some((date, time)) = text.split_once(['T', 't', ' ']) else { return false };
    let (clock, zone) = match time.find(['Z', 'z', '+', '-']) {
        Some(place) => time.split_at(place),
        None => return false,
    };
    let zoned = match zone.split_at_checked(1) {
        Some(("Z" | "z", rest)) => rest.is_empty(),
        Some((_, offset)) => is_clock(offset, 2),
        None => false,
    };
    let (clock, fraction) = clock.split_once('.').unwrap_or((clock, "0"));
    let fraction = !fraction.is_empty() && fraction.bytes().all(|byte| byte.is_ascii_digit());
    is_date(date) && zoned && fraction && is_clock(clock, 3)
}

/// Hours and minutes, and as a third part seconds, of which there can be 61.
fn is_clock(text: &str, parts: usize) -> bool {
    let most = [23, 59, 60];
    let mut given = text.split(':');
    let fits = most.iter().take(parts).all(|most| digits(given.next(), 2).is_some_and(|part| part <= *most));
    fits && given.next().is_none()
}

fn digits(part: Option<&str>, count: usize) -> Option<u32> {
    let part = part.filter(|part| part.len() == count && part.bytes().all(|byte| byte.is_ascii_digit()))?;
    part.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::super::schema::{
        BooleanSchema, LegacyTitledEnumSchema, TitledMultiSelectEnumSchema, TitledSingleSelectEnumSchema,
        UntitledMultiSelectEnumSchema, UntitledSingleSelectEnumSchema,
    };
    use super::super::{ElicitRequestFormParams, ElicitRequestUrlParams};
    use super::*;
    use alloc::vec;

    fn check(field: impl Into<PrimitiveSchemaDefinition>, value: &str) -> Result<(), String> {
        let schema = ElicitationSchema::new().required("f", field);
        schema.check(&Json::parse(format!(r#"{{"f":{value}}}"#)).unwrap())
    }

    #[track_caller]
    fn expects(field: impl Into<PrimitiveSchemaDefinition>, good: &[&str], bad: &[&str], expected: &str) {
        let field = field.into();
        for value in good {
            assert_eq!(check(field.clone(), value), Ok(()), "{value}");
        }
        for value in bad {
            let told = check(field.clone(), value).unwrap_err();
            let told = told.split_once(", found ").map_or(&*told, |(told, _)| told);
            assert_eq!(told, format!("f: expected {expected}"), "{value}");
        }
    }

    /// ELIC-33
    #[test]
    fn required_fields_are_there_and_others_are_not_looked_at() {
        let schema =
            ElicitationSchema::new().required("a", BooleanSchema::new()).optional("b", BooleanSchema::new());
        let check = |text: &str| schema.check(&Json::parse(text).unwrap());
        assert_eq!(check(r#"{"a":true,"c":[]}"#), Ok(()));
        assert_eq!(check(r#"{"b":true}"#), Err("a: missing".into()));
        assert_eq!(check(r#"{"a":true,"b":"secret"}"#), Err("b: expected a boolean, found a string".into()));
        assert_eq!(check("[]"), Err("expected an object, found an array".into()));
    }

    /// ELIC-11, ELIC-17
    #[test]
    fn what_cannot_be_asked_is_known_before() {
        let form = |schema| ElicitRequestParams::from(ElicitRequestFormParams::new("m", schema)).check();
        let page = |url| ElicitRequestParams::from(ElicitRequestUrlParams::new("m", url)).check();
        assert_eq!(form(ElicitationSchema::new().required("f", BooleanSchema::new())), Ok(()));
        let mut schema = ElicitationSchema::new();
        schema.required.push("f".into());
        assert!(form(schema).is_err());
        let unknown = PrimitiveSchemaDefinition::Unknown(Json::empty_object());
        assert!(form(ElicitationSchema::new().optional("f", unknown)).is_err());
        assert_eq!(page("https://example.com/a?b=c"), Ok(()));
        assert!(page("/a").is_err() && page("https://example.com/a b").is_err());
    }

    /// ELIC-33, ELIC-11
    #[test]
    fn text_has_its_length_in_characters_and_its_format() {
        let text = || StringSchema::new();
        expects(text(), &[r#""""#, r#""x\n""#], &["1", "null", "[]"], "a string");
        expects(text().min_length(2u64), &[r#""äß""#], &[r#""ä""#], "at least 2 characters");
        expects(text().max_length(2u64), &[r#""äß""#], &[r#""abc""#], "at most 2 characters");
        let (good, bad) =
            (&[r#""a@b""#, r#""a.b+c@d.example""#][..], &[r#""a""#, r#""@b""#, r#""a b@c""#][..]);
        expects(text().format(StringFormat::Email), good, bad, "an e-mail address");
        let (good, bad) =
            (&[r#""https://a/b""#, r#""urn:x:y""#][..], &[r#""a/b""#, r#""1:x""#, r#""a: b""#][..]);
        expects(text().format(StringFormat::Uri), good, bad, "a URI");
        let good = [r#""2024-02-29""#, r#""2000-02-29""#, r#""2026-12-31""#];
        let bad =
            [r#""2026-02-29""#, r#""1900-02-29""#, r#""2026-13-01""#, r#""2026-1-01""#, r#""2026-01-01-""#];
        expects(text().format(StringFormat::Date), &good, &bad, "a date such as 2026-07-28");
        let good = [r#""2026-07-28T09:30:00Z""#, r#""2026-07-28t09:30:60.5+02:00""#];
        let bad = [
            r#""2026-07-28""#,
            r#""2026-07-28T09:30Z""#,
            r#""2026-07-28T24:00:00Z""#,
            r#""2026-07-28T09:30:00""#,
            r#""2026-07-28T09:30:00+2""#,
            r#""2026-07-28T09:30:00.Z""#,
        ];
        let expected = "a date and time such as 2026-07-28T09:30:00Z";
        expects(text().format(StringFormat::DateTime), &good, &bad, expected);
    }

    /// ELIC-33
    #[test]
    fn numbers_have_bounds_and_may_have_to_be_whole() {
        expects(NumberSchema::number(), &["1", "-1.5", "1e3"], &[r#""1""#, "true"], "a number");
        expects(NumberSchema::integer(), &["1", "30.0", "-2"], &["1.5", r#""1""#], "an integer");
        expects(NumberSchema::number().minimum(1.5), &["1.5"], &["1.4"], "at least 1.5");
        expects(NumberSchema::integer().maximum(3.0), &["3"], &["4"], "at most 3");
    }

    /// ELIC-33: what came is told by its kind alone, and only where that is wrong; choices and names are bounded.
    #[test]
    fn a_fault_says_what_kind_came_and_which_choices_there_are() {
        let text = |field: PrimitiveSchemaDefinition, value: &str| check(field, value).unwrap_err();
        for (value, kind) in [
            ("1", "a number"),
            ("true", "a boolean"),
            ("null", "null"),
            ("[]", "an array"),
            ("{}", "an object"),
        ] {
            assert_eq!(
                text(StringSchema::new().into(), value),
                format!("f: expected a string, found {kind}")
            );
        }
        let whole = text(NumberSchema::integer().into(), "1.5");
        assert_eq!(whole, "f: expected an integer, found a number");
        let short = text(StringSchema::new().min_length(9u64).into(), r#""s3cret""#);
        assert_eq!(short, "f: expected at least 9 characters");
        let many: Vec<String> = (0..100).map(|count| format!("choice {count}")).collect();
        let choice = text(UntitledSingleSelectEnumSchema::new(many).into(), r#""s3cret""#);
        assert!(
            choice.starts_with("f: expected one of: choice 0, choice 1") && choice.ends_with('…'),
            "{choice}"
        );
        assert!(choice.len() < 200 && !choice.contains("s3cret"), "{choice}");
        let name = "n".repeat(1_000);
        let schema = ElicitationSchema::new().required(name, BooleanSchema::new());
        assert!(schema.check(&Json::empty_object()).unwrap_err().len() < 300);
    }

    /// ELIC-33, ELIC-12, ELIC-13
    #[test]
    fn choices_are_of_those_that_there_are() {
        let values = || vec![String::from("a"), "b".into()];
        let options = || vec![EnumOption::new("a", "A"), EnumOption::new("b", "B")];
        let one = "one of: a, b";
        expects(UntitledSingleSelectEnumSchema::new(values()), &[r#""a""#], &[r#""c""#, r#""A""#], one);
        expects(TitledSingleSelectEnumSchema::new(options()), &[r#""b""#], &[r#""B""#], one);
        expects(LegacyTitledEnumSchema::new(values(), values()), &[r#""a""#], &[r#""c""#], one);
        expects(UntitledSingleSelectEnumSchema::new(values()), &[], &["1"], "a string");
        let some = "some of: a, b";
        expects(UntitledMultiSelectEnumSchema::new(values()), &["[]", r#"["a","b"]"#], &[r#"["c"]"#], some);
        expects(TitledMultiSelectEnumSchema::new(options()), &[r#"["b"]"#], &[r#"["a","B"]"#], some);
        let few = || TitledMultiSelectEnumSchema::new(options()).min_items(1u64).max_items(1u64);
        expects(few(), &[r#"["b"]"#], &["[]"], "at least 1 choices");
        expects(few(), &[], &[r#"["a","b"]"#], "at most 1 choices");
        expects(few(), &[], &[r#""a""#], "an array of strings");
    }
}
