use super::*;
use sha2::{Digest, Sha256};

/// As many bytes as wanted, the same for the same number.
fn bytes(seed: u64, len: usize) -> Vec<u8> {
    let blocks = (0_u64..).map(|block| Sha256::digest([seed.to_le_bytes(), block.to_le_bytes()].concat()));
    blocks.flatten().take(len).collect()
}

#[test]
fn connections_survive_any_script() {
    for seed in 0..3_000 {
        let script = bytes(seed, 40 + seed as usize % 600);
        std::panic::catch_unwind(|| fuzz_connection(&script)).unwrap_or_else(|_| panic!("seed {seed}"));
    }
}

#[test]
fn http_survives_any_script() {
    for seed in 0..3_000 {
        let script = bytes(seed, 40 + seed as usize % 600);
        std::panic::catch_unwind(|| fuzz_http(&script)).unwrap_or_else(|_| panic!("seed {seed}"));
    }
}
