//! DPoP: tokens that only the holder of a key can use.
//!
//! <https://www.rfc-editor.org/rfc/rfc9449>

use alloc::collections::BTreeMap;
use alloc::string::String;
use alloc::sync::Arc;
use core::fmt;
use serde::Serialize;
use serde_json::value::RawValue;
use sha2::{Digest, Sha256};

use super::challenge;
use super::error::{Fault, FlowErrorKind};
use super::jwt::{self, Signer};
use super::secret::Secret;
use super::url::Url;
use crate::entropy::{Entropy, Seed};
use crate::head::Headers;
use crate::time::Now;

/// Servers whose nonces are remembered at one time.
const NONCES: usize = 8;

/// Makes proofs with one key, and remembers the nonces that servers want in them.
///
/// A flow makes those of the token requests. For requests to the server that is accessed, keep one beside the
/// [`Grant`](super::Grant) and let it make the header fields of each request
/// ([`Grant::authorize_request`](super::Grant::authorize_request)).
#[derive(Clone)]
pub struct Dpop {
    signer: Arc<dyn Signer>,
    entropy: Entropy,
    nonces: BTreeMap<String, String>,
}

impl Dpop {
    /// With this key. The seed is for the proofs' names, so that no two are the same.
    pub fn new(signer: Arc<dyn Signer>, seed: Seed) -> Self {
        Self { signer, entropy: Entropy::new(seed), nonces: BTreeMap::new() }
    }

    /// Another one with the same key and nonces, whose proofs have names of their own: for a proof that is made
    /// elsewhere, such as on a thread that may block.
    #[must_use]
    pub fn fork(&mut self) -> Self {
        let entropy = Entropy::new(Seed::new(self.entropy.next()));
        Self { signer: self.signer.clone(), entropy, nonces: self.nonces.clone() }
    }

    /// Takes in what a response says of nonces: the next proof for its origin will hold it (AUTHX-24). Whether it is
    /// another nonce than before.
    pub fn learn(&mut self, url: &Url, headers: &Headers) -> bool {
        let Some(nonce) = challenge::nonce(headers) else { return false };
        let origin = url.origin();
        let known = self.nonces.get(&origin);
        if known == Some(&nonce) || (known.is_none() && self.nonces.len() >= NONCES) {
            return false;
        }
        self.nonces.insert(origin, nonce);
        true
    }

    pub(super) fn algorithm(&self) -> &str {
        self.signer.algorithm()
    }

    /// Whether a nonce of this origin is known.
    pub(super) fn nonce(&self, url: &Url) -> Option<&str> {
        self.nonces.get(&url.origin()).map(String::as_str)
    }

    /// A proof for one request, with the token that it uses, if it uses one (AUTHX-23).
    pub(super) fn proof(
        &mut self,
        now: Now,
        method: &str,
        url: &Url,
        token: Option<&Secret>,
    ) -> Result<String, Fault> {
        #[derive(Serialize)]
        struct Header<'a> {
            typ: &'a str,
            alg: &'a str,
            jwk: &'a RawValue,
        }
        #[derive(Serialize)]
        struct Claims<'a> {
            jti: String,
            htm: &'a str,
            htu: String,
            iat: u64,
            #[serde(skip_serializing_if = "Option::is_none")]
            ath: Option<String>,
            #[serde(skip_serializing_if = "Option::is_none")]
            nonce: Option<&'a str>,
        }
        let id = self.entropy.next();
        let jwk: &RawValue = serde_json::from_str(self.signer.public_jwk())
            .map_err(|_| Fault::new(FlowErrorKind::Misuse, "a public key in JSON", "something else"))?;
        // The target without query, as RFC 9449, 4.2, has it, and as servers rebuild it from a request.
        let path = if url.path().is_empty() { "/" } else { url.path() };
        let claims = Claims {
            jti: jwt::base64url(&id),
            htm: method,
            htu: alloc::format!("{}{path}", url.origin()),
            iat: now.unix.as_secs(),
            ath: token.map(|token| jwt::base64url(&Sha256::digest(token.as_str()))),
            nonce: self.nonce(url),
        };
        let header = Header { typ: "dpop+jwt", alg: self.signer.algorithm(), jwk };
        jwt::sign(&*self.signer, &header, &claims)
    }
}

impl fmt::Debug for Dpop {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Dpop({}, {} nonces)", self.signer.algorithm(), self.nonces.len())
    }
}
