//! The content kinds, each without its `type`.

use crate::dialect::Revision;
use crate::model::annotations::Annotations;
use crate::model::encode::{Encode, Members, Object};
use crate::model::macros::setters;
use crate::model::meta::Meta;
use alloc::string::String;
use alloc::vec::Vec;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use core::fmt;
use serde::ser::SerializeMap;
use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

/// Text for a person or a model.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[non_exhaustive]
pub struct TextContent {
    /// The text.
    pub text: String,
    /// How it is meant to be used.
    pub annotations: Option<Annotations>,
    /// Metadata; from 2025-06-18 on.
    #[serde(default, rename = "_meta")]
    pub meta: Meta,
}

impl TextContent {
    /// The text `text`.
    pub fn new(text: impl Into<String>) -> Self {
        Self { text: text.into(), annotations: None, meta: Meta::new() }
    }
}

setters!(TextContent {
    annotations?: Annotations,
    meta: Meta,
});

impl Members for TextContent {
    fn members<M: SerializeMap>(&self, to: &mut Object<M>) -> Result<(), M::Error> {
        to.member("text", &self.text)?;
        to.encoded_optional("annotations", &self.annotations)?;
        to.object_meta(&self.meta)
    }
}

/// A picture.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct ImageContent {
    /// The bytes, in base64.
    pub data: String,
    /// The media type, such as `image/png`.
    pub mime_type: String,
    /// How it is meant to be used.
    pub annotations: Option<Annotations>,
    /// Metadata; from 2025-06-18 on.
    #[serde(default, rename = "_meta")]
    pub meta: Meta,
}

impl ImageContent {
    /// The picture `data`, in base64.
    pub fn new(data: impl Into<String>, mime_type: impl Into<String>) -> Self {
        Self { data: data.into(), mime_type: mime_type.into(), annotations: None, meta: Meta::new() }
    }

    /// The picture that is these bytes.
    pub fn from_bytes(bytes: &[u8], mime_type: impl Into<String>) -> Self {
        Self::new(STANDARD.encode(bytes), mime_type)
    }

    /// Its bytes; `None` when `data` is not base64.
    pub fn bytes(&self) -> Option<Vec<u8>> {
        STANDARD.decode(&self.data).ok()
    }
}

setters!(ImageContent {
    annotations?: Annotations,
    meta: Meta,
});

impl Members for ImageContent {
    fn members<M: SerializeMap>(&self, to: &mut Object<M>) -> Result<(), M::Error> {
        to.member("data", &self.data)?;
        to.member("mimeType", &self.mime_type)?;
        to.encoded_optional("annotations", &self.annotations)?;
        to.object_meta(&self.meta)
    }
}

/// Sound; from 2025-03-26 on.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct AudioContent {
    /// The bytes, in base64.
    pub data: String,
    /// The media type, such as `audio/wav`.
    pub mime_type: String,
    /// How it is meant to be used.
    pub annotations: Option<Annotations>,
    /// Metadata; from 2025-06-18 on.
    #[serde(default, rename = "_meta")]
    pub meta: Meta,
}

impl AudioContent {
    /// The sound `data`, in base64.
    pub fn new(data: impl Into<String>, mime_type: impl Into<String>) -> Self {
        Self { data: data.into(), mime_type: mime_type.into(), annotations: None, meta: Meta::new() }
    }

    /// The sound that is these bytes.
    pub fn from_bytes(bytes: &[u8], mime_type: impl Into<String>) -> Self {
        Self::new(STANDARD.encode(bytes), mime_type)
    }

    /// Its bytes; `None` when `data` is not base64.
    pub fn bytes(&self) -> Option<Vec<u8>> {
        STANDARD.decode(&self.data).ok()
    }

    pub(crate) fn encode_as_text<S: Serializer>(&self, revision: Revision, to: S) -> Result<S::Ok, S::Error> {
        let text = format_args!("[audio {}, {} bytes of base64]", self.mime_type, self.data.len());
        with_type("text", &InPlaceOf { text, annotations: &self.annotations }).encode(revision, to)
    }
}

setters!(AudioContent {
    annotations?: Annotations,
    meta: Meta,
});

impl Members for AudioContent {
    fn members<M: SerializeMap>(&self, to: &mut Object<M>) -> Result<(), M::Error> {
        to.member("data", &self.data)?;
        to.member("mimeType", &self.mime_type)?;
        to.encoded_optional("annotations", &self.annotations)?;
        to.object_meta(&self.meta)
    }
}

/// A resource with its contents.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[non_exhaustive]
pub struct EmbeddedResource {
    /// The contents.
    pub resource: ResourceContents,
    /// How it is meant to be used.
    pub annotations: Option<Annotations>,
    /// Metadata; from 2025-06-18 on.
    #[serde(default, rename = "_meta")]
    pub meta: Meta,
}

impl EmbeddedResource {
    /// The resource with these contents.
    pub fn new(resource: impl Into<ResourceContents>) -> Self {
        Self { resource: resource.into(), annotations: None, meta: Meta::new() }
    }
}

setters!(EmbeddedResource {
    annotations?: Annotations,
    meta: Meta,
});

impl Members for EmbeddedResource {
    fn members<M: SerializeMap>(&self, to: &mut Object<M>) -> Result<(), M::Error> {
        to.encoded("resource", &self.resource)?;
        to.encoded_optional("annotations", &self.annotations)?;
        to.object_meta(&self.meta)
    }
}

/// The contents of a resource. Which kind it is shows in whether there is a `text` or a `blob`.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ResourceContents {
    /// Text.
    Text(TextResourceContents),
    /// Bytes.
    Blob(BlobResourceContents),
}

/// A resource that is text.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct TextResourceContents {
    /// The URI of the resource.
    pub uri: String,
    /// The media type, when known.
    pub mime_type: Option<String>,
    /// The text.
    pub text: String,
    /// Metadata; from 2025-06-18 on.
    pub meta: Meta,
}

/// A resource that is bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct BlobResourceContents {
    /// The URI of the resource.
    pub uri: String,
    /// The media type, when known.
    pub mime_type: Option<String>,
    /// The bytes, in base64.
    pub blob: String,
    /// Metadata; from 2025-06-18 on.
    pub meta: Meta,
}

impl ResourceContents {
    /// The URI of the resource.
    pub fn uri(&self) -> &str {
        match self {
            Self::Text(contents) => &contents.uri,
            Self::Blob(contents) => &contents.uri,
        }
    }
}

impl TextResourceContents {
    /// The resource at `uri`, which is `text`.
    pub fn new(uri: impl Into<String>, text: impl Into<String>) -> Self {
        Self { uri: uri.into(), mime_type: None, text: text.into(), meta: Meta::new() }
    }
}

setters!(TextResourceContents {
    mime_type?: String,
    meta: Meta,
});

impl BlobResourceContents {
    /// The resource at `uri`, which is `blob` in base64.
    pub fn new(uri: impl Into<String>, blob: impl Into<String>) -> Self {
        Self { uri: uri.into(), mime_type: None, blob: blob.into(), meta: Meta::new() }
    }

    /// The resource at `uri`, which is these bytes (RES-20).
    pub fn from_bytes(uri: impl Into<String>, bytes: &[u8]) -> Self {
        Self::new(uri, STANDARD.encode(bytes))
    }

    /// Its bytes; `None` when `blob` is not base64.
    pub fn bytes(&self) -> Option<Vec<u8>> {
        STANDARD.decode(&self.blob).ok()
    }
}

setters!(BlobResourceContents {
    mime_type?: String,
    meta: Meta,
});

impl From<TextResourceContents> for ResourceContents {
    fn from(contents: TextResourceContents) -> Self {
        Self::Text(contents)
    }
}

impl From<BlobResourceContents> for ResourceContents {
    fn from(contents: BlobResourceContents) -> Self {
        Self::Blob(contents)
    }
}

impl Members for ResourceContents {
    fn members<M: SerializeMap>(&self, to: &mut Object<M>) -> Result<(), M::Error> {
        let (mime_type, name, data, meta) = match self {
            Self::Text(contents) => (&contents.mime_type, "text", &contents.text, &contents.meta),
            Self::Blob(contents) => (&contents.mime_type, "blob", &contents.blob, &contents.meta),
        };
        to.member("uri", self.uri())?;
        to.optional("mimeType", mime_type)?;
        to.member(name, data)?;
        to.object_meta(meta)
    }
}

impl<'de> Deserialize<'de> for ResourceContents {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        #[derive(Deserialize)]
        #[serde(rename_all = "camelCase")]
        struct Either {
            uri: String,
            mime_type: Option<String>,
            text: Option<String>,
            blob: Option<String>,
            #[serde(default, rename = "_meta")]
            meta: Meta,
        }
        let Either { uri, mime_type, text, blob, meta } = Either::deserialize(deserializer)?;
        match (text, blob) {
            (Some(text), _) => Ok(Self::Text(TextResourceContents { uri, mime_type, text, meta })),
            (None, Some(blob)) => Ok(Self::Blob(BlobResourceContents { uri, mime_type, blob, meta })),
            (None, None) => Err(de::Error::missing_field("text")),
        }
    }
}

/// Content with its `type`.
pub(crate) struct WithType<'a, T: ?Sized> {
    kind: &'a str,
    content: &'a T,
}

pub(crate) fn with_type<'a, T: Members + ?Sized>(kind: &'a str, content: &'a T) -> WithType<'a, T> {
    WithType { kind, content }
}

// First, so that a reader knows how to read the rest.
impl<T: Members + ?Sized> Members for WithType<'_, T> {
    fn members<M: SerializeMap>(&self, to: &mut Object<M>) -> Result<(), M::Error> {
        to.member("type", self.kind)?;
        self.content.members(to)
    }
}

/// Text that stands for content of a kind that the peer does not know.
pub(crate) struct InPlaceOf<'a> {
    pub(crate) text: fmt::Arguments<'a>,
    pub(crate) annotations: &'a Option<Annotations>,
}

impl Members for InPlaceOf<'_> {
    fn members<M: SerializeMap>(&self, to: &mut Object<M>) -> Result<(), M::Error> {
        struct Text<'a>(fmt::Arguments<'a>);
        impl Serialize for Text<'_> {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.collect_str(&self.0)
            }
        }
        to.member("text", &Text(self.text))?;
        to.encoded_optional("annotations", self.annotations)
    }
}
