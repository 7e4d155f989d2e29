//! What is wrong with a file of servers.

use std::fmt;
use std::path::{Path, PathBuf};

/// What is wrong with a [`ServerFile`](super::ServerFile), and where. It names no value: those may be secrets.
#[derive(Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct ServerFileError {
    /// The file, where there is one.
    pub file: Option<PathBuf>,
    /// Line and column, counted from 1, of what is no JSON.
    pub position: Option<(usize, usize)>,
    /// The server whose entry it is.
    pub server: Option<String>,
    /// The member that it is about, such as `args[1]` or `env.TOKEN`.
    pub field: Option<String>,
    /// What was expected and what was found.
    pub problem: String,
}

impl ServerFileError {
    pub(super) fn new(problem: impl Into<String>) -> Self {
        Self { file: None, position: None, server: None, field: None, problem: problem.into() }
    }

    /// What serde says may quote what it found.
    pub(super) fn syntax(error: &serde_json::Error) -> Self {
        let problem = match error.classify() {
            serde_json::error::Category::Eof => "the JSON ends too early",
            serde_json::error::Category::Data => {
                "expected an object with unique members, found something else"
            }
            _ => "this is no JSON",
        };
        Self { position: Some((error.line(), error.column())), ..Self::new(problem) }
    }

    pub(super) fn of(self, file: &Path) -> Self {
        Self { file: Some(file.to_owned()), ..self }
    }

    pub(super) fn server(self, name: &str) -> Self {
        Self { server: Some(name.to_owned()), ..self }
    }

    pub(super) fn field(self, field: impl Into<String>) -> Self {
        Self { field: Some(field.into()), ..self }
    }
}

impl fmt::Display for ServerFileError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.file {
            Some(file) => write!(f, "{}: ", file.display())?,
            None => f.write_str("the list of servers: ")?,
        }
        if let Some((line, column)) = self.position {
            write!(f, "line {line}, column {column}: ")?;
        }
        if let Some(server) = &self.server {
            write!(f, "server `{server}`: ")?;
        }
        if let Some(field) = &self.field {
            write!(f, "`{field}`: ")?;
        }
        f.write_str(&self.problem)
    }
}

/// The same as `Display`: it is what a program prints whose `main` returns one.
impl fmt::Debug for ServerFileError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl std::error::Error for ServerFileError {}
