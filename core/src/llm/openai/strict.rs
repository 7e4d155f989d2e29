//! Schemas that a model can be held to: the part of JSON Schema that OpenAI's strict mode has.

use alloc::string::String;
use alloc::vec;
use alloc::vec::Vec;

use super::super::tree::{Members, Tree, get, set};

/// Levels of schemas in one another.
const DEPTH: usize = 10;
/// Properties of all objects together.
const PROPERTIES: usize = 5_000;

/// Formats of strings that are known.
const FORMATS: [&str; 9] =
    ["date", "date-time", "duration", "email", "hostname", "ipv4", "ipv6", "time", "uuid"];

/// The schema of arguments in strict form; `None` where that would forbid what it allows.
pub(super) fn strict(root: &Members) -> Option<Members> {
    let mut writer = Writer { properties: 0 };
    let mut written = writer.schema(root, 0)?;
    for keyword in ["$defs", "definitions"] {
        if let Some(Tree::Object(schemas)) = get(root, keyword) {
            let schemas = schemas.iter().map(|(name, schema)| {
                Some((name.clone(), Tree::Object(writer.schema(&members(schema)?, 1)?)))
            });
            written.push((keyword.into(), Tree::Object(schemas.collect::<Option<_>>()?)));
        }
    }
    Some(written)
}

/// A schema that is an object; `true` and `false` cannot be said.
fn members(schema: &Tree) -> Option<Members> {
    match schema {
        Tree::Object(members) => Some(members.clone()),
        _ => None,
    }
}

struct Writer {
    properties: usize,
}

impl Writer {
    fn schema(&mut self, schema: &Members, depth: usize) -> Option<Members> {
        if depth > DEPTH {
            return None;
        }
        let mut written = Vec::new();
        for keyword in ["title", "description"] {
            if let Some(said) = get(schema, keyword) {
                written.push((keyword.into(), said.clone()));
            }
        }
        if let Some(reference) = get(schema, "$ref") {
            let place = reference.as_text()?;
            let known = ["#", "#/$defs/", "#/definitions/"];
            // Nothing may stand beside it.
            return (place == "#" || known.iter().skip(1).any(|known| place.starts_with(known)))
                .then(|| vec![("$ref".into(), reference.clone())]);
        }
        if get(schema, "patternProperties").is_some() || get(schema, "prefixItems").is_some() {
            return None;
        }
        if let Some(all) = get(schema, "allOf") {
            let [only] = all.list() else { return None };
            let mut merged = members(only)?;
            let rest = schema.iter().filter(|(name, _)| name != "allOf");
            rest.for_each(|(name, value)| set(&mut merged, name, value.clone()));
            return self.schema(&merged, depth + 1);
        }
        if let Some(forms) = get(schema, "anyOf").or_else(|| get(schema, "oneOf")) {
            // What the forms have in common would have to be said in each.
            if get(schema, "properties").is_some() {
                return None;
            }
            let forms = forms.list().iter();
            let forms = forms.map(|form| Some(Tree::Object(self.schema(&members(form)?, depth + 1)?)));
            written.push(("anyOf".into(), Tree::List(forms.collect::<Option<_>>()?)));
            return Some(written);
        }
        let values = ["enum", "const"].map(|keyword| get(schema, keyword).map(|value| (keyword, value)));
        let kind = get(schema, "type");
        if kind.is_none() && values.iter().all(Option::is_none) {
            return None;
        }
        written.extend(kind.map(|kind| ("type".into(), kind.clone())));
        written.extend(values.into_iter().flatten().map(|(keyword, value)| (keyword.into(), value.clone())));
        let kinds: Vec<&str> =
            kind.into_iter().flat_map(|kind| kind.as_text().into_iter().chain(kind.names())).collect();
        for kind in kinds {
            match kind {
                "object" => self.object(schema, depth, &mut written)?,
                "array" => {
                    let items = self.schema(&members(get(schema, "items")?)?, depth + 1)?;
                    written.push(("items".into(), Tree::Object(items)));
                    copy(schema, &["minItems", "maxItems"], &mut written);
                }
                "string" => {
                    copy(schema, &["pattern"], &mut written);
                    if get(schema, "format").and_then(Tree::as_text).is_some_and(|it| FORMATS.contains(&it)) {
                        copy(schema, &["format"], &mut written);
                    }
                }
                "number" | "integer" => {
                    let bounds = ["multipleOf", "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"];
                    copy(schema, &bounds, &mut written);
                }
                _ => {}
            }
        }
        Some(written)
    }

    /// Every property is required, and there are no others.
    fn object(&mut self, schema: &Members, depth: usize, written: &mut Members) -> Option<()> {
        let properties = get(schema, "properties").map(Tree::members).unwrap_or_default();
        match get(schema, "additionalProperties") {
            None | Some(Tree::Bool(true)) if !properties.is_empty() || depth == 0 => {}
            Some(Tree::Bool(false)) => {}
            // Keys of the model's own choice.
            _ => return None,
        }
        self.properties += properties.len();
        if self.properties > PROPERTIES {
            return None;
        }
        let required: Vec<&str> = get(schema, "required").into_iter().flat_map(Tree::names).collect();
        let mut all = Vec::new();
        for (name, property) in properties {
            let property = self.schema(&members(property)?, depth + 1)?;
            let property = if required.contains(&name.as_str()) { property } else { optional(property) };
            all.push((name.clone(), Tree::Object(property)));
        }
        let names = all.iter().map(|(name, _): &(String, Tree)| Tree::text(&**name)).collect();
        written.push(("properties".into(), Tree::Object(all)));
        written.push(("required".into(), Tree::List(names)));
        written.push(("additionalProperties".into(), Tree::Bool(false)));
        Some(())
    }
}

fn copy(from: &Members, keywords: &[&str], to: &mut Members) {
    for keyword in keywords {
        if let Some(value) = get(from, keyword) {
            set(to, keyword, value.clone());
        }
    }
}

/// The same schema for a property that may be left out: then it is `null`.
fn optional(schema: Members) -> Members {
    let null = || Tree::object([("type", Tree::text("null"))]);
    match (get(&schema, "type"), get(&schema, "anyOf")) {
        (Some(Tree::Text(kind)), _)
            if kind != "null" && get(&schema, "enum").is_none() && get(&schema, "const").is_none() =>
        {
            let kinds = Tree::List(vec![Tree::text(&**kind), Tree::text("null")]);
            let mut schema = schema;
            set(&mut schema, "type", kinds);
            schema
        }
        (Some(Tree::Text(kind)), _) if kind == "null" => schema,
        (Some(Tree::List(kinds)), _) if kinds.contains(&Tree::text("null")) => schema,
        (None, Some(Tree::List(forms))) => {
            let mut forms = forms.clone();
            if !forms.contains(&null()) {
                forms.push(null());
            }
            let mut schema = schema;
            set(&mut schema, "anyOf", Tree::List(forms));
            schema
        }
        _ => vec![("anyOf".into(), Tree::List(vec![Tree::Object(schema), null()]))],
    }
}
