//! What people on this side should know, and the peer need not.

use alloc::string::String;
use core::fmt;

use crate::error::ApiMisuse;

/// Something worth a line in a log: a peer broke a rule or gave up, or a result could not be sent.
///
/// Says where, what was expected and what came. Holds no payload, no token and no header value but a refused
/// host or origin.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Diagnostic {
    /// Whose doing it is.
    pub blame: Blame,
    /// Which part noticed it: `framing`, `jsonrpc`, `http`, `session`, `call`, ...
    pub layer: &'static str,
    /// The id of the request that it concerns, as JSON text.
    pub request: Option<String>,
    /// What was expected and what came.
    pub detail: String,
    /// Whether it says the same each time, so that whoever shows it may leave out all but the first.
    pub once: bool,
}

/// Whose doing something is. A peer can do wrong as often as it likes, so what is shown of the two differs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Blame {
    /// This side's: of the application, its handlers, or the system that it runs on.
    Ours,
    /// The other side's.
    Peer,
    /// Nobody's: it works, and people should know something about it.
    Nobody,
}

impl Diagnostic {
    /// What the peer did, as `layer` noticed it.
    pub fn new(layer: &'static str, detail: impl Into<String>) -> Self {
        Self { blame: Blame::Peer, layer, request: None, detail: detail.into(), once: false }
    }

    /// What a setting of the application may have to do with.
    pub(crate) fn advice(layer: &'static str, detail: impl Into<String>) -> Self {
        Self { blame: Blame::Ours, once: true, ..Self::new(layer, detail) }
    }

    /// What the application did: its message could not be sent.
    pub fn misuse(misuse: ApiMisuse) -> Self {
        Self { blame: Blame::Ours, ..Self::new("call", misuse.message) }
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
