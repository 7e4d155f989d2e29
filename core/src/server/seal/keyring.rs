//! AES-256-GCM with a ring of keys.
//!
//! A sealed state is the base64url text of: format (1 byte), id of the key (8), nonce (12), cipher text, tag
//! (16). Format and id are authenticated with the rest.

use alloc::string::String;
use alloc::vec::Vec;
use core::fmt;
use core::sync::atomic::{AtomicUsize, Ordering};

use aes_gcm::{AeadInOut, Aes256Gcm, KeyInit, Nonce, Tag};
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use sha2::{Digest, Sha256};
use zeroize::Zeroizing;

use super::{Bound, StateCodec, StateError};
use crate::entropy::{Entropy, Seed};
use crate::error::ApiMisuse;
use crate::time::Now;

const FORMAT: u8 = 1;
const ID: usize = 8;
const NONCE: usize = 12;
const TAG: usize = 16;

/// A secret of 32 random bytes that request state is sealed with.
///
/// Prints as `StateKey(..)`. Its memory is overwritten when it is dropped.
#[derive(Clone)]
pub struct StateKey(Zeroizing<[u8; 32]>);

impl StateKey {
    /// Takes 32 bytes that nobody else can guess: of a random generator, not of a passphrase.
    pub fn new(bytes: [u8; 32]) -> Self {
        Self(Zeroizing::new(bytes))
    }

    /// Names the key without telling it. Derived from the key, so that all members of a fleet agree on it
    /// whatever order their rings have.
    fn id(&self) -> [u8; ID] {
        let digest = Sha256::new().chain_update("mcp-proto: id of a state key").chain_update(*self.0);
        let mut id = [0; ID];
        id.iter_mut().zip(digest.finalize()).for_each(|(to, from)| *to = from);
        id
    }
}

impl From<[u8; 32]> for StateKey {
    fn from(bytes: [u8; 32]) -> Self {
        Self::new(bytes)
    }
}

impl fmt::Debug for StateKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("StateKey(..)")
    }
}

/// Keys that request state is sealed with (MRTR-11): the first one seals, all of them open.
///
/// Servers that share keys can open each other's state. To replace a key: add the new one behind the old one
/// everywhere; then put it first; and when the last state sealed with the old one has expired, drop that.
///
/// A nonce must not be used twice with one key. Here it is cut from a keyed hash of a counter and of what is
/// sealed; its key comes from the seed, which each process has of its own. Of such nonces two are alike with a
/// probability below 2^-32 after 2^32 states; change keys before that. Should two processes have the same seed
/// nevertheless, say as copies of one virtual machine, then they have a nonce in common only for the same
/// state, which gives nothing away.
pub struct Keyring {
    keys: Vec<([u8; ID], Aes256Gcm)>,
    nonces: Zeroizing<[u8; 32]>,
    sealed: AtomicUsize,
}

impl Keyring {
    /// A ring of these keys. `seed` is for nonces; it need not be kept, nor shared.
    ///
    /// # Errors
    /// When there is no key.
    pub fn new(seed: Seed, keys: impl IntoIterator<Item = StateKey>) -> Result<Self, ApiMisuse> {
        let ring = Self::of(&seed, keys);
        if ring.keys.is_empty() {
            return Err(ApiMisuse::new("a ring of keys for request state needs at least one key"));
        }
        Ok(ring)
    }

    /// A ring of one key, made from `seed`. What it seals, nobody else can open.
    pub fn generate(seed: Seed) -> Self {
        let key = StateKey::new(Entropy::new(seed.derive("key of request state")).next());
        Self::of(&seed, [key])
    }

    fn of(seed: &Seed, keys: impl IntoIterator<Item = StateKey>) -> Self {
        Self {
            keys: keys.into_iter().map(|key| (key.id(), Aes256Gcm::new((&*key.0).into()))).collect(),
            nonces: Zeroizing::new(Entropy::new(seed.derive("nonces of request state")).next()),
            sealed: AtomicUsize::new(0),
        }
    }

    fn nonce(&self, state: &[u8]) -> [u8; NONCE] {
        let count = self.sealed.fetch_add(1, Ordering::Relaxed) as u64;
        let digest =
            Sha256::new().chain_update(*self.nonces).chain_update(count.to_be_bytes()).chain_update(state);
        let mut nonce = [0; NONCE];
        nonce.iter_mut().zip(digest.finalize()).for_each(|(to, from)| *to = from);
        nonce
    }
}

impl StateCodec for Keyring {
    fn seal(&self, _: Now, _: &Bound<'_>, state: &[u8]) -> Result<String, StateError> {
        let (id, cipher) = self.keys.first().ok_or(StateError::new("there is no key"))?;
        let nonce = self.nonce(state);
        let mut text = Vec::with_capacity(1 + ID + NONCE + state.len() + TAG);
        text.push(FORMAT);
        text.extend_from_slice(id);
        text.extend_from_slice(&nonce);
        let mut secret = state.to_vec();
        let tag = cipher
            .encrypt_inout_detached(&Nonce::from(nonce), &header(id), secret.as_mut_slice().into())
            .map_err(|_| StateError::new("it is too long for the cipher"))?;
        text.append(&mut secret);
        text.extend_from_slice(&tag);
        Ok(URL_SAFE_NO_PAD.encode(text))
    }

    fn open(&self, _: Now, _: &Bound<'_>, sealed: &str) -> Result<Vec<u8>, StateError> {
        let text = URL_SAFE_NO_PAD.decode(sealed).map_err(|_| StateError::new("it is not base64url"))?;
        let (id, nonce, secret, tag) = parts(&text).ok_or(StateError::new("it is not of this format"))?;
        let (_, cipher) = self
            .keys
            .iter()
            .find(|(known, _)| known == id)
            .ok_or(StateError::new("it was not sealed with a key of this ring"))?;
        let mut state = secret.to_vec();
        cipher
            .decrypt_inout_detached(
                &Nonce::from(*nonce),
                &header(id),
                state.as_mut_slice().into(),
                &Tag::from(*tag),
            )
            .map_err(|_| StateError::new("it was altered, or not sealed by this server"))?;
        Ok(state)
    }
}

type Parts<'a> = (&'a [u8; ID], &'a [u8; NONCE], &'a [u8], &'a [u8; TAG]);

fn parts(text: &[u8]) -> Option<Parts<'_>> {
    let (&format, rest) = text.split_first()?;
    let (id, rest) = rest.split_first_chunk()?;
    let (nonce, rest) = rest.split_first_chunk()?;
    let (secret, tag) = rest.split_last_chunk()?;
    (format == FORMAT).then_some((id, nonce, secret, tag))
}

fn header(id: &[u8; ID]) -> [u8; 1 + ID] {
    let mut header = [FORMAT; 1 + ID];
    header.iter_mut().skip(1).zip(id).for_each(|(to, from)| *to = *from);
    header
}

/// Prints how many keys there are, and none of them.
impl fmt::Debug for Keyring {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Keyring").field("keys", &self.keys.len()).finish_non_exhaustive()
    }
}
