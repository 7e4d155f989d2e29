//! Answers to what the server asks, and calls that are made again with them.

use super::exchange::Purpose;
use super::resume::DEFAULT_RETRY;
use super::{Http, State};
use crate::client::answer::{InputResponse, Refusal};
use crate::client::asks::{Answered, AskId, Asker};
use crate::client::calls::{CallId, timed_out};
use crate::client::connection::unserializable;
use crate::client::continuation::Unmet;
use crate::client::link;
use crate::error::{ApiMisuse, CallError};
use crate::model::logging::LoggingLevel;
use crate::time::{Instant, Now};
use alloc::vec::Vec;

impl Http {
    /// Answers what the server asked. Nothing happens when nobody waits for it any more.
    ///
    /// # Errors
    ///
    /// When the answer is none to what was asked, or does not fit it. Nothing was sent then, and the server still
    /// waits.
    pub fn answer(
        &mut self,
        now: Now,
        ask: AskId,
        answer: Result<InputResponse, Refusal>,
    ) -> Result<(), ApiMisuse> {
        match self.link.answer(now.mono, ask, answer)? {
            Some(Answered::Reply(message, to)) => self.reply(now.mono, message, Some(ask), to),
            Some(Answered::Again(call)) => self.again(now.mono, call),
            None => {}
        }
        Ok(())
    }

    /// Makes a call again at once that waits for something that happens elsewhere
    /// ([`Event::Waiting`](crate::client::Event::Waiting)).
    pub fn retry(&mut self, now: Now, call: CallId) {
        self.again(now.mono, call);
    }

    /// Ends a call that waits for input, with [`CallError::InputRequired`](crate::error::CallError::InputRequired),
    /// from which it can be gone on with.
    pub fn stop(&mut self, now: Now, call: CallId) {
        if self.link.pursues(call) {
            self.stop_asking(now.mono, call);
        }
        self.link.give_up(call, Unmet::Stopped);
    }

    /// The roots have changed: a legacy server is told so, if `roots.listChanged` was declared.
    pub fn roots_changed(&mut self, now: Now) {
        match self.state {
            State::Open => self.tell_roots(now.mono),
            // The server has to know first that the handshake is over.
            State::Announcing { .. } | State::Preparing { .. } => self.roots_news = true,
            _ => {}
        }
    }

    /// Log messages from `level` on are wanted from now on. A modern server is asked for them with each request; a legacy
    /// one is told at the beginning of each session, and of the one that there is with [`SetLevel`](crate::client::SetLevel).
    ///
    /// # Errors
    ///
    /// [`CallError::Unsupported`] when the server did not declare `logging`. Where it [need not hold](Self::is_outdated)
    /// any more what the server said of itself, ask it anew before that is believed.
    pub fn set_log_level(&mut self, level: LoggingLevel) -> Result<(), CallError> {
        self.link.set_log_level(level)
    }

    pub(super) fn tell_roots(&mut self, now: Instant) {
        if let Some(notice) = self.link.roots_notice() {
            self.notify(now, notice.to_vec(), Purpose::Notice);
        }
    }

    /// What the server asks and was not answered.
    pub fn asks(&self) -> usize {
        self.link.asks.len()
    }

    pub(super) fn expire(&mut self, now: Instant) {
        while let Some((id, after)) = self.link.calls.expired(now) {
            if self.link.pursues(id) {
                self.task_is_late(now, id, after);
            } else if self.link.calls.is_suspended(id) {
                self.link.give_up(id, Unmet::TimedOut { after });
            } else {
                self.abandon(now, id, &link::timeout_reason(after), timed_out(after));
            }
        }
    }

    /// Sends an answer, which counts until it has arrived.
    pub(super) fn reply(&mut self, now: Instant, message: Vec<u8>, ask: Option<AskId>, to: Asker) {
        let on = match &to {
            Asker::Server(_, on) => *on,
            Asker::Call(..) => None,
        };
        let ask = self.link.asks.sends(ask, to);
        self.notify(now, message, Purpose::Answer(ask, on));
    }

    /// Makes a call again, with what there is for its next round.
    pub(super) fn again(&mut self, now: Instant, call: CallId) {
        if !matches!(self.state, State::Open) {
            // There will be another session.
            return self.link.calls.schedule(call, now + DEFAULT_RETRY);
        }
        let Some((wire, prepared)) = self.link.again(now, call) else { return };
        let Some(envelope) = &self.link.envelope else { return };
        let mut body = Vec::new();
        match envelope.write(&mut body, wire, &prepared, &prepared.options) {
            Ok(()) => self.launch(call, &prepared, body),
            Err(misuse) => self.settle(now, call, Err(unserializable(misuse))),
        }
    }
}
