//! Body of a fuzz target: no text but what was sealed is ever opened, and that only for its request. Not part of
//! the API.

use alloc::sync::Arc;
use alloc::vec::Vec;
use core::time::Duration;

use super::{Bound, Keyring};
use crate::canonical::canonical;
use crate::entropy::Seed;
use crate::limits::Limits;
use crate::model::Implementation;
use crate::server::Config;
use crate::time::{Instant, Now};

/// The first two bytes say where a sealed text is altered and how; the rest is a text to open, a state to seal, and
/// the arguments of its request.
pub fn fuzz_seal(data: &[u8]) {
    let limits = Limits { state: 4 << 10, ..Limits::default() };
    let ring = Arc::new(Keyring::generate(Seed::new([7; 32])));
    let config = Config::new(Implementation::new("fuzz", "1")).limits(limits).state(ring);
    let now = Now::new(Instant::ZERO, Duration::from_secs(1));
    let (at, flip, rest) = match data {
        [at, flip, rest @ ..] => (usize::from(*at), flip & 0x7f, rest),
        _ => (0, 0, data),
    };
    let text = core::str::from_utf8(rest).unwrap_or("{}");
    let bound = Bound::new("tools/call", "t", text);
    assert!(config.open_state(now, &bound, text).is_err(), "nobody else can seal");
    let depth = config.limits.depth;
    let Some(once) = canonical(text, depth) else {
        assert!(config.seal_state(now, &bound, rest).is_err(), "a request that is no JSON has no state");
        return;
    };
    assert_eq!(canonical(core::str::from_utf8(&once).unwrap_or(""), depth), Some(once), "there is one form");
    let Ok(sealed) = config.seal_state(now, &bound, rest) else {
        assert!(rest.len() > 2 << 10, "a short state is sealed");
        return;
    };
    assert_eq!(config.open_state(now, &bound, &sealed).ok().as_deref(), Some(rest), "it comes back");
    assert!(config.open_state(now, &bound.principal(Some("eve")), &sealed).is_err(), "to nobody else");
    let mut altered: Vec<u8> = sealed.into_bytes();
    let index = at % altered.len();
    if let Some(byte) = altered.get_mut(index).filter(|_| flip > 0) {
        *byte ^= flip;
        if let Ok(altered) = core::str::from_utf8(&altered) {
            assert!(config.open_state(now, &bound, altered).is_err(), "not when it was altered");
        }
    }
}
