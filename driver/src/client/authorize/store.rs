//! Where grants are kept.

use std::collections::BTreeMap;
use std::future::ready;
use std::io;
use std::sync::{Arc, Mutex, PoisonError};

use mcp_proto::auth::{Grant, Secret};

use crate::runtime::BoxFuture;

/// Where grants are kept, so that a user has to agree once. A grant holds a client's registration, too, so that it is
/// made once.
///
/// Grants are those of a server, by the URL that the application connects to, and of the authorization server that
/// issued them: what one has given out is nothing to another (AUTH-30, AUTH-31). [`Grant::to_json`] is what there is
/// to store; only its owner may be able to read it (AUTH-66, AUTH-70).
pub trait GrantStore: Send + Sync + 'static {
    /// The grant for this server: that of the issuer which is named, else the one that was saved last.
    fn load(&self, server: &str, issuer: Option<&str>) -> BoxFuture<io::Result<Option<Grant>>>;

    /// Keeps a grant in place of the one of the same server and issuer: a user has agreed to it.
    fn save(&self, server: &str, grant: &Grant) -> BoxFuture<io::Result<()>>;

    /// Keeps a grant in place of the one that it came of, which has this access token, and says whether it did. Whatever else
    /// is stored for the same server and issuer by then stays, as does nothing: somebody else has got another grant, or has
    /// signed out. Between comparing and keeping nobody else may write.
    fn replace(&self, server: &str, access_token: &Secret, grant: &Grant) -> BoxFuture<io::Result<bool>>;

    /// Forgets the grant of this server and issuer, if there is one.
    fn remove(&self, server: &str, issuer: &str) -> BoxFuture<io::Result<()>>;
}

/// Keeps grants for as long as the program runs. Clones share them.
#[derive(Clone, Debug, Default)]
pub struct MemoryStore(Arc<Mutex<Grants>>);

impl GrantStore for MemoryStore {
    fn load(&self, server: &str, issuer: Option<&str>) -> BoxFuture<io::Result<Option<Grant>>> {
        let grants = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        Box::pin(ready(Ok(grants.find(server, issuer).cloned())))
    }

    fn save(&self, server: &str, grant: &Grant) -> BoxFuture<io::Result<()>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).keep(server, grant.clone());
        Box::pin(ready(Ok(())))
    }

    fn replace(&self, server: &str, access_token: &Secret, grant: &Grant) -> BoxFuture<io::Result<bool>> {
        let mut grants = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let kept = grants.find(server, Some(&grant.issuer));
        let is_there = kept.is_some_and(|kept| kept.access_token == *access_token);
        if is_there {
            grants.keep(server, grant.clone());
        }
        Box::pin(ready(Ok(is_there)))
    }

    fn remove(&self, server: &str, issuer: &str) -> BoxFuture<io::Result<()>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).remove(server, issuer);
        Box::pin(ready(Ok(())))
    }
}

/// Grants by server and issuer, the one that was saved last at the end.
#[derive(Debug, Default)]
struct Grants(BTreeMap<String, Vec<Grant>>);

impl Grants {
    fn find(&self, server: &str, issuer: Option<&str>) -> Option<&Grant> {
        let mut grants = self.0.get(server)?.iter().rev();
        grants.find(|grant| issuer.is_none_or(|issuer| grant.issuer == issuer))
    }

    fn keep(&mut self, server: &str, grant: Grant) {
        let grants = self.0.entry(server.to_owned()).or_default();
        grants.retain(|kept| kept.issuer != grant.issuer);
        grants.push(grant);
    }

    fn remove(&mut self, server: &str, issuer: &str) {
        if let Some(grants) = self.0.get_mut(server) {
            grants.retain(|kept| kept.issuer != issuer);
            if grants.is_empty() {
                self.0.remove(server);
            }
        }
    }
}
