//! JSON text without whitespace between its tokens.

use crate::wire::bytes;
use alloc::vec::Vec;

/// Appends `json` without the whitespace between its tokens; strings stay as they are.
///
/// What is appended holds no line feed or carriage return, so it fits on a line (STDIO-01): inside strings
/// JSON has both as escapes only.
pub(crate) fn compact(out: &mut Vec<u8>, json: &str) {
    let mut rest = json.as_bytes();
    let mut in_string = false;
    while let Some((&byte, after)) = rest.split_first() {
        let run = if in_string {
            // Up to and with the quote, or the escape and what it escapes.
            match bytes::find(rest, [b'"', b'\\']) {
                Some(at) if rest.get(at) == Some(&b'"') => {
                    in_string = false;
                    at + 1
                }
                Some(at) => at + 2,
                None => rest.len(),
            }
        } else if matches!(byte, b' ' | b'\t' | b'\n' | b'\r') {
            rest = after;
            continue;
        } else {
            in_string = byte == b'"';
            1
        };
        let (token, after) = rest.split_at(run.min(rest.len()));
        out.extend_from_slice(token);
        rest = after;
    }
}

/// Whether some JSON text spans lines.
pub(super) fn spans_lines(json: &[u8]) -> bool {
    bytes::find(json, [b'\n', b'\r']).is_some()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::string::String;

    fn compacted(json: &str) -> String {
        let mut out = Vec::new();
        compact(&mut out, json);
        String::from_utf8(out).unwrap()
    }

    /// STDIO-01
    #[test]
    fn whitespace_goes_and_strings_stay() {
        assert_eq!(compacted("{ \"a b\" :\r\n[ 1 ,\t2 ] }\n"), "{\"a b\":[1,2]}");
        assert_eq!(compacted(r#""a \" b" "#), r#""a \" b""#);
        assert_eq!(compacted(r#"[ "\\" , " " ]"#), r#"["\\"," "]"#);
        assert_eq!(compacted("\"é 😀\""), "\"é 😀\"");
        assert_eq!(compacted(""), "");
    }
}
