//! Servers: definition, and what runs them.

mod calls;
mod changing;
#[cfg(feature = "http")]
mod connection;
#[cfg(feature = "http")]
mod exchange;
mod extend;
#[cfg(feature = "http")]
mod gate;
#[cfg(feature = "http")]
mod http;
mod hub;
mod line;
mod offer;
mod registry;
#[cfg(feature = "http")]
mod session;
mod state;
#[cfg(feature = "http")]
mod stop;
#[cfg(feature = "http")]
mod store;
mod tasks;
#[cfg(feature = "http")]
mod verify;

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;

#[cfg(feature = "http")]
use mcp_proto::diagnostic::Diagnostic;
use mcp_proto::dialect::{Era, Revision};
use mcp_proto::error::{ApiMisuse, ErrorObject};
use mcp_proto::limits::Limits;
use mcp_proto::model::Implementation;
use mcp_proto::schema::OutputCheck;
#[cfg(feature = "seal")]
use mcp_proto::server::StateKey;
use mcp_proto::server::{Config, Listen, Principal, Revisions};
#[cfg(feature = "http")]
use mcp_proto::server::{Cors, ResourceServer};

pub(crate) use self::line::Peer;
use crate::around::Around;
use crate::bus::Bus;
use crate::completion::ForCompletion;
use crate::context::Report;
use crate::custom::Notification;
use crate::deprecated::{Deprecated, Said};
use crate::error::Error;
use crate::extensions::Extensions;
use crate::handler::{HandlerFor, Takes};
use crate::hook;
use crate::jobs::Jobs;
use crate::prompt::{ForPrompt, Prompt, PromptArguments};
use crate::reply::{Mode, Running};
use crate::resource::{ForResource, ForTemplate, Resource, ResourceTemplate};
use crate::runtime::{Job, Runtime};
use crate::spans;
use crate::stdio::Stdio;
use crate::tool::{Tool, ToolHandler};

use hub::Hub;
use offer::{Live, Offer};
pub(crate) use tasks::Board;

pub(crate) use calls::{go_on, launch, run};
#[cfg(feature = "http")]
pub use exchange::ExchangeHandle;
#[cfg(feature = "http")]
pub use http::{HttpServer, HttpService};
#[cfg(feature = "http")]
pub use mcp_proto::server::{SessionId, SessionState};
pub use registry::{Changes, Registry};
#[cfg(feature = "http")]
pub use stop::Stop;
#[cfg(feature = "http")]
pub use store::{Saved, SessionStore, StoreError};
#[cfg(feature = "http")]
pub use verify::{AsyncVerify, BlockingVerify, Verifier, Verify};

/// A server: who it is, what it offers, and how it is reached.
///
/// Serves every revision of the protocol unless told otherwise; each client chooses the era by how it opens.
pub struct Server<R: Runtime> {
    runtime: R,
    live: Arc<Live>,
    misuse: Option<ApiMisuse>,
    on_error: Option<ErrorHook>,
    #[cfg(feature = "seal")]
    state_keys: Vec<StateKey>,
    principal: Option<Arc<Principal>>,
    extensions: Extensions,
    around: Vec<Around>,
    listeners: Listeners,
    #[cfg(feature = "http")]
    sessions: session::SessionSetup,
    #[cfg(feature = "http")]
    verifier: Option<Verifier>,
    on_listen: Option<ListenHook>,
}

type ListenHook = Arc<dyn Fn(&Listen) -> Result<(), ErrorObject> + Send + Sync>;

pub(crate) type ErrorHook = Arc<dyn Fn(&Report) + Send + Sync>;

/// Who listens to notifications of clients, by method.
type Listeners = BTreeMap<String, Vec<Box<dyn Fn(&Notification) + Send + Sync>>>;

/// What all connections of a server share.
pub(crate) struct Shared<R: Runtime> {
    pub(crate) runtime: R,
    jobs: Jobs,
    /// What blocks to check a token, apart from handlers.
    #[cfg(feature = "http")]
    checks: Jobs,
    /// What the server began with: its bounds and its policies, which do not change.
    pub(crate) config: Arc<Config>,
    /// What it offers, which may.
    pub(crate) live: Arc<Live>,
    /// What goes around every request, outermost first.
    pub(crate) around: Arc<[Around]>,
    listeners: Listeners,
    /// Who hears of it when that changes.
    pub(crate) hub: Arc<Hub>,
    on_error: Option<ErrorHook>,
    on_listen: Option<ListenHook>,
    /// Who the client on a byte stream is.
    pub(crate) principal: Option<Arc<Principal>>,
    pub(crate) extensions: Extensions,
    said: Said,
    /// The calls that go on as tasks.
    tasks: Arc<Board>,
    /// How many byte streams there were.
    connections: AtomicU64,
    /// What checks access tokens.
    #[cfg(feature = "http")]
    pub(crate) verifier: Option<Verifier>,
}

impl<R: Runtime> Shared<R> {
    pub(crate) fn report(&self, report: &Report) {
        spans::report(report);
        if let Some(hook) = &self.on_error {
            hook::call(|| hook(report));
        }
    }

    /// What a machine noticed.
    #[cfg(feature = "http")]
    pub(crate) fn noticed(&self, what: &str, diagnostic: &Diagnostic) {
        if !diagnostic.once || self.said.for_the_first_time(&diagnostic.detail) {
            self.report(&Report::noticed(what, diagnostic));
        }
    }

    pub(crate) fn deprecated(&self, feature: Deprecated) {
        if let Some(report) = self.said.once(feature) {
            self.report(&report);
        }
    }

    /// A client tells something.
    pub(crate) fn told(&self, notification: Notification) {
        for listener in self.listeners.get(notification.method()).into_iter().flatten() {
            hook::call(|| listener(&notification));
        }
    }

    /// Runs a job that checks a token, or hands it back when too many wait. Checks wait for each other, and never for
    /// handlers.
    #[cfg(feature = "http")]
    pub(crate) fn check(&self, job: Job) -> bool {
        self.checks.run(job, |job| self.runtime.spawn_blocking(job))
    }

    /// Runs the job of a handler. Where there is no place, the job is dropped, and whoever waits for it learns that.
    pub(crate) fn spawn_blocking(&self, job: Job) {
        if !self.jobs.run(job, |job| self.runtime.spawn_blocking(job)) {
            let detail = "the pool of blocking threads has no place; a call was refused";
            self.report(&Report::ours("server", detail));
        }
    }
}

impl<R: Runtime> Server<R> {
    /// A server by name and version: those of your program, which clients show to people.
    pub fn new(name: impl Into<String>, version: impl Into<String>) -> Self {
        Self {
            runtime: R::default(),
            live: Arc::new(Live::new(Config::new(Implementation::new(name, version)))),
            misuse: None,
            on_error: Some(Arc::new(Report::print_ours)),
            #[cfg(feature = "seal")]
            state_keys: Vec::new(),
            principal: None,
            on_listen: None,
            extensions: Extensions::new(),
            around: Vec::new(),
            listeners: BTreeMap::new(),
            #[cfg(feature = "http")]
            sessions: session::SessionSetup::default(),
            #[cfg(feature = "http")]
            verifier: None,
        }
    }

    /// Runs on this handle of the runtime instead of the default one.
    #[must_use]
    pub fn runtime(mut self, runtime: R) -> Self {
        self.runtime = runtime;
        self
    }

    /// Adds a tool. A definition that the specification forbids is the error that serving ends with at once.
    ///
    /// A handler is called again and again, so what it uses must outlive each call. An `async` closure may
    /// not lend what it has captured to its future; clone it into an `async` block instead:
    ///
    /// ```
    /// # use std::sync::{Arc, atomic::{AtomicU64, Ordering}};
    /// # use mcp_driver::{Context, Runtime, Server, Tool};
    /// # #[derive(serde::Deserialize, schemars::JsonSchema)] struct Nothing {}
    /// # fn count<R: Runtime>(server: Server<R>) -> Server<R> {
    /// let counter = Arc::new(AtomicU64::new(0));
    /// server.tool(Tool::new("count"), move |_: Nothing, _: Context| {
    ///     let counter = counter.clone();
    ///     async move { Ok(counter.fetch_add(1, Ordering::Relaxed)) }
    /// })
    /// # }
    /// ```
    ///
    /// A blocking handler needs none of that: it borrows what it has captured.
    ///
    /// A tool that embeds resources in its results belongs on a server that offers some, so that clients know
    /// what they are (TOOL-23).
    #[must_use]
    pub fn tool<M>(self, tool: Tool, handler: impl ToolHandler<M>) -> Self {
        self.add(|offer| offer.add_tool(tool, handler.into_handler()))
    }

    /// Adds a prompt. The handler takes the arguments, all of which are strings, and returns the text of one
    /// message of the user, messages, or a whole [`GetPromptResult`](crate::model::GetPromptResult).
    ///
    /// ```
    /// # use mcp_driver::{Context, Prompt, Runtime, Server};
    /// #[derive(serde::Deserialize, schemars::JsonSchema)]
    /// struct Review {
    ///     /// What to review.
    ///     code: String,
    ///     language: Option<String>,
    /// }
    ///
    /// # fn review<R: Runtime>(server: Server<R>) -> Server<R> {
    /// server.prompt(Prompt::new("review").description("Reviews code"), async |review: Review, _: Context| {
    ///     let language = review.language.unwrap_or_default();
    ///     Ok(format!("Review this {language} code:\n{}", review.code))
    /// })
    /// # }
    /// ```
    #[must_use]
    pub fn prompt<A: PromptArguments, M: Takes<A>>(
        self,
        prompt: Prompt,
        handler: impl HandlerFor<ForPrompt, M>,
    ) -> Self {
        self.add(|offer| offer.add_prompt::<A>(prompt, handler.into_handler()))
    }

    /// Adds a resource: text or bytes, or a handler that returns these or a whole
    /// [`ReadResourceResult`](crate::model::ReadResourceResult). What is not there (any more) is
    /// [`ToolError::not_found`](crate::ToolError::not_found).
    ///
    /// ```
    /// # use mcp_driver::{Context, Resource, Runtime, Server};
    /// # fn motd<R: Runtime>(server: Server<R>) -> Server<R> {
    /// server
    ///     .resource(Resource::new("kiln://licence", "licence").mime_type("text/plain"), "Do as you like.")
    ///     .resource(Resource::new("kiln://motd", "motd"), |_: Context| Ok(std::fs::read_to_string("/etc/motd")?))
    /// # }
    /// ```
    #[must_use]
    pub fn resource<M>(self, resource: Resource, handler: impl HandlerFor<ForResource, M>) -> Self {
        self.add(|offer| offer.add_resource(resource, handler.into_handler()))
    }

    /// Adds a family of resources. The handler takes the variables of the URI, all of which are strings, and
    /// returns what the one of a [`resource`](Self::resource) does.
    #[must_use]
    pub fn resource_template<M>(
        self,
        template: ResourceTemplate,
        handler: impl HandlerFor<ForTemplate, M>,
    ) -> Self {
        self.add(|offer| offer.add_template(template, handler.into_handler()))
    }

    /// Suggests values for an argument of a prompt that was added before. The handler takes what was
    /// [`Typed`](crate::Typed), and returns suggestions, best first (COMP-06); 100 are sent.
    #[must_use]
    pub fn complete_prompt<M>(
        self,
        prompt: &str,
        argument: &str,
        handler: impl HandlerFor<ForCompletion, M>,
    ) -> Self {
        self.add(|offer| offer.complete_prompt(prompt, argument, handler.into_handler()))
    }

    /// Suggests values for a variable of a resource template that was added before. The same as
    /// [`complete_prompt`](Self::complete_prompt).
    #[must_use]
    pub fn complete_template<M>(
        self,
        uri_template: &str,
        variable: &str,
        handler: impl HandlerFor<ForCompletion, M>,
    ) -> Self {
        self.add(|offer| offer.complete_template(uri_template, variable, handler.into_handler()))
    }

    /// Adds something. The first misuse is kept, for serving to end with.
    fn add(mut self, add: impl FnOnce(&mut Offer) -> Result<(), ApiMisuse>) -> Self {
        if let Err(misuse) = self.live.build(add) {
            self.misuse.get_or_insert(misuse);
        }
        self
    }

    /// Serves these revisions only. Default: all of them.
    #[must_use]
    pub fn revisions(self, revisions: impl IntoIterator<Item = Revision>) -> Self {
        self.configure(|config| config.revisions = Revisions::of(revisions))
    }

    /// Serves the revisions of one era only.
    #[must_use]
    pub fn only(self, era: Era) -> Self {
        self.revisions(Revisions::era(era).iter())
    }

    /// Bounds other than the default ones.
    #[must_use]
    pub fn limits(self, limits: Limits) -> Self {
        self.configure(|config| config.limits = limits)
    }

    /// Whether the arguments of tools are checked against their input schemas before a handler sees them; what does
    /// not fit is told to the model, by path. Default `true`. Types are decoded in any case, and what decoding
    /// demands is not checked twice. Needs the feature `jsonschema`.
    #[must_use]
    pub fn check_arguments(self, check: bool) -> Self {
        self.configure(|config| config.check_arguments = check)
    }

    /// What is done about structured content that does not fit the output schema of its tool. Default
    /// [`OutputCheck::Strict`]. Without the feature `jsonschema`, only whether there is some is looked at.
    #[must_use]
    pub fn check_output(self, check: OutputCheck) -> Self {
        self.configure(|config| config.check_output = check)
    }

    /// Answers HTTP requests for this host, too, and for web pages that it serves: a name or an address as clients send
    /// it in `Host`, such as `mcp.example.com`, without a scheme or a path. Where it is no host, serving ends at once with
    /// an error that says so. Default: loopback names only, so that no web page can reach a server on its visitor's machine.
    /// Without a port every port is meant.
    ///
    /// A host that was refused is told to [`on_error`](Self::on_error), a few of them once each.
    #[cfg(feature = "http")]
    #[must_use]
    pub fn allow_host(self, host: impl Into<String>) -> Self {
        self.configure(|config| config.http = std::mem::take(&mut config.http).allow_host(host))
    }

    /// Answers HTTP requests of web pages of this origin, too: scheme, host and port as browsers send it, such as
    /// `https://app.example`, without a slash at the end. Where it is no origin, serving ends at once with an error
    /// that says so.
    ///
    /// An origin that was refused is told to [`on_error`](Self::on_error), a few of them once each.
    #[cfg(feature = "http")]
    #[must_use]
    pub fn allow_origin(self, origin: impl Into<String>) -> Self {
        self.configure(|config| config.http = std::mem::take(&mut config.http).allow_origin(origin))
    }

    /// Lets web pages of the origins that are let in read the answers: those of
    /// [`allow_host`](Self::allow_host) and [`allow_origin`](Self::allow_origin), and of the local machine.
    #[cfg(feature = "http")]
    #[must_use]
    pub fn cors(self, cors: Cors) -> Self {
        self.configure(|config| config.http.cors = Some(cors))
    }

    /// Demands an access token of every HTTP request, which `verifier` checks, and tells clients where to get
    /// one. Requests may name the host of the resource besides those that are let in anyway.
    ///
    /// ```
    /// # use mcp_driver::{AuthRefusal, BearerToken, Grant, Principal, ResourceServer, Runtime, Server};
    /// # fn look_up(_: &str) -> Option<(String, Vec<String>)> { None }
    /// # fn protect<R: Runtime>(server: Server<R>) -> Server<R> {
    /// let resource = "https://mcp.example.com/mcp";
    /// let protected = ResourceServer::new(resource)
    ///     .authorization_server("https://auth.example.com")
    ///     .scopes(["tools"]);
    /// server.resource_server(protected, async |token: BearerToken| {
    ///     // Check the signature, or ask the authorization server. Whom the token was issued for is compared
    ///     // with the resource.
    ///     let (user, scopes) = look_up(token.as_str()).ok_or(AuthRefusal::Invalid)?;
    ///     Ok(Grant::new(Principal::new(user).scopes(scopes)).audience("https://mcp.example.com/mcp"))
    /// })
    /// # }
    /// ```
    ///
    /// <https://modelcontextprotocol.io/specification/2026-07-28/basic/authorization>
    #[cfg(feature = "http")]
    #[must_use]
    pub fn resource_server<M>(mut self, server: ResourceServer, verifier: impl Verify<M>) -> Self {
        self.verifier = Some(verifier.into_verifier());
        self.configure(|config| {
            if let Some(host) = server.host() {
                config.http.hosts.allow(host);
            }
            config.http.resource_server = Some(server);
        })
    }

    /// Says who the one client on a byte stream is, such as the user that this process runs as: handlers find it
    /// with [`Context::principal`](crate::Context::principal). Requests over HTTP have to show who makes them; on a
    /// byte stream there are no tokens, and credentials come from the environment (STDIO-20).
    #[must_use]
    pub fn principal(mut self, principal: Principal) -> Self {
        self.principal = Some(Arc::new(principal));
        self
    }

    /// Whatever else can be configured.
    #[must_use]
    pub fn configure(self, change: impl FnOnce(&mut Config)) -> Self {
        self.live.build(|offer| change(offer.config_mut()));
        self
    }

    /// Hears of what goes wrong: errors and panics of handlers, and what peers do against the protocol, told
    /// apart by [`Report::blame`]. The peers themselves are told nothing of it. Default: what is our own doing
    /// is printed to standard error, one line each.
    #[must_use]
    pub fn on_error(mut self, hook: impl Fn(&Report) + Send + Sync + 'static) -> Self {
        self.on_error = Some(Arc::new(hook));
        self
    }

    /// Serves one client on standard input and output, until it closes them. Nothing else in the process
    /// may use the two: see [`Stdio::take`].
    ///
    /// # Errors
    /// When the definition of the server is not valid, there is no entropy for keys, or standard input and output
    /// are taken already. That the client goes away is none.
    ///
    /// <https://modelcontextprotocol.io/specification/2026-07-28/basic/transports/stdio>
    pub fn serve_stdio(self) -> <R::Mode as Mode>::Reply<(), Error> {
        let runtime = self.runtime.clone();
        runtime.run(Running::task(async move {
            let shared = self.into_shared()?;
            let stdio =
                Stdio::take().map_err(|error| Error::io("taking standard input and output", error))?;
            let stream = shared
                .runtime
                .stdio(stdio)
                .map_err(|error| Error::io("driving standard input and output", error))?;
            Peer::new(shared).serve(stream).await;
            Ok(())
        }))
    }

    /// Serves one client on a byte stream, one message a line, until it closes the stream.
    ///
    /// # Errors
    /// When the definition of the server is not valid, or there is no entropy for keys.
    pub fn serve_stream(self, stream: R::Stream) -> <R::Mode as Mode>::Reply<(), Error> {
        let runtime = self.runtime.clone();
        runtime.run(Running::task(async move {
            Peer::new(self.into_shared()?).serve(stream).await;
            Ok(())
        }))
    }

    /// The server as the peer of a client in this process.
    pub(crate) fn into_peer(self) -> Result<Peer<R>, Error> {
        Ok(Peer::new(self.into_shared()?))
    }

    fn into_shared(mut self) -> Result<Arc<Shared<R>>, Error> {
        if let Some(misuse) = self.misuse.take() {
            return Err(misuse.into());
        }
        #[cfg(feature = "http")]
        self.live.offer().config().http.check()?;
        #[cfg(feature = "seal")]
        if self.live.offer().config().state.is_none() {
            let ring = Arc::new(self.keyring()?);
            self.live.build(|offer| offer.config_mut().state = Some(ring));
        }
        self.live.build(|offer| spans::prepare(offer.config_mut()));
        let config = self.live.offer().config().clone();
        self.runtime.configure(&config.limits);
        #[cfg(any(feature = "http", feature = "seal"))]
        let seed = self.runtime.seed().map_err(|error| Error::io("asking for entropy", error))?;
        // On a byte stream a task is only there for whoever is at its other end, whatever its id is.
        #[cfg(not(any(feature = "http", feature = "seal")))]
        let seed = mcp_proto::entropy::Seed::new([0; 32]);
        let hub = Arc::<Hub>::default();
        let shared = Shared {
            tasks: Board::new(&self.runtime, &config.limits, seed, hub.clone()),
            connections: AtomicU64::new(0),
            runtime: self.runtime,
            jobs: Jobs::new(&config.limits),
            #[cfg(feature = "http")]
            checks: Jobs::new(&config.limits),
            config,
            live: self.live,
            hub,
            on_error: self.on_error,
            on_listen: self.on_listen,
            principal: self.principal,
            extensions: self.extensions,
            around: self.around.into(),
            listeners: self.listeners,
            said: Said::default(),
            #[cfg(feature = "http")]
            verifier: self.verifier,
        };
        let hub = Arc::downgrade(&shared.hub);
        shared.live.bus().subscribe(Box::new(move |change| match hub.upgrade() {
            Some(hub) => {
                hub.tell(change);
                true
            }
            None => false,
        }));
        let shared = Arc::new(shared);
        let this = Arc::downgrade(&shared);
        shared.live.set_hook(Arc::new(move |report| {
            if let Some(shared) = this.upgrade() {
                shared.report(report);
            }
        }));
        Ok(shared)
    }
}

impl<R: Runtime> fmt::Debug for Server<R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let offer = self.live.offer();
        let config = offer.config();
        f.debug_struct("Server")
            .field("identity", config.identity())
            .field("tools", &config.tools.len())
            .field("prompts", &config.prompts.len())
            .field("resources", &config.resources.len())
            .field("templates", &config.templates.len())
            .finish_non_exhaustive()
    }
}
