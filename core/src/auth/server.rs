//! Metadata of the authorization server: its endpoints, and what it supports.
//!
//! <https://modelcontextprotocol.io/specification/2026-07-28/basic/authorization/authorization-server-discovery#authorization-server-metadata-discovery>

use alloc::boxed::Box;
use alloc::string::String;
use alloc::vec::Vec;
use serde::Deserialize;

use super::error::{Fault, FlowError, FlowErrorKind};
use super::flow::{Document, Flow, Response, Step, Waiting, document};
use super::record::Stage;
use super::url::Url;
use super::{client, reach, resource};
use crate::text::excerpt;
use crate::time::Now;

const STAGE: Stage = Stage::ServerMetadata;

/// An authorization server, as its metadata describes it. Every URL in it may be used.
#[derive(Clone)]
pub(super) struct Server {
    /// As it spells itself; nothing else is compared.
    pub(super) issuer: String,
    /// What authorization responses call it: the same, but for a front of somebody else.
    pub(super) named: String,
    pub(super) authorization_endpoint: Option<Url>,
    pub(super) token_endpoint: Url,
    pub(super) registration_endpoint: Option<Url>,
    pub(super) revocation_endpoint: Option<Url>,
    pub(super) scopes: Option<Vec<String>>,
    pub(super) grant_types: Option<Vec<String>>,
    pub(super) methods: Option<Vec<String>>,
    pub(super) pkce: bool,
    /// Whether it says that authorization responses name it.
    pub(super) names_itself: bool,
    pub(super) takes_documents: bool,
    pub(super) dpop_algorithms: Vec<String>,
}

#[derive(Deserialize)]
struct Metadata {
    issuer: String,
    authorization_endpoint: Option<String>,
    token_endpoint: Option<String>,
    registration_endpoint: Option<String>,
    revocation_endpoint: Option<String>,
    scopes_supported: Option<Vec<String>>,
    grant_types_supported: Option<Vec<String>>,
    token_endpoint_auth_methods_supported: Option<Vec<String>>,
    code_challenge_methods_supported: Option<Vec<String>>,
    authorization_response_iss_parameter_supported: Option<bool>,
    client_id_metadata_document_supported: Option<bool>,
    dpop_signing_alg_values_supported: Option<Vec<String>>,
}

/// Where metadata may be; what is to be tried next is last.
pub(super) struct Search {
    issuer: String,
    places: Vec<Url>,
    /// Other authorization servers that would do.
    issuers: Vec<String>,
    /// Whether this is the server itself, as in revision 2025-03-26.
    fallback: bool,
    /// The most telling reason so far.
    fault: Option<(Option<Url>, Fault)>,
}

/// Tries these issuers, the last one first.
pub(super) fn start(
    flow: Box<Flow>,
    now: Now,
    issuers: Vec<String>,
    fallback: bool,
) -> Result<Step, FlowError> {
    Search { issuer: String::new(), places: Vec::new(), issuers, fallback, fault: None }.next(flow, now)
}

/// AUTH-09, AUTH-10: in the specification's order, the first one last.
fn places(issuer: &Url) -> Vec<Url> {
    let path = issuer.trimmed_path();
    let mut places = Vec::new();
    if !path.is_empty() {
        places.extend(issuer.at(&alloc::format!("{path}/.well-known/openid-configuration")));
    }
    places.extend(issuer.at(&alloc::format!("/.well-known/openid-configuration{path}")));
    places.extend(issuer.at(&alloc::format!("/.well-known/oauth-authorization-server{path}")));
    places
}

impl Search {
    fn next(mut self, mut flow: Box<Flow>, now: Now) -> Result<Step, FlowError> {
        loop {
            if let Some(url) = self.places.pop() {
                return Ok(flow.get(url, Waiting::Server(self)));
            }
            let Some(issuer) = self.issuers.pop() else { break };
            match issuer_url(&flow, &issuer) {
                Ok(url) => {
                    self.places = places(&url);
                    self.issuer = issuer;
                }
                Err(fault) => {
                    let why = alloc::format!("not asked: expected {}, found {}", fault.expected, fault.found);
                    flow.record.add_text(STAGE, &issuer, why);
                    self.fault.get_or_insert((None, fault));
                }
            }
        }
        match self.fault {
            None if self.fallback => default_endpoints(flow, now),
            None => {
                let found = alloc::format!("none for `{}`", excerpt(&self.issuer));
                let fault = Fault::new(FlowErrorKind::Metadata, "authorization server metadata", found);
                Err(flow.fail(STAGE, None, fault))
            }
            Some((url, fault)) => Err(flow.fail(STAGE, url.as_ref(), fault)),
        }
    }

    pub(super) fn on_response(
        mut self,
        mut flow: Box<Flow>,
        now: Now,
        url: &Url,
        response: Response<'_>,
    ) -> Result<Step, FlowError> {
        let why = match document(response) {
            Ok(Document::Absent(why)) => why,
            Err(fault) => return Err(flow.fail(STAGE, Some(url), fault)),
            Ok(Document::Body(body)) => match serde_json::from_slice::<Metadata>(body) {
                Ok(metadata) if self.is_issuer(&flow, &metadata.issuer) || self.is_front(&flow) => {
                    let own = self.is_issuer(&flow, &metadata.issuer);
                    let issuer = if own { metadata.issuer.clone() } else { self.issuer };
                    return match read(&flow, issuer, metadata) {
                        Ok(server) => {
                            flow.record.add(STAGE, Some(url), "found");
                            client::start(flow, now, server)
                        }
                        Err(fault) => Err(flow.fail(STAGE, Some(url), fault)),
                    };
                }
                Ok(metadata) => {
                    let fault = self.another_issuer(&metadata.issuer);
                    let why = alloc::format!("not used: expected {}, found {}", fault.expected, fault.found);
                    self.fault = Some((Some(url.clone()), fault));
                    why
                }
                Err(error) => alloc::format!("no such metadata ({})", resource::classify(&error)),
            },
        };
        flow.record.add(STAGE, Some(url), why);
        self.next(flow, now)
    }

    /// AUTH-11: identical to what the URL was made of.
    fn is_issuer(&self, flow: &Flow, issuer: &str) -> bool {
        issuer == self.issuer || (flow.config.tolerate_issuer_slash && differs_in_slash(issuer, &self.issuer))
    }

    /// Whoever it stands for, nothing of theirs is shown to it.
    fn is_front(&self, flow: &Flow) -> bool {
        self.fallback && flow.config.tolerate_foreign_issuer
    }

    fn another_issuer(&self, issuer: &str) -> Fault {
        let fault = Fault::new(
            FlowErrorKind::IssuerMismatch,
            alloc::format!("the metadata of `{}`", excerpt(&self.issuer)),
            alloc::format!("that of `{}`", excerpt(issuer)),
        );
        if differs_in_slash(issuer, &self.issuer) {
            return fault.setting("Config::tolerate_issuer_slash");
        }
        if self.fallback { fault.setting("Config::tolerate_foreign_issuer") } else { fault }
    }
}

fn differs_in_slash(one: &str, other: &str) -> bool {
    one.strip_suffix('/').unwrap_or(one) == other.strip_suffix('/').unwrap_or(other)
}

fn issuer_url(flow: &Flow, issuer: &str) -> Result<Url, Fault> {
    let url = reach::supplied(&flow.config, &flow.server, issuer)?;
    if url.query().is_some() {
        return Err(Fault::new(FlowErrorKind::Metadata, "an issuer without query", "one with a query"));
    }
    Ok(url)
}

fn read(flow: &Flow, issuer: String, metadata: Metadata) -> Result<Server, Fault> {
    let url = |text: String| reach::supplied(&flow.config, &flow.server, &text);
    let Some(token_endpoint) = metadata.token_endpoint else {
        return Err(Fault::new(FlowErrorKind::Metadata, "a token endpoint", "none"));
    };
    let has =
        |list: &Option<Vec<String>>, word| list.as_ref().is_some_and(|list| list.iter().any(|it| it == word));
    Ok(Server {
        issuer,
        named: metadata.issuer,
        authorization_endpoint: metadata.authorization_endpoint.map(url).transpose()?,
        token_endpoint: url(token_endpoint)?,
        registration_endpoint: metadata.registration_endpoint.map(url).transpose()?,
        // No flow needs it: one that must not be asked is none.
        revocation_endpoint: metadata.revocation_endpoint.and_then(|text| url(text).ok()),
        scopes: metadata.scopes_supported,
        grant_types: metadata.grant_types_supported,
        methods: metadata.token_endpoint_auth_methods_supported,
        pkce: has(&metadata.code_challenge_methods_supported, "S256"),
        names_itself: metadata.authorization_response_iss_parameter_supported.unwrap_or(false),
        takes_documents: metadata.client_id_metadata_document_supported.unwrap_or(false),
        dpop_algorithms: metadata.dpop_signing_alg_values_supported.unwrap_or_default(),
    })
}

/// Revision 2025-03-26 knows where everything is, and demands PKCE without a word about it (AUTH-14, AUTH-38).
fn default_endpoints(mut flow: Box<Flow>, now: Now) -> Result<Step, FlowError> {
    let origin = flow.server.origin();
    let at = |path| flow.server.at(path).ok();
    let Some(token_endpoint) = at("/token") else {
        // Never so: the origin of a URL with a path is a URL.
        let fault = Fault::new(FlowErrorKind::Metadata, "authorization server metadata", "none");
        return Err(flow.fail(STAGE, None, fault));
    };
    let server = Server {
        issuer: origin.clone(),
        named: origin,
        authorization_endpoint: at("/authorize"),
        token_endpoint,
        registration_endpoint: at("/register"),
        revocation_endpoint: None,
        scopes: None,
        grant_types: None,
        methods: None,
        pkce: true,
        names_itself: false,
        takes_documents: false,
        dpop_algorithms: Vec::new(),
    };
    flow.record.add(STAGE, None, "no authorization server metadata was found; default endpoints are used");
    client::start(flow, now, server)
}
