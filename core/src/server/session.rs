//! What a handshake settles, and what a legacy client may change afterwards.

use alloc::string::String;
use alloc::sync::Arc;

use crate::dialect::Revision;
use crate::model::capabilities::ClientCapabilities;
use crate::model::lifecycle::{Implementation, InitializeRequestParams};
use crate::model::logging::LoggingLevel;
use crate::model::{In, Json};

/// Who the client says it is, and what it can do.
///
/// Self-reported and not verified: for display and debugging, never for security decisions (META-21).
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct ClientDetails {
    /// The software; a modern request may leave it out.
    pub info: Option<Implementation>,
    /// What the client declared.
    pub capabilities: ClientCapabilities,
}

impl ClientDetails {
    /// Details as a client would send them.
    pub fn new(info: Option<Implementation>, capabilities: ClientCapabilities) -> Self {
        Self { info, capabilities }
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
#[derive(Clone, Debug)]
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
}

impl SessionState {
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
        }
    }
}
