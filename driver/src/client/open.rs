//! Opening a connection.

use std::sync::Arc;

use mcp_proto::client::Config;
#[cfg(feature = "http")]
use mcp_proto::client::{Http, Transport, Verdict};
#[cfg(feature = "http")]
use mcp_proto::dialect::Revision;

use super::answers::Roots;
#[cfg(feature = "tls")]
use super::http::Tls;
#[cfg(feature = "http")]
use super::http::{self, Exchanger, Proxy};
use super::line::LineClient;
use super::{AnyLink, Client, ClientBuilder, Closing, Target};
#[cfg(feature = "http")]
use super::{UrlKind, UrlTarget};
use crate::error::Error;
use crate::jobs::Jobs;
use crate::process::Command;
use crate::reply::{Mode, Running};
use crate::runtime::Runtime;
use crate::server::Server;

impl<R: Runtime> ClientBuilder<R> {
    /// Has an HTTP client of your own send the requests, instead of connections that this library opens: see
    /// [`Exchanger`]. Private results are not kept then, unless it says that it adds no credentials.
    #[cfg(feature = "http")]
    #[must_use]
    pub fn exchanger(mut self, exchanger: impl Exchanger) -> Self {
        self.config.cache_private = !exchanger.adds_credentials();
        self.means.exchanger = Some(Arc::new(exchanger));
        self
    }

    /// Goes through a proxy, or through none. Default: as the environment says, in the way of curl; see [`Proxy`].
    #[cfg(feature = "http")]
    #[must_use]
    pub fn proxy(mut self, proxy: Proxy) -> Self {
        self.means.proxy = proxy;
        self
    }

    /// Whom to believe that a server with an `https` URL is who it says. Default: whomever this system believes.
    #[cfg(feature = "tls")]
    #[must_use]
    pub fn tls(mut self, tls: Tls) -> Self {
        self.means.tls = tls;
        self
    }

    /// Connects to a server wherever it is: a string (a URL or a command line, see [`Target`]), a [`Command`], or what a
    /// [`ServerFile`](super::ServerFile) names.
    ///
    /// ```no_run
    /// # use mcp_driver::{Client, Error, Runtime, ServerFile};
    /// # fn connect<R: Runtime>() -> Result<(), Error> {
    /// Client::<R>::connect("https://example.com/mcp");
    /// Client::<R>::connect("npx -y some-server '/home/me/my files'");
    /// Client::<R>::connect(ServerFile::read("mcp.json")?.target("files")?);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// When the target leads nowhere; otherwise as of [`spawn`](Self::spawn) and [`http`](Self::http).
    pub fn connect<T>(self, target: T) -> <R::Mode as Mode>::Reply<Client<R>, Error>
    where
        T: TryInto<Target>,
        Error: From<T::Error>,
    {
        let runtime = self.runtime.clone();
        let target = target.try_into().map_err(Error::from);
        runtime.run(Running::task(async move { self.opening(target?).await }))
    }

    /// Connects to a server wherever it is.
    pub(super) async fn opening(self, target: Target) -> Result<Client<R>, Error> {
        match target {
            Target::Command(command) => self.spawning(command).await,
            #[cfg(feature = "http")]
            Target::Url(target) => self.visiting(target).await,
        }
    }

    /// Starts a server as a child process and connects to it.
    ///
    /// # Errors
    /// When the program cannot be started, or no revision is agreed on: it ends, is silent, or refuses.
    pub fn spawn(self, command: impl Into<Command>) -> <R::Mode as Mode>::Reply<Client<R>, Error> {
        let (runtime, command) = (self.runtime.clone(), command.into());
        runtime.run(Running::task(self.spawning(command)))
    }

    async fn spawning(mut self, command: Command) -> Result<Client<R>, Error> {
        let (runtime, config) = self.start();
        let roots = self.hooks.answers.fixed_roots.clone();
        let link = LineClient::spawn(&runtime, Arc::clone(&config), self.hooks, command);
        let link = link.map_err(|error| Error::io("starting the server", error))?;
        connect(runtime, config, roots, AnyLink::Line(link)).await
    }

    /// Connects to a server at the other end of a byte stream, which carries one message a line.
    ///
    /// # Errors
    /// When no revision is agreed on, or the stream ends before.
    pub fn stream(mut self, stream: R::Stream) -> <R::Mode as Mode>::Reply<Client<R>, Error> {
        let runtime = self.runtime.clone();
        runtime.run(Running::task(async move {
            let (runtime, config) = self.start();
            let roots = self.hooks.answers.fixed_roots.clone();
            let link = LineClient::attach(&runtime, Arc::clone(&config), self.hooks, stream);
            connect(runtime, config, roots, AnyLink::Line(link)).await
        }))
    }

    /// Connects to a server in this process, without a socket or pipe between: what the one says, the other hears. All else
    /// is as on a byte stream, in whichever era; the server is gone with the client.
    ///
    /// ```no_run
    /// # use mcp_driver::{Client, Runtime, Server};
    /// # fn connect<R: Runtime>(server: Server<R>) {
    /// Client::<R>::builder("host", "1.0.0").in_process(server);
    /// # }
    /// ```
    ///
    /// # Errors
    /// When the definition of the server is not valid, or no revision is agreed on.
    pub fn in_process(mut self, server: Server<R>) -> <R::Mode as Mode>::Reply<Client<R>, Error> {
        let runtime = self.runtime.clone();
        runtime.run(Running::task(async move {
            let (runtime, config) = self.start();
            let roots = self.hooks.answers.fixed_roots.clone();
            let peer = server.runtime(runtime.clone()).into_peer()?;
            let link = LineClient::join(&runtime, Arc::clone(&config), self.hooks, peer);
            connect(runtime, config, roots, AnyLink::Line(link)).await
        }))
    }

    /// Connects to a server's URL: Streamable HTTP, and where that is refused HTTP with SSE, its predecessor.
    ///
    /// # Errors
    /// When the URL is none that can be connected to, nobody answers, or no revision is agreed on.
    #[cfg(feature = "http")]
    pub fn http(self, url: impl Into<String>) -> <R::Mode as Mode>::Reply<Client<R>, Error> {
        self.runtime.clone().run(Running::task(self.posting(url.into(), Http::new)))
    }

    /// Connects to a server that speaks HTTP with SSE, the transport of 2024-11-05: the URL is that of its event
    /// stream. [`http`](Self::http) finds out by itself, at the cost of two requests. A stream that is lost is opened
    /// again, in another session, for as long as [`Limits::resume_total`](mcp_proto::limits::Limits::resume_total).
    ///
    /// # Errors
    /// When the URL is none that can be connected to, nobody answers, or no revision is agreed on.
    #[cfg(feature = "http")]
    pub fn http_sse(self, url: impl Into<String>) -> <R::Mode as Mode>::Reply<Client<R>, Error> {
        self.runtime.clone().run(Running::task(self.posting(url.into(), Http::http_sse)))
    }

    #[cfg(feature = "http")]
    async fn visiting(mut self, target: UrlTarget) -> Result<Client<R>, Error> {
        target.headers.iter().for_each(|(name, value)| self.config.headers.push(name, value));
        if target.kind == UrlKind::Auto && target.is_named_sse() {
            let old = Verdict::new(Transport::HttpSse, Revision::LATEST_LEGACY);
            self.config.verdict.get_or_insert(old);
        }
        match target.kind {
            UrlKind::Sse => self.posting(target.url, Http::http_sse).await,
            UrlKind::Auto | UrlKind::Http => self.posting(target.url, Http::new).await,
        }
    }

    #[cfg(feature = "http")]
    async fn posting(mut self, url: String, begin: http::Begin) -> Result<Client<R>, Error> {
        let (runtime, config) = self.start();
        let roots = self.hooks.answers.fixed_roots.clone();
        let link =
            http::HttpClient::open(&runtime, Arc::clone(&config), self.hooks, &url, begin, self.means)?;
        connect(runtime, config, roots, AnyLink::Http(link)).await
    }

    fn start(&mut self) -> (R, Arc<Config>) {
        self.runtime.configure(&self.config.limits);
        self.hooks.jobs = Jobs::new(&self.config.limits);
        let mut config = self.config.clone();
        self.hooks.answers.declare(&mut config.capabilities);
        (self.runtime.clone(), Arc::new(config))
    }
}

async fn connect<R: Runtime>(
    runtime: R,
    config: Arc<Config>,
    roots: Option<Roots>,
    link: AnyLink<R>,
) -> Result<Client<R>, Error> {
    // Closes the connection again when nobody waits for it any more.
    let link = Closing(link);
    match link.0.connected().await {
        Ok(details) => {
            let client = Client { runtime, first: details, config, roots, link: Arc::new(link) };
            client.say_deprecated();
            Ok(client)
        }
        Err(error) => {
            // Whoever hears of it may end the program at once, and a child must not outlive that.
            link.0.close();
            link.0.closed().await;
            Err(error.into())
        }
    }
}
