//! A call of a tool, to whichever server has it.

use std::fmt;

use mcp_proto::error::ApiMisuse;
use mcp_proto::model::Json;
use serde::Serialize;

use crate::client::calls::Options;

/// A call of a tool of a [`Group`](super::Group).
#[derive(Clone)]
#[must_use = "it is made by `Group::call` or `Group::call_all`"]
pub struct GroupCall {
    pub(super) server: Option<String>,
    pub(super) name: String,
    pub(super) arguments: Result<Json, ApiMisuse>,
    pub(super) options: Options,
}

impl GroupCall {
    /// A call of the tool that is called so in the group: by its own name, or as `server__tool`. Arguments that do not
    /// serialize fail the call.
    pub fn new(name: impl Into<String>, arguments: impl Serialize) -> Self {
        let arguments = Json::new(&arguments)
            .map_err(|error| ApiMisuse::new(format!("the arguments do not serialize: {error}")));
        Self { server: None, name: name.into(), arguments, options: Options::new() }
    }

    /// Says which server is meant. The name is then that of the tool there, as it is.
    pub fn on(mut self, server: impl Into<String>) -> Self {
        self.server = Some(server.into());
        self
    }

    /// How the call is to be made.
    pub fn options(mut self, options: Options) -> Self {
        self.options = options;
        self
    }
}

/// Prints without the arguments.
impl fmt::Debug for GroupCall {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("GroupCall")
            .field("server", &self.server)
            .field("name", &self.name)
            .finish_non_exhaustive()
    }
}
