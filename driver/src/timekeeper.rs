//! Machines that have timers and no stream of their own.

use std::io;
use std::sync::Arc;
use std::task::{Context, Poll};

use crate::endpoint::{ByteStream, Endpoint, pump};
use crate::runtime::Runtime;

/// Calls a machine in time, until it is finished.
pub(crate) async fn keep_time<R: Runtime>(runtime: R, endpoint: Arc<dyn Endpoint>) {
    pump(runtime, NoStream, endpoint).await;
}

/// A stream on which nothing ever happens.
struct NoStream;

impl ByteStream for NoStream {
    fn poll_read(&mut self, _: &mut Context<'_>, _: &mut [u8]) -> Poll<io::Result<usize>> {
        Poll::Pending
    }

    fn poll_write(&mut self, _: &mut Context<'_>, _: &[u8]) -> Poll<io::Result<usize>> {
        Poll::Pending
    }

    fn poll_flush(&mut self, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn poll_close(&mut self, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }
}
