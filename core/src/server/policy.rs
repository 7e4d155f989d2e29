//! Which HTTP requests are let in, judged from the head alone and before any byte of the body is read.

mod names;
#[cfg(test)]
mod tests;

use alloc::string::String;

pub(super) use self::names::{Foreign, admit_host, admit_origin, is_loopback};
pub use self::names::{Hosts, Origins};
use super::cors::Cors;
use super::http_sse::HttpSse;
use super::resource_server::{Place, ResourceServer};
use crate::error::ApiMisuse;

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
    /// are kept for a while, if it may open streams, within [`Limits::events`](crate::limits::Limits::events) and its
    /// neighbours. Default `true`. What is answered at once is plain JSON, and costs nothing.
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
    /// Whether it can be used.
    ///
    /// # Errors
    ///
    /// If a host or an origin that is let in is none ([`Hosts::allow`], [`Origins::allow`]), or if the
    /// [`resource_server`](Self::resource_server) or the paths of [`http_sse`](Self::http_sse) cannot be used.
    pub fn check(&self) -> Result<(), ApiMisuse> {
        self.resource_server.as_ref().map_or(Ok(()), ResourceServer::check)?;
        self.http_sse.as_ref().map_or(Ok(()), |paths| paths.check(self))?;
        self.hosts.check()?;
        self.origins.check()
    }

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

    /// Lets a further name into `Host`, as [`Hosts::allow`] does, and web pages served from it.
    #[must_use]
    pub fn allow_host(mut self, host: impl Into<String>) -> Self {
        let host = host.into();
        self.origins.allow_host(&host);
        self.hosts.allow(host);
        self
    }

    /// Lets web pages of a further origin in, as [`Origins::allow`] does.
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
