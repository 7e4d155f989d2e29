//! An exchange that tells of changes: the response is an event stream that stays open.
//!
//! <https://modelcontextprotocol.io/specification/2026-07-28/basic/patterns/subscriptions>

use alloc::boxed::Box;
use alloc::sync::Arc;
use alloc::vec::Vec;

use super::{Exchange, ExchangeOutput, Stage};
use crate::change::{Change, TaskChange};
use crate::dialect::Era;
use crate::error::code;
use crate::server::config::Config;
use crate::server::received::Received;
use crate::server::refusal::{self, Refusal};
use crate::server::subscription::{Admission, Listen, Subscription, ahead_of, too_many_listen};
use crate::server::tasks::TaskDetail;
use crate::time::Now;
use crate::wire::jsonrpc;

impl Exchange {
    /// Whether somebody may listen. Unless that was asked, nothing happens.
    pub fn handle_admission(&mut self, now: Now, admission: Admission) {
        let mut subscription = match core::mem::replace(&mut self.stage, Stage::Answered) {
            Stage::Admitting(subscription) => subscription,
            stage => return self.stage = stage,
        };
        self.quiet_since = now.mono;
        let id = subscription.request.clone();
        match admission {
            Admission::Granted | Admission::Partly(_) => {
                let admitted = match admission {
                    Admission::Partly(wanted) => Some(wanted),
                    _ => None,
                };
                subscription.let_in(admitted, &self.config.limits);
                let head = self.reply.notification(|out| subscription.write_acknowledgement(out).is_ok());
                self.outputs.extend(head);
                // Nothing of the request is looked at again, and it may listen for days.
                self.head = Received::default();
                self.body = Vec::new();
                self.stage = Stage::Listening(subscription);
                // What has changed since it was let in.
                self.catch_up();
            }
            Admission::Full => self.refuse(Some(&id), Era::Modern, &too_many_listen()),
            Admission::Refused(error) => {
                let error = refusal::in_revision(&error, subscription.revision());
                self.reply.status =
                    i32::try_from(error.code).map_or(200, |code| refusal::status(code, Era::Modern));
                let head = self.reply.answer(|out| jsonrpc::write_error(out, Some(&id), &error));
                self.outputs.extend(head);
            }
        }
    }

    /// The server has changed. For an exchange that listens or carries a connection
    /// only: others go on with what they began with.
    pub fn handle_config(&mut self, now: Now, config: Arc<Config>) {
        self.on_connection(now, |connection| connection.handle_config(now, Arc::clone(&config)));
        if let Stage::Admitting(_) | Stage::Listening(_) = self.stage {
            self.config = config;
        }
    }

    /// Something has changed: tells the client, if it listens for that. What a client that reads slowly is to be
    /// told, or one that is just being let in, waits within [`Limits::notifications`](crate::limits::Limits::notifications).
    pub fn publish(&mut self, now: Now, change: &Change) {
        if self.on_connection(now, |connection| connection.publish(now, change)).is_some() {
            return;
        }
        let limits = &self.config.limits;
        let is_task = matches!(change, Change::Task(_));
        let (subscription, ahead) = match &mut self.stage {
            // Who is let in is told of its tasks then.
            Stage::Admitting(subscription) if !is_task => (subscription, true),
            Stage::Listening(subscription) => {
                (subscription, is_task || self.reply.transmit.len() >= ahead_of(limits))
            }
            _ => return,
        };
        if subscription.is_told(change, &self.config)
            && !subscription.waiting.keep_back(ahead, change, limits)
        {
            // The stream has begun, so there is no head to tell.
            let _ = self.reply.notification(|out| subscription.write(change, out).is_ok());
            self.quiet_since = now.mono;
        }
        if is_task {
            self.catch_up();
        }
    }

    /// What the table of tasks says of one that is to be told of ([`ExchangeOutput::Task`]): nothing where there is none
    /// any more. Unless it was asked about this one, nothing happens.
    pub fn handle_task(&mut self, now: Now, task: &TaskChange, detail: Option<&TaskDetail>) {
        let Stage::Listening(subscription) = &mut self.stage else { return };
        if !subscription.waiting.was_read(task) {
            return;
        }
        if let Some(detail) = detail {
            let _ = self.reply.notification(|out| subscription.write_task(detail, out).is_ok());
            self.quiet_since = now.mono;
        }
        self.catch_up();
    }

    /// The stream ends with its result, after what was still to be told (SUB-13).
    pub(super) fn end_listening(&mut self) {
        match core::mem::replace(&mut self.stage, Stage::Answered) {
            Stage::Listening(mut subscription) => {
                while let Some(change) = subscription.waiting.pop_last() {
                    let _ = self.reply.notification(|out| subscription.write(&change, out).is_ok());
                }
                let (config, id) = (Arc::clone(&self.config), subscription.request.clone());
                self.write(&id, |out| subscription.write_end(&config, out));
            }
            Stage::Admitting(subscription) => {
                let refusal = Refusal::plain(code::INTERNAL, "the server is shutting down").with_status(503);
                self.refuse(Some(&subscription.request), Era::Modern, &refusal);
            }
            stage => self.stage = stage,
        }
    }

    pub(super) fn listen(&mut self, listen: Listen, subscription: Box<Subscription>) {
        if !self.reply.may_stream() {
            let message =
                "`Accept` must allow text/event-stream: the response to `subscriptions/listen` is one";
            let refusal = Refusal::plain(code::INVALID_REQUEST, message).with_status(406);
            return self.refuse(Some(&subscription.request), Era::Modern, &refusal);
        }
        self.outputs.push_back(ExchangeOutput::Listen(listen));
        self.stage = Stage::Admitting(subscription);
    }

    /// Sends what waited, as far as there is room.
    pub(super) fn catch_up(&mut self) {
        let Stage::Listening(subscription) = &mut self.stage else { return };
        let ahead = ahead_of(&self.config.limits);
        while self.reply.transmit.len() < ahead
            && let Some(change) = subscription.waiting.pop()
        {
            match change {
                Change::Task(task) => self.outputs.push_back(ExchangeOutput::Task(task)),
                change => drop(self.reply.notification(|out| subscription.write(&change, out).is_ok())),
            }
        }
        if let Some(report) = subscription.waiting.report() {
            let report = report.request(&subscription.request);
            self.diagnose(report);
        }
        self.shrink();
    }

    /// A stream that is idle, as most are most of the time, holds no buffers.
    pub(super) fn shrink(&mut self) {
        if let Stage::Listening(_) | Stage::Carrying { .. } | Stage::Connected(_) = self.stage {
            self.outputs.shrink_to(0);
            self.reply.transmit.shrink();
        }
    }
}
