//! The stream (GET) on which a legacy server says what belongs to no call: requests and notifications.
//!
//! <https://modelcontextprotocol.io/specification/2025-11-25/basic/transports#listening-for-messages-from-the-server>

use super::exchange::{Purpose, Wake};
use super::resume::{DEFAULT_RETRY, MAX_RETRY};
use super::{ExchangeId, Http, HttpRequest, State};
use crate::head::ResponseHead;
use crate::time::{Duration, Instant};
use alloc::borrow::ToOwned;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

/// How long the first calls of a session wait for the stream.
pub(super) const WAIT: Duration = Duration::from_secs(1);

/// Where the stream is.
#[derive(Debug, Default)]
pub(super) struct Listening {
    pub(super) exchange: Option<ExchangeId>,
    /// After which event to go on.
    after: Option<String>,
    /// What the server said about reconnecting.
    pub(super) retry: Option<Duration>,
    /// There was such a stream in this session.
    known: bool,
    /// Since when it is open.
    since: Option<Instant>,
    /// Attempts since something last came, and until when they go on.
    fruitless: u32,
    until: Option<Instant>,
    /// When to try again.
    at: Option<Instant>,
    /// Until when subscriptions wait for it.
    pub(super) awaited: Option<Instant>,
    /// The server has no such stream.
    refused: bool,
}

impl Listening {
    /// Whether the stream is neither there nor about to be.
    pub(super) fn is_idle(&self) -> bool {
        self.exchange.is_none() && self.at.is_none() && !self.refused
    }
}

impl Http {
    /// Opens the stream, where there may be something to hear on it.
    pub(super) fn offer_stream(&mut self) {
        let revision = self.revision();
        let possible = revision.is_some_and(|revision| revision.dialect().http.sessions);
        let config = &self.link.config;
        let asked = &config.capabilities;
        let asked = asked.elicitation.is_some() || asked.sampling.is_some() || asked.roots.is_some();
        let wanted = config.listen || asked || self.link.subscriptions.is_wanted();
        // One for the stream of a call and one for the answers that it may wait for.
        let has_room = config.limits.connections > 2;
        let is_open = matches!(self.state, State::Announcing { .. }) || self.is_open();
        let listening = &mut self.listening;
        listening.at = None;
        let carried = self.sse.is_some() || listening.refused || listening.exchange.is_some();
        if !wanted || !has_room || !possible || !is_open || carried {
            return;
        }
        let after = listening.after.clone();
        let mut head = self.plain_head("GET", revision);
        if let Some(after) = after {
            head.headers.push("Last-Event-ID", &after);
        }
        let exchange = self.send(Purpose::Listen, HttpRequest { head, body: Vec::new() }, revision);
        self.listening.exchange = Some(exchange);
    }

    /// Opens it for subscriptions, which are acknowledged when what they are for can be heard.
    pub(super) fn offer_stream_to_listeners(&mut self, now: Instant) {
        self.offer_stream();
        if self.listening.exchange.is_none() {
            return self.listened(now);
        }
        let at = now + WAIT;
        self.listening.awaited = Some(at);
        self.wakes.insert((at, Wake::Hear));
    }

    /// The session that the stream belonged to is lost.
    pub(super) fn stop_listening(&mut self) {
        let listening = core::mem::take(&mut self.listening);
        if let Some(at) = listening.at {
            self.wakes.remove(&(at, Wake::Listen));
        }
        if let Some(at) = listening.awaited {
            self.wakes.remove(&(at, Wake::Hear));
        }
        if let Some(exchange) = listening.exchange {
            self.abort(exchange);
        }
    }

    /// The server has answered; whether with a stream.
    pub(super) fn heard(&mut self, now: Instant, id: ExchangeId, head: &ResponseHead) -> bool {
        let kind = head.headers.text("content-type").unwrap_or_default();
        let kind = kind.split(';').next().unwrap_or_default().trim();
        if head.status == 200 && kind.eq_ignore_ascii_case("text/event-stream") {
            let listening = &mut self.listening;
            listening.since = Some(now);
            // Behind an event that is named nothing is lost.
            if core::mem::replace(&mut listening.known, true) && listening.after.is_none() {
                self.link.stream_interrupted();
            }
            self.listened(now);
            return true;
        }
        self.retire(now, id);
        self.listening.exchange = None;
        match head.status {
            // Servers that know no GET at all say so, too.
            404 if self.session.is_some() && self.listening.known => self.reopen(now),
            429 | 500.. => self.listen_again(now, None),
            status => self.refuses_stream(now, status),
        }
        false
    }

    /// The server has no such stream, or none for us.
    pub(super) fn refuses_stream(&mut self, now: Instant, status: u16) {
        self.listening.refused = true;
        // This one says that there is no such stream.
        if status != 405 {
            self.diagnose(format!(
                "expected an event stream for messages of the server, found HTTP status {status}"
            ));
        }
        self.listened(now);
    }

    /// Something has come on the stream.
    pub(super) fn heard_something(&mut self) {
        self.listening.fruitless = 0;
        self.listening.until = None;
    }

    /// The stream has ended, or could not be had. `after` is the last event id that it named.
    pub(super) fn listen_again(&mut self, now: Instant, after: Option<&str>) {
        let limits = &self.link.config.limits;
        let (floor, total) = (limits.retry_floor, limits.resume_total);
        let listening = &mut self.listening;
        listening.exchange = None;
        // A stream that somebody on the way ends for being silent is worth opening as often as that happens.
        let lasted = listening.since.take().is_some_and(|since| now.saturating_since(since) >= MAX_RETRY);
        if lasted || after.is_some() {
            (listening.fruitless, listening.until) = (0, None);
        }
        if let Some(after) = after {
            listening.after = Some(after.to_owned());
        }
        let until = *listening.until.get_or_insert(now + total);
        let retry = listening.retry.unwrap_or(DEFAULT_RETRY).max(floor);
        let doubled = retry.saturating_mul(1_u32.checked_shl(listening.fruitless).unwrap_or(u32::MAX));
        let at = now + doubled.min(MAX_RETRY.max(retry));
        // A server that ends the stream time and again has nothing to say on it.
        listening.fruitless = listening.fruitless.saturating_add(1);
        if at > until {
            listening.refused = true;
            self.diagnose(format!("the stream for messages of the server brought nothing within {total:?}"));
        } else {
            if let Some(before) = listening.at.replace(at) {
                self.wakes.remove(&(before, Wake::Listen));
            }
            self.wakes.insert((at, Wake::Listen));
        }
        self.listened(now);
    }
}
