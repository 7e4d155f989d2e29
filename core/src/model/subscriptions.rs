//! `subscriptions/listen`: one stream of the notifications that a client asks for; from 2026-07-28 on.
//!
//! The stream ends with an [`EmptyResult`](super::result::EmptyResult) whose `_meta` names the subscription.
//!
//! <https://modelcontextprotocol.io/specification/2026-07-28/basic/patterns/subscriptions>

use super::encode::{Members, Object};
use super::json::{Json, JsonMap};
use super::macros::{open_object, setters};
use super::meta::Meta;
use crate::dialect::Revision;
use alloc::borrow::ToOwned;
use alloc::collections::BTreeSet;
use alloc::string::String;
use alloc::vec::Vec;
use core::fmt;
use serde::Deserialize;
use serde::ser::SerializeMap;

/// What the extension for tasks adds to a filter.
const TASK_IDS: &str = "taskIds";

/// Which notifications are wanted, or in the acknowledgement: will come.
#[derive(Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct SubscriptionFilter {
    /// `notifications/tools/list_changed`.
    pub tools_list_changed: Option<bool>,
    /// `notifications/prompts/list_changed`.
    pub prompts_list_changed: Option<bool>,
    /// `notifications/resources/list_changed`.
    pub resources_list_changed: Option<bool>,
    /// `notifications/resources/updated`, for these URIs.
    pub resource_subscriptions: Vec<String>,
    /// What extensions add, such as `taskIds` (EXT-12).
    pub extra: JsonMap,
}

/// Prints of how many resources and tasks it is, and not which: who knows the id of a task has the task (TASK-67).
impl fmt::Debug for SubscriptionFilter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SubscriptionFilter")
            .field("tools_list_changed", &self.tools_list_changed)
            .field("prompts_list_changed", &self.prompts_list_changed)
            .field("resources_list_changed", &self.resources_list_changed)
            .field("resource_subscriptions", &self.resource_subscriptions.len())
            .field("tasks", &self.task_ids().len())
            .finish_non_exhaustive()
    }
}

impl SubscriptionFilter {
    /// Whether it asks for what an extension has that is not known here.
    pub(crate) fn has_others(&self) -> bool {
        self.extra.keys().any(|key| key != TASK_IDS)
    }

    /// Nothing.
    pub fn new() -> Self {
        Self::default()
    }

    /// Asks to be told how far these tasks are, in the place of others (TASK-51): the extension's `taskIds`.
    ///
    /// ```
    /// use mcp_proto::model::SubscriptionFilter;
    ///
    /// assert_eq!(SubscriptionFilter::new().tasks(["786512e2"]).task_ids(), ["786512e2"]);
    /// ```
    #[must_use]
    pub fn tasks<'a>(mut self, ids: impl IntoIterator<Item = &'a str>) -> Self {
        let ids: Vec<&str> = ids.into_iter().collect();
        // Texts always serialize.
        match Json::new(&ids) {
            Ok(ids_json) if !ids.is_empty() => drop(self.extra.insert(TASK_IDS.to_owned(), ids_json)),
            _ => drop(self.extra.remove(TASK_IDS)),
        }
        self
    }

    /// The tasks that are asked for, or granted.
    pub fn task_ids(&self) -> Vec<String> {
        self.extra.get(TASK_IDS).and_then(|ids| ids.decode().ok()).unwrap_or_default()
    }

    /// Whether this asks for all that another one asks for. What extensions add is compared as it is written.
    pub fn holds(&self, other: &Self) -> bool {
        let flags = |of: &Self| {
            [of.tools_list_changed, of.prompts_list_changed, of.resources_list_changed]
                .map(Option::unwrap_or_default)
        };
        let has_flags = flags(self).into_iter().zip(flags(other)).all(|(here, there)| here || !there);
        let uris: BTreeSet<&String> = self.resource_subscriptions.iter().collect();
        has_flags
            && other.resource_subscriptions.iter().all(|uri| uris.contains(uri))
            && (other.extra.is_empty() || other.extra == self.extra)
    }
}

setters!(SubscriptionFilter {
    tools_list_changed?: bool,
    prompts_list_changed?: bool,
    resources_list_changed?: bool,
    resource_subscriptions: Vec<String>,
    extra: JsonMap,
});

open_object!(SubscriptionFilter {
    required {}
    optional {
        "toolsListChanged" => tools_list_changed,
        "promptsListChanged" => prompts_list_changed,
        "resourcesListChanged" => resources_list_changed,
        "resourceSubscriptions" => resource_subscriptions,
    }
});

impl Members for SubscriptionFilter {
    fn members<M: SerializeMap>(&self, to: &mut Object<M>) -> Result<(), M::Error> {
        to.optional("toolsListChanged", &self.tools_list_changed)?;
        to.optional("promptsListChanged", &self.prompts_list_changed)?;
        to.optional("resourcesListChanged", &self.resources_list_changed)?;
        to.list("resourceSubscriptions", &self.resource_subscriptions)?;
        to.open(&self.extra, Self::KNOWN)
    }
}

/// The parameters of `subscriptions/listen`.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[non_exhaustive]
pub struct SubscriptionsListenRequestParams {
    /// What is wanted.
    pub notifications: SubscriptionFilter,
    /// Metadata to send. What came is read with [`RequestMeta`](super::meta::RequestMeta).
    #[serde(skip)]
    pub meta: Meta,
}

impl SubscriptionsListenRequestParams {
    /// These notifications are wanted.
    pub fn new(notifications: SubscriptionFilter) -> Self {
        Self { notifications, meta: Meta::new() }
    }
}

setters!(SubscriptionsListenRequestParams { meta: Meta });

impl Members for SubscriptionsListenRequestParams {
    fn members<M: SerializeMap>(&self, to: &mut Object<M>) -> Result<(), M::Error> {
        to.encoded("notifications", &self.notifications)
    }

    fn metadata(&self, _revision: Revision) -> Option<&Meta> {
        Some(&self.meta)
    }
}

/// The parameters of `notifications/subscriptions/acknowledged`, the first message of the stream.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[non_exhaustive]
pub struct SubscriptionsAcknowledgedNotificationParams {
    /// What of the wanted will come (SUB-06).
    pub notifications: SubscriptionFilter,
    /// Metadata; names the subscription.
    #[serde(default, rename = "_meta")]
    pub meta: Meta,
}

impl SubscriptionsAcknowledgedNotificationParams {
    /// These notifications will come.
    pub fn new(notifications: SubscriptionFilter) -> Self {
        Self { notifications, meta: Meta::new() }
    }
}

setters!(SubscriptionsAcknowledgedNotificationParams { meta: Meta });

impl Members for SubscriptionsAcknowledgedNotificationParams {
    fn members<M: SerializeMap>(&self, to: &mut Object<M>) -> Result<(), M::Error> {
        to.encoded("notifications", &self.notifications)
    }

    fn metadata(&self, _revision: Revision) -> Option<&Meta> {
        Some(&self.meta)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::borrow::ToOwned;

    /// What is taken back asks for nothing new.
    #[test]
    fn a_filter_holds_what_asks_for_no_more() {
        let filter = |tools, uris: &[&str]| {
            let uris = uris.iter().map(|&uri| uri.to_owned()).collect();
            SubscriptionFilter {
                tools_list_changed: tools,
                resource_subscriptions: uris,
                ..SubscriptionFilter::new()
            }
        };
        let all = filter(Some(true), &["a", "b"]);
        for (other, held) in [
            (filter(None, &[]), true),
            (filter(Some(true), &["b"]), true),
            (all.clone().prompts_list_changed(false), true),
            (all.clone().prompts_list_changed(true), false),
            (filter(None, &["c", "a"]), false),
        ] {
            assert_eq!(all.holds(&other), held, "{other:?}");
        }
        assert!(!filter(Some(false), &[]).holds(&filter(Some(true), &[])));
        assert!(!filter(None, &["a"]).holds(&all));
    }
}
