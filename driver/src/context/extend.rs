//! What a handler knows and says beyond the protocol: traces, extensions, notifications of its own.

use std::collections::BTreeMap;

use mcp_proto::error::{ErrorObject, code};
use mcp_proto::model::{ClientCapabilities, Json, TraceContext};
use mcp_proto::server::missing_capabilities;
use serde::Serialize;

use super::Context;
use crate::Era;
use crate::tool::ToolError;

impl Context {
    /// The W3C trace context that came in the request's `_meta`, as far as it is valid. Give it to what the
    /// handler calls in turn.
    ///
    /// <https://modelcontextprotocol.io/specification/2026-07-28/basic/index#meta>
    pub fn trace(&self) -> TraceContext {
        TraceContext::of(&self.meta())
    }

    /// The settings of an extension that the client has declared; `{}` when it has none. `None` when the client
    /// does not know the extension: then the handler does without, or refuses with
    /// [`require_extension`](Self::require_extension).
    ///
    /// <https://modelcontextprotocol.io/specification/2026-07-28/basic/versioning#extension-negotiation>
    pub fn client_extension(&self, id: &str) -> Option<Json> {
        self.client().capabilities.extension(id).cloned()
    }

    /// The settings of an extension without which the request cannot be served.
    ///
    /// # Errors
    /// The error that tells the client what it lacks, to be returned from the handler by `?`.
    pub fn require_extension(&self, id: &str) -> Result<Json, ToolError> {
        if let Some(settings) = self.client_extension(id) {
            return Ok(settings);
        }
        Err(ToolError::protocol(match self.era() {
            Era::Modern => {
                let needed = BTreeMap::from([(id.to_owned(), Json::empty_object())]);
                missing_capabilities(ClientCapabilities::new().extensions(needed))
            }
            Era::Legacy => ErrorObject::new(
                code::INVALID_REQUEST,
                format!("the request needs the extension `{id}`, which the client has not declared"),
            ),
        }))
    }

    /// Sends a notification of the application's own on the stream that the answer will come on, such as
    /// `acme/progressed`. Dropped when the client takes no stream, and once the request is answered.
    ///
    /// A name that belongs to the protocol, or parameters that are no object, are reported to
    /// [`Server::on_error`](crate::Server::on_error), and nothing is sent.
    pub fn notify(&self, method: &str, params: impl Serialize) {
        match Json::new(&params) {
            Ok(params) => {
                let bytes = method.len() + params.get().len();
                self.tell(bytes, |outlet, call| outlet.notify(call, method, &params));
            }
            Err(error) => self.shared.report(format!("parameters cannot be written as JSON: {error}")),
        }
    }

    /// The parameters of the request as JSON text, `_meta` included.
    pub fn params(&self) -> &str {
        self.shared.call.params()
    }
}
