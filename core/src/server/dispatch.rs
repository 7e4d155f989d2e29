//! From a message to what is to be done about it. The same for byte streams and for HTTP; those two differ in
//! where state lives and in how an answer travels, and nothing of that is here.

use alloc::borrow::{Cow, ToOwned};
use alloc::boxed::Box;
use alloc::string::String;
use alloc::sync::Arc;
use alloc::vec::Vec;
use core::fmt;

use serde::Deserialize;
use serde_json::value::RawValue;

use super::answers;
use super::call::{Call, Checks, Retry, Spans, span};
use super::catalog::{Catalog, Position};
use super::config::{Config, Transport};
use super::custom::TOLD;
use super::find;
use super::headers;
use super::params::Params;
use super::received::Received;
use super::refusal::Refusal;
use super::session::SessionState;
use super::subscription;
use super::target::{ProtocolRequest, Target};
use super::tasks;
use super::visible::{View, Viewer};
use crate::diagnostic::Diagnostic;
use crate::dialect::{Era, Revision};
use crate::error::{ApiMisuse, PeerError, code};
use crate::head::{Field, Headers};
use crate::model::error_data::UnsupportedProtocolVersionData;
use crate::model::lifecycle::InitializeRequestParams;
use crate::model::logging::LoggingLevel;
use crate::model::meta::RequestMeta;
use crate::model::{In, Json};
use crate::text;
use crate::wanted::Wanted;
use crate::wire::jsonrpc::{self, Notification, ProgressToken, Request, RequestId};

/// The language that a request speaks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Speech {
    /// Says everything itself, in this revision.
    Modern(Revision),
    /// Relies on a handshake, or is one.
    Legacy,
}

/// Which language `request` speaks: modern metadata decides, whatever came before on the same connection
/// (VER-08).
///
/// Over HTTP the head says it too. Where that names a modern revision, or one not known here, the body must do
/// so as well, even if it says nothing at all (META-12). That both agree is judged before whether the
/// revision is served.
pub(super) fn speech(
    config: &Config,
    request: &Request<'_>,
    params: &Params<'_>,
    head: Option<&Headers>,
) -> Result<Speech, Refusal> {
    judge(config, params, head).map_err(|refusal| {
        if request.method != "initialize" || config.revisions.speak(Era::Legacy) {
            return refusal;
        }
        // The only text that a legacy client may ever show to its user (VER-21).
        refusal.with_data(versions(config, None))
    })
}

fn judge(config: &Config, params: &Params<'_>, head: Option<&Headers>) -> Result<Speech, Refusal> {
    let legacy = config.revisions.speak(Era::Legacy);
    if !config.revisions.speak(Era::Modern) {
        return Ok(Speech::Legacy);
    }
    let meta = &params.meta;
    // Over HTTP what is unreadable is answered like what is not there (META-13).
    let said = meta.protocol_version().map_err(bad_request)?;
    let claimed = said.is_some()
        || meta.client_capabilities().map_err(bad_request)?.is_some()
        || head.is_some_and(headers::claim_modern);
    if legacy && !claimed {
        return Ok(Speech::Legacy);
    }
    let version = match (said, head) {
        // Nothing in the body to compare with: what is missing there is told first, if the head is there.
        (None, Some(head)) if !head.has(Field::ProtocolVersion) => {
            return Err(headers::missing(headers::PROTOCOL_VERSION));
        }
        _ => required(meta)?.0,
    };
    if let Some(head) = head {
        headers::check_version(head, &version)?;
    }
    Ok(match Revision::parse(&version) {
        Some(revision) if revision.era() == Era::Modern && config.revisions.contains(revision) => {
            Speech::Modern(revision)
        }
        _ => return Err(unsupported(config, &version)),
    })
}

/// What every modern request must say (META-12). Over HTTP a lack of it is answered 400 (META-13).
pub(super) fn required<'a>(meta: &RequestMeta<'a>) -> Result<(Cow<'a, str>, &'a RawValue), Refusal> {
    meta.required().map_err(bad_request)
}

fn bad_request(error: PeerError) -> Refusal {
    Refusal::from(error).with_status(400)
}

/// The requested version is not served; tells which ones are (VER-01).
pub(super) fn unsupported(config: &Config, requested: &str) -> Refusal {
    const SHOWN: usize = 64;
    let requested: String = requested.chars().take(SHOWN).collect();
    let message = "Unsupported protocol version";
    Refusal::plain(code::UNSUPPORTED_PROTOCOL_VERSION, message).with_data(versions(config, Some(&requested)))
}

fn versions(config: &Config, requested: Option<&str>) -> Option<Box<RawValue>> {
    let supported: Vec<Revision> = config.revisions.iter().collect();
    let mut data = UnsupportedProtocolVersionData::new(&supported, "");
    data.requested = requested.map(ToOwned::to_owned);
    Json::new(&In(Revision::LATEST, &data)).ok().map(Into::into)
}

/// What a request asks for, decoded and found to be in order.
pub(super) enum Plan {
    /// Open a legacy session with these.
    Initialize(Box<InitializeRequestParams>),
    Ping,
    Discover,
    /// The page of a list that begins after this position, for whoever looks.
    List(List, Position, Option<Box<Viewer>>),
    SetLevel(LoggingLevel),
    /// Tell of updates of this resource from now on.
    Watch(Arc<str>),
    /// No longer.
    Unwatch(Arc<str>),
    /// Tell of these changes, as long as the request lasts.
    Listen(Wanted),
    Call(Draft),
}

/// Prints what is asked for, and with which parameters only as far as they are none of the client's own.
impl fmt::Debug for Plan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Initialize(params) => f.debug_tuple("Initialize").field(&params.protocol_version).finish(),
            Self::Ping => f.write_str("Ping"),
            Self::Discover => f.write_str("Discover"),
            Self::List(list, ..) => f.debug_tuple("List").field(list).finish(),
            Self::SetLevel(level) => f.debug_tuple("SetLevel").field(level).finish(),
            Self::Watch(_) => f.write_str("Watch"),
            Self::Unwatch(_) => f.write_str("Unwatch"),
            Self::Listen(wanted) => f.debug_tuple("Listen").field(wanted).finish(),
            Self::Call(draft) => f.debug_tuple("Call").field(&draft.target.method()).finish(),
        }
    }
}

impl Plan {
    /// What is asked for by name.
    pub(super) fn target(&self) -> Option<&Target> {
        if let Self::Call(draft) = self { Some(&draft.target) } else { None }
    }

    /// Whether it changes a session, and is nothing without one.
    pub(super) fn needs_session(&self) -> bool {
        match self {
            Self::Call(draft) => draft.own().is_some_and(Self::needs_session),
            plan => matches!(plan, Self::SetLevel(_) | Self::Watch(_) | Self::Unwatch(_)),
        }
    }
}

/// The lists of a server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum List {
    Tools,
    Prompts,
    Resources,
    Templates,
}

/// A call that still lacks its text and what its session says.
#[derive(Debug)]
pub(super) struct Draft {
    pub(super) target: Target,
    token: Option<ProgressToken>,
    level: Option<LoggingLevel>,
    checks: Checks,
    spans: Spans,
}

/// What is to be done about `request`. `whole` is the text that its parameters lie in, which the call will own.
pub(super) fn plan(
    config: &Config,
    (era, transport): (Era, Transport),
    viewer: Option<&Viewer>,
    request: &Request<'_>,
    params: &Params<'_>,
    whole: &str,
) -> Result<Plan, Refusal> {
    let most = config.limits.id;
    if request.id.size() > most {
        return Err(Refusal::plain(
            code::INVALID_REQUEST,
            alloc::format!("the id is longer than {most} bytes"),
        ));
    }
    let plan = plan_own(View::new(config, viewer), (era, transport), request, params, whole)?;
    if !config.hand_out_all {
        return Ok(plan);
    }
    match ProtocolRequest::new(plan) {
        Ok(own) => {
            draft(config, era, request, params, whole, Target::Protocol(Arc::new(own))).map(Plan::Call)
        }
        Err(plan) => Ok(plan),
    }
}

fn plan_own(
    view: View<'_>,
    (era, transport): (Era, Transport),
    request: &Request<'_>,
    params: &Params<'_>,
    whole: &str,
) -> Result<Plan, Refusal> {
    let config = view.config;
    let (tools, prompts) = (config.has_tools(), config.has_prompts());
    let delivered = config.delivers(era, transport);
    let resources = config.has_resources();
    let list = |list, position: Result<_, _>| {
        position.map(|position| Plan::List(list, position, view.viewer().cloned().map(Box::new)))
    };
    let call = |target: Result<_, _>| draft(config, era, request, params, whole, target?).map(Plan::Call);
    match (era, &*request.method) {
        (Era::Legacy, "initialize") => {
            let params = jsonrpc::decode(request.params, "params")?;
            Ok(Plan::Initialize(Box::new(params)))
        }
        (Era::Legacy, "ping") => Ok(Plan::Ping),
        (Era::Modern, "server/discover") => Ok(Plan::Discover),
        (Era::Legacy, "logging/setLevel") if config.logging => {
            let level = params.level.ok_or_else(|| missing("level"))?;
            Ok(Plan::SetLevel(jsonrpc::decode_at(level.get(), "params.level")?))
        }
        (_, "tools/list") if tools => list(List::Tools, position(&config.tools.catalog, params)),
        (_, "tools/call") if tools => call(find::tool(&view, era, params)),
        (_, "prompts/list") if prompts => list(List::Prompts, position(&config.prompts.catalog, params)),
        (_, "prompts/get") if prompts => call(find::prompt(&view, params)),
        (_, "resources/list") if resources => {
            list(List::Resources, position(&config.resources.catalog, params))
        }
        (_, "resources/templates/list") if resources => {
            list(List::Templates, position(&config.templates.catalog, params))
        }
        (_, "resources/read") if resources => call(find::resource(&view, era, params)),
        (Era::Legacy, "resources/subscribe") if resources && config.subscriptions && delivered => {
            let uri = find::watched(&view, era, params)?;
            Ok(Plan::Watch(uri))
        }
        (Era::Legacy, "resources/unsubscribe") if resources && config.subscriptions && delivered => {
            Ok(Plan::Unwatch(find::uri(params)?))
        }
        (Era::Modern, "subscriptions/listen") if config.listens() && delivered => {
            let wanted = jsonrpc::decode(request.params, "params")?;
            subscription::honoured(&view, wanted, &params.meta).map(Plan::Listen)
        }
        (_, "completion/complete") if config.completions => call(find::completion(&view, params)),
        (Era::Modern, method) if config.tasks && tasks::METHODS.contains(&method) => {
            call(find::task(method, params))
        }
        (Era::Modern, "initialize") if !config.revisions.speak(Era::Legacy) => {
            let message = "there is no `initialize` here: the supported protocol versions come without one";
            Err(Refusal::plain(code::METHOD_NOT_FOUND, message).with_data(versions(config, None)))
        }
        (era, method) => {
            if let Some(custom) = view.method(method) {
                return call(Ok(Target::Custom(Arc::clone(custom))));
            }
            Err(unknown_method(era, method))
        }
    }
}

/// There is no such method, in this era or on this server.
pub(super) fn unknown_method(era: Era, method: &str) -> Refusal {
    let detail = alloc::format!("expected a method of the {era} era, found `{}`", text::excerpt(method));
    Refusal::new(code::METHOD_NOT_FOUND, "Method not found", detail)
}

/// Whether a request of this method may become a call.
pub(super) fn may_be_call(config: &Config, method: &str) -> bool {
    match method {
        "tools/call" | "prompts/get" | "resources/read" | "completion/complete" => true,
        method => config.hand_out_all || config.custom.get(method).is_some(),
    }
}

/// A member of `params` is missing.
pub(super) fn missing(member: &str) -> Refusal {
    Refusal::plain(code::INVALID_PARAMS, alloc::format!("params.{member}: missing"))
}

fn position<E>(catalog: &Catalog<E>, params: &Params<'_>) -> Result<Position, Refusal> {
    let Some(cursor) = params.cursor else { return Ok(Position::default()) };
    let cursor = jsonrpc::decode_text(cursor.get(), "params.cursor")?;
    let unknown = || Refusal::plain(code::INVALID_PARAMS, "params.cursor: not a cursor of this list");
    catalog.position(&cursor).ok_or_else(unknown)
}

fn draft(
    config: &Config,
    era: Era,
    request: &Request<'_>,
    params: &Params<'_>,
    whole: &str,
    target: Target,
) -> Result<Draft, Refusal> {
    let level = match era {
        Era::Modern => params.meta.log_level()?,
        Era::Legacy => None,
    };
    let (token, most) = (params.meta.progress_token()?, config.limits.id);
    if token.as_ref().is_some_and(|token| token.size() > most) {
        let message = alloc::format!("params._meta.progressToken: longer than {most} bytes");
        return Err(Refusal::plain(code::INVALID_PARAMS, message));
    }
    let retry = retry(era, &target, params, whole)?;
    let arguments = params.arguments.filter(|_| matches!(target, Target::Tool(_) | Target::Prompt(_)));
    Ok(Draft {
        target,
        token,
        level: level.filter(|_| config.logging),
        checks: Checks { arguments: config.check_arguments, output: config.check_output },
        spans: Spans {
            params: request.params.map_or(0..0, |params| span(whole, params.get())),
            arguments: arguments.map(|part| span(whole, part.get())),
            meta: params.raw_meta.map(|part| span(whole, part.get())),
            retry,
        },
    })
}

/// What a request brings that is made again after a result asked for input (MRTR-23), where that can be: an
/// object and a string (MRTR-29, MRTR-30).
fn retry(era: Era, target: &Target, params: &Params<'_>, whole: &str) -> Result<Option<Box<Retry>>, Refusal> {
    let none = params.input_responses.is_none() && params.request_state.is_none();
    if none || era == Era::Legacy || !target.may_require_input() {
        return Ok(None);
    }
    let wrong = |part: Option<&RawValue>, first: u8, message: &'static str| match part {
        Some(part) if part.get().as_bytes().first() != Some(&first) => {
            Err(Refusal::plain(code::INVALID_PARAMS, message))
        }
        _ => Ok(()),
    };
    wrong(params.input_responses, b'{', "params.inputResponses: expected an object")?;
    wrong(params.request_state, b'"', "params.requestState: expected a string")?;
    let place = |part: Option<&RawValue>| part.map(|part| span(whole, part.get()));
    let (input_responses, request_state) = (place(params.input_responses), place(params.request_state));
    Ok(Some(Box::new(Retry { input_responses, request_state })))
}

/// What `Mcp-Name` has to repeat for a request of this method, if anything (HDR-07, HDR-08, TASK-55). The checks of
/// headers need it before the plan.
pub(super) fn name_of<'a>(
    config: &Config,
    request: &Request<'a>,
    params: &Params<'a>,
) -> Result<Option<Cow<'a, str>>, Refusal> {
    let (value, path) = match &*request.method {
        "tools/call" | "prompts/get" => (params.name, "params.name"),
        "resources/read" => (params.uri, "params.uri"),
        method if config.tasks && tasks::METHODS.contains(&method) => (params.task_id, "params.taskId"),
        method => return config.custom.get(method).map_or(Ok(None), |custom| custom.name_in(request.params)),
    };
    Ok(value.map(|name| jsonrpc::decode_text(name.get(), path)).transpose()?)
}

impl Draft {
    /// What is to be done if the application lets it proceed, where it has no other part in it.
    pub(super) fn own(&self) -> Option<&Plan> {
        if let Target::Protocol(request) = &self.target { Some(&request.plan) } else { None }
    }

    /// The handshake that is to be done then.
    pub(super) fn handshake(&self) -> Option<InitializeRequestParams> {
        if let Plan::Initialize(params) = self.own()? { Some((**params).clone()) } else { None }
    }

    /// The arguments within `whole`.
    pub(super) fn arguments<'a>(&self, whole: &'a str) -> &'a str {
        self.spans.arguments.clone().and_then(|span| whole.get(span)).unwrap_or("{}")
    }

    /// What a call made of it holds while it is in flight.
    pub(super) fn size(&self, request: &RequestId, text: &str) -> usize {
        text.len() + request.size() + self.token.as_ref().map_or(0, ProgressToken::size)
    }

    /// The call, which owns `text`. A legacy one takes the rest from its session.
    pub(super) fn call(
        mut self,
        request: RequestId,
        revision: Revision,
        session: Option<&SessionState>,
        logging: bool,
        text: String,
    ) -> Call {
        let level = match session {
            Some(session) => logging.then_some(session.level),
            None => self.level,
        };
        if let Target::Completion(completing) = &mut self.target
            && !revision.dialect().completion_context
            && let Some(completing) = Arc::get_mut(completing)
        {
            completing.context.clear();
        }
        Call {
            target: self.target,
            request,
            revision,
            token: self.token,
            level,
            client: session.map(|session| Arc::clone(&session.client)),
            principal: None,
            head: Received::default(),
            checks: self.checks,
            text,
            spans: self.spans,
        }
    }
}

/// What a request is allowed to be that says nothing of itself and comes before any handshake: `initialize`, or
/// `ping` (B22). It is read as the newest legacy revision.
pub(super) fn before_session(
    config: &Config,
    request: &Request<'_>,
    params: &Params<'_>,
) -> Result<Revision, Refusal> {
    let newest = config.revisions.negotiate("");
    match newest {
        Some(revision) if matches!(&*request.method, "initialize" | "ping") => Ok(revision),
        _ if config.revisions.speak(Era::Modern) => {
            // Read as a modern request that lacks its metadata, which is what -32602 says (META-12).
            let refusal = required(&params.meta).err();
            Err(refusal.unwrap_or_else(no_session))
        }
        _ => Err(no_session()),
    }
}

fn no_session() -> Refusal {
    Refusal::plain(code::INVALID_REQUEST, "`initialize` must come first")
}

pub(super) fn id_in_use() -> Refusal {
    Refusal::plain(code::INVALID_REQUEST, "a request with this id is in flight already")
}

/// The bound is reached; the connection lives on.
pub(super) fn too_many(in_flight: usize) -> Refusal {
    let message = alloc::format!(
        "more than {in_flight} requests would be in flight; send it again when one is answered"
    );
    Refusal::plain(code::INTERNAL, message).with_status(503)
}

/// The same for what the requests hold.
pub(super) fn too_much(bytes: usize) -> Refusal {
    Refusal::plain(
        code::INTERNAL,
        alloc::format!(
            "the requests in flight would be longer than {bytes} bytes together; send it again when one is answered"
        ),
    )
    .with_status(503)
}

/// Whether a batch of so many messages is read: each can cost an answer and something to be told, and the
/// shortest message is one byte.
pub(super) fn admit_batch(config: &Config, messages: usize) -> Result<(), Refusal> {
    let most = config.limits.in_flight;
    if messages <= most {
        return Ok(());
    }
    let message = alloc::format!("a batch may hold {most} messages, found {messages}");
    Err(Refusal::plain(code::INVALID_REQUEST, message))
}

/// Why a client gave up, for the log (CAN-13).
pub(super) fn cancelled(request: &RequestId, reason: Option<String>) -> Diagnostic {
    let reason = text::excerpt(reason.as_deref().unwrap_or("no reason given"));
    Diagnostic::new("call", alloc::format!("the client cancelled: {reason}")).request(request)
}

/// Opens a session, or says why not. `more` is what else the session is going to hold, in bytes.
pub(super) fn open(
    config: &Config,
    params: InitializeRequestParams,
    more: usize,
) -> Result<SessionState, Refusal> {
    let Some(revision) = config.revisions.negotiate(&params.protocol_version) else {
        return Err(unsupported(config, &params.protocol_version));
    };
    let state = SessionState::open(revision, params);
    let limit = config.limits.client_details;
    if state.client.size() + more > limit {
        let message = alloc::format!("params: the details of the client are longer than {limit} bytes");
        return Err(Refusal::plain(code::INVALID_PARAMS, message));
    }
    Ok(state)
}

/// Appends the answer to a request that is answered without the application.
pub(super) fn answer(
    config: &Config,
    transport: Transport,
    revision: Revision,
    id: &RequestId,
    plan: &Plan,
    out: &mut Vec<u8>,
) -> Result<(), ApiMisuse> {
    match plan {
        Plan::Discover => answers::discover(config, transport, revision, id, out),
        Plan::List(list, start, viewer) => {
            let view = View::new(config, viewer.as_deref());
            answers::list(view, revision, id, *list, *start, out)
        }
        // These need no more than the fact that they were understood.
        Plan::Ping | Plan::SetLevel(_) | Plan::Watch(_) | Plan::Unwatch(_) => answers::empty(id, out),
        // And these are not answered here.
        Plan::Initialize(_) | Plan::Call(_) | Plan::Listen(_) => Ok(()),
    }
}

/// What a notification says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Notice {
    Initialized,
    Cancelled {
        request: RequestId,
        reason: Option<String>,
    },
    /// Something that the application may want to know.
    Other,
    /// Nothing that is understood; nobody is told, the peer least of all (RPC-21, CAN-12).
    Ignored(String),
}

pub(super) fn notice(config: &Config, notification: &Notification<'_>) -> Notice {
    #[derive(Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct Cancelled {
        request_id: RequestId,
        #[serde(default)]
        reason: Option<String>,
    }
    match &*notification.method {
        "notifications/initialized" => Notice::Initialized,
        "notifications/cancelled" => match jsonrpc::decode::<Cancelled>(notification.params, "params") {
            Ok(Cancelled { request_id, reason }) => Notice::Cancelled { request: request_id, reason },
            Err(error) => Notice::Ignored(alloc::format!("a cancellation: {}", error.message)),
        },
        method if TOLD.contains(&method) || config.custom.listens(method) => Notice::Other,
        method => {
            let method = text::excerpt(method);
            Notice::Ignored(alloc::format!("expected a notification that clients send, found `{method}`"))
        }
    }
}

/// A string that borrows where it holds no escapes.
#[derive(Deserialize)]
pub(super) struct Text<'a>(#[serde(borrow)] pub(super) Cow<'a, str>);
