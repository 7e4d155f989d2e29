//! Prompts: messages that a server has prepared for users to pick.
//!
//! <https://modelcontextprotocol.io/specification/2026-07-28/server/prompts>

use super::annotations::Role;
use super::caching::{CacheScope, TtlMs};
use super::content::ContentBlock;
use super::decode::{lenient_list, or_default};
use super::encode::{Members, Object};
use super::icons::Icon;
use super::input_required::InputResponses;
use super::json::JsonMap;
use super::macros::{open_object, setters};
use super::meta::Meta;
use super::pagination::Cursor;
use crate::dialect::Revision;
use alloc::collections::BTreeMap;
use alloc::string::String;
use alloc::vec::Vec;
use serde::Deserialize;
use serde::ser::SerializeMap;

/// A prompt.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[non_exhaustive]
pub struct Prompt {
    /// Its name.
    pub name: String,
    /// Its name for people; from 2025-06-18 on.
    pub title: Option<String>,
    /// What it is for.
    pub description: Option<String>,
    /// What it can be filled in with.
    #[serde(default, deserialize_with = "or_default")]
    pub arguments: Vec<PromptArgument>,
    /// Pictures; from 2025-11-25 on.
    #[serde(default, deserialize_with = "lenient_list")]
    pub icons: Vec<Icon>,
    /// Metadata; from 2025-06-18 on.
    #[serde(default, rename = "_meta")]
    pub meta: Meta,
}

impl Prompt {
    /// The prompt called `name`.
    pub fn new(name: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            title: None,
            description: None,
            arguments: Vec::new(),
            icons: Vec::new(),
            meta: Meta::new(),
        }
    }

    /// What to call it before people (META-24).
    pub fn display_name(&self) -> &str {
        self.title.as_deref().unwrap_or(&self.name)
    }
}

setters!(Prompt {
    title?: String,
    description?: String,
    arguments: Vec<PromptArgument>,
    icons: Vec<Icon>,
    meta: Meta,
});

impl Members for Prompt {
    fn members<M: SerializeMap>(&self, to: &mut Object<M>) -> Result<(), M::Error> {
        to.member("name", &self.name)?;
        to.title(&self.title)?;
        to.optional("description", &self.description)?;
        if !self.arguments.is_empty() {
            to.encoded("arguments", self.arguments.as_slice())?;
        }
        to.icons(&self.icons)?;
        to.object_meta(&self.meta)
    }
}

/// Something that a prompt can be filled in with.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[non_exhaustive]
pub struct PromptArgument {
    /// Its name.
    pub name: String,
    /// Its name for people; from 2025-06-18 on.
    pub title: Option<String>,
    /// What it means.
    pub description: Option<String>,
    /// Whether it has to be given; unless said, it need not.
    pub required: Option<bool>,
}

impl PromptArgument {
    /// The argument called `name`.
    pub fn new(name: impl Into<String>) -> Self {
        Self { name: name.into(), title: None, description: None, required: None }
    }

    /// Whether it has to be given.
    pub fn is_required(&self) -> bool {
        self.required.unwrap_or(false)
    }
}

setters!(PromptArgument {
    title?: String,
    description?: String,
    required?: bool,
});

impl Members for PromptArgument {
    fn members<M: SerializeMap>(&self, to: &mut Object<M>) -> Result<(), M::Error> {
        to.member("name", &self.name)?;
        to.title(&self.title)?;
        to.optional("description", &self.description)?;
        to.optional("required", &self.required)
    }
}

/// The result of `prompts/list`: one page.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct ListPromptsResult {
    /// The prompts of this page.
    pub prompts: Vec<Prompt>,
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

impl ListPromptsResult {
    /// One page, and no further one.
    pub fn new(prompts: Vec<Prompt>) -> Self {
        Self { prompts, ..Self::default() }
    }
}

setters!(ListPromptsResult {
    next_cursor?: Cursor,
    ttl_ms: TtlMs,
    cache_scope: CacheScope,
    meta: Meta,
    extra: JsonMap,
});

open_object!(ListPromptsResult {
    required { "prompts" => prompts, }
    optional {
        "nextCursor" => next_cursor,
        "ttlMs" => ttl_ms,
        "cacheScope" => cache_scope,
        "_meta" => meta,
    }
    ignored { "resultType", }
});

impl Members for ListPromptsResult {
    fn members<M: SerializeMap>(&self, to: &mut Object<M>) -> Result<(), M::Error> {
        to.complete()?;
        to.encoded("prompts", self.prompts.as_slice())?;
        to.optional("nextCursor", &self.next_cursor)?;
        to.caching(self.ttl_ms, self.cache_scope)?;
        to.open(&self.extra, Self::KNOWN)
    }

    fn metadata(&self, _revision: Revision) -> Option<&Meta> {
        Some(&self.meta)
    }
}

/// The parameters of `prompts/get`.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct GetPromptRequestParams {
    /// The prompt.
    pub name: String,
    /// What to fill it in with.
    #[serde(default, deserialize_with = "or_default")]
    pub arguments: BTreeMap<String, String>,
    /// Answers to what an input-required result asked; from 2026-07-28 on.
    #[serde(default, deserialize_with = "or_default")]
    pub input_responses: InputResponses,
    /// The state of an input-required result, as it came; from 2026-07-28 on.
    pub request_state: Option<String>,
    /// Metadata to send. What came is read with [`RequestMeta`](super::meta::RequestMeta).
    #[serde(skip)]
    pub meta: Meta,
}

impl GetPromptRequestParams {
    /// The prompt called `name`, not filled in.
    pub fn new(name: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            arguments: BTreeMap::new(),
            input_responses: InputResponses::new(),
            request_state: None,
            meta: Meta::new(),
        }
    }
}

setters!(GetPromptRequestParams {
    arguments: BTreeMap<String, String>,
    input_responses: InputResponses,
    request_state?: String,
    meta: Meta,
});

impl Members for GetPromptRequestParams {
    fn members<M: SerializeMap>(&self, to: &mut Object<M>) -> Result<(), M::Error> {
        to.member("name", &self.name)?;
        if !self.arguments.is_empty() {
            to.member("arguments", &self.arguments)?;
        }
        to.input_responses(&self.input_responses, self.request_state.as_deref())
    }

    fn metadata(&self, _revision: Revision) -> Option<&Meta> {
        Some(&self.meta)
    }
}

/// The result of `prompts/get`.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct GetPromptResult {
    /// What the prompt is for.
    pub description: Option<String>,
    /// The messages.
    pub messages: Vec<PromptMessage>,
    /// Metadata.
    pub meta: Meta,
    /// Members not known here.
    pub extra: JsonMap,
}

impl GetPromptResult {
    /// These messages.
    pub fn new(messages: Vec<PromptMessage>) -> Self {
        Self { messages, ..Self::default() }
    }
}

setters!(GetPromptResult {
    description?: String,
    meta: Meta,
    extra: JsonMap,
});

open_object!(GetPromptResult {
    required { "messages" => messages, }
    optional {
        "description" => description,
        "_meta" => meta,
    }
    ignored { "resultType", }
});

impl Members for GetPromptResult {
    fn members<M: SerializeMap>(&self, to: &mut Object<M>) -> Result<(), M::Error> {
        to.complete()?;
        to.optional("description", &self.description)?;
        to.encoded("messages", self.messages.as_slice())?;
        to.open(&self.extra, Self::KNOWN)
    }

    fn metadata(&self, _revision: Revision) -> Option<&Meta> {
        Some(&self.meta)
    }
}

/// One message of a prompt.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[non_exhaustive]
pub struct PromptMessage {
    /// Who says it.
    pub role: Role,
    /// What is said.
    pub content: ContentBlock,
}

impl PromptMessage {
    /// Said by the user.
    pub fn user(content: impl Into<ContentBlock>) -> Self {
        Self::new(Role::User, content)
    }

    /// Said by the model.
    pub fn assistant(content: impl Into<ContentBlock>) -> Self {
        Self::new(Role::Assistant, content)
    }

    /// `content`, said by `role`.
    pub fn new(role: Role, content: impl Into<ContentBlock>) -> Self {
        Self { role, content: content.into() }
    }
}

impl Members for PromptMessage {
    fn members<M: SerializeMap>(&self, to: &mut Object<M>) -> Result<(), M::Error> {
        to.member("role", &self.role)?;
        to.encoded("content", &self.content)
    }
}
