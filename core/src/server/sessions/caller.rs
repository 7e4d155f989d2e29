//! Who may use a session: who opened it, from where he opened it.
//!
//! A session is no proof of identity (SEC-11), so its name alone must not be worth anything to whoever comes by
//! it (SEC-13).
//!
//! <https://modelcontextprotocol.io/specification/2025-11-25/basic/security_best_practices#session-hijacking>

use alloc::string::String;
use alloc::sync::Arc;
use core::fmt;

use crate::server::session::SessionState;

/// Who asks for a session.
#[derive(Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Caller {
    /// Whom the application takes the client for: by default the subject of its principal.
    pub owner: Option<Arc<str>>,
    /// The origin of the web page that the client is, in lower case.
    pub origin: Option<String>,
    /// The request only reads. Browsers say no origin when a page reads from where it came from.
    pub reads: bool,
}

/// Prints what is known of it, and not what that is.
impl fmt::Debug for Caller {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Caller")
            .field("has_owner", &self.owner.is_some())
            .field("has_origin", &self.origin.is_some())
            .field("reads", &self.reads)
            .finish()
    }
}

impl Caller {
    /// Whether there is nothing to tell of it.
    pub(in crate::server) fn is_nobody(&self) -> bool {
        self.owner.is_none() && self.origin.is_none() && !self.reads
    }

    /// Bytes that a session holds of it.
    pub(in crate::server) fn size(&self) -> usize {
        self.owner.as_ref().map_or(0, |owner| owner.len()) + self.origin.as_ref().map_or(0, String::len)
    }

    /// Makes a session his.
    pub(super) fn own(self, mut state: SessionState) -> SessionState {
        (state.owner, state.origin) = (self.owner, self.origin);
        state
    }

    pub(super) fn may_use(&self, state: &SessionState) -> bool {
        let same_origin = self.origin == state.origin || (self.reads && self.origin.is_none());
        self.owner == state.owner && same_origin
    }
}

#[cfg(test)]
mod tests;
