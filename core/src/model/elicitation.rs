//! Elicitation: a server asks the user, by a form or by sending them to a URL.
//!
//! In the legacy era it is a request of the server, in the modern era an input request inside a result.
//!
//! <https://modelcontextprotocol.io/specification/2026-07-28/client/elicitation>

mod check;
mod fill;
mod schema;
mod show;
#[cfg(test)]
mod tests;

pub use schema::{
    BooleanSchema, ElicitationSchema, EnumOption, LegacyTitledEnumSchema, NumberSchema,
    PrimitiveSchemaDefinition, StringFormat, StringSchema, TitledMultiSelectEnumSchema,
    TitledSingleSelectEnumSchema, UntitledMultiSelectEnumSchema, UntitledSingleSelectEnumSchema,
};

use super::decode::{Rest, Tagged, tagged};
use super::encode::{Members, Object};
use super::json::{Json, JsonMap};
use super::macros::{open_object, setters};
use super::meta::Meta;
use crate::dialect::{ElicitationModes, Revision, Tasks};
use alloc::boxed::Box;
use alloc::string::String;
use serde::de::{Error, MapAccess};
use serde::ser::SerializeMap;
use serde::{Deserialize, Deserializer, Serialize};

/// The parameters of `elicitation/create`. Without a `mode` they are a form (ELIC-09).
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum ElicitRequestParams {
    /// A form.
    Form(Box<ElicitRequestFormParams>),
    /// A URL; from 2025-11-25 on. Never ask for it where [`ElicitationModes`] lacks it.
    Url(Box<ElicitRequestUrlParams>),
}

/// A form to fill in. Never ask for secrets by one (ELIC-34).
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct ElicitRequestFormParams {
    /// What the user is asked (ELIC-07).
    pub message: String,
    /// The fields of the form (ELIC-10).
    pub requested_schema: ElicitationSchema,
    /// Asks to be run as a task; 2025-11-25 only.
    pub task: Option<Json>,
    /// Metadata to send, in legacy revisions. What came is read with
    /// [`RequestMeta`](super::meta::RequestMeta).
    #[serde(skip)]
    pub meta: Meta,
}

/// A URL to visit. It comes from the server: show it in full, and open it only with the user's consent
/// (ELIC-37 to ELIC-40).
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct ElicitRequestUrlParams {
    /// Why the user is sent there (ELIC-17).
    pub message: String,
    /// Where to.
    pub url: String,
    /// Names this elicitation; needed in 2025-11-25, not sent elsewhere (ELIC-18, ELIC-19).
    pub elicitation_id: Option<String>,
    /// Asks to be run as a task; 2025-11-25 only.
    pub task: Option<Json>,
    /// Metadata to send, in legacy revisions. What came is read with
    /// [`RequestMeta`](super::meta::RequestMeta).
    #[serde(skip)]
    pub meta: Meta,
}

impl ElicitRequestParams {
    /// What the user is told.
    pub fn message(&self) -> &str {
        match self {
            Self::Form(params) => &params.message,
            Self::Url(params) => &params.message,
        }
    }
}

impl ElicitRequestFormParams {
    /// Asks `message` with the fields of `requested_schema`.
    pub fn new(message: impl Into<String>, requested_schema: ElicitationSchema) -> Self {
        Self { message: message.into(), requested_schema, task: None, meta: Meta::new() }
    }
}

setters!(ElicitRequestFormParams {
    task?: Json,
    meta: Meta,
});

impl ElicitRequestUrlParams {
    /// Sends the user to `url` because of `message`.
    pub fn new(message: impl Into<String>, url: impl Into<String>) -> Self {
        Self { message: message.into(), url: url.into(), elicitation_id: None, task: None, meta: Meta::new() }
    }
}

setters!(ElicitRequestUrlParams {
    elicitation_id?: String,
    task?: Json,
    meta: Meta,
});

impl From<ElicitRequestFormParams> for ElicitRequestParams {
    fn from(params: ElicitRequestFormParams) -> Self {
        Self::Form(Box::new(params))
    }
}

impl From<ElicitRequestUrlParams> for ElicitRequestParams {
    fn from(params: ElicitRequestUrlParams) -> Self {
        Self::Url(Box::new(params))
    }
}

impl Members for ElicitRequestParams {
    fn members<M: SerializeMap>(&self, to: &mut Object<M>) -> Result<(), M::Error> {
        match self {
            Self::Form(params) => params.members(to),
            Self::Url(params) => params.members(to),
        }
    }

    fn metadata(&self, revision: Revision) -> Option<&Meta> {
        match self {
            Self::Form(params) => params.metadata(revision),
            Self::Url(params) => params.metadata(revision),
        }
    }
}

impl Members for ElicitRequestFormParams {
    fn members<M: SerializeMap>(&self, to: &mut Object<M>) -> Result<(), M::Error> {
        let known = to.dialect();
        if known.elicitation == ElicitationModes::FormAndUrl {
            to.member("mode", "form")?;
        }
        to.member("message", &self.message)?;
        to.encoded("requestedSchema", &self.requested_schema)?;
        if known.tasks == Tasks::Core {
            to.optional("task", &self.task)?;
        }
        Ok(())
    }

    fn metadata(&self, revision: Revision) -> Option<&Meta> {
        revision.dialect().server_requests.then_some(&self.meta)
    }
}

impl Members for ElicitRequestUrlParams {
    fn members<M: SerializeMap>(&self, to: &mut Object<M>) -> Result<(), M::Error> {
        let known = to.dialect();
        to.member("mode", "url")?;
        to.member("message", &self.message)?;
        to.member("url", &self.url)?;
        if known.elicitation_id {
            to.optional("elicitationId", &self.elicitation_id)?;
        }
        if known.tasks == Tasks::Core {
            to.optional("task", &self.task)?;
        }
        Ok(())
    }

    fn metadata(&self, revision: Revision) -> Option<&Meta> {
        revision.dialect().server_requests.then_some(&self.meta)
    }
}

impl Tagged for ElicitRequestParams {
    const TAG: &'static str = "mode";
    const EXPECTED: &'static str = "the parameters of elicitation/create";

    fn variant<'de, A: MapAccess<'de>>(mode: Option<&str>, rest: Rest<A>) -> Result<Self, A::Error> {
        match mode {
            None | Some("form") => rest.decode().map(Self::Form),
            Some("url") => rest.decode().map(Self::Url),
            Some(mode) => Err(A::Error::unknown_variant(mode, &["form", "url"])),
        }
    }
}

impl<'de> Deserialize<'de> for ElicitRequestParams {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        tagged(deserializer)
    }
}

/// The result of `elicitation/create`.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ElicitResult {
    /// What the user did.
    pub action: ElicitAction,
    /// The fields that were filled in, as an object; only with [`ElicitAction::Accept`] of a form (ELIC-28).
    pub content: Option<Json>,
    /// Metadata; legacy revisions only.
    pub meta: Meta,
    /// Members not known here.
    pub extra: JsonMap,
}

/// What a user did when asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ElicitAction {
    /// Agreed. Of a URL it means no more than that they will visit it (ELIC-31).
    Accept,
    /// Refused.
    Decline,
    /// Turned away without a decision.
    Cancel,
}

impl ElicitResult {
    /// The user did `action`.
    pub fn new(action: ElicitAction) -> Self {
        Self { action, content: None, meta: Meta::new(), extra: JsonMap::new() }
    }

    /// The user filled in a form.
    pub fn accept(content: Json) -> Self {
        Self { content: Some(content), ..Self::new(ElicitAction::Accept) }
    }
}

impl From<ElicitAction> for ElicitResult {
    fn from(action: ElicitAction) -> Self {
        Self::new(action)
    }
}

setters!(ElicitResult {
    content?: Json,
    meta: Meta,
    extra: JsonMap,
});

open_object!(ElicitResult {
    required { "action" => action, }
    optional {
        "content" => content,
        "_meta" => meta,
    }
});

impl Members for ElicitResult {
    fn members<M: SerializeMap>(&self, to: &mut Object<M>) -> Result<(), M::Error> {
        to.member("action", &self.action)?;
        to.optional("content", &self.content)?;
        to.open(&self.extra, Self::KNOWN)
    }

    fn metadata(&self, revision: Revision) -> Option<&Meta> {
        revision.dialect().server_requests.then_some(&self.meta)
    }
}

/// The parameters of `notifications/elicitation/complete`; 2025-11-25 only (ELIC-21).
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct ElicitationCompleteNotificationParams {
    /// The elicitation that is over.
    pub elicitation_id: String,
    /// Metadata.
    #[serde(default, rename = "_meta")]
    pub meta: Meta,
}

impl ElicitationCompleteNotificationParams {
    /// The elicitation `elicitation_id` is over.
    pub fn new(elicitation_id: impl Into<String>) -> Self {
        Self { elicitation_id: elicitation_id.into(), meta: Meta::new() }
    }
}

setters!(ElicitationCompleteNotificationParams { meta: Meta });

impl Members for ElicitationCompleteNotificationParams {
    fn members<M: SerializeMap>(&self, to: &mut Object<M>) -> Result<(), M::Error> {
        to.member("elicitationId", &self.elicitation_id)
    }

    fn metadata(&self, _revision: Revision) -> Option<&Meta> {
        Some(&self.meta)
    }
}
