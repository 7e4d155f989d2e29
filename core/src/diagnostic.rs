//! What people on this side should know, and the peer need not.

use alloc::string::String;
use core::fmt;

/// Something worth a line in a log: a peer broke a rule, or a result could not be sent.
///
/// Says where, what was expected and what came. Holds no payload, no token and no header value but a refused
/// host or origin.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Diagnostic {
    /// Which part noticed it: `framing`, `jsonrpc`, `http`, `session`, `call`, ...
    pub layer: &'static str,
    /// The id of the request that it concerns, as JSON text.
    pub request: Option<String>,
    /// What was expected and what came.
    pub detail: String,
}

impl Diagnostic {
    /// A diagnostic of `layer`.
    pub fn new(layer: &'static str, detail: impl Into<String>) -> Self {
        Self { layer, request: None, detail: detail.into() }
    }

    /// With the id of the request that it concerns.
    #[must_use]
    pub fn request(mut self, id: impl fmt::Display) -> Self {
        self.request = Some(alloc::format!("{id}"));
        self
    }
}

impl fmt::Display for Diagnostic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.layer)?;
        if let Some(request) = &self.request {
            write!(f, ", request {request}")?;
        }
        write!(f, ": {}", self.detail)
    }
}
