//! Taking up a legacy event stream where it broke off.
//!
//! <https://modelcontextprotocol.io/specification/2025-11-25/basic/transports#resumability-and-redelivery>

use super::exchange::{Purpose, Wake};
use super::{Http, HttpRequest};
use crate::client::calls::CallId;
use crate::dialect::Era;
use crate::error::CallError;
use crate::time::{Duration, Instant};
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

/// How long to wait before connecting again when the server did not say.
pub(super) const DEFAULT_RETRY: Duration = Duration::from_secs(1);
/// Attempts that bring nothing double the wait, up to this.
pub(super) const MAX_RETRY: Duration = Duration::from_secs(30);

/// A response that broke off.
#[derive(Debug)]
pub(super) struct Resume {
    /// After which event to go on.
    pub(super) after: String,
    /// When it is given up.
    pub(super) until: Instant,
    /// Attempts since something last came.
    fruitless: u32,
    /// When to try; `None` while that is under way.
    pub(super) at: Option<Instant>,
}

impl Http {
    /// The stream of a call has ended without its response. `after` is the last event id of that stream, if
    /// it named one; `came` whether it held anything at all.
    pub(super) fn broke_off(&mut self, now: Instant, call: CallId, after: Option<&str>, came: bool) {
        if self.revision().is_some_and(|revision| revision.era() == Era::Modern) {
            return self.make_again(now, call);
        }
        let resumable = self.revision().is_some_and(|revision| revision.dialect().http.resumption);
        let limits = &self.link.config.limits;
        let (floor, total) = (limits.retry_floor, limits.resume_total);
        let Some(flight) = self.flights.get_mut(&call) else { return };
        flight.exchange = None;
        let before = flight.resume.take();
        let id = match (after, &before) {
            (Some(after), _) => Some(after.into()),
            (None, Some(before)) => Some(before.after.clone()),
            (None, None) => None,
        };
        let Some(after) = id.filter(|_| resumable) else {
            let reason = "the response stream ended without the response".into();
            return self.settle(now, call, Err(CallError::Broken { reason, unsent: false }));
        };
        let (until, fruitless) = match before {
            // Something came, so the server is alive and its stream is worth another full wait.
            Some(before) if !came => (before.until, before.fruitless + 1),
            _ => (now + total, 0),
        };
        let retry = flight.retry.unwrap_or(DEFAULT_RETRY).max(floor);
        let doubled = retry.saturating_mul(1_u32.checked_shl(fruitless).unwrap_or(u32::MAX));
        // A longer wait that the server asked for stays what it is.
        let at = now + doubled.min(MAX_RETRY.max(retry));
        if at > until {
            let reason = format!("the response stream broke off and could not be resumed within {total:?}");
            return self.settle(now, call, Err(CallError::Broken { reason, unsent: false }));
        }
        flight.resume = Some(Resume { after, until, fruitless, at: Some(at) });
        self.wakes.insert((at, Wake::Resume(call)));
    }

    /// The time has come to connect again.
    pub(super) fn resume(&mut self, call: CallId) {
        let revision = self.revision();
        let mut head = self.plain_head("GET", revision);
        let Some(resume) = self.flights.get_mut(&call).and_then(|flight| flight.resume.as_mut()) else {
            return;
        };
        resume.at = None;
        head.headers.push("Last-Event-ID", &resume.after);
        let exchange = self.send(Purpose::Resume(call), HttpRequest { head, body: Vec::new() }, revision);
        if let Some(flight) = self.flights.get_mut(&call) {
            flight.exchange = Some(exchange);
        }
    }
}
