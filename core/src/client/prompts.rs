//! Getting a prompt.

use super::call::Call;
use super::reply::RawReply;
use crate::dialect::Revision;
use crate::error::{ApiMisuse, CallError};
use crate::model::prompts::GetPromptResult;
use crate::wire::jsonrpc::write_json;
use alloc::borrow::Cow;
use alloc::collections::BTreeMap;
use alloc::string::String;
use alloc::vec::Vec;
use core::fmt;
use serde::Serialize;

/// `prompts/get`: a prompt, filled in.
///
/// <https://modelcontextprotocol.io/specification/2026-07-28/server/prompts#getting-a-prompt>
#[derive(Clone, PartialEq, Eq)]
pub struct GetPrompt<'a> {
    name: Cow<'a, str>,
    arguments: BTreeMap<String, String>,
}

/// Prints without the arguments.
impl fmt::Debug for GetPrompt<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("GetPrompt").field("name", &self.name).finish_non_exhaustive()
    }
}

impl<'a> GetPrompt<'a> {
    /// The prompt called `name`, not filled in.
    pub fn new(name: impl Into<Cow<'a, str>>) -> Self {
        Self { name: name.into(), arguments: BTreeMap::new() }
    }

    /// With one argument more. All are strings (PROMPT-06).
    #[must_use]
    pub fn argument(mut self, name: impl Into<String>, value: impl Into<String>) -> Self {
        self.arguments.insert(name.into(), value.into());
        self
    }

    /// With these arguments too.
    #[must_use]
    pub fn arguments<N: Into<String>, V: Into<String>>(
        mut self,
        arguments: impl IntoIterator<Item = (N, V)>,
    ) -> Self {
        self.arguments.extend(arguments.into_iter().map(|(name, value)| (name.into(), value.into())));
        self
    }
}

impl Call for GetPrompt<'_> {
    type Reply = GetPromptResult;

    fn method(&self) -> &str {
        "prompts/get"
    }

    fn write_params(&self, _: Revision, out: &mut Vec<u8>) -> Result<(), ApiMisuse> {
        #[derive(Serialize)]
        struct Params<'a> {
            name: &'a str,
            #[serde(skip_serializing_if = "BTreeMap::is_empty")]
            arguments: &'a BTreeMap<String, String>,
        }
        write_json(out, &Params { name: &self.name, arguments: &self.arguments })
    }

    fn read(reply: RawReply<'_>) -> Result<GetPromptResult, CallError> {
        reply.decode()
    }

    fn name(&self) -> Option<&str> {
        Some(&self.name)
    }

    fn is_repeatable(&self) -> bool {
        true
    }
}
