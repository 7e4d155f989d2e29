//! What is kept of results, and for whom.

use super::Http;
use crate::client::cache::CacheEntry;
use crate::time::Now;
use alloc::vec::Vec;

impl Http {
    /// What is kept of results that the server allows to be kept.
    pub fn cache(&self, now: Now) -> Vec<CacheEntry> {
        self.link.cache.entries(now.mono)
    }

    /// Forgets what is kept.
    pub fn clear_cache(&mut self) {
        self.link.cache.clear();
    }

    /// Whoever adds a token to requests has another, which may be somebody else's: results that were kept for whoever this
    /// client was are forgotten (CACHE-18).
    pub fn reauthorized(&mut self) {
        self.link.reauthorize();
    }

    /// Sets a field of all requests from now on, such as `Authorization` with another token, in the place of what
    /// [`Config::headers`](crate::client::Config::headers) have by this name. Results that were kept for whoever this client was are forgotten.
    pub fn set_header(&mut self, name: &str, value: impl AsRef<[u8]>) {
        if self.headers.all(name).eq([value.as_ref()]) {
            return;
        }
        self.headers.remove(name);
        self.headers.push(name, value);
        self.link.reauthorize();
    }
}
