//! From the body of a request to its answer, with the session in between where there is one.

use alloc::boxed::Box;
use alloc::string::{String, ToString};
use alloc::sync::Arc;
use alloc::vec::Vec;
use core::fmt;

use super::ask::unexpected;
use super::batch::{calls_of, no_batches};
use super::{Exchange, ExchangeOutput, Stage};
use crate::diagnostic::Diagnostic;
use crate::dialect::{Era, Revision};
use crate::error::{ApiMisuse, code};
use crate::head::Headers;
use crate::server::answers;
use crate::server::asks::ClientResponse;
use crate::server::config::Transport;
use crate::server::dispatch::{self, Draft, Notice, Plan, Speech};
use crate::server::headers;
use crate::server::in_flight::Sequel;
use crate::server::params::Params;
use crate::server::refusal::{self, Refusal};
use crate::server::session::{ClientDetails, SessionState};
use crate::server::sessions::{SessionAnswer, SessionId, SessionQuery};
use crate::server::subscription::{Listen, Subscription, too_many_listen, too_many_watched};
use crate::server::target::Target;
use crate::server::visible::Viewer;
use crate::wanted::Wanted;
use crate::wire::jsonrpc::{self, Incoming, Malformed, Message, Notification, Request, RequestId};

/// What waits for the answer of the session table.
pub(super) enum Ask {
    /// A handshake, for its session to be open.
    Open { id: RequestId, state: SessionState },
    /// A call, to be noted as running.
    Call { id: RequestId, draft: Draft, text: String },
    /// A request that is answered here.
    Answer { id: RequestId, plan: Plan },
    /// A request that is refused, unless its session is what is wrong with it.
    Refuse { id: RequestId, refusal: Refusal },
    /// A notification or a response, with what is to be told of it.
    Accept(Option<Box<ExchangeOutput>>),
    /// A batch, for the revision of its session.
    Batch(String),
    /// A request, for whoever opened its session.
    Late(String),
    /// A stream to listen on.
    Listen,
    /// The end of the session.
    Delete,
}

/// Prints what it is, and no message.
impl fmt::Debug for Ask {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let kind = match self {
            Self::Open { .. } => "Open",
            Self::Call { .. } => "Call",
            Self::Answer { .. } => "Answer",
            Self::Refuse { .. } => "Refuse",
            Self::Accept(_) => "Accept",
            Self::Batch(_) => "Batch",
            Self::Late(_) => "Late",
            Self::Listen => "Listen",
            Self::Delete => "Delete",
        };
        match self.id() {
            Some(id) => write!(f, "{kind}({id})"),
            None => f.write_str(kind),
        }
    }
}

impl Ask {
    /// The request that is answered in the end, if it is one.
    pub(super) fn id(&self) -> Option<&RequestId> {
        match self {
            Self::Open { id, .. }
            | Self::Call { id, .. }
            | Self::Answer { id, .. }
            | Self::Refuse { id, .. } => Some(id),
            Self::Accept(_) | Self::Batch(_) | Self::Late(_) | Self::Listen | Self::Delete => None,
        }
    }

    /// Whether nothing is left to be done once the table was asked but to answer the client.
    pub(super) fn is_for_its_answer(&self) -> bool {
        matches!(self, Self::Answer { .. } | Self::Refuse { .. } | Self::Listen)
    }
}

/// What is to be done about a body, without a loan of it.
enum Verdict {
    /// Ask the session table first.
    Ask(SessionQuery, Asked),
    /// Answer a modern request.
    Answer { id: RequestId, revision: Revision, plan: Plan },
    /// Let the client listen, if it may.
    Listen(Listen, Box<Subscription>),
    /// Hand a call out that needs no session.
    Call { id: RequestId, revision: Revision, draft: Draft, sequel: Option<Sequel> },
    /// Nothing is to be answered.
    Accept(Option<Box<ExchangeOutput>>),
}

/// Like [`Ask`], as far as it can be told before the body is given away.
enum Asked {
    Call { id: RequestId, draft: Draft },
    Batch,
    Late,
    Other(Ask),
}

/// A refusal, the request that it answers and the era to answer in.
type Refused = (Option<RequestId>, Era, Refusal);

impl Exchange {
    pub(super) fn serve(&mut self, body: Vec<u8>) {
        let Ok(text) = String::from_utf8(body) else {
            let refusal = Refusal::plain(code::PARSE, "the message is not UTF-8");
            return self.refuse(None, Era::Modern, &refusal);
        };
        self.serve_text(text);
    }

    fn serve_text(&mut self, text: String) {
        match self.judge(&text) {
            Ok(Verdict::Ask(query, asked)) => {
                let ask = match asked {
                    Asked::Call { id, draft } => Ask::Call { id, draft, text },
                    Asked::Batch => Ask::Batch(text),
                    Asked::Late => Ask::Late(text),
                    Asked::Other(ask) => ask,
                };
                self.ask_for(query, ask);
            }
            Ok(Verdict::Answer { id, revision, plan }) => self.answer(&id, revision, &plan),
            Ok(Verdict::Call { id, revision, draft, sequel }) => {
                let state = match &sequel {
                    Some(Sequel::Open(state)) => Some(&**state),
                    _ => None,
                };
                let call = draft.call(id, revision, state, self.config.logging, text);
                self.begin(call, None, sequel);
            }
            Ok(Verdict::Listen(listen, subscription)) => self.listen(listen, subscription),
            Ok(Verdict::Accept(told)) => self.accept(told),
            Err((id, era, refusal)) => self.refuse(id.as_ref(), era, &refusal),
        }
    }

    /// A DELETE ends the session that it names.
    pub(super) fn delete(&mut self) {
        let session = self
            .permit("", None)
            .and_then(|()| headers::check_legacy_version(&self.head.headers, &self.config))
            .and_then(|()| self.session.clone().ok_or_else(no_session));
        match session {
            Ok(session) => {
                self.ask_for(SessionQuery::End { session }, Ask::Delete);
            }
            Err(refusal) => self.refuse(None, Era::Legacy, &refusal),
        }
    }

    fn judge(&self, text: &str) -> Result<Verdict, Refused> {
        let mut params = Params::default();
        match jsonrpc::read_text_noting(text, self.config.limits.depth, &mut params) {
            Ok(Incoming::Message(Message::Request(request))) => self
                .judge_request(&request, params, text)
                .map_err(|(era, refusal)| (Some(request.id), era, refusal)),
            Ok(Incoming::Message(Message::Notification(notification))) => {
                self.judge_notification(&notification).map_err(|refusal| (None, Era::Legacy, refusal))
            }
            Ok(Incoming::Message(Message::Response(response))) => match self.permitted_session()? {
                Some(session) => {
                    let told = unexpected();
                    let (query, told) = match ClientResponse::new(response) {
                        Some(response) => {
                            let told = told.request(&response.request);
                            (SessionQuery::Answer { session, response }, told)
                        }
                        None => (SessionQuery::Load { session }, told),
                    };
                    let ask = Ask::Accept(Some(Box::new(ExchangeOutput::Diagnostic(told))));
                    Ok(Verdict::Ask(query, Asked::Other(ask)))
                }
                None => {
                    let message = "a response is only expected within a session";
                    Err((None, Era::Modern, Refusal::plain(code::INVALID_REQUEST, message)))
                }
            },
            Ok(Incoming::Batch(messages)) => match self.permitted_session()? {
                Some(session) => {
                    let admitted = dispatch::admit_batch(&self.config, messages.len());
                    admitted.map_err(|refusal| (None, Era::Legacy, refusal))?;
                    let (requests, exchange) = (calls_of(&self.config, messages), self.id);
                    Ok(Verdict::Ask(SessionQuery::BeginBatch { session, requests, exchange }, Asked::Batch))
                }
                None => Err((None, Era::Modern, no_batches())),
            },
            Err(Malformed { id: Some(id), error, response: true }) => match self.permitted_session()? {
                // Whoever waits for it need not wait any longer.
                Some(session) => {
                    let response = ClientResponse::unreadable(id.clone(), error.message.clone().into_owned());
                    let ask = Ask::Refuse { id, refusal: Refusal::from(error) };
                    Ok(Verdict::Ask(SessionQuery::Answer { session, response }, Asked::Other(ask)))
                }
                None => Err((Some(id), Era::Modern, Refusal::from(error))),
            },
            Err(Malformed { id, error, .. }) => Err((id, Era::Modern, Refusal::from(error))),
        }
    }

    /// The session of a message that is no single request. Its sender must be let in like that of any other, under
    /// a revision that is served (HTTPL-56).
    fn permitted_session(&self) -> Result<Option<SessionId>, Refused> {
        let Some(session) = self.legacy_session() else { return Ok(None) };
        headers::check_legacy_version(&self.head.headers, &self.config)
            .and_then(|()| self.permit("", None))
            .map_err(|refusal| (None, Era::Legacy, refusal))?;
        Ok(Some(session))
    }

    /// The session that the client named, if there are sessions and the head does not claim the era that has
    /// none (HTTP-26).
    fn legacy_session(&self) -> Option<SessionId> {
        let legacy = self.config.revisions.speak(Era::Legacy);
        let modern = self.config.revisions.speak(Era::Modern) && headers::claim_modern(&self.head.headers);
        let session = self.session.clone().or_else(|| self.no_session_needed());
        session.filter(|_| legacy && !modern)
    }

    fn judge_request(
        &self,
        request: &Request<'_>,
        mut params: Params<'_>,
        text: &str,
    ) -> Result<Verdict, (Era, Refusal)> {
        let config = &*self.config;
        let modern = |refusal| (Era::Modern, refusal);
        params.check().map_err(|refusal| {
            // Then nobody can read what a modern request must say, either (META-13).
            let claimed = headers::claim_modern(&self.head.headers);
            modern(if claimed { refusal.with_status(400) } else { refusal })
        })?;
        match dispatch::speech(config, request, &params, Some(&self.head.headers)).map_err(modern)? {
            Speech::Modern(revision) => self.judge_modern(request, &params, revision, text).map_err(modern),
            Speech::Legacy => {
                self.judge_legacy(request, &params, text).map_err(|refusal| (Era::Legacy, refusal))
            }
        }
    }

    fn judge_modern(
        &self,
        request: &Request<'_>,
        params: &Params<'_>,
        revision: Revision,
        text: &str,
    ) -> Result<Verdict, Refusal> {
        headers::check_method(&self.head.headers, &request.method)?;
        if let Some(name) = dispatch::name_of(&self.config, request, params)? {
            headers::check_name(&self.head.headers, &name)?;
        }
        let id = request.id.clone();
        let viewer = self.config.visible.as_ref().map(|_| {
            let client = Arc::new(ClientDetails::of(&params.meta));
            Viewer::new(self.principal.clone(), client, revision)
        });
        let way = (Era::Modern, Transport::Http);
        let plan = dispatch::plan(&self.config, way, viewer.as_ref(), request, params, text);
        self.permit(&request.method, plan.as_ref().ok().and_then(Plan::target))?;
        let subscribed = |id, wanted: Wanted| {
            let client = Arc::new(ClientDetails::of(&params.meta));
            let listen = Listen::new(wanted.clone(), self.principal.clone(), client, revision);
            (listen, Subscription::new(id, revision, wanted, viewer.clone()))
        };
        Ok(match plan? {
            Plan::Call(draft) => {
                if let Target::Tool(tool) = &draft.target {
                    headers::check_mirrored(&self.head.headers, tool, draft.arguments(text))?;
                }
                let sequel = match draft.own() {
                    Some(Plan::Listen(wanted)) => {
                        Some(Sequel::Listen(Box::new(subscribed(id.clone(), wanted.clone()))))
                    }
                    _ => None,
                };
                Verdict::Call { id, revision, draft, sequel }
            }
            Plan::Listen(wanted) => {
                let (listen, subscription) = subscribed(id, wanted);
                Verdict::Listen(listen, Box::new(subscription))
            }
            plan => Verdict::Answer { id, revision, plan },
        })
    }

    fn judge_legacy(
        &self,
        request: &Request<'_>,
        params: &Params<'_>,
        text: &str,
    ) -> Result<Verdict, Refusal> {
        headers::check_legacy_version(&self.head.headers, &self.config)?;
        let id = request.id.clone();
        let differs = self.config.visible.is_some() && request.method != "initialize";
        if differs && self.state.is_none() {
            // What is there depends on whose session it is.
            let session = self.session.clone().or_else(|| self.no_session_needed());
            let session = session.ok_or_else(no_session)?;
            return Ok(Verdict::Ask(SessionQuery::Load { session }, Asked::Late));
        }
        let viewer = self.state.as_ref().filter(|_| differs);
        let viewer = viewer.map(|state| state.viewer(self.principal.clone()));
        let way = (Era::Legacy, Transport::Http);
        let plan = dispatch::plan(&self.config, way, viewer.as_ref(), request, params, text);
        self.permit(&request.method, plan.as_ref().ok().and_then(Plan::target))?;
        let plan = match plan {
            Ok(plan) if self.config.http.stateless && plan.needs_session() => {
                return Err(dispatch::unknown_method(Era::Legacy, &request.method));
            }
            Ok(Plan::Initialize(params)) => {
                let state = dispatch::open(&self.config, *params, self.caller().size())?;
                let ask = Ask::Open { id, state: state.clone() };
                return Ok(Verdict::Ask(SessionQuery::Open { state }, Asked::Other(ask)));
            }
            Ok(Plan::Call(draft)) if let Some(params) = draft.handshake() => {
                let state = dispatch::open(&self.config, params, self.caller().size())?;
                let (revision, sequel) = (state.revision, Some(Sequel::Open(Box::new(state))));
                return Ok(Verdict::Call { id, revision, draft, sequel });
            }
            Err(refusal) if request.method == "initialize" => return Err(refusal),
            plan => plan,
        };
        let session = self.session.clone().or_else(|| self.no_session_needed()).ok_or_else(no_session)?;
        let (query, asked) = match plan {
            Ok(Plan::Call(draft)) => {
                let (request, exchange) = (id.clone(), self.id);
                (SessionQuery::Begin { session, request, exchange }, Asked::Call { id, draft })
            }
            Ok(plan) => {
                let query = SessionQuery::of(&plan, session.clone());
                let query = query.unwrap_or(SessionQuery::Load { session });
                (query, Asked::Other(Ask::Answer { id, plan }))
            }
            Err(refusal) => (SessionQuery::Load { session }, Asked::Other(Ask::Refuse { id, refusal })),
        };
        Ok(Verdict::Ask(query, asked))
    }

    fn judge_notification(&self, notification: &Notification<'_>) -> Result<Verdict, Refusal> {
        self.permit(&notification.method, None)?;
        let notice = dispatch::notice(&self.config, notification);
        let Some(session) = self.legacy_session() else {
            // Modern clients cancel by closing the stream, and have nothing else to tell but what the
            // application listens to. Their notifications are let in without headers, which are not defined for them.
            let modern = self.config.revisions.speak(Era::Modern)
                && (headers::claim_modern(&self.head.headers) || !self.config.revisions.speak(Era::Legacy));
            let told = (notice == Notice::Other).then(|| Box::new(told(notification)));
            return if modern { Ok(Verdict::Accept(told)) } else { Err(no_session()) };
        };
        headers::check_legacy_version(&self.head.headers, &self.config)?;
        let (query, told) = match notice {
            Notice::Initialized => (SessionQuery::Initialized { session }, Some(ExchangeOutput::Initialized)),
            Notice::Cancelled { request, reason } => {
                let told = ExchangeOutput::Diagnostic(dispatch::cancelled(&request, reason));
                (SessionQuery::Cancel { session, request }, Some(told))
            }
            Notice::Other => (SessionQuery::Load { session }, Some(told(notification))),
            Notice::Ignored(detail) => {
                let told = ExchangeOutput::Diagnostic(Diagnostic::new("jsonrpc", detail));
                (SessionQuery::Load { session }, Some(told))
            }
        };
        Ok(Verdict::Ask(query, Asked::Other(Ask::Accept(told.map(Box::new)))))
    }

    /// Goes on where the session table was asked.
    pub(super) fn resume(&mut self, ask: Ask, answer: SessionAnswer) {
        let id = ask.id().cloned();
        let refusal = match (ask, answer) {
            (Ask::Open { id, state }, SessionAnswer::Opened { session }) => {
                return self.opened(&id, &state, session);
            }
            (Ask::Call { id, draft, text }, SessionAnswer::Begun { state, stream }) => {
                self.keep(stream, state.revision, Some(id.clone()));
                let call = draft.call(
                    id,
                    state.revision,
                    Some(&state),
                    self.config.logging && !self.config.http.stateless,
                    text,
                );
                self.state = Some(state);
                return self.begin(call, None, None);
            }
            (Ask::Answer { id, plan }, SessionAnswer::Loaded { state }) => {
                return self.answer(&id, state.revision, &plan);
            }
            (
                Ask::Refuse { refusal, .. },
                SessionAnswer::Loaded { .. } | SessionAnswer::Delivered | SessionAnswer::Done,
            ) => refusal,
            (Ask::Accept(Some(told)), SessionAnswer::Done)
                if matches!(*told, ExchangeOutput::Initialized) =>
            {
                let again = Diagnostic::new("session", "expected `initialized` once, found it again");
                return self.accept(Some(Box::new(ExchangeOutput::Diagnostic(again))));
            }
            (Ask::Accept(_), SessionAnswer::Delivered) => return self.accept(None),
            (Ask::Accept(told), SessionAnswer::Loaded { .. } | SessionAnswer::Done) => {
                return self.accept(told);
            }
            (Ask::Batch(text), SessionAnswer::Begun { state, stream }) => {
                self.keep(stream, state.revision, None);
                return self.batch(&text, state);
            }
            (Ask::Late(text), SessionAnswer::Loaded { state }) => {
                self.state = Some(state);
                return self.serve_text(text);
            }
            (Ask::Listen, SessionAnswer::Listening(listening)) => return self.carry(&listening),
            (Ask::Listen, SessionAnswer::UnknownEvent) => {
                let message = "`Last-Event-ID` names no event after which a stream of this session can go on";
                Refusal::plain(code::INVALID_REQUEST, message)
            }
            (Ask::Delete, SessionAnswer::Done) => {
                let head = self.reply.nothing(204);
                self.outputs.extend(head);
                return;
            }
            (_, answer) => self.refusal_of(&answer),
        };
        self.refuse(id.as_ref(), Era::Legacy, &refusal);
    }

    /// Why the table did not do what it was asked.
    pub(super) fn refusal_of(&self, answer: &SessionAnswer) -> Refusal {
        match answer {
            SessionAnswer::Missing => {
                Refusal::plain(code::INVALID_REQUEST, "there is no such session; `initialize` again")
                    .with_status(404)
            }
            SessionAnswer::Full => {
                Refusal::plain(code::INTERNAL, "too many sessions are open").with_status(503)
            }
            SessionAnswer::Unavailable => {
                Refusal::plain(code::INTERNAL, "the sessions cannot be reached").with_status(503)
            }
            SessionAnswer::TooManyListen => too_many_listen(),
            SessionAnswer::Busy => dispatch::too_many(self.config.limits.in_flight),
            SessionAnswer::TooManyWatched => too_many_watched(&self.config.limits),
            SessionAnswer::InUse => dispatch::id_in_use(),
            // Something else than what was asked.
            _ => Refusal::plain(code::INTERNAL, "the session could not be asked").with_status(500),
        }
    }

    fn opened(&mut self, id: &RequestId, state: &SessionState, session: SessionId) {
        if self.reply.has_left() {
            // Nobody will ever learn its name.
            self.query(SessionQuery::End { session });
            return;
        }
        if !self.config.http.stateless {
            self.reply.add(Headers::new().with(headers::SESSION, session.as_str()));
        }
        let config = Arc::clone(&self.config);
        self.write(id, |out| answers::initialize(&config, Transport::Http, state, id, out));
    }

    fn answer(&mut self, id: &RequestId, revision: Revision, plan: &Plan) {
        let config = Arc::clone(&self.config);
        self.write(id, |out| dispatch::answer(&config, Transport::Http, revision, id, plan, out));
    }

    fn accept(&mut self, told: Option<Box<ExchangeOutput>>) {
        let head = self.reply.accept();
        self.outputs.extend(head);
        self.outputs.extend(told.map(|told| *told));
        self.stage = Stage::Answered;
    }

    /// The answer to the only request. One that cannot be written becomes an internal error.
    pub(super) fn write(
        &mut self,
        id: &RequestId,
        write: impl FnOnce(&mut Vec<u8>) -> Result<(), ApiMisuse>,
    ) {
        let mut failed = None;
        let head = self.reply.answer(|out| {
            if let Err(misuse) = write(out) {
                jsonrpc::write_error(out, Some(id), &refusal::unwritable());
                failed = Some(misuse);
            }
        });
        self.outputs.extend(head);
        self.stage = Stage::Answered;
        if let Some(misuse) = failed {
            self.diagnose(Diagnostic::misuse(misuse).request(id));
        }
    }
}

/// What the application is told of a notification.
pub(super) fn told(notification: &Notification<'_>) -> ExchangeOutput {
    ExchangeOutput::Notification {
        method: notification.method.to_string(),
        params: notification.params.map_or("{}", |params| params.get()).to_string(),
    }
}

fn no_session() -> Refusal {
    Refusal::plain(
        code::INVALID_REQUEST,
        "the `Mcp-Session-Id` header is missing; `initialize` first, or send modern metadata in `params._meta`",
    )
}
