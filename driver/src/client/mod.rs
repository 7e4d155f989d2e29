//! Clients: opening a connection, and calling.

mod alive;
mod answers;
mod asked;
#[cfg(feature = "auth")]
pub(crate) mod authorize;
mod calls;
mod collection;
mod desk;
mod group;
#[cfg(feature = "http")]
mod http;
mod line;
mod open;
mod roots;
mod server_file;
mod streaming;
mod subscription;
mod target;
mod tasks;
mod tools;
mod waiting;
mod words;

use std::fmt;
use std::future::Future;
use std::sync::Arc;

use mcp_proto::client::{Call, Config};
use mcp_proto::dialect::{Era, Revision};
use mcp_proto::error::{ApiMisuse, CallError};
use mcp_proto::limits::Limits;
use mcp_proto::model::{
    ClientCapabilities, Implementation, Json, LoggingLevel, LoggingMessageNotificationParams, Meta,
    ServerCapabilities,
};

use crate::context::Report;
use crate::deprecated::Deprecated;
use crate::error::Error;
use crate::hook;
use crate::jobs::Jobs;
use crate::process::{self, Command, StderrHook};
use crate::reply::{Mode, Running};
use crate::runtime::Runtime;
use crate::server::Server;
use answers::{Answers, Roots};
use desk::Link;
#[cfg(feature = "http")]
use desk::Machine;
use line::LineClient;

pub use answers::{AnswerError, AnswerHandler, Answerer, ForForm, ForRoots, ForSampling, ForUrl, Question};
pub use asked::Asked;
pub use calls::{CallFuture, Calls, Canceller, Options};
pub use collection::Incomplete;
pub use group::{Group, GroupBuilder, GroupCall, GroupError, Listed, Listing};
#[cfg(feature = "tls")]
pub use http::Tls;
#[cfg(feature = "http")]
pub use http::{Exchanger, Outgoing, Proxy, Response};
pub use mcp_proto::client::{
    CacheEntry, CacheUse, CallTool, CallToolAsTask, CancelTask, Complete, Continuation, Custom, Discover,
    EraChoice, Fetch, Fetched, Freshness, GetPrompt, GetTask, ListPrompts, ListResourceTemplates,
    ListResources, ListTasks, ListTools, Notice, Ping, Progress, ReadResource, Refusal, Resume,
    ServerDetails, SetLevel, TaskHandle, TaskResult, ToolReply, ToolStart, Transport, Unfinished, Unmet,
    UpdateTask, Verdict, WaitForTask,
};
pub use server_file::{NamedServer, ServerFile, ServerFileError};
pub use streaming::{CallStream, Update};
pub use subscription::Subscription;
pub use target::Target;
#[cfg(feature = "http")]
pub use target::{UrlKind, UrlTarget};
pub use waiting::Wait;

/// A connection to one server. Calls are in [`Calls`]; clones share the connection, and when the last is
/// dropped it is closed.
#[derive(Clone)]
pub struct Client<R: Runtime> {
    runtime: R,
    /// What the server said of itself at first.
    first: Arc<ServerDetails>,
    config: Arc<Config>,
    roots: Option<Roots>,
    link: Arc<Closing<R>>,
}

#[derive(Clone)]
enum AnyLink<R: Runtime> {
    Line(Arc<LineClient<R>>),
    #[cfg(feature = "http")]
    Http(Arc<http::HttpClient<R>>),
}

/// Closes the connection when nobody can call any more.
struct Closing<R: Runtime>(AnyLink<R>);

impl<R: Runtime> Drop for Closing<R> {
    fn drop(&mut self) {
        self.0.close();
    }
}

impl<R: Runtime> Client<R> {
    /// A client that introduces itself with the name and version of your program.
    pub fn builder(name: impl Into<String>, version: impl Into<String>) -> ClientBuilder<R> {
        ClientBuilder {
            runtime: R::default(),
            config: Config::new(Implementation::new(name, version)),
            hooks: Hooks {
                diagnostic: Some(Arc::new(Report::print_ours)),
                stderr: Some(Arc::new(process::pass_on)),
                ..Hooks::default()
            },
            #[cfg(feature = "http")]
            means: http::Means::default(),
        }
    }

    /// Connects to a server that is given as a string (a URL or a command line), as a [`Command`], or by a file such as
    /// desktop hosts keep ([`ServerFile`]); introduces itself with the name of the running program. See
    /// [`ClientBuilder`] for choices.
    ///
    /// # Errors
    /// As of [`ClientBuilder::connect`].
    pub fn connect<T>(target: T) -> <R::Mode as Mode>::Reply<Self, Error>
    where
        T: TryInto<Target>,
        Error: From<T::Error>,
    {
        ClientBuilder::<R>::of_this_program().connect(target)
    }

    /// Starts a server as a child process and connects to it, introducing itself with the name of the
    /// running program. See [`ClientBuilder`] for choices.
    ///
    /// # Errors
    /// As of [`ClientBuilder::spawn`].
    pub fn spawn(command: impl Into<Command>) -> <R::Mode as Mode>::Reply<Self, Error> {
        ClientBuilder::<R>::of_this_program().spawn(command)
    }

    /// Connects to a server's URL, introducing itself with the name of the running program. See
    /// [`ClientBuilder`] for choices.
    ///
    /// # Errors
    /// As of [`ClientBuilder::http`].
    #[cfg(feature = "http")]
    pub fn http(url: impl Into<String>) -> <R::Mode as Mode>::Reply<Self, Error> {
        ClientBuilder::<R>::of_this_program().http(url)
    }

    /// Connects to a server in this process, introducing itself with the name of the running program. See
    /// [`ClientBuilder`] for choices.
    ///
    /// # Errors
    /// As of [`ClientBuilder::in_process`].
    pub fn in_process(server: Server<R>) -> <R::Mode as Mode>::Reply<Self, Error> {
        ClientBuilder::<R>::of_this_program().in_process(server)
    }

    /// Everything the server said about itself, as of now: a child that was started again, or another session of a legacy
    /// server, may be another version of it, and a modern server may introduce itself again.
    pub fn details(&self) -> Arc<ServerDetails> {
        let present = match &self.link.0 {
            AnyLink::Line(link) => desk::details(link),
            #[cfg(feature = "http")]
            AnyLink::Http(link) => desk::details(link),
        };
        present.unwrap_or_else(|| Arc::clone(&self.first))
    }

    /// The revision that is spoken now.
    pub fn revision(&self) -> Revision {
        self.details().revision
    }

    /// The era of that revision, which stays the same for as long as the connection.
    pub fn era(&self) -> Era {
        self.first.era()
    }

    /// How the server was found to speak, to be kept for the next connection to it: see [`ClientBuilder::verdict`].
    pub fn verdict(&self) -> Verdict {
        self.link.0.verdict(self.revision())
    }

    /// The server's name and version, where it told them. A claim: for people to read, not to decide on.
    pub fn server_info(&self) -> Option<Implementation> {
        self.details().info.clone()
    }

    /// What the server offers, as of now.
    pub fn capabilities(&self) -> ServerCapabilities {
        self.details().capabilities.clone()
    }

    /// How to use the server, in its own words.
    pub fn instructions(&self) -> Option<String> {
        self.details().instructions.clone()
    }

    /// What is kept of results, because the server said for how long they may be: [`ClientBuilder::cache`].
    pub fn cache(&self) -> Vec<CacheEntry> {
        match &self.link.0 {
            AnyLink::Line(link) => desk::cache(link),
            #[cfg(feature = "http")]
            AnyLink::Http(link) => desk::cache(link),
        }
    }

    /// Forgets what is kept of results.
    pub fn clear_cache(&self) {
        match &self.link.0 {
            AnyLink::Line(link) => link.lock().machine.clear_cache(),
            #[cfg(feature = "http")]
            AnyLink::Http(link) => link.lock().machine.clear_cache(),
        }
    }

    /// Sets a field of all HTTP requests from now on, such as `Authorization` with another token, in the place of what
    /// [`ClientBuilder::header`] added by this name. Results that were kept for whoever this client was are forgotten.
    ///
    /// # Errors
    /// When the connection is no HTTP.
    pub fn set_header(&self, name: &str, value: impl AsRef<[u8]>) -> Result<(), ApiMisuse> {
        match &self.link.0 {
            #[cfg(feature = "http")]
            AnyLink::Http(link) => {
                link.set_header(name, value.as_ref());
                Ok(())
            }
            AnyLink::Line(_) => {
                let value = value.as_ref().len();
                Err(ApiMisuse::new(format!(
                    "`{name}` ({value} bytes) is a field of HTTP requests, and this server is not connected to by URL"
                )))
            }
        }
    }

    /// Closes the connection and waits until that is done: a session is ended, a child process has exited.
    /// Calls under way fail.
    ///
    /// # Errors
    /// None so far.
    pub fn close(&self) -> <R::Mode as Mode>::Reply<(), Error> {
        let closing = self.ending();
        self.runtime.run(Running::task(async move {
            closing.await;
            Ok(())
        }))
    }

    /// Says once what is used of what is deprecated, now that it is known how the server speaks (VER-25).
    fn say_deprecated(&self) {
        let has_logging = self.first.capabilities.logging.is_some();
        if self.config.log_level.is_some() && has_logging {
            self.link.0.say(Deprecated::Logging);
        }
        #[cfg(feature = "http")]
        if self.verdict().transport == Transport::HttpSse {
            self.link.0.say(Deprecated::HttpSse);
        }
    }

    /// Closes the connection, which has begun when this returns.
    fn ending(&self) -> impl Future<Output = ()> + Send + 'static {
        let link = self.link.0.clone();
        link.close();
        async move { link.closed().await }
    }

    fn start_call<C: Call>(&self, call: &C, options: Options) -> CallFuture<C::Reply> {
        if options.call.log_level.is_some() && self.details().capabilities.logging.is_some() {
            self.link.0.say(Deprecated::Logging);
        }
        match &self.link.0 {
            AnyLink::Line(link) => desk::start(link, call, options),
            #[cfg(feature = "http")]
            AnyLink::Http(link) => desk::start(link, call, options),
        }
    }
}

impl<R: Runtime> AnyLink<R> {
    fn close(&self) {
        match self {
            Self::Line(link) => link.close(),
            #[cfg(feature = "http")]
            Self::Http(link) => link.close(),
        }
    }

    async fn closed(&self) {
        match self {
            Self::Line(link) => link.closed().await,
            #[cfg(feature = "http")]
            Self::Http(link) => desk::closed(link).await,
        }
    }

    /// Says that something is deprecated, the first time.
    fn say(&self, feature: Deprecated) {
        match self {
            Self::Line(link) => desk::say(link, feature),
            #[cfg(feature = "http")]
            Self::Http(link) => desk::say(link, feature),
        }
    }

    /// How the server speaks, which was found to be this revision.
    fn verdict(&self, revision: Revision) -> Verdict {
        let found = match self {
            Self::Line(_) => None,
            #[cfg(feature = "http")]
            Self::Http(link) => link.verdict(),
        };
        found.unwrap_or(Verdict::new(Transport::Stream, revision))
    }

    async fn connected(&self) -> Result<Arc<ServerDetails>, CallError> {
        match self {
            Self::Line(link) => desk::connected(link).await,
            #[cfg(feature = "http")]
            Self::Http(link) => desk::connected(link).await,
        }
    }
}

impl<R: Runtime> fmt::Debug for Client<R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Client").field("details", &self.details()).finish_non_exhaustive()
    }
}

/// A client before it connects: who it is, and how it goes about its calls.
#[derive(Clone)]
pub struct ClientBuilder<R: Runtime> {
    runtime: R,
    config: Config,
    hooks: Hooks,
    #[cfg(feature = "http")]
    means: http::Means,
}

type Hook<F> = Option<Arc<F>>;
type Notified = dyn Fn(&str, Option<&Json>) + Send + Sync;

/// What an application wants to hear of, and what runs the handlers.
#[derive(Clone, Default)]
pub(crate) struct Hooks {
    log: Hook<dyn Fn(&LoggingMessageNotificationParams) + Send + Sync>,
    notification: Hook<Notified>,
    diagnostic: Hook<dyn Fn(&Report) + Send + Sync>,
    stderr: Option<StderrHook>,
    traffic: Hook<dyn Fn(Traffic<'_>) + Send + Sync>,
    wait: Hook<dyn Fn(Wait) + Send + Sync>,
    answers: Answers,
    /// Those of handlers that block.
    jobs: Jobs,
    #[cfg(feature = "auth")]
    authorize: Option<authorize::Authorize>,
}

impl Hooks {
    /// Shows traffic. No lock may be held.
    fn traffic(&self, traffic: Traffic<'_>) {
        if let Some(show) = &self.traffic {
            hook::call(|| show(traffic));
        }
    }

    /// Tells people of something. No lock may be held.
    fn report(&self, report: &Report) {
        if let Some(hear) = &self.diagnostic {
            hook::call(|| hear(report));
        }
    }

    /// Bytes to be shown once the lock that they are behind is free; `None` when nobody looks.
    fn copy(&self, bytes: &[u8]) -> Option<Vec<u8>> {
        (self.traffic.is_some() && !bytes.is_empty()).then(|| bytes.to_vec())
    }
}

/// Bytes of messages on their way, as they pass by: lines on a byte stream, bodies over HTTP. They come in
/// pieces and hold everything that is said: see [`ClientBuilder::on_traffic`].
#[derive(Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Traffic<'a> {
    /// From this side.
    Sent(&'a [u8]),
    /// From the server.
    Received(&'a [u8]),
}

/// Prints how many bytes they are.
impl fmt::Debug for Traffic<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Sent(bytes) => write!(f, "Sent({} bytes)", bytes.len()),
            Self::Received(bytes) => write!(f, "Received({} bytes)", bytes.len()),
        }
    }
}

impl<R: Runtime> ClientBuilder<R> {
    fn of_this_program() -> Self {
        let program = std::env::current_exe().ok();
        let name = program.as_deref().and_then(std::path::Path::file_stem).map(|name| name.to_string_lossy());
        Client::builder(name.as_deref().unwrap_or("client"), "0")
    }

    /// Runs on this handle of the runtime instead of the default one.
    #[must_use]
    pub fn runtime(mut self, runtime: R) -> Self {
        self.runtime = runtime;
        self
    }

    /// Which era to speak. Default: modern if the server is, else legacy.
    #[must_use]
    pub fn era(mut self, era: EraChoice) -> Self {
        self.config.era = era;
        self
    }

    /// What was found out about the server by an earlier connection ([`Client::verdict`]), so that it is not found out
    /// again: a legacy server is not probed, and the transport that was spoken at a URL is tried first. Where it is wrong
    /// by now, because the server has become another, the way is found as without it.
    #[must_use]
    pub fn verdict(mut self, verdict: Verdict) -> Self {
        self.config.verdict = Some(verdict);
        self
    }

    /// Bounds other than the default ones.
    #[must_use]
    pub fn limits(mut self, limits: Limits) -> Self {
        self.config.limits = limits;
        self
    }

    /// What else servers are told of this client: experimental capabilities and extensions. That they may ask for
    /// elicitation, sampling and roots is declared where there are handlers for that, and only there. The identifier of an
    /// extension is a domain of yours, reversed, `/` and a name (EXT-02, EXT-03); a change that breaks it is another one
    /// (EXT-10). So is the prefix of keys in `_meta` (META-04). What an extension means, and what happens where the
    /// other side does not have it, is up to the application; that for apps (APP-01) is one of them.
    #[must_use]
    pub fn capabilities(mut self, capabilities: ClientCapabilities) -> Self {
        self.config.capabilities = capabilities;
        self
    }

    /// Adds a field to every HTTP request, such as `Authorization`.
    #[must_use]
    pub fn header(mut self, name: &str, value: impl AsRef<[u8]>) -> Self {
        self.config = self.config.header(name, value);
        self
    }

    /// Whether results are kept for as long as the server allows (`ttlMs`), so that asking again needs no request.
    /// Default [`CacheUse::FreshOrStale`]. A change that the server announces ends that at once, before
    /// [`on_notification`](Self::on_notification) hears of it.
    #[must_use]
    pub fn cache(mut self, cache: CacheUse) -> Self {
        self.config.cache = cache;
        self
    }

    /// More entries for the `_meta` of every request, such as where it comes from; those of [`Options::meta`] take the
    /// place of those of the same name. Entries that the protocol sets itself are left out, and so are, with a
    /// diagnostic, those whose name is not valid.
    #[must_use]
    pub fn meta(mut self, meta: Meta) -> Self {
        self.config.meta = meta;
        self
    }

    /// Asks for log messages from `level` on, and hears them. What a server says in them is up to it: to show one, print
    /// it by its `Display`, which makes one line of it and cuts it.
    #[must_use]
    pub fn on_log(
        mut self,
        level: LoggingLevel,
        hook: impl Fn(&LoggingMessageNotificationParams) + Send + Sync + 'static,
    ) -> Self {
        self.config.log_level = Some(level);
        self.hooks.log = Some(Arc::new(hook));
        self
    }

    /// Hears notifications by method and parameters, those apart that belong to a call. A modern server tells only what
    /// is listened for: see [`Client::listen`] and [`Client::subscribe_resource`]. A legacy one is offered a stream for
    /// them over HTTP.
    #[must_use]
    pub fn on_notification(mut self, hook: impl Fn(&str, Option<&Json>) + Send + Sync + 'static) -> Self {
        self.config.listen = true;
        self.hooks.notification = Some(Arc::new(hook));
        self
    }

    /// Hears what the server does against the protocol and what was done about it, what handlers fail with, and which
    /// deprecated features are used, told apart by [`Report::blame`]. Default: what is our own doing is printed to
    /// standard error, one line each.
    #[must_use]
    pub fn on_diagnostic(mut self, hook: impl Fn(&Report) + Send + Sync + 'static) -> Self {
        self.hooks.diagnostic = Some(Arc::new(hook));
        self
    }

    /// Hears what a child process writes to standard error, in pieces. Default: it is passed on to that of this
    /// program. Its last 8 KiB are kept for the error that tells of its death in any case.
    #[must_use]
    pub fn on_stderr(mut self, hook: impl Fn(&[u8]) + Send + Sync + 'static) -> Self {
        self.hooks.stderr = Some(Arc::new(hook));
        self
    }

    /// Sees the messages themselves, for debugging. Unlike everything else this shows payloads: what is done
    /// with them is up to the hook.
    #[must_use]
    pub fn on_traffic(mut self, hook: impl Fn(Traffic<'_>) + Send + Sync + 'static) -> Self {
        self.hooks.traffic = Some(Arc::new(hook));
        self
    }

    /// Whatever else can be configured.
    #[must_use]
    pub fn configure(mut self, change: impl FnOnce(&mut Config)) -> Self {
        change(&mut self.config);
        self
    }
}

impl<R: Runtime> fmt::Debug for ClientBuilder<R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ClientBuilder").field("config", &self.config).finish_non_exhaustive()
    }
}
