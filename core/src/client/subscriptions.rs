//! Subscriptions: what a client listens for, in either era.
//!
//! A modern server is asked `subscriptions/listen`, and the stream that this opens is opened again when it breaks. A
//! legacy server tells of its lists unasked, and of resources that `resources/subscribe` names. Whoever listens need
//! not know which.
//!
//! <https://modelcontextprotocol.io/specification/2026-07-28/basic/patterns/subscriptions>

mod calls;
mod filter;
mod legacy;
mod modern;
mod notice;

pub use notice::Notice;

use self::legacy::Watch;
use super::calls::CallId;
use super::event::{Event, Out};
use super::link::Link;
use crate::backlog::Backlog;
use crate::dialect::Era;
use crate::error::{CallError, Full};
use crate::model::subscriptions::SubscriptionFilter;
use crate::time::{Duration, Instant};
use crate::wanted::Wanted;
use alloc::collections::{BTreeMap, BTreeSet, VecDeque};
use alloc::sync::Arc;
use core::fmt;

pub(super) use self::calls::{Listen, Watching};
pub(super) use self::modern::About;

/// A subscription of one client. Never used again for another.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SubscriptionId(u64);

/// What a client listens for, and how far that has come.
#[derive(Debug)]
pub struct Subscription {
    wanted: Arc<SubscriptionFilter>,
    /// What was wanted before a change that is not acknowledged yet.
    before: Option<Arc<SubscriptionFilter>>,
    acknowledged: Option<Arc<SubscriptionFilter>>,
    /// The same, for what comes from a legacy server.
    covered: Wanted,
    /// The request whose stream is acknowledged.
    current: Option<i64>,
    /// The request that is not.
    opening: Option<i64>,
    /// When the acknowledgement is given up, or the stream opened again.
    wake: Option<Instant>,
    /// Since when the stream is open.
    since: Option<Instant>,
    /// Attempts to open it again since it last lasted, and until when they go on.
    fruitless: u32,
    until: Option<Instant>,
    /// The stream has ended; once there is another, that has to be told.
    gap: bool,
    missed: bool,
    backlog: Backlog<Notice>,
    refusal: Option<CallError>,
    ended: Option<Result<(), CallError>>,
    /// That there is news waits to be heard.
    told: bool,
}

impl Subscription {
    fn new(wanted: SubscriptionFilter) -> Self {
        Self {
            wanted: Arc::new(wanted),
            before: None,
            acknowledged: None,
            covered: Wanted::new(),
            current: None,
            opening: None,
            wake: None,
            since: None,
            fruitless: 0,
            until: None,
            gap: false,
            missed: false,
            backlog: Backlog::default(),
            refusal: None,
            ended: None,
            told: false,
        }
    }

    /// What is listened for: what it was changed to, unless the server has refused that.
    pub fn wanted(&self) -> &SubscriptionFilter {
        &self.wanted
    }

    /// What of the wanted the server has said that it will tell (SUB-06); `None` before that. A stream that was opened
    /// again may have brought another answer.
    pub fn acknowledged(&self) -> Option<&SubscriptionFilter> {
        self.acknowledged.as_deref()
    }

    /// What of the wanted the server will not tell (SUB-07). Nothing before it has said so.
    pub fn unsupported(&self) -> SubscriptionFilter {
        match &self.acknowledged {
            Some(acknowledged) => filter::without(&self.wanted, acknowledged),
            None => SubscriptionFilter::new(),
        }
    }

    /// Whether the server tells of changes now: not before the acknowledgement, and not while a stream that broke is
    /// not there again.
    pub fn is_active(&self) -> bool {
        self.acknowledged.is_some() && !self.gap && self.ended.is_none()
    }

    /// Whether the server has still to answer what it was asked last.
    pub fn is_pending(&self) -> bool {
        self.ended.is_none() && (self.acknowledged.is_none() || self.gap || self.before.is_some())
    }

    /// Why the last change of what is wanted did not come about, or not for every resource; the rest goes on.
    pub fn refusal(&self) -> Option<&CallError> {
        self.refusal.as_ref()
    }

    /// How it ended: in good order by the server, or by an error. `None` while it goes on.
    pub fn ended(&self) -> Option<&Result<(), CallError>> {
        self.ended.as_ref()
    }

    /// How many notices wait to be taken, and about how many bytes they hold; at most [`Limits::notifications`] and
    /// [`Limits::notification_bytes`].
    ///
    /// [`Limits::notifications`]: crate::limits::Limits::notifications
    /// [`Limits::notification_bytes`]: crate::limits::Limits::notification_bytes
    pub const fn waiting(&self) -> (usize, usize) {
        self.backlog.waiting()
    }

    /// How many notices were left out because they repeat others that wait, and how many were lost because too much
    /// waits. What was lost is told as [`Notice::Missed`].
    pub const fn left_out(&self) -> (u64, u64) {
        self.backlog.left_out()
    }
}

/// All subscriptions of a client, and what has to be sent for them.
pub(super) struct Subscriptions {
    last: u64,
    entries: BTreeMap<SubscriptionId, Subscription>,
    /// Those that listen on the stream of a request.
    wires: BTreeMap<i64, SubscriptionId>,
    wakes: BTreeSet<(Instant, SubscriptionId)>,
    todo: VecDeque<Todo>,
    /// Resources that a legacy server was asked to watch, and the calls that do so.
    watches: BTreeMap<Arc<str>, Watch>,
    calls: BTreeMap<CallId, Arc<str>>,
    /// The era of the server, while it can be asked.
    era: Option<Era>,
    /// What a legacy server tells can be heard, as far as that will ever be so. A stream that has to be opened for it may
    /// be there later than the answers to what is asked on other connections.
    hears: bool,
}

/// Prints numbers only: URIs may hold secrets.
impl fmt::Debug for Subscriptions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Subscriptions")
            .field("open", &self.entries.len())
            .field("watched", &self.watches.len())
            .field("era", &self.era)
            .finish_non_exhaustive()
    }
}

/// What whoever carries the messages is to do.
pub(super) enum Todo {
    /// Open a stream by a request with this id.
    Listen(i64, Arc<SubscriptionFilter>),
    /// Close that stream again (SUB-11).
    Close(i64),
    /// The same, as another has taken its place; where they are carried apart, what is on its way may still come.
    Retire(i64),
    /// The server has ended that stream, in its way: what carries it may end, too.
    Over(i64),
    /// Make a call for a watched resource.
    Watch(Arc<str>, Watching),
}

impl Subscriptions {
    pub(super) const fn new() -> Self {
        Self {
            last: 0,
            entries: BTreeMap::new(),
            wires: BTreeMap::new(),
            wakes: BTreeSet::new(),
            todo: VecDeque::new(),
            watches: BTreeMap::new(),
            calls: BTreeMap::new(),
            era: None,
            hears: false,
        }
    }

    pub(super) fn len(&self) -> usize {
        self.entries.len()
    }

    /// Everything that is held, in whichever part of the table.
    pub(super) fn held(&self) -> usize {
        self.entries.len() + self.wires.len() + self.wakes.len() + self.watches.len() + self.calls.len()
    }

    /// Whether anybody listens.
    pub(super) fn is_wanted(&self) -> bool {
        self.entries.values().any(|entry| entry.ended.is_none())
    }

    pub(super) fn get(&self, id: SubscriptionId) -> Option<&Subscription> {
        self.entries.get(&id)
    }

    /// How many have not ended; `before` this one, if there is such.
    pub(super) fn live(&self, before: Option<SubscriptionId>) -> usize {
        let entries = self.entries.iter().take_while(|(id, _)| before.is_none_or(|before| **id < before));
        entries.filter(|(_, entry)| entry.ended.is_none()).count()
    }

    /// The subscription that the request with this id opens a stream for, and whether it has one.
    pub(super) fn opened_by(&self, wire: i64) -> Option<(SubscriptionId, bool)> {
        let &id = self.wires.get(&wire)?;
        Some((id, self.entries.get(&id)?.current.is_some()))
    }

    /// Those things have to wait, and come first then.
    pub(super) fn put_back(&mut self, todo: VecDeque<Todo>) {
        let rest = core::mem::replace(&mut self.todo, todo);
        self.todo.extend(rest);
    }

    /// Whether a stream was opened by the request with this id.
    pub(super) fn has_stream(&self, wire: i64) -> bool {
        self.wires.contains_key(&wire)
    }

    pub(super) fn next_todo(&mut self) -> Option<Todo> {
        self.todo.pop_front()
    }

    pub(super) fn next_wake(&self) -> Option<Instant> {
        self.wakes.first().map(|&(at, _)| at)
    }

    pub(super) fn take(&mut self, id: SubscriptionId) -> Option<Notice> {
        let entry = self.entries.get_mut(&id)?;
        if core::mem::take(&mut entry.missed) {
            return Some(Notice::Missed);
        }
        entry.backlog.pop()
    }

    /// That there is news was heard.
    fn heard(&mut self, id: SubscriptionId) {
        if let Some(entry) = self.entries.get_mut(&id) {
            entry.told = false;
        }
    }

    fn wake_at(&mut self, id: SubscriptionId, at: Option<Instant>) {
        let Some(entry) = self.entries.get_mut(&id) else { return };
        if let Some(before) = core::mem::replace(&mut entry.wake, at) {
            self.wakes.remove(&(before, id));
        }
        if let Some(at) = at {
            self.wakes.insert((at, id));
        }
    }

    /// Whoever waits for the acknowledgement of a stream has so much more time.
    pub(super) fn delay(&mut self, wire: i64, span: Duration) {
        self.change_wake(wire, |at| at + span);
    }

    /// It was not needed, after all.
    pub(super) fn hasten(&mut self, now: Instant, wire: i64, unused: Duration) {
        self.change_wake(wire, |at| at.saturating_sub(unused).max(now));
    }

    fn change_wake(&mut self, wire: i64, change: impl FnOnce(Instant) -> Instant) {
        let Some(&id) = self.wires.get(&wire) else { return };
        let entry = self.entries.get(&id).filter(|entry| entry.opening == Some(wire));
        if let Some(at) = entry.and_then(|entry| entry.wake) {
            self.wake_at(id, Some(change(at)));
        }
    }

    /// The stream of a request is not there any more.
    pub(super) fn forget_stream(&mut self, wire: i64) {
        self.wires.remove(&wire);
    }

    /// Closes all streams of a subscription, those among them that others have replaced.
    fn close_streams(&mut self, id: SubscriptionId) {
        let streams = self.wires.iter().filter(|(_, of)| **of == id);
        let streams: alloc::vec::Vec<_> = streams.map(|(&wire, _)| wire).collect();
        streams.into_iter().for_each(|wire| self.close_stream(Some(wire)));
    }

    /// Closes the stream of a request, if there is one.
    fn close_stream(&mut self, wire: Option<i64>) {
        if let Some(wire) = wire.filter(|wire| self.wires.remove(wire).is_some()) {
            self.todo.push_back(Todo::Close(wire));
        }
    }
}

impl Link {
    /// Begins to listen, as soon as the server is there.
    pub(super) fn listen(&mut self, wanted: SubscriptionFilter) -> Result<SubscriptionId, CallError> {
        self.alive()?;
        self.fits(&wanted)?;
        let limit = self.config.limits.listens;
        if self.subscriptions.entries.len() >= limit {
            return Err(Full::new("listens", limit).into());
        }
        self.subscriptions.last += 1;
        let id = SubscriptionId(self.subscriptions.last);
        self.subscriptions.entries.insert(id, Subscription::new(wanted));
        self.begin_listening(id);
        Ok(id)
    }

    /// Listens for something else. What is there goes on until the server has acknowledged the change.
    pub(super) fn relisten(
        &mut self,
        id: SubscriptionId,
        wanted: SubscriptionFilter,
    ) -> Result<(), CallError> {
        self.fits(&wanted)?;
        let Some(entry) = self.subscriptions.entries.get_mut(&id).filter(|entry| entry.ended.is_none())
        else {
            return Ok(());
        };
        entry.refusal = None;
        let before = core::mem::replace(&mut entry.wanted, Arc::new(wanted));
        if entry.acknowledged.is_none() || entry.gap {
            // Nothing is there that could go on: what is asked next is the new.
        } else if entry.before.is_none() {
            entry.before = Some(before.clone());
        }
        match self.subscriptions.era {
            Some(Era::Modern) => {
                let waits_to_reopen = entry.opening.is_none() && entry.current.is_none();
                let opening = entry.opening.take();
                self.subscriptions.close_stream(opening);
                if !waits_to_reopen {
                    self.begin_listening(id);
                }
            }
            Some(Era::Legacy) => {
                self.release(id, &before);
                self.begin_listening(id);
            }
            None => entry.before = None,
        }
        Ok(())
    }

    /// Nobody listens any more: the server is told, and nothing is kept.
    pub(super) fn unlisten(&mut self, id: SubscriptionId) {
        self.subscriptions.wake_at(id, None);
        self.subscriptions.entries.remove(&id);
        self.subscriptions.close_streams(id);
        self.release_all(id);
    }

    fn fits(&self, wanted: &SubscriptionFilter) -> Result<(), Full> {
        let limits = &self.config.limits;
        let uris = &wanted.resource_subscriptions;
        if uris.len() > limits.watched {
            return Err(Full::new("watched", limits.watched));
        }
        if uris.iter().map(|uri| uri.len()).sum::<usize>() > limits.watched_bytes {
            return Err(Full::new("watched_bytes", limits.watched_bytes));
        }
        Ok(())
    }

    /// The server can be asked: everything that is listened for is asked for.
    pub(super) fn resume_listening(&mut self) {
        self.subscriptions.era = self.details.as_deref().map(super::ServerDetails::era);
        let ids: alloc::vec::Vec<_> = self.subscriptions.entries.keys().copied().collect();
        for id in ids {
            self.begin_listening(id);
        }
    }

    /// What a legacy server tells can be heard from now on, or will not be.
    pub(super) fn hears(&mut self) {
        if !core::mem::replace(&mut self.subscriptions.hears, true) {
            let ids: alloc::vec::Vec<_> = self.subscriptions.entries.keys().copied().collect();
            ids.into_iter().for_each(|id| self.settle_watches(id));
        }
    }

    /// The server is gone, or its session: it knows of no subscription any more (SUB-16).
    pub(super) fn suspend_listening(&mut self) {
        let table = &mut self.subscriptions;
        table.era = None;
        table.hears = false;
        table.wires.clear();
        table.wakes.clear();
        table.todo.clear();
        table.watches.clear();
        table.calls.clear();
        for entry in table.entries.values_mut() {
            (entry.current, entry.opening, entry.wake, entry.before) = (None, None, None, None);
            entry.gap |= entry.acknowledged.is_some();
        }
    }

    /// Nobody will tell anything any more.
    pub(super) fn end_listening(&mut self, error: &CallError) {
        self.suspend_listening();
        let ids: alloc::vec::Vec<_> = self.subscriptions.entries.keys().copied().collect();
        for id in ids {
            self.end_subscription(id, Err(error.clone()));
        }
    }

    fn begin_listening(&mut self, id: SubscriptionId) {
        let Some(entry) = self.subscriptions.entries.get(&id).filter(|entry| entry.ended.is_none()) else {
            return;
        };
        match self.subscriptions.era {
            Some(Era::Modern) => {
                let wanted = Arc::clone(&entry.wanted);
                self.open_stream(id, wanted);
            }
            Some(Era::Legacy) => self.watch(id),
            None => {}
        }
    }

    /// What is due for a subscription.
    pub(super) fn listen_on(&mut self, now: Instant) {
        while let Some(&(at, id)) = self.subscriptions.wakes.first()
            && at <= now
        {
            self.subscriptions.wake_at(id, None);
            match self.subscriptions.entries.get(&id).and_then(|entry| entry.opening) {
                Some(wire) => self.not_acknowledged(id, wire),
                None => self.begin_listening(id),
            }
        }
    }

    fn end_subscription(&mut self, id: SubscriptionId, how: Result<(), CallError>) {
        self.subscriptions.wake_at(id, None);
        let Some(entry) = self.subscriptions.entries.get_mut(&id).filter(|entry| entry.ended.is_none())
        else {
            return;
        };
        (entry.current, entry.opening, entry.before) = (None, None, None);
        entry.ended = Some(how);
        self.subscriptions.close_streams(id);
        self.release_all(id);
        self.tell(id);
    }

    /// The server has said what it will tell.
    fn acknowledge(&mut self, id: SubscriptionId, filter: SubscriptionFilter) {
        let Some(entry) = self.subscriptions.entries.get_mut(&id) else { return };
        entry.covered = filter::wanted(&filter);
        entry.acknowledged = Some(Arc::new(filter));
        entry.before = None;
        entry.missed |= core::mem::take(&mut entry.gap);
        self.tell(id);
    }

    /// The next thing to say.
    pub(super) fn next_out(&mut self) -> Option<Out> {
        let out = self.events.pop()?;
        if let Out::Event(Event::Subscription(id)) = &out {
            self.subscriptions.heard(*id);
        }
        Some(out)
    }

    /// Says that there is news of a subscription, unless that waits to be heard.
    fn tell(&mut self, id: SubscriptionId) {
        let Some(entry) = self.subscriptions.entries.get_mut(&id) else { return };
        if !core::mem::replace(&mut entry.told, true) {
            self.events.push(Event::Subscription(id));
        }
    }

    fn deliver(&mut self, id: SubscriptionId, notice: Notice) {
        let Some(entry) = self.subscriptions.entries.get_mut(&id) else { return };
        let (_, lost) = entry.backlog.left_out();
        entry.backlog.merge(notice, &self.config.limits);
        entry.missed |= entry.backlog.left_out().1 > lost;
        self.tell(id);
    }
}
