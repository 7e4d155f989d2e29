//! What a handler does once, however often it runs.

use std::fmt;
use std::future::{Future, IntoFuture};
use std::pin::Pin;

use mcp_proto::model::Json;
use mcp_proto::wire::jsonrpc::decode_at;
use serde::Serialize;
use serde::de::DeserializeOwned;

use super::Context;
use super::journal::Step as Stand;
use crate::reply::block_on;
use crate::tool::{Failure, ToolError};

impl Context {
    /// Does something once. A handler that runs again because it asks its client (see [`elicit`](Self::elicit))
    /// is given what came out the first time, and `work` is not called.
    ///
    /// `work` is `FnOnce() -> Result<T, ToolError>`, or the same with a future; an async handler awaits the step,
    /// a blocking one calls [`wait`](Step::wait). What comes out is remembered as JSON, in the state that travels
    /// through the client, sealed: keep it small ([`Limits::state`](mcp_proto::limits::Limits::state)). An error is
    /// not remembered. Keys are unique among the steps of a handler.
    ///
    /// Once means once for each time that the client comes back with the state that it was given. A client can
    /// make its request anew, or come back twice from one point: what must happen once whatever clients do needs
    /// a lock of its own (MRTR-17).
    pub fn step<'a, T, M>(&self, key: impl Into<String>, work: impl StepWork<'a, T, M>) -> Step<'a, T>
    where
        T: Serialize + DeserializeOwned + Send + 'a,
    {
        let (cx, key, work) = (self.clone(), key.into(), work.into_work());
        Step(Box::pin(async move {
            match cx.shared.journal(|journal| journal.step(&key)) {
                Stand::Leave => Err(ToolError(Failure::Leave)),
                Stand::Done(done) => read(&key, &done),
                Stand::Do => {
                    let done = Json::new(&work.await?)?;
                    // Read as it will be the next time, so that a type which does not survive that shows at once.
                    let value = read(&key, &done)?;
                    cx.shared.journal(|journal| journal.kept.steps.insert(key, done));
                    Ok(value)
                }
            }
        }))
    }
}

fn read<T: DeserializeOwned>(key: &str, done: &Json) -> Result<T, ToolError> {
    decode_at(done.get(), "value").map_err(|error| {
        ToolError::internal(format!("what step `{key}` has done cannot be read again: {}", error.message))
    })
}

/// Something that is done once; see [`Context::step`]. Nothing happens until it is awaited, or waited for.
#[must_use = "nothing is done until this is awaited, or waited for with `.wait()`"]
pub struct Step<'a, T>(Work<'a, T>);

type Work<'a, T> = Pin<Box<dyn Future<Output = Result<T, ToolError>> + Send + 'a>>;

impl<T> Step<'_, T> {
    /// Does it on this thread. For blocking handlers.
    ///
    /// # Errors
    /// That of the work, and an internal error when what came out cannot be remembered.
    pub fn wait(self) -> Result<T, ToolError> {
        block_on(self.0)
    }
}

impl<'a, T> IntoFuture for Step<'a, T> {
    type Output = Result<T, ToolError>;
    type IntoFuture = Work<'a, T>;

    fn into_future(self) -> Work<'a, T> {
        self.0
    }
}

impl<T> fmt::Debug for Step<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Step").finish_non_exhaustive()
    }
}

/// What a [`step`](Context::step) does: `FnOnce() -> Result<T, ToolError>`, or
/// `FnOnce() -> Future<Output = Result<T, ToolError>>`. `M` keeps the two apart and is never named.
#[diagnostic::on_unimplemented(
    message = "this is nothing that a step can do",
    note = "expected `FnOnce() -> Result<T, ToolError>`, or the same with a future"
)]
pub trait StepWork<'a, T, M> {
    /// The function behind one shape.
    #[doc(hidden)]
    fn into_work(self) -> Work<'a, T>;
}

/// Marks steps that return a result.
#[derive(Debug)]
pub struct ByResult;

/// Marks steps that return a future.
#[derive(Debug)]
pub struct ByFuture<F>(std::marker::PhantomData<F>);

impl<'a, T, F> StepWork<'a, T, ByResult> for F
where
    F: FnOnce() -> Result<T, ToolError> + Send + 'a,
{
    fn into_work(self) -> Work<'a, T> {
        Box::pin(async move { self() })
    }
}

impl<'a, T, F, Fut> StepWork<'a, T, ByFuture<Fut>> for F
where
    F: FnOnce() -> Fut + Send + 'a,
    Fut: Future<Output = Result<T, ToolError>> + Send + 'a,
{
    fn into_work(self) -> Work<'a, T> {
        Box::pin(async move { self().await })
    }
}
