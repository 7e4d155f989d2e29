//! Results that ask the client for input before the request can be completed; from 2026-07-28 on.
//!
//! <https://modelcontextprotocol.io/specification/2026-07-28/basic/patterns/mrtr>

use super::decode::{Rest, Tagged, tagged};
use super::elicitation::{ElicitAction, ElicitRequestParams, ElicitResult};
use super::encode::{In, Members, Object, ResultKind};
use super::json::{Json, JsonMap};
use super::macros::{open_object, setters};
use super::meta::Meta;
use super::roots::ListRootsResult;
use super::sampling::{CreateMessageRequestParams, CreateMessageResult};
use crate::dialect::Revision;
use crate::wire::jsonrpc::decode_at;
use alloc::borrow::ToOwned;
use alloc::boxed::Box;
use alloc::collections::BTreeMap;
use alloc::string::String;
use serde::de::{DeserializeOwned, Error, MapAccess};
use serde::ser::SerializeMap;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// What a server asks, by names of its own.
pub type InputRequests = BTreeMap<String, InputRequest>;

/// The client's answers, by the names that the server gave: bare results, as JSON (MRTR-21).
pub type InputResponses = JsonMap;

/// A result that asks for input. At least one of its two parts is there (MRTR-05).
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct InputRequiredResult {
    /// What is asked. When nothing is, the client may try again at once (MRTR-22).
    pub input_requests: InputRequests,
    /// Comes back with the answers as it is; opaque to the client (MRTR-24, MRTR-25).
    pub request_state: Option<String>,
    /// Metadata.
    pub meta: Meta,
    /// Members not known here.
    pub extra: JsonMap,
}

impl InputRequiredResult {
    /// Nothing asked yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// With `request` asked under `name`, in place of what was.
    #[must_use]
    pub fn ask(mut self, name: impl Into<String>, request: impl Into<InputRequest>) -> Self {
        self.input_requests.insert(name.into(), request.into());
        self
    }
}

setters!(InputRequiredResult {
    request_state?: String,
    meta: Meta,
    extra: JsonMap,
});

open_object!(InputRequiredResult {
    required {}
    optional {
        "inputRequests" => input_requests,
        "requestState" => request_state,
        "_meta" => meta,
    }
    ignored { "resultType", }
});

impl Members for InputRequiredResult {
    fn members<M: SerializeMap>(&self, to: &mut Object<M>) -> Result<(), M::Error> {
        struct Requests<'a>(Revision, &'a InputRequests);
        impl Serialize for Requests<'_> {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.collect_map(self.1.iter().map(|(name, request)| (name, In(self.0, request))))
            }
        }
        to.member("resultType", "input_required")?;
        if !self.input_requests.is_empty() {
            to.member("inputRequests", &Requests(to.revision(), &self.input_requests))?;
        }
        to.optional("requestState", &self.request_state)?;
        to.open(&self.extra, Self::KNOWN)
    }

    fn metadata(&self, _revision: Revision) -> Option<&Meta> {
        Some(&self.meta)
    }

    fn kind(&self) -> ResultKind {
        ResultKind::InputRequired
    }

    fn input_required(&self) -> Option<&InputRequiredResult> {
        Some(self)
    }
}

/// One thing asked of the client (MRTR-07).
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum InputRequest {
    /// `elicitation/create`: ask the user.
    Elicit(ElicitRequestParams),
    /// `sampling/createMessage`: ask the model.
    CreateMessage(Box<CreateMessageRequestParams>),
    /// `roots/list`: list the roots.
    ListRoots,
    /// One that is not known here, as it came; it cannot be answered.
    Unknown {
        /// The method.
        method: String,
        /// The parameters, when there are any.
        params: Option<Json>,
    },
}

impl InputRequest {
    /// Whether it can be asked, of anybody: see what its parameters check. A conversation needs a message besides,
    /// to be continued (SAMP-08).
    ///
    /// # Errors
    /// What is wrong, for people.
    pub fn check(&self) -> Result<(), &'static str> {
        match self {
            Self::Elicit(params) => params.check(),
            Self::CreateMessage(params)
                if params.messages.iter().all(|message| message.content.blocks().is_empty()) =>
            {
                Err("there is no message to continue")
            }
            Self::CreateMessage(params) => params.check(),
            Self::ListRoots => Ok(()),
            Self::Unknown { .. } => Err("it is nothing that clients can be asked for"),
        }
    }

    /// Whether `answer` is one to it, as a bare result (MRTR-29, ELIC-33).
    ///
    /// # Errors
    /// What does not fit; names members and types, never values.
    pub fn check_answer(&self, answer: &Json) -> Result<(), String> {
        fn read<T: DeserializeOwned>(answer: &Json) -> Result<T, String> {
            decode_at(answer.get(), "result").map_err(|error| error.message.into_owned())
        }
        match self {
            Self::Elicit(params) => {
                let result: ElicitResult = read(answer)?;
                let ElicitRequestParams::Form(form) = params else { return Ok(()) };
                if result.action != ElicitAction::Accept {
                    return Ok(());
                }
                let content = result.content.ok_or("result.content: missing")?;
                let checked = form.requested_schema.check(&content);
                checked.map_err(|reason| alloc::format!("result.content: {reason}"))
            }
            Self::CreateMessage(_) => read::<CreateMessageResult>(answer).map(drop),
            Self::ListRoots => read::<ListRootsResult>(answer).map(drop),
            Self::Unknown { .. } => Err("nothing that can be asked".into()),
        }
    }

    /// The method that is asked for.
    pub fn method(&self) -> &str {
        match self {
            Self::Elicit(_) => "elicitation/create",
            Self::CreateMessage(_) => "sampling/createMessage",
            Self::ListRoots => "roots/list",
            Self::Unknown { method, .. } => method,
        }
    }
}

impl From<ElicitRequestParams> for InputRequest {
    fn from(params: ElicitRequestParams) -> Self {
        Self::Elicit(params)
    }
}

impl From<CreateMessageRequestParams> for InputRequest {
    fn from(params: CreateMessageRequestParams) -> Self {
        Self::CreateMessage(Box::new(params))
    }
}

impl Members for InputRequest {
    fn members<M: SerializeMap>(&self, to: &mut Object<M>) -> Result<(), M::Error> {
        to.member("method", self.method())?;
        match self {
            Self::Elicit(params) => to.encoded("params", params),
            Self::CreateMessage(params) => to.encoded("params", &**params),
            Self::ListRoots => Ok(()),
            Self::Unknown { params, .. } => to.optional("params", params),
        }
    }
}

impl Tagged for InputRequest {
    const TAG: &'static str = "method";
    const EXPECTED: &'static str = "an input request";

    fn variant<'de, A: MapAccess<'de>>(method: Option<&str>, rest: Rest<A>) -> Result<Self, A::Error> {
        Ok(match method.ok_or_else(|| A::Error::missing_field("method"))? {
            "elicitation/create" => Self::Elicit(params(rest)?),
            "sampling/createMessage" => Self::CreateMessage(params(rest)?),
            "roots/list" => {
                rest.decode::<serde::de::IgnoredAny>()?;
                Self::ListRoots
            }
            method => {
                let mut members: JsonMap = rest.decode()?;
                Self::Unknown { method: method.to_owned(), params: members.remove("params") }
            }
        })
    }
}

fn params<'de, A: MapAccess<'de>, T: DeserializeOwned>(rest: Rest<A>) -> Result<T, A::Error> {
    #[derive(Deserialize)]
    struct Params<T> {
        params: T,
    }
    rest.decode::<Params<T>>().map(|request| request.params)
}

impl<'de> Deserialize<'de> for InputRequest {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        tagged(deserializer)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::tests::{encoded, json};

    /// MRTR-04, CACHE-07
    #[test]
    fn a_result_that_asks_says_so_and_carries_no_hints() {
        let result = InputRequiredResult::new().ask("dirs", InputRequest::ListRoots).request_state("s");
        assert_eq!(
            encoded(Revision::LATEST, &result),
            json(
                r#"{"resultType":"input_required","inputRequests":{"dirs":{"method":"roots/list"}},"requestState":"s"}"#
            )
        );
    }

    #[test]
    fn a_request_that_is_not_known_does_not_cost_the_others() {
        let result: InputRequiredResult = serde_json::from_str(
            r#"{"inputRequests":{"a":{"params":{"x":1},"method":"new/thing"},"b":{"method":"roots/list"}}}"#,
        )
        .unwrap();
        assert_eq!(result.input_requests["a"].method(), "new/thing");
        assert_eq!(result.input_requests["b"], InputRequest::ListRoots);
    }
}
