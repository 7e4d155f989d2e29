//! Batches, which only revision 2025-03-26 has: one array of answers for one array of messages, sent when the
//! last of its requests is answered.
//!
//! <https://modelcontextprotocol.io/specification/2025-03-26/basic/index#batching>

use alloc::vec::Vec;
use core::fmt;

/// The batches that wait for a running call.
#[derive(Debug, Default)]
pub(super) struct Batches {
    open: Vec<Batch>,
    last: u64,
}

struct Batch {
    id: u64,
    /// The answers so far, with commas between them.
    answers: Vec<u8>,
    /// Running calls, and one while its messages are read.
    waiting: usize,
}

/// Prints the length of the answers only.
impl fmt::Debug for Batch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (id, waiting, answers) = (self.id, self.waiting, self.answers.len());
        write!(f, "Batch({id}, {waiting} waiting, {answers} bytes)")
    }
}

impl Batches {
    /// A batch begins to be read; [`finish`](Self::finish) says when that is done.
    pub(super) fn begin(&mut self) -> u64 {
        self.last += 1;
        self.open.push(Batch { id: self.last, answers: Vec::new(), waiting: 1 });
        self.last
    }

    /// One of its requests became a call.
    pub(super) fn wait(&mut self, id: u64) {
        if let Some(batch) = self.get_mut(id) {
            batch.waiting += 1;
        }
    }

    /// Adds an answer.
    pub(super) fn answer(&mut self, id: u64, write: impl FnOnce(&mut Vec<u8>)) {
        if let Some(batch) = self.get_mut(id) {
            if !batch.answers.is_empty() {
                batch.answers.push(b',');
            }
            write(&mut batch.answers);
        }
    }

    /// A call is over, or the messages are read. Writes the whole answer when nothing is waited for any
    /// more, and says whether it wrote one: a batch without requests has none.
    pub(super) fn finish(&mut self, id: u64, out: &mut Vec<u8>) -> Finished {
        let Some(place) = self.open.iter().position(|batch| batch.id == id) else { return Finished::No };
        let Some(batch) = self.open.get_mut(place) else { return Finished::No };
        batch.waiting -= 1;
        if batch.waiting > 0 {
            return Finished::No;
        }
        let batch = self.open.swap_remove(place);
        if batch.answers.is_empty() {
            return Finished::Silent;
        }
        out.push(b'[');
        out.extend_from_slice(&batch.answers);
        out.push(b']');
        Finished::Written
    }

    /// Bytes that are held.
    pub(super) fn len(&self) -> usize {
        self.open.iter().map(|batch| batch.answers.len()).sum()
    }

    fn get_mut(&mut self, id: u64) -> Option<&mut Batch> {
        self.open.iter_mut().find(|batch| batch.id == id)
    }
}

/// Whether a batch is over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Finished {
    /// It waits.
    No,
    /// It is, and its answer was written.
    Written,
    /// It is, and there is nothing to answer.
    Silent,
}
