//! Which era and revision a server speaks: one table for both transports.
//!
//! <https://modelcontextprotocol.io/specification/2026-07-28/basic/versioning>

use super::config::EraChoice;
use super::details::ServerDetails;
use crate::dialect::{Era, Revision};
use crate::error::{CallError, ErrorObject, HttpStatus, code};
use crate::model::Json;
use crate::model::capabilities::ServerCapabilities;
use crate::model::lifecycle::Implementation;
use crate::text;
use crate::time::WakeReason;
use crate::wire::jsonrpc;
use alloc::boxed::Box;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use core::fmt;
use serde::Deserialize;
use serde_json::value::RawValue;

/// What to do next in order to learn how the server speaks.
#[derive(Debug, PartialEq)]
pub(super) enum Step {
    /// Ask `server/discover`. A patient probe waits as long as an ordinary request: the server is known to be
    /// modern, or of no use if it is not, so there is nothing to be gained by giving up sooner.
    Probe { revision: Revision, patient: bool },
    /// Open the legacy handshake, offering this revision.
    Initialize { revision: Revision },
    /// It is known.
    Settled(Box<ServerDetails>),
    /// There is nothing more to try.
    Failed(CallError),
}

/// How a probe or handshake was answered.
pub(super) enum Answer<'a> {
    /// With a result.
    Result(&'a RawValue),
    /// With a JSON-RPC error, and the HTTP status where that was not 200.
    Error(&'a ErrorObject, Option<HttpStatus>),
    /// Not in time.
    Silence,
    /// With something else, described: another HTTP status, a body that is no message, the end of the stream.
    Unusable(CallError),
}

/// Prints no result.
impl fmt::Debug for Answer<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Result(result) => write!(f, "Result({} bytes)", result.get().len()),
            Self::Error(error, status) => f.debug_tuple("Error").field(error).field(status).finish(),
            Self::Silence => f.write_str("Silence"),
            Self::Unusable(error) => f.debug_tuple("Unusable").field(error).finish(),
        }
    }
}

/// The negotiation with one server.
#[derive(Debug)]
pub(super) struct Negotiation {
    choice: EraChoice,
    stage: Stage,
    /// Modern revisions asked for. Each is asked at most twice: a server may name in -32022 the very revision
    /// it refused, and means it the second time.
    probes: u8,
    /// Legacy revisions offered after the first, because the server asked for another by an error.
    counters: u8,
    /// The probe had no answer, so a modern server is still possible.
    silent: bool,
    /// There was no probe: the server was legacy before.
    assumed: bool,
    /// The process that is there was sent a probe.
    probed: bool,
}

/// What is being asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Stage {
    Probing(Revision),
    Initializing(Revision),
    Over,
}

/// Twice the only modern revision there is, and once more in patience.
const PROBES: u8 = 3;

impl Negotiation {
    /// A negotiation, and its first step.
    ///
    /// `before` is the revision that was agreed on with the same server before.
    pub(super) fn new(choice: EraChoice, before: Option<Revision>) -> (Self, Step) {
        let mut negotiation = Self::idle(choice);
        let first = match choice {
            EraChoice::Auto => match before {
                Some(revision) if revision.era() == Era::Legacy => {
                    negotiation.assumed = true;
                    negotiation.initialize(revision)
                }
                before => negotiation.probe(Revision::LATEST, before.is_some()),
            },
            EraChoice::Modern => negotiation.probe(Revision::LATEST, true),
            EraChoice::Legacy => negotiation.initialize(Revision::LATEST_LEGACY),
            EraChoice::Pinned(revision) => match revision.era() {
                Era::Modern => negotiation.probe(revision, true),
                Era::Legacy => negotiation.initialize(revision),
            },
        };
        (negotiation, first)
    }

    /// The negotiation with a server that is known not to be modern, and its first step.
    pub(super) fn handshake(choice: EraChoice) -> (Self, Step) {
        let mut negotiation = Self::idle(choice);
        let first = match choice {
            EraChoice::Pinned(revision) if revision.era() == Era::Legacy => negotiation.initialize(revision),
            _ => negotiation.not_modern(broken("HTTP with SSE carries legacy revisions only".into())),
        };
        (negotiation, first)
    }

    /// A legacy handshake again, for a server known to be legacy whose session was lost.
    pub(super) fn again(choice: EraChoice, revision: Revision) -> (Self, Step) {
        let mut negotiation = Self::idle(choice);
        let first = negotiation.initialize(revision);
        (negotiation, first)
    }

    /// A server process has ended or died in the middle of this: how to begin with another one, as what this one was asked
    /// may be what it ended of. `None` when it is lost.
    pub(super) fn ended(&mut self, why: CallError) -> Option<Step> {
        let probed = core::mem::take(&mut self.probed);
        match self.stage {
            Stage::Probing(_) if self.allows(Era::Legacy) => Some(self.not_modern(why)),
            Stage::Initializing(_) if self.assumed => Some(self.not_legacy(why)),
            // Some stop at a probe, say nothing, and end as soon as they read on.
            Stage::Initializing(offered) if probed => Some(self.initialize(offered)),
            _ => None,
        }
    }

    fn idle(choice: EraChoice) -> Self {
        Self {
            choice,
            stage: Stage::Over,
            probes: 0,
            counters: 0,
            silent: false,
            assumed: false,
            probed: false,
        }
    }

    /// The revision that the handshake under way offers.
    pub(super) fn offered(&self) -> Option<Revision> {
        match self.stage {
            Stage::Initializing(revision) => Some(revision),
            Stage::Probing(_) | Stage::Over => None,
        }
    }

    /// Whether the legacy handshake is under way.
    pub(super) fn is_initializing(&self) -> bool {
        matches!(self.stage, Stage::Initializing(_))
    }

    /// What is being asked.
    pub(super) fn stage(&self) -> Stage {
        self.stage
    }

    /// A step whose time was up has brought a result after all, while another one is under way: the result counts if it
    /// says how the server speaks, for a server that starts slowly is no other server (VER-13).
    pub(super) fn answered_late(&mut self, stage: Stage, result: &RawValue) -> Option<Step> {
        let details = match stage {
            Stage::Probing(_) => {
                let found: Discovered = jsonrpc::decode_at(result.get(), "result").ok()?;
                let revision = self.best(&found.supported_versions, Era::Modern)?;
                found.details(revision)
            }
            Stage::Initializing(_) => {
                let found: Initialized = jsonrpc::decode_at(result.get(), "result").ok()?;
                let revision = self.agreed(&found)?;
                found.details(revision)
            }
            Stage::Over => return None,
        };
        (self.stage != Stage::Over).then(|| self.settle(details))
    }

    /// What is waited for.
    pub(super) fn wake_reason(&self) -> WakeReason {
        if self.is_initializing() { WakeReason::Handshake } else { WakeReason::Probe }
    }

    /// The step after an answer to the step before.
    pub(super) fn answer(&mut self, answer: Answer<'_>) -> Step {
        match self.stage {
            Stage::Probing(asked) => self.probe_answered(asked, answer),
            Stage::Initializing(offered) => self.initialize_answered(offered, answer),
            Stage::Over => Step::Failed(broken("the negotiation is over".into())),
        }
    }

    fn probe_answered(&mut self, asked: Revision, answer: Answer<'_>) -> Step {
        match answer {
            Answer::Result(result) => match jsonrpc::decode_at::<Discovered>(result.get(), "result") {
                Ok(found) => self.discovered(asked, found),
                // Some legacy servers answer any method with `{}`.
                Err(error) => {
                    self.not_modern(broken(format!("`server/discover` was answered, but {}", error.message)))
                }
            },
            Answer::Error(error, status) => match i32::try_from(error.code) {
                Ok(code::UNSUPPORTED_PROTOCOL_VERSION) => self.refused(asked, error, status),
                // Only a modern server knows these, so falling back would be wrong (VER-10).
                Ok(code::HEADER_MISMATCH | code::MISSING_CLIENT_CAPABILITY) => {
                    self.fail(CallError::Server { error: error.clone(), status })
                }
                _ => self.not_modern(CallError::Server { error: error.clone(), status }),
            },
            Answer::Silence => {
                self.silent = true;
                self.not_modern(broken("`server/discover` was not answered in time".into()))
            }
            Answer::Unusable(error) => self.not_modern(error),
        }
    }

    fn discovered(&mut self, asked: Revision, found: Discovered) -> Step {
        let offered = &found.supported_versions;
        if offered.iter().any(|version| version == asked.as_str()) {
            return self.settle(found.details(asked));
        }
        match (self.best(offered, Era::Modern), self.best(offered, Era::Legacy)) {
            (Some(revision), _) => self.settle(found.details(revision)),
            (None, Some(revision)) => self.initialize(revision),
            (None, None) => self.disagreement("`server/discover` names", found.supported_versions),
        }
    }

    /// -32022: the server is modern, and says what it speaks (VER-03).
    fn refused(&mut self, asked: Revision, error: &ErrorObject, status: Option<HttpStatus>) -> Step {
        let Some(offered) = supported(error) else {
            return self.fail(CallError::Server { error: error.clone(), status });
        };
        match (self.best(&offered, Era::Modern), self.best(&offered, Era::Legacy)) {
            (Some(revision), _) if self.probes < PROBES => self.probe(revision, true),
            (Some(_), _) => self.fail(CallError::Server { error: error.clone(), status }),
            (None, Some(revision)) => self.initialize(revision),
            (None, None) => {
                let what = format!("the refusal of revision {asked} by `server/discover` names");
                self.disagreement(&what, offered)
            }
        }
    }

    /// Anything that is not a recognised modern answer means a legacy server (VER-11, VER-14, VER-18).
    fn not_modern(&mut self, seen: CallError) -> Step {
        if self.allows(Era::Legacy) {
            return self.initialize(Revision::LATEST_LEGACY);
        }
        self.fail(broken(format!(
            "the server does not speak {}, which `EraChoice` demands; with `EraChoice::Auto` it would be \
             taken for a legacy server ({seen})",
            self.spoken(),
        )))
    }

    fn initialize_answered(&mut self, offered: Revision, answer: Answer<'_>) -> Step {
        match answer {
            Answer::Result(result) => match jsonrpc::decode_at::<Initialized>(result.get(), "result") {
                Ok(found) => self.initialized(offered, found),
                Err(error) => self.not_legacy(CallError::Invalid {
                    reason: format!("`initialize` offered {offered} and was answered, but {}", error.message),
                }),
            },
            Answer::Error(error, status) => self.initialize_refused(offered, error, status),
            Answer::Silence => self.not_legacy(broken("`initialize` was not answered in time".into())),
            Answer::Unusable(error) => self.not_legacy(error),
        }
    }

    fn initialized(&mut self, offered: Revision, found: Initialized) -> Step {
        match self.agreed(&found) {
            Some(revision) => self.settle(found.details(revision)),
            None => {
                let what = format!("`initialize` offered {offered} and the server chose");
                self.disagreement(&what, alloc::vec![found.protocol_version])
            }
        }
    }

    /// The revision that a server has chosen, if it can be.
    fn agreed(&self, found: &Initialized) -> Option<Revision> {
        let chosen = Revision::parse(&found.protocol_version)?;
        (chosen.era() == Era::Legacy && self.speaks(chosen)).then_some(chosen)
    }

    fn initialize_refused(
        &mut self,
        offered: Revision,
        error: &ErrorObject,
        status: Option<HttpStatus>,
    ) -> Step {
        let supported = supported(error).unwrap_or_default();
        let modern = self.best(&supported, Era::Modern).is_some()
            || matches!(
                i32::try_from(error.code),
                Ok(code::UNSUPPORTED_PROTOCOL_VERSION
                    | code::HEADER_MISMATCH
                    | code::MISSING_CLIENT_CAPABILITY)
            );
        // A modern server that was too slow to answer the probe; it names what it speaks (VER-21).
        if self.silent && modern && self.probes < PROBES {
            return self.probe(Revision::LATEST, true);
        }
        match self.best(&supported, Era::Legacy) {
            Some(revision) if revision != offered && self.counters == 0 => {
                self.counters += 1;
                self.initialize(revision)
            }
            // One that does not say so may be that, too, and answers `initialize` before the probe. Once is enough, as a
            // legacy server that refuses everybody may be silent each time.
            _ if self.silent && self.probes == 1 => self.probe(Revision::LATEST, false),
            _ => self.not_legacy(CallError::Server { error: error.clone(), status }),
        }
    }

    /// The handshake has failed. If that it would succeed was only assumed, the server is asked after all (VER-20).
    fn not_legacy(&mut self, seen: CallError) -> Step {
        if core::mem::take(&mut self.assumed) {
            return self.probe(Revision::LATEST, false);
        }
        self.fail(seen)
    }

    fn probe(&mut self, revision: Revision, patient: bool) -> Step {
        self.probes += 1;
        self.probed = true;
        self.stage = Stage::Probing(revision);
        Step::Probe { revision, patient }
    }

    fn initialize(&mut self, revision: Revision) -> Step {
        self.stage = Stage::Initializing(revision);
        Step::Initialize { revision }
    }

    fn settle(&mut self, details: ServerDetails) -> Step {
        self.stage = Stage::Over;
        Step::Settled(Box::new(details))
    }

    fn fail(&mut self, error: CallError) -> Step {
        self.stage = Stage::Over;
        Step::Failed(error)
    }

    fn disagreement(&mut self, what: &str, offered: Vec<String>) -> Step {
        let theirs = text::list(offered.iter().map(String::as_str));
        let reason = format!("no revision in common: {what} {theirs}; spoken here: {}", self.spoken());
        self.fail(CallError::NoCommonRevision { reason, supported: offered })
    }

    /// The newest revision of an era that both sides speak.
    fn best(&self, offered: &[String], era: Era) -> Option<Revision> {
        let known = offered.iter().filter_map(|version| Revision::parse(version));
        known.filter(|&revision| revision.era() == era && self.speaks(revision)).max()
    }

    fn speaks(&self, revision: Revision) -> bool {
        match self.choice {
            EraChoice::Auto => true,
            EraChoice::Modern => revision.era() == Era::Modern,
            EraChoice::Legacy => revision.era() == Era::Legacy,
            EraChoice::Pinned(pinned) => revision == pinned,
        }
    }

    fn allows(&self, era: Era) -> bool {
        Revision::ALL.iter().any(|&revision| revision.era() == era && self.speaks(revision))
    }

    fn spoken(&self) -> String {
        let spoken = Revision::ALL.into_iter().filter(|&revision| self.speaks(revision));
        text::list(spoken.map(Revision::as_str))
    }
}

/// A modern server as it has introduced itself again, if it still speaks `revision`.
pub(super) fn introduced(result: &str, revision: Revision) -> Option<ServerDetails> {
    let found: Discovered = serde_json::from_str(result).ok()?;
    found
        .supported_versions
        .iter()
        .any(|version| version == revision.as_str())
        .then(|| found.details(revision))
}

fn broken(reason: String) -> CallError {
    CallError::Broken { reason, unsent: true }
}

/// `data.supported` of an error that refuses a version.
fn supported(error: &ErrorObject) -> Option<Vec<String>> {
    #[derive(Deserialize)]
    struct Data {
        supported: Vec<String>,
    }
    let data = error.data.as_ref()?;
    serde_json::from_str::<Data>(data.get()).ok().map(|data| data.supported)
}

/// A DiscoverResult, read as leniently as the verdict allows: only the versions make it one.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Discovered {
    supported_versions: Vec<String>,
    #[serde(default)]
    capabilities: Option<ServerCapabilities>,
    #[serde(default)]
    instructions: Option<String>,
    /// Not where the specification puts it, but some servers do.
    #[serde(default)]
    server_info: Option<Json>,
    #[serde(default, rename = "_meta")]
    meta: Option<ResultMeta>,
}

#[derive(Deserialize)]
struct ResultMeta {
    #[serde(default, rename = "io.modelcontextprotocol/serverInfo")]
    server_info: Option<Json>,
}

impl Discovered {
    fn details(self, revision: Revision) -> ServerDetails {
        let info = self.meta.and_then(|meta| meta.server_info).or(self.server_info);
        ServerDetails {
            revision,
            info: info.and_then(|info| info.decode::<Implementation>().ok()),
            capabilities: self.capabilities.unwrap_or_default(),
            instructions: self.instructions,
            supported: self.supported_versions,
        }
    }
}

/// An InitializeResult; only the version decides.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Initialized {
    protocol_version: String,
    #[serde(default)]
    capabilities: Option<ServerCapabilities>,
    #[serde(default)]
    server_info: Option<Json>,
    #[serde(default)]
    instructions: Option<String>,
}

impl Initialized {
    fn details(self, revision: Revision) -> ServerDetails {
        ServerDetails {
            revision,
            info: self.server_info.and_then(|info| info.decode::<Implementation>().ok()),
            capabilities: self.capabilities.unwrap_or_default(),
            instructions: self.instructions,
            supported: alloc::vec![revision.to_string()],
        }
    }
}
