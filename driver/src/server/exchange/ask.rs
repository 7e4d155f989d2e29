//! Asking for sessions on behalf of an exchange, and telling its session what comes later.

use std::future::poll_fn;
use std::pin::pin;
use std::sync::Arc;
use std::task::Poll;

use mcp_proto::server::{CallId, QueryId, SessionAnswer, SessionQuery};

use super::ExchangeHandle;
use crate::context::Tell;
use crate::runtime::Runtime;
use crate::server::gate::Pass;
use crate::server::store::{Found, Stored};

impl<R: Runtime> ExchangeHandle<R> {
    /// Asks the session table on behalf of a client, after the application and the store, if they have a say.
    pub(super) fn ask(&self, id: QueryId, query: SessionQuery) {
        let query = if self.service.knows_owners() { query.owned_by(self.owner()) } else { query };
        let (Some(stored), Some(this)) = (self.service.store.clone(), self.this.upgrade()) else {
            let mut inner = self.lock();
            let answer = self.service.query(query);
            inner.machine.handle_session(self.service.now(), id, answer);
            drop(inner);
            return self.service.route();
        };
        // Its place among others is that of the query.
        let pass = match stored.enter(&self.service.config().limits, &query) {
            Ok(pass) => pass,
            Err(full) => return self.say(|machine, now| machine.handle_session(now, id, full.into())),
        };
        let asking = Asking(Some(this), id);
        if self.service.run_for_store(Box::pin(asking.look_up(stored, query, pass))) {
            self.stay();
        }
    }

    /// Whose sessions the request may use, as the application says.
    pub(super) fn owner(&self) -> Option<Arc<str>> {
        let owner = self.owner.get_or_init(|| {
            // Its head is there until the first call begins, and this is asked before. The hook runs with no lock held.
            let (head, principal) = {
                let machine = &self.lock().machine;
                (machine.request_head().clone(), machine.principal().cloned())
            };
            self.service.owner_of(self.id, &head, principal.as_deref())
        });
        owner.clone()
    }
}

impl<R: Runtime> ExchangeHandle<R> {
    /// Tells the client that an elicitation is complete: on the stream of the call, or else on that of its session.
    pub(super) fn tells_of_elicitations(&self, call: CallId) -> Tell {
        let session = self.lock().machine.session().cloned();
        let (exchange, service) = (self.this.clone(), Arc::downgrade(&self.service));
        Box::new(move |elicitation| {
            let told = exchange.upgrade().is_some_and(|exchange| {
                exchange.say(|machine, now| machine.complete_elicitation(now, call, elicitation))
            });
            if let (false, Some(session), Some(service)) = (told, &session, service.upgrade()) {
                service.sessions().complete_elicitation(service.now(), session, elicitation);
                service.route();
            }
        })
    }
}

/// An exchange that waits for an answer. However that ends, also with its runtime, it is given one.
struct Asking<R: Runtime>(Option<Arc<ExchangeHandle<R>>>, QueryId);

impl<R: Runtime> Asking<R> {
    async fn look_up(mut self, stored: Stored, query: SessionQuery, pass: Pass) {
        let (Some(exchange), id) = (self.0.clone(), self.1) else { return };
        let service = exchange.service.clone();
        let reads = !query.changes_state() && query.ends().is_none();
        let found = {
            let mut found = pin!(service.look_up(&stored, &query, pass));
            poll_fn(|cx| {
                exchange.gone.register(cx.waker());
                if reads && exchange.lock().over {
                    return Poll::Ready(None);
                }
                found.as_mut().poll(cx).map(Some)
            })
            .await
        };
        self.0 = None;
        // Otherwise nobody waits for it.
        let Some(found) = found else { return };
        // Nothing that the table says after its answer may overtake it.
        exchange.say(|machine, now| {
            let answer = match found {
                Found::Ask => service.query(query),
                Found::Is(answer) => answer,
            };
            machine.handle_session(now, id, answer);
        });
        service.route();
        exchange.heed_drain();
    }
}

impl<R: Runtime> Drop for Asking<R> {
    fn drop(&mut self) {
        let id = self.1;
        if let Some(exchange) = self.0.take() {
            exchange.say(|machine, now| machine.handle_session(now, id, SessionAnswer::Unavailable));
        }
    }
}
