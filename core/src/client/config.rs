//! What a client is, and how it goes about its calls.

use super::cache::CacheUse;
use super::verdict::Verdict;
use crate::dialect::Revision;
use crate::head::Headers;
use crate::leniency::Leniency;
use crate::limits::Limits;
use crate::model::capabilities::ClientCapabilities;
use crate::model::lifecycle::Implementation;
use crate::model::logging::LoggingLevel;
use crate::model::tasks::TASKS_EXTENSION;
use crate::model::{Json, Meta, TraceContext};
use crate::schema::OutputCheck;
use crate::time::Duration;
use core::fmt;

/// A client's identity and choices, shared by all its connections.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Config {
    /// The application that uses this library, as servers are told.
    pub identity: Implementation,
    /// Whether modern requests carry the identity. Default yes (META-10); the legacy handshake always does.
    pub announce_identity: bool,
    /// What servers may ask of this client. Default nothing.
    pub capabilities: ClientCapabilities,
    /// Which era to speak. Default [`EraChoice::Auto`].
    pub era: EraChoice,
    /// What was found out about the server before. Default nothing. Where [`era`](Self::era) leaves the choice, it says
    /// what is tried first: a legacy server is not probed, a modern one is given the time of an ordinary request to
    /// answer. What is tried next when that fails is what would have been tried without it.
    pub verdict: Option<Verdict>,
    /// Every bound. Default [`Limits::default`].
    pub limits: Limits,
    /// Which mistakes of servers are tolerated. Default all.
    pub leniency: Leniency,
    /// Log messages from this level on are asked for. Default none. A modern server is asked with each
    /// request, a legacy one at the beginning of each session, if it has `logging`; calls wait for its answer, for as long
    /// as [`Limits::probe`] at most.
    pub log_level: Option<LoggingLevel>,
    /// Whether a call for which the server declared no capability fails at once as
    /// [`CallError::Unsupported`](crate::error::CallError::Unsupported). Default yes (INIT-13).
    pub check_capabilities: bool,
    /// What is done about a tool's structured content that does not fit the output schema under which it was called,
    /// or is missing. Default [`OutputCheck::Warn`]: the specification asks for the check, and says that servers must
    /// not send such content; but the tool has run, and its result may be of use all the same. Unless it is
    /// [`OutputCheck::Off`], tools with a schema in a dialect that is not supported are not called (SCHEMA-05).
    pub check_output: OutputCheck,
    /// Whether a legacy server is offered a stream (GET) for what belongs to no call. Default no; where
    /// [`capabilities`](Self::capabilities) say that the server may ask something, it is offered in any case.
    pub listen: bool,
    /// Whether an HTTP exchange that the server refuses with 401, or with 403 and a challenge, is held until somebody
    /// has come by authorization, or has not
    /// ([`HttpOutput::Refused`](super::HttpOutput::Refused)). Default no: the refusal is the outcome.
    pub authorize: bool,
    /// Whether results are kept for as long as the server allows. Default [`CacheUse::FreshOrStale`].
    pub cache: CacheUse,
    /// Whether results that are only for whoever asked are among them. Default yes. No where the credentials of requests
    /// are added by somebody else: nobody knows here when they are those of another.
    pub cache_private: bool,
    /// More entries for the `_meta` of every request, in both eras. [`CallOptions::meta`] has others for a call, which
    /// take the place of those of the same name. Those that the protocol itself sets are left out, and so is, with a
    /// diagnostic, what is no name.
    pub meta: Meta,
    /// More fields for every HTTP request, such as `Authorization`. Those that the protocol itself sets are
    /// left out; `Mcp-Param-*` are among those in the modern era, and go out to legacy servers.
    pub headers: Headers,
}

impl Config {
    /// A client with this identity, no capabilities and default limits.
    pub fn new(identity: Implementation) -> Self {
        Self {
            identity,
            announce_identity: true,
            capabilities: ClientCapabilities::default(),
            era: EraChoice::default(),
            verdict: None,
            limits: Limits::default(),
            leniency: Leniency::default(),
            log_level: None,
            check_capabilities: true,
            check_output: OutputCheck::Warn,
            listen: false,
            authorize: false,
            cache: CacheUse::default(),
            cache_private: true,
            meta: Meta::new(),
            headers: Headers::new(),
        }
    }

    /// Sets what servers may ask of this client.
    #[must_use]
    pub fn capabilities(mut self, capabilities: ClientCapabilities) -> Self {
        self.capabilities = capabilities;
        self
    }

    /// Declares to modern servers that calls of tools may become tasks (TASK-01), which are then waited for. A call that
    /// becomes one is polled at the pace of its server until it has ended, and what it asks is answered as ever.
    ///
    /// A server of 2025-11-25 needs no such declaration: there calls are tasks where their tool demands it, and by
    /// [`CallToolAsTask`](super::CallToolAsTask).
    ///
    /// It is an entry of [`ClientCapabilities::extensions`], so call it behind [`capabilities`](Self::capabilities).
    #[must_use]
    pub fn tasks(mut self) -> Self {
        let extensions = self.capabilities.extensions.get_or_insert_default();
        extensions.insert(TASKS_EXTENSION.into(), Json::empty_object());
        self
    }

    /// Sets which era to speak.
    #[must_use]
    pub fn era(mut self, era: EraChoice) -> Self {
        self.era = era;
        self
    }

    /// Sets what was found out about the server before.
    #[must_use]
    pub fn verdict(mut self, verdict: Verdict) -> Self {
        self.verdict = Some(verdict);
        self
    }

    /// Sets the bounds.
    #[must_use]
    pub fn limits(mut self, limits: Limits) -> Self {
        self.limits = limits;
        self
    }

    /// Sets which mistakes of servers are tolerated.
    #[must_use]
    pub fn leniency(mut self, leniency: Leniency) -> Self {
        self.leniency = leniency;
        self
    }

    /// Asks for log messages from `level` on.
    #[must_use]
    pub fn log_level(mut self, level: LoggingLevel) -> Self {
        self.log_level = Some(level);
        self
    }

    /// Sets whether modern requests carry the identity.
    #[must_use]
    pub fn announce_identity(mut self, announce: bool) -> Self {
        self.announce_identity = announce;
        self
    }

    /// Sets whether calls that the server declared no capability for are refused here.
    #[must_use]
    pub fn check_capabilities(mut self, check: bool) -> Self {
        self.check_capabilities = check;
        self
    }

    /// Sets what is done about structured content that does not fit.
    #[must_use]
    pub fn check_output(mut self, check: OutputCheck) -> Self {
        self.check_output = check;
        self
    }

    /// Sets whether a legacy server is offered a stream for what belongs to no call.
    #[must_use]
    pub fn listen(mut self, listen: bool) -> Self {
        self.listen = listen;
        self
    }

    /// Sets whether what the server refuses for want of authorization is held.
    #[must_use]
    pub fn authorize(mut self, authorize: bool) -> Self {
        self.authorize = authorize;
        self
    }

    /// Sets whether results are kept for as long as the server allows.
    #[must_use]
    pub fn cache(mut self, cache: CacheUse) -> Self {
        self.cache = cache;
        self
    }

    /// Sets whether results that are only for whoever asked are kept.
    #[must_use]
    pub fn cache_private(mut self, keep: bool) -> Self {
        self.cache_private = keep;
        self
    }

    /// Sets more entries for the `_meta` of every request.
    #[must_use]
    pub fn meta(mut self, meta: Meta) -> Self {
        self.meta = meta;
        self
    }

    /// Adds a field to every HTTP request.
    #[must_use]
    pub fn header(mut self, name: &str, value: impl AsRef<[u8]>) -> Self {
        self.headers.push(name, value);
        self
    }
}

/// Which era to speak with a server.
///
/// <https://modelcontextprotocol.io/specification/2026-07-28/basic/versioning#compatibility-matrix>
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum EraChoice {
    /// Modern if the server is, else legacy: it is asked `server/discover` first.
    #[default]
    Auto,
    /// Modern only.
    Modern,
    /// Legacy only: the server is sent `initialize` without a probe.
    Legacy,
    /// This revision only.
    Pinned(Revision),
}

/// How one call is to be made.
#[derive(Clone, Default)]
#[non_exhaustive]
pub struct CallOptions {
    /// How long the call may wait; progress starts it again. Default
    /// [`Limits::request`](crate::limits::Limits::request).
    pub timeout: Option<Duration>,
    /// How long it may wait whatever progress it makes. Default
    /// [`Limits::request_max`](crate::limits::Limits::request_max).
    pub max: Option<Duration>,
    /// Whether the server is asked for progress. Default no.
    pub progress: bool,
    /// Log messages from this level on, for this call alone, from a modern server. Default
    /// [`Config::log_level`].
    pub log_level: Option<LoggingLevel>,
    /// Whether a server that wants input (`input_required`) ends the call, with
    /// [`CallError::InputRequired`](crate::error::CallError::InputRequired), so that the application goes on with it
    /// by itself. Default no: what it asks comes as [`Event::Asked`](super::Event::Asked).
    pub manual_input: bool,
    /// Whether the call may be answered with a result that was kept, and whether its own is kept. Default
    /// [`Config::cache`].
    pub cache: Option<CacheUse>,
    /// Whether it is sent although the server did not declare the capability that it needs. Default no; see also
    /// [`Config::check_capabilities`].
    pub force: bool,
    /// More entries for the request's `_meta`. Those that the protocol itself sets are left out; names that are none make
    /// the call a [`Misuse`](crate::error::CallError::Misuse).
    pub meta: Meta,
}

/// Prints how much metadata there is, and not what.
impl fmt::Debug for CallOptions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CallOptions")
            .field("timeout", &self.timeout)
            .field("max", &self.max)
            .field("progress", &self.progress)
            .field("log_level", &self.log_level)
            .field("manual_input", &self.manual_input)
            .field("force", &self.force)
            .field("cache", &self.cache)
            .field("meta", &format_args!("{} members", self.meta.iter().len()))
            .finish()
    }
}

impl CallOptions {
    /// The defaults.
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets how long the call may wait.
    #[must_use]
    pub fn timeout(mut self, timeout: Duration) -> Self {
        self.timeout = Some(timeout);
        self
    }

    /// Sets how long the call may wait whatever progress it makes.
    #[must_use]
    pub fn max(mut self, max: Duration) -> Self {
        self.max = Some(max);
        self
    }

    /// Asks for progress.
    #[must_use]
    pub fn progress(mut self) -> Self {
        self.progress = true;
        self
    }

    /// Asks for log messages from `level` on, for this call alone.
    #[must_use]
    pub fn log_level(mut self, level: LoggingLevel) -> Self {
        self.log_level = Some(level);
        self
    }

    /// Ends the call when the server wants input.
    #[must_use]
    pub fn manual_input(mut self) -> Self {
        self.manual_input = true;
        self
    }

    /// Sets whether the call may be answered with a result that was kept, and whether its own is kept.
    #[must_use]
    pub fn cache(mut self, cache: CacheUse) -> Self {
        self.cache = Some(cache);
        self
    }

    /// Sends it although the server did not declare the capability that it needs.
    #[must_use]
    pub fn force(mut self) -> Self {
        self.force = true;
        self
    }

    /// Sets more entries for the request's `_meta`.
    #[must_use]
    pub fn meta(mut self, meta: Meta) -> Self {
        self.meta = meta;
        self
    }

    /// Tells the server which trace the call belongs to, in `_meta`, beside what is there (TRACE-01).
    #[must_use]
    pub fn trace(mut self, trace: &TraceContext) -> Self {
        trace.add_to(&mut self.meta);
        self
    }
}
