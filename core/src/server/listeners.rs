//! Who listens to an HTTP server: bounded, and found by what they listen for.
//!
//! The exchanges themselves are elsewhere; this says which of them a change concerns, without asking each.

use alloc::collections::{BTreeMap, BTreeSet};
use alloc::sync::Arc;
use alloc::vec::Vec;
use core::fmt;

use super::exchange::ExchangeId;
use super::subscription::Admission;
use crate::change::Change;
use crate::limits::Limits;
use crate::wanted::{Wanted, Watched, at_or_above};

/// Who hears of what has a name.
type Sets = BTreeMap<Arc<str>, BTreeSet<ExchangeId>>;

/// The open subscriptions of one HTTP server.
pub struct Listeners {
    open: BTreeMap<ExchangeId, Wanted>,
    tools: BTreeSet<ExchangeId>,
    prompts: BTreeSet<ExchangeId>,
    resources: BTreeSet<ExchangeId>,
    watched: Sets,
    tasks: Sets,
    most: usize,
}

/// Prints how many there are: the URIs that they watch may hold secrets.
impl fmt::Debug for Listeners {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Listeners")
            .field("open", &self.open.len())
            .field("watched", &self.watched.len())
            .field("tasks", &self.tasks.len())
            .field("most", &self.most)
            .finish_non_exhaustive()
    }
}

impl Listeners {
    /// Nobody.
    pub fn new(limits: &Limits) -> Self {
        Self {
            open: BTreeMap::new(),
            tools: BTreeSet::new(),
            prompts: BTreeSet::new(),
            resources: BTreeSet::new(),
            watched: BTreeMap::new(),
            tasks: BTreeMap::new(),
            most: limits.listens,
        }
    }

    /// Adds an exchange that is to hear of these changes, if there is room. The answer is for its
    /// [`handle_admission`](super::Exchange::handle_admission); [`remove`](Self::remove) it when it has ended.
    pub fn admit(&mut self, exchange: ExchangeId, wanted: Wanted) -> Admission {
        self.remove(exchange);
        if self.open.len() >= self.most {
            return Admission::Full;
        }
        for (set, wanted) in self.lists(&wanted) {
            if wanted {
                set.insert(exchange);
            }
        }
        for (sets, names) in self.named(&wanted) {
            for name in names.iter() {
                sets.entry(Arc::clone(name)).or_default().insert(exchange);
            }
        }
        self.open.insert(exchange, wanted);
        Admission::Granted
    }

    /// It hears no more. Nothing happens when it did not.
    pub fn remove(&mut self, exchange: ExchangeId) {
        let Some(wanted) = self.open.remove(&exchange) else { return };
        for (set, _) in self.lists(&wanted) {
            set.remove(&exchange);
        }
        for (sets, names) in self.named(&wanted) {
            for name in names.iter() {
                let Some(set) = sets.get_mut(name) else { continue };
                set.remove(&exchange);
                if set.is_empty() {
                    sets.remove(name);
                }
            }
        }
    }

    /// The exchanges that are to hear of `change`, each once; it is for their
    /// [`publish`](super::Exchange::publish).
    pub fn told(&self, change: &Change) -> Vec<ExchangeId> {
        match change {
            Change::Tools => self.tools.iter().copied().collect(),
            Change::Prompts => self.prompts.iter().copied().collect(),
            Change::Resources => self.resources.iter().copied().collect(),
            Change::Resource(uri) => {
                let sets = at_or_above(uri).filter_map(|uri| self.watched.get(uri));
                let told: BTreeSet<_> = sets.flatten().copied().collect();
                told.into_iter().collect()
            }
            Change::Task(task) => self.tasks.get(task.id()).into_iter().flatten().copied().collect(),
        }
    }

    /// All of them.
    pub fn iter(&self) -> impl Iterator<Item = ExchangeId> {
        self.open.keys().copied()
    }

    /// How many listen.
    pub fn len(&self) -> usize {
        self.open.len()
    }

    /// Whether nobody listens.
    pub fn is_empty(&self) -> bool {
        self.open.is_empty()
    }

    /// What is watched by name.
    fn named<'a>(&mut self, wanted: &'a Wanted) -> [(&mut Sets, &'a Watched); 2] {
        [(&mut self.watched, &wanted.watched), (&mut self.tasks, &wanted.tasks)]
    }

    fn lists(&mut self, wanted: &Wanted) -> [(&mut BTreeSet<ExchangeId>, bool); 3] {
        [
            (&mut self.tools, wanted.tools),
            (&mut self.prompts, wanted.prompts),
            (&mut self.resources, wanted.resources),
        ]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::change::TaskChange;

    fn exchange(number: u64) -> ExchangeId {
        ExchangeId::new(number)
    }

    fn wanted(tools: bool, uris: &[&str]) -> Wanted {
        Wanted { tools, watched: uris.iter().map(|uri| Arc::from(*uri)).collect(), ..Wanted::default() }
    }

    /// SUB-02, SUB-18, SUB-19: a change is for those who want it, each once.
    #[test]
    fn a_change_concerns_those_who_listen_for_it() {
        let mut listeners = Listeners::new(&Limits::default());
        listeners.admit(exchange(1), wanted(true, &[]));
        listeners.admit(exchange(2), wanted(false, &["a://b", "a://b/c"]));
        listeners.admit(exchange(3), wanted(true, &["a://b/c"]));
        listeners.admit(exchange(4), Wanted { prompts: true, resources: true, ..Wanted::default() });
        let told = |listeners: &Listeners, change: &Change| listeners.told(change);
        assert_eq!(told(&listeners, &Change::Tools), [exchange(1), exchange(3)]);
        assert_eq!(told(&listeners, &Change::Prompts), [exchange(4)]);
        assert_eq!(told(&listeners, &Change::Resources), [exchange(4)]);
        assert_eq!(told(&listeners, &Change::Resource("a://b/c".into())), [exchange(2), exchange(3)]);
        assert_eq!(told(&listeners, &Change::Resource("a://b/d".into())), [exchange(2)]);
        listeners.remove(exchange(3));
        listeners.remove(exchange(3));
        assert_eq!(told(&listeners, &Change::Tools), [exchange(1)]);
        assert_eq!(told(&listeners, &Change::Resource("a://b/c".into())), [exchange(2)]);
    }

    /// TASK-50: of a task hears who listens to exactly that one, as long as he does.
    #[test]
    fn a_task_concerns_those_who_named_it() {
        let changed = |id: &str| Change::Task(TaskChange::new(id.into()));
        let mut listeners = Listeners::new(&Limits::default());
        let tasks = [Arc::from("t"), Arc::from("u")].into_iter().collect();
        listeners.admit(exchange(1), Wanted { tasks, ..Wanted::default() });
        listeners.admit(exchange(2), wanted(true, &["t"]));
        assert_eq!(listeners.told(&changed("t")), [exchange(1)]);
        assert_eq!(listeners.told(&changed("t/u")), []);
        listeners.remove(exchange(1));
        assert!(listeners.told(&changed("t")).is_empty() && listeners.tasks.is_empty());
    }

    /// Limits::listens: reached exactly, and passed by one; who ends makes room, and nothing of him is left.
    #[test]
    fn listeners_are_bounded_and_leave_nothing_behind() {
        let limits = Limits { listens: 2, ..Limits::default() };
        let mut listeners = Listeners::new(&limits);
        for number in [1, 2, 2] {
            assert_eq!(listeners.admit(exchange(number), wanted(true, &["a:b"])), Admission::Granted);
        }
        assert_eq!(listeners.admit(exchange(3), wanted(true, &["a:b"])), Admission::Full);
        listeners.remove(exchange(1));
        assert_eq!(listeners.admit(exchange(3), wanted(true, &["a:b"])), Admission::Granted);
        for number in 2..4 {
            listeners.remove(exchange(number));
        }
        assert!(listeners.is_empty() && listeners.watched.is_empty() && listeners.tools.is_empty());
    }
}
