//! The catalog of tools: what `tools/list` shows and `tools/call` finds.

#[cfg(test)]
mod tests;

use alloc::borrow::ToOwned;
use alloc::string::String;
use alloc::vec::Vec;

use serde::Deserialize;
use serde_json::value::RawValue;

use super::catalog::{Listed, Texts, catalog, on_one_line};
use super::resource_server::Scopes;
use crate::dialect::Revision;
use crate::error::ApiMisuse;
use crate::mirror::{MirroredParam, mirrored};
use crate::model::tools::Tool;

/// The longest name that a tool should have (TOOL-10).
const NAME: usize = 128;

catalog! {
    /// The tools of a server, in the order in which they were added (TOOL-06).
    ///
    /// <https://modelcontextprotocol.io/specification/2026-07-28/server/tools>
    Tools of Tool as ToolEntry, found by name;
    /// Adds a tool and returns its entry, which may hold warnings.
    ///
    /// Refused are an empty name, one that is taken, an input schema that is no object schema, and a wrong
    /// `x-mcp-header` (HDR-18 to HDR-24, HDR-29).
    insert
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
    texts: Texts,
}

impl Listed for ToolEntry {
    type Item = Tool;

    const LIST: &'static str = "tools";
    const ONE: &'static str = "tool";

    fn new(mut tool: Tool) -> Result<Self, ApiMisuse> {
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
        tool.input_schema = on_one_line(&tool.input_schema);
        tool.output_schema = tool.output_schema.as_ref().map(on_one_line);
        let texts = Texts::new(&tool).map_err(|error| {
            ApiMisuse::new(alloc::format!("tool `{}`: it does not serialise: {error}", tool.name))
        })?;
        let warnings = warnings(&tool.name);
        Ok(Self { tool, mirrored, warnings, scopes: Scopes::new(), texts })
    }

    fn key(&self) -> &str {
        &self.tool.name
    }

    fn scopes_mut(&mut self) -> &mut Scopes {
        &mut self.scopes
    }

    fn text(&self, revision: Revision) -> &RawValue {
        self.texts.get(revision)
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
        return Err("the input schema must have `\"type\": \"object\"` at its root".to_owned());
    }
    mirrored(schema)
}

fn warnings(name: &str) -> Vec<String> {
    let mut warnings = Vec::new();
    if name.len() > NAME {
        warnings.push(alloc::format!("a tool's name should have at most {NAME} characters"));
    }
    if !name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_-.".contains(&byte)) {
        warnings.push("a tool's name should be made of A-Z, a-z, 0-9, `_`, `-` and `.`".to_owned());
    }
    warnings
}
