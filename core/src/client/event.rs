//! What a connection has to say to its application.

use super::asks::AskId;
use super::calls::CallId;
use super::details::ServerDetails;
use super::http::{ExchangeId, HttpRequest};
use super::subscriptions::{About, SubscriptionId};
use crate::backlog::{Backlog, News, Room};
use crate::change::Change;
use crate::diagnostic::Diagnostic;
use crate::error::CallError;
use crate::head::ResponseHead;
use crate::limits::Limits;
use crate::model::Json;
use crate::model::input_required::InputRequest;
use crate::model::logging::LoggingMessageNotificationParams;
use crate::time::Duration;
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
    /// The server logs, for this call if that is known: over HTTP by the stream that brings the message. Where everything
    /// comes on one stream a message does not say what it is about, so there it is taken for one of the call on its way as
    /// long as that is the only one.
    Log(Option<CallId>, LoggingMessageNotificationParams),
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
            Self::Log(call, params) => {
                let bytes = params.data.get().len();
                f.debug_tuple("Log")
                    .field(call)
                    .field(&params.level)
                    .field(&format_args!("{bytes} bytes"))
                    .finish()
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

impl Progress {
    /// So far, of nobody knows how much and without words.
    pub const fn new(progress: f64) -> Self {
        Self { progress, total: None, message: None }
    }
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
    /// How long ago the call began. What it waited for authorization does not count, as it does not in its timeouts.
    pub elapsed: Duration,
    /// After which time the call is made again.
    pub delay: Duration,
    /// Whether the server has given a state that the call takes along (`requestState`). Without one it starts afresh as
    /// far as the server is concerned.
    pub request_state: bool,
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
    waiting: Backlog<Waits>,
    room: Room,
    closed: bool,
}

impl Events {
    pub(super) fn new(limits: &Limits) -> Self {
        Self { waiting: Backlog::default(), room: limits.into(), closed: false }
    }

    pub(super) fn push(&mut self, event: Event) {
        if self.closed && is_unasked(&event) {
            return;
        }
        if matches!(event, Event::Closed(_)) {
            self.closed = true;
            if let Some(count) = self.count() {
                let last = Waits { told_last: true, ..Waits::new(Out::Event(count)) };
                self.waiting.push(last, self.room);
            }
        }
        self.act(Out::Event(event));
    }

    pub(super) fn act(&mut self, out: Out) {
        self.waiting.push(Waits::new(out), self.room);
    }

    pub(super) fn diagnose(&mut self, diagnostic: Diagnostic) {
        self.push(Event::Diagnostic(diagnostic));
    }

    pub(super) fn pop(&mut self) -> Option<Out> {
        // Behind the end comes nothing that room would have to be kept for.
        let next = if self.closed { self.waiting.pop() } else { self.waiting.next() };
        match next {
            Some(waits) => Some(waits.out),
            None => self.count().map(Out::Event),
        }
    }

    /// Whether there is nothing to poll.
    pub(super) fn is_empty(&self) -> bool {
        self.waiting.is_empty() && self.waiting.left_out() == (0, 0)
    }

    /// Nobody waits for an answer. Who has not heard of the question hears of neither, so that a server that asks and
    /// cancels fills no queue.
    pub(super) fn retract(&mut self, ask: AskId) {
        let asked = |waits: &Waits| matches!(&waits.out, Out::Event(Event::Asked(id, _)) if *id == ask);
        if self.waiting.remove(asked).is_none() {
            self.push(Event::Retracted(ask));
        }
    }

    /// How many were left out since this was last told.
    fn count(&mut self) -> Option<Event> {
        let (repeats, lost) = self.waiting.left_out();
        if (repeats, lost) == (0, 0) {
            return None;
        }
        self.waiting.forget_left_out();
        let Room { number, bytes } = self.room;
        let text = format!(
            "the application hears too slowly: {repeats} notifications that repeat others were left out, {lost} lost \
             (`Limits::notifications` is {number}, `Limits::notification_bytes` {bytes})"
        );
        Some(Event::Diagnostic(Diagnostic::new("client", text)))
    }
}

/// Something that waits to be polled.
struct Waits {
    out: Out,
    /// What a notification is about, where there may be several of its method.
    about: Option<String>,
    /// It tells what was left out, and behind it comes the end only.
    told_last: bool,
}

impl Waits {
    fn new(out: Out) -> Self {
        let about = match &out {
            Out::Event(Event::Notification { params: Some(params), .. }) => {
                About::of(Some(params.as_ref())).subject()
            }
            _ => None,
        };
        Self { out, about, told_last: false }
    }
}

/// About what each takes besides its texts.
const ENVELOPE: usize = 256;
const _: () = assert!(size_of::<Waits>() <= ENVELOPE);

impl News for Waits {
    fn is_repeated_by(&self, later: &Self) -> bool {
        let (Out::Event(this), Out::Event(other)) = (&self.out, &later.out) else { return false };
        match (this, other) {
            (Event::Notification { method, params }, Event::Notification { method: again, params: anew }) => {
                let same = self.about.is_some() || self.is_signal() || params == anew;
                same && (method, &self.about) == (again, &later.about)
            }
            // Each report is further than the one before.
            (Event::Progress(call, _), Event::Progress(again, _)) => call == again,
            (Event::Diagnostic(this), Event::Diagnostic(again)) => this == again,
            _ => false,
        }
    }

    fn size(&self) -> usize {
        let Out::Event(event) = &self.out else { return ENVELOPE };
        let length = |text: &Option<String>| text.as_ref().map_or(0, String::len);
        let texts = match event {
            Event::Progress(_, progress) => length(&progress.message),
            Event::Log(_, LoggingMessageNotificationParams { logger, data, meta, .. }) => {
                let meta: usize = meta.iter().map(|(key, value)| key.len() + value.get().len()).sum();
                data.get().len() + length(logger) + meta
            }
            Event::Notification { method, params } => {
                method.len() + params.as_ref().map_or(0, |params| params.get().len()) + length(&self.about)
            }
            Event::Diagnostic(diagnostic) => diagnostic.detail.len() + length(&diagnostic.request),
            _ => 0,
        };
        ENVELOPE + texts
    }

    fn counts(&self) -> bool {
        matches!(&self.out, Out::Event(event) if is_unasked(event)) && !self.told_last
    }

    fn is_signal(&self) -> bool {
        matches!(&self.out, Out::Event(Event::Notification { method, .. }) if Change::is_told_by(method))
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
        Event::Progress(..) | Event::Log(..) | Event::Notification { .. } | Event::Diagnostic(_) => true,
    }
}
