//! One `subscriptions/listen`: what it is for, and what waits for its reader.
//!
//! <https://modelcontextprotocol.io/specification/2026-07-28/basic/patterns/subscriptions>

use alloc::boxed::Box;
use alloc::string::{String, ToString};
use alloc::sync::Arc;
use alloc::vec::Vec;

use super::config::Config;
use super::notify;
use super::principal::Principal;
use super::refusal::Refusal;
use super::session::ClientDetails;
use super::tasks::{self, TaskDetail};
use super::uri;
use super::visible::{View, Viewer};
use crate::backlog::Backlog;
use crate::change::{Change, TaskChange};
use crate::diagnostic::Diagnostic;
use crate::dialect::Revision;
use crate::error::{ApiMisuse, ErrorObject, code};
use crate::limits::Limits;
use crate::model::meta::{RequestMeta, SERVER_INFO, SUBSCRIPTION_ID};
use crate::model::result::EmptyResult;
use crate::model::subscriptions::{
    SubscriptionFilter, SubscriptionsAcknowledgedNotificationParams, SubscriptionsListenRequestParams,
};
use crate::model::{In, Json, WithMeta};
use crate::wanted::{Wanted, Watched};
use crate::wire::jsonrpc::{self, RequestId};

/// Somebody wants to listen. Answer it with an [`Admission`].
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Listen {
    /// What of the wanted this server honours (SUB-06).
    pub wanted: Wanted,
    /// Whom the application has recognised, if anybody.
    pub principal: Option<Arc<Principal>>,
    /// Who the client says it is.
    pub client: Arc<ClientDetails>,
    /// The revision of the request.
    pub revision: Revision,
}

/// Whether somebody may listen.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Admission {
    /// Yes, but for tasks. Changes that are published from now on reach the listener.
    Granted,
    /// Yes, for so much of what is wanted. The same of that. Tasks are told of at once, and may only be those that
    /// [`Tasks::listen`](super::Tasks::listen) leaves.
    Partly(Wanted),
    /// As many listen as [`Limits::listens`](crate::limits::Limits::listens) allows. Over HTTP this is
    /// answered 503.
    Full,
    /// No, and why.
    Refused(ErrorObject),
}

impl Listen {
    pub(super) fn new(
        wanted: Wanted,
        principal: Option<Arc<Principal>>,
        client: Arc<ClientDetails>,
        revision: Revision,
    ) -> Self {
        Self { wanted, principal, client, revision }
    }
}

/// How many bytes may wait to be sent before further notifications are kept back, so that repeats among them can
/// be left out.
pub(super) fn ahead_of(limits: &Limits) -> usize {
    limits.transmit.min(64 << 10)
}

/// A subscription, from its request on.
#[derive(Debug)]
pub(super) struct Subscription {
    pub(super) request: RequestId,
    revision: Revision,
    wanted: Wanted,
    /// Who listens, where it matters.
    viewer: Option<Box<Viewer>>,
    pub(super) waiting: Waiting,
}

impl Subscription {
    pub(super) fn new(
        request: RequestId,
        revision: Revision,
        wanted: Wanted,
        viewer: Option<Viewer>,
    ) -> Self {
        let viewer = viewer.map(Box::new);
        Self { request, revision, wanted, viewer, waiting: Waiting::default() }
    }

    /// Whether it is to be told of `change`.
    pub(super) fn is_told(&self, change: &Change, config: &Config) -> bool {
        let sees = match change {
            Change::Resource(uri) => View::new(config, self.viewer.as_deref()).is_told_of(uri),
            _ => true,
        };
        self.wanted.covers(change) && sees
    }

    /// It is let in for so much, or for all that it wanted but tasks: which of those are whose, only their table knows.
    pub(super) fn let_in(&mut self, admitted: Option<Wanted>, limits: &Limits) {
        match admitted {
            Some(wanted) => self.wanted = wanted,
            None => self.wanted.tasks = Watched::new(),
        }
        self.waiting.forget_all_but(&self.wanted);
        // How they are is told at first, whatever has changed since.
        for task in self.wanted.tasks.iter() {
            self.waiting.keep_back(true, &Change::Task(TaskChange::new(task.clone())), limits);
        }
    }

    pub(super) fn revision(&self) -> Revision {
        self.revision
    }

    /// Appends the notification that is to come before all others (SUB-03, SUB-06).
    pub(super) fn write_acknowledgement(&self, out: &mut Vec<u8>) -> Result<(), ApiMisuse> {
        let mut filter = SubscriptionFilter::new();
        let honoured = |kind: bool| kind.then_some(true);
        filter.tools_list_changed = honoured(self.wanted.tools);
        filter.prompts_list_changed = honoured(self.wanted.prompts);
        filter.resources_list_changed = honoured(self.wanted.resources);
        filter.resource_subscriptions = self.wanted.watched.iter().map(|uri| uri.to_string()).collect();
        if !self.wanted.tasks.is_empty() {
            let ids: Vec<&str> = self.wanted.tasks.iter().map(|id| &**id).collect();
            filter.extra.extend(Json::new(&ids).ok().map(|ids| (TASK_IDS.into(), ids)));
        }
        let params = SubscriptionsAcknowledgedNotificationParams::new(filter);
        let id = self.id();
        let entries = [(SUBSCRIPTION_ID, &id)];
        let params = WithMeta::new(&params, &entries);
        let method = "notifications/subscriptions/acknowledged";
        jsonrpc::write_notification(out, method, Some(&In(self.revision, &params)))
    }

    /// Appends what tells of `change`, which is not of a task.
    pub(super) fn write(&self, change: &Change, out: &mut Vec<u8>) -> Result<(), ApiMisuse> {
        notify::change(change, Some(&self.request), out)
    }

    /// Appends what tells how a task is.
    pub(super) fn write_task(&self, task: &TaskDetail, out: &mut Vec<u8>) -> Result<(), ApiMisuse> {
        notify::task(task, &self.request, self.revision, out)
    }

    /// Appends the result that ends it in good order (SUB-13, SUB-14).
    pub(super) fn write_end(&self, config: &Config, out: &mut Vec<u8>) -> Result<(), ApiMisuse> {
        let (result, id) = (EmptyResult::default(), self.id());
        let named = config.server_info().map(|info| (SERVER_INFO, info));
        let entries: Vec<_> = [(SUBSCRIPTION_ID, &id)].into_iter().chain(named).collect();
        jsonrpc::write_result(out, &self.request, &In(self.revision, &WithMeta::new(&result, &entries)))
    }

    fn id(&self) -> Json {
        Json::new(&self.request).unwrap_or_else(|_| Json::empty_object())
    }
}

/// Changes that a listener is still to be told, oldest first, each once.
#[derive(Debug, Default)]
pub(super) struct Waiting {
    changes: Backlog<Change>,
    /// The task whose turn it is, until its table has said how it is. Everything else waits.
    reading: Option<TaskChange>,
}

impl Waiting {
    /// Whether there is something that only room is needed for.
    pub(super) fn is_behind(&self) -> bool {
        self.reading.is_none() && !self.changes.is_empty()
    }

    /// Adds a change if it has to wait: because enough is on its way, or because others wait already. Says
    /// whether it has.
    pub(super) fn keep_back(&mut self, ahead: bool, change: &Change, limits: &Limits) -> bool {
        let waits = ahead || self.reading.is_some() || !self.changes.is_empty();
        if waits {
            self.changes.merge(change.clone(), limits);
        }
        waits
    }

    /// The next one to be told. If it is a task, nothing more comes until that [was read](Self::was_read).
    pub(super) fn pop(&mut self) -> Option<Change> {
        if self.reading.is_some() {
            return None;
        }
        let change = self.changes.pop()?;
        if let Change::Task(task) = &change {
            self.reading = Some(task.clone());
        }
        Some(change)
    }

    /// Whether it was the turn of this task, which it is no more.
    pub(super) fn was_read(&mut self, task: &TaskChange) -> bool {
        self.reading.take_if(|reading| reading == task).is_some()
    }

    /// The next one that can still be told when nobody is waited for.
    pub(super) fn pop_last(&mut self) -> Option<Change> {
        core::iter::from_fn(|| self.changes.pop()).find(|change| !matches!(change, Change::Task(_)))
    }

    fn forget_all_but(&mut self, wanted: &Wanted) {
        while self.changes.remove(|change| !wanted.covers(change)).is_some() {}
    }

    /// What was left out since last time, for people on this side; once all that waited is on its way.
    pub(super) fn report(&mut self) -> Option<Diagnostic> {
        let (repeats, lost) = self.changes.left_out();
        if !self.changes.is_empty() || (repeats, lost) == (0, 0) {
            return None;
        }
        self.changes.forget_left_out();
        let detail = alloc::format!(
            "the client reads too slowly: {repeats} notifications that repeat others were left out, {lost} lost"
        );
        Some(Diagnostic::new("subscription", detail))
    }
}

/// What of a request's filter the server honours. What it does not support, and resources that are not there, are
/// left out (SUB-06); a filter that is too large is refused.
/// Which tasks there are for whom, their table knows.
pub(super) fn honoured(
    view: &View<'_>,
    params: SubscriptionsListenRequestParams,
    meta: &RequestMeta<'_>,
) -> Result<Wanted, Refusal> {
    let (config, mut filter) = (view.config, params.notifications);
    let tasks = filter.extra.remove(TASK_IDS).filter(|_| config.tasks);
    let tasks = tasks.map_or_else(|| Ok(Watched::new()), |ids| task_ids(config, &ids, meta))?;
    let asked = |flag: Option<bool>| flag == Some(true);
    let mut watched = Watched::new();
    let resources = filter.resource_subscriptions.into_iter().filter(|_| config.subscriptions);
    for uri in resources {
        if !uri::is_valid(&uri) {
            let message = "params.notifications.resourceSubscriptions: not a URI";
            return Err(Refusal::plain(code::INVALID_PARAMS, message));
        }
        if view.is_readable(&uri) && !watched.insert(uri.into(), &config.limits) {
            return Err(too_many_watched(&config.limits));
        }
    }
    Ok(Wanted {
        tools: config.changes.tools && asked(filter.tools_list_changed),
        prompts: config.changes.prompts && asked(filter.prompts_list_changed),
        resources: config.changes.resources && asked(filter.resources_list_changed),
        watched,
        tasks,
    })
}

/// The member of a filter that names tasks.
const TASK_IDS: &str = "taskIds";

/// TASK-51, TASK-52
fn task_ids(config: &Config, ids: &Json, meta: &RequestMeta<'_>) -> Result<Watched, Refusal> {
    if ids.get() == "null" {
        return Ok(Watched::new());
    }
    let ids: Vec<String> = jsonrpc::decode_at(ids.get(), "params.notifications.taskIds")?;
    if !tasks::are_declared(meta) {
        return Err(tasks::undeclared());
    }
    let mut watched = Watched::new();
    match ids.into_iter().all(|id| watched.insert(id.into(), &config.limits)) {
        true => Ok(watched),
        false => Err(too_many_watched(&config.limits)),
    }
}

/// More resources are named than one client may watch.
pub(super) fn too_many_watched(limits: &Limits) -> Refusal {
    let (most, bytes) = (limits.watched, limits.watched_bytes);
    let message = alloc::format!(
        "more than {most} resources or tasks are watched, or more than {bytes} bytes of their names"
    );
    Refusal::plain(code::INVALID_PARAMS, message)
}

/// As many listen as may.
pub(super) fn too_many_listen() -> Refusal {
    Refusal::plain(code::INTERNAL, "too many subscriptions are open").with_status(503)
}
