//! Between the handshake and the first call.

use super::{Connection, State};
use crate::client::call::Discover;
use crate::client::calls::{CallId, Reply};
use crate::error::CallError;
use crate::time::Instant;

impl Connection {
    /// Tells the server what it has to know before any call.
    pub(super) fn prepare(&mut self, now: Instant) {
        self.state = State::Preparing;
        if let Some((level, options)) = self.link.level_to_tell()
            && let Some(envelope) = self.link.envelope.take()
        {
            // A level always serializes.
            if let Ok(call) = self.link.begin(now, &level, options, &envelope, &mut self.out) {
                self.out.push(b'\n');
                self.link.telling_level(call);
            }
            self.link.envelope = Some(envelope);
        }
        self.prepared(now);
    }

    /// If the server knows that, calls may go out.
    pub(super) fn prepared(&mut self, now: Instant) {
        if matches!(self.state, State::Preparing) && self.link.level.told_by().is_none() {
            self.state = State::Open;
            self.launch(now);
            self.link.hears();
            self.link.resume_listening();
        }
        if matches!(self.state, State::Open) && self.link.discovery.take_due() {
            self.launch(now);
        }
    }

    /// Asks the server to introduce itself again; what waits is judged then.
    pub(super) fn rediscover(&mut self, now: Instant) {
        if self.link.discovery.asked_by().is_some() {
            return;
        }
        let Some(envelope) = self.link.envelope.take() else { return };
        let options = self.link.asking_again();
        let begun = self.link.begin(now, &Discover, options, &envelope, &mut self.out);
        self.link.envelope = Some(envelope);
        match begun {
            Ok(call) => {
                self.out.push(b'\n');
                self.link.asks_again(call);
            }
            // It always serializes.
            Err(_) => self.launch(now),
        }
    }

    /// Ends a call.
    pub(super) fn settle(&mut self, now: Instant, call: CallId, outcome: Result<Reply, CallError>) {
        if !self.link.outlasts(now, call, &outcome) {
            self.link.settle(call, outcome);
        }
        self.prepared(now);
    }

    /// Whether the handshake is over on both sides.
    pub(super) const fn is_open(&self) -> bool {
        matches!(self.state, State::Preparing | State::Open)
    }
}
