//! The end of the process at the other end of the stream, and what may follow it.

use super::noise::Noise;
use super::{Connection, State};
use crate::client::config::EraChoice;
use crate::client::event::Out;
use crate::client::negotiate::{Negotiation, Step};
use crate::dialect::Era;
use crate::error::CallError;
use crate::head::End;
use crate::time::{Duration, Instant, Now};
use crate::wire::jsonrpc;
use crate::wire::lines::{Line, Lines};

/// A process that has lived so long is worth as many restarts as any.
const LASTING: Duration = Duration::from_secs(60);

/// How often a process was started again.
#[derive(Debug, Default)]
pub(super) struct Restarts {
    /// When the one that is there was ready.
    since: Option<Instant>,
    in_a_row: u32,
}

impl Restarts {
    /// A process is ready.
    pub(super) fn begin(&mut self, now: Instant) {
        self.since = Some(now);
    }

    /// A process has died: how long to wait before the next one is started, if it is.
    fn next(&mut self, now: Instant, most: u32) -> Option<Duration> {
        if self.since.take().is_some_and(|since| now.saturating_since(since) >= LASTING) {
            self.in_a_row = 0;
        }
        if self.in_a_row >= most {
            return None;
        }
        let wait = match self.in_a_row {
            0 => Duration::ZERO,
            before => Duration::from_secs(1_u64.checked_shl(before - 1).unwrap_or(u64::MAX)),
        };
        self.in_a_row += 1;
        Some(wait)
    }
}

impl Connection {
    /// The server's output has ended, or writing to it failed.
    pub fn handle_end(&mut self, now: Now, end: End) {
        let what = match end {
            End::Complete => "the server closed the connection",
            End::Broken => "the connection to the server broke",
        };
        self.handle_failed(now, what);
    }

    /// The same, with the reason in the words of whoever knows more: how the process exited, what it last
    /// wrote to stderr.
    pub fn handle_failed(&mut self, now: Now, reason: &str) {
        let ended = || CallError::Broken { reason: reason.into(), unsent: true };
        let another = match self.state {
            State::Closed => return,
            State::Negotiating { .. } => self.link.negotiation.ended(ended()),
            _ => None,
        };
        match another {
            Some(step) => {
                self.state = State::Respawning { step };
                self.link.events.act(Out::Respawn(Duration::ZERO));
            }
            None => {
                // A server may exit without ending its last line, or in the middle of it: then it has not said anything.
                let mut lines = core::mem::replace(&mut self.lines, Lines::new(0));
                let depth = self.link.config.limits.depth;
                let cut =
                    |line: &Line<'_>| matches!(line, Line::Line(line) if jsonrpc::read(line, depth).is_err());
                match lines.end() {
                    Some(Line::Line(line)) if cut(&Line::Line(line)) => self.hears_noise(line),
                    Some(line) => self.line(now.mono, line),
                    None => {}
                }
                if matches!(self.state, State::Closed) {
                    return;
                }
                let unsent = self.link.envelope.is_none();
                let error = CallError::Broken { reason: self.after_noise(reason).into_owned(), unsent };
                match self.restart(now.mono) {
                    Some((step, after)) => {
                        self.link.lose(&error);
                        self.state = State::Respawning { step };
                        self.link.events.act(Out::Respawn(after));
                    }
                    None => self.finish(error),
                }
            }
        }
    }

    /// A new server process has taken the place of the one that ended. Without
    /// [`Output::Respawn`](super::Output::Respawn) before it, this does nothing.
    pub fn handle_respawned(&mut self, now: Now) {
        match core::mem::replace(&mut self.state, State::Closed) {
            State::Respawning { step } => {
                self.lines = Lines::new(self.link.config.limits.message);
                self.out.clear();
                self.sent = 0;
                self.unanswered.clear();
                self.abandoned.clear();
                self.noise = Noise::default();
                self.follow(now.mono, step);
            }
            state => self.state = state,
        }
    }

    /// Whether the server is to be started again because somebody listens to it (STDIO-19): how to begin with it, and
    /// after which time.
    fn restart(&mut self, now: Instant) -> Option<(Step, Duration)> {
        let revision = self.link.details.as_deref()?.revision;
        if matches!(self.state, State::Respawning { .. }) || !self.link.subscriptions.is_wanted() {
            return None;
        }
        let after = self.restarts.next(now, self.link.config.limits.restarts)?;
        // It was known how it speaks, and it is the same program.
        let (negotiation, step) = match revision.era() {
            Era::Modern => Negotiation::new(EraChoice::Pinned(revision), None),
            Era::Legacy => Negotiation::again(self.link.config.era, revision),
        };
        self.link.negotiation = negotiation;
        Some((step, after))
    }
}
