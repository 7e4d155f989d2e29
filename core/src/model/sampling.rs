//! Sampling: a server asks the client's model. Deprecated in 2026-07-28, where it is an input request.
//!
//! <https://modelcontextprotocol.io/specification/2026-07-28/client/sampling>

mod balance;
mod message;
#[cfg(test)]
mod tests;

pub use message::{
    SamplingContent, SamplingMessage, SamplingMessageContentBlock, ToolResultContent, ToolUseContent,
};

use super::annotations::Role;
use super::decode::or_default;
use super::encode::{Members, Number, Object};
use super::json::{Json, JsonMap};
use super::macros::{open_object, setters};
use super::meta::Meta;
use super::tools::Tool;
use crate::dialect::{Revision, Tasks};
use alloc::string::String;
use alloc::vec::Vec;
use message::Messages;
use serde::ser::SerializeMap;
use serde::{Deserialize, Serialize, Serializer};

/// The parameters of `sampling/createMessage` (SAMP-07). The client may change or ignore what it likes but
/// the messages (SAMP-17).
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct CreateMessageRequestParams {
    /// The conversation so far.
    pub messages: Vec<SamplingMessage>,
    /// The most tokens to produce.
    pub max_tokens: u64,
    /// Which model is wanted.
    pub model_preferences: Option<ModelPreferences>,
    /// The system prompt.
    pub system_prompt: Option<String>,
    /// Context of other servers to include; only with the client's `sampling.context` (SAMP-06).
    pub include_context: Option<IncludeContext>,
    /// The temperature.
    pub temperature: Option<f64>,
    /// Where to stop.
    #[serde(default, deserialize_with = "or_default")]
    pub stop_sequences: Vec<String>,
    /// Whatever the model's provider wants, as an object.
    pub metadata: Option<Json>,
    /// Tools that the model may ask for; from 2025-11-25 on, and only with the client's `sampling.tools`
    /// (SAMP-04).
    #[serde(default, deserialize_with = "or_default")]
    pub tools: Vec<Tool>,
    /// How the model may use them; from 2025-11-25 on.
    pub tool_choice: Option<ToolChoice>,
    /// Asks to be run as a task; 2025-11-25 only.
    pub task: Option<Json>,
    /// Metadata to send, in legacy revisions. What came is read with
    /// [`RequestMeta`](super::meta::RequestMeta).
    #[serde(skip)]
    pub meta: Meta,
}

impl CreateMessageRequestParams {
    /// Continues `messages` by at most `max_tokens`.
    pub fn new(messages: Vec<SamplingMessage>, max_tokens: u64) -> Self {
        Self {
            messages,
            max_tokens,
            model_preferences: None,
            system_prompt: None,
            include_context: None,
            temperature: None,
            stop_sequences: Vec::new(),
            metadata: None,
            tools: Vec::new(),
            tool_choice: None,
            task: None,
            meta: Meta::new(),
        }
    }
}

setters!(CreateMessageRequestParams {
    model_preferences?: ModelPreferences,
    system_prompt?: String,
    include_context?: IncludeContext,
    temperature?: f64,
    stop_sequences: Vec<String>,
    metadata?: Json,
    tools: Vec<Tool>,
    tool_choice?: ToolChoice,
    task?: Json,
    meta: Meta,
});

impl Members for CreateMessageRequestParams {
    fn members<M: SerializeMap>(&self, to: &mut Object<M>) -> Result<(), M::Error> {
        let known = to.dialect();
        to.encoded("messages", &Messages(&self.messages))?;
        to.member("maxTokens", &self.max_tokens)?;
        to.optional("modelPreferences", &self.model_preferences)?;
        to.optional("systemPrompt", &self.system_prompt)?;
        to.optional("includeContext", &self.include_context)?;
        to.optional("temperature", &self.temperature.map(Number))?;
        to.list("stopSequences", &self.stop_sequences)?;
        to.optional("metadata", &self.metadata)?;
        if known.sampling_tools {
            if !self.tools.is_empty() {
                to.encoded("tools", self.tools.as_slice())?;
            }
            to.optional("toolChoice", &self.tool_choice)?;
        }
        if known.tasks == Tasks::Core {
            to.optional("task", &self.task)?;
        }
        Ok(())
    }

    fn metadata(&self, revision: Revision) -> Option<&Meta> {
        revision.dialect().server_requests.then_some(&self.meta)
    }
}

/// Which model is wanted. Hints come before priorities (SAMP-19).
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct ModelPreferences {
    /// Models, best first; the first that matches wins (SAMP-18).
    #[serde(default, deserialize_with = "or_default", skip_serializing_if = "Vec::is_empty")]
    pub hints: Vec<ModelHint>,
    /// How much cost counts, from 0 to 1.
    #[serde(skip_serializing_if = "Option::is_none", serialize_with = "number")]
    pub cost_priority: Option<f64>,
    /// How much speed counts, from 0 to 1.
    #[serde(skip_serializing_if = "Option::is_none", serialize_with = "number")]
    pub speed_priority: Option<f64>,
    /// How much capability counts, from 0 to 1.
    #[serde(skip_serializing_if = "Option::is_none", serialize_with = "number")]
    pub intelligence_priority: Option<f64>,
}

/// Part of the name of a model.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct ModelHint {
    /// Matches as a substring.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
}

impl ModelPreferences {
    /// None.
    pub fn new() -> Self {
        Self::default()
    }
}

setters!(ModelPreferences {
    hints: Vec<ModelHint>,
    cost_priority?: f64,
    speed_priority?: f64,
    intelligence_priority?: f64,
});

impl ModelHint {
    /// A model whose name contains `name`.
    pub fn new(name: impl Into<String>) -> Self {
        Self { name: Some(name.into()) }
    }
}

fn number<S: Serializer>(value: &Option<f64>, serializer: S) -> Result<S::Ok, S::Error> {
    value.map(Number).serialize(serializer)
}

/// Context of servers to include in the prompt.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum IncludeContext {
    /// None.
    None,
    /// That of the server that asks; deprecated.
    ThisServer,
    /// That of all servers; deprecated.
    AllServers,
}

/// How the model may use tools (SAMP-15).
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct ToolChoice {
    /// As it likes, when nothing is said.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mode: Option<ToolChoiceMode>,
}

/// How a model may use tools.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ToolChoiceMode {
    /// As it likes.
    #[default]
    Auto,
    /// It has to use one at least.
    Required,
    /// Not at all.
    None,
}

impl ToolChoice {
    /// In this way.
    pub fn new(mode: ToolChoiceMode) -> Self {
        Self { mode: Some(mode) }
    }
}

/// The result of `sampling/createMessage` (SAMP-21).
///
/// Towards a revision without arrays of content only the first block is sent (SAMP-10).
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct CreateMessageResult {
    /// Who says it: the model, by its nature.
    pub role: Role,
    /// What the model says.
    pub content: SamplingContent,
    /// The name of the model.
    pub model: String,
    /// Why it stopped: `endTurn`, `stopSequence`, `maxTokens`, `toolUse`, or anything else.
    pub stop_reason: Option<String>,
    /// Metadata.
    pub meta: Meta,
    /// Members not known here.
    pub extra: JsonMap,
}

impl CreateMessageResult {
    /// The model called `model` says `content`.
    pub fn new(content: impl Into<SamplingContent>, model: impl Into<String>) -> Self {
        Self {
            role: Role::Assistant,
            content: content.into(),
            model: model.into(),
            stop_reason: None,
            meta: Meta::new(),
            extra: JsonMap::new(),
        }
    }
}

setters!(CreateMessageResult {
    role: Role,
    stop_reason?: String,
    meta: Meta,
    extra: JsonMap,
});

open_object!(CreateMessageResult {
    required {
        "role" => role,
        "content" => content,
        "model" => model,
    }
    optional {
        "stopReason" => stop_reason,
        "_meta" => meta,
    }
});

impl Members for CreateMessageResult {
    fn members<M: SerializeMap>(&self, to: &mut Object<M>) -> Result<(), M::Error> {
        to.member("role", &self.role)?;
        to.encoded("content", &self.content)?;
        to.member("model", &self.model)?;
        to.optional("stopReason", &self.stop_reason)?;
        to.open(&self.extra, Self::KNOWN)
    }

    fn metadata(&self, _revision: Revision) -> Option<&Meta> {
        Some(&self.meta)
    }
}
