//! The catalog of tools: what `tools/list` shows and `tools/call` finds.

#[cfg(test)]
mod tests;

use alloc::borrow::ToOwned;
use alloc::collections::BTreeMap;
use alloc::string::String;
use alloc::sync::Arc;
use alloc::vec::Vec;
use core::ops::Bound;

use serde::Deserialize;
use serde_json::value::RawValue;

use super::suggest;
use crate::dialect::Revision;
use crate::error::ApiMisuse;
use crate::mirror::{MirroredParam, mirrored};
use crate::model::tools::Tool;
use crate::model::{In, Json};
use crate::wire::jsonrpc;

/// The longest name that a tool should have (TOOL-10).
const NAME: usize = 128;

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
    /// The JSON of the tool; revisions in which it reads alike share one text.
    texts: Vec<(Revision, Json)>,
}

impl ToolEntry {
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
        let mut texts: Vec<(Revision, Json)> = Vec::new();
        for revision in Revision::ALL {
            let text = Json::new(&In(revision, &tool))
                .map_err(|error| misuse(&alloc::format!("it does not serialise: {error}")))?;
            let text = on_one_line(&text);
            if texts.last().is_none_or(|(_, last)| *last != text) {
                texts.push((revision, text));
            }
        }
        let warnings = warnings(&tool.name);
        Ok(Self { tool, mirrored, warnings, texts })
    }

    /// The JSON of the tool as `revision` knows it.
    pub fn text(&self, revision: Revision) -> &RawValue {
        // The first text is for the oldest revision, so there is always one.
        let text = self.texts.iter().rev().find(|(since, _)| *since <= revision).or(self.texts.first());
        text.map_or(RawValue::NULL, |(_, text)| text.as_ref())
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

/// The same JSON without line ends, which would break the framing of stdio and of event streams.
fn on_one_line(json: &Json) -> Json {
    let mut text = Vec::with_capacity(json.get().len());
    jsonrpc::compact(&mut text, json.get());
    // Compacting leaves out whitespace alone, so what remains is the same JSON.
    String::from_utf8(text).ok().and_then(|text| Json::parse(text).ok()).unwrap_or_else(|| json.clone())
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

/// The tools of a server, in the order in which they were added (TOOL-06).
///
/// <https://modelcontextprotocol.io/specification/2026-07-28/server/tools>
#[derive(Clone, Debug, Default)]
pub struct Tools {
    /// By the number under which a tool was added; numbers are not reused, so a cursor stays valid while
    /// tools come and go (PAGE-06).
    entries: BTreeMap<u64, Arc<ToolEntry>>,
    numbers: BTreeMap<String, u64>,
    added: u64,
}

impl Tools {
    /// No tools.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a tool and returns its entry, which may hold warnings.
    ///
    /// Refused are an empty name, one that is taken, an input schema that is no object schema, and a wrong
    /// `x-mcp-header` (HDR-18 to HDR-24, HDR-29).
    pub fn insert(&mut self, tool: Tool) -> Result<&Arc<ToolEntry>, ApiMisuse> {
        if self.numbers.contains_key(&tool.name) {
            return Err(ApiMisuse::new(alloc::format!(
                "there is a tool `{}` already; remove it first to replace it",
                tool.name
            )));
        }
        let entry = ToolEntry::new(tool)?;
        self.added += 1;
        self.numbers.insert(entry.tool.name.clone(), self.added);
        Ok(self.entries.entry(self.added).or_insert(Arc::new(entry)))
    }

    /// Takes a tool out.
    pub fn remove(&mut self, name: &str) -> Option<Arc<ToolEntry>> {
        let number = self.numbers.remove(name)?;
        self.entries.remove(&number)
    }

    /// The tool of this name; case counts (TOOL-12).
    pub fn get(&self, name: &str) -> Option<&Arc<ToolEntry>> {
        self.entries.get(self.numbers.get(name)?)
    }

    /// All tools, in order.
    pub fn iter(&self) -> impl Iterator<Item = &Arc<ToolEntry>> {
        self.entries.values()
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// The tools that come after `start`, in order, with the position of each.
    pub(super) fn after(&self, start: Position) -> impl Iterator<Item = (Position, &Arc<ToolEntry>)> {
        self.entries
            .range((Bound::Excluded(start.0), Bound::Unbounded))
            .map(|(number, entry)| (Position(*number), entry))
    }

    /// Reads a cursor that was made by [`Position::cursor`] for this catalog.
    pub(super) fn position(&self, cursor: &str) -> Option<Position> {
        let number: u64 = cursor.strip_prefix(CURSOR)?.parse().ok()?;
        // A page ends before the last tool, so a cursor names an earlier number; and written one way only.
        let position = Position(number);
        ((1..self.added).contains(&number) && position.cursor() == cursor).then_some(position)
    }

    /// The name that was probably meant by one that is not there.
    pub(super) fn nearest(&self, wrong: &str) -> Option<&str> {
        suggest::nearest(wrong, self.iter().map(|entry| entry.tool.name.as_str()))
    }
}

/// A place in the order of the tools: after the one with this number.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Position(u64);

/// What a cursor begins with, so that a number typed by hand is noticed.
const CURSOR: &str = "after-";

impl Position {
    pub(super) fn cursor(self) -> String {
        alloc::format!("{CURSOR}{}", self.0)
    }
}
