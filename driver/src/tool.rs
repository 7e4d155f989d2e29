//! Tools: metadata, and a function from typed arguments to anything that turns into a result.

use std::fmt;
use std::future::Future;
use std::marker::PhantomData;

use mcp_proto::error::{ApiMisuse, ErrorObject};
use mcp_proto::model::{
    self, CallToolResult, ClientCapabilities, ContentBlock, ElicitRequestUrlParams, Icon, Json, Meta, Object,
    TaskSupport, ToolAnnotations,
};
use mcp_proto::schema::OutputCheck;
use mcp_proto::server::{Scopes, Target, WriteResult};
use mcp_proto::wire::jsonrpc::decode_at;
use schemars::JsonSchema;
use schemars::generate::SchemaSettings;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde::ser::SerializeMap;

use crate::context::{Context, InputRequired, Responder};
use crate::error::chain;
use crate::handler::{NOT_FOUND, Run};

/// What a server says about a tool. The schema of its arguments comes from the handler's argument type,
/// unless one is given by hand.
///
/// <https://modelcontextprotocol.io/specification/2026-07-28/server/tools#tool>
#[derive(Clone, Debug)]
pub struct Tool {
    /// Its input schema comes last.
    model: model::Tool,
    input_schema: Option<Json>,
    pub(crate) scopes: Scopes,
    pub(crate) task_support: TaskSupport,
}

impl Tool {
    /// A tool by name: 1 to 128 letters, digits, `_`, `-` and `.`, unique within its server. A name that is
    /// longer or has other characters is served and reported to [`Server::on_error`](crate::Server::on_error).
    pub fn new(name: impl Into<String>) -> Self {
        let model = model::Tool::new(name, Json::empty_object());
        Self { model, input_schema: None, scopes: Scopes::new(), task_support: TaskSupport::Forbidden }
    }

    /// What it does, for the model.
    #[must_use]
    pub fn description(mut self, description: impl Into<String>) -> Self {
        self.model = self.model.description(description);
        self
    }

    /// A name for people.
    #[must_use]
    pub fn title(mut self, title: impl Into<String>) -> Self {
        self.model = self.model.title(title);
        self
    }

    /// Hints on what calling it does.
    #[must_use]
    pub fn annotations(mut self, annotations: ToolAnnotations) -> Self {
        self.model = self.model.annotations(annotations);
        self
    }

    /// An icon to show beside it.
    #[must_use]
    pub fn icon(mut self, icon: Icon) -> Self {
        self.model.icons.push(icon);
        self
    }

    /// The schema of its arguments, by hand: a JSON Schema whose root has `"type": "object"`. A handler that
    /// takes [`Json`] has them as they came, and needs this one; otherwise it takes the place of the schema
    /// of the handler's argument type.
    ///
    /// A property with `x-mcp-header` also travels in a header, which proxies read and log: nothing secret belongs
    /// into it (HDR-56).
    #[must_use]
    pub fn input_schema(mut self, schema: Json) -> Self {
        self.input_schema = Some(schema);
        self
    }

    /// The schema of its structured result.
    #[must_use]
    pub fn output_schema(mut self, schema: Json) -> Self {
        self.model = self.model.output_schema(schema);
        self
    }

    /// The schema of its structured result, from a type.
    #[must_use]
    pub fn output<T: JsonSchema>(mut self) -> Self {
        self.model.output_schema = schema_of::<T>();
        self
    }

    /// Scopes that a caller must have, all of them; see [`ResourceServer`](mcp_proto::server::ResourceServer).
    /// Over HTTP nobody can call it where nobody is recognised.
    #[must_use]
    pub fn scopes<S: Into<String>>(mut self, scopes: impl IntoIterator<Item = S>) -> Self {
        self.scopes.extend(scopes.into_iter().map(Into::into));
        self
    }

    /// Whether calls may or must go on as tasks, by [`Context::continue_as_task`](crate::Context::continue_as_task); a
    /// server with such a tool declares the extension `io.modelcontextprotocol/tasks` to modern clients. Default:
    /// they may not.
    ///
    /// With [`Required`](TaskSupport::Required), a modern client that has not declared the extension for its call is
    /// refused before the handler runs. Legacy clients, who have no such extension, are served plain calls.
    ///
    /// <https://modelcontextprotocol.io/extensions/tasks/overview>
    #[must_use]
    pub fn task_support(mut self, support: TaskSupport) -> Self {
        self.task_support = support;
        self
    }

    /// `_meta` of the definition.
    #[must_use]
    pub fn meta(mut self, meta: Meta) -> Self {
        self.model = self.model.meta(meta);
        self
    }

    pub(crate) fn has_input_schema(&self) -> bool {
        self.input_schema.is_some()
    }

    /// The definition as it travels.
    ///
    /// # Errors
    /// When there is no schema: none was given, and the one of the argument type says nothing.
    pub(crate) fn into_model(self, arguments: Option<Json>) -> Result<model::Tool, ApiMisuse> {
        let mut tool = self.model;
        let Some(schema) = self.input_schema.or(arguments) else {
            return Err(ApiMisuse::new(format!(
                "tool `{}` has no input schema: give one with `Tool::input_schema`, or take arguments of a type \
                 that has one",
                tool.name
            )));
        };
        tool.input_schema = schema;
        Ok(tool)
    }
}

/// The JSON Schema (2020-12) of a type, without the `$schema` member that is the default; `None` when it
/// permits anything.
pub(crate) fn schema_of<T: JsonSchema>() -> Option<Json> {
    says_something(&generated::<T>())
}

/// The same for arguments. That of a type without members says so (TOOL-09), with `properties`, which some clients
/// look for whatever there is. That there are no others is advice, and decoding decides: models that are urged to
/// fill in something make up a member.
fn input_schema_of<T: JsonSchema>() -> Option<Json> {
    let mut schema = generated::<T>();
    let is_bare = |members: &serde_json::Map<String, serde_json::Value>| {
        members.get("type").is_some_and(|kind| kind == "object")
            && members
                .keys()
                .all(|keyword| ["type", "description", "additionalProperties"].contains(&&**keyword))
            && members.get("additionalProperties").is_none_or(|rest| rest == false)
    };
    if schema.as_object().is_some_and(is_bare) {
        schema.insert("properties".to_owned(), serde_json::Value::Object(serde_json::Map::new()));
        schema.insert("additionalProperties".to_owned(), false.into());
    }
    says_something(&schema)
}

fn generated<T: JsonSchema>() -> schemars::Schema {
    let settings = SchemaSettings::draft2020_12().with(|settings| settings.meta_schema = None);
    let mut schema = settings.into_generator().into_root_schema_for::<T>();
    // The name of the Rust type says nothing to a model.
    schema.remove("title");
    schema
}

fn says_something(schema: &schemars::Schema) -> Option<Json> {
    let says_something = schema.as_object().is_some_and(|members| !members.is_empty());
    says_something.then(|| Json::new(schema).ok())?
}

/// A failure inside a handler of a tool, or of any other kind.
///
/// [`ToolError::new`] makes one that is shown: of a tool, it becomes a result with `isError` that the model
/// reads; of a prompt, a resource or a completion, a JSON-RPC error with the code 1 and that message.
/// Any other error, turned into this by `?`, is the server's own business: the peer is told `internal error` and nothing
/// else, and the text goes to [`Server::on_error`](crate::Server::on_error).
pub struct ToolError(pub(crate) Failure);

pub(crate) enum Failure {
    /// For the model.
    Shown(String),
    /// For the peer: there is no such thing.
    NotFound,
    /// For the peer, as a JSON-RPC error.
    Protocol(ErrorObject),
    /// For the client: the caller lacks some of these scopes.
    Forbidden(Vec<String>),
    /// For people on this side.
    Internal(String),
    /// Something has to be said to the client first.
    Leave,
    /// What was asked needs what the client did not declare; also in words.
    Missing(Box<ClientCapabilities>, String),
    /// What the handler wants to be told first.
    Input(Box<InputRequired>),
    /// The pages that the user has to visit first.
    Urls(Vec<ElicitRequestUrlParams>),
}

impl Failure {
    /// Whether it is about what the client is asked.
    pub(crate) fn asks(&self) -> bool {
        matches!(self, Self::Leave | Self::Missing(..) | Self::Input(_) | Self::Urls(_))
    }

    /// What is said of one that made its way to where nothing can be asked.
    pub(crate) fn stray(&self) -> &'static str {
        "the handler returned an error that belongs to another request"
    }
}

impl ToolError {
    /// A failure that the model, or of what is no tool the client, can read and act on.
    pub fn new(message: impl Into<String>) -> Self {
        Self(Failure::Shown(message.into()))
    }

    /// There is no such thing. Of a resource, the client is told so with its URI and with the code that the
    /// revision has for this.
    pub fn not_found() -> Self {
        Self(Failure::NotFound)
    }

    /// A failure as a JSON-RPC error, for what is no outcome of the tool but a fault of the request.
    pub fn protocol(error: ErrorObject) -> Self {
        Self(Failure::Protocol(error))
    }

    /// The caller lacks scopes that this very request turned out to need; name all that it needs, also those that
    /// the caller has. Over HTTP the client is asked to come back with a token that has them. Scopes that are
    /// known before belong to [`Tool::scopes`].
    pub fn insufficient_scope<S: Into<String>>(scopes: impl IntoIterator<Item = S>) -> Self {
        Self(Failure::Forbidden(scopes.into_iter().map(Into::into).collect()))
    }

    /// A failure that the peer is told nothing about.
    pub fn internal(detail: impl Into<String>) -> Self {
        Self(Failure::Internal(detail.into()))
    }
}

impl<E: std::error::Error> From<E> for ToolError {
    fn from(error: E) -> Self {
        Self::internal(chain(&error))
    }
}

impl fmt::Debug for ToolError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            Failure::Shown(message) => f.debug_tuple("ToolError").field(message).finish(),
            Failure::Forbidden(scopes) => {
                f.debug_tuple("ToolError::insufficient_scope").field(scopes).finish()
            }
            Failure::NotFound => f.write_str("ToolError::not_found"),
            Failure::Protocol(error) => f.debug_tuple("ToolError::protocol").field(error).finish(),
            Failure::Internal(detail) => f.debug_tuple("ToolError::internal").field(detail).finish(),
            Failure::Leave => f.write_str("ToolError::from(Unanswered::Leave)"),
            Failure::Missing(_, text) => f.debug_tuple("ToolError::from").field(text).finish(),
            Failure::Input(required) => f.debug_tuple("ToolError::from").field(required).finish(),
            Failure::Urls(_) => f.write_str("ToolError::url_elicitation_required"),
        }
    }
}

/// What a handler may return. `M` keeps the ways apart and is never named.
pub trait IntoToolResult<M>: Send + 'static {
    /// What is written.
    type Output: ToolOutput;

    /// Turns the value into a result.
    ///
    /// # Errors
    /// When the value cannot be written as JSON.
    fn into_tool_result(self) -> Result<Self::Output, ToolError>;
}

/// A result of a tool as it is written, and as it is held against the output schema.
pub trait ToolOutput: WriteResult + Send + 'static {
    /// The tool has an output schema, so that there is to be structured content if at all possible.
    fn declared(&mut self) {}

    /// The structured content.
    fn structured(&self) -> Option<&Json>;

    /// Whether it tells of a failure, which needs no structured content.
    fn is_failure(&self) -> bool {
        false
    }
}

impl ToolOutput for CallToolResult {
    fn structured(&self) -> Option<&Json> {
        self.structured_content.as_ref()
    }

    fn is_failure(&self) -> bool {
        self.failed()
    }
}

impl ToolOutput for Value {
    fn declared(&mut self) {
        self.structured = true;
    }

    fn structured(&self) -> Option<&Json> {
        Some(&self.json)
    }
}

/// Marks results made from a `Serialize` value.
#[derive(Debug)]
pub struct FromValue;

/// Marks results made by hand.
#[derive(Debug)]
pub struct ByHand;

/// A string becomes text, and nothing (`()`, `None`) becomes no content. Anything else becomes structured
/// content, mirrored to text for clients and models that read no other (TOOL-26, TOOL-27). Of a tool with an output
/// schema, strings and nothing become structured content, too.
impl<T: Serialize + Send + 'static> IntoToolResult<FromValue> for T {
    type Output = Value;

    fn into_tool_result(self) -> Result<Value, ToolError> {
        Ok(Value { json: Json::new(&self)?, structured: false })
    }
}

impl IntoToolResult<ByHand> for CallToolResult {
    type Output = Self;

    fn into_tool_result(self) -> Result<Self, ToolError> {
        // The mirror is for clients that read no structured content (TOOL-27).
        Ok(self.mirrored())
    }
}

impl IntoToolResult<ByHand> for ContentBlock {
    type Output = CallToolResult;

    fn into_tool_result(self) -> Result<CallToolResult, ToolError> {
        Ok(CallToolResult::new(vec![self]))
    }
}

impl IntoToolResult<ByHand> for Vec<ContentBlock> {
    type Output = CallToolResult;

    fn into_tool_result(self) -> Result<CallToolResult, ToolError> {
        Ok(CallToolResult::new(self))
    }
}

/// A result that consists of one JSON value.
pub struct Value {
    json: Json,
    /// Whether it is structured content whatever it is.
    structured: bool,
}

/// Prints the length of the result only.
impl fmt::Debug for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Value({} bytes)", self.json.get().len())
    }
}

impl model::Members for Value {
    fn members<M: SerializeMap>(&self, to: &mut Object<M>) -> Result<(), M::Error> {
        to.complete()?;
        match self.json.get().as_bytes().first() {
            // `()` and `None` have nothing to say.
            Some(b'n') if !self.structured => return to.member("content", &[(); 0]),
            Some(b'"') if !self.structured => return to.member("content", &[TextBlock { text: &self.json }]),
            _ => {}
        }
        to.member("content", &[TextBlock { text: self.json.get() }])?;
        to.structured_content(Some(&self.json))
    }
}

/// A text block over borrowed text: a `Json` that is a string already, or text to be quoted.
#[derive(Serialize)]
#[serde(tag = "type", rename = "text")]
struct TextBlock<T> {
    text: T,
}

/// A function that serves a tool. Implemented for
///
/// - `Fn(Arguments, Context) -> Future<Output = Result<T, ToolError>>`: run on the runtime;
/// - `Fn(Arguments, Context) -> Result<T, ToolError>`: run on threads that may block,
///
/// where `Arguments` is `DeserializeOwned + JsonSchema` and `T` is a `Serialize` value, content blocks, or a
/// [`CallToolResult`]. Take [`Json`] to have the arguments as they came, with a schema by hand:
/// [`Tool::input_schema`]. `M` keeps the ways apart and is never named.
#[diagnostic::on_unimplemented(
    message = "this function cannot serve a tool",
    note = "expected `Fn(Arguments, Context) -> Result<T, ToolError>`, async or not",
    note = "`Arguments` must be `serde::Deserialize` and `schemars::JsonSchema` (schemars 1)",
    note = "`T` must be `serde::Serialize`, content blocks, or a `CallToolResult`"
)]
pub trait ToolHandler<M>: Send + Sync + 'static {
    /// The function behind one shape.
    fn into_handler(self) -> Handler;
}

/// A handler behind one shape.
pub struct Handler {
    pub(crate) schema: Option<Json>,
    pub(crate) run: Run,
}

impl fmt::Debug for Handler {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Handler").finish_non_exhaustive()
    }
}

/// Marks handlers that return a future.
#[derive(Debug)]
pub struct AsyncHandler<A, T, M>(PhantomData<fn(A) -> (T, M)>);

/// Marks handlers that return a result and may block.
#[derive(Debug)]
pub struct BlockingHandler<A, T, M>(PhantomData<fn(A) -> (T, M)>);

impl<F, A, T, M, Fut> ToolHandler<AsyncHandler<A, T, M>> for F
where
    F: Fn(A, Context) -> Fut + Send + Sync + 'static,
    Fut: Future<Output = Result<T, ToolError>> + Send + 'static,
    A: DeserializeOwned + JsonSchema + Send + 'static,
    T: IntoToolResult<M>,
{
    fn into_handler(self) -> Handler {
        Handler { schema: input_schema_of::<A>(), run: Run::future(self, arguments::<A>, finish::<T, M>) }
    }
}

impl<F, A, T, M> ToolHandler<BlockingHandler<A, T, M>> for F
where
    F: Fn(A, Context) -> Result<T, ToolError> + Send + Sync + 'static,
    A: DeserializeOwned + JsonSchema + Send + 'static,
    T: IntoToolResult<M>,
{
    fn into_handler(self) -> Handler {
        Handler { schema: input_schema_of::<A>(), run: Run::blocking(self, arguments::<A>, finish::<T, M>) }
    }
}

/// Reads the arguments. Wrong ones are an outcome that the model can mend (TOOL-33), named by their path: all that are
/// missing at once, or it would need a try for each.
fn arguments<A: DeserializeOwned>(context: &Context) -> Result<A, ToolError> {
    context.check_arguments().map_err(|mismatch| ToolError::new(mismatch.to_string()))?;
    decode_at(context.arguments(), "arguments").map_err(|error| {
        let mut told = context.missing_arguments();
        if !told.iter().any(|missing| missing.starts_with(&*error.message)) {
            told.insert(0, error.message.into_owned());
        }
        ToolError::new(told.join("\n"))
    })
}

pub(crate) fn finish<T: IntoToolResult<M>, M>(responder: Responder, outcome: Result<T, ToolError>) {
    let Some((responder, outcome)) = responder.conclude(outcome) else { return };
    let outcome = outcome.and_then(IntoToolResult::into_tool_result);
    match outcome.and_then(|result| fitting(&responder, result)) {
        Ok(result) => responder.respond(result),
        Err(ToolError(Failure::Shown(message))) => responder.respond(CallToolResult::error(message)),
        Err(ToolError(Failure::NotFound)) => responder.respond(CallToolResult::error(NOT_FOUND)),
        Err(ToolError(Failure::Protocol(error))) => responder.fail(error),
        Err(ToolError(Failure::Forbidden(scopes))) => responder.forbid(scopes),
        Err(ToolError(Failure::Internal(detail))) => responder.fail_internally(&detail),
        Err(ToolError(failure)) => responder.fail_internally(failure.stray()),
    }
}

/// Holds a result against the output schema of the tool, if it has one (TOOL-28).
fn fitting<T: ToolOutput>(responder: &Responder, mut result: T) -> Result<T, ToolError> {
    let check = responder.output_check();
    let Target::Tool(entry) = responder.target() else { return Ok(result) };
    if entry.has_output_schema() {
        result.declared();
    }
    if check == OutputCheck::Off || result.is_failure() {
        return Ok(result);
    }
    match entry.check_output(result.structured().map(Json::get)) {
        Ok(()) => Ok(result),
        Err(mismatch) => {
            let detail = format!("the result does not fit the output schema: {mismatch}");
            if check == OutputCheck::Strict {
                return Err(ToolError::internal(detail));
            }
            responder.report(detail);
            Ok(result)
        }
    }
}
