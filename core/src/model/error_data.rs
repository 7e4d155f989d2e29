//! The `data` of the errors that define it.
//!
//! <https://modelcontextprotocol.io/specification/2026-07-28/basic/index#error-codes>

use super::capabilities::ClientCapabilities;
use super::elicitation::{ElicitRequestParams, ElicitRequestUrlParams};
use super::encode::{Members, Object};
use crate::dialect::Revision;
use crate::error::{ErrorObject, code};
use crate::wire::jsonrpc;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde::ser::SerializeMap;

/// With error -32022: which revisions there are instead (VER-01). Legacy servers put the same into the error
/// that refuses `initialize`.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[non_exhaustive]
pub struct UnsupportedProtocolVersionData {
    /// The revisions that the server speaks.
    pub supported: Vec<String>,
    /// The one that was asked for. A modern-only server that refuses `initialize` leaves it out.
    pub requested: Option<String>,
}

impl UnsupportedProtocolVersionData {
    /// These revisions are there instead of `requested`.
    pub fn new(supported: &[Revision], requested: impl Into<String>) -> Self {
        let supported = supported.iter().map(ToString::to_string).collect();
        Self { supported, requested: Some(requested.into()) }
    }

    /// What such an error says; `None` for other errors, and where it does not say.
    pub fn of(error: &ErrorObject) -> Option<Self> {
        data_of(error, code::UNSUPPORTED_PROTOCOL_VERSION)
    }
}

impl Members for UnsupportedProtocolVersionData {
    fn members<M: SerializeMap>(&self, to: &mut Object<M>) -> Result<(), M::Error> {
        to.member("supported", &self.supported)?;
        to.optional("requested", &self.requested)
    }
}

/// With error -32021: what the client would have to declare, as a capability object (META-16).
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct MissingRequiredClientCapabilityData {
    /// The capabilities that are needed.
    pub required_capabilities: ClientCapabilities,
}

impl MissingRequiredClientCapabilityData {
    /// These capabilities are needed.
    pub fn new(required_capabilities: ClientCapabilities) -> Self {
        Self { required_capabilities }
    }

    /// What such an error says; `None` for other errors, and where it does not say.
    pub fn of(error: &ErrorObject) -> Option<Self> {
        data_of(error, code::MISSING_CLIENT_CAPABILITY)
    }
}

impl Members for MissingRequiredClientCapabilityData {
    fn members<M: SerializeMap>(&self, to: &mut Object<M>) -> Result<(), M::Error> {
        to.encoded("requiredCapabilities", &self.required_capabilities)
    }
}

/// With the error for a resource that does not exist, -32602 or in legacy revisions -32002 (RES-12).
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[non_exhaustive]
pub struct ResourceNotFoundData {
    /// The URI that was asked for.
    pub uri: String,
}

impl ResourceNotFoundData {
    /// There is no resource at `uri`.
    pub fn new(uri: impl Into<String>) -> Self {
        Self { uri: uri.into() }
    }
}

impl Members for ResourceNotFoundData {
    fn members<M: SerializeMap>(&self, to: &mut Object<M>) -> Result<(), M::Error> {
        to.member("uri", &self.uri)
    }
}

/// With error -32042, 2025-11-25 only: the URLs to visit first (ELIC-27).
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[non_exhaustive]
pub struct UrlElicitationRequiredData {
    /// The URLs, each with its `elicitationId`.
    pub elicitations: Vec<ElicitRequestParams>,
}

impl UrlElicitationRequiredData {
    /// These have to be visited first.
    pub fn new(elicitations: Vec<ElicitRequestUrlParams>) -> Self {
        Self { elicitations: elicitations.into_iter().map(Into::into).collect() }
    }

    /// What such an error demands; `None` for other errors, and where it does not say.
    pub fn of(error: &ErrorObject) -> Option<Self> {
        data_of(error, code::URL_ELICITATION_REQUIRED)
    }
}

impl Members for UrlElicitationRequiredData {
    fn members<M: SerializeMap>(&self, to: &mut Object<M>) -> Result<(), M::Error> {
        to.encoded("elicitations", self.elicitations.as_slice())
    }
}

/// The data of an error with this code.
fn data_of<T: DeserializeOwned>(error: &ErrorObject, code: i32) -> Option<T> {
    if error.code != i64::from(code) {
        return None;
    }
    jsonrpc::decode(error.data.as_deref(), "data").ok()
}
