//! The calls that are running: found by their own id from inside, by the request's id from outside.

use alloc::boxed::Box;
use alloc::collections::VecDeque;
use alloc::sync::Arc;

use super::call::{Call, CallId, Progress, WriteResult, resource_not_found};
use super::session::SessionState;
use super::subscription::{Listen, Subscription};
use super::target::{ProtocolRequest, Target};
use crate::dialect::Revision;
use crate::error::{ApiMisuse, ErrorObject};
use crate::model::ResultKind;
use crate::model::logging::LoggingLevel;
use crate::wire::jsonrpc::{ProgressToken, RequestId};

/// A call that has been handed out and not been answered.
#[derive(Debug)]
pub(super) struct Running {
    pub(super) id: CallId,
    pub(super) request: RequestId,
    pub(super) revision: Revision,
    /// The batch that the request came in.
    pub(super) batch: Option<u64>,
    token: Option<ProgressToken>,
    reported: Option<f64>,
    /// The least severe log message that the request asked for itself.
    pub(super) level: Option<LoggingLevel>,
    /// What it is for, if that is needed for its answer.
    target: Option<Target>,
    /// What comes of it, if the application lets it proceed.
    sequel: Option<Sequel>,
    /// Whether its result may ask for input.
    may_require_input: bool,
    /// Whether it may go on as a task.
    may_be_task: bool,
    /// The length of its parameters, its id and its token.
    size: usize,
}

impl Running {
    /// The token to report `progress` under. `None` when nobody asked, or when it does not go forward
    /// (PRG-04).
    pub(super) fn advance(&mut self, progress: &Progress) -> Option<&ProgressToken> {
        let token = self.token.as_ref()?;
        let forward = progress.progress.is_finite()
            && self.reported.is_none_or(|reported| reported < progress.progress);
        if !forward {
            return None;
        }
        self.reported = Some(progress.progress);
        Some(token)
    }
}

/// What comes of a request that is more than answered.
#[derive(Debug)]
pub(super) enum Sequel {
    /// A session in this state.
    Open(Box<SessionState>),
    /// A subscription.
    Listen(Box<(Listen, Subscription)>),
}

/// All running calls. Ids are given out in rising order, so the list is sorted by them; mostly the first is over first.
#[derive(Debug, Default)]
pub(super) struct InFlight {
    running: VecDeque<Running>,
    /// The length of the parameters, ids and tokens of all of them.
    size: usize,
    last: u64,
}

impl InFlight {
    /// Notes that `call` runs, and names it.
    pub(super) fn begin(&mut self, call: &Call, batch: Option<u64>, sequel: Option<Sequel>) -> CallId {
        let id = self.next();
        let size = call.text.len() + call.request.size() + call.token.as_ref().map_or(0, ProgressToken::size);
        self.size += size;
        self.running.push_back(Running {
            id,
            request: call.request.clone(),
            revision: call.revision,
            batch,
            token: call.token.clone(),
            reported: None,
            level: call.level,
            target: matches!(call.target, Target::Resource(_) | Target::Template(_) | Target::Protocol(_))
                .then(|| call.target.clone()),
            sequel,
            may_require_input: call.revision.dialect().result_type && call.target.may_require_input(),
            may_be_task: call.may_be_task(),
            size,
        });
        id
    }

    /// Notes a request that waits for something else than the application.
    pub(super) fn wait(
        &mut self,
        request: RequestId,
        revision: Revision,
        batch: Option<u64>,
        target: Target,
    ) -> CallId {
        let id = self.next();
        self.running.push_back(Running {
            id,
            request,
            revision,
            batch,
            token: None,
            reported: None,
            level: None,
            target: Some(target),
            sequel: None,
            may_require_input: false,
            may_be_task: false,
            size: 0,
        });
        id
    }

    fn next(&mut self) -> CallId {
        self.last += 1;
        CallId(self.last)
    }

    /// What comes of a call, once.
    pub(super) fn take_sequel(&mut self, id: CallId) -> Option<Sequel> {
        self.get_mut(id)?.sequel.take()
    }

    /// Whether a session may come of the call that began last. What would be the next one waits for that.
    pub(super) fn opens(&self) -> bool {
        self.running.back().is_some_and(|running| matches!(running.sequel, Some(Sequel::Open(_))))
    }

    /// Whether something has to be first in the response.
    pub(super) fn is_bare(&self) -> bool {
        self.running.iter().any(|running| running.sequel.is_some())
    }

    /// The call, if something may be said on its behalf before its answer: not where that would come before what
    /// has to be first.
    pub(super) fn speaking(&mut self, id: CallId) -> Option<&mut Running> {
        self.get_mut(id).filter(|running| running.sequel.is_none())
    }

    /// The error that takes the place of a result, if that is a read which found nothing: the client could
    /// not tell it from a resource without contents (RES-14).
    pub(super) fn missing(&self, id: CallId, result: &dyn WriteResult) -> Option<ErrorObject> {
        let running = self.running.get(self.place(id)?)?;
        let uri = running.target.as_ref()?.uri()?;
        result.is_missing().then(|| resource_not_found(uri))
    }

    /// What the machine answers itself, if that is what the call is for.
    pub(super) fn protocol(&self, id: CallId) -> Option<Arc<ProtocolRequest>> {
        match self.running.get(self.place(id)?)?.target.as_ref()? {
            Target::Protocol(request) => Some(Arc::clone(request)),
            _ => None,
        }
    }

    /// Why a result must not be sent: it would tell the client of a session or a subscription that there is not, or of a
    /// task that it cannot follow (TASK-03), or it asks for input although the revision or the method has no such results (MRTR-03), asks nothing (MRTR-05),
    /// or something that clients cannot be asked for (MRTR-07).
    pub(super) fn unfit(&self, id: CallId, result: &dyn WriteResult) -> Option<ApiMisuse> {
        let running = self.running.get(self.place(id)?)?;
        if running.sequel.is_some() {
            let what =
                "a handshake or a subscription may be refused or gone on with, not answered with a result";
            return Some(ApiMisuse::new(what));
        }
        if result.kind() == ResultKind::Task && !running.may_be_task {
            let what = "this request cannot go on as a task: its tool does not support tasks, or its client has not \
                        declared them";
            return Some(ApiMisuse::new(what));
        }
        let result = result.input_required()?;
        let what = if !running.may_require_input {
            "this request cannot be answered with a result that asks for input"
        } else if result.input_requests.is_empty() && result.request_state.is_none() {
            "a result that asks for input must have input requests or a request state"
        } else {
            let wrong = result.input_requests.values().find_map(|request| request.check().err())?;
            return Some(ApiMisuse::new(alloc::format!("a result asks for what cannot be asked: {wrong}")));
        };
        Some(ApiMisuse::new(what))
    }

    pub(super) fn get_mut(&mut self, id: CallId) -> Option<&mut Running> {
        let place = self.place(id)?;
        self.running.get_mut(place)
    }

    /// The call is over: takes it out. `None` for one that is unknown or over already.
    pub(super) fn finish(&mut self, id: CallId) -> Option<Running> {
        let place = self.place(id)?;
        self.remove(place)
    }

    /// Takes out the call that answers `request`.
    pub(super) fn cancel(&mut self, request: &RequestId) -> Option<Running> {
        let place = self.running.iter().position(|running| running.request == *request)?;
        self.remove(place)
    }

    /// The call that began first.
    pub(super) fn first(&self) -> Option<CallId> {
        self.running.front().map(|running| running.id)
    }

    /// Takes out any call.
    pub(super) fn pop(&mut self) -> Option<Running> {
        self.remove(0)
    }

    fn remove(&mut self, place: usize) -> Option<Running> {
        let running = self.running.remove(place)?;
        self.size -= running.size;
        Some(running)
    }

    pub(super) fn contains(&self, request: &RequestId) -> bool {
        self.running.iter().any(|running| running.request == *request)
    }

    pub(super) fn len(&self) -> usize {
        self.running.len()
    }

    /// What their parameters, ids and tokens come to, in bytes.
    pub(super) fn size(&self) -> usize {
        self.size
    }

    pub(super) fn is_empty(&self) -> bool {
        self.running.is_empty()
    }

    fn place(&self, id: CallId) -> Option<usize> {
        if self.first() == Some(id) {
            return Some(0);
        }
        self.running.binary_search_by_key(&id, |running| running.id).ok()
    }
}
