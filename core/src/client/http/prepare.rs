//! Between the handshake with a legacy server and the first call.

use super::exchange::Wake;
use super::listen::WAIT;
use super::{Http, State};
use crate::client::call::Discover;
use crate::client::calls::CallId;
use crate::client::connection::unserializable;
use crate::error::CallError;
use crate::time::Instant;
use alloc::vec::Vec;

impl Http {
    /// The handshake is over on both sides: the server is told what it has to know before any call.
    pub(super) fn announced(&mut self, now: Instant) {
        if !matches!(self.state, State::Announcing { .. }) {
            return;
        }
        self.offer_stream();
        self.state = State::Preparing { stream: self.listening.exchange.is_some().then(|| now + WAIT) };
        if let Some((level, options)) = self.link.level_to_tell()
            && let Some(envelope) = self.link.envelope.take()
            // A level always serializes.
            && let Ok(call) = self.begin(now, &level, options, envelope)
        {
            self.link.telling_level(call);
        }
        self.prepared(now);
    }

    /// It is known whether there is a stream, or it was waited for long enough.
    pub(super) fn listened(&mut self, now: Instant) {
        if let Some(at) = self.listening.awaited.take() {
            self.wakes.remove(&(at, Wake::Hear));
        }
        if let State::Preparing { stream } = &mut self.state {
            *stream = None;
        }
        self.link.hears();
        self.prepared(now);
    }

    /// If nothing has to be waited for any more, calls may go out.
    pub(super) fn prepared(&mut self, now: Instant) {
        if matches!(self.state, State::Preparing { stream: None }) && self.link.level.told_by().is_none() {
            self.open(now);
        }
        if matches!(self.state, State::Open) && self.link.discovery.take_due() {
            self.launch_waiting(now);
        }
    }

    /// Sends the calls that waited for the era, or for the session.
    pub(super) fn launch_waiting(&mut self, now: Instant) {
        loop {
            let Some((id, wire, prepared)) = self.link.calls.launch() else { return };
            if let Some(reply) = self.link.look(now, &prepared, &prepared.options) {
                self.link.settle(id, Ok(reply));
                continue;
            }
            let Some(envelope) = &self.link.envelope else { return };
            let prepared = self.link.as_task(envelope.revision(), prepared);
            let mut body = Vec::new();
            let written = self.link.possible_after_all(&prepared, &prepared.options).and_then(|()| {
                envelope.write(&mut body, wire, &prepared, &prepared.options).map_err(unserializable)
            });
            match written {
                Ok(()) => {
                    self.launch(id, &prepared, body);
                    self.link.keep(now, id, prepared);
                }
                Err(error) => self.link.settle(id, Err(error)),
            }
        }
    }

    /// Asks the server to introduce itself again; what waits is judged then.
    pub(super) fn rediscover(&mut self, now: Instant) {
        if self.link.discovery.asked_by().is_some() {
            return;
        }
        let Some(envelope) = self.link.envelope.take() else { return };
        let options = self.link.asking_again();
        match self.begin(now, &Discover, options, envelope) {
            Ok(call) => self.link.asks_again(call),
            // It always serializes.
            Err(_) => self.launch_waiting(now),
        }
    }

    /// Nobody is asked to sign in for an introduction that nobody waits for any more.
    pub(super) fn drop_discovery(&mut self, now: Instant) {
        if let Some(asking) = self.link.discovery.asked_by()
            && self.is_call_held(asking)
            && self.link.calls.waiting().next().is_none()
        {
            self.abandon(now, asking, "", CallError::Cancelled);
        }
    }

    /// The session is lost before calls went out.
    pub(super) fn give_up_preparing(&mut self, now: Instant) {
        let Some(call) = self.link.level.told_by() else { return };
        if let Some(exchange) = self.flights.get(&call).and_then(|flight| flight.exchange) {
            // Their time goes on.
            drop(self.release(now, exchange));
            self.abort(exchange);
        }
        self.land(call);
        self.link.level.give_up();
        self.link.settle(call, Err(CallError::Cancelled));
    }

    /// Whether a call may go out: those of the application wait until the session is ready.
    pub(super) fn may_go(&self, call: CallId) -> bool {
        matches!(self.state, State::Open) || self.link.level.is_told_by(call)
    }

    /// Whether the handshake is over on both sides.
    pub(super) const fn is_open(&self) -> bool {
        matches!(self.state, State::Preparing { .. } | State::Open)
    }
}
