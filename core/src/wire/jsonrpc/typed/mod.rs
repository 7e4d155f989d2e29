//! A deserializer that can say where a value did not fit, and why, without quoting it.
//!
//! On what messages hold most, which is strings and JSON that is only passed on, it is faster than serde_json's, which
//! looks at each byte by itself.

mod fault;
mod key;

pub(super) use fault::Fault;

use super::raw;
use super::scan::{Broken, Cursor};
use alloc::borrow::Cow;
use fault::Step;
use key::Key;
use serde::de::{
    DeserializeSeed, Deserializer, EnumAccess, IntoDeserializer, MapAccess, SeqAccess, VariantAccess, Visitor,
};
use serde::{Deserialize, forward_to_deserialize_any};

/// serde_json's own bound, which keeps the recursion of a type's deserializer off the end of the stack. What is only
/// passed on or ignored may nest deeper: that takes no recursion, and was bounded when its message was read.
const DEPTH: usize = 127;

pub(super) struct Typed<'de> {
    cursor: Cursor<'de>,
    /// How many more arrays and objects may be open.
    depth: usize,
}

impl<'de> Typed<'de> {
    pub(super) const fn new(json: &'de str) -> Self {
        Self { cursor: Cursor::new(json, usize::MAX), depth: DEPTH }
    }

    pub(super) fn read<T: Deserialize<'de>>(mut self) -> Result<T, Fault> {
        let value = T::deserialize(&mut self)?;
        self.cursor.end()?;
        Ok(value)
    }

    /// Enters an array or object.
    fn open(&mut self, bracket: u8) -> Result<(), Fault> {
        self.cursor.open(bracket)?;
        self.depth = self.depth.checked_sub(1).ok_or(Broken::Deep)?;
        Ok(())
    }

    /// Leaves it, if this is its end.
    fn close(&mut self, bracket: u8) -> Result<(), Fault> {
        if !self.cursor.close(bracket) {
            return Err(Fault::surplus());
        }
        self.depth += 1;
        Ok(())
    }

    fn number<V: Visitor<'de>>(&mut self, visitor: V) -> Result<V::Value, Fault> {
        let json = self.cursor.value()?;
        if let Ok(integer) = json.parse() {
            return visitor.visit_u64(integer);
        }
        // Like serde_json, which keeps the sign of `-0`.
        if let Ok(integer) = json.parse()
            && json != "-0"
        {
            return visitor.visit_i64(integer);
        }
        match json.parse::<f64>() {
            Ok(number) if number.is_finite() => visitor.visit_f64(number),
            _ => Err(Fault::found("a number that can be represented", "one that is too large")),
        }
    }

    fn string(&mut self) -> Result<Cow<'de, str>, Fault> {
        let text = self.cursor.string()?.decode();
        text.ok_or_else(|| Fault::found("text", "half of a surrogate pair"))
    }
}

impl<'de> Deserializer<'de> for &mut Typed<'de> {
    type Error = Fault;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Fault> {
        match self.cursor.peek() {
            Some(b'{') => {
                self.open(b'{')?;
                let value =
                    visitor.visit_map(Members { typed: self, first: true, name: Cow::Borrowed("") })?;
                self.close(b'}').map(|()| value)
            }
            Some(b'[') => {
                self.open(b'[')?;
                let value = visitor.visit_seq(Elements { typed: self, next: 0 })?;
                self.close(b']').map(|()| value)
            }
            Some(b'"') => match self.string()? {
                Cow::Borrowed(text) => visitor.visit_borrowed_str(text),
                Cow::Owned(text) => visitor.visit_string(text),
            },
            Some(b't' | b'f') => visitor.visit_bool(self.cursor.value()? == "true"),
            Some(b'n') => {
                self.cursor.value()?;
                visitor.visit_unit()
            }
            _ => self.number(visitor),
        }
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Fault> {
        if self.cursor.peek() == Some(b'n') {
            self.cursor.value()?;
            return visitor.visit_none();
        }
        visitor.visit_some(self)
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        name: &'static str,
        visitor: V,
    ) -> Result<V::Value, Fault> {
        if name == raw::TOKEN {
            return raw::visit(self.cursor.value()?, visitor);
        }
        visitor.visit_newtype_struct(self)
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _name: &'static str,
        variants: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Fault> {
        match self.cursor.peek() {
            Some(b'"') => visitor.visit_enum(self.string()?.into_deserializer()),
            Some(b'{') => {
                self.open(b'{')?;
                let value = visitor.visit_enum(Variant { typed: self, name: Cow::Borrowed("") })?;
                self.close(b'}').map(|()| value)
            }
            _ => Err(Fault::found(fault::one_of(variants), raw::kind_name(self.cursor.value()?))),
        }
    }

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        _name: &'static str,
        _fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Fault> {
        if self.cursor.peek() == Some(b'[') {
            // serde would take the members by position; who hears of it later had better be told of the type.
            return Err(Fault::found("an object", "an array"));
        }
        self.deserialize_any(visitor)
    }

    fn deserialize_i128<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Fault> {
        match self.cursor.clone().value()?.parse() {
            Ok(integer) => {
                self.cursor.value()?;
                visitor.visit_i128(integer)
            }
            Err(_) => self.deserialize_any(visitor),
        }
    }

    fn deserialize_u128<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Fault> {
        match self.cursor.clone().value()?.parse() {
            Ok(integer) => {
                self.cursor.value()?;
                visitor.visit_u128(integer)
            }
            Err(_) => self.deserialize_any(visitor),
        }
    }

    fn deserialize_ignored_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Fault> {
        self.cursor.value()?;
        visitor.visit_unit()
    }

    forward_to_deserialize_any! {
        bool i8 i16 i32 i64 u8 u16 u32 u64 f32 f64 char str string bytes byte_buf unit unit_struct seq tuple
        tuple_struct map identifier
    }
}

struct Members<'t, 'de> {
    typed: &'t mut Typed<'de>,
    first: bool,
    name: Cow<'de, str>,
}

impl<'de> MapAccess<'de> for Members<'_, 'de> {
    type Error = Fault;

    fn next_key_seed<K: DeserializeSeed<'de>>(&mut self, seed: K) -> Result<Option<K::Value>, Fault> {
        let cursor = &mut self.typed.cursor;
        if cursor.peek() == Some(b'}') {
            return Ok(None);
        }
        if !core::mem::take(&mut self.first) {
            cursor.expect(b',')?;
        }
        let name = cursor.name()?.decode();
        self.name = name.ok_or_else(|| Fault::found("text as name", "half of a surrogate pair"))?;
        seed.deserialize(Key(self.name.clone())).map(Some)
    }

    fn next_value_seed<V: DeserializeSeed<'de>>(&mut self, seed: V) -> Result<V::Value, Fault> {
        seed.deserialize(&mut *self.typed).map_err(|fault| fault.inside(Step::member(&self.name)))
    }
}

struct Elements<'t, 'de> {
    typed: &'t mut Typed<'de>,
    next: usize,
}

impl<'de> SeqAccess<'de> for Elements<'_, 'de> {
    type Error = Fault;

    fn next_element_seed<T: DeserializeSeed<'de>>(&mut self, seed: T) -> Result<Option<T::Value>, Fault> {
        if self.typed.cursor.peek() == Some(b']') {
            return Ok(None);
        }
        if self.next > 0 {
            self.typed.cursor.expect(b',')?;
        }
        let index = self.next;
        self.next += 1;
        seed.deserialize(&mut *self.typed).map(Some).map_err(|fault| fault.inside(Step::Element(index)))
    }
}

/// An enum variant with content: an object whose only member names the variant.
struct Variant<'t, 'de> {
    typed: &'t mut Typed<'de>,
    name: Cow<'de, str>,
}

impl<'de> EnumAccess<'de> for Variant<'_, 'de> {
    type Error = Fault;
    type Variant = Self;

    fn variant_seed<V: DeserializeSeed<'de>>(mut self, seed: V) -> Result<(V::Value, Self), Fault> {
        let name = self.typed.cursor.name()?.decode();
        self.name = name.ok_or_else(|| Fault::found("text as name", "half of a surrogate pair"))?;
        Ok((seed.deserialize(Key(self.name.clone()))?, self))
    }
}

impl<'de> VariantAccess<'de> for Variant<'_, 'de> {
    type Error = Fault;

    fn unit_variant(self) -> Result<(), Fault> {
        <()>::deserialize(self.typed).map_err(|fault| fault.inside(Step::member(&self.name)))
    }

    fn newtype_variant_seed<T: DeserializeSeed<'de>>(self, seed: T) -> Result<T::Value, Fault> {
        seed.deserialize(self.typed).map_err(|fault| fault.inside(Step::member(&self.name)))
    }

    fn tuple_variant<V: Visitor<'de>>(self, _len: usize, visitor: V) -> Result<V::Value, Fault> {
        self.typed.deserialize_any(visitor).map_err(|fault| fault.inside(Step::member(&self.name)))
    }

    fn struct_variant<V: Visitor<'de>>(
        self,
        _fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Fault> {
        self.typed.deserialize_any(visitor).map_err(|fault| fault.inside(Step::member(&self.name)))
    }
}
