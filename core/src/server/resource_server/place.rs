//! A resource server at one of its paths: streams of HTTP with SSE may be a resource of their own.

use alloc::borrow::Cow;
use alloc::format;
use alloc::string::String;
use alloc::sync::Arc;

use super::url::{self, canonical};
use super::{ResourceServer, refuse};
use crate::server::principal::Principal;
use crate::server::refusal::Refusal;
use crate::server::token::{AuthRefusal, Grant};
use crate::time::Now;
use crate::wire::challenge::Challenge;

/// The resource at one path, with the demands of its server. Made for each request, so it borrows all that it has.
#[derive(Clone, Copy, Debug)]
pub(in crate::server) struct Place<'a> {
    pub(super) server: &'a ResourceServer,
    /// The path, where it is no part of the server's resource.
    beside: Option<&'a str>,
}

impl ResourceServer {
    /// The resource that it is by itself.
    pub(in crate::server) const fn here(&self) -> Place<'_> {
        Place { server: self, beside: None }
    }

    /// The resource at this path of the server: this one, or, where the path is no part of it, another beside it with the
    /// same demands. Clients look for metadata of the URL that they know (AUTH-12), and what they find there is what
    /// their tokens are for; those for this resource do as well.
    pub(in crate::server) fn at<'a>(&'a self, path: &'a str) -> Place<'a> {
        let Some(url) = url::parse(&self.resource) else { return self.here() };
        let below = path.strip_prefix(url.path.trim_end_matches('/'));
        let is_part = below.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'));
        Place { server: self, beside: (!is_part).then_some(path) }
    }
}

impl<'a> Place<'a> {
    /// Its URL.
    pub(super) fn resource(&self) -> Cow<'a, str> {
        match (self.beside, url::parse(&self.server.resource)) {
            (Some(path), Some(url)) => Cow::Owned(format!("{}{path}", url::origin(&url))),
            _ => Cow::Borrowed(&self.server.resource),
        }
    }

    /// The path of its URL, as far as that tells it from others.
    pub(super) fn path(&self) -> &'a str {
        let own = || url::parse(&self.server.resource).map_or("", |url| url.path);
        self.beside.unwrap_or_else(own).trim_end_matches('/')
    }

    /// Who makes a request with a token that the application has found to be valid.
    pub(in crate::server) fn admit(&self, now: Now, grant: Grant) -> Result<Arc<Principal>, AuthRefusal> {
        let Grant { principal, audiences, audience_checked, expires } = grant;
        let meant = audience_checked || audiences.iter().any(|audience| self.is_named(audience));
        if !meant || expires.is_some_and(|expires| expires <= now.unix) {
            return Err(AuthRefusal::Invalid);
        }
        Ok(self.server.widen(Arc::new(principal)))
    }

    fn is_named(&self, audience: &str) -> bool {
        let named = canonical(audience);
        let is = |name: &str| match (&named, canonical(name)) {
            (Some(named), Some(name)) => *named == name,
            _ => audience == name,
        };
        let names = [&self.server.resource].into_iter().chain(&self.server.audiences);
        names.map(String::as_str).any(is) || (self.beside.is_some() && is(&self.resource()))
    }

    /// The answer to a request that is not let in.
    pub(in crate::server) fn refuse(self, why: &AuthRefusal) -> Refusal {
        refuse(why, Some(self))
    }

    pub(super) fn challenge(&self, error: Option<&str>) -> Challenge {
        let challenge = Challenge::new();
        let challenge = error.map_or(challenge.clone(), |error| challenge.error(error));
        challenge.resource_metadata(&self.metadata_url())
    }
}
