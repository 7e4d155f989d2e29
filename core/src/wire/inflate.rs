//! Compressed bodies: gzip and deflate, as they come.
//!
//! <https://www.rfc-editor.org/rfc/rfc9110#name-content-codings>, RFC 1950 to 1952

use alloc::boxed::Box;
use alloc::string::String;
use alloc::vec::Vec;
use core::fmt;

use miniz_oxide::inflate::stream::{InflateState, inflate};
use miniz_oxide::{DataFormat, MZFlush, MZStatus};

/// How a body is compressed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Coding {
    Gzip,
    Deflate,
}

impl Coding {
    /// The coding of this name.
    pub(crate) fn parse(name: &str) -> Option<Self> {
        match name {
            _ if name.eq_ignore_ascii_case("gzip") || name.eq_ignore_ascii_case("x-gzip") => Some(Self::Gzip),
            _ if name.eq_ignore_ascii_case("deflate") => Some(Self::Deflate),
            _ => None,
        }
    }
}

/// A body on its way out of its compression. Holds about 45 KiB, whatever it is fed.
pub(crate) struct Inflater {
    coding: Coding,
    stage: Stage,
    state: Box<InflateState>,
    /// What was looked at and not decoded yet.
    carry: Vec<u8>,
    /// Of a gzip member, to be compared with what stands at its end.
    sum: u32,
    length: u32,
    /// The members before this one.
    members: u32,
}

enum Stage {
    /// What has come of the header.
    Header(Vec<u8>),
    Data,
    /// What has come of the end of a gzip member.
    Trailer(Vec<u8>),
    /// A member, or all of it, is complete.
    Complete,
}

/// Prints how far it is.
impl fmt::Debug for Inflater {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Inflater")
            .field("coding", &self.coding)
            .field("length", &self.length)
            .finish_non_exhaustive()
    }
}

/// As much of a gzip header as is read; the name of a file may be in it.
const HEADER: usize = 512;
/// As many members as a body may have: each costs something, also an empty one.
const MEMBERS: u32 = 4_096;

impl Inflater {
    pub(crate) fn new(coding: Coding) -> Self {
        Self {
            coding,
            stage: Stage::Header(Vec::new()),
            state: InflateState::new_boxed(DataFormat::Raw),
            carry: Vec::new(),
            sum: 0,
            length: 0,
            members: 0,
        }
    }

    /// Whether the body may end here.
    pub(crate) fn is_complete(&self) -> bool {
        match &self.stage {
            Stage::Header(begun) => begun.is_empty(),
            Stage::Complete => true,
            Stage::Data | Stage::Trailer(_) => false,
        }
    }

    /// Takes bytes off the front of `input` and fills `output` from its front; returns how many bytes that are. None when
    /// more input is needed. The error says what is wrong.
    pub(crate) fn next(&mut self, input: &mut &[u8], output: &mut [u8]) -> Result<usize, String> {
        loop {
            match &mut self.stage {
                Stage::Header(begun) => {
                    let Some((&byte, rest)) = input.split_first() else { return Ok(0) };
                    begun.push(byte);
                    *input = rest;
                    self.header()?;
                }
                Stage::Data => {
                    let carried = !self.carry.is_empty();
                    let source = if carried { &self.carry[..] } else { *input };
                    let result = inflate(&mut self.state, source, output, MZFlush::None);
                    let written = output.get(..result.bytes_written).unwrap_or_default();
                    if carried {
                        self.carry.drain(..result.bytes_consumed.min(self.carry.len()));
                    } else {
                        *input = input.get(result.bytes_consumed..).unwrap_or_default();
                    }
                    if self.coding == Coding::Gzip {
                        self.sum = crc(self.sum, written);
                        self.length = self.length.wrapping_add(written.len() as u32);
                    }
                    match result.status {
                        Ok(MZStatus::StreamEnd) => {
                            self.stage = match self.coding {
                                Coding::Gzip => Stage::Trailer(Vec::new()),
                                Coding::Deflate => Stage::Complete,
                            };
                        }
                        // No progress: it needs more.
                        Ok(_) | Err(miniz_oxide::MZError::Buf) => {}
                        Err(_) => return Err("the compressed data are damaged".into()),
                    }
                    if !written.is_empty() {
                        return Ok(written.len());
                    }
                    if result.bytes_consumed == 0 && matches!(self.stage, Stage::Data) {
                        return Ok(0);
                    }
                }
                Stage::Trailer(begun) => {
                    let Some((&byte, rest)) = input.split_first() else { return Ok(0) };
                    begun.push(byte);
                    *input = rest;
                    if let [a, b, c, d, e, f, g, h] = begun[..] {
                        let sums = (u32::from_le_bytes([a, b, c, d]), u32::from_le_bytes([e, f, g, h]));
                        if sums != (self.sum, self.length) {
                            return Err(
                                "the compressed data do not have the checksum that is told of them".into()
                            );
                        }
                        self.stage = Stage::Complete;
                    }
                }
                Stage::Complete => {
                    let Some(first) = input.first() else { return Ok(0) };
                    // Another member may follow.
                    if self.coding != Coding::Gzip || *first != 0x1f {
                        return Err("something follows the compressed data".into());
                    }
                    let members = self.members + 1;
                    if members >= MEMBERS {
                        return Err("the compressed data have too many members".into());
                    }
                    *self = Self { members, ..Self::new(self.coding) };
                }
            }
        }
    }

    /// Looks whether the header is complete.
    fn header(&mut self) -> Result<(), String> {
        let Stage::Header(begun) = &self.stage else { return Ok(()) };
        match self.coding {
            Coding::Gzip => match gzip_header(begun) {
                Ok(true) => self.stage = Stage::Data,
                Ok(false) if begun.len() < HEADER => {}
                Ok(false) | Err(()) => return Err("the compressed data do not begin as gzip does".into()),
            },
            Coding::Deflate => {
                let [first, second] = begun[..] else { return Ok(()) };
                // Many servers send what is in the envelope without the envelope.
                let is_zlib = first & 0x0f == 8 && (u16::from(first) << 8 | u16::from(second)) % 31 == 0;
                self.state =
                    InflateState::new_boxed(if is_zlib { DataFormat::Zlib } else { DataFormat::Raw });
                self.carry = [first, second].into();
                self.stage = Stage::Data;
            }
        }
        Ok(())
    }
}

/// Whether a gzip header is complete; an error if it is none.
fn gzip_header(bytes: &[u8]) -> Result<bool, ()> {
    let is_prefix = bytes.iter().zip([0x1f, 0x8b, 8]).all(|(byte, magic)| *byte == magic);
    if !is_prefix {
        return Err(());
    }
    let Some(&flags) = bytes.get(3) else { return Ok(false) };
    let mut at = 10;
    if flags & 4 != 0 {
        let Some(&[low, high]) = bytes.get(at..at + 2).and_then(|length| <&[u8; 2]>::try_from(length).ok())
        else {
            return Ok(false);
        };
        at += 2 + usize::from(u16::from_le_bytes([low, high]));
    }
    for text in [8, 16] {
        if flags & text != 0 {
            let Some(length) = bytes.get(at..).and_then(|rest| rest.iter().position(|byte| *byte == 0))
            else {
                return Ok(false);
            };
            at += length + 1;
        }
    }
    at += if flags & 2 != 0 { 2 } else { 0 };
    Ok(bytes.len() >= at)
}

/// CRC-32 of what came before and of this.
pub(crate) fn crc(before: u32, bytes: &[u8]) -> u32 {
    const TABLE: [u32; 256] = table();
    let step = |sum: u32, byte: &u8| {
        let index = (sum ^ u32::from(*byte)) & 0xff;
        (sum >> 8) ^ TABLE.get(index as usize).copied().unwrap_or_default()
    };
    !bytes.iter().fold(!before, step)
}

const fn table() -> [u32; 256] {
    let mut table = [0; 256];
    let mut index = 0;
    while index < 256 {
        let mut value = index as u32;
        let mut bit = 0;
        while bit < 8 {
            value = if value & 1 == 1 { (value >> 1) ^ 0xedb8_8320 } else { value >> 1 };
            bit += 1;
        }
        table[index] = value;
        index += 1;
    }
    table
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fuzz::{gzip, inflate_pieces as all};
    use miniz_oxide::deflate::{compress_to_vec, compress_to_vec_zlib};

    fn plain() -> Vec<u8> {
        (0..2_000_u32).flat_map(|number| number.to_le_bytes()).collect()
    }

    #[test]
    fn sums_are_those_of_gzip() {
        assert_eq!(crc(0, b"123456789"), 0xcbf4_3926);
        assert_eq!(crc(crc(0, b"1234"), b"56789"), 0xcbf4_3926);
    }

    /// B40: however the bytes are split, the same comes out, and the end is known.
    #[test]
    fn every_split_means_the_same() {
        let plain = plain();
        for (coding, bytes) in [
            (Coding::Gzip, gzip(&plain)),
            (Coding::Deflate, compress_to_vec_zlib(&plain, 6)),
            (Coding::Deflate, compress_to_vec(&plain, 6)),
            (Coding::Gzip, [gzip(&plain[..9]), gzip(&plain[9..])].concat()),
            (Coding::Gzip, gzip(b"")),
        ] {
            let whole = all(coding, &bytes, usize::MAX).unwrap();
            assert!(whole.1 && (whole.0 == plain || whole.0.is_empty()));
            for piece in [1, 2, 3, 1_000] {
                assert_eq!(all(coding, &bytes, piece).unwrap(), whole, "{coding:?} {piece}");
            }
        }
    }

    /// B40: any bytes, and whatever damage is done to good ones, mean the same in all pieces, and what is taken is right.
    #[test]
    fn anything_is_taken_or_refused_whole() {
        let good =
            [gzip(&plain()[..99]), compress_to_vec_zlib(&plain()[..99], 6), compress_to_vec(b"abcabc", 6)];
        for (good, at) in good.iter().flat_map(|good| (0..good.len()).map(move |at| (good, at))) {
            for bit in [1, 16, 128] {
                let mut bytes = [&[(at % 251) as u8], &good[..]].concat();
                bytes[1 + at] ^= bit;
                crate::fuzz::fuzz_inflate(&bytes);
                crate::fuzz::fuzz_inflate(&bytes[..=at]);
            }
        }
    }

    /// What a server flushes is there at once.
    #[test]
    fn what_was_flushed_comes_out() {
        // "hi" in a stored block that is not the last.
        let flushed = [&gzip(b"")[..10], &[0, 2, 0, 0xfd, 0xff, b'h', b'i']].concat();
        assert_eq!(all(Coding::Gzip, &flushed, 1).unwrap(), (b"hi".to_vec(), false));
    }

    /// A header may have extra fields, names and a checksum; it is bounded.
    #[test]
    fn headers_are_read_over() {
        let data = &gzip(b"x")[10..];
        let header =
            [0x1f, 0x8b, 8, 4 | 8 | 16 | 2, 0, 0, 0, 0, 0, 3, 2, 0, 9, 9, b'n', 0, b'c', b'c', 0, 1, 2];
        assert_eq!(all(Coding::Gzip, &[&header[..], data].concat(), 1).unwrap(), (b"x".to_vec(), true));
        let mut endless = header[..10].to_vec();
        endless[3] = 8;
        endless.resize(HEADER + 1, b'n');
        assert!(all(Coding::Gzip, &endless, 1).is_err());
    }

    /// Members cost something even where nothing is in them: as many as may be, and one more.
    #[test]
    fn members_are_bounded() {
        let empty = gzip(b"");
        let most = empty.repeat(MEMBERS as usize);
        assert_eq!(all(Coding::Gzip, &most, usize::MAX).unwrap(), (Vec::new(), true));
        assert!(all(Coding::Gzip, &[most, empty].concat(), usize::MAX).is_err());
    }

    #[test]
    fn damage_is_noticed() {
        let good = gzip(&plain());
        for length in 1..good.len() {
            assert!(!all(Coding::Gzip, &good[..length], usize::MAX).unwrap().1, "cut at {length}");
        }
        let mut sum = good.clone();
        *sum.last_mut().unwrap() ^= 1;
        for bytes in
            [sum, [&good[..], b"x"].concat(), b"{\"json\":1}".to_vec(), [&good[..10], &[7; 9]].concat()]
        {
            assert!(all(Coding::Gzip, &bytes, usize::MAX).is_err());
        }
        let zlib = compress_to_vec_zlib(b"x", 6);
        assert!(all(Coding::Deflate, &[&zlib[..], b"x"].concat(), usize::MAX).is_err());
    }
}
