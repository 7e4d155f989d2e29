//! Completion: suggestions while a user fills in a prompt or a resource template.
//!
//! <https://modelcontextprotocol.io/specification/2026-07-28/server/utilities/completion>

use super::content::with_type;
use super::decode::{Rest, Tagged, lenient, or_default, tagged};
use super::encode::{Encode, Members, Object};
use super::json::JsonMap;
use super::macros::{open_object, setters};
use super::meta::Meta;
use crate::dialect::Revision;
use alloc::collections::BTreeMap;
use alloc::string::String;
use alloc::vec::Vec;
use serde::de::{Error, MapAccess};
use serde::ser::SerializeMap;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// The parameters of `completion/complete`.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[non_exhaustive]
pub struct CompleteRequestParams {
    /// What is being filled in.
    #[serde(rename = "ref")]
    pub reference: CompletionReference,
    /// The argument that is being typed.
    pub argument: CompletionArgument,
    /// What was filled in before; from 2025-06-18 on.
    pub context: Option<CompletionContext>,
    /// Metadata to send. What came is read with [`RequestMeta`](super::meta::RequestMeta).
    #[serde(skip)]
    pub meta: Meta,
}

impl CompleteRequestParams {
    /// Suggestions for `argument` of `reference`.
    pub fn new(reference: impl Into<CompletionReference>, argument: CompletionArgument) -> Self {
        Self { reference: reference.into(), argument, context: None, meta: Meta::new() }
    }
}

setters!(CompleteRequestParams {
    context?: CompletionContext,
    meta: Meta,
});

impl Members for CompleteRequestParams {
    fn members<M: SerializeMap>(&self, to: &mut Object<M>) -> Result<(), M::Error> {
        to.encoded("ref", &self.reference)?;
        to.member("argument", &self.argument)?;
        if to.dialect().completion_context {
            to.optional("context", &self.context)?;
        }
        Ok(())
    }

    fn metadata(&self, _revision: Revision) -> Option<&Meta> {
        Some(&self.meta)
    }
}

/// What is being filled in.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum CompletionReference {
    /// A prompt: `ref/prompt`.
    Prompt(PromptReference),
    /// A resource template, or a resource: `ref/resource`.
    Resource(ResourceTemplateReference),
}

/// Names a prompt.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[non_exhaustive]
pub struct PromptReference {
    /// The name of the prompt.
    pub name: String,
    /// Its name for people; from 2025-06-18 on.
    pub title: Option<String>,
}

/// Names a resource template.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[non_exhaustive]
pub struct ResourceTemplateReference {
    /// The URI template.
    pub uri: String,
}

impl PromptReference {
    /// The prompt called `name`.
    pub fn new(name: impl Into<String>) -> Self {
        Self { name: name.into(), title: None }
    }
}

setters!(PromptReference { title?: String });

impl ResourceTemplateReference {
    /// The template `uri`.
    pub fn new(uri: impl Into<String>) -> Self {
        Self { uri: uri.into() }
    }
}

impl From<PromptReference> for CompletionReference {
    fn from(reference: PromptReference) -> Self {
        Self::Prompt(reference)
    }
}

impl From<ResourceTemplateReference> for CompletionReference {
    fn from(reference: ResourceTemplateReference) -> Self {
        Self::Resource(reference)
    }
}

impl Members for PromptReference {
    fn members<M: SerializeMap>(&self, to: &mut Object<M>) -> Result<(), M::Error> {
        to.member("name", &self.name)?;
        to.title(&self.title)
    }
}

impl Members for ResourceTemplateReference {
    fn members<M: SerializeMap>(&self, to: &mut Object<M>) -> Result<(), M::Error> {
        to.member("uri", &self.uri)
    }
}

impl Encode for CompletionReference {
    fn encode<S: Serializer>(&self, revision: Revision, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Prompt(reference) => with_type("ref/prompt", reference).encode(revision, serializer),
            Self::Resource(reference) => with_type("ref/resource", reference).encode(revision, serializer),
        }
    }
}

impl Tagged for CompletionReference {
    const TAG: &'static str = "type";
    const EXPECTED: &'static str = "a reference to a prompt or a resource template";

    fn variant<'de, A: MapAccess<'de>>(kind: Option<&str>, rest: Rest<A>) -> Result<Self, A::Error> {
        match kind.ok_or_else(|| A::Error::missing_field("type"))? {
            "ref/prompt" => rest.decode().map(Self::Prompt),
            "ref/resource" => rest.decode().map(Self::Resource),
            kind => Err(A::Error::unknown_variant(kind, &["ref/prompt", "ref/resource"])),
        }
    }
}

impl<'de> Deserialize<'de> for CompletionReference {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        tagged(deserializer)
    }
}

/// The argument that is being typed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct CompletionArgument {
    /// Its name.
    pub name: String,
    /// What was typed so far.
    pub value: String,
}

impl CompletionArgument {
    /// The argument `name`, of which `value` was typed.
    pub fn new(name: impl Into<String>, value: impl Into<String>) -> Self {
        Self { name: name.into(), value: value.into() }
    }
}

/// What was filled in before.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct CompletionContext {
    /// The other arguments.
    #[serde(default, deserialize_with = "or_default", skip_serializing_if = "BTreeMap::is_empty")]
    pub arguments: BTreeMap<String, String>,
}

impl CompletionContext {
    /// These arguments.
    pub fn new(arguments: BTreeMap<String, String>) -> Self {
        Self { arguments }
    }
}

/// The result of `completion/complete`.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct CompleteResult {
    /// The suggestions.
    pub completion: Completion,
    /// Metadata.
    pub meta: Meta,
    /// Members not known here.
    pub extra: JsonMap,
}

impl CompleteResult {
    /// These suggestions.
    pub fn new(completion: Completion) -> Self {
        Self { completion, meta: Meta::new(), extra: JsonMap::new() }
    }
}

setters!(CompleteResult { meta: Meta, extra: JsonMap });

open_object!(CompleteResult {
    required { "completion" => completion, }
    optional { "_meta" => meta, }
    ignored { "resultType", }
});

impl Members for CompleteResult {
    fn members<M: SerializeMap>(&self, to: &mut Object<M>) -> Result<(), M::Error> {
        to.complete()?;
        to.member("completion", &self.completion)?;
        to.open(&self.extra, Self::KNOWN)
    }

    fn metadata(&self, _revision: Revision) -> Option<&Meta> {
        Some(&self.meta)
    }
}

/// Suggestions, best first.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct Completion {
    /// The values. At most [`Completion::MAX`] are sent.
    pub values: Vec<String>,
    /// How many there are in all.
    #[serde(default, deserialize_with = "lenient")]
    pub total: Option<u64>,
    /// Whether there are more than these.
    pub has_more: Option<bool>,
}

impl Completion {
    /// How many values one result may hold.
    pub const MAX: usize = 100;

    /// These values. Of more than [`Completion::MAX`] the first are sent, and that there are more (COMP-03).
    pub fn new(values: Vec<String>) -> Self {
        Self { values, total: None, has_more: None }
    }
}

setters!(Completion {
    total?: u64,
    has_more?: bool,
});

impl Serialize for Completion {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let cut = self.values.get(..Self::MAX).filter(|_| self.values.len() > Self::MAX);
        let all = u64::try_from(self.values.len()).ok();
        let total = self.total.or(all.filter(|_| cut.is_some()));
        let has_more = if cut.is_some() { Some(true) } else { self.has_more };
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("values", cut.unwrap_or(&self.values))?;
        if let Some(total) = total {
            map.serialize_entry("total", &total)?;
        }
        if let Some(has_more) = has_more {
            map.serialize_entry("hasMore", &has_more)?;
        }
        map.end()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::string::ToString;

    /// COMP-03: the bound is reached exactly, and passed by one.
    #[test]
    fn values_past_the_hundredth_are_cut_and_counted() {
        let sent = |completion: Completion| {
            let text = serde_json::to_string(&completion).unwrap();
            serde_json::from_str::<Completion>(&text).unwrap()
        };
        let values = |count: usize| Completion::new((0..count).map(|n| n.to_string()).collect());
        let exact = sent(values(100));
        assert_eq!((exact.values.len(), exact.total, exact.has_more), (100, None, None));
        let over = sent(values(101).has_more(false));
        assert_eq!((over.values.len(), over.total, over.has_more), (100, Some(101), Some(true)));
        assert_eq!(over.values.last().unwrap(), "99");
        assert_eq!(sent(values(101).total(7_000_u64)).total, Some(7_000));
    }
}
