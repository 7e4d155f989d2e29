//! Whether what a user filled in is what the form asked for (ELIC-32, ELIC-33).

use super::ElicitRequestParams;
use super::schema::{
    ElicitationSchema, EnumOption, NumberSchema, PrimitiveSchemaDefinition, StringFormat, StringSchema,
};
use crate::model::json::{Json, JsonMap};
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
    /// What is wrong, for people: the field, what was expected, and never what came.
    pub fn check(&self, content: &Json) -> Result<(), String> {
        let Ok(members) = content.decode::<JsonMap>() else {
            return Err("expected an object".into());
        };
        if let Some(name) = self.required.iter().find(|name| !members.contains_key(*name)) {
            return Err(format!("{name}: missing"));
        }
        for (name, field) in &self.properties {
            if let Some(value) = members.get(name) {
                field.check(value).map_err(|expected| format!("{name}: expected {expected}"))?;
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
    /// What was expected, if `value` is something else.
    pub(super) fn check(&self, value: &Json) -> Result<(), Cow<'static, str>> {
        match self {
            Self::String(schema) => schema.check(value),
            Self::Number(schema) => schema.check(value),
            Self::Boolean(_) => expect(value.decode::<bool>().is_ok(), "a boolean"),
            Self::UntitledSingleSelect(schema) => {
                one_of(value, |given| schema.values.iter().any(|it| it == given))
            }
            Self::TitledSingleSelect(schema) => one_of(value, |given| has(&schema.options, given)),
            Self::LegacyTitled(schema) => one_of(value, |given| schema.values.iter().any(|it| it == given)),
            Self::UntitledMultiSelect(schema) => {
                let (least, most) = (schema.min_items, schema.max_items);
                some_of(value, least, most, |given| schema.values.iter().any(|it| it == given))
            }
            Self::TitledMultiSelect(schema) => {
                some_of(value, schema.min_items, schema.max_items, |given| has(&schema.options, given))
            }
            // It was never sent.
            Self::Unknown(_) => Ok(()),
        }
    }
}

fn expect(is: bool, expected: &'static str) -> Result<(), Cow<'static, str>> {
    if is { Ok(()) } else { Err(Cow::Borrowed(expected)) }
}

/// A string that borrows where it holds no escapes.
#[derive(Deserialize)]
struct Text<'a>(#[serde(borrow)] Cow<'a, str>);

fn has(options: &[EnumOption], given: &str) -> bool {
    options.iter().any(|option| option.value == given)
}

fn one_of(value: &Json, known: impl Fn(&str) -> bool) -> Result<(), Cow<'static, str>> {
    let Ok(Text(given)) = value.decode() else { return Err("a string".into()) };
    expect(known(&given), "one of the choices")
}

fn some_of(
    value: &Json,
    least: Option<u64>,
    most: Option<u64>,
    known: impl Fn(&str) -> bool,
) -> Result<(), Cow<'static, str>> {
    let Ok(given) = value.decode::<Vec<Text<'_>>>() else { return Err("an array of strings".into()) };
    let count = given.len() as u64;
    if let Some(least) = least.filter(|least| count < *least) {
        return Err(format!("at least {least} choices").into());
    }
    if let Some(most) = most.filter(|most| count > *most) {
        return Err(format!("at most {most} choices").into());
    }
    expect(given.iter().all(|text| known(&text.0)), "some of the choices")
}

impl StringSchema {
    fn check(&self, value: &Json) -> Result<(), Cow<'static, str>> {
        let Ok(Text(text)) = value.decode() else { return Err("a string".into()) };
        let count = text.chars().count() as u64;
        if let Some(least) = self.min_length.filter(|least| count < *least) {
            return Err(format!("at least {least} characters").into());
        }
        if let Some(most) = self.max_length.filter(|most| count > *most) {
            return Err(format!("at most {most} characters").into());
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
    fn check(&self, value: &Json) -> Result<(), Cow<'static, str>> {
        let kind = if self.integer { "an integer" } else { "a number" };
        let Ok(number) = value.decode::<f64>() else { return Err(kind.into()) };
        // 30.0 is an integer in JSON Schema.
        expect(!self.integer || number % 1.0 == 0.0, kind)?;
        if let Some(least) = self.minimum.filter(|least| number < *least) {
            return Err(format!("at least {least}").into());
        }
        match self.maximum.filter(|most| number > *most) {
            Some(most) => Err(format!("at most {most}").into()),
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
            assert_eq!(check(field.clone(), value), Err(format!("f: expected {expected}")), "{value}");
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
        assert_eq!(check(r#"{"a":true,"b":"secret"}"#), Err("b: expected a boolean".into()));
        assert_eq!(check("[]"), Err("expected an object".into()));
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

    /// ELIC-33, ELIC-12, ELIC-13
    #[test]
    fn choices_are_of_those_that_there_are() {
        let values = || vec![String::from("a"), "b".into()];
        let options = || vec![EnumOption::new("a", "A"), EnumOption::new("b", "B")];
        let one = "one of the choices";
        expects(UntitledSingleSelectEnumSchema::new(values()), &[r#""a""#], &[r#""c""#, r#""A""#], one);
        expects(TitledSingleSelectEnumSchema::new(options()), &[r#""b""#], &[r#""B""#], one);
        expects(LegacyTitledEnumSchema::new(values(), values()), &[r#""a""#], &[r#""c""#], one);
        expects(UntitledSingleSelectEnumSchema::new(values()), &[], &["1"], "a string");
        let some = "some of the choices";
        expects(UntitledMultiSelectEnumSchema::new(values()), &["[]", r#"["a","b"]"#], &[r#"["c"]"#], some);
        expects(TitledMultiSelectEnumSchema::new(options()), &[r#"["b"]"#], &[r#"["a","B"]"#], some);
        let few = || TitledMultiSelectEnumSchema::new(options()).min_items(1u64).max_items(1u64);
        expects(few(), &[r#"["b"]"#], &["[]"], "at least 1 choices");
        expects(few(), &[], &[r#"["a","b"]"#], "at most 1 choices");
        expects(few(), &[], &[r#""a""#], "an array of strings");
    }
}
