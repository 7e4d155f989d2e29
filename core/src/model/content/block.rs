//! The union of the content kinds.

use super::kinds::{AudioContent, EmbeddedResource, ImageContent, ResourceContents, TextContent, with_type};
use crate::dialect::Revision;
use crate::model::decode::{Rest, Tagged, tagged};
use crate::model::encode::{Encode, Members, Object};
use crate::model::json::JsonMap;
use crate::model::resources::{Resource, ResourceLink};
use alloc::borrow::ToOwned;
use alloc::boxed::Box;
use alloc::string::String;
use serde::de::{Error, MapAccess};
use serde::ser::SerializeMap;
use serde::{Deserialize, Deserializer, Serializer};

/// One piece of content (TOOL-20).
///
/// Towards a revision that lacks a kind it becomes text that a model can read.
///
/// <https://modelcontextprotocol.io/specification/2026-07-28/server/tools#tool-result>
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum ContentBlock {
    /// Text.
    Text(TextContent),
    /// A picture.
    Image(ImageContent),
    /// Sound; from 2025-03-26 on.
    Audio(AudioContent),
    /// A resource by its URI; from 2025-06-18 on.
    ResourceLink(Box<ResourceLink>),
    /// A resource with its contents.
    Resource(Box<EmbeddedResource>),
    /// A kind that is not known here, as it came. It is sent on unchanged in every revision: only an
    /// extension can have defined it.
    Unknown(UnknownContent),
}

/// Content of a kind that is not known here.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct UnknownContent {
    /// The kind, as named by `type`.
    pub kind: String,
    /// All members but `type`.
    pub members: JsonMap,
}

impl ContentBlock {
    /// Text.
    pub fn text(text: impl Into<String>) -> Self {
        Self::Text(TextContent::new(text))
    }

    /// A picture, as the bytes of a file of this media type, such as `image/png`.
    pub fn image_from_bytes(bytes: &[u8], mime_type: impl Into<String>) -> Self {
        Self::Image(ImageContent::from_bytes(bytes, mime_type))
    }

    /// Sound, as the bytes of a file of this media type, such as `audio/wav`.
    pub fn audio_from_bytes(bytes: &[u8], mime_type: impl Into<String>) -> Self {
        Self::Audio(AudioContent::from_bytes(bytes, mime_type))
    }

    /// A resource by its URI and a name for people; it need not be one that the server lists (TOOL-21).
    pub fn link(uri: impl Into<String>, name: impl Into<String>) -> Self {
        ResourceLink::new(uri, name).into()
    }

    /// A resource with what is in it.
    pub fn resource(contents: impl Into<ResourceContents>) -> Self {
        EmbeddedResource::new(contents).into()
    }

    /// A picture in base64.
    pub fn image(data: impl Into<String>, mime_type: impl Into<String>) -> Self {
        Self::Image(ImageContent::new(data, mime_type))
    }

    /// Sound in base64.
    pub fn audio(data: impl Into<String>, mime_type: impl Into<String>) -> Self {
        Self::Audio(AudioContent::new(data, mime_type))
    }

    /// The text, when it is text.
    pub fn as_text(&self) -> Option<&str> {
        match self {
            Self::Text(content) => Some(&content.text),
            _ => None,
        }
    }
}

impl UnknownContent {
    /// Content of the kind `kind`.
    pub fn new(kind: impl Into<String>, members: JsonMap) -> Self {
        Self { kind: kind.into(), members }
    }
}

impl From<TextContent> for ContentBlock {
    fn from(content: TextContent) -> Self {
        Self::Text(content)
    }
}

impl From<ImageContent> for ContentBlock {
    fn from(content: ImageContent) -> Self {
        Self::Image(content)
    }
}

impl From<AudioContent> for ContentBlock {
    fn from(content: AudioContent) -> Self {
        Self::Audio(content)
    }
}

impl From<ResourceLink> for ContentBlock {
    fn from(link: ResourceLink) -> Self {
        Self::ResourceLink(Box::new(link))
    }
}

impl From<EmbeddedResource> for ContentBlock {
    fn from(resource: EmbeddedResource) -> Self {
        Self::Resource(Box::new(resource))
    }
}

impl Encode for ContentBlock {
    fn encode<S: Serializer>(&self, revision: Revision, serializer: S) -> Result<S::Ok, S::Error> {
        let known = revision.dialect();
        match self {
            Self::Text(content) => with_type("text", content).encode(revision, serializer),
            Self::Image(content) => with_type("image", content).encode(revision, serializer),
            Self::Audio(content) if known.audio => with_type("audio", content).encode(revision, serializer),
            Self::Audio(content) => content.encode_as_text(revision, serializer),
            Self::ResourceLink(link) if known.resource_links => {
                with_type::<Resource>("resource_link", &link.0).encode(revision, serializer)
            }
            Self::ResourceLink(link) => link.encode_as_text(revision, serializer),
            Self::Resource(resource) => with_type("resource", &**resource).encode(revision, serializer),
            Self::Unknown(content) => with_type(&content.kind, content).encode(revision, serializer),
        }
    }
}

impl Members for UnknownContent {
    fn members<M: SerializeMap>(&self, to: &mut Object<M>) -> Result<(), M::Error> {
        to.open(&self.members, &["type"])
    }
}

impl Tagged for ContentBlock {
    const TAG: &'static str = "type";
    const EXPECTED: &'static str = "a content block";

    fn variant<'de, A: MapAccess<'de>>(kind: Option<&str>, rest: Rest<A>) -> Result<Self, A::Error> {
        Ok(match kind.ok_or_else(|| A::Error::missing_field("type"))? {
            "text" => Self::Text(rest.decode()?),
            "image" => Self::Image(rest.decode()?),
            "audio" => Self::Audio(rest.decode()?),
            "resource_link" => Self::ResourceLink(Box::new(ResourceLink(rest.decode()?))),
            "resource" => Self::Resource(rest.decode()?),
            kind => Self::Unknown(UnknownContent { kind: kind.to_owned(), members: rest.decode()? }),
        })
    }
}

impl<'de> Deserialize<'de> for ContentBlock {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        tagged(deserializer)
    }
}
