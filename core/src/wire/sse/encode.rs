//! Events to bytes.

use crate::time::Duration;
use crate::wire::bytes;
use alloc::format;
use alloc::vec::Vec;

/// Appends an event. Data may be any bytes; each of its lines (ended by LF, CR or CRLF) becomes a `data`
/// line, and the receiver joins them with LF.
///
/// An `event` or `id` that holds a line end or NUL cannot be written; that field is left out. Empty data
/// makes an event that does nothing but set the last event id.
pub fn write_event(out: &mut Vec<u8>, event: Option<&str>, id: Option<&str>, data: &[u8]) {
    begin_data(out, event, id);
    let mut rest = data;
    while let Some((line, end, after)) = bytes::split(rest, [b'\r', b'\n']) {
        out.extend_from_slice(line);
        out.extend_from_slice(b"\ndata: ");
        rest = if end == b'\r' { after.strip_prefix(b"\n").unwrap_or(after) } else { after };
    }
    out.extend_from_slice(rest);
    end_event(out);
}

/// Appends an event up to its data, which the caller then appends without any line end in it (what the
/// JSON-RPC writers append is such), followed by [`end_event`].
pub fn begin_data(out: &mut Vec<u8>, event: Option<&str>, id: Option<&str>) {
    for (name, value) in [("event: ", event), ("id: ", id)] {
        if let Some(value) = value
            && !value.bytes().any(|byte| is_line_end(byte) || byte == 0)
        {
            out.extend_from_slice(name.as_bytes());
            out.extend_from_slice(value.as_bytes());
            out.push(b'\n');
        }
    }
    out.extend_from_slice(b"data: ");
}

/// Appends the end of an event.
pub fn end_event(out: &mut Vec<u8>) {
    out.extend_from_slice(b"\n\n");
}

/// Appends how long the receiver is to wait before it connects again, in whole milliseconds. Stands before
/// an event, or alone.
pub fn write_retry(out: &mut Vec<u8>, delay: Duration) {
    out.extend_from_slice(format!("retry: {}\n", delay.as_millis()).as_bytes());
}

/// Appends a comment, which keeps an idle connection open and means nothing else.
pub fn write_comment(out: &mut Vec<u8>, text: &str) {
    for line in text.split(['\r', '\n']) {
        out.extend_from_slice(b": ");
        out.extend_from_slice(line.as_bytes());
        out.push(b'\n');
    }
    out.push(b'\n');
}

const fn is_line_end(byte: u8) -> bool {
    matches!(byte, b'\r' | b'\n')
}

#[cfg(test)]
mod tests;
