//! What the four lists of a server have in common: order, pages, texts that are written once, and finding.

#[cfg(test)]
mod tests;
mod texts;

use alloc::string::String;
use alloc::sync::Arc;

use super::resource_server::Scopes;
use super::suggest;
use super::visible::{Item, View};
use crate::dialect::Revision;
use crate::error::ApiMisuse;
use crate::limits::Limits;
use crate::shared_map::SharedMap;

pub(super) use self::texts::Texts;
use self::texts::Whole;

/// Something that a catalog lists, checked and already written out.
pub(super) trait Listed {
    /// The definition that it is made from.
    type Item;

    /// The member of the result that lists it.
    const LIST: &'static str;
    /// What one is called in errors.
    const ONE: &'static str;

    fn new(item: Self::Item, limits: &Limits) -> Result<Self, ApiMisuse>
    where
        Self: Sized;

    /// What it is found by.
    fn key(&self) -> &str;

    /// What a caller must be allowed.
    fn scopes_mut(&mut self) -> &mut Scopes;

    /// Its JSON.
    fn texts(&self) -> &Texts;

    /// What a rule of visibility is asked about.
    fn item(&self) -> Item<'_>;
}

/// Entries in the order in which they were added, which is the order of the list (TOOL-06).
#[derive(Debug)]
pub(super) struct Catalog<E> {
    /// By the number under which an entry was added; numbers are not reused, so a cursor stays valid while
    /// entries come and go (PAGE-06).
    entries: SharedMap<u64, Arc<E>>,
    numbers: SharedMap<Arc<str>, u64>,
    whole: Whole,
    added: u64,
    /// What bounds the entries that are added.
    pub(super) limits: Limits,
}

impl<E> Clone for Catalog<E> {
    fn clone(&self) -> Self {
        Self {
            entries: self.entries.clone(),
            numbers: self.numbers.clone(),
            whole: self.whole.clone(),
            added: self.added,
            limits: self.limits.clone(),
        }
    }
}

impl<E> Default for Catalog<E> {
    fn default() -> Self {
        let (entries, numbers) = (SharedMap::default(), SharedMap::default());
        Self { entries, numbers, whole: Whole::default(), added: 0, limits: Limits::default() }
    }
}

impl<E> Catalog<E> {
    /// The entry with exactly this key.
    pub(super) fn get(&self, key: &str) -> Option<&Arc<E>> {
        self.entries.get(self.numbers.get(key)?)
    }

    /// The same to be changed, unless it is shared by now.
    pub(super) fn get_mut(&mut self, key: &str) -> Option<&mut E> {
        Arc::get_mut(self.entries.get_mut(self.numbers.get(key)?)?)
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = &Arc<E>> {
        self.entries.iter().map(|(_, entry)| entry)
    }

    pub(super) fn len(&self) -> usize {
        self.entries.len()
    }

    pub(super) fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// The entries that come after `start`, in order, with the position of each.
    pub(super) fn after(&self, start: Position) -> impl Iterator<Item = (Position, &Arc<E>)> {
        self.entries.after(&start.0).map(|(number, entry)| (Position(*number), entry))
    }

    /// The entries that were added since `before` was cloned from this, or this from it.
    pub(super) fn added_since(&self, before: &Self) -> impl Iterator<Item = &Arc<E>> {
        self.entries.after(&before.added).map(|(_, entry)| entry)
    }

    /// Whether both have the very same entries in the same order.
    pub(super) fn is_same(&self, other: &Self) -> bool {
        self.entries.is_shared_with(&other.entries)
            || self.len() == other.len() && self.iter().map(Arc::as_ptr).eq(other.iter().map(Arc::as_ptr))
    }

    /// Reads a cursor that was made by [`Position::cursor`] for this catalog.
    pub(super) fn position(&self, cursor: &str) -> Option<Position> {
        let number: u64 = cursor.strip_prefix(CURSOR)?.parse().ok()?;
        // A page ends before the last entry, so a cursor names an earlier number; and written one way only.
        let position = Position(number);
        ((1..self.added).contains(&number) && position.cursor() == cursor).then_some(position)
    }
}

impl<E: Listed> Catalog<E> {
    pub(super) fn insert(&mut self, item: E::Item, scopes: Scopes) -> Result<&Arc<E>, ApiMisuse> {
        let mut entry = E::new(item, &self.limits)?;
        *entry.scopes_mut() = scopes;
        if self.numbers.get(entry.key()).is_some() {
            return Err(ApiMisuse::new(alloc::format!(
                "there is a {} `{}` already; remove it first to replace it",
                E::ONE,
                entry.key()
            )));
        }
        self.added += 1;
        self.numbers.insert(entry.key().into(), self.added);
        self.whole.push(self.added, entry.texts());
        self.entries.insert(self.added, Arc::new(entry));
        // It was put there just now.
        self.entries.get(&self.added).ok_or_else(|| ApiMisuse::new(alloc::format!("a {} was lost", E::ONE)))
    }

    pub(super) fn remove(&mut self, key: &str) -> Option<Arc<E>> {
        let number = self.numbers.remove(key)?;
        let removed = self.entries.remove(&number)?;
        let entries = &self.entries;
        self.whole
            .remove(number, |before| entries.after(&before).map(|(number, entry)| (*number, entry.texts())));
        Some(removed)
    }

    /// All entries as `revision` knows them: the elements of a JSON array, several in each piece.
    pub(super) fn whole(&self, revision: Revision) -> impl Iterator<Item = &str> {
        self.whole.get(revision)
    }

    /// What to tell a client about a key that is not there: the one that was probably meant, if one was.
    ///
    /// Where not all see the same, none is suggested: it might be one that is not there for this client.
    pub(super) fn unknown(&self, key: &str, view: &View<'_>) -> String {
        let one = E::ONE;
        if key.len() > suggest::LONGEST {
            return alloc::format!("unknown {one}");
        }
        let suggested = self.iter().filter(|_| !view.differs());
        match suggest::nearest(key, suggested.map(|entry| entry.key())) {
            Some(nearest) => alloc::format!("unknown {one} {key:?}; did you mean {nearest:?}?"),
            None => alloc::format!("unknown {one} {key:?}"),
        }
    }
}

/// A place in the order of a list: after the entry with this number.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Position(u64);

/// What a cursor begins with, so that a number typed by hand is noticed.
const CURSOR: &str = "after-";

impl Position {
    pub(super) fn cursor(self) -> String {
        alloc::format!("{CURSOR}{}", self.0)
    }
}

/// The public face of a catalog.
macro_rules! catalog {
    (
        $(#[$docs:meta])*
        $name:ident of $item:ident as $entry:ident, found by $key:ident;
        $(#[$insert:meta])*
        insert
    ) => {
        $(#[$docs])*
        #[derive(Clone, Debug, Default)]
        #[non_exhaustive]
        pub struct $name {
            pub(super) catalog: $crate::server::catalog::Catalog<$entry>,
            /// How long a page of the list may be kept, and by whom. Default `None`: as
            /// [`Config::cache`](super::Config::cache) says.
            pub cache: Option<$crate::server::CacheHint>,
        }

        impl $name {
            /// None.
            pub fn new() -> Self {
                Self::default()
            }

            /// With this hint for caches instead of the server's.
            #[must_use]
            pub fn cache(mut self, cache: $crate::server::CacheHint) -> Self {
                self.cache = Some(cache);
                self
            }

            $(#[$insert])*
            pub fn insert(
                &mut self,
                item: $item,
            ) -> Result<&alloc::sync::Arc<$entry>, $crate::error::ApiMisuse> {
                self.catalog.insert(item, $crate::server::Scopes::new())
            }

            /// The same, for callers with all of these scopes only. Others are answered 403 over HTTP; see
            /// [`ResourceServer`](crate::server::ResourceServer). On a byte stream they are an error where
            /// somebody was recognised, and where nobody was, the client is whoever started the server.
            pub fn insert_for(
                &mut self,
                item: $item,
                scopes: $crate::server::Scopes,
            ) -> Result<&alloc::sync::Arc<$entry>, $crate::error::ApiMisuse> {
                self.catalog.insert(item, scopes)
            }

            /// Takes one out.
            pub fn remove(&mut self, $key: &str) -> Option<alloc::sync::Arc<$entry>> {
                self.catalog.remove($key)
            }

            /// The one with exactly this key; case counts.
            pub fn get(&self, $key: &str) -> Option<&alloc::sync::Arc<$entry>> {
                self.catalog.get($key)
            }

            /// All, in order.
            pub fn iter(&self) -> impl Iterator<Item = &alloc::sync::Arc<$entry>> {
                self.catalog.iter()
            }

            /// Those that were added to this since it was a clone of `before`, in order.
            pub fn added_since(&self, before: &Self) -> impl Iterator<Item = &alloc::sync::Arc<$entry>> {
                self.catalog.added_since(&before.catalog)
            }

            /// Whether both have the very same entries in the same order.
            pub fn is_same(&self, other: &Self) -> bool {
                self.catalog.is_same(&other.catalog)
            }

            /// How many there are.
            pub fn len(&self) -> usize {
                self.catalog.len()
            }

            /// Whether there is none.
            pub fn is_empty(&self) -> bool {
                self.catalog.is_empty()
            }
        }

        impl $entry {
            /// The scopes that a caller must have.
            pub fn scopes(&self) -> &$crate::server::Scopes {
                &self.scopes
            }

            /// Its JSON as `revision` knows it.
            pub fn text(&self, revision: $crate::dialect::Revision) -> &serde_json::value::RawValue {
                self.texts.get(revision)
            }
        }
    };
}

pub(super) use catalog;
