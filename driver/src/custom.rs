//! Methods and notifications that a server adds to those of the protocol.

use std::borrow::Cow;
use std::fmt;

use mcp_proto::error::{ApiMisuse, ErrorObject, code};
use mcp_proto::model::{CustomResult, In, Json, Meta};
use mcp_proto::server::{Target, WriteResult};
use mcp_proto::wire::jsonrpc::{RequestId, decode_at};
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::Revision;
use crate::context::Context;
use crate::handler::{Arguments, Outcome};
use crate::tool::ToolError;

/// Marks handlers of methods that are not the protocol's: they take the parameters, without `_meta`, and return
/// any value that serialises as an object, or nothing.
#[derive(Debug)]
pub struct ForMethod;

impl<A: DeserializeOwned + Send + 'static> Arguments<ForMethod> for A {
    fn read(context: &Context) -> Result<Self, ToolError> {
        decode_at(&own(context.call().params()), "params").map_err(|error| {
            ToolError::protocol(ErrorObject::new(code::INVALID_PARAMS, Cow::into_owned(error.message)))
        })
    }
}

/// The parameters without `_meta`, which is not theirs: a type that knows all its members must not trip over it.
fn own(params: &str) -> Cow<'_, str> {
    if !params.contains("_meta") {
        return Cow::Borrowed(params);
    }
    let object: Option<CustomResult> = serde_json::from_str(params).ok();
    let own = object.map(|object| object.meta(Meta::new()));
    // It was JSON before, so it can be written; what was no object is refused by whoever reads it.
    let text = own.and_then(|own| serde_json::to_string(&In(Revision::LATEST_LEGACY, &own)).ok());
    text.map_or(Cow::Borrowed(params), Cow::Owned)
}

impl<T: Serialize + Send + 'static> Outcome<ForMethod> for T {
    type Output = MethodResult;

    fn into_output(self, _: &Target) -> MethodResult {
        let json = Json::new(&self).map_err(|error| ApiMisuse::new(error.to_string()));
        MethodResult(json.and_then(|json| CustomResult::new(&json)))
    }
}

/// The result of a method that is not the protocol's.
pub struct MethodResult(Result<CustomResult, ApiMisuse>);

/// Prints without the result.
impl fmt::Debug for MethodResult {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("MethodResult").field(&self.0.as_ref().map(|_| ())).finish()
    }
}

impl WriteResult for MethodResult {
    fn write_result(
        &self,
        out: &mut Vec<u8>,
        id: &RequestId,
        revision: Revision,
        server: Option<&Json>,
    ) -> Result<(), ApiMisuse> {
        match &self.0 {
            Ok(result) => result.write_result(out, id, revision, server),
            Err(misuse) => Err(misuse.clone()),
        }
    }
}

/// Something that a client tells; see [`Server::on_notification`](crate::Server::on_notification). Prints
/// without what it says.
pub struct Notification {
    method: String,
    params: String,
}

impl Notification {
    pub(crate) fn new(method: String, params: String) -> Self {
        Self { method, params }
    }

    /// Its name.
    pub fn method(&self) -> &str {
        &self.method
    }

    /// Its parameters as JSON text, an object.
    pub fn params(&self) -> &str {
        &self.params
    }

    /// Its parameters, without `_meta`, as a type.
    ///
    /// # Errors
    /// When they do not fit it. The client cannot be told.
    pub fn decode<T: DeserializeOwned>(&self) -> Result<T, serde_json::Error> {
        serde_json::from_str(&own(&self.params))
    }
}

impl fmt::Debug for Notification {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Notification").field("method", &self.method).finish_non_exhaustive()
    }
}
