//! A body that is complete before its head is written.

use alloc::vec::Vec;
use core::fmt;

/// A body in one piece. There may be room before it, where HTTP/1.1 writes the head: then neither is copied.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct WholeBody {
    bytes: Vec<u8>,
    start: usize,
}

impl WholeBody {
    /// What begins at `start`; nothing if that is past the end.
    pub(crate) fn from(bytes: Vec<u8>, start: usize) -> Self {
        Self { start: start.min(bytes.len()), bytes }
    }

    /// The bytes of the body.
    pub fn as_slice(&self) -> &[u8] {
        self.bytes.get(self.start..).unwrap_or_default()
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.bytes.len() - self.start
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The memory, and where the body begins in it.
    #[cfg(feature = "http1")]
    pub(crate) fn into_parts(self) -> (Vec<u8>, usize) {
        (self.bytes, self.start)
    }
}

/// Prints the length only.
impl fmt::Debug for WholeBody {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "WholeBody({} bytes)", self.len())
    }
}
