//! Replies: kept as the text that came, read as what was asked.

use super::cache::Freshness;
use super::calls::CallId;
use super::config::Config;
use super::definitions::{Definitions, Facets, Output};
use super::tasks::TaskHandle;
use crate::diagnostic::Diagnostic;
use crate::dialect::{Revision, StructuredOutput};
use crate::error::CallError;
use crate::model::Json;
use crate::model::content::ContentBlock;
use crate::model::resources::Resource;
use crate::model::result::ResultType;
use crate::model::tools::{CallToolResult, Tool};
use crate::schema::{Mismatch, OutputCheck};
use crate::text;
use crate::wire::jsonrpc;
use alloc::borrow::Cow;
use alloc::boxed::Box;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use core::fmt;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::value::RawValue;

/// A call under way, and how its reply will be read.
///
/// Give it to `take` once [`Event::Settled`](super::Event::Settled) has named its [`id`](Self::id).
pub struct Pending<R> {
    id: CallId,
    read: fn(RawReply<'_>) -> Result<R, CallError>,
}

impl<R> Pending<R> {
    pub(super) const fn new(id: CallId, read: fn(RawReply<'_>) -> Result<R, CallError>) -> Self {
        Self { id, read }
    }

    /// The call.
    pub const fn id(&self) -> CallId {
        self.id
    }

    pub(super) fn read(&self, reply: RawReply<'_>) -> Result<R, CallError> {
        (self.read)(reply)
    }
}

impl<R> Clone for Pending<R> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<R> Copy for Pending<R> {}

impl<R> fmt::Debug for Pending<R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Pending").field(&self.id).finish()
    }
}

/// A complete result, as it came.
pub struct RawReply<'a> {
    raw: &'a RawValue,
    revision: Revision,
    around: Around<'a>,
}

/// What a result is read with.
pub(super) struct Around<'a> {
    /// Whether it was kept.
    pub(super) freshness: &'a Freshness,
    /// The task that it says that its call goes on as, if that is to be handed out.
    pub(super) task: Option<&'a TaskHandle>,
    /// What is to be known of tools.
    pub(super) facets: Facets,
    pub(super) definitions: &'a mut Definitions,
    pub(super) config: &'a Config,
    /// What structured content has to look like.
    pub(super) output: Option<&'a Output>,
    pub(super) diagnostics: &'a mut Vec<Diagnostic>,
}

/// Prints the length of the result only.
impl fmt::Debug for RawReply<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "RawReply({}, {} bytes)", self.revision, self.raw.get().len())
    }
}

impl<'a> RawReply<'a> {
    /// Judges the result type (RPC-11, RPC-12).
    pub(super) fn open(raw: &'a RawValue, revision: Revision, around: Around<'a>) -> Result<Self, CallError> {
        if !raw.get().starts_with('{') {
            return Err(invalid("expected an object as result".to_string()));
        }
        if revision.dialect().result_type && around.task.is_none() {
            match ResultType::of(raw) {
                Ok(ResultType::Complete) => {}
                // Where it may be, it was seen to before (MRTR-03).
                Ok(ResultType::InputRequired) => {
                    return Err(invalid(
                        "expected a complete result, found one that asks for input".to_string(),
                    ));
                }
                Ok(ResultType::Other(other)) => {
                    return Err(invalid(format!(
                        "expected a `resultType` of `complete` or `input_required`, found `{}`",
                        text::excerpt(&other)
                    )));
                }
                Err(_) => return Err(invalid("expected a string as `resultType`".to_string())),
            }
        }
        Ok(Self { raw, revision, around })
    }

    /// The JSON text of the result object.
    pub fn get(&self) -> &'a str {
        self.raw.get()
    }

    /// The revision that it is written in.
    pub const fn revision(&self) -> Revision {
        self.revision
    }

    /// Where it is from.
    pub const fn freshness(&self) -> &Freshness {
        self.around.freshness
    }

    /// The task that it says that its call goes on as; only of a call that takes it ([`TaskRole::Handed`]).
    ///
    /// [`TaskRole::Handed`]: super::TaskRole::Handed
    pub fn task(&self) -> Option<&TaskHandle> {
        self.around.task
    }

    /// The result as a `T`.
    pub fn decode<T: DeserializeOwned>(&self) -> Result<T, CallError> {
        // Says where and what, and repeats nothing of what came.
        jsonrpc::decode_at(self.get(), "result").map_err(|error| invalid(error.message.into_owned()))
    }

    /// A copy of the result as JSON.
    pub fn json(&self) -> Json {
        self.raw.into()
    }

    /// Learns the definitions of the tools, and drops those whose annotations for headers are bad.
    pub(super) fn sift_tools(&mut self, tools: &mut Vec<Tool>) {
        let Around { facets, definitions, config, diagnostics, .. } = &mut self.around;
        tools.retain(|tool| match definitions.learn(tool, *facets, &config.limits) {
            Ok(noticed) => {
                diagnostics.extend(noticed);
                true
            }
            Err(reason) => {
                let name = text::excerpt(&tool.name);
                let text = format!("tool `{name}` is left out of tools/list: {reason}");
                diagnostics.push(Diagnostic::new("client", text));
                false
            }
        });
    }

    /// Looks whether the structured content of a tool fits the schema that it was called under (TOOL-29).
    fn misfit(&self, result: &CallToolResult) -> Option<Mismatch> {
        let known = self.revision.dialect().structured_output;
        // A tool that failed says so in words (B57).
        let output = self.around.output.filter(|_| known != StructuredOutput::None && !result.failed())?;
        output.check(result.structured_content.as_ref(), known == StructuredOutput::Object).err()
    }
}

fn invalid(reason: String) -> CallError {
    CallError::Invalid { reason }
}

/// What a tool returned.
///
/// <https://modelcontextprotocol.io/specification/2026-07-28/server/tools#tool-result>
#[derive(Clone, PartialEq)]
#[non_exhaustive]
pub struct ToolReply {
    /// The whole result.
    pub result: CallToolResult,
    /// What about the structured content does not fit the output schema under which the tool was called;
    /// [`Config::check_output`] says what else is done about it. `None` too when nothing was looked at.
    pub misfit: Option<Mismatch>,
}

/// Prints how much the tool returned, and not what.
impl fmt::Debug for ToolReply {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ToolReply")
            .field("is_error", &self.is_error())
            .field("content", &format_args!("{} blocks", self.content().len()))
            .field("structured", &self.result.structured_content.is_some())
            .finish_non_exhaustive()
    }
}

impl ToolReply {
    pub(super) fn read(reply: RawReply<'_>) -> Result<Self, CallError> {
        let result = reply.decode()?;
        let misfit = reply.misfit(&result);
        let Around { config, diagnostics, .. } = reply.around;
        if let Some(mismatch) = &misfit {
            if config.check_output == OutputCheck::Strict {
                return Err(CallError::Misfit { reply: Box::new(Self { result, misfit }) });
            }
            let text = format!("a result does not fit the output schema of its tool: {mismatch}");
            diagnostics.push(Diagnostic::new("client", text));
        }
        Ok(Self { result, misfit })
    }

    /// Whether the tool failed; its content then says why, in words for the model (TOOL-32, TOOL-34).
    pub fn is_error(&self) -> bool {
        self.result.is_error.unwrap_or_default()
    }

    /// The content blocks.
    pub fn content(&self) -> &[ContentBlock] {
        &self.result.content
    }

    /// The text blocks, one to a line; borrowed when there is only one.
    pub fn text(&self) -> Cow<'_, str> {
        let mut texts = self.content().iter().filter_map(|block| match block {
            ContentBlock::Text(text) => Some(text.text.as_str()),
            _ => None,
        });
        let Some(first) = texts.next() else { return Cow::Borrowed("") };
        let mut joined = Cow::Borrowed(first);
        for text in texts {
            let joined = joined.to_mut();
            joined.push('\n');
            joined.push_str(text);
        }
        joined
    }

    /// The structured content as a `T`.
    ///
    /// # Errors
    ///
    /// [`CallError::Invalid`] when it is not a `T`, which it says by path, and when there is none; the field
    /// [`result`](Self::result) tells whether there is.
    pub fn structured<'a, T: Deserialize<'a>>(&'a self) -> Result<T, CallError> {
        let Some(content) = &self.result.structured_content else {
            let why = if self.is_error() { "the tool failed and returned" } else { "found" };
            return Err(invalid(format!("expected `structuredContent`, {why} none")));
        };
        jsonrpc::decode_at(content.get(), "structuredContent")
            .map_err(|error| invalid(error.message.into_owned()))
    }

    /// The resources that the result points to, without their content (TOOL-21).
    pub fn resource_links(&self) -> impl Iterator<Item = &Resource> {
        self.content().iter().filter_map(|block| match block {
            ContentBlock::ResourceLink(link) => Some(&link.0),
            _ => None,
        })
    }
}
