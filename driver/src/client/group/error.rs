//! What can go wrong with one of several servers.

use std::fmt;
use std::sync::Arc;

use mcp_proto::error::{ApiMisuse, CallError};

use crate::error::Error;

/// Why a [`Group`](super::Group) did not do something.
#[derive(Clone)]
#[non_exhaustive]
pub enum GroupError {
    /// There is no server of this name.
    NoServer {
        /// The name.
        server: String,
        /// The servers there are.
        known: Vec<String>,
    },
    /// The server is not connected; [`Group::reconnect`](super::Group::reconnect) tries again.
    Unavailable {
        /// The name of the server.
        server: String,
        /// Why.
        error: Arc<Error>,
    },
    /// No server that is connected has it.
    Unknown {
        /// What it is: a tool, a prompt, a resource.
        what: &'static str,
        /// Its name, or URI.
        name: String,
        /// Servers that may have it and are not connected.
        unavailable: Vec<String>,
    },
    /// Several servers have it; say which one is meant.
    Ambiguous {
        /// What it is: a tool, a prompt, a resource.
        what: &'static str,
        /// Its name, or URI.
        name: String,
        /// The names that are not ambiguous, as `server__name`.
        candidates: Vec<String>,
    },
    /// The call has failed.
    Call {
        /// The name of the server.
        server: String,
        /// How.
        error: CallError,
    },
    /// The call was made in a way that cannot be; nothing was sent.
    Misuse(ApiMisuse),
}

impl GroupError {
    /// A call of this server has failed. A task that it became is one of that server.
    pub(super) fn call(server: String, mut error: CallError) -> Self {
        if let CallError::Unfinished { task, .. } = &mut error {
            **task = task.as_ref().clone().with_server(&*server);
        }
        Self::Call { server, error }
    }

    /// The server that failed.
    pub(super) fn server(&self) -> Option<&str> {
        match self {
            Self::Unavailable { server, .. } | Self::Call { server, .. } => Some(server),
            _ => None,
        }
    }
}

impl fmt::Display for GroupError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoServer { server, known } => {
                write!(f, "there is no server `{server}` in the group, only: {}", known.join(", "))
            }
            Self::Unavailable { server, error } => {
                write!(f, "server `{server}` is not connected: {error}")
            }
            Self::Unknown { what, name, unavailable } => {
                write!(f, "no server in the group has a {what} `{}`", Shown(name))?;
                match &unavailable[..] {
                    [] => Ok(()),
                    servers => write!(f, "; not connected: {}", servers.join(", ")),
                }
            }
            Self::Ambiguous { what, name, candidates } => {
                let (name, candidates) = (Shown(name), candidates.join(", "));
                write!(f, "several servers have a {what} `{name}`; say which one is meant: {candidates}")
            }
            Self::Call { server, error } => write!(f, "server `{server}`: {error}"),
            Self::Misuse(misuse) => misuse.fmt(f),
        }
    }
}

/// The same as `Display`: it is what a program prints whose `main` returns one.
impl fmt::Debug for GroupError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl std::error::Error for GroupError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Unavailable { error, .. } => Some(&**error),
            Self::Call { error, .. } => Some(error),
            _ => None,
        }
    }
}

/// A name without the query of a URI, which may hold a secret.
struct Shown<'a>(&'a str);

impl fmt::Display for Shown<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0.split(['?', '#']).next().unwrap_or_default())
    }
}
