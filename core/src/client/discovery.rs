//! For how long a modern server is judged by what it said of itself.
//!
//! It says so by the `ttlMs` of its introduction. What would be refused by one that is older waits until the server has
//! introduced itself again, and is judged then; what can be made goes out all the while.
//!
//! <https://modelcontextprotocol.io/specification/2026-07-28/server/utilities/caching>

use super::cache::CacheUse;
use super::calls::CallId;
use super::config::CallOptions;
use super::link::Link;
use super::request::Source;
use crate::error::CallError;
use crate::time::Instant;
use alloc::boxed::Box;

/// How old the introduction is, and how far a new one is under way.
#[derive(Debug, Default)]
pub(super) struct Discovery {
    /// Until when it holds; `None` for as long as the connection, as in the legacy era.
    pub(super) until: Option<Instant>,
    /// Of two introductions under way at once, the one that was asked for later is the newer one.
    pub(super) order: u64,
    /// The call that asks for another, for as long as others wait for it.
    asking: Option<CallId>,
    /// It has ended, and the others are to be judged.
    due: bool,
    /// It was refused for want of authorization, which is what those hear then that cannot be made.
    refused: Option<Box<CallError>>,
}

impl Discovery {
    /// The call that asks for another introduction, as long as somebody waits for it.
    pub(super) const fn asked_by(&self) -> Option<CallId> {
        self.asking
    }

    pub(super) fn is_asked_by(&self, call: CallId) -> bool {
        self.asking == Some(call)
    }

    /// It is too old from now on, however long it was to hold.
    pub(super) fn doubt(&mut self) {
        self.until = self.until.map(|_| Instant::default());
    }

    /// Whether those that waited for it are to be judged now; they are, once this was asked.
    pub(super) const fn take_due(&mut self) -> bool {
        core::mem::replace(&mut self.due, false)
    }
}

impl Link {
    /// Whether what the server said of itself need not hold any more: it is too old, or of a process or session that is
    /// gone.
    pub(super) fn is_outdated(&self, now: Instant) -> bool {
        self.envelope.is_none() || self.discovery.until.is_some_and(|until| until <= now)
    }

    /// How the server is asked again.
    pub(super) fn asking_again(&self) -> CallOptions {
        CallOptions::new().cache(match self.config.cache {
            CacheUse::Off => CacheUse::Off,
            _ => CacheUse::Refresh,
        })
    }

    /// This is the call that does.
    pub(super) fn asks_again(&mut self, call: CallId) {
        self.calls.forget(call);
        self.discovery.asking = Some(call);
        self.discovery.refused = None;
    }

    /// A call has ended; if it was that one, however it ended, the others wait no longer.
    pub(super) fn asked_again(&mut self, call: CallId, outcome: Result<(), &CallError>) {
        if self.discovery.is_asked_by(call) {
            self.discovery.asking = None;
            self.discovery.due = true;
            let refused = outcome.err().filter(|error| matches!(error, CallError::Unauthorized { .. }));
            self.discovery.refused = refused.cloned().map(Box::new);
        }
    }

    /// Whether a call that has waited can be made, as far as the server is known by now. What a server would say to
    /// whoever it lets in is not known if it does not let in whoever asks.
    pub(super) fn possible_after_all(
        &self,
        source: &impl Source,
        options: &CallOptions,
    ) -> Result<(), CallError> {
        let possible = self.possible(source, options);
        match (&possible, &self.discovery.refused) {
            (Err(CallError::Unsupported { capability: Some(_), .. }), Some(refused)) => {
                Err((**refused).clone())
            }
            _ => possible,
        }
    }
}
