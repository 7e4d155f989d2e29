//! Tools: functions that a model may have called.
//!
//! <https://modelcontextprotocol.io/specification/2026-07-28/server/tools>

mod call;
#[cfg(test)]
mod tests;

pub use call::{CallToolRequestParams, CallToolResult};

use super::caching::{CacheScope, TtlMs};
use super::decode::{Key, lenient, lenient_list};
use super::encode::{Members, Object};
use super::icons::Icon;
use super::json::{Json, JsonMap};
use super::macros::{open_object, setters};
use super::meta::Meta;
use super::pagination::Cursor;
use crate::dialect::{Revision, StructuredOutput};
use alloc::string::String;
use alloc::vec::Vec;
use serde::ser::SerializeMap;
use serde::{Deserialize, Serialize};

/// A tool (TOOL-07).
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct Tool {
    /// Its name; unique in the server, case-sensitive (TOOL-12, TOOL-14).
    pub name: String,
    /// Its name for people; from 2025-06-18 on.
    pub title: Option<String>,
    /// What it does, for a model.
    pub description: Option<String>,
    /// A JSON Schema with `type: "object"` at the root, kept to the letter (TOOL-08, SCHEMA-09, SCHEMA-10).
    pub input_schema: Json,
    /// A JSON Schema of `structuredContent`, kept to the letter; from 2025-06-18 on. Before 2026-07-28 its
    /// root has `type: "object"`, so another one is not sent there (TOOL-25, SCHEMA-11).
    pub output_schema: Option<Json>,
    /// How it behaves; from 2025-03-26 on.
    pub annotations: Option<ToolAnnotations>,
    /// How it may be run; 2025-11-25 only (TOOL-43).
    pub execution: Option<ToolExecution>,
    /// Pictures; from 2025-11-25 on.
    #[serde(default, deserialize_with = "lenient_list")]
    pub icons: Vec<Icon>,
    /// Metadata; from 2025-06-18 on.
    #[serde(default, rename = "_meta")]
    pub meta: Meta,
}

impl Tool {
    /// The tool called `name`, whose arguments follow `input_schema`.
    pub fn new(name: impl Into<String>, input_schema: Json) -> Self {
        Self {
            name: name.into(),
            title: None,
            description: None,
            input_schema,
            output_schema: None,
            annotations: None,
            execution: None,
            icons: Vec::new(),
            meta: Meta::new(),
        }
    }

    /// What to call it before people: the title, else that of the annotations, else the name (META-24).
    pub fn display_name(&self) -> &str {
        let annotated = || self.annotations.as_ref().and_then(|annotations| annotations.title.as_deref());
        self.title.as_deref().or_else(annotated).unwrap_or(&self.name)
    }
}

setters!(Tool {
    title?: String,
    description?: String,
    output_schema?: Json,
    annotations?: ToolAnnotations,
    execution?: ToolExecution,
    icons: Vec<Icon>,
    meta: Meta,
});

impl Members for Tool {
    fn members<M: SerializeMap>(&self, to: &mut Object<M>) -> Result<(), M::Error> {
        let known = to.dialect();
        to.member("name", &self.name)?;
        to.title(&self.title)?;
        to.optional("description", &self.description)?;
        to.icons(&self.icons)?;
        to.member("inputSchema", &self.input_schema)?;
        if known.tool_execution {
            to.optional("execution", &self.execution)?;
        }
        to.optional(
            "outputSchema",
            &self.output_schema.as_ref().filter(|schema| match known.structured_output {
                StructuredOutput::None => false,
                StructuredOutput::Object => describes_object(schema),
                StructuredOutput::Any => true,
            }),
        )?;
        if known.tool_annotations {
            to.optional("annotations", &self.annotations)?;
        }
        to.object_meta(&self.meta)
    }
}

/// Whether the root of a schema says `type: "object"`.
fn describes_object(schema: &Json) -> bool {
    #[derive(Deserialize)]
    struct Root {
        #[serde(rename = "type")]
        kind: Option<Json>,
    }
    schema
        .decode::<Root>()
        .ok()
        .and_then(|root| root.kind)
        .is_some_and(|kind| kind.decode::<Key<'_>>().is_ok_and(|kind| kind.0 == "object"))
}

/// Hints on how a tool behaves. From a server that is not trusted they are claims, no more (TOOL-17).
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct ToolAnnotations {
    /// A name for people; [`Tool::title`] comes first.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// It changes nothing; see [`ToolAnnotations::is_read_only`].
    #[serde(skip_serializing_if = "Option::is_none")]
    pub read_only_hint: Option<bool>,
    /// It may destroy something; see [`ToolAnnotations::is_destructive`].
    #[serde(skip_serializing_if = "Option::is_none")]
    pub destructive_hint: Option<bool>,
    /// Calling it again changes nothing more; see [`ToolAnnotations::is_idempotent`].
    #[serde(skip_serializing_if = "Option::is_none")]
    pub idempotent_hint: Option<bool>,
    /// It deals with the outside world; see [`ToolAnnotations::is_open_world`].
    #[serde(skip_serializing_if = "Option::is_none")]
    pub open_world_hint: Option<bool>,
}

impl ToolAnnotations {
    /// No hints.
    pub fn new() -> Self {
        Self::default()
    }

    /// Whether it changes nothing; unless said, it does (TOOL-18).
    pub fn is_read_only(&self) -> bool {
        self.read_only_hint.unwrap_or(false)
    }

    /// Whether it may destroy something and not only add; unless said, it may (TOOL-18). Means nothing for
    /// a tool that is read-only.
    pub fn is_destructive(&self) -> bool {
        self.destructive_hint.unwrap_or(true)
    }

    /// Whether the same call again has no further effect; unless said, it has (TOOL-18). Means nothing for
    /// a tool that is read-only.
    pub fn is_idempotent(&self) -> bool {
        self.idempotent_hint.unwrap_or(false)
    }

    /// Whether it deals with an open world, such as the web; unless said, it does (TOOL-18).
    pub fn is_open_world(&self) -> bool {
        self.open_world_hint.unwrap_or(true)
    }
}

setters!(ToolAnnotations {
    title?: String,
    read_only_hint?: bool,
    destructive_hint?: bool,
    idempotent_hint?: bool,
    open_world_hint?: bool,
});

/// How a tool may be run; 2025-11-25 only.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct ToolExecution {
    /// Whether it may be called as a task; see [`ToolExecution::support`].
    #[serde(default, deserialize_with = "lenient", skip_serializing_if = "Option::is_none")]
    pub task_support: Option<TaskSupport>,
}

/// Whether a tool may be called as a task (TOOL-43).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum TaskSupport {
    /// Never.
    #[default]
    Forbidden,
    /// As the client likes.
    Optional,
    /// Always.
    Required,
}

impl ToolExecution {
    /// Nothing said.
    pub fn new() -> Self {
        Self::default()
    }

    /// Whether it may be called as a task; unless said, it may not.
    pub fn support(&self) -> TaskSupport {
        self.task_support.unwrap_or_default()
    }
}

setters!(ToolExecution {
    task_support?: TaskSupport,
});

/// The result of `tools/list`: one page.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct ListToolsResult {
    /// The tools of this page.
    pub tools: Vec<Tool>,
    /// Where the next page begins, when there is one.
    pub next_cursor: Option<Cursor>,
    /// How long the page is fresh.
    pub ttl_ms: TtlMs,
    /// Who may be given a kept copy.
    pub cache_scope: CacheScope,
    /// Metadata.
    pub meta: Meta,
    /// Members not known here.
    pub extra: JsonMap,
}

impl ListToolsResult {
    /// One page, and no further one.
    pub fn new(tools: Vec<Tool>) -> Self {
        Self { tools, ..Self::default() }
    }
}

setters!(ListToolsResult {
    next_cursor?: Cursor,
    ttl_ms: TtlMs,
    cache_scope: CacheScope,
    meta: Meta,
    extra: JsonMap,
});

open_object!(ListToolsResult {
    required { "tools" => tools, }
    optional {
        "nextCursor" => next_cursor,
        "ttlMs" => ttl_ms,
        "cacheScope" => cache_scope,
        "_meta" => meta,
    }
    ignored { "resultType", }
});

impl Members for ListToolsResult {
    fn members<M: SerializeMap>(&self, to: &mut Object<M>) -> Result<(), M::Error> {
        to.complete()?;
        to.encoded("tools", self.tools.as_slice())?;
        to.optional("nextCursor", &self.next_cursor)?;
        to.caching(self.ttl_ms, self.cache_scope)?;
        to.open(&self.extra, Self::KNOWN)
    }

    fn metadata(&self, _revision: Revision) -> Option<&Meta> {
        Some(&self.meta)
    }
}
