//! Requests as bytes, ready for any connection.

use crate::error::ApiMisuse;
use crate::head::RequestHead;
use crate::wire::http1::BodyLength;
use crate::wire::http1::head::{Framing, asks_to_close, write_request};
use alloc::vec::Vec;

/// A request, written down, and what its response has to be read with.
pub(in super::super) struct Encoded {
    pub(super) bytes: Vec<u8>,
    pub(super) is_head: bool,
    /// The connection cannot be used after it.
    pub(super) closes: bool,
}

impl Encoded {
    /// The head alone.
    pub(super) fn head(head: &RequestHead, body: BodyLength) -> Result<Self, ApiMisuse> {
        let framing = match body {
            // A length of zero tells something only where the method means a body.
            BodyLength::Empty if matches!(head.method.as_str(), "POST" | "PUT" | "PATCH") => {
                Framing::Length(0)
            }
            BodyLength::Empty => Framing::Undeclared,
            BodyLength::Known(length) => Framing::Length(length),
            BodyLength::Stream => Framing::Chunked,
        };
        let closes = asks_to_close(&head.headers);
        let mut bytes = Vec::new();
        write_request(&mut bytes, head, framing, closes)?;
        Ok(Self { bytes, is_head: head.method == "HEAD", closes })
    }

    /// Head and body, in one piece so that they leave in one write.
    pub(in super::super) fn whole(head: &RequestHead, body: &[u8]) -> Result<Self, ApiMisuse> {
        let length = if body.is_empty() { BodyLength::Empty } else { BodyLength::Known(body.len() as u64) };
        let mut encoded = Self::head(head, length)?;
        encoded.bytes.extend_from_slice(body);
        Ok(encoded)
    }
}

/// Prints the length only: the bytes may be secrets.
impl core::fmt::Debug for Encoded {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        write!(f, "Encoded({})", self.bytes.len())
    }
}
