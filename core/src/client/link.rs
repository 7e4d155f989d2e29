//! What a byte stream and HTTP have in common: the calls, the era, the events.

use super::asks::{Asker, Asks};
use super::backoff::Backoff;
use super::cache::{Cache, Freshness};
use super::calls::{CallId, Calls, Patience, Reply};
use super::config::{CallOptions, Config};
use super::definitions::{Definitions, Facets, Output};
use super::details::ServerDetails;
use super::discovery::Discovery;
use super::event::{Event, Events, Progress};
use super::level::Level;
use super::negotiate::Negotiation;
use super::offered::offered;
use super::reply::{Around, Pending, RawReply};
use super::request::{Envelope, Source, misnamed};
use super::subscriptions::{About, Subscriptions};
use crate::diagnostic::Diagnostic;
use crate::dialect::Era;
use crate::entropy::Seed;
use crate::error::{CallError, ErrorObject};
use crate::model::Json;
use crate::model::cancellation::CancelledNotificationParams;
use crate::model::elicitation::ElicitationCompleteNotificationParams;
use crate::model::logging::LoggingMessageNotificationParams;
use crate::model::progress::ProgressNotificationParams;
use crate::model::tools::Tool;
use crate::schema::OutputCheck;
use crate::text;
use crate::time::{Duration, Instant};
use alloc::borrow::ToOwned;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::sync::Arc;
use alloc::vec::Vec;
use serde_json::value::RawValue;

/// What brought a message of the server.
#[derive(Clone, Copy, Debug)]
pub(super) enum Way {
    /// The stream that everything comes on.
    Shared,
    /// The response stream of this call.
    Call(CallId),
    /// The stream of the subscription that the request with this id asked for.
    Subscription(i64),
    /// A stream for what belongs to no call.
    Apart,
}

/// One server, however it is reached.
#[derive(Debug)]
pub(super) struct Link {
    pub(super) config: Arc<Config>,
    pub(super) negotiation: Negotiation,
    pub(super) details: Option<Arc<ServerDetails>>,
    /// For how long it is judged by them.
    pub(super) discovery: Discovery,
    /// How requests are written; `None` until the era is known.
    pub(super) envelope: Option<Envelope>,
    pub(super) calls: Calls,
    pub(super) cache: Cache,
    pub(super) asks: Asks,
    pub(super) events: Events,
    pub(super) subscriptions: Subscriptions,
    pub(super) backoff: Backoff,
    /// Tools, as they were listed.
    pub(super) definitions: Definitions,
    /// From which level on log messages are wanted.
    pub(super) level: Level,
    /// Whether it is HTTP, where arguments may go into headers.
    http: bool,
    pub(super) closed: Option<CallError>,
}

impl Link {
    pub(super) fn new(config: Arc<Config>, negotiation: Negotiation, http: bool, seed: Seed) -> Self {
        let definitions = Definitions::new(config.check_output != OutputCheck::Off);
        let calls = Calls::new(config.limits.in_flight);
        // Only over HTTP does a client outlive the server being out of reach.
        let cache = Cache::new(&config, http);
        let asks = Asks::new(config.limits.asked);
        let mut events = Events::new(&config.limits);
        misnamed(&config.meta).for_each(|diagnostic| events.diagnose(diagnostic));
        let level = Level::new(config.log_level);
        Self {
            config,
            negotiation,
            details: None,
            discovery: Discovery::default(),
            envelope: None,
            calls,
            cache,
            asks,
            events,
            subscriptions: Subscriptions::new(),
            backoff: Backoff::new(seed),
            definitions,
            level,
            http,
            closed: None,
        }
    }

    /// Whether a call may be made now, or as soon as the era is known. False when it is to wait until the server has
    /// introduced itself again: what speaks against it is of the past.
    pub(super) fn admit(
        &self,
        now: Instant,
        source: &impl Source,
        options: &CallOptions,
    ) -> Result<bool, CallError> {
        self.alive()?;
        self.calls.room(1)?;
        match self.possible(source, options) {
            Err(CallError::Unsupported { capability: Some(_), .. }) if self.is_outdated(now) => {
                // The question is a call as well, where it is asked now.
                let asks = self.envelope.is_some() && self.discovery.asked_by().is_none();
                self.calls.room(1 + usize::from(asks))?;
                Ok(false)
            }
            possible => possible.map(|()| true),
        }
    }

    /// Whether a call can be made, as far as the server is known yet.
    pub(super) fn possible(&self, source: &impl Source, options: &CallOptions) -> Result<(), CallError> {
        if let Some(details) = self.details.as_deref() {
            offered(details, source.method(), self.config.check_capabilities && !options.force)?;
        }
        self.may_be_task(source, options)?;
        match tool_of(source).and_then(|tool| self.definitions.refused(tool)) {
            Some(reason) => Err(CallError::UnsupportedDialect { reason: reason.to_owned() }),
            None => Ok(()),
        }
    }

    /// Makes a tool known.
    pub(super) fn learn(&mut self, tool: &Tool) -> Result<(), String> {
        let facets = match self.details.as_deref() {
            Some(details) => Facets::of(details, self.http),
            None => Facets { mirrors: self.http, tasks: true },
        };
        let noticed = self.definitions.learn(tool, facets, &self.config.limits)?;
        noticed.into_iter().for_each(|diagnostic| self.events.diagnose(diagnostic));
        Ok(())
    }

    /// A call goes out, under the definition of its tool that is known now.
    pub(super) fn goes_out(&mut self, call: CallId, source: &impl Source) {
        if let Some(tool) = tool_of(source) {
            self.goes_out_to(call, tool);
        }
    }

    pub(super) fn goes_out_to(&mut self, call: CallId, tool: &str) {
        let (output, diagnostic) = self.definitions.output(tool, &self.config.limits);
        diagnostic.into_iter().for_each(|diagnostic| self.events.diagnose(diagnostic));
        self.calls.put_output(call, output);
    }

    /// Whether anything can be asked of the server; if not, why.
    pub(super) fn alive(&self) -> Result<(), CallError> {
        match self.closed.clone() {
            None => Ok(()),
            Some(CallError::Broken { reason, .. }) => Err(CallError::Broken { reason, unsent: true }),
            Some(error) => Err(error),
        }
    }

    pub(super) fn patience(&self, options: &CallOptions) -> Patience {
        Patience {
            timeout: options.timeout.unwrap_or(self.config.limits.request),
            max: options.max.unwrap_or(self.config.limits.request_max),
        }
    }

    /// The era is known.
    pub(super) fn connect(&mut self, details: ServerDetails) {
        let details = Arc::new(details);
        self.envelope = Some(Envelope::new(&self.config, details.revision, self.level.wanted));
        self.details = Some(Arc::clone(&details));
        self.events.push(Event::Connected(details));
    }

    /// Ends a call, and says so unless nobody waits for it.
    pub(super) fn settle(&mut self, id: CallId, outcome: Result<Reply, CallError>) {
        if let Some(uri) = self.watched_by(id) {
            self.watched(&uri, outcome.as_ref().map(|_| ()).map_err(CallError::clone));
        }
        self.level_told(id, outcome.as_ref().map(|_| ()));
        self.asked_again(id, outcome.as_ref().map(|_| ()));
        let outcome = self.left_task(id, outcome);
        if let Err(error) = &outcome {
            self.failed(id, error);
        }
        if self.calls.is_suspended(id) {
            self.asks.retract(&mut self.events, |by| matches!(by, Asker::Call(call, _) if *call == id));
        }
        let outcome = outcome.map_err(|error| self.interrupted(id, error));
        if self.calls.settle(id, outcome) {
            self.events.push(Event::Settled(id));
        }
    }

    /// Ends everything; a second time changes nothing.
    pub(super) fn close(&mut self, error: CallError) {
        if self.closed.is_some() {
            return;
        }
        self.end_listening(&error);
        self.settle_all(&error);
        self.drop_requests();
        self.closed = Some(error.clone());
        self.events.push(Event::Closed(error));
    }

    /// The process of the server is gone, and another will come.
    pub(super) fn lose(&mut self, error: &CallError) {
        self.envelope = None;
        self.suspend_listening();
        self.settle_all(error);
        self.drop_requests();
    }

    /// Ends every call under way.
    pub(super) fn settle_all(&mut self, error: &CallError) {
        // That the server is gone is told otherwise.
        self.level.give_up();
        while let Some(id) = self.calls.any_open() {
            let error = match error {
                CallError::Broken { reason, unsent } => {
                    CallError::Broken { reason: reason.clone(), unsent: *unsent || self.calls.is_waiting(id) }
                }
                error => error.clone(),
            };
            self.settle(id, Err(error));
        }
    }

    /// What a call ended with, read as what was asked.
    pub(super) fn take<R>(&mut self, pending: &Pending<R>) -> Option<Result<R, CallError>> {
        let (outcome, output) = self.calls.take(pending.id())?;
        Some(outcome.and_then(|reply| self.read(pending, &reply, output.as_deref())))
    }

    /// Reads a result as what was asked; `output` is what the structured content of a tool has to look like.
    pub(super) fn read<R>(
        &mut self,
        pending: &Pending<R>,
        reply: &Reply,
        output: Option<&Output>,
    ) -> Result<R, CallError> {
        let Some(details) = self.details.as_deref() else {
            return Err(CallError::Invalid { reason: "a result came before the era was known".to_owned() });
        };
        let mut diagnostics = Vec::new();
        let freshness = match reply {
            Reply::Came(_) | Reply::Task(..) => &Freshness::New,
            Reply::Kept(_, freshness) => freshness,
        };
        let task = match reply {
            Reply::Task(_, task) => Some(&**task),
            Reply::Came(_) | Reply::Kept(..) => None,
        };
        let around = Around {
            freshness,
            task,
            facets: Facets::of(details, self.http),
            definitions: &mut self.definitions,
            config: &self.config,
            output,
            diagnostics: &mut diagnostics,
        };
        let read = RawReply::open(reply.json().as_ref(), details.revision, around)
            .and_then(|reply| pending.read(reply));
        if let (Err(_), Reply::Kept(result, _)) = (&read, reply) {
            self.cache.discard(result);
        }
        diagnostics.into_iter().for_each(|diagnostic| self.events.diagnose(diagnostic));
        read
    }

    /// Whether arrays are messages: in one revision only (RPC-26, RPC-28).
    pub(super) fn batches(&self) -> bool {
        self.details.as_deref().is_some_and(|details| details.revision.dialect().batching)
    }

    /// A notification of the server, and what brought it. Every notification passes here first, before anybody hears of
    /// it.
    pub(super) fn notification(&mut self, now: Instant, way: Way, method: &str, params: Option<&RawValue>) {
        self.invalidate(method, params);
        let on = match way {
            Way::Subscription(wire) => Some(wire),
            _ => None,
        };
        match method {
            "notifications/progress" => self.progress(now, params),
            "notifications/message" => match read_params::<LoggingMessageNotificationParams>(params) {
                Some(message) => self.events.push(Event::Log(self.logger(way), message)),
                None => self.unreadable(method),
            },
            // Names a request of the server, or a subscription.
            "notifications/cancelled" => {
                let named = read_params::<CancelledNotificationParams>(params).and_then(|it| it.request_id);
                if let Some(id) = named
                    && !self.stream_cancelled(&id)
                {
                    self.server_cancels(&id);
                }
            }
            "notifications/elicitation/complete" => {
                if let Some(done) = read_params::<ElicitationCompleteNotificationParams>(params) {
                    self.page_is_done(now, &done);
                }
                let params = params.map(Json::from);
                self.events.push(Event::Notification { method: method.to_owned(), params });
            }
            "notifications/subscriptions/acknowledged" if self.stream_acknowledged(now, on, params) => {}
            _ => {
                self.tell_of(on, method, params);
                let params = params.map(Json::from);
                self.events.push(Event::Notification { method: method.to_owned(), params });
            }
        }
    }

    /// Tells whoever listens for it.
    fn tell_of(&mut self, on: Option<i64>, method: &str, params: Option<&RawValue>) {
        if self.subscriptions.len() == 0 {
            return;
        }
        let about = About::of(params);
        match self.details.as_deref().map(ServerDetails::era) {
            Some(Era::Modern) => self.tell_listener(on, method, params, about),
            Some(Era::Legacy) => {
                if let Some(change) = about.change(method) {
                    self.tell_listeners(&change);
                } else if let Some(task) = about.task_of(method, params) {
                    self.tell_task(task);
                }
            }
            None => {}
        }
    }

    /// The call that a log message is of. It does not say so itself, so where everything comes on one stream that is known
    /// only as long as no other call is on its way (LOG-04).
    fn logger(&self, way: Way) -> Option<CallId> {
        match way {
            Way::Call(call) => Some(call),
            Way::Shared => self.calls.only_sent(),
            Way::Subscription(_) | Way::Apart => None,
        }
    }

    fn progress(&mut self, now: Instant, params: Option<&RawValue>) {
        let Some(report) = read_params::<ProgressNotificationParams>(params) else {
            return self.unreadable("notifications/progress");
        };
        // A report that arrives behind the answer is nobody's fault (PRG-07, PRG-11).
        let Some(wire) = report.progress_token.as_i64() else { return };
        let Some((id, news)) = self.calls.progress(now, wire, report.progress) else { return };
        if news {
            let ProgressNotificationParams { progress, total, message, .. } = report;
            self.events.push(Event::Progress(id, Progress { progress, total, message }));
        }
    }

    fn unreadable(&mut self, method: &str) {
        self.events.diagnose(Diagnostic::new(
            "client",
            format!("expected the parameters of `{method}`, found others"),
        ));
    }

    /// What a legacy server is told when the roots have changed, if it was told that it would be (ROOT-03, ROOT-04).
    pub(super) fn roots_notice(&self) -> Option<&'static [u8]> {
        let declared = self.config.capabilities.roots.as_ref()?.list_changed?;
        let known = self.details.as_deref()?.revision.dialect().roots_list_changed;
        (declared && known).then_some(br#"{"jsonrpc":"2.0","method":"notifications/roots/list_changed"}"#)
    }

    /// A response that nobody waits for: late, repeated or never asked for (B20, B54).
    pub(super) fn unasked(&mut self, id: Option<&dyn core::fmt::Display>, error: Option<&ErrorObject>) {
        let detail = match error {
            Some(error) => format!(
                "an error for no request under way: {} ({})",
                text::excerpt(&error.message),
                error.code
            ),
            None => "a result for no request under way".to_owned(),
        };
        let mut diagnostic = Diagnostic::new("client", detail);
        if let Some(id) = id {
            diagnostic.request = Some(text::excerpt(&id.to_string()));
        }
        self.events.diagnose(diagnostic);
    }
}

/// The tool that is called.
fn tool_of(source: &impl Source) -> Option<&str> {
    source.name().filter(|_| source.method() == "tools/call")
}

/// The reason of a cancellation after a timeout, for the server's log.
pub(super) fn timeout_reason(after: Duration) -> alloc::string::String {
    format!("no answer within {after:?}")
}

fn read_params<T: serde::de::DeserializeOwned>(params: Option<&RawValue>) -> Option<T> {
    serde_json::from_str(params?.get()).ok()
}
