//! Strings and integers as JSON text.

use crate::wire::bytes::{find_special, split_at};
use alloc::vec::Vec;
use core::fmt;

/// Appends a string with its quotes.
pub(super) fn quote(out: &mut Vec<u8>, text: &str) {
    out.reserve(text.len() + 2);
    out.push(b'"');
    escape(out, text);
    out.push(b'"');
}

fn escape(out: &mut Vec<u8>, text: &str) {
    let mut rest = text.as_bytes();
    while let Some((plain, special, after)) = find_special(rest).and_then(|at| split_at(rest, at)) {
        out.extend_from_slice(plain);
        let short = match special {
            b'"' | b'\\' => special,
            0x08 => b'b',
            b'\t' => b't',
            b'\n' => b'n',
            0x0C => b'f',
            b'\r' => b'r',
            _ => b'u',
        };
        out.extend_from_slice(&[b'\\', short]);
        if short == b'u' {
            // Below 0x20, so two digits are zero and the third is zero or one.
            let low = special & 0xF;
            let low = if low < 10 { b'0' + low } else { b'a' + low - 10 };
            out.extend_from_slice(&[b'0', b'0', b'0' + (special >> 4), low]);
        }
        rest = after;
    }
    out.extend_from_slice(rest);
}

/// Escapes what is formatted into it.
pub(super) struct Escaped<'o>(pub(super) &'o mut Vec<u8>);

impl fmt::Write for Escaped<'_> {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        escape(self.0, text);
        Ok(())
    }
}
