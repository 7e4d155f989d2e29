//! The head of a request, on its way from the exchange that judges it to the calls that it makes.

use alloc::sync::Arc;
use core::ops::Deref;

use crate::head::RequestHead;

/// A head, which calls share; empty where there is none. Large, so it stays where it is while calls move on.
#[derive(Clone, Debug, Default)]
pub(super) struct Received(Option<Arc<RequestHead>>);

impl Received {
    /// For the only call: nothing of it is left here.
    pub(super) fn take(&mut self) -> Self {
        core::mem::take(self)
    }

    pub(super) fn get(&self) -> Option<&RequestHead> {
        self.0.as_deref()
    }
}

impl From<RequestHead> for Received {
    fn from(head: RequestHead) -> Self {
        Self(Some(Arc::new(head)))
    }
}

impl Deref for Received {
    type Target = RequestHead;

    fn deref(&self) -> &RequestHead {
        const NONE: &RequestHead = &RequestHead::none();
        self.get().unwrap_or(NONE)
    }
}
