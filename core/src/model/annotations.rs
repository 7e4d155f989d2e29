//! Hints for whoever displays content, and the roles that these speak of.

use super::decode::lenient_list;
use super::encode::{Members, Number, Object};
use super::macros::setters;
use alloc::string::String;
use alloc::vec::Vec;
use serde::ser::SerializeMap;
use serde::{Deserialize, Serialize};

/// Who speaks in a conversation, or is spoken to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Role {
    /// The user.
    User,
    /// The model.
    Assistant,
}

/// How content or a resource is meant to be used.
///
/// <https://modelcontextprotocol.io/specification/2026-07-28/server/resources#annotations>
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct Annotations {
    /// Whom it is for.
    #[serde(default, deserialize_with = "lenient_list")]
    pub audience: Vec<Role>,
    /// How important it is, from 0 (entirely optional) to 1 (effectively required).
    pub priority: Option<f64>,
    /// When it last changed, in ISO 8601; from 2025-06-18 on.
    pub last_modified: Option<String>,
}

impl Annotations {
    /// No hints.
    pub fn new() -> Self {
        Self::default()
    }
}

setters!(Annotations {
    audience: Vec<Role>,
    priority?: f64,
    last_modified?: String,
});

impl Members for Annotations {
    fn members<M: SerializeMap>(&self, to: &mut Object<M>) -> Result<(), M::Error> {
        to.list("audience", &self.audience)?;
        to.optional("priority", &self.priority.map(Number))?;
        if to.dialect().last_modified {
            to.optional("lastModified", &self.last_modified)?;
        }
        Ok(())
    }
}
