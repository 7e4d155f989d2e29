//! What the application says on behalf of a call: how it went, and how far it has come.

use alloc::boxed::Box;
use alloc::sync::Arc;
use alloc::vec::Vec;

use super::serve::Ask;
use super::{Exchange, ExchangeOutput, Waiting};
use crate::diagnostic::Diagnostic;
use crate::error::ErrorObject;
use crate::model::Json;
use crate::model::logging::LoggingMessageNotificationParams;
use crate::server::call::{CallId, Progress, WriteResult};
use crate::server::config::Transport;
use crate::server::dispatch::{self, Plan};
use crate::server::in_flight::{Running, Sequel};
use crate::server::notify;
use crate::server::refusal::{self, Refusal};
use crate::server::sessions::{SessionAnswer, SessionQuery};
use crate::time::Now;
use crate::wire::jsonrpc;

impl Exchange {
    /// The call succeeded. For a call that is unknown or over, nothing happens. A result that cannot be
    /// serialised becomes an internal error, and a diagnostic.
    pub fn respond(&mut self, now: Now, call: CallId, result: &dyn WriteResult) {
        if self.on_connection(now, |connection| connection.respond(now, call, result)).is_some() {
            return;
        }
        if let Some(error) = self.calls.missing(call, result) {
            return self.fail(now, call, &error);
        }
        if let Some(misuse) = self.calls.unfit(call, result) {
            self.fail(now, call, &refusal::unwritable());
            return self.diagnose(Diagnostic::misuse(misuse));
        }
        let Some(running) = self.calls.finish(call) else { return };
        self.end_asks(call);
        let config = Arc::clone(&self.config);
        let Running { request, revision, .. } = &running;
        let mut failed = None;
        self.over(
            &running,
            Some(|out: &mut Vec<u8>| {
                if let Err(misuse) = result.write_result(out, request, *revision, config.server_info()) {
                    jsonrpc::write_error(out, Some(request), &refusal::unwritable());
                    failed = Some(misuse);
                }
            }),
        );
        self.finish(request.clone());
        if let Some(misuse) = failed {
            self.diagnose(Diagnostic::misuse(misuse).request(request));
        }
    }

    /// The call failed.
    pub fn fail(&mut self, now: Now, call: CallId, error: &ErrorObject) {
        if self.on_connection(now, |connection| connection.fail(now, call, error)).is_some() {
            return;
        }
        self.fail_with(now, call, error, None);
    }

    pub(super) fn fail_with(&mut self, _now: Now, call: CallId, error: &ErrorObject, status: Option<u16>) {
        let Some(running) = self.calls.finish(call) else { return };
        self.end_asks(call);
        let error = refusal::in_revision(error, running.revision);
        if running.batch.is_none() {
            let of = |code| refusal::status(code, running.revision.era());
            self.reply.status = status.unwrap_or_else(|| i32::try_from(error.code).map_or(200, of));
        }
        self.over(
            &running,
            Some(|out: &mut Vec<u8>| jsonrpc::write_error(out, Some(&running.request), &error)),
        );
        self.finish(running.request.clone());
    }

    /// How far the call has come. Dropped when the client did not ask for progress or takes no event
    /// stream, when it does not go forward, and when too much waits to be sent.
    pub fn progress(&mut self, now: Now, call: CallId, progress: &Progress) {
        if self.on_connection(now, |connection| connection.progress(now, call, progress)).is_some() {
            return;
        }
        let full = self.is_full();
        let Some(running) = self.calls.speaking(call).filter(|_| !full) else { return };
        let head = self.reply.notification(|out| notify::progress(running, progress, out));
        self.reported(now, head);
    }

    /// A log message on behalf of the call. Dropped when the client did not ask for one so little severe or
    /// takes no event stream, when the server does not declare `logging`, and when too much waits to be
    /// sent.
    pub fn log(&mut self, now: Now, call: CallId, message: &LoggingMessageNotificationParams) {
        if self.on_connection(now, |connection| connection.log(now, call, message)).is_some() {
            return;
        }
        let full = self.is_full() || !self.config.logging || self.lacks_session();
        let Some(running) = self.calls.speaking(call).filter(|_| !full) else { return };
        let least = match &self.state {
            Some(state) => Some(state.level),
            None => running.level,
        };
        let mut failed = None;
        let head = self.reply.notification(|out| {
            notify::log(running, least, message, out).unwrap_or_else(|misuse| {
                failed = Some(misuse);
                false
            })
        });
        if let Some(misuse) = failed {
            let diagnostic = Diagnostic::misuse(misuse).request(&running.request);
            self.diagnose(diagnostic);
        }
        self.reported(now, head);
    }

    /// A notification of the application's own, on behalf of the call. One with a name of the protocol or
    /// parameters that are no object becomes a diagnostic. Dropped when the client takes no event stream, and
    /// when too much waits to be sent.
    pub fn notify(&mut self, now: Now, call: CallId, method: &str, params: &Json) {
        if self.on_connection(now, |connection| connection.notify(now, call, method, params)).is_some() {
            return;
        }
        let full = self.is_full();
        let Some(running) = self.calls.speaking(call).filter(|_| !full) else { return };
        let mut failed = None;
        let head = self.reply.notification(|out| {
            failed = notify::custom(method, params, out).err();
            failed.is_none()
        });
        if let Some(misuse) = failed {
            let diagnostic = Diagnostic::misuse(misuse).request(&running.request);
            self.diagnose(diagnostic);
        }
        self.reported(now, head);
    }

    /// Goes on with a [`Target::Protocol`](crate::server::Target::Protocol) as if it had not been handed out: answers
    /// it, opens a session or begins a subscription. For another call, nothing happens.
    pub fn proceed(&mut self, now: Now, call: CallId) {
        if self.on_connection(now, |connection| connection.proceed(now, call)).is_some() {
            return;
        }
        let Some(asked) = self.calls.protocol(call) else { return };
        if self.waiting.iter().any(|waiting| waiting.call == call) {
            return;
        }
        self.quiet_since = now.mono;
        self.end_asks(call);
        match self.calls.take_sequel(call) {
            Some(sequel) => {
                let Some(running) = self.calls.finish(call) else { return };
                match sequel {
                    Sequel::Open(state) => {
                        let query = SessionQuery::Open { state: (*state).clone() };
                        self.ask_for(query, Ask::Open { id: running.request, state: *state });
                    }
                    Sequel::Listen(both) => {
                        let (listen, subscription) = *both;
                        self.listen(listen, Box::new(subscription));
                    }
                }
            }
            None => self.carry_out(call, &asked.plan),
        }
    }

    /// Does what a request demands, and answers it. What changes a session is first said to the table.
    pub(super) fn carry_out(&mut self, call: CallId, plan: &Plan) {
        let session = self.session.clone().filter(|_| self.state.is_some());
        match session.and_then(|session| SessionQuery::of(plan, session)) {
            Some(query) => {
                let until = self.quiet_since + self.config.limits.session_answer;
                let query = self.query(query);
                self.waiting.push(Waiting { query, call, until });
            }
            None => self.conclude(call, Ok(())),
        }
    }

    /// The table has answered.
    pub(super) fn settled(&mut self, call: CallId, answer: SessionAnswer) {
        let outcome = match answer {
            SessionAnswer::Loaded { state } => {
                self.state = Some(state);
                Ok(())
            }
            answer => Err(self.refusal_of(&answer)),
        };
        self.conclude(call, outcome);
    }

    /// Answers a request as the protocol does.
    fn conclude(&mut self, call: CallId, outcome: Result<(), Refusal>) {
        let Some(asked) = self.calls.protocol(call) else { return };
        let Some(running) = self.calls.finish(call) else { return };
        let config = Arc::clone(&self.config);
        let Running { request, revision, batch, .. } = &running;
        match (outcome, batch) {
            (Err(refusal), None) => {
                self.refuse(Some(request), revision.era(), &refusal);
                self.note();
            }
            (Err(refusal), Some(_)) => {
                let error = refusal.error();
                self.over(
                    &running,
                    Some(|out: &mut Vec<u8>| jsonrpc::write_error(out, Some(request), &error)),
                );
                self.diagnose(Diagnostic::new("jsonrpc", refusal.detail).request(request));
            }
            (Ok(()), _) => {
                let mut failed = None;
                self.over(
                    &running,
                    Some(|out: &mut Vec<u8>| {
                        if let Err(misuse) =
                            dispatch::answer(&config, Transport::Http, *revision, request, &asked.plan, out)
                        {
                            jsonrpc::write_error(out, Some(request), &refusal::unwritable());
                            failed = Some(misuse);
                        }
                    }),
                );
                if let Some(misuse) = failed {
                    self.diagnose(Diagnostic::misuse(misuse).request(request));
                }
            }
        }
        self.finish(request.clone());
    }

    pub(super) fn reported(&mut self, now: Now, head: Option<ExchangeOutput>) {
        if self.reply.is_stream() {
            self.quiet_since = now.mono;
        }
        self.outputs.extend(head);
        self.note();
    }
}
