//! Asking for suggestions.

use super::call::Call;
use super::reply::RawReply;
use crate::dialect::Revision;
use crate::error::{ApiMisuse, CallError};
use crate::model::In;
use crate::model::completion::{
    CompleteRequestParams, CompleteResult, CompletionArgument, CompletionContext, PromptReference,
    ResourceTemplateReference,
};
use crate::wire::jsonrpc::write_json;
use alloc::string::String;
use alloc::vec::Vec;
use core::fmt;

/// `completion/complete`: suggestions while somebody fills in a prompt or a resource template.
///
/// <https://modelcontextprotocol.io/specification/2026-07-28/server/utilities/completion>
#[derive(Clone, PartialEq, Eq)]
pub struct Complete {
    params: CompleteRequestParams,
}

/// Prints without what was typed.
impl fmt::Debug for Complete {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Complete").field("argument", &self.params.argument.name).finish_non_exhaustive()
    }
}

impl Complete {
    /// Suggestions for `argument` of the prompt called `prompt`, of which `value` was typed.
    pub fn prompt(prompt: impl Into<String>, argument: impl Into<String>, value: impl Into<String>) -> Self {
        let argument = CompletionArgument::new(argument, value);
        Self { params: CompleteRequestParams::new(PromptReference::new(prompt), argument) }
    }

    /// Suggestions for the variable `argument` of a resource template, of which `value` was typed.
    pub fn template(
        template: impl Into<String>,
        argument: impl Into<String>,
        value: impl Into<String>,
    ) -> Self {
        let argument = CompletionArgument::new(argument, value);
        Self { params: CompleteRequestParams::new(ResourceTemplateReference::new(template), argument) }
    }

    /// With another argument that was filled in before (COMP-04). Servers that speak a revision before
    /// 2025-06-18 are not told.
    #[must_use]
    pub fn known(mut self, argument: impl Into<String>, value: impl Into<String>) -> Self {
        let context = self.params.context.get_or_insert_with(CompletionContext::default);
        context.arguments.insert(argument.into(), value.into());
        self
    }
}

impl Call for Complete {
    type Reply = CompleteResult;

    fn method(&self) -> &str {
        "completion/complete"
    }

    fn write_params(&self, revision: Revision, out: &mut Vec<u8>) -> Result<(), ApiMisuse> {
        write_json(out, &In(revision, &self.params))
    }

    fn read(reply: RawReply<'_>) -> Result<CompleteResult, CallError> {
        reply.decode()
    }

    fn is_repeatable(&self) -> bool {
        true
    }
}
