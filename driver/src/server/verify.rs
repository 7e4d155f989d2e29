//! Checking access tokens: functions of the application, and running them.

use std::fmt;
use std::future::{Future, poll_fn};
use std::marker::PhantomData;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Weak};
use std::task::Poll;

use mcp_proto::server::{AuthRefusal, BearerToken, Grant};

use super::exchange::ExchangeHandle;
use crate::context::Report;
use crate::endpoint::poll_once;
use crate::runtime::{BoxFuture, Runtime};

/// A function that checks an access token. Implemented for
///
/// - `Fn(BearerToken) -> Future<Output = Result<Grant, AuthRefusal>>`: run on the runtime;
/// - `Fn(BearerToken) -> Result<Grant, AuthRefusal>`: run on a thread that may block, and never behind handlers.
///
/// `M` keeps the ways apart and is never named. The function is called for every request; one that asks an
/// authorization server does well to remember the answer for a while. A panic refuses the request as one that
/// could not be checked.
///
/// <https://modelcontextprotocol.io/specification/2026-07-28/basic/authorization#token-handling>
#[diagnostic::on_unimplemented(
    message = "this function cannot check access tokens",
    note = "expected `Fn(BearerToken) -> Result<Grant, AuthRefusal>`, async or not"
)]
pub trait Verify<M>: Send + Sync + 'static {
    /// The function behind one shape.
    fn into_verifier(self) -> Verifier;
}

/// A function that checks access tokens, behind one shape.
pub struct Verifier(Check);

enum Check {
    Async(Box<dyn Fn(BearerToken) -> BoxFuture<Outcome> + Send + Sync>),
    Blocking(Arc<dyn Fn(BearerToken) -> Outcome + Send + Sync>),
}

type Outcome = Result<Grant, AuthRefusal>;

/// Marks functions that return a future.
#[derive(Debug)]
pub struct AsyncVerify<F>(PhantomData<fn() -> F>);

/// Marks functions that return a result and may block.
#[derive(Debug)]
pub struct BlockingVerify;

impl<F, Fut> Verify<AsyncVerify<Fut>> for F
where
    F: Fn(BearerToken) -> Fut + Send + Sync + 'static,
    Fut: Future<Output = Outcome> + Send + 'static,
{
    fn into_verifier(self) -> Verifier {
        Verifier(Check::Async(Box::new(move |token| Box::pin(self(token)))))
    }
}

impl<F> Verify<BlockingVerify> for F
where
    F: Fn(BearerToken) -> Outcome + Send + Sync + 'static,
{
    fn into_verifier(self) -> Verifier {
        Verifier(Check::Blocking(Arc::new(self)))
    }
}

impl fmt::Debug for Verifier {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Verifier").finish_non_exhaustive()
    }
}

impl Verifier {
    /// Checks a token, and tells the exchange.
    pub(super) fn check<R: Runtime>(&self, exchange: &Arc<ExchangeHandle<R>>, token: BearerToken) {
        let pending = Pending(Arc::downgrade(exchange));
        let runtime = exchange.service().runtime();
        match &self.0 {
            Check::Async(check) => {
                let Some(mut future) = pending.guarded(|| check(token)) else { return };
                match pending.guarded(|| poll_once(future.as_mut())) {
                    None => {}
                    Some(Poll::Ready(outcome)) => pending.settle(outcome),
                    Some(Poll::Pending) => runtime.spawn(Box::pin(async move {
                        let rest = poll_fn(|cx| match pending.guarded(|| future.as_mut().poll(cx)) {
                            None => Poll::Ready(None),
                            Some(polled) => polled.map(Some),
                        });
                        if let Some(outcome) = rest.await {
                            pending.settle(outcome);
                        }
                    })),
                }
            }
            Check::Blocking(check) => {
                let check = check.clone();
                let job = move || {
                    if let Some(outcome) = pending.guarded(|| check(token)) {
                        pending.settle(outcome);
                    }
                };
                if !exchange.service().shared().check(Box::new(job)) {
                    let detail = "no thread for the verifier, or more checks than `Limits::blocking_jobs` wait; a token was not checked";
                    exchange.service().shared().report(&Report::ours("server", detail));
                }
            }
        }
    }
}

/// A check under way. However it ends, also with its runtime, the exchange is told.
struct Pending<R: Runtime>(Weak<ExchangeHandle<R>>);

impl<R: Runtime> Pending<R> {
    /// Runs code of the application; a panic is reported and ends there.
    fn guarded<T>(&self, run: impl FnOnce() -> T) -> Option<T> {
        catch_unwind(AssertUnwindSafe(run))
            .inspect_err(|_| {
                if let Some(exchange) = self.0.upgrade() {
                    let report = Report::ours("checking a token", "the verifier panicked");
                    exchange.service().shared().report(&report);
                }
            })
            .ok()
    }

    fn settle(self, outcome: Outcome) {
        if let Some(exchange) = self.0.upgrade() {
            exchange.handle_outcome(outcome);
        }
    }
}

impl<R: Runtime> Drop for Pending<R> {
    fn drop(&mut self) {
        // Ignored where there was an outcome.
        if let Some(exchange) = self.0.upgrade() {
            exchange.handle_outcome(Err(AuthRefusal::Unavailable));
        }
    }
}
