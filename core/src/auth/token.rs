//! Token requests: who asks, for what, and what the answer is worth.
//!
//! <https://www.rfc-editor.org/rfc/rfc6749#section-5>

mod authentication;
mod response;

use alloc::boxed::Box;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

pub(super) use self::authentication::{credentials, method};
use self::response::Token;
pub(super) use self::response::{denial, denied};
use super::authorize::{self, Pending, joined};
use super::client::{AuthMethod, Registration};
use super::config::{AssertionFor, CrossApp, GrantType};
use super::error::{Fault, FlowError, FlowErrorKind};
use super::flow::{FORM, Flow, Response, Step, Waiting};
use super::grant::{Grant, TokenType};
use super::record::Stage;
use super::secret::Secret;
use super::server::Server;
use super::url::Url;
use super::{Scopes, form, reach};
use crate::time::Now;

const JWT_BEARER: &str = "urn:ietf:params:oauth:grant-type:jwt-bearer";
const TOKEN_EXCHANGE: &str = "urn:ietf:params:oauth:grant-type:token-exchange";
const ID_JAG: &str = "urn:ietf:params:oauth:token-type:id-jag";

/// One request to a token endpoint, ready to be sent again with a nonce.
pub(super) struct Call {
    endpoint: Url,
    issuer: String,
    registration: Option<Registration>,
    method: AuthMethod,
    form: Form,
    requested: Option<Scopes>,
    /// Where the token can be revoked.
    revocation: Option<String>,
    then: Then,
    /// Whether a proof goes with it.
    proves: bool,
    again: bool,
}

type Form = Vec<(&'static str, String)>;

/// What the answer is for.
enum Then {
    Grant,
    /// To take the place of this one.
    Renew(Box<Grant>),
    /// To be shown to the authorization server of the server that is accessed.
    Assert(Box<(Server, Registration)>),
}

/// Exchanges the code of an authorization response.
pub(super) fn redeem(flow: Box<Flow>, now: Now, pending: Pending, code: Secret) -> Result<Step, FlowError> {
    let Pending { server, registration, redirect_uri, scopes, verifier, .. } = pending;
    let form = alloc::vec![
        ("grant_type", "authorization_code".into()),
        ("code", code.as_str().into()),
        ("redirect_uri", redirect_uri),
        ("code_verifier", verifier.as_str().into()),
        ("resource", flow.resource.clone()),
    ];
    ask(flow, now, &server, Some(registration), form, scopes)
}

/// Asks without a user.
pub(super) fn start(
    flow: Box<Flow>,
    now: Now,
    server: Server,
    registration: Option<Registration>,
) -> Result<Step, FlowError> {
    match (flow.config.grant.clone(), registration) {
        (GrantType::CrossApp(cross), Some(registration)) => exchange(flow, now, &cross, server, registration),
        (GrantType::JwtBearer(source), registration) => {
            let wanted = AssertionFor { issuer: &server.issuer, resource: &flow.resource };
            let Some(assertion) = source(wanted) else { return Err(no_assertion(*flow)) };
            jwt_bearer(flow, now, &server, registration, &assertion)
        }
        (_, registration) => {
            let scopes = authorize::wanted(&flow, &server);
            let mut form: Form = alloc::vec![
                ("grant_type", "client_credentials".into()),
                ("resource", flow.resource.clone()),
            ];
            form.extend(scopes.as_ref().map(|scopes| ("scope", joined(scopes))));
            ask(flow, now, &server, registration, form, scopes)
        }
    }
}

fn no_assertion(flow: Flow) -> FlowError {
    flow.fail(
        Stage::Token,
        None,
        Fault::new(FlowErrorKind::Client, "an assertion", "none from the application"),
    )
}

/// RFC 7523 (AUTHX-18, AUTHX-28).
fn jwt_bearer(
    flow: Box<Flow>,
    now: Now,
    server: &Server,
    registration: Option<Registration>,
    assertion: &Secret,
) -> Result<Step, FlowError> {
    let scopes = authorize::wanted(&flow, server);
    let mut form: Form = alloc::vec![
        ("grant_type", JWT_BEARER.into()),
        ("assertion", assertion.as_str().into()),
        ("resource", flow.resource.clone()),
    ];
    form.extend(scopes.as_ref().map(|scopes| ("scope", joined(scopes))));
    ask(flow, now, server, registration, form, scopes)
}

/// RFC 8693: has the identity provider vouch for the user towards the authorization server (AUTHX-12 to AUTHX-16).
fn exchange(
    flow: Box<Flow>,
    now: Now,
    cross: &CrossApp,
    server: Server,
    registration: Registration,
) -> Result<Step, FlowError> {
    let endpoint = match reach::configured(&flow.config, &cross.token_endpoint, "a token endpoint") {
        Ok(endpoint) => endpoint,
        Err(fault) => return Err(flow.fail(Stage::Exchange, None, fault)),
    };
    let wanted = AssertionFor { issuer: &cross.issuer, resource: &flow.resource };
    let Some(subject) = (cross.subject_token)(wanted) else { return Err(no_assertion(*flow)) };
    let scopes = authorize::wanted(&flow, &server);
    let mut form: Form = alloc::vec![
        ("grant_type", TOKEN_EXCHANGE.into()),
        ("requested_token_type", ID_JAG.into()),
        ("audience", server.issuer.clone()),
        ("resource", flow.resource.clone()),
        ("subject_token", subject.as_str().into()),
        ("subject_token_type", cross.subject_token_type.as_str().into()),
    ];
    form.extend(scopes.as_ref().map(|scopes| ("scope", joined(scopes))));
    let method = match method(&flow.config, Some(&cross.client), None) {
        Ok(method) => method,
        Err(fault) => return Err(flow.fail(Stage::Exchange, Some(&endpoint), fault)),
    };
    let call = Call {
        endpoint,
        issuer: cross.issuer.clone(),
        registration: Some(cross.client.clone()),
        method,
        form,
        requested: scopes,
        revocation: None,
        then: Then::Assert(Box::new((server, registration))),
        proves: false,
        again: false,
    };
    call.send(flow, now)
}

/// Asks for another token with the refresh token of a grant.
pub(super) fn refresh(mut flow: Box<Flow>, now: Now, grant: Grant) -> Result<Step, FlowError> {
    const STAGE: Stage = Stage::Refresh;
    let Some(token) = &grant.refresh_token else {
        let fault = Fault::new(FlowErrorKind::Misuse, "a grant with a refresh token", "one without");
        return Err(flow.fail(STAGE, None, fault));
    };
    if !grant.is_for(&flow.server) {
        let fault = Fault::new(FlowErrorKind::Misuse, "a grant for this server", "one for another");
        return Err(flow.fail(STAGE, None, fault));
    }
    let endpoint = match reach::supplied(&flow.config, &flow.server, &grant.token_endpoint) {
        Ok(endpoint) => endpoint,
        Err(fault) => return Err(flow.fail(STAGE, None, fault)),
    };
    let registration = grant.registration_now(&flow.config);
    let method = match method(&flow.config, registration.as_ref(), None) {
        Ok(method) => method,
        Err(fault) => return Err(flow.fail(STAGE, Some(&endpoint), fault)),
    };
    flow.resource.clone_from(&grant.resource);
    let form = alloc::vec![
        ("grant_type", "refresh_token".into()),
        ("refresh_token", token.as_str().into()),
        ("resource", grant.resource.clone()),
    ];
    let call = Call {
        endpoint,
        issuer: grant.issuer.clone(),
        registration,
        method,
        form,
        requested: grant.requested.clone(),
        revocation: grant.revocation_endpoint.clone(),
        proves: flow.dpop.is_some() && grant.token_type == TokenType::Dpop,
        then: Then::Renew(Box::new(grant)),
        again: false,
    };
    call.send(flow, now)
}

fn ask(
    flow: Box<Flow>,
    now: Now,
    server: &Server,
    registration: Option<Registration>,
    form: Form,
    requested: Option<Scopes>,
) -> Result<Step, FlowError> {
    let method = method(&flow.config, registration.as_ref(), server.methods.as_deref());
    let method = match method {
        Ok(method) => method,
        Err(fault) => return Err(flow.fail(Stage::Token, Some(&server.token_endpoint), fault)),
    };
    let supported = |algorithm| server.dpop_algorithms.iter().any(|it| it == algorithm);
    let proves = flow.dpop.as_ref().is_some_and(|dpop| flow.require_dpop || supported(dpop.algorithm()));
    let call = Call {
        endpoint: server.token_endpoint.clone(),
        issuer: server.issuer.clone(),
        registration,
        method,
        form,
        requested,
        revocation: server.revocation_endpoint.as_ref().map(|url| url.as_str().into()),
        then: Then::Grant,
        proves,
        again: false,
    };
    call.send(flow, now)
}

impl Call {
    pub(super) fn stage(&self) -> Stage {
        match self.then {
            Then::Grant => Stage::Token,
            Then::Renew(_) => Stage::Refresh,
            Then::Assert(_) => Stage::Exchange,
        }
    }

    /// The identity provider is the application's own choice.
    pub(super) fn is_configured(&self) -> bool {
        matches!(self.then, Then::Assert(_))
    }

    fn send(self, mut flow: Box<Flow>, now: Now) -> Result<Step, FlowError> {
        let stage = self.stage();
        let endpoint = self.endpoint.clone();
        let proof = match flow.dpop.as_mut().filter(|_| self.proves) {
            Some(dpop) => dpop.proof(now, "POST", &endpoint, None).map(Some),
            None => Ok(None),
        };
        let credentials = credentials(&mut flow, now, &self.issuer, self.registration.as_ref(), self.method);
        let (proof, credentials) = match (proof, credentials) {
            (Ok(proof), Ok(credentials)) => (proof, credentials),
            (Err(fault), _) | (_, Err(fault)) => return Err(flow.fail(stage, Some(&endpoint), fault)),
        };
        let pairs = self.form.iter().chain(&credentials.form);
        let body = form::body(pairs.map(|(name, value)| (*name, value.as_str())));
        let waiting = Waiting::Token(Box::new(self));
        let mut step = flow.post(endpoint, FORM, body, waiting);
        if let Some(field) = &credentials.field {
            step = step.with_field("Authorization", field.as_str());
        }
        if let Some(proof) = &proof {
            step = step.with_field("DPoP", proof);
        }
        Ok(step)
    }

    pub(super) fn on_response(
        mut self: Box<Self>,
        mut flow: Box<Flow>,
        now: Now,
        url: &Url,
        response: Response<'_>,
    ) -> Result<Step, FlowError> {
        let stage = self.stage();
        let known = flow.dpop.as_ref().and_then(|dpop| dpop.nonce(url)).map(ToString::to_string);
        if let Some(dpop) = &mut flow.dpop {
            dpop.learn(url, &response.head.headers);
        }
        let fault = match response::read(response, &self.secrets()) {
            Ok(token) => match self.then {
                Then::Assert(target) => return assert(flow, now, url, *target, &token),
                _ => return self.finish(flow, now, url, token),
            },
            Err(fault) => fault,
        };
        // AUTHX-24: once, and only if the nonce is news.
        let wants = matches!(&fault.kind, FlowErrorKind::Denied { error } if error == "use_dpop_nonce");
        let fresh = flow.dpop.as_ref().and_then(|dpop| dpop.nonce(url)).map(ToString::to_string);
        if wants && self.proves && !self.again && fresh.is_some() && fresh != known {
            flow.record.add(stage, Some(url), "wants a nonce in the proof; asked again with one");
            self.again = true;
            return self.send(flow, now);
        }
        Err(flow.fail(stage, Some(url), fault))
    }

    /// What the authorization server may repeat in its answer, and is not for errors.
    fn secrets(&self) -> Vec<&str> {
        let hidden = ["code", "code_verifier", "refresh_token", "assertion", "subject_token"];
        let in_form =
            self.form.iter().filter(|(name, _)| hidden.contains(name)).map(|(_, value)| value.as_str());
        let secret = self.registration.iter().flat_map(|registration| &registration.secret);
        in_form.chain(secret.map(Secret::as_str)).collect()
    }

    fn finish(
        self: Box<Self>,
        mut flow: Box<Flow>,
        now: Now,
        url: &Url,
        token: Token,
    ) -> Result<Step, FlowError> {
        let stage = self.stage();
        let token_type = match token.kind(self.proves, flow.require_dpop, &flow.config) {
            Ok(token_type) => token_type,
            Err(fault) => return Err(flow.fail(stage, Some(url), fault)),
        };
        flow.record.add(stage, Some(url), "a token");
        let renewed = match self.then {
            Then::Renew(grant) => Some(grant),
            _ => None,
        };
        let before = renewed.as_ref();
        let registration =
            self.registration.map(|registration| Registration { method: Some(self.method), ..registration });
        let grant = Grant {
            issuer: self.issuer,
            resource: flow.resource,
            registration,
            access_token: token.access_token,
            token_type,
            issued: now.unix,
            expires: token.expires_in.map(|life| now.unix.saturating_add(life)),
            // An authorization server that does not rotate them sends it once (RFC 6749, 6).
            refresh_token: token
                .refresh_token
                .or_else(|| before.and_then(|grant| grant.refresh_token.clone())),
            scopes: token
                .scopes
                .or_else(|| before.and_then(|grant| grant.scopes.clone()))
                .or_else(|| self.requested.clone()),
            requested: self.requested,
            token_endpoint: String::from(self.endpoint.as_str()),
            revocation_endpoint: self.revocation,
            record: flow.record,
        };
        Ok(Step::Done(Box::new(grant)))
    }
}

/// What the identity provider gave is no token, but an assertion for the authorization server (AUTHX-17).
fn assert(
    mut flow: Box<Flow>,
    now: Now,
    url: &Url,
    (server, registration): (Server, Registration),
    token: &Token,
) -> Result<Step, FlowError> {
    let issued = token.issued_token_type.as_deref();
    let plain = token.token_type.as_deref().is_some_and(|kind| kind.eq_ignore_ascii_case("N_A"));
    if issued != Some(ID_JAG) || !plain {
        let fault = Fault::new(FlowErrorKind::Token, "an ID-JAG (`N_A`)", "a token of another type");
        return Err(flow.fail(Stage::Exchange, Some(url), fault));
    }
    flow.record.add(Stage::Exchange, Some(url), "an identity assertion");
    jwt_bearer(flow, now, &server, Some(registration), &token.access_token)
}
