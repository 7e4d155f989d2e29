//! What a handshake settles, and what a legacy client may change afterwards.

mod stored;

use alloc::string::String;
use alloc::sync::Arc;
use core::fmt;

use super::config::Config;
use super::dispatch::Plan;
use super::principal::Principal;
use super::refusal::Refusal;
use super::subscription::too_many_watched;
use super::visible::Viewer;
use crate::change::Change;
use crate::dialect::Revision;
use crate::limits::Limits;
use crate::model::capabilities::ClientCapabilities;
use crate::model::lifecycle::{Implementation, InitializeRequestParams};
use crate::model::logging::LoggingLevel;
use crate::model::meta::RequestMeta;
use crate::model::{In, Json};
use crate::wanted::Watched;

/// Who the client says it is, and what it can do.
///
/// Self-reported and not verified: for display and debugging, never for security decisions (META-21).
#[derive(Clone, PartialEq)]
#[non_exhaustive]
pub struct ClientDetails {
    /// The software; a modern request may leave it out.
    pub info: Option<Implementation>,
    /// What the client declared.
    pub capabilities: ClientCapabilities,
}

/// Prints the name and version of the client, and which capabilities it has, without their settings.
impl fmt::Debug for ClientDetails {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let info = self.info.as_ref().map(|info| (&info.name, &info.version));
        let can = &self.capabilities;
        f.debug_struct("ClientDetails")
            .field("info", &info)
            .field("elicitation", &can.elicitation.is_some())
            .field("sampling", &can.sampling.is_some())
            .field("roots", &can.roots.is_some())
            .finish_non_exhaustive()
    }
}

impl ClientDetails {
    /// Details as a client would send them.
    pub fn new(info: Option<Implementation>, capabilities: ClientCapabilities) -> Self {
        Self { info, capabilities }
    }

    /// What a modern request says of its client, as far as it can be read.
    pub(super) fn of(meta: &RequestMeta<'_>) -> Self {
        let info = meta.client_info().ok().flatten();
        let capabilities = meta.client_capabilities().ok().flatten();
        Self {
            info: info.and_then(|raw| serde_json::from_str(raw.get()).ok()),
            capabilities: capabilities
                .and_then(|raw| serde_json::from_str(raw.get()).ok())
                .unwrap_or_default(),
        }
    }

    /// About how many bytes they take.
    pub(super) fn size(&self) -> usize {
        // Written out they are as long as what was sent, which is what a client can make large.
        let info = self.info.as_ref().map(|info| Json::new(&In(Revision::LATEST_LEGACY, info)));
        let capabilities = Json::new(&In(Revision::LATEST_LEGACY, &self.capabilities));
        [info.and_then(Result::ok), capabilities.ok()].iter().flatten().map(|json| json.get().len()).sum()
    }
}

/// The state that a handshake opens: for the process on a byte stream, for a session over HTTP. Modern
/// requests neither see nor change it (VER-09).
///
/// <https://modelcontextprotocol.io/specification/2025-11-25/basic/lifecycle>
#[derive(Clone)]
#[non_exhaustive]
pub struct SessionState {
    /// The negotiated revision.
    pub revision: Revision,
    /// Who opened it.
    pub client: Arc<ClientDetails>,
    /// The least severe log message that the client wants. Until it says so, the server picks (LOG-08), and
    /// picks `info`.
    pub level: LoggingLevel,
    /// Whether `notifications/initialized` has come.
    pub initialized: bool,
    /// Whom the application took the client for when it opened the session: nobody else may use it. Over HTTP
    /// only.
    pub owner: Option<Arc<str>>,
    /// The origin of the web page that opened the session, in lower case: no other page may use it. Over HTTP
    /// only.
    pub origin: Option<String>,
    /// The resources that the client watches.
    pub watched: Watched,
    /// How often the state has changed since the session began: whoever keeps sessions elsewhere compares it, so
    /// that no change gets lost.
    pub changes: u64,
}

/// Prints what was agreed, and of the client what it is called.
impl fmt::Debug for SessionState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SessionState")
            .field("revision", &self.revision)
            .field("client", &self.client)
            .field("level", &self.level)
            .field("initialized", &self.initialized)
            .field("has_owner", &self.owner.is_some())
            .field("has_origin", &self.origin.is_some())
            .field("watched", &self.watched)
            .field("changes", &self.changes)
            .finish()
    }
}

impl SessionState {
    /// The client, as one for whom things are there or not.
    pub(super) fn viewer(&self, principal: Option<Arc<Principal>>) -> Viewer {
        Viewer::new(principal, Arc::clone(&self.client), self.revision)
    }

    /// Whether the client is to hear of this change.
    pub(super) fn is_told(&self, change: &Change, config: &Config) -> bool {
        let published = match change {
            Change::Tools => config.changes.tools,
            Change::Prompts => config.changes.prompts,
            Change::Resources => config.changes.resources,
            Change::Resource(uri) => config.subscriptions && self.watched.covers(uri),
            // Tasks of the extension are none of the legacy era's (TASK-64).
            Change::Task(_) => false,
        };
        self.initialized && published
    }

    /// Whether the client hears of the end of elicitations: those by URL have names in its revision (ELIC-19), and it
    /// can be asked for them.
    pub(super) fn knows_elicitations(&self) -> bool {
        let elicitation = self.client.capabilities.elicitation.as_ref();
        self.revision.dialect().elicitation_id && elicitation.is_some_and(|it| it.supports_url())
    }

    /// Notes what a request of the client changes about the session, if it does.
    pub(super) fn apply(&mut self, plan: &Plan, limits: &Limits) -> Result<(), Refusal> {
        match plan {
            Plan::SetLevel(level) => self.level = *level,
            Plan::Watch(uri) if !self.watched.insert(Arc::clone(uri), limits) => {
                return Err(too_many_watched(limits));
            }
            Plan::Unwatch(uri) => self.watched.remove(uri),
            _ => {}
        }
        Ok(())
    }

    /// The state of a client that has said nothing of itself.
    pub(super) fn unknown(revision: Revision) -> Self {
        Self {
            revision,
            client: Arc::new(ClientDetails::new(None, ClientCapabilities::default())),
            level: LoggingLevel::Info,
            initialized: true,
            watched: Watched::new(),
            owner: None,
            origin: None,
            changes: 0,
        }
    }

    /// The state after `initialize` was answered with `revision`.
    pub(super) fn open(revision: Revision, params: InitializeRequestParams) -> Self {
        let mut info = params.client_info;
        // Pictures can be large, are of no use to a server, and would be held for each session.
        info.icons.clear();
        Self {
            revision,
            client: Arc::new(ClientDetails { info: Some(info), capabilities: params.capabilities }),
            level: LoggingLevel::Info,
            initialized: false,
            owner: None,
            origin: None,
            watched: Watched::new(),
            changes: 0,
        }
    }
}
