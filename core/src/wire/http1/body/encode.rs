//! Bodies as they go out.

use crate::wire::http1::buffer::Buffer;
use alloc::vec::Vec;

/// Marks the end of a body.
#[derive(Debug, PartialEq, Eq)]
pub(in super::super) enum Encoder {
    /// The message has no body whatever is sent: a response to HEAD, 204, 304.
    Suppressed,
    /// So many bytes are left.
    Length(u64),
    /// A chunk each time, and an empty one at the end.
    Chunked,
    /// The end of the connection is the end of the body.
    UntilClose,
}

impl Encoder {
    pub(in super::super) fn send(&mut self, data: &[u8], out: &mut Buffer) {
        match self {
            Self::Suppressed => {}
            Self::Length(left) => {
                let length = usize::try_from(*left).unwrap_or(usize::MAX).min(data.len());
                *left -= length as u64;
                out.push(data.get(..length).unwrap_or_default());
            }
            // An empty chunk would be the end.
            Self::Chunked if data.is_empty() => {}
            Self::Chunked => {
                push_size(out.back(), data.len());
                out.push(data);
                out.push(b"\r\n");
            }
            Self::UntilClose => out.push(data),
        }
    }

    /// Ends the body. False when bytes are missing that were promised.
    pub(in super::super) fn finish(&self, out: &mut Buffer) -> bool {
        match self {
            Self::Suppressed | Self::Length(0) | Self::UntilClose => true,
            Self::Length(_) => false,
            Self::Chunked => {
                out.push(b"0\r\n\r\n");
                true
            }
        }
    }
}

fn push_size(out: &mut Vec<u8>, length: usize) {
    let digits = (usize::BITS - length.leading_zeros()).div_ceil(4);
    for place in (0..digits).rev() {
        // Four bits are a digit of base 16.
        out.push(char::from_digit((length >> (place * 4)) as u32 & 0xf, 16).unwrap_or('0') as u8);
    }
    out.extend_from_slice(b"\r\n");
}
