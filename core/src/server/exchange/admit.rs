//! What the head of a request alone decides.

use alloc::string::String;

use crate::diagnostic::Diagnostic;
use crate::dialect::Era;
use crate::error::code;
use crate::head::{Field, Headers, RequestHead, declared_length};
use crate::server::config::Config;
use crate::server::cors;
use crate::server::media::{self, Accepts};
use crate::server::policy::{self, Foreign, HttpPolicy};
use crate::server::refusal::Refusal;
use crate::server::sessions::SessionId;

/// What a path stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Endpoint {
    Mcp,
    /// The event stream of HTTP with SSE.
    Sse,
    /// Where messages for such streams are sent.
    Messages,
}

impl Endpoint {
    fn at(config: &Config, path: &str) -> Option<Self> {
        let policy = &config.http;
        if let Some(paths) = policy.http_sse.as_ref().filter(|_| config.revisions.speak(Era::Legacy)) {
            if path == paths.sse {
                return Some(Self::Sse);
            }
            if path == paths.messages {
                return Some(Self::Messages);
            }
        }
        policy.path.as_ref().is_none_or(|own| own == path).then_some(Self::Mcp)
    }

    /// The HTTP methods that are served there.
    pub(super) fn methods(self, config: &Config) -> &'static str {
        match (self, has_sessions(config), config.http.session_streams) {
            (Self::Sse, ..) => "GET",
            (Self::Mcp, true, true) => "POST, GET, DELETE",
            (Self::Mcp, true, false) => "POST, DELETE",
            (Self::Mcp, false, _) | (Self::Messages, ..) => "POST",
        }
    }
}

/// What becomes of a request whose head is in order.
pub(super) enum Admission {
    /// It is served.
    Serve(Endpoint),
    /// A browser asks what a page may send.
    Preflight(Endpoint),
    /// The metadata of the protected resource is asked for: by a GET, or by the preflight for one.
    Metadata,
}

/// Whether a request may come in. Who asks is judged before what is asked, so that a page which rebinds its
/// name learns nothing.
pub(super) fn head(
    config: &Config,
    head: &RequestHead,
    accepts: Accepts,
    advice: &mut Option<Diagnostic>,
) -> Result<Admission, Refusal> {
    let policy = &config.http;
    let mut foreign = |foreign: Foreign| {
        *advice = foreign.advice;
        refused(403, foreign.refusal)
    };
    policy::admit_host(policy, &head.headers).map_err(&mut foreign)?;
    if policy.resource_described_at(head.path()).is_some() {
        return match head.method.as_str() {
            "GET" | "HEAD" => Ok(Admission::Metadata),
            "OPTIONS" if cors::is_preflight(head) => Ok(Admission::Metadata),
            _ => Err(not_allowed("GET, HEAD")),
        };
    }
    policy::admit_origin(policy, &head.headers).map_err(&mut foreign)?;
    let Some(endpoint) = Endpoint::at(config, head.path()) else {
        let path = policy.path.as_deref().unwrap_or_default();
        return Err(refused(404, alloc::format!("there is no MCP endpoint at this path; it is at `{path}`")));
    };
    let sessions = has_sessions(config);
    match (head.method.as_str(), endpoint) {
        ("POST", Endpoint::Mcp | Endpoint::Messages) => {}
        ("GET", Endpoint::Sse) => return listener(head).map(|()| Admission::Serve(endpoint)),
        ("GET", Endpoint::Mcp) if sessions && policy.session_streams => {
            return listener(head).map(|()| Admission::Serve(endpoint));
        }
        ("DELETE", Endpoint::Mcp) if sessions => return Ok(Admission::Serve(endpoint)),
        ("OPTIONS", _) if policy.cors.is_some() && cors::is_preflight(head) => {
            return Ok(Admission::Preflight(endpoint));
        }
        _ => return Err(not_allowed(endpoint.methods(config))),
    }
    if !media::is_json(&head.headers) {
        let refused = refused(415, "`Content-Type` must be application/json");
        return Err(refused.with_field("Accept", "application/json"));
    }
    if !media::is_plain(&head.headers) {
        let refused = refused(415, "`Content-Encoding` must be absent or identity");
        return Err(refused.with_field("Accept-Encoding", "identity"));
    }
    // Messages for streams are not answered where they come.
    let answered = endpoint == Endpoint::Mcp;
    if answered
        && (accepts.neither() || !(config.leniency.partial_accept || media::accepts_both(&head.headers)))
    {
        return Err(refused(406, "`Accept` must allow application/json and text/event-stream"));
    }
    let limit = config.limits.message;
    if declared_length(&head.headers).is_some_and(|length| length > limit as u64) {
        return Err(too_large(limit));
    }
    Ok(Admission::Serve(endpoint))
}

fn has_sessions(config: &Config) -> bool {
    config.revisions.speak(Era::Legacy) && !config.http.stateless
}

fn not_allowed(allow: &'static str) -> Refusal {
    let message = alloc::format!("the HTTP method must be one of {allow}");
    refused(405, message).with_field("Allow", allow)
}

/// A GET opens a stream for messages of the server (HTTPL-28), whether requests are answered with streams or not.
fn listener(head: &RequestHead) -> Result<(), Refusal> {
    if !Accepts::read(&head.headers).events {
        return Err(refused(406, "`Accept` must allow text/event-stream"));
    }
    Ok(())
}

/// How much room to make for the body: what is declared, as far as a declaration alone is worth memory.
pub(super) fn expected(headers: &Headers) -> usize {
    const MOST: usize = 64 << 10;
    let declared = declared_length(headers).unwrap_or_default();
    usize::try_from(declared).unwrap_or(MOST).min(MOST)
}

/// The body is longer than allowed.
pub(super) fn too_large(limit: usize) -> Refusal {
    Refusal::plain(code::INVALID_REQUEST, alloc::format!("the body is longer than {limit} bytes"))
        .with_status(413)
}

/// The body does not come to its end.
pub(super) fn too_slow() -> Refusal {
    refused(408, "the body takes too long")
}

fn refused(status: u16, message: impl Into<String>) -> Refusal {
    Refusal::plain(code::INVALID_REQUEST, message.into()).with_status(status)
}

/// The session that the client names. One that cannot be a name names no session that exists.
pub(super) fn session(config: &Config, headers: &Headers) -> Option<SessionId> {
    let named = headers.has(Field::SessionId) && !config.http.stateless;
    named.then(|| SessionId::new(headers.sole_text_of(Field::SessionId).unwrap_or_default()))
}

impl Accepts {
    /// What is left of it under a policy: a client that takes only events gets them even where they are
    /// otherwise not used.
    pub(super) fn under(self, policy: &HttpPolicy) -> Self {
        Self { events: self.events && !(policy.json_responses && self.json), ..self }
    }
}
