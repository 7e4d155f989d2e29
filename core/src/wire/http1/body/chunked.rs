//! The chunked transfer coding, read.
//!
//! ```text
//! Size --";"--> Extension --CR--> SizeEnd --LF--> Data --> DataCr --> DataLf --> Size ...
//!   \--CR--------------------------^   \--LF after size 0--> Trailer
//! Trailer: FieldStart --name:--> FieldValue --CR--> FieldEnd --LF--> FieldStart --CR--> LastLf --> done
//! ```

use super::decode::Piece;
use crate::wire::http1::head::Fault;

/// A chunk size has this many digits at most: what fits into 64 bits. Leading zeros count.
const DIGITS: u8 = 16;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Size,
    Extension,
    SizeEnd,
    Data,
    DataCr,
    DataLf,
    FieldStart,
    FieldName,
    FieldValue,
    FieldEnd,
    LastLf,
    Done,
}

/// Reads one chunked body. Extensions and trailers are checked and dropped.
#[derive(Debug)]
pub(in super::super) struct Chunked {
    state: State,
    /// Bytes of the present chunk: its size while that is read, then what is left.
    left: u64,
    digits: u8,
    /// How much more the extensions and trailers of the whole body may take, together.
    spare: usize,
    fields: usize,
}

impl Chunked {
    pub(super) fn new(spare: usize, fields: usize) -> Self {
        Self { state: State::Size, left: 0, digits: 0, spare, fields }
    }

    pub(super) fn decode<'a>(&mut self, input: &'a [u8]) -> Result<Piece<'a>, Fault> {
        let mut used = 0;
        while let Some(byte) = input.get(used) {
            if self.state == State::Data {
                let rest = input.get(used..).unwrap_or_default();
                let length = usize::try_from(self.left).unwrap_or(usize::MAX).min(rest.len());
                self.left -= length as u64;
                if self.left == 0 {
                    self.state = State::DataCr;
                }
                let data = rest.get(..length).unwrap_or_default();
                return Ok(Piece { used: used + length, data, done: false });
            }
            used += 1;
            self.state = self.step(*byte)?;
            if self.state == State::Done {
                return Ok(Piece { used, data: &[], done: true });
            }
        }
        Ok(Piece { used, data: &[], done: false })
    }

    /// One byte that is not data.
    fn step(&mut self, byte: u8) -> Result<State, Fault> {
        match self.state {
            State::Size => self.size(byte),
            State::Extension => match byte {
                b'\r' => Ok(State::SizeEnd),
                _ if is_text(byte) => self.spend(State::Extension),
                _ => Err(Fault::bad("a chunk extension holds a control character")),
            },
            State::SizeEnd => {
                expect(byte, b'\n', "the size of a chunk does not end with CRLF")?;
                self.digits = 0;
                Ok(if self.left == 0 { State::FieldStart } else { State::Data })
            }
            State::DataCr => expect(byte, b'\r', "a chunk does not end with CRLF").map(|()| State::DataLf),
            State::DataLf => expect(byte, b'\n', "a chunk does not end with CRLF").map(|()| State::Size),
            State::FieldStart if byte == b'\r' => Ok(State::LastLf),
            State::FieldStart => {
                self.fields =
                    self.fields.checked_sub(1).ok_or(Fault::new(431, "too many fields in the trailer"))?;
                if byte == b':' {
                    return Err(Fault::bad("a trailer field has no name"));
                }
                self.field_name(byte)
            }
            State::FieldName => self.field_name(byte),
            State::FieldValue => match byte {
                b'\r' => Ok(State::FieldEnd),
                _ if is_text(byte) => self.spend(State::FieldValue),
                _ => Err(Fault::bad("a trailer field holds a control character")),
            },
            State::FieldEnd => {
                expect(byte, b'\n', "a trailer field does not end with CRLF").map(|()| State::FieldStart)
            }
            State::LastLf => expect(byte, b'\n', "the trailer does not end with CRLF").map(|()| State::Done),
            State::Data | State::Done => Ok(self.state),
        }
    }

    fn size(&mut self, byte: u8) -> Result<State, Fault> {
        if let Some(digit) = char::from(byte).to_digit(16) {
            if self.digits == DIGITS {
                return Err(Fault::bad("the size of a chunk has too many digits"));
            }
            self.digits += 1;
            self.left = (self.left << 4) | u64::from(digit);
            return Ok(State::Size);
        }
        match byte {
            _ if self.digits == 0 => Err(Fault::bad("a chunk has no size")),
            b'\r' => Ok(State::SizeEnd),
            b';' => self.spend(State::Extension),
            _ => Err(Fault::bad("the size of a chunk is not hexadecimal")),
        }
    }

    fn field_name(&mut self, byte: u8) -> Result<State, Fault> {
        match byte {
            b':' => self.spend(State::FieldValue),
            _ if byte.is_ascii_graphic() => self.spend(State::FieldName),
            _ => Err(Fault::bad("a trailer field is not a name, a colon and a value")),
        }
    }

    fn spend(&mut self, next: State) -> Result<State, Fault> {
        let spent = self.spare.checked_sub(1);
        self.spare = spent.ok_or(Fault::new(431, "chunk extensions and trailers exceed `Limits::head`"))?;
        Ok(next)
    }
}

fn is_text(byte: u8) -> bool {
    byte == b'\t' || (byte >= b' ' && byte != 0x7f)
}

fn expect(byte: u8, wanted: u8, what: &'static str) -> Result<(), Fault> {
    if byte == wanted { Ok(()) } else { Err(Fault::bad(what)) }
}
