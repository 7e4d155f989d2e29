//! What a token endpoint answers.
//!
//! <https://www.rfc-editor.org/rfc/rfc6749#section-5.1>

use alloc::string::String;
use serde::Deserialize;
use serde_json::value::RawValue;

use crate::auth::challenge::scopes;
use crate::auth::config::Config;
use crate::auth::error::{Fault, FlowErrorKind};
use crate::auth::flow::{Response, failed, unavailable};
use crate::auth::grant::TokenType;
use crate::auth::secret::Secret;
use crate::auth::{Scopes, resource};
use crate::text::excerpt;
use crate::time::Duration;

/// A token as it came.
pub(in crate::auth) struct Token {
    pub(super) access_token: Secret,
    pub(super) token_type: Option<String>,
    pub(super) expires_in: Option<Duration>,
    pub(super) refresh_token: Option<Secret>,
    pub(super) scopes: Option<Scopes>,
    pub(super) issued_token_type: Option<String>,
}

#[derive(Deserialize)]
struct Answer<'a> {
    access_token: Option<String>,
    token_type: Option<String>,
    #[serde(borrow)]
    expires_in: Option<&'a RawValue>,
    refresh_token: Option<String>,
    scope: Option<String>,
    issued_token_type: Option<String>,
    error: Option<String>,
}

#[derive(Deserialize)]
struct Denial {
    error: Option<String>,
    error_description: Option<String>,
}

/// `secrets` are what the request held: an answer may repeat them, and no error must.
pub(super) fn read(response: Response<'_>, secrets: &[&str]) -> Result<Token, Fault> {
    let status = response.head.status;
    if unavailable(status) {
        return Err(failed(status));
    }
    // RFC 6749 says 200; some say 201. And some say 200 when they mean no.
    if !(200..=299).contains(&status) {
        return Err(denied(status, response.body, secrets));
    }
    let bad = |found: &str| Fault::new(FlowErrorKind::Token, "a token response", found);
    let answer: Answer<'_> =
        serde_json::from_slice(response.body).map_err(|error| bad(resource::classify(&error)))?;
    if answer.error.is_some() {
        return Err(denied(status, response.body, secrets));
    }
    let token = answer.access_token.ok_or_else(|| bad("JSON without `access_token`"))?;
    if !is_sendable(&token) {
        return Err(bad("an access token that no header can hold"));
    }
    Ok(Token {
        access_token: Secret::new(token),
        token_type: answer.token_type,
        expires_in: answer.expires_in.and_then(|raw| lifetime(raw.get())),
        refresh_token: answer.refresh_token.filter(|token| !token.is_empty()).map(Secret::new),
        scopes: answer.scope.as_deref().and_then(scopes),
        issued_token_type: answer.issued_token_type,
    })
}

/// More is allowed than RFC 6750 has, as long as it is one visible word.
fn is_sendable(token: &str) -> bool {
    !token.is_empty() && token.bytes().all(|byte| byte.is_ascii_graphic())
}

/// Seconds, as a number or as a text (B74). What is neither is not known.
fn lifetime(json: &str) -> Option<Duration> {
    let digits = json.strip_prefix('"').and_then(|rest| rest.strip_suffix('"')).unwrap_or(json);
    let seconds: f64 = digits.parse().ok().filter(|seconds: &f64| seconds.is_finite() && *seconds >= 0.0)?;
    // Whatever lives for more than a century has no end.
    (seconds < 4e9).then(|| Duration::from_secs_f64(seconds)).map(|life| Duration::from_secs(life.as_secs()))
}

impl Token {
    /// How it is used. A token that is bound although nobody proved anything is none of ours.
    pub(super) fn kind(&self, proved: bool, required: bool, config: &Config) -> Result<TokenType, Fault> {
        let name = self.token_type.as_deref();
        let is = |kind: &str| match name {
            Some(name) => name.eq_ignore_ascii_case(kind),
            // RFC 6749, 5.1, has no default.
            None => config.assume_bearer && kind == "Bearer",
        };
        let told = |expected: &'static str| {
            let found = name.map_or("none".into(), |name| alloc::format!("`{}`", excerpt(name)));
            Fault::new(FlowErrorKind::Token, expected, found)
        };
        match (proved, required) {
            (true, _) if is("DPoP") => Ok(TokenType::Dpop),
            (_, true) if config.require_dpop => {
                Err(told("the token type `DPoP`").setting("Config::require_dpop"))
            }
            (_, true) => Err(told("the token type `DPoP`, which the server demands")),
            (true, false) if is("Bearer") => Ok(TokenType::Bearer),
            (true, false) => Err(told("the token type `DPoP` or `Bearer`")),
            (false, false) if is("Bearer") => Ok(TokenType::Bearer),
            (false, false) if name.is_none() => {
                Err(told("the token type `Bearer`").setting("Config::assume_bearer"))
            }
            (false, false) => Err(told("the token type `Bearer`")),
        }
    }
}

/// The error in the body of an answer that means no.
pub(in crate::auth) fn denied(status: u16, body: &[u8], secrets: &[&str]) -> Fault {
    match serde_json::from_slice(body) {
        Ok(Denial { error: Some(error), error_description }) => {
            denial(&error, error_description.as_deref(), secrets)
        }
        _ => {
            let found = alloc::format!("HTTP status {status} without an OAuth error");
            Fault::new(FlowErrorKind::Token, "a token", found)
        }
    }
}

/// An OAuth error, with what is secret of its text taken out.
pub(in crate::auth) fn denial(error: &str, description: Option<&str>, secrets: &[&str]) -> Fault {
    let clean = |text: &str| {
        let mut text = String::from(text);
        for secret in secrets.iter().filter(|secret| secret.len() >= 4) {
            text = text.replace(secret, "..");
        }
        excerpt(&text)
    };
    let error = clean(error);
    let found = match description.map(clean) {
        Some(description) => alloc::format!("`{error}`: {description}"),
        None => alloc::format!("`{error}`"),
    };
    Fault::new(FlowErrorKind::Denied { error }, "a grant", found)
}
