//! What the decoders of byte streams have in common.

use alloc::vec::Vec;

/// A buffer above this capacity is given back once its content was delivered: one long message must not
/// cost its memory for the rest of the connection.
const KEEP: usize = 64 << 10;

/// Where the first of these bytes is.
#[inline]
pub(crate) fn find<const N: usize>(bytes: &[u8], stops: [u8; N]) -> Option<usize> {
    search(bytes, stops, |_| 0, |_| false)
}

/// Where the first byte is that cannot stand for itself in a JSON string: quote, backslash or control.
#[inline]
pub(crate) fn find_special(bytes: &[u8]) -> Option<usize> {
    let below_space = |word: u64| word.wrapping_sub(splat(b' ')) & !word;
    search(bytes, [b'"', b'\\'], below_space, |byte| byte < b' ')
}

/// Splits at the first of these bytes: what comes before it, the byte, what comes after it.
#[inline]
pub(crate) fn split<const N: usize>(bytes: &[u8], stops: [u8; N]) -> Option<(&[u8], u8, &[u8])> {
    split_at(bytes, find(bytes, stops)?)
}

/// Splits around one byte.
pub(crate) fn split_at(bytes: &[u8], at: usize) -> Option<(&[u8], u8, &[u8])> {
    let (before, rest) = bytes.split_at_checked(at)?;
    let (&at, after) = rest.split_first()?;
    Some((before, at, after))
}

/// Looks at the first bytes as words, since most strings end within them; beyond them skips blocks that hold no stop,
/// which compilers make vector code of, as nothing in a block ends its loop early. What does not fill a word at the end
/// is looked at as a word that overlaps the one before it; what fills none, byte by byte.
#[inline]
fn search<const N: usize>(
    bytes: &[u8],
    stops: [u8; N],
    more_in_word: impl Fn(u64) -> u64,
    more: impl Fn(u8) -> bool,
) -> Option<usize> {
    const NEAR: usize = 64;
    const BLOCK: usize = 64;
    let is_stop = |byte: u8| stops.iter().fold(more(byte), |hit, &stop| hit | (stop == byte));
    let Some(last) = bytes.last_chunk::<8>() else {
        return bytes.iter().position(|&byte| is_stop(byte));
    };
    let mut skipped = 0;
    if let Some((near, far)) = bytes.split_first_chunk::<NEAR>() {
        if let Some(at) = search_words(near.as_chunks::<8>().0, stops, &more_in_word) {
            return Some(at);
        }
        let is_clean = |block: &&[u8; BLOCK]| !block.iter().fold(false, |hit, &byte| hit | is_stop(byte));
        skipped = NEAR + far.as_chunks::<BLOCK>().0.iter().take_while(is_clean).count() * BLOCK;
    }
    let (words, rest) = bytes.get(skipped..)?.as_chunks::<8>();
    if let Some(at) = search_words(words, stops, &more_in_word) {
        return Some(skipped + at);
    }
    if rest.is_empty() {
        return None;
    }
    search_words(&[*last], stops, &more_in_word).map(|at| bytes.len() - 8 + at)
}

/// Looks at eight bytes at a time, as one word: `x - 1 & !x` has the high bit of its lowest byte that is
/// zero set, and none below that.
#[inline]
fn search_words<const N: usize>(
    words: &[[u8; 8]],
    stops: [u8; N],
    more_in_word: impl Fn(u64) -> u64,
) -> Option<usize> {
    for (index, word) in words.iter().enumerate() {
        let word = u64::from_le_bytes(*word);
        let equals = |stop: u8| {
            let zero = word ^ splat(stop);
            zero.wrapping_sub(splat(1)) & !zero
        };
        let hits = stops.iter().fold(more_in_word(word), |hits, &stop| hits | equals(stop)) & splat(0x80);
        if hits != 0 {
            return Some(index * 8 + (hits.trailing_zeros() / 8) as usize);
        }
    }
    None
}

const fn splat(byte: u8) -> u64 {
    u64::from_le_bytes([byte; 8])
}

/// Whether two texts are the same but for the case of ASCII letters; the second one has them in lower case.
pub(crate) fn eq_lower(text: &[u8], lower: &[u8]) -> bool {
    let (Some(last), Some(last_lower)) = (text.last_chunk(), lower.last_chunk()) else {
        return text.eq_ignore_ascii_case(lower);
    };
    let same = |(text, lower): (&[u8; 8], &[u8; 8])| {
        to_lower(u64::from_le_bytes(*text)) == u64::from_le_bytes(*lower)
    };
    text.len() == lower.len()
        && text.as_chunks().0.iter().zip(lower.as_chunks().0).all(same)
        && same((last, last_lower))
}

/// Eight bytes, those that are `A` to `Z` in lower case.
const fn to_lower(word: u64) -> u64 {
    let low = word & splat(0x7f);
    let from_a = low + splat(0x80 - b'A');
    let past_z = low + splat(0x7f - b'Z');
    let is_upper = (from_a ^ past_z) & !word & splat(0x80);
    word | is_upper >> 2
}

/// Appends a number in digits.
pub(crate) fn push_decimal(out: &mut Vec<u8>, number: u64) {
    // The largest has twenty of them.
    let mut digits = [0; 20];
    let (mut rest, mut left) = (number, digits.len());
    for digit in digits.iter_mut().rev() {
        // A remainder by ten fits a byte.
        *digit = b'0' + (rest % 10) as u8;
        rest /= 10;
        left -= 1;
        if rest == 0 {
            break;
        }
    }
    out.extend_from_slice(digits.get(left..).unwrap_or_default());
}

/// Appends without ever reserving more than `limit` bytes, where doubling would reserve up to twice that.
/// The caller has checked that the content stays within `limit`.
pub(crate) fn append(buffer: &mut Vec<u8>, bytes: &[u8], limit: usize) {
    let needed = buffer.len() + bytes.len();
    if needed > buffer.capacity() {
        let target = buffer.capacity().saturating_mul(2).min(limit).max(needed);
        buffer.reserve_exact(target - buffer.len());
    }
    buffer.extend_from_slice(bytes);
}

/// Empties a buffer; keeps its memory unless that is a lot.
pub(crate) fn empty(buffer: &mut Vec<u8>) {
    if buffer.capacity() > KEEP {
        *buffer = Vec::new();
    } else {
        buffer.clear();
    }
}

/// Whether there is nothing but JSON whitespace.
pub(crate) fn is_blank(bytes: &[u8]) -> bool {
    bytes.iter().all(|byte| matches!(byte, b' ' | b'\t' | b'\n' | b'\r'))
}

/// Recognises a UTF-8 byte order mark at the start of a stream, however the stream is cut.
#[derive(Clone, Debug)]
pub(crate) struct ByteOrderMark {
    matched: usize,
}

impl ByteOrderMark {
    const BYTES: &[u8] = b"\xEF\xBB\xBF";

    /// At the start of a stream.
    pub(crate) const fn new() -> Self {
        Self { matched: 0 }
    }

    /// Takes a mark, or the part of it that is there, off the input. When a mark seemed to begin and did
    /// not go on, gives back the bytes already taken: they are content, ahead of the input.
    pub(crate) fn skip(&mut self, input: &mut &[u8]) -> &'static [u8] {
        while let (Some(expected), Some((first, rest))) = (Self::BYTES.get(self.matched), input.split_first())
        {
            if first != expected {
                return self.finish();
            }
            *input = rest;
            self.matched += 1;
        }
        &[]
    }

    /// The stream has ended, or goes on with something else: the bytes of a mark that was never completed.
    pub(crate) fn finish(&mut self) -> &'static [u8] {
        let taken = core::mem::replace(&mut self.matched, Self::BYTES.len());
        if taken < Self::BYTES.len() { Self::BYTES.get(..taken).unwrap_or_default() } else { &[] }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every byte value at every place, between bytes that differ from it by one.
    #[test]
    fn find_sees_what_a_plain_loop_sees() {
        for byte in 0..=255u8 {
            for len in (0..20).chain([31, 32, 40, 95, 96, 97, 105, 230]) {
                let around = byte.wrapping_add(1);
                let mut bytes = std::vec![around; len];
                assert_eq!(find(&bytes, [byte]), None);
                for at in (0..len).rev() {
                    bytes[at] = byte;
                    assert_eq!(find(&bytes, [byte]), Some(at));
                    assert_eq!(
                        find(&bytes, [b'x', byte]),
                        bytes.iter().position(|b| [b'x', byte].contains(b))
                    );
                }
                let special = |byte: &u8| matches!(byte, b'"' | b'\\' | 0..0x20);
                for at in 0..len {
                    let mut bytes = std::vec![b'a'; len];
                    bytes[at] = byte;
                    assert_eq!(find_special(&bytes), bytes.iter().position(special));
                }
            }
        }
    }

    /// Every byte value at every place.
    #[test]
    fn texts_are_the_same_whatever_the_case_of_their_letters() {
        for byte in 0..=255u8 {
            for len in 1..20 {
                for at in 0..len {
                    for lower in [b'a', b'z', b'm', b'-', b'[', b'{', b'@', b'`', byte.to_ascii_lowercase()] {
                        let mut expected = std::vec![b'x'; len];
                        let mut text = std::vec![b'X'; len];
                        (expected[at], text[at]) = (lower, byte);
                        assert_eq!(eq_lower(&text, &expected), byte.to_ascii_lowercase() == lower);
                    }
                }
            }
        }
        assert!(!eq_lower(b"twelve bytes", b"twelve byte") && !eq_lower(b"a", b"ab"));
    }

    #[test]
    fn append_reserves_no_more_than_the_limit() {
        let mut buffer = Vec::new();
        for _ in 0..100 {
            append(&mut buffer, b"0123456789", 1000);
            assert!(buffer.capacity() <= 1000);
        }
        assert_eq!(buffer.len(), 1000);
    }
}
