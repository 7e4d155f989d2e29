//! Answering what servers ask: functions from a typed question to an answer, each written once for both eras.

use std::fmt;
use std::future::Future;
use std::sync::{Arc, Mutex, PoisonError};

use mcp_proto::client::{InputResponse, Refusal};
use mcp_proto::error::ErrorObject;
use mcp_proto::model::{
    ClientCapabilities, CreateMessageRequestParams, CreateMessageResult, ElicitRequestFormParams,
    ElicitRequestParams, ElicitRequestUrlParams, ElicitResult, ElicitationCapability, InputRequest, Json,
    ListRootsResult, Root, RootsCapability, SamplingCapability, TASKS_EXTENSION,
};

use super::ClientBuilder;
use super::asked::Asked;
use crate::runtime::{BoxFuture, Runtime};
use crate::tool::{AsyncHandler, BlockingHandler};

/// What servers may ask, each by the handler that answers it. Only what has one is declared.
impl<R: Runtime> ClientBuilder<R> {
    /// Answers forms: shows them to the user, says who asks ([`Asked::server`]), and lets the user look at and change the
    /// answers, or decline. A URL in a form is text, and nothing to click on (ELIC-36, ELIC-42).
    ///
    /// The handler takes an [`ElicitRequestFormParams`] and an [`Asked`], and returns an [`ElicitResult`], or an
    /// [`ElicitAction`](mcp_proto::model::ElicitAction) when there is nothing more to say. Fields that it leaves out,
    /// or fills in with `null`, get their default; what does not fit the form is not sent, but reported to
    /// [`on_diagnostic`](Self::on_diagnostic). A legacy server gets the answer to its request, a modern one has its
    /// call made again with it.
    ///
    /// ```
    /// # use mcp_driver::{Asked, ClientBuilder, Json, Runtime};
    /// # use mcp_driver::model::{ElicitAction, ElicitRequestFormParams, ElicitResult};
    /// # fn show(_: &str) -> Option<serde_json::Value> { None }
    /// # fn build<R: Runtime>(builder: ClientBuilder<R>) -> ClientBuilder<R> {
    /// builder.on_elicit(async |form: ElicitRequestFormParams, _: Asked| match show(&form.message) {
    ///     Some(content) => Ok(ElicitResult::accept(Json::new(&content)?)),
    ///     None => Ok(ElicitAction::Decline.into()),
    /// })
    /// # }
    /// ```
    ///
    /// <https://modelcontextprotocol.io/specification/2026-07-28/client/elicitation>
    #[must_use]
    pub fn on_elicit<M>(mut self, handler: impl AnswerHandler<ForForm, M>) -> Self {
        self.hooks.answers.form = Some(handler.into_answerer());
        self
    }

    /// Answers requests to visit a page: shows the user the whole URL, and opens it only if they agree, in a browser
    /// that nobody else can look into (ELIC-37 to ELIC-40). Show its host apart, and warn of what imitates another
    /// (ELIC-41). It comes from the server, so never fetch it before.
    /// To accept says that the user will go there.
    ///
    /// The handler takes an [`ElicitRequestUrlParams`] and an [`Asked`], and returns as for
    /// [`on_elicit`](Self::on_elicit). Servers of revisions before 2025-11-25 never ask for it.
    ///
    /// One of 2025-11-25 may also demand pages by the error of a call (-32042). With such a handler the call goes on once
    /// the server says that they have done their part, or after half a minute; [`on_wait`](Self::on_wait) hears of that.
    /// Without one, or when the user declines, the call ends with that error, of which
    /// [`UrlElicitationRequiredData::of`](mcp_proto::model::UrlElicitationRequiredData::of) knows the pages.
    #[must_use]
    pub fn on_elicit_url<M>(mut self, handler: impl AnswerHandler<ForUrl, M>) -> Self {
        self.hooks.answers.url = Some(handler.into_answerer());
        self
    }

    /// Answers requests for the client's model. Deprecated by revision 2026-07-28; it still works.
    ///
    /// The handler takes a [`CreateMessageRequestParams`] and an [`Asked`], and returns a [`CreateMessageResult`].
    /// Let the user see and change what is sent and what comes back. Histories in which uses of tools and results do
    /// not belong together never reach it.
    ///
    /// `max_tokens` is to be respected (SAMP-16); hints and preferences are advice (SAMP-20). Keep no messages from one
    /// request for the next (SAMP-23), bound how often a model and its tools take turns (SAMP-28), and mind what is
    /// sensitive in what is sent (SAMP-29).
    ///
    /// <https://modelcontextprotocol.io/specification/2026-07-28/client/sampling>
    #[must_use]
    pub fn on_sample<M>(mut self, handler: impl AnswerHandler<ForSampling, M>) -> Self {
        self.hooks.answers.sampling = Some(handler.into_answerer());
        self.hooks.answers.tools = false;
        self
    }

    /// The same, for a model that may use tools (`sampling.tools`): the request can have `tools` and `tool_choice`, and
    /// the answer uses of them. Servers of revisions before 2025-11-25 never ask for it.
    #[must_use]
    pub fn on_sample_with_tools<M>(mut self, handler: impl AnswerHandler<ForSampling, M>) -> Self {
        self = self.on_sample(handler);
        self.hooks.answers.tools = true;
        self
    }

    /// Declares that the handler of sampling includes the context of servers where a request says so
    /// (`sampling.context`). Deprecated since revision 2025-11-25.
    #[must_use]
    pub fn sample_context(mut self) -> Self {
        self.hooks.answers.context = true;
        self
    }

    /// The places that servers may work in, as `file://` URIs. Deprecated by revision 2026-07-28; it still works.
    /// [`Client::set_roots`](super::Client::set_roots) changes them.
    ///
    /// <https://modelcontextprotocol.io/specification/2026-07-28/client/roots>
    #[must_use]
    pub fn roots(mut self, roots: impl IntoIterator<Item = Root>) -> Self {
        let roots: Roots = Arc::new(Mutex::new(roots.into_iter().collect()));
        let list = roots.clone();
        self = self.on_roots(move |_: Asked| std::future::ready(Ok(current(&list))));
        self.hooks.answers.fixed_roots = Some(roots);
        self
    }

    /// The same from a handler, which takes an [`Asked`] and returns a `Vec` of [`Root`]. It may ask the user, and look
    /// whether the places are there. When its answer has changed, say so with
    /// [`Client::roots_changed`](super::Client::roots_changed).
    #[must_use]
    pub fn on_roots<M>(mut self, handler: impl AnswerHandler<ForRoots, M>) -> Self {
        self.hooks.answers.roots = Some(handler.into_answerer());
        self.hooks.answers.fixed_roots = None;
        self
    }
}

/// Roots that are given as a list.
pub(super) type Roots = Arc<Mutex<Vec<Root>>>;

fn current(roots: &Roots) -> Vec<Root> {
    roots.lock().unwrap_or_else(PoisonError::into_inner).clone()
}

/// All handlers of a client.
#[derive(Clone, Default)]
pub(crate) struct Answers {
    form: Option<Answerer>,
    url: Option<Answerer>,
    sampling: Option<Answerer>,
    /// Whether the model may use tools, and whether it is given the context of servers.
    tools: bool,
    context: bool,
    roots: Option<Answerer>,
    pub(super) fixed_roots: Option<Roots>,
    /// Whether what a task asks is answered as well, because calls may become tasks.
    pub(super) tasks: bool,
}

impl Answers {
    /// Declares what there are handlers for, and nothing else of this kind (ELIC-01 to ELIC-04, SAMP-01 to SAMP-03,
    /// ROOT-01, ROOT-02).
    pub(super) fn declare(&self, capabilities: &mut ClientCapabilities) {
        let some = |handler: &Option<Answerer>| handler.as_ref().map(|_| Json::empty_object());
        capabilities.elicitation = (self.form.is_some() || self.url.is_some()).then(|| {
            let mut elicitation = ElicitationCapability::new();
            (elicitation.form, elicitation.url) = (some(&self.form), some(&self.url));
            elicitation
        });
        capabilities.sampling = self.sampling.as_ref().map(|_| {
            let mut sampling = SamplingCapability::new();
            sampling.tools = self.tools.then(Json::empty_object);
            sampling.context = self.context.then(Json::empty_object);
            sampling
        });
        if self.tasks {
            let extensions = capabilities.extensions.get_or_insert_default();
            extensions.insert(TASKS_EXTENSION.to_owned(), Json::empty_object());
        }
        capabilities.roots = self.roots.as_ref().map(|_| RootsCapability::new().list_changed(true));
    }

    pub(super) fn get(&self, request: &InputRequest) -> Option<&Answerer> {
        match request {
            InputRequest::Elicit(ElicitRequestParams::Form(_)) => self.form.as_ref(),
            InputRequest::Elicit(ElicitRequestParams::Url(_)) => self.url.as_ref(),
            InputRequest::CreateMessage(_) => self.sampling.as_ref(),
            InputRequest::ListRoots => self.roots.as_ref(),
            _ => None,
        }
    }
}

/// What a handler comes to.
pub(super) type Outcome = Result<InputResponse, AnswerError>;

/// A handler behind one shape.
#[derive(Clone)]
pub struct Answerer(pub(super) Run);

#[derive(Clone)]
pub(super) enum Run {
    Async(Arc<dyn Fn(&InputRequest, Asked) -> BoxFuture<Outcome> + Send + Sync>),
    Blocking(Arc<dyn Fn(&InputRequest, Asked) -> Outcome + Send + Sync>),
}

impl fmt::Debug for Answerer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Answerer").finish_non_exhaustive()
    }
}

/// A function that answers what a server asks. Implemented for
///
/// - `Fn(Question, Asked) -> Future<Output = Result<T, AnswerError>>`: run on the runtime, and dropped when nobody waits
///   for the answer any more;
/// - `Fn(Question, Asked) -> Result<T, AnswerError>`: run on threads that may block;
/// - for roots, the same without `Question`.
///
/// `K` says what is asked: [`ForForm`], [`ForUrl`], [`ForSampling`] or [`ForRoots`]. `M` keeps the ways apart and is
/// never named.
#[diagnostic::on_unimplemented(
    message = "this function cannot answer `{K}`",
    note = "expected `Fn(Question, Asked) -> Result<T, AnswerError>`, async or not; for roots `Fn(Asked)`",
    note = "`Question` is `ElicitRequestFormParams`, `ElicitRequestUrlParams` or `CreateMessageRequestParams`"
)]
pub trait AnswerHandler<K, M>: Send + Sync + 'static {
    /// The function behind one shape.
    fn into_answerer(self) -> Answerer;
}

/// Something with parameters that a server asks.
pub trait Question: 'static {
    /// What the handler is given.
    type Params: Send + 'static;
    /// What it has to turn into.
    type Answer: Into<InputResponse> + 'static;

    /// Takes the parameters out of what is asked.
    fn params(request: &InputRequest) -> Option<Self::Params>;
}

/// To fill in a form.
#[derive(Debug)]
pub struct ForForm;

/// To visit a page.
#[derive(Debug)]
pub struct ForUrl;

/// To ask the model.
#[derive(Debug)]
pub struct ForSampling;

/// To list the roots.
#[derive(Debug)]
pub struct ForRoots;

impl Question for ForForm {
    type Params = ElicitRequestFormParams;
    type Answer = ElicitResult;

    fn params(request: &InputRequest) -> Option<Self::Params> {
        match request {
            InputRequest::Elicit(ElicitRequestParams::Form(params)) => Some((**params).clone()),
            _ => None,
        }
    }
}

impl Question for ForUrl {
    type Params = ElicitRequestUrlParams;
    type Answer = ElicitResult;

    fn params(request: &InputRequest) -> Option<Self::Params> {
        match request {
            InputRequest::Elicit(ElicitRequestParams::Url(params)) => Some((**params).clone()),
            _ => None,
        }
    }
}

impl Question for ForSampling {
    type Params = CreateMessageRequestParams;
    type Answer = CreateMessageResult;

    fn params(request: &InputRequest) -> Option<Self::Params> {
        match request {
            InputRequest::CreateMessage(params) => Some((**params).clone()),
            _ => None,
        }
    }
}

/// Handlers are looked up by what is asked, so this is not met.
fn stray() -> AnswerError {
    AnswerError::failed("a handler was asked something else")
}

impl<F, K, T, Fut> AnswerHandler<K, AsyncHandler<K::Params, T, K>> for F
where
    F: Fn(K::Params, Asked) -> Fut + Send + Sync + 'static,
    Fut: Future<Output = Result<T, AnswerError>> + Send + 'static,
    K: Question,
    T: Into<K::Answer> + 'static,
{
    fn into_answerer(self) -> Answerer {
        Answerer(Run::Async(Arc::new(move |request, asked| match K::params(request) {
            Some(params) => {
                let future = self(params, asked);
                Box::pin(async move { future.await.map(|answer| answer.into().into()) })
            }
            None => Box::pin(std::future::ready(Err(stray()))),
        })))
    }
}

impl<F, K, T> AnswerHandler<K, BlockingHandler<K::Params, T, K>> for F
where
    F: Fn(K::Params, Asked) -> Result<T, AnswerError> + Send + Sync + 'static,
    K: Question,
    T: Into<K::Answer> + 'static,
{
    fn into_answerer(self) -> Answerer {
        Answerer(Run::Blocking(Arc::new(move |request, asked| {
            let params = K::params(request).ok_or_else(stray)?;
            self(params, asked).map(|answer| answer.into().into())
        })))
    }
}

impl<F, Fut> AnswerHandler<ForRoots, AsyncHandler<(), Vec<Root>, ForRoots>> for F
where
    F: Fn(Asked) -> Fut + Send + Sync + 'static,
    Fut: Future<Output = Result<Vec<Root>, AnswerError>> + Send + 'static,
{
    fn into_answerer(self) -> Answerer {
        Answerer(Run::Async(Arc::new(move |_, asked| {
            let future = self(asked);
            Box::pin(async move { future.await.map(|roots| ListRootsResult::new(roots).into()) })
        })))
    }
}

impl<F> AnswerHandler<ForRoots, BlockingHandler<(), Vec<Root>, ForRoots>> for F
where
    F: Fn(Asked) -> Result<Vec<Root>, AnswerError> + Send + Sync + 'static,
{
    fn into_answerer(self) -> Answerer {
        Answerer(Run::Blocking(Arc::new(move |_, asked| {
            self(asked).map(|roots| ListRootsResult::new(roots).into())
        })))
    }
}

/// Why a handler has no answer.
///
/// Any error turned into this by `?` is this side's own business: the server is told `Internal error` and nothing else,
/// and the text goes to [`ClientBuilder::on_diagnostic`]. A legacy server gets an error; a call of a modern one ends with
/// [`CallError::InputRequired`](mcp_proto::error::CallError::InputRequired).
pub struct AnswerError(Why);

enum Why {
    Rejected,
    Failed(String),
    Error(ErrorObject),
}

impl AnswerError {
    /// The user does not want it: code -1. Of an elicitation, say
    /// [`Decline`](mcp_proto::model::ElicitAction::Decline) instead.
    pub fn rejected() -> Self {
        Self(Why::Rejected)
    }

    /// A failure that the server is told nothing about.
    pub fn failed(detail: impl Into<String>) -> Self {
        Self(Why::Failed(detail.into()))
    }

    /// An error that a legacy server may read.
    pub fn error(error: ErrorObject) -> Self {
        Self(Why::Error(error))
    }

    /// What the server is told, and what people on this side are.
    pub(super) fn into_parts(self) -> (Refusal, Option<String>) {
        match self.0 {
            Why::Rejected => (Refusal::Rejected, None),
            Why::Failed(detail) => (Refusal::Failed, Some(detail)),
            Why::Error(error) => (Refusal::Error(error), None),
        }
    }
}

// Not an `Error` itself: those become failures.
impl<E: std::error::Error> From<E> for AnswerError {
    fn from(error: E) -> Self {
        Self::failed(crate::error::chain(&error))
    }
}

impl fmt::Debug for AnswerError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            Why::Rejected => f.write_str("AnswerError::rejected"),
            Why::Failed(detail) => f.debug_tuple("AnswerError::failed").field(detail).finish(),
            Why::Error(error) => f.debug_tuple("AnswerError::error").field(error).finish(),
        }
    }
}

#[cfg(test)]
mod tests {
    use mcp_proto::dialect::Revision;
    use mcp_proto::model::In;

    use super::*;

    fn declared(answers: &Answers, revision: Revision) -> String {
        // What was said by hand does not count.
        let mut capabilities = ClientCapabilities::new().sampling(SamplingCapability::new());
        capabilities.roots = Some(RootsCapability::new());
        answers.declare(&mut capabilities);
        serde_json::to_string(&In(revision, &capabilities)).unwrap()
    }

    fn handler() -> Option<Answerer> {
        Some(Answerer(Run::Blocking(Arc::new(|_, _| Err(AnswerError::rejected())))))
    }

    /// ELIC-01 to ELIC-04, SAMP-01 to SAMP-03, ROOT-01, ROOT-02, ROOT-04: each handler is declared, as far as the
    /// revision has it, and nothing else.
    #[test]
    fn what_has_a_handler_is_declared() {
        let none = Answers::default();
        assert_eq!(declared(&none, Revision::LATEST), "{}");
        let form = Answers { form: handler(), ..Answers::default() };
        assert_eq!(declared(&form, Revision::LATEST), r#"{"elicitation":{"form":{}}}"#);
        assert_eq!(declared(&form, Revision::V2025_06_18), r#"{"elicitation":{}}"#);
        assert_eq!(declared(&form, Revision::V2025_03_26), "{}");
        let url = Answers { url: handler(), ..Answers::default() };
        assert_eq!(declared(&url, Revision::LATEST), r#"{"elicitation":{"url":{}}}"#);
        assert_eq!(declared(&url, Revision::V2025_06_18), "{}");
        let sampling = Answers { sampling: handler(), ..Answers::default() };
        assert_eq!(declared(&sampling, Revision::LATEST), r#"{"sampling":{}}"#);
        let all = Answers { tools: true, context: true, ..sampling };
        assert_eq!(declared(&all, Revision::LATEST), r#"{"sampling":{"context":{},"tools":{}}}"#);
        assert_eq!(declared(&all, Revision::V2025_06_18), r#"{"sampling":{}}"#);
        let roots = Answers { roots: handler(), ..Answers::default() };
        assert_eq!(declared(&roots, Revision::LATEST), r#"{"roots":{}}"#);
        assert_eq!(declared(&roots, Revision::LATEST_LEGACY), r#"{"roots":{"listChanged":true}}"#);
        // TASK-01, TASK-64
        let tasks = Answers { tasks: true, ..Answers::default() };
        let extension = r#"{"extensions":{"io.modelcontextprotocol/tasks":{}}}"#;
        assert_eq!(declared(&tasks, Revision::LATEST), extension);
        assert_eq!(declared(&tasks, Revision::LATEST_LEGACY), "{}");
    }
}
