//! Heads, written.

use super::Framing;
use crate::error::ApiMisuse;
use crate::head::{Headers, RequestHead, ResponseHead};
use crate::time::Duration;
use crate::wire::bytes::push_decimal;
use crate::wire::date::write_date;
use alloc::format;
use alloc::vec::Vec;

/// What a response says about the connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in super::super) enum Persistence {
    /// Nothing: HTTP/1.1 goes on by itself.
    Implied,
    /// `Connection: keep-alive`, which HTTP/1.0 needs.
    KeepAlive,
    /// `Connection: close`.
    Close,
}

/// Appends a response head, with the date (RFC 9110, 6.6.1) unless the clock stands at its epoch: then there is
/// none. A field that could break the framing is left out.
pub(in super::super) fn write_response(
    out: &mut Vec<u8>,
    head: &ResponseHead,
    framing: Framing,
    persistence: Persistence,
    unix: Duration,
) {
    write_status(out, head.status);
    if !unix.is_zero() && head.headers.get("date").is_none() {
        out.extend_from_slice(b"Date: ");
        write_date(out, unix);
        out.extend_from_slice(b"\r\n");
    }
    for (name, value) in head.headers.iter() {
        if is_safe(name, value) && !is_hop_by_hop(name) {
            write_field(out, name, value);
        }
    }
    write_framing(out, framing);
    match persistence {
        Persistence::Implied => {}
        Persistence::KeepAlive => write_field(out, "Connection", b"keep-alive"),
        Persistence::Close => write_field(out, "Connection", b"close"),
    }
    out.extend_from_slice(b"\r\n");
}

/// Appends a whole response that refuses a request, after which the connection is closed.
pub(in super::super) fn error_response(out: &mut Vec<u8>, status: u16, unix: Duration) {
    write_response(out, &ResponseHead::new(status), Framing::Length(0), Persistence::Close, unix);
}

/// Appends a request head, or nothing if a part of it could break the framing.
pub(in super::super) fn write_request(
    out: &mut Vec<u8>,
    head: &RequestHead,
    framing: Framing,
    close: bool,
) -> Result<(), ApiMisuse> {
    if !is_token(&head.method) {
        return Err(ApiMisuse::new("the method of the request is not a token; nothing was sent"));
    }
    if head.target.is_empty() || !head.target.bytes().all(|byte| byte.is_ascii_graphic()) {
        return Err(ApiMisuse::new(
            "the target of the request is empty or holds a character that has to be percent-encoded; nothing was sent",
        ));
    }
    if let Some((name, _)) = head.headers.iter().find(|(name, value)| !is_safe(name, value)) {
        return Err(ApiMisuse::new(format!(
            "the request field {name:?} has a name that is not a token, or a value with a control character; nothing was sent"
        )));
    }
    if head.headers.all("host").count() != 1 {
        return Err(ApiMisuse::new("the request needs one Host field; nothing was sent"));
    }
    out.extend_from_slice(head.method.as_bytes());
    out.push(b' ');
    out.extend_from_slice(head.target.as_bytes());
    out.extend_from_slice(b" HTTP/1.1\r\n");
    for (name, value) in head.headers.iter().filter(|(name, _)| !is_hop_by_hop(name)) {
        write_field(out, name, value);
    }
    write_framing(out, framing);
    if close {
        write_field(out, "Connection", b"close");
    }
    out.extend_from_slice(b"\r\n");
    Ok(())
}

/// Whether a head that we are to write asks for the connection to be closed.
pub(in super::super) fn asks_to_close(headers: &Headers) -> bool {
    headers
        .all("connection")
        .flat_map(|value| value.split(|byte| *byte == b','))
        .any(|token| token.trim_ascii().eq_ignore_ascii_case(b"close"))
}

fn write_status(out: &mut Vec<u8>, status: u16) {
    out.extend_from_slice(b"HTTP/1.1 ");
    push_decimal(out, u64::from(status));
    out.push(b' ');
    out.extend_from_slice(reason(status).as_bytes());
    out.extend_from_slice(b"\r\n");
}

fn write_framing(out: &mut Vec<u8>, framing: Framing) {
    match framing {
        Framing::Undeclared => {}
        Framing::Length(length) => {
            out.extend_from_slice(b"Content-Length: ");
            push_decimal(out, length);
            out.extend_from_slice(b"\r\n");
        }
        Framing::Chunked => write_field(out, "Transfer-Encoding", b"chunked"),
    }
}

fn write_field(out: &mut Vec<u8>, name: &str, value: &[u8]) {
    out.extend_from_slice(name.as_bytes());
    out.extend_from_slice(b": ");
    out.extend_from_slice(value);
    out.extend_from_slice(b"\r\n");
}

fn is_token(text: &str) -> bool {
    let is_tchar = |byte: u8| byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte);
    !text.is_empty() && text.bytes().all(is_tchar)
}

fn is_safe(name: &str, value: &[u8]) -> bool {
    is_token(name) && value.iter().all(|byte| *byte == b'\t' || (*byte >= b' ' && *byte != 0x7f))
}

/// Fields about one connection: this machine writes what is true of its own.
fn is_hop_by_hop(name: &str) -> bool {
    [
        "connection",
        "content-length",
        "keep-alive",
        "proxy-connection",
        "te",
        "trailer",
        "transfer-encoding",
        "upgrade",
    ]
    .iter()
    .any(|hop| name.eq_ignore_ascii_case(hop))
}

fn reason(status: u16) -> &'static str {
    match status {
        200 => "OK",
        202 => "Accepted",
        204 => "No Content",
        304 => "Not Modified",
        307 => "Temporary Redirect",
        308 => "Permanent Redirect",
        400 => "Bad Request",
        401 => "Unauthorized",
        403 => "Forbidden",
        404 => "Not Found",
        405 => "Method Not Allowed",
        406 => "Not Acceptable",
        408 => "Request Timeout",
        413 => "Content Too Large",
        415 => "Unsupported Media Type",
        417 => "Expectation Failed",
        431 => "Request Header Fields Too Large",
        500 => "Internal Server Error",
        501 => "Not Implemented",
        503 => "Service Unavailable",
        505 => "HTTP Version Not Supported",
        _ => "",
    }
}
