//! Watching single resources: one subscription for all of them.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::task::Waker;

use mcp_proto::client::{Notice, SubscriptionId};
use mcp_proto::diagnostic::Diagnostic;
use mcp_proto::error::CallError;
use mcp_proto::model::{Json, SubscriptionFilter};
use mcp_proto::time::Now;

use super::{Hearing, state};
use crate::client::desk::{Inner, Link, Machine};
use crate::context::Report;
use crate::hook;

/// Who waits for news of subscriptions.
#[derive(Default)]
pub(in crate::client) struct Listeners {
    waiting: BTreeMap<SubscriptionId, Vec<Waker>>,
    /// Those whose end by an error was heard.
    pub(super) over: BTreeSet<SubscriptionId>,
    /// What `subscribe_resource` listens with, and for.
    pub(super) watching: Option<SubscriptionId>,
    pub(super) watched: BTreeMap<String, Watched>,
    /// How many watches have begun.
    watches: u64,
}

/// One resource that is watched, until somebody takes it back or nobody is left who has asked for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Watched {
    /// Tells it from another one of the same resource, before or later.
    pub(super) watch: u64,
    /// How many have asked for it.
    pub(super) askers: usize,
    /// The server has said that it tells of it.
    pub(super) granted: bool,
    /// What it was watched by is over, so that something is missed until it is watched again.
    interrupted: bool,
}

impl Listeners {
    /// There is news: who waits for it.
    pub(in crate::client) fn wake(&mut self, id: SubscriptionId) -> Vec<Waker> {
        self.waiting.remove(&id).unwrap_or_default()
    }

    pub(in crate::client) fn watches(&self, id: SubscriptionId) -> bool {
        self.watching == Some(id)
    }

    /// The connection is closed on this side, which is no news for whoever watches.
    pub(in crate::client) fn stop_watching(&mut self) {
        self.watching = None;
    }

    /// Somebody asks for a resource.
    pub(super) fn ask(&mut self, uri: &str) -> Watched {
        let Self { watched, watches, .. } = self;
        let watched = watched.entry(uri.to_owned()).or_insert_with(|| {
            *watches += 1;
            Watched { watch: *watches, askers: 0, granted: false, interrupted: false }
        });
        watched.askers += 1;
        *watched
    }

    /// Takes back what one of them has asked for, or all have; what is left of it. `None` where that is not watched any
    /// more.
    pub(super) fn take_back(&mut self, uri: &str, watch: Option<u64>) -> Option<Watched> {
        let watched = self.watched.get_mut(uri).filter(|it| watch.is_none_or(|watch| it.watch == watch))?;
        watched.askers = watch.map_or(0, |_| watched.askers.saturating_sub(1));
        let left = *watched;
        if left.askers == 0 {
            self.watched.remove(uri);
        }
        Some(left)
    }

    /// The server tells of these, and of no others. How many it told of before are among the others: they are not watched
    /// any more. Those that were never granted are for those who have asked, and hear it.
    fn lose_but(&mut self, granted: &[String]) -> usize {
        let before = self.watched.len();
        let granted: BTreeSet<_> = granted.iter().collect();
        self.watched.retain(|uri, it| {
            let is_lost = it.granted && !granted.contains(uri);
            it.granted |= granted.contains(uri);
            !is_lost
        });
        before - self.watched.len()
    }

    /// What they were watched by is over.
    fn interrupt(&mut self) {
        self.watched.values_mut().for_each(|it| it.interrupted |= it.granted);
    }

    /// They are watched again: those of which something may have been missed till now.
    fn resume(&mut self) -> Vec<String> {
        let resumed = self.watched.iter_mut().filter(|(_, it)| it.granted && it.interrupted);
        resumed
            .map(|(uri, it)| {
                it.interrupted = false;
                uri.clone()
            })
            .collect()
    }

    pub(super) fn wanted(&self) -> SubscriptionFilter {
        SubscriptionFilter::new().resource_subscriptions(self.watched.keys().cloned().collect::<Vec<_>>())
    }

    pub(super) fn register(&mut self, id: SubscriptionId, waker: &Waker) {
        let wakers = self.waiting.entry(id).or_default();
        if !wakers.iter().any(|known| known.will_wake(waker)) {
            wakers.push(waker.clone());
        }
    }
}

/// Whoever asks for a resource and has no answer yet. Who does not wait for it takes back what he has asked for.
pub(super) struct Asking {
    pub(super) hearing: Arc<dyn Hearing>,
    pub(super) uri: String,
    /// Until it is known what becomes of it.
    pub(super) watch: Option<u64>,
}

impl Asking {
    /// It is granted, and goes on.
    pub(super) fn keep(mut self) {
        self.watch = None;
    }

    /// It is not. Whether it was still watched.
    pub(super) fn take_back(mut self) -> Result<bool, CallError> {
        self.hearing.unwatch(&self.uri, self.watch.take())
    }
}

impl Drop for Asking {
    fn drop(&mut self) {
        if let Some(watch) = self.watch {
            // Where the connection is over, so is this.
            let _ = self.hearing.unwatch(&self.uri, Some(watch));
        }
    }
}

/// What watched resources does not go on: the next one is another.
pub(super) fn end_if_over(machine: &mut impl Machine, now: Now, listeners: &mut Listeners) {
    let is_over = |id: &SubscriptionId| machine.subscription(*id).is_none_or(|it| it.ended().is_some());
    if let Some(over) = listeners.watching.take_if(|id| is_over(id)) {
        machine.unlisten(now, over);
        listeners.interrupt();
    }
}

/// Listens for those watched resources that are left, or not at all; and who waits for what is taken back.
pub(super) fn relisten(
    machine: &mut impl Machine,
    now: Now,
    listeners: &mut Listeners,
) -> (Result<(), CallError>, Vec<Waker>) {
    match listeners.watching {
        Some(id) if listeners.watched.is_empty() => {
            machine.unlisten(now, id);
            listeners.watching = None;
            (Ok(()), listeners.wake(id))
        }
        Some(id) => (machine.relisten(now, id, listeners.wanted()), Vec::new()),
        None => (Ok(()), Vec::new()),
    }
}

/// There is news of what `subscribe_resource` listens with. The notifications themselves are heard like all others;
/// what is left is to tell when some may have been missed, and when the server tells of some no more.
pub(in crate::client) fn hear_watched<L: Link>(link: &Arc<L>, id: SubscriptionId) {
    let now = link.now();
    let (mut may_have_missed, mut lost, mut wakers) = (false, 0, Vec::new());
    let mut missed = Vec::new();
    let state = {
        let mut inner = link.lock();
        let Inner { machine, desk } = &mut *inner;
        if !desk.listeners.watches(id) {
            // Closed or taken back since that was told.
            return;
        }
        while let Some(notice) = machine.take_notice(id) {
            may_have_missed |= notice == Notice::Missed;
        }
        let state = state(machine, id);
        if !state.pending && state.ended.is_none() {
            let granted = state.acknowledged.as_ref().map(|it| &it.resource_subscriptions[..]);
            lost = desk.listeners.lose_but(granted.unwrap_or_default());
            missed = desk.listeners.resume();
            if lost > 0 {
                // Cannot be too many: they are fewer than before.
                wakers = relisten(machine, now, &mut desk.listeners).1;
            }
        }
        if may_have_missed {
            missed = desk.listeners.watched.keys().cloned().collect();
        }
        state
    };
    wakers.into_iter().for_each(Waker::wake);
    link.turn();
    let report = |text: String| {
        link.hooks().report(&Report::noticed("server", &Diagnostic::new("subscription", text)));
    };
    if lost > 0 {
        let why = state.refusal.map_or("it grants them no more".to_owned(), |refusal| refusal.to_string());
        report(format!(
            "the server tells of {lost} watched resources no more (`subscribed_resources` has the others): {why}"
        ));
    }
    if let Some(ended) = state.ended {
        let why = ended.err().map_or("the server has ended it".to_owned(), |error| error.to_string());
        report(format!("watched resources are not told of any more: {why}"));
    }
    let Some(hear) = &link.hooks().notification else { return };
    for uri in missed {
        let params = Json::new(&BTreeMap::from([("uri", uri)])).ok();
        hook::call(|| hear("notifications/resources/updated", params.as_ref()));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// SUB-11: whose subscription is refused takes back what he has asked for himself: not what another has asked for
    /// beside him, nor what somebody asks for anew after it was taken back.
    #[test]
    fn each_takes_back_what_he_has_asked_for() {
        let mut listeners = Listeners::default();
        let first = listeners.ask("x:a");
        let beside = listeners.ask("x:a");
        assert_eq!((first.watch, beside), (beside.watch, Watched { askers: 2, ..first }));
        assert_eq!(listeners.take_back("x:a", Some(first.watch)).unwrap().askers, 1);
        assert!(listeners.watched.contains_key("x:a"), "the other one is still there");
        assert_eq!(listeners.take_back("x:a", Some(beside.watch)).unwrap().askers, 0);
        assert!(listeners.watched.is_empty());

        let before = listeners.ask("x:a");
        assert_eq!(listeners.take_back("x:a", None).unwrap().askers, 0, "unsubscribed");
        let anew = listeners.ask("x:a");
        assert_eq!(listeners.take_back("x:a", Some(before.watch)), None, "it was somebody else's by then");
        assert_eq!(listeners.watched.get("x:a"), Some(&anew));
        assert_eq!(listeners.take_back("x:b", None), None);
    }

    /// SUB-16: what was watched before is what something may have been missed of, and that is told once.
    #[test]
    fn what_is_watched_again_may_have_changed() {
        let mut listeners = Listeners::default();
        listeners.ask("x:a");
        listeners.ask("x:b");
        assert_eq!(listeners.lose_but(&["x:a".to_owned()]), 0);
        listeners.interrupt();
        listeners.ask("x:c");
        assert_eq!(listeners.lose_but(&["x:a", "x:b", "x:c"].map(str::to_owned)), 0);
        assert_eq!(listeners.resume(), ["x:a"]);
        assert!(listeners.resume().is_empty());
    }

    /// SUB-07: what the server grants no more is not watched any more; what it has not granted yet is for whoever has
    /// asked.
    #[test]
    fn what_is_granted_no_more_is_not_watched() {
        let uris = |uris: &[&str]| uris.iter().map(|&uri| uri.to_owned()).collect::<Vec<_>>();
        let mut listeners = Listeners::default();
        for uri in ["x:a", "x:b", "x:c"] {
            listeners.ask(uri);
        }
        assert_eq!(listeners.lose_but(&uris(&["x:a", "x:b"])), 0, "of `x:c` who has asked for it hears");
        assert_eq!(listeners.lose_but(&uris(&["x:b", "x:c", "x:d"])), 1);
        assert_eq!(listeners.wanted().resource_subscriptions, uris(&["x:b", "x:c"]));
        assert_eq!(listeners.ask("x:a").askers, 1, "it can be asked for again");
        assert_eq!(listeners.lose_but(&[]), 2);
        assert_eq!(listeners.wanted().resource_subscriptions, uris(&["x:a"]));
    }
}
