//! The ring of keys.

use super::*;
use crate::entropy::Seed;
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;

use crate::server::{Keyring, StateKey};

fn ring(seed: u8, keys: &[u8]) -> Config {
    let keys = keys.iter().map(|&key| StateKey::new([key; 32]));
    config(Keyring::new(Seed::new([seed; 32]), keys).unwrap())
}

/// MRTR-11, MRTR-12: no byte of it can be replaced by any other one.
#[test]
fn altering_any_byte_of_a_sealed_state_is_refused() {
    let config = ring(0, &[1]);
    let sealed = config.seal_state(at(0), &bound(), b"a state").unwrap();
    for index in 0..sealed.len() {
        for byte in 0..=0x7f {
            let mut altered = sealed.clone().into_bytes();
            if altered[index] != byte {
                altered[index] = byte;
                refused(&config, at(0), &bound(), core::str::from_utf8(&altered).unwrap());
            }
        }
    }
}

/// MRTR-12
#[test]
fn a_sealed_state_that_was_cut_or_made_longer_is_refused() {
    let config = ring(0, &[1]);
    let sealed = config.seal_state(at(0), &bound(), b"a state").unwrap();
    for end in 0..sealed.len() {
        refused(&config, at(0), &bound(), &sealed[..end]);
        refused(&config, at(0), &bound(), &sealed[end + 1..]);
    }
    for more in ["A", "AA", "AAAA", "=", "==", " ", "\n", "\0"] {
        refused(&config, at(0), &bound(), &[&sealed, more].concat());
        refused(&config, at(0), &bound(), &[more, &sealed].concat());
    }
    refused(&config, at(0), &bound(), &[&*sealed, &sealed].concat());
}

/// MRTR-11: what was sealed is not readable on the way.
#[test]
fn a_sealed_state_is_base64url_and_shows_nothing() {
    let config = ring(0, &[1]);
    let sealed = config.seal_state(at(0), &bound(), &[b'a'; 60]).unwrap();
    assert!(sealed.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_".contains(&byte)));
    let shown = URL_SAFE_NO_PAD.decode(&sealed).unwrap();
    assert!(!shown.windows(4).any(|window| window == b"aaaa"));
}

/// The steps that `Keyring` describes: at each of them every server opens what every other one has sealed.
#[test]
fn keys_can_be_replaced_one_server_at_a_time() {
    let steps = [&[1][..], &[1, 2], &[2, 1], &[2]];
    for pair in steps.windows(2) {
        for (sealing, opening) in [(pair[0], pair[1]), (pair[1], pair[0])] {
            let sealed = ring(0, sealing).seal_state(at(0), &bound(), b"s").unwrap();
            let opened = ring(9, opening).open_state(at(0), &bound(), &sealed);
            assert_eq!(opened.unwrap(), b"s", "{sealing:?} {opening:?}");
        }
    }
}

#[test]
fn a_state_of_a_key_that_is_not_in_the_ring_is_refused() {
    let sealed = ring(0, &[1, 2]).seal_state(at(0), &bound(), b"s").unwrap();
    assert!(refused(&ring(0, &[2, 3]), at(0), &bound(), &sealed).contains("key of this ring"));
}

#[test]
fn each_generated_ring_is_alone() {
    let [one, other] = [1, 2].map(|seed| config(Keyring::generate(Seed::new([seed; 32]))));
    let sealed = one.seal_state(at(0), &bound(), b"s").unwrap();
    assert!(one.open_state(at(0), &bound(), &sealed).is_ok());
    refused(&other, at(0), &bound(), &sealed);
}

#[test]
fn a_ring_without_keys_is_a_mistake() {
    assert!(Keyring::new(Seed::new([0; 32]), []).is_err());
}

/// A nonce that came twice would give the key away.
#[test]
fn no_two_seals_have_the_same_nonce() {
    let (one, other) = (ring(1, &[1]), ring(2, &[1]));
    let mut nonces = BTreeSet::new();
    for config in [&one, &other] {
        for _ in 0..1_000 {
            let sealed = config.seal_state(at(0), &bound(), b"the same").unwrap();
            let bytes = URL_SAFE_NO_PAD.decode(sealed).unwrap();
            assert!(nonces.insert(bytes[9..21].to_vec()));
        }
    }
}

/// Two copies of one process draw the same nonces, but not for two states.
#[test]
fn copies_of_a_ring_do_not_share_a_nonce_for_different_states() {
    let nonce = |state: &[u8]| {
        let sealed = ring(1, &[1]).seal_state(at(0), &bound(), state).unwrap();
        URL_SAFE_NO_PAD.decode(sealed).unwrap()[9..21].to_vec()
    };
    assert_eq!(nonce(b"one"), nonce(b"one"));
    assert_ne!(nonce(b"one"), nonce(b"two"));
}

/// Servers of several versions of this library may share keys, so the format stays readable.
#[test]
fn what_was_sealed_in_format_1_is_still_opened() {
    let sealed = "AYJrjbXcC2ycACnC9X7L24vVnjgsVyIE7iA_4WJYc-mllJVUOmQFd_foJJW2PofUNWbfDcascbfriWHjoeSffN_G0LiHv6vEHMkoZ1izy5KNtFCs";
    let config = ring(1, &[1]);
    assert_eq!(config.seal_state(at(0), &bound(), b"pinned").unwrap(), sealed);
    assert_eq!(config.open_state(at(0), &bound(), sealed).unwrap(), b"pinned");
}

#[test]
fn keys_do_not_print() {
    let key = StateKey::from([0x41; 32]);
    assert_eq!(alloc::format!("{key:?}"), "StateKey(..)");
    let ring = Keyring::new(Seed::new([0; 32]), [key]).unwrap();
    assert_eq!(alloc::format!("{ring:?}"), "Keyring { keys: 1, .. }");
}
