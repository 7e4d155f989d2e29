//! Bytes on their way: appended at the back, taken from the front, memory reused.

use alloc::vec::Vec;
use core::fmt;

/// Memory that an empty buffer keeps for what comes next.
const KEPT: usize = 256 << 10;

/// A queue of bytes in one piece.
#[derive(Default)]
pub(super) struct Buffer {
    bytes: Vec<u8>,
    start: usize,
}

impl Buffer {
    pub(super) fn as_slice(&self) -> &[u8] {
        self.bytes.get(self.start..).unwrap_or_default()
    }

    pub(super) fn len(&self) -> usize {
        self.bytes.len() - self.start
    }

    pub(super) fn is_empty(&self) -> bool {
        self.len() == 0
    }

    pub(super) fn push(&mut self, bytes: &[u8]) {
        // Moving costs no more than what was taken since the last move.
        if self.start > self.bytes.len() / 2 {
            self.bytes.drain(..self.start);
            self.start = 0;
        }
        self.bytes.extend_from_slice(bytes);
    }

    /// The end of the queue, to be written to and never shortened.
    pub(super) fn back(&mut self) -> &mut Vec<u8> {
        &mut self.bytes
    }

    pub(super) fn advance(&mut self, n: usize) {
        self.start = self.start.saturating_add(n).min(self.bytes.len());
        if self.start == self.bytes.len() {
            self.clear();
        }
    }

    pub(super) fn clear(&mut self) {
        self.bytes.clear();
        self.bytes.shrink_to(KEPT);
        self.start = 0;
    }

    /// Takes over bytes that were put together elsewhere, from `start` on.
    pub(super) fn replace(&mut self, bytes: Vec<u8>, start: usize) {
        self.bytes = bytes;
        self.start = start;
    }

    /// Moves what stands behind the first `length` bytes before them: into the room that is there, if it fits.
    pub(super) fn move_before(&mut self, length: usize) {
        let from = (self.start + length).min(self.bytes.len());
        let behind = self.bytes.len() - from;
        if behind <= self.start {
            self.start -= behind;
            self.bytes.copy_within(from.., self.start);
            self.bytes.truncate(from);
        } else if let Some(bytes) = self.bytes.get_mut(self.start..) {
            bytes.rotate_right(behind);
        }
    }

    /// The memory, if nothing is in it.
    pub(super) fn spare(&mut self) -> Vec<u8> {
        if self.is_empty() { core::mem::take(self).bytes } else { Vec::new() }
    }

    /// What is left, as its own.
    pub(super) fn take(&mut self) -> Vec<u8> {
        let mut bytes = core::mem::take(&mut self.bytes);
        bytes.drain(..core::mem::take(&mut self.start));
        bytes
    }
}

/// Prints the length only: the bytes may be secrets.
impl fmt::Debug for Buffer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Buffer({})", self.len())
    }
}

/// Body bytes that are lent out whole and forgotten at the next touch.
#[derive(Default)]
pub(super) struct Lend {
    bytes: Vec<u8>,
    lent: bool,
}

impl Lend {
    pub(super) fn len(&self) -> usize {
        if self.lent { 0 } else { self.bytes.len() }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.len() == 0
    }

    pub(super) fn push(&mut self, bytes: &[u8]) {
        self.reclaim();
        self.bytes.extend_from_slice(bytes);
    }

    /// Marks all that is held as lent.
    pub(super) fn lend(&mut self) {
        self.reclaim();
        self.lent = true;
    }

    /// What was lent.
    pub(super) fn lent(&self) -> &[u8] {
        &self.bytes
    }

    fn reclaim(&mut self) {
        if core::mem::take(&mut self.lent) {
            self.bytes.clear();
            self.bytes.shrink_to(KEPT);
        }
    }
}

/// Prints the length only: the bytes may be secrets.
impl fmt::Debug for Lend {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Lend({})", self.len())
    }
}
