//! Where calls meet the cache.

use super::{CacheUse, Claim, Freshness, Hints, Kept, Key, Kind};
use crate::client::call::Discover;
use crate::client::calls::{CallId, Reply};
use crate::client::config::CallOptions;
use crate::client::event::Event;
use crate::client::link::Link;
use crate::client::negotiate::{Step, introduced};
use crate::client::request::Source;
use crate::diagnostic::Diagnostic;
use crate::error::CallError;
use crate::model::resources::ResourceUriParams;
use crate::model::{Json, Meta};
use crate::time::{Duration, Instant};
use alloc::boxed::Box;
use alloc::format;
use alloc::sync::Arc;
use serde_json::value::RawValue;

impl Link {
    fn cache_use(&self, options: &CallOptions) -> CacheUse {
        options.cache.unwrap_or(self.config.cache)
    }

    fn key(&self, source: &impl Source, options: &CallOptions) -> Option<Key> {
        let revision = self.details.as_deref()?.revision;
        if !revision.dialect().caching_hints {
            return None;
        }
        Key::of(source, revision, &options.meta, self.config.limits.depth)
    }

    /// A fresh result for a call, so that it need not be made.
    pub(in crate::client) fn look(
        &mut self,
        now: Instant,
        source: &impl Source,
        options: &CallOptions,
    ) -> Option<Reply> {
        if self.cache.entries.is_empty()
            || !matches!(self.cache_use(options), CacheUse::Fresh | CacheUse::FreshOrStale)
        {
            return None;
        }
        let key = self.key(source, options)?;
        let Kept { result, age, .. } = self.cache.find(now, &key, false)?;
        Some(Reply::Kept(result, Freshness::Kept { age }))
    }

    /// The same as a call, which has settled.
    pub(in crate::client) fn recall(
        &mut self,
        now: Instant,
        source: &impl Source,
        options: &CallOptions,
    ) -> Option<CallId> {
        let reply = self.look(now, source, options)?;
        let patience = self.patience(options);
        let call = self.calls.answered(now, patience, reply);
        self.events.push(Event::Settled(call));
        Some(call)
    }

    /// A call goes out whose result may be kept.
    pub(in crate::client) fn claim(&mut self, call: CallId, source: &impl Source, options: &CallOptions) {
        let cache = self.cache_use(options);
        let Some(kind) = Kind::of(source.method()) else { return };
        // What the server says of itself counts whether it is kept or not.
        if cache == CacheUse::Off && kind != Kind::Discover {
            return;
        }
        let Some(key) = self.key(source, options) else { return };
        let claim = self.cache.claim(key, source.name(), cache, call.0);
        self.calls.put_claim(call, Box::new(claim));
    }

    /// The complete result of a call has come.
    pub(in crate::client) fn arrived(&mut self, now: Instant, call: CallId, result: Json) -> Reply {
        let Some(claim) = self.calls.take_claim(call) else { return Reply::Came(result) };
        if claim.key.kind == Kind::Discover {
            self.introduced(now, &claim, &result);
        }
        if !claim.kept {
            return Reply::Came(result);
        }
        match self.cache.keep(now, *claim, result) {
            Ok(kept) => Reply::Kept(kept, Freshness::New),
            Err(result) => Reply::Came(result),
        }
    }

    /// A modern server has introduced itself again: by that it is judged from now on.
    fn introduced(&mut self, now: Instant, claim: &Claim, result: &Json) {
        let Some(known) = self.details.as_deref() else { return };
        let is_older = claim.order < self.discovery.order || claim.authorization != self.cache.authorization;
        let Some(details) = introduced(result.get(), known.revision).filter(|_| !is_older) else { return };
        self.discovery.order = claim.order;
        self.discovery.until = Some(self.holds_until(now, result));
        if details != *known {
            let details = Arc::new(details);
            self.details = Some(Arc::clone(&details));
            self.events.push(Event::Connected(details));
        }
    }

    /// Until when the introduction of a modern server holds that has just come.
    fn holds_until(&self, now: Instant, result: &Json) -> Instant {
        let hints: Hints = result.decode().unwrap_or_default();
        now + Duration::from(hints.ttl).min(self.config.limits.cache_ttl)
    }

    /// The negotiation was answered: the result of the probe may stand for a call that asks the same.
    pub(in crate::client) fn discovered(&mut self, now: Instant, step: &Step, result: Option<&RawValue>) {
        let (Step::Settled(details), Some(result)) = (step, result) else { return };
        self.discovery.until = None;
        if details.revision.dialect().caching_hints {
            let (depth, result) = (self.config.limits.depth, Json::from(result));
            self.discovery.until = Some(self.holds_until(now, &result));
            if self.config.cache != CacheUse::Off
                && let Some(key) = Key::of(&Discover, details.revision, &Meta::new(), depth)
            {
                let claim = self.cache.claim(key, None, CacheUse::Fresh, 0);
                let _ = self.cache.keep(now, claim, result);
            }
        }
    }

    /// What a call comes to whose server could not be asked: something stale, if there is any (CACHE-26).
    pub(in crate::client) fn stand_in(
        &mut self,
        now: Instant,
        call: CallId,
        error: CallError,
    ) -> Result<Reply, CallError> {
        if !matches!(error, CallError::Broken { .. } | CallError::TimedOut { .. }) {
            return Err(error);
        }
        let Some(claim) = self.calls.claim(call).filter(|claim| claim.stale) else { return Err(error) };
        let Some(Kept { result, age, fresh }) = self.cache.find(now, &claim.key, true) else {
            return Err(error);
        };
        // Another call has brought it meanwhile.
        if fresh {
            return Ok(Reply::Kept(result, Freshness::Kept { age }));
        }
        let method = claim.key.kind.method();
        let text = format!("`{method}` is answered with a result of {age:?} ago, which is stale: {error}");
        self.events.diagnose(Diagnostic::new("client", text));
        Ok(Reply::Kept(result, Freshness::Stale { age, error: Box::new(error) }))
    }

    /// A call has failed.
    pub(in crate::client) fn failed(&mut self, call: CallId, error: &CallError) {
        let claim = self.calls.take_claim(call);
        match error {
            CallError::Server { error, .. } => {
                if let Some(claim) = claim.filter(|claim| claim.kept) {
                    self.cache.refused(&claim, error.code);
                }
            }
            // Whoever is not let in any more is not shown what was meant for who was.
            CallError::Unauthorized { status, .. } if status.code == 401 => self.cache.reauthorize(),
            _ => {}
        }
    }

    /// Requests carry another authorization from now on. What the server said of itself it may not say to everybody.
    pub(in crate::client) fn reauthorize(&mut self) {
        self.cache.reauthorize();
        self.discovery.doubt();
    }

    /// A call that was not carried out is made with the authorization that there is now.
    pub(in crate::client) fn readmit(&mut self, call: CallId) {
        if let Some(claim) = self.calls.claim_mut(call) {
            claim.authorization = self.cache.authorization;
        }
    }

    /// A notification of the server, before anybody hears of it.
    pub(in crate::client) fn invalidate(&mut self, method: &str, params: Option<&RawValue>) {
        self.cache.notified(method, || {
            let params = params.map(RawValue::get)?;
            let updated: ResourceUriParams = serde_json::from_str(params).ok()?;
            Some(updated.uri)
        });
    }
}
