//! The obligation to answer a call.

use std::sync::Arc;

use mcp_proto::error::{ErrorObject, code};
use mcp_proto::schema::OutputCheck;
use mcp_proto::server::{Target, WriteResult};

use super::{CallState, Report};
use crate::around::{Answer, AnswerKind};
use crate::handler::label;

/// The obligation to answer a call. Dropped unanswered, it answers an internal error.
pub(crate) struct Responder {
    pub(super) shared: Arc<CallState>,
    pub(super) answered: bool,
    /// The call goes on under another responder.
    pub(super) kept: bool,
}

impl Responder {
    pub(crate) fn new(shared: Arc<CallState>) -> Self {
        Self { shared, answered: false, kept: false }
    }

    pub(crate) fn target(&self) -> &Target {
        self.shared.target()
    }

    /// Opens the state that came, if one came. `None` when it is not one that was given for this request: then it
    /// is refused, and nothing is to be done (MRTR-12).
    pub(crate) fn open(self) -> Option<Self> {
        let Err(error) = self.shared.open() else { return Some(self) };
        let what = label(self.target());
        self.shared.outlet.report(Report::theirs(what, error.to_string()));
        self.fail(error.into());
        None
    }

    pub(crate) fn output_check(&self) -> OutputCheck {
        self.shared.call.output_check()
    }

    pub(crate) fn report(&self, detail: impl Into<String>) {
        self.shared.report(detail);
    }

    /// Answers with a result.
    pub(crate) fn respond(mut self, result: impl WriteResult + Send + 'static) {
        self.answered = true;
        match self.shared.hooks() {
            Some(answer) => answer.set(Answer::result(result)),
            None => {
                self.shared.ended(Answer::kind_of(&result));
                self.shared.outlet.respond(self.shared.id, &result);
            }
        }
    }

    /// Answers with an error that the peer may read.
    pub(crate) fn fail(mut self, error: ErrorObject) {
        self.answer(error);
    }

    /// Answers what the protocol answers by itself.
    pub(crate) fn proceed(mut self) {
        self.answered = true;
        match self.shared.hooks() {
            Some(answer) => answer.set(Answer::own()),
            None => {
                self.shared.ended(AnswerKind::Complete);
                self.shared.outlet.proceed(self.shared.id);
            }
        }
    }

    /// Answers that the caller lacks some of these scopes.
    pub(crate) fn forbid(mut self, scopes: Vec<String>) {
        self.answered = true;
        match self.shared.hooks() {
            Some(answer) => answer.set(Answer::insufficient_scope(scopes)),
            None => {
                self.shared.ended(AnswerKind::Error(code::INVALID_REQUEST.into()));
                self.shared.outlet.forbid(self.shared.id, scopes);
            }
        }
    }

    /// Answers `internal error` and keeps the reason on this side.
    pub(crate) fn fail_internally(mut self, detail: &str) {
        self.shared.report(detail);
        self.answer(internal());
    }

    fn answer(&mut self, error: ErrorObject) {
        self.answered = true;
        match self.shared.hooks() {
            Some(answer) => answer.set(error.into()),
            None => {
                self.shared.ended(AnswerKind::Error(error.code));
                self.shared.outlet.fail(self.shared.id, &error);
            }
        }
    }
}

/// What a peer is told of what is none of its business.
pub(crate) fn internal() -> ErrorObject {
    ErrorObject::new(code::INTERNAL, "internal error")
}

impl Drop for Responder {
    fn drop(&mut self) {
        if !self.answered {
            self.answer(internal());
        }
        // Where hooks are around it, it is over when they are.
        if self.shared.hooks().is_none() && !self.kept {
            self.shared.outlet.done(self.shared.id);
        }
    }
}
