//! Hooks around every request: to time, to count, to refuse.

use std::fmt;
use std::future::{Future, poll_fn};
use std::ops::Deref;
use std::sync::Arc;
use std::task::Poll;
use std::time::Duration;

use mcp_proto::error::{ErrorObject, code};
use mcp_proto::model::{CallToolResult, Json, ResultKind};
use mcp_proto::server::WriteResult;
use mcp_proto::time::Instant;
use mcp_proto::wire::jsonrpc::RequestId;
use serde::Deserialize;

use crate::context::{CallState, Context, Responder, internal};
use crate::runtime::BoxFuture;
use crate::server::{go_on, launch};

/// A request on its way to what serves it; see [`Server::around`](crate::Server::around). Whatever a handler
/// may ask its [`Context`] may be asked of it, too.
#[derive(Clone)]
pub struct Request {
    context: Context,
    started: Instant,
}

impl Request {
    /// The method, such as `tools/call`.
    pub fn method(&self) -> &str {
        self.target().method()
    }

    /// What it is for, as this server calls it: the name of a tool or prompt, the URI of a resource, a template.
    /// Nothing that a client made up. Of a request for nothing in particular, the method.
    pub fn name(&self) -> &str {
        self.target().own_name()
    }

    /// The id that the client gave it.
    pub fn id(&self) -> &RequestId {
        self.context.call().request_id()
    }

    /// The parameters as JSON text. They are a payload: think before you log them.
    pub fn params(&self) -> &str {
        self.context.call().params()
    }

    /// How long ago it came, by the clock of the runtime.
    pub fn elapsed(&self) -> Duration {
        self.context.state().now().saturating_since(self.started)
    }
}

impl Deref for Request {
    type Target = Context;

    fn deref(&self) -> &Context {
        &self.context
    }
}

impl fmt::Debug for Request {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Request").field("id", self.id()).field("context", &self.context).finish()
    }
}

/// What comes after a hook: another hook, or whatever serves the request.
pub struct Next {
    hooks: Arc<[Around]>,
    /// How many hooks have begun.
    begun: usize,
    request: Request,
}

impl Next {
    /// Goes on with the request. Is ready once it is answered, or once the client has given up on it.
    pub async fn run(mut self) -> Answer {
        let hooks = self.hooks.clone();
        let request = self.request.clone();
        match hooks.get(self.begun) {
            Some(hook) => {
                self.begun += 1;
                hook(request, self).await
            }
            None => answer(&request.context.state()).await,
        }
    }
}

impl fmt::Debug for Next {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Next").field("request", &self.request).finish_non_exhaustive()
    }
}

/// What a request is answered with. Prints without the payload.
pub struct Answer(Body);

enum Body {
    Result(Box<dyn WriteResult + Send>),
    Error(ErrorObject),
    /// The caller lacks some of these scopes.
    Forbidden(Vec<String>),
    /// What the protocol says by itself.
    Own,
    Cancelled,
}

impl Answer {
    /// A result: one of the types that `model` has for the method.
    pub fn result(result: impl WriteResult + Send + 'static) -> Self {
        Self(Body::Result(Box::new(result)))
    }

    /// A refusal, with a code of the application's own (outside -32768 to -32000) or one of JSON-RPC.
    pub fn refuse(code: i32, message: impl Into<String>) -> Self {
        Self(Body::Error(ErrorObject::new(code, message)))
    }

    /// A refusal because the caller lacks some of these scopes, which are all that the request needs; see
    /// [`ToolError::insufficient_scope`](crate::ToolError::insufficient_scope).
    pub fn insufficient_scope<S: Into<String>>(scopes: impl IntoIterator<Item = S>) -> Self {
        Self(Body::Forbidden(scopes.into_iter().map(Into::into).collect()))
    }

    /// A failure that the model reads; for `tools/call` alone.
    pub fn tool_error(message: impl Into<String>) -> Self {
        Self::result(CallToolResult::error(message))
    }

    /// What it amounts to.
    pub fn kind(&self) -> AnswerKind {
        match &self.0 {
            Body::Result(result) => Self::kind_of(&**result),
            Body::Error(error) => AnswerKind::Error(error.code),
            Body::Forbidden(_) => AnswerKind::Error(code::INVALID_REQUEST.into()),
            Body::Own => AnswerKind::Complete,
            Body::Cancelled => AnswerKind::Cancelled,
        }
    }

    /// What a result amounts to.
    pub(crate) fn kind_of(result: &dyn WriteResult) -> AnswerKind {
        if result.is_missing() {
            return AnswerKind::Error(code::RESOURCE_NOT_FOUND.into());
        }
        match result.kind() {
            ResultKind::ToolError => AnswerKind::ToolError,
            ResultKind::InputRequired => AnswerKind::InputRequired,
            ResultKind::Task => AnswerKind::Task,
            _ => AnswerKind::Complete,
        }
    }

    /// The result as JSON, written out for this alone: it is a payload. `None` where there is no result, and
    /// for lists and other results that the protocol makes by itself.
    pub fn to_json(&self, request: &Request) -> Option<Json> {
        #[derive(Deserialize)]
        struct Response {
            result: Json,
        }
        let Body::Result(result) = &self.0 else { return None };
        let mut text = Vec::new();
        result.write_result(&mut text, request.id(), request.revision(), None).ok()?;
        let response: Response = serde_json::from_slice(&text).ok()?;
        Some(response.result)
    }

    pub(crate) fn own() -> Self {
        Self(Body::Own)
    }

    pub(crate) fn internal() -> Self {
        internal().into()
    }

    /// Sends it.
    fn deliver(self, state: &CallState) {
        state.ended(self.kind());
        let (outlet, id) = (state.request_outlet(), state.id());
        match self.0 {
            Body::Result(result) => outlet.respond(id, &*result),
            Body::Error(error) => outlet.fail(id, &error),
            Body::Forbidden(scopes) => outlet.forbid(id, scopes),
            Body::Own => outlet.proceed(id),
            Body::Cancelled => {}
        }
    }
}

impl From<ErrorObject> for Answer {
    fn from(error: ErrorObject) -> Self {
        Self(Body::Error(error))
    }
}

impl fmt::Debug for Answer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Answer").field(&self.kind()).finish()
    }
}

/// How a request ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum AnswerKind {
    /// With a result.
    Complete,
    /// With a failure of a tool that the model may read.
    ToolError,
    /// With a question to the client.
    InputRequired,
    /// With a task, as which it goes on.
    Task,
    /// With a JSON-RPC error of this code. Some codes are others towards some revisions.
    Error(i64),
    /// Without an answer: the client gave up.
    Cancelled,
}

impl fmt::Display for AnswerKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Complete => f.write_str("ok"),
            Self::ToolError => f.write_str("tool error"),
            Self::InputRequired => f.write_str("input required"),
            Self::Task => f.write_str("task"),
            Self::Error(code) => write!(f, "error {code}"),
            Self::Cancelled => f.write_str("cancelled"),
        }
    }
}

/// A hook behind one shape.
pub(crate) type Around = Box<dyn Fn(Request, Next) -> BoxFuture<Answer> + Send + Sync>;

pub(crate) fn hook<F, Fut>(hook: F) -> Around
where
    F: Fn(Request, Next) -> Fut + Send + Sync + 'static,
    Fut: Future<Output = Answer> + Send + 'static,
{
    Box::new(move |request, next| Box::pin(hook(request, next)))
}

/// Serves a call through hooks, to its end. A panic of a hook ends it.
pub(crate) fn serve(hooks: Arc<[Around]>, state: Arc<CallState>) -> BoxFuture<()> {
    let request = Request { started: state.now(), context: Context::new(state.clone()) };
    let delivery = Delivery(Some(state.clone()));
    let next = Next { hooks, begun: 0, request };
    let mut served = Some(Box::pin(async move { delivery.deliver(next.run().await) }));
    Box::pin(poll_fn(move |cx| {
        let polled = state.guarded_as("a hook around it", || match &mut served {
            Some(served) => served.as_mut().poll(cx),
            None => Poll::Ready(()),
        });
        if polled.is_some_and(|polled| polled.is_pending()) {
            return Poll::Pending;
        }
        // What a hook leaves behind may panic when it is dropped, too.
        state.guarded_as("a hook around it", || drop(served.take()));
        Poll::Ready(())
    }))
}

/// Runs the handler to its answer.
async fn answer(state: &Arc<CallState>) -> Answer {
    if let Some(future) = launch(state, Responder::new(state.clone())) {
        state.keep(future);
        let left = poll_fn(|cx| match state.poll_rest(cx) {
            // Its answer is there, and what else it does is not the hooks' business.
            Poll::Pending if state.is_task() => Poll::Ready(true),
            polled => polled.map(|()| false),
        });
        if left.await {
            go_on(state);
        }
    }
    poll_fn(|cx| state.poll_answer(cx.waker()).map(|answer| answer.unwrap_or(Answer(Body::Cancelled)))).await
}

/// The obligation to answer, while hooks are at work.
struct Delivery(Option<Arc<CallState>>);

impl Delivery {
    fn deliver(mut self, answer: Answer) {
        if let Some(state) = self.0.take() {
            let tells_of_task = answer.kind() == AnswerKind::Task;
            answer.deliver(&state);
            let was_there = state.request_outlet().done(state.id());
            if !tells_of_task || !was_there {
                state.abandon_task();
            }
        }
    }
}

impl Drop for Delivery {
    fn drop(&mut self) {
        if let Some(state) = self.0.take() {
            // The hook panicked, or its runtime has gone; nothing of the handler may go on.
            state.drop_rest();
            Answer::internal().deliver(&state);
            state.request_outlet().done(state.id());
            state.abandon_task();
        }
    }
}
