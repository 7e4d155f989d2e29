//! The dated revisions of the specification, and the two eras that they fall into.

use core::fmt;
use core::str::FromStr;

/// A revision of the specification, ordered by date.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[allow(non_camel_case_types, reason = "the dates are the names")]
#[non_exhaustive]
pub enum Revision {
    /// The first: handshake, HTTP with a separate event stream.
    V2024_11_05,
    /// Streamable HTTP, sessions, batching, tool annotations, audio.
    V2025_03_26,
    /// Structured output, elicitation, titles; no batching.
    V2025_06_18,
    /// Icons, URL elicitation, sampling with tools, experimental tasks.
    V2025_11_25,
    /// Stateless: metadata in every request, discovery, input required, subscriptions.
    V2026_07_28,
}

/// The two ways in which peers meet.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Era {
    /// `initialize` negotiates once, for a connection or session.
    Legacy,
    /// Every request carries what it needs.
    Modern,
}

impl fmt::Display for Era {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Legacy => "legacy",
            Self::Modern => "modern",
        })
    }
}

impl Revision {
    /// All, oldest first.
    pub const ALL: [Self; 5] =
        [Self::V2024_11_05, Self::V2025_03_26, Self::V2025_06_18, Self::V2025_11_25, Self::V2026_07_28];
    /// The newest that opens with `initialize`.
    pub const LATEST_LEGACY: Self = Self::V2025_11_25;
    /// The newest.
    pub const LATEST: Self = Self::V2026_07_28;

    /// The revision as it travels, such as `2025-11-25`.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::V2024_11_05 => "2024-11-05",
            Self::V2025_03_26 => "2025-03-26",
            Self::V2025_06_18 => "2025-06-18",
            Self::V2025_11_25 => "2025-11-25",
            Self::V2026_07_28 => "2026-07-28",
        }
    }

    /// The revision that travels as `text`, `None` for one that is not known here.
    pub fn parse(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|revision| revision.as_str() == text)
    }

    /// The era that it belongs to.
    pub const fn era(self) -> Era {
        if self.dialect().handshake { Era::Legacy } else { Era::Modern }
    }
}

impl fmt::Display for Revision {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl FromStr for Revision {
    type Err = UnknownRevision;

    fn from_str(text: &str) -> Result<Self, UnknownRevision> {
        Self::parse(text).ok_or(UnknownRevision)
    }
}

/// The text is not a revision known here.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct UnknownRevision;

impl fmt::Display for UnknownRevision {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("not a known revision of the specification; the known ones are")?;
        Revision::ALL.iter().try_for_each(|revision| write!(f, " {revision}"))
    }
}

impl core::error::Error for UnknownRevision {}

crate::text::debug_like_display!(UnknownRevision);
