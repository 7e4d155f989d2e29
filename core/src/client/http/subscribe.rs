//! Listening over HTTP, where each subscription has a stream of its own.

use super::exchange::Purpose;
use super::outcome::Outcome;
use super::{Http, HttpRequest, LINGER, State};
use crate::client::config::CallOptions;
use crate::client::subscriptions::{Listen, Notice, Subscription, SubscriptionId, Todo};
use crate::error::{ApiMisuse, CallError, Full};
use crate::model::subscriptions::SubscriptionFilter;
use crate::time::{Duration, Instant, Now};
use alloc::collections::VecDeque;
use alloc::vec::Vec;

/// Streams that take the place of others at one time: for so long a subscription has two connections.
const SPARE_STREAMS: usize = 1;

impl Http {
    /// Begins to listen for what `wanted` names, as soon as the server is there, and goes on until it is ended:
    /// a stream that breaks is opened again, ever less often, for as long as
    /// [`Limits::resume_total`](crate::limits::Limits::resume_total).
    /// [`Event::Subscription`](crate::client::Event::Subscription) says that there is news of it. What a server does
    /// not support is no error, but [`Subscription::unsupported`].
    ///
    /// # Errors
    ///
    /// [`CallError::Full`] with too many subscriptions or resources, and why the client is closed if it is. A modern server
    /// needs a connection for each subscription, of which [`Limits::connections`](crate::limits::Limits::connections) has
    /// to leave two for other things; where it is not known yet that it is one, those that are too many end with that
    /// error.
    pub fn listen(&mut self, now: Now, wanted: SubscriptionFilter) -> Result<SubscriptionId, CallError> {
        if let State::Ending { error, .. } = &self.state {
            return Err(error.clone());
        }
        self.link.alive()?;
        if self.link.details.is_some() && !self.is_legacy() {
            self.has_room_for(self.link.subscriptions.live(None))?;
        }
        let id = self.link.listen(wanted)?;
        self.carry(now.mono);
        Ok(id)
    }

    /// Listens for something else from now on. Nothing of what stays is lost: a modern server is asked for a new stream,
    /// and the one before ends when that is there. Nothing happens when the subscription has ended.
    ///
    /// # Errors
    ///
    /// [`CallError::Full`] with too many resources; then nothing has changed.
    pub fn relisten(
        &mut self,
        now: Now,
        id: SubscriptionId,
        wanted: SubscriptionFilter,
    ) -> Result<(), CallError> {
        self.link.relisten(id, wanted)?;
        self.carry(now.mono);
        Ok(())
    }

    /// Ends a subscription and forgets it: its stream is closed (SUB-11).
    pub fn unlisten(&mut self, now: Now, id: SubscriptionId) {
        self.link.unlisten(id);
        self.carry(now.mono);
    }

    /// How far a subscription has come; `None` when there is no such.
    pub fn subscription(&self, id: SubscriptionId) -> Option<&Subscription> {
        self.link.subscriptions.get(id)
    }

    /// What a listener is to be told next; `None` when there is nothing more for now.
    pub fn take_notice(&mut self, id: SubscriptionId) -> Option<Notice> {
        self.link.subscriptions.take(id)
    }

    /// What is held of subscriptions, the ended ones among them until [`unlisten`](Self::unlisten).
    pub fn subscriptions(&self) -> usize {
        self.link.subscriptions.held()
    }

    /// Sends what subscriptions have to say to the server.
    pub(super) fn carry(&mut self, now: Instant) {
        if matches!(self.state, State::Open)
            && self.is_legacy()
            && self.link.subscriptions.is_wanted()
            && self.listening.is_idle()
        {
            self.offer_stream_to_listeners(now);
        }
        while self.carry_some(now) {}
    }

    /// The same for one round; whether there is more that can be sent.
    fn carry_some(&mut self, now: Instant) -> bool {
        let mut later = VecDeque::new();
        while let Some(todo) = self.link.subscriptions.next_todo() {
            match todo {
                Todo::Listen(wire, filter) => match self.link.subscriptions.opened_by(wire) {
                    // It was taken back while it had to wait.
                    None => {}
                    Some((_, true)) if !self.has_spare_stream() => {
                        later.push_back(Todo::Listen(wire, filter));
                    }
                    Some((id, _)) => match self.has_room_for(self.link.subscriptions.live(Some(id))) {
                        Ok(()) => self.subscribe(now, wire, &Listen(filter)),
                        Err(error) => self.link.stream_answered(wire, Err(error)),
                    },
                },
                Todo::Close(wire) => {
                    if let Some(&exchange) = self.streams.get(&wire) {
                        self.abort(exchange);
                    }
                }
                Todo::Retire(wire) | Todo::Over(wire) => {
                    match self.streams.get(&wire) {
                        // Nothing can be on its way on one that waits to be asked for again.
                        Some(&exchange) if self.is_held(exchange) => self.abort(exchange),
                        Some(&exchange) => self.cut_at(exchange, now + LINGER),
                        None => {}
                    }
                }
                Todo::Watch(uri, call) => {
                    let call = self.start_source(now, &call, CallOptions::new());
                    self.link.watching(uri, call);
                }
            }
        }
        // What had to wait for others may not have to any more.
        let more = !later.is_empty() && self.has_spare_stream();
        self.link.subscriptions.put_back(later);
        more
    }

    fn has_spare_stream(&self) -> bool {
        self.streams.len() < self.most_streams() + SPARE_STREAMS
    }

    /// Whether there may be another subscription beside so many, each of which has a connection for itself.
    fn has_room_for(&self, others: usize) -> Result<(), CallError> {
        match self.most_streams() {
            0 => Err(CallError::Misuse(ApiMisuse::new(
                "a subscription over HTTP needs three connections, for its stream, for the one that takes its place when it \
                 is changed, and for calls: raise `Limits::connections`",
            ))),
            most if others >= most => {
                Err(Full::new("connections", self.link.config.limits.connections).into())
            }
            _ => Ok(()),
        }
    }

    /// How many subscriptions there may be: one connection is for calls, others for streams that take the place of
    /// others.
    fn most_streams(&self) -> usize {
        self.link.config.limits.connections.saturating_sub(1 + SPARE_STREAMS)
    }

    fn subscribe(&mut self, now: Instant, wire: i64, listen: &Listen) {
        let Some(envelope) = &self.link.envelope else { return };
        let revision = envelope.revision();
        let mut body = Vec::new();
        // A filter is an object and always serializes.
        let _ = envelope.write(&mut body, wire, listen, &CallOptions::new());
        let head = self.modern_head(revision, "subscriptions/listen", None, &body);
        self.send(Purpose::Subscription(wire), HttpRequest { head, body }, Some(revision));
        self.link.stream_asked(now, wire);
    }

    /// The request of a subscription has its response.
    pub(super) fn subscribed(&mut self, now: Instant, wire: i64, outcome: Outcome<'_>) {
        self.streams.remove(&wire);
        match outcome {
            Outcome::Result(result) => self.link.stream_answered(wire, Ok(result)),
            Outcome::Failed(CallError::Broken { reason, .. }) => self.unsubscribed(now, wire, &reason, None),
            Outcome::Error(error, status) => {
                self.link.stream_answered(wire, Err(CallError::Server { error, status }));
            }
            Outcome::Failed(error) => self.link.stream_answered(wire, Err(error)),
        }
    }

    /// The stream of a subscription ended without its response. `after` is how long the server wants to be left alone.
    pub(super) fn unsubscribed(&mut self, now: Instant, wire: i64, reason: &str, after: Option<Duration>) {
        self.link.stream_broke(now, wire, reason, after);
    }
}

/// Whether a status says that it may be better later.
pub(in crate::client) fn is_trouble(status: u16) -> bool {
    status == 429 || status >= 500
}
