//! What a listener is told.

use crate::backlog::News;
use crate::change::Change;
use crate::model::Json;
use alloc::string::String;
use core::fmt;

/// What a listener is told.
#[derive(Clone, PartialEq)]
#[non_exhaustive]
pub enum Notice {
    /// Something of the server has changed. Of changes of one thing that wait to be heard, one is told.
    Changed(Change),
    /// What an extension of the protocol tells on the stream, such as the state of a task. Of those that have the same
    /// method and are about the same task or resource, the newest is told.
    Other {
        /// Its method.
        method: String,
        /// Its parameters.
        params: Option<Json>,
        /// What it is about: the `taskId` or `uri` in its parameters.
        about: Option<String>,
    },
    /// Something may have been missed: the stream broke, or the server was started again, and the stream is there
    /// again; or more has happened than waits. Look again at everything that is listened for.
    Missed,
}

/// Prints neither URIs nor parameters: they may hold secrets.
impl fmt::Debug for Notice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Changed(change) => write!(f, "Changed({})", change.method()),
            Self::Other { method, .. } => f.debug_tuple("Other").field(method).finish(),
            Self::Missed => f.write_str("Missed"),
        }
    }
}

/// About what a notice takes besides its texts.
const ENVELOPE: usize = 160;

impl News for Notice {
    fn is_repeated_by(&self, later: &Self) -> bool {
        match (self, later) {
            (Self::Changed(change), Self::Changed(later)) => change == later,
            (
                Self::Other { method, about, .. },
                Self::Other { method: later_method, about: later_about, .. },
            ) => (method, about) == (later_method, later_about),
            (Self::Missed, Self::Missed) => true,
            _ => false,
        }
    }

    fn size(&self) -> usize {
        match self {
            Self::Changed(change) => change.size(),
            Self::Other { method, params, about } => {
                let params = params.as_ref().map_or(0, |params| params.get().len());
                ENVELOPE + method.len() + params + about.as_ref().map_or(0, String::len)
            }
            Self::Missed => ENVELOPE,
        }
    }
}
