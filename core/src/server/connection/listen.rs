//! What a connection tells of by itself: to its subscriptions, and to its legacy session.

use alloc::sync::Arc;
use alloc::vec::Vec;

use super::Output;
use super::link::{Link, shutting_down};
use crate::change::{Change, TaskChange};
use crate::dialect::Revision;
use crate::error::ApiMisuse;
use crate::server::notify;
use crate::server::params::Params;
use crate::server::refusal::{self, Refusal};
use crate::server::session::ClientDetails;
use crate::server::subscription::{Admission, Listen, Subscription, Waiting, ahead_of, too_many_listen};
use crate::server::tasks::TaskDetail;
use crate::server::visible::{View, Viewer};
use crate::wanted::Wanted;
use crate::wire::jsonrpc::{self, Request, RequestId};

/// Names a subscription within its connection; never reused there.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ListenId(pub(in crate::server) u64);

/// Whoever listens on a connection.
#[derive(Debug, Default)]
pub(super) struct Listeners {
    /// In the order of their ids.
    open: Vec<Listener>,
    last: u64,
    /// What waits for the legacy session.
    session: Waiting,
    /// Listeners that were let in, the session among them, that something waits for.
    behind: usize,
}

#[derive(Debug)]
struct Listener {
    id: ListenId,
    subscription: Subscription,
    /// Whether it was let in.
    acknowledged: bool,
}

impl Listeners {
    pub(super) fn is_empty(&self) -> bool {
        self.open.is_empty()
    }

    fn count_behind(&mut self) {
        let open = self.open.iter().filter(|listener| listener.acknowledged);
        let waiting = open.map(|listener| &listener.subscription.waiting);
        self.behind = waiting.chain([&self.session]).filter(|waiting| waiting.is_behind()).count();
    }
}

impl Link {
    /// Whether a request with this id is under way.
    pub(super) fn is_used(&self, request: &RequestId) -> bool {
        self.calls.contains(request)
            || self.listeners.open.iter().any(|listener| listener.subscription.request == *request)
    }

    /// What a request to listen comes to.
    pub(super) fn subscription(
        &self,
        request: &Request<'_>,
        params: &Params<'_>,
        revision: Revision,
        wanted: Wanted,
        viewer: Option<Viewer>,
    ) -> (Listen, Subscription) {
        let client = Arc::new(ClientDetails::of(&params.meta));
        let listen = Listen::new(wanted.clone(), self.principal.clone(), client, revision);
        (listen, Subscription::new(request.id.clone(), revision, wanted, viewer))
    }

    pub(super) fn listen(&mut self, listen: Listen, subscription: Subscription) -> Result<(), Refusal> {
        if self.stopping || self.deaf {
            return Err(shutting_down());
        }
        if self.listeners.open.len() >= self.config.limits.listens {
            return Err(too_many_listen());
        }
        self.listeners.last += 1;
        let id = ListenId(self.listeners.last);
        self.listeners.open.push(Listener { id, subscription, acknowledged: false });
        self.outputs.push_back(Output::Listen(id, listen));
        Ok(())
    }

    pub(super) fn admit(&mut self, id: ListenId, admission: Admission) {
        let Ok(place) = self.listeners.open.binary_search_by_key(&id, |listener| listener.id) else { return };
        let Some(listener) = self.listeners.open.get_mut(place).filter(|listener| !listener.acknowledged)
        else {
            return;
        };
        let request = listener.subscription.request.clone();
        match admission {
            Admission::Granted | Admission::Partly(_) => {
                let admitted = match admission {
                    Admission::Partly(wanted) => Some(wanted),
                    _ => None,
                };
                listener.subscription.let_in(admitted, &self.config.limits);
                let out = self.transmit.buffer();
                let start = out.len();
                if listener.subscription.write_acknowledgement(out).is_ok() {
                    out.push(b'\n');
                    listener.acknowledged = true;
                    // What has changed since it was let in.
                    self.listeners.count_behind();
                    return self.catch_up();
                }
                out.truncate(start);
                self.listeners.open.remove(place);
                self.send(&request, None, |out| {
                    jsonrpc::write_error(out, Some(&request), &refusal::unwritable());
                    Ok(())
                });
            }
            Admission::Full => {
                self.listeners.open.remove(place);
                self.refuse(Some(&request), too_many_listen(), None);
            }
            Admission::Refused(error) => {
                let error = refusal::in_revision(&error, listener.subscription.revision());
                self.listeners.open.remove(place);
                self.send(&request, None, |out| {
                    jsonrpc::write_error(out, Some(&request), &error);
                    Ok(())
                });
            }
        }
    }

    /// The client listens no longer; nothing is answered for it (SUB-12). `false` when it did not.
    pub(super) fn unlisten(&mut self, request: &RequestId) -> bool {
        let of = |listener: &Listener| listener.subscription.request == *request;
        let Some(place) = self.listeners.open.iter().position(of) else { return false };
        self.listeners.open.remove(place);
        self.listeners.count_behind();
        true
    }

    /// Tells whoever is to hear of it.
    pub(super) fn publish(&mut self, change: &Change) {
        let (config, held) = (Arc::clone(&self.config), self.held());
        let out = self.transmit.buffer();
        let start = out.len();
        let ahead = |out: &Vec<u8>| held + out.len() - start >= ahead_of(&config.limits);
        let Listeners { open, session, .. } = &mut self.listeners;
        let viewer = self.session.as_ref().filter(|_| config.visible.is_some());
        let viewer = viewer.map(|state| state.viewer(self.principal.clone()));
        let sees = match change {
            Change::Resource(uri) => View::new(&config, viewer.as_ref()).is_told_of(uri),
            _ => true,
        };
        let told = sees && self.session.as_ref().is_some_and(|state| state.is_told(change, &config));
        if told && !session.keep_back(ahead(out), change, &config.limits) {
            line(out, |out| notify::change(change, None, out));
        }
        let is_task = matches!(change, Change::Task(_));
        // Who is let in is told of its tasks then.
        for Listener { subscription, acknowledged, .. } in
            open.iter_mut().filter(|it| it.acknowledged || !is_task)
        {
            let ahead = is_task || !*acknowledged || ahead(out);
            if subscription.is_told(change, &config)
                && !subscription.waiting.keep_back(ahead, change, &config.limits)
            {
                line(out, |out| subscription.write(change, out));
            }
        }
        self.listeners.count_behind();
        if is_task {
            self.catch_up();
        }
    }

    /// What the table of tasks says of one whose turn it is.
    pub(super) fn task(&mut self, id: ListenId, task: &TaskChange, detail: Option<&TaskDetail>) {
        let Ok(place) = self.listeners.open.binary_search_by_key(&id, |listener| listener.id) else { return };
        let Some(Listener { subscription, .. }) = self.listeners.open.get_mut(place) else { return };
        if !subscription.waiting.was_read(task) {
            return;
        }
        if let Some(detail) = detail {
            line(self.transmit.buffer(), |out| subscription.write_task(detail, out));
        }
        self.listeners.count_behind();
        self.catch_up();
    }

    /// Sends what waited, as far as there is room, everybody in turn.
    pub(super) fn catch_up(&mut self) {
        while self.listeners.behind > 0 && !self.is_ahead() {
            let out = self.transmit.buffer();
            let Listeners { open, session, .. } = &mut self.listeners;
            let mut reports = Vec::new();
            if let Some(change) = session.pop() {
                line(out, |out| notify::change(&change, None, out));
                reports.extend(session.report());
            }
            for Listener { id, subscription, .. } in open.iter_mut().filter(|listener| listener.acknowledged)
            {
                if let Some(change) = subscription.waiting.pop() {
                    match change {
                        Change::Task(task) => self.outputs.push_back(Output::Task(*id, task)),
                        change => line(out, |out| subscription.write(&change, out)),
                    }
                    let report = subscription.waiting.report();
                    reports.extend(report.map(|report| report.request(&subscription.request)));
                }
            }
            reports.into_iter().for_each(|report| self.diagnose(report));
            self.listeners.count_behind();
        }
    }

    fn is_ahead(&self) -> bool {
        self.held() >= ahead_of(&self.config.limits)
    }

    /// Ends all subscriptions in good order, after what was still to be told: with the result (SUB-13), and then
    /// with the notification that a byte stream needs besides (CAN-06), as it does not close with them.
    pub(super) fn end_listening(&mut self) {
        let config = Arc::clone(&self.config);
        for Listener { mut subscription, acknowledged, .. } in core::mem::take(&mut self.listeners.open) {
            let request = subscription.request.clone();
            if !acknowledged {
                self.refuse(Some(&request), shutting_down(), None);
                continue;
            }
            let out = self.transmit.buffer();
            while let Some(change) = subscription.waiting.pop_last() {
                line(out, |out| subscription.write(&change, out));
            }
            self.send(&request, None, |out| subscription.write_end(&config, out));
            let out = self.transmit.buffer();
            if notify::cancelled(&request, subscription.revision(), None, out) {
                out.push(b'\n');
            }
        }
        self.listeners.count_behind();
    }

    /// Nobody hears any more.
    pub(super) fn stop_listening(&mut self) {
        self.listeners = Listeners { last: self.listeners.last, ..Listeners::default() };
    }
}

/// Appends a line, or nothing.
fn line(out: &mut Vec<u8>, write: impl FnOnce(&mut Vec<u8>) -> Result<(), ApiMisuse>) {
    let start = out.len();
    match write(out) {
        Ok(()) => out.push(b'\n'),
        Err(_) => out.truncate(start),
    }
}
