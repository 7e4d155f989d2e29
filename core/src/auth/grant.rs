//! What a flow is for: a token, with all that is needed to use it, to renew it and to store it.

use alloc::string::String;
use serde::{Deserialize, Serialize};

use super::client::{AuthMethod, Origin, Registration};
use super::config::Config;
use super::dpop::Dpop;
use super::error::{Fault, FlowError, FlowErrorKind};
use super::record::{Record, Stage};
use super::secret::Secret;
use super::url::Url;
use super::{Scopes, resource};
use crate::error::ApiMisuse;
use crate::head::Headers;
use crate::time::{Duration, Now};

/// A token is renewed so long before it ends, or a quarter of its life where that is less.
const SKEW: Duration = Duration::from_secs(30);

/// A token for one server, from one authorization server.
///
/// Stored with [`to_json`](Self::to_json), under the issuer and the resource (AUTH-30, AUTH-31). Printing shows no
/// secret.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Grant {
    /// The authorization server that issued it.
    pub issuer: String,
    /// What it was issued for.
    pub resource: String,
    /// As whom the client asked for it.
    pub registration: Option<Registration>,
    /// The token.
    pub access_token: Secret,
    /// How it is used.
    pub token_type: TokenType,
    /// When it came, since the Unix epoch.
    pub issued: Duration,
    /// When it ends, since the Unix epoch, where that is known.
    pub expires: Option<Duration>,
    /// What another one can be had for. There may be none (AUTH-69).
    pub refresh_token: Option<Secret>,
    /// The scopes that it has, where that is known.
    pub scopes: Option<Scopes>,
    /// The scopes that were asked for.
    pub requested: Option<Scopes>,
    /// Where it can be renewed.
    pub token_endpoint: String,
    /// Where it can be revoked, if anywhere.
    pub revocation_endpoint: Option<String>,
    /// What the flow did. Not stored.
    pub record: Record,
}

/// How a token is used.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum TokenType {
    /// By whoever has it.
    Bearer,
    /// With a proof that one holds the key of [`Config::dpop`].
    Dpop,
}

impl Grant {
    /// Whether it is for this server.
    pub fn is_for(&self, server: &Url) -> bool {
        resource::is_for(server, &self.resource)
    }

    /// Whether it has ended, or is about to: time to renew it.
    pub fn is_expiring(&self, now: Now) -> bool {
        let Some(expires) = self.expires else { return false };
        let life = expires.saturating_sub(self.issued);
        expires <= now.unix.saturating_add(SKEW.min(life / 4))
    }

    /// The header fields that authorize a request (AUTH-55): for a token that is bound to a key, with a fresh proof.
    ///
    /// `server` is the URL that the application has configured, and `target` what the request asks of its origin,
    /// path and query. That may be another path: where the `endpoint` event of HTTP with SSE or a redirect of that
    /// server leads to. No target leads to another origin.
    ///
    /// # Errors
    ///
    /// If the token was not issued for the server; if the target is none, or its path has `.` or `..` in it, which
    /// lead to where it does not say; if a proof is needed that cannot be made.
    pub fn authorize_request(
        &self,
        now: Now,
        method: &str,
        server: &Url,
        target: &str,
        dpop: Option<&mut Dpop>,
    ) -> Result<Headers, FlowError> {
        let fail = |fault| {
            FlowError::new(Stage::Request, Some(server.without_query().into()), fault, Record::default())
        };
        if !self.is_for(server) {
            let expected = alloc::format!("a server below `{}`", crate::text::excerpt(&self.resource));
            return Err(fail(Fault::new(FlowErrorKind::Misuse, expected, "another one")));
        }
        let url = target.starts_with('/').then(|| server.at(target).ok()).flatten();
        let Some(url) = url.filter(|url| !url.has_dot_segments()) else {
            let expected = "a path and query, without `.` and `..` in the path";
            return Err(fail(Fault::new(FlowErrorKind::Misuse, expected, "another target")));
        };
        let token = self.access_token.as_str();
        if self.token_type == TokenType::Bearer {
            return Ok(Headers::new().with("Authorization", alloc::format!("Bearer {token}")));
        }
        let Some(dpop) = dpop else {
            return Err(fail(Fault::new(
                FlowErrorKind::Misuse,
                "the key that the token is bound to",
                "none",
            )));
        };
        let proof = dpop.proof(now, method, &url, Some(&self.access_token)).map_err(fail)?;
        Ok(Headers::new().with("Authorization", alloc::format!("DPoP {token}")).with("DPoP", proof))
    }

    /// The whole as JSON, secrets included: for a place that only its owner can read (AUTH-70). A secret that the
    /// application has configured is not part of it.
    pub fn to_json(&self) -> String {
        let registration = self.registration.as_ref().map(|registration| StoredRegistration {
            client_id: registration.client_id.clone(),
            secret: (registration.origin == Origin::Dynamic)
                .then(|| registration.secret.as_ref().map(|secret| secret.as_str().into()))
                .flatten(),
            method: registration.method,
            secret_expires: registration.secret_expires.map(|expires| expires.as_secs()),
            origin: registration.origin,
            redirect_uri: registration.redirect_uri.clone(),
        });
        let stored = Stored {
            issuer: self.issuer.clone(),
            resource: self.resource.clone(),
            registration,
            access_token: self.access_token.as_str().into(),
            token_type: self.token_type,
            issued: self.issued.as_secs(),
            expires: self.expires.map(|expires| expires.as_secs()),
            refresh_token: self.refresh_token.as_ref().map(|token| token.as_str().into()),
            scopes: self.scopes.clone(),
            requested: self.requested.clone(),
            token_endpoint: self.token_endpoint.clone(),
            revocation_endpoint: self.revocation_endpoint.clone(),
        };
        // A struct of texts and numbers is always JSON.
        serde_json::to_string(&stored).unwrap_or_default()
    }

    /// Reads what [`to_json`](Self::to_json) has written.
    ///
    /// # Errors
    ///
    /// If it is something else. The error repeats none of it.
    pub fn from_json(json: &str) -> Result<Self, ApiMisuse> {
        let stored: Stored = serde_json::from_str(json).map_err(|error| {
            ApiMisuse::new(alloc::format!("no stored grant: {}", resource::classify(&error)))
        })?;
        let registration = stored.registration.map(|stored| Registration {
            client_id: stored.client_id,
            secret: stored.secret.map(Secret::new),
            method: stored.method,
            secret_expires: stored.secret_expires.map(Duration::from_secs),
            origin: stored.origin,
            redirect_uri: stored.redirect_uri,
        });
        Ok(Self {
            issuer: stored.issuer,
            resource: stored.resource,
            registration,
            access_token: Secret::new(stored.access_token),
            token_type: stored.token_type,
            issued: Duration::from_secs(stored.issued),
            expires: stored.expires.map(Duration::from_secs),
            refresh_token: stored.refresh_token.map(Secret::new),
            scopes: stored.scopes,
            requested: stored.requested,
            token_endpoint: stored.token_endpoint,
            revocation_endpoint: stored.revocation_endpoint,
            record: Record::default(),
        })
    }

    /// As whom to ask again: what is configured now comes before what was used then.
    pub(super) fn registration_now(&self, config: &Config) -> Option<Registration> {
        let stored = self.registration.clone()?;
        let configured = config.registered.get(&self.issuer).or(config.registered_anywhere.as_ref());
        let same =
            configured.filter(|it| stored.origin == Origin::Registered && it.client_id == stored.client_id);
        Some(match same {
            Some(configured) => {
                Registration { method: configured.method.or(stored.method), ..configured.clone() }
            }
            None => stored,
        })
    }
}

#[derive(Serialize, Deserialize)]
struct Stored {
    issuer: String,
    resource: String,
    registration: Option<StoredRegistration>,
    access_token: String,
    token_type: TokenType,
    issued: u64,
    expires: Option<u64>,
    refresh_token: Option<String>,
    scopes: Option<Scopes>,
    requested: Option<Scopes>,
    token_endpoint: String,
    #[serde(default)]
    revocation_endpoint: Option<String>,
}

#[derive(Serialize, Deserialize)]
struct StoredRegistration {
    client_id: String,
    secret: Option<String>,
    method: Option<AuthMethod>,
    secret_expires: Option<u64>,
    origin: Origin,
    redirect_uri: Option<String>,
}
