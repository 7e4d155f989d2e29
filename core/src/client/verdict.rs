//! What was found out about a server, for the next connection to it.

use crate::dialect::{Era, Revision};
use core::fmt;
use serde::de::{self, Deserialize, Deserializer, Visitor};
use serde::{Serialize, Serializer};

/// How a server was found to speak: to be kept, and given to the next connection by
/// [`Config::verdict`](super::Config::verdict), which then need not find it out again (VER-19, VER-20).
///
/// It says nothing about who the server is or what it offers. Where it is wrong by then, because the server has become
/// another, that is noticed at the first answer and the way is found from the beginning.
///
/// Serialized it is a text such as `streamable-http 2025-11-25`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Verdict {
    /// How bytes get to it.
    pub transport: Transport,
    /// The revision that was agreed on.
    pub revision: Revision,
}

/// How a server is reached.
///
/// <https://modelcontextprotocol.io/specification/2026-07-28/basic/transports>
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Transport {
    /// A byte stream with one message a line: stdio, or another like it.
    Stream,
    /// Streamable HTTP.
    StreamableHttp,
    /// HTTP with SSE, the transport of 2024-11-05.
    HttpSse,
}

impl Transport {
    const NAMES: [(Self, &'static str); 3] =
        [(Self::Stream, "stream"), (Self::StreamableHttp, "streamable-http"), (Self::HttpSse, "http-sse")];

    fn name(self) -> &'static str {
        Self::NAMES.iter().find(|(transport, _)| *transport == self).map_or("", |(_, name)| name)
    }
}

impl Verdict {
    /// A server that speaks this revision over this transport.
    pub const fn new(transport: Transport, revision: Revision) -> Self {
        Self { transport, revision }
    }

    /// The era of the revision.
    pub const fn era(&self) -> Era {
        self.revision.era()
    }

    /// The verdict that `Display` has written; `None` for any other text.
    pub fn parse(text: &str) -> Option<Self> {
        let (transport, revision) = text.split_once(' ')?;
        let (transport, _) = *Transport::NAMES.iter().find(|(_, name)| *name == transport)?;
        Some(Self { transport, revision: Revision::parse(revision)? })
    }
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.transport.name(), self.revision)
    }
}

impl Serialize for Verdict {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Verdict {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_str(Reader)
    }
}

struct Reader;

impl Visitor<'_> for Reader {
    type Value = Verdict;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a verdict such as `streamable-http 2025-11-25`")
    }

    fn visit_str<E: de::Error>(self, text: &str) -> Result<Verdict, E> {
        Verdict::parse(text).ok_or_else(|| E::invalid_value(de::Unexpected::Str(text), &self))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::string::ToString;

    /// VER-20: a verdict may be kept as text, and a text that is none is no verdict.
    #[test]
    fn a_verdict_is_written_and_read() {
        for (transport, name) in Transport::NAMES {
            for revision in Revision::ALL {
                let verdict = Verdict::new(transport, revision);
                assert!(verdict.to_string().starts_with(name));
                let json = serde_json::to_string(&verdict).unwrap();
                assert_eq!(serde_json::from_str::<Verdict>(&json).unwrap(), verdict);
            }
        }
        for text in ["", "stream", "stream 2000-01-01", "smoke 2025-11-25", "stream  2025-11-25"] {
            assert_eq!(Verdict::parse(text), None, "{text}");
        }
    }
}
