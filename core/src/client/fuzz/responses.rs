//! Heads of responses, and bodies that are compressed.

use super::Script;
use crate::head::ResponseHead;
use alloc::vec;
use alloc::vec::Vec;

/// Says that the body is compressed; whether that is understood here.
pub(super) fn compress(head: &mut ResponseHead) -> bool {
    if cfg!(feature = "gzip") {
        head.headers.push("Content-Encoding", "deflate");
    }
    cfg!(feature = "gzip")
}

/// A body in the form of deflate that does not deflate it, whole.
pub(super) fn compressed(bytes: &[u8]) -> Vec<u8> {
    let mut out = Vec::new();
    for piece in bytes.chunks(usize::from(u16::MAX)) {
        let length = u16::try_from(piece.len()).unwrap_or(u16::MAX);
        out.push(0);
        out.extend(length.to_le_bytes());
        out.extend((!length).to_le_bytes());
        out.extend(piece);
    }
    out.extend(vec![1, 0, 0, 0xff, 0xff]);
    out
}

pub(super) fn kind_head(status: u16, events: bool, session: bool) -> ResponseHead {
    let mut head = ResponseHead::new(status);
    head.headers.push("Content-Type", if events { "text/event-stream" } else { "application/json" });
    if session {
        head.headers.push("Mcp-Session-Id", "s");
    }
    head
}

pub(super) fn head(script: &mut Script<'_>) -> ResponseHead {
    const STATUSES: [u16; 16] =
        [200, 200, 200, 200, 200, 202, 307, 308, 303, 400, 401, 401, 403, 404, 405, 503];
    let choice = script.byte();
    let status = STATUSES.get(usize::from(choice % 16)).copied().unwrap_or(200);
    let mut head = kind_head(status, choice & 16 == 0, choice & 32 == 0);
    if choice & 64 == 0 {
        head.headers.push("Mcp-Session-Id", "not one");
    }
    if choice & 32 == 0 {
        head.headers.push("WWW-Authenticate", "Bearer");
    }
    if choice % 16 == 2 || choice % 16 == 13 {
        head.headers.push("Content-Encoding", if choice & 64 == 0 { "gzip" } else { "deflate" });
    }
    head.headers.push("Location", if choice & 128 == 0 { "/other" } else { "http://evil.example/" });
    head
}
