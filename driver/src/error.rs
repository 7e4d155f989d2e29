//! Errors of connecting and serving.

use std::io;

use mcp_proto::error::{ApiMisuse, CallError};

/// Why connecting or serving failed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The operating system refused something.
    #[error("{doing}: {source}")]
    Io {
        /// What was being done.
        doing: String,
        /// What the system said.
        source: io::Error,
    },
    /// A call, or the opening of a connection, failed.
    #[error(transparent)]
    Call(#[from] CallError),
    /// The program asked for something impossible.
    #[error("{0}")]
    Misuse(#[from] ApiMisuse),
}

impl Error {
    pub(crate) fn io(doing: impl Into<String>, source: io::Error) -> Self {
        Self::Io { doing: doing.into(), source }
    }
}
