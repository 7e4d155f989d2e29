//! The exchange machine, and the guard that sees what goes by.

#[cfg(feature = "auth")]
use std::collections::VecDeque;

use mcp_proto::client::{ExchangeId, Http};
#[cfg(feature = "auth")]
use mcp_proto::head::Headers;
use mcp_proto::head::{End, ResponseHead};
use mcp_proto::time::Now;

#[cfg(feature = "auth")]
use super::super::authorize::Guard;

/// The machine, with whoever has tokens for it.
pub(super) struct Guarded {
    pub(super) http: Http,
    #[cfg(feature = "auth")]
    pub(super) guard: Option<Guard>,
    /// What a key has signed, or not, and is to go out.
    #[cfg(feature = "auth")]
    pub(super) signed: VecDeque<(ExchangeId, Result<Headers, String>)>,
}

impl Guarded {
    /// The application has asked for something.
    pub(super) fn asked(&mut self, now: Now) {
        #[cfg(feature = "auth")]
        if let Some(guard) = &mut self.guard {
            guard.asked(now, &mut self.http);
        }
        let _ = now;
    }

    pub(super) fn head(&mut self, now: Now, exchange: ExchangeId, head: ResponseHead) {
        #[cfg(feature = "auth")]
        if let Some(guard) = &mut self.guard {
            guard.head(&self.http, exchange, &head);
        }
        self.http.handle_head(now, exchange, head);
    }

    pub(super) fn end(&mut self, now: Now, exchange: ExchangeId, end: End) {
        self.forget(exchange);
        self.http.handle_end(now, exchange, end);
    }

    pub(super) fn failed(&mut self, now: Now, exchange: ExchangeId, reason: &str, unsent: bool) {
        self.forget(exchange);
        self.http.handle_failed(now, exchange, reason, unsent);
    }

    /// Whether an exchange goes out with the token that there is.
    #[cfg(feature = "auth")]
    pub(super) fn is_current(&self, exchange: ExchangeId) -> bool {
        self.guard.as_ref().is_none_or(|guard| guard.is_current(exchange))
    }

    /// Nothing more comes of an exchange.
    pub(super) fn forget(&mut self, exchange: ExchangeId) {
        #[cfg(feature = "auth")]
        if let Some(guard) = &mut self.guard {
            guard.forget(&self.http, exchange);
        }
        let _ = exchange;
    }
}
