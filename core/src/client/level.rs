//! From which level on the server is to send log messages.
//!
//! A modern server is told with each request. A legacy one is told by a call, at the beginning of each session, and other
//! calls wait for its answer: over HTTP they could overtake it, and a server may serve side by side what comes on one
//! stream. The first call of a session would bring messages that nobody wants then, or lack some that are.
//!
//! <https://modelcontextprotocol.io/specification/2025-11-25/server/utilities/logging#setting-log-level>

use super::call::SetLevel;
use super::calls::CallId;
use super::config::CallOptions;
use super::link::Link;
use crate::diagnostic::Diagnostic;
use crate::dialect::Era;
use crate::error::CallError;
use crate::model::logging::LoggingLevel;
use alloc::borrow::ToOwned;
use alloc::format;

/// The level that is wanted, and how far a legacy server has been told.
#[derive(Debug)]
pub(super) struct Level {
    pub(super) wanted: Option<LoggingLevel>,
    /// The call that tells it to the server, for as long as others wait for it.
    telling: Option<CallId>,
    /// The server has lost the session instead of answering that call.
    lost: bool,
}

impl Level {
    pub(super) const fn new(wanted: Option<LoggingLevel>) -> Self {
        Self { wanted, telling: None, lost: false }
    }

    /// The call that others wait for, as it tells the server.
    pub(super) const fn told_by(&self) -> Option<CallId> {
        self.telling
    }

    pub(super) fn is_told_by(&self, call: CallId) -> bool {
        self.telling == Some(call)
    }

    /// Nobody waits for that call any more.
    pub(super) const fn give_up(&mut self) {
        self.telling = None;
    }

    /// The call found that the session is lost. Whether that is news; else it is how the server refuses the call.
    pub(super) const fn lose_session(&mut self) -> bool {
        !core::mem::replace(&mut self.lost, true)
    }
}

impl Link {
    /// Log messages from this level on are wanted from now on, in this session and those after it.
    pub(super) fn set_log_level(&mut self, level: LoggingLevel) -> Result<(), CallError> {
        if let Some(details) = self.details.as_deref()
            && self.config.check_capabilities
            && details.capabilities.logging.is_none()
        {
            let what = "log messages: it did not declare the capability `logging`".to_owned();
            return Err(CallError::Unsupported { what, capability: Some("logging") });
        }
        self.level.wanted = Some(level);
        if let Some(envelope) = &mut self.envelope {
            envelope.log_level = Some(level);
        }
        Ok(())
    }

    /// The call that tells a legacy server the level, if it can be told (LOG-06).
    pub(super) fn level_to_tell(&self) -> Option<(SetLevel, CallOptions)> {
        let details = self.details.as_deref()?;
        let can = details.era() == Era::Legacy && details.capabilities.logging.is_some();
        let level = self.level.wanted.filter(|_| can)?;
        // A server that does not answer holds up the calls for no longer than one that does not answer a probe.
        let patience = self.config.limits.probe;
        Some((SetLevel(level), CallOptions::new().timeout(patience).max(patience)))
    }

    /// This is that call, on its way.
    pub(super) fn telling_level(&mut self, call: CallId) {
        self.calls.forget(call);
        self.level.telling = Some(call);
    }

    /// A call has ended; if it was that one, the others need not wait any more.
    pub(super) fn level_told(&mut self, call: CallId, outcome: Result<(), &CallError>) {
        if !self.level.is_told_by(call) {
            return;
        }
        self.level.telling = None;
        match outcome {
            Ok(()) => self.level.lost = false,
            Err(error) => self.events.diagnose(Diagnostic::new(
                "client",
                format!("the server was to send log messages from a level on, and may send others: {error}"),
            )),
        }
    }
}
