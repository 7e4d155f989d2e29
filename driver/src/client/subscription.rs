//! Listening for changes of a server.

mod watched;

use std::fmt;
use std::future::{Future, poll_fn};
use std::sync::Arc;
use std::task::{Context, Poll, Waker};

use mcp_proto::client::{Notice, SubscriptionId};
use mcp_proto::error::CallError;
use mcp_proto::model::SubscriptionFilter;

use self::watched::{Asking, Watched, end_if_over, relisten};
use super::desk::{Inner, Link, Machine};
use super::{AnyLink, Client};
use crate::reply::{Blocking, Mode, Running};
use crate::runtime::Runtime;

pub(super) use self::watched::{Listeners, hear_watched};

impl<R: Runtime> Client<R> {
    /// Listens for what `wanted` names, and returns once the server has said what of it it will tell. That goes on when
    /// the stream breaks, and when a child process has to be started again; see [`Notice::Missed`]. Works with servers of
    /// either era, and several at a time.
    ///
    /// ```
    /// # use mcp_driver::{Async, Change, Client, Notice, Runtime, SubscriptionFilter};
    /// # async fn watch<R: Runtime<Mode = Async>>(client: Client<R>) -> Result<(), Box<dyn std::error::Error>> {
    /// let subscription = client.listen(SubscriptionFilter::new().tools_list_changed(true)).await?;
    /// while let Some(notice) = subscription.next().await? {
    ///     match notice {
    ///         Notice::Changed(Change::Tools) | Notice::Missed => println!("look at the tools again"),
    ///         _ => {}
    ///     }
    /// }
    /// println!("the server has nothing more to tell");
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// When the server refuses, or does not answer within `Limits::acknowledgement`. What it does not support is no error,
    /// but [`Subscription::unsupported`]. [`CallError::Full`] with too many: over HTTP each has a connection to a modern
    /// server, and `Limits::connections` has to leave two for other things.
    pub fn listen(&self, wanted: SubscriptionFilter) -> <R::Mode as Mode>::Reply<Subscription<R>, CallError> {
        let (runtime, hearing) = (self.runtime.clone(), self.hearing());
        let id = hearing.begin(wanted);
        // Ends it when nobody waits for it any more.
        let subscription = id.map(|id| Subscription { runtime, hearing: hearing.clone(), id });
        self.runtime.run(Running::task(async move {
            let subscription = subscription?;
            let status = settled(&*hearing, subscription.id).await;
            match status.ended {
                Some(Err(error)) if status.acknowledged.is_none() => Err(error),
                _ => Ok(subscription),
            }
        }))
    }

    /// Asks to be told when the resource at `uri` changes, and returns once the server has said that it will. The
    /// notifications come to [`ClientBuilder::on_notification`](super::ClientBuilder::on_notification), as
    /// `notifications/resources/updated`. Where some may have been missed, because a stream broke or a child process was
    /// started again, each watched resource is told as updated. When the server grants one no more, that is reported, and
    /// [`subscribed_resources`](Self::subscribed_resources) tells which are left.
    ///
    /// # Errors
    /// [`CallError::Unsupported`] when the server does not tell of this resource, [`CallError::Cancelled`] when somebody
    /// takes it back meanwhile, and however else a call can end without a reply.
    pub fn subscribe_resource(&self, uri: impl Into<String>) -> <R::Mode as Mode>::Reply<(), CallError> {
        let (hearing, uri) = (self.hearing(), uri.into());
        self.runtime.run(Running::task(async move {
            let (id, watch) = hearing.watch(&uri)?;
            let asking = Asking { hearing, uri, watch: Some(watch) };
            let status = poll_fn(|cx| asking.hearing.poll_watched(id, &asking.uri, watch, cx.waker())).await;
            if status.grants(&asking.uri) {
                asking.keep();
                return Ok(());
            }
            let unwatched = asking.take_back();
            if let Some(Err(error)) = status.ended {
                return Err(error);
            }
            let unsupported = || CallError::Unsupported {
                what: "changes of this resource (`resources/updated`)".to_owned(),
                capability: Some("resources.subscribe"),
            };
            let is_wanted = unwatched?;
            Err(status
                .refusal
                .unwrap_or_else(|| if is_wanted { unsupported() } else { CallError::Cancelled }))
        }))
    }

    /// Those resources that the server has said it tells of, of all that [`subscribe_resource`](Self::subscribe_resource)
    /// has asked for. One that it grants no more, because it was started again or was asked for another one, is left
    /// out; that is reported.
    pub fn subscribed_resources(&self) -> Vec<String> {
        self.hearing().watched()
    }

    /// Does not want to be told of the resource at `uri` any more. One that was not asked for is no error.
    ///
    /// # Errors
    /// When the connection is over.
    pub fn unsubscribe_resource(&self, uri: &str) -> <R::Mode as Mode>::Reply<(), CallError> {
        let gone = self.hearing().unwatch(uri, None).map(drop);
        self.runtime.run(Running::task(std::future::ready(gone)))
    }

    fn hearing(&self) -> Arc<dyn Hearing> {
        match &self.link.0 {
            AnyLink::Line(link) => link.clone(),
            #[cfg(feature = "http")]
            AnyLink::Http(link) => link.clone(),
        }
    }
}

/// What somebody listens for. Dropping it ends it, and so does the end of the client.
pub struct Subscription<R: Runtime> {
    runtime: R,
    hearing: Arc<dyn Hearing>,
    id: SubscriptionId,
}

impl<R: Runtime> Subscription<R> {
    /// What comes next; `None` when the server has ended it in good order, or this side has. Who waits may stop
    /// waiting: nothing is lost by that.
    ///
    /// # Errors
    /// How it ended otherwise, once; after that `None`.
    pub fn next(&self) -> <R::Mode as Mode>::Reply<Option<Notice>, CallError> {
        let next = self.wait();
        self.runtime.run(Running::task(async move { next.await.transpose() }))
    }

    /// The same for whoever polls.
    pub fn poll_next(&self, cx: &mut Context<'_>) -> Poll<Option<Result<Notice, CallError>>> {
        self.hearing.poll_notice(self.id, cx.waker())
    }

    fn wait(&self) -> impl Future<Output = Option<Result<Notice, CallError>>> + use<R> {
        let (hearing, id) = (self.hearing.clone(), self.id);
        poll_fn(move |cx| hearing.poll_notice(id, cx.waker()))
    }

    /// What of the wanted the server tells. A stream that had to be opened again may have brought another answer.
    pub fn acknowledged(&self) -> SubscriptionFilter {
        self.hearing.status(self.id).acknowledged.unwrap_or_default()
    }

    /// What of the wanted the server does not tell.
    pub fn unsupported(&self) -> SubscriptionFilter {
        self.hearing.status(self.id).unsupported
    }

    /// Whether the server tells of changes now: not while a stream that broke is not there again.
    pub fn is_active(&self) -> bool {
        self.hearing.status(self.id).active
    }

    /// How many notices wait to be heard, and about how many bytes they hold. `Limits::notifications` and
    /// `Limits::notification_bytes` bound them.
    pub fn waiting(&self) -> (usize, usize) {
        self.hearing.status(self.id).waiting
    }

    /// How many notices were left out because they repeat others that wait to be heard, and how many were lost because
    /// too much waits (`Limits::notifications`, `Limits::notification_bytes`), which [`Notice::Missed`] tells.
    pub fn left_out(&self) -> (u64, u64) {
        self.hearing.status(self.id).left_out
    }

    /// Listens for something else from now on. Nothing of what stays is lost.
    ///
    /// # Errors
    /// When the server refuses; then it goes on as before. What it does not support is no error.
    pub fn change(&self, wanted: SubscriptionFilter) -> <R::Mode as Mode>::Reply<(), CallError> {
        let (hearing, id) = (self.hearing.clone(), self.id);
        self.runtime.run(Running::task(async move {
            hearing.change(id, wanted.clone())?;
            let status = settled(&*hearing, id).await;
            match (status.ended, status.refusal) {
                (Some(Err(error)), _) => Err(error),
                (None, Some(error)) if status.wanted != wanted => Err(error),
                _ => Ok(()),
            }
        }))
    }

    /// Ends it. Whoever waits for what comes next hears that there is nothing more.
    pub fn end(&self) {
        self.hearing.end(self.id);
    }
}

/// Blocks until there is something to hear.
impl<R: Runtime<Mode = Blocking>> Iterator for Subscription<R> {
    type Item = Result<Notice, CallError>;

    fn next(&mut self) -> Option<Self::Item> {
        Self::next(self).transpose()
    }
}

impl<R: Runtime> Drop for Subscription<R> {
    fn drop(&mut self) {
        self.end();
    }
}

impl<R: Runtime> fmt::Debug for Subscription<R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Subscription").field("id", &self.id).field("active", &self.is_active()).finish()
    }
}

/// How far a subscription has come.
struct State {
    wanted: SubscriptionFilter,
    acknowledged: Option<SubscriptionFilter>,
    unsupported: SubscriptionFilter,
    active: bool,
    pending: bool,
    refusal: Option<CallError>,
    ended: Option<Result<(), CallError>>,
    waiting: (usize, usize),
    left_out: (u64, u64),
}

impl State {
    /// Whether the server has said that it tells of a resource.
    fn grants(&self, uri: &str) -> bool {
        let mut granted = self.acknowledged.iter().flat_map(|it| &it.resource_subscriptions);
        self.ended.is_none() && granted.any(|granted| granted == uri)
    }
}

/// Waits until the server has answered what it was asked.
async fn settled(hearing: &dyn Hearing, id: SubscriptionId) -> State {
    poll_fn(|cx| hearing.poll_settled(id, cx.waker())).await
}

/// What a subscription needs of its connection.
trait Hearing: Send + Sync {
    fn begin(&self, wanted: SubscriptionFilter) -> Result<SubscriptionId, CallError>;
    fn change(&self, id: SubscriptionId, wanted: SubscriptionFilter) -> Result<(), CallError>;
    fn end(&self, id: SubscriptionId);
    fn status(&self, id: SubscriptionId) -> State;
    fn poll_settled(&self, id: SubscriptionId, waker: &Waker) -> Poll<State>;
    fn poll_notice(&self, id: SubscriptionId, waker: &Waker) -> Poll<Option<Result<Notice, CallError>>>;
    /// The same as `poll_settled` for one who watches a resource.
    fn poll_watched(&self, id: SubscriptionId, uri: &str, watch: u64, waker: &Waker) -> Poll<State>;
    /// What is watched, and granted.
    fn watched(&self) -> Vec<String>;
    /// Watches a resource: the subscription to wait for, and what tells the watch from others of the same resource.
    fn watch(&self, uri: &str) -> Result<(SubscriptionId, u64), CallError>;
    /// Takes back what one of those has asked for who watch a resource, or what all of them have; whether it was still
    /// watched.
    fn unwatch(&self, uri: &str, watch: Option<u64>) -> Result<bool, CallError>;
}

impl<L: Link> Hearing for L {
    fn begin(&self, wanted: SubscriptionFilter) -> Result<SubscriptionId, CallError> {
        let now = self.now();
        let begun = self.lock().machine.listen(now, wanted);
        self.turn();
        begun
    }

    fn change(&self, id: SubscriptionId, wanted: SubscriptionFilter) -> Result<(), CallError> {
        let now = self.now();
        let changed = self.lock().machine.relisten(now, id, wanted);
        self.turn();
        changed
    }

    fn end(&self, id: SubscriptionId) {
        let now = self.now();
        let mut inner = self.lock();
        inner.machine.unlisten(now, id);
        inner.desk.listeners.over.remove(&id);
        let wakers = inner.desk.listeners.wake(id);
        drop(inner);
        wakers.into_iter().for_each(Waker::wake);
        self.turn();
    }

    fn status(&self, id: SubscriptionId) -> State {
        state(&self.lock().machine, id)
    }

    fn poll_settled(&self, id: SubscriptionId, waker: &Waker) -> Poll<State> {
        settle(&mut self.lock(), id, waker)
    }

    fn poll_watched(&self, id: SubscriptionId, uri: &str, watch: u64, waker: &Waker) -> Poll<State> {
        let mut inner = self.lock();
        let settled = settle(&mut inner, id, waker);
        if let Poll::Ready(state) = &settled
            && let Some(watched) = inner.desk.listeners.watched.get_mut(uri)
            && watched.watch == watch
        {
            // Under the same lock: from now on it is told when that is not so any more.
            watched.granted |= state.grants(uri);
        }
        settled
    }

    fn watched(&self) -> Vec<String> {
        let inner = self.lock();
        let listeners = &inner.desk.listeners;
        let goes_on = |id| inner.machine.subscription(id).is_some_and(|it| it.ended().is_none());
        if !listeners.watching.is_some_and(goes_on) {
            return Vec::new();
        }
        listeners.watched.iter().filter(|(_, it)| it.granted).map(|(uri, _)| uri.clone()).collect()
    }

    fn poll_notice(&self, id: SubscriptionId, waker: &Waker) -> Poll<Option<Result<Notice, CallError>>> {
        let mut inner = self.lock();
        if let Some(notice) = inner.machine.take_notice(id) {
            return Poll::Ready(Some(Ok(notice)));
        }
        let ended = inner.machine.subscription(id).map(|subscription| subscription.ended().cloned());
        match ended {
            None | Some(Some(Ok(()))) => Poll::Ready(None),
            Some(Some(Err(_))) if !inner.desk.listeners.over.insert(id) => Poll::Ready(None),
            Some(Some(Err(error))) => Poll::Ready(Some(Err(error))),
            Some(None) => {
                inner.desk.listeners.register(id, waker);
                Poll::Pending
            }
        }
    }

    fn watch(&self, uri: &str) -> Result<(SubscriptionId, u64), CallError> {
        let now = self.now();
        let mut inner = self.lock();
        let Inner { machine, desk } = &mut *inner;
        let listeners = &mut desk.listeners;
        end_if_over(machine, now, listeners);
        let Watched { watch, askers, .. } = listeners.ask(uri);
        let begun = match listeners.watching {
            Some(id) if askers > 1 => Ok(id),
            Some(id) => machine.relisten(now, id, listeners.wanted()).map(|()| id),
            None => machine.listen(now, listeners.wanted()),
        };
        match &begun {
            Ok(id) => listeners.watching = Some(*id),
            Err(_) => drop(listeners.take_back(uri, Some(watch))),
        }
        drop(inner);
        self.turn();
        begun.map(|id| (id, watch))
    }

    fn unwatch(&self, uri: &str, watch: Option<u64>) -> Result<bool, CallError> {
        let now = self.now();
        let mut inner = self.lock();
        let Inner { machine, desk } = &mut *inner;
        let listeners = &mut desk.listeners;
        end_if_over(machine, now, listeners);
        match listeners.take_back(uri, watch) {
            None => return Ok(false),
            Some(Watched { askers: 1.., .. }) => return Ok(true),
            Some(_) => {}
        }
        let (taken_back, wakers) = relisten(machine, now, listeners);
        drop(inner);
        wakers.into_iter().for_each(Waker::wake);
        self.turn();
        taken_back.map(|()| true)
    }
}

/// How far a subscription has come, once the server has answered what it was asked.
fn settle<M: Machine>(inner: &mut Inner<M>, id: SubscriptionId, waker: &Waker) -> Poll<State> {
    let state = state(&inner.machine, id);
    if !state.pending {
        return Poll::Ready(state);
    }
    // So that the next news are told: what waits to be heard stays.
    inner.desk.listeners.register(id, waker);
    Poll::Pending
}

fn state(machine: &impl Machine, id: SubscriptionId) -> State {
    match machine.subscription(id) {
        Some(subscription) => State {
            wanted: subscription.wanted().clone(),
            acknowledged: subscription.acknowledged().cloned(),
            unsupported: subscription.unsupported(),
            active: subscription.is_active(),
            pending: subscription.is_pending(),
            refusal: subscription.refusal().cloned(),
            ended: subscription.ended().cloned(),
            waiting: subscription.waiting(),
            left_out: subscription.left_out(),
        },
        // Ended on this side.
        None => State {
            wanted: SubscriptionFilter::new(),
            acknowledged: None,
            unsupported: SubscriptionFilter::new(),
            active: false,
            pending: false,
            refusal: None,
            ended: Some(Ok(())),
            waiting: (0, 0),
            left_out: (0, 0),
        },
    }
}
