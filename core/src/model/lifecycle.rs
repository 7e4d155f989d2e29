//! How peers meet: the legacy handshake, and discovery.
//!
//! Versions are text here: a peer may name one that is not known to this library.

use super::caching::{CacheScope, TtlMs};
use super::capabilities::{ClientCapabilities, ServerCapabilities};
use super::decode::lenient_list;
use super::encode::{Members, Object};
use super::icons::Icon;
use super::json::JsonMap;
use super::macros::{open_object, setters};
use super::meta::Meta;
use crate::dialect::Revision;
use alloc::string::String;
use alloc::vec::Vec;
use serde::Deserialize;
use serde::ser::SerializeMap;

/// A piece of software that speaks the protocol. What a peer says here is not verified: show it, log it, but
/// decide nothing by it (META-20 to META-22).
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct Implementation {
    /// Its name.
    pub name: String,
    /// Its name for people; from 2025-06-18 on.
    pub title: Option<String>,
    /// Its version.
    pub version: String,
    /// What it is, for people; from 2025-11-25 on.
    pub description: Option<String>,
    /// Where to read about it; from 2025-11-25 on.
    pub website_url: Option<String>,
    /// Pictures; from 2025-11-25 on.
    #[serde(default, deserialize_with = "lenient_list")]
    pub icons: Vec<Icon>,
}

impl Implementation {
    /// The software called `name`.
    pub fn new(name: impl Into<String>, version: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            title: None,
            version: version.into(),
            description: None,
            website_url: None,
            icons: Vec::new(),
        }
    }

    /// What to call it before people (META-24).
    pub fn display_name(&self) -> &str {
        self.title.as_deref().unwrap_or(&self.name)
    }
}

setters!(Implementation {
    title?: String,
    description?: String,
    website_url?: String,
    icons: Vec<Icon>,
});

impl Members for Implementation {
    fn members<M: SerializeMap>(&self, to: &mut Object<M>) -> Result<(), M::Error> {
        to.member("name", &self.name)?;
        to.title(&self.title)?;
        to.member("version", &self.version)?;
        if to.dialect().implementation_details {
            to.optional("description", &self.description)?;
            to.optional("websiteUrl", &self.website_url)?;
        }
        to.icons(&self.icons)
    }
}

/// The parameters of `initialize`; legacy revisions only. Encode them for the revision that they ask for.
///
/// <https://modelcontextprotocol.io/specification/2025-11-25/basic/lifecycle>
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct InitializeRequestParams {
    /// The newest revision that the client wants to speak.
    pub protocol_version: String,
    /// What the client can do.
    pub capabilities: ClientCapabilities,
    /// The client software.
    pub client_info: Implementation,
    /// Metadata to send. What came is read with [`RequestMeta`](super::meta::RequestMeta).
    #[serde(skip)]
    pub meta: Meta,
}

impl InitializeRequestParams {
    /// A client that wants to speak `protocol_version`.
    pub fn new(
        protocol_version: impl Into<String>,
        capabilities: ClientCapabilities,
        client_info: Implementation,
    ) -> Self {
        Self { protocol_version: protocol_version.into(), capabilities, client_info, meta: Meta::new() }
    }
}

setters!(InitializeRequestParams { meta: Meta });

impl Members for InitializeRequestParams {
    fn members<M: SerializeMap>(&self, to: &mut Object<M>) -> Result<(), M::Error> {
        to.member("protocolVersion", &self.protocol_version)?;
        to.encoded("capabilities", &self.capabilities)?;
        to.encoded("clientInfo", &self.client_info)
    }

    fn metadata(&self, _revision: Revision) -> Option<&Meta> {
        Some(&self.meta)
    }
}

/// The result of `initialize`; legacy revisions only.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct InitializeResult {
    /// The revision that the server will speak.
    pub protocol_version: String,
    /// What the server can do.
    pub capabilities: ServerCapabilities,
    /// The server software.
    pub server_info: Implementation,
    /// How to use the server, for a model.
    pub instructions: Option<String>,
    /// Metadata.
    pub meta: Meta,
    /// Members not known here.
    pub extra: JsonMap,
}

impl InitializeResult {
    /// A server that will speak `protocol_version`.
    pub fn new(
        protocol_version: impl Into<String>,
        capabilities: ServerCapabilities,
        server_info: Implementation,
    ) -> Self {
        Self {
            protocol_version: protocol_version.into(),
            capabilities,
            server_info,
            instructions: None,
            meta: Meta::new(),
            extra: JsonMap::new(),
        }
    }
}

setters!(InitializeResult {
    instructions?: String,
    meta: Meta,
    extra: JsonMap,
});

open_object!(InitializeResult {
    required {
        "protocolVersion" => protocol_version,
        "capabilities" => capabilities,
        "serverInfo" => server_info,
    }
    optional {
        "instructions" => instructions,
        "_meta" => meta,
    }
    ignored { "resultType", }
});

impl Members for InitializeResult {
    fn members<M: SerializeMap>(&self, to: &mut Object<M>) -> Result<(), M::Error> {
        to.member("protocolVersion", &self.protocol_version)?;
        to.encoded("capabilities", &self.capabilities)?;
        to.encoded("serverInfo", &self.server_info)?;
        to.optional("instructions", &self.instructions)?;
        to.open(&self.extra, Self::KNOWN)
    }

    fn metadata(&self, _revision: Revision) -> Option<&Meta> {
        Some(&self.meta)
    }
}

/// The result of `server/discover`; from 2026-07-28 on.
///
/// <https://modelcontextprotocol.io/specification/2026-07-28/server/discover>
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct DiscoverResult {
    /// The revisions that the server speaks.
    pub supported_versions: Vec<String>,
    /// What the server can do.
    pub capabilities: ServerCapabilities,
    /// How to use the server, for a model.
    pub instructions: Option<String>,
    /// How long the result is fresh.
    pub ttl_ms: TtlMs,
    /// Who may be given a kept copy.
    pub cache_scope: CacheScope,
    /// Metadata; names the server under [`SERVER_INFO`](super::meta::SERVER_INFO).
    pub meta: Meta,
    /// Members not known here.
    pub extra: JsonMap,
}

impl DiscoverResult {
    /// A server that speaks `supported_versions`.
    pub fn new(supported_versions: Vec<String>, capabilities: ServerCapabilities) -> Self {
        Self {
            supported_versions,
            capabilities,
            instructions: None,
            ttl_ms: TtlMs::default(),
            cache_scope: CacheScope::default(),
            meta: Meta::new(),
            extra: JsonMap::new(),
        }
    }
}

setters!(DiscoverResult {
    instructions?: String,
    ttl_ms: TtlMs,
    cache_scope: CacheScope,
    meta: Meta,
    extra: JsonMap,
});

open_object!(DiscoverResult {
    required {
        "supportedVersions" => supported_versions,
        "capabilities" => capabilities,
    }
    optional {
        "instructions" => instructions,
        "ttlMs" => ttl_ms,
        "cacheScope" => cache_scope,
        "_meta" => meta,
    }
    ignored { "resultType", }
});

impl Members for DiscoverResult {
    fn members<M: SerializeMap>(&self, to: &mut Object<M>) -> Result<(), M::Error> {
        to.complete()?;
        to.member("supportedVersions", &self.supported_versions)?;
        to.encoded("capabilities", &self.capabilities)?;
        to.optional("instructions", &self.instructions)?;
        to.caching(self.ttl_ms, self.cache_scope)?;
        to.open(&self.extra, Self::KNOWN)
    }

    fn metadata(&self, _revision: Revision) -> Option<&Meta> {
        Some(&self.meta)
    }
}
