//! Reading a whole collection page by page, without reading for ever.
//!
//! <https://modelcontextprotocol.io/specification/2026-07-28/server/utilities/pagination>

use super::config::Config;
use crate::dialect::{Era, Revision};
use crate::error::{CallError, code};
use crate::model::pagination::Cursor;
use alloc::format;
use alloc::vec::Vec;

/// The items of a collection, and whether there are more.
///
/// Ask for the first page; give each page to [`add`](Self::add); ask for the page that it names, until it
/// names none. Whatever happens, [`items`](Self::items) are those that were read so far.
///
/// ```
/// use mcp_proto::client::{Config, Pages};
/// use mcp_proto::dialect::Revision;
/// use mcp_proto::model::Implementation;
///
/// let config = Config::new(Implementation::new("kiln", "1.0.0"));
/// let mut pages = Pages::new(Revision::V2026_07_28, &config);
/// assert_eq!(pages.add(vec!["a", "b"], Some("p2".into())).unwrap(), Some("p2".into()));
/// assert_eq!(pages.add(vec!["c"], None).unwrap(), None);
/// assert_eq!(pages.items(), ["a", "b", "c"]);
/// ```
#[derive(Clone, Debug)]
pub struct Pages<T> {
    /// Whether an empty or repeated cursor is the end.
    lenient: bool,
    limit: usize,
    /// How many items are kept.
    most: usize,
    read: usize,
    last: Option<Cursor>,
    restarted: bool,
    items: Vec<T>,
}

impl<T> Pages<T> {
    /// No page yet, of a server that speaks `revision`.
    pub fn new(revision: Revision, config: &Config) -> Self {
        let lenient = revision.era() == Era::Legacy && config.leniency.endless_cursor;
        let (limit, most) = (config.limits.pages, config.limits.items);
        Self { lenient, limit, most, read: 0, last: None, restarted: false, items: Vec::new() }
    }

    /// Adds a page, and says which one is next.
    ///
    /// The end is a page without a cursor. A modern server may use the empty one and may use one twice
    /// (PAGE-02); on legacy revisions both end the collection, because servers were seen to send them for
    /// ever (B56), unless [`Leniency::endless_cursor`](crate::leniency::Leniency::endless_cursor) is off.
    ///
    /// # Errors
    ///
    /// [`CallError::Invalid`] when there is another page after
    /// [`Limits::pages`](crate::limits::Limits::pages), or another item after
    /// [`Limits::items`](crate::limits::Limits::items). What fits of this page was added all the same.
    pub fn add(
        &mut self,
        page: impl IntoIterator<Item = T>,
        next: Option<Cursor>,
    ) -> Result<Option<Cursor>, CallError> {
        let mut page = page.into_iter();
        self.items.extend(page.by_ref().take(self.most.saturating_sub(self.items.len())));
        if page.next().is_some() {
            return Err(CallError::Invalid {
                reason: format!(
                    "the collection goes on after {} items; raise `Limits::items` to read more",
                    self.most
                ),
            });
        }
        self.read += 1;
        let Some(next) = next else { return Ok(None) };
        if self.lenient && (next.as_str().is_empty() || self.last.as_ref() == Some(&next)) {
            return Ok(None);
        }
        if self.read >= self.limit {
            return Err(CallError::Invalid {
                reason: format!(
                    "the collection goes on after {} pages; raise `Limits::pages` to read more",
                    self.limit
                ),
            });
        }
        self.last = Some(next.clone());
        Ok(Some(next))
    }

    /// Whether to begin anew with the first page, because this is what asking for a further one has come to: the server
    /// does not know its cursor any more (CACHE-30). What was read is dropped then. Once for a collection.
    pub fn restart(&mut self, error: &CallError) -> bool {
        let refused = matches!(error, CallError::Server { error, .. }
            if error.code == i64::from(code::INVALID_PARAMS));
        let again = refused && self.last.is_some() && !self.restarted;
        if again {
            self.restarted = true;
            self.last = None;
            self.read = 0;
            self.items.clear();
        }
        again
    }

    /// What was read so far.
    pub fn items(&self) -> &[T] {
        &self.items
    }

    /// What was read so far.
    pub fn into_items(self) -> Vec<T> {
        self.items
    }
}

#[cfg(test)]
mod tests;
