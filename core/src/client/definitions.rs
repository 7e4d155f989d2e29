//! What is known of a server's tools, as learned from `tools/list`: which arguments go into HTTP headers, and what
//! results have to look like.

use super::details::ServerDetails;
use super::offered::calls_tools_as_tasks;
use crate::diagnostic::Diagnostic;
use crate::dialect::Tasks;
use crate::head::Headers;
use crate::limits::Limits;
use crate::mirror::{self, MirroredParam, ParamValue};
use crate::model::Json;
use crate::model::tools::{TaskSupport, Tool, ToolExecution};
use crate::schema::{Dialect, Mismatch, Schema, SchemaError};
use crate::text;
use crate::wire::header_value;
use alloc::borrow::ToOwned;
use alloc::collections::BTreeMap;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::sync::Arc;
use alloc::vec::Vec;
use serde::Deserialize;
use serde_json::value::RawValue;

/// The definitions that are remembered, within bounds: of a tool that is not here, nothing is known (HDR-50).
#[derive(Debug)]
pub(super) struct Definitions {
    tools: BTreeMap<String, Definition>,
    /// Names by when they were learned, the oldest first: those give way.
    order: BTreeMap<u64, String>,
    last: u64,
    held: usize,
    /// Whether schemas are looked at.
    schemas: bool,
    /// That there are too many was said.
    told: bool,
}

#[derive(Debug)]
struct Definition {
    order: u64,
    mirrored: Vec<MirroredParam>,
    output: Option<Json>,
    /// The output schema, ready to be checked against; of tools that were called.
    ready: Option<Arc<Output>>,
    /// Why it cannot be called.
    refused: Option<String>,
    /// Whether it may be called as a task, where it says that.
    tasks: Option<TaskSupport>,
}

/// What is to be known of tools.
#[derive(Clone, Copy, Debug)]
pub(super) struct Facets {
    /// Whether their arguments may go into headers.
    pub(super) mirrors: bool,
    /// Whether they say that they may be called as tasks.
    pub(super) tasks: bool,
}

impl Facets {
    /// Those of the tools of this server.
    pub(super) fn of(details: &ServerDetails, http: bool) -> Self {
        Self {
            mirrors: http && details.revision.dialect().http.mirrored_headers,
            tasks: details.revision.dialect().tasks == Tasks::Core && calls_tools_as_tasks(details),
        }
    }
}

impl Definition {
    /// About as many bytes as are kept for it.
    fn held(&self, name: &str) -> usize {
        let mirrored = self.mirrored.iter().map(|param| {
            let path = param.path.iter().map(|step| step.len() + 24).sum::<usize>();
            param.header.len() + path + 64
        });
        let schema = self.output.as_ref().map_or(0, |output| output.get().len());
        let ready = self.ready.as_ref().map_or(0, |ready| ready.held());
        2 * name.len() + 256 + mirrored.sum::<usize>() + schema + ready
    }
}

impl Definitions {
    pub(super) const fn new(schemas: bool) -> Self {
        Self { tools: BTreeMap::new(), order: BTreeMap::new(), last: 0, held: 0, schemas, told: false }
    }

    /// Learns the most recent definition of a tool (HDR-49). If its arguments may go into headers, the error is why the
    /// definition is bad then, and nothing is kept of it. What comes back otherwise is for people.
    pub(super) fn learn(
        &mut self,
        tool: &Tool,
        facets: Facets,
        limits: &Limits,
    ) -> Result<Option<Diagnostic>, String> {
        let before = self.forget(&tool.name);
        let mirrored =
            if facets.mirrors { mirror::mirrored(tool.input_schema.as_ref())? } else { Vec::new() };
        let output = tool.output_schema.clone().filter(|_| self.schemas);
        let refused = self.schemas.then(|| refusal(tool)).flatten();
        let tasks =
            facets.tasks.then(|| tool.execution.as_ref().map(ToolExecution::support).unwrap_or_default());
        if mirrored.is_empty() && output.is_none() && refused.is_none() && tasks.is_none() {
            return Ok(None);
        }
        let ready = before.filter(|before| before.output == output).and_then(|before| before.ready);
        self.keep(tool.name.clone(), Definition { order: 0, mirrored, output, ready, refused, tasks });
        let lost = self.fit(limits);
        Ok((lost && !core::mem::replace(&mut self.told, true)).then(|| {
            let text = "the definitions of some tools are not kept, so that results are not checked and headers are \
                        missing: raise `Limits::tools` or `Limits::tool_bytes`";
            Diagnostic::new("client", text)
        }))
    }

    /// Keeps a definition as the newest one.
    fn keep(&mut self, name: String, mut definition: Definition) {
        self.last += 1;
        definition.order = self.last;
        self.held += definition.held(&name);
        self.order.insert(self.last, name.clone());
        self.tools.insert(name, definition);
    }

    #[cfg(test)]
    pub(super) fn held(&self) -> usize {
        self.tools.iter().map(|(name, definition)| definition.held(name)).sum()
    }

    fn forget(&mut self, name: &str) -> Option<Definition> {
        let definition = self.tools.remove(name)?;
        self.order.remove(&definition.order);
        self.held = self.held.saturating_sub(definition.held(name));
        Some(definition)
    }

    /// Forgets the oldest ones until the rest fits; whether there were any.
    fn fit(&mut self, limits: &Limits) -> bool {
        let mut lost = false;
        while (self.tools.len() > limits.tools || self.held > limits.tool_bytes)
            && let Some(name) = self.order.first_entry().map(|first| first.remove())
        {
            self.forget(&name);
            lost = true;
        }
        lost
    }

    /// Why a tool cannot be called (SCHEMA-05).
    pub(super) fn refused(&self, tool: &str) -> Option<&str> {
        self.tools.get(tool)?.refused.as_deref()
    }

    /// Whether a tool may be called as a task; `None` where nothing is known of that.
    pub(super) fn task_support(&self, tool: &str) -> Option<TaskSupport> {
        self.tools.get(tool)?.tasks
    }

    /// What the result of a call that goes out now has to look like, if anything is known of that. The second is what
    /// a person may want to know.
    pub(super) fn output(
        &mut self,
        tool: &str,
        limits: &Limits,
    ) -> (Option<Arc<Output>>, Option<Diagnostic>) {
        let Some(definition) = self.tools.get(tool) else { return (None, None) };
        let (Some(schema), None) = (&definition.output, &definition.ready) else {
            return (definition.ready.clone(), None);
        };
        let schema = Schema::new(schema, limits);
        let diagnostic = schema.as_ref().err().map(|error| {
            let name = text::excerpt(tool);
            Diagnostic::new("client", format!("the output schema of tool `{name}` cannot be used, {error}"))
        });
        let output = Arc::new(Output(schema));
        if let Some(mut definition) = self.forget(tool) {
            // One that would push out all others is read again for each call.
            definition.ready = Some(output.clone()).filter(|output| output.held() < limits.tool_bytes / 2);
            self.keep(tool.to_owned(), definition);
            self.fit(limits);
        }
        (Some(output), diagnostic)
    }

    /// Adds the headers for a call of `tool` with these parameters (HDR-17, HDR-30 to HDR-38).
    pub(super) fn append(&self, tool: &str, body: &[u8], headers: &mut Headers) {
        #[derive(Deserialize)]
        struct Request<'a> {
            #[serde(borrow)]
            params: Params<'a>,
        }
        #[derive(Deserialize)]
        struct Params<'a> {
            #[serde(borrow, default)]
            arguments: Option<&'a RawValue>,
        }
        let Some(definition) = self.tools.get(tool) else { return };
        if definition.mirrored.is_empty() {
            return;
        }
        // The body was written here, so it is read without fail; without arguments there are no headers.
        let arguments =
            serde_json::from_slice::<Request<'_>>(body).ok().and_then(|request| request.params.arguments);
        let Some(arguments) = arguments else { return };
        for param in &definition.mirrored {
            // A value of another type than the schema allows is for the server to refuse.
            let Ok(Some(value)) = param.read(arguments.get()) else { continue };
            match value {
                ParamValue::String(text) => {
                    headers.push(&param.header, header_value::encode(&text).as_bytes())
                }
                ParamValue::Integer(number) => headers.push(&param.header, number.to_string()),
                ParamValue::Boolean(flag) => headers.push(&param.header, if flag { "true" } else { "false" }),
            }
        }
    }
}

/// A tool whose schemas are written in a dialect that nobody here reads.
fn refusal(tool: &Tool) -> Option<String> {
    let schemas = [("input", Some(&tool.input_schema)), ("output", tool.output_schema.as_ref())];
    schemas.into_iter().find_map(|(which, schema)| {
        let SchemaError { reason, .. } = Dialect::of(schema?).err()?;
        Some(format!("the {which} schema of tool `{}`: {reason}", text::excerpt(&tool.name)))
    })
}

/// What the structured content of a tool has to look like.
#[derive(Debug)]
pub(super) struct Output(Result<Schema, SchemaError>);

impl Output {
    fn held(&self) -> usize {
        self.0.as_ref().map_or(256, Schema::held)
    }

    /// Looks whether the structured content of a successful result fits. `objects` when only an object is some
    /// (TOOL-24, TOOL-25).
    pub(super) fn check(&self, structured: Option<&Json>, objects: bool) -> Result<(), Mismatch> {
        let schema = self.0.as_ref().map_err(|error| {
            Mismatch::new(&format!("structuredContent: the output schema cannot be used, {error}"))
        })?;
        match structured {
            Some(structured) if objects && !structured.is_object() => {
                Err(Mismatch::new("structuredContent: expected an object, found another value"))
            }
            Some(structured) => schema.check(structured.get(), "structuredContent"),
            None => Err(Mismatch::new("structuredContent: missing, although there is an output schema")),
        }
    }
}
