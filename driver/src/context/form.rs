//! From a Rust type to a form: its JSON Schema, as far as forms can say it.
//!
//! <https://modelcontextprotocol.io/specification/2026-07-28/client/elicitation#requested-schema>

use mcp_proto::error::ApiMisuse;
use mcp_proto::model::{ElicitationSchema, Json, PrimitiveSchemaDefinition};
use schemars::JsonSchema;
use serde_json::{Map, Value};

use crate::tool::schema_of;

type Members = Map<String, Value>;

/// The form that a value of this type fills in.
pub(super) fn of<T: JsonSchema>() -> Result<ElicitationSchema, ApiMisuse> {
    let name = T::schema_name();
    let schema = schema_of::<T>().unwrap_or_else(Json::empty_object);
    from_schema(&schema)
        .map_err(|reason| ApiMisuse::new(format!("`{name}` cannot be asked for by a form: {reason}")))
}

fn from_schema(schema: &Json) -> Result<ElicitationSchema, String> {
    let root: Members = schema.decode().map_err(|_| "it must be a struct")?;
    let properties = match (root.get("type").and_then(Value::as_str), root.get("properties")) {
        (Some("object"), Some(Value::Object(properties))) => properties.clone(),
        (Some("object"), None) if !root.contains_key("additionalProperties") => Members::new(),
        _ => return Err("it must be a struct with named fields".into()),
    };
    let unsaid = ["oneOf", "anyOf", "allOf", "patternProperties", "$ref"];
    if let Some(keyword) = unsaid.into_iter().find(|keyword| root.contains_key(*keyword)) {
        return Err(format!("a form cannot say `{keyword}`"));
    }
    let required = root.get("required").and_then(Value::as_array).cloned().unwrap_or_default();
    let mut form = ElicitationSchema::new();
    for (name, property) in properties {
        let field = field(property, &root).map_err(|reason| format!("field `{name}`: {reason}"))?;
        if required.iter().any(|other| other.as_str() == Some(&name)) {
            form.required.push(name.clone());
        }
        form.properties.push((name, field));
    }
    Ok(form)
}

/// Members that a field may have besides those of its kind, and that say nothing about its value.
const HEAD: [&str; 4] = ["type", "title", "description", "default"];

fn field(property: Value, root: &Members) -> Result<PrimitiveSchemaDefinition, String> {
    let mut members = simple(property, root)?;
    // How many bits a number has is no matter of people.
    if matches!(kind(&members), Some("integer" | "number")) {
        members.remove("format");
    }
    let known: &[&str] = match kind(&members) {
        Some("string") if members.contains_key("enum") => &["enum"],
        Some("string") if members.contains_key("oneOf") => {
            title_options(members.get_mut("oneOf"))?;
            &["oneOf"]
        }
        Some("string") => &["minLength", "maxLength", "format"],
        Some("integer" | "number") => &["minimum", "maximum"],
        Some("boolean") => &[],
        Some("array") => {
            items(&mut members, root)?;
            &["items", "minItems", "maxItems"]
        }
        Some(other) => return Err(format!("expected a string, number, boolean or choice, found `{other}`")),
        None => return Err("expected a string, number, boolean or choice".into()),
    };
    if let Some(keyword) =
        members.keys().find(|it| !known.contains(&it.as_str()) && !HEAD.contains(&it.as_str()))
    {
        return Err(format!("a form cannot say `{keyword}`"));
    }
    if let Some(format) = members.get("format").and_then(Value::as_str)
        && !["email", "uri", "date", "date-time"].contains(&format)
    {
        return Err(format!("a form has no format `{format}`"));
    }
    match serde_json::from_value(Value::Object(members)) {
        Ok(PrimitiveSchemaDefinition::Unknown(_)) => Err("a form has no such field".into()),
        Ok(field) => Ok(field),
        Err(error) => Err(error.to_string()),
    }
}

fn kind(members: &Members) -> Option<&str> {
    members.get("type").and_then(Value::as_str)
}

/// A schema without the ways in which types are said to be optional or defined elsewhere.
fn simple(property: Value, root: &Members) -> Result<Members, String> {
    let Value::Object(mut members) = property else {
        return Err("any value would do; expected a string, number, boolean or choice".into());
    };
    if members.get("default") == Some(&Value::Null) {
        members.remove("default");
    }
    if let Some(Value::Array(types)) = members.get("type") {
        let mut types = types.iter().filter(|it| it.as_str() != Some("null"));
        match (types.next(), types.next()) {
            (Some(only), None) => {
                let only = only.clone();
                members.insert("type".into(), only);
            }
            _ => return Err("expected a value of one type".into()),
        }
    }
    if let Some(Value::Array(choices)) = members.remove("anyOf") {
        let null = |choice: &Value| choice.get("type").and_then(Value::as_str) == Some("null");
        let mut choices = choices.into_iter().filter(|choice| !null(choice));
        let (Some(Value::Object(only)), None) = (choices.next(), choices.next()) else {
            return Err("a form cannot say `anyOf`".into());
        };
        merge(&mut members, only);
    }
    if let Some(Value::String(reference)) = members.remove("$ref") {
        let name = reference.strip_prefix("#/$defs/").unwrap_or_default();
        let Some(Value::Object(target)) = root.get("$defs").and_then(|defs| defs.get(name)) else {
            return Err(format!("`{reference}` is not there"));
        };
        merge(&mut members, target.clone());
    }
    // A choice of which only some values are described is a choice within a choice.
    if let Some(Value::Array(choices)) = members.get_mut("oneOf") {
        *choices = std::mem::take(choices).into_iter().flat_map(spread).collect();
        members.entry("type").or_insert_with(|| "string".into());
    }
    Ok(members)
}

/// What is said where something is used wins over what is said where it is defined.
fn merge(members: &mut Members, definition: Members) {
    for (name, value) in definition {
        members.entry(name).or_insert(value);
    }
}

/// The values of one branch of a choice, each on its own.
fn spread(choice: Value) -> Vec<Value> {
    match choice.get("enum").and_then(Value::as_array) {
        Some(values) => values.iter().map(|value| serde_json::json!({ "const": value })).collect(),
        None => vec![choice],
    }
}

/// A choice has a title: its own, its description, or itself.
fn title_options(options: Option<&mut Value>) -> Result<(), String> {
    let Some(Value::Array(options)) = options else { return Err("a form cannot say `oneOf`".into()) };
    for option in options {
        let Some(Value::String(value)) = option.get("const").cloned() else {
            return Err("expected choices without data".into());
        };
        let title = option.get("title").or_else(|| option.get("description")).cloned();
        *option = serde_json::json!({ "const": value, "title": title.unwrap_or_else(|| value.into()) });
    }
    Ok(())
}

/// Several of some values.
fn items(members: &mut Members, root: &Members) -> Result<(), String> {
    // A set has each once, as a choice has anyway.
    members.remove("uniqueItems");
    let items = members.remove("items").ok_or("expected a list of choices")?;
    let mut items = simple(items, root)?;
    let items = if let Some(values) = items.remove("enum") {
        serde_json::json!({ "type": "string", "enum": values })
    } else if let Some(mut options) = items.remove("oneOf") {
        title_options(Some(&mut options))?;
        serde_json::json!({ "anyOf": options })
    } else {
        return Err("expected a list of choices".into());
    };
    members.insert("items".into(), items);
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use mcp_proto::dialect::Revision;
    use mcp_proto::model::In;
    use schemars::JsonSchema;
    use serde_json::{Value, json};

    use super::of;

    /// Where it goes.
    #[derive(JsonSchema)]
    #[allow(dead_code, reason = "read by its schema")]
    struct Trip {
        /// How it is called
        #[schemars(length(min = 1, max = 40))]
        name: String,
        #[schemars(extend("format" = "email"))]
        contact: Option<String>,
        #[schemars(range(min = 1, max = 9))]
        people: u8,
        #[serde(default = "half")]
        budget: f64,
        #[serde(default)]
        flexible: bool,
        class: Class,
        meal: Option<Meal>,
        #[schemars(length(max = 2))]
        extras: Vec<Class>,
        treats: Vec<Meal>,
    }

    fn half() -> f64 {
        0.5
    }

    #[derive(JsonSchema)]
    #[serde(rename_all = "lowercase")]
    #[allow(dead_code, reason = "read by its schema")]
    enum Class {
        First,
        Second,
    }

    /// What to eat
    #[derive(JsonSchema)]
    #[serde(rename_all = "lowercase")]
    #[allow(dead_code, reason = "read by its schema")]
    enum Meal {
        /// Soup of the day
        Soup,
        #[schemars(title = "A salad")]
        Salad,
        None,
    }

    fn form<T: JsonSchema>() -> Value {
        let schema = of::<T>().unwrap();
        serde_json::to_value(In(Revision::V2025_11_25, &schema)).unwrap()
    }

    /// ELIC-11, ELIC-12, ELIC-14: a type becomes a flat form of primitives and choices.
    #[test]
    fn a_struct_is_a_form() {
        let meals = json!([
            // Those without words come first.
            { "const": "none", "title": "none" },
            { "const": "soup", "title": "Soup of the day" },
            { "const": "salad", "title": "A salad" },
        ]);
        let expected = json!({
            "type": "object",
            "properties": {
                "name": { "type": "string", "description": "How it is called", "minLength": 1, "maxLength": 40 },
                "contact": { "type": "string", "format": "email" },
                "people": { "type": "integer", "minimum": 1, "maximum": 9 },
                "budget": { "type": "number", "default": 0.5 },
                "flexible": { "type": "boolean", "default": false },
                "class": { "type": "string", "enum": ["first", "second"] },
                "meal": { "type": "string", "description": "What to eat", "oneOf": meals },
                "extras": { "type": "array", "maxItems": 2, "items": { "type": "string", "enum": ["first", "second"] } },
                "treats": { "type": "array", "items": { "anyOf": meals } },
            },
            "required": ["class", "extras", "name", "people", "treats"],
        });
        assert_eq!(form::<Trip>(), expected);
    }

    /// A form without fields asks for nothing but consent.
    #[test]
    fn a_form_may_have_no_fields() {
        #[derive(JsonSchema)]
        struct Consent {}
        assert_eq!(form::<Consent>(), json!({ "type": "object", "properties": {} }));
    }

    /// ELIC-11: what forms cannot say is refused, and the error says where and what.
    #[test]
    fn what_forms_cannot_say_is_refused_by_name() {
        #[derive(JsonSchema)]
        #[allow(dead_code, reason = "read by its schema")]
        struct Nested<T> {
            field: T,
        }
        #[derive(JsonSchema)]
        #[allow(dead_code, reason = "read by its schema")]
        struct Pattern {
            #[schemars(regex(pattern = "^a"))]
            field: String,
        }
        #[derive(JsonSchema)]
        #[allow(dead_code, reason = "read by its schema")]
        enum Data {
            A(u8),
            B,
        }
        fn refusal<T: JsonSchema>() -> String {
            of::<T>().unwrap_err().message
        }
        for (message, reason) in [
            (
                refusal::<Nested<Trip>>(),
                "field `field`: expected a string, number, boolean or choice, found `object`",
            ),
            (refusal::<Nested<Vec<String>>>(), "field `field`: expected a list of choices"),
            (refusal::<Nested<(u8, u8)>>(), "field `field`: expected a list of choices"),
            (refusal::<Nested<BTreeMap<String, u8>>>(), "found `object`"),
            (refusal::<Nested<Value>>(), "field `field`: any value would do"),
            (refusal::<Nested<Data>>(), "field `field`: expected choices without data"),
            (refusal::<Pattern>(), "field `field`: a form cannot say `pattern`"),
            (refusal::<String>(), "it must be a struct with named fields"),
            (refusal::<Data>(), "it must be a struct with named fields"),
            (refusal::<BTreeMap<String, u8>>(), "it must be a struct with named fields"),
        ] {
            assert!(message.contains(reason), "{message}");
        }
        assert!(refusal::<Pattern>().starts_with("`Pattern` cannot be asked for by a form: "));
    }
}
