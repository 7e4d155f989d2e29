use super::*;
use crate::client::lists::ListTools;
use crate::client::resources::ReadResource;
use crate::limits::Limits;
use alloc::format;

fn at(ms: u64) -> Instant {
    Instant::new(Duration::from_millis(ms))
}

fn cache(change: impl FnOnce(&mut Limits)) -> Cache {
    let mut limits = Limits::default();
    change(&mut limits);
    Cache::new(&crate::client::testing::config().limits(limits), true)
}

fn key(uri: &str) -> Key {
    Key::of(&ReadResource::new(uri), Revision::LATEST, &Meta::new(), 128).unwrap()
}

/// Keeps what is at a URI; whether that was done.
fn keep(cache: &mut Cache, uri: &str, ttl: &str, padding: usize) -> bool {
    let claim = cache.claim(key(uri), Some(uri), CacheUse::FreshOrStale, 1);
    let result = format!("{{\"contents\":[],\"ttlMs\":{ttl},\"x\":\"{}\"}}", "p".repeat(padding));
    cache.keep(at(0), claim, Json::parse(result).unwrap()).is_ok()
}

fn has(cache: &mut Cache, now: u64, uri: &str) -> bool {
    cache.find(at(now), &key(uri), false).is_some()
}

#[test]
fn as_many_as_the_bound_are_kept_and_the_least_recently_used_gives_way() {
    let mut cache = cache(|limits| limits.cache_entries = 3);
    for uri in ["x:a", "x:b", "x:c"] {
        assert!(keep(&mut cache, uri, "1000", 0));
    }
    assert!(["x:a", "x:b", "x:c"].iter().all(|uri| has(&mut cache, 0, uri)));
    assert!(has(&mut cache, 0, "x:a"));
    assert!(keep(&mut cache, "x:d", "1000", 0));
    assert!(!has(&mut cache, 0, "x:b"));
    assert!(["x:a", "x:c", "x:d"].iter().all(|uri| has(&mut cache, 0, uri)));
}

#[test]
fn as_many_bytes_as_the_bound_are_kept() {
    let mut one = cache(|_| ());
    keep(&mut one, "x:a", "1000", 100);
    let bytes = one.bytes;
    let mut cache = cache(|limits| limits.cache_bytes = 2 * bytes);
    assert!(keep(&mut cache, "x:a", "1000", 100) && keep(&mut cache, "x:b", "1000", 100));
    assert_eq!((cache.bytes, cache.entries.len()), (2 * bytes, 2));
    assert!(keep(&mut cache, "x:c", "1000", 101));
    assert!(cache.entries.len() == 1 && has(&mut cache, 0, "x:c"), "one byte too many, so both gave way");
    assert!(keep(&mut cache, "x:c", "1000", 100 + bytes));
    assert_eq!(cache.bytes, 2 * bytes);
    assert!(!keep(&mut cache, "x:c", "1000", 101 + bytes), "longer than all the room");
    assert_eq!((cache.bytes, cache.entries.len()), (0, 0), "and what it would replace is not true any more");
}

#[test]
fn with_no_entries_nothing_is_kept() {
    assert!(!keep(&mut cache(|limits| limits.cache_entries = 0), "x:a", "1000", 0));
}

#[test]
fn an_absurd_time_to_live_is_cut() {
    for ttl in ["86400001", "18446744073709551615", "1e300", "99999999999999999999999"] {
        let mut cache = cache(|_| ());
        assert!(keep(&mut cache, "x:a", ttl, 0), "{ttl}");
        assert!(has(&mut cache, 86_399_999, "x:a") && !has(&mut cache, 86_400_000, "x:a"), "{ttl}");
    }
}

/// CACHE-20: to the millisecond.
#[test]
fn what_is_stale_goes_when_it_is_of_no_use_to_anybody() {
    let mut cache = cache(|limits| limits.cache_stale = Duration::from_secs(1));
    keep(&mut cache, "x:a", "1000", 0);
    let found = cache.find(at(1_999), &key("x:a"), true).unwrap();
    assert!(!found.fresh);
    assert!(cache.find(at(2_000), &key("x:a"), true).is_none());
    assert_eq!((cache.entries.len(), cache.bytes), (0, 0));
}

#[test]
fn a_claim_and_a_cache_print_no_payload() {
    let mut cache = cache(|_| ());
    keep(&mut cache, "x:hush", "1000", 3);
    let claim = cache.claim(key("x:hush"), Some("x:hush"), CacheUse::FreshOrStale, 1);
    let printed = format!("{cache:?} {claim:?}");
    assert!(!printed.contains("hush") && !printed.contains("ppp"), "{printed}");
}

#[test]
fn a_cursor_is_not_taken_for_another_parameter() {
    let of = |cursor: &str| Key::of(&ListTools::after(cursor), Revision::LATEST, &Meta::new(), 128).unwrap();
    assert!(of("2") != of("2\"") && of("2") == of("2"));
}
