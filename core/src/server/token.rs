//! Access tokens: read from a request, and judged by the application.
//!
//! <https://modelcontextprotocol.io/specification/2026-07-28/basic/authorization#access-token-usage>

use alloc::borrow::ToOwned;
use alloc::string::String;
use alloc::vec::Vec;
use core::fmt;

use super::principal::Principal;
use crate::head::{Field, Headers};
use crate::time::Duration;

/// An access token as a client sent it. Prints as `BearerToken(..)`: whoever knows it can speak for its owner.
///
/// It is meant for this server. What a server asks of others needs a token of its own (AUTHS-11).
#[derive(Clone, PartialEq, Eq)]
pub struct BearerToken(String);

impl BearerToken {
    /// The token itself, for whoever has to check it. Neither log it nor pass it on.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for BearerToken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("BearerToken(..)")
    }
}

/// What a valid token grants, as the application has found out: by the token's signature, or by asking the
/// authorization server.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Grant {
    /// Who makes the request, with the scopes of the token.
    pub principal: Principal,
    /// Whom the token was issued for (`aud`). One of them has to be this server. Default none.
    pub audiences: Vec<String>,
    /// The application has made sure by other means that the token was issued for this server. Default `false`.
    pub audience_checked: bool,
    /// When the token ends (`exp`), since the Unix epoch. Default: the application has checked that.
    pub expires: Option<Duration>,
}

impl Grant {
    /// A token of somebody's.
    pub fn new(principal: Principal) -> Self {
        Self { principal, audiences: Vec::new(), audience_checked: false, expires: None }
    }

    /// Issued for this audience, among others.
    #[must_use]
    pub fn audience(mut self, audience: impl Into<String>) -> Self {
        self.audiences.push(audience.into());
        self
    }

    /// Made sure of by other means that the token was issued for this server, and no other one accepts it: a
    /// token that this server issued, or one whose introspection says so.
    #[must_use]
    pub fn audience_checked(mut self) -> Self {
        self.audience_checked = true;
        self
    }

    /// Valid until then.
    #[must_use]
    pub fn expires(mut self, unix: Duration) -> Self {
        self.expires = Some(unix);
        self
    }
}

/// Why a request is not let in.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum AuthRefusal {
    /// There is no token where one is needed: 401.
    Missing,
    /// The token is unknown, has ended, was revoked, or is meant for somebody else: 401, `invalid_token`.
    Invalid,
    /// The token does not reach far enough: 403, `insufficient_scope`.
    InsufficientScope {
        /// All scopes that the request needs.
        scopes: Vec<String>,
    },
    /// Nobody could check the token now: 503.
    Unavailable,
}

/// What the fields of a request say about credentials.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Credentials {
    /// None, or some of another kind.
    None,
    Bearer(BearerToken),
    /// Something that cannot be read one way only.
    Malformed,
}

/// Reads the `Authorization` field; a token anywhere else, such as in the query, counts as none.
pub(super) fn read(headers: &Headers) -> Credentials {
    let mut fields = headers.all_of(Field::Authorization);
    let Some(field) = fields.next() else { return Credentials::None };
    let Ok(field) = core::str::from_utf8(field) else { return Credentials::Malformed };
    if fields.next().is_some() {
        return Credentials::Malformed;
    }
    let field = field.trim_matches([' ', '\t']);
    let (scheme, token) = field.split_once(' ').unwrap_or((field, ""));
    if !scheme.eq_ignore_ascii_case("bearer") {
        return Credentials::None;
    }
    let token = token.trim_start_matches(' ');
    if is_token68(token) {
        Credentials::Bearer(BearerToken(token.to_owned()))
    } else {
        Credentials::Malformed
    }
}

/// RFC 9110, 11.2
fn is_token68(text: &str) -> bool {
    let body = text.trim_end_matches('=');
    !body.is_empty() && body.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-._~+/".contains(&byte))
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::format;

    fn credentials(fields: &[&str]) -> Credentials {
        let headers =
            fields.iter().fold(Headers::new(), |headers, field| headers.with("Authorization", field));
        read(&headers)
    }

    fn bearer(token: &str) -> Credentials {
        Credentials::Bearer(BearerToken(token.into()))
    }

    /// AUTHS-07, AUTHS-13: the scheme in any case; what can be read in two ways is not read at all.
    #[test]
    fn the_authorization_field_is_read_one_way_only() {
        for (fields, expected) in [
            (&["Bearer abc"][..], bearer("abc")),
            (&["bEARER   a.b-c_d~e+f/g=="], bearer("a.b-c_d~e+f/g==")),
            (&[" Bearer abc\t"], bearer("abc")),
            (&[], Credentials::None),
            (&["Basic aGk6dGhlcmU="], Credentials::None),
            (&["Bearerabc"], Credentials::None),
            (&[""], Credentials::None),
            (&["Bearer"], Credentials::Malformed),
            (&["Bearer "], Credentials::Malformed),
            (&["Bearer =="], Credentials::Malformed),
            (&["Bearer a b"], Credentials::Malformed),
            (&["Bearer a,Bearer b"], Credentials::Malformed),
            (&["Bearer \"a\""], Credentials::Malformed),
            (&["Bearer a=b"], Credentials::Malformed),
            (&["Bearer \u{e9}"], Credentials::Malformed),
            (&["Bearer abc", "Bearer abc"], Credentials::Malformed),
            (&["Basic aGk6dGhlcmU=", "Bearer abc"], Credentials::Malformed),
        ] {
            assert_eq!(credentials(fields), expected, "{fields:?}");
        }
    }

    /// SEC-16: printing shows no token.
    #[test]
    fn a_token_is_not_printed() {
        let Credentials::Bearer(token) = credentials(&["Bearer hush"]) else { panic!("no token") };
        assert_eq!(token.as_str(), "hush");
        assert!(!format!("{token:?} {:?}", Credentials::Bearer(token.clone())).contains("hush"));
    }
}
