//! Listening over HTTP, where each subscription has a stream of its own.

use super::exchange::Purpose;
use super::outcome::Outcome;
use super::{Http, HttpRequest, LINGER, State};
use crate::client::config::CallOptions;
use crate::client::subscriptions::{Listen, Notice, Subscription, SubscriptionId, Todo};
use crate::error::CallError;
use crate::model::subscriptions::SubscriptionFilter;
use crate::time::{Duration, Instant, Now};
use alloc::vec::Vec;

impl Http {
    /// Begins to listen for what `wanted` names, as soon as the server is there, and goes on until it is ended:
    /// a stream that breaks is opened again, ever less often, for as long as
    /// [`Limits::resume_total`](crate::limits::Limits::resume_total).
    /// [`Event::Subscription`](crate::client::Event::Subscription) says that there is news of it. What a server does
    /// not support is no error, but [`Subscription::unsupported`].
    ///
    /// # Errors
    ///
    /// [`CallError::Full`] with too many subscriptions or resources, and why the client is closed if it is.
    pub fn listen(&mut self, now: Now, wanted: SubscriptionFilter) -> Result<SubscriptionId, CallError> {
        if let State::Ending { error, .. } = &self.state {
            return Err(error.clone());
        }
        let id = self.link.listen(now.mono, wanted)?;
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
        self.link.relisten(now.mono, id, wanted)?;
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
            self.offer_stream();
        }
        while let Some(todo) = self.link.subscriptions.next_todo() {
            match todo {
                Todo::Listen(wire, filter) => self.subscribe(wire, &Listen(filter)),
                Todo::Close(wire) => {
                    if let Some(&exchange) = self.streams.get(&wire) {
                        self.abort(exchange);
                    }
                }
                Todo::Retire(wire) | Todo::Over(wire) => {
                    if let Some(&exchange) = self.streams.get(&wire) {
                        self.cut_at(exchange, now + LINGER);
                    }
                }
                Todo::Watch(uri, call) => {
                    let call = self.start_source(now, &call, CallOptions::new());
                    self.link.watching(uri, call);
                }
            }
        }
    }

    fn subscribe(&mut self, wire: i64, listen: &Listen) {
        let Some(envelope) = &self.link.envelope else { return };
        let revision = envelope.revision();
        let mut body = Vec::new();
        // A filter is an object and always serializes.
        let _ = envelope.write(&mut body, wire, listen, &CallOptions::new());
        let head = self.modern_head(revision, "subscriptions/listen", None, &body);
        self.send(Purpose::Subscription(wire), HttpRequest { head, body }, Some(revision));
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
pub(super) fn is_trouble(status: u16) -> bool {
    status == 429 || status >= 500
}
