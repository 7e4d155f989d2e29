//! Completion: what a handler of it takes and returns.

use std::collections::BTreeMap;

use mcp_proto::model::{CompleteResult, Completion};
use mcp_proto::server::Target;

use crate::context::Context;
use crate::handler::{Arguments, Outcome};
use crate::tool::ToolError;

/// What a user has typed so far, who is filling in a prompt or the variables of a template. Prints without
/// it.
///
/// <https://modelcontextprotocol.io/specification/2026-07-28/server/utilities/completion>
#[derive(Clone)]
#[non_exhaustive]
pub struct Typed {
    /// The beginning of the argument, or nothing.
    pub value: String,
    /// The other arguments, as far as they are filled in; from revision 2025-06-18 on.
    pub known: BTreeMap<String, String>,
}

impl std::fmt::Debug for Typed {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Typed").finish_non_exhaustive()
    }
}

/// Marks handlers of completion: they take what was [`Typed`], and return suggestions, best first, of which
/// 100 are sent.
#[derive(Debug)]
pub struct ForCompletion;

impl Arguments<ForCompletion> for Typed {
    fn read(context: &Context) -> Result<Self, ToolError> {
        let Target::Completion(completing) = context.target() else {
            return Err(ToolError::internal("not a call for completion"));
        };
        Ok(Self { value: completing.argument.value.clone(), known: completing.context.clone() })
    }
}

impl<T: Into<String> + Send + 'static> Outcome<ForCompletion> for Vec<T> {
    type Output = CompleteResult;

    fn into_output(self, _: &Target) -> CompleteResult {
        CompleteResult::new(Completion::new(self.into_iter().map(Into::into).collect()))
    }
}

impl Outcome<ForCompletion> for Completion {
    type Output = CompleteResult;

    fn into_output(self, _: &Target) -> CompleteResult {
        CompleteResult::new(self)
    }
}
