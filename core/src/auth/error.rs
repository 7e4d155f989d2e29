//! Why a flow ended without a grant: where, at which URL, what was expected, what came, and what would change it.

use alloc::borrow::Cow;
use alloc::boxed::Box;
use alloc::string::String;
use core::fmt;

use super::record::{Record, Stage};
use crate::text::Excerpt;

/// What kind of thing went wrong, for programs.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum FlowErrorKind {
    /// Nothing was sent, or no whole response came.
    Unreachable,
    /// The server failed (5xx), or wants us to come later (429).
    Unavailable {
        /// The HTTP status.
        status: u16,
    },
    /// A URL that may not be used: not encrypted, on a network where it has no business, or no URL at all.
    Forbidden,
    /// There is no usable metadata.
    Metadata,
    /// The metadata describes another resource than the server that is being accessed.
    ResourceMismatch,
    /// The metadata, the authorization response, or what is stored belongs to another issuer.
    IssuerMismatch,
    /// The authorization server does not say that it supports PKCE with S256.
    Pkce,
    /// There is no client id, or none that may be used here.
    Client,
    /// The authorization response cannot be taken: wrong state, repeated parameters, no code.
    Redirect,
    /// The authorization server said no.
    Denied {
        /// Its error code, such as `access_denied` or `invalid_grant`.
        error: String,
    },
    /// What the token endpoint answered is no token that can be used.
    Token,
    /// The configuration cannot work.
    Misuse,
}

/// A flow ended without a grant.
#[derive(Clone, PartialEq, Eq)]
pub struct FlowError(Box<Inner>);

#[derive(Clone, PartialEq, Eq)]
struct Inner {
    stage: Stage,
    url: Option<String>,
    fault: Fault,
    record: Record,
}

impl FlowError {
    pub(super) fn new(stage: Stage, url: Option<String>, fault: Fault, record: Record) -> Self {
        Self(Box::new(Inner { stage, url, fault, record }))
    }

    /// What kind of thing went wrong.
    pub fn kind(&self) -> &FlowErrorKind {
        &self.0.fault.kind
    }

    /// Where in the flow.
    pub fn stage(&self) -> Stage {
        self.0.stage
    }

    /// The URL it is about, without its query.
    pub fn url(&self) -> Option<&str> {
        self.0.url.as_deref()
    }

    /// What would have been right.
    pub fn expected(&self) -> &str {
        &self.0.fault.expected
    }

    /// What came. Holds no secret.
    pub fn found(&self) -> &str {
        &self.0.fault.found
    }

    /// The setting that would change the outcome, where one would.
    pub fn setting(&self) -> Option<&'static str> {
        self.0.fault.setting
    }

    /// Everything that the flow tried before.
    pub fn record(&self) -> &Record {
        &self.0.record
    }

    /// Whether the same may work later: nothing that is stored is to be forgotten because of it (B75).
    pub fn is_transient(&self) -> bool {
        matches!(self.kind(), FlowErrorKind::Unreachable | FlowErrorKind::Unavailable { .. })
    }
}

impl fmt::Display for FlowError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Inner { stage, url, fault: Fault { expected, found, setting, .. }, .. } = &*self.0;
        write!(f, "authorization failed at the {stage}")?;
        if let Some(url) = url {
            write!(f, ", {}", Excerpt(url))?;
        }
        write!(f, ": expected {expected}, found {found}")?;
        match setting {
            Some(setting) => write!(f, "; `{setting}` would change this"),
            None => Ok(()),
        }
    }
}

/// The message, then the record.
impl fmt::Debug for FlowError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{self}\n{}", self.0.record)
    }
}

impl core::error::Error for FlowError {}

/// What is wrong, before it is known where.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Fault {
    pub(super) kind: FlowErrorKind,
    pub(super) expected: Cow<'static, str>,
    pub(super) found: String,
    pub(super) setting: Option<&'static str>,
}

impl Fault {
    pub(super) fn new(
        kind: FlowErrorKind,
        expected: impl Into<Cow<'static, str>>,
        found: impl Into<String>,
    ) -> Self {
        Self { kind, expected: expected.into(), found: found.into(), setting: None }
    }

    pub(super) fn setting(mut self, setting: &'static str) -> Self {
        self.setting = Some(setting);
        self
    }
}
