//! What a connection has to say to its application.

use super::asks::AskId;
use super::calls::CallId;
use super::details::ServerDetails;
use super::http::{ExchangeId, HttpRequest};
use super::subscriptions::SubscriptionId;
use crate::diagnostic::Diagnostic;
use crate::error::CallError;
use crate::head::ResponseHead;
use crate::model::Json;
use crate::model::input_required::InputRequest;
use crate::model::logging::LoggingMessageNotificationParams;
use crate::time::Duration;
use alloc::collections::VecDeque;
use alloc::format;
use alloc::string::String;
use alloc::sync::Arc;
use core::fmt;

/// Something that happened on a connection.
#[derive(Clone, PartialEq)]
#[non_exhaustive]
pub enum Event {
    /// The era is known and calls go out. Comes again when a lost legacy session was replaced by a new one, and when
    /// a modern server says something else of itself.
    Connected(Arc<ServerDetails>),
    /// A call has ended; `take` gives its reply or error.
    Settled(CallId),
    /// A call has come this far. Each report is further than the one before, until the call is made again because the
    /// server wanted input.
    Progress(CallId, Progress),
    /// The server asks something, of the user, the model or the roots; only what
    /// [`Config::capabilities`](super::Config::capabilities) declare. To be answered with `answer`.
    Asked(AskId, Arc<InputRequest>),
    /// Nobody waits for that answer any more. Comes only behind its [`Asked`](Self::Asked).
    Retracted(AskId),
    /// A modern server wants a call to be made again and asks nothing: it waits for something else to happen. That is
    /// done after this delay, or sooner with `retry`, or not at all with `stop`.
    Waiting(CallId, Waiting),
    /// There is news of a subscription: look at `subscription`, and take what there is by `take_notice`. Several news are
    /// told once until this was polled.
    Subscription(SubscriptionId),
    /// The server logs.
    Log(LoggingMessageNotificationParams),
    /// Any other notification.
    Notification {
        /// Its method, such as `notifications/tools/list_changed`.
        method: String,
        /// Its parameters.
        params: Option<Json>,
    },
    /// Something that a person may want to know; see also the count in its text when many were dropped.
    Diagnostic(Diagnostic),
    /// The connection is over; no call can be made any more, and those under way have settled. The last
    /// event.
    Closed(CallError),
}

/// Prints neither what the server asks nor what it tells.
impl fmt::Debug for Event {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Connected(details) => f.debug_tuple("Connected").field(details).finish(),
            Self::Settled(call) => f.debug_tuple("Settled").field(call).finish(),
            Self::Progress(call, progress) => f.debug_tuple("Progress").field(call).field(progress).finish(),
            Self::Asked(ask, request) => {
                f.debug_tuple("Asked").field(ask).field(&format_args!("{}", request.method())).finish()
            }
            Self::Retracted(ask) => f.debug_tuple("Retracted").field(ask).finish(),
            Self::Waiting(call, waiting) => f.debug_tuple("Waiting").field(call).field(waiting).finish(),
            Self::Subscription(id) => f.debug_tuple("Subscription").field(id).finish(),
            Self::Log(params) => {
                let bytes = params.data.get().len();
                f.debug_tuple("Log").field(&params.level).field(&format_args!("{bytes} bytes")).finish()
            }
            Self::Notification { method, params } => {
                let bytes = params.as_ref().map_or(0, |params| params.get().len());
                f.debug_struct("Notification")
                    .field("method", method)
                    .field("params", &format_args!("{bytes} bytes"))
                    .finish()
            }
            Self::Diagnostic(diagnostic) => f.debug_tuple("Diagnostic").field(diagnostic).finish(),
            Self::Closed(error) => f.debug_tuple("Closed").field(error).finish(),
        }
    }
}

/// How far a call has come.
#[derive(Clone, PartialEq)]
#[non_exhaustive]
pub struct Progress {
    /// How far, in whatever unit.
    pub progress: f64,
    /// How far it goes, if that is known; in the same unit.
    pub total: Option<f64>,
    /// What is being done, for people.
    pub message: Option<String>,
}

/// Prints without the words.
impl fmt::Debug for Progress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Progress")
            .field("progress", &self.progress)
            .field("total", &self.total)
            .finish_non_exhaustive()
    }
}

/// A call that waits for something that happens elsewhere.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Waiting {
    /// Its method.
    pub method: String,
    /// How often the server has asked to be called again, or for input.
    pub rounds: usize,
    /// After which time the call is made again.
    pub delay: Duration,
}

/// What a machine has to say, of whichever kind.
#[derive(Debug)]
pub(super) enum Out {
    Event(Event),
    Respawn(Duration),
    Send(ExchangeId, Arc<HttpRequest>),
    Abort(ExchangeId),
    Refused(ExchangeId, ResponseHead),
}

/// What waits to be polled, in one queue, so that the order does not depend on when it is. What the server
/// can send without being asked is bounded; the rest is as much as there are calls.
#[derive(Debug)]
pub(super) struct Events {
    queue: VecDeque<Out>,
    limit: usize,
    unasked: usize,
    dropped: u64,
    closed: bool,
}

impl Events {
    pub(super) const fn new(limit: usize) -> Self {
        Self { queue: VecDeque::new(), limit, unasked: 0, dropped: 0, closed: false }
    }

    pub(super) fn push(&mut self, event: Event) {
        if is_unasked(&event) {
            if self.closed {
                return;
            }
            if self.unasked >= self.limit {
                self.dropped += 1;
                return;
            }
            self.unasked += 1;
        }
        if matches!(event, Event::Closed(_)) {
            self.closed = true;
            if let Some(count) = self.count() {
                self.unasked += 1;
                self.queue.push_back(count);
            }
        }
        self.queue.push_back(Out::Event(event));
    }

    pub(super) fn act(&mut self, action: Out) {
        self.queue.push_back(action);
    }

    pub(super) fn diagnose(&mut self, diagnostic: Diagnostic) {
        self.push(Event::Diagnostic(diagnostic));
    }

    pub(super) fn pop(&mut self) -> Option<Out> {
        if let Some(out) = self.queue.pop_front() {
            if let Out::Event(event) = &out {
                self.unasked -= usize::from(is_unasked(event));
            }
            return Some(out);
        }
        self.count()
    }

    /// Whether there is nothing to poll.
    pub(super) fn is_empty(&self) -> bool {
        self.queue.is_empty() && self.dropped == 0
    }

    /// Nobody waits for an answer. Who has not heard of the question hears of neither, so that a server that asks and
    /// cancels fills no queue.
    pub(super) fn retract(&mut self, ask: AskId) {
        let asked = |out: &Out| matches!(out, Out::Event(Event::Asked(id, _)) if *id == ask);
        match self.queue.iter().position(asked) {
            Some(place) => drop(self.queue.remove(place)),
            None => self.queue.push_back(Out::Event(Event::Retracted(ask))),
        }
    }

    /// How many were dropped since this was last told.
    fn count(&mut self) -> Option<Out> {
        let dropped = core::mem::take(&mut self.dropped);
        (dropped > 0).then(|| {
            let text =
                format!("{dropped} notifications were dropped: `Limits::notifications` is {}", self.limit);
            Out::Event(Event::Diagnostic(Diagnostic::new("client", text)))
        })
    }
}

fn is_unasked(event: &Event) -> bool {
    match event {
        // Those have bounds of their own.
        Event::Connected(_)
        | Event::Settled(_)
        | Event::Asked(..)
        | Event::Retracted(_)
        | Event::Waiting(..)
        | Event::Subscription(_)
        | Event::Closed(_) => false,
        Event::Progress(..) | Event::Log(_) | Event::Notification { .. } | Event::Diagnostic(_) => true,
    }
}
