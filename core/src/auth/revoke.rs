//! Giving tokens back: what a client does when its user signs out.
//!
//! <https://www.rfc-editor.org/rfc/rfc7009>

use alloc::boxed::Box;
use alloc::string::String;
use alloc::sync::Arc;
use alloc::vec::Vec;
use core::fmt;

use super::client::{AuthMethod, Registration};
use super::config::Config;
use super::error::{Fault, FlowError, FlowErrorKind};
use super::flow::{Flow, Request, Response, failed, unavailable};
use super::grant::Grant;
use super::record::{Record, Stage};
use super::secret::Secret;
use super::token::{credentials, denied, method};
use super::url::Url;
use super::{challenge::Refusal, form, reach};
use crate::entropy::Seed;
use crate::time::Now;

const STAGE: Stage = Stage::Revocation;

/// What the revocation of a grant needs next.
#[must_use = "tokens are revoked only if each step is done"]
#[derive(Debug)]
pub enum Revocation {
    /// Send this request, follow no redirect, and hand in what came.
    Fetch(Request, AwaitRevocation),
    /// The tokens are of no use to anybody. This is what was done for it.
    Done(Record),
}

/// A revocation that waits for the response to its request.
#[must_use = "tokens are revoked only if the response is handed in"]
pub struct AwaitRevocation {
    flow: Box<Flow>,
    endpoint: Url,
    issuer: String,
    registration: Option<Registration>,
    method: AuthMethod,
    token: Token,
    /// What else is to be revoked, the next one last.
    further: Vec<Token>,
}

/// A token, and what the authorization server calls its kind.
struct Token {
    kind: &'static str,
    secret: Secret,
}

impl Config {
    /// Begins to revoke the tokens of a grant: the refresh token, and then the access token. Forget the grant whatever
    /// comes of it.
    ///
    /// # Errors
    ///
    /// If the authorization server has named no place for that, in the metadata that the grant came with: then the
    /// tokens end by themselves. If the grant is for another server.
    pub fn revoke(
        self: &Arc<Self>,
        now: Now,
        seed: Seed,
        server: &str,
        grant: &Grant,
    ) -> Result<Revocation, FlowError> {
        let flow = Flow::new(self, seed, server, Refusal::new(), None)?;
        if !grant.is_for(&flow.server) {
            let fault = Fault::new(FlowErrorKind::Misuse, "a grant for this server", "one for another");
            return Err(flow.fail(STAGE, None, fault));
        }
        let Some(endpoint) = &grant.revocation_endpoint else {
            let fault = Fault::new(FlowErrorKind::Metadata, "a revocation endpoint", "none");
            return Err(flow.fail(STAGE, None, fault));
        };
        let endpoint = match reach::supplied(self, &flow.server, endpoint) {
            Ok(endpoint) => endpoint,
            Err(fault) => return Err(flow.fail(STAGE, None, fault)),
        };
        let registration = grant.registration_now(self);
        let method = match method(self, registration.as_ref(), None) {
            Ok(method) => method,
            Err(fault) => return Err(flow.fail(STAGE, Some(&endpoint), fault)),
        };
        let access = Token { kind: "access_token", secret: grant.access_token.clone() };
        let refresh = grant.refresh_token.clone();
        let refresh = refresh.map(|secret| Token { kind: "refresh_token", secret });
        let (token, further) = match refresh {
            Some(refresh) => (refresh, Vec::from([access])),
            None => (access, Vec::new()),
        };
        let issuer = grant.issuer.clone();
        AwaitRevocation { flow, endpoint, issuer, registration, method, token, further }.send(now)
    }
}

impl AwaitRevocation {
    fn send(mut self, now: Now) -> Result<Revocation, FlowError> {
        let registration = self.registration.as_ref();
        let credentials = match credentials(&mut self.flow, now, &self.issuer, registration, self.method) {
            Ok(credentials) => credentials,
            Err(fault) => return Err(self.flow.fail(STAGE, Some(&self.endpoint), fault)),
        };
        let token = [("token", self.token.secret.as_str()), ("token_type_hint", self.token.kind)];
        let further = credentials.form.iter().map(|(name, value)| (*name, value.as_str()));
        let body = form::body(token.into_iter().chain(further));
        let mut request = self.flow.form(&self.endpoint, body);
        if let Some(field) = &credentials.field {
            request.head.headers.push("Authorization", field.as_str());
        }
        Ok(Revocation::Fetch(request, self))
    }

    /// Takes the response in.
    ///
    /// # Errors
    ///
    /// If the authorization server did not revoke the token.
    pub fn on_response(mut self, now: Now, response: Response<'_>) -> Result<Revocation, FlowError> {
        let status = response.head.status;
        if unavailable(status) {
            return Err(self.flow.fail(STAGE, Some(&self.endpoint), failed(status)));
        }
        let mut outcome = "revoked";
        if !(200..=299).contains(&status) {
            let secret = self.registration.iter().flat_map(|registration| &registration.secret);
            let secrets: Vec<&str> = secret.chain([&self.token.secret]).map(Secret::as_str).collect();
            let fault = denied(status, response.body, &secrets);
            let unsupported =
                matches!(&fault.kind, FlowErrorKind::Denied { error } if error == "unsupported_token_type");
            // Some can take back refresh tokens alone (RFC 7009, 2.2.1): without one the rest ends by itself.
            if !unsupported || self.token.kind != "access_token" {
                return Err(self.flow.fail(STAGE, Some(&self.endpoint), fault));
            }
            outcome = "cannot be revoked, and ends by itself";
        }
        let said = alloc::format!("the {}: {outcome}", self.token.kind.replace('_', " "));
        self.flow.record.add(STAGE, Some(&self.endpoint), said);
        match self.further.pop() {
            Some(token) => {
                self.token = token;
                self.send(now)
            }
            None => Ok(Revocation::Done(self.flow.record)),
        }
    }

    /// Nothing could be sent, or no whole response came.
    pub fn on_failure(self, reason: &str) -> FlowError {
        let found = crate::text::excerpt(reason);
        let fault = Fault::new(FlowErrorKind::Unreachable, "a response", found);
        self.flow.fail(STAGE, Some(&self.endpoint), fault)
    }
}

impl fmt::Debug for AwaitRevocation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "AwaitRevocation({:?}, {} more)", self.endpoint, self.further.len())
    }
}
