//! Why a message is not served: for the peer, and for people on this side.

use alloc::borrow::Cow;
use alloc::boxed::Box;
use alloc::string::String;
use alloc::vec::Vec;
use core::fmt;

use serde_json::value::RawValue;

use crate::dialect::{Era, Revision};
use crate::error::{ErrorObject, PeerError, code, status_of};
use crate::head::Headers;
use crate::wire::jsonrpc::{self, RequestId};

/// An error that answers a message.
#[derive(Clone)]
pub(super) struct Refusal {
    pub(super) code: i32,
    /// What the peer is told.
    pub(super) message: Cow<'static, str>,
    pub(super) data: Option<Box<RawValue>>,
    /// What people on this side are told.
    pub(super) detail: String,
    /// The HTTP status, where it is not the usual one of the code.
    status: Option<u16>,
    /// A field for the head of the response.
    field: Option<Box<(&'static str, String)>>,
}

/// Prints without the data that goes with it.
impl fmt::Debug for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Refusal")
            .field("code", &self.code)
            .field("detail", &self.detail)
            .finish_non_exhaustive()
    }
}

impl Refusal {
    pub(super) fn new(code: i32, message: impl Into<Cow<'static, str>>, detail: impl Into<String>) -> Self {
        Self { code, message: message.into(), data: None, detail: detail.into(), status: None, field: None }
    }

    /// An error whose detail is what the peer is told.
    pub(super) fn plain(code: i32, message: impl Into<Cow<'static, str>>) -> Self {
        let message = message.into();
        Self { code, detail: message.clone().into_owned(), message, data: None, status: None, field: None }
    }

    pub(super) fn with_data(mut self, data: Option<Box<RawValue>>) -> Self {
        self.data = data;
        self
    }

    pub(super) fn with_status(mut self, status: u16) -> Self {
        self.status = Some(status);
        self
    }

    /// With a field for the head of the response.
    pub(super) fn with_field(mut self, name: &'static str, value: &str) -> Self {
        self.field = Some(Box::new((name, value.into())));
        self
    }

    /// Fields for the head of the response.
    pub(super) fn headers(&self) -> Headers {
        self.field.iter().fold(Headers::new(), |headers, field| headers.with(field.0, &field.1))
    }

    /// The HTTP status. To a legacy client 404 means that its session is gone, so an unknown method travels
    /// with 200 there (HTTP-23 is of the modern era).
    pub(super) fn status(&self, era: Era) -> u16 {
        self.status.unwrap_or_else(|| status(self.code, era))
    }

    /// Appends it as the answer to a message, in a session of this revision if there is one. Errors that answer what has
    /// no readable id have none, but in revisions where they must have one (RPC-20).
    pub(super) fn write(&self, out: &mut Vec<u8>, id: Option<&RequestId>, session: Option<Revision>) {
        let needs_id = session.is_some_and(|revision| !revision.dialect().error_without_id);
        match id {
            None if needs_id => jsonrpc::write_error_of_null(out, &self.error()),
            id => jsonrpc::write_error(out, id, &self.error()),
        }
    }

    pub(super) fn error(&self) -> ErrorObject {
        let mut error = ErrorObject::new(self.code, self.message.clone());
        error.data = self.data.clone();
        error
    }
}

/// The HTTP status of an answer with this error code.
pub(super) fn status(code: i32, era: Era) -> u16 {
    match (era, code) {
        (Era::Legacy, code::METHOD_NOT_FOUND) => 200,
        _ => status_of(code),
    }
}

impl From<PeerError> for Refusal {
    fn from(error: PeerError) -> Self {
        Self::new(error.code, error.message, error.detail)
    }
}

/// What the peer is told when a result cannot be serialised; why is for this side (B66).
pub(super) fn unwritable() -> ErrorObject {
    ErrorObject::new(code::INTERNAL, "the result could not be written")
}

/// The error as `revision` may be sent it (ERR-07, ERR-09): a resource that was not found has another code in
/// the modern era, and codes that the specification keeps for itself become internal errors.
pub(super) fn in_revision(error: &ErrorObject, revision: Revision) -> ErrorObject {
    let mut error = error.clone();
    let known = i32::try_from(error.code).is_ok_and(|code| revision.knows_error_code(code));
    if !known && let Ok(code) = i32::try_from(error.code) {
        error.code = i64::from(match code {
            code::RESOURCE_NOT_FOUND => revision.dialect().resource_not_found,
            _ => code::INTERNAL,
        });
    }
    error
}
