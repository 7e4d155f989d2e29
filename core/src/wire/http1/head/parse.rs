//! Complete heads, parsed and checked.

use super::Fault;
use crate::head::{Headers, RequestHead, ResponseHead};
use crate::wire::url::Parts;
use alloc::string::String;
use alloc::vec;
use httparse::{EMPTY_HEADER, Header};

/// Fields that are parsed without an allocation; more take one.
const USUAL_FIELDS: usize = 32;

/// How a body is delimited, as its head declares it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in super::super) enum Framing {
    /// Nothing is said about a body.
    Undeclared,
    /// `Content-Length`.
    Length(u64),
    /// `Transfer-Encoding: chunked`.
    Chunked,
}

/// A request head and what it means for the connection.
#[derive(Debug)]
pub(in super::super) struct Request {
    pub(in super::super) head: RequestHead,
    pub(in super::super) framing: Framing,
    /// HTTP/1.0.
    pub(in super::super) old: bool,
    /// The connection may be used again.
    pub(in super::super) persists: bool,
    /// `Expect: 100-continue`.
    pub(in super::super) expects_continue: bool,
}

/// A response head and what it means for the connection.
#[derive(Debug)]
pub(in super::super) struct Response {
    pub(in super::super) head: ResponseHead,
    pub(in super::super) framing: Framing,
    /// The connection may be used again.
    pub(in super::super) persists: bool,
}

/// Parses a complete request head with so many fields.
pub(in super::super) fn parse_request(bytes: &[u8], fields: usize, limit: usize) -> Result<Request, Fault> {
    with_fields(fields, limit, |slots| {
        let mut parsed = httparse::Request::new(slots);
        complete(parsed.parse(bytes))?;
        let (Some(method), Some(target), Some(minor)) = (parsed.method, parsed.path, parsed.version) else {
            return Err(INCOMPLETE);
        };
        let old = minor == 0;
        let (authority, target) = split_target(method, target)?;
        check_host(parsed.headers, old || authority.is_some())?;
        let framing = framing(parsed.headers, old)?;
        if !old && members(parsed.headers, "expect").any(|what| !what.eq_ignore_ascii_case(b"100-continue")) {
            return Err(Fault::new(417, "an expectation other than 100-continue"));
        }
        // All that a head has but its first line, and hardly more than its fields need.
        let mut headers = Headers::with_capacity(fields, bytes.len());
        if let Some(authority) = authority {
            headers.push("Host", authority);
        }
        for field in parsed.headers.iter() {
            // RFC 9112, 3.2.2: the authority of an absolute target stands in for what `Host` says.
            if authority.is_none() || !field.name.eq_ignore_ascii_case("host") {
                headers.push(field.name, field.value);
            }
        }
        Ok(Request {
            framing,
            old,
            persists: persists(parsed.headers, old),
            expects_continue: !old
                && has_token(parsed.headers, "expect", "100-continue")
                && !matches!(framing, Framing::Undeclared | Framing::Length(0)),
            head: {
                let mut head = RequestHead::new(method, target);
                head.headers = headers;
                head
            },
        })
    })
}

/// Parses a complete response head with so many fields.
pub(in super::super) fn parse_response(bytes: &[u8], fields: usize, limit: usize) -> Result<Response, Fault> {
    with_fields(fields, limit, |slots| {
        let mut parsed = httparse::Response::new(slots);
        complete(parsed.parse(bytes))?;
        let (Some(status @ 100..), Some(minor)) = (parsed.code, parsed.version) else {
            return Err(Fault::bad("the status is not between 100 and 999"));
        };
        let mut head = ResponseHead::new(status);
        for field in parsed.headers.iter() {
            head.headers.push(field.name, field.value);
        }
        let old = minor == 0;
        let framing = framing(parsed.headers, old)?;
        Ok(Response { head, framing, persists: persists(parsed.headers, old) })
    })
}

/// Lends space for the fields: from the stack, unless there are unusually many.
fn with_fields<'a, T>(
    fields: usize,
    limit: usize,
    parse: impl FnOnce(&mut [Header<'a>]) -> Result<T, Fault>,
) -> Result<T, Fault> {
    if fields > limit {
        Err(Fault::new(431, "the head has more fields than `Limits::head_fields`"))
    } else if fields <= USUAL_FIELDS {
        parse(&mut [EMPTY_HEADER; USUAL_FIELDS])
    } else {
        parse(&mut vec![EMPTY_HEADER; fields])
    }
}

const INCOMPLETE: Fault = Fault::bad("the head ends too early");

fn complete(parsed: Result<httparse::Status<usize>, httparse::Error>) -> Result<(), Fault> {
    use httparse::Error;
    match parsed {
        Ok(httparse::Status::Complete(_)) => Ok(()),
        Ok(httparse::Status::Partial) => Err(INCOMPLETE),
        Err(Error::Version) => Err(Fault::new(505, "the version is neither HTTP/1.0 nor HTTP/1.1")),
        Err(Error::HeaderName) => Err(Fault::bad("a field name is not a token followed by a colon")),
        Err(Error::HeaderValue) => Err(Fault::bad("a field value holds a control character")),
        Err(Error::NewLine) => Err(Fault::bad("a CR stands alone")),
        Err(Error::Status) => Err(Fault::bad("the status is not a number of three digits")),
        Err(Error::Token) => Err(Fault::bad("the request line is not method, target and version")),
        Err(Error::TooManyHeaders) => Err(Fault::new(431, "too many fields")),
    }
}

/// Separates the authority of an absolute target from the path and query, which is what remains.
fn split_target<'a>(method: &str, target: &'a str) -> Result<(Option<&'a str>, String), Fault> {
    // No target has one (RFC 9112, 3.2), and who drops it sees another path than who does not.
    if target.contains('#') {
        return Err(Fault::bad("the target holds a fragment, which is for the client alone"));
    }
    if target.starts_with('/') || (target == "*" && method == "OPTIONS") {
        return Ok((None, target.into()));
    }
    let none = "the target is neither a path nor an absolute http or https URL with a host";
    let url = Parts::read(target).map_err(|_| Fault::bad(none))?;
    if url.authority.is_empty() || url.has_user() {
        return Err(Fault::bad(none));
    }
    let slash = if url.path.is_empty() { "/" } else { "" };
    Ok((Some(url.authority), [slash, url.path, url.query].concat()))
}

fn check_host(headers: &[Header<'_>], may_be_absent: bool) -> Result<(), Fault> {
    match values(headers, "host").count() {
        1 => Ok(()),
        0 if may_be_absent => Ok(()),
        0 => Err(Fault::bad("there is no Host field")),
        _ => Err(Fault::bad("there is more than one Host field")),
    }
}

/// RFC 9112, 6.3, without the parts that guess.
fn framing(headers: &[Header<'_>], old: bool) -> Result<Framing, Fault> {
    let mut length = None;
    for value in members(headers, "content-length") {
        let parsed = digits(value).ok_or(Fault::bad("Content-Length is not a number"))?;
        if length.is_some_and(|length| length != parsed) {
            return Err(Fault::bad("two values of Content-Length differ"));
        }
        length = Some(parsed);
    }
    let mut codings = members(headers, "transfer-encoding");
    let Some(last) = codings.next_back() else {
        return Ok(length.map_or(Framing::Undeclared, Framing::Length));
    };
    let is_chunked = |coding: &[u8]| coding.eq_ignore_ascii_case(b"chunked");
    if length.is_some() {
        Err(Fault::bad("both Content-Length and Transfer-Encoding"))
    } else if old {
        Err(Fault::bad("Transfer-Encoding in HTTP/1.0"))
    } else if last.is_empty() || codings.clone().any(|coding| coding.is_empty() || is_chunked(coding)) {
        Err(Fault::bad("chunked is not the one last transfer coding"))
    } else if !is_chunked(last) || codings.next().is_some() {
        Err(Fault::new(501, "a transfer coding other than chunked"))
    } else {
        Ok(Framing::Chunked)
    }
}

fn digits(value: &[u8]) -> Option<u64> {
    if value.is_empty() {
        return None;
    }
    value.iter().try_fold(0_u64, |number, byte| {
        let digit = char::from(*byte).to_digit(10)?;
        number.checked_mul(10)?.checked_add(u64::from(digit))
    })
}

fn persists(headers: &[Header<'_>], old: bool) -> bool {
    !has_token(headers, "connection", "close") && (!old || has_token(headers, "connection", "keep-alive"))
}

fn has_token(headers: &[Header<'_>], name: &str, token: &str) -> bool {
    members(headers, name).any(|member| member.eq_ignore_ascii_case(token.as_bytes()))
}

fn values<'a, 'h>(
    headers: &'a [Header<'h>],
    name: &'a str,
) -> impl DoubleEndedIterator<Item = &'h [u8]> + Clone + 'a {
    headers.iter().filter(move |field| field.name.eq_ignore_ascii_case(name)).map(|field| field.value)
}

/// The members of a list that may be spread over several fields.
fn members<'a, 'h>(
    headers: &'a [Header<'h>],
    name: &'a str,
) -> impl DoubleEndedIterator<Item = &'h [u8]> + Clone + 'a {
    values(headers, name).flat_map(|value| value.split(|byte| *byte == b',')).map(trim)
}

fn trim(value: &[u8]) -> &[u8] {
    value.trim_ascii()
}
