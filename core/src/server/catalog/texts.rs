//! What a list says, written once when its entries are added and copied from then on.

use alloc::string::String;
use alloc::sync::Arc;
use alloc::vec::Vec;

use serde_json::value::RawValue;

use crate::dialect::Revision;
use crate::model::{In, Json, Members};

/// The JSON of an entry; revisions in which it reads alike share one text.
#[derive(Debug)]
pub(in crate::server) struct Texts(Vec<(Revision, Json)>);

impl Texts {
    pub(in crate::server) fn new(item: &impl Members) -> serde_json::Result<Self> {
        let mut texts: Vec<(Revision, Json)> = Vec::new();
        for revision in Revision::ALL {
            // On one line, as line ends would break the framing of stdio and of event streams.
            let text = Json::new(&In(revision, item))?;
            if texts.last().is_none_or(|(_, last)| *last != text) {
                texts.push((revision, text));
            }
        }
        Ok(Self(texts))
    }

    pub(in crate::server) fn get(&self, revision: Revision) -> &RawValue {
        // The first text is for the oldest revision, so there is always one.
        let text = self.0.iter().rev().find(|(since, _)| *since <= revision).or(self.0.first());
        text.map_or(RawValue::NULL, |(_, text)| text.as_ref())
    }
}

/// The JSON arrays of all entries, so that a whole list is one copy; revisions in which all of them read alike share
/// one. Shared by the snapshots that do not differ in it.
#[derive(Clone, Debug, Default)]
pub(super) struct Whole(Arc<Vec<(Revision, String)>>);

impl Whole {
    /// Adds an entry at the end.
    pub(super) fn push(&mut self, texts: &Texts) {
        let arrays = Arc::make_mut(&mut self.0);
        for (since, _) in &texts.0 {
            if let Err(place) = arrays.binary_search_by_key(since, |(since, _)| *since) {
                // So far it read as in the revision before.
                let before = place.checked_sub(1).and_then(|place| arrays.get(place));
                let array = before.map(|(_, array)| array.clone()).unwrap_or_default();
                arrays.insert(place, (*since, array));
            }
        }
        for (since, array) in arrays {
            let first = array.pop().is_none();
            array.push(if first { '[' } else { ',' });
            array.push_str(texts.get(*since).get());
            array.push(']');
        }
    }

    pub(super) fn get(&self, revision: Revision) -> &str {
        let array = self.0.iter().rev().find(|(since, _)| *since <= revision);
        array.map_or("[]", |(_, array)| array)
    }
}
