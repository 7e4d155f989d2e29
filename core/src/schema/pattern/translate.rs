//! From the syntax of ECMA-262 to that of the `regex` crate, where the two mean different things.

use alloc::format;
use alloc::string::String;
use core::iter::Peekable;
use core::str::Chars;

const SPACE: &str = r"\s\x{FEFF}";
const WORD: &str = "0-9A-Za-z_";

/// The error says what there is no equivalent of.
pub(super) fn translate(pattern: &str) -> Result<String, &'static str> {
    let mut out = String::with_capacity(pattern.len() + 8);
    let mut rest = pattern.chars().peekable();
    while let Some(next) = rest.next() {
        match next {
            '\\' => escape(&mut rest, &mut out, false)?,
            '[' => class(&mut rest, &mut out)?,
            // Every character but the four line ends.
            '.' => out.push_str(r"[^\n\r\x{2028}\x{2029}]"),
            '(' => group(&mut rest, &mut out)?,
            next => out.push(next),
        }
    }
    Ok(out)
}

/// What comes behind an opening parenthesis.
fn group(rest: &mut Peekable<Chars<'_>>, out: &mut String) -> Result<(), &'static str> {
    out.push('(');
    if rest.next_if_eq(&'?').is_none() {
        return Ok(());
    }
    out.push('?');
    match rest.next() {
        Some(':') => out.push(':'),
        Some('<') if !matches!(rest.peek(), Some('=' | '!')) => out.push('<'),
        Some('=' | '!' | '<') => return Err("it looks around"),
        _ => return Err("it has a group of an unknown kind"),
    }
    Ok(())
}

/// What comes behind an opening bracket.
fn class(rest: &mut Peekable<Chars<'_>>, out: &mut String) -> Result<(), &'static str> {
    let negated = rest.next_if_eq(&'^').is_some();
    // Empty classes: nothing, and everything.
    if rest.next_if_eq(&']').is_some() {
        out.push_str(if negated { r"(?s:.)" } else { r"[^\x{0}-\x{10FFFF}]" });
        return Ok(());
    }
    out.push_str(if negated { "[^" } else { "[" });
    while let Some(next) = rest.next() {
        match next {
            ']' => {
                out.push(']');
                return Ok(());
            }
            '\\' => escape(rest, out, true)?,
            // Inside a class these mean something to the other syntax.
            '[' | '&' | '~' => out.extend(['\\', next]),
            '-' if rest.peek() == Some(&'-') => out.push_str(r"\-"),
            next => out.push(next),
        }
    }
    Err("a bracket is not closed")
}

/// What comes behind a backslash.
fn escape(rest: &mut Peekable<Chars<'_>>, out: &mut String, in_class: bool) -> Result<(), &'static str> {
    let next = rest.next().ok_or("it ends with a backslash")?;
    match next {
        'd' if in_class => out.push_str("0-9"),
        'd' => out.push_str("[0-9]"),
        'D' => out.push_str("[^0-9]"),
        'w' if in_class => out.push_str(WORD),
        'w' => out.push_str(&format!("[{WORD}]")),
        'W' => out.push_str(&format!("[^{WORD}]")),
        's' if in_class => out.push_str(SPACE),
        's' => out.push_str(&format!("[{SPACE}]")),
        'S' => out.push_str(&format!("[^{SPACE}]")),
        'b' if in_class => out.push_str(r"\x08"),
        'b' => out.push_str(r"(?-u:\b)"),
        'B' => return Err(r"it has `\B`"),
        '1'..='9' | 'k' => return Err("it refers back to a group"),
        '0' => out.push_str(r"\x00"),
        'c' => {
            let letter =
                rest.next().filter(char::is_ascii_alphabetic).ok_or("it has `\\c` without a letter")?;
            out.push_str(&format!("\\x{:02X}", u32::from(letter) % 32));
        }
        'u' if rest.peek() == Some(&'{') => out.push_str("\\u"),
        'u' => out.push_str(&format!("\\x{{{:X}}}", u32::from(utf16(rest)?))),
        'x' => {
            let code = hex(rest, 2)?;
            out.push_str(&format!("\\x{code:02X}"));
        }
        // The same on both sides.
        't' | 'n' | 'v' | 'f' | 'r' | 'p' | 'P' => out.extend(['\\', next]),
        next if next.is_ascii_alphanumeric() => return Err("it has an unknown escape"),
        next if next.is_ascii() => out.extend(['\\', next]),
        next => out.push(next),
    }
    Ok(())
}

/// The character of a `\u` escape, or of the two that make one.
fn utf16(rest: &mut Peekable<Chars<'_>>) -> Result<char, &'static str> {
    const HALF: &str = "it has half a surrogate pair";
    let first = hex(rest, 4)?;
    let mut units = [first as u16, 0];
    let count = if (0xD800..0xDC00).contains(&first) {
        if rest.next() != Some('\\') || rest.next() != Some('u') {
            return Err(HALF);
        }
        let [_, second] = &mut units;
        *second = hex(rest, 4)? as u16;
        2
    } else {
        1
    };
    let mut decoded = char::decode_utf16(units.into_iter().take(count));
    decoded.next().and_then(Result::ok).ok_or(HALF)
}

fn hex(rest: &mut Peekable<Chars<'_>>, digits: usize) -> Result<u32, &'static str> {
    (0..digits).try_fold(0, |code, _| {
        let digit = rest.next().and_then(|digit| digit.to_digit(16));
        digit.map(|digit| code * 16 + digit).ok_or("it has a broken escape")
    })
}
