//! A crowd of clients and one server over HTTP on a hostile network with a virtual clock, all of it in one world: requests
//! are lost, late, cut short, refused for want of a token, sent
//! elsewhere or kept from the server by a gateway, and the server is started again and knows nobody any more.
//!
//! One seed is run; `CROWD_SEEDS=40` runs so many, and `CROWD_SEED=7` that one.

#[path = "../pair/network.rs"]
mod network;
#[path = "../pair/tools.rs"]
mod tools;
mod world;

use mcp_proto::error::CallError;
use stats_alloc::{INSTRUMENTED_SYSTEM, Region, StatsAlloc};
use std::alloc::System;
use world::World;

#[global_allocator]
static ALLOCATOR: &StatsAlloc<System> = &INSTRUMENTED_SYSTEM;

const CLIENTS: usize = 1_000;
/// Bytes that a client may hold when all is over, besides what it held when it began: who the server is, and its tool.
/// One request that is kept of each call would be more.
const EACH: isize = 2 << 10;

fn held(region: &Region<'_, System>) -> isize {
    let change = region.change();
    change.bytes_allocated as isize - change.bytes_deallocated as isize
}

/// Each call of a thousand clients ends once, with a result or a typed error; nothing is carried out twice that may not
/// be; memory returns to what it was. All in one test, because the allocator is shared.
#[test]
fn a_crowd_in_a_storm_loses_nothing_and_leaves_nothing() {
    let number = |value: Option<&str>| value.map(|value| value.parse::<u64>().expect("a number"));
    let seeds = match number(option_env!("CROWD_SEED")) {
        Some(seed) => seed..seed + 1,
        None => 0..number(option_env!("CROWD_SEEDS")).unwrap_or(1),
    };
    // Whatever is made once for the whole process is there.
    World::new(99, 20).run();
    for seed in seeds {
        eprintln!("seed {seed}");
        let all = Region::new(ALLOCATOR);
        let (counts, each) = {
            let mut world = World::new(seed, CLIENTS);
            let grown = Region::new(ALLOCATOR);
            world.run();
            let counts = counts(&world);
            world.forget_the_past();
            (counts, held(&grown) / CLIENTS as isize)
        };
        // Before anything is printed, which is kept.
        let left = held(&all);
        for (what, count) in counts {
            eprintln!("{count} {what}");
            let applies = what != "compressed responses" || cfg!(feature = "gzip");
            assert!(count > CLIENTS / 20 || !applies, "{count} {what}");
        }
        eprintln!("{each} bytes for a client that has ended");
        assert!(each < EACH, "{each} bytes for a client that has ended");
        assert_eq!(left, 0, "bytes that nobody owns");
    }
}

/// A storm, and not the end of the world: all that may happen does, and often.
fn counts(world: &World) -> [(&'static str, usize); 23] {
    let of = |what: fn(&tools::Ledger) -> usize| world.ledgers().map(what).sum::<usize>();
    let errors = |which: fn(&CallError) -> bool| {
        world.ledgers().flat_map(|ledger| &ledger.errors).filter(|error| which(error)).count()
    };
    assert!(errors(|error| matches!(error, CallError::Misuse(_))) == 0, "nobody does anything wrong here");
    let seen = &world.seen;
    [
        ("calls that succeeded", of(|ledger| ledger.succeeded)),
        ("notices", of(|ledger| ledger.heard)),
        ("changes of subscriptions", of(|ledger| ledger.listened)),
        ("gaps", of(|ledger| ledger.missed)),
        ("timeouts", errors(|error| matches!(error, CallError::TimedOut { .. }))),
        ("cancellations", errors(|error| *error == CallError::Cancelled)),
        ("broken calls", errors(|error| matches!(error, CallError::Broken { .. }))),
        ("calls that were not let in", errors(|error| matches!(error, CallError::Unauthorized { .. }))),
        ("questions", seen.asked),
        ("answers", seen.answered),
        ("rounds", seen.rounds),
        ("refusals", seen.refused),
        ("requests that were held", seen.held),
        ("compressed responses", seen.coded),
        ("connections that a restart broke", seen.cut),
        ("calls over HTTP with SSE", seen.over_sse),
        ("refusals over HTTP with SSE", seen.refused_sse),
        ("redirects", seen.redirected),
        ("handshakes that a gateway refused", seen.unready),
        ("levels of logs", seen.levels),
        ("log messages", seen.logged),
        ("pages that were demanded", seen.demanded),
        ("pages that were agreed to", seen.visited),
    ]
}
