//! Answers that come when something else is asked already.

use super::{Connection, State};
use crate::client::negotiate::Stage;
use crate::error::ErrorObject;
use crate::time::Instant;
use crate::wire::jsonrpc::RequestId;
use alloc::vec::Vec;
use serde_json::value::RawValue;

/// Probes and handshakes that were sent and not answered before another step was taken. There are never more than the
/// negotiation has steps.
#[derive(Debug, Default)]
pub(super) struct Unanswered(Vec<(i64, Stage)>);

impl Unanswered {
    pub(super) fn push(&mut self, wire: i64, stage: Stage) {
        self.0.push((wire, stage));
    }

    /// Those of a process that is gone.
    pub(super) fn clear(&mut self) {
        self.0.clear();
    }

    pub(super) fn len(&self) -> usize {
        self.0.len()
    }

    fn take(&mut self, wire: i64) -> Option<Stage> {
        let at = self.0.iter().position(|(unanswered, _)| *unanswered == wire)?;
        Some(self.0.swap_remove(at).1)
    }
}

impl Connection {
    /// Steps of the negotiation with the server that is there which were not answered.
    pub fn unanswered(&self) -> usize {
        self.unanswered.len()
    }

    /// Whether a response is to a probe or handshake that was not answered in time. Whichever of them says first how
    /// the server speaks, decides; what the others say, such as that a modern server knows no `initialize`, is no news.
    pub(super) fn answered_late(
        &mut self,
        now: Instant,
        id: Option<&RequestId>,
        outcome: &Result<&RawValue, ErrorObject>,
    ) -> bool {
        let wire = id.and_then(RequestId::as_i64);
        let Some(stage) = wire.and_then(|wire| self.unanswered.take(wire)) else { return false };
        let (State::Negotiating { wire, .. }, Ok(result)) = (&self.state, outcome) else { return true };
        let (current, asked) = (*wire, self.link.negotiation.stage());
        if let Some(step) = self.link.negotiation.answered_late(stage, result) {
            // Neither may be cancelled, so that is answered some time (B28).
            self.unanswered.push(current, asked);
            self.link.discovered(now, &step, Some(result));
            self.follow(now, step);
        }
        true
    }
}
