//! Where a head ends.

use super::Fault;
use crate::wire::bytes::find;
use alloc::vec::Vec;

/// Blank lines tolerated before a head: some old clients end a body with a CRLF that they do not count.
const BLANK_LINES: u8 = 2;

/// As long as heads usually are.
const USUAL: usize = 1024;

/// Collects a head until it is complete. It is parsed only then, so the splits of the input cannot matter.
#[derive(Default)]
pub(in super::super) struct HeadBuffer {
    bytes: Vec<u8>,
    lines: usize,
    line_start: usize,
    blank: u8,
}

/// What a piece of input brought.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in super::super) enum Found {
    /// All of it was taken; the head goes on.
    More,
    /// The head is complete.
    Complete,
    /// This is no head.
    Fault(Fault),
}

impl HeadBuffer {
    /// Takes input up to the end of the head. Says how much it took.
    pub(in super::super) fn feed(&mut self, input: &[u8], limit: usize) -> (usize, Found) {
        if self.bytes.is_empty()
            && let Some(first) = input.first()
            && !(first.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~\r\n".contains(first))
        {
            return (0, Found::Fault(Fault::bad("the first byte cannot begin an HTTP message")));
        }
        let before = self.bytes.len();
        let window = input.get(..limit.saturating_sub(before)).unwrap_or(input);
        let mut used = 0;
        while let Some(end) = window.get(used..).and_then(|rest| find(rest, [b'\n'])) {
            let at = used + end;
            used = at + 1;
            let previous = at.checked_sub(1).map_or(self.bytes.last(), |at| window.get(at));
            if previous != Some(&b'\r') {
                return (used, Found::Fault(Fault::bad("a line of the head ends with LF alone")));
            }
            let length = before + at - 1 - self.line_start;
            self.line_start = before + used;
            self.lines += 1;
            if length > 0 {
                continue;
            }
            if self.lines > 1 {
                self.keep(window.get(..used).unwrap_or(window));
                return (used, Found::Complete);
            }
            if self.blank == BLANK_LINES {
                return (used, Found::Fault(Fault::bad("blank lines instead of a head")));
            }
            let blank = self.blank + 1;
            self.clear();
            self.blank = blank;
            // The first byte of what follows is to be checked, too.
            let (more, found) = self.feed(input.get(used..).unwrap_or_default(), limit);
            return (used + more, found);
        }
        used = window.len();
        self.keep(window);
        if used < input.len() {
            return (used, Found::Fault(Fault::new(431, "the head is longer than `Limits::head`")));
        }
        (used, Found::More)
    }

    fn keep(&mut self, bytes: &[u8]) {
        // Mostly all of a head comes at once, and often its body with it.
        self.bytes.reserve(bytes.len().min(USUAL));
        self.bytes.extend_from_slice(bytes);
    }

    /// Gives a complete head away, and gets ready for the next one.
    pub(in super::super) fn take(&mut self) -> Vec<u8> {
        let bytes = core::mem::take(&mut self.bytes);
        self.clear();
        bytes
    }

    /// The bytes up to here.
    pub(in super::super) fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// How many fields a complete head has: its lines but the first and the blank one.
    pub(in super::super) fn fields(&self) -> usize {
        self.lines.saturating_sub(2)
    }

    /// Whether nothing of a head has arrived.
    pub(in super::super) fn is_empty(&self) -> bool {
        self.bytes.is_empty()
    }

    /// Gets ready for the next head, and keeps the memory.
    pub(in super::super) fn clear(&mut self) {
        self.bytes.clear();
        (self.lines, self.line_start, self.blank) = (0, 0, 0);
    }
}

/// Prints the length only: fields may be secrets.
impl core::fmt::Debug for HeadBuffer {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        write!(f, "HeadBuffer({})", self.bytes.len())
    }
}
