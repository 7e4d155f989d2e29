//! Requests to the client on a byte stream: a line out, and some time later a line in.

use super::Output;
use super::link::Link;
use crate::model::input_required::InputRequest;
use crate::server::asks::{self, Answer, AskError, AskId, Asking, ClientResponse, Closed};
use crate::server::call::CallId;
use crate::server::notify;
use crate::time::{Duration, Instant, Now};

impl Link {
    pub(super) fn ask(
        &mut self,
        now: Now,
        call: CallId,
        request: &InputRequest,
        timeout: Option<Duration>,
    ) -> Result<AskId, AskError> {
        if self.deaf {
            return Err(AskError::Unreachable);
        }
        let revision = self.calls.get_mut(call).ok_or(AskError::Over)?.revision;
        let limits = &self.config.limits;
        let declared = self.session.as_ref().map(|session| &session.client.capabilities);
        let asking = Asking { now, call, revision, declared, stream: None, timeout, limits };
        let wire = self.asks.admit(&asking, request)?;
        if self.held() > limits.transmit {
            return Err(AskError::Full(crate::error::Full::new("transmit", limits.transmit)));
        }
        let out = self.transmit.buffer();
        asks::write(out, &wire, revision, request)?;
        out.push(b'\n');
        Ok(self.asks.begin(&asking, wire))
    }

    /// A response has come. `false` when nobody waits for it.
    pub(super) fn answered(&mut self, response: ClientResponse) -> bool {
        let Some(closed) = self.asks.answered(&response.request) else { return false };
        self.outputs.push_back(Output::Answered(closed.call, closed.id, response.outcome));
        true
    }

    /// Nobody waits for this answer any more.
    pub(super) fn retract(&mut self, ask: AskId) {
        if let Some(closed) = self.asks.retract(ask) {
            self.withdraw(&closed, asks::CALL_IS_OVER);
        }
    }

    /// What the client was sent to a page for is done.
    pub(super) fn complete_elicitation(&mut self, elicitation: &str) {
        let Some(session) = self.session.as_ref().filter(|session| session.knows_elicitations()) else {
            return;
        };
        let revision = session.revision;
        if self.held() > self.config.limits.transmit {
            return;
        }
        let out = self.transmit.buffer();
        if notify::elicitation_complete(elicitation, revision, out).is_ok() {
            out.push(b'\n');
        }
    }

    /// The call is over, and with it what it asked.
    pub(super) fn end_asks(&mut self, call: CallId) {
        while let Some(closed) = self.asks.of(call) {
            self.withdraw(&closed, asks::CALL_IS_OVER);
            self.outputs.push_back(Output::Answered(closed.call, closed.id, Answer(Err(AskError::Over))));
        }
    }

    /// Gives up on what has waited for too long.
    pub(super) fn expire_asks(&mut self, now: Instant) {
        while let Some(closed) = self.asks.due(now) {
            self.withdraw(&closed, asks::TOO_LATE);
            let error = AskError::TimedOut { after: closed.after };
            self.outputs.push_back(Output::Answered(closed.call, closed.id, Answer(Err(error))));
        }
    }

    /// No response can come any more.
    pub(super) fn go_deaf(&mut self) {
        self.deaf = true;
        while let Some(closed) = self.asks.pop() {
            self.outputs.push_back(Output::Answered(
                closed.call,
                closed.id,
                Answer(Err(AskError::Unreachable)),
            ));
        }
    }

    fn withdraw(&mut self, closed: &Closed, reason: &str) {
        let Some(session) = &self.session else { return };
        let revision = session.revision;
        let out = self.transmit.buffer();
        if notify::cancelled(&closed.wire, revision, Some(reason), out) {
            out.push(b'\n');
        }
    }
}
