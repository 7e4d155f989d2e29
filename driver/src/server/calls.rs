//! Running handlers: at once when they are ready at once, as tasks otherwise, on the pool when they block.

use std::future::poll_fn;
use std::sync::{Arc, Mutex, PoisonError};

use mcp_proto::model::{CompleteResult, Completion};
use mcp_proto::server::{Answer, AskId, Call, CallId, Target};

use super::Shared;
use super::offer::Offer;
use crate::around;
use crate::context::{CallState, Context, Outlet, Responder, TaskOutlet, owner};
use crate::endpoint::poll_once;
use crate::handler::Run;
use crate::runtime::{BoxFuture, Runtime};

/// The calls of one connection or exchange that are under way, by their ids: mostly one.
#[derive(Default)]
pub(super) struct Calls(Mutex<Vec<Arc<CallState>>>);

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
        let hooks = &shared.around;
        let handler = offer.handler(call.target()).cloned();
        let outlet = match call.may_be_task() {
            true => Arc::new(TaskOutlet::new(outlet, &call)),
            false => outlet,
        };
        let state = CallState::new(outlet, id, call, handler, !hooks.is_empty());
        let mut running = self.lock();
        let place = running.partition_point(|other| other.id() < id);
        running.insert(place, state.clone());
        drop(running);
        if hooks.is_empty() {
            return run(&state, Responder::new(state.clone()));
        }
        let mut served = around::serve(hooks.clone(), state);
        if poll_once(served.as_mut()).is_pending() {
            shared.runtime.spawn(served);
        }
    }

    /// The client gave up on a call.
    #[cfg(feature = "http")]
    pub(super) fn cancel(&self, id: CallId) {
        let state = self.remove(id);
        if let Some(state) = state {
            state.cancel();
        }
    }

    /// The client on a byte stream gave up on a call, or is gone; that may be the end of the process.
    pub(super) fn cancel_here(&self, id: CallId) {
        let state = self.remove(id);
        if let Some(state) = state {
            state.cancel_here();
        }
    }

    /// Another run of a call takes the place of the one before, if the call is not over.
    pub(super) fn adopt(&self, state: &Arc<CallState>) -> bool {
        let mut running = self.lock();
        match place(&running, state.id()).and_then(|place| running.get_mut(place)) {
            Some(before) => {
                *before = state.clone();
                true
            }
            None => false,
        }
    }

    /// The client has answered what a call has asked.
    pub(super) fn answered(&self, id: CallId, ask: AskId, answer: Answer) {
        let running = self.lock();
        let state = place(&running, id).and_then(|place| running.get(place)).cloned();
        drop(running);
        if let Some(state) = state {
            state.answered(ask, answer);
        }
    }

    #[cfg(feature = "http")]
    pub(super) fn is_running(&self, id: CallId) -> bool {
        place(&self.lock(), id).is_some()
    }

    pub(super) fn done(&self, id: CallId) -> bool {
        self.remove(id).is_some()
    }

    /// Takes it out, to be dropped with no lock held.
    fn remove(&self, id: CallId) -> Option<Arc<CallState>> {
        let mut running = self.lock();
        place(&running, id).map(|place| running.remove(place))
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Vec<Arc<CallState>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn place(running: &[Arc<CallState>], id: CallId) -> Option<usize> {
    running.binary_search_by_key(&id, |state| state.id()).ok()
}

/// Starts the handler of a call. An async one is a future that is to be polled; one that blocks runs on the pool.
pub(crate) fn launch(state: &Arc<CallState>, responder: Responder) -> Option<BoxFuture<()>> {
    // A panic drops the responder, which answers.
    let context = Context::new(state.clone());
    match state.handler() {
        Some(Run::Async(handler)) => {
            return state.guarded(|| Some(handler(context, responder.open()?))).flatten();
        }
        Some(Run::Blocking(handler)) => {
            let handler = handler.clone();
            state.wait_for_thread(Box::new(move || {
                if let Some(responder) = responder.open() {
                    handler(context, responder);
                }
            }));
        }
        None => match state.target() {
            Target::Protocol(_) => responder.proceed(),
            Target::Task(request) => {
                let outlet = state.outlet();
                let principal = state.call().principal().map(|principal| &**principal);
                let owner = owner(principal, outlet.connection());
                match outlet.tasks().handle_request(outlet.now(), &owner, request) {
                    Ok(answer) => responder.respond(answer),
                    Err(error) => responder.fail(error),
                }
            }
            // Nobody has a suggestion for this argument.
            Target::Completion(_) => responder.respond(CompleteResult::new(Completion::default())),
            // The catalog and the handlers are filled together, so there is one; if not, the responder
            // answers as it goes.
            _ => state.report("has no handler"),
        },
    }
    None
}

/// Runs the handler of a call. Most are ready at once: those cost neither a task nor a wake-up.
pub(crate) fn run(state: &Arc<CallState>, responder: Responder) {
    let Some(mut future) = launch(state, responder) else { return };
    if state.guarded(|| poll_once(future.as_mut())).is_none_or(|polled| polled.is_ready()) {
        state.guarded(|| drop(future));
        return;
    }
    state.keep(future);
    go_on(state);
}

/// Has a task poll what is left of a handler.
pub(crate) fn go_on(state: &Arc<CallState>) {
    let rest = Rest(state.clone());
    state.outlet().spawn(Box::pin(poll_fn(move |cx| rest.0.poll_rest(cx))));
}

/// The task of a handler. A runtime that refuses it, or shuts down, drops it: then the handler goes with it,
/// and its responder answers.
struct Rest(Arc<CallState>);

impl Drop for Rest {
    fn drop(&mut self) {
        self.0.drop_rest();
    }
}
