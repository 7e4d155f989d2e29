//! A flow on its way from step to step, and what every step has in common.

use alloc::boxed::Box;
use alloc::string::String;
use alloc::sync::Arc;
use alloc::vec::Vec;
use core::fmt;

use super::challenge::Refusal;
use super::config::Config;
use super::dpop::Dpop;
use super::error::{Fault, FlowError, FlowErrorKind};
use super::grant::Grant;
use super::record::{Record, Stage};
use super::url::Url;
use super::{Scopes, authorize, client, reach, resource, server, token};
use crate::entropy::{Entropy, Seed};
use crate::head::{RequestHead, ResponseHead};
use crate::time::Now;

/// The media type of what token and revocation endpoints are asked with.
pub(super) const FORM: &str = "application/x-www-form-urlencoded";

/// What a flow needs next.
#[must_use = "a flow goes on only if its step is done"]
#[derive(Debug)]
pub enum Step {
    /// Send this request, follow no redirect, and hand in what came.
    Fetch(Request, AwaitResponse),
    /// Let the user visit this URL in a browser ([`Url::as_str`]; never by way of a shell, SEC-08), and hand in
    /// the URL that the browser is sent back to.
    Visit(Url, AwaitRedirect),
    /// There is a token. Keep it: it is all that has to be stored.
    Done(Box<Grant>),
}

/// A request of a flow, whole.
#[derive(Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Request {
    /// Where it goes.
    pub url: Url,
    /// Whether the application has configured this origin itself. Where it has not, whoever resolves the name and
    /// can be reached by others should refuse addresses of private networks ([`Network::of`](super::Network::of)).
    pub configured: bool,
    /// Method, target and fields. `Host` is among them, `Content-Length` is not.
    pub head: RequestHead,
    /// The body; empty for GET.
    pub body: Vec<u8>,
}

/// Prints what it is, and neither query, fields nor body: they hold secrets.
impl fmt::Debug for Request {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Request({} {:?}, {} bytes)", self.head.method, self.url, self.body.len())
    }
}

/// A whole response.
#[derive(Clone, Copy)]
pub struct Response<'a> {
    /// Status and fields.
    pub head: &'a ResponseHead,
    /// The body, decoded. More than [`Limits::auth_document`](crate::limits::Limits::auth_document) need not be
    /// read: it will be refused.
    pub body: &'a [u8],
}

/// A flow that waits for the response to its request.
#[must_use = "a flow goes on only if its response is handed in"]
pub struct AwaitResponse {
    flow: Box<Flow>,
    url: Url,
    waiting: Waiting,
}

/// What the response is for, with what is known by then.
pub(super) enum Waiting {
    Resource(resource::Search),
    Server(server::Search),
    Registration(Box<client::Registering>),
    Token(Box<token::Call>),
}

impl AwaitResponse {
    /// Takes the response in.
    ///
    /// # Errors
    ///
    /// If the flow cannot go on; the error says why, and what was tried before.
    pub fn on_response(self, now: Now, response: Response<'_>) -> Result<Step, FlowError> {
        let Self { flow, url, waiting } = self;
        let stage = waiting.stage();
        let limit = flow.config.limits.auth_document;
        if response.body.len() > limit {
            let fault = Fault::new(
                FlowErrorKind::Metadata,
                alloc::format!("at most {limit} bytes"),
                alloc::format!("{}", response.body.len()),
            );
            return Err(flow.fail(stage, Some(&url), fault.setting("Limits::auth_document")));
        }
        match waiting {
            Waiting::Resource(search) => search.on_response(flow, now, &url, response),
            Waiting::Server(search) => search.on_response(flow, now, &url, response),
            Waiting::Registration(registering) => registering.on_response(flow, now, &url, response),
            Waiting::Token(call) => call.on_response(flow, now, &url, response),
        }
    }

    /// Nothing could be sent, or no whole response came. The flow ends: that a server cannot be reached says
    /// nothing about what it has (B71).
    pub fn on_failure(self, reason: &str) -> FlowError {
        let Self { flow, url, waiting } = self;
        let found = crate::text::excerpt(reason);
        flow.fail(waiting.stage(), Some(&url), Fault::new(FlowErrorKind::Unreachable, "a response", found))
    }

    /// What the flow did so far.
    pub fn record(&self) -> &Record {
        &self.flow.record
    }
}

impl fmt::Debug for AwaitResponse {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "AwaitResponse({}, {:?})", self.waiting.stage(), self.url)
    }
}

impl Waiting {
    fn stage(&self) -> Stage {
        match self {
            Self::Resource(_) => Stage::ResourceMetadata,
            Self::Server(_) => Stage::ServerMetadata,
            Self::Registration(_) => Stage::Registration,
            Self::Token(call) => call.stage(),
        }
    }
}

/// A flow that waits for the user to come back.
#[must_use = "a flow goes on only if its redirect is handed in"]
pub struct AwaitRedirect {
    pub(super) flow: Box<Flow>,
    pub(super) pending: Box<authorize::Pending>,
}

impl AwaitRedirect {
    /// Whether a URL is that of the answer to this flow, by its `state`: whoever listens can let all others pass by.
    /// [`answer`](Self::answer) does so for requests.
    pub fn recognises(&self, url: &str) -> bool {
        self.pending.recognises(url)
    }

    /// Takes in the URL that the user was sent back to, or as much of it as is known: at least its query, with the
    /// question mark.
    ///
    /// # Errors
    ///
    /// If the user or the authorization server refused, or if the response cannot be trusted. Then nothing of
    /// it was sent anywhere (AUTH-49).
    pub fn on_redirect(self, now: Now, url: &str) -> Result<Step, FlowError> {
        self.pending.on_redirect(self.flow, now, url)
    }

    /// The user does not come back: closed the browser, or takes too long.
    pub fn on_failure(self, reason: &str) -> FlowError {
        let found = crate::text::excerpt(reason);
        self.flow.fail(Stage::Redirect, None, Fault::new(FlowErrorKind::Redirect, "the user", found))
    }

    /// What the flow did so far.
    pub fn record(&self) -> &Record {
        &self.flow.record
    }
}

impl fmt::Debug for AwaitRedirect {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("AwaitRedirect(..)")
    }
}

/// What every step knows.
pub(super) struct Flow {
    pub(super) config: Arc<Config>,
    /// The server that is accessed.
    pub(super) server: Url,
    pub(super) refusal: Refusal,
    pub(super) previous: Option<Box<Grant>>,
    /// What tokens are asked for, as the metadata spells it.
    pub(super) resource: String,
    /// The scopes that the metadata of the resource lists.
    pub(super) supported: Option<Scopes>,
    pub(super) dpop: Option<Dpop>,
    /// Whether a token that is not bound is of no use, to us or to the server.
    pub(super) require_dpop: bool,
    pub(super) entropy: Entropy,
    pub(super) record: Record,
}

impl Config {
    /// Begins to get a token for `server`, which has refused a request.
    ///
    /// `previous` is the grant for this server that there was, even if it is of no use any more: the scopes that it
    /// had are asked for again (AUTH-63), and a client that has registered itself does not do so twice. The seed is
    /// for what nobody may guess; never hand in one twice.
    ///
    /// # Errors
    ///
    /// If the URL of the server cannot be used.
    pub fn authorize(
        self: &Arc<Self>,
        now: Now,
        seed: Seed,
        server: &str,
        refusal: Refusal,
        previous: Option<Grant>,
    ) -> Result<Step, FlowError> {
        let flow = Flow::new(self, seed, server, refusal, previous)?;
        resource::start(flow, now)
    }

    /// Begins to get another token with the refresh token of a grant (B75).
    ///
    /// An error that [is transient](FlowError::is_transient) leaves the grant as good as it was. With
    /// `invalid_grant` somebody else may have refreshed it meanwhile: read it again from where it is stored before
    /// asking the user.
    ///
    /// # Errors
    ///
    /// If the grant has no refresh token, or is for another server.
    pub fn refresh(
        self: &Arc<Self>,
        now: Now,
        seed: Seed,
        server: &str,
        grant: Grant,
    ) -> Result<Step, FlowError> {
        let flow = Flow::new(self, seed, server, Refusal::new(), None)?;
        token::refresh(flow, now, grant)
    }
}

impl Flow {
    pub(super) fn new(
        config: &Arc<Config>,
        seed: Seed,
        server: &str,
        refusal: Refusal,
        previous: Option<Grant>,
    ) -> Result<Box<Self>, FlowError> {
        let url = match reach::configured(config, server, "the URL of the server") {
            Ok(url) => url,
            Err(fault) => return Err(FlowError::new(Stage::Start, None, fault, Record::default())),
        };
        let mut entropy = Entropy::new(seed);
        let dpop = config.dpop.clone().map(|signer| Dpop::new(signer, Seed::new(entropy.next())));
        Ok(Box::new(Self {
            config: config.clone(),
            server: url,
            refusal,
            previous: previous.map(Box::new),
            resource: String::new(),
            supported: None,
            dpop,
            require_dpop: config.require_dpop,
            entropy,
            record: Record::default(),
        }))
    }

    pub(super) fn fail(self, stage: Stage, url: Option<&Url>, fault: Fault) -> FlowError {
        FlowError::new(stage, url.map(|url| url.without_query().into()), fault, self.record)
    }

    /// Whether the application has configured the origin.
    fn is_configured(&self, url: &Url) -> bool {
        url.is_same_origin(&self.server)
    }

    /// Asks for a JSON document.
    pub(super) fn get(self: Box<Self>, url: Url, waiting: Waiting) -> Step {
        let mut head = RequestHead::new("GET", url.target());
        head.headers.push("Host", url.authority());
        head.headers.push("Accept", "application/json");
        head.headers.push("MCP-Protocol-Version", self.config.revision.as_str());
        self.fetch(url, head, Vec::new(), waiting)
    }

    pub(super) fn post(
        self: Box<Self>,
        url: Url,
        content_type: &str,
        body: String,
        waiting: Waiting,
    ) -> Step {
        let head = posting(&url, content_type);
        self.fetch(url, head, body.into_bytes(), waiting)
    }

    /// A request with a form, for who waits for its response by itself.
    pub(super) fn form(&self, url: &Url, body: String) -> Request {
        Request {
            url: url.clone(),
            configured: self.is_configured(url),
            head: posting(url, FORM),
            body: body.into_bytes(),
        }
    }

    fn fetch(self: Box<Self>, url: Url, head: RequestHead, body: Vec<u8>, waiting: Waiting) -> Step {
        let configured = self.is_configured(&url) || waiting.is_configured();
        let request = Request { url: url.clone(), configured, head, body };
        Step::Fetch(request, AwaitResponse { flow: self, url, waiting })
    }
}

fn posting(url: &Url, content_type: &str) -> RequestHead {
    let mut head = RequestHead::new("POST", url.target());
    head.headers.push("Host", url.authority());
    head.headers.push("Accept", "application/json");
    head.headers.push("Content-Type", content_type);
    head
}

impl Waiting {
    fn is_configured(&self) -> bool {
        matches!(self, Self::Token(call) if call.is_configured())
    }
}

impl Step {
    /// Adds a field to the request, where it is one.
    pub(super) fn with_field(mut self, name: &str, value: &str) -> Self {
        if let Self::Fetch(request, _) = &mut self {
            request.head.headers.push(name, value);
        }
        self
    }
}

/// What a response to a request for metadata is.
pub(super) enum Document<'a> {
    Body(&'a [u8]),
    /// Not here; maybe elsewhere. Says why.
    Absent(String),
}

/// B71: what a client did wrong, and what a gateway has nobody for, is not here; a server that fails may have it.
pub(super) fn document(response: Response<'_>) -> Result<Document<'_>, Fault> {
    match response.head.status {
        200..=299 => Ok(Document::Body(response.body)),
        300..=399 => Ok(Document::Absent("a redirect, which is not followed".into())),
        status if unavailable(status) && status != 502 => Err(failed(status)),
        status => Ok(Document::Absent(alloc::format!("HTTP status {status}"))),
    }
}

pub(super) fn unavailable(status: u16) -> bool {
    matches!(status, 429 | 500..)
}

pub(super) fn failed(status: u16) -> Fault {
    let found = alloc::format!("HTTP status {status}");
    Fault::new(FlowErrorKind::Unavailable { status }, "an answer", found)
}
