//! Who makes a request, as far as this server has established it.

use alloc::collections::BTreeSet;
use alloc::string::String;
use core::fmt;

use crate::model::JsonMap;

/// Somebody whom the application has recognised: by an access token, a client certificate, the user that a
/// process runs as.
///
/// Unlike what a client says of itself ([`ClientDetails`](super::ClientDetails)), it may be decided on.
/// Prints its subject and scopes, never its claims.
#[derive(Clone, PartialEq)]
#[non_exhaustive]
pub struct Principal {
    /// Names it, uniquely for this server: what sessions, subscriptions and request state are bound to.
    pub subject: String,
    /// What it may do, in the words of the authorization server. Default nothing.
    pub scopes: BTreeSet<String>,
    /// What else the application knows of it. Default nothing.
    pub claims: JsonMap,
}

impl Principal {
    /// Somebody by name, with no scope.
    pub fn new(subject: impl Into<String>) -> Self {
        Self { subject: subject.into(), scopes: BTreeSet::new(), claims: JsonMap::new() }
    }

    /// With these scopes besides those it has.
    #[must_use]
    pub fn scopes<S: Into<String>>(mut self, scopes: impl IntoIterator<Item = S>) -> Self {
        self.scopes.extend(scopes.into_iter().map(Into::into));
        self
    }

    /// With these claims in place of those it has.
    #[must_use]
    pub fn claims(mut self, claims: JsonMap) -> Self {
        self.claims = claims;
        self
    }

    /// Whether it has this scope.
    pub fn has_scope(&self, scope: &str) -> bool {
        self.scopes.contains(scope)
    }
}

impl fmt::Debug for Principal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Principal")
            .field("subject", &self.subject)
            .field("scopes", &self.scopes)
            .finish_non_exhaustive()
    }
}
