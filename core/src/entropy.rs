//! Randomness as a value: a seed comes in once, and the same seed gives the same bytes.

use core::fmt;
use sha2::{Digest, Sha256};

/// 32 bytes of entropy from the embedding application.
///
/// There is no fallback to the operating system: whoever builds a machine decides where chance comes from,
/// so a test can replay a transcript byte for byte. Prints as `Seed(..)`; a seed is a secret.
#[derive(Clone, PartialEq, Eq)]
pub struct Seed([u8; 32]);

impl Seed {
    /// Takes 32 bytes that nobody else can guess.
    pub const fn new(bytes: [u8; 32]) -> Self {
        Self(bytes)
    }

    /// A seed for one purpose, from which neither this one nor that of another purpose can be told.
    #[cfg(feature = "seal")]
    pub(crate) fn derive(&self, purpose: &str) -> Self {
        let label = b"mcp-proto: seed for ";
        Self(Sha256::new().chain_update(label).chain_update(self.0).chain_update(purpose).finalize().into())
    }
}

impl fmt::Debug for Seed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Seed(..)")
    }
}

/// An endless stream of bytes grown from a [`Seed`]: SHA-256 over the seed and a counter, so that what was
/// handed out tells nothing about what comes next.
#[derive(Clone, Debug)]
pub(crate) struct Entropy {
    seed: Seed,
    counter: u64,
}

impl Entropy {
    pub(crate) fn new(seed: Seed) -> Self {
        Self { seed, counter: 0 }
    }

    /// The next 32 bytes.
    pub(crate) fn next(&mut self) -> [u8; 32] {
        let block =
            Sha256::new().chain_update(self.seed.0).chain_update(self.counter.to_le_bytes()).finalize();
        self.counter = self.counter.wrapping_add(1);
        block.into()
    }
}
