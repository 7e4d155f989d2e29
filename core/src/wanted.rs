//! Which changes somebody is to hear of.

use alloc::collections::BTreeSet;
use alloc::sync::Arc;
use core::fmt;

use crate::change::Change;
use crate::limits::Limits;

/// The changes that one subscription is for, as far as the server honours it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Wanted {
    /// The list of tools.
    pub tools: bool,
    /// The list of prompts.
    pub prompts: bool,
    /// The lists of resources and templates.
    pub resources: bool,
    /// Single resources.
    pub watched: Watched,
    /// Single tasks, by their ids.
    pub tasks: Watched,
}

impl Wanted {
    /// Nothing.
    pub fn new() -> Self {
        Self::default()
    }

    /// Whether `change` is among them.
    pub fn covers(&self, change: &Change) -> bool {
        match change {
            Change::Tools => self.tools,
            Change::Prompts => self.prompts,
            Change::Resources => self.resources,
            Change::Resource(uri) => self.watched.covers(uri),
            Change::Task(task) => self.tasks.has(task.id()),
        }
    }
}

/// Resources that somebody watches, by URI, or tasks by id. Clones share what they hold.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct Watched(Option<Arc<BTreeSet<Arc<str>>>>);

/// Prints how many they are: URIs may hold secrets, and ids of tasks are some.
impl fmt::Debug for Watched {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Watched({})", self.len())
    }
}

impl Watched {
    /// None.
    pub fn new() -> Self {
        Self::default()
    }

    /// Whether the resource at `uri` is one of them, or below one of them (SUB-18, SUBL-04):
    /// `file:///notes/today` is below `file:///notes`.
    pub fn covers(&self, uri: &str) -> bool {
        self.0.as_ref().is_some_and(|uris| at_or_above(uri).any(|uri| uris.contains(uri)))
    }

    /// Whether exactly this is one of them.
    pub fn has(&self, name: &str) -> bool {
        self.0.as_ref().is_some_and(|names| names.contains(name))
    }

    /// Their URIs or ids, in the order of the alphabet.
    pub fn iter(&self) -> impl Iterator<Item = &Arc<str>> {
        self.0.iter().flat_map(|uris| uris.iter())
    }

    /// How many they are.
    pub fn len(&self) -> usize {
        self.0.as_ref().map_or(0, |uris| uris.len())
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Adds one. `false` when there is no room for it.
    pub(crate) fn insert(&mut self, uri: Arc<str>, limits: &Limits) -> bool {
        if self.0.as_ref().is_some_and(|uris| uris.contains(&uri)) {
            return true;
        }
        let bytes: usize = self.iter().map(|uri| uri.len()).sum();
        if self.len() >= limits.watched || bytes + uri.len() > limits.watched_bytes {
            return false;
        }
        Arc::make_mut(self.0.get_or_insert_default()).insert(uri);
        true
    }

    pub(crate) fn remove(&mut self, uri: &str) {
        if let Some(uris) = self.0.as_mut().filter(|uris| uris.contains(uri)) {
            Arc::make_mut(uris).remove(uri);
        }
        if self.is_empty() {
            self.0 = None;
        }
    }
}

/// All of these; for whoever keeps sessions elsewhere.
impl FromIterator<Arc<str>> for Watched {
    fn from_iter<I: IntoIterator<Item = Arc<str>>>(uris: I) -> Self {
        let uris: BTreeSet<_> = uris.into_iter().collect();
        Self((!uris.is_empty()).then(|| Arc::new(uris)))
    }
}

/// The URI itself, and those that it lies below as far as its path shows: with and without the slash.
pub(crate) fn at_or_above(uri: &str) -> impl Iterator<Item = &str> {
    let path_end = uri.find(['?', '#']).unwrap_or(uri.len());
    let path = uri.get(..path_end).unwrap_or(uri);
    // Without an authority there is no telling what a slash means.
    let start = path.find("://").map_or(path_end, |colon| colon + 3);
    let slashes = path.get(start..).unwrap_or_default().rmatch_indices('/');
    let above = slashes.flat_map(move |(slash, _)| {
        let slash = start + slash;
        [path.get(..=slash), path.get(..slash)].into_iter().flatten()
    });
    core::iter::once(uri).chain(above.filter(move |above| above.len() < uri.len()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::format;
    use alloc::vec::Vec;

    fn watched(uris: &[&str]) -> Watched {
        uris.iter().map(|uri| Arc::from(*uri)).collect()
    }

    /// SUB-18, SUBL-04: what is told of is what was named, or lies below it; what merely begins alike does not.
    #[test]
    fn a_resource_is_covered_by_itself_and_by_what_it_lies_below() {
        let notes = watched(&["file:///notes", "kiln://shed/", "urn:a"]);
        for uri in ["file:///notes", "file:///notes/", "file:///notes/a/b?c=/d", "kiln://shed/saw", "urn:a"] {
            assert!(notes.covers(uri), "{uri}");
        }
        for uri in ["file:///notes2", "file:///", "kiln://shed2/saw", "urn:a/b", "kiln://other?/shed/", ""] {
            assert!(!notes.covers(uri), "{uri}");
        }
        let above: Vec<_> = at_or_above("a://b/c/d").collect();
        assert_eq!(above, ["a://b/c/d", "a://b/c/", "a://b/c", "a://b/", "a://b"]);
    }

    /// Limits::watched and Limits::watched_bytes: reached exactly, and passed by one. What is there already
    /// needs no room.
    #[test]
    fn watched_resources_are_bounded_in_number_and_length() {
        let mut limits = Limits::default();
        (limits.watched, limits.watched_bytes) = (3, 20);
        let mut few = Watched::new();
        for number in 0..3 {
            assert!(few.insert(format!("a:{number}").into(), &limits));
        }
        assert!(!few.insert("a:3".into(), &limits) && few.insert("a:0".into(), &limits));
        few.remove("a:0");
        assert!(few.insert("a:3".into(), &limits) && few.len() == 3);

        let mut long = Watched::new();
        assert!(long.insert("a:34567890".into(), &limits));
        assert!(!long.insert("b:345678901".into(), &limits) && long.insert("b:34567890".into(), &limits));
    }

    #[test]
    fn what_is_removed_is_not_covered_and_holds_nothing() {
        let mut one = watched(&["a:b"]);
        let other = one.clone();
        one.remove("a:c");
        one.remove("a:b");
        assert!(!one.covers("a:b") && one == Watched::new() && other.covers("a:b"));
    }
}
