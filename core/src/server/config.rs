//! What a server is, as one immutable snapshot.

use alloc::string::String;
use alloc::sync::Arc;
use alloc::vec::Vec;

use super::custom::Custom;
use super::policy::HttpPolicy;
use super::prompts::Prompts;
use super::resources::{Resources, Templates};
use super::seal::StateCodec;
use super::tools::Tools;
use super::visible::Visibility;
use crate::dialect::{Era, Revision};
use crate::error::ApiMisuse;
use crate::leniency::Leniency;
use crate::limits::Limits;
use crate::model::caching::{CacheScope, TtlMs};
use crate::model::capabilities::{
    PromptsCapability, ResourcesCapability, ServerCapabilities, ToolsCapability,
};
use crate::model::lifecycle::Implementation;
use crate::model::meta::{KeyFault, check_key};
use crate::model::{In, Json, JsonMap, TASKS_EXTENSION};
use crate::schema::OutputCheck;

/// Everything that connections and exchanges need to know of their server.
///
/// Built once and shared as `Arc<Config>`: an exchange reads it without a lock. To change something, build
/// another and give it to what starts from then on.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Config {
    identity: Implementation,
    /// The identity as results carry it.
    server_info: Json,
    /// How to use the server, for a model to read. Default none.
    pub instructions: Option<String>,
    /// The revisions that are spoken. Default all.
    pub revisions: Revisions,
    /// Every bound. Default [`Limits::default`].
    pub limits: Limits,
    /// Which mistakes of clients are tolerated. Default all.
    pub leniency: Leniency,
    /// The tools; with at least one, the capability `tools` is declared (TOOL-01).
    pub tools: Tools,
    /// The prompts; with at least one, the capability `prompts` is declared (PROMPT-01).
    pub prompts: Prompts,
    /// The resources; with at least one, or a template, the capability `resources` is declared (RES-01).
    pub resources: Resources,
    /// The resource templates; a URI that is not in `resources` may be made by one of them.
    pub templates: Templates,
    /// Whether the application suggests values for arguments of prompts and variables of templates; declares
    /// `completions` (COMP-01). Default `false`.
    pub completions: bool,
    /// Whether log messages may be sent to clients that ask for them; declares `logging`. Default `false`.
    pub logging: bool,
    /// Methods and notifications of the application's own. Default none.
    pub custom: Custom,
    /// Which of its lists the application may change, and then publish that it has; declares `listChanged` for
    /// them where that reaches the client, and the lists themselves even while they are empty. Default none.
    pub changes: ListChanges,
    /// Whether the application publishes that resources were updated; declares `resources.subscribe` where
    /// that reaches the client. Default `false`.
    pub subscriptions: bool,
    /// What is there for whom. Default `None`: everything for everybody. With a rule, lists are never said to be
    /// public (CACHE-15).
    pub visible: Option<Visibility>,
    /// Whether calls may go on as tasks, of which the extension is declared to modern clients: what is asked of tasks is
    /// then handed out as [`Target::Task`](super::Target::Task). Default `false`.
    pub tasks: bool,
    /// Experimental capabilities to declare, by name. Default none.
    pub experimental: JsonMap,
    /// Extensions to declare to modern clients, by identifier; see [`extension`](Self::extension). Default none.
    pub extensions: JsonMap,
    /// How long `server/discover` may be kept, and by whom, and lists that do not say it themselves. Default:
    /// stale at once, private.
    pub cache: CacheHint,
    /// What is demanded of HTTP requests. Default: loopback only.
    pub http: HttpPolicy,
    /// Who seals request state, and opens it again. Default `None`: there is none.
    pub state: Option<Arc<dyn StateCodec>>,
    /// Whom request state is for, among servers that share keys. Default `None`: the name of this server.
    pub state_audience: Option<String>,
    /// Whether arguments of tools are checked against their input schemas before a handler sees them. Default
    /// `true`.
    pub check_arguments: bool,
    /// What is done about structured content that does not fit the output schema. Default
    /// [`OutputCheck::Strict`].
    pub check_output: OutputCheck,
    /// Entries on one page of a list; 0 counts as 1. Default `None`: all on one.
    pub page_size: Option<usize>,
    /// Whether modern results name the server in `_meta` (META-19). Default `true`.
    pub name_in_results: bool,
    /// Whether requests that need no application, such as handshakes and lists, are handed out as calls, too, so that
    /// it may watch and refuse them; see [`Target::Protocol`](super::Target::Protocol). Default `false`.
    pub hand_out_all: bool,
    /// Whether bytes on a stream that are no message at all are answered with an error without id, which in legacy
    /// sessions of revisions before 2025-11-25 is `null`. Default `true`; turn it off where noise is to be expected
    /// among the messages. Requests are always answered.
    pub answer_noise: bool,
}

/// How long a result may be kept, and who may be given a kept copy.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct CacheHint {
    /// For how long it counts as fresh.
    pub ttl: TtlMs,
    /// Who may be given a copy.
    pub scope: CacheScope,
}

impl CacheHint {
    /// Fresh for `ttl`, to whoever `scope` says.
    pub const fn new(ttl: TtlMs, scope: CacheScope) -> Self {
        Self { ttl, scope }
    }
}

impl Config {
    /// A server that offers nothing.
    pub fn new(identity: Implementation) -> Self {
        Self {
            server_info: short(&identity),
            identity,
            instructions: None,
            revisions: Revisions::default(),
            limits: Limits::default(),
            leniency: Leniency::default(),
            tools: Tools::new(),
            prompts: Prompts::new(),
            resources: Resources::new(),
            templates: Templates::new(),
            completions: false,
            logging: false,
            custom: Custom::new(),
            changes: ListChanges::default(),
            subscriptions: false,
            visible: None,
            tasks: false,
            experimental: JsonMap::new(),
            extensions: JsonMap::new(),
            cache: CacheHint::default(),
            http: HttpPolicy::default(),
            check_arguments: true,
            check_output: OutputCheck::Strict,
            state: None,
            state_audience: None,
            page_size: None,
            name_in_results: true,
            hand_out_all: false,
            answer_noise: true,
        }
    }

    /// With another identity.
    #[must_use]
    pub fn identify(mut self, identity: Implementation) -> Self {
        self.set_identity(identity);
        self
    }

    /// Changes who the server says it is.
    pub fn set_identity(&mut self, identity: Implementation) {
        self.server_info = short(&identity);
        self.identity = identity;
    }

    /// With instructions for a model.
    #[must_use]
    pub fn instructions(mut self, instructions: impl Into<String>) -> Self {
        self.instructions = Some(instructions.into());
        self
    }

    /// Speaking these revisions.
    #[must_use]
    pub fn revisions(mut self, revisions: Revisions) -> Self {
        self.revisions = revisions;
        self
    }

    /// With other bounds.
    #[must_use]
    pub fn limits(mut self, limits: Limits) -> Self {
        self.limits = limits;
        self
    }

    /// Tolerating these mistakes of clients.
    #[must_use]
    pub fn leniency(mut self, leniency: Leniency) -> Self {
        self.leniency = leniency;
        self
    }

    /// With these tools.
    #[must_use]
    pub fn tools(mut self, tools: Tools) -> Self {
        self.tools = tools;
        self
    }

    /// With these prompts.
    #[must_use]
    pub fn prompts(mut self, prompts: Prompts) -> Self {
        self.prompts = prompts;
        self
    }

    /// With these resources.
    #[must_use]
    pub fn resources(mut self, resources: Resources) -> Self {
        self.resources = resources;
        self
    }

    /// With these resource templates.
    #[must_use]
    pub fn templates(mut self, templates: Templates) -> Self {
        self.templates = templates;
        self
    }

    /// Whether values are suggested.
    #[must_use]
    pub fn completions(mut self, completions: bool) -> Self {
        self.completions = completions;
        self
    }

    /// Whether log messages may be sent.
    #[must_use]
    pub fn logging(mut self, logging: bool) -> Self {
        self.logging = logging;
        self
    }

    /// Declares an extension, with its settings: an object, empty when there are none (EXT-04).
    ///
    /// <https://modelcontextprotocol.io/specification/2026-07-28/basic/versioning#extension-negotiation>
    ///
    /// # Errors
    ///
    /// When `id` is not a prefix, `/` and a name (EXT-02), or the settings are no object.
    pub fn extension(&mut self, id: &str, settings: Json) -> Result<(), ApiMisuse> {
        let fault = match check_key(id) {
            // Those of the protocol's authors have its prefix.
            Ok(()) | Err(KeyFault::Reserved) if id.contains('/') && !id.ends_with('/') => None,
            Ok(()) | Err(KeyFault::Reserved) => Some("it must be a prefix, `/` and a name".into()),
            Err(fault) => Some(alloc::format!("{fault}")),
        };
        if let Some(fault) = fault {
            return Err(ApiMisuse::new(alloc::format!("the extension `{id}`: {fault}")));
        }
        if !settings.is_object() {
            return Err(ApiMisuse::new(alloc::format!("the settings of the extension `{id}` are no object")));
        }
        self.extensions.insert(id.into(), settings);
        Ok(())
    }

    /// With these lists that may change.
    #[must_use]
    pub fn changes(mut self, changes: ListChanges) -> Self {
        self.changes = changes;
        self
    }

    /// Whether updates of resources are published.
    #[must_use]
    pub fn subscriptions(mut self, subscriptions: bool) -> Self {
        self.subscriptions = subscriptions;
        self
    }

    /// With a rule for what is there for whom.
    #[must_use]
    pub fn visible(mut self, visible: Visibility) -> Self {
        self.visible = Some(visible);
        self
    }

    /// Whether calls may go on as tasks.
    #[must_use]
    pub fn tasks(mut self, tasks: bool) -> Self {
        self.tasks = tasks;
        self
    }

    /// With hints for caches.
    #[must_use]
    pub fn cache(mut self, cache: CacheHint) -> Self {
        self.cache = cache;
        self
    }

    /// With other demands on HTTP requests.
    #[must_use]
    pub fn http(mut self, http: HttpPolicy) -> Self {
        self.http = http;
        self
    }

    /// With request state that this codec seals.
    #[must_use]
    pub fn state(mut self, codec: Arc<dyn StateCodec>) -> Self {
        self.state = Some(codec);
        self
    }

    /// With request state for this audience.
    #[must_use]
    pub fn state_audience(mut self, audience: impl Into<String>) -> Self {
        self.state_audience = Some(audience.into());
        self
    }

    /// Whether arguments are checked.
    #[must_use]
    pub fn check_arguments(mut self, check: bool) -> Self {
        self.check_arguments = check;
        self
    }

    /// With other checks of structured content.
    #[must_use]
    pub fn check_output(mut self, check: OutputCheck) -> Self {
        self.check_output = check;
        self
    }

    /// With at most this many entries on a page.
    #[must_use]
    pub fn page_size(mut self, page_size: Option<usize>) -> Self {
        self.page_size = page_size;
        self
    }

    /// Whether modern results name the server.
    #[must_use]
    pub fn name_in_results(mut self, name_in_results: bool) -> Self {
        self.name_in_results = name_in_results;
        self
    }

    /// Whether what is no message is answered.
    #[must_use]
    pub fn answer_noise(mut self, answer_noise: bool) -> Self {
        self.answer_noise = answer_noise;
        self
    }

    /// Who the server says it is.
    pub fn identity(&self) -> &Implementation {
        &self.identity
    }

    /// The identity to put into results.
    pub(super) fn server_info(&self) -> Option<&Json> {
        self.name_in_results.then_some(&self.server_info)
    }

    /// Whether there are tools, or may be.
    pub(super) fn has_tools(&self) -> bool {
        self.changes.tools || !self.tools.is_empty()
    }

    /// Whether there are prompts, or may be.
    pub(super) fn has_prompts(&self) -> bool {
        self.changes.prompts || !self.prompts.is_empty()
    }

    /// Whether there is anything to read, or may be.
    pub(super) fn has_resources(&self) -> bool {
        self.changes.resources || !(self.resources.is_empty() && self.templates.is_empty())
    }

    /// Whether what the application publishes reaches clients of this era over this transport. Where it does
    /// not, nothing of it is promised (DISC-07).
    pub(super) fn delivers(&self, era: Era, transport: Transport) -> bool {
        match (transport, era) {
            (Transport::Stream, _) => true,
            (Transport::Http, Era::Modern) => !self.http.json_responses,
            (Transport::Http, Era::Legacy) => self.http.session_streams && !self.http.stateless,
        }
    }

    /// Whether there is anything to listen for.
    pub(super) fn listens(&self) -> bool {
        self.subscriptions || self.tasks || self.changes != ListChanges::default()
    }

    /// What the server declares to clients of this era over this transport.
    pub(super) fn capabilities(&self, era: Era, transport: Transport) -> ServerCapabilities {
        let delivered = self.delivers(era, transport);
        let promised = |flag: bool| (flag && delivered).then_some(true);
        let mut capabilities = ServerCapabilities::new();
        if self.has_tools() {
            let mut tools = ToolsCapability::new();
            tools.list_changed = promised(self.changes.tools);
            capabilities.tools = Some(tools);
        }
        if self.has_prompts() {
            let mut prompts = PromptsCapability::new();
            prompts.list_changed = promised(self.changes.prompts);
            capabilities.prompts = Some(prompts);
        }
        if self.has_resources() {
            let mut resources = ResourcesCapability::new();
            resources.list_changed = promised(self.changes.resources);
            resources.subscribe = promised(self.subscriptions);
            capabilities.resources = Some(resources);
        }
        if self.completions {
            capabilities.completions = Some(Json::empty_object());
        }
        // Without sessions there is nobody who remembers the level.
        if self.logging && !((era, transport) == (Era::Legacy, Transport::Http) && self.http.stateless) {
            capabilities.logging = Some(Json::empty_object());
        }
        if !self.experimental.is_empty() {
            capabilities.experimental = Some(self.experimental.clone());
        }
        if !self.extensions.is_empty() {
            capabilities.extensions = Some(self.extensions.clone());
        }
        // Legacy revisions have no such member (TASK-64).
        if self.tasks {
            let extensions = capabilities.extensions.get_or_insert_default();
            extensions.entry(TASKS_EXTENSION.into()).or_insert_with(Json::empty_object);
        }
        capabilities
    }
}

/// What carries messages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Transport {
    /// A byte stream, both ways at any time.
    Stream,
    /// HTTP, one exchange at a time.
    Http,
}

/// The lists of a server that may change while it serves.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct ListChanges {
    /// The list of tools.
    pub tools: bool,
    /// The list of prompts.
    pub prompts: bool,
    /// The lists of resources and templates.
    pub resources: bool,
}

impl ListChanges {
    /// All of them.
    pub const ALL: Self = Self { tools: true, prompts: true, resources: true };
    /// None.
    pub const NONE: Self = Self { tools: false, prompts: false, resources: false };
}

/// Results repeat what is needed to tell servers apart; pictures and prose are for discovery.
fn short(identity: &Implementation) -> Json {
    let mut short = Implementation::new(identity.name.clone(), identity.version.clone());
    short.title.clone_from(&identity.title);
    Json::new(&In(Revision::LATEST, &short)).unwrap_or_else(|_| Json::empty_object())
}

/// A set of revisions; never empty.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Revisions(Vec<Revision>);

impl Default for Revisions {
    fn default() -> Self {
        Self::of(Revision::ALL)
    }
}

impl Revisions {
    /// These revisions; all of them when none is given.
    pub fn of(revisions: impl IntoIterator<Item = Revision>) -> Self {
        let mut newest_first: Vec<_> = revisions.into_iter().collect();
        newest_first.sort_unstable_by(|a, b| b.cmp(a));
        newest_first.dedup();
        if newest_first.is_empty() { Self::default() } else { Self(newest_first) }
    }

    /// The revisions of one era.
    pub fn era(era: Era) -> Self {
        Self::of(Revision::ALL.into_iter().filter(|revision| revision.era() == era))
    }

    /// Whether `revision` is spoken.
    pub fn contains(&self, revision: Revision) -> bool {
        self.0.contains(&revision)
    }

    /// Whether any revision of `era` is spoken.
    pub fn speak(&self, era: Era) -> bool {
        self.0.iter().any(|revision| revision.era() == era)
    }

    /// All, newest first.
    pub fn iter(&self) -> impl Iterator<Item = Revision> {
        self.0.iter().copied()
    }

    /// The revision that answers a handshake which asks for `requested`: that one if it is spoken, else the
    /// newest legacy one (INIT-09 to INIT-11). `None` when no legacy revision is spoken.
    pub fn negotiate(&self, requested: &str) -> Option<Revision> {
        let legacy = || self.iter().filter(|revision| revision.era() == Era::Legacy);
        legacy().find(|revision| revision.as_str() == requested).or_else(|| legacy().next())
    }
}
