//! The three kinds of message.

use super::id::RequestId;
use crate::error::ErrorObject;
use alloc::borrow::Cow;
use core::fmt;
use serde_json::value::RawValue;

/// A message.
#[derive(Clone, Debug)]
pub enum Message<'a> {
    /// Wants an answer.
    Request(Request<'a>),
    /// Wants none.
    Notification(Notification<'a>),
    /// Is one.
    Response(Response<'a>),
}

/// A message that wants an answer.
#[derive(Clone)]
#[non_exhaustive]
pub struct Request<'a> {
    /// What the response is to carry.
    pub id: RequestId,
    /// What is asked for.
    pub method: Cow<'a, str>,
    /// With what parameters: an object.
    pub params: Option<&'a RawValue>,
}

/// A message that is never answered.
#[derive(Clone)]
#[non_exhaustive]
pub struct Notification<'a> {
    /// What has happened.
    pub method: Cow<'a, str>,
    /// With what parameters: an object.
    pub params: Option<&'a RawValue>,
}

/// The answer to a request.
#[derive(Clone)]
#[non_exhaustive]
pub struct Response<'a> {
    /// The id of the request. A result always has one; an error may be about a message whose id could not
    /// be read, and then has none or `null`.
    pub id: Option<RequestId>,
    /// The result, any JSON value, or the error.
    pub outcome: Result<&'a RawValue, ErrorObject>,
}

/// These print what a message is about, and the size of what it carries: payloads never reach a log.
impl fmt::Debug for Request<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (id, method) = (&self.id, &self.method);
        write!(f, "Request({id}, {method:?}, {})", Size(self.params))
    }
}

impl fmt::Debug for Notification<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Notification({:?}, {})", self.method, Size(self.params))
    }
}

impl fmt::Debug for Response<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.outcome {
            Ok(result) => write!(f, "Response({:?}, {})", self.id, Size(Some(result))),
            Err(error) => write!(f, "Response({:?}, error {})", self.id, error.code),
        }
    }
}

struct Size<'a>(Option<&'a RawValue>);

impl fmt::Display for Size<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} bytes", self.0.map_or(0, |json| json.get().len()))
    }
}
