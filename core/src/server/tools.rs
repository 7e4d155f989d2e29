//! The catalog of tools: what `tools/list` shows and `tools/call` finds.

#[cfg(test)]
mod tests;

use alloc::borrow::ToOwned;
use alloc::collections::BTreeMap;
use alloc::string::String;
use alloc::vec::Vec;

use serde::Deserialize;
use serde_json::value::RawValue;

use super::catalog::{Listed, Texts, catalog};
use super::resource_server::Scopes;
use super::visible::Item;
use crate::error::ApiMisuse;
use crate::limits::Limits;
use crate::mirror::{MirroredParam, mirrored};
use crate::model::Json;
use crate::model::tools::{TaskSupport, Tool};
use crate::schema::{Mismatch, Schema};

/// The longest name that a tool should have (TOOL-10).
const NAME: usize = 128;

catalog! {
    /// The tools of a server, in the order in which they were added (TOOL-06).
    ///
    /// <https://modelcontextprotocol.io/specification/2026-07-28/server/tools>
    Tools of Tool as ToolEntry, found by name;
    /// Adds a tool and returns its entry, which may hold warnings.
    ///
    /// Refused are an empty name, one that is taken, a schema that is not in order ([`Schema::new`]), an input
    /// schema that is no object schema, and a wrong `x-mcp-header` (HDR-18 to HDR-24, HDR-29).
    insert
}

impl Tools {
    /// Checks no more of the arguments of a tool, just added, than decoding them does: they are decoded as the type
    /// that its input schema was made from. A schema that asks for more than the type is checked all the same.
    pub fn rely_on_type(&mut self, name: &str) {
        if let Some(entry) = self.catalog.get_mut(name) {
            entry.input = entry.input.take().filter(Schema::is_stricter_than_types);
        }
    }

    /// Says whether calls of a tool, just added, may or must go on as tasks of the extension; see
    /// [`ToolEntry::task_support`].
    pub fn set_task_support(&mut self, name: &str, support: TaskSupport) {
        if let Some(entry) = self.catalog.get_mut(name) {
            entry.task_support = support;
        }
    }

    /// Bounds on the schemas of tools that are added from now on. Default [`Limits::default`].
    pub fn set_limits(&mut self, limits: Limits) {
        self.catalog.limits = limits;
    }
}

/// A tool as the catalog holds it: checked, and already written out for every revision.
#[derive(Debug)]
#[non_exhaustive]
pub struct ToolEntry {
    /// The tool as it was added.
    pub tool: Tool,
    /// Parameters that HTTP clients mirror into headers.
    pub(super) mirrored: Vec<MirroredParam>,
    /// What is unwise about the definition although nothing forbids it, for whoever wrote it.
    pub warnings: Vec<String>,
    /// What a caller must be allowed, where that is asked.
    scopes: Scopes,
    task_support: TaskSupport,
    texts: Texts,
    /// What arguments are checked against; none if decoding them does it.
    input: Option<Schema>,
    output: Option<Schema>,
}

impl ToolEntry {
    /// Looks whether the arguments of a call, as JSON text, fit the input schema (TOOL-37). Without the feature
    /// `jsonschema`, they always do.
    ///
    /// # Errors
    /// What does not fit, for the model to mend: answered as a result with `isError` (TOOL-33).
    pub fn check_arguments(&self, arguments: &str) -> Result<(), Mismatch> {
        match &self.input {
            Some(schema) => schema.check(arguments, "arguments"),
            None => Ok(()),
        }
    }

    /// What the arguments of a call lack of what the input schema demands at its root, each with its path and what is
    /// expected there: for whoever decodes them, as that ends at the first one.
    pub fn missing_arguments(&self, arguments: &str) -> Vec<String> {
        #[derive(Deserialize)]
        struct Demands<'a> {
            #[serde(default)]
            required: Vec<String>,
            #[serde(borrow, default)]
            properties: BTreeMap<String, &'a RawValue>,
        }
        #[derive(Deserialize)]
        struct Property<'a> {
            #[serde(rename = "type")]
            kind: &'a str,
        }
        let Ok(demands) = serde_json::from_str::<Demands<'_>>(self.tool.input_schema.get()) else {
            return Vec::new();
        };
        let there: BTreeMap<String, &RawValue> = serde_json::from_str(arguments).unwrap_or_default();
        let missing = demands.required.iter().filter(|name| !there.contains_key(*name));
        let described = missing.map(|name| {
            let property = demands.properties.get(name).map(|property| property.get());
            match property.and_then(|property| serde_json::from_str(property).ok()) {
                Some(Property { kind }) => {
                    let article = if kind.starts_with(['a', 'i', 'o']) { "an" } else { "a" };
                    alloc::format!("arguments.{name}: missing, expected {article} {kind}")
                }
                None => alloc::format!("arguments.{name}: missing"),
            }
        });
        described.collect()
    }

    /// Whether calls may go on as tasks of the extension `io.modelcontextprotocol/tasks`; unless said, they may not. With
    /// [`Required`](TaskSupport::Required), a modern client that has not declared the extension is refused (TASK-06).
    ///
    /// It is not the tool's [`execution`](Tool::execution), which clients of 2025-11-25 are told.
    pub fn task_support(&self) -> TaskSupport {
        self.task_support
    }

    /// Whether results are to have structured content.
    pub fn has_output_schema(&self) -> bool {
        self.output.is_some()
    }

    /// Looks whether the structured content of a successful result, as JSON text, fits the output schema
    /// (TOOL-28). Without the feature `jsonschema`, all of it does; there always has to be some.
    ///
    /// # Errors
    /// What does not fit. A tool without an output schema may return anything.
    pub fn check_output(&self, structured: Option<&str>) -> Result<(), Mismatch> {
        match (&self.output, structured) {
            (Some(schema), Some(structured)) => schema.check(structured, "structuredContent"),
            (Some(_), None) => {
                Err(Mismatch::new("structuredContent: missing, although there is an output schema"))
            }
            (None, _) => Ok(()),
        }
    }
}

impl Listed for ToolEntry {
    type Item = Tool;

    const LIST: &'static str = "tools";
    const ONE: &'static str = "tool";

    fn new(tool: Tool, limits: &Limits) -> Result<Self, ApiMisuse> {
        if tool.name.is_empty() {
            return Err(ApiMisuse::new("a tool must have a name"));
        }
        let misuse = |what: &str| ApiMisuse::new(alloc::format!("tool `{}`: {what}", tool.name));
        let mirrored = check_input_schema(tool.input_schema.as_ref()).map_err(|what| misuse(&what))?;
        if let Some(schema) = &tool.output_schema
            && !schema.is_object()
        {
            return Err(misuse("the output schema must be a JSON object"));
        }
        let compiled = |what: &str, schema: &Json| {
            let invalid = |error| misuse(&alloc::format!("the {what} schema is not in order, {error}"));
            Schema::new(schema, limits).map_err(invalid)
        };
        let input = compiled("input", &tool.input_schema)?;
        let output = tool.output_schema.as_ref().map(|schema| compiled("output", schema)).transpose()?;
        let texts = Texts::new(&tool).map_err(|error| {
            ApiMisuse::new(alloc::format!("tool `{}`: it does not serialise: {error}", tool.name))
        })?;
        let warnings = warnings(&tool.name);
        Ok(Self {
            tool,
            mirrored,
            warnings,
            scopes: Scopes::new(),
            task_support: TaskSupport::Forbidden,
            texts,
            input: Some(input),
            output,
        })
    }

    fn key(&self) -> &str {
        &self.tool.name
    }

    fn scopes_mut(&mut self) -> &mut Scopes {
        &mut self.scopes
    }

    fn texts(&self) -> &Texts {
        &self.texts
    }

    fn item(&self) -> Item<'_> {
        Item::Tool(&self.tool)
    }
}

/// An input schema describes an object, so its root says so (TOOL-08); annotations for headers are in order.
fn check_input_schema(schema: &RawValue) -> Result<Vec<MirroredParam>, String> {
    #[derive(Deserialize)]
    struct Root<'a> {
        #[serde(borrow, rename = "type")]
        kind: Option<&'a RawValue>,
    }
    if !schema.get().starts_with('{') {
        return Err("the input schema must be a JSON object".to_owned());
    }
    let root: Root<'_> = serde_json::from_str(schema.get())
        .map_err(|error| alloc::format!("the input schema is not readable: {error}"))?;
    if root.kind.is_none_or(|kind| kind.get() != "\"object\"") {
        let what = "the input schema must have `\"type\": \"object\"` at its root; where it is made from the type of a \
                    handler's arguments, that must be a struct (or a map)";
        return Err(what.to_owned());
    }
    mirrored(schema)
}

fn warnings(name: &str) -> Vec<String> {
    let mut warnings = Vec::new();
    if name.len() > NAME {
        warnings.push(alloc::format!("its name should have at most {NAME} characters"));
    }
    if !name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_-.".contains(&byte)) {
        warnings.push(alloc::format!("its name `{name}` should be made of A-Z, a-z, 0-9, `_`, `-` and `.`"));
    }
    warnings
}
