//! Roots: the places that a client lets a server work in. Deprecated in 2026-07-28, where they are asked for
//! by an input request.
//!
//! <https://modelcontextprotocol.io/specification/2026-07-28/client/roots>

use super::encode::{Members, Object};
use super::json::JsonMap;
use super::macros::{open_object, setters};
use super::meta::Meta;
use crate::dialect::Revision;
use alloc::string::String;
use alloc::vec::Vec;
use serde::Deserialize;
use serde::ser::SerializeMap;

/// One place.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[non_exhaustive]
pub struct Root {
    /// A `file://` URI (ROOT-05).
    pub uri: String,
    /// Its name for people.
    pub name: Option<String>,
    /// Metadata; from 2025-06-18 on.
    #[serde(default, rename = "_meta")]
    pub meta: Meta,
}

impl Root {
    /// The place at `uri`.
    pub fn new(uri: impl Into<String>) -> Self {
        Self { uri: uri.into(), name: None, meta: Meta::new() }
    }
}

setters!(Root {
    name?: String,
    meta: Meta,
});

impl Members for Root {
    fn members<M: SerializeMap>(&self, to: &mut Object<M>) -> Result<(), M::Error> {
        to.member("uri", &self.uri)?;
        to.optional("name", &self.name)?;
        to.object_meta(&self.meta)
    }
}

/// The result of `roots/list`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct ListRootsResult {
    /// The places.
    pub roots: Vec<Root>,
    /// Metadata; legacy revisions only.
    pub meta: Meta,
    /// Members not known here.
    pub extra: JsonMap,
}

impl ListRootsResult {
    /// These places.
    pub fn new(roots: Vec<Root>) -> Self {
        Self { roots, ..Self::default() }
    }
}

setters!(ListRootsResult { meta: Meta, extra: JsonMap });

open_object!(ListRootsResult {
    required { "roots" => roots, }
    optional { "_meta" => meta, }
});

impl Members for ListRootsResult {
    fn members<M: SerializeMap>(&self, to: &mut Object<M>) -> Result<(), M::Error> {
        to.encoded("roots", self.roots.as_slice())?;
        to.open(&self.extra, Self::KNOWN)
    }

    fn metadata(&self, revision: Revision) -> Option<&Meta> {
        revision.dialect().server_requests.then_some(&self.meta)
    }
}
