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

/// What the JSON array of all entries has between its brackets, so that a whole list is a few copies: in pieces, so that
/// an entry that comes or goes changes one, and snapshots share the others.
#[derive(Clone, Debug, Default)]
pub(super) struct Whole(Vec<Arc<Piece>>);

/// Some entries in a row. Revisions in which all of them read alike share a text.
#[derive(Clone, Debug, Default)]
struct Piece {
    /// The number of the last entry.
    last: u64,
    entries: usize,
    texts: Vec<(Revision, String)>,
}

/// Entries of a piece.
const PIECE: usize = 64;

impl Whole {
    /// Adds an entry at the end.
    pub(super) fn push(&mut self, number: u64, texts: &Texts) {
        match self.0.last_mut() {
            Some(piece) if piece.entries < PIECE => Arc::make_mut(piece).push(number, texts),
            _ => {
                let mut piece = Piece::default();
                piece.push(number, texts);
                self.0.push(Arc::new(piece));
            }
        }
    }

    /// The entry of this number is gone. `after` has those that are left and come after a number.
    pub(super) fn remove<'a, T: Iterator<Item = (u64, &'a Texts)>>(
        &mut self,
        number: u64,
        after: impl FnOnce(u64) -> T,
    ) {
        let place = self.0.partition_point(|piece| piece.last < number);
        let before = place.checked_sub(1).and_then(|place| self.0.get(place)).map_or(0, |piece| piece.last);
        let Some(piece) = self.0.get_mut(place) else { return };
        let mut rest = Piece::default();
        let last = piece.last;
        after(before).take_while(|(number, _)| *number <= last).for_each(|(number, texts)| {
            rest.push(number, texts);
        });
        if rest.entries == 0 {
            self.0.remove(place);
        } else {
            *piece = Arc::new(rest);
        }
    }

    pub(super) fn get(&self, revision: Revision) -> impl Iterator<Item = &str> {
        self.0.iter().map(move |piece| {
            // The first text is for the oldest revision, so there is always one.
            let text = piece.texts.iter().rev().find(|(since, _)| *since <= revision).or(piece.texts.first());
            text.map_or("", |(_, text)| text)
        })
    }
}

impl Piece {
    fn push(&mut self, number: u64, texts: &Texts) {
        for (since, _) in &texts.0 {
            if let Err(place) = self.texts.binary_search_by_key(since, |(since, _)| *since) {
                // So far it read as in the revision before.
                let before = place.checked_sub(1).and_then(|place| self.texts.get(place));
                let text = before.map(|(_, text)| text.clone()).unwrap_or_default();
                self.texts.insert(place, (*since, text));
            }
        }
        for (since, text) in &mut self.texts {
            if self.entries > 0 {
                text.push(',');
            }
            text.push_str(texts.get(*since).get());
        }
        (self.last, self.entries) = (number, self.entries + 1);
    }
}
