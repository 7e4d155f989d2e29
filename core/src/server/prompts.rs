//! The catalog of prompts: what `prompts/list` shows and `prompts/get` finds.

#[cfg(test)]
mod tests;

use alloc::borrow::Cow;
use alloc::collections::BTreeSet;
use alloc::string::String;
use alloc::vec::Vec;
use core::fmt;

use serde::de::{MapAccess, Visitor};
use serde::{Deserialize, Deserializer};
use serde_json::value::RawValue;

use super::catalog::{Listed, Texts, catalog};
use super::dispatch::Text;
use super::refusal::Refusal;
use super::resource_server::Scopes;
use super::visible::Item;
use crate::error::{ApiMisuse, code};
use crate::limits::Limits;
use crate::model::prompts::Prompt;
use crate::wire::jsonrpc;

catalog! {
    /// The prompts of a server, in the order in which they were added.
    ///
    /// <https://modelcontextprotocol.io/specification/2026-07-28/server/prompts>
    Prompts of Prompt as PromptEntry, found by name;
    /// Adds a prompt.
    ///
    /// Refused are an empty name, one that is taken, and arguments without a name or with the same one.
    insert
}

/// A prompt as the catalog holds it: checked, and already written out for every revision.
#[derive(Debug)]
#[non_exhaustive]
pub struct PromptEntry {
    /// The prompt as it was added.
    pub prompt: Prompt,
    /// What a caller must be allowed, where that is asked.
    scopes: Scopes,
    texts: Texts,
}

impl Listed for PromptEntry {
    type Item = Prompt;

    const LIST: &'static str = "prompts";
    const ONE: &'static str = "prompt";

    fn new(prompt: Prompt, _: &Limits) -> Result<Self, ApiMisuse> {
        if prompt.name.is_empty() {
            return Err(ApiMisuse::new("a prompt must have a name"));
        }
        let misuse = |what: String| ApiMisuse::new(alloc::format!("prompt `{}`: {what}", prompt.name));
        let mut names = BTreeSet::new();
        for argument in &prompt.arguments {
            if argument.name.is_empty() {
                return Err(misuse("an argument must have a name".into()));
            }
            if !names.insert(argument.name.as_str()) {
                return Err(misuse(alloc::format!("the argument `{}` is there twice", argument.name)));
            }
        }
        let texts =
            Texts::new(&prompt).map_err(|error| misuse(alloc::format!("it does not serialise: {error}")))?;
        Ok(Self { prompt, scopes: Scopes::new(), texts })
    }

    fn key(&self) -> &str {
        &self.prompt.name
    }

    fn scopes_mut(&mut self) -> &mut Scopes {
        &mut self.scopes
    }

    fn texts(&self) -> &Texts {
        &self.texts
    }

    fn item(&self) -> Item<'_> {
        Item::Prompt(&self.prompt)
    }
}

impl PromptEntry {
    /// Whether the prompt declares this argument.
    pub(super) fn takes(&self, argument: &str) -> bool {
        self.prompt.arguments.iter().any(|known| known.name == argument)
    }

    /// Arguments are strings, and the required ones are there (PROMPT-06, PROMPT-13).
    pub(super) fn check_arguments(&self, arguments: Option<&RawValue>) -> Result<(), Refusal> {
        let given: Names<'_> = match arguments {
            Some(arguments) => jsonrpc::decode_at(arguments.get(), "params.arguments")?,
            None => Names::default(),
        };
        let mut missing = String::new();
        for argument in self.prompt.arguments.iter().filter(|argument| argument.is_required()) {
            if !given.0.iter().any(|name| *name == argument.name) {
                missing.push_str(if missing.is_empty() { " `" } else { ", `" });
                missing.push_str(&argument.name);
                missing.push('`');
            }
        }
        if missing.is_empty() {
            return Ok(());
        }
        Err(Refusal::plain(code::INVALID_PARAMS, alloc::format!("params.arguments: missing{missing}")))
    }
}

/// The names of an object's members, all of which are strings.
#[derive(Default)]
struct Names<'a>(Vec<Cow<'a, str>>);

impl<'de> Deserialize<'de> for Names<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Members;
        impl<'de> Visitor<'de> for Members {
            type Value = Names<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Names<'de>, A::Error> {
                let mut names = Vec::new();
                while let Some((Text(name), Text(_))) = map.next_entry()? {
                    names.push(name);
                }
                Ok(Names(names))
            }
        }
        deserializer.deserialize_map(Members)
    }
}
