//! One `subscriptions/listen`: what it is for, and what waits for its reader.
//!
//! <https://modelcontextprotocol.io/specification/2026-07-28/basic/patterns/subscriptions>

use alloc::boxed::Box;
use alloc::string::ToString;
use alloc::sync::Arc;
use alloc::vec::Vec;

use super::config::Config;
use super::notify;
use super::principal::Principal;
use super::refusal::Refusal;
use super::session::ClientDetails;
use super::uri;
use super::visible::{View, Viewer};
use crate::backlog::Backlog;
use crate::change::Change;
use crate::diagnostic::Diagnostic;
use crate::dialect::Revision;
use crate::error::{ApiMisuse, ErrorObject, code};
use crate::limits::Limits;
use crate::model::meta::{SERVER_INFO, SUBSCRIPTION_ID};
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
    /// Yes. Changes that are published from now on reach the listener.
    Granted,
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
        let params = SubscriptionsAcknowledgedNotificationParams::new(filter);
        let id = self.id();
        let entries = [(SUBSCRIPTION_ID, &id)];
        let params = WithMeta::new(&params, &entries);
        let method = "notifications/subscriptions/acknowledged";
        jsonrpc::write_notification(out, method, Some(&In(self.revision, &params)))
    }

    /// Appends what tells of `change`.
    pub(super) fn write(&self, change: &Change, out: &mut Vec<u8>) -> Result<(), ApiMisuse> {
        notify::change(change, Some(&self.request), out)
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
pub(super) struct Waiting(Backlog<Change>);

impl Waiting {
    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Adds a change if it has to wait: because enough is on its way, or because others wait already. Says
    /// whether it has.
    pub(super) fn keep_back(&mut self, ahead: bool, change: &Change, limits: &Limits) -> bool {
        let waits = ahead || !self.is_empty();
        if waits {
            self.0.merge(change.clone(), limits);
        }
        waits
    }

    pub(super) fn pop(&mut self) -> Option<Change> {
        self.0.pop()
    }

    /// What was left out since last time, for people on this side; once all that waited is on its way.
    pub(super) fn report(&mut self) -> Option<Diagnostic> {
        let (repeats, lost) = self.0.left_out();
        if !self.is_empty() || (repeats, lost) == (0, 0) {
            return None;
        }
        self.0.forget_left_out();
        let detail = alloc::format!(
            "the client reads too slowly: {repeats} notifications that repeat others were left out, {lost} lost"
        );
        Some(Diagnostic::new("subscription", detail))
    }
}

/// What of a request's filter the server honours. What it does not support, and resources that are not there, are
/// left out (SUB-06); a filter that is too large is refused.
pub(super) fn honoured(view: &View<'_>, params: SubscriptionsListenRequestParams) -> Result<Wanted, Refusal> {
    let (config, filter) = (view.config, params.notifications);
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
    })
}

/// More resources are named than one client may watch.
pub(super) fn too_many_watched(limits: &Limits) -> Refusal {
    let (most, bytes) = (limits.watched, limits.watched_bytes);
    let message =
        alloc::format!("more than {most} resources are watched, or more than {bytes} bytes of URIs");
    Refusal::plain(code::INVALID_PARAMS, message)
}

/// As many listen as may.
pub(super) fn too_many_listen() -> Refusal {
    Refusal::plain(code::INTERNAL, "too many subscriptions are open").with_status(503)
}
