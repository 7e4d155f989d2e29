//! Whole collections, read page by page.

use std::fmt;

use mcp_proto::client::{Call, Pages};
use mcp_proto::error::CallError;
use mcp_proto::model::Cursor;

use super::Client;
use super::calls::Options;
use crate::error::Error;
use crate::runtime::Runtime;

/// A collection that was not read to its end: why not, and what was read till then.
#[derive(Clone, PartialEq)]
pub struct Incomplete<T> {
    /// Why it ended.
    pub error: CallError,
    /// What was read before.
    pub read: Vec<T>,
}

/// The same as `Display`, which prints how much was read and not what.
impl<T> fmt::Debug for Incomplete<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl<T> fmt::Display for Incomplete<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.read.len() {
            0 => self.error.fmt(f),
            read => write!(f, "{}; {read} items were read before", self.error),
        }
    }
}

impl<T> std::error::Error for Incomplete<T> {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        Some(&self.error)
    }
}

impl<T> From<Incomplete<T>> for CallError {
    fn from(incomplete: Incomplete<T>) -> Self {
        incomplete.error
    }
}

impl<T> From<Incomplete<T>> for Error {
    fn from(incomplete: Incomplete<T>) -> Self {
        incomplete.error.into()
    }
}

impl<R: Runtime> Client<R> {
    /// Reads a whole collection. Once, it begins again when a cursor has died.
    pub(super) async fn read_all<C: Call, T>(
        self,
        page: impl Fn(Option<Cursor>) -> C,
        split: impl Fn(C::Reply) -> (Vec<T>, Option<Cursor>),
        options: Options,
    ) -> Result<Vec<T>, Incomplete<T>> {
        let max = options.call.max.unwrap_or(self.config.limits.request_max);
        let until = self.runtime.now().mono + max;
        let (mut pages, mut cursor) = (Pages::new(self.revision(), &self.config), None);
        loop {
            let left = until.saturating_since(self.runtime.now().mono);
            if left.is_zero() {
                // However fast the server would be.
                return Err(Incomplete {
                    error: CallError::TimedOut { after: max },
                    read: pages.into_items(),
                });
            }
            let options = options.clone().max(left);
            let next = match self.start_call(&page(cursor.take()), options).await {
                Ok(reply) => {
                    let (items, next) = split(reply);
                    pages.add(items, next)
                }
                Err(error) if pages.restart(&error) => continue,
                Err(error) => Err(error),
            };
            match next {
                Ok(Some(next)) => cursor = Some(next),
                Ok(None) => return Ok(pages.into_items()),
                Err(error) => return Err(Incomplete { error, read: pages.into_items() }),
            }
        }
    }
}
