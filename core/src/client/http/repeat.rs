//! What is sent again: what the server surely has not carried out, and what it was told to stop.
//!
//! <https://modelcontextprotocol.io/specification/2026-07-28/basic/transports/streamable-http#receiving-messages>

use super::exchange::{Exchange, Purpose, Wake};
use super::{Http, HttpRequest, State};
use crate::client::calls::CallId;
use crate::client::negotiate::Step;
use crate::client::request;
use crate::error::CallError;
use crate::head::ResponseHead;
use crate::time::{Duration, Instant};
use crate::wire::date::read_date;
use alloc::sync::Arc;

impl Http {
    /// The response stream of a call to a modern server ended without the response. For the server that is a
    /// cancellation, so the request is made again, once and under another id, whatever it does (HTTP-28).
    pub(super) fn make_again(&mut self, now: Instant, call: CallId) {
        let Some(flight) = self.flights.get_mut(&call) else { return };
        if core::mem::replace(&mut flight.made_again, true) {
            return self.settle(now, call, Err(CallError::ResponseStreamClosed));
        }
        let Some((before, wire)) = self.link.calls.rename(call) else { return };
        let HttpRequest { head, body } = &*flight.request;
        let body = request::renamed(body, before, wire);
        flight.request = Arc::new(HttpRequest { head: head.clone(), body });
        self.send_again(call);
    }

    /// The request of a call surely was not carried out: it is sent again a little later, unless that was tried often
    /// enough, or the call has no time left. `after` is how long the server wants to be left alone.
    ///
    /// That goes for `tools/call`, too, of which no byte has left: it cannot run twice, and a connection that the server
    /// closed for being idle is nothing that a call should fail of. What may have reached the server is another thing:
    /// [`comes_back_later`](Self::comes_back_later) leaves it out.
    pub(super) fn try_later(&mut self, now: Instant, call: CallId, after: Duration) -> bool {
        let most = self.link.config.limits.retries;
        let Some(flight) = self.flights.get_mut(&call).filter(|flight| flight.tries < most) else {
            return false;
        };
        // The first waits are shorter than those for a stream: somebody waits for a reply.
        let at = now + (self.link.backoff.wait(flight.tries) / 2).max(after);
        if self.link.calls.deadline(call).is_none_or(|deadline| deadline <= at) {
            return false;
        }
        flight.tries += 1;
        flight.exchange = None;
        flight.at = Some(at);
        self.wakes.insert((at, Wake::Repeat(call)));
        true
    }

    /// The time for that has come.
    pub(super) fn repeat_call(&mut self, call: CallId) {
        let Some(flight) = self.flights.get_mut(&call) else { return };
        flight.at = None;
        if self.may_go(call) {
            self.send_again(call);
        } else {
            self.again.push(call);
        }
    }

    /// Whether a server that has no time for a request says when it will have, and the request may be sent again: it
    /// may have begun with it, so only what does no harm twice.
    pub(super) fn comes_back_later(&mut self, now: Instant, exchange: &Exchange, status: u16) -> bool {
        let (Some(after), 429 | 503) = (exchange.retry_after, status) else { return false };
        match exchange.purpose {
            Purpose::Call(call) => {
                let repeatable = self.flights.get(&call).is_some_and(|flight| flight.repeatable);
                repeatable && self.try_later(now, call, after)
            }
            Purpose::Opening => self.greet_later(now, after),
            _ => false,
        }
    }

    /// The handshake of a new session, after one that was lost, was not answered: it is made again a little later, as calls
    /// are, which wait for it. Made twice, it does no harm. Whoever connects for the first time is told at once.
    pub(super) fn greet_later(&mut self, now: Instant, after: Duration) -> bool {
        let State::Negotiating { deadline, .. } = self.state else { return false };
        // One of HTTP with SSE goes with its stream.
        if self.was_greeted()
            || self.link.details.is_none()
            || self.greetings >= self.link.config.limits.retries
        {
            return false;
        }
        let at = now + (self.link.backoff.wait(self.greetings) / 2).max(after);
        if deadline <= at {
            return false;
        }
        self.greetings += 1;
        self.wakes.insert((at, Wake::Greet));
        true
    }

    /// The time for that has come.
    pub(super) fn greet_again(&mut self, now: Instant) {
        if let (State::Negotiating { .. }, Some(revision)) = (&self.state, self.link.negotiation.offered()) {
            self.follow(now, Step::Initialize { revision });
        }
    }
}

/// How long a server that refuses a request wants to be left alone: whole seconds, or until a moment by the clock of
/// this machine, `unix`.
pub(super) fn retry_after(unix: Duration, head: &ResponseHead) -> Option<Duration> {
    let value = head.headers.text("retry-after")?.trim();
    if value.bytes().all(|byte| byte.is_ascii_digit()) {
        return value.parse().ok().map(Duration::from_secs);
    }
    read_date(value.as_bytes()).map(|until| until.saturating_sub(unix))
}
