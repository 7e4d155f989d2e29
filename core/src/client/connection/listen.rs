//! Listening on a byte stream, where all subscriptions share one channel.

use super::Connection;
use crate::client::config::CallOptions;
use crate::client::request;
use crate::client::subscriptions::{Listen, Notice, Subscription, SubscriptionId, Todo};
use crate::error::{CallError, Full};
use crate::model::subscriptions::SubscriptionFilter;
use crate::time::{Instant, Now};

impl Connection {
    /// Begins to listen for what `wanted` names, as soon as the server is there, and goes on until it is ended:
    /// a process that dies meanwhile is started again. [`Event::Subscription`](crate::client::Event::Subscription) says
    /// that there is news of it. What a server does not support is no error, but
    /// [`Subscription::unsupported`].
    ///
    /// # Errors
    ///
    /// [`CallError::Full`] with too many subscriptions or resources, or too many bytes under way, and why the
    /// connection is over if it is.
    pub fn listen(&mut self, now: Now, wanted: SubscriptionFilter) -> Result<SubscriptionId, CallError> {
        let limit = self.link.config.limits.transmit;
        if self.transmit().len() >= limit {
            return Err(Full::new("transmit", limit).into());
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

    /// Ends a subscription and forgets it; the server is told (SUB-11).
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

    /// Writes what subscriptions have to say to the server.
    pub(super) fn carry(&mut self, now: Instant) {
        while let Some(todo) = self.link.subscriptions.next_todo() {
            match todo {
                Todo::Listen(wire, filter) => {
                    if let Some(envelope) = &self.link.envelope {
                        // A filter is an object and always serializes.
                        let _ = envelope.write(&mut self.out, wire, &Listen(filter), &CallOptions::new());
                        self.out.push(b'\n');
                        self.link.stream_asked(now, wire);
                    }
                }
                Todo::Close(wire) | Todo::Retire(wire) => {
                    self.link.subscriptions.forget_stream(wire);
                    request::cancelled(&mut self.out, wire, "nobody listens any more");
                    self.out.push(b'\n');
                }
                Todo::Over(_) => {}
                Todo::Watch(uri, call) => {
                    let call = self.start_source(now, &call, CallOptions::new());
                    self.link.watching(uri, call);
                }
            }
        }
    }
}
