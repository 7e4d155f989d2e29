//! What an exchange asks of the table of sessions, and tells it.

use alloc::boxed::Box;
use alloc::sync::Arc;

use super::serve::Ask;
use super::{Bare, Exchange, ExchangeOutput, Stage};
use crate::server::call::CallId;
use crate::server::sessions::{Caller, SessionAnswer, SessionQuery};
use crate::time::{Instant, Now};
use crate::wire::jsonrpc::RequestId;

/// Names a query of an exchange to the session table; never reused there.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct QueryId(pub(in crate::server) u64);

/// A request that is answered when the table of sessions has answered, or when it has not for too long.
#[derive(Debug)]
pub(super) struct Waiting {
    pub(super) query: QueryId,
    pub(super) call: CallId,
    pub(super) until: Instant,
}

impl Exchange {
    /// The session table has answered that query. What it did is undone if nobody waits for that any more.
    pub fn handle_session(&mut self, now: Now, query: QueryId, answer: SessionAnswer) {
        if let Some(place) = self.waiting.iter().position(|waiting| waiting.query == query) {
            let Waiting { call, .. } = self.waiting.swap_remove(place);
            return self.settled(call, answer);
        }
        match core::mem::replace(&mut self.stage, Stage::Answered) {
            Stage::Asking(asked, ask) if asked == query => {
                self.quiet_since = now.mono;
                self.resume(*ask, answer);
                self.note();
            }
            stage => {
                self.stage = stage;
                self.undo(answer);
            }
        }
    }

    /// What was asked for came too late.
    fn undo(&mut self, answer: SessionAnswer) {
        match (answer, self.session.clone()) {
            (SessionAnswer::Opened { session }, _) => {
                self.query(SessionQuery::End { session });
            }
            (SessionAnswer::Begun { .. } | SessionAnswer::Listening(_), Some(session)) => {
                let exchange = self.id;
                self.tell(SessionQuery::Detach { session, exchange });
            }
            _ => {}
        }
    }

    /// Gives up on what the table has not answered for too long.
    pub(super) fn expire_queries(&mut self, now: Now) {
        while let Some(place) = self.waiting.iter().position(|waiting| waiting.until <= now.mono) {
            let Waiting { call, .. } = self.waiting.swap_remove(place);
            self.settled(call, SessionAnswer::Unavailable);
        }
    }

    /// Asks the session table on behalf of whoever makes the request, and goes on when it has answered.
    pub(super) fn ask_for(&mut self, query: SessionQuery, ask: Ask) {
        if self.config.http.stateless {
            let answer = self.without_session(&query);
            return self.resume(ask, answer);
        }
        let id = self.query(query);
        self.stage = Stage::Asking(id, Box::new(ask));
    }

    /// Asks the session table on behalf of whoever makes the request.
    pub(super) fn query(&mut self, query: SessionQuery) -> QueryId {
        let caller = self.caller();
        self.tell(if caller.is_nobody() {
            query
        } else {
            SessionQuery::As { caller, query: Box::new(query) }
        })
    }

    /// Tells the session table something on its own behalf.
    pub(super) fn tell(&mut self, query: SessionQuery) -> QueryId {
        self.queries += 1;
        let id = QueryId(self.queries);
        self.outputs.push_back(ExchangeOutput::Session(id, query));
        id
    }

    /// Who makes the request, as far as sessions are his.
    pub(super) fn caller(&self) -> Caller {
        Caller {
            owner: self.principal.as_ref().map(|principal| Arc::from(&*principal.subject)),
            origin: self.origin.clone(),
            reads: matches!(self.stage, Stage::Bare(Bare::Listen | Bare::Connect)),
        }
    }

    /// Tells the session that a call is over.
    pub(super) fn finish(&mut self, request: RequestId) {
        if let (Some(session), Some(_)) = (&self.session, &self.state) {
            let (session, exchange) = (session.clone(), self.id);
            self.tell(SessionQuery::Finish { session, request, exchange });
        }
    }
}
