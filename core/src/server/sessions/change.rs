//! What a client changes about its session.

use super::{Caller, Session, SessionAnswer, SessionId, SessionQuery, Sessions};
use crate::limits::Limits;
use crate::time::{Instant, Now};

impl Sessions {
    /// What [`handle_query`](Self::handle_query) would answer to a query that changes a session, or ends it, while
    /// nothing is done: for whoever keeps sessions elsewhere, where a change has to be known first. The state to be
    /// kept comes in [`SessionAnswer::Loaded`]; once it is, [`restore`](Self::restore) it. To other queries the answer
    /// is [`SessionAnswer::Done`].
    pub fn foresee(&mut self, now: Now, query: &SessionQuery) -> SessionAnswer {
        self.reclaim(now.mono);
        let nobody = Caller::default();
        let (caller, query) = match query {
            SessionQuery::As { caller, query } => (caller, &**query),
            query => (&nobody, query),
        };
        let Some(session) = query.session() else { return SessionAnswer::Done };
        match self.open.get(session) {
            Some(entry) if caller.may_use(&entry.state) => {
                entry.foresee(query, &self.limits).unwrap_or(SessionAnswer::Done)
            }
            _ => SessionAnswer::Missing,
        }
    }

    pub(super) fn change(
        &mut self,
        now: Instant,
        session: &SessionId,
        query: &SessionQuery,
    ) -> SessionAnswer {
        if self.touch(now, session).is_none() {
            return SessionAnswer::Missing;
        }
        let Some(entry) = self.open.get_mut(session) else { return SessionAnswer::Missing };
        let answer = entry.foresee(query, &self.limits).unwrap_or(SessionAnswer::Done);
        if let SessionAnswer::Loaded { state } = &answer {
            entry.state = state.clone();
        }
        answer
    }
}

impl Session {
    /// The answer to a query that changes the session; `None` to another one.
    fn foresee(&self, query: &SessionQuery, limits: &Limits) -> Option<SessionAnswer> {
        let mut state = self.state.clone();
        match query {
            SessionQuery::Initialized { .. } if state.initialized => return Some(SessionAnswer::Done),
            SessionQuery::Initialized { .. } => state.initialized = true,
            SessionQuery::SetLevel { level, .. } => state.level = *level,
            SessionQuery::Watch { uri, .. } => {
                if !state.watched.insert(uri.clone(), limits) {
                    return Some(SessionAnswer::TooManyWatched);
                }
            }
            SessionQuery::Unwatch { uri, .. } => state.watched.remove(uri),
            _ => return None,
        }
        state.changes += 1;
        Some(SessionAnswer::Loaded { state })
    }
}
