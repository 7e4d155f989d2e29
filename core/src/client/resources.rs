//! Reading a resource.

use super::call::Call;
use super::reply::RawReply;
use crate::dialect::Revision;
use crate::error::{ApiMisuse, CallError};
use crate::model::resources::ReadResourceResult;
use crate::wire::jsonrpc::write_json;
use alloc::borrow::Cow;
use alloc::vec::Vec;
use core::fmt;
use serde::Serialize;

/// `resources/read`: what is at a URI. Whether nothing is, says
/// [`CallError::is_resource_not_found`].
///
/// <https://modelcontextprotocol.io/specification/2026-07-28/server/resources#reading-resources>
#[derive(Clone, PartialEq, Eq)]
pub struct ReadResource<'a> {
    uri: Cow<'a, str>,
}

/// Prints without the query of the URI, which may hold a secret.
impl fmt::Debug for ReadResource<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let uri = self.uri.split(['?', '#']).next().unwrap_or_default();
        f.debug_struct("ReadResource").field("uri", &uri).finish_non_exhaustive()
    }
}

impl<'a> ReadResource<'a> {
    /// What is at `uri`.
    pub fn new(uri: impl Into<Cow<'a, str>>) -> Self {
        Self { uri: uri.into() }
    }
}

impl Call for ReadResource<'_> {
    type Reply = ReadResourceResult;

    fn method(&self) -> &str {
        "resources/read"
    }

    fn write_params(&self, _: Revision, out: &mut Vec<u8>) -> Result<(), ApiMisuse> {
        #[derive(Serialize)]
        struct Params<'a> {
            uri: &'a str,
        }
        write_json(out, &Params { uri: &self.uri })
    }

    fn read(reply: RawReply<'_>) -> Result<ReadResourceResult, CallError> {
        reply.decode()
    }

    fn name(&self) -> Option<&str> {
        Some(&self.uri)
    }

    fn is_repeatable(&self) -> bool {
        true
    }
}
