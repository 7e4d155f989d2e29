//! What is known about the server once the era is settled.

use crate::dialect::{Era, Revision};
use crate::model::capabilities::ServerCapabilities;
use crate::model::lifecycle::Implementation;
use alloc::string::String;
use alloc::vec::Vec;

/// The server, as it introduced itself.
///
/// Identity and instructions are claims of the server: for display and logs, never for decisions (META-20).
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct ServerDetails {
    /// The revision that this connection speaks.
    pub revision: Revision,
    /// Its name and version, where it told them.
    pub info: Option<Implementation>,
    /// What it offers.
    pub capabilities: ServerCapabilities,
    /// How to use it, in its own words; may go into a system prompt (DISC-09).
    pub instructions: Option<String>,
    /// The revisions that it says it speaks. A legacy server names only the one it chose.
    pub supported: Vec<String>,
}

impl ServerDetails {
    /// The era of the revision.
    pub const fn era(&self) -> Era {
        self.revision.era()
    }
}
