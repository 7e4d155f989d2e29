//! Calls whose headers the server did not like: their tools may have changed (HDR-51).

use super::Http;
use crate::client::cache::CacheUse;
use crate::client::call::Call;
use crate::client::calls::{CallId, Reply};
use crate::client::config::CallOptions;
use crate::client::lists::ListTools;
use crate::client::reply::Pending;
use crate::error::{CallError, ErrorObject, HttpStatus, code};
use crate::time::Instant;
use crate::wire::header_value;
use alloc::borrow::ToOwned;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

/// The tools are listed again in order to repeat calls.
#[derive(Debug)]
pub(super) struct Refresh {
    calls: Vec<Repeat>,
    pages: usize,
}

/// A call that is repeated once its tool has been listed.
#[derive(Debug)]
struct Repeat {
    call: CallId,
    tool: String,
    /// What it ends with if that fails.
    error: ErrorObject,
    status: Option<HttpStatus>,
}

impl Http {
    /// Whether the answer to a call is a reason to look at its tool again; then that has begun.
    pub(super) fn refresh(
        &mut self,
        now: Instant,
        call: CallId,
        error: &ErrorObject,
        status: Option<&HttpStatus>,
    ) -> bool {
        let Some(flight) = self.flights.get_mut(&call) else { return false };
        let headers = &flight.request.head.headers;
        let calls_tool = headers.text("mcp-method") == Some("tools/call");
        if error.code != i64::from(code::HEADER_MISMATCH) || !calls_tool || flight.repeated {
            return false;
        }
        let Some(Ok(tool)) = headers.get("mcp-name").map(header_value::decode) else { return false };
        let repeat = Repeat { call, tool: tool.into_owned(), error: error.clone(), status: status.cloned() };
        flight.repeated = true;
        flight.exchange = None;
        // What is kept of lists is of the past, and would teach it.
        self.link.cache.notified("notifications/tools/list_changed", || None);
        // One list does for all whose tools it has not passed yet.
        if let Some(begun) = self.refreshes.values_mut().find(|refresh| refresh.pages == 0) {
            begun.calls.push(repeat);
            return true;
        }
        self.list_tools(now, ListTools::new(), Refresh { calls: [repeat].into(), pages: 0 }).is_ok()
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
        let page =
            outcome.and_then(|page| self.link.read(&Pending::new(listing, ListTools::read), &page, None));
        self.link.settle(listing, Err(CallError::Cancelled));
        refresh.calls.retain(|repeat| self.flights.contains_key(&repeat.call));
        refresh.pages += 1;
        let more = refresh.pages < self.link.config.limits.pages;
        let next = match page {
            Ok(page) => {
                let listed = |repeat: &mut Repeat| page.tools.iter().any(|tool| tool.name == repeat.tool);
                let found: Vec<Repeat> = refresh.calls.extract_if(.., listed).collect();
                found.into_iter().for_each(|repeat| self.call_again(now, repeat));
                page.next_cursor.filter(|_| more)
            }
            Err(_) => None,
        };
        if refresh.calls.is_empty() {
            return;
        }
        let given_up = match next {
            Some(cursor) => self.list_tools(now, ListTools::after(cursor.to_string()), refresh).err(),
            None => Some(refresh),
        };
        // What is known of their tools is what it was, so they would fail again.
        for Repeat { call, error, status, .. } in given_up.into_iter().flat_map(|refresh| refresh.calls) {
            self.settle(now, call, Err(CallError::Server { error, status }));
        }
    }

    fn call_again(&mut self, now: Instant, repeat: Repeat) {
        let Repeat { call, tool, .. } = repeat;
        match self.link.definitions.refused(&tool).map(ToOwned::to_owned) {
            Some(reason) => self.settle(now, call, Err(CallError::UnsupportedDialect { reason })),
            None => {
                self.link.goes_out_to(call, &tool);
                self.send_again(call);
            }
        }
    }
}
