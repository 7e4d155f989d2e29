//! Two real peers on a hostile network with a virtual clock.
//!
//! Each test runs many seeds; a failing one is printed, and running it alone gives the same events again.
//! What must hold whatever the network does: every call ends exactly once, no answer goes to another call,
//! nothing is left behind, and it all ends within a bounded number of steps.

mod http;
mod network;
mod stream;
mod tools;

use mcp_proto::client::EraChoice;
use mcp_proto::dialect::{Era, Revision};
use mcp_proto::server::Revisions;
use network::Rng;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// Runs a test for many seeds and says which one failed.
fn seeds(count: u64, test: impl Fn(u64)) {
    for seed in 0..count {
        if let Err(panic) = catch_unwind(AssertUnwindSafe(|| test(seed))) {
            eprintln!("failed with seed {seed}");
            std::panic::resume_unwind(panic);
        }
    }
}

/// What a client wants to speak.
fn choice(rng: &mut Rng) -> EraChoice {
    match rng.below(6) {
        0 => EraChoice::Modern,
        1 => EraChoice::Legacy,
        2 => EraChoice::Pinned(Revision::ALL[rng.below(Revision::ALL.len())]),
        _ => EraChoice::Auto,
    }
}

/// What a server speaks.
fn revisions(rng: &mut Rng) -> Revisions {
    match rng.below(4) {
        0 => Revisions::era(Era::Legacy),
        1 => Revisions::era(Era::Modern),
        _ => Revisions::default(),
    }
}
