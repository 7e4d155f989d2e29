//! Values to JSON text, straight into a buffer.
//!
//! serde_json without std can only fill buffers of its own. This writes the same text as it does, except
//! that JSON text handed through as `RawValue` is put on one line.

mod text;

use super::compact::{compact, spans_lines};
use super::raw;
use crate::error::ApiMisuse;
use crate::wire::bytes::push_decimal;
use alloc::boxed::Box;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use core::fmt;
use serde::Serialize;
use serde::ser::{self, Error, Serializer};
use serde_json::value::RawValue;

/// Appends a value as JSON on one line, without a line end.
///
/// # Errors
///
/// If the value's own `Serialize` fails, or a map has keys that are neither text, numbers nor booleans. Then
/// `out` is as it was before.
pub fn write_json<T: Serialize + ?Sized>(out: &mut Vec<u8>, value: &T) -> Result<(), ApiMisuse> {
    let start = out.len();
    value.serialize(Json::value(out)).map_err(|Failure(why)| {
        out.truncate(start);
        ApiMisuse::new(format!("a value cannot be serialized as JSON: {why}"))
    })
}

/// The JSON text of a value, as its own.
///
/// # Errors
///
/// As for [`write_json`].
pub(crate) fn to_raw_value<T: Serialize + ?Sized>(value: &T) -> Result<Box<RawValue>, ApiMisuse> {
    // Room for a short value at once, and not by doubling.
    let mut out = Vec::with_capacity(128);
    write_json(&mut out, value)?;
    let text = String::from_utf8(out).map_err(|error| ApiMisuse::new(error.to_string()))?;
    raw::own(text).map_err(|error| ApiMisuse::new(error.to_string()))
}

/// JSON text that is known to be on one line, so that it is copied without a look. For nothing but the writers here:
/// for others it would be a string.
pub(crate) struct OneLine<'a>(pub(crate) &'a str);

impl OneLine<'_> {
    /// The name by which the writers here know it.
    const TOKEN: &'static str = "$mcp_proto::OneLine";
}

impl Serialize for OneLine<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_newtype_struct(Self::TOKEN, self.0)
    }
}

struct Json<'o> {
    out: &'o mut Vec<u8>,
    place: Place,
}

/// What is being written.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Place {
    Value,
    /// The name of a member: a string, whatever it is made from.
    Name,
    /// The content of a `RawValue`: JSON text already.
    Raw,
    /// The content of a [`OneLine`].
    Line,
}

#[derive(Debug)]
struct Failure(String);

impl<'o> Json<'o> {
    fn value(out: &'o mut Vec<u8>) -> Self {
        Self { out, place: Place::Value }
    }

    /// An integer. Most messages have a few of them, and formatting one takes as long as all else about it.
    fn integer(self, is_negative: bool, magnitude: u64) -> Result<(), Failure> {
        let quote: &[u8] = if self.place == Place::Name { b"\"" } else { b"" };
        self.out.extend_from_slice(quote);
        if is_negative {
            self.out.push(b'-');
        }
        push_decimal(self.out, magnitude);
        self.out.extend_from_slice(quote);
        Ok(())
    }

    /// A number or boolean, formatted in place.
    fn display(self, number: impl fmt::Display) -> Result<(), Failure> {
        let quote: &[u8] = if self.place == Place::Name { b"\"" } else { b"" };
        self.out.extend_from_slice(quote);
        // Numbers have nothing to escape, and formatting them does not fail.
        let _ = fmt::write(&mut text::Escaped(self.out), format_args!("{number}"));
        self.out.extend_from_slice(quote);
        Ok(())
    }

    /// What cannot be a name.
    fn only_value(self) -> Result<&'o mut Vec<u8>, Failure> {
        if self.place == Place::Value {
            Ok(self.out)
        } else {
            Err(Failure::custom("the key of a map must be text, a number or a boolean"))
        }
    }

    fn open(self, open: &[u8], close: &'static [u8]) -> Result<Compound<'o>, Failure> {
        let out = self.only_value()?;
        out.extend_from_slice(open);
        Ok(Compound { out, first: true, close })
    }

    /// `{"variant":` and what follows.
    fn variant(self, variant: &str, open: &[u8], close: &'static [u8]) -> Result<Compound<'o>, Failure> {
        let out = self.only_value()?;
        out.push(b'{');
        text::quote(out, variant);
        out.push(b':');
        out.extend_from_slice(open);
        Ok(Compound { out, first: true, close })
    }
}

macro_rules! signed {
    ($($serialize:ident $integer:ty)*) => {$(
        fn $serialize(self, integer: $integer) -> Result<(), Failure> {
            self.integer(integer < 0, integer.unsigned_abs().into())
        }
    )*};
}

macro_rules! unsigned {
    ($($serialize:ident $integer:ty)*) => {$(
        fn $serialize(self, integer: $integer) -> Result<(), Failure> {
            self.integer(false, integer.into())
        }
    )*};
}

macro_rules! displayed {
    ($($serialize:ident $value:ty)*) => {$(
        fn $serialize(self, value: $value) -> Result<(), Failure> {
            self.display(value)
        }
    )*};
}

macro_rules! floats {
    ($($serialize:ident $float:ty)*) => {$(
        fn $serialize(self, float: $float) -> Result<(), Failure> {
            if float.is_finite() {
                // The shortest text that reads back as the same number; `Debug` of floats is valid JSON.
                self.display(format_args!("{float:?}"))
            } else {
                // JSON has no such number.
                self.only_value()?.extend_from_slice(b"null");
                Ok(())
            }
        }
    )*};
}

impl<'o> Serializer for Json<'o> {
    type Ok = ();
    type Error = Failure;
    type SerializeSeq = Compound<'o>;
    type SerializeTuple = Compound<'o>;
    type SerializeTupleStruct = Compound<'o>;
    type SerializeTupleVariant = Compound<'o>;
    type SerializeMap = Compound<'o>;
    type SerializeStruct = Compound<'o>;
    type SerializeStructVariant = Compound<'o>;

    signed! {
        serialize_i8 i8
        serialize_i16 i16
        serialize_i32 i32
        serialize_i64 i64
    }

    unsigned! {
        serialize_u8 u8
        serialize_u16 u16
        serialize_u32 u32
        serialize_u64 u64
    }

    displayed! {
        serialize_i128 i128
        serialize_u128 u128
        serialize_bool bool
    }

    floats! {
        serialize_f32 f32
        serialize_f64 f64
    }

    fn serialize_char(self, value: char) -> Result<(), Failure> {
        self.serialize_str(value.encode_utf8(&mut [0; 4]))
    }

    fn serialize_str(self, value: &str) -> Result<(), Failure> {
        match self.place {
            Place::Value | Place::Name => text::quote(self.out, value),
            Place::Raw if spans_lines(value.as_bytes()) => compact(self.out, value),
            Place::Raw | Place::Line => self.out.extend_from_slice(value.as_bytes()),
        }
        Ok(())
    }

    fn collect_str<T: fmt::Display + ?Sized>(self, value: &T) -> Result<(), Failure> {
        self.out.push(b'"');
        let written = fmt::write(&mut text::Escaped(self.out), format_args!("{value}"));
        self.out.push(b'"');
        written.map_err(|_| Failure::custom("its `Display` failed"))
    }

    fn serialize_bytes(self, value: &[u8]) -> Result<(), Failure> {
        self.collect_seq(value)
    }

    fn serialize_none(self) -> Result<(), Failure> {
        self.serialize_unit()
    }

    fn serialize_some<T: Serialize + ?Sized>(self, value: &T) -> Result<(), Failure> {
        value.serialize(self)
    }

    fn serialize_unit(self) -> Result<(), Failure> {
        self.only_value()?.extend_from_slice(b"null");
        Ok(())
    }

    fn serialize_unit_struct(self, _name: &'static str) -> Result<(), Failure> {
        self.serialize_unit()
    }

    fn serialize_unit_variant(
        self,
        _name: &'static str,
        _index: u32,
        variant: &'static str,
    ) -> Result<(), Failure> {
        self.serialize_str(variant)
    }

    fn serialize_newtype_struct<T: Serialize + ?Sized>(
        self,
        name: &'static str,
        value: &T,
    ) -> Result<(), Failure> {
        let place = if name == OneLine::TOKEN { Place::Line } else { self.place };
        value.serialize(Json { place, ..self })
    }

    fn serialize_newtype_variant<T: Serialize + ?Sized>(
        self,
        _name: &'static str,
        _index: u32,
        variant: &'static str,
        value: &T,
    ) -> Result<(), Failure> {
        let compound = self.variant(variant, b"", b"}")?;
        value.serialize(Json::value(compound.out))?;
        compound.close()
    }

    fn serialize_seq(self, _len: Option<usize>) -> Result<Compound<'o>, Failure> {
        self.open(b"[", b"]")
    }

    fn serialize_tuple(self, _len: usize) -> Result<Compound<'o>, Failure> {
        self.open(b"[", b"]")
    }

    fn serialize_tuple_struct(self, _name: &'static str, _len: usize) -> Result<Compound<'o>, Failure> {
        self.open(b"[", b"]")
    }

    fn serialize_tuple_variant(
        self,
        _name: &'static str,
        _index: u32,
        variant: &'static str,
        _len: usize,
    ) -> Result<Compound<'o>, Failure> {
        self.variant(variant, b"[", b"]}")
    }

    fn serialize_map(self, _len: Option<usize>) -> Result<Compound<'o>, Failure> {
        self.open(b"{", b"}")
    }

    fn serialize_struct(self, name: &'static str, _len: usize) -> Result<Compound<'o>, Failure> {
        if name == raw::TOKEN { self.open(b"", b"") } else { self.open(b"{", b"}") }
    }

    fn serialize_struct_variant(
        self,
        _name: &'static str,
        _index: u32,
        variant: &'static str,
        _len: usize,
    ) -> Result<Compound<'o>, Failure> {
        self.variant(variant, b"{", b"}}")
    }
}

/// An array or object that is open.
struct Compound<'o> {
    out: &'o mut Vec<u8>,
    first: bool,
    close: &'static [u8],
}

impl Compound<'_> {
    fn separate(&mut self) {
        if !core::mem::take(&mut self.first) {
            self.out.push(b',');
        }
    }

    fn element<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), Failure> {
        self.separate();
        value.serialize(Json::value(self.out))
    }

    fn name<T: Serialize + ?Sized>(&mut self, name: &T) -> Result<(), Failure> {
        self.separate();
        name.serialize(Json { out: self.out, place: Place::Name })?;
        self.out.push(b':');
        Ok(())
    }

    fn member<T: Serialize + ?Sized>(&mut self, name: &'static str, value: &T) -> Result<(), Failure> {
        if name == raw::TOKEN {
            return value.serialize(Json { out: self.out, place: Place::Raw });
        }
        self.separate();
        text::quote(self.out, name);
        self.out.push(b':');
        value.serialize(Json::value(self.out))
    }

    fn close(self) -> Result<(), Failure> {
        match self.close {
            // Nearly always, and cheaper than copying.
            [close] => self.out.push(*close),
            close => self.out.extend_from_slice(close),
        }
        Ok(())
    }
}

macro_rules! compound {
    ($($trait:ident $method:ident($($name:ident: $type:ty)?) $delegate:ident;)*) => {$(
        impl ser::$trait for Compound<'_> {
            type Ok = ();
            type Error = Failure;

            fn $method<T: Serialize + ?Sized>(&mut self, $($name: $type,)? value: &T) -> Result<(), Failure> {
                self.$delegate($($name,)? value)
            }

            fn end(self) -> Result<(), Failure> {
                self.close()
            }
        }
    )*};
}

compound! {
    SerializeSeq serialize_element() element;
    SerializeTuple serialize_element() element;
    SerializeTupleStruct serialize_field() element;
    SerializeTupleVariant serialize_field() element;
    SerializeStruct serialize_field(name: &'static str) member;
    SerializeStructVariant serialize_field(name: &'static str) member;
}

impl ser::SerializeMap for Compound<'_> {
    type Ok = ();
    type Error = Failure;

    fn serialize_key<T: Serialize + ?Sized>(&mut self, key: &T) -> Result<(), Failure> {
        self.name(key)
    }

    fn serialize_value<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), Failure> {
        value.serialize(Json::value(self.out))
    }

    fn end(self) -> Result<(), Failure> {
        self.close()
    }
}

impl Error for Failure {
    fn custom<T: fmt::Display>(message: T) -> Self {
        Self(message.to_string())
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl core::error::Error for Failure {}

#[cfg(test)]
mod tests;
