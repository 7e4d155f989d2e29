//! What works and is on its way out. Each is said once for a server or a connection of a client, when it is first used.

#[cfg(feature = "http")]
use std::collections::BTreeSet;
use std::sync::atomic::{AtomicU8, Ordering};
#[cfg(feature = "http")]
use std::sync::{Mutex, PoisonError};

use mcp_proto::diagnostic::Blame;
use mcp_proto::model::{IncludeContext, InputRequest};

use crate::context::Report;

/// A feature that revision 2026-07-28 deprecates.
///
/// <https://modelcontextprotocol.io/specification/2026-07-28/deprecated>
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Deprecated {
    Logging,
    Roots,
    Sampling,
    IncludeContext,
    #[cfg(feature = "http")]
    HttpSse,
}

impl Deprecated {
    /// The one that asking `request` makes use of.
    pub(crate) fn of(request: &InputRequest) -> Option<Self> {
        match request {
            InputRequest::ListRoots => Some(Self::Roots),
            InputRequest::CreateMessage(params)
                if params.include_context.is_some_and(|context| context != IncludeContext::None) =>
            {
                Some(Self::IncludeContext)
            }
            InputRequest::CreateMessage(_) => Some(Self::Sampling),
            _ => None,
        }
    }

    /// What it is, and what takes its place.
    fn text(self) -> &'static str {
        match self {
            Self::Logging => {
                "logging is deprecated by revision 2026-07-28: write to standard error, or use OpenTelemetry"
            }
            Self::Roots => {
                "roots are deprecated by revision 2026-07-28: take paths as arguments, or from configuration"
            }
            Self::Sampling => {
                "sampling is deprecated by revision 2026-07-28: call the interface of a model's provider"
            }
            #[cfg(feature = "http")]
            Self::HttpSse => {
                "HTTP with SSE is deprecated since revision 2025-03-26: clients should use Streamable HTTP"
            }
            Self::IncludeContext => "`includeContext` of sampling is deprecated: leave it out, or use `none`",
        }
    }
}

/// What was said already.
#[derive(Debug, Default)]
pub(crate) struct Said {
    features: AtomicU8,
    #[cfg(feature = "http")]
    details: Mutex<BTreeSet<String>>,
}

/// How many different things are said once each. Peers choose them, so what comes after these is not said at all.
#[cfg(feature = "http")]
const DETAILS: usize = 16;

impl Said {
    /// The report for `feature`, the first time.
    pub(crate) fn once(&self, feature: Deprecated) -> Option<Report> {
        let bit = 1 << feature as u8;
        // Looked at first: it is said once and used often.
        let said = &self.features;
        if said.load(Ordering::Relaxed) & bit != 0 || said.fetch_or(bit, Ordering::Relaxed) & bit != 0 {
            return None;
        }
        let (what, detail) = ("deprecated feature".into(), feature.text().into());
        Some(Report { blame: Blame::Nobody, what, detail })
    }

    /// Whether `detail` is to be said: once, and only a few of its kind.
    #[cfg(feature = "http")]
    pub(crate) fn for_the_first_time(&self, detail: &str) -> bool {
        let mut said = self.details.lock().unwrap_or_else(PoisonError::into_inner);
        said.len() < DETAILS && said.insert(detail.to_owned())
    }
}
