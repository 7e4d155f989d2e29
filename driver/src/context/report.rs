//! What people on this side are told.

use std::fmt;
use std::io::{self, Write};

use mcp_proto::diagnostic::{Blame, Diagnostic};

/// Something that went wrong on this side, or that a peer did wrong; see
/// [`Server::on_error`](crate::Server::on_error). Holds no payload.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Report {
    /// Whose doing it is. A hook that pages somebody looks at [`Blame::Ours`]; what peers do wrong can come as
    /// often as they like.
    pub blame: Blame,
    /// What was going on: `tool echo`, `connection`, ...
    pub what: String,
    /// What happened.
    pub detail: String,
}

impl Report {
    /// Something that is this side's doing.
    pub(crate) fn ours(what: impl Into<String>, detail: impl Into<String>) -> Self {
        Self { blame: Blame::Ours, what: what.into(), detail: detail.into() }
    }

    /// Something that a peer did.
    pub(crate) fn theirs(what: impl Into<String>, detail: impl Into<String>) -> Self {
        Self { blame: Blame::Peer, what: what.into(), detail: detail.into() }
    }

    /// Something that a machine noticed.
    pub(crate) fn noticed(what: &str, diagnostic: &Diagnostic) -> Self {
        Self { blame: diagnostic.blame, what: what.into(), detail: diagnostic.to_string() }
    }

    /// What becomes of a report where the application has not said who hears of it.
    pub(crate) fn print_ours(&self) {
        if self.blame == Blame::Ours {
            // Where nobody reads standard error, nobody can be told.
            let _ = writeln!(io::stderr(), "{self}");
        }
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.what, self.detail)
    }
}
