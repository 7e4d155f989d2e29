//! Running handlers: at once when they are ready at once, as tasks otherwise, on the pool when they block.

use std::any::Any;
use std::collections::BTreeMap;
use std::future::Future;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{self, Poll};

use mcp_proto::server::{Call, CallId};

use super::Shared;
use crate::context::{CallState, Context, Outlet, Responder};
use crate::endpoint::poll_once;
use crate::runtime::{BoxFuture, Runtime};
use crate::tool::Run;

/// The calls of one connection or exchange that are under way.
#[derive(Default)]
pub(super) struct Calls(Mutex<BTreeMap<CallId, Arc<CallState>>>);

impl Calls {
    /// Starts the handler of a call.
    pub(super) fn start<R: Runtime>(&self, shared: &Shared<R>, outlet: Arc<dyn Outlet>, id: CallId, call: Call) {
        let state = CallState::new(outlet, id, call);
        self.lock().insert(id, state.clone());
        let context = Context::new(state.clone());
        let responder = Responder::new(state.clone());
        match shared.handlers.get(state.name()) {
            Some(Run::Async(handler)) => {
                // A panic drops the responder, which answers.
                match catch_unwind(AssertUnwindSafe(|| handler(context, responder))) {
                    Ok(future) => run(&shared.runtime, Task { future: Some(future), state }),
                    Err(panic) => state.report(panic_text(&*panic)),
                }
            }
            Some(Run::Blocking(handler)) => {
                let handler = handler.clone();
                let job = move || {
                    if let Err(panic) = catch_unwind(AssertUnwindSafe(|| handler(context, responder))) {
                        state.report(panic_text(&*panic));
                    }
                };
                let refused = shared.runtime.spawn_blocking(Box::new(job)).is_err();
                if refused && let Some(state) = self.lock().get(&id) {
                    state.report("the pool of blocking threads has no place; the call was refused");
                }
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
fn run<R: Runtime>(runtime: &R, mut task: Task) {
    if poll_once(Pin::new(&mut task)).is_pending() {
        runtime.spawn(Box::pin(task));
    }
}

/// A handler's future, dropped when the call is cancelled.
struct Task {
    future: Option<BoxFuture<()>>,
    state: Arc<CallState>,
}

impl Future for Task {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, cx: &mut task::Context<'_>) -> Poll<()> {
        let Some(future) = &mut self.future else {
            return Poll::Ready(());
        };
        let polled = catch_unwind(AssertUnwindSafe(|| future.as_mut().poll(cx)));
        let panicked = match polled {
            Ok(Poll::Pending) if self.state.poll_cancelled(cx.waker()).is_pending() => return Poll::Pending,
            Ok(_) => None,
            Err(panic) => Some(panic),
        };
        // Dropping what is left of a handler may panic, too.
        let dropped = catch_unwind(AssertUnwindSafe(|| drop(self.future.take())));
        for panic in panicked.into_iter().chain(dropped.err()) {
            self.state.report(panic_text(&*panic));
        }
        Poll::Ready(())
    }
}

fn panic_text(panic: &(dyn Any + Send)) -> String {
    let text = panic
        .downcast_ref::<&str>()
        .copied()
        .or_else(|| panic.downcast_ref::<String>().map(String::as_str))
        .unwrap_or("something that is no text");
    format!("the handler panicked: {text}")
}
