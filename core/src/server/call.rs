//! What the application is asked to do, and how it answers.

use alloc::borrow::Cow;
use alloc::boxed::Box;
use alloc::format;
use alloc::string::String;
use alloc::sync::Arc;
use alloc::vec::Vec;
use core::ops::Range;

use serde_json::value::RawValue;

use super::find;
use super::principal::Principal;
use super::received::Received;
use super::session::ClientDetails;
use super::target::Target;
use super::tasks;
use crate::dialect::{Era, Revision};
use crate::error::{ApiMisuse, ErrorObject, code};
use crate::head::RequestHead;
use crate::model::capabilities::ClientCapabilities;
use crate::model::error_data::MissingRequiredClientCapabilityData;
use crate::model::input_required::InputRequiredResult;
use crate::model::logging::LoggingLevel;
use crate::model::meta::RequestMeta;
use crate::model::{Identified, In, Json, Members, ResultKind, TaskSupport};
use crate::schema::{Mismatch, OutputCheck};
use crate::text;
use crate::wire::jsonrpc::{self, ProgressToken, RequestId};

/// Names a call within its connection or exchange; never reused there.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct CallId(pub(super) u64);

/// A request that the application answers: with `respond`, or with `fail`.
///
/// Owns its parameters as one piece of JSON text and lends out parts of it. Prints without them.
#[derive(Clone)]
pub struct Call {
    pub(super) target: Target,
    pub(super) request: RequestId,
    pub(super) revision: Revision,
    pub(super) token: Option<ProgressToken>,
    pub(super) level: Option<LoggingLevel>,
    /// Who opened the session; `None` on modern requests, which say it themselves.
    pub(super) client: Option<Arc<ClientDetails>>,
    pub(super) principal: Option<Arc<Principal>>,
    /// The head that came with it over HTTP.
    pub(super) head: Received,
    pub(super) checks: Checks,
    pub(super) text: String,
    pub(super) spans: Spans,
}

/// What is checked against the schemas of a tool.
#[derive(Clone, Copy, Debug)]
pub(super) struct Checks {
    pub(super) arguments: bool,
    pub(super) output: OutputCheck,
}

/// Where parts of a call stand in its text.
#[derive(Clone, Debug, Default)]
pub(super) struct Spans {
    pub(super) params: Range<usize>,
    pub(super) arguments: Option<Range<usize>>,
    pub(super) meta: Option<Range<usize>>,
    /// What a retry brings; few requests are one.
    pub(super) retry: Option<Box<Retry>>,
}

/// Where the parts of a call stand that answer a result which asked for input.
#[derive(Clone, Debug, Default)]
pub(super) struct Retry {
    pub(super) input_responses: Option<Range<usize>>,
    pub(super) request_state: Option<Range<usize>>,
}

/// Where `part`, which lies within `whole`, stands in it.
pub(super) fn span(whole: &str, part: &str) -> Range<usize> {
    let start = (part.as_ptr() as usize).saturating_sub(whole.as_ptr() as usize);
    start..start + part.len()
}

impl Call {
    /// What the call is for.
    pub fn target(&self) -> &Target {
        &self.target
    }

    /// What the client named: a tool, a prompt, the URI to read, or what is being filled in.
    pub fn name(&self) -> &str {
        self.target.name()
    }

    /// The arguments of a tool or prompt as JSON text, an object: `{}` when the client sent none.
    pub fn arguments(&self) -> &str {
        self.spans.arguments.clone().and_then(|span| self.text.get(span)).unwrap_or("{}")
    }

    /// Looks whether the arguments fit the input schema of the tool, unless that is switched off: to be done
    /// before anything else is done with them. What is no tool has no schema.
    ///
    /// # Errors
    /// What does not fit, as for [`ToolEntry::check_arguments`](super::ToolEntry::check_arguments).
    pub fn check_arguments(&self) -> Result<(), Mismatch> {
        match &self.target {
            Target::Tool(entry) if self.checks.arguments => entry.check_arguments(self.arguments()),
            _ => Ok(()),
        }
    }

    /// What the arguments lack, for a tool whose handler could not decode them; see
    /// [`ToolEntry::missing_arguments`](super::ToolEntry::missing_arguments).
    pub fn missing_arguments(&self) -> Vec<String> {
        match &self.target {
            Target::Tool(entry) => entry.missing_arguments(self.arguments()),
            _ => Vec::new(),
        }
    }

    /// What is to be done about structured content that does not fit the output schema of the tool; nothing where
    /// there is none.
    pub fn output_check(&self) -> OutputCheck {
        match &self.target {
            Target::Tool(entry) if entry.has_output_schema() => self.checks.output,
            _ => OutputCheck::Off,
        }
    }

    /// The whole parameters as JSON text, an object: `{}` when the client sent none.
    pub fn params(&self) -> &str {
        self.text.get(self.spans.params.clone()).filter(|params| !params.is_empty()).unwrap_or("{}")
    }

    /// What the client answers to the input requests of the result before, as JSON text, an object: bare results
    /// by the names that were given (MRTR-21). `None` on a first try, and always in the legacy era.
    ///
    /// Nothing of it is checked: which names are there and what their values are is the client's choice.
    pub fn input_responses(&self) -> Option<&str> {
        self.text.get(self.spans.retry.as_ref()?.input_responses.clone()?)
    }

    /// What the result before had as its `request_state`, if the client tells the truth (MRTR-10): check it, by
    /// sealing it, before anything is decided by it. `None` on a first try, and always in the legacy era.
    pub fn request_state(&self) -> Option<Cow<'_, str>> {
        let text = self.text.get(self.spans.retry.as_ref()?.request_state.clone()?)?;
        jsonrpc::decode_text(text, "params.requestState").ok()
    }

    /// Whether the call may be answered with a [`CreateTaskResult`](crate::model::CreateTaskResult): a modern call of a
    /// tool that [supports](super::ToolEntry::task_support) tasks, whose client has declared them for it (TASK-03).
    pub fn may_be_task(&self) -> bool {
        match &self.target {
            Target::Tool(entry) if entry.task_support() != TaskSupport::Forbidden => {
                self.era() == Era::Modern && tasks::are_declared(&self.meta())
            }
            _ => false,
        }
    }

    /// The metadata that came with the request.
    pub fn meta(&self) -> RequestMeta<'_> {
        self.spans
            .meta
            .clone()
            .and_then(|span| self.text.get(span))
            .and_then(|text| jsonrpc::decode_at::<&RawValue>(text, "params._meta").ok())
            .and_then(|raw| RequestMeta::read(raw).ok())
            .unwrap_or_default()
    }

    /// The revision that the request speaks.
    pub fn revision(&self) -> Revision {
        self.revision
    }

    /// The era of that revision.
    pub fn era(&self) -> Era {
        self.revision.era()
    }

    /// The id of the request.
    pub fn request_id(&self) -> &RequestId {
        &self.request
    }

    /// The token under which the client wants progress; without one, progress is dropped.
    pub fn progress_token(&self) -> Option<&ProgressToken> {
        self.token.as_ref()
    }

    /// Who the client is and what it can do: what this very request says in the modern era (META-18), what
    /// the handshake said in the legacy one.
    pub fn client(&self) -> Arc<ClientDetails> {
        if let Some(client) = &self.client {
            return Arc::clone(client);
        }
        Arc::new(ClientDetails::of(&self.meta()))
    }

    /// Whom the application has recognised behind the request, if anybody.
    pub fn principal(&self) -> Option<&Arc<Principal>> {
        self.principal.as_ref()
    }

    /// The head of the HTTP request that it came in; `None` on a byte stream. What is in it is claimed by the
    /// client, or by a proxy in between (SEC-25).
    pub fn head(&self) -> Option<&RequestHead> {
        self.head.get()
    }

    /// Whether a log message of this level would be sent; to spare the work of making one.
    pub fn wants_log(&self, level: LoggingLevel) -> bool {
        self.level.is_some_and(|least| least <= level)
    }
}

impl core::fmt::Debug for Call {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("Call")
            .field("request", &self.request)
            .field("target", &self.target.own_name())
            .field("revision", &self.revision)
            .finish_non_exhaustive()
    }
}

/// A result that can be written as the answer to a request.
///
/// Implemented for every object of [`model`](crate::model); needed only because machines take `&dyn`.
pub trait WriteResult {
    /// Appends the whole response. `server` is the `Implementation` to name in its `_meta`, if any.
    ///
    /// # Errors
    ///
    /// If the result cannot be serialised. Then `out` is as it was before.
    fn write_result(
        &self,
        out: &mut Vec<u8>,
        id: &RequestId,
        revision: Revision,
        server: Option<&Json>,
    ) -> Result<(), ApiMisuse>;

    /// Whether the result says nothing but that what was asked for is not there. See
    /// [`Members::is_missing`].
    fn is_missing(&self) -> bool {
        false
    }

    /// What the result amounts to.
    fn kind(&self) -> ResultKind {
        ResultKind::Complete
    }

    /// The result itself, if it asks for input. See [`Members::input_required`].
    fn input_required(&self) -> Option<&InputRequiredResult> {
        None
    }
}

impl<T: Members> WriteResult for T {
    fn write_result(
        &self,
        out: &mut Vec<u8>,
        id: &RequestId,
        revision: Revision,
        server: Option<&Json>,
    ) -> Result<(), ApiMisuse> {
        jsonrpc::write_result(out, id, &In(revision, &Identified::new(self, server)))
    }

    fn is_missing(&self) -> bool {
        Members::is_missing(self)
    }

    fn kind(&self) -> ResultKind {
        Members::kind(self)
    }

    fn input_required(&self) -> Option<&InputRequiredResult> {
        Members::input_required(self)
    }
}

/// How far a call has come.
#[derive(Clone, PartialEq)]
#[non_exhaustive]
pub struct Progress {
    /// How far; must be larger each time (PRG-04).
    pub progress: f64,
    /// How far it goes, when that is known.
    pub total: Option<f64>,
    /// What is being done, for people.
    pub message: Option<String>,
}

/// Prints without the words.
impl core::fmt::Debug for Progress {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("Progress")
            .field("progress", &self.progress)
            .field("total", &self.total)
            .finish_non_exhaustive()
    }
}

impl Progress {
    /// As far as `progress`.
    pub fn new(progress: f64) -> Self {
        Self { progress, total: None, message: None }
    }

    /// Out of `total`.
    #[must_use]
    pub fn total(mut self, total: f64) -> Self {
        self.total = Some(total);
        self
    }

    /// With words.
    #[must_use]
    pub fn message(mut self, message: impl Into<String>) -> Self {
        self.message = Some(message.into());
        self
    }
}

/// How far, and nothing else.
impl From<f64> for Progress {
    fn from(progress: f64) -> Self {
        Self::new(progress)
    }
}

/// How far, and how far it goes.
impl From<(f64, f64)> for Progress {
    fn from((progress, total): (f64, f64)) -> Self {
        Self::new(progress).total(total)
    }
}

/// The error for a request that needs what the client did not declare (META-16). Over HTTP it travels with
/// status 400, as long as nothing else was sent for the request.
pub fn missing_capabilities(required: ClientCapabilities) -> ErrorObject {
    let names = text::list(required.names().iter().map(String::as_str));
    let message = format!("the request needs what the client did not declare: {names}");
    let mut error = ErrorObject::new(code::MISSING_CLIENT_CAPABILITY, message);
    let data = MissingRequiredClientCapabilityData::new(required);
    error.data = Json::new(&In(Revision::LATEST, &data)).ok().map(Into::into);
    error
}

/// The error for a resource that is not there, with its URI (RES-12, RES-13, RES-16). It is sent with the code
/// that the revision of the call has for this.
pub fn resource_not_found(uri: &str) -> ErrorObject {
    let mut error = ErrorObject::new(code::RESOURCE_NOT_FOUND, "resource not found");
    error.data = find::not_found_data(uri);
    error
}
