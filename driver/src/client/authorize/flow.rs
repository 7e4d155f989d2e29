//! What takes time: asking the store, the authorization server, and the user.

use std::future::poll_fn;
use std::sync::Arc;

use mcp_proto::auth::{Config, FlowError, FlowErrorKind, Grant, Refusal, Response, Step, Url};
use mcp_proto::limits::Limits;
use mcp_proto::time::Instant;

use super::guard::{Done, Guard, Job, Way};
use super::loopback::Listening;
use super::visit::Visit;
use super::{Authorize, Visiting};
use crate::client::Hooks;
use crate::client::http::Fetcher;
use crate::context::Report;
use crate::hook;
use crate::runtime::Runtime;

/// How often a token is renewed because somebody else has renewed the one before it.
const TRIES: usize = 3;

/// What a job is done with.
pub(in crate::client) struct Worker<R: Runtime> {
    runtime: R,
    limits: Limits,
    hooks: Hooks,
    options: Authorize,
    fetcher: Fetcher<R>,
    server: String,
    url: Url,
}

/// Why there is no grant.
enum Failure {
    Flow(Box<FlowError>),
    Other(String),
}

impl From<FlowError> for Failure {
    fn from(error: FlowError) -> Self {
        Self::Flow(Box::new(error))
    }
}

impl Failure {
    fn is_transient(&self) -> bool {
        match self {
            Self::Flow(error) => error.is_transient(),
            Self::Other(_) => true,
        }
    }

    /// Whether the refresh token is of no use any more.
    fn is_denied(&self) -> bool {
        matches!(self, Self::Flow(error) if matches!(error.kind(), FlowErrorKind::Denied { .. }))
    }

    fn done(self) -> Done {
        match self {
            Self::Flow(error) => {
                Done::Failed { reason: error.to_string(), record: error.record().to_string() }
            }
            Self::Other(reason) => Done::Failed { reason, record: String::new() },
        }
    }
}

impl<R: Runtime> Worker<R> {
    pub(in crate::client) fn new(runtime: &R, hooks: &Hooks, guard: &Guard, fetcher: Fetcher<R>) -> Self {
        Self {
            runtime: runtime.clone(),
            limits: guard.limits.clone(),
            hooks: hooks.clone(),
            options: guard.options.clone(),
            fetcher,
            server: guard.server.clone(),
            url: guard.url.clone(),
        }
    }

    /// When nobody waits for a job any more that begins now.
    pub(in crate::client) fn until(&self) -> Instant {
        self.runtime.now().mono + self.limits.authorization
    }

    /// Does a job. It may be dropped at any time.
    pub(in crate::client) async fn run(&self, job: Box<Job>) -> Done {
        let Job { way, grant, refusal } = *job;
        match (way, grant) {
            (Way::Load, _) => Done::Loaded(self.load(None).await),
            (Way::Renew, Some(grant)) => self.renew(grant, refusal).await,
            (Way::Renew | Way::Authorize, previous) => self.authorize(previous, refusal).await,
        }
    }

    async fn load(&self, issuer: Option<&str>) -> Option<Grant> {
        match self.options.store.load(&self.server, issuer).await {
            Ok(found) => found.filter(|grant| grant.is_for(&self.url)),
            Err(error) => {
                self.report(format!("stored grants cannot be read: {error}"));
                None
            }
        }
    }

    /// A grant that is not stored is used all the same, for as long as the client lives.
    async fn save(&self, grant: &Grant) {
        if let Err(error) = self.options.store.save(&self.server, grant).await {
            self.report(format!("a grant cannot be stored: {error}"));
        }
    }

    fn report(&self, detail: String) {
        self.hooks.report(&Report::ours("authorization", detail));
    }

    /// What somebody else, another client or program, has stored meanwhile.
    async fn newer(&self, grant: &Grant) -> Option<Grant> {
        let stored = self.load(Some(&grant.issuer)).await?;
        let same = stored.access_token == grant.access_token && stored.refresh_token == grant.refresh_token;
        (!same).then_some(stored)
    }

    /// Gets another token without asking anybody, if that is possible (B75).
    async fn renew(&self, mut grant: Grant, refusal: Option<Refusal>) -> Done {
        for _ in 0..TRIES {
            if let Some(stored) = self.newer(&grant).await {
                if !stored.is_expiring(self.runtime.now()) {
                    return Done::Granted { grant: Box::new(stored), renewed: true };
                }
                grant = stored;
            }
            let failure = match self.refresh(grant.clone()).await {
                Ok(grant) => {
                    self.save(&grant).await;
                    return Done::Granted { grant: Box::new(grant), renewed: true };
                }
                Err(failure) => failure,
            };
            if failure.is_transient() {
                return self.ended(failure, Some(grant), refusal.is_some());
            }
            // Somebody else may have used the refresh token first: then what came of it is stored.
            if failure.is_denied() && self.newer(&grant).await.is_some() {
                continue;
            }
            if let Failure::Flow(error) = failure {
                self.report(format!("a token cannot be renewed: {error}"));
            }
            break;
        }
        // It is of no use any more; that the client is known to the authorization server still is.
        grant.refresh_token = None;
        match refusal {
            Some(refusal) => self.authorize(Some(grant), Some(refusal)).await,
            None => Done::Kept(Some(Box::new(grant))),
        }
    }

    async fn refresh(&self, grant: Grant) -> Result<Grant, Failure> {
        let seed = self.runtime.seed().map_err(|error| Failure::Other(format!("no entropy: {error}")))?;
        let config = &self.options.config;
        let step = config.refresh(self.runtime.now(), seed, &self.server, grant)?;
        self.walk(step, None).await
    }

    /// Gets a token anew.
    async fn authorize(&self, previous: Option<Grant>, refusal: Option<Refusal>) -> Done {
        let refused = refusal.is_some();
        match self.grant(previous.clone(), refusal.unwrap_or_default()).await {
            Ok(grant) => {
                self.save(&grant).await;
                Done::Granted { grant: Box::new(grant), renewed: false }
            }
            Err(failure) => self.ended(failure, previous, refused),
        }
    }

    async fn grant(&self, previous: Option<Grant>, refusal: Refusal) -> Result<Grant, Failure> {
        let mut config = Arc::clone(&self.options.config);
        let mut listening = None;
        if let Visiting::Loopback(loopback) = &self.options.visiting
            && config.asks_user()
        {
            let listener = loopback.listen(&self.runtime, &config, previous.as_ref()).await;
            let listener = listener.map_err(Failure::Other)?;
            config = Arc::new(Config::clone(&config).redirect_uri(&listener.redirect_uri));
            listening = Some(listener);
        }
        let seed = self.runtime.seed().map_err(|error| Failure::Other(format!("no entropy: {error}")))?;
        let step = config.authorize(self.runtime.now(), seed, &self.server, refusal, previous)?;
        self.walk(step, listening).await
    }

    fn ended(&self, failure: Failure, grant: Option<Grant>, refused: bool) -> Done {
        if refused { failure.done() } else { Done::Kept(grant.map(Box::new)) }
    }

    /// Does step after step.
    async fn walk(&self, mut step: Step, mut listening: Option<Listening<R>>) -> Result<Grant, Failure> {
        loop {
            step = match step {
                Step::Fetch(request, waiting) => match self.fetcher.fetch(request).await {
                    Ok((head, body)) => {
                        let response = Response { head: &head, body: &body };
                        waiting.on_response(self.runtime.now(), response)?
                    }
                    Err(why) => return Err(waiting.on_failure(&why).into()),
                },
                Step::Visit(url, flow) => {
                    let (flow, answer) = match listening.take() {
                        Some(listening) => listening.visit(&self.runtime, &self.limits, &url, flow).await,
                        None => (Some(flow), self.show(url).await),
                    };
                    let Some(flow) = flow else {
                        return Err(Failure::Other("the flow was given up".to_owned()));
                    };
                    match answer {
                        Ok(redirect) => flow.on_redirect(self.runtime.now(), &redirect)?,
                        Err(why) => return Err(flow.on_failure(&why).into()),
                    }
                }
                Step::Done(grant) => return Ok(*grant),
            };
        }
    }

    /// Lets the application show a page.
    async fn show(&self, url: Url) -> Result<String, String> {
        let Visiting::Hook(visit) = &self.options.visiting else {
            return Err("who was asked already".to_owned());
        };
        let (page, answer) = Visit::new(url);
        let visit = visit.clone();
        if self.runtime.spawn_blocking(Box::new(move || hook::call(|| visit(page)))).is_err() {
            return Err("whom nothing could be shown: too many jobs that block".to_owned());
        }
        poll_fn(|cx| answer.poll_take(cx.waker())).await
    }
}
