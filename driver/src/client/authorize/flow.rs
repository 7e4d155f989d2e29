//! What takes time: asking the store, the authorization server, and the user.

use std::fmt;
use std::future::poll_fn;
use std::mem::{self, Discriminant};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use mcp_proto::auth::{Config, FlowError, FlowErrorKind, Grant, Refusal, Response, Stage, Step, Url};
use mcp_proto::limits::Limits;
use mcp_proto::time::{Instant, Now};

use super::guard::{Done, Guard, Job, Way};
use super::loopback::Listening;
use super::visit::Visit;
use super::{Authorize, Visiting};
use crate::client::Hooks;
use crate::client::http::Fetcher;
use crate::context::Report;
use crate::hook;
use crate::runtime::Runtime;
use crate::wake::Promise;

/// How often a token is renewed because somebody else has renewed the one before it.
const TRIES: usize = 3;

/// What a job is done with.
pub(in crate::client) struct Worker<R: Runtime> {
    pub(super) runtime: R,
    limits: Limits,
    hooks: Hooks,
    pub(super) options: Authorize,
    pub(super) fetcher: Fetcher<R>,
    pub(super) server: String,
    url: Url,
    told: Arc<Told>,
}

/// What one job leaves to know to the next.
#[derive(Default)]
pub(super) struct Told {
    /// What was reported of renewals that failed ahead of a refusal. Nobody else hears of those, and while one cannot be had
    /// it is tried again and again: each kind of failure is news once, until it works again.
    failures: Mutex<Vec<Option<(Stage, Discriminant<FlowErrorKind>)>>>,
    /// The grant there is could not be stored.
    unstored: AtomicBool,
}

impl Told {
    fn is_news(&self, failure: &Failure) -> bool {
        let kind = match failure {
            Failure::Flow(error) => Some((error.stage(), mem::discriminant(error.kind()))),
            Failure::Other(_) => None,
        };
        let mut told = self.failures.lock().unwrap_or_else(PoisonError::into_inner);
        let is_news = !told.contains(&kind);
        if is_news {
            told.push(kind);
        }
        is_news
    }

    fn forget(&self) {
        self.failures.lock().unwrap_or_else(PoisonError::into_inner).clear();
    }
}

/// Why there is no grant.
pub(super) enum Failure {
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

    fn is_denied(&self) -> bool {
        matches!(self, Self::Flow(error) if matches!(error.kind(), FlowErrorKind::Denied { .. }))
    }

    /// Whether the refresh token is of no use to anybody any more.
    fn is_dead(&self) -> bool {
        let invalid = |kind: &FlowErrorKind| matches!(kind, FlowErrorKind::Denied { error } if error == "invalid_grant");
        matches!(self, Self::Flow(error) if invalid(error.kind()))
    }

    fn done(self) -> Done {
        let denied = self.is_denied();
        match self {
            Self::Flow(error) => {
                Done::Failed { reason: error.to_string(), record: error.record().to_string(), denied }
            }
            Self::Other(reason) => Done::Failed { reason, record: String::new(), denied },
        }
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Flow(error) => error.fmt(f),
            Self::Other(reason) => reason.fmt(f),
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
            told: guard.told.clone(),
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
            (Way::SignOut, grant) => self.sign_out(grant).await,
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
        let saved = self.options.store.save(&self.server, grant).await;
        self.told.unstored.store(saved.is_err(), Ordering::Relaxed);
        if let Err(error) = saved {
            self.report(format!("a grant cannot be stored: {error}"));
        }
    }

    /// Keeps what came of a stored grant, unless somebody else has stored another meanwhile, or has signed out; `false` then.
    async fn replace(&self, before: &Grant, grant: &Grant) -> bool {
        if self.told.unstored.load(Ordering::Relaxed) {
            // That it is not there is no sign of anybody.
            self.save(grant).await;
            return true;
        }
        match self.options.store.replace(&self.server, &before.access_token, grant).await {
            Ok(replaced) => replaced,
            Err(error) => {
                self.report(format!("a grant cannot be stored: {error}"));
                true
            }
        }
    }

    fn report(&self, detail: String) {
        self.hooks.report(&Report::ours("authorization", detail));
    }

    /// What somebody else, another client or program, has stored meanwhile.
    async fn newer(&self, grant: &Grant) -> Option<Grant> {
        let stored = self.load(Some(&grant.issuer)).await?;
        (stored.access_token != grant.access_token).then_some(stored)
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
            if grant.refresh_token.is_none() {
                break;
            }
            let failure = match self.refresh(grant.clone()).await {
                Ok(renewed) => {
                    self.replace(&grant, &renewed).await;
                    self.told.forget();
                    return Done::Granted { grant: Box::new(renewed), renewed: true };
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
            if refusal.is_some() || self.told.is_news(&failure) {
                self.report(format!("a token cannot be renewed: {failure}"));
            }
            grant.refresh_token = None;
            // Nobody is to try it again. That the client is known to the authorization server is still of use.
            if failure.is_dead() && !self.replace(&grant, &grant).await {
                continue;
            }
            break;
        }
        grant.refresh_token = None;
        match refusal {
            Some(refusal) => self.authorize(Some(grant), Some(refusal)).await,
            None => Done::Kept(Some(Box::new(grant))),
        }
    }

    async fn refresh(&self, grant: Grant) -> Result<Grant, Failure> {
        let seed = self.runtime.seed().map_err(|error| Failure::Other(format!("no entropy: {error}")))?;
        let config = &self.options.config;
        let (config, server) = (Arc::clone(config), self.server.clone());
        let step = self.apart(move |now| config.refresh(now, seed, &server, grant)).await??;
        self.walk(step, None).await
    }

    /// Gets a token anew.
    async fn authorize(&self, previous: Option<Grant>, refusal: Option<Refusal>) -> Done {
        let refused = refusal.is_some();
        match self.grant(previous.clone(), refusal.unwrap_or_default()).await {
            Ok(grant) => {
                self.save(&grant).await;
                self.told.forget();
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
        if refused {
            return failure.done();
        }
        if self.told.is_news(&failure) {
            self.report(format!("no token can be had ahead of its end: {failure}"));
        }
        Done::Kept(grant.map(Box::new))
    }

    /// Takes a step where code of the application may block, if any runs in it.
    pub(super) async fn apart<T: Send + 'static>(
        &self,
        step: impl FnOnce(Now) -> T + Send + 'static,
    ) -> Result<T, Failure> {
        if !self.options.config.may_block() {
            return Ok(step(self.runtime.now()));
        }
        let promise = Promise::default();
        let (done, runtime) = (promise.clone(), self.runtime.clone());
        let job = Box::new(move || {
            let mut outcome = None;
            hook::call(|| outcome = Some(step(runtime.now())));
            done.set(outcome.ok_or("a panic of the application's own"));
        });
        if self.runtime.spawn_blocking(job).is_err() {
            return Err(Failure::Other("expected a thread that may block, found none to be had".to_owned()));
        }
        let outcome = poll_fn(|cx| promise.poll_take(cx.waker())).await;
        outcome.map_err(|why| Failure::Other(format!("no assertion and no signature, but {why}")))
    }

    /// Does step after step.
    async fn walk(&self, mut step: Step, mut listening: Option<Listening<R>>) -> Result<Grant, Failure> {
        loop {
            step = match step {
                Step::Fetch(request, waiting) => match self.fetcher.fetch(request).await {
                    Ok((head, body)) => {
                        let answered =
                            move |now| waiting.on_response(now, Response { head: &head, body: &body });
                        self.apart(answered).await??
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
                        Ok(redirect) => self.apart(move |now| flow.on_redirect(now, &redirect)).await??,
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

#[cfg(test)]
mod tests {
    use super::*;

    /// AUTHX-08: a renewal that fails again and again is told once, another failure as well; and anew after one that works.
    #[test]
    fn each_kind_of_failure_is_news_once() {
        let told = Told::default();
        let config = Arc::new(Config::new("c"));
        let flow = |server: &str| {
            let seed = mcp_proto::entropy::Seed::new([1; 32]);
            let step = config.authorize(Default::default(), seed, server, Refusal::new(), None);
            match step {
                Err(error) => Failure::from(error),
                Ok(Step::Fetch(_, waiting)) => Failure::from(waiting.on_failure("no route")),
                Ok(_) => panic!("a request is first"),
            }
        };
        let (forbidden, unreachable) = (|| flow("http://h.example"), || flow("https://h.example"));
        let other = || Failure::Other("no entropy".to_owned());
        for _ in 0..2 {
            assert!(told.is_news(&forbidden()) && told.is_news(&unreachable()) && told.is_news(&other()));
            assert!(!told.is_news(&forbidden()) && !told.is_news(&unreachable()) && !told.is_news(&other()));
            told.forget();
        }
    }
}
