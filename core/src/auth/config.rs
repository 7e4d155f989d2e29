//! Who the application is to authorization servers, and what it lets peers have it do.

use alloc::collections::{BTreeMap, BTreeSet};
use alloc::string::String;
use alloc::sync::Arc;
use core::fmt;

use super::Scopes;
use super::client::{ApplicationType, Registration};
use super::dpop::Dpop;
use super::jwt::Signer;
use super::secret::Secret;
use crate::dialect::Revision;
use crate::entropy::Seed;
use crate::limits::Limits;

/// What an application says once; flows start from it ([`authorize`](Self::authorize)).
///
/// Without any setting but a redirect URI and a name it gets through servers that let clients register themselves.
#[derive(Clone)]
#[non_exhaustive]
pub struct Config {
    pub(super) name: String,
    pub(super) uri: Option<String>,
    pub(super) redirect_uri: Option<String>,
    pub(super) application_type: Option<ApplicationType>,
    pub(super) registered: BTreeMap<String, Registration>,
    pub(super) registered_anywhere: Option<Registration>,
    pub(super) metadata_document: Option<String>,
    pub(super) dynamic_registration: bool,
    pub(super) scopes: Scopes,
    pub(super) offline_access: bool,
    pub(super) grant: GrantType,
    pub(super) signer: Option<Arc<dyn Signer>>,
    pub(super) dpop: Option<Arc<dyn Signer>>,
    pub(super) require_dpop: bool,
    pub(super) fallback: bool,
    pub(super) assume_pkce: bool,
    pub(super) assume_bearer: bool,
    pub(super) tolerate_issuer_slash: bool,
    pub(super) tolerate_foreign_issuer: bool,
    pub(super) allow_http: bool,
    pub(super) hosts: Option<BTreeSet<String>>,
    pub(super) revision: Revision,
    pub(super) limits: Limits,
}

impl Config {
    /// An application with this name, for people.
    pub fn new(name: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            uri: None,
            redirect_uri: None,
            application_type: None,
            registered: BTreeMap::new(),
            registered_anywhere: None,
            metadata_document: None,
            dynamic_registration: true,
            scopes: Scopes::new(),
            offline_access: true,
            grant: GrantType::AuthorizationCode,
            signer: None,
            dpop: None,
            require_dpop: false,
            fallback: true,
            assume_pkce: false,
            assume_bearer: false,
            tolerate_issuer_slash: false,
            tolerate_foreign_issuer: false,
            allow_http: false,
            hosts: None,
            revision: Revision::LATEST,
            limits: Limits::default(),
        }
    }

    /// A page about the application, for people.
    #[must_use]
    pub fn uri(mut self, url: impl Into<String>) -> Self {
        self.uri = Some(url.into());
        self
    }

    /// Where the authorization server sends the user back to: `http` on the local machine, or `https` (AUTH-41).
    /// Needed by [`GrantType::AuthorizationCode`] alone.
    #[must_use]
    pub fn redirect_uri(mut self, url: impl Into<String>) -> Self {
        self.redirect_uri = Some(url.into());
        self
    }

    /// What kind of application registers itself. Default: `native` where the redirect URI is on the local
    /// machine, else `web` (AUTH-26).
    #[must_use]
    pub fn application_type(mut self, kind: ApplicationType) -> Self {
        self.application_type = Some(kind);
        self
    }

    /// A client id that the authorization server with this issuer has given out. It comes before every other way
    /// of having one, and is never shown to another issuer (AUTH-17, AUTH-30).
    #[must_use]
    pub fn registered(mut self, issuer: impl Into<String>, registration: Registration) -> Self {
        self.registered.insert(issuer.into(), registration);
        self
    }

    /// A client id whose issuer the application does not know: it is shown, with its secret, to the authorization
    /// server that the server names, so the server has to be trusted. The grant tells which one that was; give it to
    /// later flows, and another one is refused. [`registered`](Self::registered) is better where the issuer is known.
    #[must_use]
    pub fn registered_with_first(mut self, registration: Registration) -> Self {
        self.registered_anywhere = Some(registration);
        self
    }

    /// The URL of the application's Client ID Metadata Document: `https`, with a path (AUTH-19). What it says is
    /// the application's business; [`client_metadata_document`](super::client_metadata_document) writes one.
    #[must_use]
    pub fn metadata_document(mut self, url: impl Into<String>) -> Self {
        self.metadata_document = Some(url.into());
        self
    }

    /// Whether to register with authorization servers that know neither of these. Default `true`.
    #[must_use]
    pub fn dynamic_registration(mut self, allowed: bool) -> Self {
        self.dynamic_registration = allowed;
        self
    }

    /// Scopes to ask for besides those of a challenge, and instead of those that the server's metadata lists.
    /// Default none.
    #[must_use]
    pub fn scopes<S: Into<String>>(mut self, scopes: impl IntoIterator<Item = S>) -> Self {
        self.scopes.extend(scopes.into_iter().map(Into::into));
        self
    }

    /// Whether to ask for `offline_access`, so that there is a refresh token, of authorization servers that list
    /// this scope. Default `true` (AUTH-68).
    #[must_use]
    pub fn offline_access(mut self, wanted: bool) -> Self {
        self.offline_access = wanted;
        self
    }

    /// The extension of the protocol that the client declares in its capabilities, for grants that are one.
    pub fn extension(&self) -> Option<&'static str> {
        match self.grant {
            GrantType::ClientCredentials => Some("io.modelcontextprotocol/oauth-client-credentials"),
            GrantType::CrossApp(_) => Some("io.modelcontextprotocol/enterprise-managed-authorization"),
            GrantType::AuthorizationCode | GrantType::JwtBearer(_) => None,
        }
    }

    /// The redirect URI, where there is one.
    pub fn redirect(&self) -> Option<&str> {
        self.redirect_uri.as_deref()
    }

    /// Whether a user has to agree, in a browser.
    pub fn asks_user(&self) -> bool {
        matches!(self.grant, GrantType::AuthorizationCode)
    }

    /// Whether code of the application runs inside steps of flows, a [`Signer`] or an [`AssertionSource`]. Whoever must not
    /// block does those steps elsewhere.
    pub fn may_block(&self) -> bool {
        let asks = matches!(self.grant, GrantType::JwtBearer(_) | GrantType::CrossApp(_));
        asks || self.signer.is_some() || self.dpop.is_some()
    }

    /// Makes proofs with the key of [`dpop`](Self::dpop), where there is one: for requests to the server that is
    /// accessed. Never hand in a seed twice.
    pub fn proofs(&self, seed: Seed) -> Option<Dpop> {
        self.dpop.clone().map(|signer| Dpop::new(signer, seed))
    }

    /// How tokens are come by. Default [`GrantType::AuthorizationCode`].
    #[must_use]
    pub fn grant(mut self, grant: GrantType) -> Self {
        self.grant = grant;
        self
    }

    /// A key by which the client proves who it is (`private_key_jwt`), for registrations without a secret at
    /// authorization servers that take it.
    #[must_use]
    pub fn signer(mut self, signer: Arc<dyn Signer>) -> Self {
        self.signer = Some(signer);
        self
    }

    /// A key to which tokens are bound where the authorization server supports DPoP.
    #[must_use]
    pub fn dpop(mut self, signer: Arc<dyn Signer>) -> Self {
        self.dpop = Some(signer);
        self
    }

    /// Whether a token that is not bound to the key of [`dpop`](Self::dpop) is refused. Default `false`.
    #[must_use]
    pub fn require_dpop(mut self, required: bool) -> Self {
        self.require_dpop = required;
        self
    }

    /// Whether a server without protected resource metadata counts as its own authorization server, as in
    /// revision 2025-03-26. Default `true`.
    #[must_use]
    pub fn fallback(mut self, allowed: bool) -> Self {
        self.fallback = allowed;
        self
    }

    /// Whether to go on with an authorization server that does not say that it supports PKCE. The specification
    /// forbids it; some servers support it and do not say so. Default `false` (AUTH-37).
    #[must_use]
    pub fn assume_pkce(mut self, assumed: bool) -> Self {
        self.assume_pkce = assumed;
        self
    }

    /// Whether a token whose type is not said is a bearer token. The standard has no default; some servers leave it
    /// out. Default `false` (B74).
    #[must_use]
    pub fn assume_bearer(mut self, assumed: bool) -> Self {
        self.assume_bearer = assumed;
        self
    }

    /// Whether two spellings of an issuer in metadata count as one if they differ in the slash at the end alone.
    /// The specification forbids it; some servers mix them up. Default `false` (AUTH-11).
    #[must_use]
    pub fn tolerate_issuer_slash(mut self, tolerated: bool) -> Self {
        self.tolerate_issuer_slash = tolerated;
        self
    }

    /// Whether the metadata of a server that is its own authorization server ([`fallback`](Self::fallback)) may name
    /// another issuer. Such servers are often a front for one; but with it goes the protection against servers that
    /// have somebody else's users sign in, so turn it on for servers that are trusted. Client ids and tokens stay
    /// those of the server's origin. Default `false` (AUTH-11, AUTH-13).
    #[must_use]
    pub fn tolerate_foreign_issuer(mut self, tolerated: bool) -> Self {
        self.tolerate_foreign_issuer = tolerated;
        self
    }

    /// Whether URLs without encryption are used for other hosts than the local machine. For test networks only.
    /// Default `false` (SEC-02).
    #[must_use]
    pub fn allow_http(mut self, allowed: bool) -> Self {
        self.allow_http = allowed;
        self
    }

    /// The only hosts that a peer may name, besides that of the server itself. Default: any host on the public
    /// network, and on that of the server.
    #[must_use]
    pub fn only_hosts<S: Into<String>>(mut self, hosts: impl IntoIterator<Item = S>) -> Self {
        self.hosts = Some(hosts.into_iter().map(|host| host.into().to_ascii_lowercase()).collect());
        self
    }

    /// The revision that requests for metadata name in `MCP-Protocol-Version`. Default the latest (AUTH-15).
    #[must_use]
    pub fn revision(mut self, revision: Revision) -> Self {
        self.revision = revision;
        self
    }

    /// Bounds, for flows that are driven by hand: a client has those of its own flows. Default [`Limits::default`].
    #[must_use]
    pub fn limits(mut self, limits: Limits) -> Self {
        self.limits = limits;
        self
    }
}

impl fmt::Debug for Config {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Config")
            .field("name", &self.name)
            .field("redirect_uri", &self.redirect_uri)
            .field("registered", &self.registered)
            .field("metadata_document", &self.metadata_document)
            .field("grant", &self.grant)
            .finish_non_exhaustive()
    }
}

/// Asks the application for an assertion. Called when it is needed, since assertions do not live long. `None` when
/// there is none for this issuer.
///
/// It may block, such as to read a file or to ask a platform: a client calls it on a thread for that, and with no lock held.
/// Whoever drives a flow by hand has it called within a step ([`Config::may_block`]).
///
/// A [`JwtBearer`](GrantType::JwtBearer) assertion goes to an issuer that the server has named: an application that has
/// one for a known issuer looks whether it is that one, or somebody else could use it there.
pub type AssertionSource = Arc<dyn Fn(AssertionFor<'_>) -> Option<Secret> + Send + Sync>;

/// What an assertion is wanted for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct AssertionFor<'a> {
    /// The issuer that it is shown to.
    pub issuer: &'a str,
    /// The server that a token is wanted for.
    pub resource: &'a str,
}

/// How tokens are come by.
#[derive(Clone, Default)]
#[non_exhaustive]
pub enum GrantType {
    /// A user agrees, in a browser.
    #[default]
    AuthorizationCode,
    /// The application acts for itself. It has to be registered (AUTHX-07).
    ///
    /// <https://modelcontextprotocol.io/extensions/auth/oauth-client-credentials>
    ClientCredentials,
    /// Somebody vouches for the application with a token, which is meant for the issuer (RFC 7523): the platform that
    /// it runs on (workload identity federation), or an identity provider that the application asks by itself.
    JwtBearer(AssertionSource),
    /// The identity provider of an enterprise decides instead of the user.
    ///
    /// <https://modelcontextprotocol.io/extensions/auth/enterprise-managed-authorization>
    CrossApp(CrossApp),
}

impl fmt::Debug for GrantType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::AuthorizationCode => "AuthorizationCode",
            Self::ClientCredentials => "ClientCredentials",
            Self::JwtBearer(_) => "JwtBearer(..)",
            Self::CrossApp(_) => "CrossApp(..)",
        })
    }
}

/// What is needed to have an identity provider vouch for a user (AUTHX-12 to AUTHX-16).
#[derive(Clone)]
#[non_exhaustive]
pub struct CrossApp {
    pub(super) token_endpoint: String,
    pub(super) issuer: String,
    pub(super) client: Registration,
    pub(super) subject_token_type: SubjectTokenType,
    pub(super) subject_token: AssertionSource,
}

impl CrossApp {
    /// The identity provider's issuer and token endpoint, the application's registration there, and what it has
    /// given out when the user signed in; that is asked for with the identity provider's issuer.
    pub fn new(
        issuer: impl Into<String>,
        token_endpoint: impl Into<String>,
        client: Registration,
        subject_token: AssertionSource,
    ) -> Self {
        Self {
            token_endpoint: token_endpoint.into(),
            issuer: issuer.into(),
            client,
            subject_token_type: SubjectTokenType::IdToken,
            subject_token,
        }
    }

    /// What the subject token is. Default an ID token.
    #[must_use]
    pub fn subject_token_type(mut self, kind: SubjectTokenType) -> Self {
        self.subject_token_type = kind;
        self
    }
}

/// What an identity provider gave out when a user signed in.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum SubjectTokenType {
    /// An ID token of OpenID Connect.
    #[default]
    IdToken,
    /// A SAML 2.0 assertion.
    Saml2,
}

impl SubjectTokenType {
    pub(super) fn as_str(self) -> &'static str {
        match self {
            Self::IdToken => "urn:ietf:params:oauth:token-type:id_token",
            Self::Saml2 => "urn:ietf:params:oauth:token-type:saml2",
        }
    }
}
