//! Requests as bytes: envelope, parameters, and the metadata that the protocol itself adds.

use super::call::Call;
use super::config::{CallOptions, Config};
use super::tasks::{Role, TaskRole};
use crate::diagnostic::Diagnostic;
use crate::dialect::{Era, Revision};
use crate::error::ApiMisuse;
use crate::model::logging::LoggingLevel;
use crate::model::meta::KeyFault;
use crate::model::{In, Json, Meta, meta};
use crate::wire::jsonrpc::write_json;
use alloc::borrow::ToOwned;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use serde::Serialize;

/// A request without its id and metadata.
pub(super) trait Source {
    fn method(&self) -> &str;
    fn name(&self) -> Option<&str>;
    fn is_repeatable(&self) -> bool;
    fn rounds(&self) -> usize;
    fn is_of_session(&self) -> bool;
    fn task(&self) -> TaskRole<'_>;
    fn write_params(&self, revision: Revision, out: &mut Vec<u8>) -> Result<(), ApiMisuse>;
}

impl<C: Call> Source for C {
    fn method(&self) -> &str {
        Call::method(self)
    }

    fn name(&self) -> Option<&str> {
        Call::name(self)
    }

    fn is_repeatable(&self) -> bool {
        Call::is_repeatable(self)
    }

    fn rounds(&self) -> usize {
        Call::rounds(self)
    }

    fn is_of_session(&self) -> bool {
        Call::is_of_session(self)
    }

    fn task(&self) -> TaskRole<'_> {
        Call::task(self)
    }

    fn write_params(&self, revision: Revision, out: &mut Vec<u8>) -> Result<(), ApiMisuse> {
        Call::write_params(self, revision, out)
    }
}

/// A request that is kept: because the revision is not known yet, or because it may have to be made again.
pub(super) struct Prepared {
    method: String,
    name: Option<String>,
    repeatable: bool,
    of_session: bool,
    /// How often the server has asked for input in its course.
    rounds: usize,
    /// What it has to do with tasks.
    role: Role,
    /// Its parameters say that it is to become one, although its caller did not.
    augmented: bool,
    /// The parameters, from the oldest revision on; each entry holds up to the next one. One entry where
    /// the revisions do not differ, as is the rule.
    params: Vec<(Revision, Vec<u8>)>,
    pub(super) options: CallOptions,
}

impl Prepared {
    pub(super) fn new(source: &impl Source, options: CallOptions) -> Result<Self, ApiMisuse> {
        let mut params: Vec<(Revision, Vec<u8>)> = Vec::new();
        for revision in Revision::ALL {
            let mut form = Vec::new();
            source.write_params(revision, &mut form)?;
            if params.last().is_none_or(|(_, last)| *last != form) {
                params.push((revision, form));
            }
        }
        Ok(Self::with(source, params, options))
    }

    /// The same when the revision is known.
    pub(super) fn at(
        source: &impl Source,
        revision: Revision,
        options: CallOptions,
    ) -> Result<Self, ApiMisuse> {
        let mut form = Vec::new();
        source.write_params(revision, &mut form)?;
        Ok(Self::with(source, Vec::from([(revision, form)]), options))
    }

    fn with(source: &impl Source, params: Vec<(Revision, Vec<u8>)>, options: CallOptions) -> Self {
        Self {
            method: source.method().to_owned(),
            name: source.name().map(ToOwned::to_owned),
            repeatable: source.is_repeatable(),
            of_session: source.is_of_session(),
            rounds: source.rounds(),
            role: source.task().into(),
            augmented: false,
            params,
            options,
        }
    }

    /// The same whose parameters say that it is to become a task.
    pub(super) fn augmented(mut self) -> Self {
        self.augmented = true;
        self
    }

    /// Whether a server of 2025-11-25 was told that it is to become a task.
    pub(super) fn is_augmented(&self) -> bool {
        self.augmented || matches!(self.role, Role::Handed)
    }

    /// How many bytes its parameters hold.
    pub(super) fn size(&self) -> usize {
        self.params.iter().map(|(_, form)| form.len()).sum()
    }

    /// The same request with other parameters.
    pub(super) fn with_params(&self, revision: Revision, params: Vec<u8>) -> Self {
        let same = Self::with(self, Vec::from([(revision, params)]), self.options.clone());
        Self { augmented: self.augmented, ..same }
    }
}

/// Prints what it is, and not its parameters.
impl core::fmt::Debug for Prepared {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        write!(f, "Prepared({:?})", self.method)
    }
}

impl Source for Prepared {
    fn method(&self) -> &str {
        &self.method
    }

    fn name(&self) -> Option<&str> {
        self.name.as_deref()
    }

    fn is_repeatable(&self) -> bool {
        self.repeatable
    }

    fn rounds(&self) -> usize {
        self.rounds
    }

    fn is_of_session(&self) -> bool {
        self.of_session
    }

    fn task(&self) -> TaskRole<'_> {
        self.role.borrow()
    }

    fn write_params(&self, revision: Revision, out: &mut Vec<u8>) -> Result<(), ApiMisuse> {
        let form = self.params.iter().rev().find(|(since, _)| *since <= revision);
        out.extend_from_slice(form.map_or(b"{}", |(_, form)| form));
        Ok(())
    }
}

/// The metadata of one connection: what every request of a revision carries, ready to be copied.
#[derive(Debug)]
pub(super) struct Envelope {
    revision: Revision,
    /// Members of `_meta`, without braces; empty in the legacy era.
    fixed: String,
    pub(super) log_level: Option<LoggingLevel>,
    /// What the application adds to every request.
    meta: Meta,
}

impl Envelope {
    pub(super) fn new(config: &Config, revision: Revision, log_level: Option<LoggingLevel>) -> Self {
        let mut fixed = String::new();
        if revision.dialect().request_meta {
            let members = [
                (meta::PROTOCOL_VERSION, Json::new(revision.as_str())),
                (meta::CLIENT_INFO, Json::new(&In(revision, &config.identity))),
                (meta::CLIENT_CAPABILITIES, Json::new(&In(revision, &config.capabilities))),
            ];
            for (key, value) in members {
                let wanted = config.announce_identity || key != meta::CLIENT_INFO;
                // The vocabulary always serializes; capabilities must be there whatever happens.
                let value = value.unwrap_or_else(|_| Json::empty_object());
                if wanted {
                    let comma = if fixed.is_empty() { "" } else { "," };
                    fixed.push_str(&[comma, "\"", key, "\":", value.get()].concat());
                }
            }
        }
        Self { revision, fixed, log_level, meta: shared(config) }
    }

    pub(super) const fn revision(&self) -> Revision {
        self.revision
    }

    /// Appends a request. On an error nothing is appended.
    pub(super) fn write(
        &self,
        out: &mut Vec<u8>,
        wire: i64,
        source: &impl Source,
        options: &CallOptions,
    ) -> Result<(), ApiMisuse> {
        let start = out.len();
        self.try_write(out, wire, source, options).inspect_err(|_| out.truncate(start))
    }

    fn try_write(
        &self,
        out: &mut Vec<u8>,
        wire: i64,
        source: &impl Source,
        options: &CallOptions,
    ) -> Result<(), ApiMisuse> {
        out.extend_from_slice(b"{\"jsonrpc\":\"2.0\",\"id\":");
        write_json(out, &wire)?;
        out.extend_from_slice(b",\"method\":");
        write_json(out, source.method())?;
        let before = out.len();
        out.extend_from_slice(b",\"params\":");
        let params = out.len();
        source.write_params(self.revision, out)?;
        if out.get(params) != Some(&b'{') || out.len() < params + 2 || out.pop() != Some(b'}') {
            return Err(ApiMisuse::new("the parameters of a call must be one JSON object"));
        }
        // On a byte stream it would be two messages (STDIO-01).
        if out.iter().skip(params).any(|byte| matches!(byte, b'\n' | b'\r')) {
            return Err(ApiMisuse::new("the parameters of a call must be on one line"));
        }
        let empty = out.len() == params + 1;
        if !empty {
            out.push(b',');
        }
        let members = out.len();
        out.extend_from_slice(b"\"_meta\":{");
        let entries = out.len();
        self.write_meta(out, wire, options)?;
        if out.len() > entries {
            out.extend_from_slice(b"}}");
        } else if empty {
            out.truncate(before);
        } else {
            // The comma goes with the metadata that was to follow it.
            out.truncate(members - 1);
            out.push(b'}');
        }
        out.push(b'}');
        Ok(())
    }

    fn write_meta(&self, out: &mut Vec<u8>, wire: i64, options: &CallOptions) -> Result<(), ApiMisuse> {
        let start = out.len();
        out.extend_from_slice(self.fixed.as_bytes());
        let modern = self.revision.era() == Era::Modern;
        if let Some(level) = options.log_level.or(self.log_level).filter(|_| modern) {
            entry(out, start, meta::LOG_LEVEL, &level)?;
        }
        for (key, value) in &self.meta {
            if options.meta.get(key).is_none() {
                entry(out, start, key, value)?;
            }
        }
        for (key, value) in &options.meta {
            if !is_ours(key) {
                check_key(key)?;
                entry(out, start, key, value)?;
            }
        }
        // Behind everything else, where it is found again: see `renamed`.
        if options.progress {
            entry(out, start, meta::PROGRESS_TOKEN, &wire)?;
        }
        Ok(())
    }
}

/// Names of metadata have a form (META-02, META-03, META-07).
fn check_key(key: &str) -> Result<(), ApiMisuse> {
    match meta::check_key(key) {
        Ok(()) | Err(KeyFault::Reserved) => Ok(()),
        Err(_) => {
            let message = format!("`{}` is no name for metadata", crate::text::excerpt(key));
            Err(ApiMisuse::new(message))
        }
    }
}

/// What an application adds to every request, as far as it can be sent.
fn shared(config: &Config) -> Meta {
    let mut meta = config.meta.clone();
    for (key, _) in &config.meta {
        if is_ours(key) || check_key(key).is_err() {
            meta.remove(key);
        }
    }
    meta
}

/// What of that can not, since it has no name.
pub(super) fn misnamed(meta: &Meta) -> impl Iterator<Item = Diagnostic> {
    let faults = meta.iter().filter_map(|(key, _)| check_key(key).err());
    faults.map(|misuse| {
        Diagnostic::new("client", format!("`Config::meta`: {}; it is left out", misuse.message))
    })
}

/// The same request under another id, and with that as its progress token if it has one.
pub(super) fn renamed(body: &[u8], before: i64, wire: i64) -> Vec<u8> {
    let head = |wire: i64| format!("{{\"jsonrpc\":\"2.0\",\"id\":{wire},");
    let tail = |wire: i64| format!("\"{}\":{wire}}}}}}}", meta::PROGRESS_TOKEN);
    let Some(rest) = body.strip_prefix(head(before).as_bytes()) else { return body.to_vec() };
    let mut renamed = head(wire).into_bytes();
    match rest.strip_suffix(tail(before).as_bytes()) {
        Some(middle) => {
            renamed.extend_from_slice(middle);
            renamed.extend_from_slice(tail(wire).as_bytes());
        }
        None => renamed.extend_from_slice(rest),
    }
    renamed
}

/// Whether the protocol sets this key itself.
fn is_ours(key: &str) -> bool {
    matches!(
        key,
        meta::PROTOCOL_VERSION
            | meta::CLIENT_INFO
            | meta::CLIENT_CAPABILITIES
            | meta::LOG_LEVEL
            | meta::PROGRESS_TOKEN
    )
}

fn entry(out: &mut Vec<u8>, start: usize, key: &str, value: &impl Serialize) -> Result<(), ApiMisuse> {
    if out.len() > start {
        out.push(b',');
    }
    write_json(out, key)?;
    out.push(b':');
    write_json(out, value)
}

/// The probe: `server/discover` with this revision in its metadata.
pub(super) fn discover(out: &mut Vec<u8>, wire: i64, config: &Config, revision: Revision) {
    // Its parameters are an empty object, and the metadata always serializes.
    let _ = Envelope::new(config, revision, config.log_level).write(
        out,
        wire,
        &super::call::Discover,
        &CallOptions::new(),
    );
}

/// The opening request of the legacy era (INIT-02).
pub(super) fn initialize(out: &mut Vec<u8>, wire: i64, config: &Config, revision: Revision) {
    #[derive(Serialize)]
    struct Request<'a> {
        jsonrpc: &'a str,
        id: i64,
        method: &'a str,
        params: Params<'a>,
    }
    #[derive(Serialize)]
    #[serde(rename_all = "camelCase")]
    struct Params<'a> {
        protocol_version: &'a str,
        capabilities: In<'a, crate::model::capabilities::ClientCapabilities>,
        client_info: In<'a, crate::model::lifecycle::Implementation>,
        #[serde(rename = "_meta", skip_serializing_if = "Option::is_none")]
        meta: Option<Meta>,
    }
    let request = Request {
        jsonrpc: "2.0",
        id: wire,
        method: "initialize",
        params: Params {
            protocol_version: revision.as_str(),
            capabilities: In(revision, &config.capabilities),
            client_info: In(revision, &config.identity),
            meta: Some(shared(config)).filter(|meta| !meta.is_empty()),
        },
    };
    // The vocabulary always serializes.
    let _ = write_json(out, &request);
}

/// The notification that ends the legacy handshake (INIT-04).
pub(super) const INITIALIZED: &[u8] = br#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#;

/// The notification that gives up a request (CAN-02).
pub(super) fn cancelled(out: &mut Vec<u8>, wire: i64, reason: &str) {
    #[derive(Serialize)]
    struct Notification<'a> {
        jsonrpc: &'a str,
        method: &'a str,
        params: Params<'a>,
    }
    #[derive(Serialize)]
    #[serde(rename_all = "camelCase")]
    struct Params<'a> {
        request_id: i64,
        reason: &'a str,
    }
    let params = Params { request_id: wire, reason };
    // Numbers and strings always serialize.
    let _ = write_json(out, &Notification { jsonrpc: "2.0", method: "notifications/cancelled", params });
}
