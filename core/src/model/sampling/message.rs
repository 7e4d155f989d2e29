//! The messages of a conversation with a model.

use crate::dialect::Revision;
use crate::model::annotations::Role;
use crate::model::content::{
    AudioContent, ContentBlock, ImageContent, InPlaceOf, TextContent, UnknownContent, with_type,
};
use crate::model::decode::{Rest, Tagged, or_default, present, tagged};
use crate::model::encode::{Encode, In, Members, Object};
use crate::model::json::Json;
use crate::model::macros::setters;
use crate::model::meta::Meta;
use alloc::borrow::ToOwned;
use alloc::boxed::Box;
use alloc::string::String;
use alloc::vec::Vec;
use core::fmt;
use serde::de::value::{MapAccessDeserializer, SeqAccessDeserializer};
use serde::de::{Error, MapAccess, SeqAccess, Visitor};
use serde::ser::{SerializeMap, SerializeSeq};
use serde::{Deserialize, Deserializer, Serializer};

/// One message (SAMP-08).
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[non_exhaustive]
pub struct SamplingMessage {
    /// Who says it.
    pub role: Role,
    /// What is said.
    pub content: SamplingContent,
    /// Metadata; from 2025-11-25 on.
    #[serde(default, rename = "_meta")]
    pub meta: Meta,
}

impl SamplingMessage {
    /// `content`, said by `role`.
    pub fn new(role: Role, content: impl Into<SamplingContent>) -> Self {
        Self { role, content: content.into(), meta: Meta::new() }
    }
}

setters!(SamplingMessage { meta: Meta });

impl Members for SamplingMessage {
    fn members<M: SerializeMap>(&self, to: &mut Object<M>) -> Result<(), M::Error> {
        to.member("role", &self.role)?;
        to.encoded("content", &self.content)?;
        // Metadata came to messages of sampling together with tools, later than to other objects.
        if to.dialect().sampling_tools { to.object_meta(&self.meta) } else { Ok(()) }
    }
}

/// A conversation. Where content is never an array, each block becomes a message of its own (SAMP-10).
pub(super) struct Messages<'a>(pub(super) &'a [SamplingMessage]);

impl Encode for Messages<'_> {
    fn encode<S: Serializer>(&self, revision: Revision, serializer: S) -> Result<S::Ok, S::Error> {
        let mut list = serializer.serialize_seq(None)?;
        for message in self.0 {
            if revision.dialect().sampling_tools {
                list.serialize_element(&In(revision, message))?;
                continue;
            }
            for block in message.content.blocks() {
                list.serialize_element(&In(revision, &OneBlock { role: message.role, block }))?;
            }
        }
        list.end()
    }
}

struct OneBlock<'a> {
    role: Role,
    block: &'a SamplingMessageContentBlock,
}

impl Members for OneBlock<'_> {
    fn members<M: SerializeMap>(&self, to: &mut Object<M>) -> Result<(), M::Error> {
        to.member("role", &self.role)?;
        to.encoded("content", self.block)
    }
}

/// The content of a message: one block, or from 2025-11-25 on an array (SAMP-09).
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum SamplingContent {
    /// One block.
    Single(SamplingMessageContentBlock),
    /// Any number of blocks.
    Array(Vec<SamplingMessageContentBlock>),
}

impl SamplingContent {
    /// Text.
    pub fn text(text: impl Into<String>) -> Self {
        Self::Single(SamplingMessageContentBlock::Text(TextContent::new(text)))
    }

    /// The first text in it.
    pub fn as_text(&self) -> Option<&str> {
        self.blocks().iter().find_map(|block| match block {
            SamplingMessageContentBlock::Text(text) => Some(&*text.text),
            _ => None,
        })
    }

    /// The blocks, in either form.
    pub fn blocks(&self) -> &[SamplingMessageContentBlock] {
        match self {
            Self::Single(block) => core::slice::from_ref(block),
            Self::Array(blocks) => blocks,
        }
    }
}

impl From<SamplingMessageContentBlock> for SamplingContent {
    fn from(block: SamplingMessageContentBlock) -> Self {
        Self::Single(block)
    }
}

impl From<Vec<SamplingMessageContentBlock>> for SamplingContent {
    fn from(blocks: Vec<SamplingMessageContentBlock>) -> Self {
        Self::Array(blocks)
    }
}

impl Encode for SamplingContent {
    fn encode<S: Serializer>(&self, revision: Revision, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Single(block) => block.encode(revision, serializer),
            Self::Array(blocks) if revision.dialect().sampling_tools => {
                blocks.as_slice().encode(revision, serializer)
            }
            Self::Array(blocks) => match blocks.first() {
                Some(block) => block.encode(revision, serializer),
                None => with_type("text", &TextContent::new("")).encode(revision, serializer),
            },
        }
    }
}

impl<'de> Deserialize<'de> for SamplingContent {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Either;
        impl<'de> Visitor<'de> for Either {
            type Value = SamplingContent;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a content block or an array of them")
            }

            fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<SamplingContent, A::Error> {
                Deserialize::deserialize(MapAccessDeserializer::new(map)).map(SamplingContent::Single)
            }

            fn visit_seq<A: SeqAccess<'de>>(self, seq: A) -> Result<SamplingContent, A::Error> {
                Deserialize::deserialize(SeqAccessDeserializer::new(seq)).map(SamplingContent::Array)
            }
        }
        deserializer.deserialize_any(Either)
    }
}

/// One piece of the content of a message.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum SamplingMessageContentBlock {
    /// Text.
    Text(TextContent),
    /// A picture.
    Image(ImageContent),
    /// Sound; from 2025-03-26 on.
    Audio(AudioContent),
    /// The model asks for a tool; from 2025-11-25 on.
    ToolUse(ToolUseContent),
    /// What the tool returned; from 2025-11-25 on.
    ToolResult(Box<ToolResultContent>),
    /// A kind that is not known here, as it came.
    Unknown(UnknownContent),
}

/// A model asks for a tool. Keep the metadata when sending it back (SAMP-22).
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[non_exhaustive]
pub struct ToolUseContent {
    /// Names this use, so that the result can refer to it.
    pub id: String,
    /// The tool.
    pub name: String,
    /// The arguments: an object.
    pub input: Json,
    /// Metadata.
    #[serde(default, rename = "_meta")]
    pub meta: Meta,
}

/// What a tool returned to a model.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct ToolResultContent {
    /// The use that it answers (SAMP-13).
    pub tool_use_id: String,
    /// What it returned.
    #[serde(default, deserialize_with = "or_default")]
    pub content: Vec<ContentBlock>,
    /// What it returned, as JSON; an object before 2026-07-28.
    #[serde(default, deserialize_with = "present")]
    pub structured_content: Option<Json>,
    /// Whether it failed; unless said, it did not.
    pub is_error: Option<bool>,
    /// Metadata.
    #[serde(default, rename = "_meta")]
    pub meta: Meta,
}

impl ToolUseContent {
    /// The use `id` of the tool `name`.
    pub fn new(id: impl Into<String>, name: impl Into<String>, input: Json) -> Self {
        Self { id: id.into(), name: name.into(), input, meta: Meta::new() }
    }
}

setters!(ToolUseContent { meta: Meta });

impl ToolResultContent {
    /// The use `tool_use_id` returned `content`.
    pub fn new(tool_use_id: impl Into<String>, content: Vec<ContentBlock>) -> Self {
        Self {
            tool_use_id: tool_use_id.into(),
            content,
            structured_content: None,
            is_error: None,
            meta: Meta::new(),
        }
    }
}

setters!(ToolResultContent {
    structured_content?: Json,
    is_error?: bool,
    meta: Meta,
});

impl Members for ToolUseContent {
    fn members<M: SerializeMap>(&self, to: &mut Object<M>) -> Result<(), M::Error> {
        to.member("id", &self.id)?;
        to.member("name", &self.name)?;
        to.member("input", &self.input)?;
        to.object_meta(&self.meta)
    }
}

impl Members for ToolResultContent {
    fn members<M: SerializeMap>(&self, to: &mut Object<M>) -> Result<(), M::Error> {
        to.member("toolUseId", &self.tool_use_id)?;
        to.encoded("content", self.content.as_slice())?;
        to.structured_content(self.structured_content.as_ref())?;
        to.optional("isError", &self.is_error)?;
        to.object_meta(&self.meta)
    }
}

impl Encode for SamplingMessageContentBlock {
    fn encode<S: Serializer>(&self, revision: Revision, to: S) -> Result<S::Ok, S::Error> {
        let known = revision.dialect();
        match self {
            Self::Text(content) => with_type("text", content).encode(revision, to),
            Self::Image(content) => with_type("image", content).encode(revision, to),
            Self::Audio(content) if known.audio => with_type("audio", content).encode(revision, to),
            Self::Audio(content) => content.encode_as_text(revision, to),
            Self::ToolUse(content) if known.sampling_tools => {
                with_type("tool_use", content).encode(revision, to)
            }
            Self::ToolUse(ToolUseContent { id, name, input, .. }) => {
                let text = format_args!("[tool use {id}: {name} {}]", input.get());
                with_type("text", &InPlaceOf { text, annotations: &None }).encode(revision, to)
            }
            Self::ToolResult(content) if known.sampling_tools => {
                with_type("tool_result", &**content).encode(revision, to)
            }
            Self::ToolResult(content) => {
                let text = format_args!("[tool result {}: {}]", content.tool_use_id, Texts(&content.content));
                with_type("text", &InPlaceOf { text, annotations: &None }).encode(revision, to)
            }
            Self::Unknown(content) => with_type(&content.kind, content).encode(revision, to),
        }
    }
}

/// The texts among some content, one a line.
struct Texts<'a>(&'a [ContentBlock]);

impl fmt::Display for Texts<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, text) in self.0.iter().filter_map(ContentBlock::as_text).enumerate() {
            write!(f, "{}{text}", if index == 0 { "" } else { "\n" })?;
        }
        Ok(())
    }
}

impl Tagged for SamplingMessageContentBlock {
    const TAG: &'static str = "type";
    const EXPECTED: &'static str = "a content block of a message";

    fn variant<'de, A: MapAccess<'de>>(kind: Option<&str>, rest: Rest<A>) -> Result<Self, A::Error> {
        Ok(match kind.ok_or_else(|| A::Error::missing_field("type"))? {
            "text" => Self::Text(rest.decode()?),
            "image" => Self::Image(rest.decode()?),
            "audio" => Self::Audio(rest.decode()?),
            "tool_use" => Self::ToolUse(rest.decode()?),
            "tool_result" => Self::ToolResult(rest.decode()?),
            kind => Self::Unknown(UnknownContent { kind: kind.to_owned(), members: rest.decode()? }),
        })
    }
}

impl<'de> Deserialize<'de> for SamplingMessageContentBlock {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        tagged(deserializer)
    }
}
