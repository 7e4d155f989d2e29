//! Responses that are compressed.

use crate::head::ResponseHead;
use crate::text;
#[cfg(feature = "gzip")]
use crate::wire::inflate::Coding;
use alloc::string::String;

/// What servers are told that responses may be compressed with.
pub(super) const ACCEPTED: &str = if cfg!(feature = "gzip") { "gzip, deflate" } else { "identity" };

/// How the body behind a head is compressed.
#[cfg(feature = "gzip")]
pub(super) fn coding(head: &ResponseHead) -> Option<Coding> {
    codings(head).find_map(Coding::parse)
}

/// A coding of the body behind a head that is not undone here: an unknown one, or one on top of another.
pub(super) fn foreign_coding(head: &ResponseHead) -> Option<String> {
    let mut codings = codings(head);
    let first = codings.next()?;
    if is_known(first) { codings.next() } else { Some(first) }.map(text::excerpt)
}

fn is_known(coding: &str) -> bool {
    #[cfg(feature = "gzip")]
    let known = Coding::parse(coding).is_some();
    #[cfg(not(feature = "gzip"))]
    let known = {
        let _ = coding;
        false
    };
    known
}

fn codings(head: &ResponseHead) -> impl Iterator<Item = &str> {
    let fields = head.headers.all("content-encoding").filter_map(|value| core::str::from_utf8(value).ok());
    let codings = fields.flat_map(|value| value.split(',')).map(str::trim);
    codings.filter(|coding| !coding.is_empty() && !coding.eq_ignore_ascii_case("identity"))
}

#[cfg(feature = "gzip")]
mod inflating {
    use super::super::exchange::Reading;
    use super::super::outcome::Outcome;
    use super::super::{ExchangeId, Http};
    use crate::error::CallError;
    use crate::time::Instant;
    use crate::wire::inflate::Inflater;
    use alloc::boxed::Box;
    use alloc::format;

    /// So much is decompressed at once.
    const ROOM: usize = 8 << 10;

    impl Http {
        /// Reads a part of a compressed body, as far as somebody wants to know.
        pub(in super::super) fn inflate(
            &mut self,
            now: Instant,
            id: ExchangeId,
            mut inflater: Box<Inflater>,
            bytes: &[u8],
        ) {
            let limit = self.link.config.limits.decompressed;
            let (mut input, mut room) = (bytes, [0; ROOM]);
            loop {
                let count = inflater.next(&mut input, &mut room);
                let Some(exchange) = self.exchanges.get_mut(&id) else { return };
                if matches!(exchange.reading, Reading::Nothing) {
                    return;
                }
                let purpose = exchange.purpose;
                let error = match count {
                    Ok(0) => {
                        exchange.inflater = Some(inflater);
                        return;
                    }
                    Ok(count) if count <= limit.saturating_sub(exchange.inflated) => {
                        exchange.inflated += count;
                        self.plain(now, id, room.get(..count).unwrap_or_default());
                        continue;
                    }
                    Ok(_) => CallError::TooLarge { limit },
                    Err(reason) => {
                        CallError::Invalid { reason: format!("the response cannot be read: {reason}") }
                    }
                };
                // A refusal is one, however much is said of it.
                if let Reading::Refusal { .. } = exchange.reading {
                    return self.cut_short(now, id);
                }
                self.abort(id);
                return self.conclude(now, purpose, Outcome::Failed(error));
            }
        }
    }
}
