//! Prompts: metadata, and what a handler of one takes and returns.

use mcp_proto::error::ApiMisuse;
use mcp_proto::model::{self, GetPromptResult, Icon, Json, Meta, PromptArgument, PromptMessage, Role};
use mcp_proto::server::{Scopes, Target};
use schemars::JsonSchema;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::Value;
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
    pub(crate) fn into_model<A: PromptArguments>(self) -> Result<model::Prompt, ApiMisuse> {
        let mut prompt = self.model;
        if prompt.arguments.is_empty() {
            prompt.arguments = A::declared()
                .map_err(|why| ApiMisuse::new(format!("prompt `{}`: {}", prompt.name, why.message)))?;
        }
        Ok(prompt)
    }
}

/// Marks handlers of prompts: they take an object of strings, and return text (one message of the user),
/// messages, or a whole [`GetPromptResult`].
#[derive(Debug)]
pub struct ForPrompt;

/// What the handler of a prompt takes: a type with fields that are read from strings.
pub trait PromptArguments: Arguments<ForPrompt> {
    /// The arguments that the type has.
    ///
    /// # Errors
    /// When a field is of a type that is not read from a string.
    fn declared() -> Result<Vec<PromptArgument>, ApiMisuse>;
}

impl<A: DeserializeOwned + JsonSchema + Send + 'static> PromptArguments for A {
    fn declared() -> Result<Vec<PromptArgument>, ApiMisuse> {
        #[derive(Default, Deserialize)]
        #[serde(default)]
        struct Schema {
            properties: BTreeMap<String, Property>,
            required: Vec<String>,
        }
        #[derive(Default, Deserialize)]
        #[serde(default)]
        struct Property {
            #[serde(rename = "type")]
            kind: Value,
            title: Option<String>,
            description: Option<String>,
        }
        let schema = schema_of::<A>();
        let schema = schema.as_ref().map(Json::get).and_then(|text| serde_json::from_str(text).ok());
        let Schema { properties, required } = schema.unwrap_or_default();
        let declare = |(name, property): (String, Property)| {
            let takes_strings = match &property.kind {
                Value::Null => true,
                Value::Array(kinds) => kinds.iter().any(|kind| kind == "string"),
                kind => kind == "string",
            };
            if !takes_strings {
                return Err(ApiMisuse::new(format!(
                    "the argument `{name}` is of type {}, and clients send strings: take a `String`, or a type that is read \
                     from one and says so (`#[schemars(with = \"String\")]`)",
                    property.kind
                )));
            }
            let mut argument = PromptArgument::new(name);
            argument.required = required.contains(&argument.name).then_some(true);
            argument.title = property.title;
            argument.description = property.description;
            Ok(argument)
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

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Deserialize, JsonSchema)]
    #[expect(dead_code, reason = "only what it looks like matters")]
    struct Strings {
        /// Whom to greet.
        name: String,
        tone: Option<String>,
        #[serde(deserialize_with = "Strings::number")]
        #[schemars(with = "String")]
        times: u8,
    }

    impl Strings {
        fn number<'de, D: serde::Deserializer<'de>>(reader: D) -> Result<u8, D::Error> {
            String::deserialize(reader)?.parse().map_err(serde::de::Error::custom)
        }
    }

    #[derive(Deserialize, JsonSchema)]
    #[expect(dead_code, reason = "only what it looks like matters")]
    struct Numbers {
        times: u8,
    }

    /// PROMPT-06: arguments of prompts are strings, so a type that takes others is refused where it is added, and not when it
    /// is asked for.
    #[test]
    fn arguments_of_prompts_are_strings() {
        let declared = Strings::declared().unwrap();
        let required: Vec<_> =
            declared.iter().map(|argument| (&*argument.name, argument.required.is_some())).collect();
        assert_eq!(required, [("name", true), ("times", true), ("tone", false)]);
        assert_eq!(<()>::declared().unwrap(), []);
        let refused = Prompt::new("greet").into_model::<Numbers>().unwrap_err();
        assert!(
            ["`greet`", "`times`", "integer"].iter().all(|text| refused.message.contains(text)),
            "{refused}"
        );
    }
}
