//! What filters have in common, and what one has that another has not.

use crate::change::Change;
use crate::model::subscriptions::SubscriptionFilter;
use crate::wanted::{Wanted, Watched};
use alloc::string::String;
use alloc::sync::Arc;
use alloc::vec::Vec;

/// What of `wanted` is not in `acknowledged`. Values count, not keys: a flag that is acknowledged as false is not
/// granted, nor is a list without the URIs that were named.
pub(super) fn without(wanted: &SubscriptionFilter, acknowledged: &SubscriptionFilter) -> SubscriptionFilter {
    let flag = |wanted, granted| (wanted == Some(true) && granted != Some(true)).then_some(true);
    let mut rest = SubscriptionFilter::new();
    rest.tools_list_changed = flag(wanted.tools_list_changed, acknowledged.tools_list_changed);
    rest.prompts_list_changed = flag(wanted.prompts_list_changed, acknowledged.prompts_list_changed);
    rest.resources_list_changed = flag(wanted.resources_list_changed, acknowledged.resources_list_changed);
    let granted: alloc::collections::BTreeSet<_> = acknowledged.resource_subscriptions.iter().collect();
    let uris = wanted.resource_subscriptions.iter().filter(|uri| !granted.contains(uri));
    rest.resource_subscriptions = uris.cloned().collect();
    for (key, value) in &wanted.extra {
        if acknowledged.extra.get(key) != Some(value) {
            rest.extra.insert(key.clone(), value.clone());
        }
    }
    let granted = acknowledged.task_ids();
    let left: Vec<String> = rest.task_ids().into_iter().filter(|id| !granted.contains(id)).collect();
    rest.tasks(left.iter().map(String::as_str))
}

/// The changes that a filter names.
pub(super) fn wanted(filter: &SubscriptionFilter) -> Wanted {
    let mut wanted = Wanted::new();
    wanted.tools = filter.tools_list_changed == Some(true);
    wanted.prompts = filter.prompts_list_changed == Some(true);
    wanted.resources = filter.resources_list_changed == Some(true);
    let uris = filter.resource_subscriptions.iter().map(|uri| Arc::<str>::from(uri.as_str()));
    wanted.watched = uris.collect::<Watched>();
    wanted
}

/// Whether a server that was asked for this may tell of it on the stream (SUB-02). Which resources lie below one that
/// was named is for the server to say.
pub(super) fn asked_for(filter: &SubscriptionFilter, change: &Change) -> bool {
    match change {
        Change::Tools => filter.tools_list_changed == Some(true),
        Change::Prompts => filter.prompts_list_changed == Some(true),
        Change::Resources => filter.resources_list_changed == Some(true),
        Change::Resource(_) => !filter.resource_subscriptions.is_empty(),
        Change::Task(_) => false,
    }
}
