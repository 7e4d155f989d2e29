//! The rounds of a call whose server wants input before it goes on.
//!
//! <https://modelcontextprotocol.io/specification/2026-07-28/basic/patterns/mrtr>

use super::answer::Refusal;
use super::asks::{Asker, Inadmissible, admit};
use super::calls::{CallId, Reply};
use super::config::CallOptions;
use super::continuation::{Continuation, Unmet, merge};
use super::event::{Event, Waiting};
use super::link::Link;
use super::request::{Envelope, Prepared, Source};
use super::tasks::{TaskRole, Unfinished};
use super::visits::{Visits, may_send_off};
use crate::diagnostic::Diagnostic;
use crate::dialect::Revision;
use crate::error::{ApiMisuse, CallError, Full};
use crate::model::Json;
use crate::model::capabilities::ElicitationCapability;
use crate::model::elicitation::ElicitRequestParams;
use crate::model::input_required::{InputRequest, InputRequests, InputRequiredResult, InputResponses};
use crate::model::result::ResultType;
use crate::time::{Duration, Instant};
use crate::wire::jsonrpc;
use alloc::borrow::ToOwned;
use alloc::boxed::Box;
use alloc::collections::BTreeMap;
use alloc::string::String;
use alloc::vec::Vec;
use serde_json::value::RawValue;

/// The wait before a call is made again whose server asked nothing. Each further one in a row doubles it.
const FIRST_WAIT: Duration = Duration::from_millis(250);
/// Up to this.
const LONGEST_WAIT: Duration = Duration::from_secs(30);

/// What is kept of a call that may be answered with `input_required`: it is made again with the same parameters.
#[derive(Debug)]
pub(super) struct Origin {
    prepared: Prepared,
    /// How often the server has asked.
    rounds: usize,
    /// How often in a row it asked nothing.
    idle: u32,
    /// Pages that the user has agreed to visit, by their names, until they are done.
    pub(super) agreed: BTreeMap<String, String>,
    /// What the server last asked, and what it was answered, once the call is on its way again: people have answered,
    /// and are not to do so in vain if it fails.
    answered: Option<Answered>,
}

/// What a server asked in a round, and what it was answered.
struct Answered {
    result: Json,
    responses: InputResponses,
}

/// Prints neither.
impl core::fmt::Debug for Answered {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        write!(f, "Answered({})", self.responses.len())
    }
}

/// One round: what the server wants, and what is there of it.
#[derive(Default)]
pub(super) struct Round {
    result: Option<Json>,
    state: Option<String>,
    responses: InputResponses,
    /// Questions without an answer.
    pub(super) open: usize,
    /// When the call is made again though nothing was asked.
    pub(super) at: Option<Instant>,
    /// The server has not carried it out, because pages have to be visited first.
    pub(super) visits: Option<Box<Visits>>,
}

impl Round {
    /// One in which nothing is asked until then.
    pub(super) fn until(at: Instant) -> Self {
        Self { at: Some(at), ..Self::default() }
    }

    /// One of so many pages.
    pub(super) fn of_visits(open: usize, visits: Visits) -> Self {
        Self { open, visits: Some(Box::new(visits)), ..Self::default() }
    }

    fn take_asked(&mut self) -> Option<Answered> {
        let result = self.result.take()?;
        Some(Answered { result, responses: core::mem::take(&mut self.responses) })
    }
}

impl core::fmt::Debug for Round {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("Round").field("open", &self.open).field("at", &self.at).finish_non_exhaustive()
    }
}

/// The methods that may be answered so (MRTR-02, MRTR-03), in revisions that have it.
fn may_ask(revision: Revision, method: &str) -> bool {
    revision.dialect().result_type && matches!(method, "tools/call" | "prompts/get" | "resources/read")
}

impl Origin {
    fn new(prepared: Prepared) -> Self {
        let rounds = prepared.rounds();
        Self { prepared, rounds, idle: 0, agreed: BTreeMap::new(), answered: None }
    }

    pub(super) fn prepared(&self) -> &Prepared {
        &self.prepared
    }

    pub(super) fn is_augmented(&self) -> bool {
        self.prepared.is_augmented()
    }

    /// That the call waits so long.
    pub(super) fn waiting(&self, elapsed: Duration, delay: Duration, request_state: bool) -> Waiting {
        let method = self.prepared.method().to_owned();
        Waiting { method, rounds: self.rounds, elapsed, delay, request_state }
    }

    /// Counts a round that is not answered by hand; whether it is within the bound.
    pub(super) fn goes_on(&mut self, limit: usize) -> bool {
        let goes_on = !self.prepared.options.manual_input && self.rounds < limit;
        self.rounds += usize::from(goes_on);
        goes_on
    }

    fn stopped(&self, revision: Revision, result: Json, responses: InputResponses, why: Unmet) -> CallError {
        let continuation = self.continuation(revision, result, responses);
        CallError::InputRequired { why, continuation }
    }

    fn continuation(&self, revision: Revision, result: Json, responses: InputResponses) -> Box<Continuation> {
        let mut params = Vec::new();
        // They were written before.
        let _ = self.prepared.write_params(revision, &mut params);
        let method = self.prepared.method();
        Box::new(Continuation::new(method, &params, result, responses, self.rounds))
    }
}

impl Link {
    /// Appends the request of a call, which is noted. On an error nothing is.
    pub(super) fn begin(
        &mut self,
        now: Instant,
        source: &impl Source,
        options: CallOptions,
        envelope: &Envelope,
        out: &mut Vec<u8>,
    ) -> Result<CallId, ApiMisuse> {
        let patience = self.patience(&options);
        let (wire, revision) = (self.calls.next_wire(), envelope.revision());
        if !self.is_kept(revision, source) {
            envelope.write(out, wire, source, &options)?;
            let call = self.calls.send(now, patience, wire);
            self.claim(call, source, &options);
            self.goes_out(call, source);
            self.pursue(now, call, source, &options);
            return Ok(call);
        }
        let prepared = self.as_task(revision, Prepared::at(source, revision, options)?);
        envelope.write(out, wire, &prepared, &prepared.options)?;
        let call = self.calls.send(now, patience, wire);
        self.claim(call, &prepared, &prepared.options);
        self.goes_out(call, &prepared);
        self.calls.put_origin(call, Box::new(Origin::new(prepared)));
        Ok(call)
    }

    /// A call that waited for the era was sent: it is kept if it may have to be made again.
    pub(super) fn keep(&mut self, now: Instant, call: CallId, prepared: Prepared) {
        self.claim(call, &prepared, &prepared.options);
        self.goes_out(call, &prepared);
        self.pursue(now, call, &prepared, &prepared.options);
        let revision = self.details.as_deref().map(|details| details.revision);
        if revision.is_some_and(|revision| self.is_kept(revision, &prepared)) {
            self.calls.put_origin(call, Box::new(Origin::new(prepared)));
        }
    }

    /// Whether a call may have to be made again with the same parameters, or become a task.
    fn is_kept(&self, revision: Revision, source: &impl Source) -> bool {
        let elicits = self.config.capabilities.elicitation.as_ref();
        let method = source.method();
        may_ask(revision, method)
            || (may_send_off(revision, method) && elicits.is_some_and(ElicitationCapability::supports_url))
            || matches!(source.task(), TaskRole::Handed)
            || self.must_be_task(revision, source)
    }

    /// A result has come for a call: its end, or the beginning of a round.
    pub(super) fn result(&mut self, now: Instant, call: CallId, result: &RawValue) {
        if self.pursues(call) {
            return self.task_told(now, call, result);
        }
        let revision = self.details.as_deref().map(|details| details.revision);
        let text = result.get();
        // Looked for first, since that is cheap and hardly ever there.
        let asks = revision.is_some_and(|revision| revision.dialect().result_type)
            && self.calls.origin(call).is_some()
            && text.contains("input_required")
            && matches!(ResultType::of(result), Ok(ResultType::InputRequired));
        let outcome = if asks {
            self.begin_round(now, call, result).map(|result| result.map(Reply::Came))
        } else if revision.is_some_and(|revision| self.is_task(call, revision, result)) {
            self.begin_task(now, call, result)
        } else {
            Ok(Some(self.arrived(now, call, Json::from(result))))
        };
        match outcome {
            Ok(None) => {}
            Ok(Some(reply)) => self.settle(call, Ok(reply)),
            Err(error) => self.settle(call, Err(error)),
        }
    }

    /// Begins a round; the call then waits. An error ends it.
    fn begin_round(&mut self, now: Instant, call: CallId, raw: &RawValue) -> Result<Option<Json>, CallError> {
        let invalid = |reason: String| CallError::Invalid { reason };
        let asked: InputRequiredResult =
            jsonrpc::decode_at(raw.get(), "result").map_err(|error| invalid(error.message.into_owned()))?;
        let InputRequiredResult { mut input_requests, request_state: state, .. } = asked;
        if input_requests.is_empty() && state.is_none() {
            let reason =
                "expected `inputRequests` or `requestState` in a result that asks for input, found neither";
            return Err(invalid(reason.to_owned()));
        }
        // It does not exist any more, and a handler is not to rely on it (ELIC-19).
        if unname_pages(&mut input_requests) {
            let text = "expected no `elicitationId` in what the server asks, found one; it is left out";
            self.events.diagnose(Diagnostic::new("client", text));
        }
        let (Some(details), Some(origin)) = (self.details.as_deref(), self.calls.origin_mut(call)) else {
            return Ok(Some(raw.into()));
        };
        let (revision, limit) = (details.revision, self.config.limits.call_rounds);
        origin.rounds += 1;
        let inadmissible = |key: &String, why: Inadmissible| Unmet::Inadmissible {
            key: key.clone(),
            reason: why.reason().to_owned(),
        };
        let unmet = if origin.prepared.options.manual_input {
            Some(Unmet::Manual)
        } else if origin.rounds > limit {
            Some(Unmet::Rounds { limit })
        } else if !self.asks.has_room(input_requests.len()) {
            Some(Unmet::Full(Full::new("asked", self.asks.limit())))
        } else {
            let mut requests = input_requests.iter();
            requests.find_map(|(key, request)| {
                admit(&self.config, revision, request).err().map(|why| inadmissible(key, why))
            })
        };
        if let Some(why) = unmet {
            return Err(origin.stopped(revision, raw.into(), InputResponses::new(), why));
        }
        let open = input_requests.len();
        origin.idle = if open == 0 { origin.idle.saturating_add(1) } else { 0 };
        let at = (open == 0).then(|| now + wait(origin.idle));
        let stateful = state.is_some();
        self.calls.suspend(call, Round { result: Some(raw.into()), state, open, at, ..Round::default() });
        if let Some(at) = at {
            self.tell_waiting(now, call, at, stateful);
        }
        for (key, request) in input_requests {
            self.asks.begin(&mut self.events, Asker::Call(call, key), request);
        }
        Ok(None)
    }

    /// Tells that a call waits until then.
    pub(super) fn tell_waiting(&mut self, now: Instant, call: CallId, at: Instant, request_state: bool) {
        let elapsed = self.calls.elapsed(now, call);
        if let Some(origin) = self.calls.origin(call) {
            let waiting = origin.waiting(elapsed, at.saturating_since(now), request_state);
            self.events.push(Event::Waiting(call, waiting));
        }
    }

    /// An answer for a round; whether it was the last one, so that the call is to be made again.
    pub(super) fn input(
        &mut self,
        now: Instant,
        call: CallId,
        key: String,
        answer: Result<Json, Refusal>,
    ) -> bool {
        if self.pursues(call) {
            return self.task_answered(call, key, answer);
        }
        let Some(round) = self.calls.round_mut(call) else { return false };
        if round.visits.is_some() {
            return self.visited(now, call, &key, &answer);
        }
        match answer {
            Ok(json) => {
                round.responses.insert(key, json);
                round.open = round.open.saturating_sub(1);
                round.open == 0
            }
            Err(refusal) => {
                self.give_up(call, Unmet::Refused { key, refusal });
                false
            }
        }
    }

    /// Ends a call that waits for input.
    pub(super) fn give_up(&mut self, call: CallId, why: Unmet) {
        if self.pursues(call) {
            return self.unfinished(call, Unfinished::Input(why));
        }
        let Some(revision) = self.details.as_deref().map(|details| details.revision) else { return };
        let Some((round, origin)) = self.calls.take_round(call) else { return };
        let Round { result, responses, visits, .. } = round;
        if let Some(visits) = visits {
            return self.settle(call, Err(CallError::Server { error: visits.error, status: None }));
        }
        let result = result.unwrap_or_else(Json::empty_object);
        let error = origin.stopped(revision, result, responses, why);
        self.settle(call, Err(error));
    }

    /// How a call ends that failed: with what is needed to go on with it, if its server has asked for input.
    pub(super) fn interrupted(&mut self, call: CallId, cause: CallError) -> CallError {
        let continuation = match (&cause, self.details.as_deref()) {
            (CallError::InputRequired { .. }, _) | (_, None) => None,
            (_, Some(details)) => {
                self.calls.origin_mut(call).map(|origin| origin.answered.take()).and_then(|answered| {
                    let asked = self.calls.round_mut(call).and_then(Round::take_asked).or(answered)?;
                    let origin = self.calls.origin(call)?;
                    Some(origin.continuation(details.revision, asked.result, asked.responses))
                })
            }
        };
        match continuation {
            Some(continuation) => CallError::Interrupted { cause: Box::new(cause), continuation },
            None => cause,
        }
    }

    /// A call whose time has come to be made again.
    pub(super) fn due(&self, now: Instant) -> Option<CallId> {
        self.calls.next_round().filter(|&(at, _)| at <= now).map(|(_, call)| call)
    }

    /// A call as it is made again, under the id that comes with it. `None` when it does not wait, or is waited for.
    pub(super) fn again(&mut self, now: Instant, call: CallId) -> Option<(i64, Prepared)> {
        if self.pursues(call) {
            return self.task_again(now, call);
        }
        let revision = self.details.as_deref()?.revision;
        if self.calls.round_mut(call)?.open > 0 {
            return None;
        }
        let (mut round, mut origin) = self.calls.take_round(call)?;
        let (mut params, mut merged) = (Vec::new(), Vec::new());
        let written = origin
            .prepared
            .write_params(revision, &mut params)
            .and_then(|()| merge(&params, &round.responses, round.state.as_deref(), &mut merged));
        let prepared = origin.prepared.with_params(revision, merged);
        origin.answered = round.take_asked();
        self.calls.put_origin(call, origin);
        if let Err(misuse) = written {
            self.settle(call, Err(CallError::Misuse(misuse)));
            return None;
        }
        let wire = self.calls.resend(now, call)?;
        self.goes_out(call, &prepared);
        Some((wire, prepared))
    }
}

/// Takes the names away that pages had in a revision before; whether there was any.
pub(super) fn unname_pages(requests: &mut InputRequests) -> bool {
    let pages = requests.values_mut().filter_map(|request| match request {
        InputRequest::Elicit(ElicitRequestParams::Url(page)) => page.elicitation_id.take(),
        _ => None,
    });
    pages.count() > 0
}

fn wait(idle: u32) -> Duration {
    let doubled = FIRST_WAIT.saturating_mul(1_u32.checked_shl(idle.saturating_sub(1)).unwrap_or(u32::MAX));
    doubled.min(LONGEST_WAIT)
}
