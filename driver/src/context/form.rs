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
