//! JSON as people write it: with comments and trailing commas.

/// The same text as plain JSON. What is taken out becomes spaces, so that every position stays what it was.
pub(super) fn plain(text: &str) -> String {
    let mut out: Vec<u8> = text.trim_start_matches('\u{feff}').into();
    let mut at = 0;
    // Where the last comma is, if only space came after it.
    let mut comma: Option<usize> = None;
    while let Some(&byte) = out.get(at) {
        match (byte, out.get(at + 1)) {
            (b'"', _) => {
                comma = None;
                at = string_end(&out, at);
                continue;
            }
            (b'/', Some(b'/')) => {
                let end =
                    out.iter().skip(at).position(|byte| *byte == b'\n').map_or(out.len(), |len| at + len);
                at = blank(&mut out, at, end);
                continue;
            }
            (b'/', Some(b'*')) => {
                let rest = out.get(at + 2..).unwrap_or_default();
                // One that is not closed stays, and is no JSON.
                if let Some(len) = rest.windows(2).position(|pair| pair == b"*/") {
                    let end = at + len + 4;
                    at = blank(&mut out, at, end);
                    continue;
                }
            }
            (b',', _) => comma = Some(at),
            (b'}' | b']', _) => {
                if let Some(place) = comma.take().and_then(|comma| out.get_mut(comma)) {
                    *place = b' ';
                }
            }
            (b' ' | b'\t' | b'\r' | b'\n', _) => {}
            _ => comma = None,
        }
        at += 1;
    }
    // Only whole comments and commas were replaced.
    String::from_utf8_lossy(&out).into_owned()
}

/// Behind the string that begins at `at`.
fn string_end(text: &[u8], at: usize) -> usize {
    let mut at = at + 1;
    loop {
        match text.get(at) {
            Some(b'\\') => at += 2,
            Some(b'"') => return at + 1,
            Some(_) => at += 1,
            None => return text.len(),
        }
    }
}

/// Replaces with spaces what is not the end of a line; returns `end`.
fn blank(text: &mut [u8], from: usize, end: usize) -> usize {
    for byte in text.get_mut(from..end).unwrap_or_default() {
        if !matches!(byte, b'\n' | b'\r') {
            *byte = b' ';
        }
    }
    end
}
