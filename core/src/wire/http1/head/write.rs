//! Heads, written.

use super::Framing;
use crate::error::ApiMisuse;
use crate::head::{Field, Headers, RequestHead, ResponseHead};
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

/// The `Date` field that was written last: most responses go out in the same second as the one before.
#[derive(Debug, Default)]
pub(in super::super) struct Dated {
    second: u64,
    field: Vec<u8>,
}

impl Dated {
    /// The field, which is empty when the clock stands at its epoch: then there is none.
    fn field(&mut self, unix: Duration) -> &[u8] {
        if unix.is_zero() {
            return &[];
        }
        if self.second != unix.as_secs() || self.field.is_empty() {
            self.second = unix.as_secs();
            self.field.clear();
            self.field.extend_from_slice(b"Date: ");
            write_date(&mut self.field, unix);
            self.field.extend_from_slice(b"\r\n");
        }
        &self.field
    }
}

/// Appends a response head, with the date (RFC 9110, 6.6.1). A field that could break the framing is left out.
pub(in super::super) fn write_response(
    out: &mut Vec<u8>,
    head: &ResponseHead,
    framing: Framing,
    persistence: Persistence,
    dated: &mut Dated,
    unix: Duration,
) {
    write_status(out, head.status);
    if !head.headers.has(Field::Date) {
        out.extend_from_slice(dated.field(unix));
    }
    for (field, name, value) in head.headers.known() {
        if is_safe(field, name, value) && !field.is_some_and(Field::is_hop_by_hop) {
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
pub(in super::super) fn error_response(out: &mut Vec<u8>, status: u16, dated: &mut Dated, unix: Duration) {
    write_response(out, &ResponseHead::new(status), Framing::Length(0), Persistence::Close, dated, unix);
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
    if let Some((_, name, _)) =
        head.headers.known().find(|(field, name, value)| !is_safe(*field, name, value))
    {
        return Err(ApiMisuse::new(format!(
            "the request field {name:?} has a name that is not a token, or a value with a control character; nothing was sent"
        )));
    }
    if head.headers.all_of(Field::Host).count() != 1 {
        return Err(ApiMisuse::new("the request needs one Host field; nothing was sent"));
    }
    out.extend_from_slice(head.method.as_bytes());
    out.push(b' ');
    out.extend_from_slice(head.target.as_bytes());
    out.extend_from_slice(b" HTTP/1.1\r\n");
    for (field, name, value) in head.headers.known() {
        if !field.is_some_and(Field::is_hop_by_hop) {
            write_field(out, name, value);
        }
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
        .all_of(Field::Connection)
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

fn is_safe(field: Option<Field>, name: &str, value: &[u8]) -> bool {
    // What is known is a token.
    (field.is_some() || is_token(name))
        && value.iter().all(|byte| *byte == b'\t' || (*byte >= b' ' && *byte != 0x7f))
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
