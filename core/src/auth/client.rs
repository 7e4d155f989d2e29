//! Who the client is to an authorization server.
//!
//! <https://modelcontextprotocol.io/specification/2026-07-28/basic/authorization/client-registration>

use alloc::boxed::Box;
use alloc::string::String;
use alloc::vec::Vec;
use serde::{Deserialize, Serialize};

use super::config::{Config, GrantType};
use super::error::{Fault, FlowError, FlowErrorKind};
use super::flow::{Flow, Response, Step, Waiting, failed, unavailable};
use super::record::Stage;
use super::secret::Secret;
use super::server::Server;
use super::url::{Network, Url};
use super::{authorize, reach, token};
use crate::error::ApiMisuse;
use crate::text::excerpt;
use crate::time::{Duration, Now};

const STAGE: Stage = Stage::Registration;

/// A client id, and how the client proves that it is the one, at one authorization server.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Registration {
    /// The client id.
    pub client_id: String,
    /// The client secret; a client without is public. An empty one counts as none (B77).
    pub secret: Option<Secret>,
    /// How the client authenticates at the token endpoint. Default: as the authorization server's metadata says.
    pub method: Option<AuthMethod>,
    /// When the secret ends, since the Unix epoch. Default never.
    pub secret_expires: Option<Duration>,
    /// Where the id is from.
    pub origin: Origin,
    /// What the client has registered itself with; it has to do so again for another one (AUTH-40).
    pub redirect_uri: Option<String>,
}

impl Registration {
    /// A client id that an authorization server has given out beforehand.
    pub fn new(client_id: impl Into<String>) -> Self {
        Self {
            client_id: client_id.into(),
            secret: None,
            method: None,
            secret_expires: None,
            origin: Origin::Registered,
            redirect_uri: None,
        }
    }

    /// With a client secret.
    #[must_use]
    pub fn secret(mut self, secret: impl Into<String>) -> Self {
        self.secret = Some(Secret::new(secret)).filter(|secret| !secret.as_str().is_empty());
        self
    }

    /// With the way of authentication that it was registered for.
    #[must_use]
    pub fn method(mut self, method: AuthMethod) -> Self {
        self.method = Some(method);
        self
    }
}

/// Where a client id is from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Origin {
    /// The application brought it along.
    Registered,
    /// It is the URL of the application's metadata document, and the same everywhere.
    MetadataDocument,
    /// The client has registered itself.
    Dynamic,
}

/// How a client authenticates at the token endpoint.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum AuthMethod {
    /// Id and secret in the `Authorization` field.
    ClientSecretBasic,
    /// Id and secret in the body.
    ClientSecretPost,
    /// An assertion that the client signs.
    PrivateKeyJwt,
    /// Not at all: the id alone, in the body.
    None,
}

impl AuthMethod {
    pub(super) fn as_str(self) -> &'static str {
        match self {
            Self::ClientSecretBasic => "client_secret_basic",
            Self::ClientSecretPost => "client_secret_post",
            Self::PrivateKeyJwt => "private_key_jwt",
            Self::None => "none",
        }
    }
}

/// What kind of application registers itself (AUTH-26).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum ApplicationType {
    /// It runs where its user is: desktop applications, command lines, what is served on `localhost`.
    Native,
    /// It runs on a server, and is used in a browser.
    Web,
}

/// Finds out who the client is, in the specification's order (AUTH-17).
pub(super) fn start(mut flow: Box<Flow>, now: Now, server: Server) -> Result<Step, FlowError> {
    let known = match known(&flow, now, &server) {
        Ok(known) => known,
        Err(fault) => return Err(flow.fail(STAGE, None, fault)),
    };
    if let Some((registration, what)) = known {
        flow.record.add(STAGE, None, what);
        return proceed(flow, now, server, Some(registration));
    }
    if matches!(flow.config.grant, GrantType::JwtBearer(_)) {
        flow.record.add(STAGE, None, "none; the assertion says who the client is");
        return proceed(flow, now, server, None);
    }
    register(flow, server, true)
}

fn proceed(
    flow: Box<Flow>,
    now: Now,
    server: Server,
    registration: Option<Registration>,
) -> Result<Step, FlowError> {
    match (registration, &flow.config.grant) {
        (Some(registration), GrantType::AuthorizationCode) => authorize::start(flow, server, registration),
        (registration, _) => token::start(flow, now, server, registration),
    }
}

fn known(flow: &Flow, now: Now, server: &Server) -> Result<Option<(Registration, &'static str)>, Fault> {
    let config = &flow.config;
    if let Some(registration) = config.registered.get(&server.issuer) {
        return Ok(Some((registration.clone(), "the client id that is configured for this issuer")));
    }
    let moved = flow.previous.as_ref().filter(|grant| grant.issuer != server.issuer);
    // AUTH-32, AUTH-34: what an authorization server has given out is nothing to another one.
    let bound = config.registered_anywhere.is_some()
        || moved.is_some_and(|grant| {
            grant.registration.as_ref().is_some_and(|it| it.origin == Origin::Registered)
        });
    if let Some(grant) = moved.filter(|_| bound) {
        let expected = alloc::format!("the issuer of the registered client id, `{}`", excerpt(&grant.issuer));
        let found = alloc::format!("`{}`", excerpt(&server.issuer));
        return Err(Fault::new(FlowErrorKind::IssuerMismatch, expected, found).setting("Config::registered"));
    }
    if let Some(registration) = &config.registered_anywhere {
        return Ok(Some((registration.clone(), "the client id that is configured")));
    }
    if let Some(url) = config.metadata_document.as_ref().filter(|_| server.takes_documents) {
        check_document_url(url)?;
        let mut registration = Registration::new(url);
        registration.origin = Origin::MetadataDocument;
        return Ok(Some((registration, "the URL of the client's metadata document")));
    }
    let stored = flow.previous.as_ref().filter(|grant| grant.issuer == server.issuer);
    let stored = stored.and_then(|grant| grant.registration.as_ref()).filter(|registration| {
        registration.origin == Origin::Dynamic
            && registration.redirect_uri == config.redirect_uri
            && registration.secret_expires.is_none_or(|expires| expires > now.unix)
    });
    Ok(stored.map(|registration| (registration.clone(), "the client id of the earlier registration")))
}

/// AUTH-19
fn check_document_url(text: &str) -> Result<(), Fault> {
    let usable = Url::parse(text).is_ok_and(|url| {
        let plain = url.query().is_none() && !url.has_dot_segments();
        url.is_https() && !url.trimmed_path().is_empty() && plain
    });
    if usable {
        return Ok(());
    }
    let fault = Fault::new(
        FlowErrorKind::Misuse,
        "an https URL with a path, and without query and dots",
        "another URL",
    );
    Err(fault.setting("Config::metadata_document"))
}

/// A registration that is under way.
pub(super) struct Registering {
    server: Server,
    method: AuthMethod,
    /// Scopes were named.
    scoped: bool,
}

/// `scoped` is whether scopes are named: some authorization servers grant none that was not registered, and some let
/// nobody register with scopes that are the server's and not their own.
fn register(flow: Box<Flow>, server: Server, scoped: bool) -> Result<Step, FlowError> {
    let fail = |flow: Box<Flow>, expected: &'static str, found: &str, setting| {
        Err(flow.fail(STAGE, None, Fault::new(FlowErrorKind::Client, expected, found).setting(setting)))
    };
    if !matches!(flow.config.grant, GrantType::AuthorizationCode) {
        return fail(flow, "a client id for this issuer", "none", "Config::registered");
    }
    if !flow.config.dynamic_registration {
        return fail(flow, "a client id", "none that is configured", "Config::dynamic_registration");
    }
    let Some(endpoint) = server.registration_endpoint.clone() else {
        let found = "an authorization server that lets no client register itself";
        return fail(flow, "a client id for this issuer", found, "Config::registered");
    };
    let (redirect, url) = match redirect_uri(&flow.config) {
        Ok(redirect) => redirect,
        Err(fault) => return Err(flow.fail(STAGE, None, fault)),
    };
    // A client on somebody's machine keeps no secret; but not every authorization server has public clients.
    let listed = |method: AuthMethod| {
        server.methods.as_ref().is_none_or(|list| list.iter().any(|it| it == method.as_str()))
    };
    let methods = [AuthMethod::None, AuthMethod::ClientSecretBasic, AuthMethod::ClientSecretPost];
    let method = methods.into_iter().find(|method| listed(*method)).unwrap_or(AuthMethod::None);
    let mut scopes = authorize::wanted(&flow, &server).unwrap_or_default();
    scopes.extend(flow.supported.iter().flatten().cloned());
    let mut metadata = metadata(&flow.config, None, &redirect, &url, method);
    metadata.scope = (scoped && !scopes.is_empty()).then(|| authorize::joined(&scopes));
    let scoped = metadata.scope.is_some();
    // A struct of texts is always JSON.
    let body = serde_json::to_string(&metadata).unwrap_or_default();
    let waiting = Waiting::Registration(Box::new(Registering { server, method, scoped }));
    Ok(flow.post(endpoint, "application/json", body, waiting))
}

/// <https://www.rfc-editor.org/rfc/rfc7591#section-2>
#[derive(Serialize)]
struct ClientMetadata<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    client_id: Option<&'a str>,
    client_name: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    client_uri: Option<&'a str>,
    redirect_uris: [&'a str; 1],
    application_type: ApplicationType,
    /// With `refresh_token`: the client wants one (AUTH-67).
    grant_types: [&'static str; 2],
    response_types: [&'static str; 1],
    token_endpoint_auth_method: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    scope: Option<String>,
    #[serde(skip_serializing_if = "core::ops::Not::not")]
    dpop_bound_access_tokens: bool,
}

fn metadata<'a>(
    config: &'a Config,
    client_id: Option<&'a str>,
    redirect: &'a str,
    url: &Url,
    method: AuthMethod,
) -> ClientMetadata<'a> {
    let local = url.network() == Network::Loopback;
    let by_redirect = if local { ApplicationType::Native } else { ApplicationType::Web };
    ClientMetadata {
        client_id,
        client_name: &config.name,
        client_uri: config.uri.as_deref(),
        redirect_uris: [redirect],
        application_type: config.application_type.unwrap_or(by_redirect),
        grant_types: ["authorization_code", "refresh_token"],
        response_types: ["code"],
        token_endpoint_auth_method: method.as_str(),
        scope: None,
        dpop_bound_access_tokens: config.require_dpop,
    }
}

/// The Client ID Metadata Document of an application, to be served at [`Config::metadata_document`] as
/// `application/json` (AUTH-20, AUTH-21).
///
/// # Errors
///
/// If that URL or the redirect URI is missing, or cannot be used.
pub fn client_metadata_document(config: &Config) -> Result<String, ApiMisuse> {
    let misuse = |fault: Fault| {
        let Fault { expected, found, .. } = fault;
        ApiMisuse::new(alloc::format!("expected {expected}, found {found}"))
    };
    let id = config.metadata_document.as_deref().unwrap_or_default();
    check_document_url(id).map_err(misuse)?;
    let (redirect, url) = redirect_uri(config).map_err(misuse)?;
    let method = if config.signer.is_some() { AuthMethod::PrivateKeyJwt } else { AuthMethod::None };
    // A struct of texts is always JSON.
    Ok(serde_json::to_string(&metadata(config, Some(id), &redirect, &url, method)).unwrap_or_default())
}

/// AUTH-41: https, or on the local machine.
pub(super) fn redirect_uri(config: &Config) -> Result<(String, Url), Fault> {
    let text = config.redirect_uri.as_deref().unwrap_or_default();
    let url = reach::configured(config, text, "a redirect URI").map_err(|mut fault| {
        fault.kind = FlowErrorKind::Misuse;
        fault.setting("Config::redirect_uri")
    })?;
    if !url.is_https() && url.network() != Network::Loopback {
        let expected = "a redirect URI with https, or on the local machine";
        let fault = Fault::new(FlowErrorKind::Misuse, expected, "one without encryption");
        return Err(fault.setting("Config::redirect_uri"));
    }
    Ok((text.into(), url))
}

#[derive(Deserialize)]
struct Registered {
    client_id: String,
    client_secret: Option<String>,
    /// 0 is never.
    client_secret_expires_at: Option<u64>,
    token_endpoint_auth_method: Option<String>,
    redirect_uris: Option<Vec<String>>,
}

impl Registering {
    pub(super) fn on_response(
        self: Box<Self>,
        mut flow: Box<Flow>,
        now: Now,
        url: &Url,
        response: Response<'_>,
    ) -> Result<Step, FlowError> {
        let status = response.head.status;
        if unavailable(status) {
            return Err(flow.fail(STAGE, Some(url), failed(status)));
        }
        if !(200..=299).contains(&status) {
            // AUTH-27, AUTH-28: what it did not like, in its own words.
            let mut fault = token::denied(status, response.body, &[]);
            let about_metadata =
                matches!(&fault.kind, FlowErrorKind::Denied { error } if error == "invalid_client_metadata");
            if about_metadata && self.scoped {
                flow.record.add(STAGE, Some(url), "the metadata was refused; asked again without scopes");
                return register(flow, self.server, false);
            }
            let about_redirects =
                matches!(&fault.kind, FlowErrorKind::Denied { error } if error == "invalid_redirect_uri");
            fault.setting =
                Some(if about_redirects { "Config::application_type" } else { "Config::registered" });
            fault.expected = "a registration".into();
            if !matches!(fault.kind, FlowErrorKind::Denied { .. }) {
                fault.kind = FlowErrorKind::Client;
            }
            return Err(flow.fail(STAGE, Some(url), fault));
        }
        let registered: Registered = match serde_json::from_slice(response.body) {
            Ok(registered) => registered,
            Err(error) => {
                let found = super::resource::classify(&error);
                let fault = Fault::new(FlowErrorKind::Client, "a client id", found);
                return Err(flow.fail(STAGE, Some(url), fault));
            }
        };
        let uris = registered.redirect_uris.as_deref().unwrap_or_default();
        if let Err(fault) = check_registered(&flow.config, uris) {
            return Err(flow.fail(STAGE, Some(url), fault));
        }
        let methods = [
            AuthMethod::ClientSecretBasic,
            AuthMethod::ClientSecretPost,
            AuthMethod::PrivateKeyJwt,
            AuthMethod::None,
        ];
        let secret = registered.client_secret.filter(|secret| !secret.is_empty());
        let named = registered.token_endpoint_auth_method;
        let method = named.and_then(|name| methods.into_iter().find(|method| method.as_str() == name));
        let expires = registered.client_secret_expires_at.filter(|expires| *expires > 0);
        let registration = Registration {
            client_id: registered.client_id,
            // Whoever gives out a secret without a word about it may want to see it: then the metadata decides.
            method: method.or_else(|| secret.is_none().then_some(self.method)),
            secret: secret.map(Secret::new),
            secret_expires: expires.map(Duration::from_secs),
            origin: Origin::Dynamic,
            redirect_uri: flow.config.redirect_uri.clone(),
        };
        flow.record.add(STAGE, Some(url), "registered");
        proceed(flow, now, self.server, Some(registration))
    }
}

/// AUTH-40, AUTH-41: what was registered has to be what was asked for, where it is told. On the local machine another
/// port is none of the authorization server's business (RFC 8252, 7.3).
fn check_registered(config: &Config, uris: &[String]) -> Result<(), Fault> {
    let (text, url) = redirect_uri(config)?;
    let is_ours = |uri: &String| {
        let same_but_for_port =
            |it: Url| it.network() == Network::Loopback && (it.host(), it.path()) == (url.host(), url.path());
        *uri == text || Url::parse(uri).is_ok_and(same_but_for_port)
    };
    if uris.is_empty() || uris.iter().any(is_ours) {
        return Ok(());
    }
    let fault = Fault::new(FlowErrorKind::Client, "a registration of the redirect URI", "one of another");
    Err(fault.setting("Config::redirect_uri"))
}
