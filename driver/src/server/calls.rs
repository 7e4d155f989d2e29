//! Running handlers: at once when they are ready at once, as tasks otherwise, on the pool when they block.

use std::collections::BTreeMap;
use std::future::poll_fn;
use std::sync::{Arc, Mutex, PoisonError};

use mcp_proto::model::{CompleteResult, Completion};
use mcp_proto::server::{Call, CallId, Target};

use super::Shared;
use super::offer::Offer;
use crate::context::{CallState, Context, Outlet, Report, Responder};
use crate::endpoint::poll_once;
use crate::handler::Run;
use crate::runtime::{BoxFuture, Runtime};

/// The calls of one connection or exchange that are under way.
#[derive(Default)]
pub(super) struct Calls(Mutex<BTreeMap<CallId, Arc<CallState>>>);

impl Calls {
    /// Starts the handler of a call that was found in `offer`.
    pub(super) fn start<R: Runtime>(
        &self,
        shared: &Shared<R>,
        offer: &Offer,
        outlet: Arc<dyn Outlet>,
        id: CallId,
        call: Call,
    ) {
        let state = CallState::new(outlet, id, call);
        self.lock().insert(id, state.clone());
        let context = Context::new(state.clone());
        let responder = Responder::new(state.clone());
        // A panic drops the responder, which answers.
        match offer.handler(state.target()) {
            Some(Run::Async(handler)) => {
                if let Some(future) = state.guarded(|| handler(context, responder)) {
                    run(&shared.runtime, &state, future);
                }
            }
            Some(Run::Blocking(handler)) => {
                let handler = handler.clone();
                let job = move || {
                    // It may have waited for a thread longer than the client for it.
                    if !state.is_cancelled() {
                        state.guarded(|| handler(context, responder));
                    }
                };
                if shared.runtime.spawn_blocking(Box::new(job)).is_err() {
                    let detail = "the pool of blocking threads has no place; a call was refused";
                    shared.report(&Report::ours("server", detail));
                }
            }
            // Nobody has a suggestion for this argument.
            None if matches!(state.target(), Target::Completion(_)) => {
                responder.respond(&CompleteResult::new(Completion::default()));
            }
            // The catalog and the handlers are filled together, so there is one; if not, the responder
            // answers as it goes.
            None => state.report("has no handler"),
        }
    }

    /// The client gave up on a call.
    pub(super) fn cancel(&self, id: CallId) {
        let state = self.lock().remove(&id);
        if let Some(state) = state {
            state.cancel();
        }
    }

    pub(super) fn done(&self, id: CallId) {
        self.lock().remove(&id);
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, BTreeMap<CallId, Arc<CallState>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Most handlers are ready at once: those cost neither a task nor a wake-up.
fn run<R: Runtime>(runtime: &R, state: &Arc<CallState>, mut future: BoxFuture<()>) {
    if state.guarded(|| poll_once(future.as_mut())).is_none_or(|polled| polled.is_ready()) {
        state.guarded(|| drop(future));
        return;
    }
    state.keep(future);
    let rest = Rest(state.clone());
    runtime.spawn(Box::pin(poll_fn(move |cx| rest.0.poll_rest(cx))));
}

/// The task of a handler. A runtime that refuses it, or shuts down, drops it: then the handler goes with it,
/// and its responder answers.
struct Rest(Arc<CallState>);

impl Drop for Rest {
    fn drop(&mut self) {
        self.0.drop_rest();
    }
}
