//! Errors of connecting and serving.

use std::convert::Infallible;
use std::fmt;
use std::io;

use mcp_proto::error::{ApiMisuse, CallError};

use crate::client::ServerFileError;

/// An error and what led to it, in words.
pub(crate) fn chain(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut source = error.source();
    while let Some(cause) = source {
        text.push_str(": ");
        text.push_str(&cause.to_string());
        source = cause.source();
    }
    text
}

/// Why connecting or serving failed.
#[non_exhaustive]
pub enum Error {
    /// The operating system refused something.
    Io {
        /// What was being done.
        doing: String,
        /// What the system said.
        source: io::Error,
    },
    /// A call, or the opening of a connection, failed.
    Call(CallError),
    /// The program asked for something impossible.
    Misuse(ApiMisuse),
    /// A file of servers has something wrong.
    ServerFile(ServerFileError),
}

impl Error {
    pub(crate) fn io(doing: impl Into<String>, source: io::Error) -> Self {
        Self::Io { doing: doing.into(), source }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Io { doing, source } => write!(f, "{doing}: {source}"),
            Self::Call(error) => error.fmt(f),
            Self::Misuse(misuse) => misuse.fmt(f),
            Self::ServerFile(error) => error.fmt(f),
        }
    }
}

/// The same as `Display`: it is what a program prints whose `main` returns one.
impl fmt::Debug for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Io { source, .. } => Some(source),
            Self::Call(_) | Self::Misuse(_) | Self::ServerFile(_) => None,
        }
    }
}

impl From<CallError> for Error {
    fn from(error: CallError) -> Self {
        Self::Call(error)
    }
}

impl From<ApiMisuse> for Error {
    fn from(misuse: ApiMisuse) -> Self {
        Self::Misuse(misuse)
    }
}

impl From<ServerFileError> for Error {
    fn from(error: ServerFileError) -> Self {
        Self::ServerFile(error)
    }
}

/// What is a target already becomes one without fail.
impl From<Infallible> for Error {
    fn from(never: Infallible) -> Self {
        match never {}
    }
}
