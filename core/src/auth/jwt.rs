//! Signed tokens that a client makes itself: assertions of who it is, and DPoP proofs.
//!
//! <https://www.rfc-editor.org/rfc/rfc7523>, <https://www.rfc-editor.org/rfc/rfc9449>

use alloc::string::String;
use alloc::vec::Vec;
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde::Serialize;

use super::error::{Fault, FlowErrorKind};
use super::secret::Secret;
use crate::time::Duration;

/// How long an assertion of who the client is can be used. It is made for one request.
const LIFE: u64 = 60;

/// A private key that signs, wherever it is. Feature `es256` has one that is in memory, `Es256`.
///
/// Signing may block: a client has it done on threads for that, and with no lock held. With DPoP each request is signed,
/// so a slow key makes a slow client.
pub trait Signer: Send + Sync {
    /// The algorithm by its JWS name: `ES256`, `EdDSA`, `RS256`, ... Asymmetric ones only (AUTHX-25).
    fn algorithm(&self) -> &str;

    /// How the authorization server knows the key (`kid`), if it needs that. Default `None`.
    fn key_id(&self) -> Option<&str> {
        None
    }

    /// The public half as a JWK, a JSON object. DPoP needs it.
    fn public_jwk(&self) -> &str;

    /// The signature of a message, in the form that JWS demands for the algorithm (for `ES256`: r and s, 64
    /// bytes). `None` when the key cannot be used now.
    fn sign(&self, message: &[u8]) -> Option<Vec<u8>>;
}

pub(super) fn base64url(bytes: &[u8]) -> String {
    URL_SAFE_NO_PAD.encode(bytes)
}

/// A JWS of these two parts. <https://www.rfc-editor.org/rfc/rfc7515#section-3.1>
pub(super) fn sign(
    signer: &dyn Signer,
    header: &impl Serialize,
    claims: &impl Serialize,
) -> Result<String, Fault> {
    let algorithm = signer.algorithm();
    let asymmetric = ["ES", "RS", "PS", "Ed"].iter().any(|family| algorithm.starts_with(family));
    if !asymmetric {
        return Err(Fault::new(
            FlowErrorKind::Misuse,
            "a key with an asymmetric algorithm",
            alloc::format!("`{algorithm}`"),
        ));
    }
    let part = |json: Result<Vec<u8>, _>| {
        json.map(|json| base64url(&json)).map_err(|_: serde_json::Error| {
            Fault::new(FlowErrorKind::Misuse, "a public key in JSON", "something else")
        })
    };
    let mut token =
        alloc::format!("{}.{}", part(serde_json::to_vec(header))?, part(serde_json::to_vec(claims))?);
    let signature = signer
        .sign(token.as_bytes())
        .ok_or_else(|| Fault::new(FlowErrorKind::Client, "a signature", "a key that could not be used"))?;
    token.push('.');
    token.push_str(&base64url(&signature));
    Ok(token)
}

/// Says who the client is, to one authorization server, once (AUTHX-05).
pub(super) fn client_assertion(
    signer: &dyn Signer,
    client_id: &str,
    issuer: &str,
    unix: Duration,
    id: &[u8],
) -> Result<Secret, Fault> {
    #[derive(Serialize)]
    struct Header<'a> {
        alg: &'a str,
        typ: &'a str,
        #[serde(skip_serializing_if = "Option::is_none")]
        kid: Option<&'a str>,
    }
    #[derive(Serialize)]
    struct Claims<'a> {
        iss: &'a str,
        sub: &'a str,
        aud: &'a str,
        jti: String,
        iat: u64,
        exp: u64,
    }
    let header = Header { alg: signer.algorithm(), typ: "JWT", kid: signer.key_id() };
    let iat = unix.as_secs();
    let claims = Claims {
        iss: client_id,
        sub: client_id,
        aud: issuer,
        jti: base64url(id),
        iat,
        exp: iat.saturating_add(LIFE),
    };
    sign(signer, &header, &claims).map(Secret::new)
}
