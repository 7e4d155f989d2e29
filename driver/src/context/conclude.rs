//! What becomes of a run of a handler that has asked something: an outcome, a result that asks the client, or on
//! legacy connections requests on behalf of the handler and another run.

use std::sync::Arc;

use mcp_proto::dialect::Era;
use mcp_proto::error::{ErrorObject, code};
use mcp_proto::limits::Limits;
use mcp_proto::model::{
    ElicitAction, ElicitRequestParams, ElicitRequestUrlParams, ElicitResult, In, InputRequest,
    InputRequiredResult, InputResponses, Json, UrlElicitationRequiredData,
};
use mcp_proto::server::{AskError, missing_capabilities};

use super::ask::{Ask, Unanswered};
use super::asking::{Pollable, Slot, all, elicitation_id};
use super::input::InputRequired;
use super::journal::{Journal, Kept};
use super::{CallState, Context, Responder};
use crate::handler;
use crate::server::run;
use crate::tool::{Failure, ToolError};

/// What is to be said.
enum Verdict<T> {
    Outcome(Result<T, ToolError>),
    /// The client is to be asked, and to bring back what is remembered.
    Ask(InputRequiredResult, Kept),
    Fail(ErrorObject),
    /// A legacy client is to be asked on behalf of the handler.
    Round(InputRequired),
}

impl Responder {
    /// Says what has to be said before an outcome counts. What is left is an outcome that counts.
    pub(crate) fn conclude<T>(self, outcome: Result<T, ToolError>) -> Option<(Self, Result<T, ToolError>)> {
        match self.shared.verdict(outcome) {
            Verdict::Outcome(outcome) => return Some((self, outcome)),
            Verdict::Ask(mut result, kept) => {
                if !kept.is_empty() {
                    match kept.seal(&self.shared) {
                        Ok(state) => result.request_state = Some(state),
                        Err(error) => {
                            let text = format!("the request state cannot be sealed: {error}");
                            return Some((self, Err(ToolError::internal(text))));
                        }
                    }
                }
                self.respond(result);
            }
            Verdict::Fail(error) => self.fail(error),
            Verdict::Round(required) => self.another_round(required),
        }
        None
    }

    /// Asks a legacy client what the handler wants to know, and lets it run again.
    fn another_round(self, required: InputRequired) {
        let Some((next, responder)) = self.succeed() else { return };
        let outlet = next.outlet.clone();
        outlet.spawn(Box::pin(async move {
            let questions = required.requests.into_iter().map(|(key, request)| Question { key, request });
            match ask_all(&next, questions.collect()).await {
                Ok(responses) => {
                    next.journal(|journal| {
                        journal.manual.responses = Some(responses);
                        journal.kept.own = required.state;
                    });
                    run(&next, responder);
                }
                Err(unanswered) => handler::tell(responder, unanswered.into()),
            }
        }));
    }

    /// The call goes on with another run, whose state takes the place of this one's; unless it is over.
    fn succeed(mut self) -> Option<(Arc<CallState>, Self)> {
        self.answered = true;
        self.kept = true;
        let journal = self.shared.take_journal().unwrap_or_default();
        let next = self.shared.again(journal.next_round());
        let responder = Self::new(next.clone());
        next.outlet.adopt(&next).then_some((next, responder))
    }
}

struct Question {
    key: String,
    request: InputRequest,
}

/// All answers, or the first reason why there is none.
async fn ask_all(state: &Arc<CallState>, questions: Vec<Question>) -> Result<InputResponses, Unanswered> {
    let cx = Context::new(state.clone());
    let apart = |key: &str| format!("\0{key}");
    let keys: Vec<String> = questions.iter().map(|question| question.key.clone()).collect();
    let ask = |Question { key, request }| {
        Ask::new(&cx, apart(&key), Ok(request), Box::new(|it: &Json| Ok(it.clone())))
    };
    let mut slots: Vec<Slot<Json>> = questions.into_iter().map(|question| Slot::new(ask(question))).collect();
    let mut pollable: Vec<&mut (dyn Pollable + Send)> =
        slots.iter_mut().map(|slot| slot as &mut (dyn Pollable + Send)).collect();
    let asked = all(&mut pollable).await;
    let answers = asked.and_then(|()| {
        keys.iter().zip(&mut slots).map(|(key, slot)| Ok((key.clone(), slot.take()?))).collect()
    });
    let apart: Vec<String> = keys.iter().map(|key| apart(key)).collect();
    state.journal(|journal| journal.forget_asked(&apart));
    answers
}

impl CallState {
    fn verdict<T>(&self, outcome: Result<T, ToolError>) -> Verdict<T> {
        if !self.has_journal() && !matches!(&outcome, Err(ToolError(failure)) if failure.asks()) {
            return Verdict::Outcome(outcome);
        }
        self.journal(|journal| self.judge(journal, outcome))
    }

    fn judge<T>(&self, journal: &mut Journal, outcome: Result<T, ToolError>) -> Verdict<T> {
        match (self.call.era(), outcome) {
            (Era::Modern, Err(ToolError(Failure::Missing(required, _)))) => {
                Verdict::Fail(missing_capabilities(*required))
            }
            (Era::Legacy, Err(ToolError(Failure::Missing(_, text)))) => shown(text),
            (_, Err(ToolError(Failure::Input(_) | Failure::Urls(_)))) if self.is_task() => internal(
                "a task cannot begin another round: it asks with `Context::elicit` and its kind".into(),
            ),
            (Era::Modern, Err(ToolError(Failure::Input(required)))) => self.ask(journal, *required),
            (Era::Legacy, Err(ToolError(Failure::Input(required)))) => self.round(journal, *required),
            (Era::Modern, Err(ToolError(Failure::Urls(pages)))) => self.send_to(journal, pages),
            (Era::Legacy, Err(ToolError(Failure::Urls(pages)))) => self.demand(pages),
            (_, outcome) if journal.open.is_empty() => Verdict::Outcome(outcome),
            _ => self.ask(journal, InputRequired::new()),
        }
    }

    /// A result that asks for `required`, and for what the handler has asked besides.
    fn ask<T>(&self, journal: &mut Journal, required: InputRequired) -> Verdict<T> {
        match self.askable(required.requests.values()) {
            Err(AskError::Missing { required }) => return Verdict::Fail(missing_capabilities(*required)),
            Err(error) => return internal(error.to_string()),
            Ok(()) => {}
        }
        let mut result = InputRequiredResult::new();
        result.input_requests = std::mem::take(&mut journal.open);
        result.input_requests.extend(required.requests);
        let mut kept = std::mem::take(&mut journal.kept);
        kept.own = required.state;
        if kept.is_empty() && result.input_requests.is_empty() {
            return internal(NOTHING_ASKED.into());
        }
        Verdict::Ask(result, kept)
    }

    fn round<T>(&self, journal: &Journal, required: InputRequired) -> Verdict<T> {
        let limits: &Limits = &self.outlet.config().limits;
        let nothing = required.requests.is_empty() && required.state.is_none();
        if nothing || !self.target().may_require_input() {
            return internal(NOTHING_ASKED.into());
        }
        if limits.input_rounds == 0 {
            return shown("the client cannot be asked for input".into());
        }
        if journal.manual.rounds >= limits.input_rounds {
            return shown(format!(
                "the client was asked {} times, and that did not suffice",
                limits.input_rounds
            ));
        }
        Verdict::Round(required)
    }

    /// A modern client is to send its user to pages.
    fn send_to<T>(&self, journal: &mut Journal, pages: Vec<ElicitRequestUrlParams>) -> Verdict<T> {
        let mut required = InputRequired::new();
        for (place, page) in pages.into_iter().enumerate() {
            let key = page.elicitation_id.clone().unwrap_or_else(|| format!("page-{}", place + 1));
            let answer = journal.manual.responses.as_ref().and_then(|responses| responses.get(&key));
            let answer = answer.and_then(|answer| answer.decode::<ElicitResult>().ok());
            // Asked again and again, whoever said no would never be rid of it.
            match answer.map(|answer| answer.action) {
                Some(ElicitAction::Decline) => return Verdict::Outcome(Err(Unanswered::Declined.into())),
                Some(ElicitAction::Cancel) => return Verdict::Outcome(Err(Unanswered::Cancelled.into())),
                Some(ElicitAction::Accept) | None => {}
            }
            required = required.ask(key, ElicitRequestParams::from(page));
        }
        self.ask(journal, required)
    }

    /// A legacy client is told by an error that its user has to visit pages first, if it understands that one.
    fn demand<T>(&self, mut pages: Vec<ElicitRequestUrlParams>) -> Verdict<T> {
        let revision = self.call.revision();
        let able = self.call.client().capabilities.elicitation.as_ref().is_some_and(|it| it.supports_url());
        if !(able && revision.dialect().elicitation_id) {
            let texts: Vec<_> = pages.iter().map(|page| format!("{}: {}", page.message, page.url)).collect();
            return shown(texts.join("\n"));
        }
        for page in &mut pages {
            page.elicitation_id.get_or_insert_with(elicitation_id);
        }
        let mut error = ErrorObject::new(code::URL_ELICITATION_REQUIRED, "pages have to be visited first");
        let data = UrlElicitationRequiredData::new(pages);
        error.data = Json::new(&In(revision, &data)).ok().map(Into::into);
        Verdict::Fail(error)
    }
}

const NOTHING_ASKED: &str =
    "the handler wants input, but asks nothing, or in answer to a method that may not ask";

fn shown<T>(text: String) -> Verdict<T> {
    Verdict::Outcome(Err(ToolError(Failure::Shown(text))))
}

fn internal<T>(text: String) -> Verdict<T> {
    Verdict::Outcome(Err(ToolError(Failure::Internal(text))))
}
