//! Bodies as they come in.

use super::chunked::Chunked;
use crate::wire::http1::head::{Fault, Framing};

/// Finds the end of a body.
#[derive(Debug)]
pub(in super::super) enum Decoder {
    /// So many bytes are left.
    Length(u64),
    /// Until the last chunk and the trailers.
    Chunked(Chunked),
    /// Until the connection ends; responses only.
    UntilClose,
}

/// What one step through the input brought.
#[derive(Debug, PartialEq, Eq)]
pub(in super::super) struct Piece<'a> {
    /// How much of the input is done with. Zero only when the input is empty.
    pub(in super::super) used: usize,
    /// Bytes of the body among it.
    pub(in super::super) data: &'a [u8],
    /// Whether the body is complete.
    pub(in super::super) done: bool,
}

impl Decoder {
    /// For a body with the given framing; `None` when that body is empty.
    pub(in super::super) fn new(framing: Framing, head_limit: usize, fields: usize) -> Option<Self> {
        match framing {
            Framing::Undeclared | Framing::Length(0) => None,
            Framing::Length(length) => Some(Self::Length(length)),
            Framing::Chunked => Some(Self::Chunked(Chunked::new(head_limit, fields))),
        }
    }

    /// Goes on until there is data, or the end of the body, or no more input.
    pub(in super::super) fn decode<'a>(&mut self, input: &'a [u8]) -> Result<Piece<'a>, Fault> {
        match self {
            Self::Length(left) => {
                let used = usize::try_from(*left).unwrap_or(usize::MAX).min(input.len());
                *left -= used as u64;
                Ok(Piece { used, data: input.get(..used).unwrap_or_default(), done: *left == 0 })
            }
            Self::Chunked(chunked) => chunked.decode(input),
            Self::UntilClose => Ok(Piece { used: input.len(), data: input, done: false }),
        }
    }

    /// How many bytes are still to come, where that was declared.
    pub(in super::super) fn left(&self) -> Option<u64> {
        match self {
            Self::Length(left) => Some(*left),
            Self::Chunked(_) | Self::UntilClose => None,
        }
    }
}
