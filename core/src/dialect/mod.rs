//! What differs between the revisions, as data.
//!
//! A [`Revision`] names one; [`Revision::dialect`] is the table of what it has, [`Revision::method`] looks up
//! a message. Encoding asks these, so a peer is never sent a field, a content kind or a method that its
//! revision does not know. No other module compares revisions with one another.

mod methods;
mod revision;
#[cfg(test)]
mod tests;

pub use methods::{METHODS, Method, MethodKind, Side};
pub use revision::{Era, Revision, UnknownRevision};

use crate::error::code;

/// What one revision has. Every field is a difference between at least two revisions.
///
/// <https://modelcontextprotocol.io/specification/2026-07-28/changelog>
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Dialect {
    /// A JSON array of messages is a batch (RPC-26, RPC-28).
    pub batching: bool,
    /// An error response may lack `id` when the request was unreadable (RPC-20).
    pub error_without_id: bool,
    /// Either side may send requests, so a server may call its client (RPC-23, RPC-25).
    pub server_requests: bool,
    /// `initialize` opens a connection or session, `ping` exists (VER-22).
    pub handshake: bool,
    /// Every request carries version and client capabilities in `_meta` (META-08, META-09).
    pub request_meta: bool,
    /// Results carry `resultType`, and may ask for input (RPC-09).
    pub result_type: bool,
    /// Lists, discovery and read resources carry `ttlMs` and `cacheScope` (CACHE-01).
    pub caching_hints: bool,
    /// Objects inside results, such as tools and content blocks, may have `_meta`.
    pub object_meta: bool,
    /// Whatever has a `name` may have a `title` (META-24).
    pub titles: bool,
    /// Tools, prompts, resources and implementations may have `icons` (META-25).
    pub icons: bool,
    /// An implementation may have `description` and `websiteUrl` (META-22).
    pub implementation_details: bool,
    /// Tools may have `annotations` (TOOL-07).
    pub tool_annotations: bool,
    /// Tools may have `execution` (TOOL-43).
    pub tool_execution: bool,
    /// What `outputSchema` and `structuredContent` may be (TOOL-24, TOOL-25).
    pub structured_output: StructuredOutput,
    /// The content kind `audio` (TOOL-20).
    pub audio: bool,
    /// The content kind `resource_link` (TOOL-20).
    pub resource_links: bool,
    /// Annotations may have `lastModified`.
    pub last_modified: bool,
    /// Progress may have a `message` (PRG-06).
    pub progress_message: bool,
    /// The capability `completions`; 2024-11-05 has the method without it.
    pub completions: bool,
    /// Completion may be given the `context` of earlier arguments.
    pub completion_context: bool,
    /// What a server may ask of the user (ELIC-05).
    pub elicitation: ElicitationModes,
    /// A URL elicitation has an `elicitationId`, and may be demanded by error -32042 (ELIC-18, ELIC-19).
    pub elicitation_id: bool,
    /// Sampling may use tools and arrays of content (SAMP-09, SAMP-10).
    pub sampling_tools: bool,
    /// A client may announce changes of its roots (ROOT-04).
    pub roots_list_changed: bool,
    /// Which form of tasks the revision has.
    pub tasks: Tasks,
    /// Capabilities may name `extensions` (EXT-01).
    pub extensions: bool,
    /// The code for a resource that does not exist (RES-12, ERR-09).
    pub resource_not_found: i32,
    /// How HTTP is used.
    pub http: Http,
}

/// What structured output of a tool may be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum StructuredOutput {
    /// There is none.
    None,
    /// JSON objects, and schemas with `type: "object"` at the root.
    Object,
    /// Any JSON, and any schema.
    Any,
}

/// The ways in which a server may ask the user.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ElicitationModes {
    /// None.
    None,
    /// A form; the request has no `mode`, and only booleans have a default.
    Form,
    /// A form or a URL, told apart by `mode`.
    FormAndUrl,
}

/// The form in which long-running work exists.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Tasks {
    /// None.
    None,
    /// An experimental part of the revision itself.
    Core,
    /// The extension `io.modelcontextprotocol/tasks`.
    Extension,
}

/// How a revision uses HTTP.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Http {
    /// One endpoint answers POST with JSON or an event stream; otherwise there is one event stream, opened
    /// by GET, and an endpoint to post to.
    pub streamable: bool,
    /// The server may open a session, named in `Mcp-Session-Id`; GET and DELETE exist.
    pub sessions: bool,
    /// Requests carry `MCP-Protocol-Version`.
    pub version_header: bool,
    /// A broken event stream may be resumed with `Last-Event-ID`.
    pub resumption: bool,
    /// An event stream may begin with a priming event, so that the server can close it at once.
    pub priming_event: bool,
    /// Requests carry `Mcp-Method`, and `Mcp-Name` where there is one.
    pub mirrored_headers: bool,
}

const V2024_11_05: Dialect = Dialect {
    batching: false,
    error_without_id: false,
    server_requests: true,
    handshake: true,
    request_meta: false,
    result_type: false,
    caching_hints: false,
    object_meta: false,
    titles: false,
    icons: false,
    implementation_details: false,
    tool_annotations: false,
    tool_execution: false,
    structured_output: StructuredOutput::None,
    audio: false,
    resource_links: false,
    last_modified: false,
    progress_message: false,
    completions: false,
    completion_context: false,
    elicitation: ElicitationModes::None,
    elicitation_id: false,
    sampling_tools: false,
    roots_list_changed: true,
    tasks: Tasks::None,
    extensions: false,
    resource_not_found: code::RESOURCE_NOT_FOUND,
    http: Http {
        streamable: false,
        sessions: false,
        version_header: false,
        resumption: false,
        priming_event: false,
        mirrored_headers: false,
    },
};

const V2025_03_26: Dialect = Dialect {
    batching: true,
    tool_annotations: true,
    audio: true,
    progress_message: true,
    completions: true,
    http: Http { streamable: true, sessions: true, resumption: true, ..V2024_11_05.http },
    ..V2024_11_05
};

const V2025_06_18: Dialect = Dialect {
    batching: false,
    object_meta: true,
    titles: true,
    structured_output: StructuredOutput::Object,
    resource_links: true,
    last_modified: true,
    completion_context: true,
    elicitation: ElicitationModes::Form,
    http: Http { version_header: true, ..V2025_03_26.http },
    ..V2025_03_26
};

const V2025_11_25: Dialect = Dialect {
    error_without_id: true,
    icons: true,
    implementation_details: true,
    tool_execution: true,
    elicitation: ElicitationModes::FormAndUrl,
    elicitation_id: true,
    sampling_tools: true,
    tasks: Tasks::Core,
    http: Http { priming_event: true, ..V2025_06_18.http },
    ..V2025_06_18
};

const V2026_07_28: Dialect = Dialect {
    server_requests: false,
    handshake: false,
    request_meta: true,
    result_type: true,
    caching_hints: true,
    tool_execution: false,
    structured_output: StructuredOutput::Any,
    elicitation_id: false,
    roots_list_changed: false,
    tasks: Tasks::Extension,
    extensions: true,
    resource_not_found: code::INVALID_PARAMS,
    http: Http {
        sessions: false,
        resumption: false,
        priming_event: false,
        mirrored_headers: true,
        ..V2025_11_25.http
    },
    ..V2025_11_25
};

impl Revision {
    /// What this revision has.
    pub const fn dialect(self) -> &'static Dialect {
        match self {
            Self::V2024_11_05 => &V2024_11_05,
            Self::V2025_03_26 => &V2025_03_26,
            Self::V2025_06_18 => &V2025_06_18,
            Self::V2025_11_25 => &V2025_11_25,
            Self::V2026_07_28 => &V2026_07_28,
        }
    }

    /// Whether an error with this code may be sent (ERR-07, ERR-09). Codes that the specification leaves to
    /// implementations may always be.
    pub const fn knows_error_code(self, code: i32) -> bool {
        match code {
            code::RESOURCE_NOT_FOUND => self.dialect().resource_not_found == code::RESOURCE_NOT_FOUND,
            code::URL_ELICITATION_REQUIRED => self.dialect().elicitation_id,
            code::HEADER_MISMATCH | code::MISSING_CLIENT_CAPABILITY | code::UNSUPPORTED_PROTOCOL_VERSION => {
                self.dialect().request_meta
            }
            -32099..=-32020 => false,
            _ => true,
        }
    }
}
