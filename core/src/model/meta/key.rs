//! Which keys an application may use in `_meta`, and as names of extensions.

use crate::dialect::Revision;
use core::fmt;

/// What is wrong with a key.
#[derive(Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum KeyFault {
    /// A label before the `/` does not start with a letter, does not end with a letter or digit, or holds
    /// something other than letters, digits and hyphens (META-02, META-03).
    Label,
    /// The name does not start and end with a letter or digit, or holds something other than letters,
    /// digits, `-`, `_` and `.` (META-07).
    Name,
    /// The prefix belongs to the protocol (META-05).
    Reserved,
}

impl fmt::Display for KeyFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Label => "each label of the prefix starts with a letter, ends with a letter or digit, and holds only letters, digits and hyphens",
            Self::Name => "the name starts and ends with a letter or digit, and holds only letters, digits, `-`, `_` and `.`",
            Self::Reserved => "the prefix is reserved for the protocol",
        })
    }
}

impl core::error::Error for KeyFault {}

crate::text::debug_like_display!(KeyFault);

/// Judges a key that an application wants to use: well formed, and not reserved in any revision.
///
/// The bare keys that the specification itself defines, such as `progressToken`, pass.
///
/// <https://modelcontextprotocol.io/specification/2026-07-28/basic/index#meta>
pub fn check_key(key: &str) -> Result<(), KeyFault> {
    let (prefix, name) = split(key);
    if !prefix.is_none_or(|prefix| prefix.split('.').all(is_label)) {
        return Err(KeyFault::Label);
    }
    if !is_name(name) {
        return Err(KeyFault::Name);
    }
    if Revision::ALL.into_iter().any(|revision| is_reserved(key, revision)) {
        return Err(KeyFault::Reserved);
    }
    Ok(())
}

/// Whether `revision` reserves the prefix of `key`: by its second label (META-05), or in 2025-06-18 by its
/// last label but one (META-06). Earlier revisions reserve none.
pub fn is_reserved(key: &str, revision: Revision) -> bool {
    let Some(prefix) = split(key).0 else { return false };
    let label = match revision {
        Revision::V2024_11_05 | Revision::V2025_03_26 => None,
        Revision::V2025_06_18 => prefix.rsplit('.').nth(1),
        Revision::V2025_11_25 | Revision::V2026_07_28 => prefix.split('.').nth(1),
    };
    matches!(label, Some("modelcontextprotocol" | "mcp"))
}

/// The first `/` ends the prefix; a later one makes the name malformed.
fn split(key: &str) -> (Option<&str>, &str) {
    match key.split_once('/') {
        Some((prefix, name)) => (Some(prefix), name),
        None => (None, key),
    }
}

fn is_label(label: &str) -> bool {
    label.starts_with(|first: char| first.is_ascii_alphabetic())
        && label.ends_with(|last: char| last.is_ascii_alphanumeric())
        && label.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-')
}

fn is_name(name: &str) -> bool {
    let ends = |at: char| at.is_ascii_alphanumeric();
    name.is_empty()
        || name.starts_with(ends)
            && name.ends_with(ends)
            && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte))
}
