//! Complete heads, parsed and checked.

use super::Fault;
use crate::head::{Field, Headers, RequestHead, ResponseHead, Span};
use crate::wire::url::Parts;
use alloc::string::String;
use alloc::vec;
use alloc::vec::Vec;
use core::mem::MaybeUninit;
use httparse::Header;

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
pub(in super::super) fn parse_request(bytes: Vec<u8>, fields: usize, limit: usize) -> Result<Request, Fault> {
    let (method, target, authority, old, spans) = with_fields(fields, limit, |slots| {
        let mut parsed = httparse::Request::new(&mut []);
        complete(parsed.parse_with_uninit_headers(&bytes, slots))?;
        let (Some(method), Some(target), Some(minor)) = (parsed.method, parsed.path, parsed.version) else {
            return Err(INCOMPLETE);
        };
        let (authority, target) = split_target(method, target)?;
        Ok((
            String::from(method),
            target,
            authority.map(String::from),
            minor == 0,
            spans(&bytes, parsed.headers),
        ))
    })?;
    let headers = Headers::over(bytes, spans);
    check_host(&headers, old || authority.is_some())?;
    let framing = framing(&headers, old)?;
    // Empty members of a list say nothing (RFC 9110, 5.6.1.2).
    let expected = || members(&headers, Field::Expect).filter(|what| !old && !what.is_empty());
    if expected().any(|what| !what.eq_ignore_ascii_case(b"100-continue")) {
        return Err(Fault::new(417, "an expectation other than 100-continue"));
    }
    Ok(Request {
        framing,
        old,
        persists: persists(&headers, old),
        expects_continue: expected().next().is_some()
            && !matches!(framing, Framing::Undeclared | Framing::Length(0)),
        head: {
            let mut head = RequestHead::new(method, target);
            head.headers = match authority {
                Some(authority) => with_host(&authority, &headers),
                None => headers,
            };
            head
        },
    })
}

/// RFC 9112, 3.2.2: the authority of an absolute target stands in for what `Host` says.
fn with_host(authority: &str, headers: &Headers) -> Headers {
    let mut replaced = Headers::new().with("Host", authority);
    for (name, value) in headers.iter().filter(|(name, _)| !name.eq_ignore_ascii_case("host")) {
        replaced.push(name, value);
    }
    replaced
}

/// Parses a complete response head with so many fields.
pub(in super::super) fn parse_response(
    bytes: Vec<u8>,
    fields: usize,
    limit: usize,
) -> Result<Response, Fault> {
    let (status, old, spans) = with_fields(fields, limit, |slots| {
        let mut parsed = httparse::Response::new(&mut []);
        complete(httparse::ParserConfig::default().parse_response_with_uninit_headers(
            &mut parsed,
            &bytes,
            slots,
        ))?;
        let (Some(status @ 100..), Some(minor)) = (parsed.code, parsed.version) else {
            return Err(Fault::bad("the status is not between 100 and 999"));
        };
        Ok((status, minor == 0, spans(&bytes, parsed.headers)))
    })?;
    let mut head = ResponseHead::new(status);
    head.headers = Headers::over(bytes, spans);
    let framing = framing(&head.headers, old)?;
    Ok(Response { framing, persists: persists(&head.headers, old), head })
}

/// Lends space for the fields: from the stack, unless there are unusually many.
fn with_fields<'a, T>(
    fields: usize,
    limit: usize,
    parse: impl FnOnce(&mut [MaybeUninit<Header<'a>>]) -> Result<T, Fault>,
) -> Result<T, Fault> {
    if fields > limit {
        Err(Fault::new(431, "the head has more fields than `Limits::head_fields`"))
    } else if fields <= USUAL_FIELDS {
        parse(&mut [const { MaybeUninit::uninit() }; USUAL_FIELDS])
    } else {
        parse(&mut vec![MaybeUninit::uninit(); fields])
    }
}

/// Where the fields stand in the text that they were parsed from.
fn spans(text: &[u8], fields: &[Header<'_>]) -> Vec<Span> {
    let mut spans = Vec::with_capacity(fields.len());
    spans.extend(fields.iter().filter_map(|field| Span::within(text, field.name, field.value)));
    spans
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
    if target.bytes().any(|byte| byte == b'#') {
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

fn check_host(headers: &Headers, may_be_absent: bool) -> Result<(), Fault> {
    match headers.all_of(Field::Host).count() {
        1 => Ok(()),
        0 if may_be_absent => Ok(()),
        0 => Err(Fault::bad("there is no Host field")),
        _ => Err(Fault::bad("there is more than one Host field")),
    }
}

/// RFC 9112, 6.3, without the parts that guess.
fn framing(headers: &Headers, old: bool) -> Result<Framing, Fault> {
    let mut length = None;
    for value in members(headers, Field::ContentLength) {
        let parsed = digits(value).ok_or(Fault::bad("Content-Length is not a number"))?;
        if length.is_some_and(|length| length != parsed) {
            return Err(Fault::bad("two values of Content-Length differ"));
        }
        length = Some(parsed);
    }
    let mut codings = members(headers, Field::TransferEncoding);
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

fn persists(headers: &Headers, old: bool) -> bool {
    let says =
        |token: &[u8]| members(headers, Field::Connection).any(|member| member.eq_ignore_ascii_case(token));
    !says(b"close") && (!old || says(b"keep-alive"))
}

/// The members of a list that may be spread over several fields.
fn members(headers: &Headers, field: Field) -> impl DoubleEndedIterator<Item = &[u8]> + Clone {
    headers.all_of(field).flat_map(|value| value.split(|byte| *byte == b',')).map(<[u8]>::trim_ascii)
}
