//! The user's browser, and a listener on the local machine that it comes back to.
//!
//! <https://www.rfc-editor.org/rfc/rfc8252#section-7.3>

use std::future::poll_fn;
use std::io;
use std::sync::Arc;
use std::task::Poll;

use mcp_proto::auth::{AwaitRedirect, Config, Grant, Network, Url};
use mcp_proto::limits::Limits;

use super::browser;
use super::callback::{Awaited, Callback};
use crate::hook;
use crate::runtime::Runtime;

type Opener = Arc<dyn Fn(&str) -> io::Result<()> + Send + Sync>;

/// Connections at one time: a browser opens some ahead. Further ones are closed at once.
const CONNECTIONS: usize = 16;
/// Failures to accept one after the other, until the listener is given up.
const FAILURES: usize = 16;

#[derive(Clone)]
pub(super) struct Loopback {
    open: Opener,
}

impl Default for Loopback {
    fn default() -> Self {
        Self::opened_by(Arc::new(browser::open))
    }
}

/// A listener that is there before the flow begins, so that its port is known.
pub(super) struct Listening<R: Runtime> {
    listener: R::Listener,
    /// What the browser is to be sent back to.
    pub(super) redirect_uri: String,
    open: Opener,
}

impl Loopback {
    pub(super) fn opened_by(open: Opener) -> Self {
        Self { open }
    }

    /// Listens at the redirect URI that is configured; without one, at that of the grant before, so that a
    /// registration serves again, or at a free port.
    pub(super) async fn listen<R: Runtime>(
        &self,
        runtime: &R,
        config: &Config,
        previous: Option<&Grant>,
    ) -> Result<Listening<R>, String> {
        let (listener, redirect_uri) = match config.redirect() {
            Some(configured) => {
                let listener = runtime.listen(address(configured)?).await;
                let why = |error| format!("cannot listen at the redirect URI `{configured}`: {error}");
                (listener.map_err(why)?, configured.to_owned())
            }
            None => {
                let registered =
                    previous.and_then(|grant| grant.registration.as_ref()?.redirect_uri.as_deref());
                match again(runtime, registered).await {
                    Some(found) => found,
                    None => anywhere(runtime)
                        .await
                        .map_err(|error| format!("cannot listen on 127.0.0.1: {error}"))?,
                }
            }
        };
        Ok(Listening { listener, redirect_uri, open: self.open.clone() })
    }
}

async fn again<R: Runtime>(runtime: &R, registered: Option<&str>) -> Option<(R::Listener, String)> {
    let registered = registered?;
    let listener = runtime.listen(address(registered).ok()?).await.ok()?;
    Some((listener, registered.to_owned()))
}

async fn anywhere<R: Runtime>(runtime: &R) -> io::Result<(R::Listener, String)> {
    let listener = runtime.listen("127.0.0.1:0".to_owned()).await?;
    let port = runtime.local_address(&listener)?.port();
    Ok((listener, format!("http://127.0.0.1:{port}/callback")))
}

/// Where to listen for a redirect URI. It is on this machine alone, whatever it is called.
fn address(redirect_uri: &str) -> Result<String, String> {
    let url = Url::parse(redirect_uri).map_err(|why| format!("the redirect URI is {why}"))?;
    if url.is_https() || url.network() != Network::Loopback {
        return Err(
            "expected a redirect URI with http, on the local machine, for the listener, found another; \
                    `Authorize::on_visit` is for others"
                .to_owned(),
        );
    }
    let host = match url.host() {
        host if host.contains(':') => format!("[{host}]"),
        host if host.starts_with("127.") => host.to_owned(),
        _ => "127.0.0.1".to_owned(),
    };
    Ok(format!("{host}:{}", url.port()))
}

impl<R: Runtime> Listening<R> {
    /// Shows the user a page, and waits for the browser to come back: with the target of its request, or why not.
    pub(super) async fn visit(
        self,
        runtime: &R,
        limits: &Limits,
        url: &Url,
        flow: AwaitRedirect,
    ) -> (Option<AwaitRedirect>, Result<String, String>) {
        let awaited = Awaited::new(flow);
        self.open(runtime, url, &awaited);
        let answer = self.serve(runtime, limits, &awaited).await;
        (awaited.take(), answer)
    }

    fn open(&self, runtime: &R, url: &Url, awaited: &Arc<Awaited>) {
        let (open, url, failed) = (self.open.clone(), url.clone(), awaited.answer.clone());
        let job = Box::new(move || {
            let mut opened = Err(io::Error::other("what was to open it panicked"));
            hook::call(|| opened = open(url.as_str()));
            if let Err(error) = opened {
                failed.set(Err(format!(
                    "whose browser could not be opened: {error}; see `Authorize::open_with`"
                )));
            }
        });
        if runtime.spawn_blocking(job).is_err() {
            awaited.answer.set(Err("whose browser could not be opened: too many jobs that block".to_owned()));
        }
    }

    async fn serve(self, runtime: &R, limits: &Limits, awaited: &Arc<Awaited>) -> Result<String, String> {
        let present = Arc::new(());
        let mut failures = 0;
        let mut accepting = runtime.accept(self.listener);
        poll_fn(|cx| {
            loop {
                if let Poll::Ready(answer) = awaited.answer.poll_take(cx.waker()) {
                    return Poll::Ready(answer);
                }
                let Poll::Ready((listener, accepted)) = accepting.as_mut().poll(cx) else {
                    return Poll::Pending;
                };
                accepting = runtime.accept(listener);
                match accepted {
                    Ok(stream) if Arc::strong_count(&present) <= CONNECTIONS => {
                        failures = 0;
                        let callback = Callback::new(runtime.now(), limits, awaited.clone());
                        let driven = runtime.drive(stream, Arc::new(callback));
                        let presence = present.clone();
                        runtime.spawn(Box::pin(async move {
                            let _presence = presence;
                            driven.await;
                        }));
                    }
                    Ok(_) => {}
                    Err(_) if failures < FAILURES => failures += 1,
                    Err(error) => {
                        return Poll::Ready(Err(format!("whom the listener could not accept: {error}")));
                    }
                }
            }
        })
        .await
    }
}
