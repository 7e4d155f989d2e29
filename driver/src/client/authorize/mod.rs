//! Clients that come by authorization themselves: what an application says of it, and the parts that do it.
//!
//! The decisions are in [`guard`], under the lock of the machine; what takes time is in [`flow`], without it.

mod browser;
mod callback;
mod file;
mod flow;
mod guard;
mod loopback;
mod reach;
mod sign_out;
mod store;
mod visit;

use std::fmt;
use std::io;
use std::sync::Arc;

use mcp_proto::auth::Config;
use mcp_proto::model::Json;

pub use file::FileStore;
pub(super) use flow::Worker;
pub(super) use guard::{Admitted, Done, Guard, Job, Next, Signing};
pub(super) use reach::{known, permitted};
pub(super) use sign_out::Answer;
pub use sign_out::SignedOut;
pub use store::{GrantStore, MemoryStore};
pub use visit::Visit;

use super::ClientBuilder;
use crate::runtime::Runtime;
use loopback::Loopback;

/// How a client comes by authorization when a server wants it; see [`ClientBuilder::authorize`].
///
/// Clones, and the clients that are built with them, share the store.
#[derive(Clone)]
pub struct Authorize {
    config: Arc<Config>,
    store: Arc<dyn GrantStore>,
    visiting: Visiting,
}

/// How the user gets to the authorization server and back.
#[derive(Clone)]
enum Visiting {
    Loopback(Loopback),
    Hook(Arc<dyn Fn(Visit) + Send + Sync>),
}

impl Authorize {
    /// By this configuration, with grants that are kept for as long as the program runs, and with the user's browser,
    /// which comes back to a listener on the local machine.
    pub fn new(config: Config) -> Self {
        Self {
            config: Arc::new(config),
            store: Arc::new(MemoryStore::default()),
            visiting: Visiting::Loopback(Loopback::default()),
        }
    }

    /// Where grants are kept. Default a [`MemoryStore`]; see [`FileStore`].
    #[must_use]
    pub fn store(mut self, store: impl GrantStore) -> Self {
        self.store = Arc::new(store);
        self
    }

    /// Lets the application itself show the user a page, in place of the browser and the listener. It knows the
    /// redirect URI ([`Config::redirect_uri`]), and sees the browser come back to it. The hook may block.
    #[must_use]
    pub fn on_visit(mut self, hook: impl Fn(Visit) + Send + Sync + 'static) -> Self {
        self.visiting = Visiting::Hook(Arc::new(hook));
        self
    }

    /// Opens a page in another way than in the user's default browser; the listener stays. The URL is `https`, or on
    /// the local machine: give it to no shell (SEC-08). The function may block.
    #[must_use]
    pub fn open_with(mut self, open: impl Fn(&str) -> io::Result<()> + Send + Sync + 'static) -> Self {
        self.visiting = Visiting::Loopback(Loopback::opened_by(Arc::new(open)));
        self
    }
}

impl From<Config> for Authorize {
    fn from(config: Config) -> Self {
        Self::new(config)
    }
}

impl fmt::Debug for Authorize {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Authorize").field("config", &self.config).finish_non_exhaustive()
    }
}

impl<R: Runtime> ClientBuilder<R> {
    /// Comes by authorization, over HTTP, when the server wants it: finds out whom the server trusts, registers where
    /// that is possible, has the user agree in a browser, gets a token and renews it early. What the server refused
    /// waits for that, at most [`Limits::authorization`](crate::Limits::authorization), and goes on; so does what
    /// begins meanwhile.
    ///
    /// Takes an [`auth::Config`](crate::auth::Config) or an [`Authorize`], which says where grants are stored and how
    /// the user is asked. Without a [redirect URI](Config::redirect_uri) the browser comes back to
    /// `http://127.0.0.1:PORT/callback`, at a free port; with one on the local machine, to that one.
    ///
    /// What comes of it is in the error with which a call fails, or the client does not connect:
    /// [`CallError::Unauthorized`](crate::CallError::Unauthorized) with the reason and a record of what was tried.
    ///
    /// ```no_run
    /// # use mcp_driver::{Client, Runtime, auth};
    /// # fn build<R: Runtime>() {
    /// let config = auth::Config::new("Example");
    /// let client = Client::<R>::builder("example", "1.0.0")
    ///     .authorize(auth::Authorize::new(config).store(auth::FileStore::new("grants.json")))
    ///     .http("https://example.com/mcp");
    /// # }
    /// ```
    #[must_use]
    pub fn authorize(mut self, authorize: impl Into<Authorize>) -> Self {
        let authorize = authorize.into();
        self.config.authorize = true;
        if let Some(extension) = authorize.config.extension() {
            let extensions = self.config.capabilities.extensions.get_or_insert_default();
            extensions.insert(extension.to_owned(), Json::empty_object());
        }
        self.hooks.authorize = Some(authorize);
        self
    }
}
