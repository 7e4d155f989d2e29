//! Schemas in the part of OpenAPI 3.0 that Gemini accepts: no references, so what they lead to is written out, within
//! bounds.

use alloc::format;
use alloc::string::String;
use alloc::vec;
use alloc::vec::Vec;

use super::super::schema::{BRANCHES, fold, plain_root, resolved};
use super::super::tree::{Members, Tree, get, remove, set};

/// Levels of schemas in one another; what is further in may be anything of its type. References that go in circles end
/// here.
const DEPTH: usize = 16;
/// Schemas in one declaration, with what references lead to written out each time.
const SCHEMAS: usize = 2_048;
/// Bytes of names and texts in one declaration, which come again with each reference. What is more is left out.
const TEXT: usize = 1_048_576;

/// The parameters of a function; `None` when there are none.
pub(super) fn parameters(schema: &Tree) -> Option<Members> {
    let root = Tree::Object(plain_root(schema));
    let written = Writer { root: &root, schemas: 0, text: TEXT }.schema(&root, 0);
    get(&written, "properties").is_some().then_some(written)
}

/// The names of types that there are.
const KINDS: [&str; 7] = ["null", "boolean", "object", "array", "number", "integer", "string"];

struct Writer<'s> {
    root: &'s Tree,
    schemas: usize,
    /// Bytes of text that may still be written.
    text: usize,
}

impl Writer<'_> {
    fn schema(&mut self, schema: &Tree, depth: usize) -> Members {
        self.schemas += 1;
        let mut schema = resolved(self.root, schema);
        if let Some(all) = remove(&mut schema, "allOf").filter(|all| all.list().len() <= BRANCHES) {
            let branches: Vec<Members> =
                all.list().iter().map(|branch| resolved(self.root, branch)).collect();
            for (name, value) in branches.iter().flatten() {
                if get(&schema, name).is_none() && name != "properties" && name != "required" {
                    schema.push((name.clone(), value.clone()));
                }
            }
            if branches.iter().any(|branch| get(branch, "properties").is_some()) {
                fold(&mut schema, &branches, true);
            }
        }
        let deep = depth >= DEPTH || self.schemas >= SCHEMAS;
        let forms = get(&schema, "anyOf").or_else(|| get(&schema, "oneOf"));
        let forms = forms.filter(|forms| !deep && forms.list().len() <= BRANCHES);
        if let Some(forms) = forms {
            let forms: Vec<Tree> = forms.list().to_vec();
            return self.forms(&schema, &forms, depth);
        }
        let kinds: Vec<String> = match get(&schema, "type") {
            Some(Tree::Text(kind)) => vec![kind.clone()],
            Some(kinds) => kinds.names().filter(|kind| KINDS.contains(kind)).map(String::from).collect(),
            None => vec![implied(&schema).into()],
        };
        let nullable = kinds.iter().any(|kind| kind == "null");
        let mut distinct: Vec<&str> = Vec::new();
        for kind in kinds.iter().map(String::as_str).filter(|kind| *kind != "null") {
            if !distinct.contains(&kind) {
                distinct.push(kind);
            }
        }
        let kinds = distinct;
        match kinds.as_slice() {
            [] => self.plain(&schema, "string", true, depth),
            [kind] => self.plain(&schema, kind, nullable, depth),
            // Nothing may stand beside the forms.
            kinds => {
                let forms = kinds.iter().map(|kind| Tree::Object(self.plain(&schema, kind, nullable, depth)));
                vec![("anyOf".into(), Tree::List(forms.collect()))]
            }
        }
    }

    /// One of several forms, which say all there is to say.
    fn forms(&mut self, schema: &Members, forms: &[Tree], depth: usize) -> Members {
        let is_null =
            |form: &Tree| get(&resolved(self.root, form), "type").and_then(Tree::as_text) == Some("null");
        let (nulls, forms): (Vec<&Tree>, Vec<&Tree>) = forms.iter().partition(|form| is_null(form));
        let mut written: Vec<Members> = Vec::new();
        for form in forms {
            let mut form = resolved(self.root, form);
            // What is said beside the forms is true of each.
            for keyword in ["type", "description", "properties", "required"] {
                if let (None, Some(value)) = (get(&form, keyword), get(schema, keyword)) {
                    form.push((keyword.into(), value.clone()));
                }
            }
            let mut form = self.schema(&Tree::Object(form), depth + 1);
            if !nulls.is_empty() {
                set(&mut form, "nullable", Tree::Bool(true));
            }
            if !written.contains(&form) {
                written.push(form);
            }
        }
        match written.len() {
            0 => self.plain(schema, "string", true, depth),
            1 => written.remove(0),
            _ => vec![("anyOf".into(), Tree::List(written.into_iter().map(Tree::Object).collect()))],
        }
    }

    /// Whether there is room for so much more text.
    fn affords(&mut self, bytes: usize) -> bool {
        let left = self.text.checked_sub(bytes);
        self.text = left.unwrap_or(self.text);
        left.is_some()
    }

    fn plain(&mut self, schema: &Members, kind: &str, nullable: bool, depth: usize) -> Members {
        let known = match kind {
            "object" => "OBJECT",
            "array" => "ARRAY",
            "number" => "NUMBER",
            "integer" => "INTEGER",
            "boolean" => "BOOLEAN",
            _ => "STRING",
        };
        let mut written = vec![("type".into(), Tree::text(known))];
        let described = get(schema, "description").and_then(Tree::as_text);
        let mut description = described.filter(|text| self.affords(text.len())).map(String::from);
        let values =
            get(schema, "enum").map(Tree::list).or_else(|| get(schema, "const").map(core::slice::from_ref));
        if let Some(values) = values {
            let texts = || values.iter().filter(|value| value.as_text().is_some_and(|text| !text.is_empty()));
            let size = texts().filter_map(Tree::as_text).map(str::len).sum();
            if known == "STRING" && texts().next().is_some() {
                // All of them, or any text at all.
                if self.affords(size) {
                    set(&mut written, "enum", Tree::List(texts().cloned().collect()));
                }
            } else {
                // Only texts can be listed, so the rest is said in words.
                let values: Vec<String> =
                    values.iter().map(|value| String::from(value.json().get())).collect();
                let said = format!("One of: {}", values.join(", "));
                if self.affords(said.len()) {
                    description =
                        Some(description.map_or(said.clone(), |before| format!("{before}\n{said}")));
                }
            }
        }
        if let Some(description) = description {
            set(&mut written, "description", Tree::Text(description));
        }
        if nullable {
            set(&mut written, "nullable", Tree::Bool(true));
        }
        let mut copy = |keywords: &[&str]| {
            for keyword in keywords {
                if let Some(value @ Tree::Number(_)) = get(schema, keyword) {
                    set(&mut written, keyword, value.clone());
                }
            }
        };
        match known {
            "STRING" => {
                copy(&["minLength", "maxLength"]);
                if let Some(Tree::Text(pattern)) = get(schema, "pattern")
                    && self.affords(pattern.len())
                {
                    set(&mut written, "pattern", Tree::text(&**pattern));
                }
                if get(schema, "format").and_then(Tree::as_text) == Some("date-time") {
                    set(&mut written, "format", Tree::text("date-time"));
                }
            }
            "NUMBER" | "INTEGER" => copy(&["minimum", "maximum"]),
            "ARRAY" => {
                copy(&["minItems", "maxItems"]);
                let items = get(schema, "items").filter(|_| depth < DEPTH && self.schemas < SCHEMAS);
                let items = match items {
                    Some(items) => self.schema(items, depth + 1),
                    None => vec![("type".into(), Tree::text("STRING"))],
                };
                set(&mut written, "items", Tree::Object(items));
            }
            "OBJECT" => self.object(schema, depth, &mut written),
            _ => {}
        }
        written
    }

    fn object(&mut self, schema: &Members, depth: usize, written: &mut Members) {
        if depth >= DEPTH {
            return;
        }
        let mut properties = Vec::new();
        for (name, property) in get(schema, "properties").map(Tree::members).unwrap_or_default() {
            // A name comes once more where it is required.
            if self.schemas >= SCHEMAS || !self.affords(2 * name.len()) {
                break;
            }
            properties.push((name.clone(), Tree::Object(self.schema(property, depth + 1))));
        }
        if properties.is_empty() {
            return;
        }
        // Names of other properties are refused.
        let required: Vec<Tree> = get(schema, "required")
            .into_iter()
            .flat_map(Tree::names)
            .filter(|name| get(&properties, name).is_some())
            .map(Tree::text)
            .collect();
        set(written, "properties", Tree::Object(properties));
        if !required.is_empty() {
            set(written, "required", Tree::List(required));
        }
    }
}

/// The type of a schema that names none.
fn implied(schema: &Members) -> &'static str {
    let has = |keyword| get(schema, keyword).is_some();
    let values =
        get(schema, "enum").map(Tree::list).or_else(|| get(schema, "const").map(core::slice::from_ref));
    match values.and_then(<[Tree]>::first) {
        Some(Tree::Number(_)) => "number",
        Some(Tree::Bool(_)) => "boolean",
        Some(_) => "string",
        None if has("properties") || has("additionalProperties") => "object",
        None if has("items") || has("prefixItems") => "array",
        None if has("minimum") || has("maximum") => "number",
        None => "string",
    }
}
