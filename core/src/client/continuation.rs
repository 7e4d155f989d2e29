//! A call that waits for input, as something to keep: in a file, for another process, until somebody has decided.

use super::answer::{InputResponse, Refusal};
use super::call::{Call, name_of};
use super::reply::RawReply;
use super::rounds::unname_pages;
use crate::dialect::Revision;
use crate::error::{ApiMisuse, CallError, Full};
use crate::model::input_required::{InputRequiredResult, InputResponses};
use crate::model::{Json, JsonMap};
use crate::time::Duration;
use crate::wire::jsonrpc::write_json;
use alloc::borrow::ToOwned;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use core::fmt;
use core::marker::PhantomData;
use serde::{Deserialize, Serialize};

/// Members of the parameters that belong to a round and not to the call.
const ROUND: [&str; 2] = ["inputResponses", "requestState"];

/// A call that a modern server answered with `input_required`, with everything that is needed to go on with it: by
/// [`Resume`], on any connection to that server, also in another process. It serializes with serde.
///
/// It holds the arguments of the call and answers of people, so keep it as carefully as those. What the server has
/// to say is for it alone: whoever changes its state will be refused.
///
/// <https://modelcontextprotocol.io/specification/2026-07-28/basic/patterns/mrtr>
#[derive(Clone, PartialEq, Serialize, Deserialize)]
pub struct Continuation {
    method: String,
    params: Json,
    result: Json,
    #[serde(default)]
    responses: InputResponses,
    #[serde(default)]
    rounds: usize,
}

/// Prints what it is about, and no payload.
impl fmt::Debug for Continuation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Continuation({}, round {})", self.method, self.rounds)
    }
}

impl Continuation {
    pub(super) fn new(
        method: &str,
        params: &[u8],
        result: Json,
        responses: InputResponses,
        rounds: usize,
    ) -> Self {
        let params = Json::new(&own(params)).unwrap_or_else(|_| Json::empty_object());
        Self { method: method.to_owned(), params, result, responses, rounds }
    }

    /// The method of the call.
    pub fn method(&self) -> &str {
        &self.method
    }

    /// How often the server has asked.
    pub fn rounds(&self) -> usize {
        self.rounds
    }

    /// What the server asks. Show it to whoever can answer.
    ///
    /// # Errors
    ///
    /// When what was read back is none.
    pub fn input_required(&self) -> Result<InputRequiredResult, ApiMisuse> {
        let mut asked: InputRequiredResult = self
            .result
            .decode()
            .map_err(|_| ApiMisuse::new("a continuation holds no input-required result"))?;
        unname_pages(&mut asked.input_requests);
        Ok(asked)
    }

    /// The answers so far, by the names that the server gave.
    pub fn responses(&self) -> &InputResponses {
        &self.responses
    }

    /// Answers what the server asks under `key`, checked against what it asked.
    ///
    /// # Errors
    ///
    /// When nothing is asked under that name, or the answer does not fit.
    pub fn answer(&mut self, key: &str, response: impl Into<InputResponse>) -> Result<(), ApiMisuse> {
        let asked = self.input_required()?;
        let Some(request) = asked.input_requests.get(key) else {
            return Err(ApiMisuse::new(format!("the server asks nothing under the name `{key}`")));
        };
        let response = response.into().write(request, Revision::LATEST)?;
        self.responses.insert(key.to_owned(), response);
        Ok(())
    }
}

/// Goes on with a call, as whatever it was: `Resume::<CallTool<Json>>::new(continuation)`.
#[derive(Clone, Debug)]
pub struct Resume<C> {
    continuation: Continuation,
    name: Option<String>,
    call: PhantomData<fn() -> C>,
}

impl<C> Resume<C> {
    /// The call that `continuation` was made of, with the answers that it holds.
    pub fn new(continuation: Continuation) -> Self {
        let name = name_of(&continuation.method, &continuation.params);
        Self { continuation, name, call: PhantomData }
    }
}

impl<C: Call> Call for Resume<C> {
    type Reply = C::Reply;

    fn method(&self) -> &str {
        &self.continuation.method
    }

    fn write_params(&self, _: Revision, out: &mut Vec<u8>) -> Result<(), ApiMisuse> {
        let Continuation { params, responses, .. } = &self.continuation;
        let asked = self.continuation.input_required()?;
        if let Some(key) = asked.input_requests.keys().find(|key| !responses.contains_key(*key)) {
            return Err(ApiMisuse::new(format!("what the server asks as `{key}` was not answered")));
        }
        merge(params.get().as_bytes(), responses, asked.request_state.as_deref(), out)
    }

    fn read(reply: RawReply<'_>) -> Result<Self::Reply, CallError> {
        C::read(reply)
    }

    fn name(&self) -> Option<&str> {
        self.name.as_deref()
    }

    fn rounds(&self) -> usize {
        self.continuation.rounds
    }
}

/// The members of the call itself.
fn own(params: &[u8]) -> JsonMap {
    let mut members: JsonMap = serde_json::from_slice(params).unwrap_or_default();
    members.retain(|name, _| !ROUND.contains(&name.as_str()));
    members
}

/// Appends the parameters of a call with what belongs to its next round: every answer, and the state as it came or
/// none (MRTR-21, MRTR-23 to MRTR-26).
pub(super) fn merge(
    params: &[u8],
    responses: &InputResponses,
    state: Option<&str>,
    out: &mut Vec<u8>,
) -> Result<(), ApiMisuse> {
    let mut members = own(params);
    let json = |error: serde_json::Error| ApiMisuse::new(format!("{error}"));
    if !responses.is_empty() {
        members.insert("inputResponses".into(), Json::new(responses).map_err(json)?);
    }
    if let Some(state) = state {
        members.insert("requestState".into(), Json::new(state).map_err(json)?);
    }
    write_json(out, &members)
}

/// Why a call that a server answered with `input_required` was not made again.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Unmet {
    /// The application wanted it so: [`CallOptions::manual_input`](super::CallOptions::manual_input).
    Manual,
    /// The server asked more often than [`Limits::call_rounds`](crate::limits::Limits::call_rounds).
    Rounds {
        /// The bound.
        limit: usize,
    },
    /// It asks, under this name, what this client did not declare, what is not known, or what makes no sense.
    Inadmissible {
        /// The name that the server gave.
        key: String,
        /// What is wrong, in the words of the specification.
        reason: String,
    },
    /// What it asks under this name has no answer.
    Refused {
        /// The name that the server gave.
        key: String,
        /// Why.
        refusal: Refusal,
    },
    /// It asks for more than fits.
    Full(Full),
    /// The application did not want to wait for it any longer.
    Stopped,
    /// The call took longer than it may, however often it is made.
    TimedOut {
        /// How long it had.
        after: Duration,
    },
}

impl fmt::Display for Unmet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Manual => f.write_str("it is to be answered by hand"),
            Self::Rounds { limit } => {
                write!(f, "it has asked {limit} times, as often as `Limits::call_rounds` allows")
            }
            Self::Inadmissible { key, reason } => {
                write!(f, "`{}` cannot be asked of this client: {reason}", crate::text::Excerpt(key))
            }
            Self::Refused { key, refusal } => {
                write!(f, "`{}` was not answered: {refusal}", crate::text::Excerpt(key))
            }
            Self::Full(full) => full.fmt(f),
            Self::Stopped => f.write_str("it is not waited for any longer"),
            Self::TimedOut { after } => write!(f, "it was not complete within {after:?}"),
        }
    }
}
