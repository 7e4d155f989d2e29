//! What the head of a request alone decides.

use alloc::string::String;

use crate::dialect::Era;
use crate::error::code;
use crate::head::{Headers, RequestHead, declared_length};
use crate::server::config::Config;
use crate::server::headers;
use crate::server::media::{self, Accepts};
use crate::server::policy::{self, HttpPolicy};
use crate::server::refusal::Refusal;
use crate::server::sessions::SessionId;

/// A request that is not let in.
pub(super) struct Refused {
    pub(super) refusal: Refusal,
    /// The methods to name in `Allow`.
    pub(super) allow: Option<&'static str>,
}

/// Whether a request may come in. Who asks is judged before what is asked, so that a page which rebinds its
/// name learns nothing.
pub(super) fn head(config: &Config, head: &RequestHead, accepts: Accepts) -> Result<(), Refused> {
    let policy = &config.http;
    policy::admit_peer(policy, &head.headers).map_err(|message| refused(403, message))?;
    if policy.path.as_ref().is_some_and(|path| path != head.path()) {
        return Err(refused(404, "there is no MCP endpoint at this path"));
    }
    let sessions = config.revisions.speak(Era::Legacy);
    match head.method.as_str() {
        "POST" => {}
        "GET" if sessions && policy.session_streams => return listener(head),
        "DELETE" if sessions => return Ok(()),
        _ => {
            let allow = match (sessions, policy.session_streams) {
                (true, true) => "POST, GET, DELETE",
                (true, false) => "POST, DELETE",
                (false, _) => "POST",
            };
            let message = alloc::format!("the HTTP method must be one of {allow}");
            return Err(Refused { allow: Some(allow), ..refused(405, message) });
        }
    }
    if !media::is_json(&head.headers) {
        return Err(refused(415, "`Content-Type` must be application/json"));
    }
    if !media::is_plain(&head.headers) {
        return Err(refused(415, "`Content-Encoding` must be absent or identity"));
    }
    if accepts.neither() || !(config.leniency.partial_accept || media::accepts_both(&head.headers)) {
        return Err(refused(406, "`Accept` must allow application/json and text/event-stream"));
    }
    let limit = config.limits.message;
    if declared_length(&head.headers).is_some_and(|length| length > limit as u64) {
        return Err(Refused { refusal: too_large(limit), allow: None });
    }
    Ok(())
}

/// A GET opens a stream for messages of the server (HTTPL-28), whether requests are answered with streams or not.
fn listener(head: &RequestHead) -> Result<(), Refused> {
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

fn refused(status: u16, message: impl Into<String>) -> Refused {
    let refusal = Refusal::plain(code::INVALID_REQUEST, message.into()).with_status(status);
    Refused { refusal, allow: None }
}

/// The session that the client names. One that cannot be a name names no session that exists.
pub(super) fn session(headers: &Headers) -> Option<SessionId> {
    headers.get(headers::SESSION)?;
    Some(SessionId::new(headers.text(headers::SESSION).unwrap_or_default()))
}

impl Accepts {
    /// What is left of it under a policy: a client that takes only events gets them even where they are
    /// otherwise not used.
    pub(super) fn under(self, policy: &HttpPolicy) -> Self {
        Self { events: self.events && !(policy.json_only && self.json), ..self }
    }
}
