//! Resources: data that a server offers under URIs.
//!
//! <https://modelcontextprotocol.io/specification/2026-07-28/server/resources>

use super::annotations::Annotations;
use super::caching::{CacheScope, TtlMs};
use super::content::{InPlaceOf, ResourceContents, with_type};
use super::decode::{lenient, lenient_list, or_default};
use super::encode::{Encode, Members, Object};
use super::icons::Icon;
use super::input_required::InputResponses;
use super::json::JsonMap;
use super::macros::{open_object, setters};
use super::meta::Meta;
use super::pagination::Cursor;
use crate::dialect::Revision;
use alloc::string::String;
use alloc::vec::Vec;
use core::ops::{Deref, DerefMut};
use serde::ser::SerializeMap;
use serde::{Deserialize, Serializer};

/// A resource that can be read.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct Resource {
    /// The URI that it is read by.
    pub uri: String,
    /// Its name.
    pub name: String,
    /// Its name for people; from 2025-06-18 on.
    pub title: Option<String>,
    /// What it holds, for a model.
    pub description: Option<String>,
    /// The media type, when known.
    pub mime_type: Option<String>,
    /// The size in bytes, before base64.
    #[serde(default, deserialize_with = "lenient")]
    pub size: Option<u64>,
    /// How it is meant to be used.
    pub annotations: Option<Annotations>,
    /// Pictures; from 2025-11-25 on.
    #[serde(default, deserialize_with = "lenient_list")]
    pub icons: Vec<Icon>,
    /// Metadata; from 2025-06-18 on.
    #[serde(default, rename = "_meta")]
    pub meta: Meta,
}

impl Resource {
    /// The resource at `uri`, called `name`.
    pub fn new(uri: impl Into<String>, name: impl Into<String>) -> Self {
        Self {
            uri: uri.into(),
            name: name.into(),
            title: None,
            description: None,
            mime_type: None,
            size: None,
            annotations: None,
            icons: Vec::new(),
            meta: Meta::new(),
        }
    }

    /// What to call it before people (META-24).
    pub fn display_name(&self) -> &str {
        self.title.as_deref().unwrap_or(&self.name)
    }
}

setters!(Resource {
    title?: String,
    description?: String,
    mime_type?: String,
    size?: u64,
    annotations?: Annotations,
    icons: Vec<Icon>,
    meta: Meta,
});

impl Members for Resource {
    fn members<M: SerializeMap>(&self, to: &mut Object<M>) -> Result<(), M::Error> {
        to.member("uri", &self.uri)?;
        to.member("name", &self.name)?;
        to.title(&self.title)?;
        to.optional("description", &self.description)?;
        to.optional("mimeType", &self.mime_type)?;
        to.optional("size", &self.size)?;
        to.encoded_optional("annotations", &self.annotations)?;
        to.icons(&self.icons)?;
        to.object_meta(&self.meta)
    }
}

/// A [`Resource`] as content: the link without the contents. It need not be in `resources/list` (TOOL-21).
#[derive(Clone, Debug, PartialEq)]
pub struct ResourceLink(pub Resource);

impl ResourceLink {
    /// A link to the resource at `uri`, called `name`.
    pub fn new(uri: impl Into<String>, name: impl Into<String>) -> Self {
        Self(Resource::new(uri, name))
    }

    pub(crate) fn encode_as_text<S: Serializer>(&self, revision: Revision, to: S) -> Result<S::Ok, S::Error> {
        let text = format_args!("[resource {}: {}]", self.display_name(), self.uri);
        with_type("text", &InPlaceOf { text, annotations: &self.annotations }).encode(revision, to)
    }
}

impl Deref for ResourceLink {
    type Target = Resource;

    fn deref(&self) -> &Resource {
        &self.0
    }
}

impl DerefMut for ResourceLink {
    fn deref_mut(&mut self) -> &mut Resource {
        &mut self.0
    }
}

/// A family of resources, whose URIs follow a template (RFC 6570).
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct ResourceTemplate {
    /// The template of the URIs.
    pub uri_template: String,
    /// Its name.
    pub name: String,
    /// Its name for people; from 2025-06-18 on.
    pub title: Option<String>,
    /// What the resources hold, for a model.
    pub description: Option<String>,
    /// The media type, when all share it.
    pub mime_type: Option<String>,
    /// How they are meant to be used.
    pub annotations: Option<Annotations>,
    /// Pictures; from 2025-11-25 on.
    #[serde(default, deserialize_with = "lenient_list")]
    pub icons: Vec<Icon>,
    /// Metadata; from 2025-06-18 on.
    #[serde(default, rename = "_meta")]
    pub meta: Meta,
}

impl ResourceTemplate {
    /// The family with URIs like `uri_template`, called `name`.
    pub fn new(uri_template: impl Into<String>, name: impl Into<String>) -> Self {
        Self {
            uri_template: uri_template.into(),
            name: name.into(),
            title: None,
            description: None,
            mime_type: None,
            annotations: None,
            icons: Vec::new(),
            meta: Meta::new(),
        }
    }

    /// What to call it before people (META-24).
    pub fn display_name(&self) -> &str {
        self.title.as_deref().unwrap_or(&self.name)
    }
}

setters!(ResourceTemplate {
    title?: String,
    description?: String,
    mime_type?: String,
    annotations?: Annotations,
    icons: Vec<Icon>,
    meta: Meta,
});

impl Members for ResourceTemplate {
    fn members<M: SerializeMap>(&self, to: &mut Object<M>) -> Result<(), M::Error> {
        to.member("uriTemplate", &self.uri_template)?;
        to.member("name", &self.name)?;
        to.title(&self.title)?;
        to.optional("description", &self.description)?;
        to.optional("mimeType", &self.mime_type)?;
        to.encoded_optional("annotations", &self.annotations)?;
        to.icons(&self.icons)?;
        to.object_meta(&self.meta)
    }
}

/// The result of `resources/list`: one page.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct ListResourcesResult {
    /// The resources of this page.
    pub resources: Vec<Resource>,
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

impl ListResourcesResult {
    /// One page, and no further one.
    pub fn new(resources: Vec<Resource>) -> Self {
        Self { resources, ..Self::default() }
    }
}

setters!(ListResourcesResult {
    next_cursor?: Cursor,
    ttl_ms: TtlMs,
    cache_scope: CacheScope,
    meta: Meta,
    extra: JsonMap,
});

open_object!(ListResourcesResult {
    required { "resources" => resources, }
    optional {
        "nextCursor" => next_cursor,
        "ttlMs" => ttl_ms,
        "cacheScope" => cache_scope,
        "_meta" => meta,
    }
    ignored { "resultType", }
});

impl Members for ListResourcesResult {
    fn members<M: SerializeMap>(&self, to: &mut Object<M>) -> Result<(), M::Error> {
        to.complete()?;
        to.encoded("resources", self.resources.as_slice())?;
        to.optional("nextCursor", &self.next_cursor)?;
        to.caching(self.ttl_ms, self.cache_scope)?;
        to.open(&self.extra, Self::KNOWN)
    }

    fn metadata(&self, _revision: Revision) -> Option<&Meta> {
        Some(&self.meta)
    }
}

/// The result of `resources/templates/list`: one page.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct ListResourceTemplatesResult {
    /// The templates of this page.
    pub resource_templates: Vec<ResourceTemplate>,
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

impl ListResourceTemplatesResult {
    /// One page, and no further one.
    pub fn new(resource_templates: Vec<ResourceTemplate>) -> Self {
        Self { resource_templates, ..Self::default() }
    }
}

setters!(ListResourceTemplatesResult {
    next_cursor?: Cursor,
    ttl_ms: TtlMs,
    cache_scope: CacheScope,
    meta: Meta,
    extra: JsonMap,
});

open_object!(ListResourceTemplatesResult {
    required { "resourceTemplates" => resource_templates, }
    optional {
        "nextCursor" => next_cursor,
        "ttlMs" => ttl_ms,
        "cacheScope" => cache_scope,
        "_meta" => meta,
    }
    ignored { "resultType", }
});

impl Members for ListResourceTemplatesResult {
    fn members<M: SerializeMap>(&self, to: &mut Object<M>) -> Result<(), M::Error> {
        to.complete()?;
        to.encoded("resourceTemplates", self.resource_templates.as_slice())?;
        to.optional("nextCursor", &self.next_cursor)?;
        to.caching(self.ttl_ms, self.cache_scope)?;
        to.open(&self.extra, Self::KNOWN)
    }

    fn metadata(&self, _revision: Revision) -> Option<&Meta> {
        Some(&self.meta)
    }
}

/// The parameters of `resources/read`.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct ReadResourceRequestParams {
    /// The URI to read.
    pub uri: String,
    /// Answers to what an input-required result asked; from 2026-07-28 on.
    #[serde(default, deserialize_with = "or_default")]
    pub input_responses: InputResponses,
    /// The state of an input-required result, as it came; from 2026-07-28 on.
    pub request_state: Option<String>,
    /// Metadata to send. What came is read with [`RequestMeta`](super::meta::RequestMeta).
    #[serde(skip)]
    pub meta: Meta,
}

impl ReadResourceRequestParams {
    /// Read `uri`.
    pub fn new(uri: impl Into<String>) -> Self {
        Self {
            uri: uri.into(),
            input_responses: InputResponses::new(),
            request_state: None,
            meta: Meta::new(),
        }
    }
}

setters!(ReadResourceRequestParams {
    input_responses: InputResponses,
    request_state?: String,
    meta: Meta,
});

impl Members for ReadResourceRequestParams {
    fn members<M: SerializeMap>(&self, to: &mut Object<M>) -> Result<(), M::Error> {
        to.member("uri", &self.uri)?;
        to.input_responses(&self.input_responses, self.request_state.as_deref())
    }

    fn metadata(&self, _revision: Revision) -> Option<&Meta> {
        Some(&self.meta)
    }
}

/// The result of `resources/read`.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct ReadResourceResult {
    /// The contents, one for each resource found at or under the URI.
    pub contents: Vec<ResourceContents>,
    /// How long they are fresh.
    pub ttl_ms: TtlMs,
    /// Who may be given a kept copy.
    pub cache_scope: CacheScope,
    /// Metadata.
    pub meta: Meta,
    /// Members not known here.
    pub extra: JsonMap,
}

impl ReadResourceResult {
    /// These contents.
    pub fn new(contents: Vec<ResourceContents>) -> Self {
        Self { contents, ..Self::default() }
    }
}

setters!(ReadResourceResult { ttl_ms: TtlMs, cache_scope: CacheScope, meta: Meta, extra: JsonMap });

open_object!(ReadResourceResult {
    required { "contents" => contents, }
    optional {
        "ttlMs" => ttl_ms,
        "cacheScope" => cache_scope,
        "_meta" => meta,
    }
    ignored { "resultType", }
});

impl Members for ReadResourceResult {
    fn members<M: SerializeMap>(&self, to: &mut Object<M>) -> Result<(), M::Error> {
        to.complete()?;
        to.encoded("contents", self.contents.as_slice())?;
        to.caching(self.ttl_ms, self.cache_scope)?;
        to.open(&self.extra, Self::KNOWN)
    }

    fn metadata(&self, _revision: Revision) -> Option<&Meta> {
        Some(&self.meta)
    }

    fn is_missing(&self) -> bool {
        self.contents.is_empty()
    }
}

/// The parameters of `resources/subscribe`, `resources/unsubscribe` (both legacy only) and
/// `notifications/resources/updated`: all name one resource.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[non_exhaustive]
pub struct ResourceUriParams {
    /// The URI of the resource.
    pub uri: String,
    /// Metadata.
    #[serde(default, rename = "_meta")]
    pub meta: Meta,
}

impl ResourceUriParams {
    /// The resource at `uri`.
    pub fn new(uri: impl Into<String>) -> Self {
        Self { uri: uri.into(), meta: Meta::new() }
    }
}

setters!(ResourceUriParams { meta: Meta });

impl Members for ResourceUriParams {
    fn members<M: SerializeMap>(&self, to: &mut Object<M>) -> Result<(), M::Error> {
        to.member("uri", &self.uri)
    }

    fn metadata(&self, _revision: Revision) -> Option<&Meta> {
        Some(&self.meta)
    }
}
