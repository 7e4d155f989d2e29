//! Metadata of the protected resource: which authorization servers a server trusts.
//!
//! <https://modelcontextprotocol.io/specification/2026-07-28/basic/authorization/authorization-server-discovery>

use alloc::boxed::Box;
use alloc::string::String;
use alloc::vec::Vec;
use serde::Deserialize;

use super::challenge::SCOPES;
use super::error::{Fault, FlowError, FlowErrorKind};
use super::flow::{Document, Flow, Response, Step, Waiting, document};
use super::record::Stage;
use super::url::Url;
use super::{Scopes, reach, server};
use crate::text::excerpt;
use crate::time::Now;

const WELL_KNOWN: &str = "/.well-known/oauth-protected-resource";
const STAGE: Stage = Stage::ResourceMetadata;

/// The places that are still to be tried, the next one last.
pub(super) struct Search(Vec<Url>);

#[derive(Deserialize)]
struct Metadata {
    resource: String,
    #[serde(default)]
    authorization_servers: Option<Vec<String>>,
    #[serde(default)]
    scopes_supported: Option<Vec<String>>,
    #[serde(default)]
    dpop_bound_access_tokens_required: Option<bool>,
}

pub(super) fn start(mut flow: Box<Flow>, now: Now) -> Result<Step, FlowError> {
    let mut places = Vec::new();
    places.extend(flow.server.at(WELL_KNOWN));
    let path = flow.server.trimmed_path();
    if !path.is_empty() {
        places.extend(flow.server.at(&alloc::format!("{WELL_KNOWN}{path}")));
    }
    if let Some(named) = flow.refusal.resource_metadata.take() {
        match from_challenge(&flow, &named) {
            Ok(url) => {
                places.retain(|place| *place != url);
                places.push(url);
            }
            Err(fault) => {
                let text = alloc::format!("not asked: expected {}, found {}", fault.expected, fault.found);
                flow.record.add_text(STAGE, &named, text);
            }
        }
    }
    Search(places).next(flow, now)
}

/// AUTH-06: the challenge wins, but only as far as the server itself: it cannot have us ask anybody else.
fn from_challenge(flow: &Flow, named: &str) -> Result<Url, Fault> {
    let url = reach::supplied(&flow.config, &flow.server, named)?;
    if url.is_same_origin(&flow.server) {
        return Ok(url);
    }
    Err(Fault::new(FlowErrorKind::Forbidden, "a URL of the server's own origin", "another origin"))
}

impl Search {
    fn next(mut self, flow: Box<Flow>, now: Now) -> Result<Step, FlowError> {
        match self.0.pop() {
            Some(url) => Ok(flow.get(url, Waiting::Resource(self))),
            None => fallback(flow, now, "no protected resource metadata was found"),
        }
    }

    pub(super) fn on_response(
        self,
        mut flow: Box<Flow>,
        now: Now,
        url: &Url,
        response: Response<'_>,
    ) -> Result<Step, FlowError> {
        let why = match document(response) {
            Ok(Document::Absent(why)) => why,
            Err(fault) => return Err(flow.fail(STAGE, Some(url), fault)),
            Ok(Document::Body(body)) => match serde_json::from_slice::<Metadata>(body) {
                Ok(metadata) => return found(flow, now, url, metadata),
                Err(error) => alloc::format!("no such metadata ({})", classify(&error)),
            },
        };
        flow.record.add(STAGE, Some(url), why);
        self.next(flow, now)
    }
}

/// What is wrong with a document, without repeating any of it.
pub(super) fn classify(error: &serde_json::Error) -> &'static str {
    match error.classify() {
        serde_json::error::Category::Data => "JSON without the members that it must have",
        _ => "not JSON",
    }
}

fn found(mut flow: Box<Flow>, now: Now, url: &Url, metadata: Metadata) -> Result<Step, FlowError> {
    if !is_for(&flow.server, &metadata.resource) {
        let expected = alloc::format!("metadata of {}", flow.server.without_query());
        let found = alloc::format!("that of `{}`", excerpt(&metadata.resource));
        let fault = Fault::new(FlowErrorKind::ResourceMismatch, expected, found);
        return Err(flow.fail(STAGE, Some(url), fault));
    }
    if metadata.dpop_bound_access_tokens_required == Some(true) {
        if flow.dpop.is_none() {
            let fault = Fault::new(FlowErrorKind::Client, "a key that tokens can be bound to", "none");
            return Err(flow.fail(STAGE, Some(url), fault.setting("Config::dpop")));
        }
        flow.require_dpop = true;
    }
    flow.record.add(STAGE, Some(url), "found");
    flow.resource = metadata.resource;
    flow.supported = metadata.scopes_supported.map(usable);
    let mut issuers = metadata.authorization_servers.unwrap_or_default();
    issuers.truncate(flow.config.limits.authorization_servers);
    if issuers.is_empty() {
        return fallback(flow, now, "the metadata names no authorization server");
    }
    // The client picks (AUTH-07): where it has been before, then where it is known, then as the server lists them.
    let previous = flow.previous.as_ref().map(|grant| grant.issuer.clone());
    let preference = |issuer: &String| {
        let known = flow.config.registered.contains_key(issuer);
        if previous.as_ref() == Some(issuer) { 0 } else { 2 - u8::from(known) }
    };
    issuers.sort_by_key(preference);
    issuers.reverse();
    server::start(flow, now, issuers, false)
}

/// Revision 2025-03-26: the server is its own authorization server (AUTH-13).
fn fallback(mut flow: Box<Flow>, now: Now, why: &'static str) -> Result<Step, FlowError> {
    if !flow.config.fallback {
        let fault = Fault::new(FlowErrorKind::Metadata, "protected resource metadata", why);
        return Err(flow.fail(STAGE, None, fault.setting("Config::fallback")));
    }
    flow.record.add(STAGE, None, alloc::format!("{why}; the server counts as its own authorization server"));
    if flow.resource.is_empty() {
        flow.resource = canonical(&flow.server);
    }
    let origin = flow.server.origin();
    server::start(flow, now, alloc::vec![origin], true)
}

/// The URI of a server: no query, and no slash at the end of a path that is the root (AUTH-52, AUTH-54).
fn canonical(server: &Url) -> String {
    let path = if server.path() == "/" { "" } else { server.path() };
    alloc::format!("{}{path}", server.origin())
}

fn usable(scopes: Vec<String>) -> Scopes {
    let is_scope = |scope: &String| super::challenge::scopes(scope).is_some_and(|one| one.contains(scope));
    scopes.into_iter().filter(is_scope).take(SCOPES).collect()
}

/// B72: the same origin, and the same path or one that it is below. A query does not matter (AUTH-12). A path with dots
/// in it is below none: whoever sends it may take them for steps upwards.
pub(super) fn is_for(server: &Url, resource: &str) -> bool {
    let Ok(resource) = Url::parse(resource) else { return false };
    if server.has_dot_segments() {
        return false;
    }
    let rest = server.trimmed_path().strip_prefix(resource.trimmed_path());
    resource.is_same_origin(server) && rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// AUTH-12, B72
    #[test]
    fn a_resource_is_the_server_or_what_it_is_part_of() {
        let server = Url::parse("https://h.example/api/mcp").unwrap();
        for (resource, expected) in [
            ("https://h.example/api/mcp", true),
            ("https://h.example/api/mcp/", true),
            ("https://h.example", true),
            ("https://h.example/", true),
            ("https://h.example/api", true),
            ("https://H.EXAMPLE/api/mcp", true),
            ("https://h.example:443/api/mcp", true),
            ("https://h.example/api/mcp?x=1", true),
            ("https://h.example/ap", false),
            ("https://h.example/api/mcp/x", false),
            ("https://h.example/api/MCP", false),
            ("https://h.example/api/mcp#x", false),
            ("https://evil.example/api/mcp", false),
            ("https://h.example:444/api/mcp", false),
            ("http://h.example/api/mcp", false),
            ("https://h.example@evil.example/api/mcp", false),
            ("urn:mcp", false),
            ("", false),
        ] {
            assert_eq!(is_for(&server, resource), expected, "{resource}");
        }
    }

    /// AUTH-55: what leads upwards is below nothing.
    #[test]
    fn dots_lead_to_nothing_that_a_resource_holds() {
        for path in ["api/../admin", "api/./mcp", "api/%2e%2E/admin", "api/.."] {
            let server = Url::parse(&alloc::format!("https://h.example/{path}")).unwrap();
            assert!(!is_for(&server, "https://h.example/api"), "{path}");
        }
        let server = Url::parse("https://h.example/api/..mcp").unwrap();
        assert!(is_for(&server, "https://h.example/api"));
    }

    /// AUTH-52, AUTH-54
    #[test]
    fn a_server_without_metadata_has_a_canonical_uri() {
        for (server, expected) in [
            ("https://MCP.example.com/mcp", "https://mcp.example.com/mcp"),
            ("https://mcp.example.com/", "https://mcp.example.com"),
            ("https://mcp.example.com:8443", "https://mcp.example.com:8443"),
            ("https://mcp.example.com/mcp?tenant=a", "https://mcp.example.com/mcp"),
        ] {
            assert_eq!(canonical(&Url::parse(server).unwrap()), expected);
        }
    }
}
