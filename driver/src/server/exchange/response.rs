//! The response of an exchange, for whoever carries it.

use std::sync::MutexGuard;

use mcp_proto::head::{BodyLength, ResponseHead, WholeBody};

use super::{ExchangeHandle, Inner};
use crate::runtime::Runtime;

impl<R: Runtime> ExchangeHandle<R> {
    /// The head of the response, once, as soon as it is known. A request that broke off is answered 400, for
    /// carriers that have to answer everything.
    pub fn take_head(&self) -> Option<(ResponseHead, BodyLength)> {
        self.response().take_head()
    }

    /// Shows `write` what there is of the response's body; what it takes is forgotten. Before the head was
    /// taken there is nothing.
    pub fn transmit(&self, write: &mut dyn FnMut(&[u8]) -> usize) {
        if self.response().take(write) > 0 {
            self.work();
        }
    }

    /// Whether the response is complete and taken.
    pub fn is_ended(&self) -> bool {
        self.response().is_ended()
    }

    /// The response, for whoever takes several parts of it at once; [`work`](Self::work) is to follow when anything of
    /// its body was taken.
    pub(in crate::server) fn response(&self) -> Response<'_> {
        Response(self.lock())
    }
}

/// The response of an exchange, which is locked meanwhile.
pub(in crate::server) struct Response<'a>(MutexGuard<'a, Inner>);

impl Response<'_> {
    pub(in crate::server) fn take_head(&mut self) -> Option<(ResponseHead, BodyLength)> {
        let inner = &mut *self.0;
        let mut head = inner.head.take();
        if head.is_none() && inner.ended && !inner.begun {
            head = Some((ResponseHead::new(400), BodyLength::Empty));
        }
        inner.begun |= head.is_some();
        head
    }

    pub(in crate::server) fn take(&mut self, write: &mut dyn FnMut(&[u8]) -> usize) -> usize {
        let inner = &mut *self.0;
        // An answer may be written by another thread that has not come to telling its head.
        if !inner.begun {
            return 0;
        }
        let taken = write(inner.machine.transmit());
        inner.machine.advance(taken);
        taken
    }

    /// The body, if it is all there and so long.
    pub(in crate::server) fn take_whole(&mut self, length: BodyLength) -> Option<WholeBody> {
        let machine = &mut self.0.machine;
        let is_whole =
            matches!(length, BodyLength::Known(length) if length == machine.transmit().len() as u64);
        is_whole.then(|| machine.take_transmit())
    }

    pub(in crate::server) fn is_ended(&self) -> bool {
        self.0.ended && self.0.head.is_none()
    }
}
