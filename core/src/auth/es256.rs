//! A key for ES256: ECDSA on P-256 with SHA-256, the algorithm that authorization servers have in common.
//!
//! <https://www.rfc-editor.org/rfc/rfc7518#section-3.4>

use alloc::string::String;
use alloc::vec::Vec;
use core::fmt;

use p256::SecretKey;
use p256::ecdsa::signature::Signer as _;
use p256::ecdsa::{Signature, SigningKey};

use super::jwt::{Signer, base64url};
use crate::entropy::{Entropy, Seed};
use crate::error::ApiMisuse;

/// A private key that is held in memory. Its signatures need no entropy (RFC 6979).
///
/// Prints as `Es256(..)`. Whoever keeps keys elsewhere implements [`Signer`].
#[derive(Clone)]
pub struct Es256 {
    key: SigningKey,
    key_id: Option<String>,
    public_jwk: String,
}

impl Es256 {
    /// A new key: for DPoP, where nobody has to know it beforehand. Never hand in a seed twice.
    pub fn generate(seed: Seed) -> Self {
        let mut entropy = Entropy::new(seed);
        loop {
            // One in four billion is no key.
            if let Ok(key) = SigningKey::from_slice(&entropy.next()) {
                return Self::new(key);
            }
        }
    }

    /// A key as it is stored: in PEM, as PKCS #8 (`BEGIN PRIVATE KEY`) or SEC 1 (`BEGIN EC PRIVATE KEY`).
    ///
    /// # Errors
    ///
    /// If it is something else, or a key for another curve. The error repeats none of it.
    pub fn from_pem(pem: &str) -> Result<Self, ApiMisuse> {
        match SecretKey::from_pem(pem) {
            Ok(key) => Ok(Self::new(key.into())),
            Err(_) => Err(ApiMisuse::new("expected a private key for P-256 in PEM, not encrypted")),
        }
    }

    fn new(key: SigningKey) -> Self {
        let point = key.verifying_key().to_sec1_point(false);
        // A point that is not compressed has both.
        let coordinate = |bytes: Option<&p256::FieldBytes>| bytes.map(|it| base64url(it)).unwrap_or_default();
        let public_jwk = alloc::format!(
            r#"{{"kty":"EC","crv":"P-256","x":"{}","y":"{}"}}"#,
            coordinate(point.x()),
            coordinate(point.y())
        );
        Self { key, key_id: None, public_jwk }
    }

    /// With the name by which the authorization server knows it.
    #[must_use]
    pub fn with_key_id(mut self, id: impl Into<String>) -> Self {
        self.key_id = Some(id.into());
        self
    }
}

impl Signer for Es256 {
    fn algorithm(&self) -> &str {
        "ES256"
    }

    fn key_id(&self) -> Option<&str> {
        self.key_id.as_deref()
    }

    fn public_jwk(&self) -> &str {
        &self.public_jwk
    }

    fn sign(&self, message: &[u8]) -> Option<Vec<u8>> {
        let signature: Signature = self.key.try_sign(message).ok()?;
        Some(signature.to_bytes().to_vec())
    }
}

impl fmt::Debug for Es256 {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Es256(..)")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use p256::ecdsa::signature::Verifier;

    /// The key of RFC 6979, A.2.5.
    const PKCS8: &str = "-----BEGIN PRIVATE KEY-----
MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgya+p2EW6dRZrXCFX
Z7HWk05Qw9s26JsSe4piKxIPZyGhRANCAARg/tS6JVqdMclh63TGNW1owEm4kjth
+mzmaWIuYPKftnkD/hAIuLyZpBrp6VYovGTy8bIMLX6fUXejwpTURiKZ
-----END PRIVATE KEY-----
";
    const SEC1: &str = "-----BEGIN EC PRIVATE KEY-----
MHcCAQEEIMmvqdhFunUWa1whV2ex1pNOUMPbNuibEnuKYisSD2choAoGCCqGSM49
AwEHoUQDQgAEYP7UuiVanTHJYet0xjVtaMBJuJI7Yfps5mliLmDyn7Z5A/4QCLi8
maQa6elWKLxk8vGyDC1+n1F3o8KU1EYimQ==
-----END EC PRIVATE KEY-----
";

    /// AUTHX-04, AUTHX-25: the signature and the public key that the RFC has, in the form that JWS wants.
    #[test]
    fn a_key_signs_as_the_standard_says() {
        for pem in [PKCS8, SEC1] {
            let key = Es256::from_pem(pem).unwrap();
            assert_eq!(
                key.public_jwk(),
                r#"{"kty":"EC","crv":"P-256","x":"YP7UuiVanTHJYet0xjVtaMBJuJI7Yfps5mliLmDyn7Y","y":"eQP-EAi4vJmkGunpVii8ZPLxsgwtfp9Rd6PClNRGIpk"}"#
            );
            assert_eq!(
                base64url(&key.sign(b"sample").unwrap()),
                "79SLKqy2qP0RQN2c1F6B1p0sh3tWqvmRw00OqE6vNxb3yxyULWV8QdQ2x6G24p9l8-kA27mv9AZNxKsvhDrNqA"
            );
            assert_eq!((key.algorithm(), key.key_id()), ("ES256", None));
            assert_eq!(key.with_key_id("k").key_id(), Some("k"));
        }
    }

    /// AUTHX-23: a new key for each seed, the same for the same.
    #[test]
    fn a_key_is_made_from_a_seed() {
        let key = |byte| Es256::generate(Seed::new([byte; 32]));
        assert_eq!(key(1).public_jwk(), key(1).public_jwk());
        assert_ne!(key(1).public_jwk(), key(2).public_jwk());
        let signature = Signature::from_slice(&key(1).sign(b"m").unwrap()).unwrap();
        assert!(key(1).key.verifying_key().verify(b"m", &signature).is_ok());
        assert!(key(2).key.verifying_key().verify(b"m", &signature).is_err());
    }

    /// AUTH-70: neither printing nor an error shows a key.
    #[test]
    fn a_key_is_not_printed() {
        assert_eq!(alloc::format!("{:?}", Es256::from_pem(PKCS8).unwrap()), "Es256(..)");
        for wrong in ["", "MIGH", &PKCS8.replace("MIGH", "AAAA"), &PKCS8.replace("PRIVATE", "PUBLIC")] {
            let error = Es256::from_pem(wrong).unwrap_err();
            assert_eq!(error.message, "expected a private key for P-256 in PEM, not encrypted");
        }
    }
}
