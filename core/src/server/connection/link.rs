//! Everything of a connection but the cutting of its input into lines, which lends out what it cuts.

use alloc::boxed::Box;
use alloc::collections::VecDeque;
use alloc::string::{String, ToString};
use alloc::sync::Arc;
use alloc::vec::Vec;

use super::Output;
use super::listen::Listeners;
use crate::diagnostic::Diagnostic;
use crate::dialect::{Era, Revision};
use crate::error::{ApiMisuse, ErrorObject, code};
use crate::model::Json;
use crate::model::logging::LoggingMessageNotificationParams;
use crate::server::answers;
use crate::server::asks::{Asks, ClientResponse};
use crate::server::batch::{Batches, Finished};
use crate::server::call::{CallId, Progress, WriteResult};
use crate::server::config::{Config, Transport};
use crate::server::dispatch::{self, Notice, Plan, Speech};
use crate::server::in_flight::{InFlight, Running, Sequel};
use crate::server::notify;
use crate::server::params::Params;
use crate::server::principal::Principal;
use crate::server::refusal::{self, Refusal};
use crate::server::resource_server::{self, ResourceServer};
use crate::server::session::{ClientDetails, SessionState};
use crate::server::target::Target;
use crate::server::transmit::Transmit;
use crate::server::visible::Viewer;
use crate::wire::jsonrpc::{self, Batch, Incoming, Malformed, Message, Notification, Request, RequestId};
use crate::wire::lines::{Line, Lines};

#[derive(Debug)]
pub(super) struct Link {
    pub(super) config: Arc<Config>,
    pub(super) session: Option<SessionState>,
    /// Who the client is, where that is known.
    pub(super) principal: Option<Arc<Principal>>,
    pub(super) calls: InFlight,
    pub(super) asks: Asks,
    /// The stream is one of HTTP with SSE.
    pub(super) over_http: bool,
    /// No response can come any more.
    pub(super) deaf: bool,
    pub(super) listeners: Listeners,
    batches: Batches,
    pub(super) transmit: Transmit,
    pub(super) outputs: VecDeque<Output>,
    pub(super) stopping: bool,
}

impl Link {
    pub(super) fn new(config: Arc<Config>) -> Self {
        Self {
            config,
            session: None,
            principal: None,
            calls: InFlight::default(),
            asks: Asks::default(),
            over_http: false,
            deaf: false,
            listeners: Listeners::default(),
            batches: Batches::default(),
            transmit: Transmit::default(),
            outputs: VecDeque::new(),
            stopping: false,
        }
    }

    pub(super) fn config(&self) -> &Config {
        &self.config
    }

    pub(super) fn set_config(&mut self, config: Arc<Config>) {
        self.config = config;
    }

    /// Whether so much waits for the peer or for the application that no further input is processed.
    pub(super) fn is_full(&self) -> bool {
        let limits = &self.config.limits;
        let waiting = self.outputs.len() >= limits.in_flight + limits.notifications;
        // What comes after a handshake is of its session.
        waiting || self.held() > limits.transmit || self.calls.opens()
    }

    pub(super) fn held(&self) -> usize {
        self.transmit.len() + self.batches.len()
    }

    /// Reads lines off the front of `input` while there is room for their answers.
    pub(super) fn read(&mut self, lines: &mut Lines, input: &mut &[u8]) {
        while !self.is_full() {
            // A fresh loan for each line: the decoder lends it from what it holds or from the input.
            let mut rest: &[u8] = input;
            let line = lines.next(&mut rest);
            let found = line.is_some();
            if let Some(line) = line {
                self.line(line);
            }
            *input = input.get(input.len() - rest.len()..).unwrap_or_default();
            if !found {
                break;
            }
        }
    }

    /// Reads what the input ended with.
    pub(super) fn read_last(&mut self, lines: &mut Lines) {
        if let Some(line) = lines.end() {
            self.line(line);
        }
    }

    /// Nobody waits for the running calls any more.
    pub(super) fn give_up(&mut self) {
        while let Some(running) = self.calls.pop() {
            self.outputs.push_back(Output::Cancelled(running.id));
            self.end_asks(running.id);
            self.over(running.batch);
        }
    }

    /// The server waits for the running calls no longer; the client is told.
    pub(super) fn refuse_calls(&mut self) {
        let error = shutting_down().error();
        while let Some(call) = self.calls.first() {
            self.outputs.push_back(Output::Cancelled(call));
            self.fail(call, &error);
        }
    }

    fn line(&mut self, line: Line<'_>) {
        let bytes = match line {
            Line::Line(bytes) => bytes,
            Line::TooLong { limit, .. } => {
                let message = alloc::format!("the message is longer than {limit} bytes");
                return self.refuse_noise(Refusal::plain(code::INVALID_REQUEST, message));
            }
        };
        let mut params = Params::default();
        match jsonrpc::read_noting(bytes, self.config.limits.depth, &mut params) {
            Ok(Incoming::Message(message)) => self.message(message, &mut params, None),
            Ok(Incoming::Batch(batch)) => self.batch(batch),
            Err(malformed) => self.malformed(malformed, None),
        }
    }

    fn message(&mut self, message: Message<'_>, params: &mut Params<'_>, batch: Option<u64>) {
        match message {
            Message::Request(request) => {
                if let Err(refusal) = self.request(&request, params, batch) {
                    self.refuse(Some(&request.id), refusal, batch);
                }
            }
            Message::Notification(notification) => self.notification(&notification),
            Message::Response(response) => {
                // Where nothing was asked: to answer an answer would never end.
                let diagnostic =
                    Diagnostic::new("jsonrpc", "expected no response to this request, found one");
                match ClientResponse::new(response) {
                    Some(response) => {
                        let diagnostic = diagnostic.request(&response.request);
                        if !self.answered(response) {
                            self.diagnose(diagnostic);
                        }
                    }
                    None => self.diagnose(diagnostic),
                }
            }
        }
    }

    fn malformed(&mut self, malformed: Malformed, batch: Option<u64>) {
        let refusal = Refusal::from(malformed.error);
        if malformed.response {
            if let Some(request) = malformed.id {
                self.answered(ClientResponse::unreadable(request, refusal.message.into_owned()));
            }
            self.diagnose(Diagnostic::new("jsonrpc", refusal.detail));
        } else if malformed.id.is_none() && batch.is_none() {
            self.refuse_noise(refusal);
        } else {
            self.refuse(malformed.id.as_ref(), refusal, batch);
        }
    }

    /// What came cannot be told from noise.
    fn refuse_noise(&mut self, refusal: Refusal) {
        if self.config.answer_noise {
            self.refuse(None, refusal, None);
        } else {
            self.diagnose(Diagnostic::new("jsonrpc", refusal.detail));
        }
    }

    fn batch(&mut self, messages: Batch<'_>) {
        let batching = self.session.as_ref().is_some_and(|session| session.revision.dialect().batching);
        if !batching {
            let message = "a message must be one object; only revision 2025-03-26 has batches";
            return self.refuse(None, Refusal::plain(code::INVALID_REQUEST, message), None);
        }
        if let Err(refusal) = dispatch::admit_batch(&self.config, messages.len()) {
            return self.refuse(None, refusal, None);
        }
        let batch = self.batches.begin();
        for message in messages {
            match message {
                Ok(message) => {
                    let mut params = match &message {
                        Message::Request(request) => Params::of(request.params),
                        _ => Params::default(),
                    };
                    self.message(message, &mut params, Some(batch));
                }
                Err(malformed) => self.malformed(malformed, Some(batch)),
            }
        }
        self.over(Some(batch));
    }

    fn request(
        &mut self,
        request: &Request<'_>,
        params: &mut Params<'_>,
        batch: Option<u64>,
    ) -> Result<(), Refusal> {
        if self.stopping {
            return Err(shutting_down());
        }
        if batch.is_some() && self.held() > self.config.limits.transmit {
            return Err(Refusal::plain(code::INTERNAL, "the answers to this batch are too large"));
        }
        let config = Arc::clone(&self.config);
        params.check()?;
        let params = &*params;
        let speech = match batch {
            // The whole batch is of the session that allows batches.
            Some(_) => Speech::Legacy,
            None if self.over_http => Speech::Legacy,
            None => dispatch::speech(&config, request, params, None)?,
        };
        let whole = request.params.map_or("", |params| params.get());
        let (era, revision) = match (speech, &self.session) {
            (Speech::Modern(revision), _) => (Era::Modern, revision),
            (Speech::Legacy, Some(session)) => (Era::Legacy, session.revision),
            (Speech::Legacy, None) => (Era::Legacy, dispatch::before_session(&config, request, params)?),
        };
        if batch.is_some() && request.method == "initialize" {
            return Err(Refusal::plain(code::INVALID_REQUEST, "`initialize` must not be in a batch"));
        }
        let viewer = self.viewer(era, revision, params);
        let way = (era, Transport::Stream);
        let plan = dispatch::plan(&config, way, viewer.as_ref(), request, params, whole);
        self.permit(&request.method, plan.as_ref().ok().and_then(Plan::target))?;
        match plan? {
            Plan::Initialize(params) => {
                let session = dispatch::open(&config, *params, 0)?;
                self.open(&request.id, session);
            }
            Plan::Call(draft) => {
                if self.is_used(&request.id) {
                    return Err(dispatch::id_in_use());
                }
                if self.calls.len() >= config.limits.in_flight {
                    return Err(dispatch::too_many(config.limits.in_flight));
                }
                if self.calls.size().saturating_add(draft.size(&request.id, whole))
                    > config.limits.in_flight_bytes
                {
                    return Err(dispatch::too_much(config.limits.in_flight_bytes));
                }
                let sequel = match draft.own() {
                    Some(Plan::Initialize(params)) => {
                        Some(Sequel::Open(Box::new(dispatch::open(&config, (**params).clone(), 0)?)))
                    }
                    Some(Plan::Listen(wanted)) => {
                        let both = self.subscription(request, params, revision, wanted.clone(), viewer);
                        Some(Sequel::Listen(Box::new(both)))
                    }
                    _ => None,
                };
                let (session, revision) = match &sequel {
                    Some(Sequel::Open(session)) => (Some(&**session), session.revision),
                    _ => (self.session.as_ref().filter(|_| era == Era::Legacy), revision),
                };
                let text = String::from(whole);
                let mut call = draft.call(request.id.clone(), revision, session, config.logging, text);
                call.principal.clone_from(&self.principal);
                let id = self.calls.begin(&call, batch, sequel);
                if let Some(batch) = batch {
                    self.batches.wait(batch);
                }
                self.outputs.push_back(Output::Call(id, call));
            }
            Plan::Listen(wanted) => {
                if self.is_used(&request.id) {
                    return Err(dispatch::id_in_use());
                }
                let (listen, subscription) = self.subscription(request, params, revision, wanted, viewer);
                self.listen(listen, subscription)?;
            }
            plan => {
                if let Some(session) = &mut self.session {
                    session.apply(&plan, &config.limits)?;
                }
                self.send(&request.id, batch, |out| {
                    dispatch::answer(&config, Transport::Stream, revision, &request.id, &plan, out)
                });
            }
        }
        Ok(())
    }

    /// Whether the client may use this method, and what it names. Whoever lacks what every request needs is not to learn
    /// what there is (AUTHS-15).
    fn permit(&self, method: &str, target: Option<&Target>) -> Result<(), Refusal> {
        let principal = self.principal.as_deref();
        if self.over_http {
            let server = self.config.http.resource_server.as_ref().map(ResourceServer::here);
            return resource_server::permit(server, principal, method, target);
        }
        target.map_or(Ok(()), |target| resource_server::permit_locally(principal, target))
    }

    /// A handshake succeeded.
    fn open(&mut self, request: &RequestId, session: SessionState) {
        let config = Arc::clone(&self.config);
        self.send(request, None, |out| {
            answers::initialize(&config, Transport::Stream, &session, request, out)
        });
        self.session = Some(session);
    }

    /// Who makes a request, where it matters.
    fn viewer(&self, era: Era, revision: Revision, params: &Params<'_>) -> Option<Viewer> {
        self.config.visible.as_ref()?;
        let principal = self.principal.clone();
        Some(match (era, &self.session) {
            (Era::Legacy, Some(session)) => session.viewer(principal),
            _ => Viewer::new(principal, Arc::new(ClientDetails::of(&params.meta)), revision),
        })
    }

    fn notification(&mut self, notification: &Notification<'_>) {
        if let Err(refusal) = self.permit(&notification.method, None) {
            return self.diagnose(Diagnostic::new("http", refusal.detail));
        }
        match dispatch::notice(&self.config, notification) {
            Notice::Initialized => match &mut self.session {
                Some(session) if !session.initialized => {
                    session.initialized = true;
                    self.outputs.push_back(Output::Initialized);
                }
                _ => self
                    .diagnose(Diagnostic::new("session", "expected `initialized` once, after `initialize`")),
            },
            Notice::Cancelled { request, reason } => {
                // Unknown and finished requests: the cancellation came too late, which is nobody's fault.
                if self.unlisten(&request) {
                    self.diagnose(dispatch::cancelled(&request, reason));
                } else if let Some(running) = self.calls.cancel(&request) {
                    self.outputs.push_back(Output::Cancelled(running.id));
                    self.end_asks(running.id);
                    self.diagnose(dispatch::cancelled(&request, reason));
                    self.over(running.batch);
                }
            }
            Notice::Other => self.outputs.push_back(Output::Notification {
                method: notification.method.to_string(),
                params: notification.params.map_or("{}", |params| params.get()).to_string(),
            }),
            Notice::Ignored(detail) => self.diagnose(Diagnostic::new("jsonrpc", detail)),
        }
    }

    pub(super) fn respond(&mut self, call: CallId, result: &dyn WriteResult) {
        if let Some(error) = self.calls.missing(call, result) {
            return self.fail(call, &error);
        }
        if let Some(misuse) = self.calls.unfit(call, result) {
            self.fail(call, &refusal::unwritable());
            return self.diagnose(Diagnostic::misuse(misuse));
        }
        let Some(running) = self.calls.finish(call) else { return };
        self.end_asks(call);
        let config = Arc::clone(&self.config);
        let Running { request, revision, batch, .. } = &running;
        self.send(request, *batch, |out| result.write_result(out, request, *revision, config.server_info()));
        self.over(*batch);
    }

    pub(super) fn fail(&mut self, call: CallId, error: &ErrorObject) {
        let Some(running) = self.calls.finish(call) else { return };
        self.end_asks(call);
        let error = refusal::in_revision(error, running.revision);
        self.write(running.batch, |out| jsonrpc::write_error(out, Some(&running.request), &error));
        self.over(running.batch);
    }

    pub(super) fn progress(&mut self, call: CallId, progress: &Progress) {
        if self.held() > self.config.limits.transmit {
            return;
        }
        let Some(running) = self.calls.get_mut(call) else { return };
        let out = self.transmit.buffer();
        if notify::progress(running, progress, out) {
            out.push(b'\n');
        }
    }

    pub(super) fn log(&mut self, call: CallId, message: &LoggingMessageNotificationParams) {
        if !self.config.logging || self.held() > self.config.limits.transmit {
            return;
        }
        let Some(running) = self.calls.get_mut(call) else { return };
        let least = match (running.revision.era(), &self.session) {
            (Era::Modern, _) => running.level,
            (Era::Legacy, session) => session.as_ref().map(|session| session.level),
        };
        let out = self.transmit.buffer();
        match notify::log(running, least, message, out) {
            Ok(true) => out.push(b'\n'),
            Ok(false) => {}
            Err(misuse) => {
                let diagnostic = Diagnostic::misuse(misuse).request(&running.request);
                self.diagnose(diagnostic);
            }
        }
    }

    pub(super) fn notify(&mut self, call: CallId, method: &str, params: &Json) {
        if self.held() > self.config.limits.transmit {
            return;
        }
        let Some(running) = self.calls.get_mut(call) else { return };
        let out = self.transmit.buffer();
        match notify::custom(method, params, out) {
            Ok(()) => out.push(b'\n'),
            Err(misuse) => {
                let diagnostic = Diagnostic::misuse(misuse).request(&running.request);
                self.diagnose(diagnostic);
            }
        }
    }

    pub(super) fn proceed(&mut self, call: CallId) {
        let Some(request) = self.calls.protocol(call) else { return };
        let sequel = self.calls.take_sequel(call);
        let Some(Running { request: id, revision, batch, .. }) = self.calls.finish(call) else { return };
        self.end_asks(call);
        let config = Arc::clone(&self.config);
        let applied = match (sequel, &mut self.session) {
            (Some(Sequel::Open(session)), _) => return self.open(&id, *session),
            (Some(Sequel::Listen(both)), _) => {
                let (listen, subscription) = *both;
                match self.listen(listen, subscription) {
                    Ok(()) => return,
                    Err(refusal) => Err(refusal),
                }
            }
            (None, Some(session)) => session.apply(&request.plan, &config.limits),
            (None, None) => Ok(()),
        };
        match applied {
            Ok(()) => self.send(&id, batch, |out| {
                dispatch::answer(&config, Transport::Stream, revision, &id, &request.plan, out)
            }),
            Err(refusal) => self.refuse(Some(&id), refusal, batch),
        }
        self.over(batch);
    }

    /// Writes a response, on a line of its own or into its batch. One that cannot be written becomes an
    /// internal error.
    pub(super) fn send(
        &mut self,
        id: &RequestId,
        batch: Option<u64>,
        write: impl FnOnce(&mut Vec<u8>) -> Result<(), ApiMisuse>,
    ) {
        let mut failed = None;
        self.write(batch, |out| {
            if let Err(misuse) = write(out) {
                jsonrpc::write_error(out, Some(id), &refusal::unwritable());
                failed = Some(misuse);
            }
        });
        if let Some(misuse) = failed {
            self.diagnose(Diagnostic::misuse(misuse).request(id));
        }
    }

    fn write(&mut self, batch: Option<u64>, write: impl FnOnce(&mut Vec<u8>)) {
        match batch {
            Some(batch) => self.batches.answer(batch, write),
            None => {
                let out = self.transmit.buffer();
                write(out);
                out.push(b'\n');
            }
        }
    }

    /// Answers with an error, and tells this side.
    pub(super) fn refuse(&mut self, id: Option<&RequestId>, refusal: Refusal, batch: Option<u64>) {
        let revision = self.session.as_ref().map(|session| session.revision);
        self.write(batch, |out| refusal.write(out, id, revision));
        let diagnostic = Diagnostic::new("jsonrpc", refusal.detail);
        self.diagnose(match id {
            Some(id) => diagnostic.request(id),
            None => diagnostic,
        });
    }

    pub(super) fn diagnose(&mut self, diagnostic: Diagnostic) {
        self.outputs.push_back(Output::Diagnostic(diagnostic));
    }

    /// A call of the batch is over, or its messages are read.
    fn over(&mut self, batch: Option<u64>) {
        if let Some(batch) = batch {
            let out = self.transmit.buffer();
            if self.batches.finish(batch, out) == Finished::Written {
                out.push(b'\n');
            }
        }
    }
}

/// What is asked of a server that stops.
pub(super) fn shutting_down() -> Refusal {
    Refusal::plain(code::INTERNAL, "the server is shutting down")
}
