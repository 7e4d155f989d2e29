//! Exchanges of HTTP with SSE: those whose response is the stream of a connection, and those that bring messages
//! for one.

use std::sync::Arc;

use mcp_proto::server::{Change, SseAnswer, SseOutput, SseQuery, Target};

use super::{ExchangeHandle, Inner};
use crate::deprecated::Deprecated;
use crate::runtime::Runtime;
use crate::server::offer::{Current, Offer};

/// What the handlers of an exchange come from.
pub(super) enum Source {
    /// There will be no calls.
    Nothing,
    /// What was offered when the request began.
    Once(Arc<Offer>),
    /// Whatever is offered when a message comes: a stream outlives changes.
    Current(Box<Current>),
}

impl Source {
    /// The snapshot in which `target` was found.
    pub(super) fn made(&self, target: &Target) -> Option<Arc<Offer>> {
        match self {
            Self::Nothing => None,
            Self::Once(offer) => Some(offer.clone()),
            Self::Current(current) => Some(current.made(target)),
        }
    }

    /// Nothing that was found waits any more. Returns what is to be dropped with no lock held.
    pub(super) fn settle(&mut self) -> Vec<Arc<Offer>> {
        match self {
            Self::Current(current) => current.settle(),
            _ => Vec::new(),
        }
    }
}

impl<R: Runtime> ExchangeHandle<R> {
    /// Asks the table of streams, after the application, if it has a say.
    pub(super) fn ask_streams(&self, query: SseQuery) {
        let opens = matches!(query, SseQuery::Open { .. });
        if opens {
            self.be_found();
            self.service.shared().deprecated(Deprecated::HttpSse);
        }
        let owned = query.is_of_client() && self.service.knows_owners();
        let query = if owned { query.owned_by(self.owner()) } else { query };
        let now = self.service.now();
        let mut inner = self.lock();
        let answer = match opens && !self.keeps_open() {
            true => SseAnswer::Full,
            false => self.service.streams().handle_query(query),
        };
        inner.machine.handle_sse(now, answer);
        let mut left = Source::Nothing;
        if opens {
            let mut current = Box::new(Current::new(self.service.shared().live.clone()));
            inner.machine.handle_config(now, current.offer().config().clone());
            left = std::mem::replace(&mut inner.source, Source::Current(current));
        }
        drop(inner);
        // Handlers may be dropped with it.
        drop(left);
        if opens {
            self.stay();
        }
        self.service.route();
    }

    /// A message for its stream; [`serve_messages`](Self::serve_messages) is to follow.
    pub(in crate::server) fn feed_message(&self, output: SseOutput) {
        let now = self.service.now();
        let mut inner = self.lock();
        inner.refresh(now);
        inner.machine.handle_message(now, &output.message, output.sender);
    }

    /// Serves what came for its stream.
    pub(in crate::server) fn serve_messages(&self) {
        self.attend();
    }

    /// Something has changed that the session of its stream may be told.
    pub(in crate::server) fn tell_stream(&self, change: &Change) {
        self.pass_on(|inner, now| {
            inner.refresh(now);
            inner.machine.publish(now, change);
        });
    }
}

impl Inner {
    /// Lets the machine know what has changed.
    fn refresh(&mut self, now: mcp_proto::time::Now) {
        if let Source::Current(current) = &mut self.source
            && let Some(offer) = current.refresh()
        {
            self.machine.handle_config(now, offer.config().clone());
        }
    }
}
