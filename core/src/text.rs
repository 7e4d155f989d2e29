//! Text of a peer inside messages for people: bounded, on one line.

use alloc::string::{String, ToString};
use core::fmt::{self, Write};

/// As much of a peer's text as a message for people may repeat, in characters.
const EXCERPT: usize = 200;
/// As many items of a peer's list.
const ITEMS: usize = 8;

/// Has errors print the same either way: their `Debug` is what a program prints whose `main` returns one.
macro_rules! debug_like_display {
    ($($error:ty),+) => {$(
        impl core::fmt::Debug for $error {
            fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
                core::fmt::Display::fmt(self, f)
            }
        }
    )+};
}

pub(crate) use debug_like_display;

/// The beginning of a peer's text, with control characters replaced.
pub(crate) struct Excerpt<'a>(pub(crate) &'a str);

impl fmt::Display for Excerpt<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (count, character) in self.0.chars().enumerate() {
            if count == EXCERPT {
                return f.write_char('…');
            }
            f.write_char(if character.is_control() { ' ' } else { character })?;
        }
        Ok(())
    }
}

/// A text of a peer that is to be read and not only recognised: longer, and with what could move the cursor, begin another
/// line or turn the direction of writing shown as `\u{1b}`.
pub(crate) struct Escaped<'a>(pub(crate) &'a str);

/// As much of it as is shown, in characters.
const SHOWN: usize = 1_000;

impl fmt::Display for Escaped<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (count, character) in self.0.chars().enumerate() {
            if count == SHOWN {
                return f.write_char('…');
            }
            if character.is_control() || is_formatting(character) {
                write!(f, "{}", character.escape_unicode())?;
            } else {
                f.write_char(character)?;
            }
        }
        Ok(())
    }
}

/// Separators of lines and paragraphs, and marks that change the direction of writing.
const fn is_formatting(character: char) -> bool {
    matches!(
        character,
        '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{feff}'
    )
}

/// An [`Excerpt`] as a text of its own.
pub(crate) fn excerpt(text: &str) -> String {
    Excerpt(text).to_string()
}

/// The first items, with commas.
pub(crate) fn list<'a>(items: impl Iterator<Item = &'a str>) -> String {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_excerpt_is_bounded_and_on_one_line() {
        assert_eq!(excerpt("a\nb"), "a b");
        let cut = excerpt(&"é".repeat(1_000));
        assert_eq!(cut.chars().count(), EXCERPT + 1);
    }

    #[test]
    fn a_list_is_bounded() {
        assert_eq!(list(["a", "b"].into_iter()), "a, b");
        assert_eq!(list([].into_iter()), "none");
        assert_eq!(list(["x"; 100].into_iter()).matches('x').count(), ITEMS);
    }
}
