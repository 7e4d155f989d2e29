//! Legacy sessions: how they are served, and whose they are.

use std::fmt;
use std::sync::Arc;

use mcp_proto::head::RequestHead;
use mcp_proto::server::{EventStore, ExchangeId, HttpSse, Principal, SessionQuery, Sessions};

use super::Server;
use super::http::HttpService;
use super::store::{SessionStore, Stored};
use crate::hook;
use crate::runtime::Runtime;

/// Says whose sessions a request may use. See [`Server::session_owner`].
pub(super) type OwnerHook = Arc<dyn Fn(&RequestHead, Option<&Principal>) -> Option<String> + Send + Sync>;

/// What a server is told about its sessions before it serves.
#[derive(Default)]
pub(crate) struct SessionSetup {
    pub(super) store: Option<Stored>,
    pub(super) owner: Option<OwnerHook>,
    pub(super) events: Option<Box<dyn EventStore>>,
}

impl<R: Runtime> Server<R> {
    /// Answers every request over HTTP with one JSON object, never with a stream. Progress and log messages go
    /// nowhere, and legacy clients cannot be asked anything.
    #[must_use]
    pub fn json_responses(self) -> Self {
        self.configure(|config| config.http.json_responses = true)
    }

    /// Gives legacy clients over HTTP no session, so that any process can answer any request. What needs a
    /// session is not offered: see [`HttpPolicy::stateless`](mcp_proto::server::HttpPolicy::stateless).
    #[must_use]
    pub fn stateless(self) -> Self {
        self.configure(|config| config.http.stateless = true)
    }

    /// Serves HTTP with SSE besides, the transport of revision 2024-11-05, for clients that know no other: an event
    /// stream at `sse`, and a path to POST messages to. SDKs of the time use `/sse` and `/messages`; the MCP
    /// endpoint stays where it is. Default: off.
    ///
    /// Deprecated by the specification since revision 2025-03-26, which is told the [error hook](Self::on_error)
    /// once, when the first client comes. Each stream is a session that lasts as long as it, in this process, and
    /// counts against [`Limits::sessions`](mcp_proto::limits::Limits::sessions); hosts, origins, tokens and
    /// [owners](Self::session_owner) are judged as on the MCP endpoint. To authorization servers the stream is a resource
    /// of its own, unless it is below the URL of the [`ResourceServer`](crate::ResourceServer), which says more.
    ///
    /// <https://modelcontextprotocol.io/specification/2024-11-05/basic/transports#http-with-sse>
    #[must_use]
    pub fn http_sse(self, sse: impl Into<String>, messages: impl Into<String>) -> Self {
        let paths = HttpSse::new(sse, messages);
        self.configure(|config| config.http.http_sse = Some(paths))
    }

    /// Binds legacy sessions to what this says of a request. Only requests of which it says the same may use a
    /// session; for all others there is none. Default: the subject of the principal, if there is one.
    ///
    /// The origin of a web page is compared besides.
    #[must_use]
    pub fn session_owner(
        mut self,
        owner: impl Fn(&RequestHead, Option<&Principal>) -> Option<String> + Send + Sync + 'static,
    ) -> Self {
        self.sessions.owner = Some(Arc::new(owner));
        self
    }

    /// Keeps legacy sessions in a store besides, so that a session which began in one process can go on in
    /// another. Each request of a session then asks the store first. Calls and streams live where they began:
    /// cancellations, answers and resumptions have to reach that process. Default: none, and no cost.
    #[must_use]
    pub fn session_store(mut self, store: impl SessionStore) -> Self {
        self.sessions.store = Some(Stored::new(store));
        self
    }

    /// Keeps the events of legacy streams elsewhere than in the memory of this process.
    #[must_use]
    pub fn event_store(mut self, store: impl EventStore + 'static) -> Self {
        self.sessions.events = Some(Box::new(store));
        self
    }
}

impl<R: Runtime> HttpService<R> {
    /// Whether somebody besides the session table has a say in this.
    pub(super) fn has_to_ask(&self, query: &SessionQuery) -> bool {
        let of_client = query.session().is_some() || query.changes_state();
        of_client && (self.store.is_some() || self.owner.is_some())
    }

    /// Whose sessions a request may use, if the application says so.
    pub(super) fn owner_of(
        &self,
        exchange: ExchangeId,
        head: &RequestHead,
        principal: Option<&Principal>,
    ) -> Option<Arc<str>> {
        let owner = self.owner.as_ref()?;
        let mut said = None;
        hook::call(|| said = Some(owner(head, principal)));
        // From a hook that panics nothing is learned, so that the request may use nobody's session.
        said.unwrap_or_else(|| Some(format!("nobody {}\0", exchange.number()))).map(Arc::from)
    }

    /// Whether anybody says whose sessions a request may use.
    pub(super) fn knows_owners(&self) -> bool {
        self.owner.is_some()
    }
}

/// A table that keeps its events where the application says.
pub(super) fn with_events(sessions: Sessions, events: Option<Box<dyn EventStore>>) -> Sessions {
    match events {
        Some(events) => sessions.events(events),
        None => sessions,
    }
}

impl fmt::Debug for SessionSetup {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SessionSetup").field("events", &self.events).finish_non_exhaustive()
    }
}
