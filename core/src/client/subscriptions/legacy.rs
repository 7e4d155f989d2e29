//! Subscriptions with a legacy server: it tells of its lists if it said so, and of resources that it was asked to watch.
//!
//! <https://modelcontextprotocol.io/specification/2025-11-25/server/resources#subscriptions>

use super::{Subscription, SubscriptionId, Todo, Watching};
use crate::change::Change;
use crate::client::calls::CallId;
use crate::client::link::Link;
use crate::client::subscriptions::Notice;
use crate::dialect::Era;
use crate::error::CallError;
use crate::model::subscriptions::SubscriptionFilter;
use crate::model::tasks::DetailedTask;
use alloc::boxed::Box;
use alloc::collections::BTreeSet;
use alloc::string::String;
use alloc::sync::Arc;
use alloc::vec::Vec;

/// A resource that a server was asked to watch.
pub(super) struct Watch {
    users: BTreeSet<SubscriptionId>,
    state: WatchState,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum WatchState {
    /// A call that begins it is not answered.
    Asking,
    On,
    Refused,
    /// A call that ends it is not answered. Only then may another begin it: over HTTP calls can overtake each other.
    Leaving,
}

impl Link {
    /// Asks for what of a subscription has to be asked for; once that is answered it is acknowledged (SUBL-01).
    pub(super) fn watch(&mut self, id: SubscriptionId) {
        let capabilities = self.details.as_deref().map(|details| &details.capabilities);
        let resources = capabilities.and_then(|has| has.resources.as_ref());
        let can = resources.and_then(|has| has.subscribe) == Some(true);
        let table = &mut self.subscriptions;
        let Some(entry) = table.entries.get(&id).filter(|_| can) else { return self.settle_watches(id) };
        let wanted = Arc::clone(&entry.wanted);
        for uri in &wanted.resource_subscriptions {
            let uri: Arc<str> = uri.as_str().into();
            let watch = table
                .watches
                .entry(Arc::clone(&uri))
                .or_insert_with(|| Watch { users: BTreeSet::new(), state: WatchState::Refused });
            watch.users.insert(id);
            if watch.state == WatchState::Refused {
                watch.state = WatchState::Asking;
                table.todo.push_back(Todo::Watch(Arc::clone(&uri), Watching { uri, begins: true }));
            }
        }
        self.settle_watches(id);
    }

    /// A call for a watched resource was made.
    pub(in crate::client) fn watching(&mut self, uri: Arc<str>, call: Result<CallId, CallError>) {
        match call {
            Ok(call) => {
                self.calls.forget(call);
                self.subscriptions.calls.insert(call, uri);
            }
            Err(error) => self.watched(&uri, Err(error)),
        }
    }

    /// The resource that a call is for, if it is one of these.
    pub(in crate::client) fn watched_by(&mut self, call: CallId) -> Option<Arc<str>> {
        self.subscriptions.calls.remove(&call)
    }

    /// A call for a watched resource has ended.
    pub(in crate::client) fn watched(&mut self, uri: &Arc<str>, outcome: Result<(), CallError>) {
        let table = &mut self.subscriptions;
        let Some(watch) = table.watches.get_mut(uri) else { return };
        let (is_left, was_leaving) = (watch.users.is_empty(), watch.state == WatchState::Leaving);
        match (was_leaving, &outcome) {
            (true, _) | (false, Err(_)) if is_left => {
                table.watches.remove(uri);
                return;
            }
            (false, Ok(())) if is_left => {
                watch.state = WatchState::Leaving;
                let call = Watching { uri: Arc::clone(uri), begins: false };
                return table.todo.push_back(Todo::Watch(Arc::clone(uri), call));
            }
            (true, _) => {
                watch.state = WatchState::Asking;
                let call = Watching { uri: Arc::clone(uri), begins: true };
                return table.todo.push_back(Todo::Watch(Arc::clone(uri), call));
            }
            (false, Ok(())) => watch.state = WatchState::On,
            (false, Err(_)) => watch.state = WatchState::Refused,
        }
        let users: Vec<_> = watch.users.iter().copied().collect();
        for id in users {
            if let (Some(entry), Err(error)) = (self.subscriptions.entries.get_mut(&id), &outcome) {
                entry.refusal = Some(error.clone());
            }
            self.settle_watches(id);
        }
    }

    /// Acknowledges a subscription once the server has answered everything, and can be heard.
    pub(super) fn settle_watches(&mut self, id: SubscriptionId) {
        let table = &self.subscriptions;
        if table.era != Some(Era::Legacy) || !table.hears {
            return;
        }
        let Some(entry) = table.entries.get(&id).filter(|entry| entry.ended.is_none()) else { return };
        let wanted = Arc::clone(&entry.wanted);
        let state = |uri: &str| table.watches.get(uri).map(|watch| watch.state);
        let uris = &wanted.resource_subscriptions;
        if uris.iter().any(|uri| matches!(state(uri), Some(WatchState::Asking | WatchState::Leaving))) {
            return;
        }
        let mut filter = SubscriptionFilter::new();
        let on = uris.iter().filter(|uri| state(uri) == Some(WatchState::On));
        filter.resource_subscriptions = on.cloned().collect();
        if let Some(has) = self.details.as_deref().map(|details| &details.capabilities) {
            let told = |wanted: Option<bool>, declared: Option<bool>| {
                (wanted == Some(true) && declared == Some(true)).then_some(true)
            };
            let tools = has.tools.as_ref().and_then(|has| has.list_changed);
            let prompts = has.prompts.as_ref().and_then(|has| has.list_changed);
            let resources = has.resources.as_ref().and_then(|has| has.list_changed);
            // It need not say anything of them, but what it says is heard.
            let tasks = wanted.task_ids();
            let heard = tasks.iter().filter(|_| has.tasks.is_some());
            filter = filter.tasks(heard.map(String::as_str));
            filter.tools_list_changed = told(wanted.tools_list_changed, tools);
            filter.prompts_list_changed = told(wanted.prompts_list_changed, prompts);
            filter.resources_list_changed = told(wanted.resources_list_changed, resources);
        }
        self.acknowledge(id, filter);
    }

    /// A subscription does not want these resources any more, but for those that it still wants.
    pub(super) fn release(&mut self, id: SubscriptionId, before: &SubscriptionFilter) {
        let Some(entry) = self.subscriptions.entries.get(&id) else { return };
        let still: BTreeSet<_> = entry.wanted.resource_subscriptions.iter().collect();
        let gone = before.resource_subscriptions.iter().filter(|uri| !still.contains(uri));
        let gone: Vec<Arc<str>> = gone.map(|uri| uri.as_str().into()).collect();
        gone.iter().for_each(|uri| self.leave(id, uri));
    }

    pub(super) fn release_all(&mut self, id: SubscriptionId) {
        let watches = self.subscriptions.watches.iter().filter(|(_, watch)| watch.users.contains(&id));
        let gone: Vec<_> = watches.map(|(uri, _)| Arc::clone(uri)).collect();
        gone.iter().for_each(|uri| self.leave(id, uri));
    }

    fn leave(&mut self, id: SubscriptionId, uri: &Arc<str>) {
        let table = &mut self.subscriptions;
        let Some(watch) = table.watches.get_mut(uri) else { return };
        watch.users.remove(&id);
        if !watch.users.is_empty() {
            return;
        }
        match watch.state {
            WatchState::On => {
                watch.state = WatchState::Leaving;
                let call = Watching { uri: Arc::clone(uri), begins: false };
                table.todo.push_back(Todo::Watch(Arc::clone(uri), call));
            }
            WatchState::Refused => drop(table.watches.remove(uri)),
            // What is to be done is seen once the call is answered.
            WatchState::Asking | WatchState::Leaving => {}
        }
    }

    /// A legacy server tells of a change: whoever listens for it hears it (SUBL-04 to SUBL-07).
    pub(in crate::client) fn tell_listeners(&mut self, change: &Change) {
        let entries = self.subscriptions.entries.iter();
        let told = entries.filter(|(_, entry)| entry.ended.is_none() && entry.covered.covers(change));
        let told: Vec<_> = told.map(|(&id, _)| id).collect();
        for id in told {
            self.deliver(id, Notice::Changed(change.clone()));
        }
    }

    /// A legacy server tells how far a task is: whoever listens for it hears it (TASKL-37).
    pub(in crate::client) fn tell_task(&mut self, task: DetailedTask) {
        let listens = |entry: &Subscription| {
            entry.ended.is_none() && entry.wanted.task_ids().contains(&task.task.task_id)
        };
        let entries = self.subscriptions.entries.iter();
        let told: Vec<_> = entries.filter(|(_, entry)| listens(entry)).map(|(&id, _)| id).collect();
        for id in told {
            self.deliver(id, Notice::Task(Box::new(task.clone())));
        }
    }

    /// The stream that a legacy server tells on was interrupted, and is there again without what came meanwhile.
    pub(in crate::client) fn stream_interrupted(&mut self) {
        let active = self.subscriptions.entries.iter_mut().filter(|(_, entry)| entry.is_active());
        let missed = active.map(|(&id, entry)| {
            entry.missed = true;
            id
        });
        let missed: Vec<_> = missed.collect();
        missed.into_iter().for_each(|id| self.tell(id));
    }
}
