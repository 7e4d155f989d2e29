//! One text for all ways to write the same JSON, in the manner of RFC 8785: a client builds its request anew
//! for each round, and another serialiser, or another order of members, must not make it another request.
//!
//! Only a digest is ever made of it, so it differs from the RFC where that makes requests easier to tell apart:
//!
//! - Numbers are compared by their exact decimal value. As IEEE doubles 9007199254740992 and 9007199254740993
//!   would be the same, and a handler that reads integers would see the difference.
//! - Repeated names are kept, in their order. Parsers do not agree on which one counts, so all of them do.
//! - Members are ordered by the bytes of their names, not by UTF-16 units.
//! - What stands for nothing, as half a surrogate pair does, stays as it was written.

#[cfg(test)]
mod tests;

use alloc::string::String;
use alloc::vec::Vec;
use core::fmt;

use serde::de::{Deserialize, Deserializer, MapAccess, Visitor};
use serde_json::value::RawValue;

/// The canonical text of `json`. `None` if that is no JSON, or nested deeper than `depth`.
pub(crate) fn canonical(json: &str, depth: usize) -> Option<Vec<u8>> {
    let mut out = Vec::with_capacity(json.len());
    value(&mut out, serde_json::from_str::<&RawValue>(json).ok()?, depth)?;
    Some(out)
}

fn value(out: &mut Vec<u8>, json: &RawValue, depth: usize) -> Option<()> {
    let text = json.get();
    match text.as_bytes().first()? {
        b'{' => object(out, text, depth.checked_sub(1)?),
        b'[' => array(out, text, depth.checked_sub(1)?),
        b'"' => {
            string(out, json);
            Some(())
        }
        b'-' | b'0'..=b'9' => {
            number(out, text);
            Some(())
        }
        _ => {
            out.extend_from_slice(text.as_bytes());
            Some(())
        }
    }
}

fn object(out: &mut Vec<u8>, text: &str, depth: usize) -> Option<()> {
    let Entries(entries) = serde_json::from_str(text).ok()?;
    let mut members: Vec<(Vec<u8>, &RawValue)> = Vec::with_capacity(entries.len());
    for (name, value) in entries {
        let mut canonical = Vec::with_capacity(name.get().len());
        string(&mut canonical, name);
        members.push((canonical, value));
    }
    // Stable, so that repeated names keep their order.
    members.sort_by(|(a, _), (b, _)| a.cmp(b));
    out.push(b'{');
    for (index, (name, member)) in members.into_iter().enumerate() {
        if index > 0 {
            out.push(b',');
        }
        out.extend_from_slice(&name);
        out.push(b':');
        value(out, member, depth)?;
    }
    out.push(b'}');
    Some(())
}

fn array(out: &mut Vec<u8>, text: &str, depth: usize) -> Option<()> {
    let elements: Vec<&RawValue> = serde_json::from_str(text).ok()?;
    out.push(b'[');
    for (index, element) in elements.into_iter().enumerate() {
        if index > 0 {
            out.push(b',');
        }
        value(out, element, depth)?;
    }
    out.push(b']');
    Some(())
}

fn string(out: &mut Vec<u8>, json: &RawValue) {
    let decoded: Result<String, _> = serde_json::from_str(json.get());
    match decoded.and_then(|text| serde_json::to_vec(&text)) {
        Ok(text) => out.extend_from_slice(&text),
        // Of half a surrogate pair there is no character. No escape of such is ever written above, so this
        // cannot be taken for another string.
        Err(_) => out.extend_from_slice(json.get().as_bytes()),
    }
}

/// The digits that count, and the power of ten: `-1.50e1` is `-15`, `100` is `1e2`.
fn number(out: &mut Vec<u8>, text: &str) {
    match normal(text) {
        Some(normal) => out.extend_from_slice(normal.as_bytes()),
        // An exponent beyond 64 bits; nothing above is written with one.
        None => out.extend_from_slice(text.as_bytes()),
    }
}

fn normal(text: &str) -> Option<String> {
    let (negative, text) = match text.strip_prefix('-') {
        Some(text) => (true, text),
        None => (false, text),
    };
    let (mantissa, exponent) = text.split_once(['e', 'E']).unwrap_or((text, "0"));
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let digits = [whole, fraction].concat();
    let digits = digits.trim_start_matches('0');
    if digits.is_empty() {
        return Some("0".into());
    }
    let counting = digits.trim_end_matches('0');
    let exponent = exponent
        .parse::<i64>()
        .ok()?
        .checked_sub(i64::try_from(fraction.len()).ok()?)?
        .checked_add(i64::try_from(digits.len() - counting.len()).ok()?)?;
    let sign = if negative { "-" } else { "" };
    Some(match exponent {
        0 => [sign, counting].concat(),
        _ => alloc::format!("{sign}{counting}e{exponent}"),
    })
}

/// The members of an object, repeated names and all.
struct Entries<'a>(Vec<(&'a RawValue, &'a RawValue)>);

impl<'de> Deserialize<'de> for Entries<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Members;

        impl<'de> Visitor<'de> for Members {
            type Value = Entries<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Entries<'de>, A::Error> {
                let mut entries = Vec::new();
                while let Some(entry) = map.next_entry()? {
                    entries.push(entry);
                }
                Ok(Entries(entries))
            }
        }

        deserializer.deserialize_map(Members)
    }
}
