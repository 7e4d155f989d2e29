//! Listening for changes of a server.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::future::{Future, poll_fn};
use std::sync::Arc;
use std::task::{Context, Poll, Waker};

use mcp_proto::client::{Notice, SubscriptionId};
use mcp_proto::diagnostic::Diagnostic;
use mcp_proto::error::CallError;
use mcp_proto::model::{Json, SubscriptionFilter};
use mcp_proto::time::Now;

use super::desk::{Link, Machine};
use super::{AnyLink, Client};
use crate::context::Report;
use crate::hook;
use crate::reply::{Blocking, Mode, Running};
use crate::runtime::Runtime;

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
    /// started again, each watched resource is told as updated.
    ///
    /// # Errors
    /// [`CallError::Unsupported`] when the server does not tell of this resource, [`CallError::Cancelled`] when somebody
    /// takes it back meanwhile, and however else a call can end without a reply.
    pub fn subscribe_resource(&self, uri: impl Into<String>) -> <R::Mode as Mode>::Reply<(), CallError> {
        let (hearing, uri) = (self.hearing(), uri.into());
        self.runtime.run(Running::task(async move {
            let (id, watch) = hearing.watch(&uri)?;
            let status = settled(&*hearing, id).await;
            let granted = status.acknowledged.unwrap_or_default().resource_subscriptions.contains(&uri);
            if granted && status.ended.is_none() {
                return Ok(());
            }
            let unwatched = hearing.unwatch(&uri, Some(watch));
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

    /// How many notices were left out because they repeat others that wait to be heard, and how many were lost because
    /// too many wait (`Limits::notifications`), which [`Notice::Missed`] tells.
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
    left_out: (u64, u64),
}

/// Waits until the server has answered what it was asked.
async fn settled(hearing: &dyn Hearing, id: SubscriptionId) -> State {
    poll_fn(|cx| hearing.poll_settled(id, cx.waker())).await
}

/// Who waits for news of subscriptions.
#[derive(Default)]
pub(super) struct Listeners {
    waiting: BTreeMap<SubscriptionId, Vec<Waker>>,
    /// Those whose end by an error was heard.
    over: BTreeSet<SubscriptionId>,
    /// What `subscribe_resource` listens with, and for.
    watching: Option<SubscriptionId>,
    watched: BTreeMap<String, Watched>,
    /// How many watches have begun.
    watches: u64,
}

/// One resource that is watched, until somebody takes it back or nobody is left who has asked for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Watched {
    /// Tells it from another one of the same resource, before or later.
    watch: u64,
    /// How many have asked for it.
    askers: usize,
}

impl Listeners {
    /// There is news: who waits for it.
    pub(super) fn wake(&mut self, id: SubscriptionId) -> Vec<Waker> {
        self.waiting.remove(&id).unwrap_or_default()
    }

    pub(super) fn watches(&self, id: SubscriptionId) -> bool {
        self.watching == Some(id)
    }

    /// The connection is closed on this side, which is no news for whoever watches.
    pub(super) fn stop_watching(&mut self) {
        self.watching = None;
    }

    /// Somebody asks for a resource.
    fn ask(&mut self, uri: &str) -> Watched {
        let Self { watched, watches, .. } = self;
        let watched = watched.entry(uri.to_owned()).or_insert_with(|| {
            *watches += 1;
            Watched { watch: *watches, askers: 0 }
        });
        watched.askers += 1;
        *watched
    }

    /// Takes back what one of them has asked for, or all have; what is left of it. `None` where that is not watched any more.
    fn take_back(&mut self, uri: &str, watch: Option<u64>) -> Option<Watched> {
        let watched = self.watched.get_mut(uri).filter(|it| watch.is_none_or(|watch| it.watch == watch))?;
        watched.askers = watch.map_or(0, |_| watched.askers.saturating_sub(1));
        let left = *watched;
        if left.askers == 0 {
            self.watched.remove(uri);
        }
        Some(left)
    }

    fn wanted(&self) -> SubscriptionFilter {
        SubscriptionFilter::new().resource_subscriptions(self.watched.keys().cloned().collect::<Vec<_>>())
    }

    fn register(&mut self, id: SubscriptionId, waker: &Waker) {
        let wakers = self.waiting.entry(id).or_default();
        if !wakers.iter().any(|known| known.will_wake(waker)) {
            wakers.push(waker.clone());
        }
    }
}

/// What a subscription needs of its connection.
trait Hearing: Send + Sync {
    fn begin(&self, wanted: SubscriptionFilter) -> Result<SubscriptionId, CallError>;
    fn change(&self, id: SubscriptionId, wanted: SubscriptionFilter) -> Result<(), CallError>;
    fn end(&self, id: SubscriptionId);
    fn status(&self, id: SubscriptionId) -> State;
    fn poll_settled(&self, id: SubscriptionId, waker: &Waker) -> Poll<State>;
    fn poll_notice(&self, id: SubscriptionId, waker: &Waker) -> Poll<Option<Result<Notice, CallError>>>;
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
        let mut inner = self.lock();
        let state = state(&inner.machine, id);
        if !state.pending {
            return Poll::Ready(state);
        }
        // So that the next news are told: what waits to be heard stays.
        inner.desk.listeners.register(id, waker);
        Poll::Pending
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
        let super::desk::Inner { machine, desk } = &mut *inner;
        let listeners = &mut desk.listeners;
        end_if_over(machine, now, listeners);
        let Watched { watch, askers } = listeners.ask(uri);
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
        let super::desk::Inner { machine, desk } = &mut *inner;
        let listeners = &mut desk.listeners;
        end_if_over(machine, now, listeners);
        match listeners.take_back(uri, watch) {
            None => return Ok(false),
            Some(Watched { askers: 1.., .. }) => return Ok(true),
            Some(_) => {}
        }
        let mut wakers = Vec::new();
        let taken_back = match listeners.watching {
            Some(id) if listeners.watched.is_empty() => {
                machine.unlisten(now, id);
                listeners.watching = None;
                // Somebody may wait for what is taken back.
                wakers = listeners.wake(id);
                Ok(())
            }
            Some(id) => machine.relisten(now, id, listeners.wanted()),
            None => Ok(()),
        };
        drop(inner);
        wakers.into_iter().for_each(Waker::wake);
        self.turn();
        taken_back.map(|()| true)
    }
}

/// What watched resources does not go on: the next one is another.
fn end_if_over(machine: &mut impl Machine, now: Now, listeners: &mut Listeners) {
    let is_over = |id: &SubscriptionId| machine.subscription(*id).is_none_or(|it| it.ended().is_some());
    if let Some(over) = listeners.watching.take_if(|id| is_over(id)) {
        machine.unlisten(now, over);
    }
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
            left_out: (0, 0),
        },
    }
}

/// There is news of what `subscribe_resource` listens with. The notifications themselves are heard like all others;
/// what is left is to tell when some may have been missed.
pub(super) fn hear_watched<L: Link>(link: &Arc<L>, id: SubscriptionId) {
    let mut missed = BTreeSet::new();
    let ended = {
        let mut inner = link.lock();
        while let Some(notice) = inner.machine.take_notice(id) {
            if notice == Notice::Missed {
                missed.extend(inner.desk.listeners.watched.keys().cloned());
            }
        }
        state(&inner.machine, id).ended
    };
    if let Some(ended) = ended {
        let why = ended.err().map_or("the server has ended it".to_owned(), |error| error.to_string());
        let text = format!("watched resources are not told of any more: {why}");
        link.hooks().report(&Report::noticed("server", &Diagnostic::new("subscription", text)));
    }
    let Some(hear) = &link.hooks().notification else { return };
    for uri in missed {
        let params = Json::new(&BTreeMap::from([("uri", uri)])).ok();
        hook::call(|| hear("notifications/resources/updated", params.as_ref()));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// SUB-11: whose subscription is refused takes back what he has asked for himself: not what another has asked for beside
    /// him, nor what somebody asks for anew after it was taken back.
    #[test]
    fn each_takes_back_what_he_has_asked_for() {
        let mut listeners = Listeners::default();
        let first = listeners.ask("x:a");
        let beside = listeners.ask("x:a");
        assert_eq!((first.watch, beside), (beside.watch, Watched { askers: 2, ..first }));
        assert_eq!(listeners.take_back("x:a", Some(first.watch)).unwrap().askers, 1);
        assert!(listeners.watched.contains_key("x:a"), "the other one is still there");
        assert_eq!(listeners.take_back("x:a", Some(beside.watch)).unwrap().askers, 0);
        assert!(listeners.watched.is_empty());

        let before = listeners.ask("x:a");
        assert_eq!(listeners.take_back("x:a", None).unwrap().askers, 0, "unsubscribed");
        let anew = listeners.ask("x:a");
        assert_eq!(listeners.take_back("x:a", Some(before.watch)), None, "it was somebody else's by then");
        assert_eq!(listeners.watched.get("x:a"), Some(&anew));
        assert_eq!(listeners.take_back("x:b", None), None);
    }
}
