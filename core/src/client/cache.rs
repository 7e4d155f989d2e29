//! Results that the server allows to be kept, so that asking again needs no request.
//!
//! <https://modelcontextprotocol.io/specification/2026-07-28/server/utilities/caching>

mod link;
#[cfg(test)]
mod tests;

use super::call::Call;
use super::config::Config;
use super::reply::RawReply;
use super::request::Source;
use super::tasks::TaskRole;
use crate::canonical::canonical;
use crate::dialect::Revision;
use crate::error::{ApiMisuse, CallError};
#[cfg(doc)]
use crate::limits::Limits;
use crate::model::caching::{CacheScope, TtlMs};
use crate::model::{Json, Meta};
use crate::time::{Duration, Instant};
use alloc::boxed::Box;
use alloc::collections::BTreeMap;
use alloc::string::String;
use alloc::sync::Arc;
use alloc::vec::Vec;
use core::fmt;
use serde::Deserialize;

/// Whether a call may be answered with a result that was kept, and whether its own is kept.
///
/// It concerns `server/discover`, the lists and `resources/read`, and only what a server gave a `ttlMs`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum CacheUse {
    /// While what was kept is fresh, nothing is sent. Over HTTP, what is stale stands in for a server that cannot be
    /// reached or does not answer, for [`Limits::cache_stale`]; a diagnostic says so, and [`Fetched`] does.
    #[default]
    FreshOrStale,
    /// The same, and what is stale is never used.
    Fresh,
    /// The server is asked, and what it says is kept.
    Refresh,
    /// The server is asked, and nothing is kept.
    Off,
}

/// Where a reply is from.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Freshness {
    /// The server has just sent it.
    New,
    /// It was kept, and the server said that it may be.
    Kept {
        /// How long ago the server sent it.
        age: Duration,
    },
    /// It was kept for longer than the server said, and the server could not be asked.
    Stale {
        /// How long ago the server sent it.
        age: Duration,
        /// Why the server could not be asked.
        error: Box<CallError>,
    },
}

/// A call whose reply says where it is from: `Fetch(ListTools::new())`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Fetch<C>(pub C);

/// A reply, and where it is from.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Fetched<R> {
    /// The reply.
    pub reply: R,
    /// Where it is from.
    pub freshness: Freshness,
}

impl<C: Call> Call for Fetch<C> {
    type Reply = Fetched<C::Reply>;

    fn method(&self) -> &str {
        self.0.method()
    }

    fn write_params(&self, revision: Revision, out: &mut Vec<u8>) -> Result<(), ApiMisuse> {
        self.0.write_params(revision, out)
    }

    fn read(reply: RawReply<'_>) -> Result<Self::Reply, CallError> {
        let freshness = reply.freshness().clone();
        C::read(reply).map(|reply| Fetched { reply, freshness })
    }

    fn name(&self) -> Option<&str> {
        self.0.name()
    }

    fn is_repeatable(&self) -> bool {
        self.0.is_repeatable()
    }

    fn rounds(&self) -> usize {
        self.0.rounds()
    }

    fn task(&self) -> TaskRole<'_> {
        self.0.task()
    }
}

/// A result that is kept.
#[derive(Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct CacheEntry {
    /// The method that it is the result of.
    pub method: &'static str,
    /// What was read, for `resources/read`.
    pub uri: Option<String>,
    /// Who may be given it. What is private goes when the authorization changes.
    pub scope: CacheScope,
    /// How long ago it came.
    pub age: Duration,
    /// How long it is fresh; at most [`Limits::cache_ttl`].
    pub ttl: Duration,
    /// How much room it takes.
    pub bytes: usize,
}

impl CacheEntry {
    /// Whether it may stand for an answer of the server.
    pub fn is_fresh(&self) -> bool {
        self.age < self.ttl
    }
}

/// Prints without the URI, which may hold a secret.
impl fmt::Debug for CacheEntry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CacheEntry")
            .field("method", &self.method)
            .field("scope", &self.scope)
            .field("age", &self.age)
            .field("ttl", &self.ttl)
            .field("bytes", &self.bytes)
            .finish_non_exhaustive()
    }
}

/// The methods whose results may be kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Kind {
    Discover,
    Tools,
    Prompts,
    Resources,
    Templates,
    Read,
}

impl Kind {
    const ALL: [Self; 6] =
        [Self::Discover, Self::Tools, Self::Prompts, Self::Resources, Self::Templates, Self::Read];

    const fn method(self) -> &'static str {
        match self {
            Self::Discover => "server/discover",
            Self::Tools => "tools/list",
            Self::Prompts => "prompts/list",
            Self::Resources => "resources/list",
            Self::Templates => "resources/templates/list",
            Self::Read => "resources/read",
        }
    }

    fn of(method: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.method() == method)
    }
}

/// Which request a result belongs to: the method, and all that may have a say in the result (CACHE-16).
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord)]
struct Key {
    kind: Kind,
    /// Parameters, and metadata of the application, in the one form that all spellings of them have in common.
    params: Vec<u8>,
}

/// Metadata that names the one request, and changes nothing about its result.
const TRACE: [&str; 2] = ["traceparent", "tracestate"];
/// What makes a request the next round of another: its result is of no use to anybody else (CACHE-17).
const ROUND: [&str; 2] = ["inputResponses", "requestState"];

impl Key {
    fn of(source: &impl Source, revision: Revision, meta: &Meta, depth: usize) -> Option<Self> {
        let kind = Kind::of(source.method())?;
        let mut params = Vec::new();
        source.write_params(revision, &mut params).ok()?;
        let mut params = canonical(core::str::from_utf8(&params).ok()?, depth)?;
        if kind == Kind::Read {
            let members: BTreeMap<String, serde::de::IgnoredAny> = serde_json::from_slice(&params).ok()?;
            if ROUND.iter().any(|member| members.contains_key(*member)) {
                return None;
            }
        }
        for (name, value) in meta.iter().filter(|(name, _)| !TRACE.contains(&name.as_str())) {
            // Behind the parameters, where an object of JSON has ended, so that none can be taken for the other.
            params.extend_from_slice(Json::new(name).ok()?.get().as_bytes());
            params.extend_from_slice(&canonical(value.get(), depth)?);
        }
        Some(Self { kind, params })
    }
}

/// What a call that is under way knows of the cache.
pub(super) struct Claim {
    key: Key,
    uri: Option<String>,
    /// Whether its answer is kept.
    kept: bool,
    /// Whether something stale may stand in for its answer.
    stale: bool,
    /// The state of affairs in which it was sent: what has changed since then may not be in its answer.
    epoch: u64,
    authorization: u64,
    order: u64,
}

impl fmt::Debug for Claim {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Claim").field(&self.key.kind).finish()
    }
}

#[derive(Clone)]
struct Entry {
    result: Arc<Json>,
    uri: Option<String>,
    scope: CacheScope,
    received: Instant,
    ttl: Duration,
    /// Of two answers under way at once, the one that was asked for later is the newer one.
    order: u64,
    used: u64,
    bytes: usize,
}

impl Entry {
    fn age(&self, now: Instant) -> Duration {
        now.saturating_since(self.received)
    }
}

/// What was found of a result.
struct Kept {
    result: Arc<Json>,
    age: Duration,
    fresh: bool,
}

/// What an entry takes besides its texts.
const OVERHEAD: usize = 256;

/// The results that are kept.
pub(super) struct Cache {
    entries: BTreeMap<Key, Entry>,
    bytes: usize,
    /// Counts uses; the entry with the smallest count goes first.
    uses: u64,
    /// Counts what has made results of a method worthless.
    epochs: [u64; Kind::ALL.len()],
    authorization: u64,
    limits: CacheLimits,
}

#[derive(Clone, Copy)]
struct CacheLimits {
    entries: usize,
    bytes: usize,
    ttl: Duration,
    stale: Duration,
    /// Whether what is private is kept.
    private: bool,
}

/// Prints how much is kept.
impl fmt::Debug for Cache {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Cache({} entries, {} bytes)", self.entries.len(), self.bytes)
    }
}

/// What a result says about keeping it.
#[derive(Default, Deserialize)]
struct Hints {
    #[serde(rename = "ttlMs", default)]
    ttl: TtlMs,
    #[serde(rename = "cacheScope", default)]
    scope: CacheScope,
}

impl Cache {
    /// An empty cache. What is stale is of use only where the server may be out of reach while the client goes on.
    pub(super) fn new(config: &Config, stale: bool) -> Self {
        let limits = &config.limits;
        let stale = if stale { limits.cache_stale } else { Duration::ZERO };
        let limits = CacheLimits {
            entries: limits.cache_entries,
            bytes: limits.cache_bytes,
            ttl: limits.cache_ttl,
            stale,
            private: config.cache_private,
        };
        let epochs = [0; Kind::ALL.len()];
        Self { entries: BTreeMap::new(), bytes: 0, uses: 0, epochs, authorization: 0, limits }
    }

    /// What is kept and fresh (CACHE-20), or would do because the server cannot be asked.
    fn find(&mut self, now: Instant, key: &Key, stale: bool) -> Option<Kept> {
        let entry = self.entries.get_mut(key)?;
        let age = entry.age(now);
        let fresh = age < entry.ttl;
        if age >= entry.ttl.saturating_add(self.limits.stale) {
            self.remove(key);
            return None;
        }
        if !fresh && !stale {
            return None;
        }
        self.uses += 1;
        entry.used = self.uses;
        Some(Kept { result: Arc::clone(&entry.result), age, fresh })
    }

    /// Keeps a result, if it may be kept. What comes back shares its memory with what is kept.
    fn keep(&mut self, now: Instant, claim: Claim, result: Json) -> Result<Arc<Json>, Json> {
        // Looked for first, since that is cheap and often not there.
        let hinted = result.get().contains("\"ttlMs\"");
        let Hints { ttl, scope } =
            if hinted { result.decode().unwrap_or_default() } else { Hints::default() };
        let ttl = Duration::from(ttl).min(self.limits.ttl);
        let bytes = result.get().len() + claim.key.params.len() + OVERHEAD;
        let private = scope == CacheScope::Private;
        let outdated = self.epoch(claim.key.kind) != claim.epoch
            || (private && self.authorization != claim.authorization);
        if outdated || self.entries.get(&claim.key).is_some_and(|entry| entry.order > claim.order) {
            return Err(result);
        }
        self.remove(&claim.key);
        let unknown = private && !self.limits.private;
        if unknown || ttl.is_zero() || self.limits.entries == 0 || bytes > self.limits.bytes {
            return Err(result);
        }
        while self.entries.len() >= self.limits.entries || self.bytes + bytes > self.limits.bytes {
            let oldest = self.entries.iter().min_by_key(|(_, entry)| entry.used).map(|(key, _)| key.clone());
            // Nothing is left to give way only when the new one fits, as was seen above.
            let Some(oldest) = oldest else { break };
            self.remove(&oldest);
        }
        self.uses += 1;
        self.bytes += bytes;
        let result = Arc::new(result);
        let Claim { key, uri, order, .. } = claim;
        let entry = Entry {
            result: Arc::clone(&result),
            uri,
            scope,
            received: now,
            ttl,
            order,
            used: self.uses,
            bytes,
        };
        self.entries.insert(key, entry);
        Ok(result)
    }

    fn remove(&mut self, key: &Key) {
        if let Some(entry) = self.entries.remove(key) {
            self.bytes -= entry.bytes;
        }
    }

    fn retain(&mut self, keep: impl Fn(&Key, &Entry) -> bool) {
        let bytes = &mut self.bytes;
        self.entries.retain(|key, entry| {
            let keep = keep(key, entry);
            *bytes -= if keep { 0 } else { entry.bytes };
            keep
        });
    }

    fn epoch(&self, kind: Kind) -> u64 {
        self.epochs.get(kind as usize).copied().unwrap_or_default()
    }

    /// Results of `kind` are worthless from now on, those that `which` names; also those on their way, of which it is
    /// not known what they will hold.
    fn invalidate(&mut self, kind: Kind, which: impl Fn(&Entry) -> bool) {
        if let Some(epoch) = self.epochs.get_mut(kind as usize) {
            *epoch += 1;
        }
        self.retain(|key, entry| key.kind != kind || !which(entry));
    }

    /// What a notification makes worthless (CACHE-27).
    pub(super) fn notified(&mut self, method: &str, uri: impl FnOnce() -> Option<String>) {
        match method {
            "notifications/tools/list_changed" => self.invalidate(Kind::Tools, |_| true),
            "notifications/prompts/list_changed" => self.invalidate(Kind::Prompts, |_| true),
            // Templates have no notification of their own.
            "notifications/resources/list_changed" => {
                self.invalidate(Kind::Resources, |_| true);
                self.invalidate(Kind::Templates, |_| true);
            }
            "notifications/resources/updated" => match uri() {
                // It may be a part of what was read (SUB-12).
                Some(uri) => self.invalidate(Kind::Read, |entry| {
                    entry.uri.as_ref().is_none_or(|read| uri.starts_with(read.as_str()))
                }),
                None => self.invalidate(Kind::Read, |_| true),
            },
            _ => {}
        }
    }

    /// The server has refused a request. A cursor that it does not know any more takes all pages of the list with it
    /// (CACHE-30), and what cannot be read is not what it was.
    fn refused(&mut self, claim: &Claim, code: i64) {
        if claim.key.kind == Kind::Read {
            self.remove(&claim.key);
        } else if code == i64::from(crate::error::code::INVALID_PARAMS) {
            self.invalidate(claim.key.kind, |_| true);
        }
    }

    /// Counts who the client has been.
    pub(super) const fn authorization(&self) -> u64 {
        self.authorization
    }

    /// The client is somebody else from now on (CACHE-18).
    pub(super) fn reauthorize(&mut self) {
        self.authorization += 1;
        self.retain(|_, entry| entry.scope == CacheScope::Public);
    }

    /// Forgets everything, and what is on its way.
    pub(super) fn clear(&mut self) {
        for kind in Kind::ALL {
            self.invalidate(kind, |_| true);
        }
    }

    pub(super) fn entries(&self, now: Instant) -> Vec<CacheEntry> {
        let entries = self.entries.iter().map(|(key, entry)| CacheEntry {
            method: key.kind.method(),
            uri: entry.uri.clone(),
            scope: entry.scope,
            age: entry.age(now),
            ttl: entry.ttl,
            bytes: entry.bytes,
        });
        entries.collect()
    }

    fn claim(&self, key: Key, uri: Option<&str>, used: CacheUse, order: u64) -> Claim {
        let (kept, stale) = (used != CacheUse::Off, used == CacheUse::FreshOrStale);
        let (epoch, authorization) = (self.epoch(key.kind), self.authorization);
        Claim { key, uri: uri.map(String::from), kept, stale, epoch, authorization, order }
    }

    /// A result that turned out not to be one of its method is not given to anybody else.
    pub(super) fn discard(&mut self, result: &Arc<Json>) {
        self.retain(|_, entry| !Arc::ptr_eq(&entry.result, result));
    }
}
