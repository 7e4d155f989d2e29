//! The head of a request, on its way from the exchange that judges it to the call that it makes.

use alloc::sync::Arc;
use core::ops::Deref;

use crate::head::RequestHead;

/// A head that is handed on to the only call, or shared by the calls of a batch: neither costs a copy.
#[derive(Clone, Debug)]
pub(super) enum Received {
    Alone(RequestHead),
    Shared(Arc<RequestHead>),
}

impl Received {
    /// For the only call: nothing of it is left here.
    pub(super) fn take(&mut self) -> Self {
        core::mem::take(self)
    }

    /// For one call of several.
    pub(super) fn share(&mut self) -> Self {
        let shared = match core::mem::take(self) {
            Self::Alone(head) => Arc::new(head),
            Self::Shared(head) => head,
        };
        *self = Self::Shared(shared);
        self.clone()
    }
}

impl Default for Received {
    fn default() -> Self {
        Self::Alone(RequestHead::default())
    }
}

impl From<RequestHead> for Received {
    fn from(head: RequestHead) -> Self {
        Self::Alone(head)
    }
}

impl Deref for Received {
    type Target = RequestHead;

    fn deref(&self) -> &RequestHead {
        match self {
            Self::Alone(head) => head,
            Self::Shared(head) => head,
        }
    }
}
