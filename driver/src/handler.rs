//! Handlers of all kinds: functions from typed arguments to anything that turns into a result.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::future::Future;
use std::sync::Arc;

use mcp_proto::error::{ErrorObject, code};
use mcp_proto::server::{Completable, Target, WriteResult, resource_not_found};
use mcp_proto::shared_map::SharedMap;
use mcp_proto::wire::jsonrpc::decode_at;
use serde::de::DeserializeOwned;

use crate::context::{Context, Responder};
use crate::prompt::ForPrompt;
use crate::runtime::BoxFuture;
use crate::tool::{self, AsyncHandler, BlockingHandler, Failure, FromValue, ToolError};

/// A handler behind one shape; clones share it.
#[derive(Clone)]
pub(crate) enum Run {
    Async(Arc<dyn Fn(Context, Responder) -> BoxFuture<()> + Send + Sync>),
    Blocking(Arc<dyn Fn(Context, Responder) + Send + Sync>),
}

impl Run {
    /// A handler that returns a future. `read` takes the arguments out of the call, `finish` answers it.
    pub(crate) fn future<A, T, Fut>(
        handler: impl Fn(A, Context) -> Fut + Send + Sync + 'static,
        read: fn(&Context) -> Result<A, ToolError>,
        finish: fn(Responder, Result<T, ToolError>),
    ) -> Self
    where
        A: 'static,
        T: 'static,
        Fut: Future<Output = Result<T, ToolError>> + Send + 'static,
    {
        Self::Async(Arc::new(move |context, responder| match read(&context) {
            Ok(arguments) => {
                let future = handler(arguments, context);
                Box::pin(async move { finish(responder, future.await) })
            }
            Err(error) => {
                finish(responder, Err(error));
                Box::pin(std::future::ready(()))
            }
        }))
    }

    /// A handler that returns a result, and may block. The same `read` and `finish`.
    pub(crate) fn blocking<A: 'static, T: 'static>(
        handler: impl Fn(A, Context) -> Result<T, ToolError> + Send + Sync + 'static,
        read: fn(&Context) -> Result<A, ToolError>,
        finish: fn(Responder, Result<T, ToolError>),
    ) -> Self {
        Self::Blocking(Arc::new(move |context, responder| match read(&context) {
            Ok(arguments) => finish(responder, handler(arguments, context)),
            Err(error) => finish(responder, Err(error)),
        }))
    }
}

/// A function that serves prompts ([`ForPrompt`](crate::ForPrompt)), resources
/// ([`ForResource`](crate::ForResource)), resource templates ([`ForTemplate`](crate::ForTemplate)) or
/// completion ([`ForCompletion`](crate::ForCompletion)). Implemented for
///
/// - `Fn(Arguments, Context) -> Future<Output = Result<T, ToolError>>`: run on the runtime;
/// - `Fn(Arguments, Context) -> Result<T, ToolError>`: run on threads that may block;
/// - for a resource, the same without `Arguments`, and text or bytes that are always the same.
///
/// What `Arguments` and `T` can be is said by [`Arguments`] and [`Outcome`]. `M` keeps the ways apart and is
/// never named.
#[diagnostic::on_unimplemented(
    message = "this is no handler `{K}`",
    note = "expected `Fn(Arguments, Context) -> Result<T, ToolError>`, async or not; for a resource, \
            `Fn(Context) -> Result<T, ToolError>`",
    note = "`Arguments` of a prompt must be `serde::Deserialize` and `schemars::JsonSchema` (schemars 1), of a \
            template `serde::Deserialize`, of completion `Typed`"
)]
pub trait HandlerFor<K, M>: Send + Sync + 'static {
    /// The function behind one shape.
    fn into_handler(self) -> Boxed;
}

/// A handler behind one shape.
pub struct Boxed(pub(crate) Run);

impl std::fmt::Debug for Boxed {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Boxed").finish_non_exhaustive()
    }
}

/// Says which arguments a handler takes, so that they can be declared.
pub trait Takes<A> {}

impl<A, T, M> Takes<A> for AsyncHandler<A, T, M> {}
impl<A, T, M> Takes<A> for BlockingHandler<A, T, M> {}

/// What a handler of the kind `K` may take.
pub trait Arguments<K>: Sized + Send + 'static {
    /// Takes them out of a call.
    ///
    /// # Errors
    /// When they do not fit the type.
    fn read(context: &Context) -> Result<Self, ToolError>;
}

/// What a handler of the kind `K` may return.
pub trait Outcome<K>: Send + 'static {
    /// What is written.
    type Output: WriteResult + Send + 'static;

    /// Turns the value into a result for what was asked.
    fn into_output(self, target: &Target) -> Self::Output;
}

impl<F, K, A, T, Fut> HandlerFor<K, AsyncHandler<A, T, K>> for F
where
    F: Fn(A, Context) -> Fut + Send + Sync + 'static,
    Fut: Future<Output = Result<T, ToolError>> + Send + 'static,
    K: 'static,
    A: Arguments<K>,
    T: Outcome<K>,
{
    fn into_handler(self) -> Boxed {
        Boxed(Run::future(self, A::read, finish::<K, T>))
    }
}

impl<F, K, A, T> HandlerFor<K, BlockingHandler<A, T, K>> for F
where
    F: Fn(A, Context) -> Result<T, ToolError> + Send + Sync + 'static,
    K: 'static,
    A: Arguments<K>,
    T: Outcome<K>,
{
    fn into_handler(self) -> Boxed {
        Boxed(Run::blocking(self, A::read, finish::<K, T>))
    }
}

/// Decodes arguments; wrong ones are the client's fault, named by their path.
pub(crate) fn decode<A: DeserializeOwned>(json: &str) -> Result<A, ToolError> {
    decode_at(json, "arguments").map_err(|error| {
        ToolError::protocol(ErrorObject::new(code::INVALID_PARAMS, Cow::into_owned(error.message)))
    })
}

/// The error code of what a handler that is no tool tells with [`ToolError::new`]: one that neither
/// JSON-RPC nor the specification keeps for itself (ERR-12).
const APPLICATION: i32 = 1;

/// Answers a call, of whatever kind, with a failure.
pub(crate) fn tell(responder: Responder, failure: ToolError) {
    match responder.target() {
        Target::Tool(_) => tool::finish::<(), FromValue>(responder, Err(failure)),
        _ => finish::<ForPrompt, String>(responder, Err(failure)),
    }
}

pub(crate) fn finish<K, T: Outcome<K>>(responder: Responder, outcome: Result<T, ToolError>) {
    let Some((responder, outcome)) = responder.conclude(outcome) else { return };
    let failure = match outcome {
        Ok(value) => {
            let output = value.into_output(responder.target());
            return responder.respond(output);
        }
        Err(ToolError(failure)) => failure,
    };
    let error = match failure {
        Failure::Shown(message) => ErrorObject::new(APPLICATION, message),
        Failure::Protocol(error) => error,
        Failure::NotFound => match responder.target().uri() {
            Some(uri) => resource_not_found(uri),
            None => ErrorObject::new(code::INVALID_PARAMS, NOT_FOUND),
        },
        Failure::Forbidden(scopes) => return responder.forbid(scopes),
        Failure::Internal(detail) => return responder.fail_internally(&detail),
        failure => return responder.fail_internally(failure.stray()),
    };
    responder.fail(error);
}

/// What is said of something that is not there and has no URI.
pub(crate) const NOT_FOUND: &str = "not found";

/// All handlers of a server: a prompt that is called like a tool is something else.
#[derive(Clone, Default)]
pub(crate) struct Handlers {
    pub(crate) tools: SharedMap<Arc<str>, Run>,
    pub(crate) prompts: SharedMap<Arc<str>, Run>,
    pub(crate) resources: SharedMap<Arc<str>, Run>,
    pub(crate) templates: SharedMap<Arc<str>, Run>,
    pub(crate) completions: Completions,
    /// Of methods that are not the protocol's.
    pub(crate) methods: SharedMap<Arc<str>, Run>,
}

/// Handlers of completion, by prompt or template and by argument.
#[derive(Clone, Default)]
pub(crate) struct Completions {
    pub(crate) prompts: BTreeMap<String, BTreeMap<String, Run>>,
    pub(crate) templates: BTreeMap<String, BTreeMap<String, Run>>,
}

impl Handlers {
    pub(crate) fn get(&self, target: &Target) -> Option<&Run> {
        match target {
            Target::Tool(entry) => self.tools.get(&*entry.tool.name),
            Target::Prompt(entry) => self.prompts.get(&*entry.prompt.name),
            Target::Resource(entry) => self.resources.get(&*entry.resource.uri),
            Target::Template(read) => self.templates.get(&*read.template.template.uri_template),
            Target::Completion(completing) => {
                let of = match &completing.of {
                    Completable::Prompt(_) => &self.completions.prompts,
                    Completable::Template(_) => &self.completions.templates,
                    _ => return None,
                };
                of.get(completing.of.name())?.get(&completing.argument.name)
            }
            Target::Custom(method) => self.methods.get(&*method.name),
            _ => None,
        }
    }
}

/// What is being served, for people on this side: nothing that a client made up.
pub(crate) fn label(target: &Target) -> String {
    match target {
        Target::Tool(entry) => format!("tool {}", entry.tool.name),
        Target::Prompt(entry) => format!("prompt {}", entry.prompt.name),
        Target::Resource(entry) => format!("resource {}", entry.resource.uri),
        Target::Template(read) => format!("resource template {}", read.template.template.uri_template),
        Target::Completion(completing) => {
            format!("completion of {} of {}", completing.argument.name, completing.of.name())
        }
        Target::Custom(_) => format!("method {}", target.method()),
        _ => format!("request {}", target.method()),
    }
}
