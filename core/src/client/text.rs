//! Text of a peer inside messages for people: bounded, on one line.

use alloc::string::String;

/// As much of a peer's text as a message for people may repeat, in characters.
const EXCERPT: usize = 200;
/// As many items of a peer's list.
const ITEMS: usize = 8;

/// The beginning of `text`, with control characters replaced.
pub(super) fn excerpt(text: &str) -> String {
    let mut out = String::new();
    for (count, character) in text.chars().enumerate() {
        if count == EXCERPT {
            out.push('…');
            break;
        }
        out.push(if character.is_control() { ' ' } else { character });
    }
    out
}

/// The first items, with commas.
pub(super) fn list<'a>(items: impl Iterator<Item = &'a str>) -> String {
    let mut out = String::new();
    for (count, item) in items.enumerate() {
        if count > 0 {
            out.push_str(", ");
        }
        if count == ITEMS {
            out.push('…');
            break;
        }
        out.push_str(&excerpt(item));
    }
    if out.is_empty() {
        out.push_str("none");
    }
    out
}
