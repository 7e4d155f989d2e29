//! Messages as lines: the framing of stdio and of other byte streams.
//!
//! <https://modelcontextprotocol.io/specification/2026-07-28/basic/transports/stdio>

use super::bytes::{self, ByteOrderMark};
use alloc::vec::Vec;
use core::fmt;

/// Cuts a byte stream into lines, however it arrives in pieces.
///
/// ```
/// use mcp_proto::wire::lines::{Line, Lines};
///
/// let mut lines = Lines::new(1024);
/// let mut input: &[u8] = b"{}\r\n\n[";
/// assert_eq!(lines.next(&mut input), Some(Line::Line(b"{}")));
/// assert_eq!(lines.next(&mut input), None);
/// let mut input: &[u8] = b"]\n";
/// assert_eq!(lines.next(&mut input), Some(Line::Line(b"[]")));
/// ```
///
/// A line that lies whole in the input is lent from there; only an incomplete one is copied and held. Lines
/// end with LF or CRLF and are lent without either. Blank lines (whitespace only) are skipped, and so is one
/// byte order mark at the very start of the stream. Nothing is decoded: a line may be any bytes.
///
/// Holds at most the limit and a carriage return, plus what the last input was.
#[derive(Clone)]
pub struct Lines {
    limit: usize,
    held: Vec<u8>,
    mark: ByteOrderMark,
    /// Inside a line that was reported as too long.
    skipping: bool,
    /// What is held was lent out; it goes at the next call.
    lent: bool,
}

/// Prints the length of what it holds only.
impl fmt::Debug for Lines {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Lines")
            .field("limit", &self.limit)
            .field("held", &format_args!("{} bytes", self.held.len()))
            .field("skipping", &self.skipping)
            .finish_non_exhaustive()
    }
}

/// What [`Lines::next`] found.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Line<'a> {
    /// A line that is not blank, without its end.
    Line(&'a [u8]),
    /// A line passed the limit. Reported once and as soon as that is known; the line is skipped up to its
    /// end, and the one after it is read as usual.
    TooLong {
        /// The limit, in bytes.
        limit: usize,
        /// So many bytes from the beginning of the line.
        start: &'a [u8],
    },
}

/// Prints lengths only.
impl fmt::Debug for Line<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Line(line) => write!(f, "Line({} bytes)", line.len()),
            Self::TooLong { limit, .. } => write!(f, "TooLong({limit} bytes)"),
        }
    }
}

impl Lines {
    /// A decoder at the start of a stream, for lines of at most `limit` bytes, not counting their end
    /// ([`Limits::message`](crate::limits::Limits::message)).
    pub const fn new(limit: usize) -> Self {
        Self { limit, held: Vec::new(), mark: ByteOrderMark::new(), skipping: false, lent: false }
    }

    /// The next line. Takes what it used off the front of `input`; `None` means that all of it was used.
    pub fn next<'a, 'i: 'a>(&'a mut self, input: &mut &'i [u8]) -> Option<Line<'a>> {
        self.reclaim();
        self.held.extend_from_slice(self.mark.skip(input));
        while !input.is_empty() {
            let Some((line, _, rest)) = bytes::split(input, [b'\n']) else {
                return self.hold(core::mem::take(input));
            };
            *input = rest;
            if core::mem::take(&mut self.skipping) {
                continue;
            }
            if self.is_too_long(line) {
                return Some(self.too_long(line));
            }
            if self.held.is_empty() {
                if !bytes::is_blank(line) {
                    return Some(Line::Line(without_return(line)));
                }
                continue;
            }
            bytes::append(&mut self.held, line, self.limit.saturating_add(1));
            if !bytes::is_blank(&self.held) {
                return Some(self.lend());
            }
            self.held.clear();
        }
        None
    }

    /// The stream has ended: its last line, if that has no end of its own. An unfinished line is delivered,
    /// since whoever reads it can tell a whole message from half of one, and this cannot.
    pub fn end(&mut self) -> Option<Line<'_>> {
        self.reclaim();
        self.held.extend_from_slice(self.mark.finish());
        if core::mem::take(&mut self.skipping) || bytes::is_blank(&self.held) {
            bytes::empty(&mut self.held);
            return None;
        }
        if self.is_too_long(&[]) {
            return Some(self.too_long(&[]));
        }
        Some(self.lend())
    }

    /// Keeps the beginning of a line, unless it is too long already.
    fn hold(&mut self, part: &[u8]) -> Option<Line<'_>> {
        if self.skipping {
            return None;
        }
        if self.is_too_long(part) {
            self.skipping = true;
            return Some(self.too_long(part));
        }
        // One more than the limit: a carriage return that the end of the line may turn out to be.
        bytes::append(&mut self.held, part, self.limit.saturating_add(1));
        None
    }

    fn lend(&mut self) -> Line<'_> {
        self.lent = true;
        Line::Line(without_return(&self.held))
    }

    fn reclaim(&mut self) {
        if core::mem::take(&mut self.lent) {
            bytes::empty(&mut self.held);
        }
    }

    /// Whether what is held, going on with `part`, is too long whatever follows.
    fn is_too_long(&self, part: &[u8]) -> bool {
        let ends_in_return = part.last().or(self.held.last()) == Some(&b'\r');
        self.held.len() + part.len() - usize::from(ends_in_return) > self.limit
    }

    /// What is held, going on with `part`, is too long. Of its beginning the same is lent however it arrived.
    fn too_long(&mut self, part: &[u8]) -> Line<'_> {
        let missing = self.limit.saturating_sub(self.held.len());
        bytes::append(&mut self.held, part.get(..missing).unwrap_or(part), self.limit.saturating_add(1));
        self.held.truncate(self.limit);
        self.lent = true;
        Line::TooLong { limit: self.limit, start: &self.held }
    }
}

fn without_return(line: &[u8]) -> &[u8] {
    line.strip_suffix(b"\r").unwrap_or(line)
}

#[cfg(test)]
mod tests;
