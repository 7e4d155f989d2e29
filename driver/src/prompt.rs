//! Prompts: metadata, and what a handler of one takes and returns.

use mcp_proto::model::{self, GetPromptResult, Icon, Json, Meta, PromptArgument, PromptMessage, Role};
use mcp_proto::server::{Scopes, Target};
use schemars::JsonSchema;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use std::collections::BTreeMap;

use crate::context::Context;
use crate::handler::{Arguments, Outcome, decode};
use crate::tool::{ToolError, schema_of};

/// What a server says about a prompt. What it can be filled in with comes from the handler's argument type,
/// by name, unless it is declared by hand.
///
/// <https://modelcontextprotocol.io/specification/2026-07-28/server/prompts#prompt>
#[derive(Clone, Debug)]
pub struct Prompt {
    model: model::Prompt,
    pub(crate) scopes: Scopes,
}

impl Prompt {
    /// A prompt by name, unique among the prompts of its server.
    pub fn new(name: impl Into<String>) -> Self {
        Self { model: model::Prompt::new(name), scopes: Scopes::new() }
    }

    /// What it is for.
    #[must_use]
    pub fn description(mut self, description: impl Into<String>) -> Self {
        self.model = self.model.description(description);
        self
    }

    /// A name for people.
    #[must_use]
    pub fn title(mut self, title: impl Into<String>) -> Self {
        self.model = self.model.title(title);
        self
    }

    /// An argument, by hand. With one declared like this, those of the handler's argument type are not
    /// looked at.
    #[must_use]
    pub fn argument(mut self, argument: PromptArgument) -> Self {
        self.model.arguments.push(argument);
        self
    }

    /// An icon to show beside it.
    #[must_use]
    pub fn icon(mut self, icon: Icon) -> Self {
        self.model.icons.push(icon);
        self
    }

    /// `_meta` of the definition.
    #[must_use]
    pub fn meta(mut self, meta: Meta) -> Self {
        self.model = self.model.meta(meta);
        self
    }

    /// Scopes that a caller must have; see [`Tool::scopes`](crate::Tool::scopes).
    #[must_use]
    pub fn scopes<S: Into<String>>(mut self, scopes: impl IntoIterator<Item = S>) -> Self {
        self.scopes.extend(scopes.into_iter().map(Into::into));
        self
    }

    /// The definition as it travels.
    pub(crate) fn into_model<A: PromptArguments>(self) -> model::Prompt {
        let mut prompt = self.model;
        if prompt.arguments.is_empty() {
            prompt.arguments = A::declared();
        }
        prompt
    }
}

/// Marks handlers of prompts: they take an object of strings, and return text (one message of the user),
/// messages, or a whole [`GetPromptResult`].
#[derive(Debug)]
pub struct ForPrompt;

/// What the handler of a prompt takes: a type with fields that are read from strings.
pub trait PromptArguments: Arguments<ForPrompt> {
    /// The arguments that the type has.
    fn declared() -> Vec<PromptArgument>;
}

impl<A: DeserializeOwned + JsonSchema + Send + 'static> PromptArguments for A {
    fn declared() -> Vec<PromptArgument> {
        #[derive(Default, Deserialize)]
        #[serde(default)]
        struct Schema {
            properties: BTreeMap<String, Property>,
            required: Vec<String>,
        }
        #[derive(Default, Deserialize)]
        #[serde(default)]
        struct Property {
            title: Option<String>,
            description: Option<String>,
        }
        let schema = schema_of::<A>();
        let schema = schema.as_ref().map(Json::get).and_then(|text| serde_json::from_str(text).ok());
        let Schema { properties, required } = schema.unwrap_or_default();
        let declare = |(name, property): (String, Property)| {
            let mut argument = PromptArgument::new(name);
            argument.required = required.contains(&argument.name).then_some(true);
            argument.title = property.title;
            argument.description = property.description;
            argument
        };
        properties.into_iter().map(declare).collect()
    }
}

impl<A: DeserializeOwned + JsonSchema + Send + 'static> Arguments<ForPrompt> for A {
    fn read(context: &Context) -> Result<Self, ToolError> {
        decode(context.arguments())
    }
}

impl Outcome<ForPrompt> for GetPromptResult {
    type Output = Self;

    fn into_output(self, _: &Target) -> Self {
        self
    }
}

impl Outcome<ForPrompt> for Vec<PromptMessage> {
    type Output = GetPromptResult;

    fn into_output(self, _: &Target) -> GetPromptResult {
        GetPromptResult::new(self)
    }
}

impl Outcome<ForPrompt> for String {
    type Output = GetPromptResult;

    fn into_output(self, _: &Target) -> GetPromptResult {
        GetPromptResult::new(vec![PromptMessage::new(Role::User, model::ContentBlock::text(self))])
    }
}

impl Outcome<ForPrompt> for &'static str {
    type Output = GetPromptResult;

    fn into_output(self, target: &Target) -> GetPromptResult {
        Outcome::<ForPrompt>::into_output(self.to_owned(), target)
    }
}
