//! Calls that wait for something that happens elsewhere, and what an application can do about it.

use std::fmt;
use std::sync::{Arc, Weak};
use std::time::Duration;

use mcp_proto::client::{CallId, Waiting};

use super::ClientBuilder;
use super::desk::{Link, Machine};
use crate::runtime::Runtime;

/// A call that a server wants to be made again, without asking anything: it waits for something that happens elsewhere,
/// such as a page that the user is visiting. It is made again after [`delay`](Self::delay), which grows with a modern
/// server; with one of 2025-11-25 (error -32042) also as soon as that says that its pages have done their part.
#[derive(Clone)]
pub struct Wait {
    waiting: Waiting,
    call: CallId,
    link: Weak<dyn Steer>,
}

impl Wait {
    pub(super) fn new<L: Link>(waiting: Waiting, call: CallId, link: &Arc<L>) -> Self {
        let link: Arc<dyn Steer> = link.clone();
        Self { waiting, call, link: Arc::downgrade(&link) }
    }

    /// The method of the call.
    pub fn method(&self) -> &str {
        &self.waiting.method
    }

    /// How often the server has asked to be called again, or for input, in this call.
    pub fn rounds(&self) -> usize {
        self.waiting.rounds
    }

    /// After which time the call is made again.
    pub fn delay(&self) -> Duration {
        self.waiting.delay
    }

    /// How long ago the call began. What it waited for authorization does not count, as it does not in its timeouts.
    pub fn elapsed(&self) -> Duration {
        self.waiting.elapsed
    }

    /// Whether the server has given a state that the call takes along (`requestState`).
    pub fn has_request_state(&self) -> bool {
        self.waiting.request_state
    }

    /// Makes the call again at once, if it still waits.
    pub fn retry(&self) {
        if let Some(link) = self.link.upgrade() {
            link.retry(self.call);
        }
    }

    /// Ends the call with [`CallError::InputRequired`](mcp_proto::error::CallError::InputRequired), from which it can be
    /// gone on with later, or with the error of a legacy server, if it still waits.
    pub fn stop(&self) {
        if let Some(link) = self.link.upgrade() {
            link.stop(self.call);
        }
    }
}

impl fmt::Debug for Wait {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Wait").field(&self.waiting).finish()
    }
}

/// What can act on a call that waits.
trait Steer: Send + Sync {
    fn retry(&self, call: CallId);
    fn stop(&self, call: CallId);
}

impl<L: Link> Steer for L {
    fn retry(&self, call: CallId) {
        let now = self.now();
        self.lock().machine.retry(now, call);
        self.turn();
    }

    fn stop(&self, call: CallId) {
        let now = self.now();
        self.lock().machine.stop(now, call);
        self.turn();
    }
}

impl<R: Runtime> ClientBuilder<R> {
    /// Hears of calls that wait for something that happens elsewhere, each time that they do. The [`Wait`] can be kept,
    /// for a button that tries again now or gives up.
    #[must_use]
    pub fn on_wait(mut self, hook: impl Fn(Wait) + Send + Sync + 'static) -> Self {
        self.hooks.wait = Some(Arc::new(hook));
        self
    }
}
