//! Bytes on their way out: appended at one end, taken at the other, in one buffer that is reused.

use alloc::vec::Vec;
use core::fmt;

use crate::head::WholeBody;

/// An empty buffer larger than this is given back, so that one large answer is not held for ever.
const KEPT: usize = 256 << 10;

/// What the buffer begins with.
const FIRST: usize = 512;

/// Room for a head before a body: as long as heads of responses usually are, and more.
const HEAD: usize = 256;

#[derive(Default)]
pub(super) struct Transmit {
    bytes: Vec<u8>,
    taken: usize,
}

/// Prints the length only: what is sent is nobody else's business.
impl fmt::Debug for Transmit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Transmit({} bytes)", self.len())
    }
}

impl Transmit {
    /// What is still to be sent.
    pub(super) fn rest(&self) -> &[u8] {
        self.bytes.get(self.taken..).unwrap_or_default()
    }

    pub(super) fn len(&self) -> usize {
        self.bytes.len() - self.taken
    }

    pub(super) fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The first `n` bytes are sent; more than there are counts as all.
    pub(super) fn advance(&mut self, n: usize) {
        self.taken = self.taken.saturating_add(n).min(self.bytes.len());
        if self.is_empty() {
            self.clear();
        } else if self.taken > KEPT && self.taken > self.bytes.len() / 2 {
            self.bytes.drain(..self.taken);
            self.taken = 0;
        }
    }

    /// Forgets everything.
    pub(super) fn clear(&mut self) {
        self.bytes.clear();
        self.taken = 0;
        if self.bytes.capacity() > KEPT {
            self.bytes = Vec::new();
        }
    }

    /// Holds nothing more than what is to be sent.
    pub(super) fn shrink(&mut self) {
        if self.is_empty() {
            *self = Self::default();
        }
    }

    /// Writes into this memory from now on, with room for a head before it, if nothing was written yet.
    pub(super) fn lend(&mut self, mut memory: Vec<u8>) {
        if self.bytes.is_empty() {
            memory.clear();
            memory.reserve(HEAD + FIRST);
            memory.resize(HEAD, 0);
            (self.bytes, self.taken) = (memory, HEAD);
        }
    }

    /// Gives away all that is to be sent, with its memory.
    pub(super) fn take(&mut self) -> WholeBody {
        let Self { bytes, taken } = core::mem::take(self);
        WholeBody::from(bytes, taken)
    }

    /// The buffer, to append to.
    pub(super) fn buffer(&mut self) -> &mut Vec<u8> {
        if self.bytes.capacity() == 0 {
            // Room for a short message at once, and not by doubling.
            self.bytes.reserve(FIRST);
        }
        &mut self.bytes
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_come_out_once_and_in_order() {
        let mut transmit = Transmit::default();
        transmit.buffer().extend_from_slice(b"abc");
        transmit.advance(1);
        transmit.buffer().extend_from_slice(b"de");
        assert_eq!(transmit.rest(), b"bcde");
        transmit.advance(99);
        assert!(transmit.is_empty());
        transmit.buffer().push(b'f');
        assert_eq!(transmit.rest(), b"f");
    }

    #[test]
    fn what_was_written_into_lent_memory_comes_out_with_it() {
        let mut transmit = Transmit::default();
        transmit.lend(b"what was there before".to_vec());
        assert!(transmit.is_empty());
        transmit.buffer().extend_from_slice(b"abc");
        // Too late: what was written is not lost.
        transmit.lend(Vec::new());
        transmit.advance(1);
        assert_eq!(transmit.rest(), b"bc");
        assert_eq!(transmit.take().as_slice(), b"bc");
        assert!(transmit.is_empty());
    }

    #[test]
    fn sent_bytes_of_a_large_answer_are_given_back() {
        let mut transmit = Transmit::default();
        transmit.buffer().resize(4 * KEPT, b'x');
        transmit.advance(3 * KEPT);
        assert_eq!(transmit.buffer().len(), KEPT);
        transmit.advance(KEPT);
        assert!(transmit.bytes.capacity() == 0 && transmit.buffer().capacity() < KEPT);
    }
}
