//! What a client can ask of a server.

use super::reply::RawReply;
use super::tasks::TaskRole;
use crate::dialect::Revision;
use crate::error::{ApiMisuse, CallError};
use crate::model::lifecycle::DiscoverResult;
use crate::model::logging::LoggingLevel;
use crate::model::{Json, JsonMap};
use crate::wire::jsonrpc::write_json;
use alloc::borrow::Cow;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use core::fmt;
use serde::{Deserialize, Serialize};

/// A request that a client sends, and how its reply is read.
///
/// The ready-made ones are in this module; [`Custom`] sends any method. Implement it to add a typed one.
pub trait Call {
    /// What a successful call returns.
    type Reply;

    /// The method, such as `tools/call`.
    fn method(&self) -> &str;

    /// Appends the parameters as one JSON object, on one line and without `_meta`, which is added behind
    /// them. [`write_json`](crate::wire::jsonrpc::write_json) does that for anything serializable.
    fn write_params(&self, revision: Revision, out: &mut Vec<u8>) -> Result<(), ApiMisuse>;

    /// Reads the result. It is complete: other result types never get here.
    fn read(reply: RawReply<'_>) -> Result<Self::Reply, CallError>;

    /// What goes into the `Mcp-Name` header: the name or URI that the call is about (HDR-07, HDR-08, TASK-54).
    fn name(&self) -> Option<&str> {
        None
    }

    /// Whether doing it twice is as good as doing it once, so that it may be sent again when it is unknown
    /// whether it was carried out. Default no.
    fn is_repeatable(&self) -> bool {
        false
    }

    /// Whether it makes sense in one session only, such as with a cursor that a legacy server gave out (PAGE-09): it is
    /// not sent again in another. Default no.
    fn is_of_session(&self) -> bool {
        false
    }

    /// How often the server has asked for input in the course of this call before; see
    /// [`Resume`](super::Resume).
    fn rounds(&self) -> usize {
        0
    }

    /// What it has to do with tasks. Default nothing: a task that it becomes is waited for.
    fn task(&self) -> TaskRole<'_> {
        TaskRole::Hidden
    }
}

/// `tools/call`: runs a tool.
///
/// <https://modelcontextprotocol.io/specification/2026-07-28/server/tools#calling-tools>
#[derive(Clone, PartialEq)]
pub struct CallTool<'a, A> {
    name: Cow<'a, str>,
    arguments: Option<A>,
}

/// Prints without the arguments.
impl<A> fmt::Debug for CallTool<'_, A> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CallTool").field("name", &self.name).finish_non_exhaustive()
    }
}

impl<'a> CallTool<'a, Json> {
    /// Calls a tool without arguments.
    pub fn new(name: impl Into<Cow<'a, str>>) -> Self {
        Self { name: name.into(), arguments: None }
    }
}

impl<'a, A: Serialize> CallTool<'a, A> {
    /// Calls a tool with arguments, which must serialize as a JSON object (TOOL-42).
    pub fn with(name: impl Into<Cow<'a, str>>, arguments: A) -> Self {
        Self { name: name.into(), arguments: Some(arguments) }
    }
}

impl<A: Serialize> Call for CallTool<'_, A> {
    type Reply = super::reply::ToolReply;

    fn method(&self) -> &str {
        "tools/call"
    }

    fn write_params(&self, _: Revision, out: &mut Vec<u8>) -> Result<(), ApiMisuse> {
        out.extend_from_slice(b"{\"name\":");
        write_json(out, &self.name)?;
        if let Some(arguments) = &self.arguments {
            out.extend_from_slice(b",\"arguments\":");
            let start = out.len();
            write_json(out, arguments)?;
            match out.get(start) {
                Some(b'{') => {}
                // `Option::None` and `()` mean what they say.
                Some(b'n') => out.truncate(start - b",\"arguments\":".len()),
                _ => return Err(ApiMisuse::new("the arguments of a tool must be a JSON object")),
            }
        }
        out.push(b'}');
        Ok(())
    }

    fn read(reply: RawReply<'_>) -> Result<Self::Reply, CallError> {
        super::reply::ToolReply::read(reply)
    }

    fn name(&self) -> Option<&str> {
        Some(&self.name)
    }
}

/// `ping`: whether the server is there. Legacy revisions only.
///
/// <https://modelcontextprotocol.io/specification/2025-11-25/basic/utilities/ping>
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Ping;

impl Call for Ping {
    type Reply = ();

    fn method(&self) -> &str {
        "ping"
    }

    fn write_params(&self, _: Revision, out: &mut Vec<u8>) -> Result<(), ApiMisuse> {
        out.extend_from_slice(b"{}");
        Ok(())
    }

    fn read(_: RawReply<'_>) -> Result<(), CallError> {
        Ok(())
    }

    fn is_repeatable(&self) -> bool {
        true
    }
}

/// `logging/setLevel`: from which level on the server sends log messages. Legacy revisions only; a modern
/// server is told with each request, see [`CallOptions::log_level`](super::CallOptions::log_level).
///
/// <https://modelcontextprotocol.io/specification/2025-11-25/server/utilities/logging#setting-log-level>
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SetLevel(pub LoggingLevel);

impl Call for SetLevel {
    type Reply = ();

    fn method(&self) -> &str {
        "logging/setLevel"
    }

    fn write_params(&self, _: Revision, out: &mut Vec<u8>) -> Result<(), ApiMisuse> {
        #[derive(Serialize)]
        struct Params {
            level: LoggingLevel,
        }
        write_json(out, &Params { level: self.0 })
    }

    fn read(_: RawReply<'_>) -> Result<(), CallError> {
        Ok(())
    }

    fn is_repeatable(&self) -> bool {
        true
    }
}

/// `server/discover`: what the server speaks and offers. Modern revisions only.
///
/// A connection asks by itself when it begins; this asks again.
///
/// <https://modelcontextprotocol.io/specification/2026-07-28/server/discover>
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Discover;

impl Call for Discover {
    type Reply = DiscoverResult;

    fn method(&self) -> &str {
        "server/discover"
    }

    fn write_params(&self, _: Revision, out: &mut Vec<u8>) -> Result<(), ApiMisuse> {
        out.extend_from_slice(b"{}");
        Ok(())
    }

    fn read(reply: RawReply<'_>) -> Result<DiscoverResult, CallError> {
        reply.decode()
    }

    fn is_repeatable(&self) -> bool {
        true
    }
}

/// Any method, with parameters and result as JSON.
#[derive(Clone, PartialEq)]
pub struct Custom {
    method: String,
    params: Option<Json>,
    name: Option<String>,
}

/// Prints without the parameters.
impl fmt::Debug for Custom {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Custom").field("method", &self.method).finish_non_exhaustive()
    }
}

impl Custom {
    /// A call of `method`, with or without parameters.
    ///
    /// # Errors
    ///
    /// When the parameters are not an object, or have a `_meta`, which belongs into
    /// [`CallOptions::meta`](super::CallOptions::meta).
    pub fn new(method: impl Into<String>, params: Option<Json>) -> Result<Self, ApiMisuse> {
        let method = method.into();
        if let Some(params) = &params {
            let keys = params
                .decode::<Keys>()
                .map_err(|_| ApiMisuse::new(format!("the parameters of `{method}` are not a JSON object")))?;
            if keys.meta {
                let message = format!("the parameters of `{method}` have `_meta`; use `Options::meta`");
                return Err(ApiMisuse::new(message));
            }
        }
        let name = params.as_ref().and_then(|params| name_of(&method, params));
        Ok(Self { method, params, name })
    }
}

/// What the call of a method of the specification is about (HDR-07, HDR-08, TASK-54).
pub(super) fn name_of(method: &str, params: &Json) -> Option<String> {
    let member = match method {
        "tools/call" | "prompts/get" => "name",
        "resources/read" => "uri",
        "tasks/get" | "tasks/update" | "tasks/cancel" | "tasks/result" => "taskId",
        _ => return None,
    };
    params.decode::<JsonMap>().ok()?.get(member)?.decode().ok()
}

/// Whether an object has `_meta`, without decoding anything else.
struct Keys {
    meta: bool,
}

impl<'de> Deserialize<'de> for Keys {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Members;
        impl<'de> serde::de::Visitor<'de> for Members {
            type Value = Keys;

            fn expecting(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: serde::de::MapAccess<'de>>(self, mut map: A) -> Result<Keys, A::Error> {
                let mut meta = false;
                while let Some(key) = map.next_key::<String>()? {
                    meta |= key == "_meta";
                    map.next_value::<serde::de::IgnoredAny>()?;
                }
                Ok(Keys { meta })
            }
        }
        deserializer.deserialize_map(Members)
    }
}

impl Call for Custom {
    type Reply = Json;

    fn method(&self) -> &str {
        &self.method
    }

    fn write_params(&self, _: Revision, out: &mut Vec<u8>) -> Result<(), ApiMisuse> {
        match &self.params {
            Some(params) => write_json(out, params),
            None => {
                out.extend_from_slice(b"{}");
                Ok(())
            }
        }
    }

    fn read(reply: RawReply<'_>) -> Result<Json, CallError> {
        Ok(reply.json())
    }

    fn name(&self) -> Option<&str> {
        self.name.as_deref()
    }
}
