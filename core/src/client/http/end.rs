//! How it ends.

use super::exchange::Purpose;
use super::{Http, HttpRequest, State};
use crate::client::request;
use crate::error::CallError;
use crate::time::{Duration, Now};
use alloc::vec::Vec;

/// How long the end of a session is waited for.
const FAREWELL: Duration = Duration::from_secs(2);

impl Http {
    /// Ends it: calls under way settle as broken, and a legacy session is deleted (HTTPL-51).
    /// [`Event::Closed`](crate::client::Event::Closed) comes when the server has answered that, or did not in two seconds.
    pub fn close(&mut self, now: Now) {
        if matches!(self.state, State::Closed | State::Ending { .. }) {
            return;
        }
        let reason = "the client was closed".into();
        let error = CallError::Broken { reason, unsent: false };
        self.drop_all();
        self.link.end_listening(&error);
        self.link.settle_all(&error);
        self.link.drop_requests();
        if self.session.is_none() {
            return self.finish(error);
        }
        let revision = self.link.envelope.as_ref().map(request::Envelope::revision);
        let head = self.plain_head("DELETE", revision);
        self.send(Purpose::Delete, HttpRequest { head, body: Vec::new() }, revision);
        self.state = State::Ending { deadline: now.mono + FAREWELL, error };
    }

    pub(super) fn finish(&mut self, error: CallError) {
        self.drop_all();
        self.state = State::Closed;
        self.session = None;
        self.link.close(error);
    }

    /// The server has ended the session, or will not say so.
    pub(super) fn ended(&mut self) {
        if let State::Ending { error, .. } = &self.state {
            let error = error.clone();
            self.finish(error);
        }
    }
}
