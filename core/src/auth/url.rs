//! URLs as far as OAuth needs them: read strictly, kept as they were written, printed without their query.
//!
//! Identifiers such as issuers are compared as they were written, so a URL is never normalised here; what is
//! normalised is only what says where a request goes.

#[cfg(test)]
mod tests;

use alloc::string::String;
use core::fmt;
use core::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use core::ops::Range;

use crate::wire::url::{Parts, is_clear, is_loose};

/// Longer than any URL that servers are known to take.
const LONGEST: usize = 8 << 10;

/// An absolute `http` or `https` URL without user and fragment.
#[derive(Clone, PartialEq, Eq)]
pub struct Url {
    text: String,
    https: bool,
    /// In lower case; an IPv6 address without its brackets.
    host: String,
    port: Option<u16>,
    path: Range<usize>,
    query: Option<Range<usize>>,
    network: Network,
}

/// Why a text is no URL that can be used.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct InvalidUrl(&'static str);

impl fmt::Display for InvalidUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0)
    }
}

impl core::error::Error for InvalidUrl {}

crate::text::debug_like_display!(InvalidUrl);

impl Url {
    /// Reads a URL.
    ///
    /// # Errors
    ///
    /// If the scheme is another than `http` and `https` (SEC-06, SEC-07); if there is a user, a fragment, no
    /// host, or a character that is read in more than one way unless it is escaped, such as a backslash; if the host is
    /// a number that is read in more than one way, such as `127.1` or `0x7f000001`; if it is longer than 8 KiB.
    pub fn parse(text: &str) -> Result<Self, InvalidUrl> {
        if text.len() > LONGEST {
            return Err(InvalidUrl("a URL of more than 8 KiB"));
        }
        let parts = Parts::read(text).map_err(InvalidUrl)?;
        if !is_clear(text) {
            return Err(InvalidUrl("a character that must be escaped in a URL"));
        }
        if parts.has_fragment {
            return Err(InvalidUrl("a URL with a fragment"));
        }
        if parts.has_user() {
            return Err(InvalidUrl("a URL with a user"));
        }
        let (host, port) = parts.host();
        let port = port.map(read_port).transpose()?;
        let (host, network) = read_host(host)?;
        let query = text.len() - parts.query.len();
        let path = query - parts.path.len()..query;
        let query = (!parts.query.is_empty()).then(|| query + 1..text.len());
        Ok(Self { text: text.into(), https: parts.secure, host, port, path, query, network })
    }

    /// The URL as it was written. It may hold what is not for logs.
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// Whether it is encrypted on the way.
    pub fn is_https(&self) -> bool {
        self.https
    }

    /// The host in lower case; an IPv6 address without brackets.
    pub fn host(&self) -> &str {
        &self.host
    }

    /// The port, also where it goes without saying.
    pub fn port(&self) -> u16 {
        self.port.unwrap_or(if self.https { 443 } else { 80 })
    }

    /// The path as it was written; may be empty.
    pub fn path(&self) -> &str {
        self.text.get(self.path.clone()).unwrap_or_default()
    }

    /// What follows the question mark.
    pub fn query(&self) -> Option<&str> {
        self.text.get(self.query.clone()?)
    }

    /// Which network the host is on, as far as the URL says so itself.
    pub fn network(&self) -> Network {
        self.network
    }

    /// The value of the `Host` field: the host, and the port where it does not go without saying.
    pub fn authority(&self) -> String {
        let host =
            if self.host.contains(':') { alloc::format!("[{}]", self.host) } else { self.host.clone() };
        match self.port() {
            443 if self.https => host,
            80 if !self.https => host,
            port => alloc::format!("{host}:{port}"),
        }
    }

    /// Scheme, host and port, normalised.
    pub fn origin(&self) -> String {
        alloc::format!("{}://{}", if self.https { "https" } else { "http" }, self.authority())
    }

    /// Path and query, as a request for it names them.
    pub fn target(&self) -> String {
        let path = if self.path().is_empty() { "/" } else { self.path() };
        match self.query() {
            Some(query) => alloc::format!("{path}?{query}"),
            None => path.into(),
        }
    }

    /// Whether requests for both go to the same server.
    pub fn is_same_origin(&self, other: &Self) -> bool {
        self.https == other.https && self.host == other.host && self.port() == other.port()
    }

    /// The URL with everything escaped that RFC 3986 wants escaped: for programs that open a browser, whatever they do
    /// with it.
    pub(super) fn escaped(&self) -> String {
        let mut out = String::with_capacity(self.text.len());
        for character in self.text.chars() {
            match u8::try_from(character) {
                Ok(byte) if is_loose(byte) => out.push_str(&alloc::format!("%{byte:02X}")),
                _ => out.push(character),
            }
        }
        out
    }

    /// The URL without its query, as it was written.
    pub(super) fn without_query(&self) -> &str {
        self.text.get(..self.path.end).unwrap_or_default()
    }

    /// The path without slashes at its end: empty where there is only the root.
    pub(super) fn trimmed_path(&self) -> &str {
        self.path().trim_end_matches('/')
    }

    /// Whether a segment of the path is `.` or `..`, escaped or not.
    pub(super) fn has_dot_segments(&self) -> bool {
        let is_dots =
            |segment: &str| matches!(&*segment.to_ascii_lowercase().replace("%2e", "."), "." | "..");
        self.path().split('/').any(is_dots)
    }

    /// Another path on the same server.
    pub(super) fn at(&self, path: &str) -> Result<Self, InvalidUrl> {
        Self::parse(&alloc::format!("{}{path}", self.origin()))
    }
}

/// Prints no query: it may hold a code.
impl fmt::Debug for Url {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{}", self.without_query(), if self.query.is_some() { "?.." } else { "" })
    }
}

fn read_port(digits: &str) -> Result<u16, InvalidUrl> {
    if digits.is_empty() || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return Err(InvalidUrl("a port that is no number"));
    }
    digits.parse().ok().filter(|port| *port > 0).ok_or(InvalidUrl("a port out of range"))
}

fn read_host(host: &str) -> Result<(String, Network), InvalidUrl> {
    if let Some(inner) = host.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')) {
        let address: Ipv6Addr = inner.parse().map_err(|_| InvalidUrl("a host that is no IPv6 address"))?;
        return Ok((inner.to_ascii_lowercase(), Network::of(address.into())));
    }
    let name = host.to_ascii_lowercase();
    let is_label = |label: &str| {
        !label.is_empty() && label.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_".contains(&byte))
    };
    if name.len() > 253 || !name.split('.').all(is_label) {
        return Err(InvalidUrl("a host that is no name"));
    }
    let last = name.rsplit('.').next().unwrap_or_default();
    let hexadecimal =
        last.strip_prefix("0x").is_some_and(|rest| rest.bytes().all(|it| it.is_ascii_hexdigit()));
    // Resolvers take `127.1`, `0177.0.0.1` and `2130706433` for addresses; here an address has one spelling.
    if hexadecimal || last.bytes().all(|byte| byte.is_ascii_digit()) {
        let address: Ipv4Addr =
            name.parse().map_err(|_| InvalidUrl("a host that is a number, and no IPv4 address"))?;
        return Ok((name, Network::of(address.into())));
    }
    let local = name == "localhost" || name.ends_with(".localhost");
    Ok((name, if local { Network::Loopback } else { Network::Public }))
}

/// What can be told from an address about who can reach it.
///
/// <https://modelcontextprotocol.io/docs/2026-07-28/tutorials/security/security_best_practices#server-side-request-forgery-ssrf>
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Network {
    /// Everybody; also every name but `localhost`, since what it resolves to is not known here.
    Public,
    /// Only this machine.
    Loopback,
    /// Only those on the same cable, and the metadata services of clouds.
    LinkLocal,
    /// Only those on the same private network: RFC 1918, unique local, and shared address space.
    Private,
    /// Nobody: unspecified, multicast, broadcast, reserved.
    Unusable,
}

impl Network {
    /// The network of an address. An IPv4 address inside an IPv6 address counts as itself.
    ///
    /// For whoever resolves names: a name that a peer supplied
    /// ([`Request::configured`](super::Request::configured) is `false`) may still stand for a private address.
    pub fn of(address: IpAddr) -> Self {
        match address {
            IpAddr::V4(address) => Self::of_v4(address),
            IpAddr::V6(address) => Self::of_v6(address),
        }
    }

    fn of_v4(address: Ipv4Addr) -> Self {
        let [a, b, c, _] = address.octets();
        match a {
            _ if address.is_loopback() => Self::Loopback,
            _ if address.is_link_local() => Self::LinkLocal,
            _ if address.is_private() => Self::Private,
            // Shared by providers, special purposes, and between the machines of a test.
            100 if b & 0xc0 == 64 => Self::Private,
            192 if [b, c] == [0, 0] => Self::Private,
            198 if b & 0xfe == 18 => Self::Private,
            0 | 224.. => Self::Unusable,
            _ => Self::Public,
        }
    }

    fn of_v6(address: Ipv6Addr) -> Self {
        let [a, b, c, d, e, f, g, h] = address.segments();
        let v4 = |high: u16, low: u16| Self::of_v4(Ipv4Addr::from((u32::from(high) << 16) | u32::from(low)));
        match a {
            _ if address.is_loopback() => Self::Loopback,
            _ if address.is_unspecified() => Self::Unusable,
            // Mapped, compatible and translated addresses, and NAT64 with its well-known prefix.
            0 if [b, c, d] == [0; 3] && matches!(e, 0 | 0xffff) => v4(g, h),
            0x64 if b == 0xff9b && [c, d, e, f] == [0; 4] => v4(g, h),
            0x64 if b == 0xff9b => Self::Private,
            0x2002 => v4(b, c),
            // Teredo, whose addresses hide two others.
            0x2001 if b == 0 => Self::Unusable,
            0xfe80..=0xfebf => Self::LinkLocal,
            0xfc00..=0xfdff | 0xfec0..=0xfeff => Self::Private,
            0xff00.. => Self::Unusable,
            _ => Self::Public,
        }
    }
}
