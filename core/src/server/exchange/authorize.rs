//! Who makes the request, and what that lets it do. Asked before the body is judged.

use alloc::string::String;
use alloc::sync::Arc;
use alloc::vec::Vec;

use super::admit::Endpoint;
use super::{Exchange, ExchangeOutput, Stage};
use crate::dialect::Era;
use crate::head::RequestHead;
use crate::server::call::CallId;
use crate::server::principal::Principal;
use crate::server::refusal::Refusal;
use crate::server::resource_server::{self, Place};
use crate::server::target::Target;
use crate::server::token::{self, AuthRefusal, Credentials, Grant};
use crate::time::{Instant, Now};

/// How far it is known who makes the request.
#[derive(Debug)]
pub(super) enum Recognition {
    /// It is known, or nobody asks.
    Settled,
    /// The token is being checked.
    Waiting {
        until: Instant,
        /// The request is complete, and waits for that.
        complete: bool,
    },
}

impl Recognition {
    /// The request is complete. Whether it has to wait.
    pub(super) fn complete(&mut self) -> bool {
        match self {
            Self::Settled => false,
            Self::Waiting { complete, .. } => {
                *complete = true;
                true
            }
        }
    }

    pub(super) fn is_complete(&self) -> bool {
        matches!(self, Self::Waiting { complete: true, .. })
    }

    /// When it is given up.
    pub(super) fn until(&self) -> Option<Instant> {
        match self {
            Self::Settled => None,
            Self::Waiting { until, .. } => Some(*until),
        }
    }
}

impl Exchange {
    /// Asks who makes a request with this head, where that is needed and not known.
    pub(super) fn recognise(&mut self, now: Now, head: &RequestHead) -> Result<(), Refusal> {
        let Some(place) = self.place().filter(|_| self.principal.is_none()) else {
            return Ok(());
        };
        match token::read(&head.headers) {
            Credentials::None => Err(place.refuse(&AuthRefusal::Missing)),
            Credentials::Malformed => Err(resource_server::malformed(place)),
            Credentials::Bearer(token) => {
                let until = now.mono + self.config.limits.authentication;
                self.recognition = Recognition::Waiting { until, complete: false };
                self.outputs.push_back(ExchangeOutput::Authenticate(token));
                Ok(())
            }
        }
    }

    /// The token of [`ExchangeOutput::Authenticate`] is valid. It is refused nevertheless if it was not issued
    /// for this server (AUTHS-09), or has ended. Ignored if nobody waits for it.
    pub fn handle_grant(&mut self, now: Now, grant: Grant) {
        let admitted = match self.place() {
            Some(place) => place.admit(now, grant),
            None => return,
        };
        match admitted {
            Ok(principal) if self.is_waiting() => {
                self.principal = Some(principal);
                self.settle(now);
            }
            Ok(_) => {}
            Err(refusal) => self.handle_refusal(now, &refusal),
        }
    }

    /// The token is not valid, or could not be checked. Ignored if nobody waits for that.
    pub fn handle_refusal(&mut self, _now: Now, refusal: &AuthRefusal) {
        if self.is_waiting() {
            self.settle_with(refusal);
        }
    }

    /// The application has recognised who makes the request, by whatever means. Give it before the end of the
    /// body; calls carry it. A token that is being checked is not waited for any more.
    pub fn handle_principal(&mut self, now: Now, principal: Arc<Principal>) {
        self.principal = Some(self.widened(principal));
        if self.is_waiting() {
            self.outputs.retain(|output| !matches!(output, ExchangeOutput::Authenticate(_)));
            self.settle(now);
        }
    }

    /// What is protected at the endpoint that is asked: the streams of HTTP with SSE have a URL of their own, which is
    /// the only one that their clients know.
    fn place(&self) -> Option<Place<'_>> {
        let policy = &self.config.http;
        let server = policy.resource_server.as_ref()?;
        Some(match (&policy.http_sse, self.endpoint) {
            (Some(paths), Endpoint::Sse | Endpoint::Messages) => server.at(&paths.sse),
            _ => server.here(),
        })
    }

    /// The principal with what its scopes imply.
    pub(super) fn widened(&self, principal: Arc<Principal>) -> Arc<Principal> {
        match &self.config.http.resource_server {
            Some(server) => server.widen(principal),
            None => principal,
        }
    }

    /// The caller lacks scopes that the call turned out to need: all of those that it needs. Over HTTP the answer is
    /// 403 with a challenge, unless an event stream has begun.
    pub fn forbid(&mut self, now: Now, call: CallId, scopes: Vec<String>) {
        if let Stage::Connected(_) = &self.stage {
            self.on_connection(now, |connection| connection.forbid(now, call, scopes));
            return;
        }
        let refusal = resource_server::refuse(&AuthRefusal::InsufficientScope { scopes }, self.place());
        if self.calls.get_mut(call).is_some_and(|running| running.batch.is_none()) {
            self.reply.add(refusal.headers());
        }
        self.fail_with(now, call, &refusal.error(), Some(403));
    }

    fn is_waiting(&self) -> bool {
        matches!(self.stage, Stage::Body | Stage::Bare(_))
            && matches!(self.recognition, Recognition::Waiting { .. })
    }

    fn settle(&mut self, now: Now) {
        if let Recognition::Waiting { complete: true, .. } =
            core::mem::replace(&mut self.recognition, Recognition::Settled)
        {
            self.quiet_since = now.mono;
            self.complete();
        }
    }

    pub(super) fn settle_with(&mut self, refusal: &AuthRefusal) {
        self.recognition = Recognition::Settled;
        self.body = Vec::new();
        let refusal = resource_server::refuse(refusal, self.place());
        self.refuse(None, Era::Modern, &refusal);
    }

    /// Whether whoever makes the request may use this method, and what it names.
    pub(super) fn permit(&self, method: &str, target: Option<&Target>) -> Result<(), Refusal> {
        resource_server::permit(self.place(), self.principal.as_deref(), method, target)
    }
}
