//! Why a machine wants to be woken.

use super::Instant;
use core::fmt;

/// What the next `poll_timeout` of a machine is for: to be read in logs and asserted in tests.
///
/// Every machine answers `wake_reason()` exactly when it answers `poll_timeout()`. What it then does is written
/// at the field of [`Limits`](crate::limits::Limits) that is named here.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum WakeReason {
    /// The head of an HTTP message has to be complete (`head_time`).
    Head,
    /// A request body has to make progress (`stall`), and to come to its end (`body_time`).
    Body,
    /// An access token has to be checked (`authentication`).
    Authentication,
    /// Whoever keeps the sessions has to answer (`session_answer`).
    SessionAnswer,
    /// The peer has to read what was written to it (`stall`).
    Write,
    /// An HTTP connection that carries nothing is closed (`keep_alive`).
    Idle,
    /// An exchange or connection that has served its purpose, or a message that needs no answer, is cut off.
    Linger,
    /// A silent response needs a sign of life (`keep_alive_comment`).
    Comment,
    /// A session may have been unused for too long (`session_idle`).
    Session,
    /// The input has ended, and running calls are given up (`drain`).
    Drain,
    /// The probe of the era has to be answered (`probe`).
    Probe,
    /// A step of the legacy handshake has to be answered (`request`, and `probe` for its last one).
    Handshake,
    /// What a client was asked has to be answered (`ask`).
    Ask,
    /// A call has to be answered (`request`, `request_max`).
    Call,
    /// A call is to be made again whose server asked to wait.
    Round,
    /// What the server refused is to be authorized (`authorization`).
    Authorization,
    /// A broken event stream is to be taken up again (`retry_floor`, `resume_total`).
    Resume,
    /// The server has to confirm the end of the session.
    Farewell,
}

/// In words, as they follow "woken for".
impl fmt::Display for WakeReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Head => "a head that is not complete",
            Self::Body => "a body that makes no progress",
            Self::Authentication => "the check of a token",
            Self::SessionAnswer => "whoever keeps the sessions",
            Self::Write => "a peer that does not read",
            Self::Idle => "an idle connection",
            Self::Linger => "the end of what is over",
            Self::Comment => "a keep-alive comment",
            Self::Session => "an idle session",
            Self::Drain => "calls that outlive their input",
            Self::Probe => "the answer to the probe",
            Self::Handshake => "the answer to the handshake",
            Self::Ask => "the answer of a client",
            Self::Call => "the answer to a call",
            Self::Round => "a call that is made again",
            Self::Authorization => "the authorization of a request",
            Self::Resume => "the resumption of a stream",
            Self::Farewell => "the end of the session",
        })
    }
}

/// A moment to wake at, and why.
pub(crate) type Wake = (Instant, WakeReason);

/// The earliest; of two at the same moment the first.
#[inline]
pub(crate) fn earliest(wakes: impl IntoIterator<Item = Option<Wake>>) -> Option<Wake> {
    // Asked for after each step: compilers make little of this, and much of `min_by_key`.
    let mut first: Option<Wake> = None;
    for wake in wakes.into_iter().flatten() {
        if first.is_none_or(|(at, _)| wake.0 < at) {
            first = Some(wake);
        }
    }
    first
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::time::Duration;

    #[test]
    fn the_earliest_moment_wins_and_of_equal_ones_the_first() {
        let at = |seconds| Instant::new(Duration::from_secs(seconds));
        let wakes = [Some((at(2), WakeReason::Call)), None, Some((at(1), WakeReason::Probe))];
        assert_eq!(earliest(wakes), Some((at(1), WakeReason::Probe)));
        let wakes = [Some((at(1), WakeReason::Write)), Some((at(1), WakeReason::Body))];
        assert_eq!(earliest(wakes), Some((at(1), WakeReason::Write)));
        assert_eq!(earliest([]), None);
    }
}
