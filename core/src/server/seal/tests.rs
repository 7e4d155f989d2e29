use alloc::sync::Arc;
use std::collections::BTreeSet;
use std::string::{String, ToString};
use std::vec::Vec;

use super::*;
use crate::model::lifecycle::Implementation;
use crate::time::Instant;

#[cfg(feature = "seal")]
mod keys;

/// A codec that hides nothing and protects nothing: what `Config` checks itself, it checks with this one, too.
#[derive(Debug)]
struct Bare;

impl StateCodec for Bare {
    fn seal(&self, _: Now, _: &Bound<'_>, state: &[u8]) -> Result<String, StateError> {
        Ok(state.iter().map(|byte| alloc::format!("{byte:02x}")).collect())
    }

    fn open(&self, _: Now, _: &Bound<'_>, sealed: &str) -> Result<Vec<u8>, StateError> {
        let digits = |index| sealed.get(index..index + 2).and_then(|hex| u8::from_str_radix(hex, 16).ok());
        (0..sealed.len()).step_by(2).map(digits).collect::<Option<_>>().ok_or(StateError::new("no hex"))
    }
}

const ARGUMENTS: &str = r#"{"from":"a","to":"b"}"#;

fn config(codec: impl StateCodec + 'static) -> Config {
    Config::new(Implementation::new("travel", "1")).state(Arc::new(codec))
}

fn bound() -> Bound<'static> {
    Bound::new("tools/call", "book", ARGUMENTS).audience("travel").principal(Some("ada"))
}

/// `millis` after some day of 2026.
fn at(millis: u64) -> Now {
    let unix = Duration::from_secs(1_780_000_000) + Duration::from_millis(millis);
    Now::new(Instant::new(Duration::from_millis(millis)), unix)
}

/// What is told of a refusal: always the same to the peer, the reason here.
fn refused(config: &Config, now: Now, bound: &Bound<'_>, sealed: &str) -> String {
    let error = config.open_state(now, bound, sealed).expect_err("refused");
    assert_eq!((error.code, &*error.message), (code::INVALID_PARAMS, NOT_VALID));
    assert_eq!(error.status(), 200);
    error.detail
}

/// MRTR-09: any bytes, none included.
#[test]
fn what_was_sealed_is_opened_for_the_same_request() {
    let config = config(Bare);
    for state in [&b""[..], b"\0\xff", br#"{"round":1}"#] {
        let sealed = config.seal_state(at(0), &bound(), state).unwrap();
        assert_eq!(config.open_state(at(1), &bound(), &sealed).unwrap(), state);
    }
}

/// MRTR-16
#[test]
fn a_state_is_refused_on_another_request() {
    let config = config(Bare);
    let sealed = config.seal_state(at(0), &bound(), b"s").unwrap();
    let others = [
        Bound { method: "prompts/get", ..bound() },
        Bound { target: "cancel", ..bound() },
        Bound { arguments: r#"{"from":"a","to":"c"}"#, ..bound() },
        Bound { arguments: "{}", ..bound() },
        // Nothing moves from one part into the next.
        Bound { method: "tools/callbook", target: "", ..bound() },
    ];
    for other in others {
        assert!(refused(&config, at(0), &other, &sealed).contains("another request"), "{}", other.target);
    }
}

/// MRTR-16: how a client writes its arguments is its own business.
#[test]
fn a_state_is_opened_when_the_same_arguments_are_written_otherwise() {
    let config = config(Bare);
    let sealed = config.seal_state(at(0), &bound(), b"s").unwrap();
    let bound = Bound { arguments: r#"{ "to": "\u0062", "from": "a" }"#, ..bound() };
    assert_eq!(config.open_state(at(0), &bound, &sealed).unwrap(), b"s");
}

/// ELIC-45, ELIC-46, MRTR-14, SEC-14, SEC-15: holding it proves nothing.
#[test]
fn a_state_is_refused_from_another_principal() {
    let config = config(Bare);
    let somebody = [Some("ada"), Some("eve"), Some(""), None];
    for owner in somebody {
        let sealed = config.seal_state(at(0), &bound().principal(owner), b"s").unwrap();
        for bearer in somebody {
            let opened = config.open_state(at(0), &bound().principal(bearer), &sealed);
            assert_eq!(opened.is_ok(), owner == bearer, "{owner:?} {bearer:?}");
        }
    }
}

/// MRTR-16
#[test]
fn a_state_is_refused_by_another_server_that_shares_the_keys() {
    let config = config(Bare);
    let sealed = config.seal_state(at(0), &bound(), b"s").unwrap();
    refused(&config, at(0), &bound().audience("hotel"), &sealed);
}

/// MRTR-15, SEC-15: to the millisecond.
#[test]
fn a_state_expires_after_its_life_and_what_clocks_may_differ() {
    let config = config(Bare);
    let sealed = config.seal_state(at(0), &bound(), b"s").unwrap();
    let last = config.limits.state_life + config.limits.clock_skew;
    let last = u64::try_from(last.as_millis()).unwrap();
    assert_eq!(last, 310_000);
    assert!(config.open_state(at(last), &bound(), &sealed).is_ok());
    assert_eq!(refused(&config, at(last + 1), &bound(), &sealed), "it has expired");
}

/// MRTR-15: a clock that was set back does not make it live longer.
#[test]
fn a_state_from_the_future_is_refused_beyond_what_clocks_may_differ() {
    let config = config(Bare);
    let sealed = config.seal_state(at(10_000), &bound(), b"s").unwrap();
    assert!(config.open_state(at(0), &bound(), &sealed).is_ok());
    let sealed = config.seal_state(at(10_001), &bound(), b"s").unwrap();
    assert!(refused(&config, at(0), &bound(), &sealed).contains("later"));
}

/// MRTR-15: and a shorter life holds for what was sealed before.
#[test]
fn a_shorter_life_ends_older_states() {
    let mut config = config(Bare);
    let sealed = config.seal_state(at(0), &bound(), b"s").unwrap();
    config.limits.state_life = Duration::from_secs(60);
    refused(&config, at(0), &bound(), &sealed);
    assert!(config.open_state(at(230_000), &bound(), &sealed).is_ok());
}

/// The text that travels counts, in both directions.
#[test]
fn a_state_of_exactly_the_bound_is_sealed_and_opened_and_none_longer() {
    let mut config = config(Bare);
    let state = [7; 100];
    let sealed = config.seal_state(at(0), &bound(), &state).unwrap();
    config.limits.state = sealed.len();
    assert_eq!(config.seal_state(at(0), &bound(), &state).unwrap(), sealed);
    assert!(config.open_state(at(0), &bound(), &sealed).is_ok());
    config.limits.state = sealed.len() - 1;
    assert!(config.seal_state(at(0), &bound(), &state).unwrap_err().to_string().contains("more than"));
    assert!(refused(&config, at(0), &bound(), &sealed).contains("Limits::state"));
}

/// MRTR-10: whatever comes, the answer is the same.
#[test]
fn whatever_text_comes_is_refused_with_the_same_error() {
    let config = config(Bare);
    for text in ["", "0", "zz", "01", "é", &"0".repeat(2 * FRAME), &"01".repeat(FRAME - 1)] {
        refused(&config, at(0), &bound(), text);
    }
}

#[test]
fn without_a_codec_nothing_is_sealed_and_nothing_opened() {
    let config = Config::new(Implementation::new("travel", "1"));
    assert!(config.seal_state(at(0), &bound(), b"s").is_err());
    assert!(refused(&config, at(0), &bound(), "00").contains("no codec"));
}

/// A request whose arguments cannot be told apart from others has no state.
#[test]
fn arguments_that_are_no_json_have_no_state() {
    let config = config(Bare);
    let broken = Bound { arguments: "{", ..bound() };
    assert!(config.seal_state(at(0), &broken, b"s").is_err());
    let sealed = config.seal_state(at(0), &bound(), b"s").unwrap();
    refused(&config, at(0), &broken, &sealed);
}

#[test]
fn a_digest_tells_all_parts_apart() {
    let requests = [
        Bound::new("a", "b", "1"),
        Bound::new("ab", "", "1"),
        Bound::new("", "ab", "1"),
        Bound::new("a", "b", "2"),
        Bound::new("a", "b", "1").audience("c"),
        Bound::new("a", "b", "1").principal(Some("c")),
        Bound::new("a", "b", "1").principal(Some("")),
    ];
    let digests: BTreeSet<_> = requests.iter().map(|bound| bound.digest(128).unwrap()).collect();
    assert_eq!(digests.len(), requests.len());
}
