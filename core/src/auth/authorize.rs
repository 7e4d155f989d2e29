//! Sending the user to the authorization server, and what comes back.
//!
//! <https://modelcontextprotocol.io/specification/2026-07-28/basic/authorization#authorization-flow-steps>

use alloc::boxed::Box;
use alloc::collections::BTreeSet;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use sha2::{Digest, Sha256};

use super::Scopes;
use super::client::{Registration, redirect_uri};
use super::error::{Fault, FlowError, FlowErrorKind};
use super::flow::{AwaitRedirect, Flow, Step};
use super::jwt::base64url;
use super::record::Stage;
use super::secret::Secret;
use super::server::Server;
use super::url::Url;
use super::{form, token};
use crate::text::excerpt;
use crate::time::Now;

const OFFLINE: &str = "offline_access";

/// What is kept while the user is away: all of it belongs to one request (AUTH-43).
pub(super) struct Pending {
    pub(super) server: Server,
    pub(super) registration: Registration,
    pub(super) redirect_uri: String,
    pub(super) scopes: Option<Scopes>,
    pub(super) verifier: Secret,
    state: Secret,
    base: Url,
}

pub(super) fn start(
    mut flow: Box<Flow>,
    server: Server,
    registration: Registration,
) -> Result<Step, FlowError> {
    const STAGE: Stage = Stage::Authorization;
    let fail = |flow: Box<Flow>, fault| Err(flow.fail(STAGE, server.authorization_endpoint.as_ref(), fault));
    let Some(endpoint) = server.authorization_endpoint.clone() else {
        return fail(flow, Fault::new(FlowErrorKind::Metadata, "an authorization endpoint", "none"));
    };
    if !server.pkce && !flow.config.assume_pkce {
        let expected = "`S256` among the `code_challenge_methods_supported`";
        let fault = Fault::new(FlowErrorKind::Pkce, expected, "metadata that does not list it");
        return fail(flow, fault.setting("Config::assume_pkce"));
    }
    let (redirect_uri, base) = match redirect_uri(&flow.config) {
        Ok(redirect) => redirect,
        Err(fault) => return fail(flow, fault),
    };
    let scopes = wanted(&flow, &server);
    let verifier = base64url(&flow.entropy.next());
    let state = base64url(&flow.entropy.next());
    let challenge = base64url(&Sha256::digest(&verifier));
    let scope = scopes.as_ref().map(joined);
    let mut parameters = alloc::vec![
        ("response_type", "code"),
        ("client_id", registration.client_id.as_str()),
        ("redirect_uri", redirect_uri.as_str()),
        ("state", state.as_str()),
        ("code_challenge", challenge.as_str()),
        ("code_challenge_method", "S256"),
        ("resource", flow.resource.as_str()),
    ];
    if let Some(scope) = &scope {
        parameters.push(("scope", scope));
    }
    if scopes.as_ref().is_some_and(|scopes| scopes.contains(OFFLINE)) {
        // OpenID Connect grants offline access only to users who were asked for it.
        parameters.push(("prompt", "consent"));
    }
    let url = match with_query(&endpoint, &parameters) {
        Ok(url) => url,
        Err(fault) => return fail(flow, fault),
    };
    let asked =
        scope.as_deref().map_or("no scope".into(), |scope| alloc::format!("scope `{}`", excerpt(scope)));
    flow.record.add(STAGE, Some(&endpoint), asked);
    let (verifier, state) = (Secret::new(verifier), Secret::new(state));
    let pending = Pending { server, registration, redirect_uri, scopes, verifier, state, base };
    Ok(Step::Visit(url, AwaitRedirect { flow, pending: Box::new(pending) }))
}

pub(super) fn joined(scopes: &Scopes) -> String {
    let words: Vec<&str> = scopes.iter().map(String::as_str).collect();
    words.join(" ")
}

/// The scopes to ask for; `None` leaves them to the authorization server (AUTH-58 to AUTH-61, AUTH-63).
pub(super) fn wanted(flow: &Flow, server: &Server) -> Option<Scopes> {
    let config = &flow.config;
    let mut scopes = Scopes::new();
    scopes.extend(flow.refusal.scopes.iter().flatten().cloned());
    scopes.extend(config.scopes.iter().cloned());
    if scopes.is_empty() {
        scopes.extend(flow.supported.iter().flatten().cloned());
    }
    // What was granted before would be lost otherwise.
    let before = flow.previous.as_ref().filter(|grant| grant.issuer == server.issuer);
    if let Some(grant) = before {
        scopes.extend(grant.scopes.iter().chain(grant.requested.iter()).flatten().cloned());
    }
    let refreshes =
        server.grant_types.as_ref().is_none_or(|list| list.iter().any(|it| it == "refresh_token"));
    let asks_user = matches!(config.grant, super::GrantType::AuthorizationCode);
    // It is between client and authorization server, whoever else names it: asked for where it is known, and not on
    // its own, which would keep the authorization server from granting its default scopes.
    let known = server.scopes.iter().flatten().any(|scope| scope == OFFLINE);
    scopes.remove(OFFLINE);
    if !scopes.is_empty() && asks_user && config.offline_access && refreshes && known {
        scopes.insert(OFFLINE.into());
    }
    (!scopes.is_empty()).then_some(scopes)
}

/// The endpoint's own query stays; what we say is said once.
fn with_query(endpoint: &Url, parameters: &[(&str, &str)]) -> Result<Url, Fault> {
    let ours = |pair: &&str| {
        let pairs = form::decode(pair).unwrap_or_default();
        pairs.iter().any(|(name, _)| parameters.iter().any(|(our, _)| our == name))
    };
    let kept = endpoint.query().into_iter().flat_map(|query| query.split('&'));
    let kept = kept.filter(|pair| !pair.is_empty() && !ours(pair)).map(ToString::to_string);
    let query: Vec<String> = kept.chain([form::query(parameters.iter().copied())]).collect();
    let text = alloc::format!("{}?{}", endpoint.without_query(), query.join("&"));
    Url::parse(&text).and_then(|url| Url::parse(&url.escaped())).map_err(|error| {
        Fault::new(FlowErrorKind::Metadata, "an authorization request that is a URL", error.to_string())
    })
}

impl Pending {
    pub(super) fn recognises(&self, url: &str) -> bool {
        self.read(url).is_ok()
    }

    /// Whether the response brings a code.
    pub(super) fn is_granted(&self, url: &str) -> bool {
        self.code(url).is_ok()
    }

    /// The parameters of an authorization response, if it is one to our request.
    fn read(&self, url: &str) -> Result<Parameters, Fault> {
        let refuse = |expected: &'static str, found: &'static str| {
            Err(Fault::new(FlowErrorKind::Redirect, expected, found))
        };
        let url = url.split('#').next().unwrap_or_default();
        let (place, query) = url.split_once('?').unwrap_or((url, ""));
        // Whoever listens may know the path only, or nothing but the query.
        let is_ours = place.is_empty()
            || (place.starts_with('/') && place.trim_end_matches('/') == self.base.trimmed_path())
            || Url::parse(place).is_ok_and(|it| {
                it.is_same_origin(&self.base) && it.trimmed_path() == self.base.trimmed_path()
            });
        if !is_ours {
            return refuse("the redirect URI", "another URL");
        }
        let Some(pairs) = form::decode(query) else {
            return refuse("a query that can be read", "one that is escaped wrongly");
        };
        // RFC 6749, 3.1
        let names: BTreeSet<&str> = pairs.iter().map(|(name, _)| name.as_str()).collect();
        if names.len() < pairs.len() {
            return refuse("every parameter once", "a repeated one");
        }
        let parameters = Parameters(pairs);
        match parameters.get("state") {
            Some(state) if state == self.state.as_str() => Ok(parameters),
            Some(_) => refuse("the `state` of this request", "another one"),
            None => refuse("the `state` of this request", "none"),
        }
    }

    pub(super) fn on_redirect(
        self: Box<Self>,
        mut flow: Box<Flow>,
        now: Now,
        url: &str,
    ) -> Result<Step, FlowError> {
        match self.code(url) {
            Ok(code) => {
                flow.record.add(Stage::Redirect, None, "a code");
                token::redeem(flow, now, *self, code)
            }
            Err(fault) => Err(flow.fail(Stage::Redirect, None, fault)),
        }
    }

    fn code(&self, url: &str) -> Result<Secret, Fault> {
        let parameters = self.read(url)?;
        // Before anything else of it counts (AUTH-44 to AUTH-50).
        let issuer = &self.server.named;
        match parameters.get("iss") {
            Some(named) if named == issuer => {}
            None if !self.server.names_itself => {}
            named => {
                let expected = alloc::format!("the `iss` `{}`", excerpt(issuer));
                let found = named.map_or("none".into(), |named| alloc::format!("`{}`", excerpt(named)));
                return Err(Fault::new(FlowErrorKind::IssuerMismatch, expected, found));
            }
        }
        if let Some(error) = parameters.get("error") {
            let description = parameters.get("error_description");
            return Err(token::denial(error, description, &[self.state.as_str()]));
        }
        match parameters.get("code").filter(|code| !code.is_empty()) {
            Some(code) => Ok(Secret::new(code)),
            None => Err(Fault::new(FlowErrorKind::Redirect, "a code", "none")),
        }
    }
}

struct Parameters(Vec<(String, String)>);

impl Parameters {
    fn get(&self, name: &str) -> Option<&str> {
        self.0.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }
}
