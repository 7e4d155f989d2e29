//! Calling a tool.

use crate::dialect::{Revision, Tasks};
use crate::model::content::ContentBlock;
use crate::model::decode::Key;
use crate::model::encode::{Members, Object, ResultKind};
use crate::model::json::{Json, JsonMap};
use crate::model::macros::{open_object, setters};
use crate::model::meta::Meta;
use alloc::borrow::Cow;
use alloc::string::String;
use alloc::vec::Vec;
use core::fmt;
use serde::de::{Error, IgnoredAny, MapAccess, Unexpected, Visitor};
use serde::ser::SerializeMap;
use serde::{Deserialize, Deserializer};
use serde_json::value::RawValue;

/// The parameters of `tools/call`.
///
/// What came borrows from the message, so that arguments go from there straight into the type of the tool.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct CallToolRequestParams<'a> {
    /// The tool.
    pub name: Cow<'a, str>,
    /// The arguments: an object, or nothing (TOOL-42).
    pub arguments: Option<Cow<'a, RawValue>>,
    /// Answers to what an input-required result asked, by name; from 2026-07-28 on.
    pub input_responses: Option<Cow<'a, RawValue>>,
    /// The state of an input-required result, as it came; from 2026-07-28 on.
    pub request_state: Option<Cow<'a, str>>,
    /// Asks to be called as a task; 2025-11-25 only.
    pub task: Option<Cow<'a, RawValue>>,
    /// Metadata to send. What came is read with [`RequestMeta`](crate::model::meta::RequestMeta).
    pub meta: Meta,
}

impl<'a> CallToolRequestParams<'a> {
    /// A call of `name` without arguments.
    pub fn new(name: impl Into<Cow<'a, str>>) -> Self {
        Self {
            name: name.into(),
            arguments: None,
            input_responses: None,
            request_state: None,
            task: None,
            meta: Meta::new(),
        }
    }

    /// With these arguments; must be a JSON object (TOOL-42).
    #[must_use]
    pub fn arguments(mut self, arguments: &'a impl AsRef<RawValue>) -> Self {
        self.arguments = Some(Cow::Borrowed(arguments.as_ref()));
        self
    }

    /// With these answers to an input-required result.
    #[must_use]
    pub fn input_responses(mut self, responses: &'a impl AsRef<RawValue>) -> Self {
        self.input_responses = Some(Cow::Borrowed(responses.as_ref()));
        self
    }

    /// With this state of an input-required result.
    #[must_use]
    pub fn request_state(mut self, state: impl Into<Cow<'a, str>>) -> Self {
        self.request_state = Some(state.into());
        self
    }

    /// As a task.
    #[must_use]
    pub fn task(mut self, task: &'a impl AsRef<RawValue>) -> Self {
        self.task = Some(Cow::Borrowed(task.as_ref()));
        self
    }

    /// With this metadata.
    #[must_use]
    pub fn meta(mut self, meta: Meta) -> Self {
        self.meta = meta;
        self
    }
}

impl Members for CallToolRequestParams<'_> {
    fn members<M: SerializeMap>(&self, to: &mut Object<M>) -> Result<(), M::Error> {
        let known = to.dialect();
        to.member("name", &self.name)?;
        to.optional("arguments", &self.arguments)?;
        if known.result_type {
            to.optional("inputResponses", &self.input_responses)?;
            to.optional("requestState", &self.request_state)?;
        }
        if known.tasks == Tasks::Core {
            to.optional("task", &self.task)?;
        }
        Ok(())
    }

    fn metadata(&self, _revision: Revision) -> Option<&Meta> {
        Some(&self.meta)
    }
}

impl<'de> Deserialize<'de> for CallToolRequestParams<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Params;
        impl<'de> Visitor<'de> for Params {
            type Value = CallToolRequestParams<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
                let mut name = None;
                let mut params = CallToolRequestParams::new("");
                while let Some(Key(key)) = map.next_key()? {
                    match &*key {
                        "name" => name = Some(map.next_value::<Key<'de>>()?.0),
                        "arguments" => params.arguments = map.next_value::<ObjectText<'de>>()?.0,
                        "inputResponses" => {
                            params.input_responses = map.next_value::<ObjectText<'de>>()?.0;
                        }
                        "requestState" => {
                            params.request_state = map.next_value::<Option<Key<'de>>>()?.map(|state| state.0);
                        }
                        "task" => params.task = map.next_value::<ObjectText<'de>>()?.0,
                        _ => {
                            map.next_value::<IgnoredAny>()?;
                        }
                    }
                }
                params.name = name.ok_or_else(|| A::Error::missing_field("name"))?;
                Ok(params)
            }
        }
        deserializer.deserialize_map(Params)
    }
}

/// An object as it stands in the message, or nothing; `null` counts as nothing.
struct ObjectText<'a>(Option<Cow<'a, RawValue>>);

impl<'de> Deserialize<'de> for ObjectText<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let raw = <&RawValue>::deserialize(deserializer)?;
        let came = match raw.get().as_bytes().first() {
            Some(b'{') => return Ok(Self(Some(Cow::Borrowed(raw)))),
            Some(b'n') => return Ok(Self(None)),
            Some(b'[') => Unexpected::Seq,
            Some(b'"') => Unexpected::Str("…"),
            Some(first @ (b't' | b'f')) => Unexpected::Bool(*first == b't'),
            _ => Unexpected::Other("number"),
        };
        Err(D::Error::invalid_type(came, &"an object"))
    }
}

/// The result of `tools/call`.
///
/// A tool that fails says so here, with [`CallToolResult::error`]; protocol errors are for calls that cannot
/// be made at all (TOOL-32).
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct CallToolResult {
    /// What it returned, for a model. A peer that leaves it out is read as having returned none (TOOL-19). Where
    /// this is empty and there is structured content, that is sent as text as well (TOOL-26, TOOL-27).
    pub content: Vec<ContentBlock>,
    /// What it returned, as JSON. From 2025-06-18 on an object, from 2026-07-28 on any JSON, `null` too; not
    /// sent where the revision does not allow it (TOOL-24, TOOL-25).
    pub structured_content: Option<Json>,
    /// Whether it failed; see [`CallToolResult::failed`].
    pub is_error: Option<bool>,
    /// Metadata.
    pub meta: Meta,
    /// Members not known here.
    pub extra: JsonMap,
}

impl CallToolResult {
    /// A success that returns `content`.
    pub fn new(content: Vec<ContentBlock>) -> Self {
        Self { content, ..Self::default() }
    }

    /// A success that returns text.
    pub fn text(text: impl Into<String>) -> Self {
        Self::new([ContentBlock::text(text)].into())
    }

    /// Structured content, and the same as text for whoever reads no other (TOOL-26).
    pub fn structured(content: Json) -> Self {
        Self { structured_content: Some(content), ..Self::default() }.mirrored()
    }

    /// With the structured content as text, where there is some and nothing else (TOOL-26, TOOL-27).
    #[must_use]
    pub fn mirrored(mut self) -> Self {
        if let (Some(content), true) = (&self.structured_content, self.content.is_empty()) {
            self.content.push(ContentBlock::text(content.get()));
        }
        self
    }

    /// A failure that the model is told about.
    pub fn error(text: impl Into<String>) -> Self {
        Self { is_error: Some(true), ..Self::text(text) }
    }

    /// Whether the tool failed; unless said, it did not (TOOL-19).
    pub fn failed(&self) -> bool {
        self.is_error.unwrap_or(false)
    }
}

setters!(CallToolResult {
    structured_content?: Json,
    is_error?: bool,
    meta: Meta,
    extra: JsonMap,
});

open_object!(CallToolResult {
    required {}
    optional {
        "content" => content,
        "isError" => is_error,
        "_meta" => meta,
    }
    verbatim { "structuredContent" => structured_content, }
    ignored { "resultType", }
});

impl Members for CallToolResult {
    fn members<M: SerializeMap>(&self, to: &mut Object<M>) -> Result<(), M::Error> {
        to.complete()?;
        match &self.structured_content {
            Some(structured) if self.content.is_empty() => {
                to.encoded("content", [ContentBlock::text(structured.get())].as_slice())?;
            }
            _ => to.encoded("content", self.content.as_slice())?,
        }
        to.structured_content(self.structured_content.as_ref())?;
        to.optional("isError", &self.is_error)?;
        to.open(&self.extra, Self::KNOWN)
    }

    fn kind(&self) -> ResultKind {
        if self.failed() { ResultKind::ToolError } else { ResultKind::Complete }
    }

    fn metadata(&self, _revision: Revision) -> Option<&Meta> {
        Some(&self.meta)
    }
}
