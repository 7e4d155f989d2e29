//! A call whose headers the server did not like: its tool may have changed (HDR-51).

use super::Http;
use crate::client::cache::CacheUse;
use crate::client::call::Call;
use crate::client::calls::{CallId, Reply};
use crate::client::config::CallOptions;
use crate::client::lists::ListTools;
use crate::client::reply::Pending;
use crate::error::{CallError, ErrorObject, code};
use crate::time::Instant;
use alloc::string::ToString;

/// The tools are listed again in order to repeat a call.
#[derive(Debug)]
pub(super) struct Refresh {
    /// The call to repeat.
    call: CallId,
    /// What it ends with if that fails.
    error: ErrorObject,
    status: Option<u16>,
    pages: usize,
}

impl Http {
    /// Whether the answer to a call is a reason to look at its tool again; then that has begun.
    pub(super) fn refresh(
        &mut self,
        now: Instant,
        call: CallId,
        error: &ErrorObject,
        status: Option<u16>,
    ) -> bool {
        let Some(flight) = self.flights.get_mut(&call) else { return false };
        let calls_tool = flight.request.head.headers.text("mcp-method") == Some("tools/call");
        if error.code != i64::from(code::HEADER_MISMATCH) || !calls_tool || flight.repeated {
            return false;
        }
        flight.repeated = true;
        flight.exchange = None;
        let refresh = Refresh { call, error: error.clone(), status, pages: 0 };
        self.list_tools(now, ListTools::new(), refresh).is_ok()
    }

    fn list_tools(&mut self, now: Instant, page: ListTools, refresh: Refresh) -> Result<(), Refresh> {
        match self.start_source(now, &page, CallOptions::new().cache(CacheUse::Refresh)) {
            Ok(id) => {
                self.link.calls.forget(id);
                self.refreshes.insert(id, refresh);
                Ok(())
            }
            Err(_) => Err(refresh),
        }
    }

    /// A page of tools has come, or has not.
    pub(super) fn refreshed(
        &mut self,
        now: Instant,
        listing: CallId,
        mut refresh: Refresh,
        outcome: Result<Reply, CallError>,
    ) {
        let page = match outcome {
            Ok(page) => self.link.read(&Pending::new(listing, ListTools::read), &page),
            Err(error) => Err(error),
        };
        self.link.settle(listing, Err(CallError::Cancelled));
        if !self.flights.contains_key(&refresh.call) {
            return;
        }
        refresh.pages += 1;
        let more = refresh.pages < self.link.config.limits.pages;
        let refused = match page {
            Ok(page) => match page.next_cursor.filter(|_| more) {
                Some(cursor) => self.list_tools(now, ListTools::after(cursor.to_string()), refresh).err(),
                None => return self.send_again(refresh.call),
            },
            Err(_) => Some(refresh),
        };
        if let Some(Refresh { call, error, status, .. }) = refused {
            self.settle(now, call, Err(CallError::Server { error, status }));
        }
    }
}
