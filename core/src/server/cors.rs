//! What web pages of other origins may send and read: the answers to a browser that asks.
//!
//! <https://fetch.spec.whatwg.org/#http-cors-protocol>

#[cfg(test)]
mod tests;

use alloc::collections::BTreeSet;
use alloc::string::String;

use super::policy::{HttpPolicy, Origins};
use crate::head::{Field, Headers, RequestHead};
use crate::time::Duration;

/// Lets web pages of other origins speak to a server: which ones is said by [`HttpPolicy::origins`], here is
/// what they may do. Off unless it is put into [`HttpPolicy::cors`].
///
/// Pages may send every field that the protocol knows and `Authorization`, and read `Mcp-Session-Id` and
/// `WWW-Authenticate` besides what every page may read.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Cors {
    /// Further fields that pages may send, in lower case. Default none.
    pub request_headers: BTreeSet<String>,
    /// Further fields that pages may read. Default none.
    pub response_headers: BTreeSet<String>,
    /// Whether browsers may send cookies and certificates along. Holds for origins that are named; not where
    /// every origin is let in. Default `false`.
    pub credentials: bool,
    /// How long a browser may remember what it was answered. Default 2 h, which is the most that any keeps.
    pub max_age: Duration,
}

impl Default for Cors {
    fn default() -> Self {
        Self {
            request_headers: BTreeSet::new(),
            response_headers: BTreeSet::new(),
            credentials: false,
            max_age: Duration::from_secs(2 * 60 * 60),
        }
    }
}

impl Cors {
    /// What the protocol needs.
    pub fn new() -> Self {
        Self::default()
    }

    /// Pages may send this field, too.
    #[must_use]
    pub fn request_header(mut self, name: impl Into<String>) -> Self {
        self.request_headers.insert(name.into().to_ascii_lowercase());
        self
    }

    /// Pages may read this field, too.
    #[must_use]
    pub fn response_header(mut self, name: impl Into<String>) -> Self {
        self.response_headers.insert(name.into());
        self
    }

    /// Whether browsers may send cookies and certificates along.
    #[must_use]
    pub fn credentials(mut self, credentials: bool) -> Self {
        self.credentials = credentials;
        self
    }

    /// How long a browser may remember what it was answered.
    #[must_use]
    pub fn max_age(mut self, max_age: Duration) -> Self {
        self.max_age = max_age;
        self
    }

    fn may_send(&self, name: &str) -> bool {
        const KNOWN: [&str; 7] = [
            "accept",
            "authorization",
            "content-type",
            "last-event-id",
            "traceparent",
            "tracestate",
            "baggage",
        ];
        KNOWN.contains(&name) || name.starts_with("mcp-") || self.request_headers.contains(name)
    }
}

/// Whether a browser asks what a page may send.
pub(super) fn is_preflight(head: &RequestHead) -> bool {
    head.method == "OPTIONS"
        && head.headers.has(Field::Origin)
        && head.headers.get("access-control-request-method").is_some()
}

/// The fields of every response to a request with this head.
pub(super) fn fields(policy: &HttpPolicy, request: &Headers) -> Headers {
    let mut fields = Headers::new();
    let Some(cors) = &policy.cors else { return fields };
    let any = policy.origins == Origins::Any;
    if !any {
        // The answer to another origin is another one, which a cache must not mix up.
        fields.push("Vary", "Origin");
    }
    let Some(origin) = request.text_of(Field::Origin).filter(|origin| policy.origins.admit(origin)) else {
        return fields;
    };
    if any {
        fields.push("Access-Control-Allow-Origin", "*");
    } else {
        fields.push("Access-Control-Allow-Origin", origin);
        if cors.credentials {
            fields.push("Access-Control-Allow-Credentials", "true");
        }
    }
    let mut exposed = String::from("Mcp-Session-Id, WWW-Authenticate");
    for name in &cors.response_headers {
        exposed.push_str(", ");
        exposed.push_str(name);
    }
    fields.push("Access-Control-Expose-Headers", exposed);
    fields
}

/// The further fields of the answer to a preflight. `methods` are those that are served.
pub(super) fn preflight(cors: &Cors, request: &Headers, methods: &str) -> Headers {
    let mut fields = Headers::new()
        .with("Access-Control-Allow-Methods", methods)
        .with("Access-Control-Max-Age", alloc::format!("{}", cors.max_age.as_secs()))
        .with("Vary", "Access-Control-Request-Method, Access-Control-Request-Headers");
    let mut allowed = String::new();
    let asked = request.all("access-control-request-headers");
    let asked = asked.filter_map(|value| core::str::from_utf8(value).ok());
    for name in asked.flat_map(|value| value.split(',')) {
        let name = name.trim_matches([' ', '\t']).to_ascii_lowercase();
        // Whatever is named here has been asked for; a name that is none cannot have been.
        let is_name = name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_".contains(&byte));
        if is_name && cors.may_send(&name) {
            if !allowed.is_empty() {
                allowed.push_str(", ");
            }
            allowed.push_str(&name);
        }
    }
    if !allowed.is_empty() {
        fields.push("Access-Control-Allow-Headers", allowed);
    }
    fields
}

/// The fields of what every page may read, which holds no secret.
pub(super) fn open() -> Headers {
    Headers::new().with("Access-Control-Allow-Origin", "*")
}

/// The further fields of the answer to a preflight for that.
pub(super) fn open_preflight() -> Headers {
    Headers::new()
        .with("Access-Control-Allow-Methods", "GET, HEAD")
        .with("Access-Control-Allow-Headers", "*")
        .with("Access-Control-Max-Age", "7200")
}
