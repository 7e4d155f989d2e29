//! The manual form: a handler that makes the rounds itself, by returning what it wants to be told and reading
//! what the client came back with.

use std::fmt;

use mcp_proto::model::{ElicitRequestUrlParams, InputRequest, InputRequests, InputResponses};
use serde::de::DeserializeOwned;

use super::Context;
use crate::tool::{Failure, ToolError};

/// What a handler wants to be told before it can answer. Returned as an error, by `?` or `.into()`; the handler runs
/// again when the client comes back.
///
/// [`Context::elicit`] and its kind do all of this by themselves. Use this one for full control of what is asked
/// in a round and of what is remembered. A client of the legacy era is sent requests instead, and the handler
/// runs again when they are answered, up to [`Limits::input_rounds`](mcp_proto::limits::Limits::input_rounds)
/// times.
///
/// ```
/// # use mcp_driver::{Context, InputRequired, ToolError};
/// # use mcp_driver::model::{ElicitRequestFormParams, ElicitRequestParams, ElicitResult, ElicitationSchema, StringSchema};
/// # fn form() -> ElicitRequestParams {
/// #     ElicitRequestFormParams::new("Who?", ElicitationSchema::new().required("name", StringSchema::new())).into()
/// # }
/// async fn greet(cx: Context) -> Result<String, ToolError> {
///     let Some(answer) = cx.input_response::<ElicitResult>("who") else {
///         return Err(InputRequired::new().ask("who", form()).state("round 1").into());
///     };
///     assert_eq!(cx.request_state().as_deref(), Some("round 1"));
///     Ok(format!("{:?}", answer.action))
/// }
/// ```
///
/// <https://modelcontextprotocol.io/specification/2026-07-28/basic/patterns/mrtr>
#[derive(Clone, Default)]
pub struct InputRequired {
    pub(super) requests: InputRequests,
    pub(super) state: Option<String>,
}

impl InputRequired {
    /// Nothing yet. At least a question or a state has to be added.
    pub fn new() -> Self {
        Self::default()
    }

    /// Asks something under a key of its own. The client must have declared that it can be asked that.
    #[must_use]
    pub fn ask(mut self, key: impl Into<String>, request: impl Into<InputRequest>) -> Self {
        self.requests.insert(key.into(), request.into());
        self
    }

    /// What the handler wants to have back; read it with [`Context::request_state`]. It is sealed: the client
    /// cannot read it, nor bring back another one, nor use it for another request or for long. Whoever wants it
    /// otherwise has a [`StateCodec`](mcp_proto::server::StateCodec) of their own.
    #[must_use]
    pub fn state(mut self, state: impl Into<String>) -> Self {
        self.state = Some(state.into());
        self
    }
}

/// Prints without what is asked and remembered.
impl fmt::Debug for InputRequired {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("InputRequired").field("keys", &self.requests.len()).finish_non_exhaustive()
    }
}

impl From<InputRequired> for ToolError {
    fn from(required: InputRequired) -> Self {
        Self(Failure::Input(Box::new(required)))
    }
}

impl ToolError {
    /// The user has to visit these pages before the request can be carried out. The client may make it again when
    /// they have; that they have been there, your own pages know.
    ///
    /// In revision 2025-11-25 an error of its own (-32042), in the modern era a result that asks the user to go there,
    /// and before both an ordinary failure whose text names the page (ELIC-26, ELIC-27).
    ///
    /// <https://modelcontextprotocol.io/specification/2025-11-25/client/elicitation#url-elicitation-required-error>
    pub fn url_elicitation_required(pages: impl IntoIterator<Item = ElicitRequestUrlParams>) -> Self {
        Self(Failure::Urls(pages.into_iter().collect()))
    }
}

impl Context {
    /// What the client answers to what it was asked, by key: nothing on a first run. Not checked against what
    /// was asked (MRTR-29).
    pub fn input_responses(&self) -> Option<InputResponses> {
        self.shared.journal(|journal| journal.manual.responses.clone())
    }

    /// One of these, if it is there and of that type, such as an
    /// [`ElicitResult`](mcp_proto::model::ElicitResult). If not, ask again (MRTR-32).
    pub fn input_response<T: DeserializeOwned>(&self, key: &str) -> Option<T> {
        self.shared.journal(|journal| journal.manual.responses.as_ref()?.get(key)?.decode().ok())
    }

    /// The [`state`](InputRequired::state) of the run before, which only this server can have made, for this very
    /// request and not long ago: a request with any other state is refused before its handler runs.
    pub fn request_state(&self) -> Option<String> {
        self.shared.journal(|journal| journal.kept.own.clone())
    }
}
