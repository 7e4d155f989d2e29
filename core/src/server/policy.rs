//! Which HTTP requests are let in, judged from the head alone and before any byte of the body is read.

use alloc::collections::BTreeSet;
use alloc::string::String;

use super::cors::Cors;
use super::http_sse::HttpSse;
use super::resource_server::{Place, ResourceServer};
use crate::head::Headers;

/// What a server demands of HTTP requests.
///
/// The defaults suit a server on the local machine: only loopback names in `Host` and `Origin`, so that a web
/// page which rebinds its name to 127.0.0.1 is refused.
///
/// <https://modelcontextprotocol.io/specification/2026-07-28/basic/transports/streamable-http#security--endpoint>
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct HttpPolicy {
    /// The path of the endpoint; another one is answered 404. `None` lets every path in, for servers that
    /// are mounted below a router. Default `/mcp`.
    pub path: Option<String>,
    /// The names that `Host` may hold. Default: loopback only.
    pub hosts: Hosts,
    /// The origins of web pages that may ask. A request without `Origin` is not from a web page and passes.
    /// Default: loopback only.
    pub origins: Origins,
    /// What web pages of other origins may do. Default `None`: a browser lets them read nothing.
    pub cors: Option<Cors>,
    /// Demands an access token of every request. Default `None`: no token is looked at.
    pub resource_server: Option<ResourceServer>,
    /// Never answer with an event stream, so that progress and log messages are dropped. Default `false`.
    pub json_responses: bool,
    /// Whether a legacy client may open a stream with a GET, for messages that belong to no request of its own.
    /// Default `true`; otherwise a GET is answered 405.
    pub session_streams: bool,
    /// Whether a legacy client that loses its connection can come back for what it missed: events have ids and
    /// are kept for a while, if it may open streams, within [`Limits::events`](crate::limits::Limits::events) and its neighbours. Default `true`. What is
    /// answered at once is plain JSON, and costs nothing.
    pub resumable: bool,
    /// Where the transport of revision 2024-11-05 is served besides, if it is. Default `None`. Deprecated: for
    /// clients that know no other.
    pub http_sse: Option<HttpSse>,
    /// Whether legacy clients get no session: each POST stands for itself, so that any process can answer it.
    /// Default `false`. Then there is nothing that needs a session: no log levels, no subscriptions, nothing to
    /// ask the client, no stream of its own; such capabilities are not declared, GET and DELETE are answered
    /// 405, and a client that closes its connection cancels its call. What is known of the client is the
    /// revision that it names.
    pub stateless: bool,
}

impl Default for HttpPolicy {
    fn default() -> Self {
        Self {
            path: Some("/mcp".into()),
            hosts: Hosts::default(),
            origins: Origins::default(),
            cors: None,
            resource_server: None,
            json_responses: false,
            session_streams: true,
            resumable: true,
            http_sse: None,
            stateless: false,
        }
    }
}

impl HttpPolicy {
    /// The protected resource whose metadata is served at this path: that of the MCP endpoint, or that of the streams of
    /// HTTP with SSE where they are no part of it.
    pub(super) fn resource_described_at(&self, path: &str) -> Option<Place<'_>> {
        let server = self.resource_server.as_ref()?;
        let streams = || self.http_sse.as_ref().map(|paths| server.at(&paths.sse));
        let described = |place: &Place<'_>| place.serves_metadata_at(path);
        Some(server.here()).filter(described).or_else(|| streams().filter(described))
    }

    /// The path of the endpoint; `None` lets every path in.
    #[must_use]
    pub fn path(mut self, path: Option<String>) -> Self {
        self.path = path;
        self
    }

    /// Lets a further name into `Host`, and web pages served from it. Without a port every port is meant.
    #[must_use]
    pub fn allow_host(mut self, host: impl Into<String>) -> Self {
        let host = host.into();
        self.origins.allow_host(&host);
        self.hosts.allow(host);
        self
    }

    /// Lets web pages of a further origin in, such as `https://app.example`.
    #[must_use]
    pub fn allow_origin(mut self, origin: impl Into<String>) -> Self {
        self.origins.allow(origin);
        self
    }

    /// Replaces the rule for `Host`.
    #[must_use]
    pub fn hosts(mut self, hosts: Hosts) -> Self {
        self.hosts = hosts;
        self
    }

    /// Replaces the rule for `Origin`.
    #[must_use]
    pub fn origins(mut self, origins: Origins) -> Self {
        self.origins = origins;
        self
    }

    /// Lets web pages of the origins that are let in read the answers.
    #[must_use]
    pub fn cors(mut self, cors: Cors) -> Self {
        self.cors = Some(cors);
        self
    }

    /// Demands an access token of every request.
    #[must_use]
    pub fn resource_server(mut self, resource_server: ResourceServer) -> Self {
        self.resource_server = Some(resource_server);
        self
    }

    /// Whether event streams are never used.
    #[must_use]
    pub fn json_responses(mut self, json_responses: bool) -> Self {
        self.json_responses = json_responses;
        self
    }

    /// Whether a legacy client may open a stream with a GET.
    #[must_use]
    pub fn session_streams(mut self, session_streams: bool) -> Self {
        self.session_streams = session_streams;
        self
    }

    /// Whether a legacy client can come back for what it missed.
    #[must_use]
    pub fn resumable(mut self, resumable: bool) -> Self {
        self.resumable = resumable;
        self
    }

    /// Serves the transport of revision 2024-11-05 besides. Deprecated: for clients that know no other.
    #[must_use]
    pub fn http_sse(mut self, http_sse: HttpSse) -> Self {
        self.http_sse = Some(http_sse);
        self
    }

    /// Whether legacy clients get no session.
    #[must_use]
    pub fn stateless(mut self, stateless: bool) -> Self {
        self.stateless = stateless;
        self
    }
}

/// The names that a `Host` field may hold.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Hosts {
    /// `localhost`, 127.0.0.0/8 and `[::1]` with any port, and the names given, in lower case.
    Listed(BTreeSet<String>),
    /// Every name: something in front of this server checks it.
    Any,
}

impl Default for Hosts {
    fn default() -> Self {
        Self::Listed(BTreeSet::new())
    }
}

impl Hosts {
    /// Lets one more name in; without a port every port is meant.
    pub fn allow(&mut self, host: impl Into<String>) {
        if let Self::Listed(names) = self {
            names.insert(host.into().to_ascii_lowercase());
        }
    }

    /// Whether `host`, as sent, may be asked for.
    pub fn admit(&self, host: &str) -> bool {
        match self {
            Self::Any => true,
            Self::Listed(names) => {
                let Some(name) = without_port(host) else { return false };
                is_loopback(name)
                    || names.contains(&host.to_ascii_lowercase())
                    || names.contains(&name.to_ascii_lowercase())
            }
        }
    }
}

/// The origins of web pages that may send requests.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Origins {
    /// Pages served from loopback names, from the hosts and from the origins given, in lower case.
    Listed {
        /// Names of hosts; any scheme, and any port when none is given.
        hosts: BTreeSet<String>,
        /// Whole origins, such as `https://app.example`.
        origins: BTreeSet<String>,
    },
    /// Every origin: something in front of this server checks it.
    Any,
}

impl Default for Origins {
    fn default() -> Self {
        Self::Listed { hosts: BTreeSet::new(), origins: BTreeSet::new() }
    }
}

impl Origins {
    /// Lets pages of one more origin in, such as `https://app.example`.
    pub fn allow(&mut self, origin: impl Into<String>) {
        if let Self::Listed { origins, .. } = self {
            origins.insert(origin.into().to_ascii_lowercase());
        }
    }

    /// Lets pages of one more host in, whatever their scheme; without a port every port is meant.
    pub fn allow_host(&mut self, host: &str) {
        if let Self::Listed { hosts, .. } = self {
            hosts.insert(host.to_ascii_lowercase());
        }
    }

    /// Whether a page of `origin`, as sent, may ask. `null`, the origin of sandboxed pages, may only when
    /// every origin may.
    pub fn admit(&self, origin: &str) -> bool {
        match self {
            Self::Any => true,
            Self::Listed { hosts, origins } => {
                let origin = origin.to_ascii_lowercase();
                if origins.contains(&origin) {
                    return true;
                }
                let Some(host) = origin.strip_prefix("http://").or_else(|| origin.strip_prefix("https://"))
                else {
                    return false;
                };
                let Some(name) = without_port(host) else { return false };
                is_loopback(name) || hosts.contains(host) || hosts.contains(name)
            }
        }
    }
}

/// The name of `host:port`, and nothing for what is no host: stray characters after the name could smuggle a
/// loopback prefix past a later reader.
fn without_port(host: &str) -> Option<&str> {
    let (name, rest) = match host.strip_prefix('[') {
        Some(inner) => host.split_at(inner.find(']')? + 2),
        None => host.split_at(host.find(':').unwrap_or(host.len())),
    };
    let port = rest.strip_prefix(':').unwrap_or(rest);
    let plain = name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-._[]:%".contains(&byte));
    (!name.is_empty() && plain && port.bytes().all(|byte| byte.is_ascii_digit())).then_some(name)
}

pub(super) fn is_loopback(name: &str) -> bool {
    if let Some(inner) = name.strip_prefix('[').and_then(|inner| inner.strip_suffix(']')) {
        return inner.parse::<core::net::Ipv6Addr>().is_ok_and(|address| address.is_loopback());
    }
    name.eq_ignore_ascii_case("localhost")
        || name.parse::<core::net::Ipv4Addr>().is_ok_and(|address| address.is_loopback())
}

/// Judges `Host`; the text of the refusal names the value, cut short.
pub(super) fn admit_host(policy: &HttpPolicy, headers: &Headers) -> Result<(), String> {
    let mut hosts = headers.all("host");
    let host = match (hosts.next(), hosts.next()) {
        (Some(host), None) => core::str::from_utf8(host).unwrap_or("?").trim_matches([' ', '\t']),
        (None, _) if policy.hosts == Hosts::Any => "",
        (None, _) => return Err("the `Host` header is missing".into()),
        (Some(_), Some(_)) => return Err("there is more than one `Host` header".into()),
    };
    if policy.hosts.admit(host) { Ok(()) } else { Err(refusal("Host", host)) }
}

/// Judges `Origin` in the same way.
pub(super) fn admit_origin(policy: &HttpPolicy, headers: &Headers) -> Result<(), String> {
    match headers.all("origin").find_map(|origin| {
        let origin = core::str::from_utf8(origin).unwrap_or("?").trim_matches([' ', '\t']);
        (!policy.origins.admit(origin)).then_some(origin)
    }) {
        Some(origin) => Err(refusal("Origin", origin)),
        None => Ok(()),
    }
}

fn refusal(field: &str, value: &str) -> String {
    const SHOWN: usize = 80;
    let mut text = String::from("the `");
    text.push_str(field);
    text.push_str("` `");
    text.extend(value.chars().take(SHOWN));
    if value.chars().nth(SHOWN).is_some() {
        text.push_str("...");
    }
    text.push_str("` is not allowed here");
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn admit_peer(policy: &HttpPolicy, headers: &Headers) -> Result<(), String> {
        admit_host(policy, headers).and_then(|()| admit_origin(policy, headers))
    }

    fn head(fields: &[(&str, &str)]) -> Headers {
        fields.iter().fold(Headers::new(), |headers, (name, value)| headers.with(name, value))
    }

    fn admits(host: &str, origin: Option<&str>) -> bool {
        let headers = head(&[("Host", host)]);
        let headers = origin.into_iter().fold(headers, |headers, origin| headers.with("Origin", origin));
        admit_peer(&HttpPolicy::default(), &headers).is_ok()
    }

    /// B42, HTTP-02
    #[test]
    fn loopback_names_are_admitted_in_any_case_and_with_any_port() {
        for host in ["localhost:8080", "LOCALHOST", "127.0.0.1:1", "127.8.8.8", "[::1]:8080", "[::1]"] {
            assert!(admits(host, None), "{host}");
        }
    }

    /// B42
    #[test]
    fn names_that_only_look_like_loopback_are_refused() {
        let hosts = [
            "localhost.evil.example",
            "evil.example",
            "127.0.0.1.evil.example",
            "[::2]",
            "localhost:80@evil",
            "",
            ":80",
            "[::1",
            "[::1]evil",
            "127.0.0.1/evil",
            "1270.0.1",
        ];
        for host in hosts {
            assert!(!admits(host, None), "{host}");
        }
    }

    /// HTTP-03, B42
    #[test]
    fn foreign_origins_are_refused_and_none_passes() {
        assert!(admits("localhost", None));
        for origin in ["http://localhost:3000", "https://127.0.0.1", "http://[::1]:1"] {
            assert!(admits("localhost", Some(origin)), "{origin}");
        }
        for origin in
            ["https://evil.example", "null", "", "localhost", "http://localhost.evil.example", "file://"]
        {
            assert!(!admits("localhost", Some(origin)), "{origin}");
        }
    }

    /// B42
    #[test]
    fn a_second_host_or_a_bad_second_origin_is_refused() {
        let policy = HttpPolicy::default();
        assert!(admit_peer(&policy, &head(&[("host", "localhost"), ("Host", "evil")])).is_err());
        let origins =
            head(&[("host", "localhost"), ("origin", "http://localhost"), ("origin", "http://evil")]);
        assert!(admit_peer(&policy, &origins).unwrap_err().contains("http://evil"));
        assert!(admit_peer(&policy, &head(&[])).unwrap_err().contains("missing"));
    }

    /// SEC-27
    #[test]
    fn added_names_and_origins_are_admitted_and_no_others() {
        let policy = HttpPolicy::default()
            .allow_host("API.example")
            .allow_host("b.example:81")
            .allow_origin("https://app.example");
        for (host, origin, expected) in [
            ("api.example:443", "https://api.example", true),
            ("b.example:81", "http://b.example:81", true),
            ("b.example:82", "http://b.example:81", false),
            ("api.example", "https://app.example", true),
            ("api.example", "http://app.example", false),
            ("app.example", "https://app.example", false),
        ] {
            let headers = head(&[("host", host), ("origin", origin)]);
            assert_eq!(admit_peer(&policy, &headers).is_ok(), expected, "{host} {origin}");
        }
    }

    #[test]
    fn refusals_are_cut_short() {
        let host = "x".repeat(4000);
        assert!(admit_peer(&HttpPolicy::default(), &head(&[("host", &host)])).unwrap_err().len() < 200);
    }
}
