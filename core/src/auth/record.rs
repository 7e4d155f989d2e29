//! What a flow did, for people who want to know why it ended as it did.

use alloc::string::String;
use alloc::vec::Vec;
use core::fmt;

use super::url::Url;
use crate::text::excerpt;

/// A flow has some twenty requests at most; a bound for what a hostile server could make of it.
const ENTRIES: usize = 64;

/// Where in a flow something happens.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Stage {
    /// Before anything is sent.
    Start,
    /// Finding the metadata of the protected resource.
    ResourceMetadata,
    /// Finding the metadata of the authorization server.
    ServerMetadata,
    /// Coming by a client id.
    Registration,
    /// Sending the user to the authorization server.
    Authorization,
    /// What came back with the user.
    Redirect,
    /// Exchanging an identity assertion at the identity provider.
    Exchange,
    /// Asking for an access token.
    Token,
    /// Asking for another one with a refresh token.
    Refresh,
    /// Using a token.
    Request,
    /// Having tokens revoked.
    Revocation,
}

impl fmt::Display for Stage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Start => "start",
            Self::ResourceMetadata => "protected resource metadata",
            Self::ServerMetadata => "authorization server metadata",
            Self::Registration => "client registration",
            Self::Authorization => "authorization request",
            Self::Redirect => "authorization response",
            Self::Exchange => "token exchange",
            Self::Token => "token request",
            Self::Refresh => "token refresh",
            Self::Request => "authorized request",
            Self::Revocation => "token revocation",
        })
    }
}

/// One thing that was tried, or decided.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Entry {
    /// Where in the flow.
    pub stage: Stage,
    /// The URL it was about, without its query.
    pub url: Option<String>,
    /// What came of it. Holds no secret.
    pub outcome: String,
}

/// Every URL that a flow tried and every reason it had, oldest first. Prints one line for each.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Record {
    entries: Vec<Entry>,
}

impl Record {
    /// What happened, oldest first.
    pub fn entries(&self) -> &[Entry] {
        &self.entries
    }

    pub(super) fn add(&mut self, stage: Stage, url: Option<&Url>, outcome: impl Into<String>) {
        if self.entries.len() < ENTRIES {
            let url = url.map(|url| url.without_query().into());
            self.entries.push(Entry { stage, url, outcome: outcome.into() });
        }
    }

    /// About a text that may be no URL.
    pub(super) fn add_text(&mut self, stage: Stage, url: &str, outcome: impl Into<String>) {
        if self.entries.len() < ENTRIES {
            let url = url.split(['?', '#']).next().map(excerpt);
            self.entries.push(Entry { stage, url, outcome: outcome.into() });
        }
    }
}

impl fmt::Display for Record {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for Entry { stage, url, outcome } in &self.entries {
            match url {
                Some(url) => writeln!(f, "{stage}: {url}: {outcome}")?,
                None => writeln!(f, "{stage}: {outcome}")?,
            }
        }
        Ok(())
    }
}
