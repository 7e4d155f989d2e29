//! Lists that come in pages.
//!
//! <https://modelcontextprotocol.io/specification/2026-07-28/server/utilities/pagination>

use super::encode::{Members, Object};
use super::macros::setters;
use super::meta::Meta;
use crate::dialect::Revision;
use alloc::string::String;
use core::fmt;
use serde::ser::SerializeMap;
use serde::{Deserialize, Serialize};

/// Where the next page begins. Opaque to the client (PAGE-01); the empty one is valid too (PAGE-02).
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Cursor(String);

impl Cursor {
    /// The cursor that travels as `text`.
    pub fn new(text: impl Into<String>) -> Self {
        Self(text.into())
    }

    /// How it travels.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for Cursor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl From<String> for Cursor {
    fn from(text: String) -> Self {
        Self(text)
    }
}

impl From<&str> for Cursor {
    fn from(text: &str) -> Self {
        Self::new(text)
    }
}

/// The parameters of `tools/list`, `prompts/list`, `resources/list` and `resources/templates/list`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[non_exhaustive]
pub struct PaginatedRequestParams {
    /// Which page; the first when absent.
    pub cursor: Option<Cursor>,
    /// Metadata to send. What came is read with [`RequestMeta`](super::meta::RequestMeta).
    #[serde(skip)]
    pub meta: Meta,
}

impl PaginatedRequestParams {
    /// The first page.
    pub fn new() -> Self {
        Self::default()
    }
}

setters!(PaginatedRequestParams {
    cursor?: Cursor,
    meta: Meta,
});

impl Members for PaginatedRequestParams {
    fn members<M: SerializeMap>(&self, to: &mut Object<M>) -> Result<(), M::Error> {
        to.optional("cursor", &self.cursor)
    }

    fn metadata(&self, _revision: Revision) -> Option<&Meta> {
        Some(&self.meta)
    }
}
