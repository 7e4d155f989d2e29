//! A server that is protected by access tokens: who it is to authorization servers, and what a token must reach.
//!
//! <https://modelcontextprotocol.io/specification/2026-07-28/basic/authorization>

mod metadata;
mod place;
#[cfg(test)]
mod tests;
mod url;

use alloc::collections::{BTreeMap, BTreeSet};
use alloc::string::String;
use alloc::sync::Arc;
use alloc::vec::Vec;

use super::principal::Principal;
use super::refusal::Refusal;
use super::target::Target;
use super::token::AuthRefusal;
use crate::error::{ApiMisuse, code};
use crate::wire::challenge::Challenge;

pub(super) use self::place::Place;

/// Names of scopes, in an order that does not change (AUTHS-06).
pub type Scopes = BTreeSet<String>;

/// A protected resource, in the words of OAuth: this server.
///
/// With one in [`HttpPolicy::resource_server`](super::HttpPolicy::resource_server) every request over HTTP must
/// bring an access token, which the application is asked to check
/// ([`ExchangeOutput::Authenticate`](super::ExchangeOutput::Authenticate)); clients find out where to get one
/// from the metadata that is served below `/.well-known/oauth-protected-resource`.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ResourceServer {
    resource: String,
    authorization_servers: Vec<String>,
    /// What every request needs.
    scopes: Scopes,
    /// What else is worth asking for at first.
    further: Scopes,
    methods: BTreeMap<String, Scopes>,
    implied: BTreeMap<String, Scopes>,
    audiences: BTreeSet<String>,
    name: Option<String>,
    documentation: Option<String>,
}

impl ResourceServer {
    /// A server by its URL, as clients know it: that of its endpoint, such as `https://mcp.example.com/mcp`.
    /// Tokens must have been issued for it.
    ///
    /// Where [HTTP with SSE](super::HttpPolicy::http_sse) is served besides, at a path that is not below this URL's,
    /// its clients find metadata of that path, and bring tokens that were issued for it, such as
    /// `https://mcp.example.com/sse`. Those are accepted there, and so are tokens for this URL. Authorization servers
    /// that have to know their resources need both; with the origin alone as the URL there is one.
    pub fn new(resource: impl Into<String>) -> Self {
        Self {
            resource: resource.into(),
            authorization_servers: Vec::new(),
            scopes: Scopes::new(),
            further: Scopes::new(),
            methods: BTreeMap::new(),
            implied: BTreeMap::new(),
            audiences: BTreeSet::new(),
            name: None,
            documentation: None,
        }
    }

    /// The issuer URL of an authorization server whose tokens are accepted. There must be at least one
    /// (AUTHS-02).
    #[must_use]
    pub fn authorization_server(mut self, issuer: impl Into<String>) -> Self {
        self.authorization_servers.push(issuer.into());
        self
    }

    /// Scopes that every request needs. They are told to clients that come without a token, and listed in the
    /// metadata.
    #[must_use]
    pub fn scopes<S: Into<String>>(mut self, scopes: impl IntoIterator<Item = S>) -> Self {
        self.scopes.extend(named(scopes));
        self
    }

    /// Scopes that are listed in the metadata although not every request needs them: what a client does well to
    /// ask for at first.
    #[must_use]
    pub fn further_scopes<S: Into<String>>(mut self, scopes: impl IntoIterator<Item = S>) -> Self {
        self.further.extend(named(scopes));
        self
    }

    /// Scopes that requests of one method need, such as `tools/call`, besides those of all requests.
    #[must_use]
    pub fn method_scopes<S: Into<String>>(
        mut self,
        method: impl Into<String>,
        scopes: impl IntoIterator<Item = S>,
    ) -> Self {
        self.methods.entry(method.into()).or_default().extend(named(scopes));
        self
    }

    /// A token with the scope `broader` counts as having these, too, and what those imply in turn (AUTHS-17).
    #[must_use]
    pub fn implies<S: Into<String>>(
        mut self,
        broader: impl Into<String>,
        narrower: impl IntoIterator<Item = S>,
    ) -> Self {
        self.implied.entry(broader.into()).or_default().extend(named(narrower));
        self
    }

    /// Another name under which authorization servers know this server, for those that do not name it by URL.
    #[must_use]
    pub fn audience(mut self, audience: impl Into<String>) -> Self {
        self.audiences.insert(audience.into());
        self
    }

    /// Its name, for people.
    #[must_use]
    pub fn name(mut self, name: impl Into<String>) -> Self {
        self.name = Some(name.into());
        self
    }

    /// A page that tells developers about it.
    #[must_use]
    pub fn documentation(mut self, url: impl Into<String>) -> Self {
        self.documentation = Some(url.into());
        self
    }

    /// The host of its URL, with the port if that names one: what requests hold in `Host`.
    pub fn host(&self) -> Option<&str> {
        url::parse(&self.resource).map(|url| url.authority)
    }

    /// Whether it can be used.
    ///
    /// # Errors
    ///
    /// If the URL of the server or of an authorization server is no absolute URL without query, fragment and
    /// user, or is not https although the host is not the local machine; if there is no authorization server;
    /// if a scope holds a character that scopes must not.
    pub fn check(&self) -> Result<(), ApiMisuse> {
        let unusable = |what: &str, url: &str| {
            ApiMisuse::new(alloc::format!(
                "the {what} `{url}` must be an absolute https URL without query and fragment (http is for the \
                 local machine only)"
            ))
        };
        if url::parse(&self.resource).is_none_or(|url| !url::is_usable(&url)) {
            return Err(unusable("resource", &self.resource));
        }
        if self.authorization_servers.is_empty() {
            return Err(ApiMisuse::new("a resource server needs at least one authorization server"));
        }
        let mut issuers = self.authorization_servers.iter();
        if let Some(issuer) =
            issuers.find(|issuer| url::parse(issuer).is_none_or(|url| !url::is_usable(&url)))
        {
            return Err(unusable("authorization server", issuer));
        }
        let sets = self.methods.values().chain(self.implied.values()).chain([&self.scopes, &self.further]);
        match sets.flatten().chain(self.implied.keys()).find(|scope| !is_scope(scope)) {
            Some(scope) => Err(ApiMisuse::new(alloc::format!("{scope:?} cannot be a scope"))),
            None => Ok(()),
        }
    }

    /// The principal with all scopes that its own imply.
    pub(super) fn widen(&self, mut principal: Arc<Principal>) -> Arc<Principal> {
        if self.implied.is_empty() {
            return principal;
        }
        let scopes = &mut Arc::make_mut(&mut principal).scopes;
        let mut open: Vec<String> = scopes.iter().cloned().collect();
        while let Some(scope) = open.pop() {
            for narrower in self.implied.get(&scope).into_iter().flatten() {
                if scopes.insert(narrower.clone()) {
                    open.push(narrower.clone());
                }
            }
        }
        principal
    }

    /// Everything that a request needs: of this method, for something that needs `own`. All of it is asked for
    /// at once (AUTHS-16).
    pub(super) fn needed<'a>(&'a self, method: &str, own: &'a Scopes) -> BTreeSet<&'a str> {
        let of_method = self.methods.get(method).into_iter().flatten();
        self.scopes.iter().chain(of_method).chain(own).map(String::as_str).collect()
    }
}

/// The answer to a request that is not let in, with a challenge where a token could help (AUTHS-12 to AUTHS-15).
pub(super) fn refuse(why: &AuthRefusal, place: Option<Place<'_>>) -> Refusal {
    let challenge = |error| place.map_or_else(|| plain(error), |place| place.challenge(error));
    let all = || place.into_iter().flat_map(|place| &place.server.scopes).map(String::as_str);
    let (status, message, challenge) = match why {
        AuthRefusal::Missing => (401, "an access token is needed", challenge(None).scopes(all())),
        AuthRefusal::Invalid => {
            (401, "the access token is not valid here", challenge(Some("invalid_token")).scopes(all()))
        }
        AuthRefusal::InsufficientScope { scopes } => {
            let scopes = scopes.iter().map(String::as_str).filter(|scope| is_asked_for(scope));
            let challenge = challenge(Some("insufficient_scope")).scopes(scopes);
            (403, "the access token does not have the scopes that this needs", challenge)
        }
        AuthRefusal::Unavailable => {
            return Refusal::plain(code::INTERNAL, "access tokens cannot be checked now").with_status(503);
        }
    };
    let field = alloc::format!("{challenge}");
    Refusal::plain(code::INVALID_REQUEST, message).with_status(status).with_field("WWW-Authenticate", &field)
}

/// Whether whoever makes a request over HTTP may use this method, and what it names: at `place`, if tokens are asked for
/// there. What needs scopes is for nobody where nobody is recognised.
pub(super) fn permit(
    place: Option<Place<'_>>,
    principal: Option<&Principal>,
    method: &str,
    target: Option<&Target>,
) -> Result<(), Refusal> {
    static NONE: Scopes = Scopes::new();
    let own = target.map_or(&NONE, Target::scopes);
    let needed = match place {
        Some(place) => place.server.needed(method, own),
        None => own.iter().map(String::as_str).collect(),
    };
    if needed.iter().all(|scope| principal.is_some_and(|principal| principal.has_scope(scope))) {
        return Ok(());
    }
    let scopes = needed.into_iter().map(Into::into).collect();
    Err(refuse(&AuthRefusal::InsufficientScope { scopes }, place))
}

/// Whether the client at the other end of standard input may use something. Where nobody was recognised, it is whoever
/// started the server.
pub(super) fn permit_locally(principal: Option<&Principal>, target: &Target) -> Result<(), Refusal> {
    let scopes = target.scopes();
    if principal.is_none_or(|principal| scopes.is_subset(&principal.scopes)) {
        return Ok(());
    }
    Err(refuse(&AuthRefusal::InsufficientScope { scopes: scopes.iter().cloned().collect() }, None))
}

/// Credentials that can be read in two ways.
pub(super) fn malformed(place: Place<'_>) -> Refusal {
    let challenge = place.challenge(Some("invalid_request"));
    Refusal::plain(code::INVALID_REQUEST, "the `Authorization` header must hold one bearer token")
        .with_status(400)
        .with_field("WWW-Authenticate", &alloc::format!("{challenge}"))
}

fn plain(error: Option<&str>) -> Challenge {
    error.map_or_else(Challenge::new, |error| Challenge::new().error(error))
}

fn named<S: Into<String>>(scopes: impl IntoIterator<Item = S>) -> impl Iterator<Item = String> {
    scopes.into_iter().map(Into::into).filter(|scope| is_asked_for(scope))
}

/// Refresh tokens are between a client and its authorization server: no resource needs one (AUTHS-18).
fn is_asked_for(scope: &str) -> bool {
    scope != "offline_access"
}

/// RFC 6749, 3.3
fn is_scope(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| matches!(byte, b'!' | b'#'..=b'[' | b']'..=b'~'))
}
