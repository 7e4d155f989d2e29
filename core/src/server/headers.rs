//! What modern HTTP requests repeat in their head must agree with their body, or two parts of a network could
//! act on different requests.
//!
//! <https://modelcontextprotocol.io/specification/2026-07-28/basic/transports/streamable-http#server-validation>

#[cfg(test)]
mod tests;

use alloc::borrow::Cow;

use super::config::Config;
use super::refusal::Refusal;
use super::tools::ToolEntry;
use crate::dialect::{Era, Revision};
use crate::error::code;
use crate::head::{Field, Headers};
use crate::mirror::{ParamValue, integer};
use crate::wire::header_value;

/// The revision that a request speaks.
pub(super) const PROTOCOL_VERSION: &str = "MCP-Protocol-Version";
/// The method of its body.
pub(super) const METHOD: &str = "Mcp-Method";
/// The name or address that its body asks for.
pub(super) const NAME: &str = "Mcp-Name";
/// The session of a legacy request.
pub(super) const SESSION: &str = "Mcp-Session-Id";

/// Whether `MCP-Protocol-Version` names a modern revision, or one that nobody here knows.
pub(super) fn claim_modern(headers: &Headers) -> bool {
    headers.has(Field::ProtocolVersion)
        && headers
            .text_of(Field::ProtocolVersion)
            .and_then(Revision::parse)
            .is_none_or(|revision| revision.era() == Era::Modern)
}

/// On a legacy request `MCP-Protocol-Version` may be absent, or must name a legacy revision that is spoken
/// (HTTPL-55, HTTPL-56). Which one does not matter: the session knows.
pub(super) fn check_legacy_version(headers: &Headers, config: &Config) -> Result<(), Refusal> {
    let Some(value) = only(headers.all_of(Field::ProtocolVersion), PROTOCOL_VERSION)? else { return Ok(()) };
    let spoken = core::str::from_utf8(value)
        .ok()
        .and_then(|value| Revision::parse(value.trim_matches([' ', '\t'])))
        .is_some_and(|revision| revision.era() == Era::Legacy && config.revisions.contains(revision));
    if spoken {
        return Ok(());
    }
    let mut message = alloc::string::String::from("`MCP-Protocol-Version` is not one of those spoken here:");
    for revision in config.revisions.iter() {
        message.push(' ');
        message.push_str(revision.as_str());
    }
    Err(Refusal::plain(code::INVALID_REQUEST, message))
}

/// `MCP-Protocol-Version` must be there and equal to what `_meta` says (HDR-03, HDR-05).
pub(super) fn check_version(headers: &Headers, body: &str) -> Result<(), Refusal> {
    equal(PROTOCOL_VERSION, literal(headers, Field::ProtocolVersion, PROTOCOL_VERSION)?, body)
}

/// `Mcp-Method` must be there and equal to the method of the body, case included (HDR-10, HDR-13).
pub(super) fn check_method(headers: &Headers, body: &str) -> Result<(), Refusal> {
    equal(METHOD, literal(headers, Field::Method, METHOD)?, body)
}

/// `Mcp-Name` must be there and, decoded, equal to the name in the body (HDR-10, HDR-39).
pub(super) fn check_name(headers: &Headers, body: &str) -> Result<(), Refusal> {
    let name = only(headers.all_of(Field::Name), NAME)?.ok_or_else(|| missing(NAME))?;
    equal(NAME, &decoded(NAME, name)?, body)
}

/// Every parameter that the tool mirrors must be repeated in its header exactly when the arguments hold a
/// value (HDR-42 to HDR-46). Other `Mcp-Param-*` headers mean nothing here (HDR-48).
pub(super) fn check_mirrored(headers: &Headers, tool: &ToolEntry, arguments: &str) -> Result<(), Refusal> {
    for param in &tool.mirrored {
        let header = only(headers.all(&param.header), &param.header)?;
        let decoded = header.map(|value| decoded(&param.header, value)).transpose()?;
        let Ok(value) = param.read(arguments) else {
            // Of another type than declared: for whoever validates the arguments, unless a header claims
            // to repeat it.
            match header {
                Some(_) => return Err(differs(&param.header)),
                None => continue,
            }
        };
        match (decoded, value) {
            (None, None) => {}
            (None, Some(_)) => return Err(missing(&param.header)),
            (Some(_), None) => return Err(differs(&param.header)),
            (Some(header), Some(value)) => {
                let same = match value {
                    ParamValue::String(value) => header == value,
                    // By value, so that `42.0` is 42 (HDR-47).
                    ParamValue::Integer(value) => integer(&header) == Some(value),
                    ParamValue::Boolean(value) => header == if value { "true" } else { "false" },
                };
                if !same {
                    return Err(differs(&param.header));
                }
            }
        }
    }
    Ok(())
}

/// The value of a header that may come once.
fn only<'a>(mut values: impl Iterator<Item = &'a [u8]>, name: &str) -> Result<Option<&'a [u8]>, Refusal> {
    let first = values.next();
    if values.next().is_some() {
        return Err(mismatch(alloc::format!("the `{name}` header occurs twice")));
    }
    Ok(first)
}

/// The value as visible ASCII text, without the white space around it (HDR-14).
fn literal<'a>(headers: &'a Headers, field: Field, name: &str) -> Result<&'a str, Refusal> {
    only(headers.all_of(field), name)?.ok_or_else(|| missing(name))?;
    headers
        .text_of(field)
        // Without an early end, so that compilers make vector code of it.
        .filter(|value| !value.bytes().fold(false, |hidden, byte| hidden | !matches!(byte, b' '..=b'~')))
        .ok_or_else(|| mismatch(alloc::format!("the `{name}` header holds characters that it must not")))
}

fn decoded<'a>(name: &str, value: &'a [u8]) -> Result<Cow<'a, str>, Refusal> {
    header_value::decode(value)
        .map_err(|invalid| mismatch(alloc::format!("the `{name}` header is not readable: {invalid}")))
}

fn equal(name: &str, header: &str, body: &str) -> Result<(), Refusal> {
    if header == body { Ok(()) } else { Err(differs(name)) }
}

fn differs(name: &str) -> Refusal {
    mismatch(alloc::format!("the `{name}` header does not match the body"))
}

/// A header is missing that has to be there.
pub(super) fn missing(name: &str) -> Refusal {
    mismatch(alloc::format!("the `{name}` header is missing"))
}

fn mismatch(message: alloc::string::String) -> Refusal {
    Refusal::plain(code::HEADER_MISMATCH, message)
}
