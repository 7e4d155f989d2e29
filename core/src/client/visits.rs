//! Pages that a server of 2025-11-25 wants visited before it carries out a call: error -32042.
//!
//! <https://modelcontextprotocol.io/specification/2025-11-25/client/elicitation#url-elicitation-required-error>

use super::answer::Refusal;
use super::asks::{Asker, admit};
use super::calls::CallId;
use super::link::Link;
use super::rounds::Round;
use crate::dialect::Revision;
use crate::error::{CallError, ErrorObject, code};
use crate::model::Json;
use crate::model::elicitation::{
    ElicitAction, ElicitRequestParams, ElicitResult, ElicitationCompleteNotificationParams,
};
use crate::model::error_data::UrlElicitationRequiredData;
use crate::model::input_required::InputRequest;
use crate::time::{Duration, Instant};
use alloc::borrow::ToOwned;
use alloc::collections::BTreeMap;
use alloc::string::String;

/// How long a server may take to say that the pages have done their part, until it is asked again: it need not say so.
const PATIENCE: Duration = Duration::from_secs(30);

/// What a call waits for.
pub(super) struct Visits {
    /// What the call ends with if the user does not agree.
    pub(super) error: ErrorObject,
    /// Pages that have not done their part, as far as the server has said, by their names.
    left: BTreeMap<String, String>,
}

/// The methods whose calls are made again after that, in revisions that have it.
pub(super) fn may_send_off(revision: Revision, method: &str) -> bool {
    revision.dialect().elicitation_id && matches!(method, "tools/call" | "prompts/get" | "resources/read")
}

impl Link {
    /// Whether an error of a call only asks for pages to be visited first that this client can send its user to; the call
    /// then waits, and is made again.
    ///
    /// Whoever has agreed to a page that is not done yet is not asked about it again.
    pub(super) fn is_sent_off(&mut self, now: Instant, call: CallId, error: &ErrorObject) -> bool {
        let Some(details) = self.details.as_deref() else { return false };
        if error.code != i64::from(code::URL_ELICITATION_REQUIRED)
            || !details.revision.dialect().elicitation_id
        {
            return false;
        }
        let Some(required) = UrlElicitationRequiredData::of(error) else { return false };
        let (mut pages, mut left) = (BTreeMap::new(), BTreeMap::new());
        for page in required.elicitations {
            let ElicitRequestParams::Url(ref url) = page else { return false };
            let Some(id) = url.elicitation_id.clone() else { return false };
            left.insert(id.clone(), url.url.clone());
            let page = InputRequest::Elicit(page);
            if admit(&self.config, details.revision, &page).is_err() {
                return false;
            }
            pages.insert(id, page);
        }
        let limit = self.config.limits.call_rounds;
        let has_room = !pages.is_empty() && self.asks.has_room(pages.len());
        let Some(origin) = self.calls.origin_mut(call).filter(|_| has_room) else { return false };
        if !origin.goes_on(limit) {
            return false;
        }
        pages.retain(|id, _| origin.agreed.get(id) != left.get(id));
        let visits = Visits { error: error.clone(), left };
        self.calls.suspend(call, Round::of_visits(pages.len(), visits));
        if pages.is_empty() {
            self.wait_for_pages(now, call);
        }
        for (id, page) in pages {
            self.asks.begin(&mut self.events, Asker::Call(call, id), page);
        }
        true
    }

    /// What the user thinks of a page; whether the call is to be made again at once.
    pub(super) fn visited(
        &mut self,
        now: Instant,
        call: CallId,
        page: &str,
        answer: &Result<Json, Refusal>,
    ) -> bool {
        let agreed = answer.as_ref().is_ok_and(|answer| {
            answer.decode::<ElicitResult>().is_ok_and(|result| result.action == ElicitAction::Accept)
        });
        let Some(round) = self.calls.round_mut(call) else { return false };
        let Some(visits) = &round.visits else { return false };
        if !agreed {
            let error = CallError::Server { error: visits.error.clone(), status: None };
            self.settle(call, Err(error));
            return false;
        }
        let url = visits.left.get(page).cloned();
        let is_done = visits.left.is_empty();
        round.open = round.open.saturating_sub(1);
        let open = round.open;
        if let (Some(url), Some(origin)) = (url, self.calls.origin_mut(call)) {
            origin.agreed.insert(page.to_owned(), url);
        }
        if open == 0 && !is_done {
            self.wait_for_pages(now, call);
        }
        open == 0 && is_done
    }

    fn wait_for_pages(&mut self, now: Instant, call: CallId) {
        self.calls.schedule(call, now + PATIENCE);
        self.tell_waiting(now, call, now + PATIENCE, false);
    }

    /// A page has done its part. One that nobody waits for is nobody's fault.
    pub(super) fn page_is_done(&mut self, now: Instant, done: &ElicitationCompleteNotificationParams) {
        let waiting: alloc::vec::Vec<CallId> = self.calls.suspended().collect();
        for call in waiting {
            let Some(round) = self.calls.round_mut(call) else { continue };
            let Some(visits) = &mut round.visits else { continue };
            let was_left = visits.left.remove(&done.elicitation_id).is_some();
            let goes_on = was_left && visits.left.is_empty() && round.open == 0;
            if let Some(origin) = self.calls.origin_mut(call) {
                origin.agreed.remove(&done.elicitation_id);
            }
            if goes_on {
                self.calls.schedule(call, now);
            }
        }
    }
}
