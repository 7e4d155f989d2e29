//! Requests to a client in the middle of a call, which only the revisions with a handshake have.
//!
//! In the modern era the same things are asked for by a result: see
//! [`InputRequiredResult`](crate::model::InputRequiredResult).

#[cfg(test)]
mod tests;

use alloc::boxed::Box;
use alloc::string::String;
use alloc::vec::Vec;
use core::fmt;

use super::call::CallId;
use super::events::StreamId;
use super::exchange::ExchangeId;
use crate::dialect::{ElicitationModes, Revision};
use crate::error::{ApiMisuse, ErrorObject, Full};
use crate::limits::Limits;
use crate::model::capabilities::{
    ClientCapabilities, ElicitationCapability, RootsCapability, SamplingCapability,
};
use crate::model::elicitation::{
    ElicitRequestFormParams, ElicitRequestParams, PrimitiveSchemaDefinition as Field,
};
use crate::model::input_required::InputRequest;
use crate::model::sampling::{CreateMessageRequestParams, IncludeContext};
use crate::model::{In, Json};
use crate::text::Excerpt;
use crate::time::{Duration, Instant, Now};
use crate::wire::jsonrpc::{self, RequestId, Response};

/// Names a request to the client within its connection or exchange; never reused there.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct AskId(pub(super) u64);

/// What came of a request to the client: its result as JSON, or why there is none. Prints without the result.
#[derive(Clone, PartialEq)]
pub struct Answer(pub Result<Json, AskError>);

impl fmt::Debug for Answer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            Ok(json) => write!(f, "Answer({} bytes)", json.get().len()),
            Err(error) => write!(f, "Answer({error})"),
        }
    }
}

/// Why a client could not be asked, or did not answer.
#[derive(Clone, PartialEq)]
#[non_exhaustive]
pub enum AskError {
    /// The client did not declare what this needs; nothing was sent.
    Missing {
        /// What it would have to declare.
        required: Box<ClientCapabilities>,
    },
    /// The revision has no such request; nothing was sent.
    NotSupported {
        /// What it lacks.
        what: String,
    },
    /// Nothing can be sent to the client in mid-call: it takes no event stream, or has left.
    Unreachable,
    /// The client answered with an error. Nobody but this side should be shown its text.
    Refused(ErrorObject),
    /// The client answered, but not as the protocol or the question demands.
    Invalid {
        /// What was expected and what came; names members and types, never values.
        reason: String,
    },
    /// No answer in time; the client was told that none is waited for any more.
    TimedOut {
        /// How long the client had.
        after: Duration,
    },
    /// The call that asked is over or cancelled.
    Over,
    /// Too much is asked already.
    Full(Full),
    /// The question was put in a way that cannot be; nothing was sent.
    Misuse(ApiMisuse),
}

impl fmt::Display for AskError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Missing { required } => {
                f.write_str("the client cannot be asked: it did not declare ")?;
                names(required, f)
            }
            Self::NotSupported { what } => {
                write!(f, "the client cannot be asked: its protocol version has no {what}")
            }
            Self::Unreachable => f.write_str("the client cannot be asked: it does not listen"),
            Self::Refused(error) => write!(f, "the client answered with error {}", error.code),
            Self::Invalid { reason } => {
                write!(f, "the answer of the client does not fit: {}", Excerpt(reason))
            }
            Self::TimedOut { after } => write!(f, "the client did not answer within {after:?}"),
            Self::Over => f.write_str("the request that asked is over"),
            Self::Full(full) => full.fmt(f),
            Self::Misuse(misuse) => misuse.fmt(f),
        }
    }
}

impl core::error::Error for AskError {}

crate::text::debug_like_display!(AskError);

impl From<ApiMisuse> for AskError {
    fn from(misuse: ApiMisuse) -> Self {
        Self::Misuse(misuse)
    }
}

/// The capabilities as the specification names them.
fn names(capabilities: &ClientCapabilities, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    let (elicitation, sampling) = (capabilities.elicitation.as_ref(), capabilities.sampling.as_ref());
    let named = [
        ("elicitation.form", elicitation.is_some_and(|it| it.form.is_some())),
        ("elicitation.url", elicitation.is_some_and(|it| it.url.is_some())),
        ("elicitation", elicitation.is_some_and(|it| it.form.is_none() && it.url.is_none())),
        ("sampling.tools", sampling.is_some_and(|it| it.tools.is_some())),
        ("sampling.context", sampling.is_some_and(|it| it.context.is_some())),
        ("sampling", sampling.is_some_and(|it| it.tools.is_none() && it.context.is_none())),
        ("roots", capabilities.roots.is_some()),
    ];
    let mut first = true;
    for (name, _) in named.iter().filter(|(_, is)| *is) {
        let comma = if first { "" } else { ", " };
        first = false;
        write!(f, "{comma}`{name}`")?;
    }
    Ok(())
}

/// What a client that declared `declared` lacks for `requests`, all of it together; `None` when nothing
/// (MRTR-08, ELIC-05, SAMP-04, SAMP-06, ROOT-09).
fn lacking<'a>(
    revision: Revision,
    declared: &ClientCapabilities,
    requests: impl IntoIterator<Item = &'a InputRequest>,
) -> Option<ClientCapabilities> {
    let mut required = ClientCapabilities::new();
    for request in requests {
        match request {
            InputRequest::Elicit(params) => elicitation(declared, params, &mut required),
            InputRequest::CreateMessage(params) => sampling(revision, declared, params, &mut required),
            InputRequest::ListRoots if declared.roots.is_none() => {
                required.roots = Some(RootsCapability::new());
            }
            InputRequest::ListRoots | InputRequest::Unknown { .. } => {}
        }
    }
    (required != ClientCapabilities::new()).then_some(required)
}

fn elicitation(
    declared: &ClientCapabilities,
    params: &ElicitRequestParams,
    required: &mut ClientCapabilities,
) {
    let has = declared.elicitation.as_ref();
    let lacks = match params {
        ElicitRequestParams::Form(_) => !has.is_some_and(ElicitationCapability::supports_form),
        ElicitRequestParams::Url(_) => !has.is_some_and(ElicitationCapability::supports_url),
    };
    if !lacks {
        return;
    }
    let needed = required.elicitation.get_or_insert_with(ElicitationCapability::new);
    match params {
        ElicitRequestParams::Form(_) => needed.form = Some(Json::empty_object()),
        ElicitRequestParams::Url(_) => needed.url = Some(Json::empty_object()),
    }
}

fn sampling(
    revision: Revision,
    declared: &ClientCapabilities,
    params: &CreateMessageRequestParams,
    required: &mut ClientCapabilities,
) {
    let has = declared.sampling.as_ref();
    // Before these were capabilities, nobody could declare them.
    let known = revision.dialect().sampling_tools;
    let tools = !params.tools.is_empty() || params.tool_choice.is_some();
    let context = params.include_context.is_some_and(|context| context != IncludeContext::None);
    let lacks_tools = known && tools && has.is_none_or(|has| has.tools.is_none());
    let lacks_context = known && context && has.is_none_or(|has| has.context.is_none());
    if has.is_some() && !lacks_tools && !lacks_context {
        return;
    }
    let needed = required.sampling.get_or_insert_with(SamplingCapability::new);
    if lacks_tools {
        needed.tools = Some(Json::empty_object());
    }
    if lacks_context {
        needed.context = Some(Json::empty_object());
    }
}

/// Whether a client that declared `declared` may be asked all of this, in a request or in a result (MRTR-08).
///
/// In the modern era this is asked of everything that goes into one result, and what is missing is told with
/// [`missing_capabilities`](super::missing_capabilities).
///
/// # Errors
/// The first thing that cannot be asked in `revision`, or that is put in a way that cannot be; otherwise
/// [`AskError::Missing`] with what the client lacks for all of it together.
pub fn askable<'a>(
    revision: Revision,
    declared: &ClientCapabilities,
    requests: impl IntoIterator<Item = &'a InputRequest, IntoIter: Clone>,
) -> Result<(), AskError> {
    let requests = requests.into_iter();
    requests.clone().try_for_each(|request| known(revision, request))?;
    match lacking(revision, declared, requests) {
        Some(required) => Err(AskError::Missing { required: Box::new(required) }),
        None => Ok(()),
    }
}

/// Whether `revision` has what `request` uses.
fn known(revision: Revision, request: &InputRequest) -> Result<(), AskError> {
    let dialect = revision.dialect();
    let lacks = |what: &str| Err(AskError::NotSupported { what: what.into() });
    request.check().map_err(ApiMisuse::new)?;
    match request {
        InputRequest::Elicit(_) if dialect.elicitation == ElicitationModes::None => lacks("elicitation"),
        InputRequest::Elicit(ElicitRequestParams::Url(_))
            if dialect.elicitation != ElicitationModes::FormAndUrl =>
        {
            lacks("elicitation by URL")
        }
        InputRequest::Elicit(ElicitRequestParams::Form(params))
            if dialect.elicitation == ElicitationModes::Form && requires_choices(params) =>
        {
            lacks("form in which several of some values can be chosen")
        }
        InputRequest::CreateMessage(params)
            if !dialect.sampling_tools && (!params.tools.is_empty() || params.tool_choice.is_some()) =>
        {
            lacks("sampling with tools")
        }
        _ => Ok(()),
    }
}

/// Whether `request` can be sent as one.
fn sendable(revision: Revision, request: &InputRequest) -> Result<(), AskError> {
    let dialect = revision.dialect();
    if !dialect.server_requests {
        let what = "requests of the server; ask by a result instead".into();
        return Err(AskError::NotSupported { what });
    }
    match request {
        InputRequest::Elicit(ElicitRequestParams::Url(params))
            if dialect.elicitation_id && params.elicitation_id.is_none() =>
        {
            Err(ApiMisuse::new("an elicitation by URL needs an `elicitation_id`").into())
        }
        _ => Ok(()),
    }
}

/// Whether a form cannot be filled in without a field that 2025-06-18 leaves out.
fn requires_choices(params: &ElicitRequestFormParams) -> bool {
    let schema = &params.requested_schema;
    schema.properties.iter().any(|(name, field)| {
        matches!(field, Field::UntitledMultiSelect(_) | Field::TitledMultiSelect(_))
            && schema.required.contains(name)
    })
}

/// The open requests to one client.
#[derive(Debug, Default)]
pub(super) struct Asks {
    open: Vec<Open>,
    last: u64,
}

#[derive(Debug)]
struct Open {
    id: AskId,
    call: CallId,
    wire: RequestId,
    deadline: Instant,
    after: Duration,
}

/// A request to the client that is not open any more.
pub(super) struct Closed {
    pub(super) id: AskId,
    pub(super) call: CallId,
    pub(super) wire: RequestId,
    pub(super) after: Duration,
}

impl From<Open> for Closed {
    fn from(open: Open) -> Self {
        Self { id: open.id, call: open.call, wire: open.wire, after: open.after }
    }
}

/// What a request to the client is put under.
pub(super) struct Asking<'a> {
    pub(super) now: Now,
    pub(super) call: CallId,
    pub(super) revision: Revision,
    /// What the client declared, if there is a session.
    pub(super) declared: Option<&'a ClientCapabilities>,
    /// The stream that carries it, over HTTP.
    pub(super) stream: Option<StreamId>,
    pub(super) timeout: Option<Duration>,
    pub(super) limits: &'a Limits,
}

impl Asks {
    /// Whether `request` may be sent, and under which id.
    pub(super) fn admit(&self, asking: &Asking<'_>, request: &InputRequest) -> Result<RequestId, AskError> {
        sendable(asking.revision, request)?;
        let Some(declared) = asking.declared else { return Err(AskError::Unreachable) };
        askable(asking.revision, declared, [request])?;
        if self.open.len() >= asking.limits.asks {
            return Err(AskError::Full(Full::new("asks", asking.limits.asks)));
        }
        let number = self.last + 1;
        Ok(RequestId::from(match asking.stream {
            Some(stream) => alloc::format!("{PREFIX}{stream}-{number}"),
            None => alloc::format!("{PREFIX}{number}"),
        }))
    }

    /// Notes that a request was sent.
    pub(super) fn begin(&mut self, asking: &Asking<'_>, wire: RequestId) -> AskId {
        self.last += 1;
        let id = AskId(self.last);
        let after = asking.timeout.unwrap_or(asking.limits.ask);
        let (call, deadline) = (asking.call, asking.now.mono + after);
        self.open.push(Open { id, call, wire, deadline, after });
        id
    }

    /// The client has answered.
    pub(super) fn answered(&mut self, wire: &RequestId) -> Option<Closed> {
        self.take(|open| open.wire == *wire)
    }

    /// One that has waited for too long.
    pub(super) fn due(&mut self, now: Instant) -> Option<Closed> {
        self.take(|open| open.deadline <= now)
    }

    /// One of a call that is over.
    pub(super) fn of(&mut self, call: CallId) -> Option<Closed> {
        self.take(|open| open.call == call)
    }

    /// The one that nobody waits for any more.
    pub(super) fn retract(&mut self, id: AskId) -> Option<Closed> {
        self.take(|open| open.id == id)
    }

    /// Any.
    pub(super) fn pop(&mut self) -> Option<Closed> {
        self.take(|_| true)
    }

    /// When the next one has waited for too long.
    pub(super) fn next(&self) -> Option<Instant> {
        self.open.iter().map(|open| open.deadline).min()
    }

    fn take(&mut self, which: impl Fn(&Open) -> bool) -> Option<Closed> {
        let place = self.open.iter().position(which)?;
        Some(self.open.remove(place).into())
    }
}

/// What ids of requests to clients begin with. They are unique in a session, whichever processes it lives in: the
/// name of the stream, where there is one, and a number for the request.
const PREFIX: &str = "ask-";

/// The exchange that sent the request with this id, if it belongs to this table of sessions.
pub(super) fn exchange_of(wire: &RequestId, table: u32) -> Option<ExchangeId> {
    let (stream, _) = wire.as_str()?.strip_prefix(PREFIX)?.split_once('-')?;
    StreamId::parse(stream)?.exchange(table)
}

/// Appends the request.
pub(super) fn write(
    out: &mut Vec<u8>,
    wire: &RequestId,
    revision: Revision,
    request: &InputRequest,
) -> Result<(), ApiMisuse> {
    let method = request.method();
    match request {
        InputRequest::Elicit(params) => {
            jsonrpc::write_request(out, wire, method, Some(&In(revision, params)))
        }
        InputRequest::CreateMessage(params) => {
            jsonrpc::write_request(out, wire, method, Some(&In(revision, &**params)))
        }
        InputRequest::ListRoots => jsonrpc::write_request(out, wire, method, None::<&Json>),
        InputRequest::Unknown { params, .. } => jsonrpc::write_request(out, wire, method, params.as_ref()),
    }
}

/// Why a request to a client is cancelled on the wire.
pub(super) const TOO_LATE: &str = "no answer in time";
pub(super) const CALL_IS_OVER: &str = "the call that asked is over";

/// A response that a client sent. Prints without its result.
#[derive(Clone, PartialEq)]
#[non_exhaustive]
pub struct ClientResponse {
    /// The request that it answers.
    pub request: RequestId,
    pub(super) outcome: Answer,
}

impl ClientResponse {
    /// `None` for an error that names no request.
    pub(super) fn new(response: Response<'_>) -> Option<Self> {
        let outcome = Answer(response.outcome.map(Json::from).map_err(AskError::Refused));
        Some(Self { request: response.id?, outcome })
    }

    /// One that could not be read.
    pub(super) fn unreadable(request: RequestId, reason: String) -> Self {
        Self { request, outcome: Answer(Err(AskError::Invalid { reason })) }
    }
}

impl fmt::Debug for ClientResponse {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ClientResponse({}, {:?})", self.request, self.outcome)
    }
}
