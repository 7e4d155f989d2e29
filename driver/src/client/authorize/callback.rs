//! One connection of the listener that the browser comes back to.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::Waker;

use mcp_proto::auth::AwaitRedirect;
use mcp_proto::head::{End, RequestHead, ResponseHead};
use mcp_proto::limits::Limits;
use mcp_proto::time::{Duration, Instant, Now};
use mcp_proto::wire::http1::{BodyLength, ServerConnection, ServerOutput};

use crate::endpoint::{Endpoint, Status};
use crate::wake::{Promise, WakerSlot};

/// How long a browser may have a connection.
const PATIENCE: Duration = Duration::from_secs(10);

/// What the connections of a listener have in common: the flow that waits, and what it waits for.
pub(super) struct Awaited {
    /// `None` once the answer is there.
    flow: Mutex<Option<AwaitRedirect>>,
    pub(super) answer: Promise<Result<String, String>>,
}

impl Awaited {
    pub(super) fn new(flow: AwaitRedirect) -> Arc<Self> {
        Arc::new(Self { flow: Mutex::new(Some(flow)), answer: Promise::default() })
    }

    /// The flow, which nobody answers any more.
    pub(super) fn take(&self) -> Option<AwaitRedirect> {
        self.flow.lock().unwrap_or_else(PoisonError::into_inner).take()
    }

    /// What to answer a request, and whether it is the one.
    fn respond(&self, request: &RequestHead) -> (ResponseHead, String, bool) {
        let flow = self.flow.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(flow) = flow.as_ref() else {
            let mut gone = ResponseHead::new(404);
            gone.headers.push("Connection", "close");
            return (gone, String::new(), false);
        };
        let page = flow.answer(request);
        (page.head, page.body, page.is_response)
    }
}

pub(super) struct Callback {
    awaited: Arc<Awaited>,
    inner: Mutex<(ServerConnection, Instant)>,
    waker: WakerSlot,
}

impl Callback {
    pub(super) fn new(now: Now, limits: &Limits, awaited: Arc<Awaited>) -> Self {
        let inner = Mutex::new((ServerConnection::new(now, limits), now.mono + PATIENCE));
        Self { awaited, inner, waker: WakerSlot::default() }
    }

    fn lock(&self) -> MutexGuard<'_, (ServerConnection, Instant)> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn input(&self, now: Now, input: impl FnOnce(&mut ServerConnection)) {
        if let Some(target) = self.work(now, input) {
            self.awaited.answer.set(Ok(target));
        }
    }

    /// Answers what is asked; the target of the request that was waited for.
    fn work(&self, now: Now, input: impl FnOnce(&mut ServerConnection)) -> Option<String> {
        let mut answer = None;
        let machine = &mut self.lock().0;
        input(machine);
        while let Some(output) = machine.poll_output() {
            let ServerOutput::Request { head: request, .. } = output else { continue };
            let (head, body, is_response) = self.awaited.respond(&request);
            if is_response {
                answer = Some(request.target);
            }
            // The machine handed out this request and has had no answer to it.
            let _ = machine.respond(now, &head, BodyLength::Known(body.len() as u64));
            machine.send(body.as_bytes());
            machine.finish();
        }
        answer
    }
}

impl Endpoint for Callback {
    fn handle_bytes(&self, now: Now, bytes: &[u8]) {
        self.input(now, |machine| machine.handle_bytes(now, bytes));
    }

    fn handle_end(&self, now: Now, end: End) {
        self.input(now, |machine| machine.handle_end(now, end));
    }

    fn handle_timeout(&self, now: Now) {
        let over = self.lock().1 <= now.mono;
        self.input(now, |machine| {
            machine.handle_timeout(now);
            if over {
                machine.handle_end(now, End::Broken);
            }
        });
    }

    fn transmit(&self, _: Now, write: &mut dyn FnMut(&[u8]) -> usize) {
        let machine = &mut self.lock().0;
        let taken = write(machine.transmit());
        machine.advance(taken);
    }

    fn status(&self) -> Status {
        let (machine, until) = &*self.lock();
        let finished = machine.is_finished();
        Status {
            timeout: machine.poll_timeout().into_iter().chain([*until]).min().filter(|_| !finished),
            wants_read: machine.wants_read(),
            write_closed: false,
            finished: finished && machine.transmit().is_empty(),
        }
    }

    fn register(&self, waker: &Waker) {
        self.waker.register(waker);
    }
}
