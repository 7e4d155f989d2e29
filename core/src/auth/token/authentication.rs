//! How a client proves to a token endpoint who it is.
//!
//! <https://www.rfc-editor.org/rfc/rfc6749#section-2.3>, <https://www.rfc-editor.org/rfc/rfc7523#section-2.2>

use alloc::string::String;
use alloc::vec::Vec;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;

use crate::auth::client::{AuthMethod, Registration};
use crate::auth::config::Config;
use crate::auth::error::{Fault, FlowErrorKind};
use crate::auth::flow::Flow;
use crate::auth::secret::Secret;
use crate::auth::{form, jwt};
use crate::text::list;
use crate::time::Now;

const ASSERTION: &str = "urn:ietf:params:oauth:client-assertion-type:jwt-bearer";

/// The way that was registered, or else the best that both sides have (AUTH-71, B77).
pub(in crate::auth) fn method(
    config: &Config,
    registration: Option<&Registration>,
    listed: Option<&[String]>,
) -> Result<AuthMethod, Fault> {
    let Some(registration) = registration else { return Ok(AuthMethod::None) };
    let has_secret = registration.secret.as_ref().is_some_and(|secret| !secret.as_str().is_empty());
    let possible = |method: AuthMethod| match method {
        AuthMethod::ClientSecretBasic | AuthMethod::ClientSecretPost => has_secret,
        AuthMethod::PrivateKeyJwt => config.signer.is_some() && !has_secret,
        AuthMethod::None => true,
    };
    if let Some(method) = registration.method {
        let usable = possible(method) || (method == AuthMethod::PrivateKeyJwt && config.signer.is_some());
        return if usable { Ok(method) } else { Err(unusable(method.as_str().into(), config, has_secret)) };
    }
    let order = [
        AuthMethod::PrivateKeyJwt,
        AuthMethod::ClientSecretBasic,
        AuthMethod::ClientSecretPost,
        AuthMethod::None,
    ];
    let mut candidates = order.into_iter().filter(|method| possible(*method));
    let Some(listed) = listed else {
        // RFC 8414, 2: an authorization server that lists none takes Basic.
        return Ok(candidates.next().unwrap_or(AuthMethod::None));
    };
    let is_listed = |method: &AuthMethod| listed.iter().any(|name| name == method.as_str());
    match candidates.find(is_listed) {
        Some(method) => Ok(method),
        // A client without a secret has no choice, and authorization servers often do not list that they take it.
        None if !has_secret && config.signer.is_none() => Ok(AuthMethod::None),
        None => Err(unusable(list(listed.iter().map(String::as_str)), config, has_secret)),
    }
}

fn unusable(wanted: String, config: &Config, has_secret: bool) -> Fault {
    let found = match (has_secret, config.signer.is_some()) {
        (true, _) => "a client with a secret",
        (false, true) => "a client with a key",
        (false, false) => "a client without secret and key",
    };
    let expected = alloc::format!("a client that authenticates as the server wants it ({wanted})");
    Fault::new(FlowErrorKind::Client, expected, found).setting("Config::registered")
}

/// What goes into the request.
#[derive(Default)]
pub(in crate::auth) struct Credentials {
    pub(in crate::auth) field: Option<Secret>,
    pub(in crate::auth) form: Vec<(&'static str, String)>,
}

pub(in crate::auth) fn credentials(
    flow: &mut Flow,
    now: Now,
    issuer: &str,
    registration: Option<&Registration>,
    method: AuthMethod,
) -> Result<Credentials, Fault> {
    let mut credentials = Credentials::default();
    let Some(registration) = registration else { return Ok(credentials) };
    let id = &registration.client_id;
    let secret = registration.secret.as_ref().map(Secret::as_str).unwrap_or_default();
    match method {
        AuthMethod::ClientSecretBasic => {
            let pair = alloc::format!("{}:{}", form::encode(id), form::encode(secret));
            credentials.field = Some(Secret::new(alloc::format!("Basic {}", STANDARD.encode(pair))));
        }
        AuthMethod::ClientSecretPost => {
            credentials.form.extend([("client_id", id.clone()), ("client_secret", secret.into())]);
        }
        AuthMethod::PrivateKeyJwt => {
            let Some(signer) = &flow.config.signer else {
                return Err(unusable("a key".into(), &flow.config, false));
            };
            let assertion = jwt::client_assertion(&**signer, id, issuer, now.unix, &flow.entropy.next())?;
            let assertion = String::from(assertion.as_str());
            credentials
                .form
                .extend([("client_assertion_type", ASSERTION.into()), ("client_assertion", assertion)]);
        }
        AuthMethod::None => credentials.form.push(("client_id", id.clone())),
    }
    Ok(credentials)
}
