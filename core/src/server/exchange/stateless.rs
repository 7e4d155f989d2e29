//! Legacy clients without sessions: what a session would have said is read from the request, or not known.

use super::Exchange;
use crate::dialect::{Era, Revision};
use crate::head::Field;
use crate::server::events::StreamId;
use crate::server::session::SessionState;
use crate::server::sessions::{SessionAnswer, SessionId, SessionQuery};

impl Exchange {
    /// Whether this is a legacy request for which there is no session.
    pub(super) fn lacks_session(&self) -> bool {
        self.config.http.stateless && self.state.is_some()
    }

    /// In place of the name of a session, where there are none.
    pub(super) fn no_session_needed(&self) -> Option<SessionId> {
        self.config.http.stateless.then(|| SessionId::new(""))
    }

    /// What a table would say for which every session is there and as new.
    pub(super) fn without_session(&self, query: &SessionQuery) -> SessionAnswer {
        let state = || SessionState::unknown(self.revision());
        match query {
            SessionQuery::Open { .. } => SessionAnswer::Opened { session: SessionId::new("") },
            SessionQuery::Begin { .. } | SessionQuery::BeginBatch { .. } => {
                SessionAnswer::Begun { state: state(), stream: StreamId::of_exchange(0, self.id) }
            }
            SessionQuery::Cancel { .. } | SessionQuery::Answer { .. } => SessionAnswer::Done,
            _ => SessionAnswer::Loaded { state: state() },
        }
    }

    /// The revision that the request names, or else the one before requests had to (HTTPL-55).
    fn revision(&self) -> Revision {
        let spoken = |revision: &Revision| self.config.revisions.contains(*revision);
        let named = self.head.headers.text_of(Field::ProtocolVersion).and_then(Revision::parse);
        named
            .filter(|revision| revision.era() == Era::Legacy)
            .filter(spoken)
            .or_else(|| Some(Revision::V2025_03_26).filter(spoken))
            .or_else(|| self.config.revisions.negotiate(""))
            .unwrap_or(Revision::V2025_03_26)
    }
}
