//! The fields that machines look for.

use crate::wire::bytes::eq_lower;

/// A field that is looked for, in one request some twenty times in all: so it is recognised once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum Field {
    Accept,
    Authorization,
    Connection,
    ContentEncoding,
    ContentLength,
    ContentType,
    Date,
    Expect,
    Host,
    KeepAlive,
    LastEventId,
    Method,
    Name,
    Origin,
    ProtocolVersion,
    ProxyConnection,
    SessionId,
    Te,
    Trailer,
    TransferEncoding,
    Upgrade,
}

impl Field {
    pub(crate) const COUNT: usize = 21;

    /// The field of this name, in whatever case.
    pub(crate) fn named(name: &str) -> Option<Self> {
        let is_it = |(known, _): &&(&str, Self)| eq_lower(name.as_bytes(), known.as_bytes());
        Self::of_length(name.len()).iter().find(is_it).map(|(_, field)| *field)
    }

    pub(super) fn of_length(length: usize) -> &'static [(&'static str, Self)] {
        match length {
            2 => &[("te", Self::Te)],
            4 => &[("host", Self::Host), ("date", Self::Date)],
            6 => &[("accept", Self::Accept), ("origin", Self::Origin), ("expect", Self::Expect)],
            7 => &[("upgrade", Self::Upgrade), ("trailer", Self::Trailer)],
            8 => &[("mcp-name", Self::Name)],
            10 => &[
                ("mcp-method", Self::Method),
                ("connection", Self::Connection),
                ("keep-alive", Self::KeepAlive),
            ],
            12 => &[("content-type", Self::ContentType)],
            13 => &[("authorization", Self::Authorization), ("last-event-id", Self::LastEventId)],
            14 => &[("content-length", Self::ContentLength), ("mcp-session-id", Self::SessionId)],
            16 => &[("content-encoding", Self::ContentEncoding), ("proxy-connection", Self::ProxyConnection)],
            17 => &[("transfer-encoding", Self::TransferEncoding)],
            20 => &[("mcp-protocol-version", Self::ProtocolVersion)],
            _ => &[],
        }
    }

    /// Whether it is about one connection and not about the message: whoever has the connection writes what is true of it.
    #[cfg(feature = "http1")]
    pub(crate) const fn is_hop_by_hop(self) -> bool {
        matches!(
            self,
            Self::Connection
                | Self::ContentLength
                | Self::KeepAlive
                | Self::ProxyConnection
                | Self::Te
                | Self::Trailer
                | Self::TransferEncoding
                | Self::Upgrade
        )
    }
}
