//! Requests to a legacy client on the stream that its call will be answered on (HTTPL-16). Responses come in
//! exchanges of their own.

use super::{Exchange, ExchangeOutput, Stage};
use crate::diagnostic::Diagnostic;
use crate::error::Full;
use crate::model::input_required::InputRequest;
use crate::server::asks::{self, Answer, AskError, AskId, Asking, ClientResponse, Closed};
use crate::server::call::CallId;
use crate::server::notify;
use crate::server::session::SessionState;
use crate::server::sessions::SessionId;
use crate::time::{Duration, Now};

impl Exchange {
    /// Asks the client for something in the middle of a call: its user, its model or its roots.
    ///
    /// Only in revisions with a handshake, and only what the client declared. Comes to an end exactly once, by
    /// [`ExchangeOutput::Answered`], unless [`retract`](Self::retract) takes it back: with the result of the
    /// client, or with an error when there is none within `timeout`
    /// ([`Limits::ask`](crate::limits::Limits::ask) if none is given), when the call is over, and when the
    /// client leaves.
    ///
    /// # Errors
    /// When it cannot be asked; then nothing was sent.
    ///
    /// <https://modelcontextprotocol.io/specification/2025-11-25/basic/transports#sending-messages-to-the-server>
    pub fn ask(
        &mut self,
        now: Now,
        call: CallId,
        request: &InputRequest,
        timeout: Option<Duration>,
    ) -> Result<AskId, AskError> {
        if let Some(asked) = self.on_connection(now, |connection| connection.ask(now, call, request, timeout))
        {
            return asked;
        }
        let revision = self.calls.get_mut(call).ok_or(AskError::Over)?.revision;
        let full = self.is_full();
        let limits = &self.config.limits;
        // Without a session no response could find its way back. What a client has declared is of no use then.
        let declared = self.state.as_ref().filter(|_| self.may_ask());
        let declared = declared.map(|state| &state.client.capabilities);
        let stream = self.stream;
        let asking = Asking { now, call, revision, declared, stream, timeout, limits };
        let wire = self.asks.admit(&asking, request)?;
        if full {
            return Err(AskError::Full(Full::new("transmit", limits.transmit)));
        }
        let mut written = Ok(());
        let head = self.reply.notification(|out| {
            written = asks::write(out, &wire, revision, request);
            written.is_ok()
        });
        written?;
        let ask = self.asks.begin(&asking, wire);
        self.reported(now, head);
        Ok(ask)
    }

    /// Whether there is a way to ask the client of a legacy call anything.
    pub fn may_ask(&self) -> bool {
        matches!(self.stage, Stage::Connected(_)) || self.session.is_some() && self.reply.may_stream()
    }

    /// The application does not wait for this answer any more. The client is told; there will be no
    /// [`ExchangeOutput::Answered`].
    pub fn retract(&mut self, now: Now, ask: AskId) {
        if self.on_connection(now, |connection| connection.retract(now, ask)).is_some() {
            return;
        }
        if let Some(closed) = self.asks.retract(ask) {
            self.withdraw(&closed, asks::CALL_IS_OVER);
        }
    }

    /// What the client was sent to a page for is done: tells it so on the stream of the call that asked. Whether it
    /// did: the call may be over, or have no stream, or the client does not hear of such ends. Then there is still
    /// [`Sessions::complete_elicitation`](crate::server::Sessions::complete_elicitation) for its
    /// [`session`](Self::session).
    ///
    /// <https://modelcontextprotocol.io/specification/2025-11-25/client/elicitation#completion-notifications-for-url-mode-elicitation>
    pub fn complete_elicitation(&mut self, now: Now, call: CallId, elicitation: &str) -> bool {
        let on_connection =
            self.on_connection(now, |connection| connection.complete_elicitation(now, elicitation));
        if on_connection.is_some() {
            return true;
        }
        let knows = self.state.as_ref().is_some_and(SessionState::knows_elicitations);
        if !knows || self.is_full() || !self.reply.may_stream() {
            return false;
        }
        let Some(running) = self.calls.get_mut(call) else { return false };
        let revision = running.revision;
        let head =
            self.reply.notification(|out| notify::elicitation_complete(elicitation, revision, out).is_ok());
        self.reported(now, head);
        true
    }

    /// The session that the request belongs to, once it is known to be there.
    pub fn session(&self) -> Option<&SessionId> {
        self.session.as_ref().filter(|_| self.state.is_some())
    }

    /// A response has come through another exchange of the session; see
    /// [`SessionOutput::Answer`](super::super::SessionOutput::Answer).
    pub fn handle_answer(&mut self, _now: Now, response: ClientResponse) {
        match self.asks.answered(&response.request) {
            Some(closed) => {
                let answered = ExchangeOutput::Answered(closed.call, closed.id, response.outcome);
                self.outputs.push_back(answered);
            }
            // It came too late, or twice.
            None if matches!(self.stage, Stage::Running) => {
                self.diagnose(unexpected().request(&response.request))
            }
            None => {}
        }
    }

    /// The call is over, and with it what it asked.
    pub(super) fn end_asks(&mut self, call: CallId) {
        while let Some(closed) = self.asks.of(call) {
            self.withdraw(&closed, asks::CALL_IS_OVER);
            self.outputs.push_back(ExchangeOutput::Answered(
                closed.call,
                closed.id,
                Answer(Err(AskError::Over)),
            ));
        }
    }

    /// Gives up on what has waited for too long.
    pub(super) fn expire_asks(&mut self, now: Now) {
        while let Some(closed) = self.asks.due(now.mono) {
            self.withdraw(&closed, asks::TOO_LATE);
            let error = AskError::TimedOut { after: closed.after };
            self.outputs.push_back(ExchangeOutput::Answered(closed.call, closed.id, Answer(Err(error))));
        }
    }

    /// The client does not see what is asked any more.
    pub(super) fn strand_asks(&mut self) {
        while let Some(closed) = self.asks.pop() {
            self.outputs.push_back(ExchangeOutput::Answered(
                closed.call,
                closed.id,
                Answer(Err(AskError::Unreachable)),
            ));
        }
    }

    fn withdraw(&mut self, closed: &Closed, reason: &str) {
        let Some(state) = &self.state else { return };
        let revision = state.revision;
        let wrote = |out: &mut _| notify::cancelled(&closed.wire, revision, Some(reason), out);
        let head = self.reply.notification(wrote);
        self.outputs.extend(head);
    }
}

/// A response that answers nothing.
pub(super) fn unexpected() -> Diagnostic {
    Diagnostic::new("jsonrpc", "expected no response to this request, found one")
}
