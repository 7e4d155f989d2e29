//! Request state: what a server wants to know again when a client comes back with what it was asked for.
//!
//! It travels through the client, who is not to be trusted with it. So it is sealed, and can be opened only
//! for the request that it was sealed for, by its principal, and soon.
//!
//! <https://modelcontextprotocol.io/specification/2026-07-28/basic/patterns/mrtr#server-requirements-basic-workflow>

#[cfg(feature = "seal")]
pub(super) mod fuzz;
#[cfg(feature = "seal")]
mod keyring;
#[cfg(test)]
mod tests;

use alloc::borrow::Cow;
use alloc::string::String;
use alloc::vec::Vec;
use core::fmt;
use core::time::Duration;

use sha2::{Digest, Sha256};

use super::call::Call;
use super::config::Config;
use crate::canonical::canonical;
use crate::error::{PeerError, code};
use crate::time::Now;

#[cfg(feature = "seal")]
pub use keyring::{Keyring, StateKey};

/// What the peer is told, whatever is wrong: a text that tells more would help to forge.
const NOT_VALID: &str = "requestState is not valid";

/// The request that a state belongs to. Opened for any other one, it is refused (MRTR-14, MRTR-16).
#[derive(Clone, Copy)]
#[non_exhaustive]
pub struct Bound<'a> {
    /// The method, such as `tools/call`.
    pub method: &'a str,
    /// The name or URI that the request is for.
    pub target: &'a str,
    /// Its arguments as JSON text. How they are written does not matter: not the order of members, not the
    /// notation of a number, not escapes.
    pub arguments: &'a str,
    /// The server that the state is for.
    pub audience: &'a str,
    /// The [`subject`](super::Principal::subject) behind the request, if somebody was recognised.
    pub principal: Option<&'a str>,
}

impl<'a> Bound<'a> {
    /// A request that nobody recognised has sent. `arguments` is JSON text.
    pub fn new(method: &'a str, target: &'a str, arguments: &'a str) -> Self {
        Self { method, target, arguments, audience: "", principal: None }
    }

    /// The request behind a call of this server.
    pub fn of(call: &'a Call, config: &'a Config) -> Self {
        let audience = config.state_audience.as_deref().unwrap_or(&config.identity().name);
        Self::new(call.target().method(), call.name(), call.arguments())
            .audience(audience)
            .principal(call.principal().map(|principal| &*principal.subject))
    }

    /// For this server.
    #[must_use]
    pub fn audience(mut self, audience: &'a str) -> Self {
        self.audience = audience;
        self
    }

    /// From this principal.
    #[must_use]
    pub fn principal(mut self, principal: Option<&'a str>) -> Self {
        self.principal = principal;
        self
    }

    /// Differs between any two requests that differ.
    fn digest(&self, depth: usize) -> Result<[u8; 32], StateError> {
        let arguments = canonical(self.arguments, depth)
            .ok_or(StateError::new("the arguments are no JSON, or too deep"))?;
        let mut digest = Sha256::new();
        let parts = [self.method.as_bytes(), self.target.as_bytes(), &arguments, self.audience.as_bytes()];
        for part in parts.into_iter().chain(self.principal.map(str::as_bytes)) {
            // With its length, so that no part can pass for the beginning of the next. A principal is one part
            // more, so that an empty name is not nobody.
            digest.update((part.len() as u64).to_be_bytes());
            digest.update(part);
        }
        Ok(digest.finalize().into())
    }
}

/// Prints without arguments and principal.
impl fmt::Debug for Bound<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Bound").field("method", &self.method).finish_non_exhaustive()
    }
}

/// Makes text of a state that nobody else can read or alter, and reads it again.
///
/// [`Keyring`] does it with AES-256-GCM. Implement this for keys that live elsewhere, or to keep states in a
/// store and hand out random names of them, which can be used once (MRTR-17).
///
/// That a state is opened for the same request and in time is not left to this: both are checked on what `open`
/// returns. `now` and `bound` are for a codec that wants to choose a key by principal, or to know when its
/// store may forget. One that needs randomness brings its own, as [`Keyring`] does.
pub trait StateCodec: fmt::Debug + Send + Sync {
    /// Seals `state`, which is binary.
    ///
    /// # Errors
    /// When that is not possible. The call fails with an internal error.
    fn seal(&self, now: Now, bound: &Bound<'_>, state: &[u8]) -> Result<String, StateError>;

    /// Returns what was sealed. `sealed` comes from a client and can be any text.
    ///
    /// # Errors
    /// When `sealed` is not what [`seal`](Self::seal) has made. Why is for people on this side alone.
    fn open(&self, now: Now, bound: &Bound<'_>, sealed: &str) -> Result<Vec<u8>, StateError>;
}

/// Why a state cannot be sealed or opened, for people on this side. The peer never hears of it.
#[derive(Clone, PartialEq, Eq)]
pub struct StateError {
    detail: Cow<'static, str>,
}

impl StateError {
    /// The reason, which must not repeat the state.
    pub fn new(detail: impl Into<Cow<'static, str>>) -> Self {
        Self { detail: detail.into() }
    }
}

impl fmt::Display for StateError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.detail)
    }
}

impl core::error::Error for StateError {}

crate::text::debug_like_display!(StateError);

/// One error for every reason (MRTR-12).
impl From<StateError> for PeerError {
    fn from(error: StateError) -> Self {
        Self::new(code::INVALID_PARAMS, NOT_VALID, error.detail)
    }
}

impl Config {
    /// Seals a state for a request, for [`Limits::state_life`](crate::limits::Limits::state_life).
    ///
    /// # Errors
    /// When there is no [`codec`](Self::state), when it fails, or when the text is longer than
    /// [`Limits::state`](crate::limits::Limits::state).
    pub fn seal_state(&self, now: Now, bound: &Bound<'_>, state: &[u8]) -> Result<String, StateError> {
        let limit = self.limits.state;
        let too_long = || StateError::new(alloc::format!("the state takes more than {limit} bytes"));
        if state.len() > limit {
            return Err(too_long());
        }
        let expires = now.unix.saturating_add(self.limits.state_life);
        let frame = frame(expires, &bound.digest(self.limits.depth)?, state);
        let sealed = self.codec()?.seal(now, bound, &frame)?;
        if sealed.len() > limit { Err(too_long()) } else { Ok(sealed) }
    }

    /// Opens what a client sent as `requestState`, for the request that it came with (MRTR-10).
    ///
    /// # Errors
    /// One and the same for every reason: it was altered, made by somebody else, for another request, principal
    /// or server, is too old or too long. Only its `detail` differs, which stays on this side.
    pub fn open_state(&self, now: Now, bound: &Bound<'_>, sealed: &str) -> Result<Vec<u8>, PeerError> {
        Ok(self.open(now, bound, sealed)?)
    }

    fn open(&self, now: Now, bound: &Bound<'_>, sealed: &str) -> Result<Vec<u8>, StateError> {
        if sealed.len() > self.limits.state {
            return Err(StateError::new("it is longer than `Limits::state`"));
        }
        let mut frame = self.codec()?.open(now, bound, sealed)?;
        let (expires, digest) = unframe(&mut frame)?;
        let (life, skew) = (self.limits.state_life, self.limits.clock_skew);
        if now.unix > expires.saturating_add(skew) {
            return Err(StateError::new("it has expired"));
        }
        // A clock that was set back, or a bound that was lowered, must not make a state live longer.
        if expires > now.unix.saturating_add(life).saturating_add(skew) {
            return Err(StateError::new("it expires later than anything sealed by now can"));
        }
        if bound.digest(self.limits.depth)? != digest {
            return Err(StateError::new("it was sealed for another request, principal or server"));
        }
        Ok(frame)
    }

    fn codec(&self) -> Result<&dyn StateCodec, StateError> {
        self.state.as_deref().ok_or(StateError::new("there is no codec for request state"))
    }
}

/// The first byte of what is sealed: how the rest is to be read.
const FORMAT: u8 = 1;
/// Format, expiry in milliseconds since 1970, digest of the request.
const FRAME: usize = 1 + 8 + 32;

fn frame(expires: Duration, digest: &[u8; 32], state: &[u8]) -> Vec<u8> {
    let expires = u64::try_from(expires.as_millis()).unwrap_or(u64::MAX);
    let mut frame = Vec::with_capacity(FRAME + state.len());
    frame.push(FORMAT);
    frame.extend_from_slice(&expires.to_be_bytes());
    frame.extend_from_slice(digest);
    frame.extend_from_slice(state);
    frame
}

/// Takes the frame off, and leaves the state.
fn unframe(frame: &mut Vec<u8>) -> Result<(Duration, [u8; 32]), StateError> {
    let read = |frame: &[u8]| {
        let (&format, rest) = frame.split_first()?;
        let (expires, rest) = rest.split_first_chunk()?;
        let (digest, _) = rest.split_first_chunk()?;
        (format == FORMAT).then_some((Duration::from_millis(u64::from_be_bytes(*expires)), *digest))
    };
    let read = read(frame).ok_or(StateError::new("what was sealed is not of this format"))?;
    frame.drain(..FRAME);
    Ok(read)
}
