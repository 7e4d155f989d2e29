//! What an application answers when a server asks something.

use crate::dialect::Revision;
use crate::error::{ApiMisuse, ErrorObject, code};
use crate::model::elicitation::ElicitResult;
use crate::model::input_required::InputRequest;
use crate::model::roots::{ListRootsResult, Root};
use crate::model::sampling::CreateMessageResult;
use crate::model::{In, Json};
use alloc::boxed::Box;
use alloc::format;
use alloc::string::String;
use core::fmt;

/// The answer to something that a server asks, the same in both eras. Prints without what it says.
///
/// <https://modelcontextprotocol.io/specification/2026-07-28/schema#inputresponse>
#[derive(Clone, PartialEq)]
#[non_exhaustive]
pub enum InputResponse {
    /// What the user did, to `elicitation/create`.
    Elicit(ElicitResult),
    /// What the model says, to `sampling/createMessage`.
    CreateMessage(Box<CreateMessageResult>),
    /// The roots, to `roots/list`.
    ListRoots(ListRootsResult),
}

impl fmt::Debug for InputResponse {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Elicit(_) => "Elicit(..)",
            Self::CreateMessage(_) => "CreateMessage(..)",
            Self::ListRoots(_) => "ListRoots(..)",
        })
    }
}

impl From<ElicitResult> for InputResponse {
    fn from(result: ElicitResult) -> Self {
        Self::Elicit(result)
    }
}

impl From<CreateMessageResult> for InputResponse {
    fn from(result: CreateMessageResult) -> Self {
        Self::CreateMessage(Box::new(result))
    }
}

impl From<ListRootsResult> for InputResponse {
    fn from(result: ListRootsResult) -> Self {
        Self::ListRoots(result)
    }
}

/// Why there is no answer.
///
/// A legacy server is sent an error. A modern one cannot be: its call is not made again, and ends with
/// [`CallError::InputRequired`](crate::error::CallError::InputRequired) (MRTR-33).
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Refusal {
    /// The user does not want it: code -1 (SAMP-25).
    Rejected,
    /// This side failed. The server is told no more than that.
    Failed,
    /// There was an answer that does not fit what was asked. The server is told no more than of a failure.
    Misfit {
        /// What does not fit, without what was answered.
        reason: String,
    },
    /// An error that the server may read.
    Error(ErrorObject),
}

impl Refusal {
    /// What the specification has for a user who rejects.
    const REJECTED: i32 = -1;

    pub(super) fn into_error(self) -> ErrorObject {
        match self {
            Self::Rejected => ErrorObject::new(Self::REJECTED, "User rejected the request"),
            Self::Failed | Self::Misfit { .. } => ErrorObject::new(code::INTERNAL, "Internal error"),
            Self::Error(error) => error,
        }
    }
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Rejected => f.write_str("the user rejected it"),
            Self::Failed => f.write_str("the handler failed"),
            Self::Misfit { reason } => f.write_str(reason),
            Self::Error(error) => write!(f, "the handler refused it: {error}"),
        }
    }
}

impl InputResponse {
    /// The result as it is sent in answer to `request`.
    ///
    /// # Errors
    /// When it answers something else, or does not fit what was asked.
    pub(super) fn write(self, request: &InputRequest, revision: Revision) -> Result<Json, ApiMisuse> {
        let json = match (self, request) {
            (Self::Elicit(result), InputRequest::Elicit(params)) => {
                let result = result.answering(params, revision).map_err(|reason| {
                    ApiMisuse::new(format!("the answer does not fit what the user was asked: {reason}"))
                })?;
                Json::new(&In(revision, &result))
            }
            (Self::CreateMessage(result), InputRequest::CreateMessage(_)) => {
                Json::new(&In(revision, &*result))
            }
            (Self::ListRoots(result), InputRequest::ListRoots) => {
                if !result.roots.iter().all(is_file) {
                    let rule = "the URI of a root must begin with `file://` and have no `..` in its path";
                    return Err(ApiMisuse::new(rule));
                }
                Json::new(&In(revision, &result))
            }
            (_, request) => {
                return Err(ApiMisuse::new(format!("`{}` was answered as something else", request.method())));
            }
        };
        json.map_err(|error| ApiMisuse::new(format!("the answer cannot be serialized: {error}")))
    }
}

/// ROOT-05, ROOT-07
fn is_file(root: &Root) -> bool {
    let scheme = root.uri.get(..7).is_some_and(|scheme| scheme.eq_ignore_ascii_case("file://"));
    let climbs = root.uri.split(['/', '\\']).any(|part| {
        let part = part.to_ascii_lowercase().replace("%2e", ".");
        part == ".."
    });
    scheme && !climbs
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec;

    fn roots(uri: &str) -> Result<Json, ApiMisuse> {
        let roots = ListRootsResult::new(vec![Root::new(uri).name("r")]);
        InputResponse::from(roots).write(&InputRequest::ListRoots, Revision::LATEST)
    }

    /// ROOT-05, ROOT-07
    #[test]
    fn roots_are_files_and_do_not_climb() {
        assert_eq!(
            roots("file:///srv/a..b").unwrap().get(),
            r#"{"roots":[{"uri":"file:///srv/a..b","name":"r"}]}"#
        );
        assert!(roots("FILE:///C:/x").is_ok());
        for uri in
            ["https://example.com", "/srv", "file:/srv", "file:///a/../b", "file:///a/%2E./b", "file:///.."]
        {
            assert!(roots(uri).is_err(), "{uri}");
        }
    }

    #[test]
    fn an_answer_to_something_else_is_a_misuse() {
        let roots = InputResponse::from(ListRootsResult::default());
        let request = InputRequest::CreateMessage(Box::new(
            crate::model::sampling::CreateMessageRequestParams::new(vec![], 1),
        ));
        assert!(roots.write(&request, Revision::LATEST).is_err());
    }

    /// Nothing of a person is in a log.
    #[test]
    fn answers_print_without_what_they_say() {
        let answer = InputResponse::from(ElicitResult::accept(Json::parse("{\"a\":\"secret\"}").unwrap()));
        assert_eq!(format!("{answer:?}"), "Elicit(..)");
    }
}
