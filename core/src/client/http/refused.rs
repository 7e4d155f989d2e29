//! Exchanges that wait for authorization: refused by the server for want of it, or held before they were sent.
//!
//! <https://modelcontextprotocol.io/specification/2026-07-28/basic/authorization#error-handling>

use super::exchange::{Purpose, Reading, Wake};
use super::{ExchangeId, Flight, Http, HttpRequest, State};
use crate::client::calls::CallId;
use crate::client::event::Out;
use crate::client::http::outcome::Outcome;
use crate::dialect::Revision;
use crate::error::CallError;
use crate::head::ResponseHead;
use crate::time::{Duration, Instant, Now};
use alloc::collections::BTreeSet;
use alloc::format;
use alloc::string::String;
use alloc::sync::Arc;
use alloc::vec::Vec;

/// How long what is put aside is let be at the least.
const PARKED: Duration = Duration::from_secs(60);

/// An exchange that waits. Its request is all that is kept of it.
#[derive(Debug)]
pub(super) struct Held {
    pub(super) purpose: Purpose,
    request: Arc<HttpRequest>,
    revision: Option<Revision>,
    origin: ExchangeId,
    generation: u32,
    authorization: u64,
    redirects: usize,
    /// The status that it was refused with.
    status: u16,
    /// When it is given up.
    until: Instant,
    /// Nobody is to be asked about it for now: it is not given up.
    parked: bool,
}

impl Http {
    /// Keeps an exchange that is not to be sent yet, in place of sending it: its token has to be renewed first. It
    /// goes on by [`repeat`](Self::repeat) or [`give_up`](Self::give_up), and until then its time stands still.
    /// `false` for an exchange that waits for nothing: send it as it is.
    pub fn hold(&mut self, now: Now, exchange: ExchangeId) -> bool {
        let unanswered =
            self.exchanges.get(&exchange).is_some_and(|exchange| matches!(exchange.reading, Reading::Head));
        let held = unanswered && self.keep(now.mono, exchange, 401);
        if held
            && let Some(Purpose::Subscription(wire)) = self.remove(exchange).map(|exchange| exchange.purpose)
        {
            self.streams.insert(wire, exchange);
        }
        held
    }

    /// Sends a held exchange again: the same request, as a new exchange. Nothing happens when it is not held any
    /// more.
    pub fn repeat(&mut self, now: Now, exchange: ExchangeId) {
        let now = now.mono;
        let Some(held) = self.release(now, exchange) else { return };
        // Of many that went out with one authorization, the first goes on with another, and so do the others then.
        if held.authorization == self.link.cache.authorization() {
            self.link.reauthorize();
        }
        if let Some(call) = held.purpose.call() {
            self.link.readmit(call);
        }
        let lost = held.generation != self.generation;
        match held.purpose {
            // It was not carried out, so it may be sent in any session; with the fields that are right by then.
            Purpose::Call(call) if !self.may_go(call) => {
                if let Some(flight) = self.flights.get_mut(&call) {
                    flight.exchange = None;
                    self.again.push(call);
                }
            }
            Purpose::Call(call) if lost => self.send_again(call),
            Purpose::Resume(call) if lost => self.session_lost(now, call, held.generation),
            purpose => {
                let next = self.send_shared(purpose, held.request, held.revision);
                if let Some(exchange) = self.exchanges.get_mut(&next) {
                    exchange.redirects = held.redirects;
                    exchange.origin = held.origin;
                }
                self.goes_on_as(now, purpose, next);
            }
        }
    }

    /// Gives up a held exchange: what it was for ends as [`CallError::Unauthorized`], with this reason and record of
    /// what was tried. Nothing happens when it is not held any more.
    pub fn give_up(&mut self, now: Now, exchange: ExchangeId, reason: &str, record: &str) {
        self.settle_held(now.mono, exchange, reason, record);
        // It may have been a stream whose place others wait for.
        self.carry(now.mono);
    }

    /// Whether an exchange is held.
    pub fn is_held(&self, exchange: ExchangeId) -> bool {
        self.held.contains_key(&exchange)
    }

    /// Exchanges that are held.
    pub fn held(&self) -> usize {
        self.held.len()
    }

    /// The first of the exchanges that this one, which has not ended or is held, goes on for: what is repeated,
    /// redirected or sent again in another session is the same request still.
    pub fn origin_of(&self, exchange: ExchangeId) -> Option<ExchangeId> {
        let held = || self.held.get(&exchange).map(|held| held.origin);
        self.exchanges.get(&exchange).map(|exchange| exchange.origin).or_else(held)
    }

    /// The origins of all exchanges that have not ended or are held.
    pub fn origins(&self) -> BTreeSet<ExchangeId> {
        let held = self.held.values().map(|held| held.origin);
        self.exchanges.values().map(|exchange| exchange.origin).chain(held).collect()
    }

    /// Puts a held exchange aside that is for no call and no subscription, but for the session: its handshake, or its
    /// stream. Given up, it would be the end of the client; this way it waits for [`unpark`](Self::unpark), however
    /// long. Calls that wait for it end as with [`give_up`](Self::give_up). `false` for any other exchange, to which
    /// nothing happens.
    pub fn park(&mut self, now: Now, exchange: ExchangeId, reason: &str) -> bool {
        let now = now.mono;
        let of_session = |held: &&Held| {
            matches!(
                held.purpose,
                Purpose::Opening | Purpose::Initialized | Purpose::Stream | Purpose::Listen
            )
        };
        let held = self.held.get(&exchange).filter(of_session);
        let Some(held) = held else { return false };
        let &Held { purpose, until, parked, .. } = held;
        let status = self.status(held.status, &held.request);
        if parked {
            return true;
        }
        // Calls have their time back; what it opens goes on waiting.
        self.hasten(now, purpose, until);
        if let Some(held) = self.held.get_mut(&exchange) {
            held.parked = true;
        }
        if self.opens(purpose) {
            self.delay_opening(until.saturating_since(now));
            let error = CallError::Unauthorized { status, reason: reason.into(), record: String::new() };
            for call in self.put_off() {
                self.settle(now, call, Err(error.clone()));
            }
        }
        true
    }

    /// Somebody may be asked again: what was put aside is sent again.
    pub fn unpark(&mut self, now: Now) {
        let parked = self.held.iter().filter(|(_, held)| held.parked);
        let parked: Vec<_> = parked.map(|(&id, _)| id).collect();
        parked.into_iter().for_each(|id| self.repeat(now, id));
    }

    /// What is put aside has more time, whenever that is up.
    pub(super) fn stay_parked(&mut self, now: Instant) {
        // What nobody is asked about is looked at again some time, however little time others have.
        let span = self.link.config.limits.authorization.max(PARKED);
        let late = self.held.iter_mut().filter(|(_, held)| held.parked && held.until <= now);
        let mut more = Vec::new();
        for (&id, held) in late {
            self.wakes.remove(&(held.until, Wake::Held(id)));
            more.push((held.purpose, (now + span).saturating_since(held.until)));
            held.until = now + span;
            self.wakes.insert((held.until, Wake::Held(id)));
        }
        for (purpose, span) in more {
            if self.opens(purpose) {
                self.delay_opening(span);
            }
        }
    }

    /// The request of an exchange that has not ended, or is held.
    pub fn request_of(&self, exchange: ExchangeId) -> Option<&Arc<HttpRequest>> {
        let held = || self.held.get(&exchange).map(|held| &held.request);
        self.exchanges.get(&exchange).map(|exchange| &exchange.request).or_else(held)
    }

    /// Whether a response is a refusal that somebody may be able to change; then its exchange is held.
    pub(super) fn is_refused(&mut self, now: Instant, id: ExchangeId, head: &ResponseHead) -> bool {
        if !self.link.config.authorize || !wants_authorization(head) || !self.keep(now, id, head.status) {
            return false;
        }
        let purpose = self.exchanges.get(&id).map(|exchange| exchange.purpose);
        self.retire(now, id);
        // Whoever ends the subscription meanwhile finds it here.
        if let Some(Purpose::Subscription(wire)) = purpose {
            self.streams.insert(wire, id);
        }
        self.link.events.act(Out::Refused(id, head.clone()));
        true
    }

    /// The error of a refusal that nobody is there to do anything about.
    pub(super) fn unauthorized(&self, id: ExchangeId, status: u16) -> Option<CallError> {
        let exchange = self.exchanges.get(&id)?;
        let is_given = exchange.request.head.headers.get("authorization").is_some();
        let reason = match status {
            401 if is_given => "it does not take the `Authorization` header that it was given",
            _ if is_given => "the `Authorization` header that it was given does not allow this",
            _ => "",
        };
        let status = self.status(status, &exchange.request);
        Some(CallError::Unauthorized { status, reason: reason.into(), record: String::new() })
    }

    fn keep(&mut self, now: Instant, id: ExchangeId, status: u16) -> bool {
        let Some(exchange) = self.exchanges.get(&id) else { return false };
        let purpose = exchange.purpose;
        // Nobody waits for these. A session that is not deleted ends by itself, and a notification may not matter any
        // more by the time that a user has agreed.
        if matches!(purpose, Purpose::Notice | Purpose::Delete) || !self.is_awaited(purpose) {
            return false;
        }
        let span = self.link.config.limits.authorization;
        let until = now + span;
        let held = Held {
            purpose,
            request: Arc::clone(&exchange.request),
            revision: exchange.revision,
            origin: exchange.origin,
            generation: exchange.generation,
            authorization: exchange.authorization,
            redirects: exchange.redirects,
            status,
            until,
            parked: false,
        };
        self.delay(now, purpose, until);
        self.held.insert(id, held);
        self.wakes.insert((until, Wake::Held(id)));
        true
    }

    /// Takes an exchange out of those that are held; its time goes on where it stood.
    pub(super) fn release(&mut self, now: Instant, id: ExchangeId) -> Option<Held> {
        let held = self.forget_held(id)?;
        if !held.parked {
            self.hasten(now, held.purpose, held.until);
        } else if self.opens(held.purpose) {
            self.hasten_opening(now, held.until.saturating_since(now));
        }
        Some(held)
    }

    /// Nobody waits for an exchange any more.
    pub(super) fn forget_held(&mut self, id: ExchangeId) -> Option<Held> {
        let held = self.held.remove(&id)?;
        self.wakes.remove(&(held.until, Wake::Held(id)));
        Some(held)
    }

    /// Whether anybody still waits for this, as far as that can change.
    fn is_awaited(&self, purpose: Purpose) -> bool {
        match purpose {
            Purpose::Answer(ask, _) => self.link.asks.is_awaited(ask),
            Purpose::Call(call) => !self.link.calls.is_aside(call),
            _ => true,
        }
    }

    /// Lets go of held answers that the server has ceased to wait for.
    pub(super) fn drop_answers(&mut self, now: Instant) {
        let stale = self.held.iter().filter(|(_, held)| !self.is_awaited(held.purpose));
        let stale: Vec<_> = stale.map(|(&id, _)| id).collect();
        stale.into_iter().for_each(|id| drop(self.release(now, id)));
    }

    /// Lets go of what is held of a session, calls apart, while that is still the session which there is: another one
    /// begins with an opening of its own.
    pub(super) fn drop_opening(&mut self, now: Instant) {
        let calls =
            |purpose: Purpose| purpose.call().is_some() || matches!(purpose, Purpose::Subscription(_));
        let stale = self.held.iter().filter(|(_, held)| !calls(held.purpose));
        let stale: Vec<_> = stale.map(|(&id, _)| id).collect();
        stale.into_iter().for_each(|id| drop(self.release(now, id)));
    }

    /// Whether the request of a call waits, so that the server does not know of it.
    pub(super) fn is_call_held(&self, call: CallId) -> bool {
        let exchange = self.flights.get(&call).and_then(|flight| flight.exchange);
        exchange.is_some_and(|exchange| self.is_held(exchange))
    }

    /// The time of an exchange is up.
    pub(super) fn held_for_too_long(&mut self, now: Instant, id: ExchangeId) {
        let span = self.link.config.limits.authorization;
        let reason =
            format!("nobody came by authorization within {span:?}; `Limits::authorization` is the bound");
        self.settle_held(now, id, &reason, "");
    }

    fn settle_held(&mut self, now: Instant, id: ExchangeId, reason: &str, record: &str) {
        let Some(held) = self.release(now, id) else { return };
        let error = || CallError::Unauthorized {
            status: self.status(held.status, &held.request),
            reason: String::from(reason),
            record: String::from(record),
        };
        match held.purpose {
            purpose if purpose.is_unanswered() => self.noted(now, purpose, held.status),
            Purpose::Listen => {
                self.listening.exchange = None;
                self.refuses_stream(now, held.status);
            }
            Purpose::Stream => self.finish(error()),
            purpose => self.conclude(now, purpose, Outcome::Failed(error())),
        }
    }

    /// What goes on in another exchange.
    pub(super) fn goes_on_as(&mut self, now: Instant, purpose: Purpose, next: ExchangeId) {
        if purpose.is_unanswered() {
            self.cut_at(next, now + self.link.config.limits.request);
        }
        if let State::Negotiating { exchange, .. } = &mut self.state
            && purpose == Purpose::Opening
        {
            *exchange = next;
        }
        if let Some(flight) = purpose.call().and_then(|call| self.flights.get_mut(&call)) {
            flight.exchange = Some(next);
        }
        if purpose == Purpose::Listen {
            self.listening.exchange = Some(next);
        }
        if let Some(sse) = self.sse.as_mut().filter(|_| purpose == Purpose::Stream) {
            sse.stream = next;
        }
    }

    /// For how much longer calls that begin now wait for an opening that waits itself.
    pub(super) fn opening_waits(&self, now: Instant) -> Duration {
        let waited_for = |purpose| self.opens(purpose) || self.introduces(purpose);
        let openings = self.held.values().filter(|held| waited_for(held.purpose) && !held.parked);
        openings.map(|held| held.until.saturating_since(now)).max().unwrap_or_default()
    }

    /// Until when a call waits for what is held for it: however much that is, its time stands still once.
    fn call_waits(&self, call: CallId) -> Option<Instant> {
        let held = self.held.values().filter(|held| held.purpose.waiting() == Some(call));
        held.map(|held| held.until).max()
    }

    /// Whoever waits for an exchange that is about to be held has more time.
    fn delay(&mut self, now: Instant, purpose: Purpose, until: Instant) {
        let span = until.saturating_since(now);
        let opens = self.opens(purpose);
        if let Some(call) = purpose.waiting().filter(|_| !opens) {
            let from = self.call_waits(call).unwrap_or(now).max(now);
            self.link.calls.delay(call, until.saturating_since(from));
        }
        if let Some(call) = purpose.call()
            && let Some(resume) = self.flights.get_mut(&call).and_then(|flight| flight.resume.as_mut())
        {
            resume.until = resume.until + span;
        }
        if let Purpose::Subscription(wire) = purpose {
            self.link.subscriptions.delay(wire, span);
        }
        if opens {
            self.link.calls.delay_all(span);
            self.delay_opening(span);
        }
        if self.introduces(purpose) {
            self.link.calls.delay_waiting(span);
        }
    }

    fn delay_opening(&mut self, span: Duration) {
        if let Some(deadline) = self.opening_deadline() {
            *deadline = *deadline + span;
        }
    }

    /// It was not needed, after all: it is held no longer.
    fn hasten(&mut self, now: Instant, purpose: Purpose, until: Instant) {
        let unused = until.saturating_since(now);
        let opens = self.opens(purpose);
        if let Some(call) = purpose.waiting().filter(|_| !opens) {
            let from = self.call_waits(call).unwrap_or(now).max(now);
            self.link.calls.hasten(now, call, until.saturating_since(from));
        }
        if let Some(call) = purpose.call()
            && let Some(resume) = self.flights.get_mut(&call).and_then(|flight| flight.resume.as_mut())
        {
            resume.until = resume.until.saturating_sub(unused).max(now);
        }
        if let Purpose::Subscription(wire) = purpose {
            self.link.subscriptions.hasten(now, wire, unused);
        }
        if opens {
            self.link.calls.hasten_all(now, unused);
            self.hasten_opening(now, unused);
        }
        if self.introduces(purpose) {
            self.link.calls.hasten_waiting(now, unused);
        }
    }

    fn hasten_opening(&mut self, now: Instant, unused: Duration) {
        if let Some(deadline) = self.opening_deadline() {
            *deadline = deadline.saturating_sub(unused).max(now);
        }
    }

    fn opening_deadline(&mut self) -> Option<&mut Instant> {
        match &mut self.state {
            State::Finding { deadline }
            | State::Negotiating { deadline, .. }
            | State::Announcing { deadline } => Some(deadline),
            _ => None,
        }
    }

    /// Whether calls wait for it.
    fn opens(&self, purpose: Purpose) -> bool {
        matches!(purpose, Purpose::Stream | Purpose::Opening | Purpose::Initialized)
            || purpose.call().is_some_and(|call| self.link.level.is_told_by(call))
    }

    /// Whether those calls wait for it that the server ruled out when it last introduced itself.
    fn introduces(&self, purpose: Purpose) -> bool {
        purpose.call().is_some_and(|call| self.link.discovery.is_asked_by(call))
    }

    /// The calls that go on when there is a session again.
    fn put_off(&self) -> Vec<CallId> {
        let is_off = |flight: &Flight| flight.exchange.is_none() && flight.resume.is_none();
        let sent = self.flights.iter().filter(|(_, flight)| is_off(flight)).map(|(&call, _)| call);
        sent.chain(self.link.calls.waiting()).collect()
    }
}

/// Whether a refusal is for want of authorization. A 403 without a challenge is one for another reason, such as a name of
/// the server that it does not go by.
pub(super) fn wants_authorization(head: &ResponseHead) -> bool {
    head.status == 401 || (head.status == 403 && head.headers.get("www-authenticate").is_some())
}
