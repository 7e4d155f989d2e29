//! Waiting, in two modes behind one surface: a future to await, or a result after blocking.

use std::fmt;
use std::future::Future;
use std::pin::{Pin, pin};
use std::task::{Context, Poll, Waker};
use std::thread;

use mcp_proto::error::CallError;

use crate::client::CallFuture;
use crate::runtime::BoxFuture;
use crate::wake::waker_fn;

/// How an application waits.
pub trait Mode: Send + Sync + 'static {
    /// What a call returns: a future of a result, or the result.
    type Reply<T: Send + 'static, E: Send + 'static>;

    /// Turns what is under way into a reply.
    fn reply<T: Send + 'static, E: Send + 'static>(running: Running<T, E>) -> Self::Reply<T, E>;
}

/// Calls return futures.
#[derive(Clone, Copy, Debug, Default)]
pub struct Async;

impl Mode for Async {
    type Reply<T: Send + 'static, E: Send + 'static> = Running<T, E>;

    fn reply<T: Send + 'static, E: Send + 'static>(running: Running<T, E>) -> Running<T, E> {
        running
    }
}

/// Calls block the thread and return results.
#[derive(Clone, Copy, Debug, Default)]
pub struct Blocking;

impl Mode for Blocking {
    type Reply<T: Send + 'static, E: Send + 'static> = Result<T, E>;

    fn reply<T: Send + 'static, E: Send + 'static>(running: Running<T, E>) -> Result<T, E> {
        block_on(running)
    }
}

/// Something under way. Dropping it abandons it: a call is cancelled on the wire, a server stops.
#[must_use = "nothing happens until it is awaited"]
pub struct Running<T, E = CallError>(State<T, E>);

enum State<T, E> {
    Call(CallFuture<T>, fn(CallError) -> E),
    Task(BoxFuture<Result<T, E>>),
}

impl<T, E> Running<T, E> {
    /// Wraps a future.
    pub fn task(future: impl Future<Output = Result<T, E>> + Send + 'static) -> Self {
        Self(State::Task(Box::pin(future)))
    }
}

impl<T> Running<T> {
    pub(crate) fn call(future: CallFuture<T>) -> Self {
        Self(State::Call(future, |error| error))
    }
}

impl<T: 'static, E> Future for Running<T, E> {
    type Output = Result<T, E>;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        match &mut self.get_mut().0 {
            State::Call(call, error) => Pin::new(call).poll(cx).map_err(*error),
            State::Task(task) => task.as_mut().poll(cx),
        }
    }
}

impl<T, E> fmt::Debug for Running<T, E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Running")
    }
}

/// Blocks the thread until a future is ready.
pub fn block_on<F: Future>(future: F) -> F::Output {
    let waker = thread_waker();
    let mut cx = Context::from_waker(&waker);
    let mut future = pin!(future);
    loop {
        match future.as_mut().poll(&mut cx) {
            Poll::Ready(output) => return output,
            Poll::Pending => thread::park(),
        }
    }
}

/// Unparks the calling thread.
pub(crate) fn thread_waker() -> Waker {
    let thread = thread::current();
    waker_fn(move || thread.unpark())
}
